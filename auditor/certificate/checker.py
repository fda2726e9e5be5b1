#!/usr/bin/env python3
"""Check a certificate of δ-fairness without the software that issued it.

    python checker.py CERTIFICATE [--public-key KEY.pem] [--at YYYY-MM-DD]

Needs Python 3.11 and nothing else (and `openssl` 3 for the signature). Every number is computed again from
the model in the certificate. Exit code 0: it holds; 1: something doesn't; 3: unreadable; 4: not decided.

A naive Bayes model gives P(d | z) for a favourable decision d and disclosed values z. A pattern is a pair
(x, y): x gives values to one or more sensitive attributes, y to any others, and P(xy) > 0. Its degree is

    difference:  P(d | xy) - P(d | y)
    ratio:       1 - 1/q  if q >= 1,  else q - 1,  where q = P(d | xy) / P(d | y)

It discriminates if |degree| > δ. The model is δ-fair if no pattern does.

With the odds R = P(d, y) / P(d̄, y) of the context and k = P(x | d) / P(x | d̄), P(d | y) = R / (1 + R) and
P(d | xy) = Rk / (1 + Rk): for a given x the degree depends on R alone, and x discriminates where R lies in
one open interval. R is a product with one factor per attribute in y. The products over one half of the
attributes are sorted; for each product over the other half, bisection finds those that bring R into the
interval. That compares floating-point logarithms, whose errors stay far below CLOSE. Where two are as near
as CLOSE, the definition decides in exact fractions, so no result depends on rounding.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import gcd, inf, log, log1p, prod, sqrt
from pathlib import Path
from typing import Any

TYPES = ("https://in-toto.io/Statement/v1", "urn:auditor:certificate:v1", "application/vnd.in-toto+json")
SIDES = ("favourable", "unfavourable")
CLOSE = 1e-9
FILE_LIMIT, DIGITS_LIMIT = 32 * 2**20, 100_000  # bytes of a file, digits of a number
LIST_LIMIT = 600_000  # products in one list
WORK_LIMIT = 20_000_000  # products and bisections, about a minute
UNREADABLE = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
OUTCOMES = {True: "passed", False: "FAILED", None: "not performed"}


class TooLarge(Exception):
    """Recomputing would take too long."""


def read_json(data: bytes) -> Any:
    """JSON without duplicate names, NaN, decimals or large integers: a text has one meaning."""

    def unique(pairs: list[tuple[str, Any]]) -> Any:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a name twice in one object")

    def refuse(what: str) -> Any:
        raise ValueError(f"a certificate can't have {what[:40]}")

    hooks: Any = {"object_pairs_hook": unique, "parse_constant": refuse, "parse_float": refuse}
    hooks["parse_int"] = lambda text: int(text) if len(text) < 10 else refuse(text)
    return json.JSONDecoder(**hooks).decode(data.decode())


def canonical(value: Any) -> str:
    """Canonical JSON (RFC 8785) of objects, lists, text, small integers, true, false and null."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def number(text: str) -> Fraction:
    """The number that a text such as "-3/7", "12" or "0.05" writes, exactly."""
    if len(text) > DIGITS_LIMIT or not re.fullmatch(r"-?[0-9]+(\.[0-9]+|/[1-9][0-9]*)?", text):
        raise ValueError(f"not a number: {text:.40}")
    above, _, below = text.partition("/")
    return Fraction(Decimal(above)) / int(Decimal(below or "1"))  # Decimal() is exact at any length


def degree(criterion: str, after: Fraction, before: Fraction) -> Fraction:
    """The degree by its definition: after = P(d | xy), before = P(d | y)."""
    if criterion == "difference" or before == after:
        return after - before
    return 1 - before / after if after > before else after / before - 1


def ln(fraction: Fraction) -> float:
    """Logarithm of a positive fraction of any size."""
    return log(fraction.numerator) - log(fraction.denominator)


