"""The worst degree, how many patterns there are, and how the worst falls with the share of people."""

from __future__ import annotations

from auditor.documents.rounding import limit_of
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, values
from auditor.report.figures import between, people, share, size, whole
from auditor.report.subject import Stated, Subject
from auditor.report.wording import degree, least, limited, of_all, sentence


def section(subject: Subject) -> Blocks:
    """Make the section."""
    stated = subject.stated
    worst = stated.largest.worst_pattern
    blocks: list[Block] = [
        Heading(f"Worst degree of discrimination{limited(stated.min_probability)}", "worst"),
        Paragraph(largest(stated)),
    ]
    if worst:
        blocks.append(Paragraph(sentence(worst, stated.model.favourable)))
    if not subject.brief:
        blocks += _by_share(subject)
    return [*blocks, Heading("Discrimination patterns", "count"), Paragraph(counted(stated))]


def largest(stated: Stated) -> str:
    """The largest degree against the threshold, or what is known of it."""
    figure, delta = stated.largest, stated.delta
    if not figure.proved:
        low, high = figure.max_degree_bounds or (figure.max_degree, None)
        return f"{between(max(low, figure.max_degree), high, delta)}; δ = {delta}"
    relation = "above" if figure.max_degree > limit_of(delta) else "not above"
    return f"{size(figure.max_degree, delta)}, {relation} δ = {delta}"


def counted(stated: Stated) -> str:
    """The exact count and its share of all patterns, or what is known of it."""
    if stated.count is not None:
        if stated.min_probability is not None:
            return f"{whole(stated.count)} so probable, counted exactly"
        part = share(stated.count, stated.total)
        return f"{whole(stated.count)} of {whole(stated.total)} ({part}), counted exactly"
    known = whole(None, stated.count_bounds)
    of = f", of {whole(stated.total)}" if stated.min_probability is None else " so probable"
    return f"{known}{of}: {stated.count_reason}"


def _by_share(subject: Subject) -> list[Block]:
    audit = subject.audit
    if not audit or not audit.by_share:
        return []
    delta = subject.stated.delta
    rows: list[tuple[str | Cell, ...]] = []
    for record in audit.by_share:
        worst = record.worst_pattern
        if worst is None:
            disclosed, context = "no pattern", ""
        elif worst == audit.worst_pattern:
            disclosed, context = f"the worst {of_all(audit.min_probability, record.proved)}, above", ""
        else:
            disclosed = values(worst.sensitive_values)
            context = values(worst.context_values, "nothing else known")
        rows.append(
            (
                least(record.min_probability),
                disclosed,
                context,
                people(worst.probability) if worst else "",
                degree(record, delta),
            )
        )
    return [
        Heading("The worst degree by share of people", "shares"),
        Paragraph(
            "A pattern of few people can be severe and one of many people mild. Each row has the worst of "
            "all patterns that at least so many people have, by the model.",
            "intro",
        ),
        Table("", ("Share", "Disclosed", "In the context", "People", "Worst degree"), rows, 2, "shares"),
    ]
