"""How far the verdict reaches: to other models, and to other populations."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from auditor.choices import ReachVerdict
from auditor.documents.parameters import ExactModel, fraction_of
from auditor.documents.reach import (
    CardExtremeRecord,
    CardSetRecord,
    CertainPatternRecord,
    ExtremeRecord,
    HowFarRecord,
    LargestBoxRecord,
    PopulationExtremeRecord,
    PopulationsRecord,
    SetRecord,
)
from auditor.documents.rounding import ALL_DIGITS, decimal_text, limit_of
from auditor.report.blocks import Block, Blocks, Cell, Heading, Paragraph, Table, pair, strong, values
from auditor.report.figures import apart, between, percent, size, whole
from auditor.report.subject import Stated, Subject
from auditor.report.wording import bar, whom

#: What holds of all models of a set, or in all populations.
_VERDICTS: Mapping[ReachVerdict, str] = {
    "all-delta-fair": "every one is δ-fair",
    "none-delta-fair": "none is δ-fair",
    "varies": "not all are δ-fair",
    "inconclusive": "not decided within the limits",
}
#: What else that says.
_SAID: Mapping[ReachVerdict, str] = {
    "all-delta-fair": "",
    "none-delta-fair": "At least one pattern discriminates in all of them.",
    "varies": "No single pattern discriminates in all of them.",
    "inconclusive": "",
}
#: A smaller half unit is told by its place.
_SHORT = Decimal("1e-5")
_ONE_PATTERN = "at least one pattern discriminates in every model"
_POPULATIONS = "all populations that conform with the scorecard"
_NOT_LIKELY = (
    "The verdict above is about the audited model alone, with exactly its parameters. Here stands what holds "
    "for others too. It is exact, like the verdict, and no statement of how likely any of them is."
)
_IN_BOX = (
    "Every one of them is δ-fair by the same question; whether a model is one of them is told by auditor "
    "verify --model."
)
_CHECKED = (
    "What is said of the degrees of models within a factor can be checked from the JSON document with "
    "box_checker.py, one file that shares nothing with this program."
)


def section(subject: Subject) -> Blocks:
    """Make the section."""
    stated, audit = subject.stated, subject.audit
    found = audit.how_far if audit else None
    certified_box = subject.certificate and subject.certificate.box
    if not found and not certified_box:
        return None
    blocks: list[Block] = [Heading("How far this reaches", "reach"), Paragraph(_NOT_LIKELY, "intro")]
    if certified_box:
        which = _within(certified_box, "certified")
        blocks.append(Paragraph(f"{strong('This is certified of a box of models too.')} {which} {_IN_BOX}"))
    if not audit or not found:
        return blocks
    for models in found.sets:
        blocks += _set(models, stated, None if subject.brief else audit.parameters)
    for cards in found.cards:
        blocks += _cards(cards, stated, brief=subject.brief)
    if found.largest_box:
        blocks.append(Paragraph(_largest(found.largest_box, scorecard=stated.model.undisclosed is not None)))
    if found.every_population:
        blocks += _populations(found.every_population, stated, brief=subject.brief)
    if any(models.set == "box" for models in found.sets) and not subject.brief:
        blocks.append(Paragraph(_CHECKED, "small"))
    return blocks


def lines(found: HowFarRecord) -> Iterator[str]:
    """What was asked about, and what holds for it, in a line each."""
    for models in found.sets:
        yield f"{_about(models)}: {_VERDICTS[models.verdict]}"
    for cards in found.cards:
        yield f"{_about_cards(cards)}: {_VERDICTS[cards.verdict]}"
    if found.largest_box:
        yield f"verdict holds up to ε = {found.largest_box.holds}"
    if found.every_population:
        yield f"{_POPULATIONS}: {_VERDICTS[found.every_population.verdict]}"


def certified(size: str) -> str:
    """What a certificate says of a box."""
    return f"models within a factor of {_factor(size)}: {_VERDICTS['all-delta-fair']}"


def _within(size: str, which: str) -> str:
    return (
        f"These are all models whose probabilities are each at most {_factor(size)} times larger or smaller "
        f"than the {which} model’s (ε = {size}), in any combination."
    )


def _about(models: SetRecord) -> str:
    if models.set == "box":
        return f"models within a factor of {_factor(models.size)}"
    return f"models from {models.size} more {_rows(models.size)}"


def _about_cards(cards: CardSetRecord) -> str:
    if cards.set == "box":
        return f"scorecards within a factor of {_factor(cards.size)}"
    return f"scorecards before rounding, by up to {_half_unit(cards.size)}"


def _factor(share: str) -> str:
    return decimal_text(ALL_DIGITS.add(Decimal(1), Decimal(share)))


def _half_unit(size: str) -> str:
    """By its place where the zeros of many places would hide it; it is 5 of the place after that, exactly."""
    half = Decimal(size)
    return f"half a unit of decimal place {-half.adjusted() - 1}" if half < _SHORT else size


def _rows(number: str) -> str:
    return "row" if Decimal(number) == 1 else "rows"


def _set(models: SetRecord, stated: Stated, parameters: ExactModel | None) -> list[Block]:
    """What holds for one set; without parameters the short form."""
    if models.set == "box":
        which = _within(models.size, "audited")
    else:
        which = (
            f"These are all models that can be learned from the same counts and {models.size} more "
            f"{_rows(models.size)}, whatever {'it is' if _rows(models.size) == 'row' else 'they are'}, in "
            "each distribution by itself (the imprecise Dirichlet model)."
        )
    said = _SAID[models.verdict]
    if models.verdict == "varies" and stated.verdict == "delta-fair":
        said = f"The audited model is δ-fair, and at least one of the others isn’t. {said}"
    largest = f"The largest degree in any of them is {_ends(models, stated.delta)}; δ = {stated.delta}."
    lead = _lead(_about(models), models.verdict)
    found: list[Block] = [Paragraph(_joined(lead, which, said, largest, _counts(models, stated)))]
    if models.worst and parameters:
        found += [
            Paragraph(f"It is found in the model below. {_sentence(models.worst, stated.model.favourable)}"),
            _parameters(models.worst, stated, parameters),
        ]
    return [*found, *_certain(models.certain, stated)]


def _cards(cards: CardSetRecord, stated: Stated, *, brief: bool) -> list[Block]:
    """What holds for all scorecards of one set."""
    off = (
        f"multiplies the odds by what is at most {_factor(cards.size)} times larger or smaller than in the "
        f"audited one (ε = {cards.size})"
        if cards.set == "box"
        else f"is within {_half_unit(cards.size)} of the audited one’s"
    )
    if cards.set != "box" and Decimal(cards.size) >= _SHORT:
        off += ", which is half a unit of its last decimal place"
    which = (
        "These are all scorecards each of whose numbers, those for what isn’t disclosed and the intercept "
        f"among them, {off}, in any combination."
    )
    if cards.set == "rounding":
        which += (
            " So every one that rounds to it is among them, under the same shares of values among people "
            f"with the decision {stated.model.unfavourable}."
        )
    said = _SAID[cards.verdict]
    if cards.verdict == "varies" and stated.verdict == "delta-fair":
        said = f"The audited scorecard is δ-fair, and at least one of the others isn’t. {said}"
    largest = f"The largest degree in any of them is {_ends(cards, stated.delta)}; δ = {stated.delta}."
    lead = _lead(_about_cards(cards), cards.verdict)
    found: list[Block] = [Paragraph(_joined(lead, which, said, largest, _counts(cards, stated)))]
    if cards.worst and not brief:
        there = _sentence(cards.worst, stated.model.favourable)
        found.append(Paragraph(f"{there} The JSON document says which of them that is."))
    return [*found, *_certain(cards.certain, stated)]


def _certain(found: CertainPatternRecord | None, stated: Stated) -> list[Block]:
    """What one pattern does in every one of them."""
    if found is None or not found.least_degree:
        return []
    least = size(found.least_degree, stated.delta, decimal.ROUND_FLOOR)
    return [
        Paragraph(
            f"In every one of them, disclosing {values(found.sensitive_values)} has a degree of at least "
            f"{least} for {whom(found.context_values)}."
        )
    ]


def _counts(models: SetRecord | CardSetRecord, stated: Stated) -> str:
    """How many patterns discriminate in some of them, and how many in every one."""
    some, every = models.patterns_in_some, models.patterns_in_every
    if some is None or every is None or not some[1]:
        return ""

    def told(bounds: tuple[int, int]) -> str:
        return whole(bounds[0] if bounds[0] == bounds[1] else None, bounds)

    audited = whole(stated.count, stated.count_bounds)
    why = f" (not counted exactly: {models.not_counted})" if models.not_counted else ""
    return (
        f"Of {whole(stated.total)} pairs of disclosure and context {told(some)} discriminate in at least one "
        f"of them, each in its own, and {told(every)} in every one{why}; {audited} do in the audited one."
    )


def _lead(about: str, verdict: ReachVerdict) -> str:
    return strong(f"{about[:1].upper()}{about[1:]}: {_VERDICTS[verdict]}.")


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _ends(found: SetRecord | CardSetRecord | PopulationsRecord, delta: str) -> str:
    """The largest degree, or both ends of it where they are apart in the digits that are shown."""
    low, high = max(found.max_degree_bounds[0], found.max_degree), found.max_degree_bounds[1]
    if found.verdict == "all-delta-fair":
        high = min(high, limit_of(delta))
    # Where the two ends are neighbours among floats, there is nothing between them.
    if high <= math.nextafter(low, math.inf):
        return size(low, delta)
    return between(low, high, delta)


def _sentence(found: ExtremeRecord | CardExtremeRecord | PopulationExtremeRecord, favourable: str) -> str:
    context = {} if isinstance(found, PopulationExtremeRecord) else found.context_values
    return (
        f"There, disclosing {values(found.sensitive_values)} moves P({favourable}) from "
        f"{percent(found.favourable_given_context)} to {percent(found.favourable_given_pattern)} for "
        f"{whom(context)}."
    )


def _parameters(extreme: ExtremeRecord, stated: Stated, audited: ExactModel) -> Table:
    """What the pattern depends on, in the audited model and in the other."""
    model = stated.model
    here = {
        (attribute.name, value, given): fraction_of(column[v])
        for attribute in audited.attributes
        for v, value in enumerate(attribute.values)
        for given, column in (
            (model.favourable, attribute.favourable),
            (model.unfavourable, attribute.unfavourable),
        )
    }
    rows: list[tuple[str | Cell, ...]] = [
        _row(f"P({model.favourable})", fraction_of(audited.prior), fraction_of(extreme.prior))
    ]
    for q in extreme.parameters:
        for given, text in (
            (model.favourable, q.given_favourable),
            (model.unfavourable, q.given_unfavourable),
        ):
            name = f"P({pair(q.attribute, q.value)} given {given})"
            rows.append(_row(name, here[q.attribute, q.value, given], fraction_of(text)))
    return Table("", ("Probability", "Audited", "In that model"), rows, 2, "moves")


def _row(name: str, here: Fraction, there: Fraction) -> tuple[str | Cell, ...]:
    before, after = float(here), float(there)
    first, second = apart(before, after)
    return name, first, Cell(second, after, bar(before, after))


def _largest(found: LargestBoxRecord, *, scorecard: bool) -> str:
    what = "every model is δ-fair" if found.verdict == "delta-fair" else _ONE_PATTERN
    models = (
        "scorecards whose numbers each multiply the odds by what is"
        if scorecard
        else "models whose probabilities are each"
    )
    fails = "this is no longer so" if found.refuted else "this is no longer proved"
    if not Decimal(found.holds):
        proved = "" if found.refuted else ", as far as is proved"
        return (
            f"{strong('The verdict reaches no further.')} Already at ε = {found.beyond} it is not so that "
            f"{what}{proved}. A model whose largest degree lies at δ or next to it, as a repaired one’s "
            "does, has no box of its own."
        )
    beyond = f"at ε = {found.beyond} {fails}" if found.beyond else "greater ones were not tried"
    return (
        f"{strong(f'The verdict holds up to a factor of {_factor(found.holds)}.')} Among all {models} at "
        f"most so many times larger or smaller than the audited one’s (ε = {found.holds}), {what}; {beyond}."
    )


def _populations(found: PopulationsRecord, stated: Stated, *, brief: bool) -> list[Block]:
    which = (
        "In these populations an attribute that isn’t disclosed counts some number between those of its "
        "values. The largest degree that any of them gives, or comes as near to as one likes, is "
        f"{_ends(found, stated.delta)}; δ = {stated.delta}."
    )
    blocks: list[Block] = [Paragraph(_joined(_lead(_POPULATIONS, found.verdict), which))]
    if found.worst and not brief:
        there = _sentence(found.worst, stated.model.favourable)
        blocks.append(Paragraph(f"{there} The JSON document has what each attribute counts there."))
    return blocks
