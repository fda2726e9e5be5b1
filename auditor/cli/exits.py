"""Exit codes: what the end of the process says."""

from collections.abc import Iterable

from auditor.choices import Verdict

BUG, INTERRUPTED = 70, 130
BY_RESULT: dict[str, int] = {"holds": 0, "contents hold": 0, "does not hold": 1, "undecided": 4}
BY_VERDICT: dict[Verdict, int] = {"delta-fair": 0, "not-delta-fair": 1, "inconclusive": 4}

#: Of many models: one that could not be audited may be worse than whatever was found of another.
_WORST_FIRST = (BUG, 3, 1, 4, 0)


def worst(codes: Iterable[int]) -> int:
    """Return the worst of the exit codes of many audits.

    >>> worst([0, 4, 1]), worst([1, 3])
    (1, 3)
    """
    return min(codes, key=_WORST_FIRST.index)
