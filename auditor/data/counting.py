"""Counts a table for a model: the rows with each value of each column under each decision.

The source is asked once for the different cells of each column by decision; what these cells mean, and which
columns are attributes, is found from them. Memory depends on the number of different cells, not of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from auditor.data.binning import found_edges, places
from auditor.data.cells import counted, twins
from auditor.data.counted import Column, Counted, LearnOptions
from auditor.data.tables import Groups, Progress, Table, reject
from auditor.errors import InputError
from auditor.messages import listed, shown
from auditor.model.building import split
from auditor.model.intervals import Bins

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: A column with more different texts, or numbers, than these is no attribute as it is.
MAX_VALUES, MAX_NUMBERS = 100, 20

#: Segments of which models are made at most.
MAX_SEGMENTS = 10_000

#: Different values of a column that are told apart before it is given up, unless they are cut into bins.
_TRACKED = 10_000
#: Combinations of all sensitive values that are counted at most.
_COMBINATIONS = 100_000


def count(table: Table, options: LearnOptions, progress: Progress = lambda stage: None) -> Counted:
    """Count a table.

    Raises
    ------
    InputError
        With a line per problem, which names the column and a remedy.
    """
    return _Count(table, options, None, progress).segment(0)


def count_segments(
    table: Table, options: LearnOptions, by: str, progress: Progress
) -> dict[str, Counted | tuple[str, ...]]:
    """Count each segment of a table, which is the rows with the same value in a column, in one query.

    Returns
    -------
    dict
        For each segment what was counted, or what is wrong with it.

    Raises
    ------
    InputError
        If something is wrong with the table as a whole.
    """
    return _Count(table, options, by, progress).segments()


class _Tally(NamedTuple):
    """What was counted of a column by segment: counts has the shape (values, segments, 2)."""

    column: Column
    counts: NDArray[np.int64]
    missing: NDArray[np.int64]


class _Count:
    """Counts a table once, for all segments; without any, all rows are one segment."""

    def __init__(self, table: Table, options: LearnOptions, by: str | None, progress: Progress) -> None:
        self._table, self._by, self._progress = table, by, progress
        self._dialect = table.dialect
        self._options, attributes, self._left_out = _chosen(table, options, by)
        options = self._options
        crowded = table.crowded([options.decision, *attributes], _TRACKED)
        given_up = []
        for name, cells in crowded.items():
            values = list({value for cell in cells if (value := self._dialect.text(cell)) is not None})
            numeric = not np.isnan(self._dialect.numbers(values)).any()
            wanted = name in options.edges or (bool(options.bins) and numeric and name != options.decision)
            if len(values) > _TRACKED and not wanted:
                given_up.append(self._given_up(name, values, numeric))
        if any(column.name == options.decision for column in given_up):
            raise InputError(
                f"{table.name}: column {shown(options.decision)} has over {_TRACKED:,} different values, too "
                "many for a decision; give another column"
            )
        gone = {column.name for column in given_up}
        kept = [name for name in attributes if name not in gone]
        sensitive = [name for name in attributes if name in options.sensitive]
        joint = [tuple(sensitive)] if len(sensitive) > 1 and not gone & set(sensitive) else []
        keys = [options.decision] + ([] if by is None else [by])
        (decision, *found), together = table.groups(keys, [options.decision, *kept], joint, progress)
        self._cells(decision)
        tallies = {name: self._tally(name, group) for name, group in zip(kept, found, strict=True)}
        none = np.zeros((0, len(self._segments), 2), dtype=np.int64)
        nobody = np.zeros(len(self._segments), dtype=np.int64)
        tallies |= {column.name: _Tally(column, none, nobody) for column in given_up}
        self._tallies = [tallies[name] for name in attributes]
        self._twins = self._find_twins()
        self._joint = self._combinations(sensitive, together[0], tallies) if together else []

    def segments(self) -> dict[str, Counted | tuple[str, ...]]:
        """Return each segment."""
        found: dict[str, Counted | tuple[str, ...]] = {}
        for i, segment in enumerate(self._segments):
            try:
                found[str(segment)] = self.segment(i)
            except InputError as error:
                found[str(segment)] = error.problems
        return found

    def _given_up(self, name: str, values: Sequence[str], numeric: bool) -> Column:
        advice = None if numeric else self._dialect.advice(values)
        empty = np.zeros((0, 2), dtype=np.int64)
        return Column(name, (), empty, 0, {}, numeric=numeric, advice=advice, given_up=True)

    def _cells(self, decision: Groups) -> None:
        """Find the decisions and segments that there are; check what holds for all of them."""
        table, options, dialect = self._table, self._options, self._dialect
        name, column = table.name, shown(options.decision)
        if not len(decision.rows):
            raise InputError(f"{name}: there are no rows under the header; give some")
        rows: dict[str, int] = {}
        values = {cell: dialect.text(cell) for cell in dict.fromkeys(decision.cells[0])}
        for cell, number in zip(decision.cells[0], decision.rows.tolist(), strict=True):
            if (value := values[cell]) is not None:
                rows[value] = rows.get(value, 0) + number
        found = sorted(rows)
        reject([f"{name}: column {column} has no decision in any row; give those"] if not found else [])
        some = listed(found)
        problems = []
        for value in options.favourable:
            if value in dialect.missing:
                problems.append(
                    f"{name}: the favourable value {shown(value)} stands for a missing cell; name the marks "
                    f"of missing cells without it, such as --missing {'NA' if value != 'NA' else '?'}"
                )
            elif value not in rows:
                problems.append(
                    f"{name}: column {column} never has the favourable value {shown(value)}; it has {some}"
                )
        if not problems and all(value in options.favourable for value in found):
            problems.append(
                f"{name}: column {column} has only favourable values ({some}); both decisions must occur"
            )
        others = [value for value in found if value not in options.favourable]
        if not problems and len(others) > MAX_VALUES:
            problems.append(
                f"{name}: column {column} has {len(found):,} different values, too many for a decision; "
                "give another column"
            )
        self._problems = problems
        self._sides = tuple(dict.fromkeys(options.favourable)), tuple(others)
        self._side = {
            cell: -1 if value is None else int(value not in options.favourable)
            for cell, value in values.items()
        }
        self._decision_notes = self._slips(options.decision, rows)
        self._segments: list[str | None] = [None]
        self._segment_of: dict[str | None, int] = {}
        if self._by is not None:
            texts = {cell: dialect.text(cell) for cell in dict.fromkeys(decision.cells[1])}
            known = sorted({text for text in texts.values() if text is not None})
            if not known or len(known) > MAX_SEGMENTS:
                raise InputError(
                    f"{name}: column {shown(self._by)} has {len(known):,} values; models are made for 1 to "
                    f"{MAX_SEGMENTS:,} segments"
                )
            self._segments = list(known)
            place = {text: i for i, text in enumerate(known)}
            self._segment_of = {cell: -1 if t is None else place[t] for cell, t in texts.items()}
        side, segment = self._keys(decision)
        inside = segment >= 0
        totals = np.zeros((len(self._segments), 2), dtype=np.int64)
        np.add.at(
            totals,
            (segment[inside & (side >= 0)], side[inside & (side >= 0)]),
            decision.rows[inside & (side >= 0)],
        )
        self._decided = totals
        self._undecided = np.zeros(len(self._segments), dtype=np.int64)
        np.add.at(self._undecided, segment[inside & (side < 0)], decision.rows[inside & (side < 0)])

    def _keys(self, group: Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the side and the segment of each group."""
        side = np.array([self._side[cell] for cell in group.cells[0]], dtype=np.intp)
        if self._by is None:
            return side, np.zeros(len(side), dtype=np.intp)
        return side, np.array([self._segment_of[cell] for cell in group.cells[1]], dtype=np.intp)

    def _tally(self, name: str, group: Groups) -> _Tally:
        """Find what the cells of a column mean, and count its values."""
        dialect, options = self._dialect, self._options
        side, segment = self._keys(group)
        cells = list(dict.fromkeys(group.cells[-1]))
        cell = _places(group.cells[-1], cells)
        texts = dialect.texts(cells)
        values = list(dict.fromkeys(text for text in texts if text is not None))
        value_of = _places(texts, values)
        known = (side >= 0) & (segment >= 0)
        cell, side, segment, rows = cell[known], side[known], segment[known], group.rows[known]

        def counted_by(code: NDArray[np.intp], size: int) -> NDArray[np.int64]:
            """Count by codes, of which -1 is the last."""
            counts = np.zeros((size + 1, len(self._segments), 2), dtype=np.int64)
            np.add.at(counts, (code[cell], segment, side), rows)
            return counts

        counts = counted_by(value_of, len(values))
        missing = counts[-1].sum(axis=1)
        total = counts[:-1].sum(axis=(1, 2))
        numbers = dialect.numbers(values)
        strange = [values[i] for i in np.flatnonzero(np.isnan(numbers)).tolist()]
        # A column of numbers stays one if some cells are infinite, although those fall into no bin.
        numeric = bool(values) and all(map(dialect.infinite, strange))
        notes: list[str] = []
        bins = wrong = advice = None
        occurring = np.flatnonzero(total)
        if name in options.edges:
            wrong = min(strange, default=None)
            bins = Bins(options.edges[name])
        elif options.bins and numeric and len(occurring) > (options.max_values or MAX_NUMBERS):
            wrong = min(strange, default=None)
            if wrong is None:
                edges = found_edges(numbers[occurring], total[occurring], options.bins, options.bin_method)
                bins = Bins(edges) if edges else None
        if not numeric and (wrong is not None or len(values) > MAX_NUMBERS):
            advice = dialect.advice(values)
        if numeric and dialect.looks_like_thousands(values):
            mark = dialect.decimal
            notes.append(
                f"each {shown(mark)} in the numbers of {shown(name)} stands before three digits; if those "
                f"are thousands, give --thousands {mark}"
            )
        if bins is not None and wrong is None:
            codes = places(bins, values, numbers, dialect)
            names: tuple[str, ...] = bins.codes
        else:
            # Values are sorted: numbers by size, texts by the alphabet. What no row with a decision has, is
            # no value.
            found = occurring.tolist()
            size = [
                float(v) if dialect.infinite(v) else n for v, n in zip(values, numbers.tolist(), strict=True)
            ]
            found.sort(key=lambda i: (size[i] if numeric else 0.0, values[i]))
            codes = np.full(len(values), -1, dtype=np.intp)
            codes[found] = np.arange(len(found))
            names = tuple(values[i] for i in found)
            if len(found) <= MAX_VALUES:
                notes += self._slips(name, {values[i]: int(total[i]) for i in found})
        code = np.append(codes, -1)[value_of]
        column = Column(
            name,
            names,
            counts[:0, 0],
            0,
            dict(zip(cells, code.tolist(), strict=True)),
            bins,
            numeric,
            wrong,
            advice,
            bins is None and len(names) > _TRACKED,
            tuple(notes),
        )
        return _Tally(column, counted_by(code, len(names))[:-1], missing)

    def _slips(self, name: str, rows: Mapping[str, int]) -> list[str]:
        """Point out values that differ only in how they are typed."""
        notes = []
        for group in twins(self._dialect, rows):
            numeric = not np.isnan(self._dialect.numbers(group)).any()
            how = "are the same number" if numeric else "differ only in case, blanks or a full stop"
            note = f"values of {shown(name)} that {how}: {counted(group, rows)}"
            sides = {value in self._options.favourable for value in group}
            if name == self._options.decision and len(sides) == 2:
                good = [value for value in group if value in self._options.favourable]
                named = ", ".join(map(shown, good))
                note += f"; only {named} counts as favourable: name the others too, or mend them"
            notes.append(note)
        return notes

    def _find_twins(self) -> dict[str, str]:
        """Find columns that tell exactly the same as an earlier one, or as the decision."""
        found: dict[str, str] = {}
        alike: dict[object, list[_Tally]] = {}
        for tally in self._tallies:
            column, counts = tally.column, tally.counts.sum(axis=1)
            occurring = counts[counts.any(axis=1)]
            if column.given_up or column.wrong is not None or len(occurring) < 2:
                continue
            if len(occurring) == 2 and not tally.missing.any() and not (occurring > 0).all(axis=1).any():
                found[column.name] = self._options.decision
            key = (int(tally.missing.sum()), tuple(sorted(map(tuple, occurring.tolist()))))
            alike.setdefault(key, []).append(tally)
        groups = [[t.column for t in group if t.column.name not in found] for group in alike.values()]
        while pairs := [(group[0], other) for group in groups for other in group[1:]]:
            equal = self._equal(pairs)
            found |= {other.name: first.name for first, other in pairs if (first.name, other.name) in equal}
            # Columns that differ from the first of their group may still equal each other: look again among
            # them.
            groups = [[other for other in group[1:] if other.name not in found] for group in groups]
        return found

    def _equal(self, pairs: Sequence[tuple[Column, Column]]) -> set[tuple[str, str]]:
        """Return the names of the pairs in which each value of one column goes with one of the other."""
        keys = [self._options.decision] + ([] if self._by is None else [self._by])
        names = [(first.name, second.name) for first, second in pairs]
        _, groups = self._table.groups(keys, [], names, self._progress)
        equal = set()
        for (first, second), group in zip(pairs, groups, strict=True):
            side, segment = self._keys(group)
            known = (side >= 0) & (segment >= 0)
            codes = [
                np.array([column.codes[cell] for cell in cells], dtype=np.intp)[known]
                for column, cells in zip((first, second), group.cells[-2:], strict=True)
            ]
            both = len(set(zip(*(c.tolist() for c in codes), strict=True)))
            if both == len(np.unique(codes[0])) == len(np.unique(codes[1])):
                equal.add((first.name, second.name))
        return equal

    def _combinations(
        self, names: Sequence[str], group: Groups, tallies: Mapping[str, _Tally]
    ) -> list[dict[tuple[int, ...], NDArray[np.int64]]]:
        """Count the combinations of all sensitive values by segment; none where one is missing."""
        columns = [tallies[name].column for name in names]
        empty: list[dict[tuple[int, ...], NDArray[np.int64]]] = [{} for _ in self._segments]
        if prod(len(column.values) for column in columns) > _COMBINATIONS:
            return empty
        side, segment = self._keys(group)
        codes = zip(
            *(
                map(c.codes.__getitem__, cells)
                for c, cells in zip(columns, group.cells[-len(names) :], strict=True)
            ),
            strict=True,
        )
        for key, s, part, rows in zip(
            codes, side.tolist(), segment.tolist(), group.rows.tolist(), strict=True
        ):
            if min(s, part, *key) >= 0:
                empty[part].setdefault(key, np.zeros(2, dtype=np.int64))[s] += rows
        return empty

    def segment(self, i: int) -> Counted:
        """Judge the columns of a segment, and find every problem at once."""
        table, options = self._table, self._options
        name, segment = table.name, self._segments[i]
        problems = list(self._problems)
        if not problems and not self._decided[i].all():
            problems.append(
                f"{name}: the rows have only one of the decisions; both must occur"
                if segment is None
                else f"{name}: the rows of {shown(segment)} have only one of the decisions; both must occur"
            )
        left_out, notes = dict(self._left_out), list(self._decision_notes)
        kept, moved = [], {}
        for tally in self._tallies:
            column, move, merged = _of_segment(tally, i, options.smoothing > 0)
            moved[column.name] = move
            problem, why = self._judged(column)
            twin = self._twins.get(column.name)
            if why is None and problem is None and twin is not None:
                if column.name not in options.sensitive and options.drop_duplicates:
                    why = f"tells the same as {shown(twin)}"
                else:
                    notes.append(f"{shown(column.name)} tells exactly the same as {shown(twin)}")
            if why is not None and column.name in options.sensitive:
                remedy = "don't name it as sensitive" if column.bins is None else "give other edges"
                problem = f"column {shown(column.name)} is sensitive, but it {why}; {remedy}"
            if problem:
                problems.append(f"{name}: {problem}")
            elif why is not None:
                left_out[column.name] = why
            else:
                notes += [*column.notes, *merged]
                kept.append(column)
        reject(problems)
        sensitive = [c.name for c in kept if c.name in options.sensitive]
        together: dict[tuple[int, ...], tuple[int, int]] = {}
        for key, rows in (self._joint[i] if self._joint else {}).items():
            place = tuple(int(moved[n][k]) for n, k in zip(sensitive, key, strict=True))
            good, bad = together.get(place, (0, 0))
            together[place] = good + int(rows[0]), bad + int(rows[1])
        return Counted(
            table,
            options,
            tuple(kept),
            self._sides,
            self._side,
            (int(self._decided[i, 0]), int(self._decided[i, 1])),
            int(self._undecided[i]),
            together,
            left_out,
            tuple(notes),
            None if segment is None or self._by is None else (self._by, segment),
        )

    def _judged(self, column: Column) -> tuple[str | None, str | None]:
        """Say what is wrong with a column, or why it is left out."""
        title, options = shown(column.name), self._options
        if column.wrong is not None:
            remedy = f"give {column.advice}" if column.advice else "mend it, or leave the bins out"
            return f"column {title} has bins, but {shown(column.wrong)} is not a number; {remedy}", None
        limit = options.max_values or (MAX_NUMBERS if column.numeric else MAX_VALUES)
        size = len(column.values)
        if column.given_up or (column.bins is None and size > limit):
            many = f"over {_TRACKED:,}" if column.given_up else f"{size:,}"
            unique = not column.given_up and int(column.counts.sum()) == size
            every = ", another one in every row" if unique else ""
            if options.drop_unique:
                return None, f"has {many} different values{every}"
            if column.numeric:
                remedy = (
                    f"cut them with --bins {column.name}=EDGES or --bins 4, drop it, or raise --max-values"
                )
            elif column.advice:
                remedy = f"they look like numbers: give {column.advice}, and bins"
            else:
                remedy = (
                    f"drop it (--drop {column.name}, or --drop-unique for all such), or raise --max-values"
                )
            kind = "numbers" if column.numeric else "values"
            return f"column {title} has {many} different {kind}{every}; {remedy}", None
        occurring = int(column.counts.any(axis=1).sum())
        if occurring == 0:
            return None, "has no value in any row"
        if occurring == 1:
            return None, "has the same value in every row" if column.bins is None else "falls into one bin"
        return None, None


