"""The checker: it stands alone, is right by the brute force, agrees with the engine, and knows its limits."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from auditor.certificate import checker
from auditor.certificate.issuing import answer, tree
from auditor.certificate.signing import sign
from auditor.documents.parameters import exact_model
from auditor.search.criteria import Difference, Ratio
from tests.certificate.making import (
    CHECKER,
    DAY,
    EXAMPLES,
    KEY,
    OTHER_KEY,
    bare,
    made,
    public_pem,
    put,
    renamed,
)
from tests.fuzzing import examples
from tests.oracle import CriterionName, PlainAttribute, PlainModel
from tests.search.comparing import naive_bayes
from tests.strategies import FAMILIES, Case, cases

CRITERIA: list[CriterionName] = ["difference", "ratio"]


def model_of(model: PlainModel, criterion: str, threshold: Fraction) -> checker.Model:
    """The same model as the checker takes it."""
    return checker.Model(exact_model(naive_bayes(model)).model_dump(mode="json"), criterion, threshold)


def outcomes(data: bytes, key: Path | None = None, at: date = DAY) -> dict[str, bool | None]:
    """Each check by its name."""
    return {name: holds for name, holds, _ in checker.examine(data, key, at)}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.hypothesis
def test_it_is_right_by_the_brute_force(family: str, criterion: CriterionName) -> None:
    @examples(12)
    @given(cases(FAMILIES[family], criterion))
    def compare(case: Case) -> None:
        model = model_of(case.model, criterion, case.threshold)
        assert model.sound
        worst = case.brute.worst()[0].size
        for known in (Fraction(0), worst):
            patterns, largest = model.recompute(known)
            assert patterns is not None
            assert +patterns == case.patterns.count_by_disclosed()
            assert largest == worst

    compare()


def random_model(random: Random) -> PlainModel:
    """A small model of any kind; some with zeros, equal rows or rows as near as a repaired model's."""
    attributes = []
    for _ in range(random.randint(1, 4)):
        values = random.choice([2, 2, 2, 3, 4])
        columns = []
        for _ in range(2):
            weights = [Fraction(random.choice([1, 2, 3, 17, 10**9, 10**9 + 1])) for _ in range(values)]
            columns.append([w / sum(weights) for w in weights])
        if random.random() < 0.2:
            columns[1] = columns[0]
        rows = list(zip(*columns, strict=True))
        if random.random() < 0.3:
            # One value becomes impossible under one decision.
            (p, q), (_, last) = rows[0], rows[-1]
            rows[0], rows[-1] = (p, Fraction(0)), (rows[-1][0], last + q)
        attributes.append(PlainAttribute(tuple(rows), random.random() < 0.6))
    if not any(attribute.sensitive for attribute in attributes):
        attributes[0] = replace(attributes[0], sensitive=True)
    return PlainModel(Fraction(random.randint(1, 99), 100), tuple(attributes))


@pytest.mark.parametrize(("name", "criterion"), [("difference", Difference), ("ratio", Ratio)])
def test_it_agrees_with_the_engine_on_thousands_of_models(
    name: str, criterion: type[Difference] | type[Ratio]
) -> None:
    random = Random(1)
    for _ in range(750):
        plain = random_model(random)
        threshold = Fraction(random.choice([0, 1, 5, 10, 20, 50]), 100)
        found = answer(naive_bayes(plain), criterion(threshold))
        patterns, largest = model_of(plain, name, threshold).recompute(Fraction(0))
        assert patterns is not None
        assert (largest, sum(patterns.values())) == (found.lower, found.count)
        assert (found.lower <= threshold) == (found.verdict == "delta-fair")


def test_it_stands_alone() -> None:
    """Standard library only, one file, short enough to be read in one sitting."""
    text = CHECKER.read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).partition(".")[0])
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) < 400


