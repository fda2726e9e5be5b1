"""How many discrimination patterns there are at least and at most, where they can't be counted one by one.

γ of all contexts outside X is distributed as a sum of independent choices. Each λ is rounded to a grid of
width w, so that the sums of the grid are counted by adding shifted copies of an array, one for each value. A
true sum differs from its sum on the grid by a sum of rounding errors, one for each attribute, each within a
range of known width. So

* no sum is off by more than half the total of these widths, from the middle of its range;
* by Hoeffding's inequality at most a share ``2 exp(-2 e² / Σ width²)`` of all contexts is off by more than e,
  from the mean of all.

A count of an interval is then at least that of the grid in the interval shrunk by e, less that share, and at
most that in the interval widened by e, plus that share.

Where combinations x are too many as well, s and what sensitive attributes add to γ are counted together on a
grid of two dimensions. The interval of γ grows with |s|, so that each cell of s has an interval in which all
its x discriminate, and one beyond which none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, floor, isqrt, log, prod, sqrt

import numpy as np

from auditor.search.additive.intervals import ends_of, is_closed, pairs_over, strengths_over
from auditor.search.additive.log_odds import FAR, Floats, Integers, LogOdds
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits
from auditor.search.pattern_count import Coverage, PatternCount

#: Cells of the grid at least and at most.
_CELLS = 1 << 18, 1 << 22
#: Share of contexts whose rounding error may be above the one allowed for.
_SHARE = 1e-9
#: Share of the sums that is left out at either end whenever an attribute is added.
_TAIL = 1e-13
#: Combinations x whose intervals are looked up, and sets X of them.
_COMBINATIONS, _SETS = 1 << 22, 1 << 12
#: Cells of either side of the grid on which s and γ are counted together at most, and additions of cells.
_SIDE, _ADDITIONS = 1 << 12, 4_000_000_000
#: Error of a share on the grid, a sum of at most 2^22 positive floats.
_ROUNDING = 2e-9


def enclosed_count(tables: LogOdds, criterion: Criterion, limits: Limits, reason: str) -> PatternCount:
    """Enclose the number of discrimination patterns, set of attributes by set.

    Parameters
    ----------
    reason : str
        Why they are not counted exactly.
    """
    unknown = PatternCount(0, tables.total_patterns(), reason, ())
    grid = _Grid.of(tables)
    if tables.total_combinations > _COMBINATIONS or 1 << len(tables.sensitive) > _SETS:
        return _together(tables, criterion, grid, limits, unknown)
    found: dict[tuple[int, ...], Coverage] = {}
    for disclosed, distribution in _distributions(tables, grid, limits):
        if disclosed:
            found[disclosed] = _coverage(tables, criterion, grid, disclosed, distribution)
    if limits.expired():
        return unknown
    coverage = tuple(
        found[disclosed]
        for size in range(1, len(tables.sensitive) + 1)
        for disclosed in combinations(tables.sensitive, size)
    )
    lower, upper = sum(entry.lower for entry in coverage), sum(entry.upper for entry in coverage)
    return PatternCount(lower, upper, None if lower == upper else reason, coverage)


@dataclass(frozen=True)
class _Grid:
    """Each attribute's options on the grid."""

    width: int
    """Of a cell, in units of the tables."""
    steps: tuple[Integers, ...]
    """Per attribute how many cells each option moves the sum."""
    middle: tuple[int, ...]
    mean: tuple[int, ...]
    spread: tuple[int, ...]
    """Per attribute the middle of the range of its rounding errors, their mean, and the width of that range,
    in units.
    """

    @classmethod
    def of(cls, tables: LogOdds) -> _Grid:
        """A fine grid for sums of all attributes."""
        low, high = tables.full_reach
        attributes = len(tables.values)
        cells = min(_CELLS[1], max(_CELLS[0], 100 * attributes * attributes))
        return cls.wide(tables, 1 + (high - low) // cells)

    @classmethod
    def wide(cls, tables: LogOdds, width: int) -> _Grid:
        """A grid of a width."""
        steps, middle, mean, spread = [], [], [], []
        for options in tables.options:
            moved = (options + width // 2) // width
            errors = options - moved * width
            steps.append(moved)
            middle.append(int(errors.min() + errors.max()) // 2)
            mean.append(int(errors.sum()) // len(errors))
            spread.append(int(errors.max() - errors.min()) + 2)
        return cls(width, tuple(steps), tuple(middle), tuple(mean), tuple(spread))

    def error(self, attributes: Sequence[int]) -> tuple[int, int, float]:
        """How far a sum of some attributes is from its place at most, once it is moved by the second number.

        The third is the share of all choices that may be farther.
        """
        worst = sum(self.spread[i] for i in attributes) / 2
        usual = sqrt(sum(self.spread[i] ** 2 for i in attributes) * log(2 / _SHARE) / 2)
        error, centre, beyond = (usual, self.mean, _SHARE) if usual < worst else (worst, self.middle, 0.0)
        return ceil(error) + len(attributes) + 2, sum(centre[i] for i in attributes), beyond


@dataclass(frozen=True)
class _Distribution:
    """The sums of some attributes' options."""

    start: int
    """Sum on the grid of the first cell, in cells."""
    share: Floats
    """Share of all choices in each cell."""
    attributes: tuple[int, ...]
    lost: float = 0.0
    """Share of those that lie so far out that they were left out."""

    @cached_property
    def _below(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.share)])

    def between(self, grid: _Grid, low: Integers, high: Integers, margin: int) -> Floats:
        """Share of the sums from one place on to another, each range made wider by a margin at both ends."""
        low = np.where(np.abs(low) >= FAR // 2, low, low - margin)
        high = np.where(np.abs(high) >= FAR // 2, high, high + margin)
        first, last = (
            np.clip(at - self.start, 0, len(self.share))
            for at in (-(-low // grid.width), high // grid.width + 1)
        )
        return np.maximum(self._below[last] - self._below[first], 0)

    def adding(self, grid: _Grid, attribute: int) -> _Distribution:
        """The sums with one attribute more."""
        steps = grid.steps[attribute]
        low, high = int(steps.min()), int(steps.max())
        share = np.zeros(len(self.share) + high - low)
        for step in steps.tolist():
            share[step - low : step - low + len(self.share)] += self.share
        share /= len(steps)
        kept = _without_tails(share)
        return _Distribution(
            self.start + low + kept.start,
            share[kept],
            (*self.attributes, attribute),
            self.lost + 2 * _TAIL,
        )


def _outside(tables: LogOdds, grid: _Grid, limits: Limits) -> _Distribution:
    """The sums of all attributes that aren't sensitive; of some if time is up."""
    sums = _Distribution(0, np.ones(1), ())
    for i in sorted(set(range(len(tables.values))) - set(tables.sensitive)):
        if limits.expired():
            break
        sums = sums.adding(grid, i)
    return sums


def _distributions(
    tables: LogOdds, grid: _Grid, limits: Limits
) -> Iterator[tuple[tuple[int, ...], _Distribution]]:
    """For each set X of sensitive attributes, the sums of all attributes outside X; until time is up."""
    everything = _outside(tables, grid, limits)
    # The attributes before a place are decided: in X, or added. What they share is added once.
    pending: list[tuple[int, tuple[int, ...], _Distribution]] = [(0, (), everything)]
    while pending and not limits.expired():
        place, disclosed, distribution = pending.pop()
        if place == len(tables.sensitive):
            yield disclosed, distribution
            continue
        i = tables.sensitive[place]
        pending.append((place + 1, disclosed, distribution.adding(grid, i)))
        pending.append((place + 1, (*disclosed, i), distribution))


def _coverage(
    tables: LogOdds,
    criterion: Criterion,
    grid: _Grid,
    disclosed: tuple[int, ...],
    distribution: _Distribution,
) -> Coverage:
    pairs = pairs_over(tables, disclosed)
    if is_closed(tables, criterion, disclosed):
        return Coverage(disclosed, "closed form", pairs, 0, 0)
    strength = strengths_over(tables, disclosed)
    strength = strength[~np.isnan(strength)]
    ends = ends_of(tables, criterion, strength)
    outside = distribution.attributes
    margin, shift, beyond = grid.error(outside)
    ends = tuple(_moved(end, -shift) for end in ends)
    inner = float(distribution.between(grid, ends[1], ends[2], -margin).sum())
    outer = float(distribution.between(grid, ends[0], ends[3], margin).sum())
    contexts = prod(len(tables.options[i]) for i in outside)
    spare = len(strength) * (beyond + distribution.lost + _ROUNDING)
    return Coverage(
        disclosed=disclosed,
        method="enclosed",
        pairs=pairs,
        lower=max(0, ceil(contexts * (Fraction(inner) - Fraction(spare)))),
        upper=min(pairs, floor(contexts * (Fraction(outer) + Fraction(spare)))),
    )


def _moved(sums: Integers, by: int) -> Integers:
    """Sums moved, but not those that are beyond all."""
    return np.where(np.abs(sums) >= FAR // 2, sums, sums + by)


def _together(
    tables: LogOdds, criterion: Criterion, grid: _Grid, limits: Limits, unknown: PatternCount
) -> PatternCount:
    """Enclose the number of all patterns at once, without saying how many are of each set of attributes."""
    sensitive = tables.sensitive
    if any(len(tables.finite[i]) < len(tables.values[i]) for i in sensitive):
        return unknown
    rest = _outside(tables, grid, limits)
    if limits.expired():
        return unknown
    values = sum(2 * len(tables.values[i]) + 1 for i in sensitive)
    side = min(_SIDE, isqrt(_ADDITIONS // values))
    width = 1 + sum(most - least for least, most in (tables.reach[i] for i in sensitive)) // side
    coarse = _Grid.wide(tables, width)
    # Rows are s, columns what the same attributes add to γ; each from a first cell on.
    first, share = [0, 0], np.ones((1, 1))
    size = 1 + sum(int(np.ptp(coarse.steps[i])) for i in sensitive)
    # New memory for each attribute would take as long as what is done in it.
    room, next_room = np.empty((size, size)), np.empty((size, size))
    for i in sensitive:
        if limits.expired():
            return unknown
        steps = coarse.steps[i]
        low, (rows, columns) = int(steps.min()), share.shape
        wider = room[: rows + int(np.ptp(steps)), : columns + int(np.ptp(steps))]
        wider[:] = 0
        for step in steps.tolist():
            wider[step - low : step - low + rows, -low : columns - low] += share
        for step in steps[1:].tolist():
            wider[-low : rows - low, step - low : step - low + columns] += share
        wider /= 2 * len(steps) - 1
        # Of many attributes hardly any combination is near the ends.
        kept, also = (_without_tails(wider.sum(axis=axis)) for axis in (1, 0))
        first = [first[0] + low + kept.start, first[1] + low + also.start]
        share, room, next_room = wider[kept, also], next_room, room
    lost = 4 * _TAIL * len(sensitive)
    margin, shift, beyond = grid.error(rest.attributes)
    coarse_margin, coarse_shift, coarse_beyond = coarse.error(sensitive)
    margin += coarse_margin
    places, others = (
        (start + np.arange(number)) * coarse.width + coarse_shift
        for start, number in zip(first, share.shape, strict=True)
    )
    unit = 1.0 / (1 << tables.bits)
    least = np.maximum(np.abs(places) - coarse_margin, 0) * unit * np.sign(places)
    most = (np.abs(places) + coarse_margin) * unit
    _, inner_low, inner_high, _ = ends_of(tables, criterion, least)
    lows, _, _, highs = zip(*(ends_of(tables, criterion, sign * most) for sign in (-1, 1)), strict=True)
    # What may be of either sign has the intervals of both.
    either = np.abs(places) <= coarse_margin
    outer_low = np.where(either, np.minimum(*lows), np.where(places < 0, *lows))
    outer_high = np.where(either, np.maximum(*highs), np.where(places < 0, *highs))
    sums = [0.0, 0.0]
    for row in range(len(share)):
        if row % 64 == 0 and limits.expired():
            return unknown
        for which, (low, high, by) in enumerate(
            ((inner_low, inner_high, -margin), (outer_low, outer_high, margin))
        ):
            if low[row] <= high[row] and not (which == 0 and either[row]):
                from_, to = (_moved(np.full(len(others), end[row]), -shift) for end in (low, high))
                from_, to = (np.where(np.abs(end) >= FAR // 2, end, end - others) for end in (from_, to))
                sums[which] += float(share[row] @ rest.between(grid, from_, to, by))
    every = prod(1 + 2 * len(tables.values[i]) for i in sensitive) * prod(
        len(tables.options[i]) for i in rest.attributes
    )
    spare = Fraction(beyond + 2 * coarse_beyond + rest.lost + lost + 3 * _ROUNDING)
    lower = max(0, ceil(every * (Fraction(sums[0]) - spare)))
    upper = min(unknown.upper, floor(every * (Fraction(sums[1]) + spare)))
    return PatternCount(lower, upper, None if lower == upper else unknown.reason, ())


def _without_tails(shares: Floats) -> slice:
    """Where the shares stand that are left when at most `_TAIL` of all is cut off at either end."""
    start = int(np.searchsorted(np.cumsum(shares), _TAIL))
    stop = len(shares) - int(np.searchsorted(np.cumsum(shares[::-1]), _TAIL))
    return slice(start, max(start + 1, stop))
