"""The tour prints what its page says.

After a change of what `auditor` prints: ``sh examples/tour/tour.sh FOLDER >examples/tour/output.txt``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Auditor
from tests.cli.conftest import auditor as auditor

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "examples" / "tour"


#: Keeps the arguments and says where their output belongs; ends as the script expects.
COMMAND = """\
#!/bin/sh
printf '%s\\0' "$@" "$expected" >>"$ASKED"
echo >>"$ASKED"
echo OUTPUT
exit "$expected"
"""


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no POSIX shell")
def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auditor: Auditor) -> None:
    """A shell goes through the script, and then its commands run here, where all is imported already."""
    command, asked, made = tmp_path / "auditor", tmp_path / "asked", tmp_path / "made"
    command.write_text(COMMAND, encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONUTF8": "1",
        "ASKED": str(asked),
        "expected": "",  # which exports the script's own
    }
    script = subprocess.run(
        ["sh", str(TOUR / "tour.sh"), str(made)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert script.returncode == 0, script.stdout + script.stderr
    first, *pieces = script.stdout.split("OUTPUT\n")
    commands = asked.read_text(encoding="utf-8").splitlines()
    monkeypatch.chdir(made)
    monkeypatch.delenv("AUDITOR_KEY_PASSPHRASE", raising=False)
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    shown = [first]
    for line, after in zip(commands, pieces, strict=True):
        *arguments, expected = line.rstrip("\0").split("\0")
        run = auditor(*arguments)
        assert run.code == int(expected), run.out
        shown += run.out, after
    assert masked("".join(shown)) == masked((TOUR / "output.txt").read_text(encoding="utf-8"))
    assert {"model-2024.json", "fair-2024.json", "report-2024.html", "report-2025.html"} <= {
        path.name for path in made.iterdir()
    }


def masked(text: str) -> str:
    """Without what differs between runs and machines: keys, digests, seconds, digits, a solver's path."""
    text = re.sub(r"[0-9a-f]{40,}\n +[0-9a-f]+|[0-9a-f]{8,}", "HEX", text)
    text = re.sub(r"\s+\d+(\.\d+)?\s+seconds", " SECONDS", text)
    text = re.sub(r"(round \d+: .*\n)+", "ROUNDS\n", text)
    text = re.sub(r"\d+ rounds?, \d+ constraints?", "WORK", text)
    return re.sub(r"0\.0999999\d+|0\.1\d{9,}", "NEARLY 0.1", text)
