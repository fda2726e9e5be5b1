"""JSON and YAML text to plain trees, safely and without rounding.

A tree is made of dict, list, str, int, Decimal, bool and None. Numbers are the decimals as written. What
could hurt (nesting, aliases, tags) or mislead (a key twice, NaN) is refused or reported.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from auditor.errors import InputError
from auditor.messages import Place, Problem, escaped, plain, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import yaml

#: Deeper nesting than any document needs, and far from what exhausts a stack.
MAX_DEPTH = 32

#: Longer numbers become decimals at once: Python refuses to turn more than 4,300 digits into an int.
_LONGEST_INT = 400

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[][{}]', re.DOTALL)

#: What the parser of JSON says, and what is wrong.
_JSON_PROBLEMS = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": 'a key in double quotes ("…") is missing',
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Illegal trailing comma before end of object": "a comma stands before the end",
    "Illegal trailing comma before end of array": "a comma stands before the end",
    "Unterminated string starting at": "a text begins that does not end",
    "Invalid control character at": "a text has a control character, such as a line break",
    "Extra data": "something follows the end",
}

#: What other files begin with, and what to give in their place.
_OTHERS = (
    (
        b"PK\x03\x04",
        "a zip, Excel or skops file; auditor import takes .skops, auditor learn a sheet as CSV",
    ),
    (b"\xd0\xcf\x11\xe0", "an old Excel file; save the sheet as CSV for auditor learn"),
    (b"\x80", "a pickle, which can run any code and is never opened; save the estimator with skops.io.dump"),
    (b"%PDF-", "a PDF; give the document in JSON or YAML"),
    (b"-----BEGIN ", "a key, not a document; give JSON or YAML"),
    (b"<!doctype html", "a page for people; give the document in JSON or YAML that it was made of"),
    (b"<html", "a page for people; give the document in JSON or YAML that it was made of"),
)

# Of YAML's plain words only these mean something else than their text: `no` and 2020-01-01 are labels.
_YAML_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_YAML_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_YAML_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


class Written(Decimal):
    """A number that isn't spelled as Python spells it, such as ``010`` or ``1e3``; it may be text."""

    text: str


class Parsed(NamedTuple):
    """A document's tree, and the keys that stand in it twice (the last one is in the tree)."""

    tree: object
    problems: tuple[Problem, ...]


def parse(data: bytes, name: str, form: str | None = None) -> Parsed:
    """Read a JSON or YAML document.

    Parameters
    ----------
    data : bytes
        UTF-8 text.
    name : str
        What the document is called in messages; its suffix tells the format where it isn't given.
    form : {"json", "yaml"}, optional

    Raises
    ------
    InputError
        If it can't be read at all; with one line that says why.
    """
    for beginning, what in _OTHERS:
        if data[:20].lower().startswith(beginning.lower()):
            refuse(name, what)
    text = _decoded(data, name)
    if not text.strip():
        refuse(name, "the file is empty; give a document in JSON or YAML")
    try:
        if (form or _form(text, name)) == "json":
            return _parse_json(text, name)
        return _parse_yaml(text, name)
    except InvalidOperation:
        return refuse(name, "a number's exponent is far out of range; write 0, or a number within 1e±400")


