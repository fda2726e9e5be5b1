"""What a report shows beyond a document, worked out again from the exact model that the document names.

A document holds what its claim needs. The scatter, the groups and the pairs of attributes are for the eye;
they follow from the model, so they are computed here and never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations_with_replacement, product
from math import prod
from typing import get_args

from auditor.choices import RankBy
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.additive import counting, ranking, summaries, worst
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.tables import naive_bayes_of, tables_of
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits
from auditor.search.pattern import Pattern

#: Patterns drawn one by one in a scatter; of more than these a uniform sample of as many is.
CLOUD = 5_000
#: Patterns that each ranking points out in the scatter.
MARKED = 10
_RANKINGS: tuple[RankBy, ...] = get_args(RankBy)
#: The Pareto front is drawn through at most so many patterns.
_FRONT = 400
#: Groups that one table may compare.
_GROUPS = 4_096
#: Sensitive attributes up to which every pair of them is searched.
_PAIRED = 10


@dataclass(frozen=True)
class Scatter:
    """Discrimination patterns as (probability, |degree|), and those that a reader should look at.

    Attributes
    ----------
    points : tuple of (float, float)
    sampled : bool
        Whether the points are a uniform sample rather than all patterns.
    front : tuple of (float, float)
        Patterns that no other beats in both, from the most probable on.
    front_complete : bool
    marked : tuple of (str, tuple of (float, float))
        The first of each ranking.
    """

    points: tuple[tuple[float, float], ...]
    sampled: bool
    front: tuple[tuple[float, float], ...]
    front_complete: bool
    marked: tuple[tuple[RankBy, tuple[tuple[float, float], ...]], ...]


@dataclass(frozen=True)
class Group:
    """People with the given sensitive values, as the model describes them.

    Attributes
    ----------
    values : Assignment
    probability, favourable : Fraction
        ``P(x)`` and ``P(d | x)``.
    impact_ratio : Fraction or None
        ``P(d | x)`` over that of the most favoured group it is compared with; None where that is 0.
    """

    values: Assignment
    probability: Fraction
    favourable: Fraction
    impact_ratio: Fraction | None


@dataclass(frozen=True)
class Pair:
    """The worst degree where only these one or two sensitive attributes may be disclosed.

    Attributes
    ----------
    attributes : tuple of int
        The same attribute twice, where only one may be.
    worst : Pattern
    complete : bool
        Whether no worse pattern can be missing.
    """

    attributes: tuple[int, int]
    worst: Pattern
    complete: bool


def scatter(tables: LogOdds, criterion: Criterion, limits: Limits) -> Scatter | None:
    """The discrimination patterns to draw; None where there are none."""
    marked = tuple(
        (rank_by, _points(ranking.top_patterns(tables, criterion, MARKED, rank_by, limits=limits).patterns))
        for rank_by in _RANKINGS
    )
    if not any(points for _, points in marked):
        return None
    front = summaries.pareto_patterns(tables, criterion, _FRONT, limits=limits)
    cloud = tuple(_cloud(tables, criterion, limits))
    return Scatter(cloud, len(cloud) == CLOUD, _points(front.patterns), front.complete, marked)


def pairs(tables: LogOdds, criterion: Criterion, limits: Limits) -> tuple[Pair, ...]:
    """The worst degree of every pair of sensitive attributes; none at all if there are too many."""
    model = naive_bayes_of(tables)
    if len(model.sensitive) > _PAIRED:
        return ()
    found = []
    for first, second in combinations_with_replacement(model.sensitive, 2):
        allowed = tuple(
            replace(attribute, sensitive=i in (first, second)) for i, attribute in enumerate(model.attributes)
        )
        result = worst.worst_patterns(tables_of(replace(model, attributes=allowed)), criterion, limits=limits)
        found.append(Pair((first, second), result.patterns[0], result.complete))
    return tuple(found)


def groups(model: NaiveBayes, attributes: tuple[int, ...]) -> tuple[Group, ...]:
    """All groups over some attributes that have people in them, each compared with the most favoured.

    The groups come in the order of the values. None at all where there would be thousands.
    """
    if prod(len(model.attributes[i].values) for i in attributes) > _GROUPS:
        return ()
    found = []
    for values in product(*(range(len(model.attributes[i].values)) for i in attributes)):
        x = tuple(zip(attributes, values, strict=True))
        favourable, unfavourable = model.joint(x)
        if favourable + unfavourable > 0:
            found.append(Group(x, favourable + unfavourable, favourable / (favourable + unfavourable), None))
    most = max(group.favourable for group in found)
    return tuple(replace(group, impact_ratio=group.favourable / most if most else None) for group in found)


def _cloud(tables: LogOdds, criterion: Criterion, limits: Limits) -> Iterator[tuple[float, float]]:
    """(probability, |degree|) of the patterns to draw, in floats: nothing is decided by them."""
    model = naive_bayes_of(tables)
    columns = [[(float(a), float(b)) for a, b in attribute.likelihood] for attribute in model.attributes]
    for x, y in counting.sample_pairs(tables, criterion, CLOUD, limits=limits) or ():
        favourable, unfavourable = float(model.prior), float(1 - model.prior)
        for i, v in chain(x, y):
            favourable *= columns[i][v][0]
            unfavourable *= columns[i][v][1]
        gamma = tables.prior + sum(tables.values[i][v] for i, v in y)
        degree = criterion.size(tables.real(tables.strength(x)), tables.real(gamma))
        yield favourable + unfavourable, degree


def _points(patterns: Iterable[Pattern]) -> tuple[tuple[float, float], ...]:
    return tuple((float(pattern.probability), abs(float(pattern.degree))) for pattern in patterns)
