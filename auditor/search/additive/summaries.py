"""Short lists that stand for many patterns: the subset-minimal, the Pareto-optimal and the maximal ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import all_combinations
from auditor.search.additive.counting import Coverage, PatternCount, pairs_over
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, population_of
from auditor.search.additive.ranking import rank
from auditor.search.additive.tree import ROUNDING, Mask, Nodes, Tree, degree_of, largest_degree
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: Children looked at in one block, and the least nodes whose children they are.
_CHILDREN, _BLOCK = 1 << 14, 8
#: Pairs (x, y) up to which the maximal patterns are found in one dense array.
_DENSE = 1 << 25
#: Axes that a NumPy array may have.
_AXES = 32


@dataclass(frozen=True)
class Summary:
    """A list of patterns.

    Attributes
    ----------
    patterns : tuple of Pattern
        Most probable first; ties are broken by `Pattern.key`.
    complete : bool
        Whether the list has all of them. Otherwise these are the first, by the order that the function names.
    """

    patterns: tuple[Pattern, ...]
    complete: bool


def minimal_patterns(
    tables: LogOdds,
    criterion: Criterion,
    limit: int,
    min_probability: Fraction | None = None,
    limits: Limits = DEFAULT,
) -> Summary:
    """The patterns of which no proper part (x' ⊆ x non-empty, y' ⊆ y) is a pattern, the most probable first.

    Every pattern contains one of them, though not every extension of one is a pattern. The tree is walked
    most probable node first: the probability only falls along an extension, so that the parts of a node are
    met before it, and nothing below a pattern needs to be looked at.
    """
    walk = _Walk(tables, criterion, min_probability, limits)
    if walk.tree.roots.truncated:
        # What has no part among the roots that are there may have one among the others.
        return Summary((), False)
    found = _Minimal(walk)
    complete = walk.run(found.add, found.prune, lambda least: found.number_above(least) > limit)
    return _summary(tables, criterion, found.assignments(walk.frontier), min_probability, limit, complete)


def pareto_patterns(
    tables: LogOdds,
    criterion: Criterion,
    limit: int,
    min_probability: Fraction | None = None,
    limits: Limits = DEFAULT,
) -> Summary:
    """The patterns that no other dominates in probability and |degree|, the most probable first.

    One dominates another if it is at least as good in both and better in one. The tree is walked most
    probable node first; a node is left out when a pattern already met is more probable than it and its
    degree greater than any that can be reached below it.
    """
    walk = _Walk(tables, criterion, min_probability, limits)
    if walk.tree.roots.truncated:
        return Summary((), False)
    found = _Front(walk)
    complete = walk.run(found.add, found.prune, lambda least: found.number_above(least) > limit)
    candidates = [tables.exact.measure(criterion, x, y) for x, y in found.assignments(walk.frontier)]
    kept = [p for p in candidates if _counts(p, criterion, min_probability)]
    front: list[Pattern] = []
    best = Fraction(-1)
    for pattern in sorted(kept, key=lambda p: (-p.probability, -abs(p.degree), p.key)):
        tied = bool(front) and (abs(pattern.degree), pattern.probability) == (best, front[-1].probability)
        if abs(pattern.degree) > best or tied:
            front.append(pattern)
            best = abs(pattern.degree)
    return Summary(tuple(front[:limit]), complete and len(front) <= limit)


def maximal_patterns(
    tables: LogOdds,
    criterion: Criterion,
    limit: int,
    min_probability: Fraction | None = None,
    limits: Limits = DEFAULT,
) -> Summary:
    r"""The patterns of which no proper extension is one: any other attribute in y, a sensitive one in x or y.

    Where all pairs (x, y) fit in a dense array, all are found, and the first are the most probable. In larger
    models only patterns that disclose everything, X = S and Y = Z \\ S, are listed, those of largest
    |degree| first.
    """
    if prod(_shape(tables)) > _DENSE or len(tables.values) > _AXES:
        if min_probability is not None:
            return Summary((), False)
        worst = worst_patterns(tables, criterion, limit, only_patterns=True, individual=True, limits=limits)
        return Summary(tuple(rank(worst.patterns, "probability")), False)
    maximal = _dense_patterns(tables, criterion, min_probability)
    # First whether the pattern or any extension is one (superset sums of "or", one axis at a time), then
    # whether any extension by one more value is.
    reachable = maximal.copy()
    for axis in range(maximal.ndim):
        first = np.moveaxis(reachable, axis, 0)
        first[0] |= first[1:].any(axis=0)
    for axis in range(maximal.ndim):
        first, extended = np.moveaxis(maximal, axis, 0), np.moveaxis(reachable, axis, 0)
        first[0] &= ~extended[1:].any(axis=0)
    places = np.argwhere(maximal)
    return _summary(
        tables,
        criterion,
        [_assignments(tables, place) for place in _most_probable(tables, places, limit).tolist()],
        min_probability,
        limit,
        len(places) <= limit,
    )


def count_probable_patterns(
    tables: LogOdds, criterion: Criterion, min_probability: Fraction, limits: Limits = DEFAULT
) -> PatternCount:
    """Count exactly the discrimination patterns with ``P(xy) >= min_probability`` by walking to them."""
    walk = _Walk(tables, criterion, min_probability, limits)
    found: Counter[int] = Counter()

    def add(nodes: Nodes, log_p: Floats, degree: Floats) -> None:
        found.update(nodes.slot.tolist())

    if not walk.run(add, lambda nodes, log_p: np.zeros(len(nodes), dtype=bool), lambda least: False):
        reason = "a limit was reached before all patterns so probable were counted"
        return PatternCount(found.total(), tables.total_patterns(), reason, ())
    patterns: Counter[tuple[int, ...]] = Counter()
    for slot, number in found.items():
        patterns[tuple(i for i, _ in walk.tree.roots.combinations[slot])] += number
    sensitive = tables.sensitive
    coverage = tuple(
        Coverage(
            disclosed,
            "exhausted",
            pairs_over(tables, disclosed),
            patterns[disclosed],
            patterns[disclosed],
        )
        for size in range(1, len(sensitive) + 1)
        for disclosed in combinations(sensitive, size)
    )
    return PatternCount(patterns.total(), patterns.total(), None, coverage)


def _counts(pattern: Pattern, criterion: Criterion, min_probability: Fraction | None) -> bool:
    return abs(pattern.degree) > criterion.threshold and (
        min_probability is None or pattern.probability >= min_probability
    )


def _summary(
    tables: LogOdds,
    criterion: Criterion,
    assignments: list[tuple[Assignment, Assignment]],
    min_probability: Fraction | None,
    limit: int,
    complete: bool,
) -> Summary:
    measured = [tables.exact.measure(criterion, x, y) for x, y in assignments]
    patterns = rank([p for p in measured if _counts(p, criterion, min_probability)], "probability")
    return Summary(tuple(patterns[:limit]), complete and len(patterns) <= limit)


class _Walk:
    """A walk of the tree, most probable node first."""

    def __init__(
        self, tables: LogOdds, criterion: Criterion, min_probability: Fraction | None, limits: Limits
    ) -> None:
        self.criterion, self._limits = criterion, limits
        self.tables = tables
        self.tree = Tree(tables, criterion, limits)
        self.least = -inf if not min_probability else float(ln(min_probability))
        self._min_probability = min_probability
        #: ``ln P`` of the most probable node that has not been expanded; -inf at the end.
        self.frontier = inf

    def run(
        self,
        add: Callable[[Nodes, Floats, Floats], None],
        prune: Callable[[Nodes, Floats], Mask],
        enough: Callable[[float], bool],
    ) -> bool:
        """Walk until the end, or until enough has been found; tells whether it was the end.

        Parameters
        ----------
        add : callable
            Takes the patterns of a block, with ``ln P(xy)`` and |degree|.
        prune : callable
            Which nodes of a block need not be expanded.
        enough : callable
            Whether more than what is wanted lies above a probability.
        """
        tree, roots = self.tree, self.tree.roots
        ids: Integers = np.empty(0, dtype=np.int64)
        log_p = np.empty(0)
        expanded = 0
        nodes = tree.root_nodes()
        while True:
            probability = roots.log_probability(nodes)
            likely = probability >= self.least - ROUNDING
            nodes, probability = nodes[likely], probability[likely]
            pattern, degree = self._patterns(nodes, probability)
            add(nodes[pattern], probability[pattern], degree[pattern])
            # A node whose contexts can't reach the interval of its x has no pattern below it.
            low, _, high = roots.reach(nodes)
            open_ = (low <= roots.high[nodes.slot]) & (high >= roots.low[nodes.slot])
            open_ &= nodes.position < len(tree.columns.order)
            nodes, probability = nodes[open_], probability[open_]
            keep = ~prune(nodes, probability)
            ids, log_p = np.append(ids, tree.keep(nodes[keep])), np.append(log_p, probability[keep])
            self.frontier = float(log_p.max()) if len(ids) else -inf
            if not len(ids):
                return not roots.truncated
            if enough(self.frontier) or expanded >= self._limits.nodes or self._limits.expired():
                return False
            size = min(max(_BLOCK, _CHILDREN // (1 + len(tree.columns.attribute))), len(ids))
            chosen = np.argpartition(log_p, len(ids) - size)[len(ids) - size :]
            # What has been found since they were kept may make some needless.
            block = ids[chosen][~prune(tree.at(ids[chosen]), log_p[chosen])]
            nodes = tree.children(block)
            ids, log_p = np.delete(ids, chosen), np.delete(log_p, chosen)
            expanded += len(block)

    def _patterns(self, nodes: Nodes, log_p: Floats) -> tuple[Mask, Floats]:
        """Which nodes are discrimination patterns, exactly, and their |degree|."""
        roots = self.tree.roots
        degree, error = degree_of(roots, self.criterion, nodes.slot, nodes.gamma / (1 << roots.bits))
        threshold = float(self.criterion.threshold)
        pattern = degree > threshold
        doubtful = (np.abs(degree - threshold) <= error) | (pattern & (log_p < self.least + ROUNDING))
        for i in np.flatnonzero(doubtful).tolist():
            x, y = self.tree.pattern(int(nodes.slot[i]), int(nodes.parent[i]), int(nodes.column[i]))
            pattern[i] = self.tables.exact.discriminates(self.criterion, x, y) and (
                self._min_probability is None or self.tables.exact.probable(x, y, self._min_probability)
            )
        return pattern, degree


class _Found:
    """Patterns met on a walk, with ``ln P(xy)`` and |degree|."""

    def __init__(self, walk: _Walk) -> None:
        self.walk = walk
        self.nodes = Nodes.none()
        self.log_p, self.degree = np.empty(0), np.empty(0)

    def number_above(self, log_p: float) -> int:
        """How many are more probable than anything still to come."""
        return int((self.log_p > log_p + 2 * ROUNDING).sum())

    def assignments(self, frontier: float) -> list[tuple[Assignment, Assignment]]:
        """The pairs (x, y) of those that nothing still to come can change."""
        certain = self.nodes[self.log_p > frontier + 2 * ROUNDING] if frontier > -inf else self.nodes
        return [
            self.walk.tree.pattern(*place)
            for place in zip(
                certain.slot.tolist(), certain.parent.tolist(), certain.column.tolist(), strict=True
            )
        ]

    def _keep(self, kept: Mask) -> None:
        self.nodes, self.log_p, self.degree = self.nodes[kept], self.log_p[kept], self.degree[kept]


class _Minimal(_Found):
    """The patterns met of which no part has been met, as bit masks over the values in x and in y."""

    def __init__(self, walk: _Walk) -> None:
        super().__init__(walk)
        columns, roots = walk.tree.columns, walk.tree.roots
        offsets = np.cumsum([0, *map(len, walk.tables.values)])
        self._words = 1 + 2 * int(offsets[-1]) // 64
        self._column_masks = self._masks(offsets[columns.attribute] + columns.value)
        self._root_masks = np.zeros((len(roots.combinations), self._words), dtype=np.uint64)
        for slot, x in enumerate(roots.combinations):
            bits = np.array([int(offsets[-1] + offsets[i]) + v for i, v in x])
            self._root_masks[slot] = np.bitwise_or.reduce(self._masks(bits), axis=0)
        self._found_masks = np.zeros((0, self._words), dtype=np.uint64)

    def _masks(self, bits: Integers) -> npt.NDArray[np.uint64]:
        masks = np.zeros((len(bits), self._words), dtype=np.uint64)
        masks[np.arange(len(bits)), bits // 64] = np.uint64(1) << (bits % 64).astype(np.uint64)
        return masks

    def add(self, nodes: Nodes, log_p: Floats, degree: Floats) -> None:
        """Add patterns, and drop those of which a part is known."""
        new = ~self.prune(nodes, log_p)
        nodes, log_p, degree = nodes[new], log_p[new], degree[new]
        masks = self._of(nodes)
        new = ~_contains(masks, masks, proper=True)
        known = ~_contains(self._found_masks, masks[new])
        self._keep(known)
        self._found_masks = np.concatenate([self._found_masks[known], masks[new]])
        self.nodes += nodes[new]
        self.log_p, self.degree = np.append(self.log_p, log_p[new]), np.append(self.degree, degree[new])

    def prune(self, nodes: Nodes, log_p: Floats) -> Mask:
        """Nodes that contain a known pattern."""
        return _contains(self._of(nodes), self._found_masks)

    def _of(self, nodes: Nodes) -> npt.NDArray[np.uint64]:
        """Bit masks of nodes, by way of those of their parents."""
        masks = self._root_masks[nodes.slot].copy()
        column, parent = nodes.column, nodes.parent
        while (disclosed := column >= 0).any():
            masks[disclosed] |= self._column_masks[column[disclosed]]
            above = self.walk.tree.at(np.where(disclosed, parent, 0))
            column = np.where(disclosed, above.column, -1)
            parent = np.where(disclosed, above.parent, -1)
        return masks


def _contains(masks: npt.NDArray[np.uint64], parts: npt.NDArray[np.uint64], *, proper: bool = False) -> Mask:
    """Which masks contain any of the parts; with ``proper``, one that is not the mask itself."""
    contains = np.zeros(len(masks), dtype=bool)
    for part in parts:
        contains |= ((masks & part) == part).all(axis=1) & (not proper or (masks != part).any(axis=1))
    return contains


class _Front(_Found):
    """The patterns met that no other dominates, to within rounding."""

    def add(self, nodes: Nodes, log_p: Floats, degree: Floats) -> None:
        """Add patterns, and drop those that are dominated."""
        self.nodes += nodes
        self.log_p, self.degree = np.append(self.log_p, log_p), np.append(self.degree, degree)
        self._keep(~self._dominated(self.log_p, self.degree))

    def prune(self, nodes: Nodes, log_p: Floats) -> Mask:
        """Nodes below which every pattern is dominated."""
        low, _, high = self.walk.tree.roots.reach(nodes)
        most = largest_degree(self.walk.tree.roots, self.walk.criterion, nodes.slot, low - 1e-9, high + 1e-9)
        return self._dominated(log_p, most)

    def number_above(self, log_p: float) -> int:
        """How many are more probable than anything still to come, and certainly not dominated."""
        certain = self.log_p > log_p + 2 * ROUNDING
        probability, degree = self.log_p[certain], self.degree[certain]
        no_worse = (probability > probability[:, None] - 2 * ROUNDING) & (
            degree > degree[:, None] * (1 - ROUNDING)
        )
        return int((no_worse.sum(axis=1) == 1).sum())

    def _dominated(self, log_p: Floats, degree: Floats) -> Mask:
        """Whether a pattern met is certainly better in both."""
        if not len(self.log_p):
            return np.zeros(len(log_p), dtype=bool)
        order = np.argsort(-self.log_p, kind="stable")
        best = np.append(-inf, np.maximum.accumulate(self.degree[order]))
        more_probable = np.searchsorted(-self.log_p[order], -(log_p + 2 * ROUNDING))
        dominated: Mask = best[more_probable] > degree * (1 + ROUNDING)
        return dominated


def _shape(tables: LogOdds) -> list[int]:
    """Length of each attribute's axis: not disclosed, each value in y, and each in x if sensitive."""
    return [1 + len(row) * (1 + (i in tables.sensitive)) for i, row in enumerate(tables.values)]


