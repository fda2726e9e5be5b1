"""The HTML report: one inert, self-contained page that says what the document says."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from auditor import __version__
from auditor.errors import InputError
from auditor.report import html
from auditor.report.dossier import Dossier
from auditor.report.html import Look
from auditor.report.profiles import load_profile
from auditor.report.wording import percent, rounded, shown, size
from tests.report_html import subjects
from tests.report_html.conftest import SUBJECTS, page

GOLDEN = Path(__file__).parent / "golden"
#: Chromium's option for a browser that is set to dark.
DARK = ["--blink-settings=preferredColorScheme=0"]


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
    body = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
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
    golden("figure1.html", page("figure1"), update_golden)


@pytest.mark.parametrize(
    "name", ["compas", "fair certificate", "finding record", "undecided", "one attribute", "ratio"]
)
def test_golden_text(name: str, update_golden: bool) -> None:
    golden(f"{name.replace(' ', '_')}.txt", words(page(name)), update_golden)


def test_page_is_self_contained_and_inert(name: str) -> None:
    found = Elements(page(name))
    assert [tag for tag, _ in found.elements].count("script") == 1
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
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (
        attributes["content"]
        for tag, attributes in Elements(text).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
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
    audit = subjects.hostile().audit
    for name in audit.model.attributes:
        assert shown(name) in read
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", ["figure1", "compas", "finding record", "one attribute", "hostile"])
def test_every_number_is_the_document_s(name: str) -> None:
    subject = SUBJECTS[name]()
    audit = subject.audit
    rows = re.findall(r'<table class="patterns sortable" id="top-table">.*?</table>', page(name), re.DOTALL)[
        0
    ]
    bodies = re.findall(r"<tr>(.*?)</tr>", rows.split("<tbody>")[1], re.DOTALL)
    assert len(bodies) == len(audit.top_patterns)
    for row, pattern in zip(bodies, audit.top_patterns, strict=True):
        cells = [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in re.findall(r"<td.*?</td>", row)]
        sorts = re.findall(r'data-sort="([^"]+)"', row)
        before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
        assert cells[3] == f"{percent(before)} → {percent(after)}"
        assert cells[4].lstrip("+−") == size(pattern.degree, audit.delta)
        assert cells[4].startswith("+" if pattern.degree > 0 else "−")
        assert cells[5].startswith(percent(pattern.probability))
        assert f"{rounded(pattern.probability * 10_000)} in 10,000" in cells[5]
        numbers = [after, abs(pattern.degree), pattern.probability, pattern.divergence_nats]
        assert [float(text) for text in sorts] == numbers
        for attribute, value in {**pattern.sensitive_values, **pattern.context_values}.items():
            assert shown(attribute) in cells[1] + cells[2]
            assert shown(value) in cells[1] + cells[2]
    text = words(page(name))
    assert f"{audit.pattern_count:,} of {audit.total_patterns:,}" in text
    assert size(audit.max_degree, audit.delta) in text
    assert f"sha256:{audit.model.sha256}" in text


def test_no_degree_is_rounded_across_the_threshold() -> None:
    subject = subjects.audited("figure1", "0.2")
    pattern = subject.audit.top_patterns[0].model_copy(update={"degree": -0.20000000000000004})
    audit = subject.audit.model_copy(
        update={"top_patterns": (pattern,), "worst_pattern": pattern, "max_degree": 0.20000000000000004}
    )
    text = words(html.render(replace(subject, audit=audit)))
    assert "−0.20000000000000004" in text
    assert "Largest degree\n0.20000000000000004, above δ = 0.2" in text


def test_whole_model_is_in_the_appendix() -> None:
    text = words(page("figure1"))
    assert "P(d) = 20.00%, exactly 0.2" in text
    for attribute in subjects.spec("figure1").naive_bayes().attributes:
        for value, (p, q) in zip(attribute.values, attribute.likelihood, strict=True):
            assert f"{value}\n{percent(float(p))}\n{float(p)}\n{percent(float(q))}\n{float(q)}" in text


def test_groups_are_compared_with_the_most_favoured() -> None:
    dossier = Dossier(subjects.audited("figure1", "0.2"))
    (table,) = dossier.groups
    worst, best = table.rows
    assert (worst.name, best.name) == ("X: not x", "X: x")
    # P(d | x) = .16/.56 and P(d | not x) = .04/.44.
    assert (worst.favourable, best.favourable) == ("9.091%", "28.57%")
    assert worst.impact_ratio == rounded((0.04 / 0.44) / (0.16 / 0.56))
    assert worst.below_four_fifths
    assert best.impact_ratio == "1.000"


def test_worked_example_can_be_checked_by_hand() -> None:
    steps = Dossier(subjects.audited("figure1", "0.2")).steps
    assert [(step.value, step.disclosed, step.ratio, step.odds) for step in steps] == [
        ("y1", False, "7.000", "1.750"),
        ("not x", True, "0.4000", "0.7000"),
    ]


def test_report_without_the_model_says_what_is_missing() -> None:
    subject = replace(subjects.audited("compas", "0.1"), model=None)
    text = words(html.render(subject))
    assert "holds only the digest of the model" in text
    assert "How severe, and for how many" not in text
    assert "Impact ratio\nThe rate" in text
    assert "Top 10 discrimination patterns by divergence" in text


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
        '{% extends "auditor/report.html.j2" %}'
        "{% block appendix %}<p>Ask {{ d.audit.model.name }}.</p>{% endblock %}"
    )
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections" / "cover.html.j2").write_text(
        '{% extends "auditor/sections/cover.html.j2" %}{% block signature %}<p>Sign here.</p>{% endblock %}'
    )
    text = html.render(subjects.audited("figure1", "0.2"), templates=tmp_path)
    assert "<p>Ask Figure 1.</p>" in text
    assert "<p>Sign here.</p>" in text
    assert "Reviewed by" not in text
    assert "1. What was found" in text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ d.no_such_thing }}", "no_such_thing"),
        ("{% if %}", "Expected an expression"),
        ("{{ d.__class__.__mro__ }}", "unsafe"),
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


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("finding record", []),
        ("fair certificate", DARK),
        ("undecided", []),
        ("wide", DARK),
    ],
)
def test_axe_finds_no_violation(name: str, scheme: list[str], tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    package = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    if browser is None:
        pytest.skip("no Chromium to run axe in")
    axe = (
        (Path(package.__file__).parent / "axe.min.js")
        .read_text(encoding="utf-8")
        .replace("</script", "<\\/script")
    )
    subject = replace(SUBJECTS[name](), profile=load_profile("eu-ai-act-annex-iv"))
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html.render(subject))
    run = (
        "axe.run().then(r => { const p = document.createElement('pre'); p.id = 'axe';"
        "p.textContent = JSON.stringify(r.violations.map(v => [v.id, v.nodes[0].html]));"
        "document.body.append(p); })"
    )
    file = tmp_path / "report.html"
    file.write_text(text.replace("</body>", f"<script>{axe}</script><script>{run}</script></body>"), "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", *scheme]
    done = subprocess.run(
        [browser, *options, f"--user-data-dir={tmp_path}/profile", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = re.search(r'<pre id="axe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, "axe did not finish"
    assert json.loads(unescape(found[1])) == []
