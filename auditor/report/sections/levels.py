"""Two special cases: nothing else is known of a person, or everything is."""

from __future__ import annotations

from auditor.documents.audit import DegreeRecord
from auditor.report.blocks import Block, Blocks, Heading, Paragraph
from auditor.report.subject import Subject
from auditor.report.wording import sentence, worst_heading


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if not subject.audit:
        return None
    blocks: list[Block] = []
    for name, what, figure in levels(subject):
        assert figure.worst_pattern
        blocks += [
            Heading(worst_heading(what, figure, subject.stated.delta), name),
            Paragraph(sentence(figure.worst_pattern, subject.stated.model.favourable)),
        ]
    return blocks


def levels(subject: Subject) -> list[tuple[str, str, DegreeRecord]]:
    """The levels that there are: identifier, words, and figure."""
    audit = subject.audit
    if not audit:
        return []
    group, person, bounds = audit.group_level, audit.individual_level, audit.group_level_bounds
    if group and not bounds:  # in older documents, where all groups were looked at one by one
        bounds = abs(group.degree), abs(group.degree)
    named = (
        ("group-level", "Group level, nothing else known", group, bounds),
        (
            "individual-level",
            "Individual level, every attribute known",
            person,
            audit.individual_level_bounds,
        ),
    )
    return [
        (name, what, DegreeRecord(max_degree=abs(p.degree), max_degree_bounds=ends, worst_pattern=p))
        for name, what, p, ends in named
        if p
    ]
