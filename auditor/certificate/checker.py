#!/usr/bin/env python3
"""Check a certificate of δ-fairness without the software that issued it.

    python checker.py CERTIFICATE [--public-key KEY.pem] [--at YYYY-MM-DD] [--proof PROOF.json]

Needs Python 3.11, the files beside it, and nothing else: form_checker.py says what a certificate can say; the
others have what only certificates of scorecards, of repaired models, of boxes of models, with a proof or with
a minimum probability need.
Every number is computed again from the model in the certificate, every sentence is made again from its facts,
and the signature is checked. Exit code 0: all holds; 1: something does not; 3: no certificate, or no key; 4:
what it claims could not all be checked within the limits, or without a file that is missing.

A naive Bayes model gives P(d | z) for a favourable decision d and disclosed values z. A pattern is a pair
(x, y): x gives values to one or more sensitive attributes, y to any others, and P(xy) > 0. Its degree is

    difference:  P(d | xy) - P(d | y)
    ratio:       1 - 1/q  if q >= 1,  else q - 1,  where q = P(d | xy) / P(d | y)

It discriminates if |degree| > δ. The model is δ-fair if no pattern does. With a minimum probability only
patterns whose P(xy) is at least that are in scope; probable_checker.py counts those.

With the odds R = P(d, y) / P(d̄, y) of the context and k = P(x | d) / P(x | d̄), P(d | y) = R / (1 + R) and
P(d | xy) = Rk / (1 + Rk): for a given x the degree depends on R alone, and x discriminates where R lies in
one open interval. R is a product with one factor per attribute in y. The products over some of the attributes
are sorted; for each product over the others, bisection finds those that bring R into the interval. That
compares floating-point logarithms, whose errors stay far below CLOSE. Where two are as near as CLOSE, the
definition decides in exact fractions, so no result depends on rounding.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, combinations, product
from math import comb, gcd, inf, isqrt, log, log1p, prod, sqrt
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

# In the folder of this file; the last one in that of repairs, where the whole program is at hand.
FORM, SCORECARDS, REPAIRS = "form_checker.py", "scorecard_checker.py", "repair_checker.py"
PROOFS, BOXES, PROBABLE = "proof_checker.py", "box_checker.py", "probable_checker.py"
CLOSE, LIST_LIMIT, WORK_LIMIT = 1e-9, 400_000, 8_000_000  # products in one list; steps, of about 3 µs
UNREADABLE = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
Check = tuple[str, bool | None, str]  # its name, whether it holds or None if that was not found out, detail
OUTCOMES = {True: "passed", False: "FAILED", None: "not performed"}


def beside(name: str) -> Any:
    """What another file in the folder of this one defines; None if it isn't there."""
    paths = Path(__file__).with_name(name), Path(__file__).parents[1] / "repair" / name
    found = [path for path in paths if path.exists()]
    return SimpleNamespace(**run_path(str(found[0]))) if found else None


form = beside(FORM)
if form is None:
    print(f"NOT DECIDED: put {FORM} beside this file; it says what a certificate can say")
    sys.exit(4)
number, digest, SIDES = form.number, form.digest, form.SIDES


# Ed25519, RFC 8032: points of -x² + y² = 1 + Dx²y² modulo P as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
PREFIX = bytes.fromhex("302a300506032b6570032100")  # of a public key in DER
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int, int, int]


