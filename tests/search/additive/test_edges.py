"""Thresholds and models at the edge of what can be told apart."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest

from auditor.choices import CriterionName
from auditor.errors import InputError
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.engine import Engine
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import minimal_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import CRITERIA, Difference, Ratio
from tests.oracle import BruteForce, PlainAttribute, PlainModel, degree
from tests.search.additive.test_against_brute_force import CHECKS, check_ranking, check_summaries
from tests.search.comparing import key, keys, naive_bayes, question
from tests.strategies import HAIR, Case
from tests.vectorised import Copies, CopiesModel


def rows(*pairs: tuple[Fraction | int | str, Fraction | int | str]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple((Fraction(a), Fraction(b)) for a, b in pairs)


#: γ = ln 1/2 = −s/2 without context, so that the degree 1/3 = tanh(s/4) is the greatest there can be.
PEAK = PlainModel(
    Fraction(1, 3),
    (
        PlainAttribute(rows(("4/5", "1/5"), ("1/5", "4/5")), sensitive=True),
        PlainAttribute(rows(("2/3", "1/3"), ("1/3", "2/3")), sensitive=False),
        PlainAttribute(rows(("1/3", "2/3"), ("2/3", "1/3")), sensitive=False),
    ),
)


@pytest.mark.parametrize("threshold", [Fraction(1, 3), Fraction(1, 3) - HAIR, Fraction(1, 3) - HAIR**3])
def test_threshold_at_the_supremum(threshold: Fraction) -> None:
    brute = BruteForce(PEAK, "difference")
    assert brute.worst()[0].size == Fraction(1, 3)
    assert bool(brute.at(threshold).patterns) == (threshold < Fraction(1, 3))
    for check in CHECKS:
        check(Case(brute, threshold))


@pytest.mark.parametrize("power", [15, 20, 40])
def test_log_odds_below_every_resolution(power: int) -> None:
    small = Fraction(1, 10**power)
    half = Fraction(1, 2)
    model = PlainModel(
        Fraction(2, 5),
        (
            PlainAttribute(rows((half, half + small), (half, half - small)), sensitive=True),
            PlainAttribute(rows((half, half - small), (half, half + small)), sensitive=True),
            PlainAttribute(rows((half, half), (half, half)), sensitive=False),
        ),
    )
    brute = BruteForce(model, "difference")
    sizes = sorted({pair.size for pair in brute.pairs})
    assert 0 < sizes[-1] < 4 * small
    for threshold in (Fraction(0), sizes[0], sizes[len(sizes) // 2], sizes[-1]):
        for check in CHECKS:
            check(Case(brute, threshold))


@pytest.mark.parametrize("power", [17, 20, 40])
@pytest.mark.parametrize("size", [("1/10", "3/5"), ("7/10", "1/2")])
def test_attributes_that_differ_below_every_resolution_are_not_alike(
    power: int, size: tuple[str, str]
) -> None:
    """Their values add the same to every table, but only one of them makes the worst context."""
    a, b = map(Fraction, size)
    others = [(a + step * Fraction(1, 10**power), b) for step in (0, -1, 2)]
    model = PlainModel(
        Fraction(7, 20),
        (
            PlainAttribute(rows(("9/20", "13/20"), ("11/20", "7/20")), sensitive=True),
            *(PlainAttribute(rows((p, q), (1 - p, 1 - q)), sensitive=False) for p, q in others),
        ),
    )
    brute = BruteForce(model, "difference")
    second, largest = sorted({pair.size for pair in brute.pairs})[-2:]
    assert worst_patterns(tables_of(naive_bayes(model)), Difference(Fraction(1, 2))).lower == largest
    for threshold in (largest, largest - Fraction(1, 10**60), second):
        for check in CHECKS:
            check(Case(brute, threshold))


@pytest.mark.parametrize("few", [True, False])
def test_divergence_where_floats_have_no_digits_of_the_prior(
    few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the ratio a fair target is as far as P(d) over what is left of all people: 1, and in floats 0/0."""
    monkeypatch.setattr(Engine, "_few", few)
    tiny = Fraction(1, 10**400)
    for pinning in (rows((0, 1), (1, 0)), rows((tiny, 1), (1 - tiny, 0))):
        other = PlainAttribute(rows(("1/3", "2/3"), ("2/3", "1/3")), sensitive=False)
        brute = BruteForce(PlainModel(tiny, (PlainAttribute(pinning, sensitive=True), other)), "ratio")
        case = Case(brute, Fraction(0))
        for k in range(1, 5):
            found = Engine(naive_bayes(case.model), Ratio(case.threshold)).top(k)
            assert found.complete
            assert [key(pattern) for pattern in found.patterns] == [
                pair.key for pair in case.patterns.top(k, "divergence")
            ]


def test_hundreds_of_values() -> None:
    values = 150
    weights = [(Fraction(1 + i % 7), Fraction(1 + i % 5)) for i in range(values)]
    totals = [sum(weight[column] for weight in weights) for column in (0, 1)]
    model = PlainModel(
        Fraction(1, 4),
        (
            PlainAttribute(tuple((a / totals[0], b / totals[1]) for a, b in weights), sensitive=True),
            PlainAttribute(rows(("1/4", "2/3"), ("3/4", "1/3")), sensitive=False),
            PlainAttribute(rows(("1/5", "0"), ("4/5", "1")), sensitive=True),
        ),
    )
    brute = BruteForce(model, "difference")
    for check in CHECKS:
        check(Case(brute, Fraction(1, 10)))


