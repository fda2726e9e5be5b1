"""What was explored, and what the answer does not say."""

from __future__ import annotations

from auditor.documents.audit import SearchRecord
from auditor.report.blocks import Blocks, Heading, Paragraph
from auditor.report.figures import plural, rounded, whole
from auditor.report.subject import Subject
from auditor.report.wording import undisclosed_explained

#: What an audit is about, at the end of each.
SCOPE = (
    "This speaks of the probabilities that the model itself defines. It does not say how well they describe "
    "any actual people, and it does not cover other attributes, other decisions or changed parameters."
)
#: Said where what holds for other models or populations was asked about.
FURTHER = "What holds beyond the audited model stands under “How far this reaches”."


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if not subject.audit:
        return None
    meaning = subject.stated.model.undisclosed
    return [
        Heading("What was explored"),
        Paragraph(explored(subject.audit.search)),
        Heading("What this does not say"),
        Paragraph(scope(subject)),
        *([Paragraph(undisclosed_explained(meaning))] if meaning else []),
    ]


def scope(subject: Subject) -> str:
    """What it is about."""
    return f"{SCOPE} {FURTHER}" if subject.reaches_further else SCOPE


def explored(search: SearchRecord) -> str:
    """How much work the audit was, and why something is missing."""
    solved, total = search.combinations_solved, whole(search.combinations_total)
    if not solved and search.complete:
        settled = f"All {total} combinations of sensitive values settled by bounds"
    else:
        rest = ", the others settled by a bound" if search.complete else ""
        settled = f"{whole(solved)} of {total} combinations of sensitive values searched one by one{rest}"
    nodes = plural(search.nodes, "node") if search.nodes else "no node had to be"
    work = f"{settled}; {nodes} expanded for the top list; {rounded(search.seconds, 2)} seconds."
    return " ".join([work, *(f"{reason[:1].upper()}{reason[1:]}." for reason in search.reasons)])
