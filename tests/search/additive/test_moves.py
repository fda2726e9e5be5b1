"""How far disclosing more can move a sum, against all that can be disclosed."""

from __future__ import annotations

from itertools import product
from math import exp, fsum, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive.moves import Moves
from tests.fuzzing import examples
from tests.oracle import PlainModel
from tests.strategies import FAMILIES, Family, plain_models


def logarithm(p: float) -> float:
    return log(p) if p else -inf


@pytest.mark.hypothesis
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_nothing_moves_further_or_for_less(family: Family) -> None:
    @examples(20)
    @given(plain_models(family), st.data())
    def agree(model: PlainModel, data: st.DataObject) -> None:
        rows = [[(float(u), float(v)) for u, v in attribute.rows] for attribute in model.attributes]
        values = [(i, *row) for i, of_one in enumerate(rows) for row in of_one]
        log_d, log_not_d = (np.array([logarithm(row[side]) for row in values]) for side in (1, 2))
        moves = Moves(np.array([i for i, *_ in values]), log_d - log_not_d, log_d, log_not_d, len(rows))
        position = data.draw(st.integers(0, len(rows)))
        u = data.draw(st.floats(0, 1))
        floor = data.draw(st.floats(-30, 0))
        place = np.array([position])
        rise, fall = (
            moves.within(sign, place, np.array([logarithm(p)]), np.array([logarithm(1 - p)]), floor)[0]
            for sign, p in ((1, u), (-1, 1 - u))
        )
        for chosen in product(*([None, *row] for row in rows[position:])):
            of_u, of_v = (prod(row[side] for row in chosen if row) for side in (0, 1))
            if not (of_u and of_v) or logarithm(u * of_u + (1 - u) * of_v) < floor:
                continue
            moved = log(of_u) - log(of_v)
            assert -fall <= moved <= rise
            sign, left = (1, of_u) if moved > 0 else (-1, of_v)
            cost = moves.cost(sign, place, np.array([abs(moved)]))[0]
            assert left <= exp(-cost)
            everything = np.arange(len(rows)) >= position
            assert abs(moved) <= moves.finite_within(sign, everything, np.array([-log(left)]))[0]

    agree()


def test_a_move_leaves_less_to_spend() -> None:
    """Ten halves under one decision, quarters under the other: three of them leave an eighth and a bit."""
    quarters = np.log(np.full(10, 0.25))
    moves = Moves(np.arange(10), quarters + np.log(4) + np.log(2), quarters + np.log(2), quarters, 10)
    even = np.log([0.5])
    far = moves.within(1, np.array([0]), even, even, float(np.log((2**-3 + 4**-3) / 2)))
    assert 3 * log(2) <= far[0] < 3.05 * log(2)


def test_a_value_that_is_certain_by_a_hair_too_much_moves_a_sum_for_nothing() -> None:
    """Shares are rounded, so that ``P(v | d)`` may be above 1 by as much."""
    for hair in (1e-9, 1e-20):
        moves = Moves(np.array([0]), np.array([3.0]), np.array([hair]), np.array([-3.0]), 1)
        here, even = np.array([0]), np.log([0.5])
        assert moves.finite_within(1, np.array([True]), np.array([0.1]))[0] >= 3
        assert moves.within(1, here, even, even, -1.0)[0] >= 3
        assert moves.cost(1, here, np.array([3.0]))[0] <= 0


def test_what_moves_a_sum_by_less_than_rounding_has_no_price() -> None:
    """Beside sums so large as others', λ = 1e-14 is rounded away, and the price of its value with it."""
    log_odds, log_d = np.array([5e3, 1e-14]), np.array([-1.0, -2.0])
    moves = Moves(np.array([0, 1]), log_odds, log_d, log_d - log_odds, 2)
    for gain in (0.0, 1e-15):
        assert moves.cost(1, np.array([1]), np.array([gain]))[0] <= 0


def test_odds_beyond_every_float_are_moved_too() -> None:
    """``P(d, ·)`` is as nothing beside ``P(d̄, ·)``, until a rise by 1000 has left of both as much."""
    moves = Moves(np.array([0]), np.array([2e3]), np.array([-1.0]), np.array([-2e3 - 1]), 1)
    far = moves.within(1, np.array([0]), np.array([-1e3]), np.array([-1.0]), -1002.0)
    assert far[0] >= 2e3


def test_bounds_hold_for_a_thousand_attributes_of_any_size() -> None:
    """What gains most for its price is within reach of what it leaves, and costs no less than is said."""
    random = np.random.default_rng(0)
    log_d, log_not_d = -(10 ** random.uniform(-18, 3, (2, 1000)))
    moves = Moves(np.arange(1000), log_d - log_not_d, log_d, log_not_d, 1000)
    for sign, log_p, log_other in ((1, log_d, log_not_d), (-1, log_not_d, log_d)):
        gain = log_p - log_other
        for position in (0, 500, 990):
            best = position + np.argsort(gain[position:] / log_p[position:])
            best = best[gain[best] > 0]
            for chosen in (best[:number] for number in (0, 1, 3, len(best) // 2, len(best))):
                left, other = fsum([-1, *log_p[chosen]]), fsum([-3, *log_other[chosen]])
                place, moved = np.array([position]), np.array([fsum(gain[chosen])])
                floor = float(np.logaddexp(left, other)) - 1e-9
                assert moves.within(sign, place, np.array([-1.0]), np.array([-3.0]), floor) >= moved
                assert moves.cost(sign, place, moved) <= -1 - left


def test_what_is_rounded_to_the_step_before_is_within_reach() -> None:
    """Beside a price of 1e8 those of two values differ by no float: the second alone is within reach too."""
    log_d, gain = -np.array([1e8, 1e-8, 2e-8]), np.array([1.0, 100.0, 190.0])
    moves = Moves(np.arange(3), gain, log_d, log_d - gain, 3)
    assert moves.within(1, np.array([1]), np.array([0.0]), np.array([-inf]), -2e-8) >= 190
