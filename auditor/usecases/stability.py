"""The use case of stability: how the largest degree varies with the data that a model is learned from."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from auditor.choices import CriterionName
from auditor.documents.audit import DegreeRecord, ModelRecord
from auditor.documents.labels import labelled
from auditor.documents.record import labels
from auditor.documents.rounding import decimal_text
from auditor.documents.stability import (
    CarriedRecord,
    PatternShareRecord,
    RowsRecord,
    SampleRecord,
    Stability,
    TriedRecord,
)
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.spec import ModelSpec
from auditor.search.answer import Progress, Wanted, answer
from auditor.search.criteria import Criterion
from auditor.search.question import Question, Share
from auditor.search.stability import (
    LEVEL,
    PRIOR,
    Distribution,
    Draw,
    Learned,
    Sample,
    Values,
    blocks,
    discriminating,
    drawn,
)
from auditor.usecases.processes import in_processes

#: Draws from each distribution that are made where nothing is said.
DRAWS = 1_000
#: Most draws, and most rows behind a model: beyond, sums of draws and counts leave what numbers hold.
MOST_DRAWS, _MOST_ROWS = 1_000_000, 10**15
#: Sensitive values, and patterns, that a document lists.
_LISTED = 10
#: Other numbers of rows that are tried for a width; each aims a little beyond what the last one suggests.
_TRIES, _BEYOND = 6, Fraction(103, 100)

_WORDS: dict[Distribution, str] = {
    "posterior": "drawing from the posterior",
    "next-model": "drawing the next model",
}


def stability(
    spec: ModelSpec,
    delta: str | float,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    criterion: CriterionName = "difference",
    sensitive: tuple[str, ...] | None = None,
    width: str | float | None = None,
    jobs: int | None = None,
    progress: Progress = lambda stage: None,
) -> Stability:
    """Draw other models that the data could have given, and find the largest degree of each, exactly.

    Parameters
    ----------
    spec : ModelSpec
        With counts. Of a repaired model the rows are those that its own probabilities give.
    delta : str or float
        As in `audit`, like criterion and sensitive.
    draws : int
        From each of the two distributions.
    seed : int
        The same seed and number of draws give the same document, whatever the number of jobs.
    criterion : {"difference", "ratio"}
    sensitive : tuple of str, optional
    width : str or float, optional
        Also find with how many rows the middle 95% of the draws are no wider than this.
    jobs : int, optional
        Processes.  [one per processor]
    progress : callable, optional
        Called with a few words as the work goes on.

    Raises
    ------
    InputError
        If the model has no counts, or an option is out of range.
    """
    question = Question.of(delta, criterion, sensitive=sensitive)
    narrow = None if width is None else Share.of(width)
    problems = []
    if not 1 <= draws <= MOST_DRAWS:
        problems.append(f"draws: {draws} is not a number from 1 to {MOST_DRAWS:,}")
    if not 0 <= seed < 1 << 63:
        problems.append(f"seed: {seed} is not a number from 0 to {(1 << 63) - 1:,}")
    if narrow is not None and not narrow.value:
        problems.append("width: no number of rows makes an interval of width 0; give a larger one")
    if problems:
        raise InputError(problems)
    learned = learned_of(spec)
    learned = replace(learned, model=_asked(learned.model, question))
    model, asked = learned.model, question.criterion
    progress("searching the model itself")
    found = answer(model, question, Wanted())
    posterior = sample(learned, asked, "posterior", draws, seed, jobs, progress)
    following = sample(learned, asked, "next-model", draws, seed, jobs, progress)
    patterns = posterior.most_often_worst(_LISTED)
    document = Stability(
        model=ModelRecord.of(model),
        criterion=criterion,
        delta=question.delta.text,
        verdict=found.verdict,
        largest=DegreeRecord.of(model, found.largest, asked.threshold),
        repaired=spec.repair is not None,
        rows=float(learned.rows),
        prior_rows=str(PRIOR),
        smoothing=decimal_text(spec.smoothing),
        level=str(float(LEVEL)),
        seed=seed,
        draws=draws,
        generator=generator(),
        posterior=SampleRecord.of(posterior),
        next_model=SampleRecord.of(following),
        carried_by=tuple(
            CarriedRecord(sensitive_values=labels(model, x), worst=number)
            for x, number in posterior.most_often_disclosed(_LISTED)
        ),
        patterns=tuple(
            PatternShareRecord(
                sensitive_values=labels(model, x),
                context_values=labels(model, y),
                worst=number,
                discriminates=unfair,
            )
            for ((x, y), number), unfair in zip(
                patterns,
                _discriminating(learned, asked, [p for p, _ in patterns], draws, seed, jobs, progress),
                strict=True,
            )
        ),
        rows_needed=None
        if narrow is None
        else _rows_needed(
            learned,
            narrow,
            posterior.width(),
            lambda other: sample(other, asked, "posterior", draws, seed, jobs, progress).width(),
        ),
    )
    return labelled(document, spec.attribute_labels)


def learned_of(spec: ModelSpec) -> Learned:
    """The rows behind a model; of a repaired one those that its own probabilities give, as many as counted.

    Raises
    ------
    InputError
        If there are no counts, or too few or too many rows.
    """
    model, decision = spec.naive_bayes(), spec.decision.counts
    missing = [] if decision else ["the decision"]
    missing += [attribute.name for attribute in spec.attributes if attribute.counts is None]
    if decision is None or missing:
        named = ", ".join(map(escaped, missing[:_LISTED])) + (" and others" if missing[_LISTED:] else "")
        raise InputError(
            f"{escaped(spec.name)}: has no counts of {named}, and how far data could have given other "
            "probabilities depends on them; auditor learn counts a table of data"
        )
    rows = Fraction(decision.favourable) + Fraction(decision.unfavourable)
    if not 1 <= rows <= _MOST_ROWS:
        raise InputError(
            f"{escaped(spec.name)}: {float(rows):g} rows are behind it; from 1 to {_MOST_ROWS:,} can be drawn"
        )
    counted = []
    for attribute, stated in zip(model.attributes, spec.attributes, strict=True):
        assert stated.counts
        columns = []
        for d, column in enumerate((stated.counts.favourable, stated.counts.unfavourable)):
            known = [Fraction(n) for n in column]
            if spec.repair:
                known = [sum(known, Fraction(0)) * row[d] for row in attribute.likelihood]
            columns.append(known)
        counted.append(tuple(zip(*columns, strict=True)))
    favourable = rows * model.prior if spec.repair else Fraction(decision.favourable)
    return Learned(model, (favourable, rows - favourable), tuple(counted), Fraction(spec.smoothing))


def sample(
    learned: Learned,
    criterion: Criterion,
    distribution: Distribution,
    draws: int,
    seed: int,
    jobs: int | None,
    progress: Progress,
    *,
    most_not_fair: int | None = None,
) -> Sample:
    """Draw models and find the largest |degree| of each, in as many processes as there are jobs.

    With ``most_not_fair`` no more are drawn once more than so many aren't proved δ-fair.
    """
    made: list[Draw] = []
    words = f"{_WORDS[distribution]}, {float(learned.rows):,.0f} rows"
    asked = [(learned, criterion, distribution, seed, block) for block in blocks(draws)]
    at_once = len(asked) if most_not_fair is None else jobs or os.cpu_count() or 1
    for start in range(0, len(asked), at_once):
        for some in in_processes(drawn, asked[start : start + at_once], jobs):
            made += some
            progress(f"{words}: {len(made):,} of {draws:,}")
        if (
            most_not_fair is not None
            and len(made) - Sample(tuple(made), criterion.threshold).fair > most_not_fair
        ):
            break
    return Sample(tuple(made), criterion.threshold)


def _discriminating(
    learned: Learned,
    criterion: Criterion,
    patterns: list[Values],
    draws: int,
    seed: int,
    jobs: int | None,
    progress: Progress,
) -> list[int]:
    """In how many draws of the posterior each pattern discriminates."""
    progress("counting in which draws patterns discriminate")
    asked = [(learned, criterion, "posterior", seed, block, patterns) for block in blocks(draws)]
    return [sum(counts) for counts in zip(*in_processes(discriminating, asked, jobs), strict=True)]


def _rows_needed(
    learned: Learned, wanted: Share, width: Fraction, measured: Callable[[Learned], Fraction]
) -> RowsRecord:
    """Find a number of rows with which the interval is narrow enough.

    Its width falls about as 1/√n. So many rows are tried as that suggests, and more where they don't do.
    """
    rows = learned.rows
    tried = [TriedRecord(rows=float(rows), width=float(width))]
    while width > wanted.value and len(tried) <= _TRIES:
        more = max(rows * (width / wanted.value) ** 2 * _BEYOND, rows * Fraction(11, 10))
        rows = Fraction(Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(int(more))))
        if rows > _MOST_ROWS:
            break
        width = measured(learned.times(rows / learned.rows))
        tried.append(TriedRecord(rows=float(rows), width=float(width)))
    reached = width <= wanted.value
    return RowsRecord(width=wanted.text, rows=float(rows) if reached else None, tried=tuple(tried))


def _asked(model: NaiveBayes, question: Question) -> NaiveBayes:
    """The model with the attributes of the question marked as sensitive."""
    marked = question.put_to(model)
    assert isinstance(marked, NaiveBayes)
    return marked


def generator() -> str:
    """What random numbers are drawn by."""
    import numpy as np

    return f"PCG64 of NumPy {np.__version__}"
