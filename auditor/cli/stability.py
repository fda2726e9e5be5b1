"""How a verdict varies with the data that a model is learned from."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.cli import destinations, options
from auditor.cli.report import deliver_report
from auditor.cli.terminal import Working, coloured, columns, complain, print_result


def stability(
    model: options.Model,
    delta: options.Delta,
    draws: Annotated[
        int, typer.Option(metavar="N", min=1, max=1_000_000, help="Models to draw from each distribution.")
    ] = 1_000,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="The same seed and draws give the same result.")
    ] = 0,
    criterion: options.Criterion = "difference",
    sensitive: options.SensitiveOption = None,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            callback=options.share,
            help="Also find with how many rows the middle 95% of the draws are no wider than this.",
        ),
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            callback=options.share,
            help="Make it a finding if the next model is not δ-fair with at least this probability.",
        ),
    ] = None,
    jobs: options.Jobs = None,
    format: options.AnyFormat = None,
    output: options.Output = None,
) -> int:
    """Estimate whether the model that is trained next would pass.

    Models are drawn that the data could have given. Two distributions are drawn from: of the probabilities
    behind the data (posterior), and of the model that is learned next from as many people. Each drawn model
    is answered exactly; what is said of all others is an estimate with limits. The model needs counts.

    Exit code 0: measured. With --at-least, 1: the next model is δ-fair less often. 4: the draws don't tell.
    """
    form = destinations.chosen_format(format, output)
    if form == "csv":
        raise typer.BadParameter("there is no table of this; give text, json, markdown, html or pdf")
    destinations.settle({"--output": output}, {"MODEL": model}, prints=output is None)
    from auditor.model.reading import load_naive_bayes
    from auditor.report.stability import render
    from auditor.search.question import Share
    from auditor.usecases import reporting
    from auditor.usecases.stability import stability as measure

    spec = load_naive_bayes(model)
    with Working("drawing models") as progress:
        document = measure(
            spec,
            delta,
            draws=draws,
            seed=seed,
            criterion=criterion,
            sensitive=tuple(sensitive) if sensitive else None,
            width=width,
            jobs=jobs,
            progress=progress,
        )
    if output is None:
        print_result(render(document, form, colour=coloured(), columns=columns()), form)
    else:
        made = reporting.of_page(document, form)
        deliver_report(made, output)
        complain(f"{made.line}; see {output}")
    if at_least is None:
        return 0
    low, high = document.next_model.probability
    wanted = Share.of(at_least).value
    return 0 if low >= wanted else 1 if high < wanted else 4
