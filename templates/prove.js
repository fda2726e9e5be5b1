// Proves a certificate again, from the description of its format (schemas/certificate.json) and the definitions of a
// pattern and of its degree. It needs exact.js and no page. It shares nothing with the programs that issue and verify.
//
// A pattern (x, y) has the odds R = P(d, y) / P(not d, y) of its context. With a = P(x | d) and b = P(x | not d),
// P(d | y) = R / (1 + R) and P(d | xy) = Ra / (Ra + b): for one x, |degree| > t is where R lies in one open interval.
// Where one side of y is 0 both chances are 0, or both are 1, and the degree is 0. log R is a sum with a term for each
// value that is known; the sums over one half of the attributes and those over the other are sorted, and one is gone
// through upwards while the other goes downwards. Sums within CLOSE of an end of the interval are decided in fractions.
"use strict";

const CLOSE = 1e-9, LONGEST = 3e6, UNCERTAIN = 2e5, ENUMERATED = 2e5;

/** What could not be checked, and why. */
class Unfinished extends Error {}

/** The natural logarithm of a positive fraction. */
function logOf(value) {
  const log = (n) => {
    const beyond = Math.max(0, n.toString(2).length - 900);
    return Math.log(Number(n >> BigInt(beyond))) + beyond * Math.LN2;
  };
  return log(value.n) - log(value.d);
}
const root = (value) => Math.exp(logOf(value) / 2);

/** The open interval of log R in which |degree| > t for an x with a and b; null where there is none. */
function intervalOf(criterion, a, b, t) {
  if (a.compare(b) === 0 || t.compare(ONE) >= 0) return null;
  if (t.n === 0n) return [-Infinity, Infinity];
  const below = (bound) => (bound.n <= 0n ? null : [-Infinity, logOf(bound)]);
  if (criterion === "ratio") {
    if (a.compare(b) > 0) return below(ONE.minus(b.over(a)).over(t).minus(ONE));
    if (a.n === 0n) return [-Infinity, Infinity];
    const k = a.over(b);
    return below(ONE.minus(k).over(t).minus(ONE).over(k));
  }
  if (b.n === 0n) return below(ONE.minus(t).over(t));
  if (a.n === 0n) return [logOf(t.over(ONE.minus(t))), Infinity];
  // |k - 1| R > t (1 + R) (1 + kR), a quadratic in R with the product of its roots 1 / k.
  const k = a.over(b), two = new Fraction(2n);
  const linear = k.minus(ONE).size().minus(t.times(ONE.plus(k)));
  if (linear.n <= 0n) return null;
  const inner = linear.times(linear).minus(two.times(two).times(t).times(t).times(k));
  if (inner.n <= 0n) return null;
  // linear + root, by the ratio of the two, which is at most 1.
  const sum = logOf(linear) + Math.log1p(root(inner.over(linear.times(linear))));
  return [logOf(two.times(t)) - sum, sum - logOf(two.times(t).times(k))];
}

/** All products of one factor of each list: sorted logarithms, and the exact product in each place. */
function productsOf(lists) {
  const length = lists.reduce((size, list) => size * list.length, 1);
  const logs = lists.map((list) => list.map(logOf));
  let sums = new Float64Array(1);
  for (const row of logs) {
    const next = new Float64Array(sums.length * row.length);
    row.forEach((term, k) => sums.forEach((sum, i) => { next[k * sums.length + i] = sum + term; }));
    sums = next;
  }
  const order = Uint32Array.from({ length }, (_, i) => i).sort((i, j) => sums[i] - sums[j]);
  const exact = (place) => {
    let rest = order[place], found = ONE;
    for (const list of lists) {
      found = found.times(list[rest % list.length]);
      rest = Math.floor(rest / list.length);
    }
    return found;
  };
  return { sums: Float64Array.from(order, (i) => sums[i]), exact };
}

/** Every choice of one value of each attribute in a list, as [attribute, value] pairs. */
function* choicesOf(model, attributes) {
  if (!attributes.length) { yield []; return; }
  const [first, ...rest] = attributes;
  for (const others of choicesOf(model, rest)) {
    for (let k = 0; k < model.attributes[first].values.length; k++) yield [[first, k], ...others];
  }
}

/** The sets of sensitive attributes but the empty one, smaller sets first. */
function setsOf(model) {
  const sensitive = model.attributes.flatMap((a, i) => (a.sensitive ? [i] : []));
  if (sensitive.length > 16) throw new Unfinished(`there are ${sensitive.length} sensitive attributes`);
  const sets = [];
  for (let bits = 1; bits < 1 << sensitive.length; bits++) sets.push(sensitive.filter((_, i) => bits & (1 << i)));
  return sets.sort((p, q) => p.length - q.length);
}

