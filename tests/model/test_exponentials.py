"""Signs of sums of exponentials are decided, ties among them."""

from __future__ import annotations

from fractions import Fraction as F

from hypothesis import given
from hypothesis import strategies as st

from auditor.model.exponentials import Base, bounds, power, sign


def test_a_sum_that_vanishes_is_recognised() -> None:
    # δ(1 + A)(1 + B) = A - B with A = 2, B = 1 and δ = 1/6: the degree is 2/3 - 1/2.
    delta = F(1, 6)
    terms = [(1 - delta, F(1)), (-(1 + delta), F(0)), (-delta, F(0)), (-delta, F(1))]
    assert sign(terms, "2") == 0
    assert sign(terms, "e") != 0


def test_fractional_powers_of_two_are_independent() -> None:
    assert sign([(F(1), F(1, 2)), (F(-2), F(-1, 2))], "2") == 0
    assert sign([(F(1), F(1, 2)), (F(-14142135623730950488016887242097, 10**31), F(0))], "2") == -1
    assert sign([(F(1), F(1)), (F(-1), F(1) - F(1, 10**60))], "e") == 1


def test_a_nearly_vanishing_sum_takes_more_digits() -> None:
    tiny = F(1, 10**200)
    assert sign([(F(1), tiny), (F(-1), F(0)), (-tiny, F(0))], "e") == 1
    assert sign([(F(1), tiny), (F(-1), F(0)), (-tiny, F(0))], "2") == -1


NUMBERS = st.fractions(-30, 30, max_denominator=100)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=5), st.sampled_from(["e", "2"]))
def test_bounds_hold_each_other(terms: list[tuple[F, F]], base: Base) -> None:
    low, high = bounds(terms, base, 20)
    better_low, better_high = bounds(terms, base, 60)
    assert low <= better_low <= better_high <= high


@given(st.integers(-60, 60))
def test_whole_powers_of_two(n: int) -> None:
    low, high = power(F(n), "2", 40)
    assert F(low) <= F(2) ** n <= F(high)
