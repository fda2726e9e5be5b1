"""The worst patterns by degree, and with them the largest |degree| of a model: the verdict's number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from heapq import merge
from itertools import combinations, islice, product
from math import inf, isinf, nextafter, prod

import numpy as np

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.birthdays import BITS, sums_near
from auditor.search.additive.combinations import ANY, Combinations, Scope, Xs
from auditor.search.additive.frontier import CONTEXTS, EXTENSIONS, Frontier
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, merged
from auditor.search.additive.sliced_sums import Sliced
from auditor.search.additive.subset_sums import Alike, Choice, Leaves, Nearest, nearest
from auditor.search.criteria import CONTEXT, LOST, Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import UNTOLD, Pattern

#: Covers the rounding of the few float operations behind a bound.
_ROUND_UP = 1 + 1e-12
#: Entries of the frontier looked at together, fewer where they have more children than so many.
_BLOCK, _CHILDREN = 64, 1 << 16
#: Sums nearest the peak that are looked for at once where they are gone through in slices, and where they are
#: too many for that: the next question asks for more of them.
_AHEAD, _BESIDE = 128, 10


@dataclass(frozen=True)
class Worst:
    """The k worst patterns by |degree|."""

    patterns: tuple[Pattern, ...]
    """Largest |degree| first."""
    upper: Fraction
    """No pair (x, y) of those searched has a larger |degree|. That of the first pattern when complete, but
    for digits that are not told.
    """
    complete: bool
    """Whether no other pattern belongs in the list, but for digits of degrees that are not told."""
    solved: int
    total: int
    """Combinations x whose contexts were searched, and all there are."""

    @property
    def lower(self) -> Fraction:
        """The largest |degree| found; 0 where no pair is in scope."""
        return abs(self.patterns[0].degree) if self.patterns else Fraction(0)

    @property
    def known(self) -> bool:
        """Whether no pair is worse than the first, but for digits that are not told; others may tie."""
        return bool(self.patterns) and self.lower >= self.upper * (1 - UNTOLD)


@dataclass
class Memory:
    """What the searches of one question share."""

    leaves: Leaves = field(default_factory=dict)
    """Lists of sums."""
    contexts: dict[tuple[Assignment, str], list[Assignment]] = field(default_factory=dict)
    """The worst context of an x, by x and whether contexts disclose everything; only where it was proved."""
    near: dict[tuple[Assignment, str], tuple[int, list[tuple[int, Choice]] | None]] = field(
        default_factory=dict
    )
    """How many of the sums nearest the peak of an x were asked for where they were gone through in slices,
    and these with their distances, or None where that was in vain.
    """
    gone_through: int = 0
    """How many sums were, of both halves."""
    beside: dict[tuple[Assignment, str], list[Assignment]] = field(default_factory=dict)
    """Contexts that are next to the peak of an x, of so many that none can be proved to be the nearest."""
    begun: bool = False
    """Whether a search has already looked for a first witness."""
    worst: dict[frozenset[int], Pattern] = field(default_factory=dict)
    """Of each set X the worst pattern that was measured, in a list or not."""

    def note(self, patterns: Sequence[Pattern]) -> None:
        """Remember the worst of some patterns of one x."""
        if not patterns:
            return
        # Floats tell nearly all apart.
        worst = min(patterns, key=lambda pattern: _rank(pattern)[:2])
        known = self.worst.setdefault(worst.disclosed, worst)
        if abs(worst.degree) > abs(known.degree):
            self.worst[worst.disclosed] = worst


def worst_patterns(
    tables: LogOdds,
    criterion: Criterion,
    k: int = 1,
    *,
    only_patterns: bool = False,
    scope: Scope = ANY,
    limits: Limits = DEFAULT,
    memory: Memory | None = None,
) -> Worst:
    r"""The k pairs (x, y) of largest |degree|; ties are broken by `Pattern.key`.

    Branch and bound: the x come by decreasing bound on |degree|, for the difference ``tanh(|s|/4)`` or less
    where contexts don't reach the peak; none whose bound is below the k-th best is solved. For one x the
    best contexts are those whose γ is nearest the peak at ``-s/2``, which meet in the middle finds.

    Parameters
    ----------
    only_patterns : bool
        Only pairs with ``|degree| > threshold``.
    memory : Memory, optional
        Of earlier searches of the same tables and criterion.
    """
    threshold = criterion.threshold
    best: list[Pattern] = []
    seen: set[tuple[int, Assignment, Assignment]] = set()
    upper = threshold if only_patterns else Fraction(0)
    solved, nodes, complete, ended = 0, 0, True, False
    memory = Memory() if memory is None else memory
    first = k == 1 and not only_patterns and scope == ANY and not memory.begun
    if not first and (not limits.nodes or limits.expired()):
        # Of many parts of an answer each would otherwise take its least time after the end of it.
        some = () if only_patterns else (_some_pattern(tables, criterion, scope),)
        return Worst(some, _supremum(tables, criterion, scope), False, 0, tables.total_combinations)
    memory.begun = True
    strongest = Strongest(tables, criterion, scope, neutral=k > 1 or scope.contexts == "all")
    seed = strongest.seed() if not only_patterns and k == 1 else None

    def solve(x: Assignment, own: float) -> None:
        nonlocal complete, upper, solved
        solved += 1
        contexts, gap = _contexts(tables, criterion, x, k, scope, limits, memory)
        measured = [tables.exact.measure(criterion, x, y) for y in contexts]
        memory.note(measured)
        if gap is not None:
            ceiling = Fraction(min(own, _bound(tables, criterion, x, gap)))
            # The bound is rounded up. Nearly always the degree at the peak is next to one that was found.
            found = max((abs(pattern.degree) for pattern in measured), default=Fraction(0))
            above = nextafter(float(found), 2)
            # Above it by less than what is told, and with room for a supremum that no context reaches.
            step = Fraction(above) * UNTOLD / 4
            untold = (found // step + 2) * step
            for proved in (threshold, Fraction(nextafter(above, 2)), Fraction(above), untold):
                if proved < ceiling and tables.exact.closed(replace(criterion, threshold=proved), x):
                    ceiling = proved
            if not only_patterns or ceiling > threshold:
                complete, upper = False, max(upper, ceiling)
        insert([p for p in measured if not only_patterns or abs(p.degree) > threshold])

    def insert(patterns: list[Pattern]) -> None:
        for pattern in patterns:
            if pattern.key not in seen:
                seen.add(pattern.key)
                best.append(pattern)
        best.sort(key=_rank)
        del best[k:]

    if seed is not None:
        # A first witness at once, whatever the limits.
        solve(seed, 1.0)
        upper, complete, solved = Fraction(0), True, 0
        if scope == ANY:
            insert([group_level(tables, criterion)])
    for ceiling, own, x in strongest:
        floor = abs(best[k - 1].degree) if len(best) >= k else threshold if only_patterns else Fraction(-1)
        strongest.floor = float(floor)
        if ceiling < floor:
            break
        # Once the verdict is known, closing the gap to the bound is worth less.
        known = bool(best) and abs(best[0].degree) > threshold
        spent = nodes << 6 * known >= limits.nodes or strongest.children << 2 * known >= limits.children
        if spent or limits.expired():
            ended, upper = True, max(upper, Fraction(ceiling))
            break
        nodes += _BLOCK if x is None else 1
        if x is None or own < floor:
            continue
        solve(x, own)
    # Of contexts that weren't found none is larger by a digit that is told. Of x that weren't solved some may
    # tie with the last one and come before it.
    complete |= len(best) == k and abs(best[-1].degree) >= upper * (1 - UNTOLD)
    complete &= not ended
    if k > 1 and not only_patterns:
        # Contexts that pin the decision aren't searched: of pairs of degree 0 some are left out.
        complete &= len(best) == k and best[-1].degree != 0
    if not best and not only_patterns:
        best = [_some_pattern(tables, criterion, scope)]
    error = tables.exact.error
    return Worst(
        patterns=tuple(best),
        upper=min(
            max(min(upper, _supremum(tables, criterion, scope)), abs(best[0].degree) * (1 + error))
            if best
            else upper,
            Fraction(1),
        ),
        complete=complete,
        solved=solved,
        total=tables.total_combinations,
    )


def _supremum(tables: LogOdds, criterion: Criterion, scope: Scope) -> Fraction:
    """A bound on every |degree| that takes no search: that of the largest |s| of any x, over every real γ."""
    ends = tables.strengths if scope.only is None else tables.strengths_of(scope.allowed(tables))
    if any(map(isinf, ends)):
        return Fraction(1)
    largest = max(map(abs, ends)) + tables.slack
    return Fraction(min(1.0, float(criterion.supremum(tables.real(largest))) * (1 + 1e-9)))


class Strongest:
    """The combinations x of a scope by decreasing bound on their |degree| in any context.

    Iterating yields a bound on the |degree| of any x that is still to come, one on that of this x, and x;
    None for x between two of them, so that whoever asks can stop.

    Parameters
    ----------
    neutral : bool
        Whether values with λ = 0 may be disclosed beside others. They change no degree.

    Attributes
    ----------
    floor : float
        What is bounded below this may be left out.
    children : int
        How many combinations have been bounded.
    """

    def __init__(
        self, tables: LogOdds, criterion: Criterion, scope: Scope = ANY, *, neutral: bool = False
    ) -> None:
        self._tables, self._criterion = tables, criterion
        self._xs = Combinations(tables, scope, neutral=neutral)
        self._error = tables.error
        self.floor, self.children = -1.0, 0

    def __iter__(self) -> Iterator[tuple[float, float, Assignment | None]]:
        frontier, xs = Frontier(), self._xs
        block = max(1, min(_BLOCK, _CHILDREN // (1 + len(xs.values))))
        if xs.few:
            yield 1.0, 0.0, None
            number = xs.grow()
            self.children += len(number)
            found = xs.at(number)
            own = self._bounds(found.strength, found)
            whole = xs.whole(found) & (own >= self.floor)
            frontier.push(CONTEXTS, number[whole], own[whole])
        else:
            frontier.push(EXTENSIONS, np.zeros(1, dtype=np.int64), np.ones(1))
        while len(frontier):
            ceiling = min(frontier.best, 1.0)
            kind, number, bound = frontier.pop(block)
            extend = kind == EXTENSIONS
            if extend.any():
                yield ceiling, 0.0, None
                found = xs.children(number[extend])
                self.children += len(found)
                own = self._bounds(found.strength, found)
                least, most = xs.range(found)
                below = np.maximum(self._bounds(least, found), self._bounds(most, found))
                whole = xs.whole(found) & (own >= self.floor)
                more = xs.extensible(found) & (below >= self.floor)
                # What is left out takes no room.
                ids = np.full(len(found), -1)
                ids[whole | more] = xs.keep(found[whole | more])
                frontier.push(CONTEXTS, ids[whole], own[whole])
                frontier.push(EXTENSIONS, ids[more], below[more])
                frontier.push(CONTEXTS, number[~extend], bound[~extend])
            else:
                first = int(bound.argmax())
                rest = np.arange(len(bound)) != first
                frontier.push(CONTEXTS, number[rest], bound[rest])
                x = xs.at(number[first : first + 1])
                yield ceiling, ceiling, xs.assignment(int(x.parent[0]), int(x.column[0]))
            frontier.drop(self.floor)

    def seed(self) -> Assignment | None:
        """A likely worst x: one sign's strongest values, as many as are best; None if there is none."""
        tables, xs = self._tables, self._xs
        rows: dict[int, list[int]] = {}
        for i, v in xs.values:
            rows.setdefault(i, []).append(v)
        found: list[tuple[float, int, Assignment]] = []
        for sign in (1, -1):
            order = [max((sign * tables.values[i][v], i, -v) for v in row) for i, row in rows.items()]
            order.sort(key=lambda entry: (entry[1] == xs.scope.disclosing, entry), reverse=True)
            x = [(i, -v) for _, i, v in order]
            reach = np.array([tables.reach[i] for i, _ in x], dtype=np.int64).reshape(-1, 2).cumsum(axis=0)
            low, high = (
                tables.reals(end - taken) for end, taken in zip(tables.full_reach, reach.T, strict=True)
            )
            with np.errstate(invalid="ignore"):
                strength = np.cumsum([tables.real(tables.values[i][v]) for i, v in x])
                sizes = self._criterion.largest_size(strength, low, high)
            sizes[np.isnan(strength)] = -inf
            if xs.scope.contexts == "all":
                sizes[: len(xs.order) - 1] = -inf
            if len(sizes) and sizes.max() > -inf:
                best = int(sizes.argmax())
                found.append((-float(sizes[best]), best, merged(tuple(x[: best + 1]))))
        return min(found)[2] if found else None

    def _bounds(self, strength: Floats, xs: Xs) -> Floats:
        """At least |degree| for a strength s, as exact as tables are, and any γ that contexts of x reach."""
        size = np.abs(strength) + self._error
        low, high = (self._tables.reals(xs.low) - self._error, self._tables.reals(xs.high) + self._error)
        bounds = [
            self._criterion.largest_size(s, low, high)
            for s in (
                np.where(strength < 0, -size, size),
                np.where(np.abs(strength) <= self._error, -size, size),
            )
        ]
        return np.minimum(np.maximum(*bounds) * _ROUND_UP + LOST, 1.0)


