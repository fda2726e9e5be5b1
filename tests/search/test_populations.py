"""What holds for a scorecard in every population, against many populations and all patterns."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, product
from math import exp

import pytest

from auditor.choices import CriterionName
from auditor.errors import InputError
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.search.criteria import CRITERIA
from auditor.search.populations import in_every_population
from tests.search.test_reach import degree


def random_card(rng: random.Random) -> AdditiveModel:
    """Up to three attributes with whole weights, so that in base 2 odds are rational."""
    attributes = []
    for i in range(rng.randint(1, 3)):
        weights = tuple(Fraction(rng.randint(-2, 2)) for _ in range(rng.randint(1, 3)))
        undisclosed = Fraction(min(weights) + max(weights), 2)
        values = tuple("uvw"[: len(weights)])
        attributes.append(ScoredAttribute(f"a{i}", values, i == 0, weights, undisclosed, None))
    odds = Fraction(rng.choice([1, 2, 3]), rng.choice([1, 5, 40]))
    start = Fraction(rng.randint(-2, 2))
    return AdditiveModel("card", "d", "yes", "no", "declared", "2", odds, start, tuple(attributes), None)


def odds(model: AdditiveModel, exponent: Fraction) -> Fraction:
    assert exponent.denominator == 1
    return model.odds * Fraction(2) ** int(exponent)


def share(number: Fraction) -> Fraction:
    return number / (1 + number)


def degrees(name: CriterionName, model: AdditiveModel, numbers: tuple[Fraction, ...]) -> list[Fraction]:
    """Of all patterns, where attributes count these numbers undisclosed."""
    every = range(len(model.attributes))
    found = []
    for size in range(1, len(model.sensitive) + 1):
        for shown in combinations(model.sensitive, size):
            rest = [i for i in every if i not in shown]
            for x in product(*(model.attributes[i].weights for i in shown)):
                for y in product(*((numbers[i], *model.attributes[i].weights) for i in rest)):
                    context = model.intercept + sum(y, Fraction(0))
                    before = share(odds(model, context + sum((numbers[i] for i in shown), Fraction(0))))
                    after = share(odds(model, context + sum(x, Fraction(0))))
                    found.append(abs(degree(name, after, before)))
    return found


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("seed", range(60))
def test_no_population_is_worse(name: CriterionName, seed: int) -> None:
    """All populations whose numbers are whole, in rationals; at their ends one comes near the supremum."""
    rng = random.Random(f"{name} {seed}")
    model = random_card(rng)
    several = rng.random() < 0.5
    if several:
        model = replace(model, attributes=tuple(replace(a, sensitive=True) for a in model.attributes))
    grids = [
        [Fraction(u) for u in range(int(min(a.weights)), int(max(a.weights)) + 1)] for a in model.attributes
    ]
    worst = max(max(degrees(name, model, numbers)) for numbers in product(*grids))
    known = in_every_population(model, CRITERIA[name](Fraction(1, 3)))
    found = known.largest.degree if known.largest else Fraction(0)
    assert worst <= known.upper
    assert known.upper - found < Fraction(1, 10**15)
    assert known.verdict == ("varies" if found > Fraction(1, 3) else "all-delta-fair")
    assert found <= Fraction(1, 3) or known.verdict == "varies"
    if known.upper - worst < Fraction(1, 10**40):
        # Attained by whole numbers: a tie is fair, a hair less isn't.
        hair = Fraction(1, 10**70)
        assert in_every_population(model, CRITERIA[name](worst)).verdict == "all-delta-fair"
        if worst:
            assert in_every_population(model, CRITERIA[name](worst - hair)).verdict == "varies"
    elif known.largest:
        # Between whole numbers only the peak is higher: no pair of numbers so far apart beats it.
        assert name == "difference"
        span = sum(max(a.weights) - min(a.weights) for a in model.attributes if a.sensitive)
        half = exp(float(span) * 0.6931471805599453 / 2)
        assert float(known.upper) == pytest.approx((half - 1) / (half + 1))


def test_the_numbers_are_of_the_set_and_give_the_degree() -> None:
    rows = [(Fraction(-1), Fraction(2)), (Fraction(0), Fraction(5, 2), Fraction(1))]
    attributes = tuple(
        ScoredAttribute(f"a{i}", tuple("uvw"[: len(row)]), i == 0, row, row[0], None)
        for i, row in enumerate(rows)
    )
    model = AdditiveModel(
        "card", "d", "yes", "no", "declared", "e", Fraction(1, 3), Fraction(-1, 2), attributes, None
    )
    known = in_every_population(model, CRITERIA["difference"](Fraction(1, 10)))
    assert known.largest is not None
    for attribute, number in zip(model.attributes, known.largest.undisclosed, strict=True):
        assert min(attribute.weights) <= number <= max(attribute.weights)
    taken = replace(
        model,
        attributes=tuple(
            replace(a, undisclosed=number)
            for a, number in zip(model.attributes, known.largest.undisclosed, strict=True)
        ),
    )
    after, before = (Fraction(taken.probability(v)) for v in (known.largest.sensitive_values, ()))
    assert abs(after - before - known.largest.degree) < Fraction(1, 10**30)


def test_numbers_beyond_the_values_are_refused() -> None:
    model = random_card(random.Random("x"))
    beyond = replace(model.attributes[0], undisclosed=max(model.attributes[0].weights) + 1)
    with pytest.raises(InputError, match="a0"):
        in_every_population(
            replace(model, attributes=(beyond, *model.attributes[1:])), CRITERIA["ratio"](Fraction(1, 5))
        )


def test_a_threshold_of_many_digits_next_to_the_supremum_is_decided() -> None:
    """The peak is between the ends, and so is reached in as many digits as the threshold has."""
    rows = [(Fraction(-1), Fraction(1)), (Fraction(-3), Fraction(4))]
    attributes = tuple(
        ScoredAttribute(f"a{i}", ("u", "v"), i == 0, row, Fraction(0), None) for i, row in enumerate(rows)
    )
    model = AdditiveModel(
        "card", "d", "yes", "no", "declared", "e", Fraction(3, 7), Fraction(0), attributes, None
    )
    context = Context(prec=400)
    e = context.exp(Decimal(1))
    supremum = Fraction(context.divide(context.subtract(e, Decimal(1)), context.add(e, Decimal(1))))
    delta = Fraction(int(supremum * 10**300), 10**300)
    found = in_every_population(model, CRITERIA["difference"](delta))
    assert found.verdict == "varies"
    assert found.largest is not None
    assert delta < found.largest.degree < supremum


@pytest.mark.parametrize("name", ["difference", "ratio"])
def test_a_degree_below_the_digits_of_odds_has_its_sign(name: CriterionName) -> None:
    """Where the odds are 1, the ratio is s/2 and the difference s/4."""
    tiny = Fraction(1, 10**90)
    attribute = ScoredAttribute("a", ("u", "v"), True, (Fraction(0), tiny), Fraction(0), None)
    model = AdditiveModel(
        "c", "d", "yes", "no", "declared", "e", Fraction(1), Fraction(0), (attribute,), None
    )
    found = in_every_population(model, CRITERIA[name](Fraction(1, 10)))
    assert found.largest is not None
    assert 0 < found.largest.degree <= tiny / 2 < 3 * found.upper
