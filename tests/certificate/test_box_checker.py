"""The stand-alone checker of boxes: it agrees with the engine, finds what was changed, and runs alone."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate import box_checker
from auditor.certificate.signing import sign
from auditor.choices import CriterionName
from auditor.documents.parameters import exact_model
from auditor.documents.record import to_json
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.reading import load_model
from auditor.model.spec import ModelSpec
from auditor.search.criteria import CRITERIA
from auditor.search.limits import DEFAULT
from auditor.search.ranges import box
from auditor.search.reach import reach
from auditor.search.reach_counts import _Counting
from auditor.usecases.auditing import audit
from tests.certificate.making import KEY, made

EXAMPLES = Path(__file__).parents[2] / "examples"


def random_model(rng: random.Random) -> NaiveBayes:
    """Few rows, so that many probabilities are 0."""
    attributes = []
    for i in range(rng.randint(1, 4)):
        m = rng.randint(2, 3)
        pool = rng.choice([(0, 1, 5), (1, 2, 3, 40), (7, 8, 9)])
        columns = []
        for _ in range(2):
            counts = [rng.choice(pool) for _ in range(m)]
            counts[0] += not any(counts)
            columns.append([Fraction(n, sum(counts)) for n in counts])
        sensitive = i == 0 or rng.random() < 0.4
        likelihood = tuple(zip(*columns, strict=True))
        attributes.append(Attribute(f"a{i}", tuple("uvw"[:m]), sensitive, likelihood))
    prior = Fraction(rng.randint(1, 19), 20)
    return NaiveBayes("model", "decision", "yes", "no", prior, tuple(attributes))


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("seed", range(60))
def test_it_agrees_with_the_engine(name: CriterionName, seed: int) -> None:
    """At thresholds apart from the largest degree, and within a billionth of it on both sides."""
    rng = random.Random(f"{name} {seed}")
    model, share = random_model(rng), Fraction(rng.choice([0, 1, 10, 300]), 1000)
    exact = json.loads(exact_model(model).model_dump_json())
    checked = box_checker.Box(exact, share)
    largest = reach(box(model, share), CRITERIA[name](Fraction(1, 10))).upper
    hair = Fraction(1, 10**9)
    for delta in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1), largest - hair, largest + hair):
        if not 0 <= delta <= 1:
            continue
        verdict, found = reach(box(model, share), CRITERIA[name](delta)).verdict, checked.fair(name, delta)
        assert found == (verdict == "all-delta-fair") or (found is None and delta == largest), delta
    # At the largest degree itself it may leave the answer open, and may not be wrong.
    assert checked.fair(name, largest) is not False


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("seed", range(30))
def test_it_counts_as_the_engine_does(name: CriterionName, seed: int) -> None:
    """Exactly at most thresholds, and around the number where a pattern is at the threshold."""
    rng = random.Random(f"counts {name} {seed}")
    model, share = random_model(rng), Fraction(rng.choice([0, 1, 10, 300]), 1000)
    checked = box_checker.Box(json.loads(exact_model(model).model_dump_json()), share)
    ranges = box(model, share)
    largest = reach(ranges, CRITERIA[name](Fraction(1))).upper
    for delta in (Fraction(0), Fraction(1, 9), Fraction(rng.randint(1, 99), 101), largest):
        rule = CRITERIA[name](delta)
        some, every = (
            _Counting(ranges, rule, DEFAULT, certain=certain).run()[:2] for certain in (False, True)
        )
        for told, counts in (
            (some, checked.count(name, delta, every=False)),
            (every, checked.count(name, delta, every=True)),
        ):
            assert told[0] == told[1]
            assert counts is not None
            assert counts[0] <= told[0] <= counts[1]
            assert counts[0] == counts[1] or delta not in (0, Fraction(1, 9)) or share == 0
        extreme = checked.count(name, delta, every=True, extreme=True)
        assert extreme is not None
        assert extreme[0] <= every[0] <= every[0] * extreme[1]


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    """Audits of COMPAS whose box is fair, unfair, and neither."""
    model = load_model(EXAMPLES / "compas.json")
    asked = {
        "all-delta-fair": ("0.42", "0.005"),
        "varies": ("0.42", "0.1"),
        "none-delta-fair": ("0.1", "0.1"),
    }
    found = {}
    for verdict, (delta, share) in asked.items():
        document = json.loads(to_json(audit(model, delta, top=1, box=share)))
        (told,) = document["how_far"]["sets"]
        assert told["verdict"] == verdict
        found[verdict] = document
    return found


@pytest.mark.parametrize("verdict", ["all-delta-fair", "varies", "none-delta-fair"])
def test_what_an_audit_says_is_true(documents: dict[str, dict[str, Any]], verdict: str) -> None:
    checks = list(box_checker.examine(documents[verdict]))
    assert len(checks) == {"all-delta-fair": 7, "varies": 9, "none-delta-fair": 8}[verdict]
    assert all(holds for _, holds, _ in checks), checks


@pytest.mark.parametrize("hair", ["", "0000000000000000000000001"])
def test_a_largest_degree_next_to_the_threshold_is_told_as_it_is(hair: str) -> None:
    # No float is 0.3: the nearest is below.
    value = Fraction(4, 5), Fraction(1, 5)
    attribute = Attribute("s", ("a", "b"), True, (value, value[::-1]))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 2), (attribute,))
    document = json.loads(to_json(audit(model, f"0.3{hair}", top=1, box="0")))
    assert document["verdict"] == "delta-fair"
    checks = {name: holds for name, holds, _ in box_checker.examine(document)}
    assert False not in checks.values(), checks


def _set(name: str, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        document["how_far"]["sets"][0][name] = value

    return change


def _worst(change: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda document: change(document["how_far"]["sets"][0]["worst"])


def _one_more(name: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        told = document["how_far"]["sets"][0]
        told[name] = [told[name][0] + 1, told[name][1] + 1]

    return change


def _varies(document: Any) -> None:
    document["how_far"]["sets"][0].update(verdict="varies", patterns_in_every=[0, 0])


def _more(document: Any) -> None:
    document["how_far"]["sets"][0]["size"] = "0.5"


def _likelier(worst: Any) -> None:
    worst["parameters"][0]["given_favourable"] = "99/100"


def _certain(document: Any) -> None:
    """A value in the place of a sensitive one that isn't."""
    shown = {"RecSupervisionLevel": "Level 3 or 4"}
    document["delta"], told = "0.0001", document["how_far"]["sets"][0]
    told["verdict"] = "none-delta-fair"
    told["certain"] = {"sensitive_values": shown, "context_values": {}, "least_degree": 0.01}


