"""What checker.py needs to check the certificate of a repaired model; keep the files in one folder.

It stands alone as that one does: Python 3.11, nothing else, and no code of the software that issued it. What
the other files define is handed to it.

The model before a repair is not in the certificate, but all that it follows from; its digest is there. For
naive Bayes these are the counts: each probability is that of a count, the smoothing added, in its row. For a
scorecard these are the numbers that it had; the population before is taken as counts, of so many people, and
each value has the same share of the people in the population after. The price is what the repair has cost of
the log-likelihood, Σ n ln p over the counts n and the probabilities p of the decision and of each value with
each decision.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

SIDES = ("favourable", "unfavourable")
DIGITS, NEAR = 150, Decimal("1e-8")  # of logarithms; the rounding of a population
Cells = list[Decimal]


def holds(c: Any, form: Any, scorecards: Any) -> bool:
    """Whether the digest of the model before a repair, and both log-likelihoods, follow from the facts."""
    exact, told = c["model"]["exact"], c["model"]["repair"]
    with localcontext(prec=DIGITS, Emax=10**9, Emin=-(10**9)):
        if scorecards:
            source = form.source(c)
            cards = [scorecards.Scorecard(kind, "difference") for kind in (source, exact)]
            if not all(card.sound for card in cards):
                return False
            (before, joint, shares), (after, _, others) = map(population, cards)
            weights = [Decimal(told["people"]) * p for p in joint]
            same = all(abs(p - q) < NEAR for p, q in zip(shares, others, strict=True))
        else:
            same, (source, weights, before, after) = True, counted(exact, told, form.number)
        sums = [likelihood(weights, model) for model in (before, after)]
    same = same and sums == [told["log_likelihood_before"], told["log_likelihood_after"]]
    return same and form.digest(source) == told["source_sha256"]


def likelihood(weights: Cells, model: Cells) -> str | None:
    """Σ n ln p to six places; None for minus infinity."""
    terms = [(n, p) for n, p in zip(weights, model, strict=True) if n]
    return f"{sum(n * p.ln() for n, p in terms):.6f}" if all(p for _, p in terms) else None


def counted(exact: Any, told: Any, number: Any) -> tuple[Any, Cells, Cells, Cells]:
    """The most likely model of the counts; then these, its probabilities and those of the certified model."""
    pairs, prior = list(zip(exact["attributes"], told["attributes"], strict=True)), number(exact["prior"])
    weights, after = [[number(told["decision"][side]) for side in SIDES]], [[prior, 1 - prior]]
    weights += [[number(n) + number(told["smoothing"]) for n in t[side]] for _, t in pairs for side in SIDES]
    after += [[number(p) for p in a[side]] for a, _ in pairs for side in SIDES]
    before = [[n / sum(row) for n in row] for row in weights]
    texts = iter([list(map(str, row)) for row in before])
    source = exact | {"prior": next(texts)[0]}
    source["attributes"] = [a | {side: next(texts) for side in SIDES} for a, _ in pairs]
    if [*map(len, weights)] != [*map(len, after)]:
        raise ValueError("as many counts as values")
    first, second, third = ([decimal(n) for row in rows for n in row] for rows in (weights, before, after))
    return source, first, second, third


def population(odds: Any) -> tuple[Cells, Cells, Cells]:
    """What the population of a scorecard says of decisions and values; and what share has each value.

    First P(d), P(d̄), and P(v | d) and P(v | d̄) of each value; then P(d), P(d̄), P(d, v) and P(d̄, v). P(d̄) and
    P(v | d̄) are given, and P(v | d) = P(v | d̄) B^(weight-undisclosed).
    """
    against, unit = decimal(odds.share), Decimal(2).ln() if odds.base == "2" else Decimal(1)
    cells, shares = [1 - against, against], []
    joint = list(cells)
    for moves, row in zip(odds.factors, odds.population, strict=True):
        for move, share in zip(moves, row, strict=True):
            other = decimal(share)
            own = other * (Decimal(move) / odds.unit * unit).exp()
            cells += [own, other]
            joint += [(1 - against) * own, against * other]
            shares.append(joint[-2] + joint[-1])
    return cells, joint, shares


def decimal(value: Fraction) -> Decimal:
    """A fraction as a decimal of so many digits as are worked with."""
    return Decimal(value.numerator) / value.denominator
