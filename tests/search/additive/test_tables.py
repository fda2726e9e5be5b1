"""Tables of log-odds are those of the exact model, rounded once."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import inf, isclose
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from auditor.search.additive.log_odds import LogOdds, population_of
from auditor.search.additive.tables import exact_of, tables_of
from tests.oracle import PlainAttribute, PlainModel
from tests.search.comparing import naive_bayes

LOGS = Context(prec=80, Emax=10**9, Emin=-(10**9))
HALF = Fraction(1, 2)
ONE = PlainModel(HALF, (PlainAttribute(((HALF, HALF), (HALF, HALF)), sensitive=True),))


def log(x: Fraction) -> Decimal:
    return LOGS.ln(LOGS.divide(Decimal(x.numerator), Decimal(x.denominator)))


@st.composite
def columns(draw: st.DrawFn) -> list[Fraction]:
    """Probabilities of a few values, from the ordinary to the tiny."""
    weights = [draw(st.integers(0, 100)) * 10 ** draw(st.sampled_from([0, 3, 30, 400])) for _ in range(2)]
    weights.append(draw(st.integers(1, 10**6)))
    return [Fraction(weight, sum(weights)) for weight in weights]


@given(columns(), columns(), st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6)))
def test_every_entry_is_the_nearest_to_the_exact_logarithm(
    first: list[Fraction], second: list[Fraction], prior: Fraction
) -> None:
    rows = tuple(row for row in zip(first, second, strict=True) if any(row))
    tables = tables_of(naive_bayes(PlainModel(prior, (PlainAttribute(rows, sensitive=True),))))
    scale = Decimal(1 << tables.bits)
    assert tables.population is not None
    for (a, b), entry, logs in zip(rows, tables.values[0], tables.population.log_likelihood[0], strict=True):
        exact = LOGS.multiply(log(a / b), scale) if a and b else None
        assert entry == (inf if not b else -inf if not a else exact and exact.to_integral_value(context=LOGS))
        for p, found in zip((a, b), logs.tolist(), strict=True):
            assert isclose(found, float(log(p)), rel_tol=1e-15) if p else found == -inf
    assert tables.prior == LOGS.multiply(log(prior / (1 - prior)), scale).to_integral_value(context=LOGS)


def test_a_sum_of_logarithms_is_off_by_less_than_is_taken_off() -> None:
    """Of a thousand attributes next to 1e-400 it is off by more than a billionth."""
    random, tiny = Random(1), Fraction(1, 10**400)
    attributes = tuple(
        PlainAttribute(((a, b), (1 - a, 1 - b)), sensitive=True)
        for a, b in ((tiny * random.randint(1, 9), tiny * random.randint(1, 9)) for _ in range(1000))
    )
    population = population_of(tables_of(naive_bayes(PlainModel(tiny, attributes))))
    exact, found, farthest = log(tiny), population.log_prior[0], 0.0
    for attribute, logs in zip(attributes, population.log_likelihood, strict=True):
        exact, found = LOGS.add(exact, log(attribute.rows[0][0])), found + float(logs[0, 0])
        farthest = max(farthest, abs(float(LOGS.subtract(Decimal(found), exact))))
    assert 1e-9 < farthest < population.rounding


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8), st.integers(0, 999))
def test_intervals_are_widened_by_more_than_rounding(weights: list[int], thousandths: int) -> None:
    """Of log-odds of any size; those beyond 10^7 nats are off by more than a billionth in floats."""
    rest = Decimal(thousandths) / 1000
    rows = [[Decimal(weight) + rest, -Decimal(weight)] for weight in weights]
    tables = LogOdds.rounded(rest, rows, (0,), None, exact_of(naive_bayes(ONE)))
    gamma, exact = tables.prior, rest
    for row, (entry, _) in zip(rows, tables.values, strict=True):
        gamma, exact = gamma + int(entry), LOGS.add(exact, row[0])
        off = abs(LOGS.subtract(Decimal(tables.real(gamma)), exact))
        assert off * 2 < tables.wider
