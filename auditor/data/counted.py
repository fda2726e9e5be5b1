"""What to count of a table for a model, and what was counted: options, columns, and a summary of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal, NamedTuple

from auditor.data.tables import Table
from auditor.errors import InputError
from auditor.messages import shown
from auditor.model.building import build, decimal
from auditor.model.checks import count as checked_count
from auditor.model.intervals import Bins
from auditor.model.spec import ModelSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from auditor.data.scoring import Performance

#: Groups with fewer rows are pointed out: their counts say little.
SMALL_GROUP = 30

#: Joins the data's codes of several values that make up one side of the decision.
JOINT = "|"


@dataclass(frozen=True)
class LearnOptions:
    """What to learn, and how."""

    decision: str
    """Column of the decision."""
    favourable: tuple[str, ...]
    """Its values that are favourable; all others are unfavourable."""
    sensitive: tuple[str, ...]
    """Columns to protect. Here, in `columns` and in `drop` a text that is no column names several, with
    commas between.
    """
    drop: tuple[str, ...] = ()
    """Columns to leave out."""
    edges: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)
    """Columns of numbers that are cut at these edges; each bin contains its lower edge."""
    bins: int | None = None
    """Into how many bins to cut other columns of many numbers."""
    bin_method: Literal["quantile", "width"] = "quantile"
    """Whether those bins have about as many rows or the same width."""
    smoothing: Decimal = Decimal(0)
    max_values: int | None = None
    """Allowed number of values of a column.  [100 texts or 20 numbers]"""
    drop_unique: bool = False
    drop_duplicates: bool = False
    """Leave out columns with too many values; and those that another column tells exactly."""
    holdout: float | None = None
    """Share of rows on which to measure a model that is counted from the others."""
    folds: int | None = None
    """Number of parts, on each of which to measure a model that is counted from the others."""
    seed: int = 0
    """Draws the parts; the same rows get the same parts, in whatever order they stand."""
    name: str | None = None
    """The model's name.  [decision and source]"""
    columns: tuple[str, ...] | None = None
    """The only columns to take, beside the decision and the sensitive ones.  [all]"""


class Group(NamedTuple):
    """People with these sensitive values: how many, and how many of them have the favourable decision."""

    values: tuple[tuple[str, str], ...]
    rows: int
    favourable: int


@dataclass(frozen=True)
class Summary:
    """What the data hold."""

    source: str
    rows: int
    """Rows that were counted, so without those below."""
    undecided: int
    """Rows whose decision is missing."""
    favourable: tuple[str, int]
    unfavourable: tuple[str, int]
    """Label and rows of each side."""
    missing: Mapping[str, int]
    """Missing cells of each attribute."""
    left_out: Mapping[str, str]
    """Columns that are no attributes, and why."""
    notes: tuple[str, ...]
    """What deserves a look."""
    groups: tuple[Group, ...]
    """By single sensitive values."""
    small_groups: tuple[Group, ...]
    """Those and combinations of all sensitive values with fewer than 30 rows, smallest first; combinations
    that don't occur are not listed.
    """
    performance: Performance | None


@dataclass(frozen=True)
class Column:
    """What was counted of a column."""

    name: str
    values: tuple[str, ...]
    """In the order in which people expect them; codes of bins."""
    counts: NDArray[np.int64]
    """Shape (values, 2): rows under the favourable and under the unfavourable decision."""
    missing: int
    """Rows without a value."""
    codes: Mapping[str | None, int]
    """The place among the values of each cell as it stands in the table; -1 for a missing one."""
    bins: Bins | None = None
    numeric: bool = False
    """Whether all values are numbers."""
    wrong: str | None = None
    """A value that is no number where bins are asked for."""
    advice: str | None = None
    """How to read the values as numbers."""
    given_up: bool = False
    """Whether it has more values than are told apart."""
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """What people read for the values."""
        return self.bins.labels if self.bins else self.values


@dataclass(frozen=True)
class Counted:
    """A table as counted, or a segment of it."""

    table: Table
    options: LearnOptions
    columns: tuple[Column, ...]
    """The attributes."""
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    """Values of the decision that are favourable, and those that are not."""
    decision_codes: Mapping[str | None, int]
    """The side of each cell of the decision: 0 favourable, 1 unfavourable, -1 missing."""
    decided: tuple[int, int]
    """Rows of each side."""
    undecided: int
    together: Mapping[tuple[int, ...], tuple[int, int]]
    """Rows with all of some values of the sensitive columns, in the order of the table."""
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    segment: tuple[str, str] | None = None
    """The column and its value that all rows have."""

    @property
    def name(self) -> str:
        """What the model is called."""
        if self.options.name is not None and self.segment is None:
            return self.options.name
        whose = self.options.name or f"{self.options.decision} ({self.table.stem})"
        return whose if self.segment is None else f"{whose}, {self.segment[0]}: {self.segment[1]}"

    def specification(self, provenance: Mapping[str, object]) -> ModelSpec:
        """Write what was counted as a specification."""
        sides = [
            {"value": JOINT.join(values), "label": values[0] if len(values) == 1 else " or ".join(values)}
            for values in self.sides
        ]
        attributes = [
            {
                "name": column.name,
                "sensitive": column.name in self.options.sensitive,
                "values": column.bins.values if column.bins else list(column.values),
                "counts": {
                    side: [decimal(int(number)) for number in column.counts[:, i]]
                    for i, side in enumerate(("favourable", "unfavourable"))
                },
            }
            for column in self.columns
        ]
        return build(
            {
                "name": self.name,
                "decision": {
                    "name": self.options.decision,
                    "favourable": sides[0],
                    "unfavourable": sides[1],
                    "counts": {"favourable": self.decided[0], "unfavourable": self.decided[1]},
                },
                "smoothing": self.options.smoothing,
                "attributes": attributes,
                "provenance": {"rows": sum(self.decided), **provenance},
            },
            self.table.name,
        )

    def summary(self, performance: Performance | None) -> Summary:
        """Say what the data hold."""
        sensitive = [c for c in self.columns if c.name in self.options.sensitive]
        groups = [
            Group(((column.name, label),), int(rows.sum()), int(rows[0]))
            for column in sensitive
            for label, rows in zip(column.labels, column.counts, strict=True)
            if rows.any()
        ]
        small = [group for group in groups if group.rows < SMALL_GROUP]
        for key, rows in self.together.items():
            if sum(rows) < SMALL_GROUP:
                values = tuple((c.name, c.labels[i]) for c, i in zip(sensitive, key, strict=True))
                small.append(Group(values, sum(rows), rows[0]))
        first, second = (" or ".join(values) for values in self.sides)
        return Summary(
            source=self.table.name,
            rows=sum(self.decided),
            undecided=self.undecided,
            favourable=(first, self.decided[0]),
            unfavourable=(second, self.decided[1]),
            missing={column.name: column.missing for column in self.columns},
            left_out=self.left_out,
            notes=self.notes,
            groups=tuple(groups),
            small_groups=tuple(sorted(small, key=lambda g: (g.rows, g.values))),
            performance=performance,
        )


def parse_smoothing(text: str) -> Decimal:
    """Read the number that is added to each count.

    Raises
    ------
    InputError
        If it is none, or below 0.
    """
    try:
        return checked_count(Decimal(text))
    except (InvalidOperation, ValueError):
        raise InputError(f"smoothing: {shown(text)} is not a number from 0; write one, such as 1") from None
