"""The script that proves a certificate in a page, put to certificates that are true and that are not."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.certificate import form_checker
from auditor.certificate.issuing import tree
from auditor.certificate.reading import open_certificate
from auditor.certificate.signing import sign
from auditor.certificate.verifying import verify
from auditor.choices import CriterionName, Undisclosed
from auditor.model.reading import load_model
from auditor.model.scorecard import ScorecardSpec
from tests.certificate.cards import card, whole_card
from tests.certificate.falsehoods import (
    PER_MODEL,
    altered,
    is_true,
    proved,
    random_certificate,
    sentence_and_formula,
)
from tests.certificate.making import (
    AGAINST,
    DAY,
    EXAMPLES,
    KEY,
    OTHER_KEY,
    bare,
    envelope,
    loaded,
    made,
    public_pem,
    put,
    renamed,
)
from tests.certificate.script import Prove, apart_from_a_proof, passes, running_script
from tests.certificate.test_hostile import CONTENT, codes, following, of_nothing, overriding
from tests.fuzzing import examples


@pytest.fixture(scope="module")
def prove(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prove]:
    """The script in a process of its own."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node to run the script in")
    with running_script(program, tmp_path_factory.mktemp("script")) as run:
        yield run


@examples(20)
@given(seed=st.integers(0, 2**32))
def test_what_is_true_is_not_refused_and_what_passes_is_true(prove: Prove, seed: int) -> None:
    random = Random(seed)
    donors = [random_certificate(random)]
    for place, content in enumerate(altered(random, PER_MODEL, donors)):
        said = prove(envelope(content), public_pem().decode())
        if place == 0:  # as it was issued
            assert passes(said, content), (said, content)
            assert said["Signature"]
        if passes(said, content):
            assert is_true(apart_from_a_proof(content)), (said, content)


@pytest.mark.parametrize("name", ["figure1", "compas", "adult", "german"])
@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_examples_are_proved_whole(name: str, criterion: str, prove: Prove) -> None:
    certificate = made("0.1", loaded(name), criterion=criterion)
    said = prove(sign(certificate, KEY), public_pem().decode())
    assert set(said.values()) == {True}
    content = tree(certificate)
    one_more = str(int(content["pattern_count"]) + 1)
    said = prove(envelope(renamed(put(content, ("pattern_count",), one_more))))
    assert said["Number of patterns"] is False
    # The largest degree a hair lower, and a pattern in its place that has it, is not to be had: refuse it.
    largest = Fraction(content["max_degree"]["exact"])
    lower = put(content, ("max_degree", "exact"), str(largest * Fraction(10**15 - 1, 10**15)))
    assert prove(envelope(renamed(lower)))["Verdict and largest degree"] is False


def test_models_in_a_box_are_proved(prove: Prove) -> None:
    """German with a box that holds; and one that is too large, with all that is signed made to fit it."""
    held = made("0.42", loaded("german"), box="0.005")
    assert prove(sign(held, KEY))["Models in the box"] is True
    content = {**tree(held), "box": "0.5"}
    false = renamed({**content, "claim": sentence_and_formula(content)})
    said = prove(envelope(false))
    assert said.pop("Models in the box") is False
    assert False not in said.values()
    assert "Models in the box" not in prove(envelope(tree(made("0.3"))))


@pytest.mark.parametrize("name", ["german", "adult_categories", "german_categories"])
def test_what_a_hundredth_of_people_have_in_common_is_counted(name: str, prove: Prove) -> None:
    certificate = made("0.1", loaded(name), min_probability="0.01")
    assert set(prove(sign(certificate, KEY), public_pem().decode()).values()) == {True}
    content = tree(certificate)
    wrong = put(content, ("pattern_count",), str(int(content["pattern_count"]) - 1))
    assert prove(envelope(renamed(wrong)))["Number of patterns"] is False


@pytest.mark.parametrize("undisclosed", ["conforming", "missing-bin"])
def test_scorecards_are_proved_whole(undisclosed: Undisclosed, prove: Prove) -> None:
    spec = load_model(EXAMPLES / "german_scorecard.yaml")
    assert isinstance(spec, ScorecardSpec)
    said = prove(sign(made("0.1", spec.taken_as(undisclosed)), KEY), public_pem().decode())
    assert set(said.values()) == {True}


@pytest.mark.parametrize("least", ["0.1", "0.01"])
def test_scorecards_are_proved_for_so_many_people(least: str, prove: Prove) -> None:
    for spec in (card(Random(5), points=False, names=["sex", "age"]), whole_card(Random(5), ["sex", "age"])):
        certificate = made("0.01", spec, min_probability=least)
        assert int(certificate.pattern_count or 0) > 1
        assert set(prove(sign(certificate, KEY), public_pem().decode()).values()) == {True}
        content = tree(certificate)
        wrong = put(content, ("pattern_count",), str(int(content["pattern_count"]) - 1))
        assert prove(envelope(renamed(wrong)))["Number of patterns"] is False


