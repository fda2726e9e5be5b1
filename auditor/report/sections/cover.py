"""The first page: the verdict, what it means for how many people, and the main figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import join
from typing import TYPE_CHECKING, Any

from auditor.choices import Verdict
from auditor.documents.audit import Audit, PatternRecord
from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.criteria import filled
from auditor.documents.rounding import limit_of
from auditor.messages import visible
from auditor.report.blocks import Block, Blocks, Cell, Facts, Heading, Paragraph, Table, unmarked
from auditor.report.figures import grouped, margin, people, percent
from auditor.report.sections import data, groups, reach, repair
from auditor.report.sections.worst import counted, largest
from auditor.report.subject import Stated, Subject
from auditor.report.wording import (
    NOTHING_TO_FIND,
    UNDISCLOSED,
    degree,
    least,
    limited,
    of_all,
    probable,
    probable_only,
    sentence,
    threshold_words,
    verdict_sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from auditor.documents.certificate import Certificate, Supersedes
    from auditor.report import charts

#: What a scope says of values that are not disclosed; and where a population, given or conforming, has them.
_MEANING, _POPULATION = "what is not disclosed", "that of a population"
#: What the first page has room for, in characters.
_NAME, _DATA, _LIST, _SENTENCE, _FOOTER = 70, 100, 90, 480, 40
#: A longer list of what a certificate changes is in the appendix.
_CHANGES = 170
#: Characters of a line of the claim, the finding, a fact, a name, the verdict and the figure under the axis;
#: and lines for all of them.
_IN_CLAIM, _IN_LINE, _IN_FACT, _IN_NAME, _IN_VERDICT, _IN_KEY, _ROOM = 72, 85, 62, 45, 45, 34, 22
#: Facts that stand on other pages too, those first that the first page needs least.
_ELSEWHERE = ("In the data", "Groups", "Data", "Model", "Not disclosed", "Favourable decision")
#: The worst pattern of at least so many people is called plausible.
_PLAUSIBLE = "0.0001"
#: Characters of sensitive attributes in the command that repeats an audit; more are in the appendix.
_COMMAND = 150

_LOOKS: Mapping[Verdict, str] = {
    "delta-fair": "fair",
    "not-delta-fair": "unfair",
    "inconclusive": "inconclusive",
}
_CERTIFICATES: Mapping[Verdict, str] = {
    "delta-fair": "Certificate of δ-fairness",
    "not-delta-fair": "Finding record",
    "inconclusive": "Record of an undecided audit",
}
_BANDS: Mapping[Verdict, str] = {
    "delta-fair": "Audit report · this is not a certificate",
    "not-delta-fair": "Discrimination patterns found · this is not a certificate",
    "inconclusive": "Undecided · this is not a certificate",
}


@dataclass(frozen=True)
class Cover:
    """What stands on the first page, for a template to lay out."""

    heading: str
    band: str
    verdict: str
    claim: str
    finding: str
    """What the worst plausible pattern does to how many people."""
    shares: Table | None
    """The worst degree among patterns of at least so many people."""
    facts: Facts
    look: str
    """Which of the three looks the page has."""
    certified: bool
    """Whether it is a certificate of δ-fairness."""
    scale: charts.DegreeScale
    largest: str
    limited: str
    """What limits words about the largest degree to the patterns considered."""
    qr: tuple[int, str]
    """The QR code of the digest: modules a side, and their path."""
    document: str
    """The identifier of the document."""
    command: str
    """What repeats the audit."""
    verification: str
    """What verifies the certificate."""
    name: str
    issuer: str
    responsible: str
    key: str

    @property
    def footer(self) -> str:
        """What stands at the foot of every page."""
        return f"{self.heading}: {clipped(self.name, _FOOTER)} · {self.document}"


def cover(subject: Subject) -> Cover:
    """Fill the first page."""
    from auditor.report import charts

    stated, certificate = subject.stated, subject.certificate
    model = stated.model
    certified = certificate is not None and stated.verdict == "delta-fair"
    low, high = stated.largest.max_degree_bounds or (stated.largest.max_degree, 1.0)
    few = limited(stated.min_probability)
    said = verdict_words(stated.verdict, stated.delta, stated.min_probability)
    finding, shares, command = _finding(subject), _shares(subject.audit), _command(stated, subject.audit)
    name, issuer, responsible = (
        clipped(text or "", _NAME)
        for text in (model.name, certificate and certificate.issuer, certificate and certificate.responsible)
    )
    # What takes no line of the rest, or one, may take more.
    above = _lines(claim(stated), _IN_CLAIM) + _lines(finding, _IN_LINE) + subject.reaches_further
    above += sum(max(0, _lines(text, _IN_NAME) - 1) for text in (name, issuer, responsible))
    above += _lines(largest(stated) + few, _IN_KEY) - 1 + max(0, _lines(command, _IN_FACT) - 2)
    above += _lines(said, _IN_VERDICT) - 1
    if subject.audit and shares:
        above += 3 if all(row.proved for row in subject.audit.by_share) else 5
        above += max(_lines(label, _IN_LINE // len(shares.head)) for label in shares.head) - 1
    return Cover(
        heading=_CERTIFICATES[stated.verdict] if certificate else "Audit report",
        band="" if certified else _BANDS[stated.verdict],
        verdict=said if stated.verdict == "delta-fair" else f"{said[0].upper()}{said[1:]}",
        claim=claim(stated),
        finding=finding,
        shares=shares,
        facts=Facts(tuple(_fitting(list(_facts(subject)), _ROOM - above))),
        look=_LOOKS[stated.verdict],
        certified=certified,
        scale=charts.DegreeScale.of(float(stated.delta), low, high),
        largest=largest(stated),
        limited=few,
        qr=charts.qr_path(f"sha256:{model.sha256}"),
        document=f"No. {certificate.id}" if certificate else f"model sha256:{model.sha256[:16]}",
        command=command,
        verification=_verification(subject),
        name=name,
        issuer=issuer,
        responsible=responsible,
        key=grouped(subject.key_id[:16]),
    )


def _lines(text: str, room: int) -> int:
    """About how many lines a text takes."""
    return -(-len(unmarked(text)) // room)


def _fitting(facts: list[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The facts for which there are lines; where they are too few, those go that other pages have in full."""
    for label in _ELSEWHERE:
        if sum(_lines(value, _IN_FACT) for _, value in facts) <= room:
            break
        facts = [fact for fact in facts if fact[0] != label]
    return facts


