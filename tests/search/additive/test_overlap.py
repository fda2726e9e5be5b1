"""The patterns that two models have in common, by the brute force."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.model.exponentials import Base
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.search.additive import overlap as module
from auditor.search.additive.overlap import Overlap, Side, overlap, worst_lost
from auditor.search.answer import answer
from auditor.search.criteria import Difference, Ratio
from auditor.search.question import Question
from tests.certificate.making import figure1
from tests.fuzzing import examples
from tests.oracle import BruteForce, CriterionName, Pair, PlainAttribute, PlainModel
from tests.strategies import FAMILIES, Family, cases, plain_attributes, total_pairs

CRITERIA: dict[CriterionName, type[Difference] | type[Ratio]] = {"difference": Difference, "ratio": Ratio}
Labelled = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Named:
    """A random model whose attributes and values have names."""

    plain: PlainModel
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def model(self) -> NaiveBayes:
        """The same for the engine."""
        attributes = zip(self.names, self.labels, self.plain.attributes, strict=True)
        return NaiveBayes(
            "m",
            "D",
            "d",
            "e",
            self.plain.prior,
            tuple(Attribute(n, v, a.sensitive, a.rows) for n, v, a in attributes),
        )

    def patterns(self, criterion: CriterionName, threshold: Fraction) -> dict[Labelled, Pair]:
        """The discrimination patterns by the labels of their values."""

        def labelled(values: tuple[tuple[int, int], ...]) -> frozenset[tuple[str, str]]:
            return frozenset((self.names[i], self.labels[i][v]) for i, v in values)

        return {
            (labelled(pair.x), labelled(pair.y)): pair
            for pair in BruteForce(self.plain, criterion).pairs
            if pair.size > threshold
        }


@st.composite
def successions(draw: st.DrawFn, family: Family, criterion: CriterionName) -> tuple[Named, Named, Fraction]:
    """A model, and one that was trained again: other numbers, order, names, values or marks in part."""
    case = draw(cases(family, criterion))
    old = Named(
        case.model,
        tuple(f"a{i}" for i in range(len(case.model.attributes))),
        tuple(tuple(f"v{v}" for v in range(len(a.rows))) for a in case.model.attributes),
    )
    attributes, names, labels = [], [], []
    for attribute, name in zip(old.plain.attributes, old.names, strict=True):
        new = draw(plain_attributes(family)) if draw(st.booleans()) else attribute
        sensitive = attribute.sensitive if draw(st.integers(0, 3)) else not attribute.sensitive
        attributes.append(PlainAttribute(new.rows, sensitive))
        names.append(name if draw(st.integers(0, 4)) else f"{name}'")
        labels.append(tuple(draw(st.permutations([f"v{v}" for v in range(len(new.rows))]))))
    if not any(attribute.sensitive for attribute in attributes):
        attributes[0] = PlainAttribute(attributes[0].rows, sensitive=True)
    while total_pairs(attributes) > 4000:
        attributes.pop(), names.pop(), labels.pop()
        attributes[0] = PlainAttribute(attributes[0].rows, sensitive=True)
    order = draw(st.permutations(range(len(attributes))))
    prior = case.model.prior if draw(st.booleans()) else Fraction(2, 7)
    new_model = Named(
        PlainModel(prior, tuple(attributes[i] for i in order)),
        tuple(names[i] for i in order),
        tuple(labels[i] for i in order),
    )
    return old, new_model, case.threshold


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", ["everything", "exact ties", "zeros under one decision", "near certain"])
@pytest.mark.parametrize("half", [1 << 20, 8])
@pytest.mark.hypothesis
def test_overlaps_by_the_brute_force(
    family: str, criterion: CriterionName, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listed whole and in small blocks, and half against half; and the worst of those that are gone."""
    monkeypatch.setattr(module, "_HALF", half)

    @examples(6)
    @given(successions(FAMILIES[family], criterion))
    def check(succession: tuple[Named, Named, Fraction]) -> None:
        old_named, new_named, threshold = succession
        old, new = (Side(named.model, CRITERIA[criterion](threshold)) for named in (old_named, new_named))
        before, after = (named.patterns(criterion, threshold) for named in (old_named, new_named))
        both = [pattern for pattern in before if pattern in after]
        worse = sum(after[pattern].size > before[pattern].size for pattern in both)
        assert overlap(old, new) == Overlap(len(both), worse)
        if half > 8:
            monkeypatch.setattr(module, "_LISTED", -1)
            crossed = overlap(old, new)
            monkeypatch.undo()
            assert crossed.both == len(both)
            assert crossed.worse is None

    check()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.hypothesis
