"""Proofs of a likelihood: no fair model beats the bound, and an altered proof is refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from auditor.documents.proof import LikelihoodProof
from auditor.documents.record import to_json
from auditor.errors import InputError
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.reading import load_naive_bayes
from auditor.repair import interior, proof_checker
from auditor.repair.baselines import independent
from auditor.repair.counts import Counts
from auditor.repair.learner import RepairOptions, learn
from auditor.repair.problem import Floats
from auditor.repair.proof_checker import Refused
from auditor.repair.proving import prove
from auditor.repair.repairing import counts_of
from auditor.report.certificates import result_line
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question
from auditor.usecases import proving
from tests.fuzzing import examples
from tests.oracle import BruteForce
from tests.repair.models import FAMILIES, counts_of_tables, random_counts
from tests.search.comparing import plain

EXAMPLES = Path(__file__).parents[2] / "examples"
Document = dict[str, Any]


def proved(
    counts: Counts, delta: str, gap: str | None = None, limits: Limits = DEFAULT
) -> tuple[LikelihoodProof, NaiveBayes]:
    question = Question.of(delta, "difference", limits=limits)
    model = learn(counts, question.criterion, RepairOptions(interior.solve)).model
    found = counts.log_likelihood(model)
    aim = (counts.log_likelihood(counts.model) - found) / 100 if gap is None else gap
    return prove(counts, question, found, Decimal(aim)), model


def stopping_after(questions: int) -> Limits:
    """Limits that are met when they were asked so often, on every machine at the same place."""
    asked = count()
    return Limits(expired=lambda: next(asked) > questions)


def document(proof: LikelihoodProof) -> Document:
    return dict(json.loads(to_json(proof)))


def two_by_two() -> Counts:
    return counts_of_tables(
        (60, 40),
        [
            (True, [(Fraction(50), Fraction(10)), (Fraction(10), Fraction(30))]),
            (False, [(Fraction(45), Fraction(10)), (Fraction(15), Fraction(30))]),
        ],
    )


@pytest.fixture(scope="module")
def tiny() -> Document:
    """A proof that has chords, and ranges of forms."""
    body = document(proved(two_by_two(), "0.1", "0.000001")[0])
    assert body["chords"]
    assert any(branch["steps"] for branch in body["branches"])
    return body


def likelihoods(counts: Counts, theta: Floats) -> Floats:
    """Log-likelihoods of models of two attributes of two values; theta has a column per free parameter."""
    first, second = map(float, counts.decision)
    total = first * np.log(theta[:, 0]) + second * np.log(1 - theta[:, 0])
    for i, rows in enumerate(counts.attributes):
        for side in (0, 1):
            p = theta[:, 1 + 2 * i + side]
            total += float(rows[0][side]) * np.log(p) + xlogy(float(rows[1][side]), 1 - p)
    return np.asarray(total)


def free_parameters(model: NaiveBayes) -> Floats:
    return np.array(
        [float(p) for p in (model.prior, *(p for a in model.attributes for p in a.likelihood[0]))]
    )


def two_by_two_unseen(side: int) -> Counts:
    """A sensitive value without cases under one decision."""
    rows = ((60, 20), (0, 20)) if side == 0 else ((30, 40), (30, 0))
    return counts_of_tables(
        (60, 40),
        [
            (True, [(Fraction(first), Fraction(second)) for first, second in rows]),
            (False, [(Fraction(45), Fraction(10)), (Fraction(15), Fraction(30))]),
        ],
    )


@pytest.mark.parametrize(
    ("counts", "delta"),
    [
        *((two_by_two(), delta) for delta in ("0", "0.05", "0.1", "0.3")),
        *((two_by_two_unseen(side), delta) for side in (0, 1) for delta in ("0", "0.1", "0.3")),
    ],
)
def test_no_fair_model_of_a_grid_beats_the_bound(counts: Counts, delta: str) -> None:
    proof, found = proved(counts, delta, "0.001")
    # The grid lies around the model that was found and the free one, where a likelier fair one would be.
    near, away = free_parameters(found), free_parameters(counts.model)
    steps = np.linspace(-0.25, 1.25, 13)
    axes = [
        np.clip(c + steps * (a - c) + 1e-4 * (steps - 0.5), 1e-6, 1 if a == 1 else 1 - 1e-6)
        for c, a in zip(near, away, strict=True)
    ]
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 5)
    prior = np.log(theta[:, 0] / (1 - theta[:, 0]))
    odds = []
    for i in (0, 1):
        a, b = theta[:, 1 + 2 * i], theta[:, 2 + 2 * i]
        with np.errstate(divide="ignore"):
            odds.append((np.log(a / b), np.log((1 - a) / (1 - b))))
    fair = np.ones(len(theta), dtype=np.bool_)
    for s in odds[0]:
        for y in (np.zeros(len(theta)), *odds[1]):
            degree = 1 / (1 + np.exp(-(prior + y + s))) - 1 / (1 + np.exp(-(prior + y)))
            fair &= np.abs(degree) <= float(delta) + 1e-12
    likely = likelihoods(counts, theta)
    assert not np.any(likely[fair] > float(proof.bound) + 1e-9)
    # Unfair models do beat it: the grid reaches beyond the bound.
    assert np.any(likely > float(proof.bound))
    assert Decimal(proof.bound) - Decimal(proof.found) <= Decimal("0.002")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@examples(8)
@given(data=st.data())
def test_fair_models_are_no_likelier_than_the_bound(family: Any, data: st.DataObject) -> None:
    counts = in_whole_cases(data.draw(random_counts(family)))
    delta = data.draw(st.sampled_from(("0", "0.01", "0.1", "0.35", "1")))
    proof, found = proved(counts, delta, limits=stopping_after(300))
    assert proof_checker.check(document(proof)) == Decimal(proof.bound)
    assert counts.log_likelihood(found) <= float(proof.bound)
    for _ in range(3):
        other = between(counts.model, independent(counts), Fraction(data.draw(st.integers(0, 20)), 20))
        if all(pair.size <= Fraction(delta) for pair in BruteForce(plain(other), "difference").pairs):
            assert counts.log_likelihood(other) <= float(proof.bound) + 1e-6


def in_whole_cases(counts: Counts) -> Counts:
    """The counts rounded up: files hold decimals."""
    tables = [
        (a.sensitive, [(Fraction(ceil(first)), Fraction(ceil(second))) for first, second in rows])
        for a, rows in zip(counts.model.attributes, counts.attributes, strict=True)
    ]
    first, second = map(int, counts.decision)
    return counts_of_tables((first, second), tables)


def between(first: NaiveBayes, second: NaiveBayes, share: Fraction) -> NaiveBayes:
    attributes = tuple(
        replace(
            a,
            likelihood=tuple(
                ((1 - share) * p[0] + share * q[0], (1 - share) * p[1] + share * q[1])
                for p, q in zip(a.likelihood, b.likelihood, strict=True)
            ),
        )
        for a, b in zip(first.attributes, second.attributes, strict=True)
    )
    return replace(first, attributes=attributes)


@pytest.mark.parametrize("side", [0, 1])
def test_what_has_no_cases_can_give_nothing(side: int) -> None:
    """A line that takes from a parameter without cases is refused, and so is a form without a sign."""
    body = document(proved(two_by_two_unseen(side), "0.1", "0.001")[0])
    assert proof_checker.check(body) == Decimal(body["bound"])
    # The sensitive value without cases is disclosed: its log-odds have no end on this side without proof.
    form = next(k for k, f in enumerate(body["forms"]) if [0, 1] in f["values"] and f["prior"])
    free = copy.deepcopy(body)
    step = {"form": form, "upper": side == 1, "value": "0", "target_weight": "1000"}
    free["branches"][0]["steps"] = [step | {"weights": {"chords": [], "ranges": []}}]
    with pytest.raises(Refused, match="take more than the counts have"):
        proof_checker.check(free)
    both = copy.deepcopy(body)
    for name in ("favourable", "unfavourable"):
        both["attributes"][0][name][1] = "0"
    with pytest.raises(Refused, match="a value without cases"):
        proof_checker.check(both)


def test_at_the_edges_the_optimum_is_known() -> None:
    counts = two_by_two()
    none, _ = proved(counts, "1")
    assert float(none.bound) == pytest.approx(counts.log_likelihood(counts.model), abs=1e-5)
    zero, _ = proved(counts, "0", "0.00001")
    assert float(zero.bound) == pytest.approx(counts.log_likelihood(independent(counts)), abs=2e-5)


@pytest.mark.parametrize(
    ("name", "delta"), [("compas", "0.1"), ("compas", "0.05"), ("german", "0.1"), ("german", "0.05")]
)
def test_examples_are_proved_to_within_a_hundredth_of_the_price(name: str, delta: str) -> None:
    counts = counts_of(load_naive_bayes(EXAMPLES / f"{name}.json"))
    proof, found = proved(counts, delta)
    lost = counts.log_likelihood(counts.model) - counts.log_likelihood(found)
    assert float(proof.bound) - float(proof.found) <= 0.0101 * lost
    proof_checker.check(document(proof))


def test_compas_is_proved_to_within_a_hundredth_of_a_nat() -> None:
    counts = counts_of(load_naive_bayes(EXAMPLES / "compas.json"))
    proof, _ = proved(counts, "0.1", "0.01")
    assert Decimal(proof.bound) - Decimal(proof.found) <= Decimal("0.01")
    assert Decimal(proof.bound) <= Decimal("-207394.49")


def test_a_limit_leaves_a_bound_that_holds() -> None:
    counts = counts_of(load_naive_bayes(EXAMPLES / "compas.json"))
    found = counts.log_likelihood(proved(counts, "0.1", "0.01")[1])
    question = Question.of("0.1", "difference", limits=Limits(expired=lambda: True))
    proof = prove(counts, question, found, Decimal("0.01"))
    assert float(proof.bound) == pytest.approx(counts.log_likelihood(counts.model), abs=1e-5)
    proof_checker.check(document(proof))


def leaf(body: Document) -> Document:
    """A branch that isn't split and has chords."""
    return next(b for b in body["branches"] if b["split"] is None and b["weights"]["chords"])


