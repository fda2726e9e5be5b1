"""The command line: options in, exit code out.

Heavy modules are imported by the commands that need them, so that ``auditor --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from auditor.choices import (
    CriterionName,
    CutRanking,
    MethodName,
    RankBy,
    SolverName,
    SummaryName,
    Verdict,
)
from auditor.errors import AuditorError, InputError, OutputError
from auditor.output import ensure_writable, write_bytes, write_text
from auditor.report.formats import SUFFIXES, AnyFormatName, FormatName, format_of
from auditor.resources import resource
from auditor.version import __version__

if TYPE_CHECKING:
    from auditor.documents.audit import Audit
    from auditor.documents.certificate import Certificate
    from auditor.documents.comparison import Comparison
    from auditor.documents.patterns import PatternList
    from auditor.documents.verification import ChainVerification, Verification
    from auditor.usecases.auditing import Progress
    from auditor.usecases.certifying import Signer
    from auditor.usecases.reporting import Made

EXIT_BUG, EXIT_INTERRUPTED = 70, 130
EXIT_BY_RESULT: dict[str, int] = {"holds": 0, "does not hold": 1, "undecided": 4}
EXIT_BY_VERDICT: dict[Verdict, int] = {"delta-fair": 0, "not-delta-fair": 1, "inconclusive": 4}

#: Patterns that are listed when no number is given; a summary is wanted whole.
TOP_DEFAULT, SUMMARY_DEFAULT = 10, 1000

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    # Rich would take a name in square brackets for markup, and doubles the time that help takes.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine; 1 a finding, such as not δ-fair; 2 wrong usage; 3 bad input; 4 inconclusive; "
    "5 repair failed; 70 a bug in auditor.",
)


def main() -> int:
    """Run the command line and return its exit code; every error is reported here."""
    try:
        code = app(prog_name="auditor", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        _complain(*error.format_message().splitlines())
        if context:
            _complain(f"Try '{context.command_path} --help'.")
        return error.exit_code
    except AuditorError as error:
        _complain(*error.problems)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except Exception as error:
        if os.environ.get("AUDITOR_TRACEBACK"):
            traceback.print_exc()
        _complain(
            f"This is a bug in auditor {__version__}, not in your input: {type(error).__name__}: {error}. "
            "No result was given, and none may be assumed. Please report it with the command and, if you may "
            "share it, the model; AUDITOR_TRACEBACK=1 in the environment shows where it happened."
        )
        return EXIT_BUG


def _share(value: str | None) -> str | None:
    """Check that an option is an exact number from 0 to 1."""
    from auditor.usecases.auditing import parse_share

    try:
        return None if value is None else parse_share(value)[0]
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"auditor {__version__}")
        raise typer.Exit


Model = Annotated[str, typer.Argument(help="Model specification, JSON or YAML; - is standard input.")]
Delta = Annotated[
    str,
    typer.Option(
        metavar="NUMBER", callback=_share, help="Threshold from 0 to 1; a degree above it discriminates."
    ),
]
Top = Annotated[int | None, typer.Option(metavar="K", min=1, help="How many patterns to list.")]
Rank = Annotated[RankBy | None, typer.Option(help="What makes a pattern a top one.  [default: divergence]")]
Criterion = Annotated[
    CriterionName,
    typer.Option(help="What δ limits: the difference that disclosing makes, or 1 minus the ratio."),
]
MinProbability = Annotated[
    str | None,
    typer.Option(metavar="P", callback=_share, help="Speak only of patterns that are at least so probable."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="Leave open what is not proved by then."),
]
Format = Annotated[
    FormatName | None,
    typer.Option("--format", "-f", help="Format of the result.  [default: by the suffix of FILE, or text]"),
]
AnyFormat = Annotated[
    AnyFormatName | None,
    typer.Option("--format", "-f", help="Format of the result.  [default: by the suffix of FILE, or text]"),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result here, not to stdout.")
]

ModelOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="MODEL", help="Write the model here: JSON or YAML."),
]

CheckFormatName = Literal["text", "json", "markdown"]
OptionalDelta = Annotated[
    str | None,
    typer.Option(
        "--delta",
        metavar="NUMBER",
        callback=_share,
        help="Threshold from 0 to 1; a degree above it discriminates.  [default: of the policy]",
    ),
]
OptionalCriterion = Annotated[
    CriterionName | None,
    typer.Option(
        "--criterion", help="What δ limits: the difference that disclosing makes, or 1 minus the ratio."
    ),
]
PolicyOption = Annotated[
    Path | None, typer.Option("--policy", metavar="FILE", help="Policy file, TOML; options beat it.")
]
SensitiveOption = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="NAME", help="Attribute to protect, not those marked; repeatable."),
]
Issuer = Annotated[str | None, typer.Option(metavar="NAME", help="Organisation that issues it.")]
Responsible = Annotated[str | None, typer.Option(metavar="NAME", help="Person who answers for it.")]
Issued = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Day of issue, UTC.  [default: today]"),
]
ValidFrom = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="First day it holds.  [default: day of issue]"),
]
ValidDays = Annotated[
    int | None, typer.Option(metavar="DAYS", min=1, max=3660, help="Days it holds.  [default: 365]")
]
RecordPlatform = Annotated[
    bool,
    typer.Option("--record-platform", help="Record the machine; the bytes then differ between machines."),
]
Key = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Private key, PEM.  [default: the result is not signed]")
]
PublicKey = Annotated[
    Path | None, typer.Option("--public-key", metavar="FILE", help="Key that must have signed it, PEM.")
]
CheckFormat = Annotated[CheckFormatName, typer.Option("--format", "-f", help="Format of the result.")]
CertificateOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the certificate here, JSON."),
]


@app.callback()
def _auditor(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Verify, repair and certify δ-fairness of naive Bayes classifiers, exactly."""


