"""Data repair and two naive Bayes, on invented rows."""

from __future__ import annotations

import numpy as np
import pytest

from examples.paper.baselines import (
    SCOPES,
    Floats,
    Scope,
    repaired_column,
    repaired_data,
    two_naive_bayes,
)
from examples.paper.data import Codes, accuracy
from tests.paper.inventing import invented


def random() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(1))


def shares(column: Codes, strata: Codes, size: int) -> Floats:
    groups = [column[strata == stratum] for stratum in np.unique(strata)]
    return np.stack([np.bincount(group, minlength=size) / len(group) for group in groups])


def test_a_column_is_moved_to_the_median_of_the_strata() -> None:
    # Shares .2, .5 and .6 of the value 1; their median is .5.
    strata = np.repeat([0, 1, 4], 10)
    column = np.concatenate([np.repeat([0, 1], [10 - n, n]) for n in (2, 5, 6)])
    full = repaired_column(column, strata, 2, 1.0, random())
    assert shares(full, strata, 2)[:, 1].tolist() == [0.5, 0.5, 0.5]
    # No more rows change than must.
    assert int((full != column).sum()) == 3 + 1
    half = repaired_column(column, strata, 2, 0.5, random())
    assert shares(half, strata, 2)[:, 1] == pytest.approx([0.35, 0.5, 0.55], abs=0.051)


def test_more_than_two_values() -> None:
    strata = np.repeat([0, 1, 2], 100)
    column = np.concatenate(
        [np.repeat([0, 1, 2], numbers) for numbers in ((80, 10, 10), (10, 80, 10), (10, 10, 80))]
    )
    # Each median is .1; scaled, a third.
    full = repaired_column(column, strata, 3, 1.0, random())
    assert shares(full, strata, 3) == pytest.approx(np.full((3, 3), 1 / 3), abs=0.01)
    assert (repaired_column(column, strata, 3, 0.0, random()) == column).all()


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_repaired(scope: Scope, strength: float) -> None:
    data = invented()
    repaired = repaired_data(data, strength, scope)
    strata = data.codes[:, 0] * 2 + data.codes[:, 1]
    sensitive = list(data.sensitive)
    assert (repaired.codes[:, sensitive] == data.codes[:, sensitive]).all() == (
        scope != "sensitive too" or strength == 0
    )
    assert (repaired.favourable == data.favourable).all() == (scope != "decision too" or strength == 0)
    if strength == 1:
        for i in range(2, data.codes.shape[1]):
            spread = shares(repaired.codes[:, i], strata, 2)[:, 1]
            assert np.ptp(spread) < 1 / 25
        if scope == "sensitive too":
            assert np.ptp(repaired.codes[:, sensitive], axis=0).tolist() == [0, 0]
    assert repaired_data(data, strength, scope).model == repaired.model


def test_two_naive_bayes_balances_its_predictions() -> None:
    data = invented()
    plain = accuracy(data.counts(1).model, data.codes, data.favourable)
    model = two_naive_bayes(data, 0, 1)
    assert model.steps > 0
    assert -0.1 < model.discrimination <= 0
    assert 0.5 < model.accuracy(data.codes, data.favourable) < plain
