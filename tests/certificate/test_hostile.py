"""What a hostile author might write where no altered certificate of the generator goes: both refuse it alike."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from auditor.certificate import checker
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.verifying import Against, verify
from auditor.errors import InputError
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
