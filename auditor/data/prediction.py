"""How well predicted probabilities fit what was decided: accuracy, AUC, log-loss and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Different predictions that are kept apart; beyond, they are rounded to `_ROUNDING` decimals.
_KEPT = 1_000_000
_ROUNDING = 6

#: Bins of equal width in which calibration is measured.
_CALIBRATION_BINS = 10


class CalibrationBin(NamedTuple):
    """Rows with a prediction from `low` to below `high` (the last bin has both ends)."""

    low: float
    high: float
    rows: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class Performance:
    """Measures on rows that the model has not seen.

    Attributes
    ----------
    rows : int
        Rows that were predicted.
    impossible : int
        Rows left out, since the model gives each decision the probability 0.
    accuracy : float
        Share of rows whose decision is the more probable one; at exactly 1/2 that is the unfavourable one.
    auc : float
        Area under the ROC curve: the probability that of two rows, one of each decision, the favourable one
        has the higher prediction, where equal ones count half.
    log_loss : float
        Mean of −ln P(what was decided); infinite if that was 0 once.
    calibration : tuple of CalibrationBin
    calibration_error : float
        Mean |predicted − observed| over the bins, weighted by rows.
    """

    rows: int
    impossible: int
    accuracy: float
    auc: float
    log_loss: float
    calibration: tuple[CalibrationBin, ...]
    calibration_error: float


class Scores:
    """Collects log odds of the favourable decision, and how often each of them was right."""

    def __init__(self) -> None:
        self._odds: NDArray[np.float64] = np.zeros(0)
        self._rows: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
        self._impossible = 0

    def add(self, odds: NDArray[np.float64], favourable: NDArray[np.bool_]) -> None:
        """Add rows: their log odds, NaN for an impossible one, and what was decided."""
        possible = ~np.isnan(odds)
        self._impossible += int((~possible).sum())
        odds, favourable = odds[possible], favourable[possible]
        rows = np.stack([favourable, ~favourable], axis=1).astype(np.int64)
        self._merge(np.append(self._odds, odds), np.vstack([self._rows, rows]))
        if len(self._odds) > _KEPT:
            self._merge(np.round(self._odds, _ROUNDING), self._rows)

    def _merge(self, odds: NDArray[np.float64], rows: NDArray[np.int64]) -> None:
        self._odds, place = np.unique(odds, return_inverse=True)
        self._rows = np.stack(
            [np.bincount(place, rows[:, side], len(self._odds)) for side in (0, 1)], axis=1
        ).astype(np.int64)

    def performance(self) -> Performance:
        """Measure."""
        odds, rows = self._odds, self._rows
        good, bad = rows[:, 0], rows[:, 1]
        total = int(rows.sum())
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            # ln P(d) = −ln(1 + exp(−odds)), computed so that neither side overflows.
            losses = np.stack([np.logaddexp(0, -odds), np.logaddexp(0, odds)], axis=1)
            probability = np.exp(-losses[:, 0])
            loss = float(losses[rows > 0] @ rows[rows > 0]) / total if total else float("nan")
        below = np.cumsum(bad) - bad
        pairs = int(good.sum()) * int(bad.sum())
        auc = float(good @ (below + bad / 2)) / pairs if pairs else float("nan")
        right = int(good[odds > 0].sum() + bad[odds <= 0].sum())
        place = np.minimum((probability * _CALIBRATION_BINS).astype(int), _CALIBRATION_BINS - 1)
        bins = []
        for i in range(_CALIBRATION_BINS):
            chosen = place == i
            if number := int(rows[chosen].sum()):
                predicted = float(probability[chosen] @ rows[chosen].sum(axis=1)) / number
                observed = float(good[chosen].sum()) / number
                bins.append(
                    CalibrationBin(
                        i / _CALIBRATION_BINS, (i + 1) / _CALIBRATION_BINS, number, predicted, observed
                    )
                )
        error = sum(b.rows * abs(b.predicted - b.observed) for b in bins)
        return Performance(
            rows=total,
            impossible=self._impossible,
            accuracy=right / total if total else float("nan"),
            auc=auc,
            log_loss=loss,
            calibration=tuple(bins),
            calibration_error=error / total if total else float("nan"),
        )
