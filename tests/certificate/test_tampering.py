"""Nothing of a certificate can be changed unnoticed by others, and nothing of its answer by the issuer."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.certificate import checker
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.signing import sign
from auditor.certificate.verifying import verify
from auditor.errors import InputError
from tests.certificate.making import (
    AGAINST,
    DAY,
    KEY,
    OTHER_KEY,
    at,
    bare,
    envelope,
    leaves,
    made,
    put,
    renamed,
)

SIGNED = sign(made(), KEY)
CONTENT = tree(made())
PLACES = list(leaves(CONTENT))


def accepted(data: bytes) -> bool:
    """Whether a file is read and holds, signed by the right key."""
    try:
        return verify(open_certificate(data, "cert.json"), AGAINST).result == "holds"
    except InputError:
        return False


def failures(data: bytes) -> set[str]:
    """The names of the checks that fail."""
    checks = verify(open_certificate(data, "cert.json"), AGAINST).checks
    return {check.name for check in checks if check.outcome == "failed"}


def failures_of_checker(data: bytes) -> set[str]:
    """The same by the checker, which knows no key here."""
    try:
        return {name for name, holds, _ in checker.examine(data, None, DAY) if holds is False}
    except checker.UNREADABLE:
        return {"unreadable"}


def other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case None:
            return "x"
        case []:
            return ["x"]
    if value.isdigit():
        return str(int(value) + 1)
    if len(value) == 10 and value[4] == "-":
        return "2026-12-01"
    swapped = {"difference": "ratio", "not-delta-fair": "delta-fair"}
    return swapped.get(value, f"{value[:-1]}{chr(ord(value[-1]) ^ 1)}")


def test_as_it_is_it_holds() -> None:
    assert accepted(SIGNED)
    assert envelope(CONTENT) == SIGNED


def test_every_byte_counts() -> None:
    """Of the payload, whose bytes are all hashed, every third is tried; a byte of base64 holds six bits."""
    payload = range(SIGNED.index(b'"payload":"') + 20, SIGNED.index(b'","payloadType"') - 10)
    for index in range(len(SIGNED)):
        if index in payload and index % 3:
            continue
        assert not accepted(SIGNED[:index] + bytes([SIGNED[index] ^ 1]) + SIGNED[index + 1 :]), index


def test_bytes_outside_the_payload_may_be_nothing_else() -> None:
    start = SIGNED.index(b'"payload":"') + len(b'"payload":"')
    end = SIGNED.index(b'"', start)
    for index in (*range(start), *range(end - 6, len(SIGNED))):
        now = SIGNED[index]
        for value in {*b' A9="\\{,', now ^ 0x20, now ^ 0x80} - {now}:
            assert not accepted(SIGNED[:index] + bytes([value]) + SIGNED[index + 1 :]), (index, value)


def test_no_byte_can_be_added_or_left_out() -> None:
    assert not accepted(SIGNED + b"\n")
    assert not accepted(SIGNED[:-1])
    assert not accepted(b" " + SIGNED)
    assert not accepted(SIGNED.replace(b'","payloadType"', b'", "payloadType"'))
    assert not accepted(SIGNED.replace(b"{", b'{"also":1,', 1))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_a_field_changed_and_signed_with_another_key_is_rejected(place: tuple[str | int, ...]) -> None:
    changed = put(CONTENT, place, other(at(CONTENT, place)))
    assert not accepted(envelope(changed, OTHER_KEY))
    assert not accepted(envelope(renamed(changed), OTHER_KEY))


#: What only the issuer can know. All else follows from the model and the question, and is recomputed.
OWN_WORDS = {
    "issued",
    "valid_from",
    "expires",
    "supersedes",
    "issuer",
    "responsible",
    "policy.sha256",
    "platform",
    "tool",
    "model.provenance",
    "sensitive_attributes.0.reason",
}


def is_own_word(place: tuple[str | int, ...]) -> bool:
    """Whether the issuer alone answers for what stands there."""
    name = ".".join(map(str, place))
    return any(name == own or name.startswith(f"{own}.") for own in OWN_WORDS)


@pytest.mark.parametrize(
    "place",
    [place for place in PLACES if not is_own_word(place) and place[0] not in ("id", "kind", "version")],
    ids=lambda place: ".".join(map(str, place)),
)
def test_what_can_be_recomputed_is_rejected_with_the_right_key_too(place: tuple[str | int, ...]) -> None:
    changed = renamed(put(CONTENT, place, other(at(CONTENT, place))))
    data = envelope(changed)
    assert not accepted(data)
    assert failures_of_checker(data)


@pytest.mark.parametrize("place", [("id",), ("model", "sha256")])
def test_a_digest_that_does_not_match_is_rejected_with_the_right_key_too(place: tuple[str, ...]) -> None:
    data = envelope(put(CONTENT, place, "0" * len(str(at(CONTENT, place)))))
    assert failures(data)
    assert failures_of_checker(data)


def fair() -> dict[str, Any]:
    """The certificate of an unfair model, altered to say in all its parts that the model is fair."""
    changed = put(CONTENT, ("verdict",), "delta-fair")
    changed["max_degree"] = {"exact": "1/10", "lower": "0.1", "upper": "0.1"}
    changed["pattern_count"] = "0"
    changed["coverage"] = [{**row, "patterns": "0"} for row in changed["coverage"]]
    changed["claim"] = tree(made("0.3"))["claim"]
    changed["claim"] = {name: text.replace("0.3", "0.2") for name, text in changed["claim"].items()}
    changed["witness"]["degree"] = "1/10"
    return renamed(changed)


def test_a_verdict_altered_and_signed_with_the_right_key_is_rejected_by_recomputation() -> None:
    simple = envelope(renamed(put(CONTENT, ("verdict",), "delta-fair")))
    assert not accepted(simple)
    assert failures_of_checker(simple) == {"unreadable"}
    thorough = envelope(fair())
    assert {"witness", "verdict", "count", "largest degree"} <= failures(thorough)
    assert {"witness", "verdict", "count", "largest degree"} <= failures_of_checker(thorough)


def test_a_fair_witness_in_place_of_the_worst_does_not_help() -> None:
    """Every number of the witness is true, but another pattern is worse."""
    changed = fair()
    changed["witness"] = tree(made())["witness"] | {
        "sensitive_values": {"X": "x"},
        "context_values": {},
        "degree": "3/35",
        "probability": "14/25",
        "favourable_given_pattern": "2/7",
        "favourable_given_context": "1/5",
    }
    changed["max_degree"] = {"exact": "3/35", "lower": "0.085714285714", "upper": "0.085714285715"}
    data = envelope(renamed(changed))
    assert "witness" not in failures(data) | failures_of_checker(data)
    assert {"verdict", "count", "largest degree"} <= failures(data)
    assert {"verdict", "count", "largest degree"} <= failures_of_checker(data)


def test_an_unsigned_certificate_protects_itself_from_accidents_only() -> None:
    question = type(AGAINST)(at=DAY)
    changed = bare(put(CONTENT, ("issuer",), "Someone else"))
    assert verify(open_certificate(changed, "x"), question).result == "does not hold"
    own = bare(renamed(put(CONTENT, ("issuer",), "Someone else")))
    found = verify(open_certificate(own, "x"), question)
    assert found.result == "contents hold"
    assert found.certificate.names_key is None


@pytest.mark.parametrize(
    "statement",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v1"},
        {"subject": []},
        {"subject": [{"name": "another", "digest": {"sha256": "0" * 64}}]},
        {"more": 1},
    ],
)
def test_another_statement_signed_with_the_right_key_is_rejected(statement: dict[str, Any]) -> None:
    data = envelope(CONTENT, **statement)
    assert not accepted(data)
    assert failures_of_checker(data) == {"unreadable"}
