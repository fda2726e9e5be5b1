"""The terminal: results on standard output, messages and progress on standard error, and passphrases.

A result that can't be written is an error; a message that can't be written is not, since the exit code says
the same.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

import typer

from auditor.errors import InputError, OutputError
from auditor.messages import visible
from auditor.output import write_all, write_text
from auditor.report.formats import COLUMNS, AnyFormatName

if TYPE_CHECKING:
    from rich.progress import Progress


#: Columns that text is fitted to: those of the terminal, within these limits.
NARROWEST, WIDEST = 60, 200


def columns() -> int:
    """Return how many columns a result has: those of the terminal, or the usual ones if it isn't one."""
    if sys.stdout is None or not sys.stdout.isatty():
        return COLUMNS
    return min(max(shutil.get_terminal_size((COLUMNS, 0)).columns, NARROWEST), WIDEST)


def prepare() -> None:
    """Make the standard streams safe to use, whichever of them are closed and whatever their encoding.

    A stream that is closed must not lend its number to the next file that is opened.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def ensure_printable() -> None:
    """Find out that standard output is closed before the work on what goes there, not after it.

    Raises
    ------
    OutputError
        If it is.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed; leave it open, or give a file with --output")


def print_result(text: str, format: AnyFormatName) -> None:
    """Write to standard output; text in the encoding of the terminal, all else in UTF-8.

    Raises
    ------
    OutputError
        If it can't be written. A reader that has had enough is no error.
    """
    ensure_printable()
    try:
        _write(sys.stdout, text, None if format == "text" else "utf-8")
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise OutputError(f"standard output can't be written: {error.strerror}") from error


def deliver(text: str, format: AnyFormatName, output: Path | None) -> None:
    """Write a result to its file, or else to standard output."""
    if output is None:
        print_result(text, format)
    else:
        write_text(output, text)


def complain(*lines: str) -> None:
    """Write lines to standard error, whatever they hold, if it takes them."""
    if sys.stderr is None:
        return
    try:
        _write(sys.stderr, "".join(visible(line) + "\n" for line in lines), None)
    except OSError:
        _discard(sys.stderr)


def _write(stream: TextIO, text: str, encoding: str | None) -> None:
    """Write in an encoding, or that of the stream; a stream of Python's that holds text takes it as it is."""
    if (below := getattr(stream, "buffer", None)) is None:
        stream.write(text)
    else:
        # Where Python was told to have no buffers, a full disk takes a part and says nothing.
        write_all(below, text.encode(encoding or stream.encoding, errors="backslashreplace"))
    stream.flush()


def _discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that Python can end without an error of its own."""
    with suppress(io.UnsupportedOperation):
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def coloured() -> bool:
    """Whether standard output is a terminal that is to have colours."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


class Working:
    """What is being done, and for how long, on the last line of the terminal if standard error is one."""

    def __init__(self, stage: str) -> None:
        self._bar: Progress | None = None
        if sys.stderr is None or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description} …", markup=False), TimeElapsedColumn())
        self._bar = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            # Rich need not catch other output: what is written meanwhile goes through `say`.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(stage, total=None)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, stage: str) -> None:
        """Say that another part of the work begins."""
        if self._bar:
            self._bar.update(self._task, description=visible(stage))

    def say(self, line: str) -> None:
        """Write a line that stays."""
        if self._bar:
            self._bar.console.print(visible(line), markup=False, highlight=False)
        else:
            complain(line)

    def passphrase(self, key: object, variable: str) -> str:
        """Return the passphrase of a key; see `passphrase`. Nothing moves while somebody types."""
        self.__exit__()
        try:
            return passphrase(key, variable)
        finally:
            self.__enter__()


def can_ask() -> bool:
    """Whether there is somebody to answer a question."""
    return sys.stdin.isatty()


def passphrase(key: object, variable: str) -> str:
    """Return the passphrase of a key, from the environment or the terminal.

    Raises
    ------
    InputError
        If it is in neither.
    """
    given = os.environ.get(variable)
    if given is None and not can_ask():
        raise InputError(f"{key} is encrypted; without a terminal a passphrase is taken from {variable}")
    return str(typer.prompt(f"Passphrase of {key}", hide_input=True, err=True)) if given is None else given
