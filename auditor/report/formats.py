"""The formats in which a document can be shown, and which one a file name asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from auditor.documents.audit import Audit
    from auditor.documents.patterns import PatternList
    from auditor.report.blocks import Block

FormatName = Literal["text", "json", "csv", "markdown"]
#: What is no list can't be CSV.
CheckFormatName = Literal["text", "json", "markdown"]
#: A report of an audit can also be a page.
AnyFormatName = Literal["text", "json", "csv", "markdown", "html", "pdf"]

SUFFIXES: dict[str, AnyFormatName] = {
    ".txt": "text",
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
}


#: Columns of a text that isn't for a terminal of another width.
COLUMNS = 80


def format_of(path: Path) -> AnyFormatName | None:
    """Return the format that a file name's suffix asks for, or None."""
    return SUFFIXES.get(path.suffix.lower())


def laid_out(
    blocks: Iterable[Block], format: FormatName, *, colour: bool = False, columns: int = COLUMNS
) -> str:
    """Lay blocks out as Markdown or text."""
    from auditor.report import markdown, text

    if format == "markdown":
        return markdown.laid_out(blocks)
    return text.laid_out(blocks, colour=colour, columns=columns)


def render(
    document: Audit | PatternList, format: FormatName, *, colour: bool = False, columns: int = COLUMNS
) -> str:
    """Show a document in a format; only text has colours, and a width."""
    from auditor.documents.audit import Audit
    from auditor.documents.labels import as_read
    from auditor.documents.record import to_json
    from auditor.report import csv, sections, text
    from auditor.report.sections import top
    from auditor.report.subject import Stated, Subject

    if format == "json":
        return to_json(document)
    if format == "csv":
        return csv.rows(document)
    if not isinstance(document, Audit):
        read = as_read(document, document.model.labels)
        return laid_out(top.listed(read), format, colour=colour, columns=columns)
    subject = Subject(Stated.of_audit(document), document, parameters=document.parameters).as_read()
    if format == "markdown":
        return laid_out(sections.whole(subject), format)
    brief = sections.brief(subject)
    return text.laid_out(brief, colour=colour, verdict=document.verdict, columns=columns)
