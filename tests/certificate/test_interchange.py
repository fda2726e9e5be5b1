"""Certificates within forms of other tools: valid by their schemas, bound to the model, and read again."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2

from auditor.certificate.model_signature import signed_subject
from auditor.certificate.signing import PAYLOAD_TYPE, pae
from auditor.choices import CertificateForm
from auditor.errors import InputError
from auditor.model.writing import dump_model
from auditor.usecases.auditing import repair
from auditor.usecases.certifying import CertifyOptions, Signer, certify, opened_at, verify
from tests.certificate.making import EXAMPLES, KEY, OTHER_KEY, loaded, private_pem, public_pem

SIGNED = Path(__file__).parents[1] / "data" / "signed_model"
DAY = date(2026, 11, 28)
#: A wish for each verdict on a model.
VERDICTS = {
    "delta-fair": ("figure1", CertifyOptions(delta="0.5", issued=DAY)),
    "not-delta-fair": ("figure1", CertifyOptions(delta="0.1", issued=DAY)),
    "inconclusive": ("german", CertifyOptions(delta="0.411622501", issued=DAY, time_limit=0)),
}


def made(verdict: str, form: CertificateForm, signer: Signer | None = None) -> bytes:
    model, wishes = VERDICTS[verdict]
    issued = certify(str(EXAMPLES / f"{model}.json"), wishes, signer, form=form)
    assert issued.certificate.verdict == verdict
    return issued.data


@pytest.fixture(name="signer")
def _signer(tmp_path: Path) -> Signer:
    key = tmp_path / "key.pem"
    key.write_bytes(private_pem())
    (tmp_path / "key.pub.pem").write_bytes(public_pem())
    (tmp_path / "other.pub.pem").write_bytes(public_pem(OTHER_KEY))
    return Signer(key, lambda: "")


def statement_of(data: bytes) -> dict[str, Any]:
    content = json.loads(data)
    if "payload" in content:
        content = json.loads(base64.b64decode(content["payload"]))
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize("verdict", VERDICTS)
def test_in_toto_keeps_to_the_official_definitions(verdict: str) -> None:
    content = statement_of(made(verdict, "in-toto"))
    statement = json_format.ParseDict(content, statement_pb2.Statement())
    assert statement.predicate_type == "https://in-toto.io/attestation/test-result/v0.1"
    result = json_format.ParseDict(content["predicate"], test_result_pb2.TestResult())
    assert result.result == ("PASSED" if verdict == "delta-fair" else "FAILED")
    assert list(result.passed_tests) == (["delta-fair"] if verdict == "delta-fair" else [])
    assert list(result.failed_tests) == ([] if verdict == "delta-fair" else ["delta-fair"])
    (held,) = result.configuration
    assert held.digest["sha256"] == hashlib.sha256(held.content).hexdigest()
    assert held.content == made(verdict, "certificate")


@pytest.fixture(name="validator", scope="module")
def _validator() -> JsonStrictValidator:
    return JsonStrictValidator(SchemaVersion.V1_6)


def test_the_bill_of_materials_keeps_to_the_newest_schema_too() -> None:
    data = made("not-delta-fair", "cyclonedx").decode()
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(data) is None


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_bill_of_materials_keeps_to_the_official_schema(
    verdict: str, validator: JsonStrictValidator
) -> None:
    data = made(verdict, "cyclonedx")
    assert validator.validate_str(data.decode()) is None
    content = json.loads(data)
    component = content["metadata"]["component"]
    assert component["type"] == "machine-learning-model"
    assert component["modelCard"]["considerations"]["fairnessAssessments"]
    (reference,) = component["externalReferences"]
    held = base64.b64decode(content["components"][0]["data"][0]["contents"]["attachment"]["content"])
    assert held == made(verdict, "certificate")
    assert reference["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(held).hexdigest()}]


def test_the_schema_of_bills_of_materials_refuses_something(validator: JsonStrictValidator) -> None:
    content = json.loads(made("delta-fair", "cyclonedx"))
    content["metadata"]["component"]["modelCard"]["considerations"]["fairnessAssessments"][0]["extra"] = "x"
    assert validator.validate_str(json.dumps(content)) is not None


def test_a_repaired_model_says_so(validator: JsonStrictValidator, tmp_path: Path) -> None:
    source = loaded("compas")
    fair = tmp_path / "fair.json"
    fair.write_text(dump_model(repair(source, delta="0.3").model), encoding="utf-8")
    data = certify(str(fair), CertifyOptions(delta="0.3", issued=DAY), form="cyclonedx").data.decode()
    assert validator.validate_str(data) is None
    first = json.loads(data)["metadata"]["component"]["modelCard"]["considerations"]["fairnessAssessments"][0]
    assert source.naive_bayes().sha256() in first["mitigationStrategy"]


def test_a_scorecard_has_one_too(validator: JsonStrictValidator) -> None:
    card = str(EXAMPLES / "german_scorecard.yaml")
    data = certify(card, CertifyOptions(delta="0.1", issued=DAY), form="cyclonedx").data.decode()
    assert validator.validate_str(data) is None
    assert '"architectureFamily": "scorecard"' in data


@pytest.mark.parametrize("form", ["in-toto", "cyclonedx"])
@pytest.mark.parametrize("verdict", ["delta-fair", "not-delta-fair"])
def test_the_certificate_in_it_is_verified(
    form: CertificateForm, verdict: str, signer: Signer, tmp_path: Path
) -> None:
    file = tmp_path / "held.json"
    file.write_bytes(made(verdict, form, signer))
    found = verify(file, public_key=tmp_path / "key.pub.pem", at=DAY)
    assert found.result == "holds"
    assert verify(file, public_key=tmp_path / "other.pub.pem", at=DAY).result == "does not hold"
    around = {check.name: check.outcome for check in found.checks if check.outcome != "passed"}
    assert around == {"model file": "not performed"}


@pytest.mark.parametrize("form", ["in-toto", "cyclonedx"])
def test_one_whose_worst_pattern_discloses_several_values_is_read_back(
    form: CertificateForm, tmp_path: Path
) -> None:
    """Files have values by the alphabet and COMPAS has its attributes in another order."""
    file = tmp_path / "held.json"
    model = str(EXAMPLES / "compas.json")
    file.write_bytes(certify(model, CertifyOptions(delta="0.5", issued=DAY), form=form).data)
    assert verify(file, at=DAY).result == "contents hold"


def test_the_statement_is_signed_with_the_same_key(signer: Signer) -> None:
    from auditor.certificate.signing import PAYLOAD_TYPE, is_signed_by, pae

    envelope = json.loads(made("delta-fair", "in-toto", signer))
    payload, signature = (
        base64.b64decode(text) for text in (envelope["payload"], envelope["signatures"][0]["sig"])
    )
    assert is_signed_by(pae(PAYLOAD_TYPE, payload), signature, KEY.public_key())


def test_a_statement_signed_with_another_key_does_not_hold(signer: Signer, tmp_path: Path) -> None:
    envelope = json.loads(made("delta-fair", "in-toto", signer))
    payload = base64.b64decode(envelope["payload"])
    envelope["signatures"][0]["sig"] = base64.b64encode(OTHER_KEY.sign(pae(PAYLOAD_TYPE, payload))).decode()
    file = tmp_path / "held.json"
    file.write_text(json.dumps(envelope), encoding="utf-8")
    found = verify(file, public_key=tmp_path / "key.pub.pem", at=DAY)
    assert found.result == "does not hold"
    assert [check.name for check in found.checks if check.outcome == "failed"] == ["signature around"]


def leaves(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of each text, number and empty list."""
    inner: Any = content.items() if isinstance(content, dict) else ()
    inner = enumerate(content) if isinstance(content, list) else inner
    found = [leaf for key, value in inner for leaf in leaves(value, (*path, key))]
    yield from found or [path]


