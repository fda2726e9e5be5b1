"""The specification of a scorecard, version 1: what a file must say, and the exact model that it means.

A logistic regression over bins and categories is a scorecard that counts in log-odds. The descriptions of the
fields are those of the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from auditor.choices import Undisclosed
from auditor.errors import InputError
from auditor.messages import Place, Problem, escaped, has_parts, items, lines, part, shown
from auditor.model import checks
from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.explaining import validated
from auditor.model.spec import Listed, Name, Part, Probability, Provenance, RepairRecord, Text, ValueSpec

KIND = "auditor/scorecard"
VERSION = 1

#: Shares come rounded from tables; they may miss a sum of 1 by this much, and are divided by their sum.
SHARES_TOLERANCE = Fraction(1, 200)
#: What to do about attributes that a scorecard doesn't ask for.
NO_INPUT = (
    "Of attributes that aren't inputs of the scorecard this question finds nothing: to audit its decisions, "
    "learn a model of them from a table that has both"
)
#: The value of a special bin that holds whatever no other value does.
ANY_OTHER = "any other"
#: How far a written weight of what isn't disclosed may be from that of the conforming population.
_AGREEMENT = Decimal("1e-9")
#: Decimal places of the weights of what isn't disclosed.
_PLACES = Decimal("1e-20")
#: Of the shares of the conforming population.
_SHARE_DIGITS = Context(prec=30, Emax=10**9, Emin=-(10**9))
#: Below it P(unfavourable) is not taken from what the favourable decision leaves of 1.
_RARE = Fraction(1, 10**10)
#: No probability of the conforming population may be below it: it would take thousands of digits to write.
_LEAST = Fraction(1, 10**400)
_TOO_LARGE = (
    'no conforming population can be computed from numbers so large; write "undisclosed" at each attribute'
)
#: By how much all numbers together may move the exponent of the odds.
_MOST = 1_000_000
_CONTEXT = Context(prec=60, Emax=10**9, Emin=-(10**9))

Positive = Annotated[
    Decimal,
    PlainValidator(checks.positive),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
Score = Annotated[
    Decimal,
    PlainValidator(checks.score),
    WithJsonSchema({"type": "number", "minimum": -checks.MAX_SCORE, "maximum": checks.MAX_SCORE}),
]


#: A value of the decision, by what it means for people.
Side = Literal["favourable", "unfavourable"]


class ScorecardDecision(Part):
    """The binary decision, and which way the numbers point."""

    name: Name
    favourable: ValueSpec
    unfavourable: ValueSpec
    higher: Side = "favourable"
    """Which value of the decision higher points or weights speak for."""


class Scale(Part):
    """How points become odds: ``odds * 2^((sum of points - offset) / pdo)``."""

    pdo: Positive
    """Points that double the odds."""
    offset: Score = Decimal(0)
    """The score at which the odds are those given."""
    odds: Positive = Decimal(1)
    """Odds at the offset."""


def _without_a_label(schema: dict[str, Any]) -> None:
    schema["required"] = ["value"]
    schema["anyOf"] = [{"required": ["weight"]}, {"required": ["points"]}]


class ScoredValue(Part):
    """A bin or category of an attribute, and what it counts."""

    model_config = ConfigDict(json_schema_extra=_without_a_label)

    value: Name
    """What stands in the data: a category, or an interval."""
    label: Name
    """What people read; the value, if it isn't given."""
    categories: Annotated[tuple[Name, ...] | None, Listed] = None
    """The cells of data that it stands for, if several."""
    points: Score | None = None
    """Where the scorecard has a scale."""
    weight: Score | None = None
    """In log-odds, where it has no scale."""
    before: Score | None = None
    """Points or weight before a repair, where that moved it."""
    share: Probability | None = None
    """Share of the population; a value of share 0 doesn't occur in it."""
    bin: Literal["missing", "special"] | None = None
    """Whether it holds what isn't a usual value."""
    reason_code: Name | None = None
    """What an adverse decision cites."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_label(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, dict) and "label" not in data and isinstance(data.get("value"), str):
            return handler({**data, "label": data["value"]})
        return handler(data)

    @model_serializer(mode="wrap")
    def _without_label(self, handler: Any) -> dict[str, object]:
        tree: dict[str, object] = {k: v for k, v in handler(self).items() if v is not None}
        if self.label == self.value:
            del tree["label"]
        return tree

    @property
    def number(self) -> Decimal:
        """Its points or its weight, as written."""
        number = self.weight if self.points is None else self.points
        assert number is not None, "validation has seen to it"
        return number


class ScorecardAttribute(Part):
    """A characteristic of the scorecard."""

    name: Name
    """What the column is called in the data."""
    label: Name | None = None
    """What people read in place of the name."""
    sensitive: bool = False
    """Whether it is protected, or stands in for what is."""
    sensitive_reason: Text | None = None
    """Why it is protected."""
    values: Annotated[
        tuple[ScoredValue, ...],
        Listed,
        Field(json_schema_extra={"minItems": 1, "maxItems": checks.MAX_VALUES}),
    ]
    undisclosed: Score | None = None
    """Its points or weight where it isn't disclosed."""
    baseline: Score | None = None
    """Against which points are compared for reason codes."""
    reason_code: Name | None = None
    """Of the values that have none of their own."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the values, in their order."""
        return tuple(value.label for value in self.values)


