"""A model as a fitted scikit-learn estimator, so that a repaired model can be deployed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.errors import InputError
from auditor.model.intervals import Bins

if TYPE_CHECKING:
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import Pipeline

    from auditor.model.spec import ModelSpec

#: Rows that a model without counts is taken to come from; no probability depends on it.
_ROWS = 1000


def to_sklearn(model: ModelSpec) -> CategoricalNB:
    """Return a fitted ``CategoricalNB`` with the model's probabilities.

    Parameters
    ----------
    model : ModelSpec
        Its repaired probabilities if it is a repaired model.

    Returns
    -------
    CategoricalNB
        Takes each attribute as the position of its value in the model, from 0, in the model's order; its
        classes are the decision's values as they stand in the data. `to_sklearn_pipeline` takes the values
        themselves.

    Raises
    ------
    InputError
        If scikit-learn is not installed.
    """
    try:
        from sklearn.naive_bayes import CategoricalNB
    except ImportError as error:
        raise InputError("scikit-learn is needed; pip install 'auditor[sklearn]'") from error
    bayes, decision = model.naive_bayes(), model.decision
    counts = decision.counts
    rows = Fraction(counts.favourable) + Fraction(counts.unfavourable) if counts else Fraction(_ROWS)
    codes = [decision.favourable.value, decision.unfavourable.value]
    # Classes are sorted in an estimator.
    order = sorted((0, 1), key=lambda d: codes[d])
    prior = (bayes.prior, 1 - bayes.prior)
    estimator = CategoricalNB(alpha=0.0, force_alpha=True, fit_prior=True, class_prior=None)
    estimator.classes_ = np.array([codes[d] for d in order])
    estimator.class_count_ = np.array([float(prior[d] * rows) for d in order])
    likelihoods = [
        np.array([[float(row[d]) for row in attribute.likelihood] for d in order])
        for attribute in bayes.attributes
    ]
    with np.errstate(divide="ignore"):
        estimator.class_log_prior_ = np.log([float(prior[d]) for d in order])
        estimator.feature_log_prob_ = [np.log(rows_of) for rows_of in likelihoods]
    estimator.category_count_ = [rows_of * estimator.class_count_[:, None] for rows_of in likelihoods]
    estimator.n_categories_ = np.array([len(attribute.values) for attribute in bayes.attributes])
    estimator.n_features_in_ = len(bayes.attributes)
    return estimator


def to_sklearn_pipeline(model: ModelSpec) -> Pipeline:
    """Return `to_sklearn` behind an ``OrdinalEncoder`` that takes the values as they stand in the data.

    Raises
    ------
    InputError
        If scikit-learn is not installed, or an attribute is a number cut into bins.
    """
    estimator = to_sklearn(model)
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OrdinalEncoder

    categories = [[value.value for value in attribute.values] for attribute in model.attributes]
    for attribute, codes in zip(model.attributes, categories, strict=True):
        if Bins.of(codes):
            raise InputError(
                f"{attribute.name}: a pipeline can't cut this number into bins; use auditor.to_sklearn in "
                "Python, which takes the number of the bin"
            )
    # The first rows need only be accepted; the categories are given.
    rows = np.array([[codes[0] for codes in categories]], dtype=object)
    encoder = OrdinalEncoder(categories=[np.array(codes, dtype=object) for codes in categories]).fit(rows)
    encoder.feature_names_in_ = np.array([attribute.name for attribute in model.attributes], dtype=object)
    return Pipeline([("encode", encoder), ("naive_bayes", estimator)])


def to_skops(model: ModelSpec) -> bytes:
    """Return the pipeline as a skops file, which needs no pickle to be read."""
    pipeline: Any = to_sklearn_pipeline(model)
    try:
        import skops.io
    except ImportError as error:
        raise InputError("skops is needed; pip install 'auditor[sklearn]'") from error
    data: bytes = skops.io.dumps(pipeline)
    return data