/** All pairs (x, y) over a set of disclosed attributes, possible or not. */
function pairsOver(model, disclosed) {
  return model.attributes.reduce((product, a, i) => product * BigInt(a.values.length + (disclosed.includes(i) ? 0 : 1)), 1n);
}

/** Count the pairs over a set X with |degree| > t; yields now and then, so that a page stays alive. */
function* countOver(model, criterion, t, disclosed, work) {
  const against = ONE.minus(model.prior);
  if (model.prior.n === 0n || against.n === 0n) return 0n;
  const open = [];
  for (const x of choicesOf(model, disclosed)) {
    let a = ONE, b = ONE;
    for (const [i, k] of x) {
      a = a.times(model.attributes[i].favourable[k]);
      b = b.times(model.attributes[i].unfavourable[k]);
    }
    if (++work.steps % 64 === 0) yield;
    if (a.n === 0n && b.n === 0n) continue;
    const ends = intervalOf(criterion, a, b, t);
    if (ends) open.push({ a, b, ends });
  }
  if (!open.length) return 0n;
  const factors = model.attributes.flatMap((attribute, i) => {
    if (disclosed.includes(i)) return [];
    const odds = attribute.favourable.map((p, k) => [p, attribute.unfavourable[k]]);
    return [[ONE, ...odds.filter(([p, q]) => p.n && q.n).map(([p, q]) => p.over(q))]];
  });
  factors.sort((p, q) => q.length - p.length);
  const halves = [[[model.prior.over(against)]], [[ONE]]], sizes = [1, 1];
  for (const list of factors) {
    const smaller = sizes[0] <= sizes[1] ? 0 : 1;
    halves[smaller].push(list);
    sizes[smaller] *= list.length;
  }
  if (Math.max(...sizes) > LONGEST) throw new Unfinished("the lists of sums would be too long for a browser");
  const first = productsOf(halves[0]);
  yield;
  const second = productsOf(halves[1]);
  yield;
  let total = 0n;
  for (const { a, b, ends: [low, high] } of open) {
    const above = (R) => {
      if (++work.uncertain > UNCERTAIN) throw new Unfinished("too many pairs lie within rounding of the threshold");
      const after = R.times(a).over(R.times(a).plus(b)), before = R.over(ONE.plus(R));
      return degreeOf(criterion, after, before).size().compare(t) > 0;
    };
    const { sums } = first, n = sums.length;
    const certain = low + CLOSE <= high - CLOSE;
    let p1 = n, p2 = n, p3 = n, p4 = n, found = 0;
    for (let j = 0; j < second.sums.length; j++) {
      const s = second.sums[j];
      while (p1 && sums[p1 - 1] + s >= low - CLOSE) p1--;
      while (p2 && sums[p2 - 1] + s >= low + CLOSE) p2--;
      while (p3 && sums[p3 - 1] + s > high - CLOSE) p3--;
      while (p4 && sums[p4 - 1] + s > high + CLOSE) p4--;
      if (certain) found += Math.max(0, p3 - p2);
      const doubtful = certain ? [[p1, p2], [Math.max(p2, p3), p4]] : [[p1, p4]];
      for (const [from, to] of doubtful) {
        for (let i = from; i < to; i++) if (above(first.exact(i).times(second.exact(j)))) found++;
      }
      if ((work.steps += 4) % 65536 < 4) yield;
    }
    total += BigInt(found);
  }
  return total;
}

/** Count the pairs in scope with |degree| > t, for each set X; with a least probability by going through all. */
function* countAll(model, criterion, t, least) {
  const work = { steps: 0, uncertain: 0 }, rows = [], sets = setsOf(model);
  if (least && sets.reduce((sum, set) => sum + pairsOver(model, set), 0n) > BigInt(ENUMERATED)) {
    throw new Unfinished("with a minimum probability only small models are gone through here");
  }
  for (const disclosed of sets) {
    let patterns = 0n;
    if (least) {
      for (const [x, y] of pairsIn(model, disclosed)) {
        const found = model.measure(criterion, x, y);
        if (found && found.share.compare(least) >= 0 && found.degree.size().compare(t) > 0) patterns++;
        if (++work.steps % 64 === 0) yield rows.length / sets.length;
      }
    } else {
      const counting = countOver(model, criterion, t, disclosed, work);
      let step;
      while (!(step = counting.next()).done) yield rows.length / sets.length;
      patterns = step.value;
    }
    rows.push({ disclosed, patterns, pairs: pairsOver(model, disclosed) });
  }
  return rows;
}

