"""What is different when somebody sits at a terminal; and the help."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

from auditor.cli.program import COMMANDS, program
from tests.cli.conftest import EXAMPLES, ROOT, Auditor

FIGURE1 = EXAMPLES / "figure1.json"


def at_a_terminal(
    folder: Path, *arguments: str | Path, answer: str = "", columns: int = 80, **environment: str
) -> tuple[int, str]:
    """Run the program in a terminal of its own; answer its questions."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover
        os.chdir(folder)
        os.environ.update(environment, TERM="xterm", PYTHONPATH=str(ROOT), COLUMNS=str(columns))
        os.execv(sys.executable, [sys.executable, "-W", "ignore", "-m", "auditor", *map(str, arguments)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    seen = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        seen += piece
        if piece.rstrip().endswith(b":"):
            time.sleep(0.3)  # until nothing is echoed any more
            os.write(terminal, f"{answer}\n".encode())
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), seen.decode()


def test_a_passphrase_is_asked_for_and_progress_shown(tmp_path: Path) -> None:
    code, seen = at_a_terminal(tmp_path, "keygen", answer="correct horse")
    assert code == 0
    assert "correct horse" not in seen
    assert b"ENCRYPTED" in (tmp_path / "key.pem").read_bytes()
    command = ("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "c.json")
    code, seen = at_a_terminal(tmp_path, *command, answer="correct horse")
    assert (code, (tmp_path / "c.json").exists()) == (0, True)
    assert "Passphrase of key.pem" in seen
    assert re.search(r"certifying … .*0:00:0\d", seen)


def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    command = ("audit", FIGURE1, "--delta", "0.2")
    assert "\x1b[1;31mnot δ-fair" in at_a_terminal(tmp_path, *command)[1]
    assert "\x1b[1;31m" not in at_a_terminal(tmp_path, *command, NO_COLOR="1")[1]


def test_each_command_shows_an_example_that_works(
    auditor: Auditor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDITOR_KEY_PASSPHRASE", "correct horse")
    shutil.copytree(EXAMPLES, "examples")
    shutil.copy(ROOT / "tests" / "data" / "credit.bif", "credit.bif")
    rows = (f"{'fm'[i % 2]},{20 + i},{'good' if i % 3 else 'bad'}" for i in range(40))
    Path("people.csv").write_text("\n".join(["sex,age,credit", *rows]), encoding="utf-8")
    for name, (_, example) in COMMANDS.items():
        monkeypatch.setenv("COLUMNS", "160")
        assert f"  {example}\n" in auditor(name, "--help").out
        run = auditor(*shlex.split(example)[1:])
        assert run.code == (1 if name in ("audit", "fleet") else 0), run


def test_placeholders_are_in_one_style(auditor: Auditor) -> None:
    for name, command in program().commands.items():
        for param in command.params:
            described = param.type_descriptor
            if not described.is_choice and described.annotation is not bool:
                assert param.metavar, f"{name}: {param.name}"
                assert param.metavar == param.metavar.upper()
                assert not set("[]{}") & set(param.metavar)
    for name, usage in (("audit", "MODEL"), ("init", "[FOLDER]"), ("fleet", "[MODEL...]")):
        assert auditor(name, "--help").out.startswith(f"Usage: auditor {name} [OPTIONS] {usage}\n")


def test_help_names_the_profiles_that_there_are(auditor: Auditor) -> None:
    shown = auditor("report", "--help").out
    for path in (ROOT / "templates" / "profiles").glob("*.json"):
        assert f"    {path.stem}\n" in shown


@pytest.mark.parametrize(("columns", "widest"), [(40, 60), (60, 60), (120, 120), (300, 200)])
def test_text_is_as_wide_as_the_terminal(tmp_path: Path, columns: int, widest: int) -> None:
    command = ("audit", EXAMPLES / "compas.json", "--delta", "0.1", "--top", "1")
    _, seen = at_a_terminal(tmp_path, *command, columns=columns, NO_COLOR="1")
    longest = max(map(len, seen[seen.index("COMPAS: not") :].splitlines()))
    assert widest - 20 < longest <= widest


def test_what_was_checked_is_as_wide_as_the_terminal_too(tmp_path: Path, auditor: Auditor) -> None:
    file = tmp_path / "certificate.json"
    auditor("certify", EXAMPLES / "compas.json", "--delta", "0.5", "-o", file)
    _, seen = at_a_terminal(tmp_path, "verify", "certificate.json", columns=60, NO_COLOR="1")
    lines = seen[seen.index("The contents hold") :].splitlines()
    assert 50 < max(map(len, lines)) <= 60
