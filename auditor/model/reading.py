"""Reads model specifications from files: the door through which foreign errors come in."""

from __future__ import annotations

import os
import stat
import sys
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from auditor.errors import InputError
from auditor.messages import escaped, part
from auditor.model import parsing
from auditor.model.explaining import accept
from auditor.model.scorecard import KIND as SCORECARD
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec

#: A model of 200 attributes with hundreds of values each takes a tenth of this.
MAX_BYTES = 32 * 1024 * 1024

#: No kind of document may have more, a report with its pictures included; most have far fewer.
MOST_BYTES = 128 * 1024 * 1024

#: What was read from each pipe, by its place: bytes that several ask for come only once. None: not read yet.
_pipes: dict[tuple[int, int], bytes | None] = {}


def load_model(path: str | os.PathLike[str]) -> ModelSpec | ScorecardSpec:
    """Read and validate a model specification.

    Parameters
    ----------
    path : str or path-like
        A JSON or YAML file; ``"-"`` is standard input. The suffix tells the format;
        without one that is known, what begins with a bracket is JSON.

    Returns
    -------
    ModelSpec or ScorecardSpec
        As the document's kind says.

    Raises
    ------
    InputError
        With one line per problem.

    Examples
    --------
    >>> load_model("examples/figure1.json").decision.favourable.label
    'd'
    """
    name = os.fspath(path)
    return parse_model(read_bytes(path), "standard input" if name == "-" else name)


def load_naive_bayes(path: str | os.PathLike[str]) -> ModelSpec:
    """Read a specification like `load_model`, and refuse a scorecard.

    Raises
    ------
    InputError
        With one line per problem.
    """
    spec = load_model(path)
    if isinstance(spec, ScorecardSpec):
        raise InputError(f"{escaped(os.fspath(path))}: is a scorecard; give a naive Bayes model")
    return spec


def parse_model(data: bytes, name: str) -> ModelSpec | ScorecardSpec:
    """Validate a model specification that has been read already.

    Parameters
    ----------
    data : bytes
        JSON or YAML in UTF-8.
    name : str
        What the document is called in messages; its suffix tells the format.
    """
    tree, repeated = parsing.parse(data, name)
    if part(tree, "kind") is None and part(tree, "payloadType") is not None:
        raise InputError(f"{escaped(name)}: a signed certificate, and no model; auditor verify checks it")
    if part(tree, "kind") == SCORECARD:
        return accept(ScorecardSpec, tree, name, known=repeated)
    return accept(ModelSpec, tree, name, known=repeated)


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """Read a whole file, or standard input for ``"-"``, unless it has more bytes than the limit."""
    name = os.fspath(path)
    most = f"{limit // 1024**2} MB" if limit >= 1024**2 else f"{limit:,} bytes"
    too_large = f"{escaped(name)}: larger than {most}; no document of this kind needs that"
    if name == "-":
        data = _standard_input(sys.stdin)
    else:
        try:
            status = Path(name).stat()
            if stat.S_ISREG(status.st_mode) and status.st_size > limit:
                raise InputError(too_large)
            place = status.st_dev, status.st_ino
            kept = _pipes.get(place)
            if kept is None:
                with Path(name).open("rb") as file:
                    kept = file.read((MOST_BYTES if place in _pipes else limit) + 1)
                if place in _pipes:
                    _pipes[place] = kept
            data = kept
        except (OSError, ValueError) as error:
            raise InputError(f"{escaped(name)}: {unreadable(error)}") from error
    if len(data) > limit:
        raise InputError(too_large)
    return data


def keep_pipe(path: str | os.PathLike[str]) -> None:
    """Keep what a pipe holds once it is read, for all who read it later."""
    status = Path(path).stat()
    _pipes.setdefault((status.st_dev, status.st_ino))


@lru_cache(maxsize=1)
def _standard_input(stream: TextIO) -> bytes:
    """Read what can be read only once, for all who ask; also of a stream of Python's that holds text."""
    below = getattr(stream, "buffer", None)
    return stream.read(MOST_BYTES + 1).encode() if below is None else bytes(below.read(MOST_BYTES + 1))


def unreadable(error: Exception) -> str:
    """Say why a file could not be read, and what to do."""
    match error:
        case FileNotFoundError():
            return "no such file; check the path"
        case IsADirectoryError():
            return "is a folder; give a file in it"
        case PermissionError():
            return "may not be read; check its permissions"
        case OSError():
            return f"can't be read: {error.strerror}"
        case _:
            return f"can't be read: {error}"
