"""Audit a model, list its patterns, repair it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from auditor.choices import CriterionName, CutRanking, ListName, MethodName, RankBy, SolverName, Undisclosed
from auditor.documents.audit import Audit
from auditor.documents.labels import labelled
from auditor.documents.patterns import PatternList
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model import checks
from auditor.model.additive import AdditiveModel
from auditor.model.building import split
from auditor.model.classifier import Classifier
from auditor.model.cutoff import Cutoff
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.scorecard import NO_INPUT, ScorecardSpec
from auditor.search.answer import Progress, Wanted, answer, list_patterns, ranking
from auditor.search.limits import DEFAULT
from auditor.search.question import Question, Share
from auditor.usecases import clock

if TYPE_CHECKING:
    from auditor.data.cells import Dialect
    from auditor.data.tables import Source
    from auditor.model.spec import ModelSpec
    from auditor.repair.learner import Round
    from auditor.repair.repairing import Repaired
    from auditor.search.card_reach import Margin
    from auditor.search.ranges import ModelSet, Ranges

#: A number, and whether it is of points.
_CUTOFF = re.compile(r"([+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}))\s*(points)?", re.ASCII)
#: The largest ε of a box and the most rows that may be added.
MOST_SHARE, MOST_ROWS = 1_000, 1_000_000
#: Subset-minimal patterns that an audit lists at most; `patterns` lists as many as asked for.
MINIMAL_LIMIT = 100


def audit(
    model: ModelSpec | ScorecardSpec | Classifier,
    delta: str | float,
    *,
    criterion: CriterionName = "difference",
    top: int = 10,
    rank_by: RankBy | None = None,
    min_probability: str | float | None = None,
    sensitive: tuple[str, ...] | None = None,
    undisclosed: Undisclosed | None = None,
    illustrate: bool = False,
    cutoff: str | None = None,
    box: str | float | None = None,
    idm: str | float | None = None,
    largest_box: bool = False,
    rounding: bool = False,
    any_population: bool = False,
    data: Source | None = None,
    time_limit: float | None = None,
    progress: Progress = lambda stage: None,
) -> Audit:
    """Audit a model: whether it is δ-fair, and where not.

    Parameters
    ----------
    model : ModelSpec, ScorecardSpec or Classifier
        From `auditor.load_model`.
    delta : str or float
        The threshold δ from 0 to 1; a degree above it discriminates. A text is taken exactly, a float as the
        shortest decimal that it prints as.
    criterion : {"difference", "ratio"}
    top : int
        How many top patterns to list.
    rank_by : {"divergence", "discrimination", "probability"}, optional
        By divergence where nothing is said, or by discrimination where no population is assumed.
    min_probability : str or float, optional
        Speak only of patterns that are at least so probable.
    sensitive : tuple of str, optional
        The attributes to protect, in place of those that the model marks as sensitive.
    undisclosed : {"conforming", "missing-bin", "declared"}, optional
        What an attribute of a scorecard counts that isn't disclosed, where not as the scorecard says.
    illustrate : bool
        Also search each pair of sensitive attributes, and draw patterns for a chart.
    cutoff : str, optional
        Of a scorecard: add rates of approval, as a measure beside the search. A number from 0 to 1 is a
        probability, above which is approved; any other, or ``"1 points"``, is a score, which is
        approved too.
    box : str or float, optional
        ε: also say what holds for every model each of whose probabilities is the model's times a factor from
        1/(1+ε) to 1+ε; of a scorecard, every one whose numbers multiply the odds by so much more or less.
    idm : str or float, optional
        s: also say what holds for every model that can be learned from the same counts and s more rows,
        whatever these are in each distribution by itself (local imprecise Dirichlet model).
    largest_box : bool
        Also find the ε up to which the verdict holds for every model in the box.
    rounding : bool
        Of a scorecard: also say what holds for all whose numbers are these when they are rounded.
    any_population : bool
        Of a scorecard: also say what holds in every population that conforms with it.
    data : str, path-like, DataFrame or Table, optional
        Data to compare with, as `with_data` takes it; only a specification can be.
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
    question = Question.of(delta, criterion, min_probability, sensitive, clock.limits(time_limit))
    _positive("top", top)
    started = clock.seconds()
    above = None
    if cutoff is not None and isinstance(model, ScorecardSpec):
        above = cutoff_of(model, cutoff)
    elif cutoff is not None and data is None:
        raise InputError(
            "cutoff: without data it is a scorecard's; give a scorecard, or data to compare with"
        )
    exact = classifier_of(model, undisclosed)
    wanted = Wanted(
        top,
        rank_by,
        MINIMAL_LIMIT,
        details=True,
        illustration=illustrate,
        cutoff=above,
        sets=() if isinstance(exact, AdditiveModel) else model_sets(model, exact, box, idm),
        margins=margins(model, exact, box, idm, rounding=rounding),
        largest_box=largest_box,
        every_population=any_population,
    )
    found = answer(exact, question, wanted, progress)
    document = labelled(Audit.of(found, clock.seconds() - started), labels_of(model))
    if data is None:
        return document
    from auditor.model.spec import ModelSpec

    if not isinstance(model, ModelSpec | ScorecardSpec):
        raise InputError("data are compared with specifications only; leave the data out")
    return with_data(document, model, data, cutoff=cutoff or "0.5", progress=progress)


