"""The combinations x of sensitive values, strongest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import accumulate, product
from math import ceil, inf, log2, prod

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import LogOdds
from auditor.search.criteria import Criterion

#: Covers the rounding of the few float operations behind a bound.
_ROUND_UP = 1 + 1e-12


def total_combinations(tables: LogOdds) -> int:
    """How many x there are, over every non-empty set of sensitive attributes."""
    return prod(1 + len(tables.values[i]) for i in tables.sensitive) - 1


def all_combinations(tables: LogOdds) -> Iterator[Assignment]:
    """Every x of positive probability, in a fixed order."""
    sensitive = tables.sensitive
    for choice in product(*(range(-1, len(tables.values[i])) for i in sensitive)):
        x = tuple((i, v) for i, v in zip(sensitive, choice, strict=True) if v >= 0)
        if x and tables.strength(x) == tables.strength(x):  # not nan, which is ∞ - ∞: P(x) = 0
            yield x


def bound(tables: LogOdds, criterion: Criterion, strength: float, low: int, high: int, gap: int = 0) -> float:
    """At least |degree| for a strength s and any γ in an interval.

    Parameters
    ----------
    strength, low, high : int or float
        s and the ends of the interval, in the units of the tables.
    gap : int
        A distance from the peak within which no γ lies.
    """
    slack = tables.slack
    lowest, highest = tables.real(low - slack), tables.real(high + slack)
    margin = tables.real(max(0, gap - slack))
    largest = 0.0
    # A strength within rounding of 0 may have either sign.
    for sign in (1, -1) if abs(strength) <= slack else (1 if strength > 0 else -1,):
        s = sign * tables.real(abs(strength) + slack)
        peak = float(criterion.peak(s))
        nearest = min(max(peak, lowest), highest)
        ends = (peak - margin, peak + margin) if margin > abs(nearest - peak) else (nearest,)
        largest = max(largest, *(float(criterion.size(s, gamma)) for gamma in ends))
    return largest * _ROUND_UP


def strongest_first(
    tables: LogOdds, criterion: Criterion, *, disclosing: int | None, whole: bool, neutral: bool
) -> Iterator[tuple[float, float, Assignment | None]]:
    """The combinations x by decreasing bound on their |degree| in any context.

    Parameters
    ----------
    disclosing : int or None
        Only x that disclose this sensitive attribute.
    whole : bool
        Only x that disclose every sensitive attribute.
    neutral : bool
        Whether values with ``P(v | d) = P(v | d̄)`` may be disclosed beside others. They change no degree.

    Yields
    ------
    (float, float, Assignment or None)
        A bound on the |degree| of any x that is still to come, one on that of this x, and x; None for an
        inner node of the tree, so that whoever asks can stop between two x.

    Notes
    -----
    Best-first search of the tree in which each sensitive attribute in turn is disclosed in x or not. What the
    remaining ones can add to s is the sum of what each can add alone (the paper's lemma), and |degree| grows
    with |s| for every γ; γ is within the reach of the contexts of what is disclosed so far. Bounds are
    compared in steps of 4%, and the deepest node of a step comes first: a first x is reached at once.
    """
    sensitive = tables.sensitive
    rows = [
        [
            (v, z)
            for v, z in enumerate(tables.values[i])
            if neutral or i == disclosing or tables.exact.sign(i, v)
        ]
        for i in sensitive
    ]
    skippable = [not whole and i != disclosing for i in sensitive]
    extremes = [[z for _, z in row] + [0] * skip for row, skip in zip(rows, skippable, strict=True)]
    if not all(extremes):
        return
    # What the attributes from a depth on add to s at most and at least.
    most = [*accumulate((max(row) for row in reversed(extremes)), initial=0)][::-1]
    least = [*accumulate((min(row) for row in reversed(extremes)), initial=0)][::-1]

    def node(x: Assignment, depth: int, strength: float, low: int, high: int) -> _Node:
        # An infinite strength stays what it is: with the opposite infinity, P(x) = 0.
        strengths = {strength} if abs(strength) == inf else {strength + most[depth], strength + least[depth]}
        ceiling = max(bound(tables, criterion, s, low, high) for s in strengths)
        step = ceil(log2(ceiling) * 16) if ceiling > 0 else -(1 << 20)
        return -step, -depth, -ceiling, x, strength, low, high

    heap = [node((), 0, 0, *tables.full_reach)]
    while heap:
        minus_step, minus_depth, minus_ceiling, x, strength, low, high = heapq.heappop(heap)
        depth = -minus_depth
        whole_x = depth == len(sensitive)
        if whole_x and not x:
            continue
        # A step's bound is never taken below that of its own nodes.
        yield max(2.0 ** (-minus_step / 16), -minus_ceiling), -minus_ceiling, x if whole_x else None
        if whole_x:
            continue
        i = sensitive[depth]
        if skippable[depth]:
            heapq.heappush(heap, node(x, depth + 1, strength, low, high))
        for v, z in rows[depth]:
            if abs(strength) == inf and z == -strength:
                continue
            reach = tables.reach[i]
            child = node((*x, (i, v)), depth + 1, strength + z, low - reach[0], high - reach[1])
            heapq.heappush(heap, child)


_Node = tuple[int, int, float, Assignment, float, int, int]
