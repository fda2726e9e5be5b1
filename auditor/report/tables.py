"""The rows of a report's tables, every number as people read it, from documents and from the exact model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain

from markupsafe import Markup, escape

from auditor.documents.audit import Audit, CoverageRecord, PatternRecord, round_beside
from auditor.documents.comparison import PatternChange
from auditor.documents.data import DataEvidence
from auditor.documents.repair import PredictionShift
from auditor.model.naive_bayes import Assignment, NaiveBayes
from auditor.report import evidence
from auditor.report.wording import (
    Words,
    data_cells,
    data_pattern_cells,
    percent,
    rounded,
    share,
    shown,
    signed,
    size,
    whole,
)

WORDS = Words(name=lambda name: str(escape(shown(name))), strong=lambda text: f"<strong>{text}</strong>")

#: The rule of thumb of US federal agencies: a group selected at less than four fifths of the best rate.
FOUR_FIFTHS = Fraction(4, 5)
#: Groups in a table, the least favoured first; more are counted only.
_GROUPS_SHOWN = 24
#: Steps of the worked example; a longer one is not worked.
_STEPS_SHOWN = 14
#: Share of its place that a bar has at least, so that it is seen.
_THINNEST_BAR = 0.02

#: Attributes with their values, in the order of the document.
Values = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """One pattern.

    The bar between ``before`` and ``after`` lies from ``bar_from`` to ``bar_to`` percent; ``sort`` has the
    plain numbers by which a browser sorts.
    """

    number: int
    sentence: Markup
    disclosed: Values
    context: Values
    raises: bool
    before: str
    after: str
    bar_from: float
    bar_to: float
    degree: str
    probability: str
    people: str
    divergence: str
    sort: Mapping[str, str]


@dataclass(frozen=True)
class GroupRow:
    """One group of people; ``first`` of those that are compared with each other."""

    name: str
    probability: str
    favourable: str
    favourable_at: float
    impact_ratio: str
    below_four_fifths: bool
    first: bool


@dataclass(frozen=True)
class GroupTable:
    """Groups that are compared with each other; the ones left out are better off than those shown."""

    title: str
    rows: tuple[GroupRow, ...]
    left_out: int


@dataclass(frozen=True)
class Step:
    """One step of the worked example: a value, what it multiplies the odds by, and the odds after it."""

    attribute: str
    value: str
    disclosed: bool
    favourable: str
    unfavourable: str
    ratio: str
    odds: str


@dataclass(frozen=True)
class Cell:
    """A cell of the heat map; ``heat`` is 0 up to the threshold, then 1 to 4 up to the largest degree."""

    degree: str
    heat: int
    above: bool


@dataclass(frozen=True)
class Combination:
    """The pairs that disclose exactly some of the sensitive attributes."""

    disclosed: tuple[str, ...]
    method: str
    pairs: str
    patterns: str
    share: str
    share_at: float


@dataclass(frozen=True)
class Parameter:
    """The two probabilities of one value, rounded and exact."""

    attribute: str
    sensitive: bool
    first: bool
    value: str
    favourable: str
    favourable_exactly: str
    unfavourable: str
    unfavourable_exactly: str


@dataclass(frozen=True)
class Move:
    """A probability before and after a change of the model."""

    name: str
    before: str
    after: str
    bar_from: float
    bar_to: float
    raises: bool


@dataclass(frozen=True)
class ChangedPattern:
    """A pattern before and after a change of the model."""

    disclosed: Values
    context: Values
    before: str
    after: str
    probability: str


@dataclass(frozen=True)
class Shift:
    """What a pattern was and is: P(favourable) in its context, with its sensitive values, and its degree."""

    disclosed: Values
    context: Values
    context_before: str
    context_after: str
    pattern_before: str
    pattern_after: str
    before: str
    after: str


@dataclass(frozen=True)
class DataRow:
    """A group of people in the data; the cells are those of `data_cells`."""

    values: Values
    cells: tuple[str, ...]
    below_four_fifths: bool


@dataclass(frozen=True)
class DataPatternRow:
    """How a pattern occurs in the data; the cells are those of `data_pattern_cells`."""

    disclosed: Values
    context: Values
    cells: tuple[str, ...]


def row(audit: Audit, pattern: PatternRecord, number: int = 1) -> Row:
    """The row of a pattern."""
    before, after = pattern.favourable_given_context, pattern.favourable_given_pattern
    nats = pattern.divergence_nats
    bar_from, bar_to = _bar(before, after)
    return Row(
        number=number,
        sentence=Markup(WORDS.sentence(pattern, audit.model)),
        disclosed=tuple(pattern.sensitive_values.items()),
        context=tuple(pattern.context_values.items()),
        raises=pattern.degree > 0,
        before=percent(before),
        after=percent(after),
        bar_from=bar_from,
        bar_to=bar_to,
        degree=_minus(signed(pattern.degree, audit.delta)),
        probability=percent(pattern.probability),
        people=rounded(pattern.probability * 10_000),
        divergence="infinite" if nats is None else rounded(nats),
        sort={
            "after": repr(after),
            "degree": repr(abs(pattern.degree)),
            "probability": repr(pattern.probability),
            "divergence": "Infinity" if nats is None else repr(nats),
        },
    )


def rows(audit: Audit, patterns: Iterable[PatternRecord]) -> tuple[Row, ...]:
    """The rows of patterns, numbered."""
    return tuple(row(audit, pattern, i) for i, pattern in enumerate(patterns, start=1))


def combinations(coverage: Iterable[CoverageRecord]) -> tuple[Combination, ...]:
    """How each set of disclosed attributes was decided, most patterns first."""
    return tuple(
        Combination(
            disclosed=entry.disclosed,
            method=entry.method,
            pairs=whole(entry.pairs),
            patterns=whole(entry.patterns),
            share=share(entry.patterns, entry.pairs) if entry.patterns else "0%",
            share_at=round(100 * entry.patterns / entry.pairs, 2) if entry.patterns else 0,
        )
        for entry in sorted(coverage, key=lambda entry: (-entry.patterns, len(entry.disclosed)))
    )


def heat(audit: Audit, pairs: Sequence[evidence.Pair]) -> tuple[tuple[Cell | None, ...], ...]:
    """The worst degree of each pair of sensitive attributes, as the lower half of a square."""
    delta, most = Fraction(audit.delta), Fraction(audit.max_degree)
    place = {i: n for n, i in enumerate(sorted({i for pair in pairs for i in pair.attributes}))}
    cells: list[list[Cell | None]] = [[None] * len(place) for _ in place]
    for pair in pairs:
        degree = abs(pair.worst.degree)
        level = 0
        if degree > delta:
            level = 1 + min(3, int(4 * (degree - delta) / (most - delta))) if most > delta else 4
        text = size(round_beside(degree, delta), audit.delta)
        first, second = pair.attributes
        cells[place[second]][place[first]] = Cell(
            text if pair.complete else f"at least {text}", level, degree > delta
        )
    return tuple(map(tuple, cells))


def group_tables(model: NaiveBayes) -> tuple[GroupTable, ...]:
    """P(favourable | group) for the values of each sensitive attribute, and of all of them together."""
    alone = [_group_rows(model, (i,)) for i in model.sensitive]
    tables = [
        GroupTable(
            "Each sensitive attribute by itself, least favoured first",
            tuple(chain.from_iterable(found[:_GROUPS_SHOWN] for found in alone)),
            sum(len(found[_GROUPS_SHOWN:]) for found in alone),
        )
    ]
    together = _group_rows(model, model.sensitive) if len(model.sensitive) > 1 else ()
    if together:
        names = " · ".join(model.attributes[i].name for i in model.sensitive)
        tables.append(
            GroupTable(
                f"{names}, least favoured first", together[:_GROUPS_SHOWN], len(together[_GROUPS_SHOWN:])
            )
        )
    return tuple(tables)


def _group_rows(model: NaiveBayes, attributes: tuple[int, ...]) -> tuple[GroupRow, ...]:
    found = sorted(evidence.groups(model, attributes), key=lambda group: group.favourable)
    return tuple(
        GroupRow(
            name=_group_name(model, group.values),
            probability=percent(float(group.probability)),
            favourable=percent(float(group.favourable)),
            favourable_at=round(float(group.favourable) * 100, 2),
            impact_ratio="none" if group.impact_ratio is None else _impact_ratio(group.impact_ratio),
            below_four_fifths=group.impact_ratio is not None and group.impact_ratio < FOUR_FIFTHS,
            first=not i,
        )
        for i, group in enumerate(found)
    )


def _group_name(model: NaiveBayes, values: Assignment) -> str:
    labels = [model.attributes[i].values[v] for i, v in values]
    if len(values) == 1:
        return f"{model.attributes[values[0][0]].name}: {labels[0]}"
    return " · ".join(labels)


def _impact_ratio(ratio: Fraction) -> str:
    # `size` keeps a number above a limit above it; here it is the one below that may not be rounded up.
    text = size(float(ratio), str(float(FOUR_FIFTHS)))
    return text if (Fraction(text) < FOUR_FIFTHS) == (ratio < FOUR_FIFTHS) else repr(float(ratio))


def steps(model: NaiveBayes, pattern: PatternRecord) -> tuple[Step, ...]:
    """The odds of a pattern, value by value; none if it is too long, or odds become infinite."""
    places = {attribute.name: i for i, attribute in enumerate(model.attributes)}
    values = [(*pair, False) for pair in pattern.context_values.items()]
    values += [(*pair, True) for pair in pattern.sensitive_values.items()]
    if len(values) > _STEPS_SHOWN:
        return ()
    odds = model.prior / (1 - model.prior)
    found = []
    for name, label, disclosed in values:
        attribute = model.attributes[places[name]]
        a, b = attribute.likelihood[attribute.values.index(label)]
        if b == 0:
            return ()
        odds *= a / b
        found.append(
            Step(name, label, disclosed, percent(float(a)), percent(float(b)), number(a / b), number(odds))
        )
    return tuple(found)


def parameters(model: NaiveBayes) -> tuple[Parameter, ...]:
    """The probabilities of all values."""
    return tuple(
        Parameter(
            attribute=attribute.name,
            sensitive=attribute.sensitive,
            first=not i,
            value=value,
            favourable=percent(float(a)),
            favourable_exactly=exactly(a),
            unfavourable=percent(float(b)),
            unfavourable_exactly=exactly(b),
        )
        for attribute in model.attributes
        for i, (value, (a, b)) in enumerate(zip(attribute.values, attribute.likelihood, strict=True))
    )


def moves(before: NaiveBayes, after: NaiveBayes, most: int) -> tuple[Move, ...]:
    """The parameters that differ most between two models of the same attributes and values."""
    decisions = (after.favourable, after.unfavourable)
    changes = [(f"P({after.favourable})", before.prior, after.prior)]
    for old, new in zip(before.attributes, after.attributes, strict=True):
        for value, was, becomes in zip(new.values, old.likelihood, new.likelihood, strict=True):
            changes += [
                (f"P({new.name}: {value} | {given})", a, b)
                for given, a, b in zip(decisions, was, becomes, strict=True)
            ]
    changes.sort(key=lambda change: -abs(change[2] - change[1]))
    return tuple(move(name, float(a), float(b)) for name, a, b in changes[:most] if a != b)


def move(name: str, before: float, after: float) -> Move:
    """A probability before and after."""
    bar_from, bar_to = _bar(before, after)
    return Move(name, percent(before), percent(after), bar_from, bar_to, after > before)


def changed_patterns(patterns: Iterable[PatternChange], delta: str) -> tuple[ChangedPattern, ...]:
    """Patterns before and after, as a comparison of certificates has them."""
    return tuple(
        ChangedPattern(
            disclosed=tuple(pattern.sensitive_values.items()),
            context=tuple(pattern.context_values.items()),
            before="none" if pattern.degree_before is None else _minus(signed(pattern.degree_before, delta)),
            after="none" if pattern.degree_after is None else _minus(signed(pattern.degree_after, delta)),
            probability="" if pattern.probability_after is None else percent(pattern.probability_after),
        )
        for pattern in patterns
    )


def shifts(predictions: Iterable[PredictionShift], delta: str) -> tuple[Shift, ...]:
    """What two models predict for the same patterns."""
    return tuple(
        Shift(
            disclosed=tuple(shift.sensitive_values.items()),
            context=tuple(shift.context_values.items()),
            context_before=percent(shift.favourable_given_context[0]),
            context_after=percent(shift.favourable_given_context[1]),
            pattern_before=percent(shift.favourable_given_pattern[0]),
            pattern_after=percent(shift.favourable_given_pattern[1]),
            before=_minus(signed(shift.degree[0], delta)),
            after=_minus(signed(shift.degree[1], delta)),
        )
        for shift in predictions
    )


def data_groups(data: DataEvidence) -> tuple[DataRow, ...]:
    """Groups of people in the data, in the order of the document."""
    return tuple(
        DataRow(
            tuple(group.values.items()),
            data_cells(group),
            group.impact_ratio is not None and Fraction(group.impact_ratio) < FOUR_FIFTHS,
        )
        for group in data.groups
    )


def data_patterns(data: DataEvidence) -> tuple[DataPatternRow, ...]:
    """How often the listed patterns occur in the data."""
    return tuple(
        DataPatternRow(
            tuple(pattern.sensitive_values.items()),
            tuple(pattern.context_values.items()),
            data_pattern_cells(pattern),
        )
        for pattern in data.patterns
    )


def number(value: Fraction) -> str:
    """A rational as people read it."""
    return rounded(float(value))


def exactly(value: Fraction) -> str:
    """A rational without rounding: as a decimal where that ends, else as a fraction.

    >>> exactly(Fraction(1, 8)), exactly(Fraction(1, 3))
    ('0.125', '1/3')
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    digits = value.denominator.bit_length() + len(str(value.numerator))
    return plain(Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator)))


def plain(value: Decimal) -> str:
    """A decimal without exponent or trailing zeros.

    >>> plain(Decimal("1E+1")), plain(Decimal("2.50"))
    ('10', '2.5')
    """
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _bar(before: float, after: float) -> tuple[float, float]:
    half = max(abs(after - before), _THINNEST_BAR) / 2
    middle = min(max((before + after) / 2, half), 1 - half)
    return round(100 * (middle - half), 2), round(100 * (middle + half), 2)


def _minus(text: str) -> str:
    # A screen reader says a minus sign and passes over a hyphen.
    return text.replace("-", "−")
