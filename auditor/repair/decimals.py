"""Probabilities as they are written: finite decimals, each row adding up to exactly 1."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from auditor.model.naive_bayes import NaiveBayes

#: Significant digits of a written probability; the largest of its row takes what the others leave of 1.
DIGITS = 15
_CONTEXT = Context(prec=DIGITS)


def rounded_row(row: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The row with each probability at 15 significant digits, but the largest: 1 minus all others, exactly.

    A probability of 0 stays 0, and equal rows stay equal.
    """
    largest = max(range(len(row)), key=lambda v: row[v])
    rounded = [Fraction(_CONTEXT.divide(Decimal(p.numerator), Decimal(p.denominator))) for p in row]
    rounded[largest] += 1 - sum(rounded, Fraction(0))
    return tuple(rounded)


def rounded_model(model: NaiveBayes, keep: Collection[int] = ()) -> NaiveBayes:
    """The model that a file can hold in decimals, nearest to a given one; what is kept stays as it is."""
    attributes = []
    for i, attribute in enumerate(model.attributes):
        if i in keep:
            attributes.append(attribute)
            continue
        columns = (rounded_row([row[side] for row in attribute.likelihood]) for side in (0, 1))
        attributes.append(replace(attribute, likelihood=tuple(zip(*columns, strict=True))))
    prior, _ = rounded_row((model.prior, 1 - model.prior))
    return replace(model, prior=prior, attributes=tuple(attributes))


def exact_decimal(probability: Fraction) -> Decimal:
    """A finite decimal as `decimal.Decimal`, digit for digit.

    Raises
    ------
    decimal.Inexact
        If the fraction is no finite decimal.
    """
    # A denominator 2^a 5^b divides 10^max(a, b), and max(a, b) is less than its number of bits.
    places = probability.denominator.bit_length()
    context = Context(prec=places + len(str(probability.numerator)), Emin=-(10**9), Emax=10**9)
    context.traps[Inexact] = True
    return context.divide(Decimal(probability.numerator), Decimal(probability.denominator))
