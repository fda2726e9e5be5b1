"""Compares a model and the patterns listed in its audit with data, piece by piece."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from auditor.data.learning import JOINT
from auditor.data.tables import Chunk, Dialect, open_table
from auditor.documents.data import DataEvidence, DataGroup, DataPattern, Observed
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.intervals import Bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from auditor.documents.audit import Audit, PatternRecord
    from auditor.model.spec import AttributeSpec, ModelSpec

#: The 97.5% quantile of the standard normal distribution, for two-sided 95% intervals.
_Z = 1.959963984540054

#: Log odds in floating point are certain about the sign beyond this; within, the decision is made exactly.
_CERTAIN = 1e-9

_ListName = Literal["worst", "top", "minimal"]


def compare(
    model: ModelSpec,
    audit: Audit,
    path: str | os.PathLike[str],
    *,
    dialect: Dialect | None = None,
    min_group: int = 30,
    progress: Callable[[str], None] = lambda stage: None,
) -> DataEvidence:
    """Find out what data show beside an audit.

    Parameters
    ----------
    model : ModelSpec
    audit : Audit
        Of that model; the patterns that it lists are looked for.
    path : str or path-like
        CSV or Parquet, with a column per attribute and one for the decision, named as in the model and with
        the codes of its values. A column of numbers serves an attribute of bins.
    dialect : Dialect, optional
        How a text table is written.
    min_group : int
        Groups with fewer people are marked as small.
    progress : callable, optional
        Called with a few words as the work goes on.

    Raises
    ------
    InputError
        If the table can't be read, lacks a column, or has no decision that the model knows.
    """
    table = open_table(path, dialect)
    names = [attribute.name for attribute in model.attributes]
    problems = table.unknown([model.decision.name], "the decision") + table.unknown(names, "an attribute")
    if problems:
        raise InputError(problems)
    count = _Count(model, _listed(audit))
    done = 0
    for chunk in table.chunks([model.decision.name, *names]):
        count.add(chunk)
        done += chunk.rows
        progress(f"comparing with data: {done:,} rows")
    if problems := count.problems():
        raise InputError(f"{table.name}: {problem}" for problem in problems)
    return count.evidence(table.name, min_group)


def wilson(count: int, people: int) -> Observed:
    """Return a share with its 95% Wilson score interval.

    The interval has the shares p at which the observed one is at most z standard errors away, where the
    standard error is that of p: ``(p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)``.

    Examples
    --------
    >>> found = wilson(8, 10)
    >>> found.share, round(found.low, 4), round(found.high, 4)
    (0.8, 0.4902, 0.9433)
    """
    if not people:
        return Observed(count=0, people=0, share=None, low=None, high=None)
    share, square = count / people, _Z**2 / people
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    # At 0 and 1 the ends are exactly these, which rounding can miss.
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == people else min(1.0, middle + half)
    return Observed(count=count, people=people, share=share, low=low, high=high)


def _listed(
    audit: Audit,
) -> dict[tuple[tuple[tuple[str, str], ...], ...], tuple[PatternRecord, list[_ListName]]]:
    """Return the patterns that an audit lists, each once, and where they are listed."""
    found: dict[tuple[tuple[tuple[str, str], ...], ...], tuple[PatternRecord, list[_ListName]]] = {}
    worst = [audit.worst_pattern] if audit.worst_pattern else []
    lists: list[tuple[_ListName, Iterable[PatternRecord]]] = [
        ("worst", worst),
        ("top", audit.top_patterns),
        ("minimal", audit.minimal_patterns),
    ]
    for name, patterns in lists:
        for pattern in patterns:
            key = tuple(pattern.sensitive_values.items()), tuple(pattern.context_values.items())
            found.setdefault(key, (pattern, []))[1].append(name)
    return found


@dataclass
class _Tally:
    """People who have all of some values, and of how many these are known; by decision and by model."""

    values: Sequence[tuple[int, int]]
    known: int = 0
    people: int = 0
    favourable: int = 0
    selected: int = 0
    right: int = 0
    decided: int = 0


class _Codes:
    """Finds the place of each cell among the values of an attribute."""

    def __init__(self, attribute: AttributeSpec) -> None:
        self.name = attribute.name
        self._place = {value.value: i for i, value in enumerate(attribute.values)}
        for i, value in enumerate(attribute.values):
            # Data may hold what people read instead of the code.
            self._place.setdefault(value.label, i)
        self._bins = Bins.of([value.value for value in attribute.values])
        self.missing = self.unknown = 0

    def of(self, chunk: Chunk, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        codes, values = chunk.coded(self.name)
        places = [self._place.get(value, -2) for value in values]
        if self._bins and -2 in places:
            numbers = chunk.parsed(values)
            edges = np.array(self._bins.edges, dtype=np.float64)
            found = np.searchsorted(edges, numbers, "right" if self._bins.closed == "left" else "left")
            places = [
                int(place) if old == -2 and not np.isnan(number) else old
                for old, place, number in zip(places, found, numbers, strict=True)
            ]
        translated: NDArray[np.intp] = np.array([*places, -1], dtype=np.intp)[codes][kept]
        self.missing += int((translated == -1).sum())
        self.unknown += int((translated == -2).sum())
        translated[translated == -2] = -1
        return translated


class _Count:
    """Counts people, groups and patterns, piece after piece."""

    def __init__(self, model: ModelSpec, listed: Mapping[Any, tuple[PatternRecord, list[_ListName]]]) -> None:
        self._model, self._bayes = model, model.naive_bayes()
        self._codes = [_Codes(attribute) for attribute in model.attributes]
        self._sides = {
            side.value: i for i, side in enumerate((model.decision.favourable, model.decision.unfavourable))
        }
        self._alternatives = {
            part: i
            for i, side in enumerate((model.decision.favourable, model.decision.unfavourable))
            for part in (side.label, *side.value.split(JOINT))
        }
        self._undecided = self._other = self._impossible = 0
        self._others: dict[str, None] = {}
        logs = [np.array([[_log(p) for p in row] for row in a.likelihood]) for a in self._bayes.attributes]
        with np.errstate(invalid="ignore"):
            # A missing cell adds nothing. −∞ − −∞ can't be, since a value has some probability.
            self._odds = [np.append(log[:, 0] - log[:, 1], 0.0) for log in logs]
        self._prior = _log(self._bayes.prior) - _log(1 - self._bayes.prior)
        sizes = [range(len(a.values)) for a in self._bayes.attributes]
        sensitive = self._bayes.sensitive
        self._all = _Tally(())
        self._groups = [_Tally(((i, v),)) for i in sensitive for v in sizes[i]] + [
            _Tally(((i, v), (j, w)))
            for i, j in combinations(sensitive, 2)
            for v in sizes[i]
            for w in sizes[j]
        ]
        self._patterns = [
            (record, lists, _Tally(self._places(record, True)), _Tally(self._places(record, False)))
            for record, lists in listed.values()
        ]

    def _places(self, record: PatternRecord, whole: bool) -> tuple[tuple[int, int], ...]:
        values = record.context_values | (record.sensitive_values if whole else {})
        return tuple(
            (i, attribute.values.index(values[attribute.name]))
            for i, attribute in enumerate(self._bayes.attributes)
            if attribute.name in values
        )

    def add(self, chunk: Chunk) -> None:
        """Count a piece."""
        codes, values = chunk.coded(self._model.decision.name)
        places = [self._sides.get(value, self._alternatives.get(value, -2)) for value in values]
        self._others.update(dict.fromkeys(v for v, place in zip(values, places, strict=True) if place == -2))
        side = np.array([*places, -1], dtype=np.intp)[codes]
        self._undecided += int((side == -1).sum())
        self._other += int((side == -2).sum())
        kept = side >= 0
        favourable = side[kept] == 0
        cells = [column.of(chunk, kept) for column in self._codes]
        selected, possible = self._decide(cells)
        self._impossible += int((~possible).sum())
        right = (selected == favourable) & possible
        facts = favourable, selected, right, possible
        for tally in [self._all, *self._groups, *(t for *_, a, b in self._patterns for t in (a, b))]:
            known = np.ones(len(favourable), dtype=bool)
            inside = known.copy()
            for i, v in tally.values:
                known &= cells[i] >= 0
                inside &= cells[i] == v
            tally.known += int(known.sum())
            tally.people += int(inside.sum())
            for name, fact in zip(("favourable", "selected", "right", "decided"), facts, strict=True):
                setattr(tally, name, getattr(tally, name) + int((fact & inside).sum()))

    def _decide(self, cells: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the model favours each person, and whether it can tell; exact where it is close to 1/2."""
        odds = np.full(len(cells[0]), self._prior)
        with np.errstate(invalid="ignore"):
            for column, table in zip(cells, self._odds, strict=True):
                odds = odds + table[column]
        possible = ~np.isnan(odds)
        selected = odds > 0
        close = np.flatnonzero(np.abs(odds) < _CERTAIN)
        if len(close):
            rows, place = np.unique(
                np.stack([column[close] for column in cells], axis=1), axis=0, return_inverse=True
            )
            exact = []
            for row in rows.tolist():
                good, bad = self._bayes.joint((i, v) for i, v in enumerate(row) if v >= 0)
                exact.append(good > bad)
            selected[close] = np.array(exact)[place.reshape(-1)]
        return selected, possible

    def problems(self) -> list[str]:
        """Say what makes the data useless."""
        decision, found = self._model.decision, []
        if not self._all.people:
            some = ", ".join(shown(v) for v in list(self._others)[:10])
            values = f"{shown(decision.favourable.value)} nor {shown(decision.unfavourable.value)}"
            holds = f"it has {some}" if some else "it has no rows with a decision"
            found.append(
                f"column {shown(decision.name)} has neither {values}; {holds}; write it as in the model"
            )
            return found
        for column in self._codes:
            if column.unknown and column.unknown + column.missing == self._all.people:
                found.append(
                    f"column {shown(column.name)} has none of the model's values in any row; write them as "
                    "in the model"
                )
        return found

    def evidence(self, source: str, min_group: int) -> DataEvidence:
        """Write what was counted as a document."""
        largest: dict[tuple[int, ...], float] = {}
        for tally in self._groups:
            if tally.people >= min_group and tally.decided:
                key = tuple(i for i, _ in tally.values)
                largest[key] = max(largest.get(key, 0.0), tally.selected / tally.decided)
        return DataEvidence(
            source=source,
            people=self._all.people,
            undecided=self._undecided,
            other_decision=self._other,
            missing={c.name: c.missing for c in self._codes if c.missing},
            unknown={c.name: c.unknown for c in self._codes if c.unknown},
            impossible=self._impossible,
            min_group=min_group,
            accuracy=wilson(self._all.right, self._all.decided),
            selected=wilson(self._all.selected, self._all.decided),
            favourable=wilson(self._all.favourable, self._all.people),
            groups=tuple(self._group(tally, min_group, largest) for tally in self._groups),
            patterns=tuple(self._pattern(*pattern) for pattern in self._patterns),
        )

    def _group(self, tally: _Tally, min_group: int, largest: Mapping[tuple[int, ...], float]) -> DataGroup:
        attributes = self._bayes.attributes
        best = largest.get(tuple(i for i, _ in tally.values), 0.0)
        return DataGroup(
            values={attributes[i].name: attributes[i].values[v] for i, v in tally.values},
            people=tally.people,
            small=tally.people < min_group,
            accuracy=wilson(tally.right, tally.decided),
            selected=wilson(tally.selected, tally.decided),
            favourable=wilson(tally.favourable, tally.people),
            impact_ratio=tally.selected / tally.decided / best if best and tally.decided else None,
        )

    def _pattern(
        self, record: PatternRecord, lists: Sequence[_ListName], whole: _Tally, context: _Tally
    ) -> DataPattern:
        occurs = wilson(whole.people, whole.known)
        inside = None
        if occurs.low is not None and occurs.high is not None:
            inside = occurs.low <= record.probability <= occurs.high
        return DataPattern(
            sensitive_values=record.sensitive_values,
            context_values=record.context_values,
            lists=tuple(lists),
            probability=record.probability,
            occurs=occurs,
            probability_in_interval=inside,
            favourable_given_pattern=record.favourable_given_pattern,
            favourable_given_context=record.favourable_given_context,
            observed_given_pattern=wilson(whole.favourable, whole.people),
            observed_given_context=wilson(context.favourable, context.people),
        )


def _log(probability: Fraction) -> float:
    """Ln p, also where p is too small for a float; −∞ for 0."""
    if not probability:
        return -math.inf
    return math.log(probability.numerator) - math.log(probability.denominator)
