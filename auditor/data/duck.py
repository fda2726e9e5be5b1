"""Counts files with DuckDB, which works in this process and asks no network for anything."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.data.cells import moment
from auditor.data.tables import Groups, Progress, Rows, Table, reject
from auditor.messages import shown
from auditor.model.building import code_of

if TYPE_CHECKING:
    import duckdb

    from auditor.data.cells import Dialect

#: Memory that DuckDB may take before it uses the disk, and threads, each of which holds pieces of the file.
_MEMORY, _THREADS = "600MB", 4
#: Columns that one query counts at most.
BATCH = 50
#: Rows in which crowded columns are looked for, and rows of codes that are held at once.
_FIRST_ROWS, _PIECE = 100_000, 1_000_000
#: Seconds between two words about the progress.
_BREATH = 0.2

#: Stands in a query for the table, which is another one once a file has been mended.
_TABLE = "«table»"

#: Types of which a cell is no single value.
_NESTED = re.compile(r"STRUCT|MAP|UNION|VARIANT|.*\[")


class DuckTable(Table):
    """A table that DuckDB reads; its columns are c0, c1, … there."""

    def __init__(self, name: str, stem: str, dialect: Dialect) -> None:
        import duckdb

        self.name, self.stem, self.dialect = name, stem, dialect
        self._folder = Path(tempfile.mkdtemp(prefix="auditor-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
                "memory_limit": _MEMORY,
                "preserve_insertion_order": False,
                "temp_directory": str(self._folder),
                "threads": min(os.cpu_count() or 1, _THREADS),
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")
        #: Bytes of the files, for the progress; 0 if that isn't known.
        self._size = 0
        #: SQL of the table with its own names, and the types of its columns where not all are text.
        self._scan, self._kinds = "", list[str]()

    def _described(self, scan: str) -> list[str]:
        """Let SQL stand for the table; find the types of its columns, and return their names."""
        self._scan = scan
        found = self._run(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        self._kinds = [str(row[1]) for row in found]
        return [str(row[0]) for row in found]

    def _relation(self) -> str:
        """Return SQL that stands for the table, with the columns c0, c1, … in it."""
        names = ", ".join(f"c{i}" for i in range(len(self.columns)))
        return f"(SELECT * FROM {self._scan} AS t({names}))"

    @abstractmethod
    def _explained(self, error: Exception) -> Exception | None:
        """Return what is wrong with the file; None if it has been mended and the query can run again."""

    def _kind(self, place: int) -> str:
        """Return the type of a column."""
        return self._kinds[place] if self._kinds else "VARCHAR"

    def _place(self, column: str) -> int:
        return self.columns.index(column)

    def crowded(self, columns: Sequence[str], limit: int) -> dict[str, list[str]]:
        """See `Table.crowded`."""
        self._check_kinds(columns)
        places = [self._place(column) for column in columns]
        if not places:
            return {}
        # One look at the first rows serves all columns.
        self._run(
            f"CREATE OR REPLACE TEMP TABLE looked AS SELECT {_names(places)} FROM {_TABLE} "
            f"LIMIT {_FIRST_ROWS}"
        )
        numbers = ", ".join(f"approx_count_distinct(c{place})" for place in places)
        (found,) = self._run(f"SELECT {numbers} FROM looked").fetchall()
        crowded = {}
        for column, place, number in zip(columns, places, found, strict=True):
            if number * 2 > limit:
                query = f"SELECT DISTINCT {self._text(place)} v FROM looked WHERE c{place} IS NOT NULL"
                cells = self._cells(place, self._run(query).fetchnumpy()["v"])
                if len(cells) > limit:
                    crowded[column] = [cell for cell in cells if cell is not None]
        self._run("DROP TABLE looked")
        return crowded

    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        self._check_kinds(list(dict.fromkeys([*keys, *chain.from_iterable(sets)])))
        found: list[Groups] = []
        for start in range(0, len(sets), BATCH):
            found += self._grouped(keys, sets[start : start + BATCH], progress)
        return found

    def _grouped(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        """Count several sets of columns in one scan."""
        key = [self._place(column) for column in keys]
        places = [[self._place(column) for column in columns] for columns in sets]
        alone = list(dict.fromkeys(p[0] for p in places if len(p) == 1 and p[0] not in key))
        joint = list(dict.fromkeys(p for ps in places if len(ps) > 1 for p in ps if p not in key))
        every = list(dict.fromkeys([*key, *alone, *joint]))
        others = [place for place in every if place not in key]
        mark = f"GROUPING_ID({_names(others)})" if others else "0"
        single = f"COALESCE({', '.join(map(self._text, alone))})" if alone else "NULL"
        query = (
            f"SELECT {mark} AS g, {single} AS v, "
            + "".join(f"{self._text(place)} AS t{place}, " for place in dict.fromkeys([*key, *joint]))
            + f"COUNT(*) AS n FROM (SELECT {_names(every)} FROM {_TABLE}) GROUP BY GROUPING SETS ("
            + ", ".join(f"({_names(dict.fromkeys([*key, *chosen]))})" for chosen in places)
            + ")"
        )
        self._run(
            f"CREATE OR REPLACE TEMP TABLE counted AS {query}",
            progress,
            "counting",
        )
        result = []
        for chosen in places:
            number = sum(1 << (len(others) - 1 - i) for i, p in enumerate(others) if p not in chosen)
            texts = [f"t{p}" if len(chosen) > 1 or p in key else "v" for p in chosen]
            names = [*(f"t{place}" for place in key), *texts]
            chosen_names = ", ".join(f"{name} AS x{i}" for i, name in enumerate(names))
            found = self._run(f"SELECT {chosen_names}, n FROM counted WHERE g = {number}").fetchnumpy()
            cells = tuple(self._cells(p, found[f"x{i}"]) for i, p in enumerate([*key, *chosen]))
            result.append(Groups(cells, np.asarray(found["n"], dtype=np.int64)))
        self._run("DROP TABLE counted")
        return result

    def rows(
        self, codes: Mapping[str, Mapping[str | None, int]], progress: Progress = lambda stage: None
    ) -> Iterator[Rows]:
        """See `Table.rows`."""
        places = [self._place(column) for column in codes]
        for i, (place, column) in enumerate(zip(places, codes.values(), strict=True)):
            raw = self._raw(place, column)
            number = np.fromiter(raw.values(), dtype=np.int32, count=len(raw))
            self._connection.register("translated", {"v": np.array(list(raw), dtype=object), "c": number})
            self._run(f"CREATE OR REPLACE TEMP TABLE k{i} AS SELECT v, c FROM translated")
            self._connection.unregister("translated")
        translated = ", ".join(
            f"COALESCE(k{i}.c, {column.get(None, -1)}) AS x{i}" for i, column in enumerate(codes.values())
        )
        joins = " ".join(
            f"LEFT JOIN k{i} ON {self._text(place, 's.')} = k{i}.v" for i, place in enumerate(places)
        )
        names = ", ".join(f"x{i}" for i in range(len(places)))
        self._run(
            (
                f"CREATE OR REPLACE TEMP TABLE coded AS SELECT row_number() OVER (ORDER BY {names}) AS r, "
                f"{names}, n FROM (SELECT {translated}, COUNT(*) AS n FROM {_TABLE} s {joins} "
                f"GROUP BY ALL) ORDER BY {names}"
            ),
            progress,
            "reading rows",
        )
        ((total,),) = self._run("SELECT COUNT(*) FROM coded").fetchall()
        for start in range(0, total, _PIECE):
            found = self._run(
                f"SELECT {names}, n FROM coded WHERE r > {start} AND r <= {start + _PIECE} ORDER BY r"
            ).fetchnumpy()
            yield Rows(
                tuple(np.asarray(found[f"x{i}"]) for i in range(len(places))),
                np.asarray(found["n"], dtype=np.int64),
            )

    def _check_kinds(self, columns: Sequence[str]) -> None:
        """Find columns whose cells are no single values."""
        kinds = [(column, self._kind(self._place(column))) for column in columns]
        reject(
            [
                f"{self.name}: column {shown(column)} holds {kind.lower()[:60]}, not single values; drop it"
                for column, kind in kinds
                if _NESTED.match(kind)
            ]
        )

    def _text(self, place: int, of: str = "") -> str:
        """Return SQL for a cell as text."""
        column = f"{of}c{place}"
        return column if self._kind(place) == "VARCHAR" else f"CAST({column} AS VARCHAR)"

    def _cells(self, place: int, raw: Any) -> list[str | None]:
        """Return cells of a column as people write them; None where there is none."""
        absent = np.ma.getmaskarray(raw) if isinstance(raw, np.ma.MaskedArray) else None
        cells: list[str | None] = np.ma.getdata(raw).tolist()
        if absent is not None and absent.any():
            cells = [None if none else cell for cell, none in zip(cells, absent.tolist(), strict=True)]
        write = _WRITTEN.get(self._kind(place))
        if write is None:
            return cells
        return [None if cell is None else write(cell) for cell in cells]

    def _raw(self, place: int, codes: Mapping[str | None, int]) -> dict[str, int]:
        """Return the codes of cells as DuckDB writes these."""
        write = _WRITTEN.get(self._kind(place))
        if write is None:
            return {cell: code for cell, code in codes.items() if cell is not None}
        query = f"SELECT DISTINCT {self._text(place)} AS v FROM {_TABLE} WHERE c{place} IS NOT NULL"
        found = self._run(query).fetchnumpy()["v"].tolist()
        return {str(raw): codes.get(write(str(raw)), -1) for raw in found}

    def _run(
        self, query: str, progress: Progress = lambda stage: None, doing: str = ""
    ) -> duckdb.DuckDBPyConnection:
        """Run a query, and once more where the file could be mended."""
        import duckdb

        while True:
            try:
                whole = query.replace(_TABLE, self._relation()) if _TABLE in query else query
                return self._watched(whole, progress, doing)
            except (duckdb.Error, UnicodeDecodeError) as error:
                explained = self._explained(error)
                if explained is not None:
                    raise explained from error

    def _watched(self, query: str, progress: Progress, doing: str) -> duckdb.DuckDBPyConnection:
        if not doing:
            return self._connection.execute(query)
        progress(doing)
        begun = _bytes_read()
        with ThreadPoolExecutor(1) as pool:
            running: Future[duckdb.DuckDBPyConnection] = pool.submit(self._connection.execute, query)
            while True:
                try:
                    return running.result(_BREATH)
                except NotYet:
                    if running.done():
                        raise
                    # With several grouping sets DuckDB's own progress hardly moves, so the bytes that were
                    # read are told.
                    read = _bytes_read() - begun
                    progress(
                        f"{doing}: {min(99, 100 * read // self._size)}%" if self._size and read else doing
                    )
                except BaseException:
                    # Ctrl-C stops only this thread; the query has to be stopped as well.
                    self._connection.interrupt()
                    raise


def _bytes_read() -> int:
    """Return how much this process has read of files; 0 where the system doesn't tell."""
    try:
        return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _names(places: Sequence[int] | Mapping[int, Any]) -> str:
    return ", ".join(f"c{place}" for place in places)


def quoted(literal: str) -> str:
    """Write a text as a literal of SQL."""
    return "'" + literal.replace("'", "''") + "'"


def _float(cell: str) -> str:
    return code_of(float(cell))


#: How cells of typed columns are written where DuckDB writes them otherwise.
_WRITTEN: Mapping[str, Callable[[str], str]] = {
    "FLOAT": _float,
    "DOUBLE": _float,
    "TIMESTAMP": moment,
    "TIMESTAMP_NS": moment,
    "TIMESTAMP_MS": moment,
    "TIMESTAMP_S": moment,
    "TIMESTAMP WITH TIME ZONE": moment,
}
