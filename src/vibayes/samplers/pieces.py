"""A density to draw from that follows a cloud of points: pieces, each with coordinates in which it is round.

The cloud is divided where it falls apart, and what is bent is cut in halves as long as that tells better where points
are that had no part in it. Each piece k gets coordinates y_k(z) in which it is round and straight (`chart`); so

    q(z)  =  Σ_k share_k Σ_j p_j N(y_k(z); 0, s_j² I) / volume_k

with a width s_j that fits and wider ones that leave nothing out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from vibayes.samplers.chart import Chart, chart

_LINKS = 12
"""Nearest neighbours that a point is joined with."""
_NEAR = 3
"""Of these, those that tell how far neighbours are from one another."""
_PASSES = 3
_FEWEST = 3
"""Points per unknown of a piece."""
_CUT = 10
"""Points per unknown of each half of a piece that is cut."""
_BETTER = 0.05
"""Rise of the mean log-density of other points that is worth a cut."""
_WEIGHT = 0.01
"""Of the mean weight: points of less do not tell where the pieces are."""
_PER_TERM = 10
"""Effective points for each coefficient of a bend: with fewer, an axis is left straight lest noise bends it."""
_ALONE = 0.01
"""Standard deviations of the prior around points that are too few to have a shape."""
_MOST = 4000
"""Points that make the pieces."""
_SCALES = np.array([1.0, 1.4, 3.0])
_SHARES = np.array([0.6, 0.3, 0.1])


class Pieces(NamedTuple):
    """The coordinates of every piece, its share of the points, and the widths of its Gaussians with their shares."""

    charts: tuple[Chart, ...]
    shares: np.ndarray
    scales: np.ndarray = _SCALES
    scale_shares: np.ndarray = _SHARES

    def draw(self, rng: np.random.Generator, count: int, exact: bool = False) -> np.ndarray:
        """Independent draws of q; or, if ``exact``, of the width that fits alone."""
        drawn = rng.standard_normal((count, len(self.charts[0].centre)))
        which = rng.choice(len(self.charts), count, p=self.shares)
        if not exact:
            drawn *= rng.choice(self.scales, (count, 1), p=self.scale_shares)
        for number, each in enumerate(self.charts):
            drawn[which == number] = each.points(drawn[which == number])
        return drawn

    def log_densities(self, points: np.ndarray) -> np.ndarray:
        """Logarithms of the terms of q, piece by piece: (pieces, points)."""
        size = points.shape[1]
        heights = np.log(self.scale_shares) - size * np.log(self.scales) - 0.5 * size * np.log(2.0 * np.pi)
        logs = np.empty((len(self.charts), len(points)))
        for number, each in enumerate(self.charts):
            with np.errstate(over="ignore"):  # far away the bends of a chart go to infinity, and q to zero
                squares = np.sum(each.straight(points) ** 2, axis=1)
            terms = heights[:, None] - 0.5 * squares / self.scales[:, None] ** 2
            logs[number] = _log_sum(terms) - each.log_volume + np.log(self.shares[number])
        return logs

    def walk(self, rng: np.random.Generator, points: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Proposals near points, reversible with respect to q.

        A component, N(y_k; 0, s_j² I), is drawn by its responsibility for the point, and
        y' = √(1 − β²) y + β s_j ξ is a step of preconditioned Crank-Nicolson in its coordinates (Cotter et al. 2013;
        coordinates as in Parno & Marzouk 2018). Drawing by responsibility makes the step reversible with respect to the
        whole mixture. Of size β = 1, it is an independent draw of the component.

        Args:
            rng: source of chance.
            points: (n, unknowns).
            size: β of every step, (n,).
        """
        with np.errstate(over="ignore", invalid="ignore"):
            coordinates = [each.straight(points) for each in self.charts]
            terms = np.concatenate([
                (np.log(self.shares[k]) - each.log_volume + np.log(self.scale_shares) - points.shape[1]
                 * np.log(self.scales))[:, None] - 0.5 * np.sum(y**2, axis=1) / self.scales[:, None] ** 2
                for k, (each, y) in enumerate(zip(self.charts, coordinates, strict=True))
            ])  # fmt: skip
        terms = np.where(np.isnan(terms), -np.inf, terms)
        gumbel = -np.log(-np.log1p(-rng.random(terms.shape)))
        piece, scale = np.divmod(np.argmax(terms + gumbel, axis=0), len(self.scales))
        proposed = points.copy()
        noise = rng.standard_normal(points.shape) * (size * self.scales[scale])[:, None]
        kept = np.sqrt(1.0 - np.square(size))[:, None]
        for number, each in enumerate(self.charts):
            mine = piece == number
            if mine.any():
                proposed[mine] = each.points(kept[mine] * coordinates[number][mine] + noise[mine])
        return proposed

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithm of q."""
        return _log_sum(self.log_densities(points))


def pieces_of(points: np.ndarray, weights: np.ndarray) -> Pieces:
    """The pieces of a weighted cloud."""
    points, weights = _distinct(points, weights)
    size = points.shape[1]
    if len(points) < 2 * (size + 1):  # they have no shape: it is made round
        beside = _ALONE * np.concatenate([np.eye(size), -np.eye(size)])
        points, weights = (points[:, None] + beside).reshape(-1, size), np.repeat(weights, 2 * size)
        return _made(points, weights, [np.arange(len(points))])
    half = np.arange(len(points)) % 2 == 0
    members, best, height = _apart(points), [np.arange(len(points))], -np.inf
    while True:
        made = _made(points, weights, [mine[half[mine]] for mine in members])
        reached = np.average(np.maximum(made.log_density(points[~half]), -1e3), weights=weights[~half])
        if not reached > height + _BETTER:
            break
        best, height = members, reached
        members = [part for mine in members for part in _halves(points, mine)]
        if len(members) == len(best):
            break
    return _made(points, weights, best)


def one_piece(points: np.ndarray, weights: np.ndarray) -> Pieces:
    """A weighted cloud taken for one Gaussian, of its mean and covariance."""
    # Of one width: the wider ones of `pieces_of` would double the covariance.
    return Pieces((chart(points, weights).unbent(),), np.ones(1), np.ones(1), np.ones(1))


def _made(points: np.ndarray, weights: np.ndarray, members: list[np.ndarray]) -> Pieces:
    shares = np.array([weights[mine].sum() for mine in members])
    return Pieces(tuple(_chart(points[mine], weights[mine]) for mine in members), shares / shares.sum())


def _chart(points: np.ndarray, weights: np.ndarray) -> Chart:
    """Coordinates of a piece, with no more bends than its points can tell."""
    bent = chart(points, weights)
    effective = weights.sum() ** 2 / np.sum(weights**2)
    told = [effective >= _PER_TERM * (j + 1) * (j + 2) / 2 for j in range(points.shape[1])]
    bends = tuple(bend if sure else None for bend, sure in zip(bent.bends, told, strict=True))
    return bent._replace(bends=bends, spreads=np.where(told, bent.spreads, 1.0))


def _distinct(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points that matter, each once; if there are too many, every so many-th in order of the first coordinate."""
    points, which = np.unique(points, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), weights)
    heavy = np.flatnonzero(weights > _WEIGHT * weights.mean())
    every = np.linspace(0, len(heavy) - 1, min(_MOST, len(heavy))).astype(int)
    return points[heavy[every]], weights[heavy[every]]


