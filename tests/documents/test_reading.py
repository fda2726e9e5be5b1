"""Documents come back through one strict door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditor import audit, load_model
from auditor.documents.audit import Audit
from auditor.documents.reading import parse, read, validated
from auditor.documents.record import to_json
from auditor.documents.repair import Repair
from auditor.documents.verification import RevocationList
from auditor.errors import InputError
from tests.cli.conftest import EXAMPLES

TREE: dict[str, Any] = json.loads(to_json(audit(load_model(EXAMPLES / "figure1.json"), delta="0.2")))


def refused(text: str, kind: Any = Audit) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse(kind, text.encode(), "a.json")
    assert all(line.startswith("a.json: ") for line in caught.value.problems)
    return tuple(line.removeprefix("a.json: ") for line in caught.value.problems)


def test_a_document_that_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(TREE).encode())
    assert json.loads(to_json(read(Audit, path))) == TREE
    with pytest.raises(InputError, match="larger than 100 bytes"):
        read(Audit, path, limit=100)


def test_another_kind_or_version_is_named() -> None:
    assert refused(json.dumps(TREE), Repair) == (
        'kind: "auditor/audit" is not a repair; a repair says "auditor/repair"',
    )
    [line] = refused('{"kind": "auditor/audit"}', RevocationList)
    assert line.startswith('kind: "auditor/audit" is not a list of revocations; ')
    assert refused("[]") == ('"kind" is missing; an audit says "auditor/audit"',)
    for version in (2, True, "1", None):
        [line] = refused(json.dumps(TREE | {"version": version}))
        assert line.endswith("is not supported; this auditor reads version 1")


def test_all_problems_are_told_at_once() -> None:
    tree = TREE | {"verdict": "fair", "extra": 1, "delta": [], "total_patterns": -1, "max_degree": 9}
    del tree["model"]
    text = json.dumps(tree).replace('"verdict"', '"verdict": 1, "verdict"')
    found = refused(text)
    assert 'key "verdict" stands twice; keep one of them' in found
    assert '"model" is missing; add it' in found
    assert any(line.startswith('unknown key "extra"') for line in found)
    assert any(line.startswith('verdict: "fair" is not known; write "delta-fair"') for line in found)
    assert any(line.startswith("total_patterns: -1 is not a whole number from 0") for line in found)
    assert any(line.startswith("max_degree: 9") and "is not a number" in line for line in found)
    assert any(line.startswith("delta: a list is not ") for line in found)
    assert not any("Input should" in line for line in found)


@pytest.mark.parametrize("text", ["", "{", "[" * 100, '{"kind": NaN}', "\xff"])
def test_what_is_no_json_is_refused(text: str) -> None:
    assert refused(text)


def test_days_are_explained() -> None:
    head = '{"kind": "auditor/revocations", "version": 1, "revocations": '
    [line] = refused(head + '[{"id": null, "revoked": "soon"}]}', RevocationList)
    assert line == 'revocations[0].revoked: "soon" is not a date; write one, such as 2026-01-31'
    tree = {"kind": "auditor/revocations", "version": 1, "revocations": ()}
    assert validated(RevocationList, tree, "a.json").revocations == ()
