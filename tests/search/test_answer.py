"""An answer says what the brute force says, or with limits less; never the contrary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor import InputError
from auditor.model.reading import load_naive_bayes
from auditor.search import answer as answers
from auditor.search.additive.engine import Engine
from auditor.search.additive.worst import Worst
from auditor.search.answer import Answer, Wanted, answer
from auditor.search.figure import Figure
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern, measure
from auditor.search.pattern_count import PatternCount
from auditor.search.question import Question, Share
from tests.fuzzing import examples
from tests.oracle import CriterionName, Pair, PlainAttribute, PlainModel
from tests.search.comparing import assert_measured, assert_patterns, naive_bayes
from tests.search.test_limits import SOME_FAMILIES, Tight, tight
from tests.strategies import FAMILIES, Case, Family, cases

MODELS = 15
EVERYTHING = Wanted(top=5, minimal=20, details=True, illustration=True)
FIGURE1 = Path(__file__).parents[2] / "examples" / "figure1.json"


def asked(case: Case, limits: Limits = DEFAULT) -> Question:
    """The question of a case, whose numbers have no decimals."""
    least = case.min_probability
    return Question(
        Share("δ", case.threshold),
        case.criterion,
        None if least is None else Share("p", least),
        limits=limits,
    )


def answered(case: Case, limits: Limits = DEFAULT) -> Answer | None:
    """The answer; None where nothing is so probable, and the question is refused."""
    question = asked(case, limits)
    if any(pair.probability >= (case.min_probability or 0) for pair in case.brute.pairs):
        return answer(naive_bayes(case.model), question, EVERYTHING)
    with pytest.raises(InputError, match="no pattern is as probable as"):
        answer(naive_bayes(case.model), question, EVERYTHING)
    return None


def figures(found: Answer) -> Iterator[tuple[Figure, Callable[[Pair], bool]]]:
    """Each figure with what it speaks of, as the brute force would say it."""
    everything = len(found.model.attributes)
    yield found.largest, lambda pair: True
    assert found.group is not None
    assert found.individual is not None
    yield found.group, lambda pair: not pair.y
    yield (
        found.individual,
        lambda pair: pair.disclosed == found.model.sensitive and len(pair.x + pair.y) == everything,
    )
    for row in found.by_attribute:
        yield row.any, lambda pair, i=row.attribute: i in pair.disclosed  # type: ignore[misc]
        yield row.alone, lambda pair, i=row.attribute: pair.disclosed == (i,)  # type: ignore[misc]
    for share, figure in found.by_share:
        yield figure, lambda pair, p=share.value: pair.probability >= p  # type: ignore[misc]
    for only, figure in found.by_pair:
        yield figure, lambda pair, two=set(only): two.issuperset(pair.disclosed)  # type: ignore[misc]


def check_figures(case: Case, found: Answer) -> Iterator[tuple[Figure, Fraction]]:
    """Each figure encloses the truth and has a right witness in its scope; yields it with the truth."""
    least = case.min_probability or 0
    for figure, belongs in figures(found):
        sizes = [pair.size for pair in case.brute.pairs if pair.probability >= least and belongs(pair)]
        truth = max(sizes, default=Fraction(0))
        assert figure.lower <= truth <= figure.upper <= 1
        if figure.witness is not None:
            (pair,) = assert_measured(case, [figure.witness])
            assert pair.probability >= least
            assert belongs(pair)
        assert figure.upper <= found.largest.upper
        yield figure, truth


def check_thresholds(case: Case, found: Answer, *, exact: bool) -> None:
    """The count at each threshold encloses the truth, and is it where nothing stopped the count."""
    assert bool(found.by_threshold) == (case.min_probability is None)
    for share, (low, high) in found.by_threshold:
        truth = sum(pair.size > share.value for pair in case.brute.pairs)
        assert low <= truth <= high
        assert low == high or not exact


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.hypothesis
def test_complete(family: Family, criterion: CriterionName) -> None:
    @given(cases(family, criterion))
    @examples(MODELS)
    def check(case: Case) -> None:
        found = answered(case)
        if found is None:
            return
        patterns = case.probable.patterns
        assert found.verdict == ("not-delta-fair" if patterns else "delta-fair")
        assert found.count.total == found.count.lower == found.count.upper == len(patterns)
        for figure, truth in check_figures(case, found):
            assert figure.lower == truth
            assert figure.upper <= max(truth, case.threshold)
        if patterns:
            assert found.largest.witness is not None
            assert_patterns(case, [found.largest.witness], case.probable)
        for row in found.by_attribute:
            disclosing = sum(row.attribute in pair.disclosed for pair in patterns)
            assert row.count == (disclosing, disclosing)
        counted = {entry.disclosed: entry.patterns for entry in found.count.coverage if entry.patterns}
        assert counted == case.probable.count_by_disclosed()
        assert {
            entry.disclosed: entry.pairs for entry in found.count.coverage
        } == case.brute.pairs_by_disclosed()
        check_thresholds(case, found, exact=True)

    check()


@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", [FAMILIES[name] for name in SOME_FAMILIES], ids=SOME_FAMILIES)
@pytest.mark.hypothesis
def test_limits_never_turn_a_verdict_round(family: Family, criterion: CriterionName) -> None:
    @given(cases(family, criterion), tight, st.sampled_from((0, 64)))
    @examples(MODELS)
    def check(case: Case, limited: Tight, searched: int) -> None:
        # Of more sensitive attributes than are searched one by one the closed bound is told.
        with patch.object(answers, "_SEARCHED", searched):
            found = answered(case, limited.limits())
        if found is None:
            return
        patterns = case.probable.patterns
        assert found.verdict in ("not-delta-fair" if patterns else "delta-fair", "inconclusive")
        assert found.count.lower <= len(patterns) <= found.count.upper
        assert (found.count.reason is None) == (found.count.total is not None)
        listed = [*(found.top.patterns if found.top else ())]
        listed += found.minimal.patterns if found.minimal else ()
        check_thresholds(case, found, exact=False)
        for figure, _ in check_figures(case, found):
            assert figure.lower <= found.largest.lower
        assert all(abs(pattern.degree) <= found.largest.lower for pattern in listed)

    check()


def pattern(degree: Fraction) -> Pattern:
    """A pattern of Figure 1 of a degree that it hasn't."""
    model = load_naive_bayes(FIGURE1).naive_bayes()
    measured = measure(model, Question.of("0.1").criterion, ((0, 0),), ())
    return Pattern(**{**vars(measured), "degree": degree})


