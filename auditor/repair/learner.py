"""The fair learner: solve, search for patterns in what was found, forbid them, and solve again.

Source: Choi et al. (2020), Section "Learning δ-fair Parameters" (cutting planes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf

from auditor.choices import CutRanking
from auditor.errors import RepairError
from auditor.model.classifier import Classifier
from auditor.model.naive_bayes import NaiveBayes
from auditor.repair.baselines import shifted
from auditor.repair.closed_form import most_likely, well_inside
from auditor.repair.conditions import NONE, Conditions
from auditor.repair.counts import Counts
from auditor.repair.cuts import cut_of, find_cuts
from auditor.repair.decimals import rounded_model
from auditor.repair.kept import beside_kept, is_fair
from auditor.repair.problem import Cut
from auditor.repair.solver import Solver, solve_near
from auditor.search.additive.counting import count_patterns
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.criteria import Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.pattern import Pattern

#: How far inside the threshold solvers aim, so that what they find stays fair when it is written in decimals.
_MARGIN = Fraction(1, 10**9)
#: The margin grows by this factor where a solver misses its aim, so many times at most.
_WIDER, _MOST_WIDENINGS = 10, 6
#: Relative gain in log-likelihood below which two models count as equally likely.
_GAIN = 1e-8
#: By how much further starts multiply the odds of the favourable decision.
_SHIFT = Fraction(8)
#: Bisections that the count of a round may take, a second or two; more patterns are left uncounted.
_COUNT_STEPS = 1 << 25


@dataclass(frozen=True)
class Round:
    """Where the learner stands: after so many rounds, the model that the exact search has gone through."""

    number: int
    constraints: int
    log_likelihood: float
    patterns: int | None
    """Exact number of discrimination patterns that are left; None where they are too many to be counted."""
    also: int | None = None
    """The same by the criterion that is asked for besides; None also where none is."""


@dataclass(frozen=True)
class Learned:
    """A model that the exact search has proved fair."""

    model: NaiveBayes
    """Every probability is a finite decimal, but for attributes that are kept."""
    rounds: int
    constraints: int
    patterns_before: int | None
    """Exact number of discrimination patterns of the unconstrained model; None where they are too many."""
    shortfall: str | None
    """Why the learner ended before it came to a local optimum; None where it didn't."""
    arrivals: tuple[float, ...] = ()
    """The log-likelihood to which each start led: that of a fair model, or one no greater than the best fair
    one's, of a model that still has patterns.
    """
    also_before: int | None = None
    """The same by the criterion that is asked for besides; None also where none is."""


@dataclass(frozen=True)
class RepairOptions:
    """How to learn."""

    solver: Solver
    rank_by: CutRanking = "discrimination"
    per_round: int | None = None
    """Which patterns become constraints, as in `find_cuts`."""
    max_rounds: int | None = None
    limits: Limits = field(default_factory=Limits)
    on_round: Callable[[Round], None] = lambda state: None
    """Told of each model that the exact search goes through, the unconstrained one first."""
    near: NaiveBayes | None = None
    """A model to start from besides, such as that of a smaller threshold."""
    conditions: Conditions = NONE
    """What the model is to keep to besides being fair."""
    also: Criterion | None = None
    """Another criterion by which it is to be fair too."""


