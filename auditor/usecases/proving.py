"""The use cases of proofs of a likelihood: made beside a repair, and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path

from auditor.documents.proof import LikelihoodProof, ProofVerification
from auditor.documents.reading import read
from auditor.documents.repair import ProofSummary
from auditor.documents.verification import Check
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.model.reading import MOST_BYTES, load_naive_bayes, read_bytes
from auditor.model.spec import ModelSpec
from auditor.repair import interior, proof_checker
from auditor.repair.decimals import exact_decimal
from auditor.repair.learner import RepairOptions, learn
from auditor.repair.proving import prove
from auditor.repair.repairing import Repaired, before_repair, counts_of
from auditor.search.answer import answer
from auditor.search.question import Question
from auditor.usecases import clock

#: Bytes at the start of a file in which it says its kind, and nats that a gap may have at most.
_START, _MOST_NATS = 200, 10**9
#: Seconds that a proof takes at most where nothing else is asked: some gaps can't be closed by any number of
#: branches.
SECONDS = 300.0


def prove_repair(
    model: ModelSpec,
    made: Repaired,
    gap: str | None = None,
    time_limit: float | None = None,
    on_branch: Callable[[str], None] = lambda line: None,
) -> tuple[Repaired, LikelihoodProof]:
    """Prove how much likelier than a repaired model any δ-fair model of the same counts can be.

    Parameters
    ----------
    model : ModelSpec
        The model that was repaired.
    made : Repaired
    gap : str, optional
        Nats to aim at, ``"0.01"``, or a share of what the repair lost against the unconstrained model,
        ``"1%"``.  [1%]
    time_limit : float, optional
        Seconds. What isn't closed by then stays open in the proof, which still proves a bound.  [300]
    on_branch : callable, optional
        Told how far the proof is.

    Returns
    -------
    made : Repaired
        With what was proved in its summary.
    proof : LikelihoodProof

    Raises
    ------
    InputError
        If the gap can't be read, or there is nothing to prove: the model isn't a δ-fair one, the criterion
        isn't the difference, or one decision has no cases.

    Notes
    -----
    Conditions that the repaired model keeps to, and another criterion by which it is fair too, are no part of
    the proof. It bounds all δ-fair models, and so those among them that keep to these; the gap holds what
    they cost.
    """
    summary = made.summary
    likelihoods = summary.log_likelihoods
    if summary.method != "fair" or likelihoods.repaired is None or likelihoods.unconstrained is None:
        raise InputError(f"method: a proof is about a δ-fair model, and {summary.method} makes none")
    lost = Decimal(repr(likelihoods.unconstrained)) - Decimal(repr(likelihoods.repaired))
    limits = clock.limits(SECONDS if time_limit is None else time_limit)
    question = Question.of(summary.delta, summary.criterion, limits=limits)
    counts, aim = counts_of(before_repair(model)), nats(gap, lost)
    if summary.conditions or summary.also:
        # The proof bounds models that need not keep to conditions. It can't aim below the likeliest such
        # model, so that is found first.
        free = learn(counts, question.criterion, RepairOptions(interior.solve, limits=limits)).model
        without = Decimal(repr(counts.log_likelihood(free)))
        more = max(without - Decimal(repr(likelihoods.repaired)), Decimal(0))
        aim = more + nats(gap, lost - more)
    proof = prove(counts, question, likelihoods.repaired, aim, on_branch)
    open_ = Decimal(proof.bound) - Decimal(proof.found)
    proved = ProofSummary(
        bound=float(proof.bound),
        gap=float(open_),
        share=float(open_ / lost) if lost > open_ else None,
        closed=Decimal(proof.bound) <= Decimal(proof.target),
        branches=len(proof.branches),
    )
    return made._replace(summary=summary.model_copy(update={"proof": proved})), proof


def ensure_provable(model: ModelSpec, gap: str | None) -> None:
    """Refuse before a repair what no proof could be made for after it.

    Raises
    ------
    InputError
        If the gap can't be read, the counts are incomplete, or one decision has no cases.
    """
    nats(gap, Decimal(0))
    if not all(counts_of(before_repair(model)).decision):
        raise InputError("the counts have one decision only: there is nothing to prove")


def nats(gap: str | None, lost: Decimal) -> Decimal:
    """Return a gap in nats; a percentage, 1% if none is given, is one of the nats that were lost.

    Raises
    ------
    InputError
        If it is neither.
    """
    gap = gap or "1%"
    try:
        number = Decimal(gap.removesuffix("%").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= _MOST_NATS:
        raise InputError(
            f"gap: {escaped(gap)} is neither nats, such as 0.01, nor a share of the loss, such as 1%"
        )
    return max(lost, Decimal(0)) * number / 100 if gap.endswith("%") else number


def is_proof(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is a proof of a likelihood; what can't be read isn't."""
    try:
        return b'"auditor/likelihood-proof"' in read_bytes(path, MOST_BYTES)[:_START]
    except InputError:
        return False


