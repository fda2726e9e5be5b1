// What a certificate says of a repair, made again: the model before it is not in the certificate, but all that it follows from.
// The log-likelihood is Σ n ln p over the counts n and the probabilities p of the decision and of each value with each decision.
"use strict";

const DIGITS = 512n;

/** Σ n ln p to six places, for [n, ln p] as bounds; null where a p that counts is 0. */
function likelihood(terms) {
  let low = 0n, high = 0n;
  for (const [n, log] of terms) {
    if (log === null) return null;
    const [a, b] = productOf(n, log, DIGITS);
    low += a;
    high += b;
  }
  const unit = 1n << DIGITS, found = roundedTo(6, new Fraction(low, unit), new Fraction(high, unit));
  if (found === null) throw new Unfinished("a likelihood is too near to where it is rounded");
  const digits = abs(found).toString().padStart(7, "0");
  return `-${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** Of a naive Bayes model: the most likely one of the counts, and both likelihoods. */
function repairedBayes(c) {
  const { exact, repair } = c.model, added = Fraction.of(repair.smoothing), prior = Fraction.of(exact.prior);
  if (repair.attributes.length !== exact.attributes.length) throw new SyntaxError("it counts other attributes");
  const rows = [SIDES.map((side) => Fraction.of(repair.decision[side]))], after = [[prior, ONE.minus(prior)]];
  exact.attributes.forEach((a, i) => {
    for (const side of SIDES) {
      if (repair.attributes[i][side].length !== a.values.length) throw new SyntaxError("it counts other values");
      rows.push(repair.attributes[i][side].map((n) => Fraction.of(n).plus(added)));
      after.push(a[side].map(Fraction.of));
    }
  });
  const before = rows.map((row) => {
    const sum = row.reduce((p, q) => p.plus(q), ZERO);
    return row.map((n) => n.over(sum));
  });
  const texts = before.map((row) => row.map(String)), [first, ...others] = texts;
  const source = { ...exact, prior: first[0], attributes: exact.attributes.map((a, i) => ({ ...a, favourable: others[2 * i], unfavourable: others[2 * i + 1] })) };
  const counts = rows.flat(), said = (model) => likelihood(model.flat()
    .map((p, i) => [counts[i], p]).filter(([n]) => n.n).map(([n, p]) => [boundsOf(n, DIGITS), p.n ? lnOf(p, DIGITS) : null]));
  return { source, before: said(before), after: said(after) };
}

/** Of a scorecard: the one before, and the likelihoods of its population, taken as counts of so many people, by both. */
function repairedScorecard(c) {
  const source = sourceOf(c), { exact, repair } = c.model, people = new Fraction(BigInt(repair.people));
  const cards = [source, exact].map((one) => new Scorecard(one, "difference"));
  const unsound = cards.map((card) => card.sound()).find(([holds]) => !holds);
  if (unsound) throw new SyntaxError(`before or after, ${unsound[1]}`);
  // Of P(d), P(not d), and each value with either: bounds on the probability, and on the logarithm of that given the decision.
  const populations = cards.map((card) => {
    const unit = card.base === "2" ? lnTwo(DIGITS) : boundsOf(ONE, DIGITS), favourable = ONE.minus(card.share);
    const cells = [favourable, card.share].map((p) => [boundsOf(p, DIGITS), lnOf(p, DIGITS)]), shares = [];
    card.population.forEach((row, i) => row.forEach((other, v) => {
      const move = card.exponent(card.factors[i][v]), log = lnOf(other, DIGITS);
      const moved = productOf(boundsOf(move, DIGITS), unit, DIGITS);
      const own = productOf(boundsOf(favourable.times(other), DIGITS), powerOf(card.base, move, DIGITS), DIGITS);
      const rest = boundsOf(card.share.times(other), DIGITS);
      cells.push([own, log.map((end, n) => end + moved[n])], [rest, log]);
      shares.push(own.map((end, n) => end + rest[n]));
    }));
    return { cells, shares };
  });
  const near = boundsOf(NEARLY, DIGITS)[0];
  const same = populations[0].shares.every(([low, high], i) => {
    const [least, most] = populations[1].shares[i];
    return high - least < near && most - low < near;
  });
  if (!same) throw new SyntaxError("the people before are not those after");
  const weights = populations[0].cells.map(([weight]) => productOf(weight, boundsOf(people, DIGITS), DIGITS));
  const said = (one) => likelihood(one.cells.map(([, log], i) => [weights[i], log]));
  return { source, before: said(populations[0]), after: said(populations[1]) };
}
