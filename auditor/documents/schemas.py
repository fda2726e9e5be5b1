"""Writes the JSON Schemas in ``schemas/``: ``python -m auditor.documents.schemas``."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate
from auditor.documents.comparison import Comparison
from auditor.documents.fleet import FleetRow
from auditor.documents.frontier import Frontier
from auditor.documents.patterns import PatternList
from auditor.documents.policy import PolicyFile
from auditor.documents.proof import LikelihoodProof, ProofVerification
from auditor.documents.repair import Repair
from auditor.documents.stability import Stability
from auditor.documents.verification import ChainVerification, RevocationList, Verification
from auditor.model.scorecard import ScorecardSpec
from auditor.model.spec import ModelSpec
from auditor.resources import resource

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import ModelSchema

#: What is read has the schema of what is accepted; what is written, of what is always there.
_READ: Mapping[str, type[BaseModel]] = {
    "model": ModelSpec,
    "scorecard": ScorecardSpec,
    "likelihood-proof": LikelihoodProof,
    "policy": PolicyFile,
    "revocations": RevocationList,
}
_WRITTEN: Mapping[str, type[BaseModel]] = {
    "audit": Audit,
    "fleet": FleetRow,
    "patterns": PatternList,
    "certificate": Certificate,
    "verification": Verification,
    "chain-verification": ChainVerification,
    "comparison": Comparison,
    "proof-verification": ProofVerification,
    "repair": Repair,
    "stability": Stability,
    "frontier": Frontier,
}


class _Described(GenerateJsonSchema):
    """Describes each field by the text that stands under it in its class.

    Pydantic can do so itself, but then reads the source of every class whenever the program starts.
    """

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        """Return the schema of a class, its fields described."""
        made = super().model_schema(schema)
        for kind in reversed(schema["cls"].__mro__[:-2]):
            for field, text in _descriptions(kind):
                made["properties"][field].update({"description": text})
        return made


def _descriptions(kind: type) -> Iterator[tuple[str, str]]:
    (defined,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(defined, ast.ClassDef)
    for field, below in pairwise(defined.body):
        match field, below:
            case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                yield name, " ".join(text.split())


@cache
def schemas() -> Mapping[str, str]:
    """Return the text of each schema (draft 2020-12) by the name of its document."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    kinds: list[tuple[JsonSchemaMode, str, type[BaseModel]]] = [
        *(("validation", name, kind) for name, kind in _READ.items()),
        *(("serialization", name, kind) for name, kind in _WRITTEN.items()),
    ]
    return {
        name: json.dumps(
            dialect | kind.model_json_schema(mode=mode, schema_generator=_Described),
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
        for mode, name, kind in kinds
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        resource("schemas", f"{name}.json").write_text(text, encoding="utf-8")
