"""What holds for a scorecard in every population that conforms with it.

In such a population an attribute that isn't disclosed counts a number u between the least and the greatest
weight of its values, and each such number is that of some population. Let the sensitive attributes together
span R, and all attributes the log-odds from L to H. Whatever is disclosed, ``P(d | y) = σ(p)`` and ``P(d |
xy) = σ(q)`` with p and q in ``[L, H]`` and ``|q - p| <= R``. Each pair ``(p, p + R)`` in there is reached, or
comes as near as one likes: x has the greatest weight of every sensitive attribute, u is next to the least,
and the other attributes, undisclosed, move p. Since |degree| grows when one end moves away from the other,
its supremum over all populations and patterns is that of the pairs ``(γ, γ + R)``: at the γ of ``[L, H - R]``
that is nearest the peak.

No one pattern discriminates in all populations: u can be all but the weights of what is disclosed.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import isinf

from auditor.choices import ReachVerdict
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.additive import AdditiveModel
from auditor.model.exponentials import power, sign
from auditor.model.naive_bayes import Assignment
from auditor.search.criteria import Criterion

#: Digits of odds, and bits of the share by which undisclosed numbers move p to the peak; more where needed.
_DIGITS, _BITS = 60, 64


@dataclass(frozen=True)
class PopulationExtreme:
    """A pattern without context, and numbers for what isn't disclosed that populations come near."""

    sensitive_values: Assignment
    undisclosed: tuple[Fraction, ...]
    """Per attribute, in powers of the model's base; at its ends they are limits."""
    given_pattern: Fraction
    given_context: Fraction
    degree: Fraction
    """``P(d | x)``, ``P(d)`` and the degree there, to 50 digits; the latter is rounded towards 0."""


@dataclass(frozen=True)
class PopulationReach:
    """What is known of a scorecard in all populations."""

    verdict: ReachVerdict
    """Only that all are δ-fair, or that it varies: no one pattern discriminates in every population."""
    largest: PopulationExtreme | None
    """None if no sensitive attribute counts anything."""
    upper: Fraction
    """No population gives a pattern a larger |degree|."""


def in_every_population(model: AdditiveModel, criterion: Criterion) -> PopulationReach:
    """Decide what holds in every population; exactly, without a search.

    Raises
    ------
    InputError
        If an attribute counts undisclosed what it can in no population.
    """
    rows = [(min(a.weights), max(a.weights)) for a in model.attributes]
    if outside := [
        a for a, (w0, w1) in zip(model.attributes, rows, strict=True) if not w0 <= a.undisclosed <= w1
    ]:
        raise InputError(
            f"any population: {shown(a.name)} counts more or less undisclosed than each of its values, as it "
            "does in no population; leave out what is asked of populations, or ask about the conforming one"
            for a in outside
        )
    x = [i for i in model.sensitive if rows[i][0] < rows[i][1]]
    if not x:
        return PopulationReach("all-delta-fair", None, Fraction(0))
    pairs = _Pairs(
        model,
        criterion,
        least=model.intercept + sum((w0 for w0, _ in rows), Fraction(0)),
        span=sum((rows[i][1] - rows[i][0] for i in x), Fraction(0)),
        room=sum((w1 - w0 for i, (w0, w1) in enumerate(rows) if i not in x), Fraction(0)),
    )
    exceeds, digits, bits = pairs.exceeds, _DIGITS, _BITS
    while True:
        share = pairs.share(bits)
        before, after = pairs.given(share, digits)
        degree = criterion.degree(after[0], before[1])
        # It is above 0, as R is.
        if degree > (criterion.threshold if exceeds else 0):
            break
        digits, bits = 2 * digits, 2 * bits
    upper = pairs.upper(digits)
    chosen = tuple(
        (i, max(range(len(w)), key=w.__getitem__)) for i in x for w in [model.attributes[i].weights]
    )
    undisclosed = tuple(w0 if i in x else w0 + (w1 - w0) * share for i, (w0, w1) in enumerate(rows))
    return PopulationReach(
        "varies" if exceeds else "all-delta-fair",
        PopulationExtreme(chosen, undisclosed, _middle(after), _middle(before), degree),
        upper if exceeds else min(upper, criterion.threshold),
    )


_Bounds = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class _Pairs:
    """The pairs ``(γ, γ + R)``: exponents from ``least`` to ``least + room``, and R as ``span``."""

    model: AdditiveModel
    criterion: Criterion
    least: Fraction
    span: Fraction
    room: Fraction

    @property
    def end(self) -> Fraction | None:
        """The exponent at the end that is nearest the peak; None if the peak is between the ends."""
        if isinf(float(self.criterion.peak(1.0))) or self._beyond_the_peak(self.least) >= 0:
            return self.least
        most = self.least + self.room
        return most if self._beyond_the_peak(most) <= 0 else None

    @property
    def exceeds(self) -> bool:
        """Whether the supremum is above the threshold."""
        end = self.end
        odds, low = (Fraction(1), -self.span / 2) if end is None else (self.model.odds, end)
        return (
            sign(
                [
                    (c * odds ** (i + j), i * (low + self.span) + j * low)
                    for c, i, j in self.criterion.odds_terms()
                ],
                self.model.base,
            )
            > 0
        )

    def share(self, bits: int) -> Fraction:
        """How far the pair of the supremum is between the ends, in shares of ``2^-bits``."""
        end = self.end
        if end is not None:
            return (end - self.least) / self.room if self.room else Fraction(0)
        context = Context(prec=_DIGITS + bits, Emax=10**9, Emin=-(10**9))
        odds = context.divide(*map(Decimal, self.model.odds.as_integer_ratio()))
        unit = context.ln(Decimal(2)) if self.model.base == "2" else Decimal(1)
        middle = -self.span / 2 - Fraction(context.divide(context.ln(odds), unit))
        return Fraction(round((middle - self.least) / self.room * (1 << bits)), 1 << bits)

    def given(self, share: Fraction, digits: int) -> tuple[_Bounds, _Bounds]:
        """Bounds on ``σ(γ)`` and on ``σ(γ + R)``."""
        low = self.least + self.room * share
        return self._given(low, self.model.odds, digits), self._given(
            low + self.span, self.model.odds, digits
        )

    def upper(self, digits: int) -> Fraction:
        """A bound on the supremum, within a few units of the last digit."""
        end = self.end
        odds, low = (Fraction(1), -self.span / 2) if end is None else (self.model.odds, end)
        before, after = self._given(low, odds, digits), self._given(low + self.span, odds, digits)
        return self.criterion.degree(after[1], before[0])

    def _given(self, exponent: Fraction, factor: Fraction, digits: int) -> _Bounds:
        low, high = (Fraction(p) * factor for p in power(exponent, self.model.base, digits))
        return low / (1 + low), high / (1 + high)

    def _beyond_the_peak(self, exponent: Fraction) -> int:
        """The sign of ``γ + R/2``."""
        half = exponent + self.span / 2
        return sign([(self.model.odds, half), (Fraction(-1), Fraction(0))], self.model.base)


def _middle(bounds: _Bounds) -> Fraction:
    return (bounds[0] + bounds[1]) / 2
