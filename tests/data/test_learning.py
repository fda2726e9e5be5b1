"""Counts from data are those of a count by hand, whatever the file looks like."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.data import counting
from auditor.data.binning import parse_bins
from auditor.data.cells import Dialect
from auditor.data.counted import LearnOptions, parse_smoothing
from auditor.errors import InputError
from auditor.model.reading import load_naive_bayes
from auditor.usecases.learning import Learned, learn, learn_by
from tests.cli.conftest import EXAMPLES

Rows = list[dict[str, str]]
RANDOM = np.random.default_rng(3)


def people(number: int = 400) -> Rows:
    """Rows with a decision of three values, missing cells and a number."""
    return [
        {
            "sex": str(RANDOM.choice(["m", "f"])),
            "city": str(RANDOM.choice(["Ulm", "Bonn, Rhein", "München", ""])),
            "age": str(RANDOM.integers(18, 80)),
            "credit": str(RANDOM.choice(["good", "fair", "bad", ""], p=[0.5, 0.2, 0.29, 0.01])),
        }
        for _ in range(number)
    ]


PEOPLE = people()
CHOICES = LearnOptions("credit", ("good", "fair"), ("sex",), edges={"age": (Decimal(30), Decimal(50))})


def write(path: Path, rows: Rows, **dialect: Any) -> Path:
    with path.open("w", encoding=dialect.pop("encoding", "utf-8"), newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), **dialect)
        writer.writeheader()
        writer.writerows(rows)
    return path


def by_hand(rows: Rows) -> dict[str, dict[str, tuple[int, int]]]:
    """Attribute to label to counts."""
    counted = Counter(
        (column, label(column, row[column]), row["credit"] != "bad")
        for row in rows
        for column in ("sex", "city", "age")
        if row["credit"] and row[column]
    )
    return {
        column: {
            value: (counted[column, value, True], counted[column, value, False])
            for c, value, _ in counted
            if c == column
        }
        for column in ("sex", "city", "age")
    }


def label(column: str, cell: str) -> str:
    if column != "age":
        return cell
    return "under 30" if int(cell) < 30 else "30 to under 50" if int(cell) < 50 else "50 or over"


def counts(learned: Learned) -> dict[str, dict[str, tuple[int, int]]]:
    found = {}
    for attribute in learned.model.attributes:
        assert attribute.counts is not None
        pairs = zip(attribute.counts.favourable, attribute.counts.unfavourable, strict=True)
        found[attribute.name] = dict(zip(attribute.labels, ((int(a), int(b)) for a, b in pairs), strict=True))
    return found


DIALECTS: dict[str, tuple[str, dict[str, Any], Dialect]] = {
    "commas": ("d.csv", {}, Dialect()),
    "semicolons": ("d.csv", {"delimiter": ";"}, Dialect()),
    "tabs": ("d.tsv", {"delimiter": "\t"}, Dialect()),
    "bars": ("d.txt", {"delimiter": "|"}, Dialect()),
    "a given separator": ("d.csv", {"delimiter": ":"}, Dialect(separator=":")),
    "all quoted": ("d.csv", {"quoting": csv.QUOTE_ALL}, Dialect()),
    "Windows lines": ("d.csv", {"lineterminator": "\r\n"}, Dialect()),
    "a byte order mark": ("d.csv", {"encoding": "utf-8-sig"}, Dialect()),
    "latin-1": ("d.csv", {"encoding": "latin-1"}, Dialect(encoding="latin-1")),
    "UTF-16": ("d.csv", {"encoding": "utf-16"}, Dialect(encoding="utf-16")),
}


@pytest.mark.parametrize("case", DIALECTS)
@pytest.mark.parametrize("times", [1, 6])
def test_counts(case: str, times: int, tmp_path: Path) -> None:
    name, options, dialect = DIALECTS[case]
    rows = PEOPLE * times
    learned = learn(write(tmp_path / name, rows, **options), CHOICES, dialect)
    assert counts(learned) == by_hand(rows)
    decision = learned.model.decision
    assert (decision.favourable.value, decision.favourable.label) == ("good|fair", "good or fair")
    assert decision.counts is not None
    assert decision.counts.unfavourable == sum(row["credit"] == "bad" for row in rows)
    summary = learned.summary
    assert summary.rows == sum(row["credit"] != "" for row in rows)
    assert summary.undecided == len(rows) - summary.rows
    assert summary.missing["city"] == sum(not row["city"] for row in rows if row["credit"])


def test_gzip(tmp_path: Path) -> None:
    plain = write(tmp_path / "d.csv", PEOPLE)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    learned = learn(tmp_path / "d.csv.gz", CHOICES)
    assert counts(learned) == by_hand(PEOPLE)
    assert learned.model.name == "credit (d)"


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra auditor[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    columns: dict[str, Any] = {name: [row[name] or None for row in PEOPLE] for name in PEOPLE[0]}
    columns["age"] = [int(age) for age in columns["age"]]
    columns["city"] = pa.array(columns["city"]).dictionary_encode()
    pq.write_table(pa.table(columns), path, row_group_size=150)
    assert counts(learn(path, CHOICES)) == by_hand(PEOPLE)


def test_parquet_types_are_written_as_people_write_them(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra auditor[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    table = {
        "whole": [1.0, 2.0, None, 2.0],
        "half": [1.5, 2.5, float("nan"), 2.5],
        "truth": [True, False, None, True],
        "text": ["a", " ", "?", "b"],
        "day": pa.array([0, 1, None, 1], pa.date32()),
        "d": [1, 1, 0, 0],
    }
    pq.write_table(pa.table(table), path)
    learned = learn(path, LearnOptions("d", ("1",), ("truth",), smoothing=Decimal(1)))
    assert {a.name: a.labels for a in learned.model.attributes} == {
        "whole": ("1", "2"),
        "half": ("1.5", "2.5"),
        "truth": ("false", "true"),
        "text": ("a", "b"),
        "day": ("1970-01-01", "1970-01-02"),
    }
    assert learned.summary.missing == {"whole": 1, "half": 1, "truth": 1, "text": 2, "day": 1}


def test_parquet_that_cannot_be_used(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra auditor[parquet]")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"s": ["a", "b"], "l": [[1], [2]], "d": ["1", "0"]}), path)
    with pytest.raises(InputError, match=r'column "l" holds bigint\[\].*drop it'):
        learn(path, LearnOptions("d", ("1",), ("s",)))
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        learn(tmp_path / "cut.parquet", LearnOptions("d", ("1",), ("s",)))
    whole = bytearray(path.read_bytes())
    whole[4:40] = b"\xff" * 36
    (tmp_path / "bad.parquet").write_bytes(whole)
    with pytest.raises(InputError, match="not a whole Parquet file"):
        learn(tmp_path / "bad.parquet", LearnOptions("d", ("1",), ("s",), drop=("l",)))


def test_the_shipped_example_is_what_the_data_say(tmp_path: Path) -> None:
    """The rows behind examples/compas.json, drawn from its counts, give those counts again."""
    model = load_naive_bayes(EXAMPLES / "compas.json")
    assert model.decision.counts is not None
    rows: list[list[str]] = []
    for side, value in (
        ("favourable", model.decision.favourable),
        ("unfavourable", model.decision.unfavourable),
    ):
        number = int(getattr(model.decision.counts, side))
        columns = [[value.value] * number]
        for attribute in model.attributes:
            cells = [
                c
                for v, n in zip(attribute.values, getattr(attribute.counts, side), strict=True)
                for c in [v.value] * int(n)
            ]
            columns.append(cells)
        rows += map(list, zip(*columns, strict=True))
    path = tmp_path / "compas.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["ScoreText", *(a.name for a in model.attributes)], *rows])
    learned = learn(path, LearnOptions("ScoreText", ("1",), ("Sex",)))
    assert [a.counts for a in learned.model.attributes] == [a.counts for a in model.attributes]


def simple(tmp_path: Path, header: str, *lines: str) -> Path:
    path = tmp_path / "d.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_codes_stay_text_and_values_are_sorted(tmp_path: Path) -> None:
    path = simple(tmp_path, "s,n,d", "007,10,y", "7,9,n", "None,-1,y", "x, 10,n")
    model = learn(path, LearnOptions("d", ("y",), ("s",))).model
    assert model.attributes[0].labels == ("007", "7", "None", "x")
    assert model.attributes[1].labels == ("-1", "9", "10")


def test_other_marks_for_missing_cells(tmp_path: Path) -> None:
    path = simple(tmp_path, "s,d", "a,y", "-,n", "NA,n", "a,n")
    learned = learn(path, LearnOptions("d", ("y",), ("s",)), Dialect(missing=("-",)))
    assert learned.model.attributes[0].labels == ("NA", "a")
    assert learned.summary.missing == {"s": 1}


def test_columns_that_tell_nothing(tmp_path: Path) -> None:
    path = simple(
        tmp_path,
        "id,s,same,twin,leak,none,d",
        *(f"{i},{'ab'[i % 2]},x,{'cd'[i % 2]},{'10'[i < 30]},,{'yn'[i < 30]}" for i in range(150)),
    )
    learned = learn(path, LearnOptions("d", ("y",), ("s",), drop_unique=True))
    assert [a.name for a in learned.model.attributes] == ["s", "twin", "leak"]
    assert learned.summary.left_out == {
        "id": "has 150 different values, another one in every row",
        "same": "has the same value in every row",
        "none": "has no value in any row",
    }
    assert learned.summary.notes == (
        '"twin" tells exactly the same as "s"',
        '"leak" tells exactly the same as "d"',
    )
    learned = learn(path, LearnOptions("d", ("y",), ("s",), drop=("id",), drop_duplicates=True))
    assert [a.name for a in learned.model.attributes] == ["s"]
    assert learned.summary.left_out["leak"] == 'tells the same as "d"'


def test_a_column_of_very_many_values_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_TRACKED", 50)
    path = simple(
        tmp_path, "id,s,t,d", *(f"{i},{'ab'[i % 2]},{'ab'[i % 3 > 1]},{'yn'[i % 5 < 2]}" for i in range(3000))
    )
    learned = learn(path, LearnOptions("d", ("y",), ("s", "t"), drop_unique=True))
    assert learned.summary.left_out == {"id": "has over 50 different values"}
    with pytest.raises(InputError, match='"id" has over 50 different numbers'):
        learn(path, LearnOptions("d", ("y",), ("s", "t")))
    with pytest.raises(InputError, match='"id" is sensitive, but it has over 50'):
        learn(path, LearnOptions("d", ("y",), ("s", "id"), drop_unique=True))


def test_bins_by_quantile_and_width(tmp_path: Path) -> None:
    path = simple(
        tmp_path,
        "s,n,few,mixed,d",
        *(f"{'ab'[i % 2]},{i},{i % 5},{i % 90}x,{'yn'[i % 3 > 1]}" for i in range(1000)),
    )
    learned = learn(path, LearnOptions("d", ("y",), ("s",), bins=4))
    n, few, mixed = learned.model.attributes[1:]
    assert n.labels == ("under 250", "250 to under 500", "500 to under 750", "750 or over")
    assert [int(v.value[1:].partition(",")[0]) for v in n.values[1:]] == [250, 500, 750]
    assert few.labels == ("0", "1", "2", "3", "4")
    assert len(mixed.labels) == 90
    learned = learn(path, LearnOptions("d", ("y",), ("s",), bins=2, bin_method="width", drop=("mixed",)))
    assert learned.model.attributes[1].labels == ("under 500", "500 or over")
    learned = learn(path, LearnOptions("d", ("y",), ("s",), bins=4, drop=("mixed",)))
    edges = [int(v.value[1:].partition(",")[0]) for v in learned.model.attributes[1].values[1:]]
    assert np.abs(np.array(edges) - [250, 500, 750]).max() < 40
    learned = learn(path, LearnOptions("d", ("y",), ("s",), bins=4, max_values=3, drop=("mixed",)))
    assert learned.model.attributes[2].labels[0] == "under 1"


def test_smoothing_and_bins_without_rows(tmp_path: Path) -> None:
    path = simple(tmp_path, "s,n,d", "a,1,y", "b,2,n", "a,9,y")
    edges = {"n": (Decimal(5), Decimal(20))}
    plain = learn(path, LearnOptions("d", ("y",), ("s",), edges=edges)).model
    assert plain.attributes[1].labels == ("under 5", "5 or over")
    smoothed = learn(
        path, LearnOptions("d", ("y",), ("s",), edges=edges, smoothing=Decimal("0.5"), name="M")
    ).model
    assert smoothed.name == "M"
    assert smoothed.naive_bayes().attributes[1].likelihood[2] == (Fraction(1, 7), Fraction(1, 5))


def test_small_groups(tmp_path: Path) -> None:
    lines = [f"{'ab'[i < 10]},{'cd'[i % 2]},{'yn'[i % 3 > 1]}" for i in range(200)]
    learned = learn(simple(tmp_path, "s,t,d", *lines), LearnOptions("d", ("y",), ("s", "t")))
    assert [(g.values, g.rows) for g in learned.summary.small_groups] == [
        ((("s", "b"), ("t", "c")), 5),
        ((("s", "b"), ("t", "d")), 5),
        ((("s", "b"),), 10),
    ]
    assert learned.summary.groups[0].values == (("s", "a"),)


def test_too_many_combinations_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_COMBINATIONS", 4)
    lines = [f"{'ab'[i % 2]},{'cd'[i < 5]},{'yn'[i % 3 > 1]}" for i in range(1500)]
    learned = learn(simple(tmp_path, "s,t,d", *lines), LearnOptions("d", ("y",), ("s", "t")))
    assert [g.rows for g in learned.summary.small_groups] == [2, 3, 5]
    learned = learn(simple(tmp_path, "s,t,d", *lines, "e,c,n"), LearnOptions("d", ("y",), ("s", "t")))
    assert [g.rows for g in learned.summary.small_groups] == [1, 5]


@pytest.mark.parametrize("parts", [{"folds": 5}, {"holdout": 0.3}, {"folds": 5, "seed": 4}])
def test_measures_are_those_of_models_without_the_rows(parts: Any, tmp_path: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs the extra delta-fair[sklearn]")
    rows = [row for row in PEOPLE if row["credit"]]
    choices = LearnOptions("credit", ("good",), ("sex",), edges=CHOICES.edges, smoothing=Decimal(1), **parts)
    learned = learn(write(tmp_path / "d.csv", rows), choices)
    found = learned.summary.performance
    assert found is not None
    # Rows that are equal are drawn for together, in the order of the model's values.
    spec = learned.model
    sides = [[row for row in rows if (row["credit"] == "good") is good] for good in (True, False)]
    order = [
        (
            side,
            *(-1 if not row[a.name] else a.labels.index(label(a.name, row[a.name])) for a in spec.attributes),
        )
        for side, chosen in enumerate(sides)
        for row in chosen
    ]
    rows = [row for _, row in sorted(zip(order, sides[0] + sides[1], strict=True), key=lambda pair: pair[0])]
    equal = [len(list(group)) for _, group in groupby(sorted(order))]
    shares = [1 / choices.folds] * choices.folds if choices.folds else [0.3, 0.7]
    random = np.random.Generator(np.random.PCG64(choices.seed))
    part = np.array(
        [p for ns in random.multinomial(equal, shares) for p, n in enumerate(ns) for _ in range(n)]
    )
    scores, truth = [], []
    for p in range(choices.folds or 1):
        others = [row for row, q in zip(rows, part, strict=True) if q != p]
        model = learn(
            write(tmp_path / "others.csv", others),
            LearnOptions("credit", ("good",), ("sex",), edges=CHOICES.edges, smoothing=Decimal(1)),
        ).model.naive_bayes()
        for row in (row for row, q in zip(rows, part, strict=True) if q == p):
            values = [
                (i, a.values.index(label(a.name, row[a.name])))
                for i, a in enumerate(model.attributes)
                if row[a.name]
            ]
            good, bad = model.joint(values)
            scores.append(float(good / (good + bad)))
            truth.append(row["credit"] == "good")
    assert found.rows == len(scores)
    assert found.auc == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert found.log_loss == pytest.approx(metrics.log_loss(truth, scores))
    assert found.accuracy == pytest.approx(np.mean((np.array(scores) > 0.5) == truth))
    assert sum(b.rows for b in found.calibration) == found.rows


def test_measures_without_smoothing_can_be_infinite_or_impossible(tmp_path: Path) -> None:
    lines = ["a,c,y"] * 50 + ["b,d,n"] * 50 + ["a,d,y", "b,c,y", "a,c,n"]
    path = simple(tmp_path, "s,t,d", *lines)
    found = learn(path, LearnOptions("d", ("y",), ("s",), folds=10)).summary.performance
    assert found is not None
    assert found.log_loss == np.inf or found.impossible
    with pytest.raises(InputError, match="too few rows to measure"):
        learn(simple(tmp_path, "s,d", "a,y", "b,n"), LearnOptions("d", ("y",), ("s",), folds=2))


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    learn(write(tmp_path / "d.csv", PEOPLE), CHOICES, progress=told.append)
    assert told[0] == "counting"
    assert all(re.fullmatch(r"counting(: \d+%)?", line) for line in told)


def numbered(line: str, rows: int) -> bytes:
    """A table in which two rows each have the same number."""
    lines = [line.format("ab"[i % 2], i // 2, "yn"[i % 3 > 1]) for i in range(rows)]
    return "\n".join([line.replace("x{}", "{}").replace(",5", "").format("s", "n", "d"), *lines]).encode()


BAD: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "empty": (b"", {}, "the file is empty"),
    "blank": (b"\n \n", {}, "the file is empty"),
    "only a header": (b"s,d\n", {}, "no rows under the header"),
    "binary": (b"\x00\x01\x02\x03", {}, "a binary file"),
    "Excel": (b"PK\x03\x04....", {}, "save the sheet as CSV"),
    "a pickle": (b"\x80\x04\x95....", {}, "a pickle, which can run any code"),
    "UTF-16": ("s,d\na,y\nb,n\n".encode("utf-16"), {}, "the text is UTF-16"),
    "a cut gzip file": (gzip.compress(b"s,d\n" + b"a,y\nb,n\n" * 999)[:40], {}, "can't be read"),
    "mixed encodings": (
        "s,t,d\nü,x,y\n".encode() + "b,ü,n\n".encode("latin-1"),
        {},
        'line 3, column "t": byte 0xfc is not utf-8 text; save the whole file as UTF-8, or give --encoding',
    ),
    "a header in another encoding": ("ä,d\nx,y\n".encode("latin-1"), {}, "line 1: byte 0xe4 is not utf-8"),
    "an unknown encoding": (b"s,d\n", {"encoding": "klingon"}, "no known encoding"),
    "a name twice": (b"s,s,d\na,b,y\n", {}, 'column "s" stands 2 times in the header'),
    "no name": (b"s,,d\na,b,y\n", {}, "column 2 has no name"),
    "the header twice": (b"s,d\na,y\nb,n\ns,d\na,y\n", {}, "the header stands again at row 4"),
    "rows that are too long": (b"s,n,d\na,1,5,y\nb,2,5,n\n", {}, "decimal commas"),
    "a row that is too short": (b"s,t,d\na,x,y\nb,n\n", {}, "row 3 has 2 cells and the header 3"),
    "a row of one cell": (b"s,t,d\na,x,y\nb\n", {}, "row 3 has 1 cell and the header 3"),
    "a quote over too much": (b's,d\n"a' + b"x" * 200_000 + b",y\nb,n\n", {}, "never closed"),
    "a row that is too long": (b"s,d\na,y\nb,n\na,1,y\n", {}, "row 4 has 3 cells and the header 2"),
    "an open quote": (b's,d\na,y\n"b,n\n', {}, "a quotation mark is never closed"),
    "no such decision": (b"s,credits\na,y\n", {"decision": "credit"}, 'did you mean "credits"?'),
    "no such column": (
        b"s,d\na,y\n",
        {"sensitive": ("sex",), "drop": ("x",)},
        '"sex" for the sensitive attributes',
    ),
    "no column to protect": (b"s,d\na,y\n", {"sensitive": ()}, "no sensitive column is named"),
    "sensitive and dropped": (b"s,d\na,y\n", {"drop": ("s",)}, '"s" is sensitive and dropped'),
    "a decision to protect": (b"s,d\na,y\n", {"sensitive": ("d",)}, '"d" is sensitive and the decision'),
    "no such favourable value": (
        b"s,d\na,y\nb,n\n",
        {"favourable": ("Y",)},
        'favourable value "Y"; it has "n", "y"',
    ),
    "all favourable": (b"s,d\na,y\nb,y\n", {}, "has only favourable values"),
    "no decisions": (b"s,d\na,\nb,\n", {}, '"d" has no decision in any row'),
    "a decision of many values": (
        b"s,d\na,y\n" + b"".join(b"b,%d\n" % i for i in range(200)),
        {},
        "201 different values, too many for a decision",
    ),
    "many numbers": (
        numbered("{},{},{}", 80),
        {},
        'column "n" has 40 different numbers; cut them with --bins n=',
    ),
    "10,000 values": (
        numbered("{},x{},{}", 20_000),
        {},
        '"n" has 10,000 different values; drop it (--drop n',
    ),
    "decimal commas": (
        numbered("{};{},5;{}", 800),
        {},
        "they look like numbers: give --decimal , for decimal commas, and bins",
    ),
    "decimal commas in bins": (
        b"s;n;d\na;1,5;y\nb;2,5;n\n",
        {"edges": {"n": (Decimal(2),)}},
        '"n" has bins, but "1,5" is not a number; give --decimal , for decimal commas',
    ),
    "texts in bins": (
        b"s,n,d\na,1_0,y\nb,2,n\n",
        {"edges": {"n": (Decimal(2),)}},
        '"1_0" is not a number; mend it, or leave the bins out',
    ),
    "one sensitive value": (b"s,t,d\na,x,y\na,z,n\n", {}, '"s" is sensitive, but it has the same value'),
    "nothing seen under one decision": (b"s,t,d\na,x,y\nb,,n\nb,z,y\n", {}, "set smoothing above 0"),
    "a name that hides": (b"s,d\na,y\nb\x1b[31m,n\n", {}, "control character"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(case: str, tmp_path: Path) -> None:
    content, options, reason = BAD[case]
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    options = dict(options)
    dialect = Dialect(encoding=options.pop("encoding", "utf-8"))
    choices = LearnOptions(**{"decision": "d", "favourable": ("y",), "sensitive": ("s",), **options})
    with pytest.raises(InputError) as caught:
        learn(path, choices, dialect)
    assert reason in str(caught.value)
    assert all(line.startswith(f"{path}: ") and line.isprintable() for line in caught.value.problems)


def test_all_problems_at_once(tmp_path: Path) -> None:
    path = simple(tmp_path, "s,n,t,d", *(f"a,{i},x{i},{'yn'[i % 2]}" for i in range(200)))
    with pytest.raises(InputError) as caught:
        learn(path, LearnOptions("d", ("maybe",), ("s",)))
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError) as caught:
        learn(path, LearnOptions("x", ("y",), ("a,b",), drop=("c",), edges={"e": (Decimal(1),)}))
    assert len(caught.value.problems) == 5


def test_decimal_commas(tmp_path: Path) -> None:
    path = simple(tmp_path, "s;n;d", "a;1,5;y", "b;2,5;n", "a;x;y".replace("x", ""))
    learned = learn(path, LearnOptions("d", ("y",), ("s",), edges={"n": (Decimal(2),)}), Dialect(decimal=","))
    assert counts(learned)["n"] == {"under 2": (1, 0), "2 or over": (0, 1)}


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "x.csv", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=reason):
            learn(path, CHOICES)


@pytest.mark.parametrize("option", ["1", "2000", "four", "age=", "age=3,2", "age=1,1", "age=nan", "age=a"])
def test_wrong_bins(option: str) -> None:
    with pytest.raises(InputError):
        parse_bins([option])


@pytest.mark.parametrize("text", ["-1", "a", "nan", "1e999999"])
def test_wrong_smoothing(text: str) -> None:
    with pytest.raises(InputError, match="is not a number from 0"):
        parse_smoothing(text)


def test_segments_are_those_of_their_rows_alone(tmp_path: Path) -> None:
    rows = [row | {"city": row["city"] or "Ulm"} for row in PEOPLE]
    rows[0]["city"] = ""
    segments = learn_by(write(tmp_path / "d.csv", rows), "city", CHOICES)
    assert list(segments) == ["Bonn, Rhein", "München", "Ulm"]
    for city, found in segments.items():
        assert isinstance(found, Learned)
        alone = learn(write(tmp_path / "one.csv", [row for row in rows if row["city"] == city]), CHOICES)
        assert counts(found) == counts(alone)
        assert found.summary.rows == alone.summary.rows
        assert found.summary.undecided == alone.summary.undecided
        assert found.summary.small_groups == alone.summary.small_groups
        assert found.model.name == f"credit (d), city: {city}"


def test_a_segment_without_a_model_says_why(tmp_path: Path) -> None:
    path = simple(
        tmp_path,
        "g,s,t,d",
        *(
            f"{g},{s},{t},{d}"
            for g, s, t, d in [
                ("x", "a", "u", "y"),
                ("x", "b", "v", "n"),
                ("x", "a", "v", "n"),
                ("z", "a", "u", "y"),
                ("z", "b", "u", "y"),
            ]
        ),
    )
    segments = learn_by(path, "g", LearnOptions("d", ("y",), ("s",)))
    assert isinstance(segments["x"], Learned)
    assert segments["z"] == (f'{path}: the rows of "z" have only one of the decisions; both must occur',)
    with pytest.raises(InputError, match='"s" is sensitive and the segment'):
        learn_by(path, "s", LearnOptions("d", ("y",), ("s",)))
    with pytest.raises(InputError, match="are not measured"):
        learn_by(path, "g", LearnOptions("d", ("y",), ("s",), folds=2))


def test_options_in_python() -> None:
    import pandas as pd

    frame = pd.DataFrame({"s": list("abab"), "n": [1.0, 2.5, None, 4.0], "d": ["y", "n", "n", "y"]})
    found = learn(frame, decision="d", favourable="y", sensitive="s", bins={"n": [2]}, smoothing=1)
    assert counts(found) == {"s": {"a": (1, 1), "b": (1, 1)}, "n": {"under 2": (1, 0), "2 or over": (1, 1)}}
    with pytest.raises(InputError) as caught:
        learn(frame, decision="d", colour="red")
    assert caught.value.problems == (
        "favourable: is needed to learn; give it",
        "sensitive: is needed to learn; give it",
        "colour: is no option of learn; leave it out",
    )
