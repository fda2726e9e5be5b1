"""A fitted scikit-learn ``LogisticRegression`` over bins and categories as a scorecard, and back.

Its log-odds are a sum over columns; an encoder before it says which values stand behind the columns. A float
is taken as the shortest decimal that reads back as it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from auditor.errors import InputError
from auditor.messages import escaped, plain, shown
from auditor.model.building import build_scorecard, code_of, decimal, sides_of, with_sensitive
from auditor.model.formats.sklearn import dropped, names_of
from auditor.model.intervals import Bins, are_intervals
from auditor.model.parsing import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

    from auditor.model.scorecard import ScorecardAttribute, ScorecardSpec

_ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "KBinsDiscretizer")
#: Products of two floats are kept whole.
_EXACT = Context(prec=100)


@dataclass(frozen=True)
class _Value:
    """A value of a feature, and what it makes of the columns that the regression sees."""

    spec: Mapping[str, Any]
    columns: Sequence[Decimal]


def is_logistic(estimator: object) -> bool:
    """Whether it is a logistic regression, alone or at the end of a pipeline."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else estimator
    return type(last).__name__ in ("LogisticRegression", "LogisticRegressionCV")


def from_logistic(
    estimator: object,
    *,
    sensitive: Sequence[str],
    favourable: object = None,
    feature_names: Sequence[str] | None = None,
    decision: str = "decision",
    name: str | None = None,
    source: str | None = None,
) -> ScorecardSpec:
    """Turn a fitted logistic regression into a scorecard that gives the same probabilities.

    Parameters
    ----------
    estimator : LogisticRegression or Pipeline
        A pipeline has before it an ``OneHotEncoder``, ``OrdinalEncoder``, ``KBinsDiscretizer``, or a
        ``ColumnTransformer`` of these. A regression alone must have been fitted on columns of 0 and 1.
    sensitive : sequence of str
        Features to protect. A text that is no feature names several, with commas between.
    favourable : object, optional
        The favourable class.  [default: the second one]
    feature_names : sequence of str, optional
        [default: those that it was fitted with, or x0, x1, …]
    decision, name : str, optional
        Names of the decision and of the scorecard.
    source : str, optional
        What the estimator is called in messages.

    Raises
    ------
    InputError
        If it can't be taken apart, isn't fitted, or has another number of classes than two.
    """
    source = source or type(estimator).__name__
    encoder, regression = _parts(estimator, source)
    for fitted in (encoder, regression):
        if fitted is not None and not hasattr(fitted, "n_features_in_"):
            refuse(source, f"{type(fitted).__name__} is not fitted; fit it first")
    try:
        classes = [code_of(label) for label in regression.classes_.tolist()]
        wanted = None if favourable is None else code_of(favourable)
        first, second = sides_of(classes, wanted, source, "the decision of LogisticRegression")
        names = names_of(encoder if encoder is not None else regression, feature_names, source)
        coefficients = [decimal(float(c)) for c in regression.coef_[0]]
        features = list(_features(encoder, names, source))
        intercept = decimal(float(regression.intercept_[0]))
        attributes, start = [], 0
        for feature, values in features:
            width = len(values[0].columns)
            own = coefficients[start : start + width]
            attributes.append((feature, [{**v.spec, "weight": _dot(own, v.columns)} for v in values]))
            start += width
        if start != len(coefficients):
            refuse(source, f"has {len(coefficients)} coefficients for {start} columns; fit and save it anew")
    # A file that was tampered with may hold anything in place of fitted arrays.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = plain(f"{type(error).__name__}: {error}")
        refuse(source, f"what was fitted does not fit together ({reason}); fit and save it anew")
    parts = " and ".join(type(part).__name__ for part in (encoder, regression) if part is not None)
    # The file doesn't say what its columns held, and of other numbers the log-odds would be others.
    columns = ", whose columns are taken to hold 0 or 1 only" if encoder is None else ""
    return build_scorecard(
        {
            "name": name or type(regression).__name__,
            "decision": {
                "name": decision,
                "favourable": classes[first],
                "unfavourable": classes[second],
                # The coefficients speak for the second class.
                "higher": "favourable" if first == 1 else "unfavourable",
            },
            "intercept": intercept,
            "attributes": with_sensitive(
                [{"name": feature, "values": values} for feature, values in attributes],
                sensitive,
                source,
                "feature",
            ),
            "provenance": {"description": f"Imported from a scikit-learn {parts}{columns}."},
        },
        source,
    )