@pytest.mark.parametrize(
    ("place", "value", "check"),
    [
        (("claim", "sentence"), "All is fair.", "Sentences"),
        (("limits", 1), "A model with another digest is covered.", "Sentences"),
        (("method", "search"), "By looking at it.", "Sentences"),
        (("policy", "overridden", "delta"), "0.05", "Policy and history"),
        (("expires",), "2099-01-01", "Policy and history"),
        (("witness", "probability"), "1/3", "Worst pattern"),
        (("max_degree", "lower"), "0.1", "Verdict and largest degree"),
        (("total_patterns",), "7", "Number of patterns"),
        (("coverage", 0, "method"), "closed form", "Number of patterns"),
        (("sensitive_attributes", 0, "name"), "sex", "Model"),
        (("issuer",), "a\u202eb", "Form"),
        (("note",), "x", "Form"),
    ],
)
def test_each_field_has_a_check(place: tuple[str | int, ...], value: str, check: str, prove: Prove) -> None:
    content = put(tree(made("0.1")), place, value)
    if check != "Sentences":
        content["claim"] = sentence_and_formula(content)
    said = prove(envelope(renamed(content)), public_pem().decode())
    assert [name for name, holds in said.items() if holds is False] == [check]


@pytest.mark.parametrize(
    "changed",
    [
        overriding(min_probability="0"),
        overriding(sensitive=[]),
        overriding(valid_days="3661"),
        following(min_probability="0"),
        following(sensitive=[]),
        following(decision="X"),
        renamed(put(CONTENT, ("coverage", 0, "method"), "bounded")),
        renamed(put(CONTENT, ("issuer",), "a\U000e0041")),
        put(CONTENT, ("claim", "sentence"), "\ud800"),
    ],
)
def test_what_the_verifiers_call_no_certificate_is_none(changed: dict[str, Any], prove: Prove) -> None:
    assert codes(bare(changed)) == (3, 3)
    assert False in prove(bare(changed)).values()


def test_what_a_certificate_can_follow_is_passed(prove: Prove) -> None:
    for content in (overriding(delta="0.1", min_probability="0.3", valid_days="7"), following(delta="0.1")):
        assert False not in prove(bare(content)).values()


def test_the_proof_of_a_bound_is_said_to_be_left_out(prove: Prove) -> None:
    made_up = (proved(Random(seed), "0.1") for seed in count())
    source, repaired, named = next(found for found in made_up if found)
    said = prove(sign(made("0.1", repaired, source=source, proof=named), KEY), public_pem().decode())
    assert said.pop("Bound of the repair") is None
    assert set(said.values()) == {True}


def test_a_key_for_which_anyone_can_sign_is_refused(prove: Prove) -> None:
    """The signature of a point of order 1 or 2 holds for any text, and any point but itself is of order 8."""
    der = bytes.fromhex("302a300506032b6570032100")
    for point in ("01" + 31 * "00", "ec" + 30 * "ff" + "7f", 32 * "00", 31 * "00" + "80"):
        body = b64encode(der + bytes.fromhex(point)).decode()
        pem = f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"
        assert prove(sign(made("0.2"), KEY), pem)["Signature"] is False


@pytest.mark.parametrize("mark", [None, 0, "", "absent"])
def test_an_attribute_is_sensitive_or_not(prove: Prove, mark: object) -> None:
    content = tree(made("0.2"))
    exact = content["model"]["exact"]
    exact["attributes"][1]["sensitive"] = mark
    if mark == "absent":
        del exact["attributes"][1]["sensitive"]
    content["model"]["sha256"] = form_checker.digest(exact)
    assert prove(envelope(renamed(content)))["Form"] is False


def test_a_larger_degree_elsewhere_is_found(prove: Prove) -> None:
    """Of the worst pattern's claim, the second worst in its place."""
    content = tree(made("0.1"))
    second = tree(made("0.1", min_probability="0.1"))
    assert second["witness"] != content["witness"]
    false = renamed({**content, **{name: second[name] for name in ("witness", "max_degree")}})
    said = prove(envelope(false))
    assert said["Worst pattern"]
    assert said["Verdict and largest degree"] is False


@pytest.mark.parametrize("verdict", ["delta-fair", "inconclusive"])
def test_what_is_said_of_nothing_is_refused(verdict: str, prove: Prove) -> None:
    said = prove(envelope(of_nothing(verdict)))
    assert [name for name, holds in said.items() if holds is False] == ["Worst pattern"]


def test_a_day_is_a_text(prove: Prove) -> None:
    content = tree(made("0.2"))
    for name in ("issued", "valid_from", "expires"):
        assert prove(envelope(renamed({**content, name: [content[name]]}))) == {"Form": False}


def test_numbers_of_a_model_have_only_so_many_digits(prove: Prove) -> None:
    """Together in the longest texts of attributes, and in the denominators of one of them."""
    long = Fraction(10**1990 + 1, 3 * 10**1990)
    wide = [Fraction(1, p) for p in (10**1300 + 1, 10**1300 + 3)]
    for attributes, rows in ((3, [long, 1 - long]), (1, wide)):
        content = tree(made("0.2"))
        exact = content["model"]["exact"]
        exact["attributes"] = [
            {
                "name": f"a{i}",
                "sensitive": True,
                "values": [f"v{v}" for v in range(len(rows))],
                "favourable": list(map(str, rows)),
                "unfavourable": list(map(str, rows)),
            }
            for i in range(attributes)
        ]
        with pytest.raises(ValueError, match=r"too many digits"):
            form_checker.read(envelope(renamed(content)))
        assert prove(envelope(renamed(content))) == {"Form": False}


