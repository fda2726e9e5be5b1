"""Parquet files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from auditor.data.cells import Dialect
from auditor.data.duck import DuckTable, quoted
from auditor.data.files import origin, reachable, stem
from auditor.errors import InputError
from auditor.messages import escaped, plain


class ParquetTable(DuckTable):
    """One or several Parquet files with the same columns."""

    def __init__(self, name: str, paths: Sequence[Path], dialect: Dialect) -> None:
        super().__init__(name, stem(paths, name), dialect)
        self._paths = paths
        self._size = sum(path.stat().st_size for path in paths)
        files = ", ".join(map(quoted, reachable(paths, self._folder)))
        # Old writers, such as Impala's, mark no text as text.
        options = "binary_as_string = true, hive_partitioning = false"
        # DuckDB gives names a number that another one equals but for case; these are the names as written.
        schema = self._run(f"SELECT file_name, name, num_children FROM parquet_schema([{files}])").fetchall()
        names: dict[str, list[str]] = {}
        for file, column in _top(schema):
            names.setdefault(file, []).append(column)
        headers = list(names.values())
        for path, header in zip(paths, headers, strict=True):
            if header != headers[0]:
                raise InputError(
                    f"{escaped(os.fspath(path))}: its columns are not those of "
                    f"{escaped(os.fspath(paths[0]))}; give files with the same columns in the same order"
                )
        self.columns = tuple(column.strip() for column in headers[0])
        self._described(f"read_parquet([{files}], {options})")

    def origin(self) -> str:
        """See `Table.origin`."""
        return origin(self._paths)

    def _explained(self, error: Exception) -> Exception:
        text = str(error)
        if "UTF8" in text or "utf-8" in text.lower() or "unicode" in text.lower():
            return InputError(
                f"{self.name}: a column of bytes holds what is no text: {plain(text.splitlines()[0])}; "
                "leave that column out, or write it as text"
            )
        return InputError(f"{self.name}: not a whole Parquet file: {plain(text.splitlines()[0])}")


def _top(schema: Sequence[tuple[str, str, int | None]]) -> list[tuple[str, str]]:
    """Return files and names of the columns; what is nested in them is left out."""
    found, inside, current = [], 0, None
    for file, name, children in schema:
        if file != current:
            # The first entry of each file is its root.
            current, inside = file, 0
            continue
        if inside:
            inside += (children or 0) - 1
            continue
        found.append((file, name))
        inside = children or 0
    return found
