"""Fitted logistic regressions as scorecards: the probabilities stay the same."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.errors import InputError
from auditor.model.building import build_scorecard
from auditor.model.formats.sklearn import dumped, load_skops
from auditor.model.formats.sklearn_logistic import from_logistic, is_logistic, to_logistic
from auditor.model.intervals import Bins
from auditor.model.scorecard import ScorecardSpec

pytest.importorskip("sklearn", reason="needs the extra delta-fair[sklearn]")

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

RANDOM = np.random.default_rng(11)
ROWS = 400
FRAME = pd.DataFrame(
    {
        "job": RANDOM.choice(["clerk", "cook", "smith"], ROWS),
        "home": RANDOM.choice(["own", "rent"], ROWS),
        "age": RANDOM.integers(18, 80, ROWS).astype(float),
        "income": RANDOM.lognormal(8, 1, ROWS).round(2),
        "member": RANDOM.integers(0, 2, ROWS),
    }
)
CHANCE = 0.3 + 0.2 * (FRAME["home"] == "own") + 0.004 * (FRAME["age"] - 40) + 0.1 * FRAME["member"]
Y = np.where(RANDOM.random(ROWS) < CHANCE, "yes", "no")
CATEGORIES, NUMBERS = ["job", "home"], ["age", "income"]

ESTIMATORS: dict[str, tuple[Any, list[str]]] = {
    "alone": (LogisticRegression(), ["member"]),
    "one-hot": (make_pipeline(OneHotEncoder(), LogisticRegression()), CATEGORIES),
    "one-hot without the first": (
        make_pipeline(OneHotEncoder(drop="first"), LogisticRegression()),
        CATEGORIES,
    ),
    "ordinal": (make_pipeline(OrdinalEncoder(), LogisticRegression()), CATEGORIES),
    "bins": (make_pipeline(KBinsDiscretizer(4), LogisticRegression()), NUMBERS),
    "ordinal bins": (
        make_pipeline(KBinsDiscretizer(4, encode="ordinal"), LogisticRegression()),
        NUMBERS,
    ),
    "columns": (
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(drop="if_binary"), CATEGORIES),
                (KBinsDiscretizer(3, encode="onehot-dense"), ["income", "age"]),
                remainder="passthrough",
            ),
            LogisticRegression(C=0.3),
        ),
        [*CATEGORIES, *NUMBERS, "member"],
    ),
    "columns, some dropped": (
        make_pipeline(make_column_transformer((OneHotEncoder(), ["home"])), LogisticRegression()),
        [*CATEGORIES, *NUMBERS],
    ),
}


def chances(spec: ScorecardSpec, frame: pd.DataFrame) -> list[float]:
    """P(favourable | row) by the exact model, every value of which is given the same share."""
    tree = spec.model_dump()
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            value["share"] = None
        attribute["undisclosed"] = attribute["values"][0]["weight"]
    model = ScorecardSpec.model_validate(tree | {"undisclosed": "declared"}).classifier()
    found = []
    for _, row in frame.iterrows():
        z = []
        for i, attribute in enumerate(spec.attributes):
            cell, codes = row[attribute.name], [value.value for value in attribute.values]
            bins = Bins.of(codes)
            v = sum(float(e) <= cell for e in bins.edges) if bins else codes.index(str(cell))
            z.append((i, v))
        found.append(float(model.probability(z)))
    return found


@pytest.mark.parametrize("case", ESTIMATORS)
@pytest.mark.parametrize("favourable", ["yes", "no"])
def test_the_probabilities_are_the_same(case: str, favourable: str, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io", reason="needs the extra delta-fair[sklearn]")
    estimator, columns = ESTIMATORS[case]
    estimator.fit(FRAME[columns], Y)
    path = tmp_path / "model.skops"
    skops.dump(estimator, path)
    loaded = load_skops(path)
    assert is_logistic(loaded)
    spec = from_logistic(
        loaded, sensitive=[columns[-1] if "dropped" not in case else "home"], favourable=favourable
    )
    expected = estimator.predict_proba(FRAME[columns][:60])[:, list(estimator.classes_).index(favourable)]
    assert chances(spec, FRAME[:60]) == pytest.approx(expected.tolist(), abs=1e-12)
    assert spec.provenance is not None
    assert ("taken to hold 0 or 1 only" in (spec.provenance.description or "")) == (case == "alone")


@pytest.mark.parametrize("favourable", ["yes", "no"])
@pytest.mark.parametrize("case", [case for case in ESTIMATORS if case != "alone"])
def test_a_scorecard_goes_to_scikit_learn_and_back(case: str, favourable: str, tmp_path: Path) -> None:
    pytest.importorskip("skops.io", reason="needs the extra delta-fair[sklearn]")
    estimator, columns = ESTIMATORS[case]
    estimator.fit(FRAME[columns], Y)
    protected = [columns[-1] if "dropped" not in case else "home"]
    spec = from_logistic(estimator, sensitive=protected, favourable=favourable)
    pipeline, remarks = to_logistic(spec)
    assert not remarks
    path = tmp_path / "back.skops"
    path.write_bytes(dumped(pipeline))
    loaded: Any = load_skops(path)
    # A column of 0 and 1 has been taken for categories.
    rows = FRAME.astype({"member": str})[[a.name for a in spec.attributes]]
    expected = estimator.predict_proba(FRAME[columns])
    with warnings.catch_warnings(action="error"):
        found = loaded.predict_proba(rows)
        assert loaded.predict(rows).tolist() == estimator.predict(FRAME[columns]).tolist()
    assert found == pytest.approx(expected, abs=1e-12)
    again = from_logistic(loaded, sensitive=protected, favourable=favourable)
    assert [a.labels for a in again.attributes] == [a.labels for a in spec.attributes]
    assert chances(again, FRAME[:60]) == pytest.approx(chances(spec, FRAME[:60]), abs=1e-12)


def test_points_go_to_scikit_learn_with_what_it_cannot_do_said() -> None:
    values = [
        {"value": "(-inf,30]", "points": Decimal(10)},
        {"value": "(30,inf)", "points": Decimal(40)},
        {"value": "missing", "points": Decimal(5), "bin": "missing"},
    ]
    homes = [
        {"value": "own, free", "categories": ["own", "free"], "points": Decimal(25)},
        {"value": "rent", "points": Decimal(-5)},
        {"value": "missing", "points": Decimal(1), "bin": "missing"},
    ]
    spec = build_scorecard(
        {
            "name": "points",
            "decision": {
                "name": "d",
                "favourable": {"value": "0", "label": "good"},
                "unfavourable": {"value": "1", "label": "bad"},
            },
            "scale": {"pdo": Decimal(20), "offset": Decimal(50), "odds": Decimal(3)},
            "intercept": Decimal(7),
            "undisclosed": "missing-bin",
            "attributes": [
                {"name": "age", "sensitive": True, "values": values},
                {"name": "home", "values": homes},
            ],
        },
        "points",
    )
    pipeline, remarks = to_logistic(spec)
    assert remarks == ("age: scikit-learn’s bins refuse missing; rows with it get no answer",)
    ages = {29.5: 10, 30.0: 10, float(np.nextafter(30, 31)): 40, 31.0: 40}
    cells = {"own": 25, "free": 25, "rent": -5, None: 1, float("nan"): 1}
    rows = pd.DataFrame([(a, h) for a in ages for h in cells], columns=["age", "home"]).astype(
        {"home": object}
    )
    expected = [
        odds / (1 + odds)
        for a, age in ages.items()
        for h, home in cells.items()
        for odds in [3 * 2 ** ((7 + age + home - 50) / 20)]
    ]
    assert pipeline.classes_.tolist() == ["0", "1"]
    assert pipeline.predict_proba(rows)[:, 0] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        pipeline.predict(pd.DataFrame({"age": [float("nan")], "home": ["own"]}))
    with pytest.raises(ValueError, match="unknown categories"):
        pipeline.predict(pd.DataFrame({"age": [30.0], "home": ["tent"]}))


def test_ranges_that_leave_numbers_out_are_refused() -> None:
    values = [{"value": value, "weight": Decimal(1), "share": Decimal("0.5")} for value in ("[0,1)", "[2,3)")]
    spec = build_scorecard(
        {
            "name": "gap",
            "decision": {"name": "d", "favourable": "yes", "unfavourable": "no"},
            "attributes": [{"name": "age", "sensitive": True, "values": values}],
        },
        "gap",
    )
    with pytest.raises(InputError, match="leave numbers out"):
        to_logistic(spec)


def test_missing_categories_become_the_bin_of_missing_values() -> None:
    cells = pd.DataFrame({"home": pd.Series(["own", None, "rent", "own"] * 20, dtype=object)})
    estimator = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(cells, [0, 1, 1, 0] * 20)
    spec = from_logistic(estimator, sensitive=["home"])
    assert [value.bin for value in spec.attributes[0].values] == [None, None, "missing"]
    assert spec.taken_as("missing-bin").classifier().attributes[0].values == ("own", "rent")


@pytest.mark.parametrize(
    ("estimator", "columns", "y", "reason"),
    [
        (make_pipeline(StandardScaler(), LogisticRegression()), NUMBERS, Y, "StandardScaler, Logistic"),
        (
            make_pipeline(make_column_transformer((StandardScaler(), NUMBERS)), LogisticRegression()),
            NUMBERS,
            Y,
            'the part "StandardScaler" of a ColumnTransformer',
        ),
        (
            make_pipeline(OneHotEncoder(), LogisticRegression()),
            CATEGORIES,
            RANDOM.integers(0, 3, ROWS),
            "has 3 values",
        ),
        (make_pipeline(OneHotEncoder(max_categories=2), LogisticRegression()), ["job"], Y, "puts rare"),
    ],
    ids=["scaled", "scaled columns", "three classes", "rare categories"],
)
def test_what_cannot_be_taken_apart_is_refused(
    estimator: Any, columns: list[str], y: Any, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        from_logistic(estimator.fit(FRAME[columns], y), sensitive=[columns[0]])


def test_an_estimator_that_is_not_fitted_is_refused() -> None:
    with pytest.raises(InputError, match="LogisticRegression is not fitted"):
        from_logistic(LogisticRegression(), sensitive=["a"])
