"""Profiles: our evidence beside the items of a framework, never a claim of compliance."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from auditor.errors import InputError
from auditor.report import html
from auditor.report.dossier import Dossier
from auditor.report.profiles import EVIDENCE, load_profile, names
from tests.report_html import subjects
from tests.report_html.test_html import Elements, words

SHIPPED = (
    "eu-ai-act-annex-iv",
    "iso-iec-tr-24027",
    "nist-ai-rmf-measure-2.11",
    "nyc-local-law-144",
    "us-four-fifths",
)


def test_shipped_profiles() -> None:
    assert names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_profile_in_a_report(name: str) -> None:
    profile = load_profile(name)
    assert profile.id == name
    assert date.fromisoformat(profile.checked) <= date(2027, 1, 1)
    text = html.render(replace(subjects.certified("1"), profile=profile))
    read = words(text)
    assert profile.checked in read
    assert "It is not a statement that the framework, or any law, is complied with." in read
    for item in profile.items:
        assert " ".join(item.asks.split()) in read
        assert item.open in read
    assert "□ Open." in read
    identifiers = {attributes.get("id") for _, attributes in Elements(text).elements}
    linked = re.findall(r'<a href="#([^"]+)">', text)
    assert set(linked) <= identifiers
    assert not re.search(r"\bcomplies\b|\bcompliant\b", profile.model_dump_json())


def test_what_the_report_lacks_is_open() -> None:
    profile = load_profile("eu-ai-act-annex-iv")
    bare = replace(subjects.audited("figure1", "0.2"), model=None, provenance=None, profile=profile)
    answers = {answer.item.item: answer for answer in Dossier(bare).answers}
    assert answers["6"].status == "open"
    assert answers["2(d)"].status == "open"
    assert answers["2(e)"].found == ()
    assert answers["2(g)"].status == "in part"
    full = {a.item.item: a for a in Dossier(replace(subjects.certified("1"), profile=profile)).answers}
    assert full["2(g)"].found[-1][1] == "certificate"


def test_item_without_anything_open_needs_all_its_evidence() -> None:
    profile = load_profile("iso-iec-tr-24027")
    (other,) = (
        a for a in Dossier(replace(subjects.certified("1"), profile=profile)).answers if a.item.item == "7.7"
    )
    assert other.status == "evidence given"
    undecided = replace(
        subjects.undecided(),
        audit=subjects.undecided().audit.model_copy(update={"individual_level": None}),
        profile=profile,
    )
    (other,) = (a for a in Dossier(undecided).answers if a.item.item == "7.7")
    assert other.status == "in part"


def test_ratio_rule_in_every_context() -> None:
    profile = load_profile("us-four-fifths")
    ratio = replace(subjects.audited("figure1", "0.2", "ratio"), profile=profile)
    difference = replace(subjects.audited("figure1", "0.2"), profile=profile)
    assert Dossier(ratio).answers[-1].found == (("Verdict at a ratio of 0.8: Not δ-fair", "findings"),)
    assert Dossier(difference).answers[-1].status == "open"


def test_own_profile(tmp_path: Path) -> None:
    content = {
        "kind": "auditor/profile",
        "version": 1,
        "id": "own",
        "name": "Our policy",
        "source": "Handbook",
        "checked": "2026-01-01",
        "about": "Ours.",
        "items": [{"item": "1", "asks": "Everything", "evidence": list(EVIDENCE), "open": ""}],
    }
    file = tmp_path / "own.json"
    file.write_text(json.dumps(content))
    profile = load_profile(str(file))
    assert profile.items[0].evidence == EVIDENCE
    text = words(html.render(replace(subjects.certified("1"), profile=profile)))
    assert "Where this evidence fits" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not a JSON file"),
        (b"[" * 100_000, "not a JSON file"),
        (b"\xff\xfe", "not a JSON file"),
        (b"{}", "kind: Field required"),
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
