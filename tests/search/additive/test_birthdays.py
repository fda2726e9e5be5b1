"""Sums next to a target are what they are said to be, and near."""

from __future__ import annotations

from random import Random

import pytest

from auditor.search.additive.birthdays import BITS, sums_near

ONE, LIMITS = 1 << BITS, (1 << 22, lambda: False)


def rows_of(number: int, values: int, seed: str) -> list[list[int]]:
    random = Random(seed)
    return [[0, *(random.randint(-ONE, ONE) for _ in range(values))] for _ in range(number)]


@pytest.mark.parametrize(("number", "share"), [(60, 0), (110, 0.05), (110, -0.3), (200, 0), (200, -0.3)])
def test_choices_are_different_and_their_sums_next_to_the_target(number: int, share: float) -> None:
    rows = rows_of(number, 5, f"{number} rows")
    # Some are the same, as those of attributes that are alike, and some have nothing to choose.
    rows[7] = rows[3]
    rows[11] = [rows[11][1]]
    target = round(share * number * ONE / 2) + sum(sum(row) // len(row) for row in rows)
    found = sums_near(rows, target, 20, *LIMITS)
    assert len(set(found)) == len(found) == 20
    off = [abs(sum(row[entry] for row, entry in zip(rows, choice, strict=True)) - target) for choice in found]
    assert off == sorted(off)
    assert off[-1] * 2**62 <= ONE


@pytest.mark.parametrize("short", [20, 60])
def test_a_target_that_hardly_any_sums_are_near_gets_some(short: int) -> None:
    rows = rows_of(200, 5, "far away")
    target = sum(map(max, rows)) - short * ONE
    found = sums_near(rows, target, 3, *LIMITS)
    assert len(set(found)) == len(found) <= 3
    for choice in found:
        assert all(0 <= entry < len(row) for entry, row in zip(choice, rows, strict=True))
    assert not sums_near(rows, target + (short + 1) * ONE, 3, *LIMITS)


def test_no_sums_are_found_when_time_is_up() -> None:
    assert not sums_near(rows_of(200, 5, "late"), 0, 1, 1 << 22, lambda: True)


def test_few_rows_have_no_such_sums() -> None:
    assert not sums_near(rows_of(20, 5, "few"), 0, 1, *LIMITS)
    assert not sums_near(rows_of(1, 5, "alike") * 300, 0, 1, *LIMITS)
    assert not sums_near([], 0, 1, *LIMITS)


@pytest.mark.parametrize("bits", [4, 12, 20])
def test_sums_that_are_too_far_apart_for_integers_are_not_joined(bits: int) -> None:
    rows = [[entry << bits for entry in row] for row in rows_of(100, 2, "far apart")]
    found = sums_near(rows, 0, 1, *LIMITS)
    for choice in found:
        assert abs(sum(row[entry] for row, entry in zip(rows, choice, strict=True))) < ONE
    assert bool(found) == (bits < 8)
