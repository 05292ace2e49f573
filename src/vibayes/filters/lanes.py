"""Arithmetic over many parameter sets at once, with the sets along the last axis.

A filter of few states has so little to compute per set that what counts is how many sets an instruction takes. So
matrices are (rows, columns, sets) and columns of points (states, points, sets), and a product is a sum over the inner
index of whole slices. The same functions take plain matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

Array = Any


def product(matrix: Array, points: Array) -> Array:
    """Of matrices (rows, inner, ...) and (inner, columns, ...)."""
    if matrix.ndim == points.ndim == 2:
        return matrix @ points
    if not matrix.shape[1]:
        return jnp.zeros((matrix.shape[0], *points.shape[1:]))
    return combined([matrix[:, j, None] for j in range(matrix.shape[1])], points)


def combined(weights: Sequence[Array], rows: Sequence[Array]) -> Array:
    """Sum of rows, each times its weight."""
    parts = [weight * row for weight, row in zip(weights, rows, strict=True)]
    return sum(parts[1:], parts[0]) if parts else jnp.zeros(())


def weighed(points: Array, weights: Any) -> Array:
    """Sum of columns, each with its weight, a number."""
    if points.ndim == 2:
        return points @ weights
    parts = [float(weight) * points[:, j] for j, weight in enumerate(weights)]
    return sum(parts[1:], parts[0])


def like(values: Array, array: Array) -> Array:
    """Values with as many axes as an array, those that are missing behind."""
    return jnp.reshape(values, (*values.shape, *(1,) * (array.ndim - values.ndim)))
