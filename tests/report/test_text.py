"""Text for a terminal: within 80 columns, aligned, and inert."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report import text
from auditor.report.formats import COLUMNS, render
from tests.report.documents import audit_document, model, pattern, pattern_list

NASTY = ["<script>alert(1)</script>", "{{7*7}}", "a\nb", "\x1b[2J", "[bold]", "x" * 300, "字" * 90, "é\u0301"]


def test_golden_audit() -> None:
    assert (
        render(audit_document(), "text")
        == """\
Credit: not δ-fair at δ = 0.1 for these sensitive attributes
Found: in at least one context, disclosing sensitive values changes P(Granted)
by more than 0.1.

Decision      Loan; favourable: Granted
Sensitive     Sex, Age
Criterion     difference: P(favourable) after disclosing minus before
Model digest  sha256 0123456789abcdef…

Worst degree of discrimination
  0.2500, above δ = 0.1
  Disclosing Sex: Female, Age: Over 30 raises P(Granted) from 50.00% to 75.00%
  for people with Level: 3 or 4.

Discrimination patterns
  40 of 48 (83.33%), counted exactly

Top 2 discrimination patterns by divergence
  P before and after: P(Granted) before and after disclosing
  #   Degree  P before  P after  Probability  Divergence (nats)
  1  +0.2500    50.00%   75.00%       1.235%           0.003051
      Sex: Female, Age: Over 30
        given Level: 3 or 4
  2  -0.2000    50.00%   75.00%       1.235%           0.003051
      Sex: Female, Age: Over 30
        given Level: 3 or 4

1 subset-minimal pattern (no proper part is a discrimination pattern)
  Every discrimination pattern contains a subset-minimal one; not every
  extension of one discriminates.
  #   Degree         People
  1  +0.2500  123 of 10,000
      Sex: Female, Age: Over 30
        given nothing else

Group level, nothing else known: +0.2500 at worst
  Disclosing Sex: Female, Age: Over 30 raises P(Granted) from 50.00% to 75.00%
  for people of whom nothing else is known.

Individual level, every attribute known: +0.2500 at worst
  This is the worst pattern of all, above.

By sensitive attribute
  Disclosed, alone or with others  Worst degree  Patterns
  Sex                                   +0.2500        30

What was explored
  1 of 8 combinations of sensitive values searched one by one, the others
  settled by a bound; 21 nodes expanded for the top list; 0.012 seconds.

What this does not say
  This speaks of the probabilities that the model itself defines. It does not
  say how well they describe any actual people, and it does not cover other
  attributes, other decisions or changed parameters.
"""
    )


def test_a_list_can_be_empty() -> None:
    shown = render(pattern_list(patterns=(), min_probability="0.5"), "text")
    assert "Top 0 discrimination patterns by divergence\n  None.\n" in shown
    assert "Only patterns with a probability of at least 0.5 are considered." in shown


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
@pytest.mark.parametrize("colour", [False, True])
def test_names_stay_inert_and_within_the_page(name: str, colour: bool) -> None:
    nasty = pattern(
        sensitive_values={name: name}, context_values={name: name, "Level": name}, divergence_nats=None
    )
    document = audit_document(
        name,
        worst_pattern=nasty,
        top_patterns=(nasty,) * 12,
        minimal_patterns=(nasty,) * 7,
        individual_level=None,
        model=model(name, decision=name, favourable=name, sensitive=(name, name), attributes=(name, name)),
        by_sensitive_attribute=(
            audit_document()
            .by_sensitive_attribute[0]
            .model_copy(update={"attribute": name, "pattern_count": None}),
        ),
    )
    for shown in (
        render(document, "text", colour=colour),
        render(pattern_list(patterns=(nasty,), model=document.model), "text", colour=colour),
    ):
        bare = re.sub(r"\x1b\[(0|1|1;31)m", "", shown)
        assert (bare != shown) == colour
        assert all(line.isprintable() for line in bare.splitlines())
        assert max(map(text.width, bare.splitlines())) <= COLUMNS
    assert "2 more: auditor patterns MODEL --delta 0.1 --summary minimal" in render(document, "text")
    declared = document.model_copy(
        update={"model": document.model.model_copy(update={"undisclosed": "declared"})}
    )
    command = "auditor patterns MODEL --delta 0.1 --undisclosed declared --summary minimal"
    assert command in " ".join(render(declared, "text").split())


@given(st.text(st.sampled_from("ab \xa0字"), max_size=60), st.integers(2, 20))
def test_wrapping_loses_nothing_and_keeps_to_the_width(words: str, columns: int) -> None:
    lines = text.wrapped(words, columns)
    assert all(text.width(line) <= columns for line in lines)
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", words)


def test_wrapping_keeps_a_value_together() -> None:
    assert text.wrapped("aaaa bb\xa0cc", 8) == ["aaaa", "bb cc"]
    assert text.wrapped("aaaa bb\xa0cccccccc", 8) == ["aaaa bb", "cccccccc"]


def test_long_names_are_broken_before_a_number_is() -> None:
    rows = [
        ("examples/categories.json", "a model, of categories", "65,999,016,582,269"),
        ("a", "b", "at least 1"),
    ]
    found = text.aligned(rows, 1, 48)
    assert sum("65,999,016,582,269" in line for line in found) == 1
    assert max(map(len, found)) <= 48
    # Where there is room for nothing else, a number is broken too.
    assert max(map(len, text.aligned(rows, 1, 15))) <= 15
