"""The proof of a likelihood, version 1: how likely a δ-fair model of some counts can be at most, and why.

`auditor/repair/proof_checker.py` says what is claimed, and checks it. All numbers are decimals as text,
exactly.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from auditor.documents.record import Count, Record, ToolRecord
from auditor.documents.verification import Check

Number = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$")]
Values = tuple[tuple[Count, Count], ...]


class CountedAttribute(Record):
    """The counts of an attribute's values, the smoothing added."""

    name: str
    values: tuple[str, ...]
    sensitive: bool
    favourable: tuple[Number, ...]
    unfavourable: tuple[Number, ...]


class FormRecord(Record):
    """Log-odds of values, each an attribute and a value by number; a log-odds ratio without the prior."""

    values: Values
    prior: bool


class PatternRecord(Record):
    """Sensitive values that are not to discriminate in a context."""

    sensitive_values: Values
    context_values: Values


class ChordRecord(Record):
    """``limited <= slope · base + intercept``, above h from low to high; null is minus infinity.

    The base is the context's log-odds if forward, else the pattern's. From low_from to low, and from high
    to high_from, the forms would have to differ by more than h allows.
    """

    pattern: Count
    forward: bool
    low: Number | None
    low_from: Number | None
    high_from: Number | None
    high: Number
    slope: Number
    intercept: Number


class Weights(Record):
    """Multipliers of chords, by number, and of ends of ranges, by form and whether it is the upper one."""

    chords: tuple[tuple[Count, Number], ...]
    ranges: tuple[tuple[Count, bool, Number], ...]


class RangeStep(Record):
    """A form is at most (upper) or at least a value in all models that are as likely as the target."""

    form: Count
    upper: bool
    value: Number
    target_weight: Number
    weights: Weights


class Split(Record):
    """Where a form is at most a number, one branch goes on, and where it is at least that, the other."""

    form: Count
    at: Number
    below: Count
    above: Count


class BranchRecord(Record):
    """Ranges of a branch, and its split or the weights that bound its log-likelihood."""

    steps: tuple[RangeStep, ...]
    split: Split | None
    weights: Weights | None


class LikelihoodProof(Record):
    """No δ-fair naive Bayes model of these counts has a log-likelihood above the bound."""

    kind: Literal["auditor/likelihood-proof"] = "auditor/likelihood-proof"
    version: Literal[1] = 1
    model: str
    sha256: str
    """Of the most likely model of the counts, which nothing constrains."""
    favourable: str
    criterion: Literal["difference"] = "difference"
    delta: Number
    decision: tuple[Number, Number]
    """Cases with the favourable decision, and others."""
    attributes: tuple[CountedAttribute, ...]
    found: Number
    """Log-likelihood of the δ-fair model that was found, in nats."""
    target: Number
    """Models below this log-likelihood are of no interest to the proof."""
    bound: Number
    """No δ-fair model of the counts has a greater log-likelihood."""
    forms: tuple[FormRecord, ...]
    patterns: tuple[PatternRecord, ...]
    chords: tuple[ChordRecord, ...]
    branches: tuple[BranchRecord, ...]
    """The first one is all models."""
    tool: ToolRecord = ToolRecord()


class ProofVerification(Record):
    """What was checked of a proof of a likelihood."""

    kind: Literal["auditor/proof-verification"] = "auditor/proof-verification"
    version: Literal[1] = 1
    result: Literal["holds", "does not hold", "undecided"]
    """Undecided if computing the proof again takes too much work."""
    file: str
    model: str
    delta: str
    bound: str
    """What the proof claims, in nats."""
    checks: tuple[Check, ...]
    tool: ToolRecord = ToolRecord()
