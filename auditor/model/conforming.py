r"""The likeliest naive Bayes population that a scorecard's probabilities conform with.

A scorecard says ``P(d | z) = σ(w₀ + Σ w_i(z_i))`` where every attribute is disclosed, σ the logistic
function. A naive Bayes model conforms with it if it says the same of every z. All those that do are found by
choosing ``b_i(v) = P(v | d̄)`` freely:

    u_i = ln Σ_v b_i(v) e^{w_i(v)},   P(v | d) = b_i(v) e^{w_i(v) - u_i},   ln π/(1 - π) = w₀ + Σ u_i,

with π the probability of the favourable decision. Then ``P(d | y) = σ(w₀ + Σ_Y w_i(y_i) + Σ_{Z\Y} u_i)``: an
attribute that isn't disclosed acts as if it had the weight u_i. Of the conforming models the likeliest is the
one whose single-attribute shares p_i(v) are those of the data, which means ``b_i(v) = p_i(v) / (1 - π +
π e^{w_i(v) - u_i})``. So only the shares are needed, and with ``t = w₀ + Σ u_i`` one equation per attribute
and one for t:

    Σ_v p_i(v) σ(t - u_i + w_i(v)) = σ(t).

Source of the question: Khosravi, Liang, Choi and Van den Broeck (2019), "What to Expect of Classifiers?
Reasoning about Logistic Regression with Missing Features".
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal

import numpy as np
import numpy.typing as npt

#: Digits of the numbers in which the equations are solved to the end.
_CONTEXT = Context(prec=40, Emax=10**9, Emin=-(10**9))
#: Relative size of the last correction; the error that is left is about its square.
_SMALL = Decimal("1e-12")
_STEPS = 200
_CORRECTIONS = 20

_Floats = npt.NDArray[np.float64]

#: Rows of one number per value.
Rows = Sequence[Sequence[Decimal]]


def imputed_weights(intercept: Decimal, weights: Rows, shares: Rows) -> tuple[Decimal, ...]:
    """The weight u_i of each attribute where it isn't disclosed, to about 24 significant digits.

    Parameters
    ----------
    intercept : Decimal
        ``w₀``, in nats.
    weights : rows of Decimal
        ``w_i(v)``, in nats.
    shares : rows of Decimal
        ``p_i(v)``, positive, each row summing to 1.

    Raises
    ------
    ArithmeticError
        If they can't be found, which takes weights of hundreds of nats.

    Notes
    -----
    For a given t the left side of an attribute's equation falls with u_i, and u_i falls with t, so that
    ``w₀ + Σ u_i(t) - t`` has one root. It is found in floats, and corrected in decimals by Newton's method;
    the correction decides the digits, so that they are the same on every machine.
    """
    if not weights:
        return ()
    start, t = _in_floats(intercept, weights, shares)
    if t <= 0:
        return _corrected(intercept, weights, shares, start, t)
    # Here the favourable decision is the likelier one: solved for the other, the equations keep more digits.
    exchanged = [[-w for w in row] for row in weights]
    return tuple(-u for u in _corrected(-intercept, exchanged, shares, [-u for u in start], -t))


def shares_given_unfavourable(
    log_odds: Decimal, weights: Sequence[Decimal], undisclosed: Decimal, shares: Sequence[Decimal]
) -> tuple[Decimal, ...]:
    """``P(v | d̄) = p(v) / (1 - π + π e^{w(v) - u})`` of one attribute, in nats, with ``π = σ(log_odds)``."""
    c = _CONTEXT
    odds = c.exp(log_odds)
    scale = c.add(1, odds)
    return tuple(
        c.divide(c.multiply(p, scale), c.add(1, c.multiply(odds, c.exp(c.subtract(w, undisclosed)))))
        for w, p in zip(weights, shares, strict=True)
    )


def _log_sigma(x: _Floats) -> _Floats:
    return -np.logaddexp(0.0, -x)


def _in_floats(intercept: Decimal, weights: Rows, shares: Rows) -> tuple[list[float], float]:
    """Solve for u and t to about 12 digits: for t by safeguarded Newton steps, and for u in each of them."""
    width = max(map(len, weights))
    w = np.array([[float(v) for v in row] + [float(row[0])] * (width - len(row)) for row in weights])
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array([[float(v) for v in row] + [0.0] * (width - len(row)) for row in shares]))
    base = float(intercept)
    low_t, high_t = base + w.min(axis=1).sum(), base + w.max(axis=1).sum()
    u = w.mean(axis=1)
    t = base + u.sum()
    for _ in range(_STEPS):
        u, slopes = _solved(w, log_p, t, u)
        excess = base + u.sum() - t
        low_t, high_t = (t, high_t) if excess > 0 else (low_t, t)
        step = excess / (1 - slopes.sum())
        if abs(step) <= 1e-13 * max(1.0, abs(t)) or high_t - low_t <= 1e-13 * max(1.0, abs(t)):
            break
        t = t + step if low_t < t + step < high_t else (low_t + high_t) / 2
    return u.tolist(), t


def _solved(w: _Floats, log_p: _Floats, t: float, u: _Floats) -> tuple[_Floats, _Floats]:
    """Solve for u at a given t, with du/dt. Logarithms keep the digits of rare decisions."""
    # Where the favourable decision is the likelier one, the equation of the other keeps more digits.
    sign = 1.0 if t <= 0 else -1.0
    target = float(_log_sigma(np.array(sign * t)))
    low, high = w.min(axis=1), w.max(axis=1)
    for _ in range(_STEPS):
        logits = sign * (t - u[:, None] + w)
        parts = log_p + _log_sigma(logits)
        top = parts.max(axis=1)
        excess = top + np.log(np.exp(parts - top[:, None]).sum(axis=1)) - target
        # The left side of the equation falls with u, that of the other decision rises.
        rising = sign * excess > 0
        low, high = np.where(rising, u, low), np.where(rising, high, u)
        share = np.exp(parts - top[:, None])
        slope = (share * np.exp(_log_sigma(-logits))).sum(axis=1) / share.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = u + sign * excess / slope
        inside = (moved >= low) & (moved <= high)
        moved = np.where(inside, moved, (low + high) / 2)
        done = np.abs(moved - u) <= 1e-14 * np.maximum(1.0, np.abs(u))
        u = moved
        if done.all():
            break
    own = float(np.exp(_log_sigma(np.array(-sign * t))))
    return u, 1.0 - own / np.maximum(slope, 1e-300)


def _corrected(
    intercept: Decimal, weights: Rows, shares: Rows, start: list[float], t: float
) -> tuple[Decimal, ...]:
    """Newton's method on all equations at once, in decimals, from close by.

    The matrix is diagonal but for the row and the column of t, so that a step is a sum.
    """
    c = _CONTEXT
    exponentials = [[c.exp(w) for w in row] for row in weights]
    u, logit = [Decimal(value) for value in start], Decimal(t)
    for _ in range(_CORRECTIONS):
        odds = c.exp(logit)
        pi = c.divide(odds, c.add(1, odds))
        inner = c.multiply(pi, c.subtract(1, pi))
        residuals, slopes, with_t = [], [], []
        for i, row in enumerate(exponentials):
            factor = c.exp(c.subtract(logit, u[i]))
            total, slope = Decimal(0), Decimal(0)
            for e, p in zip(row, shares[i], strict=True):
                o = c.multiply(factor, e)
                q = c.divide(o, c.add(1, o))
                pq = c.multiply(p, q)
                total, slope = c.add(total, pq), c.add(slope, c.divide(pq, c.add(1, o)))
            residuals.append(c.subtract(total, pi))
            slopes.append(slope)
            with_t.append(c.subtract(slope, inner))
        # Σ p σ(t - u + w) - σ(t) changes by -slope du + (slope - inner) dt.
        gap = c.subtract(c.add(intercept, sum(u, Decimal(0))), logit)
        above, below = gap, Decimal(1)
        for residual, slope, mixed in zip(residuals, slopes, with_t, strict=True):
            above = c.add(above, c.divide(residual, slope))
            below = c.subtract(below, c.divide(mixed, slope))
        dt = c.divide(above, below)
        du = [
            c.divide(c.add(residual, c.multiply(mixed, dt)), slope)
            for residual, slope, mixed in zip(residuals, slopes, with_t, strict=True)
        ]
        u, logit = [c.add(old, new) for old, new in zip(u, du, strict=True)], c.add(logit, dt)
        if max(map(abs, [dt, *du])) < _SMALL * max(Decimal(1), abs(logit)):
            return tuple(u)
    raise ArithmeticError("the equations of the conforming population can't be solved")
