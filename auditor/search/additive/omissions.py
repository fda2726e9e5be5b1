"""The values that a maximal pattern can disclose, and the attributes that it can leave out (`maximal`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from heapq import heappop, heappush
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import FAR, Floats, Integers, LogOdds, merged, population_of
from auditor.search.additive.ranking import placed
from auditor.search.additive.tree import Mask
from auditor.search.criteria import Criterion

#: The w of bounds for all models, and those from which one more is chosen for a model.
_WEIGHTS = np.array([-3, -2, -1, -0.5, -0.25, *np.linspace(0, 1, 11), 1.25, 1.5, 2, 3, 4], dtype=np.float64)
_FINE = np.linspace(0, 1, 513)
#: Sums that are kept of what is left out, and choices from it that are gone through.
_SUMS, _CHOICES = 1 << 12, 1 << 20
#: Sets of attributes to be left out that are looked at beforehand, those of greatest gap.
_WIDEST = 1 << 9


class Values:
    """The values that can be chosen: those of sensitive attributes, then those of others, with finite λ."""

    def __init__(self, tables: LogOdds) -> None:
        likelihood = population_of(tables).log_likelihood
        # An attribute without finite λ can't stand in a context.
        rows = {i: likelihood[i][list(finite)] for i, finite in enumerate(tables.finite) if finite}
        total = sum(_weighted(row, _FINE[:, None]).max(axis=1) for row in rows.values())
        # The w of the least bound of what discloses everything, for t = 0.
        balanced = _FINE[np.argmin(total)]
        #: The w of bounds, shape (weights, 1).
        self.weights: Floats = np.union1d(_WEIGHTS, balanced)[:, None]
        # First what has one likely value: of the others many values have to be tried.
        added = {i: [-inf, *sorted(_weighted(row, balanced).tolist())] for i, row in rows.items()}
        others = sorted(
            rows.keys() - set(tables.sensitive),
            key=lambda i: (added[i][-2] - added[i][-1], tables.alike[i], i),
        )
        self.order = [*tables.sensitive, *others]
        self.number, self.sensitives = len(self.order), len(tables.sensitive)
        #: What stands for those of the others that are alike, and whether one is like the one before.
        self.kind = {i: tables.alike[i] if i in others else -1 - i for i in self.order}
        self.copy: Mask = np.array(
            [p > 0 and self.kind[i] == self.kind[self.order[p - 1]] for p, i in enumerate(self.order)]
        )
        entries = [
            (p, i, v)
            for p, i in enumerate(self.order)
            for v in (range(len(tables.values[i])) if p < self.sensitives else tables.finite[i])
        ]
        self._entries = [(i, v) for _, i, v in entries]
        odds = [tables.values[i][v] for i, v in self._entries]
        #: λ, 0 where it is infinite; and its sign there, 0 elsewhere.
        self.log_odds: Integers = np.array([z if isinstance(z, int) else 0 for z in odds], dtype=np.int64)
        #: The λ that differ, and the place of each among them.
        self.distinct, self.place = np.unique(self.log_odds, return_inverse=True)
        self.pin: Integers = np.array([0 if isinstance(z, int) else int(np.sign(z)) for z in odds])
        position = np.array([p for p, _, _ in entries])
        self.sensitive: Mask = position < self.sensitives
        #: The first value of each attribute, and the number of values at the end.
        self.start: Integers = np.searchsorted(position, np.arange(self.number + 1))
        self.most = int(np.diff(self.start).max())
        logs = np.array([likelihood[i][v] for i, v in self._entries]).reshape(-1, 2)
        self.log_d: Floats = logs[:, 0]
        self.log_not_d: Floats = logs[:, 1]
        starts = self.start[:-1]
        with np.errstate(invalid="ignore"):
            weighted = _weighted(logs, self.weights)
        weighted = np.where(self.pin == 0, weighted, logs.max(axis=1))
        #: At most what each attribute adds to a bound, for each weight, and all from a position on.
        self.best: Floats = np.maximum.reduceat(weighted, starts, axis=1)
        self.rest: Floats = _from(self.best)
        #: The least and the greatest that each attribute adds to t, and those from a position on together.
        self.low: Integers = np.minimum.reduceat(self.log_odds, starts)
        self.high: Integers = np.maximum.reduceat(self.log_odds, starts)
        self.least, self.greatest = _from(self.low), _from(self.high)
        n = self.sensitives
        self.least_others = int(np.minimum(self.low[n:], 0).sum())
        self.most_others = int(np.maximum(self.high[n:], 0).sum())
        #: The same of s, and whether a sensitive value from a position on pins the decision.
        self.fall, self.rise = _from(np.minimum(self.low[:n], 0)), _from(np.maximum(self.high[:n], 0))
        self.pins: Mask = _from(np.maximum.reduceat(np.abs(self.pin), starts)[:n]) > 0

    def value(self, column: int) -> tuple[int, int]:
        """An attribute and its value."""
        return self._entries[column]

    def arrangements(self, others: Assignment) -> Iterator[Assignment]:
        """What discloses as many of the same values of attributes that are alike, in order."""
        return placed(self.kind, sorted(self.order[self.sensitives :]), others)

    @cached_property
    def sets(self) -> Integers:
        """Which sensitive attributes each set X has, shape (attributes, sets)."""
        of_each: Integers = np.arange(1 << self.sensitives) >> np.arange(self.sensitives)[:, None] & 1
        return of_each


class Omissions:
    """The sets U of attributes that are left out, as far as they have been looked at; number 0 is empty."""

    def __init__(self, tables: LogOdds, values: Values, *, whole: bool) -> None:
        self._tables, self._values = tables, values
        self._members: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): 0}
        self._sums: list[Integers] = [np.zeros(1, dtype=np.int64)]
        self._up, self._down = [inf], [inf]
        self._more: dict[int, tuple[Floats, Integers, Floats]] = {}
        # With a value that changes nothing every pattern can be extended.
        signs = [[tables.exact.sign(i, v) for v in tables.finite[i]] for i in values.order]
        self._possible: Mask = np.array(
            [not whole and p >= values.sensitives and 0 not in s for p, s in enumerate(signs)]
        )
        #: Whether anything can be left out.
        self.possible = bool(self._possible.any())

    def members(self, omitted: Integers) -> Integers:
        """The positions of each set in a row, with -1 after its end."""
        lists = [self._members[u] for u in omitted.tolist()]
        found = np.full((len(lists), max(map(len, lists), default=0)), -1, dtype=np.int64)
        for row, members in enumerate(lists):
            found[row, : len(members)] = members
        return found

    def nearest(self, omitted: Integers) -> tuple[Floats, Floats]:
        """At least the least ``σ > 0`` and the least ``-σ > 0``, infinite where there is none."""
        return np.array(self._up)[omitted], np.array(self._down)[omitted]

    def best(self, u: int) -> Floats:
        """At most what the attributes would add to a bound, shape (weights, 1)."""
        found: Floats = self._values.best[:, list(self._members[u])].sum(axis=1, keepdims=True)
        return found

    def number(self, u: int, width: Floats) -> Integers:
        """How many attributes can be left out beside U, where ``H - L`` is at least a width."""
        found: Integers = np.searchsorted(-self._beside(u)[0], -width, side="right")
        return found

    def gain(self, u: int, width: Floats) -> Floats:
        """At most what leaving out more adds to a bound, shape (weights, widths)."""
        all_of_them = self._beside(u)[2][:, self.number(u, width)]
        if u:
            return all_of_them
        gaps, gains = self._widest
        known = np.searchsorted(-gaps, -width, side="right")
        exact = gains[:, np.minimum(known, len(gaps))]
        found: Floats = np.where(known <= len(gaps) - 1, exact, all_of_them)
        return found

    @cached_property
    def _widest(self) -> tuple[Floats, Floats]:
        """The greatest gaps of sets, and by their number the most that one of them adds to a bound."""
        # A set comes after its parts; it is made of one of them and a position.
        waiting: list[tuple[float, int, int]] = [(-inf, 0, -1)]
        gaps, gains = list[float](), [np.zeros(len(self._values.weights))]
        while waiting and len(gaps) < _WIDEST:
            gap, part, position = heappop(waiting)
            u = self._with(part, position) if position >= 0 else part
            gaps.append(-gap)
            gains.append(np.maximum(gains[-1], -self.best(u)[:, 0]))
            for wide, p in self._next(u):
                if wide > 0:
                    heappush(waiting, (max(gap, -wide), u, p))
        if not waiting:
            gaps.append(-inf)
            gains.append(gains[-1])
        return np.array(gaps), np.array(gains).T

    def with_one_more(self, u: int, width: float) -> list[int]:
        """The sets with one attribute more, later in the order, for which a width isn't too wide."""
        return [self._with(u, p) for wide, p in self._next(u) if wide >= width]

    def _next(self, u: int) -> Iterator[tuple[float, int]]:
        """Attributes that can be left out beside U, with their gaps; of those alike the first."""
        gaps, positions, _ = self._beside(u)
        copy, last = self._values.copy, max(self._members[u], default=-1)
        return (
            (gap, p)
            for gap, p in zip(gaps.tolist(), positions.tolist(), strict=True)
            if p == last + 1 or not copy[p]
        )

    def _with(self, u: int, position: int) -> int:
        members = (*self._members[u], position)
        if members not in self._numbers:
            sums = np.unique(np.add.outer(self._sums[u], self._options(position)))
            if len(sums) > _SUMS:
                sums = np.sort(sums[np.argsort(np.abs(sums), kind="stable")[:_SUMS]])
            self._numbers[members] = len(self._members)
            self._members.append(members)
            self._sums.append(sums)
            slack = self._tables.slack
            self._up.append(float(self._reals(sums[sums > slack].min(initial=FAR))))
            self._down.append(float(self._reals((-sums[sums < -slack]).min(initial=FAR))))
        return self._numbers[members]

    def _options(self, position: int) -> Integers:
        return self._tables.options[self._values.order[position]]

    def _reals(self, units: Integers) -> Floats:
        """Some σ, rounded up; infinite where there is none."""
        tables = self._tables
        return np.where(units == FAR, inf, tables.reals(units + tables.slack) + tables.wider)

    def _beside(self, u: int) -> tuple[Floats, Integers, Floats]:
        """Attributes that can be left out beside U, the one with the greatest gap first.

        Returns their gaps, their positions, and at most what leaving out the first of them adds to a bound.
        """
        if u not in self._more:
            values, slack = self._values, self._tables.slack
            sums = np.add.outer(self._sums[u], values.distinct)
            gap = np.zeros(values.number)
            for sign, own in ((1, self._up[u]), (-1, self._down[u])):
                towards = np.where(sign * sums > slack, sign * sums, FAR).min(axis=0)[values.place]
                nearest = np.minimum.reduceat(towards, values.start[:-1])
                gap += np.minimum(self._reals(nearest), own)
            first = max(self._members[u], default=-1) + 1
            positions = np.flatnonzero(self._possible & (np.arange(values.number) >= first))
            positions = positions[np.argsort(-gap[positions], kind="stable")]
            gains = np.maximum(-values.best[:, positions], 0)
            steps = np.hstack([np.zeros((len(values.weights), 1)), gains.cumsum(axis=1)])
            self._more[u] = gap[positions], positions, steps
        return self._more[u]

    def extended(self, criterion: Criterion, u: int, x: Assignment, y: Assignment) -> bool | None:
        """Whether disclosing some of U in y leaves a pattern a pattern; None where it is too long to tell."""
        tables = self._tables
        interval = tables.exact.interval(criterion, x)
        attributes = [self._values.order[p] for p in self._members[u]]
        if not attributes or interval is None:
            return False
        if prod(len(tables.options[i]) for i in attributes) > _CHOICES:
            return None
        gamma = np.array([tables.prior + sum(tables.values[i][v] for i, v in y)], dtype=np.int64)
        for i in attributes:
            gamma = np.add.outer(gamma, tables.options[i]).ravel()
        inside, outside = np.ones(len(gamma), dtype=bool), np.zeros(len(gamma), dtype=bool)
        for end, sign in zip(interval, (1, -1), strict=True):
            if end is not None:
                down, up = tables.units(end)
                inside &= sign * gamma > sign * (up if sign > 0 else down) + tables.slack
                outside |= sign * gamma < sign * (down if sign > 0 else up) - tables.slack
        # The first choice is none.
        inside[0], outside[0] = False, True
        if inside.any():
            return True
        for place in np.flatnonzero(~outside).tolist():
            entries = np.unravel_index(place, [len(tables.options[i]) for i in attributes])
            chosen = [
                (i, tables.finite[i][int(e) - 1]) for i, e in zip(attributes, entries, strict=True) if e
            ]
            if tables.exact.discriminates(criterion, x, merged(y, tuple(chosen))):
                return True
        return False


def _weighted(logs: Floats, w: Floats | float) -> Floats:
    """``w ln u + (1 - w) ln v`` of values."""
    found: Floats = w * logs[:, 0] + (1 - w) * logs[:, 1]
    return found


def _from(added: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Along the last axis, sums of the entries from a place on; the last is empty."""
    sums = added[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return np.concatenate([sums, np.zeros((*added.shape[:-1], 1), dtype=added.dtype)], axis=-1)
