"""Verifying certificates, with what is given beside them, and chains of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate import checker, form_checker, issuing
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate, read_certificate
from auditor.certificate.scope import scope_of
from auditor.certificate.signing import load_public_key, sign
from auditor.certificate.verifying import Against, broken, load_revocations, verify, verify_chain
from auditor.documents.certificate import Certificate
from auditor.documents.verification import Verification
from auditor.errors import InputError
from auditor.search.additive import engine
from auditor.search.additive.worst import Worst, worst_patterns
from auditor.search.limits import Limits
from auditor.search.pattern_count import PatternCount
from tests.certificate.making import (
    AGAINST,
    DAY,
    KEY,
    OTHER_KEY,
    ROOT,
    bare,
    envelope,
    figure1,
    loaded,
    made,
    put,
    renamed,
)
from tests.certificate.test_recertifying import renewed

NO_TIME = Limits(expired=lambda: True)
COMPAT = ROOT / "tests" / "compat" / "v1"


def verified(certificate: Certificate, question: Against = AGAINST) -> Verification:
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
    assert found.certificate.sha256 == form_checker.digest(tree(certificate))


def test_a_threshold_of_as_many_places_as_can_be_certified_holds() -> None:
    certificate = made("1e-400")
    assert len(certificate.delta) == 402
    assert verified(certificate).result == "holds"


def test_an_inconclusive_one_holds_since_it_claims_little() -> None:
    certificate = made("0.411622501", loaded("german"), limits=NO_TIME)
    assert certificate.verdict == "inconclusive"
    found = verified(certificate)
    assert failed(found) == []
    assert found.result == "holds"


def test_what_is_not_counted_is_not_counted_to_verify_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine.Engine, "count", lambda self, enclosed: PatternCount(1, 18, "x", ()))
        uncounted = made("0.2")
    assert (uncounted.verdict, uncounted.pattern_count) == ("not-delta-fair", None)
    counted = made("0.2")
    monkeypatch.setattr(engine.Engine, "count", lambda self, enclosed: 1 / 0)
    found = verified(uncounted)
    assert (found.result, failed(found)) == ("holds", [])
    assert not {"count", "coverage"} & {check.name for check in found.checks}
    with pytest.raises(ZeroDivisionError):
        verified(counted)


def test_without_a_key_the_signature_is_not_performed() -> None:
    found = verified(made(), Against(at=DAY))
    assert found.result == "contents hold"
    assert outcome(found, "signature") == "not performed"


def test_unsigned() -> None:
    opened = open_certificate(bare(tree(made())), "x")
    assert verify(opened, Against(at=DAY)).result == "contents hold"
    found = verify(opened, AGAINST)
    assert failed(found) == ["signature"]
    assert found.result == "does not hold"


def test_another_key_signed_it() -> None:
    found = verified(made(), replace(AGAINST, public_key=OTHER_KEY.public_key()))
    assert failed(found) == ["signature"]
    assert found.checks[0].detail.startswith("it names another key")


@pytest.mark.parametrize(("days", "holds"), [(0, True), (364, True), (365, False), (-1, False)])
def test_dates(days: int, holds: bool) -> None:
    found = verified(made(), replace(AGAINST, at=DAY + timedelta(days)))
    assert (failed(found) == []) is holds
    assert (found.result == "holds") is holds


def test_the_given_model() -> None:
    assert outcome(verified(made(), replace(AGAINST, model=figure1())), "given model") == "passed"
    compas = loaded("compas")
    assert failed(verified(made(), replace(AGAINST, model=compas))) == ["given model"]


def test_the_given_model_may_mark_other_attributes() -> None:
    """Which ones are sensitive was the policy's choice; the parameters are the same."""
    certificate = made(sensitive=("Y1",))
    assert outcome(verified(certificate, replace(AGAINST, model=figure1())), "given model") == "passed"


