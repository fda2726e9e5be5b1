"""What the report answers of a framework, item by item, and what stays open."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.report.blocks import Block, Blocks, Paragraph, Table
from auditor.report.figures import FOUR_FIFTHS, people, plural, signed, whole
from auditor.report.profiles import EvidenceName, Item
from auditor.report.sections import data, groups, repair
from auditor.report.sections.levels import levels
from auditor.report.sections.worst import counted, largest
from auditor.report.subject import Subject
from auditor.report.wording import degree, least, limited, threshold_words, verdict_words


def section(subject: Subject) -> Blocks:
    """Make the section."""
    profile = subject.profile
    if profile is None:
        return None
    there = dict(evidence(subject))
    blocks: list[Block] = [
        Paragraph(
            f"{profile.name}. {profile.source}. On {profile.checked} it was compared {profile.compared}. "
            f"{profile.about}"
        ),
        Paragraph(
            "The table says what this report answers of each item, and what stays open. It is not a "
            "statement that the framework, or any law, is complied with."
        ),
        Table(
            "",
            ("Item", "Asks for", "This report’s answer", "Open"),
            [_row(item, there) for item in profile.items],
            look="profile",
        ),
    ]
    return blocks


def _row(item: Item, there: dict[EvidenceName, str]) -> tuple[str, ...]:
    found = [there[name] for name in item.evidence if name in there]
    left = item.open or (
        "" if len(found) == len(item.evidence) else "Part of this was not given to the report."
    )
    status = "□ Open." if not found else "◪ In part." if left else "■ Answered."
    return item.item, item.asks, " ".join(found) or "–", f"{status} {left}".strip()


def evidence(subject: Subject) -> Iterator[tuple[EvidenceName, str]]:
    """What this report has to show, each with its figure."""
    stated, audit, certificate = subject.stated, subject.audit, subject.certificate
    model, delta, provenance = stated.model, stated.delta, subject.provenance
    scope = limited(stated.min_probability)
    yield "verdict", f"Verdict: {verdict_words(stated.verdict, delta, stated.min_probability)}."
    yield (
        "criterion",
        f"Criterion and threshold: {stated.criterion}, {threshold_words(stated.criterion, delta)}.",
    )
    yield "max_degree", f"Largest degree{scope}: {largest(stated)}."
    yield "pattern_count", f"Discrimination patterns: {counted(stated)}."
    yield "sensitive_attributes", f"Sensitive attributes: {', '.join(model.sensitive)}."
    yield "model_identity", f"Model {model.name}, sha256:{model.sha256[:16]}…"
    yield "limits", "Assumptions and limits are in the section on the method."
    yield "tool", f"Made with auditor {stated.version}."
    if stated.coverage:
        yield (
            "coverage",
            f"All {whole(stated.total)} pairs are decided, of "
            f"{plural(len(stated.coverage), 'combination')} of sensitive attributes.",
        )
    if CRITERIA[stated.criterion].is_ratio and Fraction(delta) == 1 - Fraction(FOUR_FIFTHS):
        fair = stated.verdict == "delta-fair"
        said = "not decided" if stated.verdict == "inconclusive" else "yes" if fair else "no"
        yield (
            "ratio_at_four_fifths",
            f"Four fifths in every context{scope}: {said}; largest degree {largest(stated)}.",
        )
    if subject.parameters:
        number = sum(2 * len(attribute.values) for attribute in subject.parameters.attributes) + 1
        yield "parameters", f"All {number:,} parameters are in the appendix."
    if audit:
        figures = ", ".join(f"{row.attribute} {degree(row, delta)}" for row in audit.by_sensitive_attribute)
        yield "by_sensitive_attribute", f"Worst degree by sensitive attribute{scope}: {figures}."
        if audit.top_patterns:
            first = audit.top_patterns[0]
            whom = "" if first.probability is None else f" for {people(first.probability)} people"
            found = "" if audit.search.top_patterns_complete else ", as far as found"
            yield (
                "top_patterns",
                f"{plural(len(audit.top_patterns), 'top pattern')}{found}; the first has a degree of "
                f"{signed(first.degree, delta)}{whom}.",
            )
        if audit.minimal_patterns:
            some = plural(len(audit.minimal_patterns), "subset-minimal pattern")
            whole_list = audit.search.minimal_patterns_complete
            yield "minimal_patterns", f"{some}." if whole_list else f"The first {some}; there may be more."
        if audit.by_share:
            figures = "; ".join(
                f"{least(row.min_probability)} of people {degree(row, delta)}" for row in audit.by_share
            )
            yield "by_share", f"Worst degree by share: {figures}."
        if audit.groups:
            yield (
                "group_rates",
                f"By the rates that the model implies, {groups.below_four_fifths(audit.groups)}",
            )
        if audit.data:
            yield "observed_rates", f"In the data, {data.below_four_fifths(audit.data)}"
            if any(group.true_positive_rate or group.false_positive_rate for group in audit.data.groups):
                yield (
                    "observed_error_rates",
                    "Accuracy and the rates of true and false positives by group, in the data, are in the "
                    "section on data.",
                )
    names: dict[str, EvidenceName] = {"group-level": "group_level", "individual-level": "individual_level"}
    for name, what, figure in levels(subject):
        yield names[name], f"{what}: {degree(figure, delta)}{scope}."
    if provenance:
        for place, label, value in _provenance:
            if found := getattr(provenance, value):
                yield place, f"{label}: {found}."
    if certificate:
        yield "signature", f"Issued on {certificate.issued}, with a line for the responsible person to sign."
        if certificate.verdict == "delta-fair":
            yield "validity", f"Valid from {certificate.valid_from} until {certificate.expires}."
    if subject.repair:
        yield "repair", f"Repaired: {repair.price(subject.repair)}."
    if subject.comparison:
        before = subject.comparison.before
        yield "changes", f"Was {verdict_words(before.verdict, before.delta, before.min_probability)} before."


_provenance: tuple[tuple[EvidenceName, str, str], ...] = (
    ("model_version", "Version", "model_version"),
    ("owner", "Owner", "owner"),
    ("data_source", "Data", "data_source"),
    ("period", "Period", "period"),
)
