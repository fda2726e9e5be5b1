"""The use case of reports: documents in, files that people read and sign out.

What only some kinds of documents and new audits need is imported with the first of them: the report of a
stored audit does without.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditor.documents.audit import Audit, ModelRecord
from auditor.documents.labels import model_labelled
from auditor.documents.parameters import ExactModel
from auditor.documents.reading import read
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.reading import MOST_BYTES, load_model, read_bytes
from auditor.model.spec import ModelSpec
from auditor.report import html, pdf, sections
from auditor.report.formats import AnyFormatName, laid_out
from auditor.report.html import Look
from auditor.report.pades import sign
from auditor.report.profiles import load_profile
from auditor.report.sections.repair import moved
from auditor.report.subject import Stated, Subject
from auditor.report.text import verdict_line
from auditor.usecases import clock

if TYPE_CHECKING:
    from auditor.certificate.reading import Opened
    from auditor.documents.comparison import Comparison, ParameterChange
    from auditor.documents.frontier import Frontier
    from auditor.documents.repair import PointsChange, Repair
    from auditor.documents.stability import Stability
    from auditor.model.scorecard import ScorecardSpec

ReportFormat = Literal["html", "pdf", "markdown", "text", "model-card"]

#: What makes a PDF of a page made for paper; `pdf.render` for one.
Printed = Callable[[str, Sequence[pdf.Attachment], datetime], pdf.Pdf]

#: Limits of a comparison with an older certificate. Nodes end a search that takes too long, on every machine
#: at the same place; seconds are for what no number of nodes foresees.
COMPARISON_NODES, COMPARISON_SECONDS = 1 << 15, 60.0

#: What a logo begins with, by its media type. An SVG is text, and known by its suffix.
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_MAX_PICTURE = 1 << 20


@dataclass(frozen=True)
class ReportOptions:
    """How a report is to look, and what it is to be compared with; None where nothing was said."""

    profile: str | None = None
    """Name of a profile that comes with the program, or the file of another."""
    templates: Path | None = None
    """A folder of templates that come before the shipped ones."""
    policy: Path | None = None
    """The policy file with the logo and the colour."""
    printed: Printed = field(default=pdf.render, compare=False)
    """What makes the PDF."""


@dataclass(frozen=True)
class Made:
    """A report, its result in one line, and what the user should be told."""

    content: bytes
    line: str
    remarks: tuple[str, ...] = ()


def report(
    document: str,
    format: ReportFormat,
    *,
    model: str | None = None,
    audit: str | None = None,
    since: Path | None = None,
    options: ReportOptions = ReportOptions(),
    pades: tuple[Path, str] | None = None,
    time_limit: float | None = None,
) -> Made:
    """Make a report of a certificate, of a repaired model, or of what a command has stored.

    What is stored is shown and not computed again. A repaired model, and the model that is given with a
    stored audit or repair, are audited; a stored audit must then agree with the new one.

    Parameters
    ----------
    document : str
        JSON (a repaired model may be YAML), or a PDF in which a certificate is embedded.
    format : {"html", "pdf", "markdown", "text", "model-card"}
        A model card is Markdown with metadata, as the Hugging Face Hub takes it.
    model : str, optional
        The model of a stored audit, or the repaired one of a stored repair, which hold its digest; or that
        of a certificate, which holds all of it but what people read for its attributes.
    audit : str, optional
        A stored audit of the model of a certificate; the report then has its findings too.
    since : Path, optional
        The certificate that this one takes the place of; the report then says what changed.
    options : ReportOptions
    pades : (Path, str), optional
        A PKCS #12 file and its passphrase, to sign the PDF with.
    time_limit : float, optional
        Seconds for an audit that is made.

    Raises
    ------
    InputError
        If a file can't be used, or files don't belong together or contradict each other.
    """
    kind = _kind(document)
    is_certificate = kind not in (
        "auditor/audit",
        "auditor/repair",
        "auditor/frontier",
        "auditor/stability",
        "auditor/model",
        "auditor/scorecard",
    )
    if model is not None and kind not in ("auditor/audit", "auditor/repair") and not is_certificate:
        raise InputError(
            f"{escaped(document)}: holds its model; --model goes with a stored audit or repair, or with a "
            "certificate"
        )
    if since is not None and not is_certificate:
        raise InputError(f"{escaped(document)}: is not a certificate; only one can be compared with {since}")
    if audit is not None and not is_certificate:
        raise InputError(
            f"{escaped(document)}: is not a certificate; only that of one can have an audit beside it"
        )
    if kind == "auditor/audit":
        made = _of_stored_audit(document, model, format, options, time_limit)
    elif kind == "auditor/repair":
        made = _of_repair(document, model, format, options, time_limit)
    elif kind == "auditor/frontier" or kind == "auditor/stability":
        if format == "model-card" or options != ReportOptions():
            raise InputError(
                f"{escaped(document)}: has a page of its own; model cards, profiles, templates and a policy "
                "are for audits and certificates"
            )
        from auditor.documents.frontier import Frontier
        from auditor.documents.stability import Stability

        page: Frontier | Stability = (
            read(Frontier, document) if kind == "auditor/frontier" else read(Stability, document)
        )
        made = of_page(page, format, options.printed)
    elif kind == "auditor/model" or kind == "auditor/scorecard":
        spec = load_model(document)
        if spec.repair is None:
            raise InputError(
                f"{escaped(document)}: is a model and no result; auditor audit {escaped(document)} --delta … "
                "-o report.pdf makes a report of it"
            )
        from auditor.usecases import auditing

        stated = auditing.audit(
            spec,
            str(spec.repair.delta),
            criterion=spec.repair.criterion,
            illustrate=True,
            time_limit=time_limit,
        )
        made = of_audit(stated, spec, format, options)
    else:
        from auditor.usecases.certifying import opened_at

        made = _of_certificate(opened_at(document), model, audit, since, format, options)
    return made if pades is None else replace(made, content=sign(made.content, *pades))


def of_audit(
    audit: Audit,
    spec: ModelSpec | ScorecardSpec | None,
    format: ReportFormat,
    options: ReportOptions = ReportOptions(),
    repair: Repair | None = None,
) -> Made:
    """Make a report of an audit; ``spec`` is the audited model, and ``repair`` its repair, if at hand."""
    subject = Subject(Stated.of_audit(audit), audit, parameters=audit.parameters)
    if spec is not None:
        found = repair or spec.repair
        subject = replace(subject, provenance=spec.provenance, repair=found, moved=_moved(spec, repair))
    attached = pdf.Attachment("audit.json", "The audit that this report shows", to_json(audit).encode())
    return _made(subject, format, options, (attached,))


def _of_stored_audit(
    document: str, model: str | None, format: ReportFormat, options: ReportOptions, time_limit: float | None
) -> Made:
    stored = read(Audit, document)
    if model is None:
        return of_audit(stored, None, format, options)
    spec = _named_by(document, stored.model, model)
    from auditor.usecases import auditing

    far = stored.how_far
    sizes = far.sizes if far else {}
    audit = auditing.audit(
        spec,
        stored.delta,
        criterion=stored.criterion,
        top=max(len(stored.top_patterns), 1),
        rank_by=stored.rank_by,
        min_probability=stored.min_probability,
        sensitive=stored.model.sensitive,
        illustrate=True,
        cutoff=stored.cutoff.cutoff if stored.cutoff else None,
        box=sizes.get("box"),
        idm=sizes.get("imprecise-dirichlet"),
        rounding="rounding" in sizes,
        largest_box=far is not None and far.largest_box is not None,
        any_population=far is not None and far.every_population is not None,
        time_limit=time_limit,
    )
    _agree(document, Stated.of_audit(stored), "its model", Stated.of_audit(audit))
    # A comparison with data is taken over from the stored audit, since the data aren't at hand.
    return of_audit(audit.model_copy(update={"data": stored.data}), spec, format, options)


def _of_repair(
    document: str, model: str | None, format: ReportFormat, options: ReportOptions, time_limit: float | None
) -> Made:
    from auditor.documents.repair import Repair

    record = read(Repair, document)
    if model is None:
        raise InputError(
            f"{escaped(document)}: has only the digest of the repaired model; give it with --model"
        )
    spec = _named_by(document, record.after, model)
    from auditor.usecases import auditing

    audit = auditing.audit(
        spec, record.delta, criterion=record.criterion, illustrate=True, time_limit=time_limit
    )
    return of_audit(audit, spec, format, options, record)


def of_page(document: Frontier | Stability, format: AnyFormatName, printed: Printed = pdf.render) -> Made:
    """Make a report of a frontier, or of what draws have shown: it holds all that is shown."""
    from auditor.report import frontier, stability

    if document.kind == "auditor/frontier":
        text, line = frontier.render(document, format), frontier.result_line(document)
    else:
        text, line = stability.render(document, format), stability.result_line(document)
    if format != "pdf":
        return Made(text.encode(), line)
    name = document.kind.removeprefix("auditor/")
    attached = pdf.Attachment(f"{name}.json", "What this report shows", to_json(document).encode())
    made = printed(text, (attached,), pdf.NO_DATE)
    return Made(made.content, line, _remarks(made))


def _of_certificate(
    opened: Opened,
    model: str | None,
    audit: str | None,
    since: Path | None,
    format: ReportFormat,
    options: ReportOptions,
) -> Made:
    from auditor.certificate.verifying import broken

    certificate = opened.certificate
    exact = certificate.model.exact
    if problems := broken(opened):
        raise InputError(f"{escaped(opened.name)}: {problem}" for problem in problems)
    stated, beside = Stated.of_certificate(certificate), None
    if audit is not None:
        beside = read(Audit, audit)
        _agree(opened.name, stated, audit, Stated.of_audit(beside))
    if model is not None:
        spec = _named_by(opened.name, stated.model, model)
        stated = replace(stated, model=model_labelled(stated.model, spec.attribute_labels))
    subject = Subject(
        stated,
        beside,
        certificate,
        file=opened.data.decode(),
        key_id=opened.key_id,
        parameters=exact if isinstance(exact, ExactModel) else None,
        provenance=certificate.model.provenance,
        comparison=_comparison(opened, since),
    )
    plain = pdf.Attachment("certificate.json", "The certificate", opened.readable.encode())
    signed = pdf.Attachment("certificate.dsse.json", "The certificate, signed", opened.data)
    return _made(subject, format, options, (plain, signed) if opened.is_signed else (plain,))


def _comparison(opened: Opened, since: Path | None) -> Comparison | None:
    """What changed since the certificate that this one takes the place of."""
    if since is None:
        return None
    from auditor.certificate.comparing import compare
    from auditor.usecases.certifying import opened_at

    before, supersedes = opened_at(since).certificate, opened.certificate.supersedes
    if supersedes is None or supersedes.id != before.id:
        raise InputError(
            f"{escaped(opened.name)}: does not take the place of {escaped(str(since))}; it names "
            f"{supersedes.id if supersedes else 'no certificate'}"
        )
    limits = clock.limits(COMPARISON_SECONDS, nodes=COMPARISON_NODES)
    return compare(before, opened.certificate, limits=limits)


def _agree(name: str, stated: Stated, other_name: str, other: Stated) -> None:
    """Refuse two answers to different questions, or that contradict each other.

    What one leaves open, the other may have.

    Raises
    ------
    InputError
        With each difference.
    """
    both = stated, other
    differs: dict[str, bool] = {
        "model": stated.model.sha256 != other.model.sha256,
        "sensitive attributes": stated.model.sensitive != other.model.sensitive,
        "favourable decision": stated.model.favourable != other.model.favourable,
        "δ": Fraction(stated.delta) != Fraction(other.delta),
        "criterion": stated.criterion != other.criterion,
        "minimum probability": len({one.min_probability and Fraction(one.min_probability) for one in both})
        > 1,
        "verdict": stated.verdict != other.verdict,
        "largest degree": not _overlap(*(one.largest.max_degree_bounds for one in both)),
        "number of patterns": None not in (stated.count, other.count) and stated.count != other.count,
        "number of all pairs": stated.total != other.total,
    }
    problems = [what for what, found in differs.items() if found]
    if problems:
        raise InputError(
            f"{escaped(name)}: differs from {escaped(other_name)} in the {what}; "
            + (
                "a limit left it open in one of them: audit again with the same limits, or without any"
                if what == "verdict" and "inconclusive" in (stated.verdict, other.verdict)
                else "give what belongs together, or audit again"
            )
            for what in problems
        )


def _overlap(first: tuple[float, float] | None, second: tuple[float, float] | None) -> bool:
    """Whether a figure can lie between both pairs of ends, which are rounded outward."""
    if first is None or second is None:
        return True
    return max(first[0], second[0]) <= math.nextafter(min(first[1], second[1]), math.inf)


def _moved(
    spec: ModelSpec | ScorecardSpec, repair: Repair | None
) -> tuple[ParameterChange | PointsChange, ...]:
    """The parameters that a repair moved most, or the points of a scorecard."""
    if repair is not None or spec.repair is None:
        return moved(repair) if repair else ()
    from auditor.repair import scorecards
    from auditor.repair.repairing import MOVES, before_repair, moves

    if isinstance(spec, ModelSpec):
        return tuple(moves(before_repair(spec).naive_bayes(), spec.naive_bayes())[:MOVES])
    return scorecards.moves(spec)


def _made(
    subject: Subject, format: ReportFormat, options: ReportOptions, attached: tuple[pdf.Attachment, ...]
) -> Made:
    subject = replace(subject.as_read(), profile=load_profile(options.profile) if options.profile else None)
    line = verdict_line(subject.stated)
    if format == "model-card":
        from auditor.report import model_card

        return Made(model_card.laid_out(subject).encode(), line)
    if format == "markdown" or format == "text":
        return Made(laid_out(sections.whole(subject), format).encode(), line)
    medium: html.Medium = "paper" if format == "pdf" else "screen"
    text = html.render(subject, look=_look(options.policy), templates=options.templates, medium=medium)
    if format == "html":
        return Made(text.encode(), line)
    certificate = subject.certificate
    dated = datetime.combine(certificate.issued, datetime.min.time(), UTC) if certificate else pdf.NO_DATE
    made = options.printed(text, attached, dated)
    return Made(made.content, line, _remarks(made))


def _remarks(made: pdf.Pdf) -> tuple[str, ...]:
    if not made.missing:
        return ()
    return (f"no font has these characters: {made.missing[:40]}; apt-get install fonts-noto-cjk may help",)


def logo_of(policy: Path) -> Path | None:
    """Name the file of the logo that a policy file gives, if it does.

    Raises
    ------
    InputError
        If the policy can't be read.
    """
    from auditor.certificate.policy import load_policy

    logo = load_policy(policy).content.report.logo
    return None if logo is None else policy.parent / logo


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


def _kind(path: str) -> str | None:
    """What a document says it is; a YAML file can only be a model."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return "auditor/model"
    data = read_bytes(path, MOST_BYTES)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    kind = content.get("kind") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else None


def _named_by(document: str, named: ModelRecord, model: str) -> ModelSpec | ScorecardSpec:
    """Load the model that a document names by its digest, with what it was asked about.

    That is which attributes are sensitive, and what an undisclosed one counts.
    """
    spec = load_model(model)
    if not isinstance(spec, ModelSpec):
        spec = spec.taken_as(named.undisclosed)
    from auditor.usecases import auditing

    if {attribute.name for attribute in spec.attributes}.issuperset(named.sensitive):
        spec = auditing.marked(spec, named.sensitive)
    if auditing.classifier_of(spec, None).sha256() != named.sha256:
        raise InputError(
            f"{escaped(document)}: is about another model than {escaped(model)}: digests differ; give the "
            "file that it was made of, as it was"
        )
    return spec
