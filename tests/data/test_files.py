"""Files as people have them: each kind of oddity is read rightly, noted or refused with its cause."""

from __future__ import annotations

import csv
import math
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.data import delimited
from auditor.data.binning import found_edges, places
from auditor.data.cells import Dialect, twins
from auditor.data.counted import LearnOptions
from auditor.data.tables import open_table
from auditor.errors import InputError
from auditor.model.intervals import Bins
from auditor.usecases.learning import Learned, learn


def learned(tmp_path: Path, content: str | bytes, dialect: Dialect | None = None, **choices: Any) -> Learned:
    path = tmp_path / "d.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return learn(
        path, LearnOptions(**{"decision": "d", "favourable": ("y",), "sensitive": ("s",), **choices}), dialect
    )


def counts(found: Learned) -> dict[str, dict[str, tuple[int, int]]]:
    return {
        a.name: {
            label: (int(good), int(bad))
            for label, good, bad in zip(a.labels, a.counts.favourable, a.counts.unfavourable, strict=True)
        }
        for a in found.model.attributes
        if a.counts is not None
    }


WANTED = {"s": {"a": (2, 1), "b": (1, 1)}, "t": {"x": (1, 2), "z": (2, 0)}}
ROWS = ("a,x,y", "b,x,n", "a,z,y", "b,z,y", "a,x,n")


@pytest.mark.parametrize(
    "content",
    [
        "sep=,\ns,t,d\n" + "\n".join(ROWS),
        '"sep=;"\r\n' + "\r\n".join(["s,t,d", *ROWS]).replace(",", ";"),
        "sep=\t\ns,t,d\n".replace(",", "\t") + "\n".join(ROWS).replace(",", "\t"),
        "\n\ns,t,d\n\n" + "\n\n".join(ROWS) + "\n\n",
        "s,t,d\r\n" + "\n".join(ROWS),
        "s,t,d\n" + "\r\n".join(ROWS) + "\n\x1a",
        "s,t,d\r" + "\r".join(ROWS),
        "s,t,d,\n" + "".join(f"{row},\n" for row in ROWS),
        "s,t,d\n" + "".join(f"{row},\n" for row in ROWS),
        ",s,t,d\n" + "".join(f"{i},{row}\n" for i, row in enumerate(ROWS)),
        '" s ", t ,d\n' + "\n".join(row.replace(",", " , ") for row in ROWS),
        "s,t,d\n" + "\n".join(row.replace(",", "\u00a0,\u3000") for row in ROWS),
        's,t,d\n"a" ,"x", "y"\n' + "\n".join(ROWS[1:]),
        's,t,d\na,x,"y"\n   \n' + "\n".join(ROWS[1:]),
        '"s",t,d,"note\nin two lines"\n' + "".join(f'{row},"one\n\ntwo, three"\n' for row in ROWS),
        "\ufeffs,t,d\n" + "\n".join(ROWS),
        "s,t,d\n" + "\n".join(f'"{row.replace(",", chr(34) + "," + chr(34))}"' for row in ROWS),
    ],
)
def test_layouts(content: str, tmp_path: Path) -> None:
    drop = ("note\nin two lines",) if "note" in content else ()
    assert counts(learned(tmp_path, content, drop=drop)) == WANTED


def test_a_table_that_duckdb_refuses_is_read_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[int] = []
    copied = delimited.DelimitedTable._copied

    def noted(table: delimited.DelimitedTable, number: int) -> str:
        copies.append(number)
        return copied(table, number)

    monkeypatch.setattr(delimited.DelimitedTable, "_copied", noted)
    assert counts(learned(tmp_path, "s,t,d\n" + "\r\n".join(ROWS))) == WANTED
    assert copies == [0]
    assert counts(learned(tmp_path, "s,t,d\n" + "\n".join(ROWS))) == WANTED
    assert copies == [0]


