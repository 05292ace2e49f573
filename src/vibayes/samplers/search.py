"""Points of a model within ever smaller distances.

At each level the best quarter of a population is kept, and new points are drawn around it. Where a distance is a sum of
squared errors `fit` finds the place, and only the last levels are left to do; any other distance begins at the prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vibayes.samplers.cloud import cloud
from vibayes.samplers.likely import between_batches
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.samplers.shapes import Candidate

_WIDTH = 0.8
_FEWEST = 6
"""Points per unknown that a cloud is made of, at least."""
_MOST_DRAWS = 12
"""Draws per particle of a level, at most."""
_FLAT = 1.0 + 1e-6
"""Times the smallest distance: a threshold below has nowhere to go."""
_PATIENCE = 2
"""Levels without progress in a row that end a descent."""
_CENTRES = 100
"""Per unknown, at most."""
_PRIOR_ROUNDS = 200


@dataclass(frozen=True)
class Population:
    """Weighted points within a threshold of distance."""

    points: np.ndarray
    weights: np.ndarray
    distances: np.ndarray
    threshold: float = np.inf
    acceptance: float = 0.3
    stuck: int = 0

    def best(self) -> float:
        """The smallest distance."""
        return float(self.distances.min(initial=np.inf))

    def stalled(self) -> bool:
        """Whether it gets no closer."""
        return self.stuck >= _PATIENCE


def from_prior(rng: np.random.Generator, candidate: Candidate, count: int) -> np.ndarray:
    """Draws of the prior; fewer where the constraints are hardly ever met."""
    found, total = [np.empty((0, candidate.size))], 0
    for _ in range(_PRIOR_ROUNDS):
        points = rng.random((4 * count, candidate.size))
        found.append(points[candidate.allowed(points)])
        total += len(found[-1])
        if total >= count:
            break
    return np.concatenate(found)[:count]


def population_of(candidate: Candidate, points: np.ndarray) -> Population:
    """Points of equal weight, at whatever distance."""
    distances = candidate.judge(points, np.inf)
    reached = np.isfinite(distances)
    return Population(points[reached], np.ones(reached.sum()), distances[reached])


def descend(
    rng: np.random.Generator, candidate: Candidate, population: Population, particles: int, keep: float, goal: float
) -> Population:
    """One level down, and not beyond the goal."""
    fewest = min(_FEWEST * candidate.size, len(population.points))
    threshold = max(weighted_quantile(population.distances, population.weights, keep), goal)
    if np.sum(population.distances <= threshold) < fewest:
        threshold = max(float(np.sort(population.distances)[fewest - 1]), goal)
    threshold = min(threshold, population.threshold)
    alive = np.flatnonzero(population.distances <= threshold)
    centres = rng.permutation(alive)[: _CENTRES * candidate.size]
    neighbours = int(min(max(2 * candidate.size, 8), max(len(centres) // 2, candidate.size + 2)))
    source = cloud(population.points[centres], population.weights[centres], _WIDTH, neighbours)
    draws = int(np.clip(particles / population.acceptance, particles, _MOST_DRAWS * particles))
    points = source.draw(rng, draws)
    points = points[candidate.allowed(points)]
    distances = candidate.judge(points, threshold)
    inside = distances <= threshold
    acceptance = max(float(inside.mean()) if len(inside) else 0.0, 1.0 / _MOST_DRAWS)
    points, distances = points[inside], distances[inside]
    starved = len(points) < fewest
    log_weights = -source.log_density(points, between_batches(candidate))
    weights = np.exp(log_weights - log_weights.max(initial=-np.inf))
    # The best are never lost; and where too few new ones are found, none of the old are.
    kept = alive[np.argsort(population.distances[alive])][: None if starved else fewest]
    weights = np.concatenate([np.full(len(kept), weights.mean() if len(weights) else 1.0), weights])
    points = np.concatenate([population.points[kept], points])
    distances = np.concatenate([population.distances[kept], distances])
    stuck = starved or threshold >= population.threshold or threshold <= _FLAT * distances.min()
    return Population(points, weights, distances, threshold, acceptance, population.stuck + 1 if stuck else 0)
