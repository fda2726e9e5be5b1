#!/usr/bin/env python3
"""Check what is said of a box of models, without the software that said it.

    python box_checker.py AUDIT.json
    python box_checker.py CERTIFICATE.json EPS

Needs Python 3.11 and nothing else; checker.py uses it for certificates that have a box. It takes an audit
document (auditor audit MODEL --box EPS -f json), reads the exact model in it, and finds out for each box by
an algorithm of its own whether what is said of it is true. Of a certificate, signed or not, it finds out
whether every model in the box of EPS about the certified one is δ-fair; that the certificate itself holds is
for checker.py to show. Exit code 0: all of it; 1: something isn't; 3: no such document; 4: something could
not be decided.

A naive Bayes model gives P(d | z) for a favourable decision d and disclosed values z. In the box of ε each of
its probabilities is multiplied by a factor from 1/(1+ε) to 1+ε, and each distribution still adds up to 1: so
that p lies between max(p/(1+ε), 1-(1+ε)(1-p)) and min((1+ε)p, 1-(1-p)/(1+ε)), and the probabilities that one
pattern depends on, all of different distributions, can be at any of these ends together. A pattern is a pair
(x, y): x gives values to one or more sensitive attributes, y to any others, and P(xy) > 0. Its degree is

    difference:  P(d | xy) - P(d | y)
    ratio:       1 - 1/q  if q >= 1,  else q - 1,  where q = P(d | xy) / P(d | y)

It discriminates if |degree| > δ. With k = P(x | d) / P(x | d̄) and R = P(d, y) / P(d̄, y) that is so for R in
one open interval, which grows as k moves away from 1. So each set of sensitive attributes has two extreme k,
and the box has a model that isn't δ-fair if and only if the log R of some context, which lies anywhere in a
sum of intervals, can be in the interval of one of them.

The log R of all contexts together are a union of intervals. It is made attribute by attribute: each interval
is moved by each value, and what then overlaps becomes one. Gaps that are narrower than a grain are filled as
well, so that there are few: where that union meets no forbidden interval, the box is proved fair. Where it
does, the grain is made finer; once no gap is filled, what meets by more than all rounding is in the box.

Patterns are counted x by x. One discriminates in some model if its interval of log R meets that of the least
or of the greatest k, and in every model if it lies within that of the k nearest 1, both k being on one side
of it. The intervals of contexts are sums of one of each half, of which one half is sorted. What is within
rounding of an end is counted as what may be.

Logarithms are integers of 2^-70, rounded outward.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import inf, prod
from pathlib import Path
from typing import Any

Span = tuple[int, int]  # the least and the greatest log R, in units
ONE, UNIT, DIGITS = Fraction(1), 1 << 70, Context(prec=80, Emax=10**9, Emin=-(10**9))
FAR = UNIT << 40  # beyond every log R
# Grains of the union, from coarse to none; intervals that one union may have; sensitive attributes.
GRAINS, SPAN_LIMIT, SENSITIVE_LIMIT = (UNIT >> 8, UNIT >> 14, UNIT >> 20, 0), 300_000, 12
WORK_LIMIT = 20_000_000  # intervals that are moved, of about 2 µs
COUNT_LIMIT = 40_000_000  # bisections and comparisons to count patterns, of about 0.3 µs
FILE_LIMIT, EXPONENT_LIMIT = 256 * 2**20, 100_000
SIDES = ("favourable", "unfavourable")
VERDICTS = ("all-delta-fair", "none-delta-fair", "varies", "inconclusive")
OUTCOMES = {True: "passed", False: "FAILED", None: "not performed"}


def number(text: str) -> Fraction:
    """The number that a text such as "-3/7", "12" or "0.05" writes, exactly."""
    above, _, below = text.partition("/")
    over, under = Decimal(above), Decimal(below or "1")
    if max(abs(over.adjusted()), abs(under.adjusted())) > EXPONENT_LIMIT or under != int(under):
        raise ValueError(f"{text:.40} is out of range")
    return Fraction(over) / int(under)


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file, in which a second value of a name could be another reader's first."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return dict(pairs)


def canonical(value: Any) -> str:
    """Canonical JSON (RFC 8785) of objects, lists, text and flags."""

    def sort(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: sort(part[name]) for name in sorted(part, key=lambda n: n.encode("utf-16-be"))}
        return list(map(sort, part)) if isinstance(part, list) else part

    return json.dumps(sort(value), ensure_ascii=False, separators=(",", ":"))


def log(value: Fraction) -> Span:
    """The natural logarithm, rounded down and up."""
    found = DIGITS.ln(DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator)))
    middle = int(DIGITS.multiply(found, UNIT).to_integral_value())
    return middle - 2, middle + 2


class Box:
    """The ends of each probability in a box, and how far they let a pattern go."""

    def __init__(self, exact: Any, share: Fraction) -> None:
        def ends(text: str) -> tuple[Fraction, Fraction]:
            p, factor = number(text), 1 + share
            return max(p / factor, 1 - factor * (1 - p)), min(p * factor, 1 - (1 - p) / factor)

        columns = [[*map(number, a[side])] for a in exact["attributes"] for side in SIDES]
        if not all(sum(row) == 1 and min(row) >= 0 for row in columns) or not 0 < number(exact["prior"]) < 1:
            raise ValueError("the model is none: its probabilities don't add up to 1")
        if share < 0 or {type(a["sensitive"]) for a in exact["attributes"]} != {bool}:
            raise ValueError("no box has a size below 0, and an attribute is sensitive or not")
        self.names = [a["name"] for a in exact["attributes"]]
        self.labels = [a["values"] for a in exact["attributes"]]
        self.sensitive = [i for i, a in enumerate(exact["attributes"]) if a["sensitive"]]
        self.prior = ends(exact["prior"])
        self.rows = [
            [(ends(a), ends(b)) for a, b in zip(row["favourable"], row["unfavourable"], strict=True)]
            for row in exact["attributes"]
        ]
        low, high = self.prior
        self.start = log(low / (1 - low))[0], log(high / (1 - high))[1]
        # A value with a probability of 0 leaves no doubt of the decision, and none of it in any context.
        moves = [
            [(log(a0 / b1)[0], log(a1 / b0)[1]) for (a0, a1), (b0, b1) in r if a0 and b0] for r in self.rows
        ]
        self.options = [[(0, 0), *row] for row in moves]
        self.moves = [sorted(set(row)) for row in self.options]
        self.work = 0
        self.slack = 8 * (len(self.rows) + 2)  # more units than all roundings together

    def extreme(self, attribute: int, end: int) -> Fraction | None:
        """The greatest (1) or the least (0) P(v | d) / P(v | d̄) of a value; None is infinite."""
        rows = [(a, b) for a, b in self.rows[attribute] if a[1] or b[1]]
        if end and any(not b[0] for _, b in rows):
            return None
        ratios = [a[end] / b[1 - end] for a, b in rows if b[1 - end]]
        return max(ratios) if end else min(ratios)

    def fair(self, criterion: str, delta: Fraction) -> bool | None:
        """Whether every model in the box is δ-fair; None where that can't be decided here."""
        if len(self.sensitive) > SENSITIVE_LIMIT:
            return None
        decided = True
        for size in range(1, len(self.sensitive) + 1):
            for shown in combinations(self.sensitive, size):
                for end in (0, 1):
                    found = self._free(shown, end, criterion, delta)
                    if found is False:
                        return False
                    decided = decided and bool(found)
        return True if decided else None

    def _free(self, shown: tuple[int, ...], end: int, criterion: str, delta: Fraction) -> bool | None:
        """Whether no context lets the extreme x over these attributes discriminate."""
        ratios = [self.extreme(i, end) for i in shown]
        # An attribute that moves the other way: without it, x is more extreme, and that set is tried too.
        if any(k is not None and (k <= 1 if end else k >= 1) for k in ratios):
            return True
        k = None if None in ratios else prod((r for r in ratios if r is not None), start=ONE)
        forbidden = interval(criterion, k, delta)
        if forbidden is None:
            return True
        rest = [self.moves[i] for i in range(len(self.moves)) if i not in shown]
        for grain in GRAINS:
            spans = self._union(rest, forbidden, grain)
            if spans is None:
                return None
            low, high = forbidden
            wide = high - low > 2 * self.slack
            if not any(s < high + self.slack and t > low - self.slack for s, t in spans):
                return True
            if wide and not grain and any(s < high - self.slack and t > low + self.slack for s, t in spans):
                return False
        return None

    def _union(self, rest: list[list[Span]], near: Span, grain: int) -> list[Span] | None:
        """All log R that can be near an interval, as disjoint spans in order; None if they are too many."""
        spans = [self.start]
        # The widest first: they leave the most behind that can't come near any more.
        rest = sorted(rest, key=lambda row: row[0][0] - row[-1][1])
        self.work += sum(map(len, rest))
        # The least and the most that the attributes from each on can still add.
        down = [*accumulate((min(s for s, _ in row) for row in reversed(rest)), initial=0)][::-1]
        up = [*accumulate((max(t for _, t in row) for row in reversed(rest)), initial=0)][::-1]
        for i, row in enumerate(rest, 1):
            least, most = near[0] - self.slack - up[i], near[1] + self.slack - down[i]
            self.work += len(spans) * len(row)
            if self.work > WORK_LIMIT:
                return None
            moved = sorted(
                (s + a, t + b) for s, t in spans for a, b in row if s + a <= most and t + b >= least
            )
            spans = []
            for s, t in moved:
                if spans and s <= spans[-1][1] + grain:
                    spans[-1] = spans[-1][0], max(spans[-1][1], t)
                else:
                    spans.append((s, t))
            if len(spans) > SPAN_LIMIT:
                return None
        return spans

    def count(self, criterion: str, delta: Fraction, *, every: bool, extreme: bool = False) -> Span | None:
        """At least and at most how many patterns discriminate in some model, or in all; None if not counted.

        With `extreme` of the x that do most only, of which one is among them if any is.
        """
        if len(self.sensitive) > SENSITIVE_LIMIT:
            return None
        whole, ordered = prod(map(len, self.options)), list[int]()
        for i in sorted(set(range(len(self.options))).difference(self.sensitive)):
            if prod(len(self.options[j]) for j in (*ordered, i)) ** 2 <= whole * len(self.options[i]):
                ordered.append(i)
        sets = [c for n in range(1, len(self.sensitive) + 1) for c in combinations(self.sensitive, n)]
        listed = [[row for i, row in enumerate(self.options) if i not in (*c, *ordered)] for c in sets]
        lengths = [prod(len(self.options[i]) for i in ordered), *(prod(map(len, rows)) for rows in listed)]
        numbers = [prod(len(self.rows[i]) for i in c) for c in sets]
        each = (n + m * (1 + 4 * (2 if extreme else n)) for n, m in zip(numbers, lengths[1:], strict=True))
        work = COUNT_LIMIT - lengths[0] - sum(each)
        if work < 0 or max(lengths) > SPAN_LIMIT:
            return None
        least, most, halves = 0, 0, Halves([self.options[i] for i in ordered], work)
        for shown, rows in zip(sets, listed, strict=True):
            halves.first, ends = sums(rows, self.start), Counter[tuple[Any, Any]]()
            for x in product(*(self.rows[i] for i in shown)):
                if all(a[1] for a, _ in x) or all(b[1] for _, b in x):  # else it can't occur
                    ends[ratio(x, 0), ratio(x, 1)] += 1
            if extreme:
                ends = Counter({max(ends, key=lambda k: k[0]), min(ends, key=lambda k: k[1])})
            for (low, high), number in ends.items():
                some = {low, high}
                if every:
                    some = {low} if low > 1 else {high} if high < 1 else set()
                spans = {interval(criterion, None if k == inf else k, delta) for k in some} - {None}
                for off in (-self.slack, self.slack) if spans else ():
                    inside = number * halves.inside(sorted(filter(None, spans)), off, every=every)
                    least, most = least + inside * (off < 0), most + inside * (off > 0)
                if halves.work < 0:
                    return None
        return least, most


