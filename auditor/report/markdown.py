"""Lays out blocks as Markdown (GitHub's), for a file or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditor.report.blocks import Block, Facts, Heading, Items, Paragraph, Picture, Table, written


def inert(text: str) -> str:
    """Escape a text so that nothing in it is markup, a link, a mention or HTML."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[\\`*_{}\[\]|~@$#]|:(?=//|\w+:)|(?<=www)\.", r"\\\g<0>", plain)


def laid_out(blocks: Iterable[Block]) -> str:
    """Lay blocks out; pictures are left out."""
    parts = []
    for block in blocks:
        match block:
            case Heading(text, _, level):
                parts.append(f"{'#' * level} {_words(text)}")
            case Paragraph(text):
                parts.append(_words(text))
            case Items(lines):
                parts.append("\n".join(f"- {_words(line)}" for line in lines))
            case Facts(rows):
                parts.append(_table(("", ""), rows, 0))
            case Table(caption, head, _, right) as table:
                parts += [f"**{inert(caption)}**"] if caption else []
                parts.append(_table(head, table.texts(), right))
            case Picture():
                pass
    return "\n\n".join(parts) + "\n"


def _words(text: str) -> str:
    def marked(attribute: str, value: str) -> str:
        return f"**{inert(attribute)}: {inert(value)}**" if attribute else f"**{inert(value)}**"

    return written(text, inert, marked)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], right: int) -> str:
    rule = ["---"] * (len(head) - right) + ["--:"] * right
    lines = [map(_words, head), rule, *(map(_words, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
