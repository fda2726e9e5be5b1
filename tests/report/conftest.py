"""Reports of all subjects, each rendered once for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from auditor.documents.record import to_json
from auditor.errors import OutputError
from auditor.report import html, pdf
from auditor.report.subject import Subject
from tests.cli.conftest import auditor as auditor
from tests.report import subjects
from tests.report.browser import Page, browsing

SUBJECTS: dict[str, Callable[[], Subject]] = {
    "figure1": lambda: subjects.audited("figure1", "0.2"),
    "ratio": lambda: subjects.audited("figure1", "0.2", "ratio"),
    "compas": lambda: subjects.audited("compas", "0.1"),
    "fair certificate": lambda: subjects.certified("11/50"),
    "finding record": lambda: subjects.certified("1"),
    "undecided": subjects.undecided,
    "one attribute": subjects.one,
    "wide": subjects.wide,
    "hostile": subjects.hostile,
}


@cache
def page(name: str) -> str:
    """The HTML report of a subject."""
    return html.render(SUBJECTS[name]())


@cache
def paper(name: str) -> pdf.Pdf:
    """The PDF report of a subject, with its document attached."""
    subject = SUBJECTS[name]()
    document = subject.certificate or subject.audit
    assert document
    content = to_json(document).encode()
    kind = "certificate.json" if subject.certificate else "audit.json"
    return pdf.render(
        html.render(subject, medium="paper"), [pdf.Attachment(kind, "What the report shows", content)]
    )


@pytest.fixture(params=list(SUBJECTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["figure1", "fair certificate", "undecided", "wide", "hostile"])
def paper_name(request: pytest.FixtureRequest) -> str:
    """Those whose PDF has something of its own; each takes a second or more."""
    return str(request.param)


@pytest.fixture(scope="session")
def pango() -> None:
    try:
        pdf.render("<html lang=en><title>Probe</title><p>Probe</p></html>")
    except OutputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def pdf_file(paper_name: str, pango: None, tmp_path: Path) -> Path:
    file = tmp_path / "report.pdf"
    file.write_bytes(paper(paper_name).content)
    return file


def run(*command: str | Path) -> str:
    """Run a tool that may be missing; return what it prints."""
    program = shutil.which(command[0])
    if program is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.fixture
def update_golden() -> bool:
    """Whether golden files are to be written anew: ``UPDATE_GOLDEN=1 pytest tests/report``."""
    return bool(os.environ.get("UPDATE_GOLDEN"))
