"""What data show beside a model: who they are, how the model decides on them, and where it is off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.documents.record import Count, Probability, Record, labels

if TYPE_CHECKING:
    from auditor.data.comparing import Evidence, Tally
    from auditor.documents.audit import Audit, PatternRecord
    from auditor.model.classifier import Classifier

#: Groups with fewer people are small, where nothing else is said.
MIN_GROUP = 30

_ListName = Literal["worst", "top", "minimal"]


class Observed(Record):
    """A share of people in the data, with its 95% Wilson score interval; null where there are no people."""

    count: Count
    people: Annotated[int, Field(ge=0)]
    """Of how many."""
    share: Probability | None
    low: Probability | None
    high: Probability | None

    @classmethod
    def of(cls, count: int, people: int) -> Self:
        """Record a share; NumPy comes with the first, and not with a record that is only read."""
        if not people:
            return cls(count=0, people=0, share=None, low=None, high=None)
        from auditor.data.scoring import wilson

        low, high = wilson(count, people)
        return cls(count=count, people=people, share=count / people, low=low, high=high)


class DataGroup(Record):
    """People with these sensitive values."""

    values: dict[str, str]
    """Attribute to label; one or two attributes."""
    people: Count
    small: bool
    """Fewer people than min_group: the shares say little."""
    accuracy: Observed
    """For how many the model's decision is the one in the data."""
    selected: Observed
    """To how many the model gives the favourable decision: P above the cut-off."""
    favourable: Observed
    """How many have the favourable decision in the data."""
    impact_ratio: Annotated[float | None, Field(ge=0)]
    """Share selected, divided by the largest share of a group by the same attributes that is not small; null
    if there is none or it is 0.
    """
    true_positive_rate: Observed | None = None
    """Selected among those with the favourable decision in the data; null: not measured."""
    false_positive_rate: Observed | None = None
    """Selected among those with the other decision in the data; null: not measured."""


class DataPattern(Record):
    """How a listed pattern occurs in the data, among the people whose values of its attributes are known."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    lists: Annotated[tuple[_ListName, ...], Field(min_length=1)]
    """Where it is listed."""
    probability: Probability | None
    """The model's share of people with all of these values; null: it has no population."""
    occurs: Observed
    probability_in_interval: bool | None
    """Whether the model's share is in the interval; null: nobody is known, or no share is."""
    favourable_given_pattern: Probability
    """P(favourable | all), by the model."""
    favourable_given_context: Probability
    """P(favourable | context), by the model."""
    observed_given_pattern: Observed
    """Favourable decisions in the data."""
    observed_given_context: Observed
    """Favourable decisions in the data."""


class DataEvidence(Record):
    """What a table shows. Cells that are missing or unknown to the model are taken as not observed."""

    source: str
    people: Annotated[int, Field(ge=0)]
    """Rows with a decision that the model knows."""
    undecided: Annotated[int, Field(ge=0)]
    """Rows left out, whose decision is missing."""
    other_decision: Annotated[int, Field(ge=0)]
    """Rows left out, with another decision."""
    missing: dict[str, Count]
    """Missing cells by attribute, where there are any."""
    unknown: dict[str, Count]
    """Cells by attribute that the model has no value for."""
    impossible: Annotated[int, Field(ge=0)]
    """People to whom the model gives either decision with probability 0."""
    min_group: Annotated[int, Field(ge=1)]
    cutoff: str = "0.5"
    """The model selects whom it gives the favourable decision with P above this, or from so many points on,
    on the favourable side.
    """
    cutoff_unit: Literal["probability", "points"] = "probability"
    accuracy: Observed
    selected: Observed
    favourable: Observed
    groups: tuple[DataGroup, ...]
    patterns: tuple[DataPattern, ...]
    true_positive_rate: Observed | None = None
    false_positive_rate: Observed | None = None


def listed(audit: Audit) -> list[tuple[PatternRecord, list[_ListName]]]:
    """Return the patterns that an audit lists, each once, and where they are listed."""
    found: dict[object, tuple[PatternRecord, list[_ListName]]] = {}
    lists: list[tuple[_ListName, Iterable[PatternRecord]]] = [
        ("worst", [audit.worst_pattern] if audit.worst_pattern else []),
        ("top", audit.top_patterns),
        ("minimal", audit.minimal_patterns),
    ]
    for name, patterns in lists:
        for pattern in patterns:
            key = tuple(pattern.sensitive_values.items()), tuple(pattern.context_values.items())
            found.setdefault(key, (pattern, []))[1].append(name)
    return list(found.values())


def evidence(
    found: Evidence,
    model: Classifier,
    patterns: Iterable[tuple[PatternRecord, list[_ListName]]],
    *,
    min_group: int,
) -> DataEvidence:
    """Record what data show beside an audit, whose patterns these are."""
    table, everybody = found.table, found.everybody
    largest: dict[tuple[int, ...], Fraction] = {}
    for tally in found.groups:
        if tally.people >= min_group and tally.decided:
            key = tuple(i for i, _ in tally.values)
            largest[key] = max(largest.get(key, Fraction(0)), Fraction(tally.selected, tally.decided))
    return DataEvidence(
        source=table.name,
        people=everybody.people,
        undecided=table.undecided,
        other_decision=table.other_decision,
        missing=table.missing,
        unknown=table.unknown,
        impossible=everybody.people - everybody.decided,
        min_group=min_group,
        cutoff=found.cutoff.text,
        cutoff_unit="points" if found.cutoff.probability is None else "probability",
        groups=tuple(_group(tally, model, min_group, largest) for tally in found.groups),
        patterns=tuple(
            _pattern(record, lists, whole, context)
            for (record, lists), (whole, context) in zip(patterns, found.patterns, strict=True)
        ),
        **_rates(everybody),
    )


def _rates(tally: Tally) -> dict[str, Observed]:
    undeserving = tally.decided - tally.deserving
    return {
        "accuracy": Observed.of(tally.right, tally.decided),
        "selected": Observed.of(tally.selected, tally.decided),
        "favourable": Observed.of(tally.favourable, tally.people),
        "true_positive_rate": Observed.of(tally.found, tally.deserving),
        "false_positive_rate": Observed.of(tally.selected - tally.found, undeserving),
    }


def _group(
    tally: Tally, model: Classifier, min_group: int, largest: Mapping[tuple[int, ...], Fraction]
) -> DataGroup:
    best = largest.get(tuple(i for i, _ in tally.values))
    # Rounded once: what is exactly four fifths must not fall below.
    ratio = float(Fraction(tally.selected, tally.decided) / best) if best and tally.decided else None
    return DataGroup(
        values=labels(model, tally.values),
        people=tally.people,
        small=tally.people < min_group,
        impact_ratio=ratio,
        **_rates(tally),
    )


def _pattern(record: PatternRecord, lists: Iterable[_ListName], whole: Tally, context: Tally) -> DataPattern:
    occurs = Observed.of(whole.people, whole.known)
    inside = None
    if occurs.low is not None and occurs.high is not None and record.probability is not None:
        inside = occurs.low <= record.probability <= occurs.high
    return DataPattern(
        sensitive_values=record.sensitive_values,
        context_values=record.context_values,
        lists=tuple(lists),
        probability=record.probability,
        occurs=occurs,
        probability_in_interval=inside,
        favourable_given_pattern=record.favourable_given_pattern,
        favourable_given_context=record.favourable_given_context,
        observed_given_pattern=Observed.of(whole.favourable, whole.people),
        observed_given_context=Observed.of(context.favourable, context.people),
    )
