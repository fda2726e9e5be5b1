"""The use case of the frontier: repairs of one model over growing thresholds, and what each costs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from auditor.choices import CriterionName
from auditor.documents.audit import DegreeRecord, ModelRecord
from auditor.documents.frontier import Frontier, FrontierModel, FrontierPoint
from auditor.documents.labels import labelled
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.output import write_text
from auditor.repair import interior, repairing
from auditor.repair.baselines import independent
from auditor.repair.conditions import Conditions
from auditor.repair.learner import RepairOptions, count
from auditor.search.answer import Progress, answer
from auditor.search.question import Question, Share
from auditor.usecases import clock, proving
from auditor.usecases.processes import in_processes

if TYPE_CHECKING:
    from auditor.data.cells import Dialect
    from auditor.data.encoding import EncodedTable
    from auditor.data.tables import Source
    from auditor.documents.data import DataEvidence
    from auditor.documents.proof import LikelihoodProof
    from auditor.repair.repairing import Repaired

#: Thresholds of a curve at most.
MOST = 1000
#: Height above the straight line, of 1, from which on a point is a knee.
_BENT = 1e-6


class Curve(NamedTuple):
    """A frontier, and what its points stand for."""

    document: Frontier
    models: tuple[ModelSpec, ...]
    """One per point."""
    proofs: tuple[LikelihoodProof, ...]
    """One per point, or none."""


class _OnData(TypedDict):
    auc: float | None
    data: DataEvidence | None


def grid(text: str) -> tuple[str, ...]:
    """Read thresholds with commas between them.

    Raises
    ------
    InputError
        If one is no number from 0 to 1, or they don't grow.
    """
    try:
        found = [Share.of(part) for part in text.split(",")]
    except InputError as error:
        raise InputError(f"deltas: {error}, and commas between several") from error
    if len(found) > MOST:
        raise InputError(f"deltas: {len(found):,} thresholds are more than {MOST:,}")
    for before, after in pairwise(found):
        if not before.value < after.value:
            raise InputError(
                f"deltas: {shown(after.text)} after {shown(before.text)}; give thresholds that grow"
            )
    return tuple(share.text for share in found)


def frontier(
    model: ModelSpec,
    deltas: str,
    *,
    criterion: CriterionName = "difference",
    data: Source | None = None,
    dialect: Dialect | None = None,
    cutoff: str | float = "0.5",
    keep: Iterable[str] = (),
    largest_change: str | float | None = None,
    monotone: Iterable[str] = (),
    also: str | None = None,
    least_accuracy: str | float | None = None,
    least_auc: str | float | None = None,
    prove: bool = False,
    gap: str | None = None,
    time_limit: float | None = None,
    jobs: int | None = None,
    progress: Progress = lambda stage: None,
) -> Curve:
    """Repair a model at growing thresholds.

    A model that is fair at a threshold is fair at every larger one, so that no point is less likely than the
    one before: where a repair finds nothing likelier than the last model, that one is taken.

    Parameters
    ----------
    model : ModelSpec
        With counts; a repaired model is repaired anew from them.
    deltas : str
        Thresholds with commas between them, growing: ``"0.01,0.05,0.1"``. At 0 only models whose sensitive
        attributes are independent of the decision are fair, at 1 all are.
    criterion : {"difference", "ratio"}
    data, dialect, cutoff
        As `with_data` takes them: predictions, selection rates and error rates of each model are measured.
    keep, largest_change, monotone, also
        As in `auditor.repair`, for all models of the curve.
    least_accuracy, least_auc : str or float, optional
        What a model is to reach on the data; the smallest threshold whose model does is recommended.
    prove : bool
        Prove how likely any δ-fair model can be, at each threshold.
    gap : str, optional
        What a proof aims at, as in `prove_repair`.
    time_limit : float, optional
        Seconds for everything; proofs share what the repairs leave.  [none for repairs, 300 for each proof]
    jobs : int, optional
        Processes for proofs.  [one per processor]
    progress : callable, optional

    Raises
    ------
    InputError
        If an option is out of range or goes with data that aren't given, the model has no counts, or the data
        can't be used.
    RepairError
        If at a threshold no model could be proved fair within the limits.
    """
    thresholds = grid(deltas)
    above = Share.of(cutoff)
    floors = [None if least is None else Share.of(least) for least in (least_accuracy, least_auc)]
    if data is None and any(floors):
        raise InputError("least accuracy, least auc: they are measured on data, and none were given")
    started, limits = clock.seconds(), clock.limits(time_limit)
    source = repairing.before_repair(model)
    counts = repairing.counts_of(source)
    besides = None if also is None else Question.of(thresholds[0], criterion, limits=limits).besides(also)
    conditions = Conditions.of(counts.model, keep, largest_change, monotone)
    if prove:
        if criterion != "difference":
            raise InputError("criterion: only repairs by the difference can be proved")
        proving.ensure_provable(source, gap)
    table = _opened(source, data, dialect)
    made: list[Repaired] = []
    taken: list[str | None] = []
    for delta in thresholds:
        progress(f"repairing at δ = {delta}")
        near = _written(made[-1]).naive_bayes() if made else None
        options = RepairOptions(interior.solve, limits=limits, near=near, conditions=conditions)
        question = Question.of(delta, criterion, limits=limits)
        one = repairing.repair(source, question, "fair", "interior", options, also=besides)
        if made and _likelihood(one) < _likelihood(made[-1]):
            taken.append(taken[-1] or made[-1].summary.delta)
            one = made[-1]
        else:
            taken.append(None)
        made.append(one)
    proofs: tuple[LikelihoodProof, ...] = ()
    if prove:
        left = None if time_limit is None else max(0.0, time_limit - (clock.seconds() - started))
        proofs = _proofs(source, made, thresholds, gap, left, jobs or os.cpu_count() or 1, progress)
    first = Question.of(thresholds[0], criterion)
    repaired = [_written(one) for one in made]
    exact = [counts.model, independent(counts), *(spec.naive_bayes() for spec in repaired)]
    of_data = _on_data(exact, table, above, progress)
    progress("searching the models of the curve")
    known = [
        _model(one, counts.log_likelihood(one), first, delta, on_data)
        for one, delta, on_data in zip(exact, [thresholds[0]] * 2 + list(thresholds), of_data, strict=True)
    ]
    bounds = _bounds(proofs, thresholds)
    points = tuple(
        FrontierPoint(
            **dict(known[place + 2]),
            delta=delta,
            taken_from=taken[place],
            price=one.summary.price,
            patterns_before=count(counts.model, Question.of(delta, criterion).criterion, limits)
            if taken[place]
            else one.summary.patterns_before,
            shortfall=one.summary.shortfall,
            kept_floors=_keeps(of_data[place + 2], floors),
            bound=bounds[place][0],
            bound_from=bounds[place][1],
        )
        for place, (delta, one) in enumerate(zip(thresholds, made, strict=True))
    )
    document = Frontier(
        model=ModelRecord.of(counts.model),
        criterion=criterion,
        also=made[0].summary.also,
        conditions=repairing.conditions_record(conditions, counts.model),
        total_patterns=counts.model.total_patterns(),
        unconstrained=known[0],
        independent=known[1],
        points=points,
        knee=knee([(float(Decimal(p.delta)), p.log_likelihood or -math.inf) for p in points], thresholds),
        least_accuracy=None if floors[0] is None else floors[0].text,
        least_auc=None if floors[1] is None else floors[1].text,
        recommended=next((point.delta for point in points if point.kept_floors), None),
    )
    return Curve(labelled(document, model.attribute_labels), tuple(repaired), proofs)


def knee(curve: Sequence[tuple[float, float]], names: Sequence[str]) -> str | None:
    """The name of the point furthest above the straight line from a rising curve's first point to its last.

    Both axes are scaled so that the line goes from (0, 0) to (1, 1).

    >>> knee([(0, 0), (0.25, 0.75), (0.5, 0.9), (1, 1)], ["a", "b", "c", "d"])
    'b'
    >>> knee([(0, 0), (0.5, 0.5), (1, 1)], ["a", "b", "c"]) is None
    True
    """
    (left, bottom), (right, top) = curve[0], curve[-1]
    if not (math.isfinite(bottom) and left < right and bottom < top):
        return None
    heights = [(y - bottom) / (top - bottom) - (x - left) / (right - left) for x, y in curve]
    best = max(range(len(curve)), key=lambda place: heights[place])
    return names[best] if heights[best] > _BENT else None


def file_names(thresholds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The file of each threshold's model, and of its proof."""
    return tuple((f"fair-{delta}.json", f"proof-{delta}.json") for delta in thresholds)


