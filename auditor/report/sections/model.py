"""Which model and document this is, and the whole model."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.documents.parameters import ExactModel, ExactScorecard, fraction_of
from auditor.report.blocks import Block, Blocks, Cell, Facts, Heading, Paragraph, Table
from auditor.report.figures import exactly, percent
from auditor.report.sections import cover, repair
from auditor.report.subject import Subject
from auditor.report.wording import KINDS, UNDISCLOSED

#: Characters of an exact probability that fit beside the others.
_SHORT = 12


def section(subject: Subject) -> Blocks:
    """Everything that says which model and document this is, in full."""
    return [
        Heading("Identity of the model and of this document", "identity"),
        Facts(tuple(_identity(subject))),
    ]


def parameters(subject: Subject) -> Blocks:
    """The whole model."""
    heading, exact = Heading("The whole model", "parameters"), subject.parameters
    card = subject.certificate.model.exact if subject.certificate else None
    if subject.audit and subject.audit.scorecard:
        card = subject.audit.scorecard
    if isinstance(card, ExactScorecard):
        return [heading, *_scorecard(card)]
    if exact is None:
        return [
            heading,
            Paragraph(
                "The document of this report holds the digest of the model only, since it is large. Its "
                "parameters are in the model’s file."
            ),
        ]
    d, other, prior = exact.favourable, exact.unfavourable, fraction_of(exact.prior)
    rows: list[tuple[str | Cell, ...]] = []
    for attribute in exact.attributes:
        found = list(zip(attribute.values, attribute.favourable, attribute.unfavourable, strict=True))
        if len(found) == 2:
            # The other value has the rest.
            found = [(f"{found[0][0]} (else {found[1][0]})", *found[0][1:])]
        for i, (value, *numbers) in enumerate(found):
            a, b = map(fraction_of, numbers)
            shown = [cell for p in (a, b) for cell in (percent(float(p)), exactly(p))]
            rows.append((_named(attribute.name, attribute.sensitive, again=i > 0), value, *shown))
    head = ("Attribute", "Value", f"P(value | {d})", "Exactly", f"P(value | {other})", "Exactly")
    return [
        heading,
        Paragraph(
            f"P({d}) = {percent(float(prior))}, exactly {exactly(prior)}. The digest is that of the exact "
            "numbers; percentages are rounded. Of an attribute with two values, one is listed; the other "
            "has the rest.",
            "intro",
        ),
        Table("", head, rows, look="long parameters" if _has_decimals(exact) else "parameters"),
    ]


def _named(name: str, sensitive: bool, *, again: bool) -> str | Cell:
    """The attribute of a row; also of those below its first, which can be on another page."""
    return Cell(name, look="again") if again else f"{name} (sensitive)" if sensitive else name


def _has_decimals(model: ExactModel) -> bool:
    """Whether an exact probability is a decimal too long for a column like the others."""
    return any(
        len(exactly(fraction_of(p))) > _SHORT
        for attribute in model.attributes
        for p in (*attribute.favourable, *attribute.unfavourable)
    )


def _scorecard(card: ExactScorecard) -> list[Block]:
    rows: list[tuple[str | Cell, ...]] = [
        (
            _named(attribute.name, attribute.sensitive, again=i > 0),
            value,
            exactly(fraction_of(weight)),
        )
        for attribute in card.attributes
        for i, (value, weight) in enumerate(
            [
                *zip(attribute.values, attribute.weights, strict=True),
                ("not disclosed", attribute.undisclosed),
            ]
        )
    ]
    odds, intercept = fraction_of(card.odds), exactly(fraction_of(card.intercept))
    times = "" if odds == 1 else f"{exactly(odds)} × "
    return [
        Paragraph(
            f"The odds of {card.favourable} are {times}{card.base} to the power of the sum of {intercept} "
            "and the weight of each attribute. The digest is that of the exact numbers.",
            "intro",
        ),
        Table("", ("Attribute", "Value", "Weight"), rows, 1, "weights"),
    ]


def _identity(subject: Subject) -> Iterator[tuple[str, str]]:
    model, certificate, provenance = subject.stated.model, subject.certificate, subject.provenance
    yield "Model", model.name
    yield "Model digest", f"sha256:{model.sha256}"
    yield "Decision", f"{model.decision}: {model.favourable} (favourable) or {model.unfavourable}"
    yield "Sensitive attributes", ", ".join(model.sensitive)
    if model.undisclosed:
        yield "Not disclosed", UNDISCLOSED[model.undisclosed]
    yield "All attributes", ", ".join(model.attributes)
    if model.labels:
        yield (
            "In the model’s file",
            ", ".join(f"{label} is called {name}" for name, label in model.labels.items()),
        )
    if provenance:
        for label, value in (
            ("Description", provenance.description),
            ("Owner", provenance.owner),
            ("Model version", provenance.model_version),
            ("Data", provenance.data_source),
            ("Period", provenance.period),
            ("Rows", None if provenance.rows is None else f"{int(provenance.rows):,}"),
        ):
            if value:
                yield label, value
    if certificate:
        yield KINDS[certificate.verdict].capitalize(), certificate.id
        if subject.key_id:
            yield "Names the key", subject.key_id
        yield "Issuer", certificate.issuer or "not stated"
        yield "Responsible", certificate.responsible or "not stated"
        for attribute in certificate.sensitive_attributes:
            if attribute.reason:
                yield "Sensitive because", f"{attribute.name}: {attribute.reason}"
        if certificate.policy.sha256:
            yield "Policy digest", f"sha256:{certificate.policy.sha256}"
            if given := cover.overridden(certificate):
                yield "Policy overridden", given
        if before := certificate.supersedes:
            yield "Takes the place of", before.id
            if found := cover.changed(before, certificate):
                yield "Changed since then", found
        if certificate.model.repair:
            yield "Repaired from", f"sha256:{certificate.model.repair.source_sha256}"
            yield "Price of the repair", repair.certified_price(certificate.model.repair)
        if certificate.platform:
            yield "Computed on", certificate.platform
    yield "Made with", f"auditor {subject.stated.version}"
