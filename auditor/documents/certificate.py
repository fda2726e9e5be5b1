"""The certificate document, version 2: a claim about one exact model, with all that is needed to check it.

Numbers that a claim rests on are strings: fractions in lowest terms (``"-3/7"``, ``"1"``) and decimals
without zeros at their end. Counts are strings too, since they outgrow the integers that every JSON reader
keeps exactly. What of this a file may say, and how long each part may be, is the closed form in
``certificate/form_checker.py``; certificates of version 1, which say less, are read as these.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from auditor.choices import CriterionName, MethodName, Undisclosed, Verdict
from auditor.documents.parameters import ExactModel, ExactScorecard, FractionText, NameText
from auditor.documents.record import Digest, Record, ToolRecord
from auditor.model.checks import MAX_NAME, MAX_TEXT
from auditor.model.explaining import ALTERNATIVE

#: The in-toto statement in which a certificate is signed, and the predicate of a test result that holds one.
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"

Family = Literal["naive-bayes", "scorecard"]
CertificateId = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
DecimalText = Annotated[str, Field(pattern=r"^[01](\.[0-9]{1,400})?$")]
FigureText = Annotated[str, Field(pattern=r"^(0|-?[1-9][0-9]*(/[1-9][0-9]*)?|-?0\.[0-9]{0,19}[1-9])$")]
CountText = Annotated[str, Field(pattern="^(0|[1-9][0-9]{0,3999})$")]
Weight = Annotated[str, Field(pattern="^(0|[1-9][0-9]{0,99})(/[1-9][0-9]{0,99})?$")]
LogLikelihood = Annotated[str, Field(pattern=r"^-[0-9]{1,120}\.[0-9]{6}$")]
Name = Annotated[NameText, Field(max_length=MAX_NAME)]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]


class Claim(Record):
    """What is claimed, in one sentence and as a formula."""

    sentence: str
    formula: str


class Scope(Record):
    """What a certificate answers, apart from the model's parameters and other attributes."""

    decision: Name
    favourable: Name
    unfavourable: Name
    criterion: CriterionName
    delta: DecimalText
    min_probability: DecimalText | None
    sensitive: tuple[Name, ...]
    """Sorted."""
    undisclosed: Annotated[Undisclosed | None, Field(exclude_if=lambda value: value is None)] = None
    """What "not disclosed" means to a scorecard for which no population is assumed; absent for others, never
    null.
    """


class Supersedes(Record):
    """The certificate that this one takes the place of."""

    id: CertificateId
    sha256: Digest
    """Digest of that certificate's canonical JSON (RFC 8785)."""
    verified_with: Digest | None
    """The key with which its signature was checked; null: it was taken over unchecked."""
    scope: Scope | None
    """Its scope; null in version 1, which says in words what changed."""
    scope_change_reason: Text | None
    """Why the scope is another one now; null when it isn't."""


class Overridden(Record):
    """What a policy file says where another value was given in its place; null where none was."""

    criterion: CriterionName | None = None
    delta: DecimalText | None = None
    min_probability: DecimalText | None = None
    sensitive: tuple[Name, ...] | None = None
    valid_days: CountText | None = None
    issuer: Name | None = None
    responsible: Name | None = None


class Policy(Record):
    """The policy file that fixed the question; its digest can be published before the model is known."""

    sha256: Digest | None = None
    """Digest of the file's bytes; null: there was none."""
    overridden: Overridden = Overridden()
    """What the file says where the certificate says otherwise."""


class RepairWeights(Record):
    """Rows with each decision, or with each value of an attribute."""

    favourable: tuple[Weight, ...]
    unfavourable: tuple[Weight, ...]


class DecisionWeights(Record):
    """Rows with each decision."""

    favourable: Weight
    unfavourable: Weight


