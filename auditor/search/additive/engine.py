"""The engine for additive log-odds: one for each question, and the one door to every search and count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import Assignment
from auditor.search.additive import worst as worst_search
from auditor.search.additive.counting import PatternCount, count_patterns, sample_pairs, sample_patterns
from auditor.search.additive.log_odds import LogOdds, population_of
from auditor.search.additive.ranking import Ranking, top_patterns
from auditor.search.additive.summaries import (
    Summary,
    count_probable_patterns,
    maximal_patterns,
    minimal_patterns,
    pareto_patterns,
)
from auditor.search.additive.tables import tables_of
from auditor.search.additive.tree import RankBy
from auditor.search.additive.worst import Worst
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern


class Engine:
    """Answers one question about one classifier, part by part.

    All methods speak of the pairs (x, y) with ``P(xy) >= min_probability`` alone. Each bound in a result is
    proved: an ``upper`` holds for every pair in scope, found or not, and a lower bound has a witness.

    Parameters
    ----------
    classifier : Classifier
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

    def worst(
        self,
        k: int = 1,
        *,
        only_patterns: bool = False,
        disclosing: int | None = None,
        only: Sequence[int] | None = None,
        individual: bool = False,
    ) -> Worst:
        r"""The k pairs of largest |degree|, ties broken by `Pattern.key`.

        Parameters
        ----------
        k : int
        only_patterns : bool
            Only pairs with ``|degree| > threshold``.
        disclosing : int, optional
            Only x that disclose this sensitive attribute.
        only : sequence of int, optional
            Only x that disclose none but these sensitive attributes; the others may stand in y.
        individual : bool
            Only pairs that disclose everything, ``X = S`` and ``Y = Z \ S``.
        """
        found = worst_search.worst_patterns(
            self._tables(only),
            self.criterion,
            k,
            only_patterns=only_patterns,
            disclosing=disclosing,
            individual=individual,
            limits=self.limits,
        )
        if self.min_probability is None:
            return found
        if disclosing is None and not individual:
            return self._worst_probable(found, k, self._tables(only), self.min_probability, only_patterns)
        kept = tuple(p for p in found.patterns if p.probability >= self.min_probability)
        return replace(
            found,
            patterns=kept,
            complete=found.complete and (kept == found.patterns or not found.patterns),
        )

    def group_level(self) -> Worst:
        """The worst pair without context, Y = ∅: how far the model is from statistical parity."""
        pattern = worst_search.group_level(self.tables, self.criterion)
        probable = self.min_probability is None or pattern.probability >= self.min_probability
        return Worst((pattern,) if probable else (), abs(pattern.degree), probable, 1, 1)

    def worst_by_share(self, shares: Sequence[Fraction]) -> tuple[Worst, ...]:
        """The worst pair of those that apply to at least each share of people, ``P(xy) >= share``."""
        overall = worst_search.worst_patterns(self.tables, self.criterion, limits=self.limits)
        return tuple(
            self._worst_probable(overall, 1, self.tables, max(share, self.min_probability or share), False)
            for share in shares
        )

    def top(self, k: int, rank_by: RankBy = "divergence") -> Ranking:
        """The k best discrimination patterns by a score."""
        return top_patterns(self.tables, self.criterion, k, rank_by, self.min_probability, limits=self.limits)

    def minimal(self, n: int) -> Summary:
        """The n most probable patterns of which no proper part is a pattern."""
        return minimal_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def pareto(self, n: int) -> Summary:
        """The n most probable patterns that no other dominates in probability and |degree|."""
        return pareto_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def maximal(self, n: int) -> Summary:
        """The n most probable patterns of which no proper extension is a pattern."""
        return maximal_patterns(self.tables, self.criterion, n, self.min_probability, self.limits)

    def count(self) -> PatternCount:
        """How many discrimination patterns there are."""
        if self.min_probability is None:
            return count_patterns(self.tables, self.criterion, self.limits)
        return count_probable_patterns(self.tables, self.criterion, self.min_probability, self.limits)

    def sample(self, n: int) -> tuple[Pattern, ...] | None:
        """A uniform sample of n patterns, all where there are no more; None where they can't be counted."""
        return sample_patterns(self.tables, self.criterion, n, limits=self.limits)

    def sample_points(self, n: int) -> tuple[tuple[float, float], ...] | None:
        """``(P(xy), |degree|)`` of a `sample`, in floats, to be drawn; nothing is decided by them."""
        pairs = sample_pairs(self.tables, self.criterion, n, limits=self.limits)
        return None if pairs is None else tuple(self._point(x, y) for x, y in pairs)

    def _tables(self, only: Sequence[int] | None) -> LogOdds:
        if only is None:
            return self.tables
        return replace(self.tables, sensitive=tuple(i for i in self.tables.sensitive if i in only))

    def _worst_probable(
        self, worst: Worst, k: int, tables: LogOdds, min_probability: Fraction, only_patterns: bool
    ) -> Worst:
        if worst.complete and all(p.probability >= min_probability for p in worst.patterns):
            return worst
        ranking = top_patterns(
            tables,
            self.criterion,
            k,
            "discrimination",
            min_probability,
            only_patterns=only_patterns,
            limits=self.limits,
        )
        found = max((abs(pattern.degree) for pattern in ranking.patterns), default=Fraction(0))
        upper = found
        if not ranking.complete:
            upper = max(found, min(worst.upper, Fraction(min(ranking.upper, 1.0))))
        return replace(worst, patterns=ranking.patterns, upper=upper, complete=ranking.complete)

    def _point(self, x: Assignment, y: Assignment) -> tuple[float, float]:
        tables, population = self.tables, population_of(self.tables)
        sides = population.log_prior + sum(population.log_likelihood[i][v] for i, v in x + y)
        gamma = tables.prior + sum(tables.values[i][v] for i, v in y)
        degree = self.criterion.size(tables.real(tables.strength(x)), tables.real(gamma))
        return float(np.exp(sides).sum()), float(degree)
