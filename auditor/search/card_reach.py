"""How far a scorecard's verdict reaches: to every scorecard whose numbers are each next to its own.

What each value counts, what each attribute counts undisclosed, and the intercept may each be off by up to h,
in log-odds, independently. Let x disclose k of n attributes, with strength s; let γ be the log-odds of a
context y in the scorecard itself. Of all scorecards in the set the log-odds before and after disclosing are
furthest apart where the values of x count h more and what they replace h less, or the other way round: then
the strength is ``s ± 2kh``, and the log-odds before are ``γ ∓ kh + r`` with ``|r| <= (n - k + 1) h``. They
are nearest together with the signs exchanged. Since |degree| falls on both sides of its peak,

    sup |degree| = |degree| at strength ``|s| + 2kh`` and the γ in reach that is nearest the peak,
    inf |degree| = |degree| at strength ``|s| - 2kh`` and the end of that reach at which it is less.

Both grow with |s|, and are greatest in the context nearest to a point that depends on k and s alone, so that
for each set of sensitive attributes two searches for the nearest sum settle each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from heapq import heappop, heappush, merge
from math import isinf
from typing import Literal

from auditor.choices import CardSetName, ReachVerdict
from auditor.model.additive import AdditiveModel
from auditor.model.exponentials import sign
from auditor.model.naive_bayes import Assignment
from auditor.search.additive.exponentials import tables_of_scorecard
from auditor.search.additive.subset_sums import Leaves, nearest
from auditor.search.criteria import CONTEXT, LOST, Criterion, ln
from auditor.search.limits import DEFAULT, Limits
from auditor.search.reach import Certain

#: Sets of sensitive attributes, and directions, that are gone through one by one at most.
_MOST_SETS = 1 << 15
#: Contexts next to the nearest that are told apart exactly, at most.
_TIES = 64
#: Error of a degree that is worked out in 60 digits, and of a bound from floats.
_ERROR, _ROUND_UP = Fraction(1, 10**40), 1 + 1e-12
#: Covers the digits that strengths aren't worked out to, as a share of what they are the difference of.
_LOST_DIGITS = Fraction(1, 10**50)
#: A context so near to the best, in log-odds, is as good where not all can be searched.
_NEAR = 2.0**-20
#: Unit of where between its ends the log-odds before disclosing is.
_SHARE = Decimal("1e-30")


@dataclass(frozen=True)
class Margin:
    """By how much each number of a scorecard may be off: ``h = ln factor + exponent ln base``."""

    name: CardSetName
    size: str
    """As it was given, or half a unit of the last place of the numbers as they are written."""
    factor: Fraction
    """At least 1."""
    exponent: Fraction
    """At least 0, in powers of the model's base."""


def card_box(share: Fraction, size: str = "") -> Margin:
    """Each number of a scorecard multiplies the odds by what it does there times 1/(1+ε) to 1+ε."""
    return Margin("box", size, 1 + share, Fraction(0))


@dataclass(frozen=True)
class CardExtreme:
    """A pattern, and a scorecard of the set in which it has a degree."""

    sensitive_values: Assignment
    context_values: Assignment
    side: Literal[1, -1, 0]
    """Whether there what the sensitive values count is greater by h, and what they replace less; or the other
    way round; or neither, as in the audited scorecard.
    """
    share: Decimal
    """What everything else counts is greater by this times h, from -1 to 1."""
    given_pattern: Fraction
    given_context: Fraction
    degree: Fraction
    """``P(d | xy)``, ``P(d | y)`` and the degree there, its size rounded down at 39 digits or more."""


@dataclass(frozen=True)
class CardReach:
    """What is known of all scorecards of a set."""

    verdict: ReachVerdict
    largest: CardExtreme | None
    """The largest |degree| found; None if no attribute is sensitive."""
    upper: Fraction
    """Proved: no scorecard of the set has a pattern of larger |degree|."""
    certain: Certain | None
    """The pattern found whose least |degree| is largest; None where no pattern's is above 0, or every
    scorecard of the set is δ-fair.
    """


