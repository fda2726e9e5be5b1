"""The audit document, version 1: what an audit of one model found."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypedDict

from pydantic import Field

from auditor.choices import CoverageMethod, CriterionName, RankBy, Undisclosed, Verdict
from auditor.documents.approvals import CutoffRecord
from auditor.documents.data import DataEvidence
from auditor.documents.parameters import ExactModel, ExactScorecard, exact_model, exact_scorecard
from auditor.documents.reach import HowFarRecord
from auditor.documents.record import Count, Degree, Digest, Probability, Record, ToolRecord, labels
from auditor.documents.rounding import ends_beside, round_beside
from auditor.model.additive import AdditiveModel
from auditor.model.naive_bayes import NaiveBayes

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from auditor.model.classifier import Classifier
    from auditor.model.naive_bayes import Assignment
    from auditor.search.answer import Answer, Illustration
    from auditor.search.figure import Figure
    from auditor.search.pattern import Pattern

#: Values in all attributes up to which a document holds the whole model.
_MOST_VALUES = 5_000

_NO_POPULATION = (
    "no population is assumed: nothing is said of how many people a pattern has, and no list goes by it"
)


class PatternRecord(Record):
    """One pattern: sensitive values that are disclosed to someone who knows the context values.

    For the criterion ``difference`` the degree is P(favourable | both) − P(favourable | context). For
    ``ratio``, with q their quotient, it is 1 − 1/q where q ≥ 1 and −(1 − q) elsewhere.
    """

    sensitive_values: dict[str, str]
    """Attribute to label; at least one."""
    context_values: dict[str, str]
    """Attribute to label; may be empty."""
    degree: Degree
    """Degree of discrimination; positive where disclosing helps."""
    probability: Probability | None
    """The model's share of people with all of these values; null: none is assumed."""
    divergence_nats: Annotated[float | None, Field(ge=0)]
    """Divergence from the nearest fair distribution, in nats; null is infinite or, where the probability is
    null, undefined.
    """
    favourable_given_pattern: Probability
    """P(favourable | all of these values)."""
    favourable_given_context: Probability
    """P(favourable | context values)."""

    @classmethod
    def of(cls, model: Classifier, pattern: Pattern, threshold: Fraction) -> Self:
        """Name the values of a pattern and round its numbers, its degree on its side of the threshold."""
        known = pattern.people is not None
        divergence = pattern.divergence_nats if known else math.inf
        return cls(
            sensitive_values=labels(model, pattern.sensitive_values),
            context_values=labels(model, pattern.context_values),
            degree=round_beside(pattern.degree, threshold),
            probability=float(pattern.probability) if known else None,
            divergence_nats=divergence if math.isfinite(divergence) else None,
            favourable_given_pattern=float(pattern.favourable_given_pattern),
            favourable_given_context=float(pattern.favourable_given_context),
        )


def patterns_frame(patterns: Iterable[PatternRecord]) -> pd.DataFrame:
    """Return patterns as a pandas DataFrame: a row for each, and a column for each of its fields."""
    import pandas as pd

    columns = list(PatternRecord.model_fields)
    return pd.DataFrame([[getattr(record, name) for name in columns] for record in patterns], columns=columns)


class ModelRecord(Record):
    """The audited model; the digest is that of its exact parameters."""

    name: str
    sha256: Digest
    decision: str
    favourable: str
    unfavourable: str
    attributes: tuple[str, ...]
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)]
    labels: dict[str, str] = Field(default_factory=dict)
    """What people read in place of an attribute's name, where it is something else."""
    undisclosed: Undisclosed | None = None
    """What an attribute of a scorecard counts that isn't disclosed: as in the likeliest population that
    conforms with it, as its bin of missing values, or as declared. null: of naive Bayes, where it is summed
    out.
    """

    @classmethod
    def of(cls, model: Classifier) -> Self:
        """Name the model, its decision and its attributes."""
        return cls(
            name=model.name,
            sha256=model.sha256(),
            decision=model.decision,
            favourable=model.favourable,
            unfavourable=model.unfavourable,
            attributes=tuple(attribute.name for attribute in model.attributes),
            sensitive=tuple(attribute.name for attribute in model.attributes if attribute.sensitive),
            undisclosed=model.undisclosed if isinstance(model, AdditiveModel) else None,
        )


