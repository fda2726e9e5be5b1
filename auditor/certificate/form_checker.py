"""What a certificate of δ-fairness can say, field by field: the closed form that checker.py reads it by.

Keep the two files in one folder. This one stands alone as that one does: Python 3.11, nothing else, and no
code of the software that issued the certificate. It recomputes nothing: `read` takes a file only if `auditor
certify` can have written it. Each field is known and has one spelling, no field contradicts another, and
nothing is so long that reading it would be unbounded work. All else is refused before anything is computed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import gcd, lcm
from typing import Any

SIDES, SCOPE = ("favourable", "unfavourable"), ("criterion", "delta", "min_probability")
# Nothing longer is looked at: bytes; characters of a name and a text; attributes, and values of each; values
# together; bits of the common denominator of an attribute's probabilities; characters of each attribute's
# longest probability together; days that a certificate holds; sensitive attributes whose sets are gone
# through; the exponent of a scorecard's odds.
FILE_LIMIT, NAME_LIMIT, TEXT_LIMIT, ATTRIBUTE_LIMIT, VALUE_LIMIT = 32 * 2**20, 500, 10_000, 1_000, 100_000
DENOMINATOR_LIMIT, MODEL_LIMIT, DAYS_LIMIT, LISTED_LIMIT, ODDS_LIMIT = 6_700, 10_000, 3_660, 12, 1_000
# What a certificate is made of. Each value has a form: another entry here, or one of PATTERNS, or what `is_a`
# knows. A form with ? may be null, a name with ? may be absent, and is never null. Version 1 differs: it says
# in words what changed, and knows no repairs.
FORMS = """{
"certificate": {"kind": "kind", "version": 2, "id": "id", "issued": "day", "valid_from": "day",
  "expires": "day", "supersedes": "supersedes?", "issuer": "name?", "responsible": "name?",
  "claim": {"sentence": "words", "formula": "words"}, "verdict": "verdict", "criterion": "criterion",
  "box?": "box", "delta": "decimal", "min_probability": "decimal?",
  "policy": {"sha256": "digest?", "overridden": "overridden"},
  "decision": {"name": "name", "favourable": "name", "unfavourable": "name"},
  "sensitive_attributes": [{"name": "name", "reason": "text?"}],
  "max_degree": {"exact": "fraction?", "lower": "decimal", "upper": "decimal"}, "witness": "witness?",
  "pattern_count": "count?", "pattern_count_reason": "uncounted?", "total_patterns": "count",
  "coverage": "coverage?", "inconclusive_reason": "undecided?", "assumptions": ["words"], "limits": ["words"],
  "method": {"search": "words", "arithmetic": "words"}, "platform": "text?",
  "tool": {"name": "tool", "version": "release"}, "model": "model"},
"model": {"name": "name", "sha256": "digest", "family": "family", "repair": "repair?", "exact": "exact",
  "provenance": "provenance"},
"provenance": {"description": "text?", "owner": "text?", "model_version": "text?", "data_source": "text?",
  "period": "text?", "rows": "count?"},
"exact": {"decision": "name", "favourable": "name", "unfavourable": "name", "prior": "share",
  "attributes": [{"name": "name", "sensitive": "flag", "values": ["name"],
    "favourable": ["share"], "unfavourable": ["share"]}]},
"scorecard": {"family": "scorecards", "decision": "name", "favourable": "name", "unfavourable": "name",
  "undisclosed": "undisclosed", "base": "base", "odds": "weight", "intercept": "score",
  "unfavourable_share": "part", "attributes": [{"name": "name", "sensitive": "flag", "values": ["name"],
    "weights": ["score"], "undisclosed": "score", "population": "parts"}]},
"part": "share", "parts": ["share"], "chance": "fraction",
"repair": {"method": "repairs", "source_sha256": "digest", "smoothing": "weight", "decision": {"favourable":
  "weight", "unfavourable": "weight"}, "attributes": [{"favourable": ["weight"], "unfavourable": ["weight"]}],
  "log_likelihood_before": "logarithm", "log_likelihood_after": "logarithm?",
  "proof?": {"sha256": "digest", "bound": "logarithm"}},
"repaired scorecard": {"source_sha256": "digest", "people": "people",
  "intercept": "score", "unfavourable_share": "share", "attributes": [{"weights": ["score"],
    "undisclosed": "score", "population": ["share"]}],
  "log_likelihood_before": "logarithm", "log_likelihood_after": "logarithm"},
"witness": {"sensitive_values": "labels", "context_values": "labels", "degree": "figure",
  "probability": "chance", "favourable_given_pattern": "figure", "favourable_given_context": "figure"},
"coverage": [{"disclosed": ["name"], "method": "decided", "pairs": "count", "patterns": "count"}],
"overridden": {"criterion": "criterion?", "delta": "decimal?", "min_probability": "decimal?",
  "sensitive": "names?", "valid_days": "count?", "issuer": "name?", "responsible": "name?"},
"supersedes": {"id": "id", "sha256": "digest", "verified_with": "digest?", "scope": {"decision": "name",
  "favourable": "name", "unfavourable": "name", "criterion": "criterion", "delta": "decimal",
  "min_probability": "decimal?", "sensitive": ["name"], "undisclosed?": "assumed"},
  "scope_change_reason": "text?"},
"names": ["name"], "figure": "fraction",
"other in version 1": {"version": 1, "delta": "given", "min_probability": "given?",
  "pattern_count_reason": "uncounted in version 1?",
  "policy": {"sha256": "digest?", "overridden": ["setting"]},
  "model": {"name": "name", "sha256": "digest", "exact": "exact", "provenance": "provenance"}},
"supersedes in version 1": {"id": "id", "sha256": "digest", "scope_changes": ["change"],
  "scope_change_reason": "text?"}}"""
PATTERNS = json.loads(
    r"""{"day": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "id": "[0-9a-f]{32}", "digest": "[0-9a-f]{64}",
"count": "0|[1-9][0-9]{0,3999}", "decimal": "0|1|0[.][0-9]{0,399}[1-9]",
"box": "1|0[.][0-9]{0,99}[1-9]",
"release": "((0|[1-9][0-9]{0,5})[.]){2}(0|[1-9][0-9]{0,5})",
"fraction": "(0|-?[1-9][0-9]{0,40000})(/[1-9][0-9]{0,40000})?", "logarithm": "-[0-9]{1,120}[.][0-9]{6}",
"share": "0|1|[1-9][0-9]{0,1999}/[1-9][0-9]{0,1999}", "weight": "(0|[1-9][0-9]{0,99})(/[1-9][0-9]{0,99})?",
"people": "[1-9][0-9]{0,99}",
"score": "(0|-?[1-9][0-9]{0,199})(/[1-9][0-9]{0,199})?", "rounded": "0|-?(1|0[.][0-9]{0,19}[1-9])",
"kind": "auditor/certificate", "tool": "auditor", "verdict": "delta-fair|not-delta-fair|inconclusive",
"criterion": "difference|ratio", "family": "naive-bayes|scorecard", "scorecards": "scorecard", "base": "e|2",
"undisclosed": "conforming|missing-bin|declared", "assumed": "missing-bin|declared",
"repairs": "fair|independent|independent-mean|unconstrained",
"decided": "closed form|exhausted|bounded",
"undecided": "the search reached a limit of time or memory before it was decided",
"uncounted": "not all patterns were counted within the limits of time and memory",
"given": "0|1([.]0{1,400})?|0[.](?!0*$)[0-9]{1,400}",
"setting": "criterion|delta|min_probability|sensitive|valid_days|issuer|responsible",
"uncounted in version 1": "patterns of a minimum probability are searched, not counted|more than [0-9,]+
 patterns lie within rounding of the threshold|there are [0-9.E+]+ combinations of sensitive values; at most
 [0-9,]+ are counted one by one|the time limit was reached before all patterns were counted",
"change": "(decision|(un)?favourable decision|criterion|delta|minimum probability): .+ became .+|sensitive
 attribute: .+ was (added|removed)"}""".replace("\n", "")
)
# SHA-256 of the assumptions, limits and method, which are the same in all certificates of a kind: of naive
# Bayes without a box and with one, and of scorecards by what an attribute counts that is not disclosed.
FIXED_WORDS = {
    None: "6d055ecd12e04b8ee2329708938a43387789d3cdb801da7bac745a91687f4515",
    "box": "1253cb8094e7be0d23333b90d19d1f6f59cc30c656e06f25692882b63e3795a8",
    "conforming": "82076c775c9cea9db57f0a9147c8c5008d1749700bc8b181627cc24e4a53c3f2",
    "missing-bin": "f9a96b6c5c9d28c2de7f6380c2295e98da2365e81943552e109c900be683883d",
    "declared": "c331d18a057eaf46cf81e223104842a1d967ffe4c2a99eb4bd91f2b3c781f78e",
}
# What the sentence says of it; nothing where a population is assumed.
MEANINGS = {"missing-bin": "counts as missing", "declared": "counts what is declared for it"}
# Signs that can't be seen, and letters that look like Latin ones: the eye must be able to tell names apart.
JOINERS = "\u200c\u200d"
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u2800\u3164\uffa0\ufffe\uffff"
HIDDEN = {*UNSEEN, "\U00016fe4", "\U0001d159"}
HIDDEN |= {*map(chr, [*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)])}
ALIKE = "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ", "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXovp"


