"""Scorecards from the command line: imported, given shares, audited, converted."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from auditor.model.cutoff import Cutoff
from auditor.model.reading import load_model
from auditor.model.scorecard import ScorecardSpec
from auditor.model.writing import dump_model
from tests.cli.conftest import EXAMPLES, Auditor
from tests.search.test_approvals import rate

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


@pytest.mark.parametrize("meaning", MEANINGS)
def test_the_command_on_the_cover_gives_the_same_figures(
    auditor: Auditor, meaning_of: Callable[[str], Path], tmp_path: Path, meaning: str
) -> None:
    asked = ("--undisclosed", meaning)
    path = meaning_of(meaning)
    assert auditor("audit", path, "--delta", "0.1", "-o", tmp_path / "report.html").code == 1
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"auditor audit MODEL --delta 0.1 --undisclosed {meaning}" in re.sub(r"<[^>]*>", "", page)
    again = json.loads(auditor("audit", path, "--delta", "0.1", *asked, "--format", "json").out)
    assert again["model"]["sha256"] in page


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
    spec = load_model(card)
    assert isinstance(spec, ScorecardSpec)
    cutoff = Cutoff("50 points", exponent=spec.exponent_at(Decimal(50)))
    old = float(rate(spec.classifier(), cutoff, ((0, 1),)))
    assert [group["approved"] for group in found["groups"][0]["groups"]] == [0.0, pytest.approx(old)]
    assert 0.4 < old < 0.8
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


def test_data_that_give_shares_are_written_in_any_way(auditor: Auditor, card: Path) -> None:
    folder = card.parent
    told = ("import", folder / "points.csv", "--sensitive", "age", "--pdo", "20", "--offset", "50")
    (folder / "people.txt").write_text(
        "age|home\n20,0|own\n25,5|rent\n40|own\n1.050|own\nk. A.|rent\n", encoding="latin-1"
    )
    asked = ("--separator", "|", "--decimal", ",", "--thousands", ".", "--encoding", "latin-1")
    run = auditor(*told, "--data", folder / "people.txt", *asked, "--missing", "k. A.")
    assert run.code == 0, run.err
    shares = [[v["share"] for v in a["values"]] for a in json.loads(run.out)["attributes"]]
    assert shares == [[0.5, 0.5], [0.6, 0.4]]
    import duckdb

    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM '{folder / 'people.csv'}'")
    url = f"duckdb:///{folder / 'people.duckdb'}"
    run = auditor(*told, "--from", url, "--sql", "SELECT * FROM people WHERE home = 'own'")
    assert [[v["share"] for v in a["values"]] for a in json.loads(run.out)["attributes"]] == [
        [pytest.approx(1 / 3), pytest.approx(2 / 3)],
        [1, 0],
    ]
    assert auditor(*told, "--data", folder / "people.csv", "--from", url, "--table", "people").code == 2
    assert auditor("import", TABLE, "--sensitive", "age", "--sql", "SELECT 1").code == 2


def test_points_may_speak_against(auditor: Auditor, card: Path) -> None:
    folder = card.parent
    told = ("import", folder / "points.csv", "--sensitive", "age", "--pdo", "20", "--offset", "50")
    run = auditor(
        *told, "--data", folder / "people.csv", "--higher", "unfavourable", "-o", folder / "bad.json"
    )
    assert run.code == 0
    good, bad = (load_model(path) for path in (card, folder / "bad.json"))
    assert isinstance(good, ScorecardSpec)
    assert isinstance(bad, ScorecardSpec)
    for z in ((), ((0, 0), (1, 1)), ((1, 0),)):
        assert good.classifier().probability(z) + bad.classifier().probability(z) == pytest.approx(1)
    # What was written says how it is read.
    run = auditor("convert", folder / "bad.json", "-o", folder / "bad.csv")
    assert "--pdo=20 --offset=50 --odds=1 --higher unfavourable" in run.err
    assert auditor("convert", folder / "bad.json", "-o", folder / "bad.pmml").code == 0
    for suffix, given in (("csv", ("--pdo=20", "--offset=50", "--higher", "unfavourable")), ("pmml", ())):
        again = folder / f"again-{suffix}.json"
        run = auditor("import", folder / f"bad.{suffix}", "--sensitive", "age", *given, "-o", again)
        assert run.code == 0, run.err
        found = load_model(again)
        assert isinstance(found, ScorecardSpec)
        assert found.classifier().sha256() == bad.classifier().sha256()
    run = auditor("import", folder / "bad.pmml", "--sensitive", "age", "--higher", "favourable")
    assert (run.code, "says itself what its scores speak for" in run.err) == (3, True)


def test_a_card_goes_to_scikit_learn_and_back(auditor: Auditor, card: Path) -> None:
    pytest.importorskip("skops.io", reason="needs the extra delta-fair[sklearn]")
    path, again = card.parent / "card.skops", card.parent / "again.json"
    assert auditor("convert", card, "-o", path).code == 0
    told = ("import", path, "--sensitive", "age", "--favourable", "non-event", "--decision", "loan")
    run = auditor(*told, "--data", card.parent / "people.csv", "-o", again)
    assert run.code == 0, run.err
    ours, theirs = load_model(card), load_model(again)
    assert isinstance(ours, ScorecardSpec)
    assert isinstance(theirs, ScorecardSpec)
    assert theirs.decision.name == "loan"
    for z in ((), ((0, 0), (1, 1)), ((1, 0),)):
        gap = ours.classifier().probability(z) - theirs.classifier().probability(z)
        assert abs(gap) < Decimal("1e-12")
    run = auditor(*told, "--higher", "favourable")
    assert (run.code, "leave --higher out" in run.err) == (3, True)


def test_an_explainable_boosting_machine_is_imported_and_audited(auditor: Auditor, tmp_path: Path) -> None:
    file = Path(__file__).parents[1] / "data" / "scorecards" / "interpret.ebm.json"
    path = tmp_path / "model.yaml"
    run = auditor("import", file, "--sensitive", "age", "--favourable", "0", "-o", path)
    assert run.code == 0, run.err
    document = json.loads(auditor("audit", path, "--delta", "0.1", "--format", "json").out)
    assert document["verdict"] == "not-delta-fair"
    run = auditor("import", card_file := EXAMPLES / "compas.json", "--sensitive", "age")
    assert (run.code, f"{card_file}: is no model that interpret" in run.err) == (3, True)


def test_of_what_is_no_input_it_says_that_nothing_is_found(auditor: Auditor) -> None:
    for run in (
        auditor("import", TABLE, "--intercept=-0.8", "--sensitive", "gender"),
        auditor("audit", CARD, "--delta", "0.1", "--sensitive", "gender"),
    ):
        assert run.code == 3
        assert "Of attributes that aren't inputs of the scorecard this question finds nothing" in run.err
        assert "learn a model of them from a table that has both" in run.err


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


def test_a_repaired_card_is_audited_certified_reported_and_written_for_others(
    auditor: Auditor, tmp_path: Path
) -> None:
    fair, summary = tmp_path / "fair.yaml", tmp_path / "repair.json"
    run = auditor("repair", CARD, "--delta", "0.1", "--format", "json", "-o", fair)
    assert run.code == 0, run.err
    summary.write_text(run.out, encoding="utf-8")
    assert json.loads(run.out)["patterns_after"] == 0
    assert auditor("audit", fair, "--delta", "0.1").code == 0
    shown = auditor("repair", CARD, "--delta", "0.1", "-o", tmp_path / "again.yaml")
    assert "points or weights that moved" in shown.out
    assert fair.read_bytes() == (tmp_path / "again.yaml").read_bytes()
    reports: list[list[str | Path]] = [
        ["report", fair, "-o", tmp_path / "fair.md"],
        ["report", summary, "--model", fair, "-o", tmp_path / "summary.md"],
        ["audit", fair, "--delta", "0.1", "-o", tmp_path / "audit.md"],
    ]
    for report in reports:
        assert auditor(*report).code == 0
        text = Path(report[-1]).read_text(encoding="utf-8")
        assert "What the repair changed" in text
        assert "The population that conforms with the scorecard was learned again" in text
        assert "| sex\\_status | A91 | 0.355654175 | 0.169865541 |" in text
    assert "of those rounds only the last is listed" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    certified = tmp_path / "certificate.json"
    terms = ("--issuer", "I", "--responsible", "R")
    assert auditor("certify", fair, "--delta", "0.1", *terms, "-o", certified).code == 0
    assert auditor("verify", certified, "--model", fair).code == 0
    retrained = tmp_path / "retrained.yaml"
    assert auditor("repair", CARD, "--delta", "0.05", "-o", retrained).code == 0
    renewed = ("recertify", certified, retrained, "--unverified-predecessor", "-o", tmp_path / "new.json")
    assert auditor(*renewed).code == 0
    assert auditor("verify", tmp_path / "new.json", "--model", retrained).code == 0
    unfair = auditor("recertify", certified, CARD, "--unverified-predecessor", "-o", tmp_path / "unfair.json")
    assert unfair.code == 1
    assert "not δ-fair" in unfair.out + unfair.err
    for suffix in ("pmml", "csv"):
        assert auditor("convert", fair, "-o", tmp_path / f"fair.{suffix}").code == 0


def test_a_card_that_cannot_be_repaired_says_why(
    auditor: Auditor, meaning_of: Callable[[str], Path], tmp_path: Path
) -> None:
    for meaning in ("missing-bin", "declared"):
        run = auditor("repair", meaning_of(meaning), "--delta", "0.1", "-o", tmp_path / "fair.json")
        assert run.code == 3
        assert 'write "undisclosed": "conforming"' in run.err
    proof = ("--prove", tmp_path / "proof.json", "-o", tmp_path / "fair.json")
    run = auditor("repair", CARD, "--delta", "0.1", *proof)
    assert run.code == 3
    assert "give a naive Bayes model" in run.err


def test_a_fleet_of_scorecards(auditor: Auditor, meaning_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    folder.mkdir()
    for meaning in MEANINGS:
        meaning_of(meaning).rename(folder / f"{meaning}.json")
    shutil.copy(EXAMPLES / "german_scorecard_fair.yaml", folder / "fair.yaml")
    asked = ("--delta", "0.1", "--jobs", "1", "--reports", tmp_path / "reports", "--format", "jsonl")
    run = auditor("fleet", folder, *asked)
    assert run.code == 1
    found = map(json.loads, run.out.splitlines())
    rows = {Path(row["file"]).stem: row["answer"] for row in found}
    assert rows["fair"]["verdict"] == "delta-fair"
    for meaning, (_, count) in MEANINGS.items():
        assert (rows[meaning]["verdict"], rows[meaning]["pattern_count"]) == ("not-delta-fair", count)
    assert len([*(tmp_path / "reports").iterdir()]) == 4
