"""learn, import and convert: bring your own model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.model.reading import load_naive_bayes
from tests.cli.conftest import EXAMPLES, ROOT, Auditor

DATA = ROOT / "tests" / "data"
TABLE = ["sex,age,id,credit"] + [f"{'mf'[i % 3 > 0]},{20 + i % 40},{i},{'yn'[i % 7 < 2]}" for i in range(300)]
LEARN = ("--decision", "credit", "--favourable", "y", "--sensitive", "sex")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(TABLE) + "\n")
    return path


def test_learn(auditor: Auditor, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    options = ("--drop", "id", "--bins", "age=30,50", "--smoothing", "1", "--folds", "5", "--name", "People")
    run = auditor("learn", table, "-o", model, *LEARN, *options)
    assert (run.code, run.err) == (0, "")
    for part in ("300 rows counted", "sex: f", "Accuracy", "AUC", "Log-loss", "Calibration"):
        assert part in " ".join(run.out.split())
    spec = load_naive_bayes(model)
    assert spec.name == "People"
    assert spec.attributes[1].labels == ("under 30", "30 to under 50", "50 or over")
    assert spec.provenance is not None
    assert spec.provenance.rows == 300
    assert spec.smoothing == 1
    assert auditor("audit", model, "--delta", "0.5").code == 0


def test_learn_to_standard_output(auditor: Auditor, table: Path) -> None:
    run = auditor("learn", table, *LEARN, "--drop", "id", "--bins", "4", "--bin-method", "width")
    assert json.loads(run.out)["kind"] == "auditor/model"
    assert "300 rows counted" in " ".join(run.err.split())


def test_all_that_a_summary_can_say(auditor: Auditor, tmp_path: Path) -> None:
    rows = ["s,t,same,twin,d"]
    rows += [
        f"{'ab'[i % 50 < 3]},{'x' * 90 if i % 50 > 44 else ''},1,{'cd'[i % 50 < 3]},{'yn'[i % 2]}"
        for i in range(100)
    ]
    rows += [f"rare {i},z,1,twin {i},y" for i in range(12)] + ["a,z,1,c,"]
    path = tmp_path / "d.csv"
    path.write_text("\n".join(rows))
    model = tmp_path / "m.json"
    arguments = ("--decision", "d", "--favourable", "y", "--sensitive", "s,t", "-o", model)
    run = auditor("learn", path, *arguments, "--holdout", "0.3", "--seed", "14")
    assert run.code == 0
    for part in (
        "1 more have no decision and were not counted",
        "Missing cells, taken as not observed",
        "same: it has the same value in every row",
        '"twin" tells exactly the same as "s"',
        "groups with fewer than 30 rows: their counts say little",
        "more\n",
        "infinite: set --smoothing above 0",
    ):
        assert part in run.out
    assert max(map(len, run.out.splitlines()[1:])) <= 94


def test_a_summary_of_impossible_rows(auditor: Auditor, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["s,t,d", *["a,c,y"] * 99, *["b,d,n"] * 99, "a,d,y", "b,c,n"]))
    arguments = ("--decision", "d", "--favourable", "y", "--sensitive", "s", "--folds", "20", "--seed", "3")
    run = auditor("learn", path, *arguments, "-o", tmp_path / "m.json")
    assert "values that give each decision the probability 0" in run.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--holdout", "0.2", "--folds", "5"), "exclude each other"),
        (("--decimal", "comma"), "single characters"),
        (("--separator", "ab"), "single characters"),
        (("-o", "model.txt"), "is none of .json, .yaml, .yml"),
        (("--bin-method", "even"), "'even' is not one of"),
        (("--folds", "1"), '--folds: "1" is not at least 2'),
    ],
)
def test_wrong_usage(auditor: Auditor, table: Path, options: tuple[str, ...], complaint: str) -> None:
    run = auditor("learn", table, *LEARN, *options)
    assert (run.code, run.out) == (2, "")
    assert complaint in run.err


def test_bad_input_writes_nothing(auditor: Auditor, table: Path, tmp_path: Path) -> None:
    for options in ((), ("--drop", "id", "--bins", "a=b"), ("--smoothing", "x"), ("--drop", "nothing")):
        run = auditor("learn", table, *LEARN, *options, "-o", tmp_path / "m.json")
        assert (run.code, run.out) == (3, "")
        assert run.err
        assert not (tmp_path / "m.json").exists()


def test_tabs_can_be_written_as_people_do(auditor: Auditor, tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    path.write_text("s\td\na,\ty\nb,\tn\n")
    arguments = ("--decision", "d", "--favourable", "y", "--sensitive", "s", "--separator", "\\t")
    assert json.loads(auditor("learn", path, *arguments, "--missing", "-").out)["attributes"][0][
        "values"
    ] == ["a,", "b,"]


def test_import(auditor: Auditor, tmp_path: Path) -> None:
    model = tmp_path / "m.yaml"
    run = auditor("import", DATA / "credit.bif", "--sensitive", "sex,job", "-o", model)
    assert (run.code, run.out) == (0, "")
    assert run.err == "good is taken as favourable; --favourable says otherwise.\n"
    assert [a.sensitive for a in load_naive_bayes(model).attributes] == [True, True, False]
    run = auditor("import", DATA / "credit.pmml", "--sensitive", "sex", "--favourable", "bad", "--name", "C")
    assert run.err == ""
    assert json.loads(run.out)["decision"]["favourable"] == "bad"
    run = auditor("import", DATA / "credit.bif", "--sensitive", "gender", "-o", tmp_path / "n.json")
    assert (run.code, run.out) == (3, "")
    assert 'there is no attribute "gender"; give some of "sex"' in run.err
    assert not (tmp_path / "n.json").exists()


def test_convert_keeps_every_digit(auditor: Auditor, tmp_path: Path) -> None:
    for name in ("compas", "figure1", "german_categories"):
        first, second = tmp_path / f"{name}.yaml", tmp_path / f"{name}.json"
        assert auditor("convert", EXAMPLES / f"{name}.json", "-o", first) == (0, "", "")
        assert auditor("convert", first, "-o", second) == (0, "", "")
        assert second.read_bytes() == (EXAMPLES / f"{name}.json").read_bytes()


def test_convert_for_other_programs(auditor: Auditor, tmp_path: Path) -> None:
    assert auditor("convert", EXAMPLES / "compas.json", "-o", tmp_path / "m.pmml").code == 0
    run = auditor("import", tmp_path / "m.pmml", "--sensitive", "Sex", "-o", tmp_path / "m.json")
    assert run.code == 0
    assert (
        load_naive_bayes(tmp_path / "m.json").decision == load_naive_bayes(EXAMPLES / "compas.json").decision
    )
    pytest.importorskip("skops", reason="needs the extra delta-fair[sklearn]")
    assert auditor("convert", EXAMPLES / "compas.json", "-o", tmp_path / "m.skops").code == 0
    assert auditor("import", tmp_path / "m.skops", "--sensitive", "Sex", "-o", tmp_path / "m.json").code == 0
    run = auditor("convert", EXAMPLES / "compas.json", "-o", tmp_path / "m.onnx")
    assert run.code == 2
    assert "none of .json, .yaml, .yml, .pmml, .skops" in run.err


def test_audit_with_data(auditor: Auditor, table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    auditor("learn", table, *LEARN, "--drop", "id", "--bins", "age=30,50", "-o", model)
    arguments = ("audit", model, "--delta", "0.0001", "--data", table, "--min-group", "150")
    run = auditor(*arguments)
    assert run.code == 1
    for part in ("In the data: 300 people", "sex: m", "100 (few)", "How often the listed patterns occur"):
        assert part in run.out
    markdown = auditor(*arguments, "--format", "markdown").out
    assert "## In the data: 300 people" in markdown
    document = json.loads(auditor(*arguments, "--format", "json").out)
    assert document["data"]["people"] == 300
    assert [g["people"] for g in document["data"]["groups"]] == [200, 100]
    run = auditor("audit", EXAMPLES / "compas.json", "--delta", "0.1", "--data", table)
    assert (run.code, run.out) == (3, "")
    assert len(run.err.splitlines()) == 6


def test_learning_costs_little_more_than_starting(tmp_path: Path) -> None:
    """50,000 rows of eight columns are not twice as much work as 500, in a process of its own.

    What else runs on the machine can only add to the work: of several tries the least counts.
    """

    def seconds(rows: int) -> float:
        path = tmp_path / f"{rows}.csv"
        lines = (",".join(str(i >> b & 1) for b in range(8)) for i in range(rows))
        path.write_text("\n".join(["a,b,c,d,e,f,g,h", *lines]))
        command = [sys.executable, "-m", "auditor", "learn", str(path), "-o", str(tmp_path / f"{rows}.json")]
        options = ["--decision", "h", "--favourable", "1", "--sensitive", "a,b"]
        before = os.times()
        subprocess.run([*command, *options], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    few = seconds(500)
    assert any(seconds(50_000) < 2 * few for _ in range(5))


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined", "utf-16", "zip", "base64"])
def test_an_encoding_that_the_data_do_not_have_is_bad_input(
    auditor: Auditor, tmp_path: Path, encoding: str
) -> None:
    people = tmp_path / "people.csv"
    people.write_text("sex,credit\nf,good\nm,bad\nf,good\n")
    run = auditor(
        *("learn", people, "--decision", "credit", "--favourable", "good", "--sensitive", "sex"),
        *("--encoding", encoding),
    )
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith(str(people))


def test_a_table_given_as_a_model_suggests_learn(auditor: Auditor) -> None:
    for command in (("audit", "a.csv", "--delta", ".1"), ("verify", "c.json", "--model", "a.csv")):
        run = auditor(*command)
        assert (run.code, run.out) == (3, "")
        assert run.err.startswith("a.csv: a table of data, and no model; auditor learn a.csv -o model.json")


def test_models_of_segments(auditor: Auditor, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    lines = [f"{('EU', 'eu', 'a/b')[i % 3]},{'ab'[i % 2]},{'yn'[i % 5 > 1]}" for i in range(90)]
    path.write_text("\n".join(["region,s,d", *lines, "one,a,y"]))
    arguments = ("--decision", "d", "--favourable", "y", "--sensitive", "s", "--by", "region")
    run = auditor("learn", path, *arguments, "-o", tmp_path / "models")
    assert run.code == 3
    assert '"one" have only one of the decisions' in run.err
    assert sorted(f.name for f in (tmp_path / "models").iterdir()) == ["EU.json", "a_b.json", "eu-2.json"]
    assert "a_b.json" in run.out
    assert auditor("learn", path, *arguments).code == 2
    assert auditor("learn", path, *arguments, "-o", path).code == 2
    assert auditor("learn", path, *arguments, "--folds", "3", "-o", tmp_path / "models").code == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--table", "t"), "--table and --sql go with --from"),
        (("--from", "sqlite:///x.db", "--table", "t"), "DATA and --from exclude each other"),
        (("--decimal", ",", "--thousands", ","), "two different marks"),
    ],
)
def test_options_of_tables(auditor: Auditor, table: Path, options: tuple[str, ...], complaint: str) -> None:
    run = auditor("learn", table, *LEARN, *options)
    assert (run.code, run.out) == (2, "")
    assert complaint in run.err


def test_a_database_from_the_command_line(auditor: Auditor, table: Path, tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM read_csv('{table}', all_varchar = true)")
    place = ("--from", f"duckdb:///{tmp_path / 'x.duckdb'}")
    model = tmp_path / "m.json"
    options = ("--drop", "id", "--bins", "age=30,50", "-o", model)
    assert auditor("learn", *LEARN, *place, "--table", "people", *options).code == 0
    run = auditor("audit", model, "--delta", "0.0001", *place, "--sql", "FROM people", "--cutoff", "0.4")
    assert run.code == 1
    assert "In the data: 300 people" in run.out
    assert auditor("learn", *LEARN).code == 2
    assert auditor("learn", *LEARN, *place).code == 2
