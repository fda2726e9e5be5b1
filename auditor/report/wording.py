"""Findings in plain words: the sentences and tables that more than one section has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from auditor.choices import CriterionName, ListName, RankBy, Undisclosed, Verdict
from auditor.documents.audit import DegreeRecord, PatternRecord
from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.criteria import filled
from auditor.documents.rounding import ALL_DIGITS, decimal_text
from auditor.report.blocks import Block, Cell, Heading, Paragraph, Table, strong, values
from auditor.report.figures import apart, between, nats, people, percent, percent_at_most, signed

if TYPE_CHECKING:
    from auditor.documents.comparison import ParameterChange

VERDICTS: Mapping[Verdict, str] = {
    "delta-fair": "δ-fair",
    "not-delta-fair": "not δ-fair",
    "inconclusive": "inconclusive",
}
#: What a document of each verdict is called.
KINDS: Mapping[Verdict, str] = {
    "delta-fair": "certificate",
    "not-delta-fair": "record",
    "inconclusive": "record",
}
RANKINGS: Mapping[RankBy, str] = {
    "divergence": "divergence",
    "discrimination": "degree",
    "probability": "probability",
}
_SUMMARIES: Mapping[ListName, tuple[str, str]] = {
    "minimal": ("subset-minimal", "no proper part is a discrimination pattern"),
    "pareto": ("Pareto-optimal", "no other is as good in both probability and degree and better in one"),
    "maximal": ("maximal", "no extension is a discrimination pattern"),
}
#: Share of its place that a bar has at least, so that it is seen.
_THINNEST_BAR = 0.02


#: What an attribute of a scorecard counts that isn't disclosed.
UNDISCLOSED: Mapping[Undisclosed, str] = {
    "conforming": "as in the likeliest population that conforms with the scorecard",
    "missing-bin": "the points of its own bin of missing values",
    "declared": "as its author has declared",
}
_EXPLAINED: Mapping[Undisclosed, str] = {
    "conforming": "Here it is what agrees with the likeliest population that has the shares of the "
    "scorecard’s values, and in which every complete application has the scorecard’s own probability. "
    "Degrees depend on that population through one number per attribute. That attributes are independent "
    "given the decision is a property of this population, not of actual people.",
    "missing-bin": "Here it is the points that the scorecard itself gives to missing values: the answer is "
    "about the scorecard as it is used where answers are missing. No population is assumed, so that nothing "
    "is said of how many people a pattern has; patterns are ranked by degree alone.",
    "declared": "Here it is the number that the scorecard’s file declares for each attribute, and the answer "
    "is as good as these numbers. No population is assumed, so that nothing is said of how many people a "
    "pattern has; patterns are ranked by degree alone.",
}
_NOT_INPUTS = (
    "Attributes that are no inputs of the scorecard are not covered: to audit those, learn a model from a "
    "table of the scorecard’s decisions with the attributes beside them (auditor learn), or mark inputs that"
    " stand in for them as sensitive."
)
#: Said where no sensitive attribute of a scorecard moves anything.
NOTHING_TO_FIND = (
    "No value of a sensitive attribute has other points than the attribute has undisclosed. This question "
    "can therefore find nothing, and the verdict says nothing of people: attributes that carry the same "
    "information may still count. Audit the scorecard’s decisions instead, by a model that is learnt from a "
    "table of them with the sensitive attributes beside them (auditor learn), or mark the inputs that stand "
    "in for sensitive attributes as sensitive."
)


def undisclosed_explained(meaning: Undisclosed) -> str:
    """What an answer about a scorecard rests on, and what it doesn't cover."""
    return (
        f"A scorecard doesn’t say what an attribute counts that isn’t disclosed. {_EXPLAINED[meaning]} "
        f"{_NOT_INPUTS}"
    )


def verdict_sentence(name: str, verdict: Verdict, delta: str, min_probability: str | None) -> str:
    """The verdict on a model."""
    said = f"{name}: {strong(VERDICTS[verdict])} at δ = {delta} for these sensitive attributes"
    return said if min_probability is None else f"{said} and{probable(min_probability)}"


def verdict_words(verdict: Verdict, delta: str, min_probability: str | None) -> str:
    """The verdict in short."""
    return f"{VERDICTS[verdict]} at δ = {delta}{probable(min_probability)}"


def threshold_words(criterion: CriterionName, delta: str) -> str:
    """The threshold, and what it means for the criterion."""
    return f"δ = {delta}: {filled(CRITERIA[criterion].threshold, delta)}"


def least(min_probability: str) -> str:
    """The people of whom a share speaks."""
    least = Decimal(min_probability)
    return f"at least {decimal_text(ALL_DIGITS.multiply(least, Decimal(100)))}%" if least else "any share"


def probable(min_probability: str | None) -> str:
    """To which patterns a verdict is limited, if it is."""
    return "" if min_probability is None else f" for patterns of {least(min_probability)} of people"


def probable_only(min_probability: str | None) -> str:
    """The same as a sentence."""
    if min_probability is None:
        return ""
    return f"Only patterns with a probability of at least {min_probability} are considered."


def of_all(min_probability: str | None, proved: bool = True) -> str:
    """Among which patterns something is the worst, or that it is the worst that was found."""
    if not proved:
        return "found"
    return "of all" if min_probability is None else "of those considered"


def limited(min_probability: str | None) -> str:
    """What follows on words about all patterns where not all are considered."""
    return "" if min_probability is None else ", among those considered"


