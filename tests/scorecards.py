"""A second way to audit a scorecard, in floats and by going through everything; no code is auditor's.

What isn't disclosed is found by bisection of the equations of the conforming population, and patterns are
counted by listing all sums of log-odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_HALVINGS = 200


@dataclass(frozen=True)
class PlainCard:
    """Weights in log-odds of the favourable decision, and shares, per attribute and value that occurs."""

    intercept: float
    weights: Sequence[Floats]
    shares: Sequence[Floats]
    sensitive: Sequence[int]


@dataclass(frozen=True)
class Found:
    """P(favourable), the largest degree, the number of pairs, and that of patterns per threshold."""

    favourable: float
    largest: float
    pairs: int
    counts: tuple[int, ...]


def sigma(t: Floats) -> Floats:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-t)))


def undisclosed(card: PlainCard) -> tuple[float, Floats]:
    """``t`` and ``u_i`` with ``Σ p_i(v) σ(t - u_i + w_i(v)) = σ(t)`` and ``t = w₀ + Σ u_i``."""

    def within(t: float, w: Floats, p: Floats) -> float:
        low, high = float(w.min()), float(w.max())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if float(p @ sigma(t - middle + w)) > 1 / (1 + np.exp(-t)):
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def all_within(t: float) -> Floats:
        return np.array([within(t, w, p / p.sum()) for w, p in zip(card.weights, card.shares, strict=True)])

    low = card.intercept + sum(float(w.min()) for w in card.weights)
    high = card.intercept + sum(float(w.max()) for w in card.weights)
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        if card.intercept + all_within(t).sum() > t:
            low = t
        else:
            high = t
        if high - low < 1e-15 * max(1.0, abs(t)):
            break
    return t, all_within(t)


def audited(card: PlainCard, thresholds: Sequence[float], *, by_ratio: bool = False) -> Found:
    """Go through all pairs of sensitive values and contexts."""
    t, u = undisclosed(card)
    moves = [w - v for w, v in zip(card.weights, u, strict=True)]
    largest, pairs, counts = 0.0, 0, [0] * len(thresholds)
    for size in range(1, len(card.sensitive) + 1):
        for disclosed in combinations(card.sensitive, size):
            contexts = np.array([t])
            for i, row in enumerate(moves):
                if i not in disclosed:
                    contexts = np.add.outer(contexts, np.append(row, 0.0)).ravel()
            before = sigma(contexts)
            for x in product(*(moves[i] for i in disclosed)):
                after = sigma(contexts + sum(x))
                degrees = np.abs(after - before) / (np.maximum(before, after) if by_ratio else 1)
                largest, pairs = max(largest, float(degrees.max())), pairs + len(degrees)
                for k, threshold in enumerate(thresholds):
                    counts[k] += int((degrees > threshold).sum())
    return Found(float(sigma(np.array(t))), largest, pairs, tuple(counts))
