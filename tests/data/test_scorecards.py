"""Scorecards held against data: rows are scored through bins, as the deployed card scores them."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping
from decimal import Decimal
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from auditor.data.shares import with_shares
from auditor.data.tables import open_table
from auditor.errors import InputError
from auditor.model.building import build_scorecard
from auditor.model.scorecard import ScorecardSpec
from auditor.usecases.auditing import audit, repair, with_data

#: What a cell counts in a card of points: sex, age (bins of numbers, and missing) and work (categories).
SEX = {"f": 20, "m": 35}
WORK = {"office": 30, "shop": 30, "field": 5}


def card(higher: str = "favourable", undisclosed: str = "conforming") -> ScorecardSpec:
    def value(name: str, points: int, share: str, **more: Any) -> Mapping[str, Any]:
        return {"value": name, "points": Decimal(points), "share": Decimal(share), **more}

    tree: dict[str, Any] = {
        "name": "Loans",
        "decision": {
            "name": "paid",
            "favourable": {"value": "1", "label": "yes"},
            "unfavourable": {"value": "0", "label": "no"},
            "higher": higher,
        },
        "scale": {"pdo": Decimal(20), "offset": Decimal(600), "odds": Decimal(2)},
        "intercept": Decimal(520),
        "undisclosed": undisclosed,
        "attributes": [
            {"name": "sex", "sensitive": True, "values": [value("f", 20, "0.5"), value("m", 35, "0.5")]},
            {
                "name": "age",
                "sensitive": True,
                "values": [
                    value("[-inf,30)", 10, "0.4", label="under 30"),
                    value("[30,inf)", 40, "0.6", label="30 or over"),
                    value("missing", 0, "0", bin="missing"),
                ],
            },
            {
                "name": "work",
                "values": [
                    value("office, shop", 30, "0.7", categories=["office", "shop"]),
                    value("field", 5, "0.3"),
                ],
            },
        ],
    }
    if undisclosed == "declared":
        for attribute in tree["attributes"]:
            attribute["undisclosed"] = Decimal(12)
    return build_scorecard(tree, "Loans")


def people() -> list[dict[str, str]]:
    source = random.Random(5)
    return [
        {
            "sex": source.choice("fm"),
            "age": source.choice(["", "18", "29.9", "30", "64"]),
            "work": source.choice([*WORK]),
            "paid": source.choice("011"),
        }
        for _ in range(400)
    ]


def score(row: Mapping[str, str]) -> int:
    age = 0 if not row["age"] else 10 if float(row["age"]) < 30 else 40
    return 520 + SEX[row["sex"]] + age + WORK[row["work"]]


def probability(row: Mapping[str, str], higher: str) -> float:
    doublings = (score(row) - 600) / 20
    odds = exp(log(2) * doublings) * 2
    return odds / (1 + odds) if higher == "favourable" else 1 / (1 + odds)


def saved(path: Path, rows: list[dict[str, str]]) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


@pytest.mark.parametrize("higher", ["favourable", "unfavourable"])
@pytest.mark.parametrize("cutoff", ["0.5", "0.8", "0", "1", "605 points", "595 points", "605.5"])
def test_rates_by_group_are_those_counted_by_hand(tmp_path: Path, cutoff: str, higher: str) -> None:
    spec, rows = card(higher), people()
    document = with_data(audit(spec, "0.1"), spec, saved(tmp_path / "people.csv", rows), cutoff=cutoff)
    assert document.data is not None
    number = float(cutoff.removesuffix("points"))

    def selected(row: Mapping[str, str]) -> bool:
        if number <= 1:
            return probability(row, higher) > number
        return score(row) >= number if higher == "favourable" else score(row) <= number

    assert document.data.cutoff_unit == ("probability" if number <= 1 else "points")
    assert document.data.selected.count == sum(map(selected, rows))
    assert not document.data.missing
    groups = {tuple(group.values.items()): group for group in document.data.groups}
    assert (("age", "missing"),) in groups
    ages = {"under 30": ("18", "29.9"), "30 or over": ("30", "64"), "missing": ("",)}
    for sex in SEX:
        for age, cells in ages.items():
            inside = [row for row in rows if row["sex"] == sex and row["age"] in cells]
            group = groups[("sex", sex), ("age", age)]
            chosen = [row for row in inside if selected(row)]
            assert group.people == len(inside) > 0
            assert group.selected.count == len(chosen)
            assert group.true_positive_rate is not None
            assert group.true_positive_rate.count == sum(row["paid"] == "1" for row in chosen)
            assert group.favourable.count == sum(row["paid"] == "1" for row in inside)


def test_a_score_of_exactly_the_cutoff_is_selected_and_a_probability_of_exactly_it_is_not(
    tmp_path: Path,
) -> None:
    row = {"sex": "m", "age": "18", "work": "field", "paid": "1"}
    # 520 + 35 + 10 + 5 = 570, odds of 2 · 2^-1.5 there; at 580 they are 1.
    tree = card().model_dump()
    tree["intercept"] = Decimal(530)
    spec, data = ScorecardSpec.model_validate(tree), saved(tmp_path / "one.csv", [row, row])
    for cutoff, number in (("580", 2), ("580.1", 0), ("0.5", 0), ("0.4999999999999999999", 2)):
        document = with_data(audit(spec, "0.1"), spec, data, cutoff=cutoff)
        assert document.data is not None
        assert document.data.selected.count == number


@pytest.mark.parametrize("undisclosed", ["conforming", "declared"])
def test_missing_cells_without_a_bin_count_what_is_not_disclosed(tmp_path: Path, undisclosed: str) -> None:
    spec = card(undisclosed=undisclosed)
    rows = [{"sex": "", "age": "18", "work": "field", "paid": "1"}, *people()]
    document = with_data(audit(spec, "0.1"), spec, saved(tmp_path / "people.csv", rows), cutoff="547.5")
    assert document.data is not None
    assert document.data.missing == {"sex": 1}
    without = with_data(audit(spec, "0.1"), spec, saved(tmp_path / "p.csv", people()), cutoff="547.5")
    assert without.data is not None
    # 520 + u + 10 + 5, with u between 20 and 35 of the conforming population, and 12 as declared.
    more = 1 if undisclosed == "conforming" else 0
    assert document.data.selected.count == without.data.selected.count + more
    assert all(p.probability is None for p in document.data.patterns) == (undisclosed == "declared")


def test_a_column_that_is_missing_and_cells_that_are_unknown(tmp_path: Path) -> None:
    rows = [{**row, "work": "farm"} if i % 2 else row for i, row in enumerate(people())]
    found = with_data(audit(card(), "0.1"), card(), saved(tmp_path / "farm.csv", rows)).data
    assert found is not None
    assert found.unknown == {"work": 200}
    with pytest.raises(InputError, match='"work"'):
        with_data(
            audit(card(), "0.1"),
            card(),
            saved(tmp_path / "no.csv", [{k: v for k, v in row.items() if k != "work"} for row in people()]),
        )


def test_a_repair_is_measured_on_data(tmp_path: Path) -> None:
    rows = people()
    made = repair(card(), "0.05", data=saved(tmp_path / "people.csv", rows))
    found = made.summary.performance
    assert found is not None
    assert found.accuracy is not None
    right = sum((probability(row, "favourable") > 0.5) == (row["paid"] == "1") for row in rows)
    assert found.accuracy[0] == pytest.approx(right / len(rows))
    assert found.rows == len(rows)


def test_codes_beside_ranges_and_any_other_cell(tmp_path: Path) -> None:
    tree = card().model_dump()
    _, age, work = tree["attributes"]
    special = {"points": Decimal(3), "share": Decimal(0), "bin": "special"}
    age["values"] = [*age["values"][:2], {"value": "-1.0", **special}, {"value": "refused", **special}]
    work["values"] = [*work["values"], {"value": "any other", **special}]
    spec = ScorecardSpec.model_validate(tree)
    rows = [
        {"sex": "f", "age": a, "work": w}
        for a, w in (("-1", "farm"), ("-1.00", "shop"), ("-1.5", "sea"), ("refused", "field"))
    ]
    found = with_shares(spec, open_table(saved(tmp_path / "people.csv", rows)))
    shares = [[float(v.share or 0) for v in a.values] for a in found.attributes]
    assert shares == [[1, 0], [0.25, 0, 0.5, 0.25], [0.25, 0.25, 0.5]]
    rows = [row for row in rows if row["age"] != "refused"]
    with pytest.raises(InputError, match='nothing says which numbers belong to the bin "refused"'):
        with_shares(spec, open_table(saved(tmp_path / "people.csv", rows)))
    decided = saved(tmp_path / "people.csv", [row | {"paid": "1"} for row in rows])
    with pytest.raises(InputError, match='nothing says which numbers belong to the bin "refused"'):
        with_data(audit(card(), "0.1"), spec, decided)
