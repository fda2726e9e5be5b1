"""The PDF report: tagged, attached, the same bytes every time, and readable on every page."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pytest
from pypdf.generic import ContentStream

from auditor.documents.record import to_json
from auditor.errors import OutputError
from auditor.messages import visible
from auditor.report import html, pdf
from auditor.report.blocks import Table, values
from auditor.report.subject import Stated
from auditor.usecases import auditing
from tests.certificate.making import made
from tests.report import subjects
from tests.report.conftest import SUBJECTS, paper, run

pytestmark = pytest.mark.usefixtures("pango")


@cache
def reader(name: str) -> pypdf.PdfReader:
    return pypdf.PdfReader(BytesIO(paper(name).content))


def root(found: pypdf.PdfReader) -> Any:
    """The catalog, which pypdf's types know nothing of."""
    return found.trailer["/Root"]


def text_of(page: pypdf.PageObject) -> str:
    return " ".join(page.extract_text().split())


def test_is_tagged_and_named(paper_name: str) -> None:
    found = reader(paper_name)
    catalog = root(found)
    assert catalog["/MarkInfo"]["/Marked"]
    assert catalog["/Lang"] == "en"
    assert catalog["/ViewerPreferences"]["/DisplayDocTitle"]
    assert found.metadata is not None
    assert visible(SUBJECTS[paper_name]().stated.model.name) in (found.metadata.title or "")
    metadata = catalog["/Metadata"].get_data().decode()
    assert re.search(r"pdfaid:part[>=\"]+3", metadata)
    assert re.search(r"pdfaid:conformance[>=\"]+A", metadata)
    assert catalog["/OutputIntents"]


def test_bookmarks_follow_the_headings(paper_name: str) -> None:
    def titles(outline: list[Any]) -> Iterator[str]:
        for entry in outline:
            if isinstance(entry, list):
                yield from titles(entry)
            else:
                yield entry.title

    found = list(titles(reader(paper_name).outline))
    assert found[0] in (
        "Audit report",
        "Certificate of δ-fairness",
        "Finding record",
        "Record of an undecided audit",
    )
    assert "1. What was found" in found
    assert any(title.startswith("Appendix") for title in found)


def test_all_content_is_tagged_or_an_artifact(paper_name: str) -> None:
    found = reader(paper_name)
    tree = root(found)["/StructTreeRoot"]
    numbers = tree["/ParentTree"]["/Nums"]
    parents = {numbers[i]: numbers[i + 1].get_object() for i in range(0, len(numbers), 2)}
    for number, page in enumerate(found.pages, start=1):
        elements = parents[page["/StructParents"]]
        stream = ContentStream(page["/Contents"], found)
        artifacts = 0
        for operands, operator in stream.operations:
            if operator != b"BDC":
                continue
            if operands[0] == "/Artifact":
                artifacts += operands[1].get("/Type") == "/Pagination"
            else:
                element = elements[operands[1]["/MCID"]].get_object()
                assert element["/Type"] == "/StructElem"
        # The title at the left of the foot, and the page's number at its right.
        assert artifacts >= 2, number


def test_page_one_is_the_certificate(paper_name: str) -> None:
    found, subject = reader(paper_name), SUBJECTS[paper_name]()
    first, second = text_of(found.pages[0]), text_of(found.pages[1])
    assert "Contents" not in first
    assert second.startswith("Contents")
    assert subject.stated.model.sha256[:4] in first
    assert f"δ = {subject.stated.delta}" in first
    assert "Signature" in first
    assert "Place and date" in first
    assert "How to verify" in first
    assert f"1 / {len(found.pages)}" in first
    certificate = subject.certificate
    assert ("this is not a certificate" in first) == (
        subject.stated.verdict != "delta-fair" or not certificate
    )
    if certificate:
        assert f"until {certificate.expires}, issued {certificate.issued}" in first
        assert (certificate.issuer or "")[:40] in first


def test_document_is_attached(paper_name: str) -> None:
    found, subject = reader(paper_name), SUBJECTS[paper_name]()
    document = subject.certificate or subject.audit
    assert document
    ((attached, versions),) = found.attachments.items()
    assert attached == ("certificate.json" if subject.certificate else "audit.json")
    assert versions == [to_json(document).encode()]
    files = [entry.get_object() for entry in root(found)["/AF"]]
    assert [(file["/UF"], file["/AFRelationship"]) for file in files] == [(attached, "/Source")]


def test_same_document_same_bytes() -> None:
    assert paper.__wrapped__("figure1").content == paper("figure1").content
    files = [
        pdf.Attachment("certificate.json", "The certificate", b"{}"),
        pdf.Attachment("certificate.dsse.json", "Signed", b"[]", "Data"),
    ]
    first, second = (pdf.render("<html lang=en><title>T</title><p>Text", files) for _ in range(2))
    assert second.content == first.content
    assert sorted(pypdf.PdfReader(BytesIO(first.content)).attachments) == [
        "certificate.dsse.json",
        "certificate.json",
    ]


