"""The engine's answers beside the brute force's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, isclose

from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.tables import Rationals, tables_of
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.pattern import Pattern
from tests.oracle import Key, Pair, Patterns, PlainAttribute, PlainModel, RankBy
from tests.strategies import Case


def model_of(tables: LogOdds) -> NaiveBayes:
    """The naive Bayes model behind tables."""
    assert isinstance(tables.exact, Rationals)
    return tables.exact.model


def naive_bayes(model: PlainModel) -> NaiveBayes:
    """The same model as the engine takes it."""
    return NaiveBayes(
        name="random",
        decision="decision",
        favourable="yes",
        unfavourable="no",
        prior=model.prior,
        attributes=tuple(
            Attribute(
                name=f"a{i}",
                values=tuple(f"v{v}" for v in range(len(attribute.rows))),
                sensitive=attribute.sensitive,
                likelihood=attribute.rows,
            )
            for i, attribute in enumerate(model.attributes)
        ),
    )


def plain(model: NaiveBayes) -> PlainModel:
    """The same model as the brute force takes it."""
    return PlainModel(
        model.prior,
        tuple(PlainAttribute(attribute.likelihood, attribute.sensitive) for attribute in model.attributes),
    )


def question(case: Case) -> tuple[LogOdds, Criterion]:
    """What the engine's functions take first."""
    criterion = Difference if case.criterion == "difference" else Ratio
    return tables_of(naive_bayes(case.model)), criterion(case.threshold)


def key(pattern: Pattern) -> Key:
    """A pattern as its values."""
    return pattern.sensitive_values, pattern.context_values


def keys(patterns: Iterable[Pattern]) -> list[Key]:
    """Patterns as their values."""
    return [key(pattern) for pattern in patterns]


def assert_measured(case: Case, patterns: Sequence[Pattern]) -> list[Pair]:
    """All are defined pairs, no two the same, with every figure right; as the oracle has them."""
    assert len(set(keys(patterns))) == len(patterns)
    pairs = [case.brute.by_key[key(pattern)] for pattern in patterns]
    for pattern, pair in zip(patterns, pairs, strict=True):
        assert pattern.degree == pair.degree
        assert pattern.probability == pair.probability
        assert pattern.favourable_given_pattern == pair.favourable_given_pattern
        assert pattern.favourable_given_context == pair.favourable_given_context
        exact = case.patterns.divergence(pair)
        assert isinstance(pattern.divergence_nats, float)
        assert isclose(pattern.divergence_nats, float(exact), rel_tol=1e-12)
        assert (pattern.divergence_nats == inf) == exact.is_infinite()
    return pairs


def assert_patterns(case: Case, patterns: Sequence[Pattern], among: Patterns) -> list[Pair]:
    """All are right, and discrimination patterns among those asked for."""
    pairs = assert_measured(case, patterns)
    assert among.keys.issuperset(pair.key for pair in pairs)
    return pairs


def assert_top(case: Case, patterns: Sequence[Pattern], among: Patterns, k: int, rank_by: RankBy) -> None:
    """The list is the brute force's, exact ties included."""
    pairs = assert_patterns(case, patterns, among)
    expected = among.top(k, rank_by)
    assert [among.score(rank_by, pair) for pair in pairs] == [among.score(rank_by, pair) for pair in expected]
    assert [pair.key for pair in pairs] == [pair.key for pair in expected]


def largest(pairs: Iterable[Pair]) -> Fraction:
    """max |degree|, 0 of none."""
    return max((pair.size for pair in pairs), default=Fraction(0))
