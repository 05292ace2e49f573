"""Look for the best fit once more, from all over what comes near the record.

Where a motion is sensitive to its parameters the distance has many minima along thin and bent ridges, and the best fit
of a search may be one that is a few nats below the best. What is within some nats of it is filled with draws of equal
weight (`weigh`); points from all over it, and points of the other models, are fitted by Gauss-Newton steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vibayes.samplers.fit import Fits, around, distinct, fits_at, improve
from vibayes.samplers.search import Population, population_of
from vibayes.samplers.shapes import Candidate
from vibayes.samplers.weigh import Round, grow

_ROUNDS = 4
"""Of draws that fill the set."""
_STARTS, _FEWER = 30, 10
"""Points that are fitted: from all over the set and the best of the model's own, and of what each other has lent."""
_BEST, _SAME = 1000, 0.02
"""Best points among which those are chosen that differ by more than this in some coordinate."""
_LENT = 300
"""Points that another model lends, of which the best are fitted."""
_STEPS = 6
"""Of Gauss-Newton."""
_BESIDE = 6
"""Of the fits, around which points are drawn."""


def refine(
    rng: np.random.Generator,
    candidates: Sequence[Candidate],
    populations: Sequence[Population],
    number: int,
    limit: float,
    draws: int,
    rise: float,
) -> Population:
    """The points of a model and better ones, if there are any.

    Args:
        rng: source of chance.
        candidates: all models.
        populations: their points.
        number: of the model.
        limit: the largest distance of points that are looked at.
        draws: per round, to fill the set within the limit; 0 not to.
        rise: of the misfit around the fits, as a share of it: about that of draws of the posterior.
    """
    candidate, population = candidates[number], populations[number]
    own = _filled(rng, candidate, population, limit, draws) if draws else population.points[:0]
    starts = [own[rng.permutation(len(own))[:_STARTS]], _apart(population.points, population.distances, _STARTS)]
    for other, theirs in enumerate(populations):
        if other != number and len(theirs.points) and candidates[other].has_errors:
            nearest = theirs.points[np.argsort(theirs.distances)[:_LENT]]
            lent = candidate.adopt(rng, candidates[other], np.resize(nearest, (_LENT, nearest.shape[1])))
            lent = lent[candidate.allowed(lent)]
            starts.append(_apart(lent, candidate.judge(lent, np.inf), _FEWER))
    fits = fits_at(candidate, np.unique(np.concatenate(starts), axis=0), candidate.length)
    for _ in range(_STEPS):
        fits = improve(candidate, fits)
    new = np.concatenate([fits.points, *_beside(rng, candidate, fits, draws, rise)])
    found = population_of(candidate, new[candidate.allowed(new)])
    return Population(
        np.concatenate([population.points, found.points]),
        np.concatenate([population.weights, found.weights]),
        np.concatenate([population.distances, found.distances]),
        population.threshold,
        population.acceptance,
    )


def _apart(points: np.ndarray, distances: np.ndarray, count: int) -> np.ndarray:
    """The best points that are not the same, best first, so many at most."""
    chosen: list[np.ndarray] = []
    for number in np.argsort(distances)[:_BEST]:
        point = points[number]
        if all(np.max(np.abs(point - other)) > _SAME for other in chosen):
            chosen.append(point)
        if len(chosen) == count:
            break
    return np.array(chosen).reshape(-1, points.shape[1])


def _filled(rng, candidate: Candidate, population: Population, limit: float, draws: int) -> np.ndarray:
    """Points of equal weight from all over the set within the limit, as far as it is known."""
    seeds = np.unique(population.points[population.distances <= limit], axis=0)
    rounds = [Round(seeds, np.zeros(len(seeds)), np.zeros(len(seeds)), 1)]
    for _ in range(_ROUNDS):
        found = grow(rng, candidate, rounds, limit, draws)
        if found is None:
            break
        rounds.append(found)
    last = rounds[-1]
    if not len(last.points):
        return seeds
    shares = np.exp(last.log_weights - last.log_weights.max())
    return last.points[rng.choice(len(last.points), len(last.points), p=shares / shares.sum())]


def _beside(rng, candidate: Candidate, fits: Fits, count: int, rise: float) -> list[np.ndarray]:
    """Points around the best few fits, as far from them as draws of the posterior are."""
    best = distinct(fits, _BESIDE)
    return [around(rng, candidate, best, count, rise)] if len(best.points) and rise > 0 else []
