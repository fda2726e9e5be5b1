"""The certificate document, version 1: a claim about one exact model, with all that is needed to check it.

Numbers that a claim rests on are strings: fractions in lowest terms (``"-3/7"``, ``"1"``) and decimals as
written. Counts are strings too, since they outgrow the integers that every JSON reader keeps exactly.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from auditor.choices import CriterionName, Verdict
from auditor.documents.audit import ToolRecord
from auditor.documents.parameters import ExactModel, FractionText, NameText
from auditor.documents.record import Record

PREDICATE_TYPE = "urn:auditor:certificate:v1"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
CertificateId = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
DecimalText = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]+)?$")]
CountText = Annotated[str, Field(pattern="^(0|[1-9][0-9]*)$")]


class Claim(Record):
    """What is claimed, in one sentence and as a formula."""

    sentence: str
    formula: str


class Supersedes(Record):
    """The certificate that this one takes the place of.

    The scope is the decision, the sensitive attributes, criterion, threshold and minimum probability.
    """

    id: CertificateId
    sha256: Annotated[Digest, Field(description="Digest of that certificate's canonical JSON (RFC 8785).")]
    scope_changes: Annotated[
        tuple[str, ...], Field(description="What of the scope changed; usually nothing.")
    ]
    scope_change_reason: Annotated[str | None, Field(description="Why; null when nothing changed.")]


class Policy(Record):
    """The policy file that fixed the question; its digest can be published before the model is known."""

    sha256: Annotated[Digest | None, Field(description="Digest of the file's bytes; null: there was none.")]
    overridden: Annotated[
        tuple[str, ...], Field(description="Settings of the file in whose place another value was given.")
    ]


class Provenance(Record):
    """Where the model comes from, as its file says; null where it says nothing."""

    description: str | None
    owner: str | None
    model_version: str | None
    data_source: str | None
    period: str | None
    rows: CountText | None


class CertifiedModel(Record):
    """The model that the certificate is about."""

    name: str
    sha256: Digest
    exact: ExactModel
    provenance: Provenance


class Decision(Record):
    """The decision, and which of its two values is favourable to the person."""

    name: str
    favourable: str
    unfavourable: str


class SensitiveAttribute(Record):
    """An attribute that the claim protects, with the reason given for that."""

    name: NameText
    reason: str | None


class MaxDegree(Record):
    """The largest |degree| in scope: exact where it is proved, and as decimals rounded outward."""

    exact: Annotated[FractionText | None, Field(description="null unless it is proved that none is larger.")]
    lower: Annotated[DecimalText, Field(description="At least this is attained.")]
    upper: Annotated[DecimalText, Field(description="None is above this.")]


class Witness(Record):
    """A pair of disclosed sensitive values and context on which |degree| is the largest that was found."""

    sensitive_values: Annotated[dict[str, str], Field(min_length=1)]
    context_values: dict[str, str]
    degree: FractionText
    probability: FractionText
    favourable_given_pattern: FractionText
    favourable_given_context: FractionText


class Coverage(Record):
    """How the pairs that disclose exactly these sensitive attributes were decided."""

    disclosed: Annotated[tuple[str, ...], Field(min_length=1)]
    method: Annotated[
        Literal["closed form", "exhausted", "bounded"],
        Field(
            description="'closed form': a bound on every context settles all pairs; 'exhausted': every pair "
            "was counted; 'bounded': the search for the largest |degree| settled all without a count."
        ),
    ]
    pairs: CountText
    patterns: Annotated[CountText, Field(description="Those with |degree| above the threshold.")]


class Method(Record):
    """How the answer was found."""

    search: str
    arithmetic: str


class Certificate(Record):
    """A certificate of δ-fairness, a finding record, or a record of what is undecided, as the verdict says.

    A pattern is a pair (x, y): x gives values to one or more sensitive attributes, y to any of the others.
    With ``min_probability`` the verdict, the largest degree and the count speak only of patterns that at
    least that share of the model's population has.
    """

    kind: Literal["auditor/certificate"] = "auditor/certificate"
    version: Literal[1] = 1
    id: Annotated[
        CertificateId,
        Field(description="First 32 digits of the SHA-256 of the canonical JSON of all the rest."),
    ]
    issued: date
    valid_from: Annotated[date, Field(description="Holds from the start of this day, UTC.")]
    expires: Annotated[date, Field(description="Holds until the start of this day, UTC.")]
    supersedes: Supersedes | None
    issuer: Annotated[str | None, Field(description="null: not said.")]
    responsible: Annotated[str | None, Field(description="The responsible person; null: not said.")]
    claim: Claim
    verdict: Verdict
    criterion: CriterionName
    delta: Annotated[DecimalText, Field(description="The threshold; a |degree| above it discriminates.")]
    min_probability: Annotated[DecimalText | None, Field(description="null: patterns of any probability.")]
    policy: Policy
    decision: Decision
    sensitive_attributes: Annotated[tuple[SensitiveAttribute, ...], Field(min_length=1)]
    max_degree: MaxDegree
    witness: Annotated[Witness | None, Field(description="null: no pattern is in scope.")]
    pattern_count: Annotated[
        CountText | None, Field(description="Discrimination patterns in scope, exactly.")
    ]
    pattern_count_reason: Annotated[str | None, Field(description="Why the count is null.")]
    total_patterns: Annotated[CountText, Field(description="All pairs (x, y), whatever their probability.")]
    coverage: Annotated[
        tuple[Coverage, ...] | None,
        Field(
            description="One row for each non-empty set of sensitive attributes; null when the count is, "
            "when there is a minimum probability, or when there would be more than 4095."
        ),
    ]
    inconclusive_reason: Annotated[str | None, Field(description="What stopped the search; null if nothing.")]
    assumptions: tuple[str, ...]
    limits: tuple[str, ...]
    method: Method
    platform: Annotated[
        str | None,
        Field(description="Where it was computed, if that was asked for; no answer depends on it."),
    ]
    tool: ToolRecord
    model: CertifiedModel
