"""What holds for every model of a set, against all corners of all patterns in rationals.

The brute force makes the sets itself: it lists the corners of each distribution, the least and the greatest
probability of each value among them, and the degree of every pattern at every combination of these. Between
corners |degree| is larger only where γ passes its peak, where it is ``tanh(|s|/4)``; that is compared with a
threshold in rationals too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import prod

import pytest

from auditor.choices import CriterionName
from auditor.model.naive_bayes import Assignment, Attribute, NaiveBayes
from auditor.search.answer import answer
from auditor.search.criteria import CRITERIA, Criterion
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question
from auditor.search.ranges import Ranges, box, imprecise_dirichlet
from auditor.search.reach import Extreme, LargestBox, Reach, decided, largest_box, reach
from auditor.search.reach_counts import SetCounts, count_in_set

ONE, ZERO = Fraction(1), Fraction(0)
Row = list[Fraction]
Ends = tuple[Fraction, Fraction]
#: Corners of one distribution.
Corners = Callable[[Row], list[Row]]


def corners_of_a_box(share: Fraction) -> Corners:
    """All but one of the probabilities are at an end, and the last is what they leave."""

    def corners(row: Row) -> list[Row]:
        ends = [(p / (1 + share), p * (1 + share)) for p in row]
        found = []
        for free in range(len(row)):
            others = [e for i, e in enumerate(ends) if i != free]
            for chosen in product(*others):
                left = 1 - sum(chosen, ZERO)
                if ends[free][0] <= left <= ends[free][1]:
                    found.append([*chosen[:free], left, *chosen[free:]])
        return found

    return corners


def corners_of_rows(strength: Fraction) -> Corners:
    """All further rows have the same value."""

    def corners(counts: Row) -> list[Row]:
        total = sum(counts, strength)
        return [
            [(n + (strength if i == j else 0)) / total for i, n in enumerate(counts)]
            for j in range(len(counts))
        ]

    return corners


@dataclass(frozen=True)
class Case:
    """A set as the program makes it, and its ends by the corners of each distribution."""

    ranges: Ranges
    prior: Ends
    values: list[list[tuple[Ends, Ends]]]


def made(ranges: Ranges, corners: Corners, decision: Row, tables: Sequence[tuple[Row, Row]]) -> Case:
    def ends(row: Row) -> list[Ends]:
        found = corners(row)
        return [(min(c[v] for c in found), max(c[v] for c in found)) for v in range(len(row))]

    return Case(
        ranges,
        ends(decision)[0],
        [list(zip(ends(favourable), ends(unfavourable), strict=True)) for favourable, unfavourable in tables],
    )


def random_case(rng: random.Random, kind: str) -> Case:
    """Few rows, so that many counts are 0; a box of 0 is a single model."""
    tables: list[tuple[Row, Row]] = []
    for _ in range(rng.randint(1, 3)):
        m = rng.randint(2, 3)
        pool = rng.choice([(0, 1, 5), (1, 2, 3, 40), (0, 3), (7, 8, 9)])
        rows = [[Fraction(rng.choice(pool)) for _ in range(m)] for _ in range(2)]
        for row in rows:
            if not any(row):
                row[0] = ONE
        tables.append((rows[0], rows[1]))
    decision = [Fraction(rng.randint(1, 30)), Fraction(rng.randint(1, 30))]
    sensitive = tuple(sorted(rng.sample(range(len(tables)), rng.randint(1, len(tables)))))
    if kind == "rows":
        strength = Fraction(rng.choice([1, 2]), rng.choice([1, 3]))
        ranges = imprecise_dirichlet((decision[0], decision[1]), tables, strength, sensitive)
        return made(ranges, corners_of_rows(strength), decision, tables)
    share = Fraction(rng.choice([0, 1, 3, 20]), 10)
    shares = [tuple([n / sum(row) for n in row] for row in table) for table in tables]
    prior = decision[0] / sum(decision)
    model = NaiveBayes(
        "model",
        "decision",
        "yes",
        "no",
        prior,
        tuple(
            Attribute(f"a{i}", tuple("uvw"[: len(a)]), i in sensitive, tuple(zip(a, b, strict=True)))
            for i, (a, b) in enumerate(shares)
        ),
    )
    return made(box(model, share), corners_of_a_box(share), [prior, 1 - prior], [(a, b) for a, b in shares])


def patterns(case: Case) -> Iterator[tuple[Assignment, Assignment]]:
    """All pairs (x, y) of values that each can occur in some model of the set."""
    there = [[v for v, (a, b) in enumerate(row) if a[1] or b[1]] for row in case.values]
    for number in range(1, len(case.ranges.sensitive) + 1):
        for shown in combinations(case.ranges.sensitive, number):
            rest = [i for i in range(len(there)) if i not in shown]
            for x in product(*(there[i] for i in shown)):
                for y in product(*([None, *there[i]] for i in rest)):
                    context = tuple((i, v) for i, v in zip(rest, y, strict=True) if v is not None)
                    yield tuple(zip(shown, x, strict=True)), context


def degree(name: CriterionName, given_pattern: Fraction, given_context: Fraction) -> Fraction:
    if name == "difference":
        return given_pattern - given_context
    if given_context == 0:
        return ZERO
    q = given_pattern / given_context
    return 1 - 1 / q if q >= 1 else q - 1


@dataclass(frozen=True)
class Pattern:
    """What |degree| is at corners, and by how much it is larger between them.

    Attributes
    ----------
    sup : Fraction
        The largest at a corner, or that it comes as near to as one likes.
    peaks : list of (Fraction, Fraction)
        ``P(x | d)`` and ``P(x | d̄)`` where it passes ``tanh(|s|/4)`` between corners.
    inf : Fraction
        The least in any model, 0 where the pattern can't occur in some.
    """

    sup: Fraction
    peaks: list[Ends]
    inf: Fraction

    def exceeds(self, threshold: Fraction) -> bool:
        """Whether |degree| is above a threshold in some model."""
        return self.sup > threshold or any(
            min(peak) * (1 + threshold) ** 2 < max(peak) * (1 - threshold) ** 2 for peak in self.peaks
        )


def measured(name: CriterionName, case: Case, x: Assignment, y: Assignment) -> Pattern | None:
    """All corners of one pattern; None if it occurs in no model."""
    of_x = [case.values[i][v] for i, v in x]
    of_y = [case.values[i][v] for i, v in y]
    ends_u = [case.prior[e] * prod((a[e] for a, _ in of_y), start=ONE) for e in (0, 1)]
    ends_v = [(1 - case.prior[1 - e]) * prod((b[e] for _, b in of_y), start=ONE) for e in (0, 1)]
    ends_a = [prod((a[e] for a, _ in of_x), start=ONE) for e in (0, 1)]
    ends_b = [prod((b[e] for _, b in of_x), start=ONE) for e in (0, 1)]
    degrees, undefined = [], False
    for u, v, a, b in product(ends_u, ends_v, ends_a, ends_b):
        if u * a + v * b == 0:
            undefined = True
            continue
        degrees.append(degree(name, u * a / (u * a + v * b), u / (u + v)))
    if not degrees:
        return None
    sup = max(map(abs, degrees))
    peaks = []
    (u0, u1), (v0, v1) = ends_u, ends_v
    for a, b in product(ends_a, ends_b):
        if name == "ratio":
            # It only falls with γ, and comes near this where γ has no lower end.
            if u0 == 0 and u1 and v1 and (a or b):
                sup = max(sup, 1 - min(a, b) / max(a, b))
        elif u1 and v1 and (a or b):
            if (b == 0 and u0 == 0) or (a == 0 and v0 == 0):
                sup = ONE
            elif u0 * u0 * a < v1 * v1 * b and u1 * u1 * a > v0 * v0 * b:
                peaks.append((a, b))
    crosses = undefined or min(degrees) <= 0 <= max(degrees)
    return Pattern(sup, peaks, ZERO if crosses else min(map(abs, degrees)))


def brute_force(name: CriterionName, case: Case) -> list[Pattern]:
    return [found for x, y in patterns(case) if (found := measured(name, case, x, y))]


def check_a_model(name: CriterionName, case: Case, extreme: Extreme) -> None:
    """The parameters of an extreme are of a model in the set, and the degree is what they give."""
    values = extreme.sensitive_values + extreme.context_values
    assert [(q.attribute, q.value) for q in extreme.parameters] == sorted(values)
    assert case.prior[0] <= extreme.prior <= case.prior[1]
    u, v, u_x, v_x = extreme.prior, 1 - extreme.prior, extreme.prior, 1 - extreme.prior
    for q in extreme.parameters:
        (a0, a1), (b0, b1) = case.values[q.attribute][q.value]
        assert a0 <= q.favourable <= a1
        assert b0 <= q.unfavourable <= b1
        u_x, v_x = u_x * q.favourable, v_x * q.unfavourable
        if (q.attribute, q.value) in extreme.context_values:
            u, v = u * q.favourable, v * q.unfavourable
    assert extreme.degree == degree(name, u_x / (u_x + v_x), u / (u + v))
    assert extreme.given_pattern == u_x / (u_x + v_x)
    assert extreme.given_context == u / (u + v)


def check(name: CriterionName, case: Case, found: list[Pattern], delta: Fraction) -> Reach:
    """A verdict and both ends, against all patterns."""
    known = reach(case.ranges, CRITERIA[name](delta))
    exceeded = any(p.exceeds(delta) for p in found)
    least = max(p.inf for p in found)
    if not exceeded:
        assert known.verdict == "all-delta-fair"
    else:
        assert known.verdict == ("none-delta-fair" if least > delta else "varies")
        assert (known.certain.least if known.certain else 0) == least
    assert not any(p.exceeds(known.upper) for p in found)
    lower = abs(known.largest.degree) if known.largest else ZERO
    assert known.upper - lower <= Fraction(1, 10**12)
    if known.largest:
        check_a_model(name, case, known.largest)
        assert not exceeded or lower > delta
    assert decided(case.ranges, CRITERIA[name](delta), fair=True) == (not exceeded)
    assert decided(case.ranges, CRITERIA[name](delta), fair=False) == (least > delta)
    check_counts(name, case, found, delta, known)
    return known


def check_counts(
    name: CriterionName, case: Case, found: list[Pattern], delta: Fraction, known: Reach
) -> None:
    """The numbers of patterns in some model and in every one; a model has at least and at most these."""
    criterion = CRITERIA[name](delta)
    some, every = sum(p.exceeds(delta) for p in found), sum(p.inf > delta for p in found)
    counts = count_in_set(case.ranges, criterion, known.verdict, (every, some))
    assert (counts.some, counts.every) == ((some, some), (every, every))
    assert counts.reason is None


@pytest.mark.parametrize("name", ["difference", "ratio"])
@pytest.mark.parametrize("kind", ["rows", "box"])
@pytest.mark.parametrize("seed", range(16))
def test_all_corners(name: CriterionName, kind: str, seed: int) -> None:
    """Verdicts, the largest degree and the least certain one, at δ apart from, at and beside both."""
    case = random_case(random.Random(f"{name} {kind} {seed}"), kind)
    found = brute_force(name, case)
    hair = Fraction(1, 10**40)
    attained = [max(p.sup for p in found), max(p.inf for p in found)]
    near = {d for t in attained for d in (t - hair, t, t + hair) if 0 <= d <= 1}
    for delta in sorted({ZERO, Fraction(1, 10), Fraction(2, 5), ONE} | near):
        check(name, case, found, delta)


def test_a_tie_is_fair_in_all_and_a_hair_less_in_none() -> None:
    """A box of 0 holds one model, and its largest degree is a rational."""
    row = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 2), (Attribute("a", ("u", "v"), True, row),))
    point = box(model, ZERO)
    quarter = Fraction(1, 4)
    assert reach(point, CRITERIA["difference"](quarter)).verdict == "all-delta-fair"
    assert reach(point, CRITERIA["difference"](quarter - Fraction(1, 10**60))).verdict == "none-delta-fair"


def test_the_worst_model_told_is_above_the_threshold_where_another_pattern_is_as_near() -> None:
    """The first value reaches less than a hair above 1/2, the second four: both round to the same."""
    half, hair = Fraction(1, 2), Fraction(1, 10**40)
    columns = (
        (Fraction(9, 20) + hair, Fraction(1, 20), half - hair),
        (Fraction(1, 20), Fraction(9, 20) + 10 * hair, half - 10 * hair),
    )
    for order in ((0, 1, 2), (1, 0, 2)):
        values = tuple(((columns[0][v],) * 2, (columns[1][v],) * 2) for v in order)
        ranges = Ranges((Fraction(1, 10), Fraction(9, 10)), (values,), (0,))
        found = reach(ranges, CRITERIA["difference"](half + hair))
        assert found.verdict == "varies"
        assert found.largest is not None
        assert abs(found.largest.degree) > half + hair


@pytest.mark.parametrize("seed", range(30))
def test_limits_never_make_a_verdict_fair(seed: int) -> None:
    """Short lists and few nodes leave open what they can't prove."""
    ranges = random_case(random.Random(f"limits {seed}"), "rows").ranges
    criterion = CRITERIA["difference"](Fraction(1, 5))
    whole = reach(ranges, criterion)
    for limits in (Limits(nodes=0), Limits(nodes=3), Limits(entries=1), Limits(expired=lambda: True)):
        cut = reach(ranges, criterion, limits)
        assert cut.verdict in (whole.verdict, "inconclusive")
        assert cut.upper >= (abs(whole.largest.degree) if whole.largest else 0)


