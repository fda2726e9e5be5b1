"""How far disclosing more can move a sum of log-odds, and what it costs in probability.

A value with λ > 0 raises the sum by λ and multiplies ``P(· | d)`` by ``P(v | d)``; one with λ < 0 lowers it
by -λ and multiplies ``P(· | d̄)`` by ``P(v | d̄)``. Whatever is disclosed, a rise by g leaves at most ``e^-c``
of ``P(d, ·)`` and so of the probability, where c is the least that g costs, and likewise a fall. With at most
one value of each attribute this is a knapsack; its relaxation to fractions of values bounds it from above.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

from auditor.search.additive.log_odds import Floats, Integers

#: Rounding of the sums and divisions here is far below this.
_ROUNDING = 1e-9


class Moves:
    """What the attributes from a position on can do.

    Parameters
    ----------
    position : array of int
        Of each value's attribute, increasing.
    log_odds, log_d, log_not_d : array of float
        λ, ``ln P(v | d)`` and ``ln P(v | d̄)`` of each value.

    Attributes
    ----------
    most, least : array of float, shape (positions + 1,)
        The greatest rise, and the greatest fall as a negative number; infinite where a value pins the
        decision.
    finite_most, finite_least : array of float
        The same without the values that pin it.
    rise, fall : array of float, shape (positions + 1,)
        The least that a rise or fall by 1 costs in ``-ln P``, rounded down.
    """

    def __init__(
        self, position: Integers, log_odds: Floats, log_d: Floats, log_not_d: Floats, positions: int
    ) -> None:
        self._steps: dict[int, tuple[Floats, Floats, Integers]] = {}
        self._knapsacks: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        sides = []
        for sign, log_p in ((1, log_d), (-1, log_not_d)):
            gain = sign * log_odds
            finite = np.isfinite(gain)
            slopes = np.full(positions + 1, inf)
            best, best_finite = np.zeros(positions + 1), np.zeros(positions + 1)
            for p in range(positions - 1, -1, -1):
                here = position == p
                best[p] = best[p + 1] + max(0.0, gain[here].max(initial=0.0))
                best_finite[p] = best_finite[p + 1] + max(0.0, gain[here & finite].max(initial=0.0))
                moves = here & finite & (gain > -_ROUNDING)
                slope = (-log_p[moves] / np.maximum(gain[moves] + _ROUNDING, 0)).min(initial=inf)
                slopes[p] = min(slopes[p + 1], slope * (1 - _ROUNDING))
            sides.append((best, best_finite, slopes))
            self._steps[sign] = _steps(position, gain, -log_p, positions)
        (self.most, self.finite_most, self.rise), (least, finite_least, self.fall) = sides
        self.least, self.finite_least = -least, -finite_least

    def within(self, sign: int, position: Integers, budget: Floats) -> Floats:
        """At most how far the sum rises (1) or falls (-1) at a cost within the budget."""
        budget = np.maximum(budget, 0) * (1 + _ROUNDING) + _ROUNDING
        gained = np.empty(len(position))
        order = np.argsort(position.astype(np.int16), kind="stable")
        borders = np.searchsorted(position[order], np.arange(len(self.most) + 1))
        for p in np.flatnonzero(np.diff(borders)).tolist():
            here = order[borders[p] : borders[p + 1]]
            gained[here] = np.interp(budget[here], *self._knapsack(sign, p))
        most = self.most if sign > 0 else -self.least
        return np.where(np.isinf(most[position]), inf, gained * (1 + _ROUNDING) + _ROUNDING)

    def _knapsack(self, sign: int, position: int) -> tuple[Floats, Floats]:
        """The concave function from cost to gain, as the coordinates of its corners."""
        if (sign, position) not in self._knapsacks:
            cost, gain, at = self._steps[sign]
            later = at >= position
            self._knapsacks[sign, position] = (
                np.concatenate([[0.0], np.cumsum(cost[later])]),
                np.concatenate([[0.0], np.cumsum(gain[later])]),
            )
        return self._knapsacks[sign, position]


def _steps(position: Integers, gain: Floats, cost: Floats, positions: int) -> tuple[Floats, Floats, Integers]:
    """Steps along each attribute's concave hull, the cheapest first: cost, gain and position of each."""
    steps: list[tuple[float, float, float, int]] = []
    for p in range(positions):
        here = (position == p) & np.isfinite(gain) & (gain > 0)
        points = sorted(zip(cost[here].tolist(), gain[here].tolist(), strict=True))
        hull = [(0.0, 0.0)]
        for c, g in points:
            if g <= hull[-1][1]:
                continue
            while len(hull) > 1 and (g - hull[-2][1]) * (hull[-1][0] - hull[-2][0]) >= (
                hull[-1][1] - hull[-2][1]
            ) * (c - hull[-2][0]):
                hull.pop()
            hull.append((c, g))
        for (c0, g0), (c1, g1) in pairwise(hull):
            slope = (g1 - g0) / (c1 - c0) if c1 > c0 else inf
            steps.append((-slope, c1 - c0, g1 - g0, p))
    steps.sort()
    return (
        np.array([step[1] for step in steps]),
        np.array([step[2] for step in steps]),
        np.array([step[3] for step in steps], dtype=np.int64),
    )
