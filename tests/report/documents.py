"""Documents made by hand, to see how they are shown."""

from __future__ import annotations

from typing import Any

from auditor.documents.audit import (
    Audit,
    CoverageRecord,
    ModelRecord,
    PatternRecord,
    SearchRecord,
    SensitiveAttributeRecord,
)
from auditor.documents.patterns import PatternList


def pattern(**changed: Any) -> PatternRecord:
    """One pattern."""
    return PatternRecord(
        **{
            "sensitive_values": {"Sex": "Female", "Age": "Over 30"},
            "context_values": {"Level": "3 or 4"},
            "degree": 0.25,
            "probability": 0.0123456,
            "divergence_nats": 0.00305123,
            "favourable_given_pattern": 0.75,
            "favourable_given_context": 0.5,
            **changed,
        }
    )


def model(name: str = "Credit", **changed: Any) -> ModelRecord:
    """The model that was audited."""
    return ModelRecord(
        **{
            "name": name,
            "sha256": "0123456789abcdef" * 4,
            "decision": "Loan",
            "favourable": "Granted",
            "unfavourable": "Refused",
            "attributes": ("Sex", "Age", "Level"),
            "sensitive": ("Sex", "Age"),
            **changed,
        }
    )


def audit_document(name: str = "Credit", **changed: Any) -> Audit:
    """An audit that found patterns."""
    return Audit(
        **{
            "verdict": "not-delta-fair",
            "criterion": "difference",
            "delta": "0.1",
            "min_probability": None,
            "max_degree": 0.25,
            "max_degree_bounds": (0.25, 0.25),
            "worst_pattern": pattern(),
            "pattern_count": 40,
            "pattern_count_reason": None,
            "total_patterns": 48,
            "rank_by": "divergence",
            "top_patterns": (pattern(), pattern(degree=-0.2)),
            "minimal_patterns": (pattern(context_values={}),),
            "group_level": pattern(context_values={}),
            "individual_level": pattern(),
            "group_level_bounds": (0.25, 0.25),
            "individual_level_bounds": (0.25, 0.25),
            "by_sensitive_attribute": (
                SensitiveAttributeRecord(
                    attribute="Sex",
                    max_degree=0.25,
                    max_degree_bounds=(0.25, 0.25),
                    worst_pattern=pattern(),
                    pattern_count=30,
                ),
            ),
            "coverage": (
                CoverageRecord(disclosed=("Sex", "Age"), method="exhausted", pairs=48, patterns=40),
            ),
            "search": SearchRecord(
                complete=True,
                combinations_solved=1,
                combinations_total=8,
                nodes=21,
                seconds=0.0123,
                top_patterns_complete=True,
                minimal_patterns_complete=True,
                reasons=(),
            ),
            "model": model(name),
            **changed,
        }
    )


def pattern_list(**changed: Any) -> PatternList:
    """A list of two top patterns."""
    return PatternList(
        **{
            "list": "top",
            "rank_by": "divergence",
            "criterion": "difference",
            "delta": "0.1",
            "min_probability": None,
            "limit": 10,
            "complete": True,
            "patterns": (pattern(), pattern(degree=-0.2, context_values={})),
            "model": model(),
            **changed,
        }
    )
