"""Random small models for the property tests, with the troubles that real ones have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from hypothesis import strategies as st

from tests.oracle import BruteForce, CriterionName, Patterns, PlainAttribute, PlainModel

#: Far below any rounding, to put a threshold on either side of an exact tie.
HAIR = Fraction(1, 10**30)

Weights = tuple[Fraction, ...]

SMALL: Weights = tuple(map(Fraction, (1, 2, 3, 4)))
ZEROS: Weights = tuple(map(Fraction, (0, 1, 2)))
NEAR_CERTAIN: Weights = (Fraction(1), Fraction(99))
TINY: Weights = (Fraction(1), Fraction(3), Fraction(1, 10**9), Fraction(1, 10**28), Fraction(5, 10**28))
DECIMALS: Weights = tuple(Fraction(n, 1000) for n in (1, 17, 125, 333, 501, 998))

PRIORS = (
    *(Fraction(n, d) for n, d in ((1, 2), (1, 3), (1, 5), (7, 10), (87, 100))),
    *(Fraction(1, n) for n in (100, 10**6, 10**28)),
    *(1 - Fraction(1, n) for n in (100, 10**6, 10**28)),
)
THRESHOLDS = (Fraction(0), Fraction(1), *(Fraction(n, 100) for n in (1, 5, 10, 25)))


@dataclass(frozen=True)
class Case:
    """A model with a criterion, and a question about it."""

    brute: BruteForce
    threshold: Fraction
    min_probability: Fraction | None = None

    @property
    def model(self) -> PlainModel:
        """The model."""
        return self.brute.model

    @property
    def criterion(self) -> CriterionName:
        """Name of the criterion."""
        return self.brute.criterion

    @cached_property
    def patterns(self) -> Patterns:
        """All discrimination patterns, of whatever probability."""
        return self.brute.at(self.threshold)

    @cached_property
    def probable(self) -> Patterns:
        """Those of the minimum probability."""
        return self.brute.at(self.threshold, self.min_probability)


@dataclass(frozen=True, repr=False)
class Family:
    """A kind of models.

    Attributes
    ----------
    weights : sequence of Weights
        Each attribute's rows are made of the numbers of one of them.
    attributes, values : (int, int)
        Least and largest number of attributes, and of values per attribute.
    priors : sequence of Fraction
    all_sensitive : bool
    identical : bool
        Whether an attribute may have the same distribution under both decisions (λ = 0).
    twins : bool
        Whether an attribute may stand several times, so that many pairs tie exactly.
    budget : int
        Largest number of pairs (x, y).
    """

    weights: Sequence[Weights] = (SMALL,)
    attributes: tuple[int, int] = (1, 5)
    values: tuple[int, int] = (2, 3)
    priors: Sequence[Fraction] = PRIORS
    all_sensitive: bool = False
    identical: bool = False
    twins: bool = False
    budget: int = 500


FAMILIES = {
    "simple rationals": Family(weights=(SMALL, DECIMALS)),
    "zeros under one decision": Family(weights=(ZEROS, ZEROS, SMALL)),
    "two to seven values": Family(weights=(SMALL, ZEROS, DECIMALS), attributes=(1, 3), values=(2, 7)),
    "all sensitive": Family(weights=(SMALL, ZEROS), all_sensitive=True),
    "near certain": Family(weights=(NEAR_CERTAIN, NEAR_CERTAIN, SMALL), identical=True),
    "tiny probabilities": Family(weights=(TINY,)),
    "exact ties": Family(priors=PRIORS[:2], identical=True, twins=True),
    "everything": Family(
        weights=(SMALL, ZEROS, NEAR_CERTAIN, TINY, DECIMALS),
        values=(2, 5),
        identical=True,
        twins=True,
        budget=2000,
    ),
}


def total_pairs(attributes: Sequence[PlainAttribute]) -> int:
    """Number of pairs (x, y)."""
    sizes = [(len(attribute.rows), attribute.sensitive) for attribute in attributes]
    return prod(1 + m * (1 + sensitive) for m, sensitive in sizes) - prod(1 + m for m, _ in sizes)


@st.composite
def plain_attributes(draw: st.DrawFn, family: Family) -> PlainAttribute:
    """One attribute; no value has probability 0 under both decisions."""
    weights = draw(st.sampled_from(family.weights))
    weight = st.sampled_from(weights)
    if family.identical and draw(st.integers(0, 3)) == 0:
        pairs = weight.filter(bool).map(lambda w: (w, w))
    else:
        pairs = st.tuples(weight, weight).filter(any)
    rows = draw(st.lists(pairs, min_size=family.values[0], max_size=family.values[1]))
    for column in (0, 1):
        if not any(row[column] for row in rows):
            rows[0] = (rows[0][0] or Fraction(1), rows[0][1] or Fraction(1))
    totals = [sum(row[column] for row in rows) for column in (0, 1)]
    return PlainAttribute(
        rows=tuple((row[0] / totals[0], row[1] / totals[1]) for row in rows),
        sensitive=family.all_sensitive or draw(st.booleans()),
    )


@st.composite
def plain_models(draw: st.DrawFn, family: Family) -> PlainModel:
    """A model with at least one sensitive attribute and at most `family.budget` pairs."""
    least, most = family.attributes
    attributes = draw(st.lists(plain_attributes(family), min_size=least, max_size=most))
    if family.twins:
        attributes += [attributes[0]] * draw(st.integers(0, 2))
    if not any(attribute.sensitive for attribute in attributes):
        at = draw(st.integers(0, len(attributes) - 1))
        attributes[at] = PlainAttribute(attributes[at].rows, sensitive=True)
        attributes.insert(0, attributes.pop(at))
    while total_pairs(attributes) > family.budget:
        attributes.pop()
    attributes = list(draw(st.permutations(attributes)))
    if not any(attribute.sensitive for attribute in attributes):
        attributes[0] = PlainAttribute(attributes[0].rows, sensitive=True)
    return PlainModel(draw(st.sampled_from(family.priors)), tuple(attributes))


@st.composite
def cases(draw: st.DrawFn, family: Family, criterion: CriterionName) -> Case:
    """A model with a threshold and a minimum probability, each often on an exact tie or a hair off one."""
    model = draw(plain_models(family))
    brute = BruteForce(model, criterion)
    sizes = sorted({pair.size for pair in brute.pairs})
    probabilities = sorted({pair.probability for pair in brute.pairs})
    threshold = draw(near(THRESHOLDS, sizes))
    min_probability = draw(st.none() | near((Fraction(1, 10), Fraction(1, 100)), probabilities))
    return Case(brute, threshold, min_probability)


def near(usual: Sequence[Fraction], attained: Sequence[Fraction]) -> st.SearchStrategy[Fraction]:
    """A usual number, or one that the model attains, or one a hair from that; within [0, 1]."""
    exact = st.sampled_from(attained)
    hair = st.sampled_from((-HAIR, HAIR))
    beside = st.builds(lambda number, by: min(Fraction(1), max(Fraction(0), number + by)), exact, hair)
    return st.one_of(st.sampled_from(usual), exact, beside)
