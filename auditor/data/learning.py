"""Learns a model from data: counts the rows with each value under each decision.

The table is read in pieces, once for the counts, once more for bins by quantile and once more for the
measures of how well the model predicts; memory depends on the number of values, not of rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from auditor.data.binning import found_edges, reported
from auditor.data.prediction import Performance, Scores
from auditor.data.tables import Chunk, Dialect, Table, open_table
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.building import build, decimal, split
from auditor.model.checks import count
from auditor.model.intervals import Bins
from auditor.model.spec import ModelSpec

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

#: A column with more different texts, or numbers, than these is no attribute as it is.
MAX_VALUES, MAX_NUMBERS = 100, 20

#: Groups with fewer rows are pointed out: their counts say little.
SMALL_GROUP = 30

#: Distinct values of a column that are told apart before it is given up.
_TRACKED = 10_000
#: Combinations of all sensitive values that are counted at most.
_COMBINATIONS = 100_000

#: Joins the data's codes of several values that make up one side of the decision.
JOINT = "|"

_MISSING = -1


@dataclass(frozen=True)
class Choices:
    """What to learn, and how.

    Attributes
    ----------
    decision : str
        Column of the decision.
    favourable : tuple of str
        Its values that are favourable; all others are unfavourable.
    sensitive : tuple of str
        Columns to protect. Here and in `drop` a text that is no column names several, with commas between.
    drop : tuple of str
        Columns to leave out.
    edges : mapping of str to tuple of Decimal
        Columns of numbers that are cut at these edges; each bin contains its lower edge.
    bins : int, optional
        Into how many bins to cut other columns of many numbers.
    bin_method : {"quantile", "width"}
        Whether those bins have about as many rows or the same width.
    smoothing : Decimal
    max_values : int, optional
        Allowed number of values of a column.  [100 texts or 20 numbers]
    drop_unique, drop_duplicates : bool
        Leave out columns with too many values; and those that another column tells exactly.
    holdout : float, optional
        Share of rows on which to measure a model that is counted from the others.
    folds : int, optional
        Number of parts, on each of which to measure a model that is counted from the others.
    seed : int
        Draws the parts; the same rows get the same parts.
    name : str, optional
        The model's name.
    """

    decision: str
    favourable: tuple[str, ...]
    sensitive: tuple[str, ...]
    drop: tuple[str, ...] = ()
    edges: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)
    bins: int | None = None
    bin_method: Literal["quantile", "width"] = "quantile"
    smoothing: Decimal = Decimal(0)
    max_values: int | None = None
    drop_unique: bool = False
    drop_duplicates: bool = False
    holdout: float | None = None
    folds: int | None = None
    seed: int = 0
    name: str | None = None


class Group(NamedTuple):
    """People with these sensitive values: how many, and how many of them have the favourable decision."""

    values: tuple[tuple[str, str], ...]
    rows: int
    favourable: int


@dataclass(frozen=True)
class Summary:
    """What the data hold.

    Attributes
    ----------
    source : str
    rows : int
        Rows that were counted, so without those below.
    undecided : int
        Rows whose decision is missing.
    favourable, unfavourable : (str, int)
        Label and rows of each side.
    missing : mapping of str to int
        Missing cells of each attribute.
    left_out : mapping of str to str
        Columns that are no attributes, and why.
    notes : tuple of str
        What deserves a look.
    groups : tuple of Group
        By single sensitive values.
    small_groups : tuple of Group
        Those and combinations of all sensitive values with fewer than 30 rows, smallest first; combinations
        that don't occur are not listed.
    performance : Performance or None
    """

    source: str
    rows: int
    undecided: int
    favourable: tuple[str, int]
    unfavourable: tuple[str, int]
    missing: Mapping[str, int]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    small_groups: tuple[Group, ...]
    performance: Performance | None


class Learned(NamedTuple):
    """A model, and what is in the data that it was counted from."""

    model: ModelSpec
    summary: Summary


def learn(
    path: str | os.PathLike[str],
    choices: Choices,
    dialect: Dialect | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Learned:
    """Count a table.

    Parameters
    ----------
    path : str or path-like
        CSV or Parquet.
    choices : Choices
    dialect : Dialect, optional
        How a text table is written.
    progress : callable, optional
        Called with a few words as the work goes on.

    Returns
    -------
    Learned
        A missing cell is not counted, which for naive Bayes means that it is not observed.

    Raises
    ------
    InputError
        With a line per problem, which names the column and a remedy.
    """
    table = open_table(path, dialect)
    choices = replace(
        choices,
        sensitive=tuple(split(choices.sensitive, table.columns)),
        drop=tuple(split(choices.drop, table.columns)),
    )
    columns = _columns(table, choices)
    edges = dict(choices.edges)
    if choices.bins:
        candidates = [column for column in columns if column not in edges]
        limit = choices.max_values or MAX_NUMBERS
        edges |= found_edges(table, candidates, choices.bins, choices.bin_method, limit, progress)
    counter = _Counter(table, columns, choices, edges)
    for chunk in reported(table.chunks([choices.decision, *columns]), "counting", progress):
        counter.add(chunk)
    counter.check()
    spec = counter.specification(_provenance(path, counter.rows))
    performance = None
    if counter.parts > 1:
        scores = counter.scores(
            reported(table.chunks([choices.decision, *columns]), "measuring", progress), spec
        )
        performance = scores.performance()
    return Learned(spec, counter.summary(performance))


def _columns(table: Table, choices: Choices) -> list[str]:
    """Return the columns that are attributes, in the table's order."""
    problems = [
        *table.unknown([choices.decision], "the decision"),
        *table.unknown(choices.sensitive, "the sensitive attributes"),
        *table.unknown(choices.drop, "those to drop"),
        *table.unknown(list(choices.edges), "the bins"),
    ]
    for column in choices.sensitive:
        if column in choices.drop or column == choices.decision:
            other = "the decision" if column == choices.decision else "dropped"
            problems.append(f"{table.name}: column {shown(column)} is sensitive and {other}; choose one")
    if not choices.sensitive:
        problems.append(f"{table.name}: no sensitive column is named; name those that need protection")
    if problems:
        raise InputError(problems)
    return [c for c in table.columns if c not in choices.drop and c != choices.decision]


