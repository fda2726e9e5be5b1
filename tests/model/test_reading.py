"""Files: what is read and how exactly, and what is refused before it hurts."""

from __future__ import annotations

import io
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InputError
from auditor.model import parsing
from auditor.model.reading import MAX_BYTES, load_naive_bayes, parse_model, read_bytes
from auditor.model.spec import ModelSpec
from tests.model.samples import WITH_COUNTS, WITH_LIKELIHOOD, as_written, changed, put, read, to_json

YAML = """
kind: auditor/model
version: 1
name: Credit
decision:
  name: credit
  favourable: good
  unfavourable: bad
  prior: 0.7
attributes:
  - name: sex
    sensitive: true
    values: [male, {value: f, label: female}]
    likelihood:
      favourable: [0.6, 0.4]
      unfavourable: [0.5, 0.5]
  - name: housing
    values: [own, rent, free]
    likelihood:
      favourable: [0.6, 0.3, 0.1]
      unfavourable: [.5, 25e-2, +0.25]
"""


def refused(data: bytes, name: str = "m.json") -> str:
    """Return the one line that a document is refused with, without its name."""
    with pytest.raises(InputError) as caught:
        parse_model(data, name)
    (line,) = caught.value.problems
    assert line.startswith(f"{name}: ")
    return line.removeprefix(f"{name}: ")


@pytest.mark.parametrize("name", ["m.json", "m.yaml"])
def test_a_tenth_is_a_tenth(name: str) -> None:
    model = read(WITH_LIKELIHOOD, name=name).naive_bayes()
    assert model.prior == Fraction(7, 10)
    assert model.attributes[1].likelihood == (
        (Fraction(3, 5), Fraction(1, 2)),
        (Fraction(3, 10), Fraction(1, 4)),
        (Fraction(1, 10), Fraction(1, 4)),
    )


@pytest.mark.parametrize("name", ["m.json", "m.yaml"])
def test_thirty_digits_are_kept(name: str) -> None:
    digits = "0.123456789012345678901234567891"
    tree = changed(WITH_LIKELIHOOD, put("decision", "prior", as_written(digits)))
    spec = read(tree, name=name)
    assert str(spec.decision.prior) == digits
    assert spec.naive_bayes().prior == Fraction(int(digits[2:]), 10**30)


def test_a_large_integer_is_kept() -> None:
    digits = "9" * 400
    tree = changed(
        WITH_COUNTS, put("decision", "counts", {"favourable": as_written(digits), "unfavourable": 3})
    )
    assert read(tree).naive_bayes().prior == Fraction(int(digits), int(digits) + 3)


def test_yaml_means_the_same_as_json() -> None:
    from_yaml, from_json = parse_model(YAML.encode(), "m.yaml"), read(WITH_LIKELIHOOD)
    assert from_yaml == from_json
    assert from_yaml.naive_bayes().sha256() == from_json.naive_bayes().sha256()


def test_the_digest_does_not_depend_on_spelling_or_provenance() -> None:
    plain = read(WITH_LIKELIHOOD)
    other = read(
        changed(
            WITH_LIKELIHOOD,
            put("name", "Another name"),
            put("decision", "prior", as_written("7.000E-1")),
            put("provenance", {"owner": "someone"}),
        )
    )
    assert plain.naive_bayes().sha256() == other.naive_bayes().sha256()


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "yes",
        "on",
        "off",
        "n",
        "2020-01-01",
        "12:30",
        "1_000",
        "0x1F",
        "0o17",
        ".inf",
        ".NaN",
        "<<",
        "=",
    ],
)
def test_plain_yaml_words_are_labels(word: str) -> None:
    spec = parse_model(YAML.replace("own", word).encode(), "m.yaml")
    assert spec.attributes[1].labels[0] == word


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("True", "true is not text; put it in quotes, spelled as in the data"),
        ("~", "null is not text; write a text"),
        ("007", '007 is not text; put it in quotes: "007"'),
        ("+5", '+5 is not text; put it in quotes: "+5"'),
        (".5", '.5 is not text; put it in quotes: ".5"'),
        ("1e3", '1e3 is not text; put it in quotes: "1e3"'),
        ("1.50", '1.50 is not text; put it in quotes: "1.50"'),
    ],
)
def test_yaml_words_that_are_no_labels(word: str, message: str) -> None:
    line = refused(YAML.replace("own", word).encode(), "m.yaml")
    assert line == f"attributes[1] (housing): values[0]: {message}"


def test_json_numbers_that_are_no_labels() -> None:
    text = to_json(WITH_LIKELIHOOD).replace(b'"own"', b"1e3")
    line = refused(text, "m.json")
    assert line == 'attributes[1] (housing): values[0]: 1e3 is not text; put it in quotes: "1e3"'


