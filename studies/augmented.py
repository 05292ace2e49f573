"""The method that the paper compares with: parameters as states of an unscented filter that never change.

As textbooks have it: covariances instead of their square roots, Gaussian priors. Weights of sigma points are positive
(λ = 0; with the paper's λ = 3 − n the covariance lost its sign on every record tried). It works over the same
structures, each sigma point with its own parameters; a white input is a state too, held over an interval. Where the
covariance loses its sign it has collapsed. Nothing is tuned: parameters are constant, without artificial noise that
keeps their covariance open, and start with the moments of their priors.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import vibayes as vb
from vibayes.filters.discrete import discretise
from vibayes.structure.element import as_arrays, bind

LEAST = 1e-3
"""Share of the prior mean below which a parameter of a sigma point is cut off, for it must be positive."""
START = 0.01
"""Standard deviation of every state at rest, without which the covariance is singular from the start."""


def augmented(problem: vb.Problem) -> dict[str, Any]:
    """Mean and 95 % interval of every parameter at the end of the record, and which are negative though none can be; or
    that it has collapsed.
    """
    prepared = problem.filtering()
    names = tuple(problem.priors)
    shares = (np.arange(2000) + 0.5) / 2000
    moments = {name: np.asarray(prior.icdf(shares)) for name, prior in problem.priors.items()}
    prior_mean = np.array([values.mean() for values in moments.values()])
    prior_deviation = np.array([values.std() for values in moments.values()])
    noise = prepared.noise.deviations(jnp.asarray)

    def model_of(parameters):
        values = dict(zip(names, jnp.maximum(parameters, LEAST * prior_mean), strict=True))
        return discretise(as_arrays(bind(prepared.structure, values)), prepared.interval, prepared.method.steps)

    start, lower = model_of(jnp.asarray(prior_mean)).start(START, START)
    lower = lower + START * jnp.diag((jnp.diagonal(lower) == 0.0).astype(float))
    own, size = len(start), len(start) + len(names)
    more = len(model_of(jnp.asarray(prior_mean)).white)
    given = jnp.zeros(0)

    def points_of(mean, covariance):
        root = jnp.linalg.cholesky(covariance + 1e-12 * jnp.diag(jnp.diagonal(covariance) + 1e-12))
        root = root * np.sqrt(len(mean))
        return jnp.concatenate([mean[:, None], mean[:, None] + root, mean[:, None] - root], axis=1)

    def one(point, index):
        parameters = point[own:size]
        model = model_of(parameters)
        held = jnp.stack([point[size:], jnp.zeros(more)], axis=1).ravel()
        ahead = model.advance(jnp.concatenate([point[:own], held])[:, None], index, jnp.stack([given, given]))[:, 0]
        return jnp.concatenate([ahead, parameters]), jnp.zeros((own, 0)) if more else model.noise_of(index)

    def reading(point, index):
        return model_of(point[own:]).measure(point[:own, None], index, given)[:, 0]

    def moments_of(images):
        weights = np.full(images.shape[1], 1.0 / (images.shape[1] - 1))
        weights[0] = 0.0
        mean = images @ weights
        return mean, images - mean[:, None], weights

    def sample(carry, this):
        mean, covariance = carry
        index, y = this
        points = points_of(mean, covariance)
        readings = jax.vmap(lambda p: reading(p, index), in_axes=1, out_axes=1)(points)
        expected, away, weights = moments_of(readings)
        spread = (away * weights) @ away.T + jnp.diag(noise**2)
        cross = ((points - mean[:, None]) * weights) @ away.T
        gain = jnp.linalg.solve(spread, cross.T).T
        mean, covariance = mean + gain @ (y - expected), covariance - gain @ spread @ gain.T
        pushed = jnp.concatenate([mean, jnp.zeros(more)]), jax.scipy.linalg.block_diag(covariance, jnp.eye(more))
        images, columns = jax.vmap(lambda p: one(p, index), in_axes=1, out_axes=(1, 0))(points_of(*pushed))
        mean, away, weights = moments_of(images)
        noise_part = jnp.zeros((size, size)).at[:own, :own].set(columns[0] @ columns[0].T)
        covariance = (away * weights) @ away.T + noise_part
        return (mean, 0.5 * (covariance + covariance.T)), None

    first = jnp.concatenate([start, jnp.asarray(prior_mean)])
    spread = jax.scipy.linalg.block_diag(lower @ lower.T, jnp.diag(jnp.asarray(prior_deviation**2)))
    indices = jnp.arange(prepared.outputs.shape[0])
    (mean, covariance), _ = jax.jit(lambda: jax.lax.scan(sample, (first, spread), (indices, prepared.outputs)))()
    mean, variance = np.asarray(mean)[own:], np.diagonal(covariance)[own:]
    if not (np.isfinite(mean).all() and (variance > 0).all()):
        return {"collapsed": True}
    half = 1.96 * np.sqrt(variance)
    return {
        "collapsed": False,
        "impossible": [name for name, value in zip(names, mean, strict=True) if value <= 0.0],
        "mean": dict(zip(names, mean.tolist(), strict=True)),
        "ci95": {n: [m - h, m + h] for n, m, h in zip(names, mean.tolist(), half.tolist(), strict=True)},
    }
