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

import sys
from types import ModuleType

from auditor.version import __version__

# The module `typing` takes longer than all else that is needed until the program can answer Ctrl-C.
TYPE_CHECKING = False
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
    from auditor.usecases.certifying import CertifyOptions as CertifyOptions
    from auditor.usecases.certifying import Signer as Signer
    from auditor.usecases.certifying import certify as certify
    from auditor.usecases.certifying import recertify as recertify
    from auditor.usecases.certifying import verify as verify
    from auditor.usecases.learning import learn as learn
    from auditor.usecases.reporting import report as report

#: Public name to the module that has it, imported when the name is first used: `auditor --help` needs none.
_HOMES = {
    "Audit": "auditor.documents.audit",
    "AuditorError": "auditor.errors",
    "InputError": "auditor.errors",
    "ModelSpec": "auditor.model.spec",
    "Signer": "auditor.usecases.certifying",
    "CertifyOptions": "auditor.usecases.certifying",
    "audit": "auditor.usecases.auditing",
    "certify": "auditor.usecases.certifying",
    "from_sklearn": "auditor.model.formats.sklearn",
    "learn": "auditor.usecases.learning",
    "load_model": "auditor.model.reading",
    "recertify": "auditor.usecases.certifying",
    "repair": "auditor.usecases.auditing",
    "report": "auditor.usecases.reporting",
    "to_sklearn": "auditor.model.formats.sklearn",
    "verify": "auditor.usecases.certifying",
}

__all__ = ["__version__", *_HOMES]


class _Package(ModuleType):
    """The package, in which a function keeps its name from the room that has the same one."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the room would otherwise put it in the place of the function.
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'auditor' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
