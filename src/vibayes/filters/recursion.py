"""The filter itself: predict, compare with what was measured, correct; sample after sample.

With the columns of a transform (`transforms`) a correction takes one output y after the other. With S a root of the
covariance of the state, d the row of y among the columns that go along with S, and r the deviation of its noise
(Potter 1963),

    s² = d dᵀ + r²,      x⁺ = x + S dᵀ (y − ŷ) / s²,      S⁺ = S − S dᵀ d / (s² + r s),

and likewise for the outputs still to come. What the laws scatter beside the state is noise too, common to the outputs.
A prediction is a triangle, of all columns of the transform and those of the noise. The increment of the log-likelihood
is that of y under the Gaussian with mean ŷ and deviation s. An output that is missing gets a row of zeros, with noise
of one, and counts for nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.filters.discrete import Discrete
from vibayes.filters.lanes import like
from vibayes.filters.transforms import Transform, Transformed
from vibayes.filters.triangular import downdated, known_part, triangle

Array = Any
_LOG_2PI = 1.8378770664093453
BLOCK = 1024
"""Samples that `follow` takes in one call, at most."""
_FAR = 6.0
"""Deviations of a prediction by which the smoother corrects it, at most."""


class Measured(NamedTuple):
    """A record as the filter wants it: outputs (samples, outputs) with NaN where missing, measured inputs
    (samples, inputs), and standard deviations of the noise of the outputs.
    """

    outputs: Array
    given: Array
    noise: Array


class Moments(NamedTuple):
    """Mean of the state at every sample, and a root of its covariance, which need not be a triangle."""

    mean: Array
    lower: Array


class Increment(NamedTuple):
    """What a sample was expected to be, and the logarithm of the density of what it was."""

    log_likelihood: Array
    expected: Array
    deviation: Array


class Absorbed(NamedTuple):
    """Mean and columns after a sample, and what it was expected to be."""

    mean: Array
    columns: Array
    increment: Increment


def absorb(
    images: Array, columns: Array, mean: Array, y: Array, expected: Array, noise: Array, beside: Array | None = None,
    less: Array | None = None,
) -> Absorbed:  # fmt: skip
    """Take outputs into account, one after the other: columns (outputs, columns, ...) of theirs and (states, columns,
    ...) of the state, its mean, what was measured and what was expected. Columns ``beside`` of the outputs have nothing
    to do with the state: they are noise, whose covariance is smaller by the squares of columns ``less``.
    """
    y = like(y, expected)
    there = y == y
    images = jnp.where(there[:, None], images, 0.0)
    error, noise = jnp.where(there, y - expected, 0.0), jnp.where(there, like(noise, expected), 1.0)
    variances = jnp.sum(images * images, axis=1) + noise * noise
    if beside is not None and beside.shape[1]:
        beside = jnp.where(there[:, None], beside, 0.0)
        variances = variances + jnp.sum(beside * beside, axis=1)
        taken = beside[:, :0] if less is None else jnp.where(there[:, None], less, 0.0)
        variances = variances - jnp.sum(taken * taken, axis=1)
        images, error, noise = _uncorrelated(images, error, noise, beside, taken)
    total = jnp.zeros(expected.shape[1:])
    rows, off = jnp.concatenate([images, columns]), jnp.concatenate([error, -mean])
    for i in range(y.shape[0]):
        common = jnp.sum(rows * rows[0], axis=1)
        variance = common[0] + noise[i] * noise[i]
        weighed = off[0] / variance
        total -= 0.5 * jnp.where(there[i], _LOG_2PI + jnp.log(variance) + off[0] * weighed, 0.0)
        off = off[1:] - common[1:] * weighed
        rows = rows[1:] - (common[1:] / (variance + noise[i] * jnp.sqrt(variance)))[:, None] * rows[0]
    return Absorbed(-off, rows, Increment(total, expected, jnp.sqrt(variances)))


def _uncorrelated(images: Array, error: Array, noise: Array, beside: Array, less: Array) -> tuple[Array, Array, Array]:
    """Outputs less what the noise of those before tells of theirs: the same likelihood, each with noise of its own."""
    count = len(noise)
    if count == 1:
        square = noise * noise + jnp.sum(beside * beside, axis=1) - jnp.sum(less * less, axis=1)
        return images, error, jnp.sqrt(square)
    root = triangle(jnp.concatenate([like(np.eye(count), beside) * noise[:, None], beside], axis=1))
    root = downdated(root, less)
    rows, off = list(images), list(error)
    for i in range(count):
        for k in range(i + 1, count):
            told = root[k, i] / root[i, i]
            rows[k], off[k] = rows[k] - told * rows[i], off[k] - told * off[i]
    return jnp.stack(rows), jnp.stack(off), jnp.stack([root[i, i] for i in range(count)])


def correct(
    transform: Transform, model: Discrete, before: Moments, index: Any, y: Array, given: Array, noise: Array
) -> tuple[Moments, Increment]:
    """Mean and root after a sample."""
    mean, lower = before

    def readings(points):
        return model.measure(points, index, given)

    if model.reads_states:
        points = readings(jnp.concatenate([mean[:, None], mean[:, None] + lower], axis=1))
        read = Transformed(points[:, 0], points[:, 1:] - points[:, :1], points[:, :0], points[:, :0])
    else:
        read = transform(readings, mean, lower, model.bounded)
    found = absorb(read.along, lower, mean, y, read.mean, noise, read.beside, read.less)
    return Moments(model.bounded(found.mean[:, None])[:, 0], found.columns), found.increment


def _ahead(
    transform: Transform, model: Discrete, now: Moments, index: Any, given: Array, growth: Array
) -> tuple[Array, Array, Array, Array]:
    """The mean an interval later, columns of it that go along with those of the state, all others, and those that are
    subtracted.
    """

    def step(points):
        return model.advance(points, index, jnp.stack([given, growth]))

    size, more = model.size, model.amplitudes
    around = ((0, more), (0, more), *((0, 0),) * (now.lower.ndim - 2))
    mean = jnp.pad(now.mean, around[1:])
    lower = jnp.pad(now.lower, around) + like(np.diag([0.0] * size + [1.0] * more), now.lower)
    found = transform(step, mean, lower, model.bounded)
    others = [found.along[:, size:], found.beside, model.noise_of(index)]
    return found.mean, found.along[:, :size], jnp.concatenate(others, axis=1), found.less


def predict(transform: Transform, model: Discrete, now: Moments, index: Any, given: Array, growth: Array) -> Moments:
    """Mean and triangle an interval later."""
    mean, along, others, less = _ahead(transform, model, now, index, given, growth)
    return Moments(mean, downdated(triangle(jnp.concatenate([along, others], axis=1)), less))


def run(
    transform: Transform, model: Discrete, measured: Measured, start: Moments, keep: bool, constant: bool = False,
    together: int = 1,
) -> tuple[Increment, Moments | None]:  # fmt: skip
    """Increments of all samples and, if they are to be kept, the moments after each; ``together`` samples are written
    out in a row.
    """
    growth = _growth(measured, constant)

    def sample(before, this):
        index, y, given, growth = this
        after, increment = correct(transform, model, before, index, y, given, measured.noise)
        return predict(transform, model, after, index, given, growth), (increment, after if keep else None)

    indices = jnp.arange(measured.outputs.shape[0])
    samples = indices, measured.outputs, measured.given, growth
    _, (increments, moments) = jax.lax.scan(sample, start, samples, unroll=together)
    return increments, moments


def follow(
    transform: Transform, model: Discrete, measured: Measured, before: Moments, first: Any, last: Any, constant: bool
) -> tuple[Array, Moments]:
    """Increments of the samples from ``first`` up to ``last``, at most `BLOCK` of them, and zeros; and the moments
    after the last of them.

    ``before`` are the moments after the sample before, or those at the start. How many samples there are need not be
    known when this is compiled, and no sample after ``last`` is looked at.
    """
    growth = _growth(measured, constant)

    def sample(index, carry):
        moments, totals = carry
        earlier = jnp.maximum(index - 1, 0)
        ahead = predict(transform, model, moments, earlier, measured.given[earlier], growth[earlier])
        moments = jax.tree.map(lambda new, old: jnp.where(index > 0, new, old), ahead, moments)
        y, given = measured.outputs[index], measured.given[index]
        moments, increment = correct(transform, model, moments, index, y, given, measured.noise)
        return moments, totals.at[index - first].set(increment.log_likelihood)

    totals = jnp.zeros((min(measured.outputs.shape[0], BLOCK), *before.mean.shape[1:]))
    moments, totals = jax.lax.fori_loop(first, last, sample, (before, totals))
    return totals, moments


def _growth(measured: Measured, constant: bool) -> Array:
    """Of the measured inputs from each sample to the next."""
    return (0.0 if constant else 1.0) * jnp.diff(measured.given, axis=0, append=measured.given[-1:])


def smooth(
    transform: Transform, model: Discrete, measured: Measured, filtered: Moments, constant: bool = False
) -> Moments:
    """Moments of every sample given the whole record (Rauch, Tung and Striebel, in triangles).

    A prediction and the state it starts from have the common triangle

        ⎡ A    B  ⎤              ⎡ S_g  0 ⎤
        ⎣ S_x  0  ⎦  =  L Q, L = ⎣ K    S ⎦,

    so that the state given the next one, x', is x + K S_g⁻¹ (x' − x̂') with deviation S; what is known of x' enters
    there. It is in units of the prediction, which it makes no worse: no coordinate has a deviation above one, or is
    many of them away. Where a law has a kink, Gaussians contradict that a little, in directions with hardly any
    deviation by any factor, and the smoother would run away.
    """
    growth = _growth(measured, constant)

    def sample(later, this):
        index, now, given, growth = this

        mean, along, others, less = _ahead(transform, model, now, index, given, growth)
        above = jnp.concatenate([along, others], axis=1)
        below = jnp.concatenate([now.lower, jnp.zeros_like(others)], axis=1)
        whole = triangle(jnp.concatenate([above, below]))
        whole = downdated(whole, jnp.concatenate([less, jnp.zeros_like(less)]))
        size = mean.shape[0]
        ahead, gain, rest = whole[:size, :size], whole[size:, :size], whole[size:, size:]
        known = known_part(ahead, jnp.concatenate([(later.mean - mean)[:, None], later.lower], axis=1))
        better = gain @ (known if model.linear else _plausible(known))
        mean = model.bounded((now.mean + better[:, 0])[:, None])[:, 0]
        moments = Moments(mean, triangle(jnp.concatenate([rest, better[:, 1:]], axis=1)))
        return moments, moments

    last = Moments(filtered.mean[-1], filtered.lower[-1])
    earlier = Moments(filtered.mean[:-1], filtered.lower[:-1])
    indices = jnp.arange(measured.outputs.shape[0] - 1)
    _, moments = jax.lax.scan(sample, last, (indices, earlier, measured.given[:-1], growth[:-1]), reverse=True)
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b[None]]), moments, last)


def _plausible(known: Array) -> Array:
    """What is known of a state, mean and columns, in units of its prediction, made no less sure than that."""
    mean, columns = known[:, 0], known[:, 1:]
    deviation = jnp.sqrt(jnp.sum(columns * columns, axis=1))
    return jnp.column_stack([jnp.clip(mean, -_FAR, _FAR), columns / jnp.maximum(deviation, 1.0)[:, None]])