def test_the_worst_that_are_gone_by_the_brute_force(criterion: CriterionName) -> None:
    @examples(10)
    @given(successions(FAMILIES["simple rationals"], criterion))
    def check(succession: tuple[Named, Named, Fraction]) -> None:
        old, new, threshold = succession
        before, after = (named.patterns(criterion, threshold) for named in (old, new))
        rule = CRITERIA[criterion](threshold)
        old_side, new_side = (Side(named.model, rule) for named in (old, new))
        found = {
            (
                frozenset((old.names[i], old.labels[i][v]) for i, v in x),
                frozenset((old.names[i], old.labels[i][v]) for i, v in y),
            )
            for x, y in worst_lost(old_side, new_side, 3)
        }
        values = {(n, v) for n, vs in zip(new.names, new.labels, strict=True) for v in vs}
        sensitive = {n for n, a in zip(new.names, new.plain.attributes, strict=True) if a.sensitive}
        finite = {
            (n, v)
            for n, vs, a in zip(new.names, new.labels, new.plain.attributes, strict=True)
            for v, row in zip(vs, a.rows, strict=True)
            if all(row)
        }
        expressible = [
            (x, y) for x, y in before if x <= values and {n for n, _ in x} <= sensitive and y <= finite
        ]
        gone = sorted((p for p in expressible if p not in after), key=lambda p: -before[p].size)
        assert found >= set(gone[:3])

    check()


def test_too_many_ties_are_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """At an exact tie with the threshold the integers can't decide."""
    tie = answer(figure1().naive_bayes(), Question.of("0")).largest.lower
    side = Side(figure1().naive_bayes(), Difference(tie))
    wide = Side(figure1().naive_bayes(), Difference(Fraction(0)))
    assert overlap(side, wide).both == 0
    monkeypatch.setattr(module, "_UNDECIDED", 0)
    found = overlap(side, wide)
    assert found.both is None
    assert "too close to call" in str(found.both_reason)


def test_not_all_that_tie_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LOST", 1)
    old = Side(figure1().naive_bayes(), Difference(Fraction(0)))
    new = Side(figure1().naive_bayes(), Difference(Fraction(1)))
    assert len(worst_lost(old, new, 10)) == 2


def test_by_another_criterion_the_same_model_can_be_worse() -> None:
    """No number of the model differs, but its degrees do."""
    rows = ((Fraction(1, 2), Fraction(1, 5)), (Fraction(1, 2), Fraction(4, 5)))
    plain = PlainModel(Fraction(1, 10), (PlainAttribute(rows, sensitive=True),) * 2)
    named = Named(plain, ("a", "b"), (("u", "v"),) * 2)
    threshold = Fraction(1, 100)
    before, after = (named.patterns(criterion, threshold) for criterion in ("difference", "ratio"))
    worse = sum(pattern in before and pair.size > before[pattern].size for pattern, pair in after.items())
    assert worse
    old, new = (Side(named.model, kind(threshold)) for kind in (Difference, Ratio))
    assert overlap(old, new).worse == worse


def of_weight(weight: Fraction, base: Base, name: CriterionName = "difference", delta: str = "0.1") -> Side:
    """A scorecard of one value, and its question."""
    attribute = ScoredAttribute("a", ("u",), True, (weight,), Fraction(0), None)
    model = AdditiveModel(
        "c", "d", "yes", "no", "declared", base, Fraction(1), Fraction(0), (attribute,), None
    )
    return Side(model, CRITERIA[name](Fraction(delta)))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_scorecards_that_differ_beyond_40_digits_are_compared(criterion: CriterionName) -> None:
    one, hair = Fraction(1), Fraction(1, 10**60)
    # In nats the first is ln 2 less a hair.
    nats = Fraction("0.6931471805599453094172321214581765680755001343602552541206800")
    for less, more in (
        (of_weight(one, "e", criterion), of_weight(one + hair, "e", criterion)),
        (of_weight(one, "2", criterion), of_weight(one + hair, "2", criterion)),
        (of_weight(nats, "e", criterion), of_weight(one, "2", criterion)),
    ):
        assert overlap(less, more) == Overlap(1, 1)
        assert overlap(more, less) == Overlap(1, 0)
        assert overlap(more, more) == Overlap(1, 0)


def test_a_threshold_next_to_a_degree_makes_no_other_worse() -> None:
    """``σ(1) - 1/2`` is 0.2310585786300048792511592418218362743651446401650565192763659079...; told to more
    digits where the threshold is next to it.
    """
    near = "0.23105857863000487925115924182183627436514464016505651927636590"
    assert overlap(of_weight(Fraction(1), "e"), of_weight(Fraction(-1), "e", delta=near)) == Overlap(1, 0)
