"""What holds for every model of a set, against all corners of all patterns in rationals."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import inf, isclose, sqrt
from typing import Any

import pytest

from auditor.choices import CriterionName
from auditor.search.criteria import CRITERIA
from auditor.search.limits import Limits
from auditor.search.ranges import Ranges, imprecise_dirichlet
from auditor.search.reach import reach

Odds = Fraction | None  # None is infinite


def random_ranges(rng: random.Random, strength: int) -> Ranges:
    """Few rows, so that many counts are 0; strength 0 is a single model."""
    n = rng.randint(1, 3)
    tables = []
    for _ in range(n):
        m = rng.randint(2, 3)
        pool = rng.choice([(0, 1, 5), (1, 2, 3, 40), (0, 3), (7, 8, 9)])
        rows = [[Fraction(rng.choice(pool)) for _ in range(m)] for _ in range(2)]
        for row in rows:
            if not any(row):
                row[0] = Fraction(1)
        tables.append((rows[0], rows[1]))
    decision = Fraction(rng.randint(1, 30)), Fraction(rng.randint(1, 30))
    sensitive = tuple(sorted(rng.sample(range(n), rng.randint(1, n))))
    return imprecise_dirichlet(decision, tables, Fraction(strength, rng.choice([1, 3])), sensitive)


def patterns(ranges: Ranges) -> Iterator[tuple[list[tuple[Odds, Odds]], list[tuple[Odds, Odds]]]]:
    """The ends of the ratios of x and of y, of all patterns that can occur in some model."""

    def ends(i: int, v: int) -> tuple[Odds, Odds] | None:
        (a0, a1), (b0, b1) = ranges.values[i][v]
        return None if a1 == b1 == 0 else (a0 / b1 if b1 else None, a1 / b0 if b0 else None)

    everything = range(len(ranges.values))
    for size in range(1, len(ranges.sensitive) + 1):
        for shown in combinations(ranges.sensitive, size):
            rest = [i for i in everything if i not in shown]
            for x in product(*(range(len(ranges.values[i])) for i in shown)):
                for y in product(*(range(-1, len(ranges.values[i])) for i in rest)):
                    of_x = [ends(i, v) for i, v in zip(shown, x, strict=True)]
                    of_y = [ends(i, v) for i, v in zip(rest, y, strict=True) if v >= 0]
                    if None not in of_x and None not in of_y:
                        yield of_x, of_y  # type: ignore[misc]


def multiplied(factors: list[Odds]) -> Odds:
    """A product; a ValueError where 0 meets infinity, which no model has a pattern for."""
    if None in factors:
        if Fraction(0) in factors:
            raise ValueError("undefined")
        return None
    found = Fraction(1)
    for factor in factors:
        assert factor is not None
        found *= factor
    return found


def share(odds: Odds) -> Fraction:
    return Fraction(1) if odds is None else odds / (1 + odds)


def size(name: CriterionName, given_pattern: Fraction, given_context: Fraction) -> Fraction:
    if name == "difference" or given_context == 0:
        return abs(given_pattern - given_context) if name == "difference" else Fraction(0)
    q = given_pattern / given_context
    return 1 - 1 / q if q >= 1 else 1 - q


def extremes(
    name: CriterionName, ranges: Ranges, of_x: list[Any], of_y: list[Any]
) -> tuple[float, float] | None:
    """inf and sup of |degree|, from many models between and at the corners in floats."""
    low, high = ranges.prior
    points = []

    def between(end: tuple[Odds, Odds]) -> list[float]:
        a, b = (inf if e is None else float(e) for e in end)
        if a == inf:
            return [1e80]
        if b == 0:
            return [1e-80]
        return [max(a, 1e-40), min(b, 1e40)]

    gammas = [1.0]
    for end in [(low / (1 - low), high / (1 - high)), *of_y]:
        gammas = [g * e for g in gammas for e in between(end)]
    strengths = [1.0]
    for end in of_x:
        strengths = [s * e for s in strengths for e in between(end)]
    g0, g1, s0, s1 = min(gammas), max(gammas), min(strengths), max(strengths)
    for s in {s0, s1, min(max(1.0, s0), s1)}:
        for g in {g0, g1, min(max(1 / sqrt(s), g0), g1)}:
            c, a = g / (1 + g), g * s / (1 + g * s)
            if name == "difference":
                points.append(abs(a - c))
            else:
                q = s * (1 + g) / (1 + g * s)
                points.append(1 - 1 / q if q >= 1 else 1 - q)
    return min(points), max(points)


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("strength", [0, 1, 2])
@pytest.mark.parametrize("seed", range(60))
def test_all_corners(name: CriterionName, strength: int, seed: int) -> None:
    """The largest sup and inf of all patterns, and the verdict at and beside the largest."""
    rng = random.Random(f"{name} {strength} {seed}")
    ranges = random_ranges(rng, strength)
    pinned = lambda end: end[0] is None or end[1] == 0  # noqa: E731
    found = [
        extremes(name, ranges, x, y)
        for x, y in patterns(ranges)
        if not any(map(pinned, y)) and not (any(e[0] is None for e in x) and any(e[1] == 0 for e in x))
    ]
    sup, low = max(f[1] for f in found if f), max(f[0] for f in found if f)
    for delta in (Fraction(1, 10), Fraction(1, 3), Fraction(9, 10)):
        answer = reach(ranges, CRITERIA[name](delta))
        assert isclose(float(answer.upper), sup, abs_tol=1e-6)
        degree = abs(answer.largest.degree) if answer.largest else Fraction(0)
        assert degree <= answer.upper
        assert isclose(float(degree), sup, abs_tol=1e-6)
        if sup > delta + Fraction(1, 10**6):
            assert answer.verdict == ("none-delta-fair" if low > delta else "varies"), (sup, low)
            assert degree > delta
            assert isclose(float(answer.certain.least) if answer.certain else 0.0, low, abs_tol=1e-6)
        elif sup < delta - Fraction(1, 10**6):
            assert answer.verdict == "all-delta-fair"
    # A threshold that is attained exactly is fair, and what is a hair below it is exceeded.
    exact = reach(ranges, CRITERIA[name](Fraction(1)))
    degree = abs(exact.largest.degree) if exact.largest else Fraction(0)
    if degree == exact.upper and 0 < degree < 1:
        hair = Fraction(1, 10**40)
        assert reach(ranges, CRITERIA[name](degree)).verdict == "all-delta-fair"
        assert reach(ranges, CRITERIA[name](degree - hair)).verdict != "all-delta-fair"


@pytest.mark.parametrize("seed", range(30))
def test_limits_never_make_a_verdict_fair(seed: int) -> None:
    """Short lists and few nodes leave open what they can't prove."""
    ranges = random_ranges(random.Random(f"limits {seed}"), 1)
    criterion = CRITERIA["difference"](Fraction(1, 5))
    whole = reach(ranges, criterion)
    for limits in (Limits(nodes=0), Limits(nodes=3), Limits(entries=1), Limits(expired=lambda: True)):
        cut = reach(ranges, criterion, limits)
        assert cut.verdict in (whole.verdict, "inconclusive")
        assert cut.upper >= (abs(whole.largest.degree) if whole.largest else 0)
