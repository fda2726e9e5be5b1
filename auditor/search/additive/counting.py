"""The exact number of discrimination patterns, and uniform samples of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, combinations, product
from math import isqrt, prod
from random import Random

import numpy as np

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import total_combinations
from auditor.search.additive.log_odds import FAR, Integers, LogOdds
from auditor.search.additive.subset_sums import choice_at, sums
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: Patterns within rounding of the threshold that are settled one by one in rationals.
_UNDECIDED = 1 << 17
#: Combinations x whose intervals are worked out one by one.
_COMBINATIONS = 1 << 18


@dataclass(frozen=True)
class Coverage:
    """How the pairs (x, y) over one set X of disclosed sensitive attributes were decided.

    Attributes
    ----------
    disclosed : tuple of int
        The attributes of X.
    method : str
        "closed form" where a bound on every context settles each x, "exhausted" where contexts were counted.
    pairs : int
        All pairs over X.
    lower, upper : int
        At least and at most so many of them are discrimination patterns.
    """

    disclosed: tuple[int, ...]
    method: str
    pairs: int
    lower: int
    upper: int

    @property
    def patterns(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None


@dataclass(frozen=True)
class PatternCount:
    """The number of discrimination patterns, or what is known of it.

    Attributes
    ----------
    lower, upper : int
        There are at least and at most so many.
    reason : str or None
        Why the number isn't known exactly.
    coverage : tuple of Coverage
        One entry per non-empty set of sensitive attributes, smallest sets first; their bounds add up to these
        and their pairs to `LogOdds.total_patterns`. Empty where nothing was counted.
    """

    lower: int
    upper: int
    reason: str | None
    coverage: tuple[Coverage, ...]

    @property
    def total(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None

    def disclosing(self, attribute: int) -> tuple[int, int]:
        """At least and at most how many patterns have an x that discloses a sensitive attribute."""
        if not self.coverage:
            return 0, self.upper
        entries = [entry for entry in self.coverage if attribute in entry.disclosed]
        return sum(entry.lower for entry in entries), sum(entry.upper for entry in entries)


class _TooMuch(Exception):
    """An exact count is out of reach; the message says why."""


def pairs_over(tables: LogOdds, disclosed: tuple[int, ...]) -> int:
    """The number of pairs (x, y) over a set X of disclosed sensitive attributes."""
    return prod(len(row) + (i not in disclosed) for i, row in enumerate(tables.values))


def count_patterns(tables: LogOdds, criterion: Criterion, limits: Limits = DEFAULT) -> PatternCount:
    """Count all discrimination patterns exactly.

    For each x the contexts in which it discriminates are those whose γ lies in one open interval
    (`Criterion.interval`). They are counted in integers, half against sorted half; contexts within rounding
    of an end are settled in rationals, so that a pattern exactly at the threshold isn't counted.
    """
    try:
        coverage = tuple(space.coverage() for space in _spaces(tables, criterion, limits))
    except _TooMuch as reason:
        return PatternCount(0, tables.total_patterns(), str(reason), ())
    total = sum(entry.lower for entry in coverage)
    return PatternCount(total, total, None, coverage)


def sample_patterns(
    tables: LogOdds, criterion: Criterion, size: int, seed: int = 0, limits: Limits = DEFAULT
) -> tuple[Pattern, ...] | None:
    """Distinct discrimination patterns drawn uniformly; all of them where there are no more than ``size``.

    Returns
    -------
    tuple of Pattern or None
        See `sample_pairs`.
    """
    pairs = sample_pairs(tables, criterion, size, seed, limits)
    return None if pairs is None else tuple(tables.exact.measure(criterion, x, y) for x, y in pairs)


def sample_pairs(
    tables: LogOdds, criterion: Criterion, size: int, seed: int = 0, limits: Limits = DEFAULT
) -> tuple[tuple[Assignment, Assignment], ...] | None:
    """Distinct discrimination patterns (x, y) drawn uniformly, not measured.

    Each pattern has a rank in a fixed order; ranks are drawn, and the patterns that stand there looked up.

    Returns
    -------
    tuple of (Assignment, Assignment) or None
        In the order of their ranks, the same for the same seed. None where the patterns can't be counted.
    """
    try:
        cells = [
            (space, x, ends, block, space.hits(x, ends, block).total)
            for space in _spaces(tables, criterion, limits)
            for x, ends in space.intervals
            for block in range(space.blocks)
        ]
        before = [0, *accumulate(total for *_, total in cells)]
        ranks = _distinct(before[-1], size, seed)
        found: list[tuple[Assignment, Assignment]] = []
        position = 0
        for (space, x, ends, block, total), offset in zip(cells, before, strict=False):
            first = position
            while position < len(ranks) and ranks[position] < offset + total:
                position += 1
            if first < position:
                hits = space.hits(x, ends, block)
                for place in hits.at([rank - offset for rank in ranks[first:position]]):
                    found.append((x, space.context(block, *place)))
    except _TooMuch:
        return None
    return tuple(found)


def _distinct(total: int, size: int, seed: int) -> list[int]:
    if total <= size:
        return list(range(total))
    random = Random(seed)
    ranks: set[int] = set()
    while len(ranks) < size:
        ranks.add(random.randrange(total))
    return sorted(ranks)


@dataclass(frozen=True)
class _Half:
    """The sums of some attributes, sorted, with where each stood unsorted."""

    sums: Integers
    order: Integers

    @classmethod
    def of(cls, tables: LogOdds, attributes: tuple[int, ...]) -> _Half:
        unsorted = sums([tables.options[i] for i in attributes])
        order = np.argsort(unsorted, kind="stable")
        return cls(unsorted[order], order)


@dataclass(frozen=True)
class _Hits:
    """The contexts of a block in which an x discriminates.

    Attributes
    ----------
    starts, counts : arrays
        Per row, an entry of the listed half, the range of columns of the sorted half.
    others : list of (int, int)
        Rows and columns of those that were settled in rationals.
    """

    starts: Integers
    counts: Integers
    others: list[tuple[int, int]]

    @property
    def total(self) -> int:
        return int(self.counts.sum()) + len(self.others)

    def at(self, ranks: list[int]) -> Iterator[tuple[int, int]]:
        """Rows and columns of the hits at some ranks."""
        ends = np.cumsum(self.counts)
        for rank in ranks:
            if rank >= ends[-1]:
                yield self.others[rank - int(ends[-1])]
            else:
                row = int(np.searchsorted(ends, rank, side="right"))
                yield row, int(self.starts[row] + rank - (ends[row] - self.counts[row]))


def _spaces(tables: LogOdds, criterion: Criterion, limits: Limits) -> Iterator[_Space]:
    """The contexts of all sets X, smallest sets first; refuses more work than the limits allow."""
    if total_combinations(tables) > _COMBINATIONS:
        raise _TooMuch(
            f"there are {Decimal(total_combinations(tables)):.1e} combinations of sensitive values; "
            f"at most {_COMBINATIONS:,} are counted one by one"
        )
    sensitive = tables.sensitive
    work = _Work(limits)
    spaces = [
        _Space(tables, criterion, disclosed, work)
        for size in range(1, len(sensitive) + 1)
        for disclosed in combinations(sensitive, size)
    ]
    steps = sum(space.steps for space in spaces)
    if steps > limits.steps:
        raise _TooMuch(
            f"an exact count would take {Decimal(steps):.1e} bisections; at most {limits.steps:,} are made"
        )
    yield from spaces


class _Work:
    """What the spaces of one count share: the limits, listed halves, and how many contexts were settled."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._settled = 0
        self._halves: dict[tuple[int, ...], _Half] = {}

    def halves(self, tables: LogOdds, *keys: tuple[int, ...]) -> list[_Half]:
        self._halves = {key: self._halves.get(key) or _Half.of(tables, key) for key in keys}
        return [self._halves[key] for key in keys]

    def settle(self, contexts: int) -> None:
        self._settled += contexts
        if self._settled > _UNDECIDED:
            raise _TooMuch(f"more than {_UNDECIDED:,} patterns lie within rounding of the threshold")

    def check_time(self) -> None:
        if self.limits.expired():
            raise _TooMuch("the time limit was reached before all patterns were counted")


