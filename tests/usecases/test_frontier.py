"""The curve of repairs: what rises stays risen, what is said holds, and bad grids are refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.documents.frontier import Frontier
from auditor.errors import InputError
from auditor.model.reading import load_naive_bayes
from auditor.repair import proof_checker, repairing
from auditor.usecases import frontier as frontiers
from auditor.usecases.frontier import frontier, grid, knee
from tests.oracle import BruteForce
from tests.search.comparing import plain

EXAMPLES = Path(__file__).parents[2] / "examples"
COMPAS = load_naive_bayes(EXAMPLES / "compas.json")


@pytest.fixture(scope="module")
def curve() -> frontiers.Curve:
    return frontier(COMPAS, "0,0.05,0.1,0.3,1", prove=True, jobs=1)


def test_no_point_is_less_likely_than_the_one_before(curve: frontiers.Curve) -> None:
    points = curve.document.points
    found = [point.log_likelihood or 0.0 for point in points]
    assert found == sorted(found)
    assert found[0] == pytest.approx(curve.document.independent.log_likelihood, abs=1e-4)
    assert found[-1] == pytest.approx(curve.document.unconstrained.log_likelihood, abs=1e-4)
    assert [point.patterns_before for point in points[1:]] == [4614, 2017, 122, 0]


def test_every_point_is_fair_and_counted_right(curve: frontiers.Curve) -> None:
    """By brute force, on the models as they are written."""
    for point, model in zip(curve.document.points, curve.models, strict=True):
        exact = model.naive_bayes()
        assert exact.sha256() == point.sha256
        sizes = [pair.size for pair in BruteForce(plain(exact), "difference").pairs]
        worst = max(sizes)
        assert worst <= Fraction(point.delta)
        assert Fraction(point.max_degree_bounds[0]) <= worst <= Fraction(point.max_degree_bounds[1])
        left = sum(size > 0 for size in sizes)
        assert point.patterns_left_bounds == (left, left)
        assert point.log_likelihood == repairing.counts_of(COMPAS).log_likelihood(exact)


def test_proofs_bound_every_point(curve: frontiers.Curve) -> None:
    points = curve.document.points
    for point, proof in zip(points, curve.proofs, strict=True):
        assert proof.delta == point.delta or Fraction(proof.delta) == Fraction(point.delta)
        proof_checker.check(proof.model_dump(mode="json"))
        assert point.bound is not None
        assert point.log_likelihood is not None
        assert point.log_likelihood <= point.bound <= float(proof.bound)
    bounds = [point.bound or 0.0 for point in points]
    assert bounds == sorted(bounds)


def test_a_point_that_finds_less_takes_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    original = repairing.repair

    def poor(spec: Any, question: Any, method: Any, *rest: Any, **more: Any) -> Any:
        worse = question.delta.text == "0.2"
        made = original(spec, question, "independent" if worse else method, *rest, **more)
        return made

    monkeypatch.setattr(repairing, "repair", poor)
    curve = frontier(COMPAS, "0.05,0.1,0.2")
    first, second, third = curve.document.points
    assert (first.taken_from, second.taken_from, third.taken_from) == (None, None, "0.1")
    assert third.sha256 == second.sha256
    assert third.patterns_before == 668
    assert curve.models[2] == curve.models[1]


def test_a_model_without_counts_is_refused_before_any_work() -> None:
    stages: list[str] = []
    with pytest.raises(InputError, match="repair learns from counts"):
        frontier(load_naive_bayes(EXAMPLES / "figure1.json"), "0.1,0.2", progress=stages.append)
    assert not stages


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.1,0.1", "give thresholds that grow"),
        ("0.1,0.10", "give thresholds that grow"),
        ("0.2,0.1", "give thresholds that grow"),
        ("0.1,", "is not a decimal number"),
        ("", "is not a decimal number"),
        ("0.1,1.5", "is not a decimal number from 0 to 1"),
        (",".join(f"0.{i:04}" for i in range(1001)), "more than 1,000"),
    ],
)
def test_bad_grids_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        grid(text)


def test_a_grid_of_one_has_no_knee() -> None:
    assert frontier(COMPAS, "0.1").document.knee is None


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=8), st.integers(-5, 5))
def test_the_knee_is_above_the_line_and_nothing_is_further(heights: list[int], shift: int) -> None:
    curve = [(float(i), float(y + shift)) for i, y in enumerate(sorted(heights))]
    names = [str(i) for i in range(len(curve))]
    found = knee(curve, names)
    (_, bottom), (right, top) = curve[0], curve[-1]
    if top == bottom:
        assert found is None
        return
    above = [Fraction(y - bottom) / Fraction(top - bottom) - Fraction(x) / Fraction(right) for x, y in curve]
    if found is None:
        assert max(above) < Fraction(1, 10**5)
    else:
        assert above[int(found)] == pytest.approx(float(max(above)))
        assert 0 < int(found) < len(curve) - 1


def test_the_document_says_the_same_when_it_is_read(curve: frontiers.Curve) -> None:
    assert Frontier.model_validate_json(curve.document.model_dump_json()) == curve.document
