"""The search on random scorecards finds what the brute force finds on the same odds in rationals.

Odds of whole doublings are rational, so that the brute force is exact, ties with the threshold among them.
Of odds in powers of e it has 100 digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.search.additive.engine import Engine
from auditor.search.additive.exponentials import Exponentials
from auditor.search.answer import answer
from auditor.search.changes import Answered, changes
from auditor.search.criteria import CRITERIA, Criterion, Difference
from auditor.search.pattern import Pattern
from auditor.search.question import Question
from tests.fuzzing import examples
from tests.oracle import BruteForce, CriterionName, Pair, Patterns, PlainAttribute, PlainModel
from tests.search.comparing import key, keys

MODELS = 12
ALL = 10_000
NEAR = Fraction(1, 10**35)
EXACT = Context(prec=100)


@dataclass(frozen=True)
class Card:
    """A scorecard, the question about it, and the brute force's view of both."""

    model: AdditiveModel
    criterion: Criterion

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model, self.criterion)

    @cached_property
    def brute(self) -> BruteForce:
        odds = self.model.odds * self._power(self.model.exponent())
        attributes = tuple(
            PlainAttribute(
                tuple(
                    (share * self._power(weight - a.undisclosed), share)
                    for weight, share in zip(a.weights, a.population or (), strict=True)
                ),
                a.sensitive,
            )
            for a in self.model.attributes
        )
        return BruteForce(PlainModel(odds / (1 + odds), attributes), self.criterion.name)

    @cached_property
    def patterns(self) -> Patterns:
        return self.brute.at(self.criterion.threshold)

    def _power(self, exponent: Fraction) -> Fraction:
        if self.model.base == "2":
            assert exponent.denominator == 1
            return Fraction(2) ** int(exponent)
        return Fraction(EXACT.exp(EXACT.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))


@st.composite
def cards(draw: st.DrawFn, base: Literal["e", "2"], criterion: CriterionName) -> Card:
    """Up to four attributes of one to four values; weights that equal the undisclosed one are common."""
    step = Fraction(1) if base == "2" else Fraction(draw(st.integers(1, 999)), 997)
    number = st.integers(-4, 4).map(lambda n: n * step)
    irregular = st.fractions(-3, 3, max_denominator=10**6)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    attributes = []
    for i, size in enumerate(sizes):
        undisclosed = draw(number)
        usual = number if base == "2" else st.one_of(st.just(undisclosed), irregular)
        weights = draw(st.lists(usual, min_size=size, max_size=size))
        shares = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
        # Neither decision may have more than all people; values that aren't listed have the rest.
        most = 10 * size * 3 ** ceil(max([Fraction(0), *(w - undisclosed for w in weights)]))
        attributes.append(
            ScoredAttribute(
                f"a{i}",
                tuple(f"v{v}" for v in range(size)),
                i == 0 or draw(st.booleans()),
                tuple(weights),
                undisclosed,
                tuple(Fraction(share, most) for share in shares),
            )
        )
    odds = Fraction(1) if base == "e" else draw(st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(50)]))
    intercept = draw(number)
    model = AdditiveModel(
        "card", "decision", "yes", "no", "conforming", base, odds, intercept, tuple(attributes), None
    )
    total = odds * Card(model, CRITERIA[criterion](Fraction(0)))._power(model.exponent())
    model = AdditiveModel(
        **{
            **{f: getattr(model, f) for f in model.__dataclass_fields__},
            "unfavourable_share": 1 / (1 + total),
        }
    )
    thresholds = st.sampled_from([Fraction(0), Fraction(1)] + [Fraction(1, n) for n in (2, 3, 6, 10, 12, 20)])
    return Card(model, CRITERIA[criterion](draw(st.one_of(thresholds, _degrees(model, criterion)))))


def _degrees(model: AdditiveModel, criterion: CriterionName) -> st.SearchStrategy[Fraction]:
    """Thresholds that are the degree of some pair, where those are rational."""
    if model.base == "e":
        return st.just(Fraction(1, 7))
    brute = Card(model, CRITERIA[criterion](Fraction(0))).brute
    return st.sampled_from(sorted({pair.size for pair in brute.pairs}))


