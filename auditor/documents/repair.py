"""The repair document, version 1: what a repair changed, and what it cost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from auditor.choices import CriterionName, MethodName, SolverName
from auditor.documents.audit import Count, Degree, ModelRecord, Probability, ToolRecord
from auditor.documents.comparison import ParameterChange
from auditor.documents.record import Record


class LogLikelihoodsRecord(Record):
    """Natural logarithms of the likelihood of the counts with their smoothing; null is minus infinity."""

    unconstrained: float | None
    repaired: float | None
    independent: Annotated[
        float | None, Field(description="Of the most likely model with sensitive attributes independent.")
    ]
    independent_mean: Annotated[
        float | None, Field(description="Of the one that takes the mean of both conditionals instead.")
    ]


class RoundRecord(Record):
    """Where the learner stood after a round; round 0 is the unconstrained model."""

    round: Count
    constraints: Count
    log_likelihood: float | None
    patterns: Annotated[
        Count | None, Field(description="Discrimination patterns left, exactly; null: not counted.")
    ]


class PredictionShift(Record):
    """What the two models predict where the unconstrained one discriminates."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    favourable_given_context: Annotated[
        tuple[Probability, Probability],
        Field(description="P(favourable | context values), before and after."),
    ]
    favourable_given_pattern: Annotated[
        tuple[Probability, Probability],
        Field(description="P(favourable | all of these values), before and after."),
    ]
    degree: Annotated[tuple[Degree, Degree], Field(description="Before and after.")]


class PointsChange(Record):
    """A number of a scorecard that moved; without attribute and value it is the intercept."""

    attribute: str | None
    value: str | None
    before: Annotated[str, Field(description="Points or weight, a decimal.")]
    after: str


class PerformanceRecord(Record):
    """How well the two models predict the decisions in a table; null where it has one decision only."""

    data: str
    rows: Count
    unknown: Annotated[
        dict[str, Count],
        Field(description="Cells by attribute that the model has no value for; taken as not observed."),
    ] = Field(default_factory=dict)
    accuracy: Annotated[tuple[Probability, Probability], Field(description="Before and after.")] | None
    auc: Annotated[tuple[Probability, Probability], Field(description="Before and after.")] | None


class ProofSummary(Record):
    """What is proved of all models of the same counts that are δ-fair by the difference.

    They need not keep to conditions, nor be fair by another criterion. The proof is a document of its own.
    """

    bound: Annotated[float, Field(description="No δ-fair model has a greater log-likelihood.")]
    gap: Annotated[float, Field(ge=0, description="By how many nats the bound is above the repaired model.")]
    share: Annotated[
        float | None, Field(description="Of the nats that the repair lost; null: it lost less than the gap.")
    ]
    closed: Annotated[bool, Field(description="Whether the gap that was aimed at was reached.")]
    branches: Count


class TriedMargin(Record):
    """Draws of the next model of one that was repaired at some threshold."""

    delta: Annotated[str, Field(description="Of the repair.")]
    seed: Count
    draws: Annotated[Count, Field(description="No more are made once too many are not δ-fair.")]
    delta_fair: Count


class MarginSummary(Record):
    """How likely the next model is δ-fair without being repaired.

    It is learned in the same way from as many people as stand behind the repaired model, drawn as that
    describes them. The threshold of the repair is the largest hundredth of δ that was found to do.
    """

    delta: Annotated[str, Field(description="At which the next model is to be δ-fair, as given.")]
    wanted: Annotated[str, Field(description="With at least this probability, as given.")]
    level: Annotated[str, Field(description="Probability with which each limit holds.")]
    probability: Annotated[
        tuple[Probability, Probability],
        Field(description="Limits (Clopper and Pearson) of the probability, from the draws below."),
    ]
    delta_fair: Count
    draws: Count
    seed: Annotated[
        Count,
        Field(
            description="Of draws that had no part in finding the threshold; auditor stability makes them "
            "again."
        ),
    ]
    generator: Annotated[str, Field(description="Of random numbers; another may give other draws.")]
    complete: Annotated[
        bool, Field(description="Whether the time sufficed to find the largest threshold that does.")
    ]
    tried: Annotated[tuple[TriedMargin, ...], Field(description="In order; the last is the result.")]


class ConditionsRecord(Record):
    """What the repaired model keeps to besides being fair: checked exactly, as it is written."""

    keep: Annotated[
        tuple[str, ...], Field(description="Attributes whose probabilities stay those of the counts.")
    ] = ()
    largest_change: Annotated[
        str | None,
        Field(description="No probability, the prior included, differs by more than this from the counts'."),
    ] = None
    rising: Annotated[
        tuple[str, ...],
        Field(description="Attributes whose log-odds don't fall in the listed order of their values."),
    ] = ()
    falling: Annotated[
        tuple[str, ...], Field(description="Attributes whose log-odds don't rise in that order.")
    ] = ()


class AlsoRecord(Record):
    """The other criterion by which a repaired model is fair too, proved by a search of its own."""

    criterion: CriterionName
    delta: Annotated[str, Field(description="Its threshold as given.")]
    patterns_before: Annotated[
        Count | None,
        Field(description="Of the unconstrained model, by this criterion; null: not counted."),
    ]


class Repair(Record):
    """How a model was repaired; "before" is the most likely model of the counts, which nothing constrains."""

    kind: Literal["auditor/repair"] = "auditor/repair"
    version: Literal[1] = 1
    method: MethodName
    criterion: CriterionName
    delta: Annotated[
        str,
        Field(
            description="The threshold as given, or the one inside it that gives the margin; a degree above "
            "it discriminates."
        ),
    ]
    also: Annotated[AlsoRecord | None, Field(description="null: one criterion was asked for.")] = None
    conditions: Annotated[ConditionsRecord | None, Field(description="null: none were set.")] = None
    solver: Annotated[SolverName | None, Field(description="null: the method needs none.")]
    rounds: Count
    constraints: Count
    progress: Annotated[tuple[RoundRecord, ...], Field(description="Round by round.")] = ()
    shortfall: Annotated[
        str | None, Field(description="Why a more likely fair model may be near; null: a local optimum.")
    ]
    log_likelihoods: LogLikelihoodsRecord
    price: Annotated[
        float | None,
        Field(
            description="Share of the way in log-likelihood from the unconstrained to the independent model."
        ),
    ]
    proof: Annotated[ProofSummary | None, Field(description="null: no proof was asked for.")] = None
    margin: Annotated[MarginSummary | None, Field(description="null: none was asked for.")] = None
    patterns_before: Annotated[Count | None, Field(description="Exact; null: not counted within the limits.")]
    patterns_after: Count | None
    total_patterns: Count
    parameters_moved: Annotated[
        tuple[ParameterChange, ...], Field(description="The ten largest moves; none of a scorecard.")
    ]
    points_moved: Annotated[
        tuple[PointsChange, ...],
        Field(description="Of a scorecard: all points or weights that moved, as they stand in it."),
    ] = ()
    predictions: Annotated[
        tuple[PredictionShift, ...], Field(description="For worst patterns of the unconstrained model.")
    ]
    performance: PerformanceRecord | None
    before: ModelRecord
    after: ModelRecord
    tool: ToolRecord = ToolRecord()
