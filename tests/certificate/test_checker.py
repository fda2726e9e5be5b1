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

from auditor.certificate import checker, form_checker, probable_checker
from auditor.certificate.issuing import MAX_LISTED, tree
from auditor.certificate.signing import sign
from auditor.documents.parameters import exact_model
from auditor.documents.policy import MAX_VALID_DAYS
from auditor.model import checks
from auditor.search.additive.engine import Engine
from auditor.search.answer import answer
from auditor.search.criteria import CRITERIA as CRITERIA_OF
from auditor.search.question import Question
from tests.certificate.making import (
    CHECKER,
    DAY,
    KEY,
    OTHER_KEY,
    bare,
    loaded,
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
FILES = (
    *("checker.py", "form_checker.py", "scorecard_checker.py", "repair_checker.py", "box_checker.py"),
    "probable_checker.py",
)


def model_of(model: PlainModel, criterion: str) -> checker.Model:
    """The same model as the checker takes it."""
    return checker.Model(exact_model(naive_bayes(model)).model_dump(mode="json"), criterion)


def outcomes(data: bytes, key: bytes | None = None, at: date = DAY) -> dict[str, bool | None]:
    """Each check by its name."""
    return {name: holds for name, holds, _ in checker.examine(data, key, at)}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.hypothesis
def test_it_is_right_by_the_brute_force(family: str, criterion: CriterionName) -> None:
    @examples(12)
    @given(cases(FAMILIES[family], criterion))
    def compare(case: Case) -> None:
        model = model_of(case.model, criterion)
        assert model.sound
        worst = case.brute.worst()[0].size
        for threshold in (case.threshold, worst, worst * Fraction(999, 1000), Fraction(0)):
            patterns = model.above(threshold, Fraction(0))
            assert patterns is not None
            assert +patterns == case.brute.at(threshold).count_by_disclosed()
            for least in (case.min_probability, Fraction(1, 20)):
                if least:
                    probable = model.above(threshold, least)
                    assert probable is not None
                    assert probable.total() == len(case.brute.at(threshold, least).patterns)

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


@pytest.mark.parametrize("name", CRITERIA)
def test_it_agrees_with_the_engine_on_many_models(name: CriterionName) -> None:
    random = Random(1)
    for _ in range(120):
        plain = random_model(random)
        delta, least = (
            random.choice(["0", "0.01", "0.05", "0.1", "0.2", "0.5"]),
            random.choice([None, "0.05"]),
        )
        found = answer(naive_bayes(plain), Question.of(delta, name, least))
        model = model_of(plain, name)
        patterns = model.above(Fraction(delta), Fraction(least or "0"))
        beyond = model.above(found.largest.upper, Fraction(least or "0"))
        assert patterns is not None
        assert beyond is not None
        assert (patterns.total(), beyond.total()) == (found.count.total, 0)
        assert (patterns.total() == 0) == (found.verdict == "delta-fair")


@pytest.mark.parametrize("name", FILES)
def test_it_stands_alone(name: str) -> None:
    """Standard library only, and short enough to be read; the first names the others, and they name it."""
    text = CHECKER.with_name(name).read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).partition(".")[0])
    assert imported <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 500
    assert all(other == name or other in text for other in FILES if name == "checker.py")
    assert name == "checker.py" or "checker.py" in str(ast.get_docstring(ast.parse(text)))


