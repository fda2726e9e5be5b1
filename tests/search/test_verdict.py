"""The verdict: what the brute force says, or with limits nothing; never the contrary."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given

from auditor.search.additive.counting import PatternCount, count_patterns
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import count_probable_patterns
from auditor.search.limits import Limits
from auditor.search.verdict import Decision, decide, worst_in_scope
from tests.fuzzing import examples
from tests.oracle import CriterionName
from tests.search.comparing import assert_measured, assert_patterns, question
from tests.search.test_limits import SOME_FAMILIES, Tight, tight
from tests.strategies import FAMILIES, Case, Family, cases

MODELS = 10


def decision_on(case: Case, limits: Limits | None = None) -> tuple[Decision, PatternCount]:
    """As an audit comes to it."""
    tables, criterion = question(case)
    limits = limits or Limits()
    worst = worst_in_scope(tables, criterion, case.min_probability, limits)
    ranking = top_patterns(tables, criterion, 5, min_probability=case.min_probability, limits=limits)
    if case.min_probability is None:
        count = count_patterns(tables, criterion, limits)
    else:
        count = count_probable_patterns(tables, criterion, case.min_probability, limits)
    found = [*worst.patterns, *ranking.patterns]
    return decide(tables, criterion, found, worst.upper, count.total, case.min_probability), count


def largest_in_scope(case: Case) -> Fraction:
    least = case.min_probability or 0
    return max((pair.size for pair in case.brute.pairs if pair.probability >= least), default=Fraction(0))


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.hypothesis
def test_verdict(family: Family, criterion: CriterionName) -> None:
    @given(cases(family, criterion))
    @examples(MODELS)
    def check(case: Case) -> None:
        decision, count = decision_on(case)
        patterns = case.probable.patterns
        assert decision.verdict == ("not-delta-fair" if patterns else "delta-fair")
        assert decision.count == count.total == len(patterns)
        largest = largest_in_scope(case)
        assert decision.lower == largest
        assert largest <= decision.upper <= max(largest, case.threshold)
        if patterns:
            assert decision.witness is not None
            assert_patterns(case, [decision.witness], case.probable)
        found = {entry.disclosed: entry.patterns for entry in count.coverage if entry.patterns}
        assert found == case.probable.count_by_disclosed()
        assert {entry.disclosed: entry.pairs for entry in count.coverage} == case.brute.pairs_by_disclosed()

    check()


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", [FAMILIES[name] for name in SOME_FAMILIES], ids=SOME_FAMILIES)
@pytest.mark.hypothesis
def test_limits_never_turn_a_verdict_round(family: Family, criterion: CriterionName) -> None:
    @given(cases(family, criterion), tight)
    @examples(MODELS)
    def check(case: Case, limited: Tight) -> None:
        decision, count = decision_on(case, limited.limits())
        patterns = case.probable.patterns
        largest = largest_in_scope(case)
        right = "not-delta-fair" if patterns else "delta-fair"
        assert decision.verdict in (right, "inconclusive")
        assert decision.lower <= largest <= decision.upper <= 1
        assert decision.count in (None, len(patterns))
        assert count.total in (None, len(patterns))
        assert (count.reason is None) == (count.total is not None)
        if decision.witness is not None:
            (pair,) = assert_measured(case, [decision.witness])
            assert pair.probability >= (case.min_probability or 0)

    check()
