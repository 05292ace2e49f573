"""Chains that step at random and stay where they are if the step leads to where too little speaks for it.

From z a step leads to z'; with π(z) = N(z; 0, I) L(z) it is made with the probability

    min(1, π(z') / π(z)),

and if it is not made, z counts once more. Metropolis et al. (1953); nothing is known of π but its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.climb import density
from vibayes.samplers.likely import Likely, Sample, Softening, Stage, from_prior, likelihoods, log_prior, within
from vibayes.samplers.moves import Points, move, moves_of, tuned
from vibayes.samplers.populations import populations, summits
from vibayes.samplers.settings import require_counts
from vibayes.samplers.tempered import TemperedSMC

_WANTED = 0.4
"""Share of steps of a plain chain that should be made."""
_FIRST_STEP = 0.1
_REPORTS = 50
"""Stages per run."""
_PER_UNKNOWN = 10
"""Particles that chains begin from, at least."""
_BEGIN_VARIATION, _BEGIN_MOVES = 1.5, 2
"""Of weights per level, and of each particle: they need not have forgotten where they began, for chains warm up. For
the same work, many particles with few moves find more modes than few with many."""
_BELOW = 3.0
"""Times the number of unknowns: a climber so far below the highest, in log π, has gone astray."""
_WIDER = 1.5
"""Times as wide as climbers lie is the Gaussian around them."""
_AGAIN, _AGAIN_MOVES = 20, 3
"""Particles per unknown around there, at most, and moves of each per level."""
_REFITS = 0.1, 0.4, 0.8
"""Shares of the warm-up after which the moves take the shape of where the chains have been since the first of these.
The last time there should be many points: where jumps lead too seldom, a chain is stuck."""


@dataclass(frozen=True)
class Metropolis:
    """Random-walk Metropolis as published: independent Gaussian steps, of the same size in all coordinates.

    It begins at the median of the prior, and the first half of every chain is discarded. Plain and slow, for checking
    and comparing.

    Args:
        draws: kept of each chain; as many before them are discarded.
        chains: side by side.
        step: standard deviation of a step, one for all coordinates or one for each; by default it is tuned while steps
            are discarded, so that 40 % of them are made.
        starts: where chains begin, (chains, size).

    Examples:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> from vibayes.samplers.likely import finished
        >>> from vibayes.samplers.metropolis import Metropolis
        >>> def log_likelihood(z):
        ...     return -0.5 * np.sum((z - 1.0) ** 2, axis=1)
        >>> target = SimpleNamespace(
        ...     name="toy", size=1, prior_probability=1.0, traceable=None, log_likelihood=log_likelihood
        ... )
        >>> sample = finished(Metropolis(draws=2000).sample(np.random.default_rng(0), target))
        >>> bool(abs(sample.points.mean() - 0.5) < 0.1)
        True
    """

    draws: int = 5000
    chains: int = 4
    step: float | Sequence[float] | None = None
    starts: np.ndarray | None = None

    def __post_init__(self) -> None:
        require_counts(self, "draws", "chains")
        if self.step is not None and not np.all(np.asarray(self.step, float) > 0):
            raise InvalidInput("Metropolis.step", "positive numbers", repr(self.step), "change it")

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Work step by step, all chains at once."""
        now, logs, note = self._begin(rng, target)
        step = _FIRST_STEP if self.step is None else np.asarray(self.step, float)
        kept = _Kept(self.chains, self.draws, target.size)
        for number in range(2 * self.draws):
            proposed = now + step * rng.standard_normal(now.shape)
            values = likelihoods(target, proposed)
            chance = np.exp(np.minimum(values - logs + log_prior(proposed) - log_prior(now), 0.0))
            accept = rng.random(self.chains) < chance
            now, logs = np.where(accept[:, None], proposed, now), np.where(accept, values, logs)
            if number >= self.draws:
                kept.add(now, logs, accept.mean())
            elif self.step is None:
                step = step * np.exp((chance.mean() - _WANTED) / (1.0 + number) ** 0.6)
            yield from kept.report(number + 1, 2 * self.draws, note)

    def _begin(self, rng: np.random.Generator, target: Likely) -> tuple[np.ndarray, np.ndarray, str]:
        """Where chains begin, the likelihood there, and what there is to say."""
        given = self.starts is not None
        starts = np.asarray(self.starts, float) if given else np.zeros((self.chains, target.size))
        if starts.shape != (self.chains, target.size):
            expected = f"shape (chains, size) = ({self.chains}, {target.size})"
            raise InvalidInput("Metropolis.starts", expected, str(starts.shape), "give one row per chain")
        logs = likelihoods(target, starts)
        if np.isfinite(logs).all():
            return starts, logs, ""
        if given:
            raise InvalidInput("Metropolis.starts", "possible points", "an impossible one", "begin elsewhere")
        starts, logs, _ = from_prior(rng, target, self.chains)
        return starts, logs, "the median of the prior is impossible: chains began at draws of the prior"


