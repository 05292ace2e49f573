"""Our default: models follow the record as far as they can, lend one another their points, and are weighed.

1. *Follow.* Each model climbs alone (`search`), within a tiny budget of distance. When no model comes further, the
   budget is raised and the climb goes on, until at least one model follows the whole record. That is repeated until
   two searches agree on the smallest distance.
2. *Lend.* The smallest distance found is about the noise floor; the threshold is a little above it. Models whose
   parameters have common names try one another's points, so that none misses a set of points that another has found.
3. *Weigh.* Each model's prior mass within the threshold is computed by importance sampling (`weigh`), with a standard
   error. The probabilities of the models are in proportion to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.samplers.search import Population, begin, climb, from_prior, with_budget
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Candidate, Draws, Snapshot, probabilities_of
from vibayes.samplers.weigh import Round, combine, grow, settled

_LENT = 3000
"""Points that a model lends to another, at most."""
_MOST_ROUNDS = 5
"""Times ``rounds``, before a mass that goes on growing is taken as it is."""
_MOST_LEVELS = 300
_AGREE = 1.2
"""Smallest distances of two searches that agree differ by less than this factor."""
_NEAR = 1.4
"""A search is over when its threshold is down to this many times its smallest distance."""
_NOTHING = 100.0
"""Percent: what a model that does not move is off."""


@dataclass(frozen=True)
class FollowAndWeigh:
    """Follow the record, then weigh the models: the default method of `vibayes.infer` for distances.

    Args:
        particles: points per model and level of a search.
        searches: independent searches at most, of which each model keeps the best; two that agree are enough.
        keep: share of points kept at each level.
        first_budget: distance within which the record is followed at first; far below any noise.
        raise_budget: factor of the budget when no model comes further.
        excess: the final threshold in units of the smallest distance found, which is about the noise floor; three
            times the number of unknowns per sample is added, by which the best fit may lie below the truth.
        threshold: the final threshold itself, in place of ``excess``.
        finest: no threshold is lowered below this.
        draws: draws per round and model when weighing.
        rounds: rounds that count; at least as many come before.

    Examples:
        >>> import vibayes as vb
        >>> vb.FollowAndWeigh(particles=500).excess
        1.02
    """

    particles: int = 500
    searches: int = 4
    keep: float = 0.25
    first_budget: float = 0.02
    raise_budget: float = 1.5
    excess: float = 1.02
    threshold: float | None = None
    finest: float = 1e-3
    draws: int = 6000
    rounds: int = 4

    def __post_init__(self) -> None:
        require_counts(self, "particles", "searches", "draws", "rounds")
        require_within(self, "keep", 0.0, 1.0)
        for name in ("raise_budget", "excess"):
            require_within(self, name, 1.0, np.inf)
        for name in ("first_budget", "finest") + (("threshold",) if self.threshold is not None else ()):
            require_within(self, name, 0.0, np.inf)

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work level by level."""
        populations: list[Population] = []
        budget = self.first_budget
        found: list[float] = []
        while len(found) < self.searches and not _agree(found):
            fresh = [begin(rng, candidate, 4 * self.particles, budget) for candidate in candidates]
            yield from self._follow(rng, candidates, fresh)
            populations = [min(pair, key=Population.best) for pair in zip(populations or fresh, fresh, strict=True)]
            found.append(min(population.best() for population in fresh))
            # Another road to the same place: where the model is wrong, a tiny budget can lead astray.
            budget = max(budget, 0.25 * min(population.budget for population in fresh))
        threshold, note = np.inf, ""
        for _ in range(2):  # on the way down the smallest distance gets a little smaller still
            best = min(population.best() for population in populations)
            threshold, note = self._threshold(best, self._excess(candidates))
            for number in range(len(candidates) if np.isfinite(threshold) else 0):
                yield from self._descend(rng, candidates, populations, number, threshold)
        if self.searches > 1 and not _agree(found) and self.threshold is None:
            listing = ", ".join(f"{distance:.3g}" for distance in sorted(found))
            note = note or f"no two searches agree on the smallest distance ({listing}): there may be better parameters"
        if np.isfinite(threshold):
            yield from self._weigh(rng, candidates, populations, threshold, note)
        else:
            nothing = tuple(Draws.none(candidate.size) for candidate in candidates)
            zeros = (0.0,) * len(candidates)
            yield Snapshot("done", threshold, 0.0, np.nan, zeros, zeros, nothing, note)

    def _follow(self, rng, candidates, populations: list[Population]) -> Iterator[Snapshot]:
        """Climb with every model until it stalls, and raise the budget until one follows the whole record."""
        levels = 0
        while True:
            for number, candidate in enumerate(candidates):
                if not len(populations[number].points):
                    continue  # the constraints are never met
                while not (populations[number].stalled() or self._arrived(populations[number])):
                    goal = np.inf if populations[number].threshold > 0 else 1.0 / populations[number].budget
                    populations[number] = climb(rng, candidate, populations[number], self.particles, self.keep, goal)
                    yield _searching("follow", candidates, populations, number)
                    levels += 1
                    if levels > _MOST_LEVELS * len(candidates):
                        return
            if any(p.threshold > 0 for p in populations):
                return
            for number, candidate in enumerate(candidates):
                budget = populations[number].budget
                budget = budget * (self.raise_budget if budget < _NOTHING else 10.0)
                if len(populations[number].points):
                    populations[number] = with_budget(candidate, populations[number], budget)

    def _arrived(self, population: Population) -> bool:
        """Whether the threshold is as low as it shall be."""
        lowest = self.threshold if self.threshold is not None else _NEAR * population.best()
        return population.threshold > 0 and population.distance() <= max(lowest, self.finest)

    def _excess(self, candidates: Sequence[Candidate]) -> float:
        """With room for the truth, whose distance is above the smallest by about a share of unknowns per sample."""
        return self.excess + 3.0 * max(c.size for c in candidates) / candidates[0].length

    def _threshold(self, best: float, excess: float) -> tuple[float, str]:
        """The common threshold, and what there is to say of it."""
        if not np.isfinite(best):
            return np.inf, "no model follows the record at any distance"
        note = ""
        if best >= _NOTHING:
            note = (
                f"no model does better than one that stands still (smallest distance {best:.3g}): "
                "check units, signs and priors"
            )
        lowest = max(excess * best, self.finest)
        if self.threshold is None:
            return lowest, note
        if best > self.threshold:
            return lowest, (
                f"no model comes within {self.threshold:.4g}: the smallest distance found is {best:.4g}; "
                f"the threshold is {lowest:.4g} instead"
            )
        return self.threshold, note

    def _descend(self, rng, candidates, populations, number: int, threshold: float) -> Iterator[Snapshot]:
        """Bring a model to the common threshold, if it can get there."""
        population = replace(populations[number], stuck=0)
        if not population.threshold > 0 and len(population.points):
            population = with_budget(candidates[number], population, threshold)
        goal = 1.0 / threshold
        while len(population.points) and population.threshold < goal and not population.stalled():
            population = climb(rng, candidates[number], population, self.particles, self.keep, goal)
            populations[number] = population
            yield _searching("descend", candidates, populations, number)

    def _weigh(self, rng, candidates, populations, threshold: float, note: str) -> Iterator[Snapshot]:
        """Rounds of importance sampling, the models with fewest unknowns first: they lend to the others."""
        draws = [Draws.none(candidate.size) for candidate in candidates]
        for number in sorted(range(len(candidates)), key=lambda i: candidates[i].size):
            candidate, rounds = candidates[number], []
            seeds = _seeds(rng, candidates, populations, draws, number, threshold)
            if self.threshold is not None:  # it may be so large that the prior itself comes within it
                wide = _within(candidate, from_prior(rng, candidate, 4 * self.particles), threshold)
                seeds = _equal(np.concatenate([seeds.points, wide]))
            while len(rounds) < _MOST_ROUNDS * self.rounds and not settled(rounds, self.rounds):
                found = grow(rng, candidate, [seeds, *rounds], threshold, self.draws)
                if found is None:
                    break
                rounds.append(found)
                draws[number] = combine(rounds[-self.rounds :])
                p, errors = probabilities_of(draws, candidates)
                rate = len(found.points) / found.draws
                yield Snapshot("weigh", threshold, 1.0, rate, tuple(p), tuple(errors), tuple(draws), note, number)
        p, errors = probabilities_of(draws, candidates)
        yield Snapshot("done", threshold, 1.0, np.nan, tuple(p), tuple(errors), tuple(draws), note)


