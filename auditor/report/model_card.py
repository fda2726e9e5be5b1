"""A model card in the form of the Hugging Face Hub: Markdown with metadata in YAML before it.

The headings are those of the Hub's own template, so that its tools and readers find them; what the report
doesn't know is left to the model's owner, in the template's own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.report import markdown
from auditor.report.blocks import Block, Facts, Heading, Items, Paragraph
from auditor.report.sections import attributes, cover, groups, levels, method, minimal, reach, top, worst
from auditor.report.subject import Subject
from auditor.report.wording import probable, probable_only, threshold_words, verdict_sentence

_UNKNOWN = "[More Information Needed]"
#: The Hub groups results by task and data set; the figures are of the model alone.
_TASK = "tabular-classification"
_DATA = {"type": "model", "name": "The model’s own probabilities, no data set"}


def laid_out(subject: Subject) -> str:
    """Lay a model card out."""
    import yaml

    if subject.audit and subject.audit.data:
        # The card says that its figures are of no data; the report shows those of data beside the model.
        subject = replace(subject, audit=subject.audit.model_copy(update={"data": None}))

    card = yaml.safe_dump(_metadata(subject), allow_unicode=True, sort_keys=False, width=110)
    return f"---\n{card}---\n\n{markdown.laid_out(_blocks(subject))}"


def _metadata(subject: Subject) -> dict[str, Any]:
    stated = subject.stated
    family = "naive-bayes" if stated.model.undisclosed is None else "scorecard"
    low, high = stated.largest.max_degree_bounds or (stated.largest.max_degree, None)
    scope = probable(stated.min_probability)
    figures: list[tuple[str, str, float | int | str | None]] = [
        ("verdict", f"Verdict at δ = {stated.delta}, {stated.criterion}{scope}", stated.verdict),
        ("largest-degree-at-least", f"Largest degree of discrimination{scope}, at least", low),
        ("largest-degree-at-most", f"Largest degree of discrimination{scope}, at most", high),
        ("discrimination-patterns", f"Discrimination patterns{scope}", stated.count),
    ]
    metrics = [
        {"type": kind, "name": name, "value": value} for kind, name, value in figures if value is not None
    ]
    result = {"task": {"type": _TASK}, "dataset": _DATA, "metrics": metrics}
    return {
        "tags": [family, "tabular-classification", "fairness"],
        "model-index": [{"name": stated.model.name, "results": [result]}],
    }


def _blocks(subject: Subject) -> Iterator[Block]:
    stated, model, origin = subject.stated, subject.stated.model, subject.provenance
    family = "naive Bayes" if model.undisclosed is None else "scorecard"
    yield Heading(f"Model Card for {model.name}", level=1)
    yield Paragraph((origin and origin.description) or _UNKNOWN)
    yield Heading("Model Details", level=2)
    yield Facts(
        (
            ("Developed by", (origin and origin.owner) or _UNKNOWN),
            ("Version", (origin and origin.model_version) or _UNKNOWN),
            ("Model type", f"{family}, {len(model.attributes):,} attributes"),
            ("Decision", f"{model.decision}: {model.favourable} (favourable) or {model.unfavourable}"),
            ("Digest of the exact parameters", f"sha256:{model.sha256}"),
            ("License", _UNKNOWN),
        )
    )
    yield Heading("Uses", level=2)
    yield Paragraph(_UNKNOWN)
    yield Heading("Bias, Risks, and Limitations", level=2)
    yield Paragraph(verdict_sentence(model.name, stated.verdict, stated.delta, stated.min_probability))
    yield Paragraph(cover.claim(stated))
    yield Items(method.said(subject))
    yield Heading("Training Details", level=2)
    yield Facts(
        (
            ("Training data", (origin and origin.data_source) or _UNKNOWN),
            ("Period", (origin and origin.period) or _UNKNOWN),
            ("Rows", f"{int(origin.rows):,}" if origin and origin.rows is not None else _UNKNOWN),
        )
    )
    yield Heading("Evaluation", level=2)
    yield Heading("Testing Data, Factors & Metrics")
    yield Facts(
        (
            ("Testing data", "none: the figures are of the model’s own probabilities"),
            ("Factors", ", ".join(model.sensitive)),
            ("Metric", CRITERIA[stated.criterion].measured),
            ("Threshold", threshold_words(stated.criterion, stated.delta)),
        )
    )
    if stated.min_probability is not None:
        yield Paragraph(probable_only(stated.min_probability))
    yield Heading("Results")
    for section in (
        worst.section,
        top.section,
        levels.section,
        minimal.section,
        attributes.section,
        groups.section,
        reach.section,
    ):
        yield from section(subject) or ()
    # What the sections say is there.
    listed = [*(attributes.appendix(subject) or ()), *(minimal.appendix(subject) or ())]
    if listed:
        yield from (Heading("Appendix"), *listed)
    yield Heading("Model Card Contact", level=2)
    yield Paragraph((subject.certificate and subject.certificate.responsible) or _UNKNOWN)
    made = f"Made by auditor {stated.version} from"
    if subject.certificate:
        yield Paragraph(
            f"{made} the certificate {subject.certificate.id}, which auditor verify checks.", "small"
        )
    else:
        yield Paragraph(f"{made} a stored audit. This card is not a certificate.", "small")
