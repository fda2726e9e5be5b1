"""Scorecards that go to other formats and come back: no probability moves by more than 1e-12."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from auditor.model.building import build_scorecard
from auditor.model.formats import import_model
from auditor.model.formats.pmml_scorecard import to_pmml_scorecard
from auditor.model.formats.scorecard_tables import to_table
from auditor.model.scorecard import ScorecardSpec
from tests.model.formats.test_pmml_scorecard import REGRESSION

TOLERANCE = Decimal("1e-12")


def card(seed: int, *, scaled: bool, higher: str) -> ScorecardSpec:
    """A card of bins with either end, categories that look like something else, and rare bins."""
    source = random.Random(seed)
    unit = "points" if scaled else "weight"

    def value(text: str, share: str, **more: Any) -> dict[str, Any]:
        number = source.randint(-4000, 4000) / 100 if scaled else source.gauss(0, 1)
        return {"value": text, unit: Decimal(repr(number)), "share": Decimal(share), **more}

    ends = source.choice([("[-inf,30)", "[30,inf)"), ("(-inf,30]", "(30,inf]")])
    tree: dict[str, Any] = {
        "name": "card",
        "decision": {"name": "loan", "favourable": "non-event", "unfavourable": "event", "higher": higher},
        "intercept": Decimal(repr(source.gauss(500, 30) if scaled else source.gauss(0, 1))),
        "attributes": [
            {
                "name": "age",
                "sensitive": True,
                "baseline": Decimal("12.5"),
                "reason_code": "AGE",
                "values": [
                    value(ends[0], "0.25", label="young", reason_code="YOUNG"),
                    value(ends[1], "0.5", label="old"),
                    value("missing", "0.25", bin="missing"),
                ],
            },
            {
                "name": "home",
                "baseline": Decimal(0),
                "reason_code": "HOME",
                "values": [
                    value(
                        "own, or else", "0.125", categories=["own, mortgaged", 'the "family" home', "[1,2)"]
                    ),
                    value("none", "0.125"),
                    value("Special", "0.25"),
                    value("nan", "0.25", label="not a number"),
                    value("any other", "0.25", bin="special"),
                ],
            },
        ],
    }
    if scaled:
        tree["scale"] = {"pdo": Decimal("28.85"), "offset": Decimal(600), "odds": Decimal("19.5")}
    return build_scorecard(tree, "card")


CARDS = [
    card(seed, scaled=scaled, higher=higher)
    for seed, (scaled, higher) in enumerate(product([True, False], ["favourable", "unfavourable"]))
]


def as_table(spec: ScorecardSpec, folder: Path) -> ScorecardSpec:
    path = folder / "card.csv"
    path.write_text(to_table(spec), encoding="utf-8")
    given: dict[str, Any] = {"higher": spec.decision.higher} if spec.scale else {}
    found = import_model(path, sensitive=["age"], scale=spec.scale, **given)
    assert isinstance(found, ScorecardSpec)
    return found


def as_pmml(spec: ScorecardSpec, folder: Path) -> ScorecardSpec:
    path = folder / "card.pmml"
    path.write_text(to_pmml_scorecard(spec), encoding="utf-8")
    found = import_model(path, sensitive=["age"])
    assert isinstance(found, ScorecardSpec)
    return found


def as_skops(spec: ScorecardSpec, folder: Path) -> ScorecardSpec:
    pytest.importorskip("skops.io", reason="needs the extra delta-fair[sklearn]")
    from auditor.model.formats.sklearn import dumped
    from auditor.model.formats.sklearn_logistic import to_logistic

    pipeline, _ = to_logistic(spec)
    (folder / "card.skops").write_bytes(dumped(pipeline))
    found = import_model(folder / "card.skops", sensitive=["age"], favourable=spec.decision.favourable.value)
    assert isinstance(found, ScorecardSpec)
    return found


def cells(spec: ScorecardSpec) -> Iterator[tuple[tuple[str, ...], Decimal]]:
    """The cells of data for which a card has probabilities, and these."""
    tree = spec.model_dump() | {"undisclosed": "declared"}
    for attribute in tree["attributes"]:
        attribute["undisclosed"] = Decimal(0)
    model = ScorecardSpec.model_validate(tree).scored()
    options = []
    for attribute in spec.attributes:
        options.append(
            [
                ("missing" if value.bin == "missing" else cell, v)
                for v, value in enumerate(attribute.values)
                for cell in value.categories or (value.value,)
            ]
        )
    for z in product(*options):
        yield tuple(cell for cell, _ in z), model.probability(tuple(enumerate(v for _, v in z)))


@pytest.mark.parametrize("way", [as_table, as_pmml, as_skops])
def test_no_probability_moves(way: Callable[[ScorecardSpec, Path], ScorecardSpec], tmp_path: Path) -> None:
    for spec in CARDS:
        ours, theirs = dict(cells(spec)), dict(cells(way(spec, tmp_path)))
        assert len(ours) == 3 * 7
        if way is as_skops:
            # Bins of scikit-learn take no missing numbers, and begin with their lower end: the next float.
            ends = {"(-inf,30]": "[-inf,30.000000000000004)", "(30,inf]": "[30.000000000000004,inf)"}
            ours = {(ends.get(age, age), home): p for (age, home), p in ours.items() if age != "missing"}
        assert theirs.keys() == ours.keys()
        assert all(abs(theirs[z] - p) <= TOLERANCE for z, p in ours.items())


def test_pmml_keeps_all_that_an_adverse_decision_cites(tmp_path: Path) -> None:
    for spec in CARDS:
        back = as_pmml(spec, tmp_path)
        assert back.attributes == spec.attributes
        assert (back.decision, back.scale, back.intercept) == (spec.decision, spec.scale, spec.intercept)


def test_a_regression_of_pmml_goes_to_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "model.pmml").write_text(REGRESSION, encoding="utf-8")
    spec = import_model(tmp_path / "model.pmml", sensitive=["age"])
    assert isinstance(spec, ScorecardSpec)
    ours = dict(cells(spec))
    for way in (as_table, as_pmml, as_skops):
        theirs = dict(cells(way(spec, tmp_path)))
        assert theirs.keys() == ours.keys()
        assert all(abs(theirs[z] - p) <= TOLERANCE for z, p in ours.items())
