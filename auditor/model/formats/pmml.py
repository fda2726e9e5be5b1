"""PMML 4 ``NaiveBayesModel`` with discrete inputs.

P(value | decision) is the count of the pair divided by the sum of those of all values with that decision, and
the prior is that of the output's counts. Nothing is smoothed: ``threshold`` stands in for a count of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model import checks
from auditor.model.building import build, chosen, decimal, split
from auditor.model.formats.xml import child, children
from auditor.model.intervals import Bins

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from auditor.model.spec import ModelSpec


class _Input(NamedTuple):
    """An attribute: its values, and for each the count with the favourable and the unfavourable decision."""

    name: str
    values: list[str | dict[str, str]]
    rows: tuple[list[Decimal], list[Decimal]]


def from_pmml(
    root: Element, source: str, *, sensitive: Sequence[str], favourable: str | None, name: str
) -> ModelSpec:
    """Turn a PMML document into a model.

    Raises
    ------
    InputError
        If it has no naive Bayes model, or one that can't be audited; with the reason.
    """
    document = _Document(root, source)
    decision, totals = document.decision()
    sides = list(totals)
    if favourable is not None and favourable not in totals:
        document.refuse(
            f"{shown(decision)} has no value {shown(favourable)}; it is {shown(sides[0])} or "
            f"{shown(sides[1])}"
        )
    wanted = sides[1] if favourable is None else favourable
    other = sides[1 - sides.index(wanted)]
    inputs = document.inputs((wanted, other))
    names = [attribute.name for attribute in inputs]
    protected = chosen(split(sensitive, names), names, source, "attribute")
    # Some programs write smoothed counts, which exceed the rows: their ratios are what is meant.
    counted = all(
        sum(row) <= totals[side]
        for attribute in inputs
        for row, side in zip(attribute.rows, (wanted, other), strict=True)
    )
    tree: dict[str, Any] = {
        "name": name,
        "decision": {
            "name": decision,
            "favourable": document.labelled(decision, wanted),
            "unfavourable": document.labelled(decision, other),
            "counts": {"favourable": totals[wanted], "unfavourable": totals[other]},
        },
        "attributes": [
            {
                "name": attribute.name,
                "sensitive": attribute.name in protected,
                "values": attribute.values,
                "counts" if counted else "likelihood": {
                    side: row if counted else _shares(row)
                    for side, row in zip(("favourable", "unfavourable"), attribute.rows, strict=True)
                },
            }
            for attribute in inputs
        ],
        "provenance": {"description": document.description()},
    }
    return build(tree, source)


def _shares(row: list[Decimal]) -> list[Decimal]:
    total = sum(map(Fraction, row), Fraction(0))
    return [decimal(Fraction(number) / total) if total else number for number in row]


class _Document:
    """Reads the parts of a document, and knows its name for messages."""

    def __init__(self, root: Element, source: str) -> None:
        self._source = source
        model = child(root, "NaiveBayesModel")
        if model is None:
            kinds = [e.tag.rpartition("}")[2] for e in root if str(e.tag).endswith("Model")]
            self.refuse(
                f"has no NaiveBayesModel but {plain(', '.join(kinds)) or 'no model at all'}; give another"
            )
        self._model = model
        self._threshold = self._number(model, "threshold", "NaiveBayesModel")
        dictionary = child(root, "DataDictionary")
        fields = children(dictionary, "DataField") if dictionary is not None else []
        self._labels = {
            str(field.get("name", "")): {
                str(value.get("value", "")): str(value.get("displayValue") or value.get("value", ""))
                for value in children(field, "Value")
                if value.get("property", "valid") == "valid"
            }
            for field in fields
        }
        header = child(root, "Header")
        program = child(header, "Application") if header is not None else None
        self._program = "" if program is None else str(program.get("name", ""))

    def refuse(self, reason: str) -> NoReturn:
        raise InputError(f"{escaped(self._source)}: {reason}")

    def description(self) -> str:
        made = f" made by {plain(self._program)}" if self._program.strip() else ""
        return f"Imported from a PMML NaiveBayesModel{made}."

    def labelled(self, field: str, code: str) -> dict[str, str]:
        return {"value": code, "label": self._labels.get(field, {}).get(code, code)}

    def decision(self) -> tuple[str, dict[str, Decimal]]:
        """Return the decision's name, and the rows with each of its two values."""
        output = child(self._model, "BayesOutput")
        if output is None:
            self.refuse("BayesOutput is missing; write the model anew")
        name = output.get("fieldName") or output.get("field") or ""
        totals = self._counts(child(output, "TargetValueCounts"), name)
        if len(totals) != 2:
            self.refuse(
                f"{shown(name)} has {len(totals)} values, and patterns are defined for two; fit the model on "
                "the favourable value against all others"
            )
        return name, totals

    def inputs(self, sides: tuple[str, str]) -> list[_Input]:
        """Return the attributes, with the counts of the favourable side first."""
        inputs = child(self._model, "BayesInputs")
        return [self._input(element, sides) for element in children(inputs, "BayesInput")] if inputs else []

    def _input(self, element: Element, sides: tuple[str, str]) -> _Input:
        name = element.get("fieldName") or element.get("field") or ""
        if child(element, "TargetValueStats") is not None:
            self.refuse(
                f"{shown(name)} is continuous with a distribution, and patterns need values; cut it "
                "into bins and fit the model again"
            )
        pairs = {
            pair.get("value", ""): self._counts(child(pair, "TargetValueCounts"), name)
            for pair in children(element, "PairCounts")
        }
        derived = child(element, "DerivedField")
        values: dict[str, str | dict[str, str]]
        if derived is not None:
            values = self._bins(name, derived, list(pairs))
        else:
            # Values that the dictionary has and the model hasn't were never seen.
            order = [code for code in self._labels.get(name, {}) if code in pairs]
            values = {code: self.labelled(name, code) for code in dict.fromkeys([*order, *pairs])}
        first, second = ([pairs.get(code, {}).get(side, Decimal(0)) for code in values] for side in sides)
        if self._threshold and (0 in first or 0 in second):
            self.refuse(
                f"{shown(name)} has counts of 0, for which the threshold {self._threshold} stands in, and so "
                "its probabilities don't add up to 1; fit the model with Laplace smoothing"
            )
        return _Input(name, list(values.values()), (first, second))

    def _bins(self, name: str, derived: Element, codes: list[str]) -> dict[str, str | dict[str, str]]:
        """Read a number that is cut into bins; those must be intervals without gaps."""
        cut = child(derived, "Discretize")
        found: dict[str, str] = {}
        for part in children(cut, "DiscretizeBin") if cut is not None else []:
            interval = child(part, "Interval")
            if interval is not None:
                low, high = interval.get("leftMargin", "-inf"), interval.get("rightMargin", "inf")
                closure = interval.get("closure", "closedOpen")
                before, after = (
                    "[" if closure.startswith("closed") else "(",
                    "]" if closure.endswith("Closed") else ")",
                )
                # An end that is infinite is written as open or closed by different programs.
                found[part.get("binValue", "")] = f"{before}{low},{high}{after}"
        closed = "right" if any(code.endswith("]") for code in found.values()) else "left"
        ends = {"left": ("[", ")"), "right": ("(", "]")}[closed]
        written = {
            label: f"{ends[0]}{code[1:-1]}{ends[1]}" if "inf" in code else code
            for label, code in found.items()
        }
        bins = Bins.of(list(written.values()))
        if bins is None or set(written) != set(codes):
            self.refuse(
                f"{shown(name)} is derived from data in a way that is not read; only Discretize into "
                "intervals without gaps is: prepare the data outside the model"
            )
        return {
            label: {"value": code, "label": label} for label, code in zip(written, bins.codes, strict=True)
        }

    def _counts(self, element: Element | None, name: str) -> dict[str, Decimal]:
        found = children(element, "TargetValueCount") if element is not None else []
        return {target.get("value", ""): self._number(target, "count", name) for target in found}

    def _number(self, element: Element, attribute: str, name: str) -> Decimal:
        text = element.get(attribute, "")
        try:
            return checks.count(Decimal(text.strip()))
        except (InvalidOperation, ValueError):
            self.refuse(f"{shown(name)}: {attribute} {shown(text)} is not a number from 0; correct it")
