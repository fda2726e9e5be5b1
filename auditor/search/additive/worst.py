"""The worst patterns by degree, and with them the largest |degree| of a model: the verdict's number."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from math import inf

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import bound, strongest_first, total_combinations
from auditor.search.additive.log_odds import LogOdds, merged
from auditor.search.additive.subset_sums import Choice, nearest
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern


@dataclass(frozen=True)
class Worst:
    """The k worst patterns by |degree|.

    Attributes
    ----------
    patterns : tuple of Pattern
        Largest |degree| first.
    upper : Fraction
        No pair (x, y) of those searched has a larger |degree|. Equal to that of the first pattern when
        complete.
    complete : bool
        Whether no other pattern belongs in the list.
    solved, total : int
        Combinations x whose contexts were searched, and all there are.
    """

    patterns: tuple[Pattern, ...]
    upper: Fraction
    complete: bool
    solved: int
    total: int

    @property
    def lower(self) -> Fraction:
        """The largest |degree| found; 0 where no pair is in scope."""
        return abs(self.patterns[0].degree) if self.patterns else Fraction(0)


def worst_patterns(
    tables: LogOdds,
    criterion: Criterion,
    k: int = 1,
    *,
    only_patterns: bool = False,
    disclosing: int | None = None,
    individual: bool = False,
    limits: Limits = DEFAULT,
) -> Worst:
    r"""The k pairs (x, y) of largest |degree|; ties are broken by `Pattern.key`.

    Branch and bound: the x come by decreasing bound on |degree|, for the difference ``tanh(|s|/4)`` or less
    where contexts don't reach the peak; none whose bound is below the k-th best is solved. For one x the
    best contexts are those whose γ is nearest the peak at ``-s/2``, which meet in the middle finds.

    Parameters
    ----------
    tables : LogOdds
    criterion : Criterion
    k : int
    only_patterns : bool
        Only pairs with ``|degree| > threshold``.
    disclosing : int, optional
        Only x that disclose this sensitive attribute.
    individual : bool
        Only X = S and Y = Z \\ S, all attributes disclosed.
    limits : Limits
    """
    # A first witness at once, whatever the limits. Of longer lists it would have to be taken out again.
    seeded = k == 1 and not (only_patterns or individual) and disclosing is None
    best = [group_level(tables, criterion)] if seeded else []
    upper = Fraction(0)
    complete, solved, nodes = True, 0, 0
    threshold = criterion.threshold
    stream = strongest_first(
        tables, criterion, disclosing=disclosing, whole=individual, neutral=k > 1 or individual
    )
    for ceiling, own, x in stream:
        floor = abs(best[k - 1].degree) if len(best) >= k else threshold if only_patterns else Fraction(-1)
        if ceiling < floor:
            break
        # Once the verdict is known, closing the gap to the bound is worth less.
        known = bool(best) and abs(best[0].degree) > threshold
        if nodes >= (limits.nodes >> 4 if known else limits.nodes) or limits.expired():
            complete, upper = False, max(upper, Fraction(ceiling))
            break
        nodes += 1
        if x is None or own < floor:
            continue
        solved += 1
        contexts, gap = _contexts(tables, criterion, x, k, individual, limits)
        if gap is not None:
            complete = False
            reach = tables.context_reach(x)
            ceiling = min(own, bound(tables, criterion, tables.strength(x), *reach, gap))
            closed = tables.exact.closed(criterion, x)
            upper = max(upper, min(Fraction(ceiling), threshold) if closed else Fraction(ceiling))
        for y in contexts:
            pattern = tables.exact.measure(criterion, x, y)
            if not only_patterns or abs(pattern.degree) > threshold:
                insort(best, pattern, key=_rank)
        del best[k:]
    if not best and not only_patterns:
        best = [_some_pattern(tables, criterion, disclosing, individual)]
    return Worst(
        patterns=tuple(best),
        upper=min(max(upper, abs(best[0].degree)) if best else upper, Fraction(1)),
        complete=complete,
        solved=solved,
        total=total_combinations(tables),
    )


def group_level(tables: LogOdds, criterion: Criterion) -> Pattern:
    """The worst pattern without context, Y = ∅: how far the model is from statistical parity.

    With γ fixed the degree is monotone in s, so that it is worst for the largest or the smallest ratio
    ``P(x | d) / P(x | d̄)``, to which each attribute contributes alone (the paper's lemma).
    """
    candidates = []
    for sign in (1, -1):
        values = [(i, tables.exact.extreme(i, sign)) for i in tables.sensitive]
        if infinite := [(i, v) for i, v in values if sign * tables.values[i][v] == inf]:
            x: Assignment = (infinite[0],)
        else:
            helping = (value for value in values if tables.exact.sign(*value) == sign)
            x = tuple(helping) or (values[0],)
        candidates.append(tables.exact.measure(criterion, x, ()))
    return min(candidates, key=_rank)


def _rank(pattern: Pattern) -> tuple[Fraction, tuple[int, Assignment, Assignment]]:
    return -abs(pattern.degree), pattern.key


def _contexts(
    tables: LogOdds, criterion: Criterion, x: Assignment, k: int, individual: bool, limits: Limits
) -> tuple[list[Assignment], int | None]:
    """The contexts in which x can be among the k worst, and the gap of a search that wasn't complete."""
    outside = tables.outside(x)
    strength = tables.strength(x)
    if strength == -inf and criterion.peak(strength) == -inf:
        # The degree is the same whatever the context: all tie.
        return list(islice(_smallest_contexts(tables, outside, individual), k)), None
    peak = float(criterion.peak(strength))
    # peak is -s/2, in halves of units: doubling everything would keep the half, but the slack covers it.
    target = peak if abs(peak) == inf else round(peak) - tables.prior
    rows = [tables.options[i][1:] if individual else tables.options[i] for i in outside]
    # Beyond 2^-27 from the peak a nearer context gains less than 2^-54 of the degree.
    enough = -1 if abs(target) == inf else 1 << max(0, tables.bits - 27)
    found = nearest(rows, target, k, tables.slack + 1, enough, limits)
    shift = 1 if individual else 0
    contexts = [_assignment(tables, outside, choice, shift) for choice in found.choices]
    return _nearest_the_peak(tables, criterion, x, contexts, k), None if found.complete else found.gap


def _nearest_the_peak(
    tables: LogOdds, criterion: Criterion, x: Assignment, contexts: list[Assignment], k: int
) -> list[Assignment]:
    """The k contexts of largest |degree|, exactly; of those that tie, the shortest."""
    if len(contexts) <= k:
        return contexts
    nearest_first: list[Assignment] = []
    for tied in tables.exact.worst_first(criterion, x, contexts):
        nearest_first += sorted(tied, key=lambda y: (len(y), y))
        if len(nearest_first) >= k:
            break
    return nearest_first[:k]


def _assignment(tables: LogOdds, attributes: tuple[int, ...], choice: Choice, shift: int) -> Assignment:
    """The values chosen from the rows of `LogOdds.options`; entry 0 stands for "not disclosed"."""
    return tuple(
        (i, tables.finite[i][entry + shift - 1])
        for i, entry in zip(attributes, choice, strict=True)
        if entry + shift > 0
    )


def _smallest_contexts(
    tables: LogOdds, attributes: tuple[int, ...], individual: bool
) -> Iterator[Assignment]:
    """Contexts of finite log-odds in the order of `Pattern.key`."""
    sizes = [len(attributes)] if individual else range(len(attributes) + 1)
    for size in sizes:
        for chosen in combinations(attributes, size):
            for values in product(*(tables.finite[i] for i in chosen)):
                yield tuple(zip(chosen, values, strict=True))


def _some_pattern(tables: LogOdds, criterion: Criterion, disclosing: int | None, individual: bool) -> Pattern:
    """A pair (x, y) of degree 0 where nothing moves the decision, in any case one that can occur."""

    def value(i: int) -> tuple[int, int]:
        return i, next(v for v, z in enumerate(tables.values[i]) if z != -inf)

    if individual:
        x = tuple(value(i) for i in tables.sensitive)
        y = tuple(value(i) for i in range(len(tables.values)) if i not in tables.sensitive)
        return tables.exact.measure(criterion, x, y)
    i = tables.sensitive[0] if disclosing is None else disclosing
    return tables.exact.measure(criterion, merged((value(i),)), ())
