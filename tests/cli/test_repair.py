"""`auditor repair` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from auditor.repair import learner
from auditor.usecases import proving
from tests.cli.conftest import EXAMPLES, ROOT, Auditor

COMPAS = EXAMPLES / "compas.json"


def test_repair_then_audit(auditor: Auditor, tmp_path: Path) -> None:
    fair = tmp_path / "fair.json"
    run = auditor("repair", COMPAS, "--delta", "0.1", "-o", fair)
    assert run.code == 0
    assert run.err.splitlines() == [
        "round 0: 0 constraints, log-likelihood -207,054.6876, 2,017 patterns left",
        "round 1: 28 constraints, log-likelihood -207,394.5055, 0 patterns left",
        f"COMPAS: δ-fair at δ = 0.1, proved by the exact search; see {fair}",
    ]
    for piece in (
        "COMPAS: δ-fair at δ = 0.1, proved by the exact search",
        "2,017 of 14,688 (13.73%), counted exactly",
        "Price in log-likelihood: 48.83% of the way to the independent model",
        "The parameters that moved most",
        "P(MaritalStatus: Married or partnered given High risk)",
        "5.764%  12.67%",
        "Predictions where the unconstrained model discriminates most",
        "(degree +0.4066) and now moves it from 44.72% to 54.72% (+0.099999999)",
    ):
        assert " ".join(piece.split()) in " ".join(run.out.split())
    assert auditor("audit", fair, "--delta", "0.1").code == 0
    assert auditor("audit", fair, "--delta", "0.0999").code == 1


def test_yaml_with_accuracy_in_markdown(auditor: Auditor, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    names = [a["name"] for a in json.loads(COMPAS.read_text())["attributes"]]
    table.write_text(f"ScoreText,{','.join(names)}\n1{',0' * 7}\n0{',1' * 7}\n1{',1' * 7}\n")
    fair = tmp_path / "fair.yaml"
    run = auditor("repair", COMPAS, "--delta", "0.1", "--data", table, "-f", "markdown", "-o", fair)
    assert run.code == 0
    assert "# COMPAS: δ-fair at δ = 0.1" in run.out
    assert "| Accuracy | 66.67% | 66.67% |" in run.out
    assert auditor("audit", fair, "--delta", "0.1").code == 0


def test_json_matches_its_schema(auditor: Auditor, tmp_path: Path) -> None:
    run = auditor("repair", COMPAS, "--delta", "0.05", "--format", "json", "-o", tmp_path / "fair.json")
    document = json.loads(run.out)
    schema = json.loads((ROOT / "schemas" / "repair.json").read_text())
    Draft202012Validator(schema).validate(document)
    assert (document["kind"], document["patterns_after"]) == ("auditor/repair", 0)


def test_without_an_output_the_model_goes_to_stdout(auditor: Auditor, tmp_path: Path) -> None:
    run = auditor("repair", COMPAS, "--delta", "0.1", "--method", "independent")
    assert (run.code, json.loads(run.out)["repair"]["method"]) == (0, "independent")
    assert "COMPAS: δ-fair at δ = 0.1" in run.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--delta", "2"], 2, '"2" is not a decimal number from 0 to 1'),
        (["--delta", "0.1", "-o", "fair.pdf"], 2, "the suffix of fair.pdf is none of .json, .yaml, .yml"),
        (["--delta", "0.1", "-o", "no/such/folder/fair.json"], 3, "its folder does not exist"),
        (["--delta", "0.1", "--solver", "simplex"], 2, "simplex"),
        (["--delta", "0.1", "--data", "absent.csv"], 3, "absent.csv"),
    ],
)
def test_wrong_usage_and_bad_input(auditor: Auditor, arguments: list[str], code: int, message: str) -> None:
    run = auditor("repair", COMPAS, *arguments)
    assert (run.code, run.out) == (code, "")
    assert message in run.err


def test_an_output_that_cannot_be_written_is_found_before_the_work(auditor: Auditor, tmp_path: Path) -> None:
    run = auditor("repair", COMPAS, "--delta", "0.1", "-o", tmp_path)
    assert run.code in (2, 3)
    assert "round" not in run.err


def test_a_model_without_counts(auditor: Auditor) -> None:
    run = auditor("repair", EXAMPLES / "figure1.json", "--delta", "0.1")
    assert run.code == 3
    assert "repair learns from counts, which are incomplete (attributes without counts: X, Y1, Y2)" in run.err


def test_a_repair_that_fails(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "is_fair", lambda model, criteria, limits: False)
    run = auditor("repair", COMPAS, "--delta", "0.1", "--time-limit", "1e-9")
    assert (run.code, run.out) == (5, "")
    assert "no model could be proved fair: the time limit was reached" in run.err


def test_a_proof_is_made_and_verified_and_an_altered_one_refused(auditor: Auditor, tmp_path: Path) -> None:
    fair, proof = tmp_path / "fair.json", tmp_path / "proof.json"
    run = auditor("repair", COMPAS, "--delta", "0.1", "--prove", proof, "--gap", "1", "-o", fair)
    assert run.code == 0
    said = " ".join(run.out.split())
    assert "No δ-fair model of these counts is more than 1.000 nats likelier" in said
    assert ": proved in 1 branch." in said
    schema = json.loads((ROOT / "schemas" / "likelihood-proof.json").read_text())
    Draft202012Validator(schema).validate(json.loads(proof.read_text()))

    run = auditor("verify", proof, "--model", fair)
    assert run.code == 0
    assert "The proof holds: no model of these counts that is δ-fair at δ = 0.1" in run.out
    assert "not performed" not in run.out
    run = auditor("verify", proof, "--format", "json")
    schema = json.loads((ROOT / "schemas" / "proof-verification.json").read_text())
    Draft202012Validator(schema).validate(json.loads(run.out))
    assert (run.code, json.loads(run.out)["result"]) == (0, "holds")

    run = auditor("verify", proof, "--model", EXAMPLES / "german.json")
    assert (run.code, "they are not those of the model" in " ".join(run.out.split())) == (1, True)
    proof.write_text(json.dumps(json.loads(proof.read_text()) | {"bound": "-207394.6"}))
    run = auditor("verify", proof)
    assert (run.code, "The proof does NOT hold: proof" in run.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--gap", "1%"], 2, "--gap goes with --prove"),
        (["--gap", "little", "--prove"], 3, "little is neither nats"),
        (["--criterion", "ratio", "--prove"], 2, "--criterion difference"),
        (["--method", "independent", "--prove"], 2, "--method fair"),
    ],
)
def test_what_cannot_be_proved_is_refused(
    auditor: Auditor, arguments: list[str], code: int, message: str, tmp_path: Path
) -> None:
    proof = [tmp_path / "proof.json"] if "--prove" in arguments else []
    run = auditor("repair", COMPAS, "--delta", "0.1", *arguments, *proof, "-o", tmp_path / "fair.json")
    assert (run.code, run.out) == (code, "")
    assert message in run.err
    # It is refused before the work begins.
    assert "round" not in run.err
    assert list(tmp_path.iterdir()) == []


def test_a_proof_has_the_time_that_the_repair_leaves(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[float | None] = []
    prove_repair = proving.prove_repair

    def noted(*arguments: Any) -> Any:
        given.append(arguments[3])
        return prove_repair(*arguments)

    monkeypatch.setattr(proving, "prove_repair", noted)
    fair, proof = tmp_path / "fair.json", tmp_path / "proof.json"
    run = auditor("repair", COMPAS, "--delta", "0.1", "--time-limit", "100", "--prove", proof, "-o", fair)
    assert run.code == 0
    assert given[0] is not None
    assert 0 < given[0] < 100


def test_a_proof_that_may_never_close_ends_without_a_limit(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(proving, "SECONDS", 0.0)
    fair, proof = tmp_path / "fair.json", tmp_path / "proof.json"
    run = auditor("repair", COMPAS, "--delta", "0.1", "--prove", proof, "-o", fair)
    assert run.code == 0
    assert "nearer than that is open" in " ".join(run.out.split())
    assert auditor("verify", proof, "--model", fair).code == 0


def test_conditions_are_kept_recorded_and_shown(auditor: Auditor, tmp_path: Path) -> None:
    fair, proof = tmp_path / "fair.json", tmp_path / "proof.json"
    conditions = ("--keep", "Age", "--largest-change", "0.2", "--monotone", "MaritalStatus")
    run = auditor("repair", COMPAS, "--delta", "0.1", *conditions, "--prove", proof, "-o", fair)
    assert run.code == 0
    said = " ".join(run.out.split())
    for piece in (
        "Kept Age: probabilities exactly those of the counts",
        "Largest change no probability is more than 0.2 from",
        "Order of values MaritalStatus: from one value to the next P(favourable) does not rise",
        "No δ-fair model of these counts, whether or not it keeps to these conditions, is more than",
    ):
        assert piece in said
    written = json.loads(fair.read_text())
    assert written["repair"]["conditions"] == {
        "keep": ["Age"],
        "largest_change": 0.2,
        "rising": [],
        "falling": ["MaritalStatus"],
    }
    age = next(a for a in written["attributes"] if a["name"] == "Age")
    assert "likelihood" not in age
    assert auditor("audit", fair, "--delta", "0.1").code == 0
    assert auditor("verify", proof, "--model", fair).code == 0
    assert auditor("report", fair, "-o", tmp_path / "fair.md").code == 0
    assert "Kept" in (tmp_path / "fair.md").read_text()


def test_two_criteria_are_met_at_once_recorded_and_shown(auditor: Auditor, tmp_path: Path) -> None:
    """Here neither asks for all of it: the difference alone leaves more likelihood, and so does the ratio."""
    fair, proof = tmp_path / "fair.json", tmp_path / "proof.json"
    rules = ("--delta", "0.05", "--also", "ratio:0.1")
    run = auditor("repair", COMPAS, *rules, "--prove", proof, "--gap", "1", "-o", fair)
    assert run.code == 0
    said = " ".join(run.out.split())
    assert "is open" not in said, "what the ratio costs is no part of the gap that is aimed at"
    for piece in (
        "δ-fair by the difference at δ = 0.05 and by the ratio at δ = 0.1, proved by an exact search",
        "Fair too at δ = 0.1, by the ratio: 1 minus the smaller",
        "patterns by it before: 3,218, after: 0",
        "-207,519.5435",
        "No δ-fair model of these counts, whether or not it is fair by the ratio too, is more than",
    ):
        assert piece in said
    assert "patterns left, 3,218 by the ratio" in " ".join(run.err.split())
    assert json.loads(fair.read_text())["repair"]["also"] == {"criterion": "ratio", "delta": 0.1}
    assert auditor("audit", fair, "--delta", "0.05").code == 0
    assert auditor("audit", fair, "--delta", "0.1", "--criterion", "ratio").code == 0
    assert auditor("verify", proof, "--model", fair).code == 0
    assert auditor("report", fair, "-o", tmp_path / "fair.md").code == 0
    assert "by the ratio" in (tmp_path / "fair.md").read_text()
    # A certificate states one of them, and names the command for the other.
    stated = {"difference": ("--delta", "0.05"), "ratio": ("--criterion", "ratio", "--delta", "0.1")}
    for own, other in (("difference", "ratio"), ("ratio", "difference")):
        run = auditor("certify", fair, *stated[own], "-o", tmp_path / f"{own}.json")
        assert run.code == 0
        assert f"It states the {own} only" in run.err
        assert f"--criterion {other} --delta {stated[other][-1]}." in run.err
    # One alone doesn't give the other.
    assert auditor("repair", COMPAS, "--delta", "0.05", "-o", fair).code == 0
    assert auditor("audit", fair, "--delta", "0.1", "--criterion", "ratio").code == 1

    run = auditor("frontier", COMPAS, "--deltas", "0.05,0.1", "--also", "ratio:0.1", "--format", "json")
    document = json.loads(run.out)
    assert document["also"] == {"criterion": "ratio", "delta": "0.1", "patterns_before": 3218}
    # From there on the ratio is what counts.
    assert [point["log_likelihood"] for point in document["points"]] == pytest.approx(
        [-207519.5435, -207518.2905], abs=1e-3
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ratio"], 2, 'also: "ratio" is no criterion with its own δ; give difference or ratio, a colon and'),
        (["ratio: "], 2, 'also: "ratio: " is no criterion with its own δ'),
        (["ratio:1.5"], 2, 'also: "1.5" is not a decimal number'),
        (["odds:0.1"], 2, 'also: "odds:0.1" is no criterion with its own δ'),
        (["difference:0.2"], 2, "also: δ = 0.1 limits the difference already"),
        (["ratio:0.2", "--margin", "0.9"], 2, "--margin goes without --also"),
        (["ratio:0.2", "--method", "independent"], 2, "go with --method fair"),
    ],
)
def test_a_second_criterion_that_is_none(
    auditor: Auditor, arguments: list[str], code: int, message: str
) -> None:
    run = auditor("repair", COMPAS, "--delta", "0.1", "--also", *arguments)
    assert (run.code, run.out) == (code, "")
    assert message in run.err


def test_conditions_that_cannot_be(auditor: Auditor, tmp_path: Path) -> None:
    fair = tmp_path / "fair.json"
    run = auditor("repair", COMPAS, "--delta", "0.1", "--largest-change", "0.01", "-o", fair)
    assert (run.code, run.out, fair.exists()) == (5, "", False)
    assert "no model was found that is fair and keeps to the conditions, and there may be none" in run.err
    wrong = ("--keep", "Age,Agee", "--monotone", "Sx", "--largest-change", "0")
    run = auditor("repair", COMPAS, "--delta", "0.1", *wrong)
    assert run.code == 3
    assert 'keep: "Agee" is no attribute of COMPAS; monotone: "Sx" is no attribute' in run.err
    assert "largest change: 0 leaves nothing to repair" in run.err
    run = auditor("repair", COMPAS, "--delta", "0.1", "--method", "independent", "--keep", "Age")
    assert run.code == 2
    run = auditor("repair", EXAMPLES / "german_scorecard.yaml", "--delta", "0.1", "--keep", "Age")
    assert run.code == 3
    assert "conditions on what is learned from counts, and this is a scorecard" in run.err
