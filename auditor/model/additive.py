"""The exact model that a scorecard means: additive log-odds in rationals, and a population."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import rfc8785

from auditor.choices import Undisclosed
from auditor.model.exponentials import Base, power


@dataclass(frozen=True)
class ScoredAttribute:
    """An attribute of a scorecard, with what each of its values adds to the log-odds."""

    name: str
    values: tuple[str, ...]
    """The labels of those of the m values that can occur."""
    sensitive: bool
    weights: tuple[Fraction, ...]
    """What each value adds to the log-odds of the favourable decision, in powers of the model's base."""
    undisclosed: Fraction
    """What the attribute adds where it isn't disclosed."""
    population: tuple[Fraction, ...] | None
    """``P(v | unfavourable)`` for each value; None where no population is assumed."""


@dataclass(frozen=True)
class AdditiveModel:
    r"""A classifier over a binary decision whose log-odds are sums of exact rationals.

    ``P(d | y) / P(d̄ | y) = odds base^(intercept + Σ_Y weight(y_i) + Σ_(Z\Y) undisclosed_i)``.
    """

    name: str
    decision: str
    favourable: str
    unfavourable: str
    """The model's name, the decision's name, and the labels of its two values."""
    undisclosed: Undisclosed
    """Which meaning of "not disclosed" the numbers of the attributes have."""
    base: Base
    odds: Fraction
    intercept: Fraction
    attributes: tuple[ScoredAttribute, ...]
    unfavourable_share: Fraction | None
    """``P(unfavourable)`` in the population; None where no population is assumed."""

    @property
    def sensitive(self) -> tuple[int, ...]:
        """Indices of the sensitive attributes, increasing."""
        return tuple(i for i, attribute in enumerate(self.attributes) if attribute.sensitive)

    def exponent(self, values: Iterable[tuple[int, int]] = ()) -> Fraction:
        """The exponent of the odds where some values are disclosed."""
        unit, start, moves = self.in_units
        return Fraction(start + sum(moves[i][v] for i, v in values), unit)

    @cached_property
    def in_units(self) -> tuple[int, int, tuple[tuple[int, ...], ...]]:
        """A common denominator; in its units the exponent of nothing, and what values move it."""
        start = sum((a.undisclosed for a in self.attributes), self.intercept)
        moves = [[w - a.undisclosed for w in a.weights] for a in self.attributes]
        unit = lcm(start.denominator, *(move.denominator for row in moves for move in row))
        return unit, int(start * unit), tuple(tuple(int(move * unit) for move in row) for row in moves)

    def total_patterns(self) -> int:
        r"""Number of pairs (x, y) with x over a non-empty set of sensitive attributes.

        ``prod_S (1 + 2 m_i) prod_(Z\\S) (1 + m_i) - prod_Z (1 + m_i)``, with m_i values of attribute i.
        """
        sizes = [(len(a.values), a.sensitive) for a in self.attributes]
        return prod(1 + m * (1 + sensitive) for m, sensitive in sizes) - prod(1 + m for m, _ in sizes)

    def probability(self, values: Iterable[tuple[int, int]] = (), digits: int = 40) -> Decimal:
        """``P(favourable | values)`` to so many digits."""
        context = Context(prec=digits)
        # The smaller of the two probabilities, so that neither 1 + odds nor 1 - P loses digits.
        t = self.exponent(values)
        low, high = power(t, self.base, digits + 6)
        wide = Context(prec=digits + 6, Emax=10**15, Emin=-(10**15))
        odds = wide.divide(
            wide.multiply(wide.divide(wide.add(low, high), Decimal(2)), Decimal(self.odds.numerator)),
            Decimal(self.odds.denominator),
        )
        return context.plus(wide.divide(odds, wide.add(odds, 1)))

    def joint(self, values: Iterable[tuple[int, int]]) -> tuple[Fraction, Fraction]:
        """``(P(favourable, z), P(unfavourable, z))`` for the disclosed values z, to 40 digits.

        Raises
        ------
        ValueError
            If no population is assumed.
        """
        if self.unfavourable_share is None:
            raise ValueError("no population is assumed, and so there are no probabilities")
        disclosed = tuple(values)
        rows = [(self.attributes[i].population, v) for i, v in disclosed]
        unfavourable = prod((row[v] for row, v in rows if row), start=self.unfavourable_share)
        low, high = power(self.exponent(disclosed), self.base, 60)
        favourable = unfavourable * self.odds * (Fraction(low) + Fraction(high)) / 2
        rounded = Context(prec=40, Emax=10**15, Emin=-(10**15)).divide(
            Decimal(favourable.numerator), Decimal(favourable.denominator)
        )
        return Fraction(rounded), unfavourable

    def canonical(self) -> bytes:
        """All that bears on the answer as canonical JSON (RFC 8785), numbers as fractions.

        The model's name and provenance are left out: two files that mean the same scorecard are the same
        scorecard, whatever their format, spelling of numbers and description.
        """
        return rfc8785.dumps(
            {
                "family": "scorecard",
                "decision": self.decision,
                "favourable": self.favourable,
                "unfavourable": self.unfavourable,
                "undisclosed": self.undisclosed,
                "base": self.base,
                "odds": str(self.odds),
                "intercept": str(self.intercept),
                "unfavourable_share": None
                if self.unfavourable_share is None
                else str(self.unfavourable_share),
                "attributes": [
                    {
                        "name": a.name,
                        "sensitive": a.sensitive,
                        "values": list(a.values),
                        "weights": [str(w) for w in a.weights],
                        "undisclosed": str(a.undisclosed),
                        "population": None if a.population is None else [str(p) for p in a.population],
                    }
                    for a in self.attributes
                ],
            }
        )

    def sha256(self) -> str:
        """Hexadecimal digest of `canonical`, by which certificates name the model."""
        return hashlib.sha256(self.canonical()).hexdigest()
