"""How much the search looks at, in nodes and combinations: counts, which are the same on every machine."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from auditor.model.reading import load_naive_bayes
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.search.limits import Limits
from tests.oracle import PlainModel
from tests.search.additive.test_large_models import binary
from tests.search.comparing import naive_bayes

EXAMPLES = Path(__file__).parents[3] / "examples"


def german(alpha: int) -> LogOdds:
    spec = load_naive_bayes(EXAMPLES / "german.json").model_copy(update={"smoothing": Decimal(alpha)})
    return tables_of(spec.naive_bayes())


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


def near_certain(first: str, second: str, steps: tuple[str, str]) -> LogOdds:
    """Five sensitive attributes, and 195 nearly certain under both decisions, no two the same."""
    sensitive = (("0.3", "0.42"), ("0.5", "0.4"), ("0.25", "0.28"), ("0.6", "0.5"), ("0.55", "0.45"))
    probabilities = [
        tuple(
            str(Decimal(start) - i * Decimal(step))
            for start, step in zip((first, second), steps, strict=True)
        )
        for i in range(195)
    ]
    attributes = (
        *(binary(p, q, sensitive=True) for p, q in sensitive),
        *(binary(p, q, sensitive=False) for p, q in probabilities),
    )
    return tables_of(naive_bayes(PlainModel(Fraction(4, 5), attributes)))


@pytest.mark.parametrize(
    "tables",
    [
        near_certain("0.99", "0.985", ("0.00005", "0.00003")),
        near_certain("0.99", "0.99", ("0.00002", "0.00001")),
        near_certain("0.99", "0.99", ("0.00002", "0.00002")),
    ],
    ids=["telling a little", "hardly telling", "telling nothing"],
)
@pytest.mark.parametrize(("k", "nodes"), [(1, 3000), (100, 30_000)])
def test_nodes_of_two_hundred_attributes_many_near_certain(tables: LogOdds, k: int, nodes: int) -> None:
    # Disclosing one of them hardly changes a score, so that loose bounds would look at millions of nodes.
    found = top_patterns(tables, Difference(Fraction(1, 10)), k, limits=Limits(nodes=nodes))
    assert found.complete
