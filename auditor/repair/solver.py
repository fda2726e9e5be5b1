"""What a solver is asked and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from auditor.choices import SolverName
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.counts import Counts
from auditor.repair.decimals import rounded_model
from auditor.repair.problem import Cut, Floats, Problem
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits

#: Every cut has at least this much slack per unit of the threshold where a solver starts.
_START_SLACK = 0.02
#: Shares of the way to a model inside the bounds at which a start is tried.
_START_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Solution:
    """A point, which its user has to check.

    Attributes
    ----------
    theta : array, shape (P,)
        The parameters.
    converged : bool
        Whether the solver took the point for a local optimum.
    iterations : int
    """

    theta: Floats
    converged: bool
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
    criterion: Criterion,
    near: NaiveBayes,
    inside: NaiveBayes,
    limits: Limits,
) -> NaiveBayes:
    """The local optimum that a solver finds from near a model, as a file can hold it.

    Parameters
    ----------
    solver : Solver
    counts : Counts
    cuts : sequence of Cut
    criterion : Criterion
        With the threshold to aim at.
    near : NaiveBayes
        Fair or not.
    inside : NaiveBayes
        A model well inside every cut, towards which the start is moved until all have slack.
    limits : Limits
    """
    problem = Problem.of(counts, cuts, criterion)
    parameters = problem.parameters
    here, there = parameters.of_model(near), parameters.of_model(inside)
    for share in _START_SHARES:
        start = parameters.positive((1 - share) * here + share * there)
        if problem.slack(np.log(start)).value.min() >= _START_SLACK * float(criterion.threshold):
            break
    # With more threads, sums would depend on the number of cores, and matrices as small as ours take longer.
    with threadpool_limits(1, user_api="blas"):
        theta = solver(problem, start, limits).theta
    return rounded_model(parameters.to_model(theta if np.all(np.isfinite(theta)) else start))
