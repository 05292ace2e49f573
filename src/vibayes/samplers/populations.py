"""Where a small posterior is within a large prior, when most ways lead to false summits: small populations under less
and less noise, and a climb from where they end.

The record is taken for noisier than it is: outputs of root mean square ρ as if their noise had, besides its own, the
standard deviation s ρ. With L_s that likelihood, particles of N(z; 0, I) L_s(z) become particles for a smaller s' by
weights L_s' / L_s, resampling and moves. Raising the likelihood to a power widens every summit but leaves all of them
as they are to each other; noise lets false ones vanish, for they explain details at the cost of the whole.

Which summit a population ends on is decided early and by chance, and hardly by its size. So there are several small
ones that know nothing of each other. Half of them go on from each of a few marks on the path, those that explain the
record best; and from the last mark points climb.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vibayes.samplers.climb import density, scored
from vibayes.samplers.likely import Sample, Softening, Stage, from_prior, likelihoods
from vibayes.samplers.moves import Moves, Points, exchange, move, moves_of, tuned
from vibayes.samplers.resampling import systematic

_SIZE, _PER_UNKNOWN = 64, 8
"""Particles of a population, at least, unless there are fewer."""
_FIRST, _MARKS = 3.0, (25.0, 50.0, 100.0)
"""The root of the number of samples over these is s at first and at the marks: so that each output says a few nats at
first, and some hundred at the first mark."""
_VARIATION = 2.0
"""Of the weights of a level, at most."""
_RATIO, _SMALLER, _LARGER, _LEAST = 2.0, 0.6, 3.0, 1.02
"""Of s and s' at first; factors by which its logarithm becomes smaller, and larger at most; where it ends to become
smaller."""
_MOVES, _FORGETS = 2, 0.4
"""Of every particle and level, besides an exchange; share of them that forget."""
_ONE = 3
"""Unknowns at most of what may be a single element: there is nothing that one particle knows of one element, and
another of another."""
_CLIMBERS, _MOST_CLIMBERS, _CLIMB = 4, 24, (3, 8)
"""Points that climb, per unknown and at most, and their steps: with half the noise of the last mark, and with none,
which half of them do."""
_NOTE = "the record is still taken for noisier than it is: draws are wider than the posterior"


class Population(NamedTuple):
    """Particles, the noise that is added, how they move, and the ratio of s to the next one."""

    particles: Points
    share: float
    moves: Moves | None = None
    ratio: float = _RATIO

    @property
    def height(self) -> float:
        """How well it explains the record."""
        return float(self.particles.log_likelihoods.mean())


def populations(rng: np.random.Generator, target: Softening, particles: int) -> Iterator[Stage]:
    """So many particles at the first mark, in populations of their own, and the best of them at the last one."""
    size = min(max(_SIZE, _PER_UNKNOWN * target.size), particles)
    first, *marks = (float(np.sqrt(target.samples)) / each for each in (_FIRST, *_MARKS))
    prior = target.softened(first)
    now = [Population(Points(*from_prior(rng, prior, size)[:2]), first) for _ in range(max(round(particles / size), 1))]
    work, done = len(now) * (2.0 - 0.5 ** (len(marks) - 1)), 0
    for mark in marks:
        arrived = []
        for each in now:
            arrived.append(_down(rng, target, each, mark))
            done += 1
            points, logs = (np.concatenate(part)[None] for part in zip(*(p.particles for p in arrived), strict=True))
            yield Stage("begin", min(done / work, 1.0), sample=Sample(points, logs, np.nan, note=_NOTE))
        now = _best(rng, arrived, target.size)


def _best(rng: np.random.Generator, arrived: list[Population], size: int) -> list[Population]:
    """Half of the populations. Those nearly as high as the highest are mixed first, lest one of two modes is lost."""
    arrived = sorted(arrived, key=lambda each: -each.height)
    half = -(-len(arrived) // 2)
    equal = [each for each in arrived if each.height > arrived[0].height - size]
    points, logs = (np.concatenate(part) for part in zip(*(each.particles for each in equal), strict=True))
    mixed = np.array_split(rng.permutation(len(points)), len(equal))
    chosen = [each._replace(particles=Points(points[m], logs[m])) for each, m in zip(equal, mixed, strict=True)]
    return [*chosen, *arrived[len(equal) :]][:half]


def _down(rng: np.random.Generator, target: Softening, population: Population, mark: float) -> Population:
    """Down the path to a mark."""
    particles, share, moves, ratio = population
    now = target.softened(share)
    # The first weights are those of the prior; later ones begin with the particles as they are.
    log_weights = particles.log_likelihoods if moves is None else np.zeros(len(particles.points))
    while True:
        weights = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        moves = moves_of(particles.points, weights, moves, _FORGETS)
        particles = particles.of(systematic(rng, weights))
        for number in range(_MOVES):
            particles, made = move(rng, now, particles, moves)
            moves = tuned(moves, made, 1.0 / np.sqrt(1.0 + number))
        if target.size > _ONE:
            particles = exchange(rng, now, particles)
        if share == mark:
            return Population(particles, share, moves, ratio)
        share, now, particles, log_weights, ratio = _next(target, particles, share, mark, ratio)


def _next(
    target: Softening, particles: Points, share: float, mark: float, ratio: float
) -> tuple[float, Softening, Points, np.ndarray, float]:
    """The next s that does not tell too much at once, its target, the particles there, their weights, and the ratio."""
    while True:
        smaller = max(share / ratio, mark)
        there = target.softened(smaller)
        logs = likelihoods(there, particles.points)
        log_weights = logs - particles.log_likelihoods
        weights = np.exp(log_weights - log_weights.max())
        variation = weights.std() / weights.mean()
        if variation <= _VARIATION or ratio <= _LEAST:
            break
        ratio **= _SMALLER
    # The weights of a small step vary in proportion to it.
    ratio **= float(np.clip(0.5 * _VARIATION / max(variation, 1e-9), 1.0, _LARGER))
    return smaller, there, Points(particles.points, logs), log_weights, ratio


def summits(target: Softening, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points on the highest summits of the posterior that a climb from some of these leads to, and the inverse
    curvature at each.
    """
    climbers = min(_CLIMBERS * target.size, _MOST_CLIMBERS, len(points))
    points = points[np.linspace(0, len(points) - 1, climbers).astype(int)]
    softer = target.softened(0.5 * float(np.sqrt(target.samples)) / _MARKS[-1])
    *_, (points, _) = scored(softer, points, _CLIMB[0])
    heights = density(softer, points)
    half, high = -(-len(points) // 2), np.flatnonzero(heights > heights.max() - target.size)
    # Of those that are equally high any will do, of all modes; lower ones only where these are few.
    few = len(high) < half
    points = points[np.argsort(-heights)[:half] if few else high[np.linspace(0, len(high) - 1, half).astype(int)]]
    *_, (points, inverse) = scored(target, points, _CLIMB[1])
    return points, inverse
