"""Keys and envelopes, beside the DSSE specification and another implementation of it."""

from __future__ import annotations

import json
import stat
from base64 import b64decode
from pathlib import Path

import pytest
import rfc8785
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from auditor.certificate.issuing import tree
from auditor.certificate.signing import (
    generate,
    is_signed_by,
    key_id,
    load_private_key,
    load_public_key,
    pae,
    sign,
)
from auditor.errors import InputError, OutputError
from tests.certificate.making import KEY, OTHER_KEY, made, private_pem, public_pem

#: The test vector of the DSSE specification (protocol.md, version 1.0.2): ECDSA over P-256, SHA-256.
VECTOR_TYPE, VECTOR_BODY = "http://example.com/HelloWorld", b"hello world"
VECTOR_PAE = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
VECTOR_X = 46950820868899156662930047687818585632848591499744589407958293238635476079160
VECTOR_Y = 5640078356564379163099075877009565129882514886557779369047442380624545832820
VECTOR_SIG = "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="


def passphrase() -> str:
    """What a user would type."""
    return "correct horse"


def nobody() -> str:
    raise AssertionError("the passphrase must not be asked for")


def test_the_vector_of_the_specification() -> None:
    assert pae(VECTOR_TYPE, VECTOR_BODY) == VECTOR_PAE
    key = EllipticCurvePublicNumbers(VECTOR_X, VECTOR_Y, ec.SECP256R1()).public_key()
    raw = b64decode(VECTOR_SIG)
    signature = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    key.verify(signature, pae(VECTOR_TYPE, VECTOR_BODY), ECDSA(SHA256()))


def test_lengths_are_counted_in_bytes() -> None:
    assert pae("δ", "ä€".encode()) == "DSSEv1 2 δ 5 ä€".encode()
    assert pae("", b"") == b"DSSEv1 0  0 "


def test_securesystemslib_verifies_the_envelope() -> None:
    data = sign(made(), KEY)
    found = Envelope.from_dict(json.loads(data))
    key = SSlibKey.from_crypto(KEY.public_key(), key_id(KEY.public_key()))
    assert list(found.verify([key], 1)) == [key.keyid]
    assert found.payload_type == "application/vnd.in-toto+json"
    statement = json.loads(found.payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "urn:auditor:certificate:v2"
    assert statement["predicate"] == tree(made())
    [subject] = statement["subject"]
    assert subject == {"name": made().model.name, "digest": {"sha256": made().model.sha256}}


def test_the_payload_and_the_file_are_canonical_json() -> None:
    data = sign(made(), KEY)
    assert rfc8785.dumps(json.loads(data)) + b"\n" == data
    payload = b64decode(json.loads(data)["payload"])
    assert rfc8785.dumps(json.loads(payload)) == payload


def test_another_key_did_not_sign_it() -> None:
    signature = KEY.sign(b"it")
    assert is_signed_by(b"it", signature, KEY.public_key())
    assert not is_signed_by(b"it", signature, OTHER_KEY.public_key())
    assert not is_signed_by(b"It", signature, KEY.public_key())
    assert not is_signed_by(b"it", signature[:-1], KEY.public_key())


def test_a_new_pair_signs_and_is_for_its_owner(tmp_path: Path) -> None:
    pair = generate(tmp_path / "key.pem")
    assert (pair.private.name, pair.public.name) == ("key.pem", "key.pub.pem")
    assert stat.S_IMODE(pair.private.stat().st_mode) == 0o600
    private, public = load_private_key(pair.private, nobody), load_public_key(pair.public)
    assert pair.key_id == key_id(public)
    assert is_signed_by(b"it", private.sign(b"it"), public)


def test_a_new_pair_is_another_one(tmp_path: Path) -> None:
    assert generate(tmp_path / "a").key_id != generate(tmp_path / "b").key_id
    assert (tmp_path / "a.pub.pem").exists()


def test_an_encrypted_key_needs_its_passphrase(tmp_path: Path) -> None:
    pair = generate(tmp_path / "key.pem", passphrase())
    assert b"ENCRYPTED" in pair.private.read_bytes()
    private = load_private_key(pair.private, passphrase)
    assert key_id(private.public_key()) == pair.key_id
    with pytest.raises(InputError, match="the passphrase is wrong"):
        load_private_key(pair.private, lambda: "wrong")


@pytest.mark.parametrize("taken", ["key.pem", "key.pub.pem"])
def test_a_key_is_never_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("precious")
    with pytest.raises(OutputError, match="exists already"):
        generate(tmp_path / "key.pem")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "precious"


def test_a_key_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="can't be written"):
        generate(tmp_path / "no" / "key.pem")


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def test_other_keys_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    key = rsa.generate_private_key(65537, 2048)
    path.write_bytes(pem(key))
    with pytest.raises(InputError, match="not an Ed25519 key; make one with"):
        load_private_key(path, nobody)
    with pytest.raises(InputError, match="a private key; give the public one"):
        load_public_key(path)
    path.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    with pytest.raises(InputError, match="not an Ed25519 public key in PEM, which"):
        load_public_key(path)
    with pytest.raises(InputError, match="not a private key"):
        load_private_key(path, nobody)
    for data in (b"", b"\xff", b"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n"):
        path.write_bytes(data)
        with pytest.raises(InputError, match="not an Ed25519 public key"):
            load_public_key(path)
    with pytest.raises(InputError, match="no such file"):
        load_public_key(tmp_path / "none.pem")


def test_keys_of_openssl_are_read(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(private_pem())
    (tmp_path / "key.pub.pem").write_bytes(public_pem())
    assert key_id(load_private_key(tmp_path / "key.pem", nobody).public_key()) == key_id(
        load_public_key(tmp_path / "key.pub.pem")
    )
