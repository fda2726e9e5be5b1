"""The top patterns."""

from __future__ import annotations

from auditor.documents.patterns import PatternList
from auditor.report.blocks import Block, Blocks, Heading, Paragraph
from auditor.report.subject import Subject
from auditor.report.wording import list_heading, pattern_table, probable_only

_RANKED = {
    "divergence": "Divergence weighs how severe a pattern is with how many people it describes: it measures "
    "how far the model is from the nearest one in which the pattern stays within δ.",
    "discrimination": "The most severe patterns come first, however few people they describe.",
    "probability": "The patterns that describe most people come first.",
}


def section(subject: Subject) -> Blocks:
    """Make the section."""
    audit = subject.audit
    if not audit or not audit.top_patterns:
        return None
    complete = audit.search.top_patterns_complete
    heading = list_heading("top", len(audit.top_patterns), complete, audit.rank_by)
    blocks: list[Block] = [Heading(heading, "top")]
    if not subject.brief:
        stopped = "" if complete else " The search was stopped; a better one can be missing."
        blocks.append(Paragraph(_RANKED[audit.rank_by] + stopped, "intro"))
    return [*blocks, *pattern_table(audit.top_patterns, audit.model.favourable, audit.delta)]


def listed(document: PatternList) -> list[Block]:
    """A list of patterns chosen in one way, which is a document of its own."""
    model, delta = document.model, document.delta
    number, rank_by = len(document.patterns), document.rank_by or "divergence"
    heading = list_heading(
        document.list,
        number,
        document.complete,
        rank_by,
        document.min_probability,
        document.unproved,
        document.missing_at_most,
        document.limit,
    )
    blocks: list[Block] = [
        Heading(f"{model.name}, δ = {delta}, criterion {document.criterion}", level=1),
    ]
    if document.min_probability is not None:
        blocks.append(Paragraph(probable_only(document.min_probability)))
    table = pattern_table(document.patterns, model.favourable, delta)
    return [*blocks, Heading(heading, level=2), *table]
