"""How many patterns discriminate in some model of a set, and how many in every one.

In a set of models the log-odds γ of a context lie in ``[G0, G1]`` and the strength s of x in ``[S0, S1]``.
For one s a context discriminates iff γ is in an open interval ``(l, h)``, which only grows with |s|.

* Some model discriminates iff ``[G0, G1]`` meets that of S0 or that of S1. Where these two overlap, they are
  one, ``(l, h)``, which is missed iff ``G1 <= l`` or ``G0 >= h``, of which only one can be. Where they don't,
  it is missed also between them.
* Every model does iff ``[G0, G1]`` lies within that of the s nearest 0, both ends of s being on one side of
  it: neither ``G0 <= l`` nor ``G1 >= h``, which both can be.

So all is counted by bounds of one end and, rarely, of both (`Pairs`). Contexts within rounding of a bound are
settled in rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

from auditor.choices import ReachVerdict
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.interval_counts import End, Half, Pairs
from auditor.search.criteria import Criterion
from auditor.search.extremes import Tables, greatest, least, options_of
from auditor.search.extremes import product as product_of
from auditor.search.limits import DEFAULT, Limits
from auditor.search.ranges import Ranges, Ratio

#: Beyond every sum and every other bound, and far enough within int64.
_BEYOND = 1 << 60
#: Bisections, and what the work on one x costs besides, in bisections.
_STEPS, _EACH = 1 << 26, 1 << 13
#: Length of the sorted half, and sensitive attributes of which every set is listed.
_LONGEST, _LISTED = 1 << 18, 12
#: Contexts within rounding of a bound that are settled one by one.
_UNDECIDED = 1 << 12

_ENDS: tuple[End, End] = (0, 1)

#: An open interval of γ in units: its ends surely outside and surely inside, the lower ones first.
_Interval = tuple[int, int, int, int]


@dataclass(frozen=True)
class SetCounts:
    """How many patterns discriminate in the models of a set."""

    some: tuple[int, int]
    every: tuple[int, int]
    """At least and at most so many discriminate in some model, and in every one."""
    reason: str | None = None
    """Why one of them isn't known exactly."""


class _TooMuch(Exception):
    """A count is out of reach; the message says why."""


def count_in_set(
    ranges: Ranges,
    criterion: Criterion,
    verdict: ReachVerdict,
    audited: tuple[int, int],
    limits: Limits = DEFAULT,
) -> SetCounts:
    """Count the patterns that discriminate in some model of a set, and in every one.

    Parameters
    ----------
    ranges : Ranges
    criterion : Criterion
    verdict : ReachVerdict
        What was decided of the set. Where that is nothing, nothing is counted.
    audited : (int, int)
        At least and at most so many discriminate in one model of the set.
    limits : Limits

    Raises
    ------
    RuntimeError
        If a count contradicts the verdict or the count of the model. That is a bug.
    """
    some, every = (_Counting(ranges, criterion, limits, certain=certain) for certain in (False, True))
    if verdict == "inconclusive":
        return SetCounts((audited[0], some.total), (0, audited[1]), "the verdict is open")
    in_some = in_every = 0, 0
    reasons: list[str | None] = []
    if verdict != "all-delta-fair":
        least, most, reason = some.run()
        in_some = max(least, audited[0], 1), most
        reasons.append(reason)
    if verdict == "none-delta-fair":
        least, most, reason = every.run()
        in_every = max(least, 1), min(most, audited[1])
        reasons.append(reason)
    if any(least > most for least, most in (in_some, in_every, (audited[0], in_some[1]))):
        raise RuntimeError("the number of patterns in a set of models contradicts what else is known of it")
    return SetCounts(in_some, in_every, next(filter(None, reasons), None))


