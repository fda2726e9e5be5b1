"""The exact number of discrimination patterns, and uniform samples of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, combinations
from math import inf, isqrt, prod
from random import Random
from typing import Self

import numpy as np
import numpy.typing as npt

from auditor.choices import CoverageMethod
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import FAR, Floats, Integers, LogOdds
from auditor.search.additive.subset_sums import SortedSums, choice_at
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

Mask = npt.NDArray[np.bool_]

#: Patterns within rounding of the threshold that are settled one by one in rationals.
_UNDECIDED = 1 << 17
#: Combinations x that are counted one by one.
_COMBINATIONS = 1 << 22
#: Sensitive attributes up to which every set of them is listed.
_LISTED = 12
#: Entries of the masks of several x that are counted together, entries looked up at once, and entries that
#: are worth two threads.
_TOGETHER, _NEAR, _THREADED = 1 << 24, 1 << 15, 1 << 20


@dataclass(frozen=True)
class Coverage:
    """How the pairs (x, y) over one set X of disclosed sensitive attributes were decided."""

    disclosed: tuple[int, ...]
    """The attributes of X."""
    method: CoverageMethod
    """It is "closed form" where the extreme values settle every x in every context (`is_closed`), "exhausted"
    where contexts were counted, "enclosed" where their number was bounded from both sides, "bounded" where
    the search for the largest |degree| has shown that there is none.
    """
    pairs: int
    """All pairs over X."""
    lower: int
    upper: int
    """At least and at most so many of them are discrimination patterns."""

    @property
    def patterns(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None


@dataclass(frozen=True)
class PatternCount:
    """The number of discrimination patterns, or what is known of it."""

    lower: int
    upper: int
    """There are at least and at most so many."""
    reason: str | None
    """Why the number isn't known exactly."""
    coverage: tuple[Coverage, ...]
    """One entry per non-empty set of sensitive attributes, smallest sets first; their bounds add up to these
    and their pairs to `LogOdds.total_patterns`. Empty where nothing was counted.
    """
    found: tuple[tuple[int, ...], ...] = ()
    """The set X of each discrimination pattern that a search has found, where nothing was counted."""
    example: tuple[Assignment, Assignment] | None = None
    """One of the patterns, where those of a minimum probability were counted and there are any."""

    @property
    def total(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None

    def having_seen(self, disclosed: Iterable[tuple[int, ...]]) -> Self:
        """With at least as many patterns over each set X as were found by searches, each given once.

        Raises
        ------
        RuntimeError
            If these are more than there can be.
        """
        found = Counter(disclosed)
        if self.total is not None:
            return self
        coverage = tuple(
            replace(entry, lower=max(entry.lower, found[entry.disclosed])) for entry in self.coverage
        )
        lower = sum(entry.lower for entry in coverage) if coverage else max(self.lower, found.total())
        if lower > self.upper or any(entry.lower > entry.upper for entry in coverage):
            raise RuntimeError("more patterns were found than there can be")
        reason = self.reason if lower < self.upper else None
        return replace(self, lower=lower, reason=reason, coverage=coverage, found=tuple(found.elements()))

    def disclosing(self, attribute: int) -> tuple[int, int]:
        """At least and at most how many patterns have an x that discloses a sensitive attribute."""
        if not self.coverage:
            return self._found_with[attribute], self.upper
        entries = [entry for entry in self.coverage if attribute in entry.disclosed]
        return sum(entry.lower for entry in entries), sum(entry.upper for entry in entries)

    @cached_property
    def _found_with(self) -> Counter[int]:
        """How many of the patterns found disclose each attribute."""
        return Counter(chain.from_iterable(self.found))


class _TooMuch(Exception):
    """An exact count is out of reach; the message says why."""


def pairs_over(tables: LogOdds, disclosed: tuple[int, ...]) -> int:
    """The number of pairs (x, y) over a set X of disclosed sensitive attributes."""
    return prod(len(row) + (i not in disclosed) for i, row in enumerate(tables.values))


class Counting:
    """The discrimination patterns of a question, counted once, and drawn from.

    For each x the contexts in which it discriminates are those whose γ lies in one open interval
    (`Criterion.interval`). They are counted in integers, half against sorted half; contexts within rounding
    of an end are settled exactly, so that a pattern at the threshold isn't counted.
    """

    def __init__(self, tables: LogOdds, criterion: Criterion, limits: Limits = DEFAULT) -> None:
        self._tables, self._criterion, self._limits = tables, criterion, limits
        self._spaces: list[_Space] | None = None

    def count(self) -> PatternCount:
        """Count all discrimination patterns."""
        try:
            coverage = tuple(space.coverage() for space in self._counted())
        except _TooMuch as reason:
            return PatternCount(0, self._tables.total_patterns(), str(reason), ())
        total = sum(entry.lower for entry in coverage)
        return PatternCount(total, total, None, coverage)

    def sample(self, size: int, seed: int = 0) -> tuple[tuple[Assignment, Assignment], ...] | None:
        """Distinct discrimination patterns (x, y) drawn uniformly; all where there are no more.

        Each pattern has a rank in a fixed order; ranks are drawn, and the patterns that stand there looked
        up.

        Returns
        -------
        tuple of (Assignment, Assignment) or None
            In the order of their ranks, the same for the same seed. None where the patterns can't be counted.
        """
        try:
            spaces = self._counted()
            before = [0, *accumulate(space.total for space in spaces)]
            ranks = _distinct(before[-1], size, seed)
            found: list[tuple[Assignment, Assignment]] = []
            for space, first, last in zip(spaces, before, before[1:], strict=False):
                found += space.at([rank - first for rank in ranks if first <= rank < last])
        except _TooMuch:
            return None
        return tuple(found)

    def _counted(self) -> list[_Space]:
        if self._spaces is None:
            (counted,) = _counted(self._tables, [self._criterion], self._limits)
            if isinstance(counted, _TooMuch):
                raise counted
            self._spaces = counted
        return self._spaces


def counts_above(
    tables: LogOdds, criterion: Criterion, thresholds: Sequence[Fraction], limits: Limits = DEFAULT
) -> tuple[tuple[int, int], ...]:
    """At least and at most how many pairs have a |degree| above each threshold, by the same halves."""
    found = []
    for counted in _counted(tables, [replace(criterion, threshold=value) for value in thresholds], limits):
        if isinstance(counted, _TooMuch):
            found.append((0, tables.total_patterns()))
        else:
            found.append((sum(space.total for space in counted),) * 2)
    return tuple(found)


def count_patterns(tables: LogOdds, criterion: Criterion, limits: Limits = DEFAULT) -> PatternCount:
    """Count all discrimination patterns exactly."""
    return Counting(tables, criterion, limits).count()


def no_patterns(tables: LogOdds, criterion: Criterion) -> PatternCount:
    """The count of a model of which a search has shown that no pair discriminates."""
    sensitive = tables.sensitive
    sets = (combinations(sensitive, n) for n in range(1, len(sensitive) + 1))
    coverage = tuple(
        Coverage(
            disclosed=disclosed,
            method="closed form" if is_closed(tables, criterion, disclosed) else "bounded",
            pairs=pairs_over(tables, disclosed),
            lower=0,
            upper=0,
        )
        for disclosed in (chain.from_iterable(sets) if len(sensitive) <= _LISTED else ())
    )
    return PatternCount(0, 0, None, coverage)


def sample_patterns(
    tables: LogOdds, criterion: Criterion, size: int, limits: Limits = DEFAULT
) -> tuple[Pattern, ...] | None:
    """The patterns of `Counting.sample`, measured."""
    pairs = Counting(tables, criterion, limits).sample(size)
    return None if pairs is None else tuple(tables.exact.measure(criterion, x, y) for x, y in pairs)


def _distinct(total: int, size: int, seed: int) -> list[int]:
    if total <= size:
        return list(range(total))
    random = Random(seed)
    ranks: set[int] = set()
    while len(ranks) < size:
        ranks.add(random.randrange(total))
    return sorted(ranks)


@dataclass(frozen=True)
class _Hits:
    """The contexts of a block in which an x discriminates."""

    starts: Integers
    counts: Integers
    """Per row, an entry of the listed half, the range of columns of the sorted half."""
    others: list[tuple[int, int]]
    """Rows and columns of those that were settled exactly."""

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


def _counted(tables: LogOdds, criteria: Sequence[Criterion], limits: Limits) -> list[list[_Space] | _TooMuch]:
    """By each criterion the contexts of all sets X, smallest sets first, or why it was too much work.

    All sets and all criteria share a sorted half, and those of one set both halves.
    """
    if tables.total_combinations > _COMBINATIONS:
        reason = (
            f"there are {Decimal(tables.total_combinations):.1e} combinations of sensitive values; "
            f"at most {_COMBINATIONS:,} are counted one by one"
        )
        return [_TooMuch(reason)] * len(criteria)
    sets = [
        disclosed
        for size in range(1, len(tables.sensitive) + 1)
        for disclosed in combinations(tables.sensitive, size)
    ]
    halves = _Halves(tables)
    found: list[list[_Space] | _TooMuch] = []
    for criterion in criteria:
        work = _Work(limits, halves)
        try:
            found.append([_Space(tables, criterion, disclosed, work) for disclosed in sets])
        except _TooMuch as reason:
            found.append(reason)
    planned = [spaces for spaces in found if isinstance(spaces, list)]
    # The sorted half is as long as is best for all of them.
    longest = min(2 * limits.entries, 2 * isqrt(sum(space.steps for spaces in planned for space in spaces)))
    for space in chain.from_iterable(planned):
        space.split(longest)
    for place in range(len(sets)):
        for which, spaces in enumerate(found):
            if isinstance(spaces, list):
                try:
                    if place == 0:
                        _check_steps(spaces, limits)
                    spaces[place].run()
                except _TooMuch as reason:
                    found[which] = reason
    return found


def _check_steps(spaces: list[_Space], limits: Limits) -> None:
    steps = sum(space.steps for space in spaces)
    if steps > limits.steps:
        raise _TooMuch(
            f"an exact count would take {Decimal(steps):.1e} bisections; at most {limits.steps:,} are made"
        )


class _Halves:
    """The listed halves that were asked for last."""

    def __init__(self, tables: LogOdds) -> None:
        self._tables = tables
        self._listed: dict[tuple[int, ...], SortedSums] = {}

    def of(self, *keys: tuple[int, ...]) -> list[SortedSums]:
        """The sums of the options of some attributes."""
        options = self._tables.options
        self._listed = {key: self._listed.get(key) or SortedSums([options[i] for i in key]) for key in keys}
        return [self._listed[key] for key in keys]


class _Work:
    """What the spaces of one count share: the limits, listed halves, and how many contexts were settled."""

    def __init__(self, limits: Limits, halves: _Halves) -> None:
        self.limits, self.halves = limits, halves
        self._settled = 0

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


def ends_of(tables: LogOdds, criterion: Criterion, strength: Floats) -> tuple[Integers, ...]:
    """For each s the ends, as in `_Ends`, of the interval of sums in which x discriminates, from floats.

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


def exact_ends(tables: LogOdds, criterion: Criterion, x: Assignment) -> _Ends:
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


def is_closed(tables: LogOdds, criterion: Criterion, disclosed: tuple[int, ...]) -> bool:
    """Whether the extreme values show that no x over X, or fewer attributes, discriminates in any context."""
    if any(len(tables.finite[i]) < len(tables.values[i]) for i in disclosed):
        return criterion.threshold >= 1
    exact = tables.exact
    # Of these attributes or fewer: one none of whose values has that sign is left out.
    extremes = (
        tuple((i, v) for i in disclosed if exact.sign(i, v := exact.extreme(i, sign)) == sign)
        for sign in (1, -1)
    )
    return all(exact.closed(criterion, x) for x in extremes)


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
        outside = sorted(set(range(len(tables.values))) - set(disclosed), key=lambda i: i in tables.sensitive)
        sizes = [len(tables.options[i]) for i in outside]
        #: The places of the x that some γ within reach lets discriminate, and the ends of their intervals.
        self.places: Integers = np.empty(0, dtype=np.int64)
        self._ends: Integers = np.empty((4, 0), dtype=np.int64)
        self._closed = is_closed(tables, criterion, disclosed)
        if not self._closed:
            strength = strengths_over(tables, disclosed)
            self.places = np.flatnonzero(~np.isnan(strength))
            ends = np.array(ends_of(tables, criterion, strength[self.places]))
            low, high = tables.full_reach
            least = low - tables.prior - sum(tables.reach[i][0] for i in disclosed)
            most = high - tables.prior - sum(tables.reach[i][1] for i in disclosed)
            within = (ends[0] <= most) & (least <= ends[3]) & (ends[0] <= ends[3])
            self.places, self._ends = self.places[within], ends[:, within]
        self._outside, self._sizes = outside, sizes
        self.split(1)

    def split(self, longest: int) -> None:
        """Let the sorted half be no longer than this."""
        outside, sizes = self._outside, self._sizes
        split, length = 0, 1
        while split < len(sizes) and length * sizes[split] <= longest:
            length *= sizes[split]
            split += 1
        inner, length = split, 1
        while inner < len(sizes) and length * sizes[inner] <= self.work.limits.entries:
            length *= sizes[inner]
            inner += 1
        self.second, self.first, self.outer = (
            tuple(outside[:split]),
            tuple(outside[split:inner]),
            tuple(outside[inner:]),
        )
        self.blocks = prod(sizes[inner:])
        self.steps = len(self.places) * prod(sizes[split:])
        #: Per x the number of contexts in which it discriminates.
        self._totals: list[int] = []

    def run(self) -> None:
        """Count for each x the contexts in which it discriminates."""
        self._totals = []
        if not len(self.places):
            return
        _, first = self._halves()
        together = max(1, _TOGETHER // len(first))
        for start in range(0, len(self.places), together):
            ends = self._ends[:, start : start + together]
            totals = [0] * ends.shape[1]
            doubtful: list[list[tuple[int, Integers]]] = [[] for _ in totals]
            for block in range(self.blocks):
                self.work.check_time()
                counts, unsure = self._counts(ends - self._offset(block))
                totals = [total + count for total, count in zip(totals, counts.tolist(), strict=True)]
                for i in np.flatnonzero(unsure.any(axis=1)).tolist():
                    doubtful[i].append((block, np.flatnonzero(unsure[i])))
            for i, rows_of_blocks in enumerate(doubtful):
                if rows_of_blocks:
                    x, exact = self._exactly(start + i)
                    totals[i] += sum(
                        self._hits(x, exact, block, rows).total for block, rows in rows_of_blocks
                    )
            self._totals += totals

    @property
    def total(self) -> int:
        """The number of discrimination patterns over X."""
        return sum(self._totals)

    def coverage(self) -> Coverage:
        """How many of the pairs over X are discrimination patterns."""
        return Coverage(
            disclosed=self.disclosed,
            method="closed form" if self._closed else "exhausted",
            pairs=pairs_over(self.tables, self.disclosed),
            lower=self.total,
            upper=self.total,
        )

    def at(self, ranks: list[int]) -> Iterator[tuple[Assignment, Assignment]]:
        """The patterns at some ranks, which are in order."""
        before = 0
        wanted = iter(ranks)
        rank = next(wanted, None)
        for i, total in enumerate(self._totals):
            of_x = []
            while rank is not None and rank < before + total:
                of_x.append(rank - before)
                rank = next(wanted, None)
            before += total
            if of_x:
                x, ends = self._exactly(i)
                passed = 0
                for block in range(self.blocks):
                    hits = self._hits(x, ends, block)
                    here = [r - passed for r in of_x if passed <= r < passed + hits.total]
                    yield from ((x, y) for y in self._contexts(block, list(hits.at(here))))
                    passed += hits.total
            if rank is None:
                return

    def _halves(self) -> tuple[Integers, Integers]:
        """The sums of the sorted half, which rise, and of the listed half, which fall.

        What the listed half leaves for the sorted one then rises, and bisecting touches memory in order.
        """
        second, first = self._lists()
        return second.sums, first.sums[::-1]

    def _lists(self) -> list[SortedSums]:
        return self.work.halves.of(self.second, self.first)

    def _offset(self, block: int) -> int:
        """What the outer attributes add in a block."""
        outer = choice_at([self.tables.options[i] for i in self.outer], block)
        return sum(int(self.tables.options[i][entry]) for i, entry in zip(self.outer, outer, strict=True))

    def _counts(self, ends: Integers) -> tuple[Integers, Mask]:
        """For some x in how many contexts they discriminate, and with which entries of the listed half.

        Contexts of entries with which that is in doubt are not counted.

        Returns
        -------
        counts : array of int, shape (x,)
        unsure : array of bool, shape (x, entries)
        """
        second, first = self._lists()
        # Falling sums, so that what they leave for the sorted half rises: that touches memory in order.
        falling = first.sums[::-1]
        # What the threads share is made before them.
        second.below(falling[:0])

        def up_to(side: tuple[int, Integers, Integers]) -> tuple[Integers, Mask]:
            return _up_to(second, falling, *side)

        sides = (-1, ends[0], ends[1]), (1, ends[3], ends[2])
        if ends.shape[1] * len(falling) < _THREADED:
            (below, at_first), (within, at_last) = map(up_to, sides)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(2) as threads:
                # NumPy lets go of Python's lock, so that two processors take half the time.
                (below, at_first), (within, at_last) = threads.map(
                    lambda side: _up_to(second, falling, *side), sides
                )
        total, unsure = within - below, at_first | at_last
        for i in np.flatnonzero(unsure.any(axis=1)).tolist():
            doubtful = np.flatnonzero(unsure[i])
            inside = np.searchsorted(second.sums, ends[3, i] - falling[doubtful], side="right")
            inside -= np.searchsorted(second.sums, ends[0, i] - falling[doubtful])
            total[i] -= inside.sum()
            unsure[i, doubtful] = inside > 0
        return total, unsure

    def _exactly(self, number: int) -> tuple[Assignment, _Ends]:
        """An x with the ends of its interval as exact as they are known."""
        tables = self.tables
        values = np.unravel_index(self.places[number], [len(tables.values[i]) for i in self.disclosed])
        x = tuple((i, int(v)) for i, v in zip(self.disclosed, values, strict=True))
        return x, exact_ends(tables, self.criterion, x)

    def _hits(self, x: Assignment, ends: _Ends, block: int, rows: Integers | None = None) -> _Hits:
        """The contexts of a block in which x discriminates, of all or of some entries of the listed half."""
        self.work.check_time()
        second, first = self._halves()
        if rows is not None:
            first = first[rows]
        offset = self._offset(block)
        ends = (ends[0] - offset, ends[1] - offset, ends[2] - offset, ends[3] - offset)
        starts = np.searchsorted(second, ends[0] - first)
        stops = np.searchsorted(second, ends[3] - first, side="right")
        lowest, highest = second.take(starts, mode="clip"), second.take(stops - 1, mode="clip")
        others: list[tuple[int, int]] = []
        undecided = np.flatnonzero(
            (starts < stops) & ((lowest < ends[1] - first) | (highest > ends[2] - first))
        )
        if len(undecided):
            inside = np.searchsorted(second, ends[1] - first[undecided])
            inside_stop = np.maximum(
                inside, np.searchsorted(second, ends[2] - first[undecided], side="right")
            )
            self.work.settle(int((stops - starts)[undecided].sum() - (inside_stop - inside).sum()))
            for row, start, low, high, stop in zip(
                (undecided if rows is None else rows[undecided]).tolist(),
                starts[undecided].tolist(),
                inside.tolist(),
                inside_stop.tolist(),
                stops[undecided].tolist(),
                strict=True,
            ):
                places = [(row, column) for column in (*range(start, low), *range(max(high, start), stop))]
                others += [
                    place
                    for place, y in zip(places, self._contexts(block, places), strict=True)
                    if self.tables.exact.discriminates(self.criterion, x, y)
                ]
            starts[undecided], stops[undecided] = inside, inside_stop
        return _Hits(starts, np.maximum(stops - starts, 0), others)

    def _contexts(self, block: int, places: list[tuple[int, int]]) -> Iterator[Assignment]:
        """The contexts at some places of the halves."""
        second, first = self._lists()
        rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
        outer = choice_at([self.tables.options[i] for i in self.outer], block)
        attributes = self.second + self.first + self.outer
        finite = self.tables.finite
        for entries in zip(second.choices(columns), first.choices(len(first.sums) - 1 - rows), strict=True):
            whole = zip(attributes, (*entries[0], *entries[1], *outer), strict=True)
            yield tuple(sorted((i, finite[i][entry - 1]) for i, entry in whole if entry))


def _up_to(
    second: SortedSums, first: Integers, sign: int, outer: Integers, inner: Integers
) -> tuple[Integers, Mask]:
    """How many sums lie below (-1) or not above (1) each outer end, and where the inner one may differ."""
    total = np.zeros(len(outer), dtype=np.int64)
    unsure = np.zeros((len(outer), len(first)), dtype=bool)
    # Python's integers, since ends that are everywhere differ by more than an array's hold.
    margins = np.array(
        [min(abs(a - b), 2 * FAR - 1) for a, b in zip(inner.tolist(), outer.tolist(), strict=True)]
    )
    step = max(1, _NEAR // len(first))
    for start in range(0, len(outer), step):
        some = slice(start, start + step)
        for row in range(0, len(first), _NEAR):
            rows = slice(row, row + _NEAR)
            wanted = outer[some, None] - first[rows]
            places = second.below((wanted + (sign > 0)).ravel()).reshape(wanted.shape)
            total[some] += places.sum(axis=1)
            # Nearly always nothing is undecided, which a look at the next sum shows.
            off = second.sums.take(places - (sign > 0), mode="clip")
            off -= wanted
            off *= -sign
            unsure[some, rows] = (off >= 0) & (off < margins[some, None])
    return total, unsure
