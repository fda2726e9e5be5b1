"""The stability document, version 1: how the largest degree of models that were drawn about one varies.

Degrees and limits are estimates from draws; each drawn model was answered exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.choices import CriterionName, Verdict
from auditor.documents.audit import Count, DegreeRecord, ModelRecord, Probability, ToolRecord
from auditor.documents.record import Record
from auditor.documents.rounding import round_beside, rounded_down, rounded_up

if TYPE_CHECKING:
    from auditor.search.stability import Sample

#: Quantiles that are told: the middle, and what has 95% of the draws between them.
QUANTILES = (Fraction(25, 1000), Fraction(1, 2), Fraction(975, 1000))
#: A histogram has so many bars at most, of one of these widths.
_BARS = 40
_WIDTHS = tuple(Fraction(digit, 10**power) for power in range(18, -1, -1) for digit in (1, 2, 5))

Limits = tuple[Probability, Probability]
Positive = Annotated[float, Field(gt=0)]


class QuantileRecord(Record):
    """A quantile of the largest degree."""

    share: Annotated[str, Field(description="This share of the models has no larger one.")]
    degree: Annotated[Probability, Field(description="In the draws; from below, where limits were reached.")]
    limits: Annotated[
        Limits,
        Field(description="95% limits that suppose nothing of the distribution; 0 or 1: too few draws."),
    ]


class BarRecord(Record):
    """The draws whose largest degree is in an interval, its lower end included and its upper end not."""

    low: Probability
    delta_fair: Count
    not_delta_fair: Count


class SampleRecord(Record):
    """What draws from one distribution show."""

    delta_fair: Count
    not_delta_fair: Count
    undecided: Annotated[
        Count,
        Field(description="Limits were reached, or no model came of the draw: never counted as δ-fair."),
    ]
    probability: Annotated[
        Limits,
        Field(
            description="95% limits (Clopper and Pearson) of the probability of being δ-fair; what is "
            "undecided counts against the lower one and for the upper one."
        ),
    ]
    quantiles: tuple[QuantileRecord, ...]
    bar_width: Positive
    bars: Annotated[
        tuple[BarRecord, ...],
        Field(description="Draws whose largest degree is known; none empty."),
    ]

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Write down what a sample shows."""
        low, high = sample.probability
        width, bars = _bars(sample)
        return cls(
            delta_fair=sample.fair,
            not_delta_fair=sample.unfair,
            undecided=sample.undecided,
            probability=(rounded_down(low), rounded_up(high)),
            quantiles=tuple(_quantile(sample, share) for share in QUANTILES),
            bar_width=float(width),
            bars=bars,
        )


class CarriedRecord(Record):
    """Sensitive values that the worst pattern discloses in some draws, in whatever context."""

    sensitive_values: dict[str, str]
    worst: Annotated[Count, Field(description="In so many draws.")]


class PatternShareRecord(Record):
    """A pattern that is the worst in some draws."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    worst: Annotated[Count, Field(description="In so many draws it is the worst.")]
    discriminates: Annotated[Count, Field(description="In so many draws it is above the threshold.")]


class TriedRecord(Record):
    """The interval with another number of rows, measured by as many draws."""

    rows: Positive
    width: Probability


class RowsRecord(Record):
    """How many rows a narrower interval needs."""

    width: Annotated[str, Field(description="That was asked for, as it was given.")]
    rows: Annotated[
        Positive | None,
        Field(
            description="With so many the middle 95% of the draws are no wider; null: not reached in the "
            "sizes that were tried."
        ),
    ]
    tried: Annotated[tuple[TriedRecord, ...], Field(min_length=1, description="The rows of the model first.")]


class Stability(Record):
    """How far the verdict on a model may be that of the data that it happened to be learned from."""

    kind: Literal["auditor/stability"] = "auditor/stability"
    version: Literal[1] = 1
    model: ModelRecord
    criterion: CriterionName
    delta: Annotated[str, Field(description="The threshold as given; a degree above it discriminates.")]
    verdict: Annotated[Verdict, Field(description="On the model itself; no draw bears on it.")]
    largest: Annotated[DegreeRecord, Field(description="Of the model itself.")]
    repaired: Annotated[
        bool,
        Field(
            description="Whether the rows are those that the repaired probabilities give, not those counted."
        ),
    ]
    rows: Annotated[Positive, Field(description="Behind the model; a fraction comes of weights.")]
    prior_rows: Annotated[
        str,
        Field(
            description="Rows that each value has before any data; with 1 all probabilities are equally "
            "likely then."
        ),
    ]
    smoothing: Annotated[str, Field(description="With which the next model is learned, like this one.")]
    level: Annotated[str, Field(description="Probability with which each pair of limits holds.")]
    seed: Count
    draws: Annotated[int, Field(ge=1, description="From each distribution.")]
    generator: Annotated[str, Field(description="Of random numbers; another may give other draws.")]
    posterior: Annotated[SampleRecord, Field(description="Of the probabilities behind the data.")]
    next_model: Annotated[
        SampleRecord, Field(description="Of a model that is learned in the same way from as many new rows.")
    ]
    carried_by: Annotated[
        tuple[CarriedRecord, ...], Field(description="In draws of the posterior, the most frequent first.")
    ]
    patterns: Annotated[
        tuple[PatternShareRecord, ...],
        Field(description="In draws of the posterior, the most frequent first."),
    ]
    rows_needed: Annotated[RowsRecord | None, Field(description="null: no width was asked for.")] = None
    tool: ToolRecord = ToolRecord()


def _quantile(sample: Sample, share: Fraction) -> QuantileRecord:
    (degree, _), (low, high) = sample.quantile(share)
    return QuantileRecord(
        share=str(float(share)),
        degree=round_beside(degree, sample.threshold),
        limits=(rounded_down(low), rounded_up(high)),
    )


def _bars(sample: Sample) -> tuple[Fraction, tuple[BarRecord, ...]]:
    """How wide the bars are, and those that have draws."""
    known = [draw for draw in sample.draws if draw.worst and draw.lower == draw.upper]
    degrees = [draw.lower for draw in known]
    reach = max(degrees, default=Fraction(0)) - min(degrees, default=Fraction(0))
    width = next(width for width in _WIDTHS if reach <= width * (_BARS - 1))
    counts: dict[int, list[int]] = {}
    for degree in degrees:
        counts.setdefault(degree // width, [0, 0])[degree > sample.threshold] += 1
    return width, tuple(
        BarRecord(low=float(place * width), delta_fair=fair, not_delta_fair=unfair)
        for place, (fair, unfair) in sorted(counts.items())
    )
