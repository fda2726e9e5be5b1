"""What a report is about: a stored answer, and whatever else is stored of the same model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from auditor.choices import CriterionName, Verdict
from auditor.documents.audit import (
    Audit,
    CoverageRecord,
    DegreeRecord,
    ModelRecord,
    PatternRecord,
)
from auditor.documents.labels import as_read
from auditor.documents.parameters import ExactModel, ExactScorecard, fraction_of
from auditor.documents.rounding import ends_beside, limit_of, round_beside
from auditor.model.spec import Provenance, RepairRecord
from auditor.report.profiles import Profile

if TYPE_CHECKING:
    # An audit in a terminal has none of these, and to make their classes takes a tenth of its time.
    from auditor.documents.certificate import Certificate
    from auditor.documents.certificate import Provenance as CertifiedProvenance
    from auditor.documents.comparison import Comparison, ParameterChange
    from auditor.documents.repair import PointsChange, Repair

#: The last place of the decimals between which a certificate says that the largest degree lies.
_LAST_PLACE = Fraction(1, 10**12)


@dataclass(frozen=True)
class Stated:
    """The question, the verdict and its figures, which an audit and a certificate both have."""

    verdict: Verdict
    criterion: CriterionName
    delta: str
    min_probability: str | None
    model: ModelRecord
    largest: DegreeRecord
    """The largest degree with its bounds and the worst pattern."""
    count: int | None
    """The exact number of discrimination patterns."""
    count_bounds: tuple[int, int] | None
    """What is proved of it."""
    count_reason: str | None
    """Why it isn't exact."""
    total: int
    coverage: tuple[CoverageRecord, ...] | None
    reasons: tuple[str, ...]
    """Why something is not complete."""
    version: str

    @classmethod
    def of_audit(cls, audit: Audit) -> Self:
        """The answer of an audit."""
        degree, bounds = audit.max_degree, audit.max_degree_bounds
        return cls(
            verdict=audit.verdict,
            criterion=audit.criterion,
            delta=audit.delta,
            min_probability=audit.min_probability,
            model=audit.model,
            largest=DegreeRecord(
                max_degree=degree,
                max_degree_bounds=(degree, degree) if audit.search.complete else bounds,
                worst_pattern=audit.worst_pattern,
            ),
            count=audit.pattern_count,
            count_bounds=audit.pattern_count_bounds,
            count_reason=audit.pattern_count_reason,
            total=audit.total_patterns,
            coverage=audit.coverage,
            reasons=audit.search.reasons,
            version=audit.tool.version,
        )

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Self:
        """The answer of a certificate."""
        exact, witness, threshold = certificate.model.exact, certificate.witness, Fraction(certificate.delta)
        names = tuple(attribute.name for attribute in exact.attributes)

        def ordered(values: dict[str, str]) -> dict[str, str]:
            """As the model has them; a file has them by the alphabet."""
            known = {name: values[name] for name in names if name in values}
            return known | values

        largest = certificate.max_degree
        lower, upper = fraction_of(largest.lower), fraction_of(largest.upper)
        bounds = round_beside(lower, threshold), ends_beside(lower, upper, threshold)[1]
        if largest.exact is not None:
            bounds = (round_beside(fraction_of(largest.exact), threshold),) * 2
        elif isinstance(exact, ExactScorecard) and witness and certificate.verdict != "inconclusive":
            # Their degrees are no fractions; where both ends meet, it is that of the witness.
            met = fraction_of(largest.upper) - fraction_of(largest.lower) <= _LAST_PLACE
            bounds = (round_beside(abs(fraction_of(witness.degree)), threshold),) * 2 if met else bounds
        return cls(
            verdict=certificate.verdict,
            criterion=certificate.criterion,
            delta=certificate.delta,
            min_probability=certificate.min_probability,
            model=ModelRecord(
                name=certificate.model.name,
                sha256=certificate.model.sha256,
                decision=exact.decision,
                favourable=exact.favourable,
                unfavourable=exact.unfavourable,
                attributes=names,
                sensitive=tuple(attribute.name for attribute in certificate.sensitive_attributes),
                undisclosed=exact.undisclosed if isinstance(exact, ExactScorecard) else None,
            ),
            largest=DegreeRecord(
                max_degree=bounds[0],
                max_degree_bounds=bounds,
                worst_pattern=None
                if witness is None
                else PatternRecord(
                    sensitive_values=ordered(witness.sensitive_values),
                    context_values=ordered(witness.context_values),
                    degree=round_beside(fraction_of(witness.degree), threshold),
                    probability=None
                    if witness.probability is None
                    else float(fraction_of(witness.probability)),
                    divergence_nats=None,
                    favourable_given_pattern=float(fraction_of(witness.favourable_given_pattern)),
                    favourable_given_context=float(fraction_of(witness.favourable_given_context)),
                ),
            ),
            count=None if certificate.pattern_count is None else int(certificate.pattern_count),
            count_bounds=None,
            count_reason=certificate.pattern_count_reason,
            total=int(certificate.total_patterns),
            coverage=None
            if certificate.coverage is None
            else tuple(
                CoverageRecord(
                    disclosed=row.disclosed,
                    method=row.method,
                    pairs=int(row.pairs),
                    patterns=int(row.patterns),
                )
                for row in certificate.coverage
            ),
            reasons=(certificate.inconclusive_reason,) if certificate.inconclusive_reason else (),
            version=certificate.tool.version,
        )

    @property
    def margin(self) -> Decimal | None:
        """How far every degree is proved to stay below δ; None where one doesn't, or that is not proved.

        It is 0 where there is no number of a document between the two.
        """
        if self.verdict != "delta-fair":
            return None
        _, high = self.largest.max_degree_bounds or (0.0, self.largest.max_degree)
        return Decimal(self.delta) - Decimal(repr(high)) if high < limit_of(self.delta) else Decimal(0)


