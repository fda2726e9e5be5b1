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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, log, prod, sqrt

import numpy as np

from auditor.search.additive.combinations import total_combinations
from auditor.search.additive.counting import (
    Coverage,
    PatternCount,
    ends_of,
    is_closed,
    pairs_over,
    strengths_over,
)
from auditor.search.additive.log_odds import FAR, Floats, Integers, LogOdds
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits

#: Cells of the grid at least and at most.
_CELLS = 1 << 18, 1 << 22
#: Share of contexts whose rounding error may be above the one allowed for.
_SHARE = 1e-9
#: Share of the sums that is left out at either end whenever an attribute is added.
_TAIL = 1e-13
#: Combinations x whose intervals are looked up, and sets X of them.
_COMBINATIONS, _SETS = 1 << 22, 1 << 12
#: Error of a share on the grid, a sum of at most 2^22 positive floats.
_ROUNDING = 2e-9


def enclosed_count(tables: LogOdds, criterion: Criterion, limits: Limits, reason: str) -> PatternCount:
    """Enclose the number of discrimination patterns, set of attributes by set.

    Parameters
    ----------
    tables : LogOdds
    criterion : Criterion
    limits : Limits
    reason : str
        Why they are not counted exactly.
    """
    unknown = PatternCount(0, tables.total_patterns(), reason, ())
    if total_combinations(tables) > _COMBINATIONS or 1 << len(tables.sensitive) > _SETS:
        return unknown
    grid = _Grid.of(tables)
    found: dict[tuple[int, ...], Coverage] = {}
    for disclosed, distribution in _distributions(tables, grid):
        if limits.expired():
            return unknown
        if disclosed:
            found[disclosed] = _coverage(tables, criterion, grid, disclosed, distribution)
    coverage = tuple(
        found[disclosed]
        for size in range(1, len(tables.sensitive) + 1)
        for disclosed in combinations(tables.sensitive, size)
    )
    lower, upper = sum(entry.lower for entry in coverage), sum(entry.upper for entry in coverage)
    return PatternCount(lower, upper, None if lower == upper else reason, coverage)


@dataclass(frozen=True)
class _Grid:
    """Each attribute's options on the grid.

    Attributes
    ----------
    width : int
        Of a cell, in units of the tables.
    steps : tuple of array of int
        Per attribute how many cells each option moves the sum.
    middle, mean, spread : tuple of int
        Per attribute the middle of the range of its rounding errors, their mean, and the width of that range,
        in units.
    """

    width: int
    steps: tuple[Integers, ...]
    middle: tuple[int, ...]
    mean: tuple[int, ...]
    spread: tuple[int, ...]

    @classmethod
    def of(cls, tables: LogOdds) -> _Grid:
        low, high = tables.full_reach
        attributes = len(tables.values)
        cells = min(_CELLS[1], max(_CELLS[0], 100 * attributes * attributes))
        width = 1 + (high - low) // cells
        steps, middle, mean, spread = [], [], [], []
        for options in tables.options:
            moved = (options + width // 2) // width
            errors = options - moved * width
            steps.append(moved)
            middle.append(int(errors.min() + errors.max()) // 2)
            mean.append(int(errors.sum()) // len(errors))
            spread.append(int(errors.max() - errors.min()) + 2)
        return cls(width, tuple(steps), tuple(middle), tuple(mean), tuple(spread))


@dataclass(frozen=True)
class _Distribution:
    """The sums of some attributes' options.

    Attributes
    ----------
    start : int
        Sum on the grid of the first cell, in cells.
    share : array
        Share of all choices in each cell.
    attributes : tuple of int
    lost : float
        Share of those that lie so far out that they were left out.
    """

    start: int
    share: Floats
    attributes: tuple[int, ...]
    lost: float = 0.0

    def adding(self, grid: _Grid, attribute: int) -> _Distribution:
        """The sums with one attribute more."""
        steps = grid.steps[attribute]
        low, high = int(steps.min()), int(steps.max())
        share = np.zeros(len(self.share) + high - low)
        for step in steps.tolist():
            share[step - low : step - low + len(self.share)] += self.share
        share /= len(steps)
        first = int(np.searchsorted(np.cumsum(share), _TAIL))
        last = len(share) - int(np.searchsorted(np.cumsum(share[::-1]), _TAIL))
        return _Distribution(
            self.start + low + first,
            share[first:last],
            (*self.attributes, attribute),
            self.lost + 2 * _TAIL,
        )


def _distributions(tables: LogOdds, grid: _Grid) -> Iterator[tuple[tuple[int, ...], _Distribution]]:
    """For each set X of sensitive attributes, the sums of all attributes outside X."""
    everything = _Distribution(0, np.ones(1), ())
    for i in range(len(tables.values)):
        if i not in tables.sensitive:
            everything = everything.adding(grid, i)
    # The attributes before a place are decided: in X, or added. What they share is added once.
    pending: list[tuple[int, tuple[int, ...], _Distribution]] = [(0, (), everything)]
    while pending:
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
    worst = sum(grid.spread[i] for i in outside) / 2
    usual = sqrt(sum(grid.spread[i] ** 2 for i in outside) * log(2 / _SHARE) / 2)
    error, centre, beyond = (usual, grid.mean, _SHARE) if usual < worst else (worst, grid.middle, 0.0)
    shift = sum(centre[i] for i in outside)
    allowed = ceil(error) + len(outside) + 2
    below = np.concatenate([[0.0], np.cumsum(distribution.share)])

    def cells(sums: Integers, *, up: bool) -> Integers:
        """The first cell whose sums are at least these, or the first that are above."""
        at = -(-(sums - shift) // grid.width) if up else (sums - shift) // grid.width + 1
        result: Integers = np.clip(at - distribution.start, 0, len(distribution.share))
        return result

    def share(first: Integers, last: Integers) -> float:
        return float(np.maximum(below[last] - below[first], 0).sum())

    def moved(sums: Integers, by: int) -> Integers:
        return np.where(np.abs(sums) >= FAR // 2, sums, sums + by)

    inner = share(cells(moved(ends[1], allowed), up=True), cells(moved(ends[2], -allowed), up=False))
    outer = share(cells(moved(ends[0], -allowed), up=True), cells(moved(ends[3], allowed), up=False))
    contexts = prod(len(tables.options[i]) for i in outside)
    spare = len(strength) * (beyond + distribution.lost + _ROUNDING)
    return Coverage(
        disclosed=disclosed,
        method="enclosed",
        pairs=pairs,
        lower=max(0, ceil(contexts * (Fraction(inner) - Fraction(spare)))),
        upper=min(pairs, floor(contexts * (Fraction(outer) + Fraction(spare)))),
    )
