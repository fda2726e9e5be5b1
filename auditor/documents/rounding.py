"""Exact numbers as the floats and decimals of documents, which say no more than is proved."""

from __future__ import annotations

import math
from decimal import MAX_PREC, Context, Decimal
from fractions import Fraction

#: For sums and products of decimals that are not to lose a digit, however long they were given.
ALL_DIGITS = Context(prec=MAX_PREC)


def limit_of(threshold: Fraction | Decimal | str) -> float:
    """The float with which degrees of documents compare as the exact ones do with a threshold.

    It is the nearest; but no |degree| is above 1, so of a threshold below 1 it is below 1 as well.

    >>> limit_of("0.1"), limit_of("0.99999999999999999"), limit_of("1")
    (0.1, 0.9999999999999999, 1.0)
    """
    exact = Fraction(threshold)
    return min(float(exact), math.nextafter(1.0, 0.0)) if exact < 1 else 1.0


def round_beside(value: Fraction, threshold: Fraction) -> float:
    """Round to a float that compares with `limit_of` the threshold as the value does with the threshold.

    The nearest float can equal that of the threshold although ``|value| > threshold``; then it is the next
    float away from zero. On the other side only a value next to 1 is rounded across.
    """
    rounded, limit = abs(float(value)), limit_of(threshold)
    if abs(value) <= threshold:
        rounded = min(rounded, limit)
    elif rounded <= limit:
        rounded = math.nextafter(limit, math.inf)
    return math.copysign(rounded, value)


def rounded_down(value: Fraction) -> float:
    """The greatest float that is not above a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0)


def rounded_up(value: Fraction) -> float:
    """The least float that is not below a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def both_ends(lower: Fraction, upper: Fraction, threshold: Fraction) -> tuple[float, float]:
    """Round the ends of a |degree| outward, the upper one not below `round_beside` of the lower."""
    return rounded_down(lower), min(max(rounded_up(upper), round_beside(lower, threshold)), 1.0)


def ends_beside(lower: Fraction, upper: Fraction, threshold: Fraction) -> tuple[float, float]:
    """Round the ends of a |degree| outward, but the upper one no farther than to `limit_of` the threshold.

    So what is proved not to be above the threshold isn't told to be, nor the other way round.
    """
    limit, (low, high) = limit_of(threshold), both_ends(lower, upper, threshold)
    high = max(high, math.nextafter(limit, math.inf)) if upper > threshold else min(high, limit)
    return low, min(high, 1.0)


def decimal_text(number: Decimal) -> str:
    """Write a decimal without exponent or trailing zeros.

    >>> decimal_text(Decimal("1E+1")), decimal_text(Decimal("2.50"))
    ('10', '2.5')
    """
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
