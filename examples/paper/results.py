"""Runs the experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from auditor.repair.learner import Round
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.tables import tables_of
from examples.paper.accuracy import Accuracies, ten_folds
from examples.paper.baselines import SCOPES, repaired_data
from examples.paper.data import Data, occurring, swapped
from examples.paper.learning import (
    DELTAS,
    PROVED,
    RANK_BY,
    Likelihoods,
    Optimum,
    first_climb,
    likelihoods,
    optimum,
)
from examples.paper.mining import (
    THRESHOLD,
    Cells,
    Facts,
    Scatter,
    facts,
    near_the_worst,
    scatter,
    search_effort,
)
from examples.paper.published import KS, LAMBDAS

#: Ranking, k and δ to the rounds of the learner.
Climbs = Mapping[tuple[str, int, str], tuple[Round, ...]]

#: Thresholds to what is known of the optimum.
Optima = Mapping[str, Optimum]

#: Scope of the data repair to the patterns that remain, by λ; None where they were too many to be counted.
Remaining = Mapping[str, tuple[int | None, ...]]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Results:
    """What all experiments gave, by name of the data set.

    Attributes
    ----------
    near : tuple of (int or None)
        Patterns next to the worst of the right German model, and of the swapped one.
    compas : tuple of Facts
        Of the right model, and of the swapped one.
    """

    data: Mapping[str, Data]
    right: Mapping[str, Cells]
    swapped: Mapping[str, Cells]
    near: tuple[int | None, int | None]
    compas: tuple[Facts, Facts]
    scatter: Scatter
    climbs: Mapping[str, Climbs]
    likelihoods: Mapping[str, Likelihoods]
    optima: Mapping[str, Optima]
    remaining: Mapping[str, Remaining]
    accuracies: Mapping[str, Accuracies]


def run(data: Mapping[str, Data], progress: Callable[[str], None]) -> Results:
    """Run all experiments."""

    def each(what: str, experiment: Callable[[Data], _T]) -> dict[str, _T]:
        found = {}
        for name, table in data.items():
            progress(f"{what}: {table.title}")
            found[name] = experiment(table)
        return found

    return Results(
        data=data,
        right=each("search", lambda d: search_effort(d.model)),
        swapped=each("search with the prior swapped", lambda d: search_effort(swapped(d.model))),
        near=(near_the_worst(data["german"].model), near_the_worst(swapped(data["german"].model))),
        compas=(facts(data["compas"].model), facts(swapped(data["compas"].model))),
        scatter=scatter(data["compas"].model),
        climbs=each("learning by iterations", climbs),
        likelihoods=each("likelihoods", lambda d: likelihoods(d.counts())),
        optima=each("optimum", optima),
        remaining=each("data repair", remaining),
        accuracies=each("ten folds", ten_folds),
    )


def climbs(data: Data) -> Climbs:
    """The learner's rounds for every ranking, k and δ."""
    counts = data.counts()
    return {
        (rank_by, k, delta): first_climb(counts, delta, rank_by, k)
        for rank_by in RANK_BY
        for k in KS
        for delta in DELTAS
    }


def optima(data: Data) -> Optima:
    """The optimum at every threshold at which it is bounded."""
    counts = data.counts()
    return {delta: optimum(counts, delta) for delta in PROVED}


def remaining(data: Data) -> Remaining:
    """Patterns at δ = 0.1 of naive Bayes models of repaired data."""
    return {
        scope: tuple(
            count_patterns(
                tables_of(occurring(repaired_data(data, float(strength), scope).model)), THRESHOLD
            ).total
            for strength in LAMBDAS
        )
        for scope in SCOPES
    }
