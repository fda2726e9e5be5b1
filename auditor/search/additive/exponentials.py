"""Exact arithmetic on scorecards, whose odds are exponentials of rationals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np

from auditor.model.additive import AdditiveModel
from auditor.model.exponentials import Quotient, Term, power, sign
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import LogOdds, Population
from auditor.search.criteria import CONTEXT, Criterion, Interval, ln
from auditor.search.pattern import Pattern

#: Digits in which odds are bounded at first and at most, and of what is told of a pattern.
_START, _MOST, _TOLD = 60, 1600, 40
_DOWN = Context(prec=_TOLD, rounding=ROUND_DOWN, Emax=10**15, Emin=-(10**15))
_MOVED = Decimal("1e-20")
#: Contexts whose distances from the peak agree in so many digits tie.
_SAME = Context(prec=50, Emax=10**15, Emin=-(10**15))

_Bounds = tuple[Fraction, Fraction]


def tables_of_scorecard(model: AdditiveModel) -> LogOdds:
    """The tables of a scorecard: λ of a value is its weight less that of the attribute undisclosed."""
    exact = Exponentials(model)
    prior = exact.log_prior()
    values = [[exact.log_odds(i, v) for v in range(len(a.weights))] for i, a in enumerate(model.attributes)]
    population = None
    if model.unfavourable_share is not None:
        unfavourable = ln(model.unfavourable_share)
        rows = [
            [(ln(share) + shift, ln(share)) for share, shift in zip(a.population or (), row, strict=True)]
            for a, row in zip(model.attributes, values, strict=True)
        ]
        population = Population(
            (float(unfavourable + prior), float(unfavourable)),
            tuple(np.array([[float(number) for number in pair] for pair in row]) for row in rows),
        )
    return LogOdds.rounded(prior, values, model.sensitive, population, exact)


@dataclass(frozen=True)
class Exponentials:
    """`Exact` for scorecards, by bounds of growing precision and a rule for ties (`exponentials.sign`)."""

    model: AdditiveModel
    #: Measured degrees are rounded towards 0 at `_TOLD` digits.
    error: ClassVar[Fraction] = Fraction(1, 10 ** (_TOLD - 1))

    def measure(self, criterion: Criterion, x: Assignment, y: Assignment) -> Pattern:
        """The pair (x, y), its figures to 40 digits; the degree is on its side of the threshold."""
        pattern, context = self._odds(x + y, _START), self._odds(y, _START)
        middle, middle_y = _middle(pattern), _middle(context)
        people = None
        if self.model.unfavourable_share is not None:
            shares = [self.model.attributes[i].population for i, _ in x]
            given_x = prod((p[v] for (_, v), p in zip(x, shares, strict=True) if p), start=Fraction(1))
            probability = self._unfavourable(x + y) * (1 + middle)
            people = _told(probability), _told(given_x * (1 + middle) / (1 + middle_y))
        return Pattern(
            sensitive_values=x,
            context_values=y,
            degree=self._degree(criterion, x, y),
            people=people,
            favourable_given_pattern=_told(middle / (1 + middle)),
            favourable_given_context=_told(middle_y / (1 + middle_y)),
            criterion=criterion,
        )

    def rounded(self, pattern: Pattern, places: int) -> tuple[Fraction, ...]:
        """Degree, ``P(d | xy)``, ``P(d | y)`` and, in a population, ``P(xy)``: the nearest of so many places.

        They aren't taken from what `measure` tells, since rounding twice can round to another number.
        """
        values, context = pattern.sensitive_values + pattern.context_values, pattern.context_values
        share = None if self.model.unfavourable_share is None else self._unfavourable(values)
        digits = _START
        while True:
            odds, before = (self._odds(known, digits) for known in (values, context))
            given = [(low / (1 + low), high / (1 + high)) for low, high in (odds, before)]
            bounds = [self._degree_within(pattern.criterion, *given), *given]
            if share is not None:
                bounds.append((share * (1 + odds[0]), share * (1 + odds[1])))
            ends = [[round(end * 10**places) for end in both] for both in bounds]
            if digits > _MOST or all(low == high for low, high in ends):
                # What is still between two of them is a half of a place, a rational, and goes to the even.
                halves = [round(2 * _middle(both) * 10**places) for both in bounds]
                return tuple(
                    Fraction(low if low == high else round(Fraction(half, 2)), 10**places)
                    for (low, high), half in zip(ends, halves, strict=True)
                )
            digits *= 2

    def discriminates(self, criterion: Criterion, x: Assignment, y: Assignment) -> bool:
        """Whether ``|degree| > threshold``, by the sign of a sum of exponentials."""
        return self._excess(criterion, x, y) > 0

    def size(self, criterion: Criterion, x: Assignment, y: Assignment) -> Quotient:
        """``(A - B) / (1 + A)(1 + B)``, and over ``A (1 + B)`` by ratio, of the odds A > B."""
        one, odds, context = Fraction(1), self.model.odds, self.model.exponent(y)
        (b, a), zero = sorted((context, context + self._strength(x))), Fraction(0)
        below = [(odds, a), (odds * odds, a + b)]
        if criterion.name == "difference":
            below += [(one, zero), (odds, b)]
        return Quotient(self.model.base, ((odds, a), (-odds, b)), tuple(below))

    def probable(self, x: Assignment, y: Assignment, least: Fraction) -> bool:
        """Whether ``P(xy) = P(xy, d̄) (1 + odds) >= least``."""
        share = self._unfavourable(x + y)
        terms = [(share - least, Fraction(0)), (share * self.model.odds, self.model.exponent(x + y))]
        return sign(terms, self.model.base) >= 0

    def interval(self, criterion: Criterion, x: Assignment) -> Interval | None:
        """`Criterion.interval`, of so many digits of ``e^s`` that rounding it moves no end by `_MOVED`."""
        if self._strength(x) == 0:
            return None
        digits = self._digits(x)
        while True:
            less, more = (criterion.interval(r, Fraction(1)) for r in self._ratios(x, digits))
            if more is None or (less and _are_near(less, more)):
                return more
            # Next to where there is none, a few digits don't tell the ends of what there is.
            if self.closed(criterion, x):
                return None
            digits *= 2

    def closed(self, criterion: Criterion, x: Assignment) -> bool:
        """By the sign of `Criterion.supremum_terms`."""
        size = abs(self._strength(x))
        return sign([(c, p * size) for c, p in criterion.supremum_terms()], self.model.base) <= 0

    def worst_first(
        self, criterion: Criterion, x: Assignment, contexts: Sequence[Assignment]
    ) -> list[list[Assignment]]:
        """By `Criterion.off_peak` to 50 digits."""
        ratio = self._ratio(x)
        tied: dict[Decimal, list[Assignment]] = {}
        for y in contexts:
            distance = criterion.off_peak(_middle(self._odds(y, _START)), ratio, Fraction(1))
            key = _SAME.divide(Decimal(distance.numerator), Decimal(distance.denominator))
            tied.setdefault(key, []).append(y)
        return [tied[key] for key in sorted(tied)]

    def extreme(self, attribute: int, sign: int) -> int:
        """By the weights."""
        weights = self.model.attributes[attribute].weights
        return max(range(len(weights)), key=lambda v: (sign * weights[v], -v))

    def sign(self, attribute: int, value: int) -> int:
        """By comparing the weight with that of the attribute undisclosed."""
        of = self.model.attributes[attribute]
        return (of.weights[value] > of.undisclosed) - (of.weights[value] < of.undisclosed)

    def log_odds(self, attribute: int, value: int) -> Decimal:
        """The weight less that of the attribute undisclosed, in nats."""
        of = self.model.attributes[attribute]
        return self._nats(of.weights[value] - of.undisclosed)

    def log_prior(self) -> Decimal:
        """The logarithm of the odds where nothing is disclosed."""
        return CONTEXT.add(ln(self.model.odds), self._nats(self.model.exponent()))

    def _nats(self, exponent: Fraction) -> Decimal:
        unit = ln(Fraction(2)) if self.model.base == "2" else Decimal(1)
        return CONTEXT.multiply(
            CONTEXT.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)), unit
        )

    def prior(self) -> Hashable:
        """The odds of the decision where nothing is disclosed."""
        return self.model.base, self.model.odds, self.model.exponent()

    def ratio(self, x: Assignment) -> Hashable:
        """The exponent that x adds."""
        return self.model.base, self._strength(x)

    def row(self, attribute: int) -> Hashable:
        """What each value adds beyond the attribute undisclosed, and how probable it is."""
        of = self.model.attributes[attribute]
        return tuple(weight - of.undisclosed for weight in of.weights), of.population

    def _odds(self, values: Assignment, digits: int) -> _Bounds:
        low, high = power(self.model.exponent(values), self.model.base, digits)
        return Fraction(low) * self.model.odds, Fraction(high) * self.model.odds

    def _unfavourable(self, values: Assignment) -> Fraction:
        """``P(values, d̄)``."""
        share = self.model.unfavourable_share
        if share is None:
            raise ValueError("no population is assumed, and so there are no probabilities")
        rows = [(self.model.attributes[i].population, v) for i, v in values]
        return prod((row[v] for row, v in rows if row), start=share)

    def _strength(self, x: Assignment) -> Fraction:
        return self.model.exponent(x) - self.model.exponent()

    def _digits(self, x: Assignment) -> int:
        """Where s is next to 0, e^s differs from 1 in later digits only."""
        strength = self._strength(x)
        return _START + max(0, len(str(strength.denominator)) - len(str(abs(strength.numerator))))

    def _ratios(self, x: Assignment, digits: int) -> tuple[Fraction, Fraction]:
        """``e^s``, rounded towards 1 and away from it."""
        strength = self._strength(x)
        low, high = map(Fraction, power(strength, self.model.base, digits))
        return (low, high) if strength > 0 else (high, low)

    def _ratio(self, x: Assignment) -> Fraction:
        """``e^s``, rounded away from 1; exactly 1 where s is 0."""
        return self._ratios(x, self._digits(x))[1]

    def _excess(self, criterion: Criterion, x: Assignment, y: Assignment) -> int:
        """The sign of ``|degree| - threshold``, 0 for a tie."""
        strength, context = self._strength(x), self.model.exponent(y)
        if strength == 0:
            return -1 if criterion.threshold else 0
        none = Fraction(0)
        more, less = context + max(strength, none), context + min(strength, none)
        odds = self.model.odds
        terms: list[Term] = [(c * odds ** (i + j), i * more + j * less) for c, i, j in criterion.odds_terms()]
        return sign(terms, self.model.base)

    def _degree(self, criterion: Criterion, x: Assignment, y: Assignment) -> Fraction:
        """The degree rounded towards 0, but never onto the threshold or over it."""
        if self._strength(x) == 0:
            return Fraction(0)
        digits, told = _START, _DOWN
        while True:
            after, before = (self._given(values, digits) for values in (x + y, y))
            low, high = self._degree_within(criterion, after, before)
            if low > 0 or high < 0:
                side = 1 if low > 0 else -1
                least, most = sorted((abs(low), abs(high)))
                if most - least <= least * Fraction(1, 10 ** (told.prec + 2)):
                    measured = Fraction(told.divide(Decimal(least.numerator), Decimal(least.denominator)))
                    if measured > criterion.threshold or most < criterion.threshold:
                        return side * measured
                    excess = self._excess(criterion, x, y)
                    if excess <= 0:
                        return side * (measured if excess else criterion.threshold)
                    # So near above the threshold that rounding crosses it.
                    told = Context(prec=2 * told.prec, rounding=ROUND_DOWN, Emax=10**15, Emin=-(10**15))
            digits *= 2

    def _given(self, values: Assignment, digits: int) -> _Bounds:
        """Bounds on ``P(d | values)``."""
        low, high = self._odds(values, digits)
        return low / (1 + low), high / (1 + high)

    @staticmethod
    def _degree_within(criterion: Criterion, after: _Bounds, before: _Bounds) -> _Bounds:
        """Bounds on the degree, which grows with ``P(d | xy)`` and falls with ``P(d | y)``."""
        return criterion.degree(after[0], before[1]), criterion.degree(after[1], before[0])


def _are_near(one: Interval, other: Interval) -> bool:
    return all(
        a == b or (a is not None and b is not None and abs(a - b) <= _MOVED)
        for a, b in zip(one, other, strict=True)
    )


def _middle(bounds: _Bounds) -> Fraction:
    return (bounds[0] + bounds[1]) / 2


def _told(number: Fraction) -> Fraction:
    """Round to the digits that are told."""
    return Fraction(
        Context(prec=_TOLD, Emax=10**15, Emin=-(10**15)).divide(
            Decimal(number.numerator), Decimal(number.denominator)
        )
    )
