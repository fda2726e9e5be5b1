"""A pattern (x, y) with its exact degree and probability, and its divergence."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property

from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.criteria import Criterion

#: Degrees that differ by no more than this (share of them) count as the same: those of scorecards are
#: measured to about 40 digits.
UNTOLD = Fraction(1, 10**38)
#: Digits that a divergence keeps after cancellation.
_DIGITS = 32


@dataclass(frozen=True)
class Pattern:
    """Sensitive values x disclosed in a context y, with what that does to the decision."""

    sensitive_values: Assignment
    context_values: Assignment
    """x and y as pairs (attribute index, value index)."""
    degree: Fraction
    """The criterion's degree, ``P(d | xy) - P(d | y)`` for the difference."""
    people: tuple[Fraction, Fraction] | None
    """``P(xy)`` and ``P(x | y)`` in the model's population; None where the model assumes none."""
    favourable_given_pattern: Fraction
    favourable_given_context: Fraction
    """``P(d | xy)`` and ``P(d | y)``."""
    criterion: Criterion = field(repr=False)
    """By which the degree is measured."""

    @property
    def probability(self) -> Fraction:
        """``P(xy)``, the share of the model's population to which the pattern applies.

        Raises
        ------
        ValueError
            If no population is assumed.
        """
        return self._people[0]

    @property
    def share(self) -> Fraction:
        """``P(x | y)``.

        Raises
        ------
        ValueError
            If no population is assumed.
        """
        return self._people[1]

    @property
    def _people(self) -> tuple[Fraction, Fraction]:
        if self.people is None:
            raise ValueError("no population is assumed, and so there are no probabilities")
        return self.people

    @cached_property
    def divergence(self) -> Decimal:
        """`divergence` of the pattern in nats, to 30 digits."""
        return divergence(
            self.criterion,
            self.favourable_given_pattern,
            self.favourable_given_context,
            self.share,
            self.probability,
        )

    @property
    def divergence_nats(self) -> float:
        """The divergence as a float; see `divergence` for when it is infinite."""
        return float(self.divergence)

    @cached_property
    def disclosed(self) -> frozenset[int]:
        """The sensitive attributes that x discloses."""
        return frozenset(i for i, _ in self.sensitive_values)

    @property
    def key(self) -> tuple[int, Assignment, Assignment]:
        """What breaks ties between patterns: the one with fewer values first, then the values themselves."""
        return (
            len(self.sensitive_values) + len(self.context_values),
            self.sensitive_values,
            self.context_values,
        )


def measure(model: NaiveBayes, criterion: Criterion, x: Assignment, y: Assignment) -> Pattern:
    """The pattern (x, y) of a model, exactly.

    Raises
    ------
    ValueError
        If ``P(xy) = 0``: then ``P(d | xy)`` is undefined and (x, y) is no pattern.
    """
    u, v, of = model.weights(y)
    du, dv, whole = model.weights(x + y)
    if du + dv == 0:
        raise ValueError("the pattern has probability 0")
    given_pattern, given_context = Fraction(du, du + dv), Fraction(u, u + v)
    return Pattern(
        sensitive_values=x,
        context_values=y,
        degree=criterion.degree(given_pattern, given_context),
        people=(Fraction(du + dv, whole), Fraction(du + dv, whole // of * (u + v))),
        favourable_given_pattern=given_pattern,
        favourable_given_context=given_context,
        criterion=criterion,
    )


def discriminates(model: NaiveBayes, criterion: Criterion, x: Assignment, y: Assignment) -> bool:
    """Whether ``|degree| > threshold`` for a pair (x, y) of positive probability; decided in rationals."""
    u, v, _ = model.weights(y)
    du, dv, _ = model.weights(x + y)
    return abs(criterion.degree(Fraction(du, du + dv), Fraction(u, u + v))) > criterion.threshold


def divergence(
    criterion: Criterion,
    given_pattern: Fraction,
    given_context: Fraction,
    share: Fraction,
    probability: Fraction,
) -> Decimal:
    """Divergence in nats: the least KL(P‖Q) over the Q that differ from P on (x, y) alone and are fair there.

    Parameters
    ----------
    given_pattern, given_context : Fraction
        ``a = P(d | xy)`` and ``c = P(d | y)``.
    share : Fraction
        ``f = P(x | y)``.
    probability : Fraction
        ``P(xy)``.

    Notes
    -----
    ``P(xy) kl(a‖a')`` with a' the nearest fair ``Q(d | xy)`` (`Criterion.fair_target`), where ``kl(p‖q) = p
    ln(p/q) + (1-p) ln((1-p)/(1-q))``. Infinite where a' is 0 or 1 and a is not, so that no such Q has a
    finite KL: for the difference that takes threshold 0, for the ratio ``P(d | y without x) = 0``. Source:
    Choi et al. (2020), the definition of the divergence score and its derivation in the appendix.
    """
    a, c, f = given_pattern, given_context, share
    degree = criterion.degree(a, c)
    if abs(degree) <= criterion.threshold:
        return Decimal(0)
    # The figures of scorecards are rounded: next to 0 and 1 none may be left that is fair.
    try:
        target = criterion.fair_target(a, c, f)
    except ZeroDivisionError:
        return Decimal("Infinity")
    if not 0 < target < 1 and a != target:
        return Decimal("Infinity")
    # The two terms of kl cancel to the order of (a - a')², so that many digits more are needed.
    lost = (abs(a - target).denominator.bit_length() - abs(a - target).numerator.bit_length()) * 6 // 10
    context = Context(prec=_DIGITS + max(lost, 0), Emax=10**9, Emin=-(10**9))

    def decimal(x: Fraction) -> Decimal:
        return context.divide(Decimal(x.numerator), Decimal(x.denominator))

    total = Decimal(0)
    for p, q in ((a, target), (1 - a, 1 - target)):
        if p:
            total = context.add(total, context.multiply(decimal(p), context.ln(decimal(p / q))))
    return context.multiply(decimal(probability), total)