def section(subject: Subject) -> Blocks:
    """Make the section for formats without a first page of their own."""
    stated, model = subject.stated, subject.stated.model
    blocks: list[Block] = [
        Heading(verdict_sentence(model.name, stated.verdict, stated.delta, stated.min_probability), level=1),
        Paragraph(claim(stated)),
    ]
    if subject.brief:
        facts = (
            ("Decision", f"{model.decision}; favourable: {model.favourable}"),
            ("Sensitive", ", ".join(model.sensitive)),
            ("Criterion", CRITERIA[stated.criterion].measured),
            *([("Not disclosed", UNDISCLOSED[model.undisclosed])] if model.undisclosed else []),
            ("Model digest", f"sha256 {model.sha256[:16]}…"),
        )
        return [*blocks, Facts(facts)]
    page = cover(subject)
    blocks.insert(1, Paragraph(page.band or page.heading))
    if page.finding:
        blocks.append(Paragraph(page.finding))
    if page.shares:
        blocks.append(page.shares)
    return [*blocks, page.facts]


def claim(stated: Stated) -> str:
    """What the verdict says, in one sentence; and to which patterns it is limited."""
    disclosing = "disclosing sensitive values, whatever else is known of a person,"
    words, only = CRITERIA[stated.criterion], probable(stated.min_probability)
    limit, excess = (
        filled(template, stated.delta, d=stated.model.favourable) for template in (words.limit, words.excess)
    )
    said = {
        "delta-fair": f"Shown{only}: {disclosing} {limit}.",
        "not-delta-fair": f"Found: in at least one context, disclosing sensitive values {excess}.",
        "inconclusive": f"Neither shown nor refuted{only}: {disclosing} {limit}.",
    }[stated.verdict]
    if stated.model.undisclosed and _finds_nothing(stated):
        return f"{said} {NOTHING_TO_FIND}"
    # The other verdicts say it at their beginning.
    only = probable_only(stated.min_probability) if stated.verdict == "not-delta-fair" else ""
    return f"{said} {only}".rstrip()


