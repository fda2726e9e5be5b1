"""Fair models beside sensitive attributes that are not to move: their prior is far out.

The further the prior's odds are from 1, the less any disclosure moves the decision, by the difference; by the
ratio they have to be far up. Only a value that occurs under one decision alone moves it however far they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.baselines import independent_but, shifted
from auditor.repair.counts import Counts
from auditor.repair.decimals import rounded_model
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits

#: Share of the threshold that a model uses up.
_SHARE = Fraction(7, 10)
#: The odds of the prior are moved in factors of 2^(1/4), up to so many.
_FACTOR, _MOST = 2**0.25, 160


def beside_kept(
    counts: Counts, criteria: Sequence[Criterion], keep: Collection[int], limits: Limits
) -> list[NaiveBayes]:
    """Models that are fair with room by all criteria, the most likely one first.

    Beside what is kept either all attributes say nothing about the decision, or the sensitive ones don't; the
    prior goes up or down, as little as a bisection finds to suffice.
    """
    inner = [replace(criterion, threshold=criterion.threshold * _SHARE) for criterion in criteria]
    sensitive = {i for i in counts.model.sensitive if i not in keep}
    others = {i for i in range(len(counts.model.attributes)) if i not in keep}
    shifts = [
        _far_enough(independent_but(counts, moved), factor, inner, keep, limits)
        for moved in (sensitive, others)
        for factor in (_FACTOR, 1 / _FACTOR)
    ]
    return sorted((one for one in shifts if one), key=counts.log_likelihood, reverse=True)


def _far_enough(
    base: NaiveBayes, factor: float, criteria: Sequence[Criterion], keep: Collection[int], limits: Limits
) -> NaiveBayes | None:
    """A model with its prior so far out that it is fair; None if none is, or there is no time to see it."""

    def at(steps: int) -> NaiveBayes:
        return rounded_model(shifted(base, Fraction(factor**steps)), keep)

    if not is_fair(at(_MOST), criteria, limits):
        return None
    low, high = -1, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_fair(at(middle), criteria, limits) else (middle, high)
    return at(high)


def is_fair(model: Classifier, criteria: Iterable[Criterion], limits: Limits) -> bool:
    """Whether the exact search proves a model fair by all criteria, within limits."""
    tables = tables_of(model)
    found = ((c, worst_patterns(tables, c, only_patterns=True, limits=limits)) for c in criteria)
    return all(not worst.patterns and worst.upper <= c.threshold for c, worst in found)
