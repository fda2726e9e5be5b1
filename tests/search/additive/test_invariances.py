"""What must not change an answer, or must change it in a known way: holds for models of any size."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isclose
from pathlib import Path
from random import Random

import pytest

from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import minimal_patterns, pareto_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import group_level, worst_patterns
from auditor.search.criteria import Criterion, Difference, Ratio

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("compas", "adult", "german")
CRITERIA: tuple[Criterion, ...] = (
    Difference(Fraction(1, 100)),
    Difference(Fraction(1, 10)),
    Ratio(Fraction(1, 5)),
)


@cache
def example(name: str) -> NaiveBayes:
    return load_naive_bayes(EXAMPLES / f"{name}.json").naive_bayes()


@cache
def answers(model: NaiveBayes, criterion: Criterion) -> tuple[int | None, Fraction, Fraction, list[Decimal]]:
    """What does not depend on names and order."""
    tables = tables_of(model)
    worst = worst_patterns(tables, criterion)
    assert worst.complete
    ranking = top_patterns(tables, criterion, 20)
    assert ranking.complete
    return (
        count_patterns(tables, criterion).total,
        worst.upper,
        abs(group_level(tables, criterion).degree),
        [pattern.divergence for pattern in ranking.patterns],
    )


def assert_same(model: NaiveBayes, other: NaiveBayes, criterion: Criterion, times: int = 1) -> None:
    count, upper, group, divergences = answers(model, criterion)
    other_count, other_upper, other_group, other_divergences = answers(other, criterion)
    assert (count and count * times, upper, group) == (other_count, other_upper, other_group)
    if times == 1:
        for one, two in zip(divergences, other_divergences, strict=True):
            assert isclose(one, two, rel_tol=1e-25)


def shuffled(model: NaiveBayes, seed: str) -> NaiveBayes:
    random = Random(seed)

    def shuffled_values(attribute: Attribute) -> Attribute:
        order = random.sample(range(len(attribute.values)), len(attribute.values))
        return replace(
            attribute,
            values=tuple(attribute.values[v] for v in order),
            likelihood=tuple(attribute.likelihood[v] for v in order),
        )

    attributes = [shuffled_values(attribute) for attribute in model.attributes]
    random.shuffle(attributes)
    return replace(model, attributes=tuple(attributes))


def exchanged(model: NaiveBayes) -> NaiveBayes:
    """The unfavourable decision called the favourable one."""
    return replace(
        model,
        prior=1 - model.prior,
        attributes=tuple(
            replace(attribute, likelihood=tuple((b, a) for a, b in attribute.likelihood))
            for attribute in model.attributes
        ),
    )


def silent(*, sensitive: bool) -> Attribute:
    thirds = (Fraction(1, 3),) * 2
    return Attribute("silent", ("a", "b", "c"), sensitive, (thirds,) * 3)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_order_of_attributes_and_values(name: str, criterion: Criterion) -> None:
    assert_same(example(name), shuffled(example(name), name), criterion)


def test_order_of_many_values() -> None:
    model, criterion = example("german_categories"), CRITERIA[1]
    one, other = tables_of(model), tables_of(shuffled(model, "many"))
    assert worst_patterns(one, criterion).upper == worst_patterns(other, criterion).upper
    found = [top_patterns(tables, criterion, 20) for tables in (one, other)]
    assert all(ranking.complete for ranking in found)
    for first, second in zip(*(ranking.patterns for ranking in found), strict=True):
        assert isclose(first.divergence, second.divergence, rel_tol=1e-25)


@pytest.mark.parametrize("criterion", CRITERIA[:2], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_which_decision_is_called_favourable(name: str, criterion: Criterion) -> None:
    assert_same(example(name), exchanged(example(name)), criterion)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_that_tells_nothing_multiplies_the_count(name: str, criterion: Criterion) -> None:
    # With three values it is not disclosed, or has one of them in y, or if sensitive one of them in x.
    model = example(name)
    for sensitive, times in ((False, 4), (True, 7)):
        more = replace(model, attributes=(*model.attributes, silent(sensitive=sensitive)))
        assert_same(model, more, criterion, times)


@pytest.mark.parametrize("name", ["compas", "adult", "german"])
def test_lower_thresholds_have_more_patterns(name: str) -> None:
    tables = tables_of(example(name))
    thresholds = [Fraction(n, 100) for n in (0, 1, 2, 5, 10, 20, 30, 40, 50, 70, 100)]
    counts = [count_patterns(tables, Difference(threshold)).total or 0 for threshold in thresholds]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0
    for threshold, count in zip(thresholds, counts, strict=True):
        worst = worst_patterns(tables, Difference(threshold))
        assert (worst.upper > threshold) == (count > 0)


@pytest.mark.parametrize("name", ["compas", "adult"])
def test_every_listed_pattern_contains_a_minimal_one(name: str) -> None:
    tables, criterion = tables_of(example(name)), Difference(Fraction(1, 10))
    minimal = minimal_patterns(tables, criterion, 1000)
    assert minimal.complete
    parts = [(set(p.sensitive_values), set(p.context_values)) for p in minimal.patterns]
    for pattern in (
        *top_patterns(tables, criterion, 300).patterns,
        *top_patterns(tables, criterion, 300, rank_by="probability").patterns,
        *worst_patterns(tables, criterion, 300, only_patterns=True).patterns,
    ):
        whole = set(pattern.sensitive_values), set(pattern.context_values)
        assert any(x <= whole[0] and y <= whole[1] for x, y in parts)


@pytest.mark.parametrize("name", ["compas", "adult"])
def test_the_best_by_each_score_are_on_the_front(name: str) -> None:
    tables, criterion = tables_of(example(name)), Difference(Fraction(1, 10))
    front = pareto_patterns(tables, criterion, 1000)
    assert front.complete
    points = [(pattern.probability, abs(pattern.degree)) for pattern in front.patterns]
    for patterns in (
        top_patterns(tables, criterion, 1).patterns,
        top_patterns(tables, criterion, 1, rank_by="probability").patterns,
        worst_patterns(tables, criterion, 1).patterns,
    ):
        for pattern in patterns:
            probability, size = pattern.probability, abs(pattern.degree)
            assert any(p >= probability and d >= size for p, d in points)
    assert points == sorted(points, key=lambda point: (-point[0], point[1]))
