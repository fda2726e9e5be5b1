"""Tables of data, CSV or Parquet, in pieces of bounded size: the door through which their errors come in.

A column comes as codes into the values that occur in the piece, or as numbers; a missing cell has no code.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.reading import unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Cells that stand for no value, beyond the empty one. The word None is a value: it names "no other debtors".
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "?")

#: Cells of text that are held at once, and rows of Parquet.
_CELLS = 500_000
_BATCH_ROWS = 1 << 16

_SEPARATORS = ",;\t|"
_UNCLOSED = "a quotation mark is never closed ({}); close it or take it out"
_SIGNATURES = (
    (b"PK\x03\x04", "a zip or Excel file, not a table of text; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file, not a table of text; save the sheet as CSV"),
    (b"\xff\xfe", "the text is UTF-16; save it as UTF-8, or give the encoding utf-16"),
    (b"\xfe\xff", "the text is UTF-16; save it as UTF-8, or give the encoding utf-16"),
    (b"\x80\x04\x95", "a pickle, which can run any code and is never opened; save the table as CSV"),
)


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    separator : str, optional
        Between cells; found from the header if not given.
    decimal : str
        The decimal mark of numbers.
    encoding : str
    missing : tuple of str
        Cells that stand for no value; an empty cell always does. They hold for Parquet too.
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = MISSING


class Coded(NamedTuple):
    """A column of a piece: each row's position in the values, or -1 where the cell is missing."""

    codes: NDArray[np.integer[Any]]
    values: Sequence[str]


class Chunk(ABC):
    """Some consecutive rows of a table."""

    rows: int

    @abstractmethod
    def coded(self, column: str) -> Coded:
        """Return a column as codes and texts."""

    def numbers(self, column: str) -> tuple[NDArray[np.float64], str | None]:
        """Return a column as numbers, NaN where it is missing, and a cell that is none."""
        codes, values = self.coded(column)
        found = self.parsed(values)
        wrong = next((value for value, number in zip(values, found, strict=True) if np.isnan(number)), None)
        return np.append(found, np.nan)[codes], wrong

    @abstractmethod
    def parsed(self, values: Sequence[str]) -> NDArray[np.float64]:
        """Return texts as numbers, NaN for what is none."""


class Table(ABC):
    """A table in a file.

    Attributes
    ----------
    name : str
        What it is called in messages.
    columns : tuple of str
    """

    name: str
    columns: tuple[str, ...]

    @abstractmethod
    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        """Read these columns of all rows, piece by piece; it can be done again and again."""

    def unknown(self, columns: Sequence[str], role: str) -> list[str]:
        """Explain which of these columns the table has not."""
        return [
            f"{self.name}: there is no column {shown(column)} for {role}; {_suggestion(column, self.columns)}"
            for column in dict.fromkeys(columns)
            if column not in self.columns
        ]


def open_table(path: str | os.PathLike[str], dialect: Dialect | None = None) -> Table:
    """Open a CSV file, plain or gzipped, or a Parquet file, by its content.

    Raises
    ------
    InputError
        If it is none, or its header can't be used.
    """
    dialect = dialect or Dialect()
    name = escaped(os.fspath(path))
    try:
        with Path(path).open("rb") as file:
            start = file.read(4096)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {unreadable(error)}") from error
    if not start.strip():
        raise InputError(f"{name}: the file is empty; give a table with a header and rows")
    if start.startswith(b"PAR1"):
        return _ParquetTable(name, Path(path), dialect)
    for signature, message in _SIGNATURES:
        if start.startswith(signature) and not dialect.encoding.lower().startswith("utf-16"):
            raise InputError(f"{name}: {message}")
    zipped = start.startswith(b"\x1f\x8b")
    if b"\0" in start and not zipped and not dialect.encoding.lower().startswith(("utf-16", "utf-32")):
        raise InputError(f"{name}: a binary file, not a table; give CSV or Parquet")
    return _TextTable(name, Path(path), dialect, zipped)


