"""Where results go, and the format that a file's name asks for: settled before the work begins."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import typer

from auditor.cli.terminal import ensure_printable
from auditor.messages import escaped
from auditor.output import descriptor, ensure_writable
from auditor.report.formats import SUFFIXES, AnyFormatName, format_of

#: Numbers of the open files that every process starts with.
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


def settle(
    writes: Mapping[str, Path | None], reads: Mapping[str, str | Path | None], *, prints: bool
) -> None:
    """Refuse an output that would destroy an input or another output, or that can't be written.

    Two names are of one file if they lead to the same one, whatever links are between them.

    Parameters
    ----------
    writes, reads : mapping of str to path or None
        Files by the option or argument that names them; ``"-"`` is standard input. Of a folder, all files
        in it are read.
    prints : bool
        Whether the result, or a part of it, goes to standard output.

    Raises
    ------
    typer.BadParameter
        If two are the same.
    OutputError
        If one can't be written.
    """
    for path in reads.values():
        if path is not None and Path(path).is_fifo():
            # Imported here, so that commands without a pipe start faster.
            from auditor.model.reading import keep_pipe

            keep_pipe(path)
    taken = {
        identity: name
        for name, path in reads.items()
        if path is not None
        for identity in _identities(path)
        if identity is not None
    }
    if prints:
        printed = _open_identity(_OUTPUT)
        if printed in taken:
            raise typer.BadParameter(
                f"standard output goes to the file of {taken[printed]}, or into that folder; give another",
                param_hint=taken[printed],
            )
        taken |= {identity: "standard output" for identity in (printed, _OUTPUT) if identity is not None}
    for name, path in writes.items():
        if path is None:
            continue
        number = descriptor(path)
        own = {identity for identity in (number, _identity(path)) if identity is not None}
        if other := next((taken[identity] for identity in own if identity in taken), None):
            raise typer.BadParameter(
                f"{escaped(os.fspath(path))} is also the file of {other}, which must not be overwritten; "
                "give another",
                param_hint=name,
            )
        if number is None and _open_identity(_ERRORS) in own:
            raise typer.BadParameter(
                f"{escaped(os.fspath(path))} is where standard error goes; give another", param_hint=name
            )
        taken |= dict.fromkeys(own, name)
    if prints:
        ensure_printable()
    for path in writes.values():
        if path is not None:
            ensure_writable(path)


def chosen_format(format: AnyFormatName | None, output: Path | None) -> AnyFormatName:
    """Settle the format of a result, by its option or its file's suffix."""
    if format is not None:
        refuse_other_suffix(format, output)
    chosen = format or ("text" if output is None else format_of(output))
    if chosen is None:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join(SUFFIXES)}; give --format", param_hint="--output"
        )
    if output is None and chosen == "pdf":
        raise typer.BadParameter("a PDF needs a file; give --output", param_hint="--format")
    return chosen


def refuse_other_suffix(format: AnyFormatName, output: Path | None) -> None:
    """Refuse a file whose suffix promises another format than the one that is asked for."""
    promised = None if output is None else format_of(output)
    if output is not None and promised is not None and promised != format:
        suffixes = " or ".join(suffix for suffix, form in SUFFIXES.items() if form == format)
        raise typer.BadParameter(
            f"{escaped(str(output))} is named as {promised}, not as {format}; leave --format out, or give a "
            f"name that ends in {suffixes}",
            param_hint="--format",
        )


def model_format(output: Path | None, *others: str) -> Literal["json", "yaml"]:
    """Tell the format of a model from its file's suffix."""
    suffix = ".json" if output is None else output.suffix.lower()
    known = (".json", ".yaml", ".yml")
    if suffix not in known:
        raise typer.BadParameter(
            f"the suffix of {output} is none of {', '.join([*known, *others])}", param_hint="--output"
        )
    return "json" if suffix == ".json" else "yaml"


def refuse_reports(output: Path | None) -> None:
    """Refuse a file whose suffix says that it can't be a certificate."""
    suffix = output.suffix.lower() if output else ""
    if suffix in (".pdf", ".html", ".htm", ".md", ".txt", ".csv"):
        raise typer.BadParameter(
            f"a certificate is JSON, and {output} is not; make a report from it afterwards",
            param_hint="--output",
        )
    if suffix == ".pem":
        raise typer.BadParameter(
            f"a certificate is JSON, and {output} is named as a key; give another name", param_hint="--output"
        )


def _identities(path: str | Path) -> Iterator[object]:
    """What a file is known by; of a folder, each file in it."""
    if path == "-":
        yield _open_identity(_INPUT)
        return
    yield _identity(path)
    for folder, _, names in os.walk(path):
        for name in names:
            yield _identity(Path(folder, name))


def _identity(path: str | Path) -> object:
    """What a file is known by, whichever name it has: its place on the disk, or its path if it isn't there.

    None for what can't be destroyed, such as a terminal.
    """
    try:
        return _known(Path(path).stat())
    except (OSError, ValueError):
        return os.path.realpath(path) if "\0" not in os.fspath(path) else None


def _open_identity(number: int) -> object:
    try:
        return _known(os.fstat(number))
    except OSError:
        return None


def _known(status: os.stat_result) -> object:
    kept = stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)
    return (status.st_dev, status.st_ino) if kept else None
