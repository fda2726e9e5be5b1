"""Fitted scikit-learn estimators as models and back; nothing is ever unpickled.

An estimator's model is what it predicts with: its fitted log-probabilities. Where its counts and smoothing
give the same ones, the counts are taken, so that the model can be repaired and compared with data.
"""

from __future__ import annotations

import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.building import build, chosen, code_of, decimal, sides_of, split
from auditor.model.checks import SIDES, TOLERANCE
from auditor.model.intervals import Bins, are_intervals
from auditor.model.parsing import refuse
from auditor.model.reading import unreadable

if TYPE_CHECKING:
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import Pipeline

    from auditor.model.spec import ModelSpec

#: Types that skops leaves to its callers: the dtype of an array, which is data.
_TRUSTED = ("numpy.dtype",)

#: What a skops file may hold when unpacked, so that a small file can't fill the memory.
MAX_UNPACKED = 256 * 1024 * 1024

#: Rows that a model without counts is taken to come from; no probability depends on it.
ROWS = 1000

#: scikit-learn takes at least so much smoothing unless it is forced to take what it is given.
_LEAST_ALPHA = 1e-10

#: Digits that the logarithm of a probability keeps in binary floating point.
_FLOAT_DIGITS = 15

_REFUSED = {
    "GaussianNB": "its attributes are continuous, and patterns need values; cut them with KBinsDiscretizer "
    "and fit a CategoricalNB",
    "MultinomialNB": "it models how often words occur, not a value per attribute; fit a CategoricalNB, or a "
    "BernoulliNB on which words occur",
    "ComplementNB": "its weights are no probabilities of a value given a decision; fit a CategoricalNB or a "
    "BernoulliNB",
    "CalibratedClassifierCV": "it changes the probabilities of the estimators in it; give the naive Bayes "
    "estimator without calibration, if that is what decides",
}

#: What holds a fitted estimator, and where.
_WRAPPERS = {
    "GridSearchCV": "best_estimator_",
    "RandomizedSearchCV": "best_estimator_",
    "HalvingGridSearchCV": "best_estimator_",
    "HalvingRandomSearchCV": "best_estimator_",
    "TunedThresholdClassifierCV": "estimator_",
    "FixedThresholdClassifier": "estimator_",
    "SelfTrainingClassifier": "estimator_",
    "FrozenEstimator": "estimator",
    "OneVsRestClassifier": "estimators_[0]",
}

#: Codes or labels of an attribute's values, as a specification has them.
Values = Sequence[str | dict[str, str]]


@dataclass(frozen=True)
class _Code:
    """A code of a column, with two numbers for the favourable and the unfavourable class."""

    weights: tuple[Fraction, Fraction]
    """What the estimator multiplies with: probabilities, unless someone has set other numbers."""
    counts: tuple[Fraction, Fraction] | None
    """Where these and the estimator's smoothing give the weights, for all codes of the column."""


@dataclass(frozen=True)
class _Attribute:
    """A column, or several of a one-hot encoder, with a name, and values for its codes."""

    name: str
    values: Values
    codes: Sequence[_Code]


def load_skops(path: str | os.PathLike[str]) -> object:
    """Read an estimator from a skops file that holds nothing but known scikit-learn and NumPy types.

    Raises
    ------
    InputError
        If it can't be read, or holds anything else.
    """
    name = escaped(os.fspath(path))
    try:
        with Path(path).open("rb") as file:
            start = file.read(4)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {unreadable(error)}") from error
    if not start.startswith(b"PK"):
        what = "a pickle can run any code and is never opened" if start[:1] == b"\x80" else "not a skops file"
        raise InputError(f"{name}: {what}; save the estimator with skops.io.dump")
    try:
        import skops.io
        from skops.io.exceptions import UntrustedTypesFoundException
    except ImportError as error:
        raise InputError(f"{name}: skops files need scikit-learn; pip install scikit-learn skops") from error
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED:
                raise InputError(f"{name}: holds more than {MAX_UNPACKED // 1024**2} MB; no model needs that")
        with warnings.catch_warnings():
            # scikit-learn warns of estimators of other versions; what an estimator holds is checked below.
            warnings.simplefilter("ignore")
            loaded: object = skops.io.load(path, trusted=list(_TRUSTED))
    except InputError:
        raise
    except UntrustedTypesFoundException as error:
        with zipfile.ZipFile(path) as archive:
            held = re.findall(r'"__class__": "(\w+)"', archive.read("schema.json").decode("utf-8", "replace"))
        reason = next(filter(None, map(_unsuited, held)), None)
        raise InputError(
            f"{name}: {reason}"
            if reason
            else f"{name}: holds types that could run code, so that it is not opened; save the naive Bayes "
            f"estimator alone, or with its encoder ({plain(str(error))})"
        ) from error
    # A file that was tampered with can make skops fail in any way.
    except Exception as error:
        raise InputError(
            f"{name}: not a skops file that can be read: {plain(f'{type(error).__name__}: {error}')}"
        ) from error
    return loaded