#: Ends of an interval of sums: below the first and above the last is certainly outside, from the second to
#: the third certainly inside; the rest is undecided.
_Ends = tuple[int, int, int, int]


class _Space:
    """The contexts of one set X of disclosed sensitive attributes.

    Their attributes are split three ways: a sorted half, a half whose sums are listed, and, where that list
    would be too long, outer attributes whose choices are gone through in blocks.
    """

    def __init__(
        self, tables: LogOdds, criterion: Criterion, disclosed: tuple[int, ...], work: _Work
    ) -> None:
        self.tables, self.criterion, self.disclosed, self.work = tables, criterion, disclosed, work
        work.check_time()
        # Non-sensitive attributes first: the sets X then share the sorted half, which is of these alone.
        outside = sorted(
            set(range(len(tables.values))) - set(disclosed),
            key=lambda i: i in tables.sensitive,
        )
        sizes = [len(tables.options[i]) for i in outside]
        self.intervals = [] if self._is_closed() else list(self._intervals())
        longest = min(work.limits.entries, 2 * isqrt(len(self.intervals) * prod(sizes)))
        split = 0
        while split < len(sizes) and prod(sizes[: split + 1]) <= longest:
            split += 1
        inner = len(sizes)
        while prod(sizes[split:inner]) > work.limits.entries:
            inner -= 1
        self.second, self.first, self.outer = (
            tuple(outside[:split]),
            tuple(outside[split:inner]),
            tuple(outside[inner:]),
        )
        self.blocks = prod(sizes[inner:])
        self.steps = len(self.intervals) * prod(sizes[split:])

    def coverage(self) -> Coverage:
        """How many of the pairs over X are discrimination patterns."""
        patterns = sum(
            self.hits(x, ends, block).total for x, ends in self.intervals for block in range(self.blocks)
        )
        return Coverage(
            disclosed=self.disclosed,
            method="exhausted" if self.intervals else "closed form",
            pairs=pairs_over(self.tables, self.disclosed),
            lower=patterns,
            upper=patterns,
        )

    def _is_closed(self) -> bool:
        """Whether the extreme ratios of the attributes show that no x over X discriminates in any context."""
        if any(len(self.tables.finite[i]) < len(self.tables.values[i]) for i in self.disclosed):
            return self.criterion.threshold >= 1
        exact = self.tables.exact
        extremes = (tuple((i, exact.extreme(i, sign)) for i in self.disclosed) for sign in (1, -1))
        return all(exact.closed(self.criterion, x) for x in extremes)

    def _intervals(self) -> Iterator[tuple[Assignment, _Ends]]:
        """Each x over X that some γ within reach lets discriminate, with the ends of its interval of sums."""
        tables = self.tables
        for values in product(*(range(len(tables.values[i])) for i in self.disclosed)):
            x = tuple(zip(self.disclosed, values, strict=True))
            occurs = tables.strength(x) == tables.strength(x)  # not nan, which is ∞ - ∞: P(x) = 0
            interval = tables.exact.interval(self.criterion, x) if occurs else None
            if interval is None:
                continue
            low, high = interval
            # With room for the prior: ends beyond FAR are beyond every sum.
            (low_down, low_up), (high_down, high_up) = (
                (-FAR, -FAR) if low is None else tables.units(low),
                (FAR, FAR) if high is None else tables.units(high),
            )
            ends = (
                low_down - tables.slack - tables.prior,
                low_up + (tables.slack if low is not None else 0) - tables.prior,
                high_down - (tables.slack if high is not None else 0) - tables.prior,
                high_up + tables.slack - tables.prior,
            )
            least, most = (end - tables.prior for end in tables.context_reach(x))
            if ends[0] <= most and least <= ends[3]:
                yield x, ends

    def hits(self, x: Assignment, ends: _Ends, block: int) -> _Hits:
        """The contexts of a block in which x discriminates."""
        self.work.check_time()
        second, first = (half.sums for half in self.work.halves(self.tables, self.second, self.first))
        if block:
            outer = choice_at([self.tables.options[i] for i in self.outer], block)
            offset = sum(
                int(self.tables.options[i][entry]) for i, entry in zip(self.outer, outer, strict=True)
            )
            ends = (ends[0] - offset, ends[1] - offset, ends[2] - offset, ends[3] - offset)
        starts = np.searchsorted(second, ends[0] - first)
        stops = np.searchsorted(second, ends[3] - first, side="right")
        # Nearly always nothing is undecided, which one look at each end of the range shows.
        padded = np.append(second, np.iinfo(np.int64).max)
        others: list[tuple[int, int]] = []
        undecided = np.flatnonzero(
            (starts < stops) & ((padded[starts] < ends[1] - first) | (padded[stops - 1] > ends[2] - first))
        )
        if len(undecided):
            inside = np.searchsorted(second, ends[1] - first[undecided])
            inside_stop = np.maximum(
                inside, np.searchsorted(second, ends[2] - first[undecided], side="right")
            )
            self.work.settle(int((stops - starts)[undecided].sum() - (inside_stop - inside).sum()))
            for row, start, low, high, stop in zip(
                undecided.tolist(),
                starts[undecided].tolist(),
                inside.tolist(),
                inside_stop.tolist(),
                stops[undecided].tolist(),
                strict=True,
            ):
                others += [
                    (row, column)
                    for column in (*range(start, low), *range(max(high, start), stop))
                    if self.tables.exact.discriminates(self.criterion, x, self.context(block, row, column))
                ]
            starts[undecided], stops[undecided] = inside, inside_stop
        return _Hits(starts, np.maximum(stops - starts, 0), others)

    def context(self, block: int, row: int, column: int) -> Assignment:
        """The context at a place of the halves."""
        second, first = self.work.halves(self.tables, self.second, self.first)
        places = (
            (self.second, int(second.order[column])),
            (self.first, int(first.order[row])),
            (self.outer, block),
        )
        return tuple(
            sorted(
                (i, self.tables.finite[i][entry - 1])
                for attributes, place in places
                for i, entry in zip(
                    attributes, choice_at([self.tables.options[i] for i in attributes], place), strict=True
                )
                if entry
            )
        )
