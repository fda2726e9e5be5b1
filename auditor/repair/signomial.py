"""The paper's signomial program, condensed to geometric programs that GPkit models and CVXOPT solves.

With ``r_x = P(x | d̄) / P(x | d)`` and ``r_y = P(d̄, y) / P(d, y)``, monomials in the parameters, a cut
says that a monomial is at most a posynomial (`inequality_terms`). By the inequality of the weighted means a
posynomial ``Σ m_k`` is at least the monomial ``Π (m_k / w_k)^(w_k)``, and equal to it where the weights are
``w_k = m_k / Σ m``. With the weights of the current point a cut becomes one monomial constraint, stricter
than the cut: each geometric program starts where the last one ended, stays fair and gains likelihood, until a
local optimum is reached (Boyd et al. 2007, "A tutorial on geometric programming", section 9). In logarithms
that monomial is the tangent of the cut's convex slack.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from auditor.repair.problem import Floats, Problem
from auditor.repair.solver import Solution
from auditor.search.limits import DEFAULT, Limits

#: Geometric programs to solve at most, and the gain in log-likelihood per case below which no other is.
_MOST_PROGRAMS = 50
_SMALLEST_GAIN = 1e-11
#: Slack that is left to the tolerance of CVXOPT, in the logarithm of a cut's inequality.
_RESERVE = 1e-9
#: Weight, per case, of a value without cases: an exponent of 0 would leave its variable unbounded.
_UNSEEN = 1e-10
_CVXOPT_OPTIONS = {
    "show_progress": False,
    "maxiters": 200,
    "abstol": 1e-10,
    "reltol": 1e-10,
    "feastol": 1e-10,
}


def solve(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
    """Find a local optimum by condensation from parameters at which every cut has slack."""
    gpkit = quiet_gpkit()
    parameters = problem.parameters
    variables = gpkit.VectorVariable(len(parameters.weight), "theta")
    weight = np.maximum(parameters.weight / problem.total, _UNSEEN)
    cost = _monomial(variables, -weight)
    ends = [*parameters.start[1:].tolist(), len(weight)]
    sums = [
        variables[begin:end].sum() <= 1 for begin, end in zip(parameters.start.tolist(), ends, strict=True)
    ]
    keys = [variable.key for variable in variables]
    theta = start
    value = -np.inf
    for program in range(_MOST_PROGRAMS):
        if limits.expired():
            return Solution(theta, False, program)
        slack = problem.slack(np.log(theta))
        slopes = slack.by_context[:, None] * problem.context + slack.by_strength[:, None] * problem.strength
        # The tangent is to be positive: c + slope · (ln θ - ln θ_now) >= 0.
        constants = np.exp(slopes @ np.log(theta) - slack.value + _RESERVE)
        fair = [_monomial(variables, -row, c) <= 1 for row, c in zip(slopes, constants, strict=True)]
        geometric = gpkit.constraints.gp.GeometricProgram(cost, [*sums, *fair], {}, checkbounds=False)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                out = geometric.solve(solver=_cvxopt(gpkit), verbosity=0, gen_result=False)
        except gpkit.exceptions.Infeasible:
            return Solution(theta, False, program)
        logs = dict(zip(geometric.varidxs, out["primal"], strict=True))
        found = np.exp(np.array([logs[key] for key in keys]))
        # Sums of 1 are reached from below, to within CVXOPT's tolerance.
        theta = found / np.add.reduceat(found, parameters.start)[parameters.row]
        before, value = value, float(weight @ np.log(theta))
        if value - before < _SMALLEST_GAIN:
            return Solution(theta, True, program + 1)
    return Solution(theta, False, _MOST_PROGRAMS)


def _monomial(variables: Any, exponents: Floats, coefficient: float = 1.0) -> Any:
    """A GPkit monomial; variables of exponent 0 are left out."""
    monomial = coefficient
    for i in np.flatnonzero(exponents).tolist():
        monomial = monomial * variables[i] ** float(exponents[i])
    return monomial


def _cvxopt(gpkit: ModuleType) -> Callable[..., dict[str, Any]]:
    """The solver to hand to GPkit, with options of its own: those of CVXOPT and of GPkit are global."""
    from gpkit.solvers import cvxopt

    def solver(**arguments: Any) -> dict[str, Any]:
        solution: dict[str, Any] = cvxopt.optimize(**arguments, kktsolver="ldl", options=_CVXOPT_OPTIONS)
        return solution

    return solver


def quiet_gpkit() -> ModuleType:
    """GPkit, imported without its build.

    Its first import would look for solvers, run its own tests, print 40 lines and write what it found into
    site-packages, unless a module stands where its build is.
    """
    if "gpkit" not in sys.modules:
        no_build = ModuleType("gpkit.build")
        no_build.build = lambda: None  # type: ignore[attr-defined]
        sys.modules["gpkit.build"] = no_build
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import gpkit.solvers.cvxopt
        finally:
            del sys.modules["gpkit.build"]
        gpkit.settings["installed_solvers"] = ["cvxopt"]
        gpkit.settings["default_solver"] = "cvxopt"
    return sys.modules["gpkit"]
