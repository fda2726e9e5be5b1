"""Small random scorecards, many of them in points that double the odds, and the truth about them.

Powers of 2 are rationals where exponents are whole. Any other power is taken to 130 digits, and degrees to 90
places: two that agree so far are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from random import Random
from typing import Any

from auditor.model.scorecard import ScorecardSpec
from tests.oracle import BruteForce, CriterionName, Pair, PlainAttribute, PlainModel, Values

_DIGITS = Context(prec=130, Emax=10**9, Emin=-(10**9))
#: Decimal places of degrees, of the shares of a population, and of the numbers of a witness.
_PLACES, SHARE_PLACES, WITNESS_PLACES = 90, 30, 20


@lru_cache(maxsize=4096)
def power(base: str, exponent: Fraction) -> Fraction:
    """``base^exponent``, exactly where it is rational."""
    if base == "2" and exponent.denominator == 1:
        return Fraction(2) ** exponent.numerator
    nats = _DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(_DIGITS.exp(_DIGITS.multiply(nats, _DIGITS.ln(Decimal(2))) if base == "2" else nats))


def rounded(number: Fraction, places: int) -> Fraction:
    """A number to so many decimal places."""
    return Fraction(round(number * 10**places), 10**places)


@dataclass(frozen=True)
class PlainScorecard(PlainModel):
    """A scorecard as bare numbers; the rows of its attributes are ``(P(v | d̄), P(v | d̄))``."""

    base: str
    odds: Fraction
    start: Fraction
    moves: tuple[tuple[Fraction, ...], ...]

    def joint(self, values: Values) -> tuple[Fraction, Fraction]:
        """``(P(d, z), P(d̄, z))``: the odds of the scorecard, in its population."""
        unfavourable = prod((self.attributes[i].rows[v][1] for i, v in values), start=1 - self.prior)
        exponent = self.start + sum(self.moves[i][v] for i, v in values)
        return unfavourable * self.odds * power(self.base, exponent), unfavourable


class ScoredBruteForce(BruteForce):
    """All pairs of a scorecard; degrees that are equal but for the rounding of powers are equal."""

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs, with degrees to 90 places."""
        return tuple(replace(pair, degree=rounded(pair.degree, _PLACES)) for pair in super().pairs)


def enumerated(exact: dict[str, Any], criterion: CriterionName) -> ScoredBruteForce:
    """All pairs of the scorecard of a certificate; where it has no population, with any."""
    attributes = exact["attributes"]
    undisclosed = [Fraction(a["undisclosed"]) for a in attributes]
    model = PlainScorecard(
        prior=1 - Fraction(exact["unfavourable_share"] or "1/2"),
        attributes=tuple(
            PlainAttribute(
                tuple((Fraction(p), Fraction(p)) for p in a["population"] or ["1"] * len(a["weights"])),
                a["sensitive"],
            )
            for a in attributes
        ),
        base=exact["base"],
        odds=Fraction(exact["odds"]),
        start=sum(undisclosed, Fraction(exact["intercept"])),
        moves=tuple(
            tuple(Fraction(w) - u for w in a["weights"]) for a, u in zip(attributes, undisclosed, strict=True)
        ),
    )
    return ScoredBruteForce(model, criterion)


def conforms(exact: dict[str, Any]) -> bool:
    """Whether the shares of a population add up under both decisions, to within their rounding."""
    model = enumerated(exact, "difference").model
    sums = [sum(model.joint(()))]
    for i, attribute in enumerate(model.attributes):
        joints = [model.joint(((i, v),)) for v in range(len(attribute.rows))]
        sums += [sum(pair[side] for pair in joints) / model.joint(())[side] for side in (0, 1)]
    return all(abs(Fraction(total) - 1) <= Fraction(1, 10**8) for total in sums)


def conforming(base: str, moves: Sequence[Fraction], random: Random) -> list[Fraction]:
    """Some ``P(v | d̄)`` with which ``P(v | d) = P(v | d̄) base^move`` adds up to 1 as well."""
    excess = [power(base, move) - 1 for move in moves]
    parts = [Fraction(random.randint(1, 5)) for _ in moves]
    up, down = (
        sum(p * sign * e for p, e in zip(parts, excess, strict=True) if sign * e > 0) for sign in (1, -1)
    )
    scaled = [p / (up if e > 0 else down if e < 0 else 1) for p, e in zip(parts, excess, strict=True)]
    return [part / sum(scaled) for part in scaled]


