"""The model card: metadata that the Hub reads, its headings, and the report's figures."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from auditor import audit
from auditor.report import model_card
from tests.cli.conftest import EXAMPLES, Auditor
from tests.report import subjects
from tests.report.test_profiles import answers

HEADINGS = (
    "Model Details",
    "Uses",
    "Bias, Risks, and Limitations",
    "Training Details",
    "Evaluation",
    "Model Card Contact",
)


def test_a_model_card_of_an_audit(auditor: Auditor, tmp_path: Path) -> None:
    stored, card = tmp_path / "audit.json", tmp_path / "README.md"
    assert auditor("audit", EXAMPLES / "compas.json", "--delta", "0.1", "-o", stored).code == 1
    assert auditor("report", stored, "--format", "model-card", "-o", card).code == 0
    _, metadata, body = card.read_text(encoding="utf-8").split("---\n", 2)
    (entry,) = yaml.safe_load(metadata)["model-index"]
    document = json.loads(stored.read_text(encoding="utf-8"))
    (result,) = entry["results"]
    assert result["task"]["type"]
    assert result["dataset"].keys() == {"type", "name"}
    values = {metric["type"]: metric["value"] for metric in result["metrics"]}
    assert values["verdict"] == document["verdict"]
    assert values["largest-degree-at-least"] <= document["max_degree"] <= values["largest-degree-at-most"]
    assert values["discrimination-patterns"] == document["pattern_count"] == 2017
    assert [line[3:] for line in body.splitlines() if line.startswith("## ")] == list(HEADINGS)
    assert "2,017 of 14,688" in body
    assert "This card is not a certificate" in body
    # What it refers to is there.
    assert "the appendix lists them one by one" in body
    assert "### Appendix" in body
    assert "### Subset-minimal patterns one by one" in body


def test_a_card_refers_to_nothing_that_it_does_not_have(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("D,X,Y1,Y2\nd,x,y1,y2\nnot d,not x,y1,not y2\n", encoding="utf-8")
    found = audit(subjects.spec("figure1"), delta="0.2", box="0.01", data=data)
    card = model_card.laid_out(subjects.of_audit(found))
    assert "stands under “How far this reaches”" in card
    assert "### How far this reaches" in card
    # It is about the model alone, and so doesn't send to the rates in the data.
    assert "Testing data | none" in card
    assert "shown beside the model" not in card
    said, left = answers(subjects.of_audit(found), "iso-iec-tr-24027")["Equalized odds"]
    assert said.startswith("Accuracy and the rates of true and false positives by group")
    assert left.startswith("◪ In part.")


def test_a_model_card_of_a_certificate_names_it(auditor: Auditor, tmp_path: Path) -> None:
    certificate, card = tmp_path / "certificate.json", tmp_path / "README.md"
    model = EXAMPLES / "figure1.json"
    options = ("--delta", "0.5", "--responsible", "R. Viewer", "-o", certificate)
    assert auditor("certify", model, *options).code == 0
    assert auditor("report", certificate, "--format", "model-card", "-o", card).code == 0
    text = card.read_text(encoding="utf-8")
    assert json.loads(certificate.read_text())["id"] in text
    assert "R. Viewer" in text
    assert "value: delta-fair" in text
