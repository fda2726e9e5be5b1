"""Accuracy and AUC on a table, by a model that is known by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.data.comparing import performances
from auditor.data.encoding import EncodedTable
from auditor.data.scoring import Performance
from auditor.data.tables import open_table
from auditor.errors import InputError
from auditor.model.spec import ModelSpec
from auditor.usecases.auditing import repair
from tests.model.samples import WITH_LIKELIHOOD, changed, put, read


def measured(table: Path, spec: ModelSpec) -> list[Performance]:
    return performances([spec.naive_bayes()], EncodedTable(spec, open_table(table)))


@pytest.fixture
def credit() -> ModelSpec:
    """P(good) = .7; women are good with odds .7·.4 : .3·.5, men .7·.6 : .3·.5; housing says little."""
    return read(WITH_LIKELIHOOD)


@pytest.fixture
def binned() -> ModelSpec:
    values = [{"value": "[-inf,30)", "label": "under 30"}, {"value": "[30,inf)", "label": "30 or over"}]
    age = {
        "name": "age",
        "sensitive": True,
        "values": values,
        "likelihood": {"favourable": [0.2, 0.8], "unfavourable": [0.9, 0.1]},
    }
    decision = {
        "name": "credit",
        "favourable": {"value": "A|B", "label": "good"},
        "unfavourable": "bad",
        "prior": 0.5,
    }
    return read(changed(WITH_LIKELIHOOD, put("attributes", [age]), put("decision", decision)))


def test_missing_cells_are_not_disclosed(credit: ModelSpec, tmp_path: Path) -> None:
    table = tmp_path / "credit.csv"
    table.write_text("credit,sex,housing\ngood,male,own\ngood,f,\nbad,,free\nbad,male,rent\n,male,own\n")
    (found,) = measured(table, credit)
    assert (found.rows, found.impossible) == (4, 0)
    # Odds: 3.36, 1.87, .93, 3.36·…: only "free" is predicted bad.
    assert found.accuracy == 0.75
    # Of the four pairs of a good and a bad row, good, male, own ties with bad, male, rent.
    assert found.auc == pytest.approx((1 + 0.5 + 1 + 0) / 4)


def test_numbers_fall_into_bins_and_joint_codes_are_told_apart(binned: ModelSpec, tmp_path: Path) -> None:
    table = tmp_path / "credit.csv"
    table.write_text("credit,age\nA,30\nB,64.5\nbad,29.9\nbad,\n")
    (found,) = measured(table, binned)
    assert (found.rows, found.accuracy, found.auc) == (4, 1.0, 1.0)
    table.write_text("credit,age\nA,thirty\nbad,29.9\n")
    encoded = EncodedTable(binned, open_table(table))
    assert (encoded.unknown, encoded.rows) == ({"age": 1}, 2)
    table.write_text("credit,age\nA,thirty\nbad,forty\n")
    with pytest.raises(
        InputError, match='"age" has none of the model\'s values in any row, but "forty", "thirty"'
    ):
        measured(table, binned)


def test_a_column_may_differ_in_punctuation_and_case(credit: ModelSpec, tmp_path: Path) -> None:
    table = tmp_path / "credit.csv"
    table.write_text("Credit_,SEX,housing \ngood,male,own\nbad,f,rent\n".replace("housing ", "housing_"))
    assert measured(table, credit)[0].rows == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("credit,sex\ngood,male\n", 'there is no column "housing" for an attribute'),
        (
            "credit,sex,housing\ngood,man,own\n",
            'column "sex" has none of the model\'s values in any row, but "man"; write them as in the model',
        ),
        (
            "credit,sex,housing\nperhaps,male,own\n",
            'column "credit" has neither "good" nor "bad"; it has "perhaps"',
        ),
    ],
)
def test_what_the_model_does_not_know_is_an_error(
    credit: ModelSpec, tmp_path: Path, text: str, message: str
) -> None:
    table = tmp_path / "credit.csv"
    table.write_text(text)
    with pytest.raises(InputError) as raised:
        measured(table, credit)
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(table))


def test_one_decision_alone_has_no_auc(tmp_path: Path) -> None:
    from tests.model.samples import WITH_COUNTS

    spec = read(WITH_COUNTS)
    names = [attribute.name for attribute in spec.attributes]
    row = ["good", *(attribute.values[0].value for attribute in spec.attributes)]
    table = tmp_path / "credit.csv"
    table.write_text(f"credit,{','.join(names)}\n{','.join(row)}\n")
    found = repair(spec, "0.1", data=table).summary.performance
    assert found is not None
    assert (found.data, found.rows, found.auc) == ("credit.csv", 1, None)
    assert found.accuracy is not None
