// Counts the pairs (x, y) with |degree| > t. The logarithm of the odds R of a context is a sum with a term for each value that
// is known; the sums over one half of the attributes and those over the other are sorted, and one is gone through upwards
// while the other goes downwards. Sums within CLOSE of an end of the interval are decided exactly.
"use strict";

const CLOSE = 1e-9, LONGEST = 3e6, UNCERTAIN = 2e5, LISTED = 12, RAREST = new Fraction(1n, 10n ** 200n);

/** All products of one factor of each list: sorted logarithms, and the exact product in each place. */
function productsOf(odds, lists) {
  const length = lists.reduce((size, list) => size * list.length, 1);
  const logs = lists.map((list) => list.map((factor) => odds.log(factor)));
  let sums = new Float64Array(1);
  for (const row of logs) {
    const next = new Float64Array(sums.length * row.length);
    row.forEach((term, k) => sums.forEach((sum, i) => { next[k * sums.length + i] = sum + term; }));
    sums = next;
  }
  let order = null;  // which takes long, and is mostly not asked for
  const exact = (place) => {
    order ??= Uint32Array.from({ length }, (_, i) => i).sort((i, j) => sums[i] - sums[j]);
    let rest = order[place], found = odds.one;
    for (const list of lists) {
      found = odds.times(found, list[rest % list.length]);
      rest = Math.floor(rest / list.length);
    }
    return found;
  };
  return { sums: sums.slice().sort(), exact };
}

/** Every choice of one value of each attribute in a list, as [attribute, value] pairs. */
function* choicesOf(attributes, chosen) {
  if (!chosen.length) { yield []; return; }
  const [first, ...rest] = chosen;
  for (const others of choicesOf(attributes, rest)) {
    for (let k = 0; k < attributes[first].values.length; k++) yield [[first, k], ...others];
  }
}

/** The sets of sensitive attributes but the empty one: smaller sets first, then in the order of the attributes. */
function setsOf(attributes) {
  const sensitive = attributes.flatMap((a, i) => (a.sensitive ? [i] : []));
  if (sensitive.length > LISTED) throw new Unfinished(`there are ${sensitive.length} sensitive attributes`);
  const sets = [[]];
  for (const set of sets) for (const i of sensitive) if (!set.length || i > set.at(-1)) sets.push([...set, i]);
  return sets.slice(1);
}

/** All pairs (x, y) over a set of disclosed attributes, possible or not. */
function pairsOver(attributes, disclosed) {
  return attributes.reduce((product, a, i) => product * BigInt(a.values.length + (disclosed.includes(i) ? 0 : 1)), 1n);
}

/** Count the pairs over a set X with |degree| > t; yields now and then, so that a page stays alive. */
function* countOver(odds, t, disclosed, work) {
  if (odds.settled(disclosed, t)) return 0n;
  const open = [];
  for (const [strength, number] of odds.strengths(disclosed)) {
    if (++work.steps % 64 === 0) yield;
    const ends = odds.interval(strength, t);
    if (ends) open.push({ strength, number, ends });
  }
  if (!open.length) return 0n;
  const factors = odds.factors.flatMap((row, i) => (disclosed.includes(i) ? [] : [[odds.one, ...row]]));
  factors.sort((p, q) => q.length - p.length);
  const halves = [[[odds.start]], [[odds.one]]], sizes = [1, 1];
  for (const list of factors) {
    const smaller = sizes[0] <= sizes[1] ? 0 : 1;
    halves[smaller].push(list);
    sizes[smaller] *= list.length;
  }
  if (Math.max(...sizes) > LONGEST) throw new Unfinished("the lists of sums would be too long for a browser");
  const first = productsOf(odds, halves[0]);
  yield;
  const second = productsOf(odds, halves[1]);
  yield;
  let total = 0n;
  for (const { strength, number, ends: [low, high] } of open) {
    const above = (R) => {
      if (++work.uncertain > UNCERTAIN) throw new Unfinished("too many pairs lie within rounding of the threshold");
      return odds.exceeds(R, strength, t);
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
        for (let i = from; i < to; i++) {
          if (above(odds.times(first.exact(i), second.exact(j)))) found++;
          if (++work.steps % 64 === 0) yield;
        }
      }
      if ((work.steps += 4) % 65536 < 4) yield;
    }
    total += BigInt(found) * BigInt(number);
  }
  return total;
}