class ProofFacts(Record):
    """What is proved of all δ-fair models of the counts, by a document that goes with the certificate."""

    sha256: Digest
    """Of the file of the proof."""
    bound: LogLikelihood
    """None of them has a greater log-likelihood, as the proof shows."""


class RepairFacts(Record):
    """That the model was repaired: from what, and at what price in likelihood.

    The digest of the model before the repair, the most likely one of the counts, and both log-likelihoods
    follow from the counts, and are computed again from them by whoever verifies.
    """

    method: MethodName
    source_sha256: Digest
    """Of the model before the repair."""
    smoothing: Weight
    """Added to every count of an attribute."""
    decision: DecisionWeights
    attributes: tuple[RepairWeights, ...]
    log_likelihood_before: LogLikelihood
    """Natural logarithm, of the counts with smoothing, by the model before the repair."""
    log_likelihood_after: LogLikelihood | None
    """By the certified model; null is minus infinity."""
    proof: Annotated[ProofFacts | None, Field(exclude_if=lambda value: value is None)] = None
    """Absent where no proof is named; never null. Whoever verifies needs the proof."""


class ScoredNumbers(Record):
    """What the values of an attribute counted before the repair, and their population; see `exact`."""

    weights: tuple[FractionText, ...]
    undisclosed: FractionText
    population: tuple[FractionText, ...]


class ScorecardRepairFacts(Record):
    """That the scorecard was repaired: from what, and at what price in likelihood.

    Its other parts are those of the certified one, and so is the share of people with each value. Whoever
    verifies makes the digest and both log-likelihoods again from the numbers.
    """

    source_sha256: Digest
    """Of the scorecard before the repair."""
    people: CountText
    """The log-likelihoods are of so many people: as the provenance says, or 1000."""
    intercept: FractionText
    unfavourable_share: FractionText
    attributes: tuple[ScoredNumbers, ...]
    log_likelihood_before: LogLikelihood
    """Natural logarithm, of these people of the population before the repair, by itself."""
    log_likelihood_after: LogLikelihood
    """By the population of the certified scorecard."""


class Provenance(Record):
    """Where the model comes from, as its file says; null where it says nothing."""

    description: Text | None
    owner: Text | None
    model_version: Text | None
    data_source: Text | None
    period: Text | None
    rows: CountText | None


def _form(part: object) -> str:
    """The family that a model, or what is said of a repair, is of."""
    scored = any(name in part if isinstance(part, dict) else hasattr(part, name) for name in _SCORED)
    return f"{ALTERNATIVE}{'scorecard' if scored else 'naive-bayes'}"


#: Names that only parts about scorecards have.
_SCORED = ("family", "people")
_NaiveBayes, _Scorecard = Tag(f"{ALTERNATIVE}naive-bayes"), Tag(f"{ALTERNATIVE}scorecard")


class CertifiedModel(Record):
    """The model that the certificate is about."""

    name: Name
    sha256: Digest
    family: Family = "naive-bayes"
    repair: (
        Annotated[
            Annotated[RepairFacts, _NaiveBayes] | Annotated[ScorecardRepairFacts, _Scorecard],
            Discriminator(_form),
        ]
        | None
    ) = None
    """null: it was not repaired."""
    exact: Annotated[
        Annotated[ExactModel, _NaiveBayes] | Annotated[ExactScorecard, _Scorecard],
        Discriminator(_form),
    ]
    provenance: Provenance


class Decision(Record):
    """The decision, and which of its two values is favourable to the person."""

    name: Name
    favourable: Name
    unfavourable: Name


class SensitiveAttribute(Record):
    """An attribute that the claim protects, with the reason given for that."""

    name: Name
    reason: Text | None


class MaxDegree(Record):
    """The largest |degree| in scope: exact where it is proved, and as decimals rounded outward."""

    exact: FractionText | None
    """null unless it is proved that none is larger; null for scorecards."""
    lower: DecimalText
    """At least this is attained."""
    upper: DecimalText
    """None is above this."""


