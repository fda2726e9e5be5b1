"""Labels of attributes: wherever a person reads, and nowhere that a program does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditor.documents.audit import Audit
from auditor.documents.labels import labelled
from tests.cli.conftest import EXAMPLES, Auditor
from tests.report.test_html import words

#: Names in the file of the model, and what people read.
LABELS = {"Ethnic_Code_Text": "Ethnic group", "LegalStatus": "Legal status", "Sex": "Gender"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    content = json.loads((EXAMPLES / "compas.json").read_text(encoding="utf-8"))
    for attribute in content["attributes"]:
        if attribute["name"] in LABELS:
            attribute["label"] = LABELS[attribute["name"]]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def named(text: str) -> list[str]:
    """The lines in which a name stands that has a label."""
    return [line for line in text.splitlines() if "Ethnic_Code_Text" in line.replace("\\", "")]


def test_a_terminal_shows_labels(auditor: Auditor, model: Path) -> None:
    for command in (
        ("audit", model, "--delta", "0.1"),
        ("patterns", model, "--delta", "0.1", "--summary", "minimal"),
    ):
        out = auditor(*command).out
        assert not named(out)
        assert "Ethnic group" in out


def test_a_fleet_shows_labels(auditor: Auditor, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    assert auditor("fleet", model, "--delta", "0.1", "-o", page).code == 1
    read = words(page.read_text(encoding="utf-8"))
    assert "Sensitive: Ethnic group, MaritalStatus, Gender, Age" in read


def test_reports_show_labels_and_name_them_once(auditor: Auditor, model: Path, tmp_path: Path) -> None:
    stored, certificate = tmp_path / "audit.json", tmp_path / "certificate.json"
    assert auditor("certify", model, "--delta", "0.1", "--audit", stored, "-o", certificate).code == 1
    for document in (
        (stored,),
        (certificate, "--audit", stored),
        (certificate, "--model", model),
        (certificate, "--audit", stored, "--model", model),
    ):
        page, text = tmp_path / "report.html", tmp_path / "report.md"
        for output in (page, text):
            assert auditor("report", *document, "-o", output).code == 0
        (line,) = named(text.read_text(encoding="utf-8"))
        assert "Ethnic group is called" in line
        read = page.read_text(encoding="utf-8")
        # The certificate's own file stands in its page as it is.
        read = read.partition('<script type="application/json" id="certificate-file">')[0]
        # The command that repeats the audit needs the name.
        assert words(read).count("Ethnic_Code_Text") <= 2


def test_documents_keep_names(auditor: Auditor, model: Path) -> None:
    plain = json.loads(auditor("audit", EXAMPLES / "compas.json", "--delta", "0.1", "--format", "json").out)
    found = json.loads(auditor("audit", model, "--delta", "0.1", "--format", "json").out)
    assert found["model"].pop("labels") == LABELS
    assert plain["model"].pop("labels") == {}
    for document in (plain, found):
        document["search"].pop("seconds", None)
    assert found["top_patterns"] == plain["top_patterns"]
    assert found["by_sensitive_attribute"] == plain["by_sensitive_attribute"]
    assert "Ethnic_Code_Text" in auditor("audit", model, "--delta", "0.1", "--format", "csv").out


def test_labels_that_could_be_mistaken_keep_their_names(auditor: Auditor) -> None:
    run = auditor("audit", EXAMPLES / "compas.json", "--delta", "0.1", "--format", "json")
    audit = Audit.model_validate_json(run.out)
    same = labelled(audit, {"Sex": "Age", "Age": "Age", "LegalStatus": "Status", "CustodyStatus": "Status"})
    assert same.model.labels == {
        "Sex": "Age (Sex)",
        "LegalStatus": "Status (LegalStatus)",
        "CustodyStatus": "Status (CustodyStatus)",
    }
