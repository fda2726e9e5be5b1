"""What all tests share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzzing import use_profile

#: To check IRIs jsonschema would build forty parsers when imported. The only one that we write is the URN
#: of a bill of materials, made of hexadecimal digits.
_modules: dict[str, Any] = sys.modules
_modules.setdefault("rfc3987_syntax", None)

#: Files and folders of tests in which no lines are counted: that takes as long again, and what they run at
#: length or in other processes, other tests run too. The floor of the coverage says whether that is still so.
NOT_COUNTED = (
    "certificate/test_ed25519.py",
    "certificate/test_falsehoods.py",
    "certificate/test_tampering.py",
    "cli/test_readme.py",
    "cli/test_terminal.py",
    "model/formats/test_second_audit.py",
    "paper",
    "report/test_agreement.py",
    "report/test_exploring.py",
    "report/test_pdf.py",
    "report/test_proving.py",
    "search/additive/test_against_brute_force.py",
    "search/additive/test_alike.py",
    "search/additive/test_large_models.py",
    "search/additive/test_oracle_files.py",
    "search/additive/test_sampling.py",
    "search/test_time_limits.py",
    "usecases/test_repair_of_the_examples.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz",
        type=int,
        default=0,
        metavar="N",
        help="try each property on N times as many random examples, new ones each time",
    )


def pytest_configure(config: pytest.Config) -> None:
    use_profile(config.getoption("--fuzz"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count no lines while random models are tried either: other tests reach them."""
    tests = Path(__file__).parent
    not_counted = [tests / name for name in NOT_COUNTED]
    assert all(path.exists() for path in not_counted)
    counted = {path: not any(map(path.is_relative_to, not_counted)) for path in {item.path for item in items}}
    for item in items:
        if item.get_closest_marker("hypothesis") or not counted[item.path]:
            item.add_marker(pytest.mark.no_cover)
