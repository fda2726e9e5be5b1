"""The learner on random counts: what must hold of every result, by the brute force."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import RepairError
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair import closed_form, interior, learner
from auditor.repair.baselines import independent
from auditor.repair.counts import Counts
from auditor.repair.decimals import exact_decimal, rounded_model
from auditor.repair.learner import RepairOptions, Round, learn
from auditor.repair.problem import Floats, Problem
from auditor.repair.solver import Solution, load_solver
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.limits import DEFAULT, Limits
from tests.fuzzing import examples
from tests.oracle import BruteForce
from tests.repair.models import FAMILIES, THRESHOLDS, counts_of_tables, random_counts
from tests.search.comparing import plain

#: Largest share of the likelihood that rounding and the barrier may cost.
ROUNDING = 1e-9


def is_fair(model: NaiveBayes, criterion: Criterion) -> bool:
    pairs = BruteForce(plain(model), criterion.name).pairs
    return all(pair.size <= criterion.threshold for pair in pairs)


@pytest.mark.parametrize("criterion", [Difference, Ratio])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@examples(12)
@given(data=st.data())
def test_every_result_is_fair_written_exactly_and_no_less_likely_than_independence(
    family: Any, criterion: type[Criterion], data: st.DataObject
) -> None:
    counts = data.draw(random_counts(family))
    rule = criterion(data.draw(st.sampled_from(THRESHOLDS)))
    rounds: list[Round] = []
    learned = learn(counts, rule, RepairOptions(interior.solve, on_round=rounds.append))

    assert is_fair(learned.model, rule)
    assert learned.shortfall is None
    for attribute in learned.model.attributes:
        for side in (0, 1):
            row = [pair[side] for pair in attribute.likelihood]
            assert sum(row) == 1
            assert all(0 <= p <= 1 and Fraction(exact_decimal(p)) == p for p in row)
    assert 0 < learned.model.prior < 1

    best, found, least = map(
        counts.log_likelihood, (counts.model, learned.model, rounded_model(independent(counts)))
    )
    slack = ROUNDING * abs(best)
    assert least - slack <= found <= best + slack
    assert rounds[0].log_likelihood == best
    assert rounds[0].patterns == len(BruteForce(plain(counts.model), rule.name).at(rule.threshold).patterns)
    assert [state.number for state in rounds] == sorted(state.number for state in rounds)
    if learned.rounds:
        assert 0 in [state.patterns for state in rounds]


@examples(15)
@given(data=st.data())
def test_attributes_in_no_constraint_keep_the_most_likely_values(data: st.DataObject) -> None:
    counts = data.draw(random_counts(FAMILIES["plain"]))
    problems: list[Problem] = []

    def solve(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
        problems.append(problem)
        return interior.solve(problem, start, limits)

    learned = learn(counts, Difference(Fraction("0.1")), RepairOptions(solve))
    moved = {i for problem in problems for i in problem.parameters.attributes}
    likely = rounded_model(counts.model)
    for i, attribute in enumerate(learned.model.attributes):
        if i not in moved and not attribute.sensitive:
            assert attribute == likely.attributes[i]


def test_a_fair_model_stays_as_it_is() -> None:
    table = [(Fraction(5), Fraction(10)), (Fraction(5), Fraction(10))]
    counts = counts_of_tables(
        (10, 20), [(True, table), (False, [(Fraction(3), Fraction(1)), (Fraction(7), Fraction(19))])]
    )
    learned = learn(counts, Difference(Fraction(0)), RepairOptions(interior.solve))
    assert (learned.rounds, learned.constraints, learned.patterns_before) == (0, 0, 0)
    assert learned.model == rounded_model(counts.model)


@pytest.mark.parametrize("family", ["plain", "zero counts", "many values"])
@examples(6)
@given(data=st.data())
def test_what_is_fair_by_both_criteria_is_no_likelier_than_what_is_by_one(
    family: str, data: st.DataObject
) -> None:
    counts = data.draw(random_counts(FAMILIES[family]))
    rule, other = (kind(data.draw(st.sampled_from(THRESHOLDS))) for kind in (Difference, Ratio))
    rounds: list[Round] = []
    both = learn(counts, rule, RepairOptions(interior.solve, also=other, on_round=rounds.append))
    assert is_fair(both.model, rule)
    assert is_fair(both.model, other)
    assert both.shortfall is None
    assert both.also_before == rounds[0].also
    assert rounds[0].also == len(BruteForce(plain(counts.model), "ratio").at(other.threshold).patterns)
    # Either may come first.
    assert is_fair(learn(counts, other, RepairOptions(interior.solve, also=rule)).model, rule)
    if other.threshold <= rule.threshold:
        # Then the difference asks for nothing more.
        alone = learn(counts, other, RepairOptions(interior.solve))
        best = counts.log_likelihood(alone.model)
        assert counts.log_likelihood(both.model) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("delta", "tau"), [("0.05", "0.1"), ("0.06", "0.2"), ("0.1", "0.12")])
def test_no_point_of_a_grid_is_likelier_and_fair_by_both(delta: str, tau: str) -> None:
    """One sensitive attribute alone: its prior and both rows on a grid; no context but the empty one."""
    rows = [(Fraction(36), Fraction(14)), (Fraction(24), Fraction(26))]
    counts = counts_of_tables((60, 40), [(True, rows)])
    rule, other = Difference(Fraction(delta)), Ratio(Fraction(tau))
    learned = learn(counts, rule, RepairOptions(interior.solve, also=other))
    assert is_fair(learned.model, rule)
    assert is_fair(learned.model, other)

    axis = np.linspace(0.2, 0.8, 121)
    prior, a, b = (grid.ravel() for grid in np.meshgrid(axis, axis, axis, indexing="ij"))
    by_difference, by_ratio = np.ones((2, len(prior)), dtype=bool)
    for p, q in ((a, b), (1 - a, 1 - b)):
        after = prior * p / (prior * p + (1 - prior) * q)
        by_difference &= abs(after - prior) <= float(rule.threshold)
        by_ratio &= abs(after - prior) <= float(other.threshold) * np.maximum(after, prior)
    likelihood = 60 * np.log(prior) + 40 * np.log(1 - prior)
    likelihood += 36 * np.log(a) + 24 * np.log(1 - a) + 14 * np.log(b) + 26 * np.log(1 - b)
    found = counts.log_likelihood(learned.model)
    best = likelihood[by_difference & by_ratio].max()
    assert best <= found <= best + 0.05


def test_threshold_zero_gives_the_independent_model(unfair: Counts) -> None:
    learned = learn(unfair, Difference(Fraction(0)), RepairOptions(interior.solve))
    assert learned.model == rounded_model(independent(unfair))
    assert learned.shortfall is None


def test_a_value_without_cases_that_discriminates_gets_some_probability() -> None:
    rows = [(Fraction(0), Fraction(10)), (Fraction(90), Fraction(30)), (Fraction(10), Fraction(60))]
    counts = counts_of_tables((100, 100), [(True, rows)])
    rule = Difference(Fraction("0.2"))
    learned = learn(counts, rule, RepairOptions(interior.solve))
    assert is_fair(learned.model, rule)
    assert learned.model.attributes[0].likelihood[0][0] > 0


def test_a_value_without_cases_in_the_context_stays_impossible() -> None:
    context = [(Fraction(0), Fraction(10)), (Fraction(90), Fraction(30)), (Fraction(10), Fraction(60))]
    sensitive = [(Fraction(80), Fraction(20)), (Fraction(20), Fraction(80))]
    counts = counts_of_tables((100, 100), [(True, sensitive), (False, context)])
    learned = learn(counts, Ratio(Fraction("0.2")), RepairOptions(interior.solve))
    assert learned.model.attributes[1].likelihood[0][0] == 0


@pytest.fixture
def unfair() -> Counts:
    tables = [
        (True, [(Fraction(70), Fraction(20)), (Fraction(30), Fraction(80))]),
        (True, [(Fraction(55), Fraction(30)), (Fraction(25), Fraction(30)), (Fraction(20), Fraction(40))]),
        (False, [(Fraction(60), Fraction(10)), (Fraction(40), Fraction(90))]),
        (False, [(Fraction(90), Fraction(50)), (Fraction(10), Fraction(50))]),
    ]
    return counts_of_tables((100, 100), tables)


RULE = Difference(Fraction("0.05"))


@pytest.mark.parametrize(
    ("rank_by", "per_round"),
    [("discrimination", None), ("discrimination", 1), ("divergence", 3), ("divergence", None)],
)
def test_the_choice_of_constraints_does_not_change_the_optimum(
    unfair: Counts, rank_by: Any, per_round: int | None
) -> None:
    usual = learn(unfair, RULE, RepairOptions(interior.solve))
    other = learn(unfair, RULE, RepairOptions(interior.solve, rank_by=rank_by, per_round=per_round))
    assert is_fair(other.model, RULE)
    assert unfair.log_likelihood(other.model) == pytest.approx(unfair.log_likelihood(usual.model), rel=1e-8)
    if per_round:
        assert other.constraints <= per_round * other.rounds


@pytest.mark.parametrize("name", ["sqp", "signomial"])
@pytest.mark.parametrize("rule", [RULE, Ratio(Fraction("0.1"))])
def test_all_solvers_find_the_same_optimum(unfair: Counts, name: Any, rule: Criterion) -> None:
    usual = learn(unfair, rule, RepairOptions(interior.solve))
    other = learn(unfair, rule, RepairOptions(load_solver(name)))
    assert is_fair(other.model, rule)
    assert unfair.log_likelihood(other.model) == pytest.approx(unfair.log_likelihood(usual.model), rel=1e-6)


def test_a_limit_of_rounds_leaves_a_fair_model_and_says_so(unfair: Counts) -> None:
    whole = learn(unfair, RULE, RepairOptions(interior.solve, per_round=1))
    assert whole.rounds > 1
    cut_short = learn(unfair, RULE, RepairOptions(interior.solve, per_round=1, max_rounds=1))
    assert cut_short.shortfall == "the limit of 1 round was reached"
    assert is_fair(cut_short.model, RULE)
    assert unfair.log_likelihood(cut_short.model) <= unfair.log_likelihood(whole.model) * (1 - ROUNDING)


def test_a_time_limit_leaves_a_fair_model_and_says_so(unfair: Counts) -> None:
    late = learn(unfair, RULE, RepairOptions(interior.solve, limits=Limits(expired=lambda: True)))
    assert late.shortfall == "the time limit was reached after round 0"
    assert late.patterns_before is None
    assert is_fair(late.model, RULE)


def test_time_that_runs_out_between_starts_keeps_the_first_optimum(unfair: Counts) -> None:
    rounds: list[Round] = []
    limits = Limits(expired=lambda: any(state.patterns == 0 for state in rounds))
    learned = learn(unfair, RULE, RepairOptions(interior.solve, limits=limits, on_round=rounds.append))
    assert learned.shortfall is None
    assert is_fair(learned.model, RULE)


def misses(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
    """A solver that gives back the most likely parameters, as if nothing were forbidden."""
    return Solution(problem.parameters.of_model(problem.parameters.counts.model), True, 1)


def breaks(problem: Problem, start: Floats, limits: Limits = DEFAULT) -> Solution:
    """A solver that ends in no number."""
    return Solution(start * float("nan"), False, 1)


@pytest.mark.parametrize("solver", [misses, breaks])
def test_a_solver_that_fails_costs_likelihood_but_never_fairness(unfair: Counts, solver: Any) -> None:
    learned = learn(unfair, RULE, RepairOptions(solver))
    assert is_fair(learned.model, RULE)
    assert unfair.log_likelihood(learned.model) >= unfair.log_likelihood(rounded_model(independent(unfair)))
    if solver is misses:
        assert learned.shortfall == "the search could not prove that the solver's model is fair"


def test_without_any_proof_there_is_no_result(unfair: Counts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "is_fair", lambda model, criterion, limits: False)
    with pytest.raises(RepairError, match="no model could be proved fair: the time limit") as raised:
        learn(unfair, RULE, RepairOptions(interior.solve, limits=Limits(expired=lambda: True)))
    assert raised.value.exit_code == 5


def test_a_hundred_binary_attributes_are_repaired_by_the_closed_form() -> None:
    sensitive = [(Fraction(60), Fraction(40)), (Fraction(40), Fraction(60))]
    tables = [
        (i < 3, [(Fraction(50 + i % 40), Fraction(50)), (Fraction(50 - i % 40), Fraction(50))])
        for i in range(100)
    ]
    tables[0] = True, sensitive
    counts = counts_of_tables((100, 100), tables)
    learned = learn(counts, Difference(Fraction("0.02")), RepairOptions(interior.solve))
    assert learned.rounds <= 3
    assert learned.shortfall is None
    assert learned.patterns_before is None


def test_many_values_in_many_contexts_take_one_round() -> None:
    """The cuts of the closed form come at once, rather than for a few values in each round."""
    tables = [
        (i < 2, [(Fraction(10 + (7 * v + i) % 11), Fraction(10 + (5 * v + 3 * i) % 13)) for v in range(size)])
        for i, size in enumerate((10, 6, 9, 8, 7, 8, 9, 7))
    ]
    counts = counts_of_tables((300, 700), tables)
    learned = learn(counts, Difference(Fraction("0.1")), RepairOptions(interior.solve))
    assert learned.rounds == 1
    assert learned.shortfall is None
    assert learned.constraints > 12


def test_a_case_that_a_model_rules_out_makes_it_impossible(unfair: Counts) -> None:
    rows = ((Fraction(1), Fraction(1, 2)), (Fraction(0), Fraction(1, 2)))
    first = replace(unfair.model.attributes[0], likelihood=rows)
    model = replace(unfair.model, attributes=(first, *unfair.model.attributes[1:]))
    assert unfair.log_likelihood(model) == float("-inf")


def test_a_closed_form_that_is_not_reached_leaves_the_model_well_inside(
    unfair: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closed_form, "_ROUNDS", 1)
    inside = closed_form.well_inside(unfair, RULE)
    found, _ = closed_form.most_likely(unfair, RULE, RULE, interior.solve, inside)
    assert found == inside


def test_exact_decimals_are_digits_of_the_fraction() -> None:
    assert exact_decimal(Fraction(1, 8)) == Decimal("0.125")
    with pytest.raises(ArithmeticError):
        exact_decimal(Fraction(1, 3))
