"""The audit document: rounding that can't turn a verdict, frozen parts, schemas without drift."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from auditor.documents.audit import Audit, PatternRecord
from auditor.documents.record import to_json
from auditor.documents.rounding import both_ends, ends_beside, limit_of, round_beside
from auditor.documents.schemas import schemas
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.resources import resource
from auditor.search.criteria import Difference
from auditor.search.pattern import Pattern
from tests.report.documents import audit_document

HALF = Fraction(1, 2)
MODEL = NaiveBayes(
    "m", "decision", "yes", "no", HALF, (Attribute("a", ("u", "v"), True, ((HALF, HALF), (HALF, HALF))),)
)


@given(
    st.fractions(0, 1) | st.just(1 - Fraction(1, 10**17)),
    st.fractions(-1, 1) | st.sampled_from([-1, 0, 1]).map(Fraction),
    st.sampled_from([0, 1, -1]),
)
def test_a_rounded_degree_is_on_the_same_side_of_the_rounded_threshold(
    threshold: Fraction, value: Fraction, side: int
) -> None:
    beside = min(max(threshold + Fraction(side, 10**30), Fraction(0)), Fraction(1))
    for degree in (value, beside, -beside):
        rounded = round_beside(degree, threshold)
        assert (abs(rounded) > limit_of(threshold)) == (abs(degree) > threshold)
        assert rounded == pytest.approx(float(degree), abs=1e-15)


@given(st.fractions(0, 1), st.fractions(0, 1), st.fractions(0, 1), st.sampled_from([0, 1, -1]))
def test_ends_are_rounded_outward_and_the_proved_one_to_its_side_of_the_threshold(
    threshold: Fraction, first: Fraction, second: Fraction, side: int
) -> None:
    beside = min(max(threshold + Fraction(side, 10**30), Fraction(0)), Fraction(1))
    for lower, upper in (sorted((first, second)), sorted((first, beside)), (beside, beside)):
        low, high = ends_beside(lower, upper, threshold)
        limit = limit_of(threshold)
        assert low <= lower
        assert low <= round_beside(lower, threshold) <= high
        assert high >= upper or high == limit
        assert both_ends(lower, upper, threshold)[1] >= upper
        assert (high > limit) == (upper > threshold)


def test_values_are_named_and_an_infinite_divergence_is_null() -> None:
    pattern = Pattern(
        ((0, 1),), (), Fraction(1, 4), (HALF, Fraction(2, 3)), Fraction(3, 4), HALF, Difference(Fraction(0))
    )
    record = PatternRecord.of(MODEL, pattern, Fraction(0))
    assert record.sensitive_values == {"a": "v"}
    assert record.context_values == {}
    assert record.divergence_nats is None


def test_a_document_is_frozen_and_takes_no_guesses() -> None:
    document = audit_document()
    with pytest.raises(ValidationError):
        document.verdict = "delta-fair"  # type: ignore[misc]
    for changed in ({"verdict": "fair"}, {"max_degree": "0.1"}, {"max_degree": float("nan")}, {"extra": 1}):
        with pytest.raises(ValidationError):
            Audit.model_validate(document.model_dump() | changed)


def test_json_reads_back_and_holds_no_control_characters() -> None:
    name = "a\x1b[31m\u202e\x9b\n<b>é€😀"
    text = to_json(audit_document(name=name))
    assert "".join(character for character in text if not character.isprintable()).strip("\n") == ""
    assert Audit.model_validate_json(text).model.name == json.loads(text)["model"]["name"] == name
    assert "é€😀" in text


@pytest.mark.parametrize("name", schemas())
def test_schemas_in_the_repository_are_those_of_the_classes(name: str) -> None:
    stored = resource("schemas", f"{name}.json").read_text(encoding="utf-8")
    assert stored == schemas()[name], "run `make schemas`"


def test_a_degree_of_1_above_a_threshold_next_to_it_is_no_number_above_1() -> None:
    threshold = 1 - Fraction(1, 10**21)
    assert round_beside(Fraction(-1), threshold) == -1.0
    assert both_ends(Fraction(1), Fraction(1), threshold) == (1.0, 1.0)


def test_a_degree_of_1_is_above_a_threshold_next_to_it_and_one_of_the_threshold_is_not() -> None:
    delta = "0.99999999999999999"
    threshold = Fraction(delta)
    above, at = round_beside(Fraction(1), threshold), round_beside(threshold, threshold)
    assert at <= limit_of(delta) < above
    assert ends_beside(threshold, threshold, threshold)[1] == at