def revoked(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "revoked.json"
    path.write_text(json.dumps({"kind": "auditor/revocations", "version": 1, "revocations": list(entries)}))
    return path


@pytest.mark.parametrize("by", ["id", "sha256"])
def test_revocation(tmp_path: Path, by: str) -> None:
    certificate = made()
    name = certificate.id if by == "id" else form_checker.digest(tree(certificate))
    entries = load_revocations(revoked(tmp_path, {by: name, "revoked": "2026-12-01", "reason": "mistake"}))
    before = verified(certificate, replace(AGAINST, revocations=entries))
    assert outcome(before, "revocation") == "passed"
    after = verified(certificate, replace(AGAINST, revocations=entries, at=date(2026, 12, 1)))
    assert failed(after) == ["revocation"]
    [check] = [check for check in after.checks if check.outcome == "failed"]
    assert check.detail == "revoked on 2026-12-01: mistake"
    other = verified(made("0.3"), replace(AGAINST, revocations=entries, at=date(2026, 12, 1)))
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
    monkeypatch.setattr(engine.Engine, "count", lambda self, enclosed: PatternCount(0, 10**9, "x", ()))

    def unsure(*given: Any, **more: Any) -> Worst:
        return replace(worst_patterns(*given, **more), upper=Fraction(1), complete=False)

    monkeypatch.setattr(engine, "worst_patterns", unsure)
    found = verified(certificate)
    assert failed(found) == []
    assert found.result == "undecided"
    for name in ("verdict", "count", "largest degree", "coverage"):
        assert outcome(found, name) == "not performed"
    monkeypatch.undo()
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)
    (count,) = [check for check in verified(certificate).checks if check.name == "count"]
    assert (count.outcome, count.detail) == ("passed", f"{certificate.pattern_count} patterns")


