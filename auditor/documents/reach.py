"""How far a verdict reaches: what holds for every model of a set, or in every population."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from auditor.choices import CardSetName, ReachVerdict, SetName
from auditor.documents.parameters import FractionText, fraction_text
from auditor.documents.record import Count, Degree, Probability, Record, labels
from auditor.documents.rounding import both_ends, decimal_text, round_beside, rounded_down

if TYPE_CHECKING:
    from auditor.model.classifier import Classifier
    from auditor.search.answer import HowFar
    from auditor.search.card_reach import CardExtreme, CardReach, Margin
    from auditor.search.populations import PopulationExtreme, PopulationReach
    from auditor.search.ranges import ModelSet
    from auditor.search.reach import Certain, Extreme, LargestBox, Reach
    from auditor.search.reach_counts import SetCounts

_Numbers = tuple[Count, Count]
_Ends = Annotated[
    tuple[Probability, Probability],
    Field(description="Found lower and proved upper bound on the largest |degree|, rounded outward."),
]


class ParameterRecord(Record):
    """The two probabilities of a value in one model."""

    attribute: str
    value: str
    given_favourable: FractionText
    """P(value | favourable)."""
    given_unfavourable: FractionText
    """P(value | unfavourable)."""


class ExtremeRecord(Record):
    """A model of a set, as far as one pattern depends on it, and what the pattern does in it."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    degree: Degree
    favourable_given_pattern: Probability
    favourable_given_context: Probability
    prior: FractionText
    """P(favourable) in that model."""
    parameters: tuple[ParameterRecord, ...]
    """Of the values of the pattern; the others of that model don't bear on it."""

    @classmethod
    def of(cls, model: Classifier, extreme: Extreme, threshold: Fraction) -> Self:
        """Name the values, and keep the parameters exactly."""
        return cls(
            sensitive_values=labels(model, extreme.sensitive_values),
            context_values=labels(model, extreme.context_values),
            degree=round_beside(extreme.degree, threshold),
            favourable_given_pattern=float(extreme.given_pattern),
            favourable_given_context=float(extreme.given_context),
            prior=fraction_text(extreme.prior),
            parameters=tuple(
                ParameterRecord(
                    attribute=model.attributes[q.attribute].name,
                    value=model.attributes[q.attribute].values[q.value],
                    given_favourable=fraction_text(q.favourable),
                    given_unfavourable=fraction_text(q.unfavourable),
                )
                for q in extreme.parameters
            ),
        )


class CertainPatternRecord(Record):
    """A pattern with the largest |degree| that a pattern has in each model of a set, as far as found."""

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    least_degree: Probability
    """Its least |degree| in any model, rounded down."""

    @classmethod
    def of(cls, model: Classifier, certain: Certain) -> Self:
        """Name the values."""
        return cls(
            sensitive_values=labels(model, certain.sensitive_values),
            context_values=labels(model, certain.context_values),
            least_degree=rounded_down(certain.least),
        )


class SetRecord(Record):
    """What holds for every model of a set.

    In a ``box`` each probability is that of the audited model times a factor from 1/(1+ε) to 1+ε. In an
    ``imprecise-dirichlet`` set it is what a model learned from the same counts and s more rows can have,
    whatever these are in each distribution by itself: P(v | d) from n/(N+s) to (n+s)/(N+s).
    """

    set: SetName
    size: str
    """ε or s as given."""
    verdict: ReachVerdict
    """none-delta-fair: one pattern discriminates in every model. varies: at least one model is not δ-fair,
    and no one pattern discriminates in all.
    """
    max_degree: Probability
    """|degree| of the worst pattern of any model found."""
    max_degree_bounds: _Ends
    worst: ExtremeRecord | None
    """null: no degree in the set is other than 0."""
    certain: CertainPatternRecord | None
    """null if every model is δ-fair, or every pattern has degree 0 in some model."""
    patterns_in_some: _Numbers | None = None
    """At least and at most so many patterns discriminate in some model, each in its own."""
    patterns_in_every: _Numbers | None = None
    """At least and at most so many discriminate in every model."""
    not_counted: str | None = None
    """Why one of these isn't known exactly."""

    @classmethod
    def of(
        cls, model: Classifier, models: ModelSet, found: Reach, counts: SetCounts, threshold: Fraction
    ) -> Self:
        """Round the figures outward."""
        low = abs(found.largest.degree) if found.largest else Fraction(0)
        return cls(
            set=models.name,
            size=models.size,
            verdict=found.verdict,
            max_degree=round_beside(low, threshold),
            max_degree_bounds=both_ends(low, found.upper, threshold),
            worst=ExtremeRecord.of(model, found.largest, threshold) if found.largest else None,
            certain=CertainPatternRecord.of(model, found.certain) if found.certain else None,
            patterns_in_some=counts.some,
            patterns_in_every=counts.every,
            not_counted=counts.reason,
        )


