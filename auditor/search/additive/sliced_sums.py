"""The sums nearest a target where the halves are too long to be listed: slice by slice.

Each half is held as the sums of two quarters, so that those of its sums that lie in a slice of values are
made when they are asked for. A slice of the first half meets the slice of the second that makes up for it,
and both are sorted together: sums near the target are neighbours. Time goes with the length of the halves,
memory with that of the quarters (Schroeppel and Shamir, 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod

import numpy as np

from auditor.search.additive.log_odds import Integers
from auditor.search.additive.subset_sums import Choice, sums

#: Sums of both halves that are sorted together, and the longest list of a quarter.
_SLICE, _QUARTER = 1 << 19, 1 << 16
#: Sums of a slice above which the search gives up: too many are equal.
_MOST = 1 << 21
#: Width of a slice that still has a bit to spare.
_FAR = 1 << 61
#: Pairs of neighbours in a slice, and pairs kept, above which the search gives up: more tie than are wanted.
_NEIGHBOURS, _CROWD = 1 << 20, 1 << 14
#: How many times as many pairs as are wanted the first distance is to leave.
_SPARE = 4


class Sliced:
    """All sums of one entry of each row, in two halves that are never listed whole.

    Attributes
    ----------
    length : int
        Sums in both halves together: what one search goes through.
    """

    def __init__(self, rows: Sequence[Integers]) -> None:
        first, second = _dealt(range(len(rows)), [len(row) for row in rows])
        self._first, self._second = _Half(rows, first), _Half(rows, second)
        self.length = self._first.length + self._second.length

    @property
    def possible(self) -> bool:
        """Whether the quarters can be listed."""
        return max(self._first.longest, self._second.longest) <= _QUARTER

    def nearest(
        self, target: int, k: int, slack: int, expired: Callable[[], bool]
    ) -> list[tuple[int, Choice]] | None:
        """All sums within ``slack`` of the distance of the k-th nearest, the nearest first, with distances.

        Returns
        -------
        list of (int, Choice) or None
            None where time is up, where there are fewer than k, or where too many are as near.
        """
        farthest = max(
            target - self._first.low - self._second.low, self._first.high + self._second.high - target
        )
        pairs, radius = np.empty((0, 2), dtype=np.int64), -1
        for low, high, ours, theirs in self._slices(target, expired):
            if radius >= 0:
                found = self._within(target, low, high, radius, expired)
            else:
                # As far as some pairs are to be expected, and further until there are.
                width = min(1 + _SPARE * k * (high - low) // (2 * ours * theirs + 1), farthest)
                found = self._within(target, low, high, width + slack, expired)
                while found is not None and width < farthest and _kth(target, found, k) > width:
                    width = min(4 * width, farthest)
                    found = self._within(target, low, high, width + slack, expired)
            if found is None:
                return None
            pairs = np.concatenate([pairs, found])
            if len(pairs) >= k:
                radius = int(_kth(target, pairs, k)) + slack
                pairs = pairs[_distances(target, pairs) <= radius]
            if len(pairs) > _CROWD:
                return None
        return self._decoded(target, pairs) if radius >= 0 else None

    def _slices(self, target: int, expired: Callable[[], bool]) -> list[tuple[int, int, int, int]]:
        """Slices ``[low, high)`` of the first half that cover it, with the numbers of sums that meet there.

        That in which most pairs meet comes first, so that the distance wanted is soon known. None where time
        is up.
        """
        cover, todo = [], [(self._first.low, self._first.high + 1)]
        while todo:
            if expired():
                return []
            low, high = todo.pop()
            ours = self._first.number(low, high)
            theirs = self._second.number(target - high + 1, target - low + 1)
            if ours and ours + theirs > _SLICE and high - low > 1:
                middle = (low + high) // 2
                todo += [(low, middle), (middle, high)]
            elif ours:
                cover.append((low, high, ours, theirs))
        return sorted(cover, key=lambda piece: (-piece[2] * piece[3] / (piece[1] - piece[0]), piece[0]))

    def _within(
        self, target: int, low: int, high: int, radius: int, expired: Callable[[], bool]
    ) -> Integers | None:
        """The pairs of a sum of the first half in a slice and one of the second that meet within a radius.

        Returns
        -------
        array of int, shape (pairs, 2), or None
            Both sums, once for each choice that makes them; None where there are too many, or time is up.
        """
        if expired():
            return None
        theirs = self._second.between(target - high - radius + 1, target - low + radius + 1)
        if not len(theirs):
            return np.empty((0, 2), dtype=np.int64)
        ours = self._first.between(low, high)
        start = min(low, target - int(theirs.max()))
        if len(ours) + len(theirs) > _MOST or max(high, target - int(theirs.min())) - start > _FAR:
            return None
        # The last bit tells from which half a sum is.
        ours -= start
        ours <<= 1
        theirs -= target - start
        theirs *= -2
        theirs |= 1
        offsets = np.concatenate([ours, theirs])
        offsets.sort()
        place = np.flatnonzero(offsets[1:] - offsets[:-1] <= 2 * radius + 1)
        found, met, step = [], 0, 1
        while len(place):
            met += len(place)
            if met > _NEIGHBOURS:
                return None
            low_end, high_end = offsets[place], offsets[place + step]
            cross = (low_end ^ high_end) & 1 > 0
            ours = np.where(low_end & 1, high_end, low_end)[cross] >> 1
            theirs = np.where(low_end & 1, low_end, high_end)[cross] >> 1
            near = np.abs(ours - theirs) <= radius
            found.append(np.column_stack([ours + start, target - start - theirs])[near])
            step += 1
            place = place[place + step < len(offsets)]
            place = place[offsets[place + step] - offsets[place] <= 2 * radius + 1]
        return np.concatenate([np.empty((0, 2), dtype=np.int64), *found])

    def _decoded(self, target: int, pairs: Integers) -> list[tuple[int, Choice]]:
        """Every choice whose sums are among the pairs, with its distance."""
        different = np.unique(pairs, axis=0)
        ours = {total: self._first.choices(total) for total in set(different[:, 0].tolist())}
        theirs = {total: self._second.choices(total) for total in set(different[:, 1].tolist())}
        order = np.argsort(self._first.rows + self._second.rows).tolist()
        found = []
        for a, b in different.tolist():
            for one in ours[a]:
                for other in theirs[b]:
                    whole = one + other
                    found.append((abs(a + b - target), tuple(whole[i] for i in order)))
        return sorted(found)


class _Half:
    """The sums of some rows, as those of two quarters."""

    def __init__(self, rows: Sequence[Integers], chosen: Sequence[int]) -> None:
        sizes = [len(row) for row in rows]
        parts = _dealt(chosen, sizes)
        #: Which rows, in the order of choices.
        self.rows = [*parts[0], *parts[1]]
        self._sizes = [[sizes[i] for i in part] for part in parts]
        lengths = [prod(of) for of in self._sizes]
        self.length, self.longest = lengths[0] * lengths[1], max(lengths)
        self._first = self._second = self._sorted = np.zeros(0, dtype=np.int64)
        if self.longest <= _QUARTER:
            self._first, self._second = (sums([rows[i] for i in part]) for part in parts)
            self._order = np.argsort(self._second, kind="stable")
            self._sorted = self._second[self._order]
            # What a sum of the first quarter leaves for the second then rises.
            self._falling = np.sort(self._first)[::-1]
            self.low = int(self._falling[-1] + self._sorted[0])
            self.high = int(self._falling[0] + self._sorted[-1])

    def _ends(self, low: int, high: int) -> tuple[Integers, Integers]:
        """Per sum of the first quarter, which of the second make a sum in ``[low, high)`` with it."""
        start, stop = (
            np.searchsorted(self._sorted, min(max(end, self.low), self.high + 1) - self._falling)
            for end in (low, high)
        )
        return start, stop

    def number(self, low: int, high: int) -> int:
        """How many sums there are in ``[low, high)``."""
        start, stop = self._ends(low, high)
        return int((stop - start).sum())

    def between(self, low: int, high: int) -> Integers:
        """The sums in ``[low, high)``, in no order."""
        start, stop = self._ends(low, high)
        counts = stop - start
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1])) + np.repeat(start - ends + counts, counts)
        found: Integers = self._sorted[places]
        found += np.repeat(self._falling, counts)
        return found

    def choices(self, total: int) -> list[Choice]:
        """The choices that make a sum."""
        start, stop = (np.searchsorted(self._sorted, total - self._first, side) for side in ("left", "right"))
        found = []
        for place in np.flatnonzero(stop > start).tolist():
            one = np.unravel_index(place, self._sizes[0]) if self._sizes[0] else ()
            for other in self._order[start[place] : stop[place]].tolist():
                second = np.unravel_index(other, self._sizes[1]) if self._sizes[1] else ()
                found.append(tuple(map(int, (*one, *second))))
        return found


def _dealt(chosen: Sequence[int], sizes: Sequence[int]) -> tuple[list[int], list[int]]:
    """Rows in two parts with about as many sums each."""
    parts: tuple[list[int], list[int]] = ([], [])
    lengths = [1, 1]
    for i in sorted(chosen, key=lambda i: (-sizes[i], i)):
        less = int(lengths[1] < lengths[0])
        parts[less].append(i)
        lengths[less] *= sizes[i]
    return parts


def _distances(target: int, pairs: Integers) -> Integers:
    distances: Integers = np.abs(pairs.sum(axis=1) - target)
    return distances


def _kth(target: int, pairs: Integers, k: int) -> float:
    """The k-th smallest distance; infinite where there are fewer."""
    distances = _distances(target, pairs)
    return int(np.partition(distances, k - 1)[k - 1]) if len(distances) >= k else inf
