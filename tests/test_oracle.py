"""The brute force itself, against facts known by hand and against the definitions it does not use."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import log

import pytest
from hypothesis import given

from tests.fuzzing import examples
from tests.oracle import (
    BruteForce,
    CriterionName,
    Pair,
    PlainAttribute,
    PlainModel,
    degree,
    divergence,
    repaired,
)
from tests.strategies import FAMILIES, HAIR, Case, cases

FIGURE_1 = PlainModel(
    Fraction("0.2"),
    tuple(
        PlainAttribute(((Fraction(p), Fraction(q)), (1 - Fraction(p), 1 - Fraction(q))), sensitive)
        for p, q, sensitive in (("0.8", "0.5", True), ("0.7", "0.1", False), ("0.8", "0.3", False))
    ),
)


def test_worked_example_of_the_paper() -> None:
    brute = BruteForce(FIGURE_1, "difference")
    known = {
        (((0, 0),), ()): 0.086,
        (((0, 1),), ()): -0.109,
        (((0, 1),), ((1, 0), (2, 1))): -0.167,
        (((0, 1),), ((1, 0),)): -0.225,
    }
    assert {key: round(float(brute.by_key[key].degree), 3) for key in known} == known
    assert brute.total == len(brute.pairs) == 5 * 3 * 3 - 3 * 3 * 3
    assert brute.worst()[0].key == (((0, 1),), ((1, 0),))
    assert brute.group_level().key == (((0, 1),), ())
    # .0224/(.0224 + .0120) − .112/(.112 + .024), by hand
    assert brute.individual_level().key == (((0, 1),), ((1, 0), (2, 0)))
    assert round(float(brute.individual_level().degree), 3) == -0.172


def test_patterns_of_the_worked_example_by_hand() -> None:
    patterns = BruteForce(FIGURE_1, "difference").at(Fraction("0.2"))
    # The one attribute disclosed is always X, so patterns contain each other through their contexts alone.
    assert patterns.count_by_disclosed() == {(0,): len(patterns.patterns)}
    assert (((0, 1),), ((1, 0),)) in patterns.minimal()
    assert (((0, 1),), ((1, 0),)) in patterns.pareto()


def test_equal_likelihoods_never_discriminate() -> None:
    rows = ((Fraction(1, 2), Fraction(1, 2)),) * 2
    brute = BruteForce(PlainModel(Fraction(1, 3), (PlainAttribute(rows, True),) * 3), "difference")
    assert {pair.degree for pair in brute.pairs} == {Fraction(0)}
    assert brute.at(Fraction(0)).patterns == ()


def test_eighty_per_cent_rule() -> None:
    assert degree("ratio", Fraction(8, 10), Fraction(1)) == -Fraction(1, 5)
    assert degree("ratio", Fraction(1), Fraction(8, 10)) == Fraction(1, 5)
    assert degree("ratio", Fraction(0), Fraction(0)) == 0


def test_divergence_by_hand() -> None:
    # P(d) = P(x|d) = P(x̄|d̄) = 1/2 but P(x|d̄) = 1/4 : a = 2/3, c = 1/2, f = 3/8, and a' is P(d|x̄) at δ = 0.
    rows = ((Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4)))
    brute = BruteForce(PlainModel(Fraction(1, 2), (PlainAttribute(rows, True),)), "difference")
    pair = brute.by_key[((0, 0),), ()]
    assert repaired("difference", Fraction(0), pair) == Fraction(2, 5)
    expected = 3 / 8 * (2 / 3 * log(2 / 3 / (2 / 5)) + 1 / 3 * log(1 / 3 / (3 / 5)))
    assert float(divergence("difference", Fraction(0), pair)) == pytest.approx(expected, rel=1e-14)


def test_divergence_is_infinite_where_no_change_helps() -> None:
    rows = ((Fraction(1), Fraction(1, 2)), (Fraction(0), Fraction(1, 2)))
    model = PlainModel(Fraction(1, 2), (PlainAttribute(rows, True),))
    pair = BruteForce(model, "difference").by_key[((0, 0),), ()]
    assert divergence("difference", Fraction(0), pair) == Decimal("Infinity")
    by_hand = 0.5 * log(0.5 / 0.03) + 0.25 * log(0.25 / 0.72)  # a' = .01/(1 − 3/4)
    assert float(divergence("difference", Fraction(1, 100), pair)) == pytest.approx(by_hand, rel=1e-14)
    # Every favourable case is in x, so P(d|x)/P(d) = 1/P(x) whatever P(d, x) is.
    pair = BruteForce(model, "ratio").by_key[((0, 0),), ()]
    assert divergence("ratio", Fraction(1, 10), pair) == Decimal("Infinity")


def degree_after(criterion: CriterionName, pair: Pair, repaired_favourable: Fraction) -> Fraction:
    """Degree once P(d | xy) is the given number, all else outside xy unchanged."""
    moved = repaired_favourable * pair.probability - pair.pattern[0]
    context = (pair.context[0] + moved) / sum(pair.context)
    return degree(criterion, repaired_favourable, context)


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
@pytest.mark.hypothesis
def test_repaired_probability_is_the_nearest_fair_one(criterion: CriterionName) -> None:
    @given(cases(FAMILIES["zeros under one decision"], criterion))
    @examples(20)
    def check(case: Case) -> None:
        for pair in case.patterns.patterns:
            nearest = repaired(criterion, case.threshold, pair)
            before = pair.favourable_given_pattern
            assert 0 <= nearest <= 1
            if criterion == "difference" or nearest > 0:
                assert abs(degree_after(criterion, pair, nearest)) == case.threshold
            just_short = nearest + (before - nearest) * HAIR
            assert abs(degree_after(criterion, pair, just_short)) > case.threshold

    check()


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
@pytest.mark.hypothesis
def test_summaries_by_their_definitions(criterion: CriterionName) -> None:
    @given(cases(FAMILIES["all sensitive"], criterion))
    @examples(15)
    def check(case: Case) -> None:
        patterns = case.probable.patterns[:150]
        probable = type(case.probable)(criterion, case.threshold, patterns)
        contains = {
            (whole.key, part.key)
            for whole, part in product(patterns, repeat=2)
            if whole is not part and set(part.x) <= set(whole.x) and set(part.y) <= set(whole.y)
        }
        assert probable.minimal() == probable.keys - {whole for whole, _ in contains}
        assert probable.maximal() == probable.keys - {part for _, part in contains}
        dominated = {
            one.key
            for one, other in product(patterns, repeat=2)
            if other.probability >= one.probability
            and other.size >= one.size
            and (other.probability, other.size) != (one.probability, one.size)
        }
        assert probable.pareto() == probable.keys - dominated

    check()
