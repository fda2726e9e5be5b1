"""Finds what the cells of a table are in a model: the one translation for all that data are held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from auditor.data.binning import places
from auditor.data.cells import Dialect
from auditor.data.counted import JOINT
from auditor.data.tables import Progress, Rows, Table, reject
from auditor.messages import shown
from auditor.model.intervals import Bins, are_intervals
from auditor.model.scorecard import ANY_OTHER
from auditor.model.spec import ValueSpec

if TYPE_CHECKING:
    from auditor.model.scorecard import ScorecardAttribute, ScorecardSpec, ScoredValue
    from auditor.model.spec import AttributeSpec, ModelSpec

#: Values of a column that an error names.
_NAMED = 10


class EncodedTable:
    """A table in the values of a model.

    A column has the name of the attribute, or is the only one whose letters and digits are the same. A cell
    is a value's code or else its label, whatever marks missing cells; a number falls into its bin. Cells that
    are missing or unknown to the model are not observed; rows whose decision is are left out.

    Attributes
    ----------
    name : str
    rows : int
        Those with a decision that the model knows.
    undecided, other_decision : int
        Rows left out, whose decision is missing or unknown.
    missing, unknown : dict of str to int
        Cells of the other rows by attribute, where there are any.
    """

    def __init__(
        self, spec: ModelSpec | ScorecardSpec, table: Table, progress: Progress = lambda stage: None
    ) -> None:
        self.name, self._table = table.name, table
        decision = spec.decision
        attributes: Sequence[AttributeSpec | ScorecardAttribute] = spec.attributes
        wanted = [decision.name, *(attribute.name for attribute in attributes)]
        names = [column_of(table.columns, name) for name in wanted]
        reject(table.problems(names[:1], "the decision") + table.problems(names[1:], "an attribute"))
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        reject(
            [
                f"{table.name}: column {shown(name)} would stand for several attributes; name each as there"
                for name in twice
            ]
        )
        (own, *found), _ = table.groups(names[:1], names, (), progress)
        sides = [decision.favourable, decision.unfavourable]
        side = codes_of(own.cells[-1], sides, table.dialect, joint=True)
        self._codes: dict[str, Mapping[str | None, int]] = {
            names[0]: {c: max(s, -1) for c, s in side.items()}
        }
        decided = {0: 0, -1: 0, -2: 0}
        for cell, number in zip(own.cells[-1], own.rows.tolist(), strict=True):
            decided[min(side[cell], 0)] += number
        self.rows, self.undecided, self.other_decision = decided.values()
        if not self.rows:
            strange = sorted(c for c, s in side.items() if s == -2 and c is not None)[:_NAMED]
            holds = (
                f"it has {', '.join(map(shown, strange))}" if strange else "it has no rows with a decision"
            )
            neither = f"{shown(decision.favourable.value)} nor {shown(decision.unfavourable.value)}"
            reject(
                [
                    f"{table.name}: column {shown(names[0])} has neither {neither}; {holds}; write it as in "
                    "the model"
                ]
            )
        self.missing: dict[str, int] = {}
        self.unknown: dict[str, int] = {}
        problems = []
        for attribute, name, group in zip(attributes, names[1:], found, strict=True):
            problems += unnamed_cells(group.cells[-1], attribute, name, table)
            code = values_of(group.cells[-1], attribute, table.dialect)
            self._codes[name] = {cell: max(c, -1) for cell, c in code.items()}
            absent = {-1: 0, -2: 0}
            for decided, cell, number in zip(*group.cells, group.rows.tolist(), strict=True):
                if side[decided] >= 0 and code[cell] < 0:
                    absent[code[cell]] += number
            for kind, cells in ((-1, self.missing), (-2, self.unknown)):
                if absent[kind]:
                    cells[attribute.name] = absent[kind]
            if absent[-2] and sum(absent.values()) == self.rows:
                strange = sorted(c for c, p in code.items() if p == -2 and c is not None)[:_NAMED]
                advice = None
                if Bins.of([value.value for value in attribute.values]):
                    texts = [t for c in code if (t := table.dialect.text(c)) is not None]
                    advice = table.dialect.advice(texts)
                remedy = f"give {advice}" if advice else "write them as in the model"
                problems.append(
                    f"{table.name}: column {shown(name)} has none of the model's values in any row, but "
                    f"{', '.join(map(shown, strange))}; {remedy}"
                )
        reject(problems)

    def pieces(self, progress: Progress = lambda stage: None) -> Iterator[Rows]:
        """Return the rows with a decision: its side (0 favourable), and the value of each attribute or -1."""
        for piece in self._table.rows(self._codes, progress):
            known = piece.codes[0] >= 0
            yield Rows(tuple(code[known] for code in piece.codes), piece.rows[known])


def column_of(columns: Sequence[str], name: str) -> str:
    """Return the column of a name, or the only one whose letters and digits are the same."""

    def bare(text: str) -> str:
        return "".join(filter(str.isalnum, text)).casefold()

    alike = [column for column in columns if bare(column) == bare(name)]
    return alike[0] if name not in columns and len(alike) == 1 else name


def values_of(
    cells: Sequence[str | None], attribute: AttributeSpec | ScorecardAttribute, dialect: Dialect
) -> dict[str | None, int]:
    """Return the place of each cell among the values of an attribute, as `codes_of` does.

    A bin of categories has the cells of each, a bin of missing values those without a value, and the bin of
    any other all that no other value holds.
    """
    known: list[ValueSpec] = []
    places: list[int] = []
    values: Sequence[ValueSpec | ScoredValue] = attribute.values
    missing, other = -1, -2
    for v, value in enumerate(values):
        if isinstance(value, ValueSpec):
            known.append(value)
            places.append(v)
        elif value.bin == "missing":
            missing = v
        elif value.bin == "special" and value.value == ANY_OTHER and not value.categories:
            other = v
        else:
            for category in value.categories or (value.value,):
                label = value.label if not value.categories else category
                known.append(ValueSpec.model_validate({"value": category, "label": label}))
                places.append(v)
    found = codes_of(cells, known, dialect)
    return {cell: places[p] if p >= 0 else missing if p == -1 else other for cell, p in found.items()}


def unnamed_cells(
    cells: Sequence[str | None], attribute: AttributeSpec | ScorecardAttribute, column: str, table: Table
) -> list[str]:
    """Explain special bins beside ranges whose cells nothing names: they would count as usual numbers."""
    values: Sequence[ValueSpec | ScoredValue] = attribute.values
    if not any(are_intervals([value.value]) for value in values):
        return []
    return [
        f"{table.name}: column {shown(column)}: nothing says which numbers belong to the bin "
        f"{shown(value.value)}; name them as its categories, or in its place in the table of the scorecard"
        for value in values
        if not isinstance(value, ValueSpec)
        and (value.bin, value.categories) == ("special", None)
        and value.value not in (ANY_OTHER, *cells)
        and not _is_number(value.value)
    ]


def codes_of(
    cells: Sequence[str | None], values: Sequence[ValueSpec], dialect: Dialect, *, joint: bool = False
) -> dict[str | None, int]:
    """Return the place of each cell among values; -1 if it is missing, -2 if the model hasn't it."""
    known = {value.value: i for i, value in enumerate(values)}
    for i, value in enumerate(values):
        # Data may hold what people read instead of the code, and each of the codes that make up a side.
        for part in (value.label, *(value.value.split(JOINT) if joint else ())):
            known.setdefault(part, i)
    found: dict[str | None, int] = {}
    for cell in dict.fromkeys(cells):
        bare = "" if cell is None else cell.strip()
        place = known.get(bare)
        found[cell] = place if place is not None else -1 if dialect.text(cell) is None else -2
    ranges = [i for i, value in enumerate(values) if are_intervals([value.value])]
    bins = Bins.of([values[i].value for i in ranges])
    rest = [cell for cell, place in found.items() if place == -2 and cell is not None]
    if bins and rest:
        texts = [cell.strip() for cell in rest]
        numbers = dialect.numbers(texts)
        # Where the other values are ranges, a value that is a number is a code such as -1; data may write it
        # as -1.0.
        codes = {float(code): i for code, i in known.items() if i not in ranges and _is_number(code)}
        for cell, number, place in zip(
            rest, numbers.tolist(), places(bins, texts, numbers, dialect).tolist(), strict=True
        ):
            found[cell] = codes.get(number, ranges[place]) if place >= 0 else -2
    return found


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
