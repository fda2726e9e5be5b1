"""The use cases around certificates: files in, documents and bytes out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.certificate import form_checker, issuing, repair_checker
from auditor.certificate.comparing import TOLERANCE, compare
from auditor.certificate.model_signature import signed_subject
from auditor.certificate.policy import Terms, load_policy, terms
from auditor.certificate.reading import Opened, read_certificate
from auditor.certificate.recertifying import carried_over, inherited, superseding
from auditor.certificate.signing import key_id, load_private_key, load_public_key, sign, signed
from auditor.certificate.verifying import Against, load_revocations, verify_chain, verify_predecessor
from auditor.certificate.verifying import verify as verify_opened
from auditor.choices import CertificateForm, CriterionName
from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate, ProofFacts, RepairFacts, Supersedes
from auditor.documents.comparison import Comparison
from auditor.documents.labels import labelled
from auditor.documents.policy import share_text
from auditor.documents.proof import LikelihoodProof
from auditor.documents.reading import read
from auditor.documents.record import to_json
from auditor.documents.verification import ChainVerification, Verification
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.reading import load_model, parse_model, read_bytes
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.search.answer import Wanted, answer
from auditor.search.limits import Limits
from auditor.search.question import Share
from auditor.usecases import auditing, clock

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: Patterns in the top list of the audit that is written beside a certificate.
AUDITED_TOP = 10
#: Characters of the size of a box as it is written: of 100 places.
_LONGEST_SIZE = 102


@dataclass(frozen=True)
class CertifyOptions:
    """What a command was given for a certificate; None where nothing was said."""

    policy: Path | None = None
    """The policy file, which the others beat."""
    delta: str | None = None
    criterion: CriterionName | None = None
    min_probability: str | None = None
    sensitive: tuple[str, ...] = ()
    valid_days: int | None = None
    issuer: str | None = None
    responsible: str | None = None
    issued: date | None = None
    valid_from: date | None = None
    """The day of issue, today in UTC if None; and the first day on which it holds, the day of issue if None.
    """
    platform: str | None = None
    """Recorded as it is."""
    box: str | None = None
    """ε: every model whose probabilities are each within a factor of 1 + ε is to be certified as well."""
    proof: Path | None = None
    """Of how likely any δ-fair model of the counts of a repaired one can be."""
    time_limit: float | None = None
    """Seconds. What isn't proved by then is left open, and the certificate says so."""

    def limits(self) -> Limits:
        """What may be used from now on."""
        return clock.limits(self.time_limit)

    def terms(self, limits: Limits, before: Terms | None = None) -> Terms:
        """Return the terms of a certificate, taking what is said nowhere from those of another."""
        return terms(
            load_policy(self.policy) if self.policy else None,
            delta=self.delta,
            criterion=self.criterion,
            min_probability=self.min_probability,
            sensitive=self.sensitive,
            valid_days=self.valid_days,
            issuer=self.issuer,
            responsible=self.responsible,
            inherited=before,
            limits=limits,
        )

    @property
    def day(self) -> date:
        """The day of issue."""
        return self.issued or clock.today()


@dataclass(frozen=True)
class Signer:
    """A private key file, and who knows its passphrase."""

    key: Path
    passphrase: Callable[[], str]


@dataclass(frozen=True)
class Issued:
    """A new certificate, the bytes of its file, an envelope if it is signed, and the audit if wanted.

    Of a renewed one also the names of what the certificate before says and could not be checked. Of a model
    that was repaired by two criteria the one that is not stated, with its δ.
    """

    certificate: Certificate
    data: bytes
    audit: Audit | None = None
    unchecked: tuple[str, ...] = ()
    not_stated: tuple[CriterionName, str] | None = None


def certify(
    model: str,
    options: CertifyOptions,
    signer: Signer | None = None,
    *,
    audited: bool = False,
    form: CertificateForm = "certificate",
    model_signature: Path | None = None,
) -> Issued:
    """Certify what can be shown of a model.

    Parameters
    ----------
    model : str
        A model specification file; ``"-"`` is standard input.
    options : CertifyOptions
    signer : Signer, optional
        Without it the certificate is not signed.
    audited : bool
        Return the whole audit too. Both are of one answer.
    form : {"certificate", "in-toto", "cyclonedx"}
        What the file is: the certificate, or an in-toto test result, which is signed too, or a CycloneDX
        ML-BOM that holds it.
    model_signature : Path, optional
        A model signature (OMS) of the model's file; the other forms then name the model as it does.

    Raises
    ------
    InputError
        If a file or an option can't be used.
    """
    key = load_private_key(signer.key, signer.passphrase) if signer else None
    data = read_bytes(model)
    name = "standard input" if model == "-" else model
    spec = parse_model(data, name)
    file_sha256 = hashlib.sha256(data).hexdigest()
    signed_as = signed_subject(model_signature, file_sha256) if model_signature else None
    chosen = options.terms(options.limits())
    certificate, audit = _issue(spec, chosen, options, None, audited)
    made = _sealed(certificate, key)
    if form != "certificate":
        from auditor.report import interchange

        whole = interchange.Certified(certificate, made, (Path(name).name, file_sha256), signed_as)
        if form == "in-toto":
            statement = interchange.test_result(whole)
            made = signed(statement, key) if key else _json(statement)
        else:
            made = _json(interchange.bill_of_materials(whole))
    return Issued(certificate, made, audit, not_stated=_not_stated(spec, certificate))


