"""The exact parameters of a model as documents hold them, and exact numbers as text."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Annotated, Literal

from pydantic import Field

from auditor.choices import Undisclosed
from auditor.documents.record import Record
from auditor.documents.rounding import decimal_text
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.classifier import Classifier
from auditor.model.exponentials import Base
from auditor.model.naive_bayes import Attribute, NaiveBayes

FractionText = Annotated[str, Field(pattern="^(0|-?[1-9][0-9]*(/[1-9][0-9]*)?)$")]
NameText = Annotated[str, Field(min_length=1)]

#: Places of a decimal that is rounded outward, unless the threshold has more: then no rounding crosses it.
_PLACES = 12


class ExactAttribute(Record):
    """One attribute; the two lists have a probability for each value, and each adds up to exactly 1."""

    name: NameText
    sensitive: bool
    values: tuple[str, ...]
    favourable: tuple[FractionText, ...]
    """P(value | favourable)."""
    unfavourable: tuple[FractionText, ...]
    """P(value | unfavourable)."""


class ExactModel(Record):
    """The whole naive Bayes model; the digest is that of the canonical JSON (RFC 8785) of this object."""

    decision: str
    favourable: str
    unfavourable: str
    prior: FractionText
    """P(favourable)."""
    attributes: tuple[ExactAttribute, ...]


class ExactScoredAttribute(Record):
    """One attribute of a scorecard; the lists have a number for each value that can occur."""

    name: NameText
    sensitive: bool
    values: tuple[str, ...]
    weights: tuple[FractionText, ...]
    """Exponents that values add."""
    undisclosed: FractionText
    """What it adds where it isn't disclosed."""
    population: tuple[FractionText, ...] | None
    """P(value | unfavourable) in the population; null: none is assumed."""


class ExactScorecard(Record):
    """The whole scorecard; the digest is that of the canonical JSON (RFC 8785) of this object.

    The odds of the favourable decision are ``odds * base^(intercept + sum)``, where the sum has the weight of
    each disclosed value and the number of each attribute that isn't disclosed.
    """

    family: Literal["scorecard"] = "scorecard"
    decision: str
    favourable: str
    unfavourable: str
    undisclosed: Undisclosed
    """What "not disclosed" means."""
    base: Base
    """Euler's number, or 2 for points that double the odds."""
    odds: FractionText
    intercept: FractionText
    unfavourable_share: FractionText | None
    """P(unfavourable) in the population; null: none is assumed."""
    attributes: tuple[ExactScoredAttribute, ...]


def fraction_text(value: Fraction) -> str:
    """Return a fraction in lowest terms, such as ``-3/7`` or ``1``, of any length."""
    # Python refuses to print integers of more than 4300 digits; a decimal is exact and has no such limit.
    numerator, denominator = f"{Decimal(value.numerator):f}", f"{Decimal(value.denominator):f}"
    return numerator if denominator == "1" else f"{numerator}/{denominator}"


def fraction_of(text: str) -> Fraction:
    """Return the number that `fraction_text` or a plain decimal writes."""
    numerator, _, denominator = text.partition("/")
    return Fraction(Decimal(numerator)) / int(Decimal(denominator or "1"))


def outward(lower: Fraction, upper: Fraction, threshold: str) -> tuple[str, str]:
    """Round one number down and another up to decimals that compare with the threshold as they do."""
    places = max(_PLACES, len(threshold.partition(".")[2]))
    context = Context(prec=places + 2)
    ends = floor(lower * 10**places), ceil(upper * 10**places)
    low, high = (decimal_text(Decimal(end).scaleb(-places, context)) for end in ends)
    return low, high


def exact_model(model: NaiveBayes) -> ExactModel:
    """Return the model as a document carries it; its canonical JSON is that of the model."""
    return ExactModel.model_validate_json(model.canonical())


def exact_scorecard(model: AdditiveModel) -> ExactScorecard:
    """Return a scorecard as a document carries it; its canonical JSON is that of the model."""
    return ExactScorecard.model_validate_json(model.canonical())


def scorecard(name: str, exact: ExactScorecard) -> AdditiveModel:
    """Return the scorecard that a document carries."""
    share = exact.unfavourable_share
    return AdditiveModel(
        name=name,
        decision=exact.decision,
        favourable=exact.favourable,
        unfavourable=exact.unfavourable,
        undisclosed=exact.undisclosed,
        base=exact.base,
        odds=fraction_of(exact.odds),
        intercept=fraction_of(exact.intercept),
        attributes=tuple(
            ScoredAttribute(
                attribute.name,
                attribute.values,
                attribute.sensitive,
                tuple(map(fraction_of, attribute.weights)),
                fraction_of(attribute.undisclosed),
                None if attribute.population is None else tuple(map(fraction_of, attribute.population)),
            )
            for attribute in exact.attributes
        ),
        unfavourable_share=None if share is None else fraction_of(share),
    )


def carried(name: str, exact: ExactModel | ExactScorecard) -> Classifier:
    """Return the model that a document carries, of either family."""
    return naive_bayes(name, exact) if isinstance(exact, ExactModel) else scorecard(name, exact)


def naive_bayes(name: str, exact: ExactModel) -> NaiveBayes:
    """Return the naive Bayes model that a document carries."""
    return NaiveBayes(
        name=name,
        decision=exact.decision,
        favourable=exact.favourable,
        unfavourable=exact.unfavourable,
        prior=fraction_of(exact.prior),
        attributes=tuple(
            Attribute(
                attribute.name,
                attribute.values,
                attribute.sensitive,
                tuple(
                    (fraction_of(p), fraction_of(q))
                    for p, q in zip(attribute.favourable, attribute.unfavourable, strict=True)
                ),
            )
            for attribute in exact.attributes
        ),
    )
