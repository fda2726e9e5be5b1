"""Keeps compiled templates where Python keeps compiled modules: in ``__pycache__`` beside them, if it may."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from auditor.version import __version__


class Compiled(BytecodeCache):
    """The compiled templates of one folder; those of other folders are compiled each time.

    Jinja compares the digest of a template with the one that was compiled.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the file for a compiled template, or nothing."""
        shipped = filename is not None and Path(filename).is_relative_to(self._folder)
        return cache_from_source(str(filename)) if shipped else ""

    def get_source_checksum(self, source: str) -> str:
        """Return the digest by which a compiled template is known: filters may have been applied already."""
        return super().get_source_checksum(__version__ + source)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is stored, if it can be read and is of this template."""
        with suppress(OSError, EOFError, UnpicklingError, ValueError):
            bucket.bytecode_from_string(Path(bucket.key).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store what was compiled, whole; where that can't be, it is compiled again next time."""
        if bucket.key and not sys.dont_write_bytecode:
            SourceFileLoader("", "").set_data(bucket.key, bucket.bytecode_to_string())
