// What odds are in a scorecard: R = c B^t, where c is `odds`, B is e or 2, and the exponent t sums the intercept, the weight
// of each disclosed value, and of each other attribute what it counts `undisclosed`. A pattern moves t by s, from R to R B^s.
// With P the lesser and Q the greater of the two odds,
//   difference:  |degree| > t  where  Q - P - t (1 + P) (1 + Q) > 0
//   ratio:       |degree| > t  where  (1 - t) Q (1 + P) - P (1 + Q) > 0
// which are sums of a B^q with fractions a and q: signOf tells their signs.
"use strict";

const NEARLY = new Fraction(1n, 10n ** 8n), PLACES = 20;

/** The odds of a scorecard, as exponents: integers in units of their common denominator. */
class Scorecard {
  constructor(exact, criterion) {
    this.criterion = criterion;
    this.base = exact.base;
    this.c = Fraction.of(exact.odds);
    this.attributes = exact.attributes;
    const undisclosed = exact.attributes.map((a) => Fraction.of(a.undisclosed));
    const moves = exact.attributes.map((a, i) => a.weights.map((w) => Fraction.of(w).minus(undisclosed[i])));
    const start = undisclosed.reduce((sum, u) => sum.plus(u), Fraction.of(exact.intercept));
    this.unit = [start, ...moves.flat()].reduce((unit, { d }) => (unit / gcd(unit, d)) * d, 1n);
    const whole = (move) => move.n * (this.unit / move.d);
    this.start = whole(start);
    this.factors = moves.map((row) => row.map(whole));
    this.one = 0n;
    this.decided = new Map();
    this.peopled = exact.unfavourable_share !== null;
    // In a rounded population, one value more can make people more by that share of NEARLY.
    this.slack = ONE.minus(new Fraction(1n, 10n ** 4n));
    if (this.peopled) {
      this.share = Fraction.of(exact.unfavourable_share);
      this.population = exact.attributes.map((a) => a.population.map(Fraction.of));
    }
  }
  exponent(units) { return new Fraction(units, this.unit); }
  /** Whether this is a scorecard, and a population conforms with it, in words. */
  sound() {
    if (this.c.n <= 0n) return [false, "its odds are not positive"];
    if (!this.peopled) return [true, "no population is assumed"];
    const positive = (p) => p.n > 0n && p.compare(ONE) <= 0;
    if (!positive(this.share) || this.share.compare(ONE) === 0 || !this.population.flat().every(positive)) {
      return [false, "shares of its population are not between 0 and 1"];
    }
    // P(d) and P(not d); then, of each attribute, P(value | not d), and P(value | d) = P(value | not d) B^move.
    const isOne = (terms) => {
      const low = signOf(this.base, [...terms, [NEARLY.minus(ONE), ZERO]]);
      return low >= 0 && signOf(this.base, [...terms, [ZERO.minus(NEARLY).minus(ONE), ZERO]]) <= 0;
    };
    const sums = [[[this.share, ZERO], [this.share.times(this.c), this.exponent(this.start)]]];
    this.population.forEach((row, i) => {
      sums.push(row.map((p) => [p, ZERO]), row.map((p, v) => [p, this.exponent(this.factors[i][v])]));
    });
    return sums.every(isOne) ? [true, "its population conforms with it"] : [false, "its population does not conform with it"];
  }
  times(a, b) { return a + b; }
  log(units) { return this.exponent(units).toNumber() * (this.base === "2" ? Math.LN2 : 1); }
  strengths(disclosed) {
    const found = new Map();
    for (const x of choicesOf(this.attributes, disclosed)) {
      const move = this.strengthOf(x);
      found.set(move, (found.get(move) ?? 0) + 1);
    }
    return [...found];
  }
  /** By how much x moves the exponent. */
  strengthOf(x) { return x.reduce((sum, [i, v]) => sum + this.factors[i][v], 0n); }
  /** P(d) and P(not d), rounded. */
  whole() { return [Math.exp(logOf(this.share) + logOf(this.c) + this.log(this.start)), this.share.toNumber()]; }
  /** P(v | d), P(v | not d) and the logarithm of their ratio, rounded. */
  rounded(i, v) {
    const share = this.population[i][v], move = this.log(this.factors[i][v]);
    return [Math.exp(logOf(share) + move), share.toNumber(), move];
  }
  /** Whether |degree| > t for some odds of a context; the greatest difference is (√k - 1) / (√k + 1), k = B^|move|. */
  discriminates(move, t) {
    if (move === 0n || t.compare(ONE) >= 0) return false;
    const size = this.exponent(abs(move)), kept = ONE.minus(t);
    if (this.criterion === "ratio") return signOf(this.base, [[kept, size], [ZERO.minus(ONE), ZERO]]) > 0;
    return signOf(this.base, [[kept, size.over(TWO)], [ZERO.minus(ONE.plus(t)), ZERO]]) > 0;
  }
  /** The open interval of log B^t, that is of log R without that of c, in which |degree| > t. */
  interval(move, t) {
    if (!this.discriminates(move, t)) return null;
    if (t.n === 0n) return [-Infinity, Infinity];
    // Both bounds on k must give the same ends: next to 1, or next to the threshold, that takes more digits.
    for (const bits of PRECISIONS) {
      const [first, last] = powerOf(this.base, this.exponent(abs(move)), bits).map((bound) => {
        const k = new Fraction(bound, 1n << bits);
        return bound > 1n << bits ? endsOf(this.criterion, move > 0n ? k : ONE.over(k), t) : null;
      });
      const same = first && last && first.every((end, n) => end === last[n] || Math.abs(end - last[n]) < CLOSE / 10);
      if (same) return first.map((end) => end - logOf(this.c));
    }
    throw new Unfinished("a pattern is too near the threshold to tell where it discriminates");
  }
  /** The sign of |degree| - t where a context has an exponent, and a pattern moves it. */
  compare(context, move, t) {
    if (move === 0n) return t.n ? -1 : 0;
    const key = `${context}|${move}|${t}`;
    if (!this.decided.has(key)) {
      const [low, high] = [context, context + move].map((e) => this.exponent(e)).sort((p, q) => p.compare(q));
      const { c } = this, kept = ONE.minus(t), least = ZERO.minus(t), both = [least.times(c).times(c), low.plus(high)];
      const terms = this.criterion === "ratio"
        ? [[kept.times(c), high], [ZERO.minus(c), low], both]
        : [[kept.times(c), high], [ZERO.minus(ONE.plus(t).times(c)), low], [least, ZERO], both];
      this.decided.set(key, signOf(this.base, terms));
    }
    return this.decided.get(key);
  }
  exceeds(context, move, t) { return this.compare(context, move, t) > 0; }
  /** The same by the most that values of these attributes, or of fewer, can move the exponent. */
  settled(disclosed, t) {
    return [1n, -1n].every((side) => {
      const most = disclosed.reduce((sum, i) => sum + this.factors[i].reduce((p, q) => (side * q > side * p ? q : p), 0n), 0n);
      return !this.discriminates(most, t);
    });
  }
  /** By how much x moves the exponent of y, and that. */
  places(x, y) {
    const sum = (values, start) => values.reduce((all, [i, v]) => all + this.factors[i][v], start);
    return [sum(x, 0n), sum(y, this.start)];
  }
  /** P(not d, xy). */
  people(x, y) { return [...x, ...y].reduce((p, [i, v]) => p.times(this.population[i][v]), this.share); }
  /** Whether P(xy) = P(not d, xy) (1 + R) is at least so much. */
  isProbable(x, y, least) {
    const share = this.people(x, y), [move, context] = this.places(x, y);
    return signOf(this.base, [[share.minus(least), ZERO], [share.times(this.c), this.exponent(context + move)]]) >= 0;
  }
  isAbove(x, y, t) {
    const [move, context] = this.places(x, y);
    return this.exceeds(context, move, t);
  }
  /** What a pattern does, and whether the decimals told of it are these, rounded. */
  measure(x, y, told) {
    const [move, context] = this.places(x, y), people = this.peopled ? this.people(x, y) : null;
    const chance = (R) => R.over(ONE.plus(R));
    const write = (n) => {
      const digits = abs(n).toString().padStart(PLACES + 1, "0");
      return `${n < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, "");
    };
    for (const bits of PRECISIONS) {
      // The odds after and before, each as [low, high].
      const [after, before] = [context + move, context].map((e) => powerOf(this.base, this.exponent(e), bits)
        .map((end) => new Fraction(end, 1n << bits).times(this.c)));
      if (!after[0].n || !before[0].n) continue;
      // The degree grows with the chance after and falls with that before.
      const degrees = [0, 1].map((end) => degreeOf(this.criterion, chance(after[end]), chance(before[1 - end])));
      const found = {
        degree: roundedTo(PLACES, ...degrees),
        probability: people && roundedTo(PLACES, ...after.map((R) => people.times(ONE.plus(R)))),
        favourable_given_pattern: roundedTo(PLACES, ...after.map(chance)),
        favourable_given_context: roundedTo(PLACES, ...before.map(chance)),
      };
      const numbers = Object.entries(found).filter(([name]) => people || name !== "probability");
      if (numbers.some(([, value]) => value === null)) continue;
      const size = degrees[0].size();
      return {
        holds: numbers.every(([name, value]) => told[name] === write(value)) && (people !== null || told.probability === null),
        says: `its degree is ${write(found.degree)}, before ${write(found.favourable_given_context)}, after ${write(found.favourable_given_pattern)}`,
        compare: (mark) => this.compare(context, move, mark), size, share: people && people.times(ONE.plus(after[0])),
      };
    }
    throw new Unfinished("the numbers of the pattern are too near to where they are rounded");
  }
}
