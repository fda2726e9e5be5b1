"""Ranges of numbers as values of an attribute: a code that says which numbers, and a label for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal, Self

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_CODE = re.compile(rf"([\[(])(-inf|{_NUMBER}),(inf|{_NUMBER})([\])])")


@dataclass(frozen=True)
class Bins:
    """A number line cut at edges, with one code and label per piece.

    Attributes
    ----------
    edges : tuple of Decimal
        Increasing; k edges make k + 1 bins.
    closed : {"left", "right"}
        Which end a bin contains: ``[a, b)`` or ``(a, b]``.

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
    closed: Literal["left", "right"] = "left"

    @property
    def codes(self) -> tuple[str, ...]:
        """The bins in interval notation, by which they are recognised in a model."""
        ends = ["-inf", *map(_plain, self.edges), "inf"]
        before, after = ("[", ")") if self.closed == "left" else ("(", "]")
        return tuple(f"{before}{low},{high}{after}" for low, high in pairwise(ends))

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words."""
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

    @classmethod
    def of(cls, codes: Sequence[str]) -> Self | None:
        """Recognise bins by their codes, which must cut the whole number line; None for other values."""
        parts = [_CODE.fullmatch(code) for code in codes]
        found = [part for part in parts if part]
        if len(found) != len(codes) or len(codes) < 2:
            return None
        ends = [(part[2], part[3]) for part in found]
        whole = ends[0][0] == "-inf" and ends[-1][1] == "inf" and "inf" not in {high for _, high in ends[:-1]}
        if not whole or any(high != low for (_, high), (low, _) in pairwise(ends)):
            return None
        edges = tuple(Decimal(high) for _, high in ends[:-1])
        for closed in ("left", "right"):
            bins = cls(edges, "left" if closed == "left" else "right")
            if bins.codes == tuple(codes) and list(edges) == sorted(set(edges)):
                return bins
        return None


def _plain(number: Decimal) -> str:
    """Write a number without an exponent, unless it is so long."""
    text = f"{number:f}"
    return text if len(text) <= 20 else str(number)