def ratio(x: tuple[Any, ...], end: int) -> Fraction | float:
    """The least (0) or the greatest (1) P(x | d) / P(x | d̄) of values."""
    below = prod((b[1 - end] for _, b in x), start=ONE)
    return prod((a[end] for a, _ in x), start=ONE) / below if below else inf


def sums(rows: list[list[Span]], start: Span = (0, 0)) -> list[Span]:
    """All sums of one span of each row."""
    found = [start]
    for row in rows:
        found = [(s + a, t + b) for s, t in found for a, b in row]
    return found


class Halves:
    """The spans of contexts: each sum of one of the first and one of the second half."""

    def __init__(self, rows: list[list[Span]], work: int) -> None:
        self.first, self.second, self.work = list[Span](), sorted(sums(rows)), work
        self.sorted = [s for s, _ in self.second], sorted(t for _, t in self.second)
        self.widest = max(t - s for s, t in self.second)

    def inside(self, spans: list[Span], off: int, *, every: bool) -> int:
        """How many meet a span, or lie within the one that there is, with the ends of these moved outward."""
        (low, high), (low_2, high_2) = ((s - off, t + off) for s, t in (spans[0], spans[-1]))
        if every:
            return self.at_most(1, high - 1) - self.at_most(0, low) + self.both(0, low, high)
        # Missed is what lies below both, above both, or below the later one and above the first.
        most = max(high, high_2)
        found = self.at_most(0, most - 1) - self.at_most(1, low) - self.both(1, low_2, high)
        return found + self.both(1, low, high) + self.both(1, low_2, most)

    def at_most(self, end: int, bound: int) -> int:
        """How many have one end at most at a bound."""
        return sum(bisect_right(self.sorted[end], bound - span[end]) for span in self.first)

    def both(self, end: int, most: int, least: int) -> int:
        """How many have one end at most at a bound, and the other at least at another."""
        if end and most < least:
            return 0
        found = 0
        for s, t in self.first:
            low, high = (least - s, most - t) if end else (least - t, most - s)
            at = bisect_left(self.sorted[0], low if end else low - self.widest)
            near = self.second[at : bisect_right(self.sorted[0], high)] if self.work >= 0 else []
            self.work -= len(near)
            found += sum((b <= high and a >= low) if end else (a <= high and b >= low) for a, b in near)
        return found