@app.command()
def audit(
    model: Model,
    delta: Delta,
    top: Top = TOP_DEFAULT,
    rank_by: Rank = None,
    criterion: Criterion = "difference",
    min_probability: MinProbability = None,
    time_limit: TimeLimit = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Data to compare with, CSV or Parquet; columns as in the model."),
    ] = None,
    min_group: Annotated[
        int, typer.Option(min=1, metavar="N", help="Mark groups with fewer people in the data.")
    ] = 30,
    format: AnyFormat = None,
    output: Output = None,
) -> int:
    """Audit a model: whether it is δ-fair, and where not. FILE can be a report for people, HTML or PDF.

    Exit code 0: δ-fair. 1: not δ-fair. 4: inconclusive within the limits.
    """
    form = _chosen_format(format, output)
    from auditor.model.reading import load_model
    from auditor.report.text import verdict_line
    from auditor.usecases import auditing

    spec = load_model(model)
    with _progress() as progress:
        document = auditing.audit(
            spec,
            delta,
            criterion=criterion,
            top=top or TOP_DEFAULT,
            rank_by=rank_by or "divergence",
            min_probability=min_probability,
            time_limit=time_limit,
            progress=progress,
        )
        if data is not None:
            document = auditing.with_data(document, spec, data, min_group=min_group, progress=progress)
    if form == "html" or form == "pdf":
        from auditor.usecases.reporting import of_audit

        _deliver_report(of_audit(document, spec, form), output)
    else:
        _deliver(document, form, output)
    if output is not None:
        _complain(f"{verdict_line(document)}; see {output}")
    return EXIT_BY_VERDICT[document.verdict]


