"""The engine's answers in every scope, and its enclosures of counts, against the brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given

from auditor.choices import CriterionName, RankBy
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.search.additive import engine as engines
from auditor.search.additive import ranking
from auditor.search.additive.enclosing import enclosed_count
from auditor.search.additive.engine import Engine
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import Worst, worst_patterns
from auditor.search.criteria import CRITERIA
from auditor.search.limits import DEFAULT, Limits
from tests.fuzzing import examples
from tests.oracle import BruteForce, Pair, PlainAttribute, PlainModel
from tests.search.comparing import assert_measured, naive_bayes, question
from tests.strategies import FAMILIES, Case, Family, cases

EXAMPLES = Path(__file__).parents[3] / "examples"


def engine(case: Case, limits: Limits = DEFAULT) -> Engine:
    criterion = CRITERIA[case.criterion](case.threshold)
    return Engine(naive_bayes(case.model), criterion, case.min_probability, limits)


def check_worst(case: Case, found: Worst, pairs: list[Pair]) -> None:
    """The worst of some pairs is found where it is proved, and enclosed where it isn't."""
    measured = assert_measured(case, found.patterns)
    assert {pair.key for pair in measured} <= {pair.key for pair in pairs}
    largest = max((pair.size for pair in pairs), default=Fraction(0))
    assert found.lower <= largest <= found.upper
    if found.complete:
        assert found.lower == largest == found.upper


def check_scopes(case: Case, limits: Limits = DEFAULT) -> None:
    asked, model = engine(case, limits), case.model
    least = case.min_probability or Fraction(0)
    probable = [pair for pair in case.brute.pairs if pair.probability >= least]
    everything = len(model.attributes)
    check_worst(case, asked.worst(), probable)
    check_worst(case, asked.group_level(), [pair for pair in probable if not pair.y])
    whole = [p for p in probable if p.disclosed == model.sensitive and len(p.x) + len(p.y) == everything]
    check_worst(case, asked.worst(individual=True), whole)
    for i in model.sensitive:
        check_worst(case, asked.worst(disclosing=i), [pair for pair in probable if i in pair.disclosed])
        check_worst(case, asked.worst(only=(i,)), [pair for pair in probable if pair.disclosed == (i,)])
    shares = [Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)]
    for share, found in zip(shares, asked.worst_by_share(shares), strict=True):
        check_worst(case, found, [pair for pair in probable if pair.probability >= share])


def check_count_of_probable(case: Case) -> None:
    """A count that ends early is from what was met to what there is of any probability."""
    count = engine(case, Limits(nodes=1)).count()
    assert count.lower <= len(case.probable.patterns) <= count.upper <= len(case.patterns.patterns)


def check_enclosure(case: Case) -> None:
    tables, criterion = tables_of(naive_bayes(case.model)), CRITERIA[case.criterion](case.threshold)
    count = enclosed_count(tables, criterion, DEFAULT, "not asked for")
    true = case.patterns.count_by_disclosed()
    assert count.lower <= sum(true.values()) <= count.upper
    assert sum(entry.pairs for entry in count.coverage) == case.brute.total
    for entry in count.coverage:
        assert entry.lower <= true.get(entry.disclosed, 0) <= entry.upper <= entry.pairs


def check_reach(case: Case) -> None:
    """The interval of γ in floats encloses the exact one, and is enclosed by it."""
    criterion = CRITERIA[case.criterion](case.threshold)
    for pair in case.brute.pairs:
        a, b = (Fraction(1), Fraction(1))
        for i, v in pair.x:
            row = case.model.attributes[i].rows[v]
            a, b = a * row[0], b * row[1]
        if not a or not b or a == b:
            continue
        s = np.array(np.log(float(a / b)))
        error = 4e-16 * (1 + abs(float(s)))
        size, sign = abs(s), np.sign(s)
        exact = criterion.interval(a, b)
        low, high = criterion.reach(sign * (size + error), outwards=True)
        if exact is not None:
            assert low <= (-np.inf if exact[0] is None else float(exact[0]))
            assert high >= (np.inf if exact[1] is None else float(exact[1]))
        low, high = criterion.reach(sign * np.maximum(size - error, 0), outwards=False)
        if low < high:
            assert exact is not None
            assert low >= (-np.inf if exact[0] is None else float(exact[0]))
            assert high <= (np.inf if exact[1] is None else float(exact[1]))