def refuse(what: str) -> Any:
    """Say why this is no certificate."""
    raise ValueError(what)


def read_json(data: bytes) -> Any:
    """JSON without duplicate names, NaN, decimals or large integers: a text has one meaning."""

    def never(text: str) -> Any:
        refuse(f"a certificate can't have {text:.40}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a name twice in one object")

    if len(data) > FILE_LIMIT:
        refuse("larger than a certificate can be")
    hooks: Any = {"parse_constant": never, "parse_float": never, "object_pairs_hook": once}
    hooks["parse_int"] = lambda text: int(text) if len(text) < 10 else never(text)
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
    """Whether a value has a form that has no parts: a number, one of a few words, or text of a kind."""
    if form == "null":
        return value is None
    if form == "flag" or type(form) is int:
        return type(value) is bool if form == "flag" else type(value) is int and value == form
    if form == "labels":
        pairs = value.items() if type(value) is dict and len(value) <= ATTRIBUTE_LIMIT else [(None, None)]
        return all(is_a(name, "name") for pair in pairs for name in pair)
    if type(value) is not str or form == "words":  # without halves of letters, which no file can hold
        return type(value) is str and not re.search("[\ud800-\udfff]", value)
    if form == "name":  # in the one normal form of its letters
        return is_text(value, NAME_LIMIT, JOINERS) and unicodedata.normalize("NFC", value) == value
    if form == "text":
        return is_text(value, TEXT_LIMIT, JOINERS + "\n\t")
    if form == "change" and not is_text(value, TEXT_LIMIT, JOINERS):  # of which each name is on one line
        return False
    if not re.fullmatch(PATTERNS[form], value) or (form == "day" and not date.fromisoformat(value)):
        return False
    above, _, below = value.partition("/") if form != "kind" else (value, "", "")
    # A fraction is in lowest terms.
    return not below or (below != "1" and gcd(int(Decimal(above)), int(Decimal(below))) == 1)