def near(found: Fraction, true: Fraction) -> bool:
    return abs(found - true) <= NEAR * max(abs(true), NEAR)


def assert_measured(card: Card, patterns: tuple[Pattern, ...]) -> list[Pair]:
    assert len(set(keys(patterns))) == len(patterns)
    pairs = [card.brute.by_key[key(pattern)] for pattern in patterns]
    for pattern, pair in zip(patterns, pairs, strict=True):
        assert near(pattern.degree, pair.degree)
        assert abs(pattern.degree) <= pair.size + (NEAR * NEAR if card.model.base == "e" else 0)
        assert (abs(pattern.degree) > card.criterion.threshold) == (pair.size > card.criterion.threshold)
        assert near(pattern.probability, pair.probability)
        assert near(pattern.favourable_given_pattern, pair.favourable_given_pattern)
        assert near(pattern.favourable_given_context, pair.favourable_given_context)
        assert near(pattern.share, pair.probability / sum(pair.context))
    return pairs


def check(card: Card) -> None:
    engine = card.engine
    count = engine.count()
    assert count.reason is None
    assert count.total == len(card.patterns.patterns)
    worst = engine.worst()
    (pair,) = assert_measured(card, worst.patterns)
    assert worst.complete
    assert near(pair.size, card.brute.worst()[0].size)
    assert near(worst.upper, pair.size)
    (individual,) = assert_measured(card, engine.worst(individual=True).patterns)
    assert near(individual.size, card.brute.individual_level().size)
    (group,) = assert_measured(card, engine.group_level().patterns)
    assert near(group.size, card.brute.group_level().size)
    for rank_by in ("discrimination", "probability", "divergence"):
        top = engine.top(7, rank_by)
        assert top.complete
        pairs = assert_measured(card, top.patterns)
        expected = card.patterns.top(7, rank_by)
        assert len(pairs) == len(expected)
        for one, other in zip(pairs, expected, strict=True):
            found, true = (card.patterns.score(rank_by, p) for p in (one, other))
            assert found == true or near(Fraction(found), Fraction(true))
    assert {key(p) for p in engine.minimal(ALL).patterns} == card.patterns.minimal()
    assert {key(p) for p in engine.maximal(ALL).patterns} == card.patterns.maximal()
    assert {key(p) for p in engine.pareto(ALL).patterns} == card.patterns.pareto()


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(MODELS)
@given(data=st.data())
def test_cards_in_points_agree_with_the_brute_force(criterion: CriterionName, data: st.DataObject) -> None:
    check(data.draw(cards("2", criterion)))


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(MODELS)
@given(data=st.data())
def test_cards_in_log_odds_agree_with_the_brute_force(criterion: CriterionName, data: st.DataObject) -> None:
    check(data.draw(cards("e", criterion)))


@pytest.mark.parametrize("least", [Fraction(1, 20), Fraction(1, 4)])
@examples(MODELS)
@given(card=cards("2", "difference"))
def test_only_probable_patterns(least: Fraction, card: Card) -> None:
    among = card.brute.at(card.criterion.threshold, least)
    engine = Engine(card.model, card.criterion, least)
    assert engine.count().total == len(among.patterns)
    assert {key(p) for p in engine.top(ALL, "probability").patterns} == among.keys


def two(weights: tuple[str, ...], base: Literal["e", "2"], others: tuple[str, ...] = ("0",)) -> AdditiveModel:
    """One sensitive attribute and one other, undisclosed at 0."""
    attributes = tuple(
        ScoredAttribute(
            name,
            tuple(f"v{v}" for v in range(len(row))),
            name == "s",
            tuple(map(Fraction, row)),
            Fraction(0),
            (Fraction(1, len(row)),) * len(row),
        )
        for name, row in (("s", weights), ("other", others))
    )
    return AdditiveModel(
        "m", "d", "yes", "no", "conforming", base, Fraction(1), Fraction(0), attributes, Fraction(1, 2)
    )


