"""`auditor audit` and `auditor patterns` on the shipped models."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import EXAMPLES, ROOT, Auditor

GOLDEN = Path(__file__).parent / "golden"
COMPAS = EXAMPLES / "compas.json"
FIGURE1 = EXAMPLES / "figure1.json"


def masked(text: str) -> str:
    """Hide what differs from run to run: the seconds, and whether a line broke beside them."""
    return re.sub(r'\s+[0-9.e-]+\s+seconds|(?<="seconds":) [0-9.e-]+', " T seconds", text)


def valid(text: str, schema: str) -> Any:
    """Read JSON that must match its schema."""
    document = json.loads(text)
    Draft202012Validator(json.loads((ROOT / "schemas" / f"{schema}.json").read_text())).validate(document)
    return document


@pytest.mark.parametrize("suffix", ["txt", "md", "csv", "json"])
def test_golden_audit_of_compas(auditor: Auditor, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"compas.{suffix}"
    run = auditor("audit", COMPAS, "--delta", "0.1", "-o", target)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("COMPAS: not δ-fair at δ = 0.1 for these sensitive attributes; see ")
    golden = GOLDEN / target.name
    assert masked(target.read_text(encoding="utf-8")) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_every_example_can_be_audited(auditor: Auditor, path: Path) -> None:
    """The verdict comes first, so that a limit can only cost the count and the lists."""
    run = auditor("audit", path, "--delta", "0.1", "--time-limit", "2", "--format", "json")
    assert (run.code, run.err) == (1, "")
    assert valid(run.out, "audit")["verdict"] == "not-delta-fair"


def test_the_paper_example_in_json(auditor: Auditor) -> None:
    run = auditor("audit", FIGURE1, "--delta", "0.2", "--format", "json")
    assert (run.code, run.err) == (1, "")
    document = valid(run.out, "audit")
    assert document["verdict"] == "not-delta-fair"
    assert document["delta"] == "0.2"
    assert document["worst_pattern"]["sensitive_values"] == {"X": "not x"}
    assert document["worst_pattern"]["context_values"] == {"Y1": "y1"}
    assert round(document["worst_pattern"]["degree"], 3) == -0.225
    assert round(document["group_level"]["degree"], 3) == -0.109
    assert document["total_patterns"] == 18
    assert document["pattern_count"] == sum(entry["patterns"] for entry in document["coverage"])
    low, high = document["max_degree_bounds"]
    assert low <= document["max_degree"] <= high
    assert high - low < 1e-15


@pytest.mark.parametrize(("delta", "verdict", "code"), [("0.3", "delta-fair", 0), ("0", "not-delta-fair", 1)])
def test_exit_codes_are_the_verdict(auditor: Auditor, delta: str, verdict: str, code: int) -> None:
    run = auditor("audit", FIGURE1, "--delta", delta, "--format", "json")
    document = valid(run.out, "audit")
    assert (run.code, document["verdict"]) == (code, verdict)
    assert (document["pattern_count"] == 0) == (code == 0)


def test_no_time_is_inconclusive(auditor: Auditor) -> None:
    arguments = ("audit", EXAMPLES / "german.json", "--delta", "0.411622501", "--time-limit", "0")
    run = auditor(*arguments, "--format", "json")
    document = valid(run.out, "audit")
    assert (run.code, document["verdict"]) == (4, "inconclusive")
    low, high = document["max_degree_bounds"]
    assert low <= 0.411622501 < high
    assert document["pattern_count"] is None
    assert document["pattern_count_reason"]
    assert "a limit of time was reached" in document["search"]["reasons"]
    assert not document["search"]["complete"]
    text = auditor(*arguments)
    assert text.code == 4
    assert "German credit: inconclusive at δ = 0.411622501" in text.out
    assert re.search(r"at least 0\.\d+ \(found\), at most 0\.\d+ \(proved\); δ = 0\.411622501", text.out)


def test_a_bound_that_takes_no_time_can_prove_a_verdict(auditor: Auditor) -> None:
    """Where the closed form shows that there is no pattern, the count is 0 however little time there was."""
    arguments = ("--delta", "0.415", "--time-limit", "0", "--format", "json")
    run = auditor("audit", EXAMPLES / "german.json", *arguments)
    document = valid(run.out, "audit")
    assert (run.code, document["verdict"]) == (0, "delta-fair")
    assert (document["pattern_count"], document["pattern_count_bounds"]) == (0, [0, 0])


def test_ratio_criterion(auditor: Auditor) -> None:
    run = auditor("audit", COMPAS, "--delta", "0.2", "--criterion", "ratio", "--format", "json")
    document = valid(run.out, "audit")
    assert (run.code, document["criterion"]) == (1, "ratio")
    worst = document["worst_pattern"]
    before, after = worst["favourable_given_context"], worst["favourable_given_pattern"]
    assert document["max_degree"] == pytest.approx(1 - min(before, after) / max(before, after), abs=1e-12)


def test_a_minimum_probability_limits_what_is_said(auditor: Auditor) -> None:
    run = auditor("audit", COMPAS, "--delta", "0.1", "--min-probability", "0.01", "--format", "json")
    document = valid(run.out, "audit")
    assert (run.code, document["verdict"]) == (1, "not-delta-fair")
    listed = [document["worst_pattern"], *document["top_patterns"], *document["minimal_patterns"]]
    assert min(pattern["probability"] for pattern in listed) >= 0.01
    # The number in `auditor patterns --min-probability 0.01 --top 10000`, which lists them.
    every = auditor(
        "patterns",
        COMPAS,
        "--delta",
        "0.1",
        "--min-probability",
        "0.01",
        "--top",
        "10000",
        "--format",
        "json",
    )
    assert document["pattern_count"] == len(valid(every.out, "patterns")["patterns"]) > 0
    assert 0.1 < document["max_degree"] < 0.4066

    fair = auditor("audit", COMPAS, "--delta", "0.1", "--min-probability", "0.6")
    assert fair.code == 0
    assert "Shown for patterns of at least 60% of people: disclosing" in " ".join(fair.out.split())


def test_what_no_pattern_is_as_probable_as_is_refused(auditor: Auditor) -> None:
    asked = ("--delta", "0.1", "--min-probability")
    for command in (("audit",), ("patterns",), ("certify",)):
        run = auditor(*command, COMPAS, *asked, "0.9")
        assert run.code == 3
        assert not run.out
        assert run.err == (
            'minimum probability: no pattern is as probable as 0.9; the most probable one, "MaritalStatus" = '
            '"Not married", has a probability of 0.87; ask for that at most\n'
        )
    assert auditor("audit", COMPAS, *asked, "0.87").code == 0


def test_a_policy_cannot_ask_for_it_either(tmp_path: Path, auditor: Auditor) -> None:
    policy = tmp_path / "auditor.toml"
    policy.write_text('kind = "auditor/policy"\nversion = 1\ndelta = 0.1\nmin_probability = 0.9\n')
    run = auditor("certify", COMPAS, "--policy", policy)
    assert run.code == 3
    assert "no pattern is as probable as 0.9" in run.err


def test_ranking_and_length_of_the_list(auditor: Auditor) -> None:
    options = ("--delta", "0.1", "--format", "json", "--top", "3", "--rank-by")
    for rank_by, key in (("discrimination", "degree"), ("probability", "probability")):
        document = valid(auditor("audit", COMPAS, *options, rank_by).out, "audit")
        scores = [abs(pattern[key]) for pattern in document["top_patterns"]]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("options", "chosen", "number", "complete"),
    [
        ((), "top", 10, True),
        (("--top", "3", "--rank-by", "probability"), "top", 3, True),
        (("--summary", "minimal"), "minimal", 28, True),
        (("--summary", "pareto"), "pareto", 32, True),
        (("--summary", "maximal"), "maximal", 414, True),
        (("--summary", "minimal", "--top", "5"), "minimal", 5, False),
        (("--sample", "7"), "sample", 7, True),
    ],
)
def test_lists_of_patterns(
    auditor: Auditor, options: tuple[str, ...], chosen: str, number: int, complete: bool
) -> None:
    run = auditor("patterns", COMPAS, "--delta", "0.1", "--format", "json", *options)
    assert (run.code, run.err) == (0, "")
    document = valid(run.out, "patterns")
    assert (document["list"], len(document["patterns"]), document["complete"]) == (chosen, number, complete)
    assert all(abs(pattern["degree"]) > 0.1 for pattern in document["patterns"])
    rows = list(
        csv.reader(io.StringIO(auditor("patterns", COMPAS, "--delta", "0.1", "-f", "csv", *options).out))
    )
    assert len(rows) == number + 1


def test_a_model_from_standard_input(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FIGURE1.read_bytes())))
    assert auditor("audit", "-", "--delta", "0.3").code == 0


def test_terminals_get_colour_and_progress(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with terminal(monkeypatch):
        run = auditor("audit", FIGURE1, "--delta", "0.2")
        assert run.out.startswith("Figure 1: \x1b[1;31mnot δ-fair\x1b[0m at δ = 0.2")
        assert "counting patterns …" in run.err
        assert run.err.endswith("\x1b[2K")
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in auditor("audit", FIGURE1, "--delta", "0.2").out
    plain = auditor("audit", FIGURE1, "--delta", "0.2")
    assert "\x1b" not in plain.out
    assert plain.err == ""


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the captured streams say that they are a terminal."""
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        patch.setattr("sys.stderr.isatty", lambda: True)
        yield


