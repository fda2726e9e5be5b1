"""The specification as an object: what it means, and what it accepts from Python."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from auditor.model.reading import parse_model
from auditor.model.spec import AttributeSpec, DecisionCounts, ModelSpec, RepairRecord, ValueSpec
from auditor.model.writing import dump_model
from tests.model.samples import (
    REPAIR,
    WITH_COUNTS,
    WITH_LIKELIHOOD,
    Edit,
    as_written,
    changed,
    drop,
    problems,
    put,
    read,
)


def test_counts_without_smoothing() -> None:
    model = read(WITH_COUNTS).naive_bayes()
    assert model.prior == Fraction(7, 10)
    assert model.attributes[0].likelihood == (
        (Fraction(4, 7), Fraction(1, 3)),
        (Fraction(3, 7), Fraction(2, 3)),
    )


def test_smoothing_applies_to_attributes_and_not_to_the_prior() -> None:
    model = read(changed(WITH_COUNTS, put("smoothing", 0.5))).naive_bayes()
    assert model.prior == Fraction(7, 10)
    assert model.attributes[0].likelihood[0] == (Fraction(9, 16), Fraction(3, 8))


def test_smoothing_allows_values_and_decisions_without_counts() -> None:
    counts = {"favourable": [7, 0], "unfavourable": [0, 0]}
    model = read(
        changed(WITH_COUNTS, put("smoothing", 1), put("attributes", 0, "counts", counts))
    ).naive_bayes()
    assert model.attributes[0].likelihood == (
        (Fraction(8, 9), Fraction(1, 2)),
        (Fraction(1, 9), Fraction(1, 2)),
    )


def test_missing_cells_are_left_out_of_the_attribute_only() -> None:
    tree = changed(WITH_COUNTS, put("attributes", 0, "counts", "favourable", [2, 1]))
    assert read(tree).naive_bayes().attributes[0].likelihood[0][0] == Fraction(2, 3)


def test_the_label_of_an_attribute_is_for_people_alone() -> None:
    spec = read(changed(WITH_COUNTS, put("attributes", 0, "label", "Sex")))
    assert spec.attribute_labels == {"sex": "Sex"}
    assert spec.naive_bayes() == read(WITH_COUNTS).naive_bayes()
    for form in ("json", "yaml"):
        assert parse_model(dump_model(spec, form).encode(), f"m.{form}") == spec
    assert read(WITH_COUNTS).attribute_labels == {"sex": "sex"}


def test_zero_probabilities_are_legal() -> None:
    tree = changed(WITH_COUNTS, put("attributes", 0, "counts", "favourable", [7, 0]))
    assert read(tree).naive_bayes().attributes[0].likelihood[1] == (Fraction(0), Fraction(2, 3))


def test_a_row_within_the_tolerance_is_divided_by_its_sum() -> None:
    row = [Decimal("0.333333333"), Decimal("0.333333333"), Decimal("0.333333333")]
    tree = changed(WITH_LIKELIHOOD, put("attributes", 1, "likelihood", "favourable", row))
    model = ModelSpec.model_validate(exact(tree)).naive_bayes()
    assert [pair[0] for pair in model.attributes[1].likelihood] == [Fraction(1, 3)] * 3


def test_a_row_at_the_tolerance_is_accepted() -> None:
    def with_last(digits: str) -> Any:
        row = [0.5, 0.25, as_written(digits)]
        return changed(WITH_LIKELIHOOD, put("attributes", 1, "likelihood", "favourable", row))

    likelihood = read(with_last("0.250000001")).naive_bayes().attributes[1].likelihood
    assert sum(pair[0] for pair in likelihood) == 1
    (line,) = problems(with_last(f"0.250000001{'0' * 300}1"))
    assert "sums to 1.000000001 instead of 1" in line


def test_counts_and_a_prior_that_agrees_with_them() -> None:
    tree = changed(WITH_COUNTS, put("decision", "prior", 0.7000000005))
    assert read(tree).naive_bayes().prior == Fraction(7, 10)


def test_weighted_counts_may_exceed_the_decision_by_rounding_only() -> None:
    counts = {"favourable": 0.3, "unfavourable": 0.7}
    row = {"favourable": [0.1, 0.2000000000000001], "unfavourable": [0.3, 0.4]}
    tree = changed(WITH_COUNTS, put("decision", "counts", counts), put("attributes", 0, "counts", row))
    assert read(tree).naive_bayes().prior == Fraction(3, 10)


def test_in_a_repaired_model_likelihoods_and_prior_stand_beside_counts() -> None:
    likelihood = {"favourable": [0.5, 0.5], "unfavourable": [0.4, 0.6]}
    tree = changed(
        WITH_COUNTS,
        put("repair", REPAIR),
        put("decision", "prior", 0.6),
        put("attributes", 0, "likelihood", likelihood),
        put("attributes", 0, "counts", "unfavourable", [0, 0]),
    )
    spec = read(tree)
    assert spec.repair is not None
    assert spec.repair.delta == Decimal("0.1")
    assert spec.naive_bayes().prior == Fraction(3, 5)
    assert spec.naive_bayes().attributes[0].likelihood[0] == (Fraction(1, 2), Fraction(2, 5))
    assert len(problems(changed(tree, drop("repair")))) == 2


def test_values_and_labels() -> None:
    spec = read(WITH_LIKELIHOOD)
    assert spec.attributes[0].values == (
        ValueSpec(value="male", label="male"),
        ValueSpec(value="f", label="female"),
    )
    assert spec.attributes[0].labels == ("male", "female")
    assert not spec.attributes[1].sensitive


def exact(tree: Any) -> Any:
    """Turn the floats of a tree into the decimals that they are written as."""
    match tree:
        case dict():
            return {key: exact(value) for key, value in tree.items()}
        case list():
            return [exact(value) for value in tree]
        case float():
            return Decimal(repr(tree))
        case _:
            return tree


def test_built_from_parts() -> None:
    plain = read(WITH_COUNTS)
    built = ModelSpec(
        kind="auditor/model",
        version=1,
        name="Credit",
        decision=plain.decision,
        attributes=(plain.attributes[0],),
    )
    assert built == plain
    assert ModelSpec.model_validate(plain) == plain


def test_built_from_parts_it_is_checked_as_a_whole() -> None:
    part = read(WITH_COUNTS).attributes[0].model_dump() | {"sensitive": False}
    with pytest.raises(ValidationError, match="none is sensitive"):
        ModelSpec(
            kind="auditor/model",
            version=1,
            name="Credit",
            decision=read(WITH_COUNTS).decision,
            attributes=(AttributeSpec.model_validate(part),),
        )


@pytest.mark.parametrize("number", [3, Decimal(3), np.int64(3)], ids=repr)
def test_exact_numbers_from_python(number: Any) -> None:
    assert DecisionCounts(favourable=number, unfavourable=number).favourable == 3


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0.1, "0.1 is a binary float; give the exact number as decimal.Decimal or int"),
        (np.float64(0.1), "is a binary float"),
        (float("nan"), "nan is a binary float"),
        (True, "true is not a number"),
        (np.True_, "is not a number"),
        (Fraction(1, 3), "0.333333333333333 is not a number"),
        (3j, "a complex is not a number"),
        (Decimal("sNaN"), "sNaN is not a finite number"),
        (10**5000, "is out of range"),
        (Decimal("0e-500"), "0E-500 is out of range; write 0"),
    ],
    ids=lambda value: str(value) if not isinstance(value, int) else type(value).__name__,
)
def test_inexact_numbers_from_python(number: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        DecisionCounts(favourable=number, unfavourable=Decimal(1))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("name", 0.5), "0.5 is not text; write a text"),
        (put("name", b"Credit"), "a bytes is not text; write a text"),
        (put(1, "Credit"), "1 is not accepted: Keys should be strings"),
    ],
    ids=["float", "bytes", "key"],
)
def test_what_only_python_can_hold(edit: Edit, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ModelSpec.model_validate(changed(WITH_COUNTS, edit))
    assert message in str(caught.value)


def test_a_set_has_no_order() -> None:
    values = {"male", "female"}
    with pytest.raises(ValidationError, match="stands where a list belongs"):
        ModelSpec.model_validate(changed(WITH_COUNTS, put("attributes", 0, "values", values)))


def test_it_is_frozen_and_can_be_pickled() -> None:
    spec = read(WITH_COUNTS)
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "another"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_repair_record_round_trip() -> None:
    record = RepairRecord.model_validate(exact(dict(REPAIR)))
    assert RepairRecord.model_validate(record.model_dump()) == record


def test_many_attributes_with_many_values() -> None:
    row = [1] * 300
    attribute = {
        "sensitive": True,
        "values": [f"value {i}" for i in range(300)],
        "counts": {"favourable": row, "unfavourable": row},
    }
    tree = changed(
        WITH_COUNTS,
        put("decision", "counts", {"favourable": 300, "unfavourable": 300}),
        put("attributes", [attribute | {"name": f"attribute {i}"} for i in range(20)]),
    )
    assert read(tree).naive_bayes().attributes[19].likelihood[299] == (Fraction(1, 300), Fraction(1, 300))