def fit(value: Any, form: Any, forms: Any, place: str = "") -> None:
    """Refuse a value that hasn't a form."""
    if type(form) is str:
        if value is None and form[-1] == "?":
            return
        form = forms.get(form.rstrip("?"), form.rstrip("?"))
    parts = {}
    if type(form) is dict and type(value) is dict:
        present = (name for name in form if name[-1] != "?" or name[:-1] in value)
        parts = {name.rstrip("?"): form[name] for name in present}
    if parts and value.keys() == parts.keys():
        for name, part in value.items():
            fit(part, parts[name], forms, f"{place}.{name}")
    elif type(form) is list and type(value) is list and len(value) <= VALUE_LIMIT:
        for part in value:
            fit(part, form[0], forms, f"{place}[]")
    elif type(form) in (dict, list) or not is_a(value, form):
        refuse(f"{place[1:] or 'the whole'} is not written as in a certificate")


def read(data: bytes) -> tuple[Any, bytes, str, bytes]:
    """Certificate, signed bytes, key id and signature of a file that `auditor certify` can have written."""
    c, signed, keyid, sig, kind = read_json(data), b"", "", b"", "application/vnd.in-toto+json"
    forms, sealed = json.loads(FORMS), "payload" in c
    if sealed:
        payload, keyid = base64.b64decode(c["payload"]), c["signatures"][0]["keyid"]
        sig, c = base64.b64decode(c["signatures"][0]["sig"]), read_json(payload)["predicate"]
        signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    if c["version"] == 1:
        forms["certificate"] |= forms["other in version 1"]
        del forms["certificate"]["box?"]
        forms["supersedes"] = forms["supersedes in version 1"]
    elif c["model"]["family"] == "scorecard":
        forms |= {"exact": forms["scorecard"], "repair": forms["repaired scorecard"]}
        forms |= {"figure": "rounded", "chance": "rounded"}
        if c["model"]["exact"]["undisclosed"] in MEANINGS:  # then no population is assumed
            forms |= {"part": "null", "parts": "null", "chance": "null", "repair": "null"}
    fit(c, "certificate", forms)
    if sealed:  # one envelope can be written in many ways; only one is accepted, so that no byte is loose
        subject = [{"name": c["model"]["name"], "digest": {"sha256": c["model"]["sha256"]}}]
        about = {"_type": "https://in-toto.io/Statement/v1", "subject": subject, "predicate": c}
        about["predicateType"] = f"urn:auditor:certificate:v{c['version']}"
        texts = [base64.b64encode(part).decode() for part in (canonical(about).encode(), sig)]
        whole = {"payload": texts[0], "payloadType": kind, "signatures": [{"keyid": keyid, "sig": texts[1]}]}
        if (canonical(whole) + "\n").encode() != data or len(sig) != 64 or not is_a(keyid, "digest"):
            refuse("the envelope is not written as that of a certificate")
    for problem, holds in (*relations(c), *history(c)):
        if not holds:
            refuse(problem)
    return c, signed, keyid, sig


