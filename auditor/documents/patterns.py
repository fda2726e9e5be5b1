"""The list document, version 1: patterns of one model, chosen in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.choices import CriterionName, ListName, RankBy
from auditor.documents.audit import ModelRecord, PatternRecord, patterns_frame
from auditor.documents.record import Record, ToolRecord

if TYPE_CHECKING:
    import pandas as pd

    from auditor.model.classifier import Classifier
    from auditor.search.additive.ranking import Ranking
    from auditor.search.additive.summaries import Summary
    from auditor.search.question import Question


class PatternList(Record):
    """Discrimination patterns of a model.

    ``top`` has those that rank highest; ``minimal`` those without a proper part that is one; ``pareto`` those
    that no other beats in both probability and |degree|; ``maximal`` those without an extension that is one;
    ``sample`` has patterns drawn uniformly from all; where they are fewer than the limit, they are all.
    """

    kind: Literal["auditor/patterns"] = "auditor/patterns"
    version: Literal[1] = 1
    list: ListName
    rank_by: RankBy | None
    """null unless the list is top."""
    criterion: CriterionName
    delta: str
    """The threshold as given; a degree above it discriminates."""
    min_probability: str | None
    """As given; null: patterns of any probability."""
    limit: Annotated[int, Field(ge=1)]
    """The most patterns that were asked for."""
    complete: bool
    """False: a top pattern can be missing, or the summary is the first of more."""
    unproved: Annotated[int, Field(ge=0)] = 0
    """So many at the end of a list of maximal patterns are not proved to be the most probable ones.

    They are maximal, but others may come before them.
    """
    missing_at_most: Annotated[float, Field(gt=0, le=1)] | None = None
    """Proved: no maximal pattern that may be missing before these has a greater probability.

    null: none is, or nothing is known of them.
    """
    patterns: tuple[PatternRecord, ...]
    model: ModelRecord
    tool: ToolRecord = ToolRecord()

    def patterns_frame(self) -> pd.DataFrame:
        """Return the patterns as a pandas DataFrame, a row for each."""
        return patterns_frame(self.patterns)

    @classmethod
    def of(
        cls,
        model: Classifier,
        question: Question,
        choose: ListName,
        limit: int,
        rank_by: RankBy,
        found: Ranking | Summary,
    ) -> Self:
        """Write down a list of one kind, of at most so many patterns."""
        threshold = question.criterion.threshold
        return cls(
            list=choose,
            rank_by=rank_by if choose == "top" else None,
            criterion=question.criterion_name,
            delta=question.delta.text,
            min_probability=question.min_probability.text if question.min_probability else None,
            limit=limit,
            complete=found.complete,
            unproved=getattr(found, "unproved", 0),
            missing_at_most=getattr(found, "missing_at_most", None),
            patterns=tuple(PatternRecord.of(model, pattern, threshold) for pattern in found.patterns),
            model=ModelRecord.of(model),
        )
