"""`auditor frontier` from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import EXAMPLES, ROOT, Auditor

COMPAS = EXAMPLES / "compas.json"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    attributes = [a["name"] for a in json.loads(COMPAS.read_text())["attributes"]]
    path = tmp_path / "rows.csv"
    rows = [
        f"{i % 3 % 2},{','.join(str(i >> bit & 1) for bit in range(len(attributes)))}" for i in range(128)
    ]
    path.write_text("\n".join([f"ScoreText,{','.join(attributes)}", *rows]) + "\n")
    return path


def test_all_formats_say_the_same(auditor: Auditor, tmp_path: Path, table: Path) -> None:
    folder, document = tmp_path / "curve", tmp_path / "frontier.json"
    arguments = ("frontier", COMPAS, "--deltas", "0.1,0.2,0.3", "--data", table)
    run = auditor(*arguments, "--prove", "--jobs", "1", "--write", folder, "-o", document)
    assert (run.code, run.out) == (0, "")
    assert f"COMPAS: 3 thresholds from δ = 0.1 to 0.3, knee at δ = 0.2; see {document}" in run.err
    found = json.loads(document.read_text())
    schema = json.loads((ROOT / "schemas" / "frontier.json").read_text())
    Draft202012Validator(schema).validate(found)
    assert found["knee"] == "0.2"
    point = found["points"][0]
    assert point["log_likelihood"] == pytest.approx(-207394.5055, abs=1e-3)
    assert point["log_likelihood"] <= point["bound"]
    for delta in ("0.1", "0.2", "0.3"):
        assert auditor("audit", folder / f"fair-{delta}.json", "--delta", delta).code == 0
    proof, fair = folder / "proof-0.1.json", folder / "fair-0.1.json"
    assert auditor("verify", proof, "--model", fair).code == 0

    run = auditor(*arguments, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["delta"] for row in rows] == ["unconstrained", "0.1", "0.2", "0.3", "independent"]
    assert float(rows[1]["log_likelihood"]) == point["log_likelihood"]
    assert float(rows[1]["selected: Sex Male"]) == next(
        g["selected"]["share"] for g in point["data"]["groups"] if g["values"] == {"Sex": "Male"}
    )
    run = auditor(*arguments)
    assert run.code == 0
    for piece in (
        "0.2 (knee)",
        "-207,394.5055",
        "2,017",
        "Sex: Male: ",
        "the impact ratio compares",
    ):
        assert piece in run.out
    for name in ("curve.html", "curve.md"):
        path = tmp_path / name
        run = auditor("report", document, "-o", path)
        assert run.code == 0
        assert "knee at δ = 0.2" in run.err
        assert "207,394.5055" in path.read_text()
    page = (tmp_path / "curve.html").read_text()
    assert "<svg" in page
    assert "Proved: none is likelier" in page
    # Where the independent model lies is told by its figure: under conditions points can lie below it.
    assert "does not depend on the sensitive attributes is 695.9160 lower." in page
    assert "Proved: none is likelier" not in auditor("frontier", COMPAS, "--deltas", "0.3", "-f", "html").out


def test_a_pdf_holds_the_figures(auditor: Auditor, tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    path = tmp_path / "curve.pdf"
    assert auditor("frontier", COMPAS, "--deltas", "0.1,0.2", "-o", path).code == 0
    attached = pypdf.PdfReader(path).attachments["frontier.json"][0]
    assert json.loads(attached)["kind"] == "auditor/frontier"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--deltas", "0.2,0.1"], 2, "give thresholds that grow"),
        (["--deltas", "little"], 2, "is not a decimal number from 0 to 1"),
        (["--deltas", "0.1", "--gap", "1"], 2, "--gap goes with --prove"),
        (["--deltas", "0.1", "--prove", "--criterion", "ratio"], 2, "--criterion difference"),
        (["--deltas", "0.1", "--prove", "--gap", "little"], 3, "little is neither nats"),
        (["--deltas", "0.1", "--cutoff", "2"], 2, "is not a decimal number from 0 to 1"),
    ],
)
def test_bad_options_are_refused(
    auditor: Auditor, arguments: list[str], code: int, message: str, tmp_path: Path
) -> None:
    run = auditor("frontier", COMPAS, *arguments, "-o", tmp_path / "out.json")
    assert (run.code, run.out) == (code, "")
    assert message in " ".join(run.err.split())
    assert list(tmp_path.iterdir()) == []


def test_no_point_is_written_over_what_is_read(auditor: Auditor, tmp_path: Path) -> None:
    model = tmp_path / "fair-0.1.json"
    before = COMPAS.read_bytes()
    model.write_bytes(before)
    run = auditor("frontier", model, "--deltas", "0.1", "--write", tmp_path)
    assert run.code == 2
    assert "must not be overwritten" in " ".join(run.err.split())
    assert model.read_bytes() == before


def test_an_output_that_is_refused_leaves_no_folder(auditor: Auditor, tmp_path: Path) -> None:
    model, folder = tmp_path / "model.json", tmp_path / "curve"
    model.write_bytes(COMPAS.read_bytes())
    assert auditor("frontier", model, "--deltas", "0.1,0.2", "--write", folder, "-o", model).code == 2
    assert not folder.exists()
    assert model.read_bytes() == COMPAS.read_bytes()
    model.write_bytes(b"")
    assert auditor("frontier", model, "--deltas", "0.1", "--write", folder).code == 3
    assert not folder.exists()


@pytest.mark.parametrize(
    ("command", "options"),
    [("frontier", ("--deltas", "0.1,0.2")), ("stability", ("--delta", "0.1", "--draws", "5"))],
)
def test_pages_show_labels_and_take_no_style(
    auditor: Auditor, tmp_path: Path, command: str, options: tuple[str, ...]
) -> None:
    tree = json.loads(COMPAS.read_text())
    for attribute in tree["attributes"]:
        if attribute["name"] == "Ethnic_Code_Text":
            attribute["label"] = "Ethnic <group>"
    model, document, page = (tmp_path / name for name in ("model.json", "made.json", "page.html"))
    model.write_text(json.dumps(tree))
    assert auditor(command, model, *options, "-o", document).code == 0
    assert "Ethnic_Code_Text" in json.loads(document.read_text())["model"]["sensitive"]
    assert auditor("report", document, "-o", page).code == 0
    text = page.read_text()
    assert "Ethnic &lt;group&gt;" in text
    assert "Ethnic_Code_Text" not in text
    for style in (("--profile", "us-four-fifths"), ("--format", "model-card")):
        target = tmp_path / ("no.md" if "model-card" in style else "no.html")
        refused = auditor("report", document, *style, "-o", target)
        assert refused.code == 3
        assert "has a page of its own" in refused.err
        assert not target.exists()


def test_the_smallest_threshold_that_keeps_a_floor_is_recommended(auditor: Auditor, table: Path) -> None:
    arguments = ("frontier", COMPAS, "--deltas", "0.1,0.4,1", "--data", table, "--keep", "Age")
    free = json.loads(auditor(*arguments, "-f", "json").out)
    assert free["conditions"]["keep"] == ["Age"]
    assert [point["kept_floors"] for point in free["points"]] == [None] * 3
    shares = [point["data"]["accuracy"]["share"] for point in free["points"]]
    areas = [point["auc"] for point in free["points"]]
    for option, measured in (("--least-accuracy", shares), ("--least-auc", areas)):
        least = max(measured)
        run = auditor(*arguments, option, repr(least), "-f", "json")
        found = json.loads(run.out)
        assert run.code == 0
        assert [point["kept_floors"] for point in found["points"]] == [own >= least for own in measured]
        assert found["recommended"] == found["points"][measured.index(least)]["delta"]
    run = auditor(*arguments, "--least-auc", "1")
    assert run.code == 1
    assert "AUC of at least 1; no model of the curve does" in " ".join(run.out.split())
    assert "1 (too low)" in run.out
    run = auditor(*arguments[:4], "--least-auc", "0.5")
    assert run.code == 2
    assert "go with --data" in run.err
