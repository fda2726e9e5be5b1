"""The largest |degree| among some patterns, with both its ends, and all such figures of one answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, islice
from math import inf
from typing import TYPE_CHECKING, Self

from auditor.search.pattern import UNTOLD, Pattern

if TYPE_CHECKING:
    from auditor.model.classifier import Classifier
    from auditor.search.additive.worst import Worst
    from auditor.search.question import Share

#: Whether a pattern has at least a probability, exactly: the one that is told may be rounded.
IsProbable = Callable[[Pattern, Fraction], bool]


@dataclass(frozen=True)
class Figure:
    """What was found and what was proved of the largest |degree| among some patterns."""

    witness: Pattern | None
    """The worst pattern found; None if there is none in scope."""
    upper: Fraction
    """Proved: no pattern among them has a larger |degree|."""

    @property
    def lower(self) -> Fraction:
        """|degree| of the witness, 0 without one."""
        return abs(self.witness.degree) if self.witness else Fraction(0)

    @property
    def exact(self) -> bool:
        """Whether both ends meet, but for digits that no degree is measured to: it is known."""
        return self.upper - self.lower <= UNTOLD

    def having_seen(self, patterns: Iterable[Pattern]) -> Self:
        """Return the figure with the worst of its witness and of other patterns among those it speaks of."""
        worst = max(patterns, key=lambda pattern: abs(pattern.degree), default=None)
        if worst is None or (self.witness is not None and abs(worst.degree) <= self.lower):
            return self
        return replace(self, witness=worst)

    def below(self, upper: Fraction) -> Self:
        """Return the figure with another proved upper bound, if that is tighter.

        Raises
        ------
        RuntimeError
            If a pattern was found above the bound. That is a bug, and nothing may stand on it.
        """
        if upper < self.lower:
            raise RuntimeError("a pattern was found whose degree is above a proved bound")
        return replace(self, upper=min(self.upper, upper))


@dataclass(frozen=True)
class FigureScope:
    """The patterns that a figure speaks of: those that meet every condition."""

    disclosing: frozenset[int] = frozenset()
    """x discloses at least these attributes."""
    only: frozenset[int] | None = None
    """x discloses none but these."""
    probability: Fraction = Fraction(0)
    """``P(xy)`` is at least this."""
    least_context: int = 0
    most_context: float = inf
    """How many attributes y may disclose."""

    def has(self, pattern: Pattern, is_probable: IsProbable) -> bool:
        """Whether a pattern meets the conditions."""
        return (
            self.disclosing <= pattern.disclosed
            and (self.only is None or pattern.disclosed <= self.only)
            and self.least_context <= len(pattern.context_values) <= self.most_context
            and (not self.probability or is_probable(pattern, self.probability))
        )

    def within(self, other: FigureScope) -> bool:
        """Whether every pattern that meets these conditions meets the other's too."""
        return (
            self.disclosing >= other.disclosing
            and (other.only is None or (self.only is not None and self.only <= other.only))
            and self.probability >= other.probability
            and self.least_context >= other.least_context
            and self.most_context <= other.most_context
        )


#: All patterns, and those without context.
ALL, GROUP = FigureScope(), FigureScope(most_context=0)


def individual(model: Classifier) -> FigureScope:
    """The patterns that disclose every attribute."""
    return FigureScope(frozenset(model.sensitive), least_context=len(model.attributes) - len(model.sensitive))


def disclosing(attribute: int) -> FigureScope:
    """The patterns that disclose a sensitive attribute, alone or with others."""
    return FigureScope(frozenset((attribute,)))


def among(first: int, second: int) -> FigureScope:
    """The patterns that disclose no sensitive attributes but these; the same one twice stands for one."""
    only = frozenset((first, second))
    return FigureScope(disclosing=only if first == second else frozenset(), only=only)


def probable(share: Share) -> FigureScope:
    """The patterns that at least this share of people has."""
    return FigureScope(probability=share.value)


class Figures:
    """The figures of an answer by their scopes, and every pattern that any search has found."""

    def __init__(self) -> None:
        self._figures: dict[FigureScope, Figure] = {}
        self.seen: list[Pattern] = []

    def __getitem__(self, scope: FigureScope) -> Figure:
        return self._figures[scope]

    def get(self, scope: FigureScope) -> Figure | None:
        """The figure of a scope, if it was searched."""
        return self._figures.get(scope)

    def add(self, scope: FigureScope, found: Worst) -> None:
        """Take what a search has found and proved."""
        self._figures[scope] = Figure(next(iter(found.patterns), None), found.upper)
        self.seen += found.patterns

    def settle(self, ceiling: Fraction, cover: Collection[FigureScope], is_probable: IsProbable) -> None:
        """Let each figure know what the others found and proved.

        Parameters
        ----------
        ceiling : Fraction
            Proved: no degree is above it.
        cover : collection of FigureScope
            Every pattern is in one of these, if there are any.
        """
        seen = _Seen({p.key: p for p in self.seen}.values(), is_probable)
        found = {scope: figure.having_seen(seen.worst_in(scope)) for scope, figure in self._figures.items()}
        # Only few of the scopes that disclose an attribute are wider than another: not all are compared.
        tightest: dict[int | None, list[tuple[FigureScope, Fraction]]] = defaultdict(list)
        for scope, figure in sorted(found.items(), key=lambda entry: entry[1].upper):
            tightest[min(scope.disclosing, default=None)].append((scope, figure.upper))
        uppers = {
            scope: min(
                next((upper for wider, upper in tightest.get(i, ()) if scope.within(wider)), ceiling)
                for i in (None, *scope.disclosing)
            )
            for scope in found
        }
        ceiling = min(ceiling, max((uppers[scope] for scope in cover), default=ceiling))
        self._figures = {scope: figure.below(min(uppers[scope], ceiling)) for scope, figure in found.items()}


class _Seen:
    """Patterns by what they disclose, the worst first, so that no scope need look through all of them."""

    def __init__(self, patterns: Iterable[Pattern], is_probable: IsProbable) -> None:
        self._is_probable = is_probable
        self._all = sorted(patterns, key=lambda pattern: -abs(pattern.degree))
        self._exactly: dict[frozenset[int], list[Pattern]] = defaultdict(list)
        self._with: dict[int, list[Pattern]] = defaultdict(list)
        for pattern in self._all:
            self._exactly[pattern.disclosed].append(pattern)
            for i in pattern.disclosed:
                self._with[i].append(pattern)

    def worst_in(self, scope: FigureScope) -> Iterator[Pattern]:
        """The worst pattern in a scope, or the worst of each of some parts of it."""
        if scope.only is not None:
            sizes = range(1, len(scope.only) + 1)
            sets = chain.from_iterable(combinations(scope.only, size) for size in sizes)
            parts = [self._exactly.get(frozenset(disclosed), []) for disclosed in sets]
        else:
            parts = [self._with.get(min(scope.disclosing), []) if scope.disclosing else self._all]
        return chain.from_iterable(
            islice((pattern for pattern in part if scope.has(pattern, self._is_probable)), 1)
            for part in parts
        )
