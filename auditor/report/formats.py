"""The formats in which a document can be shown, and which one a file name asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from auditor.documents.audit import Audit
    from auditor.documents.patterns import PatternList

FormatName = Literal["text", "json", "csv", "markdown"]
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


def format_of(path: Path) -> AnyFormatName | None:
    """Return the format that a file name's suffix asks for, or None."""
    return SUFFIXES.get(path.suffix.lower())


def render(document: Audit | PatternList, format: FormatName, *, colour: bool = False) -> str:
    """Show a document in a format; only text has colours."""
    from auditor.documents.audit import Audit
    from auditor.documents.record import to_json
    from auditor.report import csv, markdown, text

    match format:
        case "json":
            return to_json(document)
        case "csv":
            return csv.rows(document)
        case "markdown":
            return markdown.audit(document) if isinstance(document, Audit) else markdown.patterns(document)
        case "text":
            if isinstance(document, Audit):
                return text.audit(document, colour=colour)
            return text.patterns(document, colour=colour)
