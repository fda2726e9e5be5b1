"""Numbers and findings in plain words, the same in every format.

Numbers are rounded to four significant digits, and to more where four would put them on the wrong side of
what they are compared with: a degree above δ is never shown as δ or less, and only all is shown as 100%.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from auditor.choices import CriterionName, ListName, RankBy
from auditor.documents.audit import Audit, ModelRecord, PatternRecord, SearchRecord
from auditor.documents.data import DataEvidence, DataGroup, DataPattern, Observed
from auditor.documents.patterns import PatternList
from auditor.messages import visible

_DIGITS = 4
#: A float has no more digits than these.
_ALL_DIGITS = 17

_RANKING: Mapping[RankBy, str] = {
    "divergence": "divergence",
    "discrimination": "degree",
    "probability": "probability",
}

_SUMMARIES: Mapping[ListName, tuple[str, str]] = {
    "minimal": ("subset-minimal", "no proper part is a discrimination pattern"),
    "pareto": ("Pareto-optimal", "no other is as good in both probability and degree and better in one"),
    "maximal": ("maximal", "no extension is a discrimination pattern"),
}


def shown(name: str) -> str:
    r"""Escape what is not plainly visible in a name, such as a newline to ``\n`` and ESC to ``\x1b``."""
    return visible(name)


def rounded(value: float, digits: int = _DIGITS, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Round to significant digits, with an exponent if the number is tiny."""
    exact = Decimal(repr(value))
    if exact == 0:
        return "0"
    unit = Decimal((0, (1,), exact.adjusted() - digits + 1))
    # Rounding up can add a digit: 0.99999 becomes 1.0000, which is one more than asked for, and harmless.
    return f"{exact.quantize(unit, rounding):{'e' if abs(exact) < Decimal('1e-5') else 'f'}}"


