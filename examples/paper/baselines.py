"""Two baselines: data repair (Feldman et al. 2015) and two naive Bayes (Calders and Verwer 2010)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from auditor.model.naive_bayes import NaiveBayes
from auditor.search.additive.tables import tables_of
from examples.paper.data import Codes, Data, Mask, count

Floats = npt.NDArray[np.float64]

#: What is repaired beside the attributes that aren't sensitive.
Scope = Literal["attributes", "sensitive too", "decision too"]
SCOPES: tuple[Scope, ...] = ("attributes", "sensitive too", "decision too")


def repaired_data(data: Data, strength: float, scope: Scope, seed: int = 0) -> Data:
    """Repair a table: the distribution of each column becomes alike in all sensitive groups.

    Feldman, Friedler, Moeller, Scheidegger and Venkatasubramanian, *Certifying and Removing Disparate Impact*
    (KDD 2015), for categorical columns. A stratum is a combination of all sensitive values. In each, the
    share of a value moves from what it is, p, to ``(1 - λ) p + λ t``, where t is the median of p over the
    strata that occur (scaled to add up to 1). Rows with surplus values, drawn at random, take the values that
    lack some; the numbers of rows are rounded by largest remainders. At λ = 1 no column tells the stratum, up
    to that rounding. Columns are repaired one by one, as there; what they say together is not.

    Parameters
    ----------
    data : Data
    strength : float
        λ, from 0 to 1.
    scope : {"attributes", "sensitive too", "decision too"}
        That method leaves the sensitive columns and the decision as they are. "sensitive too" moves each
        sensitive column towards its mode in the same way, as code by its authors does with the column that
        it removes; "decision too" repairs the decision like the attributes.
    seed : int
        Draws the rows.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    sizes = [len(attribute.values) for attribute in data.model.attributes]
    strata = np.zeros(len(data.codes), dtype=np.int64)
    for i in data.sensitive:
        strata = strata * sizes[i] + data.codes[:, i]
    codes, favourable = data.codes.copy(), data.favourable
    for i, size in enumerate(sizes):
        if i not in data.sensitive:
            codes[:, i] = repaired_column(data.codes[:, i], strata, size, strength, random)
        elif scope == "sensitive too":
            column = data.codes[:, i]
            mode = np.zeros(size)
            mode[int(np.bincount(column, minlength=size).argmax())] = 1
            codes[:, i] = _moved(column, _towards(_shares(column, size), mode, strength), random)
    if scope == "decision too":
        decision = data.favourable.astype(np.int64)
        favourable = repaired_column(decision, strata, 2, strength, random) == 1
    model = count(data.model, codes, favourable).model
    return replace(data, model=model, codes=codes, favourable=favourable)


def repaired_column(
    column: Codes, strata: Codes, size: int, strength: float, random: np.random.Generator
) -> Codes:
    """Move the distribution of a column in each stratum towards the median of them."""
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    shares = np.stack([_shares(column[group], size) for group in groups])
    target = np.median(shares, axis=0)
    # Of three values and more, the medians need not add up to 1; they may all be 0.
    target = target / target.sum() if target.any() else shares.mean(axis=0)
    repaired = column.copy()
    for group, share in zip(groups, shares, strict=True):
        repaired[group] = _moved(column[group], _towards(share, target, strength), random)
    return repaired


def _shares(column: Codes, size: int) -> Floats:
    return np.bincount(column, minlength=size) / len(column)


def _towards(share: Floats, target: Floats, strength: float) -> Floats:
    return (1 - strength) * share + strength * target


def _moved(column: Codes, share: Floats, random: np.random.Generator) -> Codes:
    """Change as few rows as bring the column's values to the shares."""
    exact = share * len(column)
    # What is whole but for the last digits is whole.
    wanted = np.floor(exact + 1e-9).astype(np.int64)
    rest = np.argsort(-(exact - wanted), kind="stable")[: len(column) - int(wanted.sum())]
    wanted[rest] += 1
    surplus = np.bincount(column, minlength=len(share)) - wanted
    leaving = [
        random.permutation(np.flatnonzero(column == value))[: max(0, int(surplus[value]))]
        for value in range(len(share))
    ]
    moved = column.copy()
    places = random.permutation(np.concatenate(leaving))
    moved[places] = np.repeat(np.arange(len(share)), np.maximum(0, -surplus))
    return moved