class ScorecardSpec(Part):
    """A scorecard, or a logistic regression over bins and categories, that makes a binary decision.

    Validation reports every problem of the whole specification at once. Numbers have at most 400 digits and
    lie within 1e±400; all attributes together have at most 100,000 values, and the file 32 MB.
    """

    kind: Literal["auditor/scorecard"]
    version: Literal[1]
    name: Name
    decision: ScorecardDecision
    scale: Scale | None = None
    """Of points; without it weights are log-odds."""
    intercept: Score = Decimal(0)
    """Base points, or the intercept in log-odds."""
    reason_points: Literal["below", "above"] | None = None
    """Whether an adverse decision cites what has points below its baseline, or above."""
    intercept_before: Score | None = None
    """The intercept before a repair, where that moved it."""
    undisclosed: Undisclosed | None = None
    """What an attribute counts that isn't disclosed: as in the likeliest population that conforms with the
    scorecard (the default where shares are given), as the bin of missing values, or as declared at each
    attribute.
    """
    attributes: Annotated[
        tuple[ScorecardAttribute, ...],
        Listed,
        Field(json_schema_extra={"minItems": 1, "maxItems": checks.MAX_ATTRIBUTES}),
    ]
    provenance: Provenance | None = None
    repair: RepairRecord | None = None
    """Written by `auditor repair`; what was moved says what it was before."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_all_problems(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return validated(cls, data, handler, across)

    @property
    def meaning(self) -> Undisclosed:
        """What "not disclosed" means: as said, or else by what the attributes give.

        Raises
        ------
        InputError
            If nothing says it.
        """
        meaning = _meaning(self)
        if meaning is None:
            raise InputError(
                f"{escaped(self.name)}: nothing says what an attribute counts that isn't disclosed; give the "
                "share of each value (auditor import --data takes them from a table), or write "
                '"undisclosed": "missing-bin", or give each attribute its own "undisclosed"'
            )
        return meaning

    def taken_as(self, meaning: Undisclosed | None) -> Self:
        """The same scorecard under another meaning of what isn't disclosed; None leaves it.

        Raises
        ------
        InputError
            If the scorecard hasn't got the numbers for it; with one line per problem.
        """
        if meaning in (None, self.undisclosed):
            return self
        tree = self.model_dump() | {"undisclosed": meaning}
        if meaning != "declared":
            for attribute in tree["attributes"]:
                attribute["undisclosed"] = None
        try:
            return type(self).model_validate(tree)
        except ValidationError as error:
            found = [Problem(details["loc"], details["msg"]) for details in error.errors(include_url=False)]
            raise InputError(lines(self.name, found, tree)) from error

    @property
    def attribute_labels(self) -> dict[str, str]:
        """What people read for each attribute, by its name; no answer or digest depends on it."""
        return {attribute.name: attribute.label or attribute.name for attribute in self.attributes}

    def classifier(self) -> AdditiveModel:
        """The exact model that this specification means.

        Raises
        ------
        InputError
            If nothing says what an attribute counts that isn't disclosed.
        """
        model = self._assuming_nobody(lambda attribute: _occurring(attribute, self.meaning))
        return model if self.meaning != "conforming" else self._populated(model)

    def scored(self) -> AdditiveModel:
        """The exact model of all bins, also of those in which the population has nobody: what is deployed."""
        return self._assuming_nobody(lambda attribute: attribute.values)

    def imputed(self) -> tuple[Decimal, ...]:
        """Per attribute its points or weight where it isn't disclosed, in the unit of the file.

        Raises
        ------
        InputError
            If nothing says it, or the equations of the conforming population can't be solved.
        """
        numbers = [attribute.undisclosed for attribute in self.attributes]
        if self.meaning == "missing-bin":
            return tuple(
                next(v.number for v in attribute.values if v.bin == "missing")
                for attribute in self.attributes
            )
        given = tuple(number for number in numbers if number is not None)
        return given if len(given) == len(numbers) else self.conforming()

    def conforming(self) -> tuple[Decimal, ...]:
        """`imputed` of the likeliest population that conforms with the scorecard.

        Raises
        ------
        InputError
            If its equations can't be solved.
        """
        # Imported here, since NumPy takes longer to import than most models take to read.
        from auditor.model.conforming import imputed_weights

        occurring = [_occurring(attribute) for attribute in self.attributes]
        nats = self.nats
        # An attribute whose values all count the same counts that undisclosed too; it has no equation.
        free = [i for i, values in enumerate(occurring) if len({v.number for v in values}) > 1]
        fixed = [values[0].number for i, values in enumerate(occurring) if i not in free]
        try:
            solved = imputed_weights(
                _CONTEXT.add(_intercept_nats(self), _CONTEXT.multiply(sum(fixed, Decimal(0)), nats)),
                [[_CONTEXT.multiply(v.number, nats) for v in occurring[i]] for i in free],
                [_shares(occurring[i]) for i in free],
            )
        except (ArithmeticError, ValueError) as error:
            raise InputError(f"{escaped(self.name)}: {_TOO_LARGE}") from error
        found = [values[0].number for values in occurring]
        for i, u in zip(free, solved, strict=True):
            numbers = [v.number for v in occurring[i]]
            rounded = _CONTEXT.divide(u, nats).quantize(_PLACES, context=_CONTEXT)
            found[i] = min(max(rounded, min(numbers)), max(numbers))
        return tuple(found)

    def exponent_at(self, score: Decimal) -> Fraction:
        """The exponent of the odds of the favourable decision at a score in the unit of the file."""
        offset = Fraction(0) if self.scale is None else Fraction(self.scale.offset)
        return (Fraction(score) - offset) * self._unit

    @property
    def half_unit(self) -> tuple[Decimal, Fraction]:
        """Half a unit of the last place that any number is written to, and its exponent of the odds."""
        written = [self.intercept, *(v.number for a in self.attributes for v in a.values)]
        written += [a.undisclosed for a in self.attributes if a.undisclosed is not None]
        exponents = [number.as_tuple().exponent for number in written]
        half = Decimal(5).scaleb(min(0, *(e for e in exponents if isinstance(e, int))) - 1)
        return half, Fraction(half) * abs(self._unit)

    @property
    def nats(self) -> Decimal:
        """What one of the file's units adds to the log-odds of the favourable decision."""
        sign = Decimal(1 if self.decision.higher == "favourable" else -1)
        return sign if self.scale is None else _CONTEXT.divide(_CONTEXT.ln(Decimal(2)), sign * self.scale.pdo)

    @property
    def _unit(self) -> Fraction:
        """What one of the file's units adds to the exponent of the odds of the favourable decision."""
        sign = Fraction(1 if self.decision.higher == "favourable" else -1)
        return sign if self.scale is None else sign / Fraction(self.scale.pdo)

    def _assuming_nobody(
        self, taken: Callable[[ScorecardAttribute], tuple[ScoredValue, ...]]
    ) -> AdditiveModel:
        """The exact model of some values of each attribute, without a population.

        Raises
        ------
        InputError
            If its odds are too large to be worked out.
        """
        unit, odds = self._unit, Fraction(1)
        if self.scale is not None:
            odds = Fraction(self.scale.odds) ** (1 if unit > 0 else -1)
        model = AdditiveModel(
            name=self.name,
            decision=self.decision.name,
            favourable=self.decision.favourable.label,
            unfavourable=self.decision.unfavourable.label,
            undisclosed=self.meaning,
            base="e" if self.scale is None else "2",
            odds=odds,
            intercept=self.exponent_at(self.intercept),
            attributes=tuple(
                ScoredAttribute(
                    name=attribute.name,
                    values=tuple(value.label for value in taken(attribute)),
                    sensitive=attribute.sensitive,
                    weights=tuple(Fraction(value.number) * unit for value in taken(attribute)),
                    undisclosed=Fraction(undisclosed) * unit,
                    population=None,
                )
                for attribute, undisclosed in zip(self.attributes, self.imputed(), strict=True)
            ),
            unfavourable_share=None,
        )
        rows = [max(map(abs, (a.undisclosed, *a.weights))) for a in model.attributes]
        if abs(model.intercept) + sum(rows) > _MOST:
            raise InputError(
                f"{escaped(self.name)}: its numbers move the exponent of the odds by more than {_MOST:,} in "
                "all, too far for odds to be worked out; are they on the scale (pdo) that it gives?"
            )
        return model

    def _populated(self, model: AdditiveModel) -> AdditiveModel:
        """The same model with the shares of its conforming population, to 30 digits."""
        from auditor.model.conforming import shares_given_unfavourable

        nats = abs(self.nats)
        unit = nats * self.scale.pdo if self.scale else nats
        log_odds = _CONTEXT.add(
            _CONTEXT.ln(_decimal(model.odds)), _CONTEXT.multiply(_decimal(model.exponent()), unit)
        )
        attributes = []
        for spec, attribute in zip(self.attributes, model.attributes, strict=True):
            shares = shares_given_unfavourable(
                log_odds,
                [_CONTEXT.multiply(_decimal(w), unit) for w in attribute.weights],
                _CONTEXT.multiply(_decimal(attribute.undisclosed), unit),
                _shares(_occurring(spec)),
            )
            # What everyone has would, for the digits that the number undisclosed hasn't, be had by more.
            population = tuple(min(Fraction(1), Fraction(_SHARE_DIGITS.plus(share))) for share in shares)
            attributes.append(replace(attribute, population=population))
        unfavourable = 1 - Fraction(model.probability(digits=_SHARE_DIGITS.prec))
        if unfavourable < _RARE:
            # Of so rare a decision the difference keeps too few digits, or none.
            odds = _CONTEXT.exp(log_odds)
            unfavourable = Fraction(_SHARE_DIGITS.divide(1, _CONTEXT.add(1, odds)))
        if min(unfavourable, *(share for a in attributes for share in a.population or ())) < _LEAST:
            raise InputError(f"{escaped(self.name)}: {_TOO_LARGE}")
        return replace(model, attributes=tuple(attributes), unfavourable_share=unfavourable)


