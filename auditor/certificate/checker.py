#!/usr/bin/env python3
"""Check a certificate of δ-fairness without the software that issued it.

    python checker.py CERTIFICATE [--public-key KEY.pem] [--at YYYY-MM-DD]

Needs Python 3.11 and nothing else. Every number is computed again from the model in the certificate, every
sentence is made again from its facts, and the signature is checked. Exit code 0: all holds; 1: something does
not; 3: no certificate, or no key; 4: something that it claims could not be checked within the limits.

A naive Bayes model gives P(d | z) for a favourable decision d and disclosed values z. A pattern is a pair
(x, y): x gives values to one or more sensitive attributes, y to any others, and P(xy) > 0. Its degree is

    difference:  P(d | xy) - P(d | y)
    ratio:       1 - 1/q  if q >= 1,  else q - 1,  where q = P(d | xy) / P(d | y)

It discriminates if |degree| > δ. The model is δ-fair if no pattern does. With a minimum probability only
patterns whose P(xy) is at least that are in scope; those are gone through one by one.

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
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import gcd, inf, isqrt, lcm, log, log1p, prod, sqrt
from pathlib import Path
from runpy import run_path
from typing import Any

SIDES, SCOPE = ("favourable", "unfavourable"), ("criterion", "delta", "min_probability")
COLUMNS = (SIDES, ("weights", "population"))  # of the attributes of a naive Bayes model, and of a scorecard
CLOSE, LIST_LIMIT, WORK_LIMIT = 1e-9, 200_000, 4_000_000  # products in one list; steps, ten to twenty seconds
# Nothing longer is looked at: bytes; characters of a name and a text; attributes, and values of each; values
# together; bits of the common denominator of an attribute's probabilities; characters of each attribute's
# longest probability together; days that a certificate holds; sensitive attributes whose sets are listed.
FILE_LIMIT, NAME_LIMIT, TEXT_LIMIT, ATTRIBUTE_LIMIT, VALUE_LIMIT = 32 * 2**20, 500, 10_000, 1_000, 100_000
DENOMINATOR_LIMIT, MODEL_LIMIT, DAYS_LIMIT, LISTED_LIMIT = 6_700, 10_000, 3_660, 12
UNREADABLE = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
OUTCOMES = {True: "passed", False: "FAILED", None: "not performed"}
# A certificate, with the form of each value in its place: = is one of these, ? may be null.
FORM = """{"kind": "=auditor/certificate", "version": 2, "id": "id", "issued": "day", "valid_from": "day",
"expires": "day", "supersedes": "supersedes?", "issuer": "name?", "responsible": "name?",
"claim": {"sentence": "words", "formula": "words"}, "verdict": "=delta-fair|not-delta-fair|inconclusive",
"criterion": "criterion", "delta": "decimal", "min_probability": "decimal?",
"policy": {"sha256": "digest?", "overridden": "overridden"},
"decision": {"name": "name", "favourable": "name", "unfavourable": "name"},
"sensitive_attributes": [{"name": "name", "reason": "text?"}],
"max_degree": {"exact": "fraction?", "lower": "decimal", "upper": "decimal"}, "witness": "witness?",
"pattern_count": "count?", "pattern_count_reason": "uncounted?", "total_patterns": "count",
"coverage": "coverage?", "inconclusive_reason": "undecided?", "assumptions": ["words"], "limits": ["words"],
"method": {"search": "words", "arithmetic": "words"}, "platform": "text?",
"tool": {"name": "=auditor", "version": "tool"},
"model": {"name": "name", "sha256": "digest", "family": "=naive-bayes|scorecard", "repair": "repair?",
  "exact": "naive-bayes",
  "provenance": {"description": "text?", "owner": "text?", "model_version": "text?", "data_source": "text?",
    "period": "text?", "rows": "count?"}}}"""
PARTS = """{"overridden": {"criterion": "criterion?", "delta": "decimal?", "min_probability": "decimal?",
  "sensitive": "names?", "valid_days": "count?", "issuer": "name?", "responsible": "name?"},
"supersedes": {"id": "id", "sha256": "digest", "verified_with": "digest?", "scope": {"decision": "name",
  "favourable": "name", "unfavourable": "name", "criterion": "criterion", "delta": "decimal",
  "min_probability": "decimal?", "sensitive": "names"}, "scope_change_reason": "text?"},
"repair": {"method": "=fair|independent|independent-mean|unconstrained", "source_sha256": "digest",
  "smoothing": "weight", "decision": {"favourable": "weight", "unfavourable": "weight"},
  "attributes": [{"favourable": ["weight"], "unfavourable": ["weight"]}],
  "log_likelihood_before": "logarithm", "log_likelihood_after": "logarithm?"},
"naive-bayes": {"decision": "name", "favourable": "name", "unfavourable": "name", "prior": "share",
  "attributes": [{"name": "name", "sensitive": "flag", "values": ["name"],
    "favourable": ["share"], "unfavourable": ["share"]}]},
"scorecard": {"family": "=scorecard", "decision": "name", "favourable": "name", "unfavourable": "name",
  "undisclosed": "=conforming", "base": "=e|2", "odds": "weight", "intercept": "score",
  "unfavourable_share": "share", "attributes": [{"name": "name", "sensitive": "flag", "values": ["name"],
    "weights": ["score"], "undisclosed": "score", "population": ["share"]}]},
"witness": {"sensitive_values": "labels", "context_values": "labels", "degree": "figure",
  "probability": "figure", "favourable_given_pattern": "figure", "favourable_given_context": "figure"},
"coverage": [{"disclosed": "names", "method": "=closed form|exhausted|bounded", "pairs": "count",
  "patterns": "count"}], "names": ["name"], "criterion": "=difference|ratio"}"""
PATTERNS = json.loads(
    r"""{"day": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "id": "[0-9a-f]{32}", "digest": "[0-9a-f]{64}",
"count": "0|[1-9][0-9]{0,3999}", "decimal": "0|1|0[.][0-9]{0,399}[1-9]", "tool": "[0-9]+[.][0-9]+[.][0-9]+",
"fraction": "(0|-?[1-9][0-9]{0,40000})(/[1-9][0-9]{0,40000})?", "logarithm": "-[0-9]{1,120}[.][0-9]{6}",
"share": "0|1|[1-9][0-9]{0,1999}/[1-9][0-9]{0,1999}", "weight": "(0|[1-9][0-9]{0,99})(/[1-9][0-9]{0,99})?",
"score": "(0|-?[1-9][0-9]{0,199})(/[1-9][0-9]{0,199})?", "rounded": "0|-?(1|0[.][0-9]{0,19}[1-9])",
"undecided": "the search reached a limit of time or memory before it was decided",
"uncounted": "not all patterns were counted within the limits of time and memory",
"given in version 1": "0|1([.]0{1,400})?|0[.](?!0*$)[0-9]{1,400}",
"uncounted in version 1": "patterns of a minimum probability are searched, not counted|more than [0-9,]+
 patterns lie within rounding of the threshold|there are [0-9.E+]+ combinations of sensitive values; at most
 [0-9,]+ are counted one by one|the time limit was reached before all patterns were counted",
"change in version 1": "(decision|(un)?favourable decision|criterion|delta|minimum probability): .+ became .+|
sensitive attribute: .+ was (added|removed)"}""".replace("\n", "")
)
SCORECARDS, ODDS_LIMIT = "scorecard_checker.py", 1_000  # the arithmetic of scorecards; the exponent of odds
# SHA-256 of the assumptions, limits and method, which are the same in all certificates of a family.
FIXED_WORDS = (
    "6d055ecd12e04b8ee2329708938a43387789d3cdb801da7bac745a91687f4515",
    "82076c775c9cea9db57f0a9147c8c5008d1749700bc8b181627cc24e4a53c3f2",
)
# Signs that can't be seen, and letters that look like Latin ones: the eye must be able to tell names apart.
JOINERS, HIDDEN = (
    "\u200c\u200d",
    {*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffe\uffff", *map(chr, range(0xFE00, 0xFE10))},
)
ALIKE = "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ", "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXovp"


def refuse(what: str) -> Any:
    """Say why this is no certificate."""
    raise ValueError(what)


def read_json(data: bytes) -> Any:
    """JSON without duplicate names, NaN, decimals or large integers: a text has one meaning."""
    if len(data) > FILE_LIMIT:
        refuse("larger than a certificate can be")
    hooks: Any = dict.fromkeys(
        ("parse_constant", "parse_float"), lambda text: refuse(f"a certificate can't have {text:.40}")
    )
    hooks["parse_int"] = lambda text: (
        int(text) if len(text) < 10 else refuse(f"a certificate can't have {text:.40}")
    )
    hooks["object_pairs_hook"] = lambda pairs: (
        dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a name twice in one object")
    )
    return json.JSONDecoder(**hooks).decode(data.decode())


def canonical(value: Any) -> str:
    """Canonical JSON (RFC 8785) of objects, lists, text, small integers, true, false and null."""

    def sort(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: sort(part[name]) for name in sorted(part, key=lambda n: n.encode("utf-16-be"))}
        return list(map(sort, part)) if isinstance(part, list) else part

    return json.dumps(sort(value), ensure_ascii=False, separators=(",", ":"))


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def number(text: str) -> Fraction:
    """The number that a text such as "-3/7", "12" or "0.05" writes, exactly."""
    above, _, below = text.partition("/")
    return Fraction(Decimal(above)) / int(Decimal(below or "1"))  # Decimal() is exact at any length


def is_text(value: str, limit: int, allowed: str) -> bool:
    """Whether a text can be seen, has no hidden signs and is not too long."""
    signs = [(sign, unicodedata.category(sign)) for sign in value[: limit + 1] if sign not in allowed]
    hidden = (s in HIDDEN or kind in ("Cc", "Cf", "Cs", "Zl", "Zp") for s, kind in signs)
    return len(value) <= limit and not any(hidden) and any(not sign.isspace() for sign, _ in signs)


def differ(names: list[str]) -> bool:
    """Whether no two names could be taken for each other."""
    latin = str.maketrans(*ALIKE, JOINERS)
    seen = {" ".join(unicodedata.normalize("NFKC", name).translate(latin).split()) for name in names}
    return len(seen) == len(names)


def is_a(value: Any, form: Any) -> bool:
    """Whether a value, other than a list or an object of known fields, has a form."""
    if form == "flag" or type(form) is int:
        return type(value) is bool if form == "flag" else type(value) is int and value == form
    if form == "labels":
        pairs = value.items() if type(value) is dict and len(value) <= ATTRIBUTE_LIMIT else [(None, None)]
        return all(is_a(name, "name") for pair in pairs for name in pair)
    if type(value) is not str or form == "words" or form[0] == "=":
        return type(value) is str and (form == "words" or value in form[1:].split("|"))
    if form == "name":  # in the one normal form of its letters
        return is_text(value, NAME_LIMIT, JOINERS) and unicodedata.normalize("NFC", value) == value
    if form == "text":
        return is_text(value, TEXT_LIMIT, JOINERS + "\n\t")
    if not re.fullmatch(PATTERNS[form], value) or (form == "day" and not date.fromisoformat(value)):
        return False
    above, _, below = value.partition("/")  # a fraction is in lowest terms
    return not below or (below != "1" and gcd(int(Decimal(above)), int(Decimal(below))) == 1)


def fit(value: Any, form: Any, parts: Any, place: str = "") -> None:
    """Refuse a value that hasn't a form."""
    if type(form) is str:
        form = None if value is None and form[-1] == "?" else parts.get(form.rstrip("?"), form.rstrip("?"))
    if type(form) is dict and type(value) is dict and value.keys() == form.keys():
        for name, part in value.items():
            fit(part, form[name], parts, f"{place}.{name}")
    elif type(form) is list and type(value) is list and len(value) <= VALUE_LIMIT:
        for part in value:
            fit(part, form[0], parts, f"{place}[]")
    elif form is not None and (type(form) in (dict, list) or not is_a(value, form)):
        refuse(f"{place[1:] or 'the whole'} is not written as in a certificate")


def read(data: bytes) -> tuple[Any, bytes, str, bytes]:
    """Certificate, signed bytes, key id and signature of a file that `auditor certify` can have written."""
    c, signed, keyid, sig, kind = read_json(data), b"", "", b"", "application/vnd.in-toto+json"
    form, parts, sealed = json.loads(FORM), json.loads(PARTS), "payload" in c
    if sealed:
        payload, keyid = base64.b64decode(c["payload"]), c["signatures"][0]["keyid"]
        sig, c = base64.b64decode(c["signatures"][0]["sig"]), read_json(payload)["predicate"]
        signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    if c["version"] == 1:  # it says in words what changed, and knows no repairs
        form |= {"version": 1, "delta": "given in version 1", "min_probability": "given in version 1?"}
        form["pattern_count_reason"], parts["overridden"] = "uncounted in version 1?", ["setting"]
        parts["setting"] = "=criterion|delta|min_probability|sensitive|valid_days|issuer|responsible"
        parts["supersedes"] |= {"scope_changes": ["change in version 1"]}
        del form["model"]["family"], form["model"]["repair"]
        del parts["supersedes"]["verified_with"], parts["supersedes"]["scope"]
    scored = c["version"] != 1 and c["model"]["family"] == "scorecard"
    parts["figure"] = "rounded" if scored else "fraction"
    form["model"]["exact"] = "scorecard" if scored else "naive-bayes"
    fit(c, form, parts)
    if sealed:  # one envelope can be written in many ways; only one is accepted, so that no byte is loose
        subject = [{"name": c["model"]["name"], "digest": {"sha256": c["model"]["sha256"]}}]
        about = {"_type": "https://in-toto.io/Statement/v1", "subject": subject, "predicate": c}
        about["predicateType"] = f"urn:auditor:certificate:v{c['version']}"
        texts = [base64.b64encode(part).decode() for part in (canonical(about).encode(), sig)]
        whole = {"payload": texts[0], "payloadType": kind, "signatures": [{"keyid": keyid, "sig": texts[1]}]}
        if (canonical(whole) + "\n").encode() != data or len(sig) != 64 or not is_a(keyid, "digest"):
            refuse("the envelope is not written as that of a certificate")
    for problem, holds in relations(c):
        if not holds:
            refuse(problem)
    return c, signed, keyid, sig


def scope(c: Any) -> dict[str, Any]:
    """What a certificate answers, apart from the model."""
    named = {
        "sensitive": sorted(a["name"] for a in c["sensitive_attributes"]),
        "decision": c["decision"]["name"],
    }
    return named | {side: c["decision"][side] for side in SIDES} | {name: c[name] for name in SCOPE}


def relations(c: Any) -> Iterator[tuple[str, bool]]:
    """What is so between the fields of every certificate: what is wrong if it isn't, and whether it is."""
    exact, sensitive, first = c["model"]["exact"], scope(c)["sensitive"], c["version"] == 1
    days = (date.fromisoformat(c["expires"]) - date.fromisoformat(c["valid_from"])).days
    yield "dates in a wrong order", c["issued"] <= c["valid_from"] and 0 < days <= DAYS_LIMIT
    scored = "family" in exact
    columns = [(len(a["values"]), a[name]) for a in exact["attributes"] for name in COLUMNS[scored]]
    yield "no or too many attributes", 0 < len(columns) <= 2 * ATTRIBUTE_LIMIT and sensitive != []
    yield "too many values", sum(size for size, _ in columns) <= 2 * VALUE_LIMIT
    yield "too few or many values", all(2 - scored <= m == len(row) <= ATTRIBUTE_LIMIT for m, row in columns)
    longest = sum(max(len(p) for n in COLUMNS[scored] for p in a[n]) for a in exact["attributes"])
    rows = [row for _, row in columns]
    if scored:
        scores = [[exact["intercept"]], *([a["undisclosed"], *a["weights"]] for a in exact["attributes"])]
        rows.append([w for row in scores for w in row])
        widest = sum(max(abs(number(w)) for w in row) for row in scores)
        yield "a scorecard with log-odds too large", widest <= ODDS_LIMIT
        none = (c["min_probability"], c["model"]["repair"], c["max_degree"]["exact"])
        yield "what no certificate of a scorecard has", none == (None, None, None)
    common = (d for row in rows for d in accumulate((number(p).denominator for p in row), lcm))
    short = longest <= MODEL_LIMIT and all(d.bit_length() <= DENOMINATOR_LIMIT for d in common)
    yield "numbers with too many digits", short
    groups = [[exact["decision"], *(a["name"] for a in exact["attributes"])], [exact[side] for side in SIDES]]
    yield (
        "two names that could be confused",
        all(map(differ, groups + [a["values"] for a in exact["attributes"]])),
    )
    loose = set('"\\') & set(c["model"]["name"] + exact["favourable"]) or set('",()') & set(
        "".join(sensitive)
    )
    yield "names that make its sentence ambiguous", not (first and loose)
    yield "a minimum probability of 0, which is none", first or c["min_probability"] != "0"
    count, why, undecided = c["pattern_count"], c["pattern_count_reason"], c["verdict"] == "inconclusive"
    yield "a count and a reason why not, or neither", (count is None) == (why is not None)
    yield "a reason that doesn't apply, or none", undecided == (c["inconclusive_reason"] is not None)
    yield "a proved number in an undecided one", not undecided or count is c["max_degree"]["exact"] is None
    yield "patterns in a δ-fair model", c["verdict"] != "delta-fair" or count == "0"
    listed = count is not None and c["min_probability"] is None and len(sensitive) <= LISTED_LIMIT
    yield "coverage of no count, or none of one", listed == (c["coverage"] is not None)
    bare = [row["disclosed"] for row in c["coverage"] or []] + [
        w["sensitive_values"] for w in [c["witness"]] if w
    ]
    yield "a pattern without sensitive attributes", all(bare)
    old, now = c["supersedes"] or {"scope": scope(c), "scope_change_reason": None}, scope(c)
    if first:
        said = old.get("scope_changes", [])
        ends = tuple(f" became {value or 'none'}" for name, value in now.items() if name != "sensitive")
        named = [line[21:].rsplit(" was ", 1) for line in said if not line.endswith(ends)]
        true = all((name in sensitive) == (verb == "added") for name, verb in named)
    else:
        said = [name for name, value in old["scope"].items() if value != now[name]]
        now |= {"valid_days": str(days), "issuer": c["issuer"], "responsible": c["responsible"]}
        policy = {name: value for name, value in c["policy"]["overridden"].items() if value is not None}
        lists = [old["scope"]["sensitive"], policy.get("sensitive", [])]
        true = all(value != now[name] for name, value in policy.items()) and lists == [
            sorted({*n}) for n in lists
        ]
        true = true and (c["policy"]["sha256"] is not None or not policy)
    yield "a change that isn't one", true
    yield "a reason for no change, or none for one", bool(said) == (old["scope_change_reason"] is not None)


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
        refuse("a public key that is no point of the curve")
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P


def is_signed(signed: bytes, sig: bytes, key: bytes) -> bool:
    """Whether an Ed25519 signature is by a public key."""
    s, (x, y, z, t) = int.from_bytes(sig[32:], "little"), point(key)
    hashed = int.from_bytes(hashlib.sha512(sig[:32] + key + signed).digest(), "little") % ORDER
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    rx, ry, rz, _ = add(times(s, base), times(hashed, (P - x, y, z, P - t)))
    inverse = pow(rz, -1, P)
    encoded = (ry * inverse % P | (rx * inverse % P & 1) << 255).to_bytes(32, "little")
    return s < ORDER and encoded == sig[:32]


def public_key(pem: bytes) -> bytes:
    """The 32 bytes of an Ed25519 public key in PEM; keys for which anyone can sign are refused."""
    found = re.fullmatch(
        rb"-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/]{59}=)\s+-----END PUBLIC KEY-----\s*", pem
    )
    der = base64.b64decode(found[1]) if found else b""
    if not found or not der.startswith(PREFIX) or base64.b64encode(der) != found[1]:
        refuse("not an Ed25519 public key in PEM, which is what certificates are signed with")
    if times(8, point(der[12:]))[0] == 0:
        refuse("a weak public key, for which anyone can sign")
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

    def times(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        """The product of two odds."""
        above, below = a[0] * b[0], a[1] * b[1]
        common = gcd(above, below)
        return above // common, below // common

    def ln(self, odds: tuple[int, int]) -> float:
        """Their logarithm."""
        return log(odds[0]) - log(odds[1])

    def joint(self, values: Any) -> tuple[Fraction, Fraction]:
        """P(d, values) and P(d̄, values)."""
        rows = [self.rows[i][v] for i, v in values]
        return prod((p for p, _ in rows), start=self.prior), prod((q for _, q in rows), start=1 - self.prior)

    def measure(self, x: Any, y: Any, told: Any, marks: Any) -> tuple[bool, Fraction, Fraction]:
        """Whether a pattern has the numbers told of it; then its |degree| and P(xy)."""
        (a, b), (c, d) = self.joint(x + y), self.joint(y)
        if not a + b:
            return False, Fraction(0), Fraction(0)
        after, before = a / (a + b), c / (c + d)
        size = degree(self.criterion, after, before)
        numbers = {"favourable_given_pattern": after, "favourable_given_context": before}
        numbers |= {"degree": size, "probability": a + b}
        return all(number(told[name]) == value for name, value in numbers.items()), abs(size), a + b

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
        """Whether |degree| > δ, by the definition."""
        r = Fraction(*odds)
        after = Fraction(1) if k is None else r * k / (1 + r * k)
        return abs(degree(self.criterion, after, r / (1 + r))) > delta

    def settled(self, disclosed: Any, delta: Fraction) -> bool:
        """Whether the two extreme k over X show that no x over attributes of X exceeds δ in any context."""
        rows = [self.rows[i] for i in disclosed]
        if any(p * q == 0 for row in rows for p, q in row):
            return delta >= 1
        ends = [prod(pick(p / q for p, q in row) for row in rows) for pick in (min, max)]
        return all(self.ends(k, delta) is None for k in ends)


class Model:
    """The model of a certificate, whose attributes and values are known by their index."""

    def __init__(self, exact: Any, criterion: str, family: Any = NaiveBayes) -> None:
        self.work, self.odds, attributes = 0, family(exact, criterion), exact["attributes"]
        self.names, self.sizes = [a["name"] for a in attributes], [len(a["values"]) for a in attributes]
        self.where = {
            (a["name"], v): (i, j) for i, a in enumerate(attributes) for j, v in enumerate(a["values"])
        }
        self.sensitive, self.sound = [i for i, a in enumerate(attributes) if a["sensitive"]], self.odds.sound

    def is_empty(self, least: Fraction) -> bool:
        """Whether no sensitive value is disclosed by as many people as a minimum probability asks for."""
        values = ((i, v) for i in self.sensitive for v in range(self.sizes[i]))
        return least > 0 and all(sum(self.odds.joint([value])) < least for value in values)

    def measure(self, told: Any, marks: Any) -> tuple[bool, Fraction, Fraction]:
        """Whether a pattern is one and has the numbers told of it; then its |degree| and P(xy)."""
        parts = (told["sensitive_values"], told["context_values"])
        x, y = ([self.where.get(item, (-1, 0)) for item in part.items()] for part in parts)
        used = [i for i, _ in x + y]
        if -1 in used or len({*used}) < len(used) or not {i for i, _ in x} <= {*self.sensitive}:
            return False, Fraction(0), Fraction(0)
        found: tuple[bool, Fraction, Fraction] = self.odds.measure(x, y, told, marks)
        return found

    def sets(self) -> Iterator[tuple[int, ...]]:
        """The non-empty sets X of sensitive attributes."""
        return (x for n in range(len(self.sensitive)) for x in combinations(self.sensitive, n + 1))

    def spend(self, work: float) -> None:
        """Count the work done, a step counting for more where the model's numbers are long."""
        self.work += work * self.odds.weight
        if self.work > WORK_LIMIT:
            raise TimeoutError

    def products(self, attributes: list[int], start: Any) -> list[tuple[float, Any, int]]:
        """The odds over these attributes, sorted: (logarithm, odds, number of contexts)."""
        found = Counter([start])
        for factors in (self.odds.factors[i] for i in attributes):
            self.spend(2 * len(found) * (1 + len(factors)))
            longer = Counter(found)  # the contexts without this attribute
            for odds, factor in product(found, factors):
                longer[self.odds.times(odds, factor)] += found[odds]
            found = longer
            if len(found) > LIST_LIMIT:
                raise TimeoutError
        return sorted((self.odds.ln(odds), odds, contexts) for odds, contexts in found.items())

    def halves(self, disclosed: tuple[int, ...], strengths: int) -> Any:
        """The odds over two parts of the other attributes, of which the longer is sorted once."""
        free = sorted({*range(len(self.names))} - {*disclosed}, key=lambda i: -len(self.odds.factors[i]))
        contexts = prod(1 + len(self.odds.factors[i]) for i in free)
        halves: tuple[list[int], list[int]] = ([], [])
        size, goal = 1, min(LIST_LIMIT, isqrt(strengths * contexts))
        for i in free:
            longer = size * (1 + len(self.odds.factors[i]))
            halves[longer <= goal].append(i)
            size = longer if longer <= goal else size
        first, second = self.products(halves[0], self.odds.start), self.products(halves[1], self.odds.one)
        return first, second, [at for at, _, _ in second], [0, *accumulate(n for _, _, n in second)]

    def count(self, halves: Any, k: Any, threshold: Fraction) -> int:
        """In how many contexts |degree| is above a threshold."""
        ends, total, (first, second, logs, before) = self.odds.ends(k, threshold), 0, halves
        if ends is None:
            return 0
        for at, odds, contexts in first:
            # All from i to j can be inside; those from sure to end are, the others are too close to call.
            (low, high) = (ends[0] - at, ends[1] - at)
            i, sure = bisect_left(logs, low - CLOSE), bisect_right(logs, low + CLOSE)
            end, j = bisect_left(logs, high - CLOSE), bisect_right(logs, high + CLOSE)
            total += contexts * max(0, before[end] - before[sure])
            unsure = {*range(i, min(sure, j)), *range(max(i, end), j)}
            self.spend(1 + 20 * len(unsure))
            for index in unsure:
                if self.odds.exceeds(self.odds.times(odds, second[index][1]), k, threshold):
                    total += contexts * second[index][2]
        return total

    def above(self, threshold: Fraction, least: Fraction) -> Counter[tuple[int, ...]] | None:
        """How many patterns over each X have a |degree| above a threshold; None if that takes too long."""
        found, self.work = Counter[tuple[int, ...]](), 0
        try:
            if least:  # of those with P(xy) >= least, over any X
                return Counter({(): self.probable(threshold, least)})
            for disclosed in reversed([*self.sets()]):  # the most work first, so that too much of it shows
                self.spend(1_000)
                if not self.odds.settled(disclosed, threshold):
                    self.spend(prod(self.sizes[i] for i in disclosed))
                    strengths = self.odds.strengths(disclosed)
                    halves = self.halves(disclosed, len(strengths))
                    if self.work + len(strengths) * len(halves[0]) * self.odds.weight > WORK_LIMIT:
                        raise TimeoutError
                    found[disclosed] = sum(n * self.count(halves, k, threshold) for k, n in strengths.items())
        except TimeoutError:
            return Counter() if self.odds.settled(self.sensitive, threshold) else None
        return found

    def probable(self, threshold: Fraction, least: Fraction) -> int:
        """How many patterns with at least this P(xy) have a |degree| above a threshold; each is visited."""
        order, prior = (
            sorted(range(len(self.names)), key=lambda i: i not in self.sensitive),
            self.odds.joint([]),
        )
        found, stack = (
            0,
            [(0, False, *prior, *prior)],
        )  # attributes done, x ≠ ∅, P(d, xy), P(d̄, xy), the same of y
        while stack:
            i, disclosed, a, b, c, d = stack.pop()
            if a + b < least or (i == len(self.sensitive) and not disclosed):
                continue
            self.spend(4)
            if i == len(order):
                found += abs(degree(self.odds.criterion, a / (a + b), c / (c + d))) > threshold
                continue
            stack.append((i + 1, disclosed, a, b, c, d))
            for p, q in self.odds.rows[order[i]]:
                stack.append((i + 1, disclosed, a * p, b * q, c * p, d * q))
                if i < len(self.sensitive):
                    stack.append((i + 1, True, a * p, b * q, c, d))
        return found


def family_of(exact: Any) -> Any:
    """What odds are in a model; None for a scorecard whose arithmetic is not in this folder."""
    path = Path(__file__).with_name(SCORECARDS)
    if "family" not in exact:
        return NaiveBayes
    return run_path(str(path))["Scorecard"] if path.exists() else None


def claim(c: Any) -> dict[str, str]:
    """The claim in a sentence and as a formula, made again from the facts."""
    said = [c["model"]["name"], c["decision"]["favourable"], *(a["name"] for a in c["sensitive_attributes"])]
    model, favourable, *names = (json.dumps(name, ensure_ascii=False) for name in said)
    named = ", ".join(names if c["version"] > 1 else said[2:])
    verbs = {"delta-fair": ("never changes", "<="), "not-delta-fair": ("in some context changes", ">")}
    verb, sign = verbs.get(c["verdict"], ("may or may not change (this is not decided)", "<= or >"))
    ratio, delta, least = c["criterion"] == "ratio", c["delta"], c["min_probability"]
    sentence = (
        f"In the model {model}, disclosing one or more of the sensitive attributes ({named}) {verb} the "
    )
    sentence += f"probability of {favourable} by more than {delta}"
    sentence += (
        " of the larger of the probabilities before and after" * ratio + ", whatever else is disclosed"
    )
    formula = "max |P(d | xy) - P(d | y)|" + " / max(P(d | xy), P(d | y))" * ratio + f" {sign} {delta}"
    if least is not None:
        sentence += f", counting only what the share {least} of people or more have in common"
        formula += f", P(xy) >= {least}"
    return {"sentence": f"{sentence}.", "formula": formula}


def repaired(exact: Any, told: Any) -> bool:
    """Whether the digest of the model before a repair, and both log-likelihoods, follow from the counts."""
    prior, smoothing = number(exact["prior"]), number(told["smoothing"])
    weights, after = [[number(told["decision"][side]) for side in SIDES]], [[prior, 1 - prior]]
    for attribute, counts in zip(exact["attributes"], told["attributes"], strict=True):
        weights += [[number(n) + smoothing for n in counts[side]] for side in SIDES]
        after += [[number(p) for p in attribute[side]] for side in SIDES]
    before, sums = [[n / sum(row) for n in row] for row in weights], []
    texts = [list(map(str, row)) for row in before]
    rows = zip(exact["attributes"], texts[1::2], texts[2::2], strict=True)
    source = exact | {
        "prior": texts[0][0],
        "attributes": [a | dict(zip(SIDES, two, strict=True)) for a, *two in rows],
    }
    with localcontext(prec=150):
        for model in (before, after):
            terms = [
                (n, p) for row in zip(weights, model, strict=True) for n, p in zip(*row, strict=True) if n
            ]
            logs = (
                Decimal(n.numerator) / n.denominator * (Decimal(p.numerator) / p.denominator).ln()
                for n, p in terms
            )
            sums.append(f"{sum(logs):.6f}" if all(p for _, p in terms) else None)
    same = sums == [told["log_likelihood_before"], told["log_likelihood_after"]]
    return same and digest(source) == told["source_sha256"]


def examine(data: bytes, key: bytes | None, at: date) -> Iterator[tuple[str, bool | None, str]]:
    """All checks of a file's bytes: (name, whether it holds or None if that was not found out, detail)."""
    c, signed, keyid, sig = read(data)
    detail = f"the key {keyid} is named" if signed else "it is not signed"
    right = (
        key is not None and hashlib.sha256(PREFIX + key).hexdigest() == keyid and is_signed(signed, sig, key)
    )
    yield "signature", right if key else None, detail
    if key and not right:
        return  # whoever wrote the rest, it isn't worth the work
    same = c["id"] == digest({name: value for name, value in c.items() if name != "id"})[:32]
    yield "id", same, "the digest of all the rest"
    start, end, exact, words = c["valid_from"], c["expires"], c["model"]["exact"], claim(c)
    yield "dates", start <= at.isoformat() < end, f"valid from {start} until {end}, asked for {at}"
    yield "digest", digest(exact) == c["model"]["sha256"], "of the exact model"
    fixed = digest({name: c[name] for name in ("assumptions", "limits", "method")})
    yield "words", c["claim"] == words and fixed == FIXED_WORDS["family" in exact], words["formula"]
    delta, least, family = number(c["delta"]), number(c["min_probability"] or "0"), family_of(exact)
    if family is None:
        yield "model", None, f"a scorecard; put {SCORECARDS} beside this file"
        return
    model = Model(exact, c["criterion"], family)
    yield "model", model.sound, "probabilities that add up, and a population that conforms"
    if not model.sound:
        return
    decision = {"name": exact["decision"]} | {side: exact[side] for side in SIDES}
    marked = [a["name"] for a in exact["attributes"] if a["sensitive"]]
    same = c["decision"] == decision and [a["name"] for a in c["sensitive_attributes"]] == marked
    yield "scope", same, "decision and sensitive attributes are those of the model"
    if c["version"] > 1 and c["model"]["repair"]:
        yield (
            "repair",
            repaired(exact, c["model"]["repair"]),
            "the model before it and its price, by the counts",
        )

    lower, upper = number(c["max_degree"]["lower"]), number(c["max_degree"]["upper"])
    unit, exactly = Fraction(1, 10 ** max(12, len(c["delta"]) - 2)), c["max_degree"]["exact"]
    none = (c["verdict"] == "inconclusive" or model.is_empty(least), Fraction(0), least)
    marks = (lower, lower + unit, upper, delta)
    try:
        true, found, probability = model.measure(c["witness"], marks) if c["witness"] else none
    except TimeoutError:
        yield "witness", None, "its numbers are too close to call"
        return
    yield "witness", true and probability >= least, "its degree and probabilities"
    holds = lower <= found < lower + unit and found <= upper and lower % unit == upper % unit == 0
    if exactly is not None:
        holds = holds and found == number(exactly) and upper < found + unit
    beyond = model.above(upper if exactly is None else found, least)
    bounded = None if beyond is None else not beyond.total()
    yield "largest degree", holds and bounded, f"from {float(lower):.12f} to {float(upper):.12f}"
    patterns = model.above(delta, least)
    count = None if patterns is None else patterns.total()
    if c["pattern_count"] is not None:
        yield "count", None if count is None else int(c["pattern_count"]) == count, f"{count} patterns"
    total = prod(1 + m * (1 + (i in model.sensitive)) for i, m in enumerate(model.sizes)) - prod(
        1 + m for m in model.sizes
    )
    yield "total", int(c["total_patterns"]) == total, f"{total} pairs"
    if c["coverage"] is not None:
        holds, adding = len(c["coverage"]) == 2 ** len(model.sensitive) - 1, True
        for x, row in zip(model.sets(), c["coverage"], strict=False):
            pairs, closed = (
                prod(m + (i not in x) for i, m in enumerate(model.sizes)),
                row["method"] == "closed form",
            )
            lax = c["version"] == 1 and row["patterns"] == "0"  # then other bounds were called so too
            holds = (
                holds
                and (closed == model.odds.settled(x, delta) or (closed and lax))
                and int(row["pairs"]) == pairs
            )
            holds = holds and row["disclosed"] == [model.names[i] for i in x]
            adding = adding and patterns is not None and int(row["patterns"]) == patterns[x]
        yield "coverage", holds and (None if patterns is None else adding), "a row for each set of attributes"
    fair = upper <= delta and (None if count is None else count == 0)
    verdicts = {"delta-fair": fair, "not-delta-fair": found > delta, "inconclusive": found <= delta < upper}
    yield "verdict", verdicts[c["verdict"]], c["verdict"]


def main() -> int:
    """Print each check and a last line that sums them up."""
    parser = argparse.ArgumentParser(description="Check a certificate of δ-fairness.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--public-key", type=Path, help="PEM file of the key that must have signed it")
    parser.add_argument("--at", type=date.fromisoformat, default=datetime.now(UTC).date())
    given = parser.parse_args()
    try:
        with given.certificate.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
        key = public_key(given.public_key.read_bytes()) if given.public_key else None
        checks = list(examine(data, key, given.at))
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
