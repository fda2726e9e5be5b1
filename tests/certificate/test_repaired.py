"""Certificates of repaired models that name a proof: they hold only with it, and only if it is theirs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from auditor.certificate import checker, issuing
from auditor.certificate.reading import open_certificate
from auditor.certificate.verifying import Against, verify
from auditor.documents.certificate import Certificate, RepairFacts
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.repair import proof_checker
from auditor.report.sections.repair import certified
from auditor.usecases import certifying
from auditor.usecases.auditing import repair
from auditor.usecases.certifying import CertifyOptions
from auditor.usecases.proving import prove_repair
from auditor.usecases.reporting import report
from tests.certificate.falsehoods import random_tree
from tests.certificate.making import CHECKER, DAY, bare, put, renamed
from tests.certificate.test_checker import FILES

DELTA = "0.05"


class Made(NamedTuple):
    """A repaired model with its proof, in files, and its certificate as JSON data."""

    folder: Path
    content: dict[str, Any]
    proof: bytes


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("repaired")
    for seed in range(20):
        source = ModelSpec.model_validate(random_tree(Random(seed)))
        repaired, proof = prove_repair(source, repair(source, DELTA))
        if repaired.summary.patterns_before and len(source.attributes) > 2:
            break
    assert isinstance(repaired.model, ModelSpec)
    (folder / "fair.json").write_text(dump_model(repaired.model), encoding="utf-8")
    (folder / "proof.json").write_text(to_json(proof), encoding="utf-8")
    found = certifying.certify(
        str(folder / "fair.json"), CertifyOptions(delta=DELTA, issued=DAY, proof=folder / "proof.json")
    )
    return Made(folder, issuing.tree(found.certificate), (folder / "proof.json").read_bytes())


def outcomes(content: dict[str, Any], proof: bytes | None) -> dict[str, bool | None]:
    """Each check by the checker's name for it, of which `verify` says the same."""
    data = bare(content)
    found = {name: holds for name, holds, _ in checker.examine(data, None, DAY, proof)}
    given = {} if proof is None else {sha256(proof).hexdigest(): proof}
    told = verify(open_certificate(data, "cert.json"), Against(DAY, proofs=given))
    words = {True: "passed", False: "failed", None: "not performed"}
    assert {c.name: c.outcome for c in told.checks} == {name: words[holds] for name, holds in found.items()}
    assert told.result == (
        "does not hold"
        if False in found.values()
        else "undecided"
        if found["proof"] is None
        else "contents hold"
    )
    return found


def test_it_holds_with_its_proof_and_is_undecided_without(made: Made) -> None:
    found = outcomes(made.content, made.proof)
    assert found == dict.fromkeys(found, True) | {"signature": None}
    for other in (None, made.proof + b"\n"):
        assert outcomes(made.content, other) == found | {"proof": None}


def test_what_is_altered_does_not_hold(made: Made) -> None:
    told = ("model", "repair", "proof")
    bound = made.content["model"]["repair"]["proof"]["bound"]
    lower = f"{bound[:-1]}{int(bound[-1]) - 1 if bound[-1] != '0' else 1}"
    assert outcomes(renamed(put(made.content, (*told, "bound"), lower)), made.proof)["proof"] is False
    assert outcomes(renamed(put(made.content, (*told, "sha256"), "0" * 64)), made.proof)["proof"] is None
    proof = json.loads(made.proof)
    for place, value in (
        (("delta",), "0.06"),
        (("attributes", 0, "name"), "another"),
        (("attributes", 0, "favourable", 0), "1000"),
        (("decision", 0), "1000"),
        (("bound",), "-0.000001"),
        (("branches",), []),
        (("kind",), "auditor/audit"),
    ):
        data = json.dumps(put(proof, place, value)).encode()
        changed = renamed(put(made.content, (*told, "sha256"), sha256(data).hexdigest()))
        assert outcomes(changed, data)["proof"] is False, place
    data = b"[" * 10_000
    changed = renamed(put(made.content, (*told, "sha256"), sha256(data).hexdigest()))
    assert outcomes(changed, data)["proof"] is False


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("model", "repair", "proof"), None),
        (("model", "repair", "proof", "bound"), "-1"),
        (("model", "repair", "proof", "more"), "x"),
        (("model", "repair", "proof", "bound"), "-999999.000000"),
        (("model", "repair", "proof?"), {"sha256": "0" * 64, "bound": "-1.000000"}),
        (("model", "repair", "method"), "independent"),
        (("model", "repair", "log_likelihood_after"), None),
        (("criterion",), "ratio"),
    ],
)
def test_what_no_certificate_can_say_is_refused(made: Made, place: tuple[str, ...], value: Any) -> None:
    with pytest.raises(InputError):
        open_certificate(bare(renamed(put(made.content, place, value))), "cert.json")


def test_a_proof_that_is_not_theirs_is_refused(made: Made, tmp_path: Path) -> None:
    model, proof = str(made.folder / "fair.json"), made.folder / "proof.json"
    with pytest.raises(InputError, match="another δ"):
        certifying.certify(model, CertifyOptions(delta="0.06", proof=proof))
    broken = json.loads(made.proof) | {"bound": "-0.000001"}
    (tmp_path / "proof.json").write_text(json.dumps(broken | {"found": "0"}), encoding="utf-8")
    with pytest.raises(InputError, match="the proof doesn't hold"):
        certifying.certify(model, CertifyOptions(delta=DELTA, proof=tmp_path / "proof.json"))
    source = tmp_path / "source.json"
    source.write_text(dump_model(ModelSpec.model_validate(random_tree(Random(1)))), encoding="utf-8")
    with pytest.raises(InputError, match="repair it first"):
        certifying.certify(str(source), CertifyOptions(delta=DELTA, proof=proof))
    plain = tmp_path / "plain.json"
    plain.write_bytes(certifying.certify(model, CertifyOptions(delta=DELTA, issued=DAY)).data)
    with pytest.raises(InputError, match="names no proof"):
        certifying.verify(plain, proofs=[proof])
    with pytest.raises(ValueError, match="names no proof"):
        list(checker.examine(plain.read_bytes(), None, DAY, made.proof))


def test_the_first_page_has_the_gap(made: Made) -> None:
    facts = Certificate.model_validate_json(bare(made.content)).model.repair
    assert isinstance(facts, RepairFacts)
    assert facts.proof is not None
    assert "nats likelier, as the proof shows that goes with this" in certified(facts)
    assert "nats" not in certified(facts.model_copy(update={"proof": None}))
    (made.folder / "cert.json").write_bytes(bare(made.content))
    text = re.sub("<[^>]*>", "", report(str(made.folder / "cert.json"), "html").content.decode())
    assert "auditor verify REPORT.pdf --proof PROOF.json" in text
    assert "as the proof shows that goes with this" in text


def test_it_is_checked_alone(made: Made, tmp_path: Path) -> None:
    for name in FILES:
        shutil.copy(CHECKER.with_name(name), tmp_path / name)
    (tmp_path / "cert.json").write_bytes(bare(made.content))
    (tmp_path / "proof.json").write_bytes(made.proof)

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-I", "-S", "checker.py", "cert.json", "--at", str(DAY), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()[-1]

    undecided = (4, "NOT DECIDED; not performed: signature, proof")
    assert run() == run("--proof", "proof.json") == undecided
    shutil.copy(proof_checker.__file__, tmp_path / "proof_checker.py")
    assert run() == undecided
    assert run("--proof", "proof.json") == (0, "CONTENTS HOLD; signature not checked")
