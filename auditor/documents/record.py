"""What all output documents have in common."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.version import __version__

if TYPE_CHECKING:
    from auditor.model.classifier import Classifier
    from auditor.model.naive_bayes import Assignment


Degree = Annotated[float, Field(ge=-1, le=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Record(BaseModel):
    """A frozen part of a document that accepts no unknown names, no NaN and no guessed types."""

    # A command uses few kinds of documents, so Pydantic builds each when it is first used.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ToolRecord(Record):
    """The program that made the document."""

    name: Literal["auditor"] = "auditor"
    version: str = __version__


def labels(model: Classifier, values: Assignment) -> dict[str, str]:
    """Return values as documents have them: the name of each attribute and the label of its value."""
    return {model.attributes[i].name: model.attributes[i].values[v] for i, v in values}


def to_json(document: Record) -> str:
    """Return the document as JSON text: names in the order of the schema, one final newline.

    Characters that could steer a terminal or reorder text are escaped, beyond those that JSON itself forbids.
    """
    text = document.model_dump_json(indent=2)
    return re.sub(r"[^\n -~]", lambda found: _escaped(found[0]), text) + "\n"


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
