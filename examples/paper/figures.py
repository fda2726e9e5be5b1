"""The four figures, as SVG."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.search.pattern import Pattern
from examples.paper.learning import DELTAS, RANK_BY
from examples.paper.published import KS
from examples.paper.results import Results
from examples.paper.svg import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    Axis,
    Panel,
    Series,
    figure,
    ticks_around,
)

COLOURS = {1: BLUE, 10: ORANGE, 100: GREEN}


def _iterations(last: int) -> Axis:
    """An axis with about seven ticks, all whole, that ends at a tick."""
    step = max(1, -(-last // 7))
    return Axis("Iteration", range(0, last + step, step))


def _points(patterns: Iterable[Pattern]) -> list[tuple[float, float]]:
    return [(float(p.probability), float(abs(p.degree))) for p in patterns]


def scatter_figure(results: Results) -> str:
    """All patterns of COMPAS by probability and degree."""
    found = results.scatter
    least = float(found.all[-1].probability)
    decades = [1.0]
    while decades[-1] > least:
        decades.append(decades[-1] / 10)
    panel = Panel(
        "COMPAS, δ = 0.1",
        Axis(
            "Probability of the pattern", [float(f"{d:.0e}") for d in reversed(decades)], True, percent=True
        ),
        Axis("|degree|", ticks_around([0.1, float(abs(found.by_degree[0].degree))])),
        [
            Series("All patterns", _points(found.all), GREY, line=False, size=2),
            Series("Pareto front", _points(found.front), BLACK, size=0),
            Series("Top 10 by degree", _points(found.by_degree), RED, False, size=7, ring=True),
            Series("Top 10 by divergence", _points(found.by_divergence), BLUE, False, size=7, ring=True),
            Series("Top 10 by probability", _points(found.by_probability), GREEN, False, size=7, ring=True),
        ],
    )
    return figure(
        "Probability and discrimination of all patterns of COMPAS",
        f"{len(found.all)} patterns; the more probable, the smaller the largest degree. The top ten by "
        "divergence lie between those by degree and those by probability.",
        [panel],
        1,
        size=(620, 420),
    )


def likelihood_figure(results: Results) -> str:
    """Log-likelihood per iteration on COMPAS."""
    found, panels = results.climbs["compas"], []
    for delta in ("0.1", "0.01"):
        runs = {key: rounds for key, rounds in found.items() if key[2] == delta}
        last = max(rounds[-1].number for rounds in runs.values())
        values = [r.log_likelihood for rounds in runs.values() for r in rounds]
        fair = results.climbs["compas"]["discrimination", 1, delta][-1].log_likelihood
        for rank_by in RANK_BY:
            panels.append(
                Panel(
                    f"By {rank_by}, δ = {delta}",
                    _iterations(last),
                    Axis("Log-likelihood", ticks_around(values)),
                    [
                        Series("δ-fair", [(0, fair), (last, fair)], BLACK, dashed=True, size=0),
                        *(
                            Series(
                                f"k = {k}",
                                [(r.number, r.log_likelihood) for r in runs[rank_by, k, delta]],
                                COLOURS[k],
                                size=9 - 2 * KS.index(k),
                            )
                            for k in KS
                        ),
                    ],
                )
            )
    return figure(
        "Log-likelihood per iteration of the fair learner on COMPAS",
        "Each iteration adds constraints, and the log-likelihood falls to that of the δ-fair model.",
        panels,
        2,
    )


def patterns_figure(results: Results) -> str:
    """Patterns left after each iteration, one pattern at a time."""
    panels = []
    for name in ("compas", "adult"):
        for delta in ("0.1", "0.01"):
            runs = {rank_by: results.climbs[name][rank_by, 1, delta] for rank_by in RANK_BY}
            last = max(rounds[-1].number for rounds in runs.values())
            counted = [r.patterns for rounds in runs.values() for r in rounds if r.patterns is not None]
            powers = range(len(str(max(counted))) + 1)
            panels.append(
                Panel(
                    f"{results.data[name].title}, δ = {delta}, k = 1",
                    _iterations(last),
                    Axis("Patterns left + 1", [10**power for power in powers], True),
                    [
                        Series(
                            f"By {rank_by}",
                            [(r.number, r.patterns + 1) for r in rounds if r.patterns is not None],
                            colour,
                            dashed=rank_by == "divergence",
                        )
                        for (rank_by, rounds), colour in zip(runs.items(), (BLUE, ORANGE), strict=True)
                    ],
                )
            )
    return figure(
        "Patterns left after each iteration of the fair learner",
        "Exact numbers; a few constraints leave no pattern.",
        panels,
        2,
    )


def iterations_figure(results: Results) -> str:
    """Iterations until fair, by δ."""
    panels = []
    for name, found in results.climbs.items():
        most = max(rounds[-1].number for rounds in found.values())
        panels.append(
            Panel(
                results.data[name].title,
                Axis("δ", [float(delta) for delta in DELTAS], True),
                Axis("Iterations", ticks_around([0, most])),
                [
                    Series(
                        f"k = {k}, by {rank_by}",
                        [(float(delta), found[rank_by, k, delta][-1].number) for delta in DELTAS],
                        COLOURS[k],
                        dashed=rank_by == "divergence",
                    )
                    for rank_by in RANK_BY
                    for k in KS
                ],
            )
        )
    return figure(
        "Iterations of the fair learner until convergence, by δ",
        "For three data sets, two rankings, and 1, 10 or 100 constraints per iteration.",
        panels,
        3,
    )
