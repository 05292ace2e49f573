"""A proposal that follows the shape of a cloud of points, however bent or broken into pieces: around each point a
Gaussian as wide as the neighbourhood of the point, and with some probability a wider one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_ROUNDING = 1e-12
_FLAT = 1e-8
"""Share of a neighbourhood's mean variance that every direction has at least, lest duplicates make it singular."""
_ROWS = 256
"""Points whose density is computed at once: the table of all would not fit the cache."""
SCALES = np.array([1.0, 3.0])
SHARES = np.array([0.7, 0.3])


class Cloud(NamedTuple):
    """A mixture of Gaussians, in coordinates that make the whole cloud round."""

    centres: np.ndarray
    shares: np.ndarray
    shapes: np.ndarray
    """Cholesky factors, one per centre."""
    frame: np.ndarray
    """Cholesky factor of the whole cloud: coordinates = frame · round ones."""

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent draws."""
        which = rng.choice(len(self.centres), count, p=self.shares)
        steps = rng.normal(size=(count, self.centres.shape[1])) * rng.choice(SCALES, count, p=SHARES)[:, None]
        return (self.centres[which] + np.einsum("nij,nj->ni", self.shapes[which], steps)) @ self.frame.T

    def log_density(self, points: np.ndarray, before_rows: Callable[[], None] = lambda: None) -> np.ndarray:
        """Logarithm of the density; something else may be done before each of its parts."""
        count, size = self.centres.shape
        inverses = np.linalg.inv(self.shapes)
        flat = inverses.reshape(count * size, size).T
        origin = np.einsum("nij,nj->ni", inverses, self.centres).ravel()
        heights = np.log(self.shares) + np.log(np.diagonal(inverses, axis1=1, axis2=2)).sum(axis=1)
        constant = -0.5 * size * np.log(2.0 * np.pi) - np.log(np.diag(self.frame)).sum()
        rounded = np.linalg.solve(self.frame, points.T).T
        answer = np.empty(len(points))
        for first in range(0, len(points), _ROWS):
            before_rows()
            rows = rounded[first : first + _ROWS]
            squares = ((rows @ flat - origin) ** 2).reshape(len(rows), count, size).sum(axis=2)
            terms = [np.log(p / s**size) - 0.5 * squares / s**2 for s, p in zip(SCALES, SHARES, strict=True)]
            exponents = heights + np.logaddexp(*terms)
            top = exponents.max(axis=1, keepdims=True)
            answer[first : first + _ROWS] = np.log(np.exp(exponents - top).sum(axis=1)) + top[:, 0]
        return answer + constant


def cloud(points: np.ndarray, weights: np.ndarray, width: float, neighbours: int) -> Cloud:
    """Gaussians ``width`` times as wide as the spread of each point's nearest neighbours."""
    count, size = points.shape
    shares = weights / weights.sum()
    away = points - shares @ points
    covariance = (away * shares[:, None]).T @ away
    scale = np.sqrt(np.diag(covariance)) + _ROUNDING
    frame = scale[:, None] * np.linalg.cholesky(covariance / scale / scale[:, None] + _ROUNDING * np.eye(size))
    rounded = np.linalg.solve(frame, points.T).T
    squares = np.sum(rounded**2, axis=1)
    distances = squares[:, None] + squares[None] - 2.0 * rounded @ rounded.T
    few = min(neighbours, count)
    around = rounded[np.argpartition(distances, few - 1, axis=1)[:, :few]]
    around = around - around.mean(axis=1, keepdims=True)
    spread = np.einsum("nki,nkj->nij", around, around, optimize=True) / (few - 1)
    mean = np.trace(spread, axis1=1, axis2=2)[:, None, None] / size
    shapes = width * np.linalg.cholesky(spread + (_FLAT * mean + _ROUNDING) * np.eye(size))
    return Cloud(rounded, shares, shapes, frame)
