"""What a repair changed and what it cost, as text or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from auditor.choices import MethodName
from auditor.documents.comparison import ParameterChange
from auditor.documents.repair import PredictionShift, Repair
from auditor.report import markdown
from auditor.report.blocks import Block, Format, Table, laid_out
from auditor.report.wording import criterion_words, percent, rounded, share, shown, signed, whole

_METHODS: Mapping[MethodName, str] = {
    "fair": "the most likely parameters that were found without any discrimination pattern",
    "independent": "the most likely parameters with sensitive attributes independent of the decision",
    "independent-mean": "sensitive attributes made independent by the mean of their two distributions",
    "unconstrained": "the most likely parameters, which nothing constrains",
}


def render(document: Repair, format: Format) -> str:
    """Show what a repair changed in a format."""
    name = shown if format == "text" else markdown.name
    return laid_out(_blocks(document, name), format)


def result_line(document: Repair, name: Callable[[str], str] = shown) -> str:
    """The result in one line."""
    if document.patterns_after == 0:
        verdict = f"δ-fair at δ = {document.delta}, proved by the exact search"
    else:
        left = _number(document.patterns_after, "discrimination pattern")
        verdict = f"not repaired; {left} at δ = {document.delta}"
    return f"{name(document.after.name)}: {verdict}"


def round_line(number: int, constraints: int, log_likelihood: float, patterns: int | None) -> str:
    """Where a repair stands after a round."""
    return (
        f"round {number}: {_number(constraints, 'constraint')}, log-likelihood {log_likelihood:,.4f}, "
        f"{_number(patterns, 'pattern')} left"
    )


def _blocks(document: Repair, name: Callable[[str], str]) -> list[Block]:
    likelihoods = document.log_likelihoods
    price = "none can be told" if document.price is None else f"{percent(document.price)} of the way"
    blocks: list[Block] = [
        (1, result_line(document, name)),
        Table(
            ("", ""),
            [
                ("Parameters", _METHODS[document.method]),
                ("Criterion", criterion_words(document.criterion)),
                ("Patterns before", _share(document.patterns_before, document)),
                ("Patterns after", _share(document.patterns_after, document)),
                ("Work", _work(document)),
                ("Digest before", f"sha256:{document.before.sha256[:16]}…"),
                ("Digest after", f"sha256:{document.after.sha256[:16]}…"),
            ],
        ),
    ]
    if document.shortfall:
        blocks.append(
            f"The search for a more likely fair model ended early: {name(document.shortfall)}. This model is "
            "the most likely one that was proved fair."
        )
    blocks += [
        (2, f"Price in log-likelihood: {price} to the independent model"),
        Table(
            ("Model", "Log-likelihood", "Lost"),
            [
                (label, _likelihood(value), _lost(likelihoods.unconstrained, value))
                for label, value in (
                    ("Unconstrained", likelihoods.unconstrained),
                    ("Repaired", likelihoods.repaired),
                    ("Independent", likelihoods.independent),
                    ("Independent, by the mean", likelihoods.independent_mean),
                )
            ],
            right=2,
        ),
    ]
    if document.parameters_moved:
        blocks += [
            (2, "The parameters that moved most"),
            Table(
                ("Probability", "Before", "After"),
                [
                    (_parameter(move, document, name), percent(move.before), percent(move.after))
                    for move in document.parameters_moved
                ],
                right=2,
            ),
        ]
    if document.predictions:
        blocks.append((2, "Predictions where the unconstrained model discriminates most"))
        blocks += [_shift(shift, document, name) for shift in document.predictions]
    if document.performance:
        found = document.performance
        blocks += [
            (2, f"Predictions for {found.rows:,} rows of {name(found.data)}"),
            Table(
                ("", "Before", "After"),
                [
                    ("Accuracy", *_measures(found.accuracy, percent)),
                    ("AUC", *_measures(found.auc, rounded)),
                ],
                right=2,
            ),
        ]
    return blocks


def _number(number: int | None, thing: str) -> str:
    if number is None:
        return f"uncounted {thing}s"
    return f"{whole(number)} {thing}{'' if number == 1 else 's'}"


def _share(number: int | None, document: Repair) -> str:
    if number is None:
        return f"not counted, among {whole(document.total_patterns)}"
    part = share(number, document.total_patterns)
    return f"{whole(number)} of {whole(document.total_patterns)} ({part}), counted exactly"


def _work(document: Repair) -> str:
    if document.solver is None:
        return "closed form"
    rounds, constraints = _number(document.rounds, "round"), _number(document.constraints, "constraint")
    return f"{rounds}, {constraints}, solver {document.solver}"


def _likelihood(value: float | None) -> str:
    return "minus infinity" if value is None else f"{value:,.4f}"


def _lost(unconstrained: float | None, value: float | None) -> str:
    return "" if unconstrained is None or value is None else f"{unconstrained - value:,.4f}"


def _parameter(move: ParameterChange, document: Repair, name: Callable[[str], str]) -> str:
    if move.attribute is None:
        return f"P({name(document.after.favourable)})"
    decision = document.after.favourable if move.given == "favourable" else document.after.unfavourable
    return f"P({name(move.attribute)}: {name(move.value or '')} given {name(decision)})"


def _values(values: Mapping[str, str], name: Callable[[str], str]) -> str:
    return ", ".join(f"{name(attribute)}: {name(value)}" for attribute, value in values.items())


def _shift(shift: PredictionShift, document: Repair, name: Callable[[str], str]) -> str:
    """Both models' answers to one disclosure."""
    (context, now_context), (pattern, now_pattern) = (
        map(percent, shift.favourable_given_context),
        map(percent, shift.favourable_given_pattern),
    )
    degree, now_degree = (signed(degree, document.delta) for degree in shift.degree)
    people = _values(shift.context_values, name)
    return (
        f"Disclosing {_values(shift.sensitive_values, name)} moved P({name(document.after.favourable)}) from "
        f"{context} to {pattern} (degree {degree}) and now moves it from {now_context} to {now_pattern} "
        f"({now_degree}) for people {f'with {people}' if people else 'of whom nothing else is known'}."
    )


def _measures(values: tuple[float, float] | None, shown_as: Callable[[float], str]) -> tuple[str, str]:
    return ("not defined", "not defined") if values is None else (shown_as(values[0]), shown_as(values[1]))
