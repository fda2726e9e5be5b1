"""The use case: what the repaired specification keeps, carries and says."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import auditor
from auditor.documents.repair import Repair
from auditor.errors import InputError
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.reading import load_naive_bayes, parse_model
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.repair import repairing
from auditor.repair.baselines import independent, independent_mean
from auditor.repair.repairing import before_repair, counts_of
from auditor.report.repairs import render, result_line
from auditor.search.answer import Answer, answer
from auditor.search.question import Question
from auditor.usecases.auditing import repair
from tests.model.samples import WITH_COUNTS, WITH_LIKELIHOOD, changed, put, read
from tests.repair.test_learner import is_fair

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def compas() -> ModelSpec:
    return load_naive_bayes(EXAMPLES / "compas.json")


def test_the_repaired_model_keeps_what_it_does_not_change(compas: ModelSpec) -> None:
    made = repair(compas, "0.1")
    spec = made.model
    assert isinstance(spec, ModelSpec)
    assert spec.provenance == compas.provenance
    assert spec.decision.counts == compas.decision.counts
    for old, new in zip(compas.attributes, spec.attributes, strict=True):
        assert new.model_copy(update={"likelihood": None}) == old
        assert new.likelihood is not None
        assert {sum(new.likelihood.favourable), sum(new.likelihood.unfavourable)} == {Decimal(1)}
    assert before_repair(spec) == compas
    assert parse_model(dump_model(spec).encode(), "fair.json") == spec


def test_the_record_says_how(compas: ModelSpec) -> None:
    made = repair(compas, "0.1")
    record, summary = made.model.repair, made.summary
    assert isinstance(made.model, ModelSpec)
    assert record is not None
    assert (record.method, record.criterion, record.solver) == ("fair", "difference", "interior")
    assert (record.delta, record.rounds, record.constraints) == (Decimal("0.1"), 1, 28)
    assert (record.patterns_before, record.patterns_after, record.shortfall) == (2017, 0, None)
    assert record.source_sha256 == compas.naive_bayes().sha256() == summary.before.sha256
    assert summary.after.sha256 == made.model.naive_bayes().sha256()
    found = {name: float(value) for name, value in record.log_likelihoods if value is not None}
    assert found == pytest.approx(
        {
            "unconstrained": -207054.688,
            "repaired": -207394.505,
            "independent": -207750.604,
            "independent_mean": -208639.406,
        },
        abs=1e-3,
    )
    assert summary.price == pytest.approx(0.4883, abs=1e-4)
    assert len(summary.parameters_moved) == 10
    sizes = [abs(move.after - move.before) for move in summary.parameters_moved]
    assert sizes == sorted(sizes, reverse=True)
    degrees = [abs(shift.degree[0]) for shift in summary.predictions]
    assert degrees == sorted(degrees, reverse=True)
    assert degrees[0] == pytest.approx(0.4066, abs=1e-4)
    assert all(abs(shift.degree[1]) <= 0.1 < abs(shift.degree[0]) for shift in summary.predictions)


@pytest.mark.parametrize(
    ("method", "likelihood"), [("independent", independent), ("independent-mean", independent_mean)]
)
def test_independent_baselines_are_fair_at_any_threshold(
    compas: ModelSpec, method: Any, likelihood: Any
) -> None:
    made = repair(compas, "0", method=method)
    summary = made.summary
    assert (summary.patterns_before, summary.patterns_after, summary.solver) == (14688, 0, None)
    counts = counts_of(compas)
    assert summary.log_likelihoods.repaired == pytest.approx(counts.log_likelihood(likelihood(counts)))
    assert made.model.repair is not None
    assert made.model.repair.solver == "closed form"


def test_the_unconstrained_baseline_says_that_it_is_unfair(compas: ModelSpec) -> None:
    made = repair(compas, "0.1", method="unconstrained")
    assert made.summary.patterns_after == made.summary.patterns_before == 2017
    assert made.summary.price == 0
    assert made.summary.parameters_moved == ()
    assert result_line(made.summary) == "COMPAS: not repaired; 2,017 discrimination patterns at δ = 0.1"


def test_a_repaired_model_is_repaired_anew_from_its_counts(compas: ModelSpec) -> None:
    strict = repair(compas, "0.01").model
    again = repair(strict, "0.1")
    assert again.model == repair(compas, "0.1").model


def test_smoothing_counts_in_the_objective_and_is_kept() -> None:
    smoothed = read(changed(WITH_COUNTS, put("smoothing", 2)))
    made = repair(smoothed, "0.01")
    assert isinstance(made.model, ModelSpec)
    assert made.model.smoothing == 2
    counts = counts_of(smoothed)
    assert counts.model == smoothed.naive_bayes()
    assert sum(counts.total(0)) == 7 + 4 + 3 + 4
    found = made.summary.log_likelihoods
    likelihoods = [found.independent or 0, found.repaired or 0, found.unconstrained or 0]
    assert likelihoods == sorted(likelihoods)
    assert is_fair(made.model.naive_bayes(), repairing_rule("0.01"))


def repairing_rule(delta: str) -> Any:
    from auditor.search.criteria import Difference

    return Difference(Fraction(delta))


def test_a_ruled_out_case_makes_a_likelihood_infinite_and_the_price_unknown() -> None:
    assert repairing._price({"unconstrained": -1.0, "repaired": -2.0, "independent": -1.0}) is None
    assert repairing._price({"unconstrained": -1.0, "repaired": -float("inf"), "independent": -3.0}) is None


@pytest.mark.parametrize(
    ("tree", "where"),
    [
        (WITH_LIKELIHOOD, "attributes without counts: sex, housing"),
        (
            {**WITH_COUNTS, "attributes": [WITH_LIKELIHOOD["attributes"][0], *WITH_COUNTS["attributes"][1:]]},
            "attributes without counts: sex",
        ),
    ],
)
def test_counts_are_asked_for(tree: Mapping[str, Any], where: str) -> None:
    with pytest.raises(InputError) as raised:
        repair(read(tree), "0.1")
    assert where in str(raised.value)
    assert 'give "counts" per value and decision' in str(raised.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": "x"}, '"x" is not a decimal number from 0 to 1'),
        ({"per_round": 0}, "per_round: 0 is not a positive number"),
        ({"max_rounds": 0}, "max_rounds: 0 is not a positive number"),
        ({"time_limit": -1}, "time_limit: -1 is not a number of seconds"),
    ],
)
def test_options_out_of_range(compas: ModelSpec, options: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        repair(compas, **{"delta": "0.1", **options})
    assert message in str(raised.value)


def test_the_search_and_the_count_must_agree(compas: ModelSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    def unproved(model: NaiveBayes, question: Question) -> Answer:
        return replace(answer(model, question), verdict="inconclusive")

    monkeypatch.setattr(repairing, "answer", unproved)
    with pytest.raises(RuntimeError, match="proved fair is inconclusive"):
        repair(compas, "0.1")


def test_what_is_written_must_be_what_was_proved(compas: ModelSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "exact_decimal", lambda p: Decimal(str(round(float(p), 3))))
    with pytest.raises(RuntimeError, match="does not say what was proved fair"):
        repair(compas, "0.1")


def test_the_python_interface(compas: ModelSpec) -> None:
    importlib.import_module("auditor.repair.interior")
    made = auditor.repair(compas, 0.1, max_rounds=1, time_limit=60)
    assert isinstance(made.summary, Repair)
    assert auditor.audit(made.model, "0.1").verdict == "delta-fair"


def test_a_shortfall_is_told(compas: ModelSpec) -> None:
    made = repair(compas, "0.01", per_round=1, max_rounds=1)
    assert made.summary.shortfall == "the limit of 1 round was reached"
    text = render(made.summary, "text")
    assert "ended early: the limit of 1 round was reached" in " ".join(text.split())
    assert made.model.repair is not None
    assert made.model.repair.shortfall == made.summary.shortfall
