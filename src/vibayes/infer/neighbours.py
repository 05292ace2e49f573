"""A proposal that follows the shape of a cloud of points, however bent: a Gaussian around each point, shaped by its
nearest neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_ROUNDING = 1e-12


class Cloud(NamedTuple):
    """Points and the shape of the cloud around each, in coordinates that make the whole cloud round."""

    points: Any
    shapes: Any
    """Cholesky factors, one per point."""
    inverses: Any
    frame: Any
    """Cholesky factor of the whole cloud: coordinates = frame · round ones."""

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent draws from the mixture."""
        which = rng.integers(len(self.points), size=count)
        steps = rng.normal(size=(count, self.points.shape[1]))
        return (self.points[which] + np.einsum("nij,nj->ni", self.shapes[which], steps)) @ self.frame.T

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithm of the density of the mixture, up to a constant."""
        count = len(points)
        room = 1 << max(count - 1, 15).bit_length()  # few sizes, few compilations
        padded = np.concatenate([points, np.repeat(points[:1], room - count, axis=0)]) if count else points
        return np.asarray(_log_density(padded, self.points, self.inverses, self.frame))[:count]


def cloud(points: np.ndarray, neighbours: int, width: float) -> Cloud:
    """Gaussians ``width`` times as wide as the spread of each point's nearest neighbours."""
    count, size = points.shape
    covariance = np.cov(points.T).reshape(size, size)
    scale = np.sqrt(np.diag(covariance)) + 1e-300
    frame = scale[:, None] * np.linalg.cholesky(covariance / scale / scale[:, None] + _ROUNDING * np.eye(size))
    rounded = np.linalg.solve(frame, points.T).T
    squares = np.sum(rounded**2, axis=1)
    distances = squares[:, None] + squares[None] - 2.0 * rounded @ rounded.T
    few = min(neighbours, count)
    around = rounded[np.argpartition(distances, few - 1, axis=1)[:, :few]]
    around = around - around.mean(axis=1, keepdims=True)
    spread = np.einsum("nki,nkj->nij", around, around, optimize=True) / (few - 1)
    # Duplicates and flat neighbourhoods must not make a shape singular.
    mean = np.trace(spread, axis1=1, axis2=2)[:, None, None] / size
    shapes = np.linalg.cholesky(width**2 * (spread + (0.02 * mean + _ROUNDING) * np.eye(size)))
    return Cloud(rounded, shapes, np.linalg.inv(shapes), frame)


@jax.jit
def _log_density(points, centres, inverses, frame):
    count, size = centres.shape
    rounded = jax.scipy.linalg.solve_triangular(frame, points.T, lower=True).T
    moved = (rounded @ inverses.reshape(count * size, size).T).reshape(-1, count, size)
    moved = moved - jnp.einsum("nij,nj->ni", inverses, centres)[None]
    volume = jnp.sum(jnp.log(jnp.diagonal(inverses, axis1=1, axis2=2)), axis=1)
    return jax.scipy.special.logsumexp(volume - 0.5 * jnp.sum(moved**2, axis=-1), axis=1)
