"""Every answer of the search, on random models, equals that of the brute force."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import given

from auditor.search.additive import (
    combinations,
    counting,
    enclosing,
    maximal,
    omissions,
    subset_sums,
    summaries,
)
from auditor.search.additive.combinations import Scope
from auditor.search.additive.counting import count_patterns, counts_above, sample_patterns
from auditor.search.additive.enclosing import enclosed_count
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import maximal_patterns, minimal_patterns, pareto_patterns
from auditor.search.additive.worst import group_level, worst_patterns
from auditor.search.limits import DEFAULT, Limits
from tests.fuzzing import examples
from tests.oracle import CriterionName, RankBy
from tests.search.comparing import assert_measured, assert_patterns, assert_top, keys, question
from tests.strategies import FAMILIES, Case, Family, cases

#: Models per family and criterion.
MODELS = 15
#: Lengths of lists; `ALL` is more than any of the models has patterns.
FEW, SOME, ALL = 7, 40, 10_000
RANKINGS: tuple[tuple[RankBy, int], ...] = (
    ("divergence", 1),
    ("divergence", SOME),
    ("discrimination", FEW),
    ("probability", SOME),
)


def check_count(case: Case) -> None:
    tables, criterion = question(case)
    count = count_patterns(tables, criterion)
    assert count.reason is None
    assert count.total == len(case.patterns.patterns)
    assert {entry.disclosed: entry.pairs for entry in count.coverage} == case.brute.pairs_by_disclosed()
    assert sum(entry.pairs for entry in count.coverage) == case.brute.total == tables.total_patterns()
    found = {entry.disclosed: entry.patterns for entry in count.coverage if entry.patterns}
    assert found == case.patterns.count_by_disclosed()
    assert {entry.method for entry in count.coverage} <= {"closed form", "exhausted"}
    for attribute in case.model.sensitive:
        disclosing = sum(entry.lower for entry in count.coverage if attribute in entry.disclosed)
        assert disclosing == case.patterns.count_disclosing(attribute)


def check_count_piece_by_piece(case: Case) -> None:
    tables, criterion = question(case)
    with (
        patch.multiple(counting, _TOGETHER=1, _NEAR=3, _THREADED=4),
        patch.multiple(subset_sums, _STEPS=1, _PIECE=2),
    ):
        assert count_patterns(tables, criterion).total == len(case.patterns.patterns)


def check_counts_above(case: Case) -> None:
    """Of many thresholds at once, among them degrees that occur, and the same piece by piece."""
    tables, criterion = question(case)
    sizes = [pair.size for pair in reversed(case.brute.from_worst)]
    different = list(dict.fromkeys(sizes))
    thresholds = [Fraction(0), *different[:: 1 + len(different) // 5], Fraction(1)]
    thresholds = [criterion.threshold, *(value for value in thresholds if 0 <= value <= 1)]
    expected = tuple((len(sizes) - bisect_right(sizes, value),) * 2 for value in thresholds)
    assert counts_above(tables, criterion, thresholds) == expected
    with patch.multiple(counting, _TOGETHER=5, _AT_ONCE=2):
        assert counts_above(tables, criterion, thresholds) == expected


def check_enclosed_count(case: Case) -> None:
    tables, criterion = question(case)
    true = len(case.patterns.patterns)
    # One set of attributes after the other, and all of them at once.
    for sets in (1 << 12, 1):
        with patch.multiple(enclosing, _CELLS=(1 << 10, 1 << 10), _SIDE=128, _SETS=sets):
            found = enclosed_count(tables, criterion, DEFAULT, "for a test")
        assert found.lower <= true <= found.upper <= tables.total_patterns()


def check_sample(case: Case) -> None:
    tables, criterion = question(case)
    sample = sample_patterns(tables, criterion, SOME)
    assert sample is not None
    assert_patterns(case, sample, case.patterns)
    assert len(sample) == min(SOME, len(case.patterns.patterns))
    # All of them, where the lists are so short that some attributes are gone through one choice at a time.
    everything = sample_patterns(tables, criterion, ALL, Limits(entries=4))
    assert everything is not None
    assert_patterns(case, everything, case.patterns)
    assert len(set(keys(everything))) == len(everything) == len(case.patterns.patterns)


def check_worst(case: Case) -> None:
    tables, criterion = question(case)
    found = worst_patterns(tables, criterion)
    expected = case.brute.worst()[0]
    (pair,) = assert_measured(case, found.patterns)
    assert pair.size == expected.size == found.upper
    assert found.complete
    if expected.size > 0:
        assert pair.key == expected.key


def check_worst_patterns(case: Case) -> None:
    tables, criterion = question(case)
    found = worst_patterns(tables, criterion, FEW, only_patterns=True)
    assert found.complete
    assert_top(case, found.patterns, case.patterns, FEW, "discrimination")


def check_worst_by_attribute(case: Case) -> None:
    tables, criterion = question(case)
    for attribute in case.model.sensitive:
        found = worst_patterns(tables, criterion, scope=Scope(disclosing=attribute))
        expected = case.brute.worst_disclosing(attribute)
        (pair,) = assert_measured(case, found.patterns)
        assert attribute in pair.disclosed
        assert pair.size == expected.size == found.upper
        assert found.complete
        short = worst_patterns(tables, criterion, scope=Scope(disclosing=attribute), limits=Limits(entries=4))
        assert short.lower <= expected.size <= short.upper


def check_levels(case: Case) -> None:
    tables, criterion = question(case)
    group = group_level(tables, criterion)
    (pair,) = assert_measured(case, [group])
    assert not pair.y
    assert pair.size == case.brute.group_level().size
    found = worst_patterns(tables, criterion, scope=Scope(contexts="all"))
    (pair,) = assert_measured(case, found.patterns)
    assert pair.disclosed == case.model.sensitive
    assert len(pair.x) + len(pair.y) == len(case.model.attributes)
    assert pair.size == case.brute.individual_level().size == found.upper
    assert found.complete


def check_ranking(case: Case) -> None:
    tables, criterion = question(case)
    for rank_by, k in RANKINGS:
        for all_at_once in (False, True):
            found = top_patterns(tables, criterion, k, rank_by, case.min_probability, all_at_once=all_at_once)
            assert found.complete
            assert_top(case, found.patterns, case.probable, k, rank_by)


def check_one_combination_after_another(case: Case) -> None:
    """As where there are too many to look at all of them."""
    with patch.object(combinations, "_FEW", 0):
        check_worst(case)
        check_worst_patterns(case)
        check_ranking(case)


def check_summaries(case: Case) -> None:
    tables, criterion = question(case)
    for summary, expected in (
        (minimal_patterns, case.probable.minimal()),
        (pareto_patterns, case.probable.pareto()),
        (maximal_patterns, case.probable.maximal()),
    ):
        found = summary(tables, criterion, ALL, min_probability=case.min_probability)
        assert found.complete
        assert_patterns(case, found.patterns, case.probable)
        assert set(keys(found.patterns)) == expected


def check_maximal_in_large_models(case: Case) -> None:
    tables, criterion = question(case)
    order = case.probable.top(ALL, "probability")
    true = case.probable.maximal()
    expected = [pair.key for pair in order if pair.key in true]
    # As it is; and few at a time, by the greatest and the least strength alone.
    for limit, sets, kept in ((ALL, 10, 1 << 9), (FEW, 0, 3)):
        with (
            patch.object(summaries, "_DENSE", 0),
            patch.multiple(maximal, _CHILDREN=64, _BLOCK=1, _SETS=sets),
            patch.multiple(omissions, _SUMS=kept, _WIDEST=kept),
        ):
            found = maximal_patterns(tables, criterion, limit, case.min_probability)
        assert not found.unproved
        assert found.complete == (limit >= len(expected))
        assert_patterns(case, found.patterns, case.probable)
        assert keys(found.patterns) == expected[:limit]


CHECKS = [
    check_count,
    check_count_piece_by_piece,
    check_counts_above,
    check_enclosed_count,
    check_sample,
    check_worst,
    check_worst_patterns,
    check_worst_by_attribute,
    check_levels,
    check_ranking,
    check_one_combination_after_another,
    check_summaries,
    check_maximal_in_large_models,
]


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.hypothesis
def test_everything_equals_brute_force(family: Family, criterion: CriterionName) -> None:
    @given(cases(family, criterion))
    @examples(MODELS)
    def check(case: Case) -> None:
        for compare in CHECKS:
            compare(case)

    check()
