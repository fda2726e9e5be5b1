"""The best patterns by divergence, probability or degree: branch and bound over the tree of patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import inf

import numpy as np

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import Floats, Integers, LogOdds
from auditor.search.additive.tree import (
    ROUNDING,
    Grids,
    Nodes,
    RankBy,
    Tree,
    degree_of,
    excess_of,
    kl,
    largest_degree,
    safe_log,
)
from auditor.search.criteria import Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: Divergences equal in 28 digits tie: what is equal in theory differs in the last of the digits computed.
_TIES = Context(prec=28, Emax=10**9, Emin=-(10**9))
#: Least and most nodes expanded in one block.
_BLOCK = (8, 256)


@dataclass(frozen=True)
class Ranking:
    """The best patterns by a score.

    Attributes
    ----------
    patterns : tuple of Pattern
        Best first; ties are broken by `Pattern.key`.
    complete : bool
        Whether no other pattern belongs in the list.
    nodes, evaluated : int
        Nodes expanded, and patterns whose score was evaluated.
    upper : float
        No pattern that is not listed scores more than this or than the last one listed; 0 when complete.
    """

    patterns: tuple[Pattern, ...]
    complete: bool
    nodes: int
    evaluated: int
    upper: float


def rank(patterns: Sequence[Pattern], rank_by: RankBy) -> list[Pattern]:
    """Patterns by decreasing score, ties broken by `Pattern.key`."""

    def order(pattern: Pattern) -> tuple[Fraction | Decimal, tuple[int, Assignment, Assignment]]:
        if rank_by == "divergence":
            return _TIES.minus(pattern.divergence), pattern.key
        return -abs(pattern.degree) if rank_by == "discrimination" else -pattern.probability, pattern.key

    return sorted(patterns, key=order)


def top_patterns(
    tables: LogOdds,
    criterion: Criterion,
    k: int,
    rank_by: RankBy = "divergence",
    min_probability: Fraction | None = None,
    *,
    only_patterns: bool = True,
    limits: Limits = DEFAULT,
) -> Ranking:
    """The k best discrimination patterns by a score.

    Nodes are expanded best bound first, in blocks.

    Parameters
    ----------
    tables : LogOdds
    criterion : Criterion
    k : int
    rank_by : {"divergence", "discrimination", "probability"}
    min_probability : Fraction, optional
        Only patterns with ``P(xy)`` at least this.
    only_patterns : bool
        Only pairs with ``|degree| > threshold``. Without it every pair is ranked, which has a use for
        "discrimination" only.
    limits : Limits
    """
    if not only_patterns and rank_by != "discrimination":
        raise ValueError("pairs that are no discrimination patterns have no divergence to rank")
    search = _Search(tables, criterion, rank_by, min_probability, only_patterns, limits)
    complete = search.run(k)
    found = (tables.exact.measure(criterion, x, y) for x, y in search.candidates())
    patterns = [
        pattern
        for pattern in found
        if (not only_patterns or abs(pattern.degree) > criterion.threshold)
        and (min_probability is None or pattern.probability >= min_probability)
    ]
    return Ranking(
        patterns=tuple(rank(patterns, rank_by)[:k]),
        complete=complete,
        nodes=search.nodes,
        evaluated=search.evaluated,
        upper=search.upper,
    )


class _Search:
    """A best-first search: its tree, its frontier, and the candidates for the list."""

    def __init__(
        self,
        tables: LogOdds,
        criterion: Criterion,
        rank_by: RankBy,
        min_probability: Fraction | None,
        only_patterns: bool,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._criterion, self._rank_by = criterion, rank_by
        self._threshold = float(criterion.threshold) if only_patterns else -1.0
        self._least = -inf if not min_probability else float(ln(min_probability))
        self._tree = Tree(tables, criterion, limits, only_patterns=only_patterns)
        self._grids = Grids(self._tree, criterion, divergence=rank_by == "divergence")
        self._best = _Candidates()
        self.nodes = self.evaluated = 0
        # Of combinations x without a root nothing is known.
        self.upper = inf if self._tree.roots.truncated else 0.0

    def run(self, k: int) -> bool:
        """Fill the candidates for the k best; tells whether the tree was exhausted."""
        roots = self._tree.root_nodes()
        self._evaluate(roots, k)
        if self._rank_by == "discrimination":
            bounds = self._bound_degree(roots)
        else:
            bounds = self._grids.bound_roots(roots)
        keep = bounds >= self._best.floor
        ids, bounds = self._tree.keep(roots[keep]), bounds[keep]
        while len(ids):
            if self.nodes >= self._limits.nodes or self._limits.expired():
                self.upper = max(self.upper, float(np.exp(bounds.max())))
                return False
            size = min(_BLOCK[1], max(_BLOCK[0], self.nodes // 16), len(ids))
            chosen = np.argpartition(bounds, len(ids) - size)[len(ids) - size :]
            more, more_bounds = self._expand(ids[chosen], k)
            ids = np.append(np.delete(ids, chosen), more)
            bounds = np.append(np.delete(bounds, chosen), more_bounds)
            keep = bounds >= self._best.floor
            ids, bounds = ids[keep], bounds[keep]
        return not self._tree.roots.truncated

    def candidates(self) -> list[tuple[Assignment, Assignment]]:
        """The patterns that may belong in the list."""
        best = self._best.nodes
        return [
            self._tree.pattern(*place)
            for place in zip(best.slot.tolist(), best.parent.tolist(), best.column.tolist(), strict=True)
        ]

    def _expand(self, ids: Integers, k: int) -> tuple[Integers, Floats]:
        """Children of a block of nodes that may lead to a place in the list, with their bounds.

        A root that has been bounded coarsely only is given back itself, bounded finely.
        """
        again, again_bounds = ids[:0], np.empty(0)
        if self._rank_by != "discrimination":
            coarse = ~self._grids.has(self._tree.at(ids).slot)
            if coarse.any():
                again, ids = ids[coarse], ids[~coarse]
                self._grids.add(self._tree.at(again).slot)
                again_bounds = self._grids.bound(self._tree.at(again))
        self.nodes += len(ids)
        children = self._tree.children(ids)
        if self._least > -inf:
            children = children[self._tree.roots.log_probability(children) >= self._least - ROUNDING]
        self._evaluate(children, k)
        children = children[children.position < len(self._tree.columns.order)]
        bounds = (
            self._bound_degree(children) if self._rank_by == "discrimination" else self._grids.bound(children)
        )
        keep = bounds >= self._best.floor
        return np.append(again, self._tree.keep(children[keep])), np.append(again_bounds, bounds[keep])

    def _bound_degree(self, nodes: Nodes) -> Floats:
        t_low, _, t_high = self._tree.roots.reach(nodes)
        degree = largest_degree(self._tree.roots, self._criterion, nodes.slot, t_low - 1e-9, t_high + 1e-9)
        return np.where(degree > self._threshold, safe_log(degree) + ROUNDING, -inf)

    def _evaluate(self, nodes: Nodes, k: int) -> None:
        """Score patterns, from above and from below, and keep those that may be in the list."""
        self.evaluated += len(nodes)
        roots = self._tree.roots
        log_p = roots.log_probability(nodes)
        degree, error = degree_of(roots, self._criterion, nodes.slot, nodes.gamma / (1 << roots.bits))
        may = (degree + error > self._threshold) & (log_p >= self._least - ROUNDING)
        nodes, log_p, degree, error = nodes[may], log_p[may], degree[may], error[may]
        above = self._score(nodes, log_p, degree + error) + ROUNDING
        may = above >= self._best.floor
        nodes, log_p, degree, error, above = nodes[may], log_p[may], degree[may], error[may], above[may]
        below = self._score(nodes, log_p, degree - error) - ROUNDING
        sure = (degree - error > self._threshold) & (log_p >= self._least + ROUNDING)
        self._best.add(nodes, above, np.where(sure, below, -inf), k)

    def _score(self, nodes: Nodes, log_p: Floats, degree: Floats) -> Floats:
        if self._rank_by == "probability":
            return log_p
        if self._rank_by == "discrimination":
            return safe_log(degree)
        roots = self._tree.roots
        t = nodes.gamma / (1 << roots.bits)
        p, not_p = roots.moved(nodes.slot, t)
        excess = excess_of(roots, self._criterion, nodes.slot, t, t, degree)
        return log_p + safe_log(kl(p, not_p, np.clip(excess, 0, p)))


class _Candidates:
    """Patterns that may be in the list, with their scores from above and below.

    ``floor`` is the k-th best score from below: what scores less from above is out.
    """

    def __init__(self) -> None:
        self.floor = -inf
        self.nodes = Nodes.none()
        self._above, self._below = np.empty(0), np.empty(0)

    def add(self, nodes: Nodes, above: Floats, below: Floats, k: int) -> None:
        """Add patterns, and drop those that are out."""
        if not len(nodes):
            return
        self.nodes += nodes
        self._above, self._below = np.append(self._above, above), np.append(self._below, below)
        if len(self.nodes) < k:
            return
        kth = len(self._below) - k
        self.floor = float(np.partition(self._below, kth)[kth])
        keep = self._above >= self.floor
        self.nodes, self._above, self._below = self.nodes[keep], self._above[keep], self._below[keep]
