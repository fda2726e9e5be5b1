"""Models too large to list all pairs of in rationals, against what can still be known of them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from math import isclose, prod
from pathlib import Path
from random import Random

import numpy as np
import pytest

from auditor.model.reading import load_naive_bayes
from auditor.search.additive.combinations import Scope
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.engine import Engine
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import maximal_patterns, minimal_patterns, pareto_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import group_level, worst_patterns
from auditor.search.criteria import Difference, Ratio
from auditor.search.limits import Limits
from auditor.search.pattern import Pattern, measure
from tests import vectorised
from tests.oracle import BruteForce, Pair, PlainAttribute, PlainModel, Values, degree, divergence
from tests.search.additive.test_against_brute_force import CHECKS
from tests.search.comparing import key, keys, model_of, naive_bayes, plain
from tests.strategies import Case
from tests.vectorised import Copies, CopiesModel

EXAMPLES = Path(__file__).parents[3] / "examples"
DELTA = Fraction(1, 10)


def columns(favourable: list[int], unfavourable: list[int], *, sensitive: bool) -> PlainAttribute:
    return PlainAttribute(
        tuple(
            (Fraction(a, sum(favourable)), Fraction(b, sum(unfavourable)))
            for a, b in zip(favourable, unfavourable, strict=True)
        ),
        sensitive,
    )


def binary(favourable: str, unfavourable: str, *, sensitive: bool) -> PlainAttribute:
    p, q = Fraction(favourable), Fraction(unfavourable)
    return PlainAttribute(((p, q), (1 - p, 1 - q)), sensitive)


def random_columns(random: Random, size: int, *, sensitive: bool, zeros: bool = False) -> PlainAttribute:
    def column() -> list[int]:
        return [random.randint(1, 60) for _ in range(size)]

    first, second = column(), column()
    if zeros:
        first[0], second[-1] = 0, 0
    return columns(first, second, sensitive=sensitive)


def as_pair(model: PlainModel, x: Values, y: Values) -> Pair:
    u, v = model.joint(y)
    du, dv = model.joint(x + y)
    return Pair(x, y, (du, dv), (u, v), degree("difference", du / (du + dv), u / (u + v)))


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_compas_in_full(criterion: str) -> None:
    model = plain(load_naive_bayes(EXAMPLES / "compas.json").naive_bayes())
    brute = BruteForce(model, "difference" if criterion == "difference" else "ratio")
    for check in CHECKS:
        check(Case(brute, DELTA, Fraction(1, 50)))


@pytest.mark.parametrize("zeros", [False, True])
def test_five_by_twenty_four_by_six(zeros: bool) -> None:
    random = Random(f"many values, zeros {zeros}")
    attributes = [
        random_columns(random, size, sensitive=sensitive, zeros=zeros)
        for size, sensitive in ((5, True), (24, False), (6, True))
    ]
    brute = BruteForce(PlainModel(Fraction(2, 5), tuple(attributes)), "difference")
    assert brute.total == 11 * 25 * 13 - 6 * 25 * 7
    for check in CHECKS:
        if check.__name__ != "check_summaries" or not zeros:
            check(Case(brute, DELTA))


def test_four_million_pairs_of_many_values() -> None:
    random = Random("four million")
    shape = ((7, True), (42, False), (16, False), (9, True), (6, False), (5, False))
    attributes = [random_columns(random, size, sensitive=sensitive) for size, sensitive in shape]
    model = PlainModel(Fraction(3, 10), tuple(attributes))
    tables, criterion = tables_of(naive_bayes(model)), Difference(Fraction(1, 5))
    count = count_patterns(tables, criterion)
    by_floats = vectorised.count_patterns(model, 0.2)
    assert by_floats.surely == by_floats.possibly == count.total
    assert sum(entry.pairs for entry in count.coverage) == tables.total_patterns() > 3_000_000
    found = worst_patterns(tables, criterion, 100)
    np.testing.assert_allclose(
        [float(abs(pattern.degree)) for pattern in found.patterns],
        vectorised.top_degrees(model, 100),
        rtol=1e-11,
    )
    ranking = top_patterns(tables, criterion, 100)
    assert found.complete
    assert ranking.complete
    np.testing.assert_allclose(
        [pattern.divergence_nats for pattern in ranking.patterns],
        vectorised.top_divergences(model, 0.2, 100),
        rtol=1e-8,
    )


@pytest.mark.parametrize("alpha", [0, 1])
def test_top_hundreds_of_adult(alpha: int) -> None:
    spec = load_naive_bayes(EXAMPLES / "adult.json").model_copy(update={"smoothing": Decimal(alpha)})
    tables = tables_of(spec.naive_bayes())
    model = plain(model_of(tables))
    degrees = vectorised.top_degrees(model, 100)
    for delta in ("0.01", "0.1"):
        criterion = Difference(Fraction(delta))
        for patterns in (
            worst_patterns(tables, criterion, 100).patterns,
            top_patterns(tables, criterion, 100, rank_by="discrimination").patterns,
        ):
            np.testing.assert_allclose(
                [float(abs(pattern.degree)) for pattern in patterns], degrees, rtol=1e-11
            )
        np.testing.assert_allclose(
            [pattern.divergence_nats for pattern in top_patterns(tables, criterion, 100).patterns],
            vectorised.top_divergences(model, float(delta), 100),
            rtol=1e-8,
        )


# Copies of a few attributes: hundreds of attributes, yet few kinds of pairs, all of which can be looked at.

TWO_HUNDRED = {
    "telling": CopiesModel(
        Fraction(7, 20),
        (
            Copies(binary("0.6", "0.4", sensitive=True), 5),
            Copies(binary("0.52", "0.5", sensitive=False), 195),
        ),
    ),
    "near certain": CopiesModel(
        Fraction(4, 5),
        (
            Copies(binary("0.3", "0.42", sensitive=True), 3),
            Copies(binary("0.99", "0.985", sensitive=False), 197),
        ),
    ),
    "same under both decisions": CopiesModel(
        Fraction(1, 5),
        (
            Copies(binary("0.9", "0.8", sensitive=True), 3),
            Copies(binary("0.99", "0.99", sensitive=False), 197),
        ),
    ),
}


@cache
def tables_named(name: str) -> LogOdds:
    return tables_of(naive_bayes(TWO_HUNDRED[name].plain()))


def float_sizes(s: vectorised.Floats, gamma: vectorised.Floats) -> vectorised.Floats:
    return np.abs(1 / (1 + np.exp(-gamma - s)) - 1 / (1 + np.exp(-gamma)))


@pytest.mark.parametrize("name", TWO_HUNDRED)
def test_verdict_on_two_hundred_attributes(name: str) -> None:
    model, tables = TWO_HUNDRED[name], tables_named(name)
    _, s, gamma = model.kinds()
    largest = float(float_sizes(s, gamma).max())
    found = worst_patterns(tables, Difference(DELTA))
    assert isclose(found.upper, largest, rel_tol=1e-5)
    assert float(found.upper) >= largest * (1 - 1e-12)
    # Copies make sums sparse, so that the context nearest the peak is hard to find.
    assert largest * 0.99 <= abs(found.patterns[0].degree) <= largest * (1 + 1e-12)
    assert worst_patterns(tables, Difference(DELTA), only_patterns=True).patterns
    above = worst_patterns(tables, Difference(Fraction(1, 2)), only_patterns=True)
    assert not above.patterns
    assert above.complete


def test_largest_degree_of_two_hundred_different_attributes() -> None:
    random = Random("two hundred")
    attributes = [random_columns(random, 2, sensitive=i < 5) for i in range(200)]
    tables = tables_of(naive_bayes(PlainModel(Fraction(1, 2), tuple(attributes))))
    found = worst_patterns(tables, Difference(DELTA))
    # |Δ| is below tanh(|s|/4), and sums of many values come so near −s/2 that it is hardly less.
    strengths = [
        [float(np.log(float(a / b))) for a, b in attribute.rows]
        for attribute in attributes
        if attribute.sensitive
    ]
    supremum = float(np.tanh(max(sum(map(max, strengths)), -sum(map(min, strengths))) / 4))
    worst_degree = abs(found.patterns[0].degree)
    assert isclose(worst_degree, supremum, rel_tol=1e-11)
    assert isclose(found.upper, supremum, rel_tol=1e-11)
    assert worst_degree <= found.upper
    # A hair to either side of it the verdict is the other.
    hair = Fraction(1, 10**9)
    above = worst_patterns(tables, Difference(worst_degree + hair), only_patterns=True)
    assert not above.patterns
    assert above.complete
    assert worst_patterns(tables, Difference(worst_degree - hair), only_patterns=True).patterns


@pytest.mark.parametrize("individual", [False, True])
def test_the_largest_degrees_of_two_hundred_attributes_are_known_to_every_digit_told(
    individual: bool,
) -> None:
    random = Random("two hundred of five values")
    attributes = [random_columns(random, 5, sensitive=i < 4) for i in range(200)]
    model = PlainModel(Fraction(1, 2), tuple(attributes))
    scope = Scope(contexts="all") if individual else Scope()
    found = worst_patterns(tables_of(naive_bayes(model)), Difference(DELTA), 10, scope=scope)
    assert found.complete
    assert len(set(keys(found.patterns))) == 10
    # |Δ| is below tanh(|s|/4) = (√r - 1) / (√r + 1) with the greatest r = e^|s| of any x.
    rows = [attribute.rows for attribute in attributes if attribute.sensitive]
    above, below = (
        prod(max(1 if not individual else 0, *(row[i] / row[1 - i] for row in of)) for of in rows)
        for i in (0, 1)
    )
    ratio, upper = max(above, below), found.upper
    assert ratio * (1 - upper) ** 2 <= (1 + upper) ** 2
    for pattern in found.patterns:
        pair = as_pair(model, pattern.sensitive_values, pattern.context_values)
        assert pair.degree == pattern.degree
        assert upper - Fraction(1, 10**38) <= pair.size <= upper
        assert len(pattern.sensitive_values) + len(pattern.context_values) == 200 or not individual


@pytest.mark.parametrize("name", TWO_HUNDRED)
def test_ranking_by_divergence_of_two_hundred_attributes(name: str) -> None:
    model, tables = TWO_HUNDRED[name], tables_named(name)
    written_out = model.plain()
    threshold = Fraction(1, 100)
    numbers, s, gamma = model.kinds()
    # The best kinds by a rough measure in floats, then exactly.
    size = float_sizes(s, gamma)
    log_p = log_probabilities(model, numbers)
    rough = np.where(size > 0.01, log_p + 2 * np.log(np.maximum(size - 0.01, 1e-300)), -np.inf)
    candidates = np.argsort(rough)[-400:]
    exact: list[tuple[Decimal, int]] = []
    for row in numbers[candidates]:
        pair = as_pair(written_out, *model.one_of(row))
        exact.append((divergence("difference", threshold, pair), model.multiplicity(row)))
    expected: list[float] = []
    for value, multiplicity in sorted(exact, reverse=True):
        expected += [float(value)] * min(multiplicity, 10)
    found = top_patterns(tables, Difference(threshold), 10)
    assert found.complete
    np.testing.assert_allclose(
        [pattern.divergence_nats for pattern in found.patterns], expected[:10], rtol=1e-12
    )
    assert len(set(keys(found.patterns))) == 10


def log_probabilities(model: CopiesModel, numbers: np.typing.NDArray[np.int64]) -> vectorised.Floats:
    sides = []
    for column, prior in ((0, model.prior), (1, 1 - model.prior)):
        logs = np.log(
            np.array([[float(row[column]) for row in block.attribute.rows] for block in model.copies])
        )
        per_value = numbers.reshape(len(numbers), -1, 2, 2).sum(axis=2)
        sides.append(np.log(float(prior)) + np.einsum("nbv,bv->n", per_value, logs))
    log_p: vectorised.Floats = np.logaddexp(*sides)
    return log_p


@pytest.mark.parametrize("number", [12, 60])
def test_attributes_that_tell_nothing_only_dilute(number: int) -> None:
    # A value of the same probability p under both decisions changes no degree and divides a divergence.
    core = (
        binary("0.6", "0.3", sensitive=True),
        binary("0.2", "0.35", sensitive=True),
        binary("0.7", "0.45", sensitive=False),
    )
    silent = tuple(
        binary(p, p, sensitive=False)
        for p in (str(Decimal("0.99") - i * Decimal("0.0001")) for i in range(number))
    )
    small = BruteForce(PlainModel(Fraction(1, 3), core), "difference").at(DELTA)
    factors = [Decimal(1), *(Decimal(float(attribute.rows[0][0])) for attribute in silent)]
    expected = sorted(
        (float(small.divergence(pair)) * float(factor) for pair in small.patterns for factor in factors),
        reverse=True,
    )
    tables = tables_of(naive_bayes(PlainModel(Fraction(1, 3), core + silent)))
    found = top_patterns(tables, Difference(DELTA), 10)
    assert found.complete
    np.testing.assert_allclose(
        [pattern.divergence_nats for pattern in found.patterns], expected[:10], rtol=1e-12
    )


ALL_SENSITIVE = {
    "copies": CopiesModel(Fraction(2, 5), (Copies(binary("0.6", "0.5", sensitive=True), 40),)),
    "nearly fair copies": CopiesModel(Fraction(2, 5), (Copies(binary("0.501", "0.5", sensitive=True), 40),)),
}


@pytest.mark.parametrize("name", ALL_SENSITIVE)
def test_forty_sensitive_attributes(name: str) -> None:
    model = ALL_SENSITIVE[name]
    tables = tables_of(naive_bayes(model.plain()))
    _, s, gamma = model.kinds()
    largest = float(float_sizes(s, gamma).max())
    for criterion in (Difference(DELTA), Difference(Fraction(1, 1000))):
        for limits in (Limits(nodes=5000), Limits(nodes=10), Limits(entries=100, nodes=1000, steps=1000)):
            found = worst_patterns(tables, criterion, limits=limits)
            assert abs(found.patterns[0].degree) >= abs(group_level(tables, criterion).degree)
            assert float(found.upper) >= largest * (1 - 1e-12)
            assert float(abs(found.patterns[0].degree)) <= largest * (1 + 1e-12)
            if found.complete:
                assert isclose(found.upper, largest, rel_tol=1e-9)
        count = count_patterns(tables, criterion, limits=Limits(steps=10**6))
        assert count.total is None
        assert count.reason


def test_the_worst_of_a_share_of_people_is_proved_where_all_is_sensitive() -> None:
    random, share = Random("thirty"), Fraction(1, 100)
    attributes = tuple(random_columns(random, 3, sensitive=True) for _ in range(30))
    model = naive_bayes(PlainModel(Fraction(1, 2), attributes))
    (worst,) = Engine(model, Difference(DELTA)).worst_by_share([share])
    assert worst.complete
    assert worst.patterns[0].probability >= share
    assert worst.lower <= worst.upper <= worst.lower * (1 + Fraction(1, 10**30))


def test_forty_sensitive_attributes_within_limits() -> None:
    random = Random("forty")
    attributes = tuple(random_columns(random, random.choice((2, 3, 5)), sensitive=True) for _ in range(40))
    model = PlainModel(Fraction(1, 4), attributes)
    tables, criterion = tables_of(naive_bayes(model)), Difference(DELTA)
    limits = Limits(nodes=500, entries=1 << 10, steps=10**5)
    climbed = max(hill_climb(tables, criterion, random) for _ in range(2))
    worst = worst_patterns(tables, criterion, limits=limits)
    assert climbed <= worst.upper
    assert abs(group_level(tables, criterion).degree) <= abs(worst.patterns[0].degree) <= worst.upper
    assert count_patterns(tables, criterion, limits=limits).total is None
    for rank_by in ("divergence", "discrimination", "probability"):
        ranking = top_patterns(tables, criterion, 10, rank_by=rank_by, limits=limits)
        assert_patterns_of(tables, criterion, ranking.patterns)
    for summary in (minimal_patterns, pareto_patterns, maximal_patterns):
        found = summary(tables, criterion, 10, limits=limits)
        assert_patterns_of(tables, criterion, found.patterns)
        assert len(found.patterns) <= 10


def assert_patterns_of(tables: LogOdds, criterion: Difference, patterns: tuple[Pattern, ...]) -> None:
    assert len(set(keys(patterns))) == len(patterns)
    for pattern in patterns:
        assert abs(pattern.degree) > criterion.threshold
        assert measure(model_of(tables), criterion, *key(pattern)) == pattern


def hill_climb(tables: LogOdds, criterion: Difference, random: Random) -> Fraction:
    """The largest |degree| that changing one value after another leads to."""
    model = model_of(tables)
    state = [random.choice((-1, 0, 1)) for _ in model.attributes]  # in y, not disclosed, in x
    state[0] = 1
    values = [random.randrange(len(attribute.values)) for attribute in model.attributes]

    def size() -> Fraction:
        x = tuple((i, values[i]) for i, part in enumerate(state) if part == 1)
        y = tuple((i, values[i]) for i, part in enumerate(state) if part == -1)
        return abs(measure(model, replace(criterion, threshold=Fraction(1)), x, y).degree)

    best = size()
    for i in range(1, len(model.attributes)):
        kept = state[i], values[i]
        for part, value in product((-1, 0, 1), range(len(model.attributes[i].values))):
            state[i], values[i] = part, value
            if size() > best:
                best, kept = size(), (part, value)
        state[i], values[i] = kept
    return best


def test_ratio_of_two_hundred_attributes() -> None:
    model, tables = TWO_HUNDRED["telling"], tables_named("telling")
    _, s, gamma = model.kinds()
    # 1 − 1/q = σ(−γ)(1 − e^−s) for s > 0, and 1 − q = σ(−γ − s)(1 − e^s) for s < 0.
    sizes = np.where(s > 0, 1 / (1 + np.exp(gamma)), 1 / (1 + np.exp(gamma + s))) * -np.expm1(-np.abs(s))
    found = worst_patterns(tables, Ratio(Fraction(1, 5)))
    assert found.complete
    assert isclose(found.upper, float(sizes.max()), rel_tol=1e-12)