def source(c: Any) -> Any:
    """The scorecard before a repair: the certified one, with the numbers that it had."""
    exact, told = c["model"]["exact"], c["model"]["repair"]
    attributes = [a | t for a, t in zip(exact["attributes"], told["attributes"], strict=True)]
    return exact | {n: told[n] for n in ("intercept", "unfavourable_share")} | {"attributes": attributes}


def parameters(exact: Any) -> Iterator[tuple[str, bool]]:
    """The same of the numbers of a model."""
    attributes, scored = exact["attributes"], "family" in exact
    pairs = ("weights", "population") if scored else SIDES
    columns = [[a[pairs[0]], a[pairs[0]] if a[pairs[1]] is None else a[pairs[1]]] for a in attributes]
    sizes = [[len(a["values"]), *map(len, two)] for a, two in zip(attributes, columns, strict=True)]
    yield "no or too many attributes", 0 < len(attributes) <= ATTRIBUTE_LIMIT
    yield "too many values", sum(m for m, _, _ in sizes) <= VALUE_LIMIT
    yield "too few or many values", all(2 - scored <= m == n == o <= ATTRIBUTE_LIMIT for m, n, o in sizes)
    rows = [row for two in columns for row in two]
    if scored:
        scores = [[exact["intercept"]], *([a["undisclosed"], *a["weights"]] for a in attributes)]
        rows.append([w for row in scores for w in row])
        widest = sum(max(abs(number(w)) for w in row) for row in scores)
        yield "a scorecard with log-odds too large", widest <= ODDS_LIMIT
    longest = sum(max(len(p) for row in two for p in row) for two in columns)
    common = (d for row in rows for d in accumulate((number(p).denominator for p in row), lcm))
    short = longest <= MODEL_LIMIT and all(d.bit_length() <= DENOMINATOR_LIMIT for d in common)
    yield "numbers with too many digits", short