/** Every pair (x, y) over a set X. */
function* pairsIn(model, disclosed) {
  const others = model.attributes.map((_, i) => i).filter((i) => !disclosed.includes(i));
  for (const x of choicesOf(model, disclosed)) {
    const stack = [[0, []]];
    while (stack.length) {
      const [at, y] = stack.pop();
      if (at === others.length) { yield [x, y]; continue; }
      stack.push([at + 1, y]);
      model.attributes[others[at]].values.forEach((_, k) => stack.push([at + 1, [...y, [others[at], k]]]));
    }
  }
}

// Digests and signatures.

/** Canonical JSON (RFC 8785) of a value without numbers beyond small integers. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
const bytesOf = (text) => new TextEncoder().encode(text);
async function digestOf(bytes) {
  if (!globalThis.crypto || !crypto.subtle) throw new Unfinished("this browser computes no digests here");
  return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
function fromBase64(text) {
  const found = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (btoa(String.fromCharCode(...found.slice(-3))).length !== 4 || text.length % 4) throw new SyntaxError("no base64");
  return found;
}
/** The certificate in a file: in a signed envelope or bare, with what the signature is over. */
function opened(text) {
  const content = JSON.parse(text);
  if (content.payload === undefined) return { certificate: content, statement: null };
  const payload = fromBase64(content.payload), type = bytesOf(content.payloadType);
  const statement = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  const head = bytesOf(`DSSEv1 ${type.length} ${content.payloadType} ${payload.length} `);
  const signed = new Uint8Array(head.length + payload.length);
  signed.set(head);
  signed.set(payload, head.length);
  return { certificate: statement.predicate, statement, type: content.payloadType, signatures: content.signatures, signed };
}
/** Whether a PEM public key made the signature; null and why not where that can't be told. */
async function signedBy(file, pem) {
  const body = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(pem);
  if (!body) throw new SyntaxError("this is no public key in PEM; it begins with -----BEGIN PUBLIC KEY-----");
  const der = fromBase64(body[1].replace(/\s/g, ""));
  const id = await digestOf(der);
  let key;
  try {
    key = await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    throw new Unfinished("this browser can’t use the key, or no Ed25519 key at all");
  }
  const [signature] = file.signatures;
  return signature.keyid === id && crypto.subtle.verify("Ed25519", key, fromBase64(signature.sig), file.signed);
}

// The checks, in the order in which they are shown. Each gives whether it holds, and what was seen.

const plainFraction = (text) => {
  const value = Fraction.of(text);
  if (!text.includes(".") && value.toString() !== text) throw new SyntaxError(`${text} is not in lowest terms`);
  return value;
};
const equal = (one, other) => canonical(one) === canonical(other);
const places = (model, values) => Object.entries(values).map(([name, value]) => {
  const i = model.attributes.findIndex((a) => a.name === name), k = i < 0 ? -1 : model.attributes[i].values.indexOf(value);
  if (k < 0) throw new SyntaxError(`the model has no ${name}: ${value}`);
  return [i, k];
});

async function digests(file) {
  const { id, ...rest } = file.certificate, { exact, sha256 } = rest.model;
  const found = await digestOf(bytesOf(canonical(rest)));
  if (found.slice(0, 32) !== id) return [false, `the contents have the identifier ${found.slice(0, 32)}, not ${id}`];
  const model = await digestOf(bytesOf(canonical(exact)));
  if (model !== sha256) return [false, `the model has the digest ${model}, not ${sha256}`];
  if (file.statement) {
    const { _type, subject, predicateType } = file.statement;
    const wanted = [{ name: rest.model.name, digest: { sha256 } }];
    if (_type !== "https://in-toto.io/Statement/v1" || predicateType !== `urn:auditor:certificate:v${rest.version}`
      || file.type !== "application/vnd.in-toto+json" || !equal(subject, wanted)) {
      return [false, "the envelope names another model or another kind of document"];
    }
  }
  return [true, `identifier ${id}, model sha256:${sha256}`];
}

