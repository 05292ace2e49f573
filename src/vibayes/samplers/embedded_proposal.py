"""An independence proposal for a model that contains a smaller one.

A draw s of a density q_s that was fitted to the smaller posterior is embedded in the larger model: what both have is
kept, the rest is drawn from the prior. Under the prior of the larger model, a preimage in a way drawn at random has the
prior of the smaller one (`nested_ratio`), so that the density of the embedded draw l is known,

    q(l) = N(l; 0, I) · mean over the ways of  q_s(s) / N(s; 0, I).

Where the addition has no effect, as a break point has where the motion never goes, such proposals reach all of the
larger posterior at once, however awkward the shape of that part is. The other half of the proposals comes from a
mixture fitted to the larger posterior itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.samplers.ensemble_moves import Mixture
from vibayes.samplers.pieces import Pieces

_HALF = float(np.log(0.5))


@dataclass(frozen=True)
class Embedding:
    """The smaller model, as the larger one sees it: points embedded in it, and a mixture fitted to its posterior."""

    points: np.ndarray
    mixture: Pieces
    small: Any
    large: Any

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Embedded draws of the mixture."""
        return self.large.embedded(rng, self.small, self.mixture.draw(rng, count))

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithm of their density."""
        ways = self.large.preimages(self.small, points)
        ratios = [self.mixture.log_density(each) + 0.5 * np.sum(each**2, axis=1) for each in ways]
        size = points.shape[1] - ways.shape[2]  # constants of the normal densities that are left
        prior = -0.5 * np.sum(points**2, axis=1) - 0.5 * size * np.log(2.0 * np.pi)
        with np.errstate(divide="ignore"):
            return prior + np.logaddexp.reduce(ratios, axis=0) - np.log(len(ratios))


@dataclass(frozen=True)
class WithEmbedded:
    """Half of the proposals from a mixture of the model's own, half embedded."""

    own: Mixture
    embedding: Embedding

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Independent draws."""
        drawn = self.own.draw(rng, count)
        embedded = rng.random(count) < 0.5
        if embedded.any():
            drawn[embedded] = self.embedding.draw(rng, int(embedded.sum()))
        return drawn

    def walk(self, rng: np.random.Generator, points: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Proposals near points, reversible with respect to the density.

        By one of the two parts, drawn by its responsibility for the point; embedded draws are far, whatever the size.
        """
        mine = self.own.log_density(points) - self.log_density(points) + _HALF
        own = np.log1p(-rng.random(len(points))) < mine
        proposed = points.copy()
        proposed[own] = self.own.walk(rng, points[own], size[own])
        if not own.all():
            proposed[~own] = self.embedding.draw(rng, int(np.sum(~own)))
        return proposed

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithm of their density."""
        return _HALF + np.logaddexp(self.own.log_density(points), self.embedding.log_density(points))
