"""Short lists that stand for many patterns: the subset-minimal, the Pareto-optimal and the maximal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate, groupby
from math import exp, inf, nextafter, prod
from operator import and_, eq
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import ANY, Scope, Xs, every
from auditor.search.additive.frontier import CONTEXTS, EXTENSIONS, NODE, Frontier
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, population_of
from auditor.search.additive.maximal import Maximal, covers
from auditor.search.additive.probable_counts import probable_pairs
from auditor.search.additive.ranking import rank, top_patterns
from auditor.search.additive.tree import Mask, Nodes, Slots, Tree
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: What takes patterns, and what tells which entries need not be looked into; see `_Walk.run`.
_Add = Callable[[Integers, Floats, Floats], None]
_Prune = Callable[[Integers, Floats, Floats], Mask]
#: A pattern as its attributes and the entries of their axes; see `_shape`.
_Part = list[tuple[int, int]]

#: Children looked at in one block, and the least nodes whose children they are.
_CHILDREN, _BLOCK = 1 << 14, 8
#: Pairs (x, y) up to which the maximal patterns are found in one dense array.
_DENSE = 1 << 25
#: Most probable patterns among which those of the Pareto front are looked for at a time.
_TOGETHER = 64
#: Probable patterns among which maximal ones are looked for.
_LISTED = 1 << 16
#: How many times as short the search is for maximal patterns that disclose everything.
_SHORTER = 8
#: Axes that a NumPy array may have.
_AXES = 32


@dataclass(frozen=True)
class Summary:
    """A list of patterns."""

    patterns: tuple[Pattern, ...]
    """Most probable first; ties are broken by `Pattern.key`."""
    complete: bool
    """Whether the list has all of them. Otherwise these are the first, by the order that the function names.
    """
    unproved: int = 0
    """So many at the end are not proved to be the first; others may come before them."""
    missing_at_most: float | None = None
    """Proved: none of the others that may come before them, or that may be all, has a greater probability.

    None: there are no such others, or nothing is known of them.
    """


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
    if limits.expired():
        return Summary((), complete=False)
    walk = _Walk(tables, criterion, min_probability, limits)
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

    One dominates another if it is at least as good in both and better in one. The first is the most probable
    pattern of all, and each next one the most probable of those with a larger |degree| than the one before.
    They are looked for among the most probable patterns, and then among those with a larger |degree| than all
    of these.
    """
    front: list[Pattern] = []
    largest, k = criterion.threshold, _TOGETHER
    while len(front) <= limit:
        rule = replace(criterion, threshold=largest)
        ranking = top_patterns(tables, rule, k, "probability", min_probability, limits=limits)
        if not ranking.complete:
            return Summary(tuple(front[:limit]), complete=False)
        cut = len(ranking.patterns) == k
        groups = [list(tied) for _, tied in groupby(ranking.patterns, key=lambda p: p.probability)]
        # Of those that tie with the last one some may be missing.
        whole = groups[:-1] if cut else groups
        for tied in whole:
            most = max(abs(pattern.degree) for pattern in tied)
            if most > largest:
                front += [replace(p, criterion=criterion) for p in tied if abs(p.degree) == most]
                # Degrees that measuring can't tell apart count as equal.
                largest = most * (1 + tables.exact.error)
        if not cut:
            break
        k = _TOGETHER if whole else k * 8
    return Summary(tuple(front[:limit]), complete=len(front) <= limit)


def maximal_patterns(
    tables: LogOdds,
    criterion: Criterion,
    limit: int,
    min_probability: Fraction | None = None,
    limits: Limits = DEFAULT,
) -> Summary:
    """The patterns of which no proper extension is one: any other attribute in y, a sensitive one in x or y.

    Where all pairs (x, y) fit in a dense array, all are found. In larger models the most probable ones are
    searched (`auditor.search.additive.maximal`), or all patterns that are probable enough are listed. Where
    limits leave open what else may come before, patterns that were found follow after those that are proved
    to be the first: they are maximal, whatever others there are.
    """
    if prod(_shape(tables)) > _DENSE or len(tables.values) > _AXES:
        if min_probability:
            return _maximal_among_probable(tables, criterion, limit, min_probability, limits)
        return _searched(tables, criterion, limit, limits)
    dense = _dense_patterns(tables, criterion, min_probability, limits)
    if dense is None:
        return Summary((), False)
    maximal = dense
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


