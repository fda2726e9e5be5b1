"""The policy file, and how options beat it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from auditor.certificate.policy import Terms, load_policy, terms
from auditor.documents.certificate import Overridden, Policy, SensitiveAttribute
from auditor.errors import InputError
from auditor.search.question import Question
from tests.certificate.making import EXAMPLES

WHOLE = """\
kind = "auditor/policy"
version = 1
delta = 0.050
criterion = "ratio"
min_probability = "1e-3"
sensitive = ["Sex", {name = "Age", reason = "Directive 2000/78/EC"}]
valid_days = 90
[issuer]
name = "Example Bank"
responsible = "A. Person"
[report]
logo = "logo.svg"
accent = "#1f4e79"
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy with everything in it."""
    path = tmp_path / "auditor.toml"
    path.write_text(WHOLE)
    return path


def test_everything_of_a_policy(policy: Path) -> None:
    found = terms(load_policy(policy))
    assert found == Terms(
        question=Question.of("0.05", "ratio", "0.001", ("Sex", "Age")),
        sensitive=(
            SensitiveAttribute(name="Sex", reason=None),
            SensitiveAttribute(name="Age", reason="Directive 2000/78/EC"),
        ),
        valid_days=90,
        issuer="Example Bank",
        responsible="A. Person",
        policy=Policy(sha256=hashlib.sha256(WHOLE.encode()).hexdigest()),
    )
    assert load_policy(policy).content.report.logo == "logo.svg"


def test_options_beat_the_file_and_are_recorded_if_they_differ(policy: Path) -> None:
    found = terms(
        load_policy(policy),
        delta="0.1",
        criterion="ratio",
        min_probability="0.001",
        sensitive=("Age",),
        valid_days=30,
        issuer="Another",
        responsible="B. Person",
    )
    assert found.policy.overridden == Overridden(
        delta="0.05",
        sensitive=("Age", "Sex"),
        valid_days="90",
        issuer="Example Bank",
        responsible="A. Person",
    )
    assert (found.question.delta.text, found.valid_days, found.issuer, found.responsible) == (
        "0.1",
        30,
        "Another",
        "B. Person",
    )
    assert found.sensitive == (SensitiveAttribute(name="Age", reason="Directive 2000/78/EC"),)


def test_options_alone() -> None:
    found = terms(delta="5e-2")
    assert found == Terms(Question.of("0.05"))
    assert (found.question.criterion_name, found.valid_days, found.policy.sha256) == ("difference", 365, None)


def test_an_option_that_the_file_leaves_open_is_no_override(tmp_path: Path) -> None:
    path = tmp_path / "auditor.toml"
    path.write_text('kind = "auditor/policy"\nversion = 1\n')
    assert terms(load_policy(path), delta="0.1").policy.overridden == Overridden()
    with pytest.raises(InputError, match="no threshold is given"):
        terms(load_policy(path))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "no threshold is given; give --delta, or delta in the policy file"),
        ({"delta": "2"}, 'delta: "2" is not a decimal number from 0 to 1'),
        ({"delta": "0.1", "min_probability": "x"}, 'min_probability: "x" is not'),
        ({"delta": "1e-401"}, 'delta: "1e-401" has more than 400 decimal places'),
        ({"delta": "0.1", "issuer": "\u2800"}, "issuer: "),
        ({"delta": "0.1", "responsible": "a\nb"}, "responsible: "),
        ({"delta": "0.1", "valid_days": 0}, "valid_days: 0 is not a number of days from 1 to 3660"),
        ({"delta": "0.1", "valid_days": 10**9}, "valid_days: 1000000000 is not"),
    ],
)
def test_bad_options(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as error:
        terms(**options)
    assert complaint in str(error.value)


HEAD = 'kind = "auditor/policy"\nversion = 1\n'
BAD: dict[str, tuple[str | bytes, str]] = {
    "not TOML": ("x", "not TOML; correct it"),
    "not UTF-8": (b"\xff", "not UTF-8 text"),
    "deeply nested": (HEAD + "delta = " + "[" * 5000, "not TOML"),
    "empty": ("", '"kind" is missing; a policy says "auditor/policy"'),
    "no version": (
        'kind = "auditor/policy"\n',
        "version: null is not supported; this auditor reads version 1",
    ),
    "another kind": (
        'kind = "x"\nversion = 1\n',
        'kind: "x" is not a policy; a policy says "auditor/policy"',
    ),
    "another version": ('kind = "auditor/policy"\nversion = 2\n', "version: 2 is not supported"),
    "an unknown key": (HEAD + "detla = 0.1\n", 'unknown key "detla"; did you mean "delta"?'),
    "an unknown key inside": (
        HEAD + '[issuer]\nnam = "x"\n',
        'issuer: unknown key "nam"; did you mean "name"?',
    ),
    "an unknown key of an attribute": (
        HEAD + 'sensitive = [{name = "x", why = "y"}]\n',
        'sensitive[0]: unknown key "why"; take it out; known are name, reason',
    ),
    "delta too large": (
        HEAD + "delta = 1.2\n",
        'delta: "1.2" is not a decimal number from 0 to 1; write one',
    ),
    "delta infinite": (HEAD + "delta = inf\n", 'delta: "Infinity" is not a decimal number from 0 to 1'),
    "delta a list": (HEAD + "delta = []\n", "delta: a list is not a number from 0 to 1"),
    "delta true": (HEAD + "delta = true\n", "delta: true is not a number from 0 to 1"),
    "no such criterion": (
        HEAD + 'criterion = "p"\n',
        'criterion: "p" is not known; write "difference" or',
    ),
    "no attribute": (HEAD + "sensitive = []\n", "sensitive: has 0 items; give at least 1"),
    "an attribute without a name": (HEAD + "sensitive = [{}]\n", 'sensitive[0]: "name" is missing; add it'),
    "an attribute that is a number": (
        HEAD + "sensitive = [1]\n",
        "sensitive[0]: 1 stands where a mapping belongs; give its keys: name, reason",
    ),
    "a reason that is a number": (
        HEAD + 'sensitive = [{name = "x", reason = 1}]\n',
        "sensitive[0].reason: 1 is not text; put it in quotes",
    ),
    "an empty name": (HEAD + 'sensitive = [""]\n', "is empty"),
    "days zero": (HEAD + "valid_days = 0\n", "valid_days: 0 is not a whole number from 1 to 3660"),
    "days a decimal": (HEAD + "valid_days = 1.5\n", "valid_days: 1.5 is not a whole number from 1 to 3660"),
    "a colour by name": (HEAD + '[report]\naccent = "blue"\n', 'report.accent: "blue" is not a colour'),
    "control characters": (HEAD + '"a\\u001b" = 1\n', 'unknown key "a\\x1b"'),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_policies_are_refused(name: str, tmp_path: Path) -> None:
    text, complaint = BAD[name]
    path = tmp_path / "auditor.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as error:
        load_policy(path)
    assert complaint in str(error.value)
    assert all(line.startswith(f"{path}: ") and line.isprintable() for line in error.value.problems)


def test_all_problems_at_once(tmp_path: Path) -> None:
    path = tmp_path / "auditor.toml"
    path.write_text(HEAD + 'delta = 2\nvalid_days = 0\ncriterion = "p"\n')
    with pytest.raises(InputError) as error:
        load_policy(path)
    assert len(error.value.problems) == 3


def test_a_huge_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "auditor.toml"
    path.write_text("#" * (2 * 2**20))
    with pytest.raises(InputError, match="larger than 1 MB"):
        load_policy(path)


def test_the_example_is_a_policy() -> None:
    found = terms(load_policy(EXAMPLES / "auditor.toml"))
    assert found.policy.sha256
