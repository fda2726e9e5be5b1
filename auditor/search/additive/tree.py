"""The tree of patterns that branch and bound walks, in NumPy arrays.

There is a root for each combination x; a node is a pattern (x, y), and its children disclose one more
attribute in y, later in a fixed order (a set-enumeration tree, which meets each y once).

Bound. Write ``u = P(d, y)``, ``v = P(d̄, y)``, ``γ = ln u/v``. Disclosing more lowers u and v and keeps γ
within what the remaining attributes can reach. A score that is homogeneous of degree one in (u, v) for fixed
x, as divergence and probability are, is ``u U(γ) = v V(γ)`` with U its value at ``(1, e^-γ)`` and V at
``(e^γ, 1)``, so every extension scores at most

    max( u max_{t in [γ, γ_high]} U(t),  v max_{t in [γ_low, γ]} V(t) ).

γ doesn't move for free either. A value with λ > 0 raises it by λ and multiplies u by P(v | d): with r the
least ``-ln P(v | d) / λ(v)``, an extension that raises γ to t has at most ``u e^(-r (t - γ))`` left of u;
and likewise v, with r' from the values with λ < 0. So U and V are taken with that decay, ``U(t) e^(-r (t -
γ))`` and ``V(t) e^(-r' (γ - t))``.

U and V are bounded from above once per x, on a grid of cells over the interval of γ in which x discriminates;
range maxima come from a sparse table. All of this is in floats rounded outwards: it serves to leave out what
can't matter, and what remains is settled in rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import all_combinations, strongest_first, total_combinations
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, population_of
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits

RankBy = Literal["divergence", "discrimination", "probability"]
Mask = npt.NDArray[np.bool_]

#: Relative rounding of scores and bounds, in natural logarithms; their true error is below 1e-11.
ROUNDING = 1e-9
#: How much of U's or V's decay, in natural logarithms, a cell may hold; and the steepest decay that is used.
_STEEP, _STEEPEST = 0.5, 1e3
#: Combinations x that get a root of their own.
_ROOTS = 1 << 17
#: Those that do where there are more than that.
_SOME_ROOTS = 1 << 12
#: Cells of the grid with which roots are first bounded.
_COARSE = 32


@dataclass(frozen=True)
class Nodes:
    """Patterns as parallel arrays.

    Attributes
    ----------
    slot : array of int
        The root, and with it x.
    position : array of int
        The first position, in the order of `Columns`, whose attribute may still be disclosed.
    gamma : array of int
        γ in fixed point.
    log_u, log_v : array of float
        ``ln P(d, y)`` and ``ln P(d̄, y)``.
    parent, column : array of int
        The node from which it came and the column that was disclosed; -1 for a root.
    """

    slot: Integers
    position: Integers
    gamma: Integers
    log_u: Floats
    log_v: Floats
    parent: Integers
    column: Integers

    def __len__(self) -> int:
        return len(self.slot)

    def __getitem__(self, index: Integers | Mask) -> Nodes:
        return Nodes(*(array[index] for array in self.arrays()))

    @classmethod
    def none(cls) -> Nodes:
        """No pattern at all."""
        integers, floats = np.empty(0, dtype=np.int64), np.empty(0)
        return cls(integers, integers, integers, floats, floats, integers, integers)

    def __add__(self, other: Nodes) -> Nodes:
        return Nodes(*(np.append(*pair) for pair in zip(self.arrays(), other.arrays(), strict=True)))

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in the order of the fields."""
        return (self.slot, self.position, self.gamma, self.log_u, self.log_v, self.parent, self.column)


