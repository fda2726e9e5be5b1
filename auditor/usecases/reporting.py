"""The use case of reports: documents in, files that people read and sign out.

What only certificates need is imported with the first of them: the report of an audit does without.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate
from auditor.documents.reading import MAX_BYTES, read
from auditor.documents.record import to_json
from auditor.documents.repair import Repair
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.reading import load_naive_bayes, read_bytes
from auditor.report import html, markdown, pdf
from auditor.report.dossier import Dossier, Subject, validity
from auditor.report.html import Look
from auditor.report.pades import sign
from auditor.report.profiles import load_profile
from auditor.usecases import auditing, clock

if TYPE_CHECKING:
    from auditor.certificate.reading import Opened
    from auditor.model.spec import ModelSpec

ReportFormat = Literal["html", "pdf", "markdown"]

#: Limits of the searches that fill charts. Nodes end a search that takes too long, on every machine at the
#: same place; seconds are for what no number of nodes foresees.
CHART_NODES, CHART_SECONDS = 1 << 15, 60.0

#: What a logo begins with, by its media type. An SVG is text, and known by its suffix.
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_MAX_PICTURE = 1 << 20


@dataclass(frozen=True)
class Style:
    """How a report is to look, and what it is to be compared with; None where nothing was said.

    Attributes
    ----------
    profile : str or None
        Name of a profile that comes with the program, or the file of another.
    templates : Path or None
        A folder of templates that come before the shipped ones.
    policy : Path or None
        The policy file with the logo and the colour.
    """

    profile: str | None = None
    templates: Path | None = None
    policy: Path | None = None


@dataclass(frozen=True)
class Made:
    """A report, the audit that it shows, and what the user should be told."""

    content: bytes
    audit: Audit
    remarks: tuple[str, ...]


def report(
    document: str,
    format: ReportFormat,
    *,
    model: str | None = None,
    since: Path | None = None,
    style: Style = Style(),
    pades: tuple[Path, str] | None = None,
    time_limit: float | None = None,
) -> Made:
    """Make a report of a stored audit, a certificate, a repair, or a repaired model.

    A certificate holds its whole model, and a repaired model is one: they are audited anew for the report.

    Parameters
    ----------
    document : str
        JSON (a repaired model may be YAML), or a PDF in which a certificate is embedded.
    format : {"html", "pdf", "markdown"}
    model : str, optional
        The model of a stored audit, or the repaired one of a stored repair, which hold only its digest.
    since : Path, optional
        The certificate that this one takes the place of; the report then says what changed.
    style : Style
    pades : (Path, str), optional
        A PKCS #12 file and its passphrase, to sign the PDF with.
    time_limit : float, optional
        Seconds for the audit of a certificate or a repaired model.

    Raises
    ------
    InputError
        If a file can't be used, files don't belong together, or a certificate is contradicted by its model.
    """
    made = _report(document, format, model, since, style, time_limit)
    return made if pades is None else replace(made, content=sign(made.content, *pades))


def _report(
    document: str,
    format: ReportFormat,
    model: str | None,
    since: Path | None,
    style: Style,
    time_limit: float | None,
) -> Made:
    kind = _kind(document)
    if model is not None and kind not in ("auditor/audit", "auditor/repair"):
        raise InputError(f"{escaped(document)}: holds its model; --model goes with a stored audit or repair")
    if since is not None and kind in ("auditor/audit", "auditor/repair", "auditor/model"):
        raise InputError(f"{escaped(document)}: is not a certificate; only one can be compared with {since}")
    if kind == "auditor/audit":
        audit = read(Audit, document)
        spec = None if model is None else _named_by(document, audit.model.sha256, model)
        return of_audit(audit, spec, format, style)
    if kind == "auditor/repair":
        record = read(Repair, document)
        if model is None:
            raise InputError(
                f"{escaped(document)}: has only the digest of the repaired model; give it with --model"
            )
        spec = _named_by(document, record.after.sha256, model)
        audit = auditing.audit(spec, record.delta, criterion=record.criterion, time_limit=time_limit)
        return of_audit(audit, spec, format, style, record)
    if kind == "auditor/model":
        spec = load_naive_bayes(document)
        if spec.repair is None:
            raise InputError(
                f"{escaped(document)}: is a model and no result; auditor audit {escaped(document)} --delta … "
                "-o report.pdf makes a report of it"
            )
        audit = auditing.audit(
            spec, str(spec.repair.delta), criterion=spec.repair.criterion, time_limit=time_limit
        )
        return of_audit(audit, spec, format, style)
    from auditor.certificate.reading import read_certificate

    return _of_certificate(read_certificate(document), since, format, style, time_limit)


def of_audit(
    audit: Audit,
    spec: ModelSpec | None,
    format: ReportFormat,
    style: Style = Style(),
    repair: Repair | None = None,
) -> Made:
    """Make a report of an audit; ``spec`` is the audited model, and ``repair`` its repair, if at hand."""
    subject = Subject(audit)
    if spec is not None:
        subject = Subject(
            audit,
            model=spec.naive_bayes(),
            provenance=spec.provenance,
            repair=repair or spec.repair,
            before=_before_repair(spec).naive_bayes() if spec.repair else None,
        )
    attached = pdf.Attachment("audit.json", "The audit that this report shows", to_json(audit).encode())
    return _made(subject, format, style, (attached,))


def _of_certificate(
    opened: Opened, since: Path | None, format: ReportFormat, style: Style, time_limit: float | None
) -> Made:
    from auditor.certificate.comparing import compare
    from auditor.certificate.reading import read_certificate
    from auditor.certificate.verifying import broken
    from auditor.documents.parameters import naive_bayes

    certificate = opened.certificate
    if problems := broken(opened):
        raise InputError(f"{escaped(opened.name)}: {problem}" for problem in problems)
    model = naive_bayes(certificate.model.name, certificate.model.exact)
    subject = Subject(
        _audit_of(opened, model, time_limit),
        model=model,
        provenance=certificate.model.provenance,
        certificate=certificate,
        key_id=opened.key_id,
    )
    if since is not None:
        before = read_certificate(since)
        if certificate.supersedes is None or certificate.supersedes.id != before.certificate.id:
            raise InputError(
                f"{escaped(opened.name)}: does not take the place of {escaped(str(since))}; it names "
                f"{certificate.supersedes.id if certificate.supersedes else 'no certificate'}"
            )
        subject = replace(
            subject,
            comparison=compare(
                before.certificate, certificate, limits=clock.limits(CHART_SECONDS, nodes=CHART_NODES)
            ),
        )
    plain = pdf.Attachment("certificate.json", "The certificate", to_json(certificate).encode())
    signed = pdf.Attachment("certificate.dsse.json", "The certificate, signed", opened.data)
    return _made(subject, format, style, (plain, signed) if opened.is_signed else (plain,))


def _audit_of(opened: Opened, model: NaiveBayes, time_limit: float | None) -> Audit:
    """The audit of a certificate's model; it must agree with what the certificate says.

    Where the certificate leaves something open, so does the audit, whatever could be found out by now.
    """
    certificate = opened.certificate
    audit = auditing.audit(
        model,
        certificate.delta,
        criterion=certificate.criterion,
        min_probability=certificate.min_probability,
        time_limit=time_limit,
    )
    if certificate.verdict == "inconclusive":
        return _left_open(audit, certificate)
    if audit.verdict == "inconclusive":
        raise InputError(f"{escaped(opened.name)}: its verdict could not be recomputed within the time limit")
    counted = certificate.pattern_count
    same_count = None in (counted, audit.pattern_count) or str(audit.pattern_count) == counted
    if audit.verdict != certificate.verdict or not same_count:
        raise InputError(
            f"{escaped(opened.name)}: says something else than its model does; auditor verify says what"
        )
    return audit


def _left_open(audit: Audit, certificate: Certificate) -> Audit:
    reason = certificate.inconclusive_reason or "the search reached a limit"
    search = audit.search.model_copy(update={"complete": False, "reasons": (reason,)})
    return audit.model_copy(
        update={
            "verdict": certificate.verdict,
            "max_degree": float(certificate.max_degree.lower),
            "max_degree_bounds": (float(certificate.max_degree.lower), float(certificate.max_degree.upper)),
            "pattern_count": None if certificate.pattern_count is None else int(certificate.pattern_count),
            "pattern_count_reason": certificate.pattern_count_reason,
            "coverage": audit.coverage if certificate.coverage else None,
            "search": search,
        }
    )


def _made(subject: Subject, format: ReportFormat, style: Style, attached: tuple[pdf.Attachment, ...]) -> Made:
    subject = replace(
        subject,
        profile=load_profile(style.profile) if style.profile else None,
        limits=clock.limits(CHART_SECONDS, nodes=CHART_NODES),
    )
    if format == "markdown":
        return Made("\n".join(_markdown(subject)).encode(), subject.audit, ())
    medium: html.Medium = "paper" if format == "pdf" else "screen"
    text = html.render(subject, look=_look(style.policy), templates=style.templates, medium=medium)
    if format == "html":
        return Made(text.encode(), subject.audit, ())
    certificate = subject.certificate
    dated = datetime.combine(certificate.issued, datetime.min.time(), UTC) if certificate else pdf.NO_DATE
    made = pdf.render(text, attached, dated)
    remarks: tuple[str, ...] = ()
    if made.missing:
        remarks = (
            f"no font has these characters: {made.missing[:40]}; apt-get install fonts-noto-cjk may help",
        )
    return Made(made.content, subject.audit, remarks)


def _markdown(subject: Subject) -> Iterator[str]:
    """The parts of a report in Markdown: the same documents, without pictures."""
    from auditor.report import certificates, repairs

    yield markdown.audit(subject.audit)
    if subject.certificate:
        facts = Dossier(subject).identity
        rows = "".join(f"| {markdown.name(fact.label)} | {markdown.name(fact.value)} |\n" for fact in facts)
        valid = markdown.name(validity(subject.certificate))
        yield f"## Certificate\n\nValid {valid}.\n\n|  |  |\n|---|---|\n{rows}"
    if isinstance(subject.repair, Repair):
        yield repairs.render(subject.repair, "markdown")
    if subject.comparison:
        yield certificates.render(subject.comparison, "markdown")


def _look(policy: Path | None) -> Look:
    """The logo and the colour that a policy file names."""
    if policy is None:
        return Look()
    from auditor.certificate.policy import load_policy

    wanted = load_policy(policy).content.report
    if wanted.logo is None:
        return Look(accent=wanted.accent)
    path = policy.parent / wanted.logo
    data = read_bytes(path, _MAX_PICTURE)
    media = next((media for media, start in _PICTURES.items() if data.startswith(start)), None)
    if media is None and path.suffix.lower() == ".svg" and b"<svg" in data:
        media = "image/svg+xml"
    if media is None:
        raise InputError(f"{escaped(str(path))}: is neither PNG, JPEG nor SVG")
    url = f"data:{media};base64,{b64encode(data).decode()}"
    return Look(logo=url, logo_text=wanted.logo_text or "Logo of the issuer", accent=wanted.accent)


def _before_repair(spec: ModelSpec) -> ModelSpec:
    """The model that the counts of a repaired one stand for."""
    return spec.model_copy(
        update={
            "repair": None,
            "decision": spec.decision.model_copy(update={"prior": None}),
            "attributes": tuple(a.model_copy(update={"likelihood": None}) for a in spec.attributes),
        }
    )


def _kind(path: str) -> str | None:
    """What a document says it is; a YAML file can only be a model."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return "auditor/model"
    data = read_bytes(path, MAX_BYTES)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    kind = content.get("kind") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else None


def _named_by(document: str, sha256: str, model: str) -> ModelSpec:
    """Load the model that a document names by its digest."""
    spec = load_naive_bayes(model)
    if spec.naive_bayes().sha256() != sha256:
        raise InputError(f"{escaped(document)}: is about another model than {escaped(model)}: digests differ")
    return spec
