"""Every command in the README runs, and what it shows is what they print."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.model.reading import load_naive_bayes
from tests.cli.conftest import EXAMPLES, ROOT, Auditor
from tests.cli.test_audit import masked

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]
SHOWN = [block.split("\n", 1) for block in blocks("console")]


@pytest.fixture
def workplace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the examples, in which commands can leave files."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("workplace")
def test_commands_run(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order: some take what others have written."""
    monkeypatch.setenv("AUDITOR_KEY_PASSPHRASE", "correct horse")
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        if program == "python":
            script, *arguments = arguments
            code = subprocess.run([sys.executable, ROOT / script, *arguments], check=False).returncode
        else:
            assert program == "auditor"
            code = auditor(*arguments).code
        assert code in (0, 1) if arguments[0] in ("audit", "fleet", "patterns") else code == 0, command


@pytest.mark.parametrize(("command", "output"), SHOWN)
@pytest.mark.usefixtures("workplace")
def test_shown_output_is_what_is_printed(auditor: Auditor, command: str, output: str) -> None:
    assert masked(auditor(*shlex.split(command)[2:]).out) == masked(output)


@pytest.mark.usefixtures("workplace")
def test_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    audited, learned = blocks("python")
    exec(compile(audited, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("not-delta-fair 2017 0.4066\n")
    exec(compile(learned, "README.md", "exec"), {})
    assert "{'sex': 'f'}" in capsys.readouterr().out


def test_the_specification_is_one(tmp_path: Path) -> None:
    (specification,) = blocks("json")
    path = tmp_path / "model.json"
    path.write_text(specification, encoding="utf-8")
    assert load_naive_bayes(path).name == "Figure 1"


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^    make (\w+)", README, re.MULTILINE)) == {"demo", "test"} <= targets