def interval(criterion: str, k: Fraction | None, delta: Fraction) -> Span | None:
    """The log R in which |degree| > δ, its ends rounded; None if there are none. k: None is infinite."""
    if delta >= 1 or k == 1:
        return None
    if delta == 0:
        return -FAR, FAR
    above = (1 - delta) / delta
    if k is None:  # P(d | xy) = 1: the degree is 1 / (1 + R)
        return -FAR, log(above)[1]
    if criterion == "ratio":
        if k == 0:  # P(d | xy) = 0: the degree is -1
            return -FAR, FAR
        top = (k * (1 - delta) - 1 if k > 1 else 1 - delta - k) / (k * delta)
        return (-FAR, log(top)[1]) if top > 0 else None
    if k == 0:  # P(d | xy) = 0: the degree is -R / (1 + R)
        return log(1 / above)[0], FAR
    if k < 1:
        mirrored = interval(criterion, 1 / k, delta)
        return mirrored and (-mirrored[1], -mirrored[0])
    # δ k R² - (k - 1 - δ (1 + k)) R + δ < 0; the product of the roots is 1 / k.
    m = k - 1 - delta * (1 + k)
    inner = m * m - 4 * delta * delta * k
    if m <= 0 or inner <= 0:
        return None
    linear, root = (DIGITS.divide(Decimal(v.numerator), Decimal(v.denominator)) for v in (m, inner))
    high = log(Fraction(DIGITS.add(linear, DIGITS.sqrt(root))) / (2 * delta * k))
    return -log(k)[1] - high[1], high[1]


