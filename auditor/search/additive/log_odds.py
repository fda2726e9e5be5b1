"""Tables of log-odds: the additive view of a classifier, in integers that sum without rounding.

Every value z of an attribute has the log-odds ``λ(z) = ln P(z | d) - ln P(z | d̄)``. What has been disclosed
moves the log-odds of the decision by the sum of its λ, which is all that the search needs to know of the
model.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from auditor.model.exponentials import Quotient
from auditor.model.naive_bayes import Assignment
from auditor.search.criteria import CONTEXT, Criterion, Interval
from auditor.search.pattern import Pattern

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Fraction bits of the fixed-point log-odds, fewer where the sum over all attributes would leave int64.
_FRACTION_BITS = 48
#: By how much intervals of γ are widened at least.
_WIDER = 1e-9
#: What logarithms of probabilities are taken to be off by at least.
_ROUNDING = 1e-9
#: Beyond every sum of entries, and far enough within int64 that one more sum may be added to it.
FAR = 1 << 62


class Exact(Protocol):
    """Exact arithmetic on one classifier: it settles what tables of integers and floats can't.

    The search asks it about the few cases that lie within rounding of a threshold or of each other, and for
    the figures of patterns that are listed. Every answer must be right, whatever it costs; a family of
    classifiers without ties can give it by intervals of growing precision. x and y are disjoint assignments,
    each in order of attribute, that can occur.
    """

    @property
    def error(self) -> Fraction:
        """A measured |degree| is at most the true one, and less than it by no more than this share of it."""

    def measure(self, criterion: Criterion, x: Assignment, y: Assignment) -> Pattern:
        """The pair (x, y) with its figures; raises ValueError where it can't occur, ``P(xy) = 0``."""

    def discriminates(self, criterion: Criterion, x: Assignment, y: Assignment) -> bool:
        """Whether ``|degree| > threshold``."""

    def size(self, criterion: Criterion, x: Assignment, y: Assignment) -> Quotient:
        """|degree| of a pair that moves the decision, exactly."""

    def probable(self, x: Assignment, y: Assignment, least: Fraction) -> bool:
        """Whether ``P(xy) >= least``."""

    def interval(self, criterion: Criterion, x: Assignment) -> Interval | None:
        """The open interval of γ in which x discriminates, its ends to 50 digits; None if there is none."""

    def closed(self, criterion: Criterion, x: Assignment) -> bool:
        """Whether |degree| is at most the threshold for every real γ."""

    def worst_first(
        self, criterion: Criterion, x: Assignment, contexts: Sequence[Assignment]
    ) -> list[list[Assignment]]:
        """The contexts by decreasing |degree| of x, those that tie together."""

    def extreme(self, attribute: int, sign: int) -> int:
        """The value of greatest λ for sign 1, of least for -1; the first of those that tie."""

    def sign(self, attribute: int, value: int) -> int:
        """1, 0 or -1: the sign of λ of a value."""

    def log_odds(self, attribute: int, value: int) -> Decimal:
        """λ of a value, where it is finite, to 50 digits."""

    def log_prior(self) -> Decimal:
        """γ where nothing is disclosed, to 50 digits."""

    def prior(self) -> Hashable:
        """What two models have in common only if ``P(d)`` is the same."""

    def ratio(self, x: Assignment) -> Hashable:
        """What two models have in common only if λ of x is the same."""

    def row(self, attribute: int) -> Hashable:
        """What attributes have in common only if their values have exactly the same λ and probabilities."""


