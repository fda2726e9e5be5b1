"""The JSON Schema of the model: it stands in the schemas folder, and accepts what the reader accepts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from auditor.documents.schemas import schemas
from auditor.resources import resource
from tests.model.samples import REPAIR, WITH_COUNTS, WITH_LIKELIHOOD, Edit, changed, drop, put

SCHEMA = json.loads(schemas()["model"])
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json"))


def test_the_schema_on_disk_is_up_to_date() -> None:
    assert resource("schemas", "model.json").read_text(encoding="utf-8") == schemas()["model"]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "tree",
    [WITH_LIKELIHOOD, WITH_COUNTS, changed(WITH_LIKELIHOOD, put("repair", dict(REPAIR)))],
    ids=["likelihood", "counts", "repaired"],
)
def test_it_accepts_the_samples(tree: Mapping[str, Any]) -> None:
    jsonschema.validate(tree, SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_accepts_the_examples(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize(
    "edit",
    [
        drop("kind"),
        put("version", 2),
        put("news", 1),
        put("decision", "prior", 1),
        drop("decision", "prior"),
        put("attributes", []),
        put("attributes", 0, "values", ["one"]),
        put("attributes", 0, "values", 1, {"label": "female"}),
        drop("attributes", 0, "likelihood"),
        put("attributes", 0, "likelihood", "favourable", 0, 1.5),
        put("attributes", 0, "name", ""),
    ],
)
def test_it_refuses_what_a_schema_can_see(edit: Edit) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(WITH_LIKELIHOOD, edit), SCHEMA)