def test_nothing_outside_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.css"
    secret.write_text("p::after { content: 'leaked' }")
    picture = tmp_path / "picture.svg"
    picture.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>leaked</text></svg>'
    )
    text = (
        f'<html lang="en"><title>T</title><link rel="stylesheet" href="{secret.as_uri()}">'
        f'<style>@import "{secret.as_uri()}"; body {{ background: url({picture.as_uri()}) }}</style>'
        f'<p>Text</p><img alt="a" src="{picture.as_uri()}"><img alt="b" src="http://127.0.0.1:9/x.png">'
    )
    found = pypdf.PdfReader(BytesIO(pdf.render(text).content))
    assert "leaked" not in text_of(found.pages[0])
    assert "Text" in text_of(found.pages[0])
    assert capfd.readouterr().err == ""


def test_characters_without_a_font_are_reported() -> None:
    made = pdf.render('<html lang="en"><title>T</title><p>Text \U00016a40')
    assert made.missing == "\U00016a40"
    assert paper("wide").missing == ""


def test_without_pango_the_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(module: str, *arguments: Any, **named: Any) -> Any:
        if module.startswith("weasyprint"):
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(module, *arguments, **named)

    for module in [module for module in sys.modules if module.startswith("weasyprint")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OutputError, match=r"apt-get install libpango-1\.0-0") as caught:
        pdf.render("<html lang=en><title>T</title><p>Text")
    assert caught.value.exit_code == 3
    assert html.render(subjects.audited("figure1", "0.2"))


def test_fonts_are_made_smaller_without_harfbuzz_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # What does that then is loaded with the first call.
    import weasyprint.pdf.fonts as fonts

    monkeypatch.setattr(fonts, "harfbuzz_subset", None)
    made = pdf.render("<html lang=en><title>T</title><p>Text")
    assert len(made.content) < 100_000
    assert text_of(pypdf.PdfReader(BytesIO(made.content)).pages[0]) == "Text"


