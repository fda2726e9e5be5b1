"""The commands around certificates, as a user runs them."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest
import yaml

from auditor.certificate.issuing import tree
from auditor.certificate.signing import key_id, load_public_key
from auditor.documents.schemas import schemas
from auditor.model.reading import load_naive_bayes
from auditor.model.writing import dump_model
from tests.certificate.making import CHECKER, DAY, EXAMPLES, bare, made, put, renamed
from tests.cli.conftest import Auditor

FIGURE1 = EXAMPLES / "figure1.json"
ISSUED = ("--issued", str(DAY))
#: The key of the certificate that is renewed.
TRUSTED = ("--public-key", "key.pub.pem")
#: What the policy of a test says where options say otherwise.
BEATEN = {"delta": "0.1", "issuer": "A"}
CI = EXAMPLES / "ci"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auditor: Auditor) -> Path:
    """A folder with a key pair and a certificate of the paper's example."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUDITOR_KEY_PASSPHRASE", raising=False)
    assert auditor("keygen", "--no-passphrase").code == 0
    assert (
        auditor("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "cert.json", *ISSUED).code
        == 0
    )
    return tmp_path


def worse(folder: Path) -> Path:
    """A model that was trained again, and is less fair."""
    text = dump_model(load_naive_bayes(FIGURE1)).replace("0.8, 0.2", "0.9, 0.1", 1)
    path = folder / "worse.json"
    path.write_text(text)
    assert load_naive_bayes(path) != load_naive_bayes(FIGURE1)
    return path


def valid(text: str, schema: str) -> dict[str, object]:
    """Read JSON that must match its schema."""
    document = json.loads(text)
    jsonschema.Draft202012Validator(json.loads(schemas()[schema])).validate(document)
    assert isinstance(document, dict)
    return document


def test_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auditor: Auditor) -> None:
    monkeypatch.chdir(tmp_path)
    run = auditor("keygen", "--no-passphrase")
    assert (run.code, run.err) == (0, "The private key is not encrypted.\n")
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert key_id(load_public_key(tmp_path / "key.pub.pem")) in run.out
    again = auditor("keygen", "--no-passphrase")
    assert (again.code, again.out) == (3, "")
    assert "exists already, and is never overwritten" in again.err
    assert auditor("keygen", "-o", "other.pem", "--no-passphrase").code == 0
    assert (tmp_path / "other.pub.pem").exists()


