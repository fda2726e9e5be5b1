"""Reports for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from auditor.cli import destinations, options
from auditor.cli.terminal import Working, complain, passphrase, print_result
from auditor.output import write_bytes
from auditor.report.formats import format_of
from auditor.report.press import Press

if TYPE_CHECKING:
    from auditor.usecases.reporting import Made

ReportFormatName = Literal["html", "pdf", "markdown", "model-card"]


def report(
    document: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT",
            help="Stored result of a command, certificate (JSON or in a PDF), or repaired model.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Report to write: .html, .pdf or .md.")
    ],
    format: Annotated[
        ReportFormatName | None,
        typer.Option(
            "--format",
            "-f",
            help="Format of the report; a model card is Markdown for the Hugging Face Hub.  "
            "[default: by the suffix of FILE]",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            callback=options.model,
            help="Model of a stored audit or repair, which hold its digest; or of a certificate, for the "
            "labels of its attributes.",
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(metavar="AUDIT", help="Stored audit of a certificate's model, to show findings too."),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="Certificate that this one supersedes, to say what changed."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Framework whose items the evidence is set beside, or a file of your own."
        ),
    ] = None,
    template_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Templates of your own, which come before the shipped ones."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Policy file with the logo and the colour.")
    ] = None,
    pades: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sign the PDF with this RSA key, PKCS #12 (needs pyhanko)."),
    ] = None,
    time_limit: options.TimeLimit = None,
) -> int:
    """Make a report for people of a certificate or an audit.

    It is HTML, PDF, Markdown or a model card. What is stored is shown, and only a model that is given is
    audited. A PDF holds the document too, for auditor verify. Exit code 0, whatever the verdict.
    """
    if format is not None:
        destinations.refuse_other_suffix("markdown" if format == "model-card" else format, output)
    form = format or format_of(output)
    if form not in ("html", "pdf", "markdown", "model-card"):
        raise typer.BadParameter(f"{output} is none of .html, .pdf, .md", param_hint="--output")
    if pades is not None and form != "pdf":
        raise typer.BadParameter("only a PDF can be signed", param_hint="--pades")
    reads: dict[str, str | Path | None] = {
        "DOCUMENT": document,
        "--model": model,
        "--audit": audit,
        "--since": since,
        "--profile": profile,
        "--template-dir": template_dir,
        "--policy": policy,
        "--pades": pades,
    }
    destinations.settle({"--output": output}, reads, prints=False)
    with Press(form == "pdf") as press:
        from auditor.usecases import reporting

        if policy is not None:
            destinations.settle(
                {"--output": output}, {"the logo of --policy": reporting.logo_of(policy)}, prints=False
            )
        signature = (pades, passphrase(pades, "AUDITOR_PADES_PASSPHRASE")) if pades else None
        looks = reporting.ReportOptions(
            profile=profile, templates=template_dir, policy=policy, printed=press.render
        )
        with Working("making the report"):
            made = reporting.report(
                document,
                form,
                model=model,
                audit=audit,
                since=since,
                options=looks,
                pades=signature,
                time_limit=time_limit,
            )
    deliver_report(made, output)
    complain(f"{made.line}; see {output}")
    return 0


def deliver_report(made: Made, output: Path | None) -> None:
    """Write a report to its file or to standard output, and what the user should know to standard error."""
    if output is not None:
        write_bytes(output, made.content)
    else:
        print_result(made.content.decode("utf-8"), "markdown")
    complain(*made.remarks)
