"""Compares two certificates: parameters that moved, and patterns that went, came or got worse."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from auditor.certificate import form_checker, issuing
from auditor.certificate.overlap import Overlap, Side, overlap, shared_labels, worst_lost
from auditor.certificate.scope import loosened, scope_changes, scope_of
from auditor.choices import Verdict
from auditor.documents.audit import round_beside
from auditor.documents.certificate import Certificate
from auditor.documents.comparison import (
    CertificateSide,
    Comparison,
    Likelihood,
    ParameterChange,
    PatternChange,
    PatternChanges,
)
from auditor.documents.parameters import carried, fraction_of
from auditor.documents.record import labels
from auditor.model.naive_bayes import NaiveBayes
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.log_odds import merged
from auditor.search.additive.tables import naive_bayes_of, tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import CRITERIA, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern, measure
from auditor.search.question import Share

if TYPE_CHECKING:
    from auditor.model.spec import ModelSpec

#: By so much the largest degree may grow from training to training without being a regression.
TOLERANCE = Share.of("0.001")
#: Patterns of each kind that are listed.
TOP = 10
#: So many of the worst patterns of a model are looked through for those that changed.
_LOOKED_THROUGH = 1000
#: Why patterns and parameters of other families are not compared.
_SCORECARDS = "patterns are compared one by one between naive Bayes models only"

_RANKS: dict[Verdict, int] = {"delta-fair": 0, "inconclusive": 1, "not-delta-fair": 2}

_Given = Literal["favourable", "unfavourable"]
_SIDES: tuple[_Given, _Given] = ("favourable", "unfavourable")


def compare(
    before: Certificate,
    after: Certificate,
    *,
    counted: ModelSpec | None = None,
    top: int = TOP,
    tolerance: Share = TOLERANCE,
    limits: Limits = DEFAULT,
) -> Comparison:
    """Compare two certificates by the exact models that they carry.

    A pattern counts as gone, new or worse by the question that each certificate answers, apart from a minimum
    probability: changes are counted over patterns of any probability.

    Parameters
    ----------
    before, after : Certificate
    counted : ModelSpec, optional
        The new model's specification, for the likelihood of its counts.
    top : int
        How many patterns of each kind to list.
    tolerance : Share
        By so much the largest degree may grow without being a regression.
    limits : Limits
    """
    old_model, new_model = (carried(c.model.name, c.model.exact) for c in (before, after))
    moves: list[tuple[ParameterChange, bool]] = []
    gone = fresh = worse = PatternChanges(count=None, reason=_SCORECARDS, top=())
    likelihood = None
    if isinstance(old_model, NaiveBayes) and isinstance(new_model, NaiveBayes):
        old, new = _side(before, old_model), _side(after, new_model)
        gone, fresh, worse = _pattern_changes(before, after, old, new, top, limits)
        moves = list(_parameters(old_model, new_model))
        likelihood = _likelihood(counted, old_model, new_model) if counted else None
    old_values, new_values = (
        {a.name: a.values for a in model.attributes} for model in (old_model, new_model)
    )
    supersedes = after.supersedes
    regressed, regressions = _regression(before, after, tolerance)
    return Comparison(
        before=_named(before, supersedes.sha256 if supersedes and supersedes.id == before.id else None),
        after=_named(after),
        scope_changes=scope_changes(scope_of(before), scope_of(after)),
        scope_change_reason=supersedes.scope_change_reason if supersedes else None,
        tolerance=tolerance.text,
        regressed=regressed,
        regressions=regressions,
        attributes_added=tuple(name for name in new_values if name not in old_values),
        attributes_removed=tuple(name for name in old_values if name not in new_values),
        values_changed=tuple(
            name for name in old_values if name in new_values and old_values[name] != new_values[name]
        ),
        parameters_compared=len(moves),
        parameters_moved=tuple(
            sorted(
                (change for change, moved in moves if moved),
                key=lambda change: -abs(change.after - change.before),
            )
        ),
        gone=gone,
        new=fresh,
        worse=worse,
        log_likelihood=likelihood,
    )


def _side(certificate: Certificate, model: NaiveBayes) -> Side:
    return Side(tables_of(model), CRITERIA[certificate.criterion](fraction_of(certificate.delta)))


def _named(certificate: Certificate, sha256: str | None = None) -> CertificateSide:
    """One side; its digest is that of its content, unless the other certificate names it."""
    return CertificateSide(
        id=certificate.id,
        sha256=sha256 or form_checker.digest(issuing.tree(certificate)),
        model=certificate.model.name,
        model_sha256=certificate.model.sha256,
        favourable=certificate.decision.favourable,
        verdict=certificate.verdict,
        criterion=certificate.criterion,
        delta=certificate.delta,
        min_probability=certificate.min_probability,
        max_degree=(certificate.max_degree.lower, certificate.max_degree.upper),
        pattern_count=None if certificate.pattern_count is None else int(certificate.pattern_count),
        total_patterns=int(certificate.total_patterns),
    )


def _regression(
    before: Certificate, after: Certificate, tolerance: Share
) -> tuple[bool | None, tuple[str, ...]]:
    """Whether the model or the question got worse, from what is proved of both, and in what ways."""
    found, unknown = [], False
    if _RANKS[after.verdict] > _RANKS[before.verdict]:
        found.append(f"the verdict was {before.verdict} and is {after.verdict}")
    was, asked = scope_of(before), scope_of(after)
    if loosened(was, asked):
        found.append("the question was loosened")
    if (was.criterion, was.min_probability) == (asked.criterion, asked.min_probability):
        (low, high), (new_low, new_high) = map(_ends, (before, after))
        if high <= fraction_of(was.delta) < new_low:
            found.append(f"the largest degree crossed {was.delta}")
        if new_low > high + tolerance.value:
            found.append(f"the largest degree grew by more than {tolerance.text}")
        elif new_high > low + tolerance.value:
            unknown = True
    return (True if found else None if unknown else False), tuple(found)


def _ends(certificate: Certificate) -> tuple[Fraction, Fraction]:
    """What was found and what was proved of the largest degree."""
    told = certificate.max_degree
    lower, upper = (told.lower, told.upper) if told.exact is None else (told.exact, told.exact)
    return fraction_of(lower), fraction_of(upper)


def _parameters(old: NaiveBayes, new: NaiveBayes) -> Iterator[tuple[ParameterChange, bool]]:
    """Each probability that both models have, and whether it moved."""
    prior = ParameterChange(
        attribute=None, value=None, given=None, before=float(old.prior), after=float(new.prior)
    )
    yield prior, old.prior != new.prior
    others = {attribute.name: attribute for attribute in new.attributes}
    for attribute in old.attributes:
        if attribute.name not in others:
            continue
        other = others[attribute.name]
        for label, row in zip(attribute.values, attribute.likelihood, strict=True):
            if label not in other.values:
                continue
            new_row = other.likelihood[other.values.index(label)]
            for given, p, q in zip(_SIDES, row, new_row, strict=True):
                change = ParameterChange(
                    attribute=attribute.name, value=label, given=given, before=float(p), after=float(q)
                )
                yield change, p != q


def _pattern_changes(
    before: Certificate, after: Certificate, old: Side, new: Side, top: int, limits: Limits
) -> tuple[PatternChanges, PatternChanges, PatternChanges]:
    """Patterns that are gone, new and worse."""
    counts = [_count(certificate, side, limits) for certificate, side in ((before, old), (after, new))]
    common = (
        Overlap(0, 0)
        if 0 in counts
        else Overlap(None, None, *["not all patterns of both models could be counted"] * 2)
        if None in counts
        else overlap(old, new, limits)
    )
    gone_count, new_count = (
        None if count is None or common.both is None else count - common.both for count in counts
    )
    reason = None if gone_count is not None and new_count is not None else common.both_reason
    gone = _lost(old, new, top, gone_count, limits)
    fresh = _lost(new, old, top, new_count, limits)
    worse = [
        (mine, other)
        for mine, other in (_worst(new, old, limits) if common.worse != 0 else ())
        if other is not None and old.criterion.threshold < abs(other.degree) < abs(mine.degree)
    ][:top]
    return (
        PatternChanges(
            count=gone_count,
            reason=reason,
            top=tuple(_change(old, mine, mine, other) for mine, other in gone),
        ),
        PatternChanges(
            count=new_count,
            reason=reason,
            top=tuple(_change(new, mine, other, mine) for mine, other in fresh),
        ),
        PatternChanges(
            count=common.worse,
            reason=common.worse_reason,
            top=tuple(_change(new, mine, other, mine) for mine, other in worse),
        ),
    )


def _count(certificate: Certificate, side: Side, limits: Limits) -> int | None:
    if certificate.min_probability is None and certificate.pattern_count is not None:
        return int(certificate.pattern_count)
    return count_patterns(side.tables, side.criterion, limits).total


def _worst(side: Side, other: Side, limits: Limits) -> Iterator[tuple[Pattern, Pattern | None]]:
    """The worst patterns of one model, and the same ones of the other."""
    found = worst_patterns(side.tables, side.criterion, _LOOKED_THROUGH, only_patterns=True, limits=limits)
    for pattern in found.patterns:
        yield pattern, _measured(side, other, pattern)


def _lost(
    side: Side, other: Side, top: int, count: int | None, limits: Limits
) -> list[tuple[Pattern, Pattern | None]]:
    """The worst patterns of one model that are none of the other, by its parameters or by its values."""
    if count == 0:
        return []
    model = naive_bayes_of(side.tables)
    here = (measure(model, side.criterion, x, y) for x, y in worst_lost(side, other, top, limits))
    pairs = [(pattern, _measured(side, other, pattern)) for pattern in here]
    by_values = {
        (mine.sensitive_values, mine.context_values): (mine, theirs)
        for mine, theirs in (*pairs, *_worst(side, other, limits))
        if abs(mine.degree) > side.criterion.threshold
        and (theirs is None or abs(theirs.degree) <= other.criterion.threshold)
    }
    return sorted(by_values.values(), key=lambda pair: (-abs(pair[0].degree), pair[0].key))[:top]


def _measured(side: Side, other: Side, pattern: Pattern) -> Pattern | None:
    """The same pattern in the other model; None if it has no such values, or they never occur together."""
    moved = shared_labels(side, other, pattern.sensitive_values, pattern.context_values)
    if moved is None or not sum(naive_bayes_of(other.tables).joint(merged(*moved))):
        return None
    return measure(naive_bayes_of(other.tables), other.criterion, *moved)


def _change(side: Side, mine: Pattern, before: Pattern | None, after: Pattern | None) -> PatternChange:
    model, threshold = naive_bayes_of(side.tables), side.criterion.threshold
    return PatternChange(
        sensitive_values=labels(model, mine.sensitive_values),
        context_values=labels(model, mine.context_values),
        degree_before=round_beside(before.degree, threshold) if before else None,
        degree_after=round_beside(after.degree, threshold) if after else None,
        probability_before=float(before.probability) if before else None,
        probability_after=float(after.probability) if after else None,
    )


def _likelihood(spec: ModelSpec, old: NaiveBayes, new: NaiveBayes) -> Likelihood | None:
    """``Σ n ln P`` over the counts of a specification, by the old and by the new parameters."""
    counts = spec.decision.counts
    rows = {attribute.name: attribute for attribute in old.attributes}
    same = len(rows) == len(spec.attributes) and all(
        attribute.counts is not None
        and attribute.name in rows
        and rows[attribute.name].values == attribute.labels
        for attribute in spec.attributes
    )
    if counts is None or not same:
        return None

    def of(model: NaiveBayes) -> float | None:
        terms = [(counts.favourable, model.prior), (counts.unfavourable, 1 - model.prior)]
        by_name = {attribute.name: attribute.likelihood for attribute in model.attributes}
        for attribute in spec.attributes:
            assert attribute.counts is not None
            for column, numbers in enumerate((attribute.counts.favourable, attribute.counts.unfavourable)):
                likelihood = (row[column] for row in by_name[attribute.name])
                terms.extend(zip(numbers, likelihood, strict=True))
        if any(number and not p for number, p in terms):
            return None
        return float(sum(number * ln(p) for number, p in terms if number))

    return Likelihood(old_parameters=of(old), new_parameters=of(new))
