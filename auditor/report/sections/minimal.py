"""The smallest patterns that already discriminate: grouped among the findings, one by one in the appendix."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from auditor.documents.audit import Audit, PatternRecord
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import people, signed
from auditor.report.subject import Subject
from auditor.report.wording import list_heading

#: Patterns that are listed; the JSON document has all.
_ON_TERMINAL, _ON_PAPER = 5, 40
MEANING = (
    "Every discrimination pattern contains a subset-minimal one; not every extension of one discriminates."
)


def section(subject: Subject) -> Blocks:
    """Make the section."""
    audit = subject.audit
    if not audit or not audit.minimal_patterns:
        return None
    number, complete = len(audit.minimal_patterns), audit.search.minimal_patterns_complete
    heading = Heading(list_heading("minimal", number, complete, ordered=subject.brief), "minimal")
    if not subject.brief:
        listed = "them" if number <= _ON_PAPER else f"the first {_ON_PAPER}"
        where = f"Below they are put together by what they disclose; the appendix lists {listed} one by one."
        return [heading, Paragraph(f"{MEANING} {where}", "intro"), _grouped(audit)]
    blocks: list[Block] = [heading, Paragraph(MEANING, "intro")]
    shown = audit.minimal_patterns[:_ON_TERMINAL]
    blocks.append(_table(shown, audit.delta, "patterns"))
    if left := len(audit.minimal_patterns) - len(shown):
        after = "" if complete else ", and those after them"
        command = f"auditor patterns MODEL {_question(audit)} --summary minimal"
        blocks.append(Paragraph(f"{left:,} more{after}: {command}"))
    return blocks


def appendix(subject: Subject) -> Blocks:
    """List the patterns one by one."""
    audit = subject.audit
    if not audit or not audit.minimal_patterns:
        return None
    shown = audit.minimal_patterns[:_ON_PAPER]
    left = len(audit.minimal_patterns) - len(shown)
    order = ", most probable first" if len(shown) > 1 else ""
    more = f" The first {len(shown)}; the JSON document has {left} more." if left else ""
    return [
        Heading(f"Subset-minimal patterns one by one{order}", "minimal-list"),
        Paragraph(MEANING + more, "intro"),
        _table(shown, audit.delta, "listed"),
    ]


def _table(patterns: Iterable[PatternRecord], delta: str, look: str) -> Table:
    rows: list[tuple[str | Cell, ...]] = [
        (
            str(number),
            values(pattern.sensitive_values),
            values(pattern.context_values, "nothing else"),
            Cell(signed(pattern.degree, delta), abs(pattern.degree)),
            Cell(people(pattern.probability), pattern.probability or 0.0),
        )
        for number, pattern in enumerate(patterns, 1)
    ]
    return Table("", ("#", "Disclosed", "Given", "Degree", "People"), rows, 2, look)


def _question(audit: Audit) -> str:
    """The options with which the same is asked."""
    options = {
        "--delta": audit.delta,
        "--criterion": "ratio" if audit.criterion == "ratio" else None,
        "--min-probability": audit.min_probability,
        "--undisclosed": audit.model.undisclosed,
    }
    return " ".join(f"{name} {value}" for name, value in options.items() if value is not None)


def _grouped(audit: Audit) -> Table:
    def disclosed(pattern: PatternRecord) -> tuple[int, tuple[str, ...]]:
        return len(pattern.sensitive_values), tuple(pattern.sensitive_values)

    rows = []
    for (_, names), group in groupby(sorted(audit.minimal_patterns, key=disclosed), disclosed):
        patterns = list(group)
        common = max(patterns, key=lambda pattern: pattern.probability or 0.0)
        worst = max(patterns, key=lambda pattern: abs(pattern.degree))
        example = f"{values(common.sensitive_values)} in the context "
        rows.append(
            (
                " + ".join(names),
                example + values(common.context_values, "of nothing else"),
                people(common.probability),
                signed(worst.degree, audit.delta),
                f"{len(patterns):,}",
            )
        )
    head = ("Disclosed", "The most probable of them", "Its people", "Worst degree", "Patterns")
    return Table("", head, rows, 3, "grouped")
