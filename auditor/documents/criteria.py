"""The words of each criterion, a row each, wherever people read of one.

In braces stand ``d``, the favourable decision; ``delta`` and ``kept``, the threshold and 1 minus it;
``points``, the threshold times 100; ``before`` and ``after``, the probability before and after disclosing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from auditor.choices import CriterionName
from auditor.documents.rounding import ALL_DIGITS, decimal_text


@dataclass(frozen=True)
class CriterionWords:
    """What is said of a criterion."""

    measured: str
    """How a degree is measured."""
    limit: str
    """What the criterion demands, after "disclosing sensitive values"."""
    excess: str
    """What a discrimination pattern does, after the same words."""
    threshold: str
    """What the threshold means."""
    degree: str
    """The degree in plain words."""
    formula: tuple[str, ...]
    """The degree, and when there is a pattern."""
    moved: str
    """Between what disclosing did and "a degree of …"."""
    beyond: str
    """After "by more than δ" in the sentence of a certificate."""
    divisor: str
    """After the difference in its formula."""
    is_ratio: bool
    """Whether 1 minus the threshold is the least ratio allowed."""


WORDS: Mapping[CriterionName, CriterionWords] = {
    "difference": CriterionWords(
        measured="difference: P(favourable) after disclosing minus before",
        limit="changes P({d}) by at most {delta}",
        excess="changes P({d}) by more than {delta}",
        threshold="a difference of {points} percentage points",
        degree="The degree of discrimination is the chance after the disclosure less the chance before it.",
        formula=("Δ(x, y) = P({d} | x, y) − P({d} | y)", "pattern if |Δ| > {delta}"),
        moved="{after} − {before} is",
        beyond="",
        divisor="",
        is_ratio=False,
    ),
    "ratio": CriterionWords(
        measured="ratio: 1 minus the smaller of P(favourable) before and after, divided by the larger",
        limit="changes P({d}) so little that the smaller of before and after is at least {kept} times the "
        "larger",
        excess="changes P({d}) so much that the smaller of before and after is less than {kept} times the "
        "larger",
        threshold="a ratio of {kept}",
        degree="The two chances are compared by their quotient q, after over before. The degree of "
        "discrimination is 1 − 1/q where the chance rises and q − 1 where it falls: a degree of size 0.2 "
        "means that the smaller chance is 0.8 times the larger.",
        formula=(
            "q = P({d} | x, y) / P({d} | y)",
            "degree = 1 − 1/q if q ≥ 1, q − 1 if q < 1",
            "pattern if |degree| > {delta}",
        ),
        moved="From {before} to {after} is",
        beyond=" of the larger of the probabilities before and after",
        divisor=" / max(P(d | xy), P(d | y))",
        is_ratio=True,
    ),
}


def filled(template: str, delta: str, **others: str) -> str:
    """Put a threshold, and whatever else it names, into the words of a criterion."""
    exact = Decimal(delta)
    kept, points = ALL_DIGITS.subtract(Decimal(1), exact), ALL_DIGITS.multiply(exact, Decimal(100))
    return template.format(delta=delta, kept=decimal_text(kept), points=decimal_text(points), **others)