def learn(counts: Counts, criterion: Criterion, options: RepairOptions) -> Learned:
    """Learn the most likely model without discrimination patterns.

    The problem isn't convex, and the solvers find local optima. Once a first model is proved fair they start
    again elsewhere, under the constraints so far; where that leads to a more likely fair model, that one is
    the result. Where a limit is met before, the most likely one that a closed form proves fair is.

    Raises
    ------
    RepairError
        If no model could be proved fair within the limits, or none was found that keeps to the conditions.
    """
    if contradiction := options.conditions.contradiction(counts.model):
        raise RepairError(f"no model keeps to the conditions: {contradiction}")
    before = count(counts.model, criterion, options.limits)
    also = count(counts.model, options.also, options.limits) if options.also else None
    options.on_round(Round(0, 0, counts.log_likelihood(counts.model), before, also))
    learner = _Learner(counts, criterion, options)
    first = rounded_model(counts.model, options.conditions.keep)
    shortfall = learner.climb(
        learner.solved(first) if options.conditions.broken(first, counts.model) else first
    )
    for start in learner.elsewhere() if not shortfall else ():
        with suppress(RepairError):
            learner.climb(learner.solved(start))
    best = learner.best or learner.spare
    if best is None or (learner.best is None and not is_fair(best, learner.rules, DEFAULT)):
        raise RepairError(f"no model could be proved fair: {shortfall}")
    arrivals = tuple(learner.arrivals)
    return Learned(best, learner.rounds, len(learner.cuts), before, shortfall, arrivals, also)


def count(model: Classifier, criterion: Criterion, limits: Limits) -> int | None:
    """The exact number of discrimination patterns, or None where a second or two do not suffice."""
    return count_patterns(tables_of(model), criterion, replace(limits, steps=_COUNT_STEPS)).total


