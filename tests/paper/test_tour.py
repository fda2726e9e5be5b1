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

pytestmark = pytest.mark.no_cover  # counting lines takes as long again

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "examples" / "tour"


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no POSIX shell")
def test_the_tour(tmp_path: Path) -> None:
    command = tmp_path / "auditor"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m auditor "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
    }
    run = subprocess.run(
        ["sh", str(TOUR / "tour.sh"), str(tmp_path / "made")],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert masked(run.stdout) == masked((TOUR / "output.txt").read_text(encoding="utf-8"))
    made = {path.name for path in (tmp_path / "made").iterdir()}
    assert {"model-2024.json", "fair-2024.json", "report-2024.html", "report-2025.html"} <= made


def masked(text: str) -> str:
    """Without what differs between runs and machines: keys, digests, seconds, digits, a solver's path."""
    text = re.sub(r"[0-9a-f]{40,}\n +[0-9a-f]+|[0-9a-f]{8,}", "HEX", text)
    text = re.sub(r"\d+\.\d+ seconds", "SECONDS", text)
    text = re.sub(r"(round \d+: .*\n)+", "ROUNDS\n", text)
    text = re.sub(r"\d+ rounds?, \d+ constraints?", "WORK", text)
    return re.sub(r"0\.0999999\d+|0\.1\d{9,}", "NEARLY 0.1", text)
