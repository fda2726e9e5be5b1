"""Whether pages can be used without a mouse and by a screen reader: axe in a browser, and the keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from auditor.report.html import render
from auditor.report.profiles import load_profile
from tests.cli.conftest import EXAMPLES, Auditor
from tests.report.browser import Page
from tests.report.conftest import SUBJECTS, page

#: What a key can get to, as far as it is shown.
REACHABLE = (
    "[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex=\"0\"]')]"
    ".filter((e) => e.checkVisibility())"
)


def violations(browser: Page) -> object:
    """What axe finds, as rules and the first element that breaks each."""
    package = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    browser.run((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    return browser.run(
        "axe.run({resultTypes: ['violations']})"
        ".then((found) => found.violations.map((v) => [v.id, v.nodes[0].html]))"
    )


@pytest.mark.parametrize("name", ["finding record", "fair certificate", "undecided", "wide"])
def test_axe_finds_no_violation(name: str, browser: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    subject = replace(SUBJECTS[name](), profile=load_profile("eu-ai-act-annex-iv"))
    file.write_text(render(subject), encoding="utf-8")
    for width, dark in ((1280, False), (390, True)):
        browser.open(file, width, dark=dark)
        assert violations(browser) == []


@pytest.mark.parametrize(
    "command",
    [
        "fleet compas.json figure1.json --delta 0.1",
        "frontier compas.json --deltas 0.1,0.2,0.3",
        "stability compas.json --delta 0.1 --draws 5 --seed 1",
    ],
)
def test_nor_on_a_page_without_a_cover(command: str, browser: Page, auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    name, *words = command.split()
    auditor(
        name, *(str(EXAMPLES / word) if word.endswith(".json") else word for word in words), "-o", str(file)
    )
    for width, dark in ((1280, True), (390, False)):
        browser.open(file, width, dark=dark)
        assert violations(browser) == []


def test_every_control_is_reached_by_tab_and_is_seen_to_be(browser: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("finding record"), encoding="utf-8")
    browser.open(file)
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    number = browser.run(f"(window.wanted = {REACHABLE}).length")
    assert number > 20
    seen = []
    for _ in range(number):
        browser.press("Tab", 9)
        seen.append(browser.run(f"[wanted.indexOf(document.activeElement), {ring}]"))
    assert sorted(place for place, _ in seen) == list(range(number))
    assert "none" not in {outline for _, outline in seen}


def test_what_if_works_with_keys_alone(browser: Page, tmp_path: Path) -> None:
    """Arrows choose a value, and the sentence follows."""
    file = tmp_path / "report.html"
    file.write_text(page("compas"), encoding="utf-8")
    browser.open(file)
    chosen = "document.querySelector('#what-if-values select')"
    both = f"[{chosen}.value, document.getElementById('what-if-says').textContent]"
    before = browser.run(both)
    browser.run(f"{chosen}.focus()")
    browser.press("ArrowDown", 40)
    after = browser.run(both)
    assert after[0] != before[0]
    assert after[1] != before[1]
