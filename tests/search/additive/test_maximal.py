"""Maximal patterns that leave attributes out, and those of models too large for a dense array."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from auditor.model.reading import load_naive_bayes
from auditor.search.additive.summaries import maximal_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import Difference, Ratio
from auditor.search.limits import Limits
from tests.oracle import BruteForce, PlainAttribute, PlainModel
from tests.search.additive.test_against_brute_force import check_maximal_in_large_models
from tests.search.comparing import naive_bayes
from tests.strategies import Case

EXAMPLES = Path(__file__).parents[3] / "examples"


def attribute(
    random: Random, size: int, weights: tuple[int, int], *, sensitive: bool, zeros: bool
) -> PlainAttribute:
    first, second = ([random.randint(*weights) for _ in range(size)] for _ in range(2))
    if zeros:
        first[0] = 0
    return PlainAttribute(
        tuple(
            (Fraction(a, sum(first)), Fraction(b, sum(second))) for a, b in zip(first, second, strict=True)
        ),
        sensitive,
    )


def narrow(seed: int) -> Case:
    """A model whose sensitive attributes tell little beside the others, at a threshold next to a degree."""
    random = Random(seed)
    rows = [
        attribute(random, random.randint(2, 3), (30, 70), sensitive=True, zeros=seed % 8 == 0)
        for _ in range(1 + seed % 2)
    ]
    rows += [
        attribute(random, random.randint(2, 3), (1, 99), sensitive=False, zeros=seed % 5 == 0)
        for _ in range(3 - seed % 2)
    ]
    if seed % 3 == 0:
        rows[-1] = rows[-2]
    brute = BruteForce(PlainModel(Fraction(2, 5), tuple(rows)), "difference")
    sizes = sorted(pair.size for pair in brute.pairs)
    size = sizes[random.randrange(len(sizes) // 2, len(sizes))]
    return Case(brute, size * random.choice((1, Fraction(999, 1000), Fraction(9, 10))))


def test_patterns_that_leave_attributes_out() -> None:
    incomplete = 0
    for seed in range(12):
        case = narrow(seed)
        check_maximal_in_large_models(case)
        size = len(case.model.attributes)
        incomplete += any(len(x) + len(y) < size for x, y in case.patterns.maximal())
    assert incomplete > 1


def with_copies(seed: int) -> Case:
    """A model some of whose attributes are copies of each other, at a threshold next to a degree."""
    random = Random(seed)
    kinds = [attribute(random, 2, (1, 9), sensitive=False, zeros=seed % 5 == k) for k in range(2)]
    rows = [random.choice(kinds) for _ in range(4)]
    rows.insert(random.randrange(5), attribute(random, 2, (30, 70), sensitive=True, zeros=seed % 7 == 0))
    brute = BruteForce(PlainModel(Fraction(2, 5), tuple(rows)), "ratio" if seed % 3 == 0 else "difference")
    sizes = sorted(pair.size for pair in brute.pairs)
    return Case(brute, random.choice(sizes[len(sizes) // 2 :]) * Fraction(999, 1000))


def test_patterns_of_copies() -> None:
    incomplete = 0
    for seed in range(5):
        case = with_copies(seed)
        check_maximal_in_large_models(case)
        incomplete += any(len(x) + len(y) < 5 for x, y in case.patterns.maximal())
    assert incomplete > 1


def test_the_first_of_a_hundred_copies() -> None:
    random = Random("copies")
    few = [attribute(random, 3, (5, 95), sensitive=True, zeros=False) for _ in range(2)]
    rows = [*few, *[attribute(random, 2, (5, 95), sensitive=False, zeros=False)] * 100]
    tables = tables_of(naive_bayes(PlainModel(Fraction(1, 2), tuple(rows))))
    found = maximal_patterns(tables, Difference(Fraction(1, 10)), 20)
    assert len(found.patterns) == 20
    assert not found.unproved
    # They disclose the same of each, in order.
    likeliest = found.patterns[0]
    assert all(p.probability == likeliest.probability for p in found.patterns)
    assert [p.key for p in found.patterns] == sorted(p.key for p in found.patterns)


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("german_categories", Difference(Fraction(1, 10))),
        ("german_categories", Ratio(Fraction(1, 5))),
        ("adult_categories", Difference(Fraction(1, 10))),
    ],
)
def test_the_first_of_large_examples(name: str, criterion: Difference | Ratio) -> None:
    tables = tables_of(load_naive_bayes(EXAMPLES / f"{name}.json").naive_bayes())
    found = maximal_patterns(tables, criterion, 5)
    assert len(found.patterns) == 5
    assert not found.unproved
    assert not found.complete
    for pattern in found.patterns:
        assert set(tables.sensitive) <= {i for i, _ in pattern.sensitive_values + pattern.context_values}


def test_what_is_not_proved_is_listed_as_such() -> None:
    random = Random("two hundred")
    rows = [attribute(random, 3, (1, 99), sensitive=i < 5, zeros=False) for i in range(200)]
    tables = tables_of(naive_bayes(PlainModel(Fraction(1, 2), tuple(rows))))
    found = maximal_patterns(tables, Difference(Fraction(1, 10)), 3, limits=Limits(children=1 << 12))
    assert len(found.patterns) == found.unproved == 3
    assert not found.complete
    assert found.missing_at_most
    assert found.patterns[0].probability <= found.missing_at_most < 1
    # They disclose everything, so that nothing extends them.
    assert all(len(p.sensitive_values) + len(p.context_values) == 200 for p in found.patterns)
