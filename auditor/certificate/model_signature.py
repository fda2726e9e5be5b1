"""Reads the OpenSSF Model Signature (OMS) of a model's files, for the digest that the model is signed under.

The signature itself is checked by who made it or by those who have its key; here it only has to be of the
file that is certified.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from auditor.certificate import checker, form_checker
from auditor.certificate.signing import PAYLOAD_TYPE
from auditor.documents.certificate import STATEMENT_TYPE
from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.model.reading import read_bytes

PREDICATE_TYPE = "https://model_signing/signature/v1.0"


def signed_subject(path: Path, file_sha256: str) -> tuple[str, str]:
    """Return the name and the SHA-256 under which a model signature signs the files of a model.

    The digest is that over the digests of all signed files, in their order, which the signature's in-toto
    statement has as its subject.

    Parameters
    ----------
    path : Path
        A Sigstore bundle, as the tools of OMS write it.
    file_sha256 : str
        Digest of the model file, which must be one of those that are signed.

    Raises
    ------
    InputError
        If it can't be read, contradicts itself, or signs no such file.
    """
    name = escaped(os.fspath(path))
    try:
        envelope = json.loads(read_bytes(path))["dsseEnvelope"]
        statement = form_checker.read_json(base64.b64decode(envelope["payload"], validate=True))
        kinds = envelope["payloadType"], statement["_type"], statement["predicateType"]
        (subject,) = statement["subject"]
        signed, root = str(subject["name"]), str(subject["digest"]["sha256"])
        resources: list[dict[str, Any]] = statement["predicate"]["resources"]
        digests = [str(resource["digest"]) for resource in resources]
        computed = hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()
    except checker.UNREADABLE as error:
        raise InputError(f"{name}: not a model signature (OMS, in a Sigstore bundle)") from error
    if kinds != (PAYLOAD_TYPE, STATEMENT_TYPE, PREDICATE_TYPE):
        raise InputError(
            f"{name}: a signature of {shown(kinds[2])}; a model signature is of {PREDICATE_TYPE}"
        )
    if computed != root:
        raise InputError(f"{name}: contradicts itself: its digest is not that of the files it lists")
    if file_sha256 not in digests:
        raise InputError(
            f"{name}: signs no file with the SHA-256 of the model file, {file_sha256}; sign the folder that "
            "the model file is in, file by file and with SHA-256"
        )
    return signed, root
