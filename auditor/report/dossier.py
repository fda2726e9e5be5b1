"""What a report says, ready to be laid out: sentences, numbers as people read them, and where marks go.

A template chooses the order, the words around tables and the looks; it computes nothing. Names from documents
stay here as they are and are escaped where they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from markupsafe import Markup

from auditor.choices import RankBy
from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate
from auditor.documents.certificate import Provenance as CertifiedProvenance
from auditor.documents.comparison import Comparison
from auditor.documents.repair import Repair
from auditor.model.naive_bayes import NaiveBayes
from auditor.model.spec import Provenance, RepairRecord
from auditor.report import charts, evidence, tables
from auditor.report.profiles import EvidenceName, Item, Profile
from auditor.report.tables import WORDS, plain
from auditor.report.wording import (
    DATA_PATTERN_HEAD,
    DATA_PATTERNS_MEANING,
    SCOPE,
    list_heading,
    percent,
    rounded,
    shown,
    whole,
)
from auditor.search.additive.log_odds import LogOdds
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import Criterion, Difference, Ratio
from auditor.search.limits import DEFAULT, Limits

#: What the first page has room for, in characters.
_COVER_NAME, _COVER_LIST, _COVER_SENTENCE, _FOOTER_NAME = 110, 200, 520, 70
#: Rows of tables that could otherwise grow without end; paper has room for fewer.
_COMBINATIONS_SHOWN, _MOVES_SHOWN, _MINIMAL_ON_PAPER, _COVERAGE_SHOWN = 16, 10, 40, 255
#: Fewer patterns need no scatter.
_FEWEST_DOTS = 3

_LOOKS = {"delta-fair": "fair", "not-delta-fair": "unfair", "inconclusive": "inconclusive"}
_VERDICTS = {"delta-fair": "δ-fair", "not-delta-fair": "Not δ-fair", "inconclusive": "Inconclusive"}
_CERTIFICATES = {
    "delta-fair": "Certificate of δ-fairness",
    "not-delta-fair": "Finding record",
    "inconclusive": "Record of an undecided audit",
}
_RANKINGS: Mapping[RankBy, str] = {
    "divergence": "divergence",
    "discrimination": "degree",
    "probability": "probability",
}


@dataclass(frozen=True)
class Subject:
    """What a report is about: an audit, and whatever else is known of the same model.

    Attributes
    ----------
    audit : Audit
    model : NaiveBayes or None
        The exact model; without it the report has only what the audit document holds.
    provenance : Provenance or None
    certificate : Certificate or None
        With it the report is that of the certificate, and the audit is what its model gives.
    key_id : str
        Of the key that signed the certificate; empty if it isn't signed.
    comparison : Comparison or None
        What changed since the certificate that this one takes the place of.
    repair : Repair or RepairRecord or None
        How the model was repaired: the document that the repair gave, or what the model says of it.
    before : NaiveBayes or None
        The model before the repair.
    profile : Profile or None
    limits : Limits
        Of the searches that fill the charts.
    """

    audit: Audit
    model: NaiveBayes | None = None
    provenance: Provenance | CertifiedProvenance | None = None
    certificate: Certificate | None = None
    key_id: str = ""
    comparison: Comparison | None = None
    repair: Repair | RepairRecord | None = None
    before: NaiveBayes | None = None
    profile: Profile | None = None
    limits: Limits = DEFAULT


@dataclass(frozen=True)
class Fact:
    """A line of a summary; ``code`` is set in a fixed pitch."""

    label: str
    value: str
    code: bool = False


@dataclass(frozen=True)
class Answer:
    """An item of a framework; what the report has for it, with the section of each; and what is open."""

    item: Item
    found: tuple[tuple[str, str], ...]
    open: str
    status: str


@dataclass(frozen=True)
class Dossier:
    """The report of one subject; what a template doesn't ask for is not computed."""

    subject: Subject

    @property
    def audit(self) -> Audit:
        """The audit that the report shows."""
        return self.subject.audit

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, if the report is of one."""
        return self.subject.certificate

    # What it is

    @property
    def kind(self) -> str:
        """``certificate`` or ``audit``."""
        return "certificate" if self.certificate else "audit"

    @property
    def look(self) -> str:
        """Which of the three looks the report has."""
        return _LOOKS[self.audit.verdict]

    @property
    def heading(self) -> str:
        """What kind of paper this is."""
        return _CERTIFICATES[self.audit.verdict] if self.certificate else "Audit report"

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        return _VERDICTS[self.audit.verdict]

    @property
    def title(self) -> str:
        """The title of the document."""
        return f"{self.heading}: {self.audit.model.name}"

    @property
    def footer(self) -> str:
        """What stands at the foot of every page."""
        return f"{self.heading}: {clipped(self.audit.model.name, _FOOTER_NAME)}"

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Identifiers and headings of the sections that there are."""
        subject = self.subject
        there = [
            ("findings", "What was found", True),
            ("data", "What data show beside the model", subject.audit.data),
            ("repair", "What the repair changed", subject.repair),
            ("changes", "What changed since the last certificate", subject.comparison),
            ("method", "Method, assumptions and limits", True),
            ("profile", "Where this evidence fits", subject.profile),
        ]
        numbered = enumerate(((name, text) for name, text, is_there in there if is_there), start=1)
        return (
            *((name, f"{i}. {text}") for i, (name, text) in numbered),
            ("appendix", "Appendix: the whole model, and how every pair was decided"),
        )

    @property
    def headings(self) -> Mapping[str, str]:
        """The heading of each section by its identifier."""
        return dict(self.sections)

    # The first page

    @property
    def claim(self) -> Markup:
        """The verdict as a sentence."""
        return Markup(WORDS.claim(self.audit))

    @property
    def largest(self) -> str:
        """The largest degree against the threshold."""
        return WORDS.largest(self.audit)

    @property
    def counted(self) -> Markup:
        """The exact number of patterns."""
        return Markup(WORDS.counted(self.audit))

    @property
    def explored(self) -> Markup:
        """What was searched."""
        return Markup(WORDS.explored(self.audit.search))

    @property
    def scope(self) -> str:
        """What the verdict is about."""
        return SCOPE

    @property
    def model_name(self) -> str:
        """The model's name as far as there is room for it."""
        return clipped(self.audit.model.name, _COVER_NAME)

    @property
    def issuer(self) -> str:
        """Who issued the certificate, as far as there is room."""
        return clipped((self.certificate and self.certificate.issuer) or "", _COVER_NAME)

    @property
    def responsible(self) -> str:
        """Who answers for the certificate, as far as there is room."""
        return clipped((self.certificate and self.certificate.responsible) or "", _COVER_NAME)

    @property
    def number(self) -> str:
        """The identifier of the certificate in groups of four."""
        return grouped(self.certificate.id) if self.certificate else ""

    @property
    def key(self) -> str:
        """The beginning of the identifier of the key that signed the certificate."""
        return grouped(self.subject.key_id[:16])

    @property
    def proof(self) -> Markup:
        """The pattern that stands behind the verdict, where it isn't too long for the first page."""
        if not self.worst:
            return Markup("")
        if len(self.worst.sentence.striptags()) <= _COVER_SENTENCE:
            return self.worst.sentence
        return Markup(
            f"{len(self.worst.disclosed)} sensitive values in a context of {len(self.worst.context)} values "
            f"move {WORDS.favourable(self.audit.model)} from {self.worst.before} to {self.worst.after}."
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the search is not complete."""
        return self.audit.search.reasons

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The lines of the first page."""
        model, certificate, provenance = self.audit.model, self.certificate, self.subject.provenance
        lines = []
        if provenance and provenance.model_version:
            lines.append(Fact("Model version", clipped(provenance.model_version, _COVER_NAME)))
        lines += [
            Fact("Model digest", f"SHA-256 {grouped(model.sha256[:16])} …", code=True),
            Fact("Favourable decision", clipped(f"{model.decision}: {model.favourable}", _COVER_NAME)),
            Fact("Sensitive attributes", some(model.sensitive, _COVER_LIST)),
            Fact("Threshold", self.threshold),
            Fact("Largest degree", self.largest),
            Fact("Patterns found", str(self.counted.unescape())),
        ]
        if certificate:
            lines += [Fact("Valid", validity(certificate)), Fact("Issuer", self.issuer or "not stated")]
            if certificate.supersedes:
                lines.append(Fact("Takes the place of", grouped(certificate.supersedes.id), code=True))
        return tuple(lines)

    @property
    def threshold(self) -> str:
        """The threshold, and what it means for the criterion."""
        delta = Decimal(self.audit.delta)
        if self.audit.criterion == "difference":
            return f"δ = {self.audit.delta}: a difference of {plain(delta * 100)} percentage points"
        return f"δ = {self.audit.delta}: a ratio of {plain(1 - delta)}"

    @property
    def scale(self) -> charts.DegreeScale:
        """The largest degree on an axis with the threshold."""
        low, high = self.audit.max_degree_bounds
        if self.audit.search.complete:
            low = high = self.audit.max_degree
        return charts.DegreeScale.of(float(self.audit.delta), low, high)

    @property
    def digest(self) -> str:
        """The model's digest as the QR code has it."""
        return f"sha256:{self.audit.model.sha256}"

    @property
    def qr(self) -> tuple[int, str]:
        """The QR code of the digest: modules a side, and their path."""
        return charts.qr_path(self.digest)

    @property
    def rosette(self) -> str:
        """The outline of the seal."""
        return charts.rosette()

    # Findings

    @cached_property
    def worst(self) -> tables.Row | None:
        """The worst pattern."""
        return tables.row(self.audit, self.audit.worst_pattern) if self.audit.worst_pattern else None

    @cached_property
    def top(self) -> tuple[tables.Row, ...]:
        """The top patterns."""
        return tables.rows(self.audit, self.audit.top_patterns)

    @property
    def top_heading(self) -> str:
        """What is in the list of top patterns."""
        complete = self.audit.search.top_patterns_complete
        return list_heading("top", len(self.top), complete, self.audit.rank_by)

    @cached_property
    def minimal(self) -> tuple[tables.Row, ...]:
        """The subset-minimal patterns."""
        return tables.rows(self.audit, self.audit.minimal_patterns)

    @property
    def minimal_heading(self) -> str:
        """What is in the list of subset-minimal patterns."""
        return list_heading("minimal", len(self.minimal), self.audit.search.minimal_patterns_complete)

    @property
    def minimal_on_paper(self) -> tuple[tables.Row, ...]:
        """As many of them as paper has room for."""
        return self.minimal[:_MINIMAL_ON_PAPER]

    @cached_property
    def group_level(self) -> tables.Row:
        """The worst pattern without context."""
        return tables.row(self.audit, self.audit.group_level)

    @cached_property
    def individual_level(self) -> tables.Row | None:
        """The worst pattern with every attribute disclosed."""
        pattern = self.audit.individual_level
        return tables.row(self.audit, pattern) if pattern else None

    @cached_property
    def by_attribute(self) -> tuple[tuple[str, tables.Row, str, bool], ...]:
        """Per sensitive attribute: name, worst pattern, number of patterns; and if it is the worst of all."""
        return tuple(
            (
                record.attribute,
                tables.row(self.audit, record.worst_pattern),
                counted(record.pattern_count),
                record.worst_pattern == self.audit.worst_pattern,
            )
            for record in self.audit.by_sensitive_attribute
        )

    @cached_property
    def scatter(self) -> evidence.Scatter | None:
        """The patterns of the scatter; None without a model or with hardly any patterns."""
        if not self._log_odds or len(self.audit.top_patterns) < min(_FEWEST_DOTS, self._count):
            return None
        if self._count < _FEWEST_DOTS:
            return None
        return evidence.scatter(self._log_odds, self._criterion, self.subject.limits)

    @property
    def scatter_chart(self) -> charts.Scatter:
        """The scatter laid out."""
        assert self.scatter
        return charts.Scatter.of(
            self.scatter.points, self.scatter.front, self.scatter.marked, float(self.audit.delta)
        )

    @property
    def rankings(self) -> Mapping[RankBy, str]:
        """The names of the rankings."""
        return _RANKINGS

    @cached_property
    def heat(self) -> tuple[tuple[tables.Cell | None, ...], ...]:
        """The worst degree of each pair of sensitive attributes."""
        if not self._log_odds:
            return ()
        return tables.heat(self.audit, evidence.pairs(self._log_odds, self._criterion, self.subject.limits))

    @cached_property
    def combinations(self) -> tuple[tables.Combination, ...]:
        """How each set of disclosed attributes was decided, most patterns first."""
        return tables.combinations(self.audit.coverage or ())

    @property
    def combinations_shown(self) -> tuple[tables.Combination, ...]:
        """The combinations with most patterns, of those that have any."""
        return tuple(row for row in self.combinations if row.patterns != "0")[:_COMBINATIONS_SHOWN]

    @property
    def coverage_shown(self) -> tuple[tables.Combination, ...]:
        """The combinations for which the appendix has room."""
        return self.combinations[:_COVERAGE_SHOWN]

    @cached_property
    def groups(self) -> tuple[tables.GroupTable, ...]:
        """P(favourable | group)."""
        return tables.group_tables(self.subject.model) if self.subject.model else ()

    # Data

    @property
    def data_words(self) -> Markup:
        """Who is in the data, and how the model decides on them."""
        assert self.audit.data
        return Markup(" ".join(WORDS.data(self.audit.data)))

    @property
    def data_meaning(self) -> str:
        """How to read the table of patterns in the data."""
        return DATA_PATTERNS_MEANING

    @property
    def data_groups(self) -> tuple[tables.DataRow, ...]:
        """Groups of people in the data."""
        assert self.audit.data
        return tables.data_groups(self.audit.data)

    @property
    def data_head(self) -> tuple[str, ...]:
        """The columns of the patterns in the data, after the pattern."""
        return DATA_PATTERN_HEAD

    @property
    def data_patterns(self) -> tuple[tables.DataPatternRow, ...]:
        """How often the listed patterns occur in the data."""
        assert self.audit.data
        return tables.data_patterns(self.audit.data)

    # Repair and re-certification

    @property
    def repair_scale(self) -> charts.Line | None:
        """The log-likelihoods on one axis, if all are finite and the axis has a length."""
        assert self.subject.repair
        found = self.subject.repair.log_likelihoods
        if found.unconstrained is None or found.independent is None or found.repaired is None:
            return None
        ends = float(found.independent), float(found.unconstrained)
        if not ends[0] < ends[1]:
            return None
        return charts.Line.of(ends, float(found.repaired))

    @property
    def repair_facts(self) -> tuple[Fact, ...]:
        """How the model was repaired, and what that cost."""
        record = self.subject.repair
        assert record
        found = record.log_likelihoods
        before = record.before.sha256 if isinstance(record, Repair) else record.source_sha256
        facts = [
            Fact("Threshold", f"δ = {record.delta} ({record.criterion})"),
            Fact("Patterns before", counted(record.patterns_before)),
            Fact("Patterns after", counted(record.patterns_after)),
            Fact("Log-likelihood before", natural(found.unconstrained)),
            Fact("Log-likelihood now", natural(found.repaired)),
            Fact("Log-likelihood independent", natural(found.independent)),
            Fact(
                "Work",
                f"{record.rounds:,} rounds, {record.constraints:,} constraints, "
                f"solver {record.solver or 'not needed'}",
            ),
            Fact("Digest before", f"sha256:{before}", code=True),
        ]
        if isinstance(record, Repair) and record.shortfall:
            facts.append(Fact("Shortfall", record.shortfall))
        if isinstance(record, Repair) and record.performance:
            tried = record.performance
            facts.append(Fact("Tried on", f"{tried.data}: {tried.rows:,} rows"))
            if tried.accuracy:
                facts.append(Fact("Accuracy", " → ".join(map(percent, tried.accuracy))))
            if tried.auc:
                facts.append(Fact("AUC", " → ".join(map(rounded, tried.auc))))
        return tuple(facts)

    @property
    def repair_rounds(self) -> tuple[tuple[str, str, str, str], ...]:
        """Round, constraints, log-likelihood and patterns left, round by round."""
        record = self.subject.repair
        return tuple(
            (f"{r.round:,}", f"{r.constraints:,}", natural(r.log_likelihood), counted(r.patterns))
            for r in ((record and record.progress) or ())
        )

    @cached_property
    def repair_shifts(self) -> tuple[tables.Shift, ...]:
        """What the repair changed for the worst patterns of the model before it."""
        record = self.subject.repair
        return tables.shifts(record.predictions, str(record.delta)) if isinstance(record, Repair) else ()

    @property
    def repair_price(self) -> str:
        """The share of the way to the independent model that the repair cost in log-likelihood."""
        assert self.subject.repair
        found = self.subject.repair.log_likelihoods
        if found.unconstrained is None or found.repaired is None or found.independent is None:
            return ""
        unconstrained = Fraction(found.unconstrained)
        whole_way = unconstrained - Fraction(found.independent)
        if whole_way <= 0:
            return ""
        return percent(min(1.0, max(0.0, float((unconstrained - Fraction(found.repaired)) / whole_way))))

    @cached_property
    def repair_moves(self) -> tuple[tables.Move, ...]:
        """The parameters that the repair moved most."""
        before, after = self.subject.before, self.subject.model
        return tables.moves(before, after, _MOVES_SHOWN) if before and after else ()

    @cached_property
    def comparison_facts(self) -> tuple[tuple[str, str, str], ...]:
        """What the two certificates say: label, before, after."""
        found = self.subject.comparison
        assert found
        sides = (found.before, found.after)

        def both(label: str, *texts: str) -> tuple[str, str, str]:
            return (label, texts[0], texts[1])

        return (
            both("Certificate", *(grouped(side.id) for side in sides)),
            both("Model", *(side.model for side in sides)),
            both("Verdict", *(f"{_VERDICTS[side.verdict]} at δ = {side.delta}" for side in sides)),
            both("Largest degree", *(_degree_range(*side.max_degree) for side in sides)),
            both(
                "Discrimination patterns",
                *(counted(side.pattern_count) for side in sides),
            ),
            both("All pairs", *(whole(side.total_patterns) for side in sides)),
        )

    @cached_property
    def comparison_moves(self) -> tuple[tables.Move, ...]:
        """The parameters that moved most between the certificates."""
        found = self.subject.comparison
        assert found
        decisions = {"favourable": self.audit.model.favourable, "unfavourable": self.audit.model.unfavourable}
        return tuple(
            tables.move(
                f"P({self.audit.model.favourable})"
                if change.given is None
                else f"P({change.attribute}: {change.value} | {decisions[change.given]})",
                change.before,
                change.after,
            )
            for change in found.parameters_moved[:_MOVES_SHOWN]
        )

    @cached_property
    def comparison_patterns(self) -> tuple[tuple[str, str, tuple[tables.ChangedPattern, ...]], ...]:
        """Patterns that are new, got worse, or are gone: heading, exact number, and the worst of them."""
        found = self.subject.comparison
        assert found
        return tuple(
            (
                heading,
                whole(changes.count) if changes.count is not None else f"not counted: {changes.reason}",
                tables.changed_patterns(changes.top, self.audit.delta),
            )
            for heading, changes in (("New", found.new), ("Worse", found.worse), ("Gone", found.gone))
        )

    # How it is worked out

    @property
    def formula(self) -> tuple[str, ...]:
        """The definition in symbols, line by line."""
        d, delta = self.audit.model.favourable, self.audit.delta
        if self.audit.criterion == "difference":
            return f"Δ(x, y) = P({d} | x, y) − P({d} | y)", f"pattern if |Δ| > {delta}"
        return (
            f"q = P({d} | x, y) / P({d} | y)",
            "degree = 1 − 1/q if q ≥ 1, q − 1 if q < 1",
            f"pattern if |degree| > {delta}",
        )

    @cached_property
    def steps(self) -> tuple[tables.Step, ...]:
        """The odds of the worst pattern, value by value."""
        model, pattern = self.subject.model, self.audit.worst_pattern
        return tables.steps(model, pattern) if model and pattern else ()

    @property
    def prior(self) -> tuple[str, str, str]:
        """P(favourable) as people read it, exactly, and as odds."""
        assert self.subject.model
        prior = self.subject.model.prior
        return percent(float(prior)), tables.exactly(prior), tables.number(prior / (1 - prior))

    @cached_property
    def parameters(self) -> tuple[tables.Parameter, ...]:
        """The whole model."""
        return tables.parameters(self.subject.model) if self.subject.model else ()

    @property
    def total(self) -> str:
        """The number of all pairs."""
        return whole(self.audit.total_patterns)

    @cached_property
    def identity(self) -> tuple[Fact, ...]:
        """Everything that says which model and document this is, in full."""
        return tuple(self._identity())

    def _identity(self) -> Iterator[Fact]:
        model, certificate, provenance = self.audit.model, self.certificate, self.subject.provenance
        yield Fact("Model", model.name)
        yield Fact("Model digest", self.digest, code=True)
        yield Fact("Decision", f"{model.decision}: {model.favourable} (favourable) or {model.unfavourable}")
        yield Fact("Sensitive attributes", ", ".join(model.sensitive))
        yield Fact("All attributes", ", ".join(model.attributes))
        if provenance:
            for label, value in (
                ("Description", provenance.description),
                ("Owner", provenance.owner),
                ("Model version", provenance.model_version),
                ("Data", provenance.data_source),
                ("Period", provenance.period),
                ("Rows", None if provenance.rows is None else f"{int(provenance.rows):,}"),
            ):
                if value:
                    yield Fact(label, value)
        if certificate:
            yield Fact("Certificate", certificate.id, code=True)
            if self.subject.key_id:
                yield Fact("Signed with key", self.subject.key_id, code=True)
            yield Fact("Issuer", certificate.issuer or "not stated")
            yield Fact("Responsible", certificate.responsible or "not stated")
            for attribute in certificate.sensitive_attributes:
                if attribute.reason:
                    yield Fact("Sensitive because", f"{attribute.name}: {attribute.reason}")
            if certificate.policy.sha256:
                yield Fact("Policy digest", f"sha256:{certificate.policy.sha256}", code=True)
            if certificate.platform:
                yield Fact("Computed on", certificate.platform)
        yield Fact("Made with", f"auditor {self.audit.tool.version}")

    # Where the evidence fits

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The items of the profile, each with what the report has for it."""
        assert self.subject.profile
        return tuple(self._answer(item) for item in self.subject.profile.items)

    def _answer(self, item: Item) -> Answer:
        found = tuple(self._evidence[name] for name in item.evidence if name in self._evidence)
        missing = len(found) < len(item.evidence)
        left = item.open or ("Part of this was not given to the report." if missing else "")
        status = "open" if not found else "in part" if left else "evidence given"
        return Answer(item, found, left, status)

    @cached_property
    def _evidence(self) -> Mapping[EvidenceName, tuple[str, str]]:
        """What this report has to show, in words, and the section where it is."""
        audit, certificate, provenance = self.audit, self.certificate, self.subject.provenance
        there: dict[EvidenceName, tuple[str, str]] = {
            "verdict": (f"Verdict: {self.verdict} at δ = {audit.delta}", "findings"),
            "criterion": (f"Criterion and threshold: {self.threshold}", "method"),
            "max_degree": (f"Largest degree: {self.largest}", "findings"),
            "pattern_count": (f"Patterns: {self.counted.unescape()}", "findings"),
            "by_sensitive_attribute": ("Worst pattern of each sensitive attribute", "attributes"),
            "group_level": (f"Worst degree at group level: {self.group_level.degree}", "levels"),
            "sensitive_attributes": (
                f"Sensitive attributes: {some(audit.model.sensitive, _COVER_LIST)}",
                "identity",
            ),
            "model_identity": ("Name and digest of the model", "identity"),
            "limits": ("Assumptions and limits", "limits"),
            "tool": (f"Made with auditor {audit.tool.version}", "identity"),
        }
        if self.top:
            there["top_patterns"] = (self.top_heading, "top")
        if self.minimal:
            there["minimal_patterns"] = (f"{len(self.minimal):,} subset-minimal patterns", "minimal")
        if self.individual_level:
            level = f"Worst degree at individual level: {self.individual_level.degree}"
            there["individual_level"] = (level, "levels")
        if audit.coverage:
            there["coverage"] = ("How every pair was decided", "coverage")
        if audit.criterion == "ratio" and Fraction(audit.delta) == 1 - tables.FOUR_FIFTHS:
            there["ratio_at_four_fifths"] = (f"Verdict at a ratio of 0.8: {self.verdict}", "findings")
        if self.subject.model:
            there["parameters"] = ("All parameters of the model", "parameters")
            there["group_rates"] = ("Rates and impact ratios, implied by the model", "groups")
        if provenance:
            if provenance.model_version:
                there["model_version"] = ("Version of the model", "identity")
            if provenance.owner:
                there["owner"] = ("Owner of the model", "identity")
            if provenance.data_source:
                there["data_source"] = ("Source of the data", "identity")
            if provenance.period:
                there["period"] = ("Period of the data", "identity")
        if certificate:
            dated = f"Dated {certificate.issued}, with a line for the responsible person to sign"
            there["signature"] = (dated, "certificate")
            there["validity"] = (f"Valid until {certificate.expires}", "certificate")
        if audit.data:
            there["observed_rates"] = (f"Rates and ratios of {audit.data.people:,} people in data", "data")
        if self.subject.repair:
            there["repair"] = ("What the repair changed", "repair")
        if self.subject.comparison:
            there["changes"] = ("What changed since the last certificate", "changes")
        return there

    @property
    def _criterion(self) -> Criterion:
        threshold = Fraction(self.audit.delta)
        return Difference(threshold) if self.audit.criterion == "difference" else Ratio(threshold)

    @cached_property
    def _log_odds(self) -> LogOdds | None:
        return tables_of(self.subject.model) if self.subject.model else None

    @property
    def _count(self) -> int:
        count = self.audit.pattern_count
        return len(self.audit.top_patterns) if count is None else count


def validity(certificate: Certificate) -> str:
    """When a certificate holds, and when it was issued."""
    return f"from {certificate.valid_from} until {certificate.expires}, issued {certificate.issued}"


def counted(number: int | None) -> str:
    """A number of patterns, or that there is none.

    >>> counted(2017), counted(None)
    ('2,017', 'not counted')
    """
    return "not counted" if number is None else whole(number)


def clipped(text: str, room: int) -> str:
    """Cut a text to a number of characters, counted as they are shown.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    visible = shown(text)
    return visible if len(visible) <= room else visible[: room - 1] + "…"


def some(names: Sequence[str], room: int) -> str:
    """Names in a row, as many as there is room for, and how many are left.

    >>> some(("Sex", "Age", "Marital status"), 12)
    'Sex, Age and 1 more (all in the appendix)'
    """
    used = 0
    for i, name in enumerate(names):
        used += len(name) + 2
        if used > room:
            first = ", ".join(names[:i]) or clipped(name, room)
            left = len(names) - max(i, 1)
            return f"{first} and {left:,} more (all in the appendix)" if left else first
    return ", ".join(names)


def grouped(digits: str) -> str:
    """A digest in groups of four.

    >>> grouped("0123456789abcdef")
    '0123 4567 89ab cdef'
    """
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))


def natural(value: Decimal | float | None) -> str:
    """A log-likelihood, with one decimal.

    >>> natural(Decimal("-207394.512")), natural(None)
    ('−207,394.5', 'not finite, or not computed')
    """
    return "not finite, or not computed" if value is None else f"{value:,.1f}".replace("-", "−")


def _degree_range(low: str, high: str) -> str:
    found, bound = rounded(float(low)), rounded(float(high))
    return found if found == bound else f"{found} to {bound}"
