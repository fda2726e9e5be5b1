"""Every shipped example is valid, written as the writer writes, and says what its data say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from auditor.model.reading import load_naive_bayes
from auditor.model.writing import dump_model
from examples import make

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES.parent.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "codebook.json").is_file(), reason=f"{DATA} is absent")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_an_example_is_written_as_the_writer_writes(path: Path) -> None:
    spec = load_naive_bayes(path)
    assert dump_model(spec) == path.read_text(encoding="utf-8")
    assert spec.provenance is not None
    assert spec.provenance.description


@pytest.mark.parametrize(
    ("name", "prior", "attributes", "sensitive", "total"),
    [
        ("figure1", Fraction(1, 5), 3, ["X"], 18),
        (
            "compas",
            Fraction(42744, 48834),
            7,
            ["Ethnic_Code_Text", "MaritalStatus", "Sex", "Age"],
            14_688,
        ),
        (
            "adult",
            Fraction(7841, 32561),
            13,
            ["marital-status", "race", "sex", "native-country"],
            10_707_552,
        ),
        (
            "german",
            Fraction(7, 10),
            21,
            ["age", "foreign_worker", "sex", "marital_status"],
            70_252_248_672,
        ),
        (
            "german_categories",
            Fraction(7, 10),
            20,
            ["Personal status and sex", "Age", "Foreign worker"],
            None,
        ),
        (
            "adult_categories",
            Fraction(7841, 32561),
            12,
            ["age", "marital-status", "race", "sex", "native-country"],
            1_089_642_682_800,
        ),
    ],
)
def test_what_the_examples_hold(
    name: str, prior: Fraction, attributes: int, sensitive: list[str], total: int | None
) -> None:
    model = load_naive_bayes(EXAMPLES / f"{name}.json").naive_bayes()
    assert model.prior == prior
    assert len(model.attributes) == attributes
    assert [model.attributes[i].name for i in model.sensitive] == sensitive
    assert total in (None, model.total_patterns())


@needs_data
def test_the_examples_are_those_of_the_data() -> None:
    made = {name: dump_model(spec) for name, spec in make.examples(DATA)}
    assert sorted(made) == ["adult", "compas", "german", "german_categories"]
    for name, text in made.items():
        assert (EXAMPLES / f"{name}.json").read_text(encoding="utf-8") == text


@needs_data
def test_every_row_is_counted() -> None:
    for name, _ in make.examples(DATA):
        spec = load_naive_bayes(EXAMPLES / f"{name}.json")
        assert spec.provenance is not None
        assert spec.decision.counts is not None
        assert spec.decision.counts.favourable + spec.decision.counts.unfavourable == spec.provenance.rows
        for attribute in spec.attributes:
            assert attribute.counts is not None
            assert sum(attribute.counts.favourable) == spec.decision.counts.favourable
            assert sum(attribute.counts.unfavourable) == spec.decision.counts.unfavourable


def test_making_them_without_data_says_so_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["make.py", str(tmp_path)])
    monkeypatch.setattr(make, "EXAMPLES", tmp_path / "nowhere")
    make.main()
    assert capsys.readouterr().out.startswith("Skipped: ")


@needs_data
def test_making_them_writes_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["make.py"])
    monkeypatch.setattr(make, "EXAMPLES", tmp_path)
    make.main()
    for line in capsys.readouterr().out.splitlines():
        written = Path(line)
        assert written.read_bytes() == (EXAMPLES / written.name).read_bytes()
