"""Draws of other models: what each has, how they are spread, and what is concluded from them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.model.reading import load_naive_bayes
from auditor.model.spec import ModelSpec
from auditor.search.criteria import CRITERIA, Difference
from auditor.search.limits import Limits
from auditor.search.stability import (
    BLOCK,
    LEVEL,
    PRIOR,
    Distribution,
    Draw,
    Learned,
    Sample,
    blocks,
    clopper_pearson,
    discriminating,
    drawn,
    models,
    quantile_ranks,
)
from tests.cli.conftest import EXAMPLES
from tests.oracle import BruteForce, CriterionName
from tests.search.comparing import naive_bayes, plain
from tests.strategies import FAMILIES, plain_models

TAIL = (1 - LEVEL) / 2
DISTRIBUTIONS: tuple[Distribution, ...] = ("posterior", "next-model")


def learned_of(spec: ModelSpec) -> Learned:
    counts = spec.decision.counts
    assert counts
    return Learned(
        spec.naive_bayes(),
        (Fraction(counts.favourable), Fraction(counts.unfavourable)),
        tuple(
            tuple((Fraction(n), Fraction(m)) for n, m in zip(c.favourable, c.unfavourable, strict=True))
            for c in (attribute.counts for attribute in spec.attributes)
            if c
        ),
        Fraction(spec.smoothing),
    )


@st.composite
def learned_models(draw: st.DrawFn) -> Learned:
    """Small counts, zeros and missing cells among them."""
    model = naive_bayes(draw(plain_models(replace(FAMILIES["two to seven values"], budget=150))))
    decision = draw(st.tuples(st.integers(0, 30), st.integers(1, 30)))
    attributes = []
    for attribute in model.attributes:
        m = len(attribute.values)
        columns = []
        for d in (0, 1):
            row = draw(st.lists(st.integers(0, decision[d] // m), min_size=m, max_size=m))
            row[draw(st.integers(0, m - 1))] += (decision[d] - sum(row)) * draw(st.booleans())
            columns.append([Fraction(n) for n in row])
        attributes.append(tuple(zip(*columns, strict=True)))
    smoothing = draw(st.sampled_from((Fraction(0), Fraction(1, 2), Fraction(1))))
    a, b = map(Fraction, decision)
    return Learned(model, (a, b), tuple((tuple((n, m) for n, m in rows)) for rows in attributes), smoothing)


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@settings(max_examples=20, deadline=None)
@given(learned=learned_models(), seed=st.integers(0, 2**40), delta=st.sampled_from(("0", "0.1", "0.4", "1")))
def test_every_draw_is_what_brute_force_finds(
    learned: Learned, seed: int, delta: str, criterion: CriterionName, distribution: Distribution
) -> None:
    asked = CRITERIA[criterion](Fraction(delta))
    block = (3, 4)
    found = drawn(learned, asked, distribution, seed, block)
    fair = unfair = 0
    listed = [draw.worst for draw in found if draw.worst][:2]
    discriminate = [0] * len(listed)
    for draw, model in zip(found, models(learned, distribution, seed, block), strict=True):
        if model is None:
            assert draw == Draw(Fraction(0), Fraction(1), None)
            continue
        brute = BruteForce(plain(model), criterion)
        (worst,) = brute.worst()
        assert draw.lower == draw.upper == worst.size
        assert draw.worst == worst.key
        fair, unfair = fair + (worst.size <= asked.threshold), unfair + (worst.size > asked.threshold)
        for place, key in enumerate(listed):
            discriminate[place] += key in brute.at(asked.threshold).keys
    sample = Sample(tuple(found), asked.threshold)
    assert (sample.fair, sample.unfair) == (fair, unfair)
    assert sample.undecided == found.count(Draw(Fraction(0), Fraction(1), None))
    assert discriminating(learned, asked, distribution, seed, block, listed) == discriminate


@settings(max_examples=50, deadline=None)
@given(learned=learned_models(), seed=st.integers(0, 2**40))
def test_the_next_model_is_learned_from_as_many_rows(learned: Learned, seed: int) -> None:
    rows = learned.rows
    for model in models(learned, "next-model", seed, (0, 5)):
        if model is None:
            continue
        favourable = model.prior * rows
        assert favourable.denominator == 1
        for attribute in model.attributes:
            for d, of_decision in enumerate((favourable, rows - favourable)):
                # Some number of known rows, not above those of the decision, gives whole counts of all.
                shares = [row[d] for row in attribute.likelihood]
                assert sum(shares) == 1
                added = learned.smoothing
                assert any(
                    all(
                        (n := share * (known + added * len(shares)) - added).denominator == 1 and n >= 0
                        for share in shares
                    )
                    for known in range(int(of_decision) + 1)
                )


def test_parameters_have_the_mean_and_the_variance_of_a_dirichlet_distribution() -> None:
    learned = learned_of(load_naive_bayes(EXAMPLES / "compas.json")).times(Fraction(1, 100))
    number = 1000
    made = [m for b in blocks(number) for m in models(learned, "posterior", 5, b) if m]
    assert len(made) == number

    def agrees(values: list[float], counts: list[Fraction], place: int) -> None:
        total = float(sum(counts)) + PRIOR * len(counts)
        mean = (float(counts[place]) + PRIOR) / total
        variance = mean * (1 - mean) / (total + 1)
        found = sum(values) / number
        assert abs(found - mean) < 5 * (variance / number) ** 0.5
        assert 0.75 < sum((v - found) ** 2 for v in values) / number / variance < 1.25

    agrees([float(m.prior) for m in made], list(learned.decision), 0)
    for i, rows in enumerate(learned.attributes):
        for d in (0, 1):
            values = [float(m.attributes[i].likelihood[1][d]) for m in made]
            agrees(values, [row[d] for row in rows], 1)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_seed_gives_the_same_draws_and_another_gives_others(distribution: Distribution) -> None:
    learned = learned_of(load_naive_bayes(EXAMPLES / "german.json"))
    assert models(learned, distribution, 1, (0, 3)) == models(learned, distribution, 1, (0, 3))
    streams = [(seed, block) for seed in (1, 2) for block in (0, 1)]
    priors = {
        m.prior for seed, block in streams for m in models(learned, distribution, seed, (block, 1)) if m
    }
    assert len(priors) == len(streams)
    assert models(learned, "posterior", 1, (0, 1)) != models(learned, "next-model", 1, (0, 1))


def test_blocks_have_all_draws() -> None:
    assert blocks(2 * BLOCK + 1) == [(0, BLOCK), (1, BLOCK), (2, 1)]
    assert blocks(1) == [(0, 1)]


#: 95% of the largest degree of COMPAS with its counts, a tenth and a hundredth of them, from a prototype.
COMPAS = (
    (Fraction(1), 0.389, 0.424),
    (Fraction(1, 10), 0.344, 0.461),
    (Fraction(1, 100), 0.210, 0.560),
)


@pytest.mark.parametrize(("factor", "low", "high"), COMPAS)
def test_compas_varies_as_a_prototype_found(factor: Fraction, low: float, high: float) -> None:
    learned = learned_of(load_naive_bayes(EXAMPLES / "compas.json")).times(factor)
    criterion = Difference(Fraction(4, 10))
    draws = tuple(draw for b in blocks(200) for draw in drawn(learned, criterion, "posterior", 1, b))
    sample = Sample(draws, criterion.threshold)
    _, (least, most) = sample.quantile(TAIL)
    assert least - Fraction(1, 1000) <= low <= most + Fraction(1, 1000)
    _, (least, most) = sample.quantile(1 - TAIL)
    assert least - Fraction(1, 1000) <= high <= most + Fraction(1, 1000)


def test_limits_of_the_search_leave_draws_undecided_and_never_fair() -> None:
    learned = learned_of(load_naive_bayes(EXAMPLES / "compas.json"))
    delta = Difference(Fraction(41, 100))
    limits = Limits(entries=4, nodes=0, expired=lambda: True)
    found = drawn(learned, delta, "posterior", 1, (0, 20), limits)
    exact = drawn(learned, delta, "posterior", 1, (0, 20))
    for short, whole in zip(found, exact, strict=True):
        assert short.lower <= whole.lower == whole.upper <= short.upper
    sample, known = (Sample(tuple(draws), delta.threshold) for draws in (found, exact))
    assert sample.fair <= known.fair
    assert sample.unfair <= known.unfair
    assert sample.undecided > known.undecided == 0
    assert sample.probability[0] <= known.probability[0] <= known.probability[1] <= sample.probability[1]


def test_what_is_undecided_counts_against_both_limits() -> None:
    nothing, half, whole = map(Fraction, ("0", "1/2", "1"))
    some = ((0, 0),), ()
    fair, unfair = Draw(Fraction(0), Fraction(0), some), Draw(Fraction(1), Fraction(1), some)
    lost, exactly = Draw(Fraction(0), Fraction(1), None), Draw(half, half, some)
    sample = Sample((fair, unfair, lost, exactly) * 10, half)
    # A degree of exactly δ is fair.
    assert (sample.fair, sample.unfair, sample.undecided) == (20, 10, 10)
    assert sample.probability == (clopper_pearson(20, 40)[0], clopper_pearson(30, 40)[1])
    (low, high), (least, most) = sample.quantile(half)
    assert least <= low < high <= most
    assert Sample((lost,) * 40, half).quantile(half)[1] == (nothing, whole)
    assert Sample((lost,) * 40, Fraction(1)).fair == 0
    assert Sample((unfair,), half).quantile(half) == ((whole, whole), (nothing, whole))


def below(k: int, number: int, share: Fraction) -> Fraction:
    """P(X <= k) of a binomial X."""
    return sum((comb(number, i) * share**i * (1 - share) ** (number - i) for i in range(k + 1)), Fraction(0))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_limits_of_a_probability_are_those_of_clopper_and_pearson(case: tuple[int, int]) -> None:
    k, number = case
    unit = Fraction(1, 10**6)
    low, high = clopper_pearson(k, number)
    if k == 0:
        assert low == 0
    else:
        # So many successes or more are as improbable as the level says at the limit, and not a unit above.
        assert 1 - below(k - 1, number, low) <= TAIL < 1 - below(k - 1, number, low + unit)
    if k == number:
        assert high == 1
    else:
        assert below(k, number, high) <= TAIL < below(k, number, high - unit)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.sampled_from((Fraction(1, 40), Fraction(1, 2), Fraction(39, 40))))
def test_limits_of_a_quantile_are_the_tightest_order_statistics(number: int, share: Fraction) -> None:
    low, high = quantile_ranks(number, share)
    assert low == 0 or below(low - 1, number, share) <= TAIL
    assert below(low, number, share) >= TAIL
    assert high == number + 1 or 1 - below(high - 1, number, share) <= TAIL
    assert 1 - below(high - 2, number, share) >= TAIL
