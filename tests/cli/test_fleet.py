"""The command that audits many models: its formats, its exit codes, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from auditor.documents.schemas import schemas
from tests.cli.conftest import EXAMPLES, ROOT, Auditor


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three models, one of which can't be read."""
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    for name in ("compas", "figure1"):
        shutil.copy(EXAMPLES / f"{name}.json", "models")
    Path("models/=bad.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_text_has_the_worst_first(home: Path, auditor: Auditor) -> None:
    run = auditor("fleet", "models", "--delta", "0.3", "--jobs", "1")
    assert run.code == 3
    assert run.err == ""
    assert run.out.startswith("3 models at δ = 0.3: 1 not audited, 1 not δ-fair, 1 δ-fair\n")
    table = [line.split()[0] for line in run.out.splitlines() if line.startswith("models/")]
    assert table == ["models/=bad.json", "models/compas.json", "models/figure1.json"]
    assert re.search(r"figure1\.json +Figure 1 +δ-fair +-0\.2246 +0\n", run.out)
    assert "- models/=bad.json: " in run.out


@pytest.mark.parametrize(
    ("models", "options", "code"),
    [
        (("figure1",), ("--delta", "0.3"), 0),
        (("figure1", "compas"), ("--delta", "0.3"), 1),
        (("german",), ("--delta", "0.411622501", "--time-limit", "0"), 4),
        (("german", "figure1"), ("--delta", "0.411622501", "--time-limit", "0"), 4),
        (("compas", "missing"), ("--delta", "0.3"), 3),
    ],
)
def test_the_exit_code_is_the_worst(
    auditor: Auditor, models: tuple[str, ...], options: tuple[str, ...], code: int
) -> None:
    run = auditor("fleet", *(EXAMPLES / f"{name}.json" for name in models), "--jobs", "1", *options)
    assert run.code == code
    assert run.err == ""


class _Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if (tag, name) == ("a", "href") and value]


def test_all_formats_have_the_same_rows(home: Path, auditor: Auditor) -> None:
    Path("out").mkdir()
    outputs = [f"out/fleet.{suffix}" for suffix in ("jsonl", "csv", "html", "md", "txt")]
    options = [part for output in outputs for part in ("-o", output)]
    run = auditor("fleet", "models", "--delta", "0.1", "--jobs", "1", "--reports", "reports", *options)
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("3 models at δ = 0.1: 1 not audited, 2 not δ-fair; see out/fleet.jsonl, ")
    rows = [json.loads(line) for line in Path("out/fleet.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        jsonschema.Draft202012Validator(json.loads(schemas()["fleet"])).validate(row)
    files = [row["file"] for row in rows]
    assert files == ["models/=bad.json", "models/compas.json", "models/figure1.json"]
    table = list(csv.DictReader(io.StringIO(Path("out/fleet.csv").read_text(encoding="utf-8"))))
    assert [row["file"] for row in table] == files
    assert [row["verdict"] for row in table] == ["not audited", "not-delta-fair", "not-delta-fair"]
    assert table[1]["patterns_at_least"] == table[1]["patterns_at_most"] == "2017"
    page = Path("out/fleet.html").read_text(encoding="utf-8")
    places = [page.index(file.replace("/", "/<wbr>")) for file in files]
    assert places == sorted(places)
    links = _Links(page).links
    assert len(links) == 2
    assert all(Path("out", link).resolve().is_file() for link in links)
    for output in outputs[3:]:
        shown = Path(output).read_text(encoding="utf-8")
        assert "2,017" in shown
        assert "the models themselves define" in " ".join(shown.split())


def test_a_list_names_more_models(home: Path, auditor: Auditor) -> None:
    Path("list.txt").write_text("models/compas.json\n\nmodels/f*.json\n", encoding="utf-8")
    run = auditor("fleet", "--list", "list.txt", "--delta", "0.1", "--jobs", "1", "-f", "jsonl")
    assert run.code == 1
    assert [json.loads(line)["file"] for line in run.out.splitlines()] == [
        "models/compas.json",
        "models/figure1.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("--delta", "0.1"), 3, "MODEL: there are none"),
        (("nothing*", "--delta", "0.1"), 3, "nothing*: no models there"),
        (("models",), 2, "--delta is missing"),
        (("models", "--delta", "0.1", "-o", "x.json"), 2, "the suffix of x.json is none of .txt, .jsonl"),
        (("models", "--delta", "0.1", "-o", "x.jsonl", "-o", "y.jsonl"), 2, "only one file can be .jsonl"),
        (("models", "--delta", "0.1", "-o", "x.csv", "-f", "csv"), 2, "it is for standard output"),
        (("models", "--delta", "0.1", "-o", "x.txt", "--list", "x.txt"), 3, "x.txt: no such file"),
        (("m.txt", "--delta", "0.1", "-o", "m.txt"), 2, "is also the file of MODEL (m.txt)"),
    ],
)
def test_wrong_usage_is_refused(
    home: Path, auditor: Auditor, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    shutil.copy("models/figure1.json", "m.txt")
    run = auditor("fleet", *arguments)
    assert (run.code, run.out) == (code, "")
    assert complaint in run.err
    assert Path("m.txt").read_bytes() == Path("models/figure1.json").read_bytes()


def test_an_interrupted_run_goes_on(home: Path, auditor: Auditor) -> None:
    Path("many").mkdir()
    for i in range(40):
        shutil.copy(EXAMPLES / "german.json", f"many/{i}.json")
    command = [sys.executable, "-m", "auditor", "fleet", "many", "--delta", "0.1", "-o", "f.jsonl"]
    process = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, start_new_session=True
    )
    while not Path("f.jsonl").exists() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode() == "interrupted; f.jsonl had been written\n"
    kept = Path("f.jsonl").read_text(encoding="utf-8").splitlines()
    assert 0 < len(kept) < 40
    run = auditor("fleet", "many", "--delta", "0.1", "-o", "f.jsonl", "--jobs", "1")
    assert run.code == 1
    rows = Path("f.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(row)["file"] for row in rows} == {f"many/{i}.json" for i in range(40)}
    assert len(rows) == 40
