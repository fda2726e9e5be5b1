"""Fits small estimators, saves them with skops and writes down what they predict.

Run by hand once per version of scikit-learn, each in an environment of its own, in this folder::

    python -m venv /tmp/old && /tmp/old/bin/pip install --only-binary :all: \
        scikit-learn==1.2.2 "scipy<1.12" "numpy<2" skops==0.9.0
    /tmp/old/bin/python make.py

The files here come from scikit-learn 1.2.2 and 1.3.2 (skops 0.9.0), 1.5.2 (skops 0.10.0) and 1.9.1
(skops 0.16.0). ``NAME-VERSION.skops`` is an estimator; ``predicted-VERSION.json`` has for each NAME rows
and P(class 1 | row), null where scikit-learn computes no number.
"""

from __future__ import annotations

import itertools
import json
import math
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import sklearn
import skops.io
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

VERSION = ".".join(sklearn.__version__.split(".")[:2])
WORDS = [["f", "m"], ["east", "north", "west"]]


def main() -> None:
    warnings.simplefilter("ignore")
    flip = np.array([[1, 1]] * 90 + [[0, 1]] * 10 + [[0, 0]] * 10 + [[0, 1]] * 90)
    sides = np.array([1] * 100 + [0] * 100)
    random = np.random.default_rng(5)
    codes = random.integers(0, [2, 3], (120, 2))
    y = (random.random(120) < 0.3 + 0.3 * codes[:, 0]).astype(int)
    words = np.array([[WORDS[i][c] for i, c in enumerate(row)] for row in codes], dtype=object)
    rows = list(itertools.product(*WORDS))
    both = list(itertools.product([0, 1], repeat=2))

    def ordinal() -> Any:
        return make_pipeline(OrdinalEncoder(), CategoricalNB(alpha=0.5)).fit(words, y)

    prior_moved, alpha_moved, likelihood_moved = ordinal(), ordinal(), ordinal()
    prior_moved[-1].class_log_prior_ = np.log([0.9, 0.1])
    alpha_moved[-1].set_params(alpha=50)
    likelihood_moved[-1].feature_log_prob_[0] = np.log([[0.5, 0.5], [0.45, 0.55]])
    made: dict[str, tuple[Any, list[Any]]] = {
        "zero-alpha": (CategoricalNB(alpha=0).fit(flip, sides), both),
        "zero-alpha-forced": (CategoricalNB(alpha=0, force_alpha=True).fit(flip, sides), both),
        "bernoulli-zero-alpha": (BernoulliNB(alpha=0).fit(flip, sides), both),
        "bernoulli": (BernoulliNB(alpha=0.5).fit(flip, sides), both),
        "ordinal": (ordinal(), rows),
        "one-hot": (make_pipeline(OneHotEncoder(), BernoulliNB()).fit(words, y), rows),
        "prior-moved": (prior_moved, rows),
        "alpha-moved": (alpha_moved, rows),
        "likelihood-moved": (likelihood_moved, rows),
    }
    predicted = {}
    for name, (estimator, inputs) in made.items():
        found = estimator.predict_proba(np.array(inputs, dtype=object if inputs is rows else int))[:, 1]
        predicted[name] = [
            [*row, None if math.isnan(p) else p] for row, p in zip(inputs, found.tolist(), strict=True)
        ]
        file = Path(f"{name}-{VERSION}.skops")
        skops.io.dump(estimator, file, compression=ZIP_DEFLATED, compresslevel=9)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in predicted.items())
    Path(f"predicted-{VERSION}.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