@dataclass(frozen=True, eq=False)
class Population:
    """How probable values are, in floats."""

    log_prior: tuple[float, float]
    """``ln P(d)`` and ``ln P(d̄)``, each off by a few units in the last place at most, like all that follow.
    """
    log_likelihood: tuple[Floats, ...]
    """Shape (values, 2): per attribute ``ln P(v | d)`` and ``ln P(v | d̄)``."""

    @cached_property
    def rise(self) -> float:
        """By how much disclosing more can raise ``ln P(xy)``: where shares are rounded, by a hair."""
        return sum(max(0.0, float(rows.max())) for rows in self.log_likelihood)

    @cached_property
    def rounding(self) -> float:
        """More than ``ln P(xy)`` is off by, together with what disclosing more can raise it.

        With a value of each of n attributes it is a sum of n + 1 logarithms, in which no partial sum is
        larger than L, the sum of the largest finite ones. Each of these is off by a few units in its last
        place, and each addition by half a unit of a partial sum: ``(n + 8) (L + 2) 2^-50`` is more.
        """
        largest = max(map(abs, self.log_prior)) + sum(
            float(np.abs(rows[np.isfinite(rows)]).max()) for rows in self.log_likelihood
        )
        number = len(self.log_likelihood)
        return max(_ROUNDING, (number + 8) * (largest + 2) * 2.0**-50) + self.rise


