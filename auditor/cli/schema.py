"""The schemas of documents."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.cli import destinations, options
from auditor.cli.terminal import deliver
from auditor.messages import shown
from auditor.resources import names, resource


def schema(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Kind of document, such as model or audit.")],
    output: options.Output = None,
) -> int:
    """Print the JSON Schema of a kind of document."""
    known = names("schemas")
    if name not in known:
        raise typer.BadParameter(f"{shown(name)} is not one of {', '.join(known)}", param_hint="NAME")
    destinations.settle({"--output": output}, {}, prints=output is None)
    text = resource("schemas", f"{name}.json").read_text(encoding="utf-8")
    deliver(text, "json", output)
    return 0
