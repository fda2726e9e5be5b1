"""From stored documents to reports, as the command line does it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from auditor.documents.repair import LogLikelihoodsRecord, PerformanceRecord, Repair
from auditor.errors import InputError
from auditor.report import html, pades
from auditor.report.figures import percent, signed
from auditor.search import answer
from auditor.search.additive import engine
from auditor.usecases import reporting
from tests.cli.conftest import EXAMPLES, Auditor
from tests.report import subjects
from tests.report.conftest import paper
from tests.report.test_html import words

FIGURE1 = EXAMPLES / "figure1.json"


@pytest.fixture
def audit(auditor: Auditor, tmp_path: Path) -> Path:
    auditor("audit", FIGURE1, "--delta", "0.2", "-o", tmp_path / "audit.json")
    return tmp_path / "audit.json"


@pytest.fixture
def certificates(auditor: Auditor, tmp_path: Path) -> tuple[Path, Path, Path]:
    """An older certificate, a signed newer one, and the public key."""
    old, new, key = tmp_path / "old.json", tmp_path / "new.dsse.json", tmp_path / "key.pem"
    auditor("keygen", key, "--no-passphrase")
    dated = ("--issued", "2026-11-20")
    assert auditor("certify", FIGURE1, "--delta", "0.2", "-o", old, *dated).code == 1
    model = json.loads(FIGURE1.read_text())
    model["attributes"][0]["likelihood"] = {"favourable": [0.55, 0.45], "unfavourable": [0.5, 0.5]}
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(model))
    renewed = ("recertify", old, moved, "-o", new, "--key", key, "--unverified-predecessor")
    assert auditor(*renewed, *dated).code == 0
    return old, new, tmp_path / "key.pub.pem"


def read(file: Path) -> str:
    return words(file.read_text(encoding="utf-8"))


def test_audit_writes_a_page(auditor: Auditor, tmp_path: Path) -> None:
    found = auditor("audit", FIGURE1, "--delta", "0.2", "-o", tmp_path / "report.html")
    assert (found.code, found.out) == (1, "")
    assert "Not δ-fair at δ = 0.2" in read(tmp_path / "report.html")
    printed = auditor("audit", FIGURE1, "--delta", "0.2", "--format", "html")
    assert printed.out.startswith("<!doctype html>")


def test_audit_writes_a_pdf_with_the_audit_in_it(auditor: Auditor, tmp_path: Path, pango: None) -> None:
    assert auditor("audit", FIGURE1, "--delta", "0.2", "-o", tmp_path / "report.pdf").code == 1
    found = pypdf.PdfReader(tmp_path / "report.pdf").attachments
    (content,) = found["audit.json"]
    assert json.loads(content)["verdict"] == "not-delta-fair"


def test_a_pdf_needs_a_file_and_a_list_is_no_report(auditor: Auditor, tmp_path: Path) -> None:
    assert auditor("audit", FIGURE1, "--delta", "0.2", "--format", "pdf").code == 2
    assert auditor("patterns", FIGURE1, "--delta", "0.2", "-o", tmp_path / "list.html").code == 2


def test_stored_audit(auditor: Auditor, audit: Path, tmp_path: Path) -> None:
    stored, again, markdown = tmp_path / "stored.html", tmp_path / "again.htm", tmp_path / "report.md"
    assert auditor("report", audit, "-o", stored).code == 0
    assert "P(d) = 20.00%, exactly 0.2" in read(stored)
    assert auditor("report", audit, "--model", FIGURE1, "-o", again).code == 0
    assert "P(d) = 20.00%, exactly 0.2" in read(again)
    assert auditor("report", audit, "-o", markdown).code == 0
    assert markdown.read_text(encoding="utf-8").startswith("# Figure 1")


def test_stored_audit_of_other_sensitive_attributes_than_the_model_s(
    auditor: Auditor, tmp_path: Path
) -> None:
    stored, report = tmp_path / "audit.json", tmp_path / "report.md"
    assert auditor("audit", FIGURE1, "--delta", "0.2", "--sensitive", "Y1", "-o", stored).code == 1
    run = auditor("report", stored, "--model", FIGURE1, "-o", report)
    assert (run.code, "Y1" in report.read_text(encoding="utf-8").partition("\n## ")[0]) == (0, True)


def test_stored_audit_that_its_model_contradicts(auditor: Auditor, audit: Path, tmp_path: Path) -> None:
    content = json.loads(audit.read_text())
    content["pattern_count"] = 7
    audit.write_text(json.dumps(content))
    found = auditor("report", audit, "--model", FIGURE1, "-o", tmp_path / "report.html")
    assert found.code == 3
    assert "differs from its model in the number of patterns" in found.err


def test_certificate_goes_into_the_pdf_and_is_verified_from_it(
    auditor: Auditor,
    certificates: tuple[Path, Path, Path],
    tmp_path: Path,
    pango: None,
) -> None:
    _, new, key = certificates
    report = tmp_path / "report.pdf"
    assert auditor("report", new, "-o", report, "--profile", "us-four-fifths").code == 0
    found = pypdf.PdfReader(report).attachments
    assert found["certificate.dsse.json"] == [new.read_bytes()]
    assert json.loads(found["certificate.json"][0])["verdict"] == "delta-fair"
    assert auditor("verify", report, "--public-key", key, "--at", "2026-12-01").code == 0
    again = tmp_path / "again.pdf"
    assert auditor("report", report, "-o", again, "--profile", "us-four-fifths").code == 0
    assert again.read_bytes() == report.read_bytes()


def test_what_changed_since_the_last_certificate(
    auditor: Auditor,
    certificates: tuple[Path, Path, Path],
    tmp_path: Path,
) -> None:
    old, new, _ = certificates
    report = tmp_path / "report.html"
    assert auditor("report", new, "--since", old, "-o", report).code == 0
    text = read(report)
    assert "2. What changed since the last certificate" in text
    assert "Verdict\nnot δ-fair\nδ-fair\n" in text
    assert "It did not get worse" in text
    assert "P(X: x given d)\n80.00%\n55.00%" in text
    assert "Patterns gone: 1" in text
    markdown = tmp_path / "report.md"
    assert auditor("report", new, "--since", old, "-o", markdown).code == 0
    assert "| Valid | from 2026-11-20 until 2027-11-20" in markdown.read_text("utf-8")
    assert "| Certificate | " in markdown.read_text("utf-8")
    assert "Patterns gone: 1" in markdown.read_text("utf-8")
    wrong = auditor("report", old, "--since", new, "-o", report)
    assert wrong.code == 3
    assert "does not take the place of" in wrong.err


def test_certificate_that_leaves_the_question_open(
    auditor: Auditor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    certificate = tmp_path / "open.json"
    found = auditor(
        "certify", EXAMPLES / "german.json", "--delta", "0.411622501", "--time-limit", "0", "-o", certificate
    )
    assert found.code == 4
    report = tmp_path / "report.html"
    assert auditor("report", certificate, "-o", report).code == 0
    text = read(report)
    assert "Undecided · this is not a certificate" in text
    assert "The search ended before it could decide." in text


def test_a_certificate_that_was_changed_is_refused(auditor: Auditor, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.json"
    auditor("certify", FIGURE1, "--delta", "0.2", "-o", certificate)
    content = json.loads(certificate.read_text())
    content["issuer"] = "Somebody else"
    certificate.write_text(json.dumps(content))
    changed = auditor("report", certificate, "-o", tmp_path / "report.html")
    assert changed.code == 3
    assert "identifier is not the digest" in changed.err
    assert not (tmp_path / "report.html").exists()


def test_certificate_with_a_stored_audit_beside_it(auditor: Auditor, audit: Path, tmp_path: Path) -> None:
    certificate, report = tmp_path / "certificate.json", tmp_path / "report.html"
    auditor("certify", FIGURE1, "--delta", "0.2", "-o", certificate)
    alone = reporting.report(str(certificate), "html").content.decode()
    assert "By group of people" not in alone
    assert "The whole model" in alone
    beside = reporting.report(str(certificate), "html", audit=str(audit)).content.decode()
    assert "By group of people" in beside
    content = json.loads(audit.read_text())
    audit.write_text(json.dumps({**content, "verdict": "delta-fair", "delta": "0.3", "pattern_count": 0}))
    with pytest.raises(InputError) as caught:
        reporting.report(str(certificate), "html", audit=str(audit))
    for what in ("δ", "verdict", "number of patterns"):
        assert f"in the {what}" in str(caught.value)
    assert not report.exists()


def test_no_report_of_a_certificate_asks_the_engine(
    auditor: Auditor, audit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "certificate.json"
    auditor("certify", FIGURE1, "--delta", "0.2", "-o", certificate)

    def asked(*arguments: Any, **named: Any) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(engine, "Engine", asked)
    monkeypatch.setattr(answer, "Engine", asked)
    for format in ("html", "markdown", "text"):
        assert reporting.report(str(certificate), format).content
        assert reporting.report(str(certificate), format, audit=str(audit)).content
        assert reporting.report(str(audit), format).content


def repaired(tmp_path: Path) -> Path:
    """COMPAS with the parameters of a fairer model and a record of a repair."""
    model = json.loads((EXAMPLES / "compas.json").read_text())
    fair = subjects.certified("11/50").parameters
    assert fair
    for attribute, exact in zip(model["attributes"], fair.attributes, strict=True):
        columns = exact.favourable, exact.unfavourable
        rows = [[round(float(Fraction(p)), 6) for p in column] for column in columns]
        for row in rows:
            row[-1] = round(1 - sum(row[:-1]), 6)
        attribute["likelihood"] = {"favourable": rows[0], "unfavourable": rows[1]}
    model["decision"]["prior"] = round(float(Fraction(fair.prior)), 6)
    model["repair"] = {
        "delta": 0.1,
        "criterion": "difference",
        "solver": "sqp",
        "rounds": 3,
        "constraints": 12,
        "log_likelihoods": {"unconstrained": -207054.688, "repaired": -207394.51, "independent": -207750.604},
        "patterns_before": 2017,
        "patterns_after": 0,
        "source_sha256": subjects.spec("compas").naive_bayes().sha256(),
    }
    file = tmp_path / "repaired.json"
    file.write_text(json.dumps(model))
    return file


def test_repaired_model(auditor: Auditor, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert auditor("report", repaired(tmp_path), "-o", report).code == 0
    text = read(report)
    assert "2. What the repair changed" in text
    assert "48.83% of the way" in text
    assert "Patterns before\n2,017\nPatterns after\n0\n" in text
    assert "Repaired\n−207,394.5100\n" in text
    assert "The parameters that moved most" in text
    assert "54.94%\n44.41%" in text
    assert "Repaired\nfrom the model sha256" in text


def test_stored_repair(auditor: Auditor, tmp_path: Path) -> None:
    fair, record, report = tmp_path / "fair.json", tmp_path / "repair.json", tmp_path / "report.html"
    found = auditor("repair", EXAMPLES / "compas.json", "--delta", "0.1", "-o", fair, "--format", "json")
    record.write_text(found.out)
    assert auditor("report", record, "--model", fair, "-o", report).code == 0
    text = read(report)
    assert auditor("report", record, "--model", fair, "-o", tmp_path / "report.md").code == 0
    assert "## " in (tmp_path / "report.md").read_text("utf-8")
    content = json.loads(found.out)
    shift = content["predictions"][0]["degree"]
    assert f"(degree {signed(shift[0], '0.1')})" in text
    assert f"({signed(shift[1], '0.1')}) for people" in text
    assert f"{percent(content['price'])} of the way" in text
    assert f"{content['constraints']} constraints" in text
    for arguments, said in (((), "give it with --model"), (("--model", FIGURE1), "digests differ")):
        wrong = auditor("report", record, *arguments, "-o", report)
        assert wrong.code == 3
        assert said in wrong.err


def test_data_beside_the_model(auditor: Auditor, tmp_path: Path) -> None:
    table, report = tmp_path / "people.csv", tmp_path / "report.html"
    rows = ["x,y1,y2,d"] * 60 + ["not x,not y1,not y2,not d"] * 50 + ["not x,y1,y2,d"] * 9
    table.write_text("X,Y1,Y2,D\n" + "\n".join(rows) + "\n")
    found = auditor("audit", FIGURE1, "--delta", "0.2", "--data", table, "-o", report)
    assert found.code == 1, found.err
    text = read(report)
    assert "2. What data show beside the model" in text
    assert "X: not x\n59\n" in text
    assert "▼ " in text.split("In the data: 119 people")[1].split("How often")[0]
    assert "How often the listed patterns occur in the data" in text
    audit = tmp_path / "audit.json"
    auditor("audit", FIGURE1, "--delta", "0.2", "--data", table, "-o", audit)
    assert auditor("report", audit, "--profile", "nyc-local-law-144", "-o", report).code == 0
    assert "In the data, is any group below four fifths of the most favoured one? Yes: 1 of 2" in read(report)


def test_a_degree_of_exactly_delta_is_told_so_beside_data_too(auditor: Auditor, tmp_path: Path) -> None:
    # In floats 0.8 - 0.5 is above 0.3.
    model, data = tmp_path / "model.json", tmp_path / "data.csv"
    attribute = {"name": "s", "sensitive": True, "values": ["a", "b"]}
    attribute["likelihood"] = {"favourable": [0.8, 0.2], "unfavourable": [0.2, 0.8]}
    decision = {"name": "d", "favourable": "yes", "unfavourable": "no", "prior": 0.5}
    kind = {"kind": "auditor/model", "version": 1, "name": "m"}
    model.write_text(json.dumps(kind | {"decision": decision, "attributes": [attribute]}))
    data.write_text("s,d\n" + "a,yes\nb,no\n" * 20)
    run = auditor("audit", model, "--delta", "0.3", "--data", data)
    assert run.code == 0
    assert "0.30000000000000004" not in run.out
    assert "+0.3000\n" in run.out.partition("How often")[2]


def test_repair_that_was_tried_on_data() -> None:
    both = (0.5, 0.75)
    values: dict[str, Any] = {
        "delta": "0.1",
        "criterion": "difference",
        "solver": None,
        "rounds": 0,
        "constraints": 0,
        "method": "fair",
        "shortfall": "time was up",
        "price": None,
        "progress": (),
        "predictions": (),
        "total_patterns": 7,
        "log_likelihoods": LogLikelihoodsRecord(
            unconstrained=None, repaired=None, independent=None, independent_mean=None
        ),
        "patterns_before": None,
        "patterns_after": 0,
        "performance": PerformanceRecord(data="people.csv", rows=1234, accuracy=both, auc=both),
        "before": subjects.one().stated.model,
        "after": subjects.one().stated.model,
    }
    record = Repair.model_construct(**values)
    text = words(html.render(replace(subjects.one(), repair=record)))
    assert "Predictions for 1,234 rows of people.csv" in text
    assert "Accuracy\n50.00%\n75.00%" in text
    assert "AUC\n0.5000\n0.7500" in text
    assert "The search for a more likely fair model ended early: time was up." in text
    assert "Work\nclosed form" in text
    assert "Patterns before\nnot counted, among 7" in text
    assert "Unconstrained\nminus infinity" in text


@pytest.mark.parametrize(
    ("change", "price"),
    [({"repaired": None}, ""), ({"independent": -207054.688}, ""), ({"repaired": -209000}, "279.5%")],
)
def test_price_of_a_repair(tmp_path: Path, change: dict[str, Any], price: str) -> None:
    file = repaired(tmp_path)
    content = json.loads(file.read_text())
    content["repair"]["log_likelihoods"].update(change)
    file.write_text(json.dumps(content))
    made = reporting.report(str(file), "html")
    assert ("repaired</text>" in made.content.decode()) == bool(price)
    assert ("of the way" in made.content.decode()) == bool(price)
    if price:
        assert f"{price} of the way" in made.content.decode()


def test_files_that_do_not_belong_together(
    auditor: Auditor,
    audit: Path,
    certificates: tuple[Path, Path, Path],
    tmp_path: Path,
) -> None:
    old, _, _ = certificates
    report = tmp_path / "report.html"
    cases = [
        ((audit, "--model", EXAMPLES / "compas.json"), "digests differ"),
        ((audit, "--since", old), "is not a certificate"),
        ((old, "--model", EXAMPLES / "compas.json"), "digests differ"),
        ((FIGURE1, "--model", FIGURE1), "holds its model"),
        ((FIGURE1,), "is a model and no result"),
        ((tmp_path / "nothing.json",), "no such file"),
        ((audit, "--profile", "gdpr"), "no such profile"),
        ((audit, "--template-dir", tmp_path / "nowhere"), "no such folder"),
    ]
    for arguments, said in cases:
        found = auditor("report", *arguments, "-o", report)
        assert (found.code, found.out) == (3, ""), arguments
        assert said in found.err
    assert not report.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON: a key in double quotes"),
        (b"[1]", '"kind" is missing; a certificate says'),
        (b'{"kind": "auditor/audit"}', "version: null is not supported"),
        (b'{"kind": 7}', "7 is not a certificate"),
        (b"[" * 100_000, "nested more than 32 deep"),
        (b"%PDF-1.7 nothing", "not a PDF that can be read"),
    ],
)
def test_bad_documents(auditor: Auditor, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "document.json"
    file.write_bytes(content)
    found = auditor("report", file, "-o", tmp_path / "report.html")
    assert (found.code, found.out) == (3, "")
    assert said in found.err


def test_yaml_can_only_be_a_model(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(FIGURE1.read_text())
    assert "is a model and no result" in auditor("report", file, "-o", tmp_path / "report.html").err


def test_usage_of_report(auditor: Auditor, audit: Path, tmp_path: Path) -> None:
    assert auditor("report", audit, "-o", tmp_path / "report.docx").code == 2
    assert auditor("report", audit, "-o", tmp_path / "report.html", "--pades", "key.p12").code == 2


@pytest.mark.parametrize(
    ("name", "content", "media"),
    [
        ("logo.png", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("logo.jpg", b"\xff\xd8\xff", "image/jpeg"),
        ("logo.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
    ],
)
def test_logo_and_colour_of_the_policy(
    auditor: Auditor,
    audit: Path,
    tmp_path: Path,
    name: str,
    content: bytes,
    media: str,
) -> None:
    (tmp_path / name).write_bytes(content)
    policy = tmp_path / "auditor.toml"
    policy.write_text(
        f'kind = "auditor/policy"\nversion = 1\n[report]\nlogo = "{name}"\naccent = "#0a5740"\n'
    )
    report = tmp_path / "report.html"
    assert auditor("report", audit, "--policy", policy, "-o", report).code == 0
    assert f'<img src="data:{media};base64,' in report.read_text(encoding="utf-8")
    assert "--accent: #0a5740" in report.read_text(encoding="utf-8")


def test_policy_without_a_logo_and_with_a_bad_one(auditor: Auditor, audit: Path, tmp_path: Path) -> None:
    policy, report = tmp_path / "auditor.toml", tmp_path / "report.html"
    policy.write_text('kind = "auditor/policy"\nversion = 1\n')
    assert auditor("report", audit, "--policy", policy, "-o", report).code == 0
    policy.write_text('kind = "auditor/policy"\nversion = 1\n[report]\nlogo = "audit.json"\n')
    found = auditor("report", audit, "--policy", policy, "-o", report)
    assert found.code == 3
    assert "neither PNG, JPEG nor SVG" in found.err


def key_file(path: Path, private: Any) -> Path:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Dr. Ada Example")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(7)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=3650))
        .sign(private, hashes.SHA256())
    )
    path.write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"key", private, certificate, None, BestAvailableEncryption(b"pass")
        )
    )
    return path


def test_pades_signature(tmp_path: Path, pango: None) -> None:
    pytest.importorskip("pyhanko", reason="the extra delta-fair[pades] is not installed")
    content = paper("figure1").content
    key = key_file(tmp_path / "key.p12", rsa.generate_private_key(public_exponent=65537, key_size=2048))
    signed = pades.sign(content, key, "pass")
    assert signed.startswith(content)
    catalog: Any = pypdf.PdfReader(BytesIO(signed)).trailer["/Root"]
    (field,) = catalog["/AcroForm"]["/Fields"]
    assert field.get_object()["/V"]["/SubFilter"] == "/ETSI.CAdES.detached"
    assert signed.startswith(b"%PDF-1.7")
    with pytest.raises(InputError, match="another passphrase"):
        pades.sign(content, key, "wrong")
    other = key_file(tmp_path / "ec.p12", ec.generate_private_key(ec.SECP256R1()))
    with pytest.raises(InputError, match="not an RSA key"):
        pades.sign(content, other, "pass")


def test_report_signed_from_the_command_line(
    auditor: Auditor,
    audit: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pango: None,
) -> None:
    pytest.importorskip("pyhanko", reason="the extra delta-fair[pades] is not installed")
    key = key_file(tmp_path / "key.p12", rsa.generate_private_key(public_exponent=65537, key_size=2048))
    monkeypatch.setenv("AUDITOR_PADES_PASSPHRASE", "pass")
    report = tmp_path / "report.pdf"
    assert auditor("report", audit, "-o", report, "--pades", key).code == 0
    assert b"/ETSI.CAdES.detached" in report.read_bytes()