def _places(found: Sequence[str | None], among: Sequence[str | None]) -> NDArray[np.intp]:
    """Return the place of each text among others; -1 for None that is none of them."""
    place: dict[str | None, int] = {None: -1}
    place.update(zip(among, range(len(among)), strict=True))
    return np.fromiter(map(place.__getitem__, found), dtype=np.intp, count=len(found))


def _of_segment(tally: _Tally, i: int, smoothed: bool) -> tuple[Column, NDArray[np.intp], list[str]]:
    """Return a column with the values that a segment has, where each value went, and what to note.

    Without smoothing a bin without rows would have no probability: it joins the one below, or the first one
    with rows, so that the bins still cut the whole number line.
    """
    column, counts, missing = tally.column, tally.counts[:, i], int(tally.missing[i])
    filled = np.asarray(counts.any(axis=1))
    size, move, values, bins = len(counts), np.arange(len(counts)), column.values, column.bins
    notes: list[str] = []
    if bins is not None and not smoothed and filled.any() and not filled.all():
        # Each bin joins the last bin with rows that is not above it.
        move = np.maximum(np.cumsum(filled) - 1, 0)
        kept = np.flatnonzero(filled).tolist()
        empty = ", ".join(shown(label) for label, full in zip(bins.labels, filled, strict=True) if not full)
        notes.append(f"no row has {shown(column.name)} in {empty}: put together with the bin next to it")
        bins = bins.joined(kept) if kept[1:] else None
        values = bins.codes if bins else (values[kept[0]],)
        size = len(values)
    elif bins is None and not filled.all():
        move = np.where(filled, np.cumsum(filled) - 1, -1)
        values = tuple(value for value, full in zip(values, filled, strict=True) if full)
        size = len(values)
    merged = np.zeros((size + 1, 2), dtype=np.int64)
    np.add.at(merged, move, counts)
    codes = column.codes
    if size < len(counts):
        table = np.append(move, -1).tolist()
        codes = {cell: table[code] for cell, code in codes.items()}
    changed = replace(column, values=values, counts=merged[:size], missing=missing, codes=codes, bins=bins)
    return changed, move, notes


