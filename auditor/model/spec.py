"""The model specification, version 1: what a file must say, and the exact model that it means.

The descriptions of the fields are those of the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PlainValidator,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema

from auditor.choices import CriterionName, MethodName
from auditor.model import checks
from auditor.model.explaining import not_text, validated
from auditor.model.naive_bayes import Attribute, NaiveBayes

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

KIND = "auditor/model"
VERSION = 1

# A schema can't say that a number is exact; only the reader knows how it was written.
Probability = Annotated[
    Decimal,
    PlainValidator(checks.probability),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Prior = Annotated[
    Decimal,
    PlainValidator(checks.prior),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
Count = Annotated[Decimal, PlainValidator(checks.count), WithJsonSchema({"type": "number", "minimum": 0})]
Number = Annotated[Decimal, PlainValidator(checks.exact), WithJsonSchema({"type": "number"})]
_NAME_SCHEMA = {"type": "string", "minLength": 1, "maxLength": checks.MAX_NAME}
Name = Annotated[str, AfterValidator(checks.name), WithJsonSchema(_NAME_SCHEMA)]
Text = Annotated[
    str,
    AfterValidator(checks.text),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": checks.MAX_TEXT}),
]
Whole = Annotated[int, Field(ge=0)]


def _listed(value: object) -> object:
    """Take a list for a tuple, and nothing else: a set has no order."""
    return tuple(value) if isinstance(value, list) else value


Listed = BeforeValidator(_listed)


def _one_of(*keys: str) -> ConfigDict:
    return ConfigDict(json_schema_extra={"anyOf": [{"required": [key]} for key in keys]})


class Part(BaseModel):
    """A part of a specification: frozen, and without keys that it doesn't know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class ValueSpec(Part):
    """A value of an attribute or of the decision; a plain text is both its code and its label."""

    value: Name
    label: Name

    @model_validator(mode="wrap")
    @classmethod
    def _from_text(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, str):
            name = checks.name(data)
            return handler({"value": name, "label": name})
        if not isinstance(data, Mapping | cls):
            raise ValueError(not_text(data))
        return handler(data)

    @model_serializer
    def _to_text(self) -> str | dict[str, str]:
        return self.label if self.label == self.value else {"value": self.value, "label": self.label}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        both = {
            "type": "object",
            "properties": {
                "value": {**_NAME_SCHEMA, "description": "What stands in the data."},
                "label": {**_NAME_SCHEMA, "description": "What people read."},
            },
            "required": ["value", "label"],
            "additionalProperties": False,
        }
        return {"title": cls.__name__, "description": cls.__doc__, "anyOf": [_NAME_SCHEMA, both]}


class DecisionCounts(Part):
    """Number of rows with each decision; fractions come from weighted rows."""

    favourable: Count
    unfavourable: Count


class DecisionSpec(Part):
    """The binary decision. It needs a prior or counts; if both are given, they must agree within 1e-9."""

    model_config = _one_of("prior", "counts")

    name: Name
    favourable: ValueSpec
    unfavourable: ValueSpec
    prior: Prior | None = None
    """P(favourable)."""
    counts: DecisionCounts | None = None
    """Give the prior exactly; needed where attributes are given by counts."""


class Likelihood(Part):
    """P(value | decision), one number per value in the order of the values.

    Each row sums to 1 within 1e-9, and is then divided by its sum.
    """

    favourable: Annotated[tuple[Probability, ...], Listed]
    unfavourable: Annotated[tuple[Probability, ...], Listed]


class Counts(Part):
    """Number of rows with each value, per decision, in the order of the values.

    They may add up to less than the rows of the decision, where cells are missing, never to more.
    """

    favourable: Annotated[tuple[Count, ...], Listed]
    unfavourable: Annotated[tuple[Count, ...], Listed]


class AttributeSpec(Part):
    """A discrete attribute. It needs a likelihood or counts; both only in a repaired model."""

    model_config = _one_of("likelihood", "counts")

    name: Name
    """What the column is called in the data."""
    label: Name | None = None
    """What people read in place of the name."""
    sensitive: bool = False
    """Whether it is protected."""
    sensitive_reason: Text | None = None
    """Why it is protected."""
    values: Annotated[
        tuple[ValueSpec, ...], Listed, Field(json_schema_extra={"minItems": 2, "maxItems": checks.MAX_VALUES})
    ]
    likelihood: Likelihood | None = None
    counts: Counts | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the values, in their order."""
        return tuple(value.label for value in self.values)


class Provenance(Part):
    """Where a model comes from; all of it is optional and none of it bears on the answer."""

    description: Text | None = None
    owner: Text | None = None
    model_version: Text | None = None
    data_source: Text | None = None
    period: Text | None = None
    rows: Whole | None = None


class LogLikelihoods(Part):
    """Natural logarithms of the likelihood of the counts; null is minus infinity, or not computed."""

    unconstrained: Number | None = None
    repaired: Number | None = None
    independent: Number | None = None
    """Of the most likely model with sensitive attributes independent."""
    independent_mean: Number | None = None
    """Of the one that takes the mean of both conditionals instead."""


class RepairRound(Part):
    """Where a repair stood after a round; round 0 is the unconstrained model."""

    round: Whole
    constraints: Whole
    log_likelihood: Number | None
    patterns: Whole | None
    """Discrimination patterns left, exactly; null: not counted."""


class RepairMargin(Part):
    """How likely the next model, learned from as many people as this one describes, is δ-fair unrepaired."""

    delta: Probability
    """At which it is to be δ-fair."""
    wanted: Probability
    """With at least this probability."""
    at_least: Probability
    """The lower limit that draws have shown."""
    draws: Whole
    seed: Whole


class RepairConditions(Part):
    """What a repaired model keeps to besides being fair."""

    keep: Annotated[tuple[Name, ...], Listed] = ()
    """Attributes whose probabilities stay those of the counts."""
    largest_change: Probability | None = None
    """No probability, the prior included, differs by more than this from the counts'."""
    rising: Annotated[tuple[Name, ...], Listed] = ()
    """Attributes whose log-odds don't fall in the listed order of their values."""
    falling: Annotated[tuple[Name, ...], Listed] = ()
    """Attributes whose log-odds don't rise in that order."""


