"""Conditions besides fairness: kept exactly, and nothing likelier left out on models small enough to try."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InputError, RepairError
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair import cuts, interior
from auditor.repair.conditions import Conditions
from auditor.repair.counts import Counts
from auditor.repair.learner import RepairOptions, learn
from auditor.repair.solver import load_solver
from auditor.search.criteria import Criterion, Difference, Ratio
from tests.fuzzing import examples
from tests.oracle import BruteForce
from tests.repair.models import FAMILIES, counts_of_tables, random_counts
from tests.search.comparing import plain

RULE = Difference(Fraction("0.05"))


def rows(*pairs: tuple[int, int]) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(a), Fraction(b)) for a, b in pairs]


@pytest.fixture
def unfair() -> Counts:
    tables = [
        (True, rows((70, 20), (30, 80))),
        (True, rows((55, 30), (20, 40), (25, 30))),
        (False, rows((60, 10), (40, 90))),
    ]
    return counts_of_tables((100, 100), tables)


def probabilities(model: NaiveBayes) -> list[Fraction]:
    return [model.prior, *(p for a in model.attributes for row in a.likelihood for p in row)]


def ensure_kept(conditions: Conditions, counts: Counts, model: NaiveBayes) -> None:
    """In rationals, by the definitions and not by `Conditions.broken`."""
    for i in conditions.keep:
        assert model.attributes[i] == counts.model.attributes[i]
    if conditions.largest_change is not None:
        both = zip(probabilities(model), probabilities(counts.model), strict=True)
        assert all(abs(new - old) <= conditions.largest_change for new, old in both)
    for i, direction in conditions.monotone:
        ratios = [a / b if b else None for a, b in model.attributes[i].likelihood]
        for first, second in pairwise(ratios):
            lower, upper = (first, second) if direction > 0 else (second, first)
            # None is infinite.
            assert upper is None or (lower is not None and lower <= upper)


@pytest.mark.parametrize("criterion", [Difference, Ratio])
@pytest.mark.parametrize("family", ["plain", "zero counts", "many values"])
@examples(4)
@given(data=st.data())
def test_what_is_learned_is_fair_and_keeps_to_the_conditions(
    family: str, criterion: type[Criterion], data: st.DataObject
) -> None:
    counts = data.draw(random_counts(FAMILIES[family]))
    names = st.lists(st.sampled_from([a.name for a in counts.model.attributes]), max_size=2)
    conditions = Conditions.of(
        counts.model,
        data.draw(names),
        data.draw(st.sampled_from((None, "0.01", "0.1", "0.5", "1"))),
        data.draw(names),
    )
    rule = criterion(Fraction(data.draw(st.sampled_from(("0.01", "0.1", "0.3")))))
    try:
        learned = learn(counts, rule, RepairOptions(interior.solve, conditions=conditions))
    except RepairError:
        # Orders of values alone can always be had, and with a prior far enough out what is kept, too; not
        # beside values that occur under one decision alone.
        one_sided = any(0 in row for i in conditions.keep for row in counts.model.attributes[i].likelihood)
        assert conditions.largest_change is not None or conditions.contradiction(counts.model) or one_sided
        return
    assert all(pair.size <= rule.threshold for pair in BruteForce(plain(learned.model), rule.name).pairs)
    ensure_kept(conditions, counts, learned.model)
    free = learn(counts, rule, RepairOptions(interior.solve))
    least = counts.log_likelihood(free.model)
    assert counts.log_likelihood(learned.model) <= least + 1e-7 * abs(least)


CASES: dict[str, dict[str, Any]] = {
    "keep": {"keep": ["a0"]},
    "keep all": {"keep": ["a0,a1", "a2"]},
    "change": {"largest_change": "0.24"},
    "order": {"monotone": ["a1"]},
    "all at once": {"keep": ["a2"], "largest_change": "0.3", "monotone": ["a0", "a1"]},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_all_solvers_find_the_same(unfair: Counts, case: dict[str, Any]) -> None:
    conditions = Conditions.of(unfair.model, **case)
    found = []
    # The last one takes long to be imported.
    for name in ("interior", "sqp", "signomial")[: 3 if "keep" in case else 2]:
        learned = learn(unfair, RULE, RepairOptions(load_solver(name), conditions=conditions))  # type: ignore[arg-type]
        ensure_kept(conditions, unfair, learned.model)
        found.append(unfair.log_likelihood(learned.model))
    assert found == pytest.approx([found[0]] * len(found), rel=1e-7)


@pytest.mark.parametrize(
    ("case", "step"),
    [({"largest_change": "0.12"}, 0.03), ({"keep": ["a1"]}, 0.04), ({"monotone": ["a0"]}, 0.04)],
)
def test_no_point_of_a_grid_is_likelier(case: dict[str, Any], step: float) -> None:
    """Two binary attributes, the first sensitive: all five parameters on a grid, and all six patterns."""
    counts = counts_of_tables((60, 40), [(True, rows((36, 14), (24, 26))), (False, rows((42, 12), (18, 28)))])
    conditions = Conditions.of(counts.model, **case)
    rule = Difference(Fraction("0.1"))
    learned = learn(counts, rule, RepairOptions(interior.solve, conditions=conditions))
    ensure_kept(conditions, counts, learned.model)

    original = [float(counts.model.prior)]
    original += [float(p) for a in counts.model.attributes for p in a.likelihood[0]]
    axes = []
    for place, value in enumerate(original):
        around = value + step * np.arange(-5, 6)
        if conditions.largest_change is not None:
            around = around[abs(around - value) <= float(conditions.largest_change) + 1e-12]
        fixed = place > 2 and 1 in conditions.keep
        axes.append(np.array([value]) if fixed else around[(around > 0) & (around < 1)])
    prior, a, b, c, d = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    fair = np.ones(len(prior), dtype=bool)
    for context in ((1, 1), (c, d), (1 - c, 1 - d)):
        u, v = prior * context[0], (1 - prior) * context[1]
        for p, q in ((a, b), (1 - a, 1 - b)):
            fair &= abs(u * p / (u * p + v * q) - u / (u + v)) <= 0.1
    if conditions.monotone:
        # The first value speaks for the favourable decision in the counts.
        fair &= a / b >= (1 - a) / (1 - b)
    likelihood = 60 * np.log(prior) + 40 * np.log(1 - prior)
    likelihood += 36 * np.log(a) + 24 * np.log(1 - a) + 14 * np.log(b) + 26 * np.log(1 - b)
    likelihood += 42 * np.log(c) + 18 * np.log(1 - c) + 12 * np.log(d) + 28 * np.log(1 - d)
    assert fair.any()
    assert counts.log_likelihood(learned.model) >= likelihood[fair].max() - 1e-6


def test_what_is_kept_discriminates_in_no_context_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed sensitive attribute that discriminates near one γ: the prior and the other attribute move away.

    Against all priors and rows of the other attribute on a grid. No cut may be for every context, however
    many there are.
    """
    monkeypatch.setattr(cuts, "_MANY", 1)
    monkeypatch.setattr(cuts, "_NEXT_TO", 0.9)
    counts = counts_of_tables((60, 40), [(True, rows((36, 14), (24, 26))), (False, rows((42, 12), (18, 28)))])
    learned = learn(
        counts,
        Difference(Fraction("0.1")),
        RepairOptions(interior.solve, conditions=Conditions.of(counts.model, ["a0"])),
    )
    assert learned.model.attributes[0] == counts.model.attributes[0]
    assert all(pair.size <= Fraction("0.1") for pair in BruteForce(plain(learned.model), "difference").pairs)

    grid = np.linspace(0.005, 0.995, 100)
    prior, c, d = (axis.ravel() for axis in np.meshgrid(grid, grid, grid, indexing="ij"))
    fair = np.ones(len(prior), dtype=bool)
    for first, second in ((1, 1), (c, d), (1 - c, 1 - d)):
        u, v = prior * first, (1 - prior) * second
        for p, q in ((0.6, 0.35), (0.4, 0.65)):
            fair &= abs(u * p / (u * p + v * q) - u / (u + v)) <= 0.1
    likelihood = 60 * np.log(prior) + 40 * np.log(1 - prior)
    likelihood += 42 * np.log(c) + 18 * np.log(1 - c) + 12 * np.log(d) + 28 * np.log(1 - d)
    kept = 36 * np.log(0.6) + 24 * np.log(0.4) + 14 * np.log(0.35) + 26 * np.log(0.65)
    assert counts.log_likelihood(learned.model) >= likelihood[fair].max() + kept