def _not_stated(
    spec: ModelSpec | ScorecardSpec, certificate: Certificate
) -> tuple[CriterionName, str] | None:
    """The other criterion of a model that was repaired by two, with its δ."""
    own = spec.repair
    if own is None or own.also is None:
        return None
    other = own.also if own.criterion == certificate.criterion else own
    return other.criterion, f"{other.delta:f}"


def recertify(
    old: Path,
    model: str,
    options: CertifyOptions,
    signer: Signer | None = None,
    *,
    public_key: Path | None = None,
    unverified_predecessor: bool = False,
    scope_change_reason: str | None = None,
    tolerance: str | None = None,
) -> tuple[Issued, Comparison]:
    """Certify a model that was trained again, under the policy of its certificate, and compare the two.

    Parameters
    ----------
    old : Path
        The certificate to supersede.
    model : str
        The new model specification.
    options : CertifyOptions
        What is given beats the old certificate; the scope must stay the same.
    signer : Signer, optional
    public_key : Path, optional
        The key that must have signed the old certificate.
    unverified_predecessor : bool
        Take over a certificate whose signature is not checked; the new one says so.
    scope_change_reason : str, optional
        Lets the scope change; recorded.
    tolerance : str, optional
        A largest degree that grew by no more than this is no regression.

    Raises
    ------
    InputError
        If a file or an option can't be used, the old certificate does not hold, or the scope changed.
    """
    key = load_private_key(signer.key, signer.passphrase) if signer else None
    allowed = TOLERANCE if tolerance is None else Share.of(tolerance)
    before = opened_at(old)
    name = escaped(str(old))
    if public_key is None and not unverified_predecessor:
        raise InputError(
            f"{name}: give the key that signed it with --public-key, so that it can be verified; or take it "
            "over with --unverified-predecessor, which the new certificate records"
        )
    signed_with = load_public_key(public_key) if public_key else None
    limits = options.limits()
    checked = verify_predecessor(before, Against(options.day, signed_with, limits=limits))
    if checked.result == "does not hold":
        raise InputError(
            f"{name}: can't be superseded: {check.name}: {check.detail}"
            for check in checked.checks
            if check.outcome == "failed"
        )
    spec = load_model(model)
    chosen = carried_over(
        before.certificate, spec, options.terms(limits, inherited(before.certificate, limits))
    )
    supersedes = superseding(
        before,
        chosen,
        issuing.protected(issuing.exact_of(spec), chosen.question),
        issued=options.day,
        verified_with=key_id(signed_with) if signed_with else None,
        scope_change_reason=scope_change_reason,
    )
    certificate, _ = _issue(spec, chosen, options, supersedes)
    comparison = compare(
        before.certificate,
        certificate,
        counted=spec if isinstance(spec, ModelSpec) else None,
        tolerance=allowed,
        limits=limits,
    )
    left_out = [check.name for check in checked.checks if check.outcome == "not performed"]
    unchecked = tuple(left_out) if checked.result == "undecided" else ()
    return Issued(certificate, _sealed(certificate, key), unchecked=unchecked), comparison


def _issue(
    spec: ModelSpec | ScorecardSpec,
    chosen: Terms,
    options: CertifyOptions,
    supersedes: Supersedes | None,
    audited: bool = False,
) -> tuple[Certificate, Audit | None]:
    """Answer the question once; certify what the answer shows, and write it down as an audit if wanted."""
    issuing.check(spec)
    source = None if spec.repair is None else _before_repair(spec)
    proof = _proof(options.proof, spec) if options.proof else None
    started = clock.seconds()
    wanted = Wanted(AUDITED_TOP, minimal=auditing.MINIMAL_LIMIT, details=True) if audited else Wanted()
    exact = issuing.exact_of(spec)
    sets = auditing.model_sets(spec, exact, None if options.box is None else _size(options.box), None)
    found = answer(exact, chosen.question, replace(wanted, sets=sets))
    certificate = issuing.issue(
        spec,
        chosen,
        found,
        source=source,
        proof=proof[0] if proof else None,
        issued=options.day,
        valid_from=options.valid_from,
        supersedes=supersedes,
        platform=options.platform,
    )
    if proof and not (checked := _proved(certificate, proof[1]))[0]:
        raise InputError(f"{escaped(str(options.proof))}: {escaped(checked[1])}")
    if not audited:
        return certificate, None
    return certificate, labelled(Audit.of(found, clock.seconds() - started), spec.attribute_labels)


