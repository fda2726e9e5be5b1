"""PMML ``NaiveBayesModel`` with discrete inputs, or inputs that are cut into bins; both directions.

PMML has no smoothing but a threshold that stands in for probabilities of 0, so that they no longer add up
to 1. Such models are refused; where nothing is 0 the threshold has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from auditor.errors import InputError
from auditor.messages import listed, plain, shown
from auditor.model import checks
from auditor.model.building import build, chosen, decimal, sides_of, split
from auditor.model.formats.xml import Node
from auditor.model.intervals import Bins, are_intervals
from auditor.version import __version__

if TYPE_CHECKING:
    from auditor.model.spec import AttributeSpec, ModelSpec, ValueSpec

#: Rows that a model without counts is taken to come from; PMML has counts only, and only ratios matter.
ROWS = 1_000_000

_INFINITE = {"-INF": -Decimal("Infinity"), "INF": Decimal("Infinity")}


@dataclass(frozen=True)
class _Input:
    """An attribute: its values, and for each the count with the favourable and the unfavourable decision."""

    name: str
    values: list[dict[str, str]]
    rows: tuple[list[Decimal], list[Decimal]]


@dataclass(frozen=True)
class _Piece:
    """A bin: a range of numbers, and whether it contains its ends."""

    label: str
    low: Decimal
    high: Decimal
    has_low: bool
    has_high: bool


def from_pmml(root: Node, *, sensitive: Sequence[str], favourable: str | None, name: str) -> ModelSpec:
    """Turn a PMML document into a model.

    Raises
    ------
    InputError
        If it has no naive Bayes model, or one that can't be audited; with the reason.
    """
    model = root.child("NaiveBayesModel")
    if model is None:
        kinds = [node.tag for node in root.children() if node.tag.endswith("Model")]
        root.refuse(
            f"has no NaiveBayesModel but {plain(', '.join(kinds)) or 'no model at all'}; give another"
        )
    dictionary = root.child("DataDictionary")
    declared = dictionary.keyed("DataField", "name") if dictionary is not None else {}
    labels = {field: _labels(node, field) for field, node in declared.items()}
    output = model.child("BayesOutput")
    if output is None:
        root.refuse("BayesOutput is missing; write the model anew")
    decision = _field(output)
    totals = _counts(output, decision)
    codes = list(totals)
    sides = [codes[i] for i in sides_of(codes, favourable, root.source, shown(decision))]
    threshold = _number(model, "threshold", "NaiveBayesModel")
    inputs = model.child("BayesInputs")
    fields = inputs.keyed("BayesInput", "fieldName", "field") if inputs is not None else {}
    attributes = [
        _input(node, field, labels.get(field, {}), sides, threshold) for field, node in fields.items()
    ]
    names = [attribute.name for attribute in attributes]
    protected = chosen(split(sensitive, names), names, root.source, "attribute")
    # Some programs write smoothed counts, whose sum exceeds the rows. Then only their ratios are taken.
    counted = all(
        sum(row) <= totals[side]
        for attribute in attributes
        for row, side in zip(attribute.rows, sides, strict=True)
    )
    named = labels.get(decision, {})
    tree: dict[str, Any] = {
        "name": name,
        "decision": {
            "name": decision,
            "favourable": {"value": sides[0], "label": named.get(sides[0], sides[0])},
            "unfavourable": {"value": sides[1], "label": named.get(sides[1], sides[1])},
            "counts": {"favourable": totals[sides[0]], "unfavourable": totals[sides[1]]},
        },
        "attributes": [
            {
                "name": attribute.name,
                "label": (declared[attribute.name].get("displayName") or None)
                if attribute.name in declared
                else None,
                "sensitive": attribute.name in protected,
                "values": attribute.values,
                "counts" if counted else "likelihood": {
                    side: row if counted else _shares(row)
                    for side, row in zip(checks.SIDES, attribute.rows, strict=True)
                },
            }
            for attribute in attributes
        ],
        "provenance": {"description": f"Imported from a PMML NaiveBayesModel{_program(root)}."},
    }
    return build(tree, root.source)


def _labels(field: Node, name: str) -> dict[str, str]:
    """Return the values that a field of the dictionary declares, with their labels."""
    found: dict[str, str] = {}
    for value in field.children("Value"):
        if value.get("property", "valid") == "valid":
            code = value.get("value")
            if code in found:
                field.refuse(f"{shown(name)} declares the value {shown(code)} twice; keep one of them")
            found[code] = value.get("displayValue") or code
    return found


def _program(root: Node) -> str:
    header = root.child("Header")
    program = header.child("Application") if header is not None else None
    name = "" if program is None else program.get("name")
    return f" made by {plain(name)}" if name.strip() else ""


def _field(node: Node) -> str:
    return node.get("fieldName") or node.get("field")


def _shares(row: list[Decimal]) -> list[Decimal]:
    total = sum(map(Fraction, row), Fraction(0))
    return [decimal(Fraction(number) / total) if total else number for number in row]


def _input(
    node: Node, name: str, labels: Mapping[str, str], sides: Sequence[str], threshold: Decimal
) -> _Input:
    if node.child("TargetValueStats") is not None:
        node.refuse(
            f"{shown(name)} is continuous with a distribution, and patterns need values; cut it "
            "into bins and fit the model again"
        )
    pairs = {value: _counts(pair, name) for value, pair in node.keyed("PairCounts", "value").items()}
    strange = dict.fromkeys(code for counts in pairs.values() for code in counts if code not in sides)
    if strange:
        node.refuse(
            f"{shown(name)} has counts for {listed(strange)}, and the decision is {listed(sides)}; "
            "correct them"
        )
    derived = node.child("DerivedField")
    if derived is not None:
        values = _bins(derived, name, pairs)
    else:
        undeclared = [code for code in pairs if labels and code not in labels]
        if undeclared:
            node.refuse(
                f"{shown(name)} has counts for {listed(undeclared)}, and DataDictionary declares "
                f"{listed(labels)}; correct one of them"
            )
        # A value that the dictionary declares and the model has no counts of was never seen, and is left out.
        order = [code for code in labels if code in pairs] or list(pairs)
        values = {code: {"value": code, "label": labels.get(code, code)} for code in order}
    first, second = ([pairs[code].get(side, Decimal(0)) for code in values] for side in sides)
    if threshold and (0 in first or 0 in second):
        node.refuse(
            f"{shown(name)} has counts of 0, for which the threshold {threshold} stands in, and so "
            "its probabilities don't add up to 1; fit the model with Laplace smoothing"
        )
    return _Input(name, list(values.values()), (first, second))


def _bins(derived: Node, name: str, pairs: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Read a number that is cut into bins, which must be intervals without gaps, in any order."""
    cut = derived.child("Discretize")
    if cut is None:
        derived.refuse(
            f"{shown(name)} is derived from data in a way that is not read; only Discretize into "
            "intervals without gaps is: prepare the data outside the model"
        )
    if cut.get("field", name) != name:
        cut.refuse(
            f"{shown(name)} is cut from another field, {shown(cut.get('field'))}; name the field that "
            "stands in the data"
        )
    pieces = sorted(
        (_piece(part, label, name) for label, part in cut.keyed("DiscretizeBin", "binValue").items()),
        key=lambda piece: (piece.low, piece.high),
    )
    bins = _joined(cut, name, pieces)
    labels = [piece.label for piece in pieces]
    if wrong := [label for label in pairs if label not in labels] + [b for b in labels if b not in pairs]:
        cut.refuse(
            f"{shown(name)} has bins {listed(labels)} and counts for {listed(pairs)}; give counts for each "
            f"bin, and {shown(wrong[0])} in both or in neither"
        )
    return {label: {"value": code, "label": label} for label, code in zip(labels, bins.codes, strict=True)}