def test_a_tie_with_the_threshold_is_fair() -> None:
    # σ(ln 2) - σ(0) = 2/3 - 1/2.
    model = two(("1", "-1"), "2")
    at, below = (
        CRITERIA["difference"](Fraction(1, 6)),
        CRITERIA["difference"](Fraction(1, 6) - Fraction(1, 10**80)),
    )
    assert Engine(model, at).count().total == 0
    assert Engine(model, at).worst().patterns[0].degree == Fraction(1, 6)
    assert Engine(model, below).count().total == 4
    assert abs(Engine(model, below).worst().patterns[0].degree) > below.threshold


def test_a_threshold_that_is_next_to_the_degree_decides() -> None:
    # The degree to 90 digits, as a threshold just below and just above it.
    model = two(("0.3", "-1"), "e")
    e = EXACT.exp(Decimal("0.3"))
    degree = Fraction(EXACT.subtract(EXACT.divide(e, EXACT.add(e, 1)), Decimal("0.5")))
    exact = Exponentials(model)
    for shift, expected in ((Fraction(-1, 10**90), True), (Fraction(1, 10**90), False)):
        criterion = CRITERIA["difference"](degree + shift)
        pattern = exact.measure(criterion, ((0, 0),), ())
        assert exact.discriminates(criterion, ((0, 0),), ()) is expected
        assert (abs(pattern.degree) > criterion.threshold) is expected


@pytest.mark.parametrize("places", [50, 70, 150])
@pytest.mark.parametrize(("criterion", "share"), [("difference", "0.2"), ("ratio", "0.3")])
def test_weights_next_to_0_have_intervals_of_their_own(
    criterion: CriterionName, share: str, places: int
) -> None:
    """Where the odds are R, the degree is about s R / (1 + R)², or s / (1 + R): enough at 1, not at e."""
    hair = Fraction(1, 10**places)
    model = two(("0", str(hair)), "e", ("0", "1"))
    threshold = Fraction(share) * hair
    assert Engine(model, CRITERIA[criterion](threshold)).count().total == 2


@pytest.mark.parametrize("weight", ["1", "-2"])
def test_a_threshold_next_to_the_greatest_ratio_is_counted_exactly(weight: str) -> None:
    """It lets odds below e^-200 discriminate, or below e^-198; those before disclosing are e^±½ of that."""
    wide = Context(prec=400)
    sup = wide.subtract(Decimal(1), wide.exp(-abs(Decimal(weight))))
    threshold = Fraction(wide.divide(sup, wide.add(Decimal(1), wide.exp(Decimal(-200)))))
    start = Fraction(-399, 2) - min(Fraction(weight), Fraction(0))
    model = replace(two(("0", weight), "e", ("0", "-1")), intercept=start)
    assert Engine(model, CRITERIA["ratio"](threshold)).count().total == 1


def test_what_changes_nothing_has_degree_zero() -> None:
    model = two(("0", "1"), "e")
    exact = Exponentials(model)
    for threshold in (Fraction(0), Fraction(1, 2)):
        criterion = CRITERIA["difference"](threshold)
        assert exact.measure(criterion, ((0, 0),), ()).degree == 0
        assert not exact.discriminates(criterion, ((0, 0),), ())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("base", ["e", "2"])
@pytest.mark.hypothesis
def test_what_two_scorecards_have_in_common(base: Literal["e", "2"], criterion: CriterionName) -> None:
    """A second card, of which one attribute has the weights and shares in another order."""

    @examples(4)
    @given(cards(base, criterion), st.data())
    def compare(card: Card, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(card.model.attributes) - 1))
        attributes = list(card.model.attributes)
        changed = attributes[place]
        attributes[place] = replace(
            changed, weights=changed.weights[::-1], population=(changed.population or ())[::-1]
        )
        other = Card(replace(card.model, attributes=tuple(attributes)), card.criterion)
        sizes = [{pair.key: pair.size for pair in side.patterns.patterns} for side in (card, other)]
        both = sizes[0].keys() & sizes[1].keys()
        worse = {pattern for pattern in both if sizes[1][pattern] > sizes[0][pattern]}
        before, after = (Answered(side.model, side.criterion, None) for side in (card, other))
        found = changes(before, after, ALL)
        assert found.gone.count == len(sizes[0]) - len(both)
        assert found.new.count == len(sizes[1]) - len(both)
        assert found.worse.count == len(worse)
        listed = {key(after) for _, after in found.worse.patterns if after}
        assert listed == worse

    compare()


