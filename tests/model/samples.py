"""Small specifications that the tests change in one place or another."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from auditor.errors import InputError
from auditor.model.reading import parse_model
from auditor.model.spec import ModelSpec

Tree = dict[str, Any]
Edit = Callable[[Tree], None]

WITH_LIKELIHOOD: Mapping[str, Any] = {
    "kind": "auditor/model",
    "version": 1,
    "name": "Credit",
    "decision": {"name": "credit", "favourable": "good", "unfavourable": "bad", "prior": 0.7},
    "attributes": [
        {
            "name": "sex",
            "sensitive": True,
            "values": ["male", {"value": "f", "label": "female"}],
            "likelihood": {"favourable": [0.6, 0.4], "unfavourable": [0.5, 0.5]},
        },
        {
            "name": "housing",
            "values": ["own", "rent", "free"],
            "likelihood": {"favourable": [0.6, 0.3, 0.1], "unfavourable": [0.5, 0.25, 0.25]},
        },
    ],
}

WITH_COUNTS: Mapping[str, Any] = {
    "kind": "auditor/model",
    "version": 1,
    "name": "Credit",
    "decision": {
        "name": "credit",
        "favourable": "good",
        "unfavourable": "bad",
        "counts": {"favourable": 7, "unfavourable": 3},
    },
    "attributes": [
        {
            "name": "sex",
            "sensitive": True,
            "values": ["male", "female"],
            "counts": {"favourable": [4, 3], "unfavourable": [1, 2]},
        }
    ],
}

REPAIR: Mapping[str, Any] = {
    "delta": 0.1,
    "criterion": "difference",
    "solver": "sqp",
    "rounds": 3,
    "constraints": 12,
    "log_likelihoods": {"unconstrained": -10.5, "repaired": -10.75},
    "patterns_before": 4,
    "patterns_after": 0,
    "source_sha256": "0" * 64,
}


def changed(tree: Mapping[str, Any], *edits: Edit) -> Tree:
    """Return a copy with the edits made."""
    new = copy.deepcopy(dict(tree))
    for edit in edits:
        edit(new)
    return new


def put(*path_and_value: Any) -> Edit:
    """Set what stands at a path; the last argument is the value."""
    *path, last, value = path_and_value

    def edit(tree: Tree) -> None:
        part: Any = tree
        for step in path:
            part = part[step]
        part[last] = value

    return edit


def drop(*path: Any) -> Edit:
    """Delete what stands at a path."""

    def edit(tree: Tree) -> None:
        part: Any = tree
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]

    return edit


def as_written(digits: str) -> str:
    """Mark a number that JSON text shall hold in exactly these digits."""
    return f"@{digits}@"


def to_json(tree: object) -> bytes:
    """Write a tree as JSON text."""
    return re.sub(r'"@([^"]*)@"', r"\1", json.dumps(tree)).encode()


def read(tree: object, *, name: str = "credit.json") -> ModelSpec:
    """Validate a tree by way of its JSON text."""
    spec = parse_model(to_json(tree), name)
    assert isinstance(spec, ModelSpec)
    return spec


def problems(tree: object) -> tuple[str, ...]:
    """Return the lines that a tree is refused with, without the name of the file."""
    with pytest.raises(InputError) as caught:
        read(tree)
    assert all(line.startswith("credit.json: ") for line in caught.value.problems)
    return tuple(line.removeprefix("credit.json: ") for line in caught.value.problems)
