"""The filter itself: predict, compare with what was measured, correct; sample after sample.

With the columns of a transform (`transforms`) a correction is one triangle,

    ⎡ D_y  R½ ⎤         ⎡ S_y  0  ⎤
    ⎣ D_x  0  ⎦  =  L Q, L = ⎣ K    S⁺ ⎦,      x⁺ = x + K S_y⁻¹ (y − ŷ),

and so is a prediction, of the columns beside those of the noise. The increment of the log-likelihood is that of the
measured sample under the Gaussian with mean ŷ and covariance S_y S_yᵀ. An output that is missing has no row: it gets
one of zeros, with noise of one, and counts for nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vibayes.filters.discrete import Discrete
from vibayes.filters.transforms import Transform, Transformed
from vibayes.filters.triangular import forward, known_part, triangle

Array = Any
_LOG_2PI = 1.8378770664093453


class Measured(NamedTuple):
    """A record as the filter wants it: outputs (samples, outputs) with NaN where missing, measured inputs
    (samples, inputs), and standard deviations of the noise of the outputs.
    """

    outputs: Array
    given: Array
    noise: Array


class Moments(NamedTuple):
    """Mean and triangle of the state at every sample."""

    mean: Array
    lower: Array


class Increment(NamedTuple):
    """What a sample was expected to be, and the logarithm of the density of what it was."""

    log_likelihood: Array
    expected: Array
    deviation: Array


def correct(
    transform: Transform, model: Discrete, before: Moments, index: Any, y: Array, given: Array, noise: Array
) -> tuple[Moments, Increment]:
    """Mean and triangle after a sample."""

    def readings(points):
        return model.measure(points, index, given)

    start, expected, columns, images = transform(readings, before.mean, before.lower, model.bounded)
    outputs = y.shape[0]
    there = y == y
    images = jnp.where(there[:, None], images, 0.0)
    disturbance = jnp.diag(jnp.where(there, noise, 1.0))
    above = jnp.concatenate([images, disturbance], axis=1)
    below = jnp.concatenate([columns, jnp.zeros((columns.shape[0], outputs))], axis=1)
    whole = triangle(jnp.concatenate([above, below]))
    spread, gain, lower = whole[:outputs, :outputs], whole[outputs:, :outputs], whole[outputs:, outputs:]
    surprise = forward(spread, jnp.where(there, y - expected, 0.0))
    diagonal = jnp.diagonal(spread)
    terms = jnp.where(there, _LOG_2PI + 2.0 * jnp.log(diagonal) + surprise * surprise, 0.0)
    deviation = jnp.sqrt(jnp.sum(spread * spread, axis=1))
    mean = model.bounded((start + gain @ surprise)[:, None])[:, 0]
    return Moments(mean, lower), Increment(-0.5 * jnp.sum(terms), expected, deviation)


def _ahead(
    transform: Transform, model: Discrete, now: Moments, index: Any, given: Array, growth: Array
) -> tuple[Transformed, Array]:
    """The state and its image an interval later, and columns of the noise beside."""

    def step(points):
        return model.advance(points, index, jnp.stack([given, growth]))

    size, more = model.size, model.amplitudes
    mean = jnp.concatenate([now.mean, jnp.zeros(more)])
    lower = jax.scipy.linalg.block_diag(now.lower, jnp.eye(more)) if more else now.lower
    found = transform(step, mean, lower, model.bounded)
    return Transformed(found.start[:size], found.mean, found.columns[:size], found.image), model.noise_of(index)


def predict(transform: Transform, model: Discrete, now: Moments, index: Any, given: Array, growth: Array) -> Moments:
    """Mean and triangle an interval later."""
    found, noise = _ahead(transform, model, now, index, given, growth)
    return Moments(found.mean, triangle(jnp.concatenate([found.image, noise], axis=1)))


def run(
    transform: Transform, model: Discrete, measured: Measured, start: Moments, keep: bool, constant: bool = False
) -> tuple[Increment, Moments | None]:
    """Increments of all samples and, if they are to be kept, the moments after each."""
    growth = _growth(measured, constant)

    def sample(before, this):
        index, y, given, growth = this
        after, increment = correct(transform, model, before, index, y, given, measured.noise)
        return predict(transform, model, after, index, given, growth), (increment, after if keep else None)

    indices = jnp.arange(measured.outputs.shape[0])
    _, (increments, moments) = jax.lax.scan(sample, start, (indices, measured.outputs, measured.given, growth))
    return increments, moments


def _growth(measured: Measured, constant: bool) -> Array:
    """Of the measured inputs from each sample to the next."""
    return (0.0 if constant else 1.0) * jnp.diff(measured.given, axis=0, append=measured.given[-1:])


def smooth(
    transform: Transform, model: Discrete, measured: Measured, filtered: Moments, constant: bool = False
) -> Moments:
    """Moments of every sample given the whole record (Rauch, Tung and Striebel, in triangles).

    A prediction and the state it starts from have the common triangle

        ⎡ D_g  Q½ ⎤         ⎡ S_g  0 ⎤
        ⎣ D_x  0  ⎦  =  L Q, L = ⎣ K    S ⎦,

    so that the state given the next one, x', is x + K S_g⁻¹ (x' − x̂') with deviation S; what is known of x' enters
    there.
    """
    growth = _growth(measured, constant)

    def sample(later, this):
        index, now, given, growth = this

        (start, mean, columns, images), noise = _ahead(transform, model, now, index, given, growth)
        above = jnp.concatenate([images, noise], axis=1)
        below = jnp.concatenate([columns, jnp.zeros_like(noise)], axis=1)
        whole = triangle(jnp.concatenate([above, below]))
        size = mean.shape[0]
        ahead, gain, rest = whole[:size, :size], whole[size:, :size], whole[size:, size:]
        better = gain @ known_part(ahead, jnp.concatenate([(later.mean - mean)[:, None], later.lower], axis=1))
        mean = model.bounded((start + better[:, 0])[:, None])[:, 0]
        moments = Moments(mean, triangle(jnp.concatenate([rest, better[:, 1:]], axis=1)))
        return moments, moments

    last = Moments(filtered.mean[-1], filtered.lower[-1])
    earlier = Moments(filtered.mean[:-1], filtered.lower[:-1])
    indices = jnp.arange(measured.outputs.shape[0] - 1)
    _, moments = jax.lax.scan(sample, last, (indices, earlier, measured.given[:-1], growth[:-1]), reverse=True)
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b[None]]), moments, last)
