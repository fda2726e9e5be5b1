"""Verifies, repairs and certifies δ-fairness of naive Bayes classifiers, exactly.

>>> from auditor import load_model, audit
>>> result = audit(load_model("examples/figure1.json"), delta="0.2")
>>> result.verdict
'not-delta-fair'
>>> result.worst_pattern.sensitive_values, result.worst_pattern.context_values
({'X': 'not x'}, {'Y1': 'y1'})
>>> round(result.max_degree, 3)
0.225
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.documents.audit import Audit as Audit
    from auditor.errors import AuditorError as AuditorError
    from auditor.errors import InputError as InputError
    from auditor.model.formats.sklearn import from_sklearn as from_sklearn
    from auditor.model.formats.sklearn import to_sklearn as to_sklearn
    from auditor.model.reading import load_model as load_model
    from auditor.model.spec import ModelSpec as ModelSpec
    from auditor.usecases.auditing import audit as audit
    from auditor.usecases.auditing import repair as repair
    from auditor.usecases.learning import learn as learn

from auditor.version import __version__

#: Public name to the module that has it, imported when the name is first used: `auditor --help` needs none.
_HOMES = {
    "Audit": "auditor.documents.audit",
    "AuditorError": "auditor.errors",
    "InputError": "auditor.errors",
    "ModelSpec": "auditor.model.spec",
    "audit": "auditor.usecases.auditing",
    "from_sklearn": "auditor.model.formats.sklearn",
    "learn": "auditor.usecases.learning",
    "load_model": "auditor.model.reading",
    "repair": "auditor.usecases.auditing",
    "to_sklearn": "auditor.model.formats.sklearn",
}

__all__ = [
    "Audit",
    "AuditorError",
    "InputError",
    "ModelSpec",
    "__version__",
    "audit",
    "from_sklearn",
    "learn",
    "load_model",
    "repair",
    "to_sklearn",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'auditor' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
