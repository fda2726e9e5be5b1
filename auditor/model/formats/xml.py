"""XML without what makes it dangerous (entities, external files, endless size) or unclear (a thing twice)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import ParseError

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.reading import read_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@dataclass(frozen=True)
class Node:
    """An element, whatever the version of its namespace, and the name of its document for messages."""

    element: Element
    source: str

    @property
    def tag(self) -> str:
        """The name without the namespace."""
        return str(self.element.tag).rpartition("}")[2]

    @property
    def text(self) -> str:
        """All text in it on one line; comments between words are no part of it."""
        return " ".join("".join(self.element.itertext()).split())

    def get(self, attribute: str, default: str = "") -> str:
        """Return the text of an attribute."""
        return str(self.element.get(attribute, default))

    def children(self, *tags: str) -> list[Node]:
        """Return the children with one of these tags, or all."""
        nodes = [Node(e, self.source) for e in self.element if isinstance(e.tag, str)]
        return [node for node in nodes if not tags or node.tag in tags]

    def child(self, tag: str) -> Node | None:
        """Return the child with this tag, of which there may be one; None if there is none."""
        found = self.children(tag)
        if len(found) > 1:
            self.refuse(f"{plain(self.described())} has {tag} {len(found)} times; keep one")
        return found[0] if found else None

    def keyed(self, tag: str, *attributes: str) -> dict[str, Node]:
        """Return the children with this tag by the first of these attributes that they have, each once."""
        found: dict[str, Node] = {}
        for node in self.children(tag):
            key = next((node.get(attribute) for attribute in attributes if node.get(attribute)), "")
            if key in found:
                self.refuse(f"{tag} {shown(key)} stands twice in {plain(self.described())}; keep one of them")
            found[key] = node
        return found

    def described(self) -> str:
        """The tag, with what names this element among others of its kind."""
        names = (self.get(key) for key in ("name", "fieldName", "field", "value") if self.get(key))
        name = next(names, None)
        return self.tag if name is None else f"{self.tag} {shown(name)}"

    def refuse(self, reason: str) -> NoReturn:
        """Say why the document can't be used."""
        raise InputError(f"{escaped(self.source)}: {reason}")


def parse_xml(path: str | os.PathLike[str]) -> Node:
    """Return the root element of a file.

    Raises
    ------
    InputError
        If it isn't XML, or has entities or references to other files.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    name = escaped(os.fspath(path))
    try:
        return Node(fromstring(read_bytes(path)), os.fspath(path))
    except ParseError as error:
        line, column = error.position
        raise InputError(f"{name}: line {line}, column {column + 1}: not XML; is the file whole?") from error
    except DefusedXmlException as error:
        raise InputError(
            f"{name}: has entities or refers to other files, which is not read; resolve it"
        ) from error
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: not XML in an encoding that is known; save it as UTF-8") from error
