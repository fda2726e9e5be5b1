"""What the cells of a table mean: which are missing, which are numbers, and which differ by a slip only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from auditor.messages import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Cells that stand for no value, beyond the empty one. The word None is a value: it names "no other debtors".
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "?")

#: Blanks and apostrophes that separate thousands look alike and are typed for each other.
_BLANKS, _APOSTROPHES = " \u00a0\u2009\u202f", "'’"

#: Ways to write numbers that are tried to explain cells that are none as they stand: decimal mark, mark of
#: thousands. Where each mark stands before three digits, it rather marks thousands.
_WAYS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"), (",", None), (".", None))
_NAMES = {",": "commas", ".": "points"}

#: Values that a note names.
_NAMED = 6


@dataclass(frozen=True)
class Dialect:
    """How the cells of a table are written, and a table of text as a whole."""

    separator: str | None = None
    """Between cells of text; found from the header if not given."""
    decimal: str = "."
    """The decimal mark of numbers."""
    encoding: str = "utf-8"
    """Of a table of text."""
    missing: tuple[str, ...] = MISSING
    """Cells that stand for no value; an empty cell always does. They hold for every kind of table."""
    thousands: str | None = None
    """The mark between groups of three digits. A blank stands for every kind of blank."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(mark.strip() for mark in self.missing))

    def text(self, raw: str | None) -> str | None:
        """Return a cell without the blanks at its ends, of whatever kind; None for a missing one."""
        return self.texts([raw])[0]

    def texts(self, cells: Iterable[str | None]) -> list[str | None]:
        """Return cells without the blanks at their ends, of whatever kind; None for missing ones."""
        missing = frozenset(self.missing)
        return [
            None if cell is None or not (bare := cell.strip()) or bare in missing else bare for cell in cells
        ]

    def numbers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return texts as numbers, NaN for what is none; infinity is none."""
        pattern = _pattern(self.decimal, self.thousands)
        plain = self.decimal == "." and self.thousands is None

        def number(text: str) -> float:
            if not pattern.fullmatch(text):
                return np.nan
            found = float(text if plain else self._bare(text))
            return found if np.isfinite(found) else np.nan

        if plain:
            # Python's float is fast and reads all these texts, but it also takes inf and 1_000, which are no
            # numbers here.
            try:
                found = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
            except ValueError:
                pass
            else:
                if np.isfinite(found).all() and "_" not in "".join(texts):
                    return found
        return np.array([number(text) for text in texts], dtype=np.float64)

    def infinite(self, text: str) -> bool:
        """Whether a text is what programs write for a number without an end."""
        return text.lstrip("+-").casefold() in ("inf", "infinity")

    def exact(self, text: str) -> Decimal:
        """Return a text that is a number as that number, digit for digit."""
        return Decimal(self._bare(text))

    def _bare(self, text: str) -> str:
        if self.thousands is not None:
            text = text.translate(dict.fromkeys(map(ord, _same(self.thousands))))
        return text.replace(self.decimal, ".")

    def advice(self, texts: Iterable[str]) -> str | None:
        """Say how to have texts read as numbers that are none as they stand; None if nothing helps."""
        found = list(texts)
        ways = []
        for decimal, mark in _WAYS:
            new_decimal, new_mark = decimal != self.decimal, mark is not None and mark != self.thousands
            # It is no advice to name a mark that no cell has, unless thousands with points need a decimal
            # comma.
            used = any(decimal in text for text in found)
            idle = (new_decimal and not used and mark != ".") or (
                new_mark and not any(str(mark) in text for text in found)
            )
            other = replace(self, decimal=decimal, thousands=mark)
            if (new_decimal or new_mark) and not idle and not np.isnan(other.numbers(found)).any():
                parts = [f"--decimal {decimal} for decimal {_NAMES[decimal]}"] * (new_decimal and used)
                parts += [f"--thousands {_given(mark)} for thousands" for mark in [mark] if new_mark and mark]
                ways.append(" and ".join(parts))
        return ", or ".join(ways[:2]) or None

    def looks_like_thousands(self, texts: Iterable[str]) -> bool:
        """Whether each decimal mark stands before three digits, as a mark between thousands does."""
        dotted = [text for text in texts if self.decimal in text]
        pattern = re.compile(rf"[-+]?[1-9][0-9]{{0,2}}{re.escape(self.decimal)}[0-9]{{3}}")
        return self.thousands is None and len(dotted) > 1 and all(map(pattern.fullmatch, dotted))


def _given(mark: str) -> str:
    """Write a mark as one gives it on the command line."""
    return f"'{mark}'" if mark == " " else f'"{mark}"' if mark == "'" else mark


def _same(mark: str) -> str:
    """Marks that are taken for this one."""
    return next((kind for kind in (_BLANKS, _APOSTROPHES) if mark in kind), mark)


@lru_cache
def _pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    point, digits = re.escape(decimal), "[0-9]+"
    if thousands is not None:
        digits = rf"(?:[0-9]{{1,3}}(?:[{re.escape(_same(thousands))}][0-9]{{3}})+|[0-9]+)"
    return re.compile(rf"[-+]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]+)?")


def twins(dialect: Dialect, rows: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Return groups of values that differ only in how they are typed: case, blanks, a full stop, 1 and 1.0.

    Parameters
    ----------
    rows : mapping of str to int
        The values of a column, and how often each occurs.
    """
    texts = sorted(rows)
    found: dict[object, list[str]] = {}
    for text, number in zip(texts, dialect.numbers(texts).tolist(), strict=True):
        key = (
            "".join(text.casefold().split()).rstrip(".") or text if np.isnan(number) else dialect.exact(text)
        )
        found.setdefault(key, []).append(text)
    return [tuple(group) for group in found.values() if len(group) > 1]


def counted(values: Sequence[str], rows: Mapping[str, int]) -> str:
    """Name values with their rows.

    >>> counted(["a", "A"], {"a": 1200, "A": 1})
    '"a" (1,200 rows), "A" (1 row)'
    """
    some = [f"{shown(v)} ({rows[v]:,} row{'' if rows[v] == 1 else 's'})" for v in values[:_NAMED]]
    return ", ".join(some) + (f" and {len(values) - _NAMED} more" if values[_NAMED:] else "")


def moment(text: str) -> str:
    """Write a time as Python does: the fraction of a second with 6 or 9 digits or not at all, UTC as +00:00.

    >>> moment("2020-01-01 00:00:00.5"), moment("2020-01-01 00:00:00.000000+00")
    ('2020-01-01 00:00:00.500000', '2020-01-01 00:00:00+00:00')
    """
    time, plus, _ = text.partition("+00")
    whole, _, fraction = time.partition(".")
    digits = fraction.rstrip("0")
    shown_digits = f".{digits:0<{6 if len(digits) <= 6 else 9}}" if digits else ""
    return whole + shown_digits + ("+00:00" if plus else "")
