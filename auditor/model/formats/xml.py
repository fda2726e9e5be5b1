"""XML without what makes it dangerous: entities, external files, endless size."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from auditor.errors import InputError
from auditor.messages import escaped, plain
from auditor.model.reading import read_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parse_xml(path: str | os.PathLike[str]) -> Element:
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
        root: Element = fromstring(read_bytes(path))
    except ParseError as error:
        raise InputError(f"{name}: not XML: {plain(str(error))}; correct it") from error
    except DefusedXmlException as error:
        raise InputError(
            f"{name}: has entities or refers to other files, which is not read; resolve it"
        ) from error
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: not XML: {plain(str(error))}; save it as UTF-8") from error
    return root


def children(element: Element, tag: str) -> list[Element]:
    """Return the children with this tag, whatever the version of the namespace."""
    return [child for child in element if isinstance(child.tag, str) and child.tag.rpartition("}")[2] == tag]


def child(element: Element | None, tag: str) -> Element | None:
    """Return the first child with this tag."""
    return next(iter(children(element, tag)), None) if element is not None else None
