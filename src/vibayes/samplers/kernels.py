"""How much a log-likelihood counts along the way from the prior to the posterior: by a power, or above a threshold.

A kernel K(ℓ; level) of the log-likelihood ℓ makes the targets π ∝ N(z; 0, I) K(ℓ(z); level) of sequential Monte Carlo,

    power φ:         K = exp(φ ℓ),     φ from 0 to 1, for likelihoods (tempering),
    threshold τ:     K = 1 if ℓ ≥ τ,   τ rising with the best ℓ found, for distances (approximate Bayesian computation).

Either decides how far the next step goes: as many samples, or as much of a level, as keep the share of effective
particles above `Plan.conditional_ess`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

_ROOM = 3.0
"""Times unknowns per sample: room for the truth above the best fit."""
_BISECTIONS = 60


class Step(NamedTuple):
    """Where to go: samples taken in, the level there, and the column of the likelihoods at that many samples."""

    samples: int
    level: float
    column: int


class Kernel(Protocol):
    """How much a log-likelihood counts."""

    @property
    def start(self) -> float:
        """The level at which everything counts alike."""
        ...

    def log(self, logs: np.ndarray, level: float) -> np.ndarray:
        """Logarithm of the kernel."""
        ...

    def required(self, logs: np.ndarray, level: float, slack: np.ndarray) -> np.ndarray:
        """Log-likelihood at which a proposal is accepted, whose own log-ratio of all else is -slack."""
        ...

    def following(self, logs: np.ndarray, checkpoints: Sequence[int], samples: int, level: float, share: float) -> Step:
        """The next step that leaves this share of effective particles, if there is one.

        Log-likelihoods at the checkpoints are (populations, particles, checkpoints), the first of which is now, or the
        first block if no samples have been taken in.
        """
        ...

    def complete(self, logs: np.ndarray, samples: int, level: float) -> bool:
        """Whether a level is the last one for this many samples."""
        ...

    def adjusted(self, logs: np.ndarray, samples: int, level: float, share: float) -> float:
        """The level, where log-likelihoods have become more accurate."""
        ...


@dataclass(frozen=True)
class Power:
    """Likelihoods; the first block is tempered in, later ones are taken in whole."""

    start: float = 0.0

    def log(self, logs: np.ndarray, level: float) -> np.ndarray:
        """A power of likelihoods; of what is impossible too."""
        return np.where(np.isneginf(logs), -np.inf, level * np.where(np.isneginf(logs), 0.0, logs))

    def required(self, logs: np.ndarray, level: float, slack: np.ndarray) -> np.ndarray:
        """For the Metropolis test."""
        return logs + slack / level

    def complete(self, logs: np.ndarray, samples: int, level: float) -> bool:
        """Whether the likelihood counts whole."""
        return level >= 1.0

    def adjusted(self, logs: np.ndarray, samples: int, level: float, share: float) -> float:
        """The same power."""
        return level

    def following(self, logs: np.ndarray, checkpoints: Sequence[int], samples: int, level: float, share: float) -> Step:
        """A larger power of the first block, or the last checkpoint at which the weights are even enough."""
        if level < 1.0:
            return Step(checkpoints[0], self._power(logs[:, :, 0], level, share), 0)
        column = 1
        for number in range(1, len(checkpoints)):
            if conditional_ess(_increments(logs[:, :, 0], logs[:, :, number])) < share:
                break
            column = number
        return Step(checkpoints[column], 1.0, column)

    def _power(self, logs: np.ndarray, level: float, share: float) -> float:
        # What cannot be simulated is lost at any power.
        possible = float(np.min(np.isfinite(logs).mean(axis=1))) if level == 0.0 else 1.0
        low, high = level, 1.0
        if conditional_ess(self.log(logs, high - level)) >= share * possible:
            return 1.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            enough = conditional_ess(self.log(logs, middle - level)) >= share * possible
            low, high = (middle, high) if enough else (low, middle)
        return low


@dataclass(frozen=True)
class Threshold:
    """All counts alike within a threshold, which follows the best fit.

    Attributes:
        unknowns: of the largest model.
        excess: the threshold at the end, in units of the smallest distance; None for one and three times the unknowns
            per measured value, about where the truth lies.
        lowest: a distance below which the threshold need not go.
        outputs: measured values per sample; 0 where that cannot be said.
    """

    unknowns: int
    excess: float | None = None
    lowest: float | None = None
    outputs: float = 1.0
    start: float = -np.inf

    def log(self, logs: np.ndarray, level: float) -> np.ndarray:
        """0 within the threshold."""
        return np.where((logs >= level) & ~np.isneginf(logs), 0.0, -np.inf)

    def required(self, logs: np.ndarray, level: float, slack: np.ndarray) -> np.ndarray:
        """The threshold, for those that pass the Metropolis test of all else."""
        return np.where(slack <= 0.0, level, np.inf)

    def room(self, samples: int) -> float:
        """Of the threshold above the smallest distance, as a share of it."""
        values = samples * (self.outputs or 1.0)
        least = 0.0 if self.excess is None else self.excess - 1.0
        return max(_ROOM * self.unknowns / max(values, 1.0), least)

    def goal(self, logs: np.ndarray, samples: int) -> float:
        """The threshold for a number of samples, from the best fit."""
        if self.lowest is not None:  # whatever comes within it at the end is within it all the way
            return -float(np.log(self.lowest))
        return float(np.max(logs)) - float(np.log1p(self.room(samples)))

    def complete(self, logs: np.ndarray, samples: int, level: float) -> bool:
        """Whether the threshold is as near to the best fit as it shall be."""
        return level >= self.goal(logs, samples)

    def following(self, logs: np.ndarray, checkpoints: Sequence[int], samples: int, level: float, share: float) -> Step:
        """A lower threshold now, until it is near the best fit; then that of the last checkpoint that enough reach."""
        if not samples or not self.complete(logs[:, :, 0], samples, level):
            return Step(checkpoints[0], self.adjusted(logs[:, :, 0], checkpoints[0], level, share), 0)
        step = None
        for number in range(1, len(checkpoints)):
            there = logs[:, :, number]
            reached, goal = self._quantile(there, share), self.goal(there, checkpoints[number])
            if step is None or reached >= goal:
                step = Step(checkpoints[number], min(reached, goal), number)
            if reached < goal:
                break
        assert step is not None, "there is a checkpoint after the present one"
        return step

    def adjusted(self, logs: np.ndarray, samples: int, level: float, share: float) -> float:
        """The lowest threshold that enough particles reach, not nearer to the best fit than it shall be."""
        return min(self._quantile(logs, share), self.goal(logs, samples))

    def _quantile(self, logs: np.ndarray, share: float) -> float:
        """The threshold that so many of the particles reach, in the worst of the populations."""
        count = max(int(np.ceil(share * logs.shape[1])), 1)
        return float(np.min(np.sort(logs, axis=1)[:, -count]))


def conditional_ess(increments: np.ndarray) -> float:
    """Share of effective particles, in the worst of the populations."""
    top = increments.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        return 0.0
    weights = np.exp(increments - top)
    return float(np.min(weights.sum(axis=1) ** 2 / np.sum(weights**2, axis=1)) / increments.shape[1])


def _increments(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        increments = after - before
    return np.where(np.isnan(increments), -np.inf, increments)
