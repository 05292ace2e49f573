"""Populations within ever smaller thresholds, each drawn around the one before and weighted for it: ABC-SMC.

After Toni et al. (2009), with the kernel of Beaumont et al. (2009) and thresholds that are quantiles of the population.
A model m is drawn with some probability, then one of its particles θ_j of the last population with its weight w_j, and
moved by a Gaussian of twice the weighted covariance Σ of those particles. That is a draw from

    q(θ) = Σ_j w_j N(θ; θ_j, 2 Σ),

and if it is within the next threshold it stands for the prior mass 1 / q(θ), the prior being uniform in the unit cube.
So the mass of a model is the sum of 1 / q over its particles by the number of its draws; the probability of a model is
in proportion to its prior probability times its mass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vibayes.samplers.ellipsoids import moments
from vibayes.samplers.likely import between_batches
from vibayes.samplers.quantiles import weighted_quantile
from vibayes.samplers.rejection import (
    Found,
    Proposal,
    collect,
    from_prior,
    prior_shares,
    weighed,
)
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.shapes import Candidate, Draws, Snapshot, probabilities_of

_JUMP = 0.3
"""Probability that the model is drawn at random among those alive, lest an improbable one dies by chance."""
_ROWS = 256
"""Points whose density is computed at once: the table of all would not fit the cache."""


@dataclass(frozen=True)
class ABCSMC:
    """Sequential Monte Carlo with weighted particles: the plain method to compare others with.

    Standard errors come from the effective number of particles of each model in the last population. They know nothing
    of a region that an earlier population has lost.

    Args:
        particles: per population, of all models together.
        quantile: share of a population, by weight, that is within the next threshold.
        threshold: where to stop; without one the run goes on until the threshold hardly falls or too few draws are
            accepted.
        max_populations: after which the run ends anyway.
        min_acceptance: share of draws within the threshold below which a population is given up, and the one before
            it is the result. Draws that leave the cube or break a constraint count.
        min_fall: the run ends when the threshold would fall by less than this share of itself, as it does at the noise
            floor.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.samplers.smc import ABCSMC
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.linspace(0.0, 1.0, 11)})
        >>> problem = vb.Problem(lambda slope: slope * np.linspace(0.0, 1.0, 11), record, {"slope": vb.Uniform(0, 4)})
        >>> posterior = vb.infer(0, problem, ABCSMC(particles=100, threshold=0.1))
        >>> 1.0 in posterior.selected.interval("slope")
        True
    """

    particles: int = 1000
    quantile: float = 0.5
    threshold: float | None = None
    max_populations: int = 50
    min_acceptance: float = 0.01
    min_fall: float = 0.005

    def __post_init__(self) -> None:
        require_counts(self, "particles", "max_populations")
        require_within(self, "quantile", 0.0, 1.0)
        require_within(self, "min_acceptance", 0.0, 1.0)
        require_within(self, "min_fall", 0.0, 1.0)
        if self.threshold is not None:
            require_within(self, "threshold", 0.0, np.inf)

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work population by population."""
        most = int(np.ceil(self.particles / self.min_acceptance))
        prior = from_prior(rng, candidates)
        found = collect(rng, candidates, prior, prior_shares(candidates), np.inf, self.particles, most)
        threshold, number, draws, ended = np.inf, 1, tuple(weighed(found)), None
        if found.count < self.particles:
            ended = f"only {found.count:,} of {found.tried:,} draws are allowed and can be simulated"
        while ended is None:
            yield _snapshot("population", candidates, threshold, found, draws, self._note(threshold, ""))
            following = _quantile(candidates, draws, self.quantile)
            ended = self._end(number, threshold, following)
            if ended is not None:
                break
            following = max(following, self.threshold or 0.0)
            kernels = [_kernel(each) for each in draws]
            propose, shares = _around(rng, candidates, kernels), _shares(candidates, draws)
            trial = collect(rng, candidates, propose, shares, following, self.particles, most)
            if trial.count < self.particles:
                ended = self._short(f"less than {self.min_acceptance:.2g} of the draws are within {following:.4g}")
                break
            found, threshold, number = trial, following, number + 1
            densities = [
                k.log_density(p, between_batches(c)) if k else np.empty(0)
                for k, p, c in zip(kernels, found.points, candidates, strict=True)
            ]
            draws = tuple(weighed(found, densities))
        yield _snapshot("done", candidates, threshold, found, draws, self._note(threshold, ended))

    def _end(self, number: int, threshold: float, following: float) -> str | None:
        """Whether this is the last population: then why, where there is need to say so."""
        if self.threshold is not None and threshold <= self.threshold:
            return ""
        if following > (1.0 - self.min_fall) * threshold:
            return self._short("the threshold hardly falls any more")
        if number == self.max_populations:
            return f"ended after {number} populations, while the threshold was still falling"
        return None

    def _short(self, why: str) -> str:
        """Nothing need be said of an end that was asked for, in not asking for a threshold."""
        return "" if self.threshold is None else why

    def _note(self, threshold: float, ended: str) -> str:
        """What there is to say, if this is the end."""
        said = ""
        if not np.isfinite(threshold):
            said = "these are draws of the prior"
        elif self.threshold is not None and threshold > self.threshold:
            said = f"the threshold is {threshold:.4g}, not {self.threshold:.4g}"
        return ": ".join(part for part in (said, ended) if part)


