"""Parts of the models of a proof, by ranges of forms, and the rows that hold in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from auditor.documents.proof import BranchRecord, RangeStep, Split, Weights
from auditor.repair.chords import Chord
from auditor.repair.problem import Floats

#: How many rows join a relaxation at once, and by how much a row is broken that joins.
_JOIN, _BROKEN = 20, 1e-7

#: A row of a relaxation is known by its kind, its pattern or form, and its direction or end.
RowName = tuple[str, int, bool]


@dataclass(frozen=True)
class Line:
    """The chord of one direction of a pattern."""

    pattern: int
    forward: bool
    chord: Chord

    @property
    def name(self) -> RowName:
        """What it stays, whatever the range."""
        return "pattern", self.pattern, self.forward


@dataclass(frozen=True)
class End:
    """An end of a form's range."""

    form: int
    upper: bool

    @property
    def name(self) -> RowName:
        """What it stays, whatever the value."""
        return "range", self.form, self.upper


Row = Line | End


@dataclass(frozen=True)
class Rows:
    """Rows ``left β <= right`` with their names."""

    rows: list[Row]
    names: list[RowName]
    left: Floats
    right: Floats

    def join(self, chosen: npt.NDArray[np.bool_], log_theta: Floats) -> bool:
        """Choose the rows that a point breaks most; whether there were any."""
        slack = self.right - self.left @ log_theta
        slack[chosen] = 0.0
        broken = [i for i in np.argsort(slack, kind="stable")[:_JOIN] if slack[i] < -_BROKEN]
        chosen[broken] = True
        return bool(broken)

    def weighted(self, index: npt.NDArray[np.int64], multipliers: Floats) -> list[tuple[Row, float]]:
        """Rows with their multipliers."""
        return [(self.rows[i], float(w)) for i, w in zip(index, multipliers, strict=True)]


@dataclass(frozen=True)
class Step:
    """A tightened end of a range, with the weights that prove it."""

    end: End
    value: float
    weights: list[tuple[Row, float]]
    target_weight: float


@dataclass
class Branch:
    """A part of the models, by ranges of forms."""

    low: Floats
    high: Floats
    """One entry per form."""
    bound: float
    """The best upper bound of the log-likelihood so far."""
    log_theta: Floats
    """Shape (P,): where the relaxation has its optimum."""
    weights: list[tuple[Row, float]] = field(default_factory=list)
    """The rows and multipliers that prove the bound."""
    warm: dict[RowName, float] = field(default_factory=dict)
    """The multipliers by the name of each row, to start the next relaxation from."""
    steps: list[Step] = field(default_factory=list)
    split: tuple[int, float] | None = None
    """The form, and where it is split."""
    children: list[Branch] = field(default_factory=list)
    """Below and above."""

    def part(self, form: int, at: float, upper: bool) -> Branch:
        """The part on one side of a split, which inherits what is known."""
        child = replace(self, low=self.low.copy(), high=self.high.copy(), steps=[], split=None, children=[])
        (child.high if upper else child.low)[form] = at
        return child


def branch_records(root: Branch) -> tuple[tuple[BranchRecord, ...], list[Line]]:
    """A branch and all below it, breadth first, as a document has them, and the chords that they use."""
    lines: dict[Line, int] = {}

    def weights(pairs: list[tuple[Row, float]]) -> Weights:
        return Weights(
            chords=tuple(
                (lines.setdefault(row, len(lines)), repr(w)) for row, w in pairs if isinstance(row, Line)
            ),
            ranges=tuple((row.form, row.upper, repr(w)) for row, w in pairs if isinstance(row, End)),
        )

    order = [root]
    made = []
    # The list grows while it is gone through.
    for branch in order:
        split = None
        if branch.split is not None:
            form, at = branch.split
            split = Split(form=form, at=repr(at), below=len(order), above=len(order) + 1)
            order += branch.children
        steps = tuple(
            RangeStep(
                form=step.end.form,
                upper=step.end.upper,
                value=repr(step.value),
                target_weight=repr(step.target_weight),
                weights=weights(step.weights),
            )
            for step in branch.steps
        )
        made.append(
            BranchRecord(steps=steps, split=split, weights=None if split else weights(branch.weights))
        )
    return tuple(made), list(lines)
