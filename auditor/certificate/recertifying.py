"""Re-issues a certificate for a model that was trained again, under the policy of the old one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from auditor.certificate.policy import Terms
from auditor.certificate.reading import Opened
from auditor.certificate.scope import assumed, scope_changes, scope_of, scoped
from auditor.documents.certificate import Certificate, Scope, SensitiveAttribute, Supersedes
from auditor.documents.policy import share_text
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model import checks
from auditor.model.additive import AdditiveModel
from auditor.model.classifier import Classifier
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question


def inherited(old: Certificate, limits: Limits = DEFAULT) -> Terms:
    """Return the terms of a certificate for its successor."""
    sensitive = tuple(item.name for item in old.sensitive_attributes)
    delta, least = share_text(old.delta), scoped(old.min_probability)
    return Terms(
        question=Question.of(delta, old.criterion, least, sensitive, limits),
        sensitive=old.sensitive_attributes,
        valid_days=(old.expires - old.valid_from).days,
        issuer=old.issuer,
        responsible=old.responsible,
        policy=old.policy,
    )


def carried_over(old: Certificate, spec: ModelSpec | ScorecardSpec, terms: Terms) -> Terms:
    """Let inherited sensitive attributes be those of the old certificate that the new model has.

    Those that the model marks itself are added.
    """
    if terms.sensitive != old.sensitive_attributes:
        return terms
    before = {item.name: item for item in old.sensitive_attributes}
    sensitive = tuple(
        before.get(a.name, SensitiveAttribute(name=a.name, reason=a.sensitive_reason))
        for a in spec.attributes
        if a.name in before or a.sensitive
    )
    names = tuple(item.name for item in sensitive)
    return replace(terms, sensitive=sensitive, question=replace(terms.question, sensitive=names))


def superseding(
    old: Opened,
    terms: Terms,
    model: Classifier,
    *,
    issued: date,
    verified_with: str | None,
    scope_change_reason: str | None = None,
) -> Supersedes:
    """Say which certificate a new one takes the place of, and why its scope changed if it did.

    Parameters
    ----------
    terms : Terms
        Of the new certificate.
    model : Classifier
        The new model, with its sensitive attributes marked.
    issued : date
        The day on which the new one is issued.
    verified_with : str or None
        The identifier of the key with which the signature of the old one was checked; None if it wasn't.
    scope_change_reason : str, optional
        Without it the scope must be that of the old certificate; with it what changed is recorded, and why.

    Raises
    ------
    InputError
        If the scope changed and no reason is given, with one line per change.
    """
    if issued < old.certificate.issued:
        raise InputError(
            f"issued {issued}: the certificate to be superseded is younger, of {old.certificate.issued}"
        )
    if scope_change_reason is not None:
        try:
            checks.text(scope_change_reason)
        except ValueError as error:
            raise InputError(f"the reason for a changed scope {error}") from error
    least = terms.question.min_probability
    before = scope_of(old.certificate)
    after = Scope(
        decision=model.decision,
        favourable=model.favourable,
        unfavourable=model.unfavourable,
        criterion=terms.question.criterion_name,
        delta=terms.question.delta.text,
        min_probability=least.text if least else None,
        sensitive=tuple(sorted(model.attributes[i].name for i in model.sensitive)),
        undisclosed=assumed(model.undisclosed) if isinstance(model, AdditiveModel) else None,
    )
    changes = scope_changes(before, after)
    if changes and scope_change_reason is None:
        raise InputError(
            f"the scope changed: {escaped(change)}; keep it, or say why with --scope-change"
            for change in changes
        )
    return Supersedes(
        id=old.certificate.id,
        sha256=old.sha256,
        verified_with=verified_with,
        scope=before,
        scope_change_reason=scope_change_reason if changes else None,
    )
