"""The shares of a scorecard's values in data: what the population that conforms with it is known by."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from auditor.data.encoding import column_of, unnamed_cells, values_of
from auditor.data.tables import Progress, Table, reject
from auditor.messages import shown
from auditor.model.building import build_scorecard, decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from auditor.model.scorecard import ScorecardAttribute, ScorecardSpec

#: Values of a column that an error names.
_NAMED = 10


def with_shares(spec: ScorecardSpec, table: Table, progress: Progress = lambda stage: None) -> ScorecardSpec:
    """Return a scorecard with the shares of its values in a table, and no others.

    Missing cells count for the bin of missing values, where there is one, and else for none.

    Raises
    ------
    InputError
        If a column is missing, or has cells that the scorecard gives no points for; with a line per problem.
    """
    names = [column_of(table.columns, attribute.name) for attribute in spec.attributes]
    reject(table.problems(names, "an attribute"))
    groups, _ = table.groups((), names, (), progress)
    tree = spec.model_dump()
    problems: list[str] = []
    for attribute, name, group, part in zip(spec.attributes, names, groups, tree["attributes"], strict=True):
        problems += unnamed_cells(group.cells[-1], attribute, name, table)
        rows, strange = _rows(attribute, group.cells[-1], group.rows.tolist(), table)
        if strange:
            named = ", ".join(map(shown, sorted(strange)[:_NAMED]))
            problems.append(
                f"{table.name}: column {shown(name)} has {named}, for which the scorecard has no value; "
                "leave these rows out, or correct them"
            )
        elif not sum(rows):
            problems.append(f"{table.name}: column {shown(name)} has no cells with a value of the scorecard")
        else:
            for value, number in zip(part["values"], rows, strict=True):
                value["share"] = decimal(Fraction(number, sum(rows)))
        part["undisclosed"] = None
    reject(problems)
    return build_scorecard({**tree, "undisclosed": None}, table.name)


def _rows(
    attribute: ScorecardAttribute, cells: Sequence[str | None], rows: list[int], table: Table
) -> tuple[list[int], set[str]]:
    """How many rows have each value, and the cells that have none."""
    code = values_of(cells, attribute, table.dialect)
    found, strange = [0] * len(attribute.values), set()
    for cell, number in zip(cells, rows, strict=True):
        place = code[cell]
        if place >= 0:
            found[place] += number
        elif place == -2:
            strange.add(str(cell))
    return found, strange
