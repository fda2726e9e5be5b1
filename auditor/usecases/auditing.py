"""The use cases of models: audits, lists of patterns and repairs. Rooms are put together here only."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from auditor.choices import (
    CriterionName,
    CutRanking,
    ListName,
    MethodName,
    RankBy,
    SolverName,
)
from auditor.documents.audit import (
    Audit,
    CoverageRecord,
    ModelRecord,
    PatternRecord,
    SearchRecord,
    SensitiveAttributeRecord,
    round_beside,
)
from auditor.documents.patterns import PatternList
from auditor.errors import InputError
from auditor.model.naive_bayes import NaiveBayes
from auditor.search.additive.counting import PatternCount, count_patterns, sample_patterns
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import (
    count_probable_patterns,
    maximal_patterns,
    minimal_patterns,
    pareto_patterns,
)
from auditor.search.additive.worst import group_level, worst_patterns
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.limits import Limits
from auditor.search.pattern import Pattern
from auditor.search.verdict import decide, worst_in_scope
from auditor.usecases import clock

if TYPE_CHECKING:
    from auditor.data.cells import Dialect
    from auditor.data.tables import Source
    from auditor.model.spec import ModelSpec
    from auditor.repair.learner import Round
    from auditor.repair.repairing import Repaired

#: Called with a few words whenever the next part of long work begins.
Progress = Callable[[str], None]

#: Subset-minimal patterns that an audit lists at most; `patterns` lists as many as asked for.
MINIMAL_LIMIT = 100

_CRITERIA: dict[CriterionName, type[Difference] | type[Ratio]] = {"difference": Difference, "ratio": Ratio}
_SUMMARIES = {"minimal": minimal_patterns, "pareto": pareto_patterns, "maximal": maximal_patterns}
_DECIMAL = re.compile(r"(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?", re.ASCII)


def audit(
    model: ModelSpec | NaiveBayes,
    delta: str | float,
    *,
    criterion: CriterionName = "difference",
    top: int = 10,
    rank_by: RankBy = "divergence",
    min_probability: str | float | None = None,
    time_limit: float | None = None,
    progress: Progress = lambda stage: None,
) -> Audit:
    """Audit a model: whether it is δ-fair, and where not.

    Parameters
    ----------
    model : ModelSpec or NaiveBayes
        From `auditor.load_model`.
    delta : str or float
        The threshold δ from 0 to 1; a degree above it discriminates. A text is taken exactly, a float as the
        shortest decimal that it prints as.
    criterion : {"difference", "ratio"}
    top : int
        How many top patterns to list.
    rank_by : {"divergence", "discrimination", "probability"}
    min_probability : str or float, optional
        Speak only of patterns that are at least so probable.
    time_limit : float, optional
        Seconds. What isn't proved by then is left open, and the document says so.
    progress : callable, optional
        Called with a few words at the start of each part of the work.

    Returns
    -------
    Audit
        The audit document. A finding is a result, not an exception.

    Raises
    ------
    InputError
        If an option is out of range.
    """
    question = _Question.of(model, delta, criterion, min_probability, time_limit)
    _positive("top", top)
    bayes, tables, rule, limits = question.bayes, question.tables, question.criterion, question.limits
    started = clock.seconds()
    progress("searching the worst pattern")
    worst = worst_in_scope(tables, rule, question.min_probability, limits)
    group = group_level(tables, rule)
    individual = worst_patterns(tables, rule, individual=True, limits=limits)
    attributes = [worst_patterns(tables, rule, disclosing=i, limits=limits) for i in bayes.sensitive]
    progress(f"searching the top {top} by {rank_by}")
    ranking = top_patterns(tables, rule, top, rank_by, question.min_probability, limits=limits)
    progress("searching subset-minimal patterns")
    minimal = minimal_patterns(tables, rule, MINIMAL_LIMIT, question.min_probability, limits=limits)
    progress("counting patterns")
    # Last, since it is what can take longest and nothing else needs it.
    count = _count(question)

    found = [*worst.patterns, *ranking.patterns, *minimal.patterns]
    if question.min_probability is None:
        found += [pattern for level in (individual, *attributes) for pattern in level.patterns]
    decision = decide(tables, rule, found, worst.upper, count.total, question.min_probability)
    witness, largest = decision.witness, decision.lower
    max_degree = round_beside(largest, rule.threshold)
    proved = worst.complete or decision.upper == largest
    return Audit(
        verdict=decision.verdict,
        criterion=criterion,
        delta=question.delta,
        min_probability=question.min_probability_text,
        max_degree=max_degree,
        max_degree_bounds=(_rounded_down(largest), max(_rounded_up(decision.upper), max_degree)),
        worst_pattern=question.record(witness) if witness else None,
        pattern_count=decision.count,
        pattern_count_reason=count.reason if decision.count is None else None,
        total_patterns=bayes.total_patterns(),
        rank_by=rank_by,
        top_patterns=question.records(ranking.patterns),
        minimal_patterns=question.records(minimal.patterns),
        group_level=question.record(group),
        individual_level=question.record(individual.patterns[0]) if individual.patterns else None,
        by_sensitive_attribute=tuple(
            SensitiveAttributeRecord(
                attribute=bayes.attributes[i].name,
                max_degree=abs((record := question.record(found.patterns[0])).degree),
                worst_pattern=record,
                pattern_count=count.disclosing(i),
            )
            for i, found in zip(bayes.sensitive, attributes, strict=True)
        ),
        coverage=_coverage(bayes, count),
        search=SearchRecord(
            complete=proved,
            combinations_solved=worst.solved,
            combinations_total=worst.total,
            nodes=ranking.nodes,
            seconds=clock.seconds() - started,
            top_patterns_complete=ranking.complete,
            minimal_patterns_complete=minimal.complete,
            reasons=tuple(
                reason
                for reason, complete in {
                    "the largest degree is not proved": proved,
                    "the list of top patterns may miss some": ranking.complete,
                    f"the list of minimal patterns has the first {len(minimal.patterns)}": minimal.complete,
                    "the individual level and the breakdown by attribute have the worst found": all(
                        found.complete for found in (individual, *attributes)
                    ),
                    "a limit of time was reached": not limits.expired(),
                }.items()
                if not complete
            ),
        ),
        model=ModelRecord.of(bayes),
    )


def with_data(
    document: Audit,
    model: ModelSpec,
    data: Source,
    *,
    dialect: Dialect | None = None,
    min_group: int = 30,
    cutoff: str | float = "0.5",
    progress: Progress = lambda stage: None,
) -> Audit:
    """Add to an audit what data show: selection and error rates by group, and how often its patterns occur.

    Parameters
    ----------
    document : Audit
    model : ModelSpec
        The audited one.
    data : str, path-like, sequence of them, DataFrame or Table
        With a column per attribute and one for the decision, named as in the model and with the codes or
        labels of its values. A column of numbers serves an attribute of bins.
    dialect : Dialect, optional
        How its cells are written.
    min_group : int
        Groups with fewer people are marked as small.
    cutoff : str or float
        The model selects whom it gives the favourable decision with a probability above this.
    progress : callable, optional

    Raises
    ------
    InputError
        If the data can't be used.
    """
    from auditor.data.comparing import compare
    from auditor.data.tables import open_table
    from auditor.documents.data import evidence, listed

    text, share = parse_share(cutoff)
    patterns = listed(document)
    values = [(record.sensitive_values, record.context_values) for record, _ in patterns]
    found = compare(model, values, open_table(data, dialect), share, progress)
    shown = evidence(found, model.naive_bayes(), patterns, cutoff=text, min_group=min_group)
    return document.model_copy(update={"data": shown})


def patterns(
    model: ModelSpec,
    delta: str | float,
    *,
    choose: ListName = "top",
    limit: int = 10,
    rank_by: RankBy = "divergence",
    criterion: CriterionName = "difference",
    min_probability: str | float | None = None,
    time_limit: float | None = None,
    progress: Progress = lambda stage: None,
) -> PatternList:
    """List discrimination patterns of a model.

    Parameters
    ----------
    model, delta, rank_by, criterion, min_probability, time_limit, progress
        As in `audit`.
    choose : {"top", "minimal", "pareto", "maximal", "sample"}
        Which patterns; `rank_by` bears on "top" alone.
    limit : int
        How many patterns to list at most.

    Raises
    ------
    InputError
        If an option is out of range, or a sample is asked of patterns that can't be counted.
    """
    question = _Question.of(model, delta, criterion, min_probability, time_limit)
    _positive("limit", limit)
    tables, rule, limits = question.tables, question.criterion, question.limits
    progress("searching patterns")
    match choose:
        case "top":
            ranking = top_patterns(tables, rule, limit, rank_by, question.min_probability, limits=limits)
            found, complete = ranking.patterns, ranking.complete
        case "sample":
            if question.min_probability is not None:
                raise InputError("a sample is drawn from all patterns; leave out the minimum probability")
            sample = sample_patterns(tables, rule, limit, limits=limits)
            if sample is None:
                raise InputError("the patterns are too many to be counted, and so to be sampled uniformly")
            found, complete = sample, True
        case _:
            summary = _SUMMARIES[choose](tables, rule, limit, question.min_probability, limits=limits)
            found, complete = summary.patterns, summary.complete
    return PatternList(
        list=choose,
        rank_by=rank_by if choose == "top" else None,
        criterion=criterion,
        delta=question.delta,
        min_probability=question.min_probability_text,
        limit=limit,
        complete=complete,
        patterns=question.records(found),
        model=ModelRecord.of(question.bayes),
    )


def repair(
    model: ModelSpec,
    delta: str | float,
    *,
    criterion: CriterionName = "difference",
    method: MethodName = "fair",
    solver: SolverName = "interior",
    rank_by: CutRanking = "discrimination",
    per_round: int | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    data: Source | None = None,
    dialect: Dialect | None = None,
    on_round: Callable[[Round], None] = lambda state: None,
) -> Repaired:
    """Learn the most likely model of the same counts that has no discrimination pattern.

    Parameters
    ----------
    model : ModelSpec
        With counts of the decision and of each attribute; a repaired model is repaired anew from its counts.
    delta, criterion
        As in `audit`.
    method : {"fair", "independent", "independent-mean", "unconstrained"}
        The last three are baselines: sensitive attributes made independent of the decision in the most likely
        way, or by the mean of their two distributions; and no constraint at all.
    solver : {"interior", "sqp", "signomial"}
        They find the same optimum; the first is the fastest.
    rank_by : {"discrimination", "divergence"}
        What makes a pattern the next to become a constraint.
    per_round : int, optional
        How many become constraints in a round.  [the worst of each set of disclosed attributes and direction]
    max_rounds : int, optional
    time_limit : float, optional
        Seconds. What is the most likely model that is proved fair by then, is returned.
    data : str, path-like, sequence of them, DataFrame or Table, optional
        On which to measure the predictions before and after; as in `with_data`.
    dialect : Dialect, optional
        How its cells are written.
    on_round : callable, optional
        Called after each round.

    Returns
    -------
    Repaired
        The model, and a summary of what changed.

    Raises
    ------
    InputError
        If an option is out of range, the model has no counts, or the data can't be used.
    RepairError
        If no model could be proved fair within the limits.
    """
    from auditor.repair import repairing
    from auditor.repair.learner import Options
    from auditor.repair.solver import load_solver

    delta_text, threshold = parse_share(delta)
    for name, number in (("per_round", per_round), ("max_rounds", max_rounds)):
        if number is not None:
            _positive(name, number)
    options = Options(
        solver=load_solver(solver),
        rank_by=rank_by,
        per_round=per_round,
        max_rounds=max_rounds,
        limits=clock.limits(time_limit),
        on_round=on_round,
    )
    table = None
    if data is not None:
        from auditor.data.tables import open_table

        table = open_table(data, dialect)
    wish = repairing.Wish(delta_text, _CRITERIA[criterion](threshold), method, solver, options, table)
    return repairing.repair(model, wish)


def parse_share(value: str | float) -> tuple[str, Fraction]:
    """Return a number from 0 to 1 as given and as the exact rational that it means.

    Raises
    ------
    InputError
        If it is no plain decimal, or out of range.
    """
    text = str(value).strip()
    if not _DECIMAL.fullmatch(text) or not 0 <= (share := Fraction(text)) <= 1:
        raise InputError(f"{text[:40]!r} is not a decimal number from 0 to 1")
    return text, share


@dataclass(frozen=True)
class _Question:
    """What is asked of which model, in exact numbers; and until when."""

    bayes: NaiveBayes
    tables: LogOdds
    criterion: Criterion
    delta: str
    min_probability: Fraction | None
    min_probability_text: str | None
    limits: Limits

    @classmethod
    def of(
        cls,
        model: ModelSpec | NaiveBayes,
        delta: str | float,
        criterion: CriterionName,
        min_probability: str | float | None,
        time_limit: float | None,
    ) -> Self:
        delta_text, threshold = parse_share(delta)
        least_text, least = (None, None) if min_probability is None else parse_share(min_probability)
        limits = clock.limits(time_limit)
        bayes = model if isinstance(model, NaiveBayes) else model.naive_bayes()
        return cls(
            bayes=bayes,
            tables=LogOdds.of(bayes),
            criterion=_CRITERIA[criterion](threshold),
            delta=delta_text,
            min_probability=least,
            min_probability_text=least_text,
            limits=limits,
        )

    def record(self, pattern: Pattern) -> PatternRecord:
        return PatternRecord.of(self.bayes, pattern, self.criterion.threshold)

    def records(self, patterns: Iterable[Pattern]) -> tuple[PatternRecord, ...]:
        return tuple(map(self.record, patterns))


def _count(question: _Question) -> PatternCount:
    if question.min_probability is not None:
        return count_probable_patterns(
            question.tables, question.criterion, question.min_probability, question.limits
        )
    return count_patterns(question.tables, question.criterion, question.limits)


def _coverage(bayes: NaiveBayes, count: PatternCount) -> tuple[CoverageRecord, ...] | None:
    if count.total is None:
        return None
    return tuple(
        CoverageRecord(
            disclosed=tuple(bayes.attributes[i].name for i in entry.disclosed),
            method=entry.method,
            pairs=entry.pairs,
            patterns=entry.patterns,
        )
        for entry in count.coverage
    )


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise InputError(f"{name}: {value} is not a positive number")


def _rounded_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0)


def _rounded_up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
