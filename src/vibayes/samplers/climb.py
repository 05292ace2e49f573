"""Climb to maxima of the posterior density from many starts at once: BFGS with a parallel search along each direction.

A direction p = B g is uphill, g being the gradient of log π and B an estimate of the inverse curvature. Every step s
that changes the gradient by -y improves it:

    B  ←  (I - s yᵀ / sᵀy) B (I - y sᵀ / sᵀy)  +  s sᵀ / sᵀy.

Several lengths along p are tried for all climbers in one call of the likelihood, and the best is taken. The gradient is
JAX's where the likelihood can be traced, else from differences over a small part of the width that B tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import numpy as np

from vibayes.samplers.likely import Likely, Softening, likelihoods, log_prior, recalled

_LENGTHS = 3.0 ** np.arange(1, -7, -1)
"""Tried along a direction."""
_LONGEST = 2.0
"""A direction, in standard deviations of the prior."""
_SHORTER = 1e-3
"""Times as long is the direction after none of the lengths was any better."""
_PATIENCE = 3
"""Such failures in a row that end a climb."""
_ARRIVED = 1e-6
"""Rise of log π that is still expected of a climber that has arrived."""
_DIFFERENCE = 0.03
"""Widths, in a central difference."""
_WIDTHS = 1e-8, 0.03
_MOST_STEPS = 300
_BESIDE = 1e-3
"""Standard deviations of the prior, in a difference of increments."""
_SCORED_LENGTHS = np.array([0.1, 0.3, 1.0, 3.0, 8.0])
_WORTH = 0.01
"""Rise of log π in a step, of any climber, that is worth another one."""


class Climbers(NamedTuple):
    """Where climbers are, log π and its gradient there, and the inverse curvature as far as it is known."""

    points: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    inverse: np.ndarray
    fresh: np.ndarray
    """Whether the inverse curvature is but a length."""
    failures: np.ndarray
    gradients: int
    """That were evaluated by JAX for this step."""

    @property
    def expected(self) -> np.ndarray:
        """Rise of log π that is expected of the next step."""
        return 0.5 * np.einsum("ni,nij,nj->n", self.slopes, self.inverse, self.slopes)

    @property
    def arrived(self) -> np.ndarray:
        """Whether climbers are at a maximum, as far as can be told."""
        return ((self.expected < _ARRIVED) & ~self.fresh) | (self.failures >= _PATIENCE)


def climb(target: Likely, starts: np.ndarray) -> Iterator[Climbers]:
    """Climb step by step until all have arrived."""
    count, size = starts.shape
    slopes_at = _slopes(target, count)
    eye = np.broadcast_to(np.eye(size), (count, size, size))
    values = density(target, starts)
    slopes = slopes_at(starts, np.full_like(starts, _WIDTHS[1]))
    none, all_ = np.zeros(count, int), np.ones(count, bool)
    lengths = np.maximum(np.linalg.norm(slopes, axis=1), 1.0)
    now = Climbers(starts, values, slopes, eye / lengths[:, None, None], all_, none, count)
    yield now
    for _ in range(_MOST_STEPS):
        if now.arrived.all():
            break
        now = _step(target, slopes_at, now)
        yield now


def scored(target: Softening, points: np.ndarray, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Climb some steps with the curvature that the samples of the record tell (Berndt, Hall, Hall and Hausman 1974), or
    until nobody gets higher.

    With g_t the gradient of the increment of sample t, the curvature of -log π is about I + Σ_t g_t g_tᵀ. Far from a
    maximum that is too much, so longer steps are tried too.

    Yields:
        Points, no worse than before, and the inverse curvature at each.
    """
    count, size = points.shape
    values = density(target, points)
    for _ in range(steps):
        beside = points[:, None] + _BESIDE * np.concatenate([np.zeros((1, size)), np.eye(size)])
        beside = beside.reshape(-1, size)
        increments = target.increments(beside).reshape(count, size + 1, -1)
        with np.errstate(invalid="ignore"):
            slopes = np.nan_to_num((increments[:, 1:] - increments[:, :1]) / _BESIDE, posinf=0.0, neginf=0.0)
        inverse = np.linalg.inv(np.eye(size) + np.einsum("nit,njt->nij", slopes, slopes))
        direction = np.einsum("nij,nj->ni", inverse, slopes.sum(axis=2) - points)
        trials = _SCORED_LENGTHS[:, None] * direction[:, None]
        far = np.linalg.norm(trials, axis=2, keepdims=True)
        trials = points[:, None] + trials * np.minimum(1.0, _LONGEST / np.maximum(far, 1e-300))
        tried = density(target, trials.reshape(-1, size)).reshape(count, -1)
        which, rows = np.argmax(tried, axis=1), np.arange(count)
        better = tried[rows, which] > values
        points = np.where(better[:, None], trials[rows, which], points)
        before, values = values, np.maximum(values, tried[rows, which])
        yield points, inverse
        if not np.any(values > before + _WORTH):
            return


