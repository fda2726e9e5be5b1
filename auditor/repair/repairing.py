"""The use case of repair: a specification with counts in, one without discrimination patterns out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from auditor.choices import MethodName, SolverName
from auditor.data.comparing import performances, scored
from auditor.data.encoding import EncodedTable
from auditor.data.tables import Table
from auditor.documents.audit import ModelRecord
from auditor.documents.comparison import ParameterChange
from auditor.documents.record import labels
from auditor.documents.repair import (
    AlsoRecord,
    ConditionsRecord,
    LogLikelihoodsRecord,
    PerformanceRecord,
    PredictionShift,
    Repair,
    RoundRecord,
)
from auditor.documents.rounding import round_beside
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.scorecard import ScorecardSpec, Side
from auditor.model.spec import (
    Likelihood,
    LogLikelihoods,
    ModelSpec,
    RepairAlso,
    RepairConditions,
    RepairRecord,
    RepairRound,
)
from auditor.repair import scorecards
from auditor.repair.baselines import independent, independent_mean, unconstrained
from auditor.repair.conditions import Conditions
from auditor.repair.counts import Counts
from auditor.repair.cuts import worst_of_each
from auditor.repair.decimals import exact_decimal, rounded_model
from auditor.repair.kept import is_fair
from auditor.repair.learner import Learned, RepairOptions, Round, count, learn
from auditor.search.additive.tables import tables_of
from auditor.search.answer import answer
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question

#: Parameters and patterns that a summary lists.
MOVES, _PATTERNS = 10, 5
#: Moves up to this are those of rounding to decimals.
_STILL = Fraction(1, 10**12)
#: Attributes that an error names.
_NAMED = 10
#: Unit of a log-likelihood in a specification.
_UNIT = Decimal("0.000001")

_BASELINES: Mapping[MethodName, Callable[[Counts], NaiveBayes]] = {
    "independent": independent,
    "independent-mean": independent_mean,
    "unconstrained": unconstrained,
}


class Repaired(NamedTuple):
    """A model without discrimination patterns, and what it cost."""

    model: ModelSpec | ScorecardSpec
    """With names, counts or shares and provenance of the original, and a record of the repair."""
    summary: Repair


def repair(
    spec: ModelSpec | ScorecardSpec,
    question: Question,
    method: MethodName,
    solver: SolverName,
    options: RepairOptions,
    data: Table | None = None,
    also: Question | None = None,
) -> Repaired:
    """Make a fair model from the counts of a specification, or from the population of a scorecard.

    Parameters
    ----------
    question : Question
        What the model is to be fair by.
    method : {"fair", "independent", "independent-mean", "unconstrained"}
    solver : {"interior", "sqp", "signomial"}
        Name of the solver among the options.
    options : RepairOptions
        For the method "fair".
    data : Table, optional
        On which to measure the model before and after.
    also : Question, optional
        By another criterion: what the model is to be fair by too.

    Raises
    ------
    InputError
        If the specification has no counts, or the data can't be used.
    RepairError
        If no model could be proved fair within the limits.
    """
    source = before_repair(spec) if isinstance(spec, ModelSpec) else scorecards.before_repair(spec)
    counts = counts_of(source)
    # What is wrong with the data is found before the work on the model.
    encoded = None if data is None else EncodedTable(source, data)
    before = source.naive_bayes() if isinstance(source, ModelSpec) else source.classifier()
    criterion, limits = question.criterion, question.limits
    progress: list[Round] = []

    def on_round(state: Round) -> None:
        progress.append(state)
        told(state)

    told = options.on_round
    options = replace(options, on_round=on_round, also=also.criterion if also else None)
    card: ScorecardSpec | None = None
    if method != "fair":
        model = _BASELINES[method](counts)
        learned = Learned(rounded_model(model), 0, 0, count(before, criterion, limits), None)
        if isinstance(source, ScorecardSpec):
            card = scorecards.written(source, counts.model, model)
    elif isinstance(source, ScorecardSpec):
        card, learned = scorecards.fair_card(source, counts, criterion, options)
        # The learner has counted those of the population, which is known to 40 digits.
        learned = replace(
            learned,
            patterns_before=count(before, criterion, limits),
            also_before=count(before, also.criterion, limits) if also else None,
        )
    else:
        learned = learn(counts, criterion, options)
    after: Classifier = learned.model if card is None else card.classifier()
    # The learner has proved its model fair, so that this proof of what is written needs no limit of time.
    proof = answer(after, replace(question, limits=DEFAULT if method == "fair" else limits))
    if method == "fair" and proof.verdict != "delta-fair":
        raise RuntimeError(f"the model that the learner proved fair is {proof.verdict}")
    if also and not is_fair(after, [also.criterion], DEFAULT):
        raise RuntimeError(f"the model that the learner proved fair is not by the {also.criterion_name}")
    likelihoods = {
        "unconstrained": counts.log_likelihood(counts.model),
        "repaired": counts.log_likelihood(learned.model if card is None else scorecards.population_of(card)),
        "independent": counts.log_likelihood(independent(counts)),
        "independent_mean": counts.log_likelihood(independent_mean(counts)),
    }
    finite = {name: value if math.isfinite(value) else None for name, value in likelihoods.items()}
    broken = options.conditions.broken(learned.model, counts.model)
    if broken:
        raise RuntimeError(f"the learner's model breaks a condition: {broken}")
    summary = Repair(
        method=method,
        criterion=criterion.name,
        delta=question.delta.text,
        also=None
        if also is None
        else AlsoRecord(
            criterion=also.criterion_name, delta=also.delta.text, patterns_before=learned.also_before
        ),
        conditions=conditions_record(options.conditions, counts.model),
        solver=solver if method == "fair" else None,
        rounds=learned.rounds,
        constraints=learned.constraints,
        progress=tuple(
            RoundRecord(
                round=state.number,
                constraints=state.constraints,
                log_likelihood=state.log_likelihood if math.isfinite(state.log_likelihood) else None,
                patterns=state.patterns,
            )
            for state in progress
        ),
        shortfall=learned.shortfall,
        log_likelihoods=LogLikelihoodsRecord(**finite),
        price=_price(likelihoods),
        patterns_before=learned.patterns_before,
        patterns_after=0 if proof.verdict == "delta-fair" else proof.count.total,
        total_patterns=before.total_patterns(),
        parameters_moved=() if card else tuple(moves(counts.model, learned.model)[:MOVES]),
        points_moved=scorecards.moves(card) if card else (),
        predictions=tuple(_shifts(before, after, criterion, limits)),
        performance=None
        if encoded is None
        else _performance(encoded, scored(source), learned.model if card is None else scored(card)),
        before=ModelRecord.of(before),
        after=ModelRecord.of(after),
    )
    if card is not None:
        return Repaired(card.model_copy(update={"repair": _record(summary)}), summary)
    assert isinstance(source, ModelSpec), "a scorecard has become one"
    return Repaired(_specification(source, learned.model, summary), summary)


def before_repair(spec: ModelSpec) -> ModelSpec:
    """The model that the counts of a repaired one stand for; one that was never repaired as it is."""
    if spec.repair is None:
        return spec
    return spec.model_copy(
        update={
            "repair": None,
            "decision": spec.decision.model_copy(update={"prior": None}),
            "attributes": tuple(a.model_copy(update={"likelihood": None}) for a in spec.attributes),
        }
    )


def counts_of(spec: ModelSpec | ScorecardSpec) -> Counts:
    """The counts of a specification, smoothing added to those of attributes; the population of a scorecard.

    Raises
    ------
    InputError
        If some are missing.
    """
    if isinstance(spec, ScorecardSpec):
        return scorecards.counts_of(spec)
    decision, counted = spec.decision.counts, [a.counts for a in spec.attributes if a.counts is not None]
    if decision is None or len(counted) < len(spec.attributes):
        missing = [a.name for a in spec.attributes if a.counts is None]
        named = ", ".join(map(escaped, missing[:_NAMED])) + (" and others" if missing[_NAMED:] else "")
        where = f"attributes without counts: {named}" if missing else "the decision has no counts"
        raise InputError(
            f"{escaped(spec.name)}: repair learns from counts, which are incomplete ({where}); give "
            '"counts" per value and decision instead of "likelihood", and those of the decision; '
            "auditor learn counts a table of data"
        )
    added = Fraction(spec.smoothing)
    return Counts(
        model=spec.naive_bayes(),
        decision=(Fraction(decision.favourable), Fraction(decision.unfavourable)),
        attributes=tuple(
            tuple(
                (Fraction(a) + added, Fraction(b) + added)
                for a, b in zip(rows.favourable, rows.unfavourable, strict=True)
            )
            for rows in counted
        ),
    )


def conditions_record(conditions: Conditions, model: NaiveBayes) -> ConditionsRecord | None:
    """The conditions by the names of the attributes."""
    if not conditions:
        return None
    most = conditions.largest_change
    rising, falling = (
        tuple(model.attributes[i].name for i, way in conditions.monotone if way == direction)
        for direction in (1, -1)
    )
    return ConditionsRecord(
        keep=tuple(model.attributes[i].name for i in sorted(conditions.keep)),
        largest_change=None if most is None else f"{exact_decimal(most):f}",
        rising=rising,
        falling=falling,
    )


def _specification(source: ModelSpec, after: NaiveBayes, summary: Repair) -> ModelSpec:
    """The source with the parameters of a model, digit for digit, and the record of its repair."""
    kept = summary.conditions.keep if summary.conditions else ()
    attributes = [
        spec
        # What is kept stays a ratio of counts, which decimals could not say.
        if spec.name in kept
        else spec.model_copy(
            update={
                "likelihood": Likelihood(
                    favourable=tuple(exact_decimal(row[0]) for row in attribute.likelihood),
                    unfavourable=tuple(exact_decimal(row[1]) for row in attribute.likelihood),
                )
            }
        )
        for spec, attribute in zip(source.attributes, after.attributes, strict=True)
    ]
    repaired = source.model_copy(
        update={
            "decision": source.decision.model_copy(update={"prior": exact_decimal(after.prior)}),
            "attributes": tuple(attributes),
            "repair": _record(summary),
        }
    )
    if repaired.naive_bayes() != after:
        raise RuntimeError("the specification does not say what was proved fair")
    return repaired


def _record(summary: Repair) -> RepairRecord:
    """What a repaired model says of its repair."""
    own, also = summary.conditions, summary.also
    return RepairRecord(
        method=summary.method,
        delta=Decimal(summary.delta),
        criterion=summary.criterion,
        solver=summary.solver or "closed form",
        rounds=summary.rounds,
        constraints=summary.constraints,
        progress=tuple(
            RepairRound(
                round=state.round,
                constraints=state.constraints,
                log_likelihood=_rounded(state.log_likelihood),
                patterns=state.patterns,
            )
            for state in summary.progress
        )
        or None,
        shortfall=summary.shortfall,
        log_likelihoods=LogLikelihoods(**{name: _rounded(value) for name, value in summary.log_likelihoods}),
        patterns_before=summary.patterns_before,
        patterns_after=summary.patterns_after,
        also=RepairAlso(criterion=also.criterion, delta=Decimal(also.delta)) if also else None,
        conditions=None
        if own is None
        else RepairConditions(
            keep=own.keep,
            largest_change=None if own.largest_change is None else Decimal(own.largest_change),
            rising=own.rising,
            falling=own.falling,
        ),
        source_sha256=summary.before.sha256,
    )


def _rounded(log_likelihood: float | None) -> Decimal | None:
    return None if log_likelihood is None else Decimal(repr(log_likelihood)).quantize(_UNIT)


def _price(likelihoods: Mapping[str, float]) -> float | None:
    """The share of the way from the unconstrained to the independent model, in log-likelihood."""
    whole = likelihoods["unconstrained"] - likelihoods["independent"]
    cost = likelihoods["unconstrained"] - likelihoods["repaired"]
    return cost / whole if whole > 0 and math.isfinite(cost / whole) else None


def moves(before: NaiveBayes, after: NaiveBayes) -> list[ParameterChange]:
    """The parameters that moved, largest move first; of two values the first stands for both."""

    def moved(
        a: Fraction,
        b: Fraction,
        attribute: str | None,
        value: str | None,
        given: Side | None,
    ) -> tuple[Fraction, ParameterChange]:
        return abs(b - a), ParameterChange(
            attribute=attribute, value=value, given=given, before=float(a), after=float(b)
        )

    moves = [moved(before.prior, after.prior, None, None, None)]
    for old, new in zip(before.attributes, after.attributes, strict=True):
        rows = list(zip(old.values, old.likelihood, new.likelihood, strict=True))
        for value, first, second in rows if len(rows) > 2 else rows[:1]:
            moves.append(moved(first[0], second[0], old.name, value, "favourable"))
            moves.append(moved(first[1], second[1], old.name, value, "unfavourable"))
    return [change for size, change in sorted(moves, key=lambda move: -move[0]) if size > _STILL]


def _shifts(
    before: Classifier, after: Classifier, criterion: Criterion, limits: Limits
) -> Iterator[PredictionShift]:
    """What both models say where the first discriminates most, by what is disclosed in which direction."""
    found, exact = worst_of_each(tables_of(before), criterion, _PATTERNS, limits), tables_of(after).exact
    for pattern in sorted(found, key=lambda pattern: (-abs(pattern.degree), pattern.key)):
        x, y = pattern.sensitive_values, pattern.context_values
        now = exact.measure(criterion, x, y)
        yield PredictionShift(
            sensitive_values=labels(before, x),
            context_values=labels(before, y),
            favourable_given_context=(
                float(pattern.favourable_given_context),
                float(now.favourable_given_context),
            ),
            favourable_given_pattern=(
                float(pattern.favourable_given_pattern),
                float(now.favourable_given_pattern),
            ),
            degree=(
                round_beside(pattern.degree, criterion.threshold),
                round_beside(now.degree, criterion.threshold),
            ),
        )


def _performance(data: EncodedTable, before: Classifier, after: Classifier) -> PerformanceRecord:
    old, new = performances([before, after], data)
    accuracy, auc = (old.accuracy, new.accuracy), (old.auc, new.auc)
    return PerformanceRecord(
        data=Path(data.name).name,
        rows=new.rows,
        unknown=data.unknown,
        accuracy=None if any(map(math.isnan, accuracy)) else accuracy,
        auc=None if any(map(math.isnan, auc)) else auc,
    )
