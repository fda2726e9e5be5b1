"""The exact number of discrimination patterns that are probable enough, ``P(xy) >= p``.

Disclosing more makes nothing more probable, so that pairs (x, y) can be grown value by value, and where p
isn't tiny few are left. They are grown over all attributes but the last few; of these, all choices are listed
once. Of each pair the count then needs how many choices b of the list

* bring its γ into the interval in which x discriminates: an interval of the sum of their λ, and
* leave it probable enough: ``ln(A P(b | d) + B P(b | d̄)) >= ln p``, where A and B are its ``P(d, x, y)`` and
  ``P(d̄, x, y)``.

The list stands in order of the first. Its order by the second is the same for all pairs of the same ratio
``A / B``. Pairs of nearly the same ratio share the order for one between theirs: where A and B are divided by
the greater of them, the left side is off by no more than ``ln A`` and ``ln B`` are. Choices within so much of
ln p are looked at one by one, and those within rounding of either end are settled exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.combinations import ANY, Scope
from auditor.search.additive.intervals import ends_of, exact_ends, pairs_over
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, merged, population_of
from auditor.search.additive.moves import Moves
from auditor.search.criteria import Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern_count import Coverage, PatternCount

Mask = npt.NDArray[np.bool_]

#: How many times as long a listed choice takes as a pair that asks about it.
_DEARER = 32
#: Least range of ``ln(A / B)`` of pairs that are asked about together, and most such ranges.
_WIDTH, _GROUPS = 0.04, 512
#: Choices that are looked at one by one at a time, and those that are settled exactly at most.
_AT_ONCE, _UNDECIDED = 1 << 20, 1 << 17


class _TooMuch(Exception):
    """An exact count is out of reach; the message says why."""


def count_probable_patterns(
    tables: LogOdds, criterion: Criterion, least: Fraction, limits: Limits = DEFAULT
) -> PatternCount:
    """Count exactly the discrimination patterns with ``P(xy) >= least > 0``.

    Where that is too much work, those that are ten times as probable, or a hundred times, are a lower bound.
    """
    asked, reason, found, example = least, None, None, None
    while found is None and asked <= 1:
        try:
            count = _Count(tables, criterion, asked, limits)
            found, example = count.run(), count.example
        except _TooMuch as problem:
            asked, reason = 10 * asked, reason or str(problem)
    if found is None or reason is not None:
        lower = sum((found or {}).values())
        return PatternCount(lower, tables.total_patterns(), reason, (), example=example)
    coverage = tuple(
        Coverage(disclosed, "exhausted", pairs_over(tables, disclosed), number, number)
        for size in range(1, len(tables.sensitive) + 1)
        for disclosed in combinations(tables.sensitive, size)
        for number in [found.get(disclosed, 0)]
    )
    total = sum(found.values())
    return PatternCount(total, total, None, coverage, example=example)


def probable_pairs(
    tables: LogOdds, criterion: Criterion, least: Fraction, scope: Scope, most: int, limits: Limits = DEFAULT
) -> list[tuple[Assignment, Assignment]] | None:
    """The pairs in scope with a |degree| above the threshold and ``P(xy) >= least > 0``, in no order.

    Some that are within rounding of either may be among them. None if they are more than some number, or it
    is too much work to list them.

    Parameters
    ----------
    scope : Scope
        Of any contexts.
    """
    try:
        return _Count(tables, criterion, least, limits, scope).pairs(most)
    except _TooMuch:
        return None


@dataclass(frozen=True)
class _Grown:
    """Assignments to the same attributes, in parallel arrays."""

    log_u: Floats
    log_v: Floats
    """Logarithms of their probabilities with either decision."""
    sums: npt.NDArray[Any]
    """Sums of what they disclose."""
    first: npt.NDArray[np.int32]
    """The row from which each has grown."""
    steps: tuple[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]], ...]
    """At the start, and then per attribute: the row of the step before it, and the entry that was added, 0 if
    not disclosed.
    """

    @classmethod
    def start(cls, log_u: Floats, log_v: Floats, kind: type) -> _Grown:
        """Assignments to no attribute."""
        number = len(log_u)
        rows = np.arange(number, dtype=np.int32)
        return cls(log_u, log_v, np.zeros(number, dtype=kind), rows, ((rows, np.zeros_like(rows)),))

    def __len__(self) -> int:
        return len(self.sums)

    def having(
        self, options: npt.NDArray[Any], logs: Floats, where: Mask | None, floor: float, most: int
    ) -> _Grown:
        """With one attribute more, not disclosed or any of its options; those that are probable enough.

        Parameters
        ----------
        options, logs : array
            What each adds to the sums and, shape (options, 2), to the logarithms.
        where : array of bool, optional
            Rows that may disclose it.
        floor, most : float, int
            The least logarithm of a probability, and how many there may be.
        """
        everyone = np.arange(len(self), dtype=np.int32)
        some = everyone if where is None else everyone[where]
        log_u, log_v = self.log_u[some], self.log_v[some]
        parents, us, vs, number = [everyone], [self.log_u], [self.log_v], len(self)
        for u, v in logs:
            of_u, of_v = log_u + u, log_v + v
            kept = np.logaddexp(of_u, of_v) >= floor
            number += int(np.count_nonzero(kept))
            if number > most:
                raise _TooMuch(f"more than {most:,} parts of patterns are so probable")
            parents.append(some[kept])
            us.append(of_u[kept])
            vs.append(of_v[kept])
        parent = np.concatenate(parents)
        entry = np.repeat(np.arange(len(parents), dtype=np.int32), [len(rows) for rows in parents])
        sums = self.sums[parent] + np.append(options.dtype.type(0), options)[entry]
        return _Grown(
            np.concatenate(us), np.concatenate(vs), sums, self.first[parent], (*self.steps, (parent, entry))
        )

    def __getitem__(self, rows: Integers | Mask) -> _Grown:
        *before, (parent, entry) = self.steps
        return _Grown(
            self.log_u[rows],
            self.log_v[rows],
            self.sums[rows],
            self.first[rows],
            (*before, (parent[rows], entry[rows])),
        )

    def entries(self, rows: npt.NDArray[Any]) -> Integers:
        """The entries of some rows, shape (rows, attributes)."""
        steps = self.steps[1:]
        found = np.zeros((len(rows), len(steps)), dtype=np.int64)
        for place in reversed(range(len(steps))):
            parent, entry = steps[place]
            found[:, place] = entry[rows]
            rows = parent[rows]
        return found


class _Ranks:
    """A permutation of 0 to n - 1, of which it is known how many in a stretch are at least something.

    It is a wavelet matrix: the numbers stand in order of their places, then parted by their first bit, those
    parted by their second, and so on.
    """

    def __init__(self, numbers: Integers) -> None:
        self._levels: list[tuple[int, npt.NDArray[np.int32], int]] = []
        for bit in reversed(range(len(numbers).bit_length())):
            one = (numbers >> bit) & 1 == 1
            ones = np.zeros(len(numbers) + 1, dtype=np.int32)
            np.cumsum(one, out=ones[1:])
            self._levels.append((bit, ones, len(numbers) - int(ones[-1])))
            numbers = np.concatenate([numbers[~one], numbers[one]])

    def at_least(self, start: Integers, stop: Integers, least: Integers) -> Integers:
        """How many numbers from one place to before another are at least something from 0 to n."""
        found = np.zeros(len(start), dtype=np.int64)
        for bit, ones, zeros in self._levels:
            first, last = ones[start], ones[stop]
            one = (least >> bit) & 1 == 1
            found += np.where(one, 0, last - first)
            start = np.where(one, zeros + first, start - first)
            stop = np.where(one, zeros + last, stop - last)
        return found + (stop - start)


class _Count:
    """One count."""

    def __init__(
        self, tables: LogOdds, criterion: Criterion, least: Fraction, limits: Limits, scope: Scope = ANY
    ) -> None:
        self.tables, self.criterion, self.least, self.limits = tables, criterion, least, limits
        self._scope = scope
        self._population = population_of(tables)
        self._goal = float(ln(least))
        # More than rounding moves a sum of logarithms of probabilities that is near the goal.
        self._error = (len(tables.values) + 8) * (2 - self._goal) * 2.0**-50
        self._floor = self._goal - self._error - self._population.rise
        self._settled = 0
        self._xs = self._combinations()
        self._ends = self._intervals()
        self._moves = self._all_moves()
        #: The attributes of y in the pairs, and those of the choices.
        self._free: list[int] = []
        self._listed: list[int] = []
        self._pairs, choices = self._parted()
        self._choices = choices[np.argsort(choices.sums, kind="stable")]
        #: One of the patterns that were counted.
        self.example: tuple[Assignment, Assignment] | None = None

    def run(self) -> dict[tuple[int, ...], int]:
        """The number of patterns over each set X of which there are any."""
        counts = np.zeros(len(self._xs), dtype=np.int64)
        for rows in self._groups():
            self._check_time()
            among = self._among(rows)
            np.add.at(counts, self._pairs.first[rows], among)
            if self.example is None and among.any():
                exact = self.tables.exact
                self.example = next(
                    (x, y)
                    for x, y in self._pairs_of(int(rows[among.argmax()]))
                    if exact.probable(x, y, self.least) and exact.discriminates(self.criterion, x, y)
                )
        found: dict[tuple[int, ...], int] = {}
        some = np.flatnonzero(counts)
        for x, number in zip(self._x_at(some), counts[some].tolist(), strict=True):
            disclosed = tuple(i for i, _ in x)
            found[disclosed] = found.get(disclosed, 0) + number
        return found

    def pairs(self, most: int) -> list[tuple[Assignment, Assignment]]:
        """The patterns themselves, and some within rounding of being one."""
        found: list[tuple[Assignment, Assignment]] = []
        number = 0
        for rows in self._groups():
            self._check_time()
            counts = self._among(rows)
            number += int(counts.sum())
            if number > most:
                raise _TooMuch(f"there are more than {most:,} patterns")
            for row in rows[counts > 0].tolist():
                found += self._pairs_of(row)
        return found

    def _pairs_of(self, row: int) -> Iterator[tuple[Assignment, Assignment]]:
        pairs, choices = self._pairs, self._choices
        ends = self._ends[:, pairs.first[row]] - pairs.sums[row]
        start, stop = np.searchsorted(choices.sums, ends[0]), np.searchsorted(choices.sums, ends[3], "right")
        log_p = np.logaddexp(
            choices.log_u[start:stop] + pairs.log_u[row], choices.log_v[start:stop] + pairs.log_v[row]
        )
        places = start + np.flatnonzero(log_p >= self._goal - self._error)
        (x,), (y,) = self._x_at(pairs.first[[row]]), self._y_at(pairs, self._free, np.array([row]))
        for others in self._y_at(choices, self._listed, places):
            yield x, merged(y, others)

    def _combinations(self) -> _Grown:
        """The x in scope that are probable enough, with their s."""
        log_u, log_v = self._population.log_prior
        allowed = self._scope.allowed(self.tables)
        xs = _Grown.start(np.array([log_u]), np.array([log_v]), np.float64)
        for i in self.tables.sensitive:
            strengths = np.array([self.tables.real(z) for z in self.tables.values[i]])
            where = None if i in allowed else np.zeros(len(xs), dtype=bool)
            xs = self._having(xs, strengths, self._population.log_likelihood[i], where)
        return xs

    def _intervals(self) -> Integers:
        """The `ends_of` each x."""
        ends = np.array(ends_of(self.tables, self.criterion, self._xs.sums))
        # An s within rounding of 0 leaves everything in doubt.
        unsure = np.flatnonzero((ends[1] > ends[2]) & (ends[0] <= ends[3]))
        for place, x in zip(unsure.tolist(), self._x_at(unsure), strict=True):
            ends[:, place] = exact_ends(self.tables, self.criterion, x)
        return ends

    def _all_moves(self) -> Moves:
        """What the values of all attributes can do to a sum."""
        tables = self.tables
        values = [(i, v) for i, finite in enumerate(tables.finite) for v in finite]
        logs = np.array([self._population.log_likelihood[i][v] for i, v in values]).reshape(-1, 2)
        log_odds = np.array([tables.real(tables.values[i][v]) for i, v in values])
        attributes = np.array([i for i, _ in values], dtype=np.int64)
        return Moves(attributes, log_odds, logs[:, 0], logs[:, 1], len(tables.values))

    def _parted(self) -> tuple[_Grown, _Grown]:
        """The pairs, grown over all attributes but the listed ones, and the choices of those."""
        tables, xs, logs = self.tables, self._xs, self._population.log_likelihood
        rest = [i for i in range(len(tables.values)) if i not in tables.sensitive]
        rest.sort(key=lambda i: len(tables.options[i]))
        disclosed = xs.entries(np.arange(len(xs))) > 0
        pairs = self._within(_Grown.start(xs.log_u, xs.log_v, np.int64))
        if self._scope.disclosing is not None:
            pairs = pairs[disclosed[pairs.first, tables.sensitive.index(self._scope.disclosing)]]
        log_u, log_v = self._population.log_prior
        choices = _Grown.start(np.array([log_u]), np.array([log_v]), np.int64)
        for i in (*tables.sensitive, *reversed(rest)):
            options, finite = tables.options[i][1:], list(tables.finite[i])
            if i in rest and len(choices) * _DEARER <= len(pairs):
                self._listed.append(i)
                choices = self._having(choices, options, logs[i][finite])
            else:
                self._free.append(i)
                where = None if i in rest else ~disclosed[pairs.first, tables.sensitive.index(i)]
                pairs = self._within(self._having(pairs, options, logs[i][finite], where))
        return pairs, replace(choices, log_u=choices.log_u - log_u, log_v=choices.log_v - log_v)

    def _having(
        self, grown: _Grown, options: npt.NDArray[Any], logs: Floats, where: Mask | None = None
    ) -> _Grown:
        self._check_time()
        return grown.having(options, logs, where, self._floor, self.limits.entries)

    def _within(self, pairs: _Grown) -> _Grown:
        """Those that can still come to the interval of their x, and be probable enough.

        A rise by g leaves at most ``e^-c`` of ``P(d, x, y)`` and ``e^-(c + g)`` of ``P(d̄, x, y)``, where c is
        what g costs at least (`Moves.within`). A fall likewise.
        """
        later = [reach for i, reach in enumerate(self.tables.reach) if i not in self._free]
        low, high = (sum(ends) for ends in zip(*later, strict=True)) if later else (0, 0)
        first, last = self._ends[0][pairs.first], self._ends[3][pairs.first]
        pairs = pairs[(first <= last) & (pairs.sums + low <= last) & (pairs.sums + high >= first)]
        reals, sums = self.tables.reals, self.tables.reals(pairs.sums)
        log_u, log_v = pairs.log_u, pairs.log_v
        remaining = np.array([i not in self._free for i in range(len(self.tables.values))])
        near = np.ones(len(pairs), dtype=bool)
        for sign, log_p, log_other, ends in (
            (1, log_u, log_v, self._ends[0]),
            (-1, log_v, log_u, self._ends[3]),
        ):
            g = np.maximum(sign * (reals(ends[pairs.first]) - sums), 0) - self.tables.wider
            budget = np.logaddexp(log_p, log_other - g) - self._floor
            near &= g <= self._moves.finite_within(sign, remaining, budget)
        return pairs[near]

    def _groups(self) -> Iterator[Integers]:
        """The pairs with nearly equal ``A / B``."""
        if not len(self._pairs):
            return
        ratio = self._pairs.log_u - self._pairs.log_v
        finite = ratio[np.isfinite(ratio)]
        width = max(_WIDTH, float(np.ptp(finite)) / _GROUPS) if len(finite) else 1.0
        group = np.floor(np.clip(ratio / width, -(2.0**52), 2.0**52))
        order = np.argsort(group, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(group[order])) + 1)

    def _among(self, rows: Integers) -> Integers:
        """Of how many choices each of some pairs makes a pattern that is probable enough."""
        choices, error = self._choices, self._error
        pairs = self._pairs[rows]
        scale = np.maximum(pairs.log_u, pairs.log_v)
        log_a, log_b, wanted = pairs.log_u - scale, pairs.log_v - scale, self._goal - scale
        middle_a, middle_b = (float(log.min() + log.max()) / 2 for log in (log_a, log_b))
        with np.errstate(invalid="ignore"):
            # Not a number where A or B is 0 in all of them.
            off = np.fmax(np.abs(log_a - middle_a), np.abs(log_b - middle_b))
        room = float(off.max()) + error
        keys = np.logaddexp(choices.log_u + middle_a, choices.log_v + middle_b)
        kept = np.flatnonzero(keys >= wanted.min() - room)
        sums, keys = choices.sums[kept], keys[kept]
        order = np.argsort(keys)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        keys = keys[order]

        ends = self._ends[:, pairs.first] - pairs.sums
        outer_start, start = np.searchsorted(sums, ends[0]), np.searchsorted(sums, ends[1])
        stop, outer_stop = (np.searchsorted(sums, end, side="right") for end in ends[2:])
        start = np.minimum(start, outer_stop)
        stop = np.clip(stop, start, outer_stop)
        unlikely = np.searchsorted(keys, wanted - room)
        likely = np.searchsorted(keys, wanted + room, side="right")
        found = _Ranks(ranks).at_least(start, stop, likely)

        def beyond(pair: Integers, place: Integers) -> Floats:
            """By how much the logarithms of the probability are above the goal."""
            u, v = choices.log_u[kept[place]], choices.log_v[kept[place]]
            return np.logaddexp(log_a[pair] + u, log_b[pair] + v) - wanted[pair]

        for pair, place in _stretches(unlikely, np.where(start < stop, likely, unlikely)):
            place = order[place]
            inside = (start[pair] <= place) & (place < stop[pair])
            pair, place = pair[inside], place[inside]
            above = beyond(pair, place)
            found += np.bincount(pair[above > error], minlength=len(rows))
            doubtful = np.abs(above) <= error
            self._settle(found, rows, pair[doubtful], kept[place[doubtful]], probable_only=True)
        for first, last in ((outer_start, start), (stop, outer_stop)):
            for pair, place in _stretches(first, last):
                doubtful = beyond(pair, place) >= -error
                self._settle(found, rows, pair[doubtful], kept[place[doubtful]], probable_only=False)
        return found

    def _settle(
        self, found: Integers, rows: Integers, pair: Integers, place: Integers, *, probable_only: bool
    ) -> None:
        """Add those that are patterns and probable enough, exactly."""
        self._settled += len(pair)
        if self._settled > _UNDECIDED:
            raise _TooMuch(f"more than {_UNDECIDED:,} patterns lie within rounding of a threshold")
        exact = self.tables.exact
        xs = self._x_at(self._pairs.first[rows[pair]])
        ys = self._y_at(self._pairs, self._free, rows[pair])
        others = self._y_at(self._choices, self._listed, place)
        for number, x, *parts in zip(pair.tolist(), xs, ys, others, strict=True):
            y = merged(*parts)
            if exact.probable(x, y, self.least) and (
                probable_only or exact.discriminates(self.criterion, x, y)
            ):
                found[number] += 1

    def _x_at(self, rows: npt.NDArray[Any]) -> Iterator[Assignment]:
        """Some x."""
        for entries in self._xs.entries(rows).tolist():
            disclosed = zip(self.tables.sensitive, entries, strict=True)
            yield tuple((i, entry - 1) for i, entry in disclosed if entry)

    def _y_at(self, grown: _Grown, attributes: list[int], rows: Integers) -> Iterator[Assignment]:
        """What some rows disclose in y."""
        finite = self.tables.finite
        for entries in grown.entries(rows).tolist():
            disclosed = zip(attributes, entries, strict=True)
            yield tuple((i, finite[i][entry - 1]) for i, entry in disclosed if entry)

    def _check_time(self) -> None:
        if self.limits.expired():
            raise _TooMuch("the time limit was reached before all patterns so probable were counted")


def _stretches(start: Integers, stop: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Every place from a start to before its stop, with its number, in blocks."""
    some = np.flatnonzero(start < stop)
    lengths = np.cumsum(stop[some] - start[some])
    while len(some):
        block = max(1, int(np.searchsorted(lengths, _AT_ONCE)))
        here, of_here, lengths_here = some[:block], start[some[:block]], np.diff(lengths[:block], prepend=0)
        number = np.repeat(here, lengths_here)
        before = np.cumsum(lengths_here) - lengths_here
        yield number, np.arange(len(number)) - np.repeat(before - of_here, lengths_here)
        some, lengths = some[block:], lengths[block:] - lengths[block - 1]
