"""What checker.py needs to check the certificate of a repaired model; keep the files in one folder.

It stands alone as that one does: Python 3.11, nothing else, and no code of the software that issued it. What
the other files define is handed to it.

The model before a repair is not in the certificate, but all that it follows from; its digest is there. For
naive Bayes these are the counts: each probability is that of a count, the smoothing added, in its row. For a
scorecard these are the numbers that it had; the population before is taken as counts, of so many people, and
each value has the same share of the people in the population after. The price is what the repair has cost of
the log-likelihood, Σ n ln p over the counts n and the probabilities p of the decision and of each value with
each decision. How much likelier any other model without patterns can be is a matter of a proof, which is
a file of its own; proof_checker.py checks it, and here it is compared with the certificate.
"""

from __future__ import annotations

import hashlib
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


def proved(c: Any, form: Any, prover: Any, data: bytes | None, late: Any = bool) -> tuple[bool | None, str]:
    """Whether the proof that a certificate names shows the bound that it says; None without that proof.

    None, too, if that takes too long: ``late`` tells whether time is up.
    """
    exact, told = c["model"]["exact"], c["model"]["repair"]
    wanted = told["proof"]["sha256"]
    if data is None or hashlib.sha256(data).hexdigest() != wanted:
        return None, f"give the proof, --proof FILE; its file has the digest {wanted}"
    if prover is None:
        return None, "put proof_checker.py beside this file"
    try:
        proof = form.read_json(data)
        bound = prover.check(proof, late)
        counts = [proof["decision"], *(a[side] for a in proof["attributes"] for side in SIDES)]
        counts = [[Fraction(n) for n in row] for row in counts]
        names = [(a["name"], list(a["values"]), a["sensitive"] is True) for a in proof["attributes"]]
        delta = Fraction(proof["delta"])
    except TimeoutError:
        return None, "the proof takes too much work"
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        return False, f"the proof doesn't hold: {error}"[:200]
    added, own = form.number(told["smoothing"]), [[form.number(told["decision"][side]) for side in SIDES]]
    own += [[form.number(n) + added for n in a[side]] for a in told["attributes"] for side in SIDES]
    same = names == [(a["name"], a["values"], a["sensitive"]) for a in exact["attributes"]]
    if not same or counts != own or delta != form.number(c["delta"]):
        return False, "the proof is about other counts, other sensitive attributes or another δ"
    said = f"no δ-fair model of the counts has a log-likelihood above {told['proof']['bound']}"
    return bound == Decimal(told["proof"]["bound"]), said


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