@app.command()
def patterns(
    model: Model,
    delta: Delta,
    top: Top = None,
    rank_by: Rank = None,
    summary: Annotated[
        SummaryName | None,
        typer.Option(help="List a summary instead.  [default for K: 1000]"),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="List N patterns drawn uniformly instead.")
    ] = None,
    criterion: Criterion = "difference",
    min_probability: MinProbability = None,
    time_limit: TimeLimit = None,
    format: Format = None,
    output: Output = None,
) -> int:
    """List discrimination patterns of a model.

    The top ones, or a summary: those of which no proper part is one (minimal), which no other beats in both
    probability and degree (pareto), or of which no extension is one (maximal); or a sample. --top limits a
    summary too. Exit code 0, whether there are patterns or not.
    """
    form = _chosen_format(format, output)
    if sample and (summary or top or min_probability is not None):
        raise typer.BadParameter("--sample goes without --summary, --top and --min-probability")
    if form == "html" or form == "pdf":
        raise typer.BadParameter("a list is no report; auditor audit makes one", param_hint="--output")
    if rank_by and (sample or summary):
        raise typer.BadParameter("--rank-by goes with neither --summary nor --sample")
    from auditor.model.reading import load_model
    from auditor.usecases import auditing

    with _progress() as progress:
        document = auditing.patterns(
            load_model(model),
            delta,
            choose="sample" if sample else summary or "top",
            limit=sample or top or (SUMMARY_DEFAULT if summary else TOP_DEFAULT),
            rank_by=rank_by or "divergence",
            criterion=criterion,
            min_probability=min_probability,
            time_limit=time_limit,
            progress=progress,
        )
    _deliver(document, form, output)
    return 0


@app.command()
def repair(
    model: Model,
    delta: Delta,
    criterion: Criterion = "difference",
    method: Annotated[
        MethodName, typer.Option(help="What to make: a fair model, or a baseline to compare it with.")
    ] = "fair",
    solver: Annotated[
        SolverName, typer.Option(help="All find the same; the first is the fastest.")
    ] = "interior",
    rank_by: Annotated[
        CutRanking, typer.Option(help="What makes a pattern the next to become a constraint.")
    ] = "discrimination",
    per_round: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            help="How many become constraints in a round.  [default: the worst of each set of attributes]",
        ),
    ] = None,
    max_rounds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after so many rounds, with the best fair model."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Stop after so long, with the best fair model."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Table to measure predictions on: CSV or Parquet.")
    ] = None,
    format: CheckFormat = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the repaired model here: JSON or YAML."),
    ] = None,
) -> int:
    """Learn the most likely model of the same counts that is δ-fair, and prove it.

    What changed, and at what price, goes to standard output; without -o the model does, and the rest to
    standard error. Each round is reported on standard error. Exit code 0: repaired. 5: no model could be
    proved fair within the limits.
    """
    form = _model_format(output)
    # The matrices are small; several threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from auditor.documents.record import to_json
    from auditor.model.reading import load_model
    from auditor.model.writing import dump_model
    from auditor.report.repairs import render, result_line, round_line
    from auditor.usecases import auditing

    made = auditing.repair(
        load_model(model),
        delta,
        criterion=criterion,
        method=method,
        solver=solver,
        rank_by=rank_by,
        per_round=per_round,
        max_rounds=max_rounds,
        time_limit=time_limit,
        data=data,
        on_round=lambda state: _complain(
            round_line(state.number, state.constraints, state.log_likelihood, state.patterns)
        ),
    )
    text = to_json(made.summary) if format == "json" else render(made.summary, format)
    if output is None:
        _print(dump_model(made.model), "json")
        _complain(*text.splitlines())
        return 0
    write_text(output, dump_model(made.model, form))
    _print(text, format)
    _complain(f"{result_line(made.summary)}; see {output}")
    return 0