def _bound(tables: LogOdds, criterion: Criterion, x: Assignment, gap: int) -> float:
    """At least |degree| of x in any context whose γ isn't within a gap of the peak."""
    unit, slack = 1.0 / (1 << tables.bits), tables.slack + 2
    lowest, highest = (
        (end + sign * slack) * unit for end, sign in zip(tables.context_reach(x), (-1, 1), strict=True)
    )
    margin = max(0, gap - slack) * unit
    strength = tables.strength(x)
    largest = 0.0
    # A strength within rounding of 0 may have either sign.
    for sign in (1, -1) if abs(strength) <= slack else (1 if strength > 0 else -1,):
        s = sign * (abs(strength) + slack) * unit
        peak = float(criterion.peak(s))
        nearest_end = min(max(peak, lowest), highest)
        ends = (peak - margin, peak + margin) if margin > abs(nearest_end - peak) else (nearest_end,)
        largest = max(largest, *(float(criterion.size(s, t)) for t in ends))
    return min(largest * _ROUND_UP + LOST, 1.0)


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


def _rank(pattern: Pattern) -> tuple[float, Fraction, tuple[int, Assignment, Assignment]]:
    # Floats are rounded, but never the wrong way round.
    size = abs(pattern.degree)
    return -float(size), -size, pattern.key


