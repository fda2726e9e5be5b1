"""The best patterns by divergence, probability or degree: branch and bound over the tree of patterns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from heapq import merge
from itertools import groupby, islice
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.choices import RankBy
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.bounds import Bounds
from auditor.search.additive.combinations import ANY, Scope, Xs
from auditor.search.additive.frontier import CONTEXTS, EXTENSIONS, NODE, Frontier
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, population_of
from auditor.search.additive.moves import Moves
from auditor.search.additive.subset_sums import arranged
from auditor.search.additive.tree import (
    LEAST,
    Mask,
    Nodes,
    Slots,
    Tree,
    kl,
    logistic,
    moved,
    safe_log,
)
from auditor.search.criteria import LOST, Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: Divergences equal in 28 digits tie: what is equal in theory differs in the last of the digits computed.
_TIES = Context(prec=28, Emax=10**9, Emin=-(10**9))
#: Least and most nodes expanded in one block.
_BLOCK = (32, 256)
#: Candidates measured at most, and between two looks at the clock.
_MEASURED, _AT_ONCE = 1 << 17, 64
#: A number that belongs to a value of an attribute.
_OfValue = Callable[[int, int], float]
#: Combinations extended at once, how many times as long an x takes to bound as a context, and how many
#: contexts may be bounded between two looks at the clock.
_WIDE, _DEARER, _CHILDREN = 64, 8, 1 << 17
#: How often what x may still move s is divided, where disclosing more costs probability.
_HALVINGS = 6


@dataclass(frozen=True)
class Ranking:
    """The best patterns by a score."""

    patterns: tuple[Pattern, ...]
    """Best first; ties are broken by `Pattern.key`."""
    complete: bool
    """Whether no other pattern belongs in the list."""
    nodes: int
    evaluated: int
    """Nodes expanded, and patterns whose score was evaluated."""
    upper: float
    """No pattern that is not listed scores more than this or than the last one listed; 0 when complete."""


def rank(patterns: Sequence[Pattern], rank_by: RankBy) -> list[Pattern]:
    """Patterns by decreasing score, ties broken by `Pattern.key`."""
    if len(patterns) < 2:
        return list(patterns)
    # Floats are rounded, but never the wrong way round; exact scores tell apart those that are the same.
    scored = [(score(pattern, rank_by), pattern) for pattern in patterns]
    return [pattern for _, pattern in sorted(scored, key=lambda at: (-float(at[0]), -at[0], at[1].key))]


def score(pattern: Pattern, rank_by: RankBy) -> Fraction | Decimal:
    """By what a pattern is ranked."""
    if rank_by == "discrimination":
        return abs(pattern.degree)
    return pattern.probability if rank_by == "probability" else _TIES.plus(pattern.divergence)


def top_patterns(
    tables: LogOdds,
    criterion: Criterion,
    k: int,
    rank_by: RankBy = "divergence",
    min_probability: Fraction | None = None,
    *,
    only_patterns: bool = True,
    scope: Scope = ANY,
    all_at_once: bool = False,
    limits: Limits = DEFAULT,
) -> Ranking:
    """The k best discrimination patterns by a score.

    Nodes are expanded best bound first, in blocks.

    Parameters
    ----------
    rank_by : {"divergence", "discrimination", "probability"}
    min_probability : Fraction, optional
        Only patterns with ``P(xy)`` at least this.
    only_patterns : bool
        Only pairs with ``|degree| > threshold``. Without it every pair is ranked, which has a use for
        "discrimination" only.
    all_at_once : bool
        Whether to score every pair instead, in arrays as long as there are pairs. Of few pairs that takes
        less time; for the scope of any pair only.
    """
    if all_at_once and scope != ANY:
        raise ValueError("pairs of a part of them can't be scored all at once")
    if not only_patterns and rank_by != "discrimination":
        raise ValueError("pairs that are no discrimination patterns have no divergence to rank")
    if limits.expired():
        return Ranking((), complete=False, nodes=0, evaluated=0, upper=inf)
    search = (_Everything if all_at_once else _Search)(
        tables, criterion, rank_by, min_probability, only_patterns, scope, limits
    )
    complete, upper = search.run(k), search.upper
    ranked: list[Pattern] = []
    # Only those that floats can't tell apart are worth their exact scores.
    alike: list[Pattern] = []
    least = inf
    for number, (above, below, x, y) in enumerate(search.candidates()):
        if number >= _MEASURED or (number % _AT_ONCE == 0 and number and limits.expired()):
            complete, upper = False, max(upper, above)
            break
        if above < least:
            ranked += rank(alike, rank_by)
            alike, least = [], inf
            if len(ranked) >= k:
                break
        if min_probability is None or tables.exact.probable(x, y, min_probability):
            pattern = tables.exact.measure(criterion, x, y)
            if not only_patterns or abs(pattern.degree) > criterion.threshold:
                alike.append(pattern)
                least = min(least, below)
    ranked = (ranked + rank(alike, rank_by))[:k]
    return Ranking(
        patterns=tuple(ranked) if all_at_once else _with_alike(scope.kinds(tables), ranked, rank_by, k),
        complete=complete,
        nodes=search.nodes,
        evaluated=search.evaluated,
        upper=upper,
    )


def _with_alike(
    kinds: Sequence[Hashable], patterns: list[Pattern], rank_by: RankBy, k: int
) -> tuple[Pattern, ...]:
    """The k best of ranked patterns and of those that come of them where alike attributes change places."""
    if len(set(kinds)) == len(kinds):
        return tuple(patterns)
    found: list[Pattern] = []
    for _, tied in groupby(patterns, key=lambda pattern: score(pattern, rank_by)):
        everyone = [
            map(
                partial(_placed, pattern),
                arrangements(kinds, pattern.sensitive_values, pattern.context_values),
            )
            for pattern in tied
        ]
        found += islice(merge(*everyone, key=lambda pattern: pattern.key), k - len(found))
        if len(found) >= k:
            break
    return tuple(found)


def _placed(pattern: Pattern, pair: tuple[Assignment, Assignment]) -> Pattern:
    return replace(pattern, sensitive_values=pair[0], context_values=pair[1])


def arrangements(
    kinds: Sequence[Hashable], x: Assignment, y: Assignment
) -> Iterator[tuple[Assignment, Assignment]]:
    """All pairs that come of (x, y) where attributes of a kind change places, by rising `Pattern.key`."""
    everywhere = range(len(kinds))
    for sensitive_values in placed(kinds, everywhere, x):
        taken = {i for i, _ in sensitive_values}
        for context_values in placed(kinds, [i for i in everywhere if i not in taken], y):
            yield sensitive_values, context_values


def placed(
    kinds: Sequence[Hashable] | Mapping[int, Hashable], free: Iterable[int], values: Assignment
) -> Iterator[Assignment]:
    """Every way to disclose some values by free attributes of the same kinds, in order."""
    last = 1 + max((v for _, v in values), default=0)
    # Of each kind how often each value is left, and at the end how many attributes disclose none.
    left = {kinds[i]: [0] * (last + 1) for i, _ in values}
    places = [i for i in free if kinds[i] in left]
    for i in places:
        left[kinds[i]][last] += 1
    for i, v in values:
        left[kinds[i]][v] += 1
        left[kinds[i]][last] -= 1
    for entries in arranged([left[kinds[i]] for i in places], last):
        yield tuple((i, v) for i, v in zip(places, entries, strict=True) if v != last)


class _Search:
    """A best-first search: its tree, its frontier, and the candidates for the list."""

    def __init__(
        self,
        tables: LogOdds,
        criterion: Criterion,
        rank_by: RankBy,
        min_probability: Fraction | None,
        only_patterns: bool,
        scope: Scope,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._criterion, self._rank_by = criterion, rank_by
        self._threshold = float(criterion.threshold) if only_patterns else -1.0
        self._least = -inf if not min_probability else float(ln(min_probability))
        self._tree = Tree(tables, criterion, only_patterns=only_patterns, scope=scope, one_of_alike=True)
        self._rounding = self._tree.rounding
        #: Below it lies nothing that is probable enough.
        self._floor = self._least - self._rounding
        self._bounds = Bounds(self._tree, divergence=rank_by == "divergence")
        self._frontier = Frontier()
        self._best = _Candidates()
        self.nodes = self.evaluated = self._looked_at = 0
        #: No pattern that was not met scores more.
        self.upper = 0.0

    def run(self, k: int) -> bool:
        """Fill the candidates for the k best; tells whether the tree was exhausted."""
        frontier, tree = self._frontier, self._tree
        most = _CHILDREN // max(len(tree.columns.attribute), _DEARER * len(tree.xs.values), 1)
        if tree.xs.few and tree.tables.total_combinations <= self._limits.nodes:
            self._grow(k)
        else:
            frontier.push(EXTENSIONS, np.zeros(1, dtype=np.int64), np.array([inf]))
        while len(frontier):
            limits = self._limits
            if self.nodes >= limits.nodes or self._looked_at >= limits.children or limits.expired():
                with np.errstate(over="ignore"):
                    self.upper = max(float(np.exp(frontier.best)), LEAST)
                return False
            size = min(_BLOCK[1], max(_BLOCK[0], self.nodes // 16), max(1, most))
            kind, number, _ = frontier.pop(size)
            for handle, of_kind in (
                (self._extend, EXTENSIONS),
                (self._open, CONTEXTS),
                (self._expand, NODE),
            ):
                chosen = number[kind == of_kind]
                if len(chosen):
                    handle(chosen, k)
            frontier.drop(self._best.floor)
        return True

    def candidates(self) -> Iterator[tuple[float, float, Assignment, Assignment]]:
        """The patterns that may belong in the list, one of those that are alike, the likeliest first.

        Yields at least and at most the score of each, if it is a pattern, then x and y.
        """
        with np.errstate(over="ignore"):
            scores = np.exp([self._best.above, self._best.below])
        for place in np.argsort(-self._best.above, kind="stable").tolist():
            above, below = scores[:, place].tolist()
            yield max(above, LEAST), below, *self._pair(self._best.places[place].tolist())

    def _pair(self, place: list[int]) -> tuple[Assignment, Assignment]:
        x_parent, x_column, parent, column = place
        return self._tree.xs.assignment(x_parent, x_column), self._tree.context(parent, column)

    def _grow(self, k: int) -> None:
        """Evaluate all x, of which there are few."""
        combinations = self._tree.xs
        ids = combinations.grow()
        xs = combinations.at(ids)
        self.nodes += 1 + int(combinations.extensible(xs).sum())
        self._looked_at += _DEARER * len(xs)
        probable = self._probable(xs)
        self._meet(ids[probable], xs[probable], k)

    def _extend(self, ids: Integers, k: int) -> None:
        """Evaluate the x that disclose one attribute more, and bound what comes of them."""
        self.nodes += len(ids)
        combinations = self._tree.xs
        for start in range(0, len(ids), _WIDE):
            xs = combinations.children(ids[start : start + _WIDE])
            self._looked_at += _DEARER * len(xs)
            xs = xs[self._probable(xs)]
            ids_of = combinations.keep(xs)
            self._meet(ids_of, xs, k)
            more = combinations.extensible(xs)
            self._push(EXTENSIONS, ids_of[more], self._bound_extensions(xs[more]))

    def _probable(self, xs: Xs) -> Mask:
        """Which x may be probable enough, or extensions of them."""
        result: Mask = np.logaddexp(*self._log_p(xs)) >= self._floor
        return result

    def _meet(self, ids: Integers, xs: Xs, k: int) -> None:
        """Evaluate some x without context, and bound their contexts."""
        whole = self._tree.xs.whole(xs)
        nodes, slots = self._tree.unopened(xs), self._tree.slots(xs)
        if self._tree.scope.contexts != "all":
            places = np.column_stack([xs.parent, xs.column, nodes.parent, nodes.column])
            self._evaluate(nodes[whole], slots[whole], places[whole], k)
        if self._tree.scope.contexts != "none":
            self._push(CONTEXTS, ids[whole], self._bound_contexts(xs[whole], slots[whole]))

    def _open(self, ids: Integers, k: int) -> None:
        """Make roots of x that have been bounded coarsely only, and bound them finely."""
        first = len(self._tree.roots)
        nodes = self._tree.open(ids)
        if self._tree.scope.contexts == "all":
            # Where x discloses everything there is nothing left for contexts.
            whole = self._tree.whole(nodes)
            xs = self._tree.xs.at(ids)
            places = np.column_stack([xs.parent, xs.column, nodes.parent, nodes.column])
            self._evaluate(nodes[whole], self._tree.roots[nodes.slot[whole]], places[whole], k)
        if self._rank_by != "discrimination":
            self._bounds.open(first)
        more = self._tree.extensible(nodes)
        nodes = nodes[more]
        self._push(NODE, self._tree.keep(nodes), self._bound(nodes))

    def _expand(self, ids: Integers, k: int) -> None:
        """Evaluate the patterns that disclose one attribute more, and bound what lies below them."""
        self.nodes += len(ids)
        tree = self._tree
        children = tree.children(ids)
        self._looked_at += len(children)
        if self._least > -inf:
            log_p = tree.roots[children.slot].log_probability(children)
            children = children[log_p >= self._floor]
        x = tree.xs.at(tree.x_of[children.slot])
        places = np.column_stack([x.parent, x.column, children.parent, children.column])
        whole = tree.whole(children)
        self._evaluate(children[whole], tree.roots[children.slot[whole]], places[whole], k)
        children = children[tree.extensible(children)]
        bounds = self._bound(children)
        keep = bounds >= self._best.floor
        self._push(NODE, tree.keep(children[keep]), bounds[keep])

    def _push(self, kind: int, ids: Integers, bounds: Floats) -> None:
        keep = (bounds >= self._best.floor) & (bounds > -inf)
        self._frontier.push(kind, ids[keep], bounds[keep])

    def _bound(self, nodes: Nodes) -> Floats:
        if self._rank_by != "discrimination":
            return self._bounds.of_nodes(nodes)
        tree = self._tree
        low, t, high = tree.reach(nodes)
        slots = tree.roots[nodes.slot]
        if self._least > -inf:
            log_p = slots.log_a + nodes.log_u, slots.log_b + nodes.log_v
            fall, rise = self._moves(tree.columns.moves, nodes.position, *log_p)
            low, high = np.maximum(low, t - fall), np.minimum(high, t + rise)
        return self._as_bound(tree.largest_degree(slots.strength, low - tree.wider, high + tree.wider))

    def _bound_contexts(self, xs: Xs, slots: Slots) -> Floats:
        if self._rank_by != "discrimination":
            return self._bounds.of_roots(slots)
        nothing = np.zeros(len(xs))
        return self._as_bound(self._within_degree(xs, np.ones_like(xs.column), nothing, nothing))

    def _bound_extensions(self, xs: Xs) -> Floats:
        if self._rank_by != "discrimination":
            return self._bounds.of_extensions(xs)
        bounds = self._as_bound(self._degree_of_extensions(xs, 0))
        if self._least > -inf:
            close = np.flatnonzero(bounds >= self._best.floor)
            self._looked_at += _HALVINGS * _DEARER * len(close)
            bounds[close] = self._as_bound(self._degree_of_extensions(xs[close], _HALVINGS))
        return bounds

    def _degree_of_extensions(self, xs: Xs, halvings: int) -> Floats:
        """At least |degree| of what discloses more in x, in y or in both.

        The more x moves s, the less probable it is, and the less contexts can move γ. So how far x moves s is
        parted into intervals: it costs at least what the start of its interval does, and s is no further than
        at its end. For each x the interval with the largest bound is halved, so many times.
        """
        with np.errstate(invalid="ignore"):
            # Not a number is ∞ - ∞: nothing moves a strength that is infinite.
            reach = [
                np.nan_to_num(np.abs(s - xs.strength), nan=0, posinf=inf) for s in self._tree.xs.range(xs)
            ]
        if self._least > -inf:
            within = self._moves(self._tree.xs.moves, xs.position, *self._log_p(xs))
            reach = [*map(np.minimum, reach, within)]
        row = np.arange(len(xs))
        sign = np.tile([-1, 1], (len(xs), 1))
        start, end = np.zeros(sign.shape), np.column_stack(reach)
        degree = np.column_stack(
            [self._within_degree(xs, *of_all) for of_all in zip(sign.T, start.T, end.T, strict=True)]
        )
        for _ in range(halvings):
            largest = row, degree.argmax(axis=1)
            middle = (start[largest] + end[largest]) / 2
            halves = [
                (sign[largest], start[largest], middle),
                # A value that pins the decision can be of any cost.
                (sign[largest], np.where(np.isinf(middle), 0, middle), end[largest]),
            ]
            first, second = (self._within_degree(xs, *half) for half in halves)
            sign = np.column_stack([sign, sign[largest]])
            start, end = np.column_stack([start, halves[1][1]]), np.column_stack([end, end[largest]])
            degree = np.column_stack([degree, second])
            end[largest], degree[largest] = middle, first
        result: Floats = degree.max(axis=1)
        return result

    def _within_degree(self, xs: Xs, sign: Integers, start: Floats, end: Floats) -> Floats:
        """At least |degree| where s rises (1) or falls (-1) by a number in some interval."""
        tree, (log_u, log_v) = self._tree, self._log_p(xs)
        strength = xs.strength + sign * end
        prior = tree.tables.prior * tree.unit
        low, high = tree.tables.reals(xs.low), tree.tables.reals(xs.high)
        if self._least > -inf:
            log_u = log_u - np.where(sign > 0, 0, start)
            log_v = log_v - np.where(sign > 0, start, 0)
            spent = tree.xs.moves.cost(sign, xs.position, start)
            # The peak is on one side.
            side = np.where(self._criterion.peak(strength) > prior, 1, -1)
            far = tree.columns.moves.within(
                side,
                np.zeros_like(side),
                np.where(side > 0, log_u, log_v) - spent,
                np.where(side > 0, log_v, log_u) - spent,
                self._floor,
            )
            low, high = np.maximum(low, prior - far), np.minimum(high, prior + far)
        return tree.largest_degree(strength, low - tree.wider, high + tree.wider)

    def _moves(self, moves: Moves, position: Integers, log_u: Floats, log_v: Floats) -> tuple[Floats, Floats]:
        """At most how far a sum falls and rises while ``P(xy)`` is large enough."""
        return (
            moves.within(-1, position, log_v, log_u, self._floor),
            moves.within(1, position, log_u, log_v, self._floor),
        )

    def _log_p(self, xs: Xs) -> tuple[Floats, Floats]:
        """``ln P(d, x)`` and ``ln P(d̄, x)``."""
        log_u, log_v = population_of(self._tree.tables).log_prior
        return xs.log_a + log_u, xs.log_b + log_v

    def _as_bound(self, degree: Floats) -> Floats:
        return np.where(degree > self._threshold, safe_log(degree) + self._rounding, -inf)

    def _evaluate(self, nodes: Nodes, slots: Slots, places: Integers, k: int) -> None:
        """Score patterns, from above and from below, and keep those that may be in the list."""
        self.evaluated += len(nodes)
        log_p = slots.log_probability(nodes)
        t = self._tree.tables.reals(nodes.gamma)
        degree, error = self._tree.degree(slots.strength, t)
        may = (degree + error > self._threshold) & (log_p >= self._least - self._rounding)
        slots, t, log_p, degree, error, places = (
            slots[may],
            t[may],
            log_p[may],
            degree[may],
            error[may],
            places[may],
        )
        above = self._score(slots, t, log_p, degree + error, most=True) + self._rounding
        may = above >= self._best.floor
        if not may.any():
            return
        slots, t, log_p, degree, error, places, above = (
            slots[may],
            t[may],
            log_p[may],
            degree[may],
            error[may],
            places[may],
            above[may],
        )
        below = self._score(slots, t, log_p, degree - error, most=False) - self._rounding
        sure = (degree - error > self._threshold) & (log_p >= self._least + self._rounding)
        self._best.add(places, above, below, sure, k)

    def _score(self, slots: Slots, t: Floats, log_p: Floats, degree: Floats, *, most: bool) -> Floats:
        """At most or at least the score of patterns, by at most or at least their |degree|."""
        if self._rank_by == "probability":
            return log_p
        if self._rank_by == "discrimination":
            return safe_log(degree)
        p, not_p = moved(slots.strength, t)
        beyond = np.maximum(degree - float(self._criterion.threshold), 0)
        rest = slots.rest_a * logistic(t) + slots.rest_b * logistic(-t)
        excess = self._criterion.excess(slots.strength, t, beyond, rest, most=most)
        return log_p + safe_log(kl(p, not_p, np.clip(excess, 0, p)) + (LOST if most else -LOST))


class _Everything(_Search):
    """The same search of a model with so few pairs that all of them are scored at once.

    The pairs are the places of an array with an axis per attribute: first that it is not disclosed, then its
    values in y and, where it is sensitive, in x.
    """

    def run(self, k: int) -> bool:
        """Fill the candidates for the k best; every pair is one of them or scores less."""
        tables, population = self._tree.tables, population_of(self._tree.tables)
        logs = population.log_likelihood
        given: list[_OfValue] = [lambda i, v: logs[i][v, 0], lambda i, v: logs[i][v, 1]]
        axes = [
            (ys, range(len(row) * (i in tables.sensitive)))
            for i, (row, ys) in enumerate(zip(tables.values, tables.finite, strict=True))
        ]
        self._shape = [1 + len(ys) + len(xs) for ys, xs in axes]

        def totals(start: float, of_y: _OfValue, of_x: _OfValue) -> npt.NDArray[Any]:
            total = np.array([start])
            for i, (ys, xs) in enumerate(axes):
                row = np.array([0, *(of_y(i, v) for v in ys), *(of_x(i, v) for v in xs)])
                with np.errstate(invalid="ignore"):
                    total = (total[:, None] + row).ravel()
            return total

        def none(i: int, v: int) -> float:
            return 0

        strength = totals(0.0, none, lambda i, v: tables.real(tables.values[i][v]))
        # Not a number is ∞ - ∞: there P(x) = 0.
        pairs = np.flatnonzero((totals(0, none, lambda i, v: 1) > 0) & ~np.isnan(strength))
        log_a, log_b = (totals(0.0, none, of)[pairs] for of in given)
        log_u, log_v = (
            totals(start, of, none)[pairs] for start, of in zip(population.log_prior, given, strict=True)
        )
        gamma = totals(tables.prior, lambda i, v: tables.values[i][v], none)[pairs]
        nothing, real = np.full(len(pairs), -1), np.full(len(pairs), inf)
        self._evaluate(
            Nodes(nothing, nothing, gamma, log_u, log_v, nothing, nothing),
            Slots(strength[pairs], log_a, log_b, -np.expm1(log_a), -np.expm1(log_b), -real, real),
            pairs[:, None],
            k,
        )
        return True

    def _pair(self, place: list[int]) -> tuple[Assignment, Assignment]:
        x, y = [], []
        entries = np.unravel_index(place[0], self._shape)
        for i, (entry, ys) in enumerate(zip(entries, self._tree.tables.finite, strict=True)):
            if entry > len(ys):
                x.append((i, int(entry) - 1 - len(ys)))
            elif entry:
                y.append((i, ys[int(entry) - 1]))
        return tuple(x), tuple(y)


class _Candidates:
    """Patterns that may be in the list, with their scores from above and below.

    ``floor`` is the k-th best score from below: what scores less from above is out.
    """

    def __init__(self) -> None:
        self.floor = -inf
        #: What `_Search._pair` knows the patterns by.
        self.places: Integers = np.empty((0, 0), dtype=np.int64)
        self.above, self.below = np.empty(0), np.empty(0)
        self._sure: Mask = np.empty(0, dtype=bool)

    def add(self, places: Integers, above: Floats, below: Floats, sure: Mask, k: int) -> None:
        """Add patterns, with whether they surely are some, and drop those that are out."""
        if not len(places):
            return
        self.places = np.concatenate([self.places, places]) if len(self.places) else places
        self.above, self.below = np.append(self.above, above), np.append(self.below, below)
        self._sure = np.append(self._sure, sure)
        if len(self.places) < k:
            return
        kth = len(self.below) - k
        self.floor = float(np.partition(np.where(self._sure, self.below, -inf), kth)[kth])
        keep = self.above >= self.floor
        self.places, self.above, self.below = self.places[keep], self.above[keep], self.below[keep]
        self._sure = self._sure[keep]
