"""What becomes of a Gaussian when a function acts on it: the one thing in which the filters differ.

A transform takes a function g, a mean and a root S of the covariance S Sᵀ, and gives the mean of g with two sets of
columns, A and B, such that

    cov(x, g) ≈ S Aᵀ,   cov(g) ≈ A Aᵀ + B Bᵀ:

what of g goes along with x, and what beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.filters.lanes import weighed

Array = Any


class Transformed(NamedTuple):
    """Mean of g, and columns of its deviations: those that go along with the columns of x, and others."""

    mean: Array
    along: Array
    beside: Array


class Transform(eqx.Module):
    """Base of the two."""

    def __call__(
        self, function: Callable[[Array], Array], mean: Array, lower: Array, bounded: Callable[[Array], Array]
    ) -> Transformed:
        """Mean and columns; ``function`` takes and gives points as columns."""
        raise NotImplementedError


class SigmaPoints(Transform):
    """Through 2n + 1 points with the mean and covariance of the Gaussian (the scaled unscented transform).

    Points at ±√(n + λ) S_i weigh 1 / (2 (n + λ)) each, the one in the middle λ / (n + λ).
    """

    spread: float | None = eqx.field(static=True, default=None)
    """n + λ; by default 3, which suits the fourth moments of a Gaussian, and n where that is larger, so that no weight
    is negative."""

    def __call__(self, function, mean, lower, bounded) -> Transformed:
        """Mean and columns."""
        size = mean.shape[0]
        reach = float(max(3, size)) if self.spread is None else self.spread
        steps, middle = np.sqrt(reach) * lower, mean[:, None]
        centred = reach > size
        images = function(bounded(jnp.concatenate([middle] * centred + [middle + steps, middle - steps], axis=1)))
        weights = np.full(2 * size + centred, 0.5 / reach)
        if centred:
            weights[0] = 1.0 - size / reach
        average = weighed(images, weights)[:, None]
        centre, plus, minus = images[:, :centred], images[:, centred:-size], images[:, -size:]
        # Of every pair, half the difference goes along with x, and the mean of the two beside it.
        along = (0.5 / np.sqrt(reach)) * (plus - minus)
        beside = (0.5 / np.sqrt(reach)) * (plus + minus - 2.0 * average)
        if centred:
            beside = jnp.concatenate([np.sqrt(weights[0]) * (centre - average), beside], axis=1)
        return Transformed(average[:, 0], along, beside)


class Linearised(Transform):
    """Through the derivative at the mean (the extended filter); exact where the function is affine."""

    def __call__(self, function, mean, lower, bounded) -> Transformed:
        """Mean and columns."""
        mean = bounded(mean[:, None])[:, 0]

        def at(x):
            return function(x[:, None])[:, 0]

        image = jax.vmap(lambda column: jax.jvp(at, (mean,), (column,))[1], in_axes=1, out_axes=1)(lower)
        return Transformed(at(mean), image, image[:, :0])
