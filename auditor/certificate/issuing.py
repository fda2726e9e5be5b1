"""Issues certificates: writes down what an answer shows of an exact model, and no more."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeVar

import rfc8785

from auditor.certificate import claims, form_checker
from auditor.certificate.policy import Terms
from auditor.choices import MethodName
from auditor.documents.certificate import (
    Certificate,
    CertifiedModel,
    Coverage,
    Decision,
    DecisionWeights,
    Family,
    MaxDegree,
    ProofFacts,
    Provenance,
    RepairFacts,
    RepairWeights,
    ScorecardRepairFacts,
    ScoredNumbers,
    SensitiveAttribute,
    Supersedes,
    Witness,
)
from auditor.documents.parameters import (
    exact_model,
    exact_scorecard,
    fraction_of,
    fraction_text,
    outward,
)
from auditor.documents.policy import share_text
from auditor.documents.record import ToolRecord, labels
from auditor.documents.rounding import decimal_text
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.additive import AdditiveModel
from auditor.model.classifier import Classifier, has_population
from auditor.model.exponentials import power
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.search.answer import Answer, is_probable, measured, rounded
from auditor.search.criteria import CRITERIA
from auditor.search.pattern import Pattern
from auditor.search.question import Question

#: Above so many sensitive attributes the sets of them are not listed: there are 2^n - 1.
MAX_LISTED = 12

#: Logarithms of counts of 100 digits are right far beyond the six places that are written.
_CONTEXT = Context(prec=150, Emax=10**9, Emin=-(10**9))

#: Decimal places of the numbers of a scorecard's witness.
_PLACES = 20

#: Of so many people of a scorecard's population a log-likelihood is, where its provenance doesn't say.
_PEOPLE = 1000

Model = TypeVar("Model", NaiveBayes, AdditiveModel, NaiveBayes | AdditiveModel)


def check(spec: ModelSpec | ScorecardSpec) -> None:
    """Refuse what no certificate can say, before any work is done.

    That is a model whose numbers together are too long.

    Raises
    ------
    InputError
    """
    model = exact_of(spec)
    rows: list[list[Fraction]]
    if isinstance(model, AdditiveModel):
        rows = [[*a.weights, *(a.population or ())] for a in model.attributes]
    else:
        rows = [[p for row in a.likelihood for p in row] for a in model.attributes]
    longest = sum(max(len(fraction_text(p)) for p in row) for row in rows)
    if longest > form_checker.MODEL_LIMIT:
        raise InputError(
            f"{escaped(spec.name)}: its longest probabilities have {longest:,} characters together; a "
            f"certificate holds {form_checker.MODEL_LIMIT:,}; give them fewer digits"
        )


def issue(
    spec: ModelSpec | ScorecardSpec,
    terms: Terms,
    answer: Answer,
    *,
    source: ModelSpec | ScorecardSpec | None = None,
    proof: ProofFacts | None = None,
    issued: date,
    valid_from: date | None = None,
    supersedes: Supersedes | None = None,
    platform: str | None = None,
) -> Certificate:
    """Certify what an answer shows of a model.

    The same model, answer, terms and dates give the same certificate on every run and machine, unless the
    platform is to be recorded.

    Parameters
    ----------
    answer : Answer
        To the question of the terms about this model, and about a box around it if one is to be certified.
    source : ModelSpec or ScorecardSpec, optional
        The model before the repair, of a repaired one.
    proof : ProofFacts, optional
        What is proved of all models of its counts, of a repaired one.
    valid_from : date, optional
        The day of issue if not given.
    platform : str, optional
        Recorded as it is.

    Raises
    ------
    InputError
        If the dates can't be, or something is too long for a certificate.
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
    model, question, verdict = answer.model, answer.question, answer.verdict
    family: Family = "naive-bayes" if isinstance(model, NaiveBayes) else "scorecard"
    meaning = model.undisclosed if isinstance(model, AdditiveModel) else None
    delta, least = question.delta.text, question.min_probability.text if question.min_probability else None
    witness = answer.largest.witness or _any_pair(answer)
    degree = _degree(answer, witness) if witness else Fraction(0)
    lower, upper = outward(degree, min(answer.largest.upper, Fraction(1)), delta)
    count = 0 if verdict == "delta-fair" else answer.count.total
    sensitive = sensitive_attributes(spec, terms, model)
    box = _box(spec, answer)
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
            criterion=question.criterion_name,
            delta=delta,
            min_probability=least,
            verdict=verdict,
            undisclosed=meaning,
            box=box,
        ),
        verdict=verdict,
        criterion=question.criterion_name,
        box=box,
        delta=delta,
        min_probability=least,
        policy=terms.policy,
        decision=Decision(name=model.decision, favourable=model.favourable, unfavourable=model.unfavourable),
        sensitive_attributes=sensitive,
        max_degree=MaxDegree(
            exact=fraction_text(degree)
            if family == "naive-bayes" and degree == answer.largest.upper
            else None,
            lower=lower,
            upper=upper,
        ),
        witness=_witness(model, witness) if witness else None,
        pattern_count=None if count is None else str(count),
        pattern_count_reason=claims.NOT_COUNTED if count is None else None,
        total_patterns=str(model.total_patterns()),
        coverage=None if count is None or least is not None else coverage(answer),
        inconclusive_reason=claims.UNDECIDED if verdict == "inconclusive" else None,
        assumptions=claims.assumptions(meaning),
        limits=claims.limits(box),
        method=claims.METHOD[family],
        platform=platform,
        tool=ToolRecord(),
        model=CertifiedModel(
            name=model.name,
            sha256=model.sha256(),
            family=family,
            exact=exact_model(model) if isinstance(model, NaiveBayes) else exact_scorecard(model),
            repair=None if source is None else repair_facts(spec, source, model, proof),
            provenance=_provenance(spec),
        ),
    )
    certificate = certificate.model_copy(update={"id": id_of(tree(certificate))})
    try:
        # Nothing is issued that a verifier would not read.
        form_checker.read(rfc8785.dumps(tree(certificate)))
    except ValueError as error:
        raise InputError(
            f"{escaped(spec.name)}: no certificate can say this: {escaped(str(error))}"
        ) from error
    return certificate


