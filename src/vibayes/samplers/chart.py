"""Coordinates in which a thin, bent cloud of points is round and straight.

Points that follow a long record lie on a thin sheet: what a stiffer spring does, a shifted break point almost undoes,
and the trade is not quite linear. Along the principal axes z of the cloud, widest first,

    y_j = ( z_j - P_j(z_1, …, z_{j-1}) ) / r_j,        P_j quadratic, by least squares, r_j the spread of what is left,

is straight, is undone coordinate by coordinate, and changes volumes by the same factor everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_ROUNDING = 1e-15
_POINT = 1e-24
"""Variance below which points are the same point: copies have no shape, but must not have an infinite inverse."""
_RIDGE = 1e-9
_POINTS_PER_TERM = 3
"""Fewer points than this for each coefficient, and the axis stays straight."""


class Chart(NamedTuple):
    """Where the cloud is, its principal axes, and how each bends with the wider ones."""

    centre: np.ndarray
    axes: np.ndarray
    """Columns are principal axes times the spread along them."""
    inverse: np.ndarray
    bends: tuple[np.ndarray | None, ...]
    spreads: np.ndarray

    @property
    def log_volume(self) -> float:
        """Logarithm of the volume of the points per unit of volume of the coordinates."""
        return float(np.linalg.slogdet(self.axes)[1] + np.log(self.spreads).sum())

    def unbent(self) -> Chart:
        """The same cloud by its mean and covariance alone."""
        return self._replace(bends=(None,) * len(self.bends), spreads=np.ones(len(self.bends)))

    def straight(self, points: np.ndarray) -> np.ndarray:
        """Coordinates of points."""
        z = (points - self.centre) @ self.inverse.T
        y = z.copy()
        for j, bend in enumerate(self.bends):
            if bend is not None:
                y[:, j] -= _terms(z[:, :j]) @ bend
        return y / self.spreads

    def points(self, straight: np.ndarray) -> np.ndarray:
        """Points of coordinates."""
        z = straight * self.spreads
        for j, bend in enumerate(self.bends):
            if bend is not None:
                z[:, j] += _terms(z[:, :j]) @ bend
        return z @ self.axes.T + self.centre


def chart(points: np.ndarray, weights: np.ndarray) -> Chart:
    """The chart of a weighted cloud."""
    weights = weights / weights.sum()
    centre = weights @ points
    covariance = ((points - centre) * weights[:, None]).T @ (points - centre)
    sizes, directions = np.linalg.eigh(covariance)
    spread = np.sqrt(np.maximum(sizes[::-1], _ROUNDING * sizes[-1] + _POINT))
    axes = directions[:, ::-1] * spread
    inverse = (directions[:, ::-1] / spread).T
    z = (points - centre) @ inverse.T
    bends: list[np.ndarray | None] = [None]
    left = np.ones(len(centre))
    root = np.sqrt(weights)
    for j in range(1, len(centre)):
        terms = _terms(z[:, :j])
        if len(points) < _POINTS_PER_TERM * terms.shape[1]:
            bends.append(None)
            continue
        normal = (terms * weights[:, None]).T @ terms
        normal += _RIDGE * np.trace(normal) / len(normal) * np.eye(len(normal))
        bend = np.linalg.solve(normal, terms.T @ (weights * z[:, j]))
        bends.append(bend)
        left[j] = max(float(np.linalg.norm(root * (z[:, j] - terms @ bend))), 1e-6)
    return Chart(centre, axes, inverse, tuple(bends), left)


def _terms(z: np.ndarray) -> np.ndarray:
    """One, all coordinates, and all their products."""
    rows, columns = np.triu_indices(z.shape[1])
    return np.column_stack([np.ones(len(z)), z, z[:, rows] * z[:, columns]])
