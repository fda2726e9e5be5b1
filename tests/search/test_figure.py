"""Figures of many scopes know what the others found and proved, as if each pair of them were compared."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from auditor.model.additive import AdditiveModel, ScoredAttribute
from auditor.search.additive.engine import Engine
from auditor.search.additive.worst import Worst
from auditor.search.criteria import Difference
from auditor.search.figure import ALL, GROUP, Figures, FigureScope, among, disclosing
from auditor.search.limits import DEFAULT
from auditor.search.pattern import Pattern

ATTRIBUTES = range(4)
SCOPES = [ALL, GROUP, *map(disclosing, ATTRIBUTES), *(among(i, j) for i in ATTRIBUTES for j in range(i + 1))]
SCOPES += [FigureScope(frozenset(ATTRIBUTES), least_context=1), FigureScope(probability=Fraction(1, 3))]


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    x = tuple((i, 0) for i in sorted(draw(st.sets(st.sampled_from(ATTRIBUTES), min_size=1))))
    y = draw(st.sampled_from([(), ((4, 0),)]))
    degree, probability = (Fraction(draw(st.integers(1, 8)), 9) for _ in range(2))
    half = Fraction(1, 2)
    return Pattern(x, y, degree, (probability, half), half, half, Difference(half))


def is_probable(pattern: Pattern, least: Fraction) -> bool:
    return pattern.probability >= least


@given(st.lists(patterns(), unique_by=lambda pattern: pattern.key), st.data())
def test_every_figure_has_the_worst_pattern_and_the_tightest_bound(
    seen: list[Pattern], data: st.DataObject
) -> None:
    figures, proved = Figures(), {}
    scopes = data.draw(st.lists(st.sampled_from(SCOPES), unique=True))
    for scope in scopes:
        worst = max((abs(p.degree) for p in seen if scope.has(p, is_probable)), default=Fraction(0))
        proved[scope] = data.draw(st.sampled_from([worst, Fraction(19, 20), Fraction(1)]))
        figures.add(scope, Worst((), proved[scope], complete=False, solved=0, total=1))
    figures.seen += seen
    figures.settle(Fraction(1), [], is_probable)
    for scope in scopes:
        worst = max((abs(p.degree) for p in seen if scope.has(p, is_probable)), default=Fraction(0))
        assert figures[scope].lower == worst
        witness = figures[scope].witness
        assert witness is None or scope.has(witness, is_probable)
        assert figures[scope].upper == min(proved[wider] for wider in scopes if scope.within(wider))


def test_a_share_between_a_probability_and_its_digits_is_not_reached() -> None:
    """P(xy) = 1/3 · 2/3 · 3, of which 40 digits are told, the last one rounded up."""
    rows = (Fraction(1), Fraction(-1)), (Fraction(2, 3), Fraction(1, 3))
    attribute = ScoredAttribute("a", ("u", "v"), True, rows[0], Fraction(0), rows[1])
    model = AdditiveModel(
        "card", "d", "yes", "no", "conforming", "2", Fraction(1), Fraction(0), (attribute,), Fraction(1, 3)
    )
    engine = Engine(model, Difference(Fraction(0)), None, DEFAULT)
    pattern = engine.tables.exact.measure(Difference(Fraction(0)), ((0, 0),), ())
    truth = Fraction(2, 3)
    for least, has in ((truth, True), ((truth + pattern.probability) / 2, False)):
        assert pattern.probability > least
        assert FigureScope(probability=least).has(pattern, engine.is_probable) == has
