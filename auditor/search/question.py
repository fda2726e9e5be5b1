"""What is asked of a model: the exact numbers, and the text in which they were given."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Self, TypeVar

from auditor.choices import CriterionName
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.classifier import Classifier, has_population
from auditor.model.naive_bayes import Attribute
from auditor.search.additive.tables import exact_of
from auditor.search.criteria import CRITERIA, Criterion
from auditor.search.limits import DEFAULT, Limits

_Attribute = TypeVar("_Attribute", Attribute, ScoredAttribute)

#: Digits and exponents are bounded, so that no text costs more than a glance.
_DECIMAL = re.compile(r"(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?", re.ASCII)
#: Of a probability that is named, which is not to be above the true one.
_DIGITS = Context(prec=4, rounding=ROUND_DOWN, Emax=10**9, Emin=-(10**9))


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1, or to another end."""

    text: str
    """As it was given."""
    value: Fraction
    """What the text means, exactly."""

    @classmethod
    def of(cls, given: str | float, most: int = 1) -> Self:
        """Read a plain decimal; a float is taken as the shortest decimal that it prints as.

        Raises
        ------
        InputError
            If it is no plain decimal, or out of range.
        """
        text = str(given).strip()
        if not _DECIMAL.fullmatch(text) or not 0 <= (value := Fraction(text)) <= most:
            raise InputError(
                f"{shown(text)} is not a decimal number from 0 to {most}; write one, such as 0.05"
            )
        return cls(text, value)


@dataclass(frozen=True)
class Question:
    """Whether disclosing sensitive values moves the decision by more than δ, and where."""

    delta: Share
    """The threshold δ; a degree of exactly δ is fair."""
    criterion_name: CriterionName = "difference"
    min_probability: Share | None = None
    """With it the question is about patterns with at least this ``P(xy)`` only."""
    sensitive: tuple[str, ...] | None = None
    """Names of the attributes to protect; None for those that the model marks as sensitive."""
    limits: Limits = DEFAULT
    """What the search may use. The favourable decision is the model's."""

    @classmethod
    def of(
        cls,
        delta: str | float,
        criterion: CriterionName = "difference",
        min_probability: str | float | None = None,
        sensitive: tuple[str, ...] | None = None,
        limits: Limits = DEFAULT,
    ) -> Self:
        """Ask in numbers as they are given.

        Raises
        ------
        InputError
            If a number is out of range or the criterion isn't known.
        """
        if criterion not in CRITERIA:
            raise InputError(f"criterion: {shown(criterion)} is none of {', '.join(CRITERIA)}")
        least = None if min_probability is None else Share.of(min_probability)
        return cls(Share.of(delta), criterion, least, sensitive, limits)

    def besides(self, given: str) -> Question:
        """Ask by another criterion, at a δ of its own, as in ``"ratio:0.2"``.

        Raises
        ------
        InputError
            If that isn't what is given, or it is the criterion that is asked about already.
        """
        name, _, delta = (part.strip() for part in given.partition(":"))
        own = next((known for known in CRITERIA if known == name), None)
        if own is None or not delta:
            raise InputError(
                f"also: {shown(given)} is no criterion with its own δ; give {' or '.join(CRITERIA)}, a colon "
                "and a number, such as ratio:0.2"
            )
        if own == self.criterion_name:
            raise InputError(
                f"also: δ = {self.delta.text} limits the {own} already; give the other criterion"
            )
        try:
            return replace(self, delta=Share.of(delta), criterion_name=own)
        except InputError as error:
            raise InputError(f"also: {error}") from error

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion with its exact threshold."""
        return CRITERIA[self.criterion_name](self.delta.value)

    def put_to(self, model: Classifier) -> Classifier:
        """Return the model with the attributes of the question marked as sensitive, and no others.

        Raises
        ------
        InputError
            If the model hasn't one of them, or none is left to protect; or if the question is about
            probabilities, and the model assumes no population or has no pattern that is so probable.
        """
        marked = self._marked(model)
        if self.min_probability is not None:
            _refuse_empty(marked, self.min_probability)
        return marked

    def _marked(self, model: Classifier) -> Classifier:
        if self.min_probability is not None and not has_population(model):
            raise InputError(
                "minimum probability: no population is assumed where what isn't disclosed is "
                f"{undisclosed(model)}, and so patterns have no probability; leave it out, or give the share "
                'of each value and ask about the "conforming" population'
            )
        if self.sensitive is None:
            return model
        names = [attribute.name for attribute in model.attributes]
        if missing := [name for name in self.sensitive if name not in names]:
            known = ", ".join(map(shown, names[:20]))
            raise InputError(f"sensitive: the model has no {shown(name)}; it has {known}" for name in missing)
        if not self.sensitive:
            raise InputError("sensitive: name at least one attribute")
        if isinstance(model, AdditiveModel):
            return replace(model, attributes=_marked(model.attributes, self.sensitive))
        return replace(model, attributes=_marked(model.attributes, self.sensitive))


def _refuse_empty(model: Classifier, least: Share) -> None:
    """Refuse to look where there is nothing: disclosing more than one sensitive value is only rarer."""
    exact = exact_of(model)
    values = [(i, v) for i in model.sensitive for v in range(len(model.attributes[i].values))]
    if not values or any(exact.probable((value,), (), least.value) for value in values):
        return
    i, v = most = max(values, key=lambda value: sum(model.joint([value])))
    attribute, share = model.attributes[i], sum(model.joint([most]), Fraction(0))
    shortened = _DIGITS.divide(Decimal(share.numerator), Decimal(share.denominator)).normalize()
    raise InputError(
        f"minimum probability: no pattern is as probable as {least.text}; the most probable one, "
        f"{shown(attribute.name)} = {shown(attribute.values[v])}, has a probability of {shortened}; ask for "
        "that at most"
    )


def undisclosed(model: Classifier) -> str:
    """What an attribute that isn't disclosed means to a model, as messages name it."""
    return f'"{model.undisclosed}"' if isinstance(model, AdditiveModel) else "summed out"


def _marked(attributes: tuple[_Attribute, ...], sensitive: tuple[str, ...]) -> tuple[_Attribute, ...]:
    return tuple(replace(a, sensitive=a.name in sensitive) for a in attributes)
