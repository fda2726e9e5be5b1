"""What a best-first search has yet to look at."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from auditor.search.additive.log_odds import Floats, Integers

#: What an entry stands for: the extensions of an x, the contexts of an x, those with fine bounds of a node.
EXTENSIONS, CONTEXTS, NODE = 0, 1, 2

#: Entries that are looked through whenever the best are taken. The others, all of them worse, wait apart.
_NEAR = 1 << 13

#: Kinds, numbers and bounds.
_Entries = tuple[Integers, Integers, Floats]


class Frontier:
    """Entries with a kind, a number and a bound; the greatest bounds come first."""

    def __init__(self) -> None:
        self._near = _none()
        # No entry that waits has a bound above this, and none that is near one below it.
        self._border = -inf
        self._waiting: list[_Entries] = []
        self._floor = -inf

    def __len__(self) -> int:
        """The number of entries near; 0 only if there is none at all."""
        if not len(self._near[2]):
            self._fetch()
        return len(self._near[2])

    @property
    def best(self) -> float:
        """The greatest bound of any; -inf if there is none."""
        return float(self._near[2].max()) if len(self) else -inf

    def push(self, kind: int, numbers: Integers, bounds: Floats) -> None:
        """Add entries of a kind."""
        entries = np.full(len(numbers), kind), numbers, bounds
        near = bounds >= self._border
        if near.all():
            self._near = _joined([self._near, entries])
        else:
            self._near = _joined([self._near, _chosen(entries, near)])
            self._waiting.append(_chosen(entries, ~near))
        if len(self._near[2]) > 4 * _NEAR:
            self._part()

    def pop(self, size: int) -> _Entries:
        """Take out some of the best entries: their kinds, numbers and bounds."""
        if not len(self):
            return _none()
        bounds = self._near[2]
        taken = np.ones(len(bounds), dtype=bool)
        if len(bounds) > size:
            taken[np.argpartition(bounds, len(bounds) - size)[: len(bounds) - size]] = False
        found = _chosen(self._near, taken)
        self._near = _chosen(self._near, ~taken)
        return found

    def drop(self, floor: float) -> None:
        """Forget entries with a bound below the floor."""
        if floor > self._floor:
            self._floor = floor
            self._near = _chosen(self._near, self._near[2] >= floor)
            if floor > self._border:
                self._waiting = []

    def _fetch(self) -> None:
        """Bring the best of those that wait near."""
        if self._waiting:
            waiting = _joined(self._waiting)
            self._near, self._waiting, self._border = _chosen(waiting, waiting[2] >= self._floor), [], -inf
            if len(self._near[2]) > 2 * _NEAR:
                self._part()

    def _part(self) -> None:
        """Let all but the best wait."""
        bounds = self._near[2]
        self._border = float(np.partition(bounds, len(bounds) - _NEAR)[len(bounds) - _NEAR])
        near = bounds >= self._border
        if not near.all():
            self._waiting.append(_chosen(self._near, ~near))
            self._near = _chosen(self._near, near)


def _none() -> _Entries:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)


def _chosen(entries: _Entries, index: npt.NDArray[np.bool_]) -> _Entries:
    return entries[0][index], entries[1][index], entries[2][index]


def _joined(parts: list[_Entries]) -> _Entries:
    return (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )
