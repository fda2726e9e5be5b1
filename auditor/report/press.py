"""A process of its own that makes a PDF: it loads WeasyPrint while this one still finds out what to show."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import subprocess

    from auditor.report import pdf


#: The process that a command line asked for before its command was loaded.
_waiting: list[subprocess.Popen[bytes]] = []


@contextmanager
def ready(words: Sequence[str]) -> Iterator[None]:
    """Start the process as soon as a command line asks for a PDF; the command itself takes its time to load.

    If no `Press` takes it, as after a mistake in the options, it ends with the context.
    """
    if words[:1] in (["audit"], ["report"]) and any(
        word in ("-o", "--output") and name.endswith(".pdf") for word, name in pairwise(words)
    ):
        _waiting.extend(_started())
    try:
        yield
    finally:
        while _waiting:
            _end(_waiting.pop())


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _started() -> Iterator[subprocess.Popen[bytes]]:
    """The process, if there can be one."""
    import subprocess

    same_modules = f"import sys; sys.path[:] = {sys.path!r}"
    try:
        yield subprocess.Popen(
            [sys.executable, "-c", f"{same_modules}; from auditor.report import press; press.serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C, which reaches a whole group, is answered by the first process alone.
            process_group=0,
        )
    except OSError:
        return


class Press:
    """Within ``with``, a second process that is ready to make one PDF; it ends with the first.

    Where there is no such process, or it fails, this one does the work, and errors are seen here.
    """

    def __init__(self, wanted: bool) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if wanted and "weasyprint" not in sys.modules:
            self._process = _waiting.pop() if _waiting else next(_started(), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            _end(self._process)

    def render(self, html: str, attachments: Sequence[pdf.Attachment], dated: datetime) -> pdf.Pdf:
        """Lay out a report made for paper; see `pdf.render`."""
        import pickle

        from auditor.report import pdf

        if self._process and self._process.returncode is None:
            made, _ = self._process.communicate(pickle.dumps((html, attachments, dated)))
            if self._process.returncode == 0:
                found = pickle.loads(made)
                assert isinstance(found, pdf.Pdf)
                return found
        return pdf.render(html, attachments, dated)


def serve() -> None:
    """Make the PDF that is asked for on standard input, and end without cleaning up, which takes its time."""
    import pickle

    from auditor.output import write_all
    from auditor.report import pdf

    gc.disable()
    try:
        # What the first PDF of a process takes once is done while it is waited for.
        pdf.render("<p>")
        made = pdf.render(*pickle.load(sys.stdin.buffer))
        write_all(sys.stdout.buffer, pickle.dumps(made))
        sys.stdout.buffer.flush()
    except Exception:
        os._exit(1)
    os._exit(0)