def _dense_patterns(tables: LogOdds, criterion: Criterion, min_probability: Fraction | None) -> Mask:
    """Whether each pair (x, y) is a discrimination pattern, with an axis per attribute; see `_shape`."""
    patterns = np.zeros(_shape(tables), dtype=bool)
    for x in all_combinations(tables):
        interval = tables.exact.interval(criterion, x)
        if interval is None:
            continue
        outside = tables.outside(x)
        gamma = _outer_sum([tables.options[i] for i in outside]) + tables.prior
        low, high = interval
        inside = np.ones(gamma.shape, dtype=bool)
        doubtful = np.zeros(gamma.shape, dtype=bool)
        for end, sign in ((low, 1), (high, -1)):
            if end is None:
                continue
            down, up = tables.units(end)
            inside &= sign * gamma > sign * down
            doubtful |= (gamma >= down - tables.slack) & (gamma <= up + tables.slack)
        if min_probability is not None:
            log_p = _log_probability(tables, x, outside)
            least = float(ln(min_probability)) if min_probability else -inf
            inside &= log_p >= least
            doubtful |= np.abs(log_p - least) <= ROUNDING
        # Entry e of an axis of `gamma` is the value finite[e - 1] in y, 0 where not disclosed.
        entries = [np.array([0, *(1 + v for v in tables.finite[i])]) for i in outside]
        for place in np.argwhere(doubtful).tolist():
            y = tuple(
                (i, int(row[entry]) - 1)
                for i, row, entry in zip(outside, entries, place, strict=True)
                if entry
            )
            inside[tuple(place)] = tables.exact.discriminates(criterion, x, y) and (
                min_probability is None or tables.exact.probable(x, y, min_probability)
            )
        fixed = {i: np.array([1 + len(tables.values[i]) + v]) for i, v in x}
        free = dict(zip(outside, entries, strict=True))
        axes = np.ix_(*(fixed[i] if i in fixed else free[i] for i in range(len(tables.values))))
        patterns[axes] = inside.reshape(
            [1 if i in fixed else len(free[i]) for i in range(len(tables.values))]
        )
    return patterns


