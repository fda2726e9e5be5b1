"""Profiles: which evidence of a report bears on which item of a framework, one data file per framework."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from auditor.documents.reading import validated
from auditor.documents.record import Record
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.parsing import parse
from auditor.resources import names, resource

#: What a report can have to show; `sections.profile` has the figures.
EvidenceName = Literal[
    "by_sensitive_attribute",
    "by_share",
    "changes",
    "coverage",
    "criterion",
    "data_source",
    "group_level",
    "group_rates",
    "individual_level",
    "limits",
    "max_degree",
    "minimal_patterns",
    "model_identity",
    "model_version",
    "observed_error_rates",
    "observed_rates",
    "owner",
    "parameters",
    "pattern_count",
    "period",
    "ratio_at_four_fifths",
    "repair",
    "sensitive_attributes",
    "signature",
    "tool",
    "top_patterns",
    "validity",
    "verdict",
]

_MAX_BYTES = 1 << 20


class Item(Record):
    """One item of a framework."""

    item: Annotated[str, Field(min_length=1)]
    asks: Annotated[str, Field(min_length=1, description="What it asks for, in our words.")]
    evidence: Annotated[tuple[EvidenceName, ...], Field(strict=False)]
    open: Annotated[str, Field(description="What no report of this program answers; empty: nothing.")]


class Profile(Record):
    """A framework, and the day on which somebody last compared this file with it."""

    kind: Literal["auditor/profile"]
    version: Literal[1]
    id: str
    name: str
    source: str
    checked: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    compared: Annotated[
        str, Field(description="What was read for it on that day, and what could not be looked up.")
    ] = "with its text"
    about: str
    items: Annotated[tuple[Item, ...], Field(min_length=1, strict=False)]


def load_profile(name: str) -> Profile:
    """Load a profile by its name, or a profile of the user's own by its path.

    Raises
    ------
    InputError
        If there is none, or it isn't one.
    """
    shipped = names("templates", "profiles")
    path = resource("templates", "profiles", f"{name}.json") if name in shipped else Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{escaped(name)}: no such profile ({error.strerror}); there are {', '.join(shipped)}, "
            "or give the file of your own"
        ) from error
    if len(data) > _MAX_BYTES:
        raise InputError(f"{escaped(name)}: larger than 1 MB; no profile needs that")
    found = parse(data, name, "json")
    return validated(Profile, found.tree, name, known=found.problems)
