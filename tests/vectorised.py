"""Brute force in floats, vectorised: for models of millions of pairs, where rationals are too slow.

Rounding leaves it a margin, so it says what is surely so and what may be so. Like `tests.oracle` it shares
nothing with `auditor`. Only the difference criterion, and only models whose joint probabilities do not
underflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from tests.oracle import PlainAttribute, PlainModel, Values

Floats = NDArray[np.float64]

#: Far above the rounding of one degree, far below the usual distance of a degree from a threshold.
MARGIN = 1e-12


@dataclass(frozen=True)
class FloatCount:
    """The number of pairs with ``|degree|`` surely above the threshold, and of those that may be."""

    surely: int
    possibly: int


def joints(model: PlainModel) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """``(P(d, xy), P(d̄, xy), P(d, y), P(d̄, y))`` of all y, for one x after the other."""
    entries = [
        np.array([[float(p) for p in row] for row in attribute.rows]) for attribute in model.attributes
    ]
    choices = [range(-1, len(attribute.rows) if attribute.sensitive else 0) for attribute in model.attributes]
    for choice in product(*choices):
        x = [(i, v) for i, v in enumerate(choice) if v >= 0]
        if not x:
            continue
        context = []
        for column, prior in ((0, float(model.prior)), (1, float(1 - model.prior))):
            whole = np.array([prior])
            for i, v in enumerate(choice):
                if v < 0:
                    whole = np.multiply.outer(whole, np.append(1.0, entries[i][:, column])).ravel()
            context.append(whole)
        a, b = (prod(float(entries[i][v, column]) for i, v in x) for column in (0, 1))
        yield context[0] * a, context[1] * b, context[0], context[1]


def degrees(u: Floats, v: Floats, context_u: Floats, context_v: Floats) -> Floats:
    """P(d | xy) − P(d | y), nan where undefined."""
    with np.errstate(invalid="ignore"):
        return u / (u + v) - context_u / (context_u + context_v)


def count_patterns(model: PlainModel, threshold: float) -> FloatCount:
    """Count by looking at every pair."""
    surely = possibly = 0
    for joint in joints(model):
        size = np.abs(degrees(*joint))
        surely += int(np.count_nonzero(size > threshold + MARGIN))
        possibly += int(np.count_nonzero(size > threshold - MARGIN))
    return FloatCount(surely, possibly)


def top_degrees(model: PlainModel, k: int) -> Floats:
    """The k largest ``|degree|``."""
    best = np.empty(0)
    for joint in joints(model):
        best = _largest(np.append(best, np.nan_to_num(np.abs(degrees(*joint)))), k)
    return best


def top_divergences(model: PlainModel, threshold: float, k: int) -> Floats:
    """The k largest divergences in nats; 0 for pairs that are fair."""
    best = np.empty(0)
    for u, v, context_u, context_v in joints(model):
        degree = np.nan_to_num(degrees(u, v, context_u, context_v))
        unfair = np.abs(degree) > threshold
        u, v, degree = u[unfair], v[unfair], degree[unfair]
        share = (u + v) / (context_u[unfair] + context_v[unfair])
        a = u / (u + v)
        fair = a - np.sign(degree) * (np.abs(degree) - threshold) / (1 - share)
        divergence = (u + v) * (a * np.log(a / fair) + (1 - a) * np.log((1 - a) / (1 - fair)))
        best = _largest(np.append(best, divergence), k)
    return best


def _largest(values: Floats, k: int) -> Floats:
    if len(values) > k:
        values = np.partition(values, len(values) - k)[-k:]
    return np.sort(values)[::-1]


@dataclass(frozen=True)
class Copies:
    """The same binary attribute, several times."""

    attribute: PlainAttribute
    number: int


@dataclass(frozen=True)
class CopiesModel:
    """A model of copies: two pairs (x, y) that disclose equally many of each value are alike.

    So a model of hundreds of attributes has few kinds of pairs, and all of them can be looked at.
    """

    prior: Fraction
    copies: tuple[Copies, ...]

    def kinds(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Numbers disclosed, rows of (in x as 0, in x as 1, in y as 0, in y as 1) per copies; s; and γ."""
        per_block = []
        for block in self.copies:
            in_x = block.number if block.attribute.sensitive else 0
            counts = [
                (*x, *y)
                for x in product(range(in_x + 1), repeat=2)
                for y in product(range(block.number + 1), repeat=2)
                if sum(x) + sum(y) <= block.number
            ]
            per_block.append(np.array(counts, dtype=np.int64))
        numbers = per_block[0]
        for more in per_block[1:]:
            numbers = np.hstack([np.repeat(numbers, len(more), axis=0), np.tile(more, (len(numbers), 1))])
        log_odds = np.array(
            [
                [np.log(float(row[0])) - np.log(float(row[1])) for row in block.attribute.rows]
                for block in self.copies
            ]
        )
        shaped = numbers.reshape(len(numbers), len(self.copies), 2, 2)
        s = np.einsum("nbv,bv->n", shaped[:, :, 0], log_odds)
        gamma = np.log(float(self.prior / (1 - self.prior))) + np.einsum(
            "nbv,bv->n", shaped[:, :, 1], log_odds
        )
        some_x = shaped[:, :, 0].sum(axis=(1, 2)) > 0
        return numbers[some_x], s[some_x], gamma[some_x]

    def multiplicity(self, numbers: NDArray[np.int64]) -> int:
        """How many pairs are of a kind."""
        total = 1
        for block, counts in zip(self.copies, numbers.reshape(-1, 4), strict=True):
            left = block.number
            for count in counts.tolist():
                total *= comb(left, count)
                left -= count
        return total

    def one_of(self, numbers: NDArray[np.int64]) -> tuple[Values, Values]:
        """A pair of a kind."""
        x: list[tuple[int, int]] = []
        y: list[tuple[int, int]] = []
        first = 0
        for block, counts in zip(self.copies, numbers.reshape(-1, 4), strict=True):
            at = first
            for count, values, v in zip(counts.tolist(), (x, x, y, y), (0, 1, 0, 1), strict=True):
                values += [(at + i, v) for i in range(count)]
                at += count
            first += block.number
        return tuple(x), tuple(y)

    def plain(self) -> PlainModel:
        """All attributes, written out."""
        return PlainModel(
            self.prior,
            tuple(block.attribute for block in self.copies for _ in range(block.number)),
        )
