"""Commands and their errors as our users meet them: Typer's parser, in our words and on our streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from auditor.cli.terminal import print_result
from auditor.messages import shown, visible

#: What stands for a file or a folder in the help.
PLACES = frozenset(
    ("AUDIT", "CERTIFICATE", "DATA", "DOCUMENT", "FILE", "FOLDER", "KEY", "MODEL", "OLD", "TABLE")
)

#: Why a number is refused, by pydantic's kind of error.
_NUMBERS: Mapping[str, str] = {
    "greater_than_equal": "is not at least {ge:g}",
    "less_than_equal": "is not at most {le:g}",
    "int_parsing": "is not a whole number",
    "int_parsing_size": "is too long for a number",
    "float_parsing": "is not a number",
}


class Command(TyperCommand):
    """A command whose help is written like any other result, and that says which arguments are too many."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the option ``--help``."""
        return _ours(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as the rest of the help does, in brackets what can be left out."""
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                name = _name(param) + ("..." if param.nargs == -1 else "")
                pieces.append(name if param.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of arguments and options, with one style of placeholders."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            records = [
                (_name(param) if kind == "argument" else record[0], record[1])
                for param in self.get_params(ctx)
                if param.param_type_name == kind and (record := param.get_help_record(ctx))
            ]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse those that are left over."""
        ctx.allow_extra_args = True
        named = args[: args.index("--")] if "--" in args else args
        for param in self.params:
            if isinstance(param, TyperOption) and not param.multiple and not param.is_flag:
                given = [arg for arg in named if arg.split("=")[0] in param.opts]
                if len(given) > 1 and not ctx.resilient_parsing:
                    ctx.fail(f"{max(param.opts, key=len)} is given {len(given)} times; it takes one value")
        try:
            self._refuse_nowhere(ctx, args)
            rest = super().parse_args(ctx, args)
        except typer.TyperException as error:
            # Typer's parser of options doesn't say which command it reads for.
            if not getattr(error, "ctx", ctx):
                error.ctx = ctx  # type: ignore[attr-defined]
            raise
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"{', '.join(map(shown, rest))}: more than {ctx.command_path} takes")
        return rest

    def _refuse_nowhere(self, ctx: Any, args: list[str]) -> None:
        """Refuse an empty path, as of a variable that is not set; it would mean the folder one is in."""
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        for param in self.params:
            found = given.get(param.name)
            if param.metavar in PLACES and "" in (found if isinstance(found, list | tuple) else (found,)):
                problem = "an empty text is no path; give a path"
                raise typer.BadParameter(problem, ctx=ctx, param_hint=_name(param))


class Group(TyperGroup):
    """The program: its help is written like any other result, and it knows what may have been meant."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Return the option ``--help``."""
        return _ours(super().get_help_option(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing and not cmd_name.startswith("-"):
            near = get_close_matches(cmd_name, self.commands, n=1)
            ctx.fail(
                f"{shown(cmd_name)} is no command; "
                + (f"did you mean {near[0]}?" if near else f"there are {', '.join(self.commands)}")
            )
        return found


def explained(error: typer.TyperException) -> Iterator[str]:
    """Say in our words what is wrong with the arguments of a command.

    What isn't known here is said in the words that it came with.
    """
    context = getattr(error, "ctx", None)
    param = getattr(error, "param", None)
    name = getattr(error, "param_hint", None) or (param and _name(param)) or ""
    at = f"{name}: " if name else ""
    match type(error).__name__, error.__cause__:
        case "NoArgsIsHelpError", _:
            yield from error.message.splitlines()
            return
        case "MissingParameter", _ if param:
            yield f"{name} is missing: {visible(param.help or '')}"
        case "NoSuchOption", _:
            option = getattr(error, "option_name", "")
            near = getattr(error, "possibilities", None) or ()
            yield (
                f"{visible(option)} is no option of {context.command_path if context else 'auditor'}"
                + (f"; did you mean {' or '.join(sorted(near))}?" if near else "")
            )
        case "BadOptionUsage", _:
            takes_none = "not take" in error.message
            yield f"{getattr(error, 'option_name', '')} {'takes no value' if takes_none else 'needs a value'}"
        case _, Exception() as cause if hasattr(cause, "errors"):
            (problem, *_) = cause.errors(include_url=False)
            why = problem.get("ctx", {})
            if problem["type"] in _NUMBERS:
                yield f"{at}{shown(problem['input'])} {_NUMBERS[problem['type']].format(**why)}"
            else:
                yield f"{at}{visible(str(why.get('error', problem['msg']))).rstrip('.')}"
        case _:
            yield f"{at}{error.message}"
    if context:
        yield f"Try '{context.command_path} --help'."


def _name(param: Any) -> str:
    """What the user calls a parameter: ``MODEL`` or ``--delta``."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name).upper()
    return str(max(param.opts, key=len))


def _ours(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(context: Any, _: object, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        print_result(context.get_help() + "\n", "text")
        raise typer.Exit
