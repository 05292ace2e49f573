"""Ellipsoids around clouds of points, and uniform draws from them.

An ellipsoid is the image of the unit ball, { centre + L u : |u| ≤ 1 }, with the matrix L Lᵀ. A uniform draw from the
ball has a direction without preference and a radius whose d-th power is uniform, since the volume within a radius r is
in proportion to r^d.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_LONE = 0.01
"""Standard deviation in the unit cube around a point that has no company: nothing is known of its surroundings."""
_FLAT = 1e-12
"""Standard deviation below which a coordinate counts as fixed, and is kept from being so."""
_ROUNDING = 1e-9
"""Added to the diagonal of correlations, so that rounding does not make them singular."""


class Ellipsoid(NamedTuple):
    """The image of the unit ball under a linear map, moved to a centre."""

    centre: np.ndarray
    factor: np.ndarray
    """L; lower triangular."""

    def at(self, ball: np.ndarray) -> np.ndarray:
        """Points of the ellipsoid, one for each of the unit ball."""
        return self.centre + ball @ self.factor.T

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Whether points lie within, the surface included up to rounding."""
        ball = np.linalg.solve(self.factor, (points - self.centre).T)
        return np.sum(ball**2, axis=0) <= 1.0 + _ROUNDING

    def moved(self, centre: np.ndarray, scale: float) -> Ellipsoid:
        """The same shape around another centre, its matrix times ``scale``: its axes are √scale times as long."""
        return Ellipsoid(centre, np.sqrt(scale) * self.factor)


def unit_ball(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Uniform draws from the unit ball."""
    directions = rng.normal(size=(count, size))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.random((count, 1)) ** (1.0 / size)


def moments(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean of some points, and the Cholesky factor of their weighted covariance.

    Eqs (15a, b) of Nayek et al. (2023). Fewer points than d + 1 lie in a plane and have a singular covariance; their
    variances are then doubled and their covariances left, which halves the correlations and cannot be singular
    whatever the scales. A point alone is given a standard deviation of a hundredth of the cube.
    """
    count, size = points.shape
    shares = weights / weights.sum()
    mean = shares @ points
    around = points - mean
    covariance = (shares[:, None] * around).T @ around
    scale = np.maximum(np.sqrt(np.diag(covariance)), _LONE if count == 1 else _FLAT)
    extra = 1.0 if count < size + 1 else _ROUNDING
    correlation = covariance / scale / scale[:, None] + extra * np.eye(size)
    return mean, scale[:, None] * np.linalg.cholesky(correlation)


def enclosing(points: np.ndarray, weights: np.ndarray, enlarge: float) -> Ellipsoid:
    """The ellipsoid of the points' weighted mean and covariance that just holds them all, enlarged.

    Its matrix is ``enlarge`` · s · Σ, with s the largest squared Mahalanobis distance (θ - μ)ᵀ Σ⁻¹ (θ - μ) of a point.
    """
    mean, factor = moments(points, weights)
    squares = np.sum(np.linalg.solve(factor, (points - mean).T) ** 2, axis=0)
    return Ellipsoid(mean, np.sqrt(enlarge * max(float(squares.max()), 1.0)) * factor)