def degree(criterion: str, after: Fraction, before: Fraction) -> Fraction:
    """The degree of P(d | xy) and P(d | y)."""
    if criterion == "difference":
        return after - before
    if before == 0:
        return Fraction(0)
    q = after / before
    return 1 - 1 / q if q >= 1 else q - 1


def witness(box: Box, criterion: str, told: Any) -> tuple[bool, Fraction]:
    """Whether the parameters told of a model are in the box, and the degree of its pattern in it."""
    prior = number(told["prior"])
    inside, sides = box.prior[0] <= prior <= box.prior[1], [[prior, 1 - prior], [prior, 1 - prior]]
    values = told["sensitive_values"] | told["context_values"]
    named = {q["attribute"]: q["value"] for q in told["parameters"]}
    inside = inside and named == values and len(told["parameters"]) == len(values)
    inside = inside and {box.names.index(name) for name in told["sensitive_values"]} <= {*box.sensitive}
    inside = inside and not told["sensitive_values"].keys() & told["context_values"].keys()
    for q in told["parameters"]:
        i = box.names.index(q["attribute"])
        pair = number(q["given_favourable"]), number(q["given_unfavourable"])
        ends = box.rows[i][box.labels[i].index(q["value"])]
        inside = inside and all(low <= p <= high for p, (low, high) in zip(pair, ends, strict=True))
        for side in sides if q["attribute"] in told["context_values"] else sides[:1]:
            side[:] = side[0] * pair[0], side[1] * pair[1]
    if not all(map(sum, sides)):
        return False, Fraction(0)
    after, before = (favourable / (favourable + other) for favourable, other in sides)
    return inside, degree(criterion, after, before)