class CardExtremeRecord(Record):
    """A scorecard of a set, and a pattern of largest |degree| there.

    Let h be what each number may be off by. What the sensitive values of the pattern count is ``side`` times
    h more there, what their attributes count undisclosed as much less, and everything else that the pattern
    depends on, the intercept too, ``share`` times h more.
    """

    sensitive_values: dict[str, str]
    context_values: dict[str, str]
    degree: Degree
    favourable_given_pattern: Probability
    favourable_given_context: Probability
    side: Literal[1, -1, 0]
    share: str
    """From -1 to 1."""

    @classmethod
    def of(cls, model: Classifier, extreme: CardExtreme, threshold: Fraction) -> Self:
        """Name the values."""
        return cls(
            sensitive_values=labels(model, extreme.sensitive_values),
            context_values=labels(model, extreme.context_values),
            degree=round_beside(extreme.degree, threshold),
            favourable_given_pattern=float(extreme.given_pattern),
            favourable_given_context=float(extreme.given_context),
            side=extreme.side,
            share=decimal_text(extreme.share),
        )


class CardSetRecord(Record):
    """What holds for every scorecard of a set.

    In each of them what a value counts, what each attribute counts undisclosed, and the intercept are each,
    in log-odds, within h of those of the audited one, independently. In a ``box`` h is ln(1 + ε); with
    ``rounding`` it is half a unit of the last place to which any number of the scorecard is written. So the
    set has every scorecard whose numbers are these when they are rounded, under the population whose shares
    among people with the unfavourable decision are those of the audited one.
    """

    set: CardSetName
    size: str
    """ε as given; or half a unit, in points or weights."""
    verdict: ReachVerdict
    """none-delta-fair: one pattern discriminates in every one. varies: at least one is not δ-fair, and no one
    pattern discriminates in all.
    """
    max_degree: Probability
    """|degree| of the worst pattern of any found."""
    max_degree_bounds: _Ends
    worst: CardExtremeRecord | None
    """null: none was found in time."""
    certain: CertainPatternRecord | None
    """null if every one is δ-fair, or every pattern has degree 0 in some."""
    patterns_in_some: _Numbers | None = None
    """At least and at most so many patterns discriminate in some scorecard, each in its own."""
    patterns_in_every: _Numbers | None = None
    """At least and at most so many discriminate in every scorecard."""
    not_counted: str | None = None
    """Why one of these isn't known exactly."""

    @classmethod
    def of(
        cls, model: Classifier, margin: Margin, found: CardReach, counts: SetCounts, threshold: Fraction
    ) -> Self:
        """Round the figures outward."""
        low = abs(found.largest.degree) if found.largest else Fraction(0)
        return cls(
            set=margin.name,
            size=margin.size,
            verdict=found.verdict,
            max_degree=round_beside(low, threshold),
            max_degree_bounds=both_ends(low, found.upper, threshold),
            worst=CardExtremeRecord.of(model, found.largest, threshold) if found.largest else None,
            certain=CertainPatternRecord.of(model, found.certain) if found.certain else None,
            patterns_in_some=counts.some,
            patterns_in_every=counts.every,
            not_counted=counts.reason,
        )