def _contexts(
    tables: LogOdds,
    criterion: Criterion,
    x: Assignment,
    k: int,
    scope: Scope,
    limits: Limits,
    memory: Memory,
) -> tuple[list[Assignment], int | None]:
    """The contexts in which x can be among the k worst, and the gap of a search that wasn't complete."""
    if scope.contexts == "none":
        return [()], None
    if k == 1 and (known := memory.contexts.get((x, scope.contexts))):
        return known, None
    individual = scope.contexts == "all"
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
    alike = Alike(rows, [tables.alike[i] for i in outside])
    slack = tables.slack + 1
    found = nearest(alike.rows, target, k, slack, enough, limits, memory.leaves)
    if not found.complete and abs(target) < inf:
        near = _in_slices((x, scope.contexts), alike.rows, int(target), k, slack, limits, memory)
        found = Nearest(near, complete=True, gap=0) if near else found
    shift = 1 if individual else 0
    unused = None if individual else 0
    alike_of = {
        _assignment(tables, outside, next(alike.choices(choice, unused)), shift): choice
        for choice in found.choices
    }

    def same(y: Assignment) -> Iterable[Assignment]:
        if not alike.merges:
            return (y,)
        choices = alike.choices(alike_of[y], unused)
        return (_assignment(tables, outside, choice, shift) for choice in choices)

    contexts = _nearest_the_peak(tables, criterion, x, list(alike_of), same, k)
    if not found.complete:
        if abs(target) < inf and not limits.expired():
            contexts += _beside_the_peak(tables, x, outside, k, scope, limits, memory)
        return _nearest_the_peak(tables, criterion, x, contexts, lambda y: (y,), k), found.gap
    if k == 1:
        memory.contexts[x, scope.contexts] = contexts
    return contexts, None


