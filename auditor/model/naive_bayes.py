"""The exact naive Bayes model: names, values and probabilities as rationals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import rfc8785

#: Disclosed values: pairs (attribute index, value index), in increasing order of attribute.
Assignment = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Attribute:
    """A discrete attribute and its conditional distributions."""

    name: str
    values: tuple[str, ...]
    """The labels of the m values, in the order of the specification."""
    sensitive: bool
    likelihood: tuple[tuple[Fraction, Fraction], ...]
    """For each value v the pair ``(P(v | favourable), P(v | unfavourable))``. Each of the two columns sums to
    exactly 1.
    """


@dataclass(frozen=True)
class NaiveBayes:
    """A naive Bayes classifier over a binary decision, in exact rationals.

    ``P(d, z) = P(d) prod_i P(z_i | d)``; attributes that are not disclosed are summed out, which
    for naive Bayes means that they are left out of the product (Section "Problem Formalization").
    """

    name: str
    decision: str
    favourable: str
    unfavourable: str
    """The model's name, the decision's name, and the labels of its two values."""
    prior: Fraction
    """``P(favourable)``, strictly between 0 and 1."""
    attributes: tuple[Attribute, ...]

    @property
    def sensitive(self) -> tuple[int, ...]:
        """Indices of the sensitive attributes, increasing."""
        return tuple(i for i, attribute in enumerate(self.attributes) if attribute.sensitive)

    def joint(self, values: Iterable[tuple[int, int]]) -> tuple[Fraction, Fraction]:
        """``(P(d, z), P(d̄, z))`` for the disclosed values z."""
        favourable, unfavourable, whole = self.weights(values)
        return Fraction(favourable, whole), Fraction(unfavourable, whole)

    def weights(self, values: Iterable[tuple[int, int]]) -> tuple[int, int, int]:
        """Integers in the ratio of ``P(d, z)``, ``P(d̄, z)`` and 1: many times faster than fractions."""
        favourable, unfavourable, whole = self._integers[-1][0]
        for i, v in values:
            a, b, of = self._integers[i][v]
            favourable, unfavourable, whole = favourable * a, unfavourable * b, whole * of
        return favourable, unfavourable, whole

    @cached_property
    def _integers(self) -> list[list[tuple[int, int, int]]]:
        """Per attribute and value both likelihoods over a shared denominator; at the end the prior."""
        tables = [attribute.likelihood for attribute in self.attributes]
        return [
            [
                (a.numerator * (whole // a.denominator), b.numerator * (whole // b.denominator), whole)
                for a, b in rows
            ]
            for rows in (*tables, ((self.prior, 1 - self.prior),))
            for whole in [lcm(*(p.denominator for row in rows for p in row))]
        ]

    def total_patterns(self) -> int:
        r"""Number of pairs (x, y) with x over a non-empty set of sensitive attributes.

        ``prod_S (1 + 2 m_i) prod_(Z\\S) (1 + m_i) - prod_Z (1 + m_i)``, with m_i values of attribute i.
        """
        sizes = [(len(a.values), a.sensitive) for a in self.attributes]
        return prod(1 + m * (1 + sensitive) for m, sensitive in sizes) - prod(1 + m for m, _ in sizes)

    def canonical(self) -> bytes:
        """All that bears on the answer as canonical JSON (RFC 8785), probabilities as fractions.

        The model's name and provenance are left out: two files that mean the same model are the
        same model, whatever their format, spelling of numbers and description.
        """
        return rfc8785.dumps(
            {
                "decision": self.decision,
                "favourable": self.favourable,
                "unfavourable": self.unfavourable,
                "prior": str(self.prior),
                "attributes": [
                    {
                        "name": a.name,
                        "sensitive": a.sensitive,
                        "values": list(a.values),
                        "favourable": [str(row[0]) for row in a.likelihood],
                        "unfavourable": [str(row[1]) for row in a.likelihood],
                    }
                    for a in self.attributes
                ],
            }
        )

    def sha256(self) -> str:
        """Hexadecimal digest of `canonical`, by which certificates name the model."""
        return hashlib.sha256(self.canonical()).hexdigest()
