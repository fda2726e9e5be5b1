"""Reads the policy file and puts it together with the options of a command."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from auditor.certificate.scope import scoped
from auditor.choices import CriterionName
from auditor.documents.certificate import Overridden, Policy, SensitiveAttribute
from auditor.documents.policy import MAX_VALID_DAYS, PolicyFile, share_text
from auditor.documents.reading import validated
from auditor.errors import InputError
from auditor.model import checks
from auditor.model.reading import read_bytes
from auditor.search.limits import DEFAULT, Limits
from auditor.search.question import Question

MAX_BYTES = 1024**2
VALID_DAYS = 365


@dataclass(frozen=True)
class LoadedPolicy:
    """A policy file that was read, with the digest of its bytes."""

    name: str
    sha256: str
    content: PolicyFile


@dataclass(frozen=True)
class Terms:
    """What a certificate is to say, apart from the answer."""

    question: Question
    """Its threshold and minimum probability are written as certificates write them."""
    sensitive: tuple[SensitiveAttribute, ...] | None = None
    """The attributes of the question with the reasons for them; None: those that the model marks."""
    valid_days: int = VALID_DAYS
    issuer: str | None = None
    responsible: str | None = None
    policy: Policy = field(default_factory=Policy)
    """Where these come from."""


def load_policy(path: str | os.PathLike[str]) -> LoadedPolicy:
    """Read and validate a policy file.

    Raises
    ------
    InputError
        With one line per problem.
    """
    name = os.fspath(path)
    data = read_bytes(path, MAX_BYTES)
    try:
        tree = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
        at = f"line {found[1]}, column {found[2]}: " if found else ""
        why = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "not TOML"
        raise InputError(
            f"{name}: {at}{why}; correct it, or see the policy that auditor init writes"
        ) from error
    return LoadedPolicy(name, hashlib.sha256(data).hexdigest(), validated(PolicyFile, tree, name))


def terms(
    policy: LoadedPolicy | None = None,
    *,
    delta: str | None = None,
    criterion: CriterionName | None = None,
    min_probability: str | None = None,
    sensitive: tuple[str, ...] = (),
    valid_days: int | None = None,
    issuer: str | None = None,
    responsible: str | None = None,
    inherited: Terms | None = None,
    limits: Limits = DEFAULT,
) -> Terms:
    """Put a policy and options together; an option beats the file, and both values are recorded.

    What neither says comes from the inherited terms; their policy stays only if nothing else is said.

    Raises
    ------
    InputError
        If an option is out of range, or no threshold is given anywhere.
    """
    file = policy.content if policy else PolicyFile(kind="auditor/policy", version=1)
    reasons = {item.name: item.reason for item in file.sensitive or ()}
    given: dict[str, Any] = {
        "delta": _option("delta", delta, share_text),
        "criterion": criterion,
        "min_probability": _option("min_probability", min_probability, share_text),
        "sensitive": tuple(SensitiveAttribute(name=n, reason=reasons.get(n)) for n in sensitive) or None,
        "valid_days": valid_days,
        "issuer": _option("issuer", issuer, checks.name),
        "responsible": _option("responsible", responsible, checks.name),
    }
    written: dict[str, Any] = {
        "delta": file.delta,
        "criterion": file.criterion,
        "min_probability": file.min_probability,
        "sensitive": tuple(SensitiveAttribute(name=s.name, reason=s.reason) for s in file.sensitive or ())
        or None,
        "valid_days": file.valid_days,
        "issuer": file.issuer.name,
        "responsible": file.issuer.responsible,
    }
    before = _settings(inherited) if inherited else dict.fromkeys(given)
    chosen = {
        name: next((v for v in (given[name], written[name], before[name]) if v is not None), None)
        for name in given
    }
    if chosen["delta"] is None:
        raise InputError("no threshold is given; give --delta, or delta in the policy file")
    if valid_days is not None and not 1 <= valid_days <= MAX_VALID_DAYS:
        raise InputError(f"valid_days: {valid_days} is not a number of days from 1 to {MAX_VALID_DAYS}")
    recorded = Policy()
    if policy:
        beaten = {
            name: value
            for name, value in written.items()
            if value is not None and _compared(name, value) != _compared(name, chosen[name])
        }
        recorded = Policy(sha256=policy.sha256, overridden=_overridden(beaten))
    elif inherited and chosen == before:
        recorded = inherited.policy
    names = None if chosen["sensitive"] is None else tuple(item.name for item in chosen["sensitive"])
    least = scoped(chosen["min_probability"])
    return Terms(
        question=Question.of(chosen["delta"], chosen["criterion"] or "difference", least, names, limits),
        sensitive=chosen["sensitive"],
        valid_days=chosen["valid_days"] or VALID_DAYS,
        issuer=chosen["issuer"],
        responsible=chosen["responsible"],
        policy=recorded,
    )


def _settings(terms: Terms) -> dict[str, Any]:
    """What terms say, by the names of a policy's settings."""
    least = terms.question.min_probability
    return {
        "delta": terms.question.delta.text,
        "criterion": terms.question.criterion_name,
        "min_probability": least.text if least else None,
        "sensitive": terms.sensitive,
        "valid_days": terms.valid_days,
        "issuer": terms.issuer,
        "responsible": terms.responsible,
    }


def _compared(name: str, value: Any) -> Any:
    """A setting as it is compared: neither the order nor the reasons of sensitive attributes matter."""
    if name == "sensitive" and value is not None:
        return sorted(item.name for item in value)
    return scoped(value) if name == "min_probability" else value


def _overridden(beaten: dict[str, Any]) -> Overridden:
    found = dict(beaten)
    if "sensitive" in found:
        found["sensitive"] = tuple(sorted(item.name for item in found["sensitive"]))
    if "valid_days" in found:
        found["valid_days"] = str(found["valid_days"])
    return Overridden(**found)


def _option(name: str, value: str | None, read: Callable[[str], str]) -> str | None:
    try:
        return None if value is None else read(value)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
