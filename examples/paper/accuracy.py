"""Ten-fold accuracy of the unconstrained, two naive Bayes, repaired and δ-fair models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mean, stdev

import numpy as np

from examples.paper.baselines import SCOPES, repaired_data, two_naive_bayes
from examples.paper.data import Data, Mask, accuracy
from examples.paper.learning import learn_fair

FOLDS = 10
SMOOTHING = 1


@dataclass(frozen=True)
class Spread:
    """Accuracies on the folds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their mean."""
        return mean(self.values)

    @property
    def deviation(self) -> float:
        """Their standard deviation."""
        return stdev(self.values)

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.deviation:.3f}"


@dataclass(frozen=True)
class Accuracies:
    """What the methods come to on the same folds.

    Attributes
    ----------
    majority : float
        Share of the more frequent decision, which predicting it always would be right on.
    two_naive_bayes : dict
        By the name of the sensitive attribute that it takes.
    repaired : dict
        By the scope of the repair, of decisions as they are in the repaired table, λ = 1.
    repaired_training : dict
        The same, measured on rows that aren't repaired.
    """

    majority: float
    unconstrained: Spread
    fair: Spread
    two_naive_bayes: dict[str, Spread]
    repaired: dict[str, Spread]
    repaired_training: dict[str, Spread]


def ten_folds(data: Data, delta: str = "0.1", seed: int = 0) -> Accuracies:
    """Cross-validate all methods on folds drawn once, with Laplace smoothing."""
    random = np.random.Generator(np.random.PCG64(seed))
    fold = random.permutation(np.arange(len(data.codes)) % FOLDS)
    tests = [fold == number for number in range(FOLDS)]

    def trained(source: Data, test: Mask) -> Data:
        return replace(source, codes=source.codes[~test], favourable=source.favourable[~test])

    def unconstrained(train: Data, test: Data, rows: Mask) -> float:
        model = trained(train, rows).counts(SMOOTHING).model
        return accuracy(model, test.codes[rows], test.favourable[rows])

    def fair(rows: Mask) -> float:
        model = learn_fair(trained(data, rows).counts(SMOOTHING), delta).model
        return accuracy(model, data.codes[rows], data.favourable[rows])

    def two(attribute: int, rows: Mask) -> float:
        model = two_naive_bayes(trained(data, rows), attribute, SMOOTHING)
        return model.accuracy(data.codes[rows], data.favourable[rows])

    repaired = {scope: repaired_data(data, 1.0, scope) for scope in SCOPES}
    share = float(data.favourable.mean())
    return Accuracies(
        majority=max(share, 1 - share),
        unconstrained=Spread(tuple(unconstrained(data, data, rows) for rows in tests)),
        fair=Spread(tuple(fair(rows) for rows in tests)),
        two_naive_bayes={
            data.model.attributes[i].name: Spread(tuple(two(i, rows) for rows in tests))
            for i in data.sensitive
        },
        repaired={
            scope: Spread(tuple(unconstrained(table, table, rows) for rows in tests))
            for scope, table in repaired.items()
        },
        repaired_training={
            scope: Spread(tuple(unconstrained(table, data, rows) for rows in tests))
            for scope, table in repaired.items()
        },
    )