def test_quoted_lines_beyond_the_pieces_that_are_read_at_once(tmp_path: Path) -> None:
    row = '"one,y\na,x,y\nb,z,n"'
    lines = [f"{'ab'[i % 2]},{row},{'yn'[i % 3 > 1]}" for i in range(30_000)]
    long = ["a," + "v" * 150_000 + ",y"] * 100
    found = learned(tmp_path, "s,t,d\n" + "\n".join([*lines, *long]), drop=("t",))
    assert found.summary.rows == 30_100
    assert counts(found)["s"] == {"a": (10_100, 5_000), "b": (10_000, 5_000)}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            "s,t,d\n1,a,x,y\n2,b,z,n\n",
            "or name the first column in the header, if that holds the names of rows",
        ),
        ("s,,d\na,x,y\nb,z,n\n", "column 2 has no name in the header"),
        ('s,t,d\na,"x,y\nb,z,n\n', "a quotation mark is never closed"),
        ('s,t,d\na,"' + "v" * 3_000_000 + '",y\nb,z,n\n', "a cell has over 1,048,576 characters"),
        ("s,d\na,?\nb,n\n", 'the favourable value "?" stands for a missing cell'),
    ],
)
def test_what_is_refused(content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        learned(tmp_path, content, favourable=("?",) if "?" in content else ("y",))
    assert reason in str(caught.value)


def test_the_remedy_for_a_mark_of_missing_cells_works(tmp_path: Path) -> None:
    found = learned(tmp_path, "s,d\na,?\nb,n\n", Dialect(missing=("NA",)), favourable=("?",))
    assert found.model.decision.favourable.value == "?"


COMPAS = "id,s,score,race,score,extra,d\n1,a,2,x,2,q,y\n2,b,3,z,3,q,n\n3,a,3,z,3,r,n\n"


def test_columns_are_chosen_in_any_order_and_only_these_need_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"score" stands 2 times'):
        learned(tmp_path, COMPAS)
    for chosen in ({"columns": ("race,s",)}, {"columns": ("race",)}, {"drop": ("id,score", "extra")}):
        found = learned(tmp_path, COMPAS, **chosen)
        assert [a.name for a in found.model.attributes] == ["s", "race"]
    with pytest.raises(InputError, match='"score" stands 2 times'):
        learned(tmp_path, COMPAS, columns=("score",))
    with pytest.raises(InputError, match='no column "rac" for the attributes; did you mean "race"'):
        learned(tmp_path, COMPAS, columns=("rac",))


def test_many_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(130)]
    rows = [
        ",".join([*("pq"[(i * j) % 7 > 3] for j in range(130)), "ab"[i % 2], "yn"[i % 3 > 1]])
        for i in range(60)
    ]
    found = learned(tmp_path, "\n".join([",".join([*names, "s", "d"]), *rows]))
    assert len(found.model.attributes) == 130 - len(found.summary.left_out) + 1


@pytest.mark.parametrize(
    ("cells", "dialect", "under"),
    [
        (("950", "1.250", "12.500"), Dialect(decimal=",", thousands="."), 1),
        (("950", "1,250", "12,500.75"), Dialect(thousands=","), 1),
        (("950", "1 250", "12\u202f500,5"), Dialect(decimal=",", thousands=" "), 1),
        (("950", "1'250", "12’500"), Dialect(thousands="'"), 1),
        (("0,5", "1000", "1,5e3"), Dialect(decimal=","), 1),
    ],
)
def test_thousands(cells: tuple[str, ...], dialect: Dialect, under: int, tmp_path: Path) -> None:
    rows = "".join(f'{"ab"[i % 2]};"{cell}";{"yn"[i % 2]}\n' for i, cell in enumerate(cells))
    found = learned(tmp_path, "s;n;d\n" + rows, dialect, edges={"n": (Decimal(1000),)})
    assert [sum(pair) for pair in counts(found)["n"].values()] == [under, 2]


@pytest.mark.parametrize(
    ("cells", "given", "advised"),
    [
        (("950", "1.250"), Dialect(decimal=","), "give --thousands . for thousands, or --decimal ."),
        (("950", "2,766"), Dialect(), "give --thousands , for thousands, or --decimal , for decimal commas"),
        (("950", "2,7"), Dialect(), "give --decimal , for decimal commas"),
        (
            ("1.250.000", "7"),
            Dialect(),
            "; give --thousands . for thousands",
        ),
        (("1 250", "7"), Dialect(), "give --thousands ' ' for thousands"),
        (("1.250", "x"), Dialect(decimal=","), "mend it, or leave the bins out"),
    ],
)
def test_advice_about_numbers(cells: tuple[str, ...], given: Dialect, advised: str, tmp_path: Path) -> None:
    rows = "".join(f'{"ab"[i % 2]};"{cell}";{"yn"[i % 2]}\n' for i, cell in enumerate(cells))
    with pytest.raises(InputError) as caught:
        learned(tmp_path, "s;n;d\n" + rows, given, edges={"n": (Decimal(1000),)})
    assert advised in str(caught.value)


