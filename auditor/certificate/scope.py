"""The scope of a certificate: what was asked, apart from the model's parameters."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from auditor.certificate.claims import quoted
from auditor.choices import Undisclosed
from auditor.documents.certificate import Certificate, Scope
from auditor.documents.parameters import ExactScorecard
from auditor.documents.policy import share_text

_MEANING, _POPULATION = "what is not disclosed", "that of a population"


def scope_of(certificate: Certificate) -> Scope:
    """Return the scope of a certificate."""
    decision = certificate.decision
    return Scope(
        decision=decision.name,
        favourable=decision.favourable,
        unfavourable=decision.unfavourable,
        criterion=certificate.criterion,
        delta=share_text(certificate.delta),
        min_probability=scoped(certificate.min_probability),
        sensitive=tuple(sorted(attribute.name for attribute in certificate.sensitive_attributes)),
        undisclosed=assumed(meaning_of(certificate)),
    )


def meaning_of(certificate: Certificate) -> Undisclosed | None:
    """What "not disclosed" means to the scorecard of a certificate; None of naive Bayes."""
    exact = certificate.model.exact
    return exact.undisclosed if isinstance(exact, ExactScorecard) else None


def assumed(undisclosed: Undisclosed | None) -> Undisclosed | None:
    """The meaning of "not disclosed" as scopes write it: a population, conforming or given, goes unsaid."""
    return None if undisclosed == "conforming" else undisclosed


def scoped(min_probability: str | None) -> str | None:
    """Return a minimum probability as scopes write it: that of 0 is none."""
    text = None if min_probability is None else share_text(min_probability)
    return None if text == "0" else text


def scope_changes(before: Scope, after: Scope, write: Callable[[str], str] = quoted) -> tuple[str, ...]:
    """Say what differs between two questions, one line for each difference, names as `write` writes them."""
    changes = [
        f"{label}: {write(old)} became {write(new)}"
        for label, old, new in (
            ("decision", before.decision, after.decision),
            ("favourable decision", before.favourable, after.favourable),
            ("unfavourable decision", before.unfavourable, after.unfavourable),
        )
        if old != new
    ]
    changes += [
        f"{label}: {old or 'none'} became {new or 'none'}"
        for label, old, new in (
            ("criterion", before.criterion, after.criterion),
            ("delta", before.delta, after.delta),
            ("minimum probability", before.min_probability, after.min_probability),
            (_MEANING, before.undisclosed or _POPULATION, after.undisclosed or _POPULATION),
        )
        if old != new
    ]
    for verb, here, there in (
        ("removed", before.sensitive, after.sensitive),
        ("added", after.sensitive, before.sensitive),
    ):
        changes += [f"sensitive attribute: {write(n)} was {verb}" for n in here if n not in there]
    return tuple(changes)


def loosened(before: Scope, after: Scope) -> bool:
    """Whether a question is easier than another: a larger δ, fewer patterns in scope, or another measure."""
    shares = [(Fraction(scope.delta), Fraction(scope.min_probability or "0")) for scope in (before, after)]
    return (
        shares[1][0] > shares[0][0]
        or shares[1][1] > shares[0][1]
        or (before.criterion, before.undisclosed) != (after.criterion, after.undisclosed)
        or not set(before.sensitive) <= set(after.sensitive)
        or (before.decision, before.favourable) != (after.decision, after.favourable)
    )