def _finds_nothing(stated: Stated) -> bool:
    """Whether no disclosure moves anything: of a scorecard, whether no sensitive attribute has points."""
    return (
        stated.min_probability is None
        and stated.largest.proved
        and (stated.largest.max_degree_bounds or (1.0, 1.0))[1] == 0
    )


def clipped(text: str, room: int) -> str:
    """Cut a text to a number of characters, counted as they are shown.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    seen = visible(text)
    return seen if len(seen) <= room else seen[: room - 1] + "…"


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


def _finding(subject: Subject) -> str:
    """What the worst plausible pattern does to how many people."""
    stated = subject.stated
    undecided = ""
    if stated.verdict == "inconclusive":
        # What else is open is said in the section on the method.
        limit = next((f": {reason}" for reason in stated.reasons if reason.startswith("a limit")), "")
        undecided = f"The search ended before it could decide{limit}. "
    pattern, which = stated.largest.worst_pattern, of_all(stated.min_probability)
    if subject.audit:
        for row in subject.audit.by_share:
            if row.min_probability == _PLAUSIBLE and row.worst_pattern:
                pattern, which = row.worst_pattern, "of at least 1 of 10,000 people"
    if pattern is None:
        return undecided
    bad = abs(pattern.degree) > limit_of(stated.delta)
    what = "worst pattern" if bad else "largest change"
    found = "" if stated.verdict != "inconclusive" else " that was found"
    return f"{undecided}The {what} {which}{found}: {_said(pattern, stated)}"


def _said(pattern: PatternRecord, stated: Stated) -> str:
    whom, number = "", ""
    if pattern.probability is not None:
        number = people(pattern.probability)
        whom = f" These are {number} people."
    text = f"{sentence(pattern, stated.model.favourable)}{whom}"
    if len(unmarked(text)) <= _SENTENCE:
        return text
    before, after = percent(pattern.favourable_given_context), percent(pattern.favourable_given_pattern)
    return (
        f"{len(pattern.sensitive_values)} sensitive values in a context of {len(pattern.context_values)} "
        f"values move P({stated.model.favourable}) from {before} to {after}"
        f"{f', for {number} people' if number else ''}."
    )


def _shares(audit: Audit | None) -> Table | None:
    if not audit or not audit.by_share:
        return None
    head = tuple(least(row.min_probability) for row in audit.by_share)
    rows = [
        tuple(Cell(degree(row, audit.delta), look="" if row.proved else "limited") for row in audit.by_share)
    ]
    return Table("Worst degree among patterns of so many people", head, rows, len(head), "figures")


def _command(stated: Stated, audit: Audit | None) -> str:
    """What repeats the audit, with the attributes that it was asked for: a model may mark others."""
    model = stated.model
    names = {label: name for name, label in model.labels.items()}
    sensitive = ",".join(names.get(name, name) for name in model.sensitive)
    options = {
        "--delta": stated.delta,
        "--criterion": "ratio" if stated.criterion == "ratio" else None,
        "--min-probability": stated.min_probability,
        "--undisclosed": model.undisclosed,
        "--cutoff": audit.cutoff.cutoff if audit and audit.cutoff else None,
        "--sensitive": sensitive if len(sensitive) <= _COMMAND else None,
    }
    further = audit.how_far if audit else None
    sizes = further.sizes if further else {}
    options |= {"--box": sizes.get("box"), "--idm": sizes.get("imprecise-dirichlet")}
    asked = {
        " --largest-box": further and further.largest_box,
        " --rounding": "rounding" in sizes,
        " --any-population": further and further.every_population,
    }
    flags = "".join(flag for flag, found in asked.items() if found)
    words = [word for option, value in options.items() if value is not None for word in (option, value)]
    rest = flags if len(sensitive) <= _COMMAND else f"{flags} --sensitive NAMES"
    if audit and audit.data:
        rest += " --data TABLE"
    return f"auditor audit MODEL {join(words)}{rest}"


def _verification(subject: Subject) -> str:
    """What verifies the certificate, with the files that it takes."""
    repaired = subject.certificate.model.repair if subject.certificate else None
    proof = " --proof PROOF.json" if getattr(repaired, "proof", None) else ""
    return f"auditor verify REPORT.pdf{' --public-key ISSUER.pub.pem' if subject.key_id else ''}{proof}"


def _differences(said: Mapping[str, Any], certificate: Certificate, by: str) -> Iterator[str]:
    """Where a certificate says otherwise than a policy or the certificate before, and what each says."""
    days = (certificate.expires - certificate.valid_from).days
    decision = certificate.decision
    now = certificate.model_dump() | {"valid_days": str(days), "decision": decision.name}
    now |= {"favourable": decision.favourable, "unfavourable": decision.unfavourable}
    now["sensitive"] = tuple(sorted(item.name for item in certificate.sensitive_attributes))
    meaning = getattr(certificate.model.exact, "undisclosed", "conforming")
    now[_MEANING] = _POPULATION if meaning == "conforming" else meaning
    for name, value in said.items():
        if value != now[name]:
            before, here = (", ".join(v) if isinstance(v, tuple) else v or "none" for v in (value, now[name]))
            yield f"{name.replace('_', ' ')}: {by} {before}, here {here}"


def overridden(certificate: Certificate) -> str:
    """What a certificate has otherwise than its policy."""
    return "; ".join(
        _differences(certificate.policy.overridden.model_dump(exclude_none=True), certificate, "policy")
    )


def changed(before: Supersedes, certificate: Certificate) -> str:
    """What a certificate asks otherwise than the one whose place it takes."""
    scope = before.scope.model_dump() if before.scope else {}
    if scope:
        scope[_MEANING] = scope.pop("undisclosed", None) or _POPULATION
    return "; ".join(_differences(scope, certificate, "before"))


def _succession(before: Supersedes, certificate: Certificate) -> str:
    """Which certificate another takes the place of, whether that was checked, and what was asked there."""
    said = grouped(before.id)
    if before.verified_with is None and certificate.version > 1:
        said += ", whose signature was not checked"
    if found := changed(before, certificate):
        said += f"; changed, {clipped(found, _CHANGES)}"
    if before.scope_change_reason:
        said += f"; reason given: {clipped(before.scope_change_reason, _DATA)}"
    return said


def _facts(subject: Subject) -> Iterator[tuple[str, str]]:
    stated, certificate, audit = subject.stated, subject.certificate, subject.audit
    model, provenance = stated.model, subject.provenance
    yield "Threshold", threshold_words(stated.criterion, stated.delta)
    if (below := stated.margin) is not None:
        yield "Margin below δ", margin(below)
    yield "Patterns found", counted(stated)
    if audit and audit.groups:
        yield "Groups", groups.summary(audit.groups)
    if audit and audit.data:
        yield "In the data", data.summary(audit.data)
    if audit and audit.how_far:
        yield "How far it reaches", "; ".join(reach.lines(audit.how_far))
    elif certificate and certificate.box:
        yield "How far it reaches", reach.certified(certificate.box)
    yield "Sensitive attributes", some(model.sensitive, _LIST)
    if model.undisclosed:
        yield "Not disclosed", UNDISCLOSED[model.undisclosed]
    yield "Favourable decision", clipped(f"{model.decision}: {model.favourable}", _NAME)
    yield "Model digest", f"SHA-256 {grouped(model.sha256[:16])} …"
    if provenance:
        owner = (provenance.model_version and f"version {provenance.model_version}", provenance.owner)
        if any(owner):
            yield "Model", clipped(", ".join(filter(None, owner)), _DATA)
        if text := ", ".join(filter(None, (provenance.data_source, provenance.period))):
            yield "Data", clipped(text, _DATA)
    if found := subject.repair:
        yield (
            "Repaired",
            f"from the model sha256 {grouped(repair.source(found)[:16])} …: {repair.price(found)}",
        )
    if not certificate:
        return
    if not subject.repair and (facts := certificate.model.repair):
        yield "Repaired", repair.certified(facts)
    if certificate.policy.sha256:
        loosened = (
            f", overridden: {clipped(given, _CHANGES)}"
            if (given := overridden(certificate))
            else ", nothing overridden"
        )
        yield "Policy", f"SHA-256 {grouped(certificate.policy.sha256[:16])} …{loosened}"
    dates = f"from {certificate.valid_from} until {certificate.expires}, issued {certificate.issued}"
    yield "Valid" if certificate.verdict == "delta-fair" else "Dates", dates
    if certificate.supersedes:
        yield "Takes the place of", _succession(certificate.supersedes, certificate)
