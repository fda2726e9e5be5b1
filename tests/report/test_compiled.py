"""Compiled templates: stored beside those that are shipped, and never stale."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from auditor.report import compiled
from auditor.report.compiled import Compiled


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    made = tmp_path / "templates"
    made.mkdir()
    (made / "one.txt.j2").write_text("one {{ 1 + x }}")
    return made


def said(shipped: Path, read: Path | None = None) -> str:
    loader = FileSystemLoader(read or shipped)
    return Environment(loader=loader, bytecode_cache=Compiled(shipped)).get_template("one.txt.j2").render(x=1)


def stored(folder: Path) -> list[Path]:
    return sorted(folder.glob("__pycache__/*"))


def test_what_is_compiled_is_stored_and_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(folder) == "one 2"
    (file,) = stored(folder)
    monkeypatch.setattr(Environment, "compile", None)
    assert said(folder) == "one 2"
    assert stored(folder) == [file]


def test_a_changed_template_and_a_broken_file_are_compiled_anew(folder: Path) -> None:
    said(folder)
    (folder / "one.txt.j2").write_text("two {{ 1 + x }}")
    assert said(folder) == "two 2"
    (file,) = stored(folder)
    whole = file.read_bytes()
    for broken in (b"", b"no code", *(whole[:length] for length in range(0, len(whole), 7))):
        file.write_bytes(broken)
        assert said(folder) == "two 2"
        assert file.read_bytes() == whole


def test_another_version_compiles_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said(folder)
    before = stored(folder)[0].read_bytes()
    monkeypatch.setattr(compiled, "__version__", "0.0.0")
    said(folder)
    assert stored(folder)[0].read_bytes() != before


def test_nothing_is_stored_where_it_must_not_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder.parent / "templates of the user"
    own.mkdir()
    (own / "one.txt.j2").write_text("mine {{ x }}")
    assert said(folder, own) == "mine 1"
    assert not stored(own)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert said(folder) == "one 2"
    assert not stored(folder)


@pytest.mark.skipif(os.name != "posix", reason="a file in the place of a folder")
def test_a_folder_that_can_not_be_written_is_no_error(folder: Path) -> None:
    (folder / "__pycache__").write_text("not a folder")
    assert said(folder) == "one 2"