def _piece(part: Node, label: str, name: str) -> _Piece:
    interval = part.child("Interval")
    if interval is None:
        part.refuse(f"{shown(name)}: bin {shown(label)} has no Interval; give it one")
    closure = interval.get("closure")
    if closure not in ("openOpen", "openClosed", "closedOpen", "closedClosed"):
        part.refuse(
            f"{shown(name)}: the closure {shown(closure)} of bin {shown(label)} is not known; correct it"
        )
    low, high = (
        _margin(interval, margin, missing, name)
        for margin, missing in (("leftMargin", "-INF"), ("rightMargin", "INF"))
    )
    if low >= high:
        part.refuse(f"{shown(name)}: bin {shown(label)} ends where it begins, or before; correct its margins")
    return _Piece(label, low, high, closure.startswith("closed"), closure.endswith("Closed"))


def _margin(interval: Node, margin: str, missing: str, name: str) -> Decimal:
    text = (interval.get(margin) or missing).strip()
    if text.upper().replace("INFINITY", "INF") in _INFINITE:
        return _INFINITE[text.upper().replace("INFINITY", "INF")]
    try:
        return checks.exact(Decimal(text))
    except (InvalidOperation, ValueError):
        interval.refuse(f"{shown(name)}: {margin} {shown(text)} is not a number; correct it")


