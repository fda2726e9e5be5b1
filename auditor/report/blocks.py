"""What sections are made of: headings, paragraphs, facts, tables and pictures, the same for every format.

Texts are plain and hold names from documents as they are; a format escapes what it must. What stands out is
marked by `strong` and `pair`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from auditor.messages import visible

# Control characters are never part of a name that is shown, so that no name can pass for a mark.
_BEGIN, _COLON, _END = "\x02", "\x1f", "\x03"
_MARKED = re.compile(f"{_BEGIN}(?:([^{_BEGIN}{_COLON}{_END}]*){_COLON})?([^{_BEGIN}{_COLON}{_END}]*){_END}")


def strong(text: str) -> str:
    """Make a text stand out."""
    return f"{_BEGIN}{visible(text)}{_END}"


def pair(attribute: str, value: str) -> str:
    """An attribute and its value, which stay together."""
    return f"{_BEGIN}{visible(attribute)}{_COLON}{visible(value)}{_END}"


def values(values: Mapping[str, str], nothing: str = "") -> str:
    """Attributes and their values in a row: ``Sex: Female, Age: Over 30``."""
    return ", ".join(pair(attribute, value) for attribute, value in values.items()) or nothing


def written(text: str, plain: Callable[[str], str], marked: Callable[[str, str], str]) -> str:
    """Write a text by one function for its plain parts and one for what is marked.

    The latter takes the attribute, empty where there is none, and the text.
    """
    parts, at = [], 0
    for found in _MARKED.finditer(text):
        parts += [plain(visible(text[at : found.start()])), marked(found[1] or "", found[2])]
        at = found.end()
    return "".join([*parts, plain(visible(text[at:]))])


def unmarked(text: str) -> str:
    """The text alone: an attribute and its value with a colon between, and nothing that stands out."""
    return written(text, str, lambda attribute, value: f"{attribute}: {value}" if attribute else value)


@dataclass(frozen=True)
class Heading:
    """The title of a part; a link can lead to its identifier."""

    kind: ClassVar[str] = "heading"
    text: str
    id: str = ""
    level: int = 3


@dataclass(frozen=True)
class Paragraph:
    """A few sentences; ``look`` is how a page sets them: ``intro``, ``small`` or ``formula``."""

    kind: ClassVar[str] = "paragraph"
    text: str
    look: str = ""


@dataclass(frozen=True)
class Items:
    """Sentences that are a list."""

    kind: ClassVar[str] = "items"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Lines of a summary, each a label and what it says; digests and the like are set in a fixed pitch."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table with more than its text."""

    text: str
    sort: float | None = None
    """The number by which a browser sorts."""
    bar: tuple[float, float] | None = None
    """Where a bar behind the text begins and ends, as shares of the cell's width."""
    look: str = ""
    """A class of the sheet."""
    under: str = ""
    """A second line, where there is room for it."""
    link: str = ""
    """What the text leads to in a browser, if anything."""


@dataclass(frozen=True)
class Table:
    """Rows of cells."""

    kind: ClassVar[str] = "table"
    caption: str
    """What a page says above it."""
    head: tuple[str, ...]
    rows: Sequence[tuple[str | Cell, ...]]
    right: int = 0
    """So many columns at the end are numbers."""
    look: str = ""
    """The class of the sheet that sets its widths. Tables of ``patterns`` have the number, what is disclosed
    and in which context in their first columns; a terminal shows the latter below the row.
    """

    def texts(self) -> list[tuple[str, ...]]:
        """The texts of the rows."""
        return [tuple(cell.text if isinstance(cell, Cell) else cell for cell in row) for row in self.rows]


@dataclass(frozen=True)
class Picture:
    """A chart with its heading; a format without pictures leaves out both."""

    kind: ClassVar[str] = "picture"
    draw: str
    chart: object
    """Where its marks go; the macro of the templates named ``draw`` draws it."""
    says: str
    """What a screen reader says, and a reader reads."""
    heading: str = ""
    id: str = ""
    narrow: object | None = None
    """The marks of one for a screen, if that is not as wide as on paper."""


Block = Heading | Paragraph | Items | Facts | Table | Picture
#: A section; None where it has nothing to say.
Blocks = Sequence[Block] | None
