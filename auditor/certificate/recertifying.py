"""Re-issues a certificate for a model that was trained again, under the policy of the old one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from auditor.certificate import issuing
from auditor.certificate.policy import Terms
from auditor.certificate.scope import Scope, scope_changes
from auditor.documents.certificate import Certificate, SensitiveAttribute, Supersedes
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.spec import ModelSpec
from auditor.search.limits import DEFAULT, Limits


def inherited(old: Certificate) -> Terms:
    """Return the terms of a certificate for its successor.

    The person responsible is not taken over: nobody answers for a certificate who was not named for it.
    """
    return Terms(
        delta=old.delta,
        criterion=old.criterion,
        min_probability=old.min_probability,
        sensitive=old.sensitive_attributes,
        valid_days=(old.expires - old.valid_from).days,
        issuer=old.issuer,
        policy=old.policy,
    )


def recertify(
    old: Certificate,
    spec: ModelSpec,
    terms: Terms,
    *,
    issued: date,
    valid_from: date | None = None,
    scope_change_reason: str | None = None,
    platform: str | None = None,
    limits: Limits = DEFAULT,
) -> Certificate:
    """Certify a new model in place of an old one.

    Parameters
    ----------
    old : Certificate
    spec : ModelSpec
        The new model.
    terms : Terms
        `inherited`, or with other values in their place. Of inherited sensitive attributes those that the new
        model has stay so, and those that it marks itself are added.
    issued, valid_from, platform, limits
        As for `issue`.
    scope_change_reason : str, optional
        Without it the scope must be that of the old certificate; with it what changed is recorded, and why.

    Raises
    ------
    InputError
        If the scope changed and no reason is given, with one line per change; or as for `issue`.
    """
    if issued < old.issued:
        raise InputError(f"issued {issued}: the certificate to be superseded is younger, of {old.issued}")
    if scope_change_reason is not None and not scope_change_reason.strip():
        raise InputError("the reason for a changed scope is empty; say why it changed")
    if terms.sensitive == old.sensitive_attributes:
        terms = replace(terms, sensitive=_carried_over(old, spec))
    sensitive = tuple(item.name for item in issuing.sensitive_attributes(spec, terms))
    changes = scope_changes(Scope.of(old), Scope.planned(spec, terms, sensitive))
    if changes and scope_change_reason is None:
        raise InputError(
            f"the scope changed: {escaped(change)}; keep it, or say why with --scope-change"
            for change in changes
        )
    return issuing.issue(
        spec,
        terms,
        issued=issued,
        valid_from=valid_from,
        supersedes=Supersedes(
            id=old.id,
            sha256=issuing.sha256(old),
            scope_changes=changes,
            scope_change_reason=scope_change_reason if changes else None,
        ),
        platform=platform,
        limits=limits,
    )


def _carried_over(old: Certificate, spec: ModelSpec) -> tuple[SensitiveAttribute, ...]:
    """Sensitive attributes of the old certificate that the model has, and those that it marks itself."""
    before = {item.name: item for item in old.sensitive_attributes}
    return tuple(
        before.get(a.name, SensitiveAttribute(name=a.name, reason=a.sensitive_reason))
        for a in spec.attributes
        if a.name in before or a.sensitive
    )
