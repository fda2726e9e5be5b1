"""Work that is spread over processes of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Found = TypeVar("Found")

#: Ctrl-C reaches all processes of a terminal. The first one ends the others, which ignore it and say nothing;
#: where signals can be held up, from their very beginning.
SILENT: dict[str, Any] = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_IGN)}


@contextmanager
def apart() -> Iterator[None]:
    """Start processes that Ctrl-C doesn't reach: they go on holding up what is held up when they begin."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    # Python's own helper, if it were started with the others, would let go what is held up.
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_processes(
    do: Callable[..., Found], asked: Sequence[tuple[object, ...]], jobs: int | None
) -> Iterator[Found]:
    """Call a function with each of some arguments, and pass on what it returns in their order.

    Where one process suffices, this one does the work.
    """
    number = min(jobs or os.cpu_count() or 1, len(asked))
    if number == 1:
        yield from (do(*arguments) for arguments in asked)
        return
    import joblib

    with joblib.parallel_config("loky", **SILENT):
        parallel = joblib.Parallel(number, return_as="generator")
    with apart():
        found = parallel(joblib.delayed(do)(*arguments) for arguments in asked)
    yield from found