def from_sklearn(
    estimator: object,
    *,
    sensitive: Sequence[str],
    favourable: object = None,
    feature_names: Sequence[str] | None = None,
    decision: str = "decision",
    name: str | None = None,
    source: str | None = None,
) -> ModelSpec:
    """Turn a fitted estimator into a model that gives the same probabilities.

    Parameters
    ----------
    estimator : CategoricalNB, BernoulliNB or Pipeline
        A pipeline has one of them at its end and before it an ``OrdinalEncoder``, ``OneHotEncoder`` or
        ``KBinsDiscretizer``; the encoder's categories or bins become the values.
    sensitive : sequence of str
        Features to protect. A text that is no feature names several, with commas between.
    favourable : object, optional
        The favourable class.  [default: the second one]
    feature_names : sequence of str, optional
        [default: those that it was fitted with, or x0, x1, …]
    decision, name : str, optional
        Names of the decision and of the model.
    source : str, optional
        What the estimator is called in messages.

    Returns
    -------
    ModelSpec
        Counts as fitted, where a float is taken as the shortest decimal that reads back as it; or the fitted
        probabilities, to 15 digits, where counts and hyperparameters don't give them within 1e-9. A one-hot
        block before a ``BernoulliNB`` becomes one attribute: the model is the estimator's on the vectors
        that such a block can take. Values without any probability are left out, and bins without any are
        joined to their neighbours.

    Raises
    ------
    InputError
        If the estimator is none of these, isn't fitted, or has another number of classes than two.
    """
    source = source or type(estimator).__name__
    try:
        encoder, bayes = _parts(estimator, source)
        for part, fitted in ((bayes, "class_count_"), (encoder, "n_features_in_")):
            if part is not None and not hasattr(part, fitted):
                refuse(source, f"{type(part).__name__} is not fitted; fit it first")
        classes = [code_of(label) for label in bayes.classes_.tolist()]
        wanted = None if favourable is None else code_of(favourable)
        sides = sides_of(classes, wanted, source, f"the decision of {type(bayes).__name__}")
        names = names_of(encoder if encoder is not None else bayes, feature_names, source)
        alpha = _alpha(bayes)
        class_counts = [_exact(bayes.class_count_[side]) for side in sides]
        prior = [_fitted(bayes.class_log_prior_[side], source) for side in sides]
        columns = list(_columns(bayes, sides, alpha, source))
        attributes = _attributes(encoder, bayes, columns, names, source)
    # A file that was tampered with may hold anything in place of fitted arrays.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = plain(f"{type(error).__name__}: {error}")
        refuse(source, f"what was fitted does not fit together ({reason}); fit and save it anew")
    protected = chosen(split(sensitive, names), names, source, "feature")
    tree: dict[str, Any] = {
        "name": name or type(bayes).__name__,
        "decision": {"name": decision, "favourable": classes[sides[0]], "unfavourable": classes[sides[1]]},
        "provenance": {"description": f"Imported from a scikit-learn {_described(encoder, bayes)}."},
    }
    counted = _agree([n / (sum(class_counts) or 1) for n in class_counts], prior) and all(
        code.counts is not None for attribute in attributes for code in attribute.codes
    )
    if counted and alpha is not None:
        favoured, others = map(decimal, class_counts)
        tree["decision"]["counts"] = {"favourable": favoured, "unfavourable": others}
        tree["smoothing"] = decimal(alpha)
    else:
        # Weights that don't add up to 1 are divided by their sum; the prior takes these factors over.
        joint = [prior[d] * prod(_total(a, d) for a in attributes) for d in (0, 1)]
        if 0 in joint:
            refuse(source, "a class has probability 0; fit it on data that have both")
        tree["decision"]["prior"] = decimal(joint[0] / sum(joint))
    tree["attributes"] = [
        {"name": a.name, "sensitive": a.name in protected, "values": list(a.values), **_rows(a, counted)}
        for a in attributes
    ]
    return build(tree, source)


