"""What changed between two models, by the brute force."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from auditor.certificate.comparing import compare
from auditor.documents.certificate import Certificate
from auditor.documents.comparison import PatternChange
from auditor.model.spec import ModelSpec
from auditor.report.sections.changes import degrees
from auditor.search import changes
from auditor.search.additive import overlap as module
from auditor.search.criteria import Difference, Ratio
from auditor.search.limits import Limits
from auditor.search.question import Share
from tests.certificate.making import figure1, loaded, made
from tests.oracle import CriterionName

CRITERIA: dict[CriterionName, type[Difference] | type[Ratio]] = {"difference": Difference, "ratio": Ratio}
Labelled = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few patterns are looked through."""
    monkeypatch.setattr(changes, "_LOOKED_THROUGH", 10)


def spec(edit: dict[str, tuple[list[str], list[str]]], prior: str = "0.2") -> ModelSpec:
    """The paper's network with other likelihoods."""
    tree = figure1().model_dump()
    tree["decision"]["prior"] = Decimal(prior)
    for attribute in tree["attributes"]:
        if attribute["name"] in edit:
            for side, row in zip(("favourable", "unfavourable"), edit[attribute["name"]], strict=True):
                attribute["likelihood"][side] = [Decimal(p) for p in row]
    return ModelSpec.model_validate(tree)


def certificate(model: ModelSpec, **wishes: Any) -> Certificate:
    """A certificate of a model."""
    return made("0.1", model, **wishes)


