"""Documents as Markdown (GitHub's), for a file or a comment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.documents.audit import Audit, ModelRecord, PatternRecord
from auditor.documents.data import DataEvidence
from auditor.documents.patterns import PatternList
from auditor.report.wording import (
    DATA_PATTERN_HEAD,
    DATA_PATTERNS_MEANING,
    MINIMAL_MEANING,
    SCOPE,
    Words,
    criterion_words,
    data_cells,
    data_pattern_cells,
    heading,
    list_heading,
    percent,
    probable_only,
    rounded,
    shown,
    signed,
)


def name(text: str) -> str:
    """Write a name so that nothing in it is markup, a link, a mention or HTML."""
    plain = shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[\\`*_{}\[\]|~:@$#]|(?<=www)\.", r"\\\g<0>", plain)


_WORDS = Words(name=name, strong=lambda text: f"**{text}**")


def audit(document: Audit) -> str:
    """Render an audit."""
    model, search = document.model, document.search
    blocks = [
        f"# {_WORDS.verdict(document)}",
        _WORDS.claim(document),
        _table(
            ("", ""),
            [
                ("Decision", name(model.decision)),
                ("Favourable", name(model.favourable)),
                ("Sensitive attributes", _WORDS.names(model.sensitive)),
                ("Criterion", criterion_words(document.criterion)),
                ("Largest degree", _WORDS.largest(document)),
                ("Discrimination patterns", _WORDS.counted(document)),
                ("Model digest", f"`sha256:{model.sha256}`"),
            ],
        ),
    ]
    if document.worst_pattern:
        blocks += ["## Worst pattern", _WORDS.sentence(document.worst_pattern, model)]
    if document.top_patterns:
        number = len(document.top_patterns)
        blocks += [
            f"## {list_heading('top', number, search.top_patterns_complete, document.rank_by)}",
            _patterns(document.top_patterns, model, document.delta),
        ]
    if document.minimal_patterns:
        number = len(document.minimal_patterns)
        blocks += [
            f"## {list_heading('minimal', number, search.minimal_patterns_complete)}",
            MINIMAL_MEANING,
            _patterns(document.minimal_patterns, model, document.delta),
        ]
    blocks += ["## Group level: nothing else known", _level(document.group_level, document)]
    if document.individual_level:
        blocks += ["## Individual level: every attribute known", _level(document.individual_level, document)]
    if document.data:
        blocks += _data(document.data)
    blocks += [
        "## By sensitive attribute",
        _table(
            ("Disclosed, alone or with others", "Worst degree", "Patterns"),
            [
                (
                    name(row.attribute),
                    signed(row.worst_pattern.degree, document.delta),
                    "not counted" if row.pattern_count is None else f"{row.pattern_count:,}",
                )
                for row in document.by_sensitive_attribute
            ],
            right=2,
        ),
        "## What was explored",
        _WORDS.explored(search),
        "## What this does not say",
        MINIMAL_MEANING,
        SCOPE,
        f"Made by auditor {document.tool.version}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _data(data: DataEvidence) -> list[str]:
    """What data say beside the model."""
    blocks = [
        f"## In the data: {data.people:,} people",
        " ".join(_WORDS.data(data)),
        _table(
            ("Group", "People", "Selected", "95% interval", "Impact ratio", "Accuracy"),
            [(_WORDS.values(group.values), *data_cells(group)) for group in data.groups],
            right=5,
        ),
    ]
    if data.patterns:
        blocks += [
            "## How often the listed patterns occur in the data",
            DATA_PATTERNS_MEANING,
            _table(
                ("Disclosed", "Given", *DATA_PATTERN_HEAD),
                [
                    (
                        _WORDS.values(pattern.sensitive_values),
                        _WORDS.values(pattern.context_values),
                        *data_pattern_cells(pattern),
                    )
                    for pattern in data.patterns
                ],
                right=len(DATA_PATTERN_HEAD),
            ),
        ]
    return blocks


def patterns(document: PatternList) -> str:
    """Render a list of patterns."""
    blocks = [
        f"# {name(document.model.name)}: {heading(document)}",
        f"δ = {document.delta}, criterion {document.criterion}. {probable_only(document)}".rstrip(),
        _patterns(document.patterns, document.model, document.delta),
    ]
    return "\n\n".join(blocks) + "\n"


def _level(pattern: PatternRecord, document: Audit) -> str:
    degree = signed(pattern.degree, document.delta)
    return f"{_WORDS.sentence(pattern, document.model)} Worst degree {degree}."


def _patterns(patterns: Sequence[PatternRecord], model: ModelRecord, delta: str) -> str:
    if not patterns:
        return "None."
    before = f"{_WORDS.favourable(model)} before"
    return _table(
        ("Disclosed", "Given", "Degree", before, "After", "Probability", "Divergence (nats)"),
        [
            (
                _WORDS.values(pattern.sensitive_values),
                _WORDS.values(pattern.context_values),
                signed(pattern.degree, delta),
                percent(pattern.favourable_given_context),
                percent(pattern.favourable_given_pattern),
                percent(pattern.probability),
                "infinite" if pattern.divergence_nats is None else rounded(pattern.divergence_nats),
            )
            for pattern in patterns
        ],
        right=5,
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, right: int = 0) -> str:
    """Make a table whose last `right` columns are numbers."""
    rule = ["---"] * (len(head) - right) + ["--:"] * right
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])
