"""Each form of a criterion against its definition by ``R = e^γ``, ``P(d | y) = R / (1 + R)``."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auditor.choices import CriterionName
from auditor.model.exponentials import sign
from auditor.search.criteria import CRITERIA, Criterion, ln
from tests.fuzzing import examples

NAMES = get_args(CriterionName)
probabilities = st.fractions(0, 1, max_denominator=30)
positive = probabilities.filter(bool)
thresholds = st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), probabilities)
odds = st.builds(Fraction, st.integers(1, 400), st.integers(1, 400))


def given_both(a: Fraction, b: Fraction, r: Fraction) -> tuple[Fraction, Fraction]:
    """``P(d | xy)`` and ``P(d | y)``."""
    return a * r / (a * r + b), r / (1 + r)


def size(criterion: Criterion, a: Fraction, b: Fraction, r: Fraction) -> Fraction:
    """|degree| by its definition."""
    return abs(criterion.degree(*given_both(a, b, r)))


@pytest.mark.parametrize("name", NAMES)
@given(probabilities, probabilities, odds, thresholds)
@examples(100)
def test_the_interval_holds_exactly_the_contexts_that_discriminate(
    name: CriterionName, a: Fraction, b: Fraction, r: Fraction, threshold: Fraction
) -> None:
    assume(a or b)
    criterion = CRITERIA[name](threshold)
    ends = criterion.interval(a, b)
    gamma = ln(r)
    # What lies this close to an end isn't decided by decimals; the search settles it in rationals.
    close = Decimal("1e-50")
    assume(ends is None or all(end is None or abs(end - gamma) > close for end in ends))
    inside = (
        ends is not None and (ends[0] is None or ends[0] < gamma) and (ends[1] is None or gamma < ends[1])
    )
    assert inside == (size(criterion, a, b, r) > threshold)


@pytest.mark.parametrize("name", NAMES)
@given(probabilities, probabilities, odds, thresholds)
@examples(100)
def test_nothing_exceeds_the_closed_form(
    name: CriterionName, a: Fraction, b: Fraction, r: Fraction, bound: Fraction
) -> None:
    assume(a or b)
    criterion = CRITERIA[name](bound)
    if criterion.supremum_within(a, b, bound):
        assert size(criterion, a, b, r) <= bound
        assert criterion.interval(a, b) is None
    elif a and b:
        # It is come near to: at the peak of the difference, and as the odds fall for the ratio.
        peak = math.isqrt(int(b / a * 10**40)) or 1
        at = Fraction(peak, 10**20) if name == "difference" else Fraction(1, 10**40)
        assert size(criterion, a, b, at) > bound - Fraction(1, 10**15)


@pytest.mark.parametrize("name", NAMES)
@given(st.integers(-6, 6), thresholds)
@examples(60)
def test_the_closed_form_of_powers_of_four(name: CriterionName, exponent: int, threshold: Fraction) -> None:
    """``e^|s|`` is rational, and so is its root: both forms decide exactly, ties too."""
    criterion = CRITERIA[name](threshold)
    for tied in (criterion, CRITERIA[name](_supremum(name, Fraction(4) ** abs(exponent)))):
        terms = [(c, p * 2 * abs(exponent)) for c, p in tied.supremum_terms()]
        within = tied.supremum_within(Fraction(4) ** exponent, Fraction(1), tied.threshold)
        assert within == (sign(terms, "2") <= 0)


def _supremum(name: CriterionName, k: Fraction) -> Fraction:
    root = Fraction(math.isqrt(k.numerator))
    return (root - 1) / (root + 1) if name == "difference" else 1 - 1 / k


@pytest.mark.parametrize("name", NAMES)
@given(probabilities, probabilities, st.lists(odds, min_size=2, max_size=6))
@examples(60)
def test_contexts_in_order_of_their_degree(
    name: CriterionName, a: Fraction, b: Fraction, contexts: list[Fraction]
) -> None:
    assume(a or b)
    criterion = CRITERIA[name](Fraction(1, 10))
    contexts.sort(key=lambda r: criterion.off_peak(r, a, b))
    for nearer, farther in pairwise(contexts):
        near, far = (size(criterion, a, b, r) for r in (nearer, farther))
        assert near >= far
        tied = criterion.off_peak(nearer, a, b) == criterion.off_peak(farther, a, b)
        assert (near == far) or not tied


@pytest.mark.parametrize("name", NAMES)
@given(positive, positive, odds, thresholds)
@examples(100)
def test_the_terms_in_odds_are_positive_where_a_pair_discriminates(
    name: CriterionName, a: Fraction, b: Fraction, r: Fraction, threshold: Fraction
) -> None:
    assume(a != b)
    criterion = CRITERIA[name](threshold)
    high, low = max(a * r / b, r), min(a * r / b, r)
    total = sum(c * high**i * low**j for c, i, j in criterion.odds_terms())
    excess = size(criterion, a, b, r) - threshold
    assert (total > 0, total == 0) == (excess > 0, excess == 0)


@pytest.mark.parametrize("name", NAMES)
@given(positive, positive, odds, probabilities.filter(lambda share: 0 < share < 1), thresholds)
@examples(100)
def test_a_pattern_that_moves_to_its_target_is_at_the_threshold(
    name: CriterionName, a: Fraction, b: Fraction, r: Fraction, share: Fraction, threshold: Fraction
) -> None:
    criterion = CRITERIA[name](threshold)
    given_pattern, given_context = given_both(a, b, r)
    # A pattern is a part of its context: P(d | xy) P(x | y) <= P(d | y), and the same of the other decision.
    assume(given_pattern * share <= given_context and (1 - given_pattern) * share <= 1 - given_context)
    assume(abs(criterion.degree(given_pattern, given_context)) > threshold)
    target = criterion.fair_target(given_pattern, given_context, share)
    moved = given_context + share * (target - given_pattern)
    assert 0 <= target <= 1
    assert abs(criterion.degree(target, moved)) == threshold


@pytest.mark.parametrize("name", NAMES)
@given(positive, positive, odds, thresholds)
@examples(100)
def test_floats_come_near_and_err_on_the_side_they_promise(
    name: CriterionName, a: Fraction, b: Fraction, r: Fraction, threshold: Fraction
) -> None:
    assume(a != b)
    criterion = CRITERIA[name](threshold)
    s, t = float(ln(a / b)), float(ln(r))
    exact = float(size(criterion, a, b, r))
    assert math.isclose(float(criterion.size(s, t)), exact, rel_tol=1e-12, abs_tol=1e-300)
    assert float(criterion.supremum(s)) >= exact * (1 - 1e-12)
    assert float(criterion.largest_size(np.array(s), np.array(t - 1), np.array(t + 1))) >= exact * (1 - 1e-12)
    (outer_low, outer_high), (inner_low, inner_high) = (
        map(float, np.ravel(criterion.reach(np.array([s]), outwards=outwards))) for outwards in (True, False)
    )
    ends = criterion.interval(a, b)
    if ends is None:
        assert inner_low > inner_high
        return
    low = -math.inf if ends[0] is None else float(ends[0])
    high = math.inf if ends[1] is None else float(ends[1])
    assert outer_low <= low
    assert high <= outer_high
    assert inner_low > inner_high or low <= inner_low <= inner_high <= high


@pytest.mark.parametrize("name", NAMES)
@given(probabilities.filter(lambda threshold: 0 < threshold < 1))
def test_the_largest_strength_that_is_always_fair(name: CriterionName, threshold: Fraction) -> None:
    criterion = CRITERIA[name](threshold)
    strength = criterion.largest_fair_strength()
    assert math.isclose(float(criterion.supremum(strength)), threshold, rel_tol=1e-12)


@examples(50)
@given(*[st.fractions(0, 1, max_denominator=1000)] * 2)
def test_what_is_fair_by_the_ratio_is_fair_by_the_difference(after: Fraction, before: Fraction) -> None:
    """``|p - q| <= |p - q| / max(p, q)`` for chances p and q; with equality only where one is certain."""
    difference, ratio = (
        CRITERIA[name](Fraction(0)).degree(after, before) for name in ("difference", "ratio")
    )
    if before:
        assert abs(ratio) == abs(difference) / max(after, before)
        assert (abs(ratio) > abs(difference)) == (after != before and max(after, before) < 1)


@pytest.mark.parametrize("name", CRITERIA)
def test_the_largest_fair_strength_next_to_threshold_one(name: CriterionName) -> None:
    """A float rounds this threshold to 1."""
    strength = CRITERIA[name](1 - Fraction(1, 10**20)).largest_fair_strength()
    assert math.isclose(strength, {"difference": 2 * math.log(2e20), "ratio": math.log(1e20)}[name])


@pytest.mark.parametrize("name", CRITERIA)
def test_any_strength_is_fair_at_threshold_one(name: CriterionName) -> None:
    assert CRITERIA[name](Fraction(1)).largest_fair_strength() == math.inf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threshold", [Fraction(1, 10), Fraction(1, 10**400)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_cut_is_met_where_the_degree_is_the_threshold(
    name: CriterionName, threshold: Fraction, sign: int
) -> None:
    """At odds of 1, also for a threshold below all floats."""
    criterion = CRITERIA[name](threshold)
    if name == "difference":
        after = (Fraction(1, 2) + sign * threshold) / (Fraction(1, 2) - sign * threshold)
    else:
        given = Fraction(1, 2) / (1 - threshold) if sign > 0 else (1 - threshold) / 2
        after = given / (1 - given)
    strength = float(ln(after))
    terms = sum(
        math.exp(offset + by_strength * strength) for offset, _, by_strength in criterion.cut_terms(sign)
    )
    assert terms == pytest.approx(float(1 - threshold), rel=1e-12)
    assert criterion.cut_terms(sign)[0][0] == pytest.approx(float(ln(threshold)))
