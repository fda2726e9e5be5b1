"""Sums of intervals: one option of each row is taken, and the sum that meets a target best is asked for.

A row is what one attribute can add to the log-odds where its own are only known to lie in intervals: ``[0,
0]`` for "not disclosed", then ``[l, h]`` for each value. As in `subset_sums` the rows are split in two halves
whose sums are listed; the second half is sorted, with prefix or suffix extrema beside it, and bisected for
the sums of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor.search.additive.log_odds import FAR, Integers
from auditor.search.additive.subset_sums import Choice, choice_at, sums

#: Sums that may tie with the best before listing all of them is given up.
_TIES = 256


@dataclass(frozen=True, eq=False)
class Row:
    """What one attribute can add: the lower and the upper ends of its options, in units."""

    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.low)

    @property
    def spread(self) -> int:
        """How far its options lie apart."""
        return int(self.high.max()) - int(self.low.min())


@dataclass(frozen=True)
class Met:
    """The choices of options that meet a target best, of all rows, in their order."""

    choices: list[Choice]
    complete: bool
    """Whether no choice is missing that misses the target by as little, to within rounding."""
    miss: int | None
    """No choice at all misses the target by less; None where that isn't known."""


def meet(
    rows: Sequence[Row], start: tuple[int, int], target: int, slack: int, longest: int, *, certain: bool
) -> Met:
    """The choices whose sum ``[G0, G1]`` meets a target best, and all within ``2 slack`` of the best.

    Parameters
    ----------
    start : (int, int)
        The interval to which the options are added.
    slack : int
        Units within which a sum is of the truth.
    longest : int
        Length of each half's list. Where the rows are too many for it, some are fixed so that the target
        stays within reach, and the result isn't complete.
    certain : bool
        False: the sum is to contain the target, or an end of it to be nearest; the miss is ``max(0, G0 - t, t
        - G1)``. True: both ends are to be near; the miss is ``max(|G0 - t|, |G1 - t|)``.
    """
    first, second, fixed = _split(rows, start, target, longest)
    low, high = start
    for i, option in fixed.items():
        low, high = low + int(rows[i].low[option]), high + int(rows[i].high[option])
    halves = _Halves([rows[i] for i in first], [rows[i] for i in second], (low, high))
    pairs, complete, miss = (halves.nearest if certain else halves.containing)(target, 2 * slack)
    choices = []
    for a, b in pairs:
        chosen = dict(fixed)
        chosen.update(zip(first, choice_at([rows[i].low for i in first], a), strict=True))
        chosen.update(zip(second, choice_at([rows[i].low for i in second], b), strict=True))
        choices.append(tuple(chosen[i] for i in range(len(rows))))
    return Met(choices, complete and not fixed, None if fixed else miss)


def _split(
    rows: Sequence[Row], start: tuple[int, int], target: int, longest: int
) -> tuple[list[int], list[int], dict[int, int]]:
    """The rows of both halves, those that spread most, and the options of the others."""
    order = sorted(range(len(rows)), key=lambda i: (-rows[i].spread, i))
    halves: tuple[list[int], list[int]] = ([], [])
    left: list[int] = []
    lengths = [1, 1]
    for i in order:
        shorter = int(lengths[1] < lengths[0])
        if lengths[shorter] * len(rows[i]) > longest:
            left.append(i)
            continue
        halves[shorter].append(i)
        lengths[shorter] *= len(rows[i])
    listed = [rows[i] for half in halves for i in half]
    least = start[0] + sum(int(row.low.min()) for row in listed)
    most = start[1] + sum(int(row.high.max()) for row in listed)
    fixed: dict[int, int] = {}
    for i in left:
        row = rows[i]
        # The narrowest option, unless the target would be out of reach.
        option = int((row.high - row.low).argmin())
        if most < target:
            option = int(row.high.argmax())
        elif least > target:
            option = int(row.low.argmin())
        least, most = least + int(row.low[option]), most + int(row.high[option])
        fixed[i] = option
    return halves[0], halves[1], fixed


class _Halves:
    """Two listed halves, the sums of the first with the start added and falling."""

    def __init__(self, first: Sequence[Row], second: Sequence[Row], start: tuple[int, int]) -> None:
        low = sums([row.low for row in first]) + start[0]
        self._first_order = np.argsort(-low, kind="stable")
        self._low = low[self._first_order]
        self._high = (sums([row.high for row in first]) + start[1])[self._first_order]
        self._second_low = sums([row.low for row in second])
        self._second_high = sums([row.high for row in second])

    def containing(self, target: int, slack: int) -> tuple[list[tuple[int, int]], bool, int]:
        """Pairs of indices whose sum contains the target or comes nearest; if these are all; the miss."""
        order = np.argsort(self._second_low, kind="stable")
        low, high = self._second_low[order], self._second_high[order]
        reach = np.maximum.accumulate(high)
        # A pair up to `at` begins at or below the target, and misses it, if at all, from below.
        at = np.searchsorted(low, target - self._low, side="right")
        below, above = np.full(len(at), FAR), np.full(len(at), FAR)
        some = at > 0
        below[some] = target - self._high[some] - reach[at[some] - 1]
        some = at < len(low)
        above[some] = self._low[some] + low[at[some]] - target
        deepest = int(below.argmin())
        if below[deepest] < -slack:
            inside = int(high[: at[deepest]].argmax())
            if int(self._low[deepest]) + int(low[inside]) <= target - slack:
                # Well inside: nothing is better.
                return [(int(self._first_order[deepest]), int(order[inside]))], True, 0
        off = np.minimum(below, above).clip(0)
        miss = int(off.min())
        radius = miss + slack
        pairs: list[tuple[int, int]] = []
        for row in np.flatnonzero(off <= radius).tolist():
            stop = int(np.searchsorted(low, target - self._low[row] + radius, side="right"))
            hits = np.flatnonzero(high[:stop] >= target - self._high[row] - radius)
            pairs += [(int(self._first_order[row]), int(order[j])) for j in hits[: _TIES + 1]]
            if len(pairs) > _TIES:
                return pairs[:_TIES], False, miss
        return pairs, True, miss

    def nearest(self, target: int, slack: int) -> tuple[list[tuple[int, int]], bool, int]:
        """Pairs of indices whose ends both come nearest the target; if these are all; the miss."""
        middle = self._second_low + self._second_high
        order = np.argsort(middle, kind="stable")
        middle, low, high = middle[order], self._second_low[order], self._second_high[order]
        greatest = np.maximum.accumulate(low)
        least = np.minimum.accumulate(high[::-1])[::-1]
        # Up to `at` a pair's lower end is the farther one, from there its upper end.
        at = np.searchsorted(middle, 2 * target - self._low - self._high, side="right")
        below, above = np.full(len(at), FAR), np.full(len(at), FAR)
        some = at > 0
        below[some] = target - self._low[some] - greatest[at[some] - 1]
        some = at < len(low)
        above[some] = self._high[some] + least[at[some]] - target
        least_miss = np.minimum(below, above)
        miss = int(least_miss.min())
        radius = miss + slack
        pairs: list[tuple[int, int]] = []
        for row in np.flatnonzero(least_miss <= radius).tolist():
            off = np.maximum(target - self._low[row] - low, self._high[row] + high - target)
            hits = np.flatnonzero(off <= radius)
            pairs += [(int(self._first_order[row]), int(order[j])) for j in hits[: _TIES + 1]]
            if len(pairs) > _TIES:
                return pairs[:_TIES], False, miss
        return pairs, True, miss