def _intercept_nats(spec: ScorecardSpec) -> Decimal:
    """The log-odds of the favourable decision before any attribute counts."""
    nats = spec.nats
    if spec.scale is None:
        return spec.intercept * nats
    odds = _CONTEXT.ln(spec.scale.odds).copy_sign(_CONTEXT.ln(spec.scale.odds) * nats)
    return _CONTEXT.add(odds, _CONTEXT.multiply(spec.intercept - spec.scale.offset, nats))


def _occurring(attribute: ScorecardAttribute, meaning: Undisclosed = "conforming") -> tuple[ScoredValue, ...]:
    """The values that can be disclosed.

    Those with people; where "missing" means undisclosed and no population is assumed, all others than that.
    """
    if meaning == "missing-bin":
        return tuple(value for value in attribute.values if value.bin != "missing")
    return tuple(value for value in attribute.values if value.share != 0)


def _shares(values: Sequence[ScoredValue]) -> list[Decimal]:
    """Their shares as positive numbers that sum to 1."""
    shares = [Fraction(value.share or 0) for value in values]
    return [_decimal(share / sum(shares)) for share in shares]


def _decimal(number: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))


def _meaning(spec: object) -> Undisclosed | None:
    """The meaning that is said or, of a tree that may be malformed, the one that its parts suggest."""
    match part(spec, "undisclosed"):
        case "conforming" | "missing-bin" | "declared" as said:
            return said
    attributes = items(part(spec, "attributes"))
    if any(part(value, "share") is not None for a in attributes for value in items(part(a, "values"))):
        return "conforming"
    return "declared" if any(part(a, "undisclosed") is not None for a in attributes) else None