def _parts(estimator: Any, source: str) -> tuple[Any, Any]:
    """Return what encodes, if anything does, and the regression."""
    if type(estimator).__name__ != "Pipeline":
        return None, estimator
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    known = (*_ENCODERS, "ColumnTransformer")
    if len(steps) > 2 or (len(steps) == 2 and type(steps[0]).__name__ not in known):
        kinds = ", ".join(type(step).__name__ for step in steps)
        refuse(
            source,
            f"a pipeline of {kinds} can't be taken apart; have one of {', '.join(known)} and then the "
            "regression, and prepare the data before",
        )
    return (steps[0] if len(steps) == 2 else None), steps[-1]


def _features(encoder: Any, names: Sequence[str], source: str) -> Iterator[tuple[str, list[_Value]]]:
    """Each feature with its values, in the order of the columns."""
    if encoder is None:
        for name in names:
            yield name, [_Value({"value": code}, [Decimal(code)]) for code in ("0", "1")]
        return
    if type(encoder).__name__ != "ColumnTransformer":
        yield from _encoded(encoder, names, source)
        return
    for _, part, columns in encoder.transformers_:
        chosen_names = [_column(names, column) for column in _listed(columns, names)]
        if isinstance(part, str) and part == "drop":
            continue
        inner = part
        if type(inner).__name__ == "Pipeline" and len(inner.steps) == 1:
            inner = inner.steps[0][1]
        if isinstance(inner, str) or type(inner).__name__ not in (*_ENCODERS, "FunctionTransformer"):
            kind = inner if isinstance(inner, str) else type(inner).__name__
            refuse(source, f"the part {shown(kind)} of a ColumnTransformer can't be taken apart; encode it")
        if type(inner).__name__ == "FunctionTransformer":
            if inner.func is not None:
                refuse(source, "a FunctionTransformer with a function can't be read; prepare the data before")
            # Columns that pass through unchanged were encoded before, as 0 and 1.
            yield from _features(None, chosen_names, source)
        else:
            yield from _encoded(inner, chosen_names, source)