class DegreeRecord(Record):
    """The largest |degree| among some patterns in scope: the worst that was found, and what is proved."""

    max_degree: Annotated[float, Field(ge=0, le=1)]
    """|degree| of the worst pattern found."""
    max_degree_bounds: tuple[Probability, Probability] | None = None
    """Found lower and proved upper bound, rounded outward but not across δ; null in older documents."""
    worst_pattern: PatternRecord | None
    """null: there is no such pattern."""

    @classmethod
    def of(cls, model: Classifier, figure: Figure, threshold: Fraction) -> DegreeRecord:
        """Round both ends of a figure, and name its witness."""
        witness = PatternRecord.of(model, figure.witness, threshold) if figure.witness else None
        return DegreeRecord(worst_pattern=witness, **_degrees(figure, threshold))

    @property
    def proved(self) -> bool:
        """Whether no other of these patterns can have a larger |degree|."""
        if self.max_degree_bounds is None:
            return False
        low, high = self.max_degree_bounds
        return high <= math.nextafter(max(low, self.max_degree), math.inf)


class SensitiveAttributeRecord(DegreeRecord):
    """The patterns that disclose one sensitive attribute, alone or with others."""

    attribute: str
    pattern_count: Count | None
    """Discrimination patterns that disclose it."""
    pattern_count_bounds: tuple[Count, Count] | None = None
    """There are at least and at most so many."""
    alone: DegreeRecord | None = None
    """The patterns that disclose no other sensitive attribute."""


class ShareRecord(DegreeRecord):
    """The patterns that at least this share of the model's population has."""

    min_probability: str
    """The share; 0: patterns of any probability."""


class ThresholdRecord(Record):
    """How many patterns there would be at another threshold."""

    delta: str
    pattern_count_bounds: tuple[Count, Count]
    """There are at least and at most so many."""


class PairRecord(DegreeRecord):
    """The patterns that disclose no sensitive attributes but these; the same one twice stands for one."""

    attributes: tuple[str, str]


class GroupRecord(Record):
    """People with these sensitive values, as the model describes them."""

    values: dict[str, str]
    """Attribute to label."""
    probability: Probability | None
    """The model's share of people in the group; null: no population is assumed."""
    favourable: Probability
    """P(favourable | group)."""
    impact_ratio: Probability | None
    """P(favourable | group) over that of the most favoured group; null if that is 0."""


