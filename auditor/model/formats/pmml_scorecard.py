"""PMML ``Scorecard`` in both directions, and ``RegressionModel`` with a logit over categories and bins.

PMML has no place for how points become odds and for the shares of a population; what we write keeps them in
elements of the kind ``Extension``, which other programs skip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from auditor.messages import shown
from auditor.model import checks
from auditor.model.building import build_scorecard, decimal, sides_of, with_sensitive
from auditor.model.formats.xml import Node
from auditor.model.intervals import Bins, are_intervals
from auditor.model.scorecard import ANY_OTHER
from auditor.version import __version__

if TYPE_CHECKING:
    from auditor.model.scorecard import Scale, ScorecardAttribute, ScorecardSpec, ScoredValue, Side

_EXACT = Context(prec=100)
#: What an adverse decision cites: what has points below its baseline, or above.
_REASONS = {"pointsBelow": "below", "pointsAbove": "above"}
#: Operators of numbers: which end of a range they give, and whether the range contains it.
_ENDS = {
    "lessThan": ("high", False),
    "lessOrEqual": ("high", True),
    "greaterThan": ("low", False),
    "greaterOrEqual": ("low", True),
}
_OPERATORS = {("high", False): "lessThan", ("low", True): "greaterOrEqual"}
_OPERATORS |= {("high", True): "lessOrEqual", ("low", False): "greaterThan"}


@dataclass
class _Range:
    """A range of numbers, as far as its predicates say."""

    ends: dict[str, tuple[Decimal, bool]] = field(default_factory=dict)

    def code(self) -> str:
        """The range in the notation of bins."""
        low, high = self.ends.get("low"), self.ends.get("high")
        closed_low = low[1] if low else bool(high and not high[1])
        closed_high = high[1] if high else bool(low and not low[1])
        start = f"{decimal(Fraction(low[0])):f}" if low else "-inf"
        end = f"{decimal(Fraction(high[0])):f}" if high else "inf"
        return f"{'[' if closed_low else '('}{start},{end}{']' if closed_high else ')'}"


def from_pmml_scorecard(
    root: Node,
    *,
    sensitive: Sequence[str],
    favourable: str | None,
    name: str,
    scale: Scale | None = None,
    decision: str | None = None,
    higher: Side | None = None,
) -> ScorecardSpec:
    """Turn a PMML ``Scorecard`` into our own.

    Parameters
    ----------
    sensitive : sequence of str
        Characteristics to protect, by their fields.
    favourable, decision : str, optional
        Of a document that we haven't written.  [default: "favourable", and "decision"]
    scale : Scale, optional
        How points become odds, where the document doesn't say it.
    higher : {"favourable", "unfavourable"}, optional
        What higher scores of a document speak for that we haven't written.  [default: "favourable"]

    Raises
    ------
    InputError
        If it can't be read, or nothing says how points become odds.
    """
    model = _only(root, "Scorecard")
    said = _extensions(model)
    tree: dict[str, Any] = {
        "name": name,
        "intercept": _number(model, "initialScore", "0"),
        "decision": _said_decision(said, favourable, decision, higher, root),
        "provenance": {"description": "Imported from a PMML Scorecard."},
    }
    if scale is not None:
        tree["scale"] = scale.model_dump()
    elif "pdo" in said:
        tree["scale"] = {key: said[key] for key in ("pdo", "offset", "odds")}
    elif said.get("unit") != "log-odds":
        root.refuse(
            "nothing says how points become odds; give the points that double them (pdo), and the odds at "
            "some score"
        )
    algorithm = model.get("reasonCodeAlgorithm")
    if algorithm in _REASONS:
        tree["reason_points"] = _REASONS[algorithm]
    if "undisclosed" in said:
        tree["undisclosed"] = said["undisclosed"]
    holder = model.child("Characteristics")
    unit = "points" if "scale" in tree else "weight"
    attributes = [
        _characteristic(node, unit, said, model)
        for node in (holder.children("Characteristic") if holder else [])
    ]
    tree["attributes"] = with_sensitive(attributes, sensitive, root.source)
    return build_scorecard(tree, root.source)


def _only(root: Node, tag: str) -> Node:
    model = root.child(tag)
    if model is None:
        root.refuse(f"has no {tag}; give another document")
    return model


def _said_decision(
    said: Mapping[str, Any], favourable: str | None, decision: str | None, higher: Side | None, root: Node
) -> dict[str, Any]:
    """The decision as the document says it, or with our own words for it."""
    if "favourable" not in said:
        return {
            "name": decision or "decision",
            "favourable": favourable or "favourable",
            "unfavourable": "not " + (favourable or "favourable"),
            "higher": higher or "favourable",
        }
    if higher is not None:
        root.refuse("says itself what its scores speak for; leave --higher out")
    values = [str(said["unfavourable"]), str(said["favourable"])]
    first, second = sides_of(values, favourable, root.source, shown(str(said.get("decision"))))
    exchanged = first == 0
    ways = ["favourable", "unfavourable"]
    return {
        "name": decision or said["decision"],
        "favourable": values[first],
        "unfavourable": values[second],
        "higher": ways[1 - ways.index(str(said["higher"]))] if exchanged else said["higher"],
    }


def _extensions(node: Node) -> dict[str, Any]:
    """What we have written beside what PMML has; numbers as decimals."""
    found: dict[str, Any] = {}
    for extension in node.children("Extension"):
        if extension.get("extender") == "auditor":
            name, value = extension.get("name"), extension.get("value")
            numeric = name in ("pdo", "offset", "odds", "share", "undisclosed number")
            found[name] = _number(extension, "value") if numeric else value
    return found


def _number(node: Node, attribute: str, default: str = "") -> Decimal:
    text = node.get(attribute, default)
    try:
        return checks.exact(Decimal(text.strip()))
    except (InvalidOperation, ValueError):
        node.refuse(f"{node.described()}: {attribute} {shown(text)} is not a number; correct it")


def _characteristic(node: Node, unit: str, said: Mapping[str, Any], model: Node) -> dict[str, Any]:
    """Read a characteristic, whose attributes must all speak of one field."""
    fields: set[str] = set()
    ranges: list[_Range] = []
    values: list[dict[str, Any]] = []
    for part in node.children("Attribute"):
        value = _predicate(part, fields, ranges)
        if part.child("ComplexPartialScore") is not None:
            part.refuse(
                f"{node.described()} has a ComplexPartialScore, which is computed from data; cut it into bins"
            )
        value[unit] = _number(part, "partialScore", node.get("partialScore"))
        if part.get("reasonCode"):
            value["reason_code"] = part.get("reasonCode")
        own = _extensions(part)
        value |= {key: own[key] for key in ("value", "label", "share", "bin") if key in own}
        values.append(value)
    if len(fields) != 1:
        some = ", ".join(map(shown, sorted(fields))) or "none"
        node.refuse(f"{node.described()} is scored from the fields {some}; one field each can be read")
    bins = Bins.of([value["value"] for value in values if "range" in value])
    ranged = [value for value in values if value.pop("range", None)]
    if ranged and bins is None:
        codes = ", ".join(value["value"] for value in ranged)
        node.refuse(
            f"{node.described()}: the ranges {codes} leave numbers out or overlap; let them cut the whole "
            "line"
        )
    for value, label in zip(ranged, bins.labels if bins else (), strict=True):
        value.setdefault("label", label)
    own = _extensions(node)
    tree: dict[str, Any] = {"name": fields.pop(), "values": values}
    if own.get("label"):
        tree["label"] = own["label"]
    if "undisclosed number" in own:
        tree["undisclosed"] = own["undisclosed number"]
    if node.get("reasonCode"):
        tree["reason_code"] = node.get("reasonCode")
    if node.get("baselineScore") or model.get("baselineScore"):
        tree["baseline"] = _number(node, "baselineScore", model.get("baselineScore"))
    return tree


def _predicate(part: Node, fields: set[str], ranges: list[_Range]) -> dict[str, Any]:
    """The cells for which an attribute is chosen, of those that the ones before it have left."""
    found = [
        node
        for node in part.children()
        if node.tag in ("SimplePredicate", "SimpleSetPredicate", "CompoundPredicate", "True", "False")
    ]
    if len(found) != 1:
        part.refuse(f"{part.described()} has {len(found)} predicates; it needs one")
    node = found[0]
    if node.tag == "True":
        return {"value": ANY_OTHER, "bin": "special"}
    simple = [node]
    if node.tag == "CompoundPredicate":
        simple = node.children("SimplePredicate", "SimpleSetPredicate")
        operator = node.get("booleanOperator")
        if operator not in ("and", "or") or len(simple) != len(node.children()):
            node.refuse(f"a CompoundPredicate of {shown(operator)} can't be read; write bins and categories")
        if operator == "or":
            categories = list(chain.from_iterable(_cells(one, fields) for one in simple))
            return _categories(categories)
    if len(simple) == 1 and simple[0].get("operator") == "isMissing":
        fields.add(simple[0].get("field"))
        return {"value": "missing", "bin": "missing"}
    if all(one.get("operator") in _ENDS for one in simple):
        cut = _Range()
        for one in simple:
            fields.add(one.get("field"))
            end, closed = _ENDS[one.get("operator")]
            cut.ends[end] = _number(one, "value"), closed
        # The first attribute that holds is taken, so that a later one begins where the one before ends.
        before = ranges[-1].ends.get("high") if ranges else None
        if "low" not in cut.ends and before is not None:
            cut.ends["low"] = before[0], not before[1]
        ranges.append(cut)
        return {"value": cut.code(), "range": True}
    if len(simple) == 1:
        return _categories(_cells(simple[0], fields))
    node.refuse(f"{part.described()} has predicates that can't be read; write bins and categories")


def _cells(node: Node, fields: set[str]) -> list[str]:
    fields.add(node.get("field"))
    if node.tag == "SimplePredicate" and node.get("operator") == "equal":
        return [node.get("value")]
    if node.tag == "SimpleSetPredicate" and node.get("booleanOperator") == "isIn":
        listed = node.child("Array")
        return _array(listed.text) if listed is not None else []
    operator = node.get("operator") or node.get("booleanOperator")
    node.refuse(f"the operator {shown(operator)} can't be read here; write equal, isIn or a range")


def _array(text: str) -> list[str]:
    r"""Take an array of PMML apart: words, or texts in quotation marks that are escaped inside.

    >>> _array('own "to let" "the \\"other\\""')
    ['own', 'to let', 'the "other"']
    """
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [bare or quoted.replace('\\"', '"') for quoted, bare in found]


def _categories(cells: list[str]) -> dict[str, Any]:
    return {"value": cells[0]} if len(cells) == 1 else {"value": ", ".join(cells), "categories": cells}


def from_pmml_regression(
    root: Node, *, sensitive: Sequence[str], favourable: str | None, name: str
) -> ScorecardSpec:
    """Turn a PMML ``RegressionModel`` that classifies by a logit into a scorecard in log-odds.

    Its predictors are categorical, or numbers with a list of values; what the dictionary lists and the model
    doesn't has the coefficient 0.

    Raises
    ------
    InputError
        If it is another kind of regression, or one of numbers without a list of values.
    """
    model = _only(root, "RegressionModel")
    if model.get("functionName") != "classification":
        model.refuse(
            "the RegressionModel predicts a number, and patterns are of decisions; give a classification"
        )
    method = model.get("normalizationMethod", "none")
    tables = model.keyed("RegressionTable", "targetCategory")
    if method not in ("logit", "softmax") or len(tables) != 2:
        model.refuse(
            f"a RegressionModel of {len(tables)} categories by {shown(method)} can't be read; it must have "
            "two, and logit or softmax"
        )
    codes = list(tables)
    # The first table speaks for its category; the second is 0 by definition, or subtracted by softmax.
    weights = [_table(node) for node in tables.values()]
    (first, own), (second, other) = weights
    if method == "logit" and (second or other):
        tables[codes[1]].refuse("the second RegressionTable of a logit must be 0; write the model anew")
    for field_name, cells in other.items():
        for cell, weight in cells.items():
            row = own.setdefault(field_name, {})
            row[cell] = _EXACT.subtract(row.get(cell, Decimal(0)), weight)
    chosen_sides = sides_of(codes, favourable, root.source, "the decision") if favourable else (0, 1)
    target = next(
        (node.get("name") for node in _schema(model) if node.get("usageType") in ("target", "predicted")), ""
    )
    return build_scorecard(
        {
            "name": name,
            "decision": {
                "name": model.get("targetFieldName") or target or "decision",
                "favourable": codes[chosen_sides[0]],
                "unfavourable": codes[chosen_sides[1]],
                "higher": "favourable" if chosen_sides[0] == 0 else "unfavourable",
            },
            "intercept": _EXACT.subtract(first, second),
            "attributes": with_sensitive(_regressors(root, model, own), sensitive, root.source),
            "provenance": {"description": "Imported from a PMML RegressionModel."},
        },
        root.source,
    )


def _schema(model: Node) -> list[Node]:
    schema = model.child("MiningSchema")
    return schema.children("MiningField") if schema is not None else []


def _table(node: Node) -> tuple[Decimal, dict[str, dict[str, Decimal]]]:
    """The intercept and, by field, the coefficient of each value; "" stands for a number's own."""
    found: dict[str, dict[str, Decimal]] = {}
    for part in node.children():
        if part.tag == "CategoricalPredictor":
            found.setdefault(part.get("name"), {})[part.get("value")] = _number(part, "coefficient")
        elif part.tag == "NumericPredictor":
            if part.get("exponent", "1") != "1":
                part.refuse(f"{part.described()} has an exponent; cut the number into bins instead")
            found.setdefault(part.get("name"), {})[""] = _number(part, "coefficient")
        elif part.tag != "Extension":
            part.refuse(f"{part.tag} can't be read: log-odds must be a sum over single attributes")
    return _number(node, "intercept", "0"), found


