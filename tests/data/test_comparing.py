"""What data show beside a model, against counts by hand and fairlearn."""

from __future__ import annotations

import csv
import json
import random
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import sqrt
from pathlib import Path

import pytest

from auditor.data import duck
from auditor.data.scoring import wilson
from auditor.documents.data import DataEvidence, Observed
from auditor.errors import InputError
from auditor.model.building import build
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.usecases import auditing

RANDOM = random.Random(5)


def made(**changed: object) -> ModelSpec:
    """A model with a code and a label, bins, and a prior that makes ties possible."""
    tree: dict[str, object] = {
        "name": "Credit",
        "decision": {
            "name": "credit",
            "favourable": {"value": "good|fair", "label": "good or fair"},
            "unfavourable": "bad",
            "prior": Decimal("0.5"),
        },
        "attributes": [
            {
                "name": "sex",
                "sensitive": True,
                "values": ["m", {"value": "1", "label": "f"}],
                "likelihood": {
                    "favourable": [Decimal("0.6"), Decimal("0.4")],
                    "unfavourable": [Decimal("0.4"), Decimal("0.6")],
                },
            },
            {
                "name": "age",
                "sensitive": True,
                "values": [{"value": "[-inf,30)", "label": "young"}, {"value": "[30,inf)", "label": "old"}],
                "likelihood": {
                    "favourable": [Decimal("0.4"), Decimal("0.6")],
                    "unfavourable": [Decimal("0.6"), Decimal("0.4")],
                },
            },
            {
                "name": "job",
                "values": ["yes", "no"],
                "likelihood": {
                    "favourable": [Decimal("0.9"), Decimal("0.1")],
                    "unfavourable": [Decimal("0.5"), Decimal("0.5")],
                },
            },
        ],
        **changed,
    }
    return build(tree, "test")


MODEL = made()
EXACT = MODEL.naive_bayes()
ROWS = [
    {
        "credit": RANDOM.choice(["good", "fair", "bad", "bad"]),
        "sex": RANDOM.choice(["m", "1", "f", ""]),
        "age": RANDOM.choice(["17", "29.5", "30", "64", "old"]),
        "job": RANDOM.choice(["yes", "yes", "no", "other"]),
    }
    for _ in range(500)
] + [
    {"credit": "", "sex": "m", "age": "30", "job": "no"},
    {"credit": "?!", "sex": "m", "age": "30", "job": "no"},
]


def compared(
    path: Path, rows: list[dict[str, str]], model: ModelSpec = MODEL, min_group: int = 30
) -> DataEvidence:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    document = auditing.audit(model, "0.05", top=5)
    data = auditing.with_data(document, model, path, min_group=min_group).data
    assert data is not None
    return data


def places(row: dict[str, str]) -> dict[str, int | None]:
    """Value indices as the model has them, None where nothing is known."""
    return {
        "sex": {"m": 0, "1": 1, "f": 1}.get(row["sex"]),
        "age": 1 if row["age"] == "old" else int(float(row["age"]) >= 30),
        "job": {"yes": 0, "no": 1}.get(row["job"]),
    }


def selects(row: dict[str, str]) -> bool:
    known = places(row)
    values = [(i, v) for i, a in enumerate(MODEL.attributes) if (v := known[a.name]) is not None]
    good, bad = EXACT.joint(values)
    return good > bad


def share(found: Observed) -> tuple[int, int]:
    return found.count, found.people


