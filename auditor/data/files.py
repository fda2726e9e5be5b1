"""Files of data: one, several, a glob or a folder, all of one kind and with the same columns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.model.reading import unreadable

if TYPE_CHECKING:
    from auditor.data.cells import Dialect
    from auditor.data.tables import Table

_SIGNATURES = (
    (b"PK\x03\x04", "a zip or Excel file, not a table of text; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file, not a table of text; save the sheet as CSV"),
    (b"\xff\xfe", "the text is UTF-16; save it as UTF-8, or give the encoding utf-16"),
    (b"\xfe\xff", "the text is UTF-16; save it as UTF-8, or give the encoding utf-16"),
    (b"\x80\x04\x95", "a pickle, which can run any code and is never opened; save the table as CSV"),
    (b"SQLite format 3\0", "a SQLite database; give it with --from sqlite:///FILE and --table"),
)
#: Endings of the files that are taken from a folder.
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz", ".data", ".parquet", ".parq", ".pq")
_WILD = "*?["


def open_files(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], dialect: Dialect) -> Table:
    """Open CSV files, plain or gzipped, or Parquet files, by their content.

    Raises
    ------
    InputError
        If there are none, they differ in kind or columns, or a header can't be used.
    """
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    name = escaped(", ".join(os.fspath(one) for one in given))
    paths = [path for one in given for path in _expanded(os.fspath(one))]
    if not paths:
        raise InputError(f"{name}: no such files; give a table, or a glob or folder with some")
    kinds = {path: _kind(path, dialect) for path in paths}
    parquet = [path for path, kind in kinds.items() if kind == "parquet"]
    if parquet and len(parquet) < len(paths):
        other = next(path for path in paths if kinds[path] != "parquet")
        raise InputError(
            f"{name}: {escaped(str(parquet[0]))} is Parquet and {escaped(str(other))} is text; give files of "
            "one kind"
        )
    if parquet:
        from auditor.data.parquet import ParquetTable

        return ParquetTable(name, paths, dialect)
    from auditor.data.delimited import DelimitedTable

    return DelimitedTable(name, [(path, kinds[path] == "gzip") for path in paths], dialect)


def stem(paths: Sequence[Path], name: str) -> str:
    """Return what a model is called that is counted from files: their name, or that of their folder."""
    path = paths[0] if len(paths) == 1 else paths[0].parent
    return path.name.split(".")[0] or path.resolve().name or name


def origin(paths: Sequence[Path]) -> str:
    """Name files with their digest; several ones by the digest of their names and digests."""
    digests = [_digest(path) for path in paths]
    if len(paths) == 1:
        return f"{paths[0].name}, sha256 {digests[0]}"
    whole = hashlib.sha256()
    for path, digest in zip(paths, digests, strict=True):
        whole.update(f"{digest}  {path.name}\n".encode("utf-8", "surrogateescape"))
    return (
        f"{len(paths)} files such as {paths[0].name}, sha256 of their digests and names {whole.hexdigest()}"
    )


def reachable(paths: Sequence[Path], folder: Path) -> list[str]:
    """Return names of files that DuckDB takes for no glob: a link stands for a file with such a name."""
    found = []
    for i, path in enumerate(paths):
        absolute = os.fspath(path.resolve())
        if any(mark in absolute for mark in _WILD):
            link = folder / f"link{i}{''.join(path.suffixes[-2:]) if path.suffix == '.gz' else path.suffix}"
            if any(mark in link.name for mark in _WILD):
                link = folder / f"link{i}"
            if not link.exists():
                link.symlink_to(absolute)
            absolute = os.fspath(link)
        found.append(absolute)
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def matching(given: str, endings: tuple[str, ...]) -> list[Path]:
    """Name the files that a file, a glob or a folder stands for; of a folder, those with these endings.

    A file that isn't there stays; a glob or folder can have none. What is hidden in a folder is left out.

    Raises
    ------
    InputError
        If it can't be looked up.
    """
    path = Path(given)
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:
        raise InputError(f"{escaped(given)}: {unreadable(error)}") from error
    if not exists and any(mark in given for mark in _WILD):
        return sorted(
            found for found in Path(path.anchor).glob(str(path)[len(path.anchor) :]) if found.is_file()
        )
    if not path.is_dir():
        return [path]
    return [
        found
        for found in sorted(path.rglob("*"))
        if found.is_file()
        and found.name.lower().endswith(endings)
        and not any(part.startswith((".", "_")) for part in found.relative_to(path).parts)
    ]


def _expanded(given: str) -> list[Path]:
    path, inside = Path(given), matching(given, _ENDINGS)
    if not path.is_dir():
        return inside
    if not inside:
        raise InputError(f"{escaped(given)}: it is a folder without CSV or Parquet files; give a table")
    hive = next(
        (part for found in inside for part in found.relative_to(path).parts[:-1] if "=" in part), None
    )
    if hive is not None:
        raise InputError(
            f"{escaped(given)}: the name of its folder {shown(hive)} holds a column that no file in it has; "
            "write the data with that column in the files, or give one such folder"
        )
    return inside


def _kind(path: Path, dialect: Dialect) -> str:
    """Tell what a file is from its first bytes."""
    name = escaped(os.fspath(path))
    try:
        if path.is_fifo():
            raise InputError(
                f"{name}: is a pipe, and tables are read more than once; write it to a file first"
            )
        with path.open("rb") as file:
            start = file.read(4096)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {unreadable(error)}") from error
    if not start.strip():
        raise InputError(f"{name}: the file is empty; give a table with a header and rows")
    if start.startswith(b"PAR1"):
        return "parquet"
    wide = dialect.encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "utf16", "utf32"))
    for signature, message in _SIGNATURES:
        if start.startswith(signature) and not wide:
            raise InputError(f"{name}: {message}")
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    if b"\0" in start and not wide:
        raise InputError(f"{name}: a binary file, not a table; give CSV or Parquet")
    return "text"
