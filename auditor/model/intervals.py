"""Ranges of numbers as values of an attribute: a code that says which numbers, and a label for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal, Self

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_INFINITY = Decimal("inf")
_CODE = re.compile(rf"([\[(])(-inf|{_NUMBER}),(inf|{_NUMBER})([\])])")


@dataclass(frozen=True)
class Bins:
    """A number line cut at edges, with one code and label per piece.

    Examples
    --------
    >>> Bins((Decimal(30), Decimal(50))).codes
    ('[-inf,30)', '[30,50)', '[50,inf)')
    >>> Bins((Decimal(30), Decimal(50))).labels
    ('under 30', '30 to under 50', '50 or over')
    >>> Bins((Decimal(30), Decimal(50)), "right").labels
    ('up to 30', 'over 30 up to 50', 'over 50')
    """

    edges: tuple[Decimal, ...]
    """Increasing; k edges make k + 1 bins, and none the whole line."""
    closed: Literal["left", "right"] = "left"
    """Which end a bin contains: ``[a, b)`` or ``(a, b]``."""

    @property
    def codes(self) -> tuple[str, ...]:
        """The bins in interval notation, by which they are recognised in a model."""
        ends = ["-inf", *map(_plain, self.edges), "inf"]
        before, after = ("[", ")") if self.closed == "left" else ("(", "]")
        return tuple(f"{before}{low},{high}{after}" for low, high in pairwise(ends))

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words."""
        if not self.edges:
            return ("any number",)
        texts = [_plain(edge) for edge in self.edges]
        between = list(pairwise(texts))
        if self.closed == "left":
            middle = [f"{low} to under {high}" for low, high in between]
            return (f"under {texts[0]}", *middle, f"{texts[-1]} or over")
        middle = [f"over {low} up to {high}" for low, high in between]
        return (f"up to {texts[0]}", *middle, f"over {texts[-1]}")

    @property
    def values(self) -> list[dict[str, str]]:
        """The bins as values of a specification."""
        return [{"value": code, "label": label} for code, label in zip(self.codes, self.labels, strict=True)]

    def joined(self, kept: Sequence[int]) -> Bins:
        """Join the other bins to these: each takes those above it, and the first those below it too.

        >>> Bins((Decimal(10), Decimal(30), Decimal(50))).joined([1, 3]).codes
        ('[-inf,50)', '[50,inf)')
        """
        return Bins(tuple(self.edges[v - 1] for v in kept[1:]), self.closed)

    @classmethod
    def of(cls, codes: Sequence[str]) -> Self | None:
        """Recognise bins by their codes, which must cut the whole number line; None for other values.

        Edges are compared as numbers: ``[-inf,.5)`` and ``[0.50,inf)`` meet.
        """
        parts = [_CODE.fullmatch(code) for code in codes]
        found = [(part[1], part[2], part[3], part[4]) for part in parts if part]
        if len(found) != len(codes) or not codes:
            return None
        lows, highs = ([Decimal(part[i]) for part in found] for i in (1, 2))
        edges = tuple(lows[1:])
        if highs[:-1] != lows[1:] or lows[0] != -_INFINITY or highs[-1] != _INFINITY:
            return None
        if any(low >= high for low, high in zip(lows, highs, strict=True)):
            return None
        # An end that is infinite is written as open or closed by different programs.
        marks = {(part[0], before[3]) for before, part in pairwise(found)}
        closed: dict[tuple[str, str], Literal["left", "right"]] = {("[", ")"): "left", ("(", "]"): "right"}
        if not marks:
            return cls(())
        mark = marks.pop()
        return cls(edges, closed[mark]) if not marks and mark in closed else None


def are_intervals(codes: Sequence[str]) -> bool:
    """Whether all values are ranges of numbers, even if they leave numbers out and are no `Bins`."""
    return all(map(_CODE.fullmatch, codes))


def _plain(number: Decimal) -> str:
    """Write a number without an exponent, unless it is so long."""
    text = f"{number:f}"
    return text if len(text) <= 20 else str(number)
