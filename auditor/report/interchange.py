"""Certificates in the forms that other tools exchange: a test result of in-toto and an ML-BOM of CycloneDX.

Each names the model by its digests, tells the verdict in that form's own words, and holds the certificate's
file whole, with its digest.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditor.choices import Verdict
from auditor.documents.certificate import STATEMENT_TYPE, TEST_RESULT, Certificate
from auditor.report.blocks import unmarked, values
from auditor.report.sections.worst import counted, largest
from auditor.report.subject import Stated
from auditor.report.wording import sentence

#: The test by which a policy asks for it.
TEST = "delta-fair"
#: What wasn't shown to be fair did not pass; "WARNED" would say that it did, with a warning.
RESULTS: Mapping[Verdict, str] = {
    "delta-fair": "PASSED",
    "not-delta-fair": "FAILED",
    "inconclusive": "FAILED",
}
#: The version that most tools read; what stands here is the same in 1.5 and 1.7.
CYCLONEDX = "1.6"

_FILE = "certificate.json"
_MEDIA_TYPE = "application/json"
_SIGNED_AS = ("auditor:model_signature_subject", "auditor:model_signature_sha256")
_FAMILIES = {"naive-bayes": "naive Bayes", "scorecard": "scorecard"}


@dataclass(frozen=True)
class Certified:
    """A certificate, and the files that it and its model are."""

    certificate: Certificate
    file: bytes
    """As ``certify`` writes it, signed or not."""
    model_file: tuple[str, str]
    """Name and SHA-256 of the model's file."""
    signed_as: tuple[str, str] | None = None
    """Name and SHA-256 under which a model signature (OMS) signs the model."""


def test_result(certified: Certified) -> dict[str, Any]:
    """Return an in-toto statement of a test result, predicate version 0.1.

    Its subjects are the exact model, by the digest that certificates have; the model's file; and the model
    as a model signature names it.
    """
    certificate = certified.certificate
    model = certificate.model
    subjects = [(model.name, model.sha256), certified.model_file]
    if certified.signed_as:
        subjects.append(certified.signed_as)
    evidence: dict[str, Any] = {
        "name": _FILE,
        "mediaType": _MEDIA_TYPE,
        "digest": {"sha256": hashlib.sha256(certified.file).hexdigest()},
        "content": base64.b64encode(certified.file).decode(),
        "annotations": _facts(certificate),
    }
    configuration = [evidence]
    if certificate.policy.sha256 is not None:
        configuration.append({"name": "policy", "digest": {"sha256": certificate.policy.sha256}})
    passed = RESULTS[certificate.verdict] == "PASSED"
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": RESULTS[certificate.verdict],
            "configuration": configuration,
            "passedTests": [TEST] if passed else [],
            "warnedTests": [],
            "failedTests": [] if passed else [TEST],
        },
    }


def bill_of_materials(certified: Certified) -> dict[str, Any]:
    """Return a CycloneDX bill of materials of the model, whose model card has the fairness assessment."""
    certificate, (file_name, file_sha256) = certified.certificate, certified.model_file
    model, origin = certificate.model, certificate.model.provenance
    card: dict[str, Any] = {
        "modelParameters": {
            "task": "binary classification",
            "architectureFamily": _FAMILIES[model.family],
            **({"datasets": [{"type": "dataset", "name": origin.data_source}]} if origin.data_source else {}),
        },
        "quantitativeAnalysis": {"performanceMetrics": _metrics(certificate)},
        "considerations": {
            "technicalLimitations": [*certificate.assumptions, *certificate.limits],
            "fairnessAssessments": _assessments(certificate),
        },
        "properties": [
            {"name": f"auditor:{name}", "value": value} for name, value in _facts(certificate).items()
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"urn:auditor:{certificate.id}")
    evidence = {
        "type": "attestation",
        "url": f"urn:cdx:{serial}/1#{_FILE}",
        "comment": f"The certificate {certificate.id}, whole; auditor verify checks it",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(certified.file).hexdigest()}],
    }
    attachment = {
        "contentType": _MEDIA_TYPE,
        "encoding": "base64",
        "content": base64.b64encode(certified.file).decode(),
    }
    if certified.signed_as:
        card["properties"] += [
            {"name": key, "value": value} for key, value in zip(_SIGNED_AS, certified.signed_as, strict=True)
        ]
    component = {
        "type": "machine-learning-model",
        "bom-ref": f"sha256:{model.sha256}",
        "name": model.name,
        "version": origin.model_version,
        "description": origin.description,
        "publisher": origin.owner,
        "hashes": [{"alg": "SHA-256", "content": file_sha256}],
        "externalReferences": [evidence],
        "modelCard": card,
        "properties": [{"name": "auditor:model_file", "value": file_name}],
    }
    tool = {"type": "application", "name": certificate.tool.name, "version": certificate.tool.version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": CYCLONEDX,
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": f"{certificate.issued}T00:00:00Z",
            "tools": {"components": [tool]},
            "component": {name: value for name, value in component.items() if value is not None},
        },
        "components": [
            {
                "type": "data",
                "bom-ref": _FILE,
                "name": _FILE,
                "hashes": evidence["hashes"],
                "data": [{"type": "other", "name": _FILE, "contents": {"attachment": attachment}}],
            }
        ],
    }


