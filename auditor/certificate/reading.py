"""Reads certificates: bare, signed, or embedded in the PDF of a report."""

from __future__ import annotations

import base64
import binascii
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import rfc8785

from auditor.certificate import checker, form_checker
from auditor.certificate.signing import pae
from auditor.documents.certificate import TEST_RESULT, Certificate
from auditor.documents.reading import validated
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.parsing import parse
from auditor.model.reading import read_bytes

KIND = "auditor/certificate"
#: Versions that are read; the last one is written.
VERSIONS = (1, 2)

#: A report has pictures; the certificate in it may still have no more than a bare one.
MAX_PDF_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True)
class Opened:
    """A certificate that was read, and what it came in."""

    certificate: Certificate
    """One of version 1 has nulls for what that version doesn't say."""
    data: bytes
    """The JSON file, whole: the envelope, or the bare certificate."""
    content: dict[str, Any]
    """The certificate as it stands there."""
    signed: bytes
    """What the signature is over; empty if there is none."""
    signature: bytes
    key_id: str
    """Of the key that the envelope names; empty if it isn't signed."""
    name: str
    """Where it was read."""
    from_pdf: bool = False
    """Whether it is embedded in a PDF, whose pages then are another matter."""
    differing: int = 0
    """Certificates in the same PDF that say something else."""
    around: dict[str, Any] | None = None
    """What it stands within, if that is a form of other tools: an in-toto test result or a CycloneDX ML-BOM.
    """
    seal: tuple[bytes, bytes] | None = None
    """What is signed of that form, and the signature; the certificate in it has one of its own."""

    @property
    def is_signed(self) -> bool:
        """Whether there is a signature, be it right or wrong."""
        return bool(self.signed)

    @property
    def readable(self) -> str:
        """The certificate as JSON for people, without its envelope."""
        if self.content["version"] == VERSIONS[-1]:
            return to_json(self.certificate)
        return json.dumps(self.content, indent=2) + "\n"

    @cached_property
    def sha256(self) -> str:
        """The digest by which another certificate names this one, signed or not."""
        return form_checker.digest(self.content)


def read_certificate(path: str | os.PathLike[str]) -> Opened:
    """Read a certificate from a JSON file, signed or not, or from the PDF or JSON in which it is embedded.

    Nothing is verified but that `certify` can have written it. Of what stands around it in a form of other
    tools nothing is looked at.

    Raises
    ------
    InputError
        If it can't, with one line per problem.
    """
    name = os.fspath(path)
    data = read_bytes(path, MAX_PDF_BYTES if Path(name).suffix.lower() == ".pdf" else form_checker.FILE_LIMIT)
    if not data.startswith(b"%PDF-"):
        return _open_held(data, name) or open_certificate(data, name)
    chosen, others = embedded(data, name)
    opened = open_certificate(chosen, name)
    differing = sum(_content(other) != opened.content for other in others)
    return replace(opened, from_pdf=True, differing=differing)


def _open_held(data: bytes, name: str) -> Opened | None:
    """Take a certificate out of an in-toto test result or a CycloneDX ML-BOM; None if it is neither.

    Raises
    ------
    InputError
        If there is none in it.
    """
    around, seal = _json(data), None
    try:
        if isinstance(around, dict) and "payload" in around:
            payload = base64.b64decode(around["payload"])
            seal = pae(around["payloadType"], payload), base64.b64decode(around["signatures"][0]["sig"])
            around = _json(payload)
    except checker.UNREADABLE:
        return None
    if not isinstance(around, dict):
        return None
    is_bill = around.get("bomFormat") == "CycloneDX"
    if not is_bill and around.get("predicateType") != TEST_RESULT:
        return None
    try:
        inner = base64.b64decode(
            around["components"][0]["data"][0]["contents"]["attachment"]["content"]
            if is_bill
            else around["predicate"]["configuration"][0]["content"],
            validate=True,
        )
    except checker.UNREADABLE as error:
        form = "CycloneDX ML-BOM" if is_bill else "in-toto test result"
        raise InputError(f"{escaped(name)}: a {form} without a certificate of this program in it") from error
    return replace(open_certificate(inner, name), around=around, seal=seal)


