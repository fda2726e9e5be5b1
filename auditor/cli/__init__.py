"""The command line: options in, exit code out; one file per group of commands.

Heavy modules are imported by the commands that need them, so that ``auditor --help`` answers at once.
"""

import sys

try:
    from auditor.cli import signals
except KeyboardInterrupt:  # pragma: no cover: a matter of milliseconds, until signals are listened to
    sys.stderr.write("interrupted; nothing was written\n")
    raise SystemExit(130) from None

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit code."""
    signals.listen()
    try:
        from auditor.report.press import ready

        with ready(sys.argv[1:]):
            from auditor.cli import program

            return program.main()
    finally:
        signals.rest()