def _apart(points: np.ndarray) -> list[np.ndarray]:
    """Members of each part of the cloud: points that are joined by a chain of nearest neighbours.

    Parts of too few points to be shaped are left out, unless there are no others.
    """
    count, size = points.shape
    links, away, nearest = min(_LINKS + 1, count), points - points.mean(axis=0), np.empty(0)
    for _ in range(_PASSES):
        # In units of how far neighbours are from one another: in units of the whole cloud, parts that are far from one
        # another in one direction would come near.
        spreads, directions = _principal(away)
        rounded = points @ directions / np.maximum(spreads, 1e-8 * spreads[-1] + 1e-300)
        nearest = np.asarray(KDTree(rounded).query(rounded, k=links)[1]).reshape(count, -1)
        away = (points[nearest[:, 1 : 1 + _NEAR]] - points[:, None]).reshape(-1, size)
    rows = np.repeat(np.arange(count), links)
    graph = coo_array((np.ones(len(rows)), (rows, nearest.ravel())), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    parts = [np.flatnonzero(labels == label) for label in range(number)]
    return [part for part in parts if len(part) >= _FEWEST * size] or [np.arange(count)]


def _halves(points: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
    """A piece cut in two across its longest direction; whole, if there are too few points."""
    if len(members) < 2 * _CUT * points.shape[1]:
        return [members]
    along = points[members] @ _principal(points[members] - points[members].mean(axis=0))[1][:, -1]
    low = along < np.median(along)
    return [members[low], members[~low]]


def _principal(away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Spreads of vectors along their principal directions, and these as columns, longest last."""
    sizes, directions = np.linalg.eigh(away.T @ away / len(away))
    return np.sqrt(np.maximum(sizes, 0.0)), directions


def _log_sum(logs: np.ndarray) -> np.ndarray:
    """Logarithm of the sum over the first axis, quicker than NumPy's for few rows."""
    top = logs.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(logs - top).sum(axis=0))
