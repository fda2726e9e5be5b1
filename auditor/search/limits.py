"""What a search may use before it stops and says what it has proved so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Limits:
    """Limits of a search. One that bites makes a result incomplete, never wrong."""

    entries: int = 1 << 22
    """Length of the longest list of subset sums held in memory (8 bytes an entry, a few at a time)."""
    steps: int = 1 << 31
    """Bisections that an exact count may take."""
    nodes: int = 1 << 20
    """Nodes that a branch-and-bound search may expand; 0 for its bound alone."""
    children: int = 1 << 23
    """Children of nodes that it may look at: of models with many values a node has thousands."""
    sliced: int = 1 << 29
    """Subset sums that may be gone through slice by slice, where they are too many to be listed."""
    expired: Callable[[], bool] = _never
    """Asked between blocks of work; returns true when time is up."""


DEFAULT = Limits()
