"""Groups of people as the model describes them: rates, impact ratios and the gap between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from auditor.documents.approvals import ApprovedGroupRecord
from auditor.documents.audit import GroupRecord, GroupTable
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import FOUR_FIFTHS, people, percent, plural, rounded, size
from auditor.report.subject import Subject

#: Groups in a table, the least favoured first.
_SHOWN = 10


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if not subject.audit or not subject.audit.groups or subject.brief:
        return None
    fav, tables = subject.stated.model.favourable, subject.audit.groups
    blocks: list[Block] = [
        Heading("By group of people", "groups"),
        Paragraph(
            "These rates are implied by the model: what it predicts for a person of whom only the group is "
            "known. They are not rates observed in any data. The impact ratio compares a group with the "
            "most favoured one of the same attributes; ▼ marks a ratio below 0.8, the US rule of thumb of "
            "four fifths.",
            "intro",
        ),
        Paragraph(f"Groups, whatever their share of people: {summary(tables, name=True)}."),
    ]
    alone = [group for table in tables if len(table.attributes) == 1 for group in _ordered(table)[:_SHOWN]]
    parts = [("Each sensitive attribute by itself, least favoured first", alone)] if alone else []
    parts += [
        (f"{' · '.join(table.attributes)}, least favoured first", _ordered(table)[:_SHOWN])
        for table in tables
        if len(table.attributes) > 1
    ]
    for caption, groups in parts:
        head: tuple[str, ...] = ("Group", "People", f"P({fav} | group)", "Impact ratio")
        rows = [row(group, group.favourable) for group in groups]
        if subject.stated.model.undisclosed not in (None, "conforming"):
            # Without a population nobody knows how many people there are.
            head, rows = (head[0], *head[2:]), [(cells[0], *cells[2:]) for cells in rows]
        blocks.append(Table(caption, head, rows, len(head) - 1, "groups"))
    left = sum(max(0, len(table.groups) - _SHOWN) for table in tables)
    if left:
        text = f"Not shown: {plural(left, 'more group')}, none of them worse off than these."
        blocks.append(Paragraph(text, "small"))
    return blocks


def summary(tables: Iterable[GroupTable], *, name: bool = False) -> str:
    """How many groups are below four fifths, the lowest ratio, and the widest gap; and of whom, if asked."""
    found = [_ordered(table) for table in tables]
    known = [
        (group.impact_ratio, group) for groups in found for group in groups if group.impact_ratio is not None
    ]
    least, most = max(
        ((one[0], one[-1]) for one in found), key=lambda ends: ends[1].favourable - ends[0].favourable
    )
    low, high = (
        percent(group.favourable) + (f" ({values(group.values)})" if name else "") for group in (least, most)
    )
    gap = f"widest gap {rounded(most.favourable - least.favourable)}, from {low} to {high}"
    if not known:
        return f"no impact ratio, since the most favoured group has a rate of 0; {gap}"
    below = sum(value < float(FOUR_FIFTHS) for value, _ in known)
    lowest, group = min(known, key=lambda one: one[0])
    who = f" ({values(group.values)})" if name else ""
    return (
        f"{below:,} of {len(known):,} below four fifths of the most favoured one; lowest impact ratio "
        f"{ratio(lowest)}{who}; {gap}"
    )


def below_four_fifths(tables: Iterable[GroupTable]) -> str:
    """Whether any group is below four fifths, with the figure: a question and its answer."""
    return four_fifths((group.impact_ratio, group.values) for table in tables for group in table.groups)


def four_fifths(groups: Iterable[tuple[float | None, Mapping[str, str]]]) -> str:
    """The same of groups by their impact ratios and values."""
    asked = "is any group below four fifths of the most favoured one?"
    known = [(value, names) for value, names in groups if value is not None]
    if not known:
        return f"{asked} Not known: there is no impact ratio."
    below = sum(value < float(FOUR_FIFTHS) for value, _ in known)
    lowest, names = min(known, key=lambda one: one[0])
    said = f"Yes: {below:,} of {len(known):,}" if below else f"No, none of {len(known):,}"
    return f"{asked} {said}; the lowest impact ratio is {ratio(lowest)} ({values(names)})."


def _ordered(table: GroupTable) -> list[GroupRecord]:
    return sorted(table.groups, key=lambda group: group.favourable)


def row(group: GroupRecord | ApprovedGroupRecord, rate: float) -> tuple[str | Cell, ...]:
    """Make a row of a table of groups: who, how many, the rate and its impact ratio."""
    return (
        values(group.values),
        people(group.probability),
        Cell(percent(rate), rate, (0, rate)),
        "none" if group.impact_ratio is None else marked_ratio(group.impact_ratio),
    )


def marked_ratio(value: float) -> str:
    """Write an impact ratio with a mark if it is below four fifths."""
    return f"{'▼ ' if value < float(FOUR_FIFTHS) else ''}{ratio(value)}"


def ratio(value: float) -> str:
    """Write an impact ratio on its side of four fifths."""
    return size(value, FOUR_FIFTHS)