def named(changes: tuple[PatternChange, ...]) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Patterns as their values."""
    return [(change.sensitive_values, change.context_values) for change in changes]


def test_the_same_model() -> None:
    found = compare(certificate(figure1()), certificate(figure1()))
    assert (found.gone.count, found.new.count, found.worse.count) == (0, 0, 0)
    assert found.regressed is False
    assert found.parameters_moved == ()
    assert found.parameters_compared == 13
    assert found.scope_changes == ()
    assert found.log_likelihood is None


def test_a_model_that_got_better() -> None:
    better = spec({"X": (["0.6", "0.4"], ["0.5", "0.5"])})
    found = compare(certificate(figure1()), certificate(better))
    assert (found.before.verdict, found.after.verdict) == ("not-delta-fair", "delta-fair")
    assert found.regressed is False
    assert (found.gone.count, found.new.count, found.worse.count) == (found.before.pattern_count, 0, 0)
    assert named(found.gone.top)[0] == ({"X": "not x"}, {"Y1": "y1"})
    assert found.gone.top[0].degree_before == pytest.approx(-0.2246, abs=1e-4)
    assert found.gone.top[0].degree_after is not None
    assert len(found.parameters_moved) == 2
    assert found.parameters_moved[0].attribute == "X"
    assert found.parameters_moved[0].given == "favourable"


def test_a_model_that_got_worse() -> None:
    worse = spec({"X": (["0.9", "0.1"], ["0.5", "0.5"])}, prior="0.3")
    found = compare(certificate(figure1()), certificate(worse))
    assert found.regressed is True
    assert found.worse.count is not None
    assert found.worse.count > 0
    assert found.worse.top[0].degree_before is not None
    assert abs(found.worse.top[0].degree_after or 0) > abs(found.worse.top[0].degree_before)
    assert found.new.count == len(found.new.top)
    assert {change.attribute for change in found.parameters_moved} == {"X", None}
    counts = (found.before.pattern_count, found.after.pattern_count)
    assert None not in counts
    assert (counts[0] or 0) - (found.gone.count or 0) == (counts[1] or 0) - (found.new.count or 0)


def test_another_structure() -> None:
    tree = figure1().model_dump()
    tree["attributes"] = tree["attributes"][:2]
    tree["attributes"][1]["values"] = ["y1", "never y1"]
    found = compare(certificate(figure1()), certificate(ModelSpec.model_validate(tree)))
    assert (found.attributes_added, found.attributes_removed, found.values_changed) == ((), ("Y2",), ("Y1",))
    assert found.parameters_compared == 7
    assert any(change.degree_after is None for change in found.gone.top)
    back = compare(certificate(ModelSpec.model_validate(tree)), certificate(figure1()))
    assert (back.attributes_added, back.attributes_removed) == (("Y2",), ())
    assert back.new.count == found.gone.count


@pytest.mark.usefixtures("quick")
def test_the_likelihood_of_the_new_counts() -> None:
    compas = loaded("compas")
    tree = compas.model_dump()
    row = tree["attributes"][0]["counts"]["favourable"]
    tree["attributes"][0]["counts"]["favourable"] = (row[0] - 500, row[1] + 500)
    moved = ModelSpec.model_validate(tree)
    found = compare(certificate(compas), certificate(moved), counted=moved).log_likelihood
    assert found is not None
    assert found.new_parameters is not None
    assert found.old_parameters is not None
    assert found.new_parameters > found.old_parameters
    same = compare(certificate(compas), certificate(compas), counted=compas).log_likelihood
    assert same is not None
    assert same.new_parameters == pytest.approx(-207054.688, abs=1e-3)
    assert compare(certificate(compas), certificate(figure1()), counted=figure1()).log_likelihood is None


@pytest.mark.usefixtures("quick")
def test_an_impossible_row_has_no_likelihood() -> None:
    tree = loaded("compas").model_dump()
    row = tree["attributes"][0]["counts"]["favourable"]
    tree["attributes"][0]["counts"]["favourable"] = (row[0] + row[1], row[1] - row[1])
    old = ModelSpec.model_validate(tree)
    new = loaded("compas")
    found = compare(certificate(old), certificate(new), counted=new).log_likelihood
    assert found is not None
    assert found.old_parameters is None
    assert found.new_parameters is not None
    assert math.isfinite(found.new_parameters)


def test_other_questions_compare_by_their_own_thresholds() -> None:
    found = compare(made("0.1"), made("0.2"))
    assert found.scope_changes == ("delta: 0.1 became 0.2",)
    assert found.regressions == ("the question was loosened",)
    assert compare(made("0.2"), made("0.1")).regressed is False
    assert found.gone.count == (found.before.pattern_count or 0) - 1
    assert found.new.count == 0
    ratio = compare(made("0.1"), made("0.1", criterion="ratio"))
    assert ratio.regressed is True
    rare = compare(made("0.1"), made("0.1", min_probability="0.1"))
    assert rare.regressions == ("the question was loosened",)
    assert rare.gone.count == 0
    again = compare(made("0.1", min_probability="0.1"), made("0.1", min_probability="0.1"))
    assert again.regressed is False


def reaching(degree: str, delta: str = "0.2") -> Certificate:
    """A certificate with another largest degree."""
    exactly = {"exact": str(Fraction(degree)), "lower": degree, "upper": degree}
    certificate = made(delta)
    return certificate.model_copy(update={"max_degree": certificate.max_degree.model_copy(update=exactly)})


def test_both_largest_degrees_have_digits_enough_to_see_whether_they_differ() -> None:
    shown = [
        degrees(found.before, found.after)
        for found in (
            compare(reaching("0.099999998925", "0.1"), reaching("0.099999998925")),
            compare(reaching("0.099999998925"), reaching("0.099999998926")),
            compare(reaching("0.05"), reaching("0.05")),
        )
    ]
    assert shown[:2] == [("0.099999998925",) * 2, ("0.099999998925", "0.099999998926")]
    assert shown[2] == ("0.05000", "0.05000")


@pytest.mark.parametrize(
    ("old", "new", "tolerance", "regressions"),
    [
        ("0.099999974", "0.099999999", "0.001", []),
        ("0.05", "0.0509", "0.001", []),
        ("0.05", "0.0511", "0.001", ["the largest degree grew by more than 0.001"]),
        ("0.05", "0.0509", "0.0001", ["the largest degree grew by more than 0.0001"]),
        ("0.05", "0.05", "0", []),
        ("0.1999", "0.2001", "0.001", ["the largest degree crossed 0.2"]),
        ("0.3", "0.1", "0.001", []),
    ],
)
def test_a_regression_is_more_than_the_tolerance(
    old: str, new: str, tolerance: str, regressions: list[str]
) -> None:
    found = compare(reaching(old), reaching(new), tolerance=Share.of(tolerance))
    assert list(found.regressions) == regressions
    assert found.regressed is bool(regressions)
    assert found.tolerance == tolerance


def test_a_verdict_that_got_worse_is_a_regression() -> None:
    found = compare(made("0.3"), made("0.2"))
    assert found.regressions == ("the verdict was delta-fair and is not-delta-fair",)
    assert compare(made("0.3"), made("0.31")).regressions == ("the question was loosened",)


@pytest.mark.parametrize(
    ("old", "new", "regressed"),
    [
        (("0.1", "0.2"), ("0.3", "0.4"), True),
        (("0.3", "0.4"), ("0.1", "0.2"), False),
        (("0", "1"), ("0", "1"), None),
    ],
)
def test_regression_where_nothing_is_exact(
    old: tuple[str, str], new: tuple[str, str], regressed: bool | None
) -> None:
    def vague(bounds: tuple[str, str]) -> Certificate:
        largest = made().max_degree.model_copy(update={"exact": None, "lower": bounds[0], "upper": bounds[1]})
        return made().model_copy(update={"max_degree": largest})

    assert compare(vague(old), vague(new)).regressed is regressed


def test_what_cannot_be_counted_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = made("0.1").model_copy(update={"pattern_count": None})
    old, new = unknown, certificate(spec({}, prior="0.25"))
    late = Limits(expired=lambda: True)
    found = compare(old, new, limits=late)
    assert (found.gone.count, found.new.count, found.worse.count) == (None, None, None)
    assert found.gone.reason == "not all patterns of both models could be counted"
    counted = made("0.1")
    found = compare(counted, new, limits=late)
    assert found.new.reason == "the time limit was reached before all patterns were compared"
    for name, value, reason in (
        ("_COMBINATIONS", 0, "there are 2 combinations of sensitive values in common"),
        ("_UNDECIDED", -1, None),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            found = compare(counted, new)
            assert found.gone.reason == reason
    with monkeypatch.context() as patch:
        patch.setattr(module, "_LISTED", 0)
        found = compare(counted, new)
        assert found.gone.count is not None
        assert found.worse.count is None
        assert found.worse.reason == "there are 18 pairs in common; at most 0 are compared one by one"
        patch.setattr(module, "_HALF", 1)
        assert compare(counted, new).gone.reason == "there are 18 pairs in common, too many to be counted"
    with monkeypatch.context() as patch:
        patch.setattr(module, "_KEPT", 0)
        assert compare(counted, new).new.count is not None
