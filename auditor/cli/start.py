"""A folder to begin in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.cli.terminal import print_result


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Where the files go.  [default: the current folder]", show_default=False
        ),
    ] = Path(),
) -> int:
    """Write files to begin with: made-up people, a model, examples.

    The model is learnt from the people; a policy goes with it. A file that is there already is never
    overwritten.
    """
    from auditor.usecases.starting import start

    written = "".join(f"{path}\n" for path in start(folder))
    inside = "" if folder == Path() else f"cd {folder}; "
    print_result(f"{written}\nNext: {inside}auditor audit model.json --delta 0.1 -o report.html\n", "text")
    return 0
