"""The words that documents, options and the Python API choose from; nothing is imported for them."""

from typing import Literal

Verdict = Literal["delta-fair", "not-delta-fair", "inconclusive"]
CriterionName = Literal["difference", "ratio"]
RankBy = Literal["divergence", "discrimination", "probability"]
SummaryName = Literal["minimal", "pareto", "maximal"]
ListName = Literal["top", "minimal", "pareto", "maximal", "sample"]
MethodName = Literal["fair", "independent", "independent-mean", "unconstrained"]
#: What an attribute of a scorecard counts where it isn't disclosed: as in the likeliest conforming
#: population, as the scorecard's own bin of missing values, or as its author has declared.
Undisclosed = Literal["conforming", "missing-bin", "declared"]
#: How the patterns over one set of sensitive attributes were decided (`search.pattern_count.Coverage`).
CoverageMethod = Literal["closed form", "exhausted", "enclosed", "bounded"]
#: As what a certificate is written: itself, or whole within a form that other tools read.
CertificateForm = Literal["certificate", "in-toto", "cyclonedx"]
SolverName = Literal["interior", "sqp", "signomial"]
CutRanking = Literal["discrimination", "divergence"]
#: Sets of models about an audited one: probabilities within a factor, and further rows of any kind.
SetName = Literal["box", "imprecise-dirichlet"]
#: Sets of scorecards: what each number multiplies the odds by within a factor, and numbers before rounding.
CardSetName = Literal["box", "rounding"]
#: Every model of a set is δ-fair; none is, since one pattern discriminates in all of them; at least one
#: isn't, and no pattern discriminates in all; or not decided within the limits.
ReachVerdict = Literal["all-delta-fair", "none-delta-fair", "varies", "inconclusive"]
