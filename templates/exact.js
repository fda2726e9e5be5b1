// Exact arithmetic in BigInt fractions, a naive Bayes model made of them, and numbers as the report writes them.
"use strict";

const abs = (n) => (n < 0n ? -n : n);
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a; };

/** A fraction in lowest terms with a positive denominator. */
class Fraction {
  constructor(numerator, denominator = 1n) {
    if (denominator === 0n) throw new RangeError("division by zero");
    const common = gcd(abs(numerator), abs(denominator)) * (denominator < 0n ? -1n : 1n);
    this.n = numerator / common;
    this.d = denominator / common;
  }
  /** Read "-3/7", "0.25" or "1". */
  static of(text) {
    const found = /^(-?)(\d+)(?:\.(\d+)|\/(\d+))?$/.exec(text);
    if (!found) throw new SyntaxError(`${text} is no fraction`);
    const [, sign, whole, places = "", under] = found;
    const top = BigInt(whole + places) * (sign ? -1n : 1n);
    return new Fraction(top, under === undefined ? 10n ** BigInt(places.length) : BigInt(under));
  }
  plus(o) { return new Fraction(this.n * o.d + o.n * this.d, this.d * o.d); }
  minus(o) { return new Fraction(this.n * o.d - o.n * this.d, this.d * o.d); }
  times(o) { return new Fraction(this.n * o.n, this.d * o.d); }
  over(o) { return new Fraction(this.n * o.d, this.d * o.n); }
  size() { return this.n < 0n ? new Fraction(-this.n, this.d) : this; }
  /** Negative, 0 or positive, as this is below, at or above the other. */
  compare(o) { const gap = this.n * o.d - o.n * this.d; return gap < 0n ? -1 : gap > 0n ? 1 : 0; }
  toString() { return this.d === 1n ? `${this.n}` : `${this.n}/${this.d}`; }
  /** The nearest double. Below 1e-290 it may be off by one unit. */
  toNumber() {
    if (this.n === 0n) return 0;
    const top = abs(this.n);
    const shift = Math.max(0, 66 + this.d.toString(2).length - top.toString(2).length);
    let whole = (top << BigInt(shift)) / this.d;
    if (whole * this.d !== top << BigInt(shift)) whole |= 1n;  // Never a tie that is none.
    let value = Number(whole);
    for (let left = shift; left > 0; left -= 500) value *= 2 ** -Math.min(left, 500);
    return this.n < 0n ? -value : value;
  }
}
const ZERO = new Fraction(0n), ONE = new Fraction(1n);

/** The degree of a pattern, from P(d | xy) and P(d | y). */
function degreeOf(criterion, after, before) {
  if (criterion === "difference") return after.minus(before);
  if (before.n === 0n) return ZERO;
  const q = after.over(before);
  return q.compare(ONE) >= 0 ? ONE.minus(ONE.over(q)) : q.minus(ONE);
}

/** A naive Bayes model from the exact parameters in a document. */
class Model {
  constructor(exact) {
    this.prior = Fraction.of(exact.prior);
    this.attributes = exact.attributes.map((a) => ({
      name: a.name, sensitive: a.sensitive, values: a.values,
      favourable: a.favourable.map(Fraction.of), unfavourable: a.unfavourable.map(Fraction.of),
    }));
  }
  /** P(d, values) and P(not d, values), of [attribute, value] pairs. */
  joint(values) {
    let u = this.prior, v = ONE.minus(this.prior);
    for (const [i, k] of values) {
      u = u.times(this.attributes[i].favourable[k]);
      v = v.times(this.attributes[i].unfavourable[k]);
    }
    return [u, v];
  }
  /** What disclosing x in the context y does, exactly; null where nobody is so. */
  measure(criterion, x, y) {
    const [u, v] = this.joint(y), [du, dv] = this.joint([...y, ...x]);
    const share = du.plus(dv);
    if (share.n === 0n) return null;
    const before = u.over(u.plus(v)), after = du.over(share);
    return { before, after, share, degree: degreeOf(criterion, after, before) };
  }
}

// Numbers as people read them: the report's forms, digit by digit.

