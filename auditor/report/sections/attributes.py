"""The worst degree and the number of patterns by what is disclosed: one attribute, two, or exactly these."""

from __future__ import annotations

from collections.abc import Mapping

from auditor.choices import CoverageMethod
from auditor.documents.audit import Audit, CoverageRecord, DegreeRecord
from auditor.documents.rounding import limit_of
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import share, whole
from auditor.report.subject import Stated, Subject
from auditor.report.wording import degree, limited, of_all

#: Combinations in the findings and in the appendix.
_SHOWN, _IN_APPENDIX = 8, 255
#: Letters of as many equal columns on paper, about; longer names of attributes stand beside rows alone.
_ABREAST = 85
#: What it means how the pairs of a set were decided.
_DECIDED: Mapping[CoverageMethod, str] = {
    "closed form": "one bound shows that in no context these attributes discriminate",
    "exhausted": "every pair was counted",
    "enclosed": "the number was bounded from both sides",
    "bounded": "the search for the largest degree has shown that there is none",
}


def section(subject: Subject) -> Blocks:
    """Make the section."""
    audit, delta = subject.audit, subject.stated.delta
    blocks: list[Block] = []
    if audit and subject.brief:
        rows = [
            (r.attribute, degree(r, delta), whole(r.pattern_count, r.pattern_count_bounds))
            for r in audit.by_sensitive_attribute
        ]
        head = ("Disclosed, alone or with others", "Worst degree", "Patterns")
        return [Heading("By sensitive attribute"), Table("", head, rows, 2)]
    if audit:
        blocks += _by_attribute(audit) + _by_pair(audit)
    blocks += _by_combination(subject.stated)
    return blocks or None


def appendix(subject: Subject) -> Blocks:
    """How every pair was decided."""
    coverage = _sorted(subject.stated.coverage or ())
    if not coverage:
        return None
    left = len(coverage) - len(coverage[:_IN_APPENDIX])
    more = f" The sets with most patterns are listed; the document has {left:,} more." if left else ""
    least = subject.stated.min_probability
    decided = {row.method for row in coverage}
    meanings = " ".join(
        f"“{method.capitalize()}”: {meaning}{limited(least) if method == 'exhausted' else ''}."
        for method, meaning in _DECIDED.items()
        if method in decided
    )
    return [
        Heading("How every pair was decided", "coverage"),
        Paragraph(
            "Each pair of sensitive values and context discloses exactly one set of sensitive attributes. "
            f"The pairs add up to all {whole(subject.stated.total)}. {meanings}{more}",
            "intro",
        ),
        Table(
            "",
            (
                "Disclosed",
                "Decided by",
                "Pairs" if least is None else "Pairs of any probability",
                "Discrimination patterns",
            ),
            [
                (" + ".join(row.disclosed), row.method, whole(row.pairs), whole(row.patterns))
                for row in coverage[:_IN_APPENDIX]
            ],
            2,
            "coverage",
        ),
    ]


def _by_attribute(audit: Audit) -> list[Block]:
    rows = []
    for record in audit.by_sensitive_attribute:
        worst = record.worst_pattern
        if worst is None:
            text = "no pattern in scope"
        elif worst == audit.worst_pattern:
            text = f"the worst {of_all(audit.min_probability, record.proved)}, above"
        else:
            text = f"{values(worst.sensitive_values)} in the context "
            text += values(worst.context_values, "of nothing else")
        rows.append(
            (
                record.attribute,
                text,
                degree(record.alone, audit.delta) if record.alone else "not searched",
                degree(record, audit.delta),
                whole(record.pattern_count, record.pattern_count_bounds),
            )
        )
    return [
        Heading("By sensitive attribute", "attributes"),
        Table(
            "",
            (
                "Attribute",
                "Worst pattern, alone or with others",
                "Worst degree alone",
                "Worst degree",
                "Patterns",
            ),
            rows,
            3,
            "attributes",
        ),
    ]


def _by_pair(audit: Audit) -> list[Block]:
    names = list(dict.fromkeys(name for record in audit.by_pair for name in record.attributes))
    if len(names) < 2:
        return []
    cells = {frozenset(record.attributes): _heat(record, audit) for record in audit.by_pair}
    marks = (
        f"▲ marks degrees above δ = {audit.delta}; the stronger the colour of a cell, the nearer to the "
        f"largest degree {of_all(audit.min_probability)}."
        if any(record.max_degree > limit_of(audit.delta) for record in audit.by_pair)
        else f"None that was found is above δ = {audit.delta}."
    )
    head, look, meaning = names, "heat", ""
    if max(map(len, " ".join(names).replace("-", " ").split())) * (len(names) + 1) > _ABREAST:
        head, look = [str(number) for number in range(1, len(names) + 1)], "heat numbered"
        meaning = "A column has the number of the row of its attribute. "
    rows: list[tuple[str | Cell, ...]] = [
        (
            second if head is names else f"{head[j]} {second}",
            *(cells.get(frozenset((first, second)), "") if i <= j else "" for i, first in enumerate(names)),
        )
        for j, second in enumerate(names)
    ]
    return [
        Heading("By pair of sensitive attributes", "pairs"),
        Paragraph(
            "The worst degree in any context if only the attribute of the row and that of the column may be "
            f"disclosed{limited(audit.min_probability)}; on the diagonal, if only that one may. "
            f"{meaning}{marks}",
            "intro",
        ),
        Table("", ("Disclosed", *head), rows, len(names), look),
    ]


def _heat(record: DegreeRecord, audit: Audit) -> Cell:
    """A cell, the darker the nearer to the largest degree; up to the threshold it is white."""
    delta = limit_of(audit.delta)
    above = record.max_degree - delta
    level = 0
    if above > 0:
        span = audit.max_degree - delta
        level = 1 + min(3, int(4 * above / span)) if span > 0 else 4
    return Cell(
        f"{'▲ ' if above > 0 else ''}{degree(record, audit.delta).lstrip('+-')}", look=f"heat-{level}"
    )


def _sorted(coverage: tuple[CoverageRecord, ...]) -> list[CoverageRecord]:
    return sorted(coverage, key=lambda row: (-row.patterns, len(row.disclosed)))


def _by_combination(stated: Stated) -> list[Block]:
    coverage = stated.coverage or ()
    shown = [row for row in _sorted(coverage) if row.patterns][:_SHOWN]
    if not shown:
        return []
    rest = " and are in the appendix" if len(shown) < len(coverage) else ""
    head: tuple[str, ...] = ("Disclosed", "Discrimination patterns", "Of all pairs", "Share")
    rows: list[tuple[str | Cell, ...]] = [
        (
            " + ".join(row.disclosed),
            whole(row.patterns),
            whole(row.pairs),
            Cell(share(row.patterns, row.pairs), bar=(0, row.patterns / row.pairs)),
        )
        for row in shown
    ]
    if stated.min_probability is not None:
        # The pairs are of any probability: their number and the share of them are outside the scope.
        head, rows = head[:2], [row[:2] for row in rows]
    return [
        Heading("By combination of sensitive attributes", "combinations"),
        Paragraph(
            "Each pattern discloses exactly one combination of sensitive attributes. The counts are exact; "
            f"those of all combinations add up to the total{rest}.",
            "intro",
        ),
        Table("", head, rows, len(head) - 1, "combinations"),
    ]