def interval(criterion: str, delta: Fraction, k: Fraction | None) -> tuple[float, float] | None:
    """The open interval of ln R in which |degree| > δ, or None if there is none; k = None is infinite."""
    if k == 1 or delta >= 1:
        return None
    if delta == 0 or (criterion == "ratio" and k == 0):
        return -inf, inf
    if k == 0:  # P(d | xy) = 0
        return ln(delta / (1 - delta)), inf
    if k is None or criterion == "ratio":  # |degree| falls as R grows
        top = 1 - delta if k is None else (k * (1 - delta) - 1 if k > 1 else 1 - delta - k) / k
        return (-inf, ln(top / delta)) if top > 0 else None
    # |degree| = R|k - 1| / ((1 + R)(1 + Rk)) > δ  iff  δk R² - b R + δ < 0. The roots' product is 1/k.
    b = abs(k - 1) - delta * (1 + k)
    discriminant = 1 - 4 * delta * delta * k / (b * b) if b > 0 else Fraction(0)
    end = discriminant > 0 and ln(b / (2 * delta * k)) + log1p(sqrt(discriminant))
    return (-ln(k) - end, end) if discriminant > 0 else None


class Model:
    """The model of a certificate and all degrees in it; attributes and values are known by their index."""

    def __init__(self, exact: Any, criterion: str, delta: Fraction) -> None:
        self.criterion, self.delta, self.work, attributes = criterion, delta, 0, exact["attributes"]
        self.names, self.labels = [a["name"] for a in attributes], [a["values"] for a in attributes]
        self.sensitive = [i for i, a in enumerate(attributes) if a["sensitive"] is True]
        # Two columns for each attribute, P(value | d) and P(value | d̄); then the same as rows.
        both = [[[number(p) for p in a[side]] for side in SIDES] for a in attributes]
        self.prior, self.rows = number(exact["prior"]), [list(zip(*columns, strict=True)) for columns in both]
        self.weight = 1 + max(len(p) // 50 for a in attributes for side in SIDES for p in a[side]) ** 2
        # A value that is impossible under one decision leaves P(d | y) at 0 or 1, whatever else is disclosed.
        self.factors = [[p / q for p, q in rows if p and q] for rows in self.rows]
        self.sound = (
            0 < self.prior < 1
            and all(sum(column) == 1 and min(column) >= 0 for columns in both for column in columns)
            and all(p or q for rows in self.rows for p, q in rows)
            and all(len(set(v)) == len(v) == len(r) for v, r in zip(self.labels, self.rows, strict=True))
            and len(set(self.names)) == len(self.names) >= len(self.sensitive) > 0
        )

    def joint(self, values: list[tuple[int, int]]) -> tuple[Fraction, Fraction]:
        """P(d, z) and P(d̄, z) for pairs z of attribute and value."""
        rows = [self.rows[i][v] for i, v in values]
        return prod((p for p, _ in rows), start=self.prior), prod((q for _, q in rows), start=1 - self.prior)

    def measure(self, witness: Any) -> tuple[bool, Fraction, Fraction]:
        """Whether a pattern is one and has the numbers written with it; then its |degree| and P(xy)."""
        at, parts = self.names.index, (witness["sensitive_values"], witness["context_values"])
        x, y = ([(at(n), self.labels[at(n)].index(v)) for n, v in part.items()] for part in parts)
        (a, b), (c, d) = self.joint(x + y), self.joint(y)
        after, before, probability = a / (a + b), c / (c + d), a + b
        size = degree(self.criterion, after, before)
        names = ("favourable_given_pattern", "favourable_given_context", "probability", "degree")
        told = [number(witness[name]) for name in names] == [after, before, probability, size]
        apart = len(dict(x + y)) == len(x + y) > len(y) and set(dict(x)) <= set(self.sensitive)
        return told and apart, abs(size), probability

    def degree_at(self, odds: Fraction, k: Fraction | None) -> Fraction:
        """|degree| at odds R > 0."""
        after = Fraction(1) if k is None else odds * k / (1 + odds * k)
        return abs(degree(self.criterion, after, odds / (1 + odds)))

    def sets(self) -> Iterator[tuple[int, ...]]:
        """The non-empty sets X of sensitive attributes."""
        return (x for n in range(len(self.sensitive)) for x in combinations(self.sensitive, n + 1))

    def pairs(self, disclosed: tuple[int, ...]) -> int:
        """How many (x, y) disclose exactly these sensitive attributes."""
        return prod(len(rows) if i in disclosed else 1 + len(rows) for i, rows in enumerate(self.rows))

    def spend(self, work: int) -> None:
        """Count the work done, a step counting for more where the model's numbers are long."""
        self.work += work * self.weight
        if self.work > WORK_LIMIT:
            raise TooLarge

    def products(self, attributes: list[int], start: Fraction) -> list[tuple[float, int, int, int]]:
        """The products over these attributes, sorted: (logarithm, numerator, denominator, contexts)."""
        found = Counter([(start.numerator, start.denominator)])
        for factors in (self.factors[i] for i in attributes):
            self.spend(len(found) * (1 + len(factors)))
            longer = Counter(found)  # the contexts without this attribute
            for (n, d), factor in product(found, factors):
                above, below = n * factor.numerator, d * factor.denominator
                common = gcd(above, below)
                longer[above // common, below // common] += found[n, d]
            found = longer
            if len(found) > LIST_LIMIT:
                raise TooLarge
        return sorted((log(n) - log(d), n, d, contexts) for (n, d), contexts in found.items())

    def halves(self, disclosed: tuple[int, ...]) -> Any:
        """Two lists whose combinations are all R outside X, then logarithms and contexts of the second."""
        free = sorted(set(range(len(self.rows))) - set(disclosed), key=lambda i: len(self.rows[i]))
        first = self.products(free[1::2], self.prior / (1 - self.prior))
        second = self.products(free[::2], Fraction(1))
        return first, second, [entry[0] for entry in second], [0, *accumulate(entry[3] for entry in second)]

    def count(self, halves: Any, k: Fraction | None, low: float, high: float) -> int:
        """In how many contexts |degree| > δ."""
        (first, second, logs, before), total = halves, 0
        for at, n, d, contexts in first:
            # All from i to j can be inside; those from sure to end are, the others are too close to call.
            i, sure = bisect_left(logs, low - at - CLOSE), bisect_right(logs, low - at + CLOSE)
            end, j = bisect_left(logs, high - at - CLOSE), bisect_right(logs, high - at + CLOSE)
            total += contexts * max(0, before[end] - before[sure])
            unsure = {*range(i, min(sure, j)), *range(max(i, end), j)}
            self.spend(2 + 20 * len(unsure))
            for index in unsure:
                if self.degree_at(Fraction(n * second[index][1], d * second[index][2]), k) > self.delta:
                    total += contexts * second[index][3]
        return total

    def largest(self, halves: Any, k: Fraction | None) -> Fraction:
        """The largest |degree| over all contexts."""
        first, second, logs, _ = halves
        # |degree| falls as R grows, or on both sides of R = 1/√k, symmetrically in ln R.
        one_sided = self.criterion == "ratio" or k is None
        peak = -inf if one_sided else -ln(k) / 2 if k else inf
        peak = max(first[0][0] + logs[0] - 1, min(peak, first[-1][0] + logs[-1] + 1))
        around = ((at, bisect_left(logs, peak - at)) for at, *_ in first)
        nearest = CLOSE + min(abs(at + b - peak) for at, i in around for b in logs[max(i - 1, 0) : i + 1])
        low, high = peak - nearest, peak + nearest
        ranges = [range(bisect_left(logs, low - at), bisect_right(logs, high - at)) for at, *_ in first]
        self.spend(3 * len(first) + 20 * sum(map(len, ranges)))
        pairs = ((entry, second[i]) for entry, those in zip(first, ranges, strict=True) for i in those)
        candidates = {Fraction(a[1] * b[1], a[2] * b[2]) for a, b in pairs}
        return max(self.degree_at(odds, k) for odds in candidates)

    def settled(self, disclosed: tuple[int, ...] | list[int], delta: Fraction) -> bool:
        """Whether the two extreme k over X show that no x over attributes of X exceeds δ in any context."""
        rows = [self.rows[i] for i in disclosed]
        if any(p * q == 0 for row in rows for p, q in row):
            return delta >= 1
        ends = [prod(pick(p / q for p, q in row) for row in rows) for pick in (min, max)]
        return all(interval(self.criterion, delta, k) is None for k in ends)

    def recompute(self, largest: Fraction) -> tuple[Counter[tuple[int, ...]] | None, Fraction | None]:
        """Patterns over each X and the largest |degree|, of which one is known; None if that is too large."""
        patterns: Counter[tuple[int, ...]] = Counter()
        try:
            for disclosed in self.sets():
                self.spend(200)
                if self.settled(disclosed, min(self.delta, largest)):
                    continue
                self.spend(prod(len(self.rows[i]) for i in disclosed))
                halves, strengths = self.halves(disclosed), Counter[Fraction | None]()
                for x in product(*(self.rows[i] for i in disclosed)):
                    p, q = prod(row[0] for row in x), prod(row[1] for row in x)
                    strengths[p / q if q else None] += p + q > 0  # with P(x) = 0 there is no pattern
                for k, times in strengths.items():
                    ends = interval(self.criterion, self.delta, k)
                    patterns[disclosed] += times * self.count(halves, k, *ends) if ends else 0
                    if times and interval(self.criterion, largest, k):
                        largest = max(largest, self.largest(halves, k))
        except TooLarge:
            return (Counter() if self.settled(self.sensitive, self.delta) else None), None
        return patterns, largest


def unseal(data: bytes) -> tuple[Any, Any, bytes, str, bytes, bool]:
    """Certificate, statement, signed bytes, key id, signature, and if the envelope is in canonical form."""
    document = read_json(data)
    if "payload" not in document:
        return document, None, b"", "", b"", True
    kind, [signature] = document["payloadType"], document["signatures"]
    payload, sig = (base64.b64decode(text) for text in (document["payload"], signature["sig"]))
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    statement = read_json(payload)
    # The same envelope can be written in many ways; only one is accepted, so that no byte of a file is loose.
    texts = [base64.b64encode(part).decode() for part in (canonical(statement).encode(), sig)]
    signatures = [{"keyid": signature["keyid"], "sig": texts[1]}]
    form = canonical({"payload": texts[0], "payloadType": TYPES[2], "signatures": signatures}) + "\n"
    return statement["predicate"], statement, signed, signature["keyid"], sig, form.encode() == data


def check_signature(signed: bytes, keyid: str, sig: bytes, key: Path | None) -> tuple[bool | None, str]:
    """Whether the Ed25519 signature is by this public key (a PEM file), and a detail."""
    if key is None or not signed:
        return None if key is None else False, "no public key was given" if signed else "it is not signed"
    lines = [line for line in key.read_text("ascii").splitlines() if not line.startswith("-")]
    if hashlib.sha256(base64.b64decode("".join(lines))).hexdigest() != keyid:
        return False, "it names another key"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "signed").write_bytes(signed)
        Path(folder, "sig").write_bytes(sig)
        files = ["-in", "signed", "-sigfile", "sig", "-inkey", str(key.resolve())]
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", *files]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True)
        except OSError:
            return None, "openssl is not installed"
    return done.returncode == 0, f"by key {keyid}"


def examine(data: bytes, key: Path | None, at: date) -> Iterator[tuple[str, bool | None, str]]:
    """All checks of a file's bytes: (name, whether it holds or None if that was not found out, detail)."""
    certificate, statement, signed, keyid, sig, form = unseal(data)
    if (certificate["kind"], repr(certificate["version"])) != ("auditor/certificate", "1"):
        raise ValueError("not a certificate of version 1")
    exact, sha256 = certificate["model"]["exact"], certificate["model"]["sha256"]
    if statement:
        about = {"_type": TYPES[0], "predicateType": TYPES[1], "predicate": certificate}
        about["subject"] = [{"name": certificate["model"]["name"], "digest": {"sha256": sha256}}]
        yield "envelope", form and statement == about, "written in the one canonical way, about the model"
    yield "signature", *check_signature(signed, keyid, sig, key)
    rest = {name: value for name, value in certificate.items() if name != "id"}
    yield "id", certificate["id"] == digest(rest)[:32], "the digest of all the rest"
    issued, start, end = map(date.fromisoformat, map(certificate.get, ("issued", "valid_from", "expires")))
    yield "dates", issued <= start <= at < end, f"valid from {start} until {end}, asked for {at}"
    yield "digest", digest(exact) == sha256, "of the exact model"

    criterion, delta, least = certificate["criterion"], certificate["delta"], certificate["min_probability"]
    model = Model(exact, criterion, number(delta))
    yield "model", model.sound, "probabilities that add up to 1, names that differ"
    if not model.sound:
        return
    decision = {"name": exact["decision"]} | {side: exact[side] for side in SIDES}
    named = [attribute["name"] for attribute in certificate["sensitive_attributes"]]
    same = certificate["decision"] == decision and named == [model.names[i] for i in model.sensitive]
    yield "scope", same, "decision and sensitive attributes are those of the model"
    missing = (least is not None, Fraction(0), Fraction(1))
    true, found, probability = model.measure(certificate["witness"]) if certificate["witness"] else missing
    yield "witness", true and probability >= number(least or "0"), "its degree and probabilities"

    patterns, largest = model.recompute(found)
    count = None if patterns is None else sum(patterns.values())
    if least:  # what was recomputed is about more patterns than the certificate
        count, largest = count if count == 0 else None, largest if largest == found else None
    top = certificate["max_degree"]
    lower, upper = number(top["lower"]), number(top["upper"])
    holds = lower <= found <= upper
    if top["exact"] is not None:
        holds = holds and found == number(top["exact"]) and upper - lower <= Fraction(1, 10**12)
        bounded = None if largest is None else largest == found
    else:
        bounded = model.settled(model.sensitive, upper) or (None if largest is None else largest <= upper)
    yield "largest degree", holds and bounded, f"from {float(lower):.12f} to {float(upper):.12f}"
    told, rows = certificate["pattern_count"], certificate["coverage"]
    detail = "not counted" if count is None else f"{count} patterns"
    yield "count", None if None in (told, count) else number(told) == count, detail
    total = prod(1 + len(r) * (1 + (i in model.sensitive)) for i, r in enumerate(model.rows))
    total -= prod(1 + len(r) for r in model.rows)
    yield "total", number(certificate["total_patterns"]) == total, f"{total} pairs"
    if rows is not None:
        sets = list(model.sets()) if len(rows) == 2 ** len(model.sensitive) - 1 else []
        parts = [number(row["patterns"]) for row in rows]
        listed = [(row["disclosed"], int(number(row["pairs"]))) for row in rows]
        holds = sum(parts) == number(told) and listed == [
            ([model.names[i] for i in x], model.pairs(x)) for x in sets
        ]
        counted = None if patterns is None else parts == [patterns[x] for x in sets]
        yield "coverage", holds and counted, "a row for each set of sensitive attributes, adding up"
    verdict = certificate["verdict"]
    fair = False if found > model.delta else None if count is None else count == 0
    decided = None if fair is None else verdict == ("delta-fair" if fair else "not-delta-fair")
    yield "verdict", found <= model.delta < upper if verdict == "inconclusive" else decided, verdict
    sign = {"delta-fair": "<=", "not-delta-fair": ">", "inconclusive": "<= or >"}[verdict]
    share = " / max(P(d | xy), P(d | y))" if criterion == "ratio" else ""
    formula = f"max |P(d | xy) - P(d | y)|{share} {sign} {delta}" + (f", P(xy) >= {least}" if least else "")
    yield "claim", certificate["claim"]["formula"] == formula, formula


def main() -> int:
    """Print each check and a last line that sums them up."""
    parser = argparse.ArgumentParser(description="Check a certificate of δ-fairness.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--public-key", type=Path, help="PEM file of the key that must have signed it")
    parser.add_argument("--at", type=date.fromisoformat, default=datetime.now(UTC).date())
    options = parser.parse_args()
    try:
        with options.certificate.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
        if len(data) > FILE_LIMIT:
            raise ValueError("larger than a certificate can be")
        checks = list(examine(data, options.public_key, options.at))
    except UNREADABLE as error:
        print(f"not a certificate that can be read: {error!r}", file=sys.stderr)
        return 3
    for name, holds, detail in checks:
        print(f"{OUTCOMES[holds]:13}  {name:14}  {detail}")
    named = {outcome: [name for name, holds, _ in checks if holds is outcome] for outcome in OUTCOMES}
    code = 1 if named[False] else 4 if "verdict" in named[None] else 0
    notes = (
        f"{OUTCOMES[outcome]}: {', '.join(named[outcome])}" for outcome in (False, None) if named[outcome]
    )
    print({0: "HOLDS", 1: "DOES NOT HOLD", 4: "NOT DECIDED"}[code], *notes, sep="; ")
    return code


if __name__ == "__main__":
    sys.exit(main())
