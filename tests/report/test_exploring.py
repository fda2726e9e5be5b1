"""The HTML report in a real browser: what is tried out gives Python's numbers, and nothing leaves it."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from auditor.certificate.issuing import tree
from auditor.choices import CriterionName
from auditor.documents.audit import PatternRecord
from auditor.documents.parameters import fraction_text
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.reading import load_model, load_naive_bayes
from auditor.model.scorecard import ScorecardSpec
from auditor.report.blocks import unmarked
from auditor.report.exploring import facts
from auditor.report.figures import people, percent, rounded, signed
from auditor.report.html import render
from auditor.report.wording import sentence
from auditor.search.criteria import CRITERIA
from auditor.search.pattern import Pattern, measure
from auditor.usecases import auditing, reporting
from tests.certificate.making import OTHER_KEY, bare, made, public_pem
from tests.cli.conftest import EXAMPLES
from tests.report import subjects
from tests.report.browser import Page
from tests.report.conftest import SUBJECTS, page


def put(text: str, folder: Path) -> Path:
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    return file


def patterns(model: NaiveBayes, delta: str, criterion: CriterionName) -> Iterator[Pattern]:
    """All pairs (x, y) that can occur."""
    states = []
    for i, attribute in enumerate(model.attributes):
        sides = ("y", "x") if attribute.sensitive else ("y",)
        states.append([None, *((side, i, v) for side in sides for v in range(len(attribute.values)))])
    for chosen in product(*states):
        x = tuple((i, v) for side, i, v in filter(None, chosen) if side == "x")
        y = tuple((i, v) for side, i, v in filter(None, chosen) if side == "y")
        if x and sum(model.joint(x + y)):
            yield measure(model, CRITERIA[criterion](Fraction(delta)), x, y)


def said(model: NaiveBayes, pattern: Pattern, delta: str) -> str:
    """What the report says of a pattern."""
    record = PatternRecord.of(model, pattern, Fraction(delta))
    text = unmarked(sentence(record, model.favourable))
    degree = signed(record.degree, delta).replace("-", "−")
    above = "above" if abs(pattern.degree) > Fraction(delta) else "not above"
    return f"{text} Degree {degree}, {above} δ\xa0=\xa0{delta}; {people(record.probability)} people."


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_what_if_says_what_python_says_of_every_pattern(
    criterion: CriterionName, browser: Page, tmp_path: Path
) -> None:
    model = load_naive_bayes(EXAMPLES / "figure1.json").naive_bayes()
    delta = "0.2"
    browser.open(put(render(subjects.audited("figure1", delta, criterion)), tmp_path))
    seen = 0
    for pattern in patterns(model, delta, criterion):
        for i, attribute in enumerate(model.attributes):
            values = dict(pattern.sensitive_values + pattern.context_values)
            browser.choose(f"#what-if-{i}", str(values.get(i, "")))
            if attribute.sensitive and browser.run(
                f"document.querySelectorAll('.disclosed input')[{i}].checked"
            ) is not (i in dict(pattern.sensitive_values)):
                browser.run(f"document.querySelectorAll('.disclosed input')[{i}].click()")
        assert browser.text("#what-if-says") == said(model, pattern, delta)
        assert browser.run("document.getElementById('what-if-says').dataset.degree") == fraction_text(
            pattern.degree
        )
        seen += 1
    assert seen == 18


def test_numbers_are_written_as_python_writes_them(browser: Page, tmp_path: Path) -> None:
    browser.open(put(page("figure1"), tmp_path))
    numbers = [n / 997 for n in range(0, 997, 7)] + [
        10.0**-k * f for k in range(1, 30) for f in (1, 9.9996, 2.5)
    ]
    numbers += [0.5, 0.125, 0.999951, 0.99999999, 1.0, 0.12345, 0.00001, 9.99995e-6, 0.1 + 0.2, 1e-300]
    found = browser.run(f"{json.dumps(numbers)}.map((n) => [percent(n), rounded(n), people(n)])")
    expected = [[percent(n).replace("e-", "e−"), rounded(n).replace("e-", "e−"), people(n)] for n in numbers]
    assert found == expected


def test_fractions_become_the_nearest_double(browser: Page, tmp_path: Path) -> None:
    browser.open(put(page("figure1"), tmp_path))
    fractions = [Fraction(a**7, b**9) for a in range(1, 60, 3) for b in range(2, 60, 7)]
    fractions += [Fraction(1, 3**k) for k in range(0, 600, 13)] + [
        Fraction(2**54 + 2, 2**54),
        Fraction(2**54 + 3),
    ]
    texts = [fraction_text(value) for value in fractions]
    assert browser.run(f"{json.dumps(texts)}.map((t) => Fraction.of(t).toNumber())") == list(
        map(float, fractions)
    )


def test_slider_of_the_threshold_shows_the_counts_of_the_audit(browser: Page, tmp_path: Path) -> None:
    subject = SUBJECTS["compas"]()
    assert subject.audit
    browser.open(put(page("compas"), tmp_path))
    for i, step in enumerate(subject.audit.by_delta):
        browser.choose("#delta", str(i))
        low, high = step.pattern_count_bounds
        assert low == high
        assert browser.text("#delta-says").startswith(f"δ\xa0=\xa0{step.delta}: {low:,} of ")
    assert {step.delta: step.pattern_count_bounds for step in subject.audit.by_delta}["0.1"] == (2017, 2017)


def test_filters_hold_for_the_chart_and_the_tables_alike(browser: Page, tmp_path: Path) -> None:
    audit = SUBJECTS["compas"]().audit
    assert audit
    assert audit.illustration
    browser.open(put(page("compas"), tmp_path))
    # One of them has a degree that is rounded to δ.
    every = f"{len(audit.illustration.dots):,}"
    assert browser.text("#dot-says").startswith(f"{every} of the {every} patterns in the picture")
    name = audit.model.sensitive[0]
    browser.click("#disclosing input")
    place = f"{audit.model.attributes.index(name)}."
    dots = [dot for dot in audit.illustration.dots if any(one.startswith(place) for one in dot[2].split())]
    assert 0 < len(dots) < len(audit.illustration.dots)
    assert browser.text("#dot-says").startswith(f"{len(dots):,} of the ")
    rows = "table.patterns.sortable tbody tr"
    kept = browser.run(
        "[...document.querySelector('table.patterns.sortable').tBodies[0].rows]"
        ".map((row) => !row.classList.contains('left-out'))"
    )
    assert kept == [name in pattern.sensitive_values for pattern in audit.top_patterns]
    assert browser.run("document.querySelectorAll('table.heat .left-out').length") > 0
    browser.click("#disclosing input")
    assert browser.run(f"document.querySelectorAll('{rows}.left-out').length") == 0
    browser.choose("#share", "0")
    probable = [(pattern.probability or 0) >= 0.1 for pattern in audit.top_patterns]
    kept = browser.run(
        f"[...document.querySelectorAll('{rows}')].slice(0, {len(probable)})"
        ".map((row) => !row.classList.contains('left-out'))"
    )
    assert kept == probable


def test_a_dot_says_its_sentence_when_it_is_pointed_at(browser: Page, tmp_path: Path) -> None:
    browser.open(put(page("compas"), tmp_path))
    browser.choose("#dot-number", "5")
    by_slider = browser.text("#dot-says")
    x, y = browser.run(
        "(() => { const s = document.querySelector('svg.scatter'); s.scrollIntoView({block: 'center'});"
        "const r = s.querySelector('.ring').getBoundingClientRect();"
        "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    browser.choose("#dot-number", "900")
    assert browser.text("#dot-says") != by_slider
    browser.move(x, y)
    assert re.fullmatch(
        r"Disclosing .* (raises|lowers) .* Degree [+−]0\.\d+; .* people\.", browser.text("#dot-says")
    )
    assert browser.text("#dot-says") == by_slider


@pytest.mark.parametrize("width", [1280, 390])
def test_page_asks_for_nothing_and_complains_of_nothing(
    name: str, width: int, browser: Page, tmp_path: Path
) -> None:
    browser.requests.clear()
    browser.messages.clear()
    file = put(page(name), tmp_path)
    browser.open(file, width)
    assert not browser.run("document.getElementById('explore').hidden")
    for slider in ("delta", "share", "dot-number"):
        if browser.run(f"document.getElementById('{slider}')?.checkVisibility()"):
            browser.choose(f"#{slider}", "1")
    assert [one for one in browser.requests if not one.startswith("blob:null/")] == [file.as_uri()]
    assert browser.messages == []
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_patterns_are_filtered_without_a_population_too(browser: Page, tmp_path: Path) -> None:
    spec = load_model(EXAMPLES / "german_scorecard.yaml")
    assert isinstance(spec, ScorecardSpec)
    audit = auditing.audit(spec.taken_as("missing-bin"), "0.1")
    browser.messages.clear()
    browser.open(put(render(subjects.of_audit(audit)), tmp_path))
    browser.click("#disclosing input")
    assert browser.messages == []
    left = browser.run("document.querySelectorAll('table.patterns .left-out').length")
    assert left == sum("sex_status" not in pattern.sensitive_values for pattern in audit.top_patterns)


def test_what_is_tried_out_is_not_printed(browser: Page, tmp_path: Path) -> None:
    browser.open(put(page("figure1"), tmp_path))
    printed = browser.print()
    assert printed.startswith(b"%PDF")
    browser.open(put(page("figure1"), tmp_path), media="print")
    assert browser.run("getComputedStyle(document.getElementById('explore')).display") == "none"
    assert browser.run("document.querySelector('main').innerText.includes('What was found')")


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_whole_numbers_and_readable_drawings(browser: Page, tmp_path: Path, dark: bool) -> None:
    browser.open(put(page("compas"), tmp_path), width=390, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") == 390
    broken = """
      const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = texts.nextNode());) {
        for (const number of node.data.matchAll(/[\\d.,]*\\d[%]?/g)) {
          const range = document.createRange();
          range.setStart(node, number.index);
          range.setEnd(node, number.index + number[0].length);
          const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
          if (tops.size > 1) found.push(node.data);
        }
      }
      return found;
    """
    # A digest is no number, and is as long as two lines.
    assert [text for text in browser.run(f"(() => {{{broken}}})()") if "sha256:" not in text] == []
    # Drawings are seen whole, in letters of 11 dots at least.
    wide = (
        "[...document.querySelectorAll('.chart')].filter((one) => one.scrollWidth > one.clientWidth).length"
    )
    assert browser.run(wide) == 0
    sizes = (
        "[...document.querySelectorAll('svg text')].filter((text) => text.checkVisibility())"
        ".map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"
    )
    # The letters of what stands upright are turned.
    upright = [size for size in browser.run(sizes) if size > 1]
    assert len(upright) > 20
    assert min(upright) >= 11
    beside = """
      const boxes = [...document.querySelectorAll('svg text')].filter((text) => text.checkVisibility())
        .map((text) => [text.ownerSVGElement, text.textContent, text.getBoundingClientRect()]);
      return boxes.flatMap(([svg, said, a], i) => boxes.slice(i + 1)
        .filter(([other, , b]) => svg === other && a.left < b.right && b.left < a.right)
        .filter(([, , b]) => a.top < b.bottom - 3 && b.top < a.bottom - 3)
        .map(([, again]) => `${said} | ${again}`));
    """
    assert browser.run(f"(() => {{{beside}}})()") == []
    label = "document.querySelector('.patterns.cards td.num').dataset.label"
    assert browser.run(label) == "Degree"
    shown = "getComputedStyle(document.querySelector('.patterns.cards td.num'), '::before').content"
    assert "Degree" in browser.run(shown) or "data-label" in browser.run(shown)


def test_a_long_list_is_short_on_a_phone_until_it_is_asked_for(browser: Page, tmp_path: Path) -> None:
    rows = "[...document.querySelectorAll('table.listed tbody tr')].filter((row) => row.checkVisibility())"
    file = put(page("compas"), tmp_path)
    browser.open(file)
    every = browser.run(f"{rows}.length")
    buttons = "[...document.querySelectorAll('.more')].filter((one) => one.checkVisibility()).length"
    assert every > 20
    assert browser.run(buttons) == 0
    browser.open(file, width=390)
    assert browser.run(f"{rows}.length") == 4
    assert browser.run("document.documentElement.scrollHeight") < 22_000
    # All steps of a calculation are there, and a heat map of few attributes is seen whole.
    assert browser.run("document.querySelectorAll('.odds.short').length") == 0
    heat = "document.querySelector('.heat').parentElement"
    assert browser.run(f"{heat}.scrollWidth - {heat}.clientWidth") == 0
    assert browser.text(".listed + .more") == f"Show all {every} rows"
    browser.click(".listed + .more")
    assert browser.run(f"{rows}.length") == every
    assert browser.run("document.activeElement.rowIndex") == 5
    # A filter looks through all rows, and paper has them.
    browser.open(file, width=390)
    browser.run(
        "(() => { const input = document.querySelector('.tools:has(+ .listed) input'); "
        "input.value = 'Sex'; input.dispatchEvent(new Event('input')); })()"
    )
    found = "document.querySelector('.tools:has(+ .listed) span').textContent"
    assert browser.run(f"{rows}.length") == int(browser.run(found).split()[0]) > 4
    browser.open(file, width=390, media="print")
    assert browser.run(f"{rows}.length") == every
    assert browser.run(buttons) == 0


def test_facts_cannot_end_their_element() -> None:
    text = facts(SUBJECTS["hostile"]())
    assert "<" not in text
    assert "\u202e" not in text
    assert json.loads(text)["attributes"]


def test_beside_the_certificate_of_a_scorecard_there_is_nothing_to_try(browser: Page, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(bare(tree(made("0.1", load_model(EXAMPLES / "german_scorecard.yaml")))))
    browser.open(put(reporting.report(str(file), "html").content.decode(), tmp_path))
    assert browser.run("document.getElementById('explore').hidden")
    assert "Explore" not in browser.text(".contents")


def test_a_certificate_proves_itself_when_its_page_is_opened(browser: Page, tmp_path: Path) -> None:
    browser.messages.clear()
    browser.requests.clear()
    text = page("finding record")
    file = put(text, tmp_path)
    browser.open(file)
    says = "document.getElementById('proof-says').textContent"
    settled = f"new Promise((done) => setTimeout(done, 1500)).then(() => {says})"
    assert browser.run(settled) == "What was checked holds. Not checked: Signature."
    assert "2,017 of 14,688" in browser.text("#proof-checks")
    browser.choose("#proof-key", public_pem().decode())
    assert browser.run(settled) == "All of it was checked, and holds."
    browser.choose("#proof-key", public_pem(OTHER_KEY).decode())
    assert browser.run(settled).startswith("DOES NOT HOLD: Signature.")
    before, payload, after = re.split(r'(?<="payload":")([^"]+)', text, maxsplit=1)
    content = b64decode(payload)
    changed = b64encode(content.replace(b'"pattern_count":"2017"', b'"pattern_count":"2016"')).decode()
    assert changed != payload
    browser.open(put(before + changed + after, tmp_path))
    assert browser.run(settled).startswith("DOES NOT HOLD: Digests, Number of patterns.")
    red = "getComputedStyle(document.getElementById('proof-says')).color"
    assert browser.run(red) == "rgb(140, 28, 19)"
    assert browser.messages == []
    # The worker's script is a part of the page that asks no network for it.
    assert {one.split("/")[0] for one in browser.requests} == {"file:", "blob:null"}
    browser.open(put(text.replace("; worker-src blob:", ""), tmp_path))
    assert browser.run(settled) == "What was checked holds. Not checked: Signature.", "without a worker"
    assert any("worker" in message for message in browser.messages)