/** Whether the exact parameters are a model, and the one that the certificate names elsewhere. */
function parameters(certificate) {
  const { exact } = certificate.model, model = new Model(exact);
  const inside = (p) => p.n >= 0n && p.compare(ONE) <= 0;
  const isWhole = (row) => row.every(inside) && row.reduce((sum, p) => sum.plus(p), ZERO).compare(ONE) === 0;
  for (const a of model.attributes) {
    if (!isWhole(a.favourable) || !isWhole(a.unfavourable) || a.favourable.length !== a.values.length
      || a.unfavourable.length !== a.values.length || new Set(a.values).size !== a.values.length) {
      return [false, `the probabilities of ${a.name} don’t add up to 1`];
    }
  }
  if (!inside(model.prior) || !exact.attributes.every((a) => typeof a.sensitive === "boolean")
    || new Set(model.attributes.map((a) => a.name)).size !== model.attributes.length) {
    return [false, "these parameters are no model"];
  }
  const sensitive = exact.attributes.filter((a) => a.sensitive).map((a) => a.name);
  const { decision } = certificate;
  if (!equal(sensitive.sort(), certificate.sensitive_attributes.map((a) => a.name).sort())
    || decision.name !== exact.decision || decision.favourable !== exact.favourable || decision.unfavourable !== exact.unfavourable) {
    return [false, "decision or sensitive attributes are not those of the model"];
  }
  return [true, `${model.attributes.length} attributes, ${sensitive.length} of them sensitive; all probabilities add up to 1`];
}

function dates(certificate, today) {
  const { issued, valid_from, expires, verdict } = certificate;
  if (today < valid_from) return [false, `valid from ${valid_from}`];
  if (today >= expires) return [false, `expired on ${expires}`];
  if (issued > today) return [false, `issued on ${issued}, after today`];
  // A finding is not valid for a time: it was found.
  return [true, verdict === "delta-fair" ? `valid from ${valid_from} to the start of ${expires}` : `issued on ${issued}`];
}

/** The worst pattern's figures; gives its |degree| too. */
function witness(certificate, model) {
  const { witness: stated, criterion, min_probability } = certificate;
  if (!stated) return [true, "no pattern is stated", null];
  const x = places(model, stated.sensitive_values), y = places(model, stated.context_values);
  if (!x.length || !x.every(([i]) => model.attributes[i].sensitive) || x.some(([i]) => y.some(([j]) => i === j))) {
    return [false, "it discloses no sensitive value, or one that is known before", null];
  }
  const found = model.measure(criterion, x, y);
  if (!found) return [false, "nobody is so", null];
  const same = (text, value) => plainFraction(text).compare(value) === 0;
  if (!same(stated.degree, found.degree) || !same(stated.probability, found.share)
    || !same(stated.favourable_given_pattern, found.after) || !same(stated.favourable_given_context, found.before)) {
    return [false, `its degree is ${found.degree}, before ${found.before}, after ${found.after}, share ${found.share}`, found.degree.size()];
  }
  if (min_probability !== null && found.share.compare(Fraction.of(min_probability)) < 0) {
    return [false, "it is less probable than the minimum", found.degree.size()];
  }
  return [true, `degree ${signed(found.degree, certificate.delta)}, before ${percent(found.before.toNumber())}, after ${percent(found.after.toNumber())}, ${people(found.share.toNumber())} people`, found.degree.size()];
}

/** The verdict and the largest degree: the worst pattern attains it, and no pair is above it. */
function* largest(certificate, model, attained) {
  const { verdict, max_degree: stated, criterion, min_probability } = certificate, delta = Fraction.of(certificate.delta);
  const lower = Fraction.of(stated.lower), upper = Fraction.of(stated.upper), reached = attained ?? ZERO;
  const exact = stated.exact === null ? null : plainFraction(stated.exact);
  if (lower.compare(upper) > 0 || lower.compare(reached) > 0) return [false, "the lower end is not attained"];
  if (exact && (exact.compare(reached) !== 0 || exact.compare(upper) > 0 || exact.compare(lower) < 0)) {
    return [false, `the stated pattern has the degree ${reached}, not ${exact}`];
  }
  const ceiling = exact ?? upper;
  const known = certificate.pattern_count === null ? null : BigInt(certificate.pattern_count);
  const wrong = {
    "delta-fair": ceiling.compare(delta) > 0 || reached.compare(delta) > 0 || known !== 0n,
    "not-delta-fair": reached.compare(delta) <= 0 || known === 0n,
    inconclusive: reached.compare(delta) > 0 || ceiling.compare(delta) <= 0 || known !== null,
  }[verdict] ?? true;
  if (wrong) return [false, `“${verdict}” doesn’t follow from its figures`];
  if (ceiling.compare(ONE) >= 0) return [true, `${verdict}; no degree is above 1`];
  const counting = countAll(model, criterion, ceiling, min_probability === null ? null : Fraction.of(min_probability));
  let step;
  while (!(step = counting.next()).done) yield step.value;
  const above = step.value.reduce((sum, row) => sum + row.patterns, 0n);
  if (above) return [false, `${whole(String(above))} pairs have a larger degree`];
  return [true, `${verdict}; no pair has a degree above ${exact ? rounded(ceiling.toNumber()) : stated.upper}`];
}