def _rows(attribute: _Attribute, counted: bool) -> dict[str, object]:
    """Return counts or likelihoods, as a specification has them."""
    rows = [
        [
            decimal(code.counts[d] if counted and code.counts else code.weights[d] / _total(attribute, d))
            for code in attribute.codes
        ]
        for d in (0, 1)
    ]
    return {"counts" if counted else "likelihood": dict(zip(SIDES, rows, strict=True))}


def _total(attribute: _Attribute, d: int) -> Fraction:
    """Return the sum of an attribute's weights for a class, as 1 where only rounding lies between."""
    total = sum((code.weights[d] for code in attribute.codes), Fraction(0))
    return total if abs(total - 1) > TOLERANCE else Fraction(1)


def _parts(estimator: object, source: str) -> tuple[Any, Any]:
    """Return the encoder, if there is one, and the naive Bayes estimator."""
    *before, last = list(_steps(estimator)) or [None]
    names = [type(step).__name__ for step in before]
    kind = type(last).__name__
    if reason := _unsuited(kind):
        refuse(source, reason)
    if kind not in ("CategoricalNB", "BernoulliNB"):
        refuse(source, f"{kind} is no estimator that can be audited; give a CategoricalNB or BernoulliNB")
    if len(before) > 1 or (names and names[0] not in _ENCODERS):
        refuse(
            source,
            f"a pipeline of {', '.join([*names, kind])} can't be taken apart; have one of "
            f"{', '.join(_ENCODERS)} and then the naive Bayes estimator, and prepare the data before",
        )
    return (before[0] if before else None), last


def _unsuited(kind: str) -> str | None:
    """Say why an estimator of this kind can't be audited, and what can; None if nothing is known of it."""
    if kind in _WRAPPERS:
        return f"{kind} holds the estimator to audit; give or save its {_WRAPPERS[kind]} instead"
    return f"{kind} can't be audited for patterns: {_REFUSED[kind]}" if kind in _REFUSED else None


def _steps(estimator: object) -> Iterator[object]:
    """Yield the steps of a pipeline and of the pipelines in it, or the estimator itself."""
    if type(estimator).__name__ != "Pipeline":
        yield estimator
        return
    for _, step in getattr(estimator, "steps", []):
        if step is not None and not (isinstance(step, str) and step == "passthrough"):
            yield from _steps(step)


def names_of(first: Any, given: Sequence[str] | None, source: str) -> list[str]:
    """Name the features that an estimator was fitted with, as given or as it says."""
    number = int(first.n_features_in_)
    fitted = getattr(first, "feature_names_in_", None)
    if given is not None:
        if len(given) != number:
            refuse(source, f"{len(given)} feature names are given for {number} features; give one for each")
        return list(given)
    return [f"x{i}" for i in range(number)] if fitted is None else [str(name) for name in fitted]


def _alpha(bayes: Any) -> Fraction | None:
    """Return the smoothing that counts have had if the hyperparameters say so; None for one per feature.

    Versions before 1.4 save ``force_alpha="warn"``, or nothing, and then take `_LEAST_ALPHA` at least.
    """
    if np.ndim(bayes.alpha):
        return None
    forced = getattr(bayes, "force_alpha", None) is True
    return _exact(float(bayes.alpha) if forced else max(float(bayes.alpha), _LEAST_ALPHA))


def _exact(number: Any) -> Fraction:
    return Fraction(decimal(float(number)))


def _fitted(logarithm: Any, source: str) -> Fraction:
    """Return the probability of a fitted logarithm."""
    log = float(logarithm)
    if math.isnan(log) or log > TOLERANCE or (log != -math.inf and math.exp(log) == 0):
        refuse(source, f"a fitted log-probability is {log!r}; fit it anew, with alpha above 0")
    return _rounded(math.exp(min(log, 0)))


def _rounded(probability: float) -> Fraction:
    return Fraction(f"{probability:.{_FLOAT_DIGITS}g}")