def certain(box: Box, criterion: str, told: Any) -> Fraction:
    """The least |degree| of a pattern in any model of the box: at a corner, or 0 between two of them.

    It is 0 of what is no pattern, too.
    """
    shown, known = told["sensitive_values"].keys(), told["context_values"].keys()
    if shown & known or not {box.names.index(name) for name in shown} <= {*box.sensitive}:
        return Fraction(0)
    x, y = (
        [
            box.rows[i][box.labels[i].index(v)]
            for name, v in told[part].items()
            for i in [box.names.index(name)]
        ]
        for part in ("sensitive_values", "context_values")
    )
    found = []
    for c in (0, 1):
        for e in (0, 1):
            u = box.prior[c] * prod((a[c] for a, _ in y), start=ONE)
            v = (1 - box.prior[c]) * prod((b[1 - c] for _, b in y), start=ONE)
            u_x = u * prod((a[e] for a, _ in x), start=ONE)
            v_x = v * prod((b[1 - e] for _, b in x), start=ONE)
            if u_x + v_x == 0:
                return Fraction(0)
            found.append(degree(criterion, u_x / (u_x + v_x), u / (u + v)))
    return Fraction(0) if min(found) <= 0 <= max(found) else min(map(abs, found))


def counted(told: Any, found: Span | None) -> tuple[bool | None, str]:
    """Whether there are at least and at most so many patterns, and more in words."""
    if not all(type(number) is int and number >= 0 for number in told) or len(told) != 2:
        raise ValueError("a number of patterns that is none")
    if found is None:
        return None, "too many to be counted here"
    said = f"there are {found[0]:,}" + (f" to {found[1]:,}" if found[0] < found[1] else "")
    if told[0] > found[1] or told[1] < found[0]:
        return False, said
    return True if told[0] <= found[0] and found[1] <= told[1] else None, said


def about(exact: Any, sha256: str) -> tuple[str, bool, str]:
    """Whether a model has the digest by which a document names it."""
    found = hashlib.sha256(canonical(exact).encode()).hexdigest()
    return "model", found == sha256, f"its digest is {found}"


def around(certificate: Any, share: Fraction) -> Iterator[tuple[str, bool | None, str]]:
    """Whether every model in the box about a certified one is δ-fair."""
    model = certificate["model"]
    if model.get("family", "naive-bayes") != "naive-bayes" or certificate["min_probability"] is not None:
        raise ValueError("boxes are about naive Bayes models, and patterns of any probability")
    yield about(model["exact"], model["sha256"])
    found = Box(model["exact"], share).fair(certificate["criterion"], number(certificate["delta"]))
    yield "box", found, "every model in the box is δ-fair" if found else "not so, or not decided"