@app.command()
def keygen(
    key: Annotated[
        Path | None, typer.Argument(metavar="KEY", help="Where the private key goes.  [default: key.pem]")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="KEY", help="The same.")] = None,
    no_passphrase: Annotated[
        bool, typer.Option("--no-passphrase", help="Leave the private key unencrypted, and don't ask.")
    ] = False,
) -> int:
    """Make a key pair to sign with: key.pem, which only you may read, and key.pub.pem to give away.

    The private key is encrypted if a passphrase is given at the prompt or in AUDITOR_KEY_PASSPHRASE. Neither
    file is ever overwritten.
    """
    from auditor.certificate import signing

    passphrase = None if no_passphrase else os.environ.get(signing.PASSPHRASE_VARIABLE)
    if passphrase is None and not no_passphrase and sys.stdin.isatty():
        passphrase = typer.prompt(
            "Passphrase, empty for none",
            default="",
            show_default=False,
            hide_input=True,
            err=True,
            confirmation_prompt=True,
        )
    pair = signing.generate(key or output or Path("key.pem"), passphrase)
    _print(f"private key  {pair.private}\npublic key   {pair.public}\nkey id       {pair.key_id}\n", "text")
    if not passphrase:
        _complain("The private key is not encrypted.")
    return 0


@app.command()
def certify(
    model: Model,
    delta: OptionalDelta = None,
    policy: PolicyOption = None,
    criterion: OptionalCriterion = None,
    min_probability: MinProbability = None,
    sensitive: SensitiveOption = None,
    issuer: Issuer = None,
    responsible: Responsible = None,
    issued: Issued = None,
    valid_from: ValidFrom = None,
    valid_days: ValidDays = None,
    record_platform: RecordPlatform = False,
    key: Key = None,
    time_limit: TimeLimit = None,
    output: CertificateOutput = None,
) -> int:
    """Issue a certificate of what can be shown of a model, signed if a key is given.

    There is one for each verdict, and it says which. The same model, policy and dates give the same bytes.
    Exit code 0: δ-fair. 1: not δ-fair. 4: inconclusive within the limits.
    """
    _check_certificate_output(output)
    from auditor.usecases import certifying

    wishes = certifying.Wishes(
        policy=policy,
        delta=delta,
        criterion=criterion,
        min_probability=min_probability,
        sensitive=tuple(sensitive or ()),
        valid_days=valid_days,
        issuer=issuer,
        responsible=responsible,
        issued=_day(issued),
        valid_from=_day(valid_from),
        platform=_platform() if record_platform else None,
        time_limit=time_limit,
    )
    made = certifying.certify(model, wishes, _signer(key))
    _deliver_bytes(made.data, output)
    return _report_issued(made.certificate, key, output)


@app.command()
def recertify(
    certificate: Annotated[Path, typer.Argument(metavar="OLD", help="The certificate to supersede.")],
    model: Model,
    scope_change: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Let the scope change, and record why; else it must not."),
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 1 too if the largest degree grew.")
    ] = False,
    delta: OptionalDelta = None,
    policy: PolicyOption = None,
    criterion: OptionalCriterion = None,
    min_probability: MinProbability = None,
    sensitive: SensitiveOption = None,
    issuer: Issuer = None,
    responsible: Responsible = None,
    issued: Issued = None,
    valid_from: ValidFrom = None,
    valid_days: ValidDays = None,
    record_platform: RecordPlatform = False,
    key: Key = None,
    public_key: PublicKey = None,
    time_limit: TimeLimit = None,
    format: CheckFormat = "text",
    output: CertificateOutput = None,
) -> int:
    """Certify a model that was trained again under the policy of its certificate, and say what changed.

    The comparison goes to standard output, the new certificate to FILE. Exit code 0: the new model is
    δ-fair. 1: it is not, or with --fail-on-regression its largest degree grew. 4: that is not known.
    """
    _check_certificate_output(output)
    from auditor.report.certificates import change_line
    from auditor.usecases import certifying

    wishes = certifying.Wishes(
        policy=policy,
        delta=delta,
        criterion=criterion,
        min_probability=min_probability,
        sensitive=tuple(sensitive or ()),
        valid_days=valid_days,
        issuer=issuer,
        responsible=responsible,
        issued=_day(issued),
        valid_from=_day(valid_from),
        platform=_platform() if record_platform else None,
        time_limit=time_limit,
    )
    made, comparison = certifying.recertify(
        certificate, model, wishes, _signer(key), public_key=public_key, scope_change_reason=scope_change
    )
    if output is not None:
        _deliver_bytes(made.data, output)
        _complain(f"{change_line(comparison)}; see {output}")
    _show(comparison, format, None)
    code = EXIT_BY_VERDICT[made.certificate.verdict]
    if fail_on_regression and code != 1 and comparison.regressed is not False:
        return 1 if comparison.regressed else 4
    return code


