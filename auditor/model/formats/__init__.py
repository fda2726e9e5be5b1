"""Models of other programs, one file per format, with what reads it and what writes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.errors import InputError
from auditor.messages import escaped, shown

if TYPE_CHECKING:
    from auditor.model.spec import ModelSpec

#: Suffixes that are read. What is in an XML file decides whether it is PMML or XMLBIF.
SUFFIXES = (".skops", ".pmml", ".xml", ".xmlbif", ".bifxml", ".bif")


def import_model(
    path: str | os.PathLike[str],
    *,
    sensitive: Sequence[str],
    favourable: str | None = None,
    decision: str | None = None,
    name: str | None = None,
) -> ModelSpec:
    """Read a model that another program has made.

    Parameters
    ----------
    path : str or path-like
        skops, PMML, BIF or XMLBIF, as its suffix says.
    sensitive : sequence of str
        Attributes to protect. A text that is no attribute names several, with commas between.
    favourable : str, optional
        The favourable value of the decision.  [default: its second one]
    decision : str, optional
        Name of the decision; only a skops file doesn't say it itself.
    name : str, optional
        Name of the model.  [default: as the file]

    Raises
    ------
    InputError
        If it can't be read, or is no naive Bayes model of discrete attributes and a decision of two values.
    """
    source = os.fspath(path)
    suffix = Path(source).suffix.lower()
    name = name or Path(source).stem
    if suffix == ".skops" or suffix in (".pkl", ".pickle", ".joblib"):
        from auditor.model.formats.sklearn import from_sklearn, load_skops

        return from_sklearn(
            load_skops(path),
            sensitive=sensitive,
            favourable=favourable,
            decision=decision or "decision",
            name=name,
            source=source,
        )
    if suffix not in SUFFIXES:
        raise InputError(
            f"{escaped(source)}: the suffix {shown(suffix)} is none of {', '.join(SUFFIXES)}; rename "
            "the file, or for data use auditor learn"
        )
    if decision is not None:
        raise InputError(f"{escaped(source)}: names its decision itself; leave {shown(decision)} out")
    if suffix == ".bif":
        from auditor.model.formats.bif import from_network, read_bif

        network = read_bif(path)
    else:
        from auditor.model.formats.xml import parse_xml

        root = parse_xml(path)
        if root.tag == "PMML":
            from auditor.model.formats.pmml import from_pmml

            return from_pmml(root, sensitive=sensitive, favourable=favourable, name=name)
        from auditor.model.formats.bif import from_network, read_xmlbif

        network = read_xmlbif(root)
    return from_network(network, source, sensitive=sensitive, favourable=favourable, name=name)
