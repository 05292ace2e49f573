"""How much a distance counts: all within a threshold alike, or each by the likelihood of white noise.

A distance ρ that is a sum of n squared errors tells the likelihood of errors that are white and Gaussian, of a standard
deviation that is not known. With the prior 1/σ of the deviation integrated out,

    ∫ σ⁻ⁿ exp(-ρ/σ²) dσ/σ  ∝  ρ^(-n/2),

so that draws of weights ρ^(-n/2) are draws of the posterior, and the mass of a model under them is its evidence. What
lies above some ε has next to no weight: n log(ρ/ρ_best) has about a χ² distribution of as many degrees of freedom as
there are unknowns, and ε stands at a quantile of it. Draws beyond need not be simulated to their end.

Of a distance that is anything else no more is known than that it should be small: all within a threshold counts alike.
It stands where the truth is, as a rule: ρ lies above that of the best fit by about a share unknowns/samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

WHOLE = 100.0
"""The distance of the record's mean, in percent: evidence is given against that of noise about it."""
HOPELESS = 30.0
"""Nats by which the largest likelihood of a model is below that of all models, if it need not be weighed well."""
_BEYOND = 1e-4
"""Posterior mass above ε that is left out."""
_ROOM = 3.0
"""Times unknowns/samples: room for the truth above the best fit."""


@dataclass(frozen=True)
class Kernel:
    """Weights of distances.

    Attributes:
        values: measured values n whose squared errors make the distance; 0 where all within a threshold counts alike.
        finest: distances below it count alike.
    """

    values: int = 0
    finest: float = 0.0

    def log_weights(self, distances: np.ndarray) -> np.ndarray:
        """Logarithm of (ρ/100)^(-n/2), or zero.

        Examples:
            >>> Kernel(values=4).log_weights(np.array([100.0, 10.0])).round(3).tolist()
            [-0.0, 4.605]
        """
        if not self.values:
            return np.zeros(np.shape(distances))
        return -0.5 * self.values * np.log(np.maximum(distances, self.finest) / WHOLE)

    def reach(self, distances: np.ndarray, log_ratio: np.ndarray) -> np.ndarray:
        """The largest distances whose weights are at least those of others, times a ratio below one.

        Examples:
            >>> kernel = Kernel(values=4)
            >>> far = kernel.reach(np.array([10.0]), np.log([0.25]))
            >>> far.tolist(), (kernel.log_weights(far) - kernel.log_weights(np.array([10.0]))).round(3).tolist()
            ([20.0], [-1.386])
        """
        if not self.values:
            return np.full(np.shape(distances), np.inf)
        return np.maximum(distances, self.finest) * np.exp(-2.0 * log_ratio / self.values)

    def limit(self, best: float, unknowns: int) -> float:
        """The distance above which draws have next to no weight, given the smallest."""
        best = max(best, self.finest)
        return best * float(np.exp(chdtri(unknowns, _BEYOND) / self.values)) if self.values else best

    def behind(self, best: float, least: float) -> float:
        """By how much the largest likelihood of a model is below that of the best, in logarithms."""
        if not self.values:
            return 0.0
        if not np.isfinite(best):
            return np.inf
        return float(self.log_weights(np.array(least)) - self.log_weights(np.array(best)))


def excess(unknowns: int, samples: int) -> float:
    """Threshold of a distance of which nothing is known, in units of the smallest.

    Examples:
        >>> excess(5, 1000)
        1.015
    """
    return 1.0 + _ROOM * unknowns / samples