def examine(audit: Any) -> Iterator[tuple[str, bool | None, str]]:
    """What is said of each box: what it is, whether it is true, and more in words."""
    criterion, delta = audit["criterion"], number(audit["delta"])
    if criterion not in ("difference", "ratio") or not 0 <= delta <= 1:
        raise ValueError("another criterion, or a threshold that is not from 0 to 1")
    exact = audit["parameters"]
    if exact is not None:
        yield about(exact, audit["model"]["sha256"])
        marked = [a["name"] for a in exact["attributes"] if a["sensitive"]]
        yield "sensitive attributes", marked == audit["model"]["sensitive"] != [], ", ".join(marked)
    boxes = [told for told in audit["how_far"]["sets"] if told["set"] == "box"]
    for told in boxes:
        size, verdict, worst = f"ε = {told['size']}", told["verdict"], told["worst"]
        ends = [*told["max_degree_bounds"], told["max_degree"]]
        if verdict not in VERDICTS or not all(type(end) in (int, float) and 0 <= end <= 1 for end in ends):
            raise ValueError("another verdict than there are, or a degree that is none")
        low, high, largest = map(Fraction, ends)
        if exact is None:
            yield size, None, "the document does not hold the model"
            continue
        box = Box(exact, number(told["size"]))
        found = box.fair(criterion, delta)
        if verdict == "all-delta-fair":
            yield f"verdict, {size}", found, "every model in the box is δ-fair"
        elif verdict in ("varies", "none-delta-fair"):
            unfair = found if found is None else not found
            yield f"verdict, {size}", unfair, "not every model in it is δ-fair"
        if worst:
            inside, moved = witness(box, criterion, worst)
            signed = moved * Fraction(worst["degree"]) > 0 or float(moved) == worst["degree"]
            holds = inside and low <= abs(moved) <= high and signed and abs(worst["degree"]) == ends[2]
            holds = holds and (verdict in ("all-delta-fair", "inconclusive") or abs(moved) > delta)
            yield f"worst model, {size}", holds, f"its pattern has the degree {float(moved):.6g}"
        if told["certain"] or verdict == "none-delta-fair":
            least = certain(box, criterion, told["certain"]) if told["certain"] else Fraction(0)
            true = least > delta or verdict != "none-delta-fair"
            true = true and (not told["certain"] or Fraction(told["certain"]["least_degree"]) <= least)
            yield f"pattern in all, {size}", true, f"its least degree is {float(least):.6g}"
        every = (0, 0) if found else box.count(criterion, delta, every=True, extreme=verdict == "varies")
        if verdict == "varies":
            none = every if every is None else True if every[1] == 0 else False if every[0] else None
            yield f"no pattern in all, {size}", none, "no one pattern discriminates in every model"
        if told["patterns_in_some"] is not None:
            some = (0, 0) if found else box.count(criterion, delta, every=False)
            yield f"patterns in some, {size}", *counted(told["patterns_in_some"], some)
        if told["patterns_in_every"] is not None:
            yield f"patterns in all, {size}", *counted(told["patterns_in_every"], every)
        between = low <= largest <= high and (worst is not None or low == 0)
        fair = box.fair(criterion, high)
        said = f"no model in it has one above {told['max_degree_bounds'][1]}"
        yield f"largest degree, {size}", fair if between else False, said
    if not boxes:
        raise ValueError("nothing is said of a box")


def main() -> int:
    """Check the file that is named on the command line."""
    try:
        path, *shares = sys.argv[1:]
        data = Path(path).read_bytes()
        if len(data) > FILE_LIMIT:
            raise ValueError("the file is too large")
        document = json.loads(data, object_pairs_hook=named_once)
        if "payload" in document:  # a signed envelope
            document = json.loads(base64.b64decode(document["payload"]), object_pairs_hook=named_once)
            document = document["predicate"]
        if shares:
            (share,) = map(number, shares)
            if share < 0:
                raise ValueError("EPS is below 0")
            checks = list(around(document, share))
        else:
            checks = list(examine(document))
    except (ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(f"no audit that says something of a box, no certificate: {error!r:.200}", file=sys.stderr)
        return 3
    for name, holds, detail in checks:
        print(f"{OUTCOMES[holds]:14}{name}: {detail}")
    outcomes = [holds for _, holds, _ in checks]
    return 1 if False in outcomes else 4 if None in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