def sentence(pattern: PatternRecord, favourable: str) -> str:
    """Say what disclosing does to whom."""
    before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
    change = (
        f"leaves P({favourable}) at {percent(before)}"
        if pattern.degree == 0
        else f"{'raises' if pattern.degree > 0 else 'lowers'} P({favourable}) "
        f"from {percent(before)} to {percent(after)}"
    )
    return f"Disclosing {values(pattern.sensitive_values)} {change} for {whom(pattern.context_values)}."


def whom(context: Mapping[str, str]) -> str:
    """The people of whom a context is known."""
    return f"people with {values(context)}" if context else "people of whom nothing else is known"


def degree(figure: DegreeRecord, delta: str) -> str:
    """The largest degree of some patterns with its sign, or what is known of it."""
    if figure.proved:
        return "none" if figure.worst_pattern is None else signed(figure.worst_pattern.degree, delta)
    low, high = figure.max_degree_bounds or (figure.max_degree, None)
    return between(max(low, figure.max_degree), high, delta)


def worst_heading(what: str, figure: DegreeRecord, delta: str, min_probability: str | None) -> str:
    """A heading with a figure; "at worst" is said only of what is proved."""
    worst = " at worst" if figure.proved else ""
    return f"{what}: {degree(figure, delta)}{worst}{limited(min_probability)}"


def list_heading(
    chosen: ListName,
    number: int,
    complete: bool,
    rank_by: RankBy = "divergence",
    min_probability: str | None = None,
    unproved: int = 0,
    missing_at_most: float | None = None,
    limit: int = 0,
    ordered: bool = True,
) -> str:
    """What is in a list of so many patterns, of which so many at the end are not proved to be the first.

    A sample of fewer patterns than its limit has all. A summary that is shown in another order doesn't say
    that the most probable come first.
    """
    patterns = "pattern" if number == 1 else "patterns"
    if chosen == "top":
        found = "" if complete else ", as far as found"
        return f"Top {number:,} discrimination {patterns} by {RANKINGS[rank_by]}{found}"
    if chosen == "sample":
        number_of = f"{number:,} discrimination {patterns}"
        return (
            f"{number_of}, all that there are" if number < limit else f"{number_of} drawn uniformly from all"
        )
    kind, meaning = _SUMMARIES[chosen]
    some, rest = (f"{number:,}", "") if complete else (f"The first {number:,}", "; there may be more")
    # What beats a pattern, or is a part of it, is at least as probable; what extends it may be less so.
    scope = limited(min_probability) if chosen == "maximal" else ""
    share = "" if missing_at_most is None else f" of at most {percent_at_most(missing_at_most)} of people"
    if not number and not complete:
        return f"No {kind} pattern was found ({meaning}{scope}); there may be some{share}"
    if unproved:
        proved = number - unproved
        some = f"{number:,}"
        rest = (
            f"; the first {proved:,} proved to be so, others{share} may come before the rest"
            if proved
            else f"; others{share} may come before them"
        )
    order = ", most probable first" if ordered and number > 1 else ""
    return f"{some} {kind} {patterns} ({meaning}{scope}){order}{rest}"


def pattern_table(patterns: Iterable[PatternRecord], favourable: str, delta: str) -> list[Block]:
    """List patterns: a row of numbers each, and the values."""
    rows: list[tuple[str | Cell, ...]] = []
    found = tuple(patterns)
    divergences = nats([pattern.divergence_nats for pattern in found])
    for number, (pattern, divergence) in enumerate(zip(found, divergences, strict=True), 1):
        before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
        share, exact = pattern.probability, pattern.divergence_nats
        rows.append(
            (
                str(number),
                values(pattern.sensitive_values),
                values(pattern.context_values, "nothing else"),
                Cell(signed(pattern.degree, delta), abs(pattern.degree)),
                Cell(percent(before), before),
                Cell(percent(after), after, bar(before, after)),
                *(
                    ()
                    if share is None
                    else (
                        Cell(percent(share), share, under=people(share)),
                        Cell(divergence, float("inf") if exact is None else exact),
                    )
                ),
            )
        )
    if not rows:
        return [Paragraph("None.")]
    names = ("#", "Disclosed", "Given", "Degree", "P before", "P after", "Probability", "Divergence (nats)")
    # Without a population there are no probabilities, of any of the patterns.
    head = names[: len(rows[0])]
    return [
        Paragraph(f"P before and after: P({favourable}) before and after disclosing", "intro"),
        Table("", head, rows, len(head) - 3, "patterns"),
    ]


def move_table(
    moves: Iterable[ParameterChange], favourable: str, unfavourable: str, heading: str
) -> list[Block]:
    """Parameters before and after a change of the model."""
    decisions = {"favourable": favourable, "unfavourable": unfavourable}
    rows = [
        (
            f"P({favourable})"
            if move.given is None
            else f"P({move.attribute}: {move.value} given {decisions[move.given]})",
            shown[0],
            Cell(shown[1], move.after, bar(move.before, move.after)),
        )
        for move in moves
        for shown in [apart(move.before, move.after)]
    ]
    if not rows:
        return []
    return [Heading(heading), Table("", ("Probability", "Before", "After"), rows, 2, "moves")]


def bar(before: float, after: float) -> tuple[float, float]:
    """The bar between two probabilities."""
    half = max(abs(after - before), _THINNEST_BAR) / 2
    middle = min(max((before + after) / 2, half), 1 - half)
    return middle - half, middle + half
