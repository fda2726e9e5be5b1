"""Writes the JSON Schemas in ``schemas/``: ``python -m auditor.documents.schemas``."""

from __future__ import annotations

import json

from auditor.documents.audit import Audit
from auditor.documents.patterns import PatternList
from auditor.model.spec import ModelSpec
from auditor.resources import resource


def schemas() -> dict[str, str]:
    """Return the text of each schema (draft 2020-12) by the name of its document.

    A model is read, so its schema is that of what is accepted; the others are written, so theirs say what is
    always there.
    """
    bodies = {
        "model": ModelSpec.model_json_schema(mode="validation"),
        "audit": Audit.model_json_schema(mode="serialization"),
        "patterns": PatternList.model_json_schema(mode="serialization"),
    }
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        name: json.dumps(dialect | body, indent=2, ensure_ascii=False) + "\n" for name, body in bodies.items()
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        resource("schemas", f"{name}.json").write_text(text, encoding="utf-8")
