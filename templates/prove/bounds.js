// Bounds on numbers that are no fractions. [low, high] are BigInts in units of 2^-bits, and the number lies between them.
"use strict";

const floorOver = (a, b) => { const q = a / b; return q * b > a ? q - 1n : q; };
const ceilOver = (a, b) => -floorOver(-a, b);

/** What wasn't found out, and why. */
class Unfinished extends Error {}

/** A fraction. */
const boundsOf = (value, bits) => [floorOver(value.n << bits, value.d), ceilOver(value.n << bits, value.d)];

/** The product of two numbers. */
function productOf([a, b], [c, d], bits) {
  const all = [a * c, a * d, b * c, b * d];
  const least = all.reduce((p, q) => (q < p ? q : p)), most = all.reduce((p, q) => (q > p ? q : p));
  return [least >> bits, -(-most >> bits)];
}

/** ln(1 + z) - ln(1 - z) for 0 <= z <= 1/3: 2 (z + z^3 / 3 + z^5 / 5 + ...). */
function series(z, bits) {
  const square = (z * z) >> bits;
  let power = z, sum = 0n, steps = 0n;
  for (let n = 1n; power; n += 2n, steps += 1n) {
    sum += power / n;
    power = (power * square) >> bits;
  }
  // Each step rounds down, by less than 3 units; what is left off is less than the last step.
  return [2n * sum, 2n * (sum + 3n * steps + 8n)];
}
const twos = new Map();
function lnTwo(bits) {
  if (!twos.has(bits)) twos.set(bits, series((1n << bits) / 3n, bits));
  return twos.get(bits);
}

/** The natural logarithm of a positive fraction. */
function lnOf(value, bits) {
  let power = BigInt(value.n.toString(2).length - value.d.toString(2).length);
  const above = power < 0n ? value.n << -power : value.n, below = power > 0n ? value.d << power : value.d;
  const less = above < below;  // then 1 <= 2 above / below < 2
  const top = less ? 2n * above : above;
  if (less) power -= 1n;
  const [low, high] = series(((top - below) << bits) / (top + below), bits), two = lnTwo(bits);
  return [low + power * two[power < 0n ? 1 : 0], high + 4n + power * two[power < 0n ? 0 : 1]];
}

/** e^r 2^k for bounds on r within 0 and 2, as they stand with `bits`; the outcome has `kept`. */
function raised([low, high], k, bits, kept) {
  const one = 1n << bits;
  let sums = [one, one], terms = [one, one], n = 1n;
  while (terms[1] > 1n || n < 5n) {
    terms = [((terms[0] * low) >> bits) / n, ceilOver(-((-terms[1] * high) >> bits), n)];
    sums = [sums[0] + terms[0], sums[1] + terms[1]];
    n += 1n;
  }
  const shift = bits - kept - k;
  return [sums[0] >> shift, -(-(sums[1] + 4n) >> shift)];
}

const powers = new Map();
/** base^q for a fraction q, where the base is "e" or "2"; exactly where it is a rational that fits. */
function powerOf(base, q, bits) {
  if ((q.n === 0n || (base === "2" && q.d === 1n)) && q.n >= -bits) return [1n << (bits + q.n), 1n << (bits + q.n)];
  const key = `${base}^${q}:${bits}`;
  if (powers.size > 20000) powers.clear();
  if (!powers.has(key)) {
    let k, work, rest;
    if (base === "2") {
      k = floorOver(q.n, q.d);
      work = bits + (k > 0n ? k : 0n) + 16n;
      const [low, high] = lnTwo(work), part = q.minus(new Fraction(k));
      rest = [floorOver(low * part.n, part.d), ceilOver(high * part.n, part.d)];
    } else {
      k = floorOver(q.n * 1000000n, q.d * 693148n) - 1n;  // so that q - k ln 2 is within 0 and 2
      work = bits + (k > 0n ? k : 0n) + 16n;
      const two = lnTwo(work), [low, high] = boundsOf(q, work);
      rest = [low - k * two[k < 0n ? 0 : 1], high - k * two[k < 0n ? 1 : 0]];
    }
    powers.set(key, raised(rest, k, work, bits));
  }
  return powers.get(key);
}

const PRECISIONS = [192n, 384n, 768n, 1536n, 3072n, 6144n, 12288n];

/**
 * The sign of a sum of a base^q, given as pairs [a, q] of fractions.
 *
 * Powers of e with different rational exponents are linearly independent over the fractions (Lindemann and Weierstrass),
 * and so are those of 2 with different exponents from 0 to 1: the sum is 0 only if nothing is left of it once terms with
 * equal powers are put together. The sign of any other is seen with enough digits.
 */
function signOf(base, terms) {
  const sums = new Map();
  for (const [a, q] of terms) {
    const whole = base === "2" ? floorOver(q.n, q.d) : 0n;
    const rest = whole ? q.minus(new Fraction(whole)) : q, key = rest.toString();
    const times = whole < 0n ? new Fraction(1n, 1n << -whole) : new Fraction(1n << whole);
    sums.set(key, [(sums.has(key) ? sums.get(key)[0] : ZERO).plus(whole ? a.times(times) : a), rest]);
  }
  const left = [...sums.values()].filter(([a]) => a.n);
  if (!left.length) return 0;
  for (const bits of PRECISIONS) {
    let low = 0n, high = 0n;
    for (const [a, q] of left) {
      const [least, most] = powerOf(base, q, bits);
      low += floorOver(a.n * (a.n < 0n ? most : least), a.d);
      high += ceilOver(a.n * (a.n < 0n ? least : most), a.d);
    }
    if (low > 0n) return 1;
    if (high < 0n) return -1;
  }
  throw new Unfinished("a sum of powers is too near 0 to tell its sign");
}

/** A number in decimals, half to even, of which bounds are told as fractions; null where they leave that open. */
function roundedTo(places, low, high) {
  const rounded = (value) => {
    const top = value.n * 10n ** BigInt(places), down = floorOver(top, value.d), twice = 2n * (top - down * value.d);
    return down + (twice > value.d || (twice === value.d && down & 1n) ? 1n : 0n);
  };
  const found = rounded(low);
  return found === rounded(high) ? found : null;
}
