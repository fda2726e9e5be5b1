"""A primal-dual interior method on the exact Hessian, which never leaves the fair side.

For a falling μ it minimises ``f(u) - μ Σ ln c_j(u)`` by Newton steps in which ``z_j``, the estimate of the
multiplier of cut j, takes the place of ``μ / c_j`` (Nocedal and Wright, Numerical Optimization, chapter 19).
Steps are bent along curved cuts and shortened until every cut keeps slack and the barrier function falls:
each iterate is fair on the cuts, and no start makes it diverge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditor.repair.problem import Floats, Problem
from auditor.repair.solver import Solution
from auditor.search.limits import DEFAULT, Limits

#: The barrier's weight at first, per case; and at last, in nats: the log-likelihood is within that, times the
#: number of cuts that bind, of a local optimum's. Floats can't resolve less per case than the least.
_FIRST, _LAST_NATS, _LEAST = 1e-3, 1e-7, 1e-13
#: A barrier problem is solved when its optimality conditions hold to so many μ.
_SOLVED = 10.0
#: A multiplier may be so many times larger or smaller than μ / c.
_MULTIPLIER_RANGE = 1e8
#: Share of a cut's slack that a step leaves at least.
_KEPT_SLACK = 5e-3
#: Share of a multiplier that a step leaves at least.
_KEPT_MULTIPLIER = 5e-3
#: Longest change of a logit in one step: further out, the quadratic model says nothing.
_LONGEST = 5.0
#: Share of the predicted decrease that a step must reach, and the rounding error of the barrier function.
_SUFFICIENT, _ROUNDING = 1e-4, 1e-15
#: Shortest share of a step that is tried, and how often each share is bent.
_SHORTEST, _BENDS = 1e-12, 3
#: Curvature added where the Hessian isn't positive definite, relative to that of the likelihood.
_FIRST_DAMPING, _MOST_DAMPING = 1e-4, 1e30
_MOST_ITERATIONS = 300


def solve(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
    """Find a local optimum from parameters at which every cut has slack.

    A value without cases has no weight to keep its probability off 0, where its logit is infinite: it gets a
    weight of μ N, which vanishes with the barrier.
    """
    parameters = problem.parameters
    unseen = parameters.weight == 0
    last = max(_LEAST, _LAST_NATS / problem.total)
    mu = max(_FIRST, last)
    logits = parameters.logits(start)
    multipliers = mu / problem.slack(np.log(start)).value
    for iteration in range(_MOST_ITERATIONS):
        if limits.expired():
            return Solution(parameters.theta(logits), False, iteration)
        barrier = _Barrier(problem, np.where(unseen, mu * problem.total, parameters.weight), mu)
        model = _Model.of(barrier, barrier.at(logits), multipliers)
        solved = model.error < _SOLVED * mu
        moved = None if solved else _search(model)
        if moved is not None:
            logits = moved.logits
            estimate = mu / moved.slack
            multipliers = np.clip(
                model.next_multipliers(), estimate / _MULTIPLIER_RANGE, estimate * _MULTIPLIER_RANGE
            )
        elif mu > last:
            mu = max(last, min(0.1 * mu, mu**1.4))
        else:
            # No step in a direction of descent makes the barrier function fall: solved to within rounding.
            return Solution(parameters.theta(logits), solved or model.decrease < _SOLVED * mu, iteration)
    return Solution(parameters.theta(logits), False, _MOST_ITERATIONS)


@dataclass(frozen=True)
class _Point:
    """Logits, the slack of each cut there, and the barrier function, infinite where a cut has none."""

    logits: Floats
    slack: Floats
    value: float


@dataclass(frozen=True)
class _Barrier:
    """The barrier function of one μ, under weights n of the parameters."""

    problem: Problem
    weight: Floats
    mu: float

    def at(self, logits: Floats) -> _Point:
        log_theta = self.problem.parameters.log_theta(logits)
        slack = self.problem.slack(log_theta).value
        if slack.min() <= 0:
            return _Point(logits, slack, np.inf)
        value = self.problem.objective(log_theta, self.weight) - self.mu * float(np.log(slack).sum())
        return _Point(logits, slack, value)


@dataclass(frozen=True)
class _Model:
    """The quadratic model of a barrier function around a point, with its Newton step."""

    barrier: _Barrier
    point: _Point
    multipliers: Floats
    """Shape (m,)."""
    jacobian: Floats
    """Shape (m, F): of the slack."""
    factor: Floats
    """Shape (F, F): cholesky factor of ``∇²L + Jᵀ diag(z/c) J``."""
    step: Floats
    """Shape (F,)."""
    decrease: float
    """The decrease of the barrier function to first order."""
    error: float
    """By how much the point and the multipliers miss the optimality conditions."""

    @classmethod
    def of(cls, barrier: _Barrier, point: _Point, multipliers: Floats) -> _Model:
        problem, weight, mu = barrier.problem, barrier.weight, barrier.mu
        log_theta = problem.parameters.log_theta(point.logits)
        theta, slack = np.exp(log_theta), problem.slack(log_theta)
        jacobian = problem.jacobian(theta, slack)
        gradient = problem.gradient(theta, weight)
        hessian = problem.hessian(theta, weight, slack, multipliers)
        hessian += jacobian.T @ ((multipliers / point.slack)[:, None] * jacobian)
        factor = _factor(hessian, problem.curvature(theta, weight))
        barrier_gradient = gradient - (mu / point.slack) @ jacobian
        step = -_solved(factor, barrier_gradient)
        residual = np.abs(gradient - multipliers @ jacobian).max()
        complementarity = np.abs(point.slack * multipliers - mu).max()
        return cls(
            barrier=barrier,
            point=point,
            multipliers=multipliers,
            jacobian=jacobian,
            factor=factor,
            step=step,
            decrease=-float(barrier_gradient @ step),
            error=float(max(residual, complementarity)),
        )

    def next_multipliers(self) -> Floats:
        """The multipliers of the Newton step, as far towards them as all stay positive."""
        target = (self.barrier.mu - self.multipliers * (self.jacobian @ self.step)) / self.point.slack
        change = target - self.multipliers
        shrink = np.max(-change / self.multipliers, initial=0)
        return self.multipliers + min(1.0, (1 - _KEPT_MULTIPLIER) / max(shrink, 1e-300)) * change

    def bend(self, excess: Floats) -> Floats:
        """What to add to a step after which the slack is more than its linear model says by an excess.

        It is the second-order correction of the constraints in the metric of the model: the part of the
        Newton step that an error of the slack causes.
        """
        return -_solved(self.factor, (self.multipliers * excess / self.point.slack) @ self.jacobian)


def _search(model: _Model) -> _Point | None:
    """The first point along ever shorter steps that keeps slack and lowers the barrier function, or None.

    Each step is tried straight and then bent back to where the slack is as the linear model says. Where the
    Lagrangian is nearly flat, cuts curve so much that straight steps would have to be tiny.
    """
    barrier, point = model.barrier, model.point

    def good(candidate: _Point, share: float) -> bool:
        allowed = point.value + _ROUNDING * abs(point.value) - _SUFFICIENT * share * model.decrease
        return candidate.value <= allowed and bool(np.all(candidate.slack > _KEPT_SLACK * point.slack))

    share = min(1.0, _LONGEST / max(float(np.abs(model.step).max()), _LONGEST))
    while share > _SHORTEST:
        step = bent = share * model.step
        for _ in range(1 + _BENDS):
            if np.abs(bent).max() > _LONGEST:
                break
            candidate = barrier.at(point.logits + bent)
            if good(candidate, share):
                return candidate
            bent = step + model.bend(candidate.slack - (point.slack + model.jacobian @ bent))
        share /= 2
    return None


def _factor(hessian: Floats, scale: Floats) -> Floats:
    """The Cholesky factor of a Hessian, raised along a positive diagonal until it is positive definite."""
    damping = 0.0
    while damping < _MOST_DAMPING:
        try:
            return np.asarray(np.linalg.cholesky(hessian + np.diag(damping * scale)), dtype=np.float64)
        except np.linalg.LinAlgError:
            damping = max(_FIRST_DAMPING, 4 * damping)
    return np.diag(np.sqrt(damping * scale))


def _solved(factor: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(factor.T, np.linalg.solve(factor, right)), dtype=np.float64)