def exact_of(spec: ModelSpec | ScorecardSpec) -> Classifier:
    """The exact model of a specification."""
    return spec.naive_bayes() if isinstance(spec, ModelSpec) else spec.classifier()


def _box(spec: ModelSpec | ScorecardSpec, answer: Answer) -> str | None:
    """The size of the box whose models are all δ-fair, if the answer is about one.

    Raises
    ------
    InputError
        If they aren't, or that isn't proved.
    """
    for models, found, _ in answer.how_far.sets if answer.how_far else ():
        if found.verdict != "all-delta-fair":
            shown = "was not decided" if found.verdict == "inconclusive" else "is not so"
            raise InputError(
                f"{escaped(spec.name)}: box {models.size}: that every model in it is δ-fair at δ = "
                f"{answer.question.delta.text} {shown}, and no certificate is issued; auditor audit "
                "--largest-box finds up to which size it is"
            )
        return share_text(models.size)
    return None


def _degree(answer: Answer, witness: Pattern) -> Fraction:
    """The |degree| of a pattern, a decimal of a certificate exactly if it is one.

    Of scorecards it is rounded towards 0, unless it ties with the threshold: so it is measured against the
    next decimal, onto which it may have been rounded from, until it is not above that.
    """
    degree, question = abs(witness.degree), answer.question
    while True:
        _, above = outward(degree, degree, question.delta.text)
        nearest = CRITERIA[question.criterion_name](fraction_of(above))
        of = measured(answer.model, nearest, witness.sensitive_values, witness.context_values)
        degree = max(degree, abs(of.degree))
        if degree <= nearest.threshold:
            return degree


def _any_pair(answer: Answer) -> Pattern | None:
    """The most probable pair that discloses one sensitive value, of a δ-fair model.

    Where no population is assumed, none is more probable than another.
    """
    model, least, criterion = answer.model, answer.question.min_probability, answer.question.criterion
    if answer.verdict != "delta-fair":
        return None
    values = [((i, v),) for i in model.sensitive for v in range(len(model.attributes[i].values))]
    if not has_population(model):
        return measured(model, criterion, values[0], ())
    if least:
        values = [x for x in values if is_probable(model, x, least.value)]
    return measured(model, criterion, max(values, key=lambda x: sum(model.joint(x))), ())


def coverage(answer: Answer) -> tuple[Coverage, ...] | None:
    """How each set of sensitive attributes was decided, where there are not too many of them."""
    model = answer.model
    if len(model.sensitive) > MAX_LISTED:
        return None
    return tuple(
        Coverage(
            disclosed=tuple(model.attributes[i].name for i in entry.disclosed),
            # An enclosure whose ends meet has counted each.
            method="exhausted" if entry.method == "enclosed" else entry.method,
            pairs=str(entry.pairs),
            patterns=str(entry.lower),
        )
        for entry in answer.count.coverage
    )