def _provenance(path: str | os.PathLike[str], rows: int) -> dict[str, object]:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return {
        "description": "Counted from data by auditor.",
        "data_source": f"{Path(path).name}, sha256 {digest.hexdigest()}",
        "rows": rows,
    }


class _Values:
    """Numbers the values of a column in the order in which they first occur, piece after piece."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}

    def translate(self, codes: NDArray[np.integer[Any]], values: Sequence[str]) -> NDArray[np.intp]:
        new = [i for i, value in enumerate(values) if value not in self.index]
        if new:
            found, first = np.unique(codes, return_index=True)
            order = dict(zip(found.tolist(), first.tolist(), strict=True))
            # A value that only the rest of the file has, as in a dictionary of Parquet, has no place yet.
            for i in sorted((i for i in new if i in order), key=lambda i: order[i]):
                self.index.setdefault(values[i], len(self.index))
        places = [self.index.get(value, _MISSING) for value in values]
        translated: NDArray[np.intp] = np.array([*places, _MISSING], dtype=np.intp)[codes]
        return translated


class _Column:
    """Counts of one column, per value, part and decision; and what tells whether it is an attribute."""

    def __init__(self, name: str, cells: int, bins: Bins | None) -> None:
        self.name, self.cells, self.bins = name, cells, bins
        self.values = _Values()
        if bins:
            self.values.index = {code: i for i, code in enumerate(bins.codes)}
        self.counts = np.zeros((0, cells), dtype=np.int64)
        self.missing = 0
        self.given_up_after: int | None = None
        self.wrong: str | None = None
        self.digest = hashlib.blake2b(digest_size=16)

    @property
    def size(self) -> int:
        return len(self.values.index)

    def codes(self, chunk: Chunk) -> NDArray[np.intp]:
        if self.bins is None:
            return self.values.translate(*chunk.coded(self.name))
        numbers, wrong = chunk.numbers(self.name)
        self.wrong = self.wrong or wrong
        edges = np.array(self.bins.edges, dtype=np.float64)
        places = np.searchsorted(edges, numbers, side="right" if self.bins.closed == "left" else "left")
        places[np.isnan(numbers)] = _MISSING
        return places

    def add(
        self, chunk: Chunk, kept: NDArray[np.bool_] | None, cell: NDArray[np.intp], rows: int
    ) -> NDArray[np.intp] | None:
        if self.given_up_after is not None:
            return None
        codes = self.codes(chunk)
        if kept is not None:
            codes = codes[kept]
        if self.size > _TRACKED:
            self.given_up_after = rows + len(codes)
            return None
        # The first row of counts is that of the missing cells.
        found = np.bincount((codes + 1) * self.cells + cell, minlength=(self.size + 1) * self.cells)
        found = found.reshape(-1, self.cells)
        self.missing += int(found[0].sum())
        if len(self.counts) < self.size:
            self.counts = np.vstack(
                [self.counts, np.zeros((self.size - len(self.counts), self.cells), dtype=np.int64)]
            )
        self.counts += found[1:]
        self.digest.update(codes.astype(np.int16).tobytes())
        return codes

    def order(self) -> list[int]:
        """Places of the values as people expect them: bins and numbers by size, texts by the alphabet."""
        names = list(self.values.index)
        if self.bins:
            return list(range(len(names)))
        numbers = [_number(name) for name in names]
        if None not in numbers:
            return sorted(range(len(names)), key=lambda i: (numbers[i], names[i]))
        return sorted(range(len(names)), key=lambda i: names[i])

    def kept(self, smoothed: bool) -> NDArray[np.bool_]:
        """Which values the model has: those that occur; all bins, if smoothing gives them probability."""
        if self.bins and smoothed:
            return np.ones(self.size, dtype=bool)
        kept: NDArray[np.bool_] = self.counts.sum(axis=1) > 0
        return kept

    def is_numeric(self) -> bool:
        return self.bins is None and self.size > 0 and None not in map(_number, self.values.index)


class _Counter:
    """Counts all columns of a table, piece after piece."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[str],
        choices: Choices,
        edges: Mapping[str, tuple[Decimal, ...]],
    ) -> None:
        self.table, self.choices = table, choices
        self.parts = choices.folds or (2 if choices.holdout else 1)
        cells = 2 * self.parts
        self.columns = [_Column(c, cells, Bins(edges[c]) if c in edges else None) for c in columns]
        self.decision = _Values()
        self.decided: NDArray[np.int64] = np.zeros((self.parts, 2), dtype=np.int64)
        self.decision_digest = hashlib.blake2b(digest_size=16)
        self.undecided = 0
        self._first_side = np.intp(0)
        self.combinations: dict[tuple[int, ...], NDArray[np.int64]] = {}
        self._combined = len(choices.sensitive) > 1
        self.left_out: dict[str, str] = {}
        self.notes: list[str] = []
        self._random = np.random.Generator(np.random.PCG64(choices.seed))

    @property
    def rows(self) -> int:
        return int(self.decided.sum())

    def add(self, chunk: Chunk) -> None:
        """Count a piece."""
        rows = self.rows
        side, part = self._sides(chunk, self.decision, self._random)
        kept = None if (side >= 0).all() else side >= 0
        if kept is not None:
            self.undecided += int((~kept).sum())
            side, part = side[kept], part[kept]
        cell = part * 2 + side
        self.decided += np.bincount(cell, minlength=2 * self.parts).reshape(self.parts, 2)
        if rows == 0 and len(side):
            self._first_side = side[0]
        # Numbered by first occurrence, as the values of the columns are.
        self.decision_digest.update((side ^ self._first_side).astype(np.int16).tobytes())
        sensitive = []
        for column in self.columns:
            codes = column.add(chunk, kept, cell, rows)
            if column.name in self.choices.sensitive:
                sensitive.append(codes)
        self._combine(sensitive, side)

    def _sides(
        self, chunk: Chunk, values: _Values, random: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Each row's decision (0 favourable, 1 unfavourable, -1 missing) and part."""
        codes = values.translate(*chunk.coded(self.choices.decision))
        favourable = [value not in self.choices.favourable for value in values.index]
        side = np.array([*favourable, _MISSING], dtype=np.intp)[codes]
        if self.choices.folds:
            part = random.integers(0, self.choices.folds, chunk.rows, dtype=np.intp)
        elif self.choices.holdout:
            part = (random.random(chunk.rows) >= self.choices.holdout).astype(np.intp)
        else:
            part = np.zeros(chunk.rows, dtype=np.intp)
        return side, part

    def _combine(self, sensitive: Sequence[NDArray[np.intp] | None], side: NDArray[np.intp]) -> None:
        """Count the combinations of all sensitive values; none where one is missing."""
        sizes = [c.size for c in self.columns if c.name in self.choices.sensitive]
        known = [codes for codes in sensitive if codes is not None]
        if len(known) < len(sizes) or prod(sizes) > _COMBINATIONS:
            # Too many, and counts of the first rows alone would mislead.
            self._combined = False
            self.combinations.clear()
        if not self._combined:
            return
        complete = np.logical_and.reduce([codes >= 0 for codes in known])
        if not complete.any():
            return
        place = np.ravel_multi_index([codes[complete] for codes in known], sizes)
        found = np.bincount(place * 2 + side[complete], minlength=2).astype(np.int64)
        found = np.append(found, [0] * (len(found) % 2)).reshape(-1, 2)
        for flat in np.flatnonzero(found.sum(axis=1)):
            key = tuple(int(i) for i in np.unravel_index(flat, sizes))
            self.combinations[key] = self.combinations.get(key, np.zeros(2, dtype=np.int64)) + found[flat]

    def check(self) -> None:
        """Find every problem of the columns at once, and leave out what can be left out."""
        name, choices = self.table.name, self.choices
        if not self.rows and not self.undecided:
            raise InputError(f"{name}: there are no rows under the header; give some")
        problems = self._decision_problems()
        kept, seen = [], {self.decision_digest.digest(): choices.decision}
        for column in self.columns:
            problem, why = self._judged(column)
            if why is None and problem is None:
                twin = seen.setdefault(column.digest.digest(), column.name)
                if twin != column.name and column.name not in choices.sensitive and choices.drop_duplicates:
                    why = f"tells the same as {shown(twin)}"
                elif twin != column.name:
                    self.notes.append(f"{shown(column.name)} tells exactly the same as {shown(twin)}")
            if why is not None and column.name in choices.sensitive:
                problem = (
                    f"column {shown(column.name)} is sensitive, but it {why}; don't name it as sensitive"
                )
            if problem:
                problems.append(f"{name}: {problem}")
            elif why is not None:
                self.left_out[column.name] = why
            else:
                kept.append(column)
        self.columns = kept
        if problems:
            raise InputError(problems)

    def _decision_problems(self) -> list[str]:
        name, column = self.table.name, shown(self.choices.decision)
        found = list(self.decision.index)
        if not found:
            return [f"{name}: column {column} has no decision in any row; give those"]
        some = ", ".join(shown(value) for value in sorted(found)[:20]) + (" and more" if found[20:] else "")
        problems = [
            f"{name}: column {column} never has the favourable value {shown(value)}; it has {some}"
            for value in self.choices.favourable
            if value not in self.decision.index
        ]
        if not problems and all(value in self.choices.favourable for value in found):
            problems.append(
                f"{name}: column {column} has only favourable values ({some}); both decisions must occur"
            )
        others = [value for value in found if value not in self.choices.favourable]
        if not problems and len(others) > MAX_VALUES:
            problems.append(
                f"{name}: column {column} has {len(found):,} different values, too many for a decision; "
                "give another column"
            )
        return problems

    def _judged(self, column: _Column) -> tuple[str | None, str | None]:
        """Say what is wrong with a column, or why it is left out."""
        title, choices = shown(column.name), self.choices
        if column.wrong is not None:
            comma = "," in column.wrong
            remedy = "give --decimal , for decimal commas" if comma else "mend it, or leave the bins out"
            return f"column {title} has bins, but {shown(column.wrong)} is not a number; {remedy}", None
        numeric = column.is_numeric()
        limit = choices.max_values or (MAX_NUMBERS if numeric else MAX_VALUES)
        if column.bins is None and column.size > limit:
            many = "over 10,000" if column.given_up_after else f"{column.size:,}"
            counted = column.given_up_after is None and int(column.counts.sum()) == column.size
            every = ", another one in every row" if counted else ""
            if choices.drop_unique:
                return None, f"has {many} different values{every}"
            commas = sum("," in value for value in column.values.index) * 2 > column.size
            if numeric:
                remedy = (
                    f"cut them with --bins {column.name}=EDGES or --bins 4, drop it, or raise --max-values"
                )
            elif commas and all(_number(v.replace(",", ".", 1)) is not None for v in column.values.index):
                remedy = "they look like numbers with decimal commas: give --decimal , and bins"
            else:
                remedy = (
                    f"drop it (--drop {column.name}, or --drop-unique for all such), or raise --max-values"
                )
            kind = "numbers" if numeric else "values"
            return f"column {title} has {many} different {kind}{every}; {remedy}", None
        occurring = int((column.counts.sum(axis=1) > 0).sum())
        if occurring == 0:
            return None, "has no value in any row"
        if occurring == 1:
            return None, "has the same value in every row"
        return None, None

    def specification(self, provenance: Mapping[str, object]) -> ModelSpec:
        """Write what was counted as a specification."""
        choices, totals = self.choices, self.decided.sum(axis=0)
        sides = self._side_values()
        attributes = []
        for column in self.columns:
            counts = column.counts.reshape(len(column.counts), self.parts, 2).sum(axis=1)
            kept = column.kept(choices.smoothing > 0)
            order = [i for i in column.order() if kept[i]]
            names = list(column.values.index)
            attributes.append(
                {
                    "name": column.name,
                    "sensitive": column.name in choices.sensitive,
                    "values": [column.bins.values[i] if column.bins else names[i] for i in order],
                    "counts": {
                        "favourable": [decimal(int(counts[i, 0])) for i in order],
                        "unfavourable": [decimal(int(counts[i, 1])) for i in order],
                    },
                }
            )
        return build(
            {
                "name": choices.name or Path(self.table.name).name.split(".")[0] or self.table.name,
                "decision": {
                    "name": choices.decision,
                    "favourable": sides[0],
                    "unfavourable": sides[1],
                    "counts": {"favourable": int(totals[0]), "unfavourable": int(totals[1])},
                },
                "smoothing": choices.smoothing,
                "attributes": attributes,
                "provenance": provenance,
            },
            self.table.name,
        )

    def _side_values(self) -> list[dict[str, str]]:
        first = list(dict.fromkeys(self.choices.favourable))
        second = sorted(value for value in self.decision.index if value not in first)
        return [
            {"value": JOINT.join(values), "label": values[0] if len(values) == 1 else " or ".join(values)}
            for values in (first, second)
        ]

    def summary(self, performance: Performance | None) -> Summary:
        """Say what the data hold."""
        first, second = (str(value["label"]) for value in self._side_values())
        totals = self.decided.sum(axis=0)
        groups, sensitive = [], [c for c in self.columns if c.name in self.choices.sensitive]
        labels = [c.bins.labels if c.bins else tuple(c.values.index) for c in sensitive]
        for column, names in zip(sensitive, labels, strict=True):
            counts = column.counts.reshape(-1, self.parts, 2).sum(axis=1)
            for i in (i for i in column.order() if counts[i].any()):
                both = ((column.name, names[i]),)
                groups.append(Group(both, int(counts[i].sum()), int(counts[i, 0])))
        small = [group for group in groups if group.rows < SMALL_GROUP]
        for key, found in self.combinations.items():
            if found.sum() < SMALL_GROUP:
                values = tuple(
                    (column.name, names[i]) for column, names, i in zip(sensitive, labels, key, strict=True)
                )
                small.append(Group(values, int(found.sum()), int(found[0])))
        return Summary(
            source=self.table.name,
            rows=self.rows,
            undecided=self.undecided,
            favourable=(first, int(totals[0])),
            unfavourable=(second, int(totals[1])),
            missing={column.name: column.missing for column in self.columns},
            left_out=self.left_out,
            notes=tuple(self.notes),
            groups=tuple(groups),
            small_groups=tuple(sorted(small, key=lambda g: (g.rows, g.values))),
            performance=performance,
        )

    def scores(self, chunks: Iterable[Chunk], spec: ModelSpec) -> Scores:
        """Predict each row of a measured part by a model that is counted from the other parts."""
        measured = range(self.parts) if self.choices.folds else range(1)
        others = self.decided.sum(axis=0) - self.decided
        alpha = float(self.choices.smoothing)
        if not (others[measured].all()):
            raise InputError(
                f"{self.table.name}: too few rows to measure: without one part only one decision is left; "
                "use fewer folds or a smaller holdout"
            )
        tables = []
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = np.log(others[:, 0]) - np.log(others[:, 1])
            for column in self.columns:
                by_part = column.counts.reshape(-1, self.parts, 2)
                left = (by_part.sum(axis=1, keepdims=True) - by_part) + alpha
                logs = np.log(left) - np.log(left[column.kept(alpha > 0)].sum(axis=0))
                # A value's log odds per part, and 0 for a missing cell. −∞ − −∞: both are impossible.
                odds = (logs[..., 0] - logs[..., 1]).T
                tables.append(np.hstack([odds, np.zeros((self.parts, 1))]))
        scores = Scores()
        random = np.random.Generator(np.random.PCG64(self.choices.seed))
        for chunk in chunks:
            side, part = self._sides(chunk, self.decision, random)
            kept = (side >= 0) & (part < len(measured))
            side, part = side[kept], part[kept]
            odds = prior[part]
            with np.errstate(invalid="ignore"):
                for column, table in zip(self.columns, tables, strict=True):
                    odds = odds + table[part, column.codes(chunk)[kept]]
            scores.add(odds, side == 0)
        return scores


def parse_smoothing(text: str) -> Decimal:
    """Read the number that is added to each count.

    Raises
    ------
    InputError
        If it is none, or below 0.
    """
    try:
        return count(Decimal(text))
    except (InvalidOperation, ValueError):
        raise InputError(f"smoothing: {shown(text)} is not a number from 0; write one, such as 1") from None


def _number(text: str) -> float | None:
    try:
        number = None if "_" in text else float(text)
    except ValueError:
        return None
    return number if number is not None and np.isfinite(number) else None
