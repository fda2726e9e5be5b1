"""How many sums of intervals have their ends on some sides of some bounds.

As in `interval_sums` one option ``[l, h]`` of each row is taken, and the rows are split in two halves whose
sums are listed. By one end alone a sorted half is bisected for each sum of the other. By both ends it is
two-dimensional dominance: the sorted half is kept in blocks of 1, 2, 4 … sums in order of one end, each block
sorted by the other, and a prefix of it is a block of each size at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from auditor.search.additive.interval_sums import Row
from auditor.search.additive.log_odds import Integers
from auditor.search.additive.subset_sums import Choice, choice_at, sums

#: The lower and the upper end of a sum.
End = Literal[0, 1]


class Half:
    """All sums of one option of each row, and orders of them.

    Attributes
    ----------
    ends : (array, array)
        The lower and the upper ends, as `sums` lists them.
    """

    def __init__(self, rows: Sequence[Row], start: tuple[int, int] = (0, 0)) -> None:
        self._rows = rows
        self._made: dict[End, list[Integers]] = {}
        self.ends = sums([row.low for row in rows]) + start[0], sums([row.high for row in rows]) + start[1]

    def __len__(self) -> int:
        return len(self.ends[0])

    @cached_property
    def orders(self) -> tuple[Integers, Integers]:
        """Which sums come in order of their lower and of their upper ends."""
        return np.argsort(self.ends[0], kind="stable"), np.argsort(self.ends[1], kind="stable")

    @cached_property
    def in_order(self) -> tuple[Integers, Integers]:
        """The lower and the upper ends, each in order."""
        return self.ends[0][self.orders[0]], self.ends[1][self.orders[1]]

    @cached_property
    def widest(self) -> int:
        """The greatest width of a sum."""
        return int((self.ends[1] - self.ends[0]).max())

    def choice(self, index: int) -> Choice:
        """The options whose sum stands at an index of `ends`."""
        return choice_at([row.low for row in self._rows], index)

    def dominated(self, end: End, ranks: Integers, least: Integers) -> int:
        """How many of the first sums in order of one end have at least so large another end.

        Parameters
        ----------
        end : {0, 1}
        ranks, least : arrays
            Of each question how many sums are the first, and what their other end is to be.
        """
        other = self.in_order[1 - end]
        # Places of the other end in its own order stand for it.
        least = np.searchsorted(other, least)
        found = 0
        for size, block in enumerate(self._blocks(end)):
            asked = np.flatnonzero(ranks >> size & 1)
            if len(asked):
                # The block of this size that the longer ones of a prefix leave for it.
                number = (ranks[asked] >> (size + 1)) << 1
                stop = (number + 1) << size
                places = np.searchsorted(block, (number << self._shift) + least[asked])
                found += int((stop - places).sum())
        return found

    @property
    def _shift(self) -> int:
        return len(self).bit_length()

    def _blocks(self, end: End) -> list[Integers]:
        """By size: the block of each sum in order of one end, with its place by the other; in order."""
        if end not in self._made:
            places = np.empty(len(self), dtype=np.int64)
            places[self.orders[1 - end]] = np.arange(len(self))
            places = places[self.orders[end]]
            numbers = np.arange(len(self))
            self._made[end] = [
                np.sort((numbers >> size << self._shift) + places) for size in range(self._shift)
            ]
        return self._made[end]


class Pairs:
    """All sums of one of a listed and one of a sorted half."""

    def __init__(self, listed: Half, ordered: Half) -> None:
        self._listed, self._ordered = listed, ordered

    def __len__(self) -> int:
        return len(self._listed) * len(self._ordered)

    def at_most(self, end: End, bound: int) -> int:
        """How many sums have an end that is at most a bound."""
        return int(np.searchsorted(self._ordered.in_order[end], self._wanted(end, bound), side="right").sum())

    def at_least(self, end: End, bound: int) -> int:
        """How many sums have an end that is at least a bound."""
        return len(self) - self.at_most(end, bound - 1)

    def both(self, end: End, at_most: int, at_least: int) -> int:
        """How many sums have one end at most at a bound, and the other at least at another."""
        listed, ordered = self._listed.ends, self._ordered
        if end == 1 and at_most < at_least:
            # No upper end is below its lower one.
            return 0
        if end == 0:
            # Only the widest contain what is between the bounds.
            wide = np.flatnonzero(listed[1] - listed[0] >= at_least - at_most - ordered.widest)
        else:
            wide = np.arange(len(self._listed))
        ranks = np.searchsorted(ordered.in_order[end], at_most - listed[end][wide], side="right")
        return ordered.dominated(end, ranks, at_least - listed[1 - end][wide])

    def between(self, end: End, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The pairs of indices of the sums one of whose ends is from one bound to another."""
        ends, order = self._ordered.in_order[end], self._ordered.orders[end]
        starts = np.searchsorted(ends, first - self._listed.ends[end])
        stops = np.searchsorted(ends, last - self._listed.ends[end], side="right")
        for row in np.flatnonzero(starts < stops).tolist():
            for place in order[starts[row] : stops[row]].tolist():
                yield row, place

    def ends(self, pair: tuple[int, int]) -> tuple[int, int]:
        """The ends of a sum."""
        (a0, a1), (b0, b1) = self._listed.ends, self._ordered.ends
        return int(a0[pair[0]] + b0[pair[1]]), int(a1[pair[0]] + b1[pair[1]])

    def choice(self, pair: tuple[int, int]) -> Choice:
        """The options of a sum: those of the listed half, then those of the sorted one."""
        return self._listed.choice(pair[0]) + self._ordered.choice(pair[1])

    def _wanted(self, end: End, bound: int) -> Integers:
        # Falling sums leave rising ones, and bisecting touches memory in order.
        return bound - self._listed.in_order[end][::-1]