def open_certificate(data: bytes, name: str) -> Opened:
    """Take apart the bytes of a JSON file; see `read_certificate`."""
    source = escaped(name)
    if len(data) > form_checker.FILE_LIMIT:
        raise InputError(
            f"{source}: larger than {form_checker.FILE_LIMIT // 1024**2} MB; no certificate needs that"
        )
    try:
        content, signed, key_id, signature = form_checker.read(data)
    except checker.UNREADABLE as error:
        raise _refusal(data, name, error) from error
    return Opened(_document(content, name), data, content, signed, signature, key_id, name)


def embedded(data: bytes, name: str) -> tuple[bytes, tuple[bytes, ...]]:
    """Return the certificate that is embedded in a PDF, the signed one if there are both; and the others.

    Raises
    ------
    InputError
        If there is none, or more than one that could be meant.
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
    (chosen,) = candidates
    return chosen, tuple((found[True] | found[False]) - candidates)


def _content(data: bytes) -> Any:
    """What an attachment says; None if it can't be read as a certificate."""
    try:
        return form_checker.read(data)[0]
    except checker.UNREADABLE:
        return None


def _json(data: bytes) -> Any:
    """An attachment or a file as JSON; None if it is none."""
    try:
        return form_checker.read_json(data)
    except checker.UNREADABLE:
        return None


def _is_certificate(data: bytes) -> bool | None:
    """Whether an attachment is a signed certificate; None if it is none at all."""
    document = _json(data)
    if not isinstance(document, dict):
        return None
    return "payload" in document if "payload" in document or document.get("kind") == KIND else None


def _refusal(data: bytes, name: str, error: Exception) -> InputError:
    """Why a file is no certificate: its kind or version, each value that can't be, or what is at odds."""
    try:
        try:
            content = form_checker.read_json(data)
        except checker.UNREADABLE:
            # Says in its words why it can't be read, if that is why; a document of another kind is told so.
            tree = parse(data, name, "json").tree
            if isinstance(tree, dict) and tree.get("kind") not in (None, KIND):
                validated(Certificate, {"kind": tree["kind"], "version": VERSIONS[-1]}, name)
            raise
        if isinstance(content, dict) and "payload" in content:
            content = form_checker.read_json(base64.b64decode(content["payload"]))["predicate"]
        _document(content, name)
    except InputError as refused:
        return refused
    except (*checker.UNREADABLE, rfc8785.CanonicalizationError):
        pass
    said = f"neither a certificate nor a signed envelope of one: {_said(error)}"
    return InputError(f"{escaped(name)}: {said}")


def _document(content: Any, name: str) -> Certificate:
    """The document of a certificate; version 1 says in words what its scope was before."""
    lifted = content
    if isinstance(content, dict) and (content.get("kind"), content.get("version")) == (KIND, 1):
        before = content["supersedes"]
        kept = ("id", "sha256", "scope_change_reason")
        policy = {"sha256": content["policy"]["sha256"], "overridden": {}}
        supersedes = before and {key: before[key] for key in kept} | {"verified_with": None, "scope": None}
        lifted = content | {"supersedes": supersedes, "policy": policy}
    return validated(Certificate, lifted, name, json=rfc8785.dumps(lifted))


def _said(error: Exception) -> str:
    """The reason on one line of bounded length."""
    if isinstance(error, KeyError):
        return f"{escaped(str(error.args[0]))} is missing"
    if isinstance(error, binascii.Error | UnicodeDecodeError | json.JSONDecodeError):
        return "what is signed is no JSON in base64"
    if isinstance(error, AttributeError | IndexError | RecursionError | TypeError):
        return "its parts are not those of a certificate"
    return escaped(str(error) or type(error).__name__)[:200]