TENTH, FIFTH, HAIR = Fraction(1, 10), Fraction(1, 5), Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("degree", "upper", "counted", "verdict", "bound"),
    [
        (TENTH, TENTH, (0, 0), "delta-fair", TENTH),
        (-TENTH, TENTH, (0, 9), "delta-fair", TENTH),
        (-FIFTH, FIFTH, (7, 7), "not-delta-fair", FIFTH),
        (TENTH + HAIR, FIFTH, (0, 9), "not-delta-fair", FIFTH),
        (TENTH, FIFTH, (0, 9), "inconclusive", FIFTH),
        (TENTH, TENTH + HAIR, (0, 9), "inconclusive", TENTH + HAIR),
        (TENTH, FIFTH, (0, 0), "delta-fair", TENTH),
        (TENTH, FIFTH, (3, 3), "not-delta-fair", FIFTH),
        (TENTH, FIFTH, (1, 9), "not-delta-fair", FIFTH),
        (None, Fraction(0), (0, 0), "delta-fair", Fraction(0)),
        (FIFTH, FIFTH, (0, 0), "disagree", None),
        (TENTH, TENTH, (3, 3), "disagree", None),
        (FIFTH, TENTH, (1, 1), "disagree", None),
    ],
)
def test_verdicts(
    monkeypatch: pytest.MonkeyPatch,
    degree: Fraction | None,
    upper: Fraction,
    counted: tuple[int, int],
    verdict: str,
    bound: Fraction | None,
) -> None:
    witnesses = () if degree is None else (pattern(degree),)
    monkeypatch.setattr(Engine, "worst", lambda self: Worst(witnesses, upper, True, 1, 1))
    monkeypatch.setattr(Engine, "count", lambda self, enclosed: PatternCount(*counted, None, ()))
    monkeypatch.setattr(Engine, "sample", lambda self, n: None)
    model = load_naive_bayes(FIGURE1).naive_bayes()
    if verdict == "disagree":
        with pytest.raises(RuntimeError, match=r"disagree|above a proved bound"):
            answer(model, Question.of("0.1"))
    else:
        found = answer(model, Question.of("0.1"))
        assert (found.verdict, found.largest.upper) == (verdict, bound)


