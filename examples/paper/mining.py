"""Table 1, the facts about COMPAS in the text, and the patterns behind the scatter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from auditor.choices import RankBy
from auditor.model.naive_bayes import NaiveBayes
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.ranking import top_patterns
from auditor.search.additive.summaries import pareto_patterns
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.search.pattern import Pattern
from examples.paper.published import DELTAS, KS, SIZES

THRESHOLD = Difference(Fraction("0.1"))

#: More patterns than the small models have, and nodes enough for every search here.
_ALL = 100_000

RANK_BY: tuple[RankBy, ...] = ("divergence", "discrimination")


@dataclass(frozen=True)
class Cell:
    """What a search took.

    Attributes
    ----------
    nodes, evaluated : int
        Nodes expanded, and patterns whose score was evaluated.
    combinations : int or None
        By discrimination: the sensitive values x whose contexts `worst_patterns` searched for the same list,
        each by meet in the middle.
    """

    nodes: int
    evaluated: int
    combinations: int | None


#: Ranking, k and δ to a cell.
Cells = dict[tuple[str, int, str], Cell]


def search_effort(model: NaiveBayes) -> Cells:
    """Search the top k of a model by both rankings at every δ.

    Raises
    ------
    RuntimeError
        If a search ended early, or two algorithms disagree.
    """
    tables = tables_of(model)
    cells: Cells = {}
    for rank_by in RANK_BY:
        for k in KS:
            for delta in DELTAS:
                criterion = Difference(Fraction(delta))
                found = top_patterns(tables, criterion, k, rank_by)
                if not found.complete:
                    raise RuntimeError(f"{model.name}: the search for the top {k} by {rank_by} ended early")
                combinations = None
                if rank_by == "discrimination":
                    worst = worst_patterns(tables, criterion, k, only_patterns=True)
                    combinations = worst.solved
                    if worst.complete and _sizes(worst.patterns) != _sizes(found.patterns):
                        raise RuntimeError(f"{model.name}: two searches disagree on the top {k}")
                cells[rank_by, k, delta] = Cell(found.nodes, found.evaluated, combinations)
    return cells


def _sizes(patterns: Iterable[Pattern]) -> list[Fraction]:
    return [abs(pattern.degree) for pattern in patterns]


def wrong_denominator(name: str) -> int:
    """What the printed shares were divided by: ``5^N 3^S - 3^(S+N)``, S and N exchanged."""
    s, n = SIZES[name]
    return int(5**n * 3**s - 3 ** (s + n))


@dataclass(frozen=True)
class Facts:
    """What the paper's text says of COMPAS, for one model at δ = 0.1."""

    prior: Fraction
    patterns: int | None
    worst: Pattern
    divergent: Pattern


def facts(model: NaiveBayes) -> Facts:
    """Number of patterns, the worst, and the most divergent."""
    tables = tables_of(model)
    return Facts(
        prior=model.prior,
        patterns=count_patterns(tables, THRESHOLD).total,
        worst=worst_patterns(tables, THRESHOLD, only_patterns=True).patterns[0],
        divergent=top_patterns(tables, THRESHOLD, 1, "divergence").patterns[0],
    )


def near_the_worst(model: NaiveBayes, distance: str = "1e-9") -> int | None:
    """How many patterns have a degree that is the largest one to within a distance."""
    tables = tables_of(model)
    worst = worst_patterns(tables, THRESHOLD, only_patterns=True).patterns[0]
    return count_patterns(tables, Difference(abs(worst.degree) - Fraction(distance))).total


@dataclass(frozen=True)
class Scatter:
    """All patterns of a model, and those that stand out."""

    all: tuple[Pattern, ...]
    by_degree: tuple[Pattern, ...]
    by_divergence: tuple[Pattern, ...]
    by_probability: tuple[Pattern, ...]
    front: tuple[Pattern, ...]

    def divergent_on_front(self) -> int:
        """How many of the top by divergence no other pattern beats in probability and |degree|."""
        front = {p.key for p in self.front}
        return sum(p.key in front for p in self.by_divergence)


def scatter(model: NaiveBayes, k: int = 10) -> Scatter:
    """All patterns at δ = 0.1, the top k by three rankings, and the Pareto front."""
    tables = tables_of(model)

    def top(rank_by: RankBy) -> tuple[Pattern, ...]:
        return top_patterns(tables, THRESHOLD, k, rank_by).patterns

    everything = top_patterns(tables, THRESHOLD, _ALL, "probability")
    front = pareto_patterns(tables, THRESHOLD, _ALL)
    if not (everything.complete and front.complete):
        raise RuntimeError(f"{model.name}: not all patterns were listed")
    return Scatter(
        all=everything.patterns,
        by_degree=top("discrimination"),
        by_divergence=top("divergence"),
        by_probability=top("probability"),
        front=front.patterns,
    )