/** The shortest digits of a double, and the power of ten of the first of them. */
function digitsOf(value) {
  const [digits, exponent] = Math.abs(value).toExponential().split("e");
  return [digits.replace(".", ""), Number(exponent)];
}
/** Round to significant digits, half to even, with an exponent if the number is tiny. */
function rounded(value, wanted = 4) {
  if (value === 0) return "0";
  let [digits, exponent] = digitsOf(value);
  let last = exponent - wanted + 1;
  let kept = BigInt(digits.slice(0, wanted).padEnd(wanted, "0"));
  const rest = digits.slice(wanted);
  if (rest && (rest[0] > "5" || (rest[0] === "5" && (/[1-9]/.test(rest.slice(1)) || kept % 2n === 1n)))) kept += 1n;
  if (kept === 10n ** BigInt(wanted)) [kept, last] = [kept / 10n, last + 1];
  const sign = value < 0 ? "−" : "", text = kept.toString();
  if (Math.abs(value) < 1e-5) {
    return `${sign}${text[0]}${text.length > 1 ? "." + text.slice(1) : ""}e−${-(last + text.length - 1)}`;
  }
  if (last >= 0) return sign + text + "0".repeat(last);
  const full = text.padStart(1 - last, "0");
  return `${sign}${full.slice(0, last)}.${full.slice(last)}`;
}
const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, ",");
function percent(probability) {
  if (probability === 1) return "100%";
  const share = probability * 100, place = (number) => digitsOf(number)[1];
  let wanted = 4, text = rounded(share);
  if (Number(text) >= 100) return "over 99.99%";
  // What is below a power of ten, which limits of shares are, isn't told as that.
  while (place(Number(text.replace("−", "-"))) > place(share) && wanted < 17) text = rounded(share, wanted += 1);
  return `${text}%`;
}
const halfEven = (value) => {
  const low = Math.floor(value), gap = value - low;
  return gap < 0.5 || (gap === 0.5 && low % 2 === 0) ? low : low + 1;
};
function people(probability) {
  const part = probability * 10000;
  if (part > 0.95) {
    const number = Math.min(halfEven(part), 10000 - (probability < 1 ? 1 : 0));
    return `${part < number && [1, 10, 100, 1000].includes(number) ? "under " : ""}${grouped(number)} of 10,000`;
  }
  if (probability * 1e10 < 1) return "under 1 of 10 billion";
  return `1 of ${whole(String(BigInt(rounded(1 / probability, 2))))}`;
}
/** A whole number of any size, in short if it is beyond reading. */
function whole(text) {
  if (text.length <= 24) return grouped(text);
  const unit = 10n ** BigInt(text.length - 4), rest = 2n * (BigInt(text) % unit);
  let kept = BigInt(text) / unit;
  if (rest > unit || (rest === unit && kept % 2n === 1n)) kept += 1n;
  const digits = String(kept);
  return `about ${digits[0]}.${digits.slice(1, 4)}e+${text.length - 4 + digits.length - 1}`;
}
/** A degree with its sign, to as many digits as keep its size on its side of δ. */
function signed(degree, delta) {
  const limit = Fraction.of(delta), side = degree.size().compare(limit);
  const value = beside(degree, delta), sign = value > 0 ? "+" : value < 0 ? "−" : "";
  for (let digits = 4; digits <= 17; digits++) {
    const text = rounded(Math.abs(value), digits);
    if (!text.includes("e") && Fraction.of(text).compare(limit) === side) return sign + text;
    if (text.includes("e") && side < 0) return sign + text;
  }
  return sign + (side ? String(Math.abs(value)) : delta);
}
/** The double that documents hold for a degree: it compares with that of δ as the degree does with δ. */
function beside(degree, delta) {
  const exact = Fraction.of(delta), last = 1 - Number.EPSILON / 2;
  const limit = exact.compare(Fraction.of("1")) < 0 ? Math.min(Number(delta), last) : 1;
  const above = degree.size().compare(exact) > 0;
  const value = above ? Math.abs(degree.toNumber()) : Math.min(Math.abs(degree.toNumber()), limit);
  if (!above || value > limit) return degree.n < 0n ? -value : value;
  const next = new Float64Array([limit]);
  new BigInt64Array(next.buffer)[0] += 1n;
  return degree.n < 0n ? -next[0] : next[0];
}
