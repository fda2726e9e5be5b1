"""The fair learner: likelihood and patterns left per iteration, iterations by δ, and the likelihood table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from auditor.choices import CutRanking, SolverName
from auditor.repair.baselines import independent, independent_mean
from auditor.repair.counts import Counts
from auditor.repair.learner import Learned, RepairOptions, Round, learn
from auditor.repair.proving import prove
from auditor.repair.solver import load_solver
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Difference
from auditor.search.limits import Limits
from auditor.search.question import Question

DELTAS = ("0.01", "0.02", "0.05", "0.1", "0.2")
RANK_BY: tuple[CutRanking, ...] = ("discrimination", "divergence")
#: Thresholds at which the optimum is bounded, and solvers that are held against the bound.
PROVED = ("0.05", "0.1")
SOLVERS: tuple[SolverName, ...] = ("interior", "sqp", "signomial")
#: The gap that proofs aim at, as a share of the nats that fairness costs.
AIM = Decimal("0.0001")


def learn_fair(counts: Counts, delta: str) -> Learned:
    """The fair model as `auditor repair` finds it by default."""
    return learn(counts, Difference(Fraction(delta)), RepairOptions(load_solver("interior")))


def first_climb(counts: Counts, delta: str, rank_by: CutRanking, k: int) -> tuple[Round, ...]:
    """The rounds until a first model is proved fair, the unconstrained model as round 0.

    The learner would start again elsewhere then, which the paper's doesn't.
    """
    rounds: list[Round] = []

    def arrived() -> bool:
        return len(rounds) > 1 and rounds[-1].patterns == 0

    options = RepairOptions(
        load_solver("interior"),
        rank_by=rank_by,
        per_round=k,
        limits=Limits(expired=arrived),
        on_round=rounds.append,
    )
    learn(counts, Difference(Fraction(delta)), options)
    return tuple(rounds)


@dataclass(frozen=True)
class Likelihoods:
    """Log-likelihoods of models of the same counts, in nats.

    Attributes
    ----------
    fair : float
        At δ = 0.1.
    fair_degree : Fraction
        The largest |degree| of the fair model, exactly.
    looser : tuple of (str, float)
        A δ slightly above 0.1, and the log-likelihood at it.
    """

    unconstrained: float
    fair: float
    fair_degree: Fraction
    rounds: int
    constraints: int
    independent: float
    independent_mean: float
    looser: tuple[str, float]


def likelihoods(counts: Counts, looser: str = "0.1001") -> Likelihoods:
    """The row of a data set in the likelihood table."""
    fair = learn_fair(counts, "0.1")
    worst = worst_patterns(tables_of(fair.model), Difference(Fraction("0.1")))
    return Likelihoods(
        unconstrained=counts.log_likelihood(counts.model),
        fair=counts.log_likelihood(fair.model),
        fair_degree=worst.upper,
        rounds=fair.rounds,
        constraints=fair.constraints,
        independent=counts.log_likelihood(independent(counts)),
        independent_mean=counts.log_likelihood(independent_mean(counts)),
        looser=(looser, counts.log_likelihood(learn_fair(counts, looser).model)),
    )


@dataclass(frozen=True)
class Optimum:
    """The greatest log-likelihood of any δ-fair model of the same counts, from both sides.

    Attributes
    ----------
    unconstrained : float
    arrivals : dict
        By solver, the log-likelihood to which each start led.
    found : float
        That of the likeliest model that was found and proved δ-fair.
    bound : Decimal
        No δ-fair model has a greater one: proved, and the proof computed again by its checker.
    branches : int
        Of the proof.
    """

    unconstrained: float
    arrivals: Mapping[SolverName, tuple[float, ...]]
    found: float
    bound: Decimal
    branches: int

    @property
    def gap(self) -> float:
        """Nats between what was found and the bound."""
        return float(self.bound - Decimal(repr(self.found)))

    @property
    def share(self) -> float:
        """The gap as a share of the nats that fairness costs."""
        return self.gap / (self.unconstrained - self.found)


def optimum(counts: Counts, delta: str) -> Optimum:
    """Learn with every solver, and prove how likely any δ-fair model can be."""
    arrivals: dict[SolverName, tuple[float, ...]] = {}
    models = []
    for solver in SOLVERS:
        learned = learn(counts, Difference(Fraction(delta)), RepairOptions(load_solver(solver)))
        arrivals[solver] = learned.arrivals
        models.append(learned.model)
    unconstrained, found = counts.log_likelihood(counts.model), max(map(counts.log_likelihood, models))
    proof = prove(counts, Question.of(delta), found, AIM * Decimal(repr(unconstrained - found)))
    return Optimum(
        unconstrained=unconstrained,
        arrivals=arrivals,
        found=found,
        bound=Decimal(proof.bound),
        branches=len(proof.branches),
    )
