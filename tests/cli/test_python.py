"""The Python API: everything that the commands do, imported when it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import auditor
from tests.cli.conftest import EXAMPLES, ROOT

COMMANDS = ("learn", "load_model", "audit", "repair", "certify", "verify", "recertify", "report")


def test_functions_keep_their_names_from_rooms_of_the_same_name() -> None:
    script = (
        "import auditor; import auditor.repair.learner, auditor.report.text; "
        "from auditor.repair import learner; from auditor.report import text; "
        f"assert all(callable(getattr(auditor, name)) for name in {COMMANDS!r})"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, cwd=ROOT)


def test_repair_works_twice() -> None:
    model = auditor.load_model(EXAMPLES / "compas.json")
    assert isinstance(model, auditor.ModelSpec)
    first, second = (auditor.repair(model, "0.3").model for _ in range(2))
    assert first == second


def test_data_frames_in_and_out() -> None:
    people = pd.DataFrame(
        {"sex": ["f", "m"] * 20, "own": ["y", "n", "n", "n"] * 10, "ok": ["1", "1", "0", "1"] * 10}
    )
    model = auditor.learn(people, decision="ok", favourable="1", sensitive="sex").model
    result = auditor.audit(model, "0.05", data=people)
    assert result.data is not None
    assert result.data.people == 40
    frame = result.patterns_frame()
    assert list(frame["degree"]) == [pattern.degree for pattern in result.top_patterns]
    assert list(frame["sensitive_values"]) == [
        dict(pattern.sensitive_values) for pattern in result.top_patterns
    ]
    with pytest.raises(auditor.InputError, match="specifications only"):
        auditor.audit(model.naive_bayes(), "0.05", data=people)


def test_certificates(tmp_path: Path) -> None:
    model = str(EXAMPLES / "figure1.json")
    issued = auditor.certify(model, auditor.CertifyOptions(delta="0.3"))
    path = tmp_path / "certificate.json"
    path.write_bytes(issued.data)
    assert auditor.verify(path).result == "contents hold"
    assert b"Figure 1" in auditor.report(str(path), "markdown").content
