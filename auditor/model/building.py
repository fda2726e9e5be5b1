"""Builds a validated specification from the tree that an importer has made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction

from auditor.errors import InputError
from auditor.messages import escaped, listed, shown
from auditor.model import scorecard
from auditor.model.explaining import accept
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import KIND, VERSION, ModelSpec

#: Digits of a number that no decimal equals, such as 1/3: far more than any program that made it had.
DIGITS = 40

#: Floats from here on are written with an exponent.
_WHOLE = 1e16

_ROUNDED = Context(prec=DIGITS)


def build(tree: Mapping[str, object], source: str) -> ModelSpec:
    """Validate a tree; kind and version are added.

    Raises
    ------
    InputError
        With a line per problem, each of which begins with the source's name.
    """
    return accept(ModelSpec, {"kind": KIND, "version": VERSION, **tree}, source)


def build_scorecard(tree: Mapping[str, object], source: str) -> ScorecardSpec:
    """Validate the tree of a scorecard like `build`."""
    return accept(ScorecardSpec, {"kind": scorecard.KIND, "version": scorecard.VERSION, **tree}, source)


def code_of(value: object) -> str:
    """Write a cell of a typed column as a code; nothing for a cell without a value, which NaN is.

    A whole float is the integer that it was before cells were missing, another one the shortest decimal that
    reads back as it.

    >>> code_of(True), code_of(3.0), code_of("3.0"), code_of(0.5), code_of(None), code_of(float("nan"))
    ('true', '3', '3.0', '0.5', '', '')
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            if math.isnan(value):
                return ""
            return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(float(value))
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.decode("utf-8")
        case _:
            return str(value)


def decimal(number: Fraction | float | int) -> Decimal:
    """Return a number as a decimal: exactly where it is short, a float as the shortest that reads back as it.

    >>> decimal(Fraction(1, 8)), decimal(0.1), decimal(3.0)
    (Decimal('0.125'), Decimal('0.1'), Decimal('3'))
    >>> str(decimal(Fraction(1, 3)))
    '0.3333333333333333333333333333333333333333'
    """
    if isinstance(number, Fraction):
        return _ROUNDED.divide(Decimal(number.numerator), Decimal(number.denominator))
    whole = isinstance(number, int) or float(number).is_integer()
    return Decimal(int(number)) if whole else Decimal(repr(float(number)))


def with_sensitive(
    attributes: Iterable[Mapping[str, object]], sensitive: Iterable[str], source: str, role: str = "attribute"
) -> list[dict[str, object]]:
    """Return the trees of a scorecard's attributes with which of them are sensitive.

    Raises
    ------
    InputError
        With a line per name that is none of theirs.
    """
    found = list(attributes)
    names = [str(attribute["name"]) for attribute in found]
    protected = chosen(split(sensitive, names), names, source, role, f". {scorecard.NO_INPUT}")
    return [{**attribute, "sensitive": attribute["name"] in protected} for attribute in found]


def chosen(
    names: Iterable[str], known: Iterable[str], source: str, role: str, remedy: str = ""
) -> frozenset[str]:
    """Return the names, all of which must be known.

    Raises
    ------
    InputError
        With a line per name that isn't.
    """
    wanted, available = tuple(dict.fromkeys(names)), tuple(known)
    if strange := [name for name in wanted if name not in available]:
        raise InputError(
            f"{escaped(source)}: there is no {role} {shown(name)}; give some of {listed(available)}{remedy}"
            for name in strange
        )
    return frozenset(wanted)


def sides_of(values: Sequence[str], favourable: str | None, source: str, decision: str) -> tuple[int, int]:
    """Return the positions of the favourable value, which is the second one if not given, and of the other.

    Raises
    ------
    InputError
        If there are more or fewer than two values, or the favourable one isn't among them.
    """
    place, have = escaped(source), ", ".join(map(shown, values[:20]))
    if len(values) != 2:
        raise InputError(
            f"{place}: {decision} has {len(values)} values ({have}), and patterns are defined for two; "
            "fit the model on the favourable value against all others"
        )
    if favourable is not None and favourable not in values:
        raise InputError(
            f"{place}: {decision} has no value {shown(favourable)}; the favourable one is {shown(values[0])} "
            f"or {shown(values[1])}"
        )
    first = 1 if favourable is None else values.index(favourable)
    return first, 1 - first


def split(values: Iterable[str], known: Iterable[str]) -> list[str]:
    """Take lists of names apart at commas, unless the whole is a name itself.

    >>> split(["a,b", "c,d"], ["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    names = set(known)
    return [
        part for value in values for part in ([value] if value in names else map(str.strip, value.split(",")))
    ]
