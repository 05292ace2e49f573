"""How much heavier a model is than one it contains, without weighing either.

Let a point of the smaller model be lent to the larger: what both have is kept, the rest is drawn from the prior. With S
the sets within the threshold, masses of the prior m, and n the number of ways in which a point of the larger model can
be returned into the set of the smaller, counting the pairs (lender in S_small, borrower in S_large) either way gives

    m_small · P( borrower in S_large | lender in S_small )  =  m_large · E( n | point in S_large ).

A spring with a break point where the motion never goes is one without it, and so most points of one set go with points
of the other. Both averages are then near one and known well, however thin the sets are and however roughly either mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vibayes.samplers.shapes import Candidate, Draws

_LENT = 400
"""Points that are lent, and that are returned."""
_TIMES = 8
"""That a point is lent."""


class Ratio(NamedTuple):
    """Logarithm of the larger mass over the smaller, and its standard error."""

    log: float
    error: float


def mass_ratio(
    rng: np.random.Generator, large: Candidate, small: Candidate, of_large: Draws, of_small: Draws, threshold: float
) -> Ratio | None:
    """None if the models do not contain one another, or their sets have nothing in common."""
    if not (len(of_large.points) and len(of_small.points)):
        return None
    points, shares = _resampled(rng, of_large)
    returned = large.returned(small, points)
    if returned is None:
        return None
    ways = [_inside(small, each, threshold) for each in returned]
    back = _average(np.sum(ways, axis=0), shares)
    points, shares = _resampled(rng, of_small)
    # A heavy draw is lent more often, so that its chance is known the better.
    times = np.maximum(np.round(shares * _LENT).astype(int), 1) * _TIMES
    lent = _inside(large, large.adopt(rng, small, np.repeat(points, times, axis=0)), threshold)
    forth = _average(np.add.reduceat(lent.astype(float), np.cumsum(times) - times) / times, shares)
    if not (back[0] > 0 and forth[0] > 0):
        return None
    return Ratio(float(np.log(forth[0] / back[0])), float(np.hypot(forth[1], back[1])))


def _inside(candidate: Candidate, points: np.ndarray, threshold: float) -> np.ndarray:
    inside = candidate.allowed(points)
    inside[inside] = candidate.judge(points[inside], threshold) <= threshold
    return inside


def _resampled(rng: np.random.Generator, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Some of the draws, none twice, and the shares they stand for."""
    steps = (np.arange(_LENT) + rng.random()) / _LENT
    order = rng.permutation(len(draws.weights))
    chosen = np.searchsorted(np.cumsum(draws.weights[order]) / draws.weights.sum(), steps)
    chosen, counts = np.unique(order[np.minimum(chosen, len(order) - 1)], return_counts=True)
    return draws.points[chosen], counts / _LENT


def _average(values: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Of weighted draws, and its relative standard error."""
    mean = float(shares @ values)
    return mean, float(np.sqrt(np.sum((shares * (values - mean)) ** 2)) / mean) if mean else np.inf
