"""The exact number of discrimination patterns, and uniform samples of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, chain, combinations, compress, groupby, islice, takewhile
from math import isqrt
from operator import not_
from random import Random

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.intervals import DisclosedSet, Ends, ends_of, exact_ends, is_closed, pairs_over
from auditor.search.additive.log_odds import FAR, Integers, LogOdds
from auditor.search.additive.subset_sums import SortedSums, choice_at
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern
from auditor.search.pattern_count import Coverage, PatternCount

Mask = npt.NDArray[np.bool_]

#: Patterns within rounding of the threshold that are settled one by one in rationals.
_UNDECIDED = 1 << 17
#: Combinations x that are counted one by one.
_COMBINATIONS = 1 << 22
#: Sensitive attributes up to which every set of them is listed.
_LISTED = 12
#: Entries of the masks of several x that are counted together, entries looked up at once, entries that are
#: worth two threads, and x whose ends are found at once.
_TOGETHER, _NEAR, _THREADED, _AT_ONCE = 1 << 24, 1 << 15, 1 << 20, 1 << 18


class _TooMuch(Exception):
    """An exact count is out of reach; the message says why."""


class Counting:
    """The discrimination patterns of a question, counted once, and drawn from.

    For each x the contexts in which it discriminates are those whose γ lies in one open interval
    (`Criterion.interval`). They are counted in integers, half against sorted half; contexts within rounding
    of an end are settled exactly, so that a pattern at the threshold isn't counted.
    """

    def __init__(self, tables: LogOdds, criterion: Criterion, limits: Limits = DEFAULT) -> None:
        self._tables, self._criterion, self._limits = tables, criterion, limits
        self._spaces: list[_Space] | _TooMuch | None = None

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
            (self._spaces,) = _counted(self._tables, [self._criterion], self._limits)
        if isinstance(self._spaces, _TooMuch):
            raise self._spaces
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

    def at(self, ranks: Sequence[int]) -> list[tuple[int, int]]:
        """Rows and columns of the hits at some ranks, which are in order."""
        ends = np.cumsum(self.counts)
        plain = np.array([rank for rank in ranks if rank < ends[-1]], dtype=np.int64)
        rows = np.searchsorted(ends, plain, side="right")
        columns = self.starts[rows] + plain - (ends[rows] - self.counts[rows])
        others = [self.others[rank - int(ends[-1])] for rank in ranks[len(plain) :]]
        return [*zip(rows.tolist(), columns.tolist(), strict=True), *others]


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
        DisclosedSet(tables, disclosed)
        for size in range(1, len(tables.sensitive) + 1)
        for disclosed in combinations(tables.sensitive, size)
    ]
    halves = _Halves(tables)
    planned: dict[int, list[_Space]] = {}
    refused: dict[int, _TooMuch] = {}
    # The lower the threshold, the more there is to count: what is too much is so for those that follow.
    order = sorted(range(len(criteria)), key=lambda which: -criteria[which].threshold)
    for place, which in enumerate(order):
        try:
            spaces = _spaces(tables, criteria[which], sets, _Work(limits, halves))
        except _TooMuch as reason:
            refused[which] = reason
            continue
        if (least := sum(space.least_steps(limits) for space in spaces)) > limits.steps:
            refused |= dict.fromkeys(order[place:], _too_many(f"at least {Decimal(least):.1e}", limits))
            break
        planned[which] = spaces
    # The sorted half is as long as is best for all of them.
    pairs = sum(
        len(space.places) * space.over.choices(space.over.outside)
        for spaces in planned.values()
        for space in spaces
    )
    for one in sets:
        one.split(min(2 * limits.entries, 2 * isqrt(pairs)), limits.entries)
    for which, spaces in planned.items():
        if (steps := sum(space.steps for space in spaces)) > limits.steps:
            refused[which] = _too_many(f"{Decimal(steps):.1e}", limits)
    for place in range(len(sets)):
        left = [which for which in planned if which not in refused]
        reasons = _run([planned[which][place] for which in left])
        refused |= {left[number]: reason for number, reason in reasons.items()}
    return [refused.get(which) or planned[which] for which in range(len(criteria))]


def _too_many(bisections: str, limits: Limits) -> _TooMuch:
    return _TooMuch(f"an exact count would take {bisections} bisections; at most {limits.steps:,} are made")


def _spaces(tables: LogOdds, criterion: Criterion, sets: Sequence[DisclosedSet], work: _Work) -> list[_Space]:
    """What is to be counted by a criterion over each set, where the ends of many x are found at once."""
    work.check_time()
    closed = [one.closed(criterion) for one in sets]
    strength = np.concatenate([np.empty(0), *(one.strength for one in compress(sets, map(not_, closed)))])
    ends = np.empty((4, len(strength)), dtype=np.int64)
    for start in range(0, len(strength), _AT_ONCE):
        work.check_time()
        some = slice(start, start + _AT_ONCE)
        ends[:, some] = ends_of(tables, criterion, strength[some])
    spaces, start = [], 0
    for one, settled in zip(sets, closed, strict=True):
        stop = start if settled else start + len(one.strength)
        spaces.append(_Space(one, criterion, None if settled else ends[:, start:stop], work))
        start = stop
    return spaces


def _run(spaces: Sequence[_Space]) -> dict[int, _TooMuch]:
    """Count for each x over one set X the contexts in which it discriminates, by several criteria.

    Returns
    -------
    dict
        By the number of the criterion why it was too much work.
    """
    refused: dict[int, _TooMuch] = {}
    if not any(len(space.places) for space in spaces):
        return refused
    _, first = spaces[0].halves()
    for parts in _parts(spaces, max(1, _TOGETHER // len(first))):
        ends = np.hstack([spaces[which].ends[:, some] for which, some in parts])
        totals = [0] * ends.shape[1]
        doubtful: list[list[tuple[int, Integers]]] = [[] for _ in totals]
        for block in range(spaces[0].over.blocks):
            try:
                spaces[0].work.check_time()
            except _TooMuch as reason:
                return dict.fromkeys(range(len(spaces)), reason)
            counts, unsure = spaces[0].counts(ends - spaces[0].offset(block))
            totals = [total + count for total, count in zip(totals, counts.tolist(), strict=True)]
            for i in np.flatnonzero(unsure.any(axis=1)).tolist():
                doubtful[i].append((block, np.flatnonzero(unsure[i])))
        start = 0
        for which, some in parts:
            stop = start + some.stop - some.start
            try:
                if which not in refused:
                    spaces[which].add(totals[start:stop], doubtful[start:stop])
            except _TooMuch as reason:
                refused[which] = reason
            start = stop
    return refused


def _parts(spaces: Sequence[_Space], together: int) -> Iterator[list[tuple[int, slice]]]:
    """Which x of which spaces are counted together."""
    parts: list[tuple[int, slice]] = []
    room = together
    for which, space in enumerate(spaces):
        start = 0
        while start < len(space.places):
            stop = min(start + room, len(space.places))
            parts.append((which, slice(start, stop)))
            room -= stop - start
            start = stop
            if not room:
                yield parts
                parts, room = [], together
    if parts:
        yield parts


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


class _Space:
    """The contexts of one set X of disclosed sensitive attributes in which each x discriminates."""

    def __init__(self, over: DisclosedSet, criterion: Criterion, ends: Integers | None, work: _Work) -> None:
        self.tables, self.over, self.criterion, self.work = over.tables, over, criterion, work
        #: The places of the x that some γ within reach lets discriminate, and the ends of their intervals.
        self.places: Integers = np.empty(0, dtype=np.int64)
        self.ends: Integers = np.empty((4, 0), dtype=np.int64)
        self._closed = ends is None
        if ends is not None:
            least, most = over.reach
            within = (ends[0] <= most) & (least <= ends[3]) & (ends[0] <= ends[3])
            self.places, self.ends = over.places[within], ends[:, within]
        #: Per x the number of contexts in which it discriminates.
        self._totals: list[int] = []

    def add(self, totals: list[int], doubtful: list[list[tuple[int, Integers]]]) -> None:
        """Note in how many contexts the next x discriminate, and settle those in which it is in doubt.

        Parameters
        ----------
        doubtful : list of list of (int, array of int)
            Per x the blocks with the entries of the listed half whose contexts were not counted.
        """
        for total, rows_of_blocks in zip(totals, doubtful, strict=True):
            if rows_of_blocks:
                number = len(self._totals)
                total += sum(self._hits(number, block, rows).total for block, rows in rows_of_blocks)
            self._totals.append(total)

    @property
    def steps(self) -> int:
        """How many bisections that takes."""
        return len(self.places) * self.over.choices(self.over.first + self.over.outer)

    def least_steps(self, limits: Limits) -> int:
        """How many it takes with a sorted half as long as may be, at least."""
        return len(self.places) * (self.over.choices(self.over.outside) // (2 * limits.entries))

    @property
    def total(self) -> int:
        """The number of discrimination patterns over X."""
        return sum(self._totals)

    def coverage(self) -> Coverage:
        """How many of the pairs over X are discrimination patterns."""
        return Coverage(
            disclosed=self.over.disclosed,
            method="closed form" if self._closed else "exhausted",
            pairs=pairs_over(self.tables, self.over.disclosed),
            lower=self.total,
            upper=self.total,
        )

    def at(self, ranks: list[int]) -> Iterator[tuple[Assignment, Assignment]]:
        """The patterns at some ranks, which are in order."""
        before = [0, *accumulate(self._totals)]
        #: Per block the x, with the places of their contexts.
        found: list[tuple[int, int, list[tuple[int, int]]]] = []
        for number, of_x in groupby(ranks, lambda rank: bisect_right(before, rank) - 1):
            left = [rank - before[number] for rank in of_x]
            for block in range(self.over.blocks):
                hits = self._hits(number, block)
                total = hits.total
                here = list(takewhile(total.__gt__, left))
                found.append((block, number, hits.at(here)))
                left = [rank - total for rank in left[len(here) :]]
                if not left:
                    break
        # The contexts of all x are looked up at once, block by block.
        of_block: dict[int, Iterator[Assignment]] = {
            block: self._contexts(
                block, [place for at, _, places in found if at == block for place in places]
            )
            for block in {block for block, _, _ in found}
        }
        for block, number, places in found:
            x = self._x(number)
            yield from ((x, y) for y in islice(of_block[block], len(places)))

    def halves(self) -> tuple[Integers, Integers]:
        """The sums of the sorted half, which rise, and of the listed half, which fall.

        What the listed half leaves for the sorted one then rises, and bisecting touches memory in order.
        """
        second, first = self._lists()
        return second.sums, first.sums[::-1]

    def _lists(self) -> list[SortedSums]:
        return self.work.halves.of(self.over.second, self.over.first)

    def offset(self, block: int) -> int:
        """What the outer attributes add in a block."""
        outer = choice_at([self.tables.options[i] for i in self.over.outer], block)
        return sum(
            int(self.tables.options[i][entry]) for i, entry in zip(self.over.outer, outer, strict=True)
        )

    def counts(self, ends: Integers) -> tuple[Integers, Mask]:
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

    def _x(self, number: int) -> Assignment:
        disclosed = self.over.disclosed
        values = np.unravel_index(self.places[number], [len(self.tables.values[i]) for i in disclosed])
        return tuple((i, int(v)) for i, v in zip(disclosed, values, strict=True))

    def _hits(self, number: int, block: int, rows: Integers | None = None) -> _Hits:
        """Where an x discriminates in a block, among all or some entries of the listed half."""
        self.work.check_time()
        second, first = self._lists()[0], self.halves()[1]
        first = (first if rows is None else first[rows]) + self.offset(block)

        def between(ends: Ends) -> tuple[Integers, Integers, Integers]:
            starts, stops = second.below(ends[0] - first), second.below(ends[3] - first + 1)
            lowest, highest = (second.sums.take(places, mode="clip") for places in (starts, stops - 1))
            doubtful = (lowest < ends[1] - first) | (highest > ends[2] - first)
            return starts, stops, np.flatnonzero((starts < stops) & doubtful)

        starts, stops, undecided = between(tuple(self.ends[:, number].tolist()))
        others: list[tuple[int, int]] = []
        if len(undecided):
            # Only then it is worth knowing the ends as exactly as they can be.
            x = self._x(number)
            ends = exact_ends(self.tables, self.criterion, x)
            starts, stops, undecided = between(ends)
            inside = second.below(ends[1] - first[undecided])
            inside_stop = np.maximum(inside, second.below(ends[2] - first[undecided] + 1))
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
        outer = choice_at([self.tables.options[i] for i in self.over.outer], block)
        attributes = self.over.second + self.over.first + self.over.outer
        #: Where each attribute stands, in their order, and what each of its entries discloses.
        columns_of = sorted(range(len(attributes)), key=attributes.__getitem__)
        disclosed = [[(i, v) for v in (-1, *self.tables.finite[i])] for i in sorted(attributes)]
        for entries in zip(second.choices(columns), first.choices(len(first.sums) - 1 - rows), strict=True):
            whole = (*entries[0], *entries[1], *outer)
            yield tuple(
                values[whole[at]] for at, values in zip(columns_of, disclosed, strict=True) if whole[at]
            )


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
