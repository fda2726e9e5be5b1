"""How the largest degree varies: other models are drawn at random, and each is answered exactly.

Two distributions are drawn from, which are not to be confused. The *posterior* is about the probabilities
behind the data: each row of parameters has a Dirichlet distribution about that of the model, the narrower
the more rows of data stand behind it. The *next model* is one that is learned anew, in the same way, from as
many rows as this one: from the posterior, and then as data that these probabilities give, so that it varies
more.

A draw of a limit, or of which nothing is known, never counts as fair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import discriminates

#: Which distribution models are drawn from.
Distribution = Literal["posterior", "next-model"]
#: Of the favourable and of the unfavourable decision.
Pair = tuple[Fraction, Fraction]
#: The sensitive values and the context of a pattern.
Values = tuple[Assignment, Assignment]

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
_Key = TypeVar("_Key", Assignment, Values)

#: Draws that have a stream of random numbers of their own, so that blocks can be drawn in any order.
BLOCK = 100
#: Rows that each value has before any data: with 1 all probabilities are equally likely then.
PRIOR = 1
#: Probability with which each pair of limits holds.
LEVEL = Fraction(95, 100)
#: Digits of limits of a probability, which are rounded outwards.
_DIGITS = 6
_STREAMS: dict[Distribution, int] = {"posterior": 0, "next-model": 1}


@dataclass(frozen=True)
class Learned:
    """A model and the rows of data behind it."""

    model: NaiveBayes
    """Its names; its probabilities are those of the rows."""
    decision: Pair
    """Rows with the favourable and the unfavourable decision."""
    attributes: tuple[tuple[Pair, ...], ...]
    """Per attribute and value the rows with each decision. An attribute's may add up to less than the
    decision's, where cells are missing.
    """
    smoothing: Fraction
    """α, which learning adds to the count of each value, but not to those of the decision."""

    @property
    def rows(self) -> Fraction:
        """How many there are."""
        return sum(self.decision, Fraction(0))

    def times(self, factor: Fraction) -> Learned:
        """The same shares of so many times the rows."""

        def more(pair: Pair) -> Pair:
            return pair[0] * factor, pair[1] * factor

        return replace(
            self,
            decision=more(self.decision),
            attributes=tuple(tuple(map(more, rows)) for rows in self.attributes),
        )


@dataclass(frozen=True)
class Draw:
    """What is known of one drawn model."""

    lower: Fraction
    upper: Fraction
    """Found and proved ends of its largest |degree|; 0 and 1 where no model came of the draw."""
    worst: Values | None
    """The pattern of the lower one; None where no model came of the draw, which is fair at no δ."""


#: A draw of which no model came: nothing can be learned from it, or its numbers are too small for floats.
_FAILED = Draw(Fraction(0), Fraction(1), None)


@dataclass(frozen=True)
class Sample:
    """Draws from one distribution, and what they show of it."""

    draws: tuple[Draw, ...]
    threshold: Fraction
    """δ."""

    @cached_property
    def fair(self) -> int:
        """How many are proved δ-fair."""
        return sum(draw.upper <= self.threshold for draw in self.draws if draw.worst)

    @cached_property
    def unfair(self) -> int:
        """How many have a discrimination pattern."""
        return sum(draw.lower > self.threshold for draw in self.draws)

    @property
    def undecided(self) -> int:
        """How many are neither: limits were reached, or no model came of them."""
        return len(self.draws) - self.fair - self.unfair

    @property
    def probability(self) -> tuple[Fraction, Fraction]:
        """Limits of the probability of being δ-fair.

        Clopper-Pearson limits; what is undecided counts against the lower and for the upper one.
        """
        number = len(self.draws)
        low, _ = clopper_pearson(self.fair, number)
        _, high = clopper_pearson(self.fair + self.undecided, number)
        return low, high

    def quantile(self, share: Fraction) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """The sample's quantile of the largest |degree|, with both its ends, and limits of the true one.

        The limits are order statistics, and suppose nothing of the distribution.
        """
        number = len(self.draws)
        middle = max(-(-number * share.numerator // share.denominator), 1) - 1
        low, high = quantile_ranks(number, share)
        lowers, uppers = self._ends
        return (
            (lowers[middle], uppers[middle]),
            (lowers[low - 1] if low else Fraction(0), uppers[high - 1] if high <= number else Fraction(1)),
        )

    @cached_property
    def _ends(self) -> tuple[list[Fraction], list[Fraction]]:
        return sorted(draw.lower for draw in self.draws), sorted(draw.upper for draw in self.draws)

    def width(self, share: Fraction = LEVEL) -> Fraction:
        """How wide the middle of so large a share of the sample is, by the outer ends."""
        tail = (1 - share) / 2
        (low, _), _ = self.quantile(tail)
        (_, high), _ = self.quantile(1 - tail)
        return high - low

    def most_often_worst(self, number: int) -> list[tuple[Values, int]]:
        """The patterns that are the worst of most draws, with how many these are."""
        return _most_frequent((draw.worst for draw in self.draws if draw.worst), number)

    def most_often_disclosed(self, number: int) -> list[tuple[Assignment, int]]:
        """The sensitive values that the worst patterns of most draws disclose, with how many these are."""
        return _most_frequent((draw.worst[0] for draw in self.draws if draw.worst), number)


def blocks(number: int) -> list[tuple[int, int]]:
    """The blocks in which so many draws are drawn: the number of each, and how many are in it."""
    return [(block, min(BLOCK, number - start)) for block, start in enumerate(range(0, number, BLOCK))]


def drawn(
    learned: Learned,
    criterion: Criterion,
    distribution: Distribution,
    seed: int,
    block: tuple[int, int],
    limits: Limits = DEFAULT,
) -> list[Draw]:
    """Draw the models of a block and find the largest |degree| of each, exactly.

    Parameters
    ----------
    distribution : {"posterior", "next-model"}
    seed : int
        Not negative; the same seed gives the same draws.
    block : (int, int)
        From `blocks`.
    limits : Limits
        Of the search in each model.
    """
    return [
        _FAILED if model is None else _answered(model, criterion, limits)
        for model in models(learned, distribution, seed, block)
    ]


def discriminating(
    learned: Learned,
    criterion: Criterion,
    distribution: Distribution,
    seed: int,
    block: tuple[int, int],
    patterns: Sequence[Values],
) -> list[int]:
    """In how many models of a block each pattern discriminates, decided in rationals."""
    found = [0] * len(patterns)
    for model in filter(None, models(learned, distribution, seed, block)):
        for place, (x, y) in enumerate(patterns):
            favourable, unfavourable, _ = model.weights(x + y)
            found[place] += favourable + unfavourable > 0 and discriminates(model, criterion, x, y)
    return found


def models(
    learned: Learned, distribution: Distribution, seed: int, block: tuple[int, int]
) -> list[NaiveBayes | None]:
    """The models of a block; None where none came of a draw.

    A distribution of counts n has the posterior ``Dirichlet(n + PRIOR)``. It is drawn as ``Gamma(n_v +
    PRIOR)`` for each value v, divided by their sum, in doubles that are taken exactly.
    """
    number, size = block
    seeds = np.random.SeedSequence([seed, _STREAMS[distribution], number])
    random = np.random.Generator(np.random.PCG64(seeds))
    counts: list[tuple[Fraction, ...]] = [learned.decision]
    counts += [tuple(row[d] for row in rows) for rows in learned.attributes for d in (0, 1)]
    drawn: list[Numbers] = [
        random.standard_gamma([float(n) + PRIOR for n in row], (size, len(row))) for row in counts
    ]
    # A drawn 0 stands for a number that is too small for a double; such a draw is lost.
    lost = np.any([(row == 0).any(axis=1) for row in drawn], axis=0)
    added = Fraction(0)
    if distribution == "next-model":
        drawn, added = _learned_anew(learned, random, drawn), learned.smoothing
    return [
        None if lost[k] else _model(learned.model, [row[k].tolist() for row in drawn], added)
        for k in range(size)
    ]


def _learned_anew(learned: Learned, random: np.random.Generator, drawn: Sequence[Numbers]) -> list[Numbers]:
    """Counts of as many rows of data as there were, each time by other probabilities.

    Whether a value is known is drawn too, with the share of rows in which it was.
    """
    shares = [row / row.sum(axis=1, keepdims=True) for row in drawn]
    number = round(learned.rows)
    favourable = random.binomial(number, shares[0][:, 0])
    both = favourable, number - favourable
    counts: list[Numbers] = [np.stack(both, axis=1)]
    for i, values in enumerate(learned.attributes):
        for d in (0, 1):
            of_all, known = learned.decision[d], sum((row[d] for row in values), Fraction(0))
            there = random.binomial(both[d], min(float(known / of_all), 1.0) if of_all else 1.0)
            counts.append(random.multinomial(there, shares[1 + 2 * i + d]))
    return counts


def _model(model: NaiveBayes, rows: Sequence[Sequence[float]], added: Fraction) -> NaiveBayes | None:
    """The model of some weights, which are taken exactly; None where a distribution has none."""
    prior = _distribution(rows[0], Fraction(0))
    columns = [_distribution(row, added) for row in rows[1:]]
    if prior is None or not all(prior):
        return None
    changed = []
    for attribute, favourable, unfavourable in zip(
        model.attributes, columns[::2], columns[1::2], strict=True
    ):
        if favourable is None or unfavourable is None:
            return None
        changed.append(replace(attribute, likelihood=tuple(zip(favourable, unfavourable, strict=True))))
    return replace(model, prior=prior[0], attributes=tuple(changed))


def _distribution(weights: Sequence[float], added: Fraction) -> list[Fraction] | None:
    exact = [Fraction(weight) + added for weight in weights]
    total = sum(exact, Fraction(0))
    return [weight / total for weight in exact] if total else None


def _answered(model: NaiveBayes, criterion: Criterion, limits: Limits) -> Draw:
    # A value without rows and without smoothing never occurs and is in no pattern, so it is left out of the
    # search.
    occurring = [[v for v, row in enumerate(a.likelihood) if any(row)] for a in model.attributes]
    if any(len(values) < len(a.values) for a, values in zip(model.attributes, occurring, strict=True)):
        model = replace(
            model,
            attributes=tuple(
                replace(
                    a,
                    values=tuple(a.values[v] for v in values),
                    likelihood=tuple(a.likelihood[v] for v in values),
                )
                for a, values in zip(model.attributes, occurring, strict=True)
            ),
        )
    found = worst_patterns(tables_of(model, populated=False), criterion, limits=limits)
    worst = found.patterns[0]
    x, y = (
        tuple((i, occurring[i][v]) for i, v in part)
        for part in (worst.sensitive_values, worst.context_values)
    )
    return Draw(abs(worst.degree), found.upper, (x, y))


def clopper_pearson(successes: int, number: int) -> tuple[Fraction, Fraction]:
    """Limits of a probability of which so many of a number of independent draws are successes.

    Each is exceeded with a probability of at most ``(1 - LEVEL) / 2``, whatever the true one is. Rounded
    outwards.
    """
    from scipy.special import betaincinv

    tail = float((1 - LEVEL) / 2)
    low = betaincinv(successes, number - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, number - successes, 1 - tail) if successes < number else 1.0
    unit = 10**_DIGITS
    return (
        Fraction(int(np.floor(low * unit)), unit),
        Fraction(int(np.ceil(high * unit)), unit),
    )


def quantile_ranks(number: int, share: Fraction) -> tuple[int, int]:
    """Which order statistics of a sample are limits of the quantile of a share, from 1 on.

    The r-th draw is above the quantile only if fewer than r are not, and each is not with a probability of at
    least the share; the s-th is below it only if s are, and each is with a probability of at most the share.
    By the binomial distribution either happens with a probability of at most ``(1 - LEVEL) / 2``. 0 and
    ``number + 1`` stand for there being none.
    """
    from scipy.special import bdtr

    tail = float((1 - LEVEL) / 2)
    cumulative = bdtr(np.arange(number), number, float(share))
    return (
        int(np.searchsorted(cumulative, tail, side="right")),
        int(np.searchsorted(cumulative, 1 - tail, side="left")) + 1,
    )


def _most_frequent(found: Iterable[_Key], number: int) -> list[tuple[_Key, int]]:
    counted = sorted(Counter(found).items(), key=lambda entry: (-entry[1], entry[0]))
    return counted[:number]
