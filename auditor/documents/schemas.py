"""Writes the JSON Schemas in ``schemas/``: ``python -m auditor.documents.schemas``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate
from auditor.documents.comparison import Comparison
from auditor.documents.fleet import FleetRow
from auditor.documents.frontier import Frontier
from auditor.documents.patterns import PatternList
from auditor.documents.policy import PolicyFile
from auditor.documents.proof import LikelihoodProof, ProofVerification
from auditor.documents.repair import Repair
from auditor.documents.stability import Stability
from auditor.documents.verification import ChainVerification, RevocationList, Verification
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.resources import resource


@cache
def schemas() -> Mapping[str, str]:
    """Return the text of each schema (draft 2020-12) by the name of its document.

    What is read has the schema of what is accepted; what is written, of what is always there.
    """
    bodies = {
        "model": ModelSpec.model_json_schema(mode="validation"),
        "scorecard": ScorecardSpec.model_json_schema(mode="validation"),
        "audit": Audit.model_json_schema(mode="serialization"),
        "fleet": FleetRow.model_json_schema(mode="serialization"),
        "patterns": PatternList.model_json_schema(mode="serialization"),
        "certificate": Certificate.model_json_schema(mode="serialization"),
        "verification": Verification.model_json_schema(mode="serialization"),
        "chain-verification": ChainVerification.model_json_schema(mode="serialization"),
        "comparison": Comparison.model_json_schema(mode="serialization"),
        "likelihood-proof": LikelihoodProof.model_json_schema(mode="validation"),
        "proof-verification": ProofVerification.model_json_schema(mode="serialization"),
        "repair": Repair.model_json_schema(mode="serialization"),
        "stability": Stability.model_json_schema(mode="serialization"),
        "frontier": Frontier.model_json_schema(mode="serialization"),
        "policy": PolicyFile.model_json_schema(mode="validation"),
        "revocations": RevocationList.model_json_schema(mode="validation"),
    }
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        name: json.dumps(dialect | body, indent=2, ensure_ascii=False) + "\n" for name, body in bodies.items()
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        resource("schemas", f"{name}.json").write_text(text, encoding="utf-8")
