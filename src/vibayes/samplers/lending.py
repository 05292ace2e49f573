"""How much heavier a model is than one it contains, without weighing either.

Let a point s of the smaller model be lent to the larger: what both have is kept, the rest is drawn from the prior, and
what is in order is sorted. A point l of the larger model can be returned in several ways, one for each choice of what
was lent; a draw of the prior, returned in a way drawn at random, is a draw of the smaller model's prior. So with K the
weights of distances (`kernel`), masses m under them, and any function g of a pair,

    m_small · E( K(l) g(s, l) | s )  =  m_large · E( mean over the ways of K(s) g(s, l) | l ),

where the first average is over draws s of the smaller model and what is lent to them, the second over draws l of the
larger. With g = 1 / (K(s) + K(l)) both are bounded, as in bridge sampling (Meng & Wong 1996).

A spring with a break point where the motion never goes is one without it, and so most pairs have equal weights. Both
averages are then near a half and known well, however thin the sets are and however roughly either mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from vibayes.samplers.kernel import Kernel
from vibayes.samplers.shapes import Candidate, Draws

_LENT = 400
"""Draws that are lent, and that are returned."""
_TIMES = 8
"""That a point is lent."""
_ALIKE = Kernel()
"""All within the limits."""


class Ratio(NamedTuple):
    """Logarithm of the larger mass over the smaller, and its standard error."""

    log: float
    error: float


def mass_ratio(
    rng: np.random.Generator,
    large: Candidate,
    small: Candidate,
    of_large: Draws,
    of_small: Draws,
    limits: tuple[float, float],
    kernel: Kernel = _ALIKE,
) -> Ratio | None:
    """None if the models do not contain one another, or their sets have nothing in common.

    Args:
        rng: source of chance.
        large: the larger model.
        small: the smaller one.
        of_large: its draws, within its limit of distance.
        of_small: likewise.
        limits: of the larger and of the smaller model.
        kernel: how much distances within them count.
    """
    if not (len(of_large.points) and len(of_small.points)):
        return None
    chosen, shares = _resampled(rng, of_large)
    returned = large.returned(small, of_large.points[chosen])
    if returned is None:
        return None
    here = kernel.log_weights(of_large.distances[chosen])
    ways = [expit(_log_weights(small, each, limits[1], kernel) - here) for each in returned]
    back = _average(np.mean(ways, axis=0), shares)
    chosen, shares = _resampled(rng, of_small)
    # A heavy draw is lent more often, so that its chance is known the better.
    times = np.maximum(np.round(shares * _LENT).astype(int), 1) * _TIMES
    here = np.repeat(kernel.log_weights(of_small.distances[chosen]), times)
    lent = large.adopt(rng, small, np.repeat(of_small.points[chosen], times, axis=0))
    lent = expit(_log_weights(large, lent, limits[0], kernel) - here)
    forth = _average(np.add.reduceat(lent, np.cumsum(times) - times) / times, shares)
    if not (back[0] > 0 and forth[0] > 0):
        return None
    return Ratio(float(np.log(forth[0] / back[0])), float(np.hypot(forth[1], back[1])))


def _log_weights(candidate: Candidate, points: np.ndarray, limit: float, kernel: Kernel) -> np.ndarray:
    """Of points, by their distances; minus infinity where they are not allowed or beyond the limit."""
    allowed = candidate.allowed(points)
    distances = np.full(len(points), np.inf)
    distances[allowed] = candidate.judge(points[allowed], limit)
    inside = distances <= limit
    logs = np.full(len(points), -np.inf)
    logs[inside] = kernel.log_weights(distances[inside])
    return logs


def _resampled(rng: np.random.Generator, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of some of the draws, none twice, and the shares they stand for."""
    steps = (np.arange(_LENT) + rng.random()) / _LENT
    order = rng.permutation(len(draws.weights))
    chosen = np.searchsorted(np.cumsum(draws.weights[order]) / draws.weights.sum(), steps)
    chosen, counts = np.unique(order[np.minimum(chosen, len(order) - 1)], return_counts=True)
    return chosen, counts / _LENT


def _average(values: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Of weighted draws, and its relative standard error."""
    mean = float(shares @ values)
    return mean, float(np.sqrt(np.sum((shares * (values - mean)) ** 2)) / mean) if mean else np.inf