class _Learner:
    """The constraints so far, and the most likely model that is proved fair.

    Attributes
    ----------
    rules : tuple of Criterion
        All by which it is to be fair.
    spare : NaiveBayes or None
        The most likely model that a closed form proves fair, or that is beside what is kept; None where it
        breaks conditions.
    best : NaiveBayes or None
        The most likely one that the exact search has proved fair.
    cuts : list of Cut
    rounds : int
    arrivals : list of float
        Where each climb that met no limit ended.
    """

    def __init__(self, counts: Counts, criterion: Criterion, options: RepairOptions) -> None:
        self._counts, self._options = counts, options
        self.rules = (criterion, options.also) if options.also else (criterion,)
        self._margin = _MARGIN
        # In every context at once, the one that allows the least strength leaves nothing to the other.
        tightest = min(self.rules, key=lambda rule: rule.largest_fair_strength())
        self._inside = well_inside(counts, tightest)
        self._to_beat = -inf
        self.spare: NaiveBayes | None = self._inside
        self._closed_form: list[Cut] = []
        self._against: str | None = None
        self._beside: list[NaiveBayes] = []
        if options.conditions:
            self._against = options.conditions.broken(self._inside, counts.model)
            fair = [self._inside]
            if not options.conditions.keep.isdisjoint(counts.model.sensitive):
                keep, held = options.conditions.keep, options.conditions.held(self._inside, counts.model)
                fair = [] if self._exhausted else beside_kept(counts, self.rules, keep, options.limits)
                self._beside = fair
                self._inside = next(iter(fair), held)
            self.spare = next(
                (model for model in fair if not options.conditions.broken(model, counts.model)), None
            )
            self._inside = self.spare or self._inside
        elif not self._exhausted:
            self.spare, self._closed_form = most_likely(
                counts, tightest, self._inner(tightest), options.solver, self._inside, options.limits
            )
        self.best: NaiveBayes | None = None
        self.cuts: list[Cut] = []
        self.rounds = 0
        self.arrivals: list[float] = []

    def climb(self, candidate: NaiveBayes) -> str | None:
        """Search, forbid and solve until a model is proved fair, or is less likely than one that is.

        Returns
        -------
        str or None
            The limit that was met before.
        """
        while (likelihood := self._counts.log_likelihood(candidate)) > self._to_beat:
            if self.spare is not None:
                spare_likelihood = self._counts.log_likelihood(self.spare)
                if likelihood <= spare_likelihood + _GAIN * abs(spare_likelihood):
                    # With more constraints it would only become less likely.
                    candidate, likelihood = self.spare, spare_likelihood
            tables = tables_of(candidate)
            limits = self._options.limits
            worst = [
                (rule, worst_patterns(tables, rule, only_patterns=True, limits=limits)) for rule in self.rules
            ]
            fair = [not found.patterns and found.upper <= rule.threshold for rule, found in worst]
            broken = self._options.conditions.broken(candidate, self._counts.model)
            if self.rounds:
                left = [
                    0 if none else count(candidate, rule, limits)
                    for rule, none in zip(self.rules, fair, strict=True)
                ]
                self._options.on_round(Round(self.rounds, len(self.cuts), likelihood, *left))
            if all(fair) and not broken:
                self.best = candidate
                self._to_beat = likelihood + _GAIN * abs(likelihood)
                break
            shortfall = self._limit() or self._forbid(
                tables, [(rule, found.patterns) for rule, found in worst]
            )
            if shortfall:
                return shortfall
            if not self._exhausted:
                candidate = self.solved(candidate)
            elif self.spare is not None:
                candidate = self.spare
            else:
                return f"only independence is fair at a threshold next to 0, and {self._against}"
            self.rounds += 1
        self.arrivals.append(likelihood)
        return None

    def solved(self, near: NaiveBayes) -> NaiveBayes:
        """The local optimum under the cuts that the solver finds from near a model."""
        return solve_near(
            self._options.solver,
            self._counts,
            self.cuts,
            [self._inner(rule) for rule in self.rules],
            near,
            self._inside,
            self._options.limits,
            self._options.conditions,
            float(self._margin),
        )

    def elsewhere(self) -> Iterator[NaiveBayes]:
        """Fair models from which the solver may come to other local optima, as long as there is time.

        The closed form speaks of sensitive values alone. The prior shifts the log-odds of all contexts; with
        it moved, other contexts are those in danger. Beside what is kept it is moved already.
        """
        if not self.cuts or self._exhausted:
            return
        moved = self._beside or [shifted(self._inside, factor) for factor in (1, _SHIFT, 1 / _SHIFT)]
        near = self._options.near
        for start in (*([near] if near else []), *moved):
            if not self._options.limits.expired():
                yield start

    @property
    def _exhausted(self) -> bool:
        """Whether the threshold leaves no room: next to 0, only independence is fair in decimals."""
        return self._margin >= min(rule.threshold for rule in self.rules)

    def _inner(self, rule: Criterion) -> Criterion:
        """A criterion with the threshold to aim at."""
        return replace(rule, threshold=rule.threshold - self._margin)

    def _limit(self) -> str | None:
        if self._options.limits.expired():
            return f"the time limit was reached after round {self.rounds}"
        if self.rounds == self._options.max_rounds:
            return f"the limit of {self.rounds} round{'s' if self.rounds > 1 else ''} was reached"
        return None

    def _forbid(self, tables: LogOdds, worst: Sequence[tuple[Criterion, tuple[Pattern, ...]]]) -> str | None:
        """Add the cuts of a round, or aim further inside the threshold where all are there already.

        That is so where the solver has missed its aim, and where there are so many contexts that the search
        can tell only from a distance that none is unfair.
        """
        options = self._options
        bound = options.conditions
        found = [
            cut
            for rule in self.rules
            for cut in find_cuts(tables, rule, options.rank_by, options.per_round, options.limits, bound)
        ]
        if options.per_round is None and all(cut.context_values is None for cut in found):
            # Where all of them are for every context, cuts for every context on other values lose nothing,
            # and with all of the closed form's there is no need to find those values round by round.
            found += self._closed_form
        # A list by divergence can be cut short by a limit that the worst pattern has not met.
        of_worst = [cut_of(pattern, tables, rule, bound) for rule, patterns in worst for pattern in patterns]
        for cuts in (found, of_worst):
            new = [cut for cut in dict.fromkeys(cuts) if cut not in self.cuts]
            if new:
                self.cuts += new
                break
        else:
            self._margin *= _WIDER
            if not (self.cuts or bound) or self._margin > _MARGIN * _WIDER**_MOST_WIDENINGS:
                return "the search could not prove that the solver's model is fair"
        return None
