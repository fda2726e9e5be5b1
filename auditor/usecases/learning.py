"""The use case of learning: data in, a model and what the data hold out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from auditor.data.cells import Dialect
from auditor.data.counted import Counted, LearnOptions, Summary, parse_smoothing
from auditor.data.counting import count, count_segments
from auditor.data.scoring import cross_measured
from auditor.data.tables import Progress, open_table
from auditor.errors import InputError
from auditor.model.building import decimal
from auditor.model.spec import ModelSpec

if TYPE_CHECKING:
    from auditor.data.tables import Source


class Learned(NamedTuple):
    """A model, and what is in the data that it was counted from."""

    model: ModelSpec
    summary: Summary


def learn(
    data: Source,
    options: LearnOptions | None = None,
    dialect: Dialect | None = None,
    progress: Progress = lambda stage: None,
    **fields: Any,
) -> Learned:
    """Count data for a model.

    Parameters
    ----------
    data : str, path-like, sequence of them, DataFrame or Table
        CSV or Parquet: a file, a glob, a folder; or a pandas DataFrame.
    options : LearnOptions, optional
        What to learn, and how.
    dialect : Dialect, optional
        How the cells are written.
    progress : callable, optional
        Called with a few words as the work goes on.
    **fields
        The fields of `LearnOptions`, if no options are given. A text stands for a tuple of one; `bins` may be
        a number or a mapping of columns to edges; numbers need not be decimals.

    Returns
    -------
    Learned
        A missing cell is not counted, which for naive Bayes means that it is not observed.

    Raises
    ------
    InputError
        With a line per problem, which names the column and a remedy.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"sex": ["f", "m", "f", "m"], "credit": ["good", "good", "bad", "good"]})
    >>> learned = learn(frame, decision="credit", favourable="good", sensitive="sex")
    >>> learned.model.attributes[0].counts.favourable
    (Decimal('1'), Decimal('2'))
    """
    table = open_table(data, dialect)
    counted = count(table, _options(options, fields), progress)
    return _learned(counted, table.origin(), progress)


def learn_by(
    data: Source,
    by: str,
    options: LearnOptions,
    dialect: Dialect | None = None,
    progress: Progress = lambda stage: None,
) -> dict[str, Learned | tuple[str, ...]]:
    """Count data for a model per segment, in one query.

    Parameters
    ----------
    data, options, dialect, progress
        As in `learn`; predictions are not measured.
    by : str
        The column whose values are the segments.

    Returns
    -------
    dict
        For each segment the model and its data, or why there is none.

    Raises
    ------
    InputError
        If something is wrong with the data as a whole.
    """
    if options.folds or options.holdout:
        raise InputError("models of segments are not measured; leave the folds or the holdout out")
    table = open_table(data, dialect)
    found: dict[str, Learned | tuple[str, ...]] = {}
    segments = count_segments(table, options, by, progress)
    origin = table.origin()
    for segment, counted in segments.items():
        if isinstance(counted, Counted):
            try:
                found[segment] = _learned(counted, f"{origin}, rows with {by}: {segment}", progress)
            except InputError as error:
                found[segment] = error.problems
        else:
            found[segment] = counted
    return found


def _learned(counted: Counted, origin: str, progress: Progress) -> Learned:
    spec = counted.specification({"description": "Counted from data by auditor.", "data_source": origin})
    return Learned(spec, counted.summary(cross_measured(counted, progress)))


def _options(options: LearnOptions | None, fields: Mapping[str, Any]) -> LearnOptions:
    """Return options as given, or made from fields as people write them in Python."""
    if options is not None:
        return replace(options, **fields)
    known = dict(fields)
    bins = known.pop("bins", None)
    if isinstance(bins, Mapping):
        known["edges"] = {name: tuple(map(_decimal, edges)) for name, edges in bins.items()}
    elif bins is not None:
        known["bins"] = bins
    for name in ("favourable", "sensitive", "drop", "columns"):
        if name in known and known[name] is not None:
            value = known[name]
            known[name] = (value,) if isinstance(value, str) else tuple(value)
    if "smoothing" in known:
        known["smoothing"] = parse_smoothing(str(known["smoothing"]))
    missing = {"decision", "favourable", "sensitive"} - known.keys()
    strange = known.keys() - set(LearnOptions.__dataclass_fields__)
    if missing or strange:
        raise InputError(
            [f"{name}: is needed to learn; give it" for name in sorted(missing)]
            + [f"{name}: is no option of learn; leave it out" for name in sorted(strange)]
        )
    return LearnOptions(**known)


def _decimal(number: Any) -> Decimal:
    """Return an edge of bins exactly."""
    return Decimal(str(number)) if isinstance(number, str | Decimal) else decimal(number)


def file_names(segments: Iterable[str]) -> dict[str, str]:
    """Return a file's name for the model of each segment: letters, digits and what is told apart by a number.

    >>> file_names(["North", "north", "a/b"])
    {'North': 'North.json', 'north': 'north-2.json', 'a/b': 'a_b.json'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for segment in segments:
        bare = "".join(c if c.isalnum() or c in "-_+" else "_" for c in segment)[:100] or "_"
        name, number = bare, 1
        # Some systems take names for the same that differ in case.
        while name.casefold() in taken:
            number += 1
            name = f"{bare}-{number}"
        taken.add(name.casefold())
        names[segment] = f"{name}.json"
    return names
