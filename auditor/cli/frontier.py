"""The price of fairness: repairs over growing thresholds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from auditor.cli import destinations, options, tables
from auditor.cli.report import deliver_report
from auditor.cli.terminal import Working, coloured, columns, complain, print_result
from auditor.errors import InputError
from auditor.output import make_folder


def _grid(text: str) -> str:
    """Check the thresholds before any work."""
    from auditor.usecases.frontier import grid

    try:
        grid(text)
    except InputError as error:
        raise typer.BadParameter(str(error).removeprefix("deltas: ")) from error
    return text


def frontier(
    model: options.Model,
    deltas: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS", callback=_grid, help="Growing thresholds with commas: 0.01,0.02,0.05,0.1."
        ),
    ],
    criterion: options.Criterion = "difference",
    data: tables.Measured = None,
    cutoff: Annotated[
        str,
        typer.Option(
            metavar="NUMBER", callback=options.share, help="In data, a model selects whom it gives more than."
        ),
    ] = "0.5",
    keep: options.Keep = None,
    largest_change: options.LargestChange = None,
    monotone: options.Monotone = None,
    also: options.Also = None,
    least_accuracy: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", callback=options.share, help="What a model is to reach on the data."),
    ] = None,
    least_auc: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", callback=options.share, help="What a model is to reach on the data."),
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Prove how likely any δ-fair model can be, at each threshold.")
    ] = False,
    gap: options.Gap = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="For the repairs, and for proofs what they leave; what is found is then searched whole.  "
            "[default: none for the repairs, 300 for each proof]",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes for proofs.  [default: one per processor]"),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    thousands: tables.Thousands = None,
    encoding: tables.Encoding = "utf-8",
    missing: tables.Missing = None,
    from_: tables.From = None,
    table: tables.TableName = None,
    sql: tables.Sql = None,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write each point's model, and its proof, here: fair-0.1.json, proof-0.1.json.",
        ),
    ] = None,
    format: options.AnyFormat = None,
    output: options.Output = None,
) -> int:
    """Repair a model at growing thresholds, and show what each costs.

    That is likelihood and, with --data, what becomes of predictions. --least-accuracy and --least-auc
    recommend the smallest threshold whose model reaches them on the data, which is measured and not proved.
    FILE can be a report for people, HTML or PDF. Exit code 0: repaired at all thresholds. 1: none of the
    models reaches them. 5: at one threshold no model could be proved fair within the limits, or none was
    found that keeps to the conditions.
    """
    form = destinations.chosen_format(format, output)
    written = tables.dialect(separator, decimal, thousands, encoding, missing)
    source = tables.source("--data", data, from_, table, sql)
    if gap is not None and not prove:
        raise typer.BadParameter("--gap goes with --prove")
    if prove and criterion != "difference":
        raise typer.BadParameter("--prove goes with --criterion difference")
    options.besides(also, deltas.split(",")[0], criterion)
    if source is None and (least_accuracy or least_auc):
        raise typer.BadParameter("--least-accuracy and --least-auc go with --data")
    from auditor.usecases import frontier as frontiers

    writes: dict[str, Path | None] = {"--output": output}
    reads = {"MODEL": model, **tables.files("--data", data)}
    # What is refused leaves no folder behind.
    destinations.settle(writes, reads, prints=output is None)
    # The matrices are small; several threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from auditor.model.reading import load_naive_bayes
    from auditor.report.frontier import render
    from auditor.usecases import reporting

    spec = load_naive_bayes(model)
    if write is not None:
        make_folder(write)
        for pair in frontiers.file_names(frontiers.grid(deltas)):
            writes |= {f"--write ({name})": write / name for name in pair[: 1 + prove]}
        destinations.settle(writes, reads, prints=output is None)
    with Working("repairing") as working:
        curve = frontiers.frontier(
            spec,
            deltas,
            criterion=criterion,
            data=source,
            dialect=written,
            cutoff=cutoff,
            keep=keep or (),
            largest_change=largest_change,
            monotone=monotone or (),
            also=also,
            least_accuracy=least_accuracy,
            least_auc=least_auc,
            prove=prove,
            gap=gap,
            time_limit=time_limit,
            jobs=jobs,
            progress=working,
        )
    if write is not None:
        frontiers.write(curve, write)
    if output is None:
        print_result(render(curve.document, form, colour=coloured(), columns=columns()), form)
    else:
        made = reporting.of_page(curve.document, form)
        deliver_report(made, output)
        complain(f"{made.line}; see {output}")
    return 1 if (least_accuracy or least_auc) and curve.document.recommended is None else 0
