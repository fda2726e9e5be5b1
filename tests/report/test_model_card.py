"""The model card: metadata that the Hub reads, its headings, and the report's figures."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.cli.conftest import EXAMPLES, Auditor

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
    audit = json.loads(stored.read_text(encoding="utf-8"))
    (result,) = entry["results"]
    assert result["task"]["type"]
    assert result["dataset"].keys() == {"type", "name"}
    values = {metric["type"]: metric["value"] for metric in result["metrics"]}
    assert values["verdict"] == audit["verdict"]
    assert values["largest-degree-at-least"] <= audit["max_degree"] <= values["largest-degree-at-most"]
    assert values["discrimination-patterns"] == audit["pattern_count"] == 2017
    assert [line[3:] for line in body.splitlines() if line.startswith("## ")] == list(HEADINGS)
    assert "2,017 of 14,688" in body
    assert "This card is not a certificate" in body


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
