"""What the script of an HTML report needs so that a reader can try things out: figures and the model."""

from __future__ import annotations

import json

from markupsafe import Markup

from auditor.documents.record import Record
from auditor.messages import visible
from auditor.report.blocks import unmarked
from auditor.report.subject import Subject
from auditor.report.wording import degree, sentence


def facts(subject: Subject) -> Markup:
    """Return the facts as JSON that can stand in a ``script`` element; counts are texts, of any length."""
    stated, audit = subject.stated, subject.audit
    exact = subject.parameters
    scored = audit.scorecard if audit else None
    attributes = exact.attributes if exact else scored.attributes if scored else ()
    drawn = audit.illustration if audit and attributes else None
    content = {
        "criterion": stated.criterion,
        "delta": stated.delta,
        "min_probability": stated.min_probability,
        "favourable": stated.model.favourable,
        "total": str(stated.total),
        "attributes": [
            {"name": a.name, "sensitive": a.name in stated.model.sensitive, "values": a.values}
            for a in attributes
        ],
        "parameters": _dumped(exact),
        "worst": _dumped(stated.largest.worst_pattern),
        "dots": drawn.dots if drawn else (),
        "by_delta": [
            {"delta": row.delta, "bounds": [str(end) for end in row.pattern_count_bounds]}
            for row in (audit.by_delta if audit else ())
        ],
        "by_share": [
            {
                "share": row.min_probability,
                "worst": degree(row, stated.delta),
                "says": unmarked(sentence(row.worst_pattern, stated.model.favourable))
                if row.worst_pattern
                else "",
            }
            for row in (audit.by_share if audit else ())
        ],
    }
    return in_script(json.dumps(_shown(content), ensure_ascii=False, separators=(",", ":")))


def in_script(text: str) -> Markup:
    """The same JSON so that it can stand in a ``script`` element, which no text in it can end."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in " \t\r\n" else json.dumps(c)[1:-1] for c in text)
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026").replace(">", "\\u003e"))


def _dumped(record: Record | None) -> object:
    return record.model_dump(mode="json") if record else None


def _shown(tree: object) -> object:
    """The same with every name as the report shows it."""
    if isinstance(tree, str):
        return visible(tree)
    if isinstance(tree, dict):
        return {_shown(key): _shown(value) for key, value in tree.items()}
    return [_shown(item) for item in tree] if isinstance(tree, list | tuple) else tree
