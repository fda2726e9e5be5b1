"""Sorted sums, and which choice made each."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive.log_odds import Integers
from auditor.search.additive.subset_sums import Alike, SortedSums

#: Few different entries, so that many sums tie.
ROWS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4), max_size=5)


def kinds_of(rows: list[Integers]) -> list[int]:
    """Which rows have the same entries."""
    texts = [row.tobytes() for row in rows]
    return list(map(texts.index, texts))


@given(ROWS, st.data())
def test_each_place_holds_its_own_choice_in_the_order_of_sums(
    rows: list[list[int]], data: st.DataObject
) -> None:
    listed = sorted(
        (sum(row[entry] for row, entry in zip(rows, choice, strict=True)), choice)
        for choice in product(*(range(len(row)) for row in rows))
    )
    made = SortedSums([np.array(row, dtype=np.int64) for row in rows])
    start = data.draw(st.integers(0, len(listed)))
    stop = data.draw(st.integers(start, len(listed)))
    assert made.sums.tolist() == [total for total, _ in listed]
    places = np.arange(start, stop)[::-1]
    assert made.choices(places) == [choice for _, choice in listed[start:stop]][::-1]


@given(
    st.lists(st.lists(st.integers(-3, 3) | st.integers(-(2**40), 2**40), min_size=1, max_size=4), max_size=5),
    st.lists(st.integers(-20, 20) | st.integers(-(2**60), 2**60), max_size=20),
)
def test_as_many_sums_are_below_a_bound_as_are_when_each_is_compared(
    rows: list[list[int]], bounds: list[int]
) -> None:
    made = SortedSums([np.array(row, dtype=np.int64) for row in rows])
    listed = [sum(choice) for choice in product(*rows)]
    bounds += listed[:20]
    found = made.below(np.array(bounds, dtype=np.int64))
    assert found.tolist() == [sum(total < bound for total in listed) for bound in bounds]


@given(ROWS, st.booleans())
def test_rows_that_are_alike_are_merged_and_every_choice_comes_back_in_order(
    rows: list[list[int]], zero_last: bool
) -> None:
    unused = 0 if zero_last else None
    single = [np.array(row, dtype=np.int64) for row in rows]
    alike = Alike(single, kinds_of(single))
    met = []
    for merged in product(*(range(len(row)) for row in alike.rows)):
        total = sum(int(row[entry]) for row, entry in zip(alike.rows, merged, strict=True))
        choices = list(alike.choices(merged, unused))
        assert choices == sorted(choices, key=lambda choice: [(entry == unused, entry) for entry in choice])
        assert {sum(row[e] for row, e in zip(rows, choice, strict=True)) for choice in choices} == {total}
        met += choices
    assert sorted(met) == list(product(*(range(len(row)) for row in rows)))


def test_a_thousand_rows_that_are_alike_are_one() -> None:
    alike = Alike([np.array([0, 3], dtype=np.int64)] * 1000, [7] * 1000)
    assert [row.tolist() for row in alike.rows] == [list(range(3000, -1, -3))]
    first = next(alike.choices((400,), 0))
    assert first == (1,) * 600 + (0,) * 400


@pytest.mark.parametrize("twin", [(0, 5, 5), (0, 3, 7)], ids=["entries tie", "entries differ"])
def test_choices_come_back_in_the_order_of_the_rows(twin: tuple[int, ...]) -> None:
    rows = [np.array(row, dtype=np.int64) for row in (twin, (0, 100), twin)]
    alike = Alike(rows, kinds_of(rows))
    found = set()
    for merged in product(*(range(len(row)) for row in alike.rows)):
        total = sum(int(row[entry]) for row, entry in zip(alike.rows, merged, strict=True))
        for choice in alike.choices(merged, None):
            assert sum(int(row[entry]) for row, entry in zip(rows, choice, strict=True)) == total
            found.add(tuple(choice))
    assert found == set(product(range(3), range(2), range(3)))
