"""The door for families of classifiers: the tables of log-odds of each, with its exact arithmetic."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import inf, log, log1p, prod

import numpy as np

from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.additive import AdditiveModel
from auditor.model.classifier import Classifier
from auditor.model.exponentials import Quotient
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.additive.exponentials import Exponentials, tables_of_scorecard
from auditor.search.additive.log_odds import Exact, LogOdds, Population
from auditor.search.criteria import Criterion, Interval, ln
from auditor.search.pattern import Pattern, discriminates, measure

#: Bits by which both ends of a ratio differ less, if a float may be enough to round its logarithm; and the
#: least probability that is sure to have all digits of a float.
_PLAIN, _LEAST = 6, 1e-300


def tables_of(classifier: Classifier, *, populated: bool = True) -> LogOdds:
    """The tables of a classifier of any family that has additive log-odds.

    Without the population of a naive Bayes model they are made in less time, and are enough for searches by
    degree.

    Raises
    ------
    InputError
        If a value of a naive Bayes model has probability 0 under both decisions: nothing is known of it.
    """
    if isinstance(classifier, AdditiveModel):
        return tables_of_scorecard(classifier)
    for attribute in classifier.attributes:
        for value, row in zip(attribute.values, attribute.likelihood, strict=True):
            if not any(row):
                raise InputError(
                    f"{shown(attribute.name)}: {shown(value)} has probability 0 under both decisions; "
                    "leave it out"
                )
    return LogOdds.rounded(
        prior=ln(classifier.prior / (1 - classifier.prior)),
        values=[
            [_log_odds(a, b) if a and b else inf if a else -inf for a, b in attribute.likelihood]
            for attribute in classifier.attributes
        ],
        sensitive=classifier.sensitive,
        population=_population(classifier) if populated else None,
        exact=Rationals(classifier),
    )


def _population(model: NaiveBayes) -> Population:
    return Population(
        (_log(model.prior), _log(1 - model.prior)),
        tuple(
            np.array([[_log(p) if p else -inf for p in row] for row in attribute.likelihood])
            for attribute in model.attributes
        ),
    )


def _log_odds(a: Fraction, b: Fraction) -> Decimal:
    """``ln(a/b)``, to digits enough that it rounds as the exact one to 48 bits after the point.

    A float is mostly enough, in a twentieth of the time: the ratio in floats is off by ``2^-53`` of it and
    `math.log` by a unit in the last place, so that together they are off by ``2^-52 (1 + |ln(a/b)|)``.
    """
    above, below = a.numerator * b.denominator, a.denominator * b.numerator
    if abs(above.bit_length() - below.bit_length()) < _PLAIN:
        near = log(above / below)
        units = near * 2.0**48
        # Numbers round the other way only across half a unit.
        if 0.5 - abs(units - round(units)) > 2.0**-4 * (1 + abs(near)):
            return Decimal(near)
    return ln(a / b)


def _log(p: Fraction) -> float:
    """``ln p`` of a probability, off by a few units in the last place at most."""
    above, below = p.as_integer_ratio()
    if 2 * above > below:
        return log1p((above - below) / below)
    near = above / below
    return log(near) if near > _LEAST else float(ln(p))


def exact_of(classifier: Classifier) -> Exact:
    """The exact arithmetic of a classifier."""
    return Exponentials(classifier) if isinstance(classifier, AdditiveModel) else Rationals(classifier)


@dataclass(frozen=True)
class Rationals:
    """`Exact` for naive Bayes, whose degrees are rational."""

    model: NaiveBayes
    error: Fraction = Fraction(0)

    def measure(self, criterion: Criterion, x: Assignment, y: Assignment) -> Pattern:
        """`auditor.search.pattern.measure`."""
        return measure(self.model, criterion, x, y)

    def discriminates(self, criterion: Criterion, x: Assignment, y: Assignment) -> bool:
        """`auditor.search.pattern.discriminates`."""
        return discriminates(self.model, criterion, x, y)

    def size(self, criterion: Criterion, x: Assignment, y: Assignment) -> Quotient:
        """A rational."""
        zero = Fraction(0)
        degree = abs(self.measure(criterion, x, y).degree)
        return Quotient(None, ((degree, zero),), ((Fraction(1), zero),))

    def probable(self, x: Assignment, y: Assignment, least: Fraction) -> bool:
        """Whether ``P(xy) >= least``."""
        favourable, unfavourable, whole = self.model.weights(x + y)
        return favourable + unfavourable >= least * whole

    def interval(self, criterion: Criterion, x: Assignment) -> Interval | None:
        """`Criterion.interval`."""
        return criterion.interval(*self._likelihoods(x))

    def closed(self, criterion: Criterion, x: Assignment) -> bool:
        """`Criterion.supremum_within` the threshold, which the ratio of the likelihoods decides."""
        (u, v, _), (du, dv, _) = self.model.weights(()), self.model.weights(x)
        return criterion.supremum_within(Fraction(du * v), Fraction(dv * u), criterion.threshold)

    def worst_first(
        self, criterion: Criterion, x: Assignment, contexts: Sequence[Assignment]
    ) -> list[list[Assignment]]:
        """By `Criterion.off_peak`."""
        a, b = self._likelihoods(x)
        weights = map(self.model.weights, contexts)
        distances = [criterion.off_peak(Fraction(u, v), a, b) for u, v, _ in weights]
        order = sorted(range(len(contexts)), key=distances.__getitem__)
        return [[contexts[i] for i in tied] for _, tied in groupby(order, distances.__getitem__)]

    def extreme(self, attribute: int, sign: int) -> int:
        """By the ratio of the likelihoods."""
        side = (1 - sign) // 2
        rows = self.model.attributes[attribute].likelihood
        return max(range(len(rows)), key=lambda v: (_ratio(rows[v][side], rows[v][1 - side]), -v))

    def sign(self, attribute: int, value: int) -> int:
        """By comparing ``P(v | d)`` and ``P(v | d̄)``."""
        a, b = self.model.attributes[attribute].likelihood[value]
        return (a > b) - (a < b)

    def log_odds(self, attribute: int, value: int) -> Decimal:
        """``ln P(v | d) / P(v | d̄)``."""
        a, b = self.model.attributes[attribute].likelihood[value]
        return ln(a / b)

    def log_prior(self) -> Decimal:
        """``ln P(d) / P(d̄)``."""
        return ln(self.model.prior / (1 - self.model.prior))

    def prior(self) -> Hashable:
        """``P(d)``."""
        return self.model.prior

    def ratio(self, x: Assignment) -> Hashable:
        """``P(x | d) / P(x | d̄)``."""
        return _ratio(*self._likelihoods(x))

    def row(self, attribute: int) -> Hashable:
        """The likelihoods, as integers: fractions take ten times as long to be compared as keys."""
        rows = self.model.attributes[attribute].likelihood
        return tuple((a.as_integer_ratio(), b.as_integer_ratio()) for a, b in rows)

    def _likelihoods(self, x: Assignment) -> tuple[Fraction, Fraction]:
        rows = [self.model.attributes[i].likelihood[v] for i, v in x]
        return (
            prod((row[0] for row in rows), start=Fraction(1)),
            prod((row[1] for row in rows), start=Fraction(1)),
        )


def _ratio(a: Fraction, b: Fraction) -> Fraction | float:
    return a / b if b else inf