def size(degree: float, delta: str, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Round the size of a degree, to as many digits as keep it on its side of δ.

    A document's degrees compare with ``float(delta)`` as the exact ones do with δ.
    """
    value, limit = abs(degree), Decimal(delta)
    above = value > float(delta)
    texts = (rounded(value, digits, rounding) for digits in range(_DIGITS, _ALL_DIGITS + 1))
    return next((text for text in texts if (Decimal(text) > limit) == above), repr(value) if above else delta)


def signed(degree: float, delta: str) -> str:
    """Round a degree with its sign."""
    return ("+" if degree > 0 else "-" if degree < 0 else "") + size(degree, delta)


def percent(probability: float) -> str:
    """Write a probability as a percentage."""
    if probability == 1:
        return "100%"
    text = rounded(probability * 100)
    return "over 99.99%" if Decimal(text) >= 100 else f"{text}%"


def share(part: int, whole: int) -> str:
    """Write a part of a whole as a percentage."""
    if part == whole:
        return "100%"
    return "over 99.99%" if part * 10**6 >= whole * 999_950 else percent(part / whole)


def whole(number: int) -> str:
    """Write a whole number, in short if it is beyond reading; a document has all of it."""
    return f"{number:,}" if number < 10**24 else f"about {Decimal(number):.3e}"


@dataclass(frozen=True)
class Words:
    """Findings as sentences; each format says how it writes a name and how it makes something stand out.

    Attributes
    ----------
    name : callable
        Makes a name from outside safe in the format.
    strong : callable
        Marks text that is already safe.
    """

    name: Callable[[str], str]
    strong: Callable[[str], str]

    def values(self, values: Mapping[str, str]) -> str:
        """Disclosed values: ``Sex: Female, Age: Over 30``."""
        return ", ".join(self.strong(f"{self.name(a)}: {self.name(v)}") for a, v in values.items())

    def names(self, names: tuple[str, ...]) -> str:
        """Names of attributes in a row."""
        return ", ".join(map(self.name, names))

    def favourable(self, model: ModelRecord) -> str:
        """``P(favourable decision)``."""
        return f"P({self.name(model.favourable)})"

    def sentence(self, pattern: PatternRecord, model: ModelRecord) -> str:
        """Say what disclosing does to whom."""
        before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
        people = (
            f"people with {self.values(pattern.context_values)}"
            if pattern.context_values
            else "people of whom nothing else is known"
        )
        change = (
            f"leaves {self.favourable(model)} at {percent(before)}"
            if pattern.degree == 0
            else f"{'raises' if pattern.degree > 0 else 'lowers'} {self.favourable(model)} "
            f"from {percent(before)} to {percent(after)}"
        )
        return f"Disclosing {self.values(pattern.sensitive_values)} {change} for {people}."

    def verdict(self, audit: Audit) -> str:
        """The verdict in words."""
        words = {"delta-fair": "δ-fair", "not-delta-fair": "not δ-fair", "inconclusive": "inconclusive"}
        at = f"at δ = {audit.delta} for these sensitive attributes"
        return f"{self.name(audit.model.name)}: {self.strong(words[audit.verdict])} {at}"

    def claim(self, audit: Audit) -> str:
        """What the verdict says, in one sentence; and to which patterns it is limited."""
        disclosing = "disclosing sensitive values, whatever else is known of a person,"
        limit = limit_of_change(audit.criterion, audit.delta, self.favourable(audit.model))
        claim = {
            "delta-fair": f"Shown: {disclosing} {limit}.",
            "not-delta-fair": f"It is not true that {disclosing} {limit}.",
            "inconclusive": f"Neither shown nor refuted: {disclosing} {limit}.",
        }[audit.verdict]
        return f"{claim} {probable_only(audit)}".rstrip()

    def largest(self, audit: Audit) -> str:
        """The largest degree, or what is known of it."""
        lower, upper = audit.max_degree_bounds
        if audit.search.complete:
            relation = "above" if audit.verdict == "not-delta-fair" else "not above"
            return f"{size(audit.max_degree, audit.delta)}, {relation} δ = {audit.delta}"
        found = size(lower, audit.delta, decimal.ROUND_FLOOR)
        proved = size(upper, audit.delta, decimal.ROUND_CEILING)
        return f"found {found}, proved to be at most {proved}; δ = {audit.delta}"

    def counted(self, audit: Audit) -> str:
        """The exact count and its share of all patterns."""
        total = whole(audit.total_patterns)
        if audit.pattern_count is None:
            return f"not counted among {total}: {self.name(audit.pattern_count_reason or '')}"
        if audit.min_probability is not None:
            return f"{whole(audit.pattern_count)} so probable, counted exactly"
        part = share(audit.pattern_count, audit.total_patterns)
        return f"{whole(audit.pattern_count)} of {total} ({part}), counted exactly"

    def data(self, data: DataEvidence) -> list[str]:
        """Who is in the data, and how the model decides on them."""
        sentences = [
            f"From {self.name(data.source)}. The model selects (gives the favourable decision to) "
            f"{observed(data.selected)}; in the data {observed(data.favourable)} have it. They agree for "
            f"{observed(data.accuracy)}."
        ]
        left_out = [
            f"{number:,} rows are left out, whose decision {reason}."
            for number, reason in (
                (data.undecided, "is missing"),
                (data.other_decision, "is one that the model doesn't know"),
            )
            if number
        ]
        absent = [
            f"{self.name(name)}: {cells:,} {what}"
            for what, found in (("missing", data.missing), ("unknown to the model", data.unknown))
            for name, cells in found.items()
        ]
        if absent:
            left_out.append(f"Cells taken as not observed: {'; '.join(absent)}.")
        if data.impossible:
            left_out.append(
                f"For {data.impossible:,} people the model gives each decision the probability 0."
            )
        return sentences + left_out

    def explored(self, search: SearchRecord) -> str:
        """How much work the audit was, and why something is missing."""
        rest = ", the others settled by a bound" if search.complete else ""
        work = (
            f"{whole(search.combinations_solved)} of {whole(search.combinations_total)} combinations of "
            f"sensitive values searched one by one{rest}; {search.nodes:,} nodes expanded for the top list; "
            f"{rounded(search.seconds, 2)} seconds."
        )
        return " ".join(
            [work, *(f"{self.name(reason[:1].upper() + reason[1:])}." for reason in search.reasons)]
        )


def observed(found: Observed) -> str:
    """Write an observed share with its interval."""
    if found.share is None:
        return "nobody"
    return f"{percent(found.share)} ({interval(found)})"


def interval(found: Observed) -> str:
    """Write a 95% interval."""
    if found.low is None or found.high is None:
        return "no data"
    return f"{percent(found.low)} to {percent(found.high)}"


def data_cells(group: DataGroup) -> tuple[str, str, str, str, str]:
    """People, share selected, its interval, impact ratio and accuracy of a group."""
    selected, accuracy = group.selected, group.accuracy
    return (
        f"{group.people:,}" + (" (few)" if group.small else ""),
        "-" if selected.share is None else percent(selected.share),
        interval(selected),
        "-" if group.impact_ratio is None else f"{group.impact_ratio:.2f}",
        "-" if accuracy.share is None else percent(accuracy.share),
    )


#: Columns of how a pattern occurs in data.
DATA_PATTERN_HEAD = ("People", "In the data", "95% interval", "Model", "Degree", "Model")

#: What those columns say.
DATA_PATTERNS_MEANING = (
    "A * marks where the model's share of people is outside the interval: naive Bayes is off there. The "
    "degree is the difference that disclosing makes to the share of favourable decisions."
)


def data_pattern_cells(pattern: DataPattern) -> tuple[str, str, str, str, str, str]:
    """How a pattern occurs in data, and by the model."""
    occurs = pattern.occurs
    given, context = pattern.observed_given_pattern.share, pattern.observed_given_context.share
    degree = None if given is None or context is None else given - context
    return (
        f"{occurs.count:,}",
        "-" if occurs.share is None else percent(occurs.share),
        interval(occurs),
        percent(pattern.probability) + ("*" if pattern.probability_in_interval is False else ""),
        "-" if degree is None else f"{degree:+.3f}",
        f"{pattern.favourable_given_pattern - pattern.favourable_given_context:+.3f}",
    )


def criterion_words(criterion: CriterionName) -> str:
    """How a degree is measured."""
    if criterion == "difference":
        return "difference: P(favourable) after disclosing minus before"
    return "ratio: 1 minus the smaller of P(favourable) before and after, divided by the larger"


def limit_of_change(criterion: CriterionName, delta: str, favourable: str) -> str:
    """What a criterion demands of disclosing, after "disclosing sensitive values"."""
    if criterion == "difference":
        return f"changes {favourable} by at most {delta}"
    return (
        f"changes {favourable} so little that the smaller of before and after is at least "
        f"{1 - Decimal(delta):f} times the larger"
    )


def probable_only(document: Audit | PatternList) -> str:
    """To which patterns a document is limited, if it is."""
    if document.min_probability is None:
        return ""
    only = f"Only patterns with a probability of at least {document.min_probability} are considered"
    if isinstance(document, PatternList):
        return f"{only}."
    return (
        f"{only}; the group and individual levels and the worst degrees by sensitive attribute speak of all."
    )


def heading(document: PatternList) -> str:
    """What is in a list."""
    return list_heading(
        document.list, len(document.patterns), document.complete, document.rank_by or "divergence"
    )


def list_heading(chosen: ListName, number: int, complete: bool, rank_by: RankBy = "divergence") -> str:
    """What is in a list of so many patterns."""
    patterns = "pattern" if number == 1 else "patterns"
    if chosen == "top":
        found = "" if complete else ", as far as found"
        return f"Top {number:,} discrimination {patterns} by {_RANKING[rank_by]}{found}"
    if chosen == "sample":
        return f"{number:,} discrimination {patterns} drawn uniformly from all"
    kind, meaning = _SUMMARIES[chosen]
    some, rest = (f"{number:,}", "") if complete else (f"The first {number:,}", "; there may be more")
    return f"{some} {kind} {patterns} ({meaning}), most probable first{rest}"


#: What an audit is about, at the end of each.
SCOPE = (
    "This speaks of the probabilities that the model itself defines. It does not say how well they describe "
    "any actual people, and it does not cover other attributes, other decisions or changed parameters."
)

#: What subset-minimal patterns are good for.
MINIMAL_MEANING = (
    "Every discrimination pattern contains one of these; not every extension of one discriminates."
)
