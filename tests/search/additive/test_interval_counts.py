"""Sums of intervals counted by both ends, against all of them."""

from __future__ import annotations

from itertools import product

import numpy as np

from auditor.search.additive.interval_counts import End, Half, Pairs
from auditor.search.additive.interval_sums import Row


def test_every_count_is_that_of_all_sums() -> None:
    """Few different numbers, so that many tie with the bounds."""
    random = np.random.default_rng(1)
    for _ in range(40):
        rows = []
        for length in random.integers(1, 5, size=random.integers(0, 5)):
            low = random.integers(-6, 7, size=length)
            rows.append(Row(low, low + random.integers(0, 6, size=length)))
        split = int(random.integers(0, len(rows) + 1))
        pairs = Pairs(Half(rows[:split], (1, 3)), Half(rows[split:]))
        found = [
            (
                1 + sum(int(row.low[i]) for row, i in zip(rows, choice, strict=True)),
                3 + sum(int(row.high[i]) for row, i in zip(rows, choice, strict=True)),
            )
            for choice in product(*(range(len(row)) for row in rows))
        ]
        assert len(pairs) == len(found)
        for first, second in random.integers(-9, 12, size=(5, 2)).tolist():
            ends: tuple[End, End] = (0, 1)
            for end in ends:
                assert pairs.at_most(end, first) == sum(g[end] <= first for g in found)
                assert pairs.at_least(end, first) == sum(g[end] >= first for g in found)
                both = sum(g[end] <= first and g[1 - end] >= second for g in found)
                assert pairs.both(end, first, second) == both
                near = list(pairs.between(end, first, second))
                assert len(near) == sum(first <= g[end] <= second for g in found)
                for pair in near:
                    choice = pairs.choice(pair)
                    lows = [int(row.low[i]) for row, i in zip(rows, choice, strict=True)]
                    assert pairs.ends(pair)[0] == 1 + sum(lows)
