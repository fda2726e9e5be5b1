"""PMML scorecards and logistic regressions: what they say is what the scorecard says."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import InputError
from auditor.model.formats.pmml_scorecard import from_pmml_regression, from_pmml_scorecard, to_pmml_scorecard
from auditor.model.formats.xml import Node, parse_xml
from auditor.model.reading import parse_model
from auditor.model.scorecard import Scale, ScorecardSpec
from tests.model.samples import Edit, changed, put, to_json
from tests.model.test_scorecard import AGE, HOUSING, POINTS, in_weights, with_missing_age, without_shares

HEAD = '<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4"><Header/>'

#: As other programs write it: predicates in order, of which the first that holds counts.
SCORECARD = f"""{HEAD}
<DataDictionary>
 <DataField name="age" optype="continuous" dataType="double"/>
 <DataField name="home" optype="categorical" dataType="string"/>
</DataDictionary>
<Scorecard functionName="regression" initialScore="400" useReasonCodes="true" baselineScore="10">
 <MiningSchema/>
 <Characteristics>
  <Characteristic name="ageScore" reasonCode="AGE" baselineScore="18">
   <Attribute partialScore="5"><SimplePredicate field="age" operator="isMissing"/></Attribute>
   <Attribute partialScore="11"><SimplePredicate field="age" operator="lessOrEqual" value="25"/></Attribute>
   <Attribute partialScore="21.5" reasonCode="MID">
    <SimplePredicate field="age" operator="lessOrEqual" value="50.0"/>
   </Attribute>
   <Attribute partialScore="30"><SimplePredicate field="age" operator="greaterThan" value="50"/></Attribute>
  </Characteristic>
  <Characteristic name="homeScore" reasonCode="HOME">
   <Attribute partialScore="40">
    <SimpleSetPredicate field="home" booleanOperator="isIn">
     <Array type="string" n="2">own "for free"</Array>
    </SimpleSetPredicate>
   </Attribute>
   <Attribute partialScore="20"><SimplePredicate field="home" operator="equal" value="rent"/></Attribute>
  </Characteristic>
 </Characteristics>
</Scorecard></PMML>"""

REGRESSION = f"""{HEAD}
<DataDictionary>
 <DataField name="y" optype="categorical" dataType="string"/>
 <DataField name="age" optype="continuous" dataType="double"/>
 <DataField name="home" optype="categorical" dataType="string">
  <Value value="own"/><Value value="rent"/><Value value="free"/>
 </DataField>
 <DataField name="member" optype="ordinal" dataType="integer"><Value value="0"/><Value value="1"/></DataField>
</DataDictionary>
<TransformationDictionary>
 <DerivedField name="age in bins" optype="categorical" dataType="string">
  <Discretize field="age">
   <DiscretizeBin binValue="old"><Interval closure="closedOpen" leftMargin="50"/></DiscretizeBin>
   <DiscretizeBin binValue="young"><Interval closure="openOpen" rightMargin="50"/></DiscretizeBin>
  </Discretize>
 </DerivedField>
</TransformationDictionary>
<RegressionModel functionName="classification" normalizationMethod="logit">
 <MiningSchema><MiningField name="y" usageType="target"/></MiningSchema>
 <RegressionTable targetCategory="good" intercept="0.25">
  <NumericPredictor name="member" coefficient="0.75"/>
  <CategoricalPredictor name="home" value="own" coefficient="0.5"/>
  <CategoricalPredictor name="home" value="rent" coefficient="-0.125"/>
  <CategoricalPredictor name="age in bins" value="old" coefficient="1.5"/>
 </RegressionTable>
 <RegressionTable targetCategory="bad" intercept="0"/>
