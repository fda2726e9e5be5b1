"""How far a verdict reaches: what holds for every model of a set.

In a set of models (`Ranges`) the log-odds γ of a context lie in ``[G0, G1]`` and the strength s of x in
``[S0, S1]``, independently, since x and y are about different attributes. For a fixed γ |degree| grows with
|s|, and for a fixed s it falls on both sides of its peak, so that

    sup |degree| = max over s in {S0, S1} of |degree| at the γ in [G0, G1] that is nearest the peak,
    inf |degree| = min over γ in {G0, G1} of |degree| at the s in [S0, S1] that is nearest 0.

Both grow with that s whatever the context is. So only those x need to be looked at that have, of each
attribute, the value that does most for s in one direction: one for each set of sensitive attributes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isinf, isnan
from typing import Literal

import numpy as np

from auditor.choices import ReachVerdict
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.additive.interval_sums import meet
from auditor.search.criteria import LOST, Criterion, ln
from auditor.search.extremes import (
    Option,
    Tables,
    Where,
    greatest,
    least,
    log,
    options_of,
    product,
    shares,
)
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern
from auditor.search.ranges import Range, Ranges, Ratio

#: Length of the lists with which each set of attributes is tried first.
_QUICK = 1 << 11
#: Parameters of a witness between their ends are worked out to so many bits, to more where that is needed.
_WITNESS_BITS, _MOST_BITS = 64, 1024
#: Covers the rounding of the few float operations behind a bound.
_ROUND_UP = 1 + 1e-12
#: Boxes that are tried when the largest is searched.
_SMALLEST, _GREATEST = Fraction(1, 10**9), 10**3


@dataclass(frozen=True)
class Parameter:
    """The two probabilities of a value in a model."""

    attribute: int
    value: int
    favourable: Fraction
    unfavourable: Fraction


@dataclass(frozen=True)
class Extreme:
    """A model of the set, as far as one pattern depends on it, and the degree that the pattern has in it."""

    sensitive_values: Assignment
    context_values: Assignment
    prior: Fraction
    """P(favourable)."""
    parameters: tuple[Parameter, ...]
    """Of the values of the pattern, in order of attribute."""
    given_pattern: Fraction
    given_context: Fraction
    """``P(d | xy)`` and ``P(d | y)``."""
    degree: Fraction


@dataclass(frozen=True)
class Certain:
    """A pattern, and the least |degree| that it has in any model of the set."""

    sensitive_values: Assignment
    context_values: Assignment
    least: Fraction


@dataclass(frozen=True)
class Reach:
    """What is known of all models of a set."""

    verdict: ReachVerdict
    largest: Extreme | None
    """The largest |degree| found; None if no degree in the set is other than 0."""
    upper: Fraction
    """Proved: no model of the set has a pattern of larger |degree|."""
    certain: Certain | None
    """The pattern found whose least |degree| is largest; None where no pattern's is above 0, or no model of
    the set has a discrimination pattern.
    """


def reach(
    ranges: Ranges, criterion: Criterion, limits: Limits = DEFAULT, seen: Extreme | None = None
) -> Reach:
    """Decide what holds for every model of a set; exactly, as far as limits let it.

    Parameters
    ----------
    seen : Extreme, optional
        What is known already of a model of the set.

    Raises
    ------
    RuntimeError
        If that contradicts what is proved. That is a bug, and no verdict may stand on it.
    """
    highest = _Search(ranges, criterion, limits, certain=False).run()
    known = abs(seen.degree) if seen else Fraction(0)
    if known > highest.upper:
        raise RuntimeError("a model of a set has a pattern whose degree is above the proved bound")
    if highest.exceeds is None and known > criterion.threshold:
        highest = replace(highest, exceeds=True)
    lowest = _NOTHING
    if highest.exceeds is not False:
        lowest = _Search(ranges, criterion, limits, certain=True).run()
    verdict: ReachVerdict
    if highest.exceeds is False:
        verdict = "all-delta-fair"
    elif lowest.exceeds:
        verdict = "none-delta-fair"
    else:
        verdict = "varies" if highest.exceeds and lowest.exceeds is False else "inconclusive"
    largest: Extreme | None = None
    if highest.found:
        largest = _witness(ranges, criterion, highest.found, exceeds=bool(highest.exceeds))
    if known > (abs(largest.degree) if largest else 0):
        largest = seen
    upper = max(highest.upper, abs(largest.degree)) if largest else highest.upper
    certain = None
    if lowest.found and lowest.found.value > 0:
        certain = Certain(lowest.found.x, lowest.found.y, lowest.found.value)
    return Reach(verdict, largest, upper, certain)


def extreme_of(model: NaiveBayes, pattern: Pattern) -> Extreme:
    """A pattern of a model as an extreme of any set that has the model."""
    values = sorted(pattern.sensitive_values + pattern.context_values)
    return Extreme(
        pattern.sensitive_values,
        pattern.context_values,
        model.prior,
        tuple(Parameter(i, v, *model.attributes[i].likelihood[v]) for i, v in values),
        pattern.favourable_given_pattern,
        pattern.favourable_given_context,
        pattern.degree,
    )


@dataclass(frozen=True)
class LargestBox:
    """How far a verdict reaches."""

    fair: bool
    """Whether it is that every model is δ-fair, or that one pattern discriminates in all."""
    holds: Fraction
    """An ε for which that is proved; 0 if for none above it."""
    beyond: Fraction | None
    """One for which it isn't, next to the other in three digits or four; None if it is proved for the largest
    that was tried.
    """
    refuted: bool
    """Whether it is shown not to hold for the latter, rather than left open by limits."""


def largest_box(decide: Callable[[Fraction], bool | None], *, fair: bool) -> LargestBox:
    """The box up to which a verdict is proved to hold for every model in it.

    Parameters
    ----------
    decide : callable
        Of an ε, whether it holds; None if that is left open.
    fair : bool
        Whether the verdict is that every model is δ-fair, or that one pattern discriminates in all.
    """
    good, bad = Fraction(0), Fraction(1, 1000)
    refuted = False

    def is_good(share: Fraction) -> bool:
        nonlocal refuted
        found = decide(share)
        refuted = refuted if found else found is False
        return bool(found)

    if is_good(bad):
        while is_good(bad):
            good, bad = bad, bad * 10
            if good >= _GREATEST:
                return LargestBox(fair, good, None, refuted=False)
    else:
        while not good and bad > _SMALLEST:
            smaller = bad / 10
            good, bad = (smaller, bad) if is_good(smaller) else (good, smaller)
    unit = good / 1000
    while good and bad - good > unit:
        middle = good + unit * ((bad - good) / unit // 2)
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return LargestBox(fair, good, bad, refuted)


def decided(ranges: Ranges, criterion: Criterion, *, fair: bool, limits: Limits = DEFAULT) -> bool | None:
    """Whether every model of a set is δ-fair, or one pattern discriminates in all; None if left open."""
    exceeds = _Search(ranges, criterion, limits, certain=not fair).run(decide=True).exceeds
    return exceeds if exceeds is None or not fair else not exceeds


@dataclass(frozen=True)
class _Found:
    """A pattern with the sup or inf of its |degree| from below, and the ends where that is."""

    x: Assignment
    y: Assignment
    value: Fraction
    end: Literal[0, 1]
    """The end of the interval of s."""
    where: Where
    """The end of the interval of γ, or the peak between them."""


@dataclass(frozen=True)
class _Outcome:
    """What a search found and proved; ``exceeds`` is None where it didn't decide."""

    found: _Found | None
    upper: Fraction
    exceeds: bool | None


