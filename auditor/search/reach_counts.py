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

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

from auditor.choices import ReachVerdict
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.interval_counts import End, Half, Pairs
from auditor.search.additive.interval_sums import Row
from auditor.search.additive.subset_sums import Choice
from auditor.search.criteria import Criterion
from auditor.search.extremes import Tables, greatest, least, options_of
from auditor.search.extremes import product as product_of
from auditor.search.limits import DEFAULT, Limits
from auditor.search.ranges import Ranges, Ratio

#: Beyond every sum and every other bound, and far enough within int64.
BEYOND = 1 << 60
#: Bisections, and what the work on one x costs besides, in bisections.
_STEPS, _EACH = 1 << 26, 1 << 13
#: Length of the sorted half, and sensitive attributes of which every set is listed.
_LONGEST, _LISTED = 1 << 18, 12
#: Contexts within rounding of a bound that are settled one by one.
_UNDECIDED = 1 << 12

_ENDS: tuple[End, End] = (0, 1)

#: An open interval of γ in units: its ends surely outside and surely inside, the lower ones first.
Interval = tuple[int, int, int, int]


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
    verdict, audited
        As in `counted`.

    Raises
    ------
    RuntimeError
        If a count contradicts the verdict or the count of the model. That is a bug.
    """
    some, every = (_Counting(ranges, criterion, limits, certain=certain) for certain in (False, True))
    return counted(some, every, verdict, audited)


def counted(some: Counting, every: Counting, verdict: ReachVerdict, audited: tuple[int, int]) -> SetCounts:
    """Count as far as the verdict leaves anything to count.

    Parameters
    ----------
    some, every : Counting
        The patterns that discriminate in some model of a set, and in every one.
    verdict : ReachVerdict
        What was decided of the set. Where that is nothing, nothing is counted.
    audited : (int, int)
        At least and at most so many discriminate in one model of the set.

    Raises
    ------
    RuntimeError
        If a count contradicts the verdict or the count of the model. That is a bug.
    """
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


class Counting(ABC):
    """The pairs (x, y) of a question that are counted for each x, half against sorted half.

    Attributes
    ----------
    sizes : sequence of int
        Values of each attribute.
    sensitive : tuple of int
    rows : sequence of Row
        What each attribute can add to γ, in units.
    start : (int, int)
        The ends of what is added anyway.
    """

    sizes: Sequence[int]
    sensitive: tuple[int, ...]
    rows: Sequence[Row]
    start: tuple[int, int]

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._undecided = 0
        self._open = 0

    @abstractmethod
    def intervals(self, x: Assignment) -> list[Interval]:
        """Those of γ in which x discriminates, none where it does in no context."""

    @abstractmethod
    def discriminates(self, x: Assignment, attributes: list[int], choice: Choice) -> bool:
        """Whether x discriminates in the context of the options chosen of some attributes, exactly."""

    def run(self) -> tuple[int, int, str | None]:
        """At least and at most how many there are, and what is open."""
        found = 0
        try:
            ordered, listed = self._split()
            half = Half([self.rows[i] for i in ordered])
            for disclosed, rest in listed:
                found += self._over(disclosed, rest, ordered, half)
        except _TooMuch as reason:
            return found, self.total, str(reason)
        said = f"{self._open:,} patterns lie within rounding of the threshold" if self._open else None
        return found, found + self._open, said

    @property
    def total(self) -> int:
        """The number of all pairs (x, y)."""
        sizes, sensitive = self.sizes, self.sensitive
        return prod(1 + m * (1 + (i in sensitive)) for i, m in enumerate(sizes)) - prod(1 + m for m in sizes)

    def _split(self) -> tuple[list[int], list[tuple[tuple[int, ...], list[int]]]]:
        """The attributes of the sorted half, and for each set X those of the listed one."""
        sizes, sensitive = [len(row) for row in self.rows], self.sensitive
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
            prod(self.sizes[i] for i in x) * (_EACH + 4 * prod(sizes[i] for i in rest)) for x, rest in listed
        )
        if steps > _STEPS:
            raise _TooMuch(f"it would take {Decimal(steps):.1e} bisections; at most {_STEPS:,} are made")
        return ordered, listed

    def _over(self, disclosed: tuple[int, ...], rest: list[int], ordered: list[int], half: Half) -> int:
        """How many there surely are over a set X."""
        pairs: Pairs | None = None
        found = 0
        for values in product(*(range(self.sizes[i]) for i in disclosed)):
            x = tuple(zip(disclosed, values, strict=True))
            intervals = self.intervals(x)
            if not intervals:
                continue
            if self._limits.expired():
                raise _TooMuch("the time limit was reached")
            if pairs is None:
                pairs = Pairs(Half([self.rows[i] for i in rest], self.start), half)
            inside, outside = (self.inside(pairs, intervals, surely=surely) for surely in (True, False))
            found += inside
            if inside < outside:
                settled = self._settle(pairs, intervals, x, rest + ordered)
                if settled is None:
                    self._open += outside - inside
                else:
                    found += settled
        return found

    def inside(self, pairs: Pairs, intervals: list[Interval], *, surely: bool) -> int:
        """How many ``[G0, G1]`` surely meet an interval, or may."""
        bounds = sorted(_bounds(intervals, surely=surely))
        (low, high), (other_low, other_high) = bounds[0], bounds[-1]
        most = max(high, other_high)
        # Missed is what lies below both, above both, or below the later one and above the first.
        missed = pairs.at_most(1, low) + pairs.at_least(0, most) + pairs.both(1, other_low, high)
        missed -= pairs.both(1, low, high) + pairs.both(1, other_low, most)
        return len(pairs) - missed

    def is_inside(self, ends: tuple[int, int], intervals: list[Interval]) -> bool:
        """Whether a context with these ends of γ surely discriminates."""
        return any(low < ends[1] and ends[0] < high for low, high in _bounds(intervals, surely=True))

    def _settle(
        self, pairs: Pairs, intervals: list[Interval], x: Assignment, attributes: list[int]
    ) -> int | None:
        """How many of the contexts within rounding of a bound discriminate; None if they are too many."""
        near: set[tuple[int, int]] = set()
        for pair in self._near(pairs, intervals):
            if not self.is_inside(pairs.ends(pair), intervals):
                near.add(pair)
            if self._undecided + len(near) > _UNDECIDED:
                return None
        self._undecided += len(near)
        return sum(self.discriminates(x, attributes, pairs.choice(pair)) for pair in near)

    @staticmethod
    def _near(pairs: Pairs, intervals: list[Interval]) -> Iterator[tuple[int, int]]:
        for l0, l1, h0, h1 in intervals:
            for end in _ENDS:
                yield from pairs.between(end, l0, l1)
                yield from pairs.between(end, h0, h1)


class _Counting(Counting):
    """The patterns that discriminate in some model of a set, or in every one."""

    def __init__(self, ranges: Ranges, criterion: Criterion, limits: Limits, *, certain: bool) -> None:
        super().__init__(limits)
        self._ranges, self._criterion, self._certain = ranges, criterion, certain
        self._ratios = [[ranges.ratio(i, v) for v in range(len(row))] for i, row in enumerate(ranges.values)]
        self._options = [options_of(row, certain=certain) for row in self._ratios]
        self._tables = Tables(ranges, self._options)
        self.sizes, self.sensitive = [len(row) for row in self._ratios], ranges.sensitive
        self.rows, self.start = self._tables.rows, self._tables.start

    def intervals(self, x: Assignment) -> list[Interval]:
        """Those of the strengths that count: of both ends, or of the one that is nearest 0."""
        ends = self._strength(x)
        if ends is None:
            return []
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
                l0, l1 = (l0 - slack, l1 + slack) if interval[0] is not None else (-BEYOND, -BEYOND)
                h0, h1 = (h0 - slack, h1 + slack) if interval[1] is not None else (BEYOND, BEYOND)
                found.append((l0, l1, h0, h1))
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

    def _units(self, end: Decimal | None) -> tuple[int, int]:
        """A bound in fixed point, rounded down and up; nearer than what stands for infinity."""
        if end is None:
            return 0, 0
        far = self._tables.far // 2
        scaled = end * (1 << self._tables.bits)
        if abs(scaled) >= far:
            return (far, far) if scaled > 0 else (-far, -far)
        return int(scaled.to_integral_value(ROUND_FLOOR)), int(scaled.to_integral_value(ROUND_CEILING))

    def inside(self, pairs: Pairs, intervals: list[Interval], *, surely: bool) -> int:
        """How many contexts surely discriminate, or may."""
        if not self._certain:
            return super().inside(pairs, intervals, surely=surely)
        ((low, high),) = _bounds(intervals, surely=surely)
        covering = pairs.both(0, low, high)
        return len(pairs) - pairs.at_most(0, low) - pairs.at_least(1, high) + covering

    def is_inside(self, ends: tuple[int, int], intervals: list[Interval]) -> bool:
        """Whether a context with these ends of γ surely discriminates."""
        return super().is_inside(ends[::-1] if self._certain else ends, intervals)

    def discriminates(self, x: Assignment, attributes: list[int], choice: Choice) -> bool:
        """Whether x discriminates in a context, in some model or in every one; decided in rationals."""
        ends = self._strength(x)
        assert ends is not None, "an x that can't occur has no intervals"
        chosen = [self._options[i][option] for i, option in zip(attributes, choice, strict=True)]
        low, high = (product_of((o.ends[e] for o in chosen), self._ranges.odds[e]) for e in (0, 1))
        if self._certain:
            ratio = ends[0] if ends[0] > 1 else ends[1]
            return least(self._criterion, ratio, low, high) > self._criterion.threshold
        return any(greatest(self._criterion, ratio, low, high)[2] for ratio in ends)


def _bounds(intervals: list[Interval], *, surely: bool) -> list[tuple[int, int]]:
    """Per interval the ``(l, h)`` between which γ is surely in it, or outside which it surely is not."""
    return [(l1, h0) if surely else (l0, h1) for l0, l1, h0, h1 in intervals]
