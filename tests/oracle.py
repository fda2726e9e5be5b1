"""Brute force in rationals: what the search must find, computed in the most obvious way.

Nothing here comes from `auditor`. A model is a prior and, per attribute, its rows
``(P(v | d), P(v | d̄))`` and whether it is sensitive. All pairs (x, y) are listed, measured in
`fractions.Fraction`, and every question is answered from that list by its definition. It is slow, and meant
for a few thousand pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from math import prod
from typing import Literal, TypeVar

#: Pairs (attribute index, value index), in increasing order of attribute.
Values = tuple[tuple[int, int], ...]
Key = tuple[Values, Values]
CriterionName = Literal["difference", "ratio"]
RankBy = Literal["discrimination", "divergence", "probability"]
T = TypeVar("T")

#: Significant digits of a divergence, and those in which two must agree to be a tie.
DIGITS, TIE_DIGITS = 60, 28


@dataclass(frozen=True)
class PlainAttribute:
    """An attribute as bare numbers: rows ``(P(v | d), P(v | d̄))``, one per value."""

    rows: tuple[tuple[Fraction, Fraction], ...]
    sensitive: bool


@dataclass(frozen=True)
class PlainModel:
    """A naive Bayes model as bare numbers."""

    prior: Fraction
    attributes: tuple[PlainAttribute, ...]

    @property
    def sensitive(self) -> tuple[int, ...]:
        """Indices of the sensitive attributes."""
        return tuple(i for i, attribute in enumerate(self.attributes) if attribute.sensitive)

    def joint(self, values: Values) -> tuple[Fraction, Fraction]:
        """``(P(d, z), P(d̄, z))`` straight from the definition of naive Bayes."""
        favourable, unfavourable = self.prior, 1 - self.prior
        for attribute, value in values:
            row = self.attributes[attribute].rows[value]
            favourable, unfavourable = favourable * row[0], unfavourable * row[1]
        return favourable, unfavourable


@dataclass(frozen=True)
class Pair:
    """A pair (x, y) of positive probability, measured exactly.

    Attributes
    ----------
    x, y : Values
    pattern : (Fraction, Fraction)
        ``(P(d, x, y), P(d̄, x, y))``.
    context : (Fraction, Fraction)
        ``(P(d, y), P(d̄, y))``.
    degree : Fraction
    """

    x: Values
    y: Values
    pattern: tuple[Fraction, Fraction]
    context: tuple[Fraction, Fraction]
    degree: Fraction

    @cached_property
    def probability(self) -> Fraction:
        """P(xy)."""
        return sum(self.pattern, Fraction(0))

    @cached_property
    def size(self) -> Fraction:
        """``|degree|``."""
        return abs(self.degree)

    @property
    def favourable_given_pattern(self) -> Fraction:
        """P(d | xy)."""
        return self.pattern[0] / self.probability

    @property
    def favourable_given_context(self) -> Fraction:
        """P(d | y)."""
        return self.context[0] / sum(self.context)

    @property
    def key(self) -> Key:
        """The pair as its values."""
        return self.x, self.y

    @property
    def rank(self) -> tuple[int, Values, Values]:
        """What breaks ties: fewer values first, then the values themselves."""
        return len(self.x) + len(self.y), self.x, self.y

    @property
    def disclosed(self) -> tuple[int, ...]:
        """X, the sensitive attributes disclosed."""
        return tuple(attribute for attribute, _ in self.x)


def degree(criterion: CriterionName, a: Fraction, c: Fraction) -> Fraction:
    """Degree of discrimination between a = P(d | xy) and c = P(d | y)."""
    if criterion == "difference":
        return a - c
    if c == 0:
        return Fraction(0)
    quotient = a / c
    return 1 - 1 / quotient if quotient >= 1 else -(1 - quotient)


def repaired(criterion: CriterionName, threshold: Fraction, pair: Pair) -> Fraction:
    """P(d | xy) after the smallest change of P(d, xy) that makes the pattern fair.

    Moving r from P(d̄, xy) to P(d, xy) makes a' = a + r/P(xy) and c' = c + r/P(y) = c + f·(a' − a), with
    f = P(x | y). At the optimum the constraint is met with equality (the divergence is convex in r):
    a' − c' = ±δ for the difference; a'·(1 − τ) = c' or a' = (1 − τ)·c' for the ratio.
    """
    a, c = pair.favourable_given_pattern, pair.favourable_given_context
    f = pair.probability / sum(pair.context)
    rest = c - f * a
    if criterion == "difference":
        return (rest + threshold if pair.degree > 0 else rest - threshold) / (1 - f)
    share = 1 - threshold
    return rest / (share - f) if pair.degree > 0 else share * rest / (1 - share * f)


def divergence(criterion: CriterionName, threshold: Fraction, pair: Pair) -> Decimal:
    """Divergence score in nats: the least KL(P ‖ Q) over all Q that differ only on xy and are fair on it.

    The two terms nearly cancel where the pattern is barely unfair, so as many digits are added as they lose.
    """
    if pair.size <= threshold:
        return Decimal(0)
    favourable = repaired(criterion, threshold, pair) * pair.probability
    terms = [
        (p, q)
        for p, q in zip(pair.pattern, (favourable, pair.probability - favourable), strict=True)
        if p > 0
    ]
    if any(q == 0 for _, q in terms):
        return Decimal("Infinity")
    change = min(abs(p - q) / p for p, q in terms)
    lost = len(str(change.denominator)) - len(str(change.numerator))
    context = Context(prec=DIGITS + 10 + 2 * max(0, lost))
    total = Decimal(0)
    for p, q in terms:
        logarithm = context.ln(as_decimal(p / q, context))
        total = context.add(total, context.multiply(as_decimal(p, context), logarithm))
    return Context(prec=DIGITS).plus(total)


def as_decimal(number: Fraction, context: Context) -> Decimal:
    """Rounded once."""
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


@dataclass(frozen=True)
class BruteForce:
    """All pairs (x, y) of a model, measured under a criterion."""

    model: PlainModel
    criterion: CriterionName
    _divergences: dict[Fraction, dict[Key, Decimal]] = field(default_factory=dict, repr=False, compare=False)

    def assignments(self) -> Iterator[Key]:
        """Every (x, y) with x non-empty, of positive probability or not."""
        keys: list[Key] = [((), ())]
        for i, attribute in enumerate(self.model.attributes):
            disclosed = [((i, v),) for v in range(len(attribute.rows))]
            keys = [
                (x + in_x, y + in_y)
                for x, y in keys
                for in_x, in_y in chain(
                    [((), ())],
                    (((), value) for value in disclosed),
                    ((value, ()) for value in disclosed if attribute.sensitive),
                )
            ]
        return (key for key in keys if key[0])

    @cached_property
    def total(self) -> int:
        """Number of pairs, the undefined ones included."""
        return sum(1 for _ in self.assignments())

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of positive probability; of the others no degree is defined."""
        joints: dict[Values, tuple[Fraction, Fraction]] = {}
        measured = []
        for x, y in self.assignments():
            whole = tuple(sorted(x + y))
            for values in (whole, y):
                if values not in joints:
                    joints[values] = self.model.joint(values)
            pattern, context = joints[whole], joints[y]
            if sum(pattern) == 0:
                continue
            a, c = pattern[0] / sum(pattern), context[0] / sum(context)
            measured.append(Pair(x, y, pattern, context, degree(self.criterion, a, c)))
        return tuple(measured)

    @cached_property
    def by_key(self) -> dict[Key, Pair]:
        """The defined pairs by their values."""
        return {pair.key: pair for pair in self.pairs}

    def pairs_by_disclosed(self) -> dict[tuple[int, ...], int]:
        """Number of all (x, y) over each X, the undefined ones included."""
        sizes = [len(attribute.rows) for attribute in self.model.attributes]
        return {
            disclosed: prod(sizes[i] for i in disclosed)
            * prod(1 + m for i, m in enumerate(sizes) if i not in disclosed)
            for disclosed in subsets(self.model.sensitive)
            if disclosed
        }

    @cached_property
    def from_worst(self) -> list[Pair]:
        """The defined pairs, patterns or not, those of larger ``|degree|`` first."""
        return from_largest(self.pairs, lambda pair: pair.size)

    def worst(self, k: int = 1) -> list[Pair]:
        """The k defined pairs of largest ``|degree|``, patterns or not."""
        return self.from_worst[:k]

    def group_level(self) -> Pair:
        """Worst with Y = ∅."""
        return next(pair for pair in self.from_worst if not pair.y)

    def individual_level(self) -> Pair:
        """Worst with X = S and Y = Z∖S."""
        sensitive, everything = self.model.sensitive, len(self.model.attributes)
        return next(
            pair
            for pair in self.from_worst
            if pair.disclosed == sensitive and len(pair.x) + len(pair.y) == everything
        )

    def worst_disclosing(self, attribute: int) -> Pair:
        """Worst of the pairs whose x discloses the attribute."""
        return next(pair for pair in self.from_worst if attribute in pair.disclosed)

    def at(self, threshold: Fraction, min_probability: Fraction | None = None) -> Patterns:
        """The discrimination patterns at a threshold; below `min_probability` they do not exist."""
        return Patterns(
            self.criterion,
            threshold,
            tuple(
                pair
                for pair in self.pairs
                if pair.size > threshold and (min_probability is None or pair.probability >= min_probability)
            ),
            self._divergences.setdefault(threshold, {}),
        )


@dataclass(frozen=True)
class Patterns:
    """Discrimination patterns (``|degree| > threshold``) and what can be asked about them."""

    criterion: CriterionName
    threshold: Fraction
    patterns: tuple[Pair, ...]
    _divergences: dict[Key, Decimal] = field(default_factory=dict, repr=False, compare=False)
    _orders: dict[RankBy, list[Pair]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def keys(self) -> frozenset[Key]:
        """All of them."""
        return frozenset(pair.key for pair in self.patterns)

    def count_by_disclosed(self) -> dict[tuple[int, ...], int]:
        """Number of patterns over each X that has any."""
        counts: dict[tuple[int, ...], int] = {}
        for pair in self.patterns:
            counts[pair.disclosed] = counts.get(pair.disclosed, 0) + 1
        return counts

    def count_disclosing(self, attribute: int) -> int:
        """Number of patterns whose x discloses the attribute."""
        return sum(attribute in pair.disclosed for pair in self.patterns)

    def divergence(self, pair: Pair) -> Decimal:
        """Divergence score of a pattern."""
        if pair.key not in self._divergences:
            self._divergences[pair.key] = divergence(self.criterion, self.threshold, pair)
        return self._divergences[pair.key]

    def score(self, rank_by: RankBy, pair: Pair) -> Fraction | Decimal:
        """By what a list is ranked; two divergences that agree in all but the last digits are a tie."""
        if rank_by == "discrimination":
            return pair.size
        if rank_by == "probability":
            return pair.probability
        return Context(prec=TIE_DIGITS).plus(self.divergence(pair))

    def top(self, k: int, rank_by: RankBy) -> list[Pair]:
        """The k patterns of highest score; ties are broken by the pattern itself."""
        if rank_by not in self._orders:
            self._orders[rank_by] = from_largest(self.patterns, lambda pair: self.score(rank_by, pair))
        return self._orders[rank_by][:k]

    def minimal(self) -> set[Key]:
        """Patterns no proper part of which (x' ⊆ x non-empty, y' ⊆ y) is a pattern."""
        return {key for key in self.keys if self.keys.isdisjoint(proper_parts(key))}

    def maximal(self) -> set[Key]:
        """Patterns no proper extension of which (x' ⊇ x, y' ⊇ y) is a pattern."""
        extended = {part for key in self.keys for part in proper_parts(key)}
        return set(self.keys - extended)

    def pareto(self) -> set[Key]:
        """Patterns than which none is as good in both P(xy) and ``|degree|`` and better in one."""
        front = set()
        best: Fraction | None = None  # the largest |degree| among patterns of higher probability
        for pairs in grouped(sorted(self.patterns, key=lambda pair: -pair.probability)):
            largest = max(pair.size for pair in pairs)
            if best is None or largest > best:
                front |= {pair.key for pair in pairs if pair.size == largest}
                best = largest
        return front


def grouped(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Neighbours of equal probability together."""
    group: list[Pair] = []
    for pair in pairs:
        if group and group[0].probability != pair.probability:
            yield group
            group = []
        group.append(pair)
    if group:
        yield group


def from_largest(pairs: Iterable[Pair], score: Callable[[Pair], Fraction | Decimal]) -> list[Pair]:
    """The pairs from the largest score down; ties are broken by the pair itself."""
    in_order_of_ties = sorted(pairs, key=lambda pair: pair.rank)
    return sorted(in_order_of_ties, key=score, reverse=True)


def subsets(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """All subsets, each in the order of `items`; of an assignment the partial ones."""
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def proper_parts(key: Key) -> Iterator[Key]:
    """All (x', y') ≠ (x, y) with x' ⊆ x non-empty and y' ⊆ y."""
    x, y = key
    return (
        (part_of_x, part_of_y)
        for part_of_x in subsets(x)
        for part_of_y in subsets(y)
        if part_of_x and (part_of_x, part_of_y) != key
    )
