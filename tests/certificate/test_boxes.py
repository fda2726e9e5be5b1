"""Certificates with a box: issued where every model in it is δ-fair, and checked by two algorithms."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate import box_checker, checker, issuing, verifying
from auditor.certificate.comparing import compare
from auditor.certificate.reading import open_certificate
from auditor.certificate.verifying import Against, verify
from auditor.choices import CriterionName
from auditor.documents.certificate import Certificate
from auditor.errors import InputError
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.report.certificates import render
from auditor.search.ranges import box, in_box
from auditor.search.reach import Reach
from auditor.usecases import certifying, reporting
from auditor.usecases.certifying import CertifyOptions
from tests.certificate.falsehoods import random_tree
from tests.certificate.making import DAY, EXAMPLES, bare, loaded, made, renamed

FIGURE = str(EXAMPLES / "figure1.json")
#: Its largest degree is .2246.
DELTA, SIZE = "0.3", "0.05"


def certified(size: str | None = SIZE, model: str = FIGURE, **wishes: Any) -> Certificate:
    """A certificate with a box."""
    return certifying.certify(model, CertifyOptions(delta=DELTA, issued=DAY, box=size, **wishes)).certificate


CONTENT = issuing.tree(certified())


def outcomes(content: dict[str, Any]) -> dict[str, bool | None]:
    """Each check by the checker's name for it, of which `verify` says the same."""
    data = bare(content)
    found = {name: holds for name, holds, _ in checker.examine(data, None, DAY)}
    told = verify(open_certificate(data, "cert.json"), Against(DAY))
    words = {True: "passed", False: "failed", None: "not performed"}
    assert {c.name: c.outcome for c in told.checks} == {name: words[holds] for name, holds in found.items()}
    return found


def with_box(size: str) -> dict[str, Any]:
    """The certificate as if its box had another size, with the sentence for that."""
    claim = {name: text.replace(f"1 + {SIZE}", f"1 + {size}") for name, text in CONTENT["claim"].items()}
    return renamed(CONTENT | {"box": size, "claim": claim})


def test_it_holds_by_both_and_says_so() -> None:
    found = outcomes(CONTENT)
    assert found == dict.fromkeys(found, True) | {"signature": None}
    assert found["box"]
    assert CONTENT["box"] == SIZE
    assert CONTENT["claim"]["sentence"].endswith(
        "; the same holds for every model whose probabilities are each at most 1 + 0.05 times larger or "
        "smaller than its own."
    )
    assert certified("0.0500") == certified()


def test_the_size_is_what_both_recompute() -> None:
    assert outcomes(with_box("0.01"))["box"] is True
    assert outcomes(with_box("0.5"))["box"] is False
    # A size by itself is not what the sentence says.
    assert outcomes(renamed(CONTENT | {"box": "0.01"}))["words"] is False
    without = {name: value for name, value in CONTENT.items() if name != "box"}
    assert outcomes(renamed(without))["words"] is False
    limits = issuing.tree(certified(None))["limits"]
    assert outcomes(renamed(CONTENT | {"limits": limits}))["words"] is False


@pytest.mark.parametrize(
    "changed",
    [
        CONTENT | {"box": None},
        CONTENT | {"box": "0"},
        CONTENT | {"box": "0.050"},
        CONTENT | {"box": "2"},
        CONTENT | {"box": f"0.{'0' * 100}1"},
        {**CONTENT, "box?": SIZE},
        issuing.tree(made("0.2")) | {"box": SIZE},
        issuing.tree(made("0.3", min_probability="0.1")) | {"box": SIZE},
        CONTENT | {"version": 1},
    ],
)
def test_what_no_certificate_can_say_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        open_certificate(bare(renamed(changed)), "cert.json")


