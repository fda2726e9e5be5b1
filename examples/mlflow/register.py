"""Registers a model with MLflow with its certificate and report, and promotes it only if it is δ-fair.

    python examples/mlflow/register.py model.json --delta 0.1 --key key.pem --name credit

MLFLOW_TRACKING_URI says where, as always; sqlite:///mlflow.db is a store in a file. The certificate and the
report are artefacts of the run that the model version comes from, and the version has the main figures as
tags. The alias "champion", by which a service finds the model to use, moves to the new version only if the
certificate says δ-fair and holds; a finding, or what is undecided, leaves it where it is and exits with 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from auditor.certificate.reading import read_certificate

ALIAS = "champion"
#: What `auditor certify` exits with, by its verdict.
VERDICT_CODES = (0, 1, 4)


def main() -> int:
    """Certify, log, register, and promote or refuse."""
    asked = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certificate, report = folder / "certificate.json", folder / "report.html"
        audit = folder / "audit.json"
        terms = [str(asked.model), "--delta", asked.delta]
        if asked.key:
            terms += ["--key", str(asked.key)]
        _auditor("certify", *terms, "--audit", audit, "-o", certificate, codes=VERDICT_CODES)
        _auditor("report", certificate, "--audit", audit, "-o", report)
        version = _register(asked, certificate, (certificate, audit, report))
        return _promote(asked, certificate, version)


def _register(asked: argparse.Namespace, certificate: Path, files: tuple[Path, ...]) -> str:
    """Log the model's file and what was found of it; return the number of the new version."""
    found = read_certificate(certificate).certificate
    with mlflow.start_run() as run:
        mlflow.log_artifact(str(asked.model), "model")
        for file in files:
            mlflow.log_artifact(str(file), "fairness")
        mlflow.log_metric("max_degree", float(found.max_degree.lower))
        mlflow.log_params({"delta": found.delta, "criterion": found.criterion})
    client = MlflowClient()
    try:
        client.create_registered_model(asked.name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    source = f"{run.info.artifact_uri}/model"
    tags: dict[str, Any] = {
        "fairness.verdict": found.verdict,
        "fairness.delta": found.delta,
        "fairness.max_degree": found.max_degree.lower,
        "fairness.certificate": found.id,
        "fairness.model_sha256": found.model.sha256,
        "fairness.expires": str(found.expires),
    }
    made = client.create_model_version(asked.name, source, run.info.run_id, tags=tags)
    return str(made.version)


def _promote(asked: argparse.Namespace, certificate: Path, version: str) -> int:
    """Move the alias to the version if its certificate says δ-fair, and holds."""
    found = read_certificate(certificate).certificate
    against = ["--public-key", str(asked.key.with_suffix(".pub.pem"))] if asked.key else []
    holds = _auditor("verify", certificate, *against, "--model", asked.model, codes=(0, 1, 4)) == 0
    if found.verdict != "delta-fair" or not holds:
        print(f"{asked.name} version {version} is registered and not promoted: {found.verdict}")
        return 1
    MlflowClient().set_registered_model_alias(asked.name, ALIAS, version)
    print(f"{asked.name} version {version} is the {ALIAS}")
    return 0


def _auditor(*arguments: object, codes: tuple[int, ...] = (0,)) -> int:
    """Run a command, whose messages go where ours go; what isn't among these codes ends the program."""
    command = [sys.executable, "-m", "auditor", *map(str, arguments)]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if code not in codes:
        raise SystemExit(code)
    return code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model", type=Path)
    parser.add_argument("--delta", required=True)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--name", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