/** Count the pairs in scope with |degree| > t, for each set X; with a least probability by going to all so probable. */
function* countAll(odds, t, least) {
  const { attributes } = odds, work = { steps: 0, uncertain: 0 }, rows = [], sets = setsOf(attributes);
  for (const disclosed of sets) {
    const counting = least ? countProbable(odds, t, least, disclosed, work) : countOver(odds, t, disclosed, work);
    let step;
    while (!(step = counting.next()).done) yield rows.length / sets.length;
    rows.push({ disclosed, patterns: step.value, pairs: pairsOver(attributes, disclosed) });
  }
  return rows;
}

/** Of a set X: what is known of people only grows, and once they are too few, no more of it is looked at. */
function* countProbable(odds, t, least, disclosed, work) {
  if (odds.settled(disclosed, t)) return 0n;
  if (least.compare(RAREST) < 0) throw new Unfinished("so few people are too few to be counted in a browser");
  const { attributes } = odds, few = least.toNumber() * (1 - CLOSE), enough = least.toNumber() * (1 + CLOSE);
  const scarce = few * odds.slack.toNumber();
  const rows = attributes.map((a, i) => a.values.map((_, v) => [...odds.rounded(i, v), v]));
  const others = rows.map((_, i) => i).filter((i) => !disclosed.includes(i)).sort((i, j) => rows[j].length - rows[i].length);
  // Where one side of y is 0, nothing changes.
  const free = others.map((i) => rows[i].filter(([, , move]) => move !== null)), end = others.length;
  // The least and the most that the attributes from a place on add to log R.
  const lows = new Float64Array(end + 1), highs = new Float64Array(end + 1);
  for (let at = end - 1; at >= 0; at--) {
    const moves = free[at].map(([, , move]) => move);
    lows[at] = lows[at + 1] + Math.min(0, ...moves);
    highs[at] = highs[at + 1] + Math.max(0, ...moves);
  }
  // At each place P(d, ...), P(not d, ...) and log R of what is known before it, and the value that is next.
  const [us, vs, logs] = [0, 1, 2].map(() => new Float64Array(end + 1)), next = new Int32Array(end + 1);
  const whole = odds.whole();
  logs[0] = odds.log(odds.start);
  let patterns = 0;
  for (const x of choicesOf(attributes, disclosed)) {
    if (++work.steps % 64 === 0) yield;
    [us[0], vs[0]] = x.reduce(([u, v], [i, w]) => [u * rows[i][w][0], v * rows[i][w][1]], whole);
    if (us[0] + vs[0] < scarce) continue;
    const strength = odds.strengthOf(x), ends = strength === undefined ? null : odds.interval(strength, t);
    if (!ends) continue;
    const [low, high] = ends;
    let at = next[0] = 0;
    while (at >= 0) {
      if ((++work.steps & 65535) === 0) yield;
      const value = next[at]++;
      let u = us[at], v = vs[at], log = logs[at];
      if (at === end) {
        const sure = u + v >= enough && log > low + CLOSE && log < high - CLOSE;
        if (sure) patterns++;
        else if (u + v >= few && log >= low - CLOSE && log <= high + CLOSE) {
          if (++work.uncertain > UNCERTAIN) throw new Unfinished("too many pairs lie within rounding of a threshold");
          const y = others.flatMap((i, n) => (next[n] > 1 ? [[i, free[n][next[n] - 2][3]]] : []));
          if (odds.isProbable(x, y, least) && odds.isAbove(x, y, t)) patterns++;
        }
        at--;
      } else if (value > free[at].length) {
        at--;
      } else {
        if (value) {
          const [a, b, move] = free[at][value - 1];
          u *= a;
          v *= b;
          log += move;
        }
        if (u + v < scarce || log + highs[at + 1] < low - CLOSE || log + lows[at + 1] > high + CLOSE) continue;
        at++;
        us[at] = u;
        vs[at] = v;
        logs[at] = log;
        next[at] = 0;
      }
    }
  }
  return BigInt(patterns);
}
