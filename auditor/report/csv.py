"""Tables as CSV (UTF-8); of the patterns of a document a row each, and a column per attribute and part."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from auditor.documents.audit import Audit
from auditor.documents.patterns import PatternList
from auditor.messages import visible

_NUMBERS = (
    "degree",
    "probability",
    "divergence_nats",
    "favourable_given_pattern",
    "favourable_given_context",
)


def cell(name: str) -> str:
    """Write a name so that no spreadsheet takes it for a formula."""
    text = visible(name)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


def named(found: Sequence[Mapping[str, object]], columns: Iterable[str]) -> str:
    """Write rows of cells by the names of their columns; what a row hasn't got is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def rows(document: Audit | PatternList) -> str:
    """Render the top patterns of an audit, or the patterns of a list.

    A sensitive attribute has two columns, since its value can be disclosed or stand in the context.
    """
    chosen = document.top_patterns if isinstance(document, Audit) else document.patterns
    model = document.model
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            "rank",
            *_NUMBERS,
            *(f"sensitive: {visible(name)}" for name in model.sensitive),
            *(f"context: {visible(name)}" for name in model.attributes),
        ]
    )
    for rank, pattern in enumerate(chosen, 1):
        # A divergence can be infinite; without a population it and the probability are left empty.
        nothing = "infinite" if pattern.probability is not None else ""
        numbers = [nothing if (value := getattr(pattern, name)) is None else value for name in _NUMBERS]
        writer.writerow(
            [
                rank,
                *numbers,
                *(cell(pattern.sensitive_values.get(name, "")) for name in model.sensitive),
                *(cell(pattern.context_values.get(name, "")) for name in model.attributes),
            ]
        )
    return text.getvalue()
