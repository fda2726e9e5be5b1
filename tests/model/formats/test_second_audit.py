"""Scorecards of other shapes and other thresholds, audited a second time by going through everything."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from auditor.model.formats.scorecard_tables import read_table
from auditor.model.scorecard import Scale
from auditor.search.answer import answer
from auditor.search.question import Question
from tests.repair.test_scorecards import german, in_points, plain
from tests.scorecards import audited

SHARED = Path(__file__).parents[4] / "shared" / "cases" / "models" / "optbinning" / "german_scorecard.csv"
DELTAS = ("0", "0.02", "0.05", "0.1", "0.13", "0.16", "0.2")


@pytest.mark.skipif(not SHARED.exists(), reason="needs the scorecard in ../shared/cases")
@pytest.mark.parametrize("scaled", [False, True], ids=["log-odds", "pdo"])
def test_the_card_of_optbinning_at_other_thresholds(scaled: bool) -> None:
    scale = Scale(pdo=Decimal(20), offset=Decimal(600), odds=Decimal(50)) if scaled else None
    spec = read_table(SHARED, sensitive=["sex_status", "age", "foreign"], scale=scale)
    found = audited(plain(spec), list(map(float, DELTAS)))
    model = spec.classifier()
    assert found.pairs == model.total_patterns() == 25_596_000
    assert float(model.probability()) == pytest.approx(found.favourable, abs=1e-10)
    for delta, count in zip(DELTAS[1:], found.counts[1:], strict=True):
        own = answer(model, Question.of(delta))
        assert own.count.total == count
        assert float(own.largest.upper) == pytest.approx(found.largest, abs=1e-10)


@pytest.mark.parametrize("pdo", [12, 20, 50])
def test_cards_of_whole_points(pdo: int) -> None:
    spec = in_points(german(), pdo)
    found = audited(plain(spec), list(map(float, DELTAS)))
    assert found.pairs == spec.classifier().total_patterns()
    for delta, count in zip(DELTAS[1:], found.counts[1:], strict=True):
        own = answer(spec.classifier(), Question.of(delta))
        assert own.count.total == count
        assert float(own.largest.upper) == pytest.approx(found.largest, abs=1e-10)