class Witness(Record):
    """A pair of disclosed sensitive values and context on which |degree| is the largest that was found.

    Another pair can have the same. The numbers are exact for naive Bayes models, and decimals of up to 20
    places, rounded, for scorecards, where they are no fractions.
    """

    sensitive_values: Annotated[dict[str, str], Field(min_length=1)]
    context_values: dict[str, str]
    degree: FigureText
    probability: FigureText | None
    """null: no population is assumed."""
    favourable_given_pattern: FigureText
    favourable_given_context: FigureText


class Coverage(Record):
    """How the pairs that disclose exactly these sensitive attributes were decided."""

    disclosed: Annotated[tuple[str, ...], Field(min_length=1)]
    method: Literal["closed form", "exhausted", "bounded"]
    """'closed form': the extreme ratios of likelihoods settle all pairs in every context; 'exhausted': every
    pair was counted; 'bounded': the search for the largest |degree| settled all.
    """
    pairs: CountText
    patterns: CountText
    """Those with |degree| above the threshold."""


class Method(Record):
    """How the answer was found."""

    search: str
    arithmetic: str


class Certificate(Record):
    """A certificate of δ-fairness, a finding record, or a record of what is undecided, as the verdict says.

    A pattern is a pair (x, y): x gives values to one or more sensitive attributes, y to any of the others.
    With ``min_probability`` the verdict, the largest degree and the count speak only of patterns that at
    least that share of the model's population has.

    Nothing longer is read: the file has at most 32 MB, a name 500 characters and a longer text 10,000; the
    model 1,000 attributes, 1,000 values of each and 100,000 together; a decimal 400 places, a probability of
    the model 2,000 digits above and below, a weight of a scorecard 200, and a degree 40,001; the longest
    probabilities of all attributes together 10,000 characters, and the common denominator of those of one
    attribute 6,700 bits; a count 4,000 digits; a scorecard's log-odds are within ±1,000.
    """

    kind: Literal["auditor/certificate"] = "auditor/certificate"
    version: Literal[1, 2] = 2
    id: CertificateId
    """First 32 digits of the SHA-256 of the canonical JSON of all the rest."""
    issued: date
    valid_from: date
    """Holds from the start of this day, UTC."""
    expires: date
    """Holds until the start of this day, UTC; at most 3660 days."""
    supersedes: Supersedes | None
    issuer: Name | None
    """null: not said."""
    responsible: Name | None
    """The responsible person; null: not said."""
    claim: Claim
    verdict: Verdict
    criterion: CriterionName
    delta: DecimalText
    """The threshold; a |degree| above it discriminates."""
    box: Annotated[DecimalText | None, Field(exclude_if=lambda value: value is None)] = None
    """ε: every model is δ-fair too whose probabilities are each those of the certified one times a factor
    from 1/(1+ε) to 1+ε. Absent where nothing is said of others; never null.
    """
    min_probability: DecimalText | None
    """null: patterns of any probability."""
    policy: Policy
    decision: Decision
    sensitive_attributes: Annotated[tuple[SensitiveAttribute, ...], Field(min_length=1)]
    max_degree: MaxDegree
    witness: Witness | None
    """null: no pattern is in scope, or none was found."""
    pattern_count: CountText | None
    """Discrimination patterns in scope, exactly."""
    pattern_count_reason: str | None
    """Why the count is null."""
    total_patterns: CountText
    """All pairs (x, y), whatever their probability."""
    coverage: tuple[Coverage, ...] | None
    """One row for each non-empty set of sensitive attributes; null when the count is, when there is a minimum
    probability, or when there would be more than 4095.
    """
    inconclusive_reason: str | None
    """What stopped the search; null if nothing."""
    assumptions: tuple[str, ...]
    limits: tuple[str, ...]
    method: Method
    platform: Text | None
    """Where it was computed, if that was asked for; no answer depends on it."""
    tool: ToolRecord
    model: CertifiedModel
