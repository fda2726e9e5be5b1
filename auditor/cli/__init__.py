"""The command line: options in, exit code out; one file per group of commands.

Heavy modules are imported by the commands that need them, so that ``auditor --help`` answers at once.
"""

from auditor.cli.program import main

__all__ = ["main"]
