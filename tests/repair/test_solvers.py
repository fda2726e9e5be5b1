"""Each solver on its own: optimality conditions, and what it leaves behind in the process."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from auditor.choices import SolverName
from auditor.repair import interior, signomial
from auditor.repair.closed_form import well_inside
from auditor.repair.problem import Cut, Floats, Problem
from auditor.repair.solver import load_solver
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.limits import Limits
from tests.fuzzing import examples
from tests.repair.models import FAMILIES, counts_of_tables, random_counts

#: Cases by which the solution may miss stationarity, and nats of multiplier times slack: the barrier has a
#: weight of 1e-7 nats at last, and both are met to ten times that.
STATIONARITY, COMPLEMENTARITY = 1e-5, 2e-6


def problem_of(data: st.DataObject, criterion: Criterion, family: str) -> tuple[Problem, Floats] | None:
    """The problem of the ten worst patterns, and a start well inside; None where there is no pattern."""
    counts = data.draw(random_counts(FAMILIES[family]))
    worst = worst_patterns(tables_of(counts.model), criterion, 10, only_patterns=True)
    if not worst.patterns:
        return None
    cuts = [
        Cut(p.sensitive_values, p.context_values, 1 if p.degree > 0 else -1, criterion.name)
        for p in worst.patterns
    ]
    problem = Problem.of(counts, cuts, [criterion])
    parameters = problem.parameters
    return problem, parameters.positive(parameters.of_model(well_inside(counts, criterion)))


@pytest.mark.parametrize("criterion", [Difference(Fraction("0.1")), Ratio(Fraction("0.2"))])
@pytest.mark.parametrize("family", ["plain", "zero counts", "many values"])
@examples(10)
@given(data=st.data())
def test_the_interior_solution_is_stationary(criterion: Criterion, family: str, data: st.DataObject) -> None:
    found = problem_of(data, criterion, family)
    if found is None:
        return
    problem, start = found
    solution = interior.solve(problem, start)
    assert solution.converged
    theta = solution.theta
    slack = problem.slack(np.log(theta))
    assert slack.value.min() >= 0
    np.testing.assert_allclose(np.add.reduceat(theta, problem.parameters.start), 1)
    # ∇f = Σ z ∇c for some multipliers z >= 0 with next to nothing of z c.
    gradient = problem.gradient(theta, problem.parameters.weight) * problem.total
    jacobian = problem.jacobian(theta, slack)
    fit = lsq_linear(jacobian.T, gradient, (0, COMPLEMENTARITY / slack.value))
    assert np.abs(fit.fun).max() <= STATIONARITY


@examples(3)
@given(data=st.data())
def test_a_solver_whose_time_is_up_leaves_the_start(data: st.DataObject) -> None:
    found = problem_of(data, Difference(Fraction("0.1")), "plain")
    if found is None:
        return
    for name in get_args(SolverName):
        solution = load_solver(name)(*found, Limits(expired=lambda: True))
        assert not solution.converged
        np.testing.assert_allclose(solution.theta, found[1])


@pytest.mark.parametrize("name", ["sqp", "signomial"])
@examples(5)
@given(data=st.data())
def test_the_other_solvers_find_nothing_better(name: Any, data: st.DataObject) -> None:
    found = problem_of(data, Difference(Fraction("0.1")), "plain")
    if found is None:
        return
    problem, start = found
    weight = problem.parameters.weight
    best = weight @ np.log(interior.solve(problem, start).theta)
    other = load_solver(name)(problem, start)
    assert other.iterations > 0
    assert weight @ np.log(other.theta) <= best + 1e-6 * abs(best)


def test_a_geometric_program_that_fails_leaves_the_last_point(monkeypatch: pytest.MonkeyPatch) -> None:
    gpkit = signomial.quiet_gpkit()

    def solve(*arguments: Any, **options: Any) -> None:
        raise gpkit.exceptions.UnknownInfeasible

    monkeypatch.setattr(gpkit.constraints.gp.GeometricProgram, "solve", solve)
    found = example()
    solution = signomial.solve(*found)
    assert not solution.converged
    np.testing.assert_array_equal(solution.theta, found[1])


def test_too_few_iterations_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interior, "_MOST_ITERATIONS", 3)
    monkeypatch.setattr(signomial, "_MOST_PROGRAMS", 1)
    for solver in (interior.solve, signomial.solve):
        problem, start = example()
        solution = solver(problem, start)
        assert not solution.converged
        assert problem.slack(np.log(solution.theta)).value.min() >= 0


def test_a_hessian_that_no_damping_mends_gives_way_to_the_gradient() -> None:
    factor = interior._factor(np.array([[-1e40]]), np.array([2.0]))
    assert 0 < factor[0, 0] < np.inf


def example() -> tuple[Problem, Floats]:
    counts = counts_of_tables((10, 10), [(True, [(Fraction(8), Fraction(2)), (Fraction(2), Fraction(8))])])
    criterion = Difference(Fraction("0.1"))
    problem = Problem.of(counts, [Cut(((0, 0),), (), 1, criterion.name)], [criterion])
    return problem, problem.parameters.of_model(well_inside(counts, criterion))


def test_gpkit_is_silent_and_writes_nothing() -> None:
    code = (
        "from tests.repair.test_solvers import example\n"
        "from auditor.repair.solver import load_solver\n"
        "assert load_solver('signomial')(*example()).converged\n"
        "import gpkit, pathlib\n"
        "assert not (pathlib.Path(gpkit.__file__).parent / 'env').exists()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_solver_imports_only_what_it_stands_on() -> None:
    code = (
        "import sys, auditor.repair.learner\n"
        "from auditor.repair.solver import load_solver\n"
        "load_solver('interior')\n"
        "assert not {'scipy', 'gpkit', 'cvxopt', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)
