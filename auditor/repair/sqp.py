"""SciPy's sequential least-squares quadratic programming (SLSQP) on the logits."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from auditor.repair.problem import Floats, Problem
from auditor.repair.solver import Solution
from auditor.search.limits import DEFAULT, Limits

#: Change of the objective, per case, below which SLSQP stops.
_TOLERANCE = 1e-13
_MOST_ITERATIONS = 1000
#: Largest size of a logit: a probability that nothing keeps off 0 would carry its logit off without end.
_FARTHEST = 30.0


class _OutOfTime(Exception):
    """Time was up before SLSQP was at an end."""


def solve(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
    """Find a local optimum; the iterates between may break the cuts, so that time up leaves the start."""
    parameters = problem.parameters

    def theta(logits: Floats) -> Floats:
        return parameters.theta(logits)

    def objective(logits: Floats) -> float:
        if limits.expired():
            raise _OutOfTime
        return problem.objective(parameters.log_theta(logits), parameters.weight)

    def gradient(logits: Floats) -> Floats:
        return problem.gradient(theta(logits), parameters.weight)

    def slack(logits: Floats) -> Floats:
        return problem.slack(parameters.log_theta(logits)).value

    def slack_gradient(logits: Floats) -> Floats:
        return problem.jacobian(theta(logits), problem.slack(parameters.log_theta(logits)))

    logits = parameters.logits(start)
    try:
        result: Any = minimize(
            objective,
            logits,
            jac=gradient,
            method="SLSQP",
            bounds=[(-_FARTHEST, _FARTHEST)] * len(logits),
            constraints={"type": "ineq", "fun": slack, "jac": slack_gradient},
            options={"maxiter": _MOST_ITERATIONS, "ftol": _TOLERANCE},
        )
    except _OutOfTime:
        return Solution(start, False, 0)
    found = np.asarray(result.x if np.all(np.isfinite(result.x)) else logits, dtype=np.float64)
    return Solution(theta(found), bool(result.success), int(result.nit))
