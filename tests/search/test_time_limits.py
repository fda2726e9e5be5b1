"""The limit of time holds in every phase, to within half a second of an idle processor's time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from random import Random
from time import process_time

import pytest

from auditor.model.naive_bayes import NaiveBayes
from auditor.search.additive.engine import Engine
from auditor.search.answer import Wanted, answer
from auditor.search.criteria import Difference
from auditor.search.limits import Limits
from auditor.search.question import Question
from tests.oracle import PlainAttribute, PlainModel
from tests.search.comparing import naive_bayes

#: Seconds that a phase may take, and may be over it: half a second, and twice that beside other work.
LIMIT, OVER = 0.1, 1.0
#: Runs of which one must be in time: what else the machine does can only add to them.
TRIES = 3


def attributes(number: int, values: int, seed: str, *, sensitive: bool) -> tuple[PlainAttribute, ...]:
    random = Random(seed)

    def column() -> list[Fraction]:
        weights = [random.randint(5, 95) for _ in range(values)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    return tuple(
        PlainAttribute(tuple(zip(column(), column(), strict=True)), sensitive) for _ in range(number)
    )


#: Models of which hardly any phase is over in time.
HARD: dict[str, Callable[[], tuple[PlainAttribute, ...]]] = {
    "copies": lambda: (
        *attributes(5, 3, "few", sensitive=True),
        *attributes(1, 2, "one", sensitive=False) * 300,
    ),
    "many attributes": lambda: (
        *attributes(6, 2, "six", sensitive=True),
        *attributes(500, 2, "many", sensitive=False),
    ),
    "all sensitive": lambda: attributes(100, 2, "all", sensitive=True),
    "a thousand sensitive": lambda: attributes(1000, 2, "thousand", sensitive=True),
    "many values": lambda: (
        *attributes(3, 300, "three", sensitive=True),
        *attributes(30, 300, "thirty", sensitive=False),
    ),
    "many combinations": lambda: (
        *attributes(10, 10, "ten", sensitive=True),
        *attributes(20, 5, "twenty", sensitive=False),
    ),
}

PHASES: dict[str, Callable[[Engine], object]] = {
    "largest degree": lambda engine: engine.worst(),
    "by attribute": lambda engine: engine.worst(disclosing=engine.tables.sensitive[0]),
    "by attribute alone": lambda engine: engine.worst(only=engine.tables.sensitive[:1]),
    "by pair": lambda engine: engine.worst(only=engine.tables.sensitive[:2]),
    "group level": lambda engine: engine.group_level(),
    "individual level": lambda engine: engine.worst(individual=True),
    "by share": lambda engine: engine.worst_by_share([Fraction(1, 10**n) for n in range(1, 5)]),
    "top by divergence": lambda engine: engine.top(100, "divergence"),
    "top by probability": lambda engine: engine.top(100, "probability"),
    "top by degree": lambda engine: engine.top(100, "discrimination"),
    "minimal": lambda engine: engine.minimal(1000),
    "pareto": lambda engine: engine.pareto(40),
    "maximal": lambda engine: engine.maximal(100),
    "count": lambda engine: engine.count(),
    "counts at thresholds": lambda engine: engine.counts([Fraction(n, 20) for n in range(1, 16)]),
    "sample": lambda engine: engine.sample(100),
    "dots": lambda engine: engine.sample_points(1000),
}


@cache
def hard(name: str) -> NaiveBayes:
    return naive_bayes(PlainModel(Fraction(1, 2), HARD[name]()))


def clock() -> tuple[Limits, Callable[[], None]]:
    """Limits of time, and what starts it."""
    start = [float("inf")]

    def begin() -> None:
        start[0] = process_time()

    return Limits(expired=lambda: process_time() > start[0] + LIMIT), begin


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    ("name", "least"),
    [*((name, None) for name in HARD), *((name, Fraction(1, 1000)) for name in ("copies", "all sensitive"))],
)
def test_every_phase_ends_in_time(name: str, phase: str, least: Fraction | None) -> None:
    def seconds() -> float:
        limits, begin = clock()
        engine = Engine(hard(name), Difference(Fraction(1, 10)), least, limits)
        start = process_time()
        begin()
        PHASES[phase](engine)
        return process_time() - start

    assert any(seconds() <= LIMIT + OVER for _ in range(TRIES))


@pytest.mark.parametrize("min_probability", [None, "0.001"])
@pytest.mark.parametrize("name", HARD)
def test_whole_answers_end_in_time(name: str, min_probability: str | None) -> None:
    def seconds() -> float:
        limits, begin = clock()
        model, start = hard(name), process_time()
        begin()
        question = Question.of("0.1", min_probability=min_probability, limits=limits)
        found = answer(model, question, Wanted(top=100, minimal=100, details=True, illustration=True))
        taken = process_time() - start
        assert found.out_of_time
        assert found.verdict == "not-delta-fair"
        return taken

    assert any(seconds() <= LIMIT + OVER for _ in range(TRIES))
