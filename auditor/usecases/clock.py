"""The clock: what day it is, how long work has taken, and when its time is up. Nothing else reads one."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

from auditor.errors import InputError
from auditor.search.limits import DEFAULT, Limits


def today() -> date:
    """Return the current day in UTC."""
    return datetime.now(UTC).date()


def seconds() -> float:
    """Return a number of seconds that only differences of have a meaning."""
    return time.monotonic()


def limits(time_limit: float | None, *, nodes: int = DEFAULT.nodes) -> Limits:
    """Return the limits of a search that begins now.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None for as long as it takes.
    nodes : int
        Nodes that a branch-and-bound search may expand.

    Raises
    ------
    InputError
        If the time limit is no number of seconds.
    """
    if time_limit is None:
        return Limits(nodes=nodes)
    if not time_limit >= 0:
        raise InputError(f"time_limit: {time_limit} is not a number of seconds")
    deadline = seconds() + time_limit
    return Limits(nodes=nodes, expired=lambda: seconds() > deadline)