def _listed(columns: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(columns, slice):
        return list(range(len(names)))[columns]
    listed = list(columns) if not isinstance(columns, str) else [columns]
    if listed and all(isinstance(column, bool) for column in listed):
        return [i for i, taken in enumerate(listed) if taken]
    return listed


def _column(names: Sequence[str], column: Any) -> str:
    return str(column) if isinstance(column, str) else names[int(column)]


def _encoded(encoder: Any, names: Sequence[str], source: str) -> Iterator[tuple[str, list[_Value]]]:
    if type(encoder).__name__ == "KBinsDiscretizer":
        one_hot = encoder.encode != "ordinal"
        for name, edges in zip(names, encoder.bin_edges_, strict=True):
            inner = tuple(decimal(float(edge)) for edge in edges[1:-1])
            values = Bins(inner).values if inner else [{"value": "any number"}]
            yield name, _columns(values, None, one_hot)
        return
    if hasattr(encoder, "infrequent_categories_"):
        refuse(source, "the encoder puts rare categories together; do that in the data before it")
    one_hot = type(encoder).__name__ == "OneHotEncoder"
    for i, (name, categories) in enumerate(zip(names, encoder.categories_, strict=True)):
        yield name, _columns([_category(c) for c in categories.tolist()], dropped(encoder, i), one_hot)


def _category(value: Any) -> dict[str, str]:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return {"value": "missing", "bin": "missing"}
    return {"value": code_of(value)}


def _columns(values: Sequence[Mapping[str, Any]], left_out: int | None, one_hot: bool) -> list[_Value]:
    """What each value makes of the columns: one of its own, but for the one left out, or its position."""
    if not one_hot:
        return [_Value(value, [Decimal(code)]) for code, value in enumerate(values)]
    own = [v for v in range(len(values)) if v != left_out]
    return [_Value(value, [Decimal(int(u == v)) for u in own]) for v, value in enumerate(values)]


def _dot(coefficients: Sequence[Decimal], columns: Sequence[Decimal]) -> Decimal:
    return sum(
        (_EXACT.multiply(c, x) for c, x in zip(coefficients, columns, strict=True) if x), start=Decimal(0)
    )


def to_logistic(spec: ScorecardSpec) -> tuple[Pipeline, tuple[str, ...]]:
    """Return a scorecard as a fitted pipeline, which takes cells as they stand in the data.

    Categories go through a ``OneHotEncoder`` and numbers through a ``KBinsDiscretizer``, whose bins have
    their lower ends: a bin with its upper end ends at the next float. Coefficients are in log-odds.

    Returns
    -------
    pipeline : Pipeline
    remarks : tuple of str
        What it can't do that the scorecard does.

    Raises
    ------
    InputError
        If scikit-learn is not installed, or an attribute's values are ranges that leave numbers out.
    """
    try:
        from sklearn.compose import ColumnTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import Pipeline
    except ImportError as error:
        raise InputError("scikit-learn is needed; pip install scikit-learn") from error
    columns = [_Column.of(attribute) for attribute in spec.attributes]
    runs: list[tuple[bool, list[int]]] = []
    for i, column in enumerate(columns):
        binned = column.edges is not None
        if not runs or runs[-1][0] != binned:
            runs.append((binned, []))
        runs[-1][1].append(i)
    # The encoder is fitted on two rows, which it only has to accept: categories are given, and edges are set
    # after it.
    rows = np.array([[column.sample[row] for column in columns] for row in (0, 1)], dtype=object)
    encoder = ColumnTransformer(
        [
            (
                f"{'bins' if binned else 'categories'}{number}",
                _encoder([columns[i] for i in own], binned),
                own,
            )
            for number, (binned, own) in enumerate(runs)
        ],
        sparse_threshold=0,
    ).fit(rows)
    names = np.array([attribute.name for attribute in spec.attributes], dtype=object)
    encoder.feature_names_in_ = names
    for (_, part, own), (binned, _) in zip(encoder.transformers_, runs, strict=False):
        part.feature_names_in_ = names[own]
        if binned:
            # With None at the end NumPy makes an array of arrays, even where all have the same length.
            part.bin_edges_ = np.array([*(columns[i].edges for i in own), None], dtype=object)[:-1]
    direction = 1.0 if spec.decision.higher == "favourable" else -1.0
    intercept = float(spec.exponent_at(spec.intercept))
    if spec.scale is not None:
        intercept = intercept * math.log(2) + direction * math.log(spec.scale.odds)
    own_weights = [weight for column in columns for weight in column.weights]
    sides = [spec.decision.unfavourable.value, spec.decision.favourable.value]
    # scikit-learn keeps classes sorted, and its coefficients speak for the second one.
    order = sorted((0, 1), key=lambda side: sides[side])
    sign = 1.0 if order == [0, 1] else -1.0
    regression = LogisticRegression()
    regression.classes_ = np.array([sides[side] for side in order])
    regression.coef_ = np.array([[sign * float(spec.nats) * float(w) for w in own_weights]])
    regression.intercept_ = np.array([sign * intercept])
    regression.n_features_in_ = len(own_weights)
    regression.n_iter_ = np.array([0], dtype=np.int32)
    pipeline = Pipeline([("encode", encoder), ("logistic", regression)])
    return pipeline, tuple(
        f"{escaped(attribute.name)}: scikit-learn’s bins refuse {escaped(label)}; rows with it get no answer"
        for attribute, column in zip(spec.attributes, columns, strict=True)
        for label in column.left_out
    )


@dataclass(frozen=True)
class _Column:
    """How an attribute of a scorecard stands in data: its categories or edges, and the weight of each."""

    categories: tuple[object, ...]
    edges: NDArray[np.float64] | None
    weights: tuple[Decimal, ...]
    left_out: tuple[str, ...]

    @property
    def sample(self) -> tuple[object, object]:
        """Two cells that it can be fitted on."""
        return (0.0, 1.0) if self.edges is not None else (self.categories[0],) * 2

    @classmethod
    def of(cls, attribute: ScorecardAttribute) -> Self:
        """Tell the cells of an attribute.

        Raises
        ------
        InputError
            If its values are ranges that leave numbers out.
        """
        ranges = [value for value in attribute.values if are_intervals([value.value])]
        bins = Bins.of([value.value for value in ranges])
        if bins is not None:
            edges = [float(edge) for edge in bins.edges]
            if bins.closed == "right":
                edges = [math.nextafter(edge, math.inf) for edge in edges]
            return cls(
                (),
                np.array([-math.inf, *edges, math.inf]),
                tuple(value.number for value in ranges),
                tuple(value.label for value in attribute.values if value not in ranges),
            )
        if ranges:
            raise InputError(
                f"{escaped(attribute.name)}: the ranges of its values leave numbers out, which bins of "
                "scikit-learn can't; convert to PMML instead"
            )
        cells: list[tuple[object, Decimal]] = [
            (cell, value.number)
            for value in attribute.values
            if value.bin != "missing"
            for cell in value.categories or (value.value,)
        ]
        # scikit-learn's encoder takes NaN for missing cells, and wants it as the last category.
        cells += [(math.nan, value.number) for value in attribute.values if value.bin == "missing"]
        return cls(tuple(cell for cell, _ in cells), None, tuple(number for _, number in cells), ())


def _encoder(columns: Sequence[_Column], binned: bool) -> Any:
    from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

    if binned:
        sizes = [len(column.weights) for column in columns]
        return KBinsDiscretizer(sizes, encode="onehot-dense", strategy="uniform")
    return OneHotEncoder(
        categories=[np.array(column.categories, dtype=object) for column in columns], sparse_output=False
    )
