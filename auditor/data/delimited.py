"""Tables of text, such as CSV: how they are written is found here, and DuckDB counts them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple, cast

from auditor.data.cells import Dialect
from auditor.data.duck import DuckTable, quoted
from auditor.data.files import origin, reachable, stem
from auditor.data.tables import Groups, Progress, single
from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.reading import unreadable

_SEPARATORS = ",;\t|"
_UNCLOSED = "a quotation mark is never closed ({}); close it or take it out"
#: Bytes that are recoded at once, and characters of a cell beyond which something must be wrong.
_PIECE, _LONGEST_CELL = 1 << 20, 1 << 20
#: Bytes of a row of a clean copy; the pieces that are read at once are several times as large.
_LONGEST_LINE = 20_000_000


class _Head(NamedTuple):
    """How a file begins: its separator, its header, and how many rows come before the first one of data."""

    separator: str
    columns: tuple[str, ...]
    skipped: int


class _Part(NamedTuple):
    """A file as DuckDB reads it."""

    path: str
    skipped: int
    zipped: bool


class DelimitedTable(DuckTable):
    """One or several files of text with the same header."""

    def __init__(self, name: str, files: Sequence[tuple[Path, bool]], dialect: Dialect) -> None:
        paths = [path for path, _ in files]
        super().__init__(name, stem(paths, name), dialect)
        self._paths, self._zipped = paths, dict(files)
        try:
            known = codecs.lookup(dialect.encoding).name
            "".encode(known)
        except (LookupError, UnicodeError) as error:
            raise InputError(
                f"{name}: {shown(dialect.encoding)} is no known encoding; try utf-8 or cp1252"
            ) from error
        # A byte order mark is no part of the first name.
        self._encoding = "utf-8-sig" if known == "utf-8" else known
        heads = [self._head(path) for path in paths]
        for path, head in zip(paths, heads, strict=True):
            if head.columns != heads[0].columns or head.separator != heads[0].separator:
                raise InputError(
                    f"{escaped(os.fspath(path))}: its header is not that of {escaped(os.fspath(paths[0]))}; "
                    "give files with the same columns in the same order"
                )
        self._separator, self.columns = heads[0].separator, heads[0].columns
        if not any(self.columns):
            raise InputError(f"{name}: there is no header; give a table with a header and rows")
        self._clean = False
        self._parts = [
            _Part(file, head.skipped, self._zipped[path])
            for file, head, path in zip(reachable(paths, self._folder), heads, paths, strict=True)
        ]
        if self._encoding not in ("utf-8-sig", "ascii"):
            self._parts = [_Part(self._recoded(i), head.skipped, False) for i, head in enumerate(heads)]

        self._size = sum(path.stat().st_size for path in paths)

    def origin(self) -> str:
        """See `Table.origin`."""
        return origin(self._paths)

    def _counts(
        self, keys: Sequence[str], sets: Sequence[tuple[str, ...]], progress: Progress
    ) -> list[Groups]:
        found = super()._counts(keys, sets, progress)
        alone = single(sets, found)
        # Someone who joins files leaves their headers among the rows: every column then has its own name as a
        # cell. Copying the files row by row finds where.
        if alone and not self._clean:
            cells = [*found[0].cells[: len(keys)], *(group.cells[-1] for group in alone.values())]
            if all(name in column for name, column in zip([*keys, *alone], cells, strict=True)):
                for number in range(len(self._paths)):
                    self._copied(number)
        return found

    def _relation(self) -> str:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.columns)))
        scans = []
        for skipped, zipped in dict.fromkeys((part.skipped, part.zipped) for part in self._parts):
            files = ", ".join(quoted(p.path) for p in self._parts if p[1:] == (skipped, zipped))
            scans.append(
                f"SELECT * FROM read_csv([{files}], auto_detect = false, header = false, skip = {skipped}, "
                f"delim = {quoted(self._separator)}, quote = '\"', escape = '\"', strict_mode = true, "
                f"encoding = 'utf-8', compression = '{'gzip' if zipped else 'none'}', "
                f"hive_partitioning = false, max_line_size = {_LONGEST_LINE if self._clean else 2_000_000}, "
                f"columns = {{{columns}}})"
            )
        return f"({' UNION ALL '.join(scans)})"

    def _explained(self, error: Exception) -> Exception | None:
        """Read the files row by row to find what is wrong; if nothing is, clean copies stand for them."""
        if self._clean:
            return InputError(f"{self.name}: can't be read: {plain(str(error).splitlines()[0])}")
        self._parts = [_Part(self._copied(i), 1, False) for i in range(len(self._paths))]
        self._separator, self._clean = ",", True
        return None

    def _head(self, path: Path) -> _Head:
        name = escaped(os.fspath(path))
        separator, skipped, first = self.dialect.separator, 0, ""
        try:
            with self._lines(path, "replace") as lines:
                for first in lines:
                    mark = first.strip("\r\n").strip('"')
                    # Excel writes and reads a first line that names the separator.
                    if not skipped and len(mark) == 5 and mark.lower().startswith("sep="):
                        separator = separator or mark[4]
                    elif first.strip():
                        break
                    skipped += 1
                separator = separator or _separator(first)
                # A name in quotes may go over several lines.
                reader = csv.reader(chain([first], lines), delimiter=separator, skipinitialspace=True)
                columns = tuple(cell.strip() for cell in next(reader, []))
        except (csv.Error, OSError, EOFError, zlib.error, TypeError, UnicodeError) as error:
            raise InputError(f"{name}: the header can't be read: {escaped(str(error))}") from error
        if any("\ufffd" in column for column in columns):
            raise InputError(self._undecodable(path))
        return _Head(separator, columns, skipped + 1)

    def _open(self, path: Path) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(path)) if self._zipped[path] else path.open("rb")

    def _lines(self, path: Path, errors: str = "strict") -> io.TextIOWrapper:
        return io.TextIOWrapper(self._open(path), self._encoding, errors, newline="")

    def _recoded(self, number: int) -> str:
        """Write a copy in UTF-8, piece by piece."""
        path, target = self._paths[number], self._folder / f"recoded{number}"
        with (
            self._guarded(path),
            self._lines(path) as source,
            target.open("w", encoding="utf-8", newline="") as file,
        ):
            while piece := source.read(_PIECE):
                file.write(piece)
        return os.fspath(target)

    def _copied(self, number: int) -> str:
        """Write a copy in the plainest form, row by row; say what is wrong with the first row that is."""
        path, target = self._paths[number], self._folder / f"copied{number}"
        limit = csv.field_size_limit(_LONGEST_CELL)
        try:
            with (
                self._guarded(path),
                self._lines(path) as source,
                target.open("w", encoding="utf-8", newline="") as file,
            ):
                head = self._head(path)
                reader = csv.reader(source, delimiter=head.separator, skipinitialspace=True)
                writer = csv.writer(file)
                header: list[str] | None = None
                row = 0
                for cells in reader:
                    if header is None:
                        if reader.line_num > head.skipped - 1 and _filled(cells):
                            header, row = cells, 1
                            writer.writerow(cells)
                        continue
                    row += 1
                    if _filled(cells):
                        writer.writerow(self._checked(path, row, cells, header))
        finally:
            csv.field_size_limit(limit)
        return os.fspath(target)

    def _checked(self, path: Path, row: int, cells: list[str], header: list[str]) -> list[str]:
        """Return a row that fits the header."""
        name, width = escaped(os.fspath(path)), len(header)
        if cells == header:
            raise InputError(f"{name}: the header stands again at row {row:,}; take it out")
        if len(cells) == width:
            return cells
        if len(cells) == width + 1 and not cells[-1].strip():
            # Some programs end each row in a separator, which makes no column.
            return cells[:-1]
        of_row = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        what = f"row {row:,} has {of_row} and the header {width}"
        if "\n" in cells[-1]:
            raise InputError(f"{name}: {_UNCLOSED.format(what)}")
        if len(cells) == width + 1 and row == 2:
            remedy = (
                "; or name the first column in the header, if that holds the names of rows as R writes them"
            )
        else:
            remedy = ""
        raise InputError(
            f"{name}: {what}; put cells that hold the separator in quotes, such as numbers with decimal "
            f"commas, or give another --separator{remedy}"
        )

    @contextmanager
    def _guarded(self, path: Path) -> Iterator[None]:
        """Say what is wrong with a file that can't be read to its end."""
        name = escaped(os.fspath(path))
        try:
            yield
        except UnicodeDecodeError as error:
            raise InputError(self._undecodable(path)) from error
        except UnicodeError as error:
            # Some encodings, such as UTF-16 without its mark, fail without saying at which byte.
            raise InputError(f"{name}: is not {self._encoding} text: {escaped(str(error))}") from error
        except csv.Error as error:
            if "field larger" in str(error):
                raise InputError(
                    f"{name}: a cell has over {_LONGEST_CELL:,} characters; close its quotation mark, or "
                    "take such columns out of the file"
                ) from error
            raise InputError(f"{name}: {_UNCLOSED.format(escaped(str(error)))}") from error
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{name}: {unreadable(error)}") from error

    def _undecodable(self, path: Path) -> str:
        """Find line and column of the first byte that isn't text, by reading the file again."""
        encoding, where = self._encoding, "somewhere: a byte"
        separator = str(self.dialect.separator or getattr(self, "_separator", ","))
        columns: tuple[str, ...] = getattr(self, "columns", ())
        with self._open(path) as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode(encoding)
                except UnicodeDecodeError as found:
                    cell = line[: found.start].decode("latin-1").count(separator)
                    inside = number > 1 and cell < len(columns)
                    column = f", column {shown(columns[cell])}" if inside else ""
                    where = f"line {number:,}{column}: byte 0x{line[found.start]:02x}"
                    break
                except UnicodeError:
                    break
        return (
            f"{escaped(os.fspath(path))}: {where} is not {encoding.removesuffix('-sig')} text; save the "
            "whole file as UTF-8, or give --encoding, such as cp1252 for Windows"
        )


def _filled(row: list[str]) -> bool:
    """Whether it is more than a blank line, or the mark with which old programs end a file."""
    return len(row) > 1 or row not in ([], [""], ["\x1a"])


def _separator(header: str) -> str:
    """Take the mark that makes the most cells of the header."""
    counts = {mark: len(next(csv.reader([header], delimiter=mark), [])) for mark in _SEPARATORS}
    return max(counts, key=lambda mark: counts[mark])