@app.command()
def verify(
    certificate: Annotated[
        Path | None,
        typer.Argument(metavar="CERTIFICATE", help="JSON, or a PDF in which the certificate is embedded."),
    ] = None,
    public_key: PublicKey = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model that must be the certified one.")
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Whether it holds then.  [default: today]"),
    ] = None,
    revoked: Annotated[
        Path | None, typer.Option(metavar="FILE", help="List of certificates that were taken back.")
    ] = None,
    chain: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Verify all certificates in DIR and how they follow.")
    ] = None,
    extract: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate inside as readable JSON too.")
    ] = None,
    time_limit: TimeLimit = None,
    format: CheckFormat = "text",
    output: Output = None,
) -> int:
    """Check a certificate: signature, dates, digests, and its answer, computed again by two algorithms.

    Exit code 0: everything that was checked holds, whichever verdict it has. 1: something does not. 4: the
    verdict could not be recomputed within the limits.
    """
    if certificate is None and chain is None:
        raise typer.BadParameter("give a certificate, or --chain", param_hint="CERTIFICATE")
    if extract is not None and certificate is None:
        raise typer.BadParameter("--extract needs a certificate")
    for path in (output, extract):
        if path is not None:
            ensure_writable(path)
    from auditor.certificate.reading import read_certificate
    from auditor.documents.record import to_json
    from auditor.report.certificates import result_line
    from auditor.usecases import certifying

    document = certifying.verify(
        certificate,
        chain=chain,
        public_key=public_key,
        model=model,
        at=_day(at),
        revoked=revoked,
        time_limit=time_limit,
    )
    _show(document, format, output)
    if output is not None:
        _complain(f"{result_line(document)}; see {output}")
    if extract is not None and certificate is not None:
        write_text(extract, to_json(read_certificate(certificate).certificate))
    return EXIT_BY_RESULT[document.result]


@app.command()
def report(
    document: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT", help="Stored audit or repair, certificate (JSON or in a PDF), repaired model."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Report to write: .html, .pdf or .md.")
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Model of a stored audit or repair, which hold its digest."),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="Certificate that this one supersedes, to say what changed."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Framework whose items the evidence is set beside; or a file."),
    ] = None,
    template_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Templates of your own, which come before the shipped ones."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Policy file with the logo and the colour.")
    ] = None,
    pades: Annotated[
        Path | None,
        typer.Option(metavar="P12", help="Sign the PDF with this RSA key (needs auditor[pades])."),
    ] = None,
    time_limit: TimeLimit = None,
) -> int:
    """Make a report for people of a document: HTML, PDF or Markdown.

    A PDF holds the document too, for auditor verify. Profiles: eu-ai-act-annex-iv, iso-iec-tr-24027,
    nist-ai-rmf-measure-2.11, nyc-local-law-144, us-four-fifths. Exit code 0, whatever the verdict.
    """
    form = format_of(output)
    if form not in ("html", "pdf", "markdown"):
        raise typer.BadParameter(f"{output} is none of .html, .pdf, .md", param_hint="--output")
    if pades is not None and form != "pdf":
        raise typer.BadParameter("only a PDF can be signed", param_hint="--pades")
    ensure_writable(output)
    from auditor.report.text import verdict_line
    from auditor.usecases import reporting

    style = reporting.Style(profile=profile, templates=template_dir, policy=policy)
    made = reporting.report(
        document, form, model=model, since=since, style=style, pades=_signature(pades), time_limit=time_limit
    )
    _deliver_report(made, output)
    _complain(f"{verdict_line(made.audit)}; see {output}")
    return 0


