"""Tables in databases: DuckDB's by DuckDB itself, all others by Ibis, which counts where the data are.

Only counts come back, never rows; and what opens the database stays out of every name, message and record.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import numpy as np

from auditor.data.cells import Dialect, moment
from auditor.data.duck import DuckTable, quoted
from auditor.data.tables import Groups, Progress, Rows, Table, digest, reject, single
from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.model.building import code_of

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

#: Rows in which crowded columns are looked for, and columns of one query at most.
_FIRST_ROWS, _BATCH = 100_000, 50

#: Longest word of a database that is passed on.
_LONGEST = 500


@dataclass(frozen=True)
class Query:
    """A table of a database, or the result of a query."""

    url: str = field(repr=False)
    """Such as ``postgres://HOST/DATABASE``, ``sqlite:///FILE`` or ``duckdb:///FILE``. It may hold what opens
    the database, and is shown nowhere.
    """
    table: str | None = None
    """A table or view, with its schema before a dot if it needs one."""
    sql: str | None = None
    """A query in the words of that database, instead."""

    @property
    def place(self) -> SplitResult:
        """The parts of the URL."""
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError as error:
            raise InputError(f"--from: not a URL of a database: {escaped(str(error))}") from None
        if not parts.scheme or "://" not in self.url:
            raise InputError(
                "--from: not a URL of a database; give one such as postgres://HOST/DATABASE or sqlite:///FILE"
            )
        return parts

    @property
    def name(self) -> str:
        """What the table is called in messages: the database without what opens it."""
        parts = self.place
        where = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        return escaped(f"{where} {self.table if self.table is not None else 'query'}")

    def scrubbed(self, said: str) -> str:
        """Take what opens the database out of a text."""
        parts = self.place
        secrets = {self.url, parts.netloc.rpartition("@")[0], parts.password, parts.query}
        secrets |= {value for _, value in parse_qsl(parts.query)}
        secrets |= {unquote(secret) for secret in secrets if secret}
        for secret in sorted((s for s in secrets if s), key=len, reverse=True):
            said = said.replace(secret, "***")
        return said


def open_database(query: Query, dialect: Dialect) -> Table:
    """Open a table of a database.

    Raises
    ------
    InputError
        If it can't be reached, or there is no such table.
    """
    parts = query.place
    if parts.scheme in ("duckdb", "sqlite"):
        path = Path(parts.path.removeprefix("/") if not parts.path.startswith("//") else parts.path[1:])
        path = path if path.exists() else Path(parts.path)
        if not path.is_file():
            raise InputError(f"{query.name}: there is no such file; give the path of a database")
        if parts.scheme == "duckdb":
            return _DuckDatabase(query, path, dialect)
    return _IbisTable(query, dialect)


class _DuckDatabase(DuckTable):
    """A table of a DuckDB file, which is opened for reading only."""

    def __init__(self, query: Query, path: Path, dialect: Dialect) -> None:
        super().__init__(query.name, query.table or path.stem, dialect)
        self._query, self._digest = query, ""
        self._run(f"ATTACH {quoted(str(path.resolve()))} AS source (READ_ONLY)")
        self._run("USE source")
        if query.sql is not None:
            scan = f"({query.sql})"
        else:
            names = ".".join('"' + part.replace('"', '""') + '"' for part in str(query.table).split("."))
            scan = f"(FROM {names})"
        self.columns = tuple(name.strip() for name in self._described(scan))

    def origin(self) -> str:
        """See `Table.origin`."""
        return _origin(self._query, self._digest)

    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        found = super()._counts(keys, sets, progress)
        self._digest = self._digest or _digest(keys, sets, found)
        return found

    def _explained(self, error: Exception) -> Exception:
        return InputError(f"{self.name}: the database says: {_said(self._query, error)}")


class _IbisTable(Table):
    """A table of any database that Ibis speaks with."""

    def __init__(self, query: Query, dialect: Dialect) -> None:
        try:
            import ibis
        except ImportError as error:
            raise InputError(
                f"{query.name}: databases need Ibis; pip install 'ibis-framework[postgres,sqlite]'"
            ) from error
        self.name, self.stem, self.dialect = query.name, query.table or "query", dialect
        self._query, self._digest = query, ""
        with self._guarded():
            backend = ibis.connect(query.url)
            if query.sql is not None:
                self._table: ir.Table = backend.sql(query.sql)
            else:
                schema, _, name = str(query.table).rpartition(".")
                self._table = backend.table(name, database=schema or None)
            self._raw = tuple(self._table.columns)
        self.columns = tuple(name.strip() for name in self._raw)

    def origin(self) -> str:
        """See `Table.origin`."""
        return _origin(self._query, self._digest)

    def crowded(self, columns: Sequence[str], limit: int) -> dict[str, list[str]]:
        """See `Table.crowded`."""
        self._check_kinds(columns)
        found: dict[str, list[str]] = {}
        for start in range(0, len(columns), _BATCH):
            batch = columns[start : start + _BATCH]
            with self._guarded():
                first = self._chosen(batch).limit(_FIRST_ROWS)
                numbers = {f"n{i}": first[f"c{i}"].nunique() for i in range(len(batch))}
                (row,) = first.aggregate(**numbers).to_pyarrow().to_pylist()
                for i, column in enumerate(batch):
                    if row[f"n{i}"] > limit:
                        # A database may choose other first rows this time; so many different values are proof
                        # all the same.
                        again = self._chosen([column]).limit(_FIRST_ROWS).distinct().to_pyarrow()
                        cells = [cell for cell in _cells(again.column(0)) if cell]
                        if len(cells) > limit:
                            found[column] = cells
        return found

    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        self._check_kinds(list(dict.fromkeys([*keys, *chain.from_iterable(sets)])))
        found = []
        for i, chosen in enumerate(sets):
            progress(f"counting: {i} of {len(sets)} columns")
            found.append(self._grouped([*keys, *chosen]))
        if len({int(group.rows.sum()) for group in found}) > 1:
            raise InputError(
                f"{self.name}: the table changed while it was counted, so that its columns have different "
                "numbers of rows; count a copy or a view of it that stays as it is"
            )
        self._digest = self._digest or _digest(keys, sets, found)
        return found

    def rows(
        self, codes: Mapping[str, Mapping[str | None, int]], progress: Progress = lambda stage: None
    ) -> Iterator[Rows]:
        """See `Table.rows`."""
        progress("reading rows")
        group = self._grouped(list(codes))
        columns = [
            np.array([known.get(cell, known.get(cell or None, -1)) for cell in cells], dtype=np.int32)
            for cells, known in zip(group.cells, codes.values(), strict=True)
        ]
        found, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        rows = np.zeros(len(found), dtype=np.int64)
        np.add.at(rows, place.reshape(-1), group.rows)
        yield Rows(tuple(found.T), rows)

    def _grouped(self, columns: Sequence[str]) -> Groups:
        """Count the rows by some columns. One query per set keeps the types of their cells."""
        names = [f"c{i}" for i in range(len(columns))]
        with self._guarded():
            chosen = self._chosen(columns)
            found = chosen.group_by(names).aggregate(n=chosen.count()).to_pyarrow()
            cells = tuple(_cells(found.column(name)) for name in names)
            return Groups(cells, np.array(found.column("n").to_pylist(), dtype=np.int64))

    def _chosen(self, columns: Sequence[str]) -> ir.Table:
        places = [self.columns.index(column) for column in columns]
        return self._table.select(**{f"c{i}": self._table[self._raw[p]] for i, p in enumerate(places)})

    def _check_kinds(self, columns: Sequence[str]) -> None:
        kinds = {column: self._table[self._raw[self.columns.index(column)]].type() for column in columns}
        reject(
            [
                f"{self.name}: column {shown(column)} holds {str(kind)[:60]}, not single values; drop it"
                for column, kind in kinds.items()
                if kind.is_nested() or kind.is_json()
            ]
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Pass on what a database or its driver says, whatever kind of error that is, without secrets."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        except InputError:
            raise
        except Exception as error:
            # The chain would show the URL in a traceback.
            raise InputError(f"{self.name}: the database says: {_said(self._query, error)}") from None


def _said(query: Query, error: Exception) -> str:
    text = query.scrubbed(" ".join(str(error).split()) or type(error).__name__)
    return escaped(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _digest(keys: Sequence[str], sets: Sequence[tuple[str, ...]], counts: Sequence[Groups]) -> str:
    alone = single(sets, counts)
    return digest([*keys, *alone], alone.values())


def _origin(query: Query, counts: str) -> str:
    asked = "" if query.sql is None else f" with sha256 {hashlib.sha256(query.sql.encode()).hexdigest()}"
    return f"{query.name}{asked}, sha256 of its counts {counts}"


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    """Write typed cells as people do; databases write them in ways of their own."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        unit = "D" if pa.types.is_date(kind) else kind.unit
        days = (
            column.cast(pa.date32()).cast(pa.int32()) if pa.types.is_date(kind) else column.cast(pa.int64())
        )
        zone = "+00:00" if pa.types.is_timestamp(kind) and kind.tz else ""
        return [
            None
            if number is None
            else moment(str(np.array(number, dtype=f"M8[{unit}]")).replace("T", " ") + zone)
            for number in days.to_pylist()
        ]
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        return [
            None if cell is None else code_of(float(str(np.float32(cell)))) for cell in column.to_pylist()
        ]
    return [None if cell is None else code_of(cell) for cell in column.to_pylist()]
