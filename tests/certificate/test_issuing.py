"""What a certificate says: what was shown, no more, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
import rfc8785
from hypothesis import given

from auditor.certificate import issuing
from auditor.certificate.claims import ASSUMPTIONS, LIMITS, claim
from auditor.certificate.issuing import answer, id_of, issue, sha256, tree
from auditor.certificate.policy import Terms, terms
from auditor.certificate.signing import sign
from auditor.choices import Verdict
from auditor.documents.certificate import Certificate, SensitiveAttribute
from auditor.documents.parameters import exact_model, fraction_of, fraction_text, naive_bayes, outward
from auditor.documents.policy import share_text
from auditor.documents.record import to_json
from auditor.documents.schemas import schemas
from auditor.errors import InputError
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.resources import resource
from auditor.search.additive.counting import PatternCount
from auditor.search.criteria import Difference, Ratio
from auditor.search.limits import Limits
from tests.certificate.making import DAY, EXAMPLES, KEY, ROOT, bare, figure1, made
from tests.fuzzing import examples
from tests.search import comparing
from tests.strategies import FAMILIES, Case, cases

NO_TIME = Limits(expired=lambda: True)


def test_the_paper_example_is_a_finding_record() -> None:
    found = made("0.2")
    assert found.verdict == "not-delta-fair"
    assert found.witness is not None
    assert found.witness.sensitive_values == {"X": "not x"}
    assert found.witness.context_values == {"Y1": "y1"}
    assert found.max_degree.exact == fraction_text(abs(fraction_of(found.witness.degree)))
    assert round(float(found.max_degree.lower), 3) == 0.225
    assert (found.pattern_count, found.total_patterns) == ("1", "18")
    assert found.claim.sentence == (
        'In the model "Figure 1", disclosing one or more of the sensitive attributes (X) in some context '
        'changes the probability of "d" by more than 0.2, whatever else is disclosed.'
    )
    assert found.claim.formula == "max |P(d | xy) - P(d | y)| > 0.2"
    assert found.decision.favourable == "d"
    assert (found.assumptions, found.limits) == (ASSUMPTIONS, LIMITS)


def test_coverage_adds_up() -> None:
    found = made("0.1", load_naive_bayes(EXAMPLES / "compas.json"))
    assert found.coverage is not None
    assert len(found.coverage) == 15
    assert sum(int(row.pairs) for row in found.coverage) == int(found.total_patterns) == 14688
    assert sum(int(row.patterns) for row in found.coverage) == int(found.pattern_count or 0) == 2017
    assert {row.method for row in found.coverage} == {"closed form", "exhausted"}
    assert all(row.patterns == "0" for row in found.coverage if row.method == "closed form")


def test_a_fair_model() -> None:
    found = made("0.3")
    assert (found.verdict, found.pattern_count) == ("delta-fair", "0")
    assert "never changes" in found.claim.sentence
    assert found.claim.formula.endswith("<= 0.3")
    assert found.inconclusive_reason is None


def test_exactly_at_the_threshold_is_fair() -> None:
    worst = fraction_of(str(made().max_degree.exact))
    assert worst == Fraction(42, 187)
    spec = load_naive_bayes(EXAMPLES / "figure1.json")
    assert issue(spec, terms(delta="0.2245"), issued=DAY).verdict == "not-delta-fair"
    assert issue(spec, terms(delta="0.2246"), issued=DAY).verdict == "delta-fair"


def test_without_time_it_is_inconclusive_and_says_what_is_known() -> None:
    spec = load_naive_bayes(EXAMPLES / "german.json")
    found = issue(spec, terms(delta="0.415"), issued=DAY, limits=NO_TIME)
    assert found.verdict == "inconclusive"
    assert found.max_degree.exact is None
    assert float(found.max_degree.lower) <= 0.4116225006 <= float(found.max_degree.upper)
    assert (found.pattern_count, found.coverage) == (None, None)
    assert found.pattern_count_reason
    assert found.inconclusive_reason
    assert "not decided" in found.claim.sentence
    assert found.claim.formula.endswith("<= or > 0.415")


@pytest.mark.parametrize("criterion", ["difference", "ratio"])
@pytest.mark.parametrize("family", ["everything", "zeros under one decision"])
@pytest.mark.hypothesis
def test_it_is_right_by_the_brute_force(family: str, criterion: Any) -> None:
    @examples(10)
    @given(cases(FAMILIES[family], criterion))
    def compare(case: Case) -> None:
        model, (_, rule) = comparing.naive_bayes(case.model), comparing.question(case)
        found = answer(model, rule)
        assert found.count == len(case.patterns.patterns)
        assert found.lower == found.upper == case.brute.worst()[0].size
        assert found.verdict == ("not-delta-fair" if found.count else "delta-fair")
        if case.min_probability is not None:
            probable = answer(model, rule, case.min_probability)
            pairs = [pair for pair in case.brute.pairs if pair.probability >= case.min_probability]
            assert probable.lower == probable.upper == max((pair.size for pair in pairs), default=0)
            assert probable.verdict == ("not-delta-fair" if case.probable.patterns else "delta-fair")
            assert probable.coverage is None
            assert (probable.count == 0) == (probable.verdict == "delta-fair")

    compare()


def test_a_minimum_probability_narrows_the_claim() -> None:
    found = made("0.2", min_probability="0.2")
    assert found.verdict == "delta-fair"
    assert found.pattern_count == "0"
    assert found.coverage is None
    assert found.claim.sentence.endswith(
        "whatever else is disclosed, counting only what the share 0.2 of people or more have in common."
    )
    assert found.claim.formula.endswith(", P(xy) >= 0.2")
    wide = made("0.1", min_probability="0.2")
    assert wide.pattern_count is None
    assert wide.pattern_count_reason == "patterns of a minimum probability are searched, not counted"


def test_nothing_may_be_in_scope() -> None:
    found = made("0.1", min_probability="1")
    assert found.verdict == "delta-fair"
    assert found.witness is None
    assert found.max_degree.exact == "0"


def many(sensitive: int, ratio: Fraction) -> NaiveBayes:
    """So many sensitive attributes, and one that bears on nothing."""
    half = Fraction(1, 2)
    rows = ((half * ratio, half), (1 - half * ratio, half))
    attributes = [Attribute(f"s{i}", ("a", "b"), True, rows) for i in range(sensitive)]
    plain = Attribute("y", ("a", "b"), False, ((half, half), (half, half)))
    return NaiveBayes("many", "D", "d", "e", half, (*attributes, plain))


def test_many_sensitive_attributes_are_not_listed() -> None:
    assert answer(many(13, Fraction(99, 100)), Difference(Fraction(1, 2))).coverage is None
    listed = answer(many(12, Fraction(99, 100)), Difference(Fraction(1, 2))).coverage
    assert listed is not None
    assert len(listed) == 4095


def test_without_a_count_a_fair_model_is_covered_by_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of 200 attributes, whose patterns can't be counted."""
    reason = PatternCount(0, 10**9, "too many", ())
    monkeypatch.setattr(issuing, "count_patterns", lambda *_: reason)
    found = answer(many(2, Fraction(9, 10)), Difference(Fraction("0.0526")))
    assert (found.verdict, found.count, found.count_reason) == ("delta-fair", 0, None)
    assert found.coverage is not None
    assert [(row.disclosed, row.method, row.pairs) for row in found.coverage] == [
        (("s0",), "closed form", "18"),
        (("s1",), "closed form", "18"),
        (("s0", "s1"), "bounded", "12"),
    ]
    zero = replace(many(1, Fraction(0)), attributes=many(1, Fraction(0)).attributes[:1])
    sure = answer(zero, Ratio(Fraction(1)))
    assert sure.coverage is not None
    assert sure.coverage[0].method == "closed form"
    assert answer(zero, Ratio(Fraction(1, 2))).coverage is None