class _TextTable(Table):
    def __init__(self, name: str, path: Path, dialect: Dialect, zipped: bool) -> None:
        self.name, self._path, self._zipped = name, path, zipped
        try:
            # A byte order mark is no part of the first name.
            encoding = "utf-8-sig" if dialect.encoding.lower() in ("utf-8", "utf8") else dialect.encoding
            with self._open() as raw, io.TextIOWrapper(raw, encoding, "replace", newline="") as lines:
                first = next((line for line in lines if line.strip()), "")
                separator = dialect.separator or _separator(first)
                # A name in quotes may go over several lines.
                reader = csv.reader(chain([first], lines), delimiter=separator, skipinitialspace=True)
                self.columns = tuple(cell.strip() for cell in next(reader, []))
        except LookupError as error:
            raise InputError(
                f"{name}: {shown(dialect.encoding)} is no known encoding; try utf-8 or latin-1"
            ) from error
        except (csv.Error, OSError, EOFError, zlib.error, TypeError) as error:
            raise InputError(f"{name}: the header can't be read: {escaped(str(error))}") from error
        self._dialect = Dialect(separator, dialect.decimal, encoding, dialect.missing)
        if any("\ufffd" in column for column in self.columns):
            raise InputError(self._undecodable())
        _check_header(name, self.columns)

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        dialect, size = self._dialect, max(1000, _CELLS // len(self.columns))
        row = 2
        try:
            with self._open() as raw, io.TextIOWrapper(raw, dialect.encoding, newline="") as lines:
                reader = csv.reader(lines, delimiter=dialect.separator or ",", skipinitialspace=True)
                header = next(filter(_filled, reader))
                while read := list(islice(reader, size)):
                    rows = list(filter(_filled, read))
                    self._check(rows, header, row)
                    if rows:
                        yield _TextChunk(
                            dict(zip(self.columns, zip(*rows, strict=True), strict=True)), dialect
                        )
                    row += len(read)
        except UnicodeDecodeError as error:
            raise InputError(self._undecodable()) from error
        except csv.Error as error:
            raise InputError(f"{self.name}: {_UNCLOSED.format(escaped(str(error)))}") from error
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.name}: {unreadable(error)}") from error

    def _open(self) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(self._path)) if self._zipped else self._path.open("rb")

    def _check(self, rows: Sequence[list[str]], header: list[str], first: int) -> None:
        """Find rows that don't fit the header, and a header among them, as where files were put together."""
        if header in rows:
            again = first + rows.index(header)
            raise InputError(f"{self.name}: the header stands again at row {again:,}; take it out")
        width = len(self.columns)
        wrong = next((i for i, cells in enumerate(rows) if len(cells) != width), None)
        if wrong is None:
            return
        cells = rows[wrong]
        what = f"row {first + wrong:,} has {len(cells)} cells and the header {width}"
        if "\n" in cells[-1]:
            raise InputError(f"{self.name}: {_UNCLOSED.format(what)}")
        raise InputError(
            f"{self.name}: {what}; put cells that hold the separator in quotes, such as numbers with decimal "
            "commas, or give another --separator"
        )

    def _undecodable(self) -> str:
        """Find line and column of the first byte that isn't text, by reading the file again."""
        encoding, where = self._dialect.encoding, "somewhere: a byte"
        with self._open() as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode(encoding)
                except UnicodeDecodeError as found:
                    cell = line[: found.start].decode("latin-1").count(self._dialect.separator or ",")
                    inside = number > 1 and cell < len(self.columns)
                    column = f", column {shown(self.columns[cell])}" if inside else ""
                    where = f"line {number:,}{column}: byte 0x{line[found.start]:02x}"
                    break
        return (
            f"{self.name}: {where} is not {encoding.removesuffix('-sig')} text; save the whole file as "
            "UTF-8, or give --encoding, such as latin-1"
        )


def _filled(row: list[str]) -> bool:
    """Whether it is more than a blank line."""
    return len(row) > 1 or row not in ([], [""])


