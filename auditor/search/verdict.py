"""The verdict, from what two algorithms found and proved in exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from auditor.search.additive.counting import sample_patterns
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.worst import Worst, worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern


@dataclass(frozen=True)
class Decision:
    """Whether a model is δ-fair.

    Attributes
    ----------
    verdict : str
    witness : Pattern or None
        The worst pattern found; None if no pattern is in scope.
    upper : Fraction
        Proved upper bound on every |degree|.
    count : int or None
        Exact number of discrimination patterns: 0 of a δ-fair model, even where it was not counted.
    """

    verdict: Literal["delta-fair", "not-delta-fair", "inconclusive"]
    witness: Pattern | None
    upper: Fraction
    count: int | None

    @property
    def lower(self) -> Fraction:
        """The largest |degree| that was found."""
        return abs(self.witness.degree) if self.witness else Fraction(0)


def worst_in_scope(
    tables: LogOdds, criterion: Criterion, min_probability: Fraction | None, limits: Limits = DEFAULT
) -> Worst:
    """The pattern of largest |degree| and a proved bound, of the patterns that are probable enough."""
    worst = worst_patterns(tables, criterion, limits=limits)
    if min_probability is None or worst.patterns[0].probability >= min_probability:
        return worst
    ranking = top_patterns(
        tables, criterion, 1, "discrimination", min_probability, only_patterns=False, limits=limits
    )
    found = max((abs(pattern.degree) for pattern in ranking.patterns), default=Fraction(0))
    upper = found if ranking.complete else max(found, min(worst.upper, Fraction(min(ranking.upper, 1.0))))
    return replace(worst, patterns=ranking.patterns, upper=upper, complete=ranking.complete)


def decide(
    tables: LogOdds,
    criterion: Criterion,
    found: Sequence[Pattern],
    upper: Fraction,
    count: int | None,
    min_probability: Fraction | None = None,
) -> Decision:
    """Decide from what was found and what was proved.

    Parameters
    ----------
    tables : LogOdds
    criterion : Criterion
    found : sequence of Pattern
        Patterns in scope, the worst that searches found among them.
    upper : Fraction
        Proved upper bound on every |degree|.
    count : int or None
        Exact number of discrimination patterns, found by another algorithm.
    min_probability : Fraction, optional
        Only patterns that are at least so probable are in scope, and were counted.

    Raises
    ------
    RuntimeError
        If the two algorithms disagree. That is a bug, and no verdict may stand on it.
    """
    threshold = criterion.threshold
    if count and not any(abs(pattern.degree) > threshold for pattern in found):
        # The searches ended too early to find one of the patterns that were counted.
        if min_probability is None:
            found = sample_patterns(tables, criterion, 1) or found
        else:
            found = top_patterns(tables, criterion, 1, "probability", min_probability).patterns or found
    witness = max(found, key=lambda pattern: abs(pattern.degree), default=None)
    refuted = witness is not None and abs(witness.degree) > threshold
    if (refuted and count == 0) or (upper <= threshold and (refuted or count)):
        raise RuntimeError("the search for the worst pattern and the count of all patterns disagree")
    if count == 0:
        upper = min(upper, threshold)
    if refuted or count:
        return Decision("not-delta-fair", witness, upper, count)
    if upper <= threshold:
        return Decision("delta-fair", witness, upper, 0)
    return Decision("inconclusive", witness, upper, count)
