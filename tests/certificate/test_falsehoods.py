"""Nothing false passes and both verifiers agree, however a certificate is altered and signed again."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificate.falsehoods import PER_MODEL, Check, Tally, altered, random_certificate, running_checker
from tests.fuzzing import examples


@pytest.fixture(scope="module")
def check() -> Iterator[Check]:
    """The checker in a process of its own."""
    with running_checker() as run:
        yield run


@examples(75)
@given(seed=st.integers(0, 2**32))
def test_what_passes_is_true_and_both_verifiers_agree(check: Check, seed: int) -> None:
    """With the seed's model, ten certificates: the one that `certify` writes, and nine altered ones."""
    tally, random = Tally(), Random(seed)
    donors = [random_certificate(random)]
    for place, content in enumerate(altered(random, PER_MODEL, donors)):
        tally.judge(content, check, original=place == 0)
    assert not tally.originals_refused
    assert not tally.false_by_verify
    assert not tally.false_by_checker
    assert not tally.disagreements
