"""The conforming population: its equations, its optimality, and its limits."""

from __future__ import annotations

import random
from decimal import Context, Decimal
from math import exp, log
from typing import Any

import numpy as np
import pytest

from auditor.model.conforming import imputed_weights, shares_given_unfavourable
from auditor.repair.signomial import quiet_gpkit

EXACT = Context(prec=50)
Rows = list[list[Decimal]]


def invented(sizes: list[int], spread: float, seed: int) -> tuple[Rows, Rows]:
    """Random weights, and shares that sum to 1 in decimals."""
    source = random.Random(seed)
    weights = [[Decimal(str(round(source.gauss(0, spread), 6))) for _ in range(m)] for m in sizes]
    shares = []
    for m in sizes:
        rows = [source.randint(1, 999) for _ in range(m)]
        row = [EXACT.divide(Decimal(n), Decimal(sum(rows))) for n in rows[1:]]
        shares.append([EXACT.subtract(Decimal(1), sum(row, Decimal(0))), *row])
    return weights, shares


def sigma(t: Decimal) -> Decimal:
    return EXACT.divide(Decimal(1), EXACT.add(Decimal(1), EXACT.exp(-t)))


@pytest.mark.parametrize(
    ("sizes", "spread", "intercept"),
    [
        ([2], 1, "0"),
        ([2, 3, 7], 0.5, "-1.5"),
        ([8] * 13, 0.5, "0.3"),
        ([2, 2, 2], 0.000001, "40"),
        ([4] * 10, 3, "-200"),
        ([4] * 10, 3, "200"),
        ([3] * 5, 30, "0"),
        ([1, 4], 1, "0"),
        ([10] * 200, 0.4, "1"),
    ],
)
def test_the_equations_hold(sizes: list[int], spread: float, intercept: str) -> None:
    weights, shares = invented(sizes, spread, seed=len(sizes))
    found = imputed_weights(Decimal(intercept), weights, shares)
    t = Decimal(intercept) + sum(found, Decimal(0))
    side = 1 if t <= 0 else -1
    pi = sigma(side * t)
    for u, row, share in zip(found, weights, shares, strict=True):
        assert min(row) - Decimal("1e-20") <= u <= max(row) + Decimal("1e-20")
        mean = sum((p * sigma(side * (t - u + w)) for w, p in zip(row, share, strict=True)), Decimal(0))
        assert abs(mean / pi - 1) < Decimal("1e-13")


def test_the_population_has_the_shares_and_the_scores_of_the_card() -> None:
    weights, shares = invented([2, 3, 5], 0.8, seed=4)
    found = imputed_weights(Decimal("-0.7"), weights, shares)
    t = Decimal("-0.7") + sum(found, Decimal(0))
    pi = sigma(t)
    for u, row, share in zip(found, weights, shares, strict=True):
        unfavourable = shares_given_unfavourable(t, row, u, share)
        favourable = [b * EXACT.exp(w - u) for b, w in zip(unfavourable, row, strict=True)]
        assert abs(sum(unfavourable, Decimal(0)) - 1) < Decimal("1e-20")
        assert abs(sum(favourable, Decimal(0)) - 1) < Decimal("1e-20")
        for a, b, p in zip(favourable, unfavourable, share, strict=True):
            assert abs(pi * a + (1 - pi) * b - p) < Decimal("1e-20")


@pytest.mark.parametrize("seed", range(4))
def test_no_conforming_model_is_likelier(seed: int) -> None:
    """The geometric programme of the paper on conforming models reaches the same optimum.

    With one row of data per cell of the shares, the likelihood of a conforming model is that of P(z) up to a
    constant, since P(d | z) is fixed.
    """
    gpkit = quiet_gpkit()
    weights, shares = invented([2, 3], 0.7, seed)
    base = 0.4
    found = imputed_weights(Decimal(str(base)), weights, shares)
    t = base + float(sum(found, Decimal(0)))
    ours = _likelihood(
        t,
        [
            [float(b) for b in shares_given_unfavourable(Decimal(t), row, u, share)]
            for row, u, share in zip(weights, found, shares, strict=True)
        ],
        shares,
    )

    # P(z) = P(z, d̄) (1 + e^(w₀ + Σ w)), so the likeliest model has the largest Π P(z, d̄)^n. What conforms
    # is a_i(v) = k_i e^(w_i(v)) b_i(v) and π / (1 - π) = e^(w₀) / Π k_i, put in for a and π.
    rest, k = gpkit.Variable("rest"), gpkit.VectorVariable(len(weights), "k")
    cost, odds, constraints = 1 / rest, exp(base), []
    for i, (row, share) in enumerate(zip(weights, shares, strict=True)):
        b = gpkit.VectorVariable(len(row), f"b{i}")
        constraints += [b.sum() <= 1, k[i] * sum(b[v] * exp(w) for v, w in enumerate(row)) <= 1]
        odds = odds / k[i]
        for v, p in enumerate(share):
            cost = cost * b[v] ** -float(p)
    constraints.append(rest * (1 + odds) <= 1)
    programme = gpkit.constraints.gp.GeometricProgram(cost, constraints, {}, checkbounds=False)
    solved = programme.solve(solver=_tight, verbosity=0, gen_result=False)
    logs = dict(zip(programme.varidxs, solved["primal"], strict=True))
    assert -float(np.log(solved["objective"])) == pytest.approx(ours, abs=1e-8)
    assert exp(logs[rest.key]) == pytest.approx(1 / (1 + exp(t)), abs=1e-5)
    for i, u in enumerate(found):
        assert -logs[k[i].key] == pytest.approx(float(u), abs=1e-5)


def _tight(**arguments: Any) -> dict[str, Any]:
    from gpkit.solvers import cvxopt

    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    solution: dict[str, Any] = cvxopt.optimize(**arguments, kktsolver="ldl", options=options)
    return solution


def _likelihood(t: float, unfavourable: list[list[float]], shares: Rows) -> float:
    total = -log(1 + exp(t))
    for row, share in zip(unfavourable, shares, strict=True):
        total += sum(float(p) * log(b) for b, p in zip(row, share, strict=True))
    return total
