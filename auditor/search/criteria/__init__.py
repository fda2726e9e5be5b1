"""The two criteria of discrimination, each as a degree and as an interval of log-odds.

Notation: for disclosed sensitive values x and context y, ``a = P(x | d)``, ``b = P(x | d̄)``, ``s =
ln(a/b)``, ``γ = ln(P(d, y) / P(d̄, y))`` and σ the logistic function, so that ``P(d | y) = σ(γ)`` and
``P(d | xy) = σ(γ + s)``. For a fixed x the degree depends on y through γ alone, and the contexts in which x
discriminates are exactly those whose γ lies in one open interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, inf, tanh
from typing import ClassVar, Literal

from auditor.choices import CriterionName

# ln and sqrt of `decimal` are correctly rounded; 60 digits are far beyond the 48 fraction bits kept of them.
CONTEXT = Context(prec=60, Emax=10**9, Emin=-(10**9))

#: An open interval of γ; None stands for an infinite end.
Interval = tuple[Decimal | None, Decimal | None]


@lru_cache(maxsize=1 << 16)
def ln(x: Fraction) -> Decimal:
    """Natural logarithm of a positive rational, to 59 digits or better."""
    return CONTEXT.ln(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator)))


def _ln_below(x: Fraction) -> Interval | None:
    """The γ with ``e^γ < x``."""
    return (None, ln(x)) if x > 0 else None


@dataclass(frozen=True)
class Difference:
    """``Δ(x, y) = P(d | xy) - P(d | y)``, the degree of discrimination; fair iff ``|Δ| <= threshold``.

    Source: Choi et al. (2020), first two definitions.
    """

    threshold: Fraction
    name: ClassVar[Literal["difference"]] = "difference"

    def degree(self, given_pattern: Fraction, given_context: Fraction) -> Fraction:
        """``P(d | xy) - P(d | y)``."""
        return given_pattern - given_context

    def interval(self, a: Fraction, b: Fraction) -> Interval | None:
        """The open interval of γ in which ``|Δ| > δ``, or None where no context at all makes x discriminate.

        With ``r = a/b > 1`` and ``R = e^γ``: ``Δ > δ`` iff ``δ r R² - (r - 1 - δ(1 + r)) R + δ < 0``; the two
        roots have the product 1/r. For ``r < 1`` exchange the two decisions, which negates γ and s.
        """
        delta = self.threshold
        if a == b or delta >= 1:
            return None
        if a < b:
            mirrored = self.interval(b, a)
            if mirrored is None:
                return None
            low, high = mirrored
            return (
                None if high is None else -high,
                None if low is None else -low,
            )
        if delta == 0:
            return None, None
        if b == 0:
            return _ln_below((1 - delta) / delta)
        r = a / b
        middle = r - 1 - delta * (1 + r)
        discriminant = middle * middle - 4 * delta * delta * r
        if middle <= 0 or discriminant <= 0:
            return None
        root = CONTEXT.sqrt(
            CONTEXT.divide(Decimal(discriminant.numerator), Decimal(discriminant.denominator))
        )
        middle_decimal = CONTEXT.divide(Decimal(middle.numerator), Decimal(middle.denominator))
        high = CONTEXT.subtract(CONTEXT.ln(CONTEXT.add(middle_decimal, root)), ln(2 * delta * r))
        return CONTEXT.subtract(-ln(r), high), high

    def supremum_within(self, a: Fraction, b: Fraction, bound: Fraction) -> bool:
        """Whether ``tanh(|s|/4) <= bound``, the supremum of |Δ| over every real γ; decided in rationals."""
        low, high = min(a, b), max(a, b)
        return bound >= 1 or low * (1 + bound) ** 2 >= high * (1 - bound) ** 2

    @staticmethod
    def supremum(s: float) -> float:
        """``tanh(|s|/4)``, increasing in |s|."""
        return tanh(abs(s) / 4)

    @staticmethod
    def peak(s: float) -> float:
        """The γ at which |Δ| is greatest; |Δ| falls on both sides of it, symmetrically."""
        return -s / 2

    @staticmethod
    def size(s: float, gamma: float) -> float:
        """|Δ| as a float: ``σ(γ+s) σ(-γ) (1 - e^-s)`` for s > 0, which loses no digits to cancellation."""
        if s < 0:
            s, gamma = -s, -gamma
        return _logistic(gamma + s) * _logistic(-gamma) * -expm1(-s)


@dataclass(frozen=True)
class Ratio:
    """``q = P(d | xy) / P(d | y)`` within ``[1 - τ, 1/(1 - τ)]``, the p%-rule for every context.

    The degree is ``1 - 1/q`` for ``q >= 1`` and ``q - 1`` below, so that x discriminates iff ``|degree| >
    τ``. Where ``P(d | y) = 0`` disclosing x changes nothing, and the degree is 0. For a fixed x the degree is
    monotone in γ, greatest in size at the lowest γ.

    Source: Choi et al. (2020), Section "Related Work" (p%-rule for partial observations).
    """

    threshold: Fraction
    name: ClassVar[Literal["ratio"]] = "ratio"

    def degree(self, given_pattern: Fraction, given_context: Fraction) -> Fraction:
        """``1 - 1/q`` for ``q >= 1``, else ``q - 1``."""
        if given_context == 0:
            return Fraction(0)
        q = given_pattern / given_context
        return 1 - 1 / q if q >= 1 else q - 1

    def interval(self, a: Fraction, b: Fraction) -> Interval | None:
        """The open half-line of γ in which ``|degree| > τ``, or None."""
        tau = self.threshold
        if a == b or tau >= 1:
            return None
        if a == 0 or tau == 0:
            return None, None
        if b == 0:
            return _ln_below((1 - tau) / tau)
        r = a / b
        return _ln_below((r * (1 - tau) - 1 if r > 1 else 1 - tau - r) / (r * tau))

    def supremum_within(self, a: Fraction, b: Fraction, bound: Fraction) -> bool:
        """Whether ``1 - e^-|s| <= bound``, the supremum of |degree| over every real γ."""
        return min(a, b) >= max(a, b) * (1 - bound)

    @staticmethod
    def supremum(s: float) -> float:
        """``1 - e^-|s|``, increasing in |s|."""
        return -expm1(-abs(s))

    @staticmethod
    def peak(s: float) -> float:
        """The degree is greatest in size towards the lowest γ."""
        return -inf

    @staticmethod
    def size(s: float, gamma: float) -> float:
        """|degree| as a float, without cancellation.

        For s > 0, ``1 - P(d|y)/P(d|xy) = σ(-γ)(1 - e^-s)``; for s < 0, ``1 - P(d|xy)/P(d|y) = σ(-γ-s)(1 -
        e^s)``.
        """
        return _logistic(-gamma) * -expm1(-s) if s > 0 else _logistic(-gamma - s) * -expm1(s)


def _logistic(t: float) -> float:
    return 1 / (1 + exp(-t)) if t >= 0 else exp(t) / (1 + exp(t))


Criterion = Difference | Ratio

#: The criteria by name.
CRITERIA: dict[CriterionName, type[Difference] | type[Ratio]] = {"difference": Difference, "ratio": Ratio}
