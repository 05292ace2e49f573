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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from vibayes.budget import Budget, unlimited
from vibayes.candidates import Count
from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.filters.checks import check_noise
from vibayes.journal import Arrays, Recall, always_computed
from vibayes.likelihood.residuals import Stop, methods_of, residual_sums_of
from vibayes.nesting import embedded, preimages
from vibayes.prior_space import Feasible, feasible, meets, shares_at
from vibayes.problem import Problem

RESOLUTION = 1e-4
"""Smallest noise, in units of the standard deviation of the output: below it, files and simulators round."""
_FIRST = 24
"""Samples of the first block at least: fewer tell too little of a wide prior to be worth a step."""
_BEGUN = 1e-4
"""Share of the energy of the outputs after which a motion has begun."""
_UNNOTICED = 0.1
"""Root mean square error of the log-likelihood, in nats, that a method of simulation may make."""
_CHECKED = 24
"""Points at which that is measured."""


@dataclass
class TrajectoryTarget:
    """One problem with measured inputs, with a count of what it has cost, and with what was computed of it before."""

    problem: Problem
    count: Count = field(default_factory=Count)
    remember: Recall = always_computed
    budget: Budget = field(default_factory=unlimited)

    def __post_init__(self) -> None:
        if not isinstance(self.problem.distance, NMSE):
            remedy = "leave the distance out, or use a method of approximate Bayesian computation"
            where = f"Problem {self.name!r}"
            raise InvalidInput(where, "residuals, for a likelihood of trajectories", "a distance of your own", remedy)
        self._sums = residual_sums_of(self.problem, self.budget.require_time)
        self._level, self._methods = 0, methods_of(self.problem)
        output = self.problem.motions.output
        # Outputs that the distance leaves out are left out here.
        known = np.isfinite(output) & (self.problem.distance.per_sample(self.problem.motions) > 0)
        self._numbers = np.cumsum(known, axis=0)
        self._variances = np.array([output[known[:, c], c].var() if known[:, c].any() else 1.0
                                    for c in range(output.shape[1])])  # fmt: skip
        self._energy = np.cumsum(np.sum(np.where(known, output, 0.0) ** 2 / self._variances, axis=1))
        noise = self.problem.noise
        self._noise = None if noise is None else check_noise(noise, output.shape[1])

    @property
    def name(self) -> str:
        """Of the model."""
        return self.problem.name

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.problem.priors)

    @property
    def prior_probability(self) -> float:
        """Of the model."""
        return self.problem.prior_probability

    @property
    def samples(self) -> int:
        """Of the record."""
        return self.problem.motions.samples

    @property
    def measured(self) -> int:
        """Values that were measured."""
        return int(self._numbers[-1].sum())

    @cached_property
    def feasible(self) -> Feasible:
        """Share of the prior that the constraints leave, over which it is normalised."""
        return feasible(self.problem)

    @cached_property
    def log_prior_share(self) -> float:
        """Logarithm of the share of the prior that meets the constraints, whether or not it is normalised over it."""
        if self.problem.constrained_prior == "normalised":
            return self.feasible.log_share
        return feasible(replace(self.problem, constrained_prior="normalised")).log_share

    @property
    def first_block(self) -> int:
        """Samples that are taken together first: from where the motion begins, some for every unknown."""
        begun = int(np.searchsorted(self._energy, _BEGUN * self._energy[-1]))
        outputs = max(int(np.count_nonzero(self._numbers[-1])), 1)
        return min(begun + max(_FIRST, -(-2 * self.size // outputs)), self.samples)

    def values(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of every point, by name."""
        shares = np.clip(shares_at(self.problem, ndtr(points)), 1e-300, 1.0 - 1e-16)
        priors = self.problem.priors.items()
        return {name: np.asarray(prior.icdf(shares[:, i]), float) for i, (name, prior) in enumerate(priors)}

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points meet the constraints."""
        return np.array(meets(self.problem, self.values(points))) if len(points) else np.ones(0, bool)

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

    def refine(self, points: np.ndarray, samples: int) -> bool:
        """Whether a more accurate method of simulation was needed for the first samples, at points of the posterior.

        Its error must not be seen by the likelihood: the difference from the most accurate method has a root mean
        square of less than a tenth of a nat.
        """
        refined = False
        while self._level + 1 < len(self._methods):
            chosen = points[np.linspace(0, len(points) - 1, min(_CHECKED, len(points))).astype(int)]
            best = len(self._methods) - 1
            there = self._at_level(chosen, samples, best)
            here = self._at_level(chosen, samples, self._level)
            both = np.isfinite(there) & np.isfinite(here)
            if both.any() and np.sqrt(np.mean((there - here)[both] ** 2)) < _UNNOTICED:
                break
            self._level += 1
            refined = True
        return refined

    @property
    def method(self) -> Any:
        """The method of simulation in use; None for a simulator of one's own."""
        return self._methods[self._level] if self._methods else None

    def log_likelihoods_at_best(self, points: np.ndarray) -> np.ndarray:
        """Log-likelihoods of the whole record by the most accurate method."""
        return self._at_level(points, self.samples, max(len(self._methods) - 1, 0))

    @property
    def approximate(self) -> bool:
        """Whether there is a more accurate method than the one in use."""
        return self._level + 1 < len(self._methods)

    def embedded(self, rng: np.random.Generator, small: TrajectoryTarget, points: np.ndarray) -> np.ndarray:
        """Points of a smaller model as points of this one, with the rest drawn from the prior."""
        return _scores(embedded(rng, small.problem, self.problem, ndtr(points)))

    def preimages(self, small: TrajectoryTarget, points: np.ndarray) -> np.ndarray | None:
        """Points of a smaller model that would become these, (ways, points, its unknowns); None if it is not nested."""
        found = preimages(small.problem, self.problem, ndtr(points))
        return None if found is None else _scores(found)

    def recall(self, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
        """What was computed of this problem for these inputs before, if it was kept; else it is computed."""
        return self.remember(f"{self.name}: {kind}", inputs, compute)

    def _at_level(self, points: np.ndarray, samples: int, level: int) -> np.ndarray:
        before, self._level = self._level, level
        try:
            return self.prefix_log_likelihoods(points, (samples,))[:, 0]
        finally:
            self._level = before

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
        self.count.simulations += len(allowed)
        self.count.failures += len(failed)
        self.count.first_failure = self.count.first_failure or message.tobytes().decode()
        return sums


def _scores(coordinates: np.ndarray) -> np.ndarray:
    """Normal coordinates of points of the unit cube."""
    return ndtri(np.clip(coordinates, 1e-300, 1.0 - 1e-16))
