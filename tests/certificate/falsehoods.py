"""Altered certificates, signed again with the right key, and what is true of them by enumeration.

Each is put to `verify` and to the checker in a process of its own. Whatever passes must be true, and both
must say the same unless one of them left something undecided.
``python -m tests.certificate.falsehoods 20000`` tries so many.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import rfc8785

from auditor.certificate.claims import assumptions
from auditor.certificate.claims import limits as limits_of
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.scope import scope_of
from auditor.certificate.verifying import Against, verify
from auditor.documents.certificate import ProofFacts, Supersedes
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.search.limits import Limits
from auditor.usecases.auditing import repair
from auditor.usecases.proving import prove_repair
from tests.certificate.cards import (
    WITNESS_PLACES,
    assuming_nobody,
    card,
    conformed,
    conforms,
    enumerated,
    rounded,
    whole_card,
)
from tests.certificate.making import (
    AGAINST,
    CHECKER,
    DAY,
    at,
    envelope,
    leaves,
    made,
    public_pem,
    put,
    renamed,
    version_1,
)
from tests.oracle import BruteForce, CriterionName, Pair, PlainAttribute, PlainModel, Values, subsets

Content = dict[str, Any]
#: The checker, in a process of its own: from certificate, proof, and whether the key is given, to exit code
#: and last line.
Check = Callable[[bytes, bytes | None, bool], tuple[int, str]]
#: The script of pages: what it says of each check of a certificate's bytes with a key.
Prove = Callable[..., dict[str, bool | None]]
EXITS = {"holds": 0, "contents hold": 0, "does not hold": 1, "undecided": 4}
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
#: Certificates of one model that are tried: as it is, and altered.
PER_MODEL = 10
SIDES = ("favourable", "unfavourable")
#: Of boxes.
SIZES = ("0.001", "0.01", "0.05", "0.2", "1")
#: SHA-256 of the assumptions, limits and method of each family.
FIXED_WORDS = {
    "naive-bayes": "6d055ecd12e04b8ee2329708938a43387789d3cdb801da7bac745a91687f4515",
    "conforming": "82076c775c9cea9db57f0a9147c8c5008d1749700bc8b181627cc24e4a53c3f2",
    "missing-bin": "f9a96b6c5c9d28c2de7f6380c2295e98da2365e81943552e109c900be683883d",
    "declared": "c331d18a057eaf46cf81e223104842a1d967ffe4c2a99eb4bd91f2b3c781f78e",
    "box": "1253cb8094e7be0d23333b90d19d1f6f59cc30c656e06f25692882b63e3795a8",
}
#: Proofs of repairs by the digests of their files, as they were made; no other holds here.
PROOFS: dict[str, bytes] = {}

#: The checker's `main` for one path after another.
DRIVER = """
import contextlib, importlib.util, io, sys
spec = importlib.util.spec_from_file_location("checker", sys.argv[1])
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
for line in sys.stdin:
    sys.argv = ["checker", *line.rstrip("\\n").split("\\t")]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = checker.main()
    print(code, out.getvalue().splitlines()[-1], flush=True)
"""


@contextmanager
def running_checker() -> Iterator[Check]:
    """The checker in one process that lives on: from a file's bytes to its exit code and last line.

    The second bytes are those of a proof.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, key, other = (Path(folder, name) for name in ("cert.json", "key.pem", "proof.json"))
        key.write_bytes(public_pem())
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", DRIVER, CHECKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            requests, answers = process.stdin, process.stdout

            def check(data: bytes, proof: bytes | None, keyed: bool) -> tuple[int, str]:
                file.write_bytes(data)
                if proof is not None:
                    other.write_bytes(proof)
                given = f"\t--proof\t{other}" if proof is not None else ""
                given += f"\t--public-key\t{key}" if keyed else ""
                requests.write(f"{file}\t--at\t{DAY}{given}\n")
                requests.flush()
                code, _, line = answers.readline().partition(" ")
                return int(code), line

            yield check
            requests.close()


def proof_for(content: Content) -> bytes | None:
    """The proof that a certificate names, if there is one."""
    told = content["model"].get("repair")
    named = told.get("proof") if isinstance(told, dict) else None
    return PROOFS.get(str(named.get("sha256"))) if isinstance(named, dict) else None


def by_verify(data: bytes, keyed: bool) -> tuple[int, str]:
    """The exit code of `auditor verify`, with the key or without, and the checks that failed."""
    against = AGAINST if keyed else Against(DAY)
    try:
        found = verify(open_certificate(data, "cert.json"), replace(against, proofs=PROOFS))
    except InputError as error:
        return 3, str(error)
    return EXITS[found.result], ", ".join(c.name for c in found.checks if c.outcome != "passed")


# Certificates of random models

NAMES = ("sex", "race", 'a "b', "x, y", "Alter", "é", "grünes Feld", "sexe", "B")


def random_tree(random: Random) -> Content:
    """A small model by counts or likelihoods, with zeros, equal rows and names that need quotation marks."""
    names = random.sample(NAMES, len(NAMES))
    attributes: list[Content] = []
    smoothing = random.choice([0, 1, 1])
    for i in range(random.choice([1, 2, 2, 3, 3, 4])):
        size = random.choice([2, 2, 2, 3])
        columns = [[random.choice([1, 2, 3, 5, 8, 20]) for _ in range(size)] for _ in SIDES]
        if random.random() < 0.2:
            columns[1] = list(columns[0])
        if random.random() < 0.3:
            columns[random.randrange(2)][random.randrange(size)] = 0
        attributes.append(
            {
                "name": names[i],
                "sensitive": i == 0 or random.random() < 0.4,
                "values": [f"{names[i]} {v}" if random.random() < 0.5 else f"v{v}" for v in range(size)],
                "counts": dict(zip(SIDES, columns, strict=True)),
            }
        )
    total = 10 + max(sum(a["counts"][side]) for a in attributes for side in SIDES)
    return {
        "kind": "auditor/model",
        "version": 1,
        "name": random.choice(["M", 'the "best"', "Modèle"]),
        "decision": {
            "name": "decision",
            "favourable": random.choice(["yes", "oui", 'say "x"']),
            "unfavourable": "no",
            "counts": {"favourable": total, "unfavourable": total + random.randint(0, 30)},
        },
        "smoothing": smoothing,
        "attributes": attributes,
    }


