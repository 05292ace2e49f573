"""Weigh all models by the same weights of distance; those with fewest unknowns begin, and lend their points to others.

A quadlinear spring with a break point where the motion never goes is a trilinear one: it finds that part of its
parameters by borrowing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.samplers.differential_evolution import walked
from vibayes.samplers.fit import around, fits_at, improve
from vibayes.samplers.kernel import HOPELESS, Kernel
from vibayes.samplers.lending import mass_ratio
from vibayes.samplers.search import Population
from vibayes.samplers.settings import ENOUGH_DRAWS
from vibayes.samplers.shapes import Candidate, Draws, Snapshot, probabilities_of
from vibayes.samplers.weigh import Round, combine, grow, settled

_LENT = 3000
"""Points that a model lends to another, at most."""
_MOST_ROUNDS = 3
"""Times the rounds that count, before a mass that goes on growing is taken as it is."""
_FEWEST = 20
"""Draws near the best fit, per unknown."""
_EVEN = 0.05
"""Effective share of the draws above which their weights are even enough."""
_PER_WALKER = 15
"""Draws of the rounds for one walker: with some 150 sweeps, chains cost ten times as many simulations."""
_RISES = 0.5, 0.05, 0.005, 0.0005
"""Of the misfit, around the best fit, until there are enough draws within the threshold."""


@dataclass(frozen=True)
class Weighing:
    """What is weighed, and how much of it: a limit of distance for every model, weights, and work."""

    candidates: Sequence[Candidate]
    populations: Sequence[Population]
    limits: Sequence[float]
    kernel: Kernel
    draws_per_round: int
    rounds_that_count: int

    def hopeless(self, number: int) -> bool:
        """Whether a model is so far behind that its mass need only be known roughly, and its draws matter to nobody."""
        least = min(population.best() for population in self.populations)
        return self.kernel.behind(self.populations[number].best(), least) > HOPELESS

    def rounds(self, number: int) -> int:
        """Rounds that count of a model."""
        return 1 if self.hopeless(number) else self.rounds_that_count


def compare(rng: np.random.Generator, what: Weighing, one_place: bool, note: str) -> Iterator[Snapshot]:
    """Rounds of importance sampling; the last snapshot is the result."""
    candidates = what.candidates
    draws = [Draws.unknown(candidate.size) for candidate in candidates]
    covariance = np.zeros((len(candidates),) * 2)  # of the logarithms of the masses
    whole = sum(candidate.size for candidate in candidates)
    weighed = 0
    for number in sorted(range(len(candidates)), key=lambda i: candidates[i].size):
        candidate, limit, count, rounds = candidates[number], what.limits[number], what.rounds(number), []
        seeds = _seeds(rng, what, draws, number)
        while len(rounds) < _MOST_ROUNDS * count and not settled(rounds, count):
            found = grow(rng, candidate, [seeds, *rounds], limit, what.draws_per_round, what.kernel)
            if found is None:
                break
            rounds.append(found)
            mine = combine(rounds[-count:])
            # As long as rounds are missing its mass is not known.
            draws[number] = mine if len(rounds) >= count else replace(mine, log_mass=np.nan, standard_error=np.nan)
            covariance[number, number] = draws[number].standard_error ** 2
            p, errors = probabilities_of(draws, candidates, covariance)
            rate = len(found.points) / found.draws
            done = (weighed + min(0.5 * len(rounds) / count, 0.95) * candidate.size) / whole
            numbers = tuple(p), tuple(errors), tuple(draws)
            yield Snapshot("weigh", limit, 1.0, rate, *numbers, note, number, done, what.kernel.values)
        if len(rounds) >= count:
            draws[number] = _walked(rng, what, draws[number], number)
            draws[number] = _tied(rng, what, draws, covariance, number)
        else:  # there is too little within the limit to weigh
            draws[number], covariance[number, number] = Draws.none(candidate.size), 0.0
        weighed += candidate.size
    p, errors = probabilities_of(draws, candidates, covariance)
    if one_place:
        draws = [_near_the_best(rng, what, number, each) for number, each in enumerate(draws)]
    numbers = tuple(p), tuple(errors), tuple(draws)
    yield Snapshot("done", min(what.limits), 1.0, np.nan, *numbers, note, None, 1.0, what.kernel.values)


def _walked(rng: np.random.Generator, what: Weighing, draws: Draws, number: int) -> Draws:
    """The draws of a model, by Markov chains where too few of them carry the weight; the mass is what it was."""
    enough = min(ENOUGH_DRAWS, _EVEN * len(draws.weights))
    if not what.kernel.values or what.hopeless(number) or draws.effective >= enough:
        return draws
    candidate = what.candidates[number]
    walkers = max(what.draws_per_round * what.rounds_that_count // _PER_WALKER, 6 * candidate.size)
    return walked(rng, candidate, draws, what.kernel, what.limits[number], walkers)


def _tied(rng, what: Weighing, draws: list[Draws], covariance: np.ndarray, number: int) -> Draws:
    """The draws of a model with its mass, by way of a smaller model if the ratio of the two is known better so."""
    mine, best, candidates = draws[number], None, what.candidates
    for other, theirs in enumerate(draws):
        if other == number or candidates[other].size >= candidates[number].size:
            continue
        limits = what.limits[number], what.limits[other]
        ratio = mass_ratio(rng, candidates[number], candidates[other], mine, theirs, limits, what.kernel)
        known = best[1].error if best else np.hypot(mine.standard_error, theirs.standard_error)
        if ratio and ratio.error < known:
            best = other, ratio
    if best is None:
        return mine
    other, ratio = best
    covariance[number], covariance[:, number] = covariance[other], covariance[:, other]
    covariance[number, number] = covariance[other, other] + ratio.error**2
    log_mass = draws[other].log_mass + ratio.log
    return replace(mine, log_mass=log_mass, standard_error=float(np.sqrt(covariance[number, number])))


def within(candidate: Candidate, points: np.ndarray, threshold: float) -> np.ndarray:
    """Points that are allowed and within the threshold."""
    points = points[candidate.allowed(points)] if len(points) else points
    return points[candidate.judge(points, threshold) <= threshold] if len(points) else points


def _near_the_best(rng: np.random.Generator, what: Weighing, number: int, draws: Draws) -> Draws:
    """Draws around the closest point, so near that the errors are about linear there; the mass is what it was."""
    candidate, limit = what.candidates[number], what.limits[number]
    if not (len(draws.points) and candidate.has_errors):
        return draws
    # The misfit of draws of the posterior is expected to lie above the best by a share unknowns/values.
    rises = (candidate.size / what.kernel.values,) if what.kernel.values else ()
    best = draws.points[[np.argmin(draws.distances)]]
    fit, distances = improve(candidate, fits_at(candidate, best, candidate.length)), draws.distances
    points, inside = fit.points, np.ones(1, bool)
    for rise in (*rises, *(each for each in _RISES if not rises or each < rises[0])):
        points = np.concatenate([fit.points, around(rng, candidate, fit, what.draws_per_round, rise)])
        distances = candidate.judge(points, limit)
        inside = distances <= limit
        if inside.sum() >= _FEWEST * candidate.size:
            break
    weights = np.full(inside.sum(), 1.0 / inside.sum())
    return replace(draws, points=points[inside], weights=weights, distances=distances[inside])


def _seeds(rng, what: Weighing, draws: list[Draws], number: int) -> Round:
    """Points of a model within its limit: its own, and what the others can lend.

    Own points are those of the search, crowded about the best; where others lend more evenly spread ones, as many of
    its own will do.
    """
    candidate, candidates, limit = what.candidates[number], what.candidates, what.limits[number]
    lent = []
    for other, population in enumerate(what.populations):
        if other != number and len(population.points):
            points = _spread(rng, draws[other]) if len(draws[other].points) else population.points
            lent.append(candidate.adopt(rng, candidates[other], points[:_LENT]))
    lent = within(candidate, np.concatenate([np.empty((0, candidate.size)), *lent]), limit)
    own = within(candidate, what.populations[number].points, limit)
    if len(own) > len(lent) > candidate.size:
        own = rng.permutation(own)[: len(lent)]
    return _equal(np.concatenate([own, lent]))


def _equal(points: np.ndarray) -> Round:
    """Points of equal weight, none twice."""
    points = np.unique(points, axis=0)
    return Round(points, np.zeros(len(points)), np.zeros(len(points)), 1)


def _spread(rng: np.random.Generator, draws: Draws) -> np.ndarray:
    """Draws in random order, those of large weight rather earlier, none twice."""
    keys = np.log(np.maximum(draws.weights, 1e-300)) + rng.gumbel(size=len(draws.weights))
    return draws.points[np.argsort(-keys)]