def _agree(found: Sequence[float]) -> bool:
    """Whether the two best searches ended at about the same distance."""
    first, second = sorted([*found, np.inf, np.inf])[:2]
    return bool(second <= _AGREE * first) and bool(np.isfinite(second))


def _searching(stage: str, candidates, populations: Sequence[Population], number: int) -> Snapshot:
    """Before the models are weighed nothing is known of their probabilities."""
    unknown = (np.nan,) * len(candidates)
    population, length = populations[number], candidates[number].length
    whole = population.threshold > 0
    followed = 1.0 if whole else max(length + population.threshold, 0.0) / length
    threshold = population.distance() if whole else population.budget
    draws = tuple(Draws.none(c.size) for c in candidates)
    note = "stopped before the models were weighed: there are no probabilities and no draws"
    return Snapshot(stage, threshold, followed, population.acceptance, unknown, unknown, draws, note, number)


def _seeds(rng, candidates, populations, draws: list[Draws], number: int, threshold: float) -> Round:
    """Points of a model within the threshold: its own, and what the others can lend.

    Own points are those of the search, crowded about the best; where others lend more evenly spread ones, as many of
    its own will do.
    """
    candidate = candidates[number]
    lent = []
    for other, population in enumerate(populations):
        if other != number and (len(draws[other].points) or population.threshold > 0):
            points = _spread(rng, draws[other]) if len(draws[other].points) else population.points
            lent.append(candidate.adopt(rng, candidates[other], points[:_LENT]))
    lent = _within(candidate, np.concatenate([np.empty((0, candidate.size)), *lent]), threshold)
    own = _within(candidate, populations[number].points, threshold)
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


def _within(candidate: Candidate, points: np.ndarray, threshold: float) -> np.ndarray:
    """Those within the threshold."""
    points = points[candidate.allowed(points)] if len(points) else points
    return points[candidate.judge(points, threshold).distance <= threshold] if len(points) else points
