// Proves a certificate again, from the description of its format (schemas/certificate.json) and the definitions of a
// pattern and of its degree. It needs exact.js and the files beside it, and no page. It shares nothing with the programs
// that issue and verify.
"use strict";

const bytesOf = (text) => new TextEncoder().encode(text);
async function digestOf(bytes) {
  if (!globalThis.crypto || !crypto.subtle) throw new Unfinished("this browser computes no digests here");
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
function fromBase64(text) {
  const found = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (base64(found) !== text) throw new SyntaxError("this is not base64 as it is written");
  return found;
}
/** The certificate in a file: in a signed envelope or bare, with what the signature is over. */
function opened(text) {
  const content = parsed(text);
  if (content.payload === undefined) return { certificate: content };
  const payload = fromBase64(content.payload), type = bytesOf(content.payloadType);
  const statement = parsed(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload));
  // One envelope can be written in many ways; only one is accepted, so that no byte is loose.
  const { keyid, sig } = content.signatures[0], { predicate } = statement, { name, sha256 } = predicate.model;
  const whole = {
    payload: base64(bytesOf(canonical({
      _type: "https://in-toto.io/Statement/v1", subject: [{ name, digest: { sha256 } }],
      predicateType: `urn:auditor:certificate:v${predicate.version}`, predicate,
    }))),
    payloadType: "application/vnd.in-toto+json", signatures: [{ keyid, sig }],
  };
  if (canonical(whole) !== text.trimEnd() || !/^[0-9a-f]{64}$/.test(keyid) || fromBase64(sig).length !== 64) {
    throw new SyntaxError("its envelope is not written as that of a certificate");
  }
  const head = bytesOf(`DSSEv1 ${type.length} ${content.payloadType} ${payload.length} `);
  const signed = new Uint8Array(head.length + payload.length);
  signed.set(head);
  signed.set(payload, head.length);
  return { certificate: predicate, signatures: content.signatures, signed };
}
// Points of small order: with such a key anyone can sign. Without the sign, which is the first bit of the last byte.
const WEAK = ["00".repeat(32), `01${"00".repeat(31)}`, `ec${"ff".repeat(30)}7f`, `ed${"ff".repeat(30)}7f`, `ee${"ff".repeat(30)}7f`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"];
const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
/** Whether a PEM public key made the signature. */
async function signedBy(file, pem) {
  const body = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(pem);
  if (!body) throw new SyntaxError("this is no public key in PEM; it begins with -----BEGIN PUBLIC KEY-----");
  const der = fromBase64(body[1].replace(/\s/g, ""));
  const id = await digestOf(der), point = der.slice(-32);
  point[31] &= 127;
  if (WEAK.includes(hex(point))) throw new SyntaxError("with this key anyone can sign");
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

const placesOf = (odds, values) => Object.entries(values).map(([name, value]) => {
  const i = odds.attributes.findIndex((a) => a.name === name), k = i < 0 ? -1 : odds.attributes[i].values.indexOf(value);
  if (k < 0) throw new SyntaxError(`the model has no ${name}: ${value}`);
  return [i, k];
});
/** What limits words about pairs to those that are considered. */
const soProbable = (c) => (c.min_probability === null ? "" : " so probable");
const isScored = (certificate) => certificate.model.family === "scorecard";

/** Whether it is written as `certify` writes. */
function readable(c) {
  if (c.kind !== "auditor/certificate" || ![1, 2].includes(c.version)) return [false, "no certificate of a known version"];
  const meaning = c.model.exact.undisclosed, scored = c.version > 1 && isScored(c);
  fit(c, formOf(c.version, scored, meaning === "conforming"), "it");
  for (const [fault, holds] of faults(c)) if (!holds) return [false, fault];
  const least = c.min_probability === null ? "" : `, of patterns of at least ${c.min_probability}`;
  return [true, `certificate of version ${c.version} for ${c.model.name}: δ = ${c.delta}, by ${c.criterion}${least}`];
}

async function digests(c) {
  const { id, ...rest } = c, { exact, sha256 } = rest.model;
  const found = await digestOf(bytesOf(canonical(rest)));
  if (found.slice(0, 32) !== id) return [false, `the contents have the identifier ${found.slice(0, 32)}, not ${id}`];
  const model = await digestOf(bytesOf(canonical(exact)));
  if (model !== sha256) return [false, `the model has the digest ${model}, not ${sha256}`];
  return [true, `identifier ${id}, model sha256:${sha256}`];
}

function dates(certificate, today) {
  const { issued, valid_from, expires, verdict } = certificate;
  if (today < valid_from) return [false, `valid from ${valid_from}`];
  if (today >= expires) return [false, `expired on ${expires}`];
  if (issued > today) return [false, `issued on ${issued}, after today`];
  return [true, `${verdict === "delta-fair" ? "valid " : ""}from ${valid_from} to the start of ${expires}, issued on ${issued}`];
}

/** Whether claim, assumptions, limits and method are those of its facts. */
async function sentences(c) {
  const claim = claimOf(c), { assumptions, limits, method } = c;
  if (!equal(c.claim, claim)) return [false, `its facts say: ${claim.sentence}`];
  if (await digestOf(bytesOf(canonical({ assumptions, limits, method }))) !== fixedWords(c)) {
    return [false, "assumptions, limits or method are not those of such a certificate"];
  }
  return [true, "claim, assumptions, limits and method are what its facts say"];
}

/** Whether what is said of a policy and of the certificate before fits. */
function pastOf(c) {
  for (const [fault, holds] of faultsOfHistory(c)) if (!holds) return [false, fault];
  const others = [...(c.policy.sha256 ? [`the policy (${c.policy.sha256.slice(0, 16)}…)`] : []), ...(c.supersedes ? [`certificate ${c.supersedes.id}`] : [])];
  if (!others.length) return [true, "there was no policy and no certificate before"];
  return [true, `what is said of ${others.join(" and of ")} fits; ${others.length > 1 ? "their files are" : "its file is"} not in this page`];
}

/** Whether the exact parameters are a model, and the one that the certificate names elsewhere. */
function parameters(c, odds) {
  const { exact } = c.model, [holds, says] = odds.sound();
  if (!holds) return [false, says];
  const sensitive = exact.attributes.filter((a) => a.sensitive).map((a) => a.name), { decision } = c;
  if (!equal(sensitive, c.sensitive_attributes.map((a) => a.name))
    || decision.name !== exact.decision || SIDES.some((side) => decision[side] !== exact[side])) {
    return [false, "decision or sensitive attributes are not those of the model"];
  }
  return [true, `${exact.attributes.length} attributes, ${sensitive.length} of them sensitive; ${says}`];
}

/** Whether the model before a repair has the digest that is told, and both likelihoods follow. */
async function repaired(c) {
  const told = c.model.repair, found = isScored(c) ? repairedScorecard(c) : repairedBayes(c);
  if (found.before !== told.log_likelihood_before || found.after !== told.log_likelihood_after) {
    return [false, `the log-likelihood was ${found.before} before and ${found.after ?? "−∞"} after`];
  }
  if (await digestOf(bytesOf(canonical(found.source))) !== told.source_sha256) return [false, "the model before has another digest"];
  return [true, `of the model ${told.source_sha256.slice(0, 16)}…; log-likelihood ${found.before} before, ${found.after ?? "−∞"} after`];
}

/** Whether every model in the box is δ-fair. */
function* boxed(c, odds) {
  const going = unfairIn(odds, Fraction.of(c.box), Fraction.of(c.delta));
  let step;
  while (!(step = going.next()).done) yield step.value;
  if (step.value) return [false, `a model in the box discriminates by ${step.value.join(", ")}`];
  return [true, `every model whose probabilities are within a factor of 1 + ${c.box} is δ-fair`];
}

/** The unit of the decimals of a largest degree. */
const unitOf = (c) => new Fraction(1n, 10n ** BigInt(Math.max(12, c.delta.length - 2)));

/** The worst pattern's figures; gives what it does, too. */
function witness(c, odds) {
  const stated = c.witness, least = c.min_probability === null ? null : Fraction.of(c.min_probability);
  const none = { compare: (mark) => ZERO.compare(mark), size: ZERO };
  if (!stated) {
    const alone = setsOf(odds.attributes).filter((set) => set.length === 1).flatMap((set) => [...choicesOf(odds.attributes, set)]);
    if (least && !alone.some((x) => odds.isProbable(x, [], least))) return [false, "there is no pattern so probable", none];
    return [c.verdict === "inconclusive", "no pattern is stated", none];
  }
  const x = placesOf(odds, stated.sensitive_values), y = placesOf(odds, stated.context_values);
  if (!x.length || !x.every(([i]) => odds.attributes[i].sensitive) || x.some(([i]) => y.some(([j]) => i === j))) {
    return [false, "it discloses no sensitive value, or one that is known before", none];
  }
  const found = odds.measure(x, y, stated);
  if (!found.holds) return [false, found.says, found.compare ? found : none];
  if (least && !odds.isProbable(x, y, least)) return [false, "it is less probable than the minimum", found];
  const chances = [stated.favourable_given_context, stated.favourable_given_pattern].map((p) => percent(Fraction.of(p).toNumber()));
  const many = found.share ? `, ${people(found.share.toNumber())} people` : "";
  return [true, `degree ${signed(Fraction.of(stated.degree), c.delta)}, before ${chances[0]}, after ${chances[1]}${many}`, found];
}

/** The verdict and the largest degree: the worst pattern attains it, and no pair is above it. */
function* largest(c, odds, attained) {
  const { verdict, max_degree: stated } = c, delta = Fraction.of(c.delta), unit = unitOf(c);
  const lower = Fraction.of(stated.lower), upper = Fraction.of(stated.upper);
  const exact = stated.exact === null ? null : Fraction.of(stated.exact);
  if ([lower, upper].some((end) => end.over(unit).d !== 1n)) return [false, "its ends are rounded to other decimals"];
  if (attained.compare(lower) < 0 || attained.compare(lower.plus(unit)) >= 0 || attained.compare(upper) > 0) {
    return [false, "the stated pattern does not attain the lower end, or is beyond the upper one"];
  }
  if (exact && (attained.compare(exact) !== 0 || upper.compare(exact.plus(unit)) >= 0)) return [false, `the stated pattern has the degree ${attained.size}, not ${exact}`];
  const wrong = {
    "delta-fair": upper.compare(delta) > 0,
    "not-delta-fair": attained.compare(delta) <= 0 || c.pattern_count === "0",
    inconclusive: attained.compare(delta) > 0 || upper.compare(delta) <= 0,
  }[verdict];
  if (wrong) return [false, `“${verdict}” doesn’t follow from its figures`];
  const said = verdict.replace("not-", "not ").replace("delta", "δ");
  const ceiling = exact ?? upper, least = c.min_probability === null ? null : Fraction.of(c.min_probability);
  if (ceiling.compare(ONE) >= 0 || odds.settled(odds.attributes.flatMap((a, i) => (a.sensitive ? [i] : [])), ceiling)) {
    return [true, `${said}; no degree can be above ${rounded(ceiling.toNumber())}`];
  }
  const counting = countAll(odds, ceiling, least);
  let step;
  while (!(step = counting.next()).done) yield step.value;
  const above = step.value.reduce((sum, row) => sum + row.patterns, 0n);
  if (above) return [false, `${whole(String(above))} pairs have a larger degree`];
  return [true, `${said}; no pair${soProbable(c)} has a degree above ${exact ? rounded(ceiling.toNumber()) : stated.upper}`];
}

/** The number of patterns, and how it is made up. */
function* counted(c, odds) {
  const { coverage } = c, { attributes } = odds, delta = Fraction.of(c.delta);
  const product = (more) => attributes.reduce((all, a) => all * BigInt(1 + a.values.length * (more && a.sensitive ? 2 : 1)), 1n);
  const total = product(true) - product(false);
  if (String(total) !== c.total_patterns) return [false, `there are ${total} pairs`];
  if (c.pattern_count === null) return [null, "it is not stated"];
  const counting = countAll(odds, delta, c.min_probability === null ? null : Fraction.of(c.min_probability));
  let step;
  while (!(step = counting.next()).done) yield step.value;
  const found = step.value.reduce((sum, row) => sum + row.patterns, 0n);
  if (String(found) !== c.pattern_count) return [false, `there are ${whole(String(found))}`];
  const rows = coverage ?? [], parts = rows.length ? step.value : [];
  const fits = rows.length === parts.length && parts.every(({ disclosed, pairs, patterns }, n) => {
    const row = rows[n], closed = row.method === "closed form", settled = odds.settled(disclosed, delta);
    // In version 1 other bounds were called so, too.
    const named = closed === settled || (closed && c.version === 1 && row.patterns === "0");
    return equal(row.disclosed, disclosed.map((i) => attributes[i].name)) && named
      && row.pairs === String(pairs) && row.patterns === String(patterns);
  });
  if (!fits || (coverage && !rows.length)) return [false, "the sum is right, a part of it isn’t"];
  return [true, `${whole(String(found))}${soProbable(c) || ` of ${whole(String(total))}`}`];
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
  if (!(await attempt("Form", () => { file = opened(text); return readable(file.certificate); }))[0]) return;
  const { certificate } = file, { repair } = certificate.model;
  await attempt("Digests", () => digests(certificate));
  await attempt("Signature", async () => {
    if (!file.signatures) return [null, "it is not signed"];
    if (!key) return [null, "not checked: give the issuer’s public key below"];
    return (await signedBy(file, key)) ? [true, "made with this key"] : [false, "not made with this key, or the contents were changed"];
  });
  await attempt("Dates", () => dates(certificate, today));
  await attempt("Sentences", () => sentences(certificate));
  await attempt("Policy and history", () => pastOf(certificate));
  let odds = null;
  const sound = await attempt("Model", () => {
    odds = new (isScored(certificate) ? Scorecard : Bayes)(certificate.model.exact, certificate.criterion);
    return parameters(certificate, odds);
  });
  if (!sound[0]) return;
  if (repair) await attempt("Repair", () => repaired(certificate));
  if (repair?.proof) say("Bound of the repair", null, "not checked: its proof is a file of its own; give it to auditor verify --proof");
  if (certificate.box !== undefined) await attempt("Models in the box", () => boxed(certificate, odds));
  const found = await attempt("Worst pattern", () => witness(certificate, odds));
  await attempt("Verdict and largest degree", () => largest(certificate, odds, found[2]));
  await attempt("Number of patterns", () => counted(certificate, odds));
}
