"""What all tests share."""

from __future__ import annotations

import pytest

from tests.fuzzing import use_profile


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
