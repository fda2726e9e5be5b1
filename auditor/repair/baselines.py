"""Models to compare a repair with, and to fall back on; each is known without any search."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction

from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.counts import Counts, Pair


def unconstrained(counts: Counts) -> NaiveBayes:
    """The most likely model, fair or not."""
    return counts.model


def independent(counts: Counts) -> NaiveBayes:
    """The most likely model whose sensitive attributes say nothing about the decision: ``P(v | d) = P(v)``.

    It is fair at every threshold, 0 included.
    """
    return independent_but(counts, counts.model.sensitive)


def independent_mean(counts: Counts) -> NaiveBayes:
    """The independent model of the paper's likelihood table: the mean of ``P(v | d)`` and ``P(v | d̄)``.

    It weighs the decisions alike however rare one is, so that it is less likely than `independent`.
    """
    return _sensitive_rows(counts, lambda row, pooled: ((row[0] + row[1]) / 2,) * 2)


def towards_independence(counts: Counts, share: Fraction) -> NaiveBayes:
    """The unconstrained model moved by a share of the way to the independent one, parameter by parameter.

    The log-likelihood ratios of the sensitive values shrink to 0 as the share grows to 1, and all are finite
    where the share is positive.
    """
    keep = 1 - share
    return _sensitive_rows(
        counts, lambda row, pooled: (keep * row[0] + share * pooled, keep * row[1] + share * pooled)
    )


def independent_but(counts: Counts, moved: Collection[int]) -> NaiveBayes:
    """The most likely model in which some attributes say nothing about the decision."""
    return _rows(counts, moved, lambda row, pooled: (pooled, pooled))


def shifted(model: NaiveBayes, factor: Fraction | int) -> NaiveBayes:
    """The model with the odds of its prior multiplied."""
    odds = model.prior / (1 - model.prior) * factor
    return replace(model, prior=odds / (1 + odds))


def _sensitive_rows(counts: Counts, change: Callable[[Pair, Fraction], Pair]) -> NaiveBayes:
    return _rows(counts, counts.model.sensitive, change)


def _rows(counts: Counts, moved: Collection[int], change: Callable[[Pair, Fraction], Pair]) -> NaiveBayes:
    """The unconstrained model with the pairs of values changed, knowing the probability of each overall."""
    attributes = []
    for i, attribute in enumerate(counts.model.attributes):
        if i in moved:
            total = sum(counts.total(i), Fraction(0))
            pooled = [sum(row, Fraction(0)) / total for row in counts.attributes[i]]
            pairs = zip(attribute.likelihood, pooled, strict=True)
            attribute = replace(attribute, likelihood=tuple(change(row, p) for row, p in pairs))
        attributes.append(attribute)
    return replace(counts.model, attributes=tuple(attributes))
