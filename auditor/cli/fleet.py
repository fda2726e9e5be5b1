"""Many models at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from auditor.cli import destinations, exits, options
from auditor.cli.terminal import Working, coloured, columns, complain, print_result
from auditor.messages import escaped
from auditor.output import make_folder, write_text

if TYPE_CHECKING:
    from auditor.documents.fleet import FleetRow


def fleet(
    delta: options.Delta,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="Models, JSON or YAML: files, globs in quotes, or folders with all below."
        ),
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="Text file that names more of them, one a line."),
    ] = None,
    criterion: options.Criterion = "difference",
    min_probability: options.MinProbability = None,
    undisclosed: options.UndisclosedOption = None,
    sensitive: options.SensitiveOption = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Leave open what of a model is not proved by then."),
    ] = None,
    jobs: options.Jobs = None,
    backend: Annotated[
        Literal["processes", "dask", "ray", "spark"],
        typer.Option(help="Where the work is done: here, or in a cluster (needs its package)."),
    ] = "processes",
    reports: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write an HTML report of each audit into this folder."),
    ] = None,
    format: Annotated[
        Literal["text", "jsonl", "csv", "markdown"] | None,
        typer.Option("--format", "-f", help="Format on standard output, without -o.  [default: text]"),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the result here: .jsonl, .csv, .html, .md or .txt; repeatable. A .jsonl grows row by "
            "row, and a later run takes from it what is done.",
        ),
    ] = None,
) -> int:
    """Audit many models: a row for each, the worst first.

    A model that can't be audited is a row too. Exit code: the worst of all rows, in this order. 70: a bug.
    3: bad input. 1: not δ-fair. 4: inconclusive. 0: all are δ-fair.
    """
    from auditor.report.fleet import SUFFIXES, render, result_line, worst_first

    files = output or []
    forms = {path: SUFFIXES.get(path.suffix.lower()) for path in files}
    if wrong := [path for path, form in forms.items() if form is None]:
        raise typer.BadParameter(
            f"the suffix of {escaped(str(wrong[0]))} is none of {', '.join(SUFFIXES)}", param_hint="--output"
        )
    states = [path for path, form in forms.items() if form == "jsonl"]
    if len(states) > 1:
        raise typer.BadParameter("only one file can be .jsonl", param_hint="--output")
    if files and format:
        raise typer.BadParameter("it is for standard output; leave it out with -o", param_hint="--format")
    from auditor.documents.fleet import FleetQuestion
    from auditor.usecases import fleet as fleets

    given = [*(models or ()), *(fleets.names(listed) if listed else ())]
    found = fleets.expanded(given)
    reads: dict[str, str | Path | None] = {f"MODEL ({escaped(file)})": file for file in found}
    writes: dict[str, Path | None] = {f"--output ({escaped(str(path))})": path for path in files}
    # What is refused leaves no folder behind.
    destinations.settle(writes, reads | {"--list": listed}, prints=not files)
    if reports is not None:
        make_folder(reports)
        writes |= {f"--reports ({escaped(str(p))})": p for p in fleets.report_files(found, reports)}
        destinations.settle(writes, reads | {"--list": listed}, prints=not files)
    question = FleetQuestion(
        delta=delta,
        criterion=criterion,
        min_probability=min_probability,
        sensitive=tuple(sensitive) if sensitive else None,
        undisclosed=undisclosed,
        time_limit=time_limit,
    )
    state = states[0] if states else None
    rows: list[FleetRow] = []
    failed = 0
    with Working(f"auditing {len(found):,} models") as progress:
        for row in fleets.fleet(found, question, state=state, reports=reports, jobs=jobs, backend=backend):
            rows.append(row)
            failed += row.failure is not None
            progress(
                f"{len(rows):,} of {len(found):,} models" + (f", {failed:,} not audited" if failed else "")
            )
    rows = worst_first(rows)
    for path, form in forms.items():
        if form is not None:
            write_text(path, render(rows, question, form, folder=path.parent))
    if files:
        complain(f"{result_line(rows, question)}; see {', '.join(map(str, files))}")
    else:
        shown = format or "text"
        print_result(
            render(rows, question, shown, columns=columns(), colour=coloured()),
            "csv" if shown == "jsonl" else shown,
        )
    codes = (row.failure.exit_code for row in rows if row.failure)
    verdicts = (exits.BY_VERDICT[row.answer.verdict] for row in rows if row.answer)
    return exits.worst([*codes, *verdicts])
