"""Holds a model and some of its patterns against data: who is selected, who rightly, and what occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from auditor.data.encoding import EncodedTable
from auditor.data.scoring import Performance, Scores, log_odds, predicted
from auditor.data.tables import Progress, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from auditor.model.naive_bayes import Assignment, NaiveBayes
    from auditor.model.spec import ModelSpec

#: Log odds in floating point are certain about the side of the cut-off beyond this; within, the decision is
#: made exactly.
_CERTAIN = 1e-9


@dataclass
class Tally:
    """People who have all of some values; the model decides about the possible ones.

    Attributes
    ----------
    values : sequence of (int, int)
        Attribute and value.
    known : int
        People of whom all these attributes are known.
    people : int
        Those with the values.
    favourable : int
        With the favourable decision in the data.
    decided : int
        People to whom the model gives at least one decision a probability above 0.
    selected, right : int
        Of those: whom the model selects, and for whom its decision is that of the data.
    deserving, found : int
        Of those: with the favourable decision in the data, and of these the selected.
    """

    values: Assignment
    known: int = 0
    people: int = 0
    favourable: int = 0
    decided: int = 0
    selected: int = 0
    right: int = 0
    deserving: int = 0
    found: int = 0


class Evidence(NamedTuple):
    """What a table shows beside a model.

    Attributes
    ----------
    table : EncodedTable
    cutoff : Fraction
    everybody : Tally
    groups : list of Tally
        By one and by two sensitive attributes.
    patterns : list of (Tally, Tally)
        For each pattern: who has all of its values, and who those of the context.
    """

    table: EncodedTable
    cutoff: Fraction
    everybody: Tally
    groups: list[Tally]
    patterns: list[tuple[Tally, Tally]]


def compare(
    spec: ModelSpec,
    patterns: Sequence[tuple[Mapping[str, str], Mapping[str, str]]],
    table: Table,
    cutoff: Fraction = Fraction(1, 2),
    progress: Progress = lambda stage: None,
) -> Evidence:
    """Find out what data show beside a model.

    Parameters
    ----------
    spec : ModelSpec
    patterns : sequence of (sensitive values, context values)
        Attribute to label; they are looked for.
    table : Table
        With a column per attribute and one for the decision; see `EncodedTable`.
    cutoff : Fraction
        The model selects whom it gives the favourable decision with a probability above it.
    progress : callable

    Raises
    ------
    InputError
        If the table can't be read, lacks a column, or has no decision that the model knows.
    """
    return observe(spec.naive_bayes(), EncodedTable(spec, table, progress), patterns, cutoff, progress)


def observe(
    model: NaiveBayes,
    encoded: EncodedTable,
    patterns: Sequence[tuple[Mapping[str, str], Mapping[str, str]]],
    cutoff: Fraction,
    progress: Progress = lambda stage: None,
) -> Evidence:
    """Find out what an encoded table shows beside a model of the same attributes; see `compare`."""
    place = {
        a.name: (i, {label: v for v, label in enumerate(a.values)}) for i, a in enumerate(model.attributes)
    }

    def values(*parts: Mapping[str, str]) -> Assignment:
        named = [(name, label) for part in parts for name, label in part.items()]
        return tuple(sorted((place[name][0], place[name][1][label]) for name, label in named))

    sizes = [range(len(a.values)) for a in model.attributes]
    groups = [Tally(((i, v),)) for i in model.sensitive for v in sizes[i]] + [
        Tally(((i, v), (j, w)))
        for i, j in combinations(model.sensitive, 2)
        for v in sizes[i]
        for w in sizes[j]
    ]
    listed = [(Tally(values(x, y)), Tally(values(y))) for x, y in patterns]
    everybody = Tally(())
    decide = _Decider(model, cutoff)
    for piece in encoded.pieces(progress):
        side, *codes = piece.codes
        selected, possible = decide(codes)
        favourable = side == 0
        facts = {
            "people": np.ones(len(side), dtype=bool),
            "favourable": favourable,
            "decided": possible,
            "selected": selected & possible,
            "right": (selected == favourable) & possible,
            "deserving": favourable & possible,
            "found": favourable & selected & possible,
        }
        for tally in [everybody, *groups, *(t for pair in listed for t in pair)]:
            known, inside = np.ones(len(side), dtype=bool), np.ones(len(side), dtype=bool)
            for i, v in tally.values:
                known &= codes[i] >= 0
                inside &= codes[i] == v
            tally.known += int(piece.rows[known].sum())
            number = piece.rows * inside
            for name, fact in facts.items():
                setattr(tally, name, getattr(tally, name) + int(number[fact].sum()))
    return Evidence(encoded, cutoff, everybody, groups, listed)


def performances(
    models: Iterable[NaiveBayes], table: EncodedTable, progress: Progress = lambda stage: None
) -> list[Performance]:
    """Predict the decision of each row by each of some models of the same attributes."""
    odds = [log_odds(model) for model in models]
    scores = [Scores() for _ in odds]
    for piece in table.pieces(progress):
        side, *codes = piece.codes
        for (prior, rows), score in zip(odds, scores, strict=True):
            score.add(predicted(prior, rows, codes), side == 0, piece.rows)
    return [score.performance() for score in scores]


class _Decider:
    """Tells whom a model selects; exact where it is close to the cut-off."""

    def __init__(self, model: NaiveBayes, cutoff: Fraction) -> None:
        self._model, self._cutoff = model, cutoff
        self._prior, self._odds = log_odds(model)
        with np.errstate(divide="ignore"):
            # At 0 all odds above −∞ select, at 1 none does.
            self._above = float(np.log(float(cutoff)) - np.log1p(-float(cutoff))) if 0 < cutoff < 1 else None

    def __call__(
        self, codes: Sequence[NDArray[np.integer[Any]]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the model selects each person, and whether it can tell."""
        odds = predicted(self._prior, self._odds, codes)
        possible = ~np.isnan(odds)
        if self._above is None:
            return (odds > -np.inf if self._cutoff == 0 else np.zeros(len(odds), dtype=bool)), possible
        selected = odds > self._above
        close = np.flatnonzero(np.abs(odds - self._above) < _CERTAIN)
        if len(close):
            rows, place = np.unique(
                np.stack([column[close] for column in codes], axis=1), axis=0, return_inverse=True
            )
            exact = []
            for row in rows.tolist():
                good, bad = self._model.joint((i, v) for i, v in enumerate(row) if v >= 0)
                exact.append(good > self._cutoff * (good + bad))
            selected[close] = np.array(exact)[place.reshape(-1)]
        return selected, possible