class LargestBoxRecord(Record):
    """Up to which box the verdict holds for every model in it.

    ``delta-fair``: every model is δ-fair. ``not-delta-fair``: one pattern discriminates in every model.
    """

    verdict: Literal["delta-fair", "not-delta-fair"]
    holds: str
    """An ε for which that is proved; 0: for none above it."""
    beyond: str | None
    """One for which it is not; null: it holds for the largest ε tried."""
    refuted: bool
    """Whether it is shown not to hold for `beyond`, rather than left open."""

    @classmethod
    def of(cls, found: LargestBox) -> Self:
        """Write both ends as decimals."""
        return cls(
            verdict="delta-fair" if found.fair else "not-delta-fair",
            holds=_decimal(found.holds),
            beyond=None if found.beyond is None else _decimal(found.beyond),
            refuted=found.refuted,
        )


class PopulationExtremeRecord(Record):
    """Numbers for what isn't disclosed that those of populations come near, and a pattern without context."""

    sensitive_values: dict[str, str]
    degree: Degree
    favourable_given_pattern: Probability
    favourable_given_context: Probability
    undisclosed: dict[str, FractionText]
    """What each attribute counts undisclosed, in the exponents of the scorecard."""

    @classmethod
    def of(cls, model: Classifier, extreme: PopulationExtreme, threshold: Fraction) -> Self:
        """Name the values, and keep the numbers exactly."""
        return cls(
            sensitive_values=labels(model, extreme.sensitive_values),
            degree=round_beside(extreme.degree, threshold),
            favourable_given_pattern=float(extreme.given_pattern),
            favourable_given_context=float(extreme.given_context),
            undisclosed={
                model.attributes[i].name: fraction_text(u) for i, u in enumerate(extreme.undisclosed)
            },
        )


class PopulationsRecord(Record):
    """What holds for a scorecard in every population that conforms with it.

    An attribute that isn't disclosed counts some number between those of its values.
    """

    verdict: Literal["all-delta-fair", "varies"]
    """varies: not in every population; no one pattern discriminates in all."""
    max_degree: Probability
    """|degree| to which the worst pattern comes near."""
    max_degree_bounds: _Ends
    worst: PopulationExtremeRecord | None
    """null: no value of a sensitive attribute counts more or less than another."""

    @classmethod
    def of(cls, model: Classifier, found: PopulationReach, threshold: Fraction) -> Self:
        """Round the figures outward."""
        low = found.largest.degree if found.largest else Fraction(0)
        return cls(
            verdict="all-delta-fair" if found.verdict == "all-delta-fair" else "varies",
            max_degree=round_beside(low, threshold),
            max_degree_bounds=both_ends(low, found.upper, threshold),
            worst=PopulationExtremeRecord.of(model, found.largest, threshold) if found.largest else None,
        )


class HowFarRecord(Record):
    """What holds beyond the audited model, as far as it was asked for."""

    sets: tuple[SetRecord, ...] = ()
    """Each has the audited model."""
    cards: tuple[CardSetRecord, ...] = ()
    """Each has the audited scorecard."""
    largest_box: LargestBoxRecord | None = None
    """null also where the verdict is inconclusive."""
    every_population: PopulationsRecord | None = None

    @classmethod
    def of(cls, model: Classifier, found: HowFar, threshold: Fraction) -> Self:
        """Write down what was found."""
        return cls(
            sets=tuple(SetRecord.of(model, *about, threshold) for about in found.sets),
            cards=tuple(CardSetRecord.of(model, *about, threshold) for about in found.cards),
            largest_box=LargestBoxRecord.of(found.largest_box) if found.largest_box else None,
            every_population=PopulationsRecord.of(model, found.populations, threshold)
            if found.populations
            else None,
        )

    @property
    def sizes(self) -> dict[str, str]:
        """The size of each set that was asked about, as it was given, by its name."""
        return {s.set: s.size for s in self.sets} | {s.set: s.size for s in self.cards}

    @property
    def verdicts(self) -> tuple[ReachVerdict, ...]:
        """The verdicts on all sets and populations that were asked about."""
        populations = self.every_population
        sets = [*(s.verdict for s in self.sets), *(s.verdict for s in self.cards)]
        return (*sets, *([populations.verdict] if populations else []))


def _decimal(value: Fraction) -> str:
    """A decimal as it is; all sizes of boxes that are tried end."""
    return decimal_text(Decimal(value.numerator) / Decimal(value.denominator))
