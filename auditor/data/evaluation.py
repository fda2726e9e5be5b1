"""How well models predict the decisions in a table of data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from auditor.data.learning import JOINT
from auditor.data.prediction import Performance, Scores
from auditor.data.tables import Chunk, Table, open_table
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.intervals import Bins
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.spec import ModelSpec
from auditor.search.additive.tables import tables_of

#: Codes of a column that an error names.
_NAMED = 10

#: Where each row of a chunk stands in the values of a column; -1 for a missing cell.
Places = npt.NDArray[np.intp]


def performances(
    path: str | os.PathLike[str], spec: ModelSpec, models: Sequence[NaiveBayes]
) -> list[Performance]:
    """Predict the decision of each row by each of some models of the same attributes.

    Parameters
    ----------
    path : str or path-like
        CSV or Parquet, with a column for the decision and for each attribute, and in it the codes that the
        specification calls ``value``. A missing cell is not disclosed; a row without a decision is left out.
    spec : ModelSpec
        Names and codes.
    models : sequence of NaiveBayes

    Raises
    ------
    InputError
        If a column is missing, or holds a value that the model hasn't.
    """
    table = open_table(path)
    names = [spec.decision.name, *(attribute.name for attribute in spec.attributes)]
    columns = [_column(table, name) for name in names]
    if problems := table.unknown(columns, "the model"):
        raise InputError(problems)
    sides = (spec.decision.favourable, spec.decision.unfavourable)
    decision = {code: side for side, value in enumerate(sides) for code in value.value.split(JOINT)}
    codes = [[value.value for value in attribute.values] for attribute in spec.attributes]
    odds = [_log_odds(model) for model in models]
    scores = [Scores() for _ in models]
    for chunk in table.chunks(columns):
        side = _places(table, chunk, columns[0], decision)
        decided = side >= 0
        places = [
            _binned(table, chunk, column, bins)[decided]
            if (bins := Bins.of(values))
            else _places(table, chunk, column, {code: v for v, code in enumerate(values)})[decided]
            for column, values in zip(columns[1:], codes, strict=True)
        ]
        for (prior, rows), score in zip(odds, scores, strict=True):
            total = np.full(int(decided.sum()), prior)
            with np.errstate(invalid="ignore"):
                for row, place in zip(rows, places, strict=True):
                    total += row[place]
            score.add(total, side[decided] == 0)
    return [score.performance() for score in scores]


def _log_odds(model: NaiveBayes) -> tuple[float, list[npt.NDArray[np.float64]]]:
    """``ln P(d)/P(d̄)``, and the λ of each attribute's values with 0 for a missing cell at the end."""
    tables = tables_of(model)
    return tables.real(tables.prior), [np.array([*map(tables.real, row), 0.0]) for row in tables.values]


def _column(table: Table, name: str) -> str:
    """The column of a name, or the only one whose letters and digits are the same."""

    def plain(text: str) -> str:
        return "".join(filter(str.isalnum, text)).casefold()

    alike = [column for column in table.columns if plain(column) == plain(name)]
    return alike[0] if name not in table.columns and len(alike) == 1 else name


def _places(table: Table, chunk: Chunk, column: str, known: Mapping[str, int]) -> Places:
    codes, values = chunk.coded(column)
    strange = [values[i] for i in np.unique(codes).tolist() if i >= 0 and values[i] not in known]
    if strange:
        have = ", ".join(map(shown, list(known)[:_NAMED])) + (" and more" if len(known) > _NAMED else "")
        raise InputError(
            f"{table.name}: column {shown(column)} has {shown(strange[0])}, which the model does not know; "
            f"it knows {have}"
        )
    places: Places = np.array([*(known.get(value, -1) for value in values), -1], dtype=np.intp)[codes]
    return places


def _binned(table: Table, chunk: Chunk, column: str, bins: Bins) -> Places:
    numbers, wrong = chunk.numbers(column)
    if wrong is not None:
        raise InputError(f"{table.name}: column {shown(column)} has {shown(wrong)}, which is not a number")
    edges = np.array(bins.edges, dtype=np.float64)
    places: Places = np.searchsorted(edges, numbers, side="right" if bins.closed == "left" else "left")
    places[np.isnan(numbers)] = -1
    return places
