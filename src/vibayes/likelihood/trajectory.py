"""The likelihood of simulated trajectories: a measured record is the response of the structure, plus white noise.

With residuals e_ic = y_ic − ŷ_ic(θ) of n_c measured values of output c, and S_c the sum of their squares, the noise is
Gaussian with a standard deviation σ_c of its own for every output,

    known or unknown σ_c:   log L = −Σ_c [ S_c / (2 σ_c²) + n_c log σ_c + n_c/2 log 2π ],
    σ_c integrated out:     log L = −Σ_c   n_c/2 log(S_c / n_c v_c),      under the prior dσ_c/σ_c,

the latter up to a constant that is the same for every model: v_c is the variance of the measured output, so that white
noise about its mean has log L = 0. Noise is never taken to be smaller than a resolution, in units of √v_c, lest
a record without noise has an infinite likelihood. The likelihood of the first t samples is the same with sums up to t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.filters.checks import check_noise
from vibayes.likelihood.residuals import Stop, methods_of, residual_sums_of
from vibayes.likelihood.target import PrefixTarget, first_samples

RESOLUTION = 1e-4
"""Smallest noise, in units of the standard deviation of the output: below it, files and simulators round."""


@dataclass
class TrajectoryTarget(PrefixTarget):
    """The likelihood of simulated trajectories, for samplers along the record."""

    def __post_init__(self) -> None:
        if not isinstance(self.problem.distance, NMSE):
            remedy = "leave the distance out, or use a method of approximate Bayesian computation"
            where = f"Problem {self.name!r}"
            raise InvalidInput(where, "residuals, for a likelihood of trajectories", "a distance of your own", remedy)
        self._sums = residual_sums_of(self.problem, self.budget.require_time)
        self._methods = methods_of(self.problem)
        output = self.problem.motions.output
        # Outputs that the distance leaves out are left out here.
        known = np.isfinite(output) & (self.problem.distance.per_sample(self.problem.motions) > 0)
        self._numbers = np.cumsum(known, axis=0)
        self._variances = np.array([output[known[:, c], c].var() if known[:, c].any() else 1.0
                                    for c in range(output.shape[1])])  # fmt: skip
        self._weighted = np.where(known, output, 0.0) / np.sqrt(self._variances)
        noise = self.problem.noise
        self._noise = None if noise is None else check_noise(noise, output.shape[1])

    @property
    def measured(self) -> int:
        """Values that were measured."""
        return int(self._numbers[-1].sum())

    @property
    def first_block(self) -> int:
        """Samples that are taken together first."""
        return first_samples(self.size, self._weighted)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Normalised mean square error of every point, in percent."""
        sums = self._computed(points, (self.samples,), np.full(len(points), -np.inf))[:, 0]
        assert isinstance(self.problem.distance, NMSE)
        weights = self.problem.distance.per_sample(self.problem.motions).max(axis=0)
        return np.sum(np.where(weights > 0, weights * sums, 0.0), axis=1)

    def prefix_log_likelihoods(
        self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-likelihood of the first samples, for several numbers of samples: (points, checkpoints).

        Minus infinity where a constraint is broken, a simulation fails, or the log-likelihood at the first checkpoint
        is below what is ``required`` of the point: such a simulation stops as soon as that is certain.
        """
        if required is None:
            required = np.full(len(points), -np.inf)
        sums = self._computed(points, checkpoints, required)
        return self._log_likelihoods(points, sums, checkpoints)

    def _log_likelihoods(self, points: np.ndarray, sums: np.ndarray, checkpoints: Sequence[int]) -> np.ndarray:
        numbers, floors = self._at(checkpoints)
        if self._noise is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = 0.5 * numbers * np.log((sums + floors) / (np.maximum(numbers, 1) * self._variances))
            return -np.sum(np.where(numbers > 0, terms, 0.0), axis=-1)
        sigma = self._sigma(points)[:, None]
        terms = 0.5 * sums / sigma**2 + numbers * (np.log(sigma) + 0.5 * np.log(2.0 * np.pi))
        return -np.sum(np.where(numbers > 0, terms, 0.0), axis=-1)

    def _at(self, checkpoints: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Measured values up to each checkpoint, and the smallest sum of squares: (checkpoints, outputs)."""
        numbers = self._numbers[np.asarray(checkpoints) - 1]
        return numbers, numbers * RESOLUTION**2 * self._variances

    def _sigma(self, points: np.ndarray) -> np.ndarray:
        """Standard deviation of the noise, (points, outputs); never below the resolution."""
        assert self._noise is not None
        values = self.values(points)
        columns = [values[n] if isinstance(n, str) else np.full(len(points), float(n)) for n in self._noise]
        return np.maximum(np.stack(columns, axis=1), RESOLUTION * np.sqrt(self._variances))

    def _stop(self, points: np.ndarray, first: int, required: np.ndarray) -> Stop:
        """Where log L of the first checkpoint is below what is required."""
        (numbers,), (floors,) = self._at((first,))
        outputs = len(numbers)
        if self._noise is None:
            spread = np.where(numbers > 0, np.log(np.maximum(numbers, 1) * self._variances), 0.0)
            limit = np.sum(0.5 * numbers * spread) - required
            return Stop(0.5 * numbers, np.where(numbers > 0, floors, 1.0), np.zeros((len(points), outputs)), limit)
        sigma = self._sigma(points)
        constant = np.sum(np.where(numbers > 0, numbers * (np.log(sigma) + 0.5 * np.log(2.0 * np.pi)), 0.0), axis=1)
        scale = np.where(numbers > 0, 0.5 / sigma**2, 0.0)
        return Stop(np.zeros(outputs), np.ones(outputs), scale, -required - constant)

    def _computed(self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray) -> np.ndarray:
        """Sums of squares, (points, checkpoints, outputs); infinite where a constraint is broken or a set stops."""
        allowed = np.flatnonzero(self.allowed(points))
        outputs = len(self._variances)
        sums = np.full((len(points), len(checkpoints), outputs), np.inf)
        if not len(allowed):
            return sums
        some, needed = points[allowed], required[allowed]

        def computed() -> Sequence[Any]:
            values, stop = self.values(some), self._stop(some, checkpoints[0], needed)
            found = self._sums(values, checkpoints, stop, self._level)
            # Most proposals are rejected: only what was reached is kept.
            kept = np.flatnonzero(np.isfinite(found.sums).all(axis=(1, 2)))
            message = np.frombuffer(found.message.encode(), np.uint8)
            return kept, found.sums[kept], np.flatnonzero(found.failed), message

        inputs = (some, np.asarray(checkpoints), needed, self._level)
        kept, found, failed, message = self.recall("residual sums", inputs, computed)
        sums[allowed[kept]] = found
        self.counted(len(allowed), len(failed), message)
        return sums
