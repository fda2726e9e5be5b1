"""Certificates and keys for the tests."""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from auditor.certificate import claims, form_checker
from auditor.certificate.issuing import exact_of, issue, tree
from auditor.certificate.policy import terms
from auditor.certificate.signing import PAYLOAD_TYPE, key_id, pae
from auditor.certificate.verifying import Against
from auditor.documents.certificate import STATEMENT_TYPE, Certificate, ProofFacts, Supersedes
from auditor.model.reading import load_naive_bayes
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.search.answer import Wanted, answer
from auditor.search.limits import DEFAULT, Limits
from auditor.usecases.auditing import model_sets

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CHECKER = ROOT / "auditor" / "certificate" / "checker.py"
DAY = date(2026, 11, 27)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
AGAINST = Against(at=DAY, public_key=KEY.public_key())


def public_pem(key: Ed25519PrivateKey = KEY) -> bytes:
    """The public half of a key."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def private_pem(key: Ed25519PrivateKey = KEY) -> bytes:
    """The private half of a key."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def figure1() -> ModelSpec:
    """The paper's network; its largest degree is .2246 and its next largest .167."""
    return loaded("figure1")


def loaded(name: str) -> ModelSpec:
    """One of the examples."""
    return load_naive_bayes(EXAMPLES / f"{name}.json")


def made(
    delta: str = "0.2",
    spec: ModelSpec | ScorecardSpec | None = None,
    day: date = DAY,
    *,
    source: ModelSpec | ScorecardSpec | None = None,
    proof: ProofFacts | None = None,
    box: str | None = None,
    valid_from: date | None = None,
    platform: str | None = None,
    supersedes: Supersedes | None = None,
    limits: Limits = DEFAULT,
    **wishes: Any,
) -> Certificate:
    """A certificate."""
    spec = spec or figure1()
    chosen = terms(wishes.pop("policy", None), delta=delta, limits=limits, **wishes)
    exact = exact_of(spec)
    found = answer(exact, chosen.question, Wanted(sets=model_sets(spec, exact, box, None)))
    return issue(
        spec,
        chosen,
        found,
        source=source,
        proof=proof,
        supersedes=supersedes,
        issued=day,
        valid_from=valid_from,
        platform=platform,
    )


def version_1(certificate: Certificate) -> dict[str, Any]:
    """What the first version of the format said of the same."""
    content = tree(certificate)
    content["version"] = 1
    del content["model"]["family"], content["model"]["repair"]
    content["policy"]["overridden"] = []
    content["supersedes"] = None
    content["claim"] = claims.claim(
        name=certificate.model.name,
        favourable=certificate.decision.favourable,
        sensitive=[item.name for item in certificate.sensitive_attributes],
        criterion=certificate.criterion,
        delta=certificate.delta,
        min_probability=certificate.min_probability,
        verdict=certificate.verdict,
        version=1,
    ).model_dump()
    if content["pattern_count_reason"]:
        content["pattern_count_reason"] = "the time limit was reached before all patterns were counted"
    return renamed(content)


def envelope(content: dict[str, Any], key: Ed25519PrivateKey = KEY, **statement: Any) -> bytes:
    """Sign any content as a certificate would be signed."""
    whole = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": content["model"]["name"], "digest": {"sha256": content["model"]["sha256"]}}],
        "predicateType": f"urn:auditor:certificate:v{content['version']}",
        "predicate": content,
        **statement,
    }
    return sealed(form_checker.canonical(whole).encode(), key)


def sealed(payload: bytes, key: Ed25519PrivateKey = KEY, kind: str = PAYLOAD_TYPE) -> bytes:
    """A signed DSSE envelope of any payload."""
    signature = {"keyid": key_id(key.public_key()), "sig": b64encode(key.sign(pae(kind, payload))).decode()}
    return (
        rfc8785.dumps(
            {"payload": b64encode(payload).decode(), "payloadType": kind, "signatures": [signature]}
        )
        + b"\n"
    )


def bare(content: dict[str, Any]) -> bytes:
    """A certificate that isn't signed."""
    return json.dumps(content).encode()


def renamed(content: dict[str, Any]) -> dict[str, Any]:
    """The content with the identifier that follows from it."""
    return {**content, "id": form_checker.digest({n: v for n, v in content.items() if n != "id"})[:32]}


def leaves(content: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every text, number, truth value and null."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield from leaves(value, (*place, name))
    elif isinstance(content, list) and content:
        for index, value in enumerate(content):
            yield from leaves(value, (*place, index))
    else:
        yield place


def put(content: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    changed = copy.deepcopy(content)
    part: Any = changed
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return changed


def at(content: Any, place: tuple[str | int, ...]) -> Any:
    """What stands at a place."""
    for step in place:
        content = content[step]
    return content
