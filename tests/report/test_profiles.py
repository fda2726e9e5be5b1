"""Profiles: our evidence beside the items of a framework, never a claim of compliance."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from auditor.errors import InputError
from auditor.report import html
from auditor.report.blocks import Table
from auditor.report.profiles import EvidenceName, load_profile
from auditor.report.sections import profile as section
from auditor.report.subject import Subject
from auditor.resources import names
from tests.report import subjects
from tests.report.test_html import words

SHIPPED = (
    "eu-ai-act-annex-iv",
    "iso-iec-tr-24027",
    "nist-ai-rmf-measure-2.11",
    "nyc-local-law-144",
    "us-four-fifths",
)


def test_shipped_profiles() -> None:
    assert names("templates", "profiles") == SHIPPED


def answers(subject: Subject, name: str) -> dict[str, tuple[str, str]]:
    """What the report answers of each item, and what is open."""
    blocks = section.section(replace(subject, profile=load_profile(name))) or ()
    (table,) = (block for block in blocks if isinstance(block, Table))
    return {item: (found, left) for item, _, found, left in table.texts()}


@pytest.mark.parametrize("name", SHIPPED)
def test_profile_in_a_report(name: str) -> None:
    profile = load_profile(name)
    assert profile.id == name
    assert date.fromisoformat(profile.checked) <= date(2027, 1, 1)
    read = words(html.render(replace(subjects.certified("1"), profile=profile)))
    assert profile.checked in read
    assert "It is not a statement that the framework, or any law, is complied with." in read
    for item in profile.items:
        assert " ".join(item.asks.split()) in read
        assert item.open in read
    assert "□ Open." in read
    assert not re.search(r"\bcomplies\b|\bcompliant\b", profile.model_dump_json())


def test_a_profile_answers_with_its_figure() -> None:
    subject = subjects.audited("compas", "0.1")
    assert subject.audit
    ratios = [
        group.impact_ratio
        for table in subject.audit.groups
        for group in table.groups
        if group.impact_ratio is not None
    ]
    below = sum(ratio < 0.8 for ratio in ratios)
    found = answers(subject, "us-four-fifths")["§ 1607.4(D), rule"][0]
    assert below
    assert f"is any group below four fifths of the most favoured one? Yes: {below} of {len(ratios)};" in found
    assert f"the lowest impact ratio is {min(ratios):.4f} (" in found


def test_a_profile_says_no_where_no_group_is_below() -> None:
    subject = subjects.certified("0.1")
    assert subject.audit
    ratios = [g.impact_ratio for table in subject.audit.groups for g in table.groups if g.impact_ratio]
    assert min(ratios) >= 0.8
    found = answers(subject, "us-four-fifths")["§ 1607.4(D), rule"][0]
    assert f"? No, none of {len(ratios)}; the lowest impact ratio is " in found


def test_a_profile_says_where_a_list_has_the_first_only() -> None:
    whole = subjects.audited("compas", "0.1")
    assert whole.audit
    cut = whole.audit.search.model_copy(
        update={"minimal_patterns_complete": False, "top_patterns_complete": False}
    )
    part = replace(whole, audit=whole.audit.model_copy(update={"search": cut}))
    told, partly = dict(section.evidence(whole)), dict(section.evidence(part))
    number = len(whole.audit.minimal_patterns)
    assert told["minimal_patterns"] == f"{number} subset-minimal patterns."
    assert partly["minimal_patterns"] == f"The first {number} subset-minimal patterns; there may be more."
    assert "as far as found" in partly["top_patterns"]
    assert "as far as found" not in told["top_patterns"]


def test_what_was_compared_is_said() -> None:
    subject = replace(subjects.certified("1"), profile=load_profile("iso-iec-tr-24027"))
    said = words(html.render(subject))
    assert "the clauses themselves could not be looked up" in said
    assert "On 2026-11-29 it was compared with the abstract" in said


def test_what_the_report_lacks_is_open() -> None:
    bare = replace(subjects.audited("figure1", "0.2"), parameters=None, provenance=None)
    found = answers(bare, "eu-ai-act-annex-iv")
    assert found["6"][1].startswith("□ Open.")
    assert found["2(d)"][1].startswith("□ Open.")
    assert found["2(e)"][0] == "–"
    assert found["2(g)"][1].startswith("◪ In part.")
    assert "Issued on 2026-11-20" in answers(subjects.certified("1"), "eu-ai-act-annex-iv")["2(g)"][0]


def test_item_without_anything_open_needs_all_its_evidence() -> None:
    assert answers(subjects.certified("1"), "iso-iec-tr-24027")["Other measures"][1] == "■ Answered."
    bare = replace(subjects.certified("1"), audit=None)
    assert answers(bare, "iso-iec-tr-24027")["Other measures"][1].startswith("◪ In part.")


def test_ratio_rule_in_every_context() -> None:
    rule = "The rule in every context"
    ratio = answers(subjects.audited("figure1", "0.2", "ratio"), "us-four-fifths")[rule]
    assert ratio[0].startswith("Four fifths in every context: no; largest degree ")
    assert answers(subjects.audited("figure1", "0.2"), "us-four-fifths")[rule][0] == "–"


def test_own_profile(tmp_path: Path) -> None:
    content = {
        "kind": "auditor/profile",
        "version": 1,
        "id": "own",
        "name": "Our policy",
        "source": "Handbook",
        "checked": "2026-01-01",
        "about": "Ours.",
        "items": [{"item": "1", "asks": "Everything", "evidence": list(get_args(EvidenceName)), "open": ""}],
    }
    file = tmp_path / "own.json"
    file.write_text(json.dumps(content))
    profile = load_profile(str(file))
    assert profile.items[0].evidence == get_args(EvidenceName)
    text = words(html.render(replace(subjects.certified("1"), profile=profile)))
    assert "Where this evidence fits" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON: a key in double quotes"),
        (b"[" * 100_000, "nested more than 32 deep"),
        (b"\xff\xfe", "the text is UTF-16"),
        (b"{}", '"kind" is missing; a profile says "auditor/profile"'),
        (b" " * (1 << 20) + b"{}", "larger than 1 MB"),
    ],
)
def test_bad_profile(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said):
        load_profile(str(file))


def test_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no such profile .*us-four-fifths"):
        load_profile("gdpr")
