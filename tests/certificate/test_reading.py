"""Reading certificates: what can't be read without doubt is refused."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from pypdf import PdfWriter

from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate, read_certificate
from auditor.certificate.signing import sign
from auditor.errors import InputError
from tests.certificate.making import KEY, OTHER_KEY, bare, envelope, made, put, sealed

CONTENT = tree(made())
TEXT = json.dumps(CONTENT)


def without(*place: str | int) -> bytes:
    """The certificate without one of its parts."""
    changed: Any = json.loads(TEXT)
    part = changed
    for step in place[:-1]:
        part = part[step]
    del part[place[-1]]
    return bare(changed)


def changed(value: Any, *place: str | int) -> bytes:
    """The certificate with another value at a place."""
    return bare(put(CONTENT, place, value))


#: What is wrong, the bytes, and a part of the complaint.
BAD = {
    "empty": (b"", "the file is empty"),
    "not UTF-8": (b"{\xff", "not UTF-8 text (byte 0xff at position 1)"),
    "UTF-16": (TEXT.encode("utf-16"), "the text is UTF-16; save it as UTF-8"),
    "not JSON": (b"{", "line 1, column 2: not JSON: a key in double quotes"),
    "text after the end": (TEXT.encode() + b"x", "not JSON: something follows the end"),
    "a model": (b'{"kind": "auditor/model", "smoothing": 0.5}', '"auditor/model" is not a certificate'),
    "no list of signatures": (b'{"payload": "e30="}', "signatures is missing"),
    "no base64": (b'{"payload": "!", "signatures": [{"keyid": "", "sig": "e30="}]}', "no JSON in base64"),
    "a list": (b"[]", '"kind" is missing; a certificate says'),
    "a number": (b"1", '"kind" is missing; a certificate says'),
    "null": (b"null", '"kind" is missing; a certificate says'),
    "deeply nested": (b"[" * 10**6, "nested more than 32 deep"),
    "a name twice": (TEXT.replace("{", '{"id": "0", ', 1).encode(), "a name twice in one object"),
    "a name twice deep inside": (
        TEXT.replace('"exact": {', '"exact": {"prior": "1/2", ', 1).encode(),
        "a name twice in one object",
    ),
    "NaN": (TEXT.replace('"issuer": null', '"issuer": NaN').encode(), "a certificate can't have NaN"),
    "Infinity": (
        TEXT.replace('"issuer": null', '"issuer": -Infinity').encode(),
        "a certificate can't have -Infinity",
    ),
    "a decimal": (TEXT.replace('"version": 2', '"version": 2.0').encode(), "a certificate can't have 2.0"),
    "a huge integer": (changed(10**30, "version"), "a certificate can't have 1000"),
    "half of a surrogate pair": (changed("\ud800", "issuer"), "cert.json: "),
    "another kind": (changed("auditor/model", "kind"), '"auditor/model" is not a certificate'),
    "no kind": (without("kind"), '"kind" is missing; a certificate says'),
    "the next major version": (
        changed(3, "version"),
        "version: 3 is not supported; this auditor reads versions 1 and 2",
    ),
    "version zero": (changed(0, "version"), "version: 0 is not supported"),
    "version as text": (changed("1", "version"), 'version: "1" is not supported'),
    "version true": (changed(True, "version"), "version: true is not supported"),
    "no version": (without("version"), "version: null is not supported"),
    "a path in the id": (changed("../../etc/passwd", "id"), 'id: "../../etc/passwd" does not match'),
    "an absolute path in the id": (changed("/etc/passwd", "id"), 'id: "/etc/passwd" does not match'),
    "a long id": (changed("0" * 33, "id"), "id: "),
    "an id in capitals": (changed("A" * 32, "id"), "id: "),
    "a path in the id that it supersedes": (
        changed(
            {"id": "../x", "sha256": "0" * 64, "verified_with": None, "scope_change_reason": None},
            "supersedes",
        ),
        "supersedes.id: ",
    ),
    "an unknown name": (changed(1, "extra"), 'cert.json: unknown key "extra"; take it out; known are'),
    "an unknown name inside": (changed(1, "model", "exact", "extra"), 'model.exact: unknown key "extra"'),
    "a part missing": (without("witness"), 'cert.json: "witness" is missing; add it'),
    "a part of a part missing": (without("model", "sha256"), 'model: "sha256" is missing; add it'),
    "a digest too short": (changed("00", "model", "sha256"), "model.sha256"),
    "no such verdict": (changed("fair", "verdict"), "verdict"),
    "no such criterion": (changed("quotient", "criterion"), "criterion"),
    "no such method": (changed("guessed", "coverage", 0, "method"), "coverage[0].method"),
    "delta with an exponent": (changed("2e-1", "delta"), "delta"),
    "a negative delta": (changed("-0.1", "delta"), "delta"),
    "a count as a number": (changed(1, "pattern_count"), "pattern_count"),
    "a count with a sign": (changed("+1", "pattern_count"), "pattern_count"),
    "a fraction over zero": (changed("1/0", "witness", "degree"), "witness.degree"),
    "a fraction with a leading zero": (changed("01/2", "witness", "degree"), "witness.degree"),
    "a day that is none": (changed("2026-02-30", "issued"), "issued"),
    "a time for a day": (changed("2026-11-27T00:00:00", "issued"), "cert.json: "),
    "a number for a day": (changed(1, "issued"), "issued"),
    "a list for a text": (changed([], "issuer"), "issuer"),
    "a text for a list": (changed("x", "limits"), "limits"),
    "a witness of nothing": (changed({}, "witness", "sensitive_values"), "witness.sensitive_values"),
    "a model that is none": (
        changed([], "model"),
        "model: a list stands where a mapping belongs; give its keys: ",
    ),
    "a payload that is no text": (b'{"payload": 1}', "neither a certificate"),
    "no signature": (
        rfc8785.dumps({"payload": "e30=", "payloadType": "x", "signatures": []}),
        "neither a certificate",
    ),
    "two signatures": (
        rfc8785.dumps({"payload": "e30=", "payloadType": "x", "signatures": [{"keyid": "", "sig": ""}] * 2}),
        "neither a certificate",
    ),
    "a key identifier that is no text": (
        rfc8785.dumps(
            {
                "payload": b64encode(b'{"predicate": {}}').decode(),
                "payloadType": "x",
                "signatures": [{"keyid": 1, "sig": ""}],
            }
        ),
        '"kind" is missing; a certificate says',
    ),
    "a payload without a predicate": (sealed(b"{}"), "neither a certificate"),
    "a payload that is no JSON": (sealed(b"\x00"), "neither a certificate"),
    "a payload with a name twice": (sealed(b'{"predicate": 1, "predicate": {}}'), "a name twice"),
    "a payload with NaN": (sealed(b'{"predicate": NaN}'), "a certificate can't have NaN"),
    "an envelope in an envelope": (
        sealed(b'{"predicate": {"payload": ""}}'),
        '"kind" is missing; a certificate says',
    ),
    "an envelope of another version": (
        envelope(put(CONTENT, ("version",), 3)),
        "version: 3 is not supported",
    ),
    "control characters": (changed("\x1b[2J\n", "verdict"), "\\x1b[2J\\n"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name: str, tmp_path: Path) -> None:
    data, complaint = BAD[name]
    with pytest.raises(InputError) as error:
        open_certificate(data, "cert.json")
    assert complaint in str(error.value)
    assert all(line.startswith("cert.json: ") and line.isprintable() for line in error.value.problems)


def test_all_problems_at_once() -> None:
    data = put(put(CONTENT, ("delta",), "x"), ("id",), "x")
    with pytest.raises(InputError) as error:
        open_certificate(bare(data), "cert.json")
    assert len(error.value.problems) == 2


@pytest.mark.parametrize("suffix", [".json", ".pdf"])
def test_a_huge_file_is_refused_unread(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cert{suffix}"
    with path.open("wb") as file:
        file.write(b"%PDF-1.7\n" if suffix == ".pdf" else b"{")
        file.truncate(100 * 10**6 if suffix == ".json" else 200 * 10**6)
    with pytest.raises(InputError, match="larger than"):
        read_certificate(path)
    with pytest.raises(InputError, match="larger than 32 MB"):
        open_certificate(b" " * (33 * 2**20), "x")


def test_a_bare_and_a_signed_one(tmp_path: Path) -> None:
    path = tmp_path / "cert.json"
    path.write_bytes(bare(CONTENT))
    opened = read_certificate(path)
    assert opened.certificate == made()
    assert not opened.is_signed
    path.write_bytes(sign(made(), KEY))
    opened = read_certificate(path)
    assert opened.certificate == made()
    assert opened.is_signed


def test_a_recursion_limit_is_no_crash() -> None:
    nested = b'{"kind": ' + b"[" * (sys.getrecursionlimit() * 2) + b"]" * (sys.getrecursionlimit() * 2) + b"}"
    with pytest.raises(InputError):
        open_certificate(nested, "cert.json")


def pdf(**attachments: bytes) -> bytes:
    """A PDF with attachments."""
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    for name, content in attachments.items():
        writer.add_attachment(f"{name}.json", content)
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("attachments", "signed"),
    [
        ({"certificate": bare(CONTENT)}, False),
        ({"certificate": sign(made(), KEY)}, True),
        ({"certificate": bare(CONTENT), "envelope": sign(made(), KEY)}, True),
        (
            {"other": b"\x00\x01", "list": b"[]", "audit": b'{"kind": "auditor/audit"}', "x": bare(CONTENT)},
            False,
        ),
        ({"one": sign(made(), KEY), "two": sign(made(), KEY)}, True),
    ],
)
def test_a_certificate_in_a_pdf(tmp_path: Path, attachments: dict[str, bytes], signed: bool) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf(**attachments))
    opened = read_certificate(path)
    assert opened.certificate == made()
    assert opened.is_signed is signed


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (pdf(), "no certificate is embedded in it"),
        (pdf(x=b"[]"), "no certificate is embedded in it"),
        (pdf(a=sign(made(), KEY), b=sign(made(), OTHER_KEY)), "it holds more than one certificate"),
        (b"%PDF-1.7\nnothing", "report.pdf: "),
    ],
)
def test_a_pdf_without_one_certificate(
    tmp_path: Path, data: bytes, complaint: str, recwarn: pytest.WarningsRecorder
) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(data)
    with pytest.raises(InputError, match=complaint):
        read_certificate(path)
