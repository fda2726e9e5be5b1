"""Explainable boosting machines of ``interpret`` as scorecards: the JSON of ``to_json``, and no pickles.

Their log-odds are sums over terms. A term of one attribute has a score for each of its bins: first that of
missing cells, last that of cells which training had not. Terms of several attributes are no scorecard.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from auditor.errors import InputError
from auditor.messages import items, lines, part, plain, shown
from auditor.model import checks, parsing
from auditor.model.building import build_scorecard, code_of, decimal, sides_of, with_sensitive
from auditor.model.intervals import Bins
from auditor.model.parsing import refuse
from auditor.model.reading import read_bytes
from auditor.model.scorecard import ScorecardSpec


def read_ebm(
    path: str | os.PathLike[str],
    *,
    sensitive: Sequence[str],
    favourable: str | None = None,
    decision: str | None = None,
    name: str | None = None,
) -> ScorecardSpec:
    """Read an ``ExplainableBoostingClassifier`` of main effects with a logit link and two classes.

    Its scores are taken as written. Shares come from the weights of bins that every detail but "minimal" has.

    Raises
    ------
    InputError
        If it can't be read, or has interactions whose scores aren't all 0.
    """
    source = os.fspath(path)
    tree, problems = parsing.parse(read_bytes(path), source, "json")
    if problems:
        raise InputError(lines(source, problems, tree))
    model: Any = part(tree, "ebm")
    if model is None:
        refuse(source, "is no model that interpret's to_json has written; a model of auditor needs no import")
    try:
        classes, intercept = _output(model, source)
        features = {str(feature["name"]): feature for feature in model["features"]}
        attributes = [
            _attribute(term, features, source) for term in model["terms"] if not _is_nothing(term, source)
        ]
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        reason = plain(f"{type(error).__name__}: {error}")
        refuse(source, f"what it holds does not fit together ({reason}); write it anew")
    first, second = sides_of(classes, favourable, source, "the decision of the model")
    return build_scorecard(
        {
            "name": name or Path(source).stem,
            "decision": {
                "name": decision or "decision",
                "favourable": classes[first],
                "unfavourable": classes[second],
                # The scores speak for the second class.
                "higher": "favourable" if first == 1 else "unfavourable",
            },
            "intercept": intercept,
            "attributes": with_sensitive(attributes, sensitive, source),
            "provenance": {"description": "Imported from an explainable boosting machine of interpret."},
        },
        source,
    )


def _output(model: Mapping[str, Any], source: str) -> tuple[list[str], Decimal]:
    """The classes, and the intercept of the second one."""
    (output,) = model["outputs"]
    classes = [code_of(value) for value in items(output.get("classes"))]
    if output.get("link") != "logit" or len(classes) != 2:
        refuse(
            source,
            f"predicts {len(classes)} classes by the link {shown(str(output.get('link')))}; it must be a "
            "classifier of two classes by a logit",
        )
    (intercept,) = model["intercept"]
    return classes, checks.score(intercept)


def _is_nothing(term: Mapping[str, Any], source: str) -> bool:
    """Whether a term of several attributes adds nothing; refuse one that adds something."""
    names = term["term_features"]
    if len(names) == 1:
        return False
    if any(_flat(term["scores"])):
        refuse(
            source,
            f"has an interaction of {' and '.join(shown(str(name)) for name in names)}; log-odds must be a "
            "sum over single attributes: fit it anew with interactions=0",
        )
    return True


def _flat(scores: Any) -> list[Any]:
    return [cell for row in scores for cell in _flat(row)] if isinstance(scores, list | tuple) else [scores]


def _attribute(
    term: Mapping[str, Any], features: Mapping[str, Mapping[str, Any]], source: str
) -> dict[str, Any]:
    """A term of one attribute; cells that training had not are left out, since nobody has them."""
    (name,) = term["term_features"]
    feature = features[name]
    if feature["type"] == "continuous":
        cuts = tuple(checks.exact(cut) for cut in feature["cuts"][0])
        values: list[dict[str, Any]] = [dict(value) for value in Bins(cuts).values]
    else:
        groups = [[group] if isinstance(group, str) else [*group] for group in feature["categories"][0]]
        values = [
            {"value": group[0]} if len(group) == 1 else {"value": ", ".join(group), "categories": group}
            for group in groups
        ]
    values = [{"value": "missing", "bin": "missing"}, *values]
    *scores, _ = term["scores"]
    for value, score in zip(values, scores, strict=True):
        value["weight"] = checks.score(score)
    weights = [Fraction(checks.exact(weight)) for weight in term.get("bin_weights") or ()]
    if total := sum(weights[:-1], Fraction(0)):
        for value, weight in zip(values, weights[:-1], strict=True):
            value["share"] = decimal(weight / total)
    return {"name": name, "values": values}