def as_repaired(tree: Content, random: Random) -> Content:
    """The model as if it had been repaired: other probabilities beside the same counts."""
    content = copy.deepcopy(tree)
    content["decision"]["prior"] = Decimal(random.randint(20, 80)) / 100
    for attribute in content["attributes"]:
        rows = {}
        for side in SIDES:
            first = [Decimal(random.randint(1, 30)) / 100 for _ in attribute["values"][1:]]
            rows[side] = [*first, 1 - sum(first)]
        attribute["likelihood"] = rows
    content["repair"] = {
        "method": "fair",
        "delta": Decimal("0.1"),
        "criterion": "difference",
        "solver": "SLSQP",
        "rounds": 1,
        "constraints": 1,
        "log_likelihoods": {},
        "source_sha256": ModelSpec.model_validate(tree).naive_bayes().sha256(),
    }
    return content


def proved(random: Random, delta: str) -> tuple[ModelSpec, ModelSpec, ProofFacts] | None:
    """A model, its repair, and what is proved of all repairs; None where there was nothing to repair."""
    source = ModelSpec.model_validate(random_tree(random))
    # With zero counts it might never come near enough; what is open then is in the proof.
    repaired, proof = prove_repair(source, repair(source, delta), time_limit=2)
    if not isinstance(repaired.model, ModelSpec) or repaired.model.repair is None:
        return None
    data = to_json(proof).encode()
    found = hashlib.sha256(data).hexdigest()
    PROOFS[found] = data
    return source, repaired.model, ProofFacts(sha256=found, bound=proof.bound)


def as_repaired_card(source: ScorecardSpec, random: Random) -> ScorecardSpec:
    """The card as if it had been repaired: other numbers, with what they were beside them."""
    tree = source.model_dump()
    unit = "points" if source.scale else "weight"
    for attribute in tree["attributes"]:
        for value in attribute["values"]:
            if random.random() < 0.5:
                value["before"], value[unit] = value[unit], value[unit] + random.choice([-1, 1])
    tree["repair"] = {
        "delta": Decimal("0.1"),
        "criterion": "difference",
        "solver": "interior",
        "rounds": 1,
        "constraints": 1,
        "log_likelihoods": {},
        "source_sha256": source.classifier().sha256(),
    }
    return ScorecardSpec.model_validate(tree)


def random_card(random: Random) -> ScorecardSpec:
    """A small scorecard; half of them have rational odds, and so degrees that a threshold can equal."""
    names = random.sample(NAMES, random.choice([1, 2, 2, 3, 3]))
    if random.random() < 0.5:
        spec = whole_card(random, names)
    else:
        spec = card(random, points=random.random() < 0.5, names=names)
    return assuming_nobody(spec, random) if random.random() < 0.4 else spec


def random_certificate(random: Random, scored: bool | None = None) -> Content:
    """What `certify` writes of a random model, of either version, and of either family unless it is said."""
    scored = random.random() < 0.5 if scored is None else scored
    limits = Limits(expired=lambda: True) if random.random() < 0.1 else Limits()
    wishes: dict[str, Any] = {"criterion": random.choice(["difference", "ratio"])}
    if random.random() < 0.3:
        wishes |= {"issuer": "Example Bank", "responsible": "A. Person"}
    delta = random.choice(["0", "0.01", "0.05", "0.1", "0.15", "0.2", "0.3", "0.5", "1", "0.123456789012345"])
    spec: ModelSpec | ScorecardSpec
    source: ModelSpec | ScorecardSpec | None = None
    more: dict[str, Any] = {}
    if scored:
        spec = random_card(random)
        if random.random() < 0.3:
            source = card(random, points=random.random() < 0.5)
            spec = as_repaired_card(source, random)
        content = tree(made(delta, spec, limits=limits, **wishes))
        pairs = brute(content).pairs
        if content["model"]["exact"]["unfavourable_share"] is not None and random.random() < 0.4:
            tied = sorted({p.probability for p in pairs if not 10**30 % p.probability.denominator})
            likely = plain_decimal(random.choice(tied)) if tied and random.random() < 0.5 else None
            wishes["min_probability"] = likely or random.choice(["0.5", "0.1", "0.05", "0.01", "0.9"])
        sizes = {pair.size for pair in pairs}
        short = sorted(size for size in sizes if not (10**9 * size).denominator > 1)
        if short and random.random() < 0.6:
            delta = plain_decimal(random.choice(short))
    else:
        model = random_tree(random)
        spec = ModelSpec.model_validate(model)
        if random.random() < 0.2:
            source, spec = spec, ModelSpec.model_validate(as_repaired(model, random))
        kind = random.random()
        if kind < 0.1 and (found := proved(random, delta := random.choice(["0.05", "0.1", "0.15"]))):
            source, spec, more["proof"] = found
            wishes["criterion"] = "difference"
        elif kind < 0.4:
            delta, more["box"] = random.choice(["0.15", "0.3", "0.5", "0.8"]), random.choice(SIZES)
        elif kind < 0.8:
            wishes["min_probability"] = random.choice(["0.5", "0.1", "0.05", "0.01", "0.9", "0.0001"])
    try:
        certificate = made(delta, spec, source=source, limits=limits, **more, **wishes)
    except InputError:
        # Not every model in the box is fair, there was no time to find out, or no pattern is so probable.
        more = {}
        wishes.pop("min_probability", None)
        certificate = made(delta, spec, source=source, limits=limits, **wishes)
    said = [certificate.model.name, certificate.decision.favourable, *(a.name for a in spec.attributes)]
    if not scored and not more and random.random() < 0.4 and not set('",') & set("".join(said)):
        return version_1(certificate)
    if random.random() < 0.3:
        before = scope_of(certificate)
        changed = random.random() < 0.5
        if changed:
            other = random.choice([None, "declared", "missing-bin"]) if scored else None
            before = before.model_copy(update={"delta": "0.07", "undisclosed": other})
        supersedes = Supersedes(
            id="0" * 32,
            sha256="1" * 64,
            verified_with=random.choice([None, "2" * 64]),
            scope=before,
            scope_change_reason="agreed" if changed else None,
        )
        certificate = made(delta, spec, source=source, limits=limits, supersedes=supersedes, **more, **wishes)
    return tree(certificate)


# Edits


