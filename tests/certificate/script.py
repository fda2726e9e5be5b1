"""The script that proves a certificate in a page, run by node, and what must be so where it passes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from auditor.resources import resource
from tests.certificate.falsehoods import brute, holds_of
from tests.certificate.making import DAY

Content = dict[str, Any]
#: What the script says of each check: whether it holds, or null.
Outcomes = dict[str, bool | None]
Prove = Callable[..., Outcomes]

FIGURES = ("Digests", "Model", "Worst pattern", "Verdict and largest degree")
DRIVER = """
require("readline").createInterface({input: process.stdin}).on("line", async (line) => {
  const [text, options] = JSON.parse(line), said = {};
  await proved(text, {...options, say: (name, holds) => { said[name] = holds; }});
  console.log(JSON.stringify(said));
});
"""


@contextmanager
def running_script(node: str, folder: Path) -> Iterator[Prove]:
    """The script in a process of its own."""
    file = folder / "prove.js"
    parts = [resource("templates", name).read_text(encoding="utf-8") for name in ("exact.js", "prove.js")]
    file.write_text("".join(parts) + DRIVER, encoding="utf-8")
    with subprocess.Popen([node, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def run(data: bytes, key: str = "", today: str = DAY.isoformat(), seconds: float = 60) -> Outcomes:
            request = [data.decode(), {"key": key, "today": today, "seconds": seconds}]
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            said: Outcomes = json.loads(answers.readline())
            return said

        yield run
        requests.close()


def passes(said: Outcomes) -> bool:
    """Whether the script takes what a certificate says of numbers for true."""
    return all(said.get(name) for name in FIGURES) and said["Number of patterns"] is not False


def numbers_hold(c: Content) -> bool:
    """Whether verdict, largest degree, worst pattern and count are so, by enumeration."""
    return holds_of(_numbers_hold, c)


def _numbers_hold(c: Content) -> bool:
    delta, least = Fraction(c["delta"]), Fraction(c["min_probability"] or "0")
    sizes = [pair.size for pair in brute(c).pairs if pair.probability >= least]
    largest, patterns = max(sizes, default=Fraction(0)), sum(size > delta for size in sizes)
    told = c["max_degree"]
    return (
        Fraction(told["lower"]) <= largest <= Fraction(told["upper"])
        and told["exact"] in (None, str(largest))
        and c["pattern_count"] in (None, str(patterns))
        and {"delta-fair": not patterns, "not-delta-fair": patterns > 0}.get(c["verdict"], True)
    )