NASTY = "<script>{{7*7}}|[b]www.x.y=1"


def test_nasty_names_are_shown_and_never_run(auditor: Auditor, tmp_path: Path) -> None:
    spec = json.loads(FIGURE1.read_text(encoding="utf-8"))
    spec["name"] = NASTY
    spec["attributes"][0].update(name=f"={NASTY}", values=[f"@{NASTY}", f"-{NASTY}"])
    path = tmp_path / "nasty.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    for form in ("text", "json", "csv", "markdown"):
        run = auditor("audit", path, "--delta", "0.2", "--format", form)
        assert run.code == 1
        assert "7*7" in run.out.replace("\\", "")
        assert ("<script>" in run.out) == (form != "markdown")
    rows = list(csv.reader(io.StringIO(auditor("audit", path, "--delta", "0.2", "-f", "csv").out)))
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)


def test_a_set_of_sensitive_attributes_can_be_tried(auditor: Auditor, tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    assert auditor("audit", COMPAS, "--delta", "0.1", "--sensitive", "Sex,Age", "-o", target).code == 1
    assert json.loads(target.read_text(encoding="utf-8"))["model"]["sensitive"] == ["Sex", "Age"]
    found = json.loads(target.read_text())
    run = auditor(
        *("patterns", COMPAS, "--delta", "0.1", "--sensitive", "Sex,Age", "--summary", "minimal"),
        *("--format", "json"),
    )
    assert run.code == 0
    assert json.loads(run.out)["patterns"] == found["minimal_patterns"]
    run = auditor("audit", COMPAS, "--delta", "0.1", "--sensitive", "Sexx")
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith('sensitive: the model has no "Sexx"; it has "Ethnic_Code_Text"')
