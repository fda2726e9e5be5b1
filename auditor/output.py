"""Writes results to files: whole or not at all.

A file is written under another name in the same folder and then renamed, so that neither Ctrl-C nor a full
disk leaves half of it, and an older file stays until the new one is complete.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import IO

from auditor.errors import OutputError
from auditor.messages import escaped

#: Permissions of a new file before the user's mask; a key is for its owner alone.
PUBLIC = 0o666
PRIVATE = 0o600

#: Files that this process has finished, for what it says when it is interrupted afterwards.
finished: list[str] = []
#: Folders that it made, each after those in it.
_made: list[Path] = []

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_MAX_LINKS = 40


def begin() -> None:
    """Forget what an earlier command in this process has written."""
    finished.clear()
    _made.clear()


def remove_empty_folders() -> None:
    """Remove the folders that were made and got nothing in them, where the work on that came to nothing."""
    for folder in _made:
        with suppress(OSError):
            folder.rmdir()


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write or replace a file in one step; an existing one keeps its permissions.

    Parameters
    ----------
    path : str or path-like
        A link is followed. What isn't a regular file is written to directly, such as a pipe with a name, and
        so is a file that is open already and given as ``/dev/stdout`` or ``/dev/fd/3``.

    Raises
    ------
    OutputError
        If it can't be written; then the file is as it was.
    """
    try:
        number = descriptor(path)
        status = _status(path)
        if number is not None:
            with open(number, "wb", closefd=False) as file:
                file.write(data)
        elif status and not stat.S_ISREG(status.st_mode):
            Path(path).write_bytes(data)
        else:
            target = Path(os.path.realpath(path))
            temporary = _beside(target)
            try:
                _create(temporary, data, PUBLIC)
                if status:
                    temporary.chmod(stat.S_IMODE(status.st_mode))
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    finished.append(os.fspath(path))


def write_new(path: str | os.PathLike[str], data: bytes, *, mode: int = PUBLIC) -> None:
    """Write a file that must not exist yet.

    Raises
    ------
    OutputError
        If it exists, or can't be written; then nothing is left of it.
    """
    try:
        _create(Path(path), data, mode)
    except FileExistsError as error:
        raise OutputError(
            f"{escaped(os.fspath(path))}: exists already, and is never overwritten; give another path"
        ) from error
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    finished.append(os.fspath(path))


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add a line of UTF-8 to a file in one step, and make the file if there is none.

    Raises
    ------
    OutputError
        If it can't be written.
    """
    try:
        with Path(path).open("ab", buffering=0) as file:
            write_all(file, f"{line}\n".encode())
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if os.fspath(path) not in finished:
        finished.append(os.fspath(path))


def write_all(file: IO[bytes] | RawIOBase, data: bytes) -> None:
    """Write to a file that may take a part at a time, as one without a buffer does on a disk that is filling.

    Raises
    ------
    OSError
        If it takes no more.
    """
    rest = memoryview(data)
    while rest:
        taken = file.write(rest)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[taken:]


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder unless it is there.

    Raises
    ------
    OutputError
        If it can't be made.
    """
    try:
        _made[:0] = (folder for folder in (Path(path), *Path(path).parents) if not folder.exists())
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def ensure_writable(path: str | os.PathLike[str]) -> None:
    """Find out that a file can't be written before the work on its content, not after it.

    Raises
    ------
    OutputError
        If it can't be written.
    """
    try:
        number = descriptor(path)
        status = _status(path)
        if number is not None:
            _ensure_open_for_writing(number)
        elif status and stat.S_ISFIFO(status.st_mode):
            # To open it now and close it again would be its end for the reader.
            if not os.access(path, os.W_OK):
                raise PermissionError
        elif status and not stat.S_ISREG(status.st_mode):
            with Path(path).open("wb"):
                return
        else:
            temporary = _beside(Path(os.path.realpath(path)))
            try:
                os.close(os.open(temporary, _NEW, PRIVATE))
            finally:
                temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the open file that a path such as ``/dev/stdout`` or ``/dev/fd/3`` stands for.

    >>> descriptor("/dev/fd/3"), descriptor("/dev/null"), descriptor("3")
    (3, None, None)
    """
    place = Path(path)
    for _ in range(_MAX_LINKS):
        folder = os.path.realpath(place.parent)
        if place.name.isdecimal() and folder == os.path.realpath("/dev/fd"):
            return int(place.name)
        place = Path(folder, place.name)
        if not place.is_symlink():
            return None
        place = place.parent / place.readlink()
    return None


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is there already; None if nothing is."""
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None


def _ensure_open_for_writing(number: int) -> None:
    import fcntl

    if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise PermissionError


def _create(path: Path, data: bytes, mode: int) -> None:
    """Make a file and wait until it is on the disk; what can't be finished is removed again."""
    number = os.open(path, _NEW, mode)
    # From here on the file is ours: one that was there before is never removed.
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


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
