"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import auditor

FOUND = [module.name for module in pkgutil.walk_packages(auditor.__path__, "auditor.")]
MODULES = ["auditor", *(name for name in FOUND if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(auditor.__file__).parents[1])
    assert doctest.testmod(import_module(name)).failed == 0
