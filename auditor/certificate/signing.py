"""Signs certificates: Ed25519 over a DSSE envelope that holds an in-toto Statement.

The formats are those of the DSSE specification 1.0.2 and of the in-toto attestation framework, Statement v1.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from auditor.certificate import checker
from auditor.certificate.issuing import tree
from auditor.documents.certificate import STATEMENT_TYPE, Certificate
from auditor.errors import InputError, OutputError
from auditor.messages import escaped
from auditor.model.reading import read_bytes
from auditor.output import PRIVATE, write_new

PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "urn:auditor:certificate:v2"

#: A passphrase comes from here or from a prompt: an option would be seen by everyone on the machine.
PASSPHRASE_VARIABLE = "AUDITOR_KEY_PASSPHRASE"

_MAX_KEY_BYTES = 64 * 1024
_MAX_PASSPHRASE_BYTES = 1023


@dataclass(frozen=True)
class KeyPair:
    """Where the two halves of a new key are, and the identifier by which an envelope names it."""

    private: Path
    public: Path
    key_id: str


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding of DSSE, which is what gets signed.

    >>> pae("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def statement(certificate: Certificate) -> dict[str, Any]:
    """Return the in-toto Statement whose subject is the model and whose predicate is the certificate."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": certificate.model.name, "digest": {"sha256": certificate.model.sha256}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": tree(certificate),
    }


def sign(certificate: Certificate, key: Ed25519PrivateKey) -> bytes:
    """Return a certificate in a signed envelope, as the bytes of a file."""
    return signed(statement(certificate), key)


def signed(content: dict[str, Any], key: Ed25519PrivateKey) -> bytes:
    """Return a statement in a signed envelope, as the bytes of a file: canonical JSON and one newline.

    Ed25519 is deterministic: the same statement and key give the same bytes.
    """
    payload = rfc8785.dumps(content)
    signature = {"keyid": key_id(key.public_key()), "sig": _base64(key.sign(pae(PAYLOAD_TYPE, payload)))}
    return (
        rfc8785.dumps({"payload": _base64(payload), "payloadType": PAYLOAD_TYPE, "signatures": [signature]})
        + b"\n"
    )


def is_signed_by(signed: bytes, signature: bytes, key: Ed25519PublicKey) -> bool:
    """Whether the signature over these bytes is by this key."""
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def key_id(key: Ed25519PublicKey) -> str:
    """Return the identifier of a key: the SHA-256 of its SubjectPublicKeyInfo in DER."""
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def generate(path: Path, passphrase: str | None = None) -> KeyPair:
    """Make a key pair: ``key.pem``, which only its owner may read, and ``key.pub.pem``.

    Parameters
    ----------
    path : Path
        Where the private key goes.
    passphrase : str, optional
        Encrypts the private key.

    Raises
    ------
    OutputError
        If one of the two files exists, or can't be written; then neither is left behind.
    InputError
        If the passphrase is too long.
    """
    secret = (passphrase or "").encode("utf-8", "surrogateescape")
    if len(secret) > _MAX_PASSPHRASE_BYTES:
        raise InputError(
            f"the passphrase has {len(secret):,} bytes; a key takes up to {_MAX_PASSPHRASE_BYTES:,}"
        )
    if path.name in ("", "..") or path.is_dir():
        raise OutputError(
            f"{escaped(os.fspath(path))}: can't be written: it is a folder; give the name of a file in it"
        )
    public_path = path.with_name(f"{path.stem}.pub{path.suffix or '.pem'}")
    key = Ed25519PrivateKey.generate()
    encryption = BestAvailableEncryption(secret) if secret else NoEncryption()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    write_new(path, private, mode=PRIVATE)
    try:
        write_new(public_path, public)
    except BaseException:
        path.unlink()
        raise
    return KeyPair(path, public_path, key_id(key.public_key()))


def load_private_key(path: Path, passphrase: Callable[[], str]) -> Ed25519PrivateKey:
    """Read a private key in PEM.

    Parameters
    ----------
    passphrase : callable
        Asked only if the key is encrypted.

    Raises
    ------
    InputError
        If it is no Ed25519 key, or the passphrase is wrong.
    """
    data = read_bytes(path, _MAX_KEY_BYTES)
    name = escaped(os.fspath(path))
    try:
        try:
            key = load_pem_private_key(data, None)
        except TypeError:  # the key is encrypted
            key = load_pem_private_key(data, passphrase().encode("utf-8", "surrogateescape"))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError(f"{name}: not a private key in PEM, or the passphrase is wrong") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{name}: not an Ed25519 key; make one with `auditor keygen`")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key in PEM.

    Raises
    ------
    InputError
        If it is no Ed25519 key, or a weak one.
    """
    data = read_bytes(path, _MAX_KEY_BYTES)
    name = escaped(os.fspath(path))
    if b"PRIVATE KEY" in data:
        raise InputError(f"{name}: a private key; give the public one, which ends in .pub.pem")
    try:
        return Ed25519PublicKey.from_public_bytes(checker.public_key(data))
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