def test_what_is_not_counted_is_left_between_bounds() -> None:
    case = random_case(random.Random("limits"), "rows")
    criterion = CRITERIA["difference"](Fraction(1, 20))
    verdict = reach(case.ranges, criterion).verdict
    whole = count_in_set(case.ranges, criterion, verdict, (0, 10**9))
    cut = count_in_set(case.ranges, criterion, verdict, (0, 10**9), Limits(expired=lambda: True))
    assert whole.reason is None
    assert cut.reason
    assert cut.some[0] <= whole.some[0] <= cut.some[1]
    assert cut.every[0] <= whole.every[0] <= cut.every[1]
    with pytest.raises(RuntimeError):
        count_in_set(case.ranges, criterion, verdict, (whole.some[1] + 1, 10**9))


def of_two(i: int, a: Fraction, b: Fraction) -> Attribute:
    """An attribute of two values; the first one is sensitive."""
    return Attribute(f"a{i}", ("u", "v"), i == 0, ((a, b), (1 - a, 1 - b)))


def many_alike(number: int) -> NaiveBayes:
    """One weak sensitive attribute, and others that are all the same: most sums tie."""
    others = (of_two(i, Fraction(11, 20), Fraction(9, 20)) for i in range(1, number))
    first = of_two(0, Fraction(3, 5), Fraction(2, 5))
    return NaiveBayes("alike", "d", "yes", "no", Fraction(57, 100), (first, *others))