def add(p: Point, q: Point) -> Point:
    """The sum of two points."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n: int, p: Point) -> Point:
    """The n-fold of a point."""
    half = times(n // 2, add(p, p)) if n else (0, 1, 1, 0)
    return add(half, p) if n % 2 else half


def point(data: bytes) -> Point:
    """The point that 32 bytes encode, in the one way to do so."""
    y, sign = int.from_bytes(data, "little") % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    x = root if root * root % P == square else root * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        form.refuse("a public key that is no point of the curve")
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P


def is_signed(signed: bytes, sig: bytes, key: bytes) -> bool:
    """Whether an Ed25519 signature is by a public key."""
    s, (x, y, z, t) = int.from_bytes(sig[32:], "little"), point(key)
    hashed = int.from_bytes(hashlib.sha512(sig[:32] + key + signed).digest(), "little") % ORDER
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    x, y, z, _ = add(times(s, base), times(hashed, (P - x, y, z, P - t)))
    u, v = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return s < ORDER and (v | (u & 1) << 255).to_bytes(32, "little") == sig[:32]


def public_key(pem: bytes) -> bytes:
    """The 32 bytes of an Ed25519 public key in PEM; keys for which anyone can sign are refused."""
    lines = rb"-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/]{59}=)\s+-----END PUBLIC KEY-----\s*"
    found = re.fullmatch(lines, pem)
    der = base64.b64decode(found[1]) if found else b""
    if not found or not der.startswith(PREFIX) or base64.b64encode(der) != found[1]:
        form.refuse("not an Ed25519 public key in PEM, which is what certificates are signed with")
    if times(8, point(der[12:]))[0] == 0:
        form.refuse("a weak public key, for which anyone can sign")
    return der[12:]


def degree(criterion: str, after: Fraction, before: Fraction) -> Fraction:
    """The degree by its definition: after = P(d | xy), before = P(d | y)."""
    if criterion == "difference" or before == after:
        return after - before
    return 1 - before / after if after > before else after / before - 1


def ln(fraction: Fraction) -> float:
    """Logarithm of a positive fraction of any size."""
    return log(fraction.numerator) - log(fraction.denominator)


class NaiveBayes:
    """What odds are in a naive Bayes model: fractions (numerator, denominator) in lowest terms."""

    def __init__(self, exact: Any, criterion: str) -> None:
        # Two columns for each attribute, P(value | d) and P(value | d̄); then the same as rows.
        both = [[[number(p) for p in a[side]] for side in SIDES] for a in exact["attributes"]]
        self.prior, self.criterion = number(exact["prior"]), criterion
        self.rows = [list(zip(*columns, strict=True)) for columns in both]
        self.weight = 1 + max(len(p) // 50 for a in exact["attributes"] for s in SIDES for p in a[s]) ** 2
        self.sound = 0 < self.prior < 1 and all(p or q for rows in self.rows for p, q in rows)
        self.sound &= all(sum(column) == 1 and min(column) >= 0 for columns in both for column in columns)
        # A value that is impossible under one decision leaves P(d | y) at 0 or 1, whatever else is disclosed.
        self.factors = [[(p / q).as_integer_ratio() for p, q in rows if p and q] for rows in self.rows]
        self.start, self.one = (self.prior / (1 - self.prior or 1)).as_integer_ratio(), (1, 1)
        self.nothing, self.slack = (self.prior, 1 - self.prior), 1
        self.whole = float(self.prior), float(1 - self.prior)

    def times(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        """The product of two odds."""
        above, below = a[0] * b[0], a[1] * b[1]
        common = gcd(above, below)
        return above // common, below // common

    def ln(self, odds: tuple[int, int]) -> float:
        """Their logarithm."""
        return log(odds[0]) - log(odds[1])

    def more(self, both: Any, i: int, v: int) -> tuple[Fraction, Fraction]:
        """P(d, values) and P(d̄, values) with one more value."""
        return both[0] * self.rows[i][v][0], both[1] * self.rows[i][v][1]

    def likely(self, both: Any, least: Fraction) -> bool:
        """Whether they add up to a minimum probability."""
        return bool(sum(both) >= least)

    def rounded(self, i: int, v: int) -> tuple[float, float, float]:
        """P(v | d) and P(v | d̄) of a value; the logarithm of their ratio, or inf if one of them is 0."""
        p, q = self.rows[i][v]
        return float(p), float(q), ln(p / q) if p and q else inf

    def strength(self, both: Any) -> Fraction | None:
        """The k of the x to which they belong."""
        return both[0] * (1 - self.prior) / (both[1] * self.prior) if both[1] else None

    def differs(self, both: Any, context: Any, delta: Fraction) -> bool:
        """Whether a pattern has |degree| > δ."""
        return abs(degree(self.criterion, both[0] / sum(both), context[0] / sum(context))) > delta

    def measure(self, x: Any, y: Any, told: Any, marks: Any, least: Fraction) -> tuple[bool, Fraction, bool]:
        """Whether a pattern has the numbers told of it; then its |degree|, and whether it is in scope."""
        (a, b), (c, d) = (reduce(lambda z, v: self.more(z, *v), part, self.nothing) for part in (x + y, y))
        if not a + b:
            return False, Fraction(0), False
        after, before = a / (a + b), c / (c + d)
        size = degree(self.criterion, after, before)
        numbers = {"favourable_given_pattern": after, "favourable_given_context": before}
        numbers |= {"degree": size, "probability": a + b}
        return all(number(told[name]) == value for name, value in numbers.items()), abs(size), a + b >= least

    def strengths(self, disclosed: Any) -> Counter[Any]:
        """How many x over these attributes have each k = P(x | d) / P(x | d̄); None is infinite."""
        found = Counter[Any]()
        for x in product(*(self.rows[i] for i in disclosed)):
            p, q = prod(row[0] for row in x), prod(row[1] for row in x)
            found[p / q if q else None] += p + q > 0  # with P(x) = 0 there is no pattern
        return +found

    def ends(self, k: Fraction | None, delta: Fraction) -> tuple[float, float] | None:
        """The open interval of ln R in which |degree| > δ, or None if there is none."""
        if k == 1 or delta >= 1:
            return None
        if delta == 0 or (self.criterion == "ratio" and k == 0):
            return -inf, inf
        if k == 0:  # P(d | xy) = 0
            return ln(delta / (1 - delta)), inf
        if k is None or self.criterion == "ratio":  # |degree| falls as R grows
            top = 1 - delta if k is None else (k * (1 - delta) - 1 if k > 1 else 1 - delta - k) / k
            return (-inf, ln(top / delta)) if top > 0 else None
        # |degree| = R|k - 1| / ((1 + R)(1 + Rk)) > δ  iff  δk R² - b R + δ < 0. The roots' product is 1/k.
        b = abs(k - 1) - delta * (1 + k)
        discriminant = 1 - 4 * delta * delta * k / (b * b) if b > 0 else Fraction(0)
        end = discriminant > 0 and ln(b / (2 * delta * k)) + log1p(sqrt(discriminant))
        return (-ln(k) - end, end) if discriminant > 0 else None

    def exceeds(self, odds: tuple[int, int], k: Fraction | None, delta: Fraction) -> bool:
        """The same of a context's odds and of k."""
        r = Fraction(*odds)
        return self.differs((Fraction(1), 0) if k is None else (r * k, 1), (r, 1), delta)

    def settled(self, disclosed: Any, delta: Fraction) -> bool:
        """Whether the two extreme k over X show that no x over attributes of X exceeds δ in any context."""
        rows = [self.rows[i] for i in disclosed]
        if any(p * q == 0 for row in rows for p, q in row):
            return delta >= 1
        ends = [prod(pick(p / q for p, q in row) for row in rows) for pick in (min, max)]
        return all(self.ends(k, delta) is None for k in ends)