def test_an_exact_degree_is_not_passed_by_a_bound_next_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that was found, as long as nothing shows that no other is larger."""
    certificate = made("0.225")
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)

    def nearly(*given: Any, **more: Any) -> Worst:
        found = worst_patterns(*given, **more)
        return replace(found, upper=found.upper + Fraction(1, 10**39))

    monkeypatch.setattr(engine, "worst_patterns", nearly)
    assert outcome(verified(certificate), "largest degree") == "not performed"
    monkeypatch.undo()
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)
    assert outcome(verified(certificate), "largest degree") == "passed"


@pytest.mark.parametrize(
    ("place", "value", "name", "detail"),
    [
        (("max_degree", "upper"), "0.225", "largest degree", "from 0.22"),
        (("max_degree", "exact"), "1/5", "largest degree", "the largest degree is from 0.22"),
        (("pattern_count",), "2", "count", "there are from 1 to 1 patterns"),
        (("coverage", 0, "patterns"), "2", "coverage", "the patterns are spread in another way"),
        (("verdict",), "delta-fair", "verdict", "the engine finds not-delta-fair"),
        (("claim", "formula"), "max > 0", "words", "the sentence or the formula is not what the fields say"),
        (("limits",), [], "words", "the assumptions, limits or method are not worded"),
    ],
)
def test_the_engine_and_the_checker_contradict(
    place: tuple[str | int, ...], value: Any, name: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = put(tree(made()), place, value)
    if value == "delta-fair":
        content["pattern_count"] = "0"
    found = verify(open_certificate(envelope(renamed(content)), "x"), AGAINST)
    [check] = [check for check in found.checks if check.name == name]
    assert check.outcome == "failed"
    assert check.detail.startswith(detail)


@pytest.mark.parametrize("prior", ["1", "0", "-1/2", "3/2"])
def test_an_impossible_model_is_refused(prior: str) -> None:
    content = put(tree(made()), ("model", "exact", "prior"), prior)
    try:
        found = verify(open_certificate(envelope(renamed(content)), "x"), AGAINST)
    except InputError:
        return
    assert "model" in failed(found)
    assert "verdict" not in [check.name for check in found.checks]


def test_a_witness_of_nothing_in_the_model_is_a_failed_check() -> None:
    content = put(tree(made()), ("witness", "sensitive_values"), {"nothing": "x"})
    found = verify(open_certificate(envelope(renamed(content)), "x"), AGAINST)
    assert "witness" in failed(found)


def test_broken() -> None:
    assert broken(open_certificate(sign(made(), KEY), "x")) == ()
    changes = [(("issuer",), "x"), (("model", "exact", "prior"), "1/3"), (("model", "sha256"), "0" * 64)]
    for place, value in changes:
        assert broken(open_certificate(bare(put(tree(made()), place, value)), "x"))
    likelihood = ["1/2", "1/3"]
    impossible = renamed(put(tree(made()), ("model", "exact", "attributes", 0, "favourable"), likelihood))
    assert "its model is none" in broken(open_certificate(bare(impossible), "x"))


def chain(folder: Path, *certificates: Certificate) -> Path:
    """A folder with signed certificates."""
    folder.mkdir(exist_ok=True)
    for number, certificate in enumerate(certificates):
        (folder / f"{number}.json").write_bytes(sign(certificate, KEY))
    return folder


def successor(old: Certificate, day: date, delta: str | None = None) -> Certificate:
    """A certificate that supersedes another."""
    more = {"delta": delta} if delta else {}
    return renewed(old, figure1(), "a new law" if delta else None, day=day, **more)


FIRST = made(day=date(2025, 1, 1))
SECOND = successor(FIRST, date(2025, 6, 1), delta="0.3")
THIRD = successor(SECOND, date(2026, 6, 1))
TODAY = replace(AGAINST, at=date(2026, 7, 1))


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
    problem, heads = problems(chain(tmp_path, FIRST, THIRD))
    assert heads.startswith("2 are superseded by none")
    assert problem == f"the certificate that it supersedes is not here: {SECOND.id}"


def test_two_successors_of_one(tmp_path: Path) -> None:
    other = successor(FIRST, date(2026, 5, 1), delta="0.25")
    found = problems(chain(tmp_path, FIRST, SECOND, THIRD, other))
    assert found[:2] == [f"{FIRST.id} is superseded more than once"] * 2


def altered(certificate: Certificate, name: str, value: Any) -> Certificate:
    """A certificate whose link says something else."""
    assert certificate.supersedes is not None
    link = certificate.supersedes.model_copy(update={name: value})
    changed = certificate.model_copy(update={"supersedes": link})
    return changed.model_copy(update={"id": issuing.id_of(tree(changed))})


def test_a_link_that_lies(tmp_path: Path) -> None:
    before = scope_of(FIRST).model_copy(update={"delta": "0.05"})
    assert problems(chain(tmp_path / "a", FIRST, altered(SECOND, "scope", before))) == [
        "it does not say what its scope was before"
    ]
    assert problems(chain(tmp_path / "b", FIRST, altered(SECOND, "id", "0" * 32))) == [
        f"it gives {'0' * 32} for the identifier {FIRST.id}"
    ]
    assert problems(chain(tmp_path / "c", FIRST, altered(SECOND, "verified_with", "0" * 64))) == [
        f"it was issued after a check of another signature of {FIRST.id}"
    ]


def test_two_heads_are_reported(tmp_path: Path) -> None:
    other = made("0.1", day=date(2026, 5, 1))
    [problem] = problems(chain(tmp_path, FIRST, SECOND, THIRD, other))
    assert problem.startswith("2 are superseded by none: ")


def test_what_changed_of_the_scope_is_said(tmp_path: Path) -> None:
    found = verify_chain(chain(tmp_path, FIRST, SECOND, THIRD), TODAY)
    assert "; delta: 0.2 became 0.3; reason: a new law" in found.checks[0].detail
    assert "the signature of that one was not checked" in found.checks[0].detail


def test_other_files_are_named(tmp_path: Path) -> None:
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    (folder / "report.pdf").write_bytes(b"x")
    (folder / "older.json").mkdir()
    (folder / "lost.json").symlink_to("nowhere")
    found = verify_chain(folder, TODAY)
    assert found.result == "holds"
    named = "lost.json, older.json, report.pdf"
    assert found.checks[-1].detail == f"not looked at, since they are no files that end in .json: {named}"


def with_signature_of(certificate: Certificate, other: Certificate) -> bytes:
    """An envelope with the signature of another."""
    own, others = (json.loads(sign(c, KEY)) for c in (certificate, other))
    return form_checker.canonical(own | {"signatures": others["signatures"]}).encode() + b"\n"


def test_the_given_files_own_signature_counts(tmp_path: Path) -> None:
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    member = open_certificate(with_signature_of(THIRD, FIRST), "x")
    found = verify_chain(folder, TODAY, member)
    assert found.result == "does not hold"
    assert (found.checks[0].name, found.checks[0].outcome) == ("given file", "failed")


@pytest.mark.parametrize("name", ["0a.json", "zz.json"])
def test_the_order_of_file_names_is_no_matter(tmp_path: Path, name: str) -> None:
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    (folder / name).write_bytes(with_signature_of(THIRD, FIRST))
    assert verify_chain(folder, TODAY).result == "does not hold"


def test_a_certificate_taken_back_may_have_been_replaced(tmp_path: Path) -> None:
    folder = chain(tmp_path / "chain", FIRST, SECOND, THIRD)
    for certificate, result in ((SECOND, "holds"), (THIRD, "does not hold")):
        entries = load_revocations(revoked(tmp_path, {"id": certificate.id, "revoked": "2026-06-15"}))
        found = verify_chain(folder, replace(TODAY, revocations=entries))
        assert found.result == result
    [check] = [c for v in found.certificates for c in v.checks if c.outcome == "failed"]
    assert check.name == "revocation"


def test_a_link_backwards_in_time(tmp_path: Path) -> None:
    early = successor(FIRST, date(2025, 1, 1)).model_copy(update={"issued": date(2024, 1, 1)})
    early = early.model_copy(update={"id": issuing.id_of(tree(early))})
    assert problems(chain(tmp_path, FIRST, early)) == [
        "it was issued on 2024-01-01, before the one it supersedes"
    ]


def test_the_certificate_must_be_current(tmp_path: Path) -> None:
    folder = chain(tmp_path, FIRST, SECOND, THIRD)
    assert problems(folder, SECOND) == ["another certificate supersedes it"]
    assert problems(folder, made()) == ["dates", "it is not in the folder"]


def test_of_two_copies_the_signed_one_counts(tmp_path: Path) -> None:
    folder = chain(tmp_path, THIRD, FIRST, SECOND)
    (folder / "z.json").write_bytes(bare(tree(FIRST)))
    assert verify_chain(folder, TODAY).result == "holds"


def test_a_chain_can_be_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "WORK_LIMIT", 1)
    monkeypatch.setattr("auditor.certificate.verifying._by_engine", lambda *_: {})
    member = open_certificate(sign(made("0.225"), KEY), "cert.json")
    found = verify_chain(chain(tmp_path, made("0.225")), AGAINST, member)
    assert found.result == "undecided"
    assert found.checks[0].model_dump() == {
        "name": "given file",
        "outcome": "not performed",
        "detail": "it could not all be recomputed",
    }


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
    question = Against(at=date(2027, 1, 1), public_key=load_public_key(COMPAT / "key.pub.pem"))
    files = sorted(COMPAT.glob("*.dsse.json"))
    found = {path.name: verify(read_certificate(path), question) for path in files}
    assert {v.certificate.verdict for v in found.values()} == {"delta-fair", "not-delta-fair", "inconclusive"}
    assert {name: failed(v) for name, v in found.items()} == {path.name: [] for path in files}
    assert {v.result for v in found.values()} == {"holds"}
    assert len(files) == 3
