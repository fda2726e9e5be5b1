"""Writes model specifications as JSON or YAML that keeps every digit and that people can read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Literal

from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec

#: What fits on a line of this width isn't spread over several.
WIDTH = 110

# Words that readers of every version of YAML take for text, since they mean nothing else.
_YAML_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?: [A-Za-z0-9_-]+)*")
_YAML_RESERVED = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})


def dump_model(spec: ModelSpec | ScorecardSpec, form: Literal["json", "yaml"] = "json") -> str:
    """Return the specification as text; what `load_model` reads from it is equal to it.

    Parameters
    ----------
    form : {"json", "yaml"}
    """
    # A model without counts has nothing to smooth, and doesn't say so.
    smoothed = isinstance(spec, ModelSpec) and any(a.counts is not None for a in spec.attributes)
    tree = spec.model_dump(exclude_none=True, exclude=set() if smoothed else {"smoothing"})
    return (_json(tree) if form == "json" else _yaml(tree)) + "\n"


def _inline(tree: object) -> str:
    """Write on one line of JSON, which is YAML too."""
    match tree:
        case Mapping():
            return (
                "{" + ", ".join(f"{_quoted(str(key))}: {_inline(value)}" for key, value in tree.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(_inline, tree)) + "]"
        case str():
            return _quoted(tree)
        case Decimal():
            return str(tree)
        case _:
            return json.dumps(tree)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _json(tree: object, indent: int = 0, key: str = "") -> str:
    """Write after a key, over several lines if it doesn't fit on one or is the whole document."""
    line = key + _inline(tree)
    if not isinstance(tree, Mapping | list | tuple) or (indent and indent + len(line) < WIDTH):
        return line
    inner = indent + 2
    if isinstance(tree, Mapping):
        parts = [_json(value, inner, f"{_quoted(str(name))}: ") for name, value in tree.items()]
        return f"{key}{{{_lines(inner, ',', parts)}{_lines(indent, '', ['}'])}"
    parts = _row(tree, inner) or [_json(value, inner) for value in tree]
    return f"{key}[{_lines(inner, ',', parts)}{_lines(indent, '', [']'])}"


def _yaml(tree: Mapping[str, object], indent: int = 0) -> str:
    parts = [f"{key}:{_yaml_value(value, indent + 2, indent + len(key))}" for key, value in tree.items()]
    return _lines(indent, "", parts).lstrip()


def _yaml_value(value: object, indent: int, before: int) -> str:
    """Write what comes after a key: mappings in blocks, lists on a line where they fit."""
    if isinstance(value, Mapping):
        return _lines(indent, "", [_yaml(value, indent)])
    if isinstance(value, str) and _YAML_PLAIN.fullmatch(value) and value.lower() not in _YAML_RESERVED:
        return f" {value}"
    line = _inline(value)
    if not isinstance(value, list | tuple) or before + len(line) < WIDTH:
        return f" {line}"
    if row := _row(value, indent):
        return f" [{_lines(indent, ',', row)}]"
    return _lines(indent, "", [f"- {_yaml_item(item, indent + 2)}" for item in value])


def _yaml_item(item: object, indent: int) -> str:
    is_part = isinstance(item, Mapping) and not all(isinstance(value, str) for value in item.values())
    return _yaml(item, indent) if isinstance(item, Mapping) and is_part else _inline(item)


def _row(numbers: Sequence[object], indent: int) -> list[str]:
    """Fill lines with a row of numbers; return nothing for a list of other things."""
    if not all(isinstance(number, Decimal) for number in numbers):
        return []
    text = ", ".join(map(_inline, numbers))
    return [
        line.rstrip(",")
        for line in wrap(text, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    ]


def _lines(indent: int, separator: str, parts: Sequence[str]) -> str:
    margin = "\n" + " " * indent
    return margin + f"{separator}{margin}".join(parts)
