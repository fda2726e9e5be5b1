"""Bayesian networks in BIF and XMLBIF, of naive structure: one decision, on which all else depends."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model import checks
from auditor.model.building import build, chosen, decimal, split
from auditor.model.formats.xml import child, children
from auditor.model.reading import read_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from auditor.model.spec import ModelSpec

#: How far programs that write few digits let a row be from a sum of 1.
_ROUNDED = Fraction(1, 1000)

# Words may hold anything but the marks of the grammar; comments are those of C++.
_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"]*)"|([{}()\[\],;|])|([^\s{}()\[\],;|"]+)', re.DOTALL)


@dataclass
class Variable:
    """A variable of a network: its values, its parents and a row of probabilities per value of the parent."""

    values: list[str]
    parents: list[str] | None = None
    rows: dict[str | None, list[Decimal]] = field(default_factory=dict)


Network = dict[str, Variable]


def from_network(
    network: Network, source: str, *, sensitive: Sequence[str], favourable: str | None, name: str
) -> ModelSpec:
    """Turn a network into a model; a variable on its own is an attribute that tells nothing.

    Raises
    ------
    InputError
        If the structure isn't naive, or the decision has another number of values than two.
    """
    place = escaped(source)
    undefined = [n for n, variable in network.items() if variable.parents is None]
    if undefined:
        raise InputError(f"{place}: {shown(n)} has no probabilities; give them" for n in undefined)
    parents = dict.fromkeys(p for variable in network.values() for p in variable.parents or ())
    crowded = [n for n, variable in network.items() if len(variable.parents or ()) > 1]
    if crowded:
        raise InputError(
            f"{place}: {shown(n)} depends on {len(network[n].parents or ())} variables, and in a naive Bayes "
            "model every attribute depends on the decision only; learn one instead"
            for n in crowded
        )
    if len(parents) != 1:
        depended = " and ".join(map(shown, parents)) or "none"
        raise InputError(
            f"{place}: in a naive Bayes model all variables depend on one, the decision; here they depend on "
            f"{depended}; learn a naive Bayes model instead"
        )
    decision = next(iter(parents))
    if decision not in network or network[decision].parents:
        reason = "depends on something itself" if decision in network else "is not declared"
        raise InputError(
            f"{place}: {shown(decision)}, on which the others depend, {reason}; mend the network"
        )
    sides = network[decision].values
    if len(sides) != 2:
        raise InputError(
            f"{place}: {shown(decision)} has {len(sides)} values, and patterns are defined for two; put the "
            "unfavourable ones together"
        )
    wrong = [
        f"{place}: {shown(n)} has {len(row)} probabilities for {len(variable.values)} values; correct it"
        for n, variable in network.items()
        for row in variable.rows.values()
        if len(row) != len(variable.values)
    ]
    if wrong:
        raise InputError(dict.fromkeys(wrong))
    wanted = sides[1] if favourable is None else favourable
    if wanted not in sides:
        raise InputError(
            f"{place}: {shown(decision)} has no value {shown(wanted)}; it is {shown(sides[0])} or "
            f"{shown(sides[1])}"
        )
    other = sides[1 - sides.index(wanted)]
    names = [n for n in network if n != decision]
    protected = chosen(split(sensitive, names), names, source, "attribute")
    tree = {
        "name": name,
        "decision": {
            "name": decision,
            "favourable": wanted,
            "unfavourable": other,
            "prior": _normal(network[decision].rows[None])[sides.index(wanted)],
        },
        "attributes": [
            {
                "name": n,
                "sensitive": n in protected,
                "values": network[n].values,
                "likelihood": {
                    "favourable": _normal(network[n].rows[wanted if network[n].parents else None]),
                    "unfavourable": _normal(network[n].rows[other if network[n].parents else None]),
                },
            }
            for n in names
        ],
        "provenance": {"description": "Imported from a Bayesian network of naive structure."},
    }
    return build(tree, source)


def _normal(row: list[Decimal]) -> list[Decimal]:
    """Divide a row by its sum, if that is so close to 1 that the program which wrote it has rounded."""
    total = sum(map(Fraction, row), Fraction(0))
    return [decimal(Fraction(p) / total) for p in row] if 0 < abs(total - 1) <= _ROUNDED else row


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


class _Bif:
    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source
        self._tokens = list(self._split(text))
        self._next = 0

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, int]]:
        for match in _TOKEN.finditer(text):
            quoted, mark, word = match.groups()
            token = quoted if quoted is not None else mark or word
            if token is not None:
                yield token, match.start()

    def network(self) -> Network:
        network: Network = {}
        while self._next < len(self._tokens):
            match self._take():
                case "network":
                    while self._take() != "{":
                        pass
                    self._skip_block()
                case "variable":
                    name = self._take()
                    network[name] = Variable(self._values())
                case "probability":
                    self._probability(network)
                case word:
                    self._refuse(f"{shown(word)} is not known; it is network, variable or probability")
        if not network:
            self._refuse("there are no variables; give a BIF file")
        return network

    def _values(self) -> list[str]:
        self._expect("{")
        values: list[str] = []
        while (token := self._take()) != "}":
            if token == "type":
                if (kind := self._take()) != "discrete":
                    self._refuse(f"a variable is {shown(kind)}, and patterns need values; make it discrete")
                while self._take() != "{":
                    pass
                values = self._list("}")
                self._expect(";")
            else:
                self._skip_statement()
        return values

    def _probability(self, network: Network) -> None:
        self._expect("(")
        name = self._known(network)
        parents: list[str] = []
        if (token := self._take()) == "|":
            parents = self._list(")")
        elif token != ")":
            self._refuse(f"{shown(token)} stands where | or ) belongs; correct it")
        variable = network[name]
        variable.parents = parents
        self._expect("{")
        while (token := self._take()) != "}":
            if token == "(":
                given = self._list(")")
                variable.rows[given[0] if len(given) == 1 else ",".join(given)] = self._numbers()
            elif token == "table" and not parents:
                variable.rows[None] = self._numbers()
            elif token == "default" and len(parents) == 1 and parents[0] in network:
                row = self._numbers()
                for value in network[parents[0]].values:
                    variable.rows.setdefault(value, row)
            elif token == "table":
                self._refuse(
                    f"{shown(name)}: the order in a table with conditions is not settled; write a row "
                    "per condition, as in (value) 0.1, 0.9;"
                )
            else:
                self._skip_statement()
        wanted = network[parents[0]].values if len(parents) == 1 and parents[0] in network else []
        missing = [value for value in wanted if value not in variable.rows]
        if missing or (not parents and None not in variable.rows):
            self._refuse(
                f"{shown(name)} has no row of probabilities for {shown((missing or [''])[0])}; give it"
            )

    def _known(self, network: Network) -> str:
        if (name := self._take()) not in network:
            self._refuse(f"{shown(name)} is no variable; declare it before its probabilities")
        return name

    def _list(self, end: str) -> list[str]:
        found = []
        while (token := self._take()) != end:
            if token != ",":
                found.append(token)
        return found

    def _numbers(self) -> list[Decimal]:
        return [_probability(token, self._refuse) for token in self._list(";")]

    def _skip_statement(self) -> None:
        while self._take() != ";":
            pass

    def _skip_block(self) -> None:
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self._take(), 0)

    def _expect(self, mark: str) -> None:
        if (token := self._take()) != mark:
            self._refuse(f"{shown(token)} stands where {mark} belongs; correct it")

    def _take(self) -> str:
        if self._next >= len(self._tokens):
            self._refuse("the file ends too early; is it whole?")
        self._next += 1
        return self._tokens[self._next - 1][0]

    def _refuse(self, reason: str) -> NoReturn:
        at = self._tokens[min(self._next, len(self._tokens)) - 1][1] if self._tokens else 0
        line = self._text.count("\n", 0, at) + 1
        raise InputError(f"{escaped(self._source)}: line {line}: {reason}")


def read_xmlbif(root: Element, source: str) -> Network:
    """Read XMLBIF 0.3.

    Raises
    ------
    InputError
        If it isn't XMLBIF.
    """

    def refuse(reason: str) -> NoReturn:
        raise InputError(f"{escaped(source)}: {reason}")

    network = child(root, "NETWORK")
    if network is None:
        refuse(f"neither PMML nor XMLBIF but {plain(str(root.tag))}; give one of these")
    found = {
        _text(child(element, "NAME")): Variable([_text(value) for value in _outcomes(element)])
        for element in children(network, "VARIABLE")
    }
    if not found:
        refuse("there are no variables; give an XMLBIF file")
    for definition in [*children(network, "DEFINITION"), *children(network, "PROBABILITY")]:
        name = _text(child(definition, "FOR"))
        parents = [_text(given) for given in children(definition, "GIVEN")]
        if strange := [n for n in [name, *parents] if n not in found]:
            refuse(f"{shown(strange[0])} is no variable; declare it")
        numbers = [_probability(word, refuse) for word in _text(child(definition, "TABLE")).split()]
        variable, size = found[name], len(found[name].values)
        variable.parents = parents
        conditions: list[str | None] = [*found[parents[0]].values] if len(parents) == 1 else [None]
        if len(parents) <= 1 and len(numbers) != size * len(conditions):
            refuse(
                f"{shown(name)} has {len(numbers)} probabilities, not {size * len(conditions)}; correct it"
            )
        # The value itself changes fastest, the condition slowest.
        variable.rows = {c: numbers[i * size : (i + 1) * size] for i, c in enumerate(conditions)}
    return found


def _outcomes(element: Element) -> list[Element]:
    return [*children(element, "OUTCOME"), *children(element, "VALUE")]


def _text(element: Element | None) -> str:
    # Comments between the numbers are no part of the text.
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _probability(text: str, refuse: object) -> Decimal:
    try:
        return checks.probability(Decimal(text))
    except (InvalidOperation, ValueError):
        assert callable(refuse)
        refuse(f"{shown(text)} is no probability; write a number from 0 to 1")
        raise AssertionError from None