def near(value: Any, random: Random) -> Any:
    """A near spelling of a value, or a near value."""
    if isinstance(value, bool):
        return random.choice([not value, int(value), str(value).lower(), None])
    if isinstance(value, int):
        return random.choice([value + 1, str(value), True, value - 1])
    if value is None:
        return random.choice(["", "none", "0", [], False, "x"])
    if not isinstance(value, str):
        return random.choice([None, "", [], {}])
    spellings = [
        f" {value}", f"{value} ", f"+{value}", f"0{value}", f"{value}0", f"{value}.0", f"{value}/1",
        f"{value}e0", value.upper(), value.lower(), value[:-1], value + "\u200b", value + "\u00ad",
        value + value[-1:],
        unicodedata.normalize("NFD", value), value.replace("a", "а"), value.replace("0.", "."), f"-{value}",
        value.replace("e", "\u0435"), value.translate(FULL_WIDTH), "", "\u2800",
    ]  # fmt: skip
    if re.fullmatch("-?[0-9]+(/[0-9]+)?", value):
        number = Fraction(value)
        spellings += [str(number + 1), str(-number), f"{2 * number.numerator}/{2 * number.denominator}"]
        spellings += [str(number / 2), "0", str(float(number))]
    if re.fullmatch(r"[01](\.[0-9]+)?", value):
        number = Fraction(value)
        spellings += [str(number), f"{float(number):.3f}", f"{float(number):e}", "0", "1", "0.5", value + "1"]
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        spellings += [
            "2026-02-30",
            "20261127",
            "2026-W48-5",
            "2026-11-28",
            "2031-01-01",
            "2100-01-01",
            "1999-01-01",
        ]
    return random.choice(spellings)


def edited(content: Content, donors: list[Content], random: Random) -> Content:
    """A certificate with one thing changed."""
    changed = copy.deepcopy(content)
    places = list(leaves(content))
    # The claims rather than the many numbers of the model.
    near_top = [place for place in places if place[0] != "model"]
    place = random.choice(near_top if random.random() < 0.8 else places)
    kind = random.random()
    if kind < 0.25:
        return put(changed, place, near(at(content, place), random))
    if kind < 0.5:
        donor = random.choice(donors)
        part = place[: random.randint(1, len(place))]
        try:
            return put(changed, part, copy.deepcopy(at(donor, part)))
        except (KeyError, IndexError, TypeError):
            return changed
    if kind < 0.6:
        owner = at(changed, place[:-1])
        if isinstance(owner, dict):
            if random.random() < 0.5:
                del owner[place[-1]]
            else:
                owner[random.choice(["note", "more", "comment"])] = "x"
        elif random.random() < 0.5:
            owner.append(copy.deepcopy(owner[-1]))
        else:
            owner.pop(random.randrange(len(owner)))
        return changed
    return random.choice(CLAIMS)(changed, random)


def _flip(content: Content, random: Random) -> Content:
    return content | {"verdict": random.choice(["delta-fair", "not-delta-fair", "inconclusive"])}


def _count(content: Content, random: Random) -> Content:
    told = content["pattern_count"]
    value = random.choice([None, "0", "1", str(max(0, int(told or 0) + random.choice([-1, 1, 2])))])
    reasons = [
        content["pattern_count_reason"],
        None,
        "not all patterns were counted within the limits of time and memory",
    ]
    return content | {
        "pattern_count": value,
        "pattern_count_reason": reasons[2] if value is None else random.choice(reasons),
    }


def _delta(content: Content, random: Random) -> Content:
    return content | {
        "delta": random.choice(["0", "0.001", "0.04", "0.09", "0.1", "0.25", "0.7", "0.9", "1"])
    }


def _criterion(content: Content, random: Random) -> Content:
    other = {"difference": "ratio", "ratio": "difference"}[content["criterion"]]
    return content | {"criterion": random.choice([other, other, "Difference", "parity"])}


def _least(content: Content, random: Random) -> Content:
    return content | {"min_probability": random.choice([None, "0", "0.001", "0.02", "0.2", "0.99", "1"])}


def _witness(content: Content, random: Random) -> Content:
    """Another pair with its true numbers, and the largest degree by it."""
    pairs = brute(content).pairs
    return _with(content, random.choice(pairs), random.random() < 0.8)


def _largest(content: Content, random: Random) -> Content:
    """Another upper bound, or exact or not."""
    top = dict(content["max_degree"])
    if random.random() < 0.5:
        top["exact"] = None if top["exact"] else str(Fraction(top["lower"]))
    else:
        side = random.choice(["lower", "upper"])
        moved = Fraction(top[side]) + random.choice([-1, 1]) * Fraction(
            random.choice([1, 10**6, 10**9, 10**11]), 10**12
        )
        top[side] = plain_decimal(max(Fraction(0), min(Fraction(1), moved)))
    return content | {"max_degree": top}


def _coverage(content: Content, random: Random) -> Content:
    rows = copy.deepcopy(content["coverage"] or [])
    if not rows:
        return content | {"coverage": random.choice([[], None])}
    row = random.choice(rows)
    match random.randrange(5):
        case 0:
            row["method"] = random.choice(["closed form", "exhausted", "bounded", "by an angel"])
        case 1:
            other = random.choice(rows)
            row["patterns"], other["patterns"] = other["patterns"], row["patterns"]
        case 2:
            rows = random.choice([None, [], rows[:-1], rows[::-1]])
        case 3:
            row["pairs"] = str(int(row["pairs"]) + 1)
        case 4:
            row["patterns"] = str(int(row["patterns"]) + 1)
    return content | {"coverage": rows}


def _sensitive(content: Content, random: Random) -> Content:
    """Another attribute is sensitive, in the model and in the list of those, or in one of them."""
    changed = copy.deepcopy(content)
    attribute = random.choice(changed["model"]["exact"]["attributes"])
    attribute["sensitive"] = not attribute["sensitive"]
    if random.random() < 0.7:
        changed["sensitive_attributes"] = [
            {"name": a["name"], "reason": None}
            for a in changed["model"]["exact"]["attributes"]
            if a["sensitive"]
        ]
    return changed


def _decision(content: Content, random: Random) -> Content:
    changed = copy.deepcopy(content)
    for part in (changed["decision"], changed["model"]["exact"])[: random.randint(1, 2)]:
        part["favourable"], part["unfavourable"] = part["unfavourable"], part["favourable"]
    return changed


def _history(content: Content, random: Random) -> Content:
    changed = copy.deepcopy(content)
    if changed["version"] == 1:
        changed["policy"]["overridden"] = random.choice([["delta"], ["x"], []])
        lines = [
            "delta: 0.2 became 0.1",
            f"delta: 0.07 became {content['delta']}",
            "sensitive attribute: q was removed",
        ]
        changed["supersedes"] = {
            "id": "0" * 32, "sha256": "0" * 64, "scope_changes": random.sample(lines, random.randint(0, 2)),
            "scope_change_reason": random.choice([None, "agreed", " "]),
        }  # fmt: skip
        return changed
    changed["policy"]["sha256"] = random.choice([None, "3" * 64])
    name = random.choice(list(changed["policy"]["overridden"]))
    values = {"sensitive": ["q"], "criterion": "ratio", "valid_days": "7"}
    changed["policy"]["overridden"][name] = random.choice([None, values.get(name, "0.03"), content.get(name)])
    if changed["supersedes"]:
        scope = changed["supersedes"]["scope"]
        name = random.choice(list(scope))
        scope[name] = random.choice([scope[name], values.get(name, "0.03"), None])
        changed["supersedes"]["scope_change_reason"] = random.choice([None, "agreed", " ", "\u2800"])
    return changed


