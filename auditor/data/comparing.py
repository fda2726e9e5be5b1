"""Holds a model and some of its patterns against data: who is selected, who rightly, and what occurs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from auditor.data.encoding import EncodedTable
from auditor.data.scoring import Performance, Scores, log_odds, predicted
from auditor.data.tables import Progress, Table
from auditor.model.additive import AdditiveModel
from auditor.model.cutoff import Cutoff, least_exponent
from auditor.model.scorecard import ScorecardSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from auditor.model.additive import ScoredAttribute
    from auditor.model.classifier import Classifier
    from auditor.model.naive_bayes import Assignment, Attribute
    from auditor.model.spec import ModelSpec

#: The cut-off where none is given.
HALF = Cutoff("0.5", probability=Fraction(1, 2))
#: Log odds in floating point are certain about the side of the cut-off beyond this; within, the decision is
#: made exactly.
_CERTAIN = 1e-9


@dataclass
class Tally:
    """People who have all of some values; the model decides about the possible ones."""

    values: Assignment
    """Attribute and value."""
    known: int = 0
    """People of whom all these attributes are known."""
    people: int = 0
    """Those with the values."""
    favourable: int = 0
    """With the favourable decision in the data."""
    decided: int = 0
    """People to whom the model gives at least one decision a probability above 0."""
    selected: int = 0
    right: int = 0
    """Of those: whom the model selects, and for whom its decision is that of the data."""
    deserving: int = 0
    found: int = 0
    """Of those: with the favourable decision in the data, and of these the selected."""


class Evidence(NamedTuple):
    """What a table shows beside a model."""

    table: EncodedTable
    cutoff: Cutoff
    everybody: Tally
    groups: list[Tally]
    """By one and by two sensitive attributes."""
    patterns: list[tuple[Tally, Tally]]
    """For each pattern: who has all of its values, and who those of the context."""


def compare(
    spec: ModelSpec | ScorecardSpec,
    patterns: Sequence[tuple[Mapping[str, str], Mapping[str, str]]],
    table: Table,
    cutoff: Cutoff = HALF,
    progress: Progress = lambda stage: None,
) -> Evidence:
    """Find out what data show beside a model.

    Parameters
    ----------
    patterns : sequence of (sensitive values, context values)
        Attribute to label; they are looked for.
    table : Table
        With a column per attribute and one for the decision; see `EncodedTable`.
    cutoff : Cutoff
        Whom the model selects.

    Raises
    ------
    InputError
        If the table can't be read, lacks a column, or has no decision that the model knows.
    """
    model = scored(spec)
    found = observe(model, EncodedTable(spec, table, progress), patterns, cutoff, progress)
    if not isinstance(spec, ScorecardSpec):
        return found
    # A bin that nobody of the population is in is only told of if somebody in the data is in it.
    occurring = [frozenset(a.values) for a in spec.classifier().attributes]
    groups = [
        tally
        for tally in found.groups
        if tally.people or all(model.attributes[i].values[v] in occurring[i] for i, v in tally.values)
    ]
    return found._replace(groups=groups)


def observe(
    model: Classifier,
    encoded: EncodedTable,
    patterns: Sequence[tuple[Mapping[str, str], Mapping[str, str]]],
    cutoff: Cutoff,
    progress: Progress = lambda stage: None,
) -> Evidence:
    """Find out what an encoded table shows beside a model of the same attributes; see `compare`."""
    attributes: Sequence[Attribute | ScoredAttribute] = model.attributes
    place = {a.name: (i, {label: v for v, label in enumerate(a.values)}) for i, a in enumerate(attributes)}

    def values(*parts: Mapping[str, str]) -> Assignment:
        named = [(name, label) for part in parts for name, label in part.items()]
        return tuple(sorted((place[name][0], place[name][1][label]) for name, label in named))

    sizes = [range(len(a.values)) for a in attributes]
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


def scored(spec: ModelSpec | ScorecardSpec) -> Classifier:
    """The exact model by which rows of data are scored."""
    return spec.scored() if isinstance(spec, ScorecardSpec) else spec.naive_bayes()


def performances(models: Iterable[Classifier], table: EncodedTable) -> list[Performance]:
    """Predict the decision of each row by each of some models of the same attributes."""
    odds = [log_odds(model) for model in models]
    scores = [Scores() for _ in odds]
    for piece in table.pieces():
        side, *codes = piece.codes
        for (prior, rows), score in zip(odds, scores, strict=True):
            score.add(predicted(prior, rows, codes), side == 0, piece.rows)
    return [score.performance() for score in scores]


class _Decider:
    """Tells whom a model selects; exact where it is close to the cut-off."""

    def __init__(self, model: Classifier, cutoff: Cutoff) -> None:
        self._model, self._cutoff = model, cutoff
        self._prior, self._odds = log_odds(model)
        self._least = least_exponent(model, cutoff) if isinstance(model, AdditiveModel) else None
        self._above = self._threshold()

    def __call__(
        self, codes: Sequence[NDArray[np.integer[Any]]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the model selects each person, and whether it can tell."""
        odds = predicted(self._prior, self._odds, codes)
        possible = ~np.isnan(odds)
        if self._above is None:
            all_above = self._cutoff.probability == 0
            return (odds > -np.inf if all_above else np.zeros(len(odds), dtype=bool)), possible
        selected = odds > self._above
        close = np.flatnonzero(np.abs(odds - self._above) < _CERTAIN)
        if len(close):
            rows, place = np.unique(
                np.stack([column[close] for column in codes], axis=1), axis=0, return_inverse=True
            )
            exact = [
                self._selects(tuple((i, v) for i, v in enumerate(row) if v >= 0)) for row in rows.tolist()
            ]
            selected[close] = np.array(exact)[place.reshape(-1)]
        return selected, possible

    def _threshold(self) -> float | None:
        """The log odds at the cut-off; None where all above −∞ are selected, or none is."""
        chance = self._cutoff.probability
        if chance is not None:
            return math.log(chance) - math.log1p(-float(chance)) if 0 < chance < 1 else None
        assert isinstance(self._model, AdditiveModel), "points are a scorecard's"
        assert self._least is not None, "a score is reached by some points"
        exponent = float(Fraction(self._least, self._model.in_units[0]))
        return math.log(self._model.odds) + exponent * (math.log(2) if self._model.base == "2" else 1.0)

    def _selects(self, values: Assignment) -> bool:
        """The same, exactly."""
        if isinstance(self._model, AdditiveModel):
            _, start, moves = self._model.in_units
            return self._least is not None and start + sum(moves[i][v] for i, v in values) >= self._least
        assert self._cutoff.probability is not None, "points are a scorecard's"
        good, bad = self._model.joint(values)
        return good > self._cutoff.probability * (good + bad)
