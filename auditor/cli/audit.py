"""What a model does: audits, and lists of patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.choices import SummaryName
from auditor.cli import destinations, exits, options, tables
from auditor.cli.report import deliver_report
from auditor.cli.terminal import Working, coloured, columns, complain, print_result
from auditor.output import write_text
from auditor.report.formats import FormatName
from auditor.report.press import Press

if TYPE_CHECKING:
    from auditor.documents.audit import Audit
    from auditor.documents.patterns import PatternList

#: Patterns that are listed when no number is given; a summary is wanted whole.
TOP_DEFAULT, SUMMARY_DEFAULT = 10, 1000


def audit(
    model: options.Model,
    delta: options.Delta,
    top: options.AuditTop = TOP_DEFAULT,
    rank_by: options.Rank = None,
    criterion: options.Criterion = "difference",
    min_probability: options.MinProbability = None,
    undisclosed: options.UndisclosedOption = None,
    time_limit: options.TimeLimit = None,
    sensitive: options.SensitiveOption = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Data to compare with: CSV or Parquet, files, a glob or a folder; columns as in the model.",
        ),
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The model selects whom it gives more than this, in data  [default: 0.5]; of a scorecard, "
            'a probability or points ("620 points"), for rates of approval beside the search.',
        ),
    ] = None,
    box: options.Box = None,
    idm: options.MoreRows = None,
    largest_box: options.LargestBox = False,
    rounding: options.Rounding = False,
    any_population: options.AnyPopulation = False,
    min_group: Annotated[
        int, typer.Option(min=1, metavar="N", help="Mark groups with fewer people in the data.")
    ] = 30,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    thousands: tables.Thousands = None,
    encoding: tables.Encoding = "utf-8",
    missing: tables.Missing = None,
    from_: tables.From = None,
    table: tables.TableName = None,
    sql: tables.Sql = None,
    format: options.AnyFormat = None,
    output: options.Output = None,
) -> int:
    """Audit a model: whether it is δ-fair, and where not. FILE can be a report for people, HTML or PDF.

    Exit code 0: δ-fair, and so is every model or population that was asked about (--box, --idm, --rounding,
    --any-population). 1: one isn't. 4: inconclusive within the limits.
    """
    form = destinations.chosen_format(format, output)
    written = tables.dialect(separator, decimal, thousands, encoding, missing)
    source = tables.source("--data", data, from_, table, sql)
    reads = {"MODEL": model, **tables.files("--data", data)}
    destinations.settle({"--output": output}, reads, prints=output is None)
    with Press(form == "pdf") as press:
        from auditor.model.reading import load_model
        from auditor.model.scorecard import ScorecardSpec
        from auditor.model.spec import ModelSpec
        from auditor.report.sections import reach
        from auditor.report.text import verdict_line
        from auditor.usecases import auditing

        spec = load_model(model)
        if source is not None and isinstance(spec, ModelSpec):
            options.share(cutoff)
        if sensitive:
            spec = auditing.marked(spec, sensitive)
        with Working("reading the model") as progress:
            document = auditing.audit(
                spec,
                delta,
                criterion=criterion,
                top=top,
                rank_by=rank_by,
                min_probability=min_probability,
                undisclosed=undisclosed,
                illustrate=form not in ("text", "csv"),
                time_limit=time_limit,
                cutoff=cutoff if source is None or isinstance(spec, ScorecardSpec) else None,
                box=box,
                idm=idm,
                largest_box=largest_box,
                rounding=rounding,
                any_population=any_population,
                progress=progress,
            )
            if source is not None:
                document = auditing.with_data(
                    document,
                    spec,
                    source,
                    dialect=written,
                    min_group=min_group,
                    cutoff=cutoff or "0.5",
                    progress=progress,
                )
        if form == "html" or form == "pdf" or form == "markdown":
            from auditor.usecases.reporting import ReportOptions, of_audit

            deliver_report(of_audit(document, spec, form, ReportOptions(printed=press.render)), output)
        else:
            _deliver(document, form, output)
    if output is not None:
        said = [verdict_line(document), *(reach.lines(document.how_far) if document.how_far else ())]
        complain(f"{'; '.join(said)}; see {output}")
    return exits.of_audit(document)


def patterns(
    model: options.Model,
    delta: options.Delta,
    top: options.Top = None,
    rank_by: options.Rank = None,
    summary: Annotated[
        SummaryName | None,
        typer.Option(help="List a summary instead.  [default for N: 1000]"),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="List N patterns drawn uniformly instead.")
    ] = None,
    criterion: options.Criterion = "difference",
    min_probability: options.MinProbability = None,
    undisclosed: options.UndisclosedOption = None,
    sensitive: options.SensitiveOption = None,
    time_limit: options.TimeLimit = None,
    format: options.Format = None,
    output: options.Output = None,
) -> int:
    """List discrimination patterns of a model.

    The top ones, or a summary: those of which no proper part is one (minimal), which no other beats in both
    probability and degree (pareto), or of which no extension is one (maximal); or a sample. --top limits a
    summary too. Exit code 0, whether there are patterns or not.
    """
    form = destinations.chosen_format(format, output)
    if sample and (summary or top or min_probability is not None):
        raise typer.BadParameter("--sample goes without --summary, --top and --min-probability")
    if form == "html" or form == "pdf":
        raise typer.BadParameter("a list is no report; auditor audit makes one", param_hint="--output")
    if rank_by and (sample or summary):
        raise typer.BadParameter("--rank-by goes with neither --summary nor --sample")
    destinations.settle({"--output": output}, {"MODEL": model}, prints=output is None)
    from auditor.model.reading import load_model
    from auditor.usecases import auditing

    spec = load_model(model)
    if sensitive:
        spec = auditing.marked(spec, sensitive)
    with Working("reading the model") as progress:
        document = auditing.patterns(
            spec,
            delta,
            choose="sample" if sample else summary or "top",
            limit=sample or top or (SUMMARY_DEFAULT if summary else TOP_DEFAULT),
            rank_by=rank_by,
            criterion=criterion,
            min_probability=min_probability,
            undisclosed=undisclosed,
            time_limit=time_limit,
            progress=progress,
        )
    _deliver(document, form, output)
    return 0


def _deliver(document: Audit | PatternList, format: FormatName, output: Path | None) -> None:
    """Write the result to its file or to standard output."""
    from auditor.report.formats import render

    if output is not None:
        write_text(output, render(document, format))
        return
    print_result(render(document, format, colour=coloured(), columns=columns()), format)
