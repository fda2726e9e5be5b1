"""Reads the policy file and puts it together with the options of a command."""

from __future__ import annotations

import hashlib
import os
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from auditor.choices import CriterionName
from auditor.documents.certificate import Policy, SensitiveAttribute
from auditor.documents.policy import MAX_VALID_DAYS, PolicyFile, share_text
from auditor.documents.reading import validated
from auditor.errors import InputError
from auditor.model.reading import read_bytes

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
    """What a certificate is to say, apart from the answer.

    Attributes
    ----------
    delta : str
        The threshold as a plain decimal.
    criterion : {"difference", "ratio"}
    min_probability : str or None
    sensitive : tuple of SensitiveAttribute or None
        In place of the attributes that the model marks.
    valid_days : int
    issuer, responsible : str or None
    policy : Policy
        Where these come from.
    source : str
        What the sensitive attributes are called in messages.
    """

    delta: str
    criterion: CriterionName = "difference"
    min_probability: str | None = None
    sensitive: tuple[SensitiveAttribute, ...] | None = None
    valid_days: int = VALID_DAYS
    issuer: str | None = None
    responsible: str | None = None
    policy: Policy = field(default_factory=lambda: Policy(sha256=None, overridden=()))
    source: str = "sensitive attributes"


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
        raise InputError(f"{name}: not TOML: {error}") from error
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
) -> Terms:
    """Put a policy and options together; an option beats the file, and is recorded if it differs from it.

    What neither says comes from the inherited terms.

    Raises
    ------
    InputError
        If an option is out of range, or no threshold is given anywhere.
    """
    file = policy.content if policy else PolicyFile(kind="auditor/policy", version=1)
    reasons = {item.name: item.reason for item in file.sensitive or ()}
    given: dict[str, Any] = {
        "delta": _option("delta", delta),
        "criterion": criterion,
        "min_probability": _option("min_probability", min_probability),
        "sensitive": tuple(SensitiveAttribute(name=n, reason=reasons.get(n)) for n in sensitive) or None,
        "valid_days": valid_days,
        "issuer": issuer,
        "responsible": responsible,
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
    chosen = {
        name: next(
            (v for v in (given[name], written[name], getattr(inherited, name, None)) if v is not None), None
        )
        for name in given
    }
    if chosen["delta"] is None:
        raise InputError("no threshold is given; give --delta, or delta in the policy file")
    if valid_days is not None and not 1 <= valid_days <= MAX_VALID_DAYS:
        raise InputError(f"valid_days: {valid_days} is not a number of days from 1 to {MAX_VALID_DAYS}")
    overridden = tuple(
        name
        for name in given
        if policy and None not in (given[name], written[name]) and given[name] != written[name]
    )
    return Terms(
        **{name: value for name, value in chosen.items() if value is not None},
        policy=(
            inherited.policy
            if inherited and not policy
            else Policy(sha256=policy.sha256 if policy else None, overridden=overridden)
        ),
        source=f"{policy.name}: sensitive" if policy and not sensitive else "sensitive attributes",
    )


def _option(name: str, value: str | None) -> str | None:
    try:
        return None if value is None else share_text(value)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