def raise_weights(body: Document) -> None:
    for chord in leaf(body)["weights"]["chords"]:
        chord[1] = str(Decimal(chord[1]) * 3)


def lower_weights(body: Document) -> None:
    for chord in leaf(body)["weights"]["chords"]:
        chord[1] = "0"


def make_weight_negative(body: Document) -> None:
    chord = leaf(body)["weights"]["chords"][0]
    chord[1] = "-" + chord[1]


def lower_bound(body: Document) -> None:
    body["bound"] = str(Decimal(body["bound"]) - Decimal("0.01"))


def lower_bound_and_target(body: Document) -> None:
    lower_bound(body)
    body["target"] = str(Decimal(body["target"]) - Decimal("0.01"))


def remove_branches(body: Document) -> None:
    body["branches"] = []


def add_loose_branch(body: Document) -> None:
    body["branches"].append(copy.deepcopy(leaf(body)))


def lower_counts(body: Document) -> None:
    row = body["attributes"][0]["favourable"]
    row[0] = str(Decimal(row[0]) - 5)


def raise_threshold(body: Document) -> None:
    body["delta"] = "0.2"


def make_insensitive(body: Document) -> None:
    body["attributes"][0]["sensitive"] = False


def lower_chords(body: Document) -> None:
    for chord in body["chords"]:
        chord["intercept"] = str(Decimal(chord["intercept"]) - Decimal("0.05"))


