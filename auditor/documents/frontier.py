"""The frontier document, version 1: what likelihood a model can keep at each of some thresholds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from auditor.choices import CriterionName
from auditor.documents.audit import ModelRecord
from auditor.documents.data import DataEvidence
from auditor.documents.record import Count, Digest, Probability, Record, ToolRecord
from auditor.documents.repair import AlsoRecord, ConditionsRecord


class FrontierModel(Record):
    """What holds of one model of the curve, or of one of its two ends."""

    sha256: Digest
    """Of the exact parameters."""
    log_likelihood: float | None
    """Of the counts with their smoothing, in nats; null: minus infinity."""
    max_degree_bounds: tuple[Probability, Probability]
    """The largest |degree|: found lower and proved upper bound, rounded outward."""
    patterns_left_bounds: tuple[Count, Count]
    """At least and at most so many patterns are above the curve's first threshold."""
    auc: Probability | None
    """On the data; null: none, or one decision only."""
    data: DataEvidence | None
    """Whom it selects, and whom rightly."""


class FrontierPoint(FrontierModel):
    """The most likely model that was found at a threshold; the exact search has proved it δ-fair."""

    delta: str
    taken_from: str | None
    """The smaller threshold whose model this is, where none likelier was found."""
    price: float | None
    """Share of the way in log-likelihood from the unconstrained to the independent one."""
    patterns_before: Count | None
    """Discrimination patterns of the unconstrained model at this threshold."""
    shortfall: str | None
    """Why a more likely fair model may be near; null: a local optimum."""
    bound: float | None
    """No δ-fair model has a greater log-likelihood, whether or not it keeps to conditions: proved. null: not
    asked for.
    """
    kept_floors: bool | None
    """Whether it reaches the least accuracy and AUC on the data; null: none was set."""
    bound_from: str | None
    """The threshold whose proof says so: what holds at a larger one holds here."""


class Frontier(Record):
    """The curve: most likely δ-fair models of the same counts, by growing δ."""

    kind: Literal["auditor/frontier"] = "auditor/frontier"
    version: Literal[1] = 1
    model: ModelRecord
    """The most likely model, which nothing constrains."""
    criterion: CriterionName
    also: AlsoRecord | None = None
    """By what all models of the points are fair too; null: nothing."""
    conditions: ConditionsRecord | None = None
    """What all models of the points keep to besides."""
    total_patterns: Count
    unconstrained: FrontierModel
    independent: FrontierModel
    """The most likely model with sensitive attributes independent."""
    points: Annotated[tuple[FrontierPoint, ...], Field(min_length=1)]
    knee: str | None
    """The threshold whose point is furthest above the straight line from the first point to the last one,
    both axes scaled to their ends; null: there is none.
    """
    least_accuracy: str | None = None
    """What a point is to reach on the data."""
    least_auc: str | None = None
    """What a point is to reach on the data."""
    recommended: str | None = None
    """The smallest threshold whose point reaches them; null: none does, or none was set."""
    tool: ToolRecord = ToolRecord()
