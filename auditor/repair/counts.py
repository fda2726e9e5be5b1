"""What the data say: counts per value and decision, and how likely they are under a model."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import inf

from auditor.model.naive_bayes import NaiveBayes
from auditor.search.criteria import ln

#: Under the favourable and under the unfavourable decision.
Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Counts:
    """The counts that a model is learnt from."""

    model: NaiveBayes
    """The most likely model of these counts, which nothing constrains."""
    decision: Pair
    """Cases with each decision."""
    attributes: tuple[tuple[Pair, ...], ...]
    """Per attribute and value the cases with each decision, the smoothing added. An attribute's may add up to
    less than the decision's where cells are missing.
    """

    def total(self, attribute: int) -> Pair:
        """Cases with each decision in which the attribute is known."""
        rows = self.attributes[attribute]
        return sum((row[0] for row in rows), Fraction(0)), sum((row[1] for row in rows), Fraction(0))

    def log_likelihood(self, model: NaiveBayes) -> float:
        """``Σ n ln θ`` in nats over the decision and all attributes, the smoothing counted in.

        It is the objective of the learner; without smoothing it is the log-likelihood of the data. ``-inf``
        where the model rules out a case that occurs. Source: Choi et al. (2020), Section "Parameter Learning
        with Fairness Constraints".
        """
        terms = chain(
            zip(self.decision, (model.prior, 1 - model.prior), strict=True),
            (
                term
                for rows, attribute in zip(self.attributes, model.attributes, strict=True)
                for row, likelihood in zip(rows, attribute.likelihood, strict=True)
                for term in zip(row, likelihood, strict=True)
            ),
        )
        total = Fraction(0)
        for count, probability in terms:
            if count and not probability:
                return -inf
            if count:
                total += count * Fraction(ln(probability))
        return float(total)