@dataclass(frozen=True)
class AdaptiveMetropolis:
    """Many chains that learn together, from where all of them have been, how to move.

    They begin where the posterior is found, however small it is within the prior: where the record can be taken for
    noisier than it is, by populations under less and less noise and a climb from where they end (`populations`), and
    otherwise by a short tempered SMC. While they warm up, moves take the shape of the draws of all chains (after Haario
    et al. 2001) and become as long as is best. Then the moves stay as they are and draws are kept. Some moves are jumps
    to draws of a known density (`moves`), which lead from mode to mode, and tell the evidence at no further cost.

    Args:
        draws: kept of each chain.
        chains: side by side; each step is one call of the likelihood with so many points.
        warmup: steps of each chain that are not kept.
        particles: at the beginning; more of them are surer to find all modes.
        starts: points (count, size) near which the posterior is known to lie, as draws of a similar one
            (``ModelPosterior.sample.flat``): from there it is found without a search of the prior.

    Examples:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> from vibayes.samplers.likely import finished
        >>> from vibayes.samplers.metropolis import AdaptiveMetropolis
        >>> def log_likelihood(z):
        ...     return -0.5 * np.sum((z - 1.0) ** 2, axis=1) / 0.1**2
        >>> target = SimpleNamespace(
        ...     name="toy", size=2, prior_probability=1.0, traceable=None, log_likelihood=log_likelihood
        ... )
        >>> sample = finished(AdaptiveMetropolis(draws=100, warmup=100).sample(np.random.default_rng(0), target))
        >>> bool(np.all(abs(sample.flat.mean(axis=0) - 1.0 / 1.01) < 0.02))
        True
    """

    draws: int = 500
    chains: int = 48
    warmup: int = 250
    particles: int = 500
    starts: np.ndarray | None = None

    def __post_init__(self) -> None:
        require_counts(self, "draws", "chains", "warmup", "particles")

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Begin, warm up, draw; all chains at once."""
        particles = max(self.particles, _PER_UNKNOWN * target.size)
        begun = None
        for stage in within(0.0, 0.4, _begin(rng, target, particles, self.starts)):
            begun = stage.sample
            yield replace(stage, name="begin")
        assert begun is not None
        cloud = Points(begun.points[0], begun.log_likelihoods[0])
        chains = cloud.of(rng.choice(len(cloud.points), self.chains, replace=len(cloud.points) < self.chains))
        moves = moves_of(cloud.points, np.ones(len(cloud.points)))
        visited, refits = [], [int(share * self.warmup) for share in _REFITS]
        for number in range(self.warmup):
            chains, made = move(rng, target, chains, moves)
            moves = tuned(moves, made, 1.0 / (1.0 + number) ** 0.6)
            visited.append(chains.points)
            if number in refits:
                few = len(visited) * self.chains < particles
                seen = np.concatenate([*visited, cloud.points] if few else visited)
                moves = moves_of(seen, np.ones(len(seen)), moves)
                visited = visited if number > refits[0] else []
            if number % max(self.warmup // _REPORTS, 1) == 0:
                yield Stage("warm up", 0.4 + 0.1 * number / self.warmup, made.accepted, begun)
        kept, log_weights = _Kept(self.chains, self.draws, target.size), []
        for number in range(self.draws):
            chains, made = move(rng, target, chains, moves)
            kept.add(chains.points, chains.log_likelihoods, made.accepted)
            log_weights.append(made.log_weights)
            for stage in within(0.5, 1.0, kept.report(number + 1, self.draws, "")):
                evidence, error = _evidence(np.concatenate(log_weights), begun)
                assert stage.sample is not None
                yield replace(stage, sample=replace(stage.sample, log_evidence=evidence, log_evidence_error=error))


def _begin(
    rng: np.random.Generator, target: Likely, particles: int, starts: np.ndarray | None = None
) -> Iterator[Stage]:
    """Find the posterior."""
    softening = target if isinstance(target, Softening) and target.softens else None
    if starts is not None:
        points = _require_starts(target, starts)
        climbed = summits(softening, points) if softening else (points, _no_curvature(points))
        yield from _around(rng, target, *climbed, particles)
        return
    if softening is None:
        yield from TemperedSMC(particles, _BEGIN_VARIATION, _BEGIN_MOVES).sample(rng, target)
        return
    begun = None
    for stage in within(0.0, 0.75, populations(rng, softening, particles)):
        begun = stage.sample
        yield stage
    assert begun is not None
    yield from within(0.75, 1.0, _around(rng, target, *summits(softening, begun.points[0]), particles))


def _require_starts(target: Likely, starts: np.ndarray) -> np.ndarray:
    points = np.asarray(starts, float)
    if points.ndim != 2 or points.shape[1] != target.size or len(points) <= target.size:
        expected = f"more than {target.size} points of size {target.size}"
        raise InvalidInput("AdaptiveMetropolis.starts", expected, f"shape {points.shape}", "give one row per point")
    if not np.isfinite(likelihoods(target, points)).any():
        raise InvalidInput("AdaptiveMetropolis.starts", "possible points", "none", "begin elsewhere")
    return points


def _no_curvature(points: np.ndarray) -> np.ndarray:
    """Where points alone tell how wide the posterior is."""
    return np.zeros((len(points), points.shape[1], points.shape[1]))


def _around(
    rng: np.random.Generator, target: Likely, points: np.ndarray, inverse: np.ndarray, particles: int
) -> Iterator[Stage]:
    """Begin anew around summits of which the inverse curvature is known."""
    heights = density(target, points)
    high = heights > heights.max() - _BELOW * target.size
    points, inverse = points[high], inverse[high].mean(axis=0)
    around = _Around(target, points.mean(axis=0), np.cov(points.T, ddof=0).reshape(inverse.shape) + inverse)
    count = min(particles, _AGAIN * target.size)
    for stage in TemperedSMC(count, max_moves=_AGAIN_MOVES).sample(rng, around):
        assert stage.sample is not None
        found = around.there(stage.sample.flat)
        logs = stage.sample.log_likelihoods - around.correction(stage.sample.flat)
        yield replace(stage, sample=replace(stage.sample, points=found[None], log_likelihoods=logs))


class _Around:
    """A target in coordinates y in which a wide Gaussian q around some points is the standard normal.

    What a sampler takes for its prior is q, and for its likelihood π / q; so the evidence is the same.
    """

    def __init__(self, target: Likely, mean: np.ndarray, covariance: np.ndarray):
        self.target, self.mean = target, mean
        self.name, self.size, self.prior_probability = target.name, target.size, target.prior_probability
        self.traceable = None
        self.root = _WIDER * np.linalg.cholesky(covariance)
        self.log_volume = float(np.sum(np.log(np.diag(self.root))))

    def there(self, y: np.ndarray) -> np.ndarray:
        """In the coordinates of the target."""
        return self.mean + y @ self.root.T

    def correction(self, y: np.ndarray) -> np.ndarray:
        """log (prior / q)."""
        return log_prior(self.there(y)) - log_prior(y) + self.log_volume

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        """log (π / q)."""
        return likelihoods(self.target, self.there(points)) + self.correction(points)


def _evidence(log_weights: np.ndarray, begun: Sample) -> tuple[float, float]:
    """Logarithm of the evidence and its standard error, from jumps or from the beginning, whichever is surer."""
    count = len(log_weights)
    if count < 2 or not np.isfinite(log_weights).any():
        return begun.log_evidence, begun.log_evidence_error
    top = log_weights.max()
    weights = np.exp(log_weights - top)
    error = float(weights.std(ddof=1) / weights.mean() / np.sqrt(count))
    if error > begun.log_evidence_error:
        return begun.log_evidence, begun.log_evidence_error
    return float(top + np.log(weights.mean())), error


class _Kept:
    """Draws as they come."""

    def __init__(self, chains: int, draws: int, size: int):
        self.points, self.logs = np.empty((chains, draws, size)), np.empty((chains, draws))
        self.count, self.accepted = 0, 0.0

    def add(self, points: np.ndarray, logs: np.ndarray, accepted: float) -> None:
        self.points[:, self.count], self.logs[:, self.count] = points, logs
        self.count += 1
        self.accepted += (float(accepted) - self.accepted) / self.count

    def report(self, number: int, whole: int, note: str) -> Iterator[Stage]:
        """A stage now and then, and at the end."""
        if number != whole and number % max(whole // _REPORTS, 1):
            return
        if not self.count:
            yield Stage("warm up", number / whole)
            return
        points, logs = self.points[:, : self.count], self.logs[:, : self.count]
        sample = Sample(points, logs, self.accepted, note=note)
        yield Stage("done" if number == whole else "draw", number / whole, self.accepted, sample)
