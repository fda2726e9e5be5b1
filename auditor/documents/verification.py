"""The verification documents, version 1: what was checked of a certificate, or of a chain of them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from auditor.choices import CriterionName, Undisclosed, Verdict
from auditor.documents.certificate import CertificateId, DecimalText
from auditor.documents.record import Digest, Record, ToolRecord

Outcome = Literal["passed", "failed", "not performed"]
Result = Literal["holds", "contents hold", "does not hold", "undecided"]


class Check(Record):
    """One check and what came of it."""

    name: str
    outcome: Outcome
    detail: str


class CertificateName(Record):
    """Which certificate it was, in its own words."""

    file: str
    id: CertificateId
    sha256: Digest
    """Of the certificate's canonical JSON."""
    model: str
    verdict: Verdict
    criterion: CriterionName
    delta: DecimalText
    box: DecimalText | None = None
    """null: it is about one model alone."""
    min_probability: DecimalText | None
    undisclosed: Undisclosed | None = None
    """What "not disclosed" means to a scorecard; null for naive Bayes."""
    favourable: str
    sensitive: tuple[str, ...]
    issued: date
    expires: date
    names_key: Digest | None
    """The key that the envelope names, whether it signed or not; null: not signed."""


class Verification(Record):
    """What was checked of one certificate.

    It holds if no check failed and everything that the certificate claims was recomputed; its contents hold
    if that is so but no signature was checked; it is undecided if nothing failed but neither algorithm could
    recompute something that it claims. That it holds says nothing about which verdict it has.
    """

    kind: Literal["auditor/verification"] = "auditor/verification"
    version: Literal[1] = 1
    result: Result
    at: date
    """The day for which it was asked."""
    certificate: CertificateName
    checks: tuple[Check, ...]
    tool: ToolRecord = ToolRecord()


class ChainVerification(Record):
    """What was checked of all certificates in a folder, each of which may supersede another.

    The first ones come first. ``current`` are those that none supersedes; only they have to be in date, and
    not taken back. A chain has one.
    """

    kind: Literal["auditor/chain-verification"] = "auditor/chain-verification"
    version: Literal[1] = 1
    result: Result
    at: date
    current: tuple[CertificateId, ...]
    certificates: tuple[Verification, ...]
    checks: tuple[Check, ...]
    """Of how the certificates follow each other."""
    tool: ToolRecord = ToolRecord()


class Revocation(Record):
    """A certificate that its issuer has taken back; known by identifier, or digest, or both."""

    id: CertificateId | None = None
    sha256: Digest | None = None
    revoked: date
    """From this day on it does not hold."""
    reason: str | None = None


class RevocationList(Record):
    """Certificates that were taken back."""

    kind: Literal["auditor/revocations"]
    version: Literal[1]
    revocations: tuple[Revocation, ...]
