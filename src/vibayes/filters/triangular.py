"""Square roots of covariances, kept as lower triangles so that they cannot lose their sign.

For any matrix M the triangle L of M = L Q, with Q orthogonal, has L Lᵀ = M Mᵀ: columns of deviations, however many,
become a triangle without their squares ever being formed. By modified Gram–Schmidt, row by row, whose triangle is as
accurate as that of reflections. The matrices are small; the loops are unrolled, so that all parameter sets do the same
step at once.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

Array = Any
_OWN = 1e-9
"""Share of a state's deviation below which its part that no other state explains is rounding."""


def triangle(matrix: Array) -> Array:
    """The lower triangle L, with diagonal ≥ 0, of L Lᵀ = M Mᵀ."""
    rows, columns = matrix.shape[0], []
    for i in range(rows):
        row, rest = matrix[0], matrix[1:]
        square = jnp.sum(row * row)
        # A row without deviation stays so; its derivative must not be that of √0.
        empty = square <= 0.0
        norm = jnp.sqrt(jnp.where(empty, 1.0, square))
        direction = jnp.where(empty, 0.0, row / norm)
        along = jnp.sum(rest * direction, axis=1)
        columns.append(jnp.concatenate([jnp.zeros(i), jnp.where(empty, 0.0, norm)[None], along]))
        matrix = rest - along[:, None] * direction
    return jnp.stack(columns, axis=1)


def forward(lower: Array, right: Array) -> Array:
    """x of L x = b, for one or several columns b."""
    solved: list[Array] = []
    for i in range(lower.shape[0]):
        known = sum((lower[i, j] * solved[j] for j in range(i)), jnp.zeros_like(right[0]))
        solved.append((right[i] - known) / lower[i, i])
    return jnp.stack(solved)


def known_part(lower: Array, right: Array) -> Array:
    """x of L x = b for several columns b, and 0 for a state that is fixed by those before it: it must not divide by
    rounding.
    """
    whole, own = jnp.sqrt(jnp.sum(lower * lower, axis=1)), jnp.diagonal(lower)
    free = own > _OWN * whole
    solved: list[Array] = []
    for i in range(lower.shape[0]):
        known = sum((lower[i, j] * solved[j] for j in range(i)), jnp.zeros_like(right[0]))
        solved.append(jnp.where(free[i], (right[i] - known) / jnp.where(free[i], own[i], 1.0), 0.0))
    return jnp.stack(solved)