def test_a_passphrase_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auditor: Auditor
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDITOR_KEY_PASSPHRASE", "secret")
    assert auditor("keygen").err == ""
    assert b"ENCRYPTED" in Path("key.pem").read_bytes()
    arguments = ("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "cert.json")
    assert auditor(*arguments).code == 0
    monkeypatch.setenv("AUDITOR_KEY_PASSPHRASE", "wrong")
    assert "the passphrase is wrong" in auditor(*arguments).err
    monkeypatch.delenv("AUDITOR_KEY_PASSPHRASE")
    run = auditor(*arguments)
    assert run.code == 3
    assert (
        run.err
        == "key.pem is encrypted; without a terminal a passphrase is taken from AUDITOR_KEY_PASSPHRASE\n"
    )


def test_a_passphrase_from_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auditor: Auditor
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUDITOR_KEY_PASSPHRASE", raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "secret")
    assert auditor("keygen").code == 0
    assert b"ENCRYPTED" in Path("key.pem").read_bytes()
    assert auditor("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "cert.json").code == 0
    assert auditor("verify", "cert.json", "--public-key", "key.pub.pem").code == 0


def test_no_passphrase_is_an_option(auditor: Auditor) -> None:
    for command in ("keygen", "certify", "recertify"):
        assert not re.search(r"--pass\S* <", auditor(command, "--help").out)


@pytest.mark.parametrize(("delta", "code", "words"), [("0.3", 0, "δ-fair"), ("0.2", 1, "not δ-fair")])
def test_certify(home: Path, auditor: Auditor, delta: str, code: int, words: str) -> None:
    run = auditor("certify", FIGURE1, "--delta", delta, "--key", "key.pem", "-o", "new.json")
    assert (run.code, run.out) == (code, "")
    assert run.err.startswith(f"Figure 1: {words} at δ = {delta}; ")
    assert run.err.endswith("is signed; see new.json\n")
    assert auditor("verify", "new.json", "--public-key", "key.pub.pem").code == 0


def test_certify_without_a_key_says_that_it_is_not_signed(home: Path, auditor: Auditor) -> None:
    run = auditor("certify", FIGURE1, "--delta", "0.3", *ISSUED)
    assert run.code == 0
    assert "is NOT signed" in run.err
    assert valid(run.out, "certificate") == tree(made("0.3"))


def test_certify_the_same_bytes(home: Path, auditor: Auditor) -> None:
    first = (home / "cert.json").read_bytes()
    auditor("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "cert.json", *ISSUED)
    assert (home / "cert.json").read_bytes() == first


def test_certify_with_everything(home: Path, auditor: Auditor) -> None:
    (home / "auditor.toml").write_text(
        'kind = "auditor/policy"\nversion = 1\ndelta = 0.1\n[issuer]\nname = "A"\n'
    )
    run = auditor(
        *("certify", FIGURE1, "--policy", "auditor.toml", "--delta", "0.3", "--criterion", "ratio"),
        *("--min-probability", "0.01", "--sensitive", "X", "--sensitive", "Y1", "--issuer", "Bank"),
        *(
            "--responsible",
            "A. Person",
            "--valid-from",
            "2026-12-01",
            "--valid-days",
            "10",
            "--record-platform",
        ),
        *ISSUED,
    )
    document = json.loads(run.out)
    assert {n: v for n, v in document["policy"]["overridden"].items() if v} == BEATEN
    assert [item["name"] for item in document["sensitive_attributes"]] == ["X", "Y1"]
    assert (document["issuer"], document["responsible"]) == ("Bank", "A. Person")
    assert (document["valid_from"], document["expires"]) == ("2026-12-01", "2026-12-11")
    assert (document["criterion"], document["min_probability"]) == ("ratio", "0.01")
    assert "Python" in document["platform"]


def test_inconclusive_exits_4(home: Path, auditor: Auditor) -> None:
    run = auditor(
        "certify", EXAMPLES / "german.json", "--delta", "0.411622501", "--time-limit", "0", "-o", "x.json"
    )
    assert run.code == 4
    assert json.loads((home / "x.json").read_text())["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("certify", FIGURE1), 3, "no threshold is given"),
        (("certify", FIGURE1, "--delta", "2"), 2, "not a decimal number"),
        (("certify", FIGURE1, "--delta", "0.1", "-o", "x.pdf"), 2, "a certificate is JSON, and x.pdf is not"),
        (("certify", FIGURE1, "--delta", "0.1", "-o", "no/x.json"), 3, "its folder does not exist"),
        (("certify", FIGURE1, "--delta", "0.1", "--key", "none.pem"), 3, "no such file"),
        (("certify", FIGURE1, "--delta", "0.1", "--key", "key.pub.pem"), 3, "not a private key"),
        (("certify", FIGURE1, "--delta", "0.1", "--issued", "yesterday"), 2, "yesterday"),
        (("certify", FIGURE1, "--delta", "0.1", "--valid-days", "0"), 2, "--valid-days"),
        (("certify", FIGURE1, "--delta", "0.1", "--policy", "none.toml"), 3, "none.toml: no such file"),
        (("certify", FIGURE1, "--delta", "0.1", "--sensitive", "Z"), 3, 'the model has no "Z"'),
        (("certify", "none.json", "--delta", "0.1"), 3, "none.json: no such file"),
        (("verify",), 2, "give a certificate, or --chain"),
        (("verify", "none.json"), 3, "none.json: no such file"),
        (("verify", "key.pem"), 3, "key.pem: a key, not a document"),
        (("verify", FIGURE1), 3, '"auditor/model" is not a certificate'),
        (("verify", "cert.json", "--public-key", "key.pem"), 3, "a private key; give the public one"),
        (("verify", "cert.json", "--at", "x"), 2, "x"),
        (("verify", "cert.json", "--revoked", "cert.json"), 3, "cert.json: "),
        (("verify", "--chain", "none"), 3, "none: not a folder"),
        (("verify", "--chain", ".", "--extract", "x.json"), 2, "--extract needs a certificate"),
        (
            ("recertify", "cert.json", FIGURE1, "--delta", "0.2", *TRUSTED),
            3,
            "the scope changed: delta: 0.3 became 0.2",
        ),
        (("recertify", "key.pem", FIGURE1), 3, "key.pem: a key, not a document"),
        (("recertify", "cert.json", FIGURE1, "--time-limit", "-1"), 2, "--time-limit"),
    ],
)
def test_what_can_go_wrong(
    home: Path, auditor: Auditor, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    run = auditor(*arguments)
    assert run.code == code
    assert run.out == ""
    assert complaint in run.err


def test_verify_shows_each_check(home: Path, auditor: Auditor) -> None:
    run = auditor(
        "verify", "cert.json", "--public-key", "key.pub.pem", "--at", str(DAY), "--model", str(FIGURE1)
    )
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("The certificate holds; its verdict: δ-fair at δ = 0.3\n")
    for check in ("signature", "dates", "given model", "largest degree", "count", "verdict"):
        assert re.search(rf"^{check} +passed", run.out, re.MULTILINE)
    assert all(len(line) <= 80 for line in run.out.splitlines())


def test_a_record_is_called_no_certificate(home: Path, auditor: Auditor) -> None:
    (home / "record.json").write_bytes(bare(tree(made("0.2"))))
    run = auditor("verify", "record.json", "--at", str(DAY + timedelta(days=400)))
    assert run.out.startswith("The record does NOT hold: dates\n")
    assert not re.search("certificate|valid", run.out, re.IGNORECASE)
    assert f"expires {DAY + timedelta(days=365)}" in run.out
    because = ("--scope-change", "why", "--unverified-predecessor")
    run = auditor("recertify", "record.json", FIGURE1, "--delta", "0.3", *because)
    assert "Certificate or record " in run.out


def test_verify_as_json_and_markdown(home: Path, auditor: Auditor) -> None:
    document = valid(auditor("verify", "cert.json", "--at", str(DAY), "-f", "json").out, "verification")
    assert document["result"] == "contents hold"
    run = auditor("verify", "cert.json", "--at", str(DAY), "-f", "markdown", "-o", "result.md")
    assert (run.code, run.out) == (0, "")
    assert (
        run.err == "The contents hold; signature not checked; its verdict: δ-fair at δ = 0.3; see result.md\n"
    )
    assert "| signature | not performed | no public key was given" in (home / "result.md").read_text()


def test_verify_names_what_fails(home: Path, auditor: Auditor) -> None:
    late = str(DAY + timedelta(days=400))
    run = auditor("verify", "cert.json", "--public-key", "key.pub.pem", "--at", late)
    assert run.code == 1
    assert run.out.startswith("The certificate does NOT hold: dates\n")
    (home / "bad.json").write_bytes(bare(renamed(put(tree(made()), ("pattern_count",), "2"))))
    run = auditor("verify", "bad.json", "--at", str(DAY))
    assert run.code == 1
    assert run.out.startswith("The record does NOT hold: count\n")


def test_verify_can_extract_the_certificate(home: Path, auditor: Auditor) -> None:
    assert auditor("verify", "cert.json", "--at", str(DAY), "--extract", "plain.json").code == 0
    assert valid((home / "plain.json").read_text(), "certificate") == tree(made("0.3"))
    assert auditor("verify", "plain.json", "--at", str(DAY)).code == 0


def test_recertify(home: Path, auditor: Auditor) -> None:
    later = ("--issued", "2026-12-01")
    run = auditor("recertify", "cert.json", FIGURE1, "--key", "key.pem", "-o", "next.json", *later, *TRUSTED)
    assert "not checked" not in run.err
    assert run.code == 0
    assert run.out.startswith("Figure 1: δ-fair at δ = 0.3\n")
    assert run.err.startswith(
        "Figure 1: δ-fair at δ = 0.3, was δ-fair at δ = 0.3; largest degree 0.2246 → 0.2246"
    )
    (home / "chain").mkdir()
    for name in ("cert.json", "next.json"):
        (home / "chain" / name).write_bytes((home / name).read_bytes())
    chain = auditor("verify", "--chain", "chain", "--public-key", "key.pub.pem", "--at", "2026-12-02")
    assert chain.code == 0
    assert chain.out.startswith("The chain holds\n2 certificates; current: ")
    document = valid(auditor("verify", "--chain", "chain", "-f", "json").out, "chain-verification")
    assert len(document["certificates"]) == 2  # type: ignore[arg-type]
    assert auditor("verify", "next.json", "--chain", "chain", "--at", "2026-12-02").code == 0
    old = auditor("verify", "cert.json", "--chain", "chain", "--at", "2026-12-02", "-o", "out.txt")
    assert (old.code, old.err) == (1, "The chain does NOT hold; see out.txt\n")


def test_recertify_a_model_that_got_worse(home: Path, auditor: Auditor) -> None:
    model = worse(home)
    arguments = ("recertify", "cert.json", model, *ISSUED, *TRUSTED)
    run = auditor(*arguments, "-f", "json")
    document = valid(run.out, "comparison")
    assert document["regressed"] is True
    assert run.code == (0 if document["after"]["verdict"] == "delta-fair" else 1)  # type: ignore[index]
    assert auditor(*arguments, "--fail-on-regression").code == 1
    assert auditor("recertify", "cert.json", FIGURE1, "--fail-on-regression", *ISSUED, *TRUSTED).code == 0
    comment = auditor(*arguments, "--format", "markdown").out
    assert "It got worse: " in comment
    assert "## Parameters that moved: " in comment


def test_a_loosened_question_is_a_regression(home: Path, auditor: Auditor) -> None:
    run = auditor(
        *("recertify", "cert.json", FIGURE1, "--criterion", "ratio", "--delta", "0.9"),
        *("--scope-change", "a new\nlaw", "--fail-on-regression", *ISSUED, *TRUSTED),
    )
    assert run.code == 1
    assert "It got worse: the question was loosened." in run.out
    assert "Reason: a new\\nlaw." in run.out


def test_recertify_refuses_what_was_tampered_with(home: Path, auditor: Auditor) -> None:
    (home / "bad.json").write_bytes(bare(put(tree(made("0.3")), ("issuer",), "x")))
    run = auditor("recertify", "bad.json", FIGURE1, "--public-key", "key.pub.pem")
    assert run.code == 3
    assert run.err.splitlines() == ["bad.json: can't be superseded: signature: it is not signed"]
    run = auditor("recertify", "bad.json", FIGURE1, "--unverified-predecessor")
    assert run.code == 3
    assert run.err.splitlines() == ["bad.json: can't be superseded: id: the digest of all the rest"]


def test_recertify_needs_the_key_or_says_that_it_had_none(home: Path, auditor: Auditor) -> None:
    run = auditor("recertify", "cert.json", FIGURE1, *ISSUED)
    assert run.code == 3
    assert "give the key that signed it with --public-key" in run.err
    for options, checked in ((TRUSTED, True), (("--unverified-predecessor",), False)):
        assert auditor("recertify", "cert.json", FIGURE1, *ISSUED, *options, "-o", "next.json").code == 0
        document = valid((home / "next.json").read_text(), "certificate")
        assert (document["supersedes"]["verified_with"] is not None) is checked  # type: ignore[index]


def test_what_a_little_growth_is_can_be_said(home: Path, auditor: Auditor) -> None:
    arguments = ("recertify", "cert.json", worse(home), *ISSUED, *TRUSTED, "--fail-on-regression")
    assert auditor(*arguments, "--tolerance", "x").code == 3
    document = valid(auditor(*arguments, "--tolerance", "0.5", "-f", "json").out, "comparison")
    assert document["tolerance"] == "0.5"


def test_certify_writes_the_audit_of_the_same_answer(home: Path, auditor: Auditor) -> None:
    run = auditor("certify", FIGURE1, "--delta", "0.1", "-o", "c.json", "--audit", "a.json", *ISSUED)
    assert run.code == 1
    audit, certificate = (json.loads((home / name).read_text()) for name in ("a.json", "c.json"))
    assert audit["kind"] == "auditor/audit"
    assert audit["verdict"] == certificate["verdict"]
    assert audit["model"]["sha256"] == certificate["model"]["sha256"]
    assert auditor("certify", FIGURE1, "--delta", "0.1", "-o", "c.json", "--audit", "c.json").code == 2


def test_names_are_shown_safely(home: Path, auditor: Auditor) -> None:
    text = FIGURE1.read_text().replace('"Figure 1"', '"<b>|\\u202e \\u001b[2J"')
    content = put(tree(made("0.3")), ("model", "name"), "<b>|\u202e \x1b[2J\n# x")
    assert text
    (home / "x.json").write_bytes(bare(renamed(content)))
    shown = auditor("verify", "x.json", "--at", str(DAY)).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    marked = auditor("verify", "x.json", "--at", str(DAY), "-f", "markdown").out
    assert "<b>" not in marked
    assert "\n# x" not in marked


def test_the_checker_agrees_with_the_command(home: Path, auditor: Auditor) -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKER), "cert.json", "--public-key", "key.pub.pem", "--at", str(DAY)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("HOLDS")


@pytest.mark.parametrize("path", sorted(CI.iterdir()), ids=lambda path: path.name)
def test_ci_examples_use_only_documented_options_and_exit_codes(path: Path, auditor: Auditor) -> None:
    text = path.read_text(encoding="utf-8")
    yaml.safe_load(text)
    commands = re.findall(
        r"auditor (verify|recertify)((?: +[^\s|>#]+| *\\?\n +(?=[-\w\"$]))*)", re.sub(r"\\\n", " ", text)
    )
    assert {name for name, _ in commands} == {"verify", "recertify"}
    for name, arguments in commands:
        usage = auditor(name, "--help").out
        for option in re.findall(r"--[a-z-]+", arguments):
            assert option in usage
    codes = {int(code) for code in re.findall(r'"(\d)"|exit_codes: \[(\d)\]', text) for code in code if code}
    assert codes <= {0, 1, 3, 4}


def test_the_ci_example_runs(home: Path, auditor: Auditor) -> None:
    """The commands of the examples, with the paper's network for the model."""
    (home / "model").mkdir()
    for source, target in (("cert.json", "certificate.json"), ("key.pub.pem", "key.pub.pem")):
        (home / "model" / target).write_bytes((home / source).read_bytes())
    worse(home).rename(home / "model" / "model.json")
    (home / "auditor.toml").write_text('kind = "auditor/policy"\nversion = 1\ndelta = 0.3\n')
    assert (
        auditor("verify", "model/certificate.json", "--public-key", "model/key.pub.pem", "--at", DAY).code
        == 0
    )
    run = auditor(
        *("recertify", "model/certificate.json", "model/model.json", "--policy", "auditor.toml"),
        *("--public-key", "model/key.pub.pem", "--key", "key.pem", "--fail-on-regression"),
        *("--format", "markdown", "-o", "new-certificate.json", "--issued", "2026-12-01"),
    )
    assert run.code == 1
    assert run.out.startswith("# Figure 1: ")
    assert (home / "new-certificate.json").exists()