def test_points_that_may_be_thousands_are_noted(tmp_path: Path) -> None:
    found = learned(tmp_path, "s,n,d\na,1.250,y\nb,12.500,n\na,950,n\n")
    assert any("--thousands ." in note for note in found.summary.notes)
    found = learned(tmp_path, "s,n,d\na,1.25,y\nb,12.500,n\na,950,n\n")
    assert not any("--thousands" in note for note in found.summary.notes)


def test_slips_are_noted_with_counts(tmp_path: Path) -> None:
    found = learned(
        tmp_path,
        "s,n,d\na,1,y\nA,1.0,y.\nb,01,n\nb b,2,n\nbb,2,n\n",
        smoothing=Decimal(1),
    )
    notes = found.summary.notes
    assert any('"y" (1 row), "y." (1 row); only "y" counts as favourable' in note for note in notes)
    assert any('"s" that differ only in case, blanks or a full stop: "A" (1 row), "a"' in n for n in notes)
    assert any('"b b" (1 row), "bb" (1 row)' in note for note in notes)
    assert any('the same number: "01" (1 row), "1" (1 row), "1.0" (1 row)' in note for note in notes)


def test_twins_need_more_than_one() -> None:
    assert twins(Dialect(), {"a": 1, "b": 2, ".": 1}) == []


@pytest.mark.parametrize("edges", [(10, 30, 50), (30, 50, 90), (20, 25, 60), (1, 2, 3, 90, 95)])
def test_bins_without_rows_join_their_neighbours(edges: tuple[int, ...], tmp_path: Path) -> None:
    rows = "".join(f"{'ab'[i % 2]},{n},{'yn'[i % 3 > 1]}\n" for i, n in enumerate(range(26, 80)))
    found = learned(tmp_path, "s,n,d\n" + rows, edges={"n": tuple(map(Decimal, edges))})
    attribute = next((a for a in found.model.attributes if a.name == "n"), None)
    if attribute is None:
        assert edges == (1, 2, 3, 90, 95)
        return
    bins = Bins.of([value.value for value in attribute.values])
    assert bins is not None
    assert bins.edges == tuple(e for e in map(Decimal, edges) if 26 < e < 80)
    assert sum(sum(pair) for pair in counts(found)["n"].values()) == 54
    if bins.edges != tuple(map(Decimal, edges)):
        assert any('no row has "n" in' in note for note in found.summary.notes)


