"""Verifies certificates: signature, dates and revocation here, the answer by engine and checker."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.certificate import checker, claims, form_checker, issuing, scorecard_checker
from auditor.certificate.reading import Opened, read_certificate
from auditor.certificate.scope import meaning_of, scope_changes, scope_of
from auditor.certificate.signing import is_signed_by, key_id
from auditor.documents.certificate import Certificate, Coverage, RepairFacts, Supersedes
from auditor.documents.parameters import carried, fraction_of
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
from auditor.model.naive_bayes import NaiveBayes
from auditor.search.answer import Wanted, answer
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question
from auditor.search.ranges import box, in_box
from auditor.search.reach import decided

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from auditor.model.scorecard import ScorecardSpec
    from auditor.model.spec import ModelSpec

_OUTCOMES: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "not performed"}
_HOLDS: dict[Result, bool | None] = {
    "holds": True,
    "contents hold": True,
    "does not hold": False,
    "undecided": None,
}
#: Checks of what the certificate itself doesn't claim: what they leave out doesn't make it undecided.
_NOT_CLAIMED = frozenset({"signature", "pages", "model file", "other files"})


@dataclass(frozen=True)
class Against:
    """What a certificate is verified against."""

    at: date
    """The day for which it is asked whether the certificate holds."""
    public_key: Ed25519PublicKey | None = None
    """The key that must have signed it."""
    model: ModelSpec | ScorecardSpec | None = None
    """The model that must be the certified one."""
    proofs: Mapping[str, bytes] = field(default_factory=dict)
    """Files of proofs that certificates may name, by their digests."""
    revocations: tuple[Revocation, ...] | None = None
    limits: Limits = DEFAULT
    """Of the recomputation, by engine and checker."""


def verify(opened: Opened, against: Against) -> Verification:
    """Check everything that a certificate says; nothing in it is believed."""
    return _verification(opened, against, list(_checks(opened, against)))


def verify_predecessor(opened: Opened, against: Against) -> Verification:
    """Check a certificate that is to be superseded, which may be out of date."""
    return _verification(opened, against, [c for c in _checks(opened, against) if c.name != "dates"])


def broken(opened: Opened) -> tuple[str, ...]:
    """Say what shows that a certificate was changed after issue; no search is made."""
    content = opened.content
    checks = {
        "its identifier is not the digest of its content": issuing.id_of(content) == opened.certificate.id,
        "its model has another digest": form_checker.digest(content["model"]["exact"])
        == content["model"]["sha256"],
        "its model is none": _is_sound(content["model"]["exact"]),
    }
    return tuple(problem for problem, holds in checks.items() if not holds)


def _is_sound(exact: Any) -> bool:
    family = scorecard_checker.Scorecard if "family" in exact else checker.NaiveBayes
    return bool(family(exact, "difference").sound)


def verify_chain(
    folder: Path,
    against: Against,
    member: Opened | None = None,
    read: Callable[[Path], Opened] = read_certificate,
) -> ChainVerification:
    """Verify all certificates in a folder and how they supersede each other.

    Parameters
    ----------
    member : Opened, optional
        A certificate that must hold by itself, and be the current one of the chain.
    read : callable
        How to read each file.

    Raises
    ------
    InputError
        If one of the files can't be read, or there is none.
    """
    paths, others = _files(folder)
    chain = _Chain([read(path) for path in paths])
    verified = [_in_chain(opened, against, chain) for _, opened in chain.ordered]
    results = {verification.result for verification in verified}
    links = [*chain.links(), *chain.heads()]
    if member is not None:
        own = _in_chain(member, against, chain)
        failed = [check.name for check in own.checks if check.outcome == "failed"]
        said = "it holds by itself" if own.result != "undecided" else "it could not all be recomputed"
        links.insert(0, _check("given file", _HOLDS[own.result], ", ".join(failed) or said))
        results.add(own.result)
        links.insert(1, chain.place(member))
    if others:
        named = ", ".join(others[:20]) + (" and others" if others[20:] else "")
        said = f"not looked at, since they are no files that end in .json: {named}"
        links.append(_check("other files", None, said))
    result: Result = "holds"
    if any(link.outcome == "failed" for link in links) or "does not hold" in results:
        result = "does not hold"
    elif "undecided" in results:
        result = "undecided"
    elif "contents hold" in results:
        result = "contents hold"
    return ChainVerification(
        result=result,
        at=against.at,
        current=tuple(opened.certificate.id for opened in chain.current),
        certificates=tuple(verified),
        checks=tuple(links),
    )


def _in_chain(opened: Opened, against: Against, chain: _Chain) -> Verification:
    """Verify a certificate of a chain: one that was superseded may be out of date, or taken back."""
    checks = list(_checks(opened, against))
    if opened.sha256 in chain.superseded:
        checks = [
            check.model_copy(update={"outcome": "passed", "detail": f"{check.detail}; it was replaced since"})
            if check.name == "revocation" and check.outcome == "failed"
            else check
            for check in checks
            if check.name != "dates"
        ]
    return _verification(opened, against, checks)


class _Chain:
    """Certificates by their digests, and how they follow each other. The order of the files is no matter."""

    def __init__(self, files: Sequence[Opened]) -> None:
        self._by_digest: dict[str, Opened] = {}
        copies: dict[str, dict[bytes, Opened]] = {}
        for opened in files:
            self._by_digest[opened.sha256] = opened
            copies.setdefault(opened.sha256, {})[opened.data] = opened
        links = [opened.certificate.supersedes for opened in self._by_digest.values()]
        self.superseded = Counter(link.sha256 for link in links if link)
        # A copy without a signature adds nothing to one that has one; all that are signed must hold.
        kept = [
            (digest, opened)
            for digest, found in copies.items()
            for opened in found.values()
            if opened.is_signed or not any(other.is_signed for other in found.values())
        ]
        self.ordered = sorted(
            kept,
            key=lambda item: (item[1].certificate.issued, self._depth(item[0]), item[0], item[1].data),
        )
        distinct = dict(self.ordered)
        self.certificates = list(distinct.values())
        self.current = [opened for opened in self.certificates if opened.sha256 not in self.superseded]

    def _depth(self, digest: str) -> int:
        """How many certificates come before this one; none is its own ancestor: digests have no cycles."""
        depth = 0
        while digest in self._by_digest and (link := self._by_digest[digest].certificate.supersedes):
            depth, digest = depth + 1, link.sha256
        return depth

    def place(self, member: Opened) -> Check:
        """Whether a certificate is in the chain, and current."""
        problem = "it is not in the folder" if member.sha256 not in self._by_digest else None
        if member.sha256 in self.superseded:
            problem = "another certificate supersedes it"
        detail = problem or "it is in the chain, and current"
        return _check(f"place of {member.certificate.id[:8]}", problem is None, detail)

    def heads(self) -> Iterator[Check]:
        """Report that more than one certificate claims to be the current one."""
        if len(self.current) > 1:
            named = ", ".join(opened.certificate.id[:8] for opened in self.current)
            yield _check("current", False, f"{len(self.current)} are superseded by none: {named}")

    def links(self) -> Iterator[Check]:
        """A check for each certificate that supersedes another."""
        for opened in self.certificates:
            link = opened.certificate.supersedes
            if link is not None:
                problem = self._problem(opened, link)
                detail = problem or self._followed(opened, link)
                yield _check(f"link of {opened.certificate.id[:8]}", problem is None, detail)

    def _problem(self, opened: Opened, link: Supersedes) -> str | None:
        before, certificate = self._by_digest.get(link.sha256), opened.certificate
        if before is None:
            return f"the certificate that it supersedes is not here: {link.id}"
        if before.certificate.id != link.id:
            return f"it gives {link.id} for the identifier {before.certificate.id}"
        if before.certificate.issued > certificate.issued:
            return f"it was issued on {certificate.issued}, before the one it supersedes"
        if self.superseded[link.sha256] > 1:
            return f"{link.id} is superseded more than once"
        old, new = scope_of(before.certificate), scope_of(certificate)
        told = opened.content["supersedes"].get("scope_changes")
        if link.scope != old and told != list(scope_changes(old, new, str)):
            return "it does not say what its scope was before"
        signers = {copy.key_id for digest, copy in self.ordered if digest == link.sha256}
        if link.verified_with is not None and link.verified_with not in signers:
            return f"it was issued after a check of another signature of {link.id}"
        return None

    def _followed(self, opened: Opened, link: Supersedes) -> str:
        """How a certificate follows the one before it, its changes of scope and their reason included."""
        before = self._by_digest[link.sha256].certificate
        changes = scope_changes(scope_of(before), scope_of(opened.certificate))
        said = f"supersedes {link.id}"
        if changes:
            said += f"; {'; '.join(changes)}; reason: {link.scope_change_reason}"
        if link.verified_with is None and opened.certificate.version > 1:
            said += "; the signature of that one was not checked when this was issued"
        return said


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """The certificates in a folder, and the names of all else, such as folders and links to nowhere."""
    try:
        files = sorted(folder.iterdir())
        found = [path for path in files if path.suffix.lower() == ".json" and path.is_file()]
    except OSError as error:
        raise InputError(f"{escaped(os.fspath(folder))}: not a folder that can be read") from error
    if not found:
        raise InputError(f"{escaped(os.fspath(folder))}: no certificate in it; they end in .json")
    known = set(found)
    return found, [path.name for path in files if path not in known]


def load_revocations(path: str | os.PathLike[str]) -> tuple[Revocation, ...]:
    """Read a list of revoked certificates.

    Raises
    ------
    InputError
        With one line per problem.
    """
    found = read(RevocationList, path, form_checker.FILE_LIMIT)
    if not all(entry.id or entry.sha256 for entry in found.revocations):
        raise InputError(f"{escaped(os.fspath(path))}: an entry names no certificate; give its id or sha256")
    return found.revocations


def _verification(opened: Opened, against: Against, checks: Sequence[Check]) -> Verification:
    certificate = opened.certificate
    outcomes = {check.name: check.outcome for check in checks}
    left_out = {name for name, outcome in outcomes.items() if outcome == "not performed"}
    result: Result = "holds" if outcomes.get("signature") == "passed" else "contents hold"
    if "failed" in outcomes.values():
        result = "does not hold"
    elif left_out - _NOT_CLAIMED:
        result = "undecided"
    return Verification(
        result=result,
        at=against.at,
        certificate=CertificateName(
            file=opened.name,
            id=certificate.id,
            sha256=opened.sha256,
            model=certificate.model.name,
            verdict=certificate.verdict,
            criterion=certificate.criterion,
            delta=certificate.delta,
            box=certificate.box,
            min_probability=certificate.min_probability,
            undisclosed=meaning_of(certificate),
            favourable=certificate.decision.favourable,
            sensitive=tuple(item.name for item in certificate.sensitive_attributes),
            issued=certificate.issued,
            expires=certificate.expires,
            names_key=opened.key_id or None,
        ),
        checks=tuple(checks),
    )


def _checks(opened: Opened, against: Against) -> Iterator[Check]:
    certificate, at = opened.certificate, against.at
    signed, detail = _signature(opened, against.public_key)
    yield _check("signature", signed, detail)
    if signed is False:
        return  # whoever wrote the rest, it is not worth the work of recomputing it
    if against.revocations is not None:
        yield _check("revocation", *_revocation(opened, against.revocations, at))
    if against.model is not None:
        yield _check("given model", *_same_model(certificate, against.model))
    if opened.from_pdf:
        same = not opened.differing
        yield _check(
            "attachments", same, "no other one in the PDF" if same else "another one in the PDF differs"
        )
        yield _check("pages", None, "what the pages of the PDF say was not compared; the attachment counts")
    if opened.seal is not None and against.public_key is not None:
        sealed = is_signed_by(*opened.seal, against.public_key)
        said = "by the same key" if sealed else "what stands around the certificate isn't signed by the key"
        yield _check("signature around", sealed, said)
    if opened.around is not None:
        yield _check(
            "model file", None, "its digest stands around the certificate; only the model was checked"
        )
    by_checker = {name: (holds, detail) for name, holds, detail in _by_checker(opened, against)}
    by_engine = {"words": _words(certificate)}
    if by_checker.get("scope", (False, ""))[0]:  # the engine needs a model with sensitive attributes
        by_engine |= _by_engine(certificate, against.limits)
    for name, (holds, detail) in by_checker.items():
        if name != "signature":
            other, other_detail = by_engine.get(name, (None, ""))
            yield _check(name, _both(holds, other), other_detail if other is False else detail)


def _by_checker(opened: Opened, against: Against) -> list[tuple[str, bool | None, str]]:
    """What the stand-alone checker finds; the signature was checked before."""
    repair = opened.certificate.model.repair
    named = repair.proof if isinstance(repair, RepairFacts) else None
    proof = against.proofs.get(named.sha256) if named else None
    try:
        return list(checker.examine(opened.data, None, against.at, proof, against.limits.expired))
    except checker.UNREADABLE as error:
        raise InputError(
            f"{escaped(opened.name)}: it can't be recomputed: {escaped(repr(error))[:200]}"
        ) from error


def _both(first: bool | None, second: bool | None) -> bool | None:
    """Whether a check holds by two algorithms, of which one may have left it out."""
    if False in (first, second):
        return False
    return True if True in (first, second) else None


def _check(name: str, holds: bool | None, detail: str) -> Check:
    return Check(name=name, outcome=_OUTCOMES[holds], detail=detail)


def _signature(opened: Opened, key: Ed25519PublicKey | None) -> tuple[bool | None, str]:
    """Whether the signature is by a key, by two implementations."""
    if not opened.is_signed:
        return (None if key is None else False), "it is not signed"
    if key is None:
        return None, f"no public key was given; it names the key {opened.key_id}"
    if opened.key_id != key_id(key):
        return False, f"it names another key, {opened.key_id}"
    holds = is_signed_by(opened.signed, opened.signature, key) and checker.is_signed(
        opened.signed, opened.signature, key.public_bytes_raw()
    )
    return holds, f"by key {opened.key_id}" if holds else "it does not match what was signed"


def _revocation(opened: Opened, revocations: Sequence[Revocation], at: date) -> tuple[bool, str]:
    names = {opened.certificate.id, opened.sha256}
    for entry in revocations:
        if names & {entry.id, entry.sha256} and entry.revoked <= at:
            return False, f"revoked on {entry.revoked}: {entry.reason or 'no reason was given'}"
    return True, "it is not on the list"


def _same_model(certificate: Certificate, spec: ModelSpec | ScorecardSpec) -> tuple[bool, str]:
    sensitive = [item.name for item in certificate.sensitive_attributes]
    given = issuing.marked(issuing.exact_of(spec), sensitive)
    if given.sha256() == certificate.model.sha256:
        return True, "it is the certified one"
    if certificate.box is not None and isinstance(given, NaiveBayes):
        certified = carried(certificate.model.name, certificate.model.exact)
        assert isinstance(certified, NaiveBayes), "only their certificates have a box"
        if in_box(given, certified, fraction_of(certificate.box)):
            return True, f"it is another model, in the box of the certified one: {given.sha256()}"
    return False, f"it is another model: {given.sha256()}"


def _words(certificate: Certificate) -> tuple[bool | None, str]:
    """Whether the sentences are those that the facts make."""
    expected = claims.claim(
        name=certificate.model.name,
        favourable=certificate.decision.favourable,
        sensitive=[item.name for item in certificate.sensitive_attributes],
        criterion=certificate.criterion,
        delta=certificate.delta,
        min_probability=certificate.min_probability,
        verdict=certificate.verdict,
        undisclosed=meaning_of(certificate),
        box=certificate.box,
        version=certificate.version,
    )
    assumptions = claims.assumptions(meaning_of(certificate))
    fixed = (assumptions, claims.limits(certificate.box), claims.METHOD[certificate.model.family])
    if (certificate.assumptions, certificate.limits, certificate.method) != fixed:
        return False, "the assumptions, limits or method are not worded as in certificates"
    holds = certificate.claim == expected
    return holds, expected.formula if holds else "the sentence or the formula is not what the fields say"


def _by_engine(certificate: Certificate, limits: Limits) -> dict[str, tuple[bool | None, str]]:
    """Answer the certificate's question anew, and compare; None where the engine reached a limit."""
    model = carried(certificate.model.name, certificate.model.exact)
    least = certificate.min_probability
    question = Question.of(certificate.delta, certificate.criterion, least, limits=limits)
    # What a certificate says nothing of is not worth the work of counting it.
    found = answer(model, question, Wanted(count=certificate.pattern_count is not None))
    total, told, listed = found.count.total, certificate.max_degree, certificate.pattern_count
    if found.verdict == "delta-fair":
        total = 0
    bounds = found.largest.lower, found.largest.upper
    degree = f"the largest degree is from {float(bounds[0]):.12f} to {float(bounds[1]):.12f}"
    checks: dict[str, tuple[bool | None, str]] = {}
    if told.exact is not None:
        exactly = fraction_of(told.exact)
        within = bounds[0] <= exactly <= bounds[1]
        checks["largest degree"] = (within and (True if exactly == bounds[1] else None), degree)
    else:
        upper = fraction_of(told.upper)
        checks["largest degree"] = (
            False if bounds[0] > upper else True if bounds[1] <= upper else None,
            degree,
        )
    if listed is not None:
        possible = found.count.lower <= int(listed) <= found.count.upper
        holds = possible and None if total is None else int(listed) == total
        checks["count"] = (holds, f"there are from {found.count.lower} to {found.count.upper} patterns")
    if certificate.coverage is not None:
        expected = None if total is None else issuing.coverage(found)
        checks["coverage"] = (
            None if expected is None else _rows(certificate.coverage) == _rows(expected),
            "the patterns are spread in another way over the sets of sensitive attributes",
        )
    if certificate.box is not None:
        assert isinstance(model, NaiveBayes), "only their certificates have a box"
        models = box(model, fraction_of(certificate.box))
        fair = decided(models, question.criterion, fair=True, limits=limits)
        checks["box"] = (fair, "not every model in it is δ-fair")
    verdict = None if "inconclusive" in (found.verdict, certificate.verdict) else found.verdict
    checks["verdict"] = (verdict and verdict == certificate.verdict, f"the engine finds {found.verdict}")
    return checks


def _rows(coverage: Sequence[Coverage]) -> list[tuple[tuple[str, ...], str, str]]:
    """What coverage says of each set; how it was decided is for the checker, and differs between versions."""
    return [(row.disclosed, row.pairs, row.patterns) for row in coverage]