def density(target: Likely, points: np.ndarray) -> np.ndarray:
    """log π, up to the constant of the prior."""
    return likelihoods(target, points) + log_prior(points)


def _step(target: Likely, slopes_at: Callable, now: Climbers) -> Climbers:
    going = np.flatnonzero(~now.arrived)
    points, slopes, inverse, fresh = now.points[going], now.slopes[going], now.inverse[going], now.fresh[going]
    count, size = points.shape
    failed = now.failures[going] > 0
    direction = np.einsum("nij,nj->ni", inverse, slopes)
    # Where nothing was better the curvature is wrong, or there is nothing better: straight uphill, and ever nearer.
    short = _SHORTER ** now.failures[going] / np.maximum(np.linalg.norm(slopes, axis=1), 1e-300)
    direction = np.where(failed[:, None], short[:, None] * slopes, direction)
    direction *= np.minimum(1.0, _LONGEST / np.maximum(np.linalg.norm(direction, axis=1), 1e-300))[:, None]
    trials = points[:, None] + _LENGTHS[:, None] * direction[:, None]
    tried = density(target, trials.reshape(-1, size)).reshape(count, -1)
    which = np.argmax(tried, axis=1)
    best = tried[np.arange(count), which]
    better = best > now.values[going]
    there = np.where(better[:, None], trials[np.arange(count), which], points)
    widths = np.sqrt(np.einsum("nii->ni", inverse))
    new_slopes = np.where(better[:, None], slopes_at(there, np.clip(widths, *_WIDTHS)), slopes)
    new_inverse, learned = _learned(inverse, fresh | failed, there - points, slopes - new_slopes)
    after = Climbers(*(each.copy() for each in now[:6]), gradients=count)
    after.points[going], after.values[going] = there, np.where(better, best, now.values[going])
    after.slopes[going], after.fresh[going] = new_slopes, fresh & ~learned
    after.inverse[going] = np.where(better[:, None, None], new_inverse, inverse)
    after.failures[going] = np.where(better, 0, now.failures[going] + 1)
    return after


def _learned(inverse, fresh, step: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse curvature after a step, and whether the step told anything of it."""
    size = step.shape[1]
    along = np.einsum("ni,ni->n", step, change)
    squares = np.einsum("ni,ni->n", change, change)
    told = along > 1e-12 * np.linalg.norm(step, axis=1) * np.sqrt(squares)
    safe = np.where(told, along, 1.0)
    # The first step tells the size of the curvature.
    sized = np.eye(size) * (safe / np.where(told, squares, 1.0))[:, None, None]
    inverse = np.where((fresh & told)[:, None, None], sized, inverse)
    left = np.eye(size) - np.einsum("ni,nj->nij", step, change) / safe[:, None, None]
    update = left @ inverse @ left.swapaxes(1, 2) + np.einsum("ni,nj->nij", step, step) / safe[:, None, None]
    return np.where(told[:, None, None], update, inverse), told


def _slopes(target: Likely, most: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The gradient of log π at points, so many at most, given widths over which it changes."""
    traceable = target.traceable
    if traceable is not None:
        compiled = jax.jit(jax.vmap(jax.grad(lambda z: traceable(z) - 0.5 * z @ z)))

        def slopes(points: np.ndarray, widths: np.ndarray) -> np.ndarray:
            # Fewer climbers must not mean to compile again, which takes longer than all of their steps.
            filled = np.resize(points, (most, points.shape[1]))
            (found,) = recalled(target, "slopes", (filled,), lambda: (compiled(filled),))
            return np.nan_to_num(np.asarray(found)[: len(points)])
    else:

        def slopes(points: np.ndarray, widths: np.ndarray) -> np.ndarray:
            count, size = points.shape
            steps = _DIFFERENCE * widths[:, :, None] * np.eye(size)
            both = np.concatenate([points[:, None] + steps, points[:, None] - steps], axis=1)
            values = density(target, both.reshape(-1, size)).reshape(count, 2, size)
            with np.errstate(invalid="ignore"):
                change = values[:, 0] - values[:, 1]
            return np.where(np.isfinite(change), change, 0.0) / (2.0 * _DIFFERENCE * widths)

    return slopes
