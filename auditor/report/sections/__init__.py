"""The sections of a report, one file each, and the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from auditor.report.blocks import Block, Blocks, Heading
from auditor.report.sections import (
    approvals,
    attributes,
    changes,
    cover,
    data,
    example,
    explored,
    groups,
    levels,
    method,
    minimal,
    model,
    profile,
    reach,
    repair,
    scatter,
    top,
    worst,
)
from auditor.report.subject import Subject

Section = Callable[[Subject], Blocks]

#: Chapters with their identifiers, headings and sections.
_CHAPTERS: tuple[tuple[str, str, tuple[Section, ...]], ...] = (
    (
        "findings",
        "What was found",
        (
            worst.section,
            top.section,
            scatter.section,
            levels.section,
            minimal.section,
            attributes.section,
            groups.section,
            approvals.section,
            reach.section,
        ),
    ),
    ("data", "What data show beside the model", (data.section,)),
    ("repair", "What the repair changed", (repair.section,)),
    ("changes", "What changed since the last certificate", (changes.section,)),
    (
        "method",
        "Method, assumptions and limits",
        (method.section, example.section, method.how, method.limits),
    ),
    ("profile", "Where this evidence fits", (profile.section,)),
    (
        "appendix",
        "Appendix: the whole model, and how every pair was decided",
        (model.section, attributes.appendix, model.parameters, minimal.appendix),
    ),
)
#: What a terminal shows of an audit.
_BRIEF: tuple[Section, ...] = (
    cover.section,
    worst.section,
    top.section,
    minimal.section,
    levels.section,
    attributes.section,
    approvals.section,
    reach.section,
    data.section,
    explored.section,
)


@dataclass(frozen=True)
class Chapter:
    """Sections under one heading."""

    id: str
    heading: str
    blocks: Sequence[Block]


def chapters(subject: Subject) -> tuple[Chapter, ...]:
    """All sections that have something to say."""
    made = [(name, heading, _blocks(subject, sections)) for name, heading, sections in _CHAPTERS]
    there = [(name, heading, blocks) for name, heading, blocks in made if blocks]
    return tuple(
        Chapter(name, heading if name == "appendix" else f"{number}. {heading}", blocks)
        for number, (name, heading, blocks) in enumerate(there, 1)
    )


def whole(subject: Subject) -> list[Block]:
    """The report in one row of blocks, for formats without a first page of their own."""
    blocks = list(cover.section(subject) or ())
    for chapter in chapters(subject):
        blocks += [Heading(chapter.heading, chapter.id, 2), *chapter.blocks]
    return blocks


def brief(subject: Subject) -> list[Block]:
    """What a terminal shows."""
    return _blocks(replace(subject, brief=True), _BRIEF)


def _blocks(subject: Subject, sections: Sequence[Section]) -> list[Block]:
    return [block for section in sections for block in section(subject) or ()]
