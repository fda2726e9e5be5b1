"""How far disclosing more can move a sum of log-odds, and what it costs in probability.

A value with λ > 0 raises the sum by λ and multiplies ``P(· | d)`` by ``P(v | d)``; one with λ < 0 lowers it
by -λ and multiplies ``P(· | d̄)`` by ``P(v | d̄)``. Whatever is disclosed, a rise by g leaves at most ``e^-c``
of ``P(d, ·)`` and so of the probability, where c is the least that g costs, and likewise a fall. With at most
one value of each attribute this is a knapsack; its relaxation to fractions of values bounds it from above.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

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
            best, best_finite, slopes = np.zeros(positions), np.zeros(positions), np.full(positions, inf)
            np.maximum.at(best, position, gain)
            np.maximum.at(best_finite, position[finite], gain[finite])
            moves = finite & (gain > -_ROUNDING)
            np.minimum.at(slopes, position[moves], -log_p[moves] / (gain[moves] + _ROUNDING))
            sides.append(
                (
                    _from_the_end(np.cumsum, best, 0.0),
                    _from_the_end(np.cumsum, best_finite, 0.0),
                    _from_the_end(np.minimum.accumulate, slopes * (1 - _ROUNDING), inf),
                )
            )
            self._steps[sign] = _steps(position, gain, -log_p, positions)
        (self.most, self.finite_most, self.rise), (least, finite_least, self.fall) = sides
        self.least, self.finite_least = -least, -finite_least

    def within(self, sign: int, position: Integers, budget: Floats) -> Floats:
        """At most how far the sum rises (1) or falls (-1) at a cost within the budget."""
        gained = np.empty(len(position))
        order = np.argsort(position.astype(np.int16), kind="stable")
        borders = np.searchsorted(position[order], np.arange(len(self.most) + 1))
        for p in np.flatnonzero(np.diff(borders)).tolist():
            here = order[borders[p] : borders[p + 1]]
            if (sign, p) not in self._knapsacks:
                self._knapsacks[sign, p] = self._knapsack(sign, np.arange(len(self.rise) - 1) >= p)
            gained[here] = _gained(budget[here], self._knapsacks[sign, p])
        most = self.most if sign > 0 else -self.least
        return np.where(np.isinf(most[position]), inf, gained)

    def finite_within(self, sign: int, attributes: npt.NDArray[np.bool_], budget: Floats) -> Floats:
        """The same of some attributes, by their positions, and of values that don't pin the decision."""
        return _gained(budget, self._knapsack(sign, attributes))

    def _knapsack(self, sign: int, attributes: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The concave function from cost to gain, as the coordinates of its corners."""
        cost, gain, at = self._steps[sign]
        some = attributes[at]
        return np.append(0, np.cumsum(cost[some])), np.append(0, np.cumsum(gain[some]))


def _gained(budget: Floats, knapsack: tuple[Floats, Floats]) -> Floats:
    """At most what a knapsack gains, at no less than a cost."""
    cost = np.maximum(budget, 0) * (1 + _ROUNDING) + _ROUNDING
    gain: Floats = np.interp(cost, *knapsack) * (1 + _ROUNDING) + _ROUNDING
    return gain


def _from_the_end(accumulated: Callable[[Floats], Floats], numbers: Floats, last: float) -> Floats:
    """What numbers add up to from each position on, and nothing from the end."""
    return np.append(accumulated(numbers[::-1])[::-1], last)


def _steps(position: Integers, gain: Floats, cost: Floats, positions: int) -> tuple[Floats, Floats, Integers]:
    """Steps along each attribute's concave hull, the cheapest first: cost, gain and position of each."""
    of_position: list[list[tuple[float, float]]] = [[] for _ in range(positions)]
    for p, c, g in zip(position.tolist(), cost.tolist(), gain.tolist(), strict=True):
        if 0 < g < inf:
            of_position[p].append((c, g))
    steps: list[tuple[float, float, float, int]] = []
    for p, points in enumerate(of_position):
        hull = [(0.0, 0.0)]
        for c, g in sorted(points):
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
