"""What a hostile author might write beyond what the generator alters: both verifiers say the same of it."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from auditor.certificate import checker, form_checker
from auditor.certificate.claims import NOT_COUNTED, UNDECIDED
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.scope import scope_of
from auditor.certificate.verifying import Against, verify
from auditor.errors import InputError
from auditor.model import checks
from tests.certificate.falsehoods import EXITS, sentence_and_formula
from tests.certificate.making import DAY, bare, made, put, renamed, version_1

CONTENT = tree(made())
OLD = version_1(made())


def codes(data: bytes) -> tuple[int, int]:
    """The exit codes of `verify` and of the checker for a certificate without a signature."""
    try:
        found = {holds for name, holds, _ in checker.examine(data, None, DAY) if name != "signature"}
        checked = 1 if False in found else 4 if None in found else 0
    except checker.UNREADABLE:
        checked = 3
    try:
        against = Against(DAY)
        return EXITS[verify(open_certificate(data, "cert.json"), against).result], checked
    except InputError:
        return 3, checked


def test_as_they_are_they_hold() -> None:
    assert codes(bare(CONTENT)) == codes(bare(OLD)) == (0, 0)


@pytest.mark.parametrize(
    "place", [("claim", "sentence"), ("assumptions", 0), ("method", "search"), ("issuer",)]
)
def test_half_a_letter_is_no_text(place: tuple[str | int, ...]) -> None:
    assert codes(bare(put(CONTENT, place, "\ud800"))) == (3, 3)


@pytest.mark.parametrize("end", ["\n", "\n became 1"])
def test_what_changed_is_read_in_one_go(end: str) -> None:
    supersedes: dict[str, Any] = {"id": "0" * 32, "sha256": "0" * 64, "scope_change_reason": "agreed"}
    changes = ["delta: " + "x became " * 20_000 + end]
    started = process_time()
    assert codes(bare(renamed(put(OLD, ("supersedes",), supersedes | {"scope_changes": changes})))) == (3, 3)
    assert process_time() - started < 2


def overriding(**overridden: Any) -> dict[str, Any]:
    """The certificate under a policy of which something was overridden."""
    policy = {"sha256": "3" * 64, "overridden": CONTENT["policy"]["overridden"] | overridden}
    return renamed(put(CONTENT, ("policy",), policy))


@pytest.mark.parametrize(
    "overridden",
    [
        {"min_probability": "0"},
        {"sensitive": []},
        {"sensitive": ["Z", "A"]},
        {"valid_days": "0"},
        {"valid_days": "3661"},
        {"delta": "0.2"},
    ],
    ids=str,
)
def test_what_a_policy_cannot_say_or_does_not_change_is_not_overridden(overridden: dict[str, Any]) -> None:
    assert codes(bare(overriding(delta="0.1", min_probability="0.3", valid_days="7"))) == (0, 0)
    assert codes(bare(overriding(**overridden))) == (3, 3)


def of_nothing(verdict: str) -> dict[str, Any]:
    """A certificate that says something of patterns as probable as none is."""
    content = tree(made("0.3", min_probability="0.1")) | {"min_probability": "0.99", "verdict": verdict}
    content |= {"witness": None, "max_degree": {"exact": "0", "lower": "0", "upper": "0"}}
    if verdict == "inconclusive":
        content |= {"pattern_count": None, "pattern_count_reason": NOT_COUNTED}
        content |= {
            "max_degree": {"exact": None, "lower": "0", "upper": "1"},
            "inconclusive_reason": UNDECIDED,
        }
    return renamed(content | {"claim": sentence_and_formula(content)})


@pytest.mark.parametrize("verdict", ["delta-fair", "inconclusive"])
def test_a_certificate_of_nothing_does_not_hold(verdict: str) -> None:
    data = bare(of_nothing(verdict))
    assert codes(data) == (1, 1)
    assert "scope" in [name for name, holds, _ in checker.examine(data, None, DAY) if holds is False]


def following(**scope: Any) -> dict[str, Any]:
    """The certificate after one whose scope was another."""
    before = scope_of(made()).model_dump(mode="json") | scope
    link = {"id": "0" * 32, "sha256": "1" * 64, "verified_with": None, "scope_change_reason": "agreed"}
    return renamed(put(CONTENT, ("supersedes",), link | {"scope": before}))


@pytest.mark.parametrize(
    "scope",
    [
        {"min_probability": "0"},
        {"sensitive": []},
        {"sensitive": ["X", "\u0425"]},
        {"favourable": "d", "unfavourable": "d"},
        {"decision": "X"},
        {"undisclosed": None},
        {"undisclosed": "conforming"},
    ],
    ids=str,
)
def test_no_certificate_had_such_a_scope(scope: dict[str, Any]) -> None:
    assert codes(bare(following(delta="0.1"))) == (0, 0)
    assert codes(bare(following(**scope))) == (3, 3)


def test_a_bound_settles_only_sets_without_patterns() -> None:
    assert CONTENT["coverage"][0] | {"method": "exhausted", "patterns": "1"} == CONTENT["coverage"][0]
    for content in (CONTENT, OLD):
        changed = renamed(put(content, ("coverage", 0, "method"), "bounded"))
        assert codes(bare(changed)) == (3, 3)


#: First and last of what Unicode's Default_Ignorable_Code_Point says is not shown, but for the two joiners.
IGNORABLE = (
    "AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B 200E-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 "
    "FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)


def test_nothing_that_is_not_shown_tells_two_names_apart() -> None:
    for span in IGNORABLE.split():
        first, _, last = span.partition("-")
        for sign in map(chr, range(int(first, 16), int(last or first, 16) + 1)):
            assert not form_checker.is_a(f"sex{sign}", "name")
            with pytest.raises(ValueError, match="character U"):
                checks.name(f"sex{sign}")