def card_reach(
    model: AdditiveModel, margin: Margin, criterion: Criterion, limits: Limits = DEFAULT
) -> CardReach:
    """Decide what holds for every scorecard of a set; exactly, as far as limits let it."""
    search = CardSearch(model, margin, criterion, limits)
    some, upper, largest = search.largest()
    if some is False:
        return CardReach("all-delta-fair", largest, upper, None)
    every, certain = search.certain()
    verdict: ReachVerdict = "varies" if some and every is False else "inconclusive"
    return CardReach("none-delta-fair" if every else verdict, largest, upper, certain)


def holds_for_cards(
    model: AdditiveModel, margin: Margin, criterion: Criterion, *, fair: bool, limits: Limits = DEFAULT
) -> bool | None:
    """Whether every scorecard of a set is δ-fair, or one pattern discriminates in all; None if left open."""
    search = CardSearch(model, margin, criterion, limits)
    exceeds = search.largest()[0] if fair else search.certain()[0]
    return exceeds if exceeds is None or not fair else not exceeds


#: Log-odds as what h is multiplied by and the rest, an exponent of the model's base beside its odds.
_LogOdds = tuple[Fraction, Fraction]


class CardSearch:
    """The largest sup, or the largest inf, that |degree| of any pattern has over the scorecards of a set."""

    def __init__(self, model: AdditiveModel, margin: Margin, criterion: Criterion, limits: Limits) -> None:
        self._model, self._margin, self._criterion, self._limits = model, margin, criterion, limits
        self.tables = tables_of_scorecard(model)
        self._units: dict[int, tuple[Decimal, Decimal]] = {}
        self.h = self._in_nats(CONTEXT)[0]
        self._leaves: Leaves = {}

    def largest(self) -> tuple[bool | None, Fraction, CardExtreme | None]:
        """Whether the sup exceeds the threshold, a bound on it, and a scorecard in which it is, or nearly."""
        threshold = self._criterion.threshold
        best: CardExtreme | None = None
        upper, exceeds, undecided = Fraction(0), False, False
        for bound, direction, x in self._by_strength(1):
            if best and bound <= abs(best.degree):
                # The others reach no further, which a bound from floats says of the best, too.
                break
            if self._limits.expired() or x is None:
                upper, undecided = max(upper, bound), undecided or bound > threshold
                break
            k = len(x)
            strength = direction * float(self.span(x, Fraction(2 * k * direction)))
            room = float(self.h) * (len(self._model.attributes) - k + 1)
            # What is no further from the peak than the other numbers reach is as good as at it.
            contexts, miss = self._contexts(x, direction, strength, k * direction, room)
            found = [self.at_most(x, y, direction) for y in contexts]
            one = max((extreme for extreme, _ in found), key=lambda extreme: abs(extreme.degree))
            beyond = any(over for _, over in found)
            proved = abs(one.degree) + 4 * _ERROR
            if miss is not None:
                proved = max(proved, self._size(strength, direction, max(0.0, miss - room)))
            elif not beyond:
                proved = min(proved, threshold)
            exceeds |= beyond
            undecided |= not beyond and proved > threshold
            upper = max(upper, proved)
            if best is None or abs(one.degree) > abs(best.degree):
                best = one
        return True if exceeds else None if undecided else False, upper, best

    def certain(self) -> tuple[bool | None, Certain | None]:
        """Whether the inf exceeds the threshold, None if that is left open, and the pattern that has it."""
        threshold = self._criterion.threshold
        best: Certain | None = None
        exceeds, undecided = False, False
        for bound, direction, x in self._by_strength(-1):
            if best and bound <= best.least:
                break
            if self._limits.expired() or x is None:
                undecided |= bound > threshold
                break
            k = len(x)
            strength = direction * float(self.span(x, Fraction(-2 * k * direction)))
            room = float(self.h) * (len(self._model.attributes) - k + 1)
            # The inf is nowhere nearer to the peak than the other numbers reach.
            if best and self._size(strength, direction, room) <= best.least:
                continue
            # A context about as near to the peak as the other numbers reach often settles it.
            for enough in (room, _NEAR):
                contexts, miss = self._contexts(x, direction, strength, -k * direction, enough)
                known = [(*self.at_least(x, y, direction), y) for y in contexts]
                beyond = any(over for _, over, _ in known)
                open_ = miss is not None and self._size(strength, direction, miss + room) > threshold
                if beyond or not open_:
                    break
            exceeds |= beyond
            undecided |= open_ and not beyond
            least, over, y = max(known, key=lambda one: one[:2])
            if least > (best.least if best else 0) or (over and not best):
                best = Certain(x, y, least)
        return True if exceeds else None if undecided else False, best

    def _by_strength(self, side: int) -> Iterator[tuple[Fraction, Literal[1, -1], Assignment | None]]:
        """Of each set of sensitive attributes and direction the strongest x, the greatest strengths first.

        Each comes with a bound on the sup, which holds for all that follow too. Strengths are the greatest in
        any scorecard, or for side -1 the least, and above 0. Where there are too many sets, only the bound on
        the others is given.
        """
        directions: tuple[Literal[1, -1], Literal[1, -1]] = (1, -1)
        walks = (self._sets(direction, side) for direction in directions)
        for number, (total, direction, x) in enumerate(merge(*walks, key=lambda one: -one[0])):
            if number == _MOST_SETS:
                yield self._supremum(total), direction, None
                return
            yield self._supremum(total), direction, x

    def _sets(
        self, direction: Literal[1, -1], side: int
    ) -> Iterator[tuple[Fraction, Literal[1, -1], Assignment]]:
        """The sets by the sum of each attribute's greatest strength, while it is above 0."""
        terms = []
        for i in self._model.sensitive:
            # By the weights themselves: the tables' integers can't tell all of them apart.
            weights = self._model.attributes[i].weights
            v = weights.index(max(weights) if direction > 0 else min(weights))
            one, steps = ((i, v),), Fraction(2 * side * direction)
            term = direction * Fraction(self.span(one, steps))
            if self._sign_of(one, steps) == direction:
                # No less than it is, whatever digits are lost where the margin takes nearly all of it away.
                term += _LOST_DIGITS * Fraction(abs(self.span(one, Fraction(0))) + 2 * self.h)
            else:
                term = min(term, Fraction(0))
            terms.append((term, i, v))
        # All that add to it make the greatest sum; any other set takes some of them out, or others in.
        terms.sort(key=lambda term: abs(term[0]))
        greatest = sum((max(Fraction(0), term) for term, _, _ in terms), Fraction(0))
        waiting: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(0), ())]
        while waiting:
            cost, changed = heappop(waiting)
            if greatest <= cost:
                return
            x = tuple(
                sorted((i, v) for place, (term, i, v) in enumerate(terms) if (term > 0) != (place in changed))
            )
            if x:
                yield greatest - cost, direction, x
            following = changed[-1] + 1 if changed else 0
            if following < len(terms):
                step = abs(terms[following][0])
                heappush(waiting, (cost + step, (*changed, following)))
                if changed:
                    heappush(waiting, (cost + step - abs(terms[changed[-1]][0]), (*changed[:-1], following)))

    def _contexts(
        self, x: Assignment, direction: int, strength: float, shift: int, enough: float
    ) -> tuple[list[Assignment], float | None]:
        """The contexts whose γ, shifted, may be nearest to the peak; if not all, how near the others are."""
        tables = self.tables
        outside = tables.outside(x)
        peak = float(self._criterion.peak(direction * strength))
        if isinf(peak):
            return [self._lowest(outside)], None
        rows = [tables.options[i] for i in outside]
        target = round((peak + shift * float(self.h)) * (1 << tables.bits)) - tables.prior
        # The target is a float: its error is small beside the slack of contexts that are told apart.
        slack = tables.slack + (1 << max(0, tables.bits - 44))
        found = nearest(rows, target, 1, slack, int(enough * (1 << tables.bits)), self._limits, self._leaves)
        contexts = [
            tuple((i, tables.finite[i][entry - 1]) for i, entry in zip(outside, choice, strict=True) if entry)
            for choice in found.choices
        ]
        if found.complete and len(contexts) <= _TIES:
            return contexts, None
        near = found.gap
        if found.complete:
            near = abs(sum(int(row[e]) for row, e in zip(rows, found.choices[0], strict=True)) - target)
        return contexts[:_TIES], max(0, near - 2 * slack) / (1 << tables.bits)

    def _lowest(self, attributes: Sequence[int]) -> Assignment:
        """The context of the lowest log-odds."""
        found = []
        for i in attributes:
            attribute = self._model.attributes[i]
            v = min(range(len(attribute.weights)), key=attribute.weights.__getitem__)
            if attribute.weights[v] < attribute.undisclosed:
                found.append((i, v))
        return tuple(found)

    def at_most(self, x: Assignment, y: Assignment, direction: Literal[1, -1]) -> tuple[CardExtreme, bool]:
        """A scorecard in which a pattern has its sup, and whether that is above the threshold, exactly."""
        k, room = len(x), len(self._model.attributes) - len(x) + 1
        context = self._model.exponent(y)
        strength = self._model.exponent((*x, *y)) - context
        low = self._nats((Fraction(-k * direction), context), odds=True)
        span = self._nats((Fraction(2 * k * direction), strength), odds=False)
        # Signs are taken without rounding to the digits of a context.
        reach = CONTEXT.multiply(self.h, Decimal(room))
        ends = [
            ((Fraction(end - k * direction), context), (Fraction(end + k * direction), context + strength))
            for end in (-room, room)
        ]
        lowest = isinf(float(self._criterion.peak(float(span)))) or self._beyond_the_peak(*ends[0]) >= 0
        if lowest or self._beyond_the_peak(*ends[1]) <= 0:
            exceeds = self._exceeds(*ends[0 if lowest else 1], direction)
            share = Decimal(-1 if lowest else 1)
        else:
            middle = CONTEXT.subtract(CONTEXT.divide(span, Decimal(-2)), low)
            share = max(Decimal(-1), min(Decimal(1), CONTEXT.divide(middle, reach)))
            share = share.quantize(_SHARE, context=CONTEXT)
            exceeds = self.exceeds_somewhere(x, Fraction(2 * k * direction), direction)
        start = CONTEXT.add(low, CONTEXT.multiply(share, reach))
        given_context, given_pattern = _logistic(start), _logistic(CONTEXT.add(start, span))
        degree = self._criterion.degree(given_pattern, given_context)
        towards = max(Fraction(0), abs(degree) - _ERROR)
        return (
            CardExtreme(
                x, y, direction, share, given_pattern, given_context, towards if degree > 0 else -towards
            ),
            exceeds,
        )

    def at_least(self, x: Assignment, y: Assignment, direction: int) -> tuple[Fraction, bool]:
        """The inf of a pattern from below, and whether it is above the threshold, exactly."""
        k, room = len(x), len(self._model.attributes) - len(x) + 1
        if self._sign_of(x, Fraction(-2 * k * direction)) != direction:
            return Fraction(0), False
        context = self._model.exponent(y)
        strength = self._model.exponent((*x, *y)) - context
        least, exceeds = Fraction(1), True
        for end in (Fraction(room), Fraction(-room)):
            before, after = (end + k * direction, context), (end - k * direction, context + strength)
            given = [_logistic(self._nats(one, odds=True)) for one in (after, before)]
            least = min(least, abs(self._criterion.degree(*given)) - _ERROR)
            exceeds &= self._exceeds(before, after, direction)
        return max(self._criterion.threshold if exceeds else Fraction(0), least), exceeds

    def _beyond_the_peak(self, before: _LogOdds, after: _LogOdds) -> int:
        """The sign of their sum, which is 0 where a difference is greatest."""
        steps, exponent = (before[n] + after[n] for n in (0, 1))
        return self._sign([self._term(self._model.odds**2, steps, exponent), (Fraction(-1), Fraction(0))])

    def _exceeds(self, before: _LogOdds, after: _LogOdds, direction: int) -> bool:
        """Whether |degree| is above the threshold for log-odds that move so, decided without rounding."""
        greater, smaller = (after, before) if direction > 0 else (before, after)
        terms = []
        for c, i, j in self._criterion.odds_terms():
            steps, exponent = (i * greater[n] + j * smaller[n] for n in (0, 1))
            terms.append(self._term(c * self._model.odds ** (i + j), steps, exponent))
        return self._sign(terms) > 0

    def exceeds_somewhere(self, x: Assignment, steps: Fraction, direction: int) -> bool:
        """Whether |degree| at its peak is above the threshold, for a `span` of that direction."""
        strength = self._model.exponent(x) - self._model.exponent()
        terms = [
            self._term(c, p * direction * steps, p * direction * strength)
            for c, p in self._criterion.supremum_terms()
        ]
        return self._sign(terms) > 0

    def _term(self, c: Fraction, steps: Fraction, exponent: Fraction) -> tuple[Fraction, Fraction]:
        """``c e^(steps h) base^exponent`` as a coefficient and an exponent; steps are whole numbers."""
        assert steps.denominator == 1, "a strength moves by 2kh, of which the half is a whole number of h"
        return c * self._margin.factor ** int(steps), exponent + steps * self._margin.exponent

    def _sign(self, terms: list[tuple[Fraction, Fraction]]) -> int:
        return sign(terms, self._model.base)

    def _sign_of(self, x: Assignment, steps: Fraction) -> int:
        """The sign of a `span`, whose digits may all be lost where one part of it is next to the other."""
        strength = self._model.exponent(x) - self._model.exponent()
        return self._sign([self._term(Fraction(1), steps, strength), (Fraction(-1), Fraction(0))])

    def span(self, x: Assignment, steps: Fraction, context: Context = CONTEXT) -> Decimal:
        """The strength of x, and so many times h."""
        return self._sum((steps, self._model.exponent(x) - self._model.exponent()), context)

    def _nats(self, log_odds: _LogOdds, *, odds: bool) -> Decimal:
        """Log-odds to 50 digits or more."""
        value = self._sum(log_odds, CONTEXT)
        return CONTEXT.add(value, ln(self._model.odds)) if odds else value

    def _sum(self, log_odds: _LogOdds, context: Context) -> Decimal:
        """Both parts in nats; the digits are those of the larger part."""
        h, unit = self._in_nats(context)
        return context.add(
            *(context.multiply(_decimal(n, context), one) for n, one in zip(log_odds, (h, unit), strict=True))
        )

    def _in_nats(self, context: Context) -> tuple[Decimal, Decimal]:
        """h, and the model's unit of exponents."""
        if context.prec not in self._units:
            unit = context.ln(Decimal(2)) if self._model.base == "2" else Decimal(1)
            factor = context.ln(_decimal(self._margin.factor, context))
            exponent = context.multiply(_decimal(self._margin.exponent, context), unit)
            self._units[context.prec] = context.add(factor, exponent), unit
        return self._units[context.prec]

    def _supremum(self, strength: Fraction | float) -> Fraction:
        """From above, |degree| wherever it is greatest."""
        bound = float(self._criterion.supremum(float(strength) * _ROUND_UP)) * _ROUND_UP
        return Fraction(min(1.0, bound + LOST))

    def _size(self, strength: float, direction: int, off: float) -> Fraction:
        """From above, |degree| at some distance from its peak, or anywhere where the peak is infinite."""
        s = direction * strength * _ROUND_UP
        peak = float(self._criterion.peak(s))
        if isinf(peak):
            return self._supremum(strength)
        return Fraction(min(1.0, float(self._criterion.size(s, peak + off)) * _ROUND_UP + 1e-15))


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _logistic(t: Decimal) -> Fraction:
    """``1 / (1 + e^-t)``, to 50 digits or more."""
    if t < 0:
        odds = Fraction(CONTEXT.exp(t))
        return odds / (1 + odds)
    return 1 / (1 + Fraction(CONTEXT.exp(t.copy_negate())))
