"""What all tests share."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzzing import use_profile

#: To check IRIs jsonschema would build forty parsers when imported. The only one that we write is the URN
#: of a bill of materials, made of hexadecimal digits.
_modules: dict[str, Any] = sys.modules
_modules.setdefault("rfc3987_syntax", None)

#: What counts lines, in this process.
_counting = next((finder.sci for finder in sys.meta_path if hasattr(finder, "sci")), None)
if _counting:
    # To take its probes off the lines that were met so often, SlipCover looks at every function there is,
    # which takes as long as some hundred thousand probes.
    _counting.d_miss_threshold = 100_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz",
        type=int,
        default=0,
        metavar="N",
        help="try each property on N times as many random examples, new ones each time",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    # What is imported stays: it need not be looked through for garbage again and again.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    use_profile(config.getoption("--fuzz"))
    if _counting and config.getoption("numprocesses", None):
        # Each worker looks for files that it did not import; this process need not do so as well.
        _counting.source = None
