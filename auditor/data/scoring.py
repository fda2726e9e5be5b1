"""How well models predict what was decided: accuracy, AUC, log-loss, calibration; shares and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from auditor.errors import InputError
from auditor.model.additive import AdditiveModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from auditor.data.counted import Counted
    from auditor.data.tables import Progress, Rows
    from auditor.model.classifier import Classifier

#: The 97.5% quantile of the standard normal distribution, for two-sided 95% intervals.
_Z = 1.959963984540054

#: Different predictions that are kept apart; beyond, they are rounded to `_ROUNDING` decimals.
_KEPT = 1_000_000
_ROUNDING = 6

#: Log odds up to this may be those of even odds, rounded.
_TIE = 1e-12

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
    """Measures on rows that the model has not seen."""

    rows: int
    """Rows that were predicted."""
    impossible: int
    """Rows left out, since the model gives each decision the probability 0."""
    accuracy: float
    """Share of rows whose decision is the more probable one; at exactly 1/2 that is the unfavourable one."""
    auc: float
    """Area under the ROC curve: the probability that of two rows, one of each decision, the favourable one
    has the higher prediction, where equal ones count half.
    """
    log_loss: float
    """Mean of −ln P(what was decided); infinite if that was 0 once."""
    calibration: tuple[CalibrationBin, ...]
    calibration_error: float
    """Mean |predicted − observed| over the bins, weighted by rows."""


class Scores:
    """Collects log odds of the favourable decision, and how often each of them was right."""

    def __init__(self) -> None:
        self._odds: NDArray[np.float64] = np.zeros(0)
        self._rows: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
        self._impossible = 0

    def add(
        self, odds: NDArray[np.float64], favourable: NDArray[np.bool_], number: NDArray[np.int64]
    ) -> None:
        """Add rows: their log odds, NaN for impossible ones, what was decided, and how many they are."""
        possible = ~np.isnan(odds)
        self._impossible += int(number[~possible].sum())
        odds, favourable, number = odds[possible], favourable[possible], number[possible]
        rows = np.stack([favourable, ~favourable], axis=1) * number[:, None]
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
        right = int(good[odds > _TIE].sum() + bad[odds <= _TIE].sum())
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


def wilson(count: int, people: int) -> tuple[float, float]:
    """Return the 95% Wilson score interval of a share of people, of whom there are some.

    The interval has the shares p at which the observed one is at most z standard errors away, where the
    standard error is that of p: ``(p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)``.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    share, square = count / people, _Z**2 / people
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    # If nobody or everybody is counted, one end is exactly 0 or 1, which rounding could miss.
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == people else min(1.0, middle + half)
    return low, high


def log_odds(model: Classifier) -> tuple[float, list[NDArray[np.float64]]]:
    """Return the log odds of nothing observed, and what each value adds to them, with 0 for a missing cell.

    Of naive Bayes they are ``ln P(d)/P(d̄)`` and ``ln P(v|d)/P(v|d̄)``.
    """
    # Values of the same ratio have the same log odds to the last bit.
    if isinstance(model, AdditiveModel):
        unit, start, moves = model.in_units
        base = math.log(2) if model.base == "2" else 1.0
        rows = [np.array([*(float(Fraction(move, unit)) * base for move in row), 0.0]) for row in moves]
        return _log(model.odds, Fraction(1)) + float(Fraction(start, unit)) * base, rows
    odds = [np.array([*(_log(p, q) for p, q in a.likelihood), 0.0]) for a in model.attributes]
    return _log(model.prior, 1 - model.prior), odds


def predicted(
    prior: float, odds: Sequence[NDArray[np.float64]], codes: Sequence[NDArray[np.integer[Any]]]
) -> NDArray[np.float64]:
    """Return the log odds of each row; NaN where the model rules out both decisions."""
    total = np.full(len(codes[0]), prior)
    with np.errstate(invalid="ignore"):
        for row, code in zip(odds, codes, strict=True):
            total += row[code]
    return total


def _log(favourable: Fraction, unfavourable: Fraction) -> float:
    """Ln p/q, also where both are too small for a float; ±∞ where one of them is 0."""
    if not favourable or not unfavourable:
        return math.inf if favourable else -math.inf
    ratio = favourable / unfavourable
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def cross_measured(counted: Counted, progress: Progress) -> Performance | None:
    """Predict each row of a measured part by a model that is counted from the other parts.

    The parts are drawn with the seed, row by row of the sorted table: they don't depend on its order.

    Raises
    ------
    InputError
        If a part has all rows of a decision.
    """
    options, columns = counted.options, counted.columns
    if not (options.folds or options.holdout):
        return None
    parts = options.folds or 2
    shares = np.array(
        [1 / parts] * parts if options.folds else [options.holdout, 1 - (options.holdout or 0)], dtype=float
    )
    codes = {options.decision: counted.decision_codes} | {c.name: c.codes for c in columns}
    rows = list(counted.table.rows(codes, progress))

    def drawn() -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """Pass on the rows with a decision, and how many of each fall into each part."""
        random = np.random.Generator(np.random.PCG64(options.seed))
        for piece in rows:
            yield piece, random.multinomial(piece.rows, shares) * (piece.codes[0] >= 0)[:, None]

    decided = np.zeros((parts, 2), dtype=np.int64)
    by_part = [np.zeros((len(c.values) + 1, parts, 2), dtype=np.int64) for c in columns]
    for piece, number in drawn():
        side, *places = piece.codes
        for i in (0, 1):
            decided[:, i] += number[side == i].sum(axis=0)
            for table, place in zip(by_part, places, strict=True):
                np.add.at(table[..., i], place[side == i], number[side == i])
    measured = range(parts) if options.folds else range(1)
    others = decided.sum(axis=0) - decided
    if not others[measured].all():
        raise InputError(
            f"{counted.table.name}: too few rows to measure: without one part only one decision is left; "
            "use fewer folds or a smaller holdout"
        )
    alpha = float(options.smoothing)
    tables = []
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log(others[:, 0]) - np.log(others[:, 1])
        for counts in by_part:
            left = (counts.sum(axis=1, keepdims=True) - counts)[:-1] + alpha
            logs = np.log(left) - np.log(left.sum(axis=0))
            # A row per part: the log odds of each value, and at the end 0 for a missing cell. NaN: neither
            # decision has the value.
            odds = (logs[..., 0] - logs[..., 1]).T
            tables.append(np.hstack([odds, np.zeros((parts, 1))]))
    scores = Scores()
    for piece, number in drawn():
        side, *places = piece.codes
        for part in measured:
            inside = number[:, part] > 0
            found = predicted(prior[part], [t[part] for t in tables], [place[inside] for place in places])
            scores.add(found, side[inside] == 0, number[inside, part])
    return scores.performance()
