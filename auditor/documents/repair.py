"""The repair document, version 1: what a repair changed, and what it cost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from auditor.choices import CriterionName, MethodName, SolverName
from auditor.documents.audit import ModelRecord
from auditor.documents.comparison import ParameterChange
from auditor.documents.record import Count, Degree, Probability, Record, ToolRecord


class LogLikelihoodsRecord(Record):
    """Natural logarithms of the likelihood of the counts with their smoothing; null is minus infinity."""

    unconstrained: float | None
    repaired: float | None
    independent: float | None
    """Of the most likely model with sensitive attributes independent."""
    independent_mean: float | None
    """Of the one that takes the mean of both conditionals instead."""


class RoundRecord(Record):
    """Where the learner stood after a round; round 0 is the unconstrained model."""

    round: Count
    constraints: Count
    log_likelihood: float | None
    patterns: Count | None
    """Discrimination patterns left, exactly; null: not counted."""


class PredictionShift(Record):
    """What the two models predict where the unconstrained one discriminates."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    favourable_given_context: tuple[Probability, Probability]
    """P(favourable | context values), before and after."""
    favourable_given_pattern: tuple[Probability, Probability]
    """P(favourable | all of these values), before and after."""
    degree: tuple[Degree, Degree]
    """Before and after."""


class PointsChange(Record):
    """A number of a scorecard that moved; without attribute and value it is the intercept."""

    attribute: str | None
    value: str | None
    before: str
    """Points or weight, a decimal."""
    after: str


class PerformanceRecord(Record):
    """How well the two models predict the decisions in a table; null where it has one decision only."""

    data: str
    rows: Count
    unknown: dict[str, Count] = Field(default_factory=dict)
    """Cells by attribute that the model has no value for; taken as not observed."""
    accuracy: Annotated[tuple[Probability, Probability], Field(description="Before and after.")] | None
    auc: Annotated[tuple[Probability, Probability], Field(description="Before and after.")] | None


class ProofSummary(Record):
    """What is proved of all models of the same counts that are δ-fair by the difference.

    They need not keep to conditions, nor be fair by another criterion. The proof is a document of its own.
    """

    bound: float
    """No δ-fair model has a greater log-likelihood."""
    gap: Annotated[float, Field(ge=0)]
    """By how many nats the bound is above the repaired model."""
    share: float | None
    """Of the nats that the repair lost; null: it lost less than the gap."""
    closed: bool
    """Whether the gap that was aimed at was reached."""
    branches: Count


class TriedMargin(Record):
    """Draws of the next model of one that was repaired at some threshold."""

    delta: str
    """Of the repair."""
    seed: Count
    draws: Count
    """No more are made once too many are not δ-fair."""
    delta_fair: Count


class MarginSummary(Record):
    """How likely the next model is δ-fair without being repaired.

    It is learned in the same way from as many people as stand behind the repaired model, drawn as that
    describes them. The threshold of the repair is the largest hundredth of δ that was found to do.
    """

    delta: str
    """At which the next model is to be δ-fair, as given."""
    wanted: str
    """With at least this probability, as given."""
    level: str
    """Probability with which each limit holds."""
    probability: tuple[Probability, Probability]
    """Limits (Clopper and Pearson) of the probability, from the draws below."""
    delta_fair: Count
    draws: Count
    seed: Count
    """Of draws that had no part in finding the threshold; auditor stability makes them again."""
    generator: str
    """Of random numbers; another may give other draws."""
    complete: bool
    """Whether the time sufficed to find the largest threshold that does."""
    tried: tuple[TriedMargin, ...]
    """In order; the last is the result."""


class ConditionsRecord(Record):
    """What the repaired model keeps to besides being fair: checked exactly, as it is written."""

    keep: tuple[str, ...] = ()
    """Attributes whose probabilities stay those of the counts."""
    largest_change: str | None = None
    """No probability, the prior included, differs by more than this from the counts'."""
    rising: tuple[str, ...] = ()
    """Attributes whose log-odds don't fall in the listed order of their values."""
    falling: tuple[str, ...] = ()
    """Attributes whose log-odds don't rise in that order."""


class AlsoRecord(Record):
    """The other criterion by which a repaired model is fair too, proved by a search of its own."""

    criterion: CriterionName
    delta: str
    """Its threshold as given."""
    patterns_before: Count | None
    """Of the unconstrained model, by this criterion; null: not counted."""


class Repair(Record):
    """How a model was repaired; "before" is the most likely model of the counts, which nothing constrains."""

    kind: Literal["auditor/repair"] = "auditor/repair"
    version: Literal[1] = 1
    method: MethodName
    criterion: CriterionName
    delta: str
    """The threshold as given, or the one inside it that gives the margin; a degree above it discriminates."""
    also: AlsoRecord | None = None
    """null: one criterion was asked for."""
    conditions: ConditionsRecord | None = None
    """null: none were set."""
    solver: SolverName | None
    """null: the method needs none."""
    rounds: Count
    constraints: Count
    progress: tuple[RoundRecord, ...] = ()
    """Round by round."""
    shortfall: str | None
    """Why a more likely fair model may be near; null: a local optimum."""
    log_likelihoods: LogLikelihoodsRecord
    price: float | None
    """Share of the way in log-likelihood from the unconstrained to the independent model."""
    proof: ProofSummary | None = None
    """null: no proof was asked for."""
    margin: MarginSummary | None = None
    """null: none was asked for."""
    patterns_before: Count | None
    """Exact; null: not counted within the limits."""
    patterns_after: Count | None
    total_patterns: Count
    parameters_moved: tuple[ParameterChange, ...]
    """The ten largest moves; none of a scorecard."""
    points_moved: tuple[PointsChange, ...] = ()
    """Of a scorecard: all points or weights that moved, as they stand in it."""
    predictions: tuple[PredictionShift, ...]
    """For worst patterns of the unconstrained model."""
    performance: PerformanceRecord | None
    before: ModelRecord
    after: ModelRecord
    tool: ToolRecord = ToolRecord()