def narrow_ranges(body: Document) -> None:
    for branch in body["branches"]:
        for step in branch["steps"]:
            less = Decimal("-0.1") if step["upper"] else Decimal("0.1")
            step["value"] = str(Decimal(step["value"]) + less)


def remove_ranges(body: Document) -> None:
    for branch in body["branches"]:
        branch["steps"] = []


def claim_a_model_above_the_bound(body: Document) -> None:
    body["found"] = str(Decimal(body["bound"]) + 1)


def remove_a_leaf(body: Document) -> None:
    body["branches"].remove(leaf(body))


ALTERATIONS = pytest.mark.parametrize(
    "alter",
    [
        raise_weights,
        lower_weights,
        make_weight_negative,
        lower_bound,
        lower_bound_and_target,
        remove_branches,
        add_loose_branch,
        lower_counts,
        raise_threshold,
        make_insensitive,
        lower_chords,
        narrow_ranges,
        remove_ranges,
        claim_a_model_above_the_bound,
        remove_a_leaf,
    ],
)


def run_alone(folder: Path, body: Document | str) -> tuple[int, str]:
    """The exit code of the checker that sees nothing but the standard library, and what it says."""
    (folder / "proof.json").write_text(body if isinstance(body, str) else json.dumps(body))
    run = subprocess.run(
        [sys.executable, "-I", "-S", proof_checker.__file__, "proof.json"],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )
    return run.returncode, run.stdout + run.stderr


@ALTERATIONS
def test_an_altered_proof_is_refused(
    tiny: Document, alter: Callable[[Document], None], tmp_path: Path
) -> None:
    """By `verify`, and by the checker that runs alone."""
    body = copy.deepcopy(tiny)
    alter(body)
    code, said = run_alone(tmp_path, body)
    assert (code, said.startswith("refused: ")) == (1, True)
    assert proving.verify(tmp_path / "proof.json").result == "does not hold"


