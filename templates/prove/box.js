// Whether every naive Bayes model in a box about another is δ-fair. In the box each probability is that of the model times a
// factor from 1 / (1 + ε) to 1 + ε; p can be whatever it and 1 - p allow, and the probabilities of the values in a pattern
// can be chosen one by one. So the strength of x ranges from Π low / high to Π high / low, and the further it is from 1, the
// larger is the degree in each context: of each X only the x with the two extreme strengths matters. The odds R of a
// context range likewise, from low to high. The contexts are halved; each half is sorted by low, with the greatest high so far
// beside it, and so each context of the other half finds by bisection whether any of the first lets R into the interval.
"use strict";

/** The least and the greatest that a probability can be in the box. */
function rangeOf(p, factor) {
  const other = ONE.minus(p), low = ONE.minus(factor.times(other)), high = ONE.minus(other.over(factor));
  const least = p.over(factor), most = p.times(factor);
  return [least.compare(low) > 0 ? least : low, most.compare(high) < 0 ? most : high];
}

/** Whether |degree| > t for some R from low to high; by definition at the ends, and where a difference is greatest. */
function reaches(odds, k, [low, high], t) {
  if (odds.exceeds(low, k, t) || odds.exceeds(high, k, t)) return true;
  if (odds.criterion === "ratio" || k === null || k.n === 0n) return false;
  // The degree rises up to R = 1 / √k and falls from there.
  const between = low.times(low).times(k).compare(ONE) < 0 && high.times(high).times(k).compare(ONE) > 0;
  return between && discriminates(odds.criterion, k, t);
}

/** Go through the sets X; returns null if all models are δ-fair, else the disclosed attributes of one that isn't. */
function* unfairIn(odds, size, t) {
  const factor = ONE.plus(size), sets = setsOf(odds.attributes), [low, high] = rangeOf(odds.model.prior, factor);
  const rows = odds.pairs.map((row) => row.map((pair) => pair.map((p) => rangeOf(p, factor))));
  const against = ([p, q]) => [p.over(ONE.minus(p)), q.over(ONE.minus(q))];
  const start = against([low, high]), extremes = [0, 1].map((end) => rows.map((row) => {
    const all = row.map(([a, b]) => (b[1 - end].n ? a[end].over(b[1 - end]) : null));
    if (end && all.includes(null)) return null;
    return all.filter((k) => k !== null).reduce((p, q) => ((q.compare(p) > 0) === Boolean(end) ? q : p));
  }));
  // A value that is impossible under one decision leaves no doubt of it, and the degree is 0.
  const moves = rows.map((row) => row.filter(([a, b]) => a[0].n && b[0].n).map(([a, b]) => [a[0].over(b[1]), a[1].over(b[0])]));
  let doubtful = 0;
  for (const [at, disclosed] of sets.entries()) {
    const lists = moves.filter((_, i) => !disclosed.includes(i)).sort((p, q) => q.length - p.length);
    const halves = [[[start]], [[[ONE, ONE]]]], sizes = [1, 1];
    for (const list of lists) {
      const smaller = sizes[0] <= sizes[1] ? 0 : 1;
      halves[smaller].push([[ONE, ONE], ...list]);
      sizes[smaller] *= list.length + 1;
    }
    let sums = null;
    for (const end of [0, 1]) {
      const parts = disclosed.map((i) => extremes[end][i]);
      const k = parts.includes(null) ? null : parts.reduce((p, q) => p.times(q), ONE);
      const ends = odds.interval(k, t);
      yield at / sets.length;
      if (!ends) continue;
      if (Math.max(...sizes) > LONGEST) throw new Unfinished("the lists of sums would be too long for a browser");
      sums ??= halves.map(rangesOver);
      const [first, second] = sums, [from, to] = ends;
      let steps = 0;
      for (let j = 0; j < second.lows.length; j++) {
        if (++steps % 4096 === 0) yield at / sets.length;
        // Those of the first half that begin below the interval's end, and then whether any of them ends above its start.
        const below = firstAbove(first.lows, to + CLOSE - second.lows[j]);
        if (!below || first.highest[below - 1] + second.highs[j] <= from - CLOSE) continue;
        for (let i = 0; i < below; i++) {
          if (first.highs[i] + second.highs[j] <= from - CLOSE) continue;
          const [a, b] = first.exact(i), [c, d] = second.exact(j);
          if (reaches(odds, k, [a.times(c), b.times(d)], t)) return disclosed.map((n) => odds.attributes[n].name);
          if (++doubtful > UNCERTAIN) throw new Unfinished("too many contexts lie within rounding of the threshold");
          if (doubtful % 64 === 0) yield at / sets.length;
        }
      }
    }
  }
  return null;
}

/** All products of one range of each list, sorted by their low ends: logarithms, and the greatest high end so far. */
function rangesOver(lists) {
  let lows = [0], highs = [0];
  for (const list of lists) {
    const logs = list.map((range) => range.map(logOf));
    [lows, highs] = [lows, highs].map((sums, end) => logs.flatMap((log) => sums.map((sum) => sum + log[end])));
  }
  const order = Uint32Array.from({ length: lows.length }, (_, i) => i).sort((i, j) => lows[i] - lows[j]);
  let most = -Infinity;
  const exact = (place) => {
    let rest = order[place], found = [ONE, ONE];
    for (const list of lists) {
      found = found.map((end, n) => end.times(list[rest % list.length][n]));
      rest = Math.floor(rest / list.length);
    }
    return found;
  };
  const sorted = Float64Array.from(order, (i) => highs[i]);
  return {
    lows: Float64Array.from(order, (i) => lows[i]), highs: sorted,
    highest: sorted.map((high) => { most = Math.max(most, high); return most; }), exact,
  };
}

/** How many of some sorted numbers are below another. */
function firstAbove(sorted, limit) {
  let from = 0, to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
