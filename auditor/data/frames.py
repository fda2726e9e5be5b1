"""pandas DataFrames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.data.cells import Dialect
from auditor.data.tables import Groups, Progress, Rows, Table
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.building import code_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class FrameTable(Table):
    """A DataFrame; its index is no column."""

    def __init__(self, frame: pd.DataFrame, dialect: Dialect) -> None:
        self.name, self.stem, self.dialect = "DataFrame", "data", dialect
        self._frame = frame
        self.columns = tuple(code_of(column).strip() for column in frame.columns)
        self._codes: dict[str, tuple[NDArray[np.intp], list[str | None]]] = {}

    def origin(self) -> str:
        """See `Table.origin`."""
        import pandas as pd

        whole = hashlib.sha256(repr(self.columns).encode())
        # Each row is hashed by itself, so that the same rows give the same digest.
        whole.update(pd.util.hash_pandas_object(self._frame, index=False).to_numpy().tobytes())
        return f"a DataFrame of {len(self._frame):,} rows, sha256 of its rows {whole.hexdigest()}"

    def crowded(self, columns: Sequence[str], limit: int) -> dict[str, list[str]]:
        """See `Table.crowded`."""
        return {}

    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        progress("counting")
        return [self._grouped([*keys, *chosen]) for chosen in sets]

    def rows(
        self, codes: Mapping[str, Mapping[str | None, int]], progress: Progress = lambda stage: None
    ) -> Iterator[Rows]:
        """See `Table.rows`."""
        progress("reading rows")
        columns = []
        for name, known in codes.items():
            place, cells = self._coded(name)
            columns.append(np.array([known.get(cell, -1) for cell in cells], dtype=np.int32)[place])
        found, rows = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
        yield Rows(tuple(found.T), rows.astype(np.int64))

    def _coded(self, name: str) -> tuple[NDArray[np.intp], list[str | None]]:
        """Return each row's place among the different cells of a column, and these."""
        if name not in self._codes:
            column = self._frame.iloc[:, self.columns.index(name)]
            try:
                codes, values = column.factorize(use_na_sentinel=True)
                # pandas' own types give short floats back as long ones with other digits; NumPy keeps them
                # short.
                shown_values = np.asarray(values) if values.dtype.kind == "f" else values
                cells: list[str | None] = [code_of(_plain(value)) for value in shown_values]
            except (TypeError, UnicodeDecodeError) as error:
                raise InputError(
                    f"{self.name}: column {shown(name)} holds lists, or bytes that are no text; drop it, or "
                    "make single values of them"
                ) from error
            # pandas gives a missing cell the code -1; here its place is the last one, which holds None.
            self._codes[name] = np.where(codes < 0, len(cells), codes).astype(np.intp), [*cells, None]
        return self._codes[name]

    def _grouped(self, columns: Sequence[str]) -> Groups:
        coded = [self._coded(column) for column in columns]
        # The product of the columns' sizes may exceed an integer, so combinations are numbered anew after
        # each column.
        place = np.zeros(len(self._frame), dtype=np.intp)
        for codes, cells in coded:
            place = np.unique(place, return_inverse=True)[1].reshape(-1) * len(cells) + codes
        _, first, rows = np.unique(place, return_index=True, return_counts=True)
        return Groups(
            tuple([cells[i] for i in codes[first].tolist()] for codes, cells in coded),
            rows.astype(np.int64),
        )


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as Python has it, but for moments, which NumPy knows better."""
    if isinstance(value, np.float32 | np.float16):
        # People see the shortest decimal that reads back as the same float.
        return float(str(value))
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufSU" else value
