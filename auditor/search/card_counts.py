"""How many patterns discriminate in some scorecard of a set, and how many in every one.

With the notation of `card_reach`: x with strength s and direction ``d = ±1``, the sign of s, discriminates in
some scorecard iff the log-odds before disclosing, ``γ - dkh + r``, can be in the interval of the strength
``s + 2dkh``, and in every one iff all of ``γ + dkh + r`` is in that of ``s - 2dkh``, which must have the sign
of s. Both say of γ that it is in one open interval, so that contexts are counted as in the scorecard itself.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal

from auditor.choices import ReachVerdict
from auditor.model.additive import AdditiveModel
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.interval_sums import Row
from auditor.search.additive.log_odds import FAR
from auditor.search.additive.subset_sums import Choice
from auditor.search.card_reach import CardSearch, Margin
from auditor.search.criteria import CONTEXT, Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.reach_counts import Counting, Interval, SetCounts, counted

#: Strengths up to this are taken for 0, since no degree is greater than the strength; greater ones are
#: enlarged by this share of themselves, so that no interval is missed.
_TINY, _ENLARGED = Decimal("1e-50"), Decimal("1e-55")
#: Digits in which the exponential of the least strength still differs from 1 in more than 60, and in which a
#: strength of that size has more than 60 where it is the difference of two of a million.
_WIDE = Context(prec=120, Emax=10**9, Emin=-(10**9))


def count_in_cards(
    model: AdditiveModel,
    margin: Margin,
    criterion: Criterion,
    verdict: ReachVerdict,
    audited: tuple[int, int],
    limits: Limits = DEFAULT,
) -> SetCounts:
    """Count the patterns that discriminate in some scorecard of a set, and in every one.

    Parameters
    ----------
    model, margin, criterion, limits
        As in `card_reach`.
    verdict, audited
        As in `reach_counts.counted`.
    """
    search = CardSearch(model, margin, criterion, limits)
    some, every = (_Counting(search, criterion, limits, every=every) for every in (False, True))
    if criterion.threshold <= 2 * _TINY:
        return SetCounts((audited[0], some.total), (0, audited[1]), "the threshold is next to 0")
    return counted(some, every, verdict, audited)


class _Counting(Counting):
    """The patterns that discriminate in some scorecard of a set, or in every one."""

    def __init__(self, search: CardSearch, criterion: Criterion, limits: Limits, *, every: bool) -> None:
        super().__init__(limits)
        self._search, self._criterion, self._every = search, criterion, every
        self._tables = search.tables
        self.sizes, self.sensitive = [len(row) for row in self._tables.values], self._tables.sensitive
        self.rows = [Row(options, options) for options in self._tables.options]
        self.start = self._tables.prior, self._tables.prior

    def intervals(self, x: Assignment) -> list[Interval]:
        """The one of γ, which takes in what the other numbers can add, or leaves it out."""
        direction, k = self._direction(x), len(x)
        outwards = -1 if self._every else 1
        steps = Fraction(outwards * 2 * k * direction)
        span = self._search.span(x, steps, _WIDE)
        # Enlarged, one that is at the threshold would be above it.
        if direction * Fraction(span) <= _TINY or not self._search.exceeds_somewhere(x, steps, direction):
            return []
        enlarged = _WIDE.add(span, _WIDE.multiply(span, _ENLARGED))
        interval = self._criterion.interval(Fraction(_WIDE.exp(enlarged)), Fraction(1))
        if interval is None:
            return []
        h, room = self._search.h, len(self.sizes) - k + 1
        low, high = (
            None if end is None else CONTEXT.add(end, CONTEXT.multiply(h, Decimal(outwards * steps)))
            for end, steps in zip(interval, (direction * k - room, direction * k + room), strict=True)
        )
        slack = self._tables.slack + 1
        l0, l1 = (-FAR, -FAR) if low is None else self._tables.units(low)
        h0, h1 = (FAR, FAR) if high is None else self._tables.units(high)
        return [(l0 - slack, l1 + slack, h0 - slack, h1 + slack)]

    def discriminates(self, x: Assignment, attributes: list[int], choice: Choice) -> bool:
        """Whether x does so in a context in some scorecard, or in every one; decided without rounding."""
        y = tuple(
            sorted(
                (i, self._tables.finite[i][entry - 1])
                for i, entry in zip(attributes, choice, strict=True)
                if entry
            )
        )
        decide = self._search.at_least if self._every else self._search.at_most
        return decide(x, y, self._direction(x))[1]

    def _direction(self, x: Assignment) -> Literal[1, -1]:
        return -1 if self._search.span(x, Fraction(0)) < 0 else 1
