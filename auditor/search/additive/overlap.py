"""Counts the discrimination patterns that two models have in common, and those that got worse.

A pattern is the same in both if it gives the same values, by their labels, to the same attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from auditor.model.additive import ScoredAttribute
from auditor.model.classifier import Classifier
from auditor.model.exponentials import compare
from auditor.model.naive_bayes import Assignment, Attribute
from auditor.search.additive.log_odds import FAR, Exact, Floats, Integers, LogOdds
from auditor.search.additive.subset_sums import Choice, choice_at, halves, sums
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits

#: Pairs (x, y) that are compared one by one; of more only those in common are counted.
_LISTED = 1 << 26
#: Longest list of sums of one half.
_HALF = 1 << 20
#: Combinations x that are gone through.
_COMBINATIONS = 1 << 14
#: Pairs that are too close to call and are settled in rationals.
_UNDECIDED = 1 << 14
#: Sums of halves that are kept to find the worst patterns of one model only.
_KEPT = 1 << 22
#: Steps in which the threshold is raised until few patterns are left, and how many are looked at in any case.
_BISECTIONS, _FEW = 16, 20
_MOST_LOST = 2000
#: Degrees in floating point that are this close are compared as rationals; they are off by less than 1e-11.
_CLOSE = 1e-9

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """One of the two models, and its question."""

    model: Classifier
    criterion: Criterion

    @property
    def attributes(self) -> Sequence[Attribute | ScoredAttribute]:
        """Those of the model."""
        return self.model.attributes

    @cached_property
    def tables(self) -> LogOdds:
        """The log-odds of the model."""
        return tables_of(self.model)


@dataclass(frozen=True)
class Overlap:
    """Discrimination patterns in common, exactly; or None and the reason."""

    both: int | None
    worse: int | None
    """Those of them whose |degree| is larger in the second model."""
    both_reason: str | None = None
    worse_reason: str | None = None


class _TooMuch(Exception):
    """A count is out of reach; the message says why."""


def overlap(old: Side, new: Side, limits: Limits = DEFAULT) -> Overlap:
    """Count the discrimination patterns that two models have in common, and those that got worse.

    For each x a pattern lies, in each model, where the sum of log-odds of its context is in an open interval.
    Few contexts are listed; of many, the pairs of sums in a rectangle are counted, half against half.
    """
    work = _Work(old, new, limits)
    try:
        if work.total <= _LISTED:
            both, worse = work.listed()
            return Overlap(both, worse)
        reason = f"there are {work.total:,} pairs in common; at most {_LISTED:,} are compared one by one"
        return Overlap(work.crossed(), None, None, reason)
    except _TooMuch as error:
        return Overlap(None, None, str(error), str(error))


def worst_lost(
    old: Side, new: Side, number: int, limits: Limits = DEFAULT
) -> list[tuple[Assignment, Assignment]]:
    """Find the worst discrimination patterns of one model that another can express, but which are none of it.

    Returns
    -------
    list of (Assignment, Assignment)
        In no order, and some more than asked for, of which a few may be at the threshold; none where there
        are too many to tell.
    """
    try:
        return _Work(old, new, limits).lost(number)
    except _TooMuch:
        return []


def shared_labels(old: Side, new: Side, x: Assignment, y: Assignment) -> tuple[Assignment, Assignment] | None:
    """Return a pattern of the first model in the second, or None if that can't express it."""
    places = {a.name: i for i, a in enumerate(new.attributes)}
    moved = []
    for part in (x, y):
        values = []
        for i, v in part:
            attribute = old.attributes[i]
            other = new.attributes[places[attribute.name]] if attribute.name in places else None
            label = attribute.values[v]
            if other is None or label not in other.values or (part is x and not other.sensitive):
                return None
            values.append((places[attribute.name], other.values.index(label)))
        moved.append(tuple(sorted(values)))
    return moved[0], moved[1]


def grew(
    old: Side, new: Side, before: tuple[Assignment, Assignment], after: tuple[Assignment, Assignment]
) -> bool:
    """Whether |degree| of a discrimination pattern is larger in the second model, without rounding."""
    sizes = (side.tables.exact.size(side.criterion, *pair) for side, pair in ((new, after), (old, before)))
    return compare(*sizes) > 0


