"""A wheel is built, installed in a fresh environment, and used once."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from tests.cli.conftest import EXAMPLES, ROOT


def test_a_wheel_works_in_a_fresh_environment(tmp_path: Path) -> None:
    """Offline: the fresh environment is lent the dependencies of the running one, but not its `auditor`."""
    # An editable install is found through a .pth file, which Python doesn't read in folders of PYTHONPATH.
    lent = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")}

    def run(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, check=check, cwd=tmp_path, env=lent, capture_output=True, text=True)

    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("delta_fair-*.whl")
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    run(sys.executable, "-m", "pip", "--python", environment, "install", "--no-deps", "--no-index", wheel)
    (site,) = environment.glob("lib/python*/site-packages")

    auditor = environment / "bin" / "auditor"
    audit = run(auditor, "audit", EXAMPLES / "figure1.json", "--delta", "0.2", check=False)
    assert (audit.returncode, audit.stderr) == (1, "")
    assert audit.stdout.startswith("Figure 1: not δ-fair")
    assert run(auditor, "schema", "model").stdout == (ROOT / "schemas" / "model.json").read_text("utf-8")
    shipped = (*(ROOT / "schemas").rglob("*"), *(ROOT / "templates").rglob("*"))
    for path in (path for path in shipped if "__pycache__" not in path.parts):
        assert path.is_dir() or (site / "auditor" / path.relative_to(ROOT)).is_file()
    run(auditor, "init", tmp_path / "first")
    assert (tmp_path / "first" / "examples" / "compas.json").is_file()
    where = run(environment / "bin" / "python", "-c", "import auditor; print(auditor.__file__)")
    assert where.stdout.startswith(str(site))