def _joined(cut: Node, name: str, pieces: Sequence[_Piece]) -> Bins:
    """Put bins together that are sorted by their ends and must meet."""
    if len(pieces) < 2:
        cut.refuse(f"{shown(name)} is cut into fewer than two bins, which tells nothing; leave it out")
    first, last = pieces[0], pieces[-1]
    if first.low.is_finite() or last.high.is_finite():
        end = f"start at {first.low}" if first.low.is_finite() else f"end at {last.high}"
        cut.refuse(
            f"the bins of {shown(name)} {end}, so that numbers beyond have none; leave out the "
            "leftMargin of the first bin and the rightMargin of the last one"
        )
    for lower, upper in pairwise(pieces):
        fault = None
        if lower.high != upper.low:
            fault = "leave a gap" if lower.high < upper.low else "overlap"
        elif lower.has_high == upper.has_low:
            fault = f"both contain {upper.low}" if upper.has_low else f"both leave out {upper.low}"
        if fault:
            cut.refuse(
                f"the bins {shown(lower.label)} and {shown(upper.label)} of {shown(name)} {fault}; only "
                "Discretize into intervals that meet is read: correct their margins"
            )
    if len({piece.has_low for piece in pieces[1:]}) > 1:
        cut.refuse(
            f"some bins of {shown(name)} contain their lower end and others their upper one; let all contain "
            "the same"
        )
    closed: Literal["left", "right"] = "left" if last.has_low else "right"
    return Bins(tuple(_short(piece.low) for piece in pieces[1:]), closed)


def _short(number: Decimal) -> Decimal:
    """Leave out zeros at the end, and exponents of thousands."""
    return decimal(Fraction(number)) if number == number.to_integral_value() else number.normalize()


def _counts(node: Node, name: str) -> dict[str, Decimal]:
    counts = node.child("TargetValueCounts")
    found = counts.keyed("TargetValueCount", "value") if counts is not None else {}
    return {value: _number(count, "count", name) for value, count in found.items()}


def _number(node: Node, attribute: str, name: str) -> Decimal:
    text = node.get(attribute)
    try:
        return checks.count(Decimal(text.strip()))
    except (InvalidOperation, ValueError):
        node.refuse(f"{shown(name)}: {attribute} {shown(text)} is not a number from 0; correct it")