def test_infinity_is_no_number_for_bins_and_alike_everywhere(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    numbers = [math.inf, -math.inf, *map(float, range(40))]
    rows = {"s": list("ab") * 21, "n": numbers, "d": ["y", "n", "n"] * 14}
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    text = "s,n,d\n" + "".join(f"{s},{n},{d}\n" for s, n, d in zip(*rows.values(), strict=True))
    (tmp_path / "d.csv").write_text(text)
    for name in ("d.csv", "d.parquet"):
        for choices in ({"bins": 4}, {"bins": 4, "bin_method": "width"}, {"edges": {"n": (Decimal(3),)}}):
            with pytest.raises(InputError, match='"n" has bins, but "-inf" is not a number'):
                learn(tmp_path / name, LearnOptions("d", ("y",), ("s",), **choices))
        found = learn(tmp_path / name, LearnOptions("d", ("y",), ("s",), max_values=60))
        assert found.model.attributes[1].labels[0] == "-inf"
        assert found.model.attributes[1].labels[-1] == "inf"


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    day, nano = 24 * 3600, 1_000_000_000
    rows = {
        "s": pa.array([b"M\xc3\xa4nner", b"Frauen", b"Frauen"], pa.binary()),
        "f": pa.array([0.3, 0.7, float("nan")], pa.float32()),
        "late": pa.array([2932897, 0, None], pa.date32()),
        "ns": pa.array([1, nano, None], pa.timestamp("ns")),
        "us": pa.array([500_000, 0, None], pa.timestamp("us")),
        "utc": pa.array([0, day, None], pa.timestamp("s", tz="UTC")),
        "dec": pa.array([Decimal("1.50"), Decimal("2.25"), None], pa.decimal128(5, 2)),
        "big": pa.array([10**17, 3, None], pa.int64()),
        "Big": pa.array(["u", "v", "v"]),
        "d": ["y", "n", "y"],
    }
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    found = learn(
        tmp_path / "d.parquet",
        LearnOptions("d", ("y",), ("s",), smoothing=Decimal(1)),
        Dialect(missing=("x",)),
    )
    assert {a.name: a.labels for a in found.model.attributes} == {
        "s": ("Frauen", "Männer"),
        "f": ("0.3", "0.7"),
        "late": ("10000-01-01", "1970-01-01"),
        "ns": ("1970-01-01 00:00:00.000000001", "1970-01-01 00:00:01"),
        "us": ("1970-01-01 00:00:00", "1970-01-01 00:00:00.500000"),
        "utc": ("1970-01-01 00:00:00+00:00", "1970-01-02 00:00:00+00:00"),
        "dec": ("1.50", "2.25"),
        "big": ("3", "100000000000000000"),
        "Big": ("u", "v"),
    }
    pq.write_table(pa.table({"s": pa.array([b"\xff\xfe", b"a"]), "d": ["y", "n"]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="no text"):
        learn(tmp_path / "b.parquet", LearnOptions("d", ("y",), ("s",)))


def test_float32_falls_into_the_bin_that_people_see(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = {"s": list("abab"), "n": pa.array([0.3, 0.7, 0.7, 0.3], pa.float32()), "d": list("ynyn")}
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    found = learn(tmp_path / "d.parquet", LearnOptions("d", ("y",), ("s",), edges={"n": (Decimal("0.7"),)}))
    assert counts(found)["n"] == {"under 0.7": (1, 1), "0.7 or over": (1, 1)}


def test_several_files_globs_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "parts [1]"
    (folder / "deep").mkdir(parents=True)
    (folder / "one[1].csv").write_text("s,t,d\n" + "\n".join(ROWS[:2]))
    (folder / "one1.csv.txt").write_text("s,t,d\n" + ROWS[2])
    (folder / "deep" / "three.csv").write_text("\ns,t,d\n" + "\n".join(ROWS[3:]) + "\n")
    (folder / "_SUCCESS").write_text("")
    choices = LearnOptions("d", ("y",), ("s",))
    found = learn(folder, choices)
    assert counts(found) == WANTED
    assert found.model.provenance is not None
    assert str(found.model.provenance.data_source).startswith("3 files such as three.csv, sha256 of")
    paths = [folder / "one[1].csv", folder / "one1.csv.txt", folder / "deep" / "three.csv"]
    assert counts(learn(paths, choices)) == WANTED
    (tmp_path / "a.csv").write_text("s,t,d\n" + "\n".join(ROWS[:3]))
    (tmp_path / "b.csv").write_text("s,t,d\n" + "\n".join(ROWS[3:]))
    assert counts(learn(f"{tmp_path}/?.csv", choices)) == WANTED
    (tmp_path / "c.csv").write_text("t,s,d\n" + "\n".join(ROWS[3:]))
    with pytest.raises(InputError, match="its header is not that of"):
        learn(f"{tmp_path}/?.csv", choices)
    with pytest.raises(InputError, match="no such files"):
        learn(f"{tmp_path}/?.tsv", choices)
    (tmp_path / "e" / "region=EU").mkdir(parents=True)
    (tmp_path / "e" / "region=EU" / "a.csv").write_text("s,t,d\n" + "\n".join(ROWS))
    with pytest.raises(InputError, match='"region=EU" holds a column'):
        learn(tmp_path / "e", choices)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=2, max_size=30, unique_by=lambda p: p[0]
    ),
    st.integers(2, 7),
)
@settings(max_examples=150, deadline=None)
def test_quantiles_are_those_of_all_rows(numbers: list[tuple[int, int]], bins: int) -> None:
    import numpy as np

    values = np.array([float(n) for n, _ in numbers])
    rows = np.array([k for _, k in numbers], dtype=np.int64)
    every = sorted(n for n, k in numbers for _ in range(k))
    wanted = {every[math.ceil(Fraction(part, bins) * (len(every) - 1))] for part in range(1, bins)}
    edges = found_edges(values, rows, bins, "quantile")
    assert set(edges) == {Decimal(n) for n in wanted if n > min(every)}


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=3), max_size=8), st.data())
@settings(max_examples=150, deadline=None)
def test_numbers_fall_into_their_bins_to_the_last_digit(others: list[Decimal], data: st.DataObject) -> None:
    edge = data.draw(st.decimals(-(10**6), 10**6, places=20))
    tiny = Decimal("1e-25")
    texts = [f"{n:f}" for n in (edge, edge - tiny, edge + tiny, *others)]
    for closed in ("left", "right"):
        bins = Bins((edge,), closed)
        found = places(bins, texts, Dialect().numbers(texts), Dialect())
        wanted = [int(Decimal(t) >= edge if closed == "left" else Decimal(t) > edge) for t in texts]
        assert found.tolist() == wanted


