"""What was checked of certificates, and how two of them compare, as text or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from auditor.choices import Verdict
from auditor.documents.comparison import CertificateSide, Comparison, ParameterChange, PatternChanges
from auditor.documents.verification import ChainVerification, Check, Verification
from auditor.report import markdown
from auditor.report.blocks import Block, Format, Table, laid_out
from auditor.report.wording import rounded, share, shown, signed

Document = Verification | ChainVerification | Comparison

#: Parameters that are shown; the JSON document has all.
PARAMETERS_SHOWN = 10

VERDICTS: dict[Verdict, str] = {
    "delta-fair": "δ-fair",
    "not-delta-fair": "not δ-fair",
    "inconclusive": "inconclusive",
}
RESULTS = {
    "holds": "The certificate holds",
    "does not hold": "The certificate does NOT hold",
    "undecided": "The certificate is undecided",
}
CHAIN_RESULTS = {
    "holds": "The chain holds",
    "does not hold": "The chain does NOT hold",
    "undecided": "The chain is undecided",
}


def render(document: Document, format: Format) -> str:
    """Show a document in a format."""
    name = shown if format == "text" else markdown.name
    match document:
        case Verification():
            blocks = _verification(document, name, 1)
        case ChainVerification():
            blocks = _chain(document, name)
        case Comparison():
            blocks = _comparison(document, name)
    return laid_out(blocks, format)


def result_line(document: Verification | ChainVerification) -> str:
    """The result in one line, with the checks that failed by name."""
    if isinstance(document, ChainVerification):
        return CHAIN_RESULTS[document.result]
    failed = [check.name for check in document.checks if check.outcome == "failed"]
    verdict = VERDICTS[document.certificate.verdict]
    return f"{RESULTS[document.result]}" + (
        f": {', '.join(failed)}" if failed else f"; its verdict: {verdict}"
    )


def change_line(document: Comparison) -> str:
    """The change of the verdict in one line."""
    before, after = document.before, document.after
    return (
        f"{shown(after.model)}: {VERDICTS[after.verdict]} at δ = {after.delta}, "
        f"was {VERDICTS[before.verdict]} at δ = {before.delta}; "
        f"largest degree {_largest(before)} → {_largest(after)}"
    )


def _verification(document: Verification, name: Callable[[str], str], level: int) -> list[Block]:
    certificate = document.certificate
    return [
        (level, name(result_line(document))),
        Table(
            ("", ""),
            [
                ("File", name(certificate.file)),
                ("Certificate", certificate.id),
                ("Model", name(certificate.model)),
                ("Verdict", VERDICTS[certificate.verdict]),
                ("Issued", f"{certificate.issued}, expires {certificate.expires}"),
                ("Signed by", name(certificate.signed_by) if certificate.signed_by else "not signed"),
            ],
        ),
        _checks(document.checks, name),
    ]


def _checks(checks: Iterable[Check], name: Callable[[str], str]) -> Table:
    return Table(
        ("Check", "Outcome", "Detail"),
        [
            (name(c.name), c.outcome.upper() if c.outcome == "failed" else c.outcome, name(c.detail))
            for c in checks
        ],
    )


def _chain(document: ChainVerification, name: Callable[[str], str]) -> list[Block]:
    number = len(document.certificates)
    blocks: list[Block] = [
        (1, CHAIN_RESULTS[document.result]),
        f"{number} certificate{'s' if number > 1 else ''}; current: {', '.join(document.current)}",
    ]
    if document.checks:
        blocks.append(_checks(document.checks, name))
    for verification in document.certificates:
        blocks += _verification(verification, name, 2)
    return blocks


def _comparison(document: Comparison, name: Callable[[str], str]) -> list[Block]:
    before, after = document.before, document.after
    blocks: list[Block] = [
        (1, f"{name(after.model)}: {VERDICTS[after.verdict]} at δ = {after.delta}"),
        Table(
            ("", "Before", "After"),
            [
                ("Verdict", VERDICTS[before.verdict], VERDICTS[after.verdict]),
                ("Largest degree", _largest(before), _largest(after)),
                ("Discrimination patterns", _counted(before), _counted(after)),
                ("δ", before.delta, after.delta),
                ("Certificate", before.id[:16], after.id[:16]),
                ("Model digest", before.model_sha256[:16], after.model_sha256[:16]),
            ],
        ),
        _regression(document),
    ]
    if document.scope_changes:
        reason = name(document.scope_change_reason or "no reason was given")
        blocks += [(2, "The scope changed"), f"{name('; '.join(document.scope_changes))}. Reason: {reason}."]
    structure = [
        f"{what}: {', '.join(map(name, names))}."
        for what, names in (
            ("Attributes added", document.attributes_added),
            ("Attributes removed", document.attributes_removed),
            ("Attributes with other values", document.values_changed),
        )
        if names
    ]
    blocks += structure
    for title, changes in (
        ("Patterns gone", document.gone),
        ("New patterns", document.new),
        ("Patterns that got worse", document.worse),
    ):
        blocks += _pattern_changes(title, changes, before.delta, after.delta, name)
    moved, compared = len(document.parameters_moved), document.parameters_compared
    blocks.append((2, f"Parameters that moved: {moved:,} of {compared:,}"))
    if moved:
        blocks.append(
            Table(
                ("Probability", "Before", "After"),
                [
                    (_parameter(change, after, name), rounded(change.before), rounded(change.after))
                    for change in document.parameters_moved[:PARAMETERS_SHOWN]
                ],
                right=2,
            )
        )
    if document.log_likelihood:
        old, new = (
            "minus infinity" if value is None else f"{value:,.2f}"
            for value in (document.log_likelihood.old_parameters, document.log_likelihood.new_parameters)
        )
        blocks += [
            (2, "Log-likelihood of the new model's counts"),
            f"{old} by the old parameters, {new} by the new ones.",
        ]
    return blocks


def _regression(document: Comparison) -> str:
    match document.regressed:
        case True:
            return "The largest degree grew."
        case False:
            return "The largest degree did not grow."
        case _:
            return "Whether the largest degree grew is not known."


def _largest(side: CertificateSide) -> str:
    """The largest degree to four digits, rounded so that it stays on its side of δ."""
    lower, upper = (Fraction(bound) for bound in side.max_degree)
    if upper - lower <= Fraction(1, 10**12):
        middle = lower if lower > Fraction(side.delta) else upper
        return signed(float(middle), side.delta).lstrip("+")
    return f"{rounded(float(lower))} to {rounded(float(upper))}"


def _counted(side: CertificateSide) -> str:
    if side.pattern_count is None:
        return "not counted"
    part = share(side.pattern_count, side.total_patterns)
    return f"{side.pattern_count:,} of {side.total_patterns:,} ({part})"


def _pattern_changes(
    title: str, changes: PatternChanges, before: str, after: str, name: Callable[[str], str]
) -> list[Block]:
    count = "not counted" if changes.count is None else f"{changes.count:,}"
    blocks: list[Block] = [(2, f"{title}: {count}")]
    if changes.reason:
        blocks.append(f"Not counted: {name(changes.reason)}.")
    if changes.top:
        blocks.append(
            Table(
                ("Disclosed", "Given", "Degree before", "After"),
                [
                    (
                        _values(change.sensitive_values, name),
                        _values(change.context_values, name) or "nothing else",
                        "none" if change.degree_before is None else signed(change.degree_before, before),
                        "none" if change.degree_after is None else signed(change.degree_after, after),
                    )
                    for change in changes.top
                ],
                right=2,
            )
        )
    return blocks


def _values(values: dict[str, str], name: Callable[[str], str]) -> str:
    return ", ".join(f"{name(attribute)}: {name(value)}" for attribute, value in values.items())


def _parameter(change: ParameterChange, side: CertificateSide, name: Callable[[str], str]) -> str:
    if change.attribute is None:
        return f"P({name(side.favourable)})"
    return f"P({name(change.attribute)}: {name(change.value or '')} given {change.given} decision)"