_NOTHING = _Outcome(None, Fraction(0), exceeds=False)


class _Search:
    """The largest sup, or the largest inf, that |degree| of any pattern has over the models of a set."""

    def __init__(self, ranges: Ranges, criterion: Criterion, limits: Limits, *, certain: bool) -> None:
        self._ranges, self._criterion, self._limits, self._certain = ranges, criterion, limits, certain
        ratios = [[ranges.ratio(i, v) for v in range(len(row))] for i, row in enumerate(ranges.values)]
        self._options = [_undominated(row, certain=certain) for row in ratios]
        self._columns = {sign: self._strongest(ratios, sign) for sign in (1, -1)}
        self._tables = Tables(ranges, self._options)
        self._prior = float(ln(ranges.odds[0])), float(ln(ranges.odds[1]))
        # So wide that the rounding of floats is covered too: sums have five times the slack in room.
        self._margin = 8 * (self._tables.slack + 2) / (1 << self._tables.bits)
        self._reach = [
            (min(float(log(o.ends[0])) for o in row), max(float(log(o.ends[1])) for o in row))
            for row in self._options
        ]

    def run(self, *, decide: bool = False) -> _Outcome:
        """Branch on the sets of sensitive attributes, those that can reach most first.

        With ``decide`` no more is found out than whether the value exceeds the threshold.
        """
        threshold, limits = self._criterion.threshold, self._limits
        # Entries: a bound on a set and all that can be added to it; the direction; how many attributes were
        # settled; the set.
        heap: list[tuple[float, int, int, tuple[int, ...]]] = []

        def push(sign: int, depth: int, chosen: tuple[int, ...]) -> None:
            columns = self._columns[sign]
            if chosen or depth < len(columns):
                bound = self._bound(sign, chosen, (*chosen, *range(depth, len(columns))))
                heapq.heappush(heap, (-bound, -sign, -depth, chosen))

        push(1, 0, ())
        push(-1, 0, ())
        best: _Found | None = None
        best_exceeds = False
        upper, exceeds, undecided, nodes = Fraction(0), False, False, 0
        while heap:
            ceiling, sign, depth, chosen = heapq.heappop(heap)
            ceiling, sign, depth = -ceiling, -sign, -depth
            if best and ceiling < best.value:
                break
            if decide and (exceeds or ceiling <= threshold):
                upper = max(upper, Fraction(ceiling))
                break
            if nodes >= limits.nodes or limits.expired():
                upper = max(upper, Fraction(ceiling))
                undecided |= ceiling > threshold
                break
            nodes += 1
            if depth < len(self._columns[sign]):
                push(sign, depth + 1, (*chosen, depth))
                push(sign, depth + 1, chosen)
                continue
            x = tuple(sorted(self._columns[sign][j][:2] for j in chosen))
            found, proved, beyond, sure = self._solve(x, sign, Fraction(ceiling))
            upper, exceeds = max(upper, proved), exceeds or beyond
            undecided |= not sure and proved > threshold
            # What exceeds the threshold comes first: from below, both may be rounded to the same.
            if best is None or (beyond, found.value) > (best_exceeds, best.value):
                best, best_exceeds = found, beyond
        return _Outcome(best, upper, exceeds=True if exceeds else None if undecided else False)

    def _strongest(
        self, ratios: list[list[tuple[Ratio, Ratio] | None]], sign: int
    ) -> list[tuple[int, int, Ratio]]:
        """Per sensitive attribute the value that does most for s in a direction; the strongest first."""
        end = int((sign > 0) != self._certain)
        found = []
        for i in self._ranges.sensitive:
            of_value = [(ratio[end], v) for v, ratio in enumerate(ratios[i]) if ratio]
            best, v = max(of_value, key=lambda entry: (sign * entry[0], -entry[1]))
            if sign * best > sign:
                found.append((i, v, best))
        return sorted(found, key=lambda entry: (-abs(float(log(entry[2]))), entry[0]))

    def _bound(self, sign: int, chosen: tuple[int, ...], reachable: tuple[int, ...]) -> float:
        """At least the value of any x with some columns and none but others, in any context."""
        columns = self._columns[sign]
        s = sign * (sum(abs(float(log(columns[j][2]))) for j in reachable) + self._margin)
        free = set(range(len(self._reach))).difference(columns[j][0] for j in chosen)
        low = self._prior[0] - self._margin + sum(self._reach[i][0] for i in free)
        high = self._prior[1] + self._margin + sum(self._reach[i][1] for i in free)
        with np.errstate(invalid="ignore", over="ignore"):
            bound = float(self._criterion.largest_size(np.array(s), np.array(low), np.array(high)))
        return 1.0 if isnan(bound) else min(bound * _ROUND_UP + LOST, 1.0)

    def _solve(self, x: Assignment, sign: int, ceiling: Fraction) -> tuple[_Found, Fraction, bool, bool]:
        """The best context of x, a bound on all, whether one exceeds the threshold, and whether that is sure.

        A few attributes are tried first: where they reach the peak, nothing is better.
        """
        end: Literal[0, 1] = 1 if (sign > 0) != self._certain else 0
        ratio = product(self._ratio(i, v)[end] for i, v in x)
        disclosed = {i for i, _ in x}
        outside = [i for i in range(len(self._options)) if i not in disclosed]
        best: _Found | None = None
        exceeds = sure = False
        proved = ceiling
        for longest in (_QUICK, self._limits.entries):
            choices, complete, others = self._contexts(ratio, outside, longest)
            largest = Fraction(0)
            for choice in choices:
                options = [self._options[i][option] for i, option in zip(outside, choice, strict=True)]
                low = product((option.ends[0] for option in options), self._ranges.odds[0])
                high = product((option.ends[1] for option in options), self._ranges.odds[1])
                where: Where = "low"
                if self._certain:
                    value = above = least(self._criterion, ratio, low, high)
                    beyond = value > self._criterion.threshold
                else:
                    value, above, beyond, where = greatest(self._criterion, ratio, low, high)
                largest = max(largest, above)
                complete |= where == "peak"
                if best is None or (beyond, value) > (exceeds, best.value):
                    y = tuple(
                        (i, o.value) for i, o in zip(outside, options, strict=True) if o.value is not None
                    )
                    best = _Found(x, y, value, end, where)
                exceeds |= beyond
            proved = min(proved, largest if complete else max(largest, others))
            if complete:
                sure = True
                break
        assert best is not None
        return best, max(proved, best.value), exceeds, sure

    def _contexts(
        self, ratio: Ratio, outside: list[int], longest: int
    ) -> tuple[list[tuple[int, ...]], bool, Fraction]:
        """Contexts with the best one for a strength, whether none is missing, and a bound on others."""
        peak = float(self._criterion.peak(float(log(ratio))))
        if isinf(peak):
            # Each attribute moves γ, or the farther end of its interval, towards the peak for itself.
            end = int((peak > 0) != self._certain)
            pick = max if peak > 0 else min
            return (
                [
                    tuple(
                        pick(range(len(row)), key=lambda o: row[o].ends[end])
                        for row in (self._options[i] for i in outside)
                    )
                ],
                True,
                Fraction(1),
            )
        target = self._tables.units(log(ratio)) // -2
        rows = [self._tables.rows[i] for i in outside]
        met = meet(rows, self._tables.start, target, self._tables.slack, longest, certain=self._certain)
        if met.miss is None:
            return met.choices, met.complete, Fraction(1)
        # |degree| falls with the distance from the peak, which is a few units off at most.
        distance = max(0.0, met.miss / (1 << self._tables.bits) - self._margin)
        bound = float(self._criterion.size(float(log(ratio)), peak + distance))
        return met.choices, met.complete, Fraction(min(bound * _ROUND_UP + LOST, 1.0))

    def _ratio(self, attribute: int, value: int) -> tuple[Ratio, Ratio]:
        ratio = self._ranges.ratio(attribute, value)
        assert ratio is not None
        return ratio


