"""Verifying certificates, with what is given beside them, and chains of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate import checker, issuing
from auditor.certificate.issuing import issue, sha256, tree
from auditor.certificate.policy import terms
from auditor.certificate.reading import open_certificate, read_certificate
from auditor.certificate.recertifying import inherited, recertify
from auditor.certificate.signing import load_public_key, sign
from auditor.certificate.verifying import Question, broken, load_revocations, verify, verify_chain
from auditor.documents.certificate import Certificate
from auditor.documents.verification import Verification
from auditor.errors import InputError
from auditor.model.reading import load_naive_bayes
from auditor.search import verdict
from auditor.search.additive.counting import PatternCount
from auditor.search.additive.worst import Worst, worst_patterns
from auditor.search.limits import Limits
from tests.certificate.making import (
    DAY,
    EXAMPLES,
    KEY,
    OTHER_KEY,
    QUESTION,
    ROOT,
    bare,
    envelope,
    figure1,
    made,
    put,
    renamed,
)

NO_TIME = Limits(expired=lambda: True)
COMPAT = ROOT / "tests" / "compat" / "v1"


def verified(certificate: Certificate, question: Question = QUESTION) -> Verification:
    """The verification of a certificate that is signed."""
    return verify(open_certificate(sign(certificate, KEY), "cert.json"), question)


def outcome(verification: Verification, name: str) -> str:
    """What came of a check."""
    [check] = [check for check in verification.checks if check.name == name]
    return check.outcome


def failed(verification: Verification) -> list[str]:
    """The checks that failed."""
    return [check.name for check in verification.checks if check.outcome == "failed"]


@pytest.mark.parametrize("wishes", [{}, {"criterion": "ratio"}, {"min_probability": "0.1"}])
@pytest.mark.parametrize("delta", ["0", "0.1", "0.2", "0.3", "1"])
def test_every_verdict_holds(delta: str, wishes: dict[str, Any]) -> None:
    certificate = made(delta, **wishes)
    found = verified(certificate)
    assert failed(found) == []
    assert found.result == "holds"
    assert found.certificate.verdict == certificate.verdict
    assert found.certificate.sha256 == sha256(certificate)


def test_an_inconclusive_one_holds_since_it_claims_little() -> None:
    certificate = issue(
        load_naive_bayes(EXAMPLES / "german.json"), terms(delta="0.415"), issued=DAY, limits=NO_TIME
    )
    assert certificate.verdict == "inconclusive"
    found = verified(certificate)
    assert failed(found) == []
    assert found.result == "holds"


def test_without_a_key_the_signature_is_not_performed() -> None:
    found = verified(made(), Question(at=DAY))
    assert found.result == "holds"
    assert outcome(found, "signature") == "not performed"


def test_unsigned() -> None:
    opened = open_certificate(bare(tree(made())), "x")
    assert verify(opened, Question(at=DAY)).result == "holds"
    found = verify(opened, QUESTION)
    assert failed(found) == ["signature"]
    assert found.result == "does not hold"


def test_another_key_signed_it() -> None:
    found = verified(made(), replace(QUESTION, public_key=OTHER_KEY.public_key()))
    assert failed(found) == ["signature"]
    assert found.checks[0].detail == "it was signed with another key"


@pytest.mark.parametrize(("days", "holds"), [(0, True), (364, True), (365, False), (-1, False)])
def test_dates(days: int, holds: bool) -> None:
    found = verified(made(), replace(QUESTION, at=DAY + timedelta(days)))
    assert (failed(found) == []) is holds
    assert (found.result == "holds") is holds


def test_the_given_model() -> None:
    assert outcome(verified(made(), replace(QUESTION, model=figure1())), "given model") == "passed"
    compas = load_naive_bayes(EXAMPLES / "compas.json")
    assert failed(verified(made(), replace(QUESTION, model=compas))) == ["given model"]


def test_the_given_model_may_mark_other_attributes() -> None:
    """Which ones are sensitive was the policy's choice; the parameters are the same."""
    certificate = made(sensitive=("Y1",))
    assert outcome(verified(certificate, replace(QUESTION, model=figure1())), "given model") == "passed"


