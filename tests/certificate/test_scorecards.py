"""Certificates of scorecards: issued, verified and checked; ties are decided, and nothing by rounding."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest

from auditor.certificate import checker, form_checker, issuing, scorecard_checker
from auditor.certificate.comparing import compare
from auditor.certificate.issuing import tree
from auditor.certificate.policy import terms
from auditor.certificate.reading import open_certificate
from auditor.certificate.scope import loosened, scope_changes, scope_of
from auditor.certificate.signing import sign
from auditor.certificate.verifying import Against, verify
from auditor.documents.certificate import Certificate, ScorecardRepairFacts
from auditor.documents.parameters import ExactScorecard
from auditor.errors import InputError
from auditor.model.reading import load_model
from auditor.model.scorecard import ScorecardSpec
from auditor.repair.scorecards import counts_of, population_of
from auditor.report.wording import UNDISCLOSED
from auditor.search.answer import answer
from auditor.usecases.reporting import report
from tests.certificate.cards import assuming_nobody, card, enumerated, whole_card
from tests.certificate.falsehoods import as_repaired_card as as_repaired
from tests.certificate.falsehoods import plain_decimal, sentence_and_formula
from tests.certificate.making import AGAINST, DAY, EXAMPLES, KEY, bare, made, put, renamed
from tests.cli.conftest import Auditor
from tests.cli.conftest import auditor as auditor

CRITERIA: tuple[Literal["difference", "ratio"], ...] = ("difference", "ratio")


def certified(
    spec: ScorecardSpec,
    delta: str = "0.1",
    criterion: Any = "difference",
    *,
    source: ScorecardSpec | None = None,
) -> Certificate:
    """Its certificate."""
    chosen = terms(None, delta=delta, criterion=criterion)
    found = answer(issuing.exact_of(spec), chosen.question)
    return issuing.issue(spec, chosen, found, source=source, issued=DAY)


def german() -> ScorecardSpec:
    """The example."""
    spec = load_model(EXAMPLES / "german_scorecard.yaml")
    assert isinstance(spec, ScorecardSpec)
    return spec


def outcomes(data: bytes) -> dict[str, bool | None]:
    """Each check of the checker by its name."""
    return {name: holds for name, holds, _ in checker.examine(data, None, DAY)}


def exact_of_points(random: Random) -> dict[str, Any]:
    """A scorecard whose odds are all powers of 2, so that fractions tell the truth about it."""
    attributes = []
    for i in range(random.randint(2, 4)):
        weights = [str(random.randint(-3, 3)) for _ in range(random.randint(1, 3))]
        attributes.append(
            {
                "name": f"a{i}",
                "sensitive": i == 0 or random.random() < 0.5,
                "values": [f"v{v}" for v in range(len(weights))],
                "weights": weights,
                "undisclosed": str(random.randint(-1, 1)),
                "population": [f"1/{len(weights)}" for _ in weights],
            }
        )
    return {
        "base": "2",
        "odds": random.choice(["1", "3", "1/3"]),
        "intercept": str(random.randint(-2, 2)),
        "unfavourable_share": "1/2",
        "attributes": attributes,
    }


def degrees(exact: dict[str, Any], criterion: str) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """X and |degree| of every pattern, by the definition."""
    attributes = exact["attributes"]

    def favourable(z: dict[int, int]) -> Fraction:
        t = int(exact["intercept"])
        t += sum(int(a["weights"][z[i]] if i in z else a["undisclosed"]) for i, a in enumerate(attributes))
        odds = Fraction(exact["odds"]) * Fraction(2) ** t
        return odds / (1 + odds)

    choices: list[list[tuple[str, int]]] = [
        [("", 0)]
        + [("y", v) for v in range(len(a["values"]))]
        + [("x", v) for v in range(len(a["values"])) if a["sensitive"]]
        for a in attributes
    ]
    for choice in product(*choices):
        x = {i: v for i, (role, v) in enumerate(choice) if role == "x"}
        y = {i: v for i, (role, v) in enumerate(choice) if role == "y"}
        if x:
            after, before = favourable(x | y), favourable(y)
            size = abs(after - before)
            yield tuple(x), size if criterion == "difference" else size / max(after, before)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_checker_is_right_where_scorecards_tie(criterion: str) -> None:
    random = Random(3)
    tied = 0
    for _ in range(60):
        exact = exact_of_points(random)
        model = checker.Model(exact, criterion, scorecard_checker.Scorecard)
        true = list(degrees(exact, criterion))
        for threshold in {
            Fraction(0),
            Fraction(1, 10),
            Fraction(1),
            *(random.choice(true)[1] for _ in range(3)),
        }:
            tied += sum(d == threshold for _, d in true)
            found = model.above(threshold, Fraction(0))
            assert found is not None
            for x in model.sets():
                assert found[x] == sum(d > threshold for y, d in true if y == x)
                assert not model.odds.settled(x, threshold) or not found[x]
    assert tied > 500


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("base", ["2", "e"])
def test_the_checker_sees_weights_and_thresholds_that_are_tiny(base: str, criterion: str) -> None:
    # Odds of 1 that a weight w moves to B^w: both degrees are near w / 4 or w / 2, times ln 2 for B = 2.
    for places, digits, beyond in [(150, 199, True), (199, 400, True), (60, 63, True), (60, 58, False)]:
        exact = tiny(base, "0", f"1/{10**places}")
        model = checker.Model(exact, criterion, scorecard_checker.Scorecard)
        found = model.above(Fraction(1, 10**digits), Fraction(0))
        assert found is not None
        assert found.total() == beyond


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("nines", "beyond"), [(400, 1), (450, 0)])
def test_the_checker_sees_thresholds_next_to_1(criterion: str, nines: int, beyond: int) -> None:
    # From odds of e^-1000 to e^1000, of which the lesser is near 10^-434.
    exact = tiny("e", "-1000", "1000")
    model = checker.Model(exact, criterion, scorecard_checker.Scorecard)
    found = model.above(1 - Fraction(1, 10**nines), Fraction(0))
    assert found is not None
    assert found.total() == beyond


def tiny(base: str, undisclosed: str, weight: str) -> dict[str, Any]:
    """A scorecard of one sensitive attribute with one value, and odds of 1."""
    attribute = {"name": "s", "sensitive": True, "values": ["v"], "weights": [weight], "population": None}
    attributes = [attribute | {"undisclosed": undisclosed}]
    exact = {"base": base, "odds": "1", "intercept": "0", "unfavourable_share": None}
    return exact | {"attributes": attributes}


@pytest.mark.parametrize("points", [False, True], ids=["weights", "points"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_is_certified_holds_by_both(criterion: str, points: bool) -> None:
    random = Random(4)
    for _ in range(6):
        spec = card(random, points=points)
        for delta in ("0", "0.1", "0.3"):
            certificate = certified(spec, delta, criterion)
            assert certificate.model.family == "scorecard"
            found = outcomes(bare(issuing.tree(certificate)))
            assert found == dict.fromkeys(found, True) | {"signature": None}
            opened = open_certificate(sign(certificate, KEY), "cert.json")
            assert verify(opened, AGAINST).result == "holds"


@pytest.mark.parametrize("delta", ["0.1", "0.42"])
def test_a_threshold_of_many_decimals_has_a_largest_degree_of_as_many(delta: str) -> None:
    certificate = certified(german(), delta + "0" * 118 + "1")
    assert set(outcomes(bare(tree(certificate))).values()) <= {True, None}


def test_the_numbers_of_a_witness_are_rounded_once() -> None:
    """``P(d | y)`` is ``σ(-6e-20)``: a half of the 20th place and 4.5e-60."""
    hair = {"value": "u", "weight": Decimal("-3e-20")}
    rows = [[{"value": "v", "weight": 1}], [hair], [{"value": "w", "weight": 0}]]
    attributes = [
        {
            "name": f"a{i}",
            "sensitive": i == 0,
            "undisclosed": 0 if i < 2 else Decimal("-3e-20"),
            "values": row,
        }
        for i, row in enumerate(rows)
    ]
    decision = {"name": "d", "favourable": "yes", "unfavourable": "no"}
    spec = ScorecardSpec.model_validate(
        {"kind": "auditor/scorecard", "version": 1, "name": "card", "decision": decision}
        | {"undisclosed": "declared", "attributes": attributes}
    )
    certificate = certified(spec, criterion="ratio")
    assert certificate.witness is not None
    assert certificate.witness.favourable_given_context == "0.49999999999999999999"
    found = outcomes(bare(tree(certificate)))
    assert found == dict.fromkeys(found, True) | {"signature": None}


def test_the_example_is_certified() -> None:
    certificate = certified(german())
    assert (certificate.verdict, certificate.pattern_count) == ("not-delta-fair", "3712")
    found = outcomes(bare(issuing.tree(certificate)))
    assert found == dict.fromkeys(found, True) | {"signature": None}


@pytest.mark.parametrize(
    ("place", "value", "failed"),
    [
        (("pattern_count",), "3711", "count"),
        (("max_degree", "upper"), "0.166487488516", None),
        (("max_degree", "upper"), "0.166487488514", "largest degree"),
        (("max_degree", "lower"), "0.166487488513", "largest degree"),
        (("witness", "degree"), "-0.166487488514", "witness"),
        (("witness", "probability"), "0.5", "witness"),
        (("model", "exact", "attributes", 0, "undisclosed"), "0", "model"),
        (("model", "exact", "attributes", 3, "population", 0), "1/2", "model"),
        (("model", "exact", "attributes", 3, "population", 0), "1000000001/1000000000", "model"),
        (("model", "exact", "intercept"), "0", "model"),
        (("model", "exact", "odds"), "2", "model"),
        (("coverage", 0, "patterns"), "1", "coverage"),
        (("verdict",), "delta-fair", "unreadable"),
        (("model", "exact", "undisclosed"), "declared", "unreadable"),
        (("model", "exact", "base"), "3", "unreadable"),
        (("model", "family"), "naive-bayes", "unreadable"),
        (("witness", "degree"), "-0.166487488514513113830050", "unreadable"),
        (("max_degree", "exact"), "1/6", "unreadable"),
        (("model", "exact", "intercept"), "1001", "unreadable"),
    ],
)
def test_altered_ones_do_not_hold(place: tuple[str | int, ...], value: str, failed: str | None) -> None:
    changed = put(issuing.tree(certified(german())), place, value)
    if place[:2] == ("model", "exact"):
        changed["model"]["sha256"] = form_checker.digest(changed["model"]["exact"])
    try:
        found = outcomes(bare(renamed(changed)))
    except checker.UNREADABLE:
        found = {"unreadable": False}
    assert [name for name, holds in found.items() if holds is False][:1] == ([failed] if failed else [])


def test_a_repaired_one_says_from_what_and_at_what_price() -> None:
    """The price is the likelihood by brute force of what the population gives to everybody."""
    random = Random(6)
    for points in (False, True) * 2:
        source = card(random, points=points)
        spec = as_repaired(source, random)
        certificate = certified(spec, source=source)
        facts = certificate.model.repair
        assert isinstance(facts, ScorecardRepairFacts)
        assert facts.source_sha256 == source.classifier().sha256()
        counts = counts_of(source)
        for told, of in ((facts.log_likelihood_before, source), (facts.log_likelihood_after, spec)):
            assert abs(float(told) - counts.log_likelihood(population_of(of))) < 1e-5
        found = outcomes(bare(issuing.tree(certificate)))
        assert found == dict.fromkeys(found, True) | {"signature": None}
        assert verify(open_certificate(sign(certificate, KEY), "cert.json"), AGAINST).result == "holds"
    with pytest.raises(InputError, match="source_sha256 is not the digest"):
        certified(spec, source=card(random, points=True))


@pytest.fixture(name="repaired", scope="module")
def _repaired() -> dict[str, Any]:
    """The certificate of a card as if it had been repaired, whose provenance names its people."""
    tree = card(Random(8), points=False).model_dump() | {"provenance": {"rows": 250}}
    source = ScorecardSpec.model_validate(tree)
    return issuing.tree(certified(as_repaired(source, Random(8)), source=source))


@pytest.mark.parametrize(
    ("place", "value", "failed"),
    [
        (("method",), "fair", "unreadable"),
        (("source_sha256",), "0" * 64, "repair"),
        (("people",), "1000", "unreadable"),
        (("intercept",), "1/3", "repair"),
        (("unfavourable_share",), "1/3", "repair"),
        (("attributes", 0, "weights", 0), "9/10", "repair"),
        (("attributes", 0, "undisclosed"), "1/7", "repair"),
        (("attributes", 0, "population", 0), "1/2", "repair"),
        (("attributes", 0, "weights", 0), "1000000", "unreadable"),
        (("attributes", 0, "weights"), [], "unreadable"),
        (("attributes",), [], "unreadable"),
        (("log_likelihood_before",), "-1.000000", "repair"),
        (("log_likelihood_after",), "-1.000000", "repair"),
        (("log_likelihood_after",), None, "unreadable"),
        (("smoothing",), "1", "unreadable"),
    ],
)
def test_altered_facts_of_a_repair_do_not_hold(
    repaired: dict[str, Any], place: tuple[str | int, ...], value: Any, failed: str
) -> None:
    changed = bare(renamed(put(repaired, ("model", "repair", *place), value)))
    try:
        found = outcomes(changed)
        by_verify = verify(open_certificate(changed, "cert.json"), Against(DAY))
        assert {c.name for c in by_verify.checks if c.outcome == "failed"} == {failed}
    except checker.UNREADABLE:
        found = {"unreadable": False}
        with pytest.raises(InputError):
            open_certificate(changed, "cert.json")
    assert [name for name, holds in found.items() if holds is False] == [failed]


def test_facts_of_another_population_do_not_hold(repaired: dict[str, Any]) -> None:
    """Numbers before a repair may be consistent in themselves, and be about other people."""
    other = card(Random(8), points=False).model_dump() | {"provenance": {"rows": 250}}
    first, *_, last = other["attributes"][0]["values"]
    first["share"], last["share"] = last["share"] + Decimal("0.05"), first["share"] - Decimal("0.05")
    source = ScorecardSpec.model_validate(other)
    facts = issuing.tree(certified(as_repaired(source, Random(8)), source=source))["model"]["repair"]
    changed = renamed(put(repaired, ("model", "repair"), facts))
    assert outcomes(bare(changed))["repair"] is False


def test_without_the_file_beside_it_a_repair_is_not_decided(
    repaired: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "REPAIRS", "none.py")
    assert outcomes(bare(repaired))["repair"] is None
    assert verify(open_certificate(bare(repaired), "cert.json"), Against(DAY)).result == "undecided"


def test_without_the_file_beside_it_a_scorecard_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SCORECARDS", "none.py")
    assert outcomes(bare(issuing.tree(certified(german()))))["model"] is None


def test_what_is_too_close_to_call_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = exact_of_points(Random(5)) | {"base": "e"}
    odds = scorecard_checker.Scorecard(exact, "difference")
    monkeypatch.setattr(scorecard_checker, "DIGITS", (1,))
    with pytest.raises(TimeoutError):
        odds.sign([(Fraction(1), Fraction(0)), (-Fraction(1), Fraction(1, 100))])


@pytest.mark.parametrize("meaning", ["declared", "missing-bin"])
def test_without_a_population_the_meaning_is_in_the_claim(meaning: str, tmp_path: Path) -> None:
    random = Random(3)
    source = card(random, points=True)
    spec = next(s for s in iter(lambda: assuming_nobody(source, random), None) if s.meaning == meaning)
    for criterion, delta in product(CRITERIA, ("0.05", "0.9")):
        certificate = certified(spec, delta, criterion)
        exact, content = certificate.model.exact, issuing.tree(certificate)
        assert isinstance(exact, ExactScorecard)
        assert (exact.undisclosed, exact.unfavourable_share) == (meaning, None)
        told = {"declared": "counts what is declared for it", "missing-bin": "counts as missing"}[meaning]
        assert f"whatever else is disclosed, where an attribute that is not disclosed {told}." in (
            certificate.claim.sentence
        )
        truth = enumerated(content["model"]["exact"], criterion).at(Fraction(delta))
        assert certificate.pattern_count == str(len(truth.patterns))
        assert certificate.witness
        assert certificate.witness.probability is None
        found = outcomes(bare(content))
        assert found == dict.fromkeys(found, True) | {"signature": None}
        assert verify(open_certificate(bare(content), "cert.json"), Against(DAY)).result == "contents hold"
        # As if it were of a conforming population, or had probabilities.
        for place, value in (
            (("model", "exact", "undisclosed"), "conforming"),
            (("model", "exact", "unfavourable_share"), "1/2"),
            (("model", "exact", "attributes", 0, "population"), ["1/2", "1/2"]),
            (("witness", "probability"), "0.5"),
            (("min_probability",), "0.1"),
        ):
            with pytest.raises(InputError):
                open_certificate(bare(renamed(put(content, place, value))), "cert.json")
        other = {"declared": "missing-bin", "missing-bin": "declared"}[meaning]
        changed = renamed(put(content, ("model", "exact", "undisclosed"), other))
        assert outcomes(bare(changed))["words"] is False
    (tmp_path / "cert.json").write_bytes(bare(content))
    text = report(str(tmp_path / "cert.json"), "markdown").content.decode()
    assert f"| Not disclosed | {UNDISCLOSED[spec.meaning]} |" in text
    assert "of 10,000 people" not in text


def test_another_meaning_is_another_question() -> None:
    random = Random(3)
    source = card(random, points=True)
    old, new = (certified(spec) for spec in (source, assuming_nobody(source, random)))
    before, after = scope_of(old), scope_of(new)
    assert (before.undisclosed, after.undisclosed in ("declared", "missing-bin")) == (None, True)
    assert loosened(before, after)
    assert scope_changes(before, after) == (
        f"what is not disclosed: that of a population became {after.undisclosed}",
    )
    assert compare(old, new).regressed


def test_a_cover_says_what_not_disclosed_meant_before(auditor: Auditor, tmp_path: Path) -> None:
    card, missing = str(EXAMPLES / "german_scorecard.yaml"), str(tmp_path / "missing.yaml")
    text = Path(card).read_text(encoding="utf-8")
    Path(missing).write_text(text.replace("version: 1\n", "version: 1\nundisclosed: missing-bin\n", 1))
    bin_, people = "missing-bin", "that of a population"
    for old, new, said in (
        (missing, missing, ""),
        (missing, card, f"what is not disclosed: before {bin_}, here {people}"),
        (card, missing, f"what is not disclosed: before {people}, here {bin_}"),
    ):
        first, second, page = (str(tmp_path / name) for name in ("1.json", "2.json", "2.md"))
        assert auditor("certify", old, "--delta", "0.3", "-o", first).code == 0
        more = ["--scope-change", "another meaning"] if said else []
        run = auditor("recertify", first, new, "--unverified-predecessor", *more, "-o", second)
        assert run.code == 0, run.err
        assert auditor("report", second, "-o", page).code == 0
        told = Path(page).read_text(encoding="utf-8")
        assert (said in told) if said else ("what is not disclosed:" not in told)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_patterns_of_a_minimum_probability_are_certified(criterion: Any) -> None:
    """Also where that is exactly the probability of a pattern."""
    random = Random(5)
    tied = empty = 0
    for _ in range(8):
        spec = whole_card(random, ["x", "y"][: random.randint(1, 2)])
        pairs = enumerated(tree(made("0.1", spec))["model"]["exact"], criterion).pairs
        decimals = [p.probability for p in pairs if not 10**30 % p.probability.denominator]
        for least in {plain_decimal(random.choice(decimals or [Fraction(1, 5)])), "0.1", "0.95"}:
            scope = [p for p in pairs if p.probability >= Fraction(least)]
            if not scope:
                empty += 1
                with pytest.raises(InputError, match="no pattern is as probable as"):
                    made("0.1", spec, criterion=criterion, min_probability=least)
                continue
            certificate = made("0.1", spec, criterion=criterion, min_probability=least)
            found = sum(p.size > Fraction(1, 10) for p in scope)
            tied += any(p.probability == Fraction(least) for p in scope)
            assert certificate.pattern_count == str(found)
            content = tree(certificate)
            assert set(outcomes(bare(content)).values()) == {True, None}
            assert verify(open_certificate(sign(certificate, KEY), "cert.json"), AGAINST).result == "holds"
            more = renamed(put(content, ("pattern_count",), str(found + 1)))
            assert False in outcomes(bare(more)).values() if found else True
    assert tied > 3
    assert empty > 1


def test_a_pattern_outside_the_scope_is_no_witness() -> None:
    """One that is larger, and a hair less probable than asked for."""
    spec = whole_card(Random(6), ["x", "y"])
    content = tree(made("0.1", spec, min_probability="0.3"))
    told = content["witness"]
    pairs = enumerated(content["model"]["exact"], "difference").pairs
    (likely,) = {p.probability for p in pairs if abs(p.probability - Fraction(told["probability"])) < 10**-20}
    for least, holds in ((likely, True), (likely + Fraction(1, 10**100), False)):
        changed = content | {"min_probability": plain_decimal(least)}
        changed["claim"] = sentence_and_formula(changed)
        assert outcomes(bare(renamed(changed)))["witness"] is holds


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_population_that_is_rounded_as_far_as_it_may_be_is_counted_as_it_is(criterion: Any) -> None:
    """Its P(d) and P(not d) miss 1 by more than floats do."""
    exact = tree(made("0.1", whole_card(Random(6), ["x", "y"])))["model"]["exact"]
    for hair in (9, -9):
        share = Fraction(exact["unfavourable_share"]) * (1 + Fraction(hair, 10**9))
        moved = exact | {"unfavourable_share": str(share)}
        model = checker.Model(moved, criterion, scorecard_checker.Scorecard)
        assert model.sound
        pairs = enumerated(moved, criterion).pairs
        for least in {p.probability for p in pairs}:
            true = sum(p.size > 0 and p.probability >= least for p in pairs)
            found = model.above(Fraction(0), least)
            assert found is not None
            assert found.total() == true


def test_on_the_command_line(tmp_path: Path, auditor: Auditor) -> None:
    cert, new, model = tmp_path / "cert.json", tmp_path / "new.json", EXAMPLES / "german_scorecard.yaml"
    day = ("--issued", str(DAY))
    assert auditor("certify", model, "--delta", "0.1", *day, "-o", cert).code == 1
    assert auditor("verify", cert, "--model", model, "--at", str(DAY)).code == 0
    done = auditor(
        "recertify", cert, model, "--unverified-predecessor", *day, "-o", new, "--fail-on-regression"
    )
    assert done.code == 1
    assert auditor("verify", new, "--at", str(DAY)).code == 0