def test_rows_of_several_megabytes(tmp_path: Path) -> None:
    long = ",".join(["v" * 900_000] * 3)
    content = "s,t,u,v,d\n" + "".join(f"{s},{long},{d}\n" for s, d in ("ay", "bn", "an"))
    found = learned(tmp_path, content, columns=())
    assert counts(found) == {"s": {"a": (1, 1), "b": (0, 1)}}


def test_frames_with_odd_columns() -> None:
    import numpy as np
    import pandas as pd

    frame = pd.DataFrame(
        {
            "s": pd.Categorical(["a", "b", None, "a"], categories=["b", "a", "unused"]),
            "f": np.array([0.3, 0.7, np.nan, 0.7], dtype=np.float32),
            "when": pd.to_datetime(
                ["2020-01-01", "2020-01-02 10:00:00.5", "NaT", "2020-01-01"], format="ISO8601"
            ),
            "d": ["y", "n", "n", "y"],
        }
    )
    found = learn(frame, decision="d", favourable="y", sensitive="s", smoothing=1)
    assert {a.name: a.labels for a in found.model.attributes} == {
        "s": ("a", "b"),
        "f": ("0.3", "0.7"),
        "when": ("2020-01-01 00:00:00", "2020-01-02 10:00:00.500000"),
    }
    for cells in ([[1], [2], [3], [4]], [b"\xff", b"a", b"b", b"a"]):
        with pytest.raises(InputError, match='column "odd" holds lists, or bytes'):
            learn(
                frame.assign(odd=pd.Series(cells, dtype=object)), decision="d", favourable="y", sensitive="s"
            )
    with pytest.raises(InputError, match='column "s" stands 2 times'):
        learn(pd.concat([frame, frame[["s"]]], axis=1), decision="d", favourable="y", sensitive="s")


def test_twins_among_columns_with_the_same_counts(tmp_path: Path) -> None:
    """Of columns with equal counts, each is compared with those that it may be equal to."""
    bits = [(a, b, c) for a in "01" for b in "01" for c in "01" for _ in range(3)]
    rows = [
        f"{a},{a + b},{b},{'pq'[int(a)]},{'uv'[int(b)]},{'yn'[i % 2]}" for i, (a, b, _) in enumerate(bits)
    ]
    found = learned(tmp_path, "\n".join(["s,t,m,n,o,d", *rows]))
    assert [note for note in found.summary.notes if "tells" in note] == [
        '"n" tells exactly the same as "s"',
        '"o" tells exactly the same as "m"',
    ]


_CELL = st.text(alphabet='ab"\n,; \u00a0', max_size=5)


@given(st.data(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_what_a_csv_writer_wrote_is_read_as_it_was(
    data: st.DataObject, separator: str, newline: str, all_quoted: bool
) -> None:
    rows = data.draw(st.lists(st.lists(_CELL, min_size=3, max_size=3), min_size=1, max_size=6))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(
                file,
                delimiter=separator,
                lineterminator=newline,
                quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL,
            )
            writer.writerows([["h", "i", "j"], *rows])
        _, (group,) = open_table(path).groups(["h"], [], [("i", "j")])
    found: Counter[tuple[str, ...]] = Counter()
    for *cells, number in zip(*group.cells, group.rows.tolist(), strict=True):
        found[tuple((cell or "").strip() for cell in cells)] += number
    assert found == Counter(tuple(cell.strip() for cell in row) for row in rows)
