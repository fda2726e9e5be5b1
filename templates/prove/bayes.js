// What odds are in a naive Bayes model. A pattern (x, y) has the odds R = P(d, y) / P(not d, y) of its context, and x has
// the strength k = P(x | d) / P(x | not d): P(d | y) = R / (1 + R) and P(d | xy) = kR / (1 + kR). For one k, |degree| > t is
// where R lies in one open interval. Where one side of y is 0 both chances are 0, or both are 1, and the degree is 0.
"use strict";

/** The natural logarithm of a positive fraction. */
function logOf(value) {
  const log = (n) => {
    const beyond = Math.max(0, n.toString(2).length - 900);
    return Math.log(Number(n >> BigInt(beyond))) + beyond * Math.LN2;
  };
  return log(value.n) - log(value.d);
}
const root = (value) => Math.exp(logOf(value) / 2);
const TWO = new Fraction(2n);

/** The ends of the interval of log R in which |degree| > t for some R, where 0 < t < 1 and k is neither 0 nor infinite; else null. */
function endsOf(criterion, k, t) {
  const below = (bound) => (bound.n > 0n ? [-Infinity, logOf(bound)] : null);
  if (criterion === "ratio") {
    if (k.compare(ONE) > 0) return below(ONE.minus(ONE.over(k)).over(t).minus(ONE));
    return below(ONE.minus(k).over(t).minus(ONE).over(k));
  }
  // |k - 1| R > t (1 + R) (1 + kR), a quadratic in R with the product of its roots 1 / k.
  const linear = k.minus(ONE).size().minus(t.times(ONE.plus(k)));
  if (linear.n <= 0n) return null;
  const inner = linear.times(linear).minus(TWO.times(TWO).times(t).times(t).times(k));
  // linear + root, by the ratio of the two, which is at most 1. Next to a double root both ends are close to each other.
  const more = inner.n > 0n ? Math.log1p(root(inner.over(linear.times(linear)))) : 0;
  const sum = logOf(linear) + more, twice = logOf(TWO.times(t));
  return [twice - sum, sum - twice - logOf(k)];
}

/** Whether |degree| > t for some odds of a context; k is null where it is infinite. */
function discriminates(criterion, k, t) {
  if (k !== null && k.compare(ONE) === 0) return false;
  if (t.compare(ONE) >= 0) return false;
  if (t.n === 0n || k === null || k.n === 0n) return true;
  const strong = k.compare(ONE) > 0 ? k : ONE.over(k);
  if (criterion === "ratio") return ONE.minus(ONE.over(strong)).compare(t) > 0;
  // (√k - 1) / (√k + 1) > t
  const kept = ONE.minus(t), grown = ONE.plus(t);
  return strong.times(kept).times(kept).compare(grown.times(grown)) > 0;
}

