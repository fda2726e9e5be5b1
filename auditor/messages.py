"""Problems of a document: where they are, and the line that a person reads.

Whatever a file holds is shown on one line and without control characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

#: Keys and list indices from the top of a document down to a part of it.
Place = tuple[str | int, ...]

#: A file of millions of mistakes is explained by the first ones of each kind, of these many kinds.
MOST_OF_A_KIND = 25
MOST_KINDS = 100

#: ZERO WIDTH NON-JOINER and JOINER: they shape the letters at their sides and neither hide nor reorder any.
JOINERS = "\u200c\u200d"

_LONGEST_TEXT = 60
_LONGEST_NUMBER = 40
_SUM_DIGITS = Context(prec=15)
#: What a message quotes, and its numbers.
_PARTICULARS = re.compile(r'"[^"]*"|[0-9][^ ;]*')


class Problem(NamedTuple):
    """What is wrong at a place, and what to do about it."""

    place: Place
    message: str


def part(tree: object, key: str) -> object:
    """Return what a mapping or a validated object has under a key; None if there is nothing."""
    return tree.get(key) if isinstance(tree, Mapping) else getattr(tree, key, None)


def has_parts(tree: object) -> bool:
    """Whether it is a mapping or a validated object rather than a text, number or list."""
    return isinstance(tree, Mapping) or hasattr(type(tree), "model_fields")


def items(tree: object) -> list[object]:
    """Return the items of a list, or none if it isn't one."""
    return list(tree) if isinstance(tree, list | tuple) else []


def label(value: object) -> str | None:
    """Return what people see for a value: a text, or the label of a mapping."""
    text = value if isinstance(value, str) else part(value, "label")
    return text if isinstance(text, str) else None


def escaped(text: str) -> str:
    r"""Write on one line, with escapes for what isn't printable: control characters, lone surrogates.

    >>> print(escaped("two" + chr(10) + "lines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or _joins(text, i) else _escape(c) for i, c in enumerate(text))


def visible(text: str) -> str:
    r"""Write as `escaped` does, but leave blanks of every script as they are: for names among other words.

    >>> print(visible("two" + chr(10) + "lines") + visible("a" + chr(0x3000) + "b"))
    two\nlinesa　b
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" or _joins(text, i) else _escape(c)
        for i, c in enumerate(text)
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _joins(text: str, place: int) -> bool:
    """Whether a joiner or non-joiner stands inside a word or sign, where scripts such as Persian need it."""
    if text[place] not in JOINERS or not 0 < place < len(text) - 1:
        return False
    return all(unicodedata.category(text[i])[0] in "LMNS" for i in (place - 1, place + 1))


def plain(text: str) -> str:
    """Escape and shorten a text from a document."""
    return escaped(text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…")


def shown(value: object) -> str:
    """Describe a value of a document in a few characters.

    >>> shown("own"), shown(Decimal("1.20")), shown(Fraction(1, 3)), shown([1, 2]), shown(None)
    ('"own"', '1.20', '0.333333333333333', 'a list', 'null')
    """
    match value:
        case str():
            return f'"{plain(value)}"'
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int() | Decimal():
            # As it is spelled in the document, where that is known.
            text = getattr(value, "text", None) or str(Decimal(value))
            return text if len(text) <= _LONGEST_NUMBER else text[: _LONGEST_NUMBER - 1] + "…"
        case float():
            return repr(value)
        case Fraction():
            quotient = _SUM_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
            short = quotient.normalize(_SUM_DIGITS)
            return f"{short:f}" if abs(short.adjusted()) < _SUM_DIGITS.prec else str(short)
        case list() | tuple():
            return "a list"
        case Mapping():
            return "a mapping"
        case _:
            return f"a {type(value).__name__}"


def listed(texts: Iterable[str], most: int = 20) -> str:
    """Name some texts, the first ones of many.

    >>> listed(["own", "rent", "other"], 2)
    '"own", "rent" and more'
    """
    some = list(texts)
    return ", ".join(map(shown, some[:most])) + (" and more" if some[most:] else "")


def lines(source: str, problems: Iterable[Problem], tree: object) -> tuple[str, ...]:
    """Write problems as lines ``source: place: message``, in order and each once.

    Of many that differ only in names and numbers the first ones are written, and how many more there are.

    Parameters
    ----------
    source : str
        The name of the file.
    tree : object
        The document as far as it could be read, for the names of attributes and values.
    """
    source = escaped(source)
    kinds: dict[str, list[str]] = {}
    more: Counter[str] = Counter()
    others = 0
    found: list[str] = []
    for problem in dict.fromkeys(problems):
        kind = _kind(problem)
        if kind not in kinds and len(kinds) == MOST_KINDS:
            others += 1
            continue
        alike = kinds.setdefault(kind, [])
        if len(alike) == MOST_OF_A_KIND:
            more[kind] += 1
        elif (line := _located(problem, tree)) not in alike:
            alike.append(line)
            found.append(line)
    found += (f"{number:,} more like {kinds[kind][0]}" for kind, number in more.items())
    if others:
        found.append(f"{others:,} more of other kinds; mend these first")
    return tuple(f"{source}: {line}" for line in found)


def _kind(problem: Problem) -> str:
    """What a problem has in common with others: its words without what is quoted and without numbers."""
    steps = ("" if isinstance(step, int) else step for step in problem.place)
    return _PARTICULARS.sub("", "\n".join((*steps, problem.message)))


def _located(problem: Problem, tree: object) -> str:
    place = where(problem.place, tree)
    return f"{place}: {problem.message}" if place else problem.message


def where(place: Place, tree: object) -> str:
    """Write a place as a path, with the attribute's name and the value's label where they are known.

    >>> model = {"decision": {"favourable": "good"}, "attributes": [{"name": "housing", "values": ["own"]}]}
    >>> where(("attributes", 0, "likelihood", "favourable", 0), model)
    'attributes[0] (housing): likelihood of "own" given "good"'
    """
    if len(place) < 2 or place[0] != "attributes" or not isinstance(place[1], int):
        return _path(place)
    attribute = _item(part(tree, "attributes"), place[1])
    name = part(attribute, "name")
    head = f"attributes[{place[1]}]" + (f" ({plain(name)})" if isinstance(name, str) else "")
    match place[2:]:
        case ():
            return head
        case ("likelihood" | "counts" as kind, "favourable" | "unfavourable" as side, *index):
            decided = label(part(part(tree, "decision"), str(side)))
            value = label(_item(part(attribute, "values"), index[0] if index else None))
            if decided is not None and (value is not None or not index):
                word = kind if kind == "likelihood" or not index else "count"
                of = f" of {shown(value)}" if index else ""
                return f"{head}: {word}{of} given {shown(decided)}"
    return f"{head}: {_path(place[2:])}"


def _path(place: Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{plain(step)}" for step in place)
    return "".join(steps).removeprefix(".")


def _item(sequence: object, index: object) -> object:
    found = items(sequence)
    return found[index] if isinstance(index, int) and index < len(found) else None