class Model:
    """The model of a certificate, whose attributes and values are known by their index."""

    def __init__(self, exact: Any, criterion: str, family: Any = NaiveBayes, late: Any = bool) -> None:
        self.work, self.late, self.odds, attributes = 0, late, family(exact, criterion), exact["attributes"]
        self.names, self.sizes = [a["name"] for a in attributes], [len(a["values"]) for a in attributes]
        places = ((i, a, j, v) for i, a in enumerate(attributes) for j, v in enumerate(a["values"]))
        self.where = {(a["name"], v): (i, j) for i, a, j, v in places}
        self.kinds = [frozenset(factors) for factors in self.odds.factors]
        self.sensitive, self.sound = [i for i, a in enumerate(attributes) if a["sensitive"]], self.odds.sound
        self.total = prod(1 + m * (1 + (i in self.sensitive)) for i, m in enumerate(self.sizes))
        self.total -= prod(1 + m for m in self.sizes)

    def reaches(self, least: Fraction) -> bool | None:
        """Whether any sensitive value is as probable as a minimum probability; None if that's too close."""
        odds, values = self.odds, ((i, v) for i in self.sensitive for v in range(self.sizes[i]))
        try:
            return least == 0 or any(odds.likely(odds.more(odds.nothing, *v), least) for v in values)
        except TimeoutError:
            return None

    def measure(self, told: Any, marks: Any, least: Fraction) -> tuple[bool, Fraction, bool]:
        """Whether a pattern is one and has the numbers told of it; its |degree|, and if it is in scope."""
        parts = (told["sensitive_values"], told["context_values"])
        x, y = ([self.where.get(item, (-1, 0)) for item in part.items()] for part in parts)
        used = [i for i, _ in x + y]
        if -1 in used or len({*used}) < len(used) or not {i for i, _ in x} <= {*self.sensitive}:
            return False, Fraction(0), False
        found: tuple[bool, Fraction, bool] = self.odds.measure(x, y, told, marks, least)
        return found

    def sets(self) -> Iterator[tuple[int, ...]]:
        """The non-empty sets X of sensitive attributes."""
        return (x for n in range(len(self.sensitive)) for x in combinations(self.sensitive, n + 1))

    def spend(self, work: int) -> None:
        """Count the work that is planned or done; too much of it, or being late, ends it."""
        self.work += work
        if self.work > WORK_LIMIT or self.late():
            raise TimeoutError

    def above(self, threshold: Fraction, least: Fraction) -> Counter[tuple[int, ...]] | None:
        """How many patterns over each X have a |degree| above a threshold; None if that takes too long."""
        self.work, found = 0, Counter[tuple[int, ...]]()
        try:
            if self.odds.settled(self.sensitive, threshold):
                return found
            if least:  # of those with P(xy) >= least, over any X
                return Counter({(): beside(PROBABLE).count(self, threshold, least, CLOSE)})
            for x, first, second in self.plan(threshold):
                rows = self.products(first, self.odds.start)
                columns = self.common if second == self.shared else self.products(second, self.odds.one)
                strengths = self.odds.strengths(x).items()
                found[x] = sum(n * self.count(rows, columns, k, threshold) for k, n in strengths)
        except TimeoutError:
            return None
        return found

    def plan(self, threshold: Fraction) -> list[tuple[tuple[int, ...], list[int], list[int]]]:
        """Each X that isn't settled, and the other attributes in two parts; all work is counted first."""
        planned, weight = [], self.odds.weight
        if len(self.sensitive) > form.LISTED_LIMIT:
            raise TimeoutError
        for x in self.sets():
            if not self.odds.settled(x, threshold):
                others = [i for i in range(len(self.names)) if i not in x]
                strengths, free = prod(self.sizes[i] for i in x), [i for i in self.sensitive if i not in x]
                second = self.fill(self.shared, free, isqrt(strengths * self.length(others)))
                first = [i for i in others if i not in second]
                rows, columns = self.length(first), self.length(second) if second != self.shared else 0
                self.spend(strengths * (rows + 20 * weight) + 2 * weight * (rows + columns))
                planned.append((x, first, second))
        return planned

    def length(self, attributes: Iterable[int]) -> int:
        """How many products there are over these attributes at most; equal attributes are alike."""
        kinds = Counter(self.kinds[i] for i in attributes)
        return prod(comb(len(kind) + n, n) for kind, n in kinds.items())

    def fill(self, part: list[int], more: Iterable[int], goal: int) -> list[int]:
        """A part with more attributes, the largest first, as long as its list of products stays short."""
        for i in sorted(more, key=lambda i: -self.sizes[i]):
            part = [*part, i] if self.length([*part, i]) <= min(goal, LIST_LIMIT) else part
        return part

    @cached_property
    def shared(self) -> list[int]:
        """Attributes that aren't sensitive: the second part for every X, or the beginning of it."""
        return self.fill([], {*range(len(self.names))} - {*self.sensitive}, isqrt(self.total))

    @cached_property
    def common(self) -> Any:
        """The products over those."""
        return self.products(self.shared, self.odds.one)

    def products(self, attributes: list[int], start: Any) -> Any:
        """The odds over these attributes in order: logarithms, then inf; odds; contexts, and their sums."""
        found = Counter([start])
        for n, factors in enumerate(self.odds.factors[i] for i in attributes):
            self.spend(len(found) * self.odds.weight * (1 + n // 20))  # with ever longer numbers
            longer = Counter(found)  # the contexts without this attribute
            for odds, factor in product(found, factors):
                longer[self.odds.times(odds, factor)] += found[odds]
            found = longer
        listed = sorted((self.odds.ln(odds), odds, contexts) for odds, contexts in found.items())
        logs, odds, contexts = zip(*listed, strict=True)
        return array("d", [*logs, inf]), odds, contexts, [0, *accumulate(contexts)]

    def count(self, rows: Any, columns: Any, k: Any, threshold: Fraction) -> int:
        """In how many contexts |degree| is above a threshold."""
        self.spend(0)
        (starts, odds, contexts, _), (logs, others, each, before) = rows, columns
        ends, marks = self.odds.ends(k, threshold), []
        if not ends:
            return 0
        for end in ends:
            first = [bisect_left(logs, end - CLOSE - at) for at in starts[:-1]]
            last = [end + CLOSE - at for at in starts[:-1]]
            pairs = zip(first, last, strict=True)
            marks += [first, [a if logs[a] >= b else bisect_left(logs, b, a) for a, b in pairs]]
        # All from i to j can be inside; those from sure to end are, the others are too close to call.
        i, sure, end, j = marks
        inside = zip(contexts, sure, end, strict=True)
        total: int = sum(n * (before[b] - before[a]) for n, a, b in inside if a < b)
        if i != sure or end != j:
            for row, (a, b, c, d) in enumerate(zip(i, sure, end, j, strict=True)):
                for column in {*range(a, min(b, d)), *range(max(a, c), d)} if a < b or c < d else ():
                    self.spend(10)
                    if self.odds.exceeds(self.odds.times(odds[row], others[column]), k, threshold):
                        total += contexts[row] * each[column]
        return int(total)


def examine(data: bytes, key: Any, at: date, proof: Any = None, late: Any = bool) -> Iterator[Check]:
    """All checks of a file's bytes, as far as time lasts: ``late`` tells whether it is up, if it is given."""
    c, signed, keyid, sig = form.read(data)
    if proof is not None and "proof" not in (c["model"].get("repair") or {}):
        form.refuse("a certificate that names no proof, and a proof was given")
    right = key and hashlib.sha256(PREFIX + key).hexdigest() == keyid and is_signed(signed, sig, key)
    named = f"the key {keyid} is named" if signed else "it is not signed"
    yield "signature", right if key else None, named
    if key and not right:
        return  # whoever wrote the rest, it isn't worth the work
    rest = digest({name: value for name, value in c.items() if name != "id"})
    yield "id", c["id"] == rest[:32], "the digest of all the rest"
    start, end, exact, words = c["valid_from"], c["expires"], c["model"]["exact"], form.claim(c)
    yield "dates", start <= at.isoformat() < end, f"from {start} until {end}, asked for {at}"
    yield "digest", digest(exact) == c["model"]["sha256"], "of the exact model"
    fixed = digest({name: c[name] for name in ("assumptions", "limits", "method")})
    expected = form.FIXED_WORDS["box" if "box" in c else exact.get("undisclosed")]
    yield "words", c["claim"] == words and fixed == expected, words["formula"]
    scorecards = beside(SCORECARDS) if "family" in exact else None
    if "family" in exact and scorecards is None:
        yield "model", None, f"a scorecard; put {SCORECARDS} beside this file"
        return
    model = Model(exact, c["criterion"], scorecards.Scorecard if scorecards else NaiveBayes, late)
    yield "model", model.sound, "probabilities that add up, and a population that conforms"
    if not model.sound:
        return
    decision = {"name": exact["decision"]} | {side: exact[side] for side in SIDES}
    marked = [a["name"] for a in exact["attributes"] if a["sensitive"]]
    same = c["decision"] == decision and [a["name"] for a in c["sensitive_attributes"]] == marked
    said = "decision and sensitive attributes are those of the model, and some pattern is so probable"
    yield "scope", same and model.reaches(number(c["min_probability"] or "0")), said
    if c["version"] > 1 and (told := c["model"]["repair"]):
        repairs, price = beside(REPAIRS), [told[f"log_likelihood_{n}"] for n in ("before", "after")]
        said = f"of the model {told['source_sha256'][:16]}; log-likelihood {price[0]}, then {price[1]}"
        said = said if repairs else f"a repaired model; put {REPAIRS} beside this file"
        yield "repair", repairs and repairs.holds(c, form, scorecards), said
        if "proof" in told:
            proved = repairs and repairs.proved(c, form, beside(PROOFS), proof, late)
            yield "proof", *(proved or (None, f"put {REPAIRS} beside this file"))
    if "box" in c:
        boxes, said = beside(BOXES), f"every model within a factor of 1 + {c['box']} is δ-fair"
        holds = boxes and boxes.Box(exact, number(c["box"])).fair(c["criterion"], number(c["delta"]))
        yield "box", holds, said if boxes else f"put {BOXES} beside this file"
    if c["min_probability"] and beside(PROBABLE) is None:
        yield "patterns", None, f"of a minimum probability; put {PROBABLE} beside this file"
        return
    yield from answers(c, model)


def answers(c: Any, model: Model) -> Iterator[Check]:
    """The checks of what the certificate says of patterns."""
    delta, least = number(c["delta"]), number(c["min_probability"] or "0")
    lower, upper = number(c["max_degree"]["lower"]), number(c["max_degree"]["upper"])
    unit, exactly = Fraction(1, 10 ** max(12, len(c["delta"]) - 2)), c["max_degree"]["exact"]
    marks, told = (lower, lower + unit, upper, delta), c["witness"]
    try:
        nothing = c["verdict"] == "inconclusive", Fraction(0), True
        true, found, inside = model.measure(told, marks, least) if told else nothing
    except TimeoutError:
        yield "witness", None, "its numbers are too close to call"
        return
    yield "witness", true and inside, "its degree and probabilities"
    holds = lower <= found < lower + unit and found <= upper and lower % unit == upper % unit == 0
    holds = holds and (exactly is None or (found == number(exactly) and upper < found + unit))
    beyond = model.above(upper if exactly is None else found, least)
    bounded = None if beyond is None else not beyond.total()
    yield "largest degree", holds and bounded, f"from {float(lower):.12f} to {float(upper):.12f}"
    patterns = None if c["pattern_count"] is None else model.above(delta, least)
    count = None if patterns is None else patterns.total()
    if (told := c["pattern_count"]) is not None:
        said = f"{told if count is None else count} patterns"
        yield "count", None if count is None else int(told) == count, said
    yield "total", int(c["total_patterns"]) == model.total, f"{model.total} pairs"
    if c["coverage"] is not None:
        yield "coverage", covers(c, model, patterns), "a row for each set of attributes"
    fair = upper <= delta and (None if count is None else count == 0)
    verdicts = {"delta-fair": fair, "not-delta-fair": found > delta, "inconclusive": found <= delta < upper}
    yield "verdict", verdicts[c["verdict"]], c["verdict"]


def covers(c: Any, model: Model, patterns: Counter[tuple[int, ...]] | None) -> bool | None:
    """Whether each set X has its row, with its pairs and patterns, and called settled where it is."""
    sets = list(model.sets()) if len(model.sensitive) <= form.LISTED_LIMIT else []
    if len(c["coverage"]) != len(sets):
        return False
    for x, row in zip(sets, c["coverage"], strict=True):
        pairs = prod(m + (i not in x) for i, m in enumerate(model.sizes))
        closed, settled = row["method"] == "closed form", model.odds.settled(x, number(c["delta"]))
        lax = c["version"] == 1 and row["patterns"] == "0"  # then other bounds were called so too
        same = row["disclosed"] == [model.names[i] for i in x] and int(row["pairs"]) == pairs
        counted = patterns is None or int(row["patterns"]) == patterns[x]
        if not same or not counted or not (closed == settled or (closed and lax)):
            return False
    return None if patterns is None else True


def main() -> int:
    """Print each check and a last line that sums them up."""
    parser = argparse.ArgumentParser(description="Check a certificate of δ-fairness.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--public-key", type=Path, help="PEM file of the key that must have signed it")
    parser.add_argument("--proof", type=Path, help="the proof of a bound that it names")
    parser.add_argument("--at", type=date.fromisoformat, default=datetime.now(UTC).date())
    given = parser.parse_args()
    try:
        with given.certificate.open("rb") as file:
            data = file.read(form.FILE_LIMIT + 1)
        proof = given.proof.read_bytes() if given.proof else None
        key = public_key(given.public_key.read_bytes()) if given.public_key else None
        checks = list(examine(data, key, given.at, proof))
    except UNREADABLE as error:
        print(f"no certificate, or no key, that can be read: {error!r:.300}", file=sys.stderr)
        return 3
    for name, holds, detail in checks:
        print(f"{OUTCOMES[holds]:13}  {name:14}  {detail}")
    failed, left_out = ([name for name, holds, _ in checks if holds is outcome] for outcome in (False, None))
    code = 1 if failed else 4 if left_out not in ([], ["signature"]) else 0
    passed = "CONTENTS HOLD; signature not checked" if left_out else "HOLDS"
    undecided = f"NOT DECIDED; not performed: {', '.join(left_out)}"
    print({0: passed, 1: f"DOES NOT HOLD; FAILED: {', '.join(failed)}", 4: undecided}[code])
    return code


if __name__ == "__main__":
    sys.exit(main())
