"""Models of other programs, one file per format, with what reads it and what writes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from auditor.errors import InputError
from auditor.messages import escaped, shown

if TYPE_CHECKING:
    from decimal import Decimal

    from auditor.model.scorecard import Scale, ScorecardSpec, Side
    from auditor.model.spec import ModelSpec

#: Suffixes that are read. What is in an XML file decides whether it is PMML or XMLBIF.
SUFFIXES = (".csv", ".skops", ".pmml", ".xml", ".xmlbif", ".bifxml", ".bif", ".json")


def import_model(
    path: str | os.PathLike[str],
    *,
    sensitive: Sequence[str],
    favourable: str | None = None,
    decision: str | None = None,
    name: str | None = None,
    intercept: Decimal | None = None,
    scale: Scale | None = None,
    higher: Side | None = None,
) -> ModelSpec | ScorecardSpec:
    """Read a model that another program has made.

    Parameters
    ----------
    path : str or path-like
        skops, PMML, BIF, XMLBIF, the table of a scorecard as CSV, or the JSON of an explainable boosting
        machine, as its suffix says.
    sensitive : sequence of str
        Attributes to protect. A text that is no attribute names several, with commas between.
    favourable : str, optional
        The favourable value of the decision.  [default: its second one]
    decision : str, optional
        Name of the decision, where the file doesn't say it itself.
    name : str, optional
        Name of the model.  [default: as the file]
    intercept : Decimal, optional
        Of a table of a scorecard that doesn't have it.
    scale : Scale, optional
        How points of a scorecard become odds, where the file doesn't say it.
    higher : {"favourable", "unfavourable"}, optional
        Which value of the decision more points speak for, where the file doesn't say it: that of a table or
        a PMML Scorecard.

    Raises
    ------
    InputError
        If it can't be read, or is neither naive Bayes nor a scorecard over discrete attributes and a decision
        of two values.
    """
    source = os.fspath(path)
    suffix = Path(source).suffix.lower()
    name = name or Path(source).stem
    if higher is not None and suffix not in (".csv", ".pmml", ".xml"):
        _refuse_higher(source)
    if suffix == ".skops" or suffix in (".pkl", ".pickle", ".joblib"):
        from auditor.model.formats.sklearn import from_sklearn, load_skops
        from auditor.model.formats.sklearn_logistic import from_logistic, is_logistic

        estimator = load_skops(path)
        return (from_logistic if is_logistic(estimator) else from_sklearn)(
            estimator,
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
    if suffix == ".json":
        from auditor.model.formats.ebm import read_ebm

        return read_ebm(path, sensitive=sensitive, favourable=favourable, decision=decision, name=name)
    if suffix == ".csv":
        from auditor.model.formats.scorecard_tables import read_table

        return read_table(
            path,
            sensitive=sensitive,
            favourable=favourable,
            decision=decision,
            name=name,
            intercept=intercept,
            scale=scale,
            higher=higher,
        )
    root = None
    if suffix != ".bif":
        from auditor.model.formats.xml import parse_xml

        root = parse_xml(path)
        if root.tag == "PMML" and root.children("Scorecard"):
            from auditor.model.formats.pmml_scorecard import from_pmml_scorecard

            return from_pmml_scorecard(
                root,
                sensitive=sensitive,
                favourable=favourable,
                decision=decision,
                name=name,
                scale=scale,
                higher=higher,
            )
    if higher is not None:
        _refuse_higher(source)
    if decision is not None:
        raise InputError(f"{escaped(source)}: names its decision itself; leave {shown(decision)} out")
    if root is not None and root.tag == "PMML":
        if root.children("RegressionModel"):
            from auditor.model.formats.pmml_scorecard import from_pmml_regression

            return from_pmml_regression(root, sensitive=sensitive, favourable=favourable, name=name)
        from auditor.model.formats.pmml import from_pmml

        return from_pmml(root, sensitive=sensitive, favourable=favourable, name=name)
    from auditor.model.formats.bif import from_network, read_bif, read_xmlbif

    network = read_bif(path) if root is None else read_xmlbif(root)
    return from_network(network, source, sensitive=sensitive, favourable=favourable, name=name)


def _refuse_higher(source: str) -> NoReturn:
    raise InputError(f"{escaped(source)}: says itself what its numbers speak for; leave --higher out")