@pytest.mark.parametrize(("criterion", "share"), [("difference", "0.2499"), ("ratio", "0.4")])
@pytest.mark.parametrize("places", [30, 74, 76, 120])
def test_weights_next_to_0_are_proved(
    criterion: CriterionName, share: str, places: int, prove: Prove
) -> None:
    """What discriminates where the odds are 1, and not where they are e; and that nothing does."""
    spec = near_0(Decimal(1).scaleb(-places))
    content = tree(made(f"0.{'0' * places}{share[2:]}", spec, criterion=criterion))
    assert content["pattern_count"] == "2"
    assert False not in prove(envelope(content)).values()
    false = {**content, "verdict": "delta-fair", "pattern_count": "0"}
    false["max_degree"] = {"exact": None, "lower": "0", "upper": content["delta"]}
    false["witness"] = {"sensitive_values": {"a": "u"}, "context_values": {}, "degree": "0"}
    false["witness"] |= dict.fromkeys(("favourable_given_pattern", "favourable_given_context"), "0.5")
    false["witness"] |= {"probability": None}
    false["coverage"] = [{**row, "patterns": "0"} for row in content["coverage"]]
    said = prove(envelope(renamed({**false, "claim": sentence_and_formula(false)})))
    assert [name for name, holds in said.items() if not holds] == [
        "Signature",
        "Verdict and largest degree",
        "Number of patterns",
    ]


def near_0(weight: Decimal) -> ScorecardSpec:
    """One sensitive value with a weight, and another attribute that multiplies odds of 1 by e."""
    rows = {"a": ("u", "v", weight), "b": ("u", "v", Decimal(1))}
    attributes = [
        {
            "name": name,
            "sensitive": name == "a",
            "undisclosed": Decimal(0),
            "values": [{"value": one, "weight": Decimal(0)}, {"value": other, "weight": number}],
        }
        for name, (one, other, number) in rows.items()
    ]
    sides = {side: {"value": side, "label": side} for side in ("favourable", "unfavourable")}
    return ScorecardSpec.model_validate(
        {
            "kind": "auditor/scorecard",
            "version": 1,
            "name": "card",
            "decision": {"name": "d", **sides},
            "undisclosed": "declared",
            "intercept": 0,
            "attributes": attributes,
        }
    )


def test_a_number_that_is_a_half_of_the_last_place_is_decided(prove: Prove) -> None:
    """``P(d | y)`` is ``1 - 5e-21``, and halves are rounded to the even."""
    spec = near_0(Decimal(1))
    points = spec.model_dump() | {"scale": {"pdo": 1, "odds": 2 * 10**20 - 1}}
    for attribute in points["attributes"]:
        for value in attribute["values"]:
            value["points"] = value.pop("weight")
    signed = sign(made("0.1", ScorecardSpec.model_validate(points)), KEY)
    opened = open_certificate(signed, "cert.json")
    assert opened.certificate.witness is not None
    assert opened.certificate.witness.favourable_given_context == "1"
    assert verify(opened, AGAINST).result == "holds"
    assert set(prove(signed, public_pem().decode()).values()) == {True}


def test_a_changed_byte_is_seen(prove: Prove) -> None:
    content = tree(made("0.2"))
    whole = bare(content)
    assert prove(whole)["Digests"]
    for place in range(5, len(whole), 97):
        changed = bytearray(whole)
        changed[place] = ord("7") if changed[place] != ord("7") else ord("8")
        try:
            same = json.loads(changed) == content
        except ValueError:
            same = False
        assert (False in prove(bytes(changed)).values()) is not same


def test_signature_and_dates(prove: Prove) -> None:
    signed = sign(made("0.2"), KEY)
    assert prove(signed)["Signature"] is None
    assert prove(signed, public_pem().decode())["Signature"] is True
    assert prove(signed, public_pem(OTHER_KEY).decode())["Signature"] is False
    assert prove(signed, "no key")["Signature"] is False
    assert prove(signed)["Dates"] is True
    assert prove(signed, today=(DAY - timedelta(1)).isoformat())["Dates"] is False
    assert prove(signed, today=(DAY + timedelta(4000)).isoformat())["Dates"] is False


def test_what_takes_too_long_is_not_finished(prove: Prove) -> None:
    said = prove(sign(made("0.1", loaded("adult_categories")), KEY), seconds=0.2)
    assert said["Verdict and largest degree"] is None
    assert said["Number of patterns"] is None
    assert said["Worst pattern"] is True


def test_a_number_has_one_spelling_and_a_name_one_place(prove: Prove) -> None:
    whole = bare(tree(made("0.2")))
    assert prove(whole)["Form"]
    for told in (b'"version": 2.0', b'"version": 2, "version": 2'):
        assert prove(whole.replace(b'"version": 2', told)) == {"Form": False}
