"""What all tests share."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

from tests.fuzzing import use_profile

#: To check IRIs jsonschema would build forty parsers when imported. The only one that we write is the URN
#: of a bill of materials, made of hexadecimal digits.
_modules: dict[str, Any] = sys.modules
_modules.setdefault("rfc3987_syntax", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz",
        type=int,
        default=0,
        metavar="N",
        help="try each property on N times as many random examples, new ones each time",
    )


def pytest_collection_finish() -> None:
    # What was imported stays: it need not be looked through for garbage again and again.
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    use_profile(config.getoption("--fuzz"))