@dataclass(frozen=True, eq=False)
class LogOdds:
    """The fixed-point log-odds of a classifier, in units of ``2^-bits``.

    Notes
    -----
    Each entry is within half a unit of the truth, so that a sum over all n attributes and the prior is within
    ``slack = n + 2`` units of it, with a unit to spare for the end of the interval with which it is compared.
    """

    bits: int
    prior: int
    """γ where nothing is disclosed."""
    values: tuple[tuple[int | float, ...], ...]
    """λ of each value of each attribute: an int, or ``±inf`` where the value has probability 0 under one
    decision.
    """
    sensitive: tuple[int, ...]
    """Indices of the sensitive attributes, increasing."""
    population: Population | None
    """None where no population is assumed: then nothing is ranked by probability or divergence."""
    exact: Exact

    @classmethod
    def rounded(
        cls,
        prior: Decimal,
        values: Sequence[Sequence[Decimal | float]],
        sensitive: tuple[int, ...],
        population: Population | None,
        exact: Exact,
    ) -> LogOdds:
        """Tables of log-odds that are given to 20 digits more than a float has; ``±inf`` as floats."""
        finite = [[v for v in row if isinstance(v, Decimal)] for row in values]
        largest = abs(prior) + sum(max(map(abs, row), default=Decimal(0)) for row in finite)
        bits = min(_FRACTION_BITS, 61 - int(largest + 2).bit_length())
        scale = 1 << bits
        return cls(
            bits=bits,
            prior=round(prior * scale),
            values=tuple(
                tuple(round(v * scale) if isinstance(v, Decimal) else v for v in row) for row in values
            ),
            sensitive=sensitive,
            population=population,
            exact=exact,
        )

    @property
    def slack(self) -> int:
        """Units within which any sum of entries is of the true sum."""
        return len(self.values) + 2

    @cached_property
    def error(self) -> float:
        """Within which any s, added up in floats, and any γ, made a float, are of the true ones.

        Beyond ``2^53`` units floats round each step by so many of their last places: that counts where
        probabilities are next to 0.
        """
        largest = sum(max(map(abs, self.reach[i])) for i in self.sensitive)
        rounding = ((len(self.sensitive) + 2) * largest + max(map(abs, self.full_reach))) * 2.0**-52
        return (self.slack + 2 + rounding) / (1 << self.bits)

    @cached_property
    def wider(self) -> float:
        """Added to both ends of an interval of γ in floats: more than rounding moves them, at any size."""
        return max(_WIDER, 4 * self.error)

    @cached_property
    def finite(self) -> tuple[tuple[int, ...], ...]:
        """Per attribute the indices of the values with finite λ.

        A value with infinite λ pins ``P(d | y)`` to 0 or 1, where disclosing more changes nothing: no
        context of a discrimination pattern has one.
        """
        return tuple(tuple(v for v, z in enumerate(row) if isinstance(z, int)) for row in self.values)

    @cached_property
    def options(self) -> tuple[Integers, ...]:
        """Per attribute what it can add to γ: 0 if not disclosed, then the finite λ."""
        return tuple(
            np.array([0, *(row[v] for v in finite)], dtype=np.int64)
            for row, finite in zip(self.values, self.finite, strict=True)
        )

    @cached_property
    def alike(self) -> tuple[int, ...]:
        """Per attribute the first whose values have exactly the same λ and probabilities.

        Equal entries of tables don't show that.
        """
        first: dict[Hashable, int] = {}
        return tuple(first.setdefault(self.exact.row(i), i) for i in range(len(self.values)))

    @cached_property
    def reach(self) -> tuple[tuple[int, int], ...]:
        """Per attribute the least and the greatest that it can add to γ, disclosed or not."""
        return tuple((int(row.min()), int(row.max())) for row in self.options)

    @cached_property
    def full_reach(self) -> tuple[int, int]:
        """The least and the greatest γ over every context."""
        return (
            self.prior + sum(low for low, _ in self.reach),
            self.prior + sum(high for _, high in self.reach),
        )

    def strength(self, x: Assignment) -> int | float:
        """``s``, the sum of λ over x: an int, ±inf, or nan where P(x) = 0."""
        return sum(self.values[i][v] for i, v in x)

    def real(self, units: int | float) -> float:
        """Fixed point to a float."""
        return units / (1 << self.bits)

    def reals(self, units: Integers) -> Floats:
        """Fixed point to floats, each off by a unit in the last place at most."""
        result: Floats = units / np.float64(1 << self.bits)
        return result

    def units(self, end: Decimal) -> tuple[int, int]:
        """A log-odds in fixed point, rounded down and up, and kept within ``±FAR``."""
        scaled = CONTEXT.multiply(end, Decimal(1 << self.bits))
        if abs(scaled) >= FAR:
            return (FAR, FAR) if scaled > 0 else (-FAR, -FAR)
        return int(scaled.to_integral_value(ROUND_FLOOR)), int(scaled.to_integral_value(ROUND_CEILING))

    def total_patterns(self) -> int:
        """Number of pairs (x, y) with x over a non-empty set of sensitive attributes."""
        sizes = [(len(row), i in self.sensitive) for i, row in enumerate(self.values)]
        return prod(1 + m * (1 + sensitive) for m, sensitive in sizes) - prod(1 + m for m, _ in sizes)

    @cached_property
    def total_combinations(self) -> int:
        """How many x there are, over every non-empty set of sensitive attributes."""
        return prod(1 + len(self.values[i]) for i in self.sensitive) - 1

    @cached_property
    def strengths(self) -> tuple[float, float]:
        """At most and at least s of any x: each attribute adds what it can alone (the paper's lemma)."""
        return self.strengths_of(self.sensitive)

    def strengths_of(self, attributes: Sequence[int]) -> tuple[float, float]:
        """The same of those x that disclose none but some attributes."""
        rows = [self.values[i] for i in attributes]
        return sum(max(0, *row) for row in rows), sum(min(0, *row) for row in rows)

    def outside(self, x: Assignment) -> tuple[int, ...]:
        """The attributes that x leaves free for the context."""
        disclosed = {i for i, _ in x}
        return tuple(i for i in range(len(self.values)) if i not in disclosed)

    def context_reach(self, x: Assignment) -> tuple[int, int]:
        """The least and the greatest γ over every context of x."""
        low, high = self.full_reach
        return low - sum(self.reach[i][0] for i, _ in x), high - sum(self.reach[i][1] for i, _ in x)


def merged(*assignments: Assignment) -> Assignment:
    """Disjoint assignments as one, in order of attribute."""
    return tuple(sorted(chain.from_iterable(assignments)))


def population_of(tables: LogOdds) -> Population:
    """The population, for searches that make no sense without one."""
    if tables.population is None:
        raise ValueError("no population is assumed, in which patterns could have a probability")
    return tables.population
