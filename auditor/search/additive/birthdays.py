"""Sums next to a target where there are far too many to look for the nearest: the generalised birthday.

The rows are dealt into groups whose sums are listed, each about its share of the target. Lists are joined in
pairs, and of each two only those pairs of sums are kept that nearly cancel: about as many as a list has. Each
time so many bits of the distance are gained as number a list, and twice as many at the last join (Wagner, *A
Generalized Birthday Problem*, 2002). Nothing is proved by it: what it finds is measured exactly, and is
nearly always as near as is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log2, prod

import numpy as np

from auditor.search.additive.log_odds import Integers
from auditor.search.additive.subset_sums import Choice, sums

#: Fraction bits of entries and targets.
BITS = 84
#: Bits to be gained by joining, some more of which come from keeping up to eight times as many sums; and the
#: distance that is near enough.
_GAINED, _NEAR = 64, 1 << (BITS - 64)
#: Sums that are kept of each two lists at most, if these are twice as many as the lists have.
_KEPT = 1 << 18
#: How often lists are joined, the cheapest first, and bits that number a list at most.
_JOINS, _LONGEST = (5, 4, 3), 19
#: Fraction bits of the sums by which lists are joined first, and width in their units from which fine ones
#: do, of which the bits above the 64th are left out; and how far in these units sums may be apart.
_COARSE, _NARROW, _APART = 48, 1 << 24, 1 << 60


def sums_near(
    rows: Sequence[Sequence[int]], target: int, k: int, longest: int, expired: Callable[[], bool]
) -> list[Choice]:
    """Some k choices of one entry of each row with sums next to a target, the nearest first.

    Fewer, or none at all, where there are too few different rows.

    Parameters
    ----------
    rows, target : int
        In units of ``2^-BITS``.
    longest : int
        Sums that are listed in all groups together at most.
    expired : callable
        Whether time is up; asked between joins.
    """
    best: list[Choice] = []
    if not sum(map(min, rows)) <= target <= sum(map(max, rows)):
        return best
    for joins in _JOINS:
        groups = _dealt(rows, joins)
        if groups is None or sum(prod(len(rows[i]) for i in group) for group in groups) > longest:
            continue
        found = _sums_of(rows, groups, target, k, expired)
        best = sorted({*best, *found}, key=lambda choice: (_off(rows, choice, target), choice))[:k]
        if len(best) == k and _off(rows, best[-1], target) <= _NEAR:
            break
    return best


def _sums_of(
    rows: Sequence[Sequence[int]],
    groups: Sequence[Sequence[int]],
    target: int,
    k: int,
    expired: Callable[[], bool],
) -> list[Choice]:
    """`sums_near` from the sums of groups of rows."""
    means = [sum(row) // len(row) for row in rows]
    # The other rows bring the target near the middle of the groups' sums.
    left, chosen, dealt = target - sum(means), dict[int, int](), set(chain.from_iterable(groups))
    for i in range(len(rows)):
        if i not in dealt:
            off = [abs(left - (entry - means[i])) for entry in rows[i]]
            chosen[i] = off.index(min(off))
            left -= rows[i][chosen[i]] - means[i]
    spans = (max(rows[i]) - min(rows[i]) for i in dealt)
    if (sum(spans) + abs(left)) >> (BITS - _COARSE) >= _APART:
        return []
    lists, spreads = [], [sum(_variance(rows[i]) for i in group) for group in groups]
    for place, group in enumerate(groups):
        # What floats leave over goes to the last.
        share = left if group is groups[-1] else round(left * (spreads[place] / sum(spreads[place:])))
        left -= share
        lists.append(_List.of([rows[i] for i in group], share + sum(means[i] for i in group)))
    length = max(len(one.fine) for one in lists)
    while len(lists) > 1:
        wanted, joined = length if len(lists) > 2 else k, []
        for one, other in zip(lists[::2], lists[1::2], strict=True):
            if expired():
                return []
            joined.append(_List.joined(one, other, wanted))
        lists = joined
    nearest = np.argsort(np.abs(lists[0].fine), kind="stable")[:k]
    found = []
    for entries in zip(*lists[0].choices(nearest), strict=True):
        pairs = zip(chain.from_iterable(groups), chain.from_iterable(entries), strict=True)
        whole = chosen | dict(pairs)
        found.append(tuple(whole[i] for i in range(len(rows))))
    return found


def _off(rows: Sequence[Sequence[int]], choice: Choice, target: int) -> int:
    return abs(sum(row[entry] for row, entry in zip(rows, choice, strict=True)) - target)


def _dealt(rows: Sequence[Sequence[int]], joins: int) -> list[list[int]] | None:
    """Different rows in groups for so many joins; None if there are too few."""
    distinct = {tuple(sorted(row)): i for i, row in reversed([*enumerate(rows)]) if len(set(row)) > 1}
    bits = _GAINED / (joins + 1)
    groups: list[list[int]] = [[] for _ in range(1 << joins)]
    sizes = [0.0] * len(groups)
    for i in sorted(distinct.values(), key=lambda i: (min(rows[i]) - max(rows[i]), i)):
        smallest = sizes.index(min(sizes))
        more = sizes[smallest] + log2(len(rows[i]))
        if sizes[smallest] < bits and more <= _LONGEST:
            groups[smallest].append(i)
            sizes[smallest] = more
    return groups if min(sizes) >= bits else None


def _variance(row: Sequence[int]) -> float:
    return float(np.var([entry / (1 << BITS) for entry in row]))


@dataclass(frozen=True)
class _List:
    """Sums less their share of the target, and what each was made of."""

    coarse: Integers
    fine: Integers
    """In units of ``2^-48``, each within a few of the truth, and of ``2^-84`` modulo ``2^64``."""
    narrow: bool
    """Whether all are so small that the fine ones are whole."""
    parts: tuple[tuple[_List, Integers], ...] = ()
    """The lists that were joined, and the places there."""
    rows: tuple[int, ...] = ()
    """Otherwise the lengths of the rows whose sums these are."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], centre: int) -> _List:
        """All sums of some rows, less a centre."""
        first = [entry - centre for entry in rows[0]]
        shifted = [first, *rows[1:]]
        coarse = [
            np.array([_wrapped(entry >> (BITS - _COARSE)) for entry in row], dtype=np.int64)
            for row in shifted
        ]
        fine = [np.array([_wrapped(entry) for entry in row], dtype=np.int64) for row in shifted]
        return cls(sums(coarse), sums(fine), narrow=False, rows=tuple(map(len, rows)))

    @classmethod
    def joined(cls, one: _List, other: _List, wanted: int) -> _List:
        """Pairs of sums that nearly cancel, of about so many as are wanted the nearest."""
        narrow = one.narrow and other.narrow
        ours, theirs = (one.fine, other.fine) if narrow else (one.coarse, other.coarse)
        order = np.argsort(ours, kind="stable")
        ours = ours[order]
        # What one lacks rises with it, so that bisecting touches memory in order.
        others = np.argsort(-theirs, kind="stable")
        lacking = -theirs[others]
        width = max(1, int(ours[-1] - ours[0]) // len(ours) if len(ours) else 1)
        start, stop = _within(ours, lacking, width)
        while (stop - start).sum() < wanted and width < 1 << 60:
            width *= 2
            start, stop = _within(ours, lacking, width)
        most = max(2 * wanted, min(8 * wanted, _KEPT))
        while (stop - start).sum() > most and width > 1:
            fewer = _within(ours, lacking, width // 2)
            if (fewer[1] - fewer[0]).sum() < wanted:
                break
            width, (start, stop) = width // 2, fewer
        # Where hardly any are near, many are about as far.
        counts = np.diff(np.minimum(np.cumsum(stop - start), 16 * wanted), prepend=0)
        theirs_at = np.repeat(np.arange(len(lacking)), counts)
        ours_at = np.arange(len(theirs_at)) - np.repeat(np.cumsum(counts) - counts - start, counts)
        first, second = order[ours_at], others[theirs_at]
        fine = one.fine[first] + other.fine[second]
        # Of many equal sums, as ratios of small numbers have them, one is enough.
        fine, different = np.unique(fine, return_index=True)
        first, second = first[different], second[different]
        return cls(
            one.coarse[first] + other.coarse[second],
            fine,
            narrow=narrow or width <= _NARROW,
            parts=((one, first), (other, second)),
        )

    def choices(self, places: Integers) -> list[list[Choice]]:
        """For each group the choices of the sums at some places."""
        if self.parts:
            return [found for part, at in self.parts for found in part.choices(at[places])]
        entries = np.unravel_index(places, self.rows)
        return [list(zip(*(entry.tolist() for entry in entries), strict=True))]


def _within(ours: Integers, lacking: Integers, width: int) -> tuple[Integers, Integers]:
    return (
        np.searchsorted(ours, lacking - width),
        np.searchsorted(ours, lacking + width, side="right"),
    )


def _wrapped(number: int) -> int:
    """Modulo ``2^64``, as a signed integer."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
