"""The words of a certificate. What a version says in them never changes, so that it can be checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from auditor.choices import CriterionName, Undisclosed, Verdict
from auditor.documents.certificate import Claim, Family, Method
from auditor.documents.criteria import WORDS as CRITERIA


class Wording(NamedTuple):
    """How a verdict is put: the verb of the sentence, and the relation in the formula."""

    verb: str
    relation: str


WORDINGS: dict[Verdict, Wording] = {
    "delta-fair": Wording("never changes", "<="),
    "not-delta-fair": Wording("in some context changes", ">"),
    "inconclusive": Wording("may or may not change (this is not decided)", "<= or >"),
}

#: Why something isn't decided, or not counted; there are no other reasons.
UNDECIDED = "the search reached a limit of time or memory before it was decided"
NOT_COUNTED = "not all patterns were counted within the limits of time and memory"

_GIVEN = (
    "Each attribute has the values listed here and no others, and any of them may be disclosed together.",
    "Which attributes are sensitive was given to the issuing program, and so were the reasons.",
)

_LIKELY = (
    "Decisions are made with exactly the parameters in this certificate: P(favourable | disclosed "
    "values) follows by Bayes' rule from P(favourable) and P(value | decision); attributes that are not "
    "disclosed are left out."
)
_SCORED = (
    "Decisions are made with exactly the scorecard in this certificate: the odds of the favourable "
    "decision are odds * base^(intercept + sum), where the sum has the weight of each disclosed value "
    "and the number written for each attribute that is not disclosed."
)
#: What "not disclosed" means to a scorecard, and what follows for probabilities of patterns.
_MEANINGS: dict[Undisclosed, str] = {
    "conforming": "What an attribute counts that is not disclosed is that of the likeliest population that "
    "conforms with the scorecard, rounded to the decimals in this certificate; probabilities of patterns are "
    "those of that population.",
    "missing-bin": "An attribute that is not disclosed counts what the scorecard gives to missing values. No "
    "population is assumed, so that patterns have no probabilities.",
    "declared": "An attribute that is not disclosed counts a number that was declared with the scorecard. No "
    "population is assumed, so that patterns have no probabilities.",
}
#: The same in the sentence of the claim, which says nothing of a conforming population.
_WHERE: dict[Undisclosed | None, str] = {
    "missing-bin": ", where an attribute that is not disclosed counts as missing",
    "declared": ", where an attribute that is not disclosed counts what is declared for it",
}


def assumptions(undisclosed: Undisclosed | None) -> tuple[str, ...]:
    """What is taken for granted, by what "not disclosed" means to a scorecard; None of naive Bayes."""
    return (_LIKELY, *_GIVEN) if undisclosed is None else (_SCORED, _MEANINGS[undisclosed], *_GIVEN)


def limits(box: str | None) -> tuple[str, ...]:
    """What is not claimed; with a box, models in it are covered."""
    covered = "is not covered" if box is None else "is covered only if it is in the box that the claim names"
    return (
        "The claim is about the model's own probabilities. How well they describe real people is not shown.",
        f"A model with another digest, such as the same model trained again, {covered}.",
        "Other sensitive attributes, other decisions and other notions of fairness are not covered.",
        "This is a mathematical statement about a model. It is not legal advice and does not say that any "
        "law is kept.",
    )


_SEARCH = (
    "Log-odds are additive: for each combination of sensitive values, the contexts in which it "
    "discriminates have their sum of log-odds in one interval. They are counted and searched by sorting "
    "two halves; combinations are left out only by a bound on every context."
)
METHOD: dict[Family, Method] = {
    "naive-bayes": Method(
        search=_SEARCH,
        arithmetic="Integers of fixed point, and exact fractions wherever those are too close to call. No "
        "rounded number decides a verdict, a degree or a count, so every machine gives the same.",
    ),
    "scorecard": Method(
        search=_SEARCH,
        arithmetic="Integers of fixed point and, wherever those are too close to call, the sign of a sum of "
        "powers: exactly 0 by a rule, or else bounded to as many digits as it takes. No rounded number "
        "decides a verdict, a degree or a count, so every machine gives the same.",
    ),
}


def claim(
    *,
    name: str,
    favourable: str,
    sensitive: Sequence[str],
    criterion: CriterionName,
    delta: str,
    min_probability: str | None,
    verdict: Verdict,
    undisclosed: Undisclosed | None = None,
    box: str | None = None,
    version: int = 2,
) -> Claim:
    """Put a verdict into one sentence and a formula, in which d is the favourable decision.

    Names stand in quotation marks, with those in them escaped, so that one name can't pass for two; version 1
    has none around the names of attributes.

    The degree of the ratio criterion, ``1 - 1/q`` or ``1 - q`` for the quotient q of two probabilities, is
    their difference over the larger of them.
    """
    verb, relation = WORDINGS[verdict]
    words = CRITERIA[criterion]
    named = ", ".join(sensitive if version == 1 else map(quoted, sensitive))
    sentence = (
        f"In the model {quoted(name)}, disclosing one or more of the sensitive attributes ({named}) "
        f"{verb} the probability of {quoted(favourable)} by more than {delta}{words.beyond}, "
        f"whatever else is disclosed{_WHERE.get(undisclosed, '')}"
    )
    formula = f"max |P(d | xy) - P(d | y)|{words.divisor} {relation} {delta}"
    if min_probability is not None:
        sentence += f", counting only what the share {min_probability} of people or more have in common"
        formula += f", P(xy) >= {min_probability}"
    if box is not None:
        sentence += (
            "; the same holds for every model whose probabilities are each at most "
            f"1 + {box} times larger or smaller than its own"
        )
        formula += f", for every P with P0 / (1 + {box}) <= P <= P0 (1 + {box})"
    return Claim(sentence=f"{sentence}.", formula=formula)


def quoted(name: str) -> str:
    r"""Return a name in quotation marks, those in it escaped.

    >>> print(quoted('sex" or "age'))
    "sex\" or \"age"
    """
    return json.dumps(name, ensure_ascii=False)