def run(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it as a regulator would: a copy, in a folder of its own, without the project."""
    for name in FILES:
        shutil.copy(CHECKER.with_name(name), folder / name)
    command = [sys.executable, "-I", "checker.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_without_the_form_beside_it_nothing_is_decided(tmp_path: Path) -> None:
    script = shutil.copy(CHECKER, tmp_path / "checker.py")
    command = [sys.executable, "-I", script, "cert.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.startswith("NOT DECIDED: put form_checker.py beside this file")


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
    whole = json.loads((tmp_path / "cert.json").read_bytes())
    whole["signatures"][0]["sig"] = json.loads(sign(made("0.3"), KEY))["signatures"][0]["sig"]
    (tmp_path / "cert.json").write_bytes(rfc8785.dumps(whole) + b"\n")
    assert run("cert.json", "--public-key", "key.pem", "--at", DAY, folder=tmp_path).returncode == 1
    garbage = (tmp_path / "cert.json").read_bytes().replace(b'"sig":"', b'"sig":"AAAA')
    (tmp_path / "cert.json").write_bytes(garbage)
    assert run("cert.json", "--public-key", "key.pem", "--at", DAY, folder=tmp_path).returncode == 3


def test_without_a_key_the_signature_is_not_performed(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_bytes(bare(tree(made())))
    done = run("cert.json", "--at", DAY, folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "CONTENTS HOLD; signature not checked"
    assert "not-delta-fair" in done.stdout


def test_an_unsigned_certificate_does_not_hold_with_a_key() -> None:
    assert outcomes(bare(tree(made())), KEY.public_key().public_bytes_raw()) == {"signature": False}


def test_without_anything_on_the_path_the_signature_is_checked(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(public_pem())
    (tmp_path / "cert.json").write_bytes(sign(made(), OTHER_KEY))
    for name in FILES:
        shutil.copy(CHECKER.with_name(name), tmp_path / name)
    command = [
        sys.executable,
        "-I",
        "-S",
        "checker.py",
        "cert.json",
        "--public-key",
        "key.pem",
        "--at",
        str(DAY),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env={"PATH": "/none"}
    )
    assert done.returncode == 1


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
        b'{"kind": "auditor/certificate", "version": 3}',
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
    assert err.startswith("no certificate, or no key, that can be read: ")


def test_a_file_of_100_mb_is_unreadable(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    path = tmp_path / "cert.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**6)
    monkeypatch.setattr(sys, "argv", ["checker.py", str(path)])
    assert checker.main() == 3
    assert "larger than a certificate can be" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1/0",
        "1/01",
        "0x1",
        "1e3",
        "--1",
        "1.",
        ".5",
        "1/2/3",
        "١",
        " 1",
        "2/4",
        "3/1",
        "-0",
        "9" * 40_002,
    ],
)
def test_what_is_no_fraction_is_refused(text: str) -> None:
    assert not form_checker.is_a(text, "fraction")


@pytest.mark.parametrize("text", ["0", "1", "-1", "1/3", "-3/7", "12", "9" * 40_001])
def test_fractions(text: str) -> None:
    assert form_checker.is_a(text, "fraction")


def test_the_limits_are_those_of_models() -> None:
    assert (form_checker.NAME_LIMIT, form_checker.TEXT_LIMIT) == (checks.MAX_NAME, checks.MAX_TEXT)
    assert form_checker.ATTRIBUTE_LIMIT == checks.MAX_ATTRIBUTES == checks.MAX_VALUES
    assert form_checker.VALUE_LIMIT == checks.MAX_ALL_VALUES
    assert (form_checker.DAYS_LIMIT, form_checker.LISTED_LIMIT) == (MAX_VALID_DAYS, MAX_LISTED)


@given(
    st.text(max_size=8) | st.text(st.sampled_from("aа\u200b\u200d\u2800é\u0301ﬁ \u3164\ufe0f"), max_size=5)
)
@examples(300)
def test_names_are_those_of_models(text: str) -> None:
    for form, accept in (("name", checks.name), ("text", checks.text)):
        try:
            accept(text)
            accepted = True
        except ValueError:
            accepted = False
        assert form_checker.is_a(text, form) is accepted
    assert form_checker.differ([text, "a fi"]) is (checks.looks(text) != "a fi")


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
    assert form_checker.canonical(value).encode() == rfc8785.dumps(value)
    assert form_checker.read_json(rfc8785.dumps(value)) == value


def test_names_are_sorted_by_utf_16() -> None:
    """The example of RFC 8785, in which the order by code point would be another."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    expected = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(form_checker.canonical(dict.fromkeys(names, 0)))) == expected


def test_numbers_longer_than_python_prints_are_read() -> None:
    assert checker.number("1" + "0" * 5000 + "/1" + "0" * 4999) == 10


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little work for anything."""
    monkeypatch.setattr(checker, "WORK_LIMIT", 10)


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


def test_what_is_late_is_not_decided() -> None:
    data = bare(tree(made("0.225")))
    late = {name: holds for name, holds, _ in checker.examine(data, None, DAY, late=lambda: True)}
    assert {name for name, holds in late.items() if holds is None} == {
        *("signature", "largest degree", "count", "coverage", "verdict")
    }


def test_lists_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(random_model(Random(5)), "difference")
    whole = model.above(Fraction(1, 20), Fraction(0))
    monkeypatch.setattr(checker, "LIST_LIMIT", 2)
    short = model_of(random_model(Random(5)), "difference")
    assert short.above(Fraction(1, 20), Fraction(0)) == whole
    assert len(short.common[0]) <= 2


def test_with_a_minimum_probability_a_fair_model_holds() -> None:
    fair = made("0.3", min_probability="0.1")
    assert fair.verdict == "delta-fair"
    found = outcomes(bare(tree(fair)))
    assert found["verdict"] is True
    assert found["count"] is True
    assert "coverage" not in found


def test_with_a_minimum_probability_all_is_recomputed() -> None:
    certificate = made("0.1", min_probability="0.2")
    assert certificate.verdict == "not-delta-fair"
    found = outcomes(bare(tree(certificate)))
    assert found == dict.fromkeys(found, True) | {"signature": None}
    forged = renamed(put(tree(certificate), ("pattern_count",), "1"))
    assert outcomes(bare(forged))["count"] is False
    rarer = tree(made("0.1", min_probability="0.2"))
    rarer["min_probability"] = "0.9"
    assert outcomes(bare(renamed(rarer)))["witness"] is False


def test_without_the_file_that_counts_what_is_probable_it_is_not_decided(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_bytes(bare(tree(made("0.1", min_probability="0.2"))))
    assert run("cert.json", "--at", DAY, folder=tmp_path).returncode == 0
    (tmp_path / "probable_checker.py").unlink()
    command = [sys.executable, "-I", "checker.py", "cert.json", "--at", str(DAY)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 4
    assert "put probable_checker.py beside this file" in done.stdout


#: How pairs are parted: nothing listed, all listed and looked at one by one, and all of one ratio at a time.
WAYS = [{}, {"DEARER": 0, "WIDTH": 1e3}, {"DEARER": 0, "WIDTH": 1e-9}, {"DEARER": 1, "WIDTH": 1.0}]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.hypothesis
def test_what_is_probable_is_counted_in_every_way(
    family: str, criterion: CriterionName, way: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in way.items():
        monkeypatch.setattr(probable_checker, name, value)

    @examples(8)
    @given(cases(FAMILIES[family], criterion))
    def compare(case: Case) -> None:
        model, least = model_of(case.model, criterion), case.min_probability or Fraction(1, 50)
        found = probable_checker.count(model, case.threshold, least, checker.CLOSE)
        assert found == len(case.brute.at(case.threshold, least).patterns)

    compare()


def test_it_counts_what_is_probable_in_german_as_the_engine_does() -> None:
    exact = exact_model(loaded("german").naive_bayes())
    model = checker.Model(exact.model_dump(mode="json"), "difference")
    found = model.above(Fraction(1, 10), Fraction(1, 100))
    engine = Engine(
        loaded("german").naive_bayes(), CRITERIA_OF["difference"](Fraction(1, 10)), Fraction(1, 100)
    )
    assert found is not None
    assert found.total() == engine.count().total == 1_009_646


def test_what_is_hardly_probable_at_all_is_left_out() -> None:
    model = model_of(random_model(Random(1)), "difference")
    assert model.above(Fraction(1, 10), Fraction(1, 10**201)) is None


@pytest.mark.usefixtures("small_limits")
def test_with_a_minimum_probability_too_large_a_model_is_left_out() -> None:
    found = outcomes(bare(tree(made("0.1", loaded("compas"), min_probability="0.01"))))
    assert found["count"] is found["largest degree"] is None
    assert found["verdict"] is True


def test_out_of_date() -> None:
    data = bare(tree(made()))
    assert outcomes(data, at=DAY + timedelta(days=364))["dates"] is True
    assert outcomes(data, at=DAY + timedelta(days=365))["dates"] is False
    assert outcomes(data, at=DAY - timedelta(days=1))["dates"] is False


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("model", "exact", "prior"), "1"),
        (("model", "exact", "attributes", 0, "favourable", 0), "9/10"),
    ],
)
def test_an_impossible_model_is_not_recomputed(place: tuple[str | int, ...], value: object) -> None:
    found = outcomes(bare(put(tree(made()), place, value)))
    assert found["model"] is False
    assert "verdict" not in found


@pytest.mark.parametrize(("name", "delta", "count"), [("compas", "0.1", 2017), ("adult", "0.1", 4_083_350)])
def test_real_models(name: str, delta: str, count: int) -> None:
    certificate = made(delta, loaded(name))
    assert certificate.pattern_count == str(count)
    assert False not in outcomes(bare(tree(certificate))).values()


def test_moving_the_entries_of_a_long_list_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [str(Fraction(10 + i % 7, 10 * 40 + sum(i % 7 for i in range(40)))) for i in range(40)]
    attribute = {"values": list(map(str, range(40))), "favourable": rows, "unfavourable": rows[::-1]}
    attributes = [attribute | {"name": str(i), "sensitive": i == 0} for i in range(3)]
    exact = {"prior": "1/2", "attributes": attributes}
    work = []
    for moved in (1 << 14, 1):
        monkeypatch.setattr(probable_checker, "MOVED", moved)
        model = checker.Model(exact, "difference", checker.NaiveBayes)
        assert probable_checker.count(model, Fraction(1, 50), Fraction(1, 10**7), checker.CLOSE)
        work.append(model.work)
    assert work[0] < work[1]
