"""Documents as text for a terminal: 80 columns, aligned, and coloured if asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from auditor.documents.audit import Audit, ModelRecord, PatternRecord
from auditor.documents.data import DataEvidence
from auditor.documents.patterns import PatternList
from auditor.report.wording import (
    DATA_PATTERN_HEAD,
    DATA_PATTERNS_MEANING,
    MINIMAL_MEANING,
    SCOPE,
    Words,
    criterion_words,
    data_cells,
    data_pattern_cells,
    heading,
    list_heading,
    percent,
    probable_only,
    rounded,
    shown,
    signed,
)

WIDTH = 80
#: Subset-minimal patterns shown; the JSON document has all.
MINIMAL_SHOWN = 5
#: Patterns whose occurrence in data is shown; the JSON document has all.
DATA_PATTERNS_SHOWN = 10

_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_VERDICTS = {"delta-fair": "\x1b[1;32m", "not-delta-fair": "\x1b[1;31m", "inconclusive": "\x1b[1;33m"}
#: A space at which a line is broken only if it must; it ends up as a plain space.
_KEEP = "\xa0"
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def audit(document: Audit, *, colour: bool = False) -> str:
    """Render an audit."""
    page = _Page(colour)
    words, model, search = page.words, document.model, document.search
    verdict = Words(name=shown, strong=lambda text: page.tinted(text, _VERDICTS[document.verdict]))
    page.paragraph(verdict.verdict(document))
    page.paragraph(words.claim(document))
    page.facts(
        ("Decision", f"{shown(model.decision)}; favourable: {shown(model.favourable)}"),
        ("Sensitive", words.names(model.sensitive)),
        ("Criterion", criterion_words(document.criterion)),
        ("Model digest", f"sha256 {model.sha256[:16]}…"),
    )

    page.title("Worst degree of discrimination")
    page.paragraph(words.largest(document), indent=2)
    if document.worst_pattern:
        page.paragraph(words.sentence(document.worst_pattern, model), indent=2)
    page.title("Discrimination patterns")
    page.paragraph(words.counted(document), indent=2)

    if document.top_patterns:
        number = len(document.top_patterns)
        page.title(list_heading("top", number, search.top_patterns_complete, document.rank_by))
        page.patterns(document.top_patterns, model, document.delta)
    if document.minimal_patterns:
        number = len(document.minimal_patterns)
        page.title(list_heading("minimal", number, search.minimal_patterns_complete))
        page.paragraph(MINIMAL_MEANING, indent=2)
        page.patterns(document.minimal_patterns[:MINIMAL_SHOWN], model, document.delta)
        if number > MINIMAL_SHOWN:
            page.paragraph(
                f"{number - MINIMAL_SHOWN:,} more: auditor patterns MODEL --summary minimal", indent=2
            )

    for level, known, pattern in (
        ("Group", "nothing else", document.group_level),
        ("Individual", "every attribute", document.individual_level),
    ):
        if pattern:
            page.title(f"{level} level, {known} known: {signed(pattern.degree, document.delta)} at worst")
            page.paragraph(words.sentence(pattern, model), indent=2)

    page.title("By sensitive attribute")
    page.table(
        ("Disclosed, alone or with others", "Worst degree", "Patterns"),
        [
            (
                shown(row.attribute),
                signed(row.worst_pattern.degree, document.delta),
                "not counted" if row.pattern_count is None else f"{row.pattern_count:,}",
            )
            for row in document.by_sensitive_attribute
        ],
    )
    if document.data:
        _data(page, document.data)
    page.title("What was explored")
    page.paragraph(words.explored(search), indent=2)
    page.title("What this does not say")
    page.paragraph(SCOPE, indent=2)
    return page.text()


def _data(page: _Page, data: DataEvidence) -> None:
    """Show what data say beside the model."""
    words = page.words
    page.title(f"In the data: {data.people:,} people")
    for sentence in words.data(data):
        page.paragraph(sentence, indent=2)
    page.table(
        ("Group", "People", "Selected", "95% interval", "Impact ratio", "Accuracy"),
        [
            (", ".join(f"{shown(a)}: {shown(v)}" for a, v in group.values.items()), *data_cells(group))
            for group in data.groups
        ],
    )
    if data.patterns:
        page.title("How often the listed patterns occur in the data")
        page.paragraph(DATA_PATTERNS_MEANING, indent=2)
        rows = [(str(rank), *data_pattern_cells(pattern)) for rank, pattern in enumerate(data.patterns, 1)]
        head, *lines = aligned([("#", *DATA_PATTERN_HEAD), *rows], left=0)
        page.line(f"  {head}")
        for line, pattern in zip(lines, data.patterns[:DATA_PATTERNS_SHOWN], strict=False):
            page.line(f"  {line}")
            page.paragraph(words.values(pattern.sensitive_values), indent=6)
            if pattern.context_values:
                page.paragraph(f"given {words.values(pattern.context_values)}", indent=8)
        if len(data.patterns) > DATA_PATTERNS_SHOWN:
            page.paragraph(
                f"{len(data.patterns) - DATA_PATTERNS_SHOWN:,} more in the JSON document", indent=2
            )


def verdict_line(document: Audit) -> str:
    """Return the verdict as one line without colour."""
    return Words(name=shown, strong=str).verdict(document)


def patterns(document: PatternList, *, colour: bool = False) -> str:
    """Render a list of patterns."""
    page = _Page(colour)
    page.paragraph(f"{shown(document.model.name)}, δ = {document.delta}, criterion {document.criterion}")
    if document.min_probability is not None:
        page.paragraph(probable_only(document))
    page.title(heading(document))
    page.patterns(document.patterns, document.model, document.delta)
    return page.text()


class _Page:
    """Lines of at most `WIDTH` columns."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour
        self._lines: list[str] = []
        self.words = Words(name=shown, strong=lambda text: self.tinted(text.replace(" ", _KEEP), _BOLD))

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def line(self, text: str) -> None:
        self._lines.append(text)

    def tinted(self, text: str, style: str) -> str:
        return f"{style}{text}{_RESET}" if self._colour else text

    def title(self, text: str) -> None:
        self._lines += ["", *(self.tinted(line, _BOLD) for line in wrapped(text, WIDTH))]

    def paragraph(self, text: str, *, indent: int = 0) -> None:
        self._lines += [" " * indent + line for line in wrapped(text, WIDTH - indent)]

    def facts(self, *facts: tuple[str, str]) -> None:
        column = max(len(name) for name, _ in facts) + 2
        self._lines.append("")
        for name, value in facts:
            first, *rest = wrapped(value, WIDTH - column)
            self._lines += [f"{name:{column}}{first}", *(" " * column + line for line in rest)]

    def patterns(self, patterns: Sequence[PatternRecord], model: ModelRecord, delta: str) -> None:
        """List patterns: a row of numbers each, and the values below it."""
        if not patterns:
            return self.paragraph("None.", indent=2)
        rows = [
            (
                str(rank),
                signed(pattern.degree, delta),
                percent(pattern.favourable_given_context),
                percent(pattern.favourable_given_pattern),
                percent(pattern.probability),
                "infinite" if pattern.divergence_nats is None else rounded(pattern.divergence_nats),
            )
            for rank, pattern in enumerate(patterns, 1)
        ]
        self.paragraph(
            f"P before and after: {self.words.favourable(model)} before and after disclosing", indent=2
        )
        head, *lines = aligned(
            [("#", "degree", "P before", "P after", "probability", "divergence (nats)"), *rows], left=0
        )
        self._lines.append(f"  {head}")
        for line, pattern in zip(lines, patterns, strict=True):
            self._lines.append(f"  {line}")
            self.paragraph(self.words.values(pattern.sensitive_values), indent=6)
            if pattern.context_values:
                self.paragraph(f"given {self.words.values(pattern.context_values)}", indent=8)
        return None

    def table(self, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """Align rows whose first cell is a name; a name that is too long gets lines of its own."""
        room = WIDTH - 2 - sum(2 + max(width(row[i]) for row in [head, *rows]) for i in range(1, len(head)))
        long = [row[0] for row in rows if width(row[0]) > room]
        lines = aligned([head, *(("" if row[0] in long else row[0], *row[1:]) for row in rows)], left=1)
        self._lines.append(f"  {lines[0]}")
        for row, line in zip(rows, lines[1:], strict=True):
            if row[0] in long:
                self.paragraph(row[0], indent=2)
            self._lines.append(f"  {line}")


def width(text: str) -> int:
    """Columns that text takes in a terminal: two for wide characters, none for combining ones and styles."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "FW" else 1
        for character in _STYLE.sub("", text)
    )


def aligned(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Align cells in columns, the first `left` columns to the left and the others to the right."""
    columns = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + " " * (column - width(cell)) if i < left else " " * (column - width(cell)) + cell
            for i, (cell, column) in enumerate(zip(row, columns, strict=True))
        ).rstrip()
        for row in rows
    ]


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