@dataclass(frozen=True)
class _Shared:
    """An attribute of both models: where it stands in each, and its common values as pairs of indices."""

    places: tuple[int, int]
    values: tuple[tuple[int, int], ...]
    sensitive: bool


#: Ends of an interval of sums: below the first and above the last is certainly outside, from the second to
#: the third certainly inside; the rest is undecided.
_Ends = tuple[int, int, int, int]


class _Work:
    """The patterns that both models can express, and how much work was done on them."""

    def __init__(self, old: Side, new: Side, limits: Limits) -> None:
        self.sides, self.limits, self.settled = (old, new), limits, 0
        places = {a.name: i for i, a in enumerate(new.attributes)}
        self.shared = [
            _Shared(
                (i, places[a.name]),
                tuple(
                    (v, other.values.index(label))
                    for v, label in enumerate(a.values)
                    if label in other.values
                ),
                a.sensitive and other.sensitive,
            )
            for i, a in enumerate(old.attributes)
            if a.name in places
            for other in [new.attributes[places[a.name]]]
        ]

    @cached_property
    def finite(self) -> list[tuple[tuple[int, int], ...]]:
        """The common values that a context of a pattern can have in both models."""
        return [
            tuple(
                pair
                for pair in shared.values
                if all(pair[n] in self.sides[n].tables.finite[shared.places[n]] for n in (0, 1))
            )
            for shared in self.shared
        ]

    @property
    def total(self) -> int:
        """Pairs (x, y) in common, leaving out contexts that no pattern has."""
        sizes = [
            (1 + len(finite), len(s.values) * s.sensitive)
            for finite, s in zip(self.finite, self.shared, strict=True)
        ]
        return prod(n + m for n, m in sizes) - prod(n for n, _ in sizes)

    def options(self, side: int, at: int) -> Integers:
        """What a shared attribute can add to the sum of log-odds of a context."""
        row = self.sides[side].tables.values[self.shared[at].places[side]]
        return np.array([0, *(row[pair[side]] for pair in self.finite[at])], dtype=np.int64)

    def combinations(self) -> Iterator[tuple[tuple[int, ...], list[list[Assignment]]]]:
        """Each set X of shared attributes with its x, each in both models."""
        sensitive = [at for at, shared in enumerate(self.shared) if shared.sensitive]
        number = prod(1 + len(self.shared[at].values) for at in sensitive) - 1
        if number > _COMBINATIONS:
            raise _TooMuch(f"there are {number:,} combinations of sensitive values in common")
        for size in range(1, len(sensitive) + 1):
            for disclosed in combinations(sensitive, size):
                yield (
                    disclosed,
                    [
                        [self._assignment(side, disclosed, pairs) for side in (0, 1)]
                        for pairs in product(*(self.shared[at].values for at in disclosed))
                    ],
                )

    def discriminating(self) -> Iterator[tuple[tuple[int, ...], list[tuple[list[Assignment], list[_Ends]]]]]:
        """Each set X with its x that can discriminate in both models, and the ends of their intervals."""
        for disclosed, xs in self.combinations():
            found = []
            for x in xs:
                ends = [self._ends(side, x[side], self.sides[side].criterion) for side in (0, 1)]
                if ends[0] and ends[1]:
                    found.append((x, [ends[0], ends[1]]))
            if found:
                yield disclosed, found

    def space(self, disclosed: tuple[int, ...]) -> _Space:
        """The contexts outside a set X, in two halves."""
        outside = [at for at in range(len(self.shared)) if at not in disclosed]
        sizes = [1 + len(self.finite[at]) for at in outside]
        split = halves(sizes, _HALF)
        if prod(sizes[split:]) > _HALF:
            raise _TooMuch(f"there are {self.total:,} pairs in common, too many to be counted")
        first, second = (
            [sums([self.options(side, at) for at in part]) for side in (0, 1)]
            for part in (outside[split:], outside[:split])
        )
        return _Space(tuple(outside), tuple(sizes), split, first, second, _Plane.of(*second))

    def listed(self) -> tuple[int, int]:
        """The patterns in common and those that got worse, by listing all contexts."""
        both = worse = 0
        for disclosed, found in self.discriminating():
            outside = [at for at in range(len(self.shared)) if at not in disclosed]
            inner = len(outside)
            while inner and prod(1 + len(self.finite[at]) for at in outside[inner - 1 :]) <= _HALF:
                inner -= 1
            block = outside[inner:]
            gammas = [sums([self.options(side, at) for at in block]) for side in (0, 1)]
            moved = sums([self._moved(at) for at in block])
            for outer in product(*(range(1 + len(self.finite[at])) for at in outside[:inner])):
                offsets = [
                    sum(
                        int(self.options(side, at)[entry])
                        for at, entry in zip(outside[:inner], outer, strict=True)
                    )
                    for side in (0, 1)
                ]
                outer_moved = any(
                    self._moved(at)[entry] for at, entry in zip(outside[:inner], outer, strict=True)
                )
                for x, ends in found:
                    self._check_time()
                    sums_ = [gammas[side] + offsets[side] for side in (0, 1)]
                    certain, possible = _masks(sums_, ends)
                    for index in np.flatnonzero(possible & ~certain).tolist():
                        y = self._contexts(
                            outside, (*outer, *choice_at([self.options(0, at) for at in block], index))
                        )
                        certain[index] = self._settle(x, y)
                    both += int(certain.sum())
                    changed = certain if outer_moved or self._differs(x) else certain & (moved > 0)
                    worse += self._worse(x, sums_, changed, outside, outer, block)
        return both, worse

    def crossed(self) -> int:
        """The patterns in common, half against half."""
        both = 0
        for disclosed, found in self.discriminating():
            space = self.space(disclosed)
            for x, ends in found:
                self._check_time()
                counts, unsure = space.plane.count(space.first, ends)
                for row in unsure.tolist():
                    certain, possible = _masks(space.row(row), ends)
                    for index in np.flatnonzero(possible & ~certain).tolist():
                        certain[index] = self._settle(
                            x, self._contexts(space.outside, space.choice(row, index))
                        )
                    counts[row] = certain.sum()
                both += int(counts.sum())
        return both

    def lost(self, number: int) -> list[tuple[Assignment, Assignment]]:
        """So many of the worst patterns of the first model that are none of the second, and a few more.

        The threshold of the first model is raised by bisection until few are left, which are listed.
        """
        spaces = []
        for disclosed, xs in self.combinations():
            spaces.append((self.space(disclosed), xs))
            if sum(len(space.plane.abscissas) + len(space.first[0]) for space, _ in spaces) > _KEPT:
                raise _TooMuch("there are too many patterns for the worst to be found")
        threshold = self.sides[0].criterion.threshold
        low, high = float(threshold), 1.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            left = sum(int(counts.sum()) for *_, counts in self._lost_rows(spaces, Fraction(middle)))
            if left < number:
                high = middle
                continue
            low = middle
            if left <= _FEW * number:
                break
        found: list[tuple[Assignment, Assignment]] = []
        for space, x, ends, counts in self._lost_rows(spaces, max(threshold, Fraction(low))):
            for row in np.flatnonzero(counts).tolist():
                gammas = space.row(row)
                inside = _masks(gammas[:1], ends[:1])[1]
                if len(ends) > 1:
                    inside &= ~_masks(gammas[1:], ends[1:])[0]
                for index in np.flatnonzero(inside).tolist():
                    found.append((x, self._contexts(space.outside, space.choice(row, index))[0]))
                    if len(found) > _MOST_LOST:
                        return found
        return found

    def _lost_rows(
        self, spaces: Sequence[tuple[_Space, list[list[Assignment]]]], threshold: Fraction
    ) -> Iterator[tuple[_Space, Assignment, list[_Ends], Integers]]:
        """For each x the number of contexts per row that exceed a threshold in the first model only.

        Contexts that are too close to call in one of them are counted too.
        """
        old, new = self.sides
        raised = type(old.criterion)(threshold)
        for space, xs in spaces:
            self._check_time()
            for x in xs:
                here = self._ends(0, x[0], raised)
                if here is None:
                    continue
                here = (here[0], here[0], here[3], here[3])
                there = self._ends(1, x[1], new.criterion)
                counts = space.plane.columns(space.first[0], here)
                if there is not None:
                    there = (there[1], there[1], there[2], there[2])
                    counts = counts - space.plane.count(space.first, [here, there])[0]
                yield space, x[0], [here] if there is None else [here, there], counts

    def _worse(
        self,
        x: list[Assignment],
        gammas: list[Integers],
        candidates: Mask,
        outside: Sequence[int],
        outer: tuple[int, ...],
        block: Sequence[int],
    ) -> int:
        """How many of the candidates have a larger |degree| in the second model."""
        chosen = np.flatnonzero(candidates)
        old, new = (self._sizes(side, x[side], gammas[side][chosen]) for side in (0, 1))
        grown = new > old
        for place in np.flatnonzero(np.abs(new - old) <= _CLOSE).tolist():
            y = self._contexts(
                outside, (*outer, *choice_at([self.options(0, at) for at in block], int(chosen[place])))
            )
            self._spend()
            grown[place] = grew(*self.sides, (x[0], y[0]), (x[1], y[1]))
        return int(grown.sum())

    def _sizes(self, side: int, x: Assignment, gammas: Integers) -> Floats:
        """|degree| of x in contexts with these sums."""
        tables = self.sides[side].tables
        s = tables.real(tables.strength(x))
        gamma = (gammas + tables.prior) / float(1 << tables.bits)
        return self.sides[side].criterion.size(s, gamma)

    def _settle(self, x: list[Assignment], y: list[Assignment]) -> bool:
        self._spend()
        return all(self._exact(n).discriminates(self.sides[n].criterion, x[n], y[n]) for n in (0, 1))

    def _spend(self) -> None:
        self.settled += 1
        if self.settled > _UNDECIDED:
            raise _TooMuch(f"more than {_UNDECIDED:,} patterns are too close to call in floating point")

    def _check_time(self) -> None:
        if self.limits.expired():
            raise _TooMuch("the time limit was reached before all patterns were compared")

    def _assignment(
        self, side: int, attributes: Sequence[int], pairs: Sequence[tuple[int, int]]
    ) -> Assignment:
        return tuple(
            sorted(
                (self.shared[at].places[side], pair[side]) for at, pair in zip(attributes, pairs, strict=True)
            )
        )

    def _contexts(self, attributes: Sequence[int], choice: Sequence[int]) -> list[Assignment]:
        """A context in both models; entry 0 of an attribute is that it isn't disclosed."""
        chosen = [
            (at, self.finite[at][entry - 1]) for at, entry in zip(attributes, choice, strict=True) if entry
        ]
        return [
            self._assignment(side, [at for at, _ in chosen], [pair for _, pair in chosen]) for side in (0, 1)
        ]

    def _ends(self, side: int, x: Assignment, criterion: Criterion) -> _Ends | None:
        """The interval of sums of a context's log-odds, without the prior's, in which x discriminates."""
        tables = self.sides[side].tables
        occurs = tables.strength(x) == tables.strength(x)  # not nan, which is ∞ - ∞: P(x) = 0
        interval = tables.exact.interval(criterion, x) if occurs else None
        if interval is None:
            return None
        low, high = ((None if end is None else tables.units(end)) for end in interval)
        slack, prior = tables.slack, tables.prior
        return (
            -FAR if low is None else low[0] - slack - prior,
            -FAR if low is None else low[1] + slack - prior,
            FAR if high is None else high[0] - slack - prior,
            FAR if high is None else high[1] + slack - prior,
        )

    def _moved(self, at: int) -> Integers:
        """For each option of an attribute whether its λ differs between the models."""
        places = self.shared[at].places
        moved = (
            self._exact(0).ratio(((places[0], v),)) != self._exact(1).ratio(((places[1], w),))
            for v, w in self.finite[at]
        )
        return np.array([0, *moved], dtype=np.int64)

    def _differs(self, x: list[Assignment]) -> bool:
        """Whether the criterion, the prior, or λ of x differs between the models."""
        (old, new), (one, other) = self.sides, (self._exact(0), self._exact(1))
        return (
            old.criterion.name != new.criterion.name
            or one.prior() != other.prior()
            or one.ratio(x[0]) != other.ratio(x[1])
        )

    def _exact(self, side: int) -> Exact:
        return self.sides[side].tables.exact