def to_pmml(model: ModelSpec) -> str:
    """Return the model as a PMML 4.4 document.

    Counts are the model's own where it has them and doesn't smooth; else they are its probabilities times the
    rows, to 40 digits, since PMML has no smoothing of this kind. Bins are written as ``Discretize``.

    Raises
    ------
    InputError
        If the ranges of a number leave numbers out, which then would be text.
    """
    bayes, decision = model.naive_bayes(), model.decision
    counts = decision.counts
    total = Fraction(counts.favourable) + Fraction(counts.unfavourable) if counts else Fraction(ROWS)
    rows = ((1 - bayes.prior) * total, bayes.prior * total)
    as_counted = model.repair is None and not model.smoothing
    # The favourable value comes second, where importers that aren't told look for it.
    sides = (decision.unfavourable, decision.favourable)
    root = Element("PMML", version="4.4", xmlns="http://www.dmg.org/PMML-4_4")
    SubElement(SubElement(root, "Header"), "Application", name="auditor", version=__version__)
    dictionary = SubElement(root, "DataDictionary", numberOfFields=str(len(model.attributes) + 1))
    _write_field(dictionary, decision.name, sides)
    fitted = SubElement(
        root, "NaiveBayesModel", modelName=model.name, functionName="classification", threshold="0"
    )
    schema, inputs = SubElement(fitted, "MiningSchema"), SubElement(fitted, "BayesInputs")
    for spec, exact in zip(model.attributes, bayes.attributes, strict=True):
        bins = _bins_of(spec)
        field = _write_field(dictionary, spec.name, () if bins else spec.values)
        if spec.label is not None:
            field.set("displayName", spec.label)
        SubElement(schema, "MiningField", name=spec.name)
        one = SubElement(inputs, "BayesInput", fieldName=spec.name)
        if bins:
            _write_bins(one, spec, bins)
        for v, value in enumerate(spec.values):
            both = [decimal(exact.likelihood[v][1] * rows[0]), decimal(exact.likelihood[v][0] * rows[1])]
            if as_counted and spec.counts is not None:
                both = [spec.counts.unfavourable[v], spec.counts.favourable[v]]
            pair = SubElement(one, "PairCounts", value=value.label if bins else value.value)
            _write_counts(pair, sides, both)
    SubElement(schema, "MiningField", name=decision.name, usageType="target")
    output = SubElement(fitted, "BayesOutput", fieldName=decision.name)
    _write_counts(output, sides, [decimal(row) for row in rows])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _bins_of(spec: AttributeSpec) -> Bins | None:
    codes = [value.value for value in spec.values]
    bins = Bins.of(codes)
    if bins is None and are_intervals(codes):
        raise InputError(
            f"{spec.name}: the ranges {', '.join(codes)} leave out numbers or don't stand in their order, "
            "and so can't be written as bins; let them cut the whole line, as [-inf,30) and [30,inf) do"
        )
    return bins


def _write_field(dictionary: Element, name: str, values: Sequence[ValueSpec]) -> Element:
    """Declare a field with these values, or one of numbers."""
    optype, kind = ("categorical", "string") if values else ("continuous", "double")
    field = SubElement(dictionary, "DataField", name=name, optype=optype, dataType=kind)
    for value in values:
        label = {"displayValue": value.label} if value.label != value.value else {}
        SubElement(field, "Value", {"value": value.value, **label})
    return field


def _write_bins(parent: Element, spec: AttributeSpec, bins: Bins) -> None:
    derived = SubElement(
        parent, "DerivedField", name=f"{spec.name} in bins", optype="categorical", dataType="string"
    )
    cut = SubElement(derived, "Discretize", field=spec.name)
    closure = "closedOpen" if bins.closed == "left" else "openClosed"
    ends = [None, *map(str, bins.edges), None]
    for value, low, high in zip(spec.values, ends, ends[1:], strict=False):
        margins = {"leftMargin": low, "rightMargin": high}
        part = SubElement(cut, "DiscretizeBin", binValue=value.label)
        given = {name: margin for name, margin in margins.items() if margin is not None}
        SubElement(part, "Interval", {"closure": closure, **given})


def _write_counts(parent: Element, sides: Sequence[ValueSpec], counts: Sequence[Decimal]) -> None:
    element = SubElement(parent, "TargetValueCounts")
    for side, count in zip(sides, counts, strict=True):
        SubElement(element, "TargetValueCount", value=side.value, count=str(count))