def labels_of(model: ModelSpec | ScorecardSpec | Classifier) -> dict[str, str]:
    """What people read for each attribute; nothing for a model without a specification."""
    return model.attribute_labels if hasattr(model, "attribute_labels") else {}


def marked(model: ModelSpec | ScorecardSpec, sensitive: Iterable[str]) -> ModelSpec | ScorecardSpec:
    """Return a model with these attributes marked as sensitive, in place of those that are.

    Parameters
    ----------
    model : ModelSpec or ScorecardSpec
    sensitive : iterable of str
        Names of attributes, or lists of them with commas.

    Raises
    ------
    InputError
        If there is no such attribute.
    """
    names = [attribute.name for attribute in model.attributes]
    chosen = set(split(sensitive, names))
    if unknown := sorted(chosen.difference(names)):
        remedy = f". {NO_INPUT}" if isinstance(model, ScorecardSpec) else ""
        raise InputError(
            f"sensitive: the model has no {shown(name)}; it has {', '.join(map(shown, names))}{remedy}"
            for name in unknown
        )
    attributes = tuple(a.model_copy(update={"sensitive": a.name in chosen}) for a in model.attributes)
    return model.model_copy(update={"attributes": attributes})


def with_data(
    document: Audit,
    model: ModelSpec | ScorecardSpec,
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
    model : ModelSpec or ScorecardSpec
        The audited one.
    data : str, path-like, sequence of them, DataFrame or Table
        With a column per attribute and one for the decision, named as in the model and with the codes or
        labels of its values. A column of numbers serves an attribute of bins.
    dialect : Dialect, optional
        How its cells are written.
    min_group : int
        Groups with fewer people are marked as small.
    cutoff : str or float
        The model selects whom it gives the favourable decision with a probability above this; or a score, as
        `audit` takes it.
    progress : callable, optional

    Raises
    ------
    InputError
        If the data can't be used.
    """
    from auditor.data.comparing import compare, scored
    from auditor.data.tables import open_table
    from auditor.documents.data import evidence, listed

    if isinstance(model, ScorecardSpec):
        model = model.taken_as(document.model.undisclosed)
    patterns = listed(document)
    values = [(record.sensitive_values, record.context_values) for record, _ in patterns]
    found = compare(model, values, open_table(data, dialect), cutoff_of(model, str(cutoff)), progress)
    shown = evidence(found, scored(model), patterns, min_group=min_group)
    return document.model_copy(update={"data": shown})


def patterns(
    model: ModelSpec | ScorecardSpec,
    delta: str | float,
    *,
    choose: ListName = "top",
    limit: int = 10,
    rank_by: RankBy | None = None,
    criterion: CriterionName = "difference",
    min_probability: str | float | None = None,
    undisclosed: Undisclosed | None = None,
    time_limit: float | None = None,
    progress: Progress = lambda stage: None,
) -> PatternList:
    """List discrimination patterns of a model.

    Parameters
    ----------
    model, delta, rank_by, criterion, min_probability, undisclosed, time_limit, progress
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
    question = Question.of(delta, criterion, min_probability, limits=clock.limits(time_limit))
    _positive("limit", limit)
    progress("searching patterns")
    exact = classifier_of(model, undisclosed)
    found = list_patterns(exact, question, choose, limit, rank_by)
    document = PatternList.of(exact, question, choose, limit, ranking(exact, rank_by), found)
    return labelled(document, labels_of(model))


def repair(
    model: ModelSpec | ScorecardSpec,
    delta: str | float,
    *,
    criterion: CriterionName = "difference",
    method: MethodName = "fair",
    solver: SolverName = "interior",
    rank_by: CutRanking = "discrimination",
    per_round: int | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    keep: Sequence[str] = (),
    largest_change: str | float | None = None,
    monotone: Sequence[str] = (),
    also: str | None = None,
    data: Source | None = None,
    dialect: Dialect | None = None,
    margin: str | float | None = None,
    draws: int = 1_000,
    seed: int = 0,
    on_round: Callable[[Round], None] = lambda state: None,
    progress: Progress = lambda stage: None,
) -> Repaired:
    """Learn the most likely model of the same counts that has no discrimination pattern.

    Of a scorecard the population that conforms with it is learnt again, and written back as points or weights
    in the scorecard's own decimals; the shares stay, and what is written is proved fair.

    Parameters
    ----------
    model : ModelSpec or ScorecardSpec
        With counts of the decision and of each attribute, or with shares; a repaired model is repaired anew
        from what it was.
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
    keep : sequence of str
        Attributes whose probabilities stay exactly those of the counts.
    largest_change : str or float, optional
        By how much any probability, the prior included, may differ from that of the counts, 0.05 for example.
    monotone : sequence of str
        Attributes whose log-odds keep the listed order of their values, in the direction of the counts.
    also : str, optional
        Another criterion by which the model is to be fair too, with a δ of its own: ``"ratio:0.2"``.
    data : str, path-like, sequence of them, DataFrame or Table, optional
        On which to measure the predictions before and after; as in `with_data`.
    dialect : Dialect, optional
        How its cells are written.
    margin : str or float, optional
        Repair at the largest threshold up to δ with which the next model, learned from as many people and not
        repaired, is δ-fair with at least this probability; of naive Bayes only.
    draws, seed : int
        How many next models are drawn for each threshold, and by which random numbers.
    on_round : callable, optional
        Called after each round.
    progress : callable, optional
        Called with a few words as drawing goes on.

    Returns
    -------
    Repaired
        The model, and a summary of what changed.

    Raises
    ------
    InputError
        If an option is out of range, the model has no counts, or the data can't be used.
    RepairError
        If no model could be proved fair within the limits, none with the margin, or none was found that keeps
        to the conditions.
    """
    from auditor.repair import repairing
    from auditor.repair.conditions import NONE, Conditions
    from auditor.repair.learner import RepairOptions
    from auditor.repair.solver import load_solver

    question = Question.of(delta, criterion, limits=clock.limits(time_limit))
    for name, number in (("per_round", per_round), ("max_rounds", max_rounds)):
        if number is not None:
            _positive(name, number)
    besides = None if also is None else question.besides(also)
    conditions = NONE
    if method != "fair" and (besides or keep or monotone or largest_change is not None):
        raise InputError(f"method: {method} takes no conditions")
    if keep or monotone or largest_change is not None:
        if isinstance(model, ScorecardSpec):
            raise InputError(
                "keep, largest change and monotone are conditions on what is learned from counts, and this "
                "is a scorecard; leave them out"
            )
        exact = repairing.before_repair(model).naive_bayes()
        conditions = Conditions.of(exact, keep, largest_change, monotone)
    options = RepairOptions(
        solver=load_solver(solver),
        conditions=conditions,
        rank_by=rank_by,
        per_round=per_round,
        max_rounds=max_rounds,
        limits=question.limits,
        on_round=on_round,
    )
    wanted = None
    if margin is not None:
        from auditor.usecases.margin import NextModel, repair_with_margin

        if method != "fair" or isinstance(model, ScorecardSpec):
            raise InputError(
                "margin: it is of δ-fair naive Bayes models, which are learned from counts; leave it out"
            )
        if besides:
            raise InputError(
                "also: a margin is by one criterion; leave the margin out, and measure the next model by "
                "each with stability"
            )
        wanted = NextModel.of(margin, draws, seed, question)
    opened = None
    if data is not None:
        from auditor.data.tables import open_table

        opened = open_table(data, dialect)
    if wanted is None:
        return repairing.repair(model, question, method, solver, options, opened, besides)

    def at(threshold: str, *, last: bool = False) -> Repaired:
        limits = DEFAULT if last else question.limits
        inner = Question.of(threshold, criterion, limits=limits)
        made = replace(options, limits=limits)
        return repairing.repair(model, inner, method, solver, made, opened if last else None)

    return repair_with_margin(at, question, wanted, progress)


def classifier_of(
    model: ModelSpec | ScorecardSpec | Classifier, undisclosed: Undisclosed | None
) -> Classifier:
    """Return the exact model that a specification means.

    Raises
    ------
    InputError
        If it is said of naive Bayes what isn't disclosed.
    """
    if isinstance(model, ScorecardSpec):
        return model.taken_as(undisclosed).classifier()
    if undisclosed is not None:
        raise InputError("undisclosed: it is a scorecard's; naive Bayes sums out what isn't disclosed")
    return model if isinstance(model, Classifier) else model.naive_bayes()


def cutoff_of(model: ModelSpec | ScorecardSpec, text: str) -> Cutoff:
    """Read who is approved: by a probability or, of a scorecard, also by points.

    Raises
    ------
    InputError
        If it is no number, or of something else.
    """
    if not isinstance(model, ScorecardSpec):
        share = Share.of(text)
        return Cutoff(share.text, probability=share.value)
    found = _CUTOFF.fullmatch(text.strip())
    number = Decimal(found[1]) if found else None
    if found is None or number is None or abs(number) > checks.MAX_SCORE:
        raise InputError(
            f'cutoff: {shown(text)} is neither a number from 0 to 1 nor a score such as "620 points"'
        )
    if not found[2] and 0 <= number <= 1:
        return Cutoff(text, probability=Fraction(number))
    return Cutoff(text, exponent=model.exponent_at(number))


def model_sets(
    model: ModelSpec | ScorecardSpec | Classifier,
    exact: Classifier,
    share: str | float | None,
    rows: str | float | None,
) -> tuple[ModelSet, ...]:
    """The sets of models that are asked about."""
    if share is None and rows is None:
        return ()
    if not isinstance(exact, NaiveBayes):
        raise InputError("box: only that of a naive Bayes model is certified; leave it out, or audit with it")
    from auditor.search.ranges import ModelSet, box

    sets = []
    if share is not None:
        size = Share.of(share, MOST_SHARE)
        sets.append(ModelSet("box", size.text, box(exact, size.value)))
    if rows is not None:
        size = Share.of(rows, MOST_ROWS)
        sets.append(ModelSet("imprecise-dirichlet", size.text, _more_rows(model, exact, size.value)))
    return tuple(sets)


def margins(
    model: ModelSpec | ScorecardSpec | Classifier,
    exact: Classifier,
    share: str | float | None,
    rows: str | float | None,
    *,
    rounding: bool,
) -> tuple[Margin, ...]:
    """By how much the numbers of a scorecard may be off in what is asked about.

    Raises
    ------
    InputError
        If it is asked of a model without such numbers, or it is asked what a scorecard doesn't have.
    """
    if not isinstance(exact, AdditiveModel):
        if rounding:
            raise InputError(
                "rounding: it is of the numbers of a scorecard; leave it out, or ask about a box"
            )
        return ()
    if rows is not None:
        raise InputError("idm: a scorecard has no counts, to which more rows could be added; leave it out")
    if share is None and not rounding:
        return ()
    from auditor.search.card_reach import Margin, card_box

    found = []
    if share is not None:
        size = Share.of(share, MOST_SHARE)
        found.append(card_box(size.value, size.text))
    if rounding:
        if not isinstance(model, ScorecardSpec):
            raise InputError("rounding: only a specification says in which decimals a scorecard is written")
        half, exponent = model.half_unit
        found.append(Margin("rounding", f"{half:f}", Fraction(1), exponent))
    return tuple(found)


def _more_rows(model: ModelSpec | ScorecardSpec | Classifier, exact: NaiveBayes, rows: Fraction) -> Ranges:
    """The models that so many more rows can give.

    Raises
    ------
    InputError
        If the model isn't what its counts give.
    """
    from auditor.model.spec import ModelSpec
    from auditor.search.ranges import imprecise_dirichlet

    instead = "leave it out, or ask about a box"
    if not isinstance(model, ModelSpec) or (decision := model.decision.counts) is None:
        raise InputError(f"idm: the decision has no counts, to which more rows could be added; {instead}")
    if model.repair is not None:
        raise InputError(f"idm: a repaired model isn't what its counts and more rows would give; {instead}")
    if written := [attribute.name for attribute in model.attributes if attribute.counts is None]:
        raise InputError(
            f"idm: {shown(name)} has no counts, to which more rows could be added; {instead}"
            for name in written
        )
    added = Fraction(model.smoothing)
    tables = [
        tuple([Fraction(n) + added for n in column] for column in (counts.favourable, counts.unfavourable))
        for attribute in model.attributes
        if (counts := attribute.counts) is not None
    ]
    return imprecise_dirichlet(
        (Fraction(decision.favourable), Fraction(decision.unfavourable)),
        [(favourable, unfavourable) for favourable, unfavourable in tables],
        rows,
        exact.sensitive,
    )


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise InputError(f"{name}: {value} is not a positive number")