def conformed(exact: dict[str, Any], random: Random) -> dict[str, Any]:
    """A scorecard with a population that conforms, where there is one."""
    attributes, start = [], Fraction(exact["intercept"])
    for attribute in exact["attributes"]:
        undisclosed = Fraction(attribute["undisclosed"])
        start += undisclosed
        shares = conforming(exact["base"], [Fraction(w) - undisclosed for w in attribute["weights"]], random)
        attributes.append(attribute | {"population": [str(rounded(p, SHARE_PLACES)) for p in shares]})
    share = 1 / (1 + Fraction(exact["odds"]) * power(exact["base"], start))
    return exact | {"attributes": attributes, "unfavourable_share": str(rounded(share, SHARE_PLACES))}


def assuming_nobody(spec: ScorecardSpec, random: Random) -> ScorecardSpec:
    """The same scorecard where what isn't disclosed is declared, or counts as missing."""
    tree = spec.model_dump()
    tree["undisclosed"] = random.choice(["declared", "missing-bin"])
    for attribute in tree["attributes"]:
        attribute["undisclosed"] = Decimal(random.randint(-2, 2))
        for value in attribute["values"]:
            value["share"] = None
        if tree["undisclosed"] == "missing-bin":
            attribute["undisclosed"] = None
            missing = random.choice(attribute["values"]) | {
                "value": "none",
                "label": "none",
                "bin": "missing",
            }
            attribute["values"] = [*attribute["values"], missing]
    return ScorecardSpec.model_validate(tree)


def card(random: Random, *, points: bool, names: Sequence[str] = ()) -> ScorecardSpec:
    """A small scorecard; in points that double the odds, where ties are common."""
    rows = []
    for _ in names or range(random.randint(2, 4)):
        counts = [random.randint(1, 5) for _ in range(random.randint(1, 4))]
        numbers = [random.randint(-3, 3) if points else Decimal(random.randint(-20, 20)) / 10 for _ in counts]
        rows.append((None, numbers, [Fraction(n, sum(counts)) for n in counts]))
    scale = {"pdo": random.choice([1, 2, 20]), "offset": 0, "odds": random.choice([1, 2, 3])}
    return _spec(random, rows, random.randint(-1, 1), scale if points else None, names)


def whole_card(random: Random, names: Sequence[str] = ()) -> ScorecardSpec:
    """A small scorecard in points whose odds are rational, whatever is disclosed."""
    moves = [
        random.choice([[0], [1, -1], [2, -2], [2, -1], [1, 0, -2], [3, -1], [1, -1, -2], [2, 1, -3]])
        for _ in names or range(random.randint(2, 4))
    ]
    undisclosed, intercept = [random.randint(-1, 1) for _ in moves], random.randint(-1, 1)
    odds, rows = random.choice([1, 2, 3]), []
    favourable = odds * Fraction(2) ** (intercept + sum(undisclosed))
    favourable /= 1 + favourable
    for u, row in zip(undisclosed, moves, strict=True):
        given = conforming("2", list(map(Fraction, row)), random)
        shares = [
            b * (favourable * Fraction(2) ** m + 1 - favourable) for b, m in zip(given, row, strict=True)
        ]
        rows.append((u, [u + m for m in row], shares))
    return _spec(random, rows, intercept, {"pdo": 1, "offset": 0, "odds": odds}, names)


def _spec(
    random: Random,
    rows: Sequence[tuple[int | None, Sequence[Decimal | int], Sequence[Fraction]]],
    intercept: int,
    scale: dict[str, int] | None,
    names: Sequence[str],
) -> ScorecardSpec:
    """A scorecard; of each attribute, what it counts undisclosed, what each value counts, and its share."""
    attributes = []
    for i, (undisclosed, numbers, shares) in enumerate(rows):
        values = [
            {"value": f"v{v}", "points" if scale else "weight": n, "share": _decimal(share)}
            for v, (n, share) in enumerate(zip(numbers, shares, strict=True))
        ]
        attribute = {"name": names[i] if names else f"a{i}", "sensitive": i == 0 or random.random() < 0.4}
        attributes.append(attribute | {"undisclosed": undisclosed, "values": values})
    return ScorecardSpec.model_validate(
        {
            "kind": "auditor/scorecard",
            "version": 1,
            "name": "card",
            "decision": {
                "name": "d",
                "favourable": {"value": "yes", "label": "yes"},
                "unfavourable": {"value": "no", "label": "no"},
            },
            "scale": scale,
            "intercept": intercept,
            "attributes": attributes,
        }
    )


def _decimal(share: Fraction) -> Decimal:
    """A share to 30 places."""
    return Decimal(round(share * 10**SHARE_PLACES)).scaleb(-SHARE_PLACES, _DIGITS)
