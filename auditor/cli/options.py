"""The options and arguments that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from auditor.choices import CriterionName, RankBy, Undisclosed
from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.report.formats import AnyFormatName, CheckFormatName, FormatName


def _up_to(most: int) -> Callable[[str | None], str | None]:
    """Make what checks that an option is an exact number from 0 to another."""

    def checked(value: str | None) -> str | None:
        from auditor.search.question import Share

        try:
            return None if value is None else Share.of(value, most).text
        except InputError as error:
            raise typer.BadParameter(str(error)) from error

    return checked


#: Checks that an option is an exact number from 0 to 1.
share = _up_to(1)


def besides(also: str | None, delta: str, criterion: CriterionName) -> CriterionName | None:
    """Check that an option is another criterion with a δ of its own, and return which."""
    from auditor.search.question import Question

    try:
        return None if also is None else Question.of(delta, criterion).besides(also).criterion_name
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _day(text: str) -> date:
    """Read a calendar date."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError as error:
        raise ValueError(f"{shown(text)} is not a date such as 2026-01-31") from error


def model(path: str | None) -> str | None:
    """Tell who gives a table, or a model of another program, how to make a model of it."""
    name = escaped(path or "")
    if name.lower().endswith((".csv", ".tsv", ".parquet")):
        raise InputError(
            f"{name}: a table of data, and no model; auditor learn {name} -o model.json … makes one of it"
        )
    if name.lower().endswith((".pkl", ".pickle", ".joblib")):
        raise InputError(
            f"{name}: a pickle can run any code and is never opened; save the estimator with "
            "skops.io.dump, and auditor import … -o model.json makes a model of it"
        )
    if name.lower().endswith((".skops", ".pmml", ".bif", ".bifxml", ".xmlbif", ".xml")):
        raise InputError(
            f"{name}: a model of another program; auditor import {name} -o model.json … makes one to audit "
            "of it"
        )
    return path


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", callback=model, help="Model specification, JSON or YAML; - is standard input."
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        metavar="NUMBER", callback=share, help="Threshold from 0 to 1; a degree above it discriminates."
    ),
]
AuditTop = Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many patterns to list.")]
Top = Annotated[int | None, typer.Option(metavar="N", min=1, help="How many patterns to list.")]
Rank = Annotated[RankBy | None, typer.Option(help="What makes a pattern a top one.  [default: divergence]")]
Criterion = Annotated[
    CriterionName,
    typer.Option(help="What δ limits: the difference that disclosing makes, or 1 minus the ratio."),
]
UndisclosedOption = Annotated[
    Undisclosed | None,
    typer.Option(
        "--undisclosed",
        help="What an attribute of a scorecard counts that isn't disclosed.  [default: as it says]",
    ),
]
MinProbability = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", callback=share, help="Speak only of patterns that are at least so probable."
    ),
]
Box = Annotated[
    str | None,
    typer.Option(
        "--box",
        metavar="EPS",
        callback=_up_to(1000),
        help="Also decide for every model whose probabilities are each up to 1+EPS times larger or smaller; "
        "of a scorecard, by what each number of it multiplies the odds.",
    ),
]
CertifiedBox = Annotated[
    str | None,
    typer.Option(
        "--box",
        metavar="EPS",
        callback=share,
        help="Certify every model too whose probabilities are each up to 1+EPS times larger or smaller.",
    ),
]
MoreRows = Annotated[
    str | None,
    typer.Option(
        "--idm",
        metavar="ROWS",
        callback=_up_to(1_000_000),
        help="Also decide for every model that the same counts and so many more rows of any kind can give "
        "(imprecise Dirichlet model).",
    ),
]
LargestBox = Annotated[
    bool, typer.Option("--largest-box", help="Also find the EPS up to which the verdict holds.")
]
Rounding = Annotated[
    bool,
    typer.Option(
        "--rounding",
        help="Of a scorecard: also decide for all whose numbers are these when rounded to the same decimals.",
    ),
]
AnyPopulation = Annotated[
    bool,
    typer.Option(
        "--any-population", help="Of a scorecard: also decide for every population that conforms with it."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="Leave open what is not proved by then."),
]
NamedProof = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Proof of a repaired model (repair --prove), whose bound the certificate then states.",
    ),
]
Gap = Annotated[
    str | None,
    typer.Option(
        metavar="NATS|PERCENT",
        help="What a proof aims at, above what was found: nats, or a share of the loss.  [default: 1%]",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Attributes whose probabilities stay exactly those of the counts; repeatable.",
    ),
]
LargestChange = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        callback=share,
        help="By how much any probability may differ from the counts': 0.05 lets 0.30 be 0.25 to 0.35.",
    ),
]
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Attributes whose values stay in order: P(favourable) moves in one direction along the list; "
        "repeatable.",
    ),
]
Also = Annotated[
    str | None,
    typer.Option(
        "--also",
        metavar="CRITERION:NUMBER",
        help="Be fair by the other criterion too, at a δ of its own: ratio:0.2.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Processes.  [default: one per processor]")
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
    typer.Option("--output", "-o", metavar="FILE", help="Write the model here: JSON or YAML."),
]
StoredCheckFormat = Annotated[
    CheckFormatName | None,
    typer.Option("--format", "-f", help="Format of the result.  [default: by the suffix of FILE, or text]"),
]
OptionalDelta = Annotated[
    str | None,
    typer.Option(
        "--delta",
        metavar="NUMBER",
        callback=share,
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
    typer.Option(
        "--sensitive", metavar="NAME", help="Attribute to protect, in place of those marked; repeatable."
    ),
]
Issuer = Annotated[str | None, typer.Option(metavar="NAME", help="Organisation that issues it.")]
Responsible = Annotated[str | None, typer.Option(metavar="NAME", help="Person who answers for it.")]
Issued = Annotated[
    date | None,
    typer.Option(parser=_day, metavar="DATE", help="Day of issue, UTC.  [default: today]"),
]
ValidFrom = Annotated[
    date | None,
    typer.Option(parser=_day, metavar="DATE", help="First day it holds.  [default: day of issue]"),
]
ValidDays = Annotated[
    int | None, typer.Option(metavar="DAYS", min=1, max=3660, help="Days it holds.  [default: 365]")
]
At = Annotated[
    date | None,
    typer.Option(parser=_day, metavar="DATE", help="Whether it holds then.  [default: today]"),
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