def test_no_compiler_is_asked_where_pango_is() -> None:
    # WeasyPrint tries other systems' names first, for each of which ctypes would start a compiler.
    script = (
        "import sys\n"
        "started = []\n"
        "sys.addaudithook(lambda event, args: event == 'subprocess.Popen' and started.append(args))\n"
        "from auditor.report.pdf import render\n"
        "assert render('<html lang=en><title>t</title><h1>one</h1>').pages == 1\n"
        "assert not started, started\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_qpdf_finds_no_error(pdf_file: Path) -> None:
    assert "No syntax or stream encoding errors" in run("qpdf", "--check", pdf_file)


def test_no_page_is_blank_half_empty_or_overflows(paper_name: str, pdf_file: Path, tmp_path: Path) -> None:
    # 50 dots an inch, grey: three lines of header, then a byte per dot.
    run("pdftoppm", "-r", "50", "-gray", pdf_file, tmp_path / "page")
    images = sorted(tmp_path.glob("page*.pgm"))
    assert images
    for image in images:
        header, width_height, _, dots = image.read_bytes().split(b"\n", 3)
        width, height = map(int, width_height.split())
        assert header == b"P5"
        rows = np.frombuffer(dots, dtype=np.uint8).reshape(height, width)
        assert np.count_nonzero(rows < 128) > 300, f"{image.name} is blank"
        # Three rows, which are kept together, are more than a page where 40 attributes have long names.
        if image != images[-1] and paper_name != "wide":
            # More than half of what is above the foot (19 mm) is used.
            used = np.flatnonzero(rows[: height * 278 // 297].min(axis=1) < 170).max()
            assert used > height * (16 + 131) // 297, f"{image.name} is half empty"
        # The margins at the left and right (17 mm) hold nothing.
        margin = width * 15 // 210
        assert rows[:, :margin].min() > 200, f"{image.name}: something in the left margin"
        assert rows[:, -margin:].min() > 200, f"{image.name}: something in the right margin"


def test_no_heading_is_without_its_body_and_no_table_leaves_few_rows(paper_name: str) -> None:
    """By the tags: which elements are on which page, and which is the last."""
    found = reader(paper_name)
    last: dict[int, str] = {}
    numbers = {page.indirect_reference: number for number, page in enumerate(found.pages, 1)}

    def pages(element: Any, kind: str = "") -> set[int]:
        """The pages on which an element is; what is last on each stays in ``last``."""
        kind = element["/S"] if element["/S"] in ("/H1", "/H2", "/H3", "/P", "/Table", "/L") else kind
        on = set()
        for child in element["/K"]:
            if isinstance(child, int):
                page = numbers[element.raw_get("/Pg")]
                last[page] = kind
                on.add(page)
            elif "/S" in child.get_object():
                on |= pages(child.get_object(), kind)
        if element["/S"] == "/TBody":
            parts = Counter(min(rows) for row in element["/K"] if (rows := pages(row.get_object(), kind)))
            wanted = min(3, parts.total())
            assert all(part >= wanted for part in parts.values()), (parts, element)
        return on

    pages(root(found)["/StructTreeRoot"]["/K"][0].get_object())
    assert set(last) == set(numbers.values())
    assert not set(last.values()) & {"/H1", "/H2", "/H3"}, last


def separate_words(pdf_file: Path) -> Counter[str]:
    """The words of a PDF, none of which lies on another."""
    boxes = re.compile(r'<word xMin="(.+)" yMin="(.+)" xMax="(.+)" yMax="(.+)">(.+)</word>|<(page) ')
    pages: list[list[tuple[float, ...]]] = []
    words: Counter[str] = Counter()
    for *corners, word, page in boxes.findall(run("pdftotext", "-bbox", pdf_file, "-")):
        if page:
            pages.append([])
            continue
        words[word] += 1
        pages[-1].append(tuple(map(float, corners)))
    for number, found in enumerate(pages, 1):
        left, top, right, bottom = np.array(found).T
        wide = np.minimum.outer(right, right) - np.maximum.outer(left, left)
        high = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
        over = np.argwhere(np.triu((wide >= 1.5) & (high >= 4), 1))
        assert not len(over), f"page {number}: two words at {found[over[0, 0]][:2]}"
    return words


def test_numbers_are_whole_and_no_words_overlap(paper_name: str, pdf_file: Path) -> None:
    words = separate_words(pdf_file)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html.render(SUBJECTS[paper_name](), medium="paper"), re.DOTALL)
    texts = " ".join(re.sub(r"<[^>]+>", " ", re.sub("</?b>", "", cell)) for cell in cells)
    # Longer ones are wider than a column.
    wanted = Counter(re.findall(r"(?<!\S)[+−]?\d[\d,.]{2,18}%?(?!\S)", texts))
    assert wanted - words == Counter()


def test_the_first_page_has_room_for_what_a_minimum_probability_adds(pango: None, tmp_path: Path) -> None:
    model, least = subjects.spec("compas"), "0.00000123456"
    people: dict[str, Any] = {
        "issuer": "A long name of an institution, " * 3,
        "responsible": "Prof. Dr. Dr. h.c. Long " * 3,
    }
    certificate = made("0.3", model, min_probability=least, **people)
    audit = auditing.audit(model, "0.3", min_probability=least)
    subject = replace(subjects.of_audit(audit), stated=Stated.of_certificate(certificate))
    subject = replace(subject, certificate=certificate, provenance=model.provenance, key_id="9a" * 32)
    first, _, _ = html.render(subject, medium="paper").partition("<nav ")
    file = tmp_path / "cover.pdf"
    file.write_bytes(pdf.render(first).content)
    assert separate_words(file)["0.000123456%"] == 2


@pytest.mark.usefixtures("pango")
def test_compas_takes_ten_pages() -> None:
    assert paper("compas").pages <= 10


def test_the_first_page_says_what_the_worst_pattern_does(pango: None, tmp_path: Path) -> None:
    """The sheet for paper hides what only a browser can do, and nothing that the cover says."""
    file = tmp_path / "report.pdf"
    file.write_bytes(paper("figure1").content)
    first = " ".join(run("pdftotext", "-f", "1", "-l", "1", file, "-").split())
    assert "The worst pattern of at least 1 of 10,000 people: Disclosing" in first


def test_no_word_of_a_column_is_broken(pango: None, tmp_path: Path) -> None:
    """Each kind of table with words as long as its columns are made for, the longest that its heads have."""
    pattern = ("1", values({"Ethnic_Code_Text": "Not"}), values({"RecSupervisionLevel": "Level"}))
    heads = {
        "patterns": ("Degree", "P_before", "P_after", "Probability", "Divergence"),
        "patterns in-data": ("People", "interval)", "By_model", "Degree", "model"),
        "patterns carried": ("Worst", "Discriminates"),
    }
    blocks = [
        Table("", ("#", "Disclosed", "Given", *head), [(*pattern, *["+0.1234"] * len(head))], len(head), look)
        for look, head in heads.items()
    ]
    rows = [("0.1 (recommended)", *["−207,693.0648"] * 5)]
    blocks.append(Table("", ("δ", "Found", "Lost", "Price", "(proved)", "Open"), rows, 5, "curve"))
    file = tmp_path / "tables.pdf"
    file.write_bytes(pdf.render(html.page("Tables", blocks, "paper")).content)
    wanted = Counter(name for head in heads.values() for name in head)
    wanted |= {"(recommended)": 1, "RecSupervisionLevel:": 3, "−207,693.0648": 5}
    assert wanted - separate_words(file) == Counter()