class _TextChunk(Chunk):
    def __init__(self, columns: Mapping[str, tuple[str, ...]], dialect: Dialect) -> None:
        self._columns, self._dialect = columns, dialect
        self.rows = len(next(iter(columns.values())))

    def coded(self, column: str) -> Coded:
        cells, missing = self._columns[column], self._dialect.missing
        # In the order in which they first occur.
        different = list(dict.fromkeys(cells))
        values = [v for v in different if (bare := v.strip()) and bare not in missing]
        place = dict.fromkeys(different, -1) | {value: i for i, value in enumerate(values)}
        codes = np.fromiter(map(place.__getitem__, cells), dtype=np.intp, count=len(cells))
        return Coded(codes, values)

    def parsed(self, values: Sequence[str]) -> NDArray[np.float64]:
        return _parsed(values, self._dialect.decimal)


class _ParquetTable(Table):
    def __init__(self, name: str, path: Path, dialect: Dialect) -> None:
        self.name, self._path, self._dialect = name, path, dialect
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise InputError(f"{name}: Parquet needs pyarrow; pip install 'auditor[parquet]'") from error
        self._types: dict[str, Any] = {}
        try:
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
                self.columns = tuple(schema.names)
                self._types = dict(zip(self.columns, schema.types, strict=True))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{name}: not a whole Parquet file: {plain(str(error))}") from error
        _check_header(name, self.columns)

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if nested := [column for column in columns if pa.types.is_nested(self._types[column])]:
            raise InputError(
                f"{self.name}: column {shown(column)} holds {plain(str(self._types[column]))}, not single "
                "values; drop it"
                for column in nested
            )
        texts = [c for c in columns if pa.types.is_string(self._types[c])]
        try:
            with pq.ParquetFile(self._path, read_dictionary=texts, buffer_size=1 << 16) as file:
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns)):
                    yield _BatchChunk(batch, self._dialect)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.name}: not a whole Parquet file: {plain(str(error))}") from error


class _BatchChunk(Chunk):
    def __init__(self, batch: Any, dialect: Dialect) -> None:
        self.rows, self._batch, self._decimal = batch.num_rows, batch, dialect.decimal
        self._missing = frozenset(dialect.missing)

    def coded(self, column: str) -> Coded:
        import pyarrow as pa

        cells = self._batch.column(column)
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        codes = cells.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        values = [text(value) for value in cells.dictionary.to_pylist()]
        absent = [i for i, value in enumerate(values) if not value.strip() or value.strip() in self._missing]
        if absent:
            kept = np.arange(len(values) + 1)
            kept[[*absent, -1]] = -1
            codes = kept[codes]
        return Coded(codes, values)

    def numbers(self, column: str) -> tuple[NDArray[np.float64], str | None]:
        import pyarrow as pa

        cells = self._batch.column(column)
        if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
            return cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), None
        return super().numbers(column)

    def parsed(self, values: Sequence[str]) -> NDArray[np.float64]:
        return _parsed(values, self._decimal)


def _parsed(values: Sequence[str], decimal: str) -> NDArray[np.float64]:
    def number(value: str) -> float:
        try:
            # Python would take 1_000 for a number.
            found = np.nan if "_" in value else float(value.replace(decimal, "."))
        except ValueError:
            return np.nan
        return found if np.isfinite(found) else np.nan

    return np.array([number(value) for value in values], dtype=np.float64)


def text(value: object) -> str:
    """Write a cell of a typed column; a whole float as the integer that it was before cells were missing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _separator(header: str) -> str:
    """Take the mark that makes the most cells of the header."""
    counts = {mark: len(next(csv.reader([header], delimiter=mark), [])) for mark in _SEPARATORS}
    return max(counts, key=lambda mark: counts[mark])


def _check_header(name: str, columns: Sequence[str]) -> None:
    problems = [
        f"{name}: column {shown(column)} stands {columns.count(column)} times in the header; "
        "give each column its own name"
        for column in dict.fromkeys(columns)
        if column and columns.count(column) > 1
    ]
    problems += [
        f"{name}: column {i} has no name in the header; give it one"
        for i, column in enumerate(columns, 1)
        if not column
    ]
    if problems or not columns:
        raise InputError(problems or f"{name}: there is no header; give a table with a header and rows")


def _suggestion(column: str, columns: Sequence[str]) -> str:
    close = get_close_matches(column, columns, n=1)
    if close:
        return f"did you mean {shown(close[0])}?"
    some = ", ".join(shown(name) for name in columns[:20])
    return f"columns are {some}" + (" and more" if len(columns) > 20 else "")