</RegressionModel></PMML>"""


def root_of(text: str, folder: Path) -> Node:
    path = folder / "model.pmml"
    path.write_text(text, encoding="utf-8")
    return parse_xml(path)


def scorecard(text: str, folder: Path, **given: Any) -> ScorecardSpec:
    options = {"sensitive": ["age"], "favourable": None, "name": "card"} | given
    return from_pmml_scorecard(root_of(text, folder), **options)


def test_a_scorecard_of_another_program(tmp_path: Path) -> None:
    spec = scorecard(SCORECARD, tmp_path, scale=Scale(pdo=Decimal(20), offset=Decimal(450), odds=Decimal(3)))
    age, home = spec.attributes
    assert [(v.value, str(v.points), v.bin) for v in age.values] == [
        ("missing", "5", "missing"),
        ("(-inf,25]", "11", None),
        ("(25,50]", "21.5", None),
        ("(50,inf]", "30", None),
    ]
    assert (str(age.baseline), age.reason_code, age.values[2].reason_code) == ("18", "AGE", "MID")
    assert (home.name, str(home.baseline)) == ("home", "10")
    assert home.values[0].categories == ("own", "for free")
    assert spec.intercept == 400


def test_a_foreign_scorecard_may_count_risk(tmp_path: Path) -> None:
    scale = Scale(pdo=Decimal(20), offset=Decimal(450), odds=Decimal(3))
    text = SCORECARD.replace(
        'useReasonCodes="true"', 'useReasonCodes="true" reasonCodeAlgorithm="pointsAbove"'
    )
    spec = scorecard(text, tmp_path, scale=scale, higher="unfavourable")
    assert (spec.decision.higher, spec.reason_points) == ("unfavourable", "above")
    back = scorecard(to_pmml_scorecard(spec), tmp_path)
    assert (back.decision, back.reason_points, back.attributes) == (spec.decision, "above", spec.attributes)
    with pytest.raises(InputError, match="says itself what its scores speak for"):
        scorecard(to_pmml_scorecard(spec), tmp_path, higher="favourable")


def test_without_a_scale_a_foreign_scorecard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing says how points become odds"):
        scorecard(SCORECARD, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            'field="age" operator="greaterThan" value="50"',
            'field="age" operator="greaterThan" value="60"',
            "leave numbers",
        ),
        ('field="age" operator="greaterThan"', 'field="income" operator="greaterThan"', "from the fields"),
        ('operator="equal" value="rent"', 'operator="notEqual" value="rent"', 'operator "notEqual"'),
        ('partialScore="40"', 'partialScore="many"', '"many" is not a number'),
        ('partialScore="40"', "", '"" is not a number'),
    ],
)
def test_what_cannot_be_read_is_refused(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert old in SCORECARD
    with pytest.raises(InputError, match=reason):
        scorecard(SCORECARD.replace(old, new), tmp_path, scale=Scale(pdo=Decimal(20)))


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [in_weights],
        [without_shares, with_missing_age, put("undisclosed", "missing-bin")],
        [put("decision", "higher", "unfavourable"), put(*AGE, "label", "Age in years")],
        [put(*HOUSING, "values", 0, "categories", ["own", 'the "family" home'])],
        [
            put(*AGE, "reason_code", "R1"),
            put(*AGE, "baseline", 20),
            put(*HOUSING, "values", 0, "reason_code", "R2"),
            put("reason_points", "above"),
        ],
    ],
)
def test_what_is_written_reads_back(edits: list[Edit], tmp_path: Path) -> None:
    spec = parse_model(to_json(changed(POINTS, *edits)), "card.json")
    assert isinstance(spec, ScorecardSpec)
    back = scorecard(to_pmml_scorecard(spec), tmp_path, name=spec.name)
    assert back.classifier() == spec.classifier()
    assert back.attributes == spec.attributes
    assert (back.decision, back.scale) == (spec.decision, spec.scale)
    assert back.reason_points == spec.reason_points


@pytest.mark.parametrize(("favourable", "first"), [(None, "good"), ("good", "good"), ("bad", "bad")])
@pytest.mark.parametrize("method", ["logit", "softmax"])
def test_a_logistic_regression(favourable: str | None, first: str, method: str, tmp_path: Path) -> None:
    text = REGRESSION.replace('"logit"', f'"{method}"')
    if method == "softmax":
        text = text.replace(
            'intercept="0"/>',
            'intercept="0.5"><CategoricalPredictor name="home" value="free" coefficient="2"/>'
            "</RegressionTable>",
        )
    spec = from_pmml_regression(root_of(text, tmp_path), sensitive=["age"], favourable=favourable, name="m")
    assert spec.decision.favourable.value == first
    base, free = (0.25, 0.0) if method == "logit" else (-0.25, -2.0)
    weights: dict[str, dict[str, float]] = {
        "home": {"own": 0.5, "rent": -0.125, "free": free},
        "member": {"0": 0, "1": 0.75},
        "age": {"[-inf,50)": 0, "[50,inf)": 1.5},
    }
    tree = spec.model_dump() | {"undisclosed": "declared"}
    for attribute in tree["attributes"]:
        attribute["undisclosed"] = Decimal(0)
    model = ScorecardSpec.model_validate(tree).classifier()
    for z in product(*(range(len(a.values)) for a in spec.attributes)):
        total = base + sum(
            weights[a.name][a.values[v].value] for a, v in zip(spec.attributes, z, strict=True)
        )
        chance = 1 / (1 + exp(-total))
        found = float(model.probability(tuple(enumerate(z))))
        assert found == pytest.approx(chance if first == "good" else 1 - chance, abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"classification"', '"regression"', "predicts a number"),
        ('"logit"', '"probit"', "must have two"),
        ('coefficient="0.75"', 'coefficient="0.75" exponent="2"', "has an exponent"),
        ('<Value value="0"/><Value value="1"/>', "", "without a list of values"),
        ('intercept="0"/>', 'intercept="1"/>', "must be 0"),
    ],
)
def test_a_regression_that_cannot_be_read_is_refused(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert old in REGRESSION
    with pytest.raises(InputError, match=reason):
        from_pmml_regression(
            root_of(REGRESSION.replace(old, new), tmp_path), sensitive=["age"], favourable=None, name="m"
        )