def contradicts(around: dict[str, Any], certificate: Certificate, file: bytes) -> bool:
    """Whether what stands around a certificate differs from what is made of it.

    The name and digest of the model's file, and of a model signature, are known from there alone.

    Parameters
    ----------
    around : dict
        A test result or a bill of materials.
    file : bytes
        The certificate's file in it.
    """
    try:
        if around.get("bomFormat") is None:
            (_, model_file, *rest) = ((item["name"], item["digest"]["sha256"]) for item in around["subject"])
            made = test_result(Certified(certificate, file, model_file, *rest))
        else:
            component = around["metadata"]["component"]
            (name,) = (item["value"] for item in component["properties"])
            known = {item["name"]: item["value"] for item in component["modelCard"]["properties"]}
            signed_as = [tuple(known[key] for key in _SIGNED_AS)] if _SIGNED_AS[0] in known else []
            model_file = name, component["hashes"][0]["content"]
            made = bill_of_materials(Certified(certificate, file, model_file, *signed_as))
    except (LookupError, TypeError, ValueError, AttributeError):
        return True
    return made != around


def _facts(certificate: Certificate) -> dict[str, str]:
    """What a policy may ask for, as texts."""
    facts = {
        "certificate": certificate.id,
        "verdict": certificate.verdict,
        "criterion": certificate.criterion,
        "delta": certificate.delta,
        "min_probability": certificate.min_probability,
        "sensitive_attributes": ", ".join(item.name for item in certificate.sensitive_attributes),
        "max_degree_at_least": certificate.max_degree.lower,
        "max_degree_at_most": certificate.max_degree.upper,
        "pattern_count": certificate.pattern_count,
        "total_patterns": certificate.total_patterns,
        "model_sha256": certificate.model.sha256,
        "valid_from": str(certificate.valid_from),
        "expires": str(certificate.expires),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _metrics(certificate: Certificate) -> list[dict[str, str]]:
    """The largest degree with both its ends, and the count where there is one."""
    found = certificate.max_degree
    metrics = [
        {"type": "largest degree of discrimination, at least", "value": found.lower},
        {"type": "largest degree of discrimination, at most", "value": found.upper},
    ]
    if certificate.pattern_count is not None:
        metrics.append({"type": "discrimination patterns", "value": certificate.pattern_count})
    return metrics


def _assessments(certificate: Certificate) -> list[dict[str, str]]:
    """The answer for all groups, and for those whom the worst pattern is about."""
    stated = Stated.of_certificate(certificate)
    names = ", ".join(stated.model.sensitive)
    found = f"Largest degree of discrimination: {largest(stated)}. Patterns: {counted(stated)}."
    everyone = {
        "groupAtRisk": f"Everyone, by the sensitive attributes {names}",
        "harms": f"{certificate.claim.sentence} {found}",
    }
    if (facts := certificate.model.repair) is not None:
        everyone["mitigationStrategy"] = (
            "The parameters were learned again from the same counts or population; the model before has the "
            f"digest sha256:{facts.source_sha256}, and the log-likelihood went from "
            f"{facts.log_likelihood_before} to {facts.log_likelihood_after or 'minus infinity'}."
        )
    worst = stated.largest.worst_pattern
    if worst is None:
        return [everyone]
    said = "benefits" if worst.degree > 0 else "harms"
    group = values({**worst.sensitive_values, **worst.context_values})
    return [
        everyone,
        {"groupAtRisk": unmarked(group), said: unmarked(sentence(worst, stated.model.favourable))},
    ]