def test_a_number_may_be_spelled_in_any_way() -> None:
    spec = parse_model(YAML.replace("prior: 0.7", "prior: 00.70").encode(), "m.yaml")
    assert isinstance(spec, ModelSpec)
    assert spec.decision.prior == Decimal("0.7")
    assert type(spec.decision.prior) is Decimal


def test_not_a_number_in_yaml() -> None:
    line = refused(YAML.replace("prior: 0.7", "prior: .nan").encode(), "m.yaml")
    assert line == 'decision.prior: ".nan" is text, not a number; write digits and a point, without quotes'


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=20))
def test_any_label_survives_json(text: str) -> None:
    tree = changed(WITH_LIKELIHOOD, put("attributes", 1, "values", 0, text))
    try:
        spec = read(tree)
    except InputError as error:
        lines = error.problems
    else:
        assert spec.attributes[1].labels[0] == text
        lines = ()
    assert all(line.isprintable() for line in lines)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=1, places=25))
def test_any_decimal_is_itself(number: Decimal) -> None:
    for name in ("m.json", "m.yaml"):
        assert parsing.parse(f"[{number}]".encode(), name).tree == [number]


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(InputError) as caught:
        load_naive_bayes(path)
    assert caught.value.problems == (f"{path}: no such file; check the path",)
    assert caught.value.exit_code == 3


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; give a file in it"):
        load_naive_bayes(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(to_json(WITH_COUNTS))
    path.chmod(0)
    with pytest.raises(InputError, match="may not be read; check its permissions"):
        load_naive_bayes(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [("a\0b.json", "can't be read: embedded null"), ("x" * 300, "can't be read: File name too long")],
)
def test_impossible_paths(path: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        load_naive_bayes(path)
    (line,) = caught.value.problems
    assert reason in line
    assert line.isprintable()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(to_json(WITH_COUNTS))))
    assert load_naive_bayes("-").name == "Credit"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="standard input: the file is empty"):
        load_naive_bayes("-")


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100 * MAX_BYTES)  # sparse: reading it would take gigabytes
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            load_naive_bayes(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.problems == (f"{path}: larger than 32 MB; no document of this kind needs that",)
    assert most < MAX_BYTES / 10


def test_what_has_no_size_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="/dev/zero: larger than 1,000 bytes"):
        read_bytes("/dev/zero", limit=1000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 1001)))
    with pytest.raises(InputError, match="-: larger than 1,000 bytes"):
        read_bytes("-", limit=1000)
    assert read_bytes("/dev/null") == b""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty; give a document in JSON or YAML"),
        (b" \n\t", "the file is empty; give a document in JSON or YAML"),
        (b"{\xff}", "not UTF-8 text (byte 0xff at position 1); give JSON or YAML, saved as UTF-8"),
        (b"\xff\xfe{\0}\0", "the text is UTF-16; save it as UTF-8"),
        (b"{\0}", "a binary file, not text; give JSON or YAML"),
        (
            b"PK\x03\x04...",
            "a zip, Excel or skops file; auditor import takes .skops, auditor learn a sheet as CSV",
        ),
        (b"%PDF-1.7", "a PDF; give the document in JSON or YAML"),
        (b"<!DOCTYPE html>", "a page for people; give the document in JSON or YAML that it was made of"),
        (b"-----BEGIN PRIVATE KEY-----", "a key, not a document; give JSON or YAML"),
        (b'{"kind": ', "line 1, column 10: not JSON: a value is missing; correct it"),
        (b'{"a": 1,\n"b" 2}', "line 2, column 5: not JSON: a colon is missing; correct it"),
        (
            b"{'kind': 1}",
            'line 1, column 2: not JSON: a key in double quotes ("…") is missing; correct it',
        ),
        (b"{} {}", "line 1, column 4: not JSON: something follows the end; correct it"),
        (
            b'{"a": 1e99999999999999999999}',
            "a number's exponent is far out of range; write 0, or a number within 1e±400",
        ),
        (b'{"a": "unfinished', "line 1, column 7: not JSON: a text begins that does not end; correct it"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_unreadable_json(data: bytes, message: str) -> None:
    assert refused(data) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: [1", "line 2, column 1: not YAML; see whether brackets, quotes and indents fit up to there"),
        (b"a: \x1b[31m", "not YAML"),
        (b"a: 1\n---\nb: 2", "2 YAML documents in the file; give one"),
        (b"# nothing", "no YAML document in the file; give one"),
        (
            b"a: !!python/object/apply:os.system [ls]",
            "line 1: tag tag:yaml.org,2002:python/object/apply:os.system is not supported; leave it out",
        ),
        (b"a: !!float 0.1", "line 1: tag tag:yaml.org,2002:float is not supported; leave it out"),
        (b"[a]: 1", "line 1: a key must be text; write a word and a colon"),
        (b"a: &x [1]\nb: *x", "line 2: alias *x is not supported; repeat what it stands for"),
        (b"a: &x {b: *x}", "line 1: alias *x is not supported; repeat what it stands for"),
        (
            b"a: 1e99999999999999999999",
            "a number's exponent is far out of range; write 0, or a number within 1e±400",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_unreadable_yaml(data: bytes, message: str) -> None:
    line = refused(data, "m.yaml")
    # The two parsers of PyYAML differ in their words.
    assert message in line
    assert line.isprintable()


def test_a_byte_order_mark_is_no_problem() -> None:
    assert parse_model(b"\xef\xbb\xbf" + to_json(WITH_COUNTS), "m.json").name == "Credit"


def test_without_a_known_suffix_a_bracket_tells_json_from_yaml() -> None:
    assert parse_model(to_json(WITH_LIKELIHOOD), "model") == parse_model(YAML.encode(), "model.txt")


def aliases(count: int) -> bytes:
    lines = (b"%c: &%c [%s]\n" % (i + 1, i + 1, b",".join([b"*%c" % i] * 9)) for i in range(97, 97 + count))
    return b"a: &a [x]\n" + b"".join(lines)


#: Of a size that is given, the suffix of their file, and what is said of them.
BOMBS: dict[str, tuple[Callable[[int], bytes], int, str, str]] = {
    "JSON nesting": (lambda n: b"[" * n, 1_000_000, ".json", "nested more than 32 deep"),
    "JSON nesting of mappings": (lambda n: b'{"a":' * n, 1_000_000, ".json", "nested more than 32 deep"),
    "JSON nesting behind text": (
        lambda n: b'["]]]\\"]]]",' * n,
        4_000,
        ".json",
        "nested more than 32 deep",
    ),
    "JSON quotes": (lambda n: b'"' + b'\\"' * n, 1_000_000, ".json", "a text begins that does not end"),
    "JSON key many times": (
        lambda n: b"{" + b'"a":1,' * n + b'"a":1}',
        40_000,
        ".json",
        'key "a" stands twice',
    ),
    "JSON integer of many digits": (
        lambda n: b'{"version": ' + b"9" * n + b"}",
        1_000_000,
        ".json",
        "999… is not known",
    ),
    "YAML nesting": (lambda n: b"[" * n, 1_000_000, ".yaml", "nest"),
    "YAML nesting in blocks": (lambda n: b"- " * n, 100_000, ".yaml", "nested more than 32 deep"),
    # Expanded, they would be 9^23 words.
    "YAML aliases": (aliases, 23, ".yaml", "line 2: alias *a is not supported"),
}


@pytest.mark.parametrize(("make", "size", "suffix", "message"), BOMBS.values(), ids=BOMBS)
def test_bombs_are_refused_before_they_hurt(
    make: Callable[[int], bytes], size: int, suffix: str, message: str
) -> None:
    """What eight times the size costs is of the order of eight times as much, not of its square, 64."""

    def seconds(data: bytes) -> float:
        began = time.process_time()
        with pytest.raises(InputError) as caught:
            parse_model(data, f"m{suffix}")
        assert message in str(caught.value)
        return time.process_time() - began

    # What takes next to no time can't be compared.
    assert seconds(make(size)) < 24 * max(0.02, seconds(make(size // 8)))


def test_nesting_up_to_the_limit_is_read() -> None:
    deep = "[" * parsing.MAX_DEPTH + "]" * parsing.MAX_DEPTH
    for name in ("m.json", "m.yaml"):
        assert parsing.parse(deep.encode(), name).tree == parsing.parse(deep.encode(), "m.json").tree
        with pytest.raises(InputError, match="nested more than 32 deep"):
            parsing.parse(f"[{deep}]".encode(), name)


def test_brackets_in_texts_do_not_nest() -> None:
    text = b'["' + b"[" * 100 + b'", "\\"[[[[' + b"[" * 100 + b'"]'
    assert parsing.parse(text, "m.json").problems == ()


def test_reading_yaml_without_its_parser_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    yaml = pytest.importorskip("yaml")
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert parse_model(YAML.encode(), "m.yaml") == read(WITH_LIKELIHOOD)
    assert "not YAML" in refused(b"a: [1", "m.yaml")
    assert "not YAML" in refused(b"a: \x07", "m.yaml")


def test_tens_of_thousands_of_attributes_are_refused_at_once(tmp_path: Path) -> None:
    model = json.loads((Path(__file__).parents[2] / "examples" / "german.json").read_text(encoding="utf-8"))
    model["attributes"] = [{**model["attributes"][0], "name": f"a{i}"} for i in range(20_000)]
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    start = time.process_time()
    with pytest.raises(InputError, match="has 20,000 attributes; a model may have 1,000"):
        load_naive_bayes(path)
    assert time.process_time() - start < 4
