"""Models that a closed form proves fair in every context: no search is needed, and there always is one.

For the difference, ``|Δ| <= tanh(|s|/4)`` whatever the context, and the largest |s| of any x is found one
attribute at a time (Choi et al. 2020, the proposition on the bound of the degree and the lemma after it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import prod

from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.repair.baselines import independent, towards_independence
from auditor.repair.counts import Counts, Pair
from auditor.repair.decimals import rounded_model
from auditor.repair.problem import Cut
from auditor.repair.solver import Solver, solve_near
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits

#: Share of the bound that `well_inside` uses up.
_SHARE = Fraction(7, 10)
#: Bisections for `well_inside`.
_STEPS = 30
#: Rounds in which `most_likely` forbids what is exceeded.
_ROUNDS = 100


def well_inside(counts: Counts, criterion: Criterion) -> NaiveBayes:
    """The unconstrained model moved towards the independent one until the closed form holds with room.

    At thresholds next to 0, which decimals can't meet otherwise, it is the independent model.
    """
    inner = replace(criterion, threshold=criterion.threshold * _SHARE)
    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _exceeds(towards_independence(counts, middle), inner):
            low = middle
        else:
            high = middle
    moved = rounded_model(towards_independence(counts, high))
    return rounded_model(independent(counts)) if _exceeds(moved, inner) else moved


def most_likely(
    counts: Counts,
    criterion: Criterion,
    aim: Criterion,
    solver: Solver,
    inside: NaiveBayes,
    limits: Limits = DEFAULT,
) -> tuple[NaiveBayes, list[Cut]]:
    """The most likely model that the closed form proves fair, as far as the solver finds it.

    Only the sensitive attributes move. With more than a dozen attributes or so, contexts lie so densely that
    hardly anything is lost against a search through them.

    Parameters
    ----------
    aim : Criterion
        The same with the threshold to aim at.
    inside : NaiveBayes
        From `well_inside`; it is the result where the solver fails, or time is up.

    Returns
    -------
    model : NaiveBayes
    cuts : list of Cut
        Those under which the solver found it.
    """
    model = rounded_model(counts.model)
    cuts: list[Cut] = []
    for _ in range(_ROUNDS):
        broken = exceeded(model, criterion)
        if not broken:
            return max(model, inside, key=counts.log_likelihood), cuts
        if limits.expired() or all(cut in cuts for cut in broken):
            break
        cuts += [cut for cut in broken if cut not in cuts]
        model = solve_near(solver, counts, cuts, (aim,), model, inside, limits)
    return inside, cuts


def exceeded(model: NaiveBayes, criterion: Criterion) -> list[Cut]:
    """The x beyond the closed form: those with the largest and the smallest s, and their neighbours.

    Where the list is empty, the model is fair at the threshold, exactly.
    """
    return list(dict.fromkeys(_exceeding(model, criterion)))


def _exceeds(model: NaiveBayes, criterion: Criterion) -> bool:
    """Whether any x is beyond the closed form; those with the largest and the smallest s tell."""
    return any(True for _ in _exceeding(model, criterion))


def _exceeding(model: NaiveBayes, criterion: Criterion) -> Iterator[Cut]:
    for sign, side in ((1, 0), (-1, 1)):
        extreme = dict(_extreme(model, side))
        neighbours = [
            extreme | {i: v} for i in model.sensitive for v in range(len(model.attributes[i].values))
        ]
        for values in [extreme, *neighbours]:
            x = tuple(sorted(values.items()))
            if not criterion.supremum_within(*_likelihoods(model, x), criterion.threshold):
                yield Cut(x, None, sign, criterion.name)
            elif values is extreme:
                break


def _extreme(model: NaiveBayes, side: int) -> Iterator[tuple[int, int]]:
    """The values that make s greatest, -s for side 1: of each attribute its best, unless none helps."""
    for i in model.sensitive:
        best, value = (Fraction(1), Fraction(1)), None
        for v, row in enumerate(model.attributes[i].likelihood):
            # Ratios are compared without dividing by 0.
            if row[side] * best[1 - side] > best[side] * row[1 - side]:
                best, value = row, v
        if value is not None:
            yield i, value


def _likelihoods(model: NaiveBayes, x: Assignment) -> Pair:
    """``P(x | d)`` and ``P(x | d̄)``."""
    rows = [model.attributes[i].likelihood[v] for i, v in x]
    return prod((row[0] for row in rows), start=Fraction(1)), prod(
        (row[1] for row in rows), start=Fraction(1)
    )
