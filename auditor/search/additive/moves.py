"""How far disclosing more can move a sum of log-odds, and what it costs in probability.

A value with λ > 0 raises the sum by λ and multiplies ``P(· | d)`` by ``P(v | d)``; one with λ < 0 lowers it
by -λ and multiplies ``P(· | d̄)`` by ``P(v | d̄)``. Whatever is disclosed, a rise by g leaves at most ``e^-c``
of ``P(d, ·)`` and so of the probability, where c is the least that g costs, and likewise a fall. With at most
one value of each attribute this is a knapsack; its relaxation to fractions of values bounds it from above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

from auditor.search.additive.log_odds import Floats, Integers

#: Rounding of the sums and divisions here is far below this.
_ROUNDING = 1e-9
#: How often the bound on a move is looked for between two others.
_HALVINGS = 6


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
            # Where shares are rounded a likelihood may be above 1 by a hair (`Population.rise`).
            self._steps[sign] = _steps(position, gain, np.maximum(-log_p, 0), positions)
        (self.most, self.finite_most, self.rise), (least, finite_least, self.fall) = sides
        self.least, self.finite_least = -least, -finite_least

    def within(
        self, sign: int | Integers, position: Integers, log_p: Floats, log_other: Floats, floor: float
    ) -> Floats:
        """At most how far the sum rises (1) or falls (-1) while the probability is at least e^floor.

        Parameters
        ----------
        log_p, log_other : array of float
            Logarithms of ``P(d, ·)`` and of ``P(d̄, ·)`` for a rise, the other way round for a fall: a move by
            g at cost c leaves at most ``e^-c`` of the first and ``e^-(c + g)`` of the second.
        """
        place = self._place(sign, position)
        least = np.zeros(len(position))
        furthest = self._curves.gain(place, np.logaddexp(log_p, log_other) - floor)
        for _ in range(_HALVINGS):
            # What moves further than g has no more to spend than is left after g.
            g = (least + furthest) / 2
            most = self._curves.gain(place, np.logaddexp(log_p, log_other - g) - floor)
            beyond = most > g
            least, furthest = np.where(beyond, g, least), np.where(beyond, np.minimum(most, furthest), g)
        pinned = np.isinf(np.append(self.most, self.least))
        return np.where(pinned[place], inf, furthest)

    def cost(self, sign: int | Integers, position: Integers, gain: Floats) -> Floats:
        """At least what it costs that the sum rises (1) or falls (-1) so far."""
        return self._curves.cost(self._place(sign, position), gain)

    def finite_within(self, sign: int, attributes: npt.NDArray[np.bool_], budget: Floats) -> Floats:
        """At most how far values of some attributes move the sum at a cost within the budget.

        Of values that don't pin the decision, and of attributes by their positions.
        """
        cost, gain, at = self._steps[sign]
        some = attributes[at]
        one = _Curves([(cost[some], gain[some])])
        return one.gain(np.zeros(len(budget), dtype=np.int64), budget)

    @cached_property
    def _curves(self) -> _Curves:
        """From cost to gain, by the position from which on attributes move a sum: of rises, then of falls."""
        return _Curves(
            [
                (cost[at >= position], gain[at >= position])
                for cost, gain, at in (self._steps[1], self._steps[-1])
                for position in range(len(self.most))
            ]
        )

    def _place(self, sign: int | Integers, position: Integers) -> Integers:
        place: Integers = position + np.where(np.greater(sign, 0), 0, len(self.most))
        return place


class _Curves:
    """Concave functions from cost to gain, each by its steps; all stand in one array, each after another."""

    def __init__(self, steps: Sequence[tuple[Floats, Floats]]) -> None:
        corners = [[np.append(0, np.cumsum(numbers)) for numbers in of_one] for of_one in steps]
        sides = []
        for side in zip(*corners, strict=True):
            ends = np.array([numbers[-1] for numbers in side])
            span = float(ends.max()) + 1
            keys = np.concatenate([place * span + numbers for place, numbers in enumerate(side)])
            # The later a curve stands, the more is rounded.
            sides.append(
                (span, ends, keys, np.concatenate(side), max(_ROUNDING, len(side) * span * 2.0**-50))
            )
        self._costs, self._gains = sides

    def gain(self, place: Integers, cost: Floats) -> Floats:
        """At most what is gained at a cost."""
        span, ends, keys, _, room = self._costs
        cost = np.minimum(np.maximum(cost, 0) * (1 + _ROUNDING) + room, ends[place])
        gain: Floats = np.interp(place * span + cost, keys, self._gains[3]) * (1 + _ROUNDING) + _ROUNDING
        return gain

    def cost(self, place: Integers, gain: Floats) -> Floats:
        """At least what a gain costs."""
        span, ends, keys, _, room = self._gains
        gain = gain * (1 - _ROUNDING) - room
        some = np.minimum(np.maximum(gain, 0), ends[place])
        cost = np.interp(place * span + some, keys, self._costs[3]) * (1 - _ROUNDING) - _ROUNDING
        # Steps that are rounded away stand at 0, where nothing has been paid for them.
        return np.where(gain > 0, cost, 0.0)


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
