"""The HTML report: one inert, self-contained page that says what the document says."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html import unescape
from html.parser import HTMLParser
from itertools import chain, pairwise
from pathlib import Path

import pytest

from auditor import __version__
from auditor.errors import InputError
from auditor.messages import visible
from auditor.report import html
from auditor.report.blocks import Table
from auditor.report.figures import people, percent, size
from auditor.report.html import Look
from auditor.resources import resource
from tests.report import subjects
from tests.report.conftest import SUBJECTS, page

GOLDEN = Path(__file__).parent / "golden"
#: Chromium's option for a browser that is set to dark.


class Elements(HTMLParser):
    """All elements with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def words(text: str) -> str:
    """The text of a page without style and script, a line per block."""
    body = re.sub(r"<(style|script)\b[^>]*>.*?</\1>", "", text, flags=re.DOTALL)
    body = re.sub(r"<path[^>]*>|<svg class=\"qr\".*?</svg>", "", body, flags=re.DOTALL)
    body = re.sub(r"</?(?:p|h[1-6]|li|dt|dd|td|th|tr|title|caption|text)\b[^>]*>", "\n", body)
    lines = (" ".join(line.split()) for line in unescape(re.sub(r"<[^>]+>", "", body)).splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def golden(name: str, text: str, update: bool) -> None:
    file = GOLDEN / name
    text = text.replace(f"auditor {__version__}", "auditor VERSION")
    if update:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), (
        f"{name} changed; UPDATE_GOLDEN=1 writes it anew; then look at it"
    )


def test_golden_page(update_golden: bool) -> None:
    text = page("figure1")
    for name in ("report.css", *chain(*html.SCRIPTS)):
        inlined = resource("templates", name).read_text(encoding="utf-8")
        assert text.count(inlined) == 1
        text = text.replace(inlined, f"(the whole of {name})\n")
    golden("figure1.html", text, update_golden)


@pytest.mark.parametrize(
    "name", ["compas", "fair certificate", "finding record", "undecided", "one attribute", "ratio"]
)
def test_golden_text(name: str, update_golden: bool) -> None:
    golden(f"{name.replace(' ', '_')}.txt", words(page(name)), update_golden)


def test_page_is_self_contained_and_inert(name: str) -> None:
    found = Elements(page(name))
    kinds = [attributes.get("type") for tag, attributes in found.elements if tag == "script"]
    assert kinds.count(None) == 1 + ('<script id="prover">' in page(name))
    assert set(kinds) <= {None, "application/json"}
    assert not {"base", "iframe", "object", "embed", "link", "img", "form"} & {
        tag for tag, _ in found.elements
    }
    for tag, attributes in found.elements:
        for attribute, value in attributes.items():
            assert not attribute.startswith("on"), (tag, attribute)
            if attribute in ("href", "src", "xlink:href"):
                assert value.startswith("#"), value
            if attribute == "style":
                assert "url" not in value
    assert "@import" not in page(name)
    assert "url(" not in page(name).split("</style>")[0]