@app.command()
def learn(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Table with a header: CSV or Parquet.")],
    decision: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the decision.")],
    favourable: Annotated[
        list[str], typer.Option(metavar="VALUE", help="Favourable value of the decision; repeatable.")
    ],
    sensitive: Annotated[list[str], typer.Option(metavar="A,B", help="Columns to protect; repeatable.")],
    drop: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out; repeatable.")
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BINS", help="age=30,50 cuts a column of numbers there; 4 all others into 4; repeatable."
        ),
    ] = None,
    bin_method: Annotated[
        Literal["quantile", "width"], typer.Option(help="What the bins of a number alone have in common.")
    ] = "quantile",
    smoothing: Annotated[str, typer.Option(metavar="NUMBER", help="Added to each count.")] = "0",
    max_values: Annotated[
        int | None,
        typer.Option(min=2, max=10_000, help="Most values of an attribute.  [default: 100, or 20 numbers]"),
    ] = None,
    drop_unique: Annotated[
        bool, typer.Option("--drop-unique", help="Leave out columns with more values than that.")
    ] = False,
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave out columns that another one tells exactly.")
    ] = False,
    holdout: Annotated[
        float | None, typer.Option(min=0.01, max=0.9, help="Measure on this share of the rows.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, max=100, help="Measure on each of so many parts.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws those parts.")] = 0,
    separator: Annotated[
        str | None, typer.Option(metavar="MARK", help="Between cells.  [default: as in the header]")
    ] = None,
    decimal: Annotated[str, typer.Option(metavar="MARK", help="Decimal mark of numbers.")] = ".",
    encoding: Annotated[str, typer.Option(help="Encoding of the text.")] = "utf-8",
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Cell without a value, beside the empty one; repeatable.  [default: NA, N/A, NaN, null, ?]",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the model.  [default: as DATA]")] = None,
    output: ModelOutput = None,
) -> int:
    """Learn a model from data: count the rows with each value under each decision.

    The summary of the data goes to standard output; without -o the model does, and the summary to standard
    error. Columns with one value are left out; missing cells are taken as not observed.
    """
    if holdout and folds:
        raise typer.BadParameter("--holdout and --folds exclude each other")
    if len(decimal) != 1 or (separator is not None and len(separator.replace("\\t", "\t")) != 1):
        raise typer.BadParameter("--separator and --decimal are single characters")
    form = _model_format(output)
    from auditor.data import learning
    from auditor.data.binning import parse_bins
    from auditor.data.tables import MISSING, Dialect
    from auditor.model.writing import dump_model
    from auditor.report.learning import summary

    edges, number = parse_bins(bins or ())
    choices = learning.Choices(
        decision=decision,
        favourable=tuple(favourable),
        sensitive=tuple(sensitive),
        drop=tuple(drop or ()),
        edges=edges,
        bins=number,
        bin_method=bin_method,
        smoothing=learning.parse_smoothing(smoothing),
        max_values=max_values,
        drop_unique=drop_unique,
        drop_duplicates=drop_duplicates,
        holdout=holdout,
        folds=folds,
        seed=seed,
        name=name,
    )
    mark = separator and separator.replace("\\t", "\t")
    dialect = Dialect(mark, decimal, encoding, MISSING if missing is None else tuple(missing))
    with _progress() as progress:
        learned = learning.learn(data, choices, dialect, progress)
    text = summary(learned.summary)
    if output is None:
        _print(dump_model(learned.model), "json")
        _complain(*text.splitlines())
    else:
        write_text(output, dump_model(learned.model, form))
        _print(text, "text")
    return 0


