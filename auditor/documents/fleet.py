"""The fleet document, version 1: a row for each model of many that were asked the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from auditor.choices import CriterionName, Undisclosed, Verdict
from auditor.documents.audit import DegreeRecord, ModelRecord
from auditor.documents.record import Count, Digest, Record, ToolRecord

if TYPE_CHECKING:
    from auditor.search.answer import Answer


class FleetQuestion(Record):
    """What every model of a fleet was asked, as it was given."""

    delta: str
    """The threshold; a degree above it discriminates."""
    criterion: CriterionName = "difference"
    min_probability: str | None = None
    """null: patterns of any probability."""
    sensitive: tuple[str, ...] | None = None
    """null: the attributes that each model marks."""
    undisclosed: Undisclosed | None = None
    """null: as each scorecard says."""
    time_limit: Annotated[float | None, Field(ge=0)] = None
    """Seconds for each model."""


class Answered(Record):
    """What an audit of one model found."""

    verdict: Verdict
    model: ModelRecord
    largest: DegreeRecord
    """The largest degree with its bounds and pattern."""
    pattern_count: Count | None
    """Exact number of discrimination patterns."""
    pattern_count_bounds: tuple[Count, Count]
    total_patterns: Count
    complete: bool
    """Whether the largest degree and the count are exact."""

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Write an answer down in short."""
        count = answer.count
        return cls(
            verdict=answer.verdict,
            model=ModelRecord.of(answer.model),
            largest=DegreeRecord.of(answer.model, answer.largest, answer.question.criterion.threshold),
            pattern_count=count.total,
            pattern_count_bounds=(count.lower, count.upper),
            total_patterns=answer.model.total_patterns(),
            complete=answer.largest.exact and count.total is not None,
        )


class Failure(Record):
    """Why there is no answer: nothing is known of the model."""

    exit_code: Literal[3, 70]
    """3: bad input; 70: a bug, or an end from outside."""
    problems: Annotated[tuple[str, ...], Field(min_length=1)]


class FleetRow(Record):
    """What became of one model; exactly one of ``answer`` and ``failure`` is there."""

    kind: Literal["auditor/fleet"] = "auditor/fleet"
    version: Literal[1] = 1
    file: str
    file_sha256: Digest | None
    """Of its bytes; null: they can't be read."""
    question: FleetQuestion
    answer: Answered | None = None
    failure: Failure | None = None
    report: str | None = None
    """The report of its audit, if one was written."""
    seconds: Annotated[float, Field(ge=0)]
    tool: ToolRecord = ToolRecord()

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.answer is None) == (self.failure is None):
            raise ValueError("a row has either an answer or a failure")
        return self
