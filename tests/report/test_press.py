"""The process that makes a PDF beside the one that asks for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.report import pdf
from auditor.report.press import Press, ready
from auditor.report.press import _waiting as waiting

pytestmark = pytest.mark.usefixtures("pango")

PAGE = '<html lang="en"><title>T</title><h1>One</h1><p>Text \U00016a40'
FILES = [pdf.Attachment("a.json", "A document", b"{}")]
DAY = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Press:
    """One with a process, which none has where WeasyPrint is loaded already."""
    with monkeypatch.context() as patched:
        patched.delitem(sys.modules, "weasyprint")
        return Press(True)


def test_its_pdf_is_that_of_this_process(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    here = pdf.render(PAGE, FILES, DAY)
    with press, monkeypatch.context() as patched:
        patched.setattr(pdf, "render", None)
        assert press.render(PAGE, FILES, DAY) == here


def test_there_is_no_process_unless_it_saves_time() -> None:
    for press in (Press(False), Press(True)):
        assert press._process is None


def test_what_the_process_fails_to_do_is_done_here(
    press: Press, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pdf, "render", lambda *asked: asked)
    with press:
        assert press.render(None, FILES, DAY) == (None, FILES, DAY)  # type: ignore[arg-type,comparison-overlap]
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.delitem(sys.modules, "weasyprint")
    with Press(True) as without:
        assert without.render(PAGE, FILES, DAY) == (PAGE, FILES, DAY)  # type: ignore[comparison-overlap]
    assert capfd.readouterr().err == ""


def test_the_process_that_a_command_line_asks_for_is_used_or_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "weasyprint")
    with ready(["verify", "a.pdf"]), ready(["report", "a.pdf", "-o", "a.html"]):
        assert not waiting
    with ready(["report", "a.json", "-o", "a.pdf"]):
        (left,) = waiting
    assert left.returncode is not None
    with ready(["audit", "a.json", "--output", "a.pdf"]):
        (taken,) = waiting
        with Press(True) as press:
            assert press._process is taken
            assert not waiting
    assert taken.returncode is not None


def test_the_process_ends_with_its_use(press: Press) -> None:
    process = press._process
    assert process is not None
    with pytest.raises(ValueError, match="nothing to print"), press:
        raise ValueError("nothing to print")
    assert process.returncode is not None


@pytest.mark.skipif(os.name != "posix", reason="signals to a group")
def test_ctrl_c_stops_both_and_says_one_thing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from auditor.cli import main; from auditor.usecases import reporting\n"
        "reporting.report = lambda *_, **__: (print('working', flush=True), time.sleep(60))\n"
        "sys.argv = ['auditor', 'report', '-', '-o', 'a.pdf']; sys.exit(main())"
    )
    asked = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert asked.stdout
    assert asked.stdout.readline() == b"working\n"
    os.killpg(asked.pid, signal.SIGINT)
    began = time.monotonic()
    # Its end of standard error is closed only when both have ended.
    assert asked.communicate()[1] == b"interrupted; nothing was written\n"
    assert asked.returncode == 130
    assert time.monotonic() - began < 30
