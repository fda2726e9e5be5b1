// What a certificate can say: each field is known and has one spelling, and no field contradicts another. Nothing is computed
// of the model here. A form is a pattern of a text, a test, a list with the form of its parts, or an object with a form
// for each name; a name with ? can be absent.
"use strict";

const ATTRIBUTES = 1000, VALUES = 100000, DAYS = 3660, EXPONENT = new Fraction(1000n);
// Characters of the longest numbers of all attributes, and what a common denominator is below: errors of logarithms stay small.
const CHARACTERS = 10000, DENOMINATOR = 1n << 6700n;
const SIDES = ["favourable", "unfavourable"];

/** Canonical JSON (RFC 8785) of a value without numbers beyond small integers. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
const equal = (one, other) => canonical(one) === canonical(other);

/** JSON in which no object has a name twice, and numbers are small integers. */
function parsed(text) {
  const content = JSON.parse(text), open = [];
  let last = null;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]|[^\s{}[\],:"]+/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const name = JSON.parse(last);
      if (open.at(-1).has(name)) throw new SyntaxError(`${name} stands twice in one object`);
      open.at(-1).add(name);
    } else if (!/^("|-?\d{1,9}$|true$|false$|null$)/.test(token)) throw new SyntaxError(`a certificate has no ${token}`);
    last = token;
  }
  return content;
}

const like = (pattern) => new RegExp(`^(?:${pattern})$`);
const orNull = (form) => (value, place) => { if (value !== null) fit(value, form, place); return true; };
/** A text whose fraction is in lowest terms, if it is one. */
const lowest = (pattern) => (value) => {
  if (typeof value !== "string" || !like(pattern).test(value)) return false;
  return !value.includes("/") || Fraction.of(value).toString() === value;
};
const HIDDEN = new RegExp("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u2065\\u2800\\u3164"
  + "\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8\\ufffe\\uffff\\u{16fe4}\\u{1d159}\\u{e0000}-\\u{e0fff}]", "u");
