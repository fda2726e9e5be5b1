"""One pattern over a set of models: how large and how small its |degree| can be, decided in rationals.

``e^s`` and ``e^γ`` are ratios from 0 to ``inf``, of which a set of models gives both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, isinf, nextafter, prod
from typing import Literal

import numpy as np

from auditor.search.additive.interval_sums import Row
from auditor.search.criteria import Criterion, ln
from auditor.search.ranges import Ranges, Ratio

Where = Literal["low", "high", "peak"]

#: Fraction bits of the tables, fewer where sums would leave int64, and the most that sums may have.
_BITS, _LARGEST_SUM = 48, 59


@dataclass(frozen=True)
class Option:
    """A value that a context may have, None for "not disclosed", and the ends of its ratio."""

    value: int | None
    ends: tuple[Ratio, Ratio]


def options_of(row: Sequence[tuple[Ratio, Ratio] | None], *, certain: bool) -> list[Option]:
    """What an attribute of a context may have; "not disclosed" first.

    A value that pins ``P(d | y)`` to 0 or 1 is no option, since nothing moves the decision beside it: for the
    sup if it does so in every model, for the inf if it does so in any.
    """
    pinned = (inf, 0) if not certain else (0, inf)
    return [
        Option(None, (Fraction(1), Fraction(1))),
        *(
            Option(v, ends)
            for v, ends in enumerate(row)
            if ends and ends[0] != pinned[0] and ends[1] != pinned[1]
        ),
    ]


class Tables:
    """The ends of log-odds in integers that sum without rounding.

    Parameters
    ----------
    options : sequence of sequence of Option
        Per attribute.

    Attributes
    ----------
    bits : int
    slack : int
        Units within which a sum is of the truth.
    start : (int, int)
        The ends of γ where nothing is disclosed.
    rows : list of Row
    """

    def __init__(self, ranges: Ranges, options: Sequence[Sequence[Option]]) -> None:
        prior = [ln(odds) for odds in ranges.odds]
        total = max(map(abs, prior)) + 1
        for i, row in enumerate(ranges.values):
            logs = [log(end) for v in range(len(row)) for end in ranges.ratio(i, v) or ()]
            total += max((abs(z) for z in logs if isinstance(z, Decimal)), default=Decimal(0))
        self.slack = len(options) + 2
        self.bits = min(_BITS, _LARGEST_SUM - int(total * 5 * self.slack).bit_length())
        #: Stands for infinity: beyond every target, whatever else is added.
        self.far = int(total * 4) << self.bits
        self.start = self.units(prior[0]), self.units(prior[1])
        self.rows = [
            Row(*(np.array([self.units(log(o.ends[e])) for o in row], dtype=np.int64) for e in (0, 1)))
            for row in options
        ]

    def units(self, log_odds: Decimal | float) -> int:
        """A log-odds in fixed point."""
        if isinstance(log_odds, Decimal):
            return round(log_odds * (1 << self.bits))
        return self.far if log_odds > 0 else -self.far


def greatest(
    criterion: Criterion, ratio: Ratio, low: Ratio, high: Ratio
) -> tuple[Fraction, Fraction, bool, Where]:
    """The sup of |degree| for one s and all γ between two ends.

    Returns
    -------
    below, above : Fraction
        Bounds next to each other.
    exceeds : bool
        Whether it is above the threshold, decided in rationals.
    where : {"low", "high", "peak"}
        The end of the interval of γ at which it is, or the peak between them.
    """
    threshold = criterion.threshold
    where = _nearest_the_peak(ratio, low, high, monotone=isinf(float(criterion.peak(1.0))))
    if where != "peak":
        value = abs(degree(criterion, ratio, low if where == "low" else high))
        return value, value, value > threshold, where
    if ratio == inf or ratio == 0:
        return Fraction(1), Fraction(1), threshold < 1, where
    a, b = Fraction(ratio), Fraction(1)
    above = float(criterion.supremum(float(log(ratio))))
    while not criterion.supremum_within(a, b, Fraction(above)):
        above = nextafter(above, 2)
    below = nextafter(above, 0)
    while criterion.supremum_within(a, b, Fraction(below)):
        above, below = below, nextafter(below, 0)
    return Fraction(below), Fraction(above), not criterion.supremum_within(a, b, threshold), where


def least(criterion: Criterion, ratio: Ratio, low: Ratio, high: Ratio) -> Fraction:
    """The least |degree| for one s and all γ between two ends: at one of them."""
    ends = (high,) if isinf(float(criterion.peak(1.0))) else (low, high)
    return min(abs(degree(criterion, ratio, odds)) for odds in ends)


def _nearest_the_peak(ratio: Ratio, low: Ratio, high: Ratio, *, monotone: bool) -> Where:
    """Which γ of an interval is nearest the peak: ``-s/2``, or -∞ where |degree| only falls."""
    if monotone:
        return "peak" if low == 0 or ratio == 0 else "low"
    if ratio == inf:
        return "peak" if low == 0 else "low"
    if ratio == 0:
        return "peak" if high == inf else "high"
    if low * low * ratio >= 1:
        return "low"
    return "high" if high != inf and high * high * ratio <= 1 else "peak"


def degree(criterion: Criterion, ratio: Ratio, odds: Ratio) -> Fraction:
    """The degree for ``e^s`` and ``e^γ``, each from 0 to ``inf``."""
    return criterion.degree(*shares(ratio, odds))


def shares(ratio: Ratio, odds: Ratio) -> tuple[Fraction, Fraction]:
    """``P(d | xy)`` and ``P(d | y)``."""
    after = ratio if ratio in (0, inf) else odds * ratio if odds != inf else inf
    return _share(after), _share(odds)


def _share(odds: Ratio) -> Fraction:
    return Fraction(1) if isinstance(odds, float) else odds / (1 + odds)


def log(ratio: Ratio) -> Decimal | float:
    """A logarithm, to 59 digits or better; ``±inf`` as floats."""
    if isinstance(ratio, float):
        return ratio
    return ln(ratio) if ratio else -inf


def product(ratios: Iterable[Ratio], start: Ratio = Fraction(1)) -> Ratio:
    """A product in which no 0 meets ``inf``."""
    factors = [start, *ratios]
    if inf in factors:
        return inf
    fractions = [Fraction(factor) for factor in factors]
    return Fraction(prod(f.numerator for f in fractions), prod(f.denominator for f in fractions))
