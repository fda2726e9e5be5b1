"""Markdown and CSV: whole, and with names that do nothing."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from auditor.messages import visible
from auditor.report import csv as csv_report
from auditor.report import markdown, sections
from auditor.report.formats import format_of, render
from tests.report import subjects
from tests.report.documents import audit_document, model, pattern, pattern_list


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<script>", "&lt;script&gt;"),
        ("a|b", "a\\|b"),
        ("{{7*7}}", "\\{\\{7\\*7\\}\\}"),
        ("[x](https://example.org)", "\\[x\\](https\\://example.org)"),
        ("www.example.org", "www\\.example.org"),
        ("&amp; a\nb", "&amp;amp; a\\\\nb"),
        ("3.5 - 4 (approx)", "3.5 - 4 (approx)"),
    ],
)
def test_markdown_names_are_inert(name: str, written: str) -> None:
    assert markdown.inert(visible(name)) == written


def test_markdown_has_all_sections_and_whole_tables() -> None:
    shown = render(audit_document(), "markdown")
    assert shown.startswith("# Credit: **not δ-fair** at δ = 0.1 for these sensitive attributes\n")
    assert [line for line in shown.splitlines() if line.startswith("#")][1:13] == [
        "## 1. What was found",
        "### Worst degree of discrimination",
        "### Discrimination patterns",
        "### Top 2 discrimination patterns by divergence",
        "### Group level, nothing else known: +0.2500 at worst",
        "### Individual level, every attribute known: +0.2500 at worst",
        "### 1 subset-minimal pattern (no proper part is a discrimination pattern)",
        "### By sensitive attribute",
        "### By combination of sensitive attributes",
        "## 2. Method, assumptions and limits",
        "### What a discrimination pattern is",
        "### Worked example: the worst pattern of this model",
    ]
    assert "How severe, and for how many" not in shown
    numbers = "+0.2500 | 50.00% | 75.00% | 1.235% | 0.003051"
    assert f"| **Sex: Female**, **Age: Over 30** | **Level: 3 or 4** | {numbers} |" in shown
    # What keeps words on one line is for pages.
    assert "\xa0" not in markdown.laid_out(sections.whole(subjects.audited("figure1", "0.2")))


def test_markdown_leaves_out_what_there_is_not() -> None:
    shown = render(
        audit_document(worst_pattern=None, top_patterns=(), minimal_patterns=(), individual_level=None),
        "markdown",
    )
    assert "The worst pattern of" not in shown
    assert "Individual level" not in shown
    assert "Top" not in shown
    assert "None." in render(pattern_list(patterns=()), "markdown")


def test_csv_has_a_row_per_pattern_and_a_column_per_part() -> None:
    rows = list(csv.reader(io.StringIO(csv_report.rows(audit_document()))))
    assert rows[0] == [
        "rank",
        "degree",
        "probability",
        "divergence_nats",
        "favourable_given_pattern",
        "favourable_given_context",
        "sensitive: Sex",
        "sensitive: Age",
        "context: Sex",
        "context: Age",
        "context: Level",
    ]
    assert rows[1] == [
        *("1", "0.25", "0.0123456", "0.00305123", "0.75", "0.5"),
        *("Female", "Over 30", "", "", "3 or 4"),
    ]
    assert len(rows) == 3


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", '=HYPERLINK("x")'])
def test_csv_cells_are_no_formulas(label: str) -> None:
    nasty = pattern(sensitive_values={"Sex": label}, divergence_nats=None)
    (_, row) = csv.reader(io.StringIO(csv_report.rows(pattern_list(patterns=(nasty,)))))
    assert not row[6].lstrip().startswith(("=", "+", "-", "@"))
    assert row[3] == "infinite"


def test_formats_come_from_suffixes() -> None:
    assert [
        format_of(Path(name)) for name in ("a.md", "a.JSON", "a.txt", "a.csv", "a.markdown", "a.doc", "a")
    ] == [
        *("markdown", "json", "text", "csv", "markdown"),
        *(None, None),
    ]


def test_every_format_shows_both_documents() -> None:
    for document in (audit_document(), pattern_list(model=model("Other"))):
        shown = [render(document, form) for form in ("text", "json", "csv", "markdown")]
        assert len(set(shown)) == 4
        assert all(part.endswith("\n") for part in shown)