#: What only the form itself knows: the model's file.
FREE = {
    "in-toto": [("subject", 1, "name"), ("subject", 1, "digest", "sha256")],
    "cyclonedx": [
        ("metadata", "component", "hashes", 0, "content"),
        ("metadata", "component", "properties", 0, "value"),
    ],
}


@pytest.mark.parametrize("form", FREE)
def test_whatever_else_stands_around_a_certificate_is_made_of_it(
    form: CertificateForm, tmp_path: Path
) -> None:
    whole = made("not-delta-fair", form).decode()
    file = tmp_path / "changed.json"
    accepted = []
    for place in leaves(json.loads(whole)):
        content = json.loads(whole)
        inner = content
        for key in place[:-1]:
            inner = inner[key]
        was = inner[place[-1]]
        inner[place[-1]] = was + 1 if isinstance(was, int) else f"{was}x" if isinstance(was, str) else ["x"]
        file.write_text(json.dumps(content), encoding="utf-8")
        try:
            opened_at(file)
            accepted.append(place)
        except InputError:
            pass
    assert accepted == FREE[form]
    content = json.loads(whole)
    content["more"] = "x"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="not what is made of it"):
        opened_at(file)


def test_the_model_is_named_as_a_model_signature_names_it() -> None:
    """The signature was made by the reference tool of OMS, with a key that was thrown away."""
    model, signature = SIGNED / "model.json", SIGNED / "model.sig"
    wishes = CertifyOptions(delta="0.5", issued=DAY)
    subjects = statement_of(certify(str(model), wishes, form="in-toto", model_signature=signature).data)[
        "subject"
    ]
    payload = json.loads(base64.b64decode(json.loads(signature.read_bytes())["dsseEnvelope"]["payload"]))
    assert subjects[2:] == payload["subject"]
    assert subjects[1] == {
        "name": "model.json",
        "digest": {"sha256": hashlib.sha256(model.read_bytes()).hexdigest()},
    }


def test_a_signature_of_other_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="signs no file with the SHA-256 of the model file"):
        signed_subject(SIGNED / "model.sig", "0" * 64)
    bundle = json.loads((SIGNED / "model.sig").read_bytes())
    payload = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
    payload["subject"][0]["digest"]["sha256"] = "0" * 64
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
    for name, text, said in (
        ("changed.sig", json.dumps(bundle), "contradicts itself"),
        ("none.sig", "{}", "not a model signature"),
    ):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            signed_subject(file, "0" * 64)
