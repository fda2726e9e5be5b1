"""Verifies certificates: signature, dates and revocation here, the answer by engine and checker."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.certificate import checker, claims, issuing
from auditor.certificate.reading import Opened, read_certificate
from auditor.certificate.scope import Scope, scope_changes
from auditor.certificate.signing import is_signed_by, key_id
from auditor.documents.certificate import Certificate, Supersedes
from auditor.documents.parameters import fraction_of, naive_bayes
from auditor.documents.reading import read
from auditor.documents.verification import (
    CertificateName,
    ChainVerification,
    Check,
    Outcome,
    Result,
    Revocation,
    RevocationList,
    Verification,
)
from auditor.errors import InputError
from auditor.messages import escaped
from auditor.search.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from auditor.model.spec import ModelSpec

_OUTCOMES: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "not performed"}
#: Checks of the checker that are made here with more at hand.
_MADE_HERE = frozenset({"signature", "dates", "claim"})


@dataclass(frozen=True)
class Question:
    """What a certificate is verified against.

    Attributes
    ----------
    at : date
        The day for which it is asked whether the certificate holds.
    public_key : Ed25519PublicKey or None
        The key that must have signed it.
    model : ModelSpec or None
        The model that must be the certified one.
    revocations : tuple of Revocation or None
    limits : Limits
        Of the engine's recomputation.
    """

    at: date
    public_key: Ed25519PublicKey | None = None
    model: ModelSpec | None = None
    revocations: tuple[Revocation, ...] | None = None
    limits: Limits = DEFAULT


def verify(opened: Opened, question: Question) -> Verification:
    """Check everything that a certificate says; nothing in it is believed."""
    return _verification(opened, question, list(_checks(opened, question)))


def broken(opened: Opened, public_key: Ed25519PublicKey | None = None) -> tuple[str, ...]:
    """Say what shows that a certificate was changed after issue, or not signed by a key; no search is made.

    That it expired is no fault of it here: it may still be superseded.
    """
    content = issuing.tree(opened.certificate)
    checks = {
        "its identifier is not the digest of its content": issuing.id_of(content) == opened.certificate.id,
        "its model is none, or has another digest": _is_whole(content["model"]),
    }
    if public_key is not None:
        holds, detail = _signature(opened, public_key)
        checks[f"signature: {detail}"] = bool(holds)
    return tuple(problem for problem, holds in checks.items() if not holds)


def verify_chain(folder: Path, question: Question, member: Opened | None = None) -> ChainVerification:
    """Verify all certificates in a folder and how they supersede each other.

    Parameters
    ----------
    folder : Path
    question : Question
    member : Opened, optional
        A certificate that must be one of the current ones of the chain.

    Raises
    ------
    InputError
        If one of the files can't be read, or there is none.
    """
    chain = _Chain([read_certificate(path) for path in _files(folder)])
    verified = []
    for digest, opened in chain.ordered:
        checks = list(_checks(opened, question))
        if digest in chain.superseded:
            # What was superseded may be out of date.
            checks = [check for check in checks if check.name != "dates"]
        verified.append(_verification(opened, question, checks))
    links = tuple(chain.links(member))
    results = {verification.result for verification in verified}
    result: Result = "holds"
    if any(link.outcome == "failed" for link in links) or "does not hold" in results:
        result = "does not hold"
    elif "undecided" in results:
        result = "undecided"
    return ChainVerification(
        result=result,
        at=question.at,
        current=tuple(o.certificate.id for digest, o in chain.ordered if digest not in chain.superseded),
        certificates=tuple(verified),
        checks=links,
    )


class _Chain:
    """Certificates by their digests, and how they follow each other."""

    def __init__(self, files: Sequence[Opened]) -> None:
        # Of two copies of one certificate the signed one counts.
        ranked = sorted(files, key=lambda opened: opened.is_signed)
        self._by_digest = {issuing.sha256(opened.certificate): opened for opened in ranked}
        links = [o.certificate.supersedes for o in self._by_digest.values()]
        self.superseded = Counter(link.sha256 for link in links if link)
        self.ordered = sorted(
            self._by_digest.items(),
            key=lambda item: (item[1].certificate.issued, self._depth(item[0]), item[0]),
        )

    def _depth(self, digest: str) -> int:
        """How many certificates come before this one; none is its own ancestor: digests have no cycles."""
        depth = 0
        while digest in self._by_digest and (link := self._by_digest[digest].certificate.supersedes):
            depth, digest = depth + 1, link.sha256
        return depth

    def links(self, member: Opened | None) -> Iterator[Check]:
        """A check for each certificate that supersedes another, and whether one is here and current."""
        if member is not None:
            digest = issuing.sha256(member.certificate)
            problem = "it is not in the folder" if digest not in self._by_digest else None
            if digest in self.superseded:
                problem = "another certificate supersedes it"
            yield _check(
                f"place of {member.certificate.id[:8]}",
                problem is None,
                problem or "it is in the chain, and current",
            )
        for _, opened in self.ordered:
            certificate, link = opened.certificate, opened.certificate.supersedes
            if link is not None:
                problem = self._problem(certificate, link)
                yield _check(
                    f"link of {certificate.id[:8]}", problem is None, problem or f"supersedes {link.id}"
                )

    def _problem(self, certificate: Certificate, link: Supersedes) -> str | None:
        before = self._by_digest.get(link.sha256)
        if before is None:
            return f"the certificate that it supersedes is not here: {link.id}"
        if before.certificate.id != link.id:
            return f"it gives {link.id} for the identifier {before.certificate.id}"
        if before.certificate.issued > certificate.issued:
            return f"it was issued on {certificate.issued}, before the one it supersedes"
        if self.superseded[link.sha256] > 1:
            return f"{link.id} is superseded more than once"
        if link.scope_changes != scope_changes(Scope.of(before.certificate), Scope.of(certificate)):
            return "it does not say what changed in its scope"
        return None


def _files(folder: Path) -> list[Path]:
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json")
    except OSError as error:
        raise InputError(f"{escaped(os.fspath(folder))}: not a folder that can be read") from error
    if not files:
        raise InputError(f"{escaped(os.fspath(folder))}: no certificate in it; they end in .json")
    return files


def load_revocations(path: str | os.PathLike[str]) -> tuple[Revocation, ...]:
    """Read a list of revoked certificates.

    Raises
    ------
    InputError
        With one line per problem.
    """
    found = read(RevocationList, path, checker.FILE_LIMIT)
    if not all(entry.id or entry.sha256 for entry in found.revocations):
        raise InputError(f"{escaped(os.fspath(path))}: an entry names no certificate; give its id or sha256")
    return found.revocations


def _verification(opened: Opened, question: Question, checks: Sequence[Check]) -> Verification:
    certificate = opened.certificate
    recomputed = any(c.outcome == "passed" for c in checks if c.name in ("verdict", "engine"))
    failed = any(c.outcome == "failed" for c in checks)
    return Verification(
        result="does not hold" if failed else "holds" if recomputed else "undecided",
        at=question.at,
        certificate=CertificateName(
            file=opened.name,
            id=certificate.id,
            sha256=issuing.sha256(certificate),
            model=certificate.model.name,
            verdict=certificate.verdict,
            issued=certificate.issued,
            expires=certificate.expires,
            signed_by=opened.key_id or None,
        ),
        checks=tuple(checks),
    )


def _is_whole(model: Any) -> bool:
    """Whether the model that a certificate carries is one, and has the digest that is given for it."""
    try:
        sound = checker.Model(model["exact"], "difference", Fraction(0)).sound
    except checker.UNREADABLE:
        return False
    return sound and checker.digest(model["exact"]) == model["sha256"]


def _checks(opened: Opened, question: Question) -> Iterator[Check]:
    certificate, at = opened.certificate, question.at
    signed, detail = _signature(opened, question.public_key)
    yield _check("signature", signed, detail)
    if signed is False:
        return  # whoever wrote the rest, it is not worth the work of recomputing it
    yield _check(
        "dates",
        certificate.issued <= certificate.valid_from <= at < certificate.expires,
        f"valid from {certificate.valid_from} until {certificate.expires}, asked for {at}",
    )
    if question.revocations is not None:
        yield _check("revocation", *_revocation(certificate, question.revocations, at))
    if question.model is not None:
        yield _check("given model", *_same_model(certificate, question.model))
    yield _check("claim", *_claim(certificate))
    is_model = False
    try:
        for name, holds, detail in checker.examine(opened.data, None, at):
            is_model = is_model or (name == "model" and holds is True)
            if name not in _MADE_HERE:
                yield _check(name, holds, detail)
    except checker.UNREADABLE as error:
        yield _check("checker", False, f"it can't be recomputed: {error!r:.200}")
    if is_model:
        yield _check("engine", *_engine(certificate, question.limits))


def _check(name: str, holds: bool | None, detail: str) -> Check:
    return Check(name=name, outcome=_OUTCOMES[holds], detail=detail)


def _signature(opened: Opened, key: Ed25519PublicKey | None) -> tuple[bool | None, str]:
    if not opened.is_signed:
        return (None if key is None else False), "it is not signed"
    if key is None:
        return None, "no public key was given"
    if opened.key_id != key_id(key):
        return False, "it was signed with another key"
    holds = is_signed_by(opened.signed, opened.signature, key)
    return holds, f"by key {opened.key_id}" if holds else "it does not match what was signed"


def _revocation(certificate: Certificate, revocations: Sequence[Revocation], at: date) -> tuple[bool, str]:
    names = {certificate.id, issuing.sha256(certificate)}
    for entry in revocations:
        if names & {entry.id, entry.sha256} and entry.revoked <= at:
            return False, f"revoked on {entry.revoked}: {entry.reason or 'no reason was given'}"
    return True, "it is not on the list"


def _same_model(certificate: Certificate, spec: ModelSpec) -> tuple[bool, str]:
    sensitive = [item.name for item in certificate.sensitive_attributes]
    given = issuing.marked(spec.naive_bayes(), sensitive).sha256()
    if given == certificate.model.sha256:
        return True, "it is the certified one"
    return False, f"it is another model: {given}"


def _claim(certificate: Certificate) -> tuple[bool, str]:
    expected = claims.claim(
        name=certificate.model.name,
        favourable=certificate.decision.favourable,
        sensitive=[item.name for item in certificate.sensitive_attributes],
        criterion=certificate.criterion,
        delta=certificate.delta,
        min_probability=certificate.min_probability,
        verdict=certificate.verdict,
    )
    if (certificate.assumptions, certificate.limits) != (claims.ASSUMPTIONS, claims.LIMITS):
        return False, "the assumptions or limits are not those under which certificates of version 1 hold"
    return certificate.claim == expected, "the sentence and the formula say what the fields say"


def _engine(certificate: Certificate, limits: Limits) -> tuple[bool | None, str]:
    """Answer the certificate's question anew, and compare."""
    model = naive_bayes(certificate.model.name, certificate.model.exact)
    criterion = issuing.criterion_of(certificate.criterion, certificate.delta)
    least = None if certificate.min_probability is None else fraction_of(certificate.min_probability)
    found = issuing.answer(model, criterion, least, limits)
    told = certificate.max_degree
    if not (fraction_of(told.lower) <= found.upper and found.lower <= fraction_of(told.upper)):
        return False, f"the largest degree is from {float(found.lower):.12f} to {float(found.upper):.12f}"
    if told.exact is not None and not found.lower <= fraction_of(told.exact) <= found.upper:
        return False, f"the largest degree is {float(found.lower):.12f}"
    if None not in (certificate.pattern_count, found.count) and certificate.pattern_count != str(found.count):
        return False, f"there are {found.count} patterns"
    if certificate.coverage is not None and found.coverage is not None:
        # Another version may decide a set in another way, but not otherwise.
        told_rows, rows = (
            [(row.disclosed, row.pairs, row.patterns) for row in coverage]
            for coverage in (certificate.coverage, found.coverage)
        )
        if told_rows != rows:
            return False, "the patterns are spread in another way over the sets of sensitive attributes"
    if "inconclusive" in (found.verdict, certificate.verdict):
        return None, "the verdict is not decided within the limits"
    return found.verdict == certificate.verdict, f"the engine finds {found.verdict}"
