"""A search that is stopped says less, never anything wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive import maximal, summaries
from auditor.search.additive.combinations import Scope
from auditor.search.additive.counting import count_patterns, sample_patterns
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import maximal_patterns, minimal_patterns, pareto_patterns
from auditor.search.additive.worst import worst_patterns
from auditor.search.answer import Wanted, answer
from auditor.search.limits import Limits
from auditor.search.question import Question
from tests.fuzzing import examples
from tests.oracle import CriterionName, Key, Pair, PlainAttribute, PlainModel, RankBy
from tests.search.comparing import assert_measured, assert_patterns, assert_top, keys, naive_bayes, question
from tests.strategies import FAMILIES, Case, Family, cases

MODELS = 6
SOME_FAMILIES = ("simple rationals", "zeros under one decision", "all sensitive", "exact ties", "everything")


@dataclass(frozen=True)
class Tight:
    """Limits that bite; `checks` is how often time may be asked for before it is up."""

    entries: int
    steps: int
    nodes: int
    children: int
    checks: int
    sliced: int

    def limits(self) -> Limits:
        """Fresh ones, with a clock of their own."""
        return Limits(
            self.entries, self.steps, self.nodes, self.children, self.sliced, countdown(self.checks)
        )


def countdown(checks: int) -> Callable[[], bool]:
    """A clock that runs out after so many looks at it."""
    left = [checks]

    def expired() -> bool:
        left[0] -= 1
        return left[0] < 0

    return expired


few = st.sampled_from((0, 1, 2, 3, 5, 10, 30, 100, 10**9))
tight = st.builds(
    Tight,
    entries=st.sampled_from((1, 2, 3, 4, 9, 30, 10**6)),
    steps=few,
    nodes=few,
    children=few,
    checks=few,
    sliced=few,
)


def check_worst(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    brute = case.brute
    for searched, expected in (
        (worst_patterns(tables, criterion, limits=limited.limits()), brute.worst()[0]),
        (worst_patterns(tables, criterion, 4, limits=limited.limits()), brute.worst()[0]),
        (
            worst_patterns(tables, criterion, scope=Scope(contexts="all"), limits=limited.limits()),
            brute.individual_level(),
        ),
        *(
            (
                worst_patterns(tables, criterion, scope=Scope(disclosing=i), limits=limited.limits()),
                brute.worst_disclosing(i),
            )
            for i in case.model.sensitive
        ),
    ):
        pairs = assert_measured(case, searched.patterns)
        found = max((pair.size for pair in pairs), default=Fraction(0))
        assert isinstance(searched.upper, Fraction)
        assert found <= expected.size <= searched.upper <= 1
        assert 0 <= searched.solved <= searched.total
        if searched.complete:
            assert found == expected.size == searched.upper
    # Whatever the limits, the worst pair without context is known in closed form.
    assert abs(worst_patterns(tables, criterion, limits=limited.limits()).patterns[0].degree) >= (
        brute.group_level().size
    )


def check_verdict(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    searched = worst_patterns(tables, criterion, only_patterns=True, limits=limited.limits())
    assert_patterns(case, searched.patterns, case.patterns)
    if searched.patterns:
        assert case.patterns.patterns
    elif searched.complete or searched.upper <= case.threshold:
        assert not case.patterns.patterns
    listed = worst_patterns(tables, criterion, 5, only_patterns=True, limits=limited.limits())
    if listed.complete:
        assert_top(case, listed.patterns, case.patterns, 5, "discrimination")


def check_count(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    count = count_patterns(tables, criterion, limits=limited.limits())
    if count.total is None:
        assert count.reason
        assert not count.coverage
    else:
        assert count.reason is None
        assert count.total == len(case.patterns.patterns)
        assert {entry.disclosed: entry.pairs for entry in count.coverage} == case.brute.pairs_by_disclosed()
    sample = sample_patterns(tables, criterion, 3, limits=limited.limits())
    if sample is not None:
        assert case.patterns.keys.issuperset(keys(sample))


def check_ranking(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    for rank_by in get_args(RankBy):
        for k in (1, 5, 10_000):
            found = top_patterns(
                tables,
                criterion,
                k,
                rank_by=rank_by,
                min_probability=case.min_probability,
                limits=limited.limits(),
            )
            if found.complete:
                assert_top(case, found.patterns, case.probable, k, rank_by)
            else:
                pairs = assert_patterns(case, found.patterns, case.probable)
                assert len(pairs) <= k
                scores = [case.probable.score(rank_by, pair) for pair in pairs]
                assert scores == sorted(scores, reverse=True)
                left_out = [pair for pair in case.probable.patterns if pair not in pairs]
                best = max((case.probable.score(rank_by, pair) for pair in left_out), default=0)
                assert best <= max(found.upper, scores[-1] if len(scores) == k else 0)


def check_summaries(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    for summary, expected in (
        (minimal_patterns, case.probable.minimal()),
        (pareto_patterns, case.probable.pareto()),
        (maximal_patterns, case.probable.maximal()),
    ):
        found = summary(
            tables, criterion, 10_000, min_probability=case.min_probability, limits=limited.limits()
        )
        assert_patterns(case, found.patterns, case.probable)
        if found.complete:
            assert set(keys(found.patterns)) == expected
        elif summary is not pareto_patterns:
            # What is minimal or maximal is settled pattern by pattern; the front only as a whole.
            assert expected.issuperset(keys(found.patterns))


def check_maximal_in_large_models(case: Case, limited: Tight) -> None:
    tables, criterion = question(case)
    expected = case.patterns.maximal()
    with patch.object(summaries, "_DENSE", 0), patch.multiple(maximal, _CHILDREN=64, _BLOCK=1):
        found = maximal_patterns(tables, criterion, 10_000, limits=limited.limits())
    pairs = assert_patterns(case, found.patterns, case.patterns)
    assert expected.issuperset(pair.key for pair in pairs)
    first = pairs[: len(pairs) - found.unproved]
    left_out = [case.brute.by_key[key] for key in expected.difference(pair.key for pair in first)]
    assert not first or all(pair.probability < first[-1].probability for pair in left_out)
    if found.missing_at_most is not None:
        assert all(pair.probability <= found.missing_at_most for pair in left_out)
    else:
        assert not left_out or not maximal.covers(tables)
    assert found.complete <= (not left_out)


CHECKS = [
    check_worst,
    check_verdict,
    check_count,
    check_ranking,
    check_summaries,
    check_maximal_in_large_models,
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", [FAMILIES[name] for name in SOME_FAMILIES], ids=SOME_FAMILIES)
@pytest.mark.hypothesis
def test_tight_limits_never_make_an_answer_wrong(
    family: Family, criterion: CriterionName, check: Callable[[Case, Tight], None]
) -> None:
    @given(cases(family, criterion), tight)
    @examples(MODELS)
    def soundly(case: Case, limited: Tight) -> None:
        check(case, limited)

    soundly()


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.hypothesis
def test_a_list_cut_short_says_so(criterion: CriterionName) -> None:
    @given(cases(FAMILIES["simple rationals"], criterion), st.integers(1, 6))
    @examples(40)
    def check(case: Case, limit: int) -> None:
        tables, question_criterion = question(case)
        for summary, expected in (
            (minimal_patterns, case.probable.minimal()),
            (pareto_patterns, case.probable.pareto()),
            (maximal_patterns, case.probable.maximal()),
        ):
            found = summary(tables, question_criterion, limit, min_probability=case.min_probability)
            pairs = assert_patterns(case, found.patterns, case.probable)
            assert expected.issuperset(pair.key for pair in pairs)
            assert len(pairs) == min(limit, len(expected))
            assert found.complete == (limit >= len(expected))
            if summary is minimal_patterns:
                assert [pair.key for pair in pairs] == most_probable(case, expected, limit)

    def most_probable(case: Case, chosen: set[Key], limit: int) -> list[Key]:
        order: list[Pair] = case.probable.top(len(case.probable.patterns), "probability")
        return [pair.key for pair in order if pair.key in chosen][:limit]

    check()


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.hypothesis
def test_more_time_never_gives_looser_bounds(criterion: CriterionName) -> None:
    @given(cases(FAMILIES["everything"], criterion))
    @examples(MODELS)
    def check(case: Case) -> None:
        tables, rule = question(case)
        ends = [(Fraction(0), Fraction(1), 0, tables.total_patterns())]
        for checks in (0, 1, 2, 4, 8, 16, 64, 10**9):
            limits = Limits(entries=9, expired=countdown(checks))
            worst = worst_patterns(tables, rule, limits=limits)
            count = count_patterns(tables, rule, Limits(expired=countdown(checks)))
            ends.append((worst.lower, worst.upper, count.lower, count.upper))
        for shorter, longer in pairwise(ends):
            assert shorter[0] <= longer[0]
            assert longer[1] <= shorter[1]
            assert shorter[2] <= longer[2]
            assert longer[3] <= shorter[3]

    check()


def test_more_time_never_makes_any_figure_of_an_answer_looser() -> None:
    random = Random("twelve sensitive")

    def row() -> list[Fraction]:
        weights = [random.randint(5, 95) for _ in range(3)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    attributes = tuple(
        PlainAttribute(tuple(zip(row(), row(), strict=True)), sensitive=True) for _ in range(12)
    )
    model = naive_bayes(PlainModel(Fraction(1, 2), attributes))
    before: list[tuple[Fraction, Fraction]] = []
    for checks in (0, 5, 20, 80, 300):
        limits = Limits(expired=countdown(checks))
        found = answer(model, Question.of("0.1", limits=limits), Wanted(top=5, minimal=5, details=True))
        figures = [found.largest, found.group, found.individual, *(figure for _, figure in found.by_share)]
        figures += [figure for entry in found.by_attribute for figure in (entry.any, entry.alone)]
        ends = [(figure.lower, figure.upper) for figure in figures if figure]
        ends.append((Fraction(found.count.lower), Fraction(found.count.upper)))
        for shorter, longer in zip(before, ends, strict=False):
            assert shorter[0] <= longer[0] <= longer[1] <= shorter[1]
        before = ends


def test_a_witness_of_what_was_counted_is_as_probable_as_was_asked() -> None:
    # One sensitive attribute moves hardly anybody far, the other many a little.
    few, many = Fraction(1, 10**4), Fraction(3, 5)
    rare = PlainAttribute(((few, 9 * few), (1 - few, 1 - 9 * few)), sensitive=True)
    usual = PlainAttribute(((many, 1 - many), (1 - many, many)), sensitive=True)
    model = naive_bayes(PlainModel(Fraction(1, 2), (rare, usual, usual)))
    asked = Question.of("0.05", min_probability="0.2", limits=Limits(nodes=0))
    found = answer(model, asked)
    assert found.verdict == "not-delta-fair"
    assert found.largest.witness
    assert found.largest.witness.probability >= Fraction(1, 5)
    assert found.count.lower
