"""The sums nearest a target, found slice by slice, beside a list of all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive import sliced_sums
from auditor.search.additive.sliced_sums import Sliced
from tests.fuzzing import examples


def rows_of(largest: int) -> st.SearchStrategy[list[list[int]]]:
    entries = st.integers(-largest, largest)
    return st.lists(st.lists(entries, min_size=1, max_size=4), min_size=1, max_size=6)


@examples(300)
@given(
    # Few different entries, so that many sums tie, and entries as great as those of tables.
    st.one_of(rows_of(3), rows_of(1000), rows_of(1 << 56)),
    st.floats(-0.2, 1.2),
    st.integers(1, 40),
    st.sampled_from((0, 1, 5, 1 << 40)),
    st.sampled_from((1, 4, 30, 1 << 19)),
)
def test_all_that_are_as_near_as_the_kth_are_found(
    rows: list[list[int]], place: float, k: int, slack: int, length: int
) -> None:
    least, most = sum(map(min, rows)), sum(map(max, rows))
    target = least + int(place * (most - least))
    everything = sorted(
        (abs(sum(row[entry] for row, entry in zip(rows, choice, strict=True)) - target), choice)
        for choice in product(*(range(len(row)) for row in rows))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliced_sums, "_SLICE", length)
        patch.setattr(sliced_sums, "_MOST", 1 << 20)
        sliced = Sliced([np.array(row, dtype=np.int64) for row in rows])
        found = sliced.nearest(target, k, slack, lambda: False)
    if len(everything) < k:
        assert found is None
    else:
        radius = everything[k - 1][0] + slack
        assert found == [entry for entry in everything if entry[0] <= radius]


def test_it_gives_up_where_time_is_up_or_too_many_tie() -> None:
    rows = [np.array([0, 1, 2, 3])] * 12
    assert Sliced(rows).nearest(18, 1, 0, lambda: False) is None
    distinct = [row * 5**i for i, row in enumerate(rows)]
    assert Sliced(distinct).nearest(18, 1, 0, lambda: True) is None
    assert Sliced(distinct).nearest(18, 1, 0, lambda: False) == [(0, (3, 3, *(0,) * 10))]
