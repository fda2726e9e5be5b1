"""Help, wrong usage, and the ends that are not results."""

from __future__ import annotations

import errno
import io
import os
import resource
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import auditor as package
from auditor import __version__
from auditor.cli.program import COMMANDS, program
from auditor.cli.usage import PLACES
from auditor.errors import AuditorError, RepairError
from auditor.usecases import auditing
from tests.cli.conftest import EXAMPLES, ROOT, Auditor

FIGURE1 = EXAMPLES / "figure1.json"


def test_help_lists_commands_and_exit_codes(auditor: Auditor) -> None:
    run = auditor("--help")
    assert run.code == 0
    assert not run.err
    for part in ("audit ", "patterns ", "schema ", "1 a finding", "70 a bug"):
        assert part in run.out


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from auditor.cli import main; sys.argv = ['auditor', '--help']; main(); "
        "heavy = {'numpy', 'pydantic', 'scipy', 'pandas', 'jinja2', 'rich', 'yaml', 'cryptography'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import sys, auditor; sys.exit('numpy' in sys.modules or 'pydantic' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_version(auditor: Auditor) -> None:
    run = auditor("--version")
    assert run == (0, f"auditor {__version__}\n", "")


def test_the_list_of_commands_has_whole_sentences(auditor: Auditor) -> None:
    listed = auditor("--help").out.partition("Commands:")[2].partition("Exit codes")[0]
    assert "..." not in listed
    assert all(line.endswith(".") for line in listed.splitlines() if line.strip())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("xyzzy",), '"xyzzy" is no command; there are init, audit, patterns, '),
        (("auditt",), '"auditt" is no command; did you mean audit?\nTry'),
        (("aduit",), '"aduit" is no command; did you mean audit?'),
        (("audit",), "MODEL is missing: Model specification"),
        (("audit", FIGURE1), "--delta is missing: Threshold from 0 to 1"),
        (("audit", FIGURE1, "--delta"), "--delta needs a value"),
        (("audit", FIGURE1, "--delta", ".1", "-o", "a", "--output=b"), "--output is given 2 times"),
        (("audit", FIGURE1, "--delta", ".1", "-o", "a", "--", "-o"), '"-o": more than auditor audit takes'),
        (("keygen", "--no-passphrase=3"), "--no-passphrase takes no value"),
        (("audit", FIGURE1, "--dleta", ".1"), "--dleta is no option of auditor audit; did you mean --"),
        (("audit", FIGURE1, "a\x1bb", "--delta", ".1"), '"a\\x1bb": more than auditor audit takes'),
        (("certify", FIGURE1, "--issued", "yesterday"), '"yesterday" is not a date such as 2026-01-31'),
        (("audit", FIGURE1, "--delta", "1.5"), '"1.5" is not a decimal number from 0 to 1'),
        (("audit", FIGURE1, "--delta", "-0.1"), '"-0.1" is not a decimal number from 0 to 1'),
        (("audit", FIGURE1, "--delta", "nan"), '"nan" is not a decimal number'),
        (("audit", FIGURE1, "--delta", "1e-999999999"), "is not a decimal number"),
        (("audit", FIGURE1, "--delta", "1/10"), "is not a decimal number"),
        (("audit", FIGURE1, "--delta", "\x1b[31m"), "\\x1b[31m"),
        (("audit", FIGURE1, "--delta", ".1", "--top", "0"), '--top: "0" is not at least 1'),
        (("audit", FIGURE1, "--delta", ".1", "--top", "x"), '--top: "x" is not a whole number'),
        (("audit", FIGURE1, "--delta", ".1", "--rank-by", "size"), "'size' is not one of"),
        (("audit", FIGURE1, "--delta", ".1", "--criterion", "p"), "'p' is not one of"),
        (("audit", FIGURE1, "--delta", ".1", "--min-probability", "2"), '"2" is not a decimal number'),
        (
            ("audit", FIGURE1, "--delta", ".1", "--time-limit", "-1"),
            '--time-limit: "-1" is not at least 0',
        ),
        (
            ("audit", FIGURE1, "--delta", ".1", "--time-limit", "nan"),
            '--time-limit: "nan" is not at least 0',
        ),
        (("audit", FIGURE1, "--delta", ".1", "--format", "doc"), "'doc' is not one of"),
        (("audit", FIGURE1, "--delta", ".1", "-o", "x.doc"), "the suffix of x.doc is none of .txt"),
        (
            ("audit", FIGURE1, "--delta", ".1", "-o", "x.pdf", "--format", "html"),
            "--format: x.pdf is named as pdf, not as html; leave --format out, or give a name that ends",
        ),
        (("report", FIGURE1, "-o", "x.html", "--format", "model-card"), "ends in .md or .markdown"),
        (("certify", FIGURE1, "--delta", ".1", "-o", "key.pub.pem"), "key.pub.pem is named as a key"),
        (("verify", FIGURE1, "-o", "x.html"), "--output: what was checked is text, JSON or Markdown"),
        (("patterns", FIGURE1, "--delta", ".1", "--summary", "small"), "'small' is not one of"),
        (
            ("patterns", FIGURE1, "--delta", ".1", "--sample", "0"),
            '--sample: "0" is not at least 1',
        ),
        (("patterns", FIGURE1, "--delta", ".1", "--sample", "3", "--top", "3"), "--sample goes without"),
        (
            ("patterns", FIGURE1, "--delta", ".1", "--summary", "pareto", "--rank-by", "divergence"),
            "--rank-by goes with neither",
        ),
        (("schema", "[bold]x"), '"[bold]x" is not one of audit, '),
    ],
)
def test_wrong_usage(auditor: Auditor, arguments: tuple[str | Path, ...], complaint: str) -> None:
    run = auditor(*arguments)
    assert run.code == 2
    assert run.out == ""
    assert complaint in run.err
    assert "Try 'auditor" in run.err
    assert "\x1b" not in run.err


