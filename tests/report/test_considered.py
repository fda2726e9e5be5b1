"""With a minimum probability no format claims anything of the patterns that are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from auditor.certificate.comparing import compare
from auditor.documents.fleet import Answered, FleetQuestion, FleetRow
from auditor.report import certificates, csv, fleet, html, markdown, model_card, sections, text
from auditor.report.profiles import load_profile
from auditor.report.sections import top
from auditor.report.subject import Stated, Subject
from auditor.search.answer import answer
from auditor.search.question import Question
from auditor.usecases import auditing
from tests.certificate.making import made
from tests.report import subjects
from tests.report.test_html import words

LEAST = "0.01"
#: Words about all patterns, unless what limits them follows or stands before.
UNLIMITED = re.compile(
    r"\b(worst|largest|nearer|degree|change|pattern)( \w+)? of all\b(?! patterns that at least so many)"
    r"|at worst(?!, among)"
    r"|[Ww]orst degree of discrimination(?!, among)"
    r"|(?<!: no; )(?<!: yes; )[Ll]argest degree(?! of those| of discrimination for)(?!, among)[^|]{0,30}?\d"
    r"|δ-fair(\*\*)? at δ = [\d.]+(?![\d.]| (for these sensitive attributes and )?for patterns)"
    r"|(Shown|refuted): disclosing"
    r"|(?<!so) of (2|5)4 |\(\d+(\.\d+)?%\), counted"
    r"|[Ww]ithout any discrimination pattern(?!, among)"
    r"|every pair was counted(?!, among)"
    r"|no extension is a discrimination pattern(?!, among)"
    r"|Four fifths in every context(?!, among)"
)


@cache
def subject(delta: str, criterion: Any, least: str | None, *, certified: bool) -> Subject:
    model = subjects.spec("figure1")
    audit = subjects.timeless(
        auditing.audit(model, delta, criterion=criterion, min_probability=least, illustrate=True)
    )
    found = Subject(Stated.of_audit(audit), audit, parameters=audit.parameters)
    if not certified:
        return found
    certificate = made(delta, model, criterion=criterion, min_probability=least)
    return replace(found, stated=Stated.of_certificate(certificate), certificate=certificate)


def shown(found: Subject) -> Iterator[tuple[str, str]]:
    """What each format says."""
    found = replace(found, profile=load_profile("us-four-fifths"))
    yield "page", words(html.render(found))
    yield "paper", words(html.render(found, medium="paper"))
    yield "markdown", markdown.laid_out(sections.whole(found))
    yield "text", text.laid_out(sections.brief(found), columns=10**6)
    yield "card", model_card.laid_out(found)
    yield "line", text.verdict_line(found.stated)
    if found.audit and not found.certificate:
        yield "csv", csv.rows(found.audit)
    if found.certificate:
        other = subject("0.2", "difference", None, certified=True).certificate
        assert other
        yield "comparison", certificates.render(compare(other, found.certificate), "markdown")


@pytest.mark.parametrize("certified", [False, True])
@pytest.mark.parametrize(
    ("delta", "criterion"), [("0.05", "difference"), ("0.5", "difference"), ("0.2", "ratio")]
)
def test_what_is_said_is_said_of_the_patterns_considered(delta: str, criterion: str, certified: bool) -> None:
    for name, said in shown(subject(delta, criterion, LEAST, certified=certified)):
        found = [said[max(0, at.start() - 60) : at.end() + 60] for at in UNLIMITED.finditer(said)]
        assert not found, (name, found)
        assert name == "csv" or "considered" in said or "1% of people" in said, name


@pytest.mark.parametrize("delta", ["0.05", "0.5"])
def test_without_a_minimum_probability_all_are_spoken_of(delta: str) -> None:
    for name, said in shown(subject(delta, "difference", None, certified=False)):
        assert "considered" not in said, name
        assert "1% of people" not in said, name
        assert name == "csv" or UNLIMITED.search(said), name


@pytest.mark.parametrize("chosen", ["minimal", "pareto", "maximal"])
def test_a_list_says_what_it_is_chosen_from(chosen: Any) -> None:
    found = auditing.patterns(subjects.spec("figure1"), "0.05", choose=chosen, min_probability=LEAST)
    said = markdown.laid_out(top.listed(found))
    assert f"Only patterns with a probability of at least {LEAST} are considered." in said
    assert not UNLIMITED.search(said)


def test_a_fleet_says_which_patterns_it_is_about() -> None:
    question = FleetQuestion(delta="0.2", criterion="difference", min_probability=LEAST)
    found = answer(subjects.spec("figure1").naive_bayes(), Question.of("0.2", "difference", LEAST))
    rows = [
        FleetRow(
            file="a.json", file_sha256="0" * 64, question=question, answer=Answered.of(found), seconds=0.0
        )
    ]
    for form in ("text", "markdown", "html"):
        assert "1 model at δ = 0.2 for patterns of at least 1% of people: 1 " in re.sub(
            r"\s+",
            " ",
            words(fleet.render(rows, question, form))
            if form == "html"
            else fleet.render(rows, question, form),
        )
