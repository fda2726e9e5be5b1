"""The verdict is sound, and the document says what the brute force says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor import InputError, ModelSpec, audit, load_model
from auditor.documents.audit import PatternRecord
from auditor.model.naive_bayes import NaiveBayes
from auditor.search import verdict as verdicts
from auditor.search.additive.counting import PatternCount
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.ranking import Ranking
from auditor.search.additive.worst import Worst, worst_patterns
from auditor.search.criteria import Difference
from auditor.search.pattern import Pattern
from auditor.usecases import auditing
from tests.fuzzing import examples
from tests.oracle import BruteForce, CriterionName, Pair, PlainModel
from tests.search.comparing import naive_bayes
from tests.strategies import FAMILIES, plain_models

FIGURE1 = Path(__file__).parents[2] / "examples" / "figure1.json"
TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)


def found(degree: Fraction) -> Pattern:
    """A pattern of a degree."""
    half = Fraction(1, 2)
    return Pattern(((0, 0),), (), degree, half, half, half, half, Difference(TENTH))


def decide(pattern: Pattern | None, upper: Fraction, count: int | None) -> verdicts.Decision:
    """Decide on Figure 1 at δ = 0.1, which has patterns to draw from."""
    tables = LogOdds.of(load_model(FIGURE1).naive_bayes())
    return verdicts.decide(tables, Difference(TENTH), [pattern] if pattern else [], upper, count)


@pytest.mark.parametrize(
    ("degree", "upper", "count", "verdict", "bound"),
    [
        (TENTH, TENTH, 0, "delta-fair", TENTH),
        (-TENTH, TENTH, None, "delta-fair", TENTH),
        (-FIFTH, FIFTH, 7, "not-delta-fair", FIFTH),
        (TENTH + Fraction(1, 10**40), FIFTH, None, "not-delta-fair", FIFTH),
        (TENTH, FIFTH, None, "inconclusive", FIFTH),
        (TENTH, TENTH + Fraction(1, 10**40), None, "inconclusive", TENTH + Fraction(1, 10**40)),
        (TENTH, FIFTH, 0, "delta-fair", TENTH),
        (TENTH, FIFTH, 3, "not-delta-fair", FIFTH),
    ],
)
def test_verdicts(
    degree: Fraction, upper: Fraction, count: int | None, verdict: str, bound: Fraction
) -> None:
    decision = decide(found(degree), upper, count)
    assert (decision.verdict, decision.upper) == (verdict, bound)
    assert decision.count == (0 if verdict == "delta-fair" else count)


def test_nothing_found_and_nothing_possible_is_fair() -> None:
    decision = decide(None, Fraction(0), None)
    assert decision.verdict == "delta-fair"
    assert decision.upper == decision.lower == 0


@pytest.mark.parametrize(
    ("degree", "upper", "count"), [(FIFTH, FIFTH, 0), (TENTH, TENTH, 3), (FIFTH, TENTH, 1)]
)
def test_no_verdict_stands_on_a_disagreement(degree: Fraction, upper: Fraction, count: int) -> None:
    with pytest.raises(RuntimeError, match="disagree"):
        decide(found(degree), upper, count)


@dataclass(frozen=True)
class Specification:
    """What `audit` needs of a model specification; random rationals have no decimals."""

    bayes: NaiveBayes

    def naive_bayes(self) -> NaiveBayes:
        return self.bayes


def same(record: PatternRecord | None, pair: Pair | None) -> None:
    """Compare a record with a measured pair, up to ties."""
    assert (record is None) == (pair is None)
    if record and pair:
        assert abs(record.degree) == pytest.approx(float(pair.size), abs=1e-12)


@examples(60)
@given(
    plain_models(FAMILIES["everything"]),
    st.sampled_from(["0", "0.01", "0.1", "0.25", "1"]),
    st.sampled_from(["difference", "ratio"]),
    st.sampled_from([None, "0.01", "0.1", "0.5"]),
)
def test_the_document_agrees_with_the_brute_force(
    model: PlainModel, delta: str, criterion: CriterionName, least: str | None
) -> None:
    specification = cast(ModelSpec, Specification(naive_bayes(model)))
    document = audit(specification, delta, criterion=criterion, min_probability=least)
    brute, threshold = BruteForce(model, criterion), Fraction(delta)
    probable = [pair for pair in brute.pairs if pair.probability >= Fraction(least or 0)]
    worst = max(probable, key=lambda pair: pair.size, default=None)
    largest = worst.size if worst else Fraction(0)
    assert document.verdict == ("not-delta-fair" if largest > threshold else "delta-fair")
    same(document.worst_pattern, worst)
    assert document.search.complete
    assert Fraction(document.max_degree_bounds[0]) <= largest <= Fraction(document.max_degree_bounds[1])
    assert document.max_degree == pytest.approx(float(largest), abs=1e-12)
    assert document.total_patterns == brute.total
    patterns = [pair for pair in probable if pair.size > threshold]
    assert len(document.top_patterns) == min(10, len(patterns))
    same(document.group_level, brute.group_level())
    same(document.individual_level, brute.individual_level())
    for row, i in zip(document.by_sensitive_attribute, model.sensitive, strict=True):
        same(row.worst_pattern, brute.worst_disclosing(i))
        disclosing = [pair for pair in patterns if i in pair.disclosed]
        assert row.pattern_count == len(disclosing)
    assert document.pattern_count == len(patterns)


def test_the_count_can_settle_what_the_search_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends before it finds anything takes its witness from the patterns counted."""
    model = load_model(FIGURE1)

    def short(*arguments: object, **options: object) -> Worst:
        full = worst_patterns(*arguments, **options)  # type: ignore[arg-type]
        return Worst((found(Fraction(0)),), Fraction(1), False, 0, full.total)

    def nothing(*_: object, **__: object) -> Ranking:
        return Ranking((), False, 0, 0, 1.0)

    monkeypatch.setattr(auditing, "worst_patterns", short)
    monkeypatch.setattr(verdicts, "worst_patterns", short)
    monkeypatch.setattr(auditing, "top_patterns", nothing)
    monkeypatch.setattr(auditing, "minimal_patterns", nothing)
    unfair = audit(model, "0.2")
    assert unfair.verdict == "not-delta-fair"
    assert unfair.max_degree > 0.2
    fair = audit(model, "0.3")
    assert fair.verdict == "delta-fair"
    assert fair.max_degree_bounds == (0, nextafter(0.3, 1))
    monkeypatch.setattr(auditing, "count_patterns", lambda *_: PatternCount(None, "too many", ()))
    assert audit(model, "0.2").verdict == "inconclusive"