@app.command("import")
def import_(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A scikit-learn estimator (.skops), PMML, BIF or XMLBIF (.pmml, .xml, .bif, …).",
        ),
    ],
    sensitive: Annotated[list[str], typer.Option(metavar="A,B", help="Attributes to protect; repeatable.")],
    favourable: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Favourable value of the decision.  [default: its second one]"),
    ] = None,
    decision: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the decision, which .skops files don't have.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the model.  [default: as FILE]")] = None,
    output: ModelOutput = None,
) -> int:
    """Turn a model of another program into a specification with the same probabilities.

    scikit-learn's CategoricalNB and BernoulliNB, alone or behind an encoder; PMML's NaiveBayesModel with
    discrete inputs; Bayesian networks of naive structure. No file is ever unpickled.
    """
    form = _model_format(output)
    from auditor.model.formats import import_model
    from auditor.model.writing import dump_model

    spec = import_model(model, sensitive=sensitive, favourable=favourable, decision=decision, name=name)
    text = dump_model(spec, form)
    if output is None:
        _print(text, "json")
    else:
        write_text(output, text)
    if favourable is None:
        _complain(f"{spec.decision.favourable.label} is taken as favourable; --favourable says otherwise.")
    return 0


@app.command()
def convert(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="JSON or YAML; or .pmml, or .skops for scikit-learn."
        ),
    ],
) -> int:
    """Write a model in another format; between JSON and YAML every digit stays.

    PMML and scikit-learn take a model into production, a repaired one too.
    """
    suffix = output.suffix.lower()
    if suffix not in (".pmml", ".skops"):
        form = _model_format(output, ".pmml", ".skops")
    ensure_writable(output)
    from auditor.model.reading import load_model

    spec = load_model(model)
    if suffix == ".pmml":
        from auditor.model.formats.pmml import to_pmml

        write_text(output, to_pmml(spec))
    elif suffix == ".skops":
        from auditor.model.formats.sklearn import to_skops

        write_bytes(output, to_skops(spec))
    else:
        from auditor.model.writing import dump_model

        write_text(output, dump_model(spec, form))
    return 0


@app.command()
def schema(
    name: Annotated[str, typer.Argument(help="Kind of document, such as model or audit.")],
    output: Output = None,
) -> int:
    """Print the JSON Schema of a kind of document."""
    names = sorted(path.stem for path in resource("schemas").glob("*.json"))
    if name not in names:
        raise typer.BadParameter(f"'{name}' is not one of {', '.join(names)}", param_hint="NAME")
    text = resource("schemas", f"{name}.json").read_text(encoding="utf-8")
    if output is None:
        _print(text, "json")
    else:
        write_text(output, text)
    return 0


def _chosen_format(format: AnyFormatName | None, output: Path | None) -> AnyFormatName:
    """Settle the format and find an output that can't be written, before the work."""
    chosen = format or ("text" if output is None else format_of(output))
    if chosen is None:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join(SUFFIXES)}; give --format", param_hint="--output"
        )
    if output is not None:
        ensure_writable(output)
    elif chosen == "pdf":
        raise typer.BadParameter("a PDF needs a FILE", param_hint="--output")
    return chosen


def _model_format(output: Path | None, *others: str) -> Literal["json", "yaml"]:
    """Tell the format of a model from its file's suffix, and find a file that can't be written."""
    suffix = ".json" if output is None else output.suffix.lower()
    known = (".json", ".yaml", ".yml")
    if suffix not in known:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join([*known, *others])}", param_hint="--output"
        )
    if output is not None:
        ensure_writable(output)
    return "json" if suffix == ".json" else "yaml"


def _deliver(document: Audit | PatternList, format: FormatName, output: Path | None) -> None:
    """Write the result to its file or to standard output."""
    from auditor.report.formats import render

    if output is not None:
        write_text(output, render(document, format))
        return
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    _print(render(document, format, colour=colour), format)


