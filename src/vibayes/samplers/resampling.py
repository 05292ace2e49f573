"""Drawing particles anew: each of N as often as N times its weight says, on average and no further off than need be.

With marks at heights u_i of the weights' running sum, ways differ in how the marks are spread over [0, 1):

    multinomial   u_i independent,        stratified   u_i in [i/N, (i+1)/N),        systematic   u_i = (i + u)/N,

and `residual` keeps the whole part of N w of each and draws the rest. Numbers are returned in order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Resampling = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def systematic(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """One random shift of equal distances: each particle is drawn N w times, rounded up or down.

    Examples:
        >>> systematic(np.random.default_rng(0), np.array([0.5, 0.25, 0.0, 0.25])).tolist()
        [0, 0, 1, 3]
    """
    return _at(weights, (np.arange(len(weights)) + rng.random()) / len(weights))


def stratified(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """A mark at random in each N-th of the weights.

    Examples:
        >>> stratified(np.random.default_rng(0), np.array([0.5, 0.25, 0.0, 0.25])).tolist()
        [0, 0, 1, 3]
    """
    return _at(weights, (np.arange(len(weights)) + rng.random(len(weights))) / len(weights))


def multinomial(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Independent draws.

    Examples:
        >>> multinomial(np.random.default_rng(0), np.array([1.0, 0.0])).tolist()
        [0, 0]
    """
    return _at(weights, np.sort(rng.random(len(weights))))


def residual(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """The whole part of N w of each, and the rest by independent draws of what is left of the weights.

    Examples:
        >>> residual(np.random.default_rng(0), np.array([0.5, 0.25, 0.0, 0.25])).tolist()
        [0, 0, 1, 3]
    """
    count = len(weights)
    due = count * weights / weights.sum()
    whole = np.floor(due + 1e-12 * count).astype(int)
    left = count - int(whole.sum())
    kept = np.repeat(np.arange(count), whole)
    if left <= 0:
        return kept[:count]
    return np.sort(np.concatenate([kept, _at(np.maximum(due - whole, 0.0), rng.random(left))]))


def _at(weights: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Particles whose part of the running sum holds each mark."""
    heights = np.cumsum(weights)
    return np.searchsorted(heights, marks * heights[-1], side="right").clip(max=len(weights) - 1)
