"""Upper bounds of a log-likelihood under linear inequalities in the logarithms of the parameters.

With ``β = ln θ`` the log-likelihood ``c·β`` is linear, and ``Σ_j exp β_gj <= 1`` in every row g of
parameters. For multipliers ``ν >= 0`` of inequalities ``A β <= b`` with ``c̃ = c - Aᵀν >= 0``,

    c·β  <=  b·ν + Σ_g Σ_j c̃_gj ln(c̃_gj / Σ_k c̃_gk)

since ``Σ_j c̃_j ln θ_j`` is greatest at ``θ_j = c̃_j / Σ_k c̃_k``. Whichever ν a solver in floats comes to,
the bound holds, up to the rounding of its evaluation, which the proof repeats exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from auditor.repair.problem import Floats, Integers

#: Share of the way to where a multiplier, its slack or a weight c̃ would be 0 that a step goes at most.
_SHARE = 0.9
#: Slack to start from at least, and how much smaller the next products of slack and multiplier are to be.
_LEAST_SLACK, _NEARER = 0.01, 0.1
#: By how much a point may miss its inequalities at last.
_MISSED = 1e-6
_MOST_STEPS = 60
#: Multipliers beyond this are out of reach: where no point keeps the inequalities, they have no end.
_MOST = 1e15
#: Added to the Hessian's diagonal, relatively: inequalities may repeat each other.
_DAMPING = 1e-13
#: Rounding error of the sums of a bound, relative to their terms. A bound is raised by it; less c̃ is none.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Bounded:
    """An upper bound with the multipliers that prove it."""

    value: float
    """The bound."""
    multipliers: Floats
    """Shape (m,)."""
    log_theta: Floats
    """Shape (P,): the point at which the bound would be attained; it keeps the inequalities as far as the
    solver came.
    """


def entropy(weight: Floats, start: Integers, row: Integers) -> tuple[float, Floats]:
    """``Σ_g Σ_j w_gj ln(w_gj / Σ_k w_gk)`` and its gradient, the logarithms, for positive weights."""
    logs = np.log(weight) - np.log(np.add.reduceat(weight, start))[row]
    return float(weight @ logs), logs


def upper_bound(
    weight: Floats,
    left: Floats,
    right: Floats,
    start: Integers,
    row: Integers,
    guess: Floats,
    tolerance: float,
    enough: float,
) -> Bounded:
    """Minimise the bound over the multipliers by a primal-dual interior method.

    Parameters
    ----------
    weight : array, shape (P,)
        c, the objective.
    left, right : arrays, shapes (m, P) and (m,)
        A and b.
    start, row : arrays, shapes (R,) and (P,)
        Where each row of parameters begins, and the row of each.
    guess : array, shape (m,)
        Positive multipliers at which ``c̃ > 0``.
    tolerance : float
        How near the least bound to come.
    enough : float
        A bound up to this needs no improvement.
    """
    nu = guess
    reduced = weight - nu @ left
    value, logs = entropy(reduced, start, row)
    value += float(right @ nu)
    best = Bounded(value, nu, logs)
    if not len(nu):
        return best
    by_row = np.add.reduceat(left, start, axis=1)
    size = np.abs(left)
    slack = np.maximum(right - left @ logs, _LEAST_SLACK)
    for _ in range(_MOST_STEPS):
        if best.value <= enough:
            break
        gradient = right - left @ logs
        gap = float(nu @ slack)
        if gap < tolerance and float(np.max(np.abs(gradient - slack))) < _MISSED:
            break
        target = _NEARER * gap / len(nu)
        hessian = (left / reduced) @ left.T
        hessian -= (by_row / np.add.reduceat(reduced, start)) @ by_row.T
        diagonal = hessian.ravel()[:: len(nu) + 1]
        diagonal += slack / nu + _DAMPING * diagonal
        _, step, failed = dposv(hessian, target / nu - gradient)
        if failed:
            break
        slack_step = (target - slack * step) / nu - slack
        change = -(step @ left)
        length = min(1.0, _longest(nu, step), _longest(reduced, change))
        nu = nu + length * step
        slack = slack + min(1.0, _longest(slack, slack_step)) * slack_step
        reduced = weight - nu @ left
        if not (np.all(np.isfinite(nu)) and reduced.min() > 0):
            break
        value, logs = entropy(reduced, start, row)
        value += float(right @ nu) + _ROUNDING * float(np.abs(right) @ nu - reduced @ logs)
        if value < best.value and nu.max() < _MOST and bool(np.all(reduced > _ROUNDING * (nu @ size))):
            best = Bounded(value, nu, logs)
    return best


def _longest(values: Floats, step: Floats) -> float:
    """The part of a step that leaves positive values positive."""
    return _SHARE / max(float(np.max(-step / values)), 1e-300)
