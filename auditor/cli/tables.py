"""The options that say where data are and how their cells are written, for all commands that take data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from auditor.data.cells import Dialect
    from auditor.data.tables import Source

Separator = Annotated[
    str | None, typer.Option(metavar="MARK", help="Between cells of text.  [default: as in the header]")
]
Decimal = Annotated[
    str | None, typer.Option(metavar="MARK", help="Decimal mark of numbers.  [default: a point]")
]
Thousands = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Mark between thousands; ' ' is any blank.  [default: none]"),
]
Measured = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE",
        help="Data to measure predictions on: CSV or Parquet, files, a glob or a folder; repeatable.",
    ),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of text.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Cell without a value, beside the empty one; repeatable.  [default: NA, N/A, NaN, null, ?]",
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="URL",
        help="Database to count in instead of files, such as postgres://HOST/DB; give --table or --sql too.",
    ),
]
TableName = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Table or view of that database.")
]
Sql = Annotated[
    str | None, typer.Option("--sql", metavar="QUERY", help="Query whose result is the table instead.")
]


def dialect(
    separator: str | None,
    decimal: str | None,
    thousands: str | None,
    encoding: str,
    missing: Sequence[str] | None,
) -> Dialect:
    """Return how cells are written; refuse marks that can't be told apart."""
    from auditor.data.cells import MISSING, Dialect

    mark = separator and separator.replace("\\t", "\t")
    # Whoever writes 1.000 for a thousand writes decimals with a comma.
    point = decimal or ("," if thousands == "." else ".")
    if len(point) != 1 or any(given is not None and len(given) != 1 for given in (mark, thousands)):
        raise typer.BadParameter("--separator, --decimal and --thousands are single characters")
    if point == thousands or point.isalnum() or (thousands or ".").isalnum():
        raise typer.BadParameter("--decimal and --thousands are two different marks, not letters or digits")
    return Dialect(mark, point, encoding, MISSING if missing is None else tuple(missing), thousands)


def files(option: str, given: Sequence[str] | None) -> dict[str, str | Path | None]:
    """Name files that are read by the option that gives them; several are told apart."""
    return {option if i == 0 else f"{option} ({i + 1})": file for i, file in enumerate(given or ())}


def source(
    option: str, files: Sequence[str] | None, url: str | None, table: str | None, sql: str | None
) -> Source | None:
    """Return the data that are asked for, from files or from a database; None if none are."""
    if url is None:
        if table is not None or sql is not None:
            raise typer.BadParameter("--table and --sql go with --from, which names their database")
        return None if not files else files[0] if len(files) == 1 else list(files)
    if files:
        raise typer.BadParameter(f"{option} and --from exclude each other")
    if (table is None) == (sql is None):
        raise typer.BadParameter("--from needs either --table or --sql")
    from auditor.data.database import Query

    return Query(url, table, sql)
