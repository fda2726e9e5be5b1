"""The plan of the house names files that there are, and every room."""

from __future__ import annotations

import re
from pathlib import Path

import auditor

HOUSE = Path(auditor.__file__).parent


def test_the_plan_names_what_there_is() -> None:
    plan = (HOUSE / "README.md").read_text(encoding="utf-8")
    rooms = {path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(re.findall(r"^\| `(\w+)/`", plan, re.MULTILINE))
    named = [path for path in re.findall(r"`([\w/]+\.py)`", plan) if "NAME" not in path]
    assert len(named) > 15
    missing = [
        path
        for path in named
        if not any(
            (base / path).exists()
            for base in (HOUSE, HOUSE.parent, HOUSE / "documents", HOUSE / "certificate")
        )
    ]
    assert missing == []
