"""What a certificate says: what was shown, no more, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
import rfc8785

from auditor.certificate import form_checker
from auditor.certificate.claims import NOT_COUNTED, UNDECIDED, assumptions, claim, limits
from auditor.certificate.issuing import coverage, id_of, tree
from auditor.certificate.policy import load_policy
from auditor.certificate.signing import sign
from auditor.choices import Verdict
from auditor.documents.certificate import Certificate
from auditor.documents.parameters import exact_model, fraction_of, fraction_text, naive_bayes, outward
from auditor.documents.policy import share_text
from auditor.documents.record import to_json
from auditor.documents.schemas import schemas
from auditor.errors import InputError
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.spec import ModelSpec
from auditor.resources import resource
from auditor.search.additive import engine
from auditor.search.answer import Answer, answer
from auditor.search.limits import Limits
from auditor.search.pattern_count import PatternCount
from auditor.search.question import Question
from tests.certificate.falsehoods import as_repaired, random_tree
from tests.certificate.making import DAY, KEY, ROOT, bare, figure1, loaded, made

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
        'In the model "Figure 1", disclosing one or more of the sensitive attributes ("X") in some context '
        'changes the probability of "d" by more than 0.2, whatever else is disclosed.'
    )
    assert found.claim.formula == "max |P(d | xy) - P(d | y)| > 0.2"
    assert found.decision.favourable == "d"
    assert (found.assumptions, found.limits) == (assumptions(None), limits(None))


def test_coverage_adds_up() -> None:
    found = made("0.1", loaded("compas"))
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
    assert made("0.2245").verdict == "not-delta-fair"
    assert made("0.2246").verdict == "delta-fair"


def test_without_time_it_is_inconclusive_and_says_what_is_known() -> None:
    found = made("0.411622501", loaded("german"), limits=NO_TIME)
    assert found.verdict == "inconclusive"
    assert found.max_degree.exact is None
    assert float(found.max_degree.lower) <= 0.4116225007 <= float(found.max_degree.upper)
    assert (found.pattern_count, found.coverage) == (None, None)
    assert found.pattern_count_reason == NOT_COUNTED
    assert found.inconclusive_reason == UNDECIDED
    assert "not decided" in found.claim.sentence
    assert found.claim.formula.endswith("<= or > 0.411622501")


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
    assert (wide.verdict, wide.pattern_count) == ("not-delta-fair", "2")
    assert wide.pattern_count_reason is None


def test_a_minimum_probability_of_nothing_is_none() -> None:
    assert made("0.1", min_probability="0.00").min_probability is None


def test_something_must_be_in_scope() -> None:
    with pytest.raises(InputError, match="no pattern is as probable as 1; the most probable one"):
        made("0.1", min_probability="1")


def many(sensitive: int, ratio: Fraction) -> NaiveBayes:
    """So many sensitive attributes, and one that bears on nothing."""
    half = Fraction(1, 2)
    rows = ((half * ratio, half), (1 - half * ratio, half))
    attributes = [Attribute(f"s{i}", ("a", "b"), True, rows) for i in range(sensitive)]
    plain = Attribute("y", ("a", "b"), False, ((half, half), (half, half)))
    return NaiveBayes("many", "D", "d", "e", half, (*attributes, plain))


def answered(model: NaiveBayes, delta: str, criterion: Any = "difference") -> Answer:
    """What is known of a model."""
    return answer(model, Question.of(delta, criterion))


def test_many_sensitive_attributes_are_not_listed() -> None:
    assert coverage(answered(many(13, Fraction(99, 100)), "0.5")) is None
    listed = coverage(answered(many(12, Fraction(99, 100)), "0.5"))
    assert listed is not None
    assert len(listed) == 4095


def test_without_a_count_a_fair_model_is_covered_by_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of 200 attributes, whose patterns can't be counted."""
    unknown = PatternCount(0, 10**9, "too many", ())
    monkeypatch.setattr(engine.Engine, "count", lambda self, enclosed: unknown)
    found = answered(many(2, Fraction(9, 10)), "0.0526")
    assert found.verdict == "delta-fair"
    rows = coverage(found)
    assert rows is not None
    assert [(row.disclosed, row.method, row.pairs, row.patterns) for row in rows] == [
        (("s0",), "closed form", "18", "0"),
        (("s1",), "closed form", "18", "0"),
        (("s0", "s1"), "bounded", "12", "0"),
    ]
    zero = replace(many(1, Fraction(0)), attributes=many(1, Fraction(0)).attributes[:1])
    sure = coverage(answered(zero, "1", "ratio"))
    assert sure is not None
    assert sure[0].method == "closed form"


