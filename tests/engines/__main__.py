"""Shows that all engines count the same: CSV, Parquet, DuckDB, SQLite, Postgres and Spark.

Run by `make test-engines`, which starts Postgres and says where; exits 1 unless all digests are the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.data.counted import LearnOptions
from auditor.data.database import Query
from auditor.data.tables import digest, open_table
from auditor.model.writing import dump_model
from auditor.usecases.learning import learn
from tests.engines.rows import in_duckdb, in_parquet, in_sqlite, write_csv, write_sql

if TYPE_CHECKING:
    from auditor.data.tables import Source

_CHOICES = LearnOptions("ok", ("ja",), ("sex", "town"), smoothing=Decimal(1), bins=3, name="people")


def main(postgres: str) -> int:
    """Count with each engine, and compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engines: dict[str, Callable[[], Source]] = {
            "CSV": lambda: write_csv(folder),
            "Parquet": lambda: in_parquet(folder),
            "DuckDB": lambda: in_duckdb(folder),
            "SQLite": lambda: in_sqlite(folder),
            "Postgres": lambda: _in_postgres(postgres),
            "Spark": lambda: _in_spark(folder),
        }
        found = {engine: _counted(make()) for engine, make in engines.items()}
    for engine, (counts, model) in found.items():
        print(f"{engine:10} counts {counts} model {model}", flush=True)
    if len(set(found.values())) > 1:
        print("The engines disagree.")
        return 1
    print(f"{len(found)} passed, 0 failed")
    return 0


def _counted(source: Source) -> tuple[str, str]:
    """Return the digest of the counts of all columns, and the start of that of the model's attributes."""
    table = open_table(source)
    alone, _ = table.groups(["ok"], [column for column in table.columns if column != "ok"])
    model = learn(source, _CHOICES).model.model_copy(update={"provenance": None})
    import hashlib

    return digest(table.columns, alone), hashlib.sha256(dump_model(model).encode()).hexdigest()[:16]


def _in_postgres(url: str) -> Source:
    import psycopg

    with psycopg.connect(url) as connection:
        write_sql(lambda query, rows: connection.cursor().executemany(query, rows), connection.execute, "%s")
    return Query(url, "public.people")


def _in_spark(folder: Path) -> Source:
    in_parquet(folder)
    url = "pyspark://?spark.sql.session.timeZone=UTC"
    return Query(url, sql=f"SELECT * FROM parquet.`{folder / 'people.parquet'}`")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
