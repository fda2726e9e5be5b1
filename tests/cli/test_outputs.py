"""No command destroys a file, and the exit code tells the truth whatever becomes of the streams."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.cli.program import program
from tests.cli.conftest import EXAMPLES, ROOT, Auditor

FIGURE1 = EXAMPLES / "figure1.json"
LEARN = ("learn", "people.csv", "--decision", "d", "--favourable", "1", "--sensitive", "s")

#: For each command, arguments with which it works, and every file that it reads.
READING: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "audit": (("audit", "m.json", "--delta", ".3"), {"MODEL": "m.json", "--data": "people.csv"}),
    "fleet": (("fleet", "m.json", "--delta", ".3"), {"MODEL": "m.json", "--list": "models.txt"}),
    "patterns": (("patterns", "m.json", "--delta", ".1"), {"MODEL": "m.json"}),
    "stability": (("stability", "m.json", "--delta", ".1", "--draws", "5"), {"MODEL": "m.json"}),
    "repair": (("repair", "m.json", "--delta", ".1"), {"MODEL": "m.json", "--data": "people.csv"}),
    "frontier": (
        ("frontier", "m.json", "--deltas", ".1,.2"),
        {"MODEL": "m.json", "--data": "people.csv"},
    ),
    "init": (("init",), {}),
    "keygen": (("keygen",), {}),
    "certify": (
        ("certify", "m.json", "--delta", ".3", "--format", "in-toto"),
        {
            "MODEL": "m.json",
            "--policy": "auditor.toml",
            "--key": "key.pem",
            "--model-signature": "model.sig",
            "--proof": "proof.json",
        },
    ),
    "recertify": (
        ("recertify", "c.json", "m.json"),
        {
            "OLD": "c.json",
            "MODEL": "m.json",
            "--policy": "auditor.toml",
            "--key": "key.pem",
            "--public-key": "key.pub.pem",
            "--proof": "proof.json",
        },
    ),
    "verify": (
        ("verify", "c.json"),
        {
            "CERTIFICATE": "c.json",
            "--public-key": "key.pub.pem",
            "--model": "m.json",
            "--revoked": "revoked.json",
            "--chain": "chain",
            "--proof": "proof.json",
        },
    ),
    "report": (
        ("report", "c.json"),
        {
            "DOCUMENT": "c.json",
            "--model": "m.json",
            "--audit": "a.json",
            "--since": "c.json",
            "--profile": "profile.json",
            "--template-dir": "chain",
            "--policy": "auditor.toml",
            "--pades": "key.p12",
        },
    ),
    "learn": (LEARN, {"DATA": "people.csv"}),
    "import": (("import", "model.bif", "--sensitive", "s"), {"FILE": "model.bif"}),
    "convert": (("convert", "m.json"), {"MODEL": "m.json"}),
    "schema": (("schema", "audit"), {}),
}
#: Arguments and options that name no file to read.
OTHER = {"KEY", "FOLDER", "--output", "--extract", "--prove", "NAME", "--reports", "--write"}
CASES = [
    (command, option, name, target)
    for command, (_, files) in READING.items()
    for option, name in files.items()
    for target in ("--output", *{"verify": ["--extract"], "repair": ["--prove"]}.get(command, []))
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of each kind, of which only the names matter."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(FIGURE1, "m.json")
    Path("chain").mkdir()
    for _, files in READING.values():
        for name in files.values():
            Path(name).touch()
    Path("chain", "c.json").touch()
    return tmp_path


def files() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path().rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes()


def test_every_option_that_names_a_file_is_tried() -> None:
    commands = program().commands
    assert set(commands) == set(READING)
    for name, command in commands.items():
        places = {
            (p.metavar or p.name).upper() if p.param_type_name == "argument" else max(p.opts, key=len)
            for p in command.params
            if p.type_descriptor.is_path
            or p.metavar in ("MODEL", "DOCUMENT", "DATA", "FILE")
            or p.param_type_name == "argument"
        }
        written = {"--audit"} if name in ("certify", "recertify") else set()
        assert places - OTHER - written <= set(READING[name][1]), name


@pytest.mark.parametrize(("command", "option", "name", "target"), CASES)
@pytest.mark.usefixtures("home")
def test_no_input_is_overwritten(auditor: Auditor, command: str, option: str, name: str, target: str) -> None:
    arguments, _ = READING[command]
    given = (option, name) if option.startswith("--") else ()
    source = Path(name, "c.json") if Path(name).is_dir() else Path(name)
    # A suffix that can't be right would be refused first.
    suffix = {"report": ".pdf", "fleet": ".csv"}.get(command, ".json")
    hard, symbolic = Path(f"hard{suffix}"), Path(f"symbolic{suffix}")
    os.link(source, hard)
    symbolic.symlink_to(source)
    before = dict(files())
    for path in (hard, symbolic):
        run = auditor(*arguments, *given, target, path)
        assert (run.code, run.out) == (2, ""), run.err
        assert run.err.startswith(target)
        assert f": {path} is also the file of" in run.err
    assert dict(files()) == before


@pytest.mark.parametrize("command", READING)
@pytest.mark.usefixtures("home")
def test_names_that_are_too_long_are_no_bug(auditor: Auditor, command: str) -> None:
    arguments, reads = READING[command]
    long = "x" * 300
    asked = [
        [*arguments, option, long] if option[0] == "-" else [long if a == name else a for a in arguments]
        for option, name in reads.items()
    ]
    asked += [[*arguments, long]] if command in ("init", "keygen") else [[*arguments, "-o", f"{long}.json"]]
    for given in asked:
        run = auditor(*given)
        assert run.code in (2, 3), run
        assert run.err.count("File name too long") <= 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verify", "c.json", "--output", "x.txt", "--extract", "./x.txt"), "--extract: x.txt is also"),
        (("verify", "c.json", "--extract", "/dev/stdout"), "--extract: /dev/stdout is also"),
        (("recertify", "c.json", "m.json", "--output", "/dev/stdout"), "--output: /dev/stdout is also"),
        (("recertify", "c.json", "m.json", "--output", "/dev/fd/1"), "--output: /dev/fd/1 is also"),
    ],
)
@pytest.mark.usefixtures("home")
def test_no_output_is_overwritten_by_another(
    auditor: Auditor, arguments: tuple[str, ...], named: str
) -> None:
    run = auditor(*arguments)
    assert (run.code, run.out) == (2, "")
    assert named in run.err


@pytest.mark.usefixtures("home")
def test_files_that_no_option_names_are_not_overwritten(auditor: Auditor) -> None:
    Path("auditor.toml").write_text('kind = "auditor/policy"\nversion = 1\n[report]\nlogo = "logo.svg"\n')
    Path("card.csv").touch()
    Path("card.json").write_text('{"intercept": 1}')
    Path("logo.svg").touch()
    Path("out").mkdir()
    page = f"m-{hashlib.sha256(Path('m.json').read_bytes()).hexdigest():.12}.html"
    cases = {
        ("fleet", "m.json", "--delta", ".3", "--reports", "out", "-o", "x.csv"): (
            page,
            "m.json",
            "MODEL (m.",
        ),
        ("frontier", "m.json", "--deltas", "0.1", "--write", "out"): ("fair-0.1.json", "m.json", "MODEL"),
        (*LEARN, "--by", "by", "-o", "out"): ("a.json", "people.csv", "DATA"),
        ("report", "c.json", "--policy", "auditor.toml", "-o", "out/r.md"): ("r.md", "logo.svg", "the logo"),
        ("import", "card.csv", "--sensitive", "s", "-o", "out/x.json"): (
            "x.json",
            "card.json",
            "the file be",
        ),
    }
    for name, target, _ in cases.values():
        Path("out", name).symlink_to(Path("..", target))
    before = dict(files())
    for arguments, (name, _, option) in cases.items():
        run = auditor(*arguments)
        assert (run.code, run.out) == (2, ""), run.err
        assert f"out/{name} is also the file of {option}" in run.err
    assert dict(files()) == before


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of a shell, in which $A is the program and $M a model."""
    return subprocess.run(
        [
            "bash",
            "-c",
            command.replace("$A", f"{sys.executable} -W ignore -m auditor").replace("$M", str(FIGURE1)),
        ],
        cwd=folder,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **environment},
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("$A audit $M --delta .3 >&-", 3),
        ("$A audit $M --delta .3 2>&-", 0),
        ("$A audit $M --delta .2 2>/dev/full", 1),
        ("$A audit $M --delta .3 -o x.txt >&- 2>&- <&-", 0),
        ("$A audit - --delta .3 <&-", 3),
        ("$A --help >/dev/full", 3),
        ("$A --help >&-", 3),
        ("$A audit --help >/dev/full 2>&1", 3),
        ("$A --version >/dev/full", 3),
        ("$A --help | true; exit ${PIPESTATUS[0]}", 0),
        ("PYTHONIOENCODING=cp1252 $A --help", 0),
        ("PYTHONIOENCODING=ascii $A frobnicate", 2),
        ("$A audit $M --delta .3 -o /dev/full --format text", 3),
        ("$A audit - --delta .3 -o m.json < m.json", 2),
        ("$A audit m.json --delta .3 >> m.json", 2),
        ("$A certify m.json --delta .3 -o x.json 2> x.json", 2),
        ("$A certify $M --delta .3 -o /dev/stdin < m.json", 3),
        ("$A certify $M --delta .3 -o /dev/fd/9", 3),
    ],
)
def test_exit_codes_tell_the_truth(tmp_path: Path, command: str, code: int) -> None:
    shutil.copy(FIGURE1, tmp_path / "m.json")
    run = shell(command, tmp_path)
    assert run.returncode == code, run.stderr
    assert b"Traceback" not in run.stderr + run.stdout
    assert (tmp_path / "m.json").read_bytes() == FIGURE1.read_bytes()


