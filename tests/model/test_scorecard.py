"""The specification of a scorecard: what it accepts, what it refuses, and the exact model that it means."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

from auditor.documents.schemas import schemas
from auditor.errors import InputError
from auditor.model.reading import load_model, parse_model
from auditor.model.scorecard import ScorecardSpec
from auditor.model.writing import dump_model
from auditor.resources import resource
from tests.model.samples import Edit, as_written, changed, drop, put, to_json

POINTS: Mapping[str, Any] = {
    "kind": "auditor/scorecard",
    "version": 1,
    "name": "Loans",
    "decision": {"name": "loan", "favourable": "good", "unfavourable": "bad"},
    "scale": {"pdo": 20, "offset": 600, "odds": 50},
    "intercept": 500,
    "attributes": [
        {
            "name": "age",
            "sensitive": True,
            "values": [
                {"value": "[-inf,30)", "label": "under 30", "points": 11, "share": 0.3},
                {"value": "[30,inf)", "label": "30 or over", "points": 31, "share": 0.7},
            ],
        },
        {
            "name": "housing",
            "values": [
                {"value": "own", "points": 40, "share": 0.6},
                {"value": "rent", "points": 20.5, "share": 0.4},
                {"value": "missing", "points": 30, "share": 0, "bin": "missing"},
            ],
        },
    ],
}
AGE, HOUSING = ("attributes", 0), ("attributes", 1)


def without_shares(tree: dict[str, Any]) -> None:
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            del value["share"]


def with_missing_age(tree: dict[str, Any]) -> None:
    tree["attributes"][0]["values"].append({"value": "?", "points": 15, "bin": "missing"})


def spec_of(*edits: Edit) -> ScorecardSpec:
    spec = parse_model(to_json(changed(POINTS, *edits)), "card.json")
    assert isinstance(spec, ScorecardSpec)
    return spec


def in_weights(tree: dict[str, Any]) -> None:
    del tree["scale"]
    tree["intercept"] = as_written("-1.25")
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            points = Decimal(str(value.pop("points")))
            value["weight"] = as_written(str(points * Decimal("0.04")))


REFUSED: Mapping[str, tuple[list[Edit], list[str]]] = {
    "no attributes": (
        [put("attributes", [])],
        ["attributes: is empty; give at least one attribute, and mark the sensitive ones"],
    ),
    "no values": (
        [put(*HOUSING, "values", [])],
        ["attributes[1] (housing): values: no values are given; an attribute has at least one"],
    ),
    "a weight on a scale": (
        [put(*HOUSING, "values", 1, "weight", 1), drop(*AGE, "values", 0, "points")],
        [
            'attributes[0] (age): values[0]: "points" is missing; add it',
            'attributes[1] (housing): values[1]: has "weight", and the scorecard has a "scale"; '
            'give "points"',
        ],
    ),
    "points without a scale": (
        [drop("scale"), drop("attributes", 1)],
        [
            'attributes[0] (age): values[0]: has "points", and the scorecard has no "scale"; give "weight"',
            'attributes[0] (age): values[1]: has "points", and the scorecard has no "scale"; give "weight"',
        ],
    ),
    "no points to double the odds": (
        [put("scale", "pdo", 0)],
        ["scale.pdo: 0 is not above 0; write a positive number"],
    ),
    "points beyond any": (
        [put(*AGE, "values", 0, "points", 10**7)],
        ["attributes[0] (age): values[0].points: 10000000 is beyond ±1,000,000; write a smaller number"],
    ),
    "shares in per cent": (
        [put(*AGE, "values", 0, "share", 0.03)],
        ["attributes[0] (age): values: the shares sum to 0.73 instead of 1; correct them"],
    ),
    "a share is left out": (
        [drop(*AGE, "values", 0, "share")],
        ['attributes[0] (age): values[0]: "share" is missing; give all or none of an attribute'],
    ),
    "shares of one attribute only": (
        [drop(*AGE, "values", 0, "share"), drop(*AGE, "values", 1, "share")],
        ['attributes[0] (age): "share" is missing at every value; add the shares of the population'],
    ),
    "no missing bin": (
        [put("undisclosed", "missing-bin")],
        [
            'attributes[0] (age): values: no value has "bin": "missing", which stands for what isn\'t '
            "disclosed; mark one"
        ],
    ),
    "not declared": (
        [put("undisclosed", "declared"), put(*AGE, "undisclosed", 20)],
        ['attributes[1] (housing): "undisclosed" is missing; add its points where it isn\'t disclosed'],
    ),
    "two bins of missing values": (
        [put(*HOUSING, "values", 1, "bin", "missing")],
        ["attributes[1] (housing): values[2]: is a bin of missing values like values[1]; give one"],
    ),
    "declared and conforming differ": (
        [put(*AGE, "undisclosed", 20), put(*HOUSING, "undisclosed", as_written("30.87225707567698679142"))],
        [
            "attributes[0] (age): undisclosed: 20 differs from the conforming population, which has "
            '23.74139367581532477301; leave it out, or write "undisclosed": "declared" above'
        ],
    ),
    "values repeated": (
        [put(*HOUSING, "values", 1, "value", "own")],
        [
            'attributes[1] (housing): values[1]: "own" is the label of values[0] too; labels must differ',
        ],
    ),
    "a category of two values": (
        [
            put(*HOUSING, "values", 0, "categories", ["own", "free"]),
            put(*HOUSING, "values", 1, "categories", ["rent", "free"]),
        ],
        ['attributes[1] (housing): values[1]: holds "free" like values[0]; let one have it'],
    ),
    "the name of another": (
        [put(*HOUSING, "name", "age")],
        ["attributes[1] (age): has the name of attributes[0] too; give each its own"],
    ),
    "a word that isn't known": (
        [put("decision", "higher", "good")],
        ['decision.higher: "good" is not known; write "favourable" or "unfavourable"'],
    ),
}


@pytest.mark.parametrize(("edits", "lines"), REFUSED.values(), ids=list(REFUSED))
def test_each_malformed_scorecard_is_explained(edits: list[Edit], lines: list[str]) -> None:
    with pytest.raises(InputError) as error:
        spec_of(*edits)
    assert [line.removeprefix("card.json: ") for line in error.value.problems] == lines


def test_without_a_meaning_there_is_no_model() -> None:
    spec = spec_of(without_shares, with_missing_age)
    with pytest.raises(InputError, match="Loans: nothing says what an attribute counts that isn't disclosed"):
        spec.classifier()
    assert spec.taken_as("missing-bin").classifier().undisclosed == "missing-bin"
    with pytest.raises(InputError, match='"share" is missing at every value'):
        spec.taken_as("conforming")


def test_none_sensitive_says_what_to_do_instead() -> None:
    with pytest.raises(
        InputError, match="this question finds nothing: to audit its decisions, learn a model"
    ):
        spec_of(put(*AGE, "sensitive", False))


def test_all_problems_come_at_once() -> None:
    with pytest.raises(InputError) as error:
        spec_of(put("scale", "pdo", -1), drop(*AGE, "name"), put(*HOUSING, "values", 0, "share", 2))
    assert len(error.value.problems) == 3


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_is_written_reads_back(form: Literal["json", "yaml"]) -> None:
    for edits in ([], [in_weights], [without_shares, with_missing_age, put("undisclosed", "missing-bin")]):
        spec = spec_of(*edits)
        assert parse_model(dump_model(spec, form).encode(), f"card.{form}") == spec


def test_the_schema_is_up_to_date_and_accepts_the_sample() -> None:
    text = schemas()["scorecard"]
    assert resource("schemas", "scorecard.json").read_text(encoding="utf-8") == text
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(POINTS, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(POINTS, drop(*AGE, "values", 0, "points")), schema)


def test_every_complete_score_has_the_odds_of_its_scale() -> None:
    model = spec_of().classifier()
    assert model.base == "2"
    for (i, age), (j, housing) in product(enumerate((11, 31)), enumerate((40, 20.5))):
        odds = 50 * 2 ** ((500 + age + housing - 600) / 20)
        assert float(model.probability(((0, i), (1, j)))) == pytest.approx(odds / (1 + odds), rel=1e-15)


def test_points_that_speak_against() -> None:
    model = spec_of(put("decision", "higher", "unfavourable")).classifier()
    odds = 50 * 2 ** ((500 + 31 + 40 - 600) / 20)
    assert float(model.probability(((0, 1), (1, 0)))) == pytest.approx(1 / (1 + odds), rel=1e-15)


def test_weights_and_points_of_the_same_card_agree() -> None:
    def scaled(tree: dict[str, Any]) -> None:
        del tree["scale"]
        nats = log(2) / 20
        tree["intercept"] = as_written(repr((500 - 600) * nats + log(50)))
        for attribute in tree["attributes"]:
            for value in attribute["values"]:
                value["weight"] = as_written(repr(float(value.pop("points")) * nats))

    points, weights = spec_of().classifier(), spec_of(scaled).classifier()
    for y in ((), ((0, 0),), ((1, 1),), ((0, 1), (1, 0))):
        assert float(points.probability(y)) == pytest.approx(float(weights.probability(y)), rel=1e-13)


def test_the_conforming_population_has_the_shares_of_the_card() -> None:
    for edits in ([], [in_weights], [put("decision", "higher", "unfavourable")]):
        model = spec_of(*edits).classifier()
        assert model.unfavourable_share is not None
        assert abs(1 - model.unfavourable_share - Fraction(model.probability())) < Fraction(1, 10**29)
        for i, shares in enumerate(((0.3, 0.7), (0.6, 0.4))):
            population = model.attributes[i].population
            assert population is not None
            for v, share in enumerate(shares):
                p = float(model.probability(((i, v),)))
                # P(v) = P(v, d̄) / P(d̄ | v)
                assert float(model.unfavourable_share * population[v]) / (1 - p) == pytest.approx(share)


def test_what_next_to_everybody_has_is_had_by_no_more_than_everybody() -> None:
    """Where hardly anybody is unfavourable, the last digits of a number undisclosed count for much."""
    numbers = [put(*HOUSING, "values", v, "points", points) for v, points in enumerate((2000, 0))]
    shares = [put(*HOUSING, "values", v, "share", share) for v, share in enumerate((0.95, 0.05))]
    model = spec_of(*numbers, *shares).classifier()
    given = [share for attribute in model.attributes for share in attribute.population or ()]
    assert max(given) == 1


def test_the_bin_of_missing_values_stands_for_what_is_not_disclosed() -> None:
    spec = spec_of(without_shares, with_missing_age, put("undisclosed", "missing-bin"))
    model = spec.classifier()
    assert spec.imputed() == (Decimal(15), Decimal(30))
    assert [a.values for a in model.attributes] == [("under 30", "30 or over"), ("own", "rent")]
    assert model.unfavourable_share is None
    odds = 50 * 2 ** ((500 + 15 + 30 - 600) / 20)
    assert float(model.probability()) == pytest.approx(odds / (1 + odds), rel=1e-15)


def test_the_deployed_card_scores_also_what_nobody_in_the_population_has() -> None:
    spec = spec_of(put(*HOUSING, "values", 0, "share", 1), put(*HOUSING, "values", 1, "share", 0))
    assert spec.classifier().attributes[1].values == ("own",)
    with_missing = spec_of(without_shares, with_missing_age, put(*HOUSING, "values", 1, "share", 0),
        put(*HOUSING, "values", 0, "share", 1), put(*HOUSING, "values", 2, "share", 0),
        put("undisclosed", "missing-bin"))  # fmt: skip
    assert with_missing.classifier().attributes[1].values == ("own", "rent")


def test_declared_numbers_are_taken_as_written() -> None:
    spec = spec_of(
        without_shares, put(*AGE, "undisclosed", as_written("20.10")), put(*HOUSING, "undisclosed", 33)
    )
    assert spec.meaning == "declared"
    assert spec.classifier().attributes[0].undisclosed == Fraction("20.10") / 20


def test_an_attribute_of_one_value_changes_nothing() -> None:
    def alone(tree: dict[str, Any]) -> None:
        tree["attributes"][0]["values"] = [{"value": "any", "points": 7.3, "share": 1}]

    spec = spec_of(alone)
    assert spec.imputed()[0] == Decimal("7.3")
    model = spec.classifier()
    assert model.exponent(((0, 0),)) == model.exponent()


def test_the_digest_is_that_of_the_meaning() -> None:
    digest = spec_of().classifier().sha256()
    assert spec_of(put("name", "other")).classifier().sha256() == digest
    assert spec_of(put(*AGE, "values", 0, "points", as_written("11.0"))).classifier().sha256() == digest
    assert spec_of(put(*AGE, "values", 0, "points", as_written("11.1"))).classifier().sha256() != digest
    assert spec_of(put(*HOUSING, "sensitive", True)).classifier().sha256() != digest


def test_a_scorecard_is_read_by_the_one_door(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(to_json(copy.deepcopy(POINTS)))
    assert load_model(path) == spec_of()


def test_exponents_of_weights_are_nats() -> None:
    model = spec_of(in_weights).classifier()
    total = -1.25 + 0.04 * (11 + 40)
    assert float(model.probability(((0, 0), (1, 0)))) == pytest.approx(1 / (1 + exp(-total)), rel=1e-15)


def test_a_rare_decision_keeps_its_digits() -> None:
    model = spec_of(put("intercept", 5000)).classifier()
    odds = model.odds * 2 ** Fraction(model.exponent())
    assert model.unfavourable_share == pytest.approx(1 / odds, rel=1e-12)
    favourable, unfavourable = model.joint([(0, 0)])
    assert float(favourable + unfavourable) == pytest.approx(0.3)


def test_joint_probabilities_have_the_digits_of_probabilities() -> None:
    model = spec_of().classifier()
    favourable, unfavourable = model.joint([(0, 0)])
    known = Fraction(model.probability([(0, 0)], digits=45))
    assert abs(favourable / (favourable + unfavourable) - known) < Fraction(1, 10**38)


def test_a_decision_too_rare_to_be_written_is_refused() -> None:
    with pytest.raises(InputError, match="numbers so large"):
        spec_of(put("intercept", 900_000)).classifier()


@pytest.mark.parametrize("pdo", [1e-3, 1e-5, 1e-30])
def test_odds_too_large_to_be_worked_out_are_refused(pdo: float) -> None:
    """Numbers may add up to a million times the points that double the odds."""
    spec = spec_of(
        put(*AGE, "undisclosed", 20),
        put(*HOUSING, "undisclosed", 30),
        put("scale", "pdo", pdo),
        put("scale", "offset", 500),
        put("undisclosed", "declared"),
    )
    if pdo == 1e-3:
        assert spec.classifier().attributes[0].weights[0] == 11_000
        return
    with pytest.raises(InputError, match="are they on the scale"):
        spec.classifier()
