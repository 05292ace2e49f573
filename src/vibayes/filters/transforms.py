"""What becomes of a Gaussian when a function acts on it: the one thing in which the filters differ.

A transform takes a function g, a mean and a root S of the covariance S Sᵀ, and gives the mean of g with columns A, B
and C such that

    cov(x, g) ≈ S Aᵀ,   cov(g) ≈ A Aᵀ + B Bᵀ − C Cᵀ:

what of g goes along with x, what beside it, and what a negative weight takes away (one column at most, mostly none).
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
    """Mean of g, and columns of its deviations: those that go along with the columns of x, others, and those whose
    squares are subtracted.
    """

    mean: Array
    along: Array
    beside: Array
    less: Array


class Transform(eqx.Module):
    """Base of the two."""

    def __call__(
        self, function: Callable[[Array], Array], mean: Array, lower: Array, bounded: Callable[[Array], Array]
    ) -> Transformed:
        """Mean and columns; ``function`` takes and gives points as columns."""
        raise NotImplementedError


class SigmaPoints(Transform):
    """Through 2n + 1 points with the mean and covariance of the Gaussian (the scaled unscented transform).

    Points at ±√c S_i, c = n + λ, weigh 1 / (2 c) each, and the one in the middle λ / c in the mean, λ / c + 1 − α² + β
    in the covariance. With e_i the second differences, (g₊ + g₋) / 2 − g₀ of each pair, the sums of these weights are

        mean = g₀ + Σ e_i / c,      B Bᵀ − C Cᵀ = (Σ e_i e_iᵀ + (β − α²) (Σ e_i) (Σ e_i)ᵀ / c) / c,

    so that weights of both signs need no square root of a negative number. Of the matrix in the middle, one along
    (1, …, 1) has the eigenvalue s = 1 + (β − α²) n / c, all others one; where s < 0 a column is subtracted.
    """

    spread: float | None = eqx.field(static=True, default=None)
    """c; by default 3, which suits the fourth moments of a Gaussian, and n where that is larger, so that no weight
    is negative."""
    scaled: tuple[float, float, float] | None = eqx.field(static=True, default=None)
    """α, β and κ with c = α² (n + κ), in place of c with α = 1, β = 0."""

    def reach(self, size: int) -> tuple[float, float]:
        """c and s, of so many coordinates."""
        if self.scaled is None:
            reach = float(max(3, size)) if self.spread is None else float(self.spread)
            return reach, 1.0 - size / reach
        alpha, beta, kappa = self.scaled
        reach = alpha**2 * (size + kappa)
        return reach, 1.0 + (beta - alpha**2) * size / reach

    def __call__(self, function, mean, lower, bounded) -> Transformed:
        """Mean and columns."""
        size = mean.shape[0]
        reach, along_ones = self.reach(size)
        steps, middle = np.sqrt(reach) * lower, mean[:, None]
        # With c = n and s = 0 the point in the middle has no weight.
        centred = reach != size or along_ones != 0.0
        images = function(bounded(jnp.concatenate([middle] * centred + [middle + steps, middle - steps], axis=1)))
        plus, minus = images[:, centred : size + centred], images[:, size + centred :]
        along = (0.5 / np.sqrt(reach)) * (plus - minus)
        if not centred:
            average = weighed(images, np.full(2 * size, 0.5 / size))
            beside = (0.5 / np.sqrt(reach)) * (plus + minus - 2.0 * average[:, None])
            return Transformed(average, along, beside, along[:, :0])
        bent = 0.5 * (plus + minus) - images[:, :1]
        total = weighed(bent, np.ones(size))
        # A root of I + (s − 1) 1 1ᵀ / n, or of its positive part.
        whole = (1.0 / np.sqrt(reach)) * (bent + ((np.sqrt(max(along_ones, 0.0)) - 1.0) / size) * total[:, None])
        less = np.sqrt(-min(along_ones, 0.0) / (reach * size)) * total[:, None]
        return Transformed(images[:, 0] + total / reach, along, whole, less if along_ones < 0.0 else less[:, :0])


class Linearised(Transform):
    """Through the derivative at the mean (the extended filter); exact where the function is affine."""

    def __call__(self, function, mean, lower, bounded) -> Transformed:
        """Mean and columns."""
        mean = bounded(mean[:, None])[:, 0]

        def at(x):
            return function(x[:, None])[:, 0]

        image = jax.vmap(lambda column: jax.jvp(at, (mean,), (column,))[1], in_axes=1, out_axes=1)(lower)
        return Transformed(at(mean), image, image[:, :0], image[:, :0])
