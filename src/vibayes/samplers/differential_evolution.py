"""Markov chains of an ensemble: differential evolution (ter Braak 2006; Vrugt et al. 2009) in the unit cube.

Half of the walkers x move by differences of the other half, whose members a, b stay where they are meanwhile,

    x' = x ± γ (a - b),      γ = 2.38/√(2d) for differences of d coordinates, sometimes 1,

with a and b anywhere, or near one another, which follows thin and bent ridges. Such steps are symmetric, so that a move
is made with the probability min(1, K(ρ')/K(ρ)), K the weight of a distance (`kernel`). The random number u of that
decision is drawn first: with K = ρ^(-n/2) a simulation whose distance exceeds ρ u^(-2/n) is rejected whatever else it
would do, and may stop there.

Importance sampling gives the mass of a model and where its draws are, but in more than a few unknowns few of them carry
all the weight. The chains begin at those.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vibayes.samplers.diagnostics import ess_bulk, rhat_of_groups
from vibayes.samplers.kernel import Kernel
from vibayes.samplers.settings import ENOUGH_DRAWS
from vibayes.samplers.shapes import Candidate, Draws

_BEST = 2.38
"""Over √(2d): the best factor for a Gaussian density."""
_WHOLE = 0.1
"""Share of steps by whole differences (γ = 1), which lead from mode to mode."""
_NEAR, _NEIGHBOURS = 0.4, 8
"""Share of steps by differences of near walkers, and how many count as near."""
_ALL = 0.5
"""Share of steps in all coordinates; the others are in some."""
_SPREAD = 0.5, 1.5
"""Factors of γ, for ridges that are thinner than a Gaussian of their covariance."""
_BLOCK, _FEWEST, _MOST = 25, 4, 6
"""Sweeps after which the chains are looked at; blocks before anything can be said of them, and at most."""
_AGREE = 1.05
"""R-hat from which chains are taken to agree."""


def walked(
    rng: np.random.Generator, candidate: Candidate, draws: Draws, kernel: Kernel, limit: float, walkers: int
) -> Draws:
    """Draws of the same density by Markov chains from weighted ones, as many as they are worth; the mass stays.

    Args:
        rng: source of chance.
        candidate: the model.
        draws: weighted points, from which the chains begin.
        kernel: weights of distances.
        limit: the largest distance that has any weight.
        walkers: members of the ensemble.
    """
    if np.count_nonzero(draws.weights) < 2 * candidate.size + 2:
        return draws
    chosen = rng.choice(len(draws.weights), walkers, p=draws.weights / draws.weights.sum())
    points, distances = draws.points[chosen], draws.distances[chosen]
    history, kept = [], [distances]
    worth, later = 0.0, points[:, None]
    for block in range(1, _MOST + 1):
        for _ in range(_BLOCK):
            points, distances = _sweep(rng, candidate, points, distances, kernel, limit)
            history.append(points)
            kept.append(distances)
        if block < _FEWEST:
            continue
        later = np.stack(history[len(history) // 2 :], axis=1)
        worth = float(np.min(ess_bulk(later)))
        if worth >= ENOUGH_DRAWS and np.max(rhat_of_groups(later)) < _AGREE:
            break
    states = later.reshape(-1, candidate.size)
    errors = np.stack(kept[1:][len(history) // 2 :], axis=1).ravel()
    # As many as they are worth, so that whoever counts draws counts information.
    some = rng.permutation(len(states))[: max(int(min(worth, len(states))), 1)]
    return replace(draws, points=states[some], weights=np.full(len(some), 1.0 / len(some)), distances=errors[some])


def _sweep(rng, candidate: Candidate, points: np.ndarray, distances: np.ndarray, kernel: Kernel, limit: float):
    """One step of every walker: of one half, then of the other."""
    points, distances = points.copy(), distances.copy()
    order = rng.permutation(len(points))
    for mine, others in (np.array_split(order, 2), np.array_split(order, 2)[::-1]):
        proposed = points[mine] + _steps(rng, points[others], len(mine))
        allowed = candidate.allowed(proposed)
        # 1 - u lies in (0, 1], whose logarithm is finite.
        bounds = np.minimum(kernel.reach(distances[mine], np.log(1.0 - rng.random(len(mine)))), limit)
        found = np.full(len(mine), np.inf)
        if allowed.any():
            found[allowed] = candidate.judge(proposed[allowed], float(bounds[allowed].max()))
        made = found <= bounds
        points[mine[made]], distances[mine[made]] = proposed[made], found[made]
    return points, distances


def _steps(rng, others: np.ndarray, count: int) -> np.ndarray:
    """Differences of two of the others, in some or all coordinates, of either sign."""
    size = others.shape[1]
    first = rng.integers(len(others), size=count)
    second = (first + rng.integers(1, len(others), size=count)) % len(others)
    near = rng.random(count) < _NEAR
    if near.any():
        scaled = others / np.maximum(others.std(axis=0), 1e-300)
        apart = np.sum((scaled[first[near], None] - scaled[None]) ** 2, axis=2)
        nearest = np.argpartition(apart, min(_NEIGHBOURS, len(others) - 1), axis=1)[:, : _NEIGHBOURS + 1]
        second[near] = nearest[np.arange(len(nearest)), rng.integers(nearest.shape[1], size=len(nearest))]
    moved = (rng.random(count) < _ALL)[:, None] | (rng.random((count, size)) < 0.5)
    moved[np.arange(count), rng.integers(size, size=count)] = True
    factor = _BEST / np.sqrt(2.0 * moved.sum(axis=1)) * rng.uniform(*_SPREAD, size=count)
    factor = np.where(rng.random(count) < _WHOLE, 1.0, factor) * rng.choice([-1.0, 1.0], size=count)
    return factor[:, None] * moved * (others[first] - others[second])
