"""Sample the parameters that fit a record better and better, and know their share of the prior at every level.

A population starts as draws from the prior. At each level the worse half is dropped, which halves the prior mass that
is left; the better half is doubled and moved about, under the condition that no point may fall below the level. The
product of the fractions kept is the prior mass of all parameters that fit as well: the evidence of the model.

Two kinds of moves, both leaving the uniform distribution over the surviving set unchanged: *jumps* into the
neighbourhood of another point (`neighbours.Cloud`), which cross bent and broken sets in one step, and *differences* of
two other points added to this one, on some coordinates. Points are in two halves, and each half takes its proposals
from the other as it was when the level began.

Nothing here knows of mechanics: a candidate draws, judges and scores arrays of points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from vibayes.infer.neighbours import Cloud, cloud

_TARGET = 0.25
"""Share of accepted differences that their length is steered to."""

_LARGEST_POOL = 512
_MEMORY = 4
"""Levels after which moves have made relatives independent, for the standard error."""


class Candidate(Protocol):
    """A model as the sampler sees it: points in the unit cube whose prior is uniform where they are allowed."""

    size: int

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draws from the prior."""
        ...

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points lie in the cube and meet the constraints."""
        ...

    def score(self, points: np.ndarray, above: float) -> np.ndarray:
        """How well points fit, the larger the better; need not be right below ``above``."""
        ...


@dataclass(frozen=True)
class Settings:
    """Of the sampler.

    Attributes:
        particles: number of points.
        sweeps: moves of every point at each level.
        keep: share of points kept at each level.
        jumps: share of moves that are jumps.
        width: of a jump's landing, in units of the spread of the nearest neighbours.
    """

    particles: int = 2000
    sweeps: int = 8
    keep: float = 0.5
    jumps: float = 0.5
    width: float = 0.8


class Level(NamedTuple):
    """One line of the trace."""

    threshold: float
    log_mass: float
    acceptance: float


@dataclass(frozen=True)
class Population:
    """Points above a level, and what is known of the level."""

    points: np.ndarray
    scores: np.ndarray
    ancestors: np.ndarray
    """Of each point, its ancestors at the last few levels, latest first."""
    threshold: float = -np.inf
    log_mass: float = 0.0
    variance: float = 0.0
    """Of the logarithm of the mass."""
    scale: float = 0.7
    trace: tuple[Level, ...] = field(default=())

    @property
    def standard_error(self) -> float:
        """Of the logarithm of the mass."""
        return float(np.sqrt(self.variance))


def begin(rng: np.random.Generator, candidate: Candidate, settings: Settings) -> Population:
    """Draws from the prior."""
    points = candidate.draw(rng, settings.particles)
    itself = np.arange(len(points))[:, None]
    return Population(points, candidate.score(points, -np.inf), np.repeat(itself, _MEMORY, axis=1))


def climb(rng: np.random.Generator, candidate: Candidate, population: Population, goal: float, settings: Settings):
    """One level up, and not beyond the goal; the same population if nothing lies above it."""
    scores = population.scores
    threshold = min(float(np.quantile(scores, 1.0 - settings.keep)), goal)
    alive = np.flatnonzero(scores >= threshold) if threshold == goal else np.flatnonzero(scores > threshold)
    if len(alive) < 2 * candidate.size:
        return population
    count, share = len(scores), len(alive) / len(scores)
    survives = np.zeros(count)
    survives[alive] = 1.0
    # Copies of a point stay in its half: it must not find itself among the points it takes its proposals from.
    alive = rng.permutation(alive)
    halves = np.array_split(alive, 2)
    sizes = count // 2, count - count // 2
    chosen = np.concatenate([_refilled(rng, half, size) for half, size in zip(halves, sizes, strict=True)])
    population = replace(
        population,
        points=population.points[chosen].copy(),
        scores=scores[chosen].copy(),
        ancestors=np.column_stack([chosen, population.ancestors[chosen, :-1]]),
        threshold=threshold,
        log_mass=population.log_mass + float(np.log(share)),
        variance=population.variance + _variance(population.ancestors[:, -1], survives - share) / share**2,
    )
    return _move(rng, candidate, population, settings, strict=threshold < goal)


def _variance(families: np.ndarray, deviations: np.ndarray) -> float:
    """Of a mean over points of which only families are independent."""
    sums = np.bincount(families, weights=deviations)
    return float(np.sum(sums**2)) / len(deviations) ** 2


def _refilled(rng: np.random.Generator, chosen: np.ndarray, size: int) -> np.ndarray:
    """All that were chosen as often as they fit in, and a random selection once more."""
    times, rest = divmod(size, len(chosen))
    return np.concatenate([np.repeat(chosen, times), rng.choice(chosen, rest, replace=False)])


def _move(rng, candidate: Candidate, population: Population, settings: Settings, strict: bool) -> Population:
    """Sweeps of moves that stay above the threshold."""
    points, scores, count = population.points, population.scores, len(population.points)
    half = np.arange(count) < count // 2
    old = points.copy()
    pools = [_pool(rng, old[~half]), _pool(rng, old[half])]
    clouds = [cloud(pool, 4 * candidate.size, settings.width) for pool in pools]
    mine = np.where(half, 0, 1)
    density = _each(clouds, mine, points, Cloud.log_density)
    accepted, tried = np.zeros(2), np.zeros(2)
    for _ in range(settings.sweeps):
        jumping = rng.random(count) < settings.jumps
        proposals = np.empty_like(points)
        for number, (source, pool) in enumerate(zip(clouds, pools, strict=True)):
            jump, step = (mine == number) & jumping, (mine == number) & ~jumping
            proposals[jump] = source.draw(rng, int(jump.sum()))
            proposals[step] = points[step] + _differences(rng, pool, int(step.sum()), population.scale)
        good = np.flatnonzero(candidate.allowed(proposals))
        found = np.full(count, -np.inf)
        if len(good):
            found[good] = candidate.score(proposals[good], population.threshold)
        inside = (found > population.threshold) if strict else (found >= population.threshold)
        landed = np.flatnonzero(inside & jumping)
        new = density.copy()
        new[landed] = _each(clouds, mine[landed], proposals[landed], Cloud.log_density)
        inside[landed] &= np.log(rng.random(len(landed))) < density[landed] - new[landed]
        stepped = np.flatnonzero(inside & ~jumping)
        new[stepped] = _each(clouds, mine[stepped], proposals[stepped], Cloud.log_density)
        points[inside], scores[inside], density[inside] = proposals[inside], found[inside], new[inside]
        for kind in (0, 1):
            accepted[kind] += np.sum(inside & (jumping == bool(kind)))
            tried[kind] += np.sum(jumping == bool(kind))
    rates = accepted / np.maximum(tried, 1.0)
    level = Level(population.threshold, population.log_mass, float(accepted.sum() / tried.sum()))
    scale = float(np.clip(population.scale * np.exp(np.clip(rates[0] - _TARGET, -0.3, 0.3)), 0.01, 2.0))
    return replace(population, scale=scale, trace=(*population.trace, level))


def _pool(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """Different points to propose from: a power of two of them, so that few sizes are compiled."""
    points = np.unique(points, axis=0)
    count = min(_LARGEST_POOL, 1 << (len(points).bit_length() - 1))
    return points[rng.choice(len(points), count, replace=False)]


def _each(sources: list[Cloud], mine: np.ndarray, points: np.ndarray, ask: Callable[[Cloud, Any], Any]) -> np.ndarray:
    """Ask each point's own source."""
    answers = np.zeros(len(points))
    for number, source in enumerate(sources):
        chosen = np.flatnonzero(mine == number)
        if len(chosen):
            answers[chosen] = ask(source, points[chosen])
    return answers


def _differences(rng: np.random.Generator, pool: np.ndarray, count: int, scale: float) -> np.ndarray:
    """Differences of random pairs on random coordinates, of random length."""
    size = pool.shape[1]
    one, other = (pool[rng.integers(len(pool), size=count)] for _ in range(2))
    used = rng.random((count, size)) < rng.choice([0.3, 0.6, 1.0, 1.0], size=(count, 1))
    used[np.arange(count), rng.integers(size, size=count)] = True
    length = scale * 2.38 / np.sqrt(2.0 * used.sum(axis=1, keepdims=True)) * np.exp(0.5 * rng.normal(size=(count, 1)))
    return length * used * (one - other)
