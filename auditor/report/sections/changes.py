"""What changed from one certificate to the one that takes its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from auditor.documents.rounding import ends_beside, round_beside
from auditor.report.blocks import Block, Blocks, Heading, Paragraph, Table, values
from auditor.report.figures import between, share, signed, size, whole
from auditor.report.subject import Subject
from auditor.report.wording import KINDS, VERDICTS, least, move_table

if TYPE_CHECKING:
    from auditor.documents.comparison import CertificateSide, Comparison, ParameterChange, PatternChanges

#: Parameters that are shown; the JSON document has all.
_SHOWN = 10
#: Bounds that are as close as this are of one exact number, rounded outward.
_EXACT = Fraction(1, 10**12)
#: By how much two rounded probabilities that add up to 1 can miss it.
_SUM = 1e-12


def section(subject: Subject) -> Blocks:
    """Make the section."""
    model = subject.stated.model
    return blocks(subject.comparison, model.favourable, model.unfavourable) if subject.comparison else None


def blocks(
    document: Comparison,
    favourable: str = "favourable decision",
    unfavourable: str = "unfavourable decision",
) -> list[Block]:
    """Say what changed; of the decision's values a comparison knows only the favourable one."""
    before, after = document.before, document.after
    kinds = sorted({KINDS[side.verdict] for side in (before, after)})
    shares = before.min_probability, after.min_probability
    considered = (f"of {least(one)} of people" if one else "all" for one in shares)
    made: list[Block] = [
        Table(
            "",
            ("", "Before", "After"),
            [
                ("Verdict", VERDICTS[before.verdict], VERDICTS[after.verdict]),
                ("Largest degree", *degrees(before, after)),
                ("Discrimination patterns", _counted(before), _counted(after)),
                ("δ", before.delta, after.delta),
                *([("Patterns considered", *considered)] if any(shares) else []),
                *([("Box", before.box or "none", after.box or "none")] if before.box or after.box else []),
                (" or ".join(kinds).capitalize(), before.id[:16], after.id[:16]),
                ("Model digest", before.model_sha256[:16], after.model_sha256[:16]),
            ],
            look="changes",
        ),
        Paragraph(
            {
                True: f"It got worse: {_in_words('; '.join(document.regressions))}.",
                False: f"It did not get worse; the largest degree may grow by {document.tolerance}.",
                None: "Whether it got worse is not known.",
            }[document.regressed]
        ),
    ]
    if document.inside_box is not None:
        verb = "is" if document.inside_box else "is not"
        covered = ": it was δ-fair by that already" if document.inside_box else ""
        made.append(Paragraph(f"The new model {verb} in the box of the old certificate{covered}."))
    if document.scope_changes:
        reason = document.scope_change_reason or "no reason was given"
        made += [
            Heading("The scope changed", "scope"),
            Paragraph(f"{'; '.join(document.scope_changes)}. Reason: {reason}."),
        ]
    made += [
        Paragraph(f"{what}: {', '.join(names)}.")
        for what, names in (
            ("Attributes added", document.attributes_added),
            ("Attributes removed", document.attributes_removed),
            ("Attributes with other values", document.values_changed),
        )
        if names
    ]
    kinds_of_change = (
        ("Patterns gone", document.gone),
        ("New patterns", document.new),
        ("Patterns that got worse", document.worse),
    )
    if none := [f"{title}: {whole(c.count)}." for title, c in kinds_of_change if not c.reason and not c.top]:
        made.append(Paragraph(" ".join(none)))
    if any(shares):
        made.append(Paragraph("What changed is counted over patterns of any probability."))
    for title, changes in kinds_of_change:
        made += _patterns(title, changes, before.delta, after.delta)
    moved = document.parameters_moved
    heading = f"Parameters that moved: {len(moved):,} of {document.parameters_compared:,}"
    if document.parameters_compared:
        distinct = list(_once(moved))
        shown = distinct[:_SHOWN]
        table = move_table(shown, favourable, unfavourable, heading) or [Paragraph(f"{heading}.")]
        if len(shown) < len(distinct):
            table.insert(1, Paragraph(f"The {len(shown)} that moved most are listed.", "intro"))
        made += table
    if found := document.log_likelihood:
        old, new = (
            "minus infinity" if value is None else f"{value:,.2f}"
            for value in (found.old_parameters, found.new_parameters)
        )
        made += [
            Heading("Log-likelihood of the new model's counts"),
            Paragraph(f"{old} by the old parameters, {new} by the new ones."),
        ]
    return made


def _in_words(regressions: str) -> str:
    """With verdicts as people read them."""
    for code in ("not-delta-fair", "delta-fair"):
        regressions = regressions.replace(code, VERDICTS[code])
    return regressions


def degrees(before: CertificateSide, after: CertificateSide) -> tuple[str, str]:
    """Both largest degrees, with digits enough to see whether they differ."""
    short, same = (largest(before), largest(after)), before.max_degree == after.max_degree
    if (short[0] == short[1]) is same:
        return short
    if same:  # rounded to another side of another δ
        return before.max_degree[0], after.max_degree[0]
    first, second = (
        side.max_degree[0] if Fraction(side.max_degree[0]) > Fraction(side.delta) else side.max_degree[1]
        for side in (before, after)
    )
    return first, second


def largest(side: CertificateSide) -> str:
    """The largest degree of a certificate, on its side of δ."""
    lower, upper = (Fraction(bound) for bound in side.max_degree)
    threshold = Fraction(side.delta)
    if upper - lower <= _EXACT:
        return size(round_beside(lower if lower > threshold else upper, threshold), side.delta)
    _, high = ends_beside(lower, upper, threshold)
    return between(round_beside(lower, threshold), high, side.delta)


def _counted(side: CertificateSide) -> str:
    if side.pattern_count is None:
        return "not counted"
    if side.min_probability is not None:
        return f"{whole(side.pattern_count)} so probable"
    part = share(side.pattern_count, side.total_patterns)
    return f"{whole(side.pattern_count)} of {whole(side.total_patterns)} ({part})"


def _once(moved: Iterable[ParameterChange]) -> Iterator[ParameterChange]:
    """Of an attribute's two probabilities that add up to 1 before and after, the first alone."""
    found: list[ParameterChange] = []
    for move in moved:
        same = (one for one in found if (one.attribute, one.given) == (move.attribute, move.given))
        if not any(
            abs(one.before + move.before - 1) < _SUM and abs(one.after + move.after - 1) < _SUM
            for one in same
        ):
            found.append(move)
            yield move


def _patterns(title: str, changes: PatternChanges, before: str, after: str) -> list[Block]:
    heading = f"{title}: {whole(changes.count)}"
    if not changes.reason and not changes.top:
        return []
    made: list[Block] = [Heading(heading)]
    if changes.reason:
        made.append(Paragraph(f"Not counted: {changes.reason}."))
    if changes.top and (changes.count is None or len(changes.top) < changes.count):
        number = len(changes.top)
        listed = "The worst that was found is" if number == 1 else f"The {number} worst that were found are"
        made.append(Paragraph(f"{listed} listed.", "intro"))
    if changes.top:
        rows = [
            (
                values(change.sensitive_values),
                values(change.context_values, "nothing else"),
                "none" if change.degree_before is None else signed(change.degree_before, before),
                "none" if change.degree_after is None else signed(change.degree_after, after),
            )
            for change in changes.top
        ]
        head = ("Disclosed", "Given", "Degree before", "After")
        made.append(Table("", head, rows, 2, "changed"))
    return made
