"""Headings, paragraphs and tables, laid out as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from auditor.report import text

Format = Literal["text", "markdown"]


@dataclass(frozen=True)
class Table:
    """Rows of cells that are escaped already; the last `right` columns are numbers."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: int = 0


#: A heading with its level, a paragraph, or a table.
Block = tuple[int, str] | str | Table


def laid_out(blocks: Iterable[Block], format: Format) -> str:
    """Lay blocks out in a format."""
    return _text(blocks) if format == "text" else _markdown(blocks)


def _markdown(blocks: Iterable[Block]) -> str:
    parts = []
    for block in blocks:
        match block:
            case Table(head, rows, right):
                parts.append(_markdown_table(head, rows, right))
            case (level, title):
                parts.append(f"{'#' * level} {title}")
            case paragraph:
                parts.append(paragraph)
    return "\n\n".join(parts) + "\n"


def _text(blocks: Iterable[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        match block:
            case Table(head, rows, right):
                lines += _text_table(head, rows, right)
            case (_, title):
                lines += text.wrapped(title, text.WIDTH)
            case paragraph:
                lines += text.wrapped(paragraph, text.WIDTH)
    return "\n".join(lines) + "\n"


def _markdown_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: int) -> str:
    rule = ["---"] * (len(head) - right) + ["--:"] * right
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def _text_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: int) -> list[str]:
    """Align cells in columns, breaking those of the widest columns over lines until a row fits."""
    table = [head, *rows] if any(head) else list(rows)
    room = text.WIDTH - 2 * (len(head) - 1)
    columns = [max(map(text.width, column)) for column in zip(*table, strict=True)]
    while sum(columns) > room:
        widest = columns.index(max(columns))
        others = sorted(columns)[-2] if len(columns) > 1 else 0
        columns[widest] = max(min(columns[widest] - 1, others), room - sum(columns) + columns[widest], 1)
    lines = []
    for row in table:
        cells = [text.wrapped(cell, column) for cell, column in zip(row, columns, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = [
                part + " " * (column - text.width(part))
                if at < len(head) - right
                else " " * (column - text.width(part)) + part
                for at, (part, column) in enumerate(zip(parts, columns, strict=True))
            ]
            lines.append("  ".join(padded).rstrip())
    return lines
