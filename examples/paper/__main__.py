"""Reproduces the paper: ``python -m examples.paper [FOLDER]``, from the top of a checkout; or ``make paper``.

The folder holds the data; without an argument it is ``../shared/data`` beside the checkout. Writes RESULTS.md
and its figures next to this file.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from examples.paper.data import DATA, HOW_TO_GET, NAMES, load
from examples.paper.report import write
from examples.paper.results import run


def main() -> None:
    """Run all experiments, or say how to get the data."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    try:
        data = {name: load(folder, name) for name in NAMES}
    except FileNotFoundError as error:
        raise SystemExit(HOW_TO_GET.format(folder=folder, file=Path(error.filename).name)) from None
    start = time.monotonic()

    def progress(stage: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {stage}", file=sys.stderr)

    here = Path(__file__).parent
    write(run(data, progress), here)
    progress(f"written: {here / 'RESULTS.md'} and its figures")


if __name__ == "__main__":
    main()
