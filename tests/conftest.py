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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count no lines while random models are tried: it takes twice as long, and other tests reach them."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker(pytest.mark.no_cover)
