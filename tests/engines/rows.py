"""Rows of every type that engines write differently, and how they stand in a CSV file."""

from __future__ import annotations

import csv
import datetime
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.data.database import Query

if TYPE_CHECKING:
    import pandas as pd

#: Names and SQL types of the columns.
SCHEMA = {
    "sex": "TEXT",
    "town": "TEXT",
    "age": "INTEGER",
    "score": "DOUBLE PRECISION",
    "whole": "DOUBLE PRECISION",
    "member": "BOOLEAN",
    "since": "DATE",
    "fee": "NUMERIC(6, 2)",
    "note": "TEXT",
    "ok": "TEXT",
}
COLUMNS = tuple(SCHEMA)


def _rows(number: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(7)

    def one(*values: Any) -> Any:
        return values[int(random.integers(len(values)))]

    return [
        {
            "sex": one("Männer", "Frauen", "Frauen "),
            "town": one("Köln", "Łódź", "São Paulo", "東京", None),
            "age": one(*range(18, 60), None),
            "score": one(0.1, 0.25, 1 / 3, 1e-7, None),
            "whole": one(1.0, 2.0, 3.0, None),
            "member": one(True, False, None),
            "since": one(datetime.date(1999, 12, 31), datetime.date(2024, 2, 29), None),
            "fee": one(Decimal("12.25"), Decimal("0.75"), None),
            "note": one("a, b", 'say "no"', "?", "", None),
            "ok": one("ja", "ja", "nein", None) if random.random() < 0.3 else one("ja", "nein"),
        }
        for _ in range(number)
    ]


ROWS = _rows(600)


def text_of(value: object) -> str:
    """Write a value as people do in a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def write_csv(folder: Path) -> Path:
    """Write the rows as CSV."""
    path = folder / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([text_of(value) for value in row.values()] for row in ROWS)
    return path


def in_parquet(folder: Path) -> Path:
    """Write the rows as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(ROWS), folder / "people.parquet")
    return folder / "people.parquet"


def write_sql(
    insert: Callable[[str, list[list[Any]]], object], execute: Callable[[str], object], mark: str
) -> None:
    """Write the rows into a new table of a database."""
    execute(f"CREATE TABLE people ({', '.join(f'{name} {kind}' for name, kind in SCHEMA.items())})")
    insert(
        f"INSERT INTO people VALUES ({', '.join([mark] * len(SCHEMA))})", [[*row.values()] for row in ROWS]
    )


def in_duckdb(folder: Path) -> Query:
    """Write the rows into a DuckDB file."""
    import duckdb

    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.begin()  # or each row would be a transaction of its own
        write_sql(connection.executemany, connection.execute, "?")
        connection.commit()
    return Query(f"duckdb:///{folder / 'people.duckdb'}", "people")


def in_sqlite(folder: Path) -> Query:
    """Write the rows into a SQLite file, which knows neither dates nor decimals."""

    def insert(query: str, rows: list[list[Any]]) -> None:
        stored = [[str(c) if isinstance(c, datetime.date | Decimal) else c for c in row] for row in rows]
        connection.executemany(query, stored)

    connection = sqlite3.connect(folder / "people.db")
    with connection:
        write_sql(insert, connection.execute, "?")
    connection.close()
    return Query(f"sqlite:///{folder / 'people.db'}", "people")


def in_frame() -> pd.DataFrame:
    """Return the rows as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(ROWS)