def write(curve: Curve, folder: Path) -> None:
    """Write each point's model, and its proof if there is one, into a folder."""
    for place, (model, proof) in enumerate(file_names([point.delta for point in curve.document.points])):
        write_text(folder / model, dump_model(curve.models[place], "json"))
        if curve.proofs:
            write_text(folder / proof, to_json(curve.proofs[place]))


def _written(made: Repaired) -> ModelSpec:
    assert isinstance(made.model, ModelSpec), "a repair of a naive Bayes model gives one"
    return made.model


def _likelihood(made: Repaired) -> float:
    found = made.summary.log_likelihoods.repaired
    return -math.inf if found is None else found


def _opened(source: ModelSpec, data: Source | None, dialect: Dialect | None) -> EncodedTable | None:
    if data is None:
        return None
    from auditor.data.encoding import EncodedTable
    from auditor.data.tables import open_table

    return EncodedTable(source, open_table(data, dialect))


def _on_data(
    models: Sequence[NaiveBayes], table: EncodedTable | None, cutoff: Share, progress: Progress
) -> list[_OnData]:
    """What each model does on the data."""
    if table is None:
        return [{"auc": None, "data": None}] * len(models)
    from auditor.data.comparing import observe, performances
    from auditor.documents.data import MIN_GROUP, evidence
    from auditor.model.cutoff import Cutoff

    progress("comparing with the data")
    selecting = Cutoff(cutoff.text, probability=cutoff.value)
    return [
        {
            "auc": found.auc if math.isfinite(found.auc) else None,
            "data": evidence(observe(model, table, (), selecting), model, (), min_group=MIN_GROUP),
        }
        for model, found in zip(models, performances(models, table), strict=True)
    ]


