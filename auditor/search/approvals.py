"""Who is approved at a cut-off: a measure beside the search, which no verdict depends on.

With everything disclosed a scorecard gives each person a score, and whoever reaches the cut-off is approved.
In the conforming population, with all undisclosed attributes independent given the decision,

    P(approved | y) = P(d | y) P(score >= c | y, d) + P(d̄ | y) P(score >= c | y, d̄).

Scores are integers in the common unit of the weights as they are written, so that the two distributions of
the undisclosed part of the score are sums over integers. They are added up in two halves that meet at the
cut-off: what is compared is never rounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.additive import AdditiveModel
from auditor.model.cutoff import Cutoff, least_exponent
from auditor.model.exponentials import power
from auditor.model.naive_bayes import Assignment
from auditor.search.groups import Groups
from auditor.search.pattern import Pattern

#: Digits of the chances that are added up; the population itself is known to about 20.
_DIGITS = 40
#: Fraction bits of the masses of scores.
_BITS = 128
#: Sums of scores that one half may take.
_MOST = 1 << 20


@dataclass(frozen=True)
class ApprovedGroup:
    """People with sensitive values x: ``P(x)``, ``P(approved | x)``, and that over the largest such rate."""

    values: Assignment
    probability: Fraction
    approved: Fraction
    impact_ratio: Fraction | None


@dataclass(frozen=True)
class ApprovedPattern:
    """``P(approved | xy)`` and ``P(approved | y)`` of a listed pattern."""

    pattern: Pattern
    given_pattern: Fraction
    given_context: Fraction


@dataclass(frozen=True)
class Approvals:
    """Rates of approval: of everybody, of each group by the same attributes, and of listed patterns."""

    cutoff: Cutoff
    approved: Fraction
    groups: tuple[tuple[tuple[int, ...], tuple[ApprovedGroup, ...]], ...]
    patterns: tuple[ApprovedPattern, ...]


def approvals_of(scores: Scores, groups: Iterable[Groups], patterns: Iterable[Pattern]) -> Approvals:
    """Rates of approval in the population of a scorecard, to about 20 digits."""
    tables = []
    for table in groups:
        rates = [scores.approved(group.values) for group in table.groups]
        most = max(rates)
        found = zip(table.groups, rates, strict=True)
        tables.append(
            (
                table.attributes,
                tuple(
                    ApprovedGroup(
                        group.values, group.probability or Fraction(0), rate, rate / most if most else None
                    )
                    for group, rate in found
                ),
            )
        )
    return Approvals(
        scores.cutoff,
        scores.approved(()),
        tuple(tables),
        tuple(
            ApprovedPattern(
                pattern,
                scores.approved(pattern.sensitive_values + pattern.context_values),
                scores.approved(pattern.context_values),
            )
            for pattern in dict.fromkeys(patterns)
        ),
    )


#: Per score its mass given the favourable and given the unfavourable decision.
_Masses = dict[int, tuple[int, int]]


class Scores:
    """Distributions of the undisclosed part of the score.

    Raises
    ------
    InputError
        If the model assumes no population, or its scores are too many to be added up.
    """

    def __init__(self, model: AdditiveModel, cutoff: Cutoff) -> None:
        if model.unfavourable_share is None:
            raise InputError(
                "cutoff: rates of approval take a population, and none is assumed where what isn't disclosed "
                f'is "{model.undisclosed}"; leave the cut-off out, or ask about the "conforming" population'
            )
        self._model, self.cutoff = model, cutoff
        self._unit, self._start, self._moves = model.in_units
        self._least = least_exponent(model, cutoff)
        self._rows = [_row(model, i) for i in range(len(model.attributes))]
        self._halves: dict[frozenset[int], tuple[_Masses, _Tail]] = {}
        # With nothing disclosed there are the most scores: what is too large is refused now, and not during
        # the search.
        self._split(frozenset())

    def approved(self, values: Assignment) -> Fraction:
        """``P(approved | values)``."""
        need = self._least
        if need is None:
            return Fraction(0)
        need -= self._start + sum(self._moves[i][v] for i, v in values)
        first, rest = self._split(frozenset(i for i, _ in values))
        given = [0, 0]
        for score, masses in first.items():
            reached = rest.reaching(need - score)
            for side in (0, 1):
                given[side] += masses[side] * reached[side]
        favourable = Fraction(self._model.probability(values, digits=_DIGITS))
        totals = [sum(m[side] for m in first.values()) * rest.total[side] for side in (0, 1)]
        a, b = (Fraction(part, total) for part, total in zip(given, totals, strict=True))
        return favourable * a + (1 - favourable) * b

    def _split(self, disclosed: frozenset[int]) -> tuple[_Masses, _Tail]:
        if disclosed not in self._halves:
            halves: list[_Masses] = [{0: (1 << _BITS, 1 << _BITS)}] * 2
            for i, row in enumerate(self._rows):
                if i not in disclosed:
                    small = min((0, 1), key=lambda half: len(halves[half]))
                    halves[small] = self._added(halves[small], row)
            first, second = sorted(halves, key=len)
            self._halves[disclosed] = first, _Tail(second)
        return self._halves[disclosed]

    def _added(self, masses: _Masses, row: Sequence[tuple[int, int, int]]) -> _Masses:
        """The distribution of the sum of a score and of what one more attribute counts."""
        if len(masses) * len(row) > _MOST:
            raise InputError(
                f"cutoff: {escaped(self._model.name)} has too many different scores to be added up; points "
                "that are rounded to a common step have fewer"
            )
        found: _Masses = {}
        for score, (a, b) in masses.items():
            for move, p, q in row:
                at = score + move
                old = found.get(at, (0, 0))
                found[at] = old[0] + (a * p >> _BITS), old[1] + (b * q >> _BITS)
        return found


class _Tail:
    """Masses of all scores from some score on."""

    def __init__(self, masses: _Masses) -> None:
        self._scores = sorted(masses)
        self._sides = [
            [*accumulate((masses[score][side] for score in reversed(self._scores)), initial=0)]
            for side in (0, 1)
        ]
        self.total = tuple(side[-1] for side in self._sides)

    def reaching(self, score: int) -> tuple[int, ...]:
        """Of scores of at least this."""
        number = len(self._scores) - bisect_left(self._scores, score)
        return tuple(side[number] for side in self._sides)


def _row(model: AdditiveModel, i: int) -> tuple[tuple[int, int, int], ...]:
    """Per value its move, ``P(v | d) = P(v | d̄) base^move`` and ``P(v | d̄)``."""
    attribute, (unit, _, moves) = model.attributes[i], model.in_units
    assert attribute.population is not None
    row = []
    for move, share in zip(moves[i], attribute.population, strict=True):
        low, high = power(Fraction(move, unit), model.base, _DIGITS)
        factor = (Fraction(low) + Fraction(high)) / 2
        row.append((move, int(share * factor * (1 << _BITS)), int(share * (1 << _BITS))))
    return tuple(row)
