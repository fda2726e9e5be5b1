"""The learning problem over logits: the likelihood, the fairness constraints, and their derivatives.

Every distribution is a softmax of logits, ``ln θ_v = u_v - ln Σ_w exp(u_w)``, in which being positive and
adding up to 1 are built in. The logit of a row's most frequent value is held at 0. The problem is

    minimise  f(u) = -Σ n ln θ / N     subject to  c_j(u) >= 0  for every cut j.

f is convex. c is the paper's signomial inequality divided by the one term on its smaller side, in logarithms:
a convex function of the log-odds γ of the cut's context and s of its sensitive values, both linear in ln θ.
Where c is 0 its gradient isn't, however flat the degree is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf, log

import numpy as np
import numpy.typing as npt

from auditor.choices import CriterionName
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.repair.conditions import NONE, Conditions
from auditor.repair.counts import Counts
from auditor.search.criteria import Criterion
from auditor.search.criteria.criterion import Term

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Added to a curvature that may be 0.
_FLAT = 1e-14
#: Least probability that a solver starts from.
_TINY = 1e-12
#: Terms of an inequality; some are 0.
TERMS = 3


@dataclass(frozen=True)
class Cut:
    """Sensitive values that are not to discriminate in a context, or in any."""

    sensitive_values: Assignment
    context_values: Assignment | None
    """None stands for every context, possible or not: the closed-form bound on s alone."""
    sign: int
    """That of the degree."""
    criterion: CriterionName
    """By which they are not to."""


def inequality_terms(criterion: Criterion, cut: Cut) -> Floats:
    """The terms of a cut's inequality ``1 - t <= Σ_k exp(o_k + a_k γ + b_k s)`` as rows (o, a, b).

    They are `Criterion.cut_terms`. A cut for every context says ``|s|`` is at most
    `Criterion.largest_fair_strength`; its other terms are 0.
    """
    if cut.context_values is None:
        most = criterion.largest_fair_strength() + criterion.log_rest
        terms: list[Term] = [(most, 0, -cut.sign), (-inf, 0, 0), (-inf, 0, 0)]
    else:
        terms = criterion.cut_terms(cut.sign)
    return np.array(terms, dtype=np.float64)


@dataclass(frozen=True)
class Slack:
    """``c`` of every cut with its derivatives in γ and s, each of shape (m,)."""

    value: Floats
    by_context: Floats
    by_strength: Floats
    by_context_twice: Floats
    by_both: Floats
    by_strength_twice: Floats


@dataclass(frozen=True)
class Parameters:
    """The parameters of a problem: the prior, and the rows of attributes in its cuts and orders of values.

    A value without cases under a decision keeps the probability 0 there, and is left out, unless its
    attribute is sensitive: in a context it pins the decision and can't discriminate, but disclosed it does;
    or in order: its log-odds have a place there. P is the number of parameters, R that of rows.
    """

    counts: Counts
    keep: frozenset[int]
    """Attributes whose rows do not move."""
    attributes: tuple[int, ...]
    """Those that occur in a cut or an order, increasing."""
    places: dict[tuple[int, int, int], int]
    """Where ``P(v | d)`` and ``P(v | d̄)`` stand, by attribute, value and side (0 for d, 1 for d̄). The prior
    stands at 0, and its complement at 1.
    """
    weight: Floats
    """Shape (P,): n of each parameter."""
    row: Integers
    """Shape (P,): the row of each parameter."""
    start: Integers
    """Shape (R,): where each row begins."""
    anchor: Integers
    """Shape (R,): the one parameter of each row whose logit is held at 0."""
    held: Floats
    """Shape (P,): the logits of what does not move, and 0."""
    free: npt.NDArray[np.bool_]
    """Shape (P,): false for all of a row that does not move, and for the anchors."""

    @classmethod
    def of(cls, counts: Counts, cuts: Sequence[Cut], conditions: Conditions) -> Parameters:
        """Lay out the rows that the cuts and the orders of values bear on."""
        values = [(*cut.sensitive_values, *(cut.context_values or ())) for cut in cuts]
        ordered = {i for i, _ in conditions.monotone}
        attributes = sorted({i for assignment in values for i, _ in assignment} | ordered)
        rows = [[float(n) for n in counts.decision]]
        places: dict[tuple[int, int, int], int] = {}
        length = 2
        for i in attributes:
            for side in (0, 1):
                row = {
                    v: float(pair[side])
                    for v, pair in enumerate(counts.attributes[i])
                    if pair[side] or counts.model.attributes[i].sensitive or i in ordered
                }
                places |= {(i, v, side): length + position for position, v in enumerate(row)}
                rows.append(list(row.values()))
                length += len(row)
        lengths = [len(row) for row in rows]
        start = np.cumsum([0, *lengths[:-1]])
        anchor = np.array([begin + int(np.argmax(row)) for begin, row in zip(start, rows, strict=True)])
        free, held = np.ones(length, dtype=np.bool_), np.zeros(length)
        free[anchor] = False
        for (i, v, side), place in places.items():
            if i in conditions.keep:
                free[place] = False
                held[place] = log(max(float(counts.model.attributes[i].likelihood[v][side]), _TINY))
        return cls(
            counts=counts,
            keep=conditions.keep,
            attributes=tuple(attributes),
            places=places,
            weight=np.concatenate([np.array(row) for row in rows]),
            row=np.repeat(np.arange(len(rows)), lengths),
            start=start,
            anchor=anchor,
            held=held,
            free=free,
        )

    def of_model(self, model: NaiveBayes) -> Floats:
        """The parameters of a model, shape (P,)."""
        likelihoods = (model.attributes[i].likelihood[v][side] for i, v, side in self.places)
        return np.array([float(p) for p in (model.prior, 1 - model.prior, *likelihoods)])

    def to_model(self, theta: Floats) -> NaiveBayes:
        """The unconstrained model with these parameters put in, each row scaled to add up to exactly 1."""
        exact = [Fraction(float(probability)) for probability in theta]
        totals = [sum(exact[begin:end]) for begin, end in pairwise([*self.start.tolist(), len(exact)])]
        exact = [p / totals[row] for p, row in zip(exact, self.row.tolist(), strict=True)]
        attributes = list(self.counts.model.attributes)
        for i in self.attributes:
            if i in self.keep:
                continue
            likelihood = tuple(
                (
                    exact[self.places[i, v, 0]] if (i, v, 0) in self.places else Fraction(0),
                    exact[self.places[i, v, 1]] if (i, v, 1) in self.places else Fraction(0),
                )
                for v in range(len(attributes[i].values))
            )
            attributes[i] = replace(attributes[i], likelihood=likelihood)
        return replace(self.counts.model, prior=exact[0], attributes=tuple(attributes))

    def positive(self, theta: Floats) -> Floats:
        """The parameters with none next to 0, so that their logarithms can be taken."""
        raised = np.maximum(theta, _TINY)
        return self.theta(self.logits(raised))

    def logits(self, theta: Floats) -> Floats:
        """The free logits of positive parameters, shape (F,)."""
        u = np.log(theta)
        return np.asarray((u - u[self.anchor][self.row])[self.free], dtype=np.float64)

    def log_theta(self, logits: Floats) -> Floats:
        """``ln θ`` of free logits, shape (P,)."""
        u = self.held.copy()
        u[self.free] = logits
        return np.asarray(u - np.logaddexp.reduceat(u, self.start)[self.row], dtype=np.float64)

    def theta(self, logits: Floats) -> Floats:
        """The parameters of free logits, shape (P,)."""
        return np.asarray(np.exp(self.log_theta(logits)), dtype=np.float64)


@dataclass(frozen=True)
class Problem:
    """Parameters, the cuts on them, and the conditions after the cuts."""

    parameters: Parameters
    context: Floats
    strength: Floats
    """Shape (m, P): ``γ = context @ ln θ`` and ``s = strength @ ln θ`` of each cut."""
    terms: Floats
    """Shape (m, K, 3): `inequality_terms` of each cut, divided by the left side of its inequality; of a
    condition ``L <= r``, with L as its strength, the one term ``e^r / e^L``.
    """

    @classmethod
    def of(
        cls,
        counts: Counts,
        cuts: Sequence[Cut],
        criteria: Sequence[Criterion],
        conditions: Conditions = NONE,
        margin: float = 0.0,
    ) -> Problem:
        """The problem of staying within the thresholds on these cuts, and within conditions.

        Each cut has one of the criteria; conditions are to hold by a margin, in logarithms.
        """
        by_name = {criterion.name: criterion for criterion in criteria}
        parameters = Parameters.of(counts, cuts, conditions)
        places = {(-1, 0, 0): 0, (-1, 0, 1): 1} | parameters.places
        # A probability that has no place is 0, and stays so.
        lines = [
            line
            for line in conditions.lines(counts.model, parameters.attributes)
            if all(parameter in places for parameter in line[0])
        ]
        context = np.zeros((len(cuts) + len(lines), len(parameters.weight)))
        strength = np.zeros_like(context)
        for j, cut in enumerate(cuts):
            if cut.context_values is not None:
                context[j, :2] = 1, -1
            for matrix, assignment in ((context, cut.context_values or ()), (strength, cut.sensitive_values)):
                for i, v in assignment:
                    matrix[j, parameters.places[i, v, 0]] = 1
                    matrix[j, parameters.places[i, v, 1]] = -1
        for j, (coefficients, _) in enumerate(lines, len(cuts)):
            for parameter, coefficient in coefficients.items():
                strength[j, places[parameter]] = coefficient
        terms = []
        for cut in cuts:
            criterion = by_name[cut.criterion]
            left = np.array([criterion.log_rest, 0, 0])
            terms.append(inequality_terms(criterion, cut) - left)
        terms += [np.array([(right - margin, 0, -1), *[(-inf, 0, 0)] * (TERMS - 1)]) for _, right in lines]
        return cls(
            parameters=parameters,
            context=context,
            strength=strength,
            terms=np.stack(terms),
        )

    @cached_property
    def total(self) -> float:
        """N, the cases with a decision."""
        return float(sum(self.parameters.counts.decision))

    @cached_property
    def row_sums(self) -> tuple[Floats, Floats]:
        """``context`` and ``strength`` added up over each row of parameters, shape (m, R)."""
        start = self.parameters.start
        return np.add.reduceat(self.context, start, axis=1), np.add.reduceat(self.strength, start, axis=1)

    @cached_property
    def same_row(self) -> npt.NDArray[np.bool_]:
        """Whether two parameters belong to one row, shape (P, P)."""
        row = self.parameters.row
        return np.asarray(row[:, None] == row, dtype=np.bool_)

    def slack(self, log_theta: Floats) -> Slack:
        """The slack c of each cut, the log of the right side of its inequality over the left."""
        offset, a, b = np.moveaxis(self.terms, -1, 0)
        logs = offset + a * (self.context @ log_theta)[:, None] + b * (self.strength @ log_theta)[:, None]
        total = np.logaddexp.reduce(logs, axis=1)
        share = np.exp(logs - total[:, None])
        by_context, by_strength = (share * a).sum(axis=1), (share * b).sum(axis=1)
        return Slack(
            value=total,
            by_context=by_context,
            by_strength=by_strength,
            by_context_twice=(share * a * a).sum(axis=1) - by_context**2,
            by_both=(share * a * b).sum(axis=1) - by_context * by_strength,
            by_strength_twice=(share * b * b).sum(axis=1) - by_strength**2,
        )

    def objective(self, log_theta: Floats, weight: Floats) -> float:
        """The objective f."""
        return -float(weight @ log_theta) / self.total

    def gradient(self, theta: Floats, weight: Floats) -> Floats:
        """Gradient of f in the free logits: ``(Σn θ - n) / N`` in each row."""
        p = self.parameters
        totals = np.add.reduceat(weight, p.start)
        return np.asarray(((totals[p.row] * theta - weight) / self.total)[p.free], dtype=np.float64)

    def curvature(self, theta: Floats, weight: Floats) -> Floats:
        """A positive diagonal in the scale of the Hessian of f, shape (F,)."""
        p = self.parameters
        totals = np.add.reduceat(weight, p.start)[p.row] / self.total
        return np.asarray((totals * theta * (1 - theta) + _FLAT)[p.free], dtype=np.float64)

    def movements(self, theta: Floats) -> tuple[Floats, Floats]:
        """Jacobians of γ and s in all logits, shape (m, P)."""
        row = self.parameters.row
        by_context, by_strength = self.row_sums
        return self.context - by_context[:, row] * theta, self.strength - by_strength[:, row] * theta

    def jacobian(self, theta: Floats, slack: Slack) -> Floats:
        """Jacobian of c in the free logits, shape (m, F)."""
        context, strength = self.movements(theta)
        moved = slack.by_context[:, None] * context + slack.by_strength[:, None] * strength
        return np.asarray(moved[:, self.parameters.free], dtype=np.float64)

    def hessian(self, theta: Floats, weight: Floats, slack: Slack, multipliers: Floats) -> Floats:
        """Hessian of the Lagrangian ``f - Σ multiplier c`` in the free logits, shape (F, F).

        ``ln θ`` of a row has the Hessian ``-(diag θ - θθᵀ)`` in its logits, whichever the entry, so that the
        rows need one coefficient each.
        """
        p = self.parameters
        by_context, by_strength = self.row_sums
        coefficient = np.add.reduceat(weight, p.start) / self.total
        coefficient += (multipliers * slack.by_context) @ by_context
        coefficient += (multipliers * slack.by_strength) @ by_strength
        scaled = coefficient[p.row] * theta
        hessian = np.where(self.same_row, -np.outer(scaled, theta), 0.0)
        hessian[np.diag_indices_from(hessian)] += scaled
        context, strength = self.movements(theta)
        first, both, second = (
            (multipliers * derivative)[:, None]
            for derivative in (slack.by_context_twice, slack.by_both, slack.by_strength_twice)
        )
        hessian -= context.T @ (first * context + both * strength)
        hessian -= strength.T @ (both * context + second * strength)
        return np.asarray(hessian[np.ix_(p.free, p.free)], dtype=np.float64)
