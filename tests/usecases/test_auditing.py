"""The verdict is sound, and the document says what the brute force says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor import InputError, ModelSpec, audit
from auditor.documents.audit import PatternRecord
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.search.additive.engine import Engine
from auditor.usecases import auditing
from tests.fuzzing import examples
from tests.oracle import BruteForce, CriterionName, Pair, PlainModel
from tests.search.comparing import naive_bayes
from tests.strategies import FAMILIES, plain_models

FIGURE1 = Path(__file__).parents[2] / "examples" / "figure1.json"
TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)


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


@examples(30)
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
    brute, threshold = BruteForce(model, criterion), Fraction(delta)
    probable = [pair for pair in brute.pairs if pair.probability >= Fraction(least or 0)]
    if not probable:
        with pytest.raises(InputError, match="no pattern is as probable as"):
            audit(specification, delta, criterion=criterion, min_probability=least)
        return
    document = audit(specification, delta, criterion=criterion, min_probability=least)
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
    for row, i in zip(document.by_sensitive_attribute, model.sensitive, strict=True):
        disclosing = [pair for pair in patterns if i in pair.disclosed]
        assert row.pattern_count == len(disclosing)
    assert document.pattern_count == len(patterns)


def test_options_out_of_range_are_refused() -> None:
    model = load_naive_bayes(FIGURE1)
    with pytest.raises(InputError, match="top: 0 is not a positive number"):
        audit(model, "0.1", top=0)
    with pytest.raises(InputError, match="time_limit: -1 is not a number of seconds"):
        audit(model, "0.1", time_limit=-1)
    with pytest.raises(InputError, match="leave out the minimum probability"):
        auditing.patterns(model, "0.1", choose="sample", min_probability="0.1")


def test_a_sample_needs_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "sample", lambda *_: None)
    with pytest.raises(InputError, match="too many to be counted"):
        auditing.patterns(load_naive_bayes(FIGURE1), "0.1", choose="sample")