def _keeps(found: _OnData, floors: Sequence[Share | None]) -> bool | None:
    """Whether a model reaches the least accuracy and the least AUC on the data; None where none is set."""
    if found["data"] is None or not any(floors):
        return None
    accuracy, auc = found["data"].accuracy, found["auc"]
    measured = (
        Fraction(accuracy.count, accuracy.people) if accuracy.people else None,
        None if auc is None else Fraction(auc),
    )
    return all(
        floor is None or (value is not None and value >= floor.value)
        for value, floor in zip(measured, floors, strict=True)
    )


def _model(
    exact: NaiveBayes, likelihood: float, first: Question, delta: str, on_data: _OnData
) -> FrontierModel:
    """One answer about a model: its largest degree, and its patterns above the first threshold."""
    found = answer(exact, first)
    largest = DegreeRecord.of(exact, found.largest, Share.of(delta).value)
    assert largest.max_degree_bounds is not None
    return FrontierModel(
        sha256=exact.sha256(),
        log_likelihood=likelihood if math.isfinite(likelihood) else None,
        max_degree_bounds=largest.max_degree_bounds,
        patterns_left_bounds=(found.count.lower, found.count.upper),
        **on_data,
    )


def _proofs(
    source: ModelSpec,
    made: Sequence[Repaired],
    thresholds: Sequence[str],
    gap: str | None,
    left: float | None,
    jobs: int,
    progress: Progress,
) -> tuple[LikelihoodProof, ...]:
    """Prove each threshold's bound, each in a process of its own where there are several."""
    jobs = min(jobs, len(made))
    each = None if left is None else left * jobs / len(made)
    # A model that is fair at a smaller threshold is fair at this one too, and is proved as one of it.
    asked = [
        (source, one._replace(summary=one.summary.model_copy(update={"delta": delta})), gap, each)
        for one, delta in zip(made, thresholds, strict=True)
    ]
    found = []
    for _, proof in in_processes(proving.prove_repair, asked, jobs):
        found.append(proof)
        progress(f"proving: {len(found)} of {len(made)} thresholds")
    return tuple(found)


def _bounds(
    proofs: Sequence[LikelihoodProof], thresholds: Sequence[str]
) -> list[tuple[float | None, str | None]]:
    """The least bound of each threshold's proof and those of larger ones, and which it is."""
    if not proofs:
        return [(None, None)] * len(thresholds)
    made: list[tuple[float | None, str | None]] = []
    least, whose = Decimal("Infinity"), ""
    for delta, proof in reversed(list(zip(thresholds, proofs, strict=True))):
        if Decimal(proof.bound) < least:
            least, whose = Decimal(proof.bound), delta
        made.append((float(least), whose))
    return made[::-1]
