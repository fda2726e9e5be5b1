"""Cuts columns of numbers into bins: at given edges, by quantile or by width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal

import numpy as np

from auditor.data.tables import Chunk, Table
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.building import decimal

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers of a column from which quantiles are taken at most: every one, then every second, and so on.
_SAMPLE = 200_000


def reported(chunks: Iterable[Chunk], doing: str, progress: Callable[[str], None]) -> Iterator[Chunk]:
    """Pass pieces on, and say how many rows are done."""
    done = 0
    progress(doing)
    for chunk in chunks:
        yield chunk
        done += chunk.rows
        progress(f"{doing}: {done:,} rows")


def found_edges(
    table: Table,
    columns: Sequence[str],
    bins: int,
    method: Literal["quantile", "width"],
    limit: int,
    progress: Callable[[str], None],
) -> dict[str, tuple[Decimal, ...]]:
    """Cut columns of more numbers than the limit into bins of about as many rows, or of the same width."""
    candidates = {column: _Numbers(limit) for column in columns}
    for chunk in reported(table.chunks(columns) if columns else [], "cutting numbers", progress):
        for column, numbers in candidates.items():
            numbers.add(chunk, column)
    edges = {}
    for column, numbers in candidates.items():
        if numbers.many and (found := numbers.edges(bins, method)):
            edges[column] = found
    return edges


class _Numbers:
    """Tells whether a column has many different numbers and nothing else; keeps some of them."""

    def __init__(self, limit: int) -> None:
        self._limit, self._distinct = limit, set[float]()
        self._sample: NDArray[np.float64] = np.zeros(0)
        self._stride, self._offset = 1, 0
        self._low, self._high = np.inf, -np.inf
        self._numeric = True

    @property
    def many(self) -> bool:
        return self._numeric and len(self._distinct) > self._limit

    def add(self, chunk: Chunk, column: str) -> None:
        if not self._numeric:
            return
        numbers, wrong = chunk.numbers(column)
        if wrong is not None:
            self._numeric = False
            return
        numbers = numbers[~np.isnan(numbers)]
        if not len(numbers):
            return
        if len(self._distinct) <= self._limit:
            self._distinct.update(np.unique(numbers)[: self._limit + 1].tolist())
        self._low, self._high = min(self._low, numbers.min()), max(self._high, numbers.max())
        taken = numbers[self._offset :: self._stride]
        self._offset = (self._offset - len(numbers)) % self._stride
        self._sample = np.append(self._sample, taken)
        while len(self._sample) > _SAMPLE:
            # What stands at even places is what the double stride would have taken.
            if len(self._sample) % 2:
                self._offset += self._stride
            self._sample = self._sample[::2]
            self._stride *= 2

    def edges(self, bins: int, method: Literal["quantile", "width"]) -> tuple[Decimal, ...]:
        if method == "width":
            found = np.linspace(self._low, self._high, bins + 1)[1:-1]
            digits = 2 - int(np.floor(np.log10((self._high - self._low) / bins)))
            found = np.round(found, digits)
        else:
            shares = np.arange(1, bins) / bins
            found = np.quantile(self._sample, shares, method="higher")
        # Under the first edge and from the last one there must be rows.
        return tuple(decimal(float(e)) for e in np.unique(found) if self._low < e <= self._high)


def parse_bins(
    options: Iterable[str],
) -> tuple[dict[str, tuple[Decimal, ...]], int | None]:
    """Read options such as ``age=30,50`` (edges) and ``4`` (a number of bins for all other columns).

    Raises
    ------
    InputError
        For what is neither.

    Examples
    --------
    >>> parse_bins(["age=30,50", "4"])
    ({'age': (Decimal('30'), Decimal('50'))}, 4)
    """
    edges: dict[str, tuple[Decimal, ...]] = {}
    number: int | None = None
    problems = []
    for option in options:
        column, equals, text = option.rpartition("=")
        if not equals:
            if option.isascii() and option.isdigit() and 2 <= int(option[:9]) <= 1000:
                number = int(option)
            else:
                problems.append(f"bins {shown(option)}: give a number from 2 to 1000, or COLUMN=EDGE,EDGE,…")
            continue
        try:
            found = tuple(Decimal(part.strip()) for part in text.split(","))
            if not all(edge.is_finite() for edge in found) or sorted(set(found)) != list(found):
                raise InvalidOperation
        except InvalidOperation:
            problems.append(
                f"bins of {shown(column)}: {shown(text)} is not a list of numbers that increase; "
                "write them as in age=30,50"
            )
            continue
        edges[column] = found
    if problems:
        raise InputError(problems)
    return edges, number
