"""A density to draw new points from, made of points that are known to be good.

The points are divided where they fall into separate pieces; each piece gets coordinates in which it is round and
straight (`chart`), and in these a mixture of Gaussians around its points (`cloud`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from vibayes.samplers.chart import Chart, chart
from vibayes.samplers.cloud import Cloud, cloud

_LINKS = 6
"""Nearest neighbours that a point is joined with."""
_FEWEST = 5
"""Points per unknown of a piece."""
_LIGHTEST, _HEAVIEST = 1e-9, 10.0
"""Weights of a point, in units of the mean, below which it gets no fewer proposals, lest a piece has no weight at all,
and above which it gets no more.
"""


class Proposal(NamedTuple):
    """A mixture of pieces."""

    shares: np.ndarray
    pieces: tuple[tuple[Chart, Cloud], ...]

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent draws."""
        counts = rng.multinomial(count, self.shares)
        drawn = [c.points(k.draw(rng, n)) for (c, k), n in zip(self.pieces, counts, strict=True)]
        return np.concatenate(drawn)

    def log_density(self, points: np.ndarray, before_rows: Callable[[], None] = lambda: None) -> np.ndarray:
        """Logarithm of the density; something else may be done before each of its parts."""
        if not len(points):
            return np.empty(0)
        logs = [k.log_density(c.straight(points), before_rows) - c.log_volume for c, k in self.pieces]
        return np.logaddexp.reduce(np.array(logs) + np.log(self.shares)[:, None], axis=0)


def proposal(points: np.ndarray, weights: np.ndarray, width: float) -> Proposal:
    """Around points of given weights, ``width`` times as wide as their neighbourhoods."""
    weights = np.clip(weights, _LIGHTEST * weights.mean(), _HEAVIEST * weights.mean())
    size = points.shape[1]
    neighbours = max(3 * size, 8)
    pieces, shares = [], []
    for members in _divided(points):
        frame = chart(points[members], weights[members])
        few = int(min(neighbours, max(len(members) // 2, size + 2)))
        pieces.append((frame, cloud(frame.straight(points[members]), weights[members], width, few)))
        shares.append(weights[members].sum())
    # Half of the draws go to the pieces in equal shares, lest a small one is lost.
    return Proposal(0.5 * np.array(shares) / np.sum(shares) + 0.5 / len(shares), tuple(pieces))


def _divided(points: np.ndarray) -> list[np.ndarray]:
    """Members of each piece: points that are joined by a chain of nearest neighbours.

    Pieces of too few points to be shaped are left together.
    """
    count, size = points.shape
    scaled = points / (points.std(axis=0) + 1e-300)
    _, nearest = KDTree(scaled).query(scaled, k=min(_LINKS + 1, count))
    nearest = np.asarray(nearest)
    rows = np.repeat(np.arange(count), nearest.shape[1])
    graph = coo_array((np.ones(len(rows)), (rows, nearest.ravel())), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    pieces = [np.flatnonzero(labels == i) for i in range(number)]
    large = [piece for piece in pieces if len(piece) >= _FEWEST * size]
    small = [piece for piece in pieces if len(piece) < _FEWEST * size]
    return [*large, np.concatenate(small)] if small else large
