"""The use case of a repair with margin: so far inside δ that the next model, not repaired, likely is δ-fair.

A repaired model lies on its threshold, so that of the models that are learned from people as it describes
them about half would be above it. The smaller the threshold of the repair, the fewer are. The largest with
which they are few enough costs the least likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Protocol

from auditor.documents.repair import MarginSummary, TriedMargin
from auditor.documents.rounding import decimal_text, rounded_down, rounded_up
from auditor.errors import InputError, RepairError
from auditor.model.spec import ModelSpec, RepairMargin
from auditor.repair.repairing import Repaired
from auditor.search.answer import Progress
from auditor.search.question import Question, Share
from auditor.search.stability import LEVEL, Sample, clopper_pearson
from auditor.usecases.stability import MOST_DRAWS, generator, learned_of, sample

#: Thresholds of a repair that are told apart, in equal parts of δ.
_PARTS = 100
#: Seeds by which what a search has found is confirmed, each a part of δ further inside than the last.
_CONFIRMATIONS = 10


class Repairing(Protocol):
    """Repairs a model at a threshold."""

    def __call__(self, threshold: str, *, last: bool = False) -> Repaired:
        """Repair; the last time that of which the result is made."""


@dataclass(frozen=True)
class NextModel:
    """What is wanted of the next model."""

    probability: Share
    """With which it is to be δ-fair, at least."""
    draws: int
    seed: int

    @classmethod
    def of(cls, probability: str | float, draws: int, seed: int, question: Question) -> NextModel:
        """Read what is wanted.

        Raises
        ------
        InputError
            If a number is out of range, or so many draws can't show it.
        """
        share = Share.of(probability)
        problems = []
        if not 1 <= draws <= MOST_DRAWS:
            problems.append(f"draws: {draws} is not a number from 1 to {MOST_DRAWS:,}")
        if not 0 <= seed < 1 << 62:
            problems.append(f"seed: {seed} is not a number from 0 to {(1 << 62) - 1:,}")
        if not 0 < share.value < 1:
            problems.append(f"margin: {share.text} is not between 0 and 1")
        elif not problems and _fewest(draws, share.value) > draws:
            most, _ = clopper_pearson(draws, draws)
            problems.append(
                f"margin: {draws:,} draws show no probability above {float(most):.4g}; give more draws than "
                f"that, or less than {share.text}"
            )
        if not question.delta.value:
            problems.append("margin: at δ = 0 there is nothing inside; give a larger δ")
        if problems:
            raise InputError(problems)
        return cls(share, draws, seed)


def repair_with_margin(
    repair: Repairing,
    question: Question,
    margin: NextModel,
    progress: Progress,
) -> Repaired:
    """Repair at the largest threshold with which the next model is δ-fair with a probability.

    The next model is learned in the same way from as many people as stand behind the repaired one, drawn as
    that describes them, and isn't repaired. Thresholds are hundredths of δ. A bisection finds one, with the
    same random numbers for each; since the luckiest of several is chosen so, it is measured again with
    others, and where these don't show the probability, the next smaller one is.

    Parameters
    ----------
    repair : callable
        Repairs at a threshold, the last time without a limit of time.
    question : Question
        With δ, and limits of the bisection.
    margin : NextModel
    progress : callable

    Raises
    ------
    RepairError
        If no threshold is small enough, or none was found in time.
    """
    least = _fewest(margin.draws, margin.probability.value)
    tried: list[TriedMargin] = []

    def measured(part: int, made: Repaired, seed: int) -> Sample:
        assert isinstance(made.model, ModelSpec)
        words = f"repaired at {_inner(question, part)}; drawing the next model"
        found = sample(
            learned_of(made.model),
            question.criterion,
            "next-model",
            margin.draws,
            seed,
            None,
            lambda stage: progress(f"{words} ({stage.rpartition(': ')[2]})"),
            most_not_fair=margin.draws - least,
        )
        tried.append(
            TriedMargin(
                delta=_inner(question, part), seed=seed, draws=len(found.draws), delta_fair=found.fair
            )
        )
        return found

    good, bad = 0, _PARTS + 1
    while bad - good > 1 and not question.limits.expired():
        part = (good + bad) // 2
        progress(f"repairing at {_inner(question, part)}")
        enough = measured(part, repair(_inner(question, part)), margin.seed).fair >= least
        good, bad = (part, bad) if enough else (good, part)
    in_time = bad - good == 1
    for further in range(_CONFIRMATIONS):
        part, seed = good - further, margin.seed + 1 + further
        if part < 1:
            break
        made = repair(_inner(question, part), last=True)
        found = measured(part, made, seed)
        if found.fair >= least:
            return _recorded(made, question, margin, found, seed, tried, in_time=in_time)
    last = tried[-1] if tried else None
    raise RepairError(
        f"no model was found whose next one is δ-fair at δ = {question.delta.text} with a probability of at "
        f"least {margin.probability.text}"
        + (
            f"; of one repaired at {last.delta} {last.delta_fair:,} of {last.draws:,} drawn were"
            if last
            else ""
        )
        + ("" if in_time else "; the time limit was reached")
        + ". Give a smaller probability or a larger δ, or learn from more people"
    )


def _recorded(
    made: Repaired,
    question: Question,
    margin: NextModel,
    found: Sample,
    seed: int,
    tried: list[TriedMargin],
    *,
    in_time: bool,
) -> Repaired:
    """The repair with what its next model is like, in its summary and in the model."""
    low, high = found.probability
    assert isinstance(made.model, ModelSpec)
    assert made.model.repair
    summary = MarginSummary(
        delta=question.delta.text,
        wanted=margin.probability.text,
        level=str(float(LEVEL)),
        probability=(rounded_down(low), rounded_up(high)),
        delta_fair=found.fair,
        draws=margin.draws,
        seed=seed,
        generator=generator(),
        complete=in_time,
        tried=tuple(tried),
    )
    record = RepairMargin(
        delta=Decimal(question.delta.text),
        wanted=Decimal(margin.probability.text),
        # `clopper_pearson` rounds limits outward to few digits, so that this division is exact.
        at_least=Decimal(low.numerator) / Decimal(low.denominator),
        draws=margin.draws,
        seed=seed,
    )
    model = made.model.model_copy(update={"repair": made.model.repair.model_copy(update={"margin": record})})
    return Repaired(model, made.summary.model_copy(update={"margin": summary}))


def _inner(question: Question, part: int) -> str:
    """A threshold inside δ, as a decimal."""
    return decimal_text(Context(prec=400).multiply(Decimal(question.delta.text), Decimal(part)).scaleb(-2))


def _fewest(draws: int, probability: Fraction) -> int:
    """The fewest draws that are to be δ-fair, so that the lower limit is at least a probability."""
    low, high = 0, draws + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if clopper_pearson(middle, draws)[0] >= probability else (middle, high)
    return high