def test_reports_say_so(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_bytes(bare(CONTENT))
    formats: tuple[reporting.ReportFormat, ...] = ("markdown", "html")
    for format in formats:
        text = re.sub("<.*?>", "", reporting.report(str(tmp_path / "cert.json"), format).content.decode())
        assert "models within a factor of 1.05: every one is δ-fair" in text
        assert "This is certified of a box of models too." in text
        assert "What holds beyond the audited model stands under" in text
    (tmp_path / "plain.json").write_bytes(bare(issuing.tree(certified(None))))
    text = reporting.report(str(tmp_path / "plain.json"), "markdown").content.decode()
    assert "within a factor of" not in text


def test_without_the_file_beside_it_the_checker_leaves_a_box_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of `verify` may still decide it."""
    monkeypatch.setattr(checker, "BOXES", "none.py")
    found = {name: holds for name, holds, _ in checker.examine(bare(CONTENT), None, DAY)}
    assert found["box"] is None
    opened = open_certificate(bare(CONTENT), "cert.json")
    assert verify(opened, Against(DAY)).result == "contents hold"
    monkeypatch.setattr(verifying, "decided", lambda *given, **options: None)
    assert verify(opened, Against(DAY)).result == "undecided"


def test_a_box_that_both_decide_against_each_other_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "decided", lambda *given, **options: False)
    checks = verify(open_certificate(bare(CONTENT), "cert.json"), Against(DAY)).checks
    assert {c.name for c in checks if c.outcome == "failed"} == {"box"}


@pytest.mark.parametrize(
    ("size", "wishes", "said"),
    [
        ("0.9", {}, "is not so, and no certificate is issued"),
        ("0", {}, "above 0"),
        ("1.5", {}, "from 0 to 1"),
        ("1e-200", {}, "100 places at most"),
        ("0.01", {"min_probability": "0.1"}, "minimum probability"),
        ("0.01", {"model": str(EXAMPLES / "german_scorecard.yaml")}, "only that of a naive Bayes model"),
    ],
)
def test_what_is_not_so_is_not_issued(size: str, wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        certified(size, **wishes)


def test_what_is_left_open_is_not_issued(monkeypatch: pytest.MonkeyPatch) -> None:
    open_ = Reach("inconclusive", None, Fraction(1), None)
    monkeypatch.setattr("auditor.search.reach.reach", lambda *given: open_)
    with pytest.raises(InputError, match="was not decided, and no certificate is issued"):
        certified()


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_it_is_issued_where_the_other_algorithm_agrees(criterion: CriterionName, tmp_path: Path) -> None:
    fair = 0
    rng = random.Random(9)
    for _ in range(12):
        spec = ModelSpec.model_validate(random_tree(rng))
        path = tmp_path / "model.json"
        path.write_text(dump_model(spec), encoding="utf-8")
        for delta, size in (("0.4", "0.02"), ("0.7", "0.2")):
            wishes = CertifyOptions(delta=delta, criterion=criterion, box=size, issued=DAY)
            plain = certifying.certify(
                str(path), CertifyOptions(delta=delta, criterion=criterion, issued=DAY)
            )
            exact = issuing.tree(plain.certificate)["model"]["exact"]
            found = box_checker.Box(exact, Fraction(size)).fair(criterion, Fraction(delta))
            try:
                content = issuing.tree(certifying.certify(str(path), wishes).certificate)
            except InputError:
                assert found is False
            else:
                fair += 1
                assert outcomes(content)["box"] is True
    assert 2 < fair < 22


def _moved(by: str) -> ModelSpec:
    """The example with one probability and its complement moved."""
    tree = loaded("figure1").model_dump()
    favourable = tree["attributes"][0]["likelihood"]["favourable"]
    step = type(favourable[0])(by)
    tree["attributes"][0]["likelihood"]["favourable"] = (favourable[0] + step, favourable[1] - step)
    return ModelSpec.model_validate(tree)


def test_a_model_in_the_box_is_certified_already(tmp_path: Path) -> None:
    """P(x | d) = .8 may become .84 at most, and .2 by no less than .2 / 1.05, so .8 by no more than .0095."""
    certificate, opened = certified(), open_certificate(bare(CONTENT), "cert.json")
    for by, inside in (("0", True), ("0.009", True), ("0.01", False), ("-0.01", True), ("-0.011", False)):
        spec = _moved(by)
        assert in_box(spec.naive_bayes(), loaded("figure1").naive_bayes(), Fraction(SIZE)) is inside
        (check,) = [c for c in verify(opened, Against(DAY, model=spec)).checks if c.name == "given model"]
        assert check.outcome == ("passed" if inside else "failed")
        comparison = compare(certificate, made(DELTA, spec))
        assert comparison.inside_box is inside
        assert f"{'is' if inside else 'is not'} in the box" in render(comparison, "text").replace("\n", " ")
    assert compare(made(DELTA), certificate).inside_box is None
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_bytes(bare(CONTENT))
    new.write_text(dump_model(_moved("0.001")), encoding="utf-8")
    again, comparison = certifying.recertify(
        old, str(new), CertifyOptions(issued=DAY, box="0.01"), unverified_predecessor=True
    )
    assert (again.certificate.box, comparison.inside_box) == ("0.01", True)


def test_another_decision_value_or_attribute_is_in_no_box() -> None:
    model = loaded("figure1").naive_bayes()
    share = Fraction(1, 10)
    tree = loaded("figure1").model_dump()
    tree["attributes"] = tree["attributes"][::-1]
    assert in_box(ModelSpec.model_validate(tree).naive_bayes(), model, share)
    tree["attributes"] = tree["attributes"][1:]
    tree["attributes"][0]["sensitive"] = True
    assert not in_box(ModelSpec.model_validate(tree).naive_bayes(), model, share)
    tree = loaded("figure1").model_dump()
    tree["decision"]["name"] = "another"
    assert not in_box(ModelSpec.model_validate(tree).naive_bayes(), model, share)
    assert box(model, share).prior == (Fraction(1, 5) / Fraction(11, 10), Fraction(11, 50))
