"""Signs and digits of sums of exponentials of rationals, decided without rounding.

The odds of a scorecard are ``c e^t`` or, where it counts in points that double the odds, ``c 2^t``, with c
and t rational. Whether such a sum is 0 is decided by rules, and its sign, if it isn't, by bounds on it that
are worked out to ever more digits until they agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import floor
from typing import Literal

#: What stands below the exponent: Euler's number for weights in nats, 2 for points that double the odds.
Base = Literal["e", "2"]

#: A term ``c base^t`` as (c, t).
Term = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Quotient:
    """``Σ c base^t`` over another such sum, which is positive."""

    base: Base | None
    """None where every exponent is 0."""
    above: tuple[Term, ...]
    below: tuple[Term, ...]

    def bounds(self, digits: int) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound where the upper sum is positive, from steps of so many digits."""
        (a, b), (c, d) = (bounds(terms, self.base or "2", digits) for terms in (self.above, self.below))
        return Fraction(a) / Fraction(d), Fraction(b) / Fraction(c)


_START = 40
_LARGEST = 10**15


def sign(terms: Iterable[Term], base: Base) -> int:
    """The sign of ``Σ c base^t``: -1, 0 or 1.

    Notes
    -----
    Powers of e with distinct rational exponents are linearly independent over the rationals (Lindemann and
    Weierstrass), and so are the powers of 2 with distinct exponents in [0, 1), since ``x^q - 2`` is
    irreducible. So the sum is 0 exactly if all coefficients are once terms are collected by exponent, for
    base 2 by its fractional part.
    """
    collected = _collected(terms, base)
    if not collected:
        return 0
    digits = _START
    while True:
        low, high = bounds(collected, base, digits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        digits *= 2


def compare(one: Quotient, other: Quotient) -> int:
    """The sign of the difference of two positive quotients: -1, 0 or 1.

    Notes
    -----
    Quotients of the two bases are never equal, unless they are constant in the base: e is no root of a
    polynomial whose coefficients are algebraic, as powers of 2 with rational exponents are.
    """
    bases = {one.base, other.base} - {None}
    if len(bases) < 2:
        greater, less = _product(one.above, other.below), _product(other.above, one.below)
        return sign([*greater, *((-c, t) for c, t in less)], one.base or other.base or "2")
    digits = _START
    while True:
        (a, b), (c, d) = one.bounds(digits), other.bounds(digits)
        if a > d or b < c:
            return 1 if a > d else -1
        digits *= 2


def bounds(terms: Iterable[Term], base: Base, digits: int) -> tuple[Decimal, Decimal]:
    """A lower and an upper bound on ``Σ c base^t``, from steps of so many digits."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emax=_LARGEST, Emin=-_LARGEST)
    up = Context(prec=digits, rounding=ROUND_CEILING, Emax=_LARGEST, Emin=-_LARGEST)
    low = high = Decimal(0)
    for c, t in terms:
        least, most = power(t, base, digits)
        if c < 0:
            least, most = most, least
        low = down.add(low, down.divide(down.multiply(least, Decimal(c.numerator)), Decimal(c.denominator)))
        high = up.add(high, up.divide(up.multiply(most, Decimal(c.numerator)), Decimal(c.denominator)))
    return low, high


@lru_cache(maxsize=1 << 14)
def power(t: Fraction, base: Base, digits: int) -> tuple[Decimal, Decimal]:
    """A lower and an upper bound on ``base^t``; `exp` and `ln` of `decimal` are correctly rounded."""
    if t == 0:
        return Decimal(1), Decimal(1)
    # As many more digits as the exponent has before its point, which its exponential would lose.
    more = digits + max(0, len(str(abs(floor(t))))) + 2
    down = Context(prec=more, rounding=ROUND_FLOOR, Emax=_LARGEST, Emin=-_LARGEST)
    up = Context(prec=more, rounding=ROUND_CEILING, Emax=_LARGEST, Emin=-_LARGEST)
    low = down.divide(Decimal(t.numerator), Decimal(t.denominator))
    high = up.divide(Decimal(t.numerator), Decimal(t.denominator))
    if base == "2":
        two = down.ln(Decimal(2))
        least, most = (two.next_minus(down), two.next_plus(up))
        low = down.multiply(low, least if low > 0 else most)
        high = up.multiply(high, most if high > 0 else least)
    return down.exp(low).next_minus(down), up.exp(high).next_plus(up)


def _product(one: Iterable[Term], other: Iterable[Term]) -> list[Term]:
    return [(c * d, t + u) for (c, t), (d, u) in product(one, other)]


def _collected(terms: Iterable[Term], base: Base) -> list[Term]:
    sums: dict[Fraction, Fraction] = {}
    for c, t in terms:
        whole = floor(t) if base == "2" else 0
        factor = Fraction(2) ** whole
        sums[t - whole] = sums.get(t - whole, Fraction(0)) + c * factor
    return [(c, t) for t, c in sums.items() if c]
