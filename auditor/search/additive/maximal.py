r"""The most probable maximal patterns, those of which no proper extension is one, of models of any size.

An extension of (x, y) discloses more attributes, each in y or, if it is sensitive, in x. Let S be the
sensitive attributes, ``(L, H)`` the open interval of γ in which x discriminates, and U the attributes that
(x, y) doesn't disclose. A choice from U is a value with finite λ of some of U, at least one, and σ the sum of
their λ.

*Lemma.* Let every sensitive attribute have a value with ``λ >= 0`` and one with ``λ <= 0``, as it has in
naive Bayes, where the probabilities of its values have the same sum under both decisions. A discrimination
pattern (x, y) is maximal iff it discloses all of S, and ``γ + σ <= L`` or ``γ + σ >= H`` for every choice
from U.

*Proof.* If (x, y) discriminates, then ``s ≠ 0`` and γ is finite. For a sensitive attribute in U take a value
v whose λ is 0 or has the sign of s. ``P(xvy) > 0``: under the decision that s favours neither x nor v nor y
has probability 0. Disclosing v in x leaves γ as it is and moves s away from 0 or not at all, and for fixed γ
|degree| grows with |s|: (xv, y) is a pattern, and (x, y) not maximal. If U has no sensitive attribute, every
extension discloses values of U in y. With one whose λ is infinite γ is too, and it is no pattern or can't
occur; with others it is one iff ``γ + σ`` is in ``(L, H)``. ∎

*What is left out* is nearly always nothing: by the lemma ``H - σ <= γ`` for the least ``σ > 0``, ``γ <= L -
σ`` for the greatest ``σ < 0``, and no σ is 0. So ``H - L`` is at most the gap of U, the distance between
these two. The gap of a set is at most that of each of its parts, and ``H - L`` is wide unless |s| is hardly
large enough to discriminate. Hence the sensitive values are chosen first, then U, then the other values.

*Which values stand in x* makes no difference to ``P(xy)``. For fixed ``t = γ + s`` |degree| grows with |s| as
well, so that of chosen values it is enough to know the least and the greatest s that they allow. At the end
the sets X are gone through.

*Bound.* With ``u = P(d, xy)``, ``v = P(d̄, xy)`` and so ``t = ln u/v``, for any real w ::

    ln P(xy) = (w ln u + (1 - w) ln v) + ln(e^((1-w)t) + e^(-wt))

The first term is a sum over attributes, each of which adds at most what its best value does. The second is
convex in t, and so at most what it is at one end of the interval in which t must lie. (w is a multiplier of
Lagrange's; a few are tried.) Where a value in x has probability 0 under one decision, t shall be the sum of
the finite log-odds; then only one of u and v is left, and of the second term the part of the same decision.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np

from auditor.model.naive_bayes import Assignment
from auditor.search.additive.frontier import Frontier
from auditor.search.additive.log_odds import Floats, Integers, LogOdds, merged, population_of
from auditor.search.additive.omissions import Omissions, Values
from auditor.search.additive.rows import Kept, R, Rows
from auditor.search.criteria import Criterion
from auditor.search.limits import Limits

#: What an entry of the frontier stands for: values that are partly chosen, chosen sensitive values with more
#: attributes to be left out, and all of a pattern but what of it stands in x.
_PART, _OPEN, _WHOLE = 0, 1, 2
#: Children looked at in one block at most, and the least entries whose children they are.
_CHILDREN, _BLOCK = 1 << 14, 8
#: Sensitive attributes up to which all sets X are looked at at once, and how many pairs at a time.
_SETS, _AT_ONCE = 10, 1 << 19
#: Thresholds above this count as this where a strength is bounded.
_NEARLY = 1 - Fraction(1, 1 << 20)
#: Share by which a float is off at most, and by far.
_HAIR = 1e-9
#: Patterns beyond twice as many as asked for that may tie.
_TIES = 1 << 12

#: Intervals as their lower and upper ends.
_Ends = tuple[Floats, Floats]


@dataclass(frozen=True)
class _Parts(Rows):
    """Partly chosen values, as parallel arrays."""

    slot: Integers
    """Which attributes are left out, and where t must lie, among the slots; -1 before that is chosen."""
    position: Integers
    """The attribute to be chosen next, in order."""
    t: Integers
    """Sum of the prior and the finite λ, in units."""
    rise: Integers
    fall: Integers
    """The greatest and the least finite sum of some of the sensitive λ."""
    log_u: Floats
    log_v: Floats
    """``ln P(d, ·)`` and ``ln P(d̄, ·)``."""
    parent: Integers
    column: Integers
    """The part from which it came, and the value that was added; -1 at the start."""


@dataclass(frozen=True)
class _Slots(Rows):
    """Sensitive values, with attributes that are left out, as parallel arrays."""

    part: Integers
    omitted: Integers
    """The number of U."""
    width: Floats
    """At most ``H - L`` of each x that these values allow."""
    plus: Floats
    plus_end: Floats
    minus: Floats
    minus_end: Floats
    """Where t must lie for some x with ``s > 0``, and for some with ``s < 0``."""


class Maximal:
    """The search for maximal patterns, of a model of which the lemma holds (`covers`).

    Parameters
    ----------
    limit : int
        How many are asked for.
    whole : bool
        Whether to look for those that disclose everything alone.

    Attributes
    ----------
    found : list of (float, x, y)
        Maximal patterns with ``ln P(xy)``, in no order. Of patterns that disclose the same values there may
        be one more than asked for, the first of them by `Pattern.key`.
    above : float
        Up to rounding, what else is maximal has no greater ``ln P(xy)``, or comes after as many as asked for.
    """

    def __init__(
        self, tables: LogOdds, criterion: Criterion, limit: int, limits: Limits, *, whole: bool = False
    ) -> None:
        self.tables, self._criterion, self._limit, self._limits = tables, criterion, limit, limits
        self.found: list[tuple[float, Assignment, Assignment]] = []
        self._negated = list[float]()
        self.above = inf
        self._unsettled = -inf
        self._error, self._wider = tables.error, tables.wider
        self._rounding = population_of(tables).rounding
        # A float tells 1 minus a threshold to so many digits only.
        least = replace(criterion, threshold=min(criterion.threshold, _NEARLY)).largest_fair_strength()
        #: No x of less |s| discriminates; and how wide the interval of one of some |s| is at least.
        self._least_strength = least * (1 - _HAIR) - self._error
        sizes = least + np.append(0, 10 ** np.linspace(-12, 2, 600))
        low, high = self._inside(sizes)
        widths = np.maximum.accumulate(np.where(low < high, high - low, 0.0))
        self._widths = np.append(sizes, inf), widths
        self._values = Values(tables)
        self._omissions = Omissions(tables, self._values, whole=whole)
        log_u, log_v = population_of(tables).log_prior
        zero, nothing = np.zeros(1, dtype=np.int64), np.array([-1])
        start = _Parts(
            nothing,
            zero,
            zero + tables.prior,
            zero,
            zero,
            np.array([log_u]),
            np.array([log_v]),
            nothing,
            nothing,
        )
        self._parts = Kept(start)
        self._slots = Kept(_Slots(*(zero[:0], zero[:0]), *[np.empty(0)] * 5))
        self._frontier = Frontier()
        self._frontier.push(_PART, zero, np.zeros(1))
        self._looked_at = 0

    def run(self) -> None:
        """Search until the end, until more than enough are found, or a limit bites."""
        frontier, limits, expanded = self._frontier, self._limits, 0
        largest = max(_BLOCK, _CHILDREN // self._values.most)
        while True:
            self.above = max(frontier.best, self._unsettled)
            spent = expanded >= limits.nodes or self._looked_at >= limits.children
            # What isn't settled hides what is less probable; nor do more than so many that tie help.
            enough = self._number_above(self.above) > self._limit or frontier.best < self._unsettled
            enough |= len(self.found) > 2 * self._limit + _TIES
            if not len(frontier) or enough or spent or limits.expired():
                return
            # A path has as many steps: larger blocks would begin with much that is in vain.
            kind, number, log_p = frontier.pop(min(largest, _BLOCK + expanded // self._values.number))
            expanded += len(kind)
            for handle, of_kind in ((self._grow, _PART), (self._omit, _OPEN)):
                if (kind == of_kind).any():
                    handle(number[kind == of_kind])
            whole = np.flatnonzero(kind == _WHOLE)
            whole = whole[np.argsort(-log_p[whole], kind="stable")]
            for place, of_all in zip(whole.tolist(), number[whole].tolist(), strict=True):
                if limits.expired() or len(self.found) > 2 * self._limit + _TIES:
                    frontier.push(_WHOLE, number[[place]], log_p[[place]])
                elif self._number_above(log_p[place]) <= self._limit:
                    self._settle(of_all, float(log_p[place]))

    @property
    def certain(self) -> int:
        """How many of those found are more probable than anything else that is maximal."""
        return self._number_above(self.above)

    def _number_above(self, log_p: float) -> int:
        return bisect_left(self._negated, -log_p - 2 * self._rounding)

    # Choosing values.

    def _grow(self, ids: Integers) -> None:
        """Look at the parts that choose one value more."""
        values, parts = self._values, self._parts.at(ids)
        first, last = values.start[parts.position], values.start[parts.position + 1]
        row = np.repeat(np.arange(len(ids)), last - first)
        column = np.arange(len(row)) - np.repeat(np.cumsum(last - first) - last, last - first)
        self._looked_at += len(row)
        parts = parts[row]
        log_u, log_v = parts.log_u + values.log_d[column], parts.log_v + values.log_not_d[column]
        sensitive = values.sensitive[column]
        grown = _Parts(
            slot=parts.slot,
            position=parts.position + 1,
            t=parts.t + values.log_odds[column],
            rise=parts.rise + np.where(sensitive, np.maximum(values.log_odds[column], 0), 0),
            fall=parts.fall + np.where(sensitive, np.minimum(values.log_odds[column], 0), 0),
            log_u=log_u,
            log_v=log_v,
            parent=ids[row],
            column=column,
        )
        # Of attributes that are alike the values come in order.
        before = values.start[parts.position - 1]
        turned = values.copy[parts.position] & (column - first[row] < parts.column - before)
        grown = grown[(np.maximum(log_u, log_v) > -inf) & ~turned]
        begun = grown.slot >= 0
        self._push_values(grown[begun])
        self._push_sensitive(grown[~begun])

    def _push_sensitive(self, parts: _Parts) -> None:
        """Keep what may become a pattern, of parts in which sensitive values are chosen."""
        values, tables = self._values, self.tables
        n = values.sensitives
        last = parts.position == n
        whole = parts[last]
        numbers = self._parts.add(whole)
        self._push_chosen(numbers)
        parts = parts[~last]
        rise = parts.rise + values.rise[parts.position]
        fall = parts.fall + values.fall[parts.position]
        plus, minus = self._within(rise, fall, parts)
        unknown = values.pins[parts.position]
        spans = [(np.where(unknown, -inf, low), np.where(unknown, inf, high)) for low, high in (plus, minus)]
        rest = values.rest[:, parts.position] + self._omissions.gain(0, np.zeros(1))
        reach = (
            tables.reals(parts.t + values.least[parts.position] - values.least[n] + values.least_others),
            tables.reals(parts.t + values.greatest[parts.position] - values.greatest[n] + values.most_others),
        )
        bound = self._bound(parts, rest, reach, spans) + self._deeper(parts)
        self._push(_PART, self._parts, parts, bound)

    def _within(self, rise: Integers, fall: Integers, parts: _Parts) -> tuple[_Ends, _Ends]:
        """Where t must lie by the greatest and the least s alone."""
        pinned = _pinned(parts)
        sides = []
        for sign, units in ((1, rise), (-1, fall)):
            finite = self.tables.reals(units)
            strength = np.where(pinned == 0, sign * (np.abs(finite) + self._error), sign * inf)
            low, high = self._interval(strength)
            none = pinned == -sign
            sides.append((np.where(none, inf, low + finite), np.where(none, -inf, high + finite)))
        return sides[0], sides[1]

    def _interval(self, strength: Floats) -> _Ends:
        """The interval of γ for x of s that are off by rounding, widened."""
        size = np.abs(strength) + self._error
        low, high = self._criterion.reach(np.where(strength < 0, -size, size), outwards=True)
        # A strength within rounding of 0 may have either sign.
        unsure = (size <= 3 * self._error) & (low <= high)
        return np.where(unsure, -inf, low - self._wider), np.where(unsure, inf, high + self._wider)

    def _inside(self, strength: Floats) -> _Ends:
        """An interval of γ in which x of such s surely discriminates; (inf, -inf) where none is known."""
        size = np.abs(strength) - self._error
        low, high = self._criterion.reach(np.where(strength < 0, -size, size), outwards=False)
        none = (size <= 0) | (low + self._wider >= high - self._wider)
        return np.where(none, inf, low + self._wider), np.where(none, -inf, high - self._wider)

    # Leaving attributes out.

    def _push_chosen(self, numbers: Integers) -> None:
        """Keep what may become a pattern, of parts in which all sensitive values are chosen."""
        found = [np.zeros(0)]
        for chunk in self._chunks(len(numbers)):
            found.append(self._least_width(numbers[chunk]))
        parts = self._parts.at(numbers)
        plus, minus = self._within(parts.rise, parts.fall, parts)
        nothing = np.zeros(len(numbers), dtype=np.int64)
        self._push_slots(_Slots(numbers, nothing, np.concatenate(found), *plus, *minus))

    def _push_omitting(self, numbers: Integers, omitted: Integers, width: Floats) -> None:
        """Keep what may become a pattern, of chosen sensitive values with attributes that are left out."""
        found = [np.zeros((4, 0))]
        for chunk in self._chunks(len(numbers)):
            found.append(np.array(self._where(numbers[chunk], omitted[chunk])))
        self._push_slots(_Slots(numbers, omitted, width, *np.concatenate(found, axis=1)))

    def _push_slots(self, slots: _Slots) -> None:
        values, tables, omissions = self._values, self.tables, self._omissions
        parts = self._parts.at(slots.part)
        rest = np.empty((len(values.weights), len(slots.part)))
        more = np.zeros(len(slots.part), dtype=bool)
        for u in np.unique(slots.omitted).tolist():
            here = slots.omitted == u
            more[here] = omissions.number(u, slots.width[here]) > 0
            gain = omissions.gain(u, slots.width[here])
            rest[:, here] = values.rest[:, [values.sensitives]] - omissions.best(u) + gain
        reach = (tables.reals(parts.t + values.least_others), tables.reals(parts.t + values.most_others))
        spans = [(slots.plus, slots.plus_end), (slots.minus, slots.minus_end)]
        bound = self._bound(parts, rest, reach, spans)
        self._push(_OPEN, self._slots, slots[more], bound[more])
        closed = ~more & (bound > -inf)
        self._begin(self._slots.add(slots[closed]))

    def _chunks(self, number: int) -> Iterator[slice]:
        step = max(1, _AT_ONCE >> self._values.sensitives) if self._by_sets else max(1, number)
        return (slice(at, at + step) for at in range(0, number, step))

    @property
    def _by_sets(self) -> bool:
        return self._values.sensitives <= _SETS

    def _strengths(self, numbers: Integers) -> tuple[Floats, Floats]:
        """The finite part of s for each X, and s; 0 where X can't be, shape (parts, sets)."""
        columns, sets = self._columns(numbers), self._values.sets
        finite = self.tables.reals(self._values.log_odds[columns] @ sets)
        pins = (self._values.pin[columns] != 0).astype(np.int64)
        if not pins.any():
            return finite, finite
        # A value that pins the decision stands in x.
        pinned = _pinned(self._parts.at(numbers))[:, None]
        with np.errstate(invalid="ignore"):
            strength = np.where(pinned == 0, finite, pinned * inf)
        return finite, np.where(pins @ sets == pins.sum(axis=1)[:, None], strength, 0.0)

    def _least_width(self, numbers: Integers) -> Floats:
        """At most ``H - L`` of each x that sensitive values allow, where it matters."""
        if not (self._by_sets and self._omissions.possible):
            return np.zeros(len(numbers))
        _, strength = self._strengths(numbers)
        widths = []
        for sign in (1, -1):
            s = sign * strength
            s = np.where((s >= self._least_strength) & (s > 0), s, inf).min(axis=1)
            low, high = self._inside(sign * s)
            widths.append(np.where(low < high, high - low, 0.0))
        least: Floats = np.minimum(*widths)
        return least

    def _where(self, numbers: Integers, omitted: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Where t must lie, for x with ``s > 0`` and for those with ``s < 0``."""
        up, down = self._omissions.nearest(omitted)
        if not self._by_sets:
            parts = self._parts.at(numbers)
            plus, minus = self._within(parts.rise, parts.fall, parts)
            return *plus, *minus
        finite, strength = self._strengths(numbers)
        # Of others the interval is wider than the gap.
        most = self._widths[0][np.searchsorted(self._widths[1], up + down, side="right")]
        size = np.abs(strength)
        row, place = np.nonzero((size >= self._least_strength) & (size > 0) & (size <= most[:, None]))
        finite, strength, up, down = finite[row, place], strength[row, place], up[row], down[row]
        low, high = self._interval(strength)
        inner_low, inner_high = self._inside(strength)
        known = inner_low < inner_high
        with np.errstate(invalid="ignore"):
            low = np.maximum(low, np.where(known & np.isfinite(up), inner_high - up, -inf)) + finite
            high = np.minimum(high, np.where(known & np.isfinite(down), inner_low + down, inf)) + finite
        found = list[Floats]()
        for side in (strength > 0, strength < 0):
            here = side & (low <= high)
            ends = np.full(len(numbers), inf), np.full(len(numbers), -inf)
            np.minimum.at(ends[0], row[here], low[here])
            np.maximum.at(ends[1], row[here], high[here])
            found += ends
        return found[0], found[1], found[2], found[3]

    def _omit(self, ids: Integers) -> None:
        """Leave out no more of the attributes, or one more."""
        self._begin(ids)
        slots = self._slots.at(ids)
        rows, omitted = list[int](), list[int]()
        for place, (u, width) in enumerate(zip(slots.omitted.tolist(), slots.width.tolist(), strict=True)):
            new = self._omissions.with_one_more(u, width)
            rows += [place] * len(new)
            omitted += new
        self._looked_at += len(rows)
        row = np.array(rows, dtype=np.int64)
        self._push_omitting(slots.part[row], np.array(omitted, dtype=np.int64), slots.width[row])

    def _begin(self, ids: Integers) -> None:
        """Begin to choose the values of what is neither sensitive nor left out."""
        slots = self._slots.at(ids)
        parts = self._parts.at(slots.part)
        self._push_values(replace(parts, slot=ids))

    def _push_values(self, parts: _Parts) -> None:
        """Keep what may become a pattern, of parts in which other values are chosen."""
        if not len(parts.slot):
            return
        values, tables = self._values, self.tables
        slots = self._slots.at(parts.slot)
        position = parts.position.copy()
        members = self._omissions.members(slots.omitted)
        for of_each in members.T:
            position += of_each == position
        parts = replace(parts, position=position)
        rest = values.rest[:, position]
        least, most = values.least[position], values.greatest[position]
        for of_each in members.T:
            later = of_each >= position
            rest = rest - np.where(later, values.best[:, of_each], 0)
            least = least - np.where(later, values.low[of_each], 0)
            most = most - np.where(later, values.high[of_each], 0)
        spans = [(slots.plus, slots.plus_end), (slots.minus, slots.minus_end)]
        reach = tables.reals(parts.t + least), tables.reals(parts.t + most)
        bound = self._bound(parts, rest, reach, spans)
        whole = position == values.number
        exact = np.logaddexp(parts.log_u, parts.log_v)
        bound = np.where(whole & (bound > -inf), exact, bound) + self._deeper(parts)
        for kind, here in ((_WHOLE, whole), (_PART, ~whole)):
            self._push(kind, self._parts, parts[here], bound[here])

    # Bounds.

    def _bound(self, parts: _Parts, rest: Floats, reach: _Ends, spans: list[_Ends]) -> Floats:
        """At least ``ln P(xy)`` of what parts can become; -inf where that is nothing.

        Parameters
        ----------
        rest : array, shape (weights, parts)
            At most what is yet to be chosen adds to ``w ln u + (1 - w) ln v``.
        reach : (array, array)
            The least and the greatest t.
        spans : list of (array, array)
            Intervals in one of which t must lie.
        """
        w, t, pinned = self._values.weights, self.tables.reals(parts.t), _pinned(parts)
        total = np.where(pinned < 0, parts.log_v + w * t, parts.log_u + (w - 1) * t) + rest
        best: Floats = np.full(len(t), -inf)
        largest: Floats
        for low, high in spans:
            start, end = np.maximum(low, reach[0] - self._wider), np.minimum(high, reach[1] + self._wider)
            some = start <= end
            largest = np.full(total.shape, -inf)
            for at in (np.where(some, start, 0.0), np.where(some, end, 0.0)):
                of_u, of_v = np.where(pinned < 0, -inf, (1 - w) * at), np.where(pinned > 0, -inf, -w * at)
                largest = np.maximum(largest, np.logaddexp(of_u, of_v))
            best = np.maximum(best, np.where(some, (total + largest).min(axis=0), -inf))
        return best

    def _push(self, kind: int, kept: Kept[R], rows: R, bound: Floats) -> None:
        some = bound > -inf
        self._frontier.push(kind, kept.add(rows[some]), bound[some])

    def _deeper(self, parts: _Parts) -> Floats:
        """What is added to bounds, far below rounding, so that of those that tie the deepest come first."""
        deeper: Floats = parts.position * np.float64(self._rounding / 4 / self._values.number)
        return deeper

    # Patterns.

    def _columns(self, numbers: Integers) -> Integers:
        """The sensitive values of parts that have chosen these alone, shape (parts, sensitive attributes)."""
        found = np.empty((len(numbers), self._values.sensitives), dtype=np.int64)
        for place in reversed(range(self._values.sensitives)):
            parts = self._parts.at(numbers)
            found[:, place], numbers = parts.column, parts.parent
        return found

    def _settle(self, id: int, log_p: float) -> None:
        """Find the maximal patterns of chosen values and those alike, no more than asked for."""
        values, part = self._values, self._parts.at(np.array([id]))
        u = int(self._slots.at(part.slot).omitted[0])
        t, pinned = self.tables.real(int(part.t[0])), int(_pinned(part)[0])
        chosen = list[int]()
        while part.column[0] >= 0:
            chosen.append(int(part.column[0]))
            part = self._parts.at(part.parent)
        chosen.reverse()
        sensitive = chosen[: values.sensitives]
        others = tuple(sorted(values.value(c) for c in chosen[values.sensitives :]))
        number = 0
        for inside in self._sets(sensitive, t, pinned):
            if self._limits.expired():
                self._unsettled = max(self._unsettled, log_p)
                return
            x = tuple(values.value(c) for c in inside)
            rest = tuple(values.value(c) for c in sensitive if c not in inside)
            y = merged(rest, others)
            if not self.tables.exact.discriminates(self._criterion, x, y):
                continue
            extended = self._omissions.extended(self._criterion, u, x, y)
            if extended is None:
                self._unsettled = max(self._unsettled, log_p)
            elif not extended:
                for alike in values.arrangements(others):
                    self.found.append((log_p, x, merged(rest, alike)))
                    insort(self._negated, -log_p)
                    number += 1
                    if number > self._limit:
                        return

    def _sets(self, sensitive: list[int], t: float, pinned: int) -> Iterator[list[int]]:
        """Sets X, in order, with which some t may be that of a pattern; they contain all others."""
        values = self._values
        lam = [int(values.log_odds[c]) for c in sensitive]
        pins = [bool(values.pin[c]) for c in sensitive]
        highest, lowest = [0], [0]
        for units in reversed(lam):
            highest.append(highest[-1] + max(units, 0))
            lowest.append(lowest[-1] + min(units, 0))
        highest.reverse()
        lowest.reverse()
        # The first k for the next place, what stands in x before it, and its s.
        stack: list[tuple[int, list[int], int]] = [(0, [], 0)]
        while stack:
            k, inside, s = stack.pop()
            if k == len(lam) or not self._reaches(s + highest[k], s + lowest[k], t, pinned):
                continue
            if not pins[k]:
                stack.append((k + 1, inside, s))
            with_it, moved = [*inside, sensitive[k]], s + lam[k]
            stack.append((k + 1, with_it, moved))
            if not any(pins[k + 1 :]) and self._reaches(moved, moved, t, pinned):
                yield with_it

    def _reaches(self, most: int, least: int, t: float, pinned: int) -> bool:
        finite = self.tables.reals(np.array([most, least]))
        strength = finite if pinned == 0 else np.full(2, pinned * inf)
        low, high = self._interval(strength)
        return bool(((low + finite - self._wider <= t) & (t <= high + finite + self._wider)).any())


def _pinned(parts: _Parts) -> Integers:
    """1 or -1 where the values leave one decision alone, 0 elsewhere."""
    return np.isneginf(parts.log_v).astype(np.int64) - np.isneginf(parts.log_u)


def covers(tables: LogOdds) -> bool:
    """Whether the lemma holds: each sensitive attribute has values of either sign, or without effect."""
    signs = ([tables.exact.sign(i, v) for v in range(len(tables.values[i]))] for i in tables.sensitive)
    return all(max(row) >= 0 >= min(row) for row in signs)
