"""Where results go, and the format that a file's name asks for: settled before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from auditor.output import ensure_writable
from auditor.report.formats import SUFFIXES, AnyFormatName, format_of


def chosen_format(format: AnyFormatName | None, output: Path | None) -> AnyFormatName:
    """Settle the format and find an output that can't be written, before the work."""
    chosen = format or ("text" if output is None else format_of(output))
    if chosen is None:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join(SUFFIXES)}; give --format", param_hint="--output"
        )
    if output is not None:
        ensure_writable(output)
    elif chosen == "pdf":
        raise typer.BadParameter("a PDF needs a FILE", param_hint="--output")
    return chosen


def model_format(output: Path | None, *others: str) -> Literal["json", "yaml"]:
    """Tell the format of a model from its file's suffix, and find a file that can't be written."""
    suffix = ".json" if output is None else output.suffix.lower()
    known = (".json", ".yaml", ".yml")
    if suffix not in known:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join([*known, *others])}", param_hint="--output"
        )
    if output is not None:
        ensure_writable(output)
    return "json" if suffix == ".json" else "yaml"


def check_certificate(output: Path | None) -> None:
    """Find, before the work, a file that can't be a certificate or can't be written."""
    if output is None:
        return
    if output.suffix.lower() in (".pdf", ".html", ".htm", ".md", ".txt", ".csv"):
        raise typer.BadParameter(
            f"a certificate is JSON, and {output} is not; make a report from it afterwards",
            param_hint="--output",
        )
    ensure_writable(output)
