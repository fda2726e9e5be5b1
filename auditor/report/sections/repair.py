"""What a repair changed, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from auditor.choices import MethodName
from auditor.documents.criteria import WORDS as CRITERIA
from auditor.model.spec import RepairAlso, RepairConditions, RepairMargin, RepairRecord
from auditor.report.blocks import Block, Blocks, Facts, Heading, Items, Paragraph, Picture, Table, values
from auditor.report.figures import grouped, likelihood, percent, plural, rounded, share, signed, whole
from auditor.report.subject import Subject
from auditor.report.wording import move_table, whom

if TYPE_CHECKING:
    from auditor.documents.certificate import RepairFacts, ScorecardRepairFacts
    from auditor.documents.comparison import ParameterChange
    from auditor.documents.frontier import Frontier
    from auditor.documents.repair import (
        AlsoRecord,
        ConditionsRecord,
        MarginSummary,
        PointsChange,
        PredictionShift,
        ProofSummary,
        Repair,
    )

#: Characters of a number of a scorecard that is shown in full.
_LONGEST = 12

_METHODS: Mapping[MethodName, str] = {
    "fair": "the most likely parameters that were found without any discrimination pattern",
    "independent": "the most likely parameters with sensitive attributes independent of the decision",
    "independent-mean": "sensitive attributes made independent by the mean of their two distributions",
    "unconstrained": "the most likely parameters, which nothing constrains",
}


def section(subject: Subject) -> Blocks:
    """Make the section."""
    if subject.repair is None:
        return None
    model = subject.stated.model
    learned = (
        "The parameters of the model were learned again from the same counts."
        if model.undisclosed is None
        else "The population that conforms with the scorecard was learned again, and what that moved its "
        "log-odds by was added to the scorecard’s points, in the decimals that it has; the shares of the "
        "population stay. Log-likelihoods are of as many people as its provenance names, or of 1,000."
    )
    return [
        Paragraph(
            f"{learned} Being fair costs likelihood; the model whose decision does not depend on the "
            "sensitive attributes at all is the other end of the scale."
        ),
        *blocks(subject.repair, model.favourable, model.unfavourable, subject.moved),
    ]


#: Said of the rounds of a scorecard's repair.
_WRITTEN = (
    "The last round is the scorecard as it is written. Where its decimals bring patterns back, the repair "
    "aims a little below δ and begins again; of those rounds only the last is listed."
)


def blocks(
    record: Repair | RepairRecord,
    favourable: str,
    unfavourable: str,
    moved: Sequence[ParameterChange | PointsChange],
) -> list[Block]:
    """Say what a repair changed; ``moved`` are the parameters that moved most, or all points that did."""
    from auditor.documents.comparison import ParameterChange
    from auditor.documents.repair import PointsChange

    facts = [
        ("Parameters", _METHODS[record.method]),
        ("Threshold", f"δ = {record.delta}"),
        ("Criterion", CRITERIA[record.criterion].measured),
        *besides(record.also),
        *kept_to(record.conditions),
        ("Patterns before", _patterns(record, record.patterns_before)),
        ("Patterns after", _patterns(record, record.patterns_after)),
        ("Work", _work(record)),
        ("Digest before", f"sha256:{source(record)[:16]}…"),
    ]
    if not isinstance(record, RepairRecord):
        facts.append(("Digest after", f"sha256:{record.after.sha256[:16]}…"))
    made: list[Block] = [Facts(tuple(facts))]
    if record.shortfall:
        made.append(
            Paragraph(
                f"The search for a more likely fair model ended early: {record.shortfall}. This model is the "
                "most likely one that was proved fair."
            )
        )
    made += [
        Heading(f"Price in log-likelihood: {price(record)}", "price"),
        *_scale(record),
        _likelihoods(record),
    ]
    if record.margin is not None:
        made.append(Paragraph(margin(record.margin, str(record.delta))))
    if not isinstance(record, RepairRecord) and record.proof is not None:
        made.append(Paragraph(proved(record.proof, record)))
    if record.progress:
        made.append(
            Table(
                "Patterns left, by round",
                ("Round", "Constraints", "Log-likelihood", "Patterns left"),
                [
                    (f"{r.round:,}", f"{r.constraints:,}", likelihood(r.log_likelihood), whole(r.patterns))
                    for r in record.progress
                ],
                3,
                "rounds",
            )
        )
        if any(isinstance(move, PointsChange) for move in moved):
            made.append(Paragraph(_WRITTEN, "small"))
    parameters = [move for move in moved if isinstance(move, ParameterChange)]
    made += move_table(parameters, favourable, unfavourable, "The parameters that moved most")
    made += _points([move for move in moved if isinstance(move, PointsChange)])
    if not isinstance(record, RepairRecord):
        made += _predictions(record)
    return made


def besides(also: AlsoRecord | RepairAlso | None) -> Iterator[tuple[str, str]]:
    """By what a model is fair too, which a search of its own has proved."""
    if also is None:
        return
    before = ""
    if not isinstance(also, RepairAlso):
        before = f"; patterns by it before: {whole(also.patterns_before)}, after: 0"
    yield "Fair too at", f"δ = {also.delta}, by the {CRITERIA[also.criterion].measured}{before}"


def kept_to(own: ConditionsRecord | RepairConditions | None) -> Iterator[tuple[str, str]]:
    """What a model keeps to besides, which was checked exactly on what is written."""
    if own is None:
        return
    if own.keep:
        yield "Kept", f"{', '.join(own.keep)}: probabilities exactly those of the counts"
    if own.largest_change is not None:
        yield "Largest change", f"no probability is more than {own.largest_change} from the counts’"
    for names, word in ((own.rising, "fall"), (own.falling, "rise")):
        if names:
            yield (
                "Order of values",
                f"{', '.join(names)}: from one value to the next P(favourable) does not {word}, whatever "
                "else is disclosed",
            )


def moved(document: Repair) -> tuple[ParameterChange | PointsChange, ...]:
    """What a repair moved: parameters or, of a scorecard, points."""
    return (*document.parameters_moved, *document.points_moved)


def _points(moved: Sequence[PointsChange]) -> list[Block]:
    rows = [
        (move.attribute or "Intercept", move.value or "", _number(move.before), _number(move.after))
        for move in moved
    ]
    if not rows:
        return []
    heads = ("Attribute", "Value", "Before", "After")
    heading = "The points or weights that moved, as the scorecard’s file has them"
    return [Heading(heading, "points"), Table("", heads, rows, 2, "points")]


def _number(text: str) -> str:
    """A number of a scorecard in full, unless it is longer than anybody reads."""
    return text if len(text) <= _LONGEST else f"{Decimal(text):.9f}"


def proved(proof: ProofSummary, record: Repair) -> str:
    """What is proved of all other δ-fair models, whatever else they keep to, in one sentence."""
    # Upwards: less than what is proved may not be said.
    gap = rounded(proof.gap, rounding=ROUND_CEILING)
    part = "" if proof.share is None else f" ({percent(proof.share)} of what the repair costs)"
    whether = whether_or_not(record)
    said = f"No δ-fair model of these counts{whether} is more than {gap} nats likelier{part}: proved"
    branches = "1 branch" if proof.branches == 1 else f"{proof.branches:,} branches"
    return f"{said} in {branches}." if proof.closed else f"{said}; nearer than that is open after {branches}."


def whether_or_not(record: Repair | Frontier) -> str:
    """What a proof does not ask of the models that it bounds; nothing if nothing was asked besides δ."""
    asked = [
        *(["keeps to these conditions"] if record.conditions else []),
        *([f"is fair by the {record.also.criterion} too"] if record.also else []),
    ]
    return f", whether or not it {' and '.join(asked)}," if asked else ""


def margin(found: MarginSummary | RepairMargin, inner: str) -> str:
    """What the threshold of a repair was chosen for, in plain words."""
    low = float(found.at_least) if isinstance(found, RepairMargin) else found.probability[0]
    told = ""
    if not isinstance(found, RepairMargin):
        told = (
            f" Of {found.draws:,} that were drawn {found.delta_fair:,} are, each answered exactly: at least "
            f"{percent(low)}, at most {percent(found.probability[1])}, with 95% limits."
        )
        if not found.complete:
            told += " A larger threshold may do; the time ended the search."
    else:
        told = f" Draws show at least {percent(low)}, with a 95% limit."
    return (
        "The retraining risk was limited. A repaired model lies on the threshold of its repair, so that of "
        "the models that are learned next about half would be above it. So this one was repaired at "
        f"δ = {inner}: the next model, learned in the same way from as many people as this one describes and "
        f"not repaired, is to be δ-fair at δ = {found.delta} with a probability of at least "
        f"{percent(float(found.wanted))}.{told} One that is repaired again is δ-fair whatever is drawn."
    )


def certified(facts: RepairFacts | ScorecardRepairFacts) -> str:
    """From what a certified model was repaired, and what is proved of others."""
    from auditor.documents.certificate import RepairFacts

    after = facts.log_likelihood_after
    said = f"from the model sha256 {grouped(facts.source_sha256[:16])} …"
    if not isinstance(facts, RepairFacts) or facts.proof is None or after is None:
        return said
    gap = Decimal(facts.proof.bound) - Decimal(after)
    return (
        f"{said}; no δ-fair model of these counts is more than {gap} nats likelier, as the proof shows that "
        f"goes with this (sha256 {grouped(facts.proof.sha256[:16])} …)"
    )


def certified_price(facts: RepairFacts | ScorecardRepairFacts) -> str:
    """What the repair of a certified model cost."""
    from auditor.documents.certificate import ScorecardRepairFacts

    counts = "its counts"
    if isinstance(facts, ScorecardRepairFacts):
        counts = f"{whole(int(facts.people))} people of the population before"
    before, after = (
        "minus infinity" if text is None else f"{Decimal(text):,}"
        for text in (facts.log_likelihood_before, facts.log_likelihood_after)
    )
    return f"log-likelihood of {counts} {before} before the repair, {after} after it, in nats"


def source(record: Repair | RepairRecord) -> str:
    """The digest of the model that was repaired."""
    return record.source_sha256 if isinstance(record, RepairRecord) else record.before.sha256


def price(record: Repair | RepairRecord) -> str:
    """The share of the way to the independent model that the repair cost in log-likelihood."""
    way = _way(record) if isinstance(record, RepairRecord) else record.price
    return "none can be told" if way is None else f"{percent(way)} of the way to the independent model"


def _way(record: RepairRecord) -> float | None:
    found = record.log_likelihoods
    if found.unconstrained is None or found.repaired is None or found.independent is None:
        return None
    whole_way = found.unconstrained - found.independent
    if whole_way <= 0:
        return None
    return max(0.0, float((found.unconstrained - found.repaired) / whole_way))


def _patterns(record: Repair | RepairRecord, number: int | None) -> str:
    if isinstance(record, RepairRecord):
        return whole(number)
    if number is None:
        return f"not counted, among {whole(record.total_patterns)}"
    part = share(number, record.total_patterns)
    return f"{whole(number)} of {whole(record.total_patterns)} ({part}), counted exactly"


def _work(record: Repair | RepairRecord) -> str:
    if record.solver is None:
        return "closed form"
    rounds, constraints = plural(record.rounds, "round"), plural(record.constraints, "constraint")
    return f"{rounds}, {constraints}, solver {record.solver}"


def _scale(record: Repair | RepairRecord) -> list[Block]:
    found = record.log_likelihoods
    if found.unconstrained is None or found.independent is None or found.repaired is None:
        return []
    ends = float(found.independent), float(found.unconstrained)
    if not ends[0] < ends[1]:
        return []
    from auditor.report import charts

    says = "The repaired model between the independent and the unconstrained one, by log-likelihood."
    return [Picture("likelihood_scale", charts.Line.of(ends, float(found.repaired)), says)]


def _likelihoods(record: Repair | RepairRecord) -> Table:
    found = record.log_likelihoods
    rows = [
        (
            label,
            likelihood(value),
            "" if None in (found.unconstrained, value) else f"{found.unconstrained - value:,.4f}",  # type: ignore[operator]
        )
        for label, value in (
            ("Unconstrained", found.unconstrained),
            ("Repaired", found.repaired),
            ("Independent", found.independent),
            ("Independent, by the mean", found.independent_mean),
        )
    ]
    return Table("", ("Model", "Log-likelihood (nats)", "Lost (nats)"), rows, 2, "likelihoods")


def _predictions(record: Repair) -> list[Block]:
    made: list[Block] = []
    if record.predictions:
        made += [
            Heading("Predictions where the unconstrained model discriminates most", "predictions"),
            Items(tuple(_shift(shift, record) for shift in record.predictions)),
        ]
    if found := record.performance:
        rows = [
            (what, *(map(shown_as, both) if both else ("not defined", "not defined")))
            for what, both, shown_as in (("Accuracy", found.accuracy, percent), ("AUC", found.auc, rounded))
        ]
        caption = f"Predictions for {found.rows:,} rows of {found.data}"
        made += [Heading(caption, "performance"), Table("", ("", "Before", "After"), rows, 2, "tried")]
    return made


def _shift(shift: PredictionShift, record: Repair) -> str:
    """Both models' answers to one disclosure."""
    context, now_context = map(percent, shift.favourable_given_context)
    pattern, now_pattern = map(percent, shift.favourable_given_pattern)
    degree, now_degree = (signed(degree, record.delta) for degree in shift.degree)
    now = f"moves it from {now_context} to {now_pattern}"
    if now_context == now_pattern:
        now = f"leaves it at {now_context}"
    return (
        f"Disclosing {values(shift.sensitive_values)} moved P({record.after.favourable}) from {context} to "
        f"{pattern} (degree {degree}) and now {now} ({now_degree}) for {whom(shift.context_values)}."
    )
