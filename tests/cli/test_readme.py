"""Every command in the README and in the guide runs, and what it shows is what they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.model.reading import load_naive_bayes
from auditor.usecases.starting import start
from tests.cli.conftest import EXAMPLES, ROOT, Auditor
from tests.cli.test_audit import masked

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """The lines of the fenced blocks of shell commands."""
    return [line for block in blocks("sh", text) for line in block.splitlines()]


GUIDE = {
    name: (EXAMPLES / "guide" / f"{name}.md").read_text(encoding="utf-8")
    for name in re.findall(
        r"^\d+\. \[.*\]\((\w+)\.md\)", (EXAMPLES / "guide" / "README.md").read_text("utf-8"), re.MULTILINE
    )
}
SHOWN = [block.split("\n", 1) for block in blocks("console")]


@pytest.fixture
def workplace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder, in which commands can leave files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDITOR_KEY_PASSPHRASE", "correct horse")
    return tmp_path


@pytest.fixture
def begun(workplace: Path) -> Path:
    """The folder after `auditor init`."""
    start(workplace)
    return workplace


def run(auditor: Auditor, lines: list[str]) -> None:
    """Run commands in order: some take what others have written."""
    for command in lines:
        program, *arguments = shlex.split(command)
        assert program == "auditor"
        found = auditor(*arguments)
        fine = (0, 1) if arguments[0] in ("audit", "fleet", "patterns") else (0,)
        assert found.code in fine, (command, found.err)


@pytest.mark.usefixtures("workplace")
def test_commands_run_as_printed_in_an_empty_folder(auditor: Auditor) -> None:
    run(auditor, commands(README))


@pytest.mark.usefixtures("begun")
def test_commands_of_the_guide_run(auditor: Auditor) -> None:
    assert {*GUIDE, "README"} == {path.stem for path in (EXAMPLES / "guide").glob("*.md")}
    assert all(map(commands, GUIDE.values()))
    run(auditor, [line for page in GUIDE.values() for line in commands(page)])


@pytest.mark.usefixtures("begun")
def test_checker_runs_alone(auditor: Auditor) -> None:
    page = GUIDE["certificates"]
    (line,) = re.findall(r"^    python (.*checker\.py.*)$", page, re.MULTILINE)
    repair, keygen, certify = commands(page)[:3]
    run(auditor, [repair, keygen, certify])
    script, *arguments = shlex.split(line)
    script = script.replace("PATH", str(ROOT))
    assert subprocess.run([sys.executable, script, *arguments], check=False).returncode == 0


def test_what_is_there_is_not_overwritten(auditor: Auditor, workplace: Path) -> None:
    (workplace / "auditor.toml").write_text("mine")
    found = auditor("init")
    assert found.code == 3
    assert "auditor.toml: is there already" in found.err
    assert sorted(path.name for path in workplace.iterdir()) == ["auditor.toml"]


def test_links_lead_somewhere() -> None:
    for file in (ROOT / "README.md", *(EXAMPLES / "guide").glob("*.md")):
        for link in re.findall(r"\]\(([^)#]+)", file.read_text(encoding="utf-8")):
            assert link.startswith("https://") or (file.parent / link).exists(), (file.name, link)


@pytest.mark.parametrize(("command", "output"), SHOWN)
@pytest.mark.usefixtures("begun")
def test_shown_output_is_what_is_printed(auditor: Auditor, command: str, output: str) -> None:
    assert masked(auditor(*shlex.split(command)[2:]).out) == masked(output)


@pytest.mark.usefixtures("begun")
def test_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    audited, learned = blocks("python")
    exec(compile(audited, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("not-delta-fair 2017 0.4066\n")
    exec(compile(learned, "README.md", "exec"), {})
    assert "{'sex': 'f'}" in capsys.readouterr().out


def test_the_specification_is_one(tmp_path: Path) -> None:
    (specification,) = blocks("json", GUIDE["models"])
    path = tmp_path / "model.json"
    path.write_text(specification, encoding="utf-8")
    assert load_naive_bayes(path).name == "Figure 1"


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^    make (\w+)", README, re.MULTILINE)) == {"demo", "test"} <= targets
