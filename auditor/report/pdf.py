"""Reports as PDF: tagged, generated as PDF/A-3a, with the document attached, the same bytes every time."""

from __future__ import annotations

import ctypes.util
import gc
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from auditor.errors import OutputError

if TYPE_CHECKING:
    import pydyf
    import weasyprint

PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core"

#: The date of attachments to a report that has none; without one WeasyPrint takes the clock's.
NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Attachment:
    """A file embedded in the PDF; ``relationship`` is its AFRelationship to the report."""

    name: str
    description: str
    content: bytes
    relationship: Literal["Source", "Data", "Supplement"] = "Source"


@dataclass(frozen=True)
class Pdf:
    """A PDF file, and the characters for which the machine has no font: they show as boxes."""

    content: bytes
    pages: int
    missing: str


def load() -> None:
    """Load WeasyPrint and what it needs.

    Raises
    ------
    OutputError
        If Pango, with which WeasyPrint lays out text, isn't installed.
    """
    try:
        with _libraries_by_name(), _font_tools_later():
            import weasyprint  # noqa: F401
    except OSError as error:
        raise OutputError(
            f"a PDF needs Pango and a font, which are not installed: apt-get install {PACKAGES} "
            "(text, Markdown and HTML need neither)"
        ) from error


def render(html: str, attachments: Sequence[Attachment] = (), dated: datetime = NO_DATE) -> Pdf:
    """Lay out a report made for paper.

    Nothing outside the report is read: every URL but ``data:`` is refused.

    Raises
    ------
    OutputError
        If Pango, with which WeasyPrint lays out text, isn't installed.
    """
    load()
    import weasyprint
    from weasyprint.urls import URLFetcher

    fetcher = URLFetcher(allowed_protocols=["data"], allow_redirects=False)
    with warnings.catch_warnings(), _without_collection():
        # WeasyPrint leaves the file of its colour profile to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        document = weasyprint.HTML(string=html, base_url="about:blank", url_fetcher=fetcher).render(
            pdf_variant="pdf/a-3a"
        )
        content = document.write_pdf(
            finisher=_finish,
            pdf_variant="pdf/a-3a",
            attachments=[
                weasyprint.Attachment(
                    string=file.content,
                    name=file.name,
                    description=file.description,
                    created=dated,
                    modified=dated,
                    relationship=file.relationship,
                )
                for file in attachments
            ],
        )
    missing = {chr(point) for font in document.fonts.values() for point in font.missing}
    return Pdf(content, len(document.pages), "".join(sorted(missing)))


@contextmanager
def _libraries_by_name() -> Iterator[None]:
    """Let Linux load libraries by the names of their files, which WeasyPrint tries last.

    For names of other systems, which come first, the compiler and the linker would be asked.
    """
    found = ctypes.util.find_library
    if sys.platform == "linux":
        ctypes.util.find_library = lambda name: None
    try:
        yield
    finally:
        ctypes.util.find_library = found


class _Later(ModuleType):
    """A module of functions that is loaded when one of them is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: getattr(import_module(self.__name__), name)(*given, **named)


@contextmanager
def _font_tools_later() -> Iterator[None]:
    """Leave out what takes a third of the time to load and is rarely called.

    WeasyPrint needs it for variable fonts, and for every font if the machine has no HarfBuzz-Subset.
    """
    wanted = {"fontTools.subset", "fontTools.varLib.instancer"}.difference(sys.modules)
    sys.modules |= {name: _Later(name) for name in wanted}
    try:
        yield
    finally:
        for name in wanted:
            del sys.modules[name]


@contextmanager
def _without_collection() -> Iterator[None]:
    """Leave cyclic garbage where it is: the boxes of a layout live until its end."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _finish(document: weasyprint.Document, pdf: pydyf.PDF) -> None:
    """Put right what WeasyPrint leaves behind.

    Text in margin boxes, such as page numbers, is marked as content that hangs nowhere in the tag tree; it
    becomes an artifact, as PDF/A-3a wants it. Attachments are associated with the file twice; once is enough.
    """
    objects = {item.reference: item for item in pdf.objects}
    if "AF" in pdf.catalog:
        pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    tree = objects[pdf.catalog["StructTreeRoot"]]
    parents = objects[tree["ParentTree"]]["Nums"]
    numbers = {page: number for number, page in enumerate(pdf.page_references)}
    reached = set(_references(tree, objects))
    for reference, element in objects.items():
        if reference in reached or not _is_element(element):
            continue
        for content in element["K"]:
            if isinstance(content, int):
                number = numbers[element["Pg"]]
                _make_artifact(objects[objects[element["Pg"]]["Contents"]].stream, content)
                # The tree has a number and the list of its elements in turn.
                parents[2 * number + 1][content] = "null"
        element.clear()
    pdf.objects[:] = [item if item.free == "f" else _Written(item) for item in pdf.objects]


class _Written:
    """An object of a PDF as its bytes: pydyf makes them a second time to name the file by their digest."""

    def __init__(self, item: pydyf.Object) -> None:
        self.number, self.generation, self.free, self.offset = item.number, item.generation, item.free, 0
        self.compressible = item.compressible
        self.data: bytes = item.data

    @property
    def indirect(self) -> bytes:
        """The bytes, and what the object is called by others."""
        return f"{self.number} {self.generation} obj\n".encode() + self.data + b"\nendobj"


def _references(element: pydyf.Dictionary, objects: dict[bytes, pydyf.Object]) -> Iterator[bytes]:
    """The references to all elements below one."""
    for child in element["K"]:
        if isinstance(child, bytes):
            yield child
            if _is_element(objects[child]):
                yield from _references(objects[child], objects)


def _is_element(item: pydyf.Object) -> bool:
    return isinstance(item, dict) and item.get("Type") == "/StructElem"


def _make_artifact(stream: list[Any], content: int) -> None:
    """Mark a piece of a page's content as pagination instead of a place in the tag tree."""
    place = next(i for i, item in enumerate(stream) if isinstance(item, dict) and item.get("MCID") == content)
    stream[place - 1] = "/Artifact"
    stream[place].clear()
    stream[place]["Type"] = "/Pagination"