@pytest.mark.parametrize("times", [1, 3])
def test_counts_are_those_by_hand(times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "_PIECE", 100 // times)
    rows = ROWS * times
    data = compared(tmp_path / "d.csv", rows)
    people = [row for row in rows if row["credit"] not in ("", "?!")]
    assert (data.people, data.undecided, data.other_decision) == (len(people), times, times)
    assert data.missing == {"sex": sum(row["sex"] == "" for row in people)}
    assert data.unknown == {"job": sum(row["job"] == "other" for row in people)}
    assert share(data.accuracy) == (sum(selects(r) == (r["credit"] != "bad") for r in people), len(people))
    # P is exactly 1/2 for men who are young, of whom nothing else is known.
    assert any(places(r) == {"sex": 0, "age": 0, "job": None} for r in people)
    assert share(data.selected) == (sum(map(selects, people)), len(people))
    names = [(a.name, v, a.labels[v]) for a in MODEL.attributes[:2] for v in range(2)]
    pairs = product(names[:2], names[2:])
    for group, wanted in zip(data.groups, [*((n,) for n in names), *pairs], strict=True):
        assert group.values == {name: label for name, _, label in wanted}
        inside = [r for r in people if all(places(r)[name] == v for name, v, _ in wanted)]
        assert group.people == len(inside)
        assert share(group.selected) == (sum(map(selects, inside)), len(inside))
        assert share(group.favourable) == (sum(r["credit"] != "bad" for r in inside), len(inside))
        assert share(group.accuracy) == (
            sum(selects(r) == (r["credit"] != "bad") for r in inside),
            len(inside),
        )
    for pattern in data.patterns:
        values = pattern.sensitive_values | pattern.context_values
        parts = [(a.name, a.labels.index(values[a.name])) for a in MODEL.attributes if a.name in values]
        known = [r for r in people if all(places(r)[name] is not None for name, _ in parts)]
        inside = [r for r in known if all(places(r)[name] == v for name, v in parts)]
        assert share(pattern.occurs) == (len(inside), len(known))
        assert share(pattern.observed_given_pattern) == (
            sum(r["credit"] != "bad" for r in inside),
            len(inside),
        )
    assert "worst" in data.patterns[0].lists
    assert any("minimal" in pattern.lists for pattern in data.patterns)


def test_rates_are_those_of_fairlearn(tmp_path: Path) -> None:
    metrics = pytest.importorskip("fairlearn.metrics", reason="fairlearn checks our metrics")
    accuracy = pytest.importorskip("sklearn.metrics").accuracy_score
    data = compared(tmp_path / "d.csv", ROWS)
    people = [row for row in ROWS if row["credit"] not in ("", "?!") and row["sex"]]
    frame = metrics.MetricFrame(
        metrics={"selected": metrics.selection_rate, "accuracy": accuracy},
        y_true=[row["credit"] != "bad" for row in people],
        y_pred=[selects(row) for row in people],
        sensitive_features=["m" if row["sex"] == "m" else "f" for row in people],
    )
    men, women = data.groups[:2]
    for group, name in ((men, "m"), (women, "f")):
        assert group.selected.share == pytest.approx(frame.by_group.loc[name, "selected"])
        assert group.accuracy.share == pytest.approx(frame.by_group.loc[name, "accuracy"])
    ratios = [group.impact_ratio for group in (men, women)]
    assert min(r for r in ratios if r is not None) == pytest.approx(frame.ratio()["selected"])
    assert max(r for r in ratios if r is not None) == 1


@pytest.mark.parametrize(("count", "people"), [(0, 10), (10, 10), (3, 7), (500, 1000), (1, 1)])
def test_wilson_ends_are_where_the_share_is_z_standard_errors_away(count: int, people: int) -> None:
    low, high = wilson(count, people)
    for end in (low, high):
        if 0 < end < 1:
            away = abs(count / people - end) / sqrt(end * (1 - end) / people)
            assert away == pytest.approx(1.959963984540054)
    assert low <= count / people <= high


def test_an_impact_ratio_of_exactly_four_fifths_is_not_below(tmp_path: Path) -> None:
    # 20 of 30 over 25 of 30, which is below 0.8 if each is rounded before.
    assert (20 / 30) / (25 / 30) < 0.8
    rows = [
        {"credit": "good", "sex": sex, "age": age, "job": job}
        for sex, selected in (("m", 25), ("f", 20))
        for age, job, people in (("64", "yes", selected), ("20", "no", 30 - selected))
        for _ in range(people)
    ]
    data = compared(tmp_path / "d.csv", rows)
    assert [group.impact_ratio for group in data.groups[:2]] == [1, 0.8]


def test_small_groups_set_no_standard(tmp_path: Path) -> None:
    rows = [{"credit": "good", "sex": "m", "age": "20", "job": "no"}] * 40
    rows += [{"credit": "good", "sex": "f", "age": "64", "job": "yes"}] * 5
    rows += [{"credit": "bad", "sex": "m", "age": "64", "job": "yes"}] * 10
    data = compared(tmp_path / "d.csv", rows)
    men, women = data.groups[:2]
    assert (men.small, women.small) == (False, True)
    assert men.impact_ratio == 1
    assert women.impact_ratio == pytest.approx(1 / (10 / 50))
    nobody = data.groups[6]
    assert nobody.people == 0
    assert (nobody.selected.share, nobody.impact_ratio) == (None, None)
    everybody = compared(tmp_path / "d.csv", rows, min_group=1)
    assert everybody.groups[1].impact_ratio == 1


def test_people_that_the_model_rules_out(tmp_path: Path) -> None:
    likelihood = {"favourable": [Decimal(1), Decimal(0)], "unfavourable": [Decimal(0), Decimal(1)]}
    model = made(
        attributes=[
            {"name": "s", "sensitive": True, "values": ["a", "b"], "likelihood": likelihood},
            {"name": "t", "values": ["a", "b"], "likelihood": likelihood},
        ]
    )
    rows = [
        {"credit": c, "s": s, "t": t}
        for c, s, t in (("good", "a", "a"), ("bad", "b", "b"), ("bad", "a", "b"))
    ]
    data = compared(tmp_path / "d.csv", rows, model)
    assert data.impossible == 1
    assert share(data.accuracy) == (2, 2)


def test_data_that_tell_nothing(tmp_path: Path) -> None:
    row = {"credit": "good", "sex": "x", "age": "64", "job": "yes"}
    for changed, reason in (
        ({}, 'column "sex" has none of the model\'s values'),
        ({"credit": "excellent"}, 'neither "good|fair" nor "bad"; it has "excellent"'),
        ({"credit": ""}, "it has no rows with a decision"),
    ):
        with pytest.raises(InputError) as caught:
            compared(tmp_path / "d.csv", [row | changed])
        assert reason in str(caught.value)
    with pytest.raises(InputError) as caught:
        compared(tmp_path / "d.csv", [{"sex": "m", "jobs": "yes"}])
    assert len(caught.value.problems) == 3
    assert 'did you mean "jobs"?' in str(caught.value)


def test_tiny_probabilities_are_no_zeros(tmp_path: Path) -> None:
    tiny = Decimal("1e-390")
    model = made(
        attributes=[
            {
                "name": "s",
                "sensitive": True,
                "values": ["a", "b"],
                "likelihood": {"favourable": [tiny, Decimal(1)], "unfavourable": [Decimal(0), Decimal(1)]},
            }
        ]
    )
    assert model.naive_bayes().attributes[0].likelihood[0][0] > Fraction(0)
    data = compared(tmp_path / "d.csv", [{"credit": "good", "s": "a"}], model)
    assert share(data.selected) == (1, 1)


@pytest.mark.parametrize("cutoff", ["0.5", "0.3", "0.6", "0", "1"])
def test_error_rates_by_group_at_a_cutoff(cutoff: str, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    compared(path, ROWS)
    document = auditing.with_data(auditing.audit(MODEL, "0.05"), MODEL, path, cutoff=cutoff)
    data = document.data
    assert data is not None
    assert data.cutoff == cutoff

    def chosen(row: dict[str, str]) -> bool:
        known = places(row)
        values = [(i, v) for i, a in enumerate(MODEL.attributes) if (v := known[a.name]) is not None]
        good, bad = EXACT.joint(values)
        return good / (good + bad) > Fraction(cutoff)

    people = [row for row in ROWS if row["credit"] not in ("", "?!")]
    men = [row for row in people if places(row)["sex"] == 0]
    for found, inside in ((data, people), (data.groups[0], men)):
        deserving = [row for row in inside if row["credit"] != "bad"]
        others = [row for row in inside if row["credit"] == "bad"]
        assert found.true_positive_rate is not None
        assert found.false_positive_rate is not None
        assert share(found.true_positive_rate) == (sum(map(chosen, deserving)), len(deserving))
        assert share(found.false_positive_rate) == (sum(map(chosen, others)), len(others))
        assert share(found.selected) == (sum(map(chosen, inside)), len(inside))


def test_a_probability_of_exactly_the_cutoff_selects_nobody(tmp_path: Path) -> None:
    third = {"favourable": [Decimal("0.2"), Decimal("0.8")], "unfavourable": [Decimal("0.4"), Decimal("0.6")]}
    model = made(attributes=[{"name": "s", "sensitive": True, "values": ["a", "b"], "likelihood": third}])
    path = tmp_path / "d.csv"
    path.write_text("credit,s\ngood,a\nbad,b\n")
    for cutoff, selected in (("0.33333333333333333333", 2), ("0.33333333333333333334", 1), ("0.6", 0)):
        data = auditing.with_data(auditing.audit(model, "0.05"), model, path, cutoff=cutoff).data
        assert data is not None
        assert data.selected.count == selected


def test_one_encoder_for_audits_and_repairs(tmp_path: Path) -> None:
    """Labels, unknown values, missing cells, blanks and names of columns mean the same to both."""
    path = tmp_path / "d.csv"
    path.write_text(
        "Credit_,SEX, Age ,job\ngood or fair,f,young,yes\nfair, m\u00a0,31,perhaps\nbad,?,old,no\n"
    )
    counts = {"favourable": [Decimal(6), Decimal(4)], "unfavourable": [Decimal(4), Decimal(6)]}
    attributes = [
        {**a, "counts": counts, "likelihood": None} for a in json.loads(dump_model(MODEL))["attributes"]
    ]
    for attribute in attributes:
        del attribute["likelihood"]
    decision = {
        "name": "credit",
        "favourable": {"value": "good|fair", "label": "good or fair"},
        "unfavourable": "bad",
        "counts": {"favourable": Decimal(10), "unfavourable": Decimal(10)},
    }
    model = made(attributes=attributes, decision=decision)
    data = auditing.with_data(auditing.audit(model, "0.1"), model, path).data
    repaired = auditing.repair(model, "0.1", data=path).summary.performance
    assert data is not None
    assert repaired is not None
    assert (data.people, repaired.rows) == (3, 3)
    assert data.unknown == repaired.unknown == {"job": 1}
    assert data.missing == {"sex": 1}


def test_a_value_of_the_model_is_one_whatever_marks_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("credit,s\ngood,NA\nbad,b\nbad,nan\n")
    row = {"favourable": [Decimal("0.2"), Decimal("0.8")], "unfavourable": [Decimal("0.4"), Decimal("0.6")]}
    model = made(attributes=[{"name": "s", "sensitive": True, "values": ["NA", "b"], "likelihood": row}])
    data = auditing.with_data(auditing.audit(model, "0.05"), model, path).data
    assert data is not None
    assert (data.missing, [group.people for group in data.groups]) == ({"s": 1}, [1, 1])
