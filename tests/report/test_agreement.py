"""One answer in every format: no number of one contradicts a number of another, or the document."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html import unescape
from io import BytesIO
from typing import Any

import pypdf
import pytest

from auditor.documents.audit import DegreeRecord
from auditor.documents.record import to_json
from auditor.report import html, markdown, pdf, sections, text
from auditor.report.formats import render
from auditor.report.subject import Subject
from auditor.usecases import auditing
from tests.report import subjects


def _audit(name: str, delta: str, **question: Any) -> Subject:
    audit = auditing.audit(subjects.spec(name), delta, illustrate=True, **question)
    return subjects.of_audit(audit, provenance=subjects.spec(name).provenance)


def _zero() -> Subject:
    """A value that people with the favourable decision never have, and one that decides alone."""
    model = subjects.spec("figure1").naive_bayes()
    half, none, every = Fraction(1, 2), Fraction(0), Fraction(1)
    first, *others = model.attributes
    first = replace(first, likelihood=((none, half), (every, half)))
    changed = replace(model, attributes=(first, *others))
    return subjects.of_audit(auditing.audit(changed, "0.1", illustrate=True))


def _repaired() -> Subject:
    made = auditing.repair(subjects.spec("compas"), "0.1")
    audit = auditing.audit(made.model, "0.1", illustrate=True)
    return subjects.of_audit(audit, repair=made.summary, moved=made.summary.parameters_moved)


CASES: dict[str, Callable[[], Subject]] = {
    "complete": lambda: _audit("compas", "0.1"),
    "limited": lambda: _audit("german", "0.411622501", time_limit=0),
    "ratio": lambda: _audit("compas", "0.2", criterion="ratio"),
    "minimum probability": lambda: _audit("compas", "0.1", min_probability="0.01"),
    "zero probability": _zero,
    "repaired": _repaired,
}
#: PDFs are slow; these two have all that the others have.
PRINTED = ("limited", "repaired")


@cache
def subject(case: str) -> Subject:
    return CASES[case]()


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(shown: str) -> Counter[str]:
    """Every number with its sign and percent sign, as often as it occurs."""
    plain = shown.replace("−", "-").replace("\\", "")
    return Counter(re.findall(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?%?", plain))


def of_html(page: str) -> str:
    """The words of a page: no pictures, sheets or scripts."""
    body = re.sub(r"<(style|script|svg|title)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def test_every_format_shows_the_same_numbers(case: str) -> None:
    whole = sections.whole(subject(case))
    written = numbers(markdown.laid_out(whole))
    assert written == numbers(text.laid_out(whole, columns=10_000))
    shown = numbers(of_html(html.render(subject(case))))
    missing = {number: times for number, times in written.items() if shown[number] < times}
    assert not missing


def test_the_terminal_shows_no_other_numbers(case: str) -> None:
    audit = subject(case).audit
    assert audit
    brief = numbers(render(audit, "text"))
    written = numbers(markdown.laid_out(sections.whole(subject(case))))
    # How many more patterns there are is of the terminal alone.
    left = {str(len(audit.minimal_patterns) - 5), "16"}
    assert not set(brief) - set(written) - left


@pytest.mark.parametrize("case", PRINTED)
@pytest.mark.usefixtures("pango")
def test_paper_shows_the_same_numbers(case: str) -> None:
    content = pdf.render(html.render(subject(case), medium="paper")).content
    printed = "".join(
        "".join(page.extract_text().split()) for page in pypdf.PdfReader(BytesIO(content)).pages
    )
    printed = printed.replace("−", "-")
    written = numbers(markdown.laid_out(sections.whole(subject(case))))
    assert not [number for number in written if number not in printed]


def _floats(tree: object) -> Iterator[float]:
    if isinstance(tree, dict):
        for value in tree.values():
            yield from _floats(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _floats(value)
    elif isinstance(tree, float | int) and not isinstance(tree, bool):
        yield float(tree)


def test_every_degree_and_share_is_the_document_s(case: str) -> None:
    """What was found, number by number: each is a number of the JSON, rounded."""
    audit = subject(case).audit
    assert audit
    stored = {abs(number) for number in _floats(json.loads(to_json(audit)))}
    stored |= {float(audit.delta), float(audit.min_probability or 0)}
    rates = [(min(f), max(f)) for t in audit.groups if (f := [group.favourable for group in t.groups])]
    stored |= {high - low for low, high in rates}
    stored |= {row.patterns / row.pairs for row in audit.coverage or ()}
    if audit.pattern_count is not None:
        stored.add(audit.pattern_count / audit.total_patterns)
    bare = replace(subject(case), repair=None, moved=())
    for block in sections.chapters(bare)[0].blocks:
        for number in numbers(text.laid_out([block])):
            value = float(number.strip("+-%").replace(",", ""))
            scale = 0.01 if number.endswith("%") else 1
            if "." not in number:
                continue
            unit = 10.0 ** -len(re.sub(r"e.*", "", number.rstrip("%")).partition(".")[2])
            unit *= 10.0 ** int(number.partition("e")[2].rstrip("%") or 0)
            near = [known for known in stored if abs(known - value * scale) <= 1.01 * unit * scale]
            assert near, (number, text.laid_out([block]))


def test_no_figure_is_below_a_pattern_that_stands_beside_it(case: str) -> None:
    audit = subject(case).audit
    assert audit
    figures: list[DegreeRecord] = [*audit.by_share, *audit.by_pair, *audit.by_sensitive_attribute]
    figures += [row.alone for row in audit.by_sensitive_attribute if row.alone]
    for figure in figures:
        low, high = figure.max_degree_bounds or (0, 1)
        assert low <= figure.max_degree <= high
        if figure.worst_pattern:
            assert abs(figure.worst_pattern.degree) == figure.max_degree
    shown = [*audit.top_patterns, *audit.minimal_patterns]
    assert all(abs(pattern.degree) <= audit.max_degree_bounds[1] for pattern in shown)


def test_at_worst_is_said_only_where_it_is_proved(case: str) -> None:
    audit = subject(case).audit
    assert audit
    written = markdown.laid_out(sections.whole(subject(case)))
    for level, pattern, bounds in (
        ("Group", audit.group_level, audit.group_level_bounds),
        ("Individual", audit.individual_level, audit.individual_level_bounds),
    ):
        proved = bounds and pattern and bounds[1] <= abs(pattern.degree) + 1e-15
        for heading in re.findall(f"### {level} level.*", written):
            assert ("at worst" in heading) == bool(proved)
            assert ("(proved)" in heading) != bool(proved)
    if not audit.search.complete:
        assert "at least" in written
        assert "(found), at most" in written
    assert "valid until" not in written.lower()
