"""Models: learnt from data, imported from other programs, written for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from auditor.cli import destinations, options
from auditor.cli.terminal import complain, print_result, progress_line
from auditor.output import write_bytes, write_text


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
    output: options.ModelOutput = None,
) -> int:
    """Learn a model from data: count the rows with each value under each decision.

    The summary of the data goes to standard output; without -o the model does, and the summary to standard
    error. Columns with one value are left out; missing cells are taken as not observed.
    """
    if holdout and folds:
        raise typer.BadParameter("--holdout and --folds exclude each other")
    if len(decimal) != 1 or (separator is not None and len(separator.replace("\\t", "\t")) != 1):
        raise typer.BadParameter("--separator and --decimal are single characters")
    form = destinations.model_format(output)
    destinations.settle({"--output": output}, {"DATA": data}, prints=True)
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
    with progress_line() as progress:
        learned = learning.learn(data, choices, dialect, progress)
    text = summary(learned.summary)
    if output is None:
        print_result(dump_model(learned.model), "json")
        complain(*text.splitlines())
    else:
        write_text(output, dump_model(learned.model, form))
        print_result(text, "text")
    return 0


def import_model(
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
    output: options.ModelOutput = None,
) -> int:
    """Turn a model of another program into a specification with the same probabilities.

    scikit-learn's CategoricalNB and BernoulliNB, alone or behind an encoder; PMML's NaiveBayesModel with
    discrete inputs; Bayesian networks of naive structure. No file is ever unpickled.
    """
    form = destinations.model_format(output)
    destinations.settle({"--output": output}, {"FILE": model}, prints=output is None)
    from auditor.model.formats import import_model
    from auditor.model.writing import dump_model

    spec = import_model(model, sensitive=sensitive, favourable=favourable, decision=decision, name=name)
    text = dump_model(spec, form)
    if output is None:
        print_result(text, "json")
    else:
        write_text(output, text)
    if favourable is None:
        complain(f"{spec.decision.favourable.label} is taken as favourable; --favourable says otherwise.")
    return 0


def convert(
    model: options.Model,
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
        form = destinations.model_format(output, ".pmml", ".skops")
    destinations.settle({"--output": output}, {"MODEL": model}, prints=False)
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
