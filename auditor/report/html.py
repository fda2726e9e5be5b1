"""Reports as one self-contained HTML file, from the templates in ``templates/``."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup, escape

from auditor.errors import InputError
from auditor.messages import escaped, visible
from auditor.report import charts, sections
from auditor.report.blocks import Block, Table, written
from auditor.report.compiled import Compiled
from auditor.report.exploring import facts, in_script
from auditor.report.sections.cover import cover
from auditor.report.sections.explored import scope
from auditor.report.subject import Subject
from auditor.resources import resource
from auditor.version import __version__

Medium = Literal["screen", "paper"]

#: The scripts of a page, in the order in which they run; those of one element are put together.
SCRIPTS = (("report.js", "exact.js", "explore.js"),)
#: Those of a page with a certificate: the first element is what its worker runs, too.
PROOF = (
    (
        "exact.js",
        *(
            f"prove/{name}.js"
            for name in ("bounds", "bayes", "scorecard", "counting", "form", "box", "repair", "prove")
        ),
    ),
    ("report.js", "explore.js", "proof.js"),
)

#: Lists of patterns; and a degree with more digits than their columns have room for.
_LISTS = ("patterns", "patterns in-data", "listed")
_LONG_DEGREE = re.compile(r"[+-][01]\.[0-9]{6,}")


@dataclass(frozen=True)
class Look:
    """What an issuer may change without a template."""

    logo: str | None = None
    """A picture as a ``data:`` URL."""
    logo_text: str = ""
    """What a screen reader says in its place."""
    accent: str | None = None
    """The colour of headings and links, as ``#rrggbb``."""


def render(
    subject: Subject, *, look: Look = Look(), templates: Path | None = None, medium: Medium = "screen"
) -> str:
    """Render the report of a subject.

    Parameters
    ----------
    templates : Path, optional
        A folder of templates that come before the shipped ones.
    medium : {"screen", "paper"}
        An HTML file to be read, or the pages of a PDF.

    Raises
    ------
    InputError
        If a template of the user's can't be used.
    """
    if templates is not None and not templates.is_dir():
        raise InputError(f"{escaped(str(templates))}: no such folder of templates")
    try:
        return (
            environment(templates)
            .get_template("report.html.j2")
            .render(
                subject=subject,
                stated=subject.stated,
                cover=cover(subject),
                chapters=sections.chapters(subject),
                rosette=charts.rosette(),
                scope=scope(subject),
                look=look,
                medium=medium,
                facts=facts(subject) if medium == "screen" else None,
                proof=in_script(subject.file) if medium == "screen" else None,
                **_dress(PROOF if subject.file else SCRIPTS),
            )
        )
    except (TemplateError, UnicodeDecodeError) as error:
        if templates is None:
            raise
        raise InputError(f"{escaped(str(templates))}: a template can't be used: {error}") from error


def page(title: str, contents: Sequence[Block], medium: Medium = "screen", footer: str = "") -> str:
    """Render blocks as a page of their own, on paper with a text at the foot of each sheet."""
    template = environment().get_template("page.html.j2")
    return template.render(
        title=title,
        contents=contents,
        medium=medium,
        footer=footer,
        version=__version__,
        **_dress((("report.js",),)),
    )


def environment(templates: Path | None = None) -> ImmutableSandboxedEnvironment:
    """The environment of the shipped templates, and of a folder whose templates come before them.

    A template there can extend the one that it replaces by its name below ``auditor/``.
    """
    folder = resource("templates")
    shipped = FileSystemLoader(folder)
    own = [FileSystemLoader(templates)] if templates else []
    made = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([*own, shipped, PrefixLoader({"auditor": shipped})]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
        bytecode_cache=Compiled(folder),
    )
    made.filters |= {"rich": _rich, "gradient": _gradient}
    made.tests["crowded"] = _crowded
    return made


def _dress(elements: Sequence[Sequence[str]]) -> dict[str, object]:
    """The sheet and the scripts, and by which digests a browser knows the scripts."""
    scripts = [
        "".join(resource("templates", name).read_text(encoding="utf-8") for name in names)
        for names in elements
    ]
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    return {
        "css": Markup(resource("templates", "report.css").read_text(encoding="utf-8")),
        "scripts": [Markup(script) for script in scripts],
        "script_hashes": Markup(" ".join(f"'sha256-{digest}'" for digest in digests)),
    }


def _rich(text: str) -> Markup:
    """Write a text with what is marked in it, and with minus signs: a screen reader passes over a hyphen.

    No line ends within an equation of numbers, a number of people, δ-fair or after §. A digest is in a fixed
    pitch.
    """

    def marked(attribute: str, value: str) -> str:
        if not attribute:
            return f"<strong>{escape(value)}</strong>"
        # One element and no more: a PDF has hundreds of pairs, and takes its time for each element.
        return f"{escape(attribute)}: <b>{escape(value)}</b>"

    def plain(part: str) -> str:
        shown = str(escape(re.sub(r"(?<![\w-])-(?=\d)", "−", part)))
        shown = re.sub(r" ([=−]) (?=[\d−])", "\u00a0\\1\u00a0", shown).replace("§ ", "§\u00a0")
        shown = re.sub(r"(?<=\d) of (?=10,000\b)", "\u00a0of\u00a0", shown)
        shown = shown.replace("o / (1 + o)", "o\u00a0/\u00a0(1\u00a0+\u00a0o)")
        shown = shown.replace("δ-fair", '<span class="one">δ-fair</span>')
        return re.sub(r"\b(sha256:)?[0-9a-f]{64}\b", r'<span class="digest">\g<0></span>', shown)

    return Markup(written(text, plain, marked))


def _crowded(table: Table) -> bool:
    """Whether a list of patterns has a degree next to a limit, too long for its column."""
    cells = (text for row in table.texts() for text in row) if table.look in _LISTS else ()
    return any(map(_LONG_DEGREE.fullmatch, cells))


def _gradient(bar: tuple[float, float]) -> str:
    """The stops of a bar; WeasyPrint can't draw one that begins at the very start or ends at the very end.

    The picture is a little wider than its place, at whose right edge it would be seen to begin again.
    """
    begin, end = (f"{100 * place / 1.02:.2f}%" for place in bar)
    stops = [f"var(--paper) {begin},var(--bar) {begin}"] if bar[0] > 0 else []
    stops += [f"var(--bar) {end},var(--paper) {end}"] if bar[1] < 1 else ["var(--bar) 100%"]
    return ",".join(stops)


def _inert(value: object) -> object:
    """Show control characters and the like for what they are; markup from here is left alone."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