/** The odds of a naive Bayes model, as fractions. */
class Bayes {
  constructor(exact, criterion) {
    this.model = new Model(exact);
    this.criterion = criterion;
    this.attributes = this.model.attributes;
    this.pairs = this.attributes.map((a) => a.favourable.map((p, v) => [p, a.unfavourable[v]]));
    this.one = this.slack = ONE;
    this.factors = this.pairs.map((row) => row.filter(([p, q]) => p.n && q.n).map(([p, q]) => p.over(q)));
  }
  /** Whether these are a model, in words. */
  sound() {
    const inside = (p) => p.n >= 0n && p.compare(ONE) <= 0;
    const isWhole = (row) => row.every(inside) && row.reduce((sum, p) => sum.plus(p), ZERO).compare(ONE) === 0;
    const { prior } = this.model;
    if (prior.n <= 0n || prior.compare(ONE) >= 0) return [false, "the favourable decision is impossible, or certain"];
    for (const a of this.attributes) {
      if (!isWhole(a.favourable) || !isWhole(a.unfavourable)) return [false, `the probabilities of ${a.name} don’t add up to 1`];
    }
    if (this.pairs.some((row) => row.some(([p, q]) => !p.n && !q.n))) return [false, "a value is impossible under both decisions"];
    this.start = prior.over(ONE.minus(prior));
    return [true, "all probabilities add up to 1"];
  }
  times(a, b) { return a.times(b); }
  log(odds) { return logOf(odds); }
  /** The strengths of all x over some attributes, with how many x have each: [k, number]. */
  strengths(disclosed) {
    const found = new Map();
    for (const x of choicesOf(this.attributes, disclosed)) {
      const k = this.strengthOf(x), key = String(k);
      if (k !== undefined) found.set(key, [k, (found.get(key)?.[1] ?? 0) + 1]);
    }
    return [...found.values()];
  }
  /** The strength of x: a fraction, null where it is infinite, and undefined where nobody is so. */
  strengthOf(x) {
    const [a, b] = [0, 1].map((side) => x.reduce((product, [i, v]) => product.times(this.pairs[i][v][side]), ONE));
    if (a.n === 0n && b.n === 0n) return undefined;
    return b.n ? a.over(b) : null;
  }
  /** P(d) and P(not d), rounded. */
  whole() { return [this.model.prior, ONE.minus(this.model.prior)].map((p) => p.toNumber()); }
  /** P(v | d), P(v | not d) and the logarithm of their ratio, rounded; null where one of them is 0. */
  rounded(i, v) {
    const [p, q] = this.pairs[i][v];
    return [p.toNumber(), q.toNumber(), p.n && q.n ? logOf(p.over(q)) : null];
  }
  /** The open interval of log R in which |degree| > t; null where there is none. */
  interval(k, t) {
    if (!discriminates(this.criterion, k, t)) return null;
    if (t.n === 0n) return [-Infinity, Infinity];
    const certain = ONE.minus(t).over(t);
    if (k === null) return [-Infinity, logOf(certain)];
    if (k.n === 0n) return this.criterion === "ratio" ? [-Infinity, Infinity] : [-logOf(certain), Infinity];
    return endsOf(this.criterion, k, t);
  }
  /** Whether |degree| > t, by its definition. */
  exceeds(R, k, t) {
    const after = k === null ? ONE : R.times(k).over(ONE.plus(R.times(k)));
    return degreeOf(this.criterion, after, R.over(ONE.plus(R))).size().compare(t) > 0;
  }
  /** Whether the extreme ratios of likelihoods show that no x over these attributes or fewer exceeds t in any context. */
  settled(disclosed, t) {
    const rows = disclosed.map((i) => this.pairs[i]);
    if (rows.some((row) => row.some(([p, q]) => !p.n || !q.n))) return t.compare(ONE) >= 0;
    return [1, -1].every((side) => {
      const pick = (p, q) => (p.compare(q) * side > 0 ? p : q);
      const k = rows.reduce((all, row) => all.times(row.map(([p, q]) => p.over(q)).reduce(pick)), ONE);
      return !discriminates(this.criterion, k, t);
    });
  }
  /** Whether P(xy) is at least so much. */
  isProbable(x, y, least) {
    const found = this.model.measure(this.criterion, x, y);
    return found !== null && found.share.compare(least) >= 0;
  }
  /** Whether |degree| > t for a pattern that somebody has. */
  isAbove(x, y, t) { return this.model.measure(this.criterion, x, y).degree.size().compare(t) > 0; }
  /** What a pattern does, and whether the numbers told of it are these. */
  measure(x, y, told) {
    const found = this.model.measure(this.criterion, x, y);
    if (!found) return { holds: false, says: "nobody is so" };
    const { degree, before, after, share } = found, size = degree.size();
    const numbers = { degree, probability: share, favourable_given_pattern: after, favourable_given_context: before };
    return {
      holds: Object.entries(numbers).every(([name, value]) => told[name] === value.toString()),
      says: `its degree is ${degree}, before ${before}, after ${after}, share ${share}`,
      compare: (mark) => size.compare(mark), size, share,
    };
  }
}
