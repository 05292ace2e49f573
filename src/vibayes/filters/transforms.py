"""What becomes of a Gaussian when a function acts on it: the one thing in which the filters differ.

A transform takes a function g, a mean and a triangle S of the covariance S Sᵀ, and gives the mean of g with two sets of
columns, D_x and D_g, such that

    cov(x) ≈ D_x D_xᵀ,   cov(x, g) ≈ D_x D_gᵀ,   cov(g) ≈ D_g D_gᵀ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.filters.lanes import like, weighed

Array = Any


class Transformed(NamedTuple):
    """Means of x and of g, and columns of deviations of both."""

    start: Array
    mean: Array
    columns: Array
    image: Array


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
        steps = np.sqrt(reach) * lower
        centred = reach > size
        points = [mean[:, None]] * centred + [mean[:, None] + steps, mean[:, None] - steps]
        points = bounded(jnp.concatenate(points, axis=1))
        weights = np.full(2 * size + centred, 0.5 / reach)
        if centred:
            weights[0] = 1.0 - size / reach
        images = function(points)
        start, average = weighed(points, weights), weighed(images, weights)
        roots = like(np.sqrt(weights), points[0])
        return Transformed(start, average, (points - start[:, None]) * roots, (images - average[:, None]) * roots)


class Linearised(Transform):
    """Through the derivative at the mean (the extended filter); exact where the function is affine."""

    def __call__(self, function, mean, lower, bounded) -> Transformed:
        """Mean and columns."""
        mean = bounded(mean[:, None])[:, 0]

        def at(x):
            return function(x[:, None])[:, 0]

        image = jax.vmap(lambda column: jax.jvp(at, (mean,), (column,))[1], in_axes=1, out_axes=1)(lower)
        return Transformed(mean, at(mean), lower, image)
