"""Repair: learn a model again, so that it is δ-fair."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from auditor.choices import CutRanking, MethodName, SolverName
from auditor.cli import destinations, options, tables
from auditor.cli.terminal import Working, coloured, columns, complain, print_result
from auditor.output import write_text


def repair(
    model: options.Model,
    delta: options.Delta,
    criterion: options.Criterion = "difference",
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
            metavar="N",
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
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Stop after so long, with the best fair model; a proof has what the repair leaves.  "
            "[default: none for the repair, 300 for a proof]",
        ),
    ] = None,
    keep: options.Keep = None,
    largest_change: options.LargestChange = None,
    monotone: options.Monotone = None,
    also: options.Also = None,
    data: tables.Measured = None,
    prove: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Prove how much likelier any δ-fair model can be, and write the proof here, JSON.",
        ),
    ] = None,
    gap: options.Gap = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            callback=options.share,
            help="Repair so far inside δ that the next model, learned from as many people and not "
            "repaired, is δ-fair with at least this probability.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000_000,
            help="With --margin: next models that are drawn for each threshold.  [default: 1000]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="With --margin: the same seed gives the same model."),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    thousands: tables.Thousands = None,
    encoding: tables.Encoding = "utf-8",
    missing: tables.Missing = None,
    from_: tables.From = None,
    table: tables.TableName = None,
    sql: tables.Sql = None,
    format: options.CheckFormat = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the repaired model here: JSON or YAML."),
    ] = None,
) -> int:
    """Learn a model of the same counts that is proved δ-fair.

    It is the most likely one that is found. Of a scorecard the population that conforms with it takes the
    place of counts; what is learnt is written back as points in the scorecard's own decimals, and proved as
    it is written.

    With --margin the threshold of the repair is the largest hundredth of δ whose next model passes at δ often
    enough, by exact answers for models that are drawn; one that is repaired again passes anyway. The limit is
    that of 95%. It can take minutes; the time limit is of finding the threshold.

    --keep, --largest-change and --monotone are conditions besides, which what is written is held against
    exactly. So is --also: --delta 0.05 --also ratio:0.2 limits both. What is fair by the ratio at some δ is
    fair by the difference there, so that both together ask for more only if the difference has the smaller δ.
    --prove then bounds all models that are δ-fair by the difference, whether or not they keep to any of this.

    What changed, and at what price, goes to standard output; without -o the model does, and the rest to
    standard error. Each round is reported on standard error. Exit code 0: repaired. 5: no model could be
    proved fair within the limits, or none was found that keeps to the conditions.
    """
    form = destinations.model_format(output)
    written = tables.dialect(separator, decimal, thousands, encoding, missing)
    source = tables.source("--data", data, from_, table, sql)
    reads = {"MODEL": model, **tables.files("--data", data)}
    destinations.settle({"--output": output, "--prove": prove}, reads, prints=True)
    if gap is not None and prove is None:
        raise typer.BadParameter("--gap goes with --prove")
    if prove is not None and (criterion != "difference" or method != "fair"):
        raise typer.BadParameter("--prove goes with --criterion difference and --method fair")
    if margin is None and (draws, seed) != (None, None):
        raise typer.BadParameter("--draws and --seed go with --margin")
    if margin is not None and method != "fair":
        raise typer.BadParameter("--margin goes with --method fair")
    if method != "fair" and (also or keep or monotone or largest_change is not None):
        raise typer.BadParameter("--keep, --largest-change, --monotone and --also go with --method fair")
    other = options.besides(also, delta, criterion)
    if also and margin is not None:
        raise typer.BadParameter(
            "--margin goes without --also; leave it out, and measure the next model by each criterion with "
            "auditor stability"
        )
    # The matrices are small; several threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from auditor.documents.record import to_json
    from auditor.model.reading import load_model, load_naive_bayes
    from auditor.model.writing import dump_model
    from auditor.report.repairs import render, result_line, round_line
    from auditor.usecases import auditing, clock

    counted = None if prove is None and margin is None else load_naive_bayes(model)
    spec = counted or load_model(model)
    started = clock.seconds()
    if counted is not None and prove is not None:
        from auditor.usecases import proving

        proving.ensure_provable(counted, gap)
    with Working("learning a fair model") as working:
        made = auditing.repair(
            spec,
            delta,
            criterion=criterion,
            method=method,
            solver=solver,
            rank_by=rank_by,
            per_round=per_round,
            max_rounds=max_rounds,
            time_limit=time_limit,
            keep=keep or (),
            largest_change=largest_change,
            monotone=monotone or (),
            also=also,
            data=source,
            dialect=written,
            margin=margin,
            draws=1_000 if draws is None else draws,
            seed=seed or 0,
            progress=working,
            on_round=lambda state: working.say(
                round_line(
                    state.number,
                    state.constraints,
                    state.log_likelihood,
                    state.patterns,
                    (other, state.also) if other else None,
                )
            ),
        )
    proof = None
    if counted is not None and prove is not None:
        left = None if time_limit is None else max(0.0, time_limit - (clock.seconds() - started))
        with Working("proving") as working:
            made, proof = proving.prove_repair(counted, made, gap, left, working)
    # Where the model goes to standard output, what is said of it goes to the other stream.
    seen = output is not None and coloured()
    room = columns()
    text = (
        to_json(made.summary) if format == "json" else render(made.summary, format, colour=seen, columns=room)
    )
    if prove is not None and proof is not None:
        write_text(prove, to_json(proof))
    if output is None:
        print_result(dump_model(made.model), "json")
        complain(*text.splitlines())
        return 0
    write_text(output, dump_model(made.model, form))
    print_result(text, format)
    complain(f"{result_line(made.summary)}; see {output}")
    return 0