def revoked(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "revoked.json"
    path.write_text(json.dumps({"kind": "auditor/revocations", "version": 1, "revocations": list(entries)}))
    return path


@pytest.mark.parametrize("by", ["id", "sha256"])
def test_revocation(tmp_path: Path, by: str) -> None:
    certificate = made()
    name = certificate.id if by == "id" else sha256(certificate)
    entries = load_revocations(revoked(tmp_path, {by: name, "revoked": "2026-12-01", "reason": "mistake"}))
    before = verified(certificate, replace(QUESTION, revocations=entries))
    assert outcome(before, "revocation") == "passed"
    after = verified(certificate, replace(QUESTION, revocations=entries, at=date(2026, 12, 1)))
    assert failed(after) == ["revocation"]
    [check] = [check for check in after.checks if check.outcome == "failed"]
    assert check.detail == "revoked on 2026-12-01: mistake"
    other = verified(made("0.3"), replace(QUESTION, revocations=entries, at=date(2026, 12, 1)))
    assert outcome(other, "revocation") == "passed"


HEAD = '{"kind": "auditor/revocations", "version": 1, "revocations": '


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x", "not JSON"),
        ('{"kind": "a", "kind": "b"}', 'key "kind" stands twice'),
        ("{}", "kind"),
        (HEAD.replace("1", "2") + "[]}", "version"),
        (HEAD + '[{"revoked": "2026-01-01"}]}', "names no"),
        (HEAD + '[{"id": "../x"}]}', "revocations[0].id"),
    ],
)
def test_bad_revocation_lists_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "revoked.json"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_revocations(path)
    assert complaint in str(error.value)


def test_what_neither_algorithm_decides_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = made("0.225")
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)
    monkeypatch.setattr(issuing, "count_patterns", lambda *_: PatternCount(0, 10**9, "x", ()))

    def unsure(*given: Any, **more: Any) -> Worst:
        return replace(worst_patterns(*given, **more), upper=Fraction(1), complete=False)

    monkeypatch.setattr(verdict, "worst_patterns", unsure)
    found = verified(certificate)
    assert failed(found) == []
    assert found.result == "undecided"
    assert outcome(found, "verdict") == outcome(found, "engine") == "not performed"


@pytest.mark.parametrize(
    ("place", "value", "detail"),
    [
        (("max_degree",), {"exact": None, "lower": "0.5", "upper": "0.6"}, "the largest degree is from"),
        (("max_degree", "exact"), "1/5", "the largest degree is 0.2"),
        (("pattern_count",), "2", "there are 1 patterns"),
        (("coverage", 0, "patterns"), "2", "the patterns are spread in another way"),
    ],
)
def test_the_engine_contradicts(place: tuple[str | int, ...], value: Any, detail: str) -> None:
    content = put(tree(made()), place, value)
    found = verify(open_certificate(envelope(renamed(content)), "x"), QUESTION)
    [check] = [check for check in found.checks if check.name == "engine"]
    assert check.outcome == "failed"
    assert check.detail.startswith(detail)


@pytest.mark.parametrize("prior", ["1", "0", "-1/2", "3/2"])
def test_an_impossible_model_is_a_failed_check(prior: str) -> None:
    content = put(tree(made()), ("model", "exact", "prior"), prior)
    found = verify(open_certificate(envelope(renamed(content)), "x"), QUESTION)
    assert "model" in failed(found)
    assert "engine" not in [check.name for check in found.checks]


def test_a_certificate_that_the_checker_cannot_follow_is_a_failed_check() -> None:
    content = put(tree(made()), ("witness", "sensitive_values"), {"nothing": "x"})
    found = verify(open_certificate(envelope(renamed(content)), "x"), QUESTION)
    assert "checker" in failed(found)


def test_broken() -> None:
    signed = open_certificate(sign(made(), KEY), "x")
    assert broken(signed, KEY.public_key()) == ()
    assert broken(signed, OTHER_KEY.public_key()) == ("signature: it was signed with another key",)
    changes = [(("issuer",), "x"), (("model", "exact", "prior"), "1/3"), (("model", "sha256"), "0" * 64)]
    for place, value in changes:
        assert broken(open_certificate(bare(put(tree(made()), place, value)), "x"))
    impossible = renamed(put(tree(made()), ("model", "exact", "attributes", 0, "favourable"), ["1/2"]))
    assert broken(open_certificate(bare(impossible), "x")) == ("its model is none, or has another digest",)


def chain(folder: Path, *certificates: Certificate) -> Path:
    """A folder with signed certificates."""
    folder.mkdir(exist_ok=True)
    for number, certificate in enumerate(certificates):
        (folder / f"{number}.json").write_bytes(sign(certificate, KEY))
    return folder


def successor(old: Certificate, day: date, delta: str | None = None) -> Certificate:
    """A certificate that supersedes another."""
    return recertify(
        old,
        figure1(),
        terms(delta=delta, inherited=inherited(old)),
        issued=day,
        scope_change_reason="a new law" if delta else None,
    )


FIRST = made(day=date(2025, 1, 1))
SECOND = successor(FIRST, date(2025, 6, 1), delta="0.3")
THIRD = successor(SECOND, date(2026, 6, 1))
TODAY = replace(QUESTION, at=date(2026, 7, 1))


