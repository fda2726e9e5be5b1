"""Figures of many scopes know what the others found and proved, as if each pair of them were compared."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive.worst import Worst
from auditor.search.criteria import Difference
from auditor.search.figure import ALL, GROUP, Figures, FigureScope, among, disclosing
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


@given(st.lists(patterns(), unique_by=lambda pattern: pattern.key), st.data())
def test_every_figure_has_the_worst_pattern_and_the_tightest_bound(
    seen: list[Pattern], data: st.DataObject
) -> None:
    figures, proved = Figures(), {}
    scopes = data.draw(st.lists(st.sampled_from(SCOPES), unique=True))
    for scope in scopes:
        worst = max((abs(p.degree) for p in seen if scope.has(p)), default=Fraction(0))
        proved[scope] = data.draw(st.sampled_from([worst, Fraction(19, 20), Fraction(1)]))
        figures.add(scope, Worst((), proved[scope], complete=False, solved=0, total=1))
    figures.seen += seen
    figures.settle(Fraction(1), [])
    for scope in scopes:
        worst = max((abs(p.degree) for p in seen if scope.has(p)), default=Fraction(0))
        assert figures[scope].lower == worst
        witness = figures[scope].witness
        assert witness is None or scope.has(witness)
        assert figures[scope].upper == min(proved[wider] for wider in scopes if scope.within(wider))