def _undominated(row: list[tuple[Ratio, Ratio] | None], *, certain: bool) -> list[Option]:
    """The options of an attribute without those that another is at least as good as, whatever else is known.

    Wide intervals are best for the sup, narrow ones for the inf.
    """
    options = options_of(row, certain=certain)
    side = -1 if certain else 1
    options.sort(key=lambda o: (side * o.ends[0], -side * o.ends[1], o.value is not None))
    kept: list[Option] = []
    for option in options:
        if not kept or side * option.ends[1] > side * kept[-1].ends[1]:
            kept.append(option)
    return kept


def _witness(ranges: Ranges, criterion: Criterion, found: _Found, *, exceeds: bool) -> Extreme:
    """A model of the set in which a pattern has the largest |degree| that it has in any, or next to it.

    Between the ends of the interval of γ all parameters move together, in shares of 2^-bits.
    """
    p0, p1 = ranges.prior
    fixed = [Parameter(i, v, *_at_end(ranges.values[i][v], found.end)) for i, v in found.x]
    ratio = product(_quotient(q.favourable, q.unfavourable) for q in fixed)

    def at(share: Fraction) -> Extreme:
        moving = [
            Parameter(i, v, a0 + (a1 - a0) * share, b1 - (b1 - b0) * share)
            for i, v in found.y
            for (a0, a1), (b0, b1) in [ranges.values[i][v]]
        ]
        prior = p0 + (p1 - p0) * share
        odds = product((_quotient(q.favourable, q.unfavourable) for q in moving), prior / (1 - prior))
        parameters = tuple(sorted((*fixed, *moving), key=lambda q: q.attribute))
        after, before = shares(ratio, odds)
        degree = criterion.degree(after, before)
        return Extreme(found.x, found.y, prior, parameters, after, before, degree)

    if found.where != "peak":
        return at(Fraction(int(found.where == "high")))
    bits = _WITNESS_BITS
    while True:
        model = _between(at, bits)
        if not exceeds or abs(model.degree) > criterion.threshold or bits >= _MOST_BITS:
            return model
        bits *= 2


def _between(at: Callable[[Fraction], Extreme], bits: int) -> Extreme:
    """The model of largest |degree| on a line on which it first rises and then falls."""
    low, high = 1, (1 << bits) - 1
    while low < high:
        middle = (low + high) // 2
        here, there = (abs(at(Fraction(m, 1 << bits)).degree) for m in (middle, middle + 1))
        low, high = (middle + 1, high) if here < there else (low, middle)
    return at(Fraction(low, 1 << bits))


def _at_end(rows: tuple[Range, Range], end: int) -> tuple[Fraction, Fraction]:
    (a0, a1), (b0, b1) = rows
    return (a1, b0) if end else (a0, b1)


def _quotient(a: Fraction, b: Fraction) -> Ratio:
    return a / b if b else inf