def test_ties_leave_nothing_open() -> None:
    """Hundreds of contexts are equally near the peak, and a bound on all of them decides."""
    ranges = box(many_alike(22), Fraction(1, 10**6))
    known = reach(ranges, CRITERIA["difference"](Fraction(1, 2)))
    assert known.largest is not None
    degree = abs(known.largest.degree)
    assert known.upper - degree < Fraction(1, 10**11)
    closed = Fraction(1, 5)  # tanh(|s|/4) of the first attribute, about .2: the point's supremum
    assert degree < closed
    between = (degree + closed) / 2
    assert reach(ranges, CRITERIA["difference"](between)).verdict == "all-delta-fair"


def largest(model: NaiveBayes, criterion: Criterion, *, fair: bool, limits: Limits = DEFAULT) -> LargestBox:
    return largest_box(
        lambda share: decided(box(model, share), criterion, fair=fair, limits=limits), fair=fair
    )


def test_the_largest_box_is_as_large_as_said(case_model: NaiveBayes) -> None:
    """At its one end the verdict holds, at the other it doesn't; at neither is it the other verdict's."""
    question = Question.of("0.3")
    fair = answer(case_model, question).verdict == "delta-fair"
    found = largest(case_model, question.criterion, fair=fair)
    assert found.beyond is not None
    assert found.refuted
    assert 0 < found.holds < found.beyond
    assert found.beyond - found.holds <= found.holds / 999
    within, beyond = (reach(box(case_model, s), question.criterion) for s in (found.holds, found.beyond))
    assert within.verdict == ("all-delta-fair" if fair else "none-delta-fair")
    assert beyond.verdict == "varies"


