"""A process of its own that makes a PDF: it loads WeasyPrint while this one still finds out what to show."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import subprocess

    from auditor.report import pdf


class Press:
    """Within ``with``, a second process that is ready to make one PDF; it ends with the first.

    Where there is no such process, or it fails, this one does the work, and errors are seen here.
    """

    def __init__(self, wanted: bool) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if not wanted or "weasyprint" in sys.modules:
            return
        import subprocess

        same_modules = f"import sys; sys.path[:] = {sys.path!r}"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{same_modules}; from auditor.report import press; press.serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C, which reaches a whole group, is answered by the first process alone.
                process_group=0,
            )
        except OSError:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()

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

    from auditor.report import pdf

    gc.disable()
    try:
        pdf.load()
        made = pdf.render(*pickle.load(sys.stdin.buffer))
        sys.stdout.buffer.write(pickle.dumps(made))
        sys.stdout.buffer.flush()
    except Exception:
        os._exit(1)
    os._exit(0)
