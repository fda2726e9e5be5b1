"""The ratio ``P(d | xy) / P(d | y)``, known as the p%-rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar, Literal

import numpy as np

from auditor.search.criteria.criterion import (
    EPSILON,
    LOST,
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
class Ratio(Criterion):
    """``q = P(d | xy) / P(d | y)`` within ``[1 - τ, 1/(1 - τ)]``, the p%-rule for every context.

    The degree is ``1 - 1/q`` for ``q >= 1`` and ``q - 1`` below, so that x discriminates iff ``|degree| >
    τ``. Where ``P(d | y) = 0`` disclosing x changes nothing, and the degree is 0. For a fixed x the degree is
    monotone in γ, greatest in size at the lowest γ.

    Source: Choi et al. (2020), Section "Related Work" (p%-rule for partial observations).
    """

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
            return ln_below((1 - tau) / tau)
        r = a / b
        return ln_below((r * (1 - tau) - 1 if r > 1 else 1 - tau - r) / (r * tau))

    def supremum_within(self, a: Fraction, b: Fraction, bound: Fraction) -> bool:
        """Whether ``1 - e^-|s| <= bound``."""
        return min(a, b) >= max(a, b) * (1 - bound)

    def supremum_terms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """``(1 - τ) e^|s| - 1``."""
        return (1 - self.threshold, Fraction(1)), (Fraction(-1), Fraction(0))

    def fair_target(self, given_pattern: Fraction, given_context: Fraction, share: Fraction) -> Fraction:
        """``a' = a - ((1-τ)a - c)/((1-τ) - f)`` for q > 1/(1-τ), ``a + ((1-τ)c - a)/(1 - (1-τ)f)`` below."""
        a, c, kept = given_pattern, given_context, 1 - self.threshold
        return a - (kept * a - c) / (kept - share) if a > c else a + (kept * c - a) / (1 - kept * share)

    def off_peak(self, odds: Fraction, a: Fraction, b: Fraction) -> Fraction:
        """R; 0 for all contexts where ``P(d | xy) = 0`` in each."""
        return odds if a else Fraction(0)

    def odds_terms(self) -> tuple[tuple[Fraction, int, int], ...]:
        """``(1 - τ) A (1 + B) - B (1 + A)``."""
        kept = 1 - self.threshold
        return (kept, 1, 0), (Fraction(-1), 0, 1), (kept - 1, 1, 1)

    def supremum(self, s: Numbers) -> Floats:
        """``1 - e^-|s|``."""
        return -np.expm1(-np.abs(s))

    def peak(self, s: Numbers) -> Floats:
        """The degree is greatest in size towards the lowest γ."""
        return np.full(np.shape(s), -inf)

    def size(self, s: Numbers, t: Numbers) -> Floats:
        """``1 - P(d|y)/P(d|xy) = σ(-t)(1 - e^-s)`` for s > 0, ``σ(-t-s)(1 - e^s)`` for s < 0."""
        strength = np.abs(s)
        return logistic(np.where(s > 0, -t, strength - t)) * -np.expm1(-strength)

    def reach(self, s: Floats, *, outwards: bool) -> tuple[Floats, Floats]:
        """``γ < ln((1-τ - e^-|s|)/τ)``, and higher by |s| for s < 0."""
        kept, strength = float(1 - self.threshold), np.abs(s)
        if self.threshold == 0:
            some = strength > 0
            return np.where(some, -inf, inf), np.where(some, inf, -inf)
        sign, log_tau = 1 if outwards else -1, float(ln(self.threshold))
        with np.errstate(divide="ignore", invalid="ignore"):
            decay = np.exp(-strength)
            room = kept - decay + sign * EPSILON * (kept + decay + 1e-300)
            # A ratio of them may be no float.
            high = np.log(np.maximum(room, 0)) - log_tau
            further = np.abs(high) - log_tau + np.where(np.isinf(strength), 0, strength)
            high = high + sign * EPSILON * (1 + further)
            high = np.where(s > 0, high, high + strength)
        some = (room > 0) & (self.threshold < 1)
        return np.where(some, -inf, inf), np.where(some, high, -inf)

    def excess(self, s: Floats, t1: Floats, beyond: Floats, rest: Floats, *, most: bool) -> Floats:
        """`fair_target` with ``c = a(1 - degree)`` or ``a = c(1 - degree)`` put in, at the highest γ."""
        positive, tau, lost = s > 0, float(self.threshold), LOST if most else -LOST
        moved = beyond * np.where(positive, logistic(t1 + s), logistic(t1))
        moved = np.where(beyond > 0, np.maximum(moved + lost, 0), 0)
        room = np.where(positive, rest - tau, tau + (1 - tau) * rest) - lost
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(moved == 0, 0.0, np.where(room > 0, moved / room, inf))

    @property
    def least_target(self) -> float:
        """No bound but 0."""
        return 0.0

    def cut_terms(self, sign: int) -> list[Term]:
        """Terms of the inequality of the ratio.

        With ``q = (1 + r_y) / (1 + r_x r_y)`` they come from

        (1-τ) r_y     <= τ + r_x r_y    for q <= 1 / (1-τ),
        (1-τ) r_x r_y <= τ + r_y        for q >= 1 - τ.
        """
        return [(float(ln(self.threshold)), 1, 0 if sign > 0 else 1), (0, 0, -sign), (-inf, 0, 0)]

    def largest_fair_strength(self) -> float:
        """``-ln(1 - τ)``, infinite at τ = 1."""
        return -self.log_rest