def across(spec: object) -> Iterator[Problem]:
    """Find what is wrong between the parts of a scorecard, each of which may be missing or malformed."""
    problems = list(_between_parts(spec))
    yield from problems
    if isinstance(spec, ScorecardSpec) and not problems and _meaning(spec) == "conforming":
        yield from _agreement(spec)


def _between_parts(spec: object) -> Iterator[Problem]:
    attributes = items(part(spec, "attributes"))
    if part(spec, "attributes") is not None and not attributes:
        yield Problem(("attributes",), "is empty; give at least one attribute, and mark the sensitive ones")
    decision = part(spec, "decision")
    values = [part(decision, side) for side in checks.SIDES]
    yield from checks.repeats(values, lambda i: ("decision", checks.SIDES[i]), lambda i: checks.SIDES[i])
    yield from checks.repeated_names(attributes, part(decision, "name"))
    unit = "weight" if part(spec, "scale") is None else "points"
    meaning = _meaning(spec)
    for i, attribute in enumerate(attributes):
        yield from _attribute(("attributes", i), attribute, unit, meaning)
    if attributes and not any(part(a, "sensitive") not in (None, False) for a in attributes):
        message = (
            'none is sensitive; write "sensitive": true at each attribute that needs protection or stands in '
            f"for one that does. {NO_INPUT}"
        )
        yield Problem(("attributes",), message)


