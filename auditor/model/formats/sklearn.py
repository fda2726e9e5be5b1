"""Fitted scikit-learn estimators as models, from memory or from a skops file; nothing is ever unpickled.

``CategoricalNB`` and ``BernoulliNB`` have counts, which are taken as they are: their smoothing is that of the
specification. What has no counts, such as a prior that was given, becomes likelihoods.
"""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.building import build, chosen, decimal, split, text
from auditor.model.intervals import Bins
from auditor.model.reading import unreadable

if TYPE_CHECKING:
    from auditor.model.spec import ModelSpec

#: What a skops file may hold when unpacked, so that a small file can't fill the memory.
MAX_UNPACKED = 256 * 1024 * 1024

#: scikit-learn takes a smaller smoothing for this one unless told otherwise.
_LEAST_ALPHA = 1e-10

_REFUSED = {
    "GaussianNB": "its attributes are continuous, and patterns need values; cut them with KBinsDiscretizer "
    "and fit a CategoricalNB",
    "MultinomialNB": "it models how often words occur, not a value per attribute; fit a CategoricalNB, or a "
    "BernoulliNB on which words occur",
    "ComplementNB": "its weights are no probabilities of a value given a decision; fit a CategoricalNB or a "
    "BernoulliNB",
}


@dataclass(frozen=True)
class _Attribute:
    """An attribute: its values, and for each decision either counts or weights that need no sum of 1."""

    name: str
    values: Sequence[str | dict[str, str]]
    counts: tuple[list[Fraction], list[Fraction]] | None
    weights: tuple[list[Fraction], list[Fraction]]


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
        raise InputError(f"{name}: skops files need scikit-learn; pip install 'auditor[sklearn]'") from error
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED:
                raise InputError(f"{name}: holds more than {MAX_UNPACKED // 1024**2} MB; no model needs that")
        with warnings.catch_warnings():
            # Another version's estimator is checked below by what it has.
            warnings.simplefilter("ignore")
            loaded: object = skops.io.load(path, trusted=[])
    except InputError:
        raise
    except UntrustedTypesFoundException as error:
        raise InputError(
            f"{name}: holds types that are no part of scikit-learn and could run code: {plain(str(error))}"
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
        Counts as fitted, where a float is taken as the shortest decimal that reads back as it. A one-hot
        block before a ``BernoulliNB`` becomes one attribute: the model is the estimator's on the vectors
        that such a block can take.

    Raises
    ------
    InputError
        If the estimator is none of these, isn't fitted, or has another number of classes than two.
    """
    source = source or type(estimator).__name__
    encoder, bayes = _parts(estimator, source)
    kind = type(bayes).__name__
    for part, fitted in ((bayes, "class_count_"), (encoder, "n_features_in_")):
        if part is not None and not hasattr(part, fitted):
            _refuse(source, f"{type(part).__name__} is not fitted; fit it first")
    classes = [text(label) for label in bayes.classes_.tolist()]
    if len(classes) != 2:
        some = ", ".join(shown(label) for label in classes[:20])
        _refuse(
            source,
            f"has {len(classes)} classes ({some}), and patterns are defined for two; fit it on the "
            "favourable class against all others",
        )
    wanted = classes[1] if favourable is None else text(favourable)
    if wanted not in classes:
        _refuse(
            source,
            f"there is no class {shown(wanted)}; the favourable one is {shown(classes[0])} or "
            f"{shown(classes[1])}",
        )
    sides = (classes.index(wanted), 1 - classes.index(wanted))
    names = _names(encoder if encoder is not None else bayes, feature_names, source)
    alpha = _alpha(bayes, source)
    columns = _columns(bayes, sides, alpha)
    attributes = _attributes(encoder, bayes, columns, names, source)
    protected = chosen(split(sensitive, names), names, source, "feature")
    class_counts = [_exact(bayes.class_count_[side]) for side in sides]
    prior = _given_prior(bayes, sides)
    blocks = any(attribute.counts is None for attribute in attributes)
    counted = prior is None and not blocks
    tree: dict[str, Any] = {
        "name": name or kind,
        "decision": {
            "name": decision,
            "favourable": wanted,
            "unfavourable": classes[sides[1]],
        },
        "provenance": {"description": f"Imported from a scikit-learn {_described(encoder, bayes)}."},
    }
    if counted:
        counts = [decimal_of(count) for count in class_counts]
        tree["decision"]["counts"] = {"favourable": counts[0], "unfavourable": counts[1]}
        tree["smoothing"] = decimal_of(alpha)
    else:
        ratio = prior or (class_counts[0] / sum(class_counts), class_counts[1] / sum(class_counts))
        # The weights of a block add up to Z given d; the prior takes these factors over.
        joint = [ratio[d] * prod(sum(a.weights[d], Fraction(0)) for a in attributes) for d in (0, 1)]
        tree["decision"]["prior"] = decimal(joint[0] / sum(joint))
    tree["attributes"] = [
        {"name": a.name, "sensitive": a.name in protected, **_probabilities(a, counted)} for a in attributes
    ]
    return build(tree, source)


def _parts(estimator: object, source: str) -> tuple[Any, Any]:
    """Return the encoder, if there is one, and the naive Bayes estimator."""
    kind = type(estimator).__name__
    if kind == "Pipeline":
        steps = [step for _, step in getattr(estimator, "steps", []) if step not in ("passthrough", None)]
        *before, last = steps or [None]
        names = [type(step).__name__ for step in before]
        if len(before) > 1 or (names and names[0] not in _ENCODERS):
            _refuse(
                source,
                f"a pipeline of {', '.join([*names, type(last).__name__])} can't be taken apart; have one of "
                f"{', '.join(_ENCODERS)} and then the naive Bayes estimator, and prepare the data before",
            )
        _, bayes = _parts(last, source)
        return (before[0] if before else None), bayes
    if kind in _REFUSED:
        _refuse(source, f"{kind} can't be audited for patterns: {_REFUSED[kind]}")
    if kind not in ("CategoricalNB", "BernoulliNB"):
        _refuse(source, f"{kind} is no estimator that can be audited; give a CategoricalNB or BernoulliNB")
    return None, estimator


def _refuse(source: str, reason: str) -> NoReturn:
    raise InputError(f"{escaped(source)}: {reason}")


def _names(first: Any, given: Sequence[str] | None, source: str) -> list[str]:
    number = int(first.n_features_in_)
    fitted = getattr(first, "feature_names_in_", None)
    if given is not None:
        if len(given) != number:
            _refuse(source, f"{len(given)} feature names are given for {number} features; give one for each")
        return list(given)
    return [f"x{i}" for i in range(number)] if fitted is None else [str(name) for name in fitted]


Column = tuple[list[Fraction], list[Fraction], Fraction]


def _columns(bayes: Any, sides: Sequence[int], alpha: Fraction) -> list[Column]:
    """Counts of each column's codes 0, 1, … per decision, favourable first; and the column's smoothing."""
    if type(bayes).__name__ == "CategoricalNB":
        tables = [[table[side].tolist() for side in sides] for table in bayes.category_count_]
    else:
        # Codes 0 and 1: what isn't 1 is 0.
        tables = []
        for feature in range(bayes.feature_count_.shape[1]):
            ones = [_exact(bayes.feature_count_[side, feature]) for side in sides]
            rows = [_exact(bayes.class_count_[side]) for side in sides]
            tables.append([[row - one, one] for one, row in zip(ones, rows, strict=True)])
    return [([_exact(n) for n in table[0]], [_exact(n) for n in table[1]], alpha) for table in tables]


def _exact(number: Any) -> Fraction:
    return number if isinstance(number, Fraction) else Fraction(decimal(float(number)))


def decimal_of(number: Fraction) -> Decimal:
    """Return a fraction that came from decimals as a decimal; a sum of those is one too."""
    return decimal(number) if number.denominator != 1 else Decimal(number.numerator)


def _alpha(bayes: Any, source: str) -> Fraction:
    if getattr(bayes.alpha, "ndim", 0) or isinstance(bayes.alpha, list | tuple):
        _refuse(source, "alpha differs between features, which scikit-learn mixes up; give one number")
    alpha = float(bayes.alpha)
    return _exact(alpha if getattr(bayes, "force_alpha", True) else max(alpha, _LEAST_ALPHA))


def _given_prior(bayes: Any, sides: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """Return the prior if it isn't that of the counts."""
    if bayes.class_prior is not None:
        shares = [_exact(share) for share in bayes.class_prior]
        return shares[sides[0]] / sum(shares), shares[sides[1]] / sum(shares)
    return None if bayes.fit_prior else (Fraction(1, 2), Fraction(1, 2))


def _attributes(
    encoder: Any, bayes: Any, columns: Sequence[Column], names: Sequence[str], source: str
) -> list[_Attribute]:
    """Take the columns as attributes: one each, or for a one-hot encoder one per block."""
    if encoder is None:
        return [
            _single(name, _codes(bayes, len(column[0])), column)
            for name, column in zip(names, columns, strict=True)
        ]
    categories = _ENCODERS[type(encoder).__name__](encoder, names, source)
    if _is_one_hot(encoder):
        if type(bayes).__name__ != "BernoulliNB":
            _refuse(source, f"one-hot columns need a BernoulliNB, not a {type(bayes).__name__}")
        if not 0 <= (bayes.binarize or 0) < 1:
            _refuse(source, f"binarize={bayes.binarize} loses one-hot columns; leave it at 0")
        attributes, start = [], 0
        for i, values in enumerate(categories):
            left_out = _dropped(encoder, i)
            size = len(values) - (left_out is not None)
            attributes.append(_block(names[i], values, left_out, columns[start : start + size]))
            start += size
        return attributes
    if type(bayes).__name__ == "BernoulliNB" and (
        any(len(values) > 2 for values in categories) or not 0 <= (bayes.binarize or 0) < 1
    ):
        _refuse(
            source,
            "BernoulliNB makes two values of each feature, and the encoder gives more; fit a CategoricalNB",
        )
    padded = [
        [*values, *(f"never seen {code}" for code in range(len(values), len(column[0])))]
        for values, column in zip(categories, columns, strict=True)
    ]
    return [_single(*part) for part in zip(names, padded, columns, strict=True)]


def _codes(bayes: Any, size: int) -> Sequence[str | dict[str, str]]:
    cut = getattr(bayes, "binarize", None)
    if cut is not None and not 0 <= cut < 1:
        return Bins((decimal(float(cut)),), "right").values
    return [str(code) for code in range(size)]


def _single(name: str, values: Sequence[str | dict[str, str]], column: Column) -> _Attribute:
    favourable, unfavourable, alpha = column
    # A value that was never seen has no probability without smoothing, and none to audit.
    kept = [v for v in range(len(favourable)) if alpha or favourable[v] or unfavourable[v]]
    rows = [favourable[v] for v in kept], [unfavourable[v] for v in kept]
    weights = [[_smoothed(row, v, alpha) for v in range(len(row))] for row in rows]
    return _Attribute(name, [values[v] for v in kept], rows, (weights[0], weights[1]))


def _smoothed(row: Sequence[Fraction], v: int, alpha: Fraction) -> Fraction:
    total = sum(row, Fraction(0)) + alpha * len(row)
    return (row[v] + alpha) / total if total else Fraction(0)


def _block(
    name: str, values: Sequence[str | dict[str, str]], left_out: int | None, columns: Sequence[Column]
) -> _Attribute:
    """Take a one-hot block as one attribute: value v weighs P(x_v = 1 | d) Π_(u ≠ v) P(x_u = 0 | d)."""
    if left_out is not None and len(values) == 2:
        codes = list(values) if left_out == 0 else list(reversed(values))
        return _single(name, codes, columns[0])
    weights: list[list[Fraction]] = []
    for side in (0, 1):
        ones = [_smoothed((first, second)[side], 1, alpha) for first, second, alpha in columns]
        if left_out is not None:
            ones.insert(left_out, Fraction(-1))
        weights.append(
            [
                prod(
                    (one if u == v else 1 - one for u, one in enumerate(ones) if u != left_out),
                    start=Fraction(1),
                )
                for v in range(len(values))
            ]
        )
    kept = [v for v in range(len(values)) if weights[0][v] or weights[1][v]]
    rows = [weights[0][v] for v in kept], [weights[1][v] for v in kept]
    return _Attribute(name, [values[v] for v in kept], None, rows)


def _probabilities(attribute: _Attribute, counted: bool) -> dict[str, object]:
    if counted and attribute.counts is not None:
        rows = [[decimal_of(n) for n in row] for row in attribute.counts]
        key = "counts"
    else:
        rows = [[decimal(w / sum(row)) for w in row] for row in attribute.weights]
        key = "likelihood"
    return {"values": list(attribute.values), key: {"favourable": rows[0], "unfavourable": rows[1]}}


def _is_one_hot(encoder: Any) -> bool:
    return type(encoder).__name__ == "OneHotEncoder" or getattr(encoder, "encode", "ordinal") != "ordinal"


def _dropped(encoder: Any, feature: int) -> int | None:
    dropped = getattr(encoder, "drop_idx_", None)
    return None if dropped is None or dropped[feature] is None else int(dropped[feature])


def _categories(encoder: Any, names: Sequence[str], source: str) -> list[list[str | dict[str, str]]]:
    """Return the values behind the codes of an OrdinalEncoder or OneHotEncoder."""
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        _refuse(source, "the encoder puts rare categories together; do that in the data before it")
    found: list[list[str | dict[str, str]]] = []
    for name, categories in zip(names, encoder.categories_, strict=True):
        raw = categories.tolist()
        if any(value is None or (isinstance(value, float) and math.isnan(value)) for value in raw):
            _refuse(source, f"feature {shown(name)} has missing values as a category; fill them in before")
        found.append([text(value) for value in raw])
    return found


def _binned(encoder: Any, names: Sequence[str], source: str) -> list[list[str | dict[str, str]]]:
    """Return the bins of a KBinsDiscretizer, which contain their lower edges."""
    found: list[list[str | dict[str, str]]] = []
    for name, edges in zip(names, encoder.bin_edges_, strict=True):
        inner = tuple(decimal(float(edge)) for edge in edges[1:-1])
        if not inner:
            _refuse(source, f"feature {shown(name)} has one bin only, which tells nothing; leave it out")
        found.append([*Bins(inner).values])
    return found


_ENCODERS = {"OrdinalEncoder": _categories, "OneHotEncoder": _categories, "KBinsDiscretizer": _binned}


def _described(encoder: Any, bayes: Any) -> str:
    return " and ".join(type(part).__name__ for part in (encoder, bayes) if part is not None)
