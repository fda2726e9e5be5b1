"""Reads documents strictly: the one door through which JSON files of the program come back in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

from auditor.errors import InputError
from auditor.messages import Problem, lines
from auditor.model import parsing
from auditor.model.explaining import accept, foreign
from auditor.model.reading import MOST_BYTES, read_bytes

Document = TypeVar("Document", bound=BaseModel)


def read(kind: type[Document], path: str | os.PathLike[str], limit: int = MOST_BYTES) -> Document:
    """Read a document of this kind from a JSON file.

    Parameters
    ----------
    kind : type
        The class of the document, which says its ``kind`` and ``version``.
    path : str or path-like
        ``"-"`` is standard input.
    limit : int
        Bytes that the file may have.

    Raises
    ------
    InputError
        With one line per problem: another kind or version, unknown or missing names, a name twice, a value
        that is out of range or guessed.
    """
    name = os.fspath(path)
    return parse(kind, read_bytes(path, limit), "standard input" if name == "-" else name)


def parse(kind: type[Document], data: bytes, name: str) -> Document:
    """Read a document of this kind from JSON text; see `read`."""
    tree, repeated = parsing.parse(data, name, "json")
    return validated(kind, tree, name, known=repeated, json=data.decode("utf-8-sig"))


def validated(
    kind: type[Document],
    tree: object,
    name: str,
    *,
    known: Sequence[Problem] = (),
    json: str | bytes | None = None,
) -> Document:
    """Take what was read of a file as a document, which must say its kind and version; see `accept`."""
    if problems := foreign(kind, tree, required=True):
        raise InputError(lines(name, (*known, *problems), tree))
    return accept(kind, tree, name, known=known, json=json)