def test_two_algorithms_that_disagree_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuing, "count_patterns", lambda *_: PatternCount(0, 0, None, ()))
    with pytest.raises(RuntimeError, match="disagree"):
        made("0.2")


def test_a_pattern_that_only_the_count_has_seen_is_the_witness() -> None:
    """The search has no time, the count has: it is asked for one of its patterns."""
    times = iter([True])
    found = issue(
        load_naive_bayes(EXAMPLES / "compas.json"),
        terms(delta="0.4"),
        issued=DAY,
        limits=Limits(expired=lambda: next(times, False)),
    )
    assert found.verdict == "not-delta-fair"


def test_the_same_bytes_in_another_process() -> None:
    script = (
        "import sys; from tests.certificate.making import *; from auditor.certificate.signing import sign; "
        "sys.stdout.buffer.write(sign(made('0.1', load_naive_bayes(EXAMPLES / 'compas.json')), KEY))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed, zone, locale in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "C.UTF-8"))
    }
    assert outputs == {sign(made("0.1", load_naive_bayes(EXAMPLES / "compas.json")), KEY)}


def test_the_identifier_follows_from_the_content() -> None:
    content = tree(made())
    rest = {name: value for name, value in content.items() if name != "id"}
    assert made().id == id_of(content) == hashlib.sha256(rfc8785.dumps(rest)).hexdigest()[:32]
    assert sha256(made()) == hashlib.sha256(rfc8785.dumps(content)).hexdigest()
    assert made(issuer="A").id != made(issuer="B").id


def test_the_model_in_it_is_the_whole_model() -> None:
    spec = load_naive_bayes(EXAMPLES / "german_categories.json")
    model = spec.naive_bayes()
    carried = exact_model(model)
    assert rfc8785.dumps(carried.model_dump(mode="json")) == model.canonical()
    assert naive_bayes(model.name, carried) == model


def test_it_matches_its_schema_and_is_read_back() -> None:
    schema = json.loads(schemas()["certificate"])
    jsonschema.Draft202012Validator.check_schema(schema)
    for certificate in (made("0.2"), made("0.3", issuer="Bank", responsible="A. Person")):
        text = to_json(certificate)
        jsonschema.validate(json.loads(text), schema)
        assert Certificate.model_validate_json(text) == certificate
        assert json.loads(bare(tree(certificate))) == json.loads(text)