class Tree:
    """The roots, and the nodes that have been kept."""

    def __init__(
        self, tables: LogOdds, criterion: Criterion, limits: Limits, *, only_patterns: bool = True
    ) -> None:
        self.tables = tables
        self.columns = Columns.of(tables)
        self.roots = Roots.of(tables, criterion, self.columns, only_patterns, limits)
        self._length = 0
        self._nodes = Nodes.none()

    def root_nodes(self) -> Nodes:
        """The patterns (x, ∅)."""
        log_u, log_v = population_of(self.tables).log_prior
        slot = np.arange(len(self.roots.combinations))
        nothing = np.full(len(slot), -1)
        return Nodes(
            slot=slot,
            position=np.zeros_like(slot),
            gamma=np.full(len(slot), self.tables.prior, dtype=np.int64),
            log_u=np.full(len(slot), log_u),
            log_v=np.full(len(slot), log_v),
            parent=nothing,
            column=nothing,
        )

    def children(self, ids: Integers) -> Nodes:
        """All patterns that disclose one attribute more, later in the order."""
        columns = self.columns
        nodes = self._nodes
        # Node i has the columns from first[i] on.
        first = columns.start[nodes.position[ids]]
        counts = len(columns.attribute) - first
        parent = np.repeat(ids, counts)
        column = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts - first, counts)
        slot = nodes.slot[parent]
        free = self.roots.free[slot, columns.position[column]]
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

    def keep(self, nodes: Nodes) -> Integers:
        """Store nodes, so that they can be expanded; returns their numbers."""
        start, stop = self._length, self._length + len(nodes)
        if stop > len(self._nodes):
            self._nodes = Nodes(
                *(
                    np.concatenate([array, np.empty(stop + len(array), array.dtype)])
                    for array in self._nodes.arrays()
                )
            )
        for array, values in zip(self._nodes.arrays(), nodes.arrays(), strict=True):
            array[start:stop] = values
        self._length = stop
        return np.arange(start, stop)

    def at(self, ids: Integers) -> Nodes:
        """Stored nodes by number."""
        return self._nodes[ids]

    def pattern(self, slot: int, parent: int, column: int) -> tuple[Assignment, Assignment]:
        """The pair (x, y) of the pattern that discloses a column after those of its parent."""
        values = []
        while column >= 0:
            values.append((int(self.columns.attribute[column]), int(self.columns.value[column])))
            column, parent = int(self._nodes.column[parent]), int(self._nodes.parent[parent])
        return self.roots.combinations[slot], tuple(sorted(values))


class Columns:
    """The values that contexts can disclose, in the order in which the tree discloses attributes.

    Attributes with large log-odds come first: then little can still be reached after the first few levels.
    """

    def __init__(self, tables: LogOdds, order: list[int]) -> None:
        entries = [(position, i, v) for position, i in enumerate(order) for v in tables.finite[i]]
        population = population_of(tables)
        logs = np.array([population.log_likelihood[i][v] for _, i, v in entries]).reshape(-1, 2)
        self.order = order
        self.position: Integers = np.array([entry[0] for entry in entries], dtype=np.int64)
        self.attribute: Integers = np.array([entry[1] for entry in entries], dtype=np.int64)
        self.value: Integers = np.array([entry[2] for entry in entries], dtype=np.int64)
        self.log_odds: Integers = np.array([tables.values[i][v] for _, i, v in entries], dtype=np.int64)
        self.log_d: Floats = logs[:, 0]
        self.log_not_d: Floats = logs[:, 1]
        unsure = (np.abs(self.log_odds) + tables.slack) / (1 << tables.bits)
        #: The least that a rise of γ by 1 costs in ln P(d, y), and a fall in ln P(d̄, y); rounded down.
        self.rise, self.fall = (
            float((-log_p / unsure)[moves].min(initial=inf)) * (1 - 1e-9)
            for log_p, moves in (
                (self.log_d, self.log_odds >= -tables.slack),
                (self.log_not_d, self.log_odds <= tables.slack),
            )
        )
        #: The first column of each position, and the number of columns at the end.
        self.start: Integers = np.searchsorted(self.position, np.arange(len(order) + 1))

    @classmethod
    def of(cls, tables: LogOdds) -> Columns:
        """The columns of a model."""

        def spread(i: int) -> int:
            return tables.reach[i][0] - tables.reach[i][1]

        return cls(tables, sorted(range(len(tables.values)), key=lambda i: (spread(i), i)))


