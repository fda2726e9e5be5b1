"""What checker.py needs to check the certificate of a scorecard; keep the two files in one folder.

It stands alone as that one does: Python 3.11, nothing else, and no code of the software that issued it.

The odds of the favourable decision are R = c B^t, where c is `odds`, B is e or 2, and the exponent t sums the
intercept, the weight of each disclosed value, and of each other attribute what it counts `undisclosed`. All
of these are the exact rationals of the certificate. A pattern moves t by s, so R goes from R₁ to R₂, and

    difference:  |degree| > δ  iff  R₂ - R₁ - δ (1 + R₁) (1 + R₂) > 0         (R₁ the lesser, R₂ the greater)
    ratio:       |degree| > δ  iff  (1 - δ) R₂ (1 + R₁) - R₁ (1 + R₂) > 0

Both are sums of terms a B^q with rational a and q. Powers of e with different rational exponents are linearly
independent over the rationals (Lindemann, Weierstrass), and so are powers of 2 with different exponents in
[0, 1); so after terms with equal powers are put together, a sum is 0 if and only if no term is left. The sign
of any other follows from bounds that are worked out to more and more digits. What stays open is undecided.

The population, where one is assumed: P(d̄) and P(v | d̄) are given, P(v | d) = P(v | d̄) B^(weight-undisclosed).
That each adds up to 1 is what makes it conform with the scorecard; it is checked to within the rounding of
its decimals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from math import exp, floor, inf, lcm, log, prod
from typing import Any

NONE, ONE = Fraction(0), Fraction(1)
DIGITS = (50, 100, 200, 400, 800, 1600)  # to which bounds are worked out, one after the other
PLACES, NEAR = 10**20, Fraction(1, 10**8)  # of the decimals of a witness; rounding of a population
Terms = list[tuple[Fraction, Fraction]]  # (a, q) for a B^q


class Scorecard:
    """What odds are in a scorecard: exponents as integers, in units of their common denominator."""

    def __init__(self, exact: Any, criterion: str) -> None:
        self.base, self.c, self.criterion, self.weight = exact["base"], Fraction(exact["odds"]), criterion, 5
        rows, undisclosed = [], [Fraction(a["undisclosed"]) for a in exact["attributes"]]
        for a, u in zip(exact["attributes"], undisclosed, strict=True):
            rows.append([Fraction(w) - u for w in a["weights"]])
        start = sum(undisclosed, Fraction(exact["intercept"]))
        self.unit = lcm(start.denominator, *(move.denominator for row in rows for move in row))
        self.factors = [[int(move * self.unit) for move in row] for row in rows]
        self.start, self.one = int(start * self.unit), 0
        self.sound, self.peopled = self.c > 0, exact["unfavourable_share"] is not None
        if not self.peopled:  # and so nothing has a probability
            return
        self.share = Fraction(exact["unfavourable_share"])
        # What is disclosed: P(d̄, values), and the exponent. In a rounded population, one value more can make
        # that likelier by 10^-8.
        self.nothing, self.slack = (self.share, self.start), 1 - Fraction(1, 10**4)
        self.population = [[Fraction(p) for p in a["population"]] for a in exact["attributes"]]
        self.sound &= 0 < self.share < 1 and all(0 < p <= 1 for row in self.population for p in row)
        self.sound = self.sound and all(abs(total - 1) <= NEAR for total in self._totals(rows, start))
        if self.sound:  # P(d), to more digits than it adds up to 1 with P(d̄), and that
            above, below = (self.share * self.c).as_integer_ratio()
            self.whole = exp(log(above) - log(below) + self.ln(self.start)), float(self.share)

    def _totals(self, rows: list[list[Fraction]], start: Fraction) -> Iterator[Fraction]:
        """What adds up to 1: P(d) and P(d̄), then P(v | d̄) and P(v | d) of each attribute."""
        sums: list[Terms] = [[(self.share, NONE), (self.share * self.c, start)]]
        for moves, shares in zip(rows, self.population, strict=True):
            sums += [[(p, NONE) for p in shares], list(zip(shares, moves, strict=True))]
        for terms in sums:
            total, error = self._sum(terms, DIGITS[0])
            yield Fraction(total) if error < Decimal("1e-20") else NONE

    def _sum(self, terms: Terms, digits: int) -> tuple[Decimal, Decimal]:
        """The sum of a B^q, and a bound on the error of so many digits: each step errs in the last."""
        c, total, error = Context(prec=digits, Emax=10**9, Emin=-(10**9)), Decimal(0), Decimal(0)
        unit = c.ln(Decimal(2)) if self.base == "2" else Decimal(1)
        for a, q in terms:
            exponent = c.multiply(c.divide(Decimal(q.numerator), Decimal(q.denominator)), unit)
            term = c.multiply(c.divide(Decimal(a.numerator), Decimal(a.denominator)), c.exp(exponent))
            total = c.add(total, term)
            error = c.add(error, c.multiply(term.copy_abs(), c.add(exponent.copy_abs(), Decimal(1))))
        return total, c.multiply(error, Decimal(10 * (len(terms) + 5)).scaleb(-digits))

    def sign(self, terms: Iterable[tuple[Fraction, Fraction]]) -> int:
        """The sign of the sum of a B^q."""
        sums: dict[Fraction, Fraction] = {}
        for a, q in terms:
            whole = floor(q) if self.base == "2" else 0
            sums[q - whole] = sums.get(q - whole, NONE) + a * Fraction(2) ** whole
        left = [(a, q) for q, a in sums.items() if a]
        for digits in DIGITS if left else ():
            total, error = self._sum(left, digits)
            if total.copy_abs() > error:
                return 1 if total > 0 else -1
        if left:
            raise TimeoutError
        return 0

    def compare(self, context: int, move: int, threshold: Fraction) -> int:
        """The sign of |degree| - threshold where a context has an exponent, and a pattern moves it."""
        if move == 0:
            return -1 if threshold else 0
        ends = sorted((Fraction(context, self.unit), Fraction(context + move, self.unit)))
        (low, high), c, kept = ends, self.c, 1 - threshold
        if self.criterion == "ratio":
            return self.sign([(kept * c, high), (-c, low), (-threshold * c * c, low + high)])
        less = [(-threshold, NONE), (-threshold * c * c, low + high)]
        return self.sign([(kept * c, high), (-(1 + threshold) * c, low), *less])

    def exceeds(self, context: int, move: int, threshold: Fraction) -> bool:
        """Whether |degree| is above a threshold."""
        return self.compare(context, move, threshold) > 0

    def times(self, a: int, b: int) -> int:
        """The product of two odds."""
        return a + b

    def ln(self, exponent: int) -> float:
        """The logarithm of B^exponent, without that of c."""
        return exponent / self.unit * (log(2) if self.base == "2" else 1)

    def strengths(self, disclosed: Iterable[int]) -> Counter[int]:
        """How many x over these attributes move the exponent by how much."""
        return Counter(map(sum, product(*(self.factors[i] for i in disclosed))))

    def ends(self, move: int, threshold: Fraction) -> tuple[float, float] | None:
        """The open interval of `ln` of contexts in which |degree| exceeds a threshold, or None.

        With K = B^|s| and the lesser of the two odds R: for the difference R lies between the roots of
        δK R² - (K - 1 - δ(1 + K)) R + δ, whose product is 1/K; for the ratio below ((1 - δ)K - 1) / δK.
        """
        if move == 0 or threshold >= 1:
            return None
        if threshold == 0:
            return -inf, inf
        small = min(threshold, Fraction(abs(move), self.unit))  # digits enough that 1 + δ and K aren't 1
        zeros = max(0, small.denominator.bit_length() - small.numerator.bit_length()) // 3
        c = Context(prec=100 + zeros, Emax=10**9, Emin=-(10**9))
        exact = (threshold, 1 - threshold, self.c, Fraction(abs(move), self.unit))
        delta, kept, odds, size = (c.divide(Decimal(n.numerator), Decimal(n.denominator)) for n in exact)
        size = c.multiply(size, c.ln(Decimal(2))) if self.base == "2" else size
        k = c.exp(size)
        # Where the pattern lowers the odds, the lesser ones are those after it.
        shift = c.subtract(size if move < 0 else Decimal(0), c.ln(odds))
        b = c.subtract(c.multiply(kept, k), c.add(Decimal(1), delta))
        if self.criterion == "ratio":
            b = c.subtract(c.multiply(kept, k), Decimal(1))
            if b.copy_abs() < c.multiply(c.add(b, Decimal(2)), Decimal(1).scaleb(40 - c.prec)):
                if self.sign([(1 - threshold, Fraction(abs(move), self.unit)), (-ONE, NONE)]) <= 0:
                    return None
                raise TimeoutError  # too close to call
            return (-inf, float(c.add(c.ln(c.divide(b, c.multiply(delta, k))), shift))) if b > 0 else None
        square, least = c.multiply(b, b), c.multiply(c.multiply(c.multiply(delta, delta), k), Decimal(4))
        rest = c.subtract(square, least)
        if b <= 0 or rest < c.multiply(square, Decimal("-1e-40")):
            return None
        # Next to a double root the interval is narrower than what is decided exactly anyway.
        root = c.sqrt(max(rest, Decimal(0)))
        end = c.ln(c.divide(c.add(b, root), c.multiply(c.multiply(delta, k), Decimal(2))))
        return float(c.add(c.subtract(size.copy_negate(), end), shift)), float(c.add(end, shift))

    def settled(self, disclosed: Iterable[int], threshold: Fraction) -> bool:
        """Whether the two extreme moves over X show that no x over attributes of X exceeds it anywhere.

        The greatest difference is (√K - 1) / (√K + 1), and no ratio gets as far as 1 - 1/K.
        """
        rows = [[0, *self.factors[i]] for i in disclosed]  # or over fewer than these
        size = max(abs(sum(map(pick, rows))) for pick in (min, max))
        if self.criterion == "ratio":
            terms = [(1 - threshold, Fraction(size, self.unit)), (-ONE, NONE)]
        else:
            terms = [(1 - threshold, Fraction(size, 2 * self.unit)), (-1 - threshold, NONE)]
        return threshold >= 1 or self.sign(terms) <= 0

    def more(self, both: tuple[Fraction, int], i: int, v: int) -> tuple[Fraction, int]:
        """What is disclosed with one more value."""
        return both[0] * self.population[i][v], both[1] + self.factors[i][v]

    def likely(self, both: tuple[Fraction, int], least: Fraction) -> bool:
        """Whether that has a minimum probability: P(d̄, values) (1 + R) is at least that."""
        share, exponent = both
        return self.sign([(share - least, NONE), (share * self.c, Fraction(exponent, self.unit))]) >= 0

    def rounded(self, i: int, v: int) -> tuple[float, float, float]:
        """P(v | d) and P(v | d̄) of a value, and the logarithm of their ratio."""
        share, move = self.population[i][v], self.ln(self.factors[i][v])
        return exp(log(share.numerator) - log(share.denominator) + move), float(share), move

    def strength(self, both: tuple[Fraction, int]) -> int:
        """By how much the x to which they belong moves the exponent."""
        return both[1] - self.start

    def differs(self, both: tuple[Fraction, int], context: tuple[Fraction, int], threshold: Fraction) -> bool:
        """Whether |degree| is above a threshold."""
        return self.exceeds(context[1], both[1] - context[1], threshold)

    def measure(self, x: Any, y: Any, told: Any, marks: Any, least: Fraction) -> tuple[bool, Fraction, bool]:
        """Whether a pattern has the numbers told of it; its |degree| as it compares to marks; if in scope."""
        context = self.start + sum(self.factors[i][v] for i, v in y)
        move = sum(self.factors[i][v] for i, v in x)
        ties = [mark for mark in marks if self.compare(context, move, mark) == 0]
        share = prod((self.population[i][v] for i, v in x + y), start=self.share) if self.peopled else NONE
        names = ("degree", "probability", "favourable_given_pattern", "favourable_given_context")
        told = told | {"probability": told["probability"] or "0"}
        for digits in DIGITS:
            ends = [self._odds(exponent, digits) for exponent in (context + move, context)]
            lows, highs = zip(*ends, strict=True)
            (a, b), (c, d) = ([n / (1 + n) for n in side] for side in (lows, highs))
            low = (self._degree(a, d), share * (1 + lows[0]), a, b)
            high = (self._degree(c, b), share * (1 + highs[0]), c, d)
            sizes = sorted((abs(low[0]), abs(high[0])))
            sure = low[0] * high[0] > 0 and not any(sizes[0] <= mark <= sizes[1] for mark in marks)
            texts = [[round(n * PLACES) for n in side] for side in (low, high)]
            if texts[0] == texts[1] and (sure or ties):
                holds = texts[0] == [Fraction(told[name]) * PLACES for name in names]
                inside = not least or self.likely((share, context + move), least)
                return holds, ties[0] if ties else (sizes[0] + sizes[1]) / 2, inside
        raise TimeoutError

    def _odds(self, exponent: int, digits: int) -> tuple[Fraction, Fraction]:
        """Bounds on c B^exponent, which are equal where it is a rational."""
        if exponent == 0 or (self.base == "2" and exponent % self.unit == 0):
            return (self.c * Fraction(2) ** (exponent // self.unit),) * 2
        odds, error = self._sum([(self.c, Fraction(exponent, self.unit))], digits)
        return Fraction(odds) - Fraction(error), Fraction(odds) + Fraction(error)

    def _degree(self, after: Fraction, before: Fraction) -> Fraction:
        if self.criterion == "difference" or after == before:
            return after - before
        return 1 - before / after if after > before else after / before - 1
