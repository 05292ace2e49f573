"""Weigh a model: the prior mass of its points by the weights of their distances, by importance sampling.

From some points within a threshold a density q is made, and from it new points θ are drawn. Each that is within the
threshold stands for the prior mass 1 / q(θ) (the prior is uniform in the unit cube), and counts by the weight K of its
distance (`kernel`), so

    mass  =  (1 / draws) · Σ K(ρ(θ)) / q(θ)   over the draws within the threshold,

whatever the density, as long as it leaves nothing out. The points of each round make the density of the next, which
grows until it fills the set; the last rounds count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vibayes.samplers.kernel import Kernel
from vibayes.samplers.likely import between_batches, recalled_draws
from vibayes.samplers.proposal import proposal
from vibayes.samplers.shapes import Candidate, Draws

_WIDTHS = 1.2, 3.0
_WANTED = 0.25
"""Share of draws within the threshold at which the density is about as wide as the set."""
_CENTRES = 200
"""Per unknown, at most."""
_SURE = 0.2
"""Standard error of the logarithm of a mass that is good enough."""
_MEMORY = 3
"""Rounds whose points make the next density."""
_ALIKE = Kernel()
"""All within the threshold."""


@dataclass(frozen=True)
class Round:
    """Points within the threshold out of a number of draws."""

    points: np.ndarray
    log_weights: np.ndarray
    distances: np.ndarray
    draws: int
    width: float = _WIDTHS[0]

    def log_mass(self) -> float:
        """Logarithm of this round's estimate."""
        return _log_sum(self.log_weights) - float(np.log(self.draws))


def grow(
    rng: np.random.Generator,
    candidate: Candidate,
    rounds: list[Round],
    threshold: float,
    draws: int,
    kernel: Kernel = _ALIKE,
) -> Round | None:
    """One more round; none if there are too few points to make a density of."""
    last = rounds[-_MEMORY:]
    points = np.concatenate([r.points for r in last])
    if len(points) < 2 * candidate.size + 2:
        return None
    # Rounds count alike, whatever mass each found: while the density grows the first find too little.
    weights = np.concatenate([np.exp(r.log_weights - _log_sum(r.log_weights)) for r in last])
    if len(points) > _CENTRES * candidate.size:
        chosen = rng.choice(len(points), _CENTRES * candidate.size, replace=False)
        points, weights = points[chosen], weights[chosen]
    width = last[-1].width

    def compute():
        source = proposal(points, weights, width)
        found = source.draw(rng, draws)
        found = found[candidate.allowed(found)]
        distances = candidate.judge(found, threshold)
        inside = distances <= threshold
        found = found[inside]
        return found, -source.log_density(found, between_batches(candidate)), distances[inside]

    # With a journal the densities are kept too, which take as long as the simulations of a small structure.
    given = (points, weights, np.asarray([width, threshold, draws]))
    found, log_weights, distances = recalled_draws(rng, candidate, "grow", given, compute)
    # Hardly a miss means that the density is too narrow.
    width = float(np.clip(width * np.sqrt(len(found) / draws / _WANTED), *_WIDTHS))
    log_weights = kernel.log_weights(distances) + log_weights
    return Round(found, log_weights, distances, draws, width)


def settled(rounds: list[Round], count: int) -> bool:
    """Whether the last rounds agree among themselves, and found no more than those before them."""
    if len(rounds) < 2 * count:
        return False
    now, before = combine(rounds[-count:]), combine(rounds[-2 * count : -count])
    return now.standard_error < _SURE and now.log_mass - before.log_mass < np.hypot(
        now.standard_error, before.standard_error
    )


def combine(rounds: list[Round]) -> Draws:
    """All draws of some rounds as one sample.

    The standard error is the larger of two: from the scatter of the weights, and from that of the rounds.
    """
    points, distances = (np.concatenate([getattr(r, what) for r in rounds]) for what in ("points", "distances"))
    logs = np.concatenate([r.log_weights for r in rounds])
    draws = sum(r.draws for r in rounds)
    if not len(logs):
        return Draws(points, logs, distances)
    weights = np.exp(logs - logs.max())
    share = weights / weights.sum()
    within = np.sqrt(max(np.sum(share**2) - 1.0 / draws, 0.0))
    masses = np.array([r.log_mass() for r in rounds])
    masses = np.exp(masses - masses.max())
    between = masses.std(ddof=1) / masses.mean() / np.sqrt(len(masses)) if len(masses) > 1 else 0.0
    return Draws(points, share, distances, _log_sum(logs) - float(np.log(draws)), float(max(within, between)))


def _log_sum(logs: np.ndarray) -> float:
    return float(np.logaddexp.reduce(logs)) if len(logs) else -np.inf