@pytest.mark.hypothesis
@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_the_worst_is_among_what_is_listed_above_what_was_found(
    family: Family, criterion: CriterionName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where branch and bound has hardly begun; ties are broken as ever."""
    monkeypatch.setattr(ranking, "_BLOCK", (1, 1))
    monkeypatch.setattr(engines, "_NEAR", 2)
    monkeypatch.setattr(Engine, "_few", False)

    @examples(10)
    @given(cases(family, criterion))
    def check(case: Case) -> None:
        asked = engine(case)
        probable = [p for p in case.brute.pairs if p.probability >= (case.min_probability or 0)]
        for i in case.model.sensitive:
            for found, pairs in (
                (asked.worst(), probable),
                (asked.worst(disclosing=i), [p for p in probable if i in p.disclosed]),
                (asked.worst(only=(i,)), [p for p in probable if p.disclosed == (i,)]),
            ):
                check_worst(case, found, pairs)
                assert found.complete
                true = min(pairs, key=lambda p: (-p.size, p.rank), default=None)
                if true and true.size:
                    (pattern,) = found.patterns
                    assert (pattern.sensitive_values, pattern.context_values) == true.key

    check()


@pytest.mark.parametrize("criterion", get_args(CriterionName))
def test_where_shares_are_rounded_what_discloses_more_can_be_a_hair_likelier(
    criterion: CriterionName,
) -> None:
    """As in the population of a scorecard whose weights of what isn't disclosed were written to 9 places."""
    hair = 1 + Fraction(4, 10**10)
    sex = Attribute("sex", ("f", "m"), True, ((Fraction(9, 10), Fraction(1, 10)),) * 2)
    sex = replace(sex, likelihood=(sex.likelihood[0], (Fraction(1, 10), Fraction(9, 10))))
    others = tuple(Attribute(f"a{i}", ("v",), False, ((hair, hair),)) for i in range(8))
    model = NaiveBayes("n", "d", "yes", "no", Fraction(1, 2), (sex, *others))
    least = Fraction(1, 2) * hair**8
    asked = Engine(model, CRITERIA[criterion](Fraction(1, 10)), least)
    everything = tuple((i, 0) for i in range(1, 9))
    found = asked.worst()
    assert found.complete
    assert (found.patterns[0].probability, found.patterns[0].context_values) == (least, everything)
    assert [p.context_values for p in asked.top(3, "discrimination").patterns] == [everything] * 2
    assert [p.context_values for p in asked.minimal(3).patterns] == [everything] * 2
    assert asked.count().total == 2


@pytest.mark.parametrize("rank_by", get_args(RankBy))
def test_a_shorter_list_is_the_beginning_of_a_longer_one(
    rank_by: RankBy, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_naive_bayes(EXAMPLES / "compas.json").naive_bayes()
    asked = Engine(model, CRITERIA["difference"](Fraction(1, 10)))
    longer = asked.top(20, rank_by)
    assert asked.top(30, rank_by).patterns[:20] == longer.patterns
    # It isn't searched again.
    monkeypatch.setattr(engines, "top_patterns", None)
    monkeypatch.setattr(engines, "worst_patterns", None)
    assert asked.top(7, rank_by).patterns == longer.patterns[:7]


def test_of_one_attribute_the_worst_is_proved_though_thousands_come_near_it() -> None:
    model = load_naive_bayes(EXAMPLES / "german.json").naive_bayes()
    asked = Engine(model, CRITERIA["difference"](Fraction(1, 10)), Fraction(1, 10_000))
    found = asked.worst(only=(model.sensitive[0],))
    assert found.complete
    assert found.lower == found.upper


@pytest.mark.hypothesis
@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_scope_and_enclosure(family: Family, criterion: CriterionName) -> None:
    @examples(4)
    @given(cases(family, criterion))
    def check(case: Case) -> None:
        check_scopes(case)
        check_scopes(case, Limits(nodes=3, entries=4))
        check_count_of_probable(case)
        check_enclosure(case)
        check_reach(case)

    check()


def test_a_list_whose_search_ends_at_a_tie_is_not_called_complete() -> None:
    """The bound may be met by some that tie with others, which weren't searched and come before them."""
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    alike = ((half, quarter), (half, 3 * quarter))
    pinning = ((Fraction(1), 2 * third), (Fraction(0), third))
    rows = alike, ((Fraction(1, 5), quarter), (Fraction(4, 5), 3 * quarter)), pinning, alike
    model = PlainModel(Fraction(7, 10), tuple(PlainAttribute(row, sensitive=True) for row in rows))
    for least in (None, Fraction(1, 100)):
        case = Case(BruteForce(model, "ratio"), Fraction(1, 10), least)
        expected = [pair.key for pair in case.probable.top(5, "discrimination")]
        found = engine(case).top(5, "discrimination")
        assert found.complete
        assert [(p.sensitive_values, p.context_values) for p in found.patterns] == expected
    tables, criterion = question(case)
    worst = worst_patterns(tables, criterion, 5, limits=Limits(nodes=65 << 6))
    assert worst.lower == worst.upper == 1
    assert not worst.complete
