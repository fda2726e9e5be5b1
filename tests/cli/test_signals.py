"""Ctrl-C and its like: one line, nothing half-made, at whatever moment."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.cli import signals
from auditor.errors import InputError
from auditor.usecases import auditing, fleet, frontier
from auditor.usecases.processes import in_processes
from tests.cli.conftest import EXAMPLES, Auditor

FIGURE1 = EXAMPLES / "figure1.json"


@pytest.fixture
def listening() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    kept = {number: signal.getsignal(number) for number in numbers}
    signals.listen()
    yield
    signals.asked.clear()
    for number, handler in kept.items():
        signal.signal(number, handler)


def _imported_in_peace() -> None:
    importlib.import_module("interrupted_module")
    time.sleep(20)


@pytest.mark.parametrize(
    ("number", "end"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, signals.Stopped)]
)
def test_no_import_is_interrupted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listening: None,
    number: signal.Signals,
    end: type[BaseException],
) -> None:
    code = f"import os\nos.kill(os.getpid(), {int(number)})\nsum(range(1000))\nwhole = True\n"
    (tmp_path / "interrupted_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(end):
        _imported_in_peace()
    assert sys.modules.pop("interrupted_module").whole
    assert signals.asked == [number]


def test_an_error_made_of_an_interruption_is_no_bug(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def ends(*_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("Query interrupted") from error

    monkeypatch.setattr(auditing, "audit", ends)
    run = auditor("audit", FIGURE1, "--delta", "0.1", "-o", tmp_path / "a.json")
    assert (run.code, run.err) == (130, "interrupted; nothing was written\n")


def test_workers_never_get_what_is_meant_for_the_first_process() -> None:
    held_up = in_processes(signal.pthread_sigmask, [(signal.SIG_BLOCK, ())] * 2, 2)
    assert all(signal.SIGINT in found for found in held_up)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("code", [130, 3])
def test_folders_that_got_nothing_are_gone(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: bool, code: int
) -> None:
    def ends(*_: object, **__: object) -> None:
        raise KeyboardInterrupt if code == 130 else InputError("no")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fleet, "fleet", ends)
    monkeypatch.setattr(frontier, "frontier", ends)
    if there:
        Path("a").mkdir()
    for command in (
        ("fleet", FIGURE1, "--delta", "0.1", "--reports", "a/b/c"),
        ("frontier", FIGURE1, "--deltas", "0.1,0.2", "--write", "a/b/c"),
    ):
        assert auditor(*command).code == code
        assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["a"] * there