def _repair(content: Content, random: Random) -> Content:
    changed = copy.deepcopy(content)
    repair = changed["model"].get("repair")
    if not repair:
        return changed
    if "people" in repair:
        return _repaired_card(changed, random)
    match random.randrange(6):
        case 0:
            changed["model"]["repair"] = None
        case 1:
            repair["source_sha256"] = random.choice(["0" * 64, changed["model"]["sha256"]])
        case 2:
            name = random.choice(["log_likelihood_before", "log_likelihood_after"])
            repair[name] = random.choice([None, "-1.000000", "-1.0", repair["log_likelihood_before"]])
        case 3:
            repair["attributes"][0]["favourable"][0] = random.choice(["0", "1", "7", "1/2", "2/4"])
        case 4 if "proof" in repair:
            bound = Decimal(repair["proof"]["bound"]) + random.choice([-1, 1]) * Decimal("0.000001")
            repair["proof"]["bound"] = str(random.choice([bound, repair["log_likelihood_after"]]))
        case 5:
            named = random.choice([None, "0" * 64, *PROOFS])
            repair["proof"] = {"sha256": named, "bound": "-0.000001"} | repair.get("proof", {})
            if named:
                repair["proof"]["sha256"] = named
    return changed


def _repaired_card(content: Content, random: Random) -> Content:
    """Other numbers of a scorecard before its repair."""
    repair = content["model"]["repair"]
    attribute = random.choice(repair["attributes"])
    v = random.randrange(len(attribute["weights"]))
    match random.randrange(6):
        case 0:
            repair["people"] = random.choice(["1", "999", "1000", "0", "01000"])
            content["model"]["provenance"]["rows"] = random.choice([None, "0", repair["people"]])
        case 1:
            repair["intercept"] = random.choice(["0", "1/3", content["model"]["exact"]["intercept"]])
        case 2:
            attribute["weights"][v] = str(Fraction(attribute["weights"][v]) + random.choice([-1, 1]))
        case 3:
            attribute["undisclosed"] = str(Fraction(attribute["undisclosed"]) + Fraction("1e-20"))
        case 4:
            attribute["population"][v] = random.choice(["1/2", attribute["population"][-1], "1/3"])
        case 5:
            name = random.choice(["log_likelihood_before", "log_likelihood_after"])
            repair[name] = random.choice(["-1.000000", repair["log_likelihood_before"]])
    return content


def _box(content: Content, random: Random) -> Content:
    """Another size of a box, one where there was none, or none any more."""
    changed = {name: value for name, value in content.items() if name != "box"}
    if random.random() < 0.8 or "box" not in content:
        moved = Fraction(content.get("box", "0.1")) * Fraction(random.choice(["2", "10", "0.5", "1.01"]))
        changed["box"] = random.choice([*SIZES, "0", "2", plain_decimal(min(moved, Fraction(1)))])
    if random.random() < 0.8:
        changed["limits"] = list(limits_of(changed.get("box")))
    return changed


def with_words(content: Content, random: Random) -> Content:
    """The assumptions as another meaning of "not disclosed" has them, and mostly a witness that fits."""
    told = content["witness"]
    meaning = content["model"]["exact"]["undisclosed"]
    if meaning in FIXED_WORDS:
        content["assumptions"] = list(assumptions(meaning))
    if told and random.random() < 0.8:
        told["probability"] = "0.5" if meaning == "conforming" else None
    return content


def _scorecard(content: Content, random: Random) -> Content:
    """Another scorecard, mostly with a population that conforms with it."""
    changed = copy.deepcopy(content)
    exact = changed["model"]["exact"]
    if "family" not in exact:
        return changed
    attribute, other = random.choice(exact["attributes"]), random.choice(exact["attributes"])
    match random.randrange(7):
        case 0:
            exact["base"] = {"e": "2", "2": "e"}[exact["base"]]
        case 1:
            exact["odds"] = str(Fraction(exact["odds"]) * Fraction(random.choice(["2", "1/2", "3"])))
        case 2:  # the same scorecard, written in another way
            moved = random.choice([-1, 1])
            for place, n in ((attribute, moved), (other, -moved)):
                place["weights"] = [str(Fraction(w) + n) for w in place["weights"]]
                place["undisclosed"] = str(Fraction(place["undisclosed"]) + n)
            return changed
        case 3:
            attribute["undisclosed"] = str(Fraction(attribute["undisclosed"]) + random.choice([-1, 1]))
        case 4:
            v = random.randrange(len(attribute["weights"]))
            attribute["weights"][v] = str(
                Fraction(attribute["weights"][v]) + Fraction(random.choice(["1", "-1", "1e-20"]))
            )
        case 5:
            exact["intercept"] = random.choice([other["undisclosed"], "0", "1/3"])
        case 6:
            exact["undisclosed"] = random.choice(["conforming", "missing-bin", "declared", "summed out"])
            if random.random() < 0.8:
                content = with_words(changed, random)
                if exact["undisclosed"] == "conforming":
                    return content | {"model": content["model"] | {"exact": conformed(exact, random)}}
                exact["unfavourable_share"] = None
                for row in exact["attributes"]:
                    row["population"] = None
                return content
    if exact["unfavourable_share"] is not None and random.random() < 0.8:
        changed["model"]["exact"] = conformed(exact, random)
    return changed


CLAIMS = [
    _flip, _count, _delta, _criterion, _least, _witness, _witness, _largest, _coverage, _sensitive, _decision,
    _history, _repair, _repair, _scorecard, _scorecard, _box, _box,
]  # fmt: skip


def mended(content: Content, random: Random) -> Content:
    """The content with what follows from its fields made to fit them: a careful liar would do so."""
    changed = copy.deepcopy(content)
    try:
        if random.random() < 0.7:
            changed["claim"] = sentence_and_formula(changed)
        if random.random() < 0.7:
            exact = changed["model"]["exact"]
            changed["model"]["sha256"] = digest(exact)
        if random.random() < 0.5:
            total = brute(changed).total
            changed["total_patterns"] = str(total)
        if random.random() < 0.4:
            changed = truthful(changed, random)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError):
        pass
    return changed


