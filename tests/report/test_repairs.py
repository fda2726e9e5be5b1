"""The summary in words: what is missing, and names from outside."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.documents.audit import ModelRecord
from auditor.documents.comparison import ParameterChange
from auditor.documents.repair import LogLikelihoodsRecord, PerformanceRecord, PredictionShift, Repair
from auditor.model.spec import RepairRecord
from auditor.report.repairs import render, result_line, round_line
from auditor.report.sections.repair import price

MODEL = ModelRecord(
    name="<b>Loans</b>",
    sha256="0" * 64,
    decision="credit",
    favourable="yes",
    unfavourable="no",
    attributes=("a",),
    sensitive=("a",),
)


def document(**changes: Any) -> Repair:
    values: dict[str, Any] = {
        "method": "fair",
        "criterion": "difference",
        "delta": "0.1",
        "solver": "interior",
        "rounds": 1,
        "constraints": 1,
        "shortfall": None,
        "log_likelihoods": LogLikelihoodsRecord(
            unconstrained=-1.0, repaired=None, independent=-1.0, independent_mean=-2.0
        ),
        "price": None,
        "patterns_before": None,
        "patterns_after": 0,
        "total_patterns": 7,
        "parameters_moved": (
            ParameterChange(attribute=None, value=None, given=None, before=0.25, after=0.5),
            ParameterChange(attribute="a", value="x|y", given="unfavourable", before=0.0, after=1.0),
        ),
        "predictions": (
            PredictionShift(
                sensitive_values={"a": "x|y"},
                context_values={},
                favourable_given_context=(0.5, 0.5),
                favourable_given_pattern=(0.7, 0.6),
                degree=(0.2, 0.1),
            ),
        ),
        "performance": PerformanceRecord(data="rows.csv", rows=3, accuracy=(0.5, 1.0), auc=None),
        "before": MODEL,
        "after": MODEL,
    }
    return Repair.model_validate({**values, **changes})


def test_text() -> None:
    text = render(document(), "text")
    for piece in (
        "<b>Loans</b>: δ-fair at δ = 0.1, proved by the exact search",
        "not counted, among 7",
        "1 round, 1 constraint, solver interior",
        "Price in log-likelihood: none can be told",
        "minus infinity",
        "P(yes)              25.00%  50.00%",
        "P(a: x|y given no)      0%    100%",
        "for people of whom nothing else is known",
        "not defined  not defined",
    ):
        assert piece in " ".join(text.split()) or piece in text


def test_markdown_escapes_names() -> None:
    text = render(document(), "markdown")
    assert text.startswith("# &lt;b&gt;Loans&lt;/b&gt;: δ-fair")
    assert "x\\|y" in text


@pytest.mark.parametrize(
    ("left", "words"), [(None, "uncounted discrimination patterns"), (1, "1 discrimination pattern at")]
)
def test_an_unrepaired_model_is_called_so(left: int | None, words: str) -> None:
    assert words in result_line(document(method="unconstrained", solver=None, patterns_after=left))


def test_a_repair_without_changes_has_no_lists() -> None:
    text = render(document(parameters_moved=(), predictions=(), performance=None), "text")
    assert "moved most" not in text
    assert "Predictions" not in text


def test_a_price_above_that_of_independence_is_the_same_everywhere() -> None:
    """Conditions can cost more than independence does."""
    names = ("unconstrained", "repaired", "independent", "independent_mean")
    found = dict(zip(names, (-1, -5, -3, -4), strict=True))
    made = document(price=2.0, log_likelihoods=LogLikelihoodsRecord.model_validate(found))
    tree = {
        "method": "fair",
        "delta": 0,
        "criterion": "difference",
        "solver": "interior",
        "constraints": 1,
    }
    tree |= {"progress": [], "patterns_before": 3, "patterns_after": 0, "source_sha256": "0" * 64}
    record = RepairRecord.model_validate({**tree, "rounds": 1, "log_likelihoods": found})
    assert price(made) == price(record) == "200.0% of the way to the independent model"


def test_rounds() -> None:
    assert (
        round_line(3, 1, -1.5, None)
        == "round 3: 1 constraint, log-likelihood -1.5000, uncounted patterns left"
    )
    assert round_line(0, 0, -1.5, 1).endswith("0 constraints, log-likelihood -1.5000, 1 pattern left")
