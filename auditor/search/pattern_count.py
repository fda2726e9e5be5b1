"""The number of discrimination patterns, or what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Self

from auditor.choices import CoverageMethod
from auditor.model.naive_bayes import Assignment


@dataclass(frozen=True)
class Coverage:
    """How the pairs (x, y) over one set X of disclosed sensitive attributes were decided."""

    disclosed: tuple[int, ...]
    """The attributes of X."""
    method: CoverageMethod
    """It is "closed form" where the extreme values settle every x in every context (`is_closed`), "exhausted"
    where contexts were counted, "enclosed" where their number was bounded from both sides, "bounded" where
    the search for the largest |degree| has shown that there is none.
    """
    pairs: int
    """All pairs over X."""
    lower: int
    upper: int
    """At least and at most so many of them are discrimination patterns."""

    @property
    def patterns(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None


@dataclass(frozen=True)
class PatternCount:
    """The number of discrimination patterns, or what is known of it."""

    lower: int
    upper: int
    """There are at least and at most so many."""
    reason: str | None
    """Why the number isn't known exactly."""
    coverage: tuple[Coverage, ...]
    """One entry per non-empty set of sensitive attributes, smallest sets first; their bounds add up to these
    and their pairs to `LogOdds.total_patterns`. Empty where nothing was counted.
    """
    found: tuple[tuple[int, ...], ...] = ()
    """The set X of each discrimination pattern that a search has found, where nothing was counted."""
    example: tuple[Assignment, Assignment] | None = None
    """One of the patterns, where those of a minimum probability were counted and there are any."""

    @property
    def total(self) -> int | None:
        """The number of patterns, where it is known exactly."""
        return self.lower if self.lower == self.upper else None

    def having_seen(self, disclosed: Iterable[tuple[int, ...]]) -> Self:
        """With at least as many patterns over each set X as were found by searches, each given once.

        Raises
        ------
        RuntimeError
            If these are more than there can be.
        """
        found = Counter(disclosed)
        if self.total is not None:
            return self
        coverage = tuple(
            replace(entry, lower=max(entry.lower, found[entry.disclosed])) for entry in self.coverage
        )
        lower = sum(entry.lower for entry in coverage) if coverage else max(self.lower, found.total())
        if lower > self.upper or any(entry.lower > entry.upper for entry in coverage):
            raise RuntimeError("more patterns were found than there can be")
        reason = self.reason if lower < self.upper else None
        return replace(self, lower=lower, reason=reason, coverage=coverage, found=tuple(found.elements()))

    def disclosing(self, attribute: int) -> tuple[int, int]:
        """At least and at most how many patterns have an x that discloses a sensitive attribute."""
        if not self.coverage:
            return self._found_with[attribute], self.upper
        entries = [entry for entry in self.coverage if attribute in entry.disclosed]
        return sum(entry.lower for entry in entries), sum(entry.upper for entry in entries)

    @cached_property
    def _found_with(self) -> Counter[int]:
        """How many of the patterns found disclose each attribute."""
        return Counter(chain.from_iterable(self.found))