def _columns(bayes: Any, sides: Sequence[int], alpha: Fraction | None, source: str) -> Iterator[list[_Code]]:
    """Read each column; for a BernoulliNB what isn't 1 is 0."""
    if type(bayes).__name__ == "CategoricalNB":
        for table, logs in zip(bayes.category_count_, bayes.feature_log_prob_, strict=True):
            counts = [[_exact(n) for n in table[side]] for side in sides]
            yield _column(counts, [[_fitted(log, source) for log in logs[side]] for side in sides], alpha)
        return
    for ones, logs in zip(bayes.feature_count_.T, bayes.feature_log_prob_.T, strict=True):
        counts, fitted = [], []
        for side in sides:
            one = _exact(ones[side])
            counts.append([_exact(bayes.class_count_[side]) - one, one])
            # The estimator too subtracts from 1 in binary floating point.
            likely = _fitted(logs[side], source)
            fitted.append([_rounded(1 - math.exp(min(float(logs[side]), 0))), likely])
        yield _column(counts, fitted, alpha)


def _column(
    counts: list[list[Fraction]], fitted: list[list[Fraction]], alpha: Fraction | None
) -> list[_Code]:
    """Put together what is counted and what is fitted for each class."""
    numbers = list(zip(*counts, strict=True))
    weights = list(zip(*fitted, strict=True))
    if alpha is not None:
        smoothed = [[n + alpha for n in row] for row in counts]
        exact = [[n / (sum(row) or 1) for n in row] for row in smoothed]
        if all(map(_agree, exact, fitted)):
            return list(map(_Code, zip(*exact, strict=True), numbers))
    return [_Code(both, None) for both, _ in zip(weights, numbers, strict=True)]


def _agree(exact: Sequence[Fraction], fitted: Sequence[Fraction]) -> bool:
    """Whether fitted probabilities are these but for rounding; 0 agrees with nothing but 0."""
    return all(abs(p - q) <= TOLERANCE * p for p, q in zip(exact, fitted, strict=True))


def _attributes(
    encoder: Any, bayes: Any, columns: Sequence[Sequence[_Code]], names: Sequence[str], source: str
) -> list[_Attribute]:
    """Take the columns as attributes: one each, or for a one-hot encoder one per block."""
    cut: float | None = getattr(bayes, "binarize", None)
    elsewhere = cut is not None and not 0 <= cut < 1
    if encoder is None:
        bins = Bins((decimal(float(cut)),), "right") if cut is not None and elsewhere else None
        return [
            _single(name, bins or [str(code) for code in range(len(column))], column, source)
            for name, column in zip(names, columns, strict=True)
        ]
    categories: list[Values | Bins] = _ENCODERS[type(encoder).__name__](encoder, names, source)
    if _is_one_hot(encoder):
        if type(bayes).__name__ != "BernoulliNB":
            refuse(source, f"one-hot columns need a BernoulliNB, not a {type(bayes).__name__}")
        if elsewhere:
            refuse(source, f"binarize={cut} loses one-hot columns; leave it at 0")
        attributes, rest = [], list(columns)
        for i, (name, values) in enumerate(zip(names, categories, strict=True)):
            left_out = dropped(encoder, i)
            size = _size(values) - (left_out is not None)
            block, rest = rest[:size], rest[size:]
            if len(block) != size:
                raise ValueError("the encoder makes more columns than the estimator has")
            attributes.append(_block(name, values, left_out, block, source))
        if rest:
            raise ValueError("the encoder makes fewer columns than the estimator has")
        return attributes
    if type(bayes).__name__ == "BernoulliNB" and (elsewhere or any(_size(v) > 2 for v in categories)):
        refuse(
            source,
            "BernoulliNB makes two values of each feature, and the encoder gives more; fit a CategoricalNB",
        )
    return [_single(*part, source) for part in zip(names, categories, columns, strict=True)]


def _size(values: Values | Bins) -> int:
    return len(values.codes if isinstance(values, Bins) else values)


def _single(name: str, values: Values | Bins, column: Sequence[_Code], source: str) -> _Attribute:
    """Take a column as an attribute, without the codes that have no probability, and nothing to audit.

    Codes beyond the bins never come out of the encoder. Codes beyond its categories may, for what is unknown.
    """
    size = _size(values) if isinstance(values, Bins) else len(column)
    if any(any(code.weights) for code in column[size:]):
        column = [replace(code, counts=None) for code in column]
    kept = [v for v, code in enumerate(column[:size]) if any(code.weights)]
    if not isinstance(values, Bins):
        named = [values[v] if v < len(values) else f"never seen {v}" for v in kept]
        return _Attribute(name, named, [column[v] for v in kept])
    if len(kept) < 2:
        refuse(source, f"feature {shown(name)} has one bin only, which tells nothing; leave it out")
    return _Attribute(name, values.joined(kept).values, [column[v] for v in kept])


