"""What a repair changed and what it cost, as text or Markdown."""

from __future__ import annotations

from auditor.documents.repair import Repair
from auditor.report.blocks import Heading
from auditor.report.figures import likelihood, percent, plural, whole
from auditor.report.formats import COLUMNS, CheckFormatName, laid_out
from auditor.report.sections import repair


def render(document: Repair, format: CheckFormatName, *, colour: bool = False, columns: int = COLUMNS) -> str:
    """Show what a repair changed in a format; only text has colours, and a width."""
    model = document.after
    moved = repair.moved(document)
    changed = repair.blocks(document, model.favourable, model.unfavourable, moved)
    blocks = [Heading(result_line(document), level=1), *changed]
    return laid_out(blocks, format, colour=colour, columns=columns)


def result_line(document: Repair) -> str:
    """The result in one line."""
    if document.patterns_after == 0:
        verdict = f"δ-fair at δ = {document.delta}, proved by the exact search"
        if also := document.also:
            verdict = (
                f"δ-fair by the {document.criterion} at δ = {document.delta} and by the {also.criterion} at "
                f"δ = {also.delta}, proved by an exact search for each"
            )
    else:
        left = plural(document.patterns_after, "discrimination pattern")
        verdict = f"not repaired; {left} at δ = {document.delta}"
    if document.margin:
        low = percent(document.margin.probability[0])
        verdict += (
            f"; the next model is δ-fair at δ = {document.margin.delta} with a probability of at least {low}"
        )
    return f"{document.after.name}: {verdict}"


def round_line(
    number: int,
    constraints: int,
    log_likelihood: float,
    patterns: int | None,
    also: tuple[str, int | None] | None = None,
) -> str:
    """Where a repair stands after a round; with a second criterion, also what is left by it."""
    besides = f", {whole(also[1])} by the {also[0]}" if also else ""
    return (
        f"round {number}: {plural(constraints, 'constraint')}, log-likelihood {likelihood(log_likelihood)}, "
        f"{plural(patterns, 'pattern')} left{besides}"
    )
