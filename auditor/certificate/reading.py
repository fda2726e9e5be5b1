"""Reads certificates: bare, signed, or embedded in the PDF of a report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import rfc8785

from auditor.certificate import checker
from auditor.certificate.issuing import tree
from auditor.documents.certificate import Certificate
from auditor.documents.reading import validated
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.reading import read_bytes

KIND = "auditor/certificate"
VERSION = 1

#: A report has pictures; the certificate in it may still have no more than a bare one.
MAX_PDF_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True)
class Opened:
    """A certificate that was read, and what it came in.

    Attributes
    ----------
    certificate : Certificate
    data : bytes
        The JSON file, whole: the envelope, or the bare certificate.
    signed : bytes
        What the signature is over; empty if there is none.
    signature : bytes
    key_id : str
        Of the key that the envelope names; empty if it isn't signed.
    name : str
        Where it was read.
    """

    certificate: Certificate
    data: bytes
    signed: bytes
    signature: bytes
    key_id: str
    name: str

    @property
    def is_signed(self) -> bool:
        """Whether there is a signature, be it right or wrong."""
        return bool(self.signed)


def read_certificate(path: str | os.PathLike[str]) -> Opened:
    """Read a certificate from a JSON file, signed or not, or from the PDF in which it is embedded.

    Nothing is verified but that it can be read without doubt.

    Raises
    ------
    InputError
        If it can't, with one line per problem.
    """
    name = os.fspath(path)
    data = read_bytes(path, MAX_PDF_BYTES if Path(name).suffix.lower() == ".pdf" else checker.FILE_LIMIT)
    return open_certificate(embedded(data, name) if data.startswith(b"%PDF-") else data, name)


def open_certificate(data: bytes, name: str) -> Opened:
    """Take apart the bytes of a JSON file; see `read_certificate`."""
    source = escaped(name)
    if len(data) > checker.FILE_LIMIT:
        raise InputError(
            f"{source}: larger than {checker.FILE_LIMIT // 1024**2} MB; no certificate needs that"
        )
    try:
        content, _, signed, key_id, signature, _ = checker.unseal(data)
        if not isinstance(key_id, str):
            raise TypeError("the key identifier is not text")
    except checker.UNREADABLE as error:
        raise InputError(
            f"{source}: neither a certificate nor a signed envelope of one: {_said(error)}"
        ) from error
    certificate = _validated(content, name)
    return Opened(certificate, data, signed, signature, key_id, name)


def embedded(data: bytes, name: str) -> bytes:
    """Return the certificate that is embedded in a PDF, the signed one if there are both.

    Raises
    ------
    InputError
        If there is none, or more than one of a kind.
    """
    # A tenth of a second that no other command has to wait for.
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    source = escaped(name)
    found: dict[bool, set[bytes]] = {True: set(), False: set()}
    try:
        for contents in PdfReader(BytesIO(data)).attachments.values():
            for content in contents:
                if (signed := _is_certificate(content)) is not None:
                    found[signed].add(content)
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError) as error:
        raise InputError(f"{source}: not a PDF that can be read: {_said(error)}") from error
    candidates = found[True] or found[False]
    if len(candidates) != 1:
        said = "no certificate is embedded in it" if not candidates else "it holds more than one certificate"
        raise InputError(f"{source}: {said}")
    return candidates.pop()


def _is_certificate(data: bytes) -> bool | None:
    """Whether an attachment is a signed certificate; None if it is none at all."""
    try:
        document = checker.read_json(data)
    except checker.UNREADABLE:
        return None
    if not isinstance(document, dict):
        return None
    return "payload" in document if "payload" in document or document.get("kind") == KIND else None


def _validated(content: Any, name: str) -> Certificate:
    try:
        certificate = validated(Certificate, content, name, json=rfc8785.dumps(content))
    except rfc8785.CanonicalizationError as error:
        raise InputError(f"{escaped(name)}: {error}") from error
    if tree(certificate) != content:
        raise InputError(f"{escaped(name)}: a value is written in a way that certificates don't use")
    return certificate


def _said(error: Exception) -> str:
    """The reason on one line of bounded length."""
    return escaped(str(error) or type(error).__name__)[:200]
