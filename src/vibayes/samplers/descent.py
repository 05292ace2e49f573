"""From the fits of all models down to what counts of each: points within a limit of distance, enough to weigh them.

Around the fits points are drawn; levels of `search` dig for distances that least squares do not find; what comes near
is looked over once more (`refine`); and each model descends to its limit, above which nothing counts (`kernel`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.samplers.fit import Fits, around
from vibayes.samplers.kernel import HOPELESS, Kernel, excess
from vibayes.samplers.refine import refine
from vibayes.samplers.search import Population, descend, population_of
from vibayes.samplers.shapes import Candidate, Draws, Snapshot

_REACH = 1.1
"""Times the limit: a model whose smallest distance is larger will not get there."""
_RISES = 0.5, 0.05, 0.005
"""Of the misfit, around the fits."""
_DIGGINGS = 15
"""Levels down from the best fits, at most."""
_DEEP = 1.005
"""Times the smallest distance: a threshold that is deep enough."""
_DESCENTS, _CLOSE = 5, 0.1
"""Times that all models descend, at most; a share of what is left above the smallest distance that is not worth it."""
_REFINEMENTS, _NATS, _BETTER = 4, 15.0, 0.5
"""Times that what comes near is looked over, at most; nats below the best fit within which it is; nats that must be
gained for another time."""
_NOTHING = 100.0
"""Percent: what a model that does not move is off."""


@dataclass(frozen=True)
class Descent:
    """All models on their way down.

    Attributes:
        candidates: the models.
        kernel: how much distances count.
        particles: points per model and level.
        keep: share of points kept at each level.
        excess: a threshold in units of the smallest distance, or None.
        threshold: the threshold itself, or None.
    """

    candidates: Sequence[Candidate]
    kernel: Kernel
    particles: int
    keep: float
    excess: float | None
    threshold: float | None

    def spread(self, rng: np.random.Generator, number: int, place: Fits | Population) -> Population:
        """Points around the fits, enough to descend with, and as near as draws of the posterior are."""
        if isinstance(place, Population):
            return place
        candidate = self.candidates[number]
        rises = (*_RISES, *(rise for rise in [self._rise(candidate)] if 0 < rise < _RISES[-1]))
        beside = [around(rng, candidate, place, self.particles, rise) for rise in rises]
        return population_of(candidate, np.concatenate([place.points, *beside]))

    def come_down(
        self, rng: np.random.Generator, populations: list[Population]
    ) -> Generator[Snapshot, None, tuple[list[float], str]]:
        """Bring the models that can to their limits of distance; the limits, and what there is to say of them."""
        yield from self._dig(rng, populations)
        yield from self._refine(rng, populations)
        limits, note = self._limits(populations)
        for _ in range(_DESCENTS if np.isfinite(min(limits)) else 0):
            for number, limit in enumerate(limits):
                yield from self._descend(rng, populations, number, limit)
            wanted, note = self._limits(populations)
            # Of a long record limits are only just above the best: what counts is how far.
            above = [limit - population.best() for limit, population in zip(limits, populations, strict=True)]
            if np.all(np.subtract(limits, wanted) <= _CLOSE * np.abs(above)):
                break
            limits = wanted  # on the way down the smallest distance got smaller still
        reached = [population.threshold for population in populations]
        if not self.kernel.values:  # one that stalls just above the threshold raises it to where there is something
            return [max(limit, min(reached)) for limit in limits], note
        reached = [limit if np.isinf(at) else at for limit, at in zip(limits, reached, strict=True)]
        return [max(each) for each in zip(limits, reached, strict=True)], note

    def _rise(self, candidate: Candidate) -> float:
        """Share of the smallest misfit by which that of draws of the posterior lies above it; 0 if that is unknown."""
        return candidate.size / self.kernel.values if self.kernel.values else 0.0

    def _dig(self, rng: np.random.Generator, populations: list[Population]) -> Iterator[Snapshot]:
        """Look for still smaller distances where Gauss and Newton find none, in the models that are closest."""
        best = min(population.best() for population in populations)
        for number, start in enumerate(populations):
            if not start.best() <= _REACH * best:
                continue
            population = start
            for _ in range(_DIGGINGS):
                if population.stalled() or population.threshold <= _DEEP * population.best():
                    break
                population = descend(rng, self.candidates[number], population, self.particles, self.keep, 0.0)
                yield descending("descend", self.candidates, number, population)
            points = np.concatenate([start.points, population.points])
            distances = np.concatenate([start.distances, population.distances])
            populations[number] = Population(points, np.ones(len(points)), distances)

    def _refine(self, rng: np.random.Generator, populations: list[Population]) -> Iterator[Snapshot]:
        """Look over what is within some nats of the best fits, until nothing better is found.

        Models that are hopeless take part once, for another model may lend them what they have missed.
        """
        kernel, bests = self.kernel, [population.best() for population in populations]
        chosen = [number for number, best in enumerate(bests) if kernel.values and np.isfinite(best)]
        for _ in range(_REFINEMENTS):
            for number in sorted(chosen, key=lambda i: self.candidates[i].size):
                candidate, best = self.candidates[number], populations[number].best()
                limit = kernel.limit(best, candidate.size) * float(np.exp(2.0 * _NATS / kernel.values))
                hopeless = kernel.behind(best, min(population.best() for population in populations)) > HOPELESS
                draws = 0 if hopeless else self.particles
                rise = self._rise(candidate)
                populations[number] = refine(rng, self.candidates, populations, number, limit, draws, rise)
                yield descending("refine", self.candidates, number, populations[number])
            before, bests = bests, [population.best() for population in populations]
            gained = [kernel.behind(*pair) > _BETTER for pair in zip(before, bests, strict=True)]
            chosen = [number for number in chosen if kernel.behind(bests[number], min(bests)) < HOPELESS]
            if not any(gained):
                break

    def _limits(self, populations: Sequence[Population]) -> tuple[list[float], str]:
        """The largest distance that counts, of each model, and what there is to say of it."""
        best = min(population.best() for population in populations)
        if not np.isfinite(best):
            return [np.inf] * len(populations), "no model follows the record at any distance"
        most, note = max(candidate.size for candidate in self.candidates), ""
        if best >= _NOTHING:
            note = (
                f"no model does better than one that stands still (smallest distance {best:.3g}): "
                "check units, signs and priors"
            )
        if self.kernel.values:
            if best < self.kernel.finest:
                note = (
                    f"the smallest distance is {best:.2g}, and distances below {self.kernel.finest:.2g} are not told "
                    "apart: intervals are wider than the noise makes them; give a smaller FollowAndWeigh.finest"
                )
            return [self.kernel.limit(population.best(), most) for population in populations], note
        above = self.excess or excess(most, self.candidates[0].length)
        lowest = max(above * best, self.kernel.finest)
        if self.threshold is None:
            return [lowest] * len(populations), note
        if best > self.threshold:
            note = (
                f"no model comes within {self.threshold:.4g}: the smallest distance found is {best:.4g}; "
                f"the threshold is {lowest:.4g} instead"
            )
            return [lowest] * len(populations), note
        return [self.threshold] * len(populations), note

    def _descend(self, rng, populations: list[Population], number: int, limit: float) -> Iterator[Snapshot]:
        """Bring a model to its limit of distance, if it can get there."""
        population = replace(populations[number], stuck=0)
        if population.best() > _REACH * limit:
            return
        while len(population.points) and population.threshold > limit and not population.stalled():
            population = descend(rng, self.candidates[number], population, self.particles, self.keep, limit)
            populations[number] = population
            yield descending("descend", self.candidates, number, population)


def descending(stage: str, candidates: Sequence[Candidate], number: int, population: Population) -> Snapshot:
    """Where a population is."""
    return unweighed(stage, candidates, number, population.threshold, 1.0, population.acceptance)


def unweighed(
    stage: str, candidates: Sequence[Candidate], number: int, threshold: float, followed: float, acceptance: float
) -> Snapshot:
    """Before the models are weighed nothing is known of their probabilities."""
    unknown = (np.nan,) * len(candidates)
    draws = tuple(Draws.unknown(candidate.size) for candidate in candidates)
    note = "stopped before the models were weighed: there are no probabilities and no draws"
    return Snapshot(stage, threshold, followed, acceptance, unknown, unknown, draws, note, number)
