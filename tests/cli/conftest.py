"""Runs the command line inside the test's process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from auditor.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


class Run(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Auditor = Callable[..., Run]


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Auditor:
    """Run ``auditor`` with arguments."""

    def run(*arguments: str | Path) -> Run:
        kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        monkeypatch.setattr(sys, "argv", ["auditor", *map(str, arguments)])
        code = main()
        # At the end of the program nothing is to disturb it; tests go on.
        for number, handler in kept.items():
            signal.signal(number, handler)
        return Run(code, *capsys.readouterr())

    return run
