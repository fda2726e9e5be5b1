"""The combinations x of sensitive values as a tree, in NumPy arrays.

A node is an x; its children disclose one more sensitive attribute, later in a fixed order, so that each x is
met once. The node stands for two things: x itself, and all its extensions, which can be bounded together.
What the remaining attributes can add to s is the sum of what each can add alone (the paper's lemma).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.log_odds import Floats, Integers, LogOdds
from auditor.search.additive.moves import Moves
from auditor.search.additive.rows import Kept, Rows


@dataclass(frozen=True)
class Scope:
    """Which pairs (x, y) are searched."""

    disclosing: int | None = None
    """x discloses at least this attribute."""
    only: tuple[int, ...] | None = None
    """x discloses none but these."""
    contexts: Literal["any", "none", "all"] = "any"
    r"""With "none", pairs without context; with "all", those that disclose all: X = S, Y = Z \ S."""

    def allowed(self, tables: LogOdds) -> tuple[int, ...]:
        """The sensitive attributes that x may disclose, in order."""
        if self.only is None:
            return tables.sensitive
        return tuple(i for i in sorted(set(self.only)) if i in tables.sensitive)

    def attributes(self, tables: LogOdds) -> tuple[int, ...]:
        """The sensitive attributes that x may disclose, the one that it must first."""
        return tuple(
            sorted(
                self.allowed(tables),
                key=lambda i: (i != self.disclosing, _spread(tables, i), tables.alike[i], i),
            )
        )

    def kinds(self, tables: LogOdds) -> tuple[tuple[int, bool, bool], ...]:
        """Per attribute what those have in common that may change places in every pair of the scope."""
        allowed = set(self.allowed(tables))
        return tuple((first, i in allowed, i == self.disclosing) for i, first in enumerate(tables.alike))


ANY = Scope()

#: Up to so many combinations x all are grown at once: to bound the extensions of some would take longer.
_FEW = 256


def _spread(tables: LogOdds, i: int) -> float:
    return min(tables.values[i]) - max(tables.values[i])


@dataclass(frozen=True)
class Xs(Rows):
    """Combinations x as parallel arrays."""

    parent: Integers
    column: Integers
    """The x from which it came and the column that was disclosed; -1 for the empty one."""
    position: Integers
    """The first position in the order of attributes that may still be disclosed."""
    strength: Floats
    """s."""
    log_a: Floats
    log_b: Floats
    """``ln P(x | d)`` and ``ln P(x | d̄)``."""
    low: Integers
    high: Integers
    """The least and the greatest γ over all contexts of x, in units."""


class Combinations:
    """The tree of the x in a scope, as far as it has been grown; number 0 is the empty x.

    Parameters
    ----------
    neutral : bool
        Whether values with λ = 0 may be disclosed beside others. They change no degree.
    one_of_alike : bool
        Of the x that come of each other where alike attributes change places, only the one of least key.
    """

    def __init__(
        self, tables: LogOdds, scope: Scope = ANY, *, neutral: bool = True, one_of_alike: bool = False
    ) -> None:
        self.tables, self.scope = tables, scope
        self.order = scope.attributes(tables)
        entries = [
            (p, i, v)
            for p, i in enumerate(self.order)
            for v in range(len(tables.values[i]))
            if neutral or i == scope.disclosing or tables.exact.sign(i, v)
        ]
        self._at: Integers = np.array([p for p, _, _ in entries], dtype=np.int64)
        self.values: list[tuple[int, int]] = [(i, v) for _, i, v in entries]
        self._strength: Floats = np.array([tables.real(tables.values[i][v]) for _, i, v in entries])
        population = tables.population
        logs = (
            np.array([population.log_likelihood[i][v] for _, i, v in entries]).reshape(-1, 2)
            if population
            else np.zeros((len(entries), 2))
        )
        self._log_a, self._log_b = logs[:, 0], logs[:, 1]
        reach = np.array([tables.reach[i] for _, i, _ in entries], dtype=np.int64).reshape(-1, 2)
        self._reach_low, self._reach_high = reach[:, 0], reach[:, 1]
        self._start: Integers = np.searchsorted(self._at, np.arange(len(self.order) + 1))
        self._value: Integers = np.array([v for _, _, v in entries], dtype=np.int64)
        self._follows = follows(scope.kinds(tables), self.order, one_of_alike=one_of_alike)
        #: What the attributes from a position on can add to s, and at what price in probability.
        self.moves = Moves(self._at, self._strength, self._log_a, self._log_b, len(self.order))
        nothing, zero = np.array([-1]), np.zeros(1)
        low, high = tables.full_reach
        start = Xs(
            nothing, nothing, np.zeros(1, np.int64), zero, zero, zero, np.array([low]), np.array([high])
        )
        self._kept = Kept(start)

    def at(self, ids: Integers) -> Xs:
        """The x of some numbers."""
        return self._kept.at(ids)

    def children(self, ids: Integers) -> Xs:
        """All x that disclose one attribute more, later in the order; of those that can occur."""
        xs = self._kept.at(ids)
        first = self._start[xs.position]
        last = np.full(len(ids), len(self._at))
        # An attribute that must be disclosed can't be passed over.
        next_only = np.full(len(ids), self.scope.contexts == "all")
        if self.scope.disclosing is not None:
            next_only |= xs.position == 0
        after = self._start[np.minimum(xs.position + 1, len(self.order))]
        last = np.where(next_only, after, last)
        counts = last - first
        row = np.repeat(np.arange(len(ids)), counts)
        column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - first, counts)
        with np.errstate(invalid="ignore"):
            strength = xs.strength[row] + self._strength[column]
        # Not a number is ∞ - ∞: there P(x) = 0.
        occurs = ~np.isnan(strength)
        if self._follows.any():
            last = xs.column[row]
            next_to = (last >= 0) & (self._at[last] == self._at[column] - 1)
            rises = next_to & (self._value[last] <= self._value[column])
            occurs &= ~self._follows[self._at[column]] | rises
        row, column, strength = row[occurs], column[occurs], strength[occurs]
        return Xs(
            parent=ids[row],
            column=column,
            position=self._at[column] + 1,
            strength=strength,
            log_a=xs.log_a[row] + self._log_a[column],
            log_b=xs.log_b[row] + self._log_b[column],
            low=xs.low[row] - self._reach_low[column],
            high=xs.high[row] - self._reach_high[column],
        )

    @property
    def few(self) -> bool:
        """Whether the whole tree may as well be grown."""
        return self.tables.total_combinations <= _FEW

    def grow(self) -> Integers:
        """Grow the whole tree from its root; returns the numbers of all x but the empty one."""
        ids, new = [np.zeros(0, dtype=np.int64)], np.zeros(1, dtype=np.int64)
        while len(new):
            xs = self.children(new)
            ids.append(self.keep(xs))
            new = ids[-1][self.extensible(xs)]
        return np.concatenate(ids)

    def whole(self, xs: Xs) -> npt.NDArray[np.bool_]:
        """Which x are in scope themselves, and not only on the way to others."""
        if self.scope.contexts == "all":
            return np.equal(xs.position, len(self.order))
        return np.greater_equal(xs.column, 0)

    def extensible(self, xs: Xs) -> npt.NDArray[np.bool_]:
        """Which x have extensions."""
        return np.less(xs.position, len(self.order))

    def keep(self, xs: Xs) -> Integers:
        """Store x, so that they can be extended; returns their numbers."""
        return self._kept.add(xs)

    def assignment(self, parent: int, column: int) -> Assignment:
        """The values of the x that discloses a column after those of its parent."""
        found, xs = [], self._kept.rows
        while column >= 0:
            found.append(self.values[column])
            column, parent = int(xs.column[parent]), int(xs.parent[parent])
        return tuple(sorted(found))

    def range(self, xs: Xs) -> tuple[Floats, Floats]:
        """The least and the greatest s of the extensions of x."""
        least, most = self.moves.least[xs.position], self.moves.most[xs.position]
        fixed = np.isinf(xs.strength)
        with np.errstate(invalid="ignore"):
            return (
                np.where(fixed, xs.strength, xs.strength + least),
                np.where(fixed, xs.strength, xs.strength + most),
            )


def follows(kinds: Sequence[Hashable], order: Sequence[int], *, one_of_alike: bool) -> npt.NDArray[np.bool_]:
    """Whether the attribute at each position comes after one of its kind, so that values may only rise.

    Of alike attributes, which stand side by side, the first are disclosed, with rising values: of all pairs
    that come of each other where these change places, that is the one of least key.
    """
    pairs = zip((None, *order), order, strict=False)
    return np.array([one_of_alike and i is not None and kinds[i] == kinds[j] for i, j in pairs], dtype=bool)


def every(tables: LogOdds) -> tuple[Combinations, Integers]:
    """All x, grown at once, and their numbers."""
    grown = Combinations(tables)
    return grown, grown.grow()