def _regressors(
    root: Node, model: Node, weights: Mapping[str, Mapping[str, Decimal]]
) -> Iterator[dict[str, Any]]:
    dictionary = root.child("DataDictionary")
    declared = dictionary.keyed("DataField", "name") if dictionary is not None else {}
    derived = _derived(root) | _derived(model)
    for name, row in weights.items():
        if name in derived:
            yield _cut(derived[name], name, row)
            continue
        values = [
            (value.get("value"), value.get("displayValue") or value.get("value"))
            for value in (declared[name].children("Value") if name in declared else [])
            if value.get("property", "valid") == "valid"
        ]
        if not values and "" not in row:
            values = [(code, code) for code in row]
        if not values:
            model.refuse(
                f"{shown(name)} is a number without a list of values, and patterns need values; cut it into "
                "bins"
            )
        number = row.get("")
        yield {
            "name": name,
            "values": [
                {
                    "value": code,
                    "label": label,
                    "weight": row.get(code, Decimal(0))
                    if number is None
                    else _EXACT.multiply(number, Decimal(code)),
                }
                for code, label in values
            ],
        }


def _derived(node: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for tag in ("TransformationDictionary", "LocalTransformations"):
        holder = node.child(tag)
        if holder is not None:
            found |= holder.keyed("DerivedField", "name")
    return found


def _cut(node: Node, name: str, row: Mapping[str, Decimal]) -> dict[str, Any]:
    """Read a number that is cut into bins, with the weight of each bin."""
    cut = node.child("Discretize")
    if cut is None or "" in row:
        node.refuse(f"{shown(name)} is derived in a way that is not read; only Discretize into bins is")
    pieces: list[tuple[Decimal, str, Decimal, str]] = []
    for part in cut.children("DiscretizeBin"):
        interval = part.child("Interval")
        if interval is None:
            part.refuse(f"{shown(name)}: a bin has no Interval; give it one")
        ends = _Range()
        closure = interval.get("closure")
        if interval.get("leftMargin"):
            ends.ends["low"] = _number(interval, "leftMargin"), closure.startswith("closed")
        if interval.get("rightMargin"):
            ends.ends["high"] = _number(interval, "rightMargin"), closure.endswith("Closed")
        low = ends.ends["low"][0] if "low" in ends.ends else Decimal("-Infinity")
        label = part.get("binValue")
        pieces.append((low, ends.code(), row.get(label, Decimal(0)), label))
    pieces.sort()
    bins = Bins.of([code for _, code, _, _ in pieces])
    if bins is None:
        cut.refuse(f"the bins of {shown(name)} leave numbers out or overlap; let them cut the whole line")
    return {
        "name": cut.get("field", name),
        "values": [
            {"value": code, "label": label or words, "weight": weight}
            for code, words, (_, _, weight, label) in zip(bins.codes, bins.labels, pieces, strict=True)
        ],
    }


def to_pmml_scorecard(spec: ScorecardSpec) -> str:
    """Return a scorecard as a PMML 4.4 document.

    Scores are those of the scorecard, in points or in log-odds; what PMML has no place for stands in
    extensions.
    """
    root = Element("PMML", version="4.4", xmlns="http://www.dmg.org/PMML-4_4")
    SubElement(SubElement(root, "Header"), "Application", name="auditor", version=__version__)
    dictionary = SubElement(root, "DataDictionary", numberOfFields=str(len(spec.attributes) + 1))
    with_reasons = all(
        attribute.reason_code or all(value.reason_code for value in attribute.values)
        for attribute in spec.attributes
    ) and all(attribute.baseline is not None for attribute in spec.attributes)
    card = SubElement(
        root,
        "Scorecard",
        modelName=spec.name,
        functionName="regression",
        initialScore=f"{spec.intercept}",
        useReasonCodes="true" if with_reasons else "false",
    )
    if spec.reason_points is not None:
        card.set("reasonCodeAlgorithm", f"points{spec.reason_points.capitalize()}")
    decision = spec.decision
    said = {
        "decision": decision.name,
        "favourable": decision.favourable.value,
        "unfavourable": decision.unfavourable.value,
        "higher": decision.higher,
    }
    if spec.scale is None:
        said["unit"] = "log-odds"
    else:
        said |= {"pdo": str(spec.scale.pdo), "offset": str(spec.scale.offset), "odds": str(spec.scale.odds)}
    if spec.undisclosed is not None:
        said["undisclosed"] = spec.undisclosed
    _extend(card, said)
    schema = SubElement(card, "MiningSchema")
    holder = SubElement(card, "Characteristics")
    for attribute in spec.attributes:
        _write_field(dictionary, attribute)
        SubElement(schema, "MiningField", name=attribute.name)
        _write_characteristic(holder, attribute)
    SubElement(dictionary, "DataField", name="score", optype="continuous", dataType="double")
    SubElement(schema, "MiningField", name="score", usageType="target")
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _extend(parent: Element, said: Mapping[str, str]) -> None:
    for name, value in said.items():
        SubElement(parent, "Extension", extender="auditor", name=name, value=value)


def _write_field(dictionary: Element, attribute: ScorecardAttribute) -> None:
    usual = [value for value in attribute.values if value.bin is None]
    numeric = are_intervals([value.value for value in usual])
    optype, kind = ("continuous", "double") if numeric else ("categorical", "string")
    node = SubElement(dictionary, "DataField", name=attribute.name, optype=optype, dataType=kind)
    if attribute.label is not None:
        node.set("displayName", attribute.label)
    if not numeric:
        for cell in chain.from_iterable(value.categories or (value.value,) for value in usual):
            SubElement(node, "Value", value=cell)


def _write_characteristic(holder: Element, attribute: ScorecardAttribute) -> None:
    node = SubElement(holder, "Characteristic", name=attribute.name)
    if attribute.reason_code:
        node.set("reasonCode", attribute.reason_code)
    if attribute.baseline is not None:
        node.set("baselineScore", str(attribute.baseline))
    said = {} if attribute.label is None else {"label": attribute.label}
    if attribute.undisclosed is not None:
        said["undisclosed number"] = str(attribute.undisclosed)
    _extend(node, said)
    for value in attribute.values:
        part = SubElement(node, "Attribute", partialScore=str(value.number))
        if value.reason_code:
            part.set("reasonCode", value.reason_code)
        own = {"share": str(value.share)} if value.share is not None else {}
        if value.label != value.value:
            own["label"] = value.label
        if value.bin or value.categories:
            own["value"] = value.value
        if value.bin:
            own["bin"] = value.bin
        _extend(part, own)
        _write_predicate(part, attribute.name, value)


def _write_predicate(part: Element, name: str, value: ScoredValue) -> None:
    if value.bin == "missing":
        SubElement(part, "SimplePredicate", field=name, operator="isMissing")
    elif value.categories:
        chosen_cells = SubElement(part, "SimpleSetPredicate", field=name, booleanOperator="isIn")
        cells = ['"' + cell.replace('"', '\\"') + '"' for cell in value.categories]
        array = SubElement(chosen_cells, "Array", type="string", n=str(len(cells)))
        array.text = " ".join(cells)
    elif are_intervals([value.value]):
        low, high = value.value[1:-1].split(",")
        ends = [("low", low, value.value[0] == "["), ("high", high, value.value[-1] == "]")]
        finite = [(_OPERATORS[end, closed], number) for end, number, closed in ends if "inf" not in number]
        whole = part if len(finite) == 1 else SubElement(part, "CompoundPredicate", booleanOperator="and")
        for operator, number in finite:
            SubElement(whole, "SimplePredicate", field=name, operator=operator, value=number)
    else:
        SubElement(part, "SimplePredicate", field=name, operator="equal", value=value.value)
