"""Tables of data, whatever holds them: all that is asked of one is to count.

A source gives the different cells of its columns as text, and how many rows have them; what the texts mean is
decided here, in Python, and so is the same for all sources.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, cast

from auditor.errors import InputError
from auditor.messages import listed, shown

if TYPE_CHECKING:
    import os
    from typing import Any, TypeAlias

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from auditor.data.cells import Dialect
    from auditor.data.database import Query

    #: What data are given as: a file, glob or folder; several of them; a pandas DataFrame; or a table.
    Source: TypeAlias = (
        str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | pd.DataFrame | Query | "Table"
    )

Progress = Callable[[str], None]

#: Cells of a column as text; None is a cell without a value in the source.
Cells = Sequence[str | None]


class Groups(NamedTuple):
    """Rows that have the same cells in some columns: these cells, column by column, and how many rows."""

    cells: tuple[Cells, ...]
    rows: NDArray[np.int64]


class Rows(NamedTuple):
    """Rows that have the same codes in some columns: an array per column, and how many rows."""

    codes: tuple[NDArray[np.integer[Any]], ...]
    rows: NDArray[np.int64]


class Table(ABC):
    """A table of data."""

    name: str
    """What it is called in messages."""
    stem: str
    """What a model that is counted from it is called."""
    columns: tuple[str, ...]
    """As in the header, without blanks around them. A name may stand there twice, or be empty."""
    dialect: Dialect
    """What its cells mean."""

    @abstractmethod
    def origin(self) -> str:
        """Say for the record which data these are; no secrets."""

    @abstractmethod
    def crowded(self, columns: Sequence[str], limit: int) -> dict[str, list[str]]:
        """Return columns that a look at the first rows shows to have more different cells, and these cells.

        It spares counting columns such as names and numbers of cases; what is found later is found too.
        """

    def groups(
        self,
        keys: Sequence[str],
        columns: Sequence[str],
        together: Sequence[tuple[str, ...]] = (),
        progress: Progress = lambda stage: None,
    ) -> tuple[list[Groups], list[Groups]]:
        """Count the rows for each column, and for some columns together, by the keys.

        Returns
        -------
        list of Groups
            For each of `columns`: the cells of the keys and of the column.
        list of Groups
            For each of `together`: the cells of the keys and of these columns.
        """
        found = self._counts(keys, [*((column,) for column in columns), *together], progress)
        return found[: len(columns)], found[len(columns) :]

    @abstractmethod
    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        """Count the rows for each of some sets of columns, by the keys."""

    @abstractmethod
    def rows(
        self, codes: Mapping[str, Mapping[str | None, int]], progress: Progress = lambda stage: None
    ) -> Iterator[Rows]:
        """Count rows of the same codes, sorted by these and piece by piece.

        Parameters
        ----------
        codes : mapping of str to mapping
            For each column what its cells are translated to; -1 for cells that are not named.
        """

    def problems(self, columns: Sequence[str], role: str) -> list[str]:
        """Explain which of these columns the table has not, or more than once."""
        found = []
        for column in dict.fromkeys(columns):
            times = self.columns.count(column)
            if not times:
                found.append(
                    f"{self.name}: there is no column {shown(column)} for {role}; "
                    f"{_suggestion(column, self.columns)}"
                )
            elif times > 1:
                found.append(
                    f"{self.name}: column {shown(column)} stands {times} times in the header; give each "
                    "column its own name, or leave it out with --drop or --columns"
                )
        return found


def open_table(source: Source, dialect: Dialect | None = None) -> Table:
    """Open data of any kind; files by their content.

    Raises
    ------
    InputError
        If it is none, or its header can't be used.
    """
    from auditor.data.cells import Dialect

    if isinstance(source, Table):
        return source
    dialect = dialect or Dialect()
    if hasattr(source, "url"):
        from auditor.data.database import open_database

        return open_database(cast("Query", source), dialect)
    if hasattr(source, "iloc"):
        from auditor.data.frames import FrameTable

        return FrameTable(cast("pd.DataFrame", source), dialect)
    from auditor.data.files import open_files

    return open_files(cast("str", source), dialect)


def single(sets: Sequence[tuple[str, ...]], counts: Sequence[Groups]) -> dict[str, Groups]:
    """Return the counts of those sets that are one column, by its name."""
    return {chosen[0]: group for chosen, group in zip(sets, counts, strict=True) if len(chosen) == 1}


def digest(names: Sequence[str], counts: Iterable[Groups]) -> str:
    """Return the SHA-256 of counts, which is the same for the same data wherever they are counted."""
    whole = hashlib.sha256(json.dumps(list(names)).encode())
    for group in counts:
        rows: dict[tuple[str, ...], int] = {}
        for *cells, number in zip(*group.cells, group.rows.tolist(), strict=True):
            key = tuple(cell or "" for cell in cells)
            rows[key] = rows.get(key, 0) + number
        whole.update(json.dumps(sorted(rows.items())).encode())
    return whole.hexdigest()


def reject(problems: Sequence[str]) -> None:
    """Raise an error of these problems, if there are any."""
    if problems:
        raise InputError(problems)


def _suggestion(column: str, columns: Sequence[str]) -> str:
    named = [name for name in dict.fromkeys(columns) if name]
    close = get_close_matches(column, named, n=1) or [n for n in named if n.casefold() == column.casefold()]
    if close:
        return f"did you mean {shown(close[0])}?"
    return f"columns are {listed(named)}"
