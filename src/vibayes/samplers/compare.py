"""Weigh all models at one threshold of distance; those with fewest unknowns begin, and lend their points to the others.

A quadlinear spring with a break point where the motion never goes is a trilinear one: it finds that part of its
parameters by borrowing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vibayes.samplers.fit import around, fits_at, improve
from vibayes.samplers.lending import mass_ratio
from vibayes.samplers.search import Population
from vibayes.samplers.shapes import Candidate, Draws, Snapshot, probabilities_of
from vibayes.samplers.weigh import Round, combine, grow, settled

_LENT = 3000
"""Points that a model lends to another, at most."""
_MOST_ROUNDS = 3
"""Times the rounds that count, before a mass that goes on growing is taken as it is."""
_ROUGH = 3
"""Effective draws per unknown below which a note is made."""
_FEWEST = 20
"""Draws near the best fit, per unknown."""
_RISES = 0.5, 0.05, 0.005, 0.0005
"""Of the misfit, around the best fit, until there are enough draws within the threshold."""


def compare(
    rng: np.random.Generator, candidates: Sequence[Candidate], populations: Sequence[Population], threshold: float,
    draws_per_round: int, rounds_that_count: int, one_place: bool, note: str,
) -> Iterator[Snapshot]:  # fmt: skip
    """Rounds of importance sampling; the last snapshot is the result."""
    draws = [Draws.none(candidate.size) for candidate in candidates]
    covariance = np.zeros((len(candidates),) * 2)  # of the logarithms of the masses
    rough: list[str] = []
    whole = sum(candidate.size for candidate in candidates)
    weighed = 0
    for number in sorted(range(len(candidates)), key=lambda i: candidates[i].size):
        candidate, rounds = candidates[number], []
        seeds = _seeds(rng, candidates, populations, draws, number, threshold)
        while len(rounds) < _MOST_ROUNDS * rounds_that_count and not settled(rounds, rounds_that_count):
            found = grow(rng, candidate, [seeds, *rounds], threshold, draws_per_round)
            if found is None:
                break
            rounds.append(found)
            draws[number] = combine(rounds[-rounds_that_count:])
            covariance[number, number] = draws[number].standard_error ** 2
            p, errors = probabilities_of(draws, candidates, covariance)
            rate = len(found.points) / found.draws
            done = (weighed + min(0.5 * len(rounds) / rounds_that_count, 0.95) * candidate.size) / whole
            yield Snapshot("weigh", threshold, 1.0, rate, tuple(p), tuple(errors), tuple(draws), note, number, done)
        if rounds:
            draws[number] = _tied(rng, candidates, draws, covariance, number, threshold)
        if rounds and draws[number].effective < _ROUGH * candidate.size:
            rough.append(f"{candidate.name} ({draws[number].effective:.0f} effective draws)")
        weighed += candidate.size
    if rough:
        more = f"what is within the threshold is thin and hard to fill: intervals of {', '.join(rough)} are rough"
        note = "; ".join([note] * bool(note) + [more])
    p, errors = probabilities_of(draws, candidates, covariance)
    if one_place:
        draws = [_near_the_best(rng, *each, threshold, draws_per_round) for each in zip(candidates, draws, strict=True)]
    yield Snapshot("done", threshold, 1.0, np.nan, tuple(p), tuple(errors), tuple(draws), note, done=1.0)


def _tied(rng, candidates, draws: list[Draws], covariance: np.ndarray, number: int, threshold: float) -> Draws:
    """The draws of a model with its mass, by way of a smaller model if the ratio of the two is known better so."""
    mine, best = draws[number], None
    for other, theirs in enumerate(draws):
        if other == number or candidates[other].size >= candidates[number].size:
            continue
        ratio = mass_ratio(rng, candidates[number], candidates[other], mine, theirs, threshold)
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


def _near_the_best(rng: np.random.Generator, candidate: Candidate, draws: Draws, threshold: float, count: int) -> Draws:
    """Draws around the closest point, so near that the errors are about linear there; the mass is what it was."""
    if not (len(draws.points) and candidate.has_errors):
        return draws
    best = draws.points[[np.argmin(draws.distances)]]
    fit, distances = improve(candidate, fits_at(candidate, best, candidate.length)), draws.distances
    points, inside = fit.points, np.ones(1, bool)
    for rise in _RISES:
        points = np.concatenate([fit.points, around(rng, candidate, fit, count, rise)])
        distances = candidate.judge(points, threshold)
        inside = distances <= threshold
        if inside.sum() >= _FEWEST * candidate.size:
            break
    weights = np.full(inside.sum(), 1.0 / inside.sum())
    return replace(draws, points=points[inside], weights=weights, distances=distances[inside])


def _seeds(rng, candidates, populations, draws: list[Draws], number: int, threshold: float) -> Round:
    """Points of a model within the threshold: its own, and what the others can lend.

    Own points are those of the search, crowded about the best; where others lend more evenly spread ones, as many of
    its own will do.
    """
    candidate = candidates[number]
    lent = []
    for other, population in enumerate(populations):
        if other != number and len(population.points):
            points = _spread(rng, draws[other]) if len(draws[other].points) else population.points
            lent.append(candidate.adopt(rng, candidates[other], points[:_LENT]))
    lent = within(candidate, np.concatenate([np.empty((0, candidate.size)), *lent]), threshold)
    own = within(candidate, populations[number].points, threshold)
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
