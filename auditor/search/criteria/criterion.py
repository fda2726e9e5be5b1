"""What every criterion of discrimination has: exact forms, array forms, a closed form, and cuts for repair.

Notation: for disclosed sensitive values x and context y, ``a = P(x | d)``, ``b = P(x | d̄)``, ``s =
ln(a/b)``, ``γ = ln(P(d, y) / P(d̄, y))`` and σ the logistic function, so that ``P(d | y) = σ(γ)`` and
``P(d | xy) = σ(γ + s)``. For a fixed x the degree depends on y through γ alone, and the contexts in which x
discriminates are exactly those whose γ lies in one open interval. For a fixed γ, |degree| grows with |s|, so
that the interval does too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, log1p
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from auditor.choices import CriterionName

Floats = npt.NDArray[np.float64]
Numbers = Floats | float

# ln and sqrt of `decimal` are correctly rounded; 60 digits are far beyond the 48 fraction bits kept of them.
CONTEXT = Context(prec=60, Emax=10**9, Emin=-(10**9))

#: An open interval of γ; None stands for an infinite end.
Interval = tuple[Decimal | None, Decimal | None]

#: More than floats lose near 0, where they have fewer digits or none.
LOST = 1e-300

#: Relative error of a few operations in floats.
EPSILON = 8 * float(np.finfo(np.float64).eps)

#: A term ``exp(o + p γ + q s)`` of a cut as (o, p, q).
Term = tuple[float, float, float]


@lru_cache(maxsize=1 << 16)
def ln(x: Fraction) -> Decimal:
    """Natural logarithm of a positive rational, to 59 digits or better."""
    return CONTEXT.ln(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator)))


def ln_below(x: Fraction) -> Interval | None:
    """The γ with ``e^γ < x``."""
    return (None, ln(x)) if x > 0 else None


def logistic(t: Floats) -> Floats:
    """``σ(t)``."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-t))


@dataclass(frozen=True)
class Criterion(ABC):
    """A measure of how much disclosing x in context y moves the decision, and how much of it is fair."""

    threshold: Fraction
    """A pair (x, y) is a discrimination pattern iff ``|degree| > threshold``."""
    name: ClassVar[CriterionName]

    @property
    def log_rest(self) -> float:
        """``ln(1 - threshold)``; -infinite at 1."""
        if self.threshold < Fraction(1, 2):
            return log1p(-float(self.threshold))
        # A float next to 1 doesn't tell how far from there it is.
        return float(ln(1 - self.threshold)) if self.threshold < 1 else -inf

    # Exact, in rationals and decimals.

    @abstractmethod
    def degree(self, given_pattern: Fraction, given_context: Fraction) -> Fraction:
        """The degree, from ``P(d | xy)`` and ``P(d | y)``."""

    @abstractmethod
    def interval(self, a: Fraction, b: Fraction) -> Interval | None:
        """The open interval of γ in which ``|degree| > threshold``, or None where there is none."""

    @abstractmethod
    def supremum_within(self, a: Fraction, b: Fraction, bound: Fraction) -> bool:
        """Whether the supremum of |degree| over every real γ is at most a bound; decided in rationals."""

    @abstractmethod
    def fair_target(self, given_pattern: Fraction, given_context: Fraction, share: Fraction) -> Fraction:
        """The nearest ``Q(d | xy)`` to ``P(d | xy)`` at which a discriminating pattern just becomes fair.

        ``share`` is ``P(x | y)``: moving ``Q(d | xy)`` by e moves ``Q(d | y)`` by ``P(x | y) e``.
        """

    @abstractmethod
    def off_peak(self, odds: Fraction, a: Fraction, b: Fraction) -> Fraction:
        """What orders contexts with odds ``R = e^γ`` by |degree| for one x, the smallest first, exactly."""

    @abstractmethod
    def odds_terms(self) -> tuple[tuple[Fraction, int, int], ...]:
        """A sum of ``c A^i B^j`` as (c, i, j) that is positive iff ``|degree| > threshold``, for A > B > 0.

        A is the greater and B the smaller of the odds ``P(d | xy) / P(d̄ | xy)`` and ``P(d | y) / P(d̄ | y)``.
        """

    @abstractmethod
    def supremum_terms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """A sum of ``c e^(p |s|)`` as (c, p) that is positive iff the `supremum` is above the threshold."""

    # In floats, of numbers and arrays alike.

    @abstractmethod
    def supremum(self, s: Numbers) -> Floats:
        """The supremum of |degree| over every real γ; it grows with |s|."""

    @abstractmethod
    def peak(self, s: Numbers) -> Floats:
        """The γ at which |degree| is greatest, ``-s/2`` or infinite; it falls from there on both sides."""

    @abstractmethod
    def size(self, s: Numbers, t: Numbers) -> Floats:
        """|degree| at γ = t, without loss of digits to cancellation."""

    @abstractmethod
    def reach(self, s: Floats, *, outwards: bool) -> tuple[Floats, Floats]:
        """The ends of `interval` by s, rounded outwards or inwards; (inf, -inf) where there is none."""

    @abstractmethod
    def excess(self, s: Floats, t1: Floats, beyond: Floats, rest: Floats, *, most: bool) -> Floats:
        """How far `fair_target` is from ``P(d | xy)`` at most; or at least, from below in all that follows.

        Parameters
        ----------
        t1 : array
            The greatest γ in question.
        beyond : array
            At least ``|degree| - threshold``, and not negative.
        rest : array
            At most ``1 - P(x | y)``.
        """

    @property
    @abstractmethod
    def least_target(self) -> float:
        """No `fair_target` of the decision that x favours is lower, nor a higher one of the other's."""

    # For repair.

    @abstractmethod
    def cut_terms(self, sign: int) -> list[Term]:
        """Terms with ``1 - threshold <= Σ exp(o + p γ + q s)`` iff a degree of this sign is fair.

        They are the paper's inequality with positive terms on both sides, divided by the one on the left.
        """

    @abstractmethod
    def largest_fair_strength(self) -> float:
        """The |s| up to which x is fair in every context, possible or not: the closed form."""

    def largest_size(self, s: Floats, t0: Floats, t1: Floats) -> Floats:
        """|degree| at its greatest for γ in ``[t0, t1]``."""
        return self.size(s, np.clip(self.peak(s), t0, t1))
