"""What became of many models that were asked one question: the worst first, in every format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.fleet import FleetQuestion, FleetRow
from auditor.documents.labels import as_read
from auditor.report.blocks import Block, Cell, Facts, Heading, Items, Paragraph, Table
from auditor.report.csv import cell, named
from auditor.report.figures import plural, whole
from auditor.report.formats import COLUMNS, laid_out
from auditor.report.wording import VERDICTS, degree, probable, threshold_words

FleetFormatName = Literal["text", "jsonl", "csv", "markdown", "html"]

SUFFIXES: dict[str, FleetFormatName] = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
}
_FAILED = "not audited"
_SCOPE = (
    "This speaks of the probabilities that the models themselves define. It does not say how well these "
    "describe any actual people, and it does not cover other attributes, other decisions or changed "
    "parameters."
)
#: From the worst to the best; what isn't known can be worse than whatever was found.
_ORDER = (_FAILED, *(VERDICTS[v] for v in ("not-delta-fair", "inconclusive", "delta-fair")))


def worst_first(rows: Sequence[FleetRow]) -> list[FleetRow]:
    """Sort rows: what failed, then by verdict and largest degree."""

    def key(row: FleetRow) -> tuple[int, float, str]:
        largest = row.answer.largest if row.answer else None
        # What is open may be as bad as its bound.
        size = (largest.max_degree_bounds or (0.0, largest.max_degree))[1] if largest else 0.0
        return _ORDER.index(_outcome(row)), -(row.failure.exit_code if row.failure else size), row.file

    return sorted(rows, key=key)


def result_line(rows: Sequence[FleetRow], question: FleetQuestion) -> str:
    """The result in one line, the worst first."""
    outcomes = [_outcome(row) for row in rows]
    parts = [f"{number:,} {name}" for name in _ORDER if (number := outcomes.count(name))]
    only = probable(question.min_probability)
    return f"{plural(len(rows), 'model')} at δ = {question.delta}{only}: {', '.join(parts)}"


def render(
    rows: Sequence[FleetRow],
    question: FleetQuestion,
    format: FleetFormatName,
    *,
    folder: Path = Path(),
    columns: int = COLUMNS,
    colour: bool = False,
) -> str:
    """Show the rows in their order; links lead to reports from a page in this folder."""
    match format:
        case "jsonl":
            return "".join(f"{row.model_dump_json()}\n" for row in rows)
        case "csv":
            found = [_cells(row) for row in rows]
            return named(found, found[0])
        case "html":
            from auditor.report import html

            return html.page(result_line(rows, question), _blocks(rows, question, folder))
        case "markdown" | "text":
            return laid_out(_blocks(rows, question, folder), format, colour=colour, columns=columns)


def _blocks(rows: Sequence[FleetRow], question: FleetQuestion, folder: Path) -> list[Block]:
    asked = (
        ("Threshold", threshold_words(question.criterion, question.delta)),
        ("Criterion", CRITERIA[question.criterion].measured),
        ("Sensitive", ", ".join(question.sensitive) if question.sensitive else "as each model says"),
        (
            "Patterns",
            f"at least as probable as {question.min_probability}" if question.min_probability else "all",
        ),
    )
    head = ("File", "Model", "Verdict", "Worst degree", "Patterns")
    blocks: list[Block] = [
        Heading(result_line(rows, question), level=1),
        Facts(asked),
        Table("", head, [_row(row, folder) for row in rows], 2, "fleet"),
    ]
    failed = [(row.file, problem) for row in rows if row.failure for problem in row.failure.problems]
    if failed:
        lines = (p if p.startswith(f"{file}: ") else f"{file}: {p}" for file, p in failed)
        blocks += [Heading("Models that were not audited, and why"), Items(tuple(lines))]
    return [*blocks, Heading("What this does not say"), Paragraph(_SCOPE)]


def _row(row: FleetRow, folder: Path) -> tuple[str | Cell, ...]:
    if row.answer is None:
        return row.file, "", _FAILED, "", ""
    answer = row.answer
    link = quote(os.path.relpath(row.report, folder)) if row.report else ""
    return (
        Cell(row.file, link=link),
        Cell(
            answer.model.name,
            under=f"Sensitive: {', '.join(as_read(answer.model, answer.model.labels).sensitive)}",
        ),
        _outcome(row),
        Cell(degree(answer.largest, row.question.delta), answer.largest.max_degree),
        Cell(whole(answer.pattern_count, answer.pattern_count_bounds), answer.pattern_count_bounds[0]),
    )


def _cells(row: FleetRow) -> dict[str, object]:
    """The cells of a row by their columns; all rows have the same ones."""
    asked, found = row.question, row.answer
    worst = found.largest.worst_pattern if found else None
    degrees = (found.largest.max_degree_bounds if found else None) or ("", "")
    counts = found.pattern_count_bounds if found else ("", "")
    return {
        "file": cell(row.file),
        "file_sha256": row.file_sha256,
        "model": cell(found.model.name) if found else "",
        "model_sha256": found.model.sha256 if found else "",
        "sensitive": cell(", ".join(found.model.sensitive)) if found else "",
        "delta": asked.delta,
        "criterion": asked.criterion,
        "min_probability": asked.min_probability,
        "verdict": found.verdict if found else _FAILED,
        "degree": worst.degree if worst else "",
        "max_degree_at_least": degrees[0],
        "max_degree_at_most": degrees[1],
        "patterns_at_least": counts[0],
        "patterns_at_most": counts[1],
        "total_patterns": found.total_patterns if found else "",
        "problems": cell("; ".join(row.failure.problems)) if row.failure else "",
        "report": cell(row.report or ""),
    }


def _outcome(row: FleetRow) -> str:
    return VERDICTS[row.answer.verdict] if row.answer else _FAILED
