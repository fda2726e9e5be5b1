"""Lays out blocks as text for a terminal: aligned, within a number of columns, and coloured if asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from auditor.choices import Verdict
from auditor.documents.audit import Audit
from auditor.report.blocks import Block, Facts, Heading, Items, Paragraph, Picture, Table, unmarked, written
from auditor.report.formats import COLUMNS
from auditor.report.subject import Stated
from auditor.report.wording import verdict_sentence

_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_COLOURS: dict[Verdict, str] = {
    "delta-fair": "\x1b[1;32m",
    "not-delta-fair": "\x1b[1;31m",
    "inconclusive": "\x1b[1;33m",
}
#: A space at which a line is broken only if it must; it ends up as a plain space.
_KEEP = "\xa0"
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def laid_out(
    blocks: Iterable[Block], *, colour: bool = False, verdict: Verdict | None = None, columns: int = COLUMNS
) -> str:
    """Lay blocks out; with colours what stands out in the title has that of the verdict."""
    lines: list[str] = []
    indent = 0

    def styled(text: str, style: str) -> str:
        return f"{style}{text}{_RESET}" if colour and text else text

    def words(text: str, style: str = _BOLD) -> str:
        def marked(attribute: str, value: str) -> str:
            return styled((f"{attribute}: {value}" if attribute else value).replace(" ", _KEEP), style)

        return written(text, str, marked)

    def paragraph(text: str, deeper: int = 0) -> None:
        margin = " " * (indent + deeper)
        lines.extend(margin + line for line in wrapped(text, columns - len(margin)))

    def rows(found: Sequence[Sequence[str]], right: int) -> list[str]:
        return aligned([[words(cell) for cell in row] for row in found], right, columns - indent)

    def patterns(table: Table) -> None:
        found = table.texts()
        kept = [(row[0], *row[3:]) for row in [table.head, *found]]
        head, *numbers = _aligned(kept, len(kept[0]), columns - indent)
        lines.extend(" " * indent + line for line in head)
        for row, (_, disclosed, context, *_rest) in zip(numbers, found, strict=True):
            lines.extend(" " * indent + line for line in row)
            paragraph(words(disclosed), 4)
            if context:
                paragraph(f"given {words(context)}", 6)

    before: Block | None = None
    for block in blocks:
        if (isinstance(before, Table) and isinstance(block, Table)) or (
            not indent and isinstance(before, Table | Facts) and isinstance(block, Paragraph)
        ):
            lines.append("")
        match block:
            case Heading(text, _, 1):
                paragraph(words(text, _COLOURS[verdict] if verdict else _BOLD))
            case Heading(text):
                indent = 0
                lines.append("")
                lines.extend(styled(line, _BOLD) for line in wrapped(words(text, ""), columns))
                indent = 2
            case Paragraph(text):
                paragraph(words(text))
            case Items(items):
                for item in items:
                    first, *rest = wrapped(words(item), columns - indent - 2)
                    lines.extend([f"{' ' * indent}- {first}", *(" " * (indent + 2) + line for line in rest)])
            case Facts(facts):
                if not indent:
                    lines.append("")
                column = max(len(label) for label, _ in facts) + 2
                for label, value in facts:
                    first, *rest = wrapped(words(value), columns - indent - column)
                    lines.append(" " * indent + f"{label:{column}}{first}")
                    lines.extend(" " * (indent + column) + line for line in rest)
            case Table(look="patterns" | "patterns in-data" | "patterns carried") as table:
                patterns(table)
            case Table(_, head, _, right) as table:
                if not indent and not isinstance(before, Table):
                    lines.append("")
                found = table.texts()
                lines.extend(
                    " " * indent + line for line in rows([head, *found] if any(head) else found, right)
                )
            case Picture():
                pass
        before = block
    return "\n".join(lines) + "\n"


def verdict_line(document: Audit | Stated) -> str:
    """Return the verdict as one line without colour."""
    return unmarked(
        verdict_sentence(document.model.name, document.verdict, document.delta, document.min_probability)
    )


def width(text: str) -> int:
    """Columns that text takes in a terminal: two for wide characters, none for combining ones and styles."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "FW" else 1
        for character in _STYLE.sub("", text)
    )


def aligned(rows: Sequence[Sequence[str]], right: int, room: int) -> list[str]:
    """Align cells in columns, the last ones to the right; the widest are broken until a row fits.

    Those on the right are broken within a number only if nothing else is left.
    """
    return [line for lines in _aligned(rows, right, room) for line in lines]


def _aligned(rows: Sequence[Sequence[str]], right: int, room: int) -> list[list[str]]:
    """Align as `aligned` does; return the lines of each row."""
    number = len(rows[0])
    room -= 2 * (number - 1)
    columns = [max(map(width, column)) for column in zip(*rows, strict=True)]
    words = [
        max(width(word) for cell in column for word in cell.split(" ")) for column in zip(*rows, strict=True)
    ]
    least = [1 if at < number - right else words[at] for at in range(number)]
    while sum(columns) > room and max(columns) > 1:
        wider = [at for at in range(number) if columns[at] > least[at]]
        if not wider:
            least = [1] * number
            continue
        widest = max(wider, key=columns.__getitem__)
        others = max((columns[at] for at in wider if at != widest), default=0)
        columns[widest] = max(
            min(columns[widest] - 1, others), room - sum(columns) + columns[widest], least[widest]
        )
    found = []
    for row in rows:
        lines = []
        cells = [wrapped(cell, column) for cell, column in zip(row, columns, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = [
                part + " " * (column - width(part))
                if at < number - right
                else " " * (column - width(part)) + part
                for at, (part, column) in enumerate(zip(parts, columns, strict=True))
            ]
            lines.append("  ".join(padded).rstrip())
        found.append(lines)
    return found


def wrapped(text: str, columns: int) -> list[str]:
    """Break text at spaces; within values and words only if they are longer than a line."""
    lines, line = [], ""
    for whole in text.split(" "):
        for i, word in enumerate(whole.split(_KEEP) if width(whole) > columns else [whole]):
            candidate = f"{line} {word}" if line or i else word
            if width(candidate) <= columns:
                line = candidate
                continue
            if line:
                lines.append(line)
            *full, line = _pieces(word, columns)
            lines += full
    return [part.replace(_KEEP, " ") for part in [*lines, line]]


def _pieces(word: str, columns: int) -> Iterable[str]:
    """Cut a word into pieces that fit."""
    piece = ""
    for part in re.findall(rf"{_STYLE.pattern}|.", word, re.DOTALL):
        if piece and width(piece + part) > columns:
            yield piece
            piece = ""
        piece += part
    yield piece
