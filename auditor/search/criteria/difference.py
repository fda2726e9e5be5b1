"""The difference ``P(d | xy) - P(d | y)``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, log1p
from typing import ClassVar, Literal

import numpy as np

from auditor.search.criteria.criterion import (
    CONTEXT,
    EPSILON,
    Criterion,
    Floats,
    Interval,
    Numbers,
    Term,
    ln,
    ln_below,
    logistic,
)


@dataclass(frozen=True)
class Difference(Criterion):
    """``Δ(x, y) = P(d | xy) - P(d | y)``, the degree of discrimination; fair iff ``|Δ| <= threshold``.

    Source: Choi et al. (2020), first two definitions.
    """

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
            return ln_below((1 - delta) / delta)
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
        """Whether ``tanh(|s|/4) <= bound``."""
        (low, low_of), (high, high_of) = min(a, b).as_integer_ratio(), max(a, b).as_integer_ratio()
        part, of = bound.as_integer_ratio()
        return part >= of or low * high_of * (of + part) ** 2 >= high * low_of * (of - part) ** 2

    def supremum_terms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """``(1 - δ) e^(|s|/2) - (1 + δ)``."""
        return (1 - self.threshold, Fraction(1, 2)), (-1 - self.threshold, Fraction(0))

    def fair_target(self, given_pattern: Fraction, given_context: Fraction, share: Fraction) -> Fraction:
        """``a' = a - (Δ - δ)/(1 - f)`` for Δ > δ, ``a - (Δ + δ)/(1 - f)`` for Δ < -δ."""
        degree = given_pattern - given_context
        excess = degree - self.threshold if degree > 0 else degree + self.threshold
        return given_pattern - excess / (1 - share)

    def off_peak(self, odds: Fraction, a: Fraction, b: Fraction) -> Fraction:
        """``R² r`` or its inverse, by which ``|γ + s/2|`` grows; R or its inverse where s is infinite."""
        if b == 0:
            return odds
        if a == 0:
            return 1 / odds
        # In integers, with one common divisor sought rather than five.
        above = odds.numerator**2 * a.numerator * b.denominator
        below = odds.denominator**2 * a.denominator * b.numerator
        return Fraction(max(above, below), min(above, below))

    def odds_terms(self) -> tuple[tuple[Fraction, int, int], ...]:
        """``A - B - δ (1 + A)(1 + B)``."""
        delta = self.threshold
        return (1 - delta, 1, 0), (-1 - delta, 0, 1), (-delta, 0, 0), (-delta, 1, 1)

    def supremum(self, s: Numbers) -> Floats:
        """``tanh(|s|/4)``."""
        return np.tanh(np.abs(s) / 4)

    def peak(self, s: Numbers) -> Floats:
        """``-s/2``."""
        return np.asarray(-s / 2)

    def size(self, s: Numbers, t: Numbers) -> Floats:
        """``σ(t+s) σ(-t) (1 - e^-s)`` for s > 0; mirrored for s < 0."""
        towards, strength = np.where(s > 0, t, -t), np.abs(s)
        return logistic(towards + strength) * logistic(-towards) * -np.expm1(-strength)

    def reach(self, s: Floats, *, outwards: bool) -> tuple[Floats, Floats]:
        """``-s/2 ∓ ρ`` with ``ρ = arccosh(sinh(|s|/2)/δ - cosh(|s|/2))``.

        With ``q = (1 - e^-|s|)/δ - (1 + e^-|s|)`` the end on the far side is, for s > 0, ``-s/2 + ρ = ln(q/2
        + √(q²/4 - e^-s))``, which loses digits only where ρ is next to 0; there q and the root are rounded
        with room.
        """
        delta, strength = float(self.threshold), np.abs(s)
        if self.threshold == 0:
            some = strength > 0
            return np.where(some, -inf, inf), np.where(some, inf, -inf)
        sign = 1 if outwards else -1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            decay = np.exp(-strength)
            q = -np.expm1(-strength) / delta - (1 + decay)
            q = q + sign * EPSILON * (-np.expm1(-strength) / delta + 1 + decay)
            square = q * q / 4 - decay + sign * EPSILON * (q * q / 4 + decay)
            far = np.log(q / 2 + np.sqrt(np.maximum(square, 0)))
            far = far + sign * EPSILON * (1 + np.abs(far) + np.where(np.isinf(strength), 0, strength))
            near = -strength - far
        some = (q > 0) & (square > 0) & (self.threshold < 1)
        low, high = np.where(s > 0, near, -far), np.where(s > 0, far, -near)
        return np.where(some, low, inf), np.where(some, high, -inf)

    def excess(self, s: Floats, t1: Floats, beyond: Floats, rest: Floats, *, most: bool) -> Floats:
        """``(|Δ| - δ) / (1 - f)``.

        ``|Δ| <= 1 - f``: where floats lose digits of that, they have none of what is beyond δ.
        """
        return _divided(beyond, rest)

    @property
    def least_target(self) -> float:
        """δ: the fair ``Q(d | y)`` is not below 0."""
        return float(self.threshold)

    def cut_terms(self, sign: int) -> list[Term]:
        """Terms of the paper's inequality.

        With ``r_x = e^-s`` and ``r_y = e^-γ`` they come from

        (1-δ) r_y     <= δ + (1+δ) r_x r_y + δ r_x r_y²    for Δ <= δ,
        (1-δ) r_x r_y <= δ + (1+δ) r_y     + δ r_x r_y²    for Δ >= -δ.
        """
        log_delta = float(ln(self.threshold))
        first, last = (0, -1) if sign > 0 else (1, 0)
        return [(log_delta, 1, first), (log1p(float(self.threshold)), 0, -sign), (log_delta, -1, last)]

    def largest_fair_strength(self) -> float:
        """``4 artanh δ``, infinite at δ = 1."""
        return 2 * (log1p(float(self.threshold)) - self.log_rest)


def _divided(beyond: Floats, rest: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(beyond == 0, 0.0, np.where(rest > 0, beyond / rest, inf))