const isText = (value, limit, allowed) => {
  if (typeof value !== "string" || [...value].length > limit) return false;
  const seen = value.replace(allowed, "");
  return !HIDDEN.test(seen) && /\S/.test(seen);
};
/** The form of a certificate of a version, of a model of a family. */
function formOf(version, scored, peopled) {
  const words = (value) => typeof value === "string" && !/\p{Cs}/u.test(value);
  const name = (value) => isText(value, 500, /[\u200c\u200d]/g) && value.normalize("NFC") === value;
  const longer = (value) => isText(value, 10000, /[\u200c\u200d\n\t]/g);
  const flag = (value) => typeof value === "boolean";
  const day = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && value > "0001" && !Number.isNaN(Date.parse(`${value}T00:00Z`))
    && new Date(`${value}T00:00Z`).toISOString().startsWith(value);
  const labels = (value) => value !== null && typeof value === "object" && !Array.isArray(value)
    && Object.keys(value).length <= ATTRIBUTES && Object.entries(value).flat().every(name);
  const nothing = (value) => value === null;
  const both = (form) => ({ favourable: form, unfavourable: form });

  const digestForm = like("[0-9a-f]{64}"), identifier = like("[0-9a-f]{32}"), count = like("0|[1-9][0-9]{0,3999}");
  const decimal = like("0|1|0[.][0-9]{0,399}[1-9]"), criterionForm = like("difference|ratio");
  const fraction = lowest("(0|-?[1-9][0-9]{0,40000})(/[1-9][0-9]{0,40000})?");
  const share = lowest("0|1|[1-9][0-9]{0,1999}/[1-9][0-9]{0,1999}"), weight = lowest("(0|[1-9][0-9]{0,99})(/[1-9][0-9]{0,99})?");
  const score = lowest("(0|-?[1-9][0-9]{0,199})(/[1-9][0-9]{0,199})?"), decimals = like("0|-?(1|0[.][0-9]{0,19}[1-9])");
  const logarithm = like("-[0-9]{1,120}[.][0-9]{6}");
  const first = version === 1, figure = scored ? decimals : fraction, given = (form) => (peopled ? form : nothing);
  const attribute = { name, sensitive: flag, values: [name] };
  const exact = scored ? {
    family: like("scorecard"), decision: name, ...both(name), undisclosed: like("conforming|missing-bin|declared"),
    base: like("e|2"), odds: weight, intercept: score, unfavourable_share: given(share),
    attributes: [{ ...attribute, weights: [score], undisclosed: score, population: given([share]) }],
  } : { decision: name, ...both(name), prior: share, attributes: [{ ...attribute, ...both([share]) }] };
  const repair = scored ? given(orNull({
    source_sha256: digestForm, people: like("[1-9][0-9]{0,99}"), intercept: score, unfavourable_share: share,
    attributes: [{ weights: [score], undisclosed: score, population: [share] }],
    log_likelihood_before: logarithm, log_likelihood_after: logarithm,
  })) : orNull({
    method: like("fair|independent|independent-mean|unconstrained"), source_sha256: digestForm, smoothing: weight,
    decision: both(weight), attributes: [both([weight])],
    log_likelihood_before: logarithm, log_likelihood_after: orNull(logarithm),
    "proof?": { sha256: digestForm, bound: logarithm },
  });
  const setting = {
    criterion: criterionForm, delta: decimal, min_probability: decimal, sensitive: [name], valid_days: count, issuer: name,
    responsible: name,
  };
  const scope = {
    decision: name, ...both(name), criterion: criterionForm, delta: decimal, min_probability: orNull(decimal),
    sensitive: [name], "undisclosed?": like("missing-bin|declared"),
  };
  const before = { id: identifier, sha256: digestForm, scope_change_reason: orNull(longer) };
  const change = like("(decision|(un)?favourable decision|criterion|delta|minimum probability): .+ became .+"
    + "|sensitive attribute: .+ was (added|removed)");
  const changed = (value) => isText(value, 10000, /[\u200c\u200d]/g) && change.test(value);
  const uncounted = "patterns of a minimum probability are searched, not counted|more than [0-9,]+ patterns lie within rounding of the threshold"
    + "|there are [0-9.E+]+ combinations of sensitive values; at most [0-9,]+ are counted one by one|the time limit was reached before all patterns were counted";
  const size = first ? like("0|1([.]0{1,400})?|0[.](?!0*$)[0-9]{1,400}") : decimal;
  return {
    kind: like("auditor/certificate"), version: (value) => value === version, id: identifier, issued: day, valid_from: day,
    expires: day, issuer: orNull(name), responsible: orNull(name), claim: { sentence: words, formula: words },
    supersedes: orNull(first ? { ...before, scope_changes: [changed] } : { ...before, verified_with: orNull(digestForm), scope }),
    verdict: like("delta-fair|not-delta-fair|inconclusive"), criterion: criterionForm, delta: size, min_probability: orNull(size),
    ...(first ? {} : { "box?": like("1|0[.][0-9]{0,99}[1-9]") }),
    policy: {
      sha256: orNull(digestForm),
      overridden: first ? [like(Object.keys(setting).join("|"))]
        : Object.fromEntries(Object.entries(setting).map(([key, form]) => [key, orNull(form)])),
    },
    decision: { name, ...both(name) }, sensitive_attributes: [{ name, reason: orNull(longer) }],
    max_degree: { exact: orNull(fraction), lower: decimal, upper: decimal },
    witness: orNull({
      sensitive_values: labels, context_values: labels, degree: figure, probability: scored ? given(decimals) : fraction,
      favourable_given_pattern: figure, favourable_given_context: figure,
    }),
    pattern_count: orNull(count), total_patterns: count,
    pattern_count_reason: orNull(like(first ? uncounted : "not all patterns were counted within the limits of time and memory")),
    coverage: orNull([{ disclosed: [name], method: like("closed form|exhausted|bounded"), pairs: count, patterns: count }]),
    inconclusive_reason: orNull(like("the search reached a limit of time or memory before it was decided")),
    assumptions: [words], limits: [words], method: { search: words, arithmetic: words }, platform: orNull(longer),
    tool: { name: like("auditor"), version: like("[0-9]+[.][0-9]+[.][0-9]+") },
    model: {
      name, sha256: digestForm, exact, ...(first ? {} : { family: like(scored ? "scorecard" : "naive-bayes"), repair }),
      provenance: {
        description: orNull(longer), owner: orNull(longer), model_version: orNull(longer), data_source: orNull(longer),
        period: orNull(longer), rows: orNull(count),
      },
    },
  };
}

