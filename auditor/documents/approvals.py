"""Rates of approval at a cut-off, as an audit of a scorecard has them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.documents.record import Degree, Probability, Record, labels

if TYPE_CHECKING:
    from auditor.model.classifier import Classifier
    from auditor.search.approvals import Approvals

#: Pairs of groups that one table lists.
_MOST_PAIRS = 1_000


class ApprovedGroupRecord(Record):
    """People with these sensitive values, and how many of them are approved."""

    values: dict[str, str]
    """Attribute to label."""
    probability: Probability
    """The population's share of people in the group."""
    approved: Probability
    """P(approved | group)."""
    impact_ratio: Probability | None
    """P(approved | group) over that of the group approved most; null if that is 0."""


class ApprovedPairRecord(Record):
    """Two groups by the same attributes."""

    first: dict[str, str]
    second: dict[str, str]
    difference: Degree
    """P(approved | first) - P(approved | second)."""
    ratio: Annotated[float | None, Field(ge=0)]
    """P(approved | first) / P(approved | second); null if that is 0."""


class ApprovedTable(Record):
    """All groups by the same sensitive attributes, and each pair of them."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    groups: tuple[ApprovedGroupRecord, ...]
    pairs: tuple[ApprovedPairRecord, ...]
    """Empty where there are more than 1,000."""


class ApprovedPatternRecord(Record):
    """A listed pattern, and what disclosing does to approvals."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    approved_given_pattern: Probability
    """P(approved | all of these values)."""
    approved_given_context: Probability
    """P(approved | context values)."""
    difference: Degree
    """The first less the second."""


class CutoffRecord(Record):
    """Rates of approval at a cut-off, in the conforming population of a scorecard.

    Approved is who, with every attribute disclosed, reaches the cut-off. It is a measure beside the search:
    no verdict, degree or count depends on it, and patterns were not searched by it.
    """

    cutoff: str
    """As given."""
    unit: Literal["points", "probability"]
    """points: approved is who has at least so many or, where points speak for the unfavourable decision, at
    most; probability: who has P(favourable) above it.
    """
    approved: Probability
    """P(approved)."""
    groups: tuple[ApprovedTable, ...]
    """By each sensitive attribute, and by all of them."""
    patterns: tuple[ApprovedPatternRecord, ...]
    """The worst pattern, the top ones and the subset-minimal ones."""

    @classmethod
    def of(cls, model: Classifier, found: Approvals) -> Self:
        """Name the values and round the rates."""
        return cls(
            cutoff=found.cutoff.text,
            unit="probability" if found.cutoff.exponent is None else "points",
            approved=float(found.approved),
            groups=tuple(
                ApprovedTable(
                    attributes=tuple(model.attributes[i].name for i in attributes),
                    groups=tuple(
                        ApprovedGroupRecord(
                            values=labels(model, group.values),
                            probability=float(group.probability),
                            approved=float(group.approved),
                            impact_ratio=None if group.impact_ratio is None else float(group.impact_ratio),
                        )
                        for group in groups
                    ),
                    pairs=()
                    if math.comb(len(groups), 2) > _MOST_PAIRS
                    else tuple(
                        ApprovedPairRecord(
                            first=labels(model, one.values),
                            second=labels(model, other.values),
                            difference=float(one.approved - other.approved),
                            ratio=float(one.approved / other.approved) if other.approved else None,
                        )
                        for one, other in combinations(groups, 2)
                    ),
                )
                for attributes, groups in found.groups
            ),
            patterns=tuple(
                ApprovedPatternRecord(
                    sensitive_values=labels(model, entry.pattern.sensitive_values),
                    context_values=labels(model, entry.pattern.context_values),
                    approved_given_pattern=float(entry.given_pattern),
                    approved_given_context=float(entry.given_context),
                    difference=float(entry.given_pattern - entry.given_context),
                )
                for entry in found.patterns
            ),
        )