def test_a_proof_of_too_much_work_is_left_undecided(
    tiny: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "proof.json").write_text(json.dumps(tiny))
    monkeypatch.setattr(proof_checker, "WORK_LIMIT", 1000)
    found = proving.verify(tmp_path / "proof.json")
    assert found.result == "undecided"
    assert result_line(found).startswith("The proof is undecided: ")
    with pytest.raises(TimeoutError):
        proof_checker.check(tiny)


def test_a_proof_is_given_up_when_time_is_up(tiny: Document) -> None:
    late = stopping_after(5).expired
    with pytest.raises(TimeoutError):
        proof_checker.check(tiny, late)


def test_numbers_whose_exponentials_are_long_are_work(tiny: Document, tmp_path: Path) -> None:
    chord = {**next(c for c in tiny["chords"] if c["low"]), "low": "-1e50"}
    code, said = run_alone(tmp_path, {**tiny, "chords": [chord]})
    assert (code, said) == (4, "not decided: it takes too much work\n")


@pytest.mark.parametrize(
    "change", [{"favourable": "other"}, {"sha256": "0" * 64}, {"found": "-1000000"}], ids=str
)
def test_a_proof_about_another_model_is_told(change: Document, tmp_path: Path) -> None:
    """What the proof needs not to hold is compared with the model that is given."""
    spec = load_naive_bayes(EXAMPLES / "compas.json")
    body = document(proved(counts_of(spec), "0.5")[0])
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(body))
    same = proving.verify(path, str(EXAMPLES / "compas.json"))
    assert {check.name: check.outcome for check in same.checks}["counts"] == "passed"
    path.write_text(json.dumps(body | change))
    altered = proving.verify(path, str(EXAMPLES / "compas.json"))
    outcome = {check.name: check.outcome for check in altered.checks}
    assert outcome["proof"] == "passed"
    assert outcome["counts"] == ("passed" if "found" in change else "failed")
    other = proving.verify(path, str(EXAMPLES / "adult.json"))
    assert {check.name: check.outcome for check in other.checks}["counts"] == "failed"


def test_a_name_that_stands_twice_is_refused(tiny: Document, tmp_path: Path) -> None:
    text = json.dumps(tiny)
    twice = text.replace('"delta":', '"delta": "0.9", "delta":', 1)
    code, said = run_alone(tmp_path, twice)
    assert (code, "stands twice" in said) == (3, True)
    with pytest.raises(InputError):
        proving.verify(tmp_path / "proof.json")


def test_a_split_needs_both_of_its_branches(tiny: Document) -> None:
    """A split of what is proved already, at any number, is proved too; without one side it isn't."""
    body = copy.deepcopy(tiny)
    branches = body["branches"]
    place = branches.index(leaf(body))
    old, n = branches[place], len(branches)
    split = {"form": 0, "at": "0", "below": n, "above": n + 1}
    branches[place] = {"steps": old["steps"], "split": split, "weights": None}
    part = {"steps": [], "split": None, "weights": old["weights"]}
    proof_checker.check({**body, "branches": [*branches, part, part]})
    with pytest.raises(Refused):
        proof_checker.check({**body, "branches": [*branches, part]})
    split["above"] = n
    with pytest.raises(Refused):
        proof_checker.check({**body, "branches": [*branches, part, part]})
    with pytest.raises(Refused):
        proof_checker.check({**body, "branches": [*branches, part]})


def test_the_checker_runs_alone(tiny: Document, tmp_path: Path) -> None:
    code, said = run_alone(tmp_path, tiny)
    assert (code, said.startswith("holds: no naive Bayes model")) == (0, True), said


def test_what_cannot_be_proved_is_said() -> None:
    with pytest.raises(InputError, match="only repairs by the difference"):
        prove(two_by_two(), Question.of("0.1", "ratio"), -100.0, Decimal(1))


def test_what_sensitive_values_without_cases_cost_is_proved() -> None:
    """Without their patterns no number of branches closes this gap."""
    counts = counts_of_tables(
        (60, 50),
        [
            (True, [(Fraction(0), Fraction(20)), (Fraction(60), Fraction(30))]),
            (True, [(Fraction(40), Fraction(20)), (Fraction(20), Fraction(30))]),
            (False, [(Fraction(50), Fraction(10)), (Fraction(10), Fraction(40))]),
        ],
    )
    limits = stopping_after(20_000)
    proof, _ = proved(counts, "0.1", "0.01", limits)
    assert not limits.expired()
    assert len(proof.branches) < 100
    assert Decimal(proof.bound) == Decimal(proof.target)
    proof_checker.check(document(proof))
