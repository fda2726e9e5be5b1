"""Compares two certificates: parameters that moved, and patterns that went, came or got worse."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from auditor.certificate import form_checker, issuing
from auditor.certificate.scope import loosened, scope_changes, scope_of
from auditor.choices import Verdict
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
from auditor.documents.rounding import round_beside
from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import NaiveBayes
from auditor.search.changes import Answered, Changed, changes
from auditor.search.criteria import CRITERIA, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern
from auditor.search.question import Share
from auditor.search.ranges import in_box

if TYPE_CHECKING:
    from auditor.model.spec import ModelSpec

#: By so much the largest degree may grow from training to training without being a regression.
TOLERANCE = Share.of("0.001")
#: Patterns of each kind that are listed.
TOP = 10

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
    counted : ModelSpec, optional
        The new model's specification, for the likelihood of its counts.
    top : int
        How many patterns of each kind to list.
    tolerance : Share
        By so much the largest degree may grow without being a regression.
    """
    old_model, new_model = (carried(c.model.name, c.model.exact) for c in (before, after))
    moves: list[tuple[ParameterChange, bool]] = []
    found = changes(_answered(before, old_model), _answered(after, new_model), top, limits)
    likelihood = inside = None
    if before.box is not None:
        assert isinstance(old_model, NaiveBayes), "only their certificates have a box"
        inside = isinstance(new_model, NaiveBayes) and in_box(new_model, old_model, fraction_of(before.box))
    if isinstance(old_model, NaiveBayes) and isinstance(new_model, NaiveBayes):
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
        inside_box=inside,
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
        gone=_listed(found.gone, old_model, new_model),
        new=_listed(found.new, old_model, new_model),
        worse=_listed(found.worse, old_model, new_model),
        log_likelihood=likelihood,
    )


def _answered(certificate: Certificate, model: Classifier) -> Answered:
    known = certificate.pattern_count if certificate.min_probability is None else None
    criterion = CRITERIA[certificate.criterion](fraction_of(certificate.delta))
    return Answered(model, criterion, None if known is None else int(known))


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
        box=certificate.box,
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


def _listed(found: Changed, before: Classifier, after: Classifier) -> PatternChanges:
    """Patterns that changed in one way, their degrees rounded to their side of the threshold."""
    return PatternChanges(
        count=found.count,
        reason=found.reason,
        top=tuple(_change(before, after, *pair) for pair in found.patterns),
    )


def _change(old: Classifier, new: Classifier, before: Pattern | None, after: Pattern | None) -> PatternChange:
    model, named = (old, before) if before else (new, after)
    assert named is not None
    return PatternChange(
        sensitive_values=labels(model, named.sensitive_values),
        context_values=labels(model, named.context_values),
        degree_before=round_beside(before.degree, before.criterion.threshold) if before else None,
        degree_after=round_beside(after.degree, after.criterion.threshold) if after else None,
        probability_before=_probability(before),
        probability_after=_probability(after),
    )


def _probability(pattern: Pattern | None) -> float | None:
    """How probable a pattern is; None where there is none, or no population is assumed."""
    return float(pattern.probability) if pattern and pattern.people else None


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