def test_a_chain(tmp_path: Path) -> None:
    found = verify_chain(chain(tmp_path, THIRD, FIRST, SECOND), TODAY)
    assert found.result == "holds"
    assert found.current == (THIRD.id,)
    assert [v.certificate.id for v in found.certificates] == [FIRST.id, SECOND.id, THIRD.id]
    assert [(c.name, c.outcome) for c in found.checks] == [
        (f"link of {SECOND.id[:8]}", "passed"),
        (f"link of {THIRD.id[:8]}", "passed"),
    ]
    member = open_certificate(sign(THIRD, KEY), "x")
    assert verify_chain(chain(tmp_path), TODAY, member).result == "holds"


def test_only_current_certificates_have_to_be_in_date(tmp_path: Path) -> None:
    """The first two have expired by then."""
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    assert verify_chain(folder, replace(TODAY, at=date(2027, 5, 31))).result == "holds"
    assert verify_chain(folder, replace(TODAY, at=date(2027, 6, 1))).result == "does not hold"


def problems(folder: Path, member: Certificate | None = None) -> list[str]:
    """The details of the links that fail."""
    opened = open_certificate(sign(member, KEY), "x") if member else None
    found = verify_chain(folder, TODAY, opened)
    assert found.result == "does not hold"
    return [check.detail for check in found.checks if check.outcome == "failed"]


def test_a_missing_certificate(tmp_path: Path) -> None:
    [problem] = problems(chain(tmp_path, FIRST, THIRD))
    assert problem == f"the certificate that it supersedes is not here: {SECOND.id}"


def test_two_successors_of_one(tmp_path: Path) -> None:
    other = successor(FIRST, date(2026, 5, 1), delta="0.25")
    assert (
        problems(chain(tmp_path, FIRST, SECOND, THIRD, other))
        == [f"{FIRST.id} is superseded more than once"] * 2
    )


def altered(certificate: Certificate, name: str, value: Any) -> Certificate:
    """A certificate whose link says something else."""
    assert certificate.supersedes is not None
    link = certificate.supersedes.model_copy(update={name: value})
    changed = certificate.model_copy(update={"supersedes": link})
    return changed.model_copy(update={"id": issuing.id_of(tree(changed))})


def test_a_link_that_lies(tmp_path: Path) -> None:
    assert problems(chain(tmp_path / "a", FIRST, altered(SECOND, "scope_changes", ()))) == [
        "it does not say what changed in its scope"
    ]
    assert problems(chain(tmp_path / "b", FIRST, altered(SECOND, "id", "0" * 32))) == [
        f"it gives {'0' * 32} for the identifier {FIRST.id}"
    ]


def test_a_link_backwards_in_time(tmp_path: Path) -> None:
    early = successor(FIRST, date(2025, 1, 1)).model_copy(update={"issued": date(2024, 1, 1)})
    early = early.model_copy(update={"id": issuing.id_of(tree(early))})
    assert problems(chain(tmp_path, FIRST, early)) == [
        "it was issued on 2024-01-01, before the one it supersedes"
    ]


def test_the_certificate_must_be_current(tmp_path: Path) -> None:
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    assert problems(folder, SECOND) == ["another certificate supersedes it"]
    assert problems(folder, made()) == ["it is not in the folder"]


def test_of_two_copies_the_signed_one_counts(tmp_path: Path) -> None:
    folder = chain(tmp_path, THIRD, FIRST, SECOND)
    (folder / "z.json").write_bytes(bare(tree(FIRST)))
    assert verify_chain(folder, TODAY).result == "holds"


def test_a_chain_can_be_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)
    monkeypatch.setattr("auditor.certificate.verifying._engine", lambda *_: (None, "no time"))
    assert verify_chain(chain(tmp_path, made("0.225")), QUESTION).result == "undecided"


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no certificate in it"):
        verify_chain(tmp_path, TODAY)
    with pytest.raises(InputError, match="not a folder"):
        verify_chain(tmp_path / "none", TODAY)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(InputError, match=r"x\.json"):
        verify_chain(tmp_path, TODAY)


def test_certificates_of_version_1_hold_forever() -> None:
    """Signed by the first release; every later one must verify them."""
    question = Question(at=date(2027, 1, 1), public_key=load_public_key(COMPAT / "key.pub.pem"))
    files = sorted(COMPAT.glob("*.dsse.json"))
    found = {path.name: verify(read_certificate(path), question) for path in files}
    assert {v.certificate.verdict for v in found.values()} == {"delta-fair", "not-delta-fair", "inconclusive"}
    assert {name: failed(v) for name, v in found.items()} == {path.name: [] for path in files}
    assert {v.result for v in found.values()} == {"holds"}
    assert len(files) == 3