def _block(
    name: str, values: Values | Bins, left_out: int | None, columns: Sequence[Sequence[_Code]], source: str
) -> _Attribute:
    """Take a one-hot block as one attribute: value v weighs P(x_v = 1 | d) Π_(u ≠ v) P(x_u = 0 | d)."""
    size = _size(values)
    if left_out is not None and size == 2:
        # Of two values the encoder makes one column, which is 1 for the value that isn't left out.
        return _single(name, values, columns[0] if left_out == 0 else columns[0][::-1], source)
    own = [v for v in range(size) if v != left_out]

    def weight(v: int, d: int) -> Fraction:
        ones = zip(own, columns, strict=True)
        return prod((column[u == v].weights[d] for u, column in ones), start=Fraction(1))

    return _single(name, values, [_Code((weight(v, 0), weight(v, 1)), None) for v in range(size)], source)


def _is_one_hot(encoder: Any) -> bool:
    return type(encoder).__name__ == "OneHotEncoder" or getattr(encoder, "encode", "ordinal") != "ordinal"


def dropped(encoder: Any, feature: int) -> int | None:
    """The place of the value that an encoder makes no column for; None if there is none."""
    places = getattr(encoder, "drop_idx_", None)
    return None if places is None or places[feature] is None else int(places[feature])


def _categories(encoder: Any, names: Sequence[str], source: str) -> list[Values | Bins]:
    """Return the values behind the codes of an OrdinalEncoder or OneHotEncoder."""
    if hasattr(encoder, "infrequent_categories_"):
        refuse(source, "the encoder puts rare categories together; do that in the data before it")
    found: list[Values | Bins] = []
    for name, categories in zip(names, encoder.categories_, strict=True):
        raw = categories.tolist()
        if any(value is None or (isinstance(value, float) and math.isnan(value)) for value in raw):
            refuse(source, f"feature {shown(name)} has missing values as a category; fill them in before")
        found.append([code_of(value) for value in raw])
    return found


def _binned(encoder: Any, names: Sequence[str], source: str) -> list[Values | Bins]:
    """Return the bins of a KBinsDiscretizer, which contain their lower edges."""
    found: list[Values | Bins] = []
    for name, edges in zip(names, encoder.bin_edges_, strict=True):
        inner = tuple(decimal(float(edge)) for edge in edges[1:-1])
        if not inner:
            refuse(source, f"feature {shown(name)} has one bin only, which tells nothing; leave it out")
        found.append(Bins(inner))
    return found


_ENCODERS: Mapping[str, Callable[[Any, Sequence[str], str], list[Values | Bins]]] = {
    "OrdinalEncoder": _categories,
    "OneHotEncoder": _categories,
    "KBinsDiscretizer": _binned,
}


def _described(encoder: Any, bayes: Any) -> str:
    return " and ".join(type(part).__name__ for part in (encoder, bayes) if part is not None)


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
        raise InputError("scikit-learn is needed; pip install scikit-learn") from error
    bayes, decision = model.naive_bayes(), model.decision
    counts = decision.counts
    rows = Fraction(counts.favourable) + Fraction(counts.unfavourable) if counts else Fraction(ROWS)
    codes = [decision.favourable.value, decision.unfavourable.value]
    # scikit-learn keeps classes sorted.
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
        if are_intervals(codes):
            raise InputError(
                f"{attribute.name}: a pipeline can't cut this number into bins; use auditor.to_sklearn in "
                "Python, which takes the number of the bin"
            )
    # The encoder is fitted on one row, which it only has to accept: its categories are given.
    rows = np.array([[codes[0] for codes in categories]], dtype=object)
    encoder = OrdinalEncoder(categories=[np.array(codes, dtype=object) for codes in categories]).fit(rows)
    encoder.feature_names_in_ = np.array([attribute.name for attribute in model.attributes], dtype=object)
    return Pipeline([("encode", encoder), ("naive_bayes", estimator)])


def dumped(pipeline: Pipeline) -> bytes:
    """Return an estimator as a skops file, which needs no pickle to be read.

    Raises
    ------
    InputError
        If skops is not installed.
    """
    try:
        import skops.io
    except ImportError as error:
        raise InputError("skops is needed; pip install skops") from error
    data: bytes = skops.io.dumps(pipeline)
    return data
