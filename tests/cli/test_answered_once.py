"""How often each command asks the engine: once for a question, and not at all to show what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.search.additive.log_odds import LogOdds
from tests.cli.conftest import EXAMPLES, Auditor

FIGURE1 = EXAMPLES / "figure1.json"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LogOdds]:
    """The log-odds that were made: the engine makes them first of all, once for each time it is asked."""
    asked: list[LogOdds] = []
    make = LogOdds.rounded

    def rounded(*arguments: Any, **options: Any) -> LogOdds:
        asked.append(make(*arguments, **options))
        return asked[-1]

    monkeypatch.setattr(LogOdds, "rounded", rounded)
    return asked


@pytest.fixture
def certificate(auditor: Auditor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert auditor("keygen", "--no-passphrase").code == 0
    assert auditor("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "cert.json").code == 0
    return tmp_path / "cert.json"


@pytest.mark.parametrize(
    "options", [(), ("--min-probability", "0.1"), ("--criterion", "ratio"), ("--top", "3")], ids=" ".join
)
@pytest.mark.parametrize("suffix", ["", ".json", ".html", ".md"])
def test_an_audit_asks_once(
    options: tuple[str, ...], suffix: str, auditor: Auditor, tmp_path: Path, asked: list[LogOdds]
) -> None:
    output = ("-o", tmp_path / f"audit{suffix}") if suffix else ()
    assert auditor("audit", FIGURE1, "--delta", "0.1", *options, *output).code == 1
    assert len(asked) == 1


def test_certifying_asks_once(certificate: Path, auditor: Auditor, asked: list[LogOdds]) -> None:
    arguments = ("certify", FIGURE1, "--delta", "0.3", "--key", "key.pem", "-o", "again.json")
    assert auditor(*arguments).code == 0
    assert len(asked) == 1


def test_verifying_asks_once(certificate: Path, auditor: Auditor, asked: list[LogOdds]) -> None:
    assert auditor("verify", certificate, "--public-key", "key.pub.pem").code == 0
    assert len(asked) == 1


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_report_of_a_certificate_asks_nothing(
    suffix: str, certificate: Path, auditor: Auditor, asked: list[LogOdds]
) -> None:
    assert auditor("report", certificate, "-o", f"report{suffix}").code == 0
    assert not asked


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_report_of_an_audit_asks_nothing(
    suffix: str, auditor: Auditor, tmp_path: Path, asked: list[LogOdds]
) -> None:
    document = tmp_path / "audit.json"
    assert auditor("audit", FIGURE1, "--delta", "0.1", "-o", document).code == 1
    asked.clear()
    assert auditor("report", document, "-o", tmp_path / f"report{suffix}").code == 0
    assert not asked


def test_renewing_asks_once_of_each_model(certificate: Path, auditor: Auditor, asked: list[LogOdds]) -> None:
    """The old certificate is verified, the new model certified; nothing more where neither has patterns."""
    arguments = ("recertify", certificate, FIGURE1, "--public-key", "key.pub.pem", "--key", "key.pem")
    assert auditor(*arguments, "-o", "renewed.json").code == 0
    assert len(asked) == 2
    asked.clear()
    assert auditor("report", "renewed.json", "--since", certificate, "-o", "report.md").code == 0
    assert asked == []
