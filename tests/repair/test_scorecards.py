"""Repair of scorecards: what is written is fair, in its own decimals, and about as near as any card."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.documents.repair import PointsChange
from auditor.errors import InputError, RepairError
from auditor.model.building import build_scorecard
from auditor.model.reading import load_model, parse_model
from auditor.model.scorecard import ScorecardSpec
from auditor.model.writing import dump_model
from auditor.repair import repairing, scorecards
from auditor.usecases.auditing import audit, repair
from tests.fuzzing import examples
from tests.scorecards import PlainCard, audited

CARD = Path(__file__).parents[2] / "examples" / "german_scorecard.yaml"


def plain(spec: ScorecardSpec) -> PlainCard:
    """A scorecard in log-odds, of the values that occur."""
    sign = 1.0 if spec.decision.higher == "favourable" else -1.0
    factor, base = sign, sign * float(spec.intercept)
    if spec.scale is not None:
        factor = sign * log(2) / float(spec.scale.pdo)
        base = float(spec.intercept - spec.scale.offset) * factor + sign * log(float(spec.scale.odds))
    values = [[v for v in a.values if v.share] for a in spec.attributes]
    return PlainCard(
        base,
        [np.array([float(v.number) * factor for v in row]) for row in values],
        [np.array([float(v.share or 0) for v in row]) for row in values],
        [i for i, a in enumerate(spec.attributes) if a.sensitive],
    )


def german() -> ScorecardSpec:
    spec = load_model(CARD)
    assert isinstance(spec, ScorecardSpec)
    return spec


def test_the_repaired_example_is_fair_and_that_of_the_example() -> None:
    path = CARD.with_name("german_scorecard_fair.yaml")
    fair, card = load_model(path), german()
    assert isinstance(fair, ScorecardSpec)
    assert dump_model(fair, "yaml") == path.read_text(encoding="utf-8")
    assert audit(fair, "0.1").verdict == "delta-fair"
    assert fair.repair is not None
    assert fair.repair.source_sha256 == card.classifier().sha256()
    for a, b in zip(fair.attributes, card.attributes, strict=True):
        for v, w in zip(a.values, b.values, strict=True):
            assert (v.number if v.before is None else v.before) == w.number
            assert (v.value, v.share) == (w.value, w.share)


def in_points(spec: ScorecardSpec, pdo: int = 20) -> ScorecardSpec:
    """The card in whole points, of which ``pdo`` double the odds of the favourable decision."""
    tree = spec.model_dump()
    factor = -pdo / log(2)
    tree["scale"] = {"pdo": Decimal(pdo), "offset": Decimal(600), "odds": Decimal(1)}
    tree["decision"]["higher"] = "favourable"
    tree["intercept"] = Decimal(round(600 + factor * float(spec.intercept)))
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            value["points"] = Decimal(round(factor * float(value.pop("weight"))))
    return build_scorecard(tree, "points")


def made_of(spec: ScorecardSpec, delta: str, **options: Any) -> tuple[ScorecardSpec, repairing.Repaired]:
    made = repair(spec, delta, **options)
    assert isinstance(made.model, ScorecardSpec)
    return made.model, made


@pytest.mark.parametrize(
    ("spec", "delta"),
    [
        (german(), "0.1"),
        (german(), "0.01"),
        (in_points(german()), "0.05"),
        (in_points(german(), 50), "0.01"),
    ],
    ids=["weights-0.1", "weights-0.01", "points-0.05", "fine-0.01"],
)
def test_what_is_written_is_fair(spec: ScorecardSpec, delta: str) -> None:
    card, made = made_of(spec, delta)
    assert audit(card, delta).verdict == "delta-fair"
    after = audited(plain(card), [float(delta)])
    assert after.counts == (0,)
    before = audited(plain(spec), [float(delta)])
    assert before.counts == (made.summary.patterns_before,)
    assert made.summary.patterns_after == 0
    assert made.summary.shortfall is None
    # Hardly anything of what is allowed is left unused.
    unused = float(delta) - after.largest
    assert 0 <= unused < (1e-5 if spec.scale is None else 5e-3)
    likelihoods = made.summary.log_likelihoods
    assert likelihoods.repaired is not None
    assert likelihoods.independent is not None
    assert likelihoods.unconstrained is not None
    assert likelihoods.independent < likelihoods.repaired < likelihoods.unconstrained
    places = 0 if spec.scale else 12
    for old, new in zip(spec.attributes, card.attributes, strict=True):
        for first, second in zip(old.values, new.values, strict=True):
            assert (second.share, second.value) == (first.share, first.value)
            assert second.number == first.number or (
                second.before == first.number
                and second.number == round(second.number, places)
                and f"{second.number}" != "-0"
            )


def test_a_repaired_card_knows_what_it_was_and_is_repaired_anew_from_that() -> None:
    card, made = made_of(in_points(german()), "0.05")
    read = parse_model(dump_model(card).encode(), "card.json")
    assert read == card
    assert scorecards.before_repair(card) == in_points(german())
    again, _ = made_of(card, "0.05")
    assert again == card
    assert card.repair is not None
    assert card.repair.source_sha256 == in_points(german()).classifier().sha256()
    moved = {(move.attribute, move.value): move for move in made.summary.points_moved}
    assert scorecards.moves(card) == made.summary.points_moved
    assert all(move.before != move.after for move in moved.values())
    assert moved["sex_status", "A91"] == PointsChange(
        attribute="sex_status", value="A91", before="-10", after="-2"
    )


def test_the_rows_of_the_record_are_about_one_threshold() -> None:
    _, made = made_of(german(), "0.1")
    first, *_, last = made.summary.progress
    assert first.patterns == made.summary.patterns_before == 3712
    assert (last.round, last.patterns) == (made.summary.rounds, 0)
    assert last.log_likelihood == made.summary.log_likelihoods.repaired
    rounds = [row.round for row in made.summary.progress]
    assert rounds == sorted(set(rounds))


def test_threshold_zero_and_the_baselines_give_sensitive_values_the_same_points() -> None:
    for spec in (german(), in_points(german())):
        for delta, method in (("0", "fair"), ("0", "independent"), ("0.01", "independent-mean")):
            card, made = made_of(spec, delta, method=method)
            assert made.summary.patterns_after == 0
            for attribute in card.attributes:
                numbers = {value.number for value in attribute.values if value.share}
                assert (len(numbers) == 1) == attribute.sensitive
        card, made = made_of(spec, "0.1", method="unconstrained")
        assert card.model_copy(update={"repair": None}) == spec
        assert made.summary.patterns_after == made.summary.patterns_before


def test_a_fair_card_stays_as_it_is() -> None:
    card, made = made_of(german(), "0.2")
    assert card.model_copy(update={"repair": None}) == german()
    assert made.summary.points_moved == ()
    assert made.summary.price == 0


def test_no_card_of_whole_points_nearby_is_much_likelier_and_fair() -> None:
    """All cards with up to five points more or less for each sensitive value."""
    rows_of = {"sex": [("3", "0.4"), ("-2", "0.6")], "home": [("2", "0.7"), ("-1", "0.3")]}
    tree: dict[str, Any] = {
        "name": "small",
        "decision": {"name": "loan", "favourable": "yes", "unfavourable": "no"},
        "scale": {"pdo": Decimal(4)},
        "attributes": [
            {
                "name": name,
                "sensitive": name == "sex",
                "values": [
                    {"value": str(v), "points": Decimal(p), "share": Decimal(s)}
                    for v, (p, s) in enumerate(rows)
                ],
            }
            for name, rows in rows_of.items()
        ],
    }
    spec = build_scorecard(tree, "small")
    _, made = made_of(spec, "0.1")
    counts = scorecards.counts_of(spec)
    best = -float("inf")
    for a, b in product(range(-5, 6), repeat=2):
        other = spec.model_dump()
        for value, move in zip(other["attributes"][0]["values"], (a, b), strict=True):
            value["points"] += move
        card = build_scorecard(other, "other")
        likelihood = counts.log_likelihood(scorecards.population_of(card))
        if likelihood > best and audited(plain(card), []).largest <= 0.1:
            best = likelihood
    found = made.summary.log_likelihoods
    assert found.repaired is not None
    assert found.unconstrained is not None
    assert found.unconstrained - found.repaired <= 1.05 * (found.unconstrained - best)


@st.composite
def cards(draw: st.DrawFn) -> ScorecardSpec:
    """Small cards in weights or points; some attributes have one value, some values nobody."""
    in_weights = draw(st.booleans())
    attributes = []
    for i, size in enumerate(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))):
        shares = [draw(st.integers(0, 5)) for _ in range(size)]
        shares[0] += 1
        exact = [round(Fraction(share, sum(shares)), 6) for share in shares]
        exact[0] += 1 - sum(exact)
        number = (
            st.decimals(-2, 2, places=draw(st.sampled_from([1, 3]))) if in_weights else st.integers(-30, 30)
        )
        values = [
            {
                "value": f"v{v}",
                "weight" if in_weights else "points": draw(number),
                "share": Decimal(share.numerator) / Decimal(share.denominator),
            }
            for v, share in enumerate(exact)
        ]
        attributes.append({"name": f"a{i}", "sensitive": i == 0 or draw(st.booleans()), "values": values})
    decision = {"name": "d", "favourable": "yes", "unfavourable": "no"}
    tree: dict[str, Any] = {
        "name": "card",
        "decision": decision | {"higher": draw(st.sampled_from(["favourable", "unfavourable"]))},
        "intercept": Decimal(draw(st.integers(-3, 3))),
        "attributes": attributes,
    }
    if not in_weights:
        tree["scale"] = {"pdo": Decimal(draw(st.sampled_from([10, 20])))}
    return build_scorecard(tree, "card")


@pytest.mark.hypothesis
@examples(12)
@given(cards(), st.sampled_from(["0", "0.01", "0.1", "0.3", "1"]))
def test_every_result_is_fair_as_it_is_written(spec: ScorecardSpec, delta: str) -> None:
    card, made = made_of(spec, delta)
    assert audit(card, delta).verdict == "delta-fair"
    assert audited(plain(card), [float(delta) + 1e-12]).counts == (0,)
    assert scorecards.before_repair(card) == spec
    if made.summary.patterns_before == 0:
        assert card.model_copy(update={"repair": None}) == spec


@pytest.mark.parametrize("spec", [german(), in_points(german(), 50)], ids="wP")
def test_what_is_written_is_fair_by_both_criteria(spec: ScorecardSpec) -> None:
    card, made = made_of(spec, "0.08", also="ratio:0.15")
    assert audited(plain(card), [0.08]).counts == (0,)
    assert audited(plain(card), [0.15], by_ratio=True).counts == (0,)
    assert made.summary.also is not None
    before = audited(plain(spec), [0.15], by_ratio=True)
    assert before.counts == (made.summary.also.patterns_before,)


def test_one_criterion_does_not_give_the_other() -> None:
    alone, _ = made_of(german(), "0.08")
    assert audited(plain(alone), [0.15], by_ratio=True).counts > (0,)


def test_a_card_without_a_population_is_refused() -> None:
    tree = german().model_dump() | {"undisclosed": "missing-bin"}
    with pytest.raises(InputError, match='write "undisclosed": "conforming"'):
        repair(ScorecardSpec.model_validate(tree), "0.1")


def test_without_any_proof_there_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorecards, "_excess", lambda model, criterion, limits: Fraction(1))
    with pytest.raises(RepairError, match="no scorecard could be proved fair as it is written"):
        repair(german(), "0.1")


def test_a_limit_leaves_a_fair_card_and_says_so() -> None:
    card, made = made_of(german(), "0.01", per_round=1, max_rounds=1)
    assert audit(card, "0.01").verdict == "delta-fair"
    assert made.summary.shortfall is not None


def test_the_ratio_criterion() -> None:
    card, _ = made_of(german(), "0.2", criterion="ratio")
    assert audit(german(), "0.2", criterion="ratio").verdict == "not-delta-fair"
    assert audit(card, "0.2", criterion="ratio").verdict == "delta-fair"