@pytest.fixture(params=[("0.6", "0.5"), ("0.8", "0.2")])
def case_model(request: pytest.FixtureRequest) -> NaiveBayes:
    """A fair model and one that isn't."""
    a, b = map(Fraction, request.param)

    rows = (of_two(0, a, b), of_two(1, Fraction(3, 10), Fraction(7, 10)))
    return NaiveBayes("m", "d", "yes", "no", Fraction(2, 5), rows)


def test_no_box_is_left_at_a_tie() -> None:
    """A repaired model lies on δ: no box about it is fair."""
    row = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 2), (Attribute("a", ("u", "v"), True, row),))
    found = largest(model, CRITERIA["difference"](Fraction(1, 4)), fair=True)
    assert found.holds == 0
    assert found.refuted


def test_limits_prove_and_refute_no_box_that_is_open(case_model: NaiveBayes) -> None:
    limits, criterion = Limits(expired=lambda: True), CRITERIA["difference"](Fraction(3, 10))
    for fair in (True, False):
        found = largest(case_model, criterion, fair=fair, limits=limits)
        # What a bound alone decides still holds.
        assert found.holds == 0 or decided(box(case_model, found.holds), criterion, fair=fair)
        assert found.beyond is not None
        assert not (found.refuted and decided(box(case_model, found.beyond), criterion, fair=fair))