def _log_probability(tables: LogOdds, x: Assignment, outside: tuple[int, ...]) -> Floats:
    """``ln P(xy)`` for every context of x, shaped like its γ."""
    population = population_of(tables)
    sides = []
    for side in (0, 1):
        rows = [[0.0, *population.log_likelihood[i][list(tables.finite[i]), side]] for i in outside]
        given = sum(population.log_likelihood[i][v, side] for i, v in x)
        sides.append(_outer_sum([np.array(row) for row in rows]) + population.log_prior[side] + given)
    log_p: Floats = np.logaddexp(*sides)
    return log_p


def _outer_sum(rows: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Sums of one entry of each row, with an axis per row."""
    total = np.zeros((), dtype=rows[0].dtype if rows else np.int64)
    for row in rows:
        total = total[..., None] + row
    return total


def _assignments(tables: LogOdds, place: list[int]) -> tuple[Assignment, Assignment]:
    """The pair at a place of the dense array."""
    x, y = [], []
    for i, (entry, row) in enumerate(zip(place, tables.values, strict=True)):
        if entry > len(row):
            x.append((i, entry - 1 - len(row)))
        elif entry:
            y.append((i, entry - 1))
    return tuple(x), tuple(y)


def _most_probable(tables: LogOdds, places: Integers, limit: int) -> Integers:
    """The places of the dense array that can be among the ``limit`` most probable."""
    population = population_of(tables)
    sides = []
    for side in (0, 1):
        log_p = np.full(len(places), population.log_prior[side])
        for i, rows in enumerate(population.log_likelihood):
            log_p += np.concatenate([[0.0], rows[:, side], rows[:, side]])[places[:, i]]
        sides.append(log_p)
    probability = np.logaddexp(*sides)
    if len(places) <= limit:
        return places
    least = np.partition(probability, len(places) - limit)[len(places) - limit]
    likely: Integers = places[probability >= least - 2 * ROUNDING]
    return likely
