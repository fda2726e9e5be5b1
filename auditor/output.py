"""Writes results to files: whole or not at all.

A file is written under another name in the same folder and then renamed, so that neither Ctrl-C nor a full
disk leaves half of it, and an older file stays until the new one is complete.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from auditor.errors import OutputError
from auditor.messages import escaped

#: Permissions of a new file before the user's mask; a key is for its owner alone.
PUBLIC = 0o666
PRIVATE = 0o600

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def write_text(path: str | os.PathLike[str], text: str, *, mode: int = PUBLIC) -> None:
    """Write text as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"), mode=mode)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, mode: int = PUBLIC) -> None:
    """Write or replace a file in one step.

    Parameters
    ----------
    path : str or path-like
        A link is followed. What isn't a regular file, such as ``/dev/stdout``, is written to directly.
    data : bytes
    mode : int
        Permissions of a new file; an existing one keeps its own.

    Raises
    ------
    OutputError
        If it can't be written; then nothing has changed.
    """
    target = Path(path)
    try:
        target = target.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        temporary = _beside(target)
        try:
            with os.fdopen(os.open(temporary, _NEW, mode), "wb") as file:
                if target.exists():
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def ensure_writable(path: str | os.PathLike[str]) -> None:
    """Find out that a file can't be written before the work on its content, not after it.

    Raises
    ------
    OutputError
        If it can't be written.
    """
    target = Path(path)
    try:
        target = target.resolve()
        if target.exists() and not target.is_file():
            with target.open("wb"):
                return
        temporary = _beside(target)
        try:
            os.close(os.open(temporary, _NEW, PRIVATE))
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _beside(target: Path) -> Path:
    """Return the path of a hidden file next to the target, whose name can't be guessed."""
    return target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")


def _unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> OutputError:
    match error:
        case FileNotFoundError():
            reason = "its folder does not exist; make the folder or give another path"
        case IsADirectoryError():
            reason = "it is a folder; give the name of a file in it"
        case NotADirectoryError():
            reason = "what stands for its folder is a file; give another path"
        case PermissionError():
            reason = "permission denied; give another path"
        case OSError():
            reason = f"{error.strerror}; give another path"
        case _:
            reason = f"{error}; give another path"
    return OutputError(f"{escaped(os.fspath(path))}: can't be written: {reason}")
