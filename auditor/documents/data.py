"""What data show beside a model: who they are, how the model decides on them, and where it is off."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from auditor.documents.record import Record

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Observed(Record):
    """A share of people in the data, with its 95% Wilson score interval; null where there are no people."""

    count: Count
    people: Annotated[int, Field(ge=0, description="Of how many.")]
    share: Share | None
    low: Share | None
    high: Share | None


class DataGroup(Record):
    """People with these sensitive values."""

    values: Annotated[dict[str, str], Field(description="Attribute to label; one or two attributes.")]
    people: Count
    small: Annotated[bool, Field(description="Fewer people than min_group: the shares say little.")]
    accuracy: Annotated[
        Observed, Field(description="For how many the model's decision is the one in the data.")
    ]
    selected: Annotated[
        Observed, Field(description="To how many the model gives the favourable decision: P above 1/2.")
    ]
    favourable: Annotated[Observed, Field(description="How many have the favourable decision in the data.")]
    impact_ratio: Annotated[
        float | None,
        Field(
            ge=0,
            description="Share selected, divided by the largest share of a group by the same attributes that "
            "is not small; null if there is none or it is 0.",
        ),
    ]


class DataPattern(Record):
    """How a listed pattern occurs in the data, among the people whose values of its attributes are known."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    lists: Annotated[
        tuple[Literal["worst", "top", "minimal"], ...], Field(min_length=1, description="Where it is listed.")
    ]
    probability: Annotated[Share, Field(description="The model's share of people with all of these values.")]
    occurs: Observed
    probability_in_interval: Annotated[
        bool | None, Field(description="Whether the model's share is in the interval; null: nobody is known.")
    ]
    favourable_given_pattern: Annotated[Share, Field(description="P(favourable | all), by the model.")]
    favourable_given_context: Annotated[Share, Field(description="P(favourable | context), by the model.")]
    observed_given_pattern: Annotated[Observed, Field(description="Favourable decisions in the data.")]
    observed_given_context: Annotated[Observed, Field(description="Favourable decisions in the data.")]


class DataEvidence(Record):
    """What a table shows. Cells that are missing or unknown to the model are taken as not observed."""

    source: str
    people: Annotated[int, Field(ge=0, description="Rows with a decision that the model knows.")]
    undecided: Annotated[int, Field(ge=0, description="Rows left out, whose decision is missing.")]
    other_decision: Annotated[int, Field(ge=0, description="Rows left out, with another decision.")]
    missing: Annotated[
        dict[str, Count], Field(description="Missing cells by attribute, where there are any.")
    ]
    unknown: Annotated[
        dict[str, Count], Field(description="Cells by attribute that the model has no value for.")
    ]
    impossible: Annotated[
        int, Field(ge=0, description="People to whom the model gives either decision with probability 0.")
    ]
    min_group: Annotated[int, Field(ge=1)]
    accuracy: Observed
    selected: Observed
    favourable: Observed
    groups: tuple[DataGroup, ...]
    patterns: tuple[DataPattern, ...]
