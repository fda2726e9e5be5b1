"""What was checked of certificates, and how two of them compare, as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.documents.comparison import Comparison
from auditor.documents.proof import ProofVerification
from auditor.documents.verification import ChainVerification, Check, Verification
from auditor.report.blocks import Block, Facts, Heading, Paragraph, Table
from auditor.report.formats import COLUMNS, CheckFormatName, laid_out
from auditor.report.sections import changes, reach
from auditor.report.wording import KINDS, UNDISCLOSED, verdict_words

Document = Verification | ChainVerification | ProofVerification | Comparison

RESULTS = {
    "holds": "The {} holds",
    "contents hold": "The contents hold; signature not checked",
    "does not hold": "The {} does NOT hold",
    "undecided": "The {} is undecided",
}
CHAIN_RESULTS = {
    "holds": "The chain holds",
    "contents hold": "The contents of the chain hold; signatures not checked",
    "does not hold": "The chain does NOT hold",
    "undecided": "The chain is undecided",
}


def render(
    document: Document, format: CheckFormatName, *, colour: bool = False, columns: int = COLUMNS
) -> str:
    """Show a document in a format; only text has colours, and a width."""
    match document:
        case Verification():
            blocks = _verification(document, 1)
        case ChainVerification():
            blocks = _chain(document)
        case ProofVerification():
            blocks = [Heading(result_line(document), level=1), _checks(document.checks)]
        case Comparison(after=after):
            title = f"{after.model}: {verdict_words(after.verdict, after.delta, after.min_probability)}"
            blocks = [Heading(title, level=1), *changes.blocks(document)]
    return laid_out(blocks, format, colour=colour, columns=columns)


def result_line(document: Verification | ChainVerification | ProofVerification) -> str:
    """The result in one line, with the checks that failed by name."""
    if isinstance(document, ChainVerification):
        return CHAIN_RESULTS[document.result]
    if isinstance(document, ProofVerification) and document.result == "holds":
        return (
            f"The proof holds: no model of these counts that is δ-fair at δ = {document.delta} has a "
            f"log-likelihood above {document.bound}"
        )
    failed = [check.name for check in document.checks if check.outcome == "failed"]
    if isinstance(document, ProofVerification) and document.result == "undecided":
        return "The proof is undecided: computing it again takes too much work"
    if isinstance(document, ProofVerification):
        return f"The proof does NOT hold: {', '.join(failed)}"
    certificate = document.certificate
    verdict = verdict_words(certificate.verdict, certificate.delta, certificate.min_probability)
    return RESULTS[document.result].format(KINDS[document.certificate.verdict]) + (
        f": {', '.join(failed)}" if failed else f"; its verdict: {verdict}"
    )


def change_line(document: Comparison) -> str:
    """The change of the verdict in one line."""
    before, after = document.before, document.after
    return (
        f"{after.model}: {verdict_words(after.verdict, after.delta, after.min_probability)}, "
        f"was {verdict_words(before.verdict, before.delta, before.min_probability)}; "
        f"largest degree {' → '.join(changes.degrees(before, after))}"
    )


def _verification(document: Verification, level: int) -> list[Block]:
    certificate = document.certificate
    facts = (
        ("File", certificate.file),
        (KINDS[certificate.verdict].capitalize(), certificate.id),
        ("Model", certificate.model),
        ("Verdict", verdict_words(certificate.verdict, certificate.delta, certificate.min_probability)),
        ("Criterion", certificate.criterion),
        *([("Box", reach.certified(certificate.box))] if certificate.box else []),
        ("Minimum probability", certificate.min_probability or "none"),
        *([("Not disclosed", UNDISCLOSED[certificate.undisclosed])] if certificate.undisclosed else []),
        ("Favourable decision", certificate.favourable),
        ("Sensitive attributes", ", ".join(certificate.sensitive)),
        ("Issued", f"{certificate.issued}, expires {certificate.expires}"),
        ("Names the key", certificate.names_key or "none; it is not signed"),
    )
    return [Heading(result_line(document), level=level), Facts(facts), _checks(document.checks)]


def _checks(checks: Iterable[Check]) -> Table:
    rows = [(c.name, c.outcome.upper() if c.outcome == "failed" else c.outcome, c.detail) for c in checks]
    return Table("", ("Check", "Outcome", "Detail"), rows)


def _chain(document: ChainVerification) -> list[Block]:
    number = len(document.certificates)
    named = " or ".join(sorted({KINDS[one.certificate.verdict] for one in document.certificates}))
    blocks: list[Block] = [
        Heading(CHAIN_RESULTS[document.result], level=1),
        Paragraph(f"{number} {named}{'s' if number > 1 else ''}; current: {', '.join(document.current)}"),
    ]
    if document.checks:
        blocks.append(_checks(document.checks))
    for verification in document.certificates:
        blocks += _verification(verification, 2)
    return blocks