def test_a_fair_model_whose_search_found_nothing_still_shows_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count of 0 proves it; then the most probable pair in scope is the witness."""
    found = answered(figure1().naive_bayes(), "0.3")
    nothing = replace(found, largest=replace(found.largest, witness=None, upper=Fraction(3, 10)))
    monkeypatch.setattr("tests.certificate.making.answer", lambda *_: nothing)
    certificate = made("0.3")
    assert certificate.witness is not None
    assert certificate.witness.sensitive_values == {"X": "x"}
    assert certificate.max_degree.exact is None
    assert certificate.max_degree.upper == "0.3"
    form_checker.read(bare(tree(certificate)))


def test_what_no_verifier_reads_is_not_issued() -> None:
    with pytest.raises(InputError, match="no certificate can say this: platform is not written"):
        made(platform="\u2800")


def test_the_same_bytes_in_another_process() -> None:
    script = (
        "import sys; from tests.certificate.making import *; from auditor.certificate.signing import sign; "
        "sys.stdout.buffer.write(sign(made('0.1', loaded('compas')), KEY))"
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
    assert outputs == {sign(made("0.1", loaded("compas")), KEY)}


def test_the_identifier_follows_from_the_content() -> None:
    content = tree(made())
    rest = {name: value for name, value in content.items() if name != "id"}
    assert made().id == id_of(content) == hashlib.sha256(rfc8785.dumps(rest)).hexdigest()[:32]
    assert made(issuer="A").id != made(issuer="B").id


def test_the_model_in_it_is_the_whole_model() -> None:
    spec = loaded("german_categories")
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


def test_the_schema_states_the_limits_of_the_form() -> None:
    said = " ".join(json.loads(schemas()["certificate"])["description"].split())
    fractions = form_checker.PATTERNS["fraction"], form_checker.PATTERNS["share"]
    degree, share = (int(re.findall("[{]0,([0-9]+)[}]", text)[0]) + 1 for text in fractions)
    for limit in (
        f"at most {form_checker.FILE_LIMIT >> 20} MB",
        f"a name {form_checker.NAME_LIMIT} characters and a longer text {form_checker.TEXT_LIMIT:,};",
        f"{form_checker.ATTRIBUTE_LIMIT:,} attributes, {form_checker.ATTRIBUTE_LIMIT:,} values of each",
        f"{form_checker.VALUE_LIMIT:,} together",
        f"{share:,} digits above and below",
        f"a degree {degree:,};",
        f"together {form_checker.MODEL_LIMIT:,} characters",
        f"{form_checker.DENOMINATOR_LIMIT:,} bits",
        f"±{form_checker.ODDS_LIMIT:,}.",
    ):
        assert limit in said


def test_nobody_is_invented() -> None:
    found = made()
    assert (found.issuer, found.responsible, found.platform, found.supersedes) == (None, None, None, None)
    assert found.policy.sha256 is None
    assert set(found.policy.overridden.model_dump().values()) == {None}
    assert [item.reason for item in found.sensitive_attributes] == [None]
    assert set(found.model.provenance.model_dump().values()) >= {None}


def test_dates() -> None:
    found = made(valid_days=10, valid_from=date(2026, 12, 1))
    assert (found.issued, found.valid_from, found.expires) == (DAY, date(2026, 12, 1), date(2026, 12, 11))
    assert made().expires == DAY + timedelta(days=365)
    with pytest.raises(InputError, match="can't hold before the day of its issue"):
        made(valid_from=date(2026, 11, 26))
    with pytest.raises(InputError, match="there is no date"):
        made(day=date(9999, 12, 1))


def test_other_sensitive_attributes_than_the_model_marks(tmp_path: Path) -> None:
    policy = tmp_path / "auditor.toml"
    policy.write_text(
        'kind = "auditor/policy"\nversion = 1\nsensitive = [{name = "Y2", reason = "by law"}, "X"]\n'
    )
    found = made(policy=load_policy(policy))
    assert [item.name for item in found.sensitive_attributes] == ["X", "Y2"]
    assert found.sensitive_attributes[1].reason == "by law"
    assert found.model.sha256 != made().model.sha256
    assert [a.sensitive for a in found.model.exact.attributes] == [True, False, True]
    with pytest.raises(InputError) as error:
        made(sensitive=("Z", "X", "Q"))
    assert error.value.problems == (
        'sensitive: the model has no "Z"; it has "X", "Y1", "Y2"',
        'sensitive: the model has no "Q"; it has "X", "Y1", "Y2"',
    )


def test_a_repaired_model_says_from_what_and_at_what_price() -> None:
    tree_of = random_tree(Random(5))
    source = ModelSpec.model_validate(tree_of)
    spec = ModelSpec.model_validate(as_repaired(tree_of, Random(5)))
    found = made(spec=spec, source=source)
    facts = found.model.repair
    assert facts is not None
    assert facts.source_sha256 == source.naive_bayes().sha256()
    assert facts.log_likelihood_after is not None
    assert float(facts.log_likelihood_after) < float(facts.log_likelihood_before) < 0
    assert made(spec=source).model.repair is None
    assert spec.repair is not None
    lying = spec.model_copy(update={"repair": spec.repair.model_copy(update={"source_sha256": "0" * 64})})
    with pytest.raises(InputError, match="source_sha256 is not the digest"):
        made(spec=lying, source=source)


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
    assert f'("A", "B") {words} the probability' in found.sentence
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
    [("5e-2", "0.05"), ("0.10", "0.1"), (" .5", "0.5"), ("1.", "1"), ("0e9", "0"), ("0.00", "0"), (1, "1")],
)
def test_shares_are_plain_decimals(given: str | int, text: str) -> None:
    assert share_text(given) == text


@pytest.mark.parametrize("given", ["", "nan", "-0.1", "1.01", "1/2", "0x1", "١", "1e-9999"])
def test_what_is_no_share_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="not a decimal number"):
        share_text(given)
