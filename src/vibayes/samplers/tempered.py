"""From the prior to the posterior by raising the likelihood to a power β that grows from 0 to 1: tempered SMC.

The engineering literature knows it as transitional Markov chain Monte Carlo (Ching & Chen 2007). Particles of
N(z; 0, I) L(z)^β become particles for the next β' by weights, resampling and moves:

    w_i  =  L(z_i)^(β' - β),        evidence  =  Π over the levels of  mean w.

The next β' is the one at which the weights have a coefficient of variation of 1: half of the particles still count.
Then particles are drawn with their weights, and moved (`moves`) until they have forgotten where they began.

How sure the evidence is shows in the family tree: if few of the first particles have left most of the descendants, it
was a matter of luck. With b_i the weight of all that descend from the i-th of N particles of the prior,

    variance of log evidence  ≈  Σ_i (b_i - 1/N)²         (Chan & Lai 2013).

It knows of the luck in finding a mode as well as of that within a level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.likely import Likely, Sample, Stage, from_prior
from vibayes.samplers.moves import Memory, Moves, Points, move, moves_of, tuned
from vibayes.samplers.resampling import systematic
from vibayes.samplers.settings import require_counts, require_within

_STUCK = 0.5
"""Such a correlation at the end of the moves that is worth a note."""
_FORGETS = 0.2
"""Share of moves that forget a coordinate."""
_PER_UNKNOWN = 5
"""Particles, at least."""
_SMALLEST = 1e-15
"""Growth of β: smaller than any likelihood of double precision needs."""


@dataclass(frozen=True)
class TemperedSMC:
    """Tempered sequential Monte Carlo: draws and evidence, also where there are several modes.

    Args:
        particles: all of them are moved at once.
        variation: coefficient of variation of the weights of a level; smaller means more levels and surer results.
        max_moves: of each particle per level, whether or not it has forgotten by then where it began.

    Examples:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> from vibayes.samplers.likely import finished
        >>> from vibayes.samplers.tempered import TemperedSMC
        >>> def log_likelihood(z):
        ...     return -0.5 * np.sum((z - 1.0) ** 2, axis=1) / 0.1**2
        >>> target = SimpleNamespace(
        ...     name="toy", size=2, prior_probability=1.0, traceable=None, log_likelihood=log_likelihood
        ... )
        >>> sample = finished(TemperedSMC(particles=500).sample(np.random.default_rng(0), target))
        >>> exact = 2 * (0.5 * np.log(0.01 / 1.01) - 0.5 / 1.01)
        >>> bool(abs(sample.log_evidence - exact) < 3 * sample.log_evidence_error)
        True
    """

    particles: int = 1000
    variation: float = 1.0
    max_moves: int = 50

    def __post_init__(self) -> None:
        require_counts(self, "particles", "max_moves")
        require_within(self, "variation", 0.0, np.inf)

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Work level by level."""
        if self.particles < _PER_UNKNOWN * target.size:
            remedy = f"give at least {_PER_UNKNOWN} per unknown"
            raise InvalidInput("TemperedSMC.particles", f"enough for {target.size}", str(self.particles), remedy)
        *prior, tried = from_prior(rng, target, self.particles)
        particles, ancestors = Points(*prior), np.arange(self.particles)
        log_evidence = float(np.log(self.particles / tried))
        luck = (tried - self.particles) / (tried * self.particles)  # of finding the possible part of the prior
        power, first, moves, stuck = 0.0, 1.0, None, 0
        while power < 1.0:
            growth = next_power(particles.log_likelihoods, power, self.variation) - power
            logs = growth * particles.log_likelihoods
            log_evidence += float(np.logaddexp.reduce(logs)) - float(np.log(self.particles))
            weights = np.exp(logs - np.logaddexp.reduce(logs))
            variance = luck + family_variance(weights, ancestors)
            moves = moves_of(particles.points, weights, moves, _FORGETS)
            chosen = systematic(rng, weights)
            particles, ancestors = particles.of(chosen), ancestors[chosen]
            power = min(power + growth, 1.0)
            first = min(first, power)
            particles, moves, accepted, left = self._stir(rng, target, particles, moves, power)
            stuck += left > _STUCK
            done = 1.0 - np.log(power) / np.log(first) if first < 1.0 else 1.0
            # Siblings stand side by side, so that what they have in common shows as autocorrelation.
            ended = power == 1.0
            sample = Sample(
                particles.points[None], particles.log_likelihoods[None], accepted,
                log_evidence if ended else np.nan, float(np.sqrt(variance)) if ended else np.nan, _note(power, stuck),
            )  # fmt: skip
            yield Stage("done" if ended else "temper", float(done), accepted, sample)

    def _stir(self, rng, target, particles: Points, moves: Moves, power: float) -> tuple[Points, Moves, float, float]:
        """Moved particles, tuned moves, share of moves made, and the correlation that is left."""
        memory, accepted = Memory(particles.points), []
        while len(accepted) < self.max_moves:
            particles, made = move(rng, target, particles, moves, power)
            moves = tuned(moves, made, 1.0 / np.sqrt(1.0 + len(accepted)))
            accepted.append(made.accepted)
            if memory.gone(particles.points):
                break
        return particles, moves, float(np.mean(accepted)), memory.left


def next_power(log_likelihoods: np.ndarray, power: float, variation: float) -> float:
    """The power at which the weights have a given coefficient of variation; 1 if they never have it.

    Examples:
        >>> next_power(np.array([0.0, 0.1]), 0.0, 1.0)
        1.0
    """
    away = log_likelihoods - log_likelihoods.max()

    def varies(growth: float) -> bool:
        weights = np.exp(growth * away)
        return bool(weights.std() > variation * weights.mean())

    low, high = np.log(_SMALLEST), np.log(1.0 - power)
    if not varies(np.exp(high)):
        return 1.0
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if varies(np.exp(middle)) else (middle, high)
    return power + float(np.exp(low))


def family_variance(weights: np.ndarray, ancestors: np.ndarray) -> float:
    """Variance of the logarithm of the evidence, from what each of the first particles has left."""
    left = np.bincount(ancestors, weights, minlength=len(weights))
    return float(np.sum((left - 1.0 / len(weights)) ** 2))


def _note(power: float, stuck: int) -> str:
    notes = []
    if power < 1.0:
        notes.append(f"the likelihood counts only to the power {power:.3g}: draws are wider than the posterior")
    if stuck:
        notes.append(
            f"particles hardly moved on {stuck} levels: evidence and draws are rough; give more particles or max_moves"
        )
    return "; ".join(notes)
