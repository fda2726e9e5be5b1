"""The sums of contexts for which an x discriminates, and the sets X that its attributes form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import accumulate, takewhile
from math import inf, prod
from operator import mul

import numpy as np

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import FAR, Floats, Integers, LogOdds
from auditor.search.criteria import Criterion

#: Ends of an interval of sums: below the first and above the last is certainly outside, from the second to
#: the third certainly inside; the rest is undecided.
Ends = tuple[int, int, int, int]


def ends_of(tables: LogOdds, criterion: Criterion, strength: Floats) -> tuple[Integers, ...]:
    """For each s the ends, as in `Ends`, of the interval of sums in which x discriminates, from floats.

    The sums are those of contexts without the prior.
    """
    error = tables.error
    sign = np.where(strength < 0, -1.0, 1.0)
    size = np.abs(strength)
    low, high = criterion.reach(sign * (size + error), outwards=True)
    # A strength within rounding of 0 may have either sign: everything is undecided, if there is anything.
    unsure = (size <= error) & (low <= high)
    low, high = np.where(unsure, -inf, low), np.where(unsure, inf, high)
    inner_low, inner_high = criterion.reach(sign * np.maximum(size - error, 0), outwards=False)
    inner_low = np.where(unsure, inf, inner_low)
    inner_high = np.where(unsure, -inf, inner_high)

    def units(ends: Floats, rounded: Callable[[Floats], Floats], slack: int) -> Integers:
        # With room for the prior: ends beyond FAR are beyond every sum.
        scaled = rounded(np.clip(ends, -1e30, 1e30) * np.float64(1 << tables.bits))
        far = np.abs(scaled) >= FAR
        inside: Integers = np.where(far, 0, scaled).astype(np.int64) + slack
        return np.where(far, np.where(scaled > 0, FAR, -FAR), inside) - tables.prior

    return (
        units(low, np.floor, -tables.slack),
        units(inner_low, np.ceil, tables.slack),
        units(inner_high, np.floor, -tables.slack),
        units(high, np.ceil, tables.slack),
    )


def exact_ends(tables: LogOdds, criterion: Criterion, x: Assignment) -> Ends:
    """`ends_of` one x, as exact as they are known."""
    interval = tables.exact.interval(criterion, x)
    if interval is None:
        return FAR, FAR, -FAR, -FAR
    low, high = interval
    # With room for the prior: ends beyond FAR are beyond every sum.
    (low_down, low_up), (high_down, high_up) = (
        (-FAR, -FAR) if low is None else tables.units(low),
        (FAR, FAR) if high is None else tables.units(high),
    )
    return (
        low_down - tables.slack - tables.prior,
        low_up + (tables.slack if low is not None else 0) - tables.prior,
        high_down - (tables.slack if high is not None else 0) - tables.prior,
        high_up + tables.slack - tables.prior,
    )


def strengths_over(tables: LogOdds, disclosed: tuple[int, ...]) -> Floats:
    """S of every x over a set X, the values of the last attribute varying fastest; nan where P(x) = 0."""
    total = np.zeros(1)
    for i in disclosed:
        row = np.array([tables.real(z) for z in tables.values[i]])
        with np.errstate(invalid="ignore"):
            total = (total[:, None] + row).ravel()
    return total


def pairs_over(tables: LogOdds, disclosed: tuple[int, ...]) -> int:
    """The number of pairs (x, y) over a set X of disclosed sensitive attributes."""
    return prod(len(row) + (i not in disclosed) for i, row in enumerate(tables.values))


def is_closed(tables: LogOdds, criterion: Criterion, disclosed: tuple[int, ...]) -> bool:
    """Whether the extreme values show that no x over X, or fewer attributes, discriminates in any context."""
    return DisclosedSet(tables, disclosed).closed(criterion)


class DisclosedSet:
    """A set X of disclosed sensitive attributes: what of it is the same by every criterion.

    The other attributes are split three ways: a sorted half, a half whose sums are listed, and, where that
    list would be too long, outer attributes whose choices are gone through in blocks.
    """

    def __init__(self, tables: LogOdds, disclosed: tuple[int, ...]) -> None:
        self.tables, self.disclosed = tables, disclosed
        #: The attributes of the sorted half, of the listed one, and the outer ones.
        self.second: tuple[int, ...] = ()
        self.first: tuple[int, ...] = ()
        self.outer: tuple[int, ...] = ()

    def split(self, longest: int, listed: int) -> None:
        """Let the sorted half be no longer than one number, the listed one no longer than another."""
        split = self._fitting(0, longest)
        inner = self._fitting(split, listed)
        outside = self.outside
        self.second, self.first, self.outer = outside[:split], outside[split:inner], outside[inner:]

    def _fitting(self, start: int, longest: int) -> int:
        """The end of the attributes from a place on whose sums are no more than this."""
        lengths = accumulate((len(self.tables.options[i]) for i in self.outside[start:]), mul)
        return start + sum(1 for _ in takewhile(longest.__ge__, lengths))

    def choices(self, attributes: tuple[int, ...]) -> int:
        """How many contexts some attributes have."""
        return prod(len(self.tables.options[i]) for i in attributes)

    @property
    def blocks(self) -> int:
        """How many choices the outer attributes have."""
        return self.choices(self.outer)

    def closed(self, criterion: Criterion) -> bool:
        """As `is_closed`."""
        if self._extremes is None:
            return criterion.threshold >= 1
        return all(self.tables.exact.closed(criterion, x) for x in self._extremes)

    @cached_property
    def _extremes(self) -> tuple[Assignment, ...] | None:
        """The x of least and of greatest s over X or fewer attributes; None where s may be infinite."""
        if any(len(self.tables.finite[i]) < len(self.tables.values[i]) for i in self.disclosed):
            return None
        exact = self.tables.exact
        # Of these attributes or fewer: one none of whose values has that sign is left out.
        return tuple(
            tuple((i, v) for i in self.disclosed if exact.sign(i, v := exact.extreme(i, sign)) == sign)
            for sign in (1, -1)
        )

    @cached_property
    def places(self) -> Integers:
        """Which of the x over X can occur."""
        return np.flatnonzero(~np.isnan(self._all))

    @cached_property
    def strength(self) -> Floats:
        """S of each of those."""
        return self._all[self.places]

    @cached_property
    def _all(self) -> Floats:
        return strengths_over(self.tables, self.disclosed)

    @cached_property
    def outside(self) -> tuple[int, ...]:
        """The other attributes, sensitive ones last: the sets X then share the sorted half."""
        outside = set(range(len(self.tables.values))).difference(self.disclosed)
        return tuple(sorted(outside, key=lambda i: (i in self.tables.sensitive, i)))

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest sum of the options of these."""
        rows = [self.tables.reach[i] for i in self.outside]
        return sum(low for low, _ in rows), sum(high for _, high in rows)
