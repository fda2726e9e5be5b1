"""Numbers keep to their side, names stay inert, and every verdict has its words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.choices import ListName, Verdict
from auditor.report.wording import (
    Words,
    heading,
    limit_of_change,
    percent,
    rounded,
    share,
    shown,
    signed,
    size,
)
from tests.report.documents import audit_document, model, pattern, pattern_list

PLAIN = Words(name=shown, strong=str)


@given(
    st.floats(0, 1) | st.sampled_from([0.1, 0.10000000000000002, 0.25]),
    st.sampled_from(["0", "0.1", "0.25", "1", "0.10000000000000001", "0.09999999999999999999", "1e-9"]),
)
def test_a_size_is_shown_on_its_side_of_delta(value: float, delta: str) -> None:
    assert (Decimal(size(value, delta)) > Decimal(delta)) == (value > float(delta))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1000"),
        (0.10000000000000002, "0.10000000000000002"),
        (0.10000123, "0.100001"),
        (0.099999, "0.10000"),
        (-0.25, "0.2500"),
        (0.0, "0"),
        (1e-12, "1.000e-12"),
    ],
)
def test_sizes_beside_a_tenth(value: float, text: str) -> None:
    assert size(value, "0.1") == text


def test_signs() -> None:
    assert [signed(degree, "0.1") for degree in (0.2, 0.0, -0.2)] == ["+0.2000", "0", "-0.2000"]


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.4872, "48.72%"),
        (0.99999999, "over 99.99%"),
        (3.0611e-4, "0.03061%"),
        (1e-28, "1.000e-26%"),
    ],
)
def test_percentages(probability: float, text: str) -> None:
    assert percent(probability) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0%"),
        (10, 10, "100%"),
        (2017, 14688, "13.73%"),
        (10**40 - 1, 10**40, "over 99.99%"),
        (99994, 10**5, "99.99%"),
        (99995, 10**5, "over 99.99%"),
        (1, 10**40, "1.000e-38%"),
    ],
)
def test_shares_of_all_patterns(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


def test_tiny_numbers_have_an_exponent() -> None:
    assert [rounded(0.00305123), rounded(3.05123e-6), rounded(0.5, 2)] == ["0.003051", "3.051e-6", "0.50"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
        ("no\xa0break", "no\xa0break"),
        ("Ärzte – 医者", "Ärzte – 医者"),
    ],
)
def test_names_are_shown_without_control_characters(name: str, text: str) -> None:
    assert shown(name) == text


def test_sentences() -> None:
    disclosing = "Disclosing Sex: Female, Age: Over 30"
    assert PLAIN.sentence(pattern(), model()) == (
        f"{disclosing} raises P(Granted) from 50.00% to 75.00% for people with Level: 3 or 4."
    )
    lowers = pattern(degree=-0.1, favourable_given_pattern=0.4, context_values={})
    assert PLAIN.sentence(lowers, model()) == (
        f"{disclosing} lowers P(Granted) from 50.00% to 40.00% for people of whom nothing else is known."
    )
    assert "leaves P(Granted) at 50.00%" in PLAIN.sentence(pattern(degree=0.0), model())


@pytest.mark.parametrize(
    ("verdict", "claim"),
    [
        ("delta-fair", "Shown: disclosing"),
        ("not-delta-fair", "It is not true that disclosing"),
        ("inconclusive", "Neither shown nor refuted: disclosing"),
    ],
)
def test_claims(verdict: Verdict, claim: str) -> None:
    document = audit_document(verdict=verdict)
    assert PLAIN.claim(document).startswith(claim)
    assert PLAIN.claim(document).endswith("changes P(Granted) by at most 0.1.")
    assert "at δ = 0.1 for these sensitive attributes" in PLAIN.verdict(document)
    limited = PLAIN.claim(audit_document(verdict=verdict, min_probability="0.001"))
    assert "Only patterns with a probability of at least 0.001 are considered; the group" in limited


def test_the_ratio_demands_a_share() -> None:
    assert limit_of_change("ratio", "0.2", "P(x)").endswith("at least 0.8 times the larger")


def test_bounds_of_an_unproved_degree_are_rounded_outwards() -> None:
    search = audit_document().search.model_copy(update={"complete": False})
    document = audit_document(
        verdict="inconclusive", search=search, max_degree=0.0123456, max_degree_bounds=(0.0123456, 0.123412)
    )
    assert PLAIN.largest(document) == "found 0.01234, proved to be at most 0.1235; δ = 0.1"
    assert PLAIN.largest(audit_document()) == "0.2500, above δ = 0.1"
    assert PLAIN.largest(audit_document(verdict="delta-fair", max_degree=0.1)) == "0.1000, not above δ = 0.1"


def test_a_missing_count_has_its_reason() -> None:
    assert PLAIN.counted(audit_document()) == "40 of 48 (83.33%), counted exactly"
    missing = audit_document(pattern_count=None, pattern_count_reason="too many")
    assert PLAIN.counted(missing) == "not counted among 48: too many"


@pytest.mark.parametrize(
    ("chosen", "complete", "text"),
    [
        ("top", True, "Top 2 discrimination patterns by divergence"),
        ("top", False, "Top 2 discrimination patterns by divergence, as far as found"),
        (
            "minimal",
            True,
            "2 subset-minimal patterns (no proper part is a discrimination pattern), most prob",
        ),
        ("pareto", True, "2 Pareto-optimal patterns (no other is as good in both probability and degree"),
        ("maximal", False, "The first 2 maximal patterns (no extension is a discrimination pattern), most"),
        ("sample", True, "2 discrimination patterns drawn uniformly from all"),
    ],
)
def test_headings_of_lists(chosen: ListName, complete: bool, text: str) -> None:
    assert heading(pattern_list(list=chosen, complete=complete)).startswith(text)


def test_numbers_beyond_reading_are_shortened() -> None:
    assert PLAIN.counted(audit_document(pattern_count=10**40, total_patterns=3 * 10**40)) == (
        "about 1.000e+40 of about 3.000e+40 (33.33%), counted exactly"
    )


def test_what_was_not_settled_is_not_called_settled() -> None:
    search = audit_document().search.model_copy(update={"complete": False, "reasons": ("not proved",)})
    assert PLAIN.explored(search) == (
        "1 of 8 combinations of sensitive values searched one by one; 21 nodes expanded for the top list; "
        "0.012 seconds. Not proved."
    )
