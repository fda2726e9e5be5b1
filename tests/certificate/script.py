"""The script that proves a certificate in a page, run by node, and what must be so where it passes."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auditor.report.html import PROOF
from auditor.resources import resource
from tests.certificate.making import DAY, renamed

Content = dict[str, Any]
#: What the script says of each check: whether it holds, or null.
Outcomes = dict[str, bool | None]
Prove = Callable[..., Outcomes]

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
    parts = [resource("templates", name).read_text(encoding="utf-8") for name in PROOF[0]]
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


def passes(said: Outcomes, content: Content) -> bool:
    """Whether the script takes all for true; who signed, and the proof of a bound, may be open."""
    open_ones = {"Signature", "Bound of the repair"}
    if "Number of patterns" in said and content["pattern_count"] is None:
        open_ones.add("Number of patterns")
    return "Number of patterns" in said and all(
        holds or (holds is None and name in open_ones) for name, holds in said.items()
    )


def apart_from_a_proof(content: Content) -> Content:
    """The same without what it says of a proof."""
    changed = copy.deepcopy(content)
    if (changed["model"].get("repair") or {}).pop("proof", None):
        return renamed(changed)
    return changed
