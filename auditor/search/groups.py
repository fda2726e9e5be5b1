"""Groups of people by their sensitive values, as the model describes them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from auditor.model.additive import AdditiveModel
from auditor.model.classifier import Classifier, has_population
from auditor.model.naive_bayes import Assignment

#: Groups that one table may compare; more are not listed.
_MOST = 1 << 12
#: Digits of ``P(d | x)`` where it is irrational.
_DIGITS = 40


@dataclass(frozen=True)
class Group:
    """People with the given sensitive values."""

    values: Assignment
    """x."""
    probability: Fraction | None
    """``P(x)``; None where the model assumes no population."""
    favourable: Fraction
    """``P(d | x)``."""
    impact_ratio: Fraction | None
    """``P(d | x)`` over that of the most favoured group by the same attributes; None where that is 0."""


@dataclass(frozen=True)
class Groups:
    """All groups by some sensitive attributes that have people in them, in the order of the values."""

    attributes: tuple[int, ...]
    groups: tuple[Group, ...]


def groups_of(model: Classifier) -> tuple[Groups, ...]:
    """The groups by each sensitive attribute, and by all of them; tables of thousands are left out."""
    tables: list[tuple[int, ...]] = [(i,) for i in model.sensitive]
    if len(tables) > 1:
        tables.append(model.sensitive)
    return tuple(
        _groups_by(model, attributes)
        for attributes in tables
        if prod(len(model.attributes[i].values) for i in attributes) <= _MOST
    )


def _groups_by(model: Classifier, attributes: tuple[int, ...]) -> Groups:
    found: list[tuple[Assignment, Fraction | None, Fraction]] = []
    for values in product(*(range(len(model.attributes[i].values)) for i in attributes)):
        x = tuple(zip(attributes, values, strict=True))
        if isinstance(model, AdditiveModel) and not has_population(model):
            found.append((x, None, Fraction(model.probability(x, digits=_DIGITS))))
            continue
        favourable, unfavourable = model.joint(x)
        if people := favourable + unfavourable:
            found.append((x, people, favourable / people))
    most = max(favourable for *_, favourable in found)
    return Groups(
        attributes,
        tuple(
            Group(x, people, favourable, favourable / most if most else None)
            for x, people, favourable in found
        ),
    )
