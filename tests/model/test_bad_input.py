"""A named table of malformed specifications: what each is refused with, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from auditor.errors import InputError
from auditor.messages import MOST_KINDS, MOST_OF_A_KIND, Problem, lines
from auditor.model.reading import parse_model
from tests.model.samples import (
    REPAIR,
    WITH_COUNTS,
    WITH_LIKELIHOOD,
    Edit,
    as_written,
    changed,
    drop,
    problems,
    put,
    to_json,
)

HOUSING = "attributes[1] (housing)"
SEX = "attributes[0] (sex)"
FIRST = ("attributes", 0)
SECOND = ("attributes", 1)

#: Name of a case to the edits of a specification with likelihoods, and the lines.
LIKELIHOOD_CASES: Mapping[str, tuple[list[Edit], list[str]]] = {
    "not a mapping: likelihood is a list": (
        [put(*SECOND, "likelihood", [0.5, 0.5])],
        [
            f"{HOUSING}: likelihood: a list stands where a mapping belongs; give its keys: "
            "favourable, unfavourable"
        ],
    ),
    "kind missing": ([drop("kind")], ['"kind" is missing; add it']),
    "kind of another document": (
        [put("kind", "auditor/certificate"), put("name", 3)],
        ['kind: "auditor/certificate" is not a model; a model says "auditor/model"'],
    ),
    "kind is a number": ([put("kind", 1)], ['kind: 1 is not known; write "auditor/model"']),
    "version missing": ([drop("version")], ['"version" is missing; add it']),
    "version of the future": (
        [put("version", 2), put("news", [])],
        ["version: 2 is not supported; this auditor reads version 1"],
    ),
    "version as text": ([put("version", "1")], ['version: "1" is not known; write 1']),
    "version as truth": (
        [put("version", True)],
        ["version: true is not supported; this auditor reads version 1"],
    ),
    "name missing": ([drop("name")], ['"name" is missing; add it']),
    "name empty": ([put("name", " ")], ['name: " " is empty; give a name that people can read']),
    "name is a number": ([put("name", 7)], ['name: 7 is not text; put it in quotes: "7"']),
    "name is null": ([put("name", None)], ["name: null is not text; write a text"]),
    "name with a new line": (
        [put("name", "Credit\nverdict: fair")],
        [r'name: "Credit\nverdict: fair" contains the control character U+000A; take it out'],
    ),
    "name with an escape sequence": (
        [put(*SECOND, "name", "\x1b[31mhousing")],
        [
            r'attributes[1] (\x1b[31mhousing): name: "\x1b[31mhousing" contains the control character '
            r"U+001B; "
            "take it out"
        ],
    ),
    "label that turns the text around": (
        [put(*SECOND, "values", 0, "own\u202efair")],
        [rf'{HOUSING}: values[0]: "own\u202efair" contains the control character U+202E; take it out'],
    ),
    "label with half a character": (
        [put(*SECOND, "values", 0, "\ud800")],
        [rf'{HOUSING}: values[0]: "\ud800" contains the control character U+D800; take it out'],
    ),
    "name too long": (
        [put("name", "x" * 501)],
        [f'name: "{"x" * 59}…" has 501 characters; use at most 500'],
    ),
    "unknown key, close to a known one": (
        [put(*SECOND, "sensitve", True)],
        [f'{HOUSING}: unknown key "sensitve"; did you mean "sensitive"?'],
    ),
    "unknown key in American spelling": (
        [put("decision", "favorable", "good"), drop("decision", "favourable")],
        [
            'decision: "favourable" is missing; add it',
            'decision: unknown key "favorable"; did you mean "favourable"?',
        ],
    ),
    "unknown key, close to nothing": (
        [put("provenance", {"xyz": 1})],
        [
            'provenance: unknown key "xyz"; take it out; known are description, owner, model_version, '
            "data_source, period, rows"
        ],
    ),
    "unknown key in a value": (
        [put(*FIRST, "values", 1, "code", "f")],
        [f'{SEX}: values[1]: unknown key "code"; take it out; known are value, label'],
    ),
    "decision missing": ([drop("decision")], ['"decision" is missing; add it']),
    "decision is text": (
        [put("decision", "good")],
        [
            'decision: "good" stands where a mapping belongs; give its keys: name, favourable, unfavourable, '
            "prior, counts"
        ],
    ),
    "decision with equal labels": (
        [put("decision", "unfavourable", "good")],
        ['decision.unfavourable: "good" is the label of favourable too; labels must differ'],
    ),
    "decision with equal values": (
        [
            put("decision", "favourable", {"value": "1", "label": "good"}),
            put("decision", "unfavourable", {"value": "1", "label": "bad"}),
        ],
        ['decision.unfavourable: "1" is the value of favourable too; values must differ'],
    ),
    "neither prior nor counts": (
        [drop("decision", "prior")],
        ['decision: has neither "prior" nor "counts"; give one of them'],
    ),
    "prior 0": (
        [put("decision", "prior", 0)],
        ["decision.prior: 0 is no prior; it must lie strictly between 0 and 1"],
    ),
    "prior 1": (
        [put("decision", "prior", 1)],
        ["decision.prior: 1 is no prior; it must lie strictly between 0 and 1"],
    ),
    "prior in per cent": (
        [put("decision", "prior", 70)],
        ["decision.prior: 70 is no prior; it must lie strictly between 0 and 1"],
    ),
    "prior as text": (
        [put("decision", "prior", "0.7")],
        ['decision.prior: "0.7" is text, not a number; write digits and a point, without quotes'],
    ),
    "prior differs from the counts": (
        [put("decision", "counts", {"favourable": 3, "unfavourable": 1})],
        ["decision.prior: 0.7 differs from the counts, which give 0.75; correct one of them or leave it out"],
    ),
    "prior is that of the other decision": (
        [put("decision", "counts", {"favourable": 3, "unfavourable": 7})],
        [
            "decision.prior: 0.7 differs from the counts, which give 0.3; it is that of the "
            "unfavourable value; "
            "correct it or leave it out"
        ],
    ),
    "attributes missing": ([drop("attributes")], ['"attributes" is missing; add it']),
    "attributes empty": (
        [put("attributes", [])],
        ["attributes: is empty; give at least one attribute, and mark the sensitive ones"],
    ),
    "attribute is a number": (
        [put(*SECOND, 5)],
        [
            "attributes[1]: 5 stands where a mapping belongs; give its keys: name, label, sensitive, "
            "sensitive_reason, values, likelihood, counts"
        ],
    ),
    "duplicate attribute": (
        [put(*SECOND, "name", "sex")],
        ["attributes[1] (sex): has the name of attributes[0] too; give each its own"],
    ),
    "one label for two attributes": (
        [put(*FIRST, "label", "Housing"), put(*SECOND, "label", "Housing")],
        ['attributes[1] (housing): people read "Housing" for attributes[0] too; give each its own label'],
    ),
    "a label that is another's name": (
        [put(*FIRST, "label", "housing")],
        ['attributes[1] (housing): people read "housing" for attributes[0] too; give each its own label'],
    ),
    "a label that is no text": (
        [put(*FIRST, "label", 5)],
        ['attributes[0] (sex): label: 5 is not text; put it in quotes: "5"'],
    ),
    "attribute named like the decision": (
        [put(*SECOND, "name", "credit")],
        ["attributes[1] (credit): has the name of the decision; leave the decision out of the attributes"],
    ),
    "no sensitive attribute": (
        [put(*FIRST, "sensitive", False)],
        ['attributes: none is sensitive; write "sensitive": true at each attribute that needs protection'],
    ),
    "sensitive as text": (
        [put(*FIRST, "sensitive", "yes")],
        [f'{SEX}: sensitive: "yes" is neither true nor false; write one of them without quotes'],
    ),
    "values missing": ([drop(*SECOND, "values")], [f'{HOUSING}: "values" is missing; add it']),
    "values as text": (
        [put(*SECOND, "values", "own, rent, free")],
        [f'{HOUSING}: values: "own, rent, free" stands where a list belongs; write [ … ]'],
    ),
    "one value": (
        [
            put(*SECOND, "values", ["own"]),
            put(*SECOND, "likelihood", {"favourable": [1], "unfavourable": [1]}),
        ],
        [f"{HOUSING}: values: one value is given; an attribute has at least two"],
    ),
    "value is a number": (
        [put(*SECOND, "values", 1, 1)],
        [f'{HOUSING}: values[1]: 1 is not text; put it in quotes: "1"'],
    ),
    "value code is a number": (
        [put(*FIRST, "values", 1, "value", 1)],
        [f'{SEX}: values[1].value: 1 is not text; put it in quotes: "1"'],
    ),
    "duplicate label": (
        [put(*FIRST, "values", 1, "label", "male")],
        [f'{SEX}: values[1]: "male" is the label of values[0] too; labels must differ'],
    ),
    "duplicate value": (
        [put(*FIRST, "values", 1, "value", "male")],
        [f'{SEX}: values[1]: "male" is the value of values[0] too; values must differ'],
    ),
    "neither likelihood nor counts": (
        [drop(*SECOND, "likelihood")],
        [f'{HOUSING}: has neither "likelihood" nor "counts"; give one of them'],
    ),
    "likelihood of one decision": (
        [drop(*SECOND, "likelihood", "unfavourable")],
        [f'{HOUSING}: likelihood: "unfavourable" is missing; add it'],
    ),
    "likelihood too short": (
        [put(*SECOND, "likelihood", "favourable", [0.5, 0.5])],
        [
            f'{HOUSING}: likelihood given "good": 2 numbers for 3 values; give one per value, in the '
            "same order"
        ],
    ),
    "likelihood above 1": (
        [put(*SECOND, "likelihood", "favourable", 0, 1.2)],
        [f'{HOUSING}: likelihood of "own" given "good": 1.2 is above 1; a probability lies between 0 and 1'],
    ),
    "likelihood below 0": (
        [put(*SECOND, "likelihood", "unfavourable", 2, -0.25)],
        [
            f'{HOUSING}: likelihood of "free" given "bad": -0.25 is below 0; a probability lies '
            "between 0 and 1"
        ],
    ),
    "likelihood NaN": (
        [put(*SECOND, "likelihood", "favourable", 0, float("nan"))],
        [f'{HOUSING}: likelihood of "own" given "good": NaN is not a finite number; write one in digits'],
    ),
    "likelihood infinite": (
        [put(*SECOND, "likelihood", "favourable", 0, float("-inf"))],
        [
            f'{HOUSING}: likelihood of "own" given "good": -Infinity is not a finite number; write '
            "one in digits"
        ],
    ),
    "likelihood true": (
        [put(*SECOND, "likelihood", "favourable", 0, True)],
        [f'{HOUSING}: likelihood of "own" given "good": true is not a number; write one in digits'],
    ),
    "likelihood null": (
        [put(*SECOND, "likelihood", "favourable", 0, None)],
        [f'{HOUSING}: likelihood of "own" given "good": null is not a number; write one in digits'],
    ),
    "likelihood of a billion digits": (
        [put(*SECOND, "likelihood", "favourable", 0, as_written("1e-999999999"))],
        [
            f'{HOUSING}: likelihood of "own" given "good": 1e-999999999 is out of range; write 0, or '
            "a number "
            "within 1e±400"
        ],
    ),
    "likelihood of too many digits": (
        [put(*SECOND, "likelihood", "favourable", 0, as_written("0." + "1" * 401))],
        [
            f'{HOUSING}: likelihood of "own" given "good": 0.{"1" * 37}… has too many digits; write '
            "at most 400"
        ],
    ),
    "sum above 1": (
        [put(*SECOND, "likelihood", "favourable", [0.6, 0.3, as_written("0.1000000011")])],
        [
            f'{HOUSING}: likelihood given "good": sums to 1.0000000011 instead of 1; correct the numbers, or '
            "give counts"
        ],
    ),
    "sum below 1": (
        [put(*SECOND, "likelihood", "unfavourable", [0.5, 0.2, 0.2])],
        [f'{HOUSING}: likelihood given "bad": sums to 0.9 instead of 1; correct the numbers, or give counts'],
    ),
    "value never seen": (
        [put(*SECOND, "likelihood", {"favourable": [0.5, 0.5, 0], "unfavourable": [1, 0, 0.0]})],
        [f'{HOUSING}: values[2]: "free" is never seen under either decision; leave it out'],
    ),
    "smoothing without counts": (
        [put("smoothing", 1)],
        ["smoothing: 1 has no effect without counts; leave it out, or give counts"],
    ),
    "attribute counts without decision counts": (
        [
            drop(*SECOND, "likelihood"),
            put(*SECOND, "counts", {"favourable": [1, 1, 1], "unfavourable": [1, 1, 1]}),
        ],
        ['decision: "counts" is missing, and attributes have counts; add the number of rows per decision'],
    ),
    "rows negative": (
        [put("provenance", {"rows": -1})],
        ["provenance.rows: -1 is not a whole number from 0; write one"],
    ),
    "rows with a fraction": (
        [put("provenance", {"rows": 1.5})],
        ["provenance.rows: 1.5 is not a whole number from 0; write one"],
    ),
    "description empty": (
        [put("provenance", {"description": ""})],
        ["provenance.description: is empty; write a text or leave it out"],
    ),
    "repair with an unknown criterion": (
        [put("repair", {**REPAIR, "criterion": "parity"})],
        ['repair.criterion: "parity" is not known; write "difference" or "ratio"'],
    ),
    "repair with half a digest": (
        [put("repair", {**REPAIR, "source_sha256": "00"})],
        ['repair.source_sha256: "00" does not match ^[0-9a-f]{64}$; correct it'],
    ),
}

COUNT_CASES: Mapping[str, tuple[list[Edit], list[str]]] = {
    "negative count": (
        [put(*FIRST, "counts", "favourable", 0, -4)],
        [f'{SEX}: count of "male" given "good": -4 is below 0; write 0 or more'],
    ),
    "negative smoothing": ([put("smoothing", -1)], ["smoothing: -1 is below 0; write 0 or more"]),
    "negative decision count": (
        [put("decision", "counts", "favourable", -7)],
        ["decision.counts.favourable: -7 is below 0; write 0 or more"],
    ),
    "one decision never made": (
        [put("decision", "counts", "unfavourable", 0), put(*FIRST, "counts", "unfavourable", [0, 0])],
        [
            "decision.counts.unfavourable: 0 rows would make the prior 0 or 1; the data must contain "
            "both decisions",
            f'{SEX}: counts given "bad": all are 0, which leaves the probabilities undefined; set '
            "smoothing above 0",
        ],
    ),
    "counts too long": (
        [put(*FIRST, "counts", "favourable", [4, 2, 1])],
        [f'{SEX}: counts given "good": 3 numbers for 2 values; give one per value, in the same order'],
    ),
    "counts above the decision's": (
        [put(*FIRST, "counts", "favourable", [4, 4])],
        [f'{SEX}: counts given "good": adds up to 8, above the decision\'s 7; correct one of them'],
    ),
    "no counts under one decision": (
        [put(*FIRST, "counts", "unfavourable", [0, 0])],
        [
            f'{SEX}: counts given "bad": all are 0, which leaves the probabilities undefined; set '
            "smoothing above 0"
        ],
    ),
    "far too many rows": (
        [put(*FIRST, "counts", "favourable", [as_written("1e300"), 3])],
        [
            f'{SEX}: counts given "good": adds up to 1E+300, above the decision\'s 7; correct one of them',
        ],
    ),
    "value never counted": (
        [put(*FIRST, "counts", {"favourable": [7, 0], "unfavourable": [3, 0]})],
        [
            f'{SEX}: values[1]: "female" is never seen under either decision; leave it out, or set smoothing '
            "above 0"
        ],
    ),
    "both likelihood and counts": (
        [put(*FIRST, "likelihood", {"favourable": [0.5, 0.5], "unfavourable": [0.5, 0.5]})],
        [f'{SEX}: has both "likelihood" and "counts"; keep one of them'],
    ),
    "decision counts as a list": (
        [put("decision", "counts", [7, 3])],
        ["decision.counts: a list stands where a mapping belongs; give its keys: favourable, unfavourable"],
    ),
}


def table() -> list[Any]:
    return [
        *(pytest.param(WITH_LIKELIHOOD, *case, id=name) for name, case in LIKELIHOOD_CASES.items()),
        *(pytest.param(WITH_COUNTS, *case, id=name) for name, case in COUNT_CASES.items()),
    ]


@pytest.mark.parametrize(("tree", "edits", "lines"), table())
def test_each_malformed_specification_is_explained(
    tree: Mapping[str, Any], edits: list[Edit], lines: list[str]
) -> None:
    assert list(problems(changed(tree, *edits))) == lines


@pytest.mark.parametrize("tree", [[], "model", 1, None, True], ids=str)
def test_a_document_that_is_no_mapping(tree: object) -> None:
    (line,) = problems(tree)
    assert line.endswith(
        "stands where a mapping belongs; give its keys: kind, version, name, decision, smoothing, "
        "attributes, "
        "provenance, repair"
    )


def test_all_problems_of_all_levels_at_once_in_the_order_of_the_file() -> None:
    tree = changed(
        WITH_LIKELIHOOD,
        drop("name"),
        put("nmae", "Credit"),
        put("decision", "prior", 1),
        put("decision", "unfavourable", "good"),
        put(*FIRST, "sensitive", False),
        put(*FIRST, "values", 1, "label", "male"),
        put(*FIRST, "likelihood", "unfavourable", [0.5, 0.4]),
        put(*SECOND, "likelihood", "favourable", 0, 1.2),
        put(*SECOND, "likelihood", "unfavourable", [0.5, 0.5]),
        put(*SECOND, "name", "sex"),
        put("provenance", 3),
    )
    assert problems(tree) == (
        '"name" is missing; add it',
        'unknown key "nmae"; did you mean "name"?',
        "decision.prior: 1 is no prior; it must lie strictly between 0 and 1",
        'decision.unfavourable: "good" is the label of favourable too; labels must differ',
        'attributes: none is sensitive; write "sensitive": true at each attribute that needs protection',
        f'{SEX}: values[1]: "male" is the label of values[0] too; labels must differ',
        f'{SEX}: likelihood given "good": sums to 0.9 instead of 1; correct the numbers, or give counts',
        'attributes[1] (sex): likelihood of "own" given "good": 1.2 is above 1; a probability lies '
        "between 0 and 1",
        "attributes[1] (sex): has the name of attributes[0] too; give each its own",
        'attributes[1] (sex): likelihood given "good": 2 numbers for 3 values; give one per value, '
        "in the same "
        "order",
        "provenance: 3 stands where a mapping belongs; give its keys: description, owner, model_version, "
        "data_source, period, rows",
    )


def test_every_line_names_the_file_and_is_one_line() -> None:
    tree = changed(WITH_LIKELIHOOD, put("a\nb\x1b", 1), put(*SECOND, "name", "\r\n"))
    with pytest.raises(InputError) as caught:
        parse_model(to_json(tree), "cre\ndit.json")
    assert len(caught.value.problems) == 2
    for line in caught.value.problems:
        assert line.startswith(r"cre\ndit.json: ")
        assert line.isprintable()


def test_a_key_that_stands_twice_is_reported_with_all_the_rest() -> None:
    text = to_json(changed(WITH_LIKELIHOOD, put("decision", "prior", 0)))
    text = text.replace(b'"sensitive": true', b'"sensitive": false, "sensitive": true')
    with pytest.raises(InputError) as caught:
        parse_model(text, "credit.json")
    assert caught.value.problems == (
        f'credit.json: {SEX}: key "sensitive" stands twice; keep one of them',
        "credit.json: decision.prior: 0 is no prior; it must lie strictly between 0 and 1",
    )


def test_a_key_that_stands_twice_is_enough() -> None:
    with pytest.raises(InputError, match='key "name" stands twice; keep one of them'):
        parse_model(to_json(WITH_LIKELIHOOD).replace(b'"name"', b'"name": "x", "name"', 1), "credit.json")


def test_of_many_problems_alike_the_first_are_told_and_how_many_more() -> None:
    unlike = (put("name", None), put(*SECOND, "likelihood", "favourable", [0.5, 0.2, 0.7]))
    tree = changed(WITH_LIKELIHOOD, *unlike, *(put(f"key {i}", i) for i in range(1500)))
    found = problems(tree)
    assert sum('unknown key "key ' in line for line in found) == MOST_OF_A_KIND + 1
    assert found[-1].startswith('1,475 more like unknown key "key 0"')
    assert any(line.startswith("name: ") for line in found)
    assert any(line.startswith(f"{HOUSING}: likelihood given") for line in found)


def test_of_problems_of_many_kinds_the_first_are_told_and_how_many_more() -> None:
    wrong = [Problem((), "x" * i + " is wrong") for i in range(1000)]
    found = lines("f", wrong, None)
    assert len(found) == MOST_KINDS + 1
    assert found[-1] == "f: 900 more of other kinds; mend these first"
