"""What people read for attributes: documents keep names, by which files agree, and labels beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from auditor.documents.audit import ModelRecord
from auditor.documents.parameters import ExactAttribute, ExactScoredAttribute
from auditor.documents.record import Record

R = TypeVar("R", bound=Record)

#: Fields that have a name of an attribute, several, or one as the key of each entry.
_ONE, _SEVERAL = {"attribute"}, {"attributes", "sensitive", "disclosed"}
_KEYS = {"sensitive_values", "context_values", "values", "first", "second", "missing", "unknown"}


def labelled(document: R, labels: Mapping[str, str]) -> R:
    """Return a document whose model has the labels of `model_labelled`."""
    model: ModelRecord = document.model  # type: ignore[attr-defined]
    return document.model_copy(update={"model": model_labelled(model, labels)})


def model_labelled(model: ModelRecord, labels: Mapping[str, str]) -> ModelRecord:
    """Return a model with the labels that differ from their names.

    Two attributes with the same label, or one with another's name, keep their names behind it.
    """
    shown = Counter(labels.values())
    kept = {
        name: label if shown[label] == 1 and label not in labels else f"{label} ({name})"
        for name, label in labels.items()
        if label != name
    }
    return model.model_copy(update={"labels": kept}) if kept else model


def as_read(document: R, labels: Mapping[str, str]) -> R:
    """Return a document with labels in place of the names of attributes, wherever it names one."""
    return _record(document, labels) if labels else document


def _record(record: R, labels: Mapping[str, str]) -> R:
    changed = {field: _field(field, value, labels) for field, value in record if field != "labels"}
    if isinstance(record, ExactAttribute | ExactScoredAttribute):
        changed["name"] = labels.get(record.name, record.name)
    return record.model_copy(update=changed)


def _field(field: str, value: Any, labels: Mapping[str, str]) -> Any:
    match value:
        case Record():
            return _record(value, labels)
        case str() if field in _ONE:
            return labels.get(value, value)
        case tuple():
            return tuple(
                labels.get(item, item)
                if isinstance(item, str) and field in _SEVERAL
                else _record(item, labels)
                if isinstance(item, Record)
                else item
                for item in value
            )
        case dict():
            return {
                labels.get(key, key) if field in _KEYS else key: _field("", item, labels)
                for key, item in value.items()
            }
    return value
