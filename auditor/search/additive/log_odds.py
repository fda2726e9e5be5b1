"""Tables of log-odds: the additive view of a classifier, in integers that sum without rounding.

Every value z of an attribute has the log-odds ``λ(z) = ln P(z | d) - ln P(z | d̄)``. What has been disclosed
moves the log-odds of the decision by the sum of its λ, which is all that the search needs to know of the
model.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import inf, prod

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.criteria import CONTEXT, ln

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Fraction bits of the fixed-point log-odds, fewer where the sum over all attributes would leave int64.
_FRACTION_BITS = 48
#: Beyond every sum of entries, and far enough within int64 that one more sum may be added to it.
FAR = 1 << 62


@dataclass(frozen=True, eq=False)
class LogOdds:
    """The fixed-point log-odds of a model, in units of ``2^-bits``.

    Attributes
    ----------
    model : NaiveBayes
        The rationals from which the table was made, and which settle what it can't.
    bits : int
    prior : int
        ``ln P(d)/P(d̄)``.
    values : tuple of tuple of (int or float)
        λ of each value of each attribute: an int, or ``±inf`` where the value has probability 0 under one
        decision.

    Notes
    -----
    Each entry is within half a unit of the truth, so that a sum over all n attributes and the prior is within
    ``slack = n + 2`` units of it, with a unit to spare for the end of the interval with which it is compared.
    """

    model: NaiveBayes
    bits: int
    prior: int
    values: tuple[tuple[int | float, ...], ...]

    @classmethod
    def of(cls, model: NaiveBayes) -> LogOdds:
        """The table of a model."""
        prior = ln(model.prior / (1 - model.prior))
        values = [
            [ln(a / b) if a and b else None for a, b in attribute.likelihood]
            for attribute in model.attributes
        ]
        largest = abs(prior) + sum(max((abs(v) for v in row if v is not None), default=0) for row in values)
        bits = min(_FRACTION_BITS, 61 - int(largest + 2).bit_length())
        scale = 1 << bits
        return cls(
            model=model,
            bits=bits,
            prior=round(prior * scale),
            values=tuple(
                tuple(
                    round(log_odds * scale) if log_odds is not None else inf if a else -inf
                    for log_odds, (a, _) in zip(row, attribute.likelihood, strict=True)
                )
                for row, attribute in zip(values, model.attributes, strict=True)
            ),
        )

    @property
    def slack(self) -> int:
        """Units within which any sum of entries is of the true sum."""
        return len(self.values) + 2

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

    def likelihoods(self, x: Assignment) -> tuple[Fraction, Fraction]:
        """``P(x | d)`` and ``P(x | d̄)``."""
        rows = [self.model.attributes[i].likelihood[v] for i, v in x]
        return (
            prod((row[0] for row in rows), start=Fraction(1)),
            prod((row[1] for row in rows), start=Fraction(1)),
        )

    def strength(self, x: Assignment) -> int | float:
        """``s``, the sum of λ over x: an int, ±inf, or nan where P(x) = 0."""
        return sum(self.values[i][v] for i, v in x)

    def real(self, units: int | float) -> float:
        """Fixed point to a float."""
        return units / (1 << self.bits)

    def units(self, end: Decimal) -> tuple[int, int]:
        """A log-odds in fixed point, rounded down and up, and kept within ``±FAR``."""
        scaled = CONTEXT.multiply(end, Decimal(1 << self.bits))
        if abs(scaled) >= FAR:
            return (FAR, FAR) if scaled > 0 else (-FAR, -FAR)
        return int(scaled.to_integral_value(ROUND_FLOOR)), int(scaled.to_integral_value(ROUND_CEILING))

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