@dataclass(frozen=True)
class TwoNaiveBayes:
    """A naive Bayes model per value of a binary sensitive attribute.

    Attributes
    ----------
    attribute : int
    models : tuple of NaiveBayes
        Per value v, with the prior ``P(d | v)`` and the likelihoods of the rows with v.
    prior_log_odds : tuple of float
        Those that replace the models' priors.
    steps : int
        Changes to the counts of the decision until there was no difference.
    discrimination : float
        Difference in favourable predictions between the values on the training rows that is left.
    """

    attribute: int
    models: tuple[NaiveBayes, NaiveBayes]
    prior_log_odds: tuple[float, float]
    steps: int
    discrimination: float

    def accuracy(self, codes: Codes, favourable: Mask) -> float:
        """Share of rows whose decision is predicted right."""
        predicted = np.zeros(len(codes), dtype=np.bool_)
        for value, (model, prior) in enumerate(zip(self.models, self.prior_log_odds, strict=True)):
            rows = codes[:, self.attribute] == value
            predicted[rows] = _evidence(model, codes[rows], self.attribute) + prior > 0
        return float((predicted == favourable).mean())


#: Share of the other count that a step moves, and the most steps.
_STEP, _MOST_STEPS = 0.01, 100_000


def two_naive_bayes(data: Data, attribute: int, smoothing: int) -> TwoNaiveBayes:
    """Learn a model per value of one sensitive attribute, and balance their favourable predictions.

    Calders and Verwer, *Three naive Bayes approaches for discrimination-free classification* (Data Mining and
    Knowledge Discovery 21, 2010): the counts of decision and sensitive value are changed by a hundredth of
    the opposite one, in the direction that keeps the number of favourable predictions near that of favourable
    rows, until the value that had fewer favourable decisions no longer has fewer favourable predictions.
    """
    column = data.codes[:, attribute]
    models, evidence, numbers = [], [], np.zeros((2, 2))
    for value in (0, 1):
        rows = column == value
        favourable = data.favourable[rows]
        model = count(data.model, data.codes[rows], favourable, smoothing).model
        models.append(model)
        evidence.append(np.sort(_evidence(model, data.codes[rows], attribute)))
        numbers[value] = favourable.sum(), (~favourable).sum()
    size = numbers.sum(axis=1)
    better = int(np.argmax(numbers[:, 0] / size))
    worse = 1 - better
    wanted = float(numbers[:, 0].sum())

    def predictions() -> Floats:
        prior = np.log(numbers[:, 0] / numbers[:, 1])
        return np.array(
            [len(e) - np.searchsorted(e, -p, side="right") for e, p in zip(evidence, prior, strict=True)],
            dtype=np.float64,
        )

    steps = 0
    while True:
        positive = predictions()
        difference = float(positive[better] / size[better] - positive[worse] / size[worse])
        if difference <= 0 or steps == _MOST_STEPS:
            break
        changed = numbers.copy()
        if positive.sum() < wanted:
            moved = _STEP * numbers[better, 1]
            changed[worse] += moved, -moved
        else:
            moved = _STEP * numbers[worse, 0]
            changed[better] += -moved, moved
        if changed.min() <= 0:
            break
        numbers = changed
        steps += 1
    first, second = np.log(numbers[:, 0] / numbers[:, 1]).tolist()
    return TwoNaiveBayes(attribute, (models[0], models[1]), (first, second), steps, difference)


def _evidence(model: NaiveBayes, codes: Codes, without: int) -> Floats:
    """Log-odds of the favourable decision from all attributes but one."""
    tables = tables_of(model)
    odds = np.zeros(len(codes))
    for i, row in enumerate(tables.values):
        if i != without:
            odds += np.array([tables.real(units) for units in row])[codes[:, i]]
    return odds