def _searched(tables: LogOdds, criterion: Criterion, limit: int, limits: Limits) -> Summary:
    """The most probable maximal patterns, and behind them others that a shorter search finds."""
    # Those that disclose everything are found soon, whatever is left unproved.
    short = replace(limits, children=limits.children // _SHORTER)
    found = list[tuple[Assignment, Assignment]]()
    proved, complete, missing = 0, False, None
    for whole, searching in ((True, short), (False, limits)) if covers(tables) else ():
        search = Maximal(tables, criterion, limit, searching, whole=whole)
        search.run()
        found += [(x, y) for _, x, y in search.found]
        proved, complete = search.certain, search.above == -inf
        missing = min(1.0, nextafter(exp(search.above + 2 * population_of(tables).rounding), inf))
    if not found and not complete:
        everything = Scope(contexts="all")
        worst = worst_patterns(tables, criterion, limit, only_patterns=True, scope=everything, limits=limits)
        found = [(p.sensitive_values, p.context_values) for p in worst.patterns]
    summary = _summary(tables, criterion, list(dict.fromkeys(found)), None, limit, complete)
    return replace(
        summary,
        unproved=max(0, len(summary.patterns) - proved),
        missing_at_most=missing if proved < limit and not complete else None,
    )


def _maximal_among_probable(
    tables: LogOdds, criterion: Criterion, limit: int, least: Fraction, limits: Limits
) -> Summary:
    """The maximal ones of all patterns with ``P(xy) >= least``, unless these are too many to be listed."""
    pairs = probable_pairs(tables, criterion, least, ANY, _LISTED, limits)
    if pairs is None or limits.expired():
        return Summary((), complete=False)
    exact = tables.exact
    kept = [(x, y) for x, y in pairs if exact.discriminates(criterion, x, y) and exact.probable(x, y, least)]
    # For each value in x and each in y the patterns that have it, as the bits of a number.
    having = dict[tuple[bool, int, int], int]()
    entries = [[*((True, *z) for z in x), *((False, *z) for z in y)] for x, y in kept]
    for place, of_pair in enumerate(entries):
        for entry in of_pair:
            having[entry] = having.get(entry, 0) | 1 << place
    maximal = [
        pair
        for place, (pair, of_pair) in enumerate(zip(kept, entries, strict=True))
        if reduce(and_, (having[entry] for entry in of_pair)) == 1 << place
    ]
    return _summary(tables, criterion, maximal, least, limit, complete=True)


def _summary(
    tables: LogOdds,
    criterion: Criterion,
    assignments: list[tuple[Assignment, Assignment]],
    min_probability: Fraction | None,
    limit: int,
    complete: bool,
) -> Summary:
    exact = tables.exact
    likely = [at for at in assignments if min_probability is None or exact.probable(*at, min_probability)]
    measured = [exact.measure(criterion, x, y) for x, y in likely]
    patterns = rank([p for p in measured if abs(p.degree) > criterion.threshold], "probability")
    return Summary(tuple(patterns[:limit]), complete and len(patterns) <= limit)


class _Walk:
    """A walk of the tree, most probable node first."""

    def __init__(
        self,
        tables: LogOdds,
        criterion: Criterion,
        min_probability: Fraction | None,
        limits: Limits,
    ) -> None:
        self.criterion, self._limits = criterion, limits
        self.tables = tables
        self.tree = Tree(tables, criterion)
        self.least = -inf if not min_probability else float(ln(min_probability))
        #: Below it lies nothing that is probable enough.
        self._floor = self.least - self.tree.rounding
        self._min_probability = min_probability
        self._threshold = float(criterion.threshold)
        self._frontier = Frontier()
        self._looked_at = 0
        #: ``ln P`` of the most probable node that has not been expanded; -inf at the end.
        self.frontier = inf

    def run(self, add: _Add, prune: _Prune, enough: Callable[[float], bool]) -> bool:
        """Walk until the end, or until enough has been found; tells whether it was the end.

        Parameters
        ----------
        add : callable
            Takes the patterns of a block as places (parent and column of x and of y), with ``ln P(xy)`` and
            |degree|.
        prune : callable
            Which entries of a block need not be looked into: takes places, ``ln P(xy)``, and at least
            |degree| of whatever lies below.
        enough : callable
            Whether more than what is wanted lies above a probability.
        """
        tree, frontier = self.tree, self._frontier
        size = max(_BLOCK, _CHILDREN // (1 + len(tree.columns.attribute)))
        expanded, limits = 0, self._limits
        frontier.push(EXTENSIONS, np.zeros(1, dtype=np.int64), np.zeros(1))
        while True:
            self.frontier = frontier.best
            if not len(frontier):
                return True
            spent = expanded >= limits.nodes or self._looked_at >= limits.children
            if spent or enough(self.frontier) or limits.expired():
                return False
            kind, number, log_p = frontier.pop(size)
            expanded += len(kind)
            for handle, of_kind in (
                (self._extend, EXTENSIONS),
                (self._open, CONTEXTS),
                (self._expand, NODE),
            ):
                chosen = kind == of_kind
                if chosen.any():
                    handle(number[chosen], log_p[chosen], add, prune)

    def _extend(self, ids: Integers, log_p: Floats, add: _Add, prune: _Prune) -> None:
        """Look at the x that disclose one attribute more."""
        tree = self.tree
        xs = tree.xs.at(ids)
        ids = ids[~prune(self._places_of(xs), log_p, np.full(len(xs), inf))]
        xs = tree.xs.children(ids)
        slots = tree.slots(xs)
        log_p = slots.log_probability(tree.unopened(xs))
        likely = log_p >= self._floor
        xs, slots, log_p = xs[likely], slots[likely], log_p[likely]
        ids = tree.xs.keep(xs)
        within = slots.low <= slots.high
        self._frontier.push(CONTEXTS, ids[within], log_p[within])
        low, high = tree.tables.reals(xs.low) - tree.wider, tree.tables.reals(xs.high) + tree.wider
        most = np.maximum(*(tree.largest_degree(s, low, high) for s in tree.xs.range(xs)))
        more = (most > self._threshold) & tree.xs.extensible(xs)
        self._frontier.push(EXTENSIONS, ids[more], log_p[more])

    def _open(self, ids: Integers, log_p: Floats, add: _Add, prune: _Prune) -> None:
        """Look at x themselves."""
        tree = self.tree
        xs = tree.xs.at(ids)
        low, high = tree.tables.reals(xs.low) - tree.wider, tree.tables.reals(xs.high) + tree.wider
        most = tree.largest_degree(xs.strength, low, high)
        ids = ids[~prune(self._places_of(xs), log_p, most)]
        self._look(tree.open(ids), add, prune)

    def _expand(self, ids: Integers, log_p: Floats, add: _Add, prune: _Prune) -> None:
        nodes = self.tree.at(ids)
        places, most = self._below(nodes)
        kept = ~prune(places, log_p, most)
        self._look(nodes[kept], add, prune, ids[kept])

    def _look(self, nodes: Nodes, add: _Add, prune: _Prune, ids: Integers | None = None) -> None:
        """Add those that are patterns, and keep what discloses one attribute more."""
        tree = self.tree
        slots = tree.roots[nodes.slot]
        places, _ = self._below(nodes)
        self._add(places, slots, nodes, slots.log_probability(nodes), add)
        more = tree.extensible(nodes)
        ids = tree.keep(nodes[more]) if ids is None else ids[more]
        # What has just been added prunes too.
        places, most = self._below(tree.at(ids))
        ids = ids[~prune(places, slots.log_probability(nodes)[more], most)]
        children = tree.children(ids)
        self._looked_at += len(children)
        slots = tree.roots[children.slot]
        log_p = slots.log_probability(children)
        # A node whose contexts can't reach the interval of its x has no pattern below it.
        low, _, high = tree.reach(children)
        keep = (log_p >= self._floor) & (low <= slots.high) & (high >= slots.low)
        children, log_p = children[keep], log_p[keep]
        self._frontier.push(NODE, tree.keep(children), log_p)

    def _places_of(self, xs: Xs) -> Integers:
        nothing = np.full(len(xs), -1)
        return np.column_stack([xs.parent, xs.column, nothing, nothing])

    def _below(self, nodes: Nodes) -> tuple[Integers, Floats]:
        """The places of nodes, and at least |degree| of whatever lies below them."""
        tree = self.tree
        x = tree.xs.at(tree.x_of[nodes.slot])
        low, _, high = tree.reach(nodes)
        return (
            np.column_stack([x.parent, x.column, nodes.parent, nodes.column]),
            tree.largest_degree(x.strength, low - tree.wider, high + tree.wider),
        )

    def _add(self, places: Integers, slots: Slots, nodes: Nodes, log_p: Floats, add: _Add) -> None:
        """Add those that are discrimination patterns, exactly."""
        degree, error = self.tree.degree(slots.strength, self.tables.reals(nodes.gamma))
        pattern = degree > self._threshold
        unlikely = log_p < self.least + self.tree.rounding
        doubtful = (np.abs(degree - self._threshold) <= error) | (pattern & unlikely)
        for i in np.flatnonzero(doubtful).tolist():
            x, y = self.pattern(places[i].tolist())
            pattern[i] = self.tables.exact.discriminates(self.criterion, x, y) and (
                self._min_probability is None or self.tables.exact.probable(x, y, self._min_probability)
            )
        if pattern.any():
            add(places[pattern], log_p[pattern], degree[pattern])

    def pattern(self, place: list[int]) -> tuple[Assignment, Assignment]:
        """The pair (x, y) at a place."""
        return self.tree.xs.assignment(place[0], place[1]), self.tree.context(place[2], place[3])


class _Found:
    """Patterns met on a walk, with ``ln P(xy)`` and |degree|."""

    def __init__(self, walk: _Walk) -> None:
        self.walk = walk
        self.places: Integers = np.empty((0, 4), dtype=np.int64)
        self.log_p, self.degree = np.empty(0), np.empty(0)

    def number_above(self, log_p: float) -> int:
        """How many are more probable than anything still to come."""
        return int((self.log_p > log_p + 2 * self.walk.tree.rounding).sum())

    def assignments(self, frontier: float) -> list[tuple[Assignment, Assignment]]:
        """The pairs (x, y) of those that nothing still to come can change."""
        certain = (self.log_p > frontier + 2 * self.walk.tree.rounding) | (frontier == -inf)
        return [self.walk.pattern(place) for place in self.places[certain].tolist()]

    def _append(self, places: Integers, log_p: Floats, degree: Floats) -> None:
        self.places = np.concatenate([self.places, places])
        self.log_p, self.degree = np.append(self.log_p, log_p), np.append(self.degree, degree)

    def _keep(self, kept: Mask) -> None:
        self.places, self.log_p, self.degree = self.places[kept], self.log_p[kept], self.degree[kept]


class _Minimal(_Found):
    """The patterns met of which no part has been met."""

    def __init__(self, walk: _Walk) -> None:
        super().__init__(walk)
        values = walk.tables.values
        sizes = np.array([len(row) for row in values])
        self._type = np.min_scalar_type(2 * int(sizes.max()))
        columns, xs = walk.tree.columns, np.array(walk.tree.xs.values, dtype=np.int64).reshape(-1, 2)
        #: Per column of contexts and of combinations its attribute, and the entry that stands for its value.
        self._of_contexts = columns.attribute, (1 + columns.value).astype(self._type)
        self._of_combinations = xs[:, 0], (1 + sizes[xs[:, 0]] + xs[:, 1]).astype(self._type)
        self._found: list[_Part] = []
        # What has many values tells most patterns apart.
        self._order = np.argsort(-sizes, kind="stable")

    def add(self, places: Integers, log_p: Floats, degree: Floats) -> None:
        """Add patterns, and drop those of which a part is known."""
        entries = self._entries(places)
        new = ~_contains(entries, self._found)
        places, log_p, degree, entries = places[new], log_p[new], degree[new], entries[:, new]
        # Of a block's own patterns the parts come first.
        parts, sizes = list[_Part](), (entries > 0).sum(axis=0)
        new = np.zeros(len(places), dtype=bool)
        for size in np.flatnonzero(np.bincount(sizes)).tolist():
            here = np.flatnonzero(sizes == size)
            here = here[~_contains(entries[:, here], parts)]
            new[here] = True
            parts += self._parts(entries[:, here])
        known = ~_contains(self._entries(self.places), parts)
        self._keep(known)
        self._found = [part for part, kept in zip(self._found, known.tolist(), strict=True) if kept]
        self._found += self._parts(entries[:, new])
        self._append(places[new], log_p[new], degree[new])

    def prune(self, places: Integers, log_p: Floats, most: Floats) -> Mask:
        """Entries that contain a known pattern."""
        return _contains(self._entries(places), self._found)

    def _parts(self, entries: npt.NDArray[Any]) -> list[_Part]:
        return [
            [(i, entry) for i, entry in zip(self._order.tolist(), column, strict=True) if entry]
            for column in entries[self._order].T.tolist()
        ]

    def _entries(self, places: Integers) -> npt.NDArray[Any]:
        """What patterns disclose, a row for each attribute, by way of their parents."""
        entries = np.zeros((len(self.walk.tables.values), len(places)), dtype=self._type)
        tree = self.walk.tree
        for (attribute, entry), at, place in (
            (self._of_combinations, tree.xs.at, places[:, :2]),
            (self._of_contexts, tree.at, places[:, 2:]),
        ):
            pattern, parent, column = np.arange(len(places)), place[:, 0], place[:, 1]
            while True:
                disclosed = column >= 0
                pattern, parent, column = pattern[disclosed], parent[disclosed], column[disclosed]
                if not len(pattern):
                    break
                entries[attribute[column], pattern] = entry[column]
                above = at(parent)
                parent, column = above.parent, above.column
        return entries


def _contains(entries: npt.NDArray[Any], parts: Sequence[_Part]) -> Mask:
    """Which columns contain any of the parts."""
    contains = np.zeros(entries.shape[1], dtype=bool)
    if not len(contains):
        return contains
    # Parts that begin alike are looked for together: `left` has the columns that contain each beginning.
    before, left = _Part(), list[Integers]()
    for part in sorted(parts):
        del left[sum(accumulate(map(eq, before, part), and_)) :]
        for i, entry in part[len(left) :]:
            if not left:
                left.append((entries[i] == entry).nonzero()[0])
            elif len(left[-1]):
                left.append(left[-1][entries[i, left[-1]] == entry])
        before = part[: len(left)]
        if len(left) == len(part):
            contains[left[-1]] = True
    return contains


def _shape(tables: LogOdds) -> list[int]:
    """Length of each attribute's axis: not disclosed, each value in y, and each in x if sensitive."""
    return [1 + len(row) * (1 + (i in tables.sensitive)) for i, row in enumerate(tables.values)]


def _dense_patterns(
    tables: LogOdds, criterion: Criterion, min_probability: Fraction | None, limits: Limits
) -> Mask | None:
    """Whether each pair (x, y) is a discrimination pattern, with an axis per attribute; see `_shape`.

    None where time is up.
    """
    patterns = np.zeros(_shape(tables), dtype=bool)
    grown, ids = every(tables)
    xs = grown.at(ids)
    for parent, column in zip(xs.parent.tolist(), xs.column.tolist(), strict=True):
        if limits.expired():
            return None
        x = grown.assignment(parent, column)
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
            doubtful |= np.abs(log_p - least) <= population_of(tables).rounding
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
    likely: Integers = places[probability >= least - 2 * population.rounding]
    return likely
