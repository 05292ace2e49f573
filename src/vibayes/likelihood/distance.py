"""Approximate Bayesian computation along the record: in place of a log-likelihood, the logarithm of a distance.

With D_t the distance of the first t samples, log-"likelihoods" are −log D_t, of which a sampler asks no more than
whether they are above a threshold (`samplers.kernels.Threshold`). A sum of squared residuals only grows along the
record, so that a simulation stops as soon as it is too far away; any other distance is of the whole record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.distance import NMSE
from vibayes.judging import judging
from vibayes.likelihood.residuals import Stop, methods_of, residual_sums_of
from vibayes.likelihood.target import PrefixTarget, first_samples


@dataclass
class DistanceTarget(PrefixTarget):
    """The distance of simulated responses from a record, for samplers along the record."""

    finest: float = 1e-3
    """Distances below it are not told apart: a record without noise would have none."""

    def __post_init__(self) -> None:
        distance, record = self.problem.distance, self.problem.motions
        self._along = isinstance(distance, NMSE)
        if isinstance(distance, NMSE):
            weights = distance.per_sample(record)
            self._weights = weights.max(axis=0)
            self._weighted = np.where(weights > 0, np.nan_to_num(record.output) * np.sqrt(weights), 0.0)
            self._known = int(np.count_nonzero(weights))
            self._sums = residual_sums_of(self.problem, self.budget.require_time)
            self._methods = methods_of(self.problem)
            self.unnoticed *= self.size / self._known  # the threshold is a few times this share above the best fit
        else:
            self._distances = judging(self.problem, self.budget.require_time)[0]

    @property
    def measured(self) -> int:
        """Values that make the distance; 0 where that cannot be said."""
        return self._known if self._along else 0

    @property
    def first_block(self) -> int:
        """Samples that are taken together first."""
        return first_samples(self.size, self._weighted) if self._along else self.samples

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Of the whole record."""
        return np.exp(-self.prefix_log_likelihoods(points, (self.samples,))[:, 0])

    def prefix_log_likelihoods(
        self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray | None = None
    ) -> np.ndarray:
        """−log D of the first samples, for several numbers of samples: (points, checkpoints).

        Minus infinity where a constraint is broken, a simulation fails, or the value at the first checkpoint is below
        what is required.
        """
        if required is None:
            required = np.full(len(points), -np.inf)
        allowed = np.flatnonzero(self.allowed(points))
        logs = np.full((len(points), len(checkpoints)), -np.inf)
        if len(allowed):
            logs[allowed] = -np.log(np.maximum(self._computed(points[allowed], checkpoints, required[allowed]),
                                               self.finest))  # fmt: skip
        return logs

    def _computed(self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray) -> np.ndarray:
        """Distances, (points, checkpoints); infinite where a simulation failed or stopped."""

        def computed() -> Sequence[Any]:
            values = self.values(points)
            if self._along:
                limit = np.maximum(np.exp(-required), self.finest)
                scale = np.broadcast_to(self._weights, (len(points), len(self._weights)))
                stop = Stop(np.zeros(len(self._weights)), np.ones(len(self._weights)), scale, limit)
                found = self._sums(values, checkpoints, stop, self._level)
                with np.errstate(invalid="ignore"):
                    distances = np.sum(np.where(self._weights > 0, self._weights * found.sums, 0.0), axis=2)
                failed, message = found.failed, found.message
            else:
                distances, failed, message = self._distances(values, np.inf)
                distances = distances[:, None]
            kept = np.flatnonzero(np.isfinite(distances).all(axis=1))
            return kept, distances[kept], np.flatnonzero(failed), np.frombuffer(message.encode(), np.uint8)

        inputs = (points, np.asarray(checkpoints), required, self._level)
        kept, found, failed, message = self.recall("distances", inputs, computed)
        result = np.full((len(points), len(checkpoints)), np.inf)
        result[kept] = found
        self.counted(len(points), len(failed), message)
        return result