class _Kernel(NamedTuple):
    """Gaussians of one covariance around weighted particles."""

    centres: np.ndarray
    shares: np.ndarray
    factor: np.ndarray

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        chosen = self.centres[rng.choice(len(self.centres), count, p=self.shares)]
        return chosen + rng.normal(size=chosen.shape) @ self.factor.T

    def log_density(self, points: np.ndarray, before_rows: Callable[[], None]) -> np.ndarray:
        size = self.centres.shape[1]
        centres = np.linalg.solve(self.factor, self.centres.T).T
        rounded = np.linalg.solve(self.factor, points.T).T
        answer = np.empty(len(points))
        for first in range(0, len(points), _ROWS):
            before_rows()
            rows = rounded[first : first + _ROWS]
            exponents = -0.5 * np.sum((rows[:, None] - centres) ** 2, axis=2) + np.log(self.shares)
            top = exponents.max(axis=1)
            answer[first : first + _ROWS] = np.log(np.exp(exponents - top[:, None]).sum(axis=1)) + top
        return answer - np.log(np.diag(self.factor)).sum() - 0.5 * size * np.log(2.0 * np.pi)


def _kernel(draws: Draws) -> _Kernel | None:
    """None for a model that has died."""
    if not len(draws.points):
        return None
    return _Kernel(draws.points, draws.weights, np.sqrt(2.0) * moments(draws.points, draws.weights)[1])


def _around(rng: np.random.Generator, candidates: Sequence[Candidate], kernels: Sequence[_Kernel | None]) -> Proposal:
    def propose(number: int, count: int) -> np.ndarray:
        kernel = kernels[number]
        return np.empty((0, candidates[number].size)) if kernel is None else kernel.draw(rng, count)

    return propose


def _shares(candidates: Sequence[Candidate], draws: Sequence[Draws]) -> np.ndarray:
    """With which probability a draw is given to each model: most by their probabilities, some at random."""
    alive = np.array([len(each.points) > 0 for each in draws], float)
    p, _ = probabilities_of(draws, candidates)
    return (1.0 - _JUMP) * p + _JUMP * alive / alive.sum()


def _quantile(candidates: Sequence[Candidate], draws: Sequence[Draws], share: float) -> float:
    """Of the distances of a whole population, by weight."""
    p, _ = probabilities_of(draws, candidates)
    distances = np.concatenate([each.distances for each in draws])
    weights = np.concatenate([mine * each.weights for mine, each in zip(p, draws, strict=True)])
    return weighted_quantile(distances, weights, share)


def _snapshot(stage, candidates, threshold: float, found: Found, draws: tuple[Draws, ...], note: str) -> Snapshot:
    p, errors = probabilities_of(draws, candidates)
    return Snapshot(stage, threshold, 1.0, found.acceptance, tuple(p), tuple(errors), draws, note)
