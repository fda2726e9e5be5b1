"""`make paper`: what it does with data, and without."""

from __future__ import annotations

import sys
from decimal import Decimal
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from auditor.model.reading import load_naive_bayes
from examples.paper import accuracy, figures, learning, report, results
from examples.paper.__main__ import main
from examples.paper.accuracy import ten_folds
from examples.paper.data import DATA, NAMES, load
from examples.paper.svg import Axis, ticks_around
from tests.paper.inventing import invented

PAPER = Path(__file__).parents[2] / "examples" / "paper"
FIGURES = ("scatter", "likelihood", "patterns_left", "iterations")
needs_data = pytest.mark.skipif(not (DATA / "codebook.json").is_file(), reason=f"{DATA} is absent")


def test_without_data_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["paper", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"has no codebook.json(?s:.*)LearnFairNB(?s:.*)DATA=FOLDER"):
        main()


def test_it_runs_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "FOLDS", 3)
    for module in (results, report, figures):
        monkeypatch.setattr(module, "DELTAS", ("0.01", "0.1"))
    monkeypatch.setattr(results, "PROVED", ("0.1",))
    monkeypatch.setattr(learning, "AIM", Decimal("0.01"))
    # The three have the same rows.
    for name in ("search_effort", "climbs", "likelihoods", "optima", "remaining", "ten_folds"):
        monkeypatch.setattr(results, name, cache(getattr(results, name)))
    stages: list[str] = []
    found = results.run(dict.fromkeys(NAMES, invented()), stages.append)
    assert len(stages) == 7 * len(NAMES)
    for optimum in found.optima["compas"].values():
        assert set(optimum.arrivals) == {"interior", "sqp", "signomial"}
        for ends in optimum.arrivals.values():
            assert len(ends) > 1
            assert max(ends) <= optimum.found + 1e-6 <= float(optimum.bound) + 1e-5
        assert 0 <= optimum.share <= 0.011
    report.write(found, tmp_path)
    assert report.document(found) == (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for name in FIGURES:
        drawing = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert ElementTree.fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"
        assert f"]({name}.svg)" in report.document(found)


def test_what_is_kept_has_the_key_numbers() -> None:
    text = (PAPER / "RESULTS.md").read_text(encoding="utf-8")
    for number in ("2,017", "2,695", "0.4066", "70,252,248,672", "-207,394.51", "-12,635.27"):
        assert number in text
    assert all((PAPER / f"{name}.svg").is_file() for name in FIGURES)


def test_ticks() -> None:
    assert ticks_around([0.1, 0.41]) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert ticks_around([0, 0]) == [0, 0.2]
    axis = Axis("x", [0.001, 1.0], logarithmic=True, percent=True)
    assert axis.place(0.001) == 0
    assert axis.label(0.001) == "0.1%"


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_the_data_are_those_of_the_shipped_models(name: str) -> None:
    data = load(DATA, name)
    shipped = load_naive_bayes(PAPER.parent / f"{name}.json").naive_bayes()
    assert data.model == shipped
    assert data.counts().model == shipped


@needs_data
def test_accuracy_of_german() -> None:
    found = ten_folds(load(DATA, "german"))
    assert found.majority == 0.7
    assert found.unconstrained.mean == pytest.approx(0.69, abs=0.02)
    assert found.fair.mean == pytest.approx(0.696, abs=0.02)
    assert len(found.fair.values) == 10