def _deliver_report(made: Made, output: Path | None) -> None:
    """Write a report to its file or to standard output, and what the user should know to standard error."""
    if output is not None:
        write_bytes(output, made.content)
    else:
        _print(made.content.decode("utf-8"), "markdown")
    _complain(*made.remarks)


def _signature(key: Path | None) -> tuple[Path, str] | None:
    """The key that signs a PDF, and its passphrase."""
    if key is None:
        return None
    given = os.environ.get("AUDITOR_PADES_PASSPHRASE")
    if given is None:
        _need_terminal(f"{key} is encrypted")
        given = str(typer.prompt(f"Passphrase of {key}", hide_input=True, err=True))
    return key, given


def _day(value: datetime | None) -> date | None:
    return value.date() if value else None


def _platform() -> str:
    import platform

    return f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"


def _signer(key: Path | None) -> Signer | None:
    from auditor.certificate.signing import PASSPHRASE_VARIABLE
    from auditor.usecases.certifying import Signer

    def passphrase() -> str:
        given = os.environ.get(PASSPHRASE_VARIABLE)
        if given is None:
            _need_terminal(f"{key} is encrypted")
            given = str(typer.prompt(f"Passphrase of {key}", hide_input=True, err=True))
        return given

    return None if key is None else Signer(key, passphrase)


def _need_terminal(reason: str) -> None:
    """Refuse to ask where nobody can answer."""
    if not sys.stdin.isatty():
        raise InputError(f"{reason}; without a terminal a passphrase is taken from AUDITOR_KEY_PASSPHRASE")


def _check_certificate_output(output: Path | None) -> None:
    if output is None:
        return
    if output.suffix.lower() in (".pdf", ".html", ".htm", ".md", ".txt", ".csv"):
        raise typer.BadParameter(
            f"a certificate is JSON, and {output} is not; make a report from it afterwards",
            param_hint="--output",
        )
    ensure_writable(output)


def _report_issued(certificate: Certificate, key: Path | None, output: Path | None) -> int:
    """Say on standard error what was issued; return the exit code."""
    from auditor.report.certificates import VERDICTS

    kind = "certificate" if certificate.verdict == "delta-fair" else "record"
    signed = "signed" if key else "NOT signed"
    where = f"; see {output}" if output else ""
    _complain(
        f"{certificate.model.name}: {VERDICTS[certificate.verdict]} at δ = {certificate.delta}; "
        f"{kind} {certificate.id} is {signed}{where}"
    )
    return EXIT_BY_VERDICT[certificate.verdict]


def _show(
    document: Verification | ChainVerification | Comparison, format: CheckFormatName, output: Path | None
) -> None:
    """Write what was checked or compared to its file or to standard output."""
    from auditor.documents.record import to_json
    from auditor.report.certificates import render

    text = to_json(document) if format == "json" else render(document, format)
    if output is not None:
        write_text(output, text)
    else:
        _print(text, format)


def _deliver_bytes(data: bytes, output: Path | None) -> None:
    if output is not None:
        write_bytes(output, data)
    else:
        _print(data.decode("utf-8"), "json")


def _print(text: str, format: FormatName) -> None:
    """Write to standard output; text in the encoding of the terminal, all else in UTF-8."""
    encoding = sys.stdout.encoding if format == "text" else "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, errors="backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has had enough. What Python still flushes at its end must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise OutputError(f"standard output can't be written: {error.strerror}") from error


def _complain(*lines: str) -> None:
    """Write lines to standard error, whatever they hold."""
    from auditor.report.wording import shown

    for line in lines:
        text = shown(line) + "\n"
        sys.stderr.buffer.write(text.encode(sys.stderr.encoding, errors="backslashreplace"))
    sys.stderr.flush()


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show what is being done on the last line of the terminal, if standard error is one."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return

    def show(stage: str) -> None:
        sys.stderr.write(f"\r\x1b[K{stage} …")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
