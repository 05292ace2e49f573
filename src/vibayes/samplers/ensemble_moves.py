"""Proposals of Markov chains that learn their scale and shape from a fixed ensemble of points.

With e₁, e₂ two members of the ensemble, a chain at z proposes

    differential evolution (ter Braak 2006):  z' = z ± γ (e₁ − e₂),  γ = 2.38/√(2d) for d coordinates, sometimes 1,
    snippets (local differences):             the same with e₂ among the nearest neighbours of e₁,
    independence:                             z' ~ q, a mixture fitted to the ensemble (`pieces`),
    Crank-Nicolson:                           z' near z, by a step that leaves a component of q invariant.

The first two are symmetric in z and z', as are differences in a random subset of the coordinates (Vrugt et al. 2009);
the last two are corrected by q(z)/q(z').
The ensemble is that of the SMC step before, so that it does not depend on the chains and every kernel leaves the target
invariant. Local differences follow thin, curved ridges; independent proposals forget the start at once where the
posterior is nearly Gaussian, and shorter steps in the coordinates of the mixture where it is not. The shares of the
kinds follow the squared distance that they travel per proposal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial import KDTree

from vibayes.samplers.pieces import pieces_of

KINDS = ("differential evolution", "local differences", "independence", "Crank-Nicolson")
_BEST = 2.38
"""Over √(2d): the factor γ that is optimal for a Gaussian target (Roberts & Rosenthal 2001)."""
_WHOLE = 0.1
"""Share of differences taken whole (γ = 1), which lead from mode to mode."""
_LONGER = 1.5
"""Factor of local differences, which are shorter than those of the whole ensemble."""
_SPREAD = 0.5, 1.5
"""Range of a random factor of γ, for ridges that are thinner than a Gaussian of their covariance."""
_NEIGHBOURS = 8
_MEMBERS = 800
"""Points for differences."""
_ALL = 0.5
"""Share of differences in all coordinates."""
_STEPS = 0.1, 0.8
"""Range of the size of Crank-Nicolson steps."""
_LEAST = 0.1
"""Share of proposals that every kind keeps, so that it can show its worth later."""


class Mixture(Protocol):
    """A density to propose from."""

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent draws."""
        ...

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithm of their density."""
        ...

    def walk(self, rng: np.random.Generator, points: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Proposals near points, reversible with respect to the density."""
        ...


@dataclass(frozen=True)
class Ensemble:
    """Points that proposals are made from, whitening, near neighbours and a fitted mixture."""

    points: np.ndarray
    whitening: np.ndarray
    distinct: np.ndarray
    """Numbers of the points without repetitions."""
    neighbours: np.ndarray
    """Of each distinct point, its nearest ones: (distinct, neighbours)."""
    mixture: Mixture | None


def ensemble_of(rng: np.random.Generator, visited: np.ndarray, weights: np.ndarray | None = None) -> Ensemble:
    """An ensemble of weighted points, (n, size): some of them for differences, all of them for the mixture.

    The more points a mixture is fitted to, the better it follows thin, curved posteriors: a few thousand instead of a
    few hundred double its acceptance.
    """
    weights = np.ones(len(visited)) if weights is None else weights
    points = visited[resampled(rng, weights, min(_MEMBERS, len(visited)))]
    size = points.shape[1]
    covariance = np.atleast_2d(np.cov(points.T))
    # A direction in which all points agree would have no inverse.
    covariance = covariance + (1e-12 * np.trace(covariance) / size + 1e-300) * np.eye(size)
    whitening = np.linalg.inv(np.linalg.cholesky(covariance))
    white = points @ whitening.T
    distinct = np.unique(white, axis=0, return_index=True)[1]
    count = min(_NEIGHBOURS + 1, len(distinct))
    neighbours = np.asarray(KDTree(white[distinct]).query(white[distinct], count)[1]).reshape(len(distinct), -1)
    mixture = pieces_of(visited, weights / weights.sum()) if size > 1 else None  # one unknown needs differences only
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
    from_mixture = kinds >= 2
    if ensemble.mixture is not None and from_mixture.any():
        mixture, near = ensemble.mixture, kinds == 3
        proposed[kinds == 2] = mixture.draw(rng, int(np.sum(kinds == 2)))
        sizes = np.exp(rng.uniform(*np.log(_STEPS), size=int(near.sum())))
        proposed[near] = mixture.walk(rng, points[near], sizes)
        before, after = points[from_mixture], proposed[from_mixture]
        with np.errstate(over="ignore", invalid="ignore"):
            correction[from_mixture] = mixture.log_density(before) - mixture.log_density(after)
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


def resampled(rng: np.random.Generator, weights: np.ndarray, count: int) -> np.ndarray:
    """Numbers of particles, each as often as its weight says (systematic resampling), in random order."""
    marks = (np.arange(count) + rng.random()) / count
    chosen = np.searchsorted(np.cumsum(weights / weights.sum()), marks)
    return rng.permutation(np.minimum(chosen, len(weights) - 1))
