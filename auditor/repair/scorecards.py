"""Repair of scorecards: their conforming population is repaired, and its log-odds are written back as points.

The population that conforms with a scorecard is a naive Bayes model. The most likely fair one is learnt from
it as from data, and what that adds to the log-odds of each value is added to its points, in the decimals that
the scorecard has. The population's shares stay as they are, so that what is written has a conforming
population of its own, next to the one that was learnt. What is written is what is proved: where it is not
fair, the learner aims further inside the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from math import log

from auditor.documents.repair import PointsChange
from auditor.errors import InputError, RepairError
from auditor.messages import escaped
from auditor.model.additive import AdditiveModel
from auditor.model.building import build_scorecard
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.scorecard import ScorecardSpec
from auditor.repair.baselines import independent
from auditor.repair.counts import Counts, Pair
from auditor.repair.learner import Learned, RepairOptions, Round, count, learn
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits

#: People whose decisions the likelihood of a population is of, where the scorecard doesn't say how many.
PEOPLE = 1000
#: Moves of log-odds up to this are those of rounding to decimals.
_STILL = 1e-12
#: Decimal places in which points or weights are written at most.
_PLACES = 12
#: How often the learner aims further inside the threshold, and by how much more than what was missing.
_ATTEMPTS, _MORE = 8, Fraction(21, 20)
#: Steps of the decimals, in log-odds, from which on each number is tried a step nearer to what it was.
_COARSE = 1e-4
_CONTEXT = Context(prec=60, Emax=10**9, Emin=-(10**9))

#: What is added to the log-odds of each value that can occur, by attribute and label.
_Moves = Mapping[str, Mapping[str, float]]


def before_repair(spec: ScorecardSpec) -> ScorecardSpec:
    """The scorecard from which a repaired one was made; one that was never repaired as it is."""
    if spec.repair is None:
        return spec
    tree = spec.model_dump()
    tree["repair"] = None
    if tree["intercept_before"] is not None:
        tree["intercept"], tree["intercept_before"] = tree["intercept_before"], None
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            if value.get("before") is not None:
                value[_unit(spec)] = value.pop("before")
    return ScorecardSpec.model_validate(tree)


def population_of(spec: ScorecardSpec) -> NaiveBayes:
    """The conforming population of a scorecard, which gives everybody the scorecard's own probability.

    Attributes of which only one value occurs are left out: they say nothing about the decision.

    Raises
    ------
    InputError
        If the scorecard has no shares, or what isn't disclosed means something else.
    """
    return _population(spec, spec.classifier())


def _population(spec: ScorecardSpec, model: AdditiveModel) -> NaiveBayes:
    if model.unfavourable_share is None:
        raise InputError(
            f"{escaped(spec.name)}: a scorecard is repaired under its conforming population, and none is "
            f'assumed where what isn\'t disclosed is "{spec.meaning}"; give the share of each value, and '
            'write "undisclosed": "conforming"'
        )
    return NaiveBayes(
        name=model.name,
        decision=model.decision,
        favourable=model.favourable,
        unfavourable=model.unfavourable,
        prior=1 - model.unfavourable_share,
        attributes=tuple(
            Attribute(a.name, a.values, a.sensitive, _likelihood([model.joint([(i, v)]) for v in range(m)]))
            for i, a in enumerate(model.attributes)
            if (m := len(a.values)) > 1
        ),
    )


def counts_of(spec: ScorecardSpec) -> Counts:
    """The conforming population as counts: of as many people as its provenance says, or of `PEOPLE`.

    Raises
    ------
    InputError
        If the scorecard assumes no population.
    """
    model = population_of(spec)
    people = Fraction((spec.provenance and spec.provenance.rows) or PEOPLE)
    decision = people * model.prior, people * (1 - model.prior)
    return Counts(
        model=model,
        decision=decision,
        attributes=tuple(
            tuple((decision[0] * a, decision[1] * b) for a, b in attribute.likelihood)
            for attribute in model.attributes
        ),
    )


def fair_card(
    source: ScorecardSpec, counts: Counts, criterion: Criterion, options: RepairOptions
) -> tuple[ScorecardSpec, Learned]:
    """The nearest scorecard in likelihood that is found and proved fair as it is written, and how it was.

    Parameters
    ----------
    counts : Counts
        Of its conforming population.
    options : RepairOptions
        Without conditions.

    Raises
    ------
    RepairError
        If no scorecard could be proved fair within the limits.
    """
    rules = (criterion, options.also) if options.also else (criterion,)
    aims, rounds, silent = list(rules), 0, options
    for _ in range(_ATTEMPTS):
        learned = learn(counts, aims[0], replace(silent, also=aims[1] if options.also else None))
        # Further attempts aim elsewhere, and what is told of their rounds would be about other thresholds.
        silent = replace(options, on_round=lambda state: None)
        card = written(source, counts.model, learned.model)
        model = card.classifier()
        missing = [_excess(model, rule, options.limits) for rule in rules]
        fair = max(missing) <= 0
        if fair:
            card = _nearer(source, card, counts, rules, options.limits)
        rounds += learned.rounds + 1
        learned = replace(learned, rounds=rounds)
        left = [0 if fair else count(card.classifier(), rule, options.limits) for rule in rules]
        likelihood = counts.log_likelihood(population_of(card))
        options.on_round(Round(rounds, learned.constraints, likelihood, *left))
        if fair:
            return card, learned
        aims = [
            replace(aim, threshold=aim.threshold - max(more, Fraction(0)) * _MORE)
            for aim, more in zip(aims, missing, strict=True)
        ]
        if any(aim.threshold <= 0 for aim in aims) or options.limits.expired():
            break
    spare = independent(counts)
    card = written(source, counts.model, spare)
    model = card.classifier()
    # It has the same points for every sensitive value, which no search is needed to see.
    if any(_excess(model, rule, DEFAULT) > 0 for rule in rules):
        raise RepairError("no scorecard could be proved fair as it is written, in its decimals")
    reason = "no nearer scorecard was proved fair as it is written"
    return card, replace(learned, model=spare, shortfall=reason)


def written(source: ScorecardSpec, before: NaiveBayes, after: NaiveBayes) -> ScorecardSpec:
    """The scorecard with what the repair of its population added to log-odds, in the decimals that it has."""
    moves: dict[str, dict[str, float]] = {}
    level: dict[str, Decimal] = {}
    undisclosed = dict(zip((a.name for a in source.attributes), source.imputed(), strict=True))
    for old, new in zip(before.attributes, after.attributes, strict=True):
        moves[old.name] = {
            label: _log_odds(*pair) - _log_odds(*first)
            for label, first, pair in zip(old.values, old.likelihood, new.likelihood, strict=True)
        }
        if all(a == b for a, b in new.likelihood) and any(a != b for a, b in old.likelihood):
            level[old.name] = undisclosed[old.name]
    prior = _log_odds(after.prior, 1 - after.prior) - _log_odds(before.prior, 1 - before.prior)
    return _moved(source, moves, level, prior)


def moves(spec: ScorecardSpec) -> tuple[PointsChange, ...]:
    """The numbers of a repaired scorecard that moved, in its order."""

    def found() -> Iterator[PointsChange]:
        if spec.intercept_before is not None:
            yield PointsChange(
                attribute=None, value=None, before=f"{spec.intercept_before:f}", after=f"{spec.intercept:f}"
            )
        for attribute in spec.attributes:
            for value in attribute.values:
                if value.before is not None:
                    yield PointsChange(
                        attribute=attribute.name,
                        value=value.label,
                        before=f"{value.before:f}",
                        after=f"{value.number:f}",
                    )

    return tuple(found())


def _moved(
    source: ScorecardSpec, moves: _Moves, level: Mapping[str, Decimal], intercept: float
) -> ScorecardSpec:
    """The scorecard with log-odds added; the values of attributes in ``level`` all count that instead."""
    unit, places = _unit(source), _places([v.number for a in source.attributes for v in a.values])
    tree = source.model_dump()
    for attribute in tree["attributes"]:
        attribute["undisclosed"] = attribute["undisclosed"] if source.meaning == "declared" else None
        own = moves.get(attribute["name"], {})
        for value in attribute["values"]:
            move, common = own.get(value.get("label", value["value"])), level.get(attribute["name"])
            if move is None or (common is None and abs(move) <= _STILL):
                continue
            moved = _CONTEXT.add(value[unit], _in_units(source, move)) if common is None else common
            number = _rounded(moved, places)
            if number != value[unit]:
                value[unit], value["before"] = number, value[unit]
    if abs(intercept) > _STILL:
        exact = _CONTEXT.add(source.intercept, _in_units(source, intercept))
        number = _rounded(exact, max(places, _places([source.intercept])))
        if number != source.intercept:
            tree["intercept"], tree["intercept_before"] = number, source.intercept
    return build_scorecard(tree, source.name)


def _nearer(
    source: ScorecardSpec, card: ScorecardSpec, counts: Counts, rules: Sequence[Criterion], limits: Limits
) -> ScorecardSpec:
    """Where decimals are coarse: the card with numbers nearer to what they were, as long as it is fair.

    Each step is kept that leaves the card fair and makes its population more likely.
    """
    unit, places = _unit(source), _places([v.number for a in source.attributes for v in a.values])
    step = Decimal(1).scaleb(-places)
    if abs(float(step * source.nats)) < _COARSE:
        return card
    best = counts.log_likelihood(population_of(card))
    improved = True
    while improved:
        improved = False
        for i, attribute in enumerate(card.attributes):
            for v in range(len(attribute.values)):
                tree = card.model_dump()
                value = tree["attributes"][i]["values"][v]
                if value.get("before") is None or limits.expired():
                    continue
                way = value["before"] - value[unit]
                value[unit] += min(abs(way), step).copy_sign(way)
                if value[unit] == value["before"]:
                    del value["before"]
                nearer = build_scorecard(tree, source.name)
                model = nearer.classifier()
                likelihood = counts.log_likelihood(_population(nearer, model))
                if likelihood > best and all(_excess(model, rule, limits) <= 0 for rule in rules):
                    card, best, improved = nearer, likelihood, True
    return card


def _excess(model: AdditiveModel, criterion: Criterion, limits: Limits) -> Fraction:
    """By how much the largest degree is above the threshold, or may be for all that could be proved."""
    tables = tables_of(model)
    if not tables.sensitive:
        return -criterion.threshold
    worst = worst_patterns(tables, criterion, limits=limits)
    found = abs(worst.patterns[0].degree) if worst.patterns else Fraction(0)
    return max(found, worst.upper) - criterion.threshold


def _unit(spec: ScorecardSpec) -> str:
    return "weight" if spec.scale is None else "points"


def _likelihood(joint: Sequence[Pair]) -> tuple[Pair, ...]:
    favourable, unfavourable = (sum((pair[side] for pair in joint), Fraction(0)) for side in (0, 1))
    return tuple((a / favourable, b / unfavourable) for a, b in joint)


def _log_odds(favourable: Fraction, unfavourable: Fraction) -> float:
    return log(favourable / unfavourable)


def _in_units(source: ScorecardSpec, move: float) -> Decimal:
    return _CONTEXT.divide(Decimal(move), source.nats)


def _places(numbers: Sequence[Decimal]) -> int:
    """The decimal places of numbers as they are written, as far as they are kept."""
    exponents = [number.normalize().as_tuple().exponent for number in numbers]
    return min(max(0, *(-e for e in exponents if isinstance(e, int))), _PLACES)


def _rounded(number: Decimal, places: int) -> Decimal:
    # Adding 0 takes the sign from a zero.
    return _CONTEXT.add(number.quantize(Decimal(1).scaleb(-places), context=_CONTEXT), 0)