def truthful(content: Content, random: Random) -> Content:
    """The content with what enumeration finds in some of its claims."""
    every = brute(content)
    least = Fraction(content["min_probability"] or "0")
    scoped = [pair for pair in every.pairs if pair.probability >= least]
    patterns = [pair for pair in scoped if pair.size > Fraction(content["delta"])]
    if random.random() < 0.6 and scoped:
        content = _with(content, max(scoped, key=lambda pair: pair.size), True)
    if random.random() < 0.6:
        content = content | {"pattern_count": str(len(patterns)), "pattern_count_reason": None}
    if random.random() < 0.6:
        content = content | {
            "verdict": "not-delta-fair" if patterns else "delta-fair",
            "inconclusive_reason": None,
        }
    if random.random() < 0.6 and content["coverage"]:
        names = [attribute["name"] for attribute in content["model"]["exact"]["attributes"]]
        by_disclosed = Counter(tuple(names[i] for i in pair.disclosed) for pair in patterns)
        rows = [row | {"patterns": str(by_disclosed[tuple(row["disclosed"])])} for row in content["coverage"]]
        content = content | {"coverage": rows}
    return content


def _with(content: Content, pair: Pair, exact: bool) -> Content:
    attributes = content["model"]["exact"]["attributes"]

    def named(values: Any) -> dict[str, str]:
        return {attributes[i]["name"]: attributes[i]["values"][v] for i, v in values}

    scored = "family" in content["model"]["exact"]
    places = max(12, len(content["delta"].partition(".")[2]))
    unit = Fraction(1, 10**places)
    top = content["max_degree"] | {
        "exact": str(pair.size) if exact and not scored else content["max_degree"]["exact"],
        "lower": plain_decimal(pair.size // unit * unit),
    }
    if exact:
        top["upper"] = plain_decimal(-(-pair.size // unit) * unit)
    unknown = scored and content["model"]["exact"]["unfavourable_share"] is None
    numbers = {
        "degree": pair.degree,
        "probability": None if unknown else pair.probability,
        "favourable_given_pattern": pair.favourable_given_pattern,
        "favourable_given_context": pair.favourable_given_context,
    }
    write = (lambda number: plain_decimal(rounded(number, WITNESS_PLACES))) if scored else str
    return content | {
        "witness": {
            "sensitive_values": named(pair.x),
            "context_values": named(pair.y),
            **{name: None if number is None else write(number) for name, number in numbers.items()},
        },
        "max_degree": top,
    }


# Truth


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def plain_decimal(number: Fraction) -> str:
    """A number with a finite decimal expansion."""
    with localcontext(prec=1000):
        text = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def brute(content: Content) -> BruteForce:
    """All pairs of a certificate's model."""
    return _brute(json.dumps(content["model"]["exact"]), content["criterion"])


@lru_cache(maxsize=64)
def _brute(text: str, criterion: CriterionName) -> BruteForce:
    exact = json.loads(text)
    if "family" in exact:
        return enumerated(exact, criterion)
    attributes = tuple(
        PlainAttribute(
            tuple((Fraction(p), Fraction(q)) for p, q in zip(*(a[s] for s in SIDES), strict=True)),
            a["sensitive"],
        )
        for a in exact["attributes"]
    )
    return BruteForce(PlainModel(Fraction(exact["prior"]), attributes), criterion)


def sentence_and_formula(c: Content) -> dict[str, str]:
    """The claim as the fields say it."""

    def quote(name: str) -> str:
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    names = [item["name"] for item in c["sensitive_attributes"]]
    listed = ", ".join(names if c["version"] == 1 else map(quote, names))
    verb, sign = {
        "delta-fair": ("never changes", "<="),
        "not-delta-fair": ("in some context changes", ">"),
        "inconclusive": ("may or may not change (this is not decided)", "<= or >"),
    }[c["verdict"]]
    ratio, least = c["criterion"] == "ratio", c["min_probability"]
    larger = " of the larger of the probabilities before and after" if ratio else ""
    share = (
        f", counting only what the share {least} of people or more have in common"
        if least is not None
        else ""
    )
    over = " / max(P(d | xy), P(d | y))" if ratio else ""
    box, around = c.get("box"), ""
    where = {
        "missing-bin": ", where an attribute that is not disclosed counts as missing",
        "declared": ", where an attribute that is not disclosed counts what is declared for it",
    }.get(c["model"]["exact"].get("undisclosed"), "")
    if box:
        around = "; the same holds for every model whose probabilities are each at most "
        around += f"1 + {box} times larger or smaller than its own"
    return {
        "sentence": f"In the model {quote(c['model']['name'])}, disclosing one or more of the sensitive "
        f"attributes ({listed}) {verb} the probability of {quote(c['decision']['favourable'])} by more than "
        f"{c['delta']}"
        f"{larger}, whatever else is disclosed{where}{share}{around}.",
        "formula": f"max |P(d | xy) - P(d | y)|{over} {sign} {c['delta']}"
        + (f", P(xy) >= {least}" if least is not None else "")
        + (f", for every P with P0 / (1 + {box}) <= P <= P0 (1 + {box})" if box else ""),
    }


def is_true(c: Content) -> bool:
    """Whether all that a certificate claims is so, by enumeration and by rules of its own."""
    try:
        return all(_claims(c))
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError):
        return False


def _claims(c: Content) -> Iterator[bool]:
    exact, version = c["model"]["exact"], c["version"]
    yield c["kind"] == "auditor/certificate" and version in (1, 2) and type(version) is int
    yield c["id"] == digest({name: value for name, value in c.items() if name != "id"})[:32]
    yield c["criterion"] in ("difference", "ratio")
    yield all(type(a["sensitive"]) is bool for a in exact["attributes"])
    names = [exact["decision"], *(a["name"] for a in exact["attributes"])]
    for group in (names, [exact[s] for s in SIDES], *(a["values"] for a in exact["attributes"])):
        yield len({unicodedata.normalize("NFKC", name) for name in group}) == len(group) > 0
        yield all(unicodedata.normalize("NFC", name) == name and name.strip() for name in group)
    scored = "family" in exact
    yield from (_scored if scored else _likely)(c)
    yield c["model"]["sha256"] == digest(exact)
    yield c["decision"] == {"name": exact["decision"], **{s: exact[s] for s in SIDES}}
    sensitive = [a["name"] for a in exact["attributes"] if a["sensitive"]]
    yield [item["name"] for item in c["sensitive_attributes"]] == sensitive != []
    yield c["claim"] == sentence_and_formula(c)
    fixed = digest({name: c[name] for name in ("assumptions", "limits", "method")})
    yield fixed == FIXED_WORDS["box" if "box" in c else exact.get("undisclosed", "naive-bayes")]
    if "box" in c:
        yield version == 2 and not scored and c["verdict"] == "delta-fair" and c["min_probability"] is None
        yield 0 < Fraction(c["box"]) <= 1 and c["box"] == plain_decimal(Fraction(c["box"]))
        yield box_is_fair(c)
    issued, start, end = (date.fromisoformat(c[name]) for name in ("issued", "valid_from", "expires"))
    yield issued <= start <= DAY < end and all(
        len(c[name]) == 10 for name in ("issued", "valid_from", "expires")
    )

    delta, least = Fraction(c["delta"]), Fraction(c["min_probability"] or "0")
    yield 0 <= delta <= 1 and 0 <= least <= 1
    yield all(re.fullmatch(r"[01](\.[0-9]+)?", text) for text in (c["delta"], c["min_probability"] or "0"))
    yield version == 1 or c["delta"] == plain_decimal(delta)
    yield version == 1 or c["min_probability"] in (None, plain_decimal(least))
    every = brute(c)
    scoped = [pair for pair in every.pairs if pair.probability >= least]
    yield scoped != []
    patterns = [pair for pair in scoped if pair.size > delta]
    largest = max((pair.size for pair in scoped), default=Fraction(0))
    told, witness = c["max_degree"], c["witness"]
    found = Fraction(0)
    if witness is not None:
        where = {a["name"]: (i, a["values"]) for i, a in enumerate(exact["attributes"])}
        x, y = (
            tuple(sorted((where[n][0], where[n][1].index(v)) for n, v in witness[part].items()))
            for part in ("sensitive_values", "context_values")
        )
        pair = every.by_key[x, y]
        yield pair in scoped
        yield witness == _with(c, pair, True)["witness"]
        found = pair.size
    else:
        yield c["verdict"] == "inconclusive"
    places = max(12, len(c["delta"].partition(".")[2]))
    unit = Fraction(1, 10**places)
    yield told["lower"] == plain_decimal(found // unit * unit)
    yield plain_decimal(Fraction(told["upper"])) == told["upper"] and largest <= Fraction(told["upper"]) <= 1
    if told["exact"] is not None:
        yield told["exact"] == str(largest) and found == largest
        yield told["upper"] == plain_decimal(-(-largest // unit) * unit)
    count = c["pattern_count"]
    yield (count is None) == (c["pattern_count_reason"] is not None)
    yield count is None or count == str(len(patterns))
    yield c["total_patterns"] == str(every.total)
    if c["coverage"] is not None:
        yield not least and c["min_probability"] is None
        by_disclosed, pairs = every.at(delta).count_by_disclosed(), every.pairs_by_disclosed()
        order = sorted(filter(None, subsets(every.model.sensitive)), key=lambda x: (len(x), x))
        attributes = exact["attributes"]
        expected = [
            ([attributes[i]["name"] for i in x], str(pairs[x]), str(by_disclosed.get(x, 0))) for x in order
        ]
        yield [(row["disclosed"], row["pairs"], row["patterns"]) for row in c["coverage"]] == expected
        methods = {"closed form", "exhausted", "bounded"}
        yield all(
            row["method"] in methods and row.keys() == {"disclosed", "method", "pairs", "patterns"}
            for row in c["coverage"]
        )
        none = [row for row in c["coverage"] if row["method"] != "exhausted"]
        yield all(row["patterns"] == "0" for row in none)
        if any(row["method"] == "bounded" for row in none):
            yield version == 1 or c["verdict"] == "delta-fair"
    match c["verdict"]:
        case "delta-fair":
            yield not patterns and count == "0" and Fraction(told["upper"]) <= delta
        case "not-delta-fair":
            yield bool(patterns) and found > delta
        case "inconclusive":
            yield count is None and told["exact"] is None and found <= delta < Fraction(told["upper"])
        case _:
            yield False
    yield (c["verdict"] == "inconclusive") == (c["inconclusive_reason"] is not None)
    if version == 2:
        yield from _version_2(c, (end - start).days)


def box_is_fair(c: Content) -> bool:
    """Whether no pair of any model in the box is above the threshold, by the corners of the box.

    Between two corners |degree| is larger only by the difference, and only where the odds R of the context
    can be 1/√k for an extreme k = P(x | d) / P(x | d̄): there it is |√k - 1| / (√k + 1).
    """
    exact, factor, delta = c["model"]["exact"], 1 + Fraction(c["box"]), Fraction(c["delta"])

    def ends(text: str) -> tuple[Fraction, Fraction]:
        p = Fraction(text)
        return max(p / factor, 1 - factor * (1 - p)), min(p * factor, 1 - (1 - p) / factor)

    def least_and_most(values: Any, starts: Sequence[tuple[Fraction, Fraction]]) -> list[list[Fraction]]:
        """What values make of P(d, .) and P(d̄, .): one at its least and the other at its most, in turn."""
        found = [list(start) for start in starts]
        for end, both in enumerate(found):
            for i, v in values:
                both[0] *= ends(exact["attributes"][i]["favourable"][v])[end]
                both[1] *= ends(exact["attributes"][i]["unfavourable"][v])[1 - end]
        return found

    priors = [(p, 1 - p) for p in ends(exact["prior"])]
    one = (Fraction(1), Fraction(1))
    for pair in brute(c).pairs:
        contexts = least_and_most(pair.y, priors)
        for a, b in least_and_most(pair.x, [one, one]):
            for u, v in contexts:
                after, before = u * a / (u * a + v * b), u / (u + v)
                size = abs(after - before)
                if c["criterion"] == "ratio" and size:
                    size /= max(after, before)
                if size > delta:
                    return False
            if c["criterion"] == "ratio" or not (a and b) or not all(p and q for p, q in contexts):
                continue
            low, high = (p / q for p, q in contexts)
            steepest = max(a / b, b / a) * (1 - delta) ** 2 > (1 + delta) ** 2
            if low**2 * a / b < 1 < high**2 * a / b and steepest:
                return False
    return True


def _likely(c: Content) -> Iterator[bool]:
    """What a naive Bayes model has."""
    exact = c["model"]["exact"]
    numbers = [exact["prior"], *(p for a in exact["attributes"] for s in SIDES for p in a[s])]
    yield all(str(Fraction(p)) == p and 0 <= Fraction(p) <= 1 for p in numbers)
    yield 0 < Fraction(exact["prior"]) < 1
    yield all(sum(map(Fraction, a[s])) == 1 for a in exact["attributes"] for s in SIDES)
    yield all(
        p != "0" or q != "0" for a in exact["attributes"] for p, q in zip(*(a[s] for s in SIDES), strict=True)
    )
    yield c["version"] == 1 or c["model"]["family"] == "naive-bayes"


def _scored(c: Content) -> Iterator[bool]:
    """What a scorecard has."""
    exact = c["model"]["exact"]
    peopled = exact["undisclosed"] == "conforming"
    shares = [
        exact["unfavourable_share"],
        *(p for a in exact["attributes"] for p in a["population"] or [None]),
    ]
    yield peopled == (None not in shares) and (peopled or set(shares) == {None})
    shares = shares if peopled else ["1/2"]
    others = [n for a in exact["attributes"] for n in (*a["weights"], a["undisclosed"])]
    numbers = [exact["odds"], exact["intercept"], *shares, *others]
    yield all(str(Fraction(n)) == n for n in numbers) and Fraction(exact["odds"]) > 0
    yield all(0 < Fraction(p) <= 1 for p in shares) and Fraction(shares[0]) < 1
    yield exact["base"] in ("2", "e")
    yield exact["family"] == c["model"]["family"] and (peopled or c["model"]["repair"] is None)
    yield exact["family"] == "scorecard" and c["version"] == 2
    yield c["max_degree"]["exact"] is None and (peopled or c["min_probability"] is None)
    yield not peopled or conforms(exact)


def _version_2(c: Content, days: int) -> Iterator[bool]:
    scope = {"decision": c["decision"]["name"], **{s: c["decision"][s] for s in SIDES}}
    scope |= {name: c[name] for name in ("criterion", "delta", "min_probability")}
    scope["sensitive"] = sorted(item["name"] for item in c["sensitive_attributes"])
    if (meaning := c["model"]["exact"].get("undisclosed")) in ("missing-bin", "declared"):
        scope["undisclosed"] = meaning
    if c["supersedes"]:
        same = c["supersedes"]["scope"] == scope
        reason = c["supersedes"]["scope_change_reason"]
        yield same == (reason is None)
        old = c["supersedes"]["scope"]
        yield old.get("undisclosed", "declared") in ("missing-bin", "declared")
        yield old["favourable"] != old["unfavourable"] and old["decision"] not in old["sensitive"] != []
        yield old["min_probability"] != "0"
        yield reason is None or bool(reason.strip(" \u2800"))
    now = scope | {"valid_days": str(days), "issuer": c["issuer"], "responsible": c["responsible"]}
    beaten = {name: value for name, value in c["policy"]["overridden"].items() if value is not None}
    yield not beaten or c["policy"]["sha256"] is not None
    yield all(value != now[name] for name, value in beaten.items())
    yield beaten.get("sensitive") != [] and 1 <= int(beaten.get("valid_days", 1)) <= 3660
    yield now["min_probability"] is not None or beaten.get("min_probability") != "0"
    repair = c["model"]["repair"]
    if repair is None:
        return
    if "family" in c["model"]["exact"]:
        yield from _card_before(c, repair)
        return
    exact, smoothing = c["model"]["exact"], Fraction(repair["smoothing"])
    decision = [Fraction(repair["decision"][s]) for s in SIDES]
    before = copy.deepcopy(exact)
    before["prior"] = str(decision[0] / sum(decision))
    likelihood, after = [(n, n / sum(decision)) for n in decision], []
    after = list(zip(decision, (Fraction(exact["prior"]), 1 - Fraction(exact["prior"])), strict=True))
    for new, old, counts in zip(exact["attributes"], before["attributes"], repair["attributes"], strict=True):
        for s in SIDES:
            weights = [Fraction(n) + smoothing for n in counts[s]]
            old[s] = [str(weight / sum(weights)) for weight in weights]
            likelihood += [(n, n / sum(weights)) for n in weights]
            after += list(zip(weights, map(Fraction, new[s]), strict=True))
            yield all(str(Fraction(n)) == n for n in counts[s])
    yield digest(before) == repair["source_sha256"]
    for name, rows in (("log_likelihood_before", likelihood), ("log_likelihood_after", after)):
        impossible = any(n and not p for n, p in rows)
        total = None if impossible else sum(float(n) * math.log(p) for n, p in rows if n)
        yield (total is None) == (repair[name] is None)
        yield total is None or (
            abs(Decimal(repair[name]) - Decimal(total)) < Decimal("2e-6")
            and len(repair[name].partition(".")[2]) == 6
        )

    if "proof" in repair:
        yield from _proof_of(c, repair)


def _proof_of(c: Content, repair: Content) -> Iterator[bool]:
    """Whether a proof that was made, and says this bound, is about the same counts and the same question."""
    told = repair["proof"]
    yield (repair["method"], c["verdict"], c["criterion"], c["min_probability"]) == (
        *("fair", "delta-fair", "difference"),
        None,
    )
    yield told.keys() == {"sha256", "bound"} and told["sha256"] in PROOFS
    proof, smoothing = json.loads(PROOFS[told["sha256"]]), Fraction(repair["smoothing"])
    yield told["bound"] == proof["bound"] and Fraction(proof["delta"]) == Fraction(c["delta"])
    yield Decimal(repair["log_likelihood_after"]) <= Decimal(told["bound"])
    yield list(map(Fraction, proof["decision"])) == [Fraction(repair["decision"][s]) for s in SIDES]
    exact = c["model"]["exact"]["attributes"]
    yield [[a[n] for n in ("name", "values", "sensitive")] for a in proof["attributes"]] == [
        [a[n] for n in ("name", "values", "sensitive")] for a in exact
    ]
    yield [[list(map(Fraction, a[s])) for s in SIDES] for a in proof["attributes"]] == [
        [[Fraction(n) + smoothing for n in a[s]] for s in SIDES] for a in repair["attributes"]
    ]


def _card_before(c: Content, repair: Content) -> Iterator[bool]:
    """Whether a scorecard before a repair had the same people, and both likelihoods are right."""
    after, told = c["model"]["exact"], ("weights", "undisclosed", "population")
    before = copy.deepcopy(after)
    before |= {name: repair[name] for name in ("intercept", "unfavourable_share")}
    yield len(repair["attributes"]) == len(after["attributes"])
    for attribute, old in zip(before["attributes"], repair["attributes"], strict=True):
        attribute |= {name: old[name] for name in told}
    yield digest(before) == repair["source_sha256"] and conforms(before)
    rows, numbers = c["model"]["provenance"]["rows"], [before["intercept"], before["unfavourable_share"]]
    numbers += [n for a in repair["attributes"] for n in (*a["weights"], a["undisclosed"], *a["population"])]
    yield all(str(Fraction(n)) == n for n in numbers)
    yield repair["people"] == ("1000" if rows in (None, "0") else rows)
    models = [enumerated(exact, "difference").model for exact in (before, after)]
    cells: list[Values] = [
        (),
        *(((i, v),) for i, a in enumerate(after["attributes"]) for v in range(len(a["values"]))),
    ]
    first, second = ([model.joint(values) for values in cells] for model in models)
    sums = [(sum(p, Fraction(0)), sum(q, Fraction(0))) for p, q in zip(first, second, strict=True)]
    yield all(abs(p - q) < Fraction(1, 10**8) for p, q in sums)
    for name, joint in (("log_likelihood_before", first), ("log_likelihood_after", second)):
        total = 0.0
        for place, (mine, people) in enumerate(zip(joint, first, strict=True)):
            given = [p / q for p, q in zip(mine, joint[0], strict=True)] if place else mine
            total += sum(
                float(int(repair["people"]) * Fraction(n)) * math.log(p)
                for n, p in zip(people, given, strict=True)
            )
        near = abs(float(repair[name]) - total) < 2e-6 + abs(total) / 10**9
        yield near and len(repair[name].partition(".")[2]) == 6


class Tally:
    """What came of many altered certificates."""

    def __init__(self) -> None:
        self.tried = self.true = self.passed_true = self.undecided = 0
        self.by_script = self.open_by_script = 0
        self.kinds: Counter[str] = Counter()
        self.false_by_script: list[Content] = []
        self.refused_by_script: list[Content] = []
        self.originals_refused: list[Content] = []
        self.false_by_verify: list[Content] = []
        self.false_by_checker: list[Content] = []
        self.disagreements: list[tuple[Content, tuple[int, str], tuple[int, str]]] = []
        self.refused: list[tuple[Content, tuple[int, str], tuple[int, str]]] = []

    def __str__(self) -> str:
        return (
            f"{self.tried} tried ({', '.join(f'{n} {kind}' for kind, n in sorted(self.kinds.items()))}); "
            f"{self.true} true; false ones passed "
            f"by verify: {len(self.false_by_verify)}, by the checker: {len(self.false_by_checker)}; "
            f"disagreements: {len(self.disagreements)}, and {self.undecided} where one left something "
            f"undecided; true ones that both passed: {self.passed_true}; refused: {len(self.refused)} true "
            f"ones that `certify` would not write so, and {len(self.originals_refused)} that it wrote; "
            f"{self.by_script} put to the script of pages: {len(self.false_by_script)} false ones passed, "
            f"{len(self.refused_by_script)} true ones refused, {self.open_by_script} not wholly decided"
        )

    def judge(self, content: Content, check: Check, original: bool) -> bool:
        """Put one certificate to both verifiers, and tell if it rightly passes; an original is ours."""
        # Each is signed by the right key; that this is found out takes the most time.
        data, keyed = envelope(content), self.tried % PER_MODEL == 0
        verified, true = by_verify(data, keyed), is_true(content)
        checked = check(data, proof_for(content), keyed)
        self.tried += 1
        self.kinds.update(kinds_of(content))
        if original and not (true and verified[0] == checked[0] == 0):
            self.originals_refused.append(content)
        self.true += true
        if verified[0] == 0 and not true:
            self.false_by_verify.append(content)
        if checked[0] == 0 and not true:
            self.false_by_checker.append(content)
        if verified[0] != checked[0]:
            if 4 in (verified[0], checked[0]):
                self.undecided += 1
            else:
                self.disagreements.append((content, verified, checked))
        elif true and verified[0] == 0:
            self.passed_true += 1
        if true and 0 not in (verified[0], checked[0]) and 4 not in (verified[0], checked[0]):
            self.refused.append((content, verified, checked))
        return true and verified[0] == checked[0] == 0

    def judge_script(self, content: Content, passed: bool, prove: Prove) -> None:
        """Put one, which both verifiers passed or not, to the script of pages."""
        from tests.certificate.script import apart_from_a_proof, passes

        said = prove(envelope(content), public_pem().decode())
        self.by_script += 1
        if passed and False in said.values():
            self.refused_by_script.append(content)
        if passed and not passes(said, content):
            self.open_by_script += 1
        if passes(said, content) and not is_true(apart_from_a_proof(content)):
            self.false_by_script.append(content)


def kinds_of(content: Content) -> Iterator[str]:
    """What of the format a certificate tries."""
    repair = content["model"].get("repair")
    scored = is_scored(content)
    yield "of scorecards" if scored else "of naive Bayes"
    if scored and content["model"]["exact"].get("undisclosed") != "conforming":
        yield "without a population"
    if repair:
        yield "of repaired ones"
    if isinstance(repair, dict) and "proof" in repair:
        yield "with a proof"
    if "box" in content:
        yield "with a box"
    if content.get("min_probability") is not None:
        yield "with a minimum probability"


def is_scored(content: Content) -> bool:
    """Whether a certificate is about a scorecard, as far as it still says so."""
    exact = content["model"].get("exact")
    return isinstance(exact, dict) and "family" in exact


def altered(
    random: Random, number: int, donors: list[Content], scored: bool | None = None
) -> Iterator[Content]:
    """A true certificate, and altered ones of it; donors are those of other models, and get it too."""
    content = random_certificate(random, scored)
    donors[:] = [*donors[-9:], content]
    yield content
    for _ in range(number - 1):
        changed = content
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            try:
                changed = edited(changed, donors, random)
            except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError):
                continue
        changed = mended(changed, random)
        try:
            changed = renamed(changed) if random.random() < 0.97 else changed
            envelope(changed)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        yield changed


def try_many(number: int, seed: int) -> Tally:
    """Judge so many altered certificates, by the script of pages too if node is here."""
    from tests.certificate.script import running_script

    tally, random, donors, node = Tally(), Random(seed), list[Content](), shutil.which("node")
    with ExitStack() as stack:
        check = stack.enter_context(running_checker())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        prove = stack.enter_context(running_script(node, folder)) if node else None
        while tally.tried < number:
            for place, content in enumerate(altered(random, 2 * PER_MODEL, donors)):
                passed = tally.judge(content, check, original=place == 0)
                if prove:
                    tally.judge_script(content, passed, prove)
            if tally.tried % 200 < 2 * PER_MODEL:
                print(tally, file=sys.stderr, flush=True)
    return tally


if __name__ == "__main__":
    found = try_many(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else Random().randrange(2**32))
    print(found)
    wrong = [found.false_by_verify, found.false_by_checker, found.originals_refused, found.false_by_script]
    for content in (content for kind in (*wrong, found.refused_by_script) for content in kind[:3]):
        print("FALSE", json.dumps(content))
    for content, verified, checked in (*found.disagreements[:5], *found.refused[:5]):
        print("DIFFER", verified, checked, json.dumps(content))