/** Refuse a value that hasn't a form. */
function fit(value, form, place) {
  let holds;
  if (form instanceof RegExp) holds = typeof value === "string" && form.test(value);
  else if (typeof form === "function") holds = form(value, place);
  else if (Array.isArray(form)) {
    holds = Array.isArray(value) && value.length <= VALUES;
    if (holds) value.forEach((part) => fit(part, form[0], `${place}[]`));
  } else {
    holds = value !== null && typeof value === "object" && !Array.isArray(value);
    const known = new Map(Object.entries(form).map(([key, part]) => [key.replace("?", ""), part]));
    for (const key of holds ? Object.keys(value) : []) {
      if (!known.has(key)) throw new SyntaxError(`${place} has ${key}, which no certificate has there`);
    }
    for (const key of holds ? Object.keys(form) : []) {
      const plain = key.replace("?", "");
      if (Object.hasOwn(value, plain)) fit(value[plain], form[key], `${place}.${plain}`);
      else if (plain === key) throw new SyntaxError(`${place} has no ${key}`);
    }
  }
  if (!holds) throw new SyntaxError(`${place} is not written as in a certificate`);
}

// Letters that look like Latin ones: the eye must be able to tell names apart.
const ALIKE = new Map([..."АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ"].map(
  (letter, i) => [letter, "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXovp"[i]]));
/** Whether no two names could be taken for each other. */
function differ(names) {
  const plain = (text) => [...text.normalize("NFKC").replace(/[\u200c\u200d]/g, "")].map((s) => ALIKE.get(s) ?? s).join("")
    .split(/\s+/).filter(Boolean).join(" ");
  return new Set(names.map(plain)).size === names.length;
}

