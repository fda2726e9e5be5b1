"""Random counts, and what the brute force needs to know of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.repair.counts import Counts
from tests.oracle import PlainAttribute
from tests.strategies import total_pairs

DECISIONS = ((1, 1), (3, 7), (50, 50), (990, 10), (7, 999), (42744, 6090), (1, 10**6))
THRESHOLDS = tuple(map(Fraction, ("0", "1e-12", "0.001", "0.01", "0.05", "0.1", "0.2", "0.35", "0.5")))

Row = tuple[int, ...]


@dataclass(frozen=True)
class Family:
    """A kind of counts: shares of the values, numbers of attributes and values, and smoothing."""

    weights: Row
    attributes: tuple[int, int] = (1, 4)
    values: tuple[int, int] = (2, 3)
    smoothing: Sequence[Fraction] = (Fraction(0),)
    budget: int = 1000


FAMILIES = {
    "plain": Family((1, 2, 3, 5, 8)),
    "zero counts": Family((0, 0, 1, 4)),
    "zero counts, smoothed": Family((0, 1, 4), smoothing=(Fraction(1), Fraction(1, 10))),
    "many values": Family((0, 1, 2, 7), attributes=(1, 2), values=(2, 7)),
    "skewed": Family((1, 1, 1000)),
}


@st.composite
def random_counts(draw: st.DrawFn, family: Family) -> Counts:
    """Counts with at least one sensitive attribute; no value is without cases under both decisions."""
    decision = draw(st.sampled_from(DECISIONS))
    smoothing = draw(st.sampled_from(family.smoothing))
    weight = st.sampled_from(family.weights)
    pairs = st.tuples(weight, weight).filter(any)
    tables: list[tuple[bool, list[tuple[Fraction, Fraction]]]] = []
    for i in range(draw(st.integers(*family.attributes))):
        rows = draw(st.lists(pairs, min_size=family.values[0], max_size=family.values[1]))
        rows[0] = tuple(first if any(row[side] for row in rows) else 1 for side, first in enumerate(rows[0]))  # type: ignore[assignment]
        known = [Fraction(n) * draw(st.sampled_from((Fraction(1), Fraction(1, 2)))) for n in decision]
        totals = [sum(row[side] for row in rows) for side in (0, 1)]
        scaled = [
            (
                Fraction(row[0], totals[0]) * known[0] + smoothing,
                Fraction(row[1], totals[1]) * known[1] + smoothing,
            )
            for row in rows
        ]
        tables.append((i == 0 or draw(st.booleans()), scaled))
    while (
        len(tables) > 1
        and total_pairs([PlainAttribute(tuple(rows), s) for s, rows in tables]) > family.budget
    ):
        tables.pop()
    return counts_of_tables(decision, tables)


def counts_of_tables(
    decision: tuple[int, int], tables: Sequence[tuple[bool, Sequence[tuple[Fraction, Fraction]]]]
) -> Counts:
    """Counts with the names of nobody."""
    attributes = []
    for i, (sensitive, rows) in enumerate(tables):
        first, second = (sum((row[side] for row in rows), Fraction(0)) for side in (0, 1))
        attributes.append(
            Attribute(
                name=f"a{i}",
                values=tuple(f"v{v}" for v in range(len(rows))),
                sensitive=sensitive,
                likelihood=tuple((row[0] / first, row[1] / second) for row in rows),
            )
        )
    model = NaiveBayes(
        "random", "decision", "yes", "no", Fraction(decision[0], sum(decision)), tuple(attributes)
    )
    return Counts(
        model=model,
        decision=(Fraction(decision[0]), Fraction(decision[1])),
        attributes=tuple(tuple(rows) for _, rows in tables),
    )
