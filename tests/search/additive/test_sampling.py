"""Samples of patterns: from all of them, evenly, and the same each time."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from auditor.search.additive.counting import Counting, sample_patterns
from tests.oracle import BruteForce, CriterionName, Key, PlainAttribute, PlainModel
from tests.search.comparing import keys, question
from tests.strategies import Case


def rows(*pairs: tuple[int, int]) -> tuple[tuple[Fraction, Fraction], ...]:
    totals = [sum(pair[column] for pair in pairs) for column in (0, 1)]
    return tuple((Fraction(a, totals[0]), Fraction(b, totals[1])) for a, b in pairs)


MODEL = PlainModel(
    Fraction(2, 5),
    (
        PlainAttribute(rows((3, 1), (2, 4)), sensitive=True),
        PlainAttribute(rows((1, 2), (1, 2), (5, 1)), sensitive=False),
        PlainAttribute(rows((1, 0), (1, 1)), sensitive=True),
        PlainAttribute(rows((4, 3), (3, 4)), sensitive=False),
    ),
)


def case(criterion: CriterionName) -> Case:
    return Case(BruteForce(MODEL, criterion), Fraction(1, 20))


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_every_pattern_is_drawn_equally_often(criterion: CriterionName) -> None:
    asked = case(criterion)
    tables, of = question(asked)
    everything = asked.patterns.keys
    size, draws = 10, 300
    drawn: Counter[Key] = Counter()
    for seed in range(draws):
        sample = Counting(tables, of).sample(size, seed)
        assert sample is not None
        assert len(set(sample)) == size
        drawn.update(sample)
    assert set(drawn) == everything
    share = size / len(everything)
    # Draws without replacement vary less than independent ones, so that this is generous: chi-squared has
    # len - 1 degrees of freedom, and lies six standard deviations above its mean once in a hundred million.
    chi_squared = sum((drawn[key] - draws * share) ** 2 / (draws * share * (1 - share)) for key in everything)
    degrees_of_freedom = len(everything) - 1
    assert degrees_of_freedom > 50
    assert chi_squared < degrees_of_freedom + 6 * (2 * degrees_of_freedom) ** 0.5


def test_a_sample_repeats_with_its_seed() -> None:
    tables, of = question(case("difference"))
    counting = Counting(tables, of)
    assert counting.sample(8, seed=3) == Counting(tables, of).sample(8, seed=3)
    assert counting.sample(8, seed=3) != counting.sample(8, seed=4)


def test_a_sample_larger_than_what_there_is_has_everything_once() -> None:
    asked = case("difference")
    tables, of = question(asked)
    sample = sample_patterns(tables, of, 10_000)
    assert sample is not None
    assert sorted(keys(sample)) == sorted(asked.patterns.keys)


def test_no_patterns_no_sample() -> None:
    tables, of = question(Case(BruteForce(MODEL, "difference"), Fraction(1)))
    assert sample_patterns(tables, of, 5) == ()
