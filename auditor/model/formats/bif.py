"""Bayesian networks in BIF and XMLBIF, of naive structure: one decision, on which all else depends."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model import checks
from auditor.model.building import build, chosen, decimal, sides_of, split
from auditor.model.formats.xml import Node
from auditor.model.reading import read_bytes

if TYPE_CHECKING:
    from auditor.model.spec import ModelSpec

#: How far programs that write few digits let a row be from a sum of 1.
_ROUNDED = Fraction(1, 1000)

# A word is anything without a blank and without the marks of the grammar; comments are written as in C++.
_IN_QUOTES = "put names with blanks, commas or brackets in quotes"
_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"]*)"|([{}()\[\],;|])|([^\s{}()\[\],;|"]+)', re.DOTALL)


@dataclass(frozen=True)
class Table:
    """The probabilities of a variable: a row per value of its parent, or one under None."""

    parents: Sequence[str]
    rows: Mapping[str | None, Sequence[Decimal]]


@dataclass(frozen=True)
class Network:
    """The values of each variable, and its probabilities."""

    values: dict[str, list[str]]
    tables: dict[str, Table]


def from_network(
    network: Network, source: str, *, sensitive: Sequence[str], favourable: str | None, name: str
) -> ModelSpec:
    """Turn a network into a model; a variable on its own is an attribute that tells nothing.

    Raises
    ------
    InputError
        If the structure isn't naive, or the decision has another number of values than two.
    """
    tables, decision = network.tables, _decision(network, source)
    values = network.values[decision]
    wanted, other = (values[i] for i in sides_of(values, favourable, source, shown(decision)))
    names = [n for n in network.values if n != decision]
    protected = chosen(split(sensitive, names), names, source, "attribute")
    tree = {
        "name": name,
        "decision": {
            "name": decision,
            "favourable": wanted,
            "unfavourable": other,
            "prior": _normal(tables[decision].rows[None])[values.index(wanted)],
        },
        "attributes": [
            {
                "name": n,
                "sensitive": n in protected,
                "values": network.values[n],
                "likelihood": {
                    kind: _normal(tables[n].rows[side if tables[n].parents else None])
                    for kind, side in zip(checks.SIDES, (wanted, other), strict=True)
                },
            }
            for n in names
        ],
        "provenance": {"description": "Imported from a Bayesian network of naive structure."},
    }
    return build(tree, source)


def _decision(network: Network, source: str) -> str:
    """Return the one variable on which all others depend that depend on anything."""
    place, tables = escaped(source), network.tables
    if undefined := [n for n in network.values if n not in tables]:
        raise InputError(f"{place}: {shown(n)} has no probabilities; give them" for n in undefined)
    if crowded := [n for n, table in tables.items() if len(table.parents) > 1]:
        raise InputError(
            f"{place}: {shown(n)} depends on {len(tables[n].parents)} variables, and in a naive Bayes "
            "model every attribute depends on the decision only; learn one instead"
            for n in crowded
        )
    parents = dict.fromkeys(parent for table in tables.values() for parent in table.parents)
    if len(parents) != 1:
        depended = " and ".join(map(shown, parents)) or "none"
        raise InputError(
            f"{place}: in a naive Bayes model all variables depend on one, the decision; here they depend on "
            f"{depended}; learn a naive Bayes model instead"
        )
    decision = next(iter(parents))
    if tables[decision].parents:
        raise InputError(
            f"{place}: {shown(decision)}, on which the others depend, depends on something itself; "
            "mend the network"
        )
    return decision


def _normal(row: Sequence[Decimal]) -> list[Decimal]:
    """Divide a row by its sum, if that is so close to 1 that the program which wrote it has rounded."""
    total = sum(map(Fraction, row), Fraction(0))
    return [decimal(Fraction(p) / total) for p in row] if 0 < abs(total - 1) <= _ROUNDED else list(row)


def read_bif(path: str | os.PathLike[str]) -> Network:
    """Read the Bayesian interchange format (BIF 0.15).

    Raises
    ------
    InputError
        If it isn't BIF, or uses what isn't read; with the line.
    """
    source = os.fspath(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{escaped(source)}: not UTF-8 text; save it as UTF-8") from error
    return _Bif(text, source).network()


class _Token(NamedTuple):
    """A word, or a mark of the grammar; what is quoted is never a mark."""

    text: str
    is_mark: bool


class _Bif:
    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source
        self._tokens: list[_Token] = []
        self._starts: list[int] = []
        for match in _TOKEN.finditer(text):
            quoted, mark, word = match.groups()
            if match.lastindex:
                self._tokens.append(_Token(quoted if quoted is not None else mark or word, mark is not None))
                self._starts.append(match.start())
        self._next = 0
        self._network = Network({}, {})

    def network(self) -> Network:
        while self._next < len(self._tokens):
            match self._take().text:
                case "network":
                    self._skip("{")
                    depth = 1
                    while depth:
                        token = self._take()
                        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.is_mark else 0
                case "variable":
                    self._variable()
                case "probability":
                    self._probability()
                case word:
                    self._refuse(f"{shown(word)} is not known; it is network, variable or probability")
        if not self._network.values:
            self._refuse("there are no variables; give a BIF file")
        return self._network

    def _variable(self) -> None:
        name = self._name("{")
        if name in self._network.values:
            self._refuse(f"variable {shown(name)} stands twice; keep one of them")
        values: list[str] = []
        while not self._at("}"):
            if self._take() != ("type", False):
                self._skip(";")
                continue
            if values:
                self._refuse(f"{shown(name)} has two types; keep one of them")
            if (kind := self._take().text) != "discrete":
                self._refuse(f"a variable is {shown(kind)}, and patterns need values; make it discrete")
            self._expect("[")
            size = self._take().text
            self._expect("]")
            self._expect("{")
            values = _names(self._groups("}"), size)
            if str(len(values)) != size:
                self._refuse(
                    f"{shown(name)} has {len(values)} names of values, and {plain(size)} are declared; "
                    f"{_IN_QUOTES}, or correct the number"
                )
            self._expect(";")
        self._network.values[name] = values

    def _probability(self) -> None:
        self._expect("(")
        name = self._known(self._name("|", ")"))
        parents: list[str] = []
        if self._tokens[self._next - 1].text == "|":
            groups = self._groups(")")
            words = _names(groups)
            joined = [" ".join(group) for group in groups]
            parents = [self._known(n) for n in (words if set(words) <= set(self._network.values) else joined)]
        if name in self._network.tables:
            self._refuse(f"the probabilities of {shown(name)} stand twice; keep one of them")
        conditions: list[str | None] = [None]
        if len(parents) == 1:
            conditions = [*self._network.values[parents[0]]]
        rows: dict[str | None, list[Decimal]] = {}
        default: dict[str | None, list[Decimal]] = {}
        self._expect("{")
        while not self._at("}"):
            match self._take():
                case ("(", True) if len(parents) == 1:
                    self._row(name, rows, self._condition(parents[0], name))
                case ("table", False) if not parents:
                    self._row(name, rows, None)
                case ("table", False):
                    self._refuse(
                        f"{shown(name)}: the order in a table with conditions is not settled; write a row "
                        "per condition, as in (value) 0.1, 0.9;"
                    )
                case ("default", False):
                    self._row(name, default, None)
                case _:
                    self._skip(";")
        # A default is the row of every condition that has none of its own.
        rows = {condition: default[None] for condition in conditions if default} | rows
        if len(parents) <= 1 and (
            missing := [condition for condition in conditions if condition not in rows]
        ):
            self._refuse(f"{shown(name)} has no row of probabilities{_given(missing[0])}; give it")
        self._network.tables[name] = Table(parents, rows)

    def _known(self, name: str) -> str:
        if name not in self._network.values:
            self._refuse(f"{shown(name)} is no variable; declare it before its probabilities")
        return name

    def _condition(self, parent: str, name: str) -> str:
        values = _names(self._groups(")"), "1")
        if len(values) != 1 or values[0] not in self._network.values[parent]:
            self._refuse(
                f"{shown(name)} has a row given {shown(', '.join(values))}, which is no value of "
                f"{shown(parent)}; correct it, or {_IN_QUOTES}"
            )
        return values[0]

    def _row(self, name: str, rows: dict[str | None, list[Decimal]], condition: str | None) -> None:
        if condition in rows:
            self._refuse(f"the row of {shown(name)}{_given(condition)} stands twice; keep one of them")
        words, size = _names(self._groups(";")), len(self._network.values[name])
        rows[condition] = [_probability(word, self._refuse) for word in words]
        if len(words) != size:
            self._refuse(f"{shown(name)} has {len(words)} probabilities for {size} values; correct it")

    def _name(self, *ends: str) -> str:
        names = _names(self._groups(*ends), "1")
        if len(names) != 1:
            self._refuse(
                f"{', '.join(map(shown, names)) or 'nothing'} stands where one name belongs, and then "
                f"{' or '.join(ends)}; {_IN_QUOTES}"
            )
        return names[0]

    def _groups(self, *ends: str) -> list[list[str]]:
        """Take words up to one of these marks, in groups that commas separate."""
        groups: list[list[str]] = [[]]
        while (token := self._take()) not in [(end, True) for end in ends]:
            if token == (",", True):
                groups.append([])
            else:
                groups[-1].append(token.text)
        return [group for group in groups if group]

    def _skip(self, end: str) -> None:
        while self._take() != (end, True):
            pass

    def _at(self, mark: str) -> bool:
        """Take the next token if it is this mark."""
        found = self._take() == (mark, True)
        self._next -= not found
        return found

    def _expect(self, mark: str) -> None:
        if (token := self._take()) != (mark, True):
            self._refuse(f"{shown(token.text)} stands where {mark} belongs; correct it")

    def _take(self) -> _Token:
        if self._next >= len(self._tokens):
            self._refuse("the file ends too early; is it whole?")
        self._next += 1
        return self._tokens[self._next - 1]

    def _refuse(self, reason: str) -> NoReturn:
        at = self._starts[min(self._next, len(self._tokens)) - 1] if self._tokens else 0
        line = self._text.count("\n", 0, at) + 1
        raise InputError(f"{escaped(self._source)}: line {line}: {reason}")


def _names(groups: list[list[str]], size: str = "") -> list[str]:
    """Take each word for a name; or each group, if that gives as many as belong there."""
    words = [word for group in groups for word in group]
    joined = str(len(groups)) == size and not any(mark in words for mark in "[](){}|")
    return [" ".join(group) for group in groups] if joined else words


def _given(condition: str | None) -> str:
    return "" if condition is None else f" for {shown(condition)}"


def read_xmlbif(root: Node) -> Network:
    """Read XMLBIF 0.3.

    Raises
    ------
    InputError
        If it isn't XMLBIF, or something stands in it twice.
    """
    network = root.child("NETWORK")
    if network is None:
        root.refuse(f"neither PMML nor XMLBIF but {plain(root.tag)}; give one of these")
    found = Network({}, {})
    for element in network.children("VARIABLE"):
        name = _text(element, "NAME")
        if name in found.values:
            root.refuse(f"variable {shown(name)} stands twice; keep one of them")
        found.values[name] = [value.text for value in element.children("OUTCOME", "VALUE")]
    if not found.values:
        root.refuse("there are no variables; give an XMLBIF file")
    for definition in network.children("DEFINITION", "PROBABILITY"):
        name = _text(definition, "FOR")
        parents = [given.text for given in definition.children("GIVEN")]
        if strange := [n for n in [name, *parents] if n not in found.values]:
            root.refuse(f"{shown(strange[0])} is no variable; declare it")
        if name in found.tables:
            root.refuse(f"the probabilities of {shown(name)} stand twice; keep one of them")
        numbers = [_probability(word, root.refuse) for word in _text(definition, "TABLE").split()]
        size = len(found.values[name])
        conditions: list[str | None] = [*found.values[parents[0]]] if len(parents) == 1 else [None]
        if len(parents) <= 1 and len(numbers) != size * len(conditions):
            root.refuse(
                f"{shown(name)} has {len(numbers)} probabilities, not {size * len(conditions)}; correct it"
            )
        # In the table the variable's own value changes fastest and the condition slowest.
        rows = {c: numbers[i * size : (i + 1) * size] for i, c in enumerate(conditions)}
        found.tables[name] = Table(parents, rows)
    return found


def _text(element: Node, tag: str) -> str:
    found = element.child(tag)
    return "" if found is None else found.text


def _probability(text: str, refuse: Callable[[str], NoReturn]) -> Decimal:
    try:
        return checks.probability(Decimal(text))
    except (InvalidOperation, ValueError):
        refuse(f"{shown(text)} is no probability; write a number from 0 to 1")
