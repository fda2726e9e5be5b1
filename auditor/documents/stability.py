"""The stability document, version 1: how the largest degree of models that were drawn about one varies.

Degrees and limits are estimates from draws; each drawn model was answered exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.choices import CriterionName, Verdict
from auditor.documents.audit import DegreeRecord, ModelRecord
from auditor.documents.record import Count, Probability, Record, ToolRecord
from auditor.documents.rounding import ends_beside, round_beside, rounded_down, rounded_up

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

    share: str
    """This share of the models has no larger one."""
    degree: Probability
    """In the draws; from below, where limits were reached."""
    limits: Limits
    """95% limits that suppose nothing of the distribution; 0 or 1: too few draws."""


class BarRecord(Record):
    """The draws whose largest degree is in an interval, its lower end included and its upper end not."""

    low: Probability
    delta_fair: Count
    not_delta_fair: Count


class SampleRecord(Record):
    """What draws from one distribution show."""

    delta_fair: Count
    not_delta_fair: Count
    undecided: Count
    """Limits were reached, or no model came of the draw: never counted as δ-fair."""
    probability: Limits
    """95% limits (Clopper and Pearson) of the probability of being δ-fair; what is undecided counts against
    the lower one and for the upper one.
    """
    quantiles: tuple[QuantileRecord, ...]
    bar_width: Positive
    bars: tuple[BarRecord, ...]
    """Draws whose largest degree is known; none empty."""

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
    worst: Count
    """In so many draws."""


class PatternShareRecord(Record):
    """A pattern that is the worst in some draws."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    worst: Count
    """In so many draws it is the worst."""
    discriminates: Count
    """In so many draws it is above the threshold."""


class TriedRecord(Record):
    """The interval with another number of rows, measured by as many draws."""

    rows: Positive
    width: Probability


class RowsRecord(Record):
    """How many rows a narrower interval needs."""

    width: str
    """That was asked for, as it was given."""
    rows: Positive | None
    """With so many the middle 95% of the draws are no wider; null: not reached in the sizes that were tried.
    """
    tried: Annotated[tuple[TriedRecord, ...], Field(min_length=1)]
    """The rows of the model first."""


class Stability(Record):
    """How far the verdict on a model may be that of the data that it happened to be learned from."""

    kind: Literal["auditor/stability"] = "auditor/stability"
    version: Literal[1] = 1
    model: ModelRecord
    criterion: CriterionName
    delta: str
    """The threshold as given; a degree above it discriminates."""
    verdict: Verdict
    """On the model itself; no draw bears on it."""
    largest: DegreeRecord
    """Of the model itself."""
    repaired: bool
    """Whether the rows are those that the repaired probabilities give, not those counted."""
    rows: Positive
    """Behind the model; a fraction comes of weights."""
    prior_rows: str
    """Rows that each value has before any data; with 1 all probabilities are equally likely then."""
    smoothing: str
    """With which the next model is learned, like this one."""
    level: str
    """Probability with which each pair of limits holds."""
    seed: Count
    draws: Annotated[int, Field(ge=1)]
    """From each distribution."""
    generator: str
    """Of random numbers; another may give other draws."""
    posterior: SampleRecord
    """Of the probabilities behind the data."""
    next_model: SampleRecord
    """Of a model that is learned in the same way from as many new rows."""
    carried_by: tuple[CarriedRecord, ...]
    """In draws of the posterior, the most frequent first."""
    patterns: tuple[PatternShareRecord, ...]
    """In draws of the posterior, the most frequent first."""
    rows_needed: RowsRecord | None = None
    """null: no width was asked for."""
    tool: ToolRecord = ToolRecord()


def _quantile(sample: Sample, share: Fraction) -> QuantileRecord:
    (degree, _), (low, high) = sample.quantile(share)
    return QuantileRecord(
        share=str(float(share)),
        degree=round_beside(degree, sample.threshold),
        limits=ends_beside(low, high, sample.threshold),
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
