"""Counts are the same wherever the data are, and what opens a database is shown nowhere."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from auditor.data.comparing import Evidence, compare
from auditor.data.counted import LearnOptions
from auditor.data.database import Query
from auditor.data.tables import digest, open_table
from auditor.errors import InputError
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.usecases.auditing import audit, repair, with_data
from auditor.usecases.learning import Learned, learn
from tests.engines.rows import ROWS, in_duckdb, in_frame, in_parquet, in_sqlite, text_of, write_csv

if TYPE_CHECKING:
    from auditor.data.tables import Source

CHOICES = LearnOptions("ok", ("ja",), ("sex", "town"), smoothing=Decimal(1), bins=3)


SOURCES: dict[str, Callable[[Path], Source]] = {
    "csv": write_csv,
    "parquet": in_parquet,
    "frame": lambda folder: in_frame(),
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
}


@pytest.fixture(autouse=True)
def _engines() -> None:
    pytest.importorskip("ibis", reason="needs the extra delta-fair[engines]")
    pytest.importorskip("pyarrow", reason="writes Parquet for the tests")


def counted(source: Source) -> str:
    table = open_table(source)
    alone, _ = table.groups(["ok"], [c for c in table.columns if c != "ok"])
    return digest(table.columns, alone)


class Known(NamedTuple):
    """What a source gives: its counts, a model learned of them, one measured, and a comparison."""

    counted: str
    learned: Learned
    measured: Learned
    evidence: Evidence


def known(source: Source, model: ModelSpec | None = None) -> Known:
    """All of a source, whose rows are compared with a model, that learned of it where there is none."""
    learned = learn(source, CHOICES)
    measured = learn(source, LearnOptions("ok", ("ja",), ("sex",), folds=4, smoothing=Decimal(1), bins=3))
    evidence = compare(model or learned.model, [], open_table(source))
    return Known(counted(source), learned, measured, evidence)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """What a CSV file gives."""
    return known(write_csv(tmp_path_factory.mktemp("csv")))


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_digest_of_counts_and_the_same_model(kind: str, tmp_path: Path, wanted: Known) -> None:
    found = known(SOURCES[kind](tmp_path), wanted.learned.model)
    assert found.counted == wanted.counted
    assert found.learned.model.attributes == wanted.learned.model.attributes
    assert found.learned.model.decision == wanted.learned.model.decision
    assert found.learned.summary.small_groups == wanted.learned.summary.small_groups
    assert found.learned.summary.missing == wanted.learned.summary.missing
    assert found.measured.summary.performance == wanted.measured.summary.performance
    assert (found.evidence.everybody, found.evidence.groups) == (
        wanted.evidence.everybody,
        wanted.evidence.groups,
    )
    assert found.evidence.table.missing == wanted.evidence.table.missing


@pytest.mark.parametrize("kind", ["frame", "duckdb", "sqlite"])
def test_audits_and_repairs_take_the_same_sources(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](tmp_path)
    model = learn(source, CHOICES).model
    document = with_data(audit(model, "0.05"), model, source)
    assert document.data is not None
    assert document.data.people == len([row for row in ROWS if row["ok"]])
    made = repair(model, "0.05", data=source)
    assert made.summary.performance is not None
    assert made.summary.performance.rows == document.data.people


def test_the_text_of_a_value() -> None:
    assert [text_of(v) for v in (None, 1.0, 0.5, True, datetime.date(2020, 2, 3))] == [
        "",
        "1",
        "0.5",
        "true",
        "2020-02-03",
    ]


def test_queries_and_schemas(tmp_path: Path) -> None:
    query = in_duckdb(tmp_path)
    assert isinstance(query, Query)
    for other in (
        Query(query.url, "main.people"),
        Query(query.url, sql="SELECT * FROM people"),
    ):
        assert counted(other) == counted(query)
    learned = learn(Query(query.url, sql="SELECT sex, ok FROM people"), LearnOptions("ok", ("ja",), ("sex",)))
    assert [a.name for a in learned.model.attributes] == ["sex"]


SECRET = "p%40ss:w0rd"


@pytest.mark.parametrize(
    "url",
    [
        f"postgres://anna:p%40ssw0rd@127.0.0.1:1/db?sslmode=disable&password={SECRET}",
        "sqlite:///nowhere/secret.db",
        "duckdb:///nowhere/secret.duckdb",
        "klingon://anna:p%40ssw0rd@there/db",
        "no url at all",
        "postgres://anna:p%40ssw0rd@[::1/db",
    ],
)
def test_secrets_are_in_no_message(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_table(Query(url, "people"))
    said = str(caught.value)
    assert not any(part in said for part in ("p@ssw0rd", "p%40ssw0rd", SECRET, "p@ss:w0rd", "anna"))
    assert caught.value.__cause__ is None or "p%40" not in str(caught.value.__cause__)
    assert "p%40ssw0rd" not in repr(Query(url, "people"))


def test_what_opens_a_database_is_not_recorded(tmp_path: Path) -> None:
    query = in_duckdb(tmp_path)
    assert isinstance(query, Query)
    learned = learn(Query(f"{query.url}?token=hush", "people"), CHOICES)
    assert "hush" not in dump_model(learned.model)
    assert "hush" not in repr(learned.summary)
    assert learned.model.provenance is not None
    assert counted_digest(learned) == counted_digest(learn(query, CHOICES))


def counted_digest(learned: Learned) -> str:
    assert learned.model.provenance is not None
    return str(learned.model.provenance.data_source).rpartition(" ")[2]


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    for make in (in_duckdb, in_sqlite):
        query: Any = make(tmp_path)
        with pytest.raises(InputError, match=r"the database says: .*nobody"):
            open_table(Query(query.url, "nobody"))
        with pytest.raises(InputError, match='there is no column "sx" for the sensitive'):
            learn(query, LearnOptions("ok", ("ja",), ("sx",)))


def test_a_database_is_not_changed(tmp_path: Path) -> None:
    for make, name in ((in_duckdb, "people.duckdb"), (in_sqlite, "people.db")):
        query = make(tmp_path)
        before = (tmp_path / name).read_bytes()
        learn(query, CHOICES)
        assert (tmp_path / name).read_bytes() == before
