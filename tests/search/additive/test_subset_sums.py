"""Sorted sums, and which choice made each."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive.subset_sums import SortedSums

#: Few different entries, so that many sums tie.
ROWS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4), max_size=5)


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
    assert list(made.choices(start, stop)) == [choice for _, choice in listed[start:stop]]
