"""Which patterns become constraints in a round."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import replace
from math import isinf, prod

from auditor.choices import CutRanking
from auditor.model.naive_bayes import Assignment
from auditor.repair.conditions import Conditions
from auditor.repair.problem import Cut
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.subset_sums import Leaves, nearest
from auditor.search.additive.worst import Strongest, worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits
from auditor.search.pattern import Pattern

#: Sets and directions that get cuts in a round that sets no number, and cuts of each: more of them cost more
#: to solve than they save in rounds.
_MOST, _OF_EACH = 64, 2
#: Contexts that may be dense, and how near, relatively, the degree is to its supremum if they are.
_MANY, _NEXT_TO = 1 << 16, 1e-8
#: A γ within 2^-20 of the peak is as good as any: the degree there is within 2^-40 of the greatest. Where two
#: lists of this length don't hold all sums, one so near is found without going through them.
_NEAR_BITS, _ENTRIES = 20, 1 << 16


def find_cuts(
    tables: LogOdds,
    criterion: Criterion,
    rank_by: CutRanking,
    per_round: int | None,
    limits: Limits,
    conditions: Conditions,
) -> list[Cut]:
    """Discrimination patterns of a model, as cuts.

    Parameters
    ----------
    rank_by : {"discrimination", "divergence"}
    per_round : int or None
        How many of the worst. None takes, by discrimination, the worst of each set of disclosed attributes
        and each direction, which differ enough that few rounds are needed.
    conditions : Conditions
        As `cut_of` takes them.
    """
    if rank_by == "divergence":
        found: Iterable[Pattern] = top_patterns(
            tables, criterion, per_round or _MOST, "divergence", limits=limits
        ).patterns
    elif per_round is None:
        found = worst_of_each(tables, criterion, _MOST, limits, of_each=_OF_EACH)
    else:
        found = worst_patterns(tables, criterion, per_round, only_patterns=True, limits=limits).patterns
    return [cut_of(pattern, tables, criterion, conditions) for pattern in found]


def cut_of(pattern: Pattern, tables: LogOdds, criterion: Criterion, conditions: Conditions) -> Cut:
    """The cut that forbids a pattern: in its context, or in every one where contexts are dense.

    Where there are a great many contexts and one is as bad as any could be, others are next to it, and take
    its place however it is moved: the closed form then loses nothing and saves a round for each of them. But
    conditions can put it out of reach of the sensitive values; fair are then models with contexts elsewhere.
    """
    x, y = pattern.sensitive_values, pattern.context_values
    outside = prod(len(tables.options[i]) for i in tables.outside(x))
    worst = float(criterion.supremum(tables.real(tables.strength(x))))
    dense = (
        not conditions.hold(x) and outside >= _MANY and float(abs(pattern.degree)) >= worst * (1 - _NEXT_TO)
    )
    return Cut(x, None if dense else y, 1 if pattern.degree > 0 else -1, criterion.name)


def worst_of_each(
    tables: LogOdds, criterion: Criterion, most: int, limits: Limits, *, of_each: int = 1
) -> list[Pattern]:
    """The worst discrimination patterns of each set X and direction, the strongest combinations x first.

    Parameters
    ----------
    most : int
        How many sets and directions to look at.
    of_each : int
        How many x of each.
    """
    worst: dict[tuple[tuple[int, ...], bool], list[Pattern]] = {}
    strongest, leaves = Strongest(tables, criterion), Leaves()
    strongest.floor = float(criterion.threshold)
    for ceiling, own, x in strongest:
        if ceiling <= criterion.threshold or limits.expired():
            break
        if x is None:
            continue
        kind = tuple(i for i, _ in x), tables.strength(x) > 0
        if kind not in worst and len(worst) >= most:
            break
        known = worst.setdefault(kind, [])
        if len(known) >= of_each and abs(known[-1].degree) >= own:
            continue
        y = _context_near_peak(tables, criterion, x, limits, leaves)
        pattern = tables.exact.measure(criterion, x, y)
        if abs(pattern.degree) > criterion.threshold:
            insort(known, pattern, key=lambda pattern: -abs(pattern.degree))
            del known[of_each:]
    return [pattern for known in worst.values() for pattern in known]


def _context_near_peak(
    tables: LogOdds, criterion: Criterion, x: Assignment, limits: Limits, leaves: Leaves
) -> Assignment:
    """A context whose γ is nearest to where |degree| is greatest, or so near that it hardly matters."""
    outside = tables.outside(x)
    peak = float(criterion.peak(tables.strength(x)))
    target = peak if isinf(peak) else round(peak) - tables.prior
    near = 1 << max(0, tables.bits - _NEAR_BITS)
    few = replace(limits, entries=min(limits.entries, _ENTRIES))
    found = nearest([tables.options[i] for i in outside], target, 1, 0, near, few, leaves)
    return tuple(
        (i, tables.finite[i][entry - 1]) for i, entry in zip(outside, found.choices[0], strict=True) if entry
    )