def _in_slices(
    key: tuple[Assignment, str],
    rows: Sequence[Integers],
    target: int,
    k: int,
    slack: int,
    limits: Limits,
    memory: Memory,
) -> list[Choice] | None:
    """All choices that can be among those of the k sums nearest a target; None if that takes too long."""
    asked, near = memory.near.get(key, (0, None))
    number = prod(map(len, rows))
    k = min(k, number)
    if asked < k:
        search, asked = Sliced(rows), min(max(k, _AHEAD), number)
        if not search.possible or memory.gone_through + search.length > limits.sliced:
            return None
        memory.gone_through += search.length
        near = search.nearest(target, asked, 2 * slack, limits.expired)
        memory.near[key] = asked, near
    if near is None:
        return None
    return [choice for distance, choice in near if distance <= near[k - 1][0] + 2 * slack]


def _beside_the_peak(
    tables: LogOdds,
    x: Assignment,
    outside: tuple[int, ...],
    k: int,
    scope: Scope,
    limits: Limits,
    memory: Memory,
) -> list[Assignment]:
    """Contexts nearer to the peak than tables can tell: γ is off by less than 2^-62, |degree| by far less."""
    key = x, scope.contexts
    if len(memory.beside.get(key, ())) < k:
        exact = tables.exact
        rows = [[_fine(exact.log_odds(i, v)) for v in tables.finite[i]] for i in outside]
        if scope.contexts == "any":
            rows = [[0, *row] for row in rows]
        strength = sum(_fine(exact.log_odds(*value)) for value in x)
        target = -strength // 2 - _fine(exact.log_prior())
        choices = sums_near(rows, target, max(k, _BESIDE), limits.entries, limits.expired)
        shift = 1 if scope.contexts == "all" else 0
        memory.beside[key] = [_assignment(tables, outside, choice, shift) for choice in choices]
    return memory.beside[key]


