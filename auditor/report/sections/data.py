"""What data show beside the model."""

from __future__ import annotations

from auditor.documents.audit import PatternRecord
from auditor.documents.data import DataEvidence, DataGroup, DataPattern, Observed, listed
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import FOUR_FIFTHS, percent, points, signed
from auditor.report.sections.groups import four_fifths, marked_ratio, ratio
from auditor.report.subject import Subject

#: Patterns whose occurrence in data a terminal and a report show; the JSON document has all.
_ON_TERMINAL, _ON_PAPER = 10, 40


def section(subject: Subject) -> Blocks:
    """Make the section."""
    data = subject.audit and subject.audit.data
    if not data:
        return None
    blocks: list[Block] = [
        Heading(f"In the data: {data.people:,} people", "data-people"),
        *map(Paragraph, _sentences(data)),
    ]
    if not subject.brief:
        blocks.append(
            Paragraph(
                "These rates are observed in the data: “selected” are the people to whom the model gives "
                "the favourable decision. The impact ratio compares a group with the most selected one of "
                "the same attributes that is not small; ▼ marks a ratio below 0.8.",
                "intro",
            )
        )
    head = ("Group", "People", "Selected", "95% interval", "Impact ratio", "Accuracy")
    blocks.append(Table("", head, [_group(g) for g in data.groups], 5, "data"))
    rates = [_errors(group) for group in data.groups if group.true_positive_rate or group.false_positive_rate]
    if rates:
        blocks += [
            Heading("Error rates by group", "data-errors"),
            Paragraph(
                "Who is selected among those with the favourable decision in the data (true positives), and "
                "among those with the other decision (false positives)."
            ),
            Table(
                "",
                ("Group", "True positives", "95% interval", "False positives", "95% interval"),
                rates,
                4,
                "errors",
            ),
        ]
    if data.patterns:
        shown = data.patterns[: _ON_TERMINAL if subject.brief else _ON_PAPER]
        told: dict[object, str] = {}
        if subject.audit and subject.audit.criterion == "difference":
            delta = subject.stated.delta
            told = {_key(record): signed(record.degree, delta) for record, _ in listed(subject.audit)}
        blocks += [
            Heading("How often the listed patterns occur in the data", "data-patterns"),
            Paragraph(
                "Shares and changes are those in the data; beside them stand those by the model. A * marks "
                "where the model’s share of people is outside the interval: its population is off there. The "
                "change is the difference that disclosing makes to the share of favourable decisions.",
                "intro",
            ),
            Table(
                "",
                (
                    "#",
                    "Disclosed",
                    "Given",
                    "People",
                    "Share (95% interval)",
                    "Share by model",
                    "Change",
                    "Change by model",
                ),
                [_pattern(rank, pattern, told.get(_key(pattern))) for rank, pattern in enumerate(shown, 1)],
                5,
                "patterns in-data",
            ),
        ]
        if left := len(data.patterns) - len(shown):
            blocks.append(Paragraph(f"{left:,} more in the JSON document.", "small"))
    return blocks


def summary(data: DataEvidence) -> str:
    """Whether a group in the data is below four fifths, and who is selected."""
    large = [group for group in data.groups if not group.small]
    ratios = [group.impact_ratio for group in large if group.impact_ratio is not None]
    below = sum(value < float(FOUR_FIFTHS) for value in ratios)
    lowest = f", lowest impact ratio {ratio(min(ratios))}" if ratios else ""
    return (
        f"{data.people:,} people, {observed(data.selected)} selected; {below:,} of {len(ratios):,} groups "
        f"below four fifths of the most selected one{lowest}; groups of fewer than {data.min_group:,} people "
        "left out"
    )


def below_four_fifths(data: DataEvidence) -> str:
    """Whether any group that is not small is below four fifths, with the figure."""
    found = four_fifths((group.impact_ratio, group.values) for group in data.groups if not group.small)
    return f"{found} Groups of fewer than {data.min_group:,} people are left out."


def observed(found: Observed) -> str:
    """Write an observed share with its interval."""
    return "nobody" if found.share is None else f"{percent(found.share)} ({_interval(found)})"


def _sentences(data: DataEvidence) -> list[str]:
    """Who is in the data, and how the model decides on them."""
    sentences = [
        f"From {data.source}. The model selects ({_selecting(data)}) "
        f"{observed(data.selected)}; in the data {observed(data.favourable)} have it. They agree for "
        f"{observed(data.accuracy)}."
    ]
    sentences += [
        f"{number:,} rows are left out, whose decision {reason}."
        for number, reason in (
            (data.undecided, "is missing"),
            (data.other_decision, "is one that the model doesn't know"),
        )
        if number
    ]
    absent = [
        f"{name}: {cells:,} {what}"
        for what, found in (("missing", data.missing), ("unknown to the model", data.unknown))
        for name, cells in found.items()
    ]
    if absent:
        sentences.append(f"Cells taken as not observed: {'; '.join(absent)}.")
    if data.impossible:
        sentences.append(f"For {data.impossible:,} people the model gives each decision the probability 0.")
    return sentences


def _selecting(data: DataEvidence) -> str:
    if data.cutoff_unit == "probability":
        return f"gives the favourable decision with more than {data.cutoff}"
    points = data.cutoff.removesuffix("points").strip()
    return f"by {points} points, on the favourable side or exactly"


def _interval(found: Observed) -> str:
    if found.low is None or found.high is None:
        return "no data"
    return f"{percent(found.low)} to {percent(found.high)}"


def _share(share: float | None) -> str:
    return "-" if share is None else percent(share)


def _group(group: DataGroup) -> tuple[str | Cell, ...]:
    return (
        values(group.values),
        f"{group.people:,}" + (" (few)" if group.small else ""),
        _share(group.selected.share),
        _interval(group.selected),
        "-" if group.impact_ratio is None else marked_ratio(group.impact_ratio),
        _share(group.accuracy.share),
    )


def _errors(group: DataGroup) -> tuple[str, ...]:
    true, false = group.true_positive_rate, group.false_positive_rate
    cells = [(_share(rate.share), _interval(rate)) if rate else ("-", "-") for rate in (true, false)]
    return values(group.values), *cells[0], *cells[1]


def _key(pattern: PatternRecord | DataPattern) -> object:
    return tuple(pattern.sensitive_values.items()), tuple(pattern.context_values.items())


def _pattern(rank: int, pattern: DataPattern, degree: str | None) -> tuple[str | Cell, ...]:
    """A row; by the model the change is the degree as it is listed, if the criterion is the difference."""
    given, context = pattern.observed_given_pattern.share, pattern.observed_given_context.share
    seen = None if given is None or context is None else given - context
    change = pattern.favourable_given_pattern - pattern.favourable_given_context
    return (
        str(rank),
        values(pattern.sensitive_values),
        values(pattern.context_values, "nothing else"),
        f"{pattern.occurs.count:,}",
        observed(pattern.occurs),
        _share(pattern.probability) + ("*" if pattern.probability_in_interval is False else ""),
        "-" if seen is None else points(seen),
        degree or points(change),
    )
