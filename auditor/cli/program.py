"""The program: all commands, and what the end of each is."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from collections.abc import Callable
from errno import ENOENT
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from auditor import output
from auditor.cli import exits, signals
from auditor.cli.audit import audit, patterns
from auditor.cli.certificates import certify, keygen, recertify, verify
from auditor.cli.fleet import fleet
from auditor.cli.frontier import frontier
from auditor.cli.models import convert, import_model, learn
from auditor.cli.repair import repair
from auditor.cli.report import report
from auditor.cli.schema import schema
from auditor.cli.stability import stability
from auditor.cli.start import init
from auditor.cli.terminal import WIDEST, complain, prepare, print_result
from auditor.cli.usage import Command, Group, explained
from auditor.errors import AuditorError
from auditor.messages import escaped
from auditor.resources import names
from auditor.version import __version__

#: Objects made between two looks for garbage.
_ALLOCATIONS = 200_000


def main() -> int:
    """Run the command line and return its exit code; every error is reported here."""
    try:
        _prepare()
        # Only the command that is called is built: building all takes longer than many commands run.
        named = next((name for name in sys.argv[1:2] if name in COMMANDS), None)
        code = program(named)(prog_name="auditor", standalone_mode=False)
        # Typer turns Ctrl-C into this exit code, which no command returns.
        return _interrupted(code) if code == exits.INTERRUPTED else int(code or 0)
    except typer.TyperException as error:
        return _failed(error.exit_code, *explained(error))
    except AuditorError as error:
        return _failed(error.exit_code, *error.problems)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(exits.INTERRUPTED)
    except signals.Stopped as stopped:
        return _interrupted(128 + stopped.number)
    except Exception as error:
        # What was in the midst of its work may take the interruption for an error of its own.
        if signals.asked:
            return _interrupted(128 + signals.asked[0])
        # A name that is too long, or a folder that is closed, can be met wherever a file is looked for.
        if isinstance(error, OSError) and isinstance(error.filename, str) and error.errno != ENOENT:
            problem = f"{escaped(error.filename)}: {error.strerror}; give another path"
            return _failed(AuditorError.exit_code, problem)
        if os.environ.get("AUDITOR_TRACEBACK"):
            traceback.print_exc()
        return _failed(
            exits.BUG,
            f"This is a bug in auditor {__version__}, not in your input: {type(error).__name__}: {error}. "
            "No result was given, and none may be assumed. Please report it with the command and, if you may "
            "share it, the model; AUDITOR_TRACEBACK=1 in the environment shows where it happened.",
        )


def _prepare() -> None:
    prepare()
    # Pydantic plugins that happen to be installed must not change what documents mean.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # Where memory is in pieces, the kernel takes longer to make huge pages of it than they save.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # Imported modules are no garbage, and to look for any among them takes a tenth of a short command's time.
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])
    # Nor among what the process ends with, which takes a fifth.
    atexit.register(gc.freeze)
    output.begin()


def _interrupted(code: int) -> int:
    written = f"{', '.join(output.finished)} had been" if output.finished else "nothing was"
    return _failed(code, f"interrupted; {written} written")


def _failed(code: int, *lines: str) -> int:
    output.remove_empty_folders()
    complain(*lines)
    return code


def _show_version(wanted: bool) -> None:
    if wanted:
        print_result(f"auditor {__version__}\n", "text")
        raise typer.Exit


def _auditor(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Decide exactly whether a naive Bayes classifier or a scorecard is δ-fair, repair and certify it.

    A model is δ-fair if disclosing someone's sensitive attributes never changes the probability of the
    favourable decision by more than δ, whatever else is known of them. To begin: auditor init.
    """


#: Each command, and an example of it; they work in this order.
COMMANDS: dict[str, tuple[Callable[..., int], str]] = {
    "init": (init, "auditor init first-steps"),
    "audit": (audit, "auditor audit examples/compas.json --delta 0.1 -o compas.html"),
    "patterns": (patterns, "auditor patterns examples/compas.json --delta 0.1 --summary minimal"),
    "fleet": (fleet, "auditor fleet 'examples/*.json' --delta 0.1 -o fleet.jsonl -o fleet.html"),
    "repair": (repair, "auditor repair examples/compas.json --delta 0.1 -o fair.json"),
    "frontier": (
        frontier,
        "auditor frontier examples/compas.json --deltas 0.01,0.02,0.05,0.1,0.2 -o frontier.html",
    ),
    "stability": (
        stability,
        "auditor stability examples/compas.json --delta 0.42 --draws 200 -o stability.html",
    ),
    "keygen": (keygen, "auditor keygen key.pem"),
    "certify": (certify, "auditor certify fair.json --delta 0.1 --key key.pem -o certificate.json"),
    "recertify": (
        recertify,
        "auditor recertify certificate.json fair.json --public-key key.pub.pem --key key.pem -o renewed.json",
    ),
    "verify": (verify, "auditor verify certificate.json --public-key key.pub.pem --model fair.json"),
    "report": (report, "auditor report certificate.json -o certificate.html --profile us-four-fifths"),
    "learn": (
        learn,
        "auditor learn people.csv --decision credit --favourable good --sensitive sex,age --bins 4 "
        "-o model.json",
    ),
    "import": (import_model, "auditor import credit.bif --sensitive sex -o credit.json"),
    "convert": (convert, "auditor convert examples/compas.json -o compas.yaml"),
    "schema": (schema, "auditor schema model"),
}


@cache
def program(only: str | None = None) -> Any:
    """The program as Typer's command, with all of ours or one; made once."""
    app = typer.Typer(
        cls=Group,
        no_args_is_help=True,
        # `Group` suggests commands in our own words.
        suggest_commands=False,
        # Rich would take a name in square brackets for markup, and doubles the time that help takes.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
        epilog="Exit codes: 0 fine; 1 a finding, such as not δ-fair; 2 wrong usage; 3 bad input; "
        "4 inconclusive; 5 repair failed; 70 a bug in auditor.",
    )
    app.callback()(_auditor)
    for name in COMMANDS if only is None else [only]:
        command, example = COMMANDS[name]
        # Typer keeps the lines of a paragraph that begins with a backspace.
        epilog = f"\b\nExample:\n  {example}"
        if command is report:
            profiles = "\n  ".join(names("templates", "profiles"))
            epilog += f"\n\n\b\nProfiles:\n  {profiles}"
        app.command(name, cls=Command, epilog=epilog)(command)
    return get_command(app)
