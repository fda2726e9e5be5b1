"""Has libraries fit their scorecards anew, and compares what is imported with what they predict.

Run by `make test-engines`, which installs them in an environment of their own. Of skorecard, which needs old
versions of NumPy, there are only the files that were kept.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

from tests.data.scorecards.make import write
from tests.scorecard_files import CARDS, bad, imported, people_of, said, with_special_cells


def main() -> int:
    """Make each card, import it, and compare all predictions."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cards = {card: given for card, given in CARDS.items() if card != "skorecard"}
        for library in dict.fromkeys(file.split(".")[0] for file, _ in cards.values()):
            write(library, folder)
        failed = 0
        for card, (file, scale) in cards.items():
            spec, wanted = with_special_cells(imported(file, scale, folder)), said(file, folder)
            found = bad(spec, people_of(file))
            gap = max(abs(p - q) for p, q in zip(found, wanted["bad"], strict=True))
            print(f"{card:20} {wanted['version']:10} differs by at most {gap:.1e}", flush=True)
            failed += gap > 1e-12
    print(f"{len(cards) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
