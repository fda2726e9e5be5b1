"""Scorecards of other shapes and other thresholds, audited a second time by going through everything."""

from __future__ import annotations

import csv
import io
import itertools
import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from auditor.model.formats.scorecard_tables import read_table
from auditor.model.scorecard import Scale
from auditor.search.answer import answer
from auditor.search.question import Question
from tests.repair.test_scorecards import german, in_points, plain
from tests.scorecards import PlainCard, audited

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


def invented(seed: int) -> tuple[str, str, PlainCard]:
    """A table as optbinning writes it, with what it means: gaps, codes and lists, some of them of nobody."""
    source = random.Random(seed)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["Variable", "Bin id", "Bin", "Count", "Count (%)", "WoE", "Coefficient", "Points"])
    weights, shares = [], []
    for i in range(5):
        coefficient = -source.uniform(0.5, 1.5)
        if i % 2:
            bins = [f"['{i}a' '{i}b']", f"['{i}c, d']", "['none']"][: source.randint(2, 3)]
        else:
            edges = sorted(source.sample(range(20, 70), source.randint(1, 3)))
            ends = ["-inf", *(f"{edge}.50" for edge in edges), "inf"]
            bins = [f"{'(' if a == '-inf' else '['}{a}, {b})" for a, b in itertools.pairwise(ends)]
        counts = [source.randint(20, 300) for _ in bins]
        counts += [source.choice([0, source.randint(5, 60)]) for _ in range(2)]
        woes = [source.gauss(0, 0.8) if count else 0.0 for count in counts]
        for v, (name, count, woe) in enumerate(zip([*bins, "Special", "Missing"], counts, woes, strict=True)):
            share = count / sum(counts)
            rows.writerow([f"x{i}", v, name, count, share, woe, coefficient, source.random()])
        kept = [v for v, count in enumerate(counts) if count]
        # Coefficients speak for the event; the other one is favourable.
        weights.append(np.array([-coefficient * woes[v] for v in kept]))
        shares.append(np.array([counts[v] / sum(counts) for v in kept]))
    intercept = source.gauss(0, 1)
    return text.getvalue(), repr(intercept), PlainCard(-intercept, weights, shares, (0, 1, 3))


@pytest.mark.parametrize("seed", range(2))
def test_tables_that_nobody_has_seen(seed: int, tmp_path: Path) -> None:
    text, intercept, card = invented(seed)
    (tmp_path / "card.csv").write_text(text, encoding="utf-8", newline="")
    spec = read_table(tmp_path / "card.csv", sensitive=["x0", "x1,x3"], intercept=Decimal(intercept))
    model = spec.classifier()
    found = audited(card, list(map(float, DELTAS)))
    assert found.pairs == model.total_patterns()
    assert float(model.probability()) == pytest.approx(found.favourable, abs=1e-10)
    for delta, count in zip(DELTAS[1:], found.counts[1:], strict=True):
        own = answer(model, Question.of(delta))
        assert own.count.total == count
        assert float(own.largest.upper) == pytest.approx(found.largest, abs=1e-10)
