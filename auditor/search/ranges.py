"""Sets of naive Bayes models: each probability is known to lie in an interval, and no more is.

A set has every model whose probabilities lie in their intervals, each distribution adding up to 1. A pattern
uses each attribute at one value at most, and each interval is the exact range of its probability in the set,
so that the ends of all that a pattern uses are reached together by a model of the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from auditor.choices import SetName
from auditor.model.naive_bayes import NaiveBayes

#: The least and the greatest value of a probability.
Range = tuple[Fraction, Fraction]
#: Odds or a ratio of probabilities; ``inf`` where what stands below is 0.
Ratio = Fraction | float


@dataclass(frozen=True)
class Ranges:
    """A set of naive Bayes models."""

    prior: Range
    """Of P(favourable), both ends strictly between 0 and 1."""
    values: tuple[tuple[tuple[Range, Range], ...], ...]
    """Per attribute and value those of ``P(v | favourable)`` and ``P(v | unfavourable)``."""
    sensitive: tuple[int, ...]

    @property
    def odds(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest odds of the prior."""
        low, high = self.prior
        return low / (1 - low), high / (1 - high)

    def ratio(self, attribute: int, value: int) -> tuple[Ratio, Ratio] | None:
        """The least and the greatest ``P(v | d) / P(v | d̄)``; None for a value that never occurs."""
        (a0, a1), (b0, b1) = self.values[attribute][value]
        if a1 == b1 == 0:
            return None
        return (a0 / b1 if b1 else inf), (a1 / b0 if b0 else inf)


@dataclass(frozen=True)
class ModelSet:
    """A set of models about an audited one, which it has too."""

    name: SetName
    size: str
    """ε or s, as it was given."""
    ranges: Ranges


def box(model: NaiveBayes, share: Fraction) -> Ranges:
    """The models each of whose probabilities is that of a model times a factor from ``1/(1+ε)`` to ``1+ε``.

    So ``|ln θ - ln θ0| <= ln(1 + ε)`` for every probability θ. The others of its row, which add up to ``1 -
    θ``, keep it between ``1 - (1+ε)(1 - θ0)`` and ``1 - (1 - θ0)/(1+ε)``. All ends are rational.
    """
    factor = 1 + share

    def around(p: Fraction) -> Range:
        return max(p / factor, 1 - factor * (1 - p)), min(p * factor, 1 - (1 - p) / factor)

    return Ranges(
        prior=around(model.prior),
        values=tuple(
            tuple((around(a), around(b)) for a, b in attribute.likelihood) for attribute in model.attributes
        ),
        sensitive=model.sensitive,
    )


def in_box(other: NaiveBayes, model: NaiveBayes, share: Fraction) -> bool:
    """Whether a model is in the `box` of another: with its decision, attributes and values, in any order."""
    rows = {(a.name, v): p for a in other.attributes for v, p in zip(a.values, a.likelihood, strict=True)}
    ranges, bounds = box(model, share), dict[tuple[str, str], tuple[Range, Range]]()
    for attribute, row in zip(model.attributes, ranges.values, strict=True):
        bounds |= {(attribute.name, v): ends for v, ends in zip(attribute.values, row, strict=True)}
    named = [(one.decision, one.favourable, one.unfavourable) for one in (other, model)]
    if named[0] != named[1] or rows.keys() != bounds.keys():
        return False
    pairs = [(other.prior, ranges.prior)]
    for place, both in bounds.items():
        pairs += zip(rows[place], both, strict=True)
    return all(low <= p <= high for p, (low, high) in pairs)


def imprecise_dirichlet(
    decision: tuple[Fraction, Fraction],
    attributes: Sequence[tuple[Sequence[Fraction], Sequence[Fraction]]],
    strength: Fraction,
    sensitive: tuple[int, ...],
) -> Ranges:
    """The local imprecise Dirichlet model: s more rows may be anything, in each distribution for itself.

    ``P(v | d)`` lies in ``[n_v / (n + s), (n_v + s) / (n + s)]``. A count of 0 leaves log-odds without a
    lower or an upper end. Smoothed counts are learned from in the same way, and the model that is learned
    from the counts alone is always in the set.

    Parameters
    ----------
    decision : (Fraction, Fraction)
        Rows with the favourable and the unfavourable decision.
    attributes : sequence of (favourable, unfavourable)
        Per attribute the rows with each value, by decision; with what smoothing adds to them.
    strength : Fraction
        s, such as 1 or 2.
    """

    def ranges(counts: Sequence[Fraction]) -> list[Range]:
        total = sum(counts, strength)
        return [(n / total, (n + strength) / total) for n in counts]

    return Ranges(
        prior=ranges(decision)[0],
        values=tuple(
            tuple(zip(ranges(favourable), ranges(unfavourable), strict=True))
            for favourable, unfavourable in attributes
        ),
        sensitive=sensitive,
    )