@dataclass(frozen=True)
class _Space:
    """The contexts outside a set X: every sum of an entry of each half, in each of the models."""

    outside: tuple[int, ...]
    """The shared attributes, those of the second half first."""
    sizes: tuple[int, ...]
    """How many options each has."""
    split: int
    """How many of them are in the second half."""
    first: list[Integers]
    second: list[Integers]
    plane: _Plane
    """The second half, by its sums in both models."""

    def row(self, row: int) -> list[Integers]:
        """The sums of one entry of the first half with all of the second, in each of the models."""
        return [self.second[side] + self.first[side][row] for side in (0, 1)]

    def choice(self, row: int, index: int) -> Choice:
        """The option of each attribute whose sums meet there."""
        return (*self._at(self.sizes[: self.split], index), *self._at(self.sizes[self.split :], row))

    @staticmethod
    def _at(sizes: Sequence[int], index: int) -> Choice:
        choice = []
        for size in reversed(sizes):
            index, entry = divmod(index, size)
            choice.append(entry)
        return tuple(reversed(choice))


@dataclass(frozen=True)
class _Plane:
    """Points in the plane, ready to count those in rectangles: a wavelet matrix of their ordinates' ranks."""

    abscissas: Integers
    ordinates: Integers
    """Each sorted."""
    zeros: list[Integers]
    """For each bit of the ranks, from the highest: how many of the first t points in the order of that level
    have a 0 there, for t from 0 on.
    """

    @classmethod
    def of(cls, abscissas: Integers, ordinates: Integers) -> _Plane:
        """Sort the points."""
        order = np.argsort(abscissas, kind="stable")
        ranks = np.empty(len(order), dtype=np.int64)
        by_ordinate = np.argsort(ordinates[order], kind="stable")
        ranks[by_ordinate] = np.arange(len(order))
        zeros = []
        for bit in reversed(range(len(order).bit_length())):
            is_zero = (ranks >> bit) & 1 == 0
            zeros.append(np.concatenate([[0], np.cumsum(is_zero)]))
            ranks = np.concatenate([ranks[is_zero], ranks[~is_zero]])
        return cls(abscissas[order], ordinates[order][by_ordinate], zeros)

    def count(self, offsets: list[Integers], ends: list[_Ends]) -> tuple[Integers, Integers]:
        """How many points each offset moves into a rectangle, and for which offsets that is not certain."""
        columns = [
            np.searchsorted(self.abscissas, end - offsets[0], side)
            for end, side in zip(ends[0], _SIDES, strict=True)
        ]
        rows = [
            np.searchsorted(self.ordinates, end - offsets[1], side)
            for end, side in zip(ends[1], _SIDES, strict=True)
        ]
        unsure = np.zeros(len(offsets[0]), dtype=np.bool_)
        for found in (columns, rows):
            unsure |= (found[0] != found[1]) | (found[2] != found[3])
        first, _, _, last = columns
        low, _, _, high = rows
        high, last = np.maximum(low, high), np.maximum(first, last)
        total = (
            self._below(last, high)
            - self._below(first, high)
            - self._below(last, low)
            + self._below(first, low)
        )
        return total, np.flatnonzero(unsure & (total > 0))

    def columns(self, offsets: Integers, ends: _Ends) -> Integers:
        """How many points each offset moves between two abscissas."""
        first = np.searchsorted(self.abscissas, ends[1] - offsets, "left")
        last = np.searchsorted(self.abscissas, ends[2] - offsets, "right")
        return np.asarray(np.maximum(last - first, 0))

    def _below(self, first: Integers, rank: Integers) -> Integers:
        """How many of the first so many points have an ordinate of lower rank."""
        total = np.zeros(len(first), dtype=np.int64)
        bits = len(self.zeros)
        for level, zeros in enumerate(self.zeros):
            before = zeros[first]
            one = (rank >> (bits - 1 - level)) & 1 == 1
            total += np.where(one, before, 0)
            first = np.where(one, zeros[-1] + first - before, before)
        return total


#: On which side of equal sums each end of an interval is.
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "left", "right", "right")


def _masks(gammas: list[Integers], ends: list[_Ends]) -> tuple[Mask, Mask]:
    """Which contexts certainly, and which possibly, are in both intervals."""
    certain = possible = np.ones(len(gammas[0]), dtype=np.bool_)
    for gamma, (first, second, third, fourth) in zip(gammas, ends, strict=True):
        certain = certain & (second <= gamma) & (gamma <= third)
        possible = possible & (first <= gamma) & (gamma <= fourth)
    return certain, possible