def _fine(log_odds: Decimal) -> int:
    return round(CONTEXT.multiply(log_odds, Decimal(1 << BITS)))


def _nearest_the_peak(
    tables: LogOdds,
    criterion: Criterion,
    x: Assignment,
    contexts: list[Assignment],
    same: Callable[[Assignment], Iterable[Assignment]],
    k: int,
) -> list[Assignment]:
    """The k contexts of largest |degree|, exactly; of those that tie, the shortest.

    ``same`` gives, for a context, all that differ from it only in attributes that are alike, in order.
    """
    nearest_first: list[Assignment] = []
    for tied in tables.exact.worst_first(criterion, x, contexts) if len(contexts) > 1 else [contexts]:
        in_order = (
            merge(*map(same, tied), key=lambda y: (len(y), y)) if len(tied) != 1 else iter(same(tied[0]))
        )
        nearest_first += islice(in_order, k - len(nearest_first))
        if len(nearest_first) >= k:
            break
    return nearest_first


def _assignment(tables: LogOdds, attributes: tuple[int, ...], choice: Choice, shift: int) -> Assignment:
    """The values chosen from the rows of `LogOdds.options`; entry 0 stands for "not disclosed"."""
    finite, before = tables.finite, shift - 1
    return tuple(
        [(i, finite[i][entry + before]) for i, entry in zip(attributes, choice, strict=True) if entry + shift]
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


def _some_pattern(tables: LogOdds, criterion: Criterion, scope: Scope) -> Pattern:
    """A pair (x, y) that can occur; of degree 0 only where nothing moves the decision, or time is up."""

    def value(i: int) -> tuple[int, int]:
        return i, next(v for v, z in enumerate(tables.values[i]) if z != -inf)

    if scope.contexts == "all":
        x = tuple(value(i) for i in tables.sensitive)
        y = tuple(value(i) for i in range(len(tables.values)) if i not in tables.sensitive)
        return tables.exact.measure(criterion, x, y)
    i = min(scope.allowed(tables)) if scope.disclosing is None else scope.disclosing
    return tables.exact.measure(criterion, merged((value(i),)), ())