@pytest.mark.parametrize(
    "name", ["certificate", "verification", "chain-verification", "comparison", "policy", "revocations"]
)
def test_the_schemas_on_disk_are_up_to_date(name: str) -> None:
    assert resource("schemas", f"{name}.json").read_text(encoding="utf-8") == schemas()[name]


def test_nobody_is_invented() -> None:
    found = made()
    assert (found.issuer, found.responsible, found.platform, found.supersedes) == (None, None, None, None)
    assert (found.policy.sha256, found.policy.overridden) == (None, ())
    assert [item.reason for item in found.sensitive_attributes] == [None]
    assert set(found.model.provenance.model_dump().values()) >= {None}


def test_dates() -> None:
    found = issue(figure1(), terms(delta="0.2", valid_days=10), issued=DAY, valid_from=date(2026, 12, 1))
    assert (found.issued, found.valid_from, found.expires) == (DAY, date(2026, 12, 1), date(2026, 12, 11))
    assert made().expires == DAY + timedelta(days=365)
    with pytest.raises(InputError, match="can't hold before the day of its issue"):
        issue(figure1(), terms(delta="0.2"), issued=DAY, valid_from=date(2026, 11, 26))
    with pytest.raises(InputError, match="there is no date"):
        issue(figure1(), terms(delta="0.2"), issued=date(9999, 12, 1))


def test_other_sensitive_attributes_than_the_model_marks() -> None:
    wanted = (SensitiveAttribute(name="Y2", reason="by law"), SensitiveAttribute(name="X", reason=None))
    found = issue(figure1(), Terms(delta="0.2", sensitive=wanted), issued=DAY)
    assert [item.name for item in found.sensitive_attributes] == ["X", "Y2"]
    assert found.sensitive_attributes[1].reason == "by law"
    assert found.model.sha256 != made().model.sha256
    assert [a.sensitive for a in found.model.exact.attributes] == [True, False, True]
    with pytest.raises(InputError) as error:
        issue(figure1(), terms(delta="0.2", sensitive=("Z", "X", "Q")), issued=DAY)
    assert error.value.problems == (
        'sensitive attributes: the model has no "Z"; it has "X", "Y1", "Y2"',
        'sensitive attributes: the model has no "Q"; it has "X", "Y1", "Y2"',
    )


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("delta-fair", "never changes"),
        ("not-delta-fair", "in some context changes"),
        ("inconclusive", "may or may not change (this is not decided)"),
    ],
)
def test_claims_by_ratio(verdict: Verdict, words: str) -> None:
    found = claim(
        name="M",
        favourable="yes",
        sensitive=["A", "B"],
        criterion="ratio",
        delta="0.2",
        min_probability=None,
        verdict=verdict,
    )
    assert f"(A, B) {words} the probability" in found.sentence
    assert "by more than 0.2 of the larger of the probabilities before and after" in found.sentence
    assert found.formula.startswith("max |P(d | xy) - P(d | y)| / max(P(d | xy), P(d | y)) ")


@pytest.mark.parametrize(
    ("lower", "upper", "threshold", "expected"),
    [
        (Fraction(1, 3), Fraction(2, 3), "0.1", ("0.333333333333", "0.666666666667")),
        (Fraction(1, 4), Fraction(1, 4), "0.1", ("0.25", "0.25")),
        (Fraction(0), Fraction(1), "0", ("0", "1")),
        (Fraction(1, 10**15), 1 - Fraction(1, 10**15), "0.5", ("0", "1")),
        (Fraction(1, 10**15), Fraction(1, 10**15), "0.0000000000000010", ("0.000000000000001",) * 2),
    ],
)
def test_rounding_is_outward(
    lower: Fraction, upper: Fraction, threshold: str, expected: tuple[str, str]
) -> None:
    assert outward(lower, upper, threshold) == expected


def test_rounding_never_crosses_the_threshold() -> None:
    hair = Fraction(1, 10**30)
    for text in ("0.1", "0.12345678901234567"):
        threshold = Fraction(text)
        assert Fraction(outward(threshold - hair, threshold - hair, text)[1]) <= threshold
        assert Fraction(outward(threshold + hair, threshold + hair, text)[0]) >= threshold


def test_fractions_are_written_at_any_length() -> None:
    for value in (Fraction(0), Fraction(-3, 7), Fraction(5), Fraction(10**6000 + 1, 3**9000)):
        assert fraction_of(fraction_text(value)) == value
    assert fraction_text(Fraction(-6, 4)) == "-3/2"


@pytest.mark.parametrize(
    ("given", "text"),
    [("5e-2", "0.05"), ("0.10", "0.10"), (" .5", "0.5"), ("1.", "1"), ("0e9", "0"), ("0.00", "0"), (1, "1")],
)
def test_shares_are_plain_decimals(given: str | int, text: str) -> None:
    assert share_text(given) == text


@pytest.mark.parametrize("given", ["", "nan", "-0.1", "1.01", "1/2", "0x1", "١", "1e-9999"])
def test_what_is_no_share_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="not a decimal number"):
        share_text(given)
