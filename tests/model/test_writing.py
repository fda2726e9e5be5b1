"""What is written is read again as the same."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.reading import parse_model
from auditor.model.spec import ModelSpec
from auditor.model.writing import WIDTH, dump_model
from tests.model.samples import REPAIR, WITH_COUNTS, WITH_LIKELIHOOD, as_written, changed, put, read

FORMS = ("json", "yaml")

labels = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cf", "Cn"]), min_size=1, max_size=12
).filter(str.strip)
tricky = st.sampled_from(
    [
        "no",
        "NULL",
        "~",
        "1",
        "1.0",
        "1e3",
        "2020-01-01",
        "a: b",
        "- a",
        "#x",
        "{{7*7}}",
        "<script>",
        " a ",
        "'",
        '"',
        "\\",
        "é",
        "😀",
    ]
)


@st.composite
def specs(draw: st.DrawFn) -> ModelSpec:
    attributes = []
    for i in range(draw(st.integers(1, 3))):
        values = draw(st.lists(labels | tricky, min_size=2, max_size=5, unique=True))
        column = st.lists(
            st.decimals(Decimal("0.01"), 100, places=draw(st.integers(2, 12))),
            min_size=len(values),
            max_size=len(values),
        )
        counts = {"favourable": draw(column), "unfavourable": draw(column)}
        attributes.append({"name": f"attribute {i}", "sensitive": True, "values": values, "counts": counts})
    decision = {
        "name": draw(labels | tricky).join(("decision ", "")),
        "favourable": {"value": "1", "label": draw(labels | tricky)},
        "unfavourable": "the other value",
        "counts": {"favourable": Decimal(1000), "unfavourable": Decimal("1E+3")},
    }
    text = draw(st.none() | st.just("Two\nlines\tand \\ 'more': #"))
    return ModelSpec.model_validate(
        {
            "kind": "auditor/model",
            "version": 1,
            "name": draw(labels | tricky),
            "decision": decision,
            "smoothing": draw(st.sampled_from([0, Decimal("1.50"), Decimal("1E-7")])),
            "attributes": attributes,
            "provenance": {"description": text, "rows": 7},
        }
    )


@given(specs(), st.sampled_from(FORMS))
def test_round_trip(spec: ModelSpec, form: Any) -> None:
    text = dump_model(spec, form)
    again = parse_model(text.encode(), f"m.{form}")
    assert again == spec
    assert again.naive_bayes() == spec.naive_bayes()
    assert dump_model(again, form) == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "digits", ["0.70", "0.7000000000000000000000000000001", "1.20E-7", "0.699999999999999999999999999999"]
)
def test_every_digit_is_kept_as_written(digits: str, form: Any) -> None:
    tree = changed(WITH_LIKELIHOOD, put("decision", "prior", as_written(digits)))
    assert digits in dump_model(read(tree), form)


@given(specs())
def test_other_readers_agree(spec: ModelSpec) -> None:
    written = json.loads(dump_model(spec), parse_float=Decimal, parse_int=Decimal)
    assert written["name"] == spec.name
    assert written["attributes"][0]["counts"]["favourable"] == list(spec.attributes[0].counts.favourable)  # type: ignore[union-attr]
    assert yaml.safe_load(dump_model(spec, "yaml"))["name"] == spec.name


def test_lines_are_short_and_rows_stand_on_one() -> None:
    row = [Fraction(1, 64)] * 64
    digits = [as_written(f"{float(number):.6f}") for number in row]
    attribute = {
        "name": "month",
        "values": [f"month {i}" for i in range(64)],
        "likelihood": {"favourable": digits, "unfavourable": digits},
    }
    spec = read(changed(WITH_LIKELIHOOD, put("attributes", 1, attribute)))
    for form in FORMS:
        text = dump_model(spec, form)  # type: ignore[arg-type]
        assert parse_model(text.encode(), f"m.{form}") == spec
        assert max(map(len, text.splitlines())) <= WIDTH
    assert '"likelihood": {"favourable": [0.6, 0.4], "unfavourable": [0.5, 0.5]}' in dump_model(spec)


JSON = """{
  "kind": "auditor/model",
  "version": 1,
  "name": "Credit",
  "decision": {
    "name": "credit",
    "favourable": "good",
    "unfavourable": "bad",
    "prior": 0.6,
    "counts": {"favourable": 7, "unfavourable": 3}
  },
  "smoothing": 0,
  "attributes": [
    {
      "name": "sex",
      "sensitive": true,
      "values": ["male", "female"],
      "counts": {"favourable": [4, 3], "unfavourable": [1, 2]}
    }
  ],
  "repair": {
    "method": "fair",
    "delta": 0.1,
    "criterion": "difference",
    "solver": "sqp",
    "rounds": 3,
    "constraints": 12,
    "log_likelihoods": {"unconstrained": -10.5, "repaired": -10.75},
    "patterns_before": 4,
    "patterns_after": 0,
    "source_sha256": "0000000000000000000000000000000000000000000000000000000000000000"
  }
}
"""

YAML = """kind: "auditor/model"
version: 1
name: Credit
decision:
  name: credit
  favourable: good
  unfavourable: bad
  prior: 0.6
  counts:
    favourable: 7
    unfavourable: 3
smoothing: 0
attributes:
  - name: sex
    sensitive: true
    values: ["male", "female"]
    counts:
      favourable: [4, 3]
      unfavourable: [1, 2]
repair:
  method: fair
  delta: 0.1
  criterion: difference
  solver: sqp
  rounds: 3
  constraints: 12
  log_likelihoods:
    unconstrained: -10.5
    repaired: -10.75
  patterns_before: 4
  patterns_after: 0
  source_sha256: "0000000000000000000000000000000000000000000000000000000000000000"
"""


@pytest.mark.parametrize(("form", "text"), [("json", JSON), ("yaml", YAML)])
def test_the_written_form(form: Any, text: str) -> None:
    spec = read(changed(WITH_COUNTS, put("repair", REPAIR), put("decision", "prior", 0.6)))
    assert dump_model(spec, form) == text


def test_without_counts_no_smoothing_is_written() -> None:
    assert "smoothing" not in dump_model(read(WITH_LIKELIHOOD))
