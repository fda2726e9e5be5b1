"""How likely any δ-fair model of some counts can be: an upper bound, by branch and bound, with its proof.

With ``β = ln θ``, the log-odds ``t_E`` of a context E are linear in β. A pattern with context y and evidence
xy does not discriminate where ``t_xy <= h(t_y)`` and ``t_y <= h(t_xy)``, for the curve h of `chords`. Where
``l <= t <= u``, ``h(t)`` is at most the chord of h over [l, u], which makes both linear. The ranges of these
forms are found by optimising each among what is as likely as a target, and are split where chords are too
coarse. What is left of each branch is a bound with multipliers (`relaxation`), which `proof_checker`
recomputes exactly: nothing rests on the floats of this module.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import partial
from math import inf

import numpy as np
from threadpoolctl import threadpool_limits

from auditor.documents.proof import (
    ChordRecord,
    CountedAttribute,
    FormRecord,
    LikelihoodProof,
    PatternRecord,
)
from auditor.errors import InputError
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.repair import proof_checker
from auditor.repair.branches import Branch, End, Line, Row, RowName, Rows, Step, branch_records
from auditor.repair.chords import CLEAR, MARGIN, Curve, more
from auditor.repair.counts import Counts
from auditor.repair.cuts import worst_of_each
from auditor.repair.decimals import exact_decimal
from auditor.repair.problem import Floats
from auditor.repair.relaxation import entropy, upper_bound
from auditor.search.additive.tables import tables_of
from auditor.search.additive.worst import worst_patterns
from auditor.search.question import Question

#: Times that ranges of a branch are tightened at most, and the share of what is open that each has to close.
_TIGHTENINGS, _WORTH = 6, 0.15
#: Forms whose ranges are tightened in a branch, and that are tried for a split.
_TIGHTENED, _TRIED = 10, 5
#: Share of a range that a tightened end has to take off, and to which ends are found.
_TAKEN, _END = 0.01, 0.01
#: Sets of disclosed attributes and directions that a search for patterns looks at; worst patterns besides.
_SETS, _WORST = 24, 3
#: Branches look for further patterns where those known are violated by less than so many thresholds, and
#: every so often.
_NEARLY_FAIR, _SOMETIMES = 1.2, 10
#: Searches for patterns before the first split.
_FIRST_ROUNDS = 30
#: Log-odds ratios are split where they are so many times the largest that is fair in every context, and are
#: worth a split from here on, in the same unit.
_JUST_UNFAIR, _SOON = 1.03, 1.05
#: Weight per case that a relaxation starts with where none is known, and how often rows join it.
_START_WEIGHT, _JOININGS = 1e-4, 6
#: Least weight in a tightening to start from.
_LEAST_WARM = 1e-3
#: Doublings of the weights that a tightening starts from.
_DOUBLINGS = 60
#: Weight of a parameter without cases, which the proof doesn't give it; and by how many times that a bound
#: of the proof may be greater for it.
_NO_CASES, _AT_MOST = 1e-10, 60
#: Ends of ranges beyond this are of no use.
_FARTHEST = 1e6
#: Unit of a bound, and the least gap: floats can't tell less.
_UNIT = Decimal("0.000001")

#: A form is known by its values and whether the prior belongs to it.
_FormName = tuple[Assignment, bool]


def prove(
    counts: Counts,
    question: Question,
    found: float,
    gap: Decimal,
    on_branch: Callable[[str], None] = lambda line: None,
) -> LikelihoodProof:
    """Prove how likely a δ-fair model of these counts can be at most.

    Parameters
    ----------
    question : Question
        The threshold, and the limits; when they are met, the proof's bound is what was reached by then.
    found : float
        The log-likelihood of a model that was found.
    gap : Decimal
        How many nats above it to aim at.
    on_branch : callable, optional
        Told how far the proof is.

    Raises
    ------
    InputError
        If the criterion isn't the difference, rare patterns are left out, or one decision has no cases.
    """
    if question.criterion.name != "difference":
        raise InputError("criterion: only repairs by the difference can be proved")
    if question.min_probability:
        raise InputError("min_probability: a proof is about all patterns, however rare")
    if not all(counts.decision):
        raise InputError("the counts have one decision only: there is nothing to prove")
    floor = Decimal(repr(found)).quantize(_UNIT, ROUND_FLOOR)
    target = floor + max(gap, _UNIT).quantize(_UNIT, ROUND_CEILING)
    # With more threads, sums would depend on the number of cores, and matrices as small as ours take longer.
    with threadpool_limits(1, user_api="blas"), np.errstate(all="ignore"):
        prover = _Prover(counts, question, target)
        prover.run(on_branch)
    return prover.document(floor)


class _Prover:
    """The search for a proof that no δ-fair model is likelier than a target."""

    def __init__(self, counts: Counts, question: Question, target: Decimal) -> None:
        self._counts, self._question, self._target_text = counts, question, str(target)
        self._target = float(target)
        self._curve = Curve(float(question.criterion.threshold))
        self._lay_out()
        self._forms: dict[_FormName, int] = {}
        self._vectors = np.zeros((0, len(self._weight)))
        self._patterns: dict[tuple[Assignment, Assignment], int] = {}
        #: The forms of each pattern's context, of all its values, and of its sensitive values.
        self._triples: list[tuple[int, int, int]] = []
        self._strengths: set[int] = set()
        self._directions: dict[tuple[int, bool], None] = {}
        self._visited = 0
        self._free_bound, self._free_logs = entropy(self._weight, self._start, self._row)
        self._root = Branch(np.zeros(0), np.zeros(0), self._free_bound, self._free_logs)

    def _lay_out(self) -> None:
        """Number the parameters of values that have cases: those of the decision, then of each attribute.

        One without cases of its own has a weight of next to nothing, so that it has a logarithm.
        """
        self._place: dict[tuple[int, int, int], int] = {(-1, 0, 0): 0, (-1, 0, 1): 1}
        weight = [float(n) for n in self._counts.decision]
        starts = [0]
        for i, rows in enumerate(self._counts.attributes):
            for side in (0, 1):
                seen = [v for v, pair in enumerate(rows) if any(pair)]
                if seen:
                    starts.append(len(weight))
                for v in seen:
                    self._place[i, v, side] = len(weight)
                    weight.append(float(rows[v][side]))
        self._cases = np.array(weight)
        self._unseen = self._cases == 0
        self._weight = np.where(self._unseen, _NO_CASES, self._cases)
        self._short = float(_AT_MOST * _NO_CASES * self._unseen.sum())
        self._clear = CLEAR + self._short
        self._start = np.array(starts)
        self._row = np.repeat(np.arange(len(starts)), np.diff([*starts, len(weight)]))

    def run(self, on_branch: Callable[[str], None]) -> None:
        """Bound, tighten and split until every branch is below the target, or a limit is met."""
        root, limits = self._root, self._question.limits
        for _ in range(_FIRST_ROUNDS):
            if root.bound <= self._target or limits.expired() or not self._discover(root):
                break
            self._bound(root)
        self._tighten_well(root, lambda: range(len(self._vectors)))
        made = 0
        waiting = [(-root.bound, made, root)]
        while waiting and -waiting[0][0] > self._target and not limits.expired():
            branch = heapq.heappop(waiting)[2]
            self._visited += 1
            parts = self._parts(branch)
            if not parts:
                # It is the one of the greatest bound, which no work on the others lowers.
                break
            for part in parts:
                made += 1
                heapq.heappush(waiting, (-part.bound, made, part))
            if waiting:
                open_ = max(-waiting[0][0] - self._target, 0.0)
                on_branch(f"proving: {self._visited} branches, {open_:,.4f} nats above the target are open")

    def _parts(self, branch: Branch) -> list[Branch]:
        """Split a branch, or return it with further patterns; nothing if it can't be helped."""
        self._inherit(branch)
        chances = 1 / (1 + np.exp(-(self._vectors @ branch.log_theta)))
        worst = max((abs(chances[whole] - chances[base]) for base, whole, _ in self._triples), default=0.0)
        looks = worst < _NEARLY_FAIR * self._curve.delta or self._visited % _SOMETIMES == 1
        if looks and self._discover(branch):
            self._bound(branch)
            return [branch]
        open_ = branch.bound - self._target
        best, chosen = -inf, None
        for form in self._worth(branch, _TRIED):
            at = self._where(branch, form)
            parts = [branch.part(form, at, upper) for upper in (True, False)]
            for part in parts:
                self._bound(part)
            first, second = (min(branch.bound - part.bound, open_) + _TAKEN * open_ for part in parts)
            if first * second > best:
                best, chosen = first * second, (form, at, parts)
        if chosen is None:
            # Floats see no pattern at the optimum: the branch is left as it is, and open by its bound.
            return []
        form, at, parts = chosen
        branch.split, branch.children = (form, at), parts
        for part in parts:
            self._tighten_well(part, partial(self._worth, part, _TIGHTENED))
        return parts

    def _where(self, branch: Branch, form: int) -> float:
        """Where to split a form's range: at the optimum, unless it is next to an end."""
        low, high = float(branch.low[form]), float(branch.high[form])
        at = now = float(self._vectors[form] @ branch.log_theta)
        if np.isfinite(high - low):
            at = min(max(now, low + 0.2 * (high - low)), high - 0.2 * (high - low))
        edge = _JUST_UNFAIR * self._curve.strongest
        if form in self._strengths:
            # What is fair in every context is a convex part of the models, and the other part loses much.
            if now > edge > low:
                at = edge
            elif -now > edge > -high:
                at = -edge
        return float(f"{at:.6g}")

    def _worth(self, branch: Branch, most: int) -> list[int]:
        """The forms worth most: ν times by how far the optimum passes h, over their patterns."""
        t = self._vectors @ branch.log_theta
        score = np.zeros(len(t))
        weights = {(row.pattern, row.forward): w for row, w in branch.weights if isinstance(row, Line)}
        least = 1e-3 * max(weights.values(), default=1.0)
        for pattern, forward in self._directions:
            base, limited, strength = self._sides(pattern, forward)
            passed = t[limited] - self._curve.at(float(t[base]))
            if passed > MARGIN:
                passed *= max(weights.get((pattern, forward), 0.0), least)
                score[base] += passed
                score[limited] += passed / 2
                reached = branch.high[strength] if forward else -branch.low[strength]
                if reached > _SOON * self._curve.strongest:
                    score[strength] += passed
        return [int(form) for form in np.argsort(-score, kind="stable")[:most] if score[form] > 0]

    def _tighten_well(self, branch: Branch, forms: Callable[[], Iterable[int]]) -> None:
        """Tighten and bound a branch for as long as it is worth it."""
        for _ in range(_TIGHTENINGS):
            before = branch.bound
            if before <= self._target or self._question.limits.expired():
                break
            self._tighten(branch, forms())
            self._bound(branch)
            if before - branch.bound < _WORTH * (before - self._target):
                break

    def _discover(self, branch: Branch) -> bool:
        """Search for patterns at a branch's optimum; whether any are new.

        The ranges of their forms are found once, among all models that are as likely as the target.
        """
        criterion, limits = self._question.criterion, self._question.limits
        tables = tables_of(self._model(branch.log_theta))
        found = worst_of_each(tables, criterion, _SETS, limits)
        found += worst_patterns(tables, criterion, _WORST, only_patterns=True, limits=limits).patterns
        before, forms = len(self._directions), len(self._vectors)
        for pattern in found:
            self._add(pattern.sensitive_values, pattern.context_values, pattern.degree > 0)
        self._tighten(self._root, range(forms, len(self._vectors)))
        self._inherit(branch)
        return len(self._directions) > before

    def _model(self, log_theta: Floats) -> NaiveBayes:
        """The model of parameters, each row scaled to add up to 1; what has no cases has probability 0."""
        exact = [Fraction(float(p)) for p in np.exp(log_theta)]
        totals = [Fraction(0)] * len(self._start)
        for row, p in zip(self._row.tolist(), exact, strict=True):
            totals[row] += p
        exact = [p / totals[row] for row, p in zip(self._row.tolist(), exact, strict=True)]

        def of(i: int, v: int, side: int) -> Fraction:
            return exact[self._place[i, v, side]] if (i, v, side) in self._place else Fraction(0)

        attributes = tuple(
            replace(
                attribute,
                likelihood=tuple((of(i, v, 0), of(i, v, 1)) for v in range(len(attribute.values))),
            )
            for i, attribute in enumerate(self._counts.model.attributes)
        )
        return replace(self._counts.model, prior=exact[0], attributes=attributes)

    def _add(self, x: Assignment, y: Assignment, forward: bool) -> None:
        """Take up a pattern, unless a model may rule out its context without losing likelihood.

        Sensitive values that it may rule out have to be so under the same decision.
        """
        both = tuple(sorted((*x, *y)))
        if any((i, v, side) not in self._place for i, v in both for side in (0, 1)):
            return
        unseen = {side for i, v in x for side in (0, 1) if self._unseen[self._place[i, v, side]]}
        if len(unseen) > 1 or any(self._unseen[self._place[i, v, side]] for i, v in y for side in (0, 1)):
            return
        if (x, y) not in self._patterns:
            self._patterns[x, y] = len(self._triples)
            self._triples.append((self._form(y), self._form(both), self._form(x, prior=False)))
            self._strengths.add(self._triples[-1][2])
        self._directions[self._patterns[x, y], forward] = None

    def _form(self, values: Assignment, *, prior: bool = True) -> int:
        """The number of a form, which is made when it is asked for first."""
        if (values, prior) not in self._forms:
            vector = np.zeros(len(self._weight))
            for i, v in (*([(-1, 0)] if prior else []), *values):
                vector[self._place[i, v, 0]], vector[self._place[i, v, 1]] = 1, -1
            self._forms[values, prior] = len(self._vectors)
            self._vectors = np.vstack([self._vectors, vector])
            self._root.low = np.append(self._root.low, -inf)
            self._root.high = np.append(self._root.high, inf)
        return self._forms[values, prior]

    def _sides(self, pattern: int, forward: bool) -> tuple[int, int, int]:
        """The form that h is taken of, the one that it limits, and the log-odds ratio between them."""
        base, whole, strength = self._triples[pattern]
        return (base, whole, strength) if forward else (whole, base, strength)

    def _inherit(self, branch: Branch) -> None:
        """Narrow a branch to the root's ranges, which may have become narrower or more."""
        if branch is self._root:
            return
        known = len(branch.low)
        branch.low = np.maximum(np.append(branch.low, self._root.low[known:]), self._root.low)
        branch.high = np.minimum(np.append(branch.high, self._root.high[known:]), self._root.high)

    def _rows(self, branch: Branch) -> Rows:
        """All rows that hold in a branch."""
        rows: list[Row] = []
        left, right = [], []
        for pattern, forward in self._directions:
            base, limited, strength = self._sides(pattern, forward)
            chord = self._curve.chord(
                (float(branch.low[base]), float(branch.high[base])),
                (float(branch.low[limited]), float(branch.high[limited])),
                float(branch.low[strength] if forward else -branch.high[strength]),
            )
            if chord is not None:
                rows.append(Line(pattern, forward, chord))
                left.append(self._vectors[limited] - chord.slope * self._vectors[base])
                right.append(chord.intercept)
        for upper, ends, sign in ((True, branch.high, 1), (False, branch.low, -1)):
            for form in np.flatnonzero(np.isfinite(ends)).tolist():
                rows.append(End(form, upper))
                left.append(sign * self._vectors[form])
                right.append(sign * float(ends[form]))
        a, b = np.array(left).reshape(len(rows), len(self._weight)), np.array(right)
        # What has no cases has no weight that a row could take.
        useful = np.flatnonzero((a[:, self._unseen] <= 0).all(axis=1))
        rows = [rows[i] for i in useful]
        return Rows(rows, [row.name for row in rows], a[useful], b[useful])

    def _bound(self, branch: Branch) -> None:
        """Bound a branch's log-likelihood."""
        rows = self._rows(branch)
        if not rows.rows:
            return
        chosen = np.array([name in branch.warm for name in rows.names], dtype=np.bool_)
        if not chosen.any():
            chosen = rows.right - rows.left @ self._free_logs < 0
        warm = dict(branch.warm)
        least = _START_WEIGHT * float(sum(self._counts.decision))
        tolerance = max(CLEAR, 1e-4 * (branch.bound - self._target))
        for _ in range(_JOININGS):
            index = np.flatnonzero(chosen)
            a, b = rows.left[index], rows.right[index]
            guess = np.array([max(warm.get(rows.names[i], 0.0), least) for i in index])
            if len(index):
                guess = guess * min(1.0, 0.8 / max(float(np.max(guess @ a / self._weight)), 1e-300))
            found = upper_bound(
                self._weight, a, b, self._start, self._row, guess, tolerance, self._target - self._clear
            )
            warm = {rows.names[i]: float(w) for i, w in zip(index, found.multipliers, strict=True)}
            if found.value < branch.bound or not branch.warm:
                branch.log_theta, branch.warm = found.log_theta, warm
            if found.value < branch.bound:
                branch.bound = found.value
                branch.weights = rows.weighted(index, found.multipliers)
            if found.value <= self._target - self._clear or not rows.join(chosen, found.log_theta):
                break

    def _tighten(self, branch: Branch, forms: Iterable[int]) -> None:
        """Optimise forms both ways among what a branch leaves and is as likely as the target."""
        rows = self._rows(branch)
        room = max(branch.bound - self._target, MARGIN)
        for form in forms:
            for upper in (True, False):
                if self._question.limits.expired():
                    return
                width = float(branch.high[form] - branch.low[form])
                # An end beyond the other one says enough where it is 1 beyond.
                other = float(-branch.low[form] if upper else branch.high[form])
                enough = -1 - other if np.isfinite(other) else -_FARTHEST
                step = self._end(rows, branch.warm, room, End(form, upper), width, enough)
                old = float(branch.high[form] if upper else -branch.low[form])
                value = step.value if upper else -step.value
                if np.isfinite(value) and value < old - _TAKEN * (width if np.isfinite(width) else 0.0):
                    branch.steps.append(step)
                    (branch.high if upper else branch.low)[form] = step.value
                    if branch.low[form] > branch.high[form]:
                        self._close(branch, form)
                        return

    def _end(
        self,
        rows: Rows,
        warm: dict[RowName, float],
        room: float,
        end: End,
        width: float,
        enough: float,
    ) -> Step:
        """An end of a form's range, infinite where none is found."""
        sign = 1.0 if end.upper else -1.0
        vector = self._vectors[end.form]
        # About the multiplier of the likelihood if it were quadratic.
        scale = (float(np.sum(vector**2 / np.maximum(self._weight, 1))) / (2 * room)) ** 0.5
        objective = sign * vector
        # Where it takes from what has no cases, rows have to give as much.
        objective = np.where(self._unseen & (objective >= 0), objective + _NO_CASES, objective)
        tolerance = _END * (width if np.isfinite(width) else 1.0)
        chosen = np.array([name in warm for name in rows.names], dtype=np.bool_)
        best, weights, target_weight = inf, list[tuple[Row, float]](), 0.0
        for _ in range(_JOININGS):
            index = np.flatnonzero(chosen)
            a = np.vstack([rows.left[index], -self._cases])
            b = np.append(rows.right[index], -self._target)
            guess = scale * np.array([*(max(warm.get(rows.names[i], 0.0), _LEAST_WARM) for i in index), 1.0])
            for _ in range(_DOUBLINGS):
                if (objective - guess @ a).min() > 0:
                    break
                guess = guess * 2
            else:
                break
            found = upper_bound(objective, a, b, self._start, self._row, guess, tolerance, enough)
            if found.value < best:
                best = found.value
                weights = rows.weighted(index, found.multipliers[:-1])
                target_weight = float(found.multipliers[-1])
            if not rows.join(chosen, found.log_theta):
                break
            unit = max(float(found.multipliers[-1]), 1e-300)
            warm = {
                rows.names[i]: float(w) / unit for i, w in zip(index, found.multipliers[:-1], strict=True)
            }
        return Step(end, sign * max(more(best + self._short), enough), weights, target_weight)

    def _close(self, branch: Branch, form: int) -> None:
        """Bound a branch in which a form has no value left: both ends, weighted alike, make less than 0."""
        weight = (self._free_bound - self._target + 1) / float(branch.low[form] - branch.high[form])
        branch.bound = self._target - 1
        branch.weights = [(End(form, True), weight), (End(form, False), weight)]

    def document(self, found: Decimal) -> LikelihoodProof:
        """The proof, with the bound that `proof_checker` finds it to prove."""
        branches, lines = branch_records(self._root)
        model = self._counts.model
        made = LikelihoodProof(
            model=model.name,
            sha256=model.sha256(),
            favourable=model.favourable,
            delta=_text(self._question.criterion.threshold),
            decision=(_text(self._counts.decision[0]), _text(self._counts.decision[1])),
            attributes=tuple(
                CountedAttribute(
                    name=attribute.name,
                    values=attribute.values,
                    sensitive=attribute.sensitive,
                    favourable=tuple(_text(row[0]) for row in rows),
                    unfavourable=tuple(_text(row[1]) for row in rows),
                )
                for attribute, rows in zip(model.attributes, self._counts.attributes, strict=True)
            ),
            found=str(found),
            target=self._target_text,
            bound=self._target_text,
            forms=tuple(FormRecord(values=values, prior=prior) for values, prior in self._forms),
            patterns=tuple(PatternRecord(sensitive_values=x, context_values=y) for x, y in self._patterns),
            chords=tuple(
                ChordRecord(
                    pattern=line.pattern,
                    forward=line.forward,
                    low=_or_none(line.chord.low),
                    low_from=_or_none(line.chord.low_from),
                    high_from=_or_none(line.chord.high_from),
                    high=repr(line.chord.high),
                    slope=repr(line.chord.slope),
                    intercept=repr(line.chord.intercept),
                )
                for line in lines
            ),
            branches=branches,
        )
        bound = proof_checker.proved(made.model_dump(mode="json")).quantize(_UNIT, ROUND_CEILING)
        return made.model_copy(update={"bound": str(bound)})


def _or_none(value: float | None) -> str | None:
    return None if value is None or value == -inf else repr(value)


def _text(number: Fraction) -> str:
    return format(exact_decimal(number), "f")
