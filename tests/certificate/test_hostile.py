"""What a hostile author might write beyond what the generator alters: both verifiers say the same of it."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from auditor.certificate import checker, form_checker
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.verifying import Against, verify
from auditor.errors import InputError
from auditor.model import checks
from tests.certificate.falsehoods import EXITS
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
