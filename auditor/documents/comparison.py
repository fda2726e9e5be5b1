"""The comparison document, version 1: what changed from one certificate to the one that supersedes it."""

from __future__ import annotations

from typing import Literal

from auditor.choices import CriterionName, Verdict
from auditor.documents.certificate import CertificateId, DecimalText
from auditor.documents.record import Count, Degree, Digest, Probability, Record, ToolRecord


class CertificateSide(Record):
    """One of the two certificates."""

    id: CertificateId
    sha256: Digest
    model: str
    model_sha256: Digest
    favourable: str
    verdict: Verdict
    criterion: CriterionName
    delta: DecimalText
    box: DecimalText | None = None
    """ε of its box; null: it has none."""
    min_probability: DecimalText | None
    max_degree: tuple[DecimalText, DecimalText]
    """Found lower and proved upper bound on the largest |degree|, rounded outward."""
    pattern_count: Count | None
    total_patterns: Count


class ParameterChange(Record):
    """A probability that moved; without attribute and value it is P(favourable)."""

    attribute: str | None
    value: str | None
    given: Literal["favourable", "unfavourable"] | None
    """The decision it is conditional on."""
    before: Probability
    after: Probability


class PatternChange(Record):
    """A pattern that went, came or got worse; null where the model does not have its values."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    degree_before: Degree | None
    degree_after: Degree | None
    probability_before: Probability | None
    probability_after: Probability | None


class PatternChanges(Record):
    """Discrimination patterns with one kind of change; the exact number, and the worst of them."""

    count: Count | None
    reason: str | None
    """Why the count is null."""
    top: tuple[PatternChange, ...]


class Likelihood(Record):
    """Natural logarithm of the likelihood of the new model's counts; null is minus infinity."""

    old_parameters: float | None
    new_parameters: float | None


class Comparison(Record):
    """What changed from one certificate to the one that supersedes it."""

    kind: Literal["auditor/comparison"] = "auditor/comparison"
    version: Literal[1] = 1
    before: CertificateSide
    after: CertificateSide
    scope_changes: tuple[str, ...]
    scope_change_reason: str | None
    tolerance: DecimalText
    """By so much the largest |degree| may grow without being a regression."""
    regressed: bool | None
    """Whether the verdict got worse, the question was loosened, or the largest |degree| crossed the threshold
    or grew by more than the tolerance; null: neither is proved.
    """
    regressions: tuple[str, ...]
    """In what ways."""
    inside_box: bool | None = None
    """Whether the new model is in the box of the old certificate; null: that has none."""
    attributes_added: tuple[str, ...]
    attributes_removed: tuple[str, ...]
    values_changed: tuple[str, ...]
    """Attributes whose values differ."""
    parameters_compared: Count
    parameters_moved: tuple[ParameterChange, ...]
    """The largest moves first."""
    gone: PatternChanges
    """Patterns of the old model that the new one has not."""
    new: PatternChanges
    """Patterns of the new model that the old one had not."""
    worse: PatternChanges
    """Patterns of both models with a larger |degree| now."""
    log_likelihood: Likelihood | None
    """null: the new model has no counts, or other values."""
    tool: ToolRecord = ToolRecord()
