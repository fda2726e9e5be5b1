"""The tree of patterns (x, y) that branch and bound walks, in NumPy arrays.

Above stand the combinations x (`Combinations`). One that is worth it is opened: it becomes the root of a tree
of contexts, in which a node is a pattern (x, y) and its children disclose one more attribute in y, later in a
fixed order (a set-enumeration tree, which meets each y once).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import ANY, Combinations, Scope, Xs, follows
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, population_of
from auditor.search.additive.moves import Moves
from auditor.search.additive.rows import Kept, Rows
from auditor.search.criteria import Criterion

Mask = npt.NDArray[np.bool_]

#: The steepest decay of a bound by γ that is used.
STEEPEST = 1e3
#: The least float above 0, for what is above 0 and would be 0 in floats.
LEAST = 5e-324


@dataclass(frozen=True)
class Nodes(Rows):
    """Patterns as parallel arrays."""

    slot: Integers
    """The root, and with it x."""
    position: Integers
    """The first position, in the order of `Columns`, whose attribute may still be disclosed."""
    gamma: Integers
    """γ in fixed point."""
    log_u: Floats
    log_v: Floats
    """``ln P(d, y)`` and ``ln P(d̄, y)``."""
    parent: Integers
    column: Integers
    """The node from which it came and the column that was disclosed; -1 for a root."""

    @classmethod
    def none(cls) -> Nodes:
        """No pattern at all."""
        integers, floats = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(integers, integers, integers, floats, floats, integers, integers)

    def __add__(self, other: Nodes) -> Nodes:
        return Nodes(*(np.append(*pair) for pair in zip(self.arrays(), other.arrays(), strict=True)))


@dataclass(frozen=True)
class Slots(Rows):
    """What bounds and scores need to know of x, as parallel arrays."""

    strength: Floats
    """s."""
    log_a: Floats
    log_b: Floats
    rest_a: Floats
    rest_b: Floats
    """``ln P(x | d)``, ``ln P(x | d̄)`` and ``1 - P(x | d)``, ``1 - P(x | d̄)``."""
    low: Floats
    high: Floats
    """The interval of γ in which x discriminates, as far as contexts reach, widened by rounding."""

    def log_probability(self, nodes: Nodes) -> Floats:
        """``ln P(xy)``, where each slot belongs to one node."""
        log_p: Floats = np.logaddexp(self.log_a + nodes.log_u, self.log_b + nodes.log_v)
        return log_p


class Tree:
    """The combinations, the roots that have been opened, and the nodes that have been kept."""

    def __init__(
        self,
        tables: LogOdds,
        criterion: Criterion,
        *,
        only_patterns: bool = True,
        scope: Scope = ANY,
        one_of_alike: bool = False,
    ) -> None:
        self.tables, self.criterion, self.scope = tables, criterion, scope
        self._only_patterns = only_patterns
        self.unit = 1.0 / (1 << tables.bits)
        self.error, self.wider = tables.error, tables.wider
        #: More than scores and bounds are off by, in natural logarithms. Of a γ that is off by e none of what
        #: a score is made of is off by more than a few e, and its decay by a few units in its last place.
        farthest = max(map(abs, tables.full_reach)) * self.unit
        self.rounding = population_of(tables).rounding + 16 * self.error + STEEPEST * farthest * 2.0**-49
        self.xs = Combinations(tables, scope, one_of_alike=one_of_alike)
        kinds = scope.kinds(tables)
        self.columns = Columns(tables, kinds)
        self._follows = follows(kinds, self.columns.order, one_of_alike=one_of_alike)
        self._reach: Integers = np.array(
            [tables.reach[i] for i in self.columns.order], dtype=np.int64
        ).reshape(-1, 2)
        empty = np.empty(0)
        #: The opened roots, the numbers of their x, and what is free for their contexts.
        self.roots = Slots(empty, empty, empty, empty, empty, empty, empty)
        self.x_of: Integers = np.empty(0, dtype=np.int64)
        self._sets: dict[bytes, int] = {}
        self._set: Integers = np.empty(0, dtype=np.int64)
        positions = len(self.columns.order)
        self._free: Mask = np.empty((0, positions), dtype=bool)
        self._least: Integers = np.empty((0, positions + 1), dtype=np.int64)
        self._most: Integers = np.empty((0, positions + 1), dtype=np.int64)
        self._kept = Kept(Nodes.none())

    def slots(self, xs: Xs) -> Slots:
        """What bounds need to know of some x."""
        low, high = self.tables.reals(xs.low) - self.wider, self.tables.reals(xs.high) + self.wider
        if self._only_patterns:
            inside = self.interval(xs.strength)
            low, high = np.maximum(low, inside[0]), np.minimum(high, inside[1])
        return Slots(
            strength=xs.strength,
            log_a=xs.log_a,
            log_b=xs.log_b,
            rest_a=-np.expm1(xs.log_a),
            rest_b=-np.expm1(xs.log_b),
            low=low,
            high=high,
        )

    def interval(self, strength: Floats) -> tuple[Floats, Floats]:
        """The interval of γ in which x of some s discriminate, widened by rounding."""
        # A strength within rounding of 0 may have either sign: everywhere, unless the threshold forbids.
        size = np.abs(strength) + self.error
        low, high = self.criterion.reach(np.where(strength < 0, -size, size), outwards=True)
        unsure = (size <= 2 * self.error) & (low <= high)
        return np.where(unsure, -inf, low - self.wider), np.where(unsure, inf, high + self.wider)

    def unopened(self, xs: Xs) -> Nodes:
        """The patterns (x, ∅); their slots are their places here."""
        log_u, log_v = population_of(self.tables).log_prior
        nothing = np.full(len(xs), -1)
        return Nodes(
            slot=np.arange(len(xs)),
            position=np.zeros(len(xs), dtype=np.int64),
            gamma=np.full(len(xs), self.tables.prior, dtype=np.int64),
            log_u=np.full(len(xs), log_u),
            log_v=np.full(len(xs), log_v),
            parent=nothing,
            column=nothing,
        )

    def open(self, ids: Integers) -> Nodes:
        """Make roots of some x: the patterns (x, ∅) with the slots that they have now."""
        xs = self.xs.at(ids)
        free = np.ones((len(ids), len(self.columns.order)), dtype=bool)
        column, parent, row = xs.column, xs.parent, np.arange(len(ids))
        place = self.columns.place_of
        attribute = np.array([place[i] for i, _ in self.xs.values], dtype=np.int64)
        while len(row):
            disclosed = column >= 0
            row, column, parent = row[disclosed], column[disclosed], parent[disclosed]
            free[row, attribute[column]] = False
            above = self.xs.at(parent)
            column, parent = above.column, above.parent
        numbers = []
        new: list[Mask] = []
        for key, mask in zip((m.tobytes() for m in free), free, strict=True):
            number = self._sets.setdefault(key, len(self._sets))
            if number == len(self._free) + len(new):
                new.append(mask)
            numbers.append(number)
        if new:
            masks = np.array(new)
            self._free = np.concatenate([self._free, masks])
            self._least = np.concatenate([self._least, _suffix_sums(masks, self._reach[:, 0])])
            self._most = np.concatenate([self._most, _suffix_sums(masks, self._reach[:, 1])])
        start = len(self.x_of)
        self.x_of = np.append(self.x_of, ids)
        self._set = np.append(self._set, np.array(numbers, dtype=np.int64))
        self.roots = Slots(
            *(np.append(*pair) for pair in zip(self.roots.arrays(), self.slots(xs).arrays(), strict=True))
        )
        nodes = self.unopened(xs)
        return Nodes(start + nodes.slot, *nodes.arrays()[1:])

    def children(self, ids: Integers) -> Nodes:
        """All patterns that disclose one attribute more, later in the order."""
        columns = self.columns
        nodes = self._kept.rows
        # Node i has the columns from first[i] on.
        first = columns.start[nodes.position[ids]]
        counts = len(columns.attribute) - first
        parent = np.repeat(ids, counts)
        column = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts - first, counts)
        slot = nodes.slot[parent]
        position = columns.position[column]
        free = self._free[self._set[slot], position]
        if self.scope.contexts == "all":
            # No attribute may be passed over.
            passed = np.cumsum(self._free, axis=1)[self._set[slot], position]
            before = np.hstack(
                [np.zeros((len(self._free), 1), dtype=np.int64), np.cumsum(self._free, axis=1)]
            )
            free &= passed - 1 == before[self._set[slot], nodes.position[parent]]
        if self._follows.any():
            # An attribute that x discloses is passed over.
            open_before = self._follows[position] & self._free[self._set[slot], position - 1]
            last = nodes.column[parent]
            next_to = (last >= 0) & (columns.position[last] == position - 1)
            free &= ~open_before | (next_to & (columns.value[last] <= columns.value[column]))
        parent, column, slot = parent[free], column[free], slot[free]
        return Nodes(
            slot=slot,
            position=columns.position[column] + 1,
            gamma=nodes.gamma[parent] + columns.log_odds[column],
            log_u=nodes.log_u[parent] + columns.log_d[column],
            log_v=nodes.log_v[parent] + columns.log_not_d[column],
            parent=parent,
            column=column,
        )

    def whole(self, nodes: Nodes) -> Mask:
        """Which patterns of opened roots are in scope, and not only on the way to others."""
        if self.scope.contexts != "all":
            return np.ones(len(nodes), dtype=bool)
        return ~self._free_from(nodes)

    def extensible(self, nodes: Nodes) -> Mask:
        """Which patterns of opened roots have extensions."""
        if self.scope.contexts == "none":
            return np.zeros(len(nodes), dtype=bool)
        return self._free_from(nodes)

    def _free_from(self, nodes: Nodes) -> Mask:
        later = np.hstack(
            [
                np.logical_or.accumulate(self._free[:, ::-1], axis=1)[:, ::-1],
                np.zeros((len(self._free), 1), bool),
            ]
        )
        result: Mask = later[self._set[nodes.slot], nodes.position]
        return result

    def keep(self, nodes: Nodes) -> Integers:
        """Store nodes, so that they can be expanded; returns their numbers."""
        return self._kept.add(nodes)

    def at(self, ids: Integers) -> Nodes:
        """Stored nodes by number."""
        return self._kept.at(ids)

    def context(self, parent: int, column: int) -> Assignment:
        """The context y of the pattern that discloses a column after those of its parent."""
        values, nodes = [], self._kept.rows
        while column >= 0:
            values.append((int(self.columns.attribute[column]), int(self.columns.value[column])))
            column, parent = int(nodes.column[parent]), int(nodes.parent[parent])
        return tuple(sorted(values))

    def pattern(self, slot: int, parent: int, column: int) -> tuple[Assignment, Assignment]:
        """The pair (x, y) of a pattern of an opened root."""
        x = self.xs.at(self.x_of[slot : slot + 1])
        return self.xs.assignment(int(x.parent[0]), int(x.column[0])), self.context(parent, column)

    def reach(self, nodes: Nodes) -> tuple[Floats, Floats, Floats]:
        """The least γ below each node of an opened root, its own γ, and the greatest."""
        place = self._set[nodes.slot]
        low = self.tables.reals(nodes.gamma + self._least[place, nodes.position])
        high = self.tables.reals(nodes.gamma + self._most[place, nodes.position])
        return low, self.tables.reals(nodes.gamma), high

    def degree(self, strength: Floats, t: Floats) -> tuple[Floats, Floats]:
        """|degree| of patterns with log-odds t of their context, and a bound on its error."""
        degree = self.criterion.size(strength, t)
        # The last term covers s and t near 0, so that at threshold 0 no pattern is missed.
        return degree, degree * (1e-12 + 4 * self.error) + self.error

    def largest_degree(self, strength: Floats, t0: Floats, t1: Floats) -> Floats:
        """At least |degree| for any γ in ``[t0, t1]``."""
        degree, error = self.degree(strength, np.clip(self.criterion.peak(strength), t0, t1))
        return degree + error


def _suffix_sums(free: Mask, reach: Integers) -> Integers:
    added = np.where(free, reach, 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return np.hstack([added, np.zeros((len(added), 1), dtype=np.int64)])


class Columns:
    """The values that contexts can disclose, in the order in which the tree discloses attributes.

    Attributes with large log-odds come first: then little can still be reached after the first few levels.
    Those of a kind stand side by side.
    """

    def __init__(self, tables: LogOdds, kinds: Sequence[tuple[int, bool, bool]]) -> None:
        def spread(i: int) -> int:
            return tables.reach[i][0] - tables.reach[i][1]

        self.order = sorted(range(len(tables.values)), key=lambda i: (spread(i), kinds[i], i))
        #: The position of each attribute.
        self.place_of = {i: p for p, i in enumerate(self.order)}
        entries = [(p, i, v) for p, i in enumerate(self.order) for v in tables.finite[i]]
        population = population_of(tables)
        logs = np.array([population.log_likelihood[i][v] for _, i, v in entries]).reshape(-1, 2)
        self.position: Integers = np.array([entry[0] for entry in entries], dtype=np.int64)
        self.attribute: Integers = np.array([entry[1] for entry in entries], dtype=np.int64)
        self.value: Integers = np.array([entry[2] for entry in entries], dtype=np.int64)
        self.log_odds: Integers = np.array([tables.values[i][v] for _, i, v in entries], dtype=np.int64)
        self.log_d: Floats = logs[:, 0]
        self.log_not_d: Floats = logs[:, 1]
        #: What the attributes from a position on can add to γ, and at what price in probability.
        self.moves = Moves(
            self.position, self.log_odds / (1 << tables.bits), self.log_d, self.log_not_d, len(self.order)
        )
        #: The first column of each position, and the number of columns at the end.
        self.start: Integers = np.searchsorted(self.position, np.arange(len(self.order) + 1))


def kl(p: Floats, not_p: Floats, excess: Floats) -> Floats:
    """``kl(p ‖ p - e) = -p ln(1 - e/p) - (1-p) ln(1 + e/(1-p))`` for 0 <= e <= p, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x, z = excess / p, excess / not_p
        direct = -p * np.log1p(-x) - np.where(not_p > 0, not_p * np.log1p(z), 0.0)
        series = p * x * x * (0.5 + x * (1 / 3 + x * (0.25 + x / 5))) + not_p * z * z * (
            0.5 - z * (1 / 3 - z * (0.25 - z / 5))
        )
        return np.where((x < 1e-3) & (z < 1e-3), series * (1 + 1e-11), np.maximum(direct, 0))


def moved(strength: Floats, t: Floats) -> tuple[Floats, Floats]:
    """The probability of the decision that x favours, given xy, and its complement.

    ``P(d | xy) = σ(t + s)`` for s > 0, else ``P(d̄ | xy)``. It is never 0, for which nothing could be moved.
    """
    size = np.abs(strength)
    towards = np.where(strength > 0, t, -t)
    return np.maximum(logistic(towards + size), LEAST), logistic(-towards - size)


def logistic(t: Floats) -> Floats:
    """``σ(t)``."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-t))


def safe_log(x: Floats) -> Floats:
    """Natural logarithm; ``-inf`` for 0 and less."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0))