class Roots:
    """The combinations x that discriminate in some context, each with a slot in these arrays.

    Attributes
    ----------
    strength : array
        s, exact to a float even where it is near 0.
    log_a, log_b, rest_a, rest_b : array
        ``ln P(x | d)``, ``ln P(x | d̄)`` and ``1 - P(x | d)``, ``1 - P(x | d̄)``.
    low, high : array
        The interval of γ in which x discriminates, as far as contexts reach, widened by rounding.
    free : array of bool, shape (slots, attributes)
        Whether x leaves the attribute at a position to the context.
    least, most : arrays of int, shape (slots, attributes + 1)
        What the attributes from a position on can add to γ.
    """

    def __init__(
        self,
        tables: LogOdds,
        columns: Columns,
        entries: list[tuple[Assignment, float, float]],
        truncated: bool,
    ) -> None:
        self.bits, self.truncated = tables.bits, truncated
        self.combinations = [x for x, _, _ in entries]
        population = population_of(tables)
        self.strength: Floats = np.array([tables.real(tables.strength(x)) for x in self.combinations])
        logs = np.array(
            [sum(population.log_likelihood[i][v] for i, v in x) for x in self.combinations]
        ).reshape(-1, 2)
        self.log_a, self.log_b = logs[:, 0], logs[:, 1]
        self.rest_a, self.rest_b = -np.expm1(self.log_a), -np.expm1(self.log_b)
        self.low: Floats = np.array([low for _, low, _ in entries])
        self.high: Floats = np.array([high for _, _, high in entries])
        position = {i: p for p, i in enumerate(columns.order)}
        self.free: Mask = np.ones((len(entries), len(columns.order)), dtype=bool)
        for slot, x in enumerate(self.combinations):
            self.free[slot, [position[i] for i, _ in x]] = False
        reach = np.array([tables.reach[i] for i in columns.order], dtype=np.int64).reshape(-1, 2)
        self.least = self._suffix_sums(reach[:, 0])
        self.most = self._suffix_sums(reach[:, 1])

    @classmethod
    def of(
        cls, tables: LogOdds, criterion: Criterion, columns: Columns, only_patterns: bool, limits: Limits
    ) -> Roots:
        """All x whose interval of γ is within reach (with ``only_patterns``), or simply all x.

        Where there are too many, some of the strongest.
        """
        entries = []
        margin = (tables.slack + 1) / (1 << tables.bits) + 1e-9
        truncated = total_combinations(tables) > _ROOTS
        if truncated:
            stream = strongest_first(tables, criterion, disclosing=None, whole=False, neutral=True)
            combinations: Iterator[Assignment] = islice((x for *_, x in stream if x), _SOME_ROOTS)
        else:
            combinations = all_combinations(tables)
        for x in combinations:
            if limits.expired():
                truncated = True
                break
            low, high = (tables.real(end) for end in tables.context_reach(x))
            if only_patterns:
                interval = tables.exact.interval(criterion, x)
                if interval is None:
                    continue
                low = low if interval[0] is None else max(low, float(interval[0]))
                high = high if interval[1] is None else min(high, float(interval[1]))
            if low <= high + 2 * margin:
                entries.append((x, low - margin, max(low, high) + margin))
        return cls(tables, columns, entries, truncated)

    def _suffix_sums(self, reach: Integers) -> Integers:
        added = np.where(self.free, reach, 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.hstack([added, np.zeros((len(added), 1), dtype=np.int64)])

    def log_probability(self, nodes: Nodes) -> Floats:
        """``ln P(xy)``."""
        return np.logaddexp(self.log_a[nodes.slot] + nodes.log_u, self.log_b[nodes.slot] + nodes.log_v)

    def reach(self, nodes: Nodes) -> tuple[Floats, Floats, Floats]:
        """The least γ below each node, its own γ, and the greatest."""
        low: Floats = (nodes.gamma + self.least[nodes.slot, nodes.position]) / (1 << self.bits)
        high: Floats = (nodes.gamma + self.most[nodes.slot, nodes.position]) / (1 << self.bits)
        return low, nodes.gamma / (1 << self.bits), high

    def moved(self, slots: Integers, t: Floats) -> tuple[Floats, Floats]:
        """The probability of the decision that x favours, given xy, and its complement.

        ``P(d | xy) = σ(t + s)`` for s > 0, else ``P(d̄ | xy)``.
        """
        size = np.abs(self.strength[slots])
        towards = np.where(self.strength[slots] > 0, t, -t)
        return logistic(towards + size), logistic(-towards - size)


def degree_of(roots: Roots, criterion: Criterion, slots: Integers, t: Floats) -> tuple[Floats, Floats]:
    """|degree| of patterns with log-odds t of their context, and a bound on its error."""
    degree = criterion.size(roots.strength[slots], t)
    # The last term covers underflow, so that at threshold 0 no pattern is missed.
    slack = (roots.free.shape[1] + 2) * 2.0 ** -(roots.bits - 2)
    return degree, degree * (1e-12 + slack) + slack


def excess_of(
    roots: Roots, criterion: Criterion, slots: Integers, t0: Floats, t1: Floats, degree: Floats
) -> Floats:
    """How far the nearest fair ``Q(d | xy)`` is from ``P(d | xy)`` at most, for γ in ``[t0, t1]``.

    `Criterion.excess`, with ``P(x | y)`` taken at the end of the interval where it is extreme; it is monotone
    in γ.
    """
    beyond = np.maximum(degree - float(criterion.threshold), 0)
    rest_a, rest_b = roots.rest_a[slots], roots.rest_b[slots]

    def rest(t: Floats) -> Floats:  # 1 - P(x | y)
        return rest_a * logistic(t) + rest_b * logistic(-t)

    return criterion.excess(roots.strength[slots], t1, beyond, np.minimum(rest(t0), rest(t1)))


def kl(p: Floats, not_p: Floats, excess: Floats) -> Floats:
    """``kl(p ‖ p - e) = -p ln(1 - e/p) - (1-p) ln(1 + e/(1-p))`` for 0 <= e <= p, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x, z = excess / p, excess / not_p
        direct = -p * np.log1p(-x) - np.where(not_p > 0, not_p * np.log1p(z), 0.0)
        series = p * x * x * (0.5 + x * (1 / 3 + x * (0.25 + x / 5))) + not_p * z * z * (
            0.5 - z * (1 / 3 - z * (0.25 - z / 5))
        )
        return np.where((x < 1e-3) & (z < 1e-3), series * (1 + 1e-11), np.maximum(direct, 0))


def logistic(t: Floats) -> Floats:
    """``σ(t)``."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-t))


def safe_log(x: Floats) -> Floats:
    """Natural logarithm; ``-inf`` for 0 and less."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0))


class Grids:
    """Upper bounds of U and V on cells of γ, and their range maxima; for divergence, or else for probability.

    A cell ``[t0, t1]`` is bounded with |degree| at its peak or better end and ``P(x | y)`` at an end; the
    probability of the decision that x favours lies between its values at the ends, and the nearest fair one
    is no lower than

    * the lower end less the greatest excess,
    * that decision's probability given y without x, where disclosing x would change nothing,
    * δ (difference only), since the fair ``Q(d | y)`` is not below 0.

    kl grows in its first argument and falls in its second below it, and P(xy) is monotone in t.
    """

    def __init__(self, tree: Tree, criterion: Criterion, *, divergence: bool) -> None:
        roots = self._roots = tree.roots
        self._criterion, self._divergence = criterion, divergence
        self._threshold = float(criterion.threshold)
        self._cells = 1024 if len(roots.combinations) <= 256 else 256
        # A smaller decay is right too; one that is steep within a cell, or in floats, would loosen the bound.
        most = np.minimum(_STEEP * self._cells / (roots.high - roots.low), _STEEPEST)
        self._rise, self._fall = (np.minimum(rate, most) for rate in (tree.columns.rise, tree.columns.fall))
        self._levels = self._cells.bit_length()
        self._row: Integers = np.full(len(roots.combinations), -1)
        self._u, self._v = np.empty((0, self._cells)), np.empty((0, self._cells))
        empty = np.empty((0, self._levels, self._cells))
        self._u_maxima, self._v_maxima = empty, empty

    def has(self, slots: Integers) -> Mask:
        """Whether the slots have been gridded finely."""
        return self._row[slots] >= 0

    def add(self, slots: Integers) -> None:
        """Grid some slots finely."""
        self._row[slots] = len(self._u) + np.arange(len(slots))
        u, v = self._bounds(slots, self._cells)
        edges = self._edges(slots, self._cells)
        self._u = np.concatenate([self._u, u])
        self._v = np.concatenate([self._v, v])
        u, v = u - self._rise[slots, None] * edges[:, :-1], v + self._fall[slots, None] * edges[:, 1:]
        self._u_maxima = np.concatenate([self._u_maxima, self._range_maxima(u)])
        self._v_maxima = np.concatenate([self._v_maxima, self._range_maxima(v)])

    def bound_roots(self, nodes: Nodes) -> Floats:
        """`bound` of the roots themselves, from a coarse grid."""
        bounds = [np.empty(0)]
        for start in range(0, len(nodes), 1 << 12):
            block = nodes[np.arange(start, min(start + (1 << 12), len(nodes)))]
            u, v = self._bounds(block.slot, _COARSE)
            t = block.gamma[:, None] / (1 << self._roots.bits)
            edges = self._edges(block.slot, _COARSE)
            u = np.where(edges[:, 1:] >= t - 1e-9, u, -inf).max(axis=1)
            v = np.where(edges[:, :-1] <= t + 1e-9, v, -inf).max(axis=1)
            bounds.append(np.maximum(block.log_u + u, block.log_v + v))
        return np.concatenate(bounds)

    def bound(self, nodes: Nodes) -> Floats:
        """At least the score of any pattern below each node, as a natural logarithm."""
        slots, row = nodes.slot, self._row[nodes.slot]
        t_low, t, t_high = self._roots.reach(nodes)
        # In the cell of γ itself without decay, which within it would only add the cell's width.
        first, last = self._cells_of(slots, t, t_high)
        u = self._rise[slots] * t + self._range_max(self._u_maxima, row, first + 1, last)
        u = np.where(first <= last, np.maximum(u, self._u[row, np.minimum(first, self._cells - 1)]), -inf)
        first, last = self._cells_of(slots, t_low, t)
        v = self._range_max(self._v_maxima, row, first, last - 1) - self._fall[slots] * t
        v = np.where(first <= last, np.maximum(v, self._v[row, np.maximum(last, 0)]), -inf)
        return np.maximum(nodes.log_u + u, nodes.log_v + v)

    def _edges(self, slots: Integers, cells: int) -> Floats:
        low, high = self._roots.low[slots, None], self._roots.high[slots, None]
        return low + (high - low) * (np.arange(cells + 1) / cells)

    def _bounds(self, slots: Integers, cells: int) -> tuple[Floats, Floats]:
        """``ln U`` and ``ln V`` on each cell from above; shape ``(slots, cells)`` each."""
        roots, criterion = self._roots, self._criterion
        edges = self._edges(slots, cells)
        t0, t1 = edges[:, :-1], edges[:, 1:]
        slot = slots[:, None]
        degree = largest_degree(roots, criterion, slot, t0, t1)
        log_kl = np.zeros_like(degree)
        if self._divergence:
            strength = roots.strength[slot]
            positive = strength > 0
            lower, upper = np.where(positive, t0, t1), np.where(positive, t1, t0)
            p, not_p = roots.moved(slot, upper)
            excess = p - roots.moved(slot, lower)[0] + excess_of(roots, criterion, slot, t0, t1, degree)
            log_rest = safe_log(roots.rest_a[slot]) - safe_log(roots.rest_b[slot])
            without = logistic(np.where(positive, lower + log_rest, -lower - log_rest))
            excess = np.minimum(excess, p - without)
            excess = np.minimum(excess, p - criterion.least_target)
            log_kl = safe_log(kl(p, not_p, np.clip(excess * (1 + 1e-12) + 1e-15, 0, p)))
        log_kl = np.where(degree > self._threshold, log_kl + ROUNDING, -inf)
        log_a, log_b = roots.log_a[slot], roots.log_b[slot]
        return np.logaddexp(log_a, log_b - t0) + log_kl, np.logaddexp(log_a + t1, log_b) + log_kl

    def _range_maxima(self, cells: Floats) -> Floats:
        """Level j at cell i holds the maximum over the ``2^j`` cells from i on."""
        table = np.full((len(cells), self._levels, self._cells), -inf)
        table[:, 0] = cells
        for level in range(1, self._levels):
            half = 1 << (level - 1)
            length = self._cells - 2 * half + 1
            table[:, level, :length] = np.maximum(
                table[:, level - 1, :length], table[:, level - 1, half : half + length]
            )
        return table

    def _cells_of(self, slots: Integers, start: Floats, stop: Floats) -> tuple[Integers, Integers]:
        """The first and the last cell that meet ``[start, stop]``; the first is greater where none does."""
        low, high = self._roots.low[slots], self._roots.high[slots]
        scale = self._cells / (high - low)
        # An interval that ends on an edge, to within rounding, meets the cells on both sides.
        first = np.floor(np.clip((start - low) * scale - 1e-6, 0, self._cells - 1)).astype(np.int64)
        last = np.floor(np.clip((stop - low) * scale + 1e-6, 0, self._cells - 1)).astype(np.int64)
        missed = (stop < low - 1e-9) | (start > high + 1e-9)
        return np.where(missed, 1, first), np.where(missed, 0, last)

    @staticmethod
    def _range_max(table: Floats, row: Integers, first: Integers, last: Integers) -> Floats:
        """Maximum over the cells from first to last; ``-inf`` where there are none."""
        some = first <= last
        first, last = np.where(some, first, 0), np.where(some, last, 0)
        level = np.frexp(last - first + 1)[1] - 1
        maximum = np.maximum(table[row, level, first], table[row, level, last - (1 << level) + 1])
        return np.where(some, maximum, -inf)


def largest_degree(roots: Roots, criterion: Criterion, slots: Integers, t0: Floats, t1: Floats) -> Floats:
    """At least |degree| for any γ in ``[t0, t1]``."""
    strength = roots.strength[slots]
    peak = np.clip(criterion.peak(strength), t0, t1)
    degree, error = degree_of(roots, criterion, slots, peak)
    return degree + error