class GroupTable(Record):
    """All groups by the same sensitive attributes that have people in them."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    groups: tuple[GroupRecord, ...]


#: (P(xy), |degree|) of patterns.
Points = tuple[tuple[Probability, Probability], ...]
#: Values by their places in the model, ``attribute.value`` each.
Places = Annotated[str, Field(pattern=r"^([0-9]+\.[0-9]+( [0-9]+\.[0-9]+)*)?$")]
#: The same of one pattern with its sensitive values and its context.
Dot = tuple[Probability, Probability, Places, Places]


class IllustrationRecord(Record):
    """Patterns to draw, rounded; no claim rests on them."""

    points: Points
    """Discrimination patterns as probability and |degree|."""
    sampled: bool
    """Whether the points are a uniform sample of all patterns."""
    front: Points
    """Patterns that no other beats in both, most probable first."""
    front_complete: bool
    marked: dict[RankBy, Points]
    """The first patterns of each ranking."""
    dots: tuple[Dot, ...] = ()
    """Each of these patterns once: probability, |degree|, what is disclosed and what is known, as the place
    of an attribute among all, a dot, and the place of its value.
    """

    @classmethod
    def of(cls, illustration: Illustration) -> Self:
        """Round the patterns to points."""
        ranked = (ranking.patterns for _, ranking in illustration.marked)
        named = [
            (float(p.probability), float(abs(p.degree)), p.sensitive_values, p.context_values)
            for p in chain(illustration.front.patterns, *ranked)
        ]
        dots = {(x, y): (p, degree) for p, degree, x, y in [*illustration.points, *named]}
        return cls(
            dots=tuple(
                (_short(p), _short(degree), _places(x), _places(y)) for (x, y), (p, degree) in dots.items()
            ),
            points=tuple((_short(p), _short(degree)) for p, degree, _, _ in illustration.points),
            sampled=illustration.sampled,
            front=_points(illustration.front.patterns),
            front_complete=illustration.front.complete,
            marked={rank_by: _points(ranking.patterns) for rank_by, ranking in illustration.marked},
        )


class CoverageRecord(Record):
    """How the patterns that disclose exactly these attributes were decided."""

    disclosed: Annotated[tuple[str, ...], Field(min_length=1)]
    method: CoverageMethod
    """'closed form': one bound decides all; 'exhausted': each counted; 'enclosed': their number bounded from
    both sides; 'bounded': the search for the largest |degree| settled all.
    """
    pairs: Count
    """All patterns that disclose exactly these attributes."""
    patterns: Count
    """Those that are discrimination patterns."""


class SearchRecord(Record):
    """What was explored."""

    complete: bool
    """Whether the largest degree is proved."""
    combinations_solved: Count
    """Sensitive combinations searched one by one."""
    combinations_total: Count
    """All; the rest was settled by a bound."""
    nodes: Count
    """Nodes expanded for the list of top patterns."""
    seconds: Annotated[float, Field(ge=0)]
    top_patterns_complete: bool
    """Whether no better pattern can be missing."""
    minimal_patterns_complete: bool
    """False: the list is the first of more."""
    reasons: tuple[str, ...]
    """Why something is not complete."""

    @classmethod
    def of(cls, answer: Answer, seconds: float) -> Self:
        """Say what an answer rests on, and what it leaves open."""
        assert answer.top is not None
        minimal = answer.minimal
        others = [answer.individual, *(f for a in answer.by_attribute for f in (a.any, a.alone))]
        others += [figure for _, figure in answer.by_share + answer.by_pair]
        complete = {
            "the largest degree is not proved": answer.largest.exact,
            "the list of top patterns may miss some": answer.top.complete,
            (
                f"the list of minimal patterns has the first {len(minimal.patterns)}"
                if minimal.patterns
                else "no minimal patterns were found"
            )
            if minimal
            else _NO_POPULATION: minimal is not None and minimal.complete,
            "the worst degrees by level, attribute and share are bounds": all(
                figure.exact for figure in others if figure
            ),
            "a limit of time was reached": not answer.out_of_time,
        }
        return cls(
            complete=answer.largest.exact,
            combinations_solved=answer.solved,
            combinations_total=answer.total,
            nodes=answer.top.nodes,
            seconds=seconds,
            top_patterns_complete=answer.top.complete,
            minimal_patterns_complete=minimal is not None and minimal.complete,
            reasons=tuple(reason for reason, is_complete in complete.items() if not is_complete),
        )


class Audit(Record):
    """The result of an audit.

    With ``min_probability`` everything but the groups speaks only of patterns that are at least that
    probable.
    """

    kind: Literal["auditor/audit"] = "auditor/audit"
    version: Literal[1] = 1
    verdict: Verdict
    criterion: CriterionName
    delta: str
    """The threshold as given; a degree above it discriminates."""
    min_probability: str | None
    """As given; null: patterns of any probability."""
    max_degree: Annotated[float, Field(ge=0, le=1)]
    """|degree| of the worst pattern."""
    max_degree_bounds: tuple[Probability, Probability]
    """Found lower and proved upper bound on the largest |degree|, rounded outward but not across δ."""
    worst_pattern: PatternRecord | None
    """null: no pattern is as probable as min_probability."""
    pattern_count: Count | None
    """Exact number of discrimination patterns."""
    pattern_count_reason: str | None
    """Why the count is null."""
    pattern_count_bounds: tuple[Count, Count] | None = None
    """Proved lower and upper bound on the number; both are the count where it is exact."""
    total_patterns: Count
    """Number of pairs of sensitive and context values."""
    rank_by: RankBy
    top_patterns: tuple[PatternRecord, ...]
    minimal_patterns: tuple[PatternRecord, ...]
    """Discrimination patterns without a proper part that is one; most probable first, and none are listed
    where no population is assumed.
    """
    group_level: PatternRecord | None
    """Worst found pattern without context; null: none is in scope."""
    group_level_bounds: tuple[Probability, Probability] | None = None
    """Found lower and proved upper bound; null in older documents."""
    individual_level: PatternRecord | None
    """Worst found pattern with every attribute disclosed; null: none was found of a degree above 0."""
    individual_level_bounds: tuple[Probability, Probability] | None = None
    """Found lower and proved upper bound; null in older documents."""
    by_sensitive_attribute: tuple[SensitiveAttributeRecord, ...]
    by_share: tuple[ShareRecord, ...] = ()
    """Of patterns of at least 10%, 1%, 0.1% and 0.01% of people, and of any; empty where no population is
    assumed.
    """
    by_delta: tuple[ThresholdRecord, ...] = ()
    """Patterns at other thresholds; empty unless asked for, or with min_probability."""
    by_pair: tuple[PairRecord, ...] = ()
    """Empty unless asked for, or if there are too many pairs."""
    groups: tuple[GroupTable, ...] = ()
    """By each sensitive attribute, and by all of them; tables of thousands left out."""
    illustration: IllustrationRecord | None = None
    """null unless asked for."""
    cutoff: CutoffRecord | None = None
    """Rates of approval of a scorecard, beside the search; null unless asked for."""
    how_far: HowFarRecord | None = None
    """What holds for other models or populations; null unless asked for."""
    parameters: ExactModel | None = None
    """The whole model, unless it is a scorecard or very large."""
    scorecard: ExactScorecard | None = None
    """The whole scorecard, unless it is very large."""
    coverage: tuple[CoverageRecord, ...] | None
    """Adds up to the count; null when the count is."""
    data: DataEvidence | None = None
    """What data show beside the model, if some were given."""
    search: SearchRecord
    model: ModelRecord
    tool: ToolRecord = ToolRecord()

    def patterns_frame(self) -> pd.DataFrame:
        """Return the top patterns as a pandas DataFrame, a row for each."""
        return patterns_frame(self.top_patterns)

    @classmethod
    def of(cls, answer: Answer, seconds: float) -> Self:
        """Write an answer down.

        Parameters
        ----------
        answer : Answer
            With a top list, a list of subset-minimal patterns and details.
        seconds : float
            How long it took.
        """
        model, question, threshold = answer.model, answer.question, answer.question.criterion.threshold
        assert answer.top is not None

        # Of a thousand attributes most have the same witness, which may disclose all of them.
        made: dict[int, PatternRecord] = {}

        def record(pattern: Pattern | None) -> PatternRecord | None:
            if pattern and id(pattern) not in made:
                made[id(pattern)] = PatternRecord.of(model, pattern, threshold)
            return made[id(pattern)] if pattern else None

        def records(patterns: tuple[Pattern, ...]) -> tuple[PatternRecord, ...]:
            return tuple(PatternRecord.of(model, pattern, threshold) for pattern in patterns)

        def ends(figure: Figure | None) -> tuple[float, float] | None:
            return ends_beside(figure.lower, figure.upper, threshold) if figure else None

        count = answer.count
        return cls(
            verdict=answer.verdict,
            criterion=question.criterion_name,
            delta=question.delta.text,
            min_probability=question.min_probability.text if question.min_probability else None,
            worst_pattern=record(answer.largest.witness),
            **_degrees(answer.largest, threshold),
            pattern_count=count.total,
            pattern_count_reason=count.reason,
            pattern_count_bounds=(count.lower, count.upper),
            total_patterns=model.total_patterns(),
            rank_by=answer.rank_by,
            top_patterns=records(answer.top.patterns),
            minimal_patterns=records(answer.minimal.patterns) if answer.minimal else (),
            group_level=record(answer.group.witness) if answer.group else None,
            group_level_bounds=ends(answer.group),
            individual_level=record(answer.individual.witness) if answer.individual else None,
            individual_level_bounds=ends(answer.individual),
            by_sensitive_attribute=tuple(
                SensitiveAttributeRecord(
                    attribute=model.attributes[found.attribute].name,
                    worst_pattern=record(found.any.witness),
                    pattern_count=found.count[0] if found.count[0] == found.count[1] else None,
                    pattern_count_bounds=found.count,
                    alone=DegreeRecord.of(model, found.alone, threshold),
                    **_degrees(found.any, threshold),
                )
                for found in answer.by_attribute
            ),
            by_share=tuple(
                ShareRecord(
                    min_probability=share.text,
                    worst_pattern=record(figure.witness),
                    **_degrees(figure, threshold),
                )
                for share, figure in answer.by_share
            ),
            by_delta=tuple(
                ThresholdRecord(delta=share.text, pattern_count_bounds=bounds)
                for share, bounds in answer.by_threshold
            ),
            by_pair=tuple(
                PairRecord(
                    attributes=(model.attributes[first].name, model.attributes[second].name),
                    worst_pattern=record(figure.witness),
                    **_degrees(figure, threshold),
                )
                for (first, second), figure in answer.by_pair
            ),
            groups=tuple(
                GroupTable(
                    attributes=tuple(model.attributes[i].name for i in table.attributes),
                    groups=tuple(
                        GroupRecord(
                            values=labels(model, group.values),
                            probability=None if group.probability is None else float(group.probability),
                            favourable=float(group.favourable),
                            impact_ratio=None if group.impact_ratio is None else float(group.impact_ratio),
                        )
                        for group in table.groups
                    ),
                )
                for table in answer.groups
            ),
            illustration=IllustrationRecord.of(answer.illustration) if answer.illustration else None,
            cutoff=CutoffRecord.of(model, answer.approvals) if answer.approvals else None,
            how_far=HowFarRecord.of(model, answer.how_far, threshold) if answer.how_far else None,
            parameters=exact_model(model) if isinstance(model, NaiveBayes) and _is_shown(model) else None,
            scorecard=exact_scorecard(model)
            if isinstance(model, AdditiveModel) and _is_shown(model)
            else None,
            coverage=None
            if count.total is None or not count.coverage
            else tuple(
                CoverageRecord(
                    disclosed=tuple(model.attributes[i].name for i in entry.disclosed),
                    method=entry.method,
                    pairs=entry.pairs,
                    patterns=entry.lower,
                )
                for entry in count.coverage
            ),
            search=SearchRecord.of(answer, seconds),
            model=ModelRecord.of(model),
        )


def _points(patterns: Iterable[Pattern]) -> Points:
    return tuple((_short(float(p.probability)), _short(abs(float(p.degree)))) for p in patterns)


def _places(values: Assignment) -> str:
    return " ".join(f"{attribute}.{value}" for attribute, value in values)


def _short(value: float) -> float:
    """Round to the four digits that a drawing needs."""
    return float(f"{value:.4g}")


def _is_shown(model: Classifier) -> bool:
    return sum(len(attribute.values) for attribute in model.attributes) <= _MOST_VALUES


class _Degrees(TypedDict):
    max_degree: float
    max_degree_bounds: tuple[float, float]


def _degrees(figure: Figure, threshold: Fraction) -> _Degrees:
    return {
        "max_degree": round_beside(figure.lower, threshold),
        "max_degree_bounds": ends_beside(figure.lower, figure.upper, threshold),
    }