def verify(path: str | os.PathLike[str], model: str | None = None) -> ProofVerification:
    """Check a proof of a likelihood: every branch, range and chord is computed again, exactly.

    Parameters
    ----------
    path : str or path-like
    model : str, optional
        A model of the counts that the proof is about. If it is a repaired one, it is also checked that it is
        δ-fair, and as likely as the proof says of the model that was found.

    Raises
    ------
    InputError
        If a file can't be used.
    """
    proof = read(LikelihoodProof, path)
    branches, undecided = len(proof.branches), False
    try:
        proof_checker.check(proof.model_dump(mode="json"))
        detail = f"{branches:,} {'branch was' if branches == 1 else 'branches were'} computed again"
        checks = [Check(name="proof", outcome="passed", detail=detail)]
    except proof_checker.Refused as error:
        checks = [Check(name="proof", outcome="failed", detail=str(error))]
    except TimeoutError:
        undecided = True
        checks = [Check(name="proof", outcome="not performed", detail="it takes too much work")]
    if model is None:
        checks.append(
            Check(name="counts", outcome="not performed", detail="give the model whose counts they are")
        )
    else:
        checks += _beside(proof, load_naive_bayes(model))
    failed = any(check.outcome == "failed" for check in checks)
    return ProofVerification(
        result="does not hold" if failed else "undecided" if undecided else "holds",
        file=Path(path).name,
        model=proof.model,
        delta=proof.delta,
        bound=proof.bound,
        checks=tuple(checks),
    )


def _beside(proof: LikelihoodProof, spec: ModelSpec) -> list[Check]:
    """Check that a proof is about a model's counts, and what it says of the model that was found."""
    counts = counts_of(before_repair(spec))
    stated = [
        (
            a.name,
            a.values,
            a.sensitive,
            tuple(map(Decimal, a.favourable)),
            tuple(map(Decimal, a.unfavourable)),
        )
        for a in proof.attributes
    ]
    own = [
        (
            a.name,
            a.values,
            a.sensitive,
            tuple(exact_decimal(row[0]) for row in rows),
            tuple(exact_decimal(row[1]) for row in rows),
        )
        for a, rows in zip(counts.model.attributes, counts.attributes, strict=True)
    ]
    same = (
        own == stated
        and counts.model.favourable == proof.favourable
        and counts.model.sha256() == proof.sha256
        and tuple(map(exact_decimal, counts.decision)) == tuple(map(Decimal, proof.decision))
    )
    told = "the proof is about the counts of the model" if same else "they are not those of the model"
    checks = [Check(name="counts", outcome="passed" if same else "failed", detail=told)]
    if spec.repair is None or not same:
        told = "give the repaired model" if same else "the model has other counts"
        return [*checks, Check(name="model found", outcome="not performed", detail=told)]
    exact = spec.naive_bayes()
    likelihood = Decimal(repr(counts.log_likelihood(exact)))
    likely = likelihood >= Decimal(proof.found)
    verdict = answer(exact, Question.of(proof.delta, proof.criterion)).verdict
    told = (
        f"it is {verdict} at δ = {proof.delta}, and its log-likelihood is {likelihood:,.4f}: "
        f"{'at least' if likely else 'less than'} the {Decimal(proof.found):,.4f} that the proof says"
    )
    holds = likely and verdict == "delta-fair"
    return [*checks, Check(name="model found", outcome="passed" if holds else "failed", detail=told)]
