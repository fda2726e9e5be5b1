"""The terminal: results on standard output, messages and progress on standard error, and passphrases."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from auditor.errors import InputError, OutputError
from auditor.report.formats import FormatName

if TYPE_CHECKING:
    from auditor.usecases.auditing import Progress


def print_result(text: str, format: FormatName) -> None:
    """Write to standard output; text in the encoding of the terminal, all else in UTF-8."""
    encoding = sys.stdout.encoding if format == "text" else "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, errors="backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has had enough. What Python still flushes at its end must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise OutputError(f"standard output can't be written: {error.strerror}") from error


def complain(*lines: str) -> None:
    """Write lines to standard error, whatever they hold."""
    from auditor.report.blocks import shown

    for line in lines:
        text = shown(line) + "\n"
        sys.stderr.buffer.write(text.encode(sys.stderr.encoding, errors="backslashreplace"))
    sys.stderr.flush()


@contextmanager
def progress_line() -> Iterator[Progress]:
    """Show what is being done on the last line of the terminal, if standard error is one."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return

    def show(stage: str) -> None:
        sys.stderr.write(f"\r\x1b[K{stage} …")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def need_terminal(reason: str) -> None:
    """Refuse to ask where nobody can answer."""
    if not sys.stdin.isatty():
        raise InputError(f"{reason}; without a terminal a passphrase is taken from AUDITOR_KEY_PASSPHRASE")
