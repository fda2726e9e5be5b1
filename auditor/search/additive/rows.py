"""Parallel arrays that are the fields of a dataclass, and a growing store of them."""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from auditor.search.additive.log_odds import Integers


class Rows:
    """Arrays of one length, the fields of a dataclass."""

    def __len__(self) -> int:
        return len(self.arrays()[0])

    def __getitem__(self, index: Any) -> Self:
        return type(self)(*(array[index] for array in self.arrays()))

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in the order of the fields."""
        return tuple(vars(self).values())


R = TypeVar("R", bound=Rows)


class Kept(Generic[R]):
    """Rows that can be asked for by number."""

    def __init__(self, start: R) -> None:
        self._length = len(start)
        #: Those that are kept, and room for more.
        self.rows = start

    def add(self, rows: R) -> Integers:
        """Store rows; returns their numbers."""
        start, stop = self._length, self._length + len(rows)
        if stop > len(self.rows):
            self.rows = type(rows)(*(_roomier(array, start, 2 * stop) for array in self.rows.arrays()))
        for array, values in zip(self.rows.arrays(), rows.arrays(), strict=True):
            array[start:stop] = values
        self._length = stop
        return np.arange(start, stop)

    def at(self, ids: Integers) -> R:
        """Rows by number."""
        return self.rows[ids]


def _roomier(array: npt.NDArray[Any], used: int, room: int) -> npt.NDArray[Any]:
    """A longer array that begins alike; memory that isn't used yet isn't touched."""
    longer: npt.NDArray[Any] = np.empty((room, *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