@pytest.mark.parametrize("arguments", [("loop",), (FIGURE1, "-o", "loop")], ids=["read", "written"])
def test_a_link_to_itself_is_no_bug(
    auditor: Auditor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str | Path, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    run = auditor("certify", *arguments, "--delta", ".3")
    assert run.code == 3
    assert "Traceback" not in run.err + run.out


def test_what_is_open_already_is_written_to(tmp_path: Path) -> None:
    whole = shell("$A certify $M --delta .3 --issued 2026-01-01", tmp_path).stdout
    for command in (
        "$A certify $M --delta .3 --issued 2026-01-01 -o >(cat) | cat",
        "mkfifo p; cat p & $A certify $M --delta .3 --issued 2026-01-01 -o p; wait",
        "$A certify <(cat $M) --delta .3 --issued 2026-01-01",
    ):
        assert shell(command, tmp_path).stdout == whole, command
    shell("echo before > x; $A certify $M --delta .3 --issued 2026-01-01 -o /dev/stdout >> x 2>&2", tmp_path)
    assert (tmp_path / "x").read_bytes() == b"before\n" + whole


KEY = "AUDITOR_KEY_PASSPHRASE"


@pytest.mark.parametrize(
    ("arguments", "passphrase", "code", "complaint"),
    [
        ((), None, 2, f"{KEY} is not set; "),
        ((), "", 2, f"{KEY} is empty; "),
        ((), "x" * 1024, 3, "the passphrase has 1,024 bytes"),
        (("--no-passphrase", "."), None, 3, ".: can't be written: it is a folder"),
        (("--no-passphrase", ".."), None, 3, "..: can't be written: it is a folder"),
        (("--no-passphrase", "a.pem", "-o", "b.pem"), None, 2, "give KEY or --output, not both"),
    ],
)
def test_no_key_is_left_behind(
    auditor: Auditor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    passphrase: str | None,
    code: int,
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(KEY, raising=False)
    if passphrase is not None:
        monkeypatch.setenv(KEY, passphrase)
    run = auditor("keygen", *arguments)
    assert (run.code, list(tmp_path.iterdir())) == (code, [])
    assert complaint in run.err


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("$A keygen --no-passphrase >/dev/full", "standard output can't be written"),
        ("$A keygen --no-passphrase >&-", "standard output is closed"),
        ("ulimit -f 0; trap '' XFSZ; $A keygen --no-passphrase", "File too large"),
    ],
)
def test_no_key_is_left_behind_by_a_process(tmp_path: Path, command: str, complaint: str) -> None:
    run = shell(f"{command} </dev/null", tmp_path)
    assert (run.returncode, list(tmp_path.iterdir())) == (3, [])
    assert complaint in run.stderr.decode()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_leave_nothing(tmp_path: Path, number: signal.Signals, code: int) -> None:
    script = (
        "import os, signal, sys, time; from auditor.cli import main; "
        # Under nohup this one is ignored, as it should be.
        "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
        "os.fsync = lambda _: (print('writing', flush=True), time.sleep(30)); "
        f"sys.argv = ['auditor', 'certify', {str(FIGURE1)!r}, '--delta', '0.3', '-o', 'c.json']; "
        "sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (code, "interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_before_the_end_is_named(
    auditor: Auditor, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("auditor.cli.certificates.complain", interrupted)
    run = auditor("certify", FIGURE1, "--delta", "0.3", "-o", "new.json")
    assert (run.code, run.err) == (130, "interrupted; new.json had been written\n")
    assert (home / "new.json").exists()


def test_what_comes_through_pipes_is_read_by_all_who_need_it(tmp_path: Path) -> None:
    run = shell(
        "$A certify $M --delta .3 > c.json; $A report <(cat c.json) -o a.md; $A report - -o b.md < c.json;"
        "mkfifo p; { cat c.json > p & $A verify p --extract x.json; } && cmp a.md b.md && head -1 a.md &&"
        "$A fleet <(cat $M) --delta .3 --reports r >/dev/null && ls r",
        tmp_path,
    )
    first, report = run.stdout.splitlines()[-2:]
    assert (run.returncode, first[:2], report[-5:]) == (0, b"# ", b".html"), run.stderr
    assert (tmp_path / "x.json").read_bytes()[:1] == b"{"


def test_tables_from_pipes_are_refused(tmp_path: Path) -> None:
    run = shell("$A learn <(echo a) --decision d --favourable 1 --sensitive s", tmp_path)
    assert (run.returncode, b"is a pipe, and tables are read more than once" in run.stderr) == (3, True)
