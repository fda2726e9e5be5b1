"""PMML, BIF and XMLBIF: what they mean, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import InputError
from auditor.model.formats import import_model
from auditor.model.formats.pmml import to_pmml
from auditor.model.formats.sklearn import to_sklearn_pipeline
from auditor.model.reading import load_naive_bayes
from auditor.model.spec import ModelSpec
from tests.cli.conftest import EXAMPLES, ROOT

DATA = ROOT / "tests" / "data"
PMML = (DATA / "credit.pmml").read_text()
BIF = (DATA / "credit.bif").read_text()
XMLBIF = (DATA / "credit.bifxml").read_text()


def imported(path: Path, **options: Any) -> ModelSpec:
    spec = import_model(path, **options)
    assert isinstance(spec, ModelSpec)
    return spec


def test_pmml() -> None:
    model = imported(DATA / "credit.pmml", sensitive=["sex,age"], favourable="good", name="Credit")
    counts = model.decision.counts
    assert counts is not None
    assert [counts.favourable, counts.unfavourable] == [70, 30]
    sex, job, age = model.attributes
    assert (sex.sensitive, job.sensitive, age.sensitive) == (True, False, True)
    assert [(v.value, v.label) for v in sex.values] == [("m", "male"), ("f", "female")]
    assert sex.counts is not None
    assert list(sex.counts.favourable) == [42, 28]
    assert job.counts is not None
    assert job.counts.favourable == (Decimal("17.5"), Decimal("52.5"))
    assert [(v.value, v.label) for v in age.values] == [("[-inf,30)", "young"), ("[30,inf)", "old")]
    # A missing age isn't counted.
    assert model.naive_bayes().attributes[2].likelihood[0] == (Fraction(20, 69), Fraction(12, 30))
    assert model.provenance is not None
    assert "SoftwareAG" in (model.provenance.description or "")
    assert imported(DATA / "credit.pmml", sensitive=["sex"]).decision.favourable.value == "good"


def test_pmml_whose_counts_exceed_the_rows_has_their_ratios(tmp_path: Path) -> None:
    path = tmp_path / "m.pmml"
    path.write_text(PMML.replace('count="42"', 'count="84"'))
    bayes = imported(path, sensitive=["sex"]).naive_bayes()
    assert bayes.prior == Fraction(7, 10)
    assert bayes.attributes[0].likelihood[1][0] == pytest.approx(Fraction(28, 112), abs=1e-30)


@pytest.mark.parametrize("name", ["compas", "figure1", "german_categories"])
def test_pmml_there_and_back(name: str, tmp_path: Path) -> None:
    model = load_naive_bayes(EXAMPLES / f"{name}.json")
    path = tmp_path / "m.pmml"
    path.write_text(to_pmml(model))
    sensitive = [a.name for a in model.attributes if a.sensitive]
    again = imported(path, sensitive=sensitive, favourable=model.decision.favourable.value, name=model.name)
    first, second = again.naive_bayes(), model.naive_bayes()
    if model.attributes[0].counts is not None:
        assert first.attributes == second.attributes
    assert abs(first.prior - second.prior) < Fraction(1, 10**30)
    for one, other in zip(first.attributes, second.attributes, strict=True):
        assert (one.name, one.values, one.sensitive) == (other.name, other.values, other.sensitive)
        for row, same in zip(one.likelihood, other.likelihood, strict=True):
            assert all(abs(p - q) < Fraction(1, 10**30) for p, q in zip(row, same, strict=True))


def test_pmml_bins_there_and_back(tmp_path: Path) -> None:
    labelled = tmp_path / "labelled.pmml"
    labelled.write_text(PMML.replace('name="age" optype', 'name="age" displayName="Age in years" optype'))
    model = imported(labelled, sensitive=["sex,age"], name="Credit")
    assert model.attribute_labels == {"sex": "sex", "job": "job", "age": "Age in years"}
    path = tmp_path / "m.pmml"
    path.write_text(to_pmml(model.model_copy(update={"smoothing": Decimal(1)})))
    again = imported(path, sensitive=["sex,age"], name="Credit")
    assert again.attributes[2].values == model.attributes[2].values
    assert again.attribute_labels == model.attribute_labels
    assert again.naive_bayes().attributes[0].likelihood[0] == pytest.approx((43 / 72, 1 / 2))


@pytest.mark.parametrize("name", ["credit.bif", "credit.bifxml"])
def test_networks(name: str) -> None:
    model = imported(DATA / name, sensitive=["sex"], favourable="good")
    assert (model.name, model.decision.name, model.decision.prior) == ("credit", "credit", Decimal("0.7"))
    assert [a.name for a in model.attributes] == ["sex", "job", "moon"]
    job, moon = model.attributes[1:]
    assert job.likelihood is not None
    assert job.labels == ("none", "part_time", "full")
    assert job.likelihood.favourable == (Decimal("0.1"), Decimal("0.3"), Decimal("0.6"))
    assert job.likelihood.unfavourable == (Decimal("0.5"), Decimal("0.25"), Decimal("0.25"))
    # On its own it tells nothing.
    assert moon.likelihood is not None
    assert moon.likelihood.favourable == moon.likelihood.unfavourable == (Decimal("0.25"), Decimal("0.75"))
    assert imported(DATA / name, sensitive=["sex"]).decision.favourable.value == "good"


def test_bif_with_comments_quotes_properties_and_defaults(tmp_path: Path) -> None:
    path = tmp_path / "m.bif"
    path.write_text(
        'network "n" { property author "x { y"; }\n/* a { comment */\n'
        + BIF.partition("}\n")[2]
        .replace("variable credit {", 'variable credit {\n  property "position = (1, 2)";')
        .replace("   (bad) 0.5 0.5;", "   property x;\n   default 0.5, 0.5; // for the rest")
    )
    same = imported(DATA / "credit.bif", sensitive=["sex"], name="m")
    assert imported(path, sensitive=["sex"]) == same


def test_rows_of_few_digits_are_divided_by_their_sum(tmp_path: Path) -> None:
    path = tmp_path / "m.bif"
    path.write_text(BIF.replace("0.5 0.25 0.25", "0.333 0.333 0.333").replace("0.3 0.7", "0.333 0.666"))
    bayes = imported(path, sensitive=["sex"]).naive_bayes()
    assert bayes.attributes[1].likelihood[0][1] == Fraction(1, 3)
    assert bayes.prior == pytest.approx(2 / 3, abs=1e-15)


NETWORK = "network n {\n}\n"
TWO = (
    NETWORK
    + """variable credit {
  type discrete [ 2 ] { bad, good };
}
variable sex {
  type discrete [ 2 ] { F, M };
}
probability ( credit ) {
  table 0.3, 0.7;
}
probability ( sex | credit ) {
  (bad) 0.6, 0.4;
  (good) 0.25, 0.75;
}
"""
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("table 0.3, 0.7;", "default 0.3 0.7;"),
        ("(bad) 0.6, 0.4;", "default 0.6 0.4;"),
        ("  (bad) 0.6, 0.4;\n  (good) 0.25, 0.75;", "(good) 0.25 0.75;\n default 0.6 0.4;"),
    ],
)
def test_a_default_is_the_row_of_what_has_none(before: str, after: str, tmp_path: Path) -> None:
    (tmp_path / "m.bif").write_text(TWO)
    (tmp_path / "default.bif").write_text(TWO.replace(before, after))
    first, second = (imported(tmp_path / f"{n}.bif", sensitive=["sex"], name="n") for n in ("m", "default"))
    assert first == second
    assert first.decision.prior == Decimal("0.7")


@pytest.mark.parametrize(
    ("written", "second", "read"),
    [
        ("under 30, 30 or over", "30 or over", ["under 30", "30 or over"]),
        ('"[-Inf,30)", "[30,Inf]"', '"[30,Inf]"', ["[-Inf,30)", "[30,Inf]"]),
        ('"a{b" "a;b"', '"a;b"', ["a{b", "a;b"]),
        ("a-b a_b", "a_b", ["a-b", "a_b"]),
    ],
)
def test_names_of_several_words_in_bif(written: str, second: str, read: list[str], tmp_path: Path) -> None:
    path = tmp_path / "m.bif"
    text = TWO.replace("bad, good", written).replace("(bad)", f'("{read[0]}")')
    path.write_text(text.replace("(good)", f"({second})").replace("sex", "the sex"))
    model = imported(path, sensitive=["the sex"])
    assert [model.decision.unfavourable.value, model.decision.favourable.value] == read
    assert [attribute.name for attribute in model.attributes] == ["the sex"]


def binned(*bins: str) -> str:
    """PMML in which the two bins of age are these."""
    head, _, rest = PMML.partition('<DiscretizeBin binValue="young">')
    return f"{head}{''.join(bins)}</Discretize>{rest.partition('</Discretize>')[2]}"


def cut(name: str, closure: str, low: str | None, high: str | None) -> str:
    margins = "".join(
        f' {side}Margin="{end}"' for side, end in (("left", low), ("right", high)) if end is not None
    )
    return f'<DiscretizeBin binValue="{name}"><Interval closure="{closure}"{margins}/></DiscretizeBin>'


@pytest.mark.parametrize(
    ("edges", "code"),
    [
        (("30000", "30000.0"), "30000"),
        (("1.5E7", "15000000"), "15000000"),
        ((".5", "0.50"), "0.5"),
        (("5.", "5"), "5"),
        (("-1E-3", "-0.001"), "-0.001"),
    ],
)
@pytest.mark.parametrize("infinite", [(None, None), ("-INF", "INF"), ("-Infinity", "Infinity")])
@pytest.mark.parametrize("in_order", [True, False])
def test_bins_are_compared_as_numbers_in_any_order(
    edges: tuple[str, str], code: str, infinite: tuple[str | None, str | None], in_order: bool, tmp_path: Path
) -> None:
    parts = [cut("young", "openClosed", infinite[0], edges[0]), cut("old", "openOpen", edges[1], infinite[1])]
    path = tmp_path / "m.pmml"
    path.write_text(binned(*(parts if in_order else parts[::-1])))
    age = imported(path, sensitive=["sex"]).attributes[2]
    assert [(v.value, v.label) for v in age.values] == [(f"(-inf,{code}]", "young"), (f"({code},inf]", "old")]
    assert age.counts is not None
    assert list(age.counts.favourable) == [20, 49]


def test_ranges_that_leave_numbers_out_are_not_written_as_text() -> None:
    model = imported(DATA / "credit.pmml", sensitive=["sex,age"], name="Credit")
    tree = model.model_dump()
    tree["attributes"][2]["values"][1]["value"] = "[30,90)"
    with pytest.raises(InputError, match=r"age: the ranges \[-inf,30\), \[30,90\) leave out numbers"):
        to_pmml(ModelSpec.model_validate(tree))
    with pytest.raises(InputError, match="can't cut this number"):
        to_sklearn_pipeline(ModelSpec.model_validate(tree))


BAD: dict[str, tuple[str, str, str]] = {
    "no suffix": ("m.onnx", "", "is none of .csv, .skops"),
    "not XML": ("m.pmml", "<PMML", "not XML"),
    "entities": ("m.pmml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "has entities"),
    "an unknown encoding": ("m.pmml", '<?xml version="1.0" encoding="klingon"?><a/>', "not XML"),
    "other XML": ("m.xml", "<html/>", "neither PMML nor XMLBIF but html"),
    "no model": ("m.pmml", "<PMML/>", "no model at all"),
    "another model": ("m.pmml", "<PMML><TreeModel/></PMML>", "but TreeModel"),
    "no output": ("m.pmml", PMML.replace("BayesOutput", "Output"), "BayesOutput is missing"),
    "no inputs": ("m.pmml", PMML.replace("BayesInputs", "Inputs"), "no attribute"),
    "no threshold": ("m.pmml", PMML.replace(' threshold="0.001"', ""), 'threshold "" is not a number'),
    "an infinite count": ("m.pmml", PMML.replace('count="42"', 'count="INF"'), 'count "INF" is not a number'),
    "three decisions": (
        "m.pmml",
        PMML.replace('count="70"/>', 'count="70"/><TargetValueCount value="x" count="1"/>'),
        "has 3 values",
    ),
    "a count of 0": (
        "m.pmml",
        PMML.replace('count="42"', 'count="0"'),
        "fit the model with Laplace smoothing",
    ),
    "a pair that is missing": (
        "m.pmml",
        PMML.replace('<TargetValueCount value="good" count="42"/>', ""),
        "the threshold 0.001 stands in",
    ),
    "a continuous input": (
        "m.pmml",
        PMML.replace('<BayesInput fieldName="job">', '<BayesInput fieldName="job"><TargetValueStats/>'),
        "is continuous with a distribution",
    ),
    "another transformation": ("m.pmml", PMML.replace("Discretize ", "MapValues "), "not XML"),
    "a variable twice": (
        "m.bif",
        TWO.replace("variable sex", "variable credit"),
        'line 6: variable "credit"',
    ),
    "a type twice": (
        "m.bif",
        TWO.replace("{ F, M };", "{ F, M };\n type discrete [ 2 ] { M, F };"),
        'line 8: "sex" has two types',
    ),
    "probabilities twice": (
        "m.bif",
        TWO + "probability ( sex ) {\n table 0.5, 0.5;\n}\n",
        'the probabilities of "sex" stand twice',
    ),
    "a row twice": ("m.bif", TWO.replace("(bad)", "(good)"), 'the row of "sex" for "good" stands twice'),
    "a table twice": (
        "m.bif",
        TWO.replace("table", "table 0.4 0.6; table"),
        'the row of "credit" stands twice',
    ),
    "a default twice": (
        "m.bif",
        TWO.replace("(bad)", "default 0.5 0.5; default"),
        'the row of "sex" stands twice',
    ),
    "a row for no value": ("m.bif", TWO.replace("(good)", "(godo)"), 'line 14: "sex" has a row given "godo"'),
    "another number of names": ("m.bif", TWO.replace("[ 2 ] { F", "[ 3 ] { F"), 'line 7: "sex" has 2 names'),
    "names in brackets": (
        "m.bif",
        TWO.replace("F, M", "(1,999, 20], (20,00, 30]"),
        'line 7: "sex" has 10 names of values, and 2 are declared; put names with blanks, commas or brackets',
    ),
    "a name in brackets": ("m.bif", TWO.replace("F, M", "(20, 30]"), "has 4 names of values"),
    "a variable twice in XMLBIF": (
        "m.xml",
        XMLBIF.replace("<NAME>moon</NAME>", "<NAME>sex</NAME>"),
        'variable "sex" stands twice',
    ),
    "probabilities twice in XMLBIF": (
        "m.xml",
        XMLBIF.replace("<FOR>moon</FOR>", "<FOR>sex</FOR>"),
        'the probabilities of "sex" stand twice',
    ),
    "a table twice in XMLBIF": (
        "m.xml",
        XMLBIF.replace("<TABLE>", "<TABLE>1</TABLE><TABLE>", 1),
        "DEFINITION has TABLE 2 times; keep one",
    ),
    "a field twice": (
        "m.pmml",
        PMML.replace('<DataField name="job"', '<DataField name="sex"'),
        'DataField "sex" stands twice in DataDictionary',
    ),
    "a declared value twice": (
        "m.pmml",
        PMML.replace('<Value value="m" displayValue="male"/>', '<Value value="f"/>'),
        '"sex" declares the value "f" twice',
    ),
    "an input twice": (
        "m.pmml",
        PMML.replace('<BayesInput fieldName="job"', '<BayesInput fieldName="sex"'),
        'BayesInput "sex" stands twice',
    ),
    "a pair twice": (
        "m.pmml",
        PMML.replace('<PairCounts value="f"', '<PairCounts value="m"'),
        'PairCounts "m" stands twice in BayesInput "sex"',
    ),
    "a count twice": (
        "m.pmml",
        PMML.replace('value="bad" count="15"', 'value="good" count="15"', 1),
        'TargetValueCount "good" stands twice',
    ),
    "counts for no decision": (
        "m.pmml",
        PMML.replace('value="bad" count="15"', 'value="sad" count="15"', 1),
        '"sex" has counts for "sad", and the decision is "good", "bad"',
    ),
    "counts for no declared value": (
        "m.pmml",
        PMML.replace('<PairCounts value="f"', '<PairCounts value="g"'),
        'counts for "g", and DataDictionary declares "m", "f"',
    ),
    "two models": (
        "m.pmml",
        PMML.replace("</PMML>", "<NaiveBayesModel/></PMML>"),
        "PMML has NaiveBayesModel 2 times",
    ),
    "a bin twice": (
        "m.pmml",
        PMML.replace('binValue="old"', 'binValue="young"'),
        'DiscretizeBin "young" stands twice',
    ),
    "bins that start": (
        "m.pmml",
        PMML.replace('rightMargin="30"', 'leftMargin="0" rightMargin="30"'),
        'the bins of "age" start at 0, so that numbers beyond have none',
    ),
    "bins that overlap": ("m.pmml", PMML.replace('rightMargin="30"', 'rightMargin="31"'), "overlap"),
    "bins that both contain an end": (
        "m.pmml",
        PMML.replace('closure="openOpen"', 'closure="openClosed"'),
        "both contain 30",
    ),
    "bins that both leave out an end": (
        "m.pmml",
        PMML.replace('closure="closedOpen"', 'closure="openOpen"'),
        "both leave out 30",
    ),
    "bins that contain different ends": (
        "m.pmml",
        binned(
            cut("a", "openOpen", None, "1"),
            cut("b", "closedClosed", "1", "2"),
            cut("c", "openOpen", "2", None),
        ),
        "some bins of",
    ),
    "a bin of nothing": (
        "m.pmml",
        PMML.replace('rightMargin="30"', 'leftMargin="INF" rightMargin="30"'),
        "ends where it begins, or before",
    ),
    "a margin that is no number": (
        "m.pmml",
        PMML.replace('rightMargin="30"', 'rightMargin="x"'),
        'rightMargin "x"',
    ),
    "an unknown closure": ("m.pmml", PMML.replace("openOpen", "half"), 'the closure "half"'),
    "a bin without a range": ("m.pmml", binned('<DiscretizeBin binValue="young"/>'), "has no Interval"),
    "a bin without counts": (
        "m.pmml",
        PMML.replace('<PairCounts value="old"', '<PairCounts value="middle"'),
        'bins "young", "old" and counts for "young", "middle"',
    ),
    "bins of another field": (
        "m.pmml",
        PMML.replace('Discretize field="age"', 'Discretize field="job"'),
        '"age" is cut from another field, "job"',
    ),
    "a transformation that is not read": (
        "m.pmml",
        PMML.replace('<Discretize field="age">', "<MapValues>").replace("</Discretize>", "</MapValues>"),
        "only Discretize into",
    ),
    "a gap between bins": ("m.pmml", PMML.replace('leftMargin="30"', 'leftMargin="31"'), "only Discretize"),
    "no bins": ("m.pmml", PMML.replace("DiscretizeBin", "Bin"), "fewer than two bins"),
    "an unknown favourable value": ("favourable.pmml", PMML, 'no value "excellent"'),
    "an unknown favourable value in BIF": ("favourable.bif", BIF, 'no value "excellent"'),
    "empty BIF": ("m.bif", "", "there are no variables"),
    "cut BIF": ("m.bif", BIF[:200], "the file ends too early"),
    "not BIF": ("m.bif", "{}", 'line 1: "{" is not known'),
    "a continuous variable": ("m.bif", BIF.replace("discrete[2] {b", "continuous[2] {b"), 'is "continuous"'),
    "an unknown variable": (
        "m.bif",
        BIF.replace("probability (moon", "probability (sun"),
        'line 32: "sun" is no',
    ),
    "no probability": ("m.bif", BIF.replace("0.25 0.75;", "0.25 x;"), '"x" is no probability'),
    "above 1": ("m.bif", BIF.replace("0.25 0.75;", "0.25 1.75;"), '"1.75" is no probability'),
    "a broken condition": (
        "m.bif",
        BIF.replace("(sex | credit)", "(sex , credit)"),
        "where one name belongs, and then | or )",
    ),
    "a broken variable": (
        "m.bif",
        BIF.replace("variable sex {", "variable sex ("),
        "where one name belongs, and then {",
    ),
    "a missing row": ("m.bif", BIF.replace("(bad) 0.5 0.5;", ""), 'no row of probabilities for "bad"'),
    "a table with conditions": (
        "m.bif",
        BIF.replace("(bad) 0.5 0.5;", "table 0.5 0.5 0.6 0.4;"),
        "a row per condition",
    ),
    "no probabilities": ("m.bif", BIF.partition("probability (moon")[0], '"moon" has no probabilities'),
    "two parents": (
        "m.bif",
        BIF.replace("(job | credit)", "(job | credit, sex)").replace(
            "(bad) 0.5 0.25", "(bad, male) 0.5 0.25"
        ),
        "depends on 2 variables",
    ),
    "a chain": (
        "m.bif",
        BIF.replace("(job | credit)", "(job | sex)")
        .replace("(bad) 0.5 0.25", "(male) 0.5 0.25")
        .replace("(good) 0.1", "(female) 0.1"),
        'here they depend on "credit" and "sex"',
    ),
    "a decision that isn't declared": (
        "m.bif",
        BIF.replace("| credit)", "| ghost)"),
        'line 24: "ghost" is no variable',
    ),
    "a decision that depends on itself": (
        "m.bif",
        BIF.replace("(credit) {\n   table 0.3 0.7;", "(credit | credit) {\n (bad) 1 0; (good) 0 1;"),
        "depends on something itself",
    ),
    "a row that is too short": (
        "m.bif",
        BIF.replace("0.3 0.7", "0.3"),
        '"credit" has 1 probabilities for 2 values',
    ),
    "no edges": (
        "m.bif",
        BIF.replace("(job | credit)", "(job)")
        .replace("(sex | credit)", "(sex)")
        .replace("(bad)", "table")
        .replace("(good) 0.6 0.4;", "")
        .replace("(good) 0.1 0.3 0.6;", ""),
        "here they depend on none",
    ),
    "a decision of three": (
        "m.bif",
        BIF.replace("discrete[2] {bad, good}", "discrete[3] {bad, good, none}")
        .replace("(good)", "(none) 1 0;\n (good)")
        .replace("(none) 1 0;\n (good) 0.1", "(none) 1 0 0;\n (good) 0.1")
        .replace("table 0.3 0.7", "table 0.3 0.6 0.1"),
        '"credit" has 3 values ("bad", "good", "none")',
    ),
    "a sum above 1": ("m.bif", BIF.replace("0.25 0.75;", "0.5 0.75;"), "sums to 1.25"),
    "an unknown name in XMLBIF": ("m.xml", XMLBIF.replace("<FOR>moon", "<FOR>sun"), '"sun" is no variable'),
    "too few numbers": ("m.xmlbif", XMLBIF.replace("0.25 0.75", "0.25"), "has 1 probabilities, not 2"),
    "no number": ("m.xmlbif", XMLBIF.replace("0.25 0.75", "0.25 x"), '"x" is no probability'),
    "no variables": ("m.xmlbif", "<BIF><NETWORK/></BIF>", "there are no variables"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    name, content, reason = BAD[case]
    path = tmp_path / name
    path.write_text(content)
    favourable = "excellent" if name.startswith("favourable") else None
    with pytest.raises(InputError) as caught:
        imported(path, sensitive=["sex"], favourable=favourable)
    assert reason in str(caught.value)
    assert all(line.startswith(f"{path}: ") for line in caught.value.problems)


def test_bif_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "m.bif").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        imported(tmp_path / "m.bif", sensitive=["sex"])
