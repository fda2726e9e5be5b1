"""Two special cases: nothing else is known of a person, or everything is."""

from __future__ import annotations

from auditor.documents.audit import DegreeRecord, PatternRecord
from auditor.report.blocks import Block, Blocks, Heading, Paragraph
from auditor.report.subject import Subject
from auditor.report.wording import of_all, sentence, worst_heading


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if not subject.audit:
        return None
    stated, blocks = subject.stated, list[Block]()
    for name, what, figure in levels(subject):
        assert figure.worst_pattern
        blocks += [
            Heading(worst_heading(what, figure, stated.delta, stated.min_probability), name),
            Paragraph(_which(figure.worst_pattern, subject)),
        ]
    return blocks


def _which(pattern: PatternRecord, subject: Subject) -> str:
    """The pattern in a sentence, unless that stands above."""
    worst = subject.stated.largest.worst_pattern
    if worst and (pattern.sensitive_values, pattern.context_values) == (
        worst.sensitive_values,
        worst.context_values,
    ):
        where = of_all(subject.stated.min_probability, subject.stated.largest.proved)
        return f"This is the worst pattern {where}, above."
    return sentence(pattern, subject.stated.model.favourable)


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
