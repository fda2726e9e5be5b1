"""The scope of a certificate: what was asked, apart from the model's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from auditor.certificate.policy import Terms
from auditor.choices import CriterionName
from auditor.documents.certificate import Certificate, Decision
from auditor.documents.parameters import fraction_of
from auditor.model.spec import ModelSpec


@dataclass(frozen=True)
class Scope:
    """A question: the decision, the criterion, the threshold, the minimum probability and what is sensitive.

    The other attributes and all parameters belong to the model.
    """

    decision: Decision
    criterion: CriterionName
    delta: str
    min_probability: str | None
    sensitive: tuple[str, ...]

    @classmethod
    def of(cls, certificate: Certificate) -> Self:
        """The scope of a certificate."""
        return cls(
            decision=certificate.decision,
            criterion=certificate.criterion,
            delta=certificate.delta,
            min_probability=certificate.min_probability,
            sensitive=tuple(attribute.name for attribute in certificate.sensitive_attributes),
        )

    @classmethod
    def planned(cls, spec: ModelSpec, terms: Terms, sensitive: tuple[str, ...]) -> Self:
        """The scope of a certificate that is to be issued."""
        return cls(
            decision=Decision(
                name=spec.decision.name,
                favourable=spec.decision.favourable.label,
                unfavourable=spec.decision.unfavourable.label,
            ),
            criterion=terms.criterion,
            delta=terms.delta,
            min_probability=terms.min_probability,
            sensitive=sensitive,
        )


def scope_changes(before: Scope, after: Scope) -> tuple[str, ...]:
    """Say what differs between two questions, one line for each difference."""
    changes = []
    for part, label in (
        ("name", "decision"),
        ("favourable", "favourable decision"),
        ("unfavourable", "unfavourable decision"),
    ):
        old, new = getattr(before.decision, part), getattr(after.decision, part)
        if old != new:
            changes.append(f"{label}: {old} became {new}")
    if before.criterion != after.criterion:
        changes.append(f"criterion: {before.criterion} became {after.criterion}")
    for label, old, new in (
        ("delta", before.delta, after.delta),
        ("minimum probability", before.min_probability, after.min_probability),
    ):
        if (old and fraction_of(old)) != (new and fraction_of(new)):
            changes.append(f"{label}: {old or 'none'} became {new or 'none'}")
    changes += [f"sensitive attribute: {n} was removed" for n in before.sensitive if n not in after.sensitive]
    changes += [f"sensitive attribute: {n} was added" for n in after.sensitive if n not in before.sensitive]
    return tuple(changes)
