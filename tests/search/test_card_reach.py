"""What holds for every scorecard near one, against all corners of the set in rationals."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, product

import pytest

from auditor.choices import CriterionName
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.exponentials import Base
from auditor.search.additive.counting import counts_above
from auditor.search.additive.exponentials import tables_of_scorecard
from auditor.search.additive.worst import worst_patterns
from auditor.search.card_counts import _Counting, count_in_cards
from auditor.search.card_reach import CardSearch, Margin, card_reach, holds_for_cards
from auditor.search.criteria import CRITERIA
from auditor.search.limits import DEFAULT, Limits
from auditor.search.reach_counts import SetCounts
from tests.search.test_reach import degree

#: Both move odds by a power of 2, so that those at the corners are rational: by a factor, or in exponents.
MARGINS = (
    Margin("box", "1", Fraction(2), Fraction(0)),
    Margin("rounding", "1", Fraction(1), Fraction(1)),
    Margin("box", "0", Fraction(1), Fraction(0)),
)

#: More digits than any that are searched in.
LONG = Context(prec=200)


def random_card(rng: random.Random) -> AdditiveModel:
    attributes = []
    for i in range(rng.randint(1, 3)):
        weights = tuple(Fraction(rng.randint(-5, 5)) for _ in range(rng.randint(1, 3)))
        undisclosed = Fraction(rng.randint(-3, 3))
        sensitive = i == 0 or rng.random() < 0.5
        attributes.append(
            ScoredAttribute(f"a{i}", tuple("uvw"[: len(weights)]), sensitive, weights, undisclosed, None)
        )
    odds = Fraction(rng.choice([1, 2, 3]), rng.choice([1, 5, 40]))
    start = Fraction(rng.randint(-2, 2))
    return AdditiveModel("card", "d", "yes", "no", "declared", "2", odds, start, tuple(attributes), None)


def patterns(
    model: AdditiveModel,
) -> Iterator[tuple[list[Fraction], list[Fraction], list[Fraction]]]:
    """Of each pattern what the values of x count, what they replace, and all else that counts."""
    every = range(len(model.attributes))
    for size in range(1, len(model.sensitive) + 1):
        for shown in combinations(model.sensitive, size):
            rest = [model.attributes[i] for i in every if i not in shown]
            for x in product(*(model.attributes[i].weights for i in shown)):
                for y in product(*((a.undisclosed, *a.weights) for a in rest)):
                    yield [*x], [model.attributes[i].undisclosed for i in shown], [model.intercept, *y]


def share(model: AdditiveModel, exponent: Fraction) -> Fraction:
    assert exponent.denominator == 1
    number = model.odds * Fraction(2) ** int(exponent)
    return number / (1 + number)


def at_corners(
    name: CriterionName,
    model: AdditiveModel,
    step: int,
    pattern: tuple[list[Fraction], list[Fraction], list[Fraction]],
) -> list[Fraction]:
    """|degree| with each number of the scorecard at an end; 0 too where a degree changes its sign between."""
    numbers = [n for part in pattern for n in part]
    k = len(pattern[0])
    found, signs = [], set()
    for moves in product((-step, step) if step else (0,), repeat=len(numbers)):
        moved = [n + move for n, move in zip(numbers, moves, strict=True)]
        x, u, others = (sum(part, Fraction(0)) for part in (moved[:k], moved[k : 2 * k], moved[2 * k :]))
        signs.add(x > u)
        found.append(abs(degree(name, share(model, others + x), share(model, others + u))))
    return found if len(signs) == 1 else [*found, Fraction(0)]


def between(
    name: CriterionName,
    model: AdditiveModel,
    step: int,
    pattern: tuple[list[Fraction], list[Fraction], list[Fraction]],
) -> float:
    """The greatest |degree| in floats, with what the pattern shares at many points between its ends."""
    x, u, others = (float(sum(part)) for part in pattern)
    k, room = len(pattern[0]), len(pattern[2]) * step
    best = 0.0
    for side in (1, -1):
        for point in range(-100, 101):
            start = others + room * point / 100
            odds = [
                float(model.odds) * 2.0**t for t in (start + x + side * k * step, start + u - side * k * step)
            ]
            after, before = (t / (1 + t) for t in odds)
            size = abs(after - before)
            best = max(best, size if name == "difference" else size / max(after, before))
    return best


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("seed", range(24))
def test_every_scorecard_at_a_corner_and_many_between(name: CriterionName, seed: int) -> None:
    rng = random.Random(seed)
    model, margin = random_card(rng), MARGINS[seed % 3]
    step = (1, 1, 0)[seed % 3]
    delta = Fraction(rng.choice(["0.05", "0.1", "0.3", "0.5", "0.8"]))
    found = card_reach(model, margin, CRITERIA[name](delta))
    corners = [at_corners(name, model, step, pattern) for pattern in patterns(model)]
    highest = max(max(degrees) for degrees in corners)
    lowest = max(min(degrees) for degrees in corners)
    highs = [between(name, model, step, pattern) for pattern in patterns(model)]
    dense = max(highs)

    assert found.largest is not None
    assert highest <= found.upper
    assert dense <= float(found.upper) + 1e-12
    assert float(abs(found.largest.degree)) >= dense - 1e-12
    assert abs(found.largest.degree) <= found.upper
    assert found.upper - abs(found.largest.degree) <= Fraction(1, 10**38) or found.upper == delta
    if highest > delta:
        assert found.verdict == ("none-delta-fair" if lowest > delta else "varies")
        certain = found.certain.least if found.certain else Fraction(0)
        assert lowest - Fraction(1, 10**38) <= certain <= lowest
    elif found.verdict == "all-delta-fair":
        assert dense <= float(delta) + 1e-12
    else:
        # Only between corners.
        assert found.verdict == "varies"
        assert abs(found.largest.degree) > delta
    # All of them are counted; between the many points a degree may be a little greater.
    audited = counts_above(tables_of_scorecard(model), CRITERIA[name](delta), [delta])[0]
    counts = count_in_cards(model, margin, CRITERIA[name](delta), found.verdict, audited)
    above = [max(degrees) > delta for degrees in corners]
    least = sum(or_at_corner or high > delta + 1e-12 for or_at_corner, high in zip(above, highs, strict=True))
    most = sum(or_at_corner or high > delta - 1e-4 for or_at_corner, high in zip(above, highs, strict=True))
    assert counts.reason is None
    assert counts.some[0] == counts.some[1]
    assert least <= counts.some[0] <= most
    assert counts.every == (sum(min(degrees) > delta for degrees in corners),) * 2
    # The scorecard that is named has the degree that is said.
    there, k = found.largest, len(found.largest.sensitive_values)
    shown = {i for i, _ in there.sensitive_values}
    moved = [float(model.intercept)]
    of = dict(there.context_values)
    moved += [
        float(a.weights[of[i]] if i in of else a.undisclosed)
        for i, a in enumerate(model.attributes)
        if i not in shown
    ]
    others = sum(moved) + len(moved) * float(there.share) * step
    x = sum(float(model.attributes[i].weights[v]) for i, v in there.sensitive_values) + there.side * k * step
    u = sum(float(model.attributes[i].undisclosed) for i in shown) - there.side * k * step
    odds = [float(model.odds) * 2.0 ** (others + t) for t in (x, u)]
    after, before = (t / (1 + t) for t in odds)
    assert (after, before) == pytest.approx((float(there.given_pattern), float(there.given_context)))
    assert holds_for_cards(model, margin, CRITERIA[name](delta), fair=True) == (
        found.verdict == "all-delta-fair"
    )
    assert holds_for_cards(model, margin, CRITERIA[name](delta), fair=False) == (
        found.verdict == "none-delta-fair"
    )


def test_a_degree_of_exactly_the_threshold_is_fair_and_the_next_one_isn_t() -> None:
    """One sensitive value that doubles the odds of 1: 2/3 - 1/2 = 1/6, and 8/9 - 1/2 at the corner."""
    attribute = ScoredAttribute("a", ("u",), True, (Fraction(1),), Fraction(0), None)
    model = AdditiveModel(
        "c", "d", "yes", "no", "declared", "2", Fraction(1), Fraction(0), (attribute,), None
    )
    far = replace(model, intercept=Fraction(-60))
    for margin in MARGINS[:2]:
        # Strength 3 with nothing else to move but the intercept: the peak is in reach.
        peak = Fraction(math.tanh(3 * math.log(2) / 4))
        for off, verdict in ((-1, "varies"), (1, "all-delta-fair")):
            rule = CRITERIA["difference"](peak + Fraction(off, 10**15))
            assert card_reach(model, margin, rule).verdict == verdict
        # Far out the end that is nearest the peak settles it, in rationals: odds from 2^-60 to 2^-57.
        odds = [Fraction(2) ** -60, Fraction(2) ** -57]
        least = odds[1] / (1 + odds[1]) - odds[0] / (1 + odds[0])
        for delta, verdict in ((least, "all-delta-fair"), (least - Fraction(1, 2**200), "varies")):
            rule = CRITERIA["difference"](delta)
            assert card_reach(far, margin, rule).verdict == verdict
            # It is the only pattern; where there is none, it is not to be counted.
            some, _, _ = _Counting(CardSearch(far, margin, rule, DEFAULT), rule, DEFAULT, every=False).run()
            assert some == (verdict == "varies")


def test_weights_that_differ_below_the_tables_resolution_are_told_apart() -> None:
    """The first value has a degree of exactly δ = 1/6, the second one of a hair more."""
    weights = Fraction(1), 1 + Fraction(1, 2**90)
    for order in (weights, weights[::-1]):
        attribute = ScoredAttribute("a", ("u", "v"), True, order, Fraction(0), None)
        model = AdditiveModel(
            "c", "d", "yes", "no", "declared", "2", Fraction(1), Fraction(0), (attribute,), None
        )
        rule = CRITERIA["difference"](Fraction(1, 6))
        assert card_reach(model, MARGINS[2], rule).verdict == "none-delta-fair"
        assert count_in_cards(model, MARGINS[2], rule, "none-delta-fair", (1, 1)).every == (1, 1)
        assert holds_for_cards(model, MARGINS[2], rule, fair=True) is False


def test_a_strength_next_to_0_is_counted_as_exactly_as_others() -> None:
    """Where the odds are 1 the ratio is s/2 less about s²/4: above the first threshold, not the second."""
    attribute = ScoredAttribute("a", ("u",), True, (Fraction(1, 3 * 10**48),), Fraction(0), None)
    model = AdditiveModel(
        "c", "d", "yes", "no", "declared", "e", Fraction(1), Fraction(0), (attribute,), None
    )
    for off, number in ((-1, 1), (0, 0)):
        rule = CRITERIA["ratio"](Fraction(1, 6 * 10**48) * (1 + Fraction(off, 10**13)))
        for every in (False, True):
            counting = _Counting(CardSearch(model, MARGINS[2], rule, DEFAULT), rule, DEFAULT, every=every)
            assert counting.run()[:2] == (number, number)


@pytest.mark.parametrize("name", ["difference", "ratio"])
def test_of_many_sensitive_attributes_the_strongest_sets_are_searched(name: CriterionName) -> None:
    rng = random.Random(5)
    attributes = tuple(
        ScoredAttribute(
            f"a{i}",
            ("u", "v"),
            i < 15,
            (Fraction(rng.randint(1, 9), 10), -Fraction(rng.randint(1, 9), 10)),
            Fraction(0),
            None,
        )
        for i in range(18)
    )
    model = AdditiveModel(
        "many", "d", "yes", "no", "declared", "2", Fraction(1, 3), Fraction(0), attributes, None
    )
    rule = CRITERIA[name](Fraction(1, 2))
    worst = worst_patterns(tables_of_scorecard(model), rule)
    found = card_reach(model, MARGINS[2], rule)
    assert found.largest is not None
    assert abs(float(found.largest.degree)) == pytest.approx(abs(float(worst.patterns[0].degree)), abs=1e-12)
    assert found.upper >= worst.upper - Fraction(1, 10**12)
    assert float(found.upper) == pytest.approx(float(worst.upper), abs=1e-9)
    assert found.verdict == "none-delta-fair"
    assert card_reach(model, MARGINS[0], rule).verdict == "varies"


def test_what_there_is_no_time_for_is_left_open() -> None:
    model = random_card(random.Random(1))
    rule = CRITERIA["difference"](Fraction("0.01"))
    found = card_reach(model, MARGINS[0], rule, Limits(expired=lambda: True))
    assert (found.verdict, found.largest, found.certain) == ("inconclusive", None, None)
    assert found.upper >= card_reach(model, MARGINS[0], rule).upper
    assert holds_for_cards(model, MARGINS[0], rule, fair=True, limits=Limits(expired=lambda: True)) is None


def one_attribute(*weights: Fraction, base: Base = "e", odds: int = 1) -> AdditiveModel:
    """A sensitive one that counts nothing undisclosed."""
    values = tuple("uvwx"[: len(weights)])
    attribute = ScoredAttribute("a", values, True, weights, Fraction(0), None)
    return AdditiveModel(
        "c", "d", "yes", "no", "declared", base, Fraction(odds), Fraction(0), (attribute,), None
    )


def test_strengths_below_the_tables_resolution_are_no_zeros() -> None:
    """Where the odds are 1, degrees are s/4: in the smaller of two floats, or below all of them."""
    for size in (Fraction(1, 10**16), Fraction(1, 10**400)):
        model, tie = one_attribute(size), CRITERIA["difference"](size / 4)
        some = CRITERIA["difference"](size / 5)
        assert card_reach(model, MARGINS[2], some).verdict == "none-delta-fair"
        assert card_reach(model, MARGINS[2], tie).verdict == "all-delta-fair"
        assert holds_for_cards(model, MARGINS[2], some, fair=True) is False
        assert card_reach(model, Margin("rounding", "", Fraction(1), size / 1000), some).verdict == (
            "none-delta-fair"
        )
    # The weights together are the worst, but by less than the tables can tell.
    sizes = [Fraction(16, 10**16), Fraction(-14, 10**16)]
    attributes = tuple(replace(one_attribute(w).attributes[0], name=f"a{w}") for w in sizes)
    model = replace(one_attribute(sizes[0]), attributes=attributes)
    found = card_reach(model, MARGINS[2], CRITERIA["difference"](Fraction(39, 10**17)))
    assert found.verdict == "none-delta-fair"
    assert found.upper >= Fraction(39, 10**17)


def test_strengths_below_the_digits_of_logarithms_have_a_direction() -> None:
    """Beside odds of 3 a move of -1e-75 is seen in no 60 digits."""
    model = one_attribute(Fraction(-1, 10**75), odds=3)
    for name in CRITERIA:
        rule = CRITERIA[name](Fraction(0))
        for margin in (MARGINS[2], Margin("rounding", "", Fraction(1), Fraction(1, 10**76))):
            found = card_reach(model, margin, rule)
            assert found.verdict == "none-delta-fair"
            assert found.certain is not None
            assert holds_for_cards(model, margin, rule, fair=True) is False


def test_what_a_margin_all_but_takes_away_is_seen() -> None:
    """In nats the strength is 2h and a hair, or less a hair."""
    h = LONG.ln(Decimal("1.1"))
    doubled = 2 * Fraction(h.quantize(Decimal("1e-58"), context=LONG))
    margin = Margin("box", "0.1", Fraction(11, 10), Fraction(0))
    for hair, beyond in ((1, True), (-1, False)):
        model = one_attribute(doubled + Fraction(hair, 10**56))
        rule = CRITERIA["ratio"](Fraction(0))
        assert card_reach(model, margin, rule).verdict == ("none-delta-fair" if beyond else "varies")
    # What is left, nearly 1e-49, is a ratio of more than δ in each scorecard where odds of 1 grow no more.
    model = one_attribute(doubled + Fraction(1, 10**49))
    left = 2 * (Fraction(LONG.subtract(LONG.divide(*map(Decimal, (doubled / 2).as_integer_ratio())), h)))
    delta = (left + Fraction(1, 10**49)) / 2
    for hair in (-1, 1):
        rule = CRITERIA["ratio"](delta * (1 + Fraction(hair, 10**13)))
        placed = replace(model, intercept=-doubled)
        search = CardSearch(placed, margin, rule, DEFAULT)
        every = int(search.at_least(((0, 0),), (), 1)[1])
        assert every == (hair < 0)
        assert _Counting(search, rule, DEFAULT, every=True).run()[:2] == (every, every)


def test_a_peak_at_the_threshold_is_not_counted() -> None:
    """Where s is 0, it is at most 2 ln 2 in the box of 1, where degrees are below 1/3 but at their peak."""
    model = replace(one_attribute(Fraction(0), Fraction(1, 2)), odds=Fraction(3, 2))
    rule = CRITERIA["difference"](Fraction(1, 3))
    assert card_reach(model, MARGINS[0], rule).verdict == "varies"
    assert count_in_cards(model, MARGINS[0], rule, "varies", (0, 2)).some == (1, 1)


def test_contexts_next_to_the_greatest_sum_are_counted() -> None:
    """Log-odds of thousands fill the integers of the tables."""
    rows = [(Fraction(8000), True), (Fraction(-90), False)]
    attributes = tuple(
        replace(one_attribute(w, -w).attributes[0], name=f"a{w}", sensitive=s) for w, s in rows
    )
    model = replace(one_attribute(Fraction(1)), intercept=Fraction(-8200), attributes=attributes)
    rule = CRITERIA["ratio"](Fraction(1, 2))
    assert count_in_cards(model, MARGINS[0], rule, "none-delta-fair", (6, 6)) == SetCounts((6, 6), (6, 6))
