"""Cuts columns of numbers into bins: at given edges, by quantile or by width."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal

import numpy as np

from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.building import decimal
from auditor.model.intervals import Bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from auditor.data.cells import Dialect


def found_edges(
    numbers: NDArray[np.float64], rows: NDArray[np.int64], bins: int, method: Literal["quantile", "width"]
) -> tuple[Decimal, ...]:
    """Cut numbers into bins of about as many rows, or of the same width.

    Parameters
    ----------
    numbers : array
        Different ones.
    rows : array
        How often each occurs.
    method : {"quantile", "width"}

    Returns
    -------
    tuple of Decimal
        Edges with rows under the first and from the last on; fewer than asked for where numbers repeat.
    """
    order = np.argsort(numbers)
    numbers, upto = numbers[order], np.cumsum(rows[order])
    low, high = numbers[0], numbers[-1]
    if method == "width":
        found = np.linspace(low, high, bins + 1)[1:-1]
        # The numbers are halved before they are subtracted: the difference of two huge floats may be
        # infinite.
        digits = 2 - int(np.floor(np.log10((high / 2 - low / 2) / bins * 2)))
        found = np.array([round(float(edge), digits) for edge in found])
    else:
        # The number at the share q of all N sorted rows stands at the place ⌈q (N − 1)⌉.
        places = [-(-(int(upto[-1]) - 1) * part // bins) for part in range(1, bins)]
        found = numbers[np.searchsorted(upto, places, side="right")]
    return tuple(decimal(float(edge)) for edge in np.unique(found) if low < edge <= high)


def places(
    bins: Bins, texts: Sequence[str], numbers: NDArray[np.float64], dialect: Dialect
) -> NDArray[np.intp]:
    """Return into which bin each number falls, exactly; -1 where it is NaN.

    Numbers of the same float as an edge are compared digit by digit; all others by their floats, since
    rounding keeps the order.
    """
    edges = np.array([float(edge) for edge in bins.edges])
    found = np.searchsorted(edges, numbers, side="right" if bins.closed == "left" else "left").astype(np.intp)
    bisect = bisect_right if bins.closed == "left" else bisect_left
    for i in np.flatnonzero(np.isin(numbers, edges)).tolist():
        found[i] = bisect(bins.edges, dialect.exact(texts[i]))
    found[np.isnan(numbers)] = -1
    return found


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
