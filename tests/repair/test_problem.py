"""The constraints say what the degree says, and the derivatives are those of the functions."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.repair.closed_form import exceeded, most_likely, well_inside
from auditor.repair.counts import Counts
from auditor.repair.interior import solve
from auditor.repair.problem import Cut, Floats, Problem, inequality_terms
from auditor.search.criteria import Criterion, Difference, Ratio
from tests.fuzzing import examples
from tests.oracle import BruteForce
from tests.repair.models import FAMILIES, counts_of_tables, random_counts
from tests.search.comparing import plain

CRITERIA = (Difference, Ratio)


def slack_of(criterion: Criterion, cut: Cut, gamma: float, s: float) -> float:
    """The right side of the inequality minus the left, from its terms."""
    kept = float(1 - criterion.threshold)
    return sum(exp(o + a * gamma + b * s) for o, a, b in inequality_terms(criterion, cut).tolist()) - kept


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(50)
@given(
    threshold=st.sampled_from((Fraction("0.01"), Fraction("0.1"), Fraction("0.5"))),
    prior=st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    first=st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    second=st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
)
def test_the_inequality_holds_exactly_where_the_degree_is_within_the_threshold(
    criterion: Any, threshold: Fraction, prior: Fraction, first: Fraction, second: Fraction
) -> None:
    rule = criterion(threshold)
    after = prior * first / (prior * first + (1 - prior) * second)
    degree = rule.degree(after, prior)
    gamma, s = np.log(float(prior / (1 - prior))), np.log(float(first / second))
    for sign in (1, -1):
        slack = slack_of(rule, Cut(((0, 0),), (), sign, rule.name), gamma, s)
        if abs(slack) > 1e-12:
            assert (slack > 0) == (sign * degree <= threshold)
        # The cut for every context is at least as strict as that for this one.
        if slack_of(rule, Cut(((0, 0),), None, sign, rule.name), gamma, s) > 0:
            assert slack > -1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("sign", [1, -1])
def test_derivatives(criterion: Any, sign: int) -> None:
    tables = [
        (True, [(Fraction(6), Fraction(2)), (Fraction(3), Fraction(5)), (Fraction(1), Fraction(3))]),
        (True, [(Fraction(2), Fraction(0)), (Fraction(8), Fraction(10))]),
        (False, [(Fraction(4), Fraction(1)), (Fraction(0), Fraction(4)), (Fraction(6), Fraction(5))]),
    ]
    cuts = [
        Cut(((0, 0), (1, 1)), ((2, 0),), sign, criterion.name),
        Cut(((0, 2),), ((1, 0),), -sign, criterion.name),
        Cut(((1, 1),), None, sign, criterion.name),
        Cut(((0, 1),), (), sign, criterion.name),
    ]
    problem = Problem.of(counts_of_tables((10, 10), tables), cuts, [criterion(Fraction("0.1"))])
    parameters = problem.parameters
    assert (2, 1, 0) not in parameters.places  # a context value without cases can't move
    assert (1, 0, 1) in parameters.places
    weight = np.maximum(parameters.weight, 0.5)
    logits = np.random.default_rng(1).normal(size=int(parameters.free.sum()))
    multipliers = np.array([0.3, 1.0, 2.0, 0.7])

    def objective(u: Floats) -> Floats:
        return np.array([problem.objective(parameters.log_theta(u), weight)])

    def slack(u: Floats) -> Floats:
        return problem.slack(parameters.log_theta(u)).value

    def gradient(u: Floats) -> Floats:
        theta, found = parameters.theta(u), problem.slack(parameters.log_theta(u))
        return problem.gradient(theta, weight) - multipliers @ problem.jacobian(theta, found)

    theta, found = parameters.theta(logits), problem.slack(parameters.log_theta(logits))
    np.testing.assert_allclose(parameters.logits(theta), logits, atol=1e-12)
    np.testing.assert_allclose(slope(objective, logits)[0], problem.gradient(theta, weight), atol=1e-8)
    np.testing.assert_allclose(slope(slack, logits), problem.jacobian(theta, found), atol=1e-8)
    hessian = problem.hessian(theta, weight, found, multipliers)
    np.testing.assert_allclose(slope(gradient, logits), hessian, atol=1e-7)
    assert np.all(problem.curvature(theta, weight) > 0)


def slope(function: Any, u: Floats, step: float = 1e-6) -> Floats:
    """Central differences, one row per component of the function."""
    columns = [(function(u + e) - function(u - e)) / (2 * step) for e in step * np.eye(len(u))]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(10)
@given(data=st.data())
def test_the_closed_form_is_fair_in_every_context(criterion: Any, data: st.DataObject) -> None:
    counts: Counts = data.draw(random_counts(FAMILIES["many values"]))
    rule = criterion(Fraction("0.1"))
    aim = criterion(Fraction("0.0999"))
    inside = well_inside(counts, rule)
    assert not exceeded(inside, rule)
    model, _ = most_likely(counts, rule, aim, solve, inside)
    assert not exceeded(model, rule)
    assert all(pair.size <= rule.threshold for pair in BruteForce(plain(model), rule.name).pairs)
    assert counts.log_likelihood(model) >= counts.log_likelihood(inside)