@pytest.mark.parametrize("value", [0, 1])
def test_a_minimum_probability_is_held_to_more_digits_than_are_told(value: int) -> None:
    seventh = Fraction(1, 7)
    attribute = ScoredAttribute(
        "a", ("0", "1"), True, (Fraction(2), Fraction(-1)), Fraction(0), (seventh, 6 * seventh)
    )
    model = AdditiveModel(
        "m", "d", "f", "u", "conforming", "2", Fraction(1), Fraction(0), (attribute,), Fraction(1, 2)
    )
    share = (Fraction(5, 14), Fraction(9, 14))[value]
    for shift in (-1, 0, 1):
        engine = Engine(model, Difference(Fraction(1, 10)), share + shift * Fraction(1, 10**50))
        named = [p.sensitive_values for p in engine.minimal(5).patterns]
        assert (((0, value),) in named) == (shift <= 0)
        found = engine.worst().patterns
        assert found == engine.top(1, "discrimination").patterns


def test_a_value_that_rounding_makes_more_than_certain_is_disclosed_for_nothing() -> None:
    # P(v0 | d) is above 1 by a hair, as where a file's weights are rounded; only in its context s = 0 is one.
    model = replace(two(("1", "-1"), "2", ("1.00000000000000000001", "-70")), intercept=Fraction(-2))
    engine = Engine(model, Difference(Fraction(3, 20)), Fraction(1, 1000))
    assert engine.count().total == 1
    assert [key(p) for p in engine.top(ALL, "probability").patterns] == [(((0, 0),), ((1, 0),))]


def test_a_strength_whose_supremum_is_the_threshold_counts_for_nothing() -> None:
    # By the ratio halved odds reach 1/2 in the limit only, and all contexts are next to it.
    model = replace(two(("-1", "-2"), "2", ("0", "1")), intercept=Fraction(-600))
    engine = Engine(model, CRITERIA["ratio"](Fraction(1, 2)))
    assert engine.count().disclosing(0) == (3, 3)


def test_strengths_next_to_zero_are_counted_by_their_size() -> None:
    # Degrees are 1e-90 / 4 at even odds and about 1e-103 at odds of e^30.
    model = two(("1e-90",), "e", ("30",))
    engine = Engine(model, CRITERIA["difference"](Fraction(1, 10**100)))
    assert engine.count().total == 1


def test_degrees_that_no_float_holds_end_in_no_error() -> None:
    model = replace(two(("1", "2"), "2", ("-3", "3")), intercept=Fraction(-1300), unfavourable_share=None)
    for threshold in ("0", "0.1"):
        found = answer(model, Question.of(threshold))
        assert found.largest.upper >= abs(
            Exponentials(model).measure(found.question.criterion, ((0, 1),), ((1, 1),)).degree
        )
        assert found.verdict == ("delta-fair" if threshold == "0.1" else "not-delta-fair")


def test_a_divergence_of_rounded_figures_ends_in_no_error() -> None:
    # To 40 digits all people of the context have the value.
    attribute = ScoredAttribute(
        "s",
        ("0", "1"),
        True,
        (Fraction(0), Fraction(-30)),
        Fraction(0),
        (1 - Fraction(1, 10**100), Fraction(1, 10**100)),
    )
    attribute = replace(attribute, undisclosed=Fraction(-3, 10**40))
    model = replace(two(("0",), "e"), attributes=(attribute,))
    assert Engine(model, Difference(Fraction(0))).top(2).patterns
