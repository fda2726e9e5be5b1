"""The errors that `auditor` raises on purpose, one tree under `AuditorError`.

Each class carries the exit code that the command line ends with; nothing here ends the process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class AuditorError(Exception):
    """Root of every error that can explain itself to the user.

    Parameters
    ----------
    problems : str or iterable of str
        One line per problem, each saying where it is, what is wrong and what to do.

    Attributes
    ----------
    problems : tuple of str
        The lines, in the order of the input; the command line prints them one per line.
    exit_code : int
        What the process ends with (class attribute).
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type[AuditorError], tuple[tuple[str, ...]]]:
        return type(self), (self.problems,)


class InputError(AuditorError):
    """A file or an option can't be used as it is; the user can put it right."""


class OutputError(AuditorError):
    """A result can't be written where it was asked for, or not in that format."""


class RepairError(AuditorError):
    """No model could be found that is proved fair within the limits."""

    exit_code = 5