/** The number of patterns, and how it is made up. */
function* count(certificate, model) {
  const { criterion, min_probability, coverage } = certificate;
  const total = setsOf(model).reduce((sum, set) => sum + pairsOver(model, set), 0n);
  if (String(total) !== certificate.total_patterns) return [false, `there are ${total} pairs`];
  if (certificate.pattern_count === null) return coverage ? [false, "parts are stated of what wasn’t counted"] : [null, "it is not stated"];
  const counting = countAll(model, criterion, Fraction.of(certificate.delta), min_probability === null ? null : Fraction.of(min_probability));
  let step;
  while (!(step = counting.next()).done) yield step.value;
  const found = step.value.reduce((sum, row) => sum + row.patterns, 0n);
  if (String(found) !== certificate.pattern_count) return [false, `there are ${whole(String(found))}`];
  if (coverage) {
    const key = (names) => canonical([...names].sort());
    const rows = new Map(step.value.map((row) => [key(row.disclosed.map((i) => model.attributes[i].name)), row]));
    const holds = coverage.length === rows.size && new Set(coverage.map((row) => key(row.disclosed))).size === rows.size
      && coverage.every((row) => {
        const one = rows.get(key(row.disclosed));
        return one && String(one.pairs) === row.pairs && String(one.patterns) === row.patterns;
      });
    if (!holds) return [false, "the sum is right, a part of it isn’t"];
  }
  return [true, `${whole(String(found))} of ${whole(String(total))}`];
}

/** Run every check; tells each outcome as [name, true | false | null, words], and progress as it goes. */
async function proved(text, { key = "", today, seconds = 60, say = () => {}, progress = () => {} }) {
  const began = performance.now();
  const attempt = async (name, work) => {
    let outcome;
    try {
      let made = work();
      if (made && made.next) {
        let step, pause = performance.now() + 40;
        while (!(step = made.next()).done) {
          if (performance.now() < pause) continue;
          progress(name, step.value ?? 0);
          await new Promise((resume) => setTimeout(resume));
          pause = performance.now() + 40;
          if (pause - began > seconds * 1000) throw new Unfinished(`not finished after ${seconds} seconds`);
        }
        made = step.value;
      }
      outcome = await made;
    } catch (error) {
      outcome = error instanceof Unfinished ? [null, error.message] : [false, `it can’t be read: ${error.message}`];
    }
    say(name, outcome[0], outcome[1]);
    return outcome;
  };
  let file = null;
  const readable = await attempt("Form", () => {
    file = opened(text);
    const { kind, version, criterion } = file.certificate;
    const known = kind === "auditor/certificate" && [1, 2].includes(version) && ["difference", "ratio"].includes(criterion);
    if (!known) return [false, "no certificate of a known version"];
    const { model, delta, min_probability } = file.certificate;
    const least = min_probability === null ? "" : `, of patterns of at least ${min_probability}`;
    return [true, `certificate of version ${version} for ${model.name}: δ = ${delta}, by ${criterion}${least}`];
  });
  if (!readable[0]) return;
  const { certificate } = file, family = certificate.model.family ?? "naive-bayes";
  await attempt("Digests", () => digests(file));
  await attempt("Signature", async () => {
    if (!file.signatures) return [null, "it is not signed"];
    if (!key) return [null, "not checked: give the issuer’s public key below"];
    return (await signedBy(file, key)) ? [true, "made with this key"] : [false, "not made with this key, or the contents were changed"];
  });
  await attempt("Dates", () => dates(certificate, today));
  if (family !== "naive-bayes") {
    for (const name of ["Model", "Worst pattern", "Verdict and largest degree", "Number of patterns"]) {
      say(name, null, `not checked: family ${family}`);
    }
  } else if ((await attempt("Model", () => parameters(certificate)))[0]) {
    const model = new Model(certificate.model.exact);
    const found = await attempt("Worst pattern", () => witness(certificate, model));
    await attempt("Verdict and largest degree", () => largest(certificate, model, found[2] ?? null));
    await attempt("Number of patterns", () => count(certificate, model));
  }
  if (certificate.box !== undefined) say("Models in the box", null, "not checked here; auditor verify does");
  say("Sentences, policy, history and repair", null, "not checked here; auditor verify does");
}