def test_a_count_gives_the_search_a_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends before it finds anything takes its witness from the patterns counted."""
    monkeypatch.setattr(Engine, "worst", lambda self: Worst((), Fraction(1), False, 0, 1))
    model = load_naive_bayes(FIGURE1).naive_bayes()
    unfair = answer(model, Question.of("0.2"))
    assert unfair.verdict == "not-delta-fair"
    assert unfair.largest.lower > FIFTH
    fair = answer(model, Question.of("0.3"))
    assert (fair.verdict, fair.largest.upper) == ("delta-fair", Fraction(3, 10))
    monkeypatch.setattr(Engine, "count", lambda self, enclosed: PatternCount(0, 9, "too many", ()))
    assert answer(model, Question.of("0.2")).verdict == "inconclusive"


def test_what_is_listed_is_in_no_bound_forgotten() -> None:
    """A list that was complete before time was up raises what the other figures have found."""
    calls = iter(range(10**6))
    limits = Limits(expired=lambda: next(calls) > 12)
    model = load_naive_bayes(FIGURE1.with_name("compas.json")).naive_bayes()
    found = answer(model, Question.of("0.1", limits=limits), EVERYTHING)
    assert found.out_of_time
    for figure, _ in figures(found):
        assert figure.lower <= found.largest.lower <= found.largest.upper
    for row in found.by_attribute:
        assert row.alone.lower <= row.any.lower
        assert row.alone.upper <= row.any.upper
    uppers = [figure.upper for _, figure in found.by_share]
    assert uppers == sorted(uppers)


@pytest.mark.parametrize("number", ["0.1", " 0.10 ", ".1", "1e-1", "0", "1", "1.", 0.1, 1, 0])
def test_numbers_are_taken_exactly(number: str | float) -> None:
    share = Share.of(number)
    assert share.value == Fraction(share.text)
    assert share.text == str(number).strip()


@pytest.mark.parametrize(
    "number", ["", "x", "nan", "inf", "-0.1", "1.0001", "1/10", "1_0", "1e-9999", "٠.١", 1.5, inf]
)
def test_other_numbers_are_refused(number: str | float) -> None:
    with pytest.raises(InputError, match="is not a decimal number from 0 to 1"):
        Share.of(number)


def test_the_question_can_say_what_is_sensitive() -> None:
    model = load_naive_bayes(FIGURE1).naive_bayes()
    found = answer(model, Question.of("0.1", sensitive=("Y1", "X")))
    assert found.model.sensitive == (0, 1)
    assert model.sensitive == (0,)
    with pytest.raises(InputError, match='the model has no "Z"; it has "X", "Y1"'):
        answer(model, Question.of("0.1", sensitive=("Z",)))
    with pytest.raises(InputError, match="name at least one"):
        answer(model, Question.of("0.1", sensitive=()))


def test_a_count_that_the_search_has_settled_says_so() -> None:
    """Contexts that are too many to be counted, none of which is near the peak."""
    quarters = [(Fraction(2, 4), Fraction(1, 4)), (Fraction(2, 4), Fraction(3, 4))]
    far = [(Fraction(99, 100), Fraction(1, 400)), (Fraction(1, 100), Fraction(399, 400))]
    model = naive_bayes(
        PlainModel(
            Fraction(1, 21), (PlainAttribute(tuple(quarters), True), PlainAttribute(tuple(far), False))
        )
    )
    for delta, method in (("0.1", "bounded"), ("0.5", "closed form")):
        found = answer(model, Question.of(delta, limits=Limits(steps=0)))
        assert (found.verdict, found.count.total) == ("delta-fair", 0)
        assert [(entry.disclosed, entry.method, entry.pairs) for entry in found.count.coverage] == [
            ((0,), method, 6)
        ]


def test_what_was_seen_is_counted_at_least() -> None:
    """Where nothing could be counted, what searches have found is still there."""
    calls = iter(range(10**6))
    limits = Limits(expired=lambda: next(calls) > 12)
    model = load_naive_bayes(FIGURE1.with_name("compas.json")).naive_bayes()
    found = answer(model, Question.of("0.1", limits=limits), EVERYTHING)
    assert found.count.total is None
    assert found.top
    listed = {(p.sensitive_values, p.context_values) for p in found.top.patterns}
    assert 0 < len(listed) <= found.count.lower <= 2_017
    for row in found.by_attribute:
        disclosing = [x for x, _ in listed if row.attribute in (i for i, _ in x)]
        assert len(disclosing) <= row.count[0] <= row.count[1]
    for share, (low, _) in found.by_threshold:
        assert sum(abs(p.degree) > share.value for p in found.top.patterns) <= low


def test_more_patterns_than_there_can_be_are_a_contradiction() -> None:
    count = PatternCount(0, 2, "too many", ())
    assert count.having_seen([(0,), (0,)]).lower == 2
    assert count.having_seen([(0,), (0, 1)]).disclosing(1) == (1, 2)
    with pytest.raises(RuntimeError, match="more patterns"):
        count.having_seen([(0,)] * 3)
