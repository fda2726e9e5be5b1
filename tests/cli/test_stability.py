"""Whether the next model would pass too, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from auditor.documents.reading import read
from auditor.documents.schemas import schemas
from auditor.documents.stability import Stability
from auditor.model.reading import load_naive_bayes
from auditor.usecases.stability import stability
from tests.cli.conftest import EXAMPLES, Auditor

COMPAS = EXAMPLES / "compas.json"
DRAWN = ("--draws", "60", "--jobs", "1")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_document_is_what_its_schema_says_and_shown_as_it_is_stored(auditor: Auditor) -> None:
    run = auditor("stability", COMPAS, "--delta", "0.4", *DRAWN, "-o", "s.json")
    assert (run.code, run.out) == (0, "")
    assert run.err.startswith(
        "COMPAS: not δ-fair at δ = 0.4; the next model is δ-fair with a probability of "
    )
    content = json.loads(Path("s.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(json.loads(schemas()["stability"])).validate(content)
    document = read(Stability, "s.json")
    for found in (document.posterior, document.next_model):
        assert found.delta_fair + found.not_delta_fair + found.undecided == document.draws == 60
        assert sum(bar.delta_fair for bar in found.bars) == found.delta_fair
        assert sum(bar.not_delta_fair for bar in found.bars) == found.not_delta_fair
        assert found.probability[0] <= found.delta_fair / 60 <= found.probability[1]
    first = document.patterns[0]
    assert first.discriminates == document.posterior.not_delta_fair
    for name in ("s.html", "s.md", "s.pdf"):
        assert auditor("report", "s.json", "-o", name).code == 0
    page = Path("s.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "certain" not in page.split("<body")[1].split("<script")[0]
    assert Path("s.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_seed_gives_the_same_bytes_whatever_the_jobs(auditor: Auditor) -> None:
    command = ("stability", COMPAS, "--delta", "0.4", "--draws", "60", "-f", "json")
    alone = auditor(*command, "--jobs", "1")
    assert auditor(*command, "--jobs", "2").out == alone.out
    assert auditor(*command, "--jobs", "1", "--seed", "7").out != alone.out


@pytest.mark.parametrize(
    ("delta", "least", "code"), [("0.9", "0.5", 0), ("0.1", "0.5", 1), ("0.408", "0.6", 4)]
)
def test_a_least_probability_makes_it_a_finding(auditor: Auditor, delta: str, least: str, code: int) -> None:
    run = auditor("stability", COMPAS, "--delta", delta, *DRAWN, "--at-least", least)
    assert run.code == code, run.err


def test_more_rows_make_the_interval_narrower() -> None:
    spec = load_naive_bayes(COMPAS)
    asked = stability(spec, "0.4", draws=80, width="0.03", jobs=1).rows_needed
    assert asked
    assert asked.rows
    assert asked.rows > 48_834
    assert asked.tried[0].width > 0.03 >= asked.tried[-1].width
    enough = stability(spec, "0.4", draws=80, width="0.5", jobs=1).rows_needed
    assert enough
    assert (enough.rows, len(enough.tried)) == (48_834, 1)


def test_a_repaired_model_lies_on_the_threshold_and_the_report_explains_it(auditor: Auditor) -> None:
    assert auditor("repair", COMPAS, "--delta", "0.1", "-o", "fair.json").code == 0
    run = auditor("stability", "fair.json", "--delta", "0.1", *DRAWN, "-f", "json")
    document = Stability.model_validate_json(run.out)
    assert (document.repaired, document.verdict) == (True, "delta-fair")
    assert document.posterior.not_delta_fair > 15
    assert "The model was repaired" in auditor("stability", "fair.json", "--delta", "0.1", *DRAWN).out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((EXAMPLES / "figure1.json", "--delta", "0.1"), 3, "has no counts of the decision"),
        ((EXAMPLES / "german_scorecard.yaml", "--delta", "0.1"), 3, "german_scorecard.yaml"),
        ((COMPAS, "--delta", "0.1", "--width", "0"), 3, "width"),
        ((COMPAS, "--delta", "0.1", "--draws", "0"), 2, "--draws"),
        ((COMPAS, "--delta", "0.1", "-f", "csv"), 2, "there is no table"),
        ((COMPAS, "--delta", "0.1", "--sensitive", "Nobody"), 3, "Nobody"),
    ],
)
def test_what_is_wrong_is_said(auditor: Auditor, arguments: tuple[str, ...], code: int, says: str) -> None:
    run = auditor("stability", *arguments)
    assert (run.code, run.out) == (code, "")
    assert says in run.err
    assert "Traceback" not in run.err
