"""A repair with margin: the next model, not repaired, is δ-fair often enough, as other draws confirm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from auditor import repair
from auditor.errors import InputError, RepairError
from auditor.model.reading import load_model
from auditor.model.spec import ModelSpec
from auditor.repair.repairing import Repaired
from auditor.report.repairs import render, result_line
from auditor.usecases.stability import stability
from tests.cli.conftest import EXAMPLES, Auditor

DRAWS = 60


def counted(rows: int) -> dict[str, Any]:
    """A sensitive attribute that the decision depends on, and another."""

    def attribute(name: str, *, sensitive: bool, first: int, second: int) -> Mapping[str, Any]:
        return {
            "name": name,
            "values": ["u", "v"],
            "sensitive": sensitive,
            "counts": {
                "favourable": [first * rows, (10 - first) * rows],
                "unfavourable": [second * rows, (10 - second) * rows],
            },
        }

    return {
        "kind": "auditor/model",
        "version": 1,
        "name": "small",
        "decision": {
            "name": "d",
            "favourable": "yes",
            "unfavourable": "no",
            "counts": {"favourable": 10 * rows, "unfavourable": 10 * rows},
        },
        "attributes": [
            attribute("a", sensitive=True, first=7, second=4),
            attribute("b", sensitive=False, first=6, second=3),
        ],
    }


@pytest.fixture(scope="module")
def made() -> Repaired:
    return repair(ModelSpec.model_validate(counted(100)), "0.05", margin="0.8", draws=DRAWS, seed=3)


def test_the_next_model_is_fair_often_enough(made: Repaired) -> None:
    margin = made.summary.margin
    assert margin
    assert (margin.delta, margin.wanted, margin.complete) == ("0.05", "0.8", True)
    assert 0 < float(made.summary.delta) < 0.05
    assert margin.probability[0] >= 0.8
    assert made.summary.patterns_after == 0
    # What an independent command draws by the same seed.
    assert isinstance(made.model, ModelSpec)
    again = stability(made.model, "0.05", draws=DRAWS, seed=margin.seed, jobs=1).next_model
    assert (again.delta_fair, again.probability) == (margin.delta_fair, margin.probability)


def test_the_next_larger_threshold_does_not_do(made: Repaired) -> None:
    """The search found the largest: of a hundredth more too many draws weren't fair, by the same seed."""
    margin = made.summary.margin
    assert margin
    searched = {round(2000 * float(t.delta)): t for t in margin.tried if t.seed == 3}
    assert margin.seed > 3
    largest = max(part for part, t in searched.items() if t.draws == DRAWS and part + 1 in searched)
    assert largest >= round(2000 * float(made.summary.delta))
    above = searched[largest + 1]
    assert above.draws - above.delta_fair > DRAWS - margin.delta_fair
    # Draws end once too many aren't fair.
    assert margin.tried[-1].delta == made.summary.delta


def test_the_record_and_the_words(made: Repaired) -> None:
    margin, record = made.summary.margin, made.model.repair
    assert margin
    assert record
    assert record.margin
    assert (record.margin.draws, record.margin.seed) == (DRAWS, margin.seed)
    assert float(record.margin.at_least) == pytest.approx(margin.probability[0])
    shown = " ".join(render(made.summary, "text").split())
    assert "retraining risk" in shown
    assert "about half would be above it" in shown
    assert "certain" not in shown
    assert "the next model is δ-fair at δ = 0.05 with a probability of at least" in result_line(made.summary)


def test_no_time() -> None:
    with pytest.raises(RepairError, match="time limit"):
        repair(ModelSpec.model_validate(counted(100)), "0.05", margin="0.8", draws=DRAWS, time_limit=0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"margin": "0"}, "between 0 and 1"),
        ({"margin": "0.99", "draws": 20}, "give more draws"),
        ({"margin": "0.5", "draws": 0}, "draws"),
        ({"margin": "0.5", "seed": -1}, "seed"),
        ({"margin": "0.5", "method": "independent"}, "δ-fair naive Bayes"),
    ],
)
def test_what_can_not_be_asked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        repair(ModelSpec.model_validate(counted(100)), "0.05", **options)


def test_scorecards_and_a_threshold_of_0() -> None:
    with pytest.raises(InputError, match="naive Bayes"):
        repair(load_model(EXAMPLES / "german_scorecard.yaml"), "0.05", margin="0.5")
    with pytest.raises(InputError, match="nothing inside"):
        repair(ModelSpec.model_validate(counted(100)), "0", margin="0.5")


def test_on_the_command_line(auditor: Auditor, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(json.dumps(counted(1)), encoding="utf-8")
    run = auditor("repair", model, "--delta", "0.01", "--margin", "0.9", "--draws", DRAWS)
    assert (run.code, run.out) == (5, "")
    assert "learn from more people" in run.err
    for more, code in (
        (("--draws", "5"), 2),
        (("--margin", "2"), 2),
        (("--margin", "0.5", "--method", "independent"), 2),
        (("--margin", "1"), 3),
    ):
        run = auditor("repair", model, "--delta", "0.01", *more)
        assert (run.code, run.out) == (code, "")
        assert "Traceback" not in run.err
    run = auditor("repair", EXAMPLES / "german_scorecard.yaml", "--delta", "0.01", "--margin", "0.5")
    assert run.code == 3
