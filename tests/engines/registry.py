"""Runs the MLflow recipe against a real store in SQLite: what is logged, and what is not promoted.

Run by `make test-engines`, which installs MLflow in an environment of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Register a fair model and one that is not, and look at what the registry has."""
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        os.environ |= {"MLFLOW_TRACKING_URI": "sqlite:///mlflow.db", "MLFLOW_DISABLE_TELEMETRY": "true"}
        _run("-m", "auditor", "keygen", "key.pem", "--no-passphrase")
        model = ROOT / "examples" / "figure1.json"
        recipe = str(ROOT / "examples" / "mlflow" / "register.py")
        options = ("--key", "key.pem", "--name", "figure 1")
        codes = [_run(recipe, str(model), "--delta", delta, *options) for delta in ("0.3", "0.1")]
        _expect("exit codes", codes, [0, 1])
        _look()
    print("1 passed, 0 failed")
    return 0


def _look() -> None:
    import mlflow
    from mlflow import MlflowClient

    from auditor.documents.verification import Verification
    from auditor.usecases.certifying import verify

    client = MlflowClient()
    fair, unfair = (client.get_model_version("figure 1", number) for number in ("1", "2"))
    _expect("champion", client.get_model_version_by_alias("figure 1", "champion").version, fair.version)
    for version, verdict in ((fair, "delta-fair"), (unfair, "not-delta-fair")):
        _expect("verdict", version.tags["fairness.verdict"], verdict)
        folder = Path(mlflow.artifacts.download_artifacts(run_id=version.run_id, artifact_path="fairness"))
        _expect(
            "files",
            sorted(file.name for file in folder.iterdir()),
            ["audit.json", "certificate.json", "report.html"],
        )
        found = verify(folder / "certificate.json", public_key=Path("key.pub.pem"))
        assert isinstance(found, Verification)
        _expect("result", found.result, "holds")
        _expect("certificate", found.certificate.id, version.tags["fairness.certificate"])


def _run(*arguments: str) -> int:
    return subprocess.run([sys.executable, *arguments], check=False).returncode


def _expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


if __name__ == "__main__":
    sys.exit(main())
