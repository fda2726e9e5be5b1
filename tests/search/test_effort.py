"""How much the search looks at, in nodes and combinations: counts, which are the same on every machine."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from auditor import load_model
from auditor.search.criteria import Difference
from auditor.search.log_odds import LogOdds
from auditor.search.ranking import top_patterns
from auditor.search.worst import worst_patterns
from tests.search.comparing import naive_bayes
from tests.search.test_large_models import TWO_HUNDRED

EXAMPLES = Path(__file__).parents[2] / "examples"


def german(alpha: int) -> LogOdds:
    spec = load_model(EXAMPLES / "german.json").model_copy(update={"smoothing": Decimal(alpha)})
    return LogOdds.of(spec.naive_bayes())


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize(("k", "nodes"), [(1, 300), (100, 3500)])
def test_nodes_of_german_by_divergence(alpha: int, k: int, nodes: int) -> None:
    found = top_patterns(german(alpha), Difference(Fraction(1, 10)), k)
    assert found.complete
    assert len(found.patterns) == k
    assert found.nodes <= nodes


@pytest.mark.parametrize("alpha", [0, 1])
def test_combinations_solved_of_german(alpha: int) -> None:
    for k in (1, 100):
        found = worst_patterns(german(alpha), Difference(Fraction(1, 10)), k)
        assert found.complete
        assert found.total == 3**4 - 1
        assert found.solved <= 3


@pytest.mark.parametrize("name", ["near certain", "same under both decisions"])
def test_nodes_of_two_hundred_attributes_many_near_certain(name: str) -> None:
    tables = LogOdds.of(naive_bayes(TWO_HUNDRED[name].plain()))
    found = top_patterns(tables, Difference(Fraction(1, 100)), 10)
    assert found.complete
    assert found.nodes <= 30_000
