"""No-U-turn sampling: chains follow the gradient along a trajectory until it turns back, and draw from all of it.

Hoffman & Gelman (2014), with the kernel of blackjax. Coordinates y are those of a cloud of points of the posterior,

    z  =  m + F y,        F Fᵀ the covariance of the cloud,

which makes the posterior about round, however small it is within the prior. While chains warm up, the cloud is where
all of them have been of late, and the step is made such that trajectories are accepted with a given probability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.samplers.likely import Likely, Sample, Stage, recalled, within
from vibayes.samplers.settings import require_counts, require_within
from vibayes.samplers.tempered import TemperedSMC

_CHUNK = 50
"""Steps of one call of the compiled program: a run can be watched and interrupted in between."""
_PER_UNKNOWN = 25
"""Particles that chains begin from, at least."""
_FIRST_STEP = 0.5


@dataclass(frozen=True)
class NUTS:
    """Chains along gradients: the fewest likelihoods per draw where there are many unknowns and one mode.

    They begin at the particles of a short tempered SMC. Needs blackjax, and a model that JAX can differentiate.

    Args:
        draws: kept of each chain.
        chains: side by side.
        warmup: steps of each chain that are not kept; in fifties.
        acceptance: that steps are chosen for; larger means shorter steps and fewer divergences.
        max_doublings: of a trajectory.
        particles: of the tempered SMC.

    Examples:
        >>> from vibayes.samplers.nuts import NUTS
        >>> NUTS(draws=200).chains
        4
    """

    draws: int = 1000
    chains: int = 4
    warmup: int = 300
    acceptance: float = 0.8
    max_doublings: int = 8
    particles: int = 300

    def __post_init__(self) -> None:
        require_counts(self, "draws", "chains", "warmup", "max_doublings", "particles")
        require_within(self, "acceptance", 0.0, 1.0)

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Begin, warm up, draw; all chains at once."""
        blackjax = _blackjax()
        if target.traceable is None:
            remedy = "use AdaptiveMetropolis or TemperedSMC, which need no gradients"
            raise InvalidInput(f"model {target.name!r}", "a likelihood that JAX can trace", "none", remedy)
        chunk = _program(blackjax, target, self.acceptance, self.max_doublings)
        particles = max(self.particles, _PER_UNKNOWN * target.size, self.chains)
        begun = None
        for stage in within(0.0, 0.2, TemperedSMC(particles).sample(rng, target)):
            begun = stage.sample
            yield replace(stage, name="begin")
        assert begun is not None
        # An array as later steps are: another kind of number would mean to compile again.
        cloud, step = begun.points[0], np.asarray(_FIRST_STEP)
        chains = cloud[rng.choice(particles, self.chains, replace=False)]
        rounds, gradients = -(-self.warmup // _CHUNK), 0
        for number in range(rounds):
            done = chunk(_key(rng), chains, step, *_frame(cloud), adapt=True)
            chains, step, gradients = done.points[-1], done.step, gradients + int(done.gradients)
            # Where chains have been of late, and in the first rounds the particles.
            cloud = np.concatenate([cloud[len(cloud) // 2 :], done.points.reshape(-1, target.size)])
            yield Stage("warm up", 0.2 + 0.3 * (number + 1) / rounds, float(done.acceptance.mean()), begun)
        frame, kept = _frame(cloud), []
        for _ in range(-(-self.draws // _CHUNK)):
            done = chunk(_key(rng), chains, step, *frame, adapt=False)
            chains, gradients = done.points[-1], gradients + int(done.gradients)
            kept.append(done)
            sample = self._sample(kept, gradients)
            ended = sample.points.shape[1] == self.draws
            share = 0.5 + 0.5 * sample.points.shape[1] / self.draws
            yield Stage("done" if ended else "draw", share, sample.acceptance, sample)

    def _sample(self, kept: list[_Done], gradients: int) -> Sample:
        """Draws of all chunks."""
        points, logs, acceptance, divergent = (
            np.concatenate([getattr(done, name) for done in kept])[: self.draws].swapaxes(0, 1)
            for name in ("points", "log_likelihoods", "acceptance", "divergent")
        )
        note = ""
        if count := int(divergent.sum()):
            share = f"{count:,} of {divergent.size:,} trajectories diverged"
            note = f"{share}: there may be places that were not reached; raise NUTS.acceptance, or use TemperedSMC"
        return Sample(points, logs, float(acceptance.mean()), note=note, gradients=gradients)


class _Done(NamedTuple):
    """Of one chunk: (steps, chains, ...)."""

    points: Any
    log_likelihoods: Any
    acceptance: Any
    divergent: Any
    gradients: Any
    step: Any


def _program(blackjax: Any, target: Likely, acceptance: float, max_doublings: int) -> Callable[..., _Done]:
    """A chunk of steps of all chains, compiled."""
    traceable = target.traceable
    assert traceable is not None
    kernel = blackjax.nuts.build_kernel()
    first, better, settled = blackjax.adaptation.step_size.dual_averaging_adaptation(acceptance)

    def log_density(z):
        value = traceable(z) - 0.5 * z @ z
        return jnp.where(jnp.isfinite(value), value, -jnp.inf)

    def chunk(key, chains, step, origin, factor, adapt):
        def density(y):
            return log_density(origin + factor @ y)

        def advance(carry, key):
            states, tuning = carry
            size = jnp.where(adapt, jnp.exp(tuning.log_step_size), step)
            keys = jax.random.split(key, len(chains))
            states, info = jax.vmap(lambda k, s: kernel(k, s, density, size, jnp.ones(len(origin)), max_doublings))(
                keys, states
            )
            accepted = jnp.nan_to_num(info.acceptance_rate)
            return (states, better(tuning, accepted.mean())), (
                states.position, states.logdensity, accepted, info.is_divergent, info.num_integration_steps.sum(),
            )  # fmt: skip

        y = jnp.linalg.solve(factor, (chains - origin).T).T
        states = jax.vmap(lambda y: blackjax.nuts.init(y, density))(y)
        (_, tuning), (y, logs, accepted, divergent, gradients) = jax.lax.scan(
            advance, (states, first(step)), jax.random.split(key, _CHUNK)
        )
        points = origin + y @ factor.T
        log_likelihoods = logs + 0.5 * jnp.sum(points**2, axis=-1)
        step = jnp.where(adapt, settled(tuning), step)
        return _Done(points, log_likelihoods, accepted, divergent, gradients.sum(), step)

    compiled = jax.jit(chunk)

    def run(key, chains, step, origin, factor, adapt) -> _Done:
        given = (jax.random.key_data(key), chains, step, origin, factor, adapt)
        done = recalled(target, "no U-turn", given, lambda: compiled(key, *given[1:]))
        return _Done(*(np.asarray(each) for each in done))

    return run


def _frame(cloud: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of a cloud, and the Cholesky factor of its covariance."""
    covariance = np.cov(cloud, rowvar=False).reshape(cloud.shape[1], -1)
    scale = np.sqrt(np.diag(covariance)) + 1e-300
    return cloud.mean(axis=0), scale[:, None] * np.linalg.cholesky(
        covariance / scale / scale[:, None] + 1e-10 * np.eye(len(scale))
    )


def _key(rng: np.random.Generator) -> jax.Array:
    return jax.random.key(int(rng.integers(2**32)))


def _blackjax() -> Any:
    try:
        import_module("blackjax.adaptation.step_size")
        return import_module("blackjax")
    except ImportError:
        raise InvalidInput("NUTS", "blackjax", "none", "pip install 'vibayes[nuts]'") from None
