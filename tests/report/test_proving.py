"""The script that proves a certificate in a page, put to certificates that are true and that are not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.certificate import form_checker
from auditor.certificate.issuing import tree
from auditor.certificate.signing import sign
from tests.certificate.falsehoods import PER_MODEL, altered, is_true, random_certificate
from tests.certificate.making import (
    DAY,
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
from tests.certificate.script import FIGURES, Prove, numbers_hold, passes, running_script
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
    donors = [random_certificate(random, scored=False)]  # it proves no others
    for place, content in enumerate(altered(random, PER_MODEL, donors, scored=False)):
        said = prove(envelope(content), public_pem().decode())
        # The format has no parts of a count that is not there; it would be no untruth.
        formed = content["pattern_count"] is not None or content["coverage"] is None
        if is_true(content) and formed:
            assert False not in said.values(), (said, content)
            assert all(said[name] for name in FIGURES)
            assert said["Signature"]
        if passes(said):
            assert numbers_hold(content), (said, content)
        assert place or is_true(content)


@pytest.mark.parametrize("name", ["figure1", "compas", "adult", "german"])
@pytest.mark.parametrize("criterion", ["difference", "ratio"])
def test_examples_are_proved_whole(name: str, criterion: str, prove: Prove) -> None:
    certificate = made("0.1", loaded(name), criterion=criterion)
    said = prove(sign(certificate, KEY), public_pem().decode())
    unchecked = said.pop("Sentences, policy, history and repair")
    assert unchecked is None
    assert set(said.values()) == {True}
    content = tree(certificate)
    one_more = str(int(content["pattern_count"]) + 1)
    said = prove(envelope(renamed(put({**content, "coverage": None}, ("pattern_count",), one_more))))
    assert said["Number of patterns"] is False
    # The largest degree a hair lower, and a pattern in its place that has it, is not to be had: refuse it.
    largest = Fraction(content["max_degree"]["exact"])
    lower = put(content, ("max_degree", "exact"), str(largest * Fraction(10**15 - 1, 10**15)))
    assert prove(envelope(renamed(lower)))["Verdict and largest degree"] is False


def test_a_box_is_said_to_be_left_out(prove: Prove) -> None:
    """Digests and sentences of all that is signed hold; no row passes for models in the box."""
    said = prove(envelope(renamed(tree(made("0.3")) | {"box": "0.05"})))
    assert said["Models in the box"] is None
    assert "Models in the box" not in prove(envelope(tree(made("0.3"))))


@pytest.mark.parametrize("mark", [None, 0, "", "absent"])
def test_an_attribute_is_sensitive_or_not(prove: Prove, mark: object) -> None:
    content = tree(made("0.2"))
    exact = content["model"]["exact"]
    exact["attributes"][1]["sensitive"] = mark
    if mark == "absent":
        del exact["attributes"][1]["sensitive"]
    content["model"]["sha256"] = form_checker.digest(exact)
    assert prove(envelope(renamed(content)))["Model"] is False


def test_a_larger_degree_elsewhere_is_found(prove: Prove) -> None:
    """Of the worst pattern's claim, the second worst in its place."""
    content = tree(made("0.1"))
    second = tree(made("0.1", min_probability="0.1"))
    assert second["witness"] != content["witness"]
    false = renamed({**content, **{name: second[name] for name in ("witness", "max_degree")}})
    said = prove(envelope(false))
    assert said["Worst pattern"]
    assert said["Verdict and largest degree"] is False


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


def test_a_family_that_it_does_not_know_is_not_checked(prove: Prove) -> None:
    content = tree(made("0.2"))
    said = prove(envelope(renamed(put(content, ("model", "family"), "scorecard"))))
    assert said["Model"] is said["Verdict and largest degree"] is said["Number of patterns"] is None
