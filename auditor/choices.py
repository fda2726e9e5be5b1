"""The words that documents, options and the Python API choose from; nothing is imported for them."""

from typing import Literal

Verdict = Literal["delta-fair", "not-delta-fair", "inconclusive"]
CriterionName = Literal["difference", "ratio"]
RankBy = Literal["divergence", "discrimination", "probability"]
SummaryName = Literal["minimal", "pareto", "maximal"]
ListName = Literal["top", "minimal", "pareto", "maximal", "sample"]
MethodName = Literal["fair", "independent", "independent-mean", "unconstrained"]
SolverName = Literal["interior", "sqp", "signomial"]
CutRanking = Literal["discrimination", "divergence"]
