"""The command line: options in, exit code out; one file per group of commands.

Heavy modules are imported by the commands that need them, so that ``auditor --help`` answers at once.
"""

from auditor.cli import signals

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit code."""
    signals.listen()
    try:
        from auditor.cli import program

        return program.main()
    finally:
        signals.rest()
