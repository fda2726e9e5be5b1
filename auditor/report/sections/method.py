"""What a discrimination pattern is, how the answer was found, and what it does not say."""

from __future__ import annotations

from auditor.documents.criteria import WORDS as CRITERIA
from auditor.documents.criteria import filled
from auditor.report.blocks import Block, Blocks, Facts, Heading, Items, Paragraph
from auditor.report.figures import whole
from auditor.report.sections.explored import FURTHER, explored
from auditor.report.subject import Subject
from auditor.report.wording import limited, probable_only, undisclosed_explained

_OTHER_MEANINGS = (
    "Fairness has other meanings, such as equal error rates; they need observed outcomes and are not "
    "measured here."
)
#: Where data are shown beside the model, their error rates are too.
_OTHER_MEANINGS_SHOWN = (
    "Fairness has other meanings, such as equal error rates; those of the data are shown beside the model, "
    "and the verdict does not speak of them."
)
_LIMITS = (
    "The result is about the model’s own probabilities: about everyone whom the model can describe, "
    "weighted as the model weights them. It does not say how well the model describes any actual people.",
    "It holds if and only if decisions are made with exactly these parameters, attributes and values. A "
    "model with another digest, such as the same model trained again, needs an audit of its own.",
    "It covers the attributes marked as sensitive and no others. An attribute that stands in for a "
    "sensitive one is covered only as part of the context.",
    "It covers this one decision and this one favourable value, not what happens before or after the "
    "decision.",
    _OTHER_MEANINGS,
    "It is evidence for a decision that people have to take. It is not legal advice, and not a statement "
    "that any law is complied with.",
)

#: Words of the findings of an audit, which a certificate by itself doesn't show.
_OF_FINDINGS = ("Divergence", "Impact ratio", "Pareto front", "Subset-minimal")
#: Words of findings that rest on a population.
_OF_POPULATIONS = ("Divergence", "Pareto front", "Probability", "Subset-minimal")
_GLOSSARY = (
    ("Context", "What is known of a person apart from the disclosed sensitive values."),
    (
        "Criterion",
        "How chances before and after are compared: by difference or by ratio.",
    ),
    (
        "Degree",
        "How much disclosing sensitive values changes the chance of the favourable decision, in one context.",
    ),
    ("δ (delta)", "The threshold: a degree whose size is above it is not accepted."),
    ("δ-fair", "Without any discrimination pattern{limited}."),
    (
        "Digest",
        "A fingerprint (SHA-256) of the model’s exact parameters. Models with the same digest are the same "
        "model.",
    ),
    (
        "Discrimination pattern",
        "Sensitive values and a context in which disclosing them changes the chance by more than δ allows.",
    ),
    (
        "Divergence",
        "How far, in nats, the model is from the nearest distribution in which a pattern stays within δ: far "
        "for severe patterns of many people.",
    ),
    ("Favourable decision", "The value of the decision that is better for the person."),
    (
        "Impact ratio",
        "The favourable rate of a group over that of the most favoured group.",
    ),
    (
        "Naive Bayes",
        "A model whose attributes are independent once the decision is given.",
    ),
    ("Odds", "A chance over its complement: a chance of 80% is odds of 4."),
    ("Pareto front", "The patterns that no other pattern beats in both severity and probability."),
    (
        "Probability",
        "Of a pattern: the model’s share of people who have all of its values.",
    ),
    ("Sensitive attribute", "An attribute that shall not sway the decision, often because a law says so."),
    ("Subset-minimal", "Said of a discrimination pattern no part of which is one."),
)


def section(subject: Subject) -> Blocks:
    """Make the section."""
    stated = subject.stated
    d, delta = stated.model.favourable, stated.delta
    words = CRITERIA[stated.criterion]
    degree, formula = words.degree, [filled(line, delta, d=d) for line in words.formula]
    blocks: list[Block] = [
        Heading("What a discrimination pattern is", "definition"),
        Paragraph(
            f"The model gives everyone a chance of the favourable decision, P({d}), from whatever is known "
            "of them. Take people of whom the same things are known: their context. Now one or more of their "
            f"sensitive attributes are disclosed as well. {degree} If its size is above the threshold δ, the "
            "disclosed values and the context are a discrimination pattern. A model without any such pattern "
            "is δ-fair."
        ),
        *([Paragraph(probable_only(stated.min_probability))] if stated.min_probability else []),
        *(Paragraph(line, "formula") for line in formula),
    ]
    return blocks


def how(subject: Subject) -> Blocks:
    """How the answer was found."""
    certificate = subject.certificate
    family = "naive Bayes" if subject.stated.model.undisclosed is None else "a scorecard"
    exact = (
        ""
        if certificate
        else " Sums are integers, and what lies within rounding of the threshold is settled in exact "
        "fractions: no rounded number decides a verdict or a count."
    )
    blocks: list[Block] = [
        Heading("How the answer was found", "how"),
        Paragraph(
            f"The model has {whole(subject.stated.total)} pairs of sensitive values and context. In such a "
            f"model ({family}) each value shifts the logarithm of the odds by a fixed amount, so that the "
            "degree of a pair follows from two sums. The search settles whole families of pairs at once "
            f"where a bound decides them, and goes through the rest.{exact}"
        ),
    ]
    if certificate:
        blocks += [Paragraph(certificate.method.search), Paragraph(certificate.method.arithmetic)]
    elif subject.audit:
        blocks.append(Paragraph(explored(subject.audit.search)))
    return blocks


def said(subject: Subject) -> tuple[str, ...]:
    """What the answer rests on, and what it does not cover."""
    certificate = subject.certificate
    sentences = certificate.assumptions + certificate.limits if certificate else _LIMITS
    if meaning := subject.stated.model.undisclosed:
        sentences = (undisclosed_explained(meaning), *sentences)
    if subject.audit and subject.audit.data:
        sentences = tuple(_OTHER_MEANINGS_SHOWN if line == _OTHER_MEANINGS else line for line in sentences)
    if subject.reaches_further:
        sentences = (*sentences, FURTHER)
    return sentences


def limits(subject: Subject) -> Blocks:
    """What the answer shows and what not, and the words for it."""
    populated = subject.stated.model.undisclosed in (None, "conforming")
    return [
        Heading("What this shows, and what it does not", "limits"),
        Items(said(subject)),
        Heading("Glossary", "glossary"),
        Facts(
            tuple(
                (word, meaning.format(limited=limited(subject.stated.min_probability)))
                for word, meaning in _GLOSSARY
                if (subject.audit or word not in _OF_FINDINGS)
                and (populated or word not in _OF_POPULATIONS)
                and (word != "Naive Bayes" or subject.stated.model.undisclosed is None)
            )
        ),
    ]