def _nothing_sensitive(document: Any) -> None:
    for attribute in document["parameters"]["attributes"]:
        attribute["sensitive"] = False
    exact = box_checker.canonical(document["parameters"])
    document["model"]["sha256"] = hashlib.sha256(exact.encode()).hexdigest()


def _model(document: Any) -> None:
    document["parameters"]["prior"] = "1/2"


#: What was changed, in which document.
CHANGES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "fair where it isn't": ("varies", _set("verdict", "all-delta-fair")),
    "unfair where it is fair": ("all-delta-fair", _set("verdict", "varies")),
    "one pattern in all": ("varies", _set("verdict", "none-delta-fair")),
    "a larger box": ("all-delta-fair", _more),
    "no pattern in all": ("none-delta-fair", _varies),
    "a pattern in some more": ("varies", _one_more("patterns_in_some")),
    "a pattern in some though all are fair": ("all-delta-fair", _one_more("patterns_in_some")),
    "a pattern in all more": ("none-delta-fair", _one_more("patterns_in_every")),
    "a pattern in all of some": ("varies", _one_more("patterns_in_every")),
    "fewer patterns than there are": ("varies", _set("patterns_in_some", [0, 1])),
    "an upper end too low": ("varies", _set("max_degree_bounds", [0.2, 0.3])),
    "a lower end too high": ("varies", _set("max_degree_bounds", [0.9, 0.95])),
    "parameters outside": ("varies", _worst(_likelier)),
    "another prior": ("varies", _worst(lambda worst: worst.update(prior="1/2"))),
    "another pattern": ("varies", _worst(lambda worst: worst["context_values"].popitem())),
    "another sign": ("varies", _worst(lambda worst: worst.update(degree=-worst["degree"]))),
    "another degree": ("varies", _worst(lambda worst: worst.update(degree=worst["degree"] / 2))),
    "another model": ("varies", _model),
    "another threshold": ("all-delta-fair", lambda document: document.update(delta="0.41")),
    "no pattern": ("none-delta-fair", _set("certain", None)),
    "a pattern that is none": ("varies", _certain),
    "nothing sensitive": ("all-delta-fair", _nothing_sensitive),
    "a lower end of nothing": ("varies", _set("worst", None)),
    "another largest degree": ("varies", _set("max_degree", 0.99)),
    "another least degree": (
        "none-delta-fair",
        lambda document: document["how_far"]["sets"][0]["certain"].update(least_degree=0.9),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_found(documents: dict[str, dict[str, Any]], change: str) -> None:
    verdict, apply = CHANGES[change]
    document = copy.deepcopy(documents[verdict])
    apply(document)
    assert False in [holds for _, holds, _ in box_checker.examine(document)]


@pytest.mark.parametrize(
    ("verdict", "change"),
    [
        ("varies", _set("verdict", "fair")),
        ("varies", _set("size", "-0.5")),
        ("varies", _set("size", "1/10.9")),
        ("varies", _set("max_degree_bounds", [0, "1"])),
        ("varies", _set("patterns_in_some", [0, 1.5])),
        ("varies", _set("patterns_in_some", [0, 1, 2])),
        ("varies", lambda document: document.update(delta="2")),
        ("varies", lambda document: document.update(criterion="Ratio")),
        ("varies", lambda document: document["parameters"]["attributes"][0].update(sensitive="no")),
    ],
)
def test_what_no_audit_says_is_refused(
    documents: dict[str, dict[str, Any]], verdict: str, change: Callable[[Any], None]
) -> None:
    document = copy.deepcopy(documents[verdict])
    change(document)
    with pytest.raises(ValueError, match=r"no box|another|is out of range|that is none"):
        list(box_checker.examine(document))


def test_a_name_stands_once(
    documents: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.json"
    monkeypatch.setattr(sys, "argv", ["box_checker.py", str(path)])
    text = json.dumps(documents["varies"])
    for told, code in ((text, 0), (text.replace('"delta":', '"delta": "0.9", "delta":', 1), 3)):
        path.write_text(told, encoding="utf-8")
        assert box_checker.main() == code


def test_it_runs_alone(documents: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """With the standard library, in another folder."""
    script = tmp_path / "box_checker.py"
    script.write_bytes(Path(box_checker.__file__).read_bytes())
    for verdict, document in documents.items():
        (tmp_path / "audit.json").write_text(json.dumps(document), encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-I", "-S", script, "audit.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, ""), verdict
        assert "FAILED" not in run.stdout
    changed = copy.deepcopy(documents["varies"])
    _model(changed)
    (tmp_path / "audit.json").write_text(json.dumps(changed), encoding="utf-8")
    codes = [
        subprocess.run(
            [sys.executable, "-I", "-S", script, name], cwd=tmp_path, capture_output=True, check=False
        ).returncode
        for name in ("audit.json", "nothing.json", script.name)
    ]
    assert codes == [1, 3, 3]


def test_a_certificate_holds_about_its_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed or not, a certificate gives the model; what is checked is the box that is named."""
    spec = load_model(EXAMPLES / "compas.json")
    assert isinstance(spec, ModelSpec)
    certificate = made("0.42", spec, date(2026, 11, 20))
    (tmp_path / "bare.json").write_text(to_json(certificate), encoding="utf-8")
    (tmp_path / "signed.json").write_bytes(sign(certificate, KEY))
    for name in ("bare.json", "signed.json"):
        for share, code in (("0.005", 0), ("0.1", 1), ("-1", 3), ("x", 3), ("1e999999999", 3)):
            monkeypatch.setattr(sys, "argv", ["box_checker.py", str(tmp_path / name), share])
            assert box_checker.main() == code, (name, share)
    monkeypatch.setattr(sys, "argv", ["box_checker.py", str(tmp_path / "bare.json")])
    assert box_checker.main() == 3
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_too_much_is_left_open(
    documents: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that wasn't gone through is said to hold."""
    monkeypatch.setattr(box_checker, "SPAN_LIMIT", 0)
    found = [holds for name, holds, _ in box_checker.examine(documents["varies"]) if "verdict" in name]
    assert found == [None]
    monkeypatch.setattr(box_checker, "SENSITIVE_LIMIT", 1)
    checks = box_checker.examine(documents["varies"])
    assert [holds for name, holds, _ in checks if "verdict" in name] == [None]


@pytest.mark.parametrize(("limit", "left_out"), [(0, (2, 3, 0)), (2_500, (1, 0, 0))])
def test_what_is_too_much_is_not_counted(
    documents: dict[str, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    left_out: tuple[int, int, int],
) -> None:
    """Whether that is known before or found out on the way; what it needn't count for is checked."""
    monkeypatch.setattr(box_checker, "COUNT_LIMIT", limit)
    for verdict, number in zip(("none-delta-fair", "varies", "all-delta-fair"), left_out, strict=True):
        checks = list(box_checker.examine(documents[verdict]))
        left = [name for name, holds, _ in checks if holds is None]
        assert len(left) == number
        assert all("pattern" in name for name in left)
        assert False not in [holds for _, holds, _ in checks]


def test_a_degree_below_every_float_has_no_sign() -> None:
    half = Fraction(1, 2)
    attribute = Attribute("a", ("u", "v"), True, ((half, half / 2), (half, 1 - half / 2)))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 10**400), (attribute,))
    document = json.loads(to_json(audit(model, "0.1", top=1, box="0.1")))
    assert document["how_far"]["sets"][0]["worst"]["degree"] == 0
    assert all(holds for _, holds, _ in box_checker.examine(document))


def test_denominators_of_many_digits_are_read() -> None:
    assert box_checker.number(f"1/{10**30 + 1}") == Fraction(1, 10**30 + 1)
    for text in ("1/2.5", f"1/{10**30}.5", "1/1e200000"):
        with pytest.raises(ValueError, match="is out of range"):
            box_checker.number(text)


def test_forty_attributes_are_decided() -> None:
    """So many contexts that only a union of their log-odds can be gone through."""
    rows = []
    for i in range(40):
        p = Fraction(1, 2) + Fraction(1, 4 + i * i)
        rows.append(Attribute(f"a{i}", ("u", "v"), i < 2, ((p, 1 - p), (1 - p, p))))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 2), tuple(rows))
    checked = box_checker.Box(json.loads(exact_model(model).model_dump_json()), Fraction(1, 1000))
    largest = reach(box(model, Fraction(1, 1000)), CRITERIA["difference"](Fraction(1, 10))).upper
    assert checked.fair("difference", largest) is not False
    assert checked.fair("difference", largest + Fraction(1, 10**9))
    assert checked.fair("difference", largest - Fraction(1, 10**9)) is False


def test_work_is_counted_before_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, likelihoods = random.Random(4), []
    for values in (2, 60, 60, 60):
        columns = [[Fraction(rng.randint(1, 10**6)) for _ in range(values)] for _ in range(2)]
        rows = zip(*([n / sum(column) for n in column] for column in columns), strict=True)
        likelihoods.append(tuple(rows))
    attributes = [
        Attribute(f"a{i}", tuple(f"v{v}" for v in range(len(rows))), i == 0, rows)
        for i, rows in enumerate(likelihoods)
    ]
    model = NaiveBayes("model", "decision", "yes", "no", Fraction(1, 2), tuple(attributes))
    exact = json.loads(exact_model(model).model_dump_json())
    lengths = [0]

    def counted(moved: Any, **how: Any) -> list[Any]:
        found = sorted(moved, **how)
        lengths.append(len(found))
        return found

    monkeypatch.setattr(box_checker, "WORK_LIMIT", 10_000)
    monkeypatch.setattr(box_checker, "sorted", counted, raising=False)
    checked = box_checker.Box(exact, Fraction(1, 10**18))
    assert checked.fair("difference", Fraction(1, 100)) is None
    assert max(lengths) <= 10_000