def test_security_policy_lets_only_our_script_run(name: str) -> None:
    text = page(name)
    scripts = re.findall(r'<script(?: id="prover")?>(.*?)</script>', text, flags=re.DOTALL)
    (policy,) = (
        attributes["content"]
        for tag, attributes in Elements(text).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    assert scripts
    for script in scripts:
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_structure(name: str) -> None:
    found = Elements(page(name))
    identifiers = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for tag, attributes in found.elements:
        if tag == "a":
            assert attributes["href"].removeprefix("#") in identifiers
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in identifiers
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
    headings = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


def test_hostile_names_are_shown_as_they_are() -> None:
    text = page("hostile")
    read = "".join(Elements(text).text)
    model = subjects.hostile().stated.model
    for name in model.attributes:
        assert visible(name) in read
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", ["figure1", "compas", "finding record", "one attribute", "hostile"])
def test_every_number_of_the_top_list_is_the_document_s(name: str) -> None:
    audit = SUBJECTS[name]().audit
    assert audit
    (table, *_) = re.findall(r'<table class="patterns sortable">.*?</table>', page(name), re.DOTALL)
    bodies = re.findall(r"<tr[^>]*>(.*?)</tr>", table.split("<tbody>")[1], re.DOTALL)
    assert len(bodies) == len(audit.top_patterns)
    for row, pattern in zip(bodies, audit.top_patterns, strict=True):
        found = re.findall(r"<td.*?</td>", row, re.DOTALL)
        cells = [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in found]
        sorts = re.findall(r'data-sort="([^"]+)"', row)
        before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
        assert pattern.probability is not None
        assert cells[3].lstrip("+−") == size(pattern.degree, audit.delta)
        assert cells[3].startswith("+" if pattern.degree > 0 else "−")
        assert cells[4:6] == [percent(before), percent(after)]
        assert cells[6] == percent(pattern.probability) + people(pattern.probability)
        numbers = [abs(pattern.degree), before, after, pattern.probability, pattern.divergence_nats]
        assert [float(text) for text in sorts] == numbers
        for attribute, value in {**pattern.sensitive_values, **pattern.context_values}.items():
            assert visible(attribute) in cells[1] + cells[2]
            assert visible(value) in cells[1] + cells[2]
    text = words(page(name))
    assert f"{audit.pattern_count:,} of {audit.total_patterns:,}" in text
    assert size(audit.max_degree, audit.delta) in text
    assert f"sha256:{audit.model.sha256}" in text


def test_own_chapters_take_the_place_of_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections" / "appendix.html.j2").write_text("<p>Ask {{ stated.model.name }}.</p>")
    text = html.render(subjects.audited("figure1", "0.2"), templates=tmp_path)
    assert "<p>Ask Figure 1.</p>" in text
    assert "The whole model" not in text


def test_look_of_the_issuer() -> None:
    logo = "data:image/png;base64,AAAA"
    text = html.render(
        subjects.certified("11/50"), look=Look(logo=logo, logo_text="Example <Bank>", accent="#123456")
    )
    (image,) = (attributes for tag, attributes in Elements(text).elements if tag == "img")
    assert image == {"src": logo, "alt": "Example <Bank>"}
    assert "--accent: #123456;" in text


def test_own_templates_override_single_blocks(tmp_path: Path) -> None:
    (tmp_path / "report.html.j2").write_text(
        '{% extends "auditor/report.html.j2" %}{% block contents %}<p>No contents.</p>{% endblock %}'
    )
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections" / "cover.html.j2").write_text(
        '{% extends "auditor/sections/cover.html.j2" %}{% block signature %}<p>Sign here.</p>{% endblock %}'
    )
    text = html.render(subjects.audited("figure1", "0.2"), templates=tmp_path)
    assert "<p>No contents.</p>" in text
    assert "<p>Sign here.</p>" in text
    assert "Reviewed by" not in text
    assert "1. What was found" in text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ subject.no_such_thing }}", "no_such_thing"),
        ("{% if %}", "Expected an expression"),
        ("{{ subject.__class__.__mro__ }}", "unsafe"),
        ('{% include "/etc/passwd" %}', "/etc/passwd"),
        ('{% include "../secret" %}', "secret"),
    ],
)
def test_own_templates_that_cannot_be_used(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "report.html.j2").write_text(source)
    with pytest.raises(InputError, match=re.escape(said)):
        html.render(subjects.audited("figure1", "0.2"), templates=tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        html.render(subjects.audited("figure1", "0.2"), templates=tmp_path / "nowhere")


def test_words_that_are_never_used(name: str) -> None:
    text = words(page(name)).lower()
    assert not re.search(r"unbiased|debias|guaranteed fair|is compliant|compliant with", text)


def test_only_a_page_with_a_certificate_can_check_one() -> None:
    inlined = resource("templates", "prove/prove.js").read_text(encoding="utf-8")
    assert inlined in page("fair certificate")
    assert inlined not in page("compas")


def test_a_finding_record_is_not_called_a_certificate() -> None:
    assert "This page checks its record" in words(page("finding record"))


def test_degrees_next_to_a_limit_have_room() -> None:
    head = ("#", "Disclosed", "Given", "Degree")
    near, far = (
        html.page("", [Table("", head, [("1", "x", "y", degree)], 1, "patterns")])
        for degree in ("-0.09999997", "-0.09797")
    )
    assert 'class="patterns sortable long"' in near
    assert 'class="patterns sortable"' in far


def test_long_names_do_not_head_the_columns_of_a_heat_map() -> None:
    def maps(name: str) -> list[list[str]]:
        found = re.findall(r'<table class="heat[^>]*>.*?</thead>', page(name), flags=re.DOTALL)
        return [re.findall(r"<th\b[^>]*>(.*?)</th>", one) for one in found]

    assert maps("compas") == [["Disclosed", "Ethnic_Code_Text", "MaritalStatus", "Sex", "Age"]]
    assert maps("hostile") == [["Disclosed", "1", "2", "3"]]


def test_the_cover_repeats_which_attributes_were_asked_for() -> None:
    assert "auditor audit MODEL --delta 0.1 --sensitive Ethnic_Code_Text,MaritalStatus,Sex,Age" in words(
        page("compas")
    )