def test_thousands_of_ties_with_the_threshold() -> None:
    # Of nine copies only how many say 0 and how many say 1 matters: whole classes of pairs tie exactly.
    attribute = PlainAttribute(rows(("3/5", "2/5"), ("2/5", "3/5")), sensitive=True)
    silent = PlainAttribute(attribute.rows, sensitive=False)
    model = CopiesModel(Fraction(2, 5), (Copies(attribute, 3), Copies(silent, 6)))
    numbers, _, _ = model.kinds()
    written_out = model.plain()
    by_size: dict[Fraction, int] = {}
    for kind in numbers:
        x, y = model.one_of(kind)
        u, v = written_out.joint(y)
        du, dv = written_out.joint(x + y)
        size = abs(degree("difference", du / (du + dv), u / (u + v)))
        by_size[size] = by_size.get(size, 0) + model.multiplicity(kind)
    tables = tables_of(naive_bayes(written_out))
    assert sum(by_size.values()) == tables.total_patterns()
    assert max(by_size.values()) > 3_000
    largest_classes = sorted(by_size, key=lambda size: by_size[size])[-3:]
    for threshold in (*largest_classes, min(by_size), max(by_size)):
        above = sum(number for size, number in by_size.items() if size > threshold)
        assert count_patterns(tables, Difference(threshold)).total == above
        if threshold > 0:
            with_ties = above + by_size[threshold]
            assert count_patterns(tables, Difference(threshold - HAIR)).total == with_ties
        worst = worst_patterns(tables, Difference(threshold), only_patterns=True)
        assert worst.complete
        assert bool(worst.patterns) == bool(above)


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_one_attribute_that_settles_the_decision(criterion: str) -> None:
    model = PlainModel(Fraction(1, 10**12), (PlainAttribute(rows((1, 0), (0, 1)), sensitive=True),))
    brute = BruteForce(model, "difference" if criterion == "difference" else "ratio")
    assert {pair.favourable_given_pattern for pair in brute.pairs} == {Fraction(0), Fraction(1)}
    for threshold in (Fraction(0), Fraction(1, 2), 1 - HAIR, Fraction(1)):
        for check in CHECKS:
            check(Case(brute, threshold))


def test_a_value_that_never_occurs_is_refused() -> None:
    never = PlainAttribute(rows((1, 1), (0, 0)), sensitive=True)
    with pytest.raises(InputError, match=r"has probability 0 under both decisions; leave it out"):
        tables_of(naive_bayes(PlainModel(Fraction(1, 2), (never,))))


def test_a_fair_model_has_nothing_to_list() -> None:
    half = PlainAttribute(rows(("1/2", "1/2"), ("1/2", "1/2")), sensitive=True)
    tables, criterion = question(
        Case(BruteForce(PlainModel(Fraction(1, 3), (half,) * 4), "difference"), Fraction(0))
    )
    assert count_patterns(tables, criterion).total == 0
    assert worst_patterns(tables, criterion).upper == 0
    assert not worst_patterns(tables, criterion, 3, only_patterns=True).patterns
    assert keys(top_patterns(tables, criterion, 3).patterns) == []
    assert minimal_patterns(tables, criterion, 3).complete


def test_log_odds_that_floats_cannot_add_up_to_the_last_unit() -> None:
    small, third = Fraction(1, 10**140), Fraction(1, 3)
    model = PlainModel(
        Fraction(1, 10**300),
        (
            PlainAttribute(((small, 1 - small), (1 - small, small)), sensitive=True),
            PlainAttribute(((1 - third, third), (third, 1 - third)), sensitive=False),
        ),
    )
    brute = BruteForce(model, "ratio")
    sizes = sorted({pair.size for pair in brute.pairs} - {Fraction(1)})
    for threshold in (size + shift * small * HAIR for size in sizes for shift in (-1, 0, 1)):
        found = count_patterns(tables_of(naive_bayes(model)), Ratio(threshold))
        assert found.total == len(brute.at(threshold).patterns)


def test_attributes_that_are_alike_and_pin_the_decision_with_every_value() -> None:
    pinning = PlainAttribute(rows((1, 0), (0, 1)), sensitive=False)
    sensitive = PlainAttribute(rows(("1/4", "3/4"), ("3/4", "1/4")), sensitive=True)
    brute = BruteForce(PlainModel(Fraction(1, 2), (pinning, pinning, sensitive)), "difference")
    for check in CHECKS:
        check(Case(brute, Fraction(1, 10)))


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("power", [150, 300, 312, 340])
def test_thresholds_next_to_0_and_below_every_float(criterion: CriterionName, power: int) -> None:
    small = Fraction(1, 10**power)
    model = PlainModel(
        Fraction(1, 2),
        (
            PlainAttribute(rows(("1/2", 1 - small), ("1/2", small)), sensitive=True),
            PlainAttribute(rows(("1/3", 1 - small**2), ("2/3", small**2)), sensitive=False),
            PlainAttribute(rows((small, "1/3"), (1 - small, "2/3")), sensitive=False),
        ),
    )
    brute = BruteForce(model, criterion)
    for threshold in {pair.size for pair in brute.pairs if pair.size < 10 * small} | {small / 2}:
        found = count_patterns(tables_of(naive_bayes(model)), CRITERIA[criterion](threshold))
        assert found.total == len(brute.at(threshold).patterns)


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(1, 10**331)])
def test_a_decision_rarer_than_every_float(criterion: CriterionName, threshold: Fraction) -> None:
    """Divergences are below 1e-331 there, and in order all the same."""
    model = PlainModel(
        Fraction(1, 10**330),
        (
            PlainAttribute(rows(("1/3", "1/2"), ("2/3", "1/2")), sensitive=True),
            PlainAttribute(rows(("1/10", "1/2"), ("9/10", "1/2")), sensitive=False),
        ),
    )
    for check in (check_ranking, check_summaries):
        check(Case(BruteForce(model, criterion), threshold))
