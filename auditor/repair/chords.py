"""The curve up to which the log-odds of a pattern's evidence may go, and chords above it.

A pattern with log-odds t in its context and t' with its evidence does not discriminate, in one direction,
where ``t' <= h(t)`` for

    h(t) = logit(σ(t) + δ),      convex and increasing, infinite from logit(1 - δ) on.

Over a range of t it is at most its chord, which is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cosh, exp, inf, log, sinh

import numpy as np

#: By how much ranges and chords are kept from what floats say, relatively.
MARGIN = 1e-9
#: By how much what floats compare must differ.
CLEAR = 1e-6


@dataclass(frozen=True)
class Chord:
    """``t' <= slope · t + intercept``, above h on [low, high].

    `low_from` and `high_from` say from where on nothing is allowed up to `low`, and down to `high`, where the
    log-odds must differ by more than h lets them.
    """

    low: float
    low_from: float | None
    high_from: float | None
    high: float
    slope: float
    intercept: float


@dataclass(frozen=True)
class Curve:
    """h for one δ."""

    delta: float

    @property
    def strongest(self) -> float:
        """Log-odds ratios up to this are fair in every context: ``2 · log((1 + δ) / (1 - δ))``."""
        return 2 * log((1 + self.delta) / (1 - self.delta)) if self.delta < 1 else inf

    def at(self, t: float) -> float:
        """``h(t) = logit(σ(t) + δ)``."""
        e = exp(min(t, 700.0))
        under = 1 - self.delta * (1 + e)
        return inf if under <= 0 else log((e + self.delta * (1 + e)) / under) if e + self.delta else -inf

    def inverse(self, q: float) -> float:
        """``logit(σ(q) - δ)``: the t at which h is q."""
        e = exp(min(q, 700.0))
        over = e - self.delta * (1 + e)
        return -inf if over <= 0 else log(over / (1 + self.delta * (1 + e)))

    def chord(self, base: tuple[float, float], limited: tuple[float, float], differ: float) -> Chord | None:
        """The chord over what ranges leave of t; None where it forbids nothing.

        Parameters
        ----------
        base, limited : tuple of float
            The ranges of t and of t'.
        differ : float
            How much greater than t, at least, t' is.
        """
        if not self.delta:
            return Chord(0.0, None, None, 0.0, 1.0, 0.0)
        left = max(base[0], self.inverse(limited[0]))
        right = min(base[1], self.inverse(limited[1]))
        left_from = right_from = None
        if left > right:
            if base[0] > right:
                return None
            left = -inf
        if differ > self.strongest + CLEAR:
            # Nothing is allowed where h(t) - t is less than that.
            cosine = sinh(differ / 2) / self.delta - cosh(differ / 2) if differ < 1000 else 1.0
            radius = float(np.arccosh(max(cosine, 1.0)))
            first, last = -differ / 2 - radius, -differ / 2 + radius
            inner = last if first < left < last else left, first if first < right < last else right
            if inner[0] <= inner[1]:
                left_from = None if inner[0] == left else less(left)
                right_from = None if inner[1] == right else more(right)
                left, right = inner
        right = more(right)
        if not np.isfinite(self.at(right)) or right > -self.at(-inf) - CLEAR:
            return None
        if left == -inf:
            slope, intercept = 0.0, self.at(right)
        else:
            left = less(left)
            at_left, at_right = self.at(left), self.at(right)
            slope = float(f"{(at_right - at_left) / (right - left):.10g}")
            intercept = max(at_right - slope * right, at_left - slope * left)
        return Chord(left, left_from, right_from, right, slope, more(intercept))


def more(value: float) -> float:
    """A little above a float."""
    return float(value + MARGIN * max(1.0, abs(value)))


def less(value: float) -> float:
    """A little below a float."""
    return -more(-value)
