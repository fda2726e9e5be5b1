"""How far a verdict reaches, from the command line: boxes, more rows, populations."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor import audit, load_model
from auditor.errors import InputError
from auditor.model.additive import AdditiveModel
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from tests.cli.conftest import EXAMPLES, Auditor
from tests.cli.test_audit import valid

COMPAS, CARD = EXAMPLES / "compas.json", EXAMPLES / "german_scorecard.yaml"


def exact_of(path: Path) -> AdditiveModel:
    model = load_model(str(path))
    assert isinstance(model, ScorecardSpec)
    found = model.classifier()
    assert isinstance(found, AdditiveModel)
    return found


def far(auditor: Auditor, code: int, *arguments: str | Path) -> dict[str, Any]:
    run = auditor("audit", *arguments, "--format", "json")
    assert run.code == code, run.err
    found: dict[str, Any] = valid(run.out, "audit")["how_far"]
    return found


@pytest.mark.parametrize(
    ("delta", "options", "code", "verdicts"),
    [
        ("0.42", ("--idm", "1"), 0, ["all-delta-fair"]),
        ("0.42", ("--box", "0.001"), 0, ["all-delta-fair"]),
        # The model itself is δ-fair, and others aren't.
        ("0.42", ("--box", "0.1"), 1, ["varies"]),
        ("0.42", ("--box", "0.1", "--idm", "1"), 1, ["varies", "all-delta-fair"]),
        ("0.1", ("--box", "0.1"), 1, ["none-delta-fair"]),
        # The model itself isn't δ-fair, and others are.
        ("0.4", ("--box", "0.1"), 1, ["varies"]),
        ("0.42", ("--largest-box",), 0, []),
    ],
)
def test_exit_codes_and_verdicts(
    auditor: Auditor, delta: str, options: tuple[str, ...], code: int, verdicts: list[str]
) -> None:
    found = far(auditor, code, COMPAS, "--delta", delta, *options)
    assert [models["verdict"] for models in found["sets"]] == verdicts
    for models in found["sets"]:
        (some, most), (every, at_most) = models["patterns_in_some"], models["patterns_in_every"]
        assert (some, every, models["not_counted"]) == (most, at_most, None)
        assert (some > 0) == (models["verdict"] != "all-delta-fair")
        assert (every > 0) == (models["verdict"] == "none-delta-fair")


def test_what_is_left_open_is_never_fair(auditor: Auditor) -> None:
    model = EXAMPLES / "german.json"
    run = auditor("audit", model, "--delta", "0.45", "--box", "0.05", "--time-limit", "0", "--format", "json")
    document = json.loads(run.out)
    assert run.code == 4
    (models,) = document["how_far"]["sets"]
    assert models["verdict"] == "inconclusive"
    low, high = models["max_degree_bounds"]
    assert low < high
    assert low >= document["max_degree_bounds"][0]
    assert models["patterns_in_every"][0] == 0 < models["patterns_in_some"][1]
    assert models["not_counted"]
    shown = auditor("audit", model, "--delta", "0.45", "--box", "0.05", "--time-limit", "0").out
    assert "not decided within the limits" in shown
    assert "(found), at most" in " ".join(shown.split())


#: The largest degree that any model of one or two more rows has, with all counts, a tenth and a hundredth.
MORE_ROWS = [("1", 1, 0.40674), ("2", 1, 0.40691), ("2", 10, 0.4100), ("2", 100, 0.439)]


@pytest.mark.parametrize(("rows", "part", "degree"), MORE_ROWS)
def test_more_rows(rows: str, part: int, degree: float) -> None:
    """COMPAS, with counts that are a part of what they are."""
    spec = load_model(COMPAS)
    assert isinstance(spec, ModelSpec)
    tree = spec.model_dump()
    for holder in (tree["decision"], *tree["attributes"]):
        for side, numbers in holder["counts"].items():
            holder["counts"][side] = (
                tuple(n / part for n in numbers) if isinstance(numbers, tuple) else numbers / part
            )
    document = audit(ModelSpec.model_validate(tree), "0.1", idm=rows)
    assert document.how_far
    (models,) = document.how_far.sets
    assert models.max_degree == pytest.approx(degree, abs=5e-4 if degree == 0.439 else 5e-5)
    assert document.max_degree == pytest.approx(0.4066, abs=5e-5)


def test_the_largest_box_holds_and_the_next_does_not(auditor: Auditor) -> None:
    box = far(auditor, 0, COMPAS, "--delta", "0.42", "--largest-box")["largest_box"]
    assert box["verdict"] == "delta-fair"
    assert box["refuted"]
    (holds,) = far(auditor, 0, COMPAS, "--delta", "0.42", "--box", box["holds"])["sets"]
    assert holds["verdict"] == "all-delta-fair"
    (beyond,) = far(auditor, 1, COMPAS, "--delta", "0.42", "--box", box["beyond"])["sets"]
    assert beyond["verdict"] == "varies"


def test_every_population_of_a_scorecard(auditor: Auditor) -> None:
    populations = far(auditor, 1, CARD, "--delta", "0.2", "--any-population")["every_population"]
    assert populations["verdict"] == "varies"
    # The scorecard in its likeliest population is δ-fair there.
    assert auditor("audit", CARD, "--delta", "0.2").code == 0
    assert far(auditor, 0, CARD, "--delta", "0.32", "--any-population")["every_population"]["verdict"] == (
        "all-delta-fair"
    )
    assert populations["max_degree"] == pytest.approx(0.3158, abs=1e-4)


@pytest.mark.parametrize(
    ("delta", "options", "code", "verdicts"),
    [
        ("0.2", ("--box", "0.01"), 0, ["all-delta-fair"]),
        ("0.2", ("--box", "0.05", "--rounding"), 1, ["varies", "all-delta-fair"]),
        ("0.1", ("--box", "0.01"), 1, ["none-delta-fair"]),
        ("0.166", ("--box", "0.01"), 1, ["varies"]),
        ("0.1", ("--rounding", "--undisclosed", "missing-bin"), 1, ["none-delta-fair"]),
    ],
)
def test_scorecards_about_a_scorecard(
    auditor: Auditor, delta: str, options: tuple[str, ...], code: int, verdicts: list[str]
) -> None:
    found = far(auditor, code, CARD, "--delta", delta, *options)
    assert [cards["verdict"] for cards in found["cards"]] == verdicts
    assert found["sets"] == []
    run = auditor("audit", CARD, "--delta", delta, *options)
    assert ("Scorecards within a factor of 1.0" in run.out) == ("--box" in options)
    assert ("Scorecards before rounding" in run.out) == ("--rounding" in options)


def test_half_a_unit_of_many_places_is_told_by_its_place(auditor: Auditor, tmp_path: Path) -> None:
    values = [{"value": v, "weight": f"0.{'1' * 31}{v}", "share": 0.5} for v in ("1", "2")]
    card = tmp_path / "card.json"
    tree = {
        "kind": "auditor/scorecard",
        "version": 1,
        "name": "fine",
        "decision": {"name": "D", "favourable": "good", "unfavourable": "bad"},
        "intercept": 0,
        "attributes": [{"name": "a", "sensitive": True, "values": values}],
    }
    card.write_text(re.sub('"(0.1+[12])"', r"\1", json.dumps(tree)))
    run = auditor("audit", card, "--delta", "0.1", "--rounding")
    said = " ".join(run.out.split())
    assert (
        "Scorecards before rounding, by up to half a unit of decimal place 32: every one is δ-fair." in said
    )
    assert "is within half a unit of decimal place 32 of the audited one’s, in any combination." in said
    found = far(auditor, 0, card, "--delta", "0.1", "--rounding")
    assert [cards["size"] for cards in found["cards"]] == [f"0.{'0' * 32}5"]


def test_no_set_of_scorecards_is_told_to_reach_less_than_the_audited_one(auditor: Auditor) -> None:
    (cards,) = far(auditor, 0, CARD, "--delta", "0.2", "--box", "0.01", "--time-limit", "0")["cards"]
    audited = json.loads(auditor("audit", CARD, "--delta", "0.2", "--format", "json").out)["max_degree"]
    assert cards["worst"]["side"] == 0
    assert 0.16 < cards["max_degree"] <= audited < cards["max_degree_bounds"][1]


def test_the_largest_box_about_a_scorecard_and_what_is_said_of_it(auditor: Auditor, tmp_path: Path) -> None:
    box = far(auditor, 0, CARD, "--delta", "0.2", "--largest-box")["largest_box"]
    assert (box["verdict"], box["refuted"]) == ("delta-fair", True)
    (holds,) = far(auditor, 0, CARD, "--delta", "0.2", "--box", box["holds"])["cards"]
    (beyond,) = far(auditor, 1, CARD, "--delta", "0.2", "--box", box["beyond"])["cards"]
    assert (holds["verdict"], beyond["verdict"]) == ("all-delta-fair", "varies")
    assert holds["max_degree"] <= 0.2 < beyond["max_degree"]
    stored = tmp_path / "audit.json"
    run = auditor(
        "audit", CARD, "--delta", "0.2", "--box", "0.1", "--rounding", "--largest-box", "-o", stored
    )
    assert "scorecards within a factor of 1.1: not all are δ-fair" in run.err
    assert auditor("report", stored, "-o", tmp_path / "audit.html").code == 0
    page = re.sub("</?span[^>]*>", "", (tmp_path / "audit.html").read_text(encoding="utf-8"))
    assert " --box 0.1 --largest-box --rounding</p>" in page, "the command on the cover repeats it"
    assert "Among all scorecards whose numbers each multiply the odds" in page


def test_all_scorecards_that_round_to_the_written_one_are_among_them(
    tmp_path: Path, auditor: Auditor
) -> None:
    """Points before rounding at random, undisclosed as in a population whose unfavourable shares stay."""
    points, shares = [[12, -7, 3], [20, 5]], [[0.5, 0.2, 0.3], [0.35, 0.65]]
    card = {
        "kind": "auditor/scorecard",
        "version": 1,
        "name": "whole points",
        "decision": {"name": "loan", "favourable": "paid", "unfavourable": "not paid"},
        "scale": {"pdo": 20, "offset": 600, "odds": 30},
        "intercept": 560,
        "attributes": [
            {
                "name": name,
                "sensitive": name == "age",
                "values": [
                    {"value": f"v{v}", "points": own, "share": part}
                    for v, (own, part) in enumerate(zip(*row, strict=True))
                ],
            }
            for name, *row in zip(("age", "home"), points, shares, strict=True)
        ],
    }
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card))
    (found,) = far(auditor, 1, path, "--delta", "0.01", "--rounding")["cards"]
    assert (found["set"], found["size"]) == ("rounding", "0.5")
    unit = math.log(2) / 20
    of_all = [np.array([float(p) for p in a.population or ()]) for a in exact_of(path).attributes]
    rng = np.random.default_rng(5)
    largest = 0.0
    for trial in range(400):
        # Half of them at the corners.
        offs = [rng.uniform(-0.5, 0.5, len(row)) for row in points]
        offs = [np.sign(off) / 2 for off in offs] if trial % 2 else offs
        weights = [unit * (np.array(row) + off) for row, off in zip(points, offs, strict=True)]
        undisclosed = [math.log(p @ np.exp(w)) for p, w in zip(of_all, weights, strict=True)]
        start = math.log(30) + unit * (560 - 600 + rng.choice([-0.5, 0.5]))
        for x in weights[0]:
            for y in (undisclosed[1], *weights[1]):
                after, before = (1 / (1 + math.exp(-(start + y + z))) for z in (x, undisclosed[0]))
                largest = max(largest, abs(after - before))
    assert largest <= found["max_degree_bounds"][1]
    # The set has more than these: undisclosed numbers are free in it.
    assert largest >= 0.9 * found["max_degree"]


def test_the_question_changes_nothing_else(auditor: Auditor) -> None:
    plain = json.loads(auditor("audit", COMPAS, "--delta", "0.42", "--format", "json").out)
    asked = json.loads(
        auditor("audit", COMPAS, "--delta", "0.42", "--box", "0.01", "--largest-box", "--format", "json").out
    )
    assert asked.pop("how_far")
    assert plain.pop("how_far") is None
    for document in (plain, asked):
        document["search"].pop("seconds")
    assert asked == plain


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_it_is_shown(auditor: Auditor, form: str) -> None:
    run = auditor("audit", COMPAS, "--delta", "0.42", "--box", "0.1", "--largest-box", "--format", form)
    shown = " ".join(run.out.replace("*", "").split())
    for said in (
        "How far this reaches",
        "Models within a factor of 1.1: not all are δ-fair.",
        "The audited model is δ-fair, and at least one of the others isn’t.",
        "0.5444; δ = 0.42",
        "pairs of disclosure and context",
        "The verdict holds up to a factor of 1.008843.",
        "at ε = 0.008844 this is no longer so",
    ):
        assert said in shown
    assert "confidence" not in shown


def test_a_file_is_announced_with_all_verdicts(auditor: Auditor, tmp_path: Path) -> None:
    run = auditor("audit", COMPAS, "--delta", "0.42", "--box", "0.1", "-o", tmp_path / "audit.json")
    assert run.code == 1
    assert "δ-fair at δ = 0.42" in run.err
    assert "models within a factor of 1.1: not all are δ-fair" in run.err


def test_a_stored_audit_keeps_it(auditor: Auditor, tmp_path: Path) -> None:
    stored = tmp_path / "audit.json"
    auditor("audit", COMPAS, "--delta", "0.42", "--box", "0.1", "--largest-box", "-o", stored)
    for more in ((), ("--model", COMPAS)):
        for suffix in ("md", "html"):
            path = tmp_path / f"{len(more)}.{suffix}"
            run = auditor("report", stored, *more, "-o", path)
            assert "How far this reaches" in path.read_text(encoding="utf-8"), run.err
            assert "not all are δ-fair" in path.read_text(encoding="utf-8")
    page = re.sub("</?span[^>]*>", "", (tmp_path / "0.html").read_text(encoding="utf-8"))
    assert "Sex,Age --box 0.1 --largest-box</p>" in page, "the command on the cover repeats it"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((COMPAS, "--box", "-1"), 2, "--box"),
        ((COMPAS, "--box", "1001"), 2, "from 0 to 1000"),
        ((COMPAS, "--idm", "x"), 2, "--idm"),
        ((COMPAS, "--box", "0.1", "--min-probability", "0.01"), 3, "minimum probability"),
        (
            (
                COMPAS,
                "--any-population",
            ),
            3,
            "any population",
        ),
        ((CARD, "--idm", "1"), 3, "a scorecard has no counts"),
        ((CARD, "--box", "0.1", "--min-probability", "0.01"), 3, "minimum probability"),
        ((COMPAS, "--rounding"), 3, "rounding: it is of the numbers of a scorecard"),
        ((EXAMPLES / "figure1.json", "--idm", "1"), 3, "idm"),
    ],
)
def test_what_can_not_be_asked(
    auditor: Auditor, arguments: tuple[str | Path, ...], code: int, said: str
) -> None:
    run = auditor("audit", *arguments, "--delta", "0.1")
    assert run.code == code
    assert said in run.err
    assert not run.out


def test_a_repaired_model_has_no_more_rows(auditor: Auditor, tmp_path: Path) -> None:
    fair = tmp_path / "fair.json"
    assert auditor("repair", COMPAS, "--delta", "0.1", "-o", fair).code == 0
    run = auditor("audit", fair, "--delta", "0.1", "--idm", "1")
    assert run.code == 3
    assert "repaired" in run.err
    # It lies next to δ, so that hardly a box about it is fair.
    box = far(auditor, 0, fair, "--delta", "0.1", "--largest-box")["largest_box"]
    assert float(box["holds"]) < 1e-6


def test_options_from_python() -> None:
    document = audit(load_model(COMPAS), "0.42", box="0.1", largest_box=True)
    assert document.how_far
    assert document.how_far.verdicts == ("varies",)
    with pytest.raises(InputError):
        audit(load_model(COMPAS), "0.42", box=-1)


def test_a_report_with_the_model_computes_what_is_beyond_it_anew(auditor: Auditor, tmp_path: Path) -> None:
    model, stored = str(EXAMPLES / "figure1.json"), tmp_path / "audit.json"
    asked = ("--delta", "0.3", "--box", "0.05", "--largest-box", "-f", "json")
    document: Any = valid(auditor("audit", model, *asked).out, "audit")
    holds = document["how_far"]["largest_box"]["holds"]
    document["how_far"]["largest_box"]["holds"] = "0.1896"
    stored.write_text(json.dumps(document), encoding="utf-8")
    for more, told in (((), "0.1896"), (("--model", model), holds)):
        assert auditor("report", str(stored), *more, "-o", str(tmp_path / "r.md")).code == 0
        assert f"verdict holds up to ε = {told} |" in (tmp_path / "r.md").read_text(encoding="utf-8")
    assert holds != "0.1896"


def test_so_it_does_of_a_scorecard(auditor: Auditor, tmp_path: Path) -> None:
    card, stored = str(EXAMPLES / "german_scorecard.yaml"), tmp_path / "audit.json"
    asked = ("--delta", "0.1", "--box", "0.01", "--rounding", "--largest-box")
    assert auditor("audit", card, *asked, "-o", stored).code == 1
    pages = []
    for more in ((), ("--model", card)):
        assert auditor("report", stored, *more, "-o", tmp_path / "r.md").code == 0
        text = (tmp_path / "r.md").read_text(encoding="utf-8")
        pages.append(text[text.index("How far this reaches") :].split("##")[0])
    assert pages[0] == pages[1]
    assert auditor("report", stored, "-o", tmp_path / "r.html").code == 0
    page = re.sub("</?span[^>]*>", "", (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "--box 0.01 --largest-box --rounding</p>" in page, "the command on the cover repeats it"
    assert "scorecards within a factor of 1.01" in pages[0].lower()
    assert "scorecards before rounding" in pages[0].lower()