@dataclass(frozen=True)
class Subject:
    """What a report is about; everything in it was computed before."""

    stated: Stated
    """Of the certificate if there is one, else of the audit."""
    audit: Audit | None = None
    certificate: Certificate | None = None
    file: str = ""
    """The certificate's file, JSON as it is; empty if there is none."""
    key_id: str = ""
    """Of the key that the signed certificate names; empty if it isn't signed."""
    parameters: ExactModel | None = None
    """The whole model."""
    provenance: Provenance | CertifiedProvenance | None = None
    comparison: Comparison | None = None
    """What changed since the certificate that this one takes the place of."""
    repair: Repair | RepairRecord | None = None
    """How the model was repaired: the document that the repair gave, or what the model says of it."""
    moved: tuple[ParameterChange | PointsChange, ...] = ()
    """The parameters that the repair moved most, or all points of a scorecard that it moved."""
    profile: Profile | None = None
    brief: bool = False
    """Whether it is for a terminal, with the main figures only."""

    @property
    def reaches_further(self) -> bool:
        """Whether something is said of other models or populations too."""
        box = self.certificate.box if self.certificate else None
        return box is not None or (self.audit is not None and self.audit.how_far is not None)

    def as_read(self) -> Subject:
        """The same with the labels of attributes in place of their names, where there are any."""
        model = self.audit.model if self.audit and self.audit.model.labels else self.stated.model
        if not (labels := model.labels):
            return self
        stated = replace(
            self.stated,
            model=as_read(model, labels),
            largest=as_read(self.stated.largest, labels),
            coverage=self.stated.coverage and tuple(as_read(row, labels) for row in self.stated.coverage),
        )
        return replace(
            self,
            stated=stated,
            audit=self.audit and as_read(self.audit, labels),
            certificate=self.certificate and as_read(self.certificate, labels),
            parameters=self.parameters and as_read(self.parameters, labels),
            comparison=self.comparison and as_read(self.comparison, labels),
            repair=self.repair
            if self.repair is None or isinstance(self.repair, RepairRecord)
            else as_read(self.repair, labels),
            moved=tuple(as_read(change, labels) for change in self.moved),
        )