def repair_facts(
    spec: ModelSpec | ScorecardSpec,
    source: ModelSpec | ScorecardSpec,
    model: Classifier,
    proof: ProofFacts | None = None,
) -> RepairFacts | ScorecardRepairFacts:
    """From what a model was repaired, and what it cost: the likelihood before and after.

    Parameters
    ----------
    spec, source : ModelSpec or ScorecardSpec
        The repaired model, and the one before: that of its counts, or with the numbers that it had.
    model : NaiveBayes or AdditiveModel
        The repaired one with the sensitive attributes of the certificate.
    proof : ProofFacts, optional
        Of naive Bayes only.

    Raises
    ------
    InputError
        If the record of the repair names another model.
    """
    assert spec.repair is not None, "the caller has seen to it"
    before = exact_of(source)
    if before.sha256() != spec.repair.source_sha256:
        remedy = "repair it again"
        if isinstance(source, ScorecardSpec):
            remedy += ', from a scorecard in which what isn\'t disclosed ("undisclosed") has no numbers'
        raise InputError(
            f"{escaped(spec.name)}: repair: source_sha256 is not the digest of the model before the repair, "
            f"as the file gives it; {remedy}"
        )
    sensitive = [model.attributes[i].name for i in model.sensitive]
    if isinstance(source, ModelSpec):
        assert isinstance(before, NaiveBayes), "so is its specification"
        assert isinstance(model, NaiveBayes), "it was that before the repair"
        return _of_counts(spec.repair.method, source, marked(before, sensitive), model, proof)
    assert isinstance(before, AdditiveModel), "so is its specification"
    assert isinstance(model, AdditiveModel), "it was that before the repair"
    return _of_population(spec, marked(before, sensitive), model)


def _of_counts(
    method: MethodName, source: ModelSpec, before: NaiveBayes, model: NaiveBayes, proof: ProofFacts | None
) -> RepairFacts:
    """The facts of a model that was learned again from its counts."""
    decision = source.decision.counts
    assert decision is not None, "a repaired model has counts"
    weights = [tuple(map(Fraction, (decision.favourable, decision.unfavourable)))]
    shares: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]] = [
        ((before.prior, 1 - before.prior), (model.prior, 1 - model.prior))
    ]
    rows = []
    for attribute, old, new in zip(source.attributes, before.attributes, model.attributes, strict=True):
        assert attribute.counts is not None, "a repaired model has counts"
        for side, counts in enumerate((attribute.counts.favourable, attribute.counts.unfavourable)):
            weights.append(tuple(Fraction(n) + Fraction(source.smoothing) for n in counts))
            shares.append(
                (tuple(row[side] for row in old.likelihood), tuple(row[side] for row in new.likelihood))
            )
        rows.append(
            RepairWeights(
                favourable=tuple(map(str, map(Fraction, attribute.counts.favourable))),
                unfavourable=tuple(map(str, map(Fraction, attribute.counts.unfavourable))),
            )
        )
    first, second = (
        _log_likelihood(
            [
                (_decimal(n), _decimal(p))
                for row, pair in zip(weights, shares, strict=True)
                for n, p in zip(row, pair[which], strict=True)
            ]
        )
        for which in (0, 1)
    )
    assert first is not None, "no value that was counted is impossible by the counts"
    return RepairFacts(
        method=method,
        source_sha256=before.sha256(),
        smoothing=str(Fraction(source.smoothing)),
        decision=DecisionWeights(
            favourable=str(Fraction(decision.favourable)), unfavourable=str(Fraction(decision.unfavourable))
        ),
        attributes=tuple(rows),
        log_likelihood_before=first,
        log_likelihood_after=second,
        proof=proof,
    )


def _of_population(
    spec: ModelSpec | ScorecardSpec, before: AdditiveModel, model: AdditiveModel
) -> ScorecardRepairFacts:
    """The facts of a scorecard whose population was learned again."""
    assert spec.repair is not None, "the caller has seen to it"
    people = (spec.provenance and spec.provenance.rows) or _PEOPLE
    numbers = exact_scorecard(before)
    assert numbers.unfavourable_share is not None, "only scorecards with a population are certified"
    (shares, joint), (others, _) = _population(before), _population(model)
    weights = [_CONTEXT.multiply(people, p) for p in joint]
    first, second = (_log_likelihood(list(zip(weights, cells, strict=True))) for cells in (shares, others))
    assert first is not None, "each value has people"
    assert second is not None, "each value has people"
    return ScorecardRepairFacts(
        source_sha256=before.sha256(),
        people=str(people),
        intercept=numbers.intercept,
        unfavourable_share=numbers.unfavourable_share,
        attributes=tuple(
            ScoredNumbers(weights=a.weights, undisclosed=a.undisclosed, population=a.population or ())
            for a in numbers.attributes
        ),
        log_likelihood_before=first,
        log_likelihood_after=second,
    )