def _chosen(
    table: Table, options: LearnOptions, by: str | None
) -> tuple[LearnOptions, list[str], dict[str, str]]:
    """Return the options with single names, the columns that are attributes, and why others are not."""

    def named(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name.strip() for name in split(names, table.columns))

    options = replace(
        options,
        decision=options.decision.strip(),
        favourable=tuple(value.strip() for value in options.favourable),
        sensitive=named(options.sensitive),
        drop=named(options.drop),
        columns=None if options.columns is None else named(options.columns),
        edges={name.strip(): edges for name, edges in options.edges.items()},
    )
    wanted = None if options.columns is None else {*options.columns, *options.sensitive}
    left_out: dict[str, str] = {}
    attributes, header = [], []
    for i, column in enumerate(table.columns):
        if (
            column in (options.decision, by)
            or column in options.drop
            or (wanted is not None and column not in wanted)
        ):
            continue
        if column:
            attributes.append(column)
        elif i == 0:
            left_out["column 1"] = "has no name, as the numbers of rows in a file that pandas or R wrote"
        elif i == len(table.columns) - 1:
            left_out[f"column {i + 1}"] = "has no name: the header ends in a separator"
        else:
            header.append(
                f"{table.name}: column {i + 1} has no name in the header; give it one, "
                "or name those to take with --columns"
            )
    problems = [
        *table.problems([options.decision], "the decision"),
        *table.problems([] if by is None else [by], "the segments"),
        *table.problems(options.sensitive, "the sensitive attributes"),
        *(p for p in table.problems(options.drop, "those to drop") if "there is no column" in p),
        *table.problems(list(options.edges), "the bins"),
        *table.problems(options.columns or (), "the attributes"),
        *table.problems(attributes, "the attributes"),
        *header,
    ]
    for column in options.sensitive:
        if column in options.drop or column in (options.decision, by):
            other = "dropped" if column in options.drop else "the decision" if column != by else "the segment"
            problems.append(f"{table.name}: column {shown(column)} is sensitive and {other}; choose one")
    if not options.sensitive:
        problems.append(f"{table.name}: no sensitive column is named; name those that need protection")
    reject(list(dict.fromkeys(problems)))
    return options, attributes, left_out