@pytest.mark.parametrize("number", ["0.1", " 0.10 ", ".1", "1e-1", "0", "1", "1.", 0.1, 1, 0])
def test_numbers_are_taken_exactly(number: str | float) -> None:
    text, value = auditing.parse_share(number)
    assert value == Fraction(text)
    assert text == str(number).strip()


@pytest.mark.parametrize(
    "number", ["", "x", "nan", "inf", "-0.1", "1.0001", "1/10", "1_0", "1e-9999", "٠.١", 1.5]
)
def test_other_numbers_are_refused(number: str | float) -> None:
    with pytest.raises(InputError, match="is not a decimal number from 0 to 1"):
        auditing.parse_share(number)


def test_options_out_of_range_are_refused() -> None:
    model = load_model(FIGURE1)
    with pytest.raises(InputError, match="top: 0 is not a positive number"):
        audit(model, "0.1", top=0)
    with pytest.raises(InputError, match="time_limit: -1 is not a number of seconds"):
        audit(model, "0.1", time_limit=-1)
    with pytest.raises(InputError, match="leave out the minimum probability"):
        auditing.patterns(model, "0.1", choose="sample", min_probability="0.1")


def test_a_sample_needs_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "sample_patterns", lambda *_, **__: None)
    with pytest.raises(InputError, match="too many to be counted"):
        auditing.patterns(load_model(FIGURE1), "0.1", choose="sample")
