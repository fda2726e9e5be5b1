"""Files that can't be used: exit code 3, a line per problem, nothing on standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import EXAMPLES, Auditor


def spec(**changed: Any) -> bytes:
    """Figure 1 with some of it changed."""
    return json.dumps(json.loads((EXAMPLES / "figure1.json").read_bytes()) | changed).encode()


BAD: dict[str, tuple[bytes, int]] = {
    "empty": (b"", 1),
    "not text": (b"\xff\xfe\x00\x01", 1),
    "not JSON": (b"{", 1),
    "a list": (b"[]", 1),
    "an audit": (b'{"kind": "auditor/audit", "version": 1}', 1),
    "a later version": (spec(version=2), 1),
    "no attributes": (spec(attributes=[]), 1),
    "two problems": (spec(name="", extra=1), 2),
    "a name with a terminal escape": (spec(name="a\x1b[31m", extra=1), 2),
    "nested too deep": (b"[" * 100_000, 1),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["audit", "patterns"])
def test_bad_files(auditor: Auditor, tmp_path: Path, case: str, command: str) -> None:
    content, problems = BAD[case]
    path = tmp_path / "model.json"
    path.write_bytes(content)
    run = auditor(command, path, "--delta", "0.1", "-o", tmp_path / "out.json")
    assert run.code == 3
    assert run.out == ""
    assert len(run.err.splitlines()) >= problems
    assert all(str(path) in line and line.isprintable() for line in run.err.splitlines())
    assert "Traceback" not in run.err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("model.pkl", "a pickle can run any code and is never opened"),
        ("model.pmml", "a model of another program; auditor import model.pmml"),
        ("people.csv", "a table of data, and no model; auditor learn people.csv"),
    ],
)
def test_other_files_in_place_of_a_model(auditor: Auditor, name: str, said: str) -> None:
    run = auditor("audit", name, "--delta", "0.1")
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith(f"{name}: {said}")


def test_documents_in_place_of_one_another_are_named(auditor: Auditor, tmp_path: Path) -> None:
    signed = tmp_path / "signed.json"
    signed.write_text('{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": []}')
    assert "a signed certificate, and no model" in auditor("audit", signed, "--delta", "0.1").err
    model = EXAMPLES / "compas.json"
    for command in (("verify", model), ("recertify", model, model, "--unverified-predecessor")):
        run = auditor(*command)
        assert run.code == 3
        assert 'kind: "auditor/model" is not a certificate' in run.err


def test_a_missing_file_and_a_folder(auditor: Auditor, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        run = auditor("audit", path, "--delta", "0.1")
        assert (run.code, run.out, len(run.err.splitlines())) == (3, "", 1)