/** By the numbers of their letters, as the format sorts names. */
function byLetters(one, other) {
  const [a, b] = [one, other].map((text) => [...text].map((letter) => letter.codePointAt(0)));
  const at = a.findIndex((letter, i) => letter !== b[i]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
}

/** The scorecard before a repair: the certified one, with the numbers that it had. */
function sourceOf(certificate) {
  const { exact, repair } = certificate.model;
  return {
    ...exact, intercept: repair.intercept, unfavourable_share: repair.unfavourable_share,
    attributes: exact.attributes.map((a, i) => ({ ...a, ...repair.attributes[i] })),
  };
}

/** The two lists of numbers of an attribute. */
const listsOf = (a) => (a.weights ? [a.weights, a.population ?? a.weights] : [a.favourable, a.unfavourable]);
/** Whether the numbers of a model are no longer than they can be. */
function areShort({ attributes, intercept }) {
  const longest = attributes.reduce((sum, a) => sum + Math.max(0, ...listsOf(a).flat().map((text) => text.length)), 0);
  const rows = attributes.flatMap(listsOf);
  if (intercept !== undefined) rows.push([intercept, ...attributes.flatMap((a) => [a.undisclosed, ...a.weights])]);
  return longest <= CHARACTERS && rows.every((row) => {
    let common = 1n;
    return row.every((text) => {
      const { d } = Fraction.of(text);
      common = (common / gcd(common, d)) * d;
      return common < DENOMINATOR;
    });
  });
}

/** What is wrong between the fields of a certificate, each with whether it is so. */
function* faults(c) {
  const { exact, repair = null } = c.model, { attributes } = exact, scored = "family" in exact, first = c.version === 1;
  yield ["it has no attributes, or too many", attributes.length && attributes.length <= ATTRIBUTES];
  yield ["it has too many values", attributes.reduce((sum, a) => sum + a.values.length, 0) <= VALUES];
  yield ["an attribute has too few or too many values", attributes.every((a) => a.values.length >= (scored ? 1 : 2)
    && a.values.length <= ATTRIBUTES && listsOf(a).every((list) => list.length === a.values.length))];
  yield ["the numbers of the model have too many digits", areShort(exact)];
  if (scored) {
    const most = (row) => row.map((w) => Fraction.of(w).size()).reduce((p, q) => (q.compare(p) > 0 ? q : p));
    const small = (card) => [[card.intercept], ...card.attributes.map((a) => [a.undisclosed, ...a.weights])]
      .map(most).reduce((sum, w) => sum.plus(w), ZERO).compare(EXPONENT) <= 0;
    const likely = c.min_probability === null || exact.unfavourable_share !== null;
    yield ["it says what no certificate of a scorecard has", likely && c.max_degree.exact === null];
    yield ["the scorecard has too large log-odds", small(exact)];
    if (repair) {
      const { rows } = c.model.provenance;
      yield ["the repair is of other attributes", repair.attributes.length === attributes.length && repair.attributes.every(
        (a, i) => [a.weights, a.population].every((list) => list.length === attributes[i].values.length))];
      yield ["the scorecard before the repair has too large log-odds", small(sourceOf(c))];
      yield ["the numbers before the repair have too many digits", areShort(sourceOf(c))];
      yield ["the repair is of another number of people", repair.people === (rows === null || rows === "0" ? "1000" : rows)];
    }
  }
  const groups = [[exact.decision, ...attributes.map((a) => a.name)], SIDES.map((side) => exact[side]), ...attributes.map((a) => a.values)];
  yield ["two of its names could be taken for each other", groups.every(differ)];
  const listed = c.sensitive_attributes.map((a) => a.name);
  yield ["its names make the sentence ambiguous", !first || !(/["\\]/.test(c.model.name + exact.favourable) || /[",()]/.test(listed.join("")))];
  yield ["a minimum probability of 0 is none", first || c.min_probability !== "0"];
  yield ["no such certificate has a box", !("box" in c) || (c.verdict === "delta-fair" && c.min_probability === null && !scored)];
  if (repair && "proof" in repair) {
    yield ["no such certificate has a proof", repair.method === "fair" && c.verdict === "delta-fair"
      && c.criterion === "difference" && c.min_probability === null];
    const known = repair.log_likelihood_after;
    yield ["the bound is below the model itself", known !== null && Fraction.of(known).compare(Fraction.of(repair.proof.bound)) <= 0];
  }
  const undecided = c.verdict === "inconclusive";
  yield ["it has a count and a reason for none, or neither", (c.pattern_count === null) !== (c.pattern_count_reason === null)];
  yield ["its reason for what is undecided doesn’t fit", undecided === (c.inconclusive_reason !== null)];
  yield ["it has a proved number though it is undecided", !undecided || (c.pattern_count === null && c.max_degree.exact === null)];
  yield ["it counts patterns of a δ-fair model", c.verdict !== "delta-fair" || c.pattern_count === "0"];
  const covered = c.pattern_count !== null && c.min_probability === null && listed.length <= LISTED;
  yield ["parts of the count are missing, or of none", covered === (c.coverage !== null)];
  const bounded = (c.coverage ?? []).filter((row) => row.method === "bounded");
  yield ["there are patterns where a bound shows that there are none", bounded.every((row) => row.patterns === "0")
    && (!bounded.length || first || c.verdict === "delta-fair")];
}

/** The same of dates, policy and the certificate before. */
function* faultsOfHistory(c) {
  const days = String(Math.round((Date.parse(c.expires) - Date.parse(c.valid_from)) / 864e5));
  yield ["its dates are in a wrong order, or too far apart", c.issued <= c.valid_from && Number(days) > 0 && Number(days) <= DAYS];
  const now = {
    decision: c.decision.name, favourable: c.decision.favourable, unfavourable: c.decision.unfavourable, criterion: c.criterion,
    delta: c.delta, min_probability: c.min_probability, sensitive: c.sensitive_attributes.map((a) => a.name).sort(byLetters),
  };
  const old = c.supersedes;
  let changed;
  if (c.version === 1) {
    const lines = old?.scope_changes ?? [], ends = Object.entries(now).filter(([key]) => key !== "sensitive")
      .map(([, value]) => ` became ${value === null || value === "" ? "none" : value}`);
    const sensitive = lines.filter((line) => !ends.some((end) => line.endsWith(end)));
    yield ["a change is told that isn’t one", sensitive.every((line) => {
      const found = /^sensitive attribute: ([^]*) was (added|removed)$/.exec(line);
      return found && now.sensitive.includes(found[1]) === (found[2] === "added");
    })];
    changed = lines.length > 0;
  } else {
    const meaning = c.model.exact.undisclosed, scope = { ...now };
    if (meaning === "missing-bin" || meaning === "declared") scope.undisclosed = meaning;
    changed = old !== null && !equal(old.scope, scope);
    const sorted = (names) => equal(names, [...new Set(names)].sort(byLetters));
    const said = Object.entries(c.policy.overridden).filter(([, value]) => value !== null);
    const here = { ...now, valid_days: days, issuer: c.issuer, responsible: c.responsible };
    yield ["the policy says what the certificate says, and is told to differ", said.every(([key, value]) => !equal(value, here[key]))];
    const { overridden } = c.policy, listed = [old?.scope.sensitive ?? now.sensitive, overridden.sensitive ?? now.sensitive];
    yield ["names are not in order, or there are none", listed.every((names) => names.length && sorted(names))];
    yield ["a setting of the policy is none", (c.min_probability !== null || overridden.min_probability !== "0")
      && (overridden.valid_days === null || (Number(overridden.valid_days) > 0 && Number(overridden.valid_days) <= DAYS))];
    const before = old?.scope ?? now;
    yield ["the certificate before had a scope that none has", before.min_probability !== "0"
      && [[before.decision, ...before.sensitive], SIDES.map((side) => before[side])].every(differ)];
    yield ["a policy is overridden that isn’t there", c.policy.sha256 !== null || !said.length];
  }
  yield ["a reason is given for no change of scope, or none for one", changed === ((old?.scope_change_reason ?? null) !== null)];
}

/** The claim in a sentence and as a formula. */
function claimOf(c) {
  const quoted = (text) => JSON.stringify(text), names = c.sensitive_attributes.map((a) => a.name);
  const [verb, sign] = {
    "delta-fair": ["never changes", "<="], "not-delta-fair": ["in some context changes", ">"],
    inconclusive: ["may or may not change (this is not decided)", "<= or >"],
  }[c.verdict];
  const ratio = c.criterion === "ratio", least = c.min_probability;
  const where = {
    "missing-bin": ", where an attribute that is not disclosed counts as missing",
    declared: ", where an attribute that is not disclosed counts what is declared for it",
  }[c.model.exact.undisclosed] ?? "";
  const listed = (c.version === 1 ? names : names.map(quoted)).join(", ");
  return {
    sentence: `In the model ${quoted(c.model.name)}, disclosing one or more of the sensitive attributes (${listed}) ${verb} the `
      + `probability of ${quoted(c.decision.favourable)} by more than ${c.delta}`
      + `${ratio ? " of the larger of the probabilities before and after" : ""}, whatever else is disclosed${where}`
      + `${least === null ? "" : `, counting only what the share ${least} of people or more have in common`}`
      + `${"box" in c ? `; the same holds for every model whose probabilities are each at most 1 + ${c.box} times larger or smaller than its own` : ""}.`,
    formula: `max |P(d | xy) - P(d | y)|${ratio ? " / max(P(d | xy), P(d | y))" : ""} ${sign} ${c.delta}`
      + `${least === null ? "" : `, P(xy) >= ${least}`}`
      + `${"box" in c ? `, for every P with P0 / (1 + ${c.box}) <= P <= P0 (1 + ${c.box})` : ""}`,
  };
}

// SHA-256 of the assumptions, limits and method, which are the same in all certificates of a kind.
const WORDS = {
  plain: "6d055ecd12e04b8ee2329708938a43387789d3cdb801da7bac745a91687f4515",
  box: "1253cb8094e7be0d23333b90d19d1f6f59cc30c656e06f25692882b63e3795a8",
  conforming: "82076c775c9cea9db57f0a9147c8c5008d1749700bc8b181627cc24e4a53c3f2",
  "missing-bin": "f9a96b6c5c9d28c2de7f6380c2295e98da2365e81943552e109c900be683883d",
  declared: "c331d18a057eaf46cf81e223104842a1d967ffe4c2a99eb4bd91f2b3c781f78e",
};
const fixedWords = (c) => WORDS["box" in c ? "box" : c.model.exact.undisclosed ?? "plain"];