class _Counting:
    """The patterns that discriminate in some model of a set, or in every one."""

    def __init__(self, ranges: Ranges, criterion: Criterion, limits: Limits, *, certain: bool) -> None:
        self._ranges, self._criterion, self._limits, self._certain = ranges, criterion, limits, certain
        self._ratios = [[ranges.ratio(i, v) for v in range(len(row))] for i, row in enumerate(ranges.values)]
        self._options = [options_of(row, certain=certain) for row in self._ratios]
        self._tables = Tables(ranges, self._options)
        self._undecided = 0
        self._open = 0

    def run(self) -> tuple[int, int, str | None]:
        """At least and at most how many there are, and what is open."""
        found = 0
        try:
            ordered, listed = self._split()
            half = Half([self._tables.rows[i] for i in ordered])
            for disclosed, rest in listed:
                found += self._over(disclosed, rest, ordered, half)
        except _TooMuch as reason:
            return found, self.total, str(reason)
        said = f"{self._open:,} patterns lie within rounding of the threshold" if self._open else None
        return found, found + self._open, said

    @property
    def total(self) -> int:
        """The number of all pairs (x, y)."""
        sizes = [len(row) for row in self._ratios]
        sensitive = self._ranges.sensitive
        return prod(1 + m * (1 + (i in sensitive)) for i, m in enumerate(sizes)) - prod(1 + m for m in sizes)

    def _split(self) -> tuple[list[int], list[tuple[tuple[int, ...], list[int]]]]:
        """The attributes of the sorted half, and for each set X those of the listed one."""
        sizes, sensitive = [len(row) for row in self._options], self._ranges.sensitive
        if len(sensitive) > _LISTED:
            raise _TooMuch(f"{len(sensitive)} attributes are sensitive; sets of {_LISTED} are counted")
        ordered: list[int] = []
        length, whole = 1, prod(sizes)
        for i, size in enumerate(sizes):
            if i not in sensitive and length * size <= _LONGEST and (length * size) ** 2 <= whole * size:
                ordered.append(i)
                length *= size
        listed = [
            (x, [i for i in range(len(sizes)) if i not in (*x, *ordered)])
            for n in range(1, len(sensitive) + 1)
            for x in combinations(sensitive, n)
        ]
        steps = sum(
            prod(len(self._ratios[i]) for i in x) * (_EACH + 4 * prod(sizes[i] for i in rest))
            for x, rest in listed
        )
        if steps > _STEPS:
            raise _TooMuch(f"it would take {Decimal(steps):.1e} bisections; at most {_STEPS:,} are made")
        return ordered, listed

    def _over(self, disclosed: tuple[int, ...], rest: list[int], ordered: list[int], half: Half) -> int:
        """How many there surely are over a set X."""
        pairs: Pairs | None = None
        found = 0
        for values in product(*(range(len(self._ratios[i])) for i in disclosed)):
            x = tuple(zip(disclosed, values, strict=True))
            ends = self._strength(x)
            if ends is None or not (intervals := self._intervals(ends)):
                continue
            if self._limits.expired():
                raise _TooMuch("the time limit was reached")
            if pairs is None:
                pairs = Pairs(Half([self._tables.rows[i] for i in rest], self._tables.start), half)
            inside, outside = (self._inside(pairs, intervals, surely=surely) for surely in (True, False))
            found += inside
            if inside < outside:
                settled = self._settle(pairs, intervals, ends, rest + ordered)
                if settled is None:
                    self._open += outside - inside
                else:
                    found += settled
        return found

    def _strength(self, x: Assignment) -> tuple[Ratio, Ratio] | None:
        """Both ends of ``e^s``; None if x can't occur in any model."""
        found = [ratio for i, v in x if (ratio := self._ratios[i][v])]
        pinned = {end for low, high in found for end in (low, high) if (low, high) in ((0, 0), (inf, inf))}
        if len(found) < len(x) or len(pinned) == 2:
            return None
        if pinned:
            (end,) = pinned
            return end, end
        return product_of(low for low, _ in found), product_of(high for _, high in found)

    def _intervals(self, ends: tuple[Ratio, Ratio]) -> list[_Interval]:
        """Those of the strengths that count: of both ends, or of the one that is nearest 0."""
        low, high = ends
        if self._certain:
            if low <= 1 <= high:
                return []
            strengths = {low if low > 1 else high}
        else:
            strengths = {low, high}
        found = []
        for ratio in sorted(strengths):
            a, b = (Fraction(1), Fraction(0)) if ratio == inf else (Fraction(ratio), Fraction(1))
            interval = self._criterion.interval(a, b)
            if interval:
                slack = self._tables.slack
                (l0, l1), (h0, h1) = map(self._units, interval)
                l0, l1 = (l0 - slack, l1 + slack) if interval[0] is not None else (-_BEYOND, -_BEYOND)
                h0, h1 = (h0 - slack, h1 + slack) if interval[1] is not None else (_BEYOND, _BEYOND)
                found.append((l0, l1, h0, h1))
        return found

    def _units(self, end: Decimal | None) -> tuple[int, int]:
        """A bound in fixed point, rounded down and up; nearer than what stands for infinity."""
        if end is None:
            return 0, 0
        far = self._tables.far // 2
        scaled = end * (1 << self._tables.bits)
        if abs(scaled) >= far:
            return (far, far) if scaled > 0 else (-far, -far)
        return int(scaled.to_integral_value(ROUND_FLOOR)), int(scaled.to_integral_value(ROUND_CEILING))

    def _inside(self, pairs: Pairs, intervals: list[_Interval], *, surely: bool) -> int:
        """How many contexts surely discriminate, or may."""
        bounds = _bounds(intervals, surely=surely)
        if self._certain:
            ((low, high),) = bounds
            covering = pairs.both(0, low, high)
            return len(pairs) - pairs.at_most(0, low) - pairs.at_least(1, high) + covering
        if len(bounds) > 1:
            # What is too narrow to be surely met may be left out; `_settle` does not count then.
            bounds = [(low, high) for low, high in bounds if low < high]
        if not bounds:
            return 0
        lows, highs = zip(*bounds, strict=True)
        missed = pairs.at_most(1, min(lows)) + pairs.at_least(0, max(highs))
        if len(bounds) == 1 and lows[0] >= highs[0]:
            missed -= pairs.both(1, lows[0], highs[0])
        elif max(lows) >= min(highs):
            missed += pairs.both(1, max(lows), min(highs))
        return len(pairs) - missed

    def _is_inside(self, ends: tuple[int, int], intervals: list[_Interval]) -> bool:
        """Whether a context with these ends of γ surely discriminates."""
        first, second = ends if self._certain else ends[::-1]
        return any(low < first and second < high for low, high in _bounds(intervals, surely=True))

    def _settle(
        self, pairs: Pairs, intervals: list[_Interval], ends: tuple[Ratio, Ratio], attributes: list[int]
    ) -> int | None:
        """How many of the contexts within rounding of a bound discriminate; None if they are too many."""
        if len(intervals) > 1 and any(low >= high for low, high in _bounds(intervals, surely=True)):
            return None
        near: set[tuple[int, int]] = set()
        for pair in self._near(pairs, intervals):
            if not self._is_inside(pairs.ends(pair), intervals):
                near.add(pair)
            if self._undecided + len(near) > _UNDECIDED:
                return None
        self._undecided += len(near)
        return sum(self._discriminates(ends, attributes, pairs.choice(pair)) for pair in near)

    @staticmethod
    def _near(pairs: Pairs, intervals: list[_Interval]) -> Iterator[tuple[int, int]]:
        for l0, l1, h0, h1 in intervals:
            for end in _ENDS:
                yield from pairs.between(end, l0, l1)
                yield from pairs.between(end, h0, h1)

    def _discriminates(
        self, ends: tuple[Ratio, Ratio], attributes: list[int], choice: tuple[int, ...]
    ) -> bool:
        """Whether x discriminates in a context, in some model or in every one; decided in rationals."""
        chosen = [self._options[i][option] for i, option in zip(attributes, choice, strict=True)]
        low, high = (product_of((o.ends[e] for o in chosen), self._ranges.odds[e]) for e in (0, 1))
        if self._certain:
            ratio = ends[0] if ends[0] > 1 else ends[1]
            return least(self._criterion, ratio, low, high) > self._criterion.threshold
        return any(greatest(self._criterion, ratio, low, high)[2] for ratio in ends)


def _bounds(intervals: list[_Interval], *, surely: bool) -> list[tuple[int, int]]:
    """Per interval the ``(l, h)`` between which γ is surely in it, or outside which it surely is not."""
    return [(l1, h0) if surely else (l0, h1) for l0, l1, h0, h1 in intervals]
