"""What a solver is asked and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from auditor.choices import SolverName
from auditor.errors import RepairError
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.baselines import shifted
from auditor.repair.conditions import NONE, Conditions
from auditor.repair.counts import Counts
from auditor.repair.decimals import rounded_model
from auditor.repair.problem import Cut, Floats, Problem
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits

#: Every cut has at least this much slack per unit of the smallest threshold where a solver starts.
_START_SLACK = 0.02
#: Shares of the way to a model inside the bounds at which a start is tried.
_START_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Slack that is sought at most for a start under conditions, and the least that will do.
_ROOM, _LEAST_ROOM = 0.05, 1e-9
#: Where a start under conditions is sought from: the odds of the model inside are multiplied.
_SHIFTS = (1, 8, Fraction(1, 8))
_MOST_STEPS = 200
#: Largest size of a logit there.
_FARTHEST = 30.0


@dataclass(frozen=True)
class Solution:
    """A point, which its user has to check."""

    theta: Floats
    """Shape (P,): the parameters."""
    converged: bool
    """Whether the solver took the point for a local optimum."""
    iterations: int


class Solver(Protocol):
    """Finds a local optimum of a problem from a start at which every cut has slack."""

    def __call__(self, problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
        """Solve; when time is up, the result is where the solver is by then."""
        ...


def load_solver(name: SolverName) -> Solver:
    """The solver of a name: our barrier method, SciPy's SLSQP, or the paper's program by GPkit and CVXOPT.

    What they stand on is imported only then.
    """
    if name == "sqp":
        from auditor.repair.sqp import solve
    elif name == "signomial":
        from auditor.repair.signomial import solve
    else:
        from auditor.repair.interior import solve
    return solve


def solve_near(
    solver: Solver,
    counts: Counts,
    cuts: Sequence[Cut],
    criteria: Sequence[Criterion],
    near: NaiveBayes,
    inside: NaiveBayes,
    limits: Limits,
    conditions: Conditions = NONE,
    margin: float = 0.0,
) -> NaiveBayes:
    """The local optimum that a solver finds from near a model, as a file can hold it.

    Parameters
    ----------
    criteria : sequence of Criterion
        Those of the cuts, with the thresholds to aim at.
    near : NaiveBayes
        Fair or not.
    inside : NaiveBayes
        A model well inside every cut, towards which the start is moved until all have slack.
    conditions, margin
        As in `Problem.of`.

    Raises
    ------
    RepairError
        If no start was found that keeps to the conditions and has slack at every cut.
    """
    problem = Problem.of(counts, cuts, criteria, conditions, margin)
    slack = _START_SLACK * float(min(criterion.threshold for criterion in criteria))
    parameters = problem.parameters
    here, there = parameters.of_model(near), parameters.of_model(inside)
    for share in _START_SHARES:
        start = parameters.positive((1 - share) * here + share * there)
        if problem.slack(np.log(start)).value.min() >= slack:
            break
    else:
        if conditions:
            start = _with_slack(problem, [near, *(shifted(inside, factor) for factor in _SHIFTS)])
    # With more threads, sums would depend on the number of cores, and matrices as small as ours take longer.
    with threadpool_limits(1, user_api="blas"):
        theta = solver(problem, start, limits).theta
    model = parameters.to_model(theta if np.all(np.isfinite(theta)) else start)
    return rounded_model(model, conditions.keep)


def _with_slack(problem: Problem, models: Sequence[NaiveBayes]) -> Floats:
    """Parameters at which all cuts and conditions have slack, sought from some models.

    SciPy's SLSQP makes t as large as it can with ``c_j >= t`` for all j. It is a local search: where it finds
    nothing, there may be something all the same.
    """
    from scipy.optimize import minimize

    parameters = problem.parameters

    def slack(point: Floats) -> Floats:
        return np.asarray(problem.slack(parameters.log_theta(point[:-1])).value - point[-1], dtype=np.float64)

    def jacobian(point: Floats) -> Floats:
        log_theta = parameters.log_theta(point[:-1])
        moved = problem.jacobian(np.exp(log_theta), problem.slack(log_theta))
        return np.asarray(np.column_stack([moved, np.full(len(moved), -1.0)]), dtype=np.float64)

    for model in models:
        logits = parameters.logits(parameters.positive(parameters.of_model(model)))
        least = float(problem.slack(parameters.log_theta(logits)).value.min())
        with threadpool_limits(1, user_api="blas"):
            found: Any = minimize(
                lambda point: -point[-1],
                np.append(logits, min(least, _ROOM)),
                jac=lambda point: np.append(np.zeros(len(point) - 1), -1.0),
                method="SLSQP",
                bounds=[(-_FARTHEST, _FARTHEST)] * len(logits) + [(None, _ROOM)],
                constraints={"type": "ineq", "fun": slack, "jac": jacobian},
                options={"maxiter": _MOST_STEPS},
            )
        theta = parameters.theta(found.x[:-1])
        if np.all(theta > 0) and problem.slack(np.log(theta)).value.min() >= _LEAST_ROOM:
            return theta
    raise RepairError(
        "no model was found that is fair and keeps to the conditions, and there may be none; keep fewer "
        "attributes, let probabilities change by more, or raise the threshold"
    )
