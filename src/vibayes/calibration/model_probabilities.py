"""Whether probabilities of models are right: a model that has probability p is the true one in a share p of cases.

With probabilities p_m of the models and the true one t, the Brier score of a record is Σ_m ([m = t] − p_m)², from 0,
certain and right, to 2, certain and wrong. If probabilities are right, t is a draw of them, and the mean score over all
records has a distribution that follows from the probabilities alone (Spiegelhalter 1986); scores beyond it are of
probabilities that are too sure, those below it of probabilities that are too cautious.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_DRAWS = 9999
"""Sets of true models by which the distribution of the score is found."""
_BINS = 10
_SURE = 0.9


@dataclass(frozen=True)
class Bin:
    """Probabilities between two bounds: how many there were, their mean, and how often the model was the true one."""

    low: float
    high: float
    count: int
    mean: float
    share: float


def brier(probabilities: np.ndarray, true: np.ndarray) -> float:
    """Mean Brier score; NaN of no records.

    Examples:
        >>> import numpy as np
        >>> round(brier(np.array([[0.8, 0.2]]), np.array([0])), 12)
        0.08
    """
    return float(np.mean(_scores(probabilities, true))) if len(true) else float("nan")


def expected_brier(probabilities: np.ndarray) -> float:
    """Mean Brier score if the probabilities are right."""
    return float(np.mean(1.0 - np.sum(probabilities**2, axis=1))) if len(probabilities) else float("nan")


def brier_p(probabilities: np.ndarray, true: np.ndarray) -> float:
    """Probability that the score is as far from what is expected, on either side, if the probabilities are right."""
    if not len(true):
        return float("nan")
    rng = np.random.default_rng(0)
    edges = np.cumsum(probabilities, axis=1)
    drawn = np.stack([np.sum(rng.random((_DRAWS, 1)) > each[:-1], axis=1) for each in edges], axis=1)
    # Of a record only what the true model has depends on which it is: the score is 1 − 2 p_t + Σ p².
    gained = np.take_along_axis(probabilities[None], drawn[..., None], axis=2)[..., 0].sum(axis=1)
    found = probabilities[np.arange(len(true)), true].sum()
    # To rounding, for sums of the same numbers in another order are equal.
    slack = 1e-9 * len(true)
    tails = np.sum(gained <= found + slack), np.sum(gained >= found - slack)
    return float(min(1.0, 2.0 * (1 + min(tails)) / (1 + _DRAWS)))


def reliability(probabilities: np.ndarray, true: np.ndarray) -> tuple[Bin, ...]:
    """Probabilities of all models and records in tenths, beside how often the model was the true one.

    Examples:
        >>> import numpy as np
        >>> found = reliability(np.array([[0.95, 0.05], [0.45, 0.55]]), np.array([0, 0]))
        >>> [(each.count, each.share) for each in found if each.count]
        [(1, 0.0), (1, 1.0), (1, 0.0), (1, 1.0)]
    """
    given = probabilities.ravel()
    right = (np.arange(probabilities.shape[1]) == true[:, None]).ravel()
    which = np.minimum((given * _BINS).astype(int), _BINS - 1)
    table = []
    for number in range(_BINS):
        mine = which == number
        mean, share = (float(each[mine].mean()) if mine.any() else float("nan") for each in (given, right))
        table.append(Bin(number / _BINS, (number + 1) / _BINS, int(mine.sum()), mean, share))
    return tuple(table)


def sure(probabilities: np.ndarray, true: np.ndarray) -> tuple[int, float]:
    """Records of which one model has more than 0.9, and the share of them in which it is the true one."""
    best = np.argmax(probabilities, axis=1) if len(true) else np.zeros(0, int)
    mine = probabilities[np.arange(len(true)), best] > _SURE
    return int(mine.sum()), float(np.mean(best[mine] == true[mine])) if mine.any() else float("nan")


def _scores(probabilities: np.ndarray, true: np.ndarray) -> np.ndarray:
    right = np.arange(probabilities.shape[1]) == true[:, None]
    return np.sum((right - probabilities) ** 2, axis=1)
