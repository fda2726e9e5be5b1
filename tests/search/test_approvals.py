"""Rates of approval against a sum over everybody in rationals, which shares no code with the search."""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InputError
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.cutoff import Cutoff, least_exponent
from auditor.model.naive_bayes import Assignment
from auditor.search import approvals
from auditor.search.answer import Wanted, answer
from auditor.search.approvals import Scores, approvals_of
from auditor.search.question import Question
from tests.fuzzing import examples

EXACT = Context(prec=80)
NEAR = Fraction(1, 10**25)


def powers(model: AdditiveModel, exponent: Fraction) -> Fraction:
    """``base^exponent``, exactly or to 80 digits."""
    if exponent.denominator == 1 and model.base == "2":
        return Fraction(2) ** int(exponent)
    quotient = EXACT.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(
        EXACT.exp(quotient if model.base == "e" else EXACT.multiply(quotient, EXACT.ln(Decimal(2))))
    )


def rate(model: AdditiveModel, cutoff: Cutoff, known: Assignment) -> Fraction:
    """``P(approved | known)`` by everybody, one by one, of both decisions."""
    fixed, total, approved = dict(known), Fraction(0), Fraction(0)
    choices = [(fixed[i],) if i in fixed else range(len(a.values)) for i, a in enumerate(model.attributes)]
    assert model.unfavourable_share is not None
    for values in product(*choices):
        exponent = model.intercept + sum(
            (a.weights[v] for a, v in zip(model.attributes, values, strict=True)), Fraction(0)
        )
        odds = model.odds * powers(model, exponent)
        shares = [a.population[v] for a, v in zip(model.attributes, values, strict=True) if a.population]
        people = prod(shares, start=model.unfavourable_share) * (1 + odds)
        total += people
        if cutoff.exponent is not None:
            reaches = exponent >= cutoff.exponent
        else:
            assert cutoff.probability is not None
            reaches = odds / (1 + odds) > cutoff.probability
        approved += people * reaches
    return approved / total


@st.composite
def cards(draw: st.DrawFn) -> tuple[AdditiveModel, Cutoff]:
    """Up to four attributes whose undisclosed number is that of their population, in whole doublings."""
    attributes = []
    for i in range(draw(st.integers(1, 4))):
        # b 2^(w - u) must sum to 1 as b does: two values about u, so far off that shares are rational.
        step, turn = draw(st.integers(0, 3)), draw(st.booleans())
        undisclosed = Fraction(draw(st.integers(-2, 2)))
        share = Fraction(2**step, 2**step + 1)
        weights, population = (undisclosed - step, undisclosed + step), (share, 1 - share)
        if turn:
            weights, population = weights[::-1], population[::-1]
        attributes.append(
            ScoredAttribute(
                f"a{i}", ("v", "w"), i == 0 or draw(st.booleans()), weights, undisclosed, population
            )
        )
    odds = draw(st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(1, 50)]))
    intercept = Fraction(draw(st.integers(-2, 2)))
    model = AdditiveModel(
        "card", "decision", "yes", "no", "conforming", "2", odds, intercept, tuple(attributes), Fraction(1, 2)
    )
    prior = odds * powers(model, model.exponent())
    model = replace(model, unfavourable_share=1 / (1 + prior))
    everybody = [
        sum((a.weights[v] for a, v in zip(attributes, values, strict=True)), intercept)
        for values in product(*(range(2) for _ in attributes))
    ]
    ties = [odds * Fraction(2) ** int(exponent) for exponent in everybody]
    chances = st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2), *(t / (1 + t) for t in ties)])
    scores = st.sampled_from([*everybody, min(everybody) - 1, max(everybody) + Fraction(1, 3)])
    if draw(st.booleans()):
        return model, Cutoff("0.5", probability=draw(chances))
    return model, Cutoff("7 points", exponent=draw(scores))


@given(cards())
@examples(40)
def test_rates_are_those_of_everybody_one_by_one(card: tuple[AdditiveModel, Cutoff]) -> None:
    model, cutoff = card
    found = answer(model, Question.of("0.1"), Wanted(top=5, minimal=5, details=True, cutoff=cutoff)).approvals
    assert found is not None
    assert abs(found.approved - rate(model, cutoff, ())) < NEAR
    for _, groups in found.groups:
        rates = [rate(model, cutoff, group.values) for group in groups]
        for group, right in zip(groups, rates, strict=True):
            assert abs(group.approved - right) < NEAR
            if group.impact_ratio is not None:
                assert abs(group.impact_ratio - right / max(rates)) < NEAR
    for entry in found.patterns:
        x, y = entry.pattern.sensitive_values, entry.pattern.context_values
        assert abs(entry.given_pattern - rate(model, cutoff, x + y)) < NEAR
        assert abs(entry.given_context - rate(model, cutoff, y)) < NEAR


def many(n: int, step: Fraction) -> AdditiveModel:
    """n sensitive attributes whose sums are all different, or fall on a grid."""
    attributes = tuple(
        ScoredAttribute(
            f"a{i}", ("v", "w"), i == 0, (Fraction(0), step * (1 if step == 1 else 3**i)), Fraction(0), HALVES
        )
        for i in range(n)
    )
    return AdditiveModel(
        "card",
        "decision",
        "yes",
        "no",
        "conforming",
        "e",
        Fraction(1),
        Fraction(0),
        attributes,
        Fraction(1, 2),
    )


HALVES = (Fraction(1, 2), Fraction(1, 2))


def test_scores_on_a_grid_are_added_up_however_many_attributes_there_are() -> None:
    scores = Scores(many(60, Fraction(1)), Cutoff("30 points", exponent=Fraction(61)))
    assert approvals_of(scores, (), ()).approved == 0


@pytest.mark.parametrize("reason", ["too many different scores", "take a population"])
def test_what_cannot_be_added_up_is_refused_before_the_search(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "_MOST", 1 << 12)
    model = many(60, Fraction(1, 3**60))
    if reason == "take a population":
        model = replace(model, unfavourable_share=None, undisclosed="declared")
    begun: list[str] = []
    with pytest.raises(InputError, match=reason):
        answer(
            model,
            Question.of("0.1"),
            Wanted(cutoff=Cutoff("0 points", exponent=Fraction(0))),
            begun.append,
        )
    assert not begun


def test_a_chance_next_to_a_half_is_cut_as_exactly_as_any() -> None:
    """``σ(t) = 1/2 + t/4 - t³/48 + ...`` is above ``1/2 + 3e-20/4`` from ``t = 3e-20 + 2.25e-60`` on."""
    chance = Fraction(1, 2) + Fraction(3, 4 * 10**20)
    cutoff = Cutoff("next to a half", probability=chance)
    assert least_exponent(many(1, Fraction(1, 10**60)), cutoff) == 3 * 10**40 + 3