def _decoded(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        refuse(name, "the text is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at position {error.start}"
        refuse(name, f"not UTF-8 text ({byte}); give JSON or YAML, saved as UTF-8")
    if "\0" in text:
        refuse(name, "a binary file, not text; give JSON or YAML")
    return text


def _form(text: str, name: str) -> str:
    suffix = name.lower().rpartition(".")[2]
    if suffix in ("yaml", "yml"):
        return "yaml"
    return "json" if suffix == "json" or text.lstrip().startswith(("{", "[")) else "yaml"


def refuse(name: str, message: str) -> NoReturn:
    """Say why a document of this name can't be used."""
    raise InputError(f"{escaped(name)}: {message}")


class _Mappings:
    """Makes mappings from pairs, and remembers where a key stands twice."""

    def __init__(self) -> None:
        # The keys are identities of mappings. The mapping is kept beside them, so that no later object gets
        # its identity.
        self.repeated: dict[int, tuple[dict[str, object], list[str]]] = {}

    def make(self, pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            times = Counter(key for key, _ in pairs)
            self.repeated[id(mapping)] = mapping, [key for key in mapping if times[key] > 1]
        return mapping

    def problems(self, tree: object) -> Iterator[Problem]:
        """Find the places of those mappings in the finished tree."""
        parts: list[tuple[Place, object]] = [((), tree)] if self.repeated else []
        while parts:
            place, part = parts.pop()
            if isinstance(part, dict):
                _, keys = self.repeated.get(id(part), (part, []))
                for key in keys:
                    yield Problem(place, f"key {shown(key)} stands twice; keep one of them")
                parts.extend(((*place, key), value) for key, value in part.items())
            elif isinstance(part, list):
                parts.extend(((*place, i), value) for i, value in enumerate(part))


def _parse_json(text: str, name: str) -> Parsed:
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > MAX_DEPTH:
            refuse(name, f"nested more than {MAX_DEPTH} deep; no document needs that")
    mappings = _Mappings()
    try:
        tree = json.loads(
            text,
            object_pairs_hook=mappings.make,
            parse_float=_number,
            parse_int=_number,
            # NaN and Infinity are kept, so that they can be reported where they stand.
            parse_constant=Decimal,
        )
    except json.JSONDecodeError as error:
        wrong = _JSON_PROBLEMS.get(error.msg, "a backslash stands before what it can't stand before")
        refuse(name, f"line {error.lineno}, column {error.colno}: not JSON: {wrong}; correct it")
    return Parsed(tree, tuple(mappings.problems(tree)))


def _parse_yaml(text: str, name: str) -> Parsed:
    import yaml  # late: it takes longer to import than a JSON model takes to read

    # The loader in C, where PyYAML was built with it, is ten times faster.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    mappings = _Mappings()
    try:
        tree = _yaml_tree(yaml.parse(text, Loader=loader), mappings, name)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        if "nest" in (error.problem or ""):  # the parser gives up before the depth is counted
            refuse(name, f"nested more than {MAX_DEPTH} deep; no document needs that")
        refuse(name, f"{at}not YAML; see whether brackets, quotes and indents fit up to there")
    except yaml.YAMLError:
        refuse(name, "not YAML: it has control characters or signs that aren't text; take them out")
    return Parsed(tree, tuple(mappings.problems(tree)))


def _yaml_tree(events: Iterable[yaml.Event], mappings: _Mappings, name: str) -> object:
    """Build the tree from events, without recursion and without following an alias.

    An open mapping is a list of keys and values in turn until it ends.
    """
    import yaml

    documents: list[object] = []
    open_parts: list[tuple[bool, list[object]]] = [(False, documents)]

    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 0
        is_mapping, content = open_parts[-1]
        is_key = is_mapping and len(content) % 2 == 0
        value: object
        match event:
            case yaml.AliasEvent():
                alias = plain(f"*{event.anchor}")
                refuse(name, f"line {line}: alias {alias} is not supported; repeat what it stands for")
            case yaml.ScalarEvent(tag=None):
                value = event.value if is_key or not event.implicit[0] else _yaml_scalar(event.value)
            case yaml.CollectionStartEvent(tag=None):
                if is_key:
                    refuse(name, f"line {line}: a key must be text; write a word and a colon")
                if len(open_parts) > MAX_DEPTH:
                    refuse(name, f"line {line}: nested more than {MAX_DEPTH} deep; no document needs that")
                open_parts.append((isinstance(event, yaml.MappingStartEvent), []))
                continue
            case yaml.ScalarEvent() | yaml.CollectionStartEvent():
                refuse(name, f"line {line}: tag {plain(str(event.tag))} is not supported; leave it out")
            case yaml.CollectionEndEvent():
                open_parts.pop()
                value = content
                if is_mapping:
                    keys = [str(key) for key in content[::2]]
                    value = mappings.make(list(zip(keys, content[1::2], strict=True)))
            case _:
                continue
        open_parts[-1][1].append(value)
    if len(documents) != 1:
        count = "no YAML document" if not documents else f"{len(documents)} YAML documents"
        refuse(name, f"{count} in the file; give one")
    return documents[0]


def _yaml_scalar(text: str) -> object:
    if text in _YAML_NULLS:
        return None
    if text in _YAML_WORDS:
        return _YAML_WORDS[text]
    return _number(text) if _YAML_NUMBER.fullmatch(text) else text


def _number(text: str) -> int | Decimal:
    whole = text.lstrip("+-").isdigit() and len(text) < _LONGEST_INT
    number = int(text) if whole else Decimal(text)
    if str(number) == text:
        return number
    written = Written(number)
    written.text = text
    return written
