"""Re-issuing a certificate for a new model."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate import form_checker
from auditor.certificate.issuing import issue, protected, tree
from auditor.certificate.policy import load_policy, terms
from auditor.certificate.reading import open_certificate
from auditor.certificate.recertifying import carried_over, inherited, superseding
from auditor.certificate.scope import scope_changes, scope_of
from auditor.documents.certificate import Certificate
from auditor.errors import InputError
from auditor.model.spec import ModelSpec
from auditor.search.answer import answer
from auditor.usecases.reporting import report
from tests.certificate.making import DAY, bare, figure1, loaded, made

LATER = date(2027, 3, 1)


def changed(**edits: Any) -> ModelSpec:
    """The paper's network with something else in it."""
    tree = figure1().model_dump()
    for place, value in edits.items():
        if place.startswith("mark_"):
            for attribute in tree["attributes"]:
                if attribute["name"] == place.removeprefix("mark_"):
                    attribute["sensitive"] = value
        elif place == "without":
            tree["attributes"] = [a for a in tree["attributes"] if a["name"] != value]
        else:
            tree["decision"][place] = value
    return ModelSpec.model_validate(tree)


def renewed(
    old: Certificate, spec: ModelSpec, reason: str | None = None, *, day: date = LATER, **options: Any
) -> Certificate:
    """The certificate that supersedes another."""
    chosen = carried_over(old, spec, terms(inherited=inherited(old), **options))
    found = answer(spec.naive_bayes(), chosen.question)
    link = superseding(
        open_certificate(bare(tree(old)), "old.json"),
        chosen,
        protected(spec.naive_bayes(), chosen.question),
        issued=day,
        verified_with=None,
        scope_change_reason=reason,
    )
    return issue(spec, chosen, found, issued=day, supersedes=link)


def changes(old: Certificate, new: Certificate) -> tuple[str, ...]:
    """What of the scope is another thing now."""
    assert new.supersedes is not None
    assert new.supersedes.scope == scope_of(old)
    return scope_changes(new.supersedes.scope, scope_of(new))


def test_the_policy_is_taken_over() -> None:
    old = made(
        "0.250",
        criterion="ratio",
        min_probability="0.01",
        valid_days=30,
        issuer="Bank",
        responsible="A. Person",
    )
    new = renewed(old, figure1())
    assert (new.delta, new.criterion, new.min_probability) == ("0.25", "ratio", "0.01")
    assert (new.expires - new.valid_from).days == 30
    assert new.policy == old.policy
    assert new.supersedes is not None
    assert (new.supersedes.id, new.supersedes.sha256) == (old.id, form_checker.digest(tree(old)))
    assert changes(old, new) == ()
    assert new.supersedes.scope_change_reason is None
    assert (new.issued, new.valid_from) == (LATER, LATER)


def test_a_model_without_a_pattern_so_probable_is_refused() -> None:
    old = made("0.2", min_probability="0.5")
    with pytest.raises(InputError, match=r"no pattern is as probable as 0\.5"):
        renewed(old, loaded("german_categories"), sensitive=("Checking account",))


def test_the_issuer_is_taken_over_and_so_is_the_person() -> None:
    new = renewed(made(issuer="Bank", responsible="A. Person"), figure1())
    assert (new.issuer, new.responsible) == ("Bank", "A. Person")
    assert renewed(made(issuer="Bank"), figure1(), responsible="B. Person").responsible == "B. Person"


def test_sensitive_attributes_stay_so_though_the_new_model_does_not_mark_them() -> None:
    old = made(sensitive=("X", "Y1"))
    new = renewed(old, figure1())
    assert new.sensitive_attributes == old.sensitive_attributes


@pytest.mark.parametrize(
    ("old", "spec", "options", "change"),
    [
        (made(), figure1(), {"delta": "0.3"}, "delta: 0.2 became 0.3"),
        (made(), figure1(), {"criterion": "ratio"}, "criterion: difference became ratio"),
        (made(), figure1(), {"min_probability": "0.1"}, "minimum probability: none became 0.1"),
        (made(), changed(mark_Y1=True), {}, 'sensitive attribute: "Y1" was added'),
        (made(sensitive=("X", "Y1")), changed(without="Y1"), {}, 'sensitive attribute: "Y1" was removed'),
        (made(), figure1(), {"sensitive": ("Y1",)}, 'sensitive attribute: "X" was removed'),
        (made(), changed(favourable="yes"), {}, 'favourable decision: "d" became "yes"'),
        (made(), changed(unfavourable="no"), {}, 'unfavourable decision: "not d" became "no"'),
        (made(), changed(name="E"), {}, 'decision: "D" became "E"'),
    ],
)
def test_a_changed_scope_must_be_said(
    old: Certificate, spec: ModelSpec, options: dict[str, Any], change: str
) -> None:
    with pytest.raises(InputError) as error:
        renewed(old, spec, **options)
    assert f"the scope changed: {change}; keep it, or say why with --scope-change" in error.value.problems
    new = renewed(old, spec, "a new law", **options)
    assert change in changes(old, new)
    assert new.supersedes is not None
    assert new.supersedes.scope_change_reason == "a new law"


def test_a_reason_without_a_change_is_not_recorded() -> None:
    new = renewed(made(), figure1(), "no reason at all")
    assert new.supersedes is not None
    assert new.supersedes.scope_change_reason is None


def test_the_same_threshold_written_otherwise_is_no_change() -> None:
    new = renewed(made("0.2"), figure1(), delta="0.200")
    assert changes(made("0.2"), new) == ()


@pytest.mark.parametrize("reason", ["", "  ", "\u2800", "\u200d"])
def test_a_reason_that_shows_nothing(reason: str) -> None:
    with pytest.raises(InputError, match="the reason for a changed scope"):
        renewed(made(), figure1(), reason, delta="0.9")


def test_a_certificate_cannot_be_older_than_the_one_it_supersedes() -> None:
    with pytest.raises(InputError, match="is younger"):
        renewed(made(), figure1(), day=date(2026, 1, 1))
    assert made().issued == DAY


def test_the_cover_says_what_was_loosened_and_what_was_not_checked(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('kind = "auditor/policy"\nversion = 1\ndelta = 0.05\n')
    old = made("0.1", policy=load_policy(tmp_path / "policy.toml"))
    new = renewed(old, figure1(), "a new law", delta="0.2", sensitive=("X", "Y1"))
    said = []
    for certificate in (old, new):
        (tmp_path / "cert.json").write_bytes(bare(tree(certificate)))
        said.append(report(str(tmp_path / "cert.json"), "markdown").content.decode())
    assert "overridden: delta: policy 0.05, here 0.1 |" in said[0]
    assert (
        ", whose signature was not checked; changed, delta: before 0.1, here 0.2; "
        "sensitive: before X, here X, Y1; reason given: a new law |"
    ) in said[1]