def relations(c: Any) -> Iterator[tuple[str, bool]]:
    """What is so between the fields of every certificate: what is wrong if it isn't, and whether it is."""
    exact, sensitive = c["model"]["exact"], [a["name"] for a in c["sensitive_attributes"]]
    attributes, scored, first = exact["attributes"], "family" in exact, c["version"] == 1
    yield "no sensitive attributes", sensitive != []
    yield from parameters(exact)
    if scored:
        likely = c["min_probability"] is None or exact["unfavourable_share"] is not None
        yield "what no certificate of a scorecard has", likely and c["max_degree"]["exact"] is None
    if scored and c["model"]["repair"]:
        yield from parameters(source(c))
        people = c["model"]["provenance"]["rows"]
        told = "1000" if people in (None, "0") else people
        yield "another number of people than are named", c["model"]["repair"]["people"] == told
    groups = [[exact["decision"], *(a["name"] for a in attributes)], [exact[side] for side in SIDES]]
    groups += [a["values"] for a in attributes]
    yield "two names that could be confused", all(map(differ, groups))
    quoted, listed = c["model"]["name"] + exact["favourable"], "".join(sensitive)
    loose = {*'"\\'} & {*quoted} or {*'",()'} & {*listed}
    yield "names that make its sentence ambiguous", not (first and loose)
    yield "a minimum probability of 0, which is none", first or c["min_probability"] != "0"
    if "box" in c:
        fair = c["verdict"] == "delta-fair" and c["min_probability"] is None
        yield "a box that no certificate has", fair and not scored
    if not first and "proof" in (c["model"]["repair"] or {}):
        told, proved = c["model"]["repair"], number(c["model"]["repair"]["proof"]["bound"])
        of = (told["method"], c["verdict"], c["criterion"], c["min_probability"])
        yield "a proof of another kind", of == ("fair", "delta-fair", "difference", None)
        known = told["log_likelihood_after"]
        yield "a bound below the model itself", known is not None and number(known) <= proved
    count, undecided, witness = c["pattern_count"], c["verdict"] == "inconclusive", c["witness"]
    yield "a count and a reason why not, or neither", (count is None) != (c["pattern_count_reason"] is None)
    yield "a reason that doesn't apply, or none", undecided == (c["inconclusive_reason"] is not None)
    yield "a proved number in an undecided one", not undecided or count is c["max_degree"]["exact"] is None
    yield "patterns in a δ-fair model", c["verdict"] != "delta-fair" or count == "0"
    covered = count is not None and c["min_probability"] is None and len(sensitive) <= LISTED_LIMIT
    yield "coverage of no count, or none of one", covered == (c["coverage"] is not None)
    disclosed = [row["disclosed"] for row in c["coverage"] or []]
    bounded = {row["patterns"] for row in c["coverage"] or [] if row["method"] == "bounded"}
    shown = not bounded or (bounded == {"0"} and (first or c["verdict"] == "delta-fair"))
    yield "patterns where a bound shows that there are none", shown
    yield (
        "a pattern without sensitive attributes",
        all(disclosed) and (not witness or witness["sensitive_values"]),
    )


