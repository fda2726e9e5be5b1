"""Rates of approval at a cut-off: a measure beside the search."""

from __future__ import annotations

from auditor.documents.approvals import ApprovedTable, CutoffRecord
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import percent, plural, points
from auditor.report.sections.groups import row
from auditor.report.subject import Subject

#: Groups in a table, those approved least first, and patterns on a terminal and on paper.
_GROUPS, _ON_TERMINAL, _ON_PAPER = 10, 5, 20


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if not subject.audit or not subject.audit.cutoff:
        return None
    found = subject.audit.cutoff
    blocks: list[Block] = [
        Heading(f"Approvals at the cut-off {found.cutoff}", "approvals"),
        Paragraph(
            f"{percent(found.approved)} of the scorecard’s conforming population are approved: {_who(found)} "
            "once everything is disclosed. These rates are a measure beside the search: patterns were "
            "searched by probabilities, and no verdict, degree or count above depends on a cut-off."
        ),
    ]
    for table in found.groups:
        blocks += _groups(table)
    shown = found.patterns[: _ON_TERMINAL if subject.brief else _ON_PAPER]
    if not shown:
        return blocks
    left = len(found.patterns) - len(shown)
    rows: list[tuple[str | Cell, ...]] = [
        (
            values(entry.sensitive_values),
            values(entry.context_values, "nothing else known"),
            Cell(percent(entry.approved_given_context), entry.approved_given_context),
            Cell(percent(entry.approved_given_pattern), entry.approved_given_pattern),
            Cell(points(entry.difference), abs(entry.difference)),
        )
        for entry in shown
    ]
    head = ("Disclosed", "In the context", "Approved before", "Approved after", "Difference")
    caption = "The worst pattern" + (", then the others that are listed" if len(rows) > 1 else "")
    blocks.append(Table(caption, head, rows, 3, "approved"))
    if left:
        blocks.append(Paragraph(f"The JSON document has {left:,} more.", "small"))
    return blocks


def _who(found: CutoffRecord) -> str:
    if found.unit == "probability":
        return f"those whom it gives a probability of the favourable decision above {found.cutoff}"
    points = found.cutoff.removesuffix("points").strip()
    return f"those who reach {points} points, on the favourable side or exactly,"


def _groups(table: ApprovedTable) -> list[Block]:
    groups = sorted(table.groups, key=lambda group: group.approved)
    least, most = groups[0], groups[-1]
    left = len(groups) - _GROUPS
    rest = f" Not in the table: {plural(left, 'group')} approved as often or more often." if left > 0 else ""
    if least.approved == most.approved:
        said = f"all groups are approved equally often ({percent(least.approved)})"
    else:
        low, high = (f"{percent(group.approved)} ({values(group.values)})" for group in (least, most))
        gap = points(most.approved - least.approved).lstrip("+")
        said = f"widest gap of two groups {gap}, from {low} to {high}"
    head = ("Group", "People", "P(approved | group)", "Impact ratio")
    return [
        Paragraph(f"{' · '.join(table.attributes)}: {said}.{rest}"),
        Table("", head, [row(group, group.approved) for group in groups[:_GROUPS]], 3, "groups"),
    ]