def _population(card: AdditiveModel) -> tuple[list[Decimal], list[Decimal]]:
    """Of a scorecard's population P(d), P(d̄), and P(v | d) and P(v | d̄) of each value; and the same jointly.

    ``P(v | d) = P(v | d̄) base^(weight - undisclosed)``; what is joint is P(d), P(d̄), P(d, v) and P(d̄, v).
    """
    assert card.unfavourable_share is not None, "only scorecards with a population are certified"
    decision = _decimal(1 - card.unfavourable_share), _decimal(card.unfavourable_share)
    shares, joint = list(decision), list(decision)
    for attribute in card.attributes:
        for weight, p in zip(attribute.weights, attribute.population or (), strict=True):
            low, high = power(weight - attribute.undisclosed, card.base, _CONTEXT.prec)
            ratio = _CONTEXT.divide(_CONTEXT.add(low, high), 2)
            shares += [_CONTEXT.multiply(_decimal(p), ratio), _decimal(p)]
            joint += [
                _CONTEXT.multiply(side, share) for side, share in zip(decision, shares[-2:], strict=True)
            ]
    return shares, joint


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _log_likelihood(terms: list[tuple[Decimal, Decimal]]) -> str | None:
    """``Σ n ln p`` to six places; None for minus infinity."""
    if any(n and not p for n, p in terms):
        return None
    total = Decimal(0)
    for n, p in terms:
        if n:
            total = _CONTEXT.add(total, _CONTEXT.multiply(n, _CONTEXT.ln(p)))
    return f"{total:.6f}"


def tree(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate as plain JSON data."""
    return certificate.model_dump(mode="json")


def id_of(certificate: Mapping[str, Any]) -> str:
    """Return the identifier that follows from the content: the same content has the same."""
    content = {name: value for name, value in certificate.items() if name != "id"}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()[:32]


def sensitive_attributes(
    spec: ModelSpec | ScorecardSpec, terms: Terms, model: Classifier
) -> tuple[SensitiveAttribute, ...]:
    """Return the attributes that the question protects, in the order of the model, with their reasons."""
    reasons = {attribute.name: attribute.sensitive_reason for attribute in spec.attributes}
    reasons |= {item.name: item.reason for item in terms.sensitive or () if item.reason}
    names = (model.attributes[i].name for i in model.sensitive)
    return tuple(SensitiveAttribute(name=name, reason=reasons[name]) for name in names)


def protected(model: Classifier, question: Question) -> Classifier:
    """Return the model with the attributes that a question protects marked as sensitive."""
    named = question.put_to(model)
    return marked(model, [named.attributes[i].name for i in named.sensitive])


def marked(model: Model, sensitive: Collection[str]) -> Model:
    """Return the model with exactly these attributes marked as sensitive."""
    attributes: Any = tuple(replace(a, sensitive=a.name in sensitive) for a in model.attributes)
    return replace(model, attributes=attributes)


def _witness(model: Classifier, pattern: Pattern) -> Witness:
    if isinstance(model, NaiveBayes):
        told = (pattern.degree, pattern.favourable_given_pattern, pattern.favourable_given_context)
        degree, after, before, *people = map(fraction_text, (*told, pattern.probability))
    else:
        degree, after, before, *people = map(_short, rounded(model, pattern, _PLACES))
    return Witness(
        sensitive_values=labels(model, pattern.sensitive_values),
        context_values=labels(model, pattern.context_values),
        degree=degree,
        probability=people[0] if people else None,
        favourable_given_pattern=after,
        favourable_given_context=before,
    )


def _short(value: Fraction) -> str:
    """A number of 20 places at most, without zeros at their end."""
    return decimal_text(Decimal(int(value * 10**_PLACES)).scaleb(-_PLACES, _CONTEXT))


def _provenance(spec: ModelSpec | ScorecardSpec) -> Provenance:
    given = spec.provenance
    return Provenance(
        description=given.description if given else None,
        owner=given.owner if given else None,
        model_version=given.model_version if given else None,
        data_source=given.data_source if given else None,
        period=given.period if given else None,
        rows=str(given.rows) if given and given.rows is not None else None,
    )
