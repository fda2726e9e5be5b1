"""Signals that ask the program to end: not in the middle of an import, and no more when it ends anyway."""

from __future__ import annotations

import os
import signal
from types import FrameType

#: The last signal that was answered.
asked: list[int] = []

#: Ctrl-C, and what ends a process in order.
_ALL = ["SIGINT", "SIGTERM", *(["SIGHUP"] if os.name == "posix" else [])]
#: Seconds until an import may be over.
_LATER = 0.01


class Stopped(BaseException):
    """A signal that asks the process to end; like Ctrl-C, nothing but the program's end catches it."""

    def __init__(self, number: int) -> None:
        self.number = number


def listen() -> None:
    """Answer signals by an exception; those go on being ignored that the process was started to ignore."""
    asked.clear()
    for name in _ALL:
        number = getattr(signal, name)
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _nothing):
            signal.signal(number, _stop)


def rest() -> None:
    """Let Ctrl-C not disturb the end of the process, which other signals bring about at once."""
    for name in _ALL:
        number = getattr(signal, name)
        if signal.getsignal(number) is _stop:
            # Not ignored: that would be inherited.
            signal.signal(number, _nothing if number == signal.SIGINT else signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    # Extension modules take an exception that comes while they are loaded for an error of theirs, or drop it.
    if _importing(frame) and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _LATER)
        return
    asked[:] = [number]
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    # A second one must not stop the cleaning up halfway.
    signal.signal(number, signal.SIG_IGN)
    raise Stopped(number)


def _nothing(_: int, __: FrameType | None) -> None:
    pass


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
