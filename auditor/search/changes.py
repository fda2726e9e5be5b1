"""What changed between the answers of two models: the patterns that are gone, new, or worse."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.log_odds import merged
from auditor.search.additive.overlap import Overlap, Side, grew, overlap, shared_labels, worst_lost
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: So many of the worst patterns of a model are looked through for those that changed.
_LOOKED_THROUGH = 1000

#: A pattern of one model, and the same one of the other; None where that hasn't it.
_Both = tuple[Pattern, Pattern | None]


@dataclass(frozen=True)
class Answered:
    """A model and what was found of it."""

    model: Classifier
    criterion: Criterion
    """With the threshold."""
    count: int | None
    """Its discrimination patterns of any probability; None where they weren't counted."""


@dataclass(frozen=True)
class Changed:
    """Patterns that changed in one way."""

    count: int | None
    """None if they can't be counted."""
    reason: str | None
    """Why not."""
    patterns: tuple[tuple[Pattern | None, Pattern | None], ...]
    """The worst of them before and after; None where a model hasn't the values, or they never occur together.
    """


@dataclass(frozen=True)
class Changes:
    """The patterns that are no longer one, that became one, and that stayed one with a larger |degree|."""

    gone: Changed
    new: Changed
    worse: Changed


def changes(before: Answered, after: Answered, top: int, limits: Limits = DEFAULT) -> Changes:
    """Compare the discrimination patterns of two models, each by its own criterion and threshold.

    A pattern is the same in both if it gives the same values, by their labels, to the same attributes.

    Parameters
    ----------
    top : int
        How many patterns of each kind to list.
    """
    old, new = (Side(side.model, side.criterion) for side in (before, after))
    counts = [
        count_patterns(side.tables, side.criterion, limits).total if known is None else known
        for side, known in ((old, before.count), (new, after.count))
    ]
    common = _common(old, new, counts, limits)
    gone, fresh = (None if count is None or common.both is None else count - common.both for count in counts)
    reason = None if gone is not None and fresh is not None else common.both_reason
    of_old = _worst(old, new, limits) if gone != 0 else []
    of_new = _worst(new, old, limits) if fresh != 0 or common.worse != 0 else []
    worse = [
        (theirs, mine)
        for mine, theirs in (of_new if common.worse != 0 else ())
        if theirs is not None
        and old.criterion.threshold < abs(theirs.degree)
        and grew(old, new, _pair(theirs), _pair(mine))
    ]
    lost = _lost(old, new, of_old, top, limits) if gone != 0 else []
    won = _lost(new, old, of_new, top, limits) if fresh != 0 else []
    return Changes(
        gone=Changed(gone, reason, tuple(lost)),
        new=Changed(fresh, reason, tuple((before, after) for after, before in won)),
        worse=Changed(common.worse, common.worse_reason, tuple(worse[:top])),
    )


def _pair(pattern: Pattern) -> tuple[Assignment, Assignment]:
    return pattern.sensitive_values, pattern.context_values


def _common(old: Side, new: Side, counts: list[int | None], limits: Limits) -> Overlap:
    if 0 in counts:
        return Overlap(0, 0)
    if None in counts:
        return Overlap(None, None, *["not all patterns of both models could be counted"] * 2)
    return overlap(old, new, limits)


def _worst(side: Side, other: Side, limits: Limits) -> list[_Both]:
    """The worst patterns of one model, and the same ones of the other."""
    found = worst_patterns(side.tables, side.criterion, _LOOKED_THROUGH, only_patterns=True, limits=limits)
    return [(pattern, _measured(side, other, pattern)) for pattern in found.patterns]


def _lost(side: Side, other: Side, worst: list[_Both], top: int, limits: Limits) -> list[_Both]:
    """The worst patterns of one model that are none of the other, by its parameters or by its values."""
    exact = side.tables.exact
    here = (exact.measure(side.criterion, x, y) for x, y in worst_lost(side, other, top, limits))
    pairs = [(pattern, _measured(side, other, pattern)) for pattern in here]
    by_values = {
        (mine.sensitive_values, mine.context_values): (mine, theirs)
        for mine, theirs in (*pairs, *worst)
        if abs(mine.degree) > side.criterion.threshold
        and (theirs is None or abs(theirs.degree) <= other.criterion.threshold)
    }
    return sorted(by_values.values(), key=lambda pair: (-abs(pair[0].degree), pair[0].key))[:top]


def _measured(side: Side, other: Side, pattern: Pattern) -> Pattern | None:
    """The same pattern in the other model; None if it has no such values, or they never occur together."""
    moved = shared_labels(side, other, pattern.sensitive_values, pattern.context_values)
    if moved is None or not sum(other.model.joint(merged(*moved))):
        return None
    return other.tables.exact.measure(other.criterion, *moved)
