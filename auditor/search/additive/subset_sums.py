"""Subset sums of log-odds: one option of each row is taken, and the sums are asked for.

A row is what one attribute can add: 0 for "not disclosed", then its λ. The sums of all rows are never listed.
The rows are split in two halves whose sums are; the second half is sorted and bisected for each sum of the
first (meet in the middle), which takes the square root of the space.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import comb, inf, log, prod

import numpy as np
import numpy.typing as npt

from auditor.search.additive.log_odds import FAR, Integers
from auditor.search.limits import Limits

#: Length of each half's list where the rows are too many for all of them to be split in two listed halves.
_SHORT = 1 << 16
#: Sums that may tie with the last one wanted before the search for the nearest gives up listing all of them.
_TIES = 1 << 13
#: Pairs of a sum and an entry of a half that are bisected for together.
_AT_ONCE = 1 << 20
#: Steps from the start of a cell of the table of places, after which the rest is bisected for; cells for each
#: sum, as a power of two; sums at a time as that is made.
_STEPS, _SPARSE, _PIECE = 8, 1, 1 << 15
#: Places up to which it is worth listing fewer first rows, the more places there are.
_MANY = 1 << 10
#: Leaves of the search for the nearest sums, where rows had to be fixed.
_LEAVES = 64

Choice = tuple[int, ...]


def sums(rows: Sequence[Integers]) -> Integers:
    """All sums of one entry of each row, the last row varying fastest; shape ``(prod of lengths,)``."""
    return reduce(lambda total, row: (total[:, None] + row).ravel(), rows, np.zeros(1, dtype=np.int64))


def choice_at(rows: Sequence[Integers], index: int) -> Choice:
    """The entries whose sum stands at an index of `sums`."""
    choice = []
    for row in reversed(rows):
        index, entry = divmod(index, len(row))
        choice.append(entry)
    return tuple(reversed(choice))


def halves(sizes: Sequence[int], longest: int, times: int = 1) -> int:
    """How many of the first rows make the sorted half: the fewest whose list is as long as the others'.

    Parameters
    ----------
    times : int
        As which part of the others' it is enough to be long.
    """
    first, rest, split = 1, prod(sizes), 0
    while split < len(sizes) and first * times < rest and first * sizes[split] <= longest:
        first *= sizes[split]
        rest //= sizes[split]
        split += 1
    return split


@dataclass(frozen=True)
class Nearest:
    """The sums nearest a target."""

    choices: list[Choice]
    """Every choice that can be among the k nearest, given the slack; and a few more."""
    complete: bool
    """Whether none is missing."""
    gap: int
    """No sum that is missing is nearer to the target than this."""


def nearest(
    rows: Sequence[Integers],
    target: int | float,
    k: int,
    slack: int,
    enough: int,
    limits: Limits,
    leaves: Leaves,
) -> Nearest:
    """The k sums nearest a target, and all that are within ``2 slack`` of the k-th.

    Parameters
    ----------
    target : int or ±inf
        With ∓inf, the least or greatest sums.
    slack : int
        Units within which a sum is of the truth.
    enough : int
        Where the rows are too many to be searched whole, a distance so small that a nearer sum would not
        matter.
    leaves : dict
        Keeps the halves that were listed last, for other targets.
    """
    if not all(len(row) for row in rows):
        return Nearest([], True, 0)
    if target == -inf:
        target = sum(int(row.min()) for row in rows)
    elif target == inf:
        target = sum(int(row.max()) for row in rows)
    goal = int(target)
    fixed, free = _fixed(rows, limits.entries)
    free_rows = [rows[i] for i in free]
    key = tuple(row.tobytes() for row in free_rows)
    if key not in leaves:
        split = halves([len(row) for row in free_rows], limits.entries)
        while sum(len(kept) for kept in leaves.values()) > limits.entries:
            del leaves[next(iter(leaves))]
        leaves[key] = _Leaf(free_rows[split:], free_rows[:split])
    leaf = leaves[key]
    found: list[tuple[int, Choice]] = []
    radius = -1  # distance of the k-th nearest; -1 until k are known

    fixed_rows = [rows[i] for i in fixed]
    low, high = [leaf.low], [leaf.high]
    for row in reversed(fixed_rows):
        low.insert(0, low[0] + int(row.min()))
        high.insert(0, high[0] + int(row.max()))
    heap: list[tuple[int, int, int, Choice, int]] = [(0, 0, 0, (), 0)]
    searched = 0
    complete, gap = True, 0
    while heap:
        distance, _, _, prefix, total = heapq.heappop(heap)
        if 0 <= radius < distance - 2 * slack:
            break
        depth = len(prefix)
        if depth == len(fixed_rows):
            within = radius + 2 * slack if radius >= 0 else None
            listed, overflow = leaf.nearest(goal - total, k, 2 * slack, within)
            if overflow is not None:
                complete, gap = False, overflow
            found += [(d, prefix + choice) for d, choice in listed]
            found.sort()
            if len(found) >= k:
                radius = found[k - 1][0]
                found = [entry for entry in found if entry[0] <= radius + 2 * slack]
            if len(found) > k + _TIES:
                del found[k + _TIES :]
                complete, gap = False, found[0][0]
            searched += 1
            if heap and (searched >= _LEAVES or 0 <= radius <= enough or limits.expired()):
                complete, gap = False, min(heap[0][0], radius) if radius >= 0 else heap[0][0]
                break
            continue
        for entry, value in enumerate(fixed_rows[depth].tolist()):
            child = total + value
            least, most = child + low[depth + 1], child + high[depth + 1]
            off_reach = max(0, least - goal, goal - most)
            off_centre = abs(least + most - 2 * goal)
            # Deepest first among equals, so that a first leaf is reached at once.
            heapq.heappush(heap, (off_reach, -depth, off_centre, (*prefix, entry), child))
    choices = [choice for _, choice in found]
    if fixed:
        order = np.argsort(fixed + free).tolist()
        choices = [tuple(choice[i] for i in order) for choice in choices]
    return Nearest(choices, complete, gap)


def _fixed(rows: Sequence[Integers], longest: int) -> tuple[list[int], list[int]]:
    """Indices of the rows to branch on, those that spread most first, and of those to list in halves.

    Where not all can be listed, the listed ones are different rows of all spreads, whose sums lie densest.
    """
    everything = list(range(len(rows)))
    if prod(len(row) for row in rows) <= longest * longest:
        return [], everything

    def spread(i: int) -> int:
        return int(rows[i].max()) - int(rows[i].min())

    distinct = sorted({row.tobytes(): i for i, row in reversed([*enumerate(rows)])}.values(), key=spread)
    free: list[int] = []
    fit = int(2 * log(_SHORT) * len(distinct) / sum(log(len(rows[i])) for i in distinct))
    for i in distinct[:: max(1, len(distinct) // fit)]:
        if prod(len(rows[j]) for j in (*free, i)) > _SHORT * _SHORT:
            break
        free.append(i)
    free.sort()
    return sorted(set(everything) - set(free), key=spread, reverse=True), free


class Alike:
    """Rows of which those that are the same are merged into one, so that equal sums are met once.

    Parameters
    ----------
    kinds : sequence of int
        Rows are the same only where these are.

    Attributes
    ----------
    rows : list of arrays
        An entry of a merged row is what some number of times each entry of the single row adds up to.
    """

    def __init__(self, rows: Sequence[Integers], kinds: Sequence[int]) -> None:
        groups: dict[int, list[int]] = {}
        for i, kind in enumerate(kinds):
            groups.setdefault(kind, []).append(i)
        self._length = len(rows)
        #: Per merged row the rows in it, and how often each entry is taken; None of a single one.
        self._merged: list[tuple[list[int], Integers | None]] = []
        self.rows: list[Integers] = []
        parts: list[list[int]] = []
        for group in groups.values():
            row = rows[group[0]]
            # Of a row with equal entries many merged ones would tie, and each would be looked at by itself.
            distinct = len(group) > 1 and 0 < len(row) == len(np.unique(row))
            few = distinct and comb(len(group) + len(row) - 1, len(group)) <= _SHORT
            parts += [group] if few else [[i] for i in group]
        for part in sorted(parts):
            row = rows[part[0]]
            times = _multisets(len(part), len(row)) if len(part) > 1 else None
            self._merged.append((part, times))
            self.rows.append(row if times is None else times @ row)

    @property
    def merges(self) -> bool:
        """Whether any two rows are merged; if not, the rows are those given, in their order."""
        return len(self.rows) < self._length

    def choices(self, choice: Choice, unused: int | None) -> Iterator[Choice]:
        """Every choice from single rows that one from merged rows stands for.

        Parameters
        ----------
        unused : int or None
            The entry that comes last among those of a row; with the others the rising ones come first.
        """
        if not self.merges:
            yield choice
            return
        whole = [0] * self._length
        left: dict[int, list[int]] = {}
        for (group, times), entry in zip(self._merged, choice, strict=True):
            if times is None:
                whole[group[0]] = entry
            else:
                left |= dict.fromkeys(group, times[entry].tolist())
        merged = sorted(left)
        for entries in arranged([left[i] for i in merged], unused):
            for i, one in zip(merged, entries, strict=True):
                whole[i] = one
            yield tuple(whole)


def arranged(left: Sequence[list[int]], unused: int | None) -> Iterator[tuple[int, ...]]:
    """Every way to give each place one of its entries, of which there are so many left.

    Parameters
    ----------
    left : sequence of list of int
        Per place how many of each entry are left to it and to the places that share the list; as many in all
        as there are places.
    unused : int or None
        The entry that comes last among those of a place; with the others the rising ones come first.
    """

    def entries(place: int) -> Iterator[int]:
        return iter(sorted(range(len(left[place])), key=lambda entry: (entry == unused, entry)))

    if not left:
        yield ()
        return
    # Depth first, one place after another, without recursion: there may be a thousand.
    open_places, chosen = [entries(0)], list[int]()
    while open_places:
        place = len(open_places) - 1
        shared = left[place]
        if len(chosen) > place:
            shared[chosen.pop()] += 1
        entry = next((entry for entry in open_places[-1] if shared[entry]), -1)
        if entry < 0:
            open_places.pop()
            continue
        shared[entry] -= 1
        chosen.append(entry)
        if len(chosen) < len(left):
            open_places.append(entries(place + 1))
        else:
            yield tuple(chosen)


def _multisets(size: int, entries: int) -> Integers:
    """How often each entry is in each multiset of a size, by where bars stand among stars."""
    bars = np.array(list(combinations(range(size + entries - 1), entries - 1)), dtype=np.int64)
    bars = bars.reshape(comb(size + entries - 1, size), entries - 1)
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), size + entries - 1)
    return np.diff(np.hstack([ends[0], bars, ends[1]])) - 1


class SortedSums:
    """All sums of one entry of each row, in order; which choice made one is worked out when it is asked for.

    Sorting the sums alone is many times faster than keeping track of where each stood.

    Attributes
    ----------
    sums : array of int, shape (prod of lengths,)
    """

    def __init__(self, rows: Sequence[Integers]) -> None:
        self._rows = rows
        total = np.zeros(1, dtype=np.int64)
        # Runs that rise are merged, in half the time that it takes to sort them anew; the fewest at the end.
        for row in sorted(rows, key=len, reverse=True):
            total = (row[:, None] + total).ravel()
            total.sort(kind="stable")
        self.sums = total
        self._parts: dict[int, tuple[Integers, Integers, Integers]] = {}

    def below(self, bounds: Integers) -> Integers:
        """How many sums are below each bound; a third of the time of bisecting for many that rise."""
        low, shift, starts = self._cells
        cells = bounds - low
        cells >>= shift
        # Below the first cell there is nothing, as there is in it.
        places = starts.take(cells, mode="clip").astype(np.int64)
        left = np.flatnonzero(self.sums.take(places, mode="clip") < bounds)
        left = left[places[left] < len(self.sums)]
        for _ in range(_STEPS):
            if not len(left):
                return places
            places[left] += 1
            left = left[places[left] < len(self.sums)]
            left = left[self.sums.take(places[left]) < bounds[left]]
        places[left] = np.searchsorted(self.sums, bounds[left])
        return places

    @cached_property
    def _cells(self) -> tuple[int, int, npt.NDArray[np.int32]]:
        """The least sum, the width of a cell as a power of two, and how many sums come before each cell."""
        low, span = int(self.sums[0]), int(self.sums[-1] - self.sums[0]) + 1
        shift = max(0, span.bit_length() - len(self.sums).bit_length() - _SPARSE)
        starts = np.zeros((span >> shift) + 3, dtype=np.int32)
        for piece in range(0, len(self.sums), _PIECE):
            cells = (self.sums[piece : piece + _PIECE] - low) >> shift
            first, numbers = int(cells[0]), np.bincount(cells - cells[0])
            starts[1 + first : 1 + first + len(numbers)] += numbers.astype(np.int32)
        return low, shift, np.cumsum(starts, out=starts, dtype=np.int32)

    def choices(self, places: Integers) -> list[Choice]:
        """The choices whose sums stand at some places; those of equal sums in the order of `sums`."""
        if not self._rows:
            return [()] * len(places)
        sizes = [len(row) for row in self._rows]
        found: list[Choice] = []
        # Each place costs a look at every sum of the first rows, and those of the others are sorted once.
        split = halves(sizes, len(self.sums), min(max(1, len(places)), _MANY))
        parts = self._parts[split] = self._parts.get(split) or self._in_parts(split)
        at_once = max(1, _AT_ONCE // len(parts[0]))
        for start in range(0, len(places), at_once):
            indices = self._indices(places[start : start + at_once], parts)
            found += zip(*(entries.tolist() for entries in np.unravel_index(indices, sizes)), strict=True)
        return found

    def _indices(self, places: Integers, parts: tuple[Integers, Integers, Integers]) -> Integers:
        """Where sums stand in the list of `sums`, which isn't made again: only those of its parts are."""
        first, second, order = parts
        totals = self.sums[places]
        wanted = totals[:, None] - first
        starts = np.searchsorted(second, wanted)
        # Few are there at all, and only of these it is asked how often.
        there = second.take(starts, mode="clip") == wanted
        ends = np.zeros_like(starts)
        ends[there] = np.searchsorted(second, wanted[there], side="right") - starts[there]
        np.cumsum(ends, axis=1, out=ends)
        # Of those that tie, the one that stands as far behind the first as its place.
        behind = places - np.searchsorted(self.sums, totals)
        row = (ends <= behind[:, None]).sum(axis=1)
        at = np.arange(len(places))
        before = np.where(row > 0, ends[at, row - 1], 0)
        result: Integers = row * len(second) + order[starts[at, row] + behind - before]
        return result

    def _in_parts(self, split: int) -> tuple[Integers, Integers, Integers]:
        """The sums of the first rows, those of the others sorted, and where each of these stood unsorted."""
        others = sums(self._rows[split:])
        order = np.argsort(others, kind="stable")
        return sums(self._rows[:split]), others[order], order


