"""COMPAS, Adult and German: the likelihoods to reach, by every solver."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.model.reading import load_naive_bayes
from auditor.model.spec import ModelSpec
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.usecases.auditing import repair

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Log-likelihoods of the most likely δ-fair models known, less what a local optimum may miss of them.
KNOWN = {
    ("compas", "0.1"): -207394.51,
    ("german", "0.1"): -12635.275,
    ("adult", "0.1"): -228763.97,
    ("compas", "0.01"): -207693.07,
    ("german", "0.01"): -12644.34,
    ("adult", "0.01"): -230446.59,
}
#: Of the unconstrained model, and of the independent ones: the most likely and the mean of both conditionals.
ENDS = {
    "compas": (-207054.688, -207750.604, -208639.406),
    "adult": (-226374.531, -230674.82, -232180.207),
    "german": (-12629.935, -12645.976, -12648.987),
}


@pytest.mark.parametrize(("name", "delta"), KNOWN)
def test_the_known_likelihoods_are_reached(name: str, delta: str) -> None:
    made = repair(load_naive_bayes(EXAMPLES / f"{name}.json"), delta)
    found = made.summary.log_likelihoods
    assert found.repaired is not None
    assert found.repaired >= KNOWN[name, delta]
    assert (found.unconstrained, found.independent, found.independent_mean) == pytest.approx(
        ENDS[name], abs=1e-3
    )
    assert made.summary.shortfall is None
    assert isinstance(made.model, ModelSpec)
    worst = worst_patterns(tables_of(made.model.naive_bayes()), Difference(Fraction(delta)))
    assert worst.complete
    assert worst.upper <= Fraction(delta)


@pytest.mark.parametrize("solver", ["sqp", "signomial"])
@pytest.mark.parametrize("name", ENDS)
def test_the_solvers_agree(name: str, solver: Any) -> None:
    made = repair(load_naive_bayes(EXAMPLES / f"{name}.json"), "0.1", solver=solver)
    assert made.summary.log_likelihoods.repaired == pytest.approx(KNOWN[name, "0.1"], rel=1e-6)
    assert made.summary.patterns_after == 0


def test_the_ratio_criterion() -> None:
    made = repair(load_naive_bayes(EXAMPLES / "compas.json"), "0.2", criterion="ratio")
    assert (made.summary.patterns_after, made.summary.shortfall) == (0, None)
    assert made.summary.price is not None
    assert 0 < made.summary.price < 1
