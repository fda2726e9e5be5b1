"""The reader's own worst pattern as the worked example: the odds, value by value."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from auditor.documents.audit import PatternRecord
from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.criteria import filled
from auditor.documents.parameters import ExactModel, fraction_of
from auditor.documents.rounding import limit_of
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, pair
from auditor.report.figures import percent, rounded, signed
from auditor.report.subject import Subject
from auditor.report.wording import limited, sentence

#: Steps of the worked example; a longer one is not worked.
_STEPS = 30


def section(subject: Subject) -> Blocks:
    """Make the section."""
    stated = subject.stated
    worst = stated.largest.worst_pattern
    if worst is None:
        return None
    d, delta = stated.model.favourable, stated.delta
    before, after = percent(worst.favourable_given_context), percent(worst.favourable_given_pattern)
    which = "worst pattern of" if stated.verdict == "not-delta-fair" else "largest change found in"
    moves = filled(CRITERIA[stated.criterion].moved, delta, before=before, after=after)
    relation = "above" if abs(worst.degree) > limit_of(delta) else "not above"
    blocks: list[Block] = [
        Heading(f"Worked example: the {which} this model{limited(stated.min_probability)}", "example"),
        Paragraph(
            f"{sentence(worst, d)} {moves} a degree of {signed(worst.degree, delta)} (from the unrounded "
            f"figures), {relation} δ = {delta}."
        ),
    ]
    rows = list(_steps(subject.parameters, worst)) if subject.parameters else []
    if not subject.parameters or not rows:
        return blocks
    prior = fraction_of(subject.parameters.prior)
    odds = rounded(float(prior / (1 - prior)))
    head = (
        "What becomes known",
        f"P(value | {d})",
        f"P(value | {stated.model.unfavourable})",
        "Factor",
        "Odds",
    )
    turn = len(worst.context_values)
    table: list[tuple[str | Cell, ...]] = [("Nothing", "", "", "", odds), *rows[:turn]]
    table.append((f"The context is known: P({d}) = {before}", "", "", "", ""))
    table += [*rows[turn:], (f"All is known: P({d}) = {after}", "", "", "", "")]
    return [
        *blocks,
        Paragraph(
            "With a pocket calculator: odds are the chance of the favourable decision over that of the "
            f"other one. They begin at {odds}, which is P({d}) = {percent(float(prior))}. Each value that "
            "becomes known multiplies them by how much more common it is among people with the favourable "
            "decision. Odds of o are a chance of o / (1 + o).",
            "intro",
        ),
        Table("", head, table, 4, "odds"),
    ]


def _steps(model: ExactModel, pattern: PatternRecord) -> Iterator[tuple[str, ...]]:
    """Each value, what it multiplies the odds by, and the odds after it; none if odds become infinite."""
    known = {**pattern.context_values, **pattern.sensitive_values}
    attributes = {attribute.name: attribute for attribute in model.attributes}
    places = [(attributes[name], attributes[name].values.index(label)) for name, label in known.items()]
    if len(known) > _STEPS or any(fraction_of(a.unfavourable[i]) == 0 for a, i in places):
        return
    prior = fraction_of(model.prior)
    odds: Fraction = prior / (1 - prior)
    for (attribute, i), (name, label) in zip(places, known.items(), strict=True):
        a, b = fraction_of(attribute.favourable[i]), fraction_of(attribute.unfavourable[i])
        odds *= a / b
        factor = rounded(float(a / b))
        yield pair(name, label), percent(float(a)), percent(float(b)), f"× {factor}", rounded(float(odds))
