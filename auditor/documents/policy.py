"""The policy file ``auditor.toml``, version 1: the question, fixed before the model is known."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from auditor.choices import CriterionName
from auditor.documents.rounding import decimal_text
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model import checks
from auditor.model.spec import Listed
from auditor.search.question import Share as ExactShare

#: Ten years; a model that is still in use by then has been forgotten.
MAX_VALID_DAYS = 3660

_COLOUR = "#[0-9a-fA-F]{6}"

#: Decimal places of a threshold or a minimum probability.
MAX_PLACES = 400


def share_text(value: str | int | Decimal) -> str:
    """Return a number from 0 to 1 as a plain decimal without an exponent or zeros at its end.

    >>> share_text("5e-2"), share_text(Decimal("0.10")), share_text("1")
    ('0.05', '0.1', '1')

    Raises
    ------
    ValueError
        If it is no plain decimal, out of range, or has more than 400 places.
    """
    try:
        text = ExactShare.of(str(value)).text
    except InputError as error:
        raise ValueError(str(error)) from None
    plain = decimal_text(Decimal(text))
    if len(plain) > 2 + MAX_PLACES:
        raise ValueError(f"{shown(text)} has more than {MAX_PLACES} decimal places; write fewer")
    return plain


def _share(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError(f"{shown(value)} is not a number from 0 to 1; write one, such as 0.05")
    return share_text(value)


def _named(value: object) -> object:
    """Take a bare name for an attribute without a reason."""
    return {"name": value} if isinstance(value, str) else value


Share = Annotated[
    str, BeforeValidator(_share), WithJsonSchema({"type": ["number", "string"], "minimum": 0, "maximum": 1})
]
Name = Annotated[str, AfterValidator(checks.name)]
Text = Annotated[str, AfterValidator(checks.text)]


def _colour(value: str) -> str:
    if not re.fullmatch(_COLOUR, value):
        raise ValueError(f"{shown(value)} is not a colour; write one such as #1f4e79")
    return value


Colour = Annotated[
    str, AfterValidator(_colour), WithJsonSchema({"type": "string", "pattern": f"^{_COLOUR}$"})
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class SensitivePolicy(_Part):
    """An attribute to protect, and why."""

    name: Name
    reason: Text | None = None


class IssuerPolicy(_Part):
    """Who issues the certificates."""

    name: Name | None = None
    """The organisation."""
    responsible: Name | None = None
    """The person who answers for them."""


class ReportPolicy(_Part):
    """What reports look like."""

    logo: Text | None = None
    """A PNG, JPEG or SVG file, seen from the policy file."""
    logo_text: Text | None = None
    """What a screen reader says in its place."""
    accent: Colour | None = None
    """The colour of headings and links."""


class PolicyFile(_Part):
    """The question that certificates answer, and who issues them. Options of a command beat it."""

    kind: Literal["auditor/policy"]
    version: Literal[1]
    delta: Share | None = None
    """The threshold; a degree above it discriminates."""
    criterion: CriterionName | None = None
    min_probability: Share | None = None
    """Speak only of patterns that are at least so probable."""
    sensitive: Annotated[
        tuple[Annotated[SensitivePolicy, BeforeValidator(_named)], ...] | None,
        Listed,
        Field(min_length=1),
    ] = None
    """Attributes to protect, in place of those that a model marks."""
    valid_days: Annotated[int | None, Field(ge=1, le=MAX_VALID_DAYS)] = None
    issuer: IssuerPolicy = IssuerPolicy()
    report: ReportPolicy = ReportPolicy()
