"""Issues certificates: answers the question exactly and writes down what was shown, and no more."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any, Literal

import rfc8785

from auditor.certificate import claims
from auditor.certificate.policy import Terms
from auditor.choices import CriterionName, Verdict
from auditor.documents.audit import ToolRecord
from auditor.documents.certificate import (
    Certificate,
    CertifiedModel,
    Coverage,
    Decision,
    MaxDegree,
    Provenance,
    SensitiveAttribute,
    Supersedes,
    Witness,
)
from auditor.documents.parameters import exact_model, fraction_of, fraction_text, outward
from auditor.documents.record import labels
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.spec import ModelSpec
from auditor.search.additive.counting import Coverage as SearchCoverage
from auditor.search.additive.counting import PatternCount, count_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern
from auditor.search.verdict import decide, worst_in_scope

#: Above so many sensitive attributes the sets of them are not listed: there are 2^n - 1.
MAX_LISTED = 12

_METHODS: dict[str, Literal["closed form", "exhausted", "bounded"]] = {
    "closed form": "closed form",
    "exhausted": "exhausted",
    "bounded": "bounded",
}
_UNDECIDED = "the search reached a limit of time or memory before it was decided"

_CRITERIA: dict[CriterionName, type[Difference] | type[Ratio]] = {"difference": Difference, "ratio": Ratio}


@dataclass(frozen=True)
class Answer:
    """What is known of the largest |degree| in scope and of the number of patterns.

    Attributes
    ----------
    witness : Pattern or None
        The worst pattern found; None if no pattern is in scope.
    upper : Fraction
        Proved upper bound on every |degree|.
    verdict : str
    count : int or None
    count_reason : str or None
        Why there is no count.
    coverage : tuple of Coverage or None
    """

    witness: Pattern | None
    upper: Fraction
    verdict: Verdict
    count: int | None
    count_reason: str | None
    coverage: tuple[Coverage, ...] | None

    @property
    def lower(self) -> Fraction:
        """The largest |degree| that was found."""
        return abs(self.witness.degree) if self.witness else Fraction(0)


def criterion_of(name: CriterionName, delta: str) -> Criterion:
    """The criterion with its exact threshold."""
    return _CRITERIA[name](fraction_of(delta))


def answer(
    model: NaiveBayes, criterion: Criterion, least: Fraction | None = None, limits: Limits = DEFAULT
) -> Answer:
    """Decide whether a model is δ-fair, by the search for the worst pattern and by the count of all of them.

    Parameters
    ----------
    model : NaiveBayes
    criterion : Criterion
    least : Fraction, optional
        Only patterns that are at least so probable are in scope.
    limits : Limits
    """
    tables = tables_of(model)
    worst = worst_in_scope(tables, criterion, least, limits)
    unasked = "patterns of a minimum probability are searched, not counted"
    counted = PatternCount(0, model.total_patterns(), unasked, ())
    if least is None:
        counted = count_patterns(tables, criterion, limits)
    decision = decide(tables, criterion, worst.patterns, worst.upper, counted.total)
    reason = counted.reason if decision.count is None else None
    return Answer(
        witness=decision.witness,
        upper=decision.upper,
        verdict=decision.verdict,
        count=decision.count,
        count_reason=reason,
        coverage=_coverage(model, criterion, counted)
        if decision.count is not None and least is None
        else None,
    )


def _coverage(model: NaiveBayes, criterion: Criterion, counted: PatternCount) -> tuple[Coverage, ...] | None:
    """How each set of sensitive attributes was decided; without a count all are free of patterns."""
    if len(model.sensitive) > MAX_LISTED:
        return None
    entries = counted.coverage
    if counted.total is None:
        sizes = [len(attribute.values) for attribute in model.attributes]
        entries = tuple(
            SearchCoverage(
                disclosed=disclosed,
                method="closed form" if _is_closed(model, criterion, disclosed) else "bounded",
                pairs=prod(m if i in disclosed else 1 + m for i, m in enumerate(sizes)),
                lower=0,
                upper=0,
            )
            for size in range(1, len(model.sensitive) + 1)
            for disclosed in combinations(model.sensitive, size)
        )
    return tuple(
        Coverage(
            disclosed=tuple(model.attributes[i].name for i in entry.disclosed),
            method=_METHODS[entry.method],
            pairs=str(entry.pairs),
            patterns=str(entry.patterns),
        )
        for entry in entries
    )


def _is_closed(model: NaiveBayes, criterion: Criterion, disclosed: tuple[int, ...]) -> bool:
    """Whether the extreme ratios of likelihoods settle every x over these attributes (the paper's lemma)."""
    rows = [model.attributes[i].likelihood for i in disclosed]
    if any(a == 0 or b == 0 for row in rows for a, b in row):
        return criterion.threshold >= 1
    one = Fraction(1)
    extremes = (prod((choose(a / b for a, b in row) for row in rows), start=one) for choose in (min, max))
    return all(criterion.supremum_within(ratio, one, criterion.threshold) for ratio in extremes)


def issue(
    spec: ModelSpec,
    terms: Terms,
    *,
    issued: date,
    valid_from: date | None = None,
    supersedes: Supersedes | None = None,
    platform: str | None = None,
    limits: Limits = DEFAULT,
) -> Certificate:
    """Certify what can be shown of a model.

    The same model, terms and dates give the same certificate on every run and machine, unless a limit of time
    bit or the platform is to be recorded.

    Parameters
    ----------
    spec : ModelSpec
    terms : Terms
    issued : date
    valid_from : date, optional
        The day of issue if not given.
    supersedes : Supersedes, optional
    platform : str, optional
        Recorded as it is.
    limits : Limits

    Raises
    ------
    InputError
        If the terms name an attribute that the model hasn't, or the dates can't be.
    """
    start = issued if valid_from is None else valid_from
    if start < issued:
        raise InputError(
            f"valid from {start}: a certificate can't hold before the day of its issue, {issued}"
        )
    try:
        expires = start + timedelta(days=terms.valid_days)
    except OverflowError as error:
        raise InputError(f"valid from {start}: {terms.valid_days} days later there is no date") from error
    sensitive = sensitive_attributes(spec, terms)
    model = marked(spec.naive_bayes(), [item.name for item in sensitive])
    least = None if terms.min_probability is None else fraction_of(terms.min_probability)
    found = answer(model, criterion_of(terms.criterion, terms.delta), least, limits)
    lower, upper = outward(found.lower, min(found.upper, Fraction(1)), terms.delta)
    certificate = Certificate(
        id="0" * 32,
        issued=issued,
        valid_from=start,
        expires=expires,
        supersedes=supersedes,
        issuer=terms.issuer,
        responsible=terms.responsible,
        claim=claims.claim(
            name=model.name,
            favourable=model.favourable,
            sensitive=[item.name for item in sensitive],
            criterion=terms.criterion,
            delta=terms.delta,
            min_probability=terms.min_probability,
            verdict=found.verdict,
        ),
        verdict=found.verdict,
        criterion=terms.criterion,
        delta=terms.delta,
        min_probability=terms.min_probability,
        policy=terms.policy,
        decision=Decision(name=model.decision, favourable=model.favourable, unfavourable=model.unfavourable),
        sensitive_attributes=sensitive,
        max_degree=MaxDegree(
            exact=fraction_text(found.lower) if found.lower == found.upper else None, lower=lower, upper=upper
        ),
        witness=_witness(model, found.witness) if found.witness else None,
        pattern_count=None if found.count is None else str(found.count),
        pattern_count_reason=found.count_reason,
        total_patterns=str(model.total_patterns()),
        coverage=found.coverage,
        inconclusive_reason=_UNDECIDED if found.verdict == "inconclusive" else None,
        assumptions=claims.ASSUMPTIONS,
        limits=claims.LIMITS,
        method=claims.METHOD,
        platform=platform,
        tool=ToolRecord(),
        model=CertifiedModel(
            name=model.name, sha256=model.sha256(), exact=exact_model(model), provenance=_provenance(spec)
        ),
    )
    return certificate.model_copy(update={"id": id_of(tree(certificate))})


def tree(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate as plain JSON data."""
    return certificate.model_dump(mode="json")


def id_of(certificate: Mapping[str, Any]) -> str:
    """Return the identifier that follows from the content: the same content has the same."""
    content = {name: value for name, value in certificate.items() if name != "id"}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()[:32]


def sha256(certificate: Certificate) -> str:
    """Return the digest by which another certificate names this one, signed or not."""
    return hashlib.sha256(rfc8785.dumps(tree(certificate))).hexdigest()


def sensitive_attributes(spec: ModelSpec, terms: Terms) -> tuple[SensitiveAttribute, ...]:
    """Return the attributes to protect, in the order of the model, with the reasons given for them.

    Raises
    ------
    InputError
        If the terms name an attribute that the model hasn't; with one line for each.
    """
    marked_here = {
        attribute.name: SensitiveAttribute(name=attribute.name, reason=attribute.sensitive_reason)
        for attribute in spec.attributes
        if attribute.sensitive
    }
    if terms.sensitive is None:
        return tuple(marked_here.values())
    names = [attribute.name for attribute in spec.attributes]
    wanted = {item.name: item for item in terms.sensitive}
    if missing := [name for name in wanted if name not in names]:
        known = ", ".join(map(shown, names[:20]))
        raise InputError(
            f"{terms.source}: the model has no {shown(name)}; it has {known}" for name in missing
        )
    return tuple(
        wanted[name] if wanted[name].reason or name not in marked_here else marked_here[name]
        for name in names
        if name in wanted
    )


def marked(model: NaiveBayes, sensitive: Collection[str]) -> NaiveBayes:
    """Return the model with exactly these attributes marked as sensitive."""
    return replace(
        model, attributes=tuple(replace(a, sensitive=a.name in sensitive) for a in model.attributes)
    )


def _witness(model: NaiveBayes, pattern: Pattern) -> Witness:
    return Witness(
        sensitive_values=labels(model, pattern.sensitive_values),
        context_values=labels(model, pattern.context_values),
        degree=fraction_text(pattern.degree),
        probability=fraction_text(pattern.probability),
        favourable_given_pattern=fraction_text(pattern.favourable_given_pattern),
        favourable_given_context=fraction_text(pattern.favourable_given_context),
    )


def _provenance(spec: ModelSpec) -> Provenance:
    given = spec.provenance
    return Provenance(
        description=given.description if given else None,
        owner=given.owner if given else None,
        model_version=given.model_version if given else None,
        data_source=given.data_source if given else None,
        period=given.period if given else None,
        rows=str(given.rows) if given and given.rows is not None else None,
    )