def _size(text: str) -> str:
    """The size of a box as certificates can have it."""
    size = Share.of(text)
    if not size.value or len(f"{Decimal(size.text):f}") > _LONGEST_SIZE:
        raise InputError(
            f"box: {escaped(text[:40])} is not a number above 0 and up to 1 of 100 places at most"
        )
    return share_text(size.text)


def _proof(path: Path, spec: ModelSpec | ScorecardSpec) -> tuple[ProofFacts, bytes]:
    """What a certificate says of a proof, and the file of the proof."""
    if spec.repair is None or not isinstance(spec, ModelSpec):
        raise InputError(
            f"{escaped(str(path))}: a proof is about the counts of a repaired naive Bayes model, and "
            f"{escaped(spec.name)} is none; repair it first, or leave out the proof"
        )
    data, found = _proof_file(path), read(LikelihoodProof, path)
    return ProofFacts(sha256=hashlib.sha256(data).hexdigest(), bound=found.bound), data


def _proof_file(path: Path) -> bytes:
    return read_bytes(path, form_checker.FILE_LIMIT)


def _proved(certificate: Certificate, data: bytes) -> tuple[bool | None, str]:
    """Whether a proof shows what a certificate says of it, and more in words."""
    from auditor.repair import proof_checker

    return repair_checker.proved(issuing.tree(certificate), form_checker, proof_checker, data)


def _before_repair(spec: ModelSpec | ScorecardSpec) -> ModelSpec | ScorecardSpec:
    from auditor.repair import repairing, scorecards

    return repairing.before_repair(spec) if isinstance(spec, ModelSpec) else scorecards.before_repair(spec)


def verify(
    certificate: Path | None = None,
    *,
    chain: Path | None = None,
    public_key: Path | None = None,
    model: str | None = None,
    at: date | None = None,
    revoked: Path | None = None,
    proofs: Sequence[Path] = (),
    time_limit: float | None = None,
) -> Verification | ChainVerification:
    """Verify a certificate, or with `chain` all those in a folder; with both, that it is in the chain too.

    Parameters
    ----------
    certificate : Path, optional
        JSON, signed or not, or a PDF in which it is embedded.
    chain : Path, optional
    public_key : Path, optional
        The key that must have signed them.
    model : str, optional
        The model specification that must be the certified one.
    at : date, optional
        The day for which it is asked; today in UTC if not given.
    revoked : Path, optional
        A list of revoked certificates.
    proofs : sequence of Path
        Proofs that certificates name.
    time_limit : float, optional
        Seconds for the recomputation; what isn't decided by then is left open.

    Raises
    ------
    InputError
        If a file can't be used.
    """
    against = Against(
        at=at or clock.today(),
        public_key=load_public_key(public_key) if public_key else None,
        model=load_model(model) if model else None,
        proofs={hashlib.sha256(data).hexdigest(): data for data in map(_proof_file, proofs)},
        revocations=load_revocations(revoked) if revoked else None,
        limits=clock.limits(time_limit),
    )
    opened = opened_at(certificate) if certificate else None
    if chain is not None:
        return verify_chain(chain, against, opened, opened_at)
    if opened is None:
        raise InputError("give a certificate, or a folder of them with --chain")
    repair = opened.certificate.model.repair
    if proofs and not (isinstance(repair, RepairFacts) and repair.proof):
        raise InputError(f"{escaped(opened.name)}: names no proof; leave out {escaped(str(proofs[0]))}")
    return verify_opened(opened, against)


def opened_at(path: str | os.PathLike[str]) -> Opened:
    """Read a certificate from a file, and compare a form of other tools that it stands in with it.

    Raises
    ------
    InputError
        If it can't be read, or what stands around it is not what is made of it.
    """
    opened = read_certificate(path)
    if opened.around is not None:
        from auditor.report import interchange

        if interchange.contradicts(opened.around, opened.certificate, opened.data):
            raise InputError(
                f"{escaped(opened.name)}: what stands around the certificate in it is not what is made of it"
            )
    return opened


def _sealed(certificate: Certificate, key: Ed25519PrivateKey | None) -> bytes:
    """The file of a certificate."""
    return sign(certificate, key) if key else to_json(certificate).encode("utf-8")


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
