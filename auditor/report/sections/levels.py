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
    found = []
    if audit and (group := audit.group_level):
        # The groups are few enough to be looked at one by one.
        size = abs(group.degree)
        record = DegreeRecord(max_degree=size, max_degree_bounds=(size, size), worst_pattern=group)
        found.append(("group-level", "Group level, nothing else known", record))
    if audit and (person := audit.individual_level):
        record = DegreeRecord(
            max_degree=abs(person.degree),
            max_degree_bounds=audit.individual_level_bounds,
            worst_pattern=person,
        )
        found.append(("individual-level", "Individual level, every attribute known", record))
    return found
