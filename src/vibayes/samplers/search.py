"""Find where a model fits, by asking how long it follows the record.

The distance over a whole record is a bad guide: a response that has lost the record is no better than none, and the
right parameters are a needle. Over the first few samples many parameters are good, and those that follow longer and
longer lead to the needle. So points are ranked by the samples they follow within a small *budget* of distance, and,
once they follow all of it, by the distance itself:

    score = samples followed - length   (negative) before the end,     1 / distance   (positive) at the end.

At each level the best quarter is kept, and new points are drawn around it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vibayes.samplers.cloud import cloud
from vibayes.samplers.shapes import Candidate, Judged

_WIDTH = 0.8
_FEWEST = 6
"""Points per unknown that a cloud is made of, at least."""
_MOST_DRAWS = 12
"""Draws per particle of a level, at most."""
_FURTHER = 1.03
"""A level at which no point comes this much further than the threshold has nowhere to go."""
_PATIENCE = 2
"""Such levels in a row that end a climb."""
_WIDENINGS = 2
_CENTRES = 100
"""Per unknown, at most."""
_PRIOR_ROUNDS = 200


@dataclass(frozen=True)
class Population:
    """Weighted points above a threshold of score."""

    points: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    budget: float
    threshold: float = -np.inf
    acceptance: float = 0.3
    stuck: int = 0
    widening: int = 0
    """Levels to go at the same threshold: under a larger budget the set is wider than the points."""

    def distance(self) -> float:
        """The threshold as a distance; infinite while the end of the record is not reached."""
        return 1.0 / self.threshold if self.threshold > 0 else np.inf

    def best(self) -> float:
        """The smallest distance of all points; infinite if none follows the whole record."""
        return float(1.0 / self.scores.max()) if self.scores.max() > 0 else np.inf

    def stalled(self) -> bool:
        """Whether the climb has come to its end."""
        return self.stuck >= _PATIENCE


def score(judged: Judged, length: int) -> np.ndarray:
    """Larger is better; see the module's docstring."""
    whole = np.isfinite(judged.distance)
    inverse = 1.0 / np.maximum(np.where(whole, judged.distance, 1.0), 1e-300)
    return np.where(whole, inverse, np.minimum(judged.followed - length, -1e-9))


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


def begin(rng: np.random.Generator, candidate: Candidate, count: int, budget: float) -> Population:
    """Draws of the prior, judged."""
    points = from_prior(rng, candidate, count)
    scores = score(candidate.judge(points, budget), candidate.length)
    return Population(points, np.ones(len(points)), scores, budget)


def with_budget(candidate: Candidate, population: Population, budget: float) -> Population:
    """The same points under another budget."""
    scores = score(candidate.judge(population.points, budget), candidate.length)
    if budget < population.budget:
        return replace(population, scores=scores, budget=budget, threshold=-np.inf, stuck=0)
    return replace(population, scores=scores, budget=budget, stuck=0, widening=_WIDENINGS)


def climb(
    rng: np.random.Generator, candidate: Candidate, population: Population, particles: int, keep: float, goal: float
) -> Population:
    """One level up, and not beyond the goal."""
    fewest = _FEWEST * candidate.size
    threshold = min(_quantile(population.scores, population.weights, 1.0 - keep), goal)
    if np.sum(population.scores > threshold) < fewest:
        rank = min(fewest, len(population.scores)) - 1
        threshold = min(float(np.sort(population.scores)[::-1][rank]), goal)
    threshold = population.threshold if population.widening else max(threshold, population.threshold)
    alive = np.flatnonzero(population.scores >= threshold)
    centres = rng.permutation(alive)[: _CENTRES * candidate.size]
    source = cloud(
        population.points[centres], population.weights[centres], _WIDTH, neighbourhood(candidate, len(centres))
    )
    draws = int(np.clip(particles / population.acceptance, particles, _MOST_DRAWS * particles))
    points = source.draw(rng, draws)
    points = points[candidate.allowed(points)]
    limit = 1.0 / threshold if threshold > 0 else population.budget
    scores = score(candidate.judge(points, limit), candidate.length)
    inside = scores >= threshold
    acceptance = max(float(inside.mean()) if len(inside) else 0.0, 1.0 / _MOST_DRAWS)
    points, scores = points[inside], scores[inside]
    starved = len(points) < fewest
    log_weights = -source.log_density(points)
    weights = np.exp(log_weights - log_weights.max(initial=-np.inf))
    if starved:
        points = np.concatenate([population.points[alive], points])
        scores, weights = np.concatenate([population.scores[alive], scores]), np.ones(len(points))
    stuck = starved or not _has_somewhere_to_go(scores.max(), threshold, candidate.length)
    return Population(
        points, weights, scores, population.budget, threshold, acceptance,
        0 if population.widening or not stuck else population.stuck + 1, max(population.widening - 1, 0),
    )  # fmt: skip


def neighbourhood(candidate: Candidate, points: int) -> int:
    """Neighbours that shape a Gaussian of a cloud."""
    return int(min(max(2 * candidate.size, 8), max(points // 2, candidate.size + 2)))


def _has_somewhere_to_go(best: float, threshold: float, length: int) -> bool:
    if threshold > 0:
        return best > _FURTHER * threshold
    return best > 0 or length + best > _FURTHER * (length + threshold) + 1.0


def _quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share * weights.sum())])