def history(c: Any) -> Iterator[tuple[str, bool]]:
    """The same of what is said of dates, a policy and the certificate before."""
    days = (date.fromisoformat(c["expires"]) - date.fromisoformat(c["valid_from"])).days
    yield "dates in a wrong order", c["issued"] <= c["valid_from"] and 0 < days <= DAYS_LIMIT
    now = {
        "sensitive": sorted(a["name"] for a in c["sensitive_attributes"]),
        "decision": c["decision"]["name"],
    }
    now |= {side: c["decision"][side] for side in SIDES} | {name: c[name] for name in SCOPE}
    old = c["supersedes"] or {"scope": now, "scope_changes": [], "scope_change_reason": None}
    if c["version"] == 1:
        said = old["scope_changes"]
        ends = tuple(f" became {value or 'none'}" for name, value in now.items() if name != "sensitive")
        named = [line[21:].rsplit(" was ", 1) for line in said if not line.endswith(ends)]
        true = all((name in now["sensitive"]) == (verb == "added") for name, verb in named)
    else:
        meaning = c["model"]["exact"].get("undisclosed")
        now["undisclosed"] = meaning if meaning in MEANINGS else None
        said = [name for name in now if (old["scope"].get(name)) != now[name]]
        now |= {"valid_days": str(days), "issuer": c["issuer"], "responsible": c["responsible"]}
        policy = {name: value for name, value in c["policy"]["overridden"].items() if value is not None}
        true = all(value != now[name] for name, value in policy.items())
        true = true and (now["min_probability"] is not None or policy.get("min_probability") != "0")
        true = true and (c["policy"]["sha256"] is not None or not policy)
        true = true and 0 < int(policy.get("valid_days", "1")) <= DAYS_LIMIT
        scope = old["scope"]
        lists = (scope["sensitive"], policy.get("sensitive", ["one"]))
        true = true and all(names == sorted({*names}) != [] for names in lists)
        names = [scope["decision"], *scope["sensitive"]], [scope[side] for side in SIDES]
        yield "a scope that no certificate has", all(map(differ, names)) and scope["min_probability"] != "0"
    yield "a change that isn't one", true
    yield "a reason for no change, or none for one", bool(said) == (old["scope_change_reason"] is not None)


def claim(c: Any) -> dict[str, str]:
    """The claim in a sentence and as a formula, made again from the facts."""
    said = [c["model"]["name"], c["decision"]["favourable"], *(a["name"] for a in c["sensitive_attributes"])]
    model, favourable, *names = (json.dumps(name, ensure_ascii=False) for name in said)
    named = ", ".join(names if c["version"] > 1 else said[2:])
    verbs = {"delta-fair": ("never changes", "<="), "not-delta-fair": ("in some context changes", ">")}
    verb, sign = verbs.get(c["verdict"], ("may or may not change (this is not decided)", "<= or >"))
    ratio, delta, least = c["criterion"] == "ratio", c["delta"], c["min_probability"]
    beyond = f"{delta} of the larger of the probabilities before and after" if ratio else delta
    sentence = f"In the model {model}, disclosing one or more of the sensitive attributes ({named}) {verb} "
    sentence += f"the probability of {favourable} by more than {beyond}, whatever else is disclosed"
    if (meaning := c["model"]["exact"].get("undisclosed")) in MEANINGS:
        sentence += f", where an attribute that is not disclosed {MEANINGS[meaning]}"
    formula = "max |P(d | xy) - P(d | y)|" + " / max(P(d | xy), P(d | y))" * ratio + f" {sign} {delta}"
    if least is not None:
        sentence += f", counting only what the share {least} of people or more have in common"
        formula += f", P(xy) >= {least}"
    if "box" in c:
        factor = f"(1 + {c['box']})"
        sentence += "; the same holds for every model whose probabilities are each at most 1 + "
        sentence += f"{c['box']} times larger or smaller than its own"
        formula += f", for every P with P0 / {factor} <= P <= P0 {factor}"
    return {"sentence": f"{sentence}.", "formula": formula}