def test_an_order_that_the_counts_do_not_have_is_made(unfair: Counts) -> None:
    """The second attribute's log-odds fall and rise again; in order they don't rise."""
    conditions = Conditions.of(unfair.model, monotone=["a1"])
    assert conditions.monotone == ((1, -1),)
    assert conditions.broken(unfair.model, unfair.model)
    learned = learn(unfair, Difference(Fraction("0.9")), RepairOptions(interior.solve, conditions=conditions))
    ensure_kept(conditions, unfair, learned.model)
    assert learned.model.attributes[0].likelihood[0][0] == pytest.approx(Fraction("0.7"), abs=1e-6)


def test_what_cannot_be_had_is_said(unfair: Counts) -> None:
    little = Conditions.of(unfair.model, largest_change="0.001")
    with pytest.raises(
        RepairError, match="fair and keeps to the conditions, and there may be none; keep fewer"
    ):
        learn(unfair, RULE, RepairOptions(interior.solve, conditions=little))
    contrary = Conditions.of(unfair.model, keep=["a1"], monotone=["a1"])
    with pytest.raises(
        RepairError, match=r"the log-odds of a1 are to fall .*, which they are not, and it is to"
    ):
        learn(unfair, RULE, RepairOptions(interior.solve, conditions=contrary))
    kept = Conditions.of(unfair.model, keep=["a0"])
    with pytest.raises(RepairError, match=r"only independence is fair at a threshold .* a0 is to be kept"):
        learn(unfair, Difference(Fraction(0)), RepairOptions(interior.solve, conditions=kept))


def test_wrong_conditions_are_named_all_at_once(unfair: Counts) -> None:
    with pytest.raises(InputError) as raised:
        Conditions.of(unfair.model, ["a0", "b,c"], "0", ["d"])
    for part in ('keep: "b"', 'keep: "c"', 'monotone: "d"', "a0, a1, a2", "largest change: 0 leaves"):
        assert part in str(raised.value)
