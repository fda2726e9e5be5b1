"""The engine for additive log-odds: one for each question, and the one door to every search and count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import Literal, NamedTuple

import numpy as np

from auditor.choices import RankBy
from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import ANY, Scope
from auditor.search.additive.counting import Counting, counts_above, no_patterns
from auditor.search.additive.log_odds import population_of
from auditor.search.additive.probable_counts import count_probable_patterns, probable_pairs
from auditor.search.additive.ranking import Ranking, rank, top_patterns
from auditor.search.additive.summaries import (
    Summary,
    maximal_patterns,
    minimal_patterns,
    pareto_patterns,
)
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import Memory, Worst, group_level, worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern
from auditor.search.pattern_count import PatternCount

#: Length of the lists of sums where a part of the patterns is searched.
_SHORT = 1 << 19
#: Pairs (x, y) up to which all of them are scored at once.
_FEW = 1 << 17
#: Nodes for the worst pair of any probability, where one of some probability is asked for.
_FIRST = 1 << 10
#: Nodes that come near the largest |degree| of probable pairs, and pairs above that which are listed.
_NEAR, _LISTED = 1 << 12, 1 << 13
#: Share of a |degree| within which others are looked at as well.
_ROOM = Fraction(1, 10**12)
#: Bisections that each of many counts may take.
_GLANCE = 1 << 19


class Point(NamedTuple):
    """A pair (x, y) in floats, to be drawn; nothing is decided by it."""

    probability: float
    degree: float
    """``P(xy)`` and |degree|."""
    sensitive_values: Assignment
    context_values: Assignment


class Engine:
    """Answers one question about one classifier, part by part.

    All methods speak of the pairs (x, y) with ``P(xy) >= min_probability`` alone. Each bound in a result is
    proved: an ``upper`` holds for every pair in scope, found or not, and a lower bound has a witness.

    Parameters
    ----------
    criterion : Criterion
        With the threshold.
    min_probability : Fraction, optional
        None asks about all pairs that can occur.
    limits : Limits
        They may end any part early, which then says what it has proved by then.
    """

    def __init__(
        self,
        classifier: Classifier,
        criterion: Criterion,
        min_probability: Fraction | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        self.criterion = criterion
        self.min_probability, self.limits = min_probability, limits
        self.tables = tables_of(classifier)
        self._memory = Memory()
        self._counting = Counting(self.tables, criterion, limits)
        #: By each score the best patterns, and how many were asked for.
        self._tops: dict[RankBy, tuple[int, Ranking]] = {}

    def worst(
        self,
        k: int = 1,
        *,
        only_patterns: bool = False,
        disclosing: int | None = None,
        only: Sequence[int] | None = None,
        individual: bool = False,
        searched: bool = True,
    ) -> Worst:
        r"""The k pairs of largest |degree|, ties broken by `Pattern.key`.

        Parameters
        ----------
        only_patterns : bool
            Only pairs with ``|degree| > threshold``.
        disclosing : int, optional
            Only x that disclose this sensitive attribute.
        only : sequence of int, optional
            Only x that disclose none but these sensitive attributes; the others may stand in y.
        individual : bool
            Only pairs that disclose everything, ``X = S`` and ``Y = Z \ S``.
        searched : bool
            Whether to search; without it the bound is the closed one, and the pair any in scope.
        """
        contexts: Literal["any", "all"] = "all" if individual else "any"
        scope = Scope(disclosing, None if only is None else tuple(only), contexts)
        limits = self.limits
        if self.min_probability is not None:
            # Only its bound is of use, unless the first it finds is probable enough.
            limits = replace(limits, nodes=min(limits.nodes, _FIRST))
        if not searched:
            limits = replace(limits, nodes=0)
        if scope.disclosing is not None or scope.only is not None:
            # Of a part of the patterns both ends are wanted, and need not meet in the last digit.
            limits = replace(limits, entries=min(limits.entries, _SHORT), sliced=0)
        found = worst_patterns(
            self.tables,
            self.criterion,
            k,
            only_patterns=only_patterns,
            scope=scope,
            limits=limits,
            memory=self._memory,
        )
        if not searched:
            least = self.min_probability
            kept = (p for p in found.patterns if self.is_probable(p, least))
            return replace(found, patterns=tuple(kept))
        return self._probable(found, k, self.min_probability, only_patterns, scope)

    @property
    def seen(self) -> tuple[Pattern, ...]:
        """The worst pattern that searches by degree met, of each set of attributes, in a list or not."""
        least = self.min_probability
        return tuple(p for p in self._memory.worst.values() if self.is_probable(p, least))

    def group_level(self) -> Worst:
        """The worst pair without context, Y = ∅: how far the model is from statistical parity."""
        pattern = group_level(self.tables, self.criterion)
        upper = min(abs(pattern.degree) * (1 + self.tables.exact.error), Fraction(1))
        found = Worst((pattern,), upper, complete=True, solved=1, total=1)
        return self._probable(
            found, 1, self.min_probability, only_patterns=False, scope=Scope(contexts="none")
        )

    def worst_by_share(self, shares: Sequence[Fraction]) -> tuple[Worst, ...]:
        """The worst pair of those that apply to at least each share of people, ``P(xy) >= share``."""
        limits = replace(
            self.limits, nodes=min(self.limits.nodes, _FIRST), children=self.limits.children >> 2
        )
        overall = worst_patterns(self.tables, self.criterion, limits=limits, memory=self._memory)
        return tuple(
            self._probable(
                overall, 1, max(share, self.min_probability or share), only_patterns=False, scope=ANY
            )
            for share in shares
        )

    def top(self, k: int, rank_by: RankBy = "divergence") -> Ranking:
        """The k best discrimination patterns by a score."""
        known = self._tops.get(rank_by)
        if known is None or known[0] < k:
            known = self._tops[rank_by] = k, self._top(k, rank_by)
        ranking = known[1]
        return replace(ranking, patterns=ranking.patterns[:k])

    def _top(self, k: int, rank_by: RankBy) -> Ranking:
        if rank_by == "discrimination" and not self._few:
            worst = self.worst(k, only_patterns=True)
            upper = 0.0 if worst.complete else float(worst.upper)
            return Ranking(worst.patterns, worst.complete, worst.solved, worst.solved, upper)
        return top_patterns(
            self.tables,
            self.criterion,
            k,
            rank_by,
            self.min_probability,
            all_at_once=self._few,
            limits=self.limits,
        )

    @cached_property
    def _few(self) -> bool:
        """Whether all pairs can be scored at once, and hardly any of them tie."""
        tables = self.tables
        different = len(set(tables.alike)) == len(tables.alike)
        return tables.population is not None and different and tables.total_patterns() <= _FEW

    def minimal(self, n: int) -> Summary:
        """The n most probable patterns of which no proper part is a pattern."""
        return minimal_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def pareto(self, n: int) -> Summary:
        """The n most probable patterns that no other dominates in probability and |degree|."""
        return pareto_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def maximal(self, n: int) -> Summary:
        """The n most probable patterns of which no proper extension is a pattern."""
        return maximal_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def count(self, *, enclosed: bool = True) -> PatternCount:
        """How many discrimination patterns there are.

        Parameters
        ----------
        enclosed : bool
            Whether to bound their number where they can't be counted one by one.
        """
        if not self.min_probability:
            count = self._counting.count()
            if count.reason is None or not enclosed:
                return count
            from auditor.search.additive.enclosing import enclosed_count

            return enclosed_count(self.tables, self.criterion, self.limits, count.reason)
        probable = count_probable_patterns(self.tables, self.criterion, self.min_probability, self.limits)
        if probable.reason is None:
            return probable
        # Not all of them were met; there are no more than patterns of any probability.
        upper = min(probable.upper, self._counting.count().upper)
        return replace(probable, upper=upper, reason=probable.reason if probable.lower < upper else None)

    def no_patterns(self) -> PatternCount:
        """The count where the search for the worst pair has shown that none discriminates."""
        return no_patterns(self.tables, self.criterion)

    def sample(self, n: int) -> tuple[Pattern, ...] | None:
        """A uniform sample of n patterns, all where there are no more; None where they can't be counted."""
        pairs = self._counting.sample(n)
        if pairs is None:
            return None
        return tuple(self.tables.exact.measure(self.criterion, x, y) for x, y in pairs)

    def among(self, count: PatternCount) -> tuple[Pattern, ...]:
        """One of the patterns of a `count`, if there are any that were counted one by one."""
        if not self.min_probability:
            return self.sample(1) or ()
        return (self.tables.exact.measure(self.criterion, *count.example),) if count.example else ()

    def sample_points(self, n: int) -> tuple[Point, ...] | None:
        """The points of a `sample`."""
        pairs = self._counting.sample(n)
        if not pairs:
            return None if pairs is None else ()
        tables, population = self.tables, population_of(self.tables)
        strengths = [tables.real(tables.strength(x)) for x, _ in pairs]
        contexts = [tables.real(tables.prior + sum(tables.values[i][v] for i, v in y)) for _, y in pairs]
        # A row of zeros stands for every value that a pair has less than the longest.
        rows = np.concatenate([np.zeros((1, 2)), *population.log_likelihood])
        first = [*accumulate(map(len, population.log_likelihood), initial=1)]
        values = np.array([*zip_longest(*([first[i] + v for i, v in x + y] for x, y in pairs), fillvalue=0)])
        sides = population.log_prior + sum(rows[places] for places in values)
        probabilities = np.exp(sides).sum(axis=1)
        degrees = self.criterion.size(np.array(strengths), np.array(contexts))
        return tuple(
            Point(float(probability), float(degree), x, y)
            for probability, degree, (x, y) in zip(probabilities, degrees, pairs, strict=True)
        )

    def counts(self, thresholds: Sequence[Fraction]) -> tuple[tuple[int, int], ...]:
        """At least and at most how many pairs of any probability have a |degree| above each threshold.

        Parameters
        ----------
        thresholds : sequence of Fraction
            What takes longer to count than a glance is left open.
        """
        limits = replace(self.limits, steps=min(self.limits.steps, _GLANCE))
        return counts_above(self.tables, self.criterion, thresholds, limits)

    def _probable(
        self, worst: Worst, k: int, least: Fraction | None, only_patterns: bool, scope: Scope
    ) -> Worst:
        """The same for the pairs that are probable enough only."""
        if least is None:
            return worst
        # One that stands for a figure need not be the first of those that tie.
        found = worst.complete or (k == 1 and not only_patterns and worst.known)
        if found and all(self.is_probable(p, least) for p in worst.patterns):
            return worst
        ranking = self._largest(k, least, only_patterns, scope)
        kept = [p for p in worst.patterns if self.is_probable(p, least) and p not in ranking.patterns]
        patterns = tuple(rank([*ranking.patterns, *kept], "discrimination")[:k])
        known = max((abs(p.degree) for p in patterns), default=Fraction(0))
        upper = min(known * (1 + self.tables.exact.error), Fraction(1))
        if only_patterns:
            upper = max(upper, self.criterion.threshold)
        if not ranking.complete:
            upper = max(upper, min(worst.upper, Fraction(min(ranking.upper, 1.0))))
        return replace(worst, patterns=patterns, upper=upper, complete=ranking.complete)

    def is_probable(self, pattern: Pattern, least: Fraction | None) -> bool:
        """Whether it is probable enough, exactly: its figures may be rounded."""
        exact = self.tables.exact
        return least is None or exact.probable(pattern.sensitive_values, pattern.context_values, least)

    def _largest(self, k: int, least: Fraction, only_patterns: bool, scope: Scope) -> Ranking:
        """The k pairs of largest |degree| that are probable enough.

        Branch and bound soon comes next to the largest, but of one x there can be thousands of contexts as
        near its peak. Then all pairs above what was found are listed.
        """

        def found(limits: Limits) -> Ranking:
            return top_patterns(
                self.tables,
                self.criterion,
                k,
                "discrimination",
                least,
                only_patterns=only_patterns,
                scope=scope,
                all_at_once=self._few and scope == ANY,
                limits=limits,
            )

        first = found(replace(self.limits, nodes=min(self.limits.nodes, _NEAR)))
        if first.complete or self.limits.nodes <= _NEAR:
            return first
        # With room for ties, and for the rounding of what is measured.
        known = abs(first.patterns[-1].degree) * (1 - _ROOM) if len(first.patterns) == k else Fraction(0)
        if least and known and scope.contexts == "any":
            rule = replace(self.criterion, threshold=known)
            pairs = probable_pairs(self.tables, rule, least, scope, _LISTED, self.limits)
            if pairs is not None:
                exact = self.tables.exact
                likely = (pair for pair in pairs if exact.probable(*pair, least))
                measured = [exact.measure(self.criterion, *pair) for pair in likely]
                bar = self.criterion.threshold if only_patterns else -1
                patterns = rank([p for p in measured if abs(p.degree) > bar], "discrimination")
                return Ranking(tuple(patterns[:k]), True, first.nodes, first.evaluated, 0.0)
        # Where it wasn't the number of nodes that ended the first search, a second ends there as well.
        return found(self.limits) if first.nodes >= _NEAR else first
