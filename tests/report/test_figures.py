"""Numbers keep to their side of what they are compared with."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.figures import between, people, percent, rounded, share, signed, size


@given(
    st.floats(0, 1) | st.sampled_from([0.1, 0.10000000000000002, 0.25]),
    st.sampled_from(["0", "0.1", "0.25", "1", "0.10000000000000001", "0.09999999999999999999", "1e-9"]),
)
def test_a_size_is_shown_above_at_or_below_delta_as_it_is(value: float, delta: str) -> None:
    assert Decimal(size(value, delta)).compare(Decimal(delta)) == Decimal(value).compare(
        Decimal(float(delta))
    )


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["0", "0.1", "0.25", "1", "1e-9"]),
)
def test_ends_are_rounded_outwards(a: float, b: float, delta: str) -> None:
    low, high = sorted((a, b))
    found, proved = re.findall(r"(?:least|most) (\S+)", between(low, high, delta))
    assert Decimal(found) <= Decimal(repr(low))
    assert Decimal(proved) >= Decimal(repr(high))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1000"),
        (0.10000000000000002, "0.10000000000000002"),
        (0.10000123, "0.100001"),
        (0.099999, "0.099999"),
        (0.099999974432, "0.09999997"),
        (-0.25, "0.2500"),
        (0.0, "0"),
        (1e-12, "1.000e-12"),
    ],
)
def test_sizes_beside_a_tenth(value: float, text: str) -> None:
    assert size(value, "0.1") == text


def test_signs() -> None:
    assert [signed(degree, "0.1") for degree in (0.2, 0.0, -0.2)] == ["+0.2000", "0", "-0.2000"]


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.4872, "48.72%"),
        (0.99999999, "over 99.99%"),
        (3.0611e-4, "0.03061%"),
        (9.9996e-4, "0.099996%"),
        (1.00001e-3, "0.1000%"),
        (1e-28, "1.000e-26%"),
        (1.0158, "101.6%"),
    ],
)
def test_percentages(probability: float, text: str) -> None:
    assert percent(probability) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0%"),
        (10, 10, "100%"),
        (2017, 14688, "13.73%"),
        (10**40 - 1, 10**40, "over 99.99%"),
        (99994, 10**5, "99.99%"),
        (99995, 10**5, "over 99.99%"),
        (1, 10**40, "1.000e-38%"),
        (5, 10**480, "5.000e-478%"),
    ],
)
def test_shares_of_all_patterns(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


def test_tiny_numbers_have_an_exponent() -> None:
    assert [rounded(0.00305123), rounded(3.05123e-6), rounded(0.5, 2)] == ["0.003051", "3.051e-6", "0.50"]


@given(st.floats(0, 1) | st.sampled_from([1e-1, 1e-2, 1e-3, 1e-4]).map(lambda share: share * (1 - 1e-9)))
def test_people_are_whole(probability: float) -> None:
    found = people(probability)
    if found == "under 1 of 10 billion":
        assert probability * 10**10 < 1
        return
    number, of = (text.replace(",", "").split() for text in found.split(" of "))
    assert int(number[-1]) >= 1
    told = float(number[-1]) / float(of[-1])
    assert (number[0] == "under") == (told in (0.1, 0.01, 0.001, 0.0001) and probability < told)
    assert told == pytest.approx(probability, rel=0.06, abs=5.1e-5)
    assert (told == 1) == (probability == 1)
