"""Explainable boosting machines: what is read of their JSON, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import InputError
from auditor.model.formats.ebm import read_ebm

FILE = Path(__file__).parents[2] / "data" / "scorecards" / "interpret.ebm.json"
Edit = Callable[[dict[str, Any]], Any]


def edited(folder: Path, edit: Edit) -> Path:
    tree = json.loads(FILE.read_text(encoding="utf-8"))
    edit(tree)
    path = folder / "model.json"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def with_interaction(score: float) -> Edit:
    term = {"term_features": ["age", "home"], "scores": [[0.0] * 5, [0.0, 0.0, score, 0.0, 0.0]]}
    return lambda tree: tree["ebm"]["terms"].append(term)


def test_scores_and_shares_are_those_of_the_file() -> None:
    tree = json.loads(FILE.read_text(encoding="utf-8"))["ebm"]
    spec = read_ebm(FILE, sensitive=["age", "home"], favourable="0")
    assert (spec.decision.higher, float(spec.intercept)) == ("unfavourable", tree["intercept"][0])
    age, home = spec.attributes[0], spec.attributes[2]
    assert [float(v.number) for v in age.values] == tree["terms"][0]["scores"][:-1]
    assert [v.value for v in home.values] == ["missing", "for free", "own, mortgaged", "rent"]
    weights = tree["terms"][2]["bin_weights"][:-1]
    assert [float(v.share or 0) for v in home.values] == pytest.approx([w / 300 for w in weights])


def test_an_interaction_of_nothing_is_none(tmp_path: Path) -> None:
    path = edited(tmp_path, with_interaction(0.0))
    given: dict[str, Any] = {"sensitive": ["age"], "name": "m"}
    assert read_ebm(path, **given) == read_ebm(FILE, **given)


def test_categories_that_are_one_bin_and_a_number_that_is_not_cut(tmp_path: Path) -> None:
    def edit(tree: dict[str, Any]) -> None:
        age, home = tree["ebm"]["features"][0], tree["ebm"]["features"][2]
        age["cuts"] = [[]]
        tree["ebm"]["terms"][0] |= {"scores": [0.5, 0.25, 0.0], "bin_weights": [10, 290, 0]}
        home["categories"] = [[["for free", "own, mortgaged"], "rent"]]
        tree["ebm"]["terms"][2] |= {"scores": [0.5, 0.25, 0.125, 0.0], "bin_weights": [10, 200, 90, 0]}

    spec = read_ebm(edited(tmp_path, edit), sensitive=["age"])
    assert [v.value for v in spec.attributes[0].values] == ["missing", "[-inf,inf)"]
    assert spec.attributes[2].values[1].categories == ("for free", "own, mortgaged")


REFUSED: dict[str, tuple[Edit, str]] = {
    "an interaction": (with_interaction(0.1), 'an interaction of "age" and "home"; log-odds must be a sum'),
    "no model": (lambda tree: tree.pop("ebm"), "is no model that interpret's to_json has written"),
    "three classes": (lambda tree: tree["ebm"]["outputs"][0]["classes"].append(2), "predicts 3 classes"),
    "regression": (lambda tree: tree["ebm"]["outputs"][0].update(link="identity"), 'link "identity"'),
    "a score too few": (lambda tree: tree["ebm"]["terms"][0]["scores"].pop(), "does not fit together"),
    "a score that is none": (
        lambda tree: tree["ebm"]["terms"][0]["scores"].__setitem__(0, "nan"),
        '"nan" is text, not a number',
    ),
    "a feature that is none": (lambda tree: tree["ebm"]["features"].pop(), "does not fit together"),
    "nothing in it": (lambda tree: tree.update(ebm=[]), "does not fit together"),
}


@pytest.mark.parametrize(("edit", "reason"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused(edit: Edit, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_ebm(edited(tmp_path, edit), sensitive=["age"])
    assert reason in str(caught.value)
