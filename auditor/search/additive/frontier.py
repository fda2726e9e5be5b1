"""What a best-first search has yet to look at."""

from __future__ import annotations

from math import inf

import numpy as np

from auditor.search.additive.log_odds import Floats, Integers

#: What an entry stands for: the extensions of an x, the contexts of an x, those with fine bounds of a node.
EXTENSIONS, CONTEXTS, NODE = 0, 1, 2


class Frontier:
    """Entries with a kind, a number and a bound; the greatest bounds come first."""

    def __init__(self) -> None:
        self._kind: Integers = np.empty(0, dtype=np.int64)
        self._number: Integers = np.empty(0, dtype=np.int64)
        self._bound: Floats = np.empty(0)

    def __len__(self) -> int:
        return len(self._bound)

    @property
    def best(self) -> float:
        """The greatest bound of any; -inf if there is none."""
        return float(self._bound.max()) if len(self._bound) else -inf

    def push(self, kind: int, numbers: Integers, bounds: Floats) -> None:
        """Add entries of a kind."""
        self._kind = np.append(self._kind, np.full(len(numbers), kind))
        self._number = np.append(self._number, numbers)
        self._bound = np.append(self._bound, bounds)

    def pop(self, size: int) -> tuple[Integers, Integers, Floats]:
        """The best entries, with their kinds, numbers and bounds."""
        if len(self._bound) <= size:
            taken = np.ones(len(self._bound), dtype=bool)
        else:
            taken = np.zeros(len(self._bound), dtype=bool)
            taken[np.argpartition(self._bound, len(self._bound) - size)[len(self._bound) - size :]] = True
        found = self._kind[taken], self._number[taken], self._bound[taken]
        self._keep(~taken)
        return found

    def drop(self, floor: float) -> None:
        """Forget entries with a bound below the floor."""
        if len(self._bound) and floor > -inf:
            self._keep(self._bound >= floor)

    def _keep(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        self._kind, self._number, self._bound = self._kind[kept], self._number[kept], self._bound[kept]
