"""Scorecards from the command line: imported, given shares, audited, converted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.model.reading import load_model
from auditor.model.scorecard import ScorecardSpec
from auditor.model.writing import dump_model
from tests.cli.conftest import EXAMPLES, Auditor

CARD = EXAMPLES / "german_scorecard.yaml"
TABLE = EXAMPLES / "german_scorecard.csv"
POINTS = 'Variable,Bin,Points\nage,"[-inf,30)",10\nage,"[30,inf)",30\nhome,own,25\nhome,rent,5\n'
PEOPLE = "age,home\n20,own\n25,rent\n40,own\n50,own\n"


@pytest.fixture
def card(auditor: Auditor, tmp_path: Path) -> Path:
    """A scorecard with shares from data."""
    (tmp_path / "points.csv").write_text(POINTS, encoding="utf-8")
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    path = tmp_path / "card.json"
    run = auditor(
        "import", tmp_path / "points.csv", "--sensitive", "age", "--pdo", "20", "--offset", "50",
        "--data", tmp_path / "people.csv", "-o", path,
    )  # fmt: skip
    assert run.code == 0, run.err
    return path


def test_the_example_is_the_table_of_optbinning(auditor: Auditor, tmp_path: Path) -> None:
    path = tmp_path / "again.yaml"
    run = auditor(
        "import", TABLE, "--intercept=-0.8418148234251006", "--sensitive", "sex_status,age",
        "--favourable", "non-event", "--decision", "bad risk",
        "--name", "German credit scorecard", "-o", path,
    )  # fmt: skip
    assert run.code == 0
    assert path.read_text(encoding="utf-8") == CARD.read_text(encoding="utf-8")


def test_an_audit_names_what_is_not_disclosed(auditor: Auditor) -> None:
    run = auditor("audit", CARD, "--delta", "0.1", "--format", "json")
    assert run.code == 1
    document = json.loads(run.out)
    assert document["pattern_count"] == 3712
    assert document["model"]["undisclosed"] == "conforming"
    assert len(document["scorecard"]["attributes"]) == 6
    for form in ("text", "markdown"):
        shown = auditor("audit", CARD, "--delta", "0.1", "--format", form)
        assert "likeliest" in shown.out
        assert "3,712 of 76,000" in shown.out
    assert auditor("audit", CARD, "--delta", "0.2").code == 0


#: What is said of each meaning, and its count at δ = 0.1 of the example.
MEANINGS = {
    "conforming": ("likeliest population", 3712),
    "missing-bin": ("bin of missing values", 3704),
    "declared": ("as its author has declared", 3704),
}


@pytest.fixture
def meaning_of(tmp_path: Path) -> Callable[[str], Path]:
    """The example under one meaning of what isn't disclosed; declared are the points of missing values."""

    def written(meaning: str) -> Path:
        tree = load_model(CARD).model_dump(exclude_none=True) | {"undisclosed": meaning}
        if meaning == "declared":
            for attribute in tree["attributes"]:
                missing = [v for v in attribute["values"] if v.get("bin") == "missing"]
                attribute["undisclosed"] = missing[0]["weight"]
        path = tmp_path / f"{meaning}.json"
        path.write_text(dump_model(ScorecardSpec.model_validate(tree)), encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("meaning", MEANINGS)
def test_each_meaning_is_named_and_none_is_mixed(
    auditor: Auditor, meaning_of: Callable[[str], Path], meaning: str
) -> None:
    words, count = MEANINGS[meaning]
    path = meaning_of(meaning)
    run = auditor("audit", path, "--delta", "0.1", "--format", "json")
    assert run.code == 1
    document = json.loads(run.out)
    assert document["model"]["undisclosed"] == document["scorecard"]["undisclosed"] == meaning
    assert document["pattern_count"] == count
    populated = meaning == "conforming"
    assert document["rank_by"] == ("divergence" if populated else "discrimination")
    listed = [*document["top_patterns"], document["worst_pattern"], *document["groups"][0]["groups"]]
    assert all((entry["probability"] is not None) == populated for entry in listed)
    assert bool(document["by_share"]) == bool(document["minimal_patterns"]) == populated
    assert any("no population is assumed" in reason for reason in document["search"]["reasons"]) != populated
    for form in ("text", "markdown", "csv"):
        shown = auditor("audit", path, "--delta", "0.1", "--format", form)
        assert shown.code == 1, shown.err
        if form != "csv":
            text = " ".join(shown.out.split())
            assert words in text
            assert not any(other in text for other, _ in MEANINGS.values() if other != words)


@pytest.mark.parametrize(
    "asked", [["--min-probability", "0.1"], ["--rank-by", "divergence"], ["--rank-by", "probability"]]
)
def test_what_takes_a_population_is_refused_without_one(
    auditor: Auditor, meaning_of: Callable[[str], Path], asked: list[str]
) -> None:
    for command in ("audit", "patterns"):
        run = auditor(command, meaning_of("missing-bin"), "--delta", "0.1", *asked)
        assert run.code == 3
        assert 'no population is assumed where what isn\'t disclosed is "missing-bin"' in run.err
    summary = auditor("patterns", meaning_of("missing-bin"), "--delta", "0.1", "--summary", "pareto")
    assert summary.code == 3
    assert "goes by probability" in summary.err


def test_where_sensitive_attributes_have_no_points_the_report_says_what_to_do(
    auditor: Auditor, card: Path
) -> None:
    tree = load_model(card).model_dump(exclude_none=True)
    for value in tree["attributes"][0]["values"]:
        value["points"] = 7
    path = card.parent / "flat.json"
    path.write_text(dump_model(ScorecardSpec.model_validate(tree)), encoding="utf-8")
    for form in ("text", "markdown"):
        run = auditor("audit", path, "--delta", "0.1", "--format", form)
        assert run.code == 0
        assert "This question can therefore find nothing" in " ".join(run.out.split())
    assert "can therefore find nothing" not in " ".join(auditor("audit", card, "--delta", "1").out.split())


def test_rates_of_approval_stand_beside_the_search(auditor: Auditor, card: Path) -> None:
    plain = json.loads(auditor("audit", card, "--delta", "0.1", "--format", "json").out)
    run = auditor("audit", card, "--delta", "0.1", "--cutoff", "50 points", "--format", "json")
    document = json.loads(run.out)
    found = document.pop("cutoff")
    assert plain.pop("cutoff") is None
    for one in (plain, document):
        one["search"].pop("seconds")
    assert document == plain
    # The old who own have 55 points, the young who do 35.
    assert found["unit"] == "points"
    assert [group["approved"] for group in found["groups"][0]["groups"]] == [0.0, pytest.approx(0.5, abs=0.5)]
    assert found["groups"][0]["pairs"][0]["ratio"] == 0.0
    assert {str(p["sensitive_values"]) for p in document["top_patterns"]} <= {
        str(p["sensitive_values"]) for p in found["patterns"]
    }
    for form in ("text", "markdown"):
        shown = auditor("audit", card, "--delta", "0.1", "--cutoff", "50 points", "--format", form)
        assert "a measure beside the search" in " ".join(shown.out.split())
    for wrong in ("all", "1e5"):
        assert auditor("audit", card, "--delta", "0.1", "--cutoff", wrong).code == 3
    assert auditor("audit", EXAMPLES / "compas.json", "--delta", "0.1", "--cutoff", "0.5").code == 3


def test_patterns_of_a_scorecard(auditor: Auditor) -> None:
    run = auditor("patterns", CARD, "--delta", "0.1", "--top", "5", "--format", "json")
    assert run.code == 0
    assert len(json.loads(run.out)["patterns"]) == 5


def test_shares_come_from_data(card: Path) -> None:
    spec = load_model(card)
    assert [[str(v["share"]) for v in a["values"]] for a in spec.model_dump()["attributes"]] == [
        ["0.5", "0.5"],
        ["0.75", "0.25"],
    ]


def test_cells_that_the_scorecard_has_not_are_refused(auditor: Auditor, card: Path) -> None:
    (card.parent / "people.csv").write_text(PEOPLE + "33,for free\n", encoding="utf-8")
    run = auditor(
        "import", card.parent / "points.csv", "--sensitive", "age", "--pdo", "20",
        "--data", card.parent / "people.csv",
    )  # fmt: skip
    assert run.code == 3
    assert '"for free", for which the scorecard has no value' in run.err


def test_without_shares_nothing_is_audited(auditor: Auditor, card: Path) -> None:
    path = card.parent / "bare.json"
    points = card.parent / "points.csv"
    assert auditor("import", points, "--sensitive", "age", "--pdo", "20", "-o", path).code == 0
    run = auditor("audit", path, "--delta", "0.1")
    assert run.code == 3
    assert "nothing says what an attribute counts that isn't disclosed" in run.err
    assert auditor("audit", card, "--delta", "0.1", "--undisclosed", "missing-bin").code == 3


@pytest.mark.parametrize("suffix", [".pmml", ".json", ".yaml"])
def test_what_is_converted_says_the_same(auditor: Auditor, card: Path, suffix: str) -> None:
    path = card.parent / f"converted{suffix}"
    assert auditor("convert", card, "-o", path).code == 0
    if suffix == ".pmml":
        again = card.parent / "again.json"
        assert auditor("import", path, "--sensitive", "age", "-o", again).code == 0
        path = again
    ours, theirs = load_model(card), load_model(path)
    assert ours.model_dump()["attributes"] == theirs.model_dump()["attributes"]
