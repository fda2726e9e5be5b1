"""Exit codes: what the end of the process says."""

from auditor.choices import Verdict

BUG, INTERRUPTED = 70, 130
BY_RESULT: dict[str, int] = {"holds": 0, "contents hold": 0, "does not hold": 1, "undecided": 4}
BY_VERDICT: dict[Verdict, int] = {"delta-fair": 0, "not-delta-fair": 1, "inconclusive": 4}
