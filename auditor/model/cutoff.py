"""Who is approved: from some score on, or above some probability."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import floor

from auditor.model.additive import AdditiveModel
from auditor.model.exponentials import sign

#: Digits of logarithms; signs of sums of exponentials settle what they can't.
_DIGITS = 40
_CONTEXT = Context(prec=_DIGITS, Emax=10**15, Emin=-(10**15))


@dataclass(frozen=True)
class Cutoff:
    """Who is approved."""

    text: str
    """As it was given."""
    exponent: Fraction | None = None
    """Approved is whose odds have at least this exponent: at least so many points, or at most where points
    speak for the unfavourable decision.
    """
    probability: Fraction | None = None
    """Approved is whose probability of the favourable decision is above this."""


def least_exponent(model: AdditiveModel, cutoff: Cutoff) -> int | None:
    """The least exponent that is approved, in the units of `AdditiveModel.in_units`; None where none is."""
    unit, start, moves = model.in_units
    if cutoff.exponent is not None:
        scaled = cutoff.exponent * unit
        return -floor(-scaled)
    chance = cutoff.probability
    assert chance is not None
    if chance == 1:
        return None
    if chance == 0:
        # Every probability is above 0, so that even the least exponent is approved.
        return start + sum(min(row) for row in moves)
    odds = chance / (1 - chance) / model.odds
    ln = _CONTEXT.ln(_CONTEXT.divide(Decimal(odds.numerator), Decimal(odds.denominator)))
    exponent = Fraction(ln if model.base == "e" else _CONTEXT.divide(ln, _CONTEXT.ln(Decimal(2))))
    # Odds and logarithm have 40 digits, but that of odds next to 1 fewer; the signs of sums of exponentials
    # settle what lies within their rounding.
    margin = (1 + abs(exponent)) * unit * Fraction(1, 10 ** (_DIGITS - 2))
    low: int = floor(exponent * unit - margin) - 1
    high: int = floor(exponent * unit + margin) + 2
    while high - low > 1:
        middle = (low + high) // 2
        above = sign([(Fraction(1), Fraction(middle, unit)), (-odds, Fraction(0))], model.base) > 0
        low, high = (low, middle) if above else (middle, high)
    return high
