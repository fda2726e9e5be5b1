"""Exit codes: what the end of the process says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from auditor.choices import ReachVerdict, Verdict

if TYPE_CHECKING:
    from auditor.documents.audit import Audit

BUG, INTERRUPTED = 70, 130
BY_RESULT: dict[str, int] = {"holds": 0, "contents hold": 0, "does not hold": 1, "undecided": 4}
BY_VERDICT: dict[Verdict, int] = {"delta-fair": 0, "not-delta-fair": 1, "inconclusive": 4}
BY_REACH: dict[ReachVerdict, int] = {
    "all-delta-fair": 0,
    "none-delta-fair": 1,
    "varies": 1,
    "inconclusive": 4,
}

#: Of many models: one that could not be audited may be worse than whatever was found of another.
_WORST_FIRST = (BUG, 3, 1, 4, 0)


def of_audit(document: Audit) -> int:
    """Return the worst of what an audit found of its model, and of other models if it was asked about any."""
    others = document.how_far.verdicts if document.how_far else ()
    return worst([BY_VERDICT[document.verdict], *(BY_REACH[verdict] for verdict in others)])


def worst(codes: Iterable[int]) -> int:
    """Return the worst of the exit codes of many audits.

    >>> worst([0, 4, 1]), worst([1, 3])
    (1, 3)
    """
    return min(codes, key=_WORST_FIRST.index)
