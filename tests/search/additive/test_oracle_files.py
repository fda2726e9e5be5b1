"""The examples, and small models known by hand, against answers computed apart from the project."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from auditor.model.naive_bayes import Assignment, Attribute, NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import maximal_patterns, minimal_patterns, pareto_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.search.pattern import Pattern, measure
from tests.oracle import RankBy
from tests.search.comparing import model_of

ROOT = Path(__file__).parents[3]
ORACLES = ROOT / "tests" / "data" / "oracles"

DATA = ("compas", "adult", "german")
#: Digits of the files.
PRECISION = 1e-9


def oracle(name: str) -> Any:
    return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))


@cache
def example(data: str, alpha: int = 0) -> NaiveBayes:
    spec = load_naive_bayes(ROOT / "examples" / f"{data}.json")
    return spec.model_copy(update={"smoothing": Decimal(alpha)}).naive_bayes()


def question(data: str, alpha: int, delta: str) -> tuple[LogOdds, Difference]:
    return tables_of(example(data, alpha)), Difference(Fraction(delta))


COUNTS = oracle("counts")


@pytest.mark.parametrize("data", DATA)
def test_total_patterns(data: str) -> None:
    assert example(data).total_patterns() == COUNTS["total_patterns"][data]


@pytest.mark.parametrize(
    ("data", "alpha", "delta", "expected"),
    [tuple(entry[name] for name in ("data", "alpha", "delta", "count")) for entry in COUNTS["counts"]],
)
def test_pattern_counts(data: str, alpha: int, delta: str, expected: int) -> None:
    count = count_patterns(*question(data, alpha, delta))
    assert count.total == expected
    assert sum(entry.pairs for entry in count.coverage) == COUNTS["total_patterns"][data]
    assert sum(entry.patterns or 0 for entry in count.coverage) == expected


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("data", DATA)
def test_largest_degree(data: str, alpha: int) -> None:
    found = worst_patterns(*question(data, alpha, "0.1"))
    expected = COUNTS["max_abs_degree"][f"{data} alpha={alpha}"]
    assert found.complete
    assert found.upper == abs(found.patterns[0].degree)
    assert isclose(found.upper, expected, rel_tol=1e-11)


def test_swapped_prior_of_the_published_code() -> None:
    swapped = COUNTS["swapped_prior_of_the_published_code"]
    right = example(swapped["data"], swapped["alpha"])
    tables = tables_of(replace(right, prior=1 - right.prior))
    criterion = Difference(Fraction(swapped["delta"]))
    assert count_patterns(tables, criterion).total == swapped["count"] == 2695
    assert isclose(worst_patterns(tables, criterion).upper, swapped["max_abs_degree"], rel_tol=1e-11)


@pytest.mark.parametrize("data", ["compas", "adult"])
def test_sizes_of_the_summaries(data: str) -> None:
    tables, criterion = question(data, 0, "0.1")
    sizes = COUNTS["summaries_alpha_0_delta_0.1"][data]
    for name, summary in (
        ("subset_minimal", minimal_patterns),
        ("pareto", pareto_patterns),
        ("maximal", maximal_patterns),
    ):
        # All maximal patterns of Adult are listed below.
        limit = min(sizes[name], 500)
        found = summary(tables, criterion, limit)
        assert len(found.patterns) == limit
        assert found.complete == (limit == sizes[name])


def test_all_maximal_patterns_of_adult() -> None:
    tables, criterion = question("adult", 0, "0.1")
    expected = COUNTS["summaries_alpha_0_delta_0.1"]["adult"]["maximal"]
    found = maximal_patterns(tables, criterion, expected)
    assert found.complete
    assert len(found.patterns) == expected


def assignment(model: NaiveBayes, codes: dict[str, int]) -> Assignment:
    names = [attribute.name for attribute in model.attributes]
    return tuple(sorted((names.index(name), code) for name, code in codes.items()))


def score(pattern: Pattern, rank_by: RankBy) -> float:
    return pattern.divergence_nats if rank_by == "divergence" else float(abs(pattern.degree))


LISTS: tuple[tuple[str, RankBy, str], ...] = (
    ("top_discrimination", "discrimination", "0.1"),
    ("top_divergence_delta_0.01", "divergence", "0.01"),
    ("top_divergence_delta_0.1", "divergence", "0.1"),
)


@pytest.mark.parametrize(("list_name", "rank_by", "delta"), LISTS)
@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("data", DATA)
def test_top_patterns(data: str, alpha: int, list_name: str, rank_by: RankBy, delta: str) -> None:
    expected = oracle("top_patterns")[f"{data}, alpha={alpha}"][list_name]
    tables, criterion = question(data, alpha, delta)
    found = top_patterns(tables, criterion, len(expected) + 1, rank_by=rank_by)
    assert found.complete
    scores = [score(pattern, rank_by) for pattern in found.patterns]
    by_worst = worst_patterns(tables, criterion, len(expected), only_patterns=True).patterns
    assert rank_by != "discrimination" or by_worst == found.patterns[:-1]
    model = model_of(tables)
    for i, entry in enumerate(expected):
        value = entry["divergence_nats"] if rank_by == "divergence" else abs(entry["degree"])
        assert isclose(scores[i], value, rel_tol=PRECISION)
        listed = measure(
            model, criterion, assignment(model, entry["sensitive"]), assignment(model, entry["context"])
        )
        assert isclose(score(listed, rank_by), value, rel_tol=PRECISION)
        assert isclose(listed.degree, entry["degree"], rel_tol=PRECISION)
        assert isclose(listed.probability, entry["probability"], rel_tol=PRECISION)
        assert isclose(listed.favourable_given_pattern, entry["favourable_given_pattern"], rel_tol=PRECISION)
        assert isclose(listed.favourable_given_context, entry["favourable_given_context"], rel_tol=PRECISION)
        # Where a score stands apart from those beside it, its pattern is the only one it can be.
        beside = [scores[j] for j in (i - 1, i + 1) if j >= 0]
        if all(abs(scores[i] - other) > PRECISION * scores[i] for other in beside):
            assert found.patterns[i] == listed


MODELS = oracle("models")


def small(entry: dict[str, Any]) -> NaiveBayes:
    return NaiveBayes(
        name="small",
        decision="decision",
        favourable="d",
        unfavourable="not d",
        prior=Fraction(entry["prior_favourable"]),
        attributes=tuple(
            Attribute(
                name=name,
                values=tuple(attribute["values"]),
                sensitive=attribute.get("sensitive", False),
                likelihood=tuple(
                    (Fraction(favourable), Fraction(unfavourable))
                    for favourable, unfavourable in attribute["values"].values()
                ),
            )
            for name, attribute in entry["attributes"].items()
        ),
    )


def labelled(model: NaiveBayes, values: dict[str, str]) -> Assignment:
    by_name = {attribute.name: attribute for attribute in model.attributes}
    return assignment(model, {name: by_name[name].values.index(label) for name, label in values.items()})


def test_paper_example() -> None:
    known = MODELS["paper_example"]
    model, criterion = small(known), Difference(Fraction(known["not_fair_at"]))
    for sensitive, context, degree in known["degrees_at_3_decimals"]:
        pattern = measure(model, criterion, labelled(model, sensitive), labelled(model, context))
        assert round(float(pattern.degree), 3) == degree
    (worst,) = worst_patterns(tables_of(model), criterion, only_patterns=True).patterns
    assert (worst.sensitive_values, worst.context_values) == tuple(
        labelled(model, values) for values in known["worst"]
    )
    shipped = load_naive_bayes(ROOT / "examples" / "figure1.json").naive_bayes()
    assert shipped.prior == model.prior
    assert [a.likelihood for a in shipped.attributes] == [a.likelihood for a in model.attributes]
    assert [a.sensitive for a in shipped.attributes] == [a.sensitive for a in model.attributes]


def test_model_that_a_published_bound_calls_fair() -> None:
    known = MODELS["sign_error"]
    model, criterion = small(known), Difference(Fraction(known["delta"]))
    tables = tables_of(model)
    x, y, degree = known["not_fair"]
    for rank_by in ("divergence", "discrimination", "probability"):
        patterns = top_patterns(tables, criterion, 10, rank_by=rank_by).patterns
        values = [(pattern.sensitive_values, pattern.context_values) for pattern in patterns]
        assert (labelled(model, x), labelled(model, y)) in values
    (worst,) = worst_patterns(tables, criterion, only_patterns=True).patterns
    assert round(float(worst.degree), 4) == degree
    assert (worst.sensitive_values, worst.context_values) == (labelled(model, x), labelled(model, y))
    assert count_patterns(tables, criterion).total


def test_tiny_probabilities_are_not_lost() -> None:
    assert "tiny_probabilities" in MODELS
    a, b = Fraction("0.0005"), Fraction("0.0001")
    attributes = tuple(Attribute(f"a{i}", ("0", "1"), True, ((1 - a, 1 - b), (a, b))) for i in range(8))
    model = NaiveBayes("tiny", "decision", "d", "not d", Fraction(1, 2), attributes)
    expected = Fraction(5**8, 5**8 + 1) - Fraction(1, 2)
    x = tuple((i, 1) for i in range(8))
    pattern = measure(model, Difference(Fraction(0)), x, ())
    assert pattern.degree == expected
    assert pattern.probability < Fraction(1, 10**26)
    # At a threshold a hair below its degree it is a pattern, at its degree it is not.
    tables, hair = tables_of(model), Fraction(1, 10**30)
    counts = [
        count_patterns(tables, Difference(threshold)).total for threshold in (expected - hair, expected)
    ]
    assert None not in counts
    assert counts[0] - counts[1] == 1  # type: ignore[operator]
    listed = top_patterns(tables, Difference(expected - hair), 10**4, rank_by="discrimination")
    assert listed.complete
    assert pattern.degree == listed.patterns[-1].degree