def _attribute(place: Place, attribute: object, unit: str, meaning: str | None) -> Iterator[Problem]:
    values = items(part(attribute, "values"))
    if part(attribute, "values") is not None and not values:
        yield Problem((*place, "values"), "no values are given; an attribute has at least one")
    yield from checks.repeats(values, lambda i: (*place, "values", i), lambda i: f"values[{i}]")
    other_unit = "points" if unit == "weight" else "weight"
    why = 'the scorecard has no "scale"' if unit == "weight" else 'the scorecard has a "scale"'
    for v, value in enumerate(values):
        if not has_parts(value):
            continue
        if part(value, other_unit) is not None:
            yield Problem((*place, "values", v), f'has "{other_unit}", and {why}; give "{unit}"')
        elif part(value, unit) is None:
            yield Problem((*place, "values", v), f'"{unit}" is missing; add it')
    missing = [v for v, value in enumerate(values) if part(value, "bin") == "missing"]
    for v in missing[1:]:
        message = f"is a bin of missing values like values[{missing[0]}]; give one"
        yield Problem((*place, "values", v), message)
    lists = [items(part(value, "categories")) for value in values]
    owner: dict[str, int] = {}
    for v, value in enumerate(values):
        for cell in lists[v] or [part(value, "value")]:
            other = owner.setdefault(cell, v) if isinstance(cell, str) else v
            if other != v and (lists[v] or lists[other]):
                message = f"holds {shown(cell)} like values[{other}]; let one have it"
                yield Problem((*place, "values", v), message)
    yield from _population(place, values, meaning == "conforming")
    number = part(attribute, "undisclosed")
    if meaning == "missing-bin" and has_parts(attribute):
        if not missing:
            message = 'no value has "bin": "missing", which stands for what isn\'t disclosed; mark one'
            yield Problem((*place, "values"), message)
        elif len(values) == 1:
            yield Problem((*place, "values"), "has none but the bin of missing values; leave it out")
        if number is not None:
            message = "the bin of missing values stands for what isn't disclosed; take it out, or write "
            yield Problem((*place, "undisclosed"), message + '"undisclosed": "declared"')
    if meaning == "declared" and number is None and has_parts(attribute):
        yield Problem(place, f'"undisclosed" is missing; add its {unit} where it isn\'t disclosed')


def _population(place: Place, values: list[object], needed: bool) -> Iterator[Problem]:
    given = [checks.accepted(part(value, "share"), checks.probability) for value in values]
    absent = [v for v, value in enumerate(values) if has_parts(value) and part(value, "share") is None]
    if len(absent) == len(values):
        if needed and values:
            yield Problem(place, '"share" is missing at every value; add the shares of the population')
        return
    for v in absent:
        yield Problem((*place, "values", v), '"share" is missing; give all or none of an attribute')
    shares = [share for share in given if share is not None]
    if len(shares) < len(values):
        return
    total = sum(map(Fraction, shares), Fraction(0))
    if abs(total - 1) > SHARES_TOLERANCE:
        message = f"the shares sum to {shown(total)} instead of 1; correct them"
        yield Problem((*place, "values"), message)


def _agreement(spec: ScorecardSpec) -> Iterator[Problem]:
    """Compare written weights of what isn't disclosed with those of the conforming population."""
    numbers = [attribute.undisclosed for attribute in spec.attributes]
    if all(number is None for number in numbers):
        return
    try:
        found = spec.conforming()
    except InputError as error:
        yield Problem(("attributes",), str(error))
        return
    for i, (number, right) in enumerate(zip(numbers, found, strict=True)):
        if number is None:
            message = '"undisclosed" is missing, and others have it; give it to all attributes or to none'
            yield Problem(("attributes", i), message)
        elif abs(number - right) > _AGREEMENT:
            message = (
                f"{shown(number)} differs from the conforming population, which has {shown(right)}; leave it "
                'out, or write "undisclosed": "declared" above'
            )
            yield Problem(("attributes", i, "undisclosed"), message)