def test_degrees_next_to_0_are_no_zeros() -> None:
    """Below 1e-308, where floats end, a box has bounds above its degrees all the same, and no fair one."""
    half, pairs = Fraction(1, 2), [Fraction(1, 3), Fraction(1, 5)]
    alike = Attribute("a", ("u", "v"), True, ((half, half), (half, half)))
    model = NaiveBayes("m", "d", "yes", "no", Fraction(1, 10**400), (alike,))
    rule = CRITERIA["difference"](ZERO)
    assert largest(model, rule, fair=True) == LargestBox(True, ZERO, Fraction(1, 10**9), refuted=True)
    assert reach(box(model, Fraction(1, 10)), rule).verdict == "varies"
    others = [Attribute(f"a{p}", ("u", "v"), True, ((p, half), (1 - p, half))) for p in pairs]
    for order in (others, others[::-1]):
        found = reach(box(replace(model, attributes=tuple(order)), ZERO), rule)
        # The worst is to disclose the second value of each, which multiplies odds by 4/3 and by 8/5.
        after = Fraction(32, 15) / (10**400 - 1)
        assert found.upper == after / (1 + after) - model.prior


def test_intervals_narrower_than_rounding_are_counted() -> None:
    """Where |s| is ln 4 at both ends, a degree of next to 1/3 is reached where odds are next to 1/2 or 2."""
    wide = (Fraction(1, 5), Fraction(4, 5))
    a, b = [((Fraction(n, 20),) * 2, (Fraction(m, 20),) * 2) for n, m in ((8, 5), (12, 15))]
    ranges = Ranges((Fraction(1, 4), Fraction(1, 2)), (((wide, wide), (wide, wide)), (a, b)), (0,))
    rule = CRITERIA["difference"](Fraction(1, 3) - Fraction(1, 10**40))
    # The odds before disclosing are from 1/3 to 1, from 8/15 to 8/5, or from 4/15 to 4/5.
    assert count_in_set(ranges, rule, "varies", (0, 0)) == SetCounts((4, 4), (0, 0))
