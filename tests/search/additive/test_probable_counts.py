"""The count of patterns that are probable enough against the brute force, ties and zeros among them."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.choices import CriterionName
from auditor.search.additive import probable_counts
from auditor.search.additive.combinations import ANY
from auditor.search.additive.probable_counts import count_probable_patterns, probable_pairs
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import CRITERIA, Difference
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern_count import PatternCount
from tests.fuzzing import examples
from tests.oracle import BruteForce, PlainAttribute, PlainModel
from tests.search.comparing import naive_bayes
from tests.strategies import FAMILIES, HAIR, THRESHOLDS, Family, near, plain_models


def counted(
    brute: BruteForce, threshold: Fraction, least: Fraction, limits: Limits = DEFAULT
) -> PatternCount:
    tables = tables_of(naive_bayes(brute.model))
    return count_probable_patterns(tables, CRITERIA[brute.criterion](threshold), least, limits)


def check(brute: BruteForce, threshold: Fraction, least: Fraction) -> None:
    """All of them are counted, over each set X."""
    true = brute.at(threshold, least)
    found = counted(brute, threshold, least)
    assert found.reason is None
    assert found.total == len(true.patterns)
    by_set = {entry.disclosed: entry.patterns for entry in found.coverage}
    assert {key: number for key, number in by_set.items() if number} == true.count_by_disclosed()
    assert sum(entry.pairs for entry in found.coverage) == brute.total


#: How the work is parted: as it is, all choices listed and looked at one by one, and none listed.
WAYS = {
    "as it is": {},
    "all listed": {"_DEARER": 0, "_WIDTH": 1e3, "_AT_ONCE": 3},
    "all listed, one ratio at a time": {"_DEARER": 0, "_WIDTH": 1e-12, "_GROUPS": 1 << 40},
    "some listed": {"_DEARER": 1},
}


@pytest.mark.hypothesis
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_counts_agree_with_the_brute_force(
    family: Family, criterion: CriterionName, way: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in way.items():
        monkeypatch.setattr(probable_counts, name, value)

    @examples(4)
    @given(plain_models(family), st.data())
    def agree(model: PlainModel, data: st.DataObject) -> None:
        brute = BruteForce(model, criterion)
        sizes = sorted({pair.size for pair in brute.pairs})
        probabilities = sorted({pair.probability for pair in brute.pairs})
        threshold = data.draw(near(THRESHOLDS, sizes))
        usual = (Fraction(1, 10), Fraction(1, 100), Fraction(1), HAIR, HAIR**12)
        check(brute, threshold, data.draw(near(usual, probabilities).filter(bool)))

    agree()


@pytest.mark.hypothesis
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_pairs_are_listed_in_full(family: Family) -> None:
    @examples(10)
    @given(plain_models(family), st.data())
    def agree(model: PlainModel, data: st.DataObject) -> None:
        brute = BruteForce(model, "difference")
        threshold = data.draw(near(THRESHOLDS, sorted({pair.size for pair in brute.pairs})))
        least = data.draw(near((HAIR,), sorted({pair.probability for pair in brute.pairs})).filter(bool))
        tables = tables_of(naive_bayes(model))
        listed = probable_pairs(tables, Difference(threshold), least, ANY, brute.total)
        true = [(pair.x, pair.y) for pair in brute.at(threshold, least).patterns]
        assert listed is not None
        assert set(true) <= set(listed)
        assert len(listed) == len(set(listed))

    agree()


def test_only_what_can_still_discriminate_is_grown() -> None:
    """Of many attributes millions of choices are probable enough, and few can lead to a large degree."""
    random = Random(0)

    def row() -> list[Fraction]:
        weights = [random.randint(5, 95) for _ in range(5)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    attributes = tuple(
        PlainAttribute(tuple(zip(row(), row(), strict=True)), sensitive=i < 4) for i in range(60)
    )
    tables = tables_of(naive_bayes(PlainModel(Fraction(1, 2), attributes)))
    criterion, least = Difference(Fraction(7, 10)), Fraction(1, 1000)
    pairs = probable_pairs(tables, criterion, least, ANY, 1000, Limits(entries=1 << 13))
    assert pairs
    assert all(tables.exact.probable(*pair, least) for pair in pairs)
    assert all(tables.exact.discriminates(criterion, *pair) for pair in pairs)


def coins(attributes: int) -> PlainModel:
    """Every value is as probable as every other, under either decision for all but the first attribute."""
    fair = ((Fraction(1, 2), Fraction(1, 2)),) * 2
    told = ((Fraction(1, 4), Fraction(3, 4)), (Fraction(3, 4), Fraction(1, 4)))
    first = PlainAttribute(told, sensitive=True)
    return PlainModel(Fraction(1, 2), (first, *[PlainAttribute(fair, sensitive=False)] * (attributes - 1)))


@pytest.mark.parametrize(("least", "others"), [("1/8", 2), ("1/16", 3), ("1/64", 5)])
def test_what_ties_with_the_minimum_probability_is_probable_enough(least: str, others: int) -> None:
    brute = BruteForce(coins(6), "difference")
    for shift in (-HAIR, Fraction(0), HAIR):
        check(brute, Fraction(1, 10), Fraction(least) + shift)
    # One of two x, and any values of so many others.
    true = 2 * sum(comb(5, size) * 2**size for size in range(others + 1))
    assert counted(brute, Fraction(1, 10), Fraction(least)).total == true


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(entries=1), "more than 1 parts of patterns are so probable"),
        (Limits(entries=20), "more than 20 parts of patterns are so probable"),
        (Limits(expired=lambda: True), "the time limit was reached"),
    ],
)
def test_a_limit_leaves_the_number_open(limits: Limits, reason: str) -> None:
    brute = BruteForce(coins(5), "difference")
    found = counted(brute, Fraction(1, 10), Fraction(1, 64), limits)
    assert found.total is None
    assert (found.reason or "").startswith(reason)
    true = len(brute.at(Fraction(1, 10), Fraction(1, 64)).patterns)
    assert found.lower <= true <= found.upper == brute.total
    assert (found.lower > 0) == (limits.entries == 20)


def test_too_many_ties_leave_the_number_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probable_counts, "_UNDECIDED", 10)
    found = counted(BruteForce(coins(6), "difference"), Fraction(1, 10), Fraction(1, 16))
    assert found.reason == "more than 10 patterns lie within rounding of a threshold"


def test_ranks_are_counted_as_they_stand() -> None:
    random = np.random.default_rng(0)
    for size in (0, 1, 2, 3, 7, 8, 9, 100):
        numbers = random.permutation(size)
        start = random.integers(0, size + 1, 200)
        stop = np.minimum(start + random.integers(0, size + 1, 200), size)
        least = random.integers(0, size + 1, 200)
        found = probable_counts._Ranks(numbers).at_least(start, stop, least)
        for i in range(200):
            assert found[i] == np.count_nonzero(numbers[start[i] : stop[i]] >= least[i])
