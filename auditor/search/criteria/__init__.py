"""The criteria of discrimination, one file each, by name."""

from auditor.choices import CriterionName
from auditor.search.criteria.criterion import CONTEXT, LOST, Criterion, Interval, ln
from auditor.search.criteria.difference import Difference
from auditor.search.criteria.ratio import Ratio

CRITERIA: dict[CriterionName, type[Criterion]] = {kind.name: kind for kind in (Difference, Ratio)}

__all__ = ["CONTEXT", "CRITERIA", "LOST", "Criterion", "Difference", "Interval", "Ratio", "ln"]