def run(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it as a regulator would: a copy, in a folder of its own, without the project."""
    script = shutil.copy(CHECKER, folder / "checker.py")
    command = [sys.executable, "-I", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_signed_certificate_holds(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_bytes(sign(made(), KEY))
    (tmp_path / "key.pem").write_bytes(public_pem())
    (tmp_path / "other.pem").write_bytes(public_pem(OTHER_KEY))
    done = run("cert.json", "--public-key", "key.pem", "--at", DAY, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "HOLDS"
    assert "FAILED" not in done.stdout
    done = run("cert.json", "--public-key", "other.pem", "--at", DAY, folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "DOES NOT HOLD; FAILED: signature"
    broken = (tmp_path / "cert.json").read_bytes().replace(b'"sig":"', b'"sig":"AAAA')
    (tmp_path / "cert.json").write_bytes(broken)
    assert run("cert.json", "--public-key", "key.pem", "--at", DAY, folder=tmp_path).returncode == 1


def test_without_a_key_the_signature_is_not_performed(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_bytes(bare(tree(made())))
    done = run("cert.json", "--at", DAY, folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "HOLDS; not performed: signature"
    assert "not-delta-fair" in done.stdout


def test_an_unsigned_certificate_does_not_hold_with_a_key(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(public_pem())
    assert outcomes(bare(tree(made())), tmp_path / "key.pem")["signature"] is False


def test_without_openssl_the_signature_is_not_performed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key.pem").write_bytes(public_pem())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert outcomes(sign(made(), KEY), tmp_path / "key.pem")["signature"] is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"1",
        b"null",
        b"\xff",
        b'{"kind": 1, "kind": 2}',
        b'{"kind": NaN}',
        b'{"kind": 1.5}',
        b'{"kind": 12345678901234567890}',
        b"[" * 100_000,
        b'{"kind": "auditor/certificate", "version": 2}',
        b'{"kind": "auditor/certificate", "version": true}',
        b'{"kind": "auditor/model", "version": 1}',
        b'{"payload": 5}',
        b'{"payload": "e30=", "payloadType": "x", "signatures": []}',
        b'{"payload": "e30=", "payloadType": "x", "signatures": [{}]}',
        b'{"payload": "e30=", "payloadType": "x", "signatures": [{"keyid": "", "sig": ""}]}',
    ],
)
def test_what_is_no_certificate_is_unreadable(
    data: bytes, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    path = tmp_path / "cert.json"
    path.write_bytes(data)
    monkeypatch.setattr(sys, "argv", ["checker.py", str(path)])
    assert checker.main() == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("not a certificate that can be read: ")


def test_a_file_of_100_mb_is_unreadable(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    path = tmp_path / "cert.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**6)
    monkeypatch.setattr(sys, "argv", ["checker.py", str(path)])
    assert checker.main() == 3
    assert "larger than a certificate can be" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "1/0", "1/01", "0x1", "1e3", "--1", "1.", ".5", "1/2/3", "١", " 1", "9" * 100_001]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        checker.number(text)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**7), 10**7)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(json_values)
@examples(100)
def test_its_canonical_json_is_that_of_rfc_8785(value: Any) -> None:
    assert checker.canonical(value).encode() == rfc8785.dumps(value)
    assert checker.read_json(rfc8785.dumps(value)) == value


def test_names_are_sorted_by_utf_16() -> None:
    """The example of RFC 8785, in which the order by code point would be another."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    expected = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(checker.canonical(dict.fromkeys(names, 0)))) == expected


def test_numbers_longer_than_python_prints_are_read() -> None:
    assert checker.number("1" + "0" * 5000 + "/1" + "0" * 4999) == 10


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little work for anything."""
    monkeypatch.setattr(checker, "WORK_LIMIT", 202)


@pytest.mark.usefixtures("small_limits")
def test_a_model_too_large_is_not_decided_unless_a_witness_or_a_bound_does(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    refuted = outcomes(bare(tree(made("0.2"))))
    assert refuted["verdict"] is True
    assert refuted["largest degree"] is None
    assert refuted["count"] is None
    assert refuted["coverage"] is None
    bounded = outcomes(bare(tree(made("0.5"))))
    assert bounded["verdict"] is True
    assert bounded["count"] is True
    unsure = bare(tree(made("0.225")))
    assert outcomes(unsure)["verdict"] is None
    path = tmp_path / "cert.json"
    path.write_bytes(unsure)
    monkeypatch.setattr(sys, "argv", ["checker.py", str(path), "--at", str(DAY)])
    assert checker.main() == 4
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "NOT DECIDED; not performed: signature, largest degree, count, coverage, verdict"


def test_products_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "LIST_LIMIT", 2)
    assert outcomes(bare(tree(made("0.225"))))["verdict"] is None


def test_with_a_minimum_probability_a_fair_model_holds() -> None:
    fair = made("0.3", min_probability="0.1")
    assert fair.verdict == "delta-fair"
    checks = outcomes(bare(tree(fair)))
    assert checks["verdict"] is True
    assert checks["count"] is True
    assert "coverage" not in checks


def test_with_a_minimum_probability_what_was_not_counted_is_not_performed() -> None:
    """The witness is checked; the largest degree of the probable patterns isn't known here."""
    certificate = made("0.1", min_probability="0.2")
    assert certificate.verdict == "not-delta-fair"
    checks = outcomes(bare(tree(certificate)))
    assert checks["witness"] is True
    assert checks["verdict"] is True
    assert checks["count"] is None
    assert checks["largest degree"] is None
    rarer = tree(made("0.1", min_probability="0.2"))
    rarer["min_probability"] = "0.9"
    assert outcomes(bare(renamed(rarer)))["witness"] is False


def test_out_of_date() -> None:
    data = bare(tree(made()))
    assert outcomes(data, at=DAY + timedelta(days=364))["dates"] is True
    assert outcomes(data, at=DAY + timedelta(days=365))["dates"] is False
    assert outcomes(data, at=DAY - timedelta(days=1))["dates"] is False


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("model", "exact", "prior"), "1"),
        (("model", "exact", "attributes", 0, "name"), "Y1"),
        (("model", "exact", "attributes", 0, "sensitive"), False),
        (("model", "exact", "attributes", 0, "favourable", 0), "9/10"),
        (("model", "exact", "attributes", 0, "values", 0), "not x"),
    ],
)
def test_an_impossible_model_is_not_recomputed(place: tuple[str | int, ...], value: object) -> None:
    checks = outcomes(bare(put(tree(made()), place, value)))
    assert checks["model"] is False
    assert "verdict" not in checks


@pytest.mark.parametrize(("name", "delta", "count"), [("compas", "0.1", 2017), ("adult", "0.1", 4_083_350)])
def test_real_models(name: str, delta: str, count: int) -> None:
    from auditor.model.reading import load_naive_bayes

    certificate = made(delta, load_naive_bayes(EXAMPLES / f"{name}.json"))
    assert certificate.pattern_count == str(count)
    assert False not in outcomes(bare(tree(certificate))).values()
