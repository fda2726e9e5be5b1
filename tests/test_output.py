"""Files are written whole or not at all."""

from __future__ import annotations

import io
import os
import resource
import stat
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import OutputError
from auditor.output import (
    PRIVATE,
    append_line,
    ensure_writable,
    write_all,
    write_bytes,
    write_new,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_is_written_as_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    write_text(path, "δ ≤ 0.1\n")
    assert path.read_bytes() == "δ ≤ 0.1\n".encode()
    assert names(tmp_path) == ["report.md"]


def test_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "")
        write_new(tmp_path / "key", b"", mode=PRIVATE)
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o604)
        write_text(tmp_path / "old", "changed")
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"new": 0o640, "key": 0o600, "old": 0o604}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text"


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException] | OSError
) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def interrupt(descriptor: int) -> None:
        raise interruption

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["report.json"]


def test_what_is_not_a_file_is_written_to_directly() -> None:
    write_text(os.devnull, "text")
    ensure_writable(os.devnull)


def test_reasons(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases = {
        tmp_path / "none" / "x": "its folder does not exist; make the folder or give another path",
        tmp_path: "it is a folder; give the name of a file in it",
        tmp_path / "file" / "x": "what stands for its folder is a file; give another path",
        tmp_path / ("x" * 300): "give another path",
        tmp_path / "a\0b": "embedded null",
    }
    for path, reason in cases.items():
        for attempt in (lambda path: write_bytes(path, b""), ensure_writable):
            with pytest.raises(OutputError) as caught:
                attempt(path)
            (line,) = caught.value.problems
            assert "can't be written: " in line
            assert reason in line or "name too long" in line
            assert line.isprintable()
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="permission denied; give another path"):
        ensure_writable(tmp_path / "x")


def test_looking_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    ensure_writable(tmp_path / "old")
    ensure_writable(tmp_path / "new")
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


class Piecemeal(io.RawIOBase):
    """A file without a buffer that takes seven bytes at a time, until it is full."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.held = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int | None:
        taken = bytes(data[: min(7, self.room)])
        self.room -= len(taken)
        self.held += taken
        return len(taken) or None


def test_a_file_that_takes_a_part_at_a_time_gets_all_or_refuses() -> None:
    file = Piecemeal(100)
    write_all(file, b"x" * 100)
    assert file.held == b"x" * 100
    with pytest.raises(OSError, match="unavailable"):
        write_all(Piecemeal(10), b"x" * 100)


def test_a_line_that_a_full_disk_takes_in_part_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OutputError, match="can't be written: File too large"):
            append_line(path, "x" * 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
