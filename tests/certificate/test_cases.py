"""Certificates that once passed though they should not have; each is refused, and by both verifiers alike."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from auditor.certificate import checker
from auditor.certificate.reading import read_certificate
from auditor.certificate.signing import load_public_key
from auditor.certificate.verifying import Against, verify
from auditor.errors import InputError
from tests.certificate.making import ROOT

CASES = ROOT.parent / "shared" / "cases" / "certificates"
#: What both say of them: 1 where a claim is false, 3 where it is no certificate.
EXPECTED = {
    "chain-member-badsig/badsig.json": 1,
    "checker-ignores-sentence-assumptions-limits/certificate.json": 1,
    "checker-lenient-shape/certificate.json": 3,
    "checker-max-degree-false-min-probability-0/certificate.json": 1,
    "checker-number-forms/certificate.json": 3,
    "checker-unknown-criterion-false-verdict/certificate.json": 3,
    "claim-sentence-spoof/homoc.json": 3,
    "claim-sentence-spoof/spoofc.json": 3,
    "claim-sentence-spoof/unic.json": 3,
    "count-forged-under-min-probability/certificate.json": 3,
    "coverage-empty/cert.json": 1,
    "false-exact-minprob/cert.json": 1,
    "inconclusive-with-count-0/certificate.json": 3,
    "no-openssl/garbage-sig.json": 1,
    "recertify-launders/bad_old3.json": 1,
    "rsa-ec-accepted/ec-signed.json": 3,
    "rsa-ec-accepted/rsa-signed.json": 3,
    "self-contradicting-reasons-and-method/certificate.json": 3,
}


def key_of(path: Path) -> Path:
    """The key that came with a case."""
    kind = path.name.partition("-")[0]
    candidates = (f"{kind}.pub.pem", "key.pub.pem", "k.pub.pem", "../key.pub.pem")
    return next(found for name in candidates if (found := path.parent / name).exists())


def by_verify(path: Path, at: date) -> int:
    """The exit code of `auditor verify`."""
    try:
        found = verify(read_certificate(path), Against(at=at, public_key=load_public_key(key_of(path))))
    except InputError:
        return 3
    return {"holds": 0, "contents hold": 0, "does not hold": 1, "undecided": 4}[found.result]


def by_checker(path: Path, at: date) -> int:
    """The exit code of the checker."""
    try:
        key = checker.public_key(key_of(path).read_bytes())
        checks = list(checker.examine(path.read_bytes(), key, at))
    except checker.UNREADABLE:
        return 3
    return 1 if any(holds is False for _, holds, _ in checks) else 0


@pytest.mark.skipif(not CASES.is_dir(), reason="../shared is not beside this checkout")
@pytest.mark.parametrize("case", EXPECTED)
def test_it_is_refused_by_both(case: str) -> None:
    at = date(2026, 11, 28)
    assert (by_verify(CASES / case, at), by_checker(CASES / case, at)) == (EXPECTED[case],) * 2
