"""The state of a structure that random inputs have been driving for ever.

From one sample to the next a linear structure goes as x' = F x + w, with w of covariance Q. After N samples its
covariance is P_N, and

    P_2N = P_N + F^N P_N (F^N)ᵀ:

a billion samples take thirty doublings. In square roots that is a triangle of two sets of columns.

A nonlinear structure, dx = f(x) dt + B dβ, is replaced by the linear one that is closest to it for a Gaussian state
with the covariance P of that linear one (statistical linearisation: Booton 1954, Caughey 1963; of hysteresis: Wen
1980),

    dx = F x dt + B dβ,      F = E[f(x) xᵀ] P⁻¹,      F P + P Fᵀ + B Bᵀ = 0,

which is solved by going halfway towards the next P again and again. Expectations are averages over points that are
drawn once and for all. Internal states and those of the processes are among x; an internal state with bounds stands
still at them.

Not every structure has such a state: what nothing damps, or nothing draws back, moves ever farther. Then the moments
are NaN.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from scipy.linalg import hadamard
from scipy.special import ndtri

from vibayes.filters.discrete import Discrete, exponential, free_flow, noise_columns
from vibayes.filters.triangular import triangle

Array = Any
_DOUBLINGS = 36
_ROUNDS = 24
"""Of statistical linearisation; what is still missing is about halved by each."""
_STRIDE = 4.0
"""Factor by which deviations grow in a round, at most: the next linear structure is known nearby only."""
_ENDLESS = 1.2
"""Factor of a variance in the last doubling above which it has no end."""
_FLOOR = 0.1
"""Part of a state's deviation that no other state explains, at least, where points are drawn: the memory of a spring
that never yields is its deformation, and which of the two a force depends on could not be told."""
_HUGE, _TINY, _FAR = 1e100, 1e-100, 30.0
_PARTS = 256
"""Of an interval, in the shortest of which the linear structure is known by a few terms."""
_BASE = 32
"""Points, each of which is taken with several signs."""


def stationary(model: Discrete) -> tuple[Array, Array]:
    """Mean and triangle of the state, with envelopes as they are at the first sample."""
    mean = jnp.concatenate([model.rest, jnp.zeros(model.size - model.system.size)])
    strength, by_state, _ = model.envelopes(0.0)
    own = np.array([number for number, process in enumerate(model.structure.processes) if process is not None], int)
    matrix, drives = _steady_rows(model, model.whole, by_state), _steady_rows(model, model.drives, strength[own])
    if not _seen(model):
        columns = [noise_columns(matrix, column, model.interval, False) for column in drives.T]
        start = exponential(model.interval * matrix), jnp.zeros_like(mean), jnp.concatenate(columns, axis=1)
        return _or_nothing(_settled(mean, *start))

    def improve(count, carry):
        (mean, lower), _ = carry
        begun = count > 0
        extra, drift = (jnp.where(begun, each, 0.0) for each in _linearised(model, mean, lower))
        found = _settled(mean, *_short(model, matrix + extra, drift + matrix @ mean, drives))
        # At first in the proportions of the structure at rest, and as small as after one interval.
        size, before = _deviations(found.lower), jnp.max(_deviations(drives)) * np.sqrt(model.interval)
        grown = jnp.where(begun, jnp.max(size / jnp.maximum(_deviations(lower), _TINY)), jnp.max(size) / before)
        factor = jnp.minimum(1.0, jnp.where(begun, _STRIDE, 1.0) / jnp.maximum(grown, _TINY))
        mean = model.bounded((mean + 0.5 * factor * (found.mean - mean))[:, None])[:, 0]
        old, new = jnp.where(begun, np.sqrt(0.5), 0.0), jnp.where(begun, np.sqrt(0.5), 1.0) * factor
        return (mean, triangle(jnp.concatenate([old * lower, new * found.lower], axis=1))), found

    nothing = jnp.zeros((model.size, model.size))
    _, found = jax.lax.fori_loop(0, _ROUNDS, improve, ((mean, nothing), _Settled(mean, nothing, nothing)))
    mean, lower = _or_nothing(found)
    return (mean, lower) if model.bounds is None else _cut_off(model, mean, lower)


def _cut_off(model: Discrete, mean: Array, lower: Array) -> tuple[Array, Array]:
    """With internal states whose deviations are those of a Gaussian that is cut off at their bounds."""
    first, last = 2 * model.system.masses, model.system.size
    middle, size = mean[first:last], jnp.maximum(_deviations(lower[first:last]), _TINY)
    low, high = (jnp.clip((bound - middle) / size, -_FAR, _FAR) for bound in model.bounds or ())
    below, above = ndtr(low), ndtr(-high)
    density = tuple(jnp.exp(-0.5 * end * end) / np.sqrt(2.0 * np.pi) for end in (low, high))
    shift = low * below + high * above + density[0] - density[1]
    square = low**2 * below + high**2 * above + 1.0 - below - above + low * density[0] - high * density[1]
    factor = jnp.sqrt(jnp.maximum(square - shift**2, _TINY))
    return mean.at[first:last].add(size * shift), lower.at[first:last].multiply(factor[:, None])


class _Settled(NamedTuple):
    """Mean and triangle after many intervals, and the triangle after half of them."""

    mean: Array
    lower: Array
    before: Array


def _or_nothing(found: _Settled) -> tuple[Array, Array]:
    """NaN, if it still grows."""
    now, before = (jnp.sum(each * each, axis=1) for each in (found.lower, found.before))
    ended = jnp.all(now <= _ENDLESS * before)
    return jnp.where(ended, found.mean, jnp.nan), jnp.where(ended, found.lower, jnp.nan)


def _steady_rows(model: Discrete, matrix: Array, strengths: Array) -> Array:
    """Rows of a matrix times envelopes; those of the absorbed energy, which begins at zero, are left out."""
    own, metered = model.system.size, len(model.system.metered)
    kept = np.ones((model.size, 1))
    kept[own - metered : own] = 0.0
    return kept * jnp.concatenate([matrix[:own] * strengths, matrix[own:]])


def _deviations(lower: Array) -> Array:
    return jnp.sqrt(jnp.sum(lower * lower, axis=1))


def _seen(model: Discrete) -> tuple[int, ...]:
    """States that what is not linear depends on: those that laws bend and, where states have bounds, they and their
    rates.
    """
    own, masses = model.system.size - len(model.system.metered), model.system.masses
    return tuple(sorted({*model.bending.seen, *(range(masses, own) if model.bounds is not None else ())}))


def _linearised(model: Discrete, mean: Array, lower: Array) -> tuple[Array, Array]:
    """What laws add to the matrix of the flow, by the states that they depend on, and to the mean of the flow.

    Of a Gaussian state that is all there is: other states have the coefficient zero, whatever they are correlated with.
    """
    own, seen = model.system.size, np.array(_seen(model), int)
    rows = lower[seen]
    size = _deviations(rows)
    root = triangle(jnp.concatenate([rows, jnp.diag(_FLOOR * jnp.maximum(size, _TINY))], axis=1))
    shape = _points(len(seen))
    points = jnp.zeros((own, shape.shape[1])).at[seen].set(mean[seen, None] + root @ shape)
    flow = jnp.stack(free_flow(model.system, tuple(points)))
    if model.bounds is not None:
        first = 2 * model.system.masses
        low, high = (bound[:, None] for bound in model.bounds)
        inner, rates = points[first:], flow[first:]
        held = ((inner >= high) & (rates > 0.0)) | ((inner <= low) & (rates < 0.0))
        flow = flow.at[first:].set(jnp.where(held, 0.0, rates))
    beyond = (flow - model.slope @ points).at[own - len(model.system.metered) :].set(0.0)
    slopes = jax.scipy.linalg.solve_triangular(root, shape @ beyond.T / shape.shape[1], trans=1, lower=True).T
    matrix = jnp.zeros((model.size, model.size)).at[:own, seen].set(slopes)
    return matrix, jnp.pad(jnp.mean(beyond, axis=1), (0, model.size - own))


@lru_cache
def _points(size: int) -> np.ndarray:
    """Points as columns, of mean zero and covariance one.

    Some points of a quadrature by quasi-random numbers, each with all signs of a Hadamard matrix: so a function of one
    coordinate is uncorrelated with every other coordinate, exactly, as a spring must not seem to damp.
    """
    signs = hadamard(1 << max(1, (size - 1).bit_length()))[:, :size]
    from scipy.stats import qmc  # takes long to import, and is needed only here

    shares = qmc.Sobol(size, seed=0).random(_BASE)  # type: ignore[call-arg]
    drawn = np.abs(ndtri(0.5 + 0.5 * shares))
    drawn /= np.sqrt(np.mean(drawn**2, axis=0))
    every = (signs[:, None, :] * drawn).reshape(-1, size).T
    return np.concatenate([every, -every], axis=1)


def _short(model: Discrete, matrix: Array, drift: Array, drives: Array) -> tuple[Array, Array, Array]:
    """Transition, drift and noise over so small a part of an interval that a few terms of their series will do."""
    time = model.interval / _PARTS
    part, eye = time * matrix, jnp.eye(model.size)
    half = eye + 0.5 * part + part @ part / 6.0
    return eye + part @ (half + part @ part @ part / 24.0), time * drift, np.sqrt(time) * half @ drives


def _settled(mean: Array, transition: Array, drift: Array, columns: Array) -> _Settled:
    """Of a linear structure; as long as nothing overflows."""

    def double(_, carry):
        power, drift, lower, _ = carry
        after = triangle(jnp.concatenate([lower, power @ lower], axis=1))
        new = power @ power, drift + power @ drift, after, lower
        small = sum((jnp.max(jnp.abs(each)) for each in new), jnp.zeros(())) < _HUGE
        return tuple(jnp.where(small, later, now) for later, now in zip(new, carry, strict=True))

    size = len(mean)
    # Fewer columns than states are filled up, more are made as many: neither changes the covariance.
    start = jnp.pad(columns, ((0, 0), (0, size - columns.shape[1]))) if columns.shape[1] <= size else triangle(columns)
    carry = transition, drift, start, jnp.zeros((size, size))
    _, drift, lower, before = jax.lax.fori_loop(0, _DOUBLINGS, double, carry)
    return _Settled(mean + drift, lower, before)