class _Leaf:
    """Two listed, sorted halves; the first falls, so that what it leaves for the second rises.

    Bisecting one sorted list for another touches memory in order, which is several times faster.
    """

    def __init__(self, first: Sequence[Integers], second: Sequence[Integers]) -> None:
        self._firsts, self._seconds = SortedSums(first), SortedSums(second)
        self._first, self._second = self._firsts.sums[::-1], self._seconds.sums
        self._length = len(self._first) + len(self._second)
        self.low = int(self._first[-1]) + int(self._second[0])
        self.high = int(self._first[0]) + int(self._second[-1])

    def __len__(self) -> int:
        return self._length

    def nearest(
        self, target: int, k: int, slack: int, within: int | None
    ) -> tuple[list[tuple[int, Choice]], int | None]:
        """The sums within ``slack`` of the k-th nearest, within a distance if given, with the distances.

        The second result is None, or the distance of the nearest sum where too many tie to list them all.
        """
        wanted = target - self._first
        at = np.searchsorted(self._second, wanted)
        # Enough neighbours on either side that the k nearest of all are among them.
        window = 1 if len(self._first) >= k else k
        closest = np.full(len(wanted), FAR)
        neighbours = []
        for shift in range(-window, window):
            # The places rise, so that those within the list are a slice.
            there = slice(*np.searchsorted(at, (-shift, len(self._second) - shift)))
            off = np.abs(self._second[at[there] + shift] - wanted[there])
            np.minimum(closest[there], off, out=closest[there])
            neighbours.append(off)
        nearest = int(closest.min())
        radius = nearest
        if k > 1:
            distances = np.concatenate(neighbours)
            radius = int(np.partition(distances, k - 1)[k - 1] if len(distances) >= k else distances.max())
        radius += slack
        if within is not None:
            radius = min(radius, within)
        hits = np.flatnonzero(closest <= radius)
        start = np.searchsorted(self._second, wanted[hits] - radius)
        counts = np.searchsorted(self._second, wanted[hits] + radius, side="right") - start
        overflow = nearest if counts.sum() > k + _TIES else None
        ends = np.minimum(np.cumsum(counts), k + _TIES)
        counts = np.diff(ends, prepend=0)
        column = np.repeat(start - (ends - counts), counts) + np.arange(counts.sum())
        distances = np.abs(self._second[column] - np.repeat(wanted[hits], counts))
        some = np.flatnonzero(counts)
        of_firsts = dict(
            zip(some.tolist(), self._firsts.choices(len(self._first) - 1 - hits[some]), strict=True)
        )
        rows = np.repeat(np.arange(len(hits)), counts).tolist()
        listed = [
            (distance, second + of_firsts[row])
            for distance, second, row in zip(
                distances.tolist(), self._seconds.choices(column), rows, strict=True
            )
        ]
        return listed, overflow


Leaves = dict[tuple[bytes, ...], _Leaf]
