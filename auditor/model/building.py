"""Builds a validated specification from the tree that an importer has made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeVar

from pydantic import ValidationError

from auditor.errors import InputError
from auditor.messages import Problem, escaped, lines, shown
from auditor.model import scorecard
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import KIND, VERSION, ModelSpec

_Spec = TypeVar("_Spec", ModelSpec, ScorecardSpec)

#: Digits of a number that no decimal equals, such as 1/3: far more than any program that made it had.
DIGITS = 40

_ROUNDED = Context(prec=DIGITS)


def build(tree: Mapping[str, object], source: str) -> ModelSpec:
    """Validate a tree; kind and version are added.

    Raises
    ------
    InputError
        With a line per problem, each of which begins with the source's name.
    """
    return _validated(ModelSpec, {"kind": KIND, "version": VERSION, **tree}, source)


def build_scorecard(tree: Mapping[str, object], source: str) -> ScorecardSpec:
    """Validate the tree of a scorecard like `build`."""
    return _validated(ScorecardSpec, {"kind": scorecard.KIND, "version": scorecard.VERSION, **tree}, source)


def _validated(kind: type[_Spec], whole: dict[str, object], source: str) -> _Spec:
    try:
        return kind.model_validate(whole)
    except ValidationError as error:
        found = [Problem(details["loc"], details["msg"]) for details in error.errors(include_url=False)]
        raise InputError(lines(source, found, whole)) from error


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


def chosen(names: Iterable[str], known: Iterable[str], source: str, role: str) -> frozenset[str]:
    """Return the names, all of which must be known.

    Raises
    ------
    InputError
        With a line per name that isn't.
    """
    wanted, available = tuple(dict.fromkeys(names)), tuple(known)
    if strange := [name for name in wanted if name not in available]:
        have = ", ".join(shown(name) for name in available[:20]) + (" and more" if available[20:] else "")
        raise InputError(
            f"{escaped(source)}: there is no {role} {shown(name)}; give some of {have}" for name in strange
        )
    return frozenset(wanted)


def split(values: Iterable[str], known: Iterable[str]) -> list[str]:
    """Take lists of names apart at commas, unless the whole is a name itself.

    >>> split(["a,b", "c,d"], ["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    names = set(known)
    return [
        part for value in values for part in ([value] if value in names else map(str.strip, value.split(",")))
    ]