def test_nothing_said_is_wrong_usage_too(auditor: Auditor) -> None:
    run = auditor()
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Usage: auditor")


def test_an_output_that_cannot_be_written_is_found_before_the_work(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(auditing, "audit", lambda *_, **__: pytest.fail("worked first"))
    for target in (tmp_path / "missing" / "a.json", tmp_path / "folder.md"):
        (tmp_path / "folder.md").mkdir(exist_ok=True)
        run = auditor("audit", FIGURE1, "--delta", "0.1", "-o", target)
        assert run.code == 3
        assert run.out == ""
        assert "can't be written" in run.err


def test_a_bug_of_ours_is_told_apart_from_a_finding(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the two\nalgorithms disagree")

    monkeypatch.setattr(auditing, "audit", broken)
    run = auditor("audit", FIGURE1, "--delta", "0.1")
    assert run.code == 70
    assert run.out == ""
    assert len(run.err.splitlines()) == 1
    assert "This is a bug in auditor" in run.err
    assert "Traceback" not in run.err
    monkeypatch.setenv("AUDITOR_TRACEBACK", "1")
    assert "Traceback" in auditor("audit", FIGURE1, "--delta", "0.1").err


def test_streams_of_text_that_python_put_in_place_get_results_and_messages(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        out, err = io.StringIO(), io.StringIO()
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", err)
        assert auditor("audit", FIGURE1, "--delta", "0.2").code == 1
        assert (out.getvalue()[:9], err.getvalue()) == ("Figure 1:", "")
        patched.setattr(sys, "stdin", io.StringIO(FIGURE1.read_text(encoding="utf-8")))
        assert auditor("audit", "-", "--delta", "0.3").code == 0
        patched.setattr(auditing, "audit", lambda *_, **__: 1 / 0)
        assert auditor("audit", FIGURE1, "--delta", "0.2").code == 70
        assert err.getvalue().startswith("This is a bug in auditor")


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (RepairError("no fair model"), 5), (AuditorError("a\x1bb"), 3)],
)
def test_other_ends_have_their_codes(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def ends(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(auditing, "audit", ends)
    run = auditor("audit", FIGURE1, "--delta", "0.1")
    assert run.code == code
    assert run.out == ""
    assert "\x1b" not in run.err


@pytest.mark.parametrize("name", COMMANDS)
def test_no_empty_text_is_taken_for_the_folder_one_is_in(auditor: Auditor, name: str) -> None:
    (command,) = program(name).commands.values()
    before: list[str] = []
    for param in command.params:
        names_a_file = "Path" in str(param.type_descriptor.annotation)
        assert not names_a_file or param.metavar in PLACES
        if param.metavar in PLACES:
            option = max(param.opts, key=len)
            run = auditor(name, *(before if param.param_type_name == "argument" else [option]), "")
            called = param.metavar if param.param_type_name == "argument" else option
            assert (run.code, run.out) == (2, "")
            assert run.err.startswith(f"{called}: an empty text is no path; give a path\n")
        if param.param_type_name == "argument":
            before.append("x")


def test_ctrl_c_leaves_no_file(auditor: Auditor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    run = auditor("audit", FIGURE1, "--delta", "0.1", "-o", tmp_path / "a.json")
    assert run.code == 130
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m auditor audit {FIGURE1} --delta 0.2 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == ""


def test_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "auditor", "audit", FIGURE1, "--delta", "0.2"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 3
    assert done.stderr == f"standard output can't be written: {os.strerror(errno.ENOSPC)}\n"


def test_a_disk_that_takes_a_part_is_full_too_where_python_has_no_buffers(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-u", "-m", "auditor", "audit", FIGURE1, "--delta", "0.3"],
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )
    assert (done.returncode, (tmp_path / "out").stat().st_size) == (3, 1000)
    assert done.stderr == f"standard output can't be written: {os.strerror(errno.EFBIG)}\n"


def test_the_module_runs_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["auditor", "--version"])
    kept = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as end:
        runpy.run_module("auditor", run_name="__main__")
    signal.signal(signal.SIGINT, kept)
    assert end.value.code == 0


@pytest.mark.parametrize("name", ["model", "audit", "patterns"])
def test_schemas_are_printed(auditor: Auditor, tmp_path: Path, name: str) -> None:
    stored = (ROOT / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    assert auditor("schema", name) == (0, stored, "")
    assert auditor("schema", name, "-o", tmp_path / "s.json").code == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == stored


def test_public_names() -> None:
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing
