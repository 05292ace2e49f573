"""Proposals of Markov chains that learn their scale and shape from a fixed ensemble of points.

With e₁, e₂ two members of the ensemble, a chain at z proposes

    differential evolution (ter Braak 2006):  z' = z ± γ (e₁ − e₂),  γ = 2.38/√(2d) for d coordinates, sometimes 1,
    snippets (local differences):             the same with e₂ among the nearest neighbours of e₁,
    independence:                             z' ~ q, a mixture fitted to the ensemble (`pieces`).

The first two are symmetric in z and z'. Differences in a random subset of the coordinates (Vrugt et al. 2009) are too.
The ensemble is that of the SMC step before, so that it does not depend on the chains and every kernel leaves the target
invariant. Local differences follow thin, curved ridges; independent proposals forget the start at once where the
posterior is nearly Gaussian. The shares of the three kinds follow the squared distance that they travel per proposal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from vibayes.samplers.pieces import Pieces, pieces_of

KINDS = ("differential evolution", "local differences", "independence")
_BEST = 2.38
"""Over √(2d): the factor γ that is optimal for a Gaussian target (Roberts & Rosenthal 2001)."""
_WHOLE = 0.1
"""Share of differences taken whole (γ = 1), which lead from mode to mode."""
_LONGER = 1.5
"""Factor of local differences, which are shorter than those of the whole ensemble."""
_SPREAD = 0.5, 1.5
"""Range of a random factor of γ, for ridges that are thinner than a Gaussian of their covariance."""
_NEIGHBOURS = 8
_ALL = 0.5
"""Share of differences in all coordinates."""
_LEAST = 0.1
"""Share of proposals that every kind keeps, so that it can show its worth later."""


@dataclass(frozen=True)
class Ensemble:
    """Points that proposals are made from, whitening, near neighbours and a fitted mixture."""

    points: np.ndarray
    whitening: np.ndarray
    distinct: np.ndarray
    """Numbers of the points without repetitions."""
    neighbours: np.ndarray
    """Of each distinct point, its nearest ones: (distinct, neighbours)."""
    mixture: Pieces | None


def ensemble_of(points: np.ndarray, independence: bool = True) -> Ensemble:
    """An ensemble of equally weighted points, (n, size)."""
    size = points.shape[1]
    covariance = np.atleast_2d(np.cov(points.T))
    # A direction in which all points agree would have no inverse.
    covariance = covariance + (1e-12 * np.trace(covariance) / size + 1e-300) * np.eye(size)
    whitening = np.linalg.inv(np.linalg.cholesky(covariance))
    white = points @ whitening.T
    distinct = np.unique(white, axis=0, return_index=True)[1]
    count = min(_NEIGHBOURS + 1, len(distinct))
    neighbours = np.asarray(KDTree(white[distinct]).query(white[distinct], count)[1]).reshape(len(distinct), -1)
    mixture = pieces_of(points, np.full(len(points), 1.0 / len(points))) if independence else None
    return Ensemble(points, whitening, distinct, neighbours, mixture)


def propose(
    rng: np.random.Generator, ensemble: Ensemble, points: np.ndarray, kinds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A proposal for every point, and the logarithm of q(z)/q(z') by which its acceptance is corrected.

    Args:
        rng: source of chance.
        ensemble: what proposals are made from.
        points: where the chains are, (n, size).
        kinds: number in `KINDS` for every chain.
    """
    count, size = points.shape
    members = ensemble.points
    first = rng.integers(len(members), size=count)
    second = (first + rng.integers(1, max(len(members), 2), size=count)) % len(members)
    near = rng.integers(len(ensemble.distinct), size=count)
    beside = ensemble.neighbours[near, rng.integers(ensemble.neighbours.shape[1], size=count)]
    local = kinds == 1
    first = np.where(local, ensemble.distinct[near], first)
    second = np.where(local, ensemble.distinct[beside], second)
    moved = (rng.random(count) < _ALL)[:, None] | (rng.random((count, size)) < 0.5)
    moved[np.arange(count), rng.integers(size, size=count)] = True
    factor = _BEST / np.sqrt(2.0 * moved.sum(axis=1)) * rng.uniform(*_SPREAD, size=count)
    whole = rng.random(count) < _WHOLE
    factor = np.where(local, _LONGER * factor, np.where(whole, 1.0, factor)) * rng.choice([-1.0, 1.0], size=count)
    proposed = points + factor[:, None] * moved * (members[first] - members[second])
    correction = np.zeros(count)
    independent = kinds == 2
    if ensemble.mixture is not None and independent.any():
        drawn = ensemble.mixture.draw(rng, int(independent.sum()))
        correction[independent] = ensemble.mixture.log_density(points[independent]) - ensemble.mixture.log_density(
            drawn
        )
        proposed[independent] = drawn
    return proposed, np.nan_to_num(correction, nan=-np.inf)


@dataclass(frozen=True)
class Shares:
    """Share of proposals of every kind, by the squared whitened distance that the accepted ones travel."""

    shares: np.ndarray

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """A kind for every chain."""
        return rng.choice(len(self.shares), count, p=self.shares)

    def updated(self, proposals: np.ndarray, travelled: np.ndarray) -> Shares:
        """After some sweeps: numbers of proposals and sums of squared distances by kind."""
        rate = np.where(proposals > 0, travelled / np.maximum(proposals, 1), np.inf)
        if not np.isfinite(rate).all() or not rate.sum() > 0:
            return self
        shares = np.maximum(rate / rate.sum(), _LEAST)
        return Shares(shares / shares.sum())


def equal_shares() -> Shares:
    """Before anything is known."""
    return Shares(np.full(len(KINDS), 1.0 / len(KINDS)))