class RepairAlso(Part):
    """Another criterion by which a repaired model is fair too, at a threshold of its own."""

    criterion: CriterionName
    delta: Probability
    """No degree by this criterion is above it."""


class RepairRecord(Part):
    """How a repaired model was found."""

    method: MethodName = "fair"
    """Fair: the most likely model found without patterns; the others are baselines."""
    delta: Probability
    """No degree is above it, but for the unconstrained baseline."""
    criterion: CriterionName
    solver: Name
    rounds: Whole
    constraints: Whole
    progress: Annotated[tuple[RepairRound, ...] | None, Listed] = None
    """Round by round."""
    shortfall: Text | None = None
    """Why the search for a more likely model ended early, if it did."""
    log_likelihoods: LogLikelihoods
    patterns_before: Whole | None = None
    """Exact number of discrimination patterns; null if they could not be counted."""
    patterns_after: Whole | None = None
    also: RepairAlso | None = None
    """By what it is fair too."""
    conditions: RepairConditions | None = None
    """Kept to besides; checked exactly as written."""
    source_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Digest of the model that was repaired."""
    margin: RepairMargin | None = None
    """What the threshold was chosen for, if for the next model."""


class ModelSpec(Part):
    """A naive Bayes model of a binary decision.

    Validation reports every problem of the whole specification at once. Numbers have at most 400 digits and
    lie within 1e±400; all attributes together have at most 100,000 values, and the file 32 MB.
    """

    kind: Literal["auditor/model"]
    version: Literal[1]
    name: Name
    decision: DecisionSpec
    smoothing: Annotated[Count, Field(json_schema_extra={"default": 0})] = Decimal(0)
    """Added to every count of an attribute, not to those of the decision."""
    attributes: Annotated[
        tuple[AttributeSpec, ...],
        Listed,
        Field(json_schema_extra={"minItems": 1, "maxItems": checks.MAX_ATTRIBUTES}),
    ]
    provenance: Provenance | None = None
    repair: RepairRecord | None = None
    """Written by `auditor repair`; likelihoods and prior then stand beside counts."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_all_problems(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        return validated(cls, data, handler, checks.across)

    @property
    def attribute_labels(self) -> dict[str, str]:
        """What people read for each attribute, by its name; no answer or digest depends on it."""
        return {attribute.name: attribute.label or attribute.name for attribute in self.attributes}

    def naive_bayes(self) -> NaiveBayes:
        """Return the exact model that this specification means.

        With counts n and smoothing α an attribute of m values has
        ``P(v | d) = (n_v + α) / (Σ n + α m)``; written likelihoods are divided by their sum.
        """
        decision = self.decision
        if decision.counts is not None and (decision.prior is None or self.repair is None):
            counts = decision.counts
            prior, _ = _distribution((counts.favourable, counts.unfavourable), Decimal(0))
        else:
            assert decision.prior is not None, "validation has seen to it"
            prior = Fraction(decision.prior)
        return NaiveBayes(
            name=self.name,
            decision=decision.name,
            favourable=decision.favourable.label,
            unfavourable=decision.unfavourable.label,
            prior=prior,
            attributes=tuple(self._attribute(attribute) for attribute in self.attributes),
        )

    def _attribute(self, spec: AttributeSpec) -> Attribute:
        rows, added = (spec.likelihood, Decimal(0)) if spec.likelihood else (spec.counts, self.smoothing)
        assert rows is not None, "validation has seen to it"
        columns = _distribution(rows.favourable, added), _distribution(rows.unfavourable, added)
        return Attribute(spec.name, spec.labels, spec.sensitive, tuple(zip(*columns, strict=True)))


def _distribution(row: tuple[Decimal, ...], added: Decimal) -> list[Fraction]:
    more = Fraction(added)
    weights = [Fraction(number) + more if more else Fraction(number) for number in row]
    # Integers add up many times faster than fractions.
    whole = lcm(*(weight.denominator for weight in weights))
    integers = [weight.numerator * (whole // weight.denominator) for weight in weights]
    total = sum(integers)
    return [Fraction(integer, total) for integer in integers]
