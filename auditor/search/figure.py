"""The largest |degree| among some patterns, with both its ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from auditor.search.pattern import Pattern

#: Degrees of scorecards are irrational, and measured to about 40 digits.
_UNTOLD = Fraction(1, 10**38)


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
        return self.upper - self.lower <= _UNTOLD

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
