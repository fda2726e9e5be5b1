"""Attributes of the same distributions, of which a search looks at one arrangement of values alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import Scope
from auditor.search.additive.ranking import arrangements, top_patterns
from tests.fuzzing import examples
from tests.oracle import BruteForce, CriterionName, Key, Pair, PlainModel, RankBy
from tests.search.comparing import keys, question
from tests.strategies import PRIORS, Case, Family, near, plain_attributes, total_pairs

FEW_KINDS = Family(values=(2, 3), identical=True, budget=1500)


@st.composite
def copied(draw: st.DrawFn, family: Family = FEW_KINDS) -> PlainModel:
    """Up to two kinds of attributes, each several times, in any order."""
    kinds = draw(st.lists(plain_attributes(family), min_size=1, max_size=2))
    attributes = [kind for kind in kinds for _ in range(draw(st.integers(1, 4)))]
    first = attributes[0]
    attributes[0] = type(first)(first.rows, sensitive=True)
    while total_pairs(attributes) > family.budget:
        attributes.pop()
    return PlainModel(draw(st.sampled_from(PRIORS[:3])), tuple(draw(st.permutations(attributes))))


def in_scope(case: Case, scope: Scope, pairs: Iterable[Pair]) -> list[Pair]:
    def has(pair: Pair) -> bool:
        return (
            (scope.disclosing is None or scope.disclosing in pair.disclosed)
            and (scope.only is None or set(pair.disclosed) <= set(scope.only))
            and (scope.contexts != "none" or not pair.y)
            and (
                scope.contexts != "all"
                or (
                    pair.disclosed == case.model.sensitive
                    and len(pair.x + pair.y) == len(case.model.attributes)
                )
            )
        )

    return [pair for pair in pairs if has(pair)]


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.hypothesis
def test_every_top_list_in_every_scope(criterion: CriterionName) -> None:
    @given(st.data(), copied())
    @examples(25)
    def check(data: st.DataObject, model: PlainModel) -> None:
        brute = BruteForce(model, criterion)
        sizes = sorted({pair.size for pair in brute.pairs})
        probabilities = sorted({pair.probability for pair in brute.pairs})
        case = Case(
            brute,
            data.draw(near((Fraction(1, 10), Fraction(0)), sizes)),
            data.draw(st.none() | near((Fraction(1, 100),), probabilities)),
        )
        tables, rule = question(case)
        i = data.draw(st.sampled_from(model.sensitive))
        for scope in (
            Scope(),
            Scope(disclosing=i),
            Scope(only=(i,)),
            Scope(contexts="none"),
            Scope(contexts="all"),
        ):
            expected = set(in_scope(case, scope, case.probable.patterns))
            for rank_by, k in product(get_args(RankBy), (1, 6)):
                found = top_patterns(tables, rule, k, rank_by, case.min_probability, scope=scope)
                assert found.complete
                best = [p.key for p in case.probable.top(len(brute.pairs), rank_by) if p in expected]
                assert keys(found.patterns) == best[:k]

    check()


def test_all_arrangements_come_once_and_in_order() -> None:
    kinds = ("a", "b", "a", "a", "c", "b")
    for x, y in (
        (((0, 1),), ()),
        (((0, 2), (1, 0)), ((2, 0), (5, 1))),
        (((0, 0), (2, 0)), ((1, 3), (3, 0), (4, 1))),
        (((4, 1),), ((0, 1), (2, 1), (3, 2))),
    ):
        expected = sorted(
            {
                placed(order, x, y)
                for order in permutations(range(len(kinds)))
                if all(kinds[i] == kinds[j] for i, j in enumerate(order))
            }
        )
        assert list(arrangements(kinds, x, y)) == expected


def placed(order: tuple[int, ...], x: Assignment, y: Assignment) -> Key:
    first, second = (tuple(sorted((order[i], v) for i, v in values)) for values in (x, y))
    return first, second
