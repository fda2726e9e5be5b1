"""Certificates: keys, issue, renewal and verification."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.choices import CertificateForm
from auditor.cli import destinations, exits, options
from auditor.cli.terminal import Working, can_ask, coloured, columns, complain, deliver, print_result
from auditor.errors import OutputError
from auditor.output import write_text
from auditor.report.formats import CheckFormatName

if TYPE_CHECKING:
    from auditor.documents.certificate import Certificate
    from auditor.documents.comparison import Comparison
    from auditor.documents.proof import ProofVerification
    from auditor.documents.verification import ChainVerification, Verification
    from auditor.usecases.certifying import Signer


def keygen(
    key: Annotated[
        Path | None, typer.Argument(metavar="KEY", help="Where the private key goes.  [default: key.pem]")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="KEY", help="The same.")] = None,
    no_passphrase: Annotated[
        bool, typer.Option("--no-passphrase", help="Leave the private key unencrypted, and don't ask.")
    ] = False,
) -> int:
    """Make a key pair to sign certificates with.

    key.pem is for you alone to read, key.pub.pem to give away.

    The private key is encrypted with the passphrase that is given at the prompt or in AUDITOR_KEY_PASSPHRASE;
    where nobody can be asked, it stays unencrypted only with --no-passphrase. Neither file is ever
    overwritten.
    """
    if key and output:
        raise typer.BadParameter("give KEY or --output, not both", param_hint="--output")
    destinations.settle({}, {}, prints=True)
    from auditor.certificate import signing

    secret = None if no_passphrase else _new_passphrase(signing.PASSPHRASE_VARIABLE)
    pair = signing.generate(key or output or Path("key.pem"), secret)
    try:
        print_result(
            f"private key  {pair.private}\npublic key   {pair.public}\nkey id       {pair.key_id}\n", "text"
        )
    except OutputError:
        pair.private.unlink()
        pair.public.unlink()
        raise
    if not secret:
        complain("The private key is not encrypted.")
    return 0


def _new_passphrase(variable: str) -> str:
    """The passphrase of a new key; empty only if somebody at the terminal wants none."""
    given = os.environ.get(variable)
    if given is None and can_ask():
        return str(
            typer.prompt(
                "Passphrase, empty for none",
                default="",
                show_default=False,
                hide_input=True,
                err=True,
                confirmation_prompt=True,
            )
        )
    if not given:
        raise typer.BadParameter(
            f"{variable} is {'not set' if given is None else 'empty'}; give a passphrase there, or say "
            "--no-passphrase for a private key that is not encrypted"
        )
    return given


def certify(
    model: options.Model,
    delta: options.OptionalDelta = None,
    policy: options.PolicyOption = None,
    criterion: options.OptionalCriterion = None,
    min_probability: options.MinProbability = None,
    sensitive: options.SensitiveOption = None,
    issuer: options.Issuer = None,
    responsible: options.Responsible = None,
    issued: options.Issued = None,
    valid_from: options.ValidFrom = None,
    valid_days: options.ValidDays = None,
    record_platform: options.RecordPlatform = False,
    box: options.CertifiedBox = None,
    proof: options.NamedProof = None,
    key: options.Key = None,
    time_limit: options.TimeLimit = None,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the audit of the same answer here, JSON.")
    ] = None,
    format: Annotated[
        CertificateForm,
        typer.Option(
            "--format",
            "-f",
            help="Certificate, or what holds it for other tools: in-toto test result, CycloneDX ML-BOM.",
        ),
    ] = "certificate",
    model_signature: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Model signature (OMS) of the model file, whose digest the other forms then name.",
        ),
    ] = None,
    output: options.CertificateOutput = None,
) -> int:
    """Issue a certificate of what can be shown of a model.

    It is signed if a key is given. There is one for each verdict, and it says which. The same model, policy
    and dates give the same bytes. An in-toto test result has PASSED for δ-fair alone; a model signature is
    not verified, only read. With --box nothing is issued unless every model in the box is proved δ-fair. Exit
    code 0: δ-fair. 1: not δ-fair. 4: inconclusive within the limits.
    """
    destinations.refuse_reports(output)
    if model_signature is not None and format == "certificate":
        raise typer.BadParameter(
            "goes with --format in-toto or cyclonedx; a certificate names the model by its exact parameters",
            param_hint="--model-signature",
        )
    destinations.settle(
        {"--output": output, "--audit": audit},
        {
            "MODEL": model,
            "--policy": policy,
            "--key": key,
            "--model-signature": model_signature,
            "--proof": proof,
        },
        prints=output is None,
    )
    from auditor.usecases import certifying

    asked = certifying.CertifyOptions(
        policy=policy,
        delta=delta,
        criterion=criterion,
        min_probability=min_probability,
        sensitive=tuple(sensitive or ()),
        valid_days=valid_days,
        issuer=issuer,
        responsible=responsible,
        issued=issued,
        valid_from=valid_from,
        platform=_platform() if record_platform else None,
        box=box,
        proof=proof,
        time_limit=time_limit,
    )
    with Working("certifying") as working:
        made = certifying.certify(
            model,
            asked,
            _signer(key, working),
            audited=audit is not None,
            form=format,
            model_signature=model_signature,
        )
    if audit is not None and made.audit is not None:
        from auditor.documents.record import to_json

        write_text(audit, to_json(made.audit))
    deliver(made.data.decode("utf-8"), "json", output)
    code = _report_issued(made.certificate, key, output)
    if made.not_stated:
        other, its_delta = made.not_stated
        complain(
            f"It states the {made.certificate.criterion} only. The model was repaired by the {other} too: "
            f"certify that with --criterion {other} --delta {its_delta}."
        )
    return code


def recertify(
    certificate: Annotated[Path, typer.Argument(metavar="OLD", help="The certificate to supersede.")],
    model: options.Model,
    scope_change: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Let the scope change, and record why; else it must not."),
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 1 too if the model or the question got worse.")
    ] = False,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="D", help="The largest degree may grow by so much.  [default: 0.001]"),
    ] = None,
    unverified_predecessor: Annotated[
        bool,
        typer.Option(
            "--unverified-predecessor", help="Don't check the signature of OLD, and record that it wasn't."
        ),
    ] = False,
    delta: options.OptionalDelta = None,
    policy: options.PolicyOption = None,
    criterion: options.OptionalCriterion = None,
    min_probability: options.MinProbability = None,
    sensitive: options.SensitiveOption = None,
    issuer: options.Issuer = None,
    responsible: options.Responsible = None,
    issued: options.Issued = None,
    valid_from: options.ValidFrom = None,
    valid_days: options.ValidDays = None,
    record_platform: options.RecordPlatform = False,
    box: options.CertifiedBox = None,
    proof: options.NamedProof = None,
    key: options.Key = None,
    public_key: options.PublicKey = None,
    time_limit: options.TimeLimit = None,
    format: options.CheckFormat = "text",
    output: options.CertificateOutput = None,
) -> int:
    """Certify a model that was trained again, and say what changed.

    The question is that of the old certificate, which is verified first, with --public-key. The comparison
    goes to standard output, the new certificate to FILE. Exit code 0: the new model is δ-fair. 1: it is not;
    or with --fail-on-regression the verdict got worse, the question was loosened, or the largest degree
    crossed δ or grew. 4: not known.
    """
    destinations.refuse_reports(output)
    reads: dict[str, str | Path | None] = {
        "OLD": certificate,
        "MODEL": model,
        "--policy": policy,
        "--key": key,
        "--public-key": public_key,
        "--proof": proof,
    }
    destinations.settle({"--output": output}, reads, prints=True)
    from auditor.report.certificates import change_line
    from auditor.usecases import certifying

    asked = certifying.CertifyOptions(
        policy=policy,
        delta=delta,
        criterion=criterion,
        min_probability=min_probability,
        sensitive=tuple(sensitive or ()),
        valid_days=valid_days,
        issuer=issuer,
        responsible=responsible,
        issued=issued,
        valid_from=valid_from,
        platform=_platform() if record_platform else None,
        box=box,
        proof=proof,
        time_limit=time_limit,
    )
    with Working("certifying again") as working:
        made, comparison = certifying.recertify(
            certificate,
            model,
            asked,
            _signer(key, working),
            public_key=public_key,
            unverified_predecessor=unverified_predecessor,
            scope_change_reason=scope_change,
            tolerance=tolerance,
        )
    if made.unchecked:
        complain(f"{certificate}: not checked, for lack of time or of a proof: {', '.join(made.unchecked)}")
    if output is not None:
        deliver(made.data.decode("utf-8"), "json", output)
        complain(f"{change_line(comparison)}; see {output}")
    _show(comparison, format, None)
    code = exits.BY_VERDICT[made.certificate.verdict]
    if fail_on_regression and code != 1 and comparison.regressed is not False:
        return 1 if comparison.regressed else 4
    return code


def verify(
    certificate: Annotated[
        Path | None,
        typer.Argument(
            metavar="CERTIFICATE", help="JSON, or a PDF in which the certificate is embedded; or a proof."
        ),
    ] = None,
    public_key: options.PublicKey = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", callback=options.model, help="Model that must be the certified one."),
    ] = None,
    at: options.At = None,
    revoked: Annotated[
        Path | None, typer.Option(metavar="FILE", help="List of certificates that were taken back.")
    ] = None,
    chain: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Verify all certificates in FOLDER and how they follow."),
    ] = None,
    proof: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Proof that a certificate of a repaired model names; repeatable."),
    ] = None,
    extract: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate inside as readable JSON too.")
    ] = None,
    time_limit: options.TimeLimit = None,
    format: options.StoredCheckFormat = None,
    output: options.Output = None,
) -> int:
    """Check a certificate: all that it says is computed again.

    Signature, dates and digests are checked, and the answer is computed by two algorithms. The proof of a
    repair (repair --prove) is computed again too; --model says whose counts it is about. With a certificate
    that names a proof, --proof gives it.

    Exit code 0: all that it says holds, whichever verdict it has; without --public-key its signature is not
    checked. 1: something does not hold. 3: not a certificate. 4: something that it says could not be
    recomputed within the limits.
    """
    form = destinations.chosen_format(format, output)
    if form not in ("text", "json", "markdown"):
        raise typer.BadParameter(
            "what was checked is text, JSON or Markdown; auditor report makes a page of a certificate",
            param_hint="--output",
        )
    if certificate is None and chain is None:
        raise typer.BadParameter("give a certificate, or --chain", param_hint="CERTIFICATE")
    if extract is not None and certificate is None:
        raise typer.BadParameter("--extract needs a certificate")
    reads: dict[str, str | Path | None] = {
        "CERTIFICATE": certificate,
        "--public-key": public_key,
        "--model": model,
        "--revoked": revoked,
        "--chain": chain,
        **{f"--proof ({i})": path for i, path in enumerate(proof or (), 1)},
    }
    destinations.settle({"--output": output, "--extract": extract}, reads, prints=output is None)
    from auditor.report.certificates import result_line
    from auditor.usecases import certifying, proving

    if certificate is not None and proving.is_proof(certificate):
        if any(given is not None for given in (public_key, at, revoked, chain, proof, extract, time_limit)):
            raise typer.BadParameter("a proof of a likelihood goes with --model, --format and --output alone")
        with Working("verifying"):
            proved = proving.verify(certificate, model)
        _show(proved, form, output)
        if output is not None:
            complain(f"{result_line(proved)}; see {output}")
        return exits.BY_RESULT[proved.result]
    with Working("verifying"):
        document = certifying.verify(
            certificate,
            chain=chain,
            public_key=public_key,
            model=model,
            at=at,
            revoked=revoked,
            proofs=tuple(proof or ()),
            time_limit=time_limit,
        )
    _show(document, form, output)
    if output is not None:
        complain(f"{result_line(document)}; see {output}")
    if extract is not None and certificate is not None:
        write_text(extract, certifying.opened_at(certificate).readable)
    return exits.BY_RESULT[document.result]


def _platform() -> str:
    import platform

    return f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"


def _signer(key: Path | None, working: Working) -> Signer | None:
    from auditor.certificate.signing import PASSPHRASE_VARIABLE
    from auditor.usecases.certifying import Signer

    return None if key is None else Signer(key, lambda: working.passphrase(key, PASSPHRASE_VARIABLE))


def _report_issued(certificate: Certificate, key: Path | None, output: Path | None) -> int:
    """Say on standard error what was issued; return the exit code."""
    from auditor.report.wording import KINDS, VERDICTS

    signed = "signed" if key else "NOT signed"
    where = f"; see {output}" if output else ""
    complain(
        f"{certificate.model.name}: {VERDICTS[certificate.verdict]} at δ = {certificate.delta}; "
        f"{KINDS[certificate.verdict]} {certificate.id} is {signed}{where}"
    )
    return exits.BY_VERDICT[certificate.verdict]


def _show(
    document: Verification | ChainVerification | ProofVerification | Comparison,
    format: CheckFormatName,
    output: Path | None,
) -> None:
    """Write what was checked or compared to its file or to standard output."""
    from auditor.documents.record import to_json
    from auditor.report.certificates import render

    if format == "json":
        deliver(to_json(document), format, output)
    elif output is not None:
        write_text(output, render(document, format))
    else:
        print_result(render(document, format, colour=coloured(), columns=columns()), format)
